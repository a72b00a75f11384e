//! Starts a command and captures its output to the end.

use std::io::{self, IsTerminal};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicI32;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use rustix::process::Pid;

use crate::capture::captured::{Captured, CapturedOutput};
use crate::capture::spill::Spill;
use crate::capture::spill::copy::{Progress, ReadAhead, join};
use crate::capture::spill::location::Location;
use crate::capture::spill::sink::Sink;
use crate::preview::Stream;

use super::pipe::{ExitNotice, Pipe, Pty};
use super::stdin::{self, ModesRestorer, TerminalInput};
use super::supervise::{Control, Escalation, ProcessEvent, ProcessWatch, adopt_orphans, tell_exit};
use super::{Ended, Group, Options, StartError, Stdin, Stop, Streams, TeeReader, TerminalSize};

#[derive(Debug)]
pub struct Running {
    control: Control,
    stdout: Arc<Progress>,
    stderr: Option<Arc<Progress>>,
    over: Receiver<()>,
    supervisor: JoinHandle<io::Result<Captured>>,
    _keyboard: ModesRestorer,
}

impl Running {
    pub fn control(&self) -> Control {
        self.control.clone()
    }

    /// Returns the progress of a stream; standard error has its own only if it is captured separately.
    pub fn progress(&self, stream: Stream) -> Option<&Arc<Progress>> {
        match stream {
            Stream::Stdout => Some(&self.stdout),
            Stream::Stderr => self.stderr.as_ref(),
        }
    }

    pub fn wait_for(&self, most: Duration) -> bool {
        self.over.recv_timeout(most) != Err(RecvTimeoutError::Timeout)
    }

    /// Waits for the end. Fails if the system cannot report it, or the output cannot be read back.
    pub fn wait(self) -> io::Result<Captured> {
        join(self.supervisor)
    }
}

/// Starts a command and captures its output into `place`. Sets its standard streams and its process group alone.
pub fn start(mut command: Command, options: &Options, place: &Location) -> Result<Running, StartError> {
    let gone = ExitNotice::new()?;
    let (pipes, terminal) = connect(&mut command, options, &gone)?;
    let name = command.get_program().to_string_lossy().into_owned();
    let (events, received) = channel();
    // Acquire everything that can fail before the command starts: afterwards nothing can.
    let drain = |pipe| StreamThread::start(pipe, options, place, events.clone());
    let streams = pipes.into_iter().map(drain).collect::<io::Result<Vec<_>>>()?;
    let progress = |at: usize| streams.get(at).map(|stream| Arc::clone(&stream.progress));
    let (stdout, stderr) = (progress(0).unwrap_or_default(), progress(1));
    let is_shared = options.group == Group::Shared && terminal.is_none();
    let adopter = is_shared.then(adopt_orphans).flatten();
    let (control, give_pid) = control(events, adopter)?;
    let typing = match (&terminal, &options.stdin) {
        (Some(terminal), Stdin::Inherit) => Some((terminal.try_clone()?, gone.listener()?)),
        _ => None,
    };
    let (tell_over, over) = channel::<()>();
    let (give_command, given) = channel::<StartedCommand>();
    let began = crate::base::env::now();
    let supervise = move || {
        let mut started = given.recv().map_err(|_| io::Error::other("no command"))?;
        let typing = started.typing.take();
        let captured = started.supervise(began);
        let _ = typing.map(JoinHandle::join);
        drop(tell_over);
        captured
    };
    let supervisor = thread::Builder::new().name("command".into()).spawn(supervise)?;
    let spawned = command.spawn();
    let absent = command.get_current_dir().filter(|dir| !dir.is_dir()).map(Path::to_owned);
    // It holds overspill's copies of the descriptors that the command writes to.
    drop(command);
    let child = match spawned {
        Ok(child) => child,
        Err(error) => {
            // Their pipes end, and the files they created are removed.
            streams.into_iter().for_each(|stream| drop(stream.thread.join()));
            return Err(explain(name, absent.as_deref(), error));
        }
    };
    let pid = Pid::from_child(&child);
    let watch = ProcessWatch {
        pid,
        ancestor: is_shared.then(|| adopter.unwrap_or(pid)),
        terminal,
        events: received,
        gone,
        escalation: Escalation::default(),
        // A deadline that the clock cannot represent never comes.
        deadline: options.timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
        stop: Stop::No,
    };
    let keyboard = Arc::clone(&control.keyboard);
    // A command whose input cannot be forwarded runs all the same.
    let typing = typing.and_then(|(terminal, over)| stdin::relay(Arc::clone(&keyboard), terminal, over).ok());
    // Both threads only wait for this.
    let _ = give_pid.send(pid);
    let _ = give_command.send(StartedCommand { child, watch, streams, typing });
    Ok(Running { control, stdout, stderr, over, supervisor, _keyboard: ModesRestorer(keyboard) })
}

