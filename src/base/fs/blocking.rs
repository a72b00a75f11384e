//! Reads and writes through standard input and output, which another process may have made non-blocking.

use std::fs::File;
use std::io::{self, Read, Stdout, StdoutLock, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;

/// Whether standard input and output were closed when the program began: Rust's runtime opens /dev/null in their place.
pub static CLOSED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

/// Fails if the stream was closed when the program began; `words` say what to do.
fn check_open(stream: &impl AsFd, words: &str) -> io::Result<()> {
    let closed = CLOSED.get(stream.as_fd().as_raw_fd() as usize);
    let is_closed = closed.is_some_and(|closed| closed.load(Ordering::Relaxed));
    if is_closed { Err(io::Error::other(words)) } else { Ok(()) }
}

#[derive(Debug)]
pub(crate) struct BlockingIo<T>(pub T);

pub(crate) fn stdout() -> BlockingIo<StdoutLock<'static>> {
    BlockingIo(io::stdout().lock())
}

/// Returns an unbuffered reader of standard input that leaves it open when dropped.
pub(crate) fn stdin() -> io::Result<BlockingIo<File>> {
    check_open(&io::stdin(), "it is closed; name a file, or pipe an output in")?;
    Ok(BlockingIo(File::from(io::stdin().as_fd().try_clone_to_owned()?)))
}

pub(crate) fn screen() -> BlockingIo<Stdout> {
    BlockingIo(io::stdout())
}

impl<T: AsFd> BlockingIo<T> {
    /// Repeats `attempt` until it succeeds, or fails for another reason than that it would block.
    fn until_done<R>(
        &mut self,
        events: PollFlags,
        mut attempt: impl FnMut(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        loop {
            match attempt(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            retry_on_intr(|| poll(&mut [PollFd::new(&self.0, events)], None))?;
        }
    }
}

/// Says what could not be written, since the system's error does not.
fn explain(error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("standard output: {error}"))
}

impl<T: AsFd> AsFd for BlockingIo<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl<T: Read + AsFd> Read for BlockingIo<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.until_done(PollFlags::IN, |reader| reader.read(buffer))
    }
}

impl<T: Write + AsFd> Write for BlockingIo<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        check_open(&self.0, "standard output is closed; redirect it to a file, or pipe it on")?;
        self.until_done(PollFlags::OUT, |out| out.write(bytes)).map_err(explain)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.until_done(PollFlags::OUT, T::flush).map_err(explain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_pipe_is_awaited() {
        let (mut reader, writer) = io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        let content = vec![b'x'; 1 << 20];
        let read = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).map(|_| bytes)
        });
        let mut out = BlockingIo(writer);
        out.write_all(&content).unwrap();
        drop(out);
        assert!(read.join().unwrap().unwrap() == content);
    }

    #[test]
    fn an_empty_pipe_is_awaited() {
        let (reader, mut writer) = io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&reader, true).unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let read = std::thread::spawn(move || {
            let mut reader = BlockingIo(reader);
            tell.send(reader.0.read(&mut [0]).unwrap_err().kind()).unwrap();
            let mut bytes = Vec::new();
            reader.read_to_end(&mut bytes).map(|_| bytes)
        });
        assert_eq!(told.recv().unwrap(), io::ErrorKind::WouldBlock);
        writer.write_all(b"later").unwrap();
        drop(writer);
        assert_eq!(read.join().unwrap().unwrap(), b"later");
    }
}
