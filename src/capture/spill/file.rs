//! The file that an output is spilled to, and the space that it leaves to others.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Once;
use std::sync::atomic::AtomicBool;

use crate::source::room;
use crate::store::NewSpill;

/// Free space is looked at once in this many bytes, and more often when there is little.
const LOOK_EVERY: u64 = 16 << 20;

/// A spill that is being written under its temporary name.
#[derive(Debug)]
pub(crate) struct Spill {
    new: NewSpill,
    written: u64,
    look_at: u64,
}

impl Spill {
    /// Takes a spill that has just been begun.
    pub(crate) fn new(new: NewSpill) -> Spill {
        survive_file_size_limit();
        Spill { new, written: 0, look_at: 0 }
    }

    /// The file's name once it is finished.
    pub(crate) fn name(&self) -> &str {
        self.new.id()
    }

    /// Its path once it is finished.
    pub(crate) fn path(&self) -> PathBuf {
        self.new.path()
    }

    /// Its path until then.
    pub(crate) fn temporary_path(&self) -> PathBuf {
        self.new.temporary_path()
    }

    /// The file itself.
    pub(crate) fn file(&self) -> &File {
        self.new.file()
    }

    /// Gives it its name, without replacing another file.
    ///
    /// # Errors
    /// What the system says; it is then gone.
    pub(crate) fn finish(self, durable: bool) -> io::Result<PathBuf> {
        self.new.finish(durable)
    }

    /// Whether the disk has room for more.
    ///
    /// # Errors
    /// If not.
    pub(crate) fn room(&mut self) -> io::Result<()> {
        if self.written < self.look_at {
            return Ok(());
        }
        match room(self.file())? {
            0 => Err(io::Error::new(io::ErrorKind::StorageFull, "the disk is nearly full")),
            room => {
                self.look_at = self.written + (room / 2).min(LOOK_EVERY);
                Ok(())
            }
        }
    }
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