/// Returns the handle that stops the command, and the sender for its process id, for which the watching thread waits.
fn control(events: Sender<ProcessEvent>, adopter: Option<Pid>) -> io::Result<(Control, Sender<Pid>)> {
    let killer: Arc<AtomicI32> = Arc::default();
    let (keyboard, told) = (Arc::new(TerminalInput::default()), Arc::clone(&killer));
    let control = Control { events: events.clone(), keyboard, killer };
    let (give_pid, pid) = channel();
    let tell = move || pid.recv().into_iter().for_each(|pid| tell_exit(pid, adopter, &events, &told));
    thread::Builder::new().name("exit".into()).spawn(tell)?;
    Ok((control, give_pid))
}

struct StartedCommand {
    child: Child,
    watch: ProcessWatch,
    streams: Vec<StreamThread>,
    typing: Option<JoinHandle<()>>,
}

impl StartedCommand {
    fn supervise(mut self, began: Timestamp) -> io::Result<Captured> {
        self.watch.until_over(self.streams.len());
        let status = self.child.wait()?.into();
        let (mut outputs, mut failure) = (Vec::new(), None);
        for stream in self.streams {
            let (taken, error) = join(stream.thread)?;
            outputs.push(CapturedOutput::new(stream.stream, taken)?);
            failure = failure.or(error);
        }
        let mut outputs = outputs.into_iter();
        let stdout = outputs.next().ok_or_else(|| io::Error::other("no output"))?;
        Ok(Captured {
            ended: Some(Ended { status, stop: self.watch.stop }),
            left_running: self.watch.gone.was_closed_early(),
            stderr: outputs.next(),
            ..Captured::from_stream(began, stdout, failure)
        })
    }
}

/// Says why a command was not started; `absent` is its working directory if that is none.
fn explain(name: String, absent: Option<&Path>, error: io::Error) -> StartError {
    if let Some(dir) = absent {
        let words = format!("its working directory {} is not there", dir.display());
        return StartError::NotExecutable(name, io::Error::other(words));
    }
    match error.kind() {
        io::ErrorKind::NotFound if name.contains('/') && Path::new(&name).exists() => {
            StartError::NotExecutable(name, io::Error::other("the interpreter that it names is not there"))
        }
        io::ErrorKind::NotFound => StartError::NotFound(name),
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => StartError::System(error),
        _ => StartError::NotExecutable(name, error),
    }
}

/// Overspill's ends of the command's pipes, and that of its own terminal if it has one.
type OwnEnds = (Vec<(Stream, Pipe)>, Option<OwnedFd>);

fn connect(command: &mut Command, options: &Options, gone: &ExitNotice) -> io::Result<OwnEnds> {
    command.stdin(match &options.stdin {
        Stdin::Inherit => Stdio::inherit(),
        Stdin::Bytes(bytes) => stdin::feed(Arc::clone(bytes), gone.listener()?)?.into(),
        Stdin::Null => Stdio::null(),
    });
    if let Streams::Terminal(size) = options.streams {
        return connect_terminal(command, size, &options.stdin, gone);
    }
    let (reader, writer) = Pipe::new(gone)?;
    let mut pipes = vec![(Stream::Stdout, reader)];
    if options.streams == Streams::Apart {
        let (reader, writer) = Pipe::new(gone)?;
        command.stderr(writer);
        pipes.push((Stream::Stderr, reader));
    } else {
        command.stderr(writer.try_clone()?);
    }
    command.stdout(writer);
    if options.group == Group::Own {
        command.process_group(0);
    }
    Ok((pipes, None))
}

fn connect_terminal(
    command: &mut Command,
    size: TerminalSize,
    stdin: &Stdin,
    gone: &ExitNotice,
) -> io::Result<OwnEnds> {
    let pty = Pty::open(size)?;
    if *stdin == Stdin::Inherit {
        if !io::stdin().is_terminal() {
            pty.without_echo()?;
        }
        command.stdin(pty.its.try_clone()?);
    }
    pty.lead_session(command)?;
    command.stdout(pty.its.try_clone()?).stderr(pty.its);
    let pipe = Pipe::listen(pty.ours.try_clone()?, gone)?;
    Ok((vec![(Stream::Stdout, pipe)], Some(pty.ours)))
}

#[derive(Debug)]
struct StreamThread {
    stream: Stream,
    progress: Arc<Progress>,
    thread: JoinHandle<io::Result<(Sink<Spill>, Option<io::Error>)>>,
}

impl StreamThread {
    fn start(
        (stream, pipe): (Stream, Pipe),
        options: &Options,
        place: &Location,
        events: Sender<ProcessEvent>,
    ) -> io::Result<StreamThread> {
        let progress = Arc::new(Progress::default());
        let sink = place.sink(stream, options.limits);
        progress.note(&sink);
        let shared = Arc::clone(&progress);
        let reader = ReadAhead::start(TeeReader { reader: pipe, tee: options.tee.clone() })?;
        let drain = move || {
            // Even if it panics, its end is waited for.
            let taken = catch_unwind(AssertUnwindSafe(|| reader.take_all(sink, &shared)));
            let _ = events.send(ProcessEvent::Drained);
            Ok(taken.unwrap_or_else(|panic| resume_unwind(panic)))
        };
        let thread = thread::Builder::new().name("spill".into()).spawn(drain)?;
        Ok(StreamThread { stream, progress, thread })
    }
}
