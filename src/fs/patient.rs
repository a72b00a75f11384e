//! Writing to standard output that somebody else may have made non-blocking.

use std::io::{self, Stdout, StdoutLock, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Waits where the writer inside would give up because there is no room yet: a terminal or a pipe shared with others may
/// be non-blocking because another process made it so.
#[derive(Debug)]
pub(crate) struct Patient<W>(pub W);

/// Standard output for as long as it is held.
pub(crate) fn stdout() -> Patient<StdoutLock<'static>> {
    Patient(io::stdout().lock())
}

/// Standard output for good.
pub(crate) fn screen() -> Patient<Stdout> {
    Patient(io::stdout())
}

impl<W: AsFd> Patient<W> {
    /// Tries until it is done, or fails otherwise than for want of room.
    fn until_done<T>(&mut self, mut attempt: impl FnMut(&mut W) -> io::Result<T>) -> io::Result<T> {
        loop {
            match attempt(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait()?,
                done => return done.map_err(named),
            }
        }
    }

    fn wait(&self) -> io::Result<()> {
        match poll(&mut [PollFd::new(&self.0, PollFlags::OUT)], None) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// What the system says of a write tells no one where it was to go.
fn named(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output: {error}"))
}

impl<W: Write + AsFd> Write for Patient<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.until_done(|out| out.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.until_done(W::flush)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_pipe_without_room_is_waited_for() {
        let (mut reader, writer) = io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        let content = vec![b'x'; 1 << 20];
        let read = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).map(|_| bytes)
        });
        let mut out = Patient(writer);
        out.write_all(&content).unwrap();
        drop(out);
        assert!(read.join().unwrap().unwrap() == content);
    }
}
