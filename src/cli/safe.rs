//! Writes content to a terminal, escaped.

use std::io::{self, Write};

use crate::text::cells::Show;
use crate::text::{label, units};

/// A line is escaped in pieces of this many bytes, if it is longer.
const PIECE: usize = 1 << 20;

/// Escapes what is written for a terminal, line by line; a very long line in pieces.
pub(crate) struct SafeWriter<W: Write> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Write for SafeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        let whole = memchr::memrchr(b'\n', &self.line).map_or(0, |at| at + 1);
        let whole =
            if self.line.len() > PIECE { self.line.len() - units::unfinished(&self.line) } else { whole };
        if whole > 0 {
            label::write_safe(
                &mut self.out,
                &self.line[..whole],
                &Show::MODEL,
                crate::cli::terminal::colour(),
            )?;
            self.line.drain(..whole);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> SafeWriter<W> {
    /// Writes to a terminal.
    pub(crate) fn new(out: W) -> Self {
        Self { out, line: Vec::new() }
    }

    /// Writes the rest, and ends the last line.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        if !self.line.is_empty() {
            label::write_safe(&mut self.out, &self.line, &Show::MODEL, crate::cli::terminal::colour())?;
            self.out.write_all(b"\n")?;
        }
        self.out.flush()
    }
}
