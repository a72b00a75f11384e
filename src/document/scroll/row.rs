//! A row of the screen: what it shows of a document, the rule above it, which row is the current one, and the matches in it.

use std::ops::Range;

use crate::document::fold::States;
use crate::document::reader::Reader;
use crate::text::cells::Cell;
use crate::text::filter::KeptRanges;
use crate::text::search::Pattern;
use crate::text::supply::OwnBytes;

/// The length of the longest character in UTF-8, in bytes.
const MAX_CHAR: u64 = 4;

#[derive(Debug, Clone, PartialEq)]
pub struct ScreenRow {
    pub start: u64,
    pub end: u64,
    /// The offset to which the cells' own offsets are relative.
    pub base: u64,
    pub opens: bool,
    /// The offset of the next row; the document's length after the last.
    pub next: u64,
    pub cells: Vec<Cell>,
    /// In the last row of a folded progress line: the number of its states.
    pub states: Option<States>,
}

impl ScreenRow {
    /// Returns the offset of the first byte drawn. In a row scrolled sideways, this may not be the start of the line.
    pub fn first(&self) -> u64 {
        self.start.max(self.base)
    }

    /// Returns the offset past the last byte drawn; the line feed is not drawn.
    pub fn drawn_end(&self) -> u64 {
        let last = self.cells.iter().rev().find(|cell| cell.kind.is_drawn());
        last.map_or(self.start, |cell| self.base + cell.end() as u64)
    }

    /// Whether its text starts with `{"`.
    pub(crate) fn starts_object(&self) -> bool {
        let mut texts = self.cells.iter().map(|cell| cell.text.as_str()).filter(|text| *text != " ");
        texts.next() == Some("{") && texts.next() == Some("\"")
    }

    pub(crate) fn shows_states(&self) -> bool {
        let mut texts = self.cells.iter().map(|cell| cell.text.as_str()).skip_while(|text| *text != "^M");
        self.states.is_none() && texts.any(|text| text != "^M")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CurrentLine {
    /// Its offset in the document: of what was chosen, or of the first row.
    pub(crate) at: u64,
    /// The row that shows that, 0-based.
    pub(crate) row: usize,
    pub(crate) is_chosen: bool,
}

impl CurrentLine {
    /// Returns the current one of the lines that rows show: that of the first chosen offset among them, else the first.
    pub(crate) fn find(rows: &[ScreenRow], chosen: [Option<u64>; 2]) -> Option<Self> {
        let shown = |at: u64| {
            let row = rows.iter().position(|row| (row.start..row.next).contains(&at))?;
            Some(Self { at, row, is_chosen: true })
        };
        let first = || Some(Self { at: rows.first()?.start, row: 0, is_chosen: false });
        chosen.into_iter().flatten().find_map(shown).or_else(first)
    }
}

/// The matches of a pattern in rows that are asked for in order. Each line, or segment of a long line, is searched once.
pub(crate) struct RowMatches<'a> {
    pattern: &'a Pattern,
    /// Whether the document is the file: a match in UTF-16 begins at an even offset of that.
    is_file: bool,
    /// The base of the segment searched last, and the ranges of its matches in the document.
    found: Option<(u64, Vec<Range<u64>>)>,
}

impl<'a> RowMatches<'a> {
    pub(crate) fn new(pattern: &'a Pattern, is_file: bool) -> Self {
        Self { pattern, is_file, found: None }
    }

    pub(crate) fn within(&mut self, row: &ScreenRow, reader: &Reader) -> Vec<Range<u64>> {
        let shown = row.first()..row.drawn_end();
        if self.found.as_ref().is_none_or(|(base, _)| *base != row.base) {
            let segment = reader.segment(reader.segment_start(row.base));
            // The bytes before it decide whether a line or a word starts here.
            let from = row.base.saturating_sub(MAX_CHAR);
            let line = reader.copy(from..segment.end.max(shown.end));
            let line = OwnBytes::from(&line);
            let line = if self.is_file { line.at(from as usize) } else { line };
            let found = self.pattern.find_from(line, (row.base - from) as usize);
            let found = found.map(|m| from + m.start as u64..from + m.end as u64);
            self.found = Some((row.base, found.collect()));
        }
        let found = self.found.as_ref().map_or(&[][..], |(_, found)| found);
        let from = found.partition_point(|range| range.end <= shown.start);
        let to = found.partition_point(|range| range.start < shown.end);
        found[from..to.max(from)].to_vec()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    Kept,
    Lost,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowRule {
    Fate(Fate),
    /// Lines are left out by the filter.
    Gap,
}

/// The places where Spill draws a rule above a row, each with the fate of what follows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Dividers(pub(crate) Vec<(u64, Fate)>);

impl Dividers {
    /// Places rules between kept and lost ranges. A gap of only a line feed gets no rule.
    pub(crate) fn new(bytes: &[u8], kept: &[Range<usize>]) -> Self {
        let line_feed = |at: usize| usize::from(bytes.get(at) == Some(&b'\n'));
        let mut rules = Vec::new();
        for gap in KeptRanges(kept).gaps(bytes.len()) {
            let start = gap.start + if gap.start > 0 { line_feed(gap.start) } else { 0 };
            if start < gap.end {
                rules.push((start as u64, Fate::Lost));
                rules.extend(Some((gap.end as u64, Fate::Kept)).filter(|_| gap.end < bytes.len()));
            }
        }
        Self(rules)
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|rule| rule.0)
    }

    /// Returns the fate that the rule above the row of bytes `start .. next` announces, if there is one.
    pub(crate) fn above(&self, start: u64, next: u64) -> Option<Fate> {
        let first = self.0.partition_point(|rule| rule.0 < start);
        self.0.get(first).filter(|rule| rule.0 < next.max(start + 1)).map(|rule| rule.1)
    }

    /// Returns the fate at the end of `range` if it differs from the one at its start.
    pub(crate) fn turned(&self, range: Range<u64>) -> Option<Fate> {
        let first = self.0.partition_point(|rule| rule.0 < range.start);
        let end = self.0.partition_point(|rule| rule.0 < range.end);
        let last = self.0.get(first..end)?.last()?;
        ((end - first) % 2 == 1).then_some(last.1)
    }
}
