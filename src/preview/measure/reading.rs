//! How an agent's tool reads an output: what it trims, and reads of a pipe, between which a split character is lost.

use std::ops::Range;

use crate::preview::input::Totals;
use crate::preview::model::{Direction, Part};
use crate::text::units::{self, Decoding, Element, Measure, TotalsMask};

use super::{Text, TrimRule};

/// Returns the range of `bytes` that remains of `body`, which starts and ends between characters.
pub(crate) fn trimmed(bytes: &[u8], body: Range<usize>, trim: TrimRule) -> Range<usize> {
    let Range { start, end } = body;
    let without = |range, from| without_space(bytes, range, from, is_js_space);
    match trim {
        TrimRule::Nothing => body,
        TrimRule::LastFeed => start..end - usize::from(bytes[body].ends_with(b"\n")),
        TrimRule::Feeds => {
            let kept = bytes[body].iter().rposition(|byte| *byte != b'\n');
            start..kept.map_or(start, |at| start + at + 1)
        }
        TrimRule::End => without(body, Direction::Tail),
        TrimRule::Both => without(without(body, Direction::Tail), Direction::Head),
        TrimRule::BlankLines => {
            let rest = without(body, Direction::Tail);
            // `^(\s*\n)+` ends after the last line feed of the white space at the start.
            let space = &bytes[start..without(rest.clone(), Direction::Head).start];
            let feed = space.iter().rposition(|byte| *byte == b'\n');
            feed.map_or(start, |at| start + at + 1)..rest.end
        }
    }
}

/// Returns what remains of a range without the white space at one end.
pub(crate) fn without_space(
    bytes: &[u8],
    range: Range<usize>,
    from: Direction,
    is_space: fn(char) -> bool,
) -> Range<usize> {
    let mut rest = range;
    while !rest.is_empty() {
        let (element, beyond) = from.split(&rest, outer_element(bytes, &rest, from).len);
        let found = std::str::from_utf8(&bytes[element]).ok().and_then(|text| text.chars().next());
        if !found.is_some_and(is_space) {
            break;
        }
        rest = beyond;
    }
    rest
}

/// Returns the element at one end of a range, which starts and ends between elements.
#[inline]
pub(crate) fn outer_element(bytes: &[u8], within: &Range<usize>, from: Direction) -> Element {
    match from {
        Direction::Head => units::element(&bytes[..within.end], within.start),
        Direction::Tail => units::element_before(&bytes[..within.end], within.start, within.end),
    }
}

/// Whether JavaScript's `trim` takes the character for white space: Unicode's, without U+0085 and with the byte order mark.
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

    /// Returns the element at one end of a range as it is decoded: of the read that it is in, and in Go each bad byte alone.
    pub(crate) fn outer_element(&self, within: &Range<usize>, from: Direction) -> Element {
        let Range { start, end } = *within;
        let within = match (self.reads, from) {
            (None, _) => start..end,
            (Some(reads), Direction::Head) => start..end.min((start / reads + 1).saturating_mul(reads)),
            (Some(reads), Direction::Tail) => start.max(end.saturating_sub(1) / reads * reads)..end,
        };
        let found = outer_element(self.bytes, &within, from);
        let is_bad = self.decoding == Decoding::Go && !found.valid;
        if is_bad { Element { len: 1, valid: false } } else { found }
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
    fn trims_the_same_white_space_as_javascript() {
        let text = "\u{feff}\u{a0}\u{2028} \t\r\n a\u{85} \u{3000}\n";
        assert_eq!(trim(text, TrimRule::Both), "a\u{85}");
        assert_eq!(trim(text, TrimRule::End), "\u{feff}\u{a0}\u{2028} \t\r\n a\u{85}");
        assert_eq!(trim(" \u{a0}\n", TrimRule::Both), "");
    }

    #[test]
    fn trimming_blank_lines_keeps_indentation() {
        assert_eq!(trim("  \n\t\r\n  a\n b \n\n", TrimRule::BlankLines), "  a\n b");
        assert_eq!(trim("  a", TrimRule::BlankLines), "  a");
        assert_eq!(trim(" \n \n ", TrimRule::BlankLines), "");
    }

    #[test]
    fn trims_one_final_line_feed_or_all() {
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
