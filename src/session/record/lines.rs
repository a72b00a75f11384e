//! The lines of a file of records, one JSON value each.

use std::ops::ControlFlow;

use memchr::memchr;

use super::LONGEST_RECORD;

/// A line of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The first byte in the file, 0-based.
    pub start: u64,
    /// The line without its line feed; empty if it is too long to be read.
    pub bytes: &'a [u8],
    /// Whether the line is too long to be read whole.
    pub is_too_long: bool,
}

/// What [`lines`] reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineStep<'a> {
    /// A whole line that is not blank.
    Line(Line<'a>),
    /// The last bytes of the file, from this offset on, which no line feed ends yet.
    Unfinished(u64),
}

/// Hands the lines of `bytes` from `from` on to `take`, until that breaks. Returns the offset after the last whole line
/// that was taken, from which to go on when the file grows. A last line that is whole JSON, though no line feed ends it, is
/// handed out as unfinished, too: more of it may come.
pub fn lines(bytes: &[u8], from: u64, take: &mut dyn FnMut(LineStep) -> ControlFlow<()>) -> u64 {
    let mut at = usize::try_from(from).unwrap_or(usize::MAX).min(bytes.len());
    while at < bytes.len() {
        let Some(end) = memchr(b'\n', &bytes[at..]).map(|found| at + found) else {
            let _ = take(LineStep::Unfinished(at as u64));
            break;
        };
        let line = bytes[at..end].trim_ascii();
        let is_too_long = line.len() > LONGEST_RECORD;
        let start = (at + (bytes[at..end].len() - bytes[at..end].trim_ascii_start().len())) as u64;
        at = end + 1;
        if line.is_empty() {
            continue;
        }
        let line = Line { start, bytes: if is_too_long { &[] } else { line }, is_too_long };
        if take(LineStep::Line(line)).is_break() {
            break;
        }
    }
    at as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, from: u64) -> (Vec<String>, Option<u64>, u64) {
        let (mut found, mut rest) = (Vec::new(), None);
        let next = lines(text.as_bytes(), from, &mut |step| {
            match step {
                LineStep::Line(line) => {
                    found.push(format!("{}:{}", line.start, String::from_utf8_lossy(line.bytes)));
                }
                LineStep::Unfinished(at) => rest = Some(at),
            }
            ControlFlow::Continue(())
        });
        (found, rest, next)
    }

    #[test]
    fn whole_lines_are_taken_and_a_half_one_waits() {
        assert_eq!(all("a\n\n  b\r\nc", 0), (vec!["0:a".into(), "5:b".into()], Some(8), 8));
        assert_eq!(all("a\n\n  b\r\nc\n", 8), (vec!["8:c".into()], None, 10));
        assert_eq!(all("", 0), (vec![], None, 0));
        assert_eq!(all("a\n", 99), (vec![], None, 2));
    }

    #[test]
    fn taking_can_end_early() {
        let mut count = 0;
        let next = lines(b"a\nb\nc\n", 0, &mut |_| {
            count += 1;
            ControlFlow::Break(())
        });
        assert_eq!((count, next), (1, 2));
    }
}
