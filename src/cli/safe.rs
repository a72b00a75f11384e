//! Writers for what goes to a terminal: content is escaped, and everything is in ASCII where nothing else can be shown.

use std::io::{self, Stderr, Stdout, StdoutLock, Write};
use std::sync::atomic::Ordering;

use crate::base::fs::blocking::{self, BlockingIo};
use crate::text::cells::{Escapes, Show};
use crate::text::{label, units};

use super::terminal;

/// A line is escaped in pieces of this many bytes, if it is longer.
const PIECE: usize = 1 << 20;

/// Writes content: escaped line by line for a terminal, a very long line in pieces; unchanged for anything else.
pub(crate) struct SafeWriter<W: Write> {
    out: W,
    /// How a terminal shows it.
    show: Option<Show>,
    line: Vec<u8>,
}

impl SafeWriter<BlockingIo<StdoutLock<'static>>> {
    /// Writes to standard output.
    pub(crate) fn stdout() -> Self {
        Self::new(blocking::stdout(), terminal::show(&io::stdout()))
    }

    /// Same for what a program wrote to a terminal: its colours are shown, and no other escape sequences.
    pub(crate) fn rendered() -> Self {
        let rendered = |show| Show { escapes: Escapes::Render, ..show };
        Self::new(blocking::stdout(), terminal::show(&io::stdout()).map(rendered))
    }
}

impl<W: Write> Write for SafeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(show) = &self.show else { return self.out.write(bytes) };
        self.line.extend_from_slice(bytes);
        let whole = memchr::memrchr(b'\n', &self.line).map_or(0, |at| at + 1);
        let whole = if self.line.len() > PIECE { units::unfinished(&self.line) } else { whole };
        if whole > 0 {
            label::write_safe(&mut self.out, &self.line[..whole], show, terminal::colour())?;
            self.line.drain(..whole);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

impl<W: Write> SafeWriter<W> {
    pub(crate) fn new(out: W, show: Option<Show>) -> Self {
        Self { out, show, line: Vec::new() }
    }

    /// Writes the rest, and ends the last line on a terminal.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        if let Some(show) = &self.show
            && !self.line.is_empty()
        {
            label::write_safe(&mut self.out, &self.line, show, terminal::colour())?;
            self.line.clear();
            self.out.write_all(b"\n")?;
        }
        self.out.flush()
    }
}

/// Writes what is safe already; in ASCII, if nothing else can be shown.
pub(crate) struct PlainWriter<W: Write> {
    out: W,
    is_ascii: bool,
    /// The start of a character of which the rest has not come.
    started: Vec<u8>,
}

impl<W: Write> PlainWriter<W> {
    fn new(out: W, is_ascii: bool) -> Self {
        Self { out, is_ascii, started: Vec::new() }
    }
}

impl<W: Write> Write for PlainWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_ascii {
            return self.out.write(bytes);
        }
        self.started.extend_from_slice(bytes);
        let whole = units::unfinished(&self.started);
        let text = String::from_utf8_lossy(&self.started[..whole]);
        self.out.write_all(label::ascii(&text).as_bytes())?;
        self.started.drain(..whole);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Loses what is written to a standard output that is closed: an agent may not care for a hook's answer.
pub(crate) fn allow_closed_stdout() {
    blocking::CLOSED[1].store(false, Ordering::Relaxed);
}

/// Returns standard output for what is safe already; if nothing but ASCII can be shown there, in ASCII.
pub(crate) fn stdout() -> PlainWriter<BlockingIo<StdoutLock<'static>>> {
    PlainWriter::new(blocking::stdout(), terminal::is_ascii(&io::stdout()))
}

/// The same, not locked.
pub(crate) fn shared_stdout() -> PlainWriter<BlockingIo<Stdout>> {
    PlainWriter::new(blocking::screen(), terminal::is_ascii(&io::stdout()))
}

/// The same for standard error.
pub(crate) fn stderr() -> PlainWriter<Stderr> {
    PlainWriter::new(io::stderr(), terminal::is_ascii(&io::stderr()))
}

/// Maximum length of a word of a message, and of a line of one, in columns: what a message repeats may be of any length.
const MAX_WORD: usize = 1000;
pub(crate) const MAX_LINE: usize = 4000;

/// Writes a message to standard error, long words and lines by their ends, and forgets errors: they are no reason to stop.
pub(crate) fn put(text: &str) {
    let mut err = stderr();
    let _ = err.write_all(bounded(text).as_bytes()).and_then(|()| err.flush());
}

fn bounded(text: &str) -> String {
    let line = |line: &str| {
        let words = line.split_inclusive(' ').map(|word| label::fit(word, MAX_WORD));
        label::fit(&words.collect::<String>(), MAX_LINE)
    };
    text.split_inclusive('\n')
        .map(|text| match text.strip_suffix('\n') {
            Some(text) => line(text) + "\n",
            None => line(text),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_message_is_shortened_in_the_middle() {
        let long = "x".repeat(100_000);
        let told = bounded(&format!("invalid '{long}' for '--set'; write 5\n'{long}'\n"));
        assert!(told.starts_with("invalid 'xx") && told.contains("xx' for '--set'; write 5\n'xx"), "{told}");
        assert!(told.ends_with("xx'\n") && told.len() < 2 * MAX_WORD + 100);
        let told = bounded(&format!("several: {}try one", "é ".repeat(50_000)));
        assert_eq!((told.chars().count(), told.ends_with("é try one")), (MAX_LINE, true));
        for text in ["", "\r12 MB, 3 lines  ", "a\nb\n", "\u{1b}[1mUsage:\u{1b}[0m x\n"] {
            assert_eq!(bounded(text), text);
        }
    }

    #[test]
    fn a_terminal_without_more_gets_ascii_however_the_bytes_come() {
        let text = "a · é\u{1b}[1m…\n";
        for size in 1..=text.len() {
            let mut out = Vec::new();
            let mut plain = PlainWriter::new(&mut out, true);
            text.as_bytes().chunks(size).for_each(|piece| plain.write_all(piece).unwrap());
            assert_eq!(String::from_utf8(out).unwrap(), "a - <U+00E9>\u{1b}[1m.\n", "{size}");
        }
        let mut out = Vec::new();
        PlainWriter::new(&mut out, false).write_all(text.as_bytes()).unwrap();
        assert_eq!(out, text.as_bytes());
    }
}
