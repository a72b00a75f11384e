//! Writes to standard output, which another process may have made non-blocking.

use std::io::{self, Stdout, StdoutLock, Write};
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Waits where the inner writer would give up because there is no room yet: another process may have made a shared
/// terminal or pipe non-blocking.
#[derive(Debug)]
pub(crate) struct Patient<W>(pub W);

pub(crate) fn stdout() -> Patient<StdoutLock<'static>> {
    Patient(io::stdout().lock())
}

pub(crate) fn screen() -> Patient<Stdout> {
    Patient(io::stdout())
}

impl<W: AsFd> Patient<W> {
    /// Repeats `attempt` until it succeeds, or fails for another reason than lack of room.
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

/// Says what could not be written, since the system's error does not.
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
