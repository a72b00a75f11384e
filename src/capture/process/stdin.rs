//! Gives a command its standard input: forwards ours to its terminal, or writes bytes to a pipe.

use std::io::{self, IsTerminal, PipeReader, Stdin};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};

use crate::base::lock;

/// The end-of-file key of a terminal (Ctrl-D): once to submit a partial line, once more for the end.
const END: u8 = 4;
/// How often to check whether overspill is in the foreground again while another job has the terminal.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// The input of overspill's own terminal, and its original modes while they are changed.
#[derive(Debug, Default)]
pub(crate) struct TerminalInput {
    modes: Mutex<Modes>,
}

#[derive(Debug, Default)]
enum Modes {
    #[default]
    Found,
    /// Changed by overspill; these were the original modes.
    Ours(Box<Termios>),
    /// Restored for good.
    Left,
}

#[derive(Debug)]
pub(crate) struct ModesRestorer(pub Arc<TerminalInput>);

impl Drop for ModesRestorer {
    fn drop(&mut self) {
        let mut modes = lock(&self.0.modes);
        modes.give_back();
        *modes = Modes::Left;
    }
}

/// Forwards keys until the input ends or the command exits.
pub(crate) fn relay(
    keyboard: Arc<TerminalInput>,
    terminal: OwnedFd,
    over: PipeReader,
) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("keys".into()).spawn(move || {
        let leave = ModesRestorer(keyboard);
        let typing = KeyForwarder { input: terminal, over, last: b'\n' };
        // Without a command there is no need for input, and a read error counts as its end.
        let _ = typing.run(&leave.0);
    })
}

/// Returns a pipe from which a command reads `bytes`. A thread writes them, until the command has all or has exited.
pub(crate) fn feed(bytes: Arc<[u8]>, over: PipeReader) -> io::Result<PipeReader> {
    let (reader, writer) = io::pipe()?;
    rustix::fs::fcntl_setfl(&writer, rustix::fs::fcntl_getfl(&writer)? | OFlags::NONBLOCK)?;
    let mut typing = KeyForwarder { input: writer.into(), over, last: 0 };
    // A command that closes its input wants no more of it.
    let write = move || drop(typing.put(&bytes));
    thread::Builder::new().name("stdin".into()).spawn(write)?;
    Ok(reader)
}

impl TerminalInput {
    /// Switches the terminal to passing keys unchanged, if in the foreground. Keys that send signals still do.
    fn take(&self, stdin: &Stdin) -> bool {
        if !stdin.is_terminal() {
            return true;
        }
        let mut modes = lock(&self.modes);
        if tcgetpgrp(stdin).ok() != Some(getpgrp()) {
            return false;
        }
        if let Modes::Found = *modes
            && let Ok(found) = tcgetattr(stdin)
            && tcsetattr(stdin, OptionalActions::Now, &unedited(found.clone())).is_ok()
        {
            *modes = Modes::Ours(Box::new(found));
        }
        matches!(*modes, Modes::Ours(_))
    }

    pub(crate) fn pause(&self, meanwhile: impl FnOnce()) {
        let mut modes = lock(&self.modes);
        let was_ours = matches!(*modes, Modes::Ours(_));
        modes.give_back();
        meanwhile();
        drop(modes);
        if was_ours {
            self.take(&io::stdin());
        }
    }
}

impl Modes {
    fn give_back(&mut self) {
        if let Modes::Ours(found) = self {
            // A closed terminal needs no modes.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, found);
            *self = Modes::Found;
        }
    }
}

/// No line editing, no echo, no translation: the command's own terminal does all of that.
fn unedited(mut modes: Termios) -> Termios {
    modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::IEXTEN;
    modes.input_modes -= InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR;
    modes.input_modes -= InputModes::IXON | InputModes::ISTRIP;
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    modes
}

struct KeyForwarder {
    /// Our end of the command's terminal, or of the pipe that it reads.
    input: OwnedFd,
    /// Closed at the other end when the command has exited.
    over: PipeReader,
    last: u8,
}

impl KeyForwarder {
    fn run(mut self, keyboard: &TerminalInput) -> io::Result<()> {
        let (stdin, mut keys) = (io::stdin(), [0; 4096]);
        loop {
            let is_ours = keyboard.take(&stdin);
            let input = is_ours.then(|| PollFd::new(&stdin, PollFlags::IN));
            match self.wait(input)? {
                WaitResult::Over => return Ok(()),
                WaitResult::Nothing => {}
                // Another job may have taken the terminal meanwhile.
                WaitResult::Ready if !keyboard.take(&stdin) => {}
                WaitResult::Ready => match rustix::io::read(&stdin, &mut keys) {
                    Ok(0) => return self.end(),
                    Ok(count) if !self.put(&keys[..count])? => return Ok(()),
                    Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
                    Err(error) => return Err(error.into()),
                },
            }
        }
    }

    fn end(&mut self) -> io::Result<()> {
        let keys: &[u8] = if self.last == b'\n' { &[END] } else { &[END, END] };
        self.put(keys).map(drop)
    }

    fn put(&mut self, mut keys: &[u8]) -> io::Result<bool> {
        while let Some(last) = keys.last() {
            self.last = *last;
            match rustix::io::write(&self.input, keys) {
                Ok(count) => keys = &keys[count..],
                Err(Errno::AGAIN) => {
                    let room = PollFd::new(&self.input, PollFlags::OUT);
                    if self.wait(Some(room))? == WaitResult::Over {
                        return Ok(false);
                    }
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    fn wait(&self, what: Option<PollFd<'_>>) -> io::Result<WaitResult> {
        let rest = what.is_none().then(|| Timespec::try_from(LOOK_EVERY)).transpose();
        let rest = rest.map_err(io::Error::other)?;
        let over = PollFd::from_borrowed_fd(self.over.as_fd(), PollFlags::IN);
        let mut fds: Vec<_> = std::iter::once(over).chain(what).collect();
        match poll(&mut fds, rest.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let is_ready = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        Ok(match (is_ready(0), is_ready(1)) {
            (true, _) => WaitResult::Over,
            (false, true) => WaitResult::Ready,
            (false, false) => WaitResult::Nothing,
        })
    }
}

#[derive(PartialEq, Eq)]
enum WaitResult {
    Over,
    Ready,
    Nothing,
}
