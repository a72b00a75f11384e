//! `run --tee`: a copy of the output on standard error, while the command runs.

use std::io::{self, IsTerminal, Stderr, Write};

use crate::capture::Tee;
use crate::cli::safe::SafeWriter;
use crate::cli::terminal::show;

/// Copies to standard error: byte for byte, except that a terminal gets it escaped.
pub(super) fn to_stderr() -> Tee {
    let err = io::stderr();
    let show = show(&err).filter(|_| err.is_terminal());
    Tee::new(Ending(SafeWriter::new(err, show)))
}

/// Escapes whole lines; the last one is ended when the copy ends.
struct Ending(SafeWriter<Stderr>);

impl Write for Ending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        // Nobody is left to report an error to.
        let _ = self.0.end();
    }
}
