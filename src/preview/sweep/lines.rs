//! Which whole lines of one end a setting keeps, by running totals at the ends of blocks: a look-up costs a block at most.

use std::ops::Range;

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Direction, LimitHit, PlanError, Unit};
use crate::preview::strategy::agents::held::{held_start, holds_enough};
use crate::preview::strategy::one_end::PieceLimits;
use crate::preview::strategy::{Context, LinesKept};
use crate::text::units::{self, Decoding, Measure, TotalsMask};

/// Minimum length of a block in bytes.
const BLOCK: usize = 4 << 10;
/// Maximum number of blocks; those of a larger output are longer.
const MAX_BLOCKS: usize = 8 << 10;
/// What is counted of part of a block: line feeds, and all figures of the text.
const OF_PART: TotalsMask = TotalsMask::LINE_FEEDS.with(TotalsMask::DECODED_BYTES);

#[derive(Debug)]
pub(crate) struct Marks {
    block: usize,
    /// The measure of all bytes before each block, and at last of all.
    before: Vec<Measure>,
}

impl Marks {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let block = BLOCK.max(bytes.len().div_ceil(MAX_BLOCKS));
        let (mut sum, mut before) = (Measure::default(), vec![Measure::default()]);
        for start in (0..bytes.len()).step_by(block) {
            let end = start.saturating_add(block).min(bytes.len());
            sum += units::measure(bytes, start..end, TotalsMask::ALL);
            before.push(sum);
        }
        Self { block, before }
    }

    pub(crate) fn total(&self) -> Measure {
        self.before.last().copied().unwrap_or_default()
    }

    /// Whether every byte is a character.
    fn is_ascii(&self, bytes: &[u8]) -> bool {
        let total = self.total();
        total.points == bytes.len() as u64 && total.bad_bytes == 0
    }

    /// Returns the measure of the bytes before `at`; a character that `at` splits counts whole.
    fn until(&self, bytes: &[u8], at: usize) -> Measure {
        let number = at / self.block;
        let Some(before) = self.before.get(number) else { return self.total() };
        *before + units::measure(bytes, number * self.block..at.min(bytes.len()), OF_PART)
    }

    /// Returns where line feed `number` (1-based) of the output stands.
    fn feed(&self, bytes: &[u8], number: u64) -> Option<usize> {
        let index = self.before.partition_point(|sum| sum.line_feeds < number).checked_sub(1)?;
        let start = index.saturating_mul(self.block);
        let left = number - self.before.get(index)?.line_feeds;
        let rest = bytes.get(start..)?;
        memchr::memchr_iter(b'\n', rest).nth(as_usize(left.saturating_sub(1))).map(|at| start + at)
    }

    /// Returns where what fits a size ends (from the tail: begins). The range starts and ends between characters.
    fn fitting(
        &self,
        text: &Text,
        range: &Range<usize>,
        from: Direction,
        (unit, size): (Unit, u64),
    ) -> usize {
        let is_raw = unit == Unit::Bytes && text.decoding == Decoding::Go;
        if is_raw || self.is_ascii(text.bytes) {
            return from.edge(&from.split(range, as_usize(size).min(range.len())).1);
        }
        let figure = |sum: &Measure| size_of(text, unit, range, sum);
        let (rest, left) = match from {
            Direction::Head => {
                let most = figure(&self.until(text.bytes, range.start)).saturating_add(size);
                let index = self.before.partition_point(|sum| figure(sum) <= most).saturating_sub(1);
                let near = self.boundary(text.bytes, index);
                match self.before.get(index) {
                    Some(sum) if near > range.start => (near.min(range.end)..range.end, most - figure(sum)),
                    _ => (range.clone(), size),
                }
            }
            Direction::Tail => {
                let all = figure(&self.until(text.bytes, range.end));
                let least = all.saturating_sub(size);
                let index = self.before.partition_point(|sum| figure(sum) < least);
                let near = self.boundary(text.bytes, index).max(range.start);
                match self.before.get(index) {
                    Some(sum) if near < range.end => {
                        (range.start..near, size - (all - figure(sum)).min(size))
                    }
                    _ => (range.clone(), size),
                }
            }
        };
        let fits = text.end(rest, from, unit, left).range;
        if from == Direction::Head { fits.end } else { fits.start }
    }

    /// Returns the end of the last character that begins before a block.
    fn boundary(&self, bytes: &[u8], index: usize) -> usize {
        units::element_end(bytes, index.saturating_mul(self.block).min(bytes.len()))
    }
}

/// A reader that holds more chunks is left to a plan.
const MAX_CHUNKS: u64 = 64;

/// One output, with what is found out about it while settings are gone through.
pub(super) struct VisitedText<'v, 'a> {
    pub text: &'v Text<'a>,
    pub marks: &'v Marks,
    /// Where limits end, seen from one end of a region.
    ends: Vec<(EndKey, Option<usize>)>,
    /// Measures of all bytes before a position.
    sums: Vec<(usize, Measure)>,
}

