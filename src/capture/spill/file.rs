//! The file that an output is spilled to, and the disk space it leaves for others.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Once;
use std::sync::atomic::AtomicBool;

use crate::base::fs::room::RoomWatch;
use crate::store::NewSpill;

/// A spill that is being written under a temporary name.
#[derive(Debug)]
pub(crate) struct Spill {
    new: NewSpill,
    written: u64,
    room: RoomWatch,
}

impl Spill {
    pub(crate) fn new(new: NewSpill) -> Spill {
        survive_file_size_limit();
        Spill { new, written: 0, room: RoomWatch::default() }
    }

    pub(crate) fn name(&self) -> &str {
        self.new.id()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.new.path()
    }

    pub(crate) fn temporary_path(&self) -> PathBuf {
        self.new.temporary_path()
    }

    pub(crate) fn file(&self) -> &File {
        self.new.file()
    }

    /// Gives the file its final name, without replacing another file.
    ///
    /// # Errors
    /// The system's error; the file is then removed.
    pub(crate) fn finish(self, durable: bool) -> io::Result<PathBuf> {
        self.new.finish(durable)
    }

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

/// Turns a file that reaches the size limit (`ulimit -f`) into an error instead of the program's death. Unlike an
/// ignored signal, a handler is not inherited by the commands that overspill starts.
fn survive_file_size_limit() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    });
}
