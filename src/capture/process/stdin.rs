//! What comes on standard input, on its way to a command's terminal as if it were typed there.

use std::io::{self, IsTerminal, PipeReader, Stdin};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::getpgrp;
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};

/// The key that ends input on a terminal: once for what has been typed of a line, once for the end.
const END: u8 = 4;
/// While another job has the terminal, it is looked this often whether overspill has it again.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Our terminal's keys, and its modes while they are not as they were.
#[derive(Debug, Default)]
pub(crate) struct TerminalInput {
    modes: Mutex<Modes>,
}

#[derive(Debug, Default)]
enum Modes {
    /// As they were found.
    #[default]
    Found,
    /// Ours; these were there before.
    Ours(Box<Termios>),
    /// As they were found, for good.
    Left,
}

/// Gives the terminal's modes back for good when it is dropped.
#[derive(Debug)]
pub(crate) struct Leave(pub Arc<TerminalInput>);

impl Drop for Leave {
    fn drop(&mut self) {
        let mut modes = self.0.modes();
        modes.give_back();
        *modes = Modes::Left;
    }
}

/// Keys on their way; ends when the input does or the command.
pub(crate) fn pass(
    keyboard: Arc<TerminalInput>,
    terminal: OwnedFd,
    over: PipeReader,
) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().name("keys".into()).spawn(move || {
        let leave = Leave(keyboard);
        let typing = Typing { terminal, over, last: b'\n' };
        // A command that is gone wants no keys, and an input that fails has ended.
        let _ = typing.run(&leave.0);
    })
}

impl TerminalInput {
    /// Takes keys one by one and unchanged, as far as possible: a terminal's are overspill's while it is in the
    /// foreground. Those that send signals still send them to overspill.
    fn take(&self, stdin: &Stdin) -> bool {
        if !stdin.is_terminal() {
            return true;
        }
        let mut modes = self.modes();
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

    /// Gives the terminal its modes back while something is done.
    pub(crate) fn pause(&self, meanwhile: impl FnOnce()) {
        let mut modes = self.modes();
        let was_ours = matches!(*modes, Modes::Ours(_));
        modes.give_back();
        meanwhile();
        drop(modes);
        if was_ours {
            self.take(&io::stdin());
        }
    }

    fn modes(&self) -> MutexGuard<'_, Modes> {
        self.modes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Modes {
    fn give_back(&mut self) {
        if let Modes::Ours(found) = self {
            // A terminal that is gone needs no modes.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, found);
            *self = Modes::Found;
        }
    }
}

/// No editing of lines, no echo, no translation: all of that is for the command's own terminal to do.
fn unedited(mut modes: Termios) -> Termios {
    modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO | LocalModes::ECHONL | LocalModes::IEXTEN;
    modes.input_modes -= InputModes::ICRNL | InputModes::INLCR | InputModes::IGNCR;
    modes.input_modes -= InputModes::IXON | InputModes::ISTRIP;
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    modes
}

struct Typing {
    terminal: OwnedFd,
    /// Closed at its other end when the command is gone.
    over: PipeReader,
    last: u8,
}

impl Typing {
    fn run(mut self, keyboard: &TerminalInput) -> io::Result<()> {
        let (stdin, mut keys) = (io::stdin(), [0; 4096]);
        loop {
            let is_ours = keyboard.take(&stdin);
            let input = is_ours.then(|| PollFd::new(&stdin, PollFlags::IN));
            match self.wait(input)? {
                Waited::Over => return Ok(()),
                Waited::Nothing => {}
                // Another job may have got the terminal meanwhile.
                Waited::Ready if !keyboard.take(&stdin) => {}
                Waited::Ready => match rustix::io::read(&stdin, &mut keys) {
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

    /// Writes all of it; false when the command is gone.
    fn put(&mut self, mut keys: &[u8]) -> io::Result<bool> {
        while let Some(last) = keys.last() {
            self.last = *last;
            match rustix::io::write(&self.terminal, keys) {
                Ok(count) => keys = &keys[count..],
                Err(Errno::AGAIN) => {
                    let room = PollFd::new(&self.terminal, PollFlags::OUT);
                    if matches!(self.wait(Some(room))?, Waited::Over) {
                        return Ok(false);
                    }
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    fn wait(&self, what: Option<PollFd<'_>>) -> io::Result<Waited> {
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
            (true, _) => Waited::Over,
            (false, true) => Waited::Ready,
            (false, false) => Waited::Nothing,
        })
    }
}

enum Waited {
    /// The command is gone.
    Over,
    /// What was waited for.
    Ready,
    /// Nothing yet.
    Nothing,
}
