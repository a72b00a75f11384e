//! Keeps whole lines from both ends of a text without its escape sequences.

use std::collections::VecDeque;
use std::ops::Range;

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::Text;
use crate::preview::model::{Direction, Fragment, LimitHit, Part, Unit};
use crate::preview::strategy::selection::Selection;
use crate::preview::strategy::{Context, Strategy};
use crate::preview::template::Figure;
use crate::preview::template::facts::Fact;

use super::sequences::{ESC, control_end, final_end, sequences, string_end};

/// An event while walking through the stripped text.
#[derive(Debug, Clone)]
enum Bite {
    Begin,
    /// A remaining range of the piece, never empty, with its size.
    Left(Range<usize>, u64),
}

impl Bite {
    /// Returns how much of a budget it uses: each piece costs a line feed.
    fn cost(&self) -> u64 {
        match self {
            Self::Begin => 1,
            Self::Left(_, size) => *size,
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Stripped {
    lines: Figure,
    size: Figure,
}

impl Strategy for Stripped {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let (lines, size) = (context.scope.figure(&self.lines)?, context.scope.figure(&self.size)?);
        let (mut head, mut tail) = (Head::new(lines / 2, size / 2), Tail::new(size / 2));
        let (mut pieces, mut cost) = (0, 0);
        walk(text, |bite| {
            pieces += u64::from(matches!(bite, Bite::Begin));
            cost += bite.cost();
            head.take(&bite);
            tail.take(bite);
        });
        let total = cost - 1;
        if pieces <= lines && total <= size {
            return Ok(Selection::uncut(text));
        }
        head.end();
        let (tail_count, whole_tail) = tail.whole((lines / 2).min(pieces - head.count));
        let cut = head.open.as_slice();
        let cut_head = || clip(text, cut, size / 2, Direction::Head).filter(|_| head.count == 0);
        let first = side(text, &head.whole).or_else(cut_head);
        let last =
            side(text, &whole_tail).or_else(|| clip(text, &tail.last_piece(), size / 2, Direction::Tail));
        let joints = |count: u64| count.saturating_sub(1);
        let omitted = joints(pieces).saturating_sub(joints(head.count) + joints(tail_count));
        let selection = Selection {
            lines: Some(Ok(head.count + tail_count)),
            hit: Some(if total > size { context.by_size() } else { LimitHit::Lines }),
            ranges: [&first, &last].into_iter().flatten().flat_map(kept_ranges).collect(),
            slots: vec![("head", first.into_iter().collect()), ("tail", last.into_iter().collect())],
            ..Selection::default()
        };
        Ok(selection.with_fact("middle_lines", Fact::Number(omitted)))
    }
}

/// Walks through the stripped text, remembering nothing.
fn walk(text: &Text, mut see: impl FnMut(Bite)) {
    text.touch(text.body.clone());
    see(Bite::Begin);
    let mut at = text.body.start;
    for found in sequences(&text.bytes[text.body.clone()], sequence_end) {
        let (start, end) = (text.body.start + found.start, text.body.start + found.end);
        see_lines(text, at..start, &mut see);
        at = end;
    }
    see_lines(text, at..text.body.end, &mut see);
}

/// Returns the end of the sequence that begins at `at`, the longest form first; an ESC that begins none stays.
pub(super) fn sequence_end(bytes: &[u8], at: usize) -> Option<usize> {
    let inside = at + 2;
    let long = match [*bytes.get(at)?, *bytes.get(at + 1)?] {
        [ESC, b'['] => control_end(bytes, inside),
        [ESC, b']'] => string_end(bytes, inside, true),
        [ESC, b'P' | b'X' | b'^' | b'_'] => string_end(bytes, inside, false),
        [ESC, _] => None,
        _ => return None,
    };
    long.or_else(|| final_end(bytes, at + 1, b'0'))
}

fn see_lines(text: &Text, range: Range<usize>, see: &mut impl FnMut(Bite)) {
    let mut at = range.start;
    loop {
        let feed = text.feed_after(at, range.end);
        let stop = feed.unwrap_or(range.end);
        if stop > at {
            let is_ascii = text.bytes[at..stop].is_ascii();
            let size = if is_ascii { (stop - at) as u64 } else { text.size_of(at..stop, Unit::Bytes) };
            see(Bite::Left(at..stop, size));
        }
        let Some(feed) = feed else { return };
        see(Bite::Begin);
        at = feed + 1;
    }
}

/// The first pieces, as many as fit; of the first that does not, as much as a cut can reach.
struct Head {
    most: u64,
    left: u64,
    count: u64,
    /// The bites of the pieces that fit.
    whole: Vec<Bite>,
    /// Ranges of the piece that is being read, which cost `open_cost` so far.
    open: Vec<Range<usize>>,
    open_cost: u64,
    is_full: bool,
}

impl Head {
    fn new(most: u64, left: u64) -> Self {
        Self { most, left, count: 0, whole: Vec::new(), open: Vec::new(), open_cost: 0, is_full: false }
    }

    fn take(&mut self, bite: &Bite) {
        if self.is_full {
            return;
        }
        match bite {
            Bite::Begin => {
                self.end();
                self.open_cost = 1;
            }
            Bite::Left(range, size) => {
                self.open.push(range.clone());
                self.open_cost += size;
                self.is_full = self.open_cost > self.left;
            }
        }
    }

    /// Ends the piece that is being read: it is taken if it fits.
    fn end(&mut self) {
        if self.is_full || self.open_cost == 0 {
            return;
        }
        if self.count == self.most || self.open_cost > self.left {
            self.is_full = true;
            return;
        }
        self.count += 1;
        self.left -= self.open_cost;
        self.whole.push(Bite::Begin);
        // The sizes are no longer needed.
        self.whole.extend(self.open.drain(..).map(|range| Bite::Left(range, 0)));
        self.open_cost = 0;
    }
}

/// The end of the text so far, as much as the budget can reach.
struct Tail {
    budget: u64,
    bites: VecDeque<Bite>,
    cost: u64,
}

impl Tail {
    fn new(budget: u64) -> Self {
        Self { budget, bites: VecDeque::new(), cost: 0 }
    }

    fn take(&mut self, bite: Bite) {
        self.cost += bite.cost();
        self.bites.push_back(bite);
        while let Some(first) =
            self.bites.front().map(Bite::cost).filter(|first| self.cost - first > self.budget)
        {
            self.cost -= first;
            self.bites.pop_front();
        }
    }

    /// Returns the last pieces that fit, at most `most`: how many, and their bites.
    fn whole(&self, most: u64) -> (u64, Vec<Bite>) {
        let (mut count, mut cost, mut start) = (0, 0, self.bites.len());
        for (at, bite) in self.bites.iter().enumerate().rev() {
            cost += bite.cost();
            if count == most || cost > self.budget {
                break;
            }
            if matches!(bite, Bite::Begin) {
                count += 1;
                start = at;
            }
        }
        (count, self.bites.iter().skip(start).cloned().collect())
    }
    fn last_piece(&self) -> Vec<Range<usize>> {
        let begin = self.bites.iter().rposition(|bite| matches!(bite, Bite::Begin)).map_or(0, |at| at + 1);
        let range = |bite: &Bite| match bite {
            Bite::Left(range, _) => Some(range.clone()),
            Bite::Begin => None,
        };
        self.bites.iter().skip(begin).filter_map(range).collect()
    }
}

/// Joins pieces by line feeds; none if that is empty.
fn side(text: &Text, bites: &[Bite]) -> Option<Part> {
    let fragments = bites.iter().skip(1).map(|bite| match bite {
        Bite::Begin => Fragment::Text("\n".to_owned()),
        Bite::Left(range, _) => Fragment::Bytes(range.clone()),
    });
    part_of(text, fragments.collect())
}

fn part_of(text: &Text, fragments: Vec<Fragment>) -> Option<Part> {
    let ranges = ranges_of(&fragments);
    let range = match (ranges.first(), ranges.last()) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => text.body.start..text.body.start,
    };
    (!fragments.is_empty()).then(|| text.changed(range, fragments))
}

/// Returns as much of one piece as fits, from its start or its end, cut at a character boundary.
fn clip(text: &Text, piece: &[Range<usize>], size: u64, from: Direction) -> Option<Part> {
    let kept = text.end_of_stretches(piece, from, Unit::Bytes, size);
    let fragments = kept.into_iter().filter(|range| !range.is_empty()).map(Fragment::Bytes);
    part_of(text, fragments.collect())
}

fn kept_ranges(part: &Part) -> Vec<Range<usize>> {
    let Part::Changed { fragments, .. } = part else { return Vec::new() };
    ranges_of(fragments)
}

fn ranges_of(fragments: &[Fragment]) -> Vec<Range<usize>> {
    let range = |fragment: &Fragment| match fragment {
        Fragment::Bytes(range) => Some(range.clone()),
        _ => None,
    };
    fragments.iter().filter_map(range).collect()
}
