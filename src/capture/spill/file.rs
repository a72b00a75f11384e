//! The file that an output is spilled to, and the space that it leaves to others.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Once;
use std::sync::atomic::AtomicBool;

use crate::store::NewSpill;

/// Free space is looked at once in this many bytes, and more often when there is little.
const LOOK_EVERY: u64 = 16 << 20;
/// A spill never takes the last gigabyte of a disk, or the last twentieth if that is less.
const KEEP_FREE: u64 = 1 << 30;

/// A spill that is being written under its temporary name.
#[derive(Debug)]
pub struct Spill {
    new: NewSpill,
    written: u64,
    look_at: u64,
}

impl Spill {
    /// Takes a spill that has just been begun.
    pub fn new(new: NewSpill) -> Spill {
        survive_file_size_limit();
        Spill { new, written: 0, look_at: 0 }
    }

    /// The file's name once it is finished.
    pub fn name(&self) -> &str {
        self.new.id()
    }

    /// Its path once it is finished.
    pub fn path(&self) -> PathBuf {
        self.new.path()
    }

    /// Its path until then.
    pub fn temporary_path(&self) -> PathBuf {
        self.new.temporary_path()
    }

    /// The file itself.
    pub fn file(&self) -> &File {
        self.new.file()
    }

    /// Gives it its name, without replacing another file.
    ///
    /// # Errors
    /// What the system says; it is then gone.
    pub fn finish(self, durable: bool) -> io::Result<PathBuf> {
        self.new.finish(durable)
    }

    /// Whether the disk has room for more.
    ///
    /// # Errors
    /// If not.
    pub fn room(&mut self) -> io::Result<()> {
        if self.written < self.look_at {
            return Ok(());
        }
        let disk = rustix::fs::fstatvfs(self.file())?;
        match room(disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize) {
            0 => Err(io::Error::new(io::ErrorKind::StorageFull, "the disk is nearly full")),
            room => {
                self.look_at = self.written + (room / 2).min(LOOK_EVERY);
                Ok(())
            }
        }
    }
}

/// Bytes of a disk that a spill may take.
fn room(free: u64, total: u64) -> u64 {
    free.saturating_sub(KEEP_FREE.min(total / 20))
}

impl Write for Spill {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.room()?;
        let count = self.new.file().write(bytes)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file grown to the limit of its size is to be an error, not our death. A handler, unlike an
/// ignored signal, is not handed on to the commands that we start.
fn survive_file_size_limit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_gigabyte_or_twentieth_is_left() {
        const GIB: u64 = 1 << 30;
        assert_eq!((room(10 * GIB, 1000 * GIB), room(GIB, 1000 * GIB), room(0, 1000 * GIB)), (9 * GIB, 0, 0));
        assert_eq!((room(GIB / 20, GIB), room(GIB / 20 + 1, GIB)), (0, 1));
    }
}
