//! Determines what kind of thing a path names, and opens it accordingly.

use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, IsTerminal};
use std::os::unix::fs::{FileExt, FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::fs::OFlags;
use rustix::io::retry_on_intr;

use crate::base::fs::plain_file::DENIED;

use super::spool::{Limit, Spool, StreamProgress};

/// Maximum number of bytes read from a device, which might never end.
const DEVICE_BYTES: u64 = 64 << 20;

/// How often to check for a FIFO's writer on systems where it cannot be waited for.
const WRITER_EVERY: Duration = Duration::from_millis(20);

/// Why something cannot be opened, and what to do instead. Escape the path before it reaches a terminal.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("{}: {}", .0.display(), missing(.0))]
    Missing(PathBuf),
    #[error("{}: {DENIED}", .0.display())]
    Denied(PathBuf),
    #[error("{}: is a directory; name a file in it, or run `overspill` alone to browse the stores", .0.display())]
    Directory(PathBuf),
    #[error("{}: is a socket, not a file; save its output to a file or pipe it in", .0.display())]
    Socket(PathBuf),
    #[error("{}: is a block device; pipe the part you want in, as in `head -c 1m DEVICE | overspill -`", .0.display())]
    BlockDevice(PathBuf),
    #[error("{}: is a terminal; name a file, or pipe a command's output in", .0.display())]
    Terminal(PathBuf),
    #[error("{}: is a symbolic link, and links inside a store are not followed; open its target by path", .0.display())]
    Link(PathBuf),
    #[error("{}: is a symbolic link that leads back to itself; remove it, or let it name a file", .0.display())]
    Loop(PathBuf),
    #[error("{}: is not a regular file, and only regular files in a store are opened; pipe it in", .0.display())]
    Irregular(PathBuf),
    #[error("{}: too large to be mapped; pipe the part you want in, as in `head -c 1g FILE | overspill -`", .0.display())]
    TooLarge(PathBuf),
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl OpenError {
    pub(crate) fn new(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        let socket = || path.metadata().is_ok_and(|meta| meta.file_type().is_socket());
        let is_loop = || path.metadata().is_err_and(|error| error.raw_os_error() == Some(libc::ELOOP));
        match source.raw_os_error() {
            Some(libc::ENOENT | libc::ENOTDIR) => Self::Missing(path),
            Some(libc::EACCES | libc::EPERM) => Self::Denied(path),
            Some(libc::ELOOP) if is_loop() => Self::Loop(path),
            Some(libc::ELOOP) if path.is_symlink() => Self::Link(path),
            Some(libc::ENXIO | libc::EOPNOTSUPP) if socket() => Self::Socket(path),
            _ => Self::Io { path, source },
        }
    }
}

/// Returns the metadata of a file, which may be of any kind but a directory.
#[cfg(feature = "app")]
pub(crate) fn metadata(path: &Path) -> Result<Metadata, OpenError> {
    let meta = path.metadata().map_err(|error| OpenError::new(path, error))?;
    if meta.is_dir() { Err(OpenError::Directory(path.to_owned())) } else { Ok(meta) }
}

/// Whether to follow a symbolic link that is the last component of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FollowLinks {
    Follow,
    Refuse,
}

pub(super) enum Access {
    File(File, Metadata),
    Stream(Arc<Spool>),
}

/// Adds for a name without a slash that it is not an id either.
fn missing(name: &Path) -> &'static str {
    match name.as_os_str().as_encoded_bytes().contains(&b'/') {
        true => "no such file; check the name, or run `overspill list` for what the stores hold",
        false => "no such file or id; `overspill list` and `overspill sessions` list what there is",
    }
}

pub(super) fn open(path: &Path, links: FollowLinks) -> Result<Access, OpenError> {
    let file = open_file(path, links).map_err(|error| OpenError::new(path, error))?;
    let meta = file.metadata().map_err(|error| OpenError::new(path, error))?;
    let kind = meta.file_type();
    if let Some(refusal) = refuse(path, kind, &file) {
        return Err(refusal);
    }
    // It may never produce anything, and whoever merely moves past it in a list would wait forever.
    if links == FollowLinks::Refuse && !kind.is_file() {
        return Err(OpenError::Irregular(path.to_owned()));
    }
    access(file, meta).map_err(|error| OpenError::new(path, error))
}

/// Tells by what was known of a file when it was opened how it is read.
fn access(file: File, meta: Metadata) -> io::Result<Access> {
    let kind = meta.file_type();
    if kind.is_fifo() {
        // The file stays open while its thread waits: closing it would cut off a writer that came.
        let opened = move || await_writer(&file).and_then(|()| blocking(&file)).map(|_| file);
        return Spool::start(StreamProgress::Waiting, Limit::Disk, opened).map(Access::Stream);
    }
    if kind.is_char_device() {
        blocking(&file)?;
    } else if meta.len() > 0 || file.read_at(&mut [0], 0)? == 0 {
        return Ok(Access::File(file, meta));
    } else {
        // What was written since the file was opened shows in its size by now, other than under /proc.
        let now = file.metadata()?;
        if now.len() > 0 {
            return Ok(Access::File(file, now));
        }
    }
    // As a device, files under /proc may never end; their size says nothing.
    Spool::start(StreamProgress::Streaming, Limit::Bytes(DEVICE_BYTES), || Ok(file)).map(Access::Stream)
}

fn open_file(path: &Path, links: FollowLinks) -> io::Result<File> {
    let mut flags = OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    flags.set(OFlags::NOFOLLOW, links == FollowLinks::Refuse);
    OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}

fn refuse(path: &Path, kind: FileType, file: &File) -> Option<OpenError> {
    let refusal = if kind.is_dir() {
        OpenError::Directory
    } else if kind.is_block_device() {
        OpenError::BlockDevice
    } else if kind.is_char_device() && file.is_terminal() {
        OpenError::Terminal
    } else {
        return None;
    };
    Some(refusal(path.to_owned()))
}

fn blocking(file: &File) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)? - OFlags::NONBLOCK;
    Ok(rustix::fs::fcntl_setfl(file, flags)?)
}

/// Blocks until a writer has opened the FIFO and written something, or has closed it again.
fn await_writer(file: &File) -> io::Result<()> {
    loop {
        let mut fds = [PollFd::new(file, PollFlags::IN)];
        retry_on_intr(|| rustix::event::poll(&mut fds, None))?;
        // Linux reports a hangup only after a writer has been there and closed; macOS also before the first one.
        let is_early = !cfg!(target_os = "linux") && fds[0].revents().contains(PollFlags::HUP);
        if !is_early || rustix::io::ioctl_fionread(file)? > 0 {
            return Ok(());
        }
        std::thread::sleep(WRITER_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_first_written_during_open_is_a_file_and_not_a_stream() {
        let file = tempfile::tempfile().unwrap();
        let as_opened = file.metadata().unwrap();
        file.write_all_at(b"first bytes", 0).unwrap();
        match access(file, as_opened).unwrap() {
            Access::File(_, meta) => assert_eq!(meta.len(), 11),
            Access::Stream(_) => panic!("it would be read once, and end here"),
        }
    }
}
