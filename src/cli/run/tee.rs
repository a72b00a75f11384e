//! `run --tee`: a copy of the output on standard error, while the command runs.

use std::io::{self, IsTerminal, Write};

use crate::capture::Tee;
use crate::cli::safe::SafeWriter;

/// Copies to standard error: byte for byte, except that a terminal gets it escaped.
pub(super) fn to_stderr() -> Tee {
    match io::stderr().is_terminal() {
        true => Tee::new(Escaped(SafeWriter::new(io::stderr()))),
        false => Tee::new(io::stderr()),
    }
}

/// Escapes whole lines; the last one is ended when the copy ends.
struct Escaped(SafeWriter<io::Stderr>);

impl Write for Escaped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for Escaped {
    fn drop(&mut self) {
        // Nobody is left to report an error to.
        let _ = self.0.end();
    }
}
