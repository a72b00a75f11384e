//! The file that an output is spilled to, and the space that it leaves to others.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Once;
use std::sync::atomic::AtomicBool;

use crate::fs::room::RoomWatch;
use crate::store::NewSpill;

/// A spill that is being written under its temporary name.
#[derive(Debug)]
pub(crate) struct Spill {
    new: NewSpill,
    written: u64,
    room: RoomWatch,
}

impl Spill {
    /// Takes a spill that has just been begun.
    pub(crate) fn new(new: NewSpill) -> Spill {
        survive_file_size_limit();
        Spill { new, written: 0, room: RoomWatch::default() }
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
        self.room.check(self.new.file(), self.written)
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

/// A file grown to the limit of its size is to be an error, not the program's death. A handler, unlike an
/// ignored signal, is not handed on to the commands that overspill starts.
fn survive_file_size_limit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    });
}