type EndKey = (Direction, Range<usize>, Limit);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    Lines(u64),
    Size(Unit, u64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeptLines {
    pub range: Range<usize>,
    pub count: u64,
    pub hit: Option<LimitHit>,
    pub from: Direction,
}

impl<'v, 'a> VisitedText<'v, 'a> {
    pub(super) fn new(text: &'v Text<'a>, marks: &'v Marks) -> Self {
        Self { text, marks, ends: Vec::new(), sums: Vec::new() }
    }

    /// Returns the measure of a range between characters, but for lone returns.
    pub(super) fn measure(&mut self, range: &Range<usize>) -> Measure {
        let (end, start) = (self.until(range.end), self.until(range.start));
        end.zip(start, u64::saturating_sub)
    }

    fn until(&mut self, at: usize) -> Measure {
        if let Some((_, sum)) = self.sums.iter().find(|(known, _)| *known == at) {
            return *sum;
        }
        let sum = self.marks.until(self.text.bytes, at);
        self.sums.push((at, sum));
        sum
    }

    /// Selects what is kept of an output that exceeds this limit; none if that is part of a line, or only a plan tells.
    pub(super) fn select(
        &mut self,
        kept: LinesKept,
        context: &Context,
        over: LimitHit,
    ) -> Result<Option<KeptLines>, PlanError> {
        let region = self.text.body.start..self.text.lines_end();
        let found = match kept {
            LinesKept::Whole(pieces) => {
                pieces.limits(context)?.and_then(|limits| self.lines(region, &limits, context))
            }
            LinesKept::Rolling(rolling) => {
                let (text, marks) = (self.text, self.marks);
                let size = context.scope.figure(&rolling.size)?;
                let held = context.scope.positive(&rolling.held)?;
                let last = |size| marks.fitting(text, &text.body, Direction::Tail, (Unit::Bytes, size));
                let limits = rolling.pieces.limits(context)?.filter(|_| holds_enough(text, size, held, last));
                let kept = limits.and_then(|limits| self.lines(region, &limits, context));
                let by_size = text.exceeds(Unit::Bytes, size);
                let hit = if by_size { context.by_size() } else { LimitHit::Lines };
                kept.map(|kept| KeptLines { hit: kept.hit.or(Some(hit)), ..kept })
            }
            LinesKept::Held(held) => {
                let most = context.scope.figure(&held.held)?;
                let chunk = context.scope.positive(&held.chunk)?;
                let is_plain = !held.keeps_all(context)? && !held.raw;
                let Some(plain) = context.limits.plain(context.scope)?.filter(|_| is_plain) else {
                    return Ok(None);
                };
                let limits = held.pieces.limits(context)?;
                limits.and_then(|limits| self.held(most, chunk, plain, &limits, context))
            }
        };
        Ok(found.map(|kept| KeptLines { hit: kept.hit.or(Some(over)), ..kept }))
    }

    /// Selects lines of the whole chunks that a reader holds; none if those are many.
    fn held(
        &mut self,
        held: u64,
        chunk: u64,
        [most_lines, most_size]: [Option<u64>; 2],
        limits: &PieceLimits,
        context: &Context,
    ) -> Option<KeptLines> {
        if self.text.final_feed() || self.text.decoding != Decoding::Lossy {
            return None;
        }
        if held / chunk > MAX_CHUNKS {
            return None;
        }
        let text = self.text;
        let decoded = |range: Range<usize>| self.measure(&range).decoded_bytes;
        let region = held_start(text, held, as_usize(chunk), false, decoded)..text.body.end;
        let measure = self.measure(&region);
        let count = measure.line_feeds + 1;
        let is_over = most_size
            .is_some_and(|most| size_of(self.text, context.unit, &region, &measure) > most)
            || most_lines.is_some_and(|most| count > most);
        if is_over {
            return self.lines(region, limits, context);
        }
        Some(KeptLines { range: region, count, hit: None, from: limits.from })
    }

    /// Takes whole lines from one end of a region while they fit both limits.
    fn lines(&mut self, region: Range<usize>, limits: &PieceLimits, context: &Context) -> Option<KeptLines> {
        let from = limits.from;
        let is_none = self.text.line_count() == Ok(0);
        let all = if is_none { 0 } else { self.measure(&region).line_feeds + 1 };
        let by_lines = limits.lines.filter(|lines| *lines < all);
        let by_lines = by_lines.map(|lines| self.end(from, &region, Limit::Lines(lines)).ok_or(()));
        let by_lines = by_lines.transpose().ok()?;
        let by_size = match limits.size {
            Some(size) if self.exceeds(&region, limits.unit, size) => {
                Some(self.end(from, &region, Limit::Size(limits.unit, size)))
            }
            _ => None,
        };
        let shorter = |a: usize, b: usize| if from == Direction::Head { a <= b } else { a >= b };
        let (at, mut hit) = match (by_lines, by_size) {
            (None, None) => (None, None),
            (Some(lines), None) => (Some(lines), Some(LimitHit::Lines)),
            (Some(lines), Some(Some(size))) if shorter(lines, size) => (Some(lines), Some(LimitHit::Lines)),
            (_, Some(None)) if limits.cuts_oversize => return None,
            (_, Some(None)) => {
                let at = if from == Direction::Head { region.start } else { region.end };
                return Some(KeptLines { range: at..at, count: 0, hit: Some(context.by_size()), from });
            }
            (_, Some(Some(size))) => (Some(size), Some(context.by_size())),
        };
        let range = at.map_or(region.clone(), |at| from.up_to(&region, &(at..at)));
        let count = if at.is_none() { all } else { self.measure(&range).line_feeds + 1 };
        if limits.lines_win && (hit.is_none() || limits.lines.is_some_and(|lines| count >= lines)) {
            hit = Some(LimitHit::Lines);
        }
        Some(KeptLines { range, count, hit, from })
    }

    fn exceeds(&mut self, region: &Range<usize>, unit: Unit, size: u64) -> bool {
        size_of(self.text, unit, region, &self.measure(region)) > size
    }

    /// Returns where the lines that fit a limit end (from the tail: begin); none if not even one fits.
    fn end(&mut self, from: Direction, region: &Range<usize>, limit: Limit) -> Option<usize> {
        let key = (from, region.clone(), limit);
        if let Some((_, end)) = self.ends.iter().find(|(known, _)| *known == key) {
            return *end;
        }
        let end = match limit {
            Limit::Lines(lines) => self.nth(from, region, lines),
            Limit::Size(unit, size) => self.last_fitting(from, region, (unit, size)),
        };
        self.ends.push((key, end));
        end
    }

    /// Returns where `lines` lines of a region that has more end (from the tail: begin).
    fn nth(&mut self, from: Direction, region: &Range<usize>, lines: u64) -> Option<usize> {
        let bytes = self.text.bytes;
        match from {
            Direction::Head => {
                let before = self.until(region.start).line_feeds;
                self.marks.feed(bytes, before.saturating_add(lines))
            }
            Direction::Tail => {
                let before = self.until(region.end).line_feeds;
                Some(self.marks.feed(bytes, (before + 1).checked_sub(lines)?)? + 1)
            }
        }
    }

    /// Returns where the lines of one end of a larger region that fit a size end (from the tail: begin).
    fn last_fitting(&self, from: Direction, region: &Range<usize>, size: (Unit, u64)) -> Option<usize> {
        let at = self.marks.fitting(self.text, region, from, size);
        let bytes = self.text.bytes;
        match from {
            Direction::Head => {
                let near = bytes.get(region.start..at.saturating_add(1).min(region.end))?;
                memchr::memrchr(b'\n', near).map(|feed| region.start + feed)
            }
            Direction::Tail => {
                let start = at.saturating_sub(1).max(region.start);
                memchr::memchr(b'\n', bytes.get(start..region.end)?).map(|feed| start + feed + 1)
            }
        }
    }
}

/// Returns the size of a range with this measure in a unit, which is neither cells nor tokens.
pub(super) fn size_of(text: &Text, unit: Unit, range: &Range<usize>, measure: &Measure) -> u64 {
    match (unit, text.decoding) {
        (Unit::Bytes, Decoding::Go) => range.len() as u64,
        (Unit::Utf16, _) => measure.units,
        (Unit::Chars, _) => measure.points,
        (Unit::Bytes | Unit::Tokens | Unit::Cells, _) => measure.decoded_bytes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_any_prefix_from_the_nearest_block() {
        let text = "one é漢\u{1F600}\n".repeat(3_000);
        let bytes = text.as_bytes();
        let marks = Marks::new(bytes);
        assert_eq!(marks.total(), units::measure_all(bytes, TotalsMask::ALL));
        for at in [0, 1, 4095, 4096, 4097, 8192, 20_000, bytes.len()] {
            let expected = units::measure(bytes, 0..at, OF_PART);
            let found = marks.until(bytes, at);
            assert_eq!((found.line_feeds, found.units), (expected.line_feeds, expected.units), "{at}");
        }
        let feeds: Vec<usize> = memchr::memchr_iter(b'\n', bytes).collect();
        for number in [1, 2, 299, 300, 3_000] {
            assert_eq!(marks.feed(bytes, number), Some(feeds[number as usize - 1]));
        }
        assert_eq!(marks.feed(bytes, 3_001), None);
    }

    #[test]
    fn the_number_of_blocks_is_bounded() {
        let marks = Marks::new(&vec![b'\n'; 64 << 20]);
        assert!(marks.before.len() <= MAX_BLOCKS + 1);
    }
}
