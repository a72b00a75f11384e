//! Divides bytes into the parts that may have a match: what a needle finds, and lines with escape sequences.

use std::ops::Range;

use memchr::{memchr, memrchr};
use regex::bytes::Regex;

use crate::text::ansi::ESC;

use super::needle::{Patience, Sighting};
use super::pattern::Pattern;

pub(super) struct Sieve<'a> {
    pattern: &'a Pattern,
    bytes: &'a [u8],
    patience: Patience,
    /// The next part to search as it is.
    plain: Range<usize>,
    /// The next line to search through its escape sequences.
    coloured: Range<usize>,
}

impl<'a> Sieve<'a> {
    /// Sieves `bytes` from `at` on.
    pub(super) fn new(pattern: &'a Pattern, bytes: &'a [u8], at: usize) -> Self {
        let mut sieve = Self { pattern, bytes, patience: Patience::default(), plain: 0..0, coloured: 0..0 };
        sieve.coloured = sieve.next_coloured(at);
        sieve
    }

    /// Returns the next bytes to search at or after `from`, and with what: from there or the start of a line to the end of a
    /// line, including its line feed, so that everything that surrounds a match is included.
    pub(super) fn next(&mut self, from: usize) -> Option<(Range<usize>, &'a Regex)> {
        if self.coloured.start < from {
            self.coloured = self.next_coloured(from);
        }
        if self.plain.end <= from {
            self.plain = self.next_plain(from);
        }
        let plain = self.plain.start.max(from)..self.plain.end.min(self.coloured.start);
        if !plain.is_empty() {
            return Some((plain, &self.pattern.regex));
        }
        let coloured = self.coloured.clone();
        (!coloured.is_empty()).then(|| (coloured, self.pattern.through_escapes()))
    }

    fn next_plain(&mut self, from: usize) -> Range<usize> {
        let len = self.bytes.len();
        let Some(needle) = &self.pattern.needle else { return from.min(len)..len };
        match needle.find(self.bytes, from.min(len), &mut self.patience) {
            Sighting::Nowhere => len..len,
            Sighting::TooOften(at) => self.line_start(from, at)..len,
            Sighting::At(at) => self.line_start(from, at)..self.line_end(at),
        }
    }

    /// Returns the next line with an escape sequence that may have a match: it has the byte that every match contains.
    fn next_coloured(&self, from: usize) -> Range<usize> {
        let len = self.bytes.len();
        let mut at = if self.pattern.is_as_it_stands() { len } else { from.min(len) };
        while let Some(escape) = memchr(ESC, &self.bytes[at..]) {
            let line = self.line_start(from, at + escape)..self.line_end(at + escape);
            let Some(rare) = &self.pattern.rare else { return line };
            match rare.find(&self.bytes[line.start..]).map(|rare| line.start + rare) {
                None => break,
                Some(rare) if line.contains(&rare) => return line,
                Some(rare) => at = self.line_start(line.end, rare),
            }
        }
        len..len
    }

    /// Returns where the line of `at` starts, or `from` if that is later.
    fn line_start(&self, from: usize, at: usize) -> usize {
        from + memrchr(b'\n', &self.bytes[from..at]).map_or(0, |feed| feed + 1)
    }

    fn line_end(&self, at: usize) -> usize {
        memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |feed| at + feed + 1)
    }
}
