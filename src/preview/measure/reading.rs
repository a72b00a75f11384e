//! How an agent's tool reads an output: what it removes from the ends, and reads of a pipe that are decoded separately, so
//! that a character split between two of them is lost.

use std::ops::Range;

use crate::preview::input::Totals;
use crate::preview::model::Part;
use crate::text::units::{self, Measure, TotalsMask};

use super::{Text, TrimRule};

/// Returns the range of `bytes` that remains of `body`, which starts and ends between characters.
pub(crate) fn trimmed(bytes: &[u8], body: Range<usize>, trim: TrimRule) -> Range<usize> {
    let Range { start, end } = body;
    match trim {
        TrimRule::Nothing => body,
        TrimRule::LastFeed => start..end - usize::from(bytes[body].ends_with(b"\n")),
        TrimRule::Feeds => {
            let kept = bytes[body].iter().rposition(|byte| *byte != b'\n');
            start..kept.map_or(start, |at| start + at + 1)
        }
        TrimRule::End => start..space_end(bytes, body),
        TrimRule::Both => {
            let end = space_end(bytes, body);
            space_start(bytes, start..end)..end
        }
        TrimRule::BlankLines => {
            let end = space_end(bytes, body);
            blank_lines_end(bytes, start..end)..end
        }
    }
}

/// Returns where the white space at the start ends.
fn space_start(bytes: &[u8], body: Range<usize>) -> usize {
    let mut at = body.start;
    while at < body.end {
        let len = units::element(&bytes[..body.end], at).len;
        if !is_space(&bytes[at..at + len]) {
            break;
        }
        at += len;
    }
    at
}

/// Returns where the white space at the end begins.
fn space_end(bytes: &[u8], body: Range<usize>) -> usize {
    let mut at = body.end;
    while at > body.start {
        let len = units::element_before(&bytes[..body.end], body.start, at).len;
        if !is_space(&bytes[at - len..at]) {
            break;
        }
        at -= len;
    }
    at
}

/// Returns where `^(\s*\n)+` ends: after the last line feed of the white space at the start.
fn blank_lines_end(bytes: &[u8], body: Range<usize>) -> usize {
    let space = body.start..space_start(bytes, body.clone());
    bytes[space].iter().rposition(|byte| *byte == b'\n').map_or(body.start, |at| body.start + at + 1)
}

fn is_space(element: &[u8]) -> bool {
    let found = std::str::from_utf8(element).ok().and_then(|text| text.chars().next());
    found.is_some_and(is_js_space)
}

/// Whether JavaScript's `\s` and `trim` treat the character as white space: Unicode's, without U+0085 and with the byte
/// order mark.
pub(crate) fn is_js_space(character: char) -> bool {
    (character.is_whitespace() && character != '\u{85}') || character == '\u{feff}'
}

impl<'a> Text<'a> {
    /// Splits a range where a read splits a character; returns the range itself if none does.
    pub(crate) fn between_reads(
        &self,
        range: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> + use<'a, '_> {
        let mut rest = Some(range);
        std::iter::from_fn(move || {
            let range = rest.take()?;
            let Some(at) = self.next_split(range.clone()) else { return Some(range) };
            rest = Some(at..range.end);
            Some(range.start..at)
        })
    }

    /// Returns the first position inside a range where a read ends within a character.
    fn next_split(&self, range: Range<usize>) -> Option<usize> {
        let reads = self.reads?;
        let mut at = (range.start / reads + 1).saturating_mul(reads);
        while at < range.end {
            if units::element_start(self.bytes, at) < at {
                return Some(at);
            }
            at = at.saturating_add(reads);
        }
        None
    }

    /// Returns the end of the read that contains byte `at`.
    pub(crate) fn read_end(&self, at: usize) -> usize {
        self.reads.map_or(usize::MAX, |reads| (at / reads + 1).saturating_mul(reads))
    }

    /// Returns the start of the read that contains the byte before `at`.
    pub(crate) fn read_start(&self, at: usize) -> usize {
        self.reads.map_or(0, |reads| at.saturating_sub(1) / reads * reads)
    }

    /// Adjusts totals of the body, counted on the bytes as a whole, for its split characters.
    pub(crate) fn with_split_characters(&self, totals: Totals) -> Totals {
        let is_ascii = totals.points == Some(self.len() as u64) && totals.bad_bytes.unwrap_or(0) == 0;
        if self.reads.is_none() || totals.known().without(TotalsMask::LINE_FEEDS).is_empty() || is_ascii {
            return totals;
        }
        let (mut whole, mut apart) = (Measure::default(), Measure::default());
        let mut at = self.body.start;
        while let Some(split) = self.next_split(at..self.body.end) {
            let start = units::element_start(self.bytes, split);
            let end = (start + units::element(self.bytes, start).len).min(self.body.end);
            whole += units::measure_all(&self.bytes[start..end], TotalsMask::ALL);
            apart += self.measure(start..end, TotalsMask::ALL);
            at = end;
        }
        totals.plus(&apart).less(&whole)
    }

    /// Splits the parts at characters that are split between two reads.
    pub(crate) fn apart(&self, parts: Vec<Part>) -> Vec<Part> {
        if self.reads.is_none() {
            return parts;
        }
        let split = |part| match part {
            Part::Kept { range, .. } => {
                self.between_reads(range).filter_map(|range| self.kept(range)).collect()
            }
            part => vec![part],
        };
        parts.into_iter().flat_map(split).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trim(text: &str, trim: TrimRule) -> &str {
        &text[trimmed(text.as_bytes(), 0..text.len(), trim)]
    }

    #[test]
    fn white_space_is_what_javascript_takes_for_it() {
        let text = "\u{feff}\u{a0}\u{2028} \t\r\n a\u{85} \u{3000}\n";
        assert_eq!(trim(text, TrimRule::Both), "a\u{85}");
        assert_eq!(trim(text, TrimRule::End), "\u{feff}\u{a0}\u{2028} \t\r\n a\u{85}");
        assert_eq!(trim(" \u{a0}\n", TrimRule::Both), "");
    }

    #[test]
    fn blank_lines_go_and_indentation_stays() {
        assert_eq!(trim("  \n\t\r\n  a\n b \n\n", TrimRule::BlankLines), "  a\n b");
        assert_eq!(trim("  a", TrimRule::BlankLines), "  a");
        assert_eq!(trim(" \n \n ", TrimRule::BlankLines), "");
    }

    #[test]
    fn line_feeds_go_alone_or_all() {
        assert_eq!(trim("a \n\n", TrimRule::LastFeed), "a \n");
        assert_eq!(trim("a \n\n", TrimRule::Feeds), "a ");
        assert_eq!(trim("\n\n", TrimRule::Feeds), "");
        assert_eq!(trim("\n\n", TrimRule::Nothing), "\n\n");
    }

    #[test]
    fn bytes_that_are_not_text_are_not_space() {
        let bytes = b" \xC2 \xA0 ";
        assert_eq!(trimmed(bytes, 0..bytes.len(), TrimRule::Both), 1..4);
        let bytes = b" \xE2\x80";
        assert_eq!(trimmed(bytes, 0..bytes.len(), TrimRule::Both), 1..3);
    }
}
