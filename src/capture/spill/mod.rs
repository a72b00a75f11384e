//! Takes an output while it arrives: counted, held, then written to a file as far as cap and disk allow.

pub(crate) mod content;
pub(crate) mod copy;
pub(crate) mod dir;
pub(crate) mod location;
pub(crate) mod sink;

use std::io::{self, Write};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

use crate::base::fs::room::RoomWatch;
use crate::store::NewSpill;

#[derive(Debug)]
pub(crate) struct Spill {
    pub file: NewSpill,
    written: u64,
    room: RoomWatch,
}

impl Spill {
    pub(crate) fn new(file: NewSpill) -> Spill {
        static ONCE: Once = Once::new();
        // Reaching the size limit (`ulimit -f`) becomes an error. Commands do not inherit a handler.
        ONCE.call_once(|| {
            let _ = signal_hook::flag::register(libc::SIGXFSZ, Arc::new(AtomicBool::new(false)));
        });
        Spill { file, written: 0, room: RoomWatch::default() }
    }

    pub(crate) fn room(&mut self) -> io::Result<()> {
        self.room.check(self.file.file(), self.written)
    }
}

impl Write for Spill {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.room()?;
        let count = self.file.file().write(bytes)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
