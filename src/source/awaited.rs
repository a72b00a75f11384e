//! Reads from a file that another process may have made non-blocking.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

/// Waits where the inner reader would give up because nothing has arrived yet: standard input is shared with other
/// processes, any of which may have made it non-blocking.
#[derive(Debug)]
pub struct Awaited<R>(pub R);

impl<R: AsFd> AsFd for Awaited<R> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl<R: Read + AsFd> Read for Awaited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_pipe_with_nothing_in_it_is_waited_for() {
        let (reader, mut writer) = io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&reader, true).unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        let read = std::thread::spawn(move || {
            let mut reader = Awaited(reader);
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
