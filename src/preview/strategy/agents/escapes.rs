//! Cuts a text after its escape sequences are removed, which are found without a regular expression: the bytes may change.

use std::collections::VecDeque;
use std::ops::Range;

use memchr::memchr2_iter;
use serde::Deserialize;

use crate::preview::measure::{Text, as_usize, without_space};
use crate::preview::model::{Direction, Fragment, LimitHit, Part, PlanError, Unit};
use crate::preview::strategy::{Context, Selection, Strategy, composed};
use crate::preview::template::{Fact, Facts, Figure, Template};
use crate::text::ansi::{ESC, final_end, skip};
use crate::text::filter::join;
use crate::text::units;

/// A text whose escape sequences are removed read by read, followed by a line of the agent's own.
#[derive(Debug, Deserialize)]
pub(crate) struct Filtered {
    /// Bytes per read.
    chunk: Figure,
    /// Text of more bytes is cut.
    over: Figure,
    /// UTF-16 units that are kept of text that is cut.
    size: Figure,
    /// The agent's own line after the output.
    after: Option<Template>,
}

impl Strategy for Filtered {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let most = context.scope.figure(&self.over)?;
        let shown = context.scope.figure(&self.size)?;
        let chunk = as_usize(context.scope.positive(&self.chunk)?);
        let reads = Reads { text, chunk };
        let last_line = context.scope.render_optional(self.after.as_ref(), Facts::new())?;
        let (within, fits) = reads.up_to(most, Unit::Bytes);
        if !fits {
            let start = kept_parts(text, reads.up_to(shown, Unit::Utf16).0);
            let start = composed::end(text, &start, Direction::Head, Unit::Utf16, shown);
            return Ok(cut(text, context, start, reads.size(), last_line));
        }
        let mut whole = kept_parts(text, trimmed(text, within));
        whole.extend(composed::notice(last_line));
        let size = composed::size(text, &whole, Unit::Bytes);
        if size <= most {
            let selection = composed::selection(text, context, vec![("kept", whole)]);
            return Ok(Selection { uncut: true, hit: None, ..selection });
        }
        let start = composed::end(text, &whole, Direction::Head, Unit::Utf16, shown);
        Ok(cut(text, context, start, Fact::Number(size), String::new()))
    }
}

/// Keeps a start, with the size of the cut text, and the line that follows the notice.
fn cut(text: &Text, context: &Context, start: Vec<Part>, size: Fact, last_line: String) -> Selection {
    let mut selection = composed::selection(text, context, vec![("kept", start)]);
    selection.facts.insert("size", size);
    selection.facts.insert("marker", Fact::Text(last_line));
    selection
}

struct Reads<'a, 'b> {
    text: &'a Text<'b>,
    chunk: usize,
}

impl Reads<'_, '_> {
    /// Passes on what remains of each read until `take` returns false. A character that a read cuts off is of the next.
    fn each(&self, mut take: impl FnMut(Range<usize>) -> bool) {
        let (bytes, body) = (self.text.bytes, &self.text.body);
        let (mut from, mut read) = (body.start, body.start / self.chunk);
        while from < body.end {
            read += 1;
            let end = read.saturating_mul(self.chunk);
            let to = if end >= body.end { body.end } else { units::element_start(bytes, end).max(from) };
            self.text.touch(from..to);
            let mut at = from;
            for found in sequences(&bytes[from..to], filtered_end) {
                if at < from + found.start && !take(at..from + found.start) {
                    return;
                }
                at = from + found.end;
            }
            if at < to && !take(at..to) {
                return;
            }
            from = to;
        }
    }

    /// Returns what remains, up to and with the range by which it exceeds `most`, and whether none does.
    fn up_to(&self, most: u64, unit: Unit) -> (Vec<Range<usize>>, bool) {
        let (mut ranges, mut size) = (Vec::new(), 0);
        self.each(|range| {
            size += self.text.size_of(range.clone(), unit);
            join(&mut ranges, range);
            size <= most
        });
        (ranges, size <= most)
    }

    /// Returns the bytes of everything that remains, once the whole has been counted.
    fn size(&self) -> Fact {
        let whole = match self.text.size(Unit::Bytes) {
            Ok(whole) => whole,
            Err(want) => return Fact::Waiting(want),
        };
        let (mut removed, mut at) = (0, self.text.body.start);
        self.each(|range| {
            removed += self.text.size_of(at..range.start, Unit::Bytes);
            at = range.end;
            true
        });
        removed += self.text.size_of(at..self.text.body.end, Unit::Bytes);
        Fact::Number(whole - removed)
    }
}

/// Returns the end of the sequence that begins at `at` as Copilot CLI finds it: in ECMA-48's 7-bit form, or after U+009B.
fn filtered_end(bytes: &[u8], at: usize) -> Option<usize> {
    let inside = at + 2;
    match [*bytes.get(at)?, *bytes.get(at + 1)?] {
        CSI | [ESC, b'['] => control_end(bytes, inside),
        [ESC, b']'] => string_end(bytes, inside, true).or(Some(inside)),
        [ESC, b' '..=b'/'] => final_end(bytes, inside, b'0'),
        [ESC, b'@'..=b'Z' | b'\\'..=b'_'] => Some(inside),
        _ => None,
    }
}

fn kept_parts(text: &Text, ranges: Vec<Range<usize>>) -> Vec<Part> {
    ranges.into_iter().filter_map(|range| text.kept(range)).collect()
}

/// Trims white space at both ends (Unicode's White_Space, which does not include the byte order mark).
fn trimmed(text: &Text, mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let without = |range, from| without_space(text.bytes, range, from, char::is_whitespace);
    while let Some(last) = ranges.pop() {
        let rest = without(last, Direction::Tail);
        if !rest.is_empty() {
            ranges.push(rest);
            break;
        }
    }
    while let Some(first) = ranges.first_mut() {
        *first = without(first.clone(), Direction::Head);
        if !Range::is_empty(first) {
            break;
        }
        ranges.remove(0);
    }
    ranges
}

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

/// Keeps whole lines from both ends of a text without its escape sequences.
#[derive(Debug, Deserialize)]
pub(crate) struct Stripped {
    lines: Figure,
    size: Figure,
}

impl Strategy for Stripped {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let (lines, size) = (context.scope.figure(&self.lines)?, context.scope.figure(&self.size)?);
        let side = |from| Side { from, budget: size / 2, bites: VecDeque::new(), cost: 0 };
        let [mut head, mut tail] = [Direction::Head, Direction::Tail].map(side);
        let (mut pieces, mut cost) = (0, 0);
        walk(text, |bite| {
            pieces += u64::from(matches!(bite, Bite::Begin));
            cost += bite.cost();
            // Text beyond the head's lines or budget is never in it; of 0 lines, part of the first may be.
            if pieces <= (lines / 2).max(1) && head.cost <= head.budget {
                head.take(bite.clone());
            }
            tail.take(bite);
        });
        let total = cost - 1;
        if pieces <= lines && total <= size {
            return Ok(Selection::uncut(text));
        }
        let (head_count, first) = head.kept(text, lines / 2);
        let (tail_count, last) = tail.kept(text, (lines / 2).min(pieces - head_count));
        let joints = |count: u64| count.saturating_sub(1);
        let omitted = joints(pieces).saturating_sub(joints(head_count) + joints(tail_count));
        let selection = Selection {
            // A line that is too long for either end is kept in part.
            lines: Some(Ok(pieces.min(
                head_count.max(u64::from(!first.is_empty())) + tail_count.max(u64::from(!last.is_empty())),
            ))),
            hit: Some(if total > size { context.by_size() } else { LimitHit::Lines }),
            ranges: first.iter().chain(&last).filter_map(bytes_of).collect(),
            slots: vec![("head", parts(text, first)), ("tail", parts(text, last))],
            ..Selection::default()
        };
        Ok(selection.with_fact("middle_lines", Fact::Number(omitted)))
    }
}

fn walk(text: &Text, mut see: impl FnMut(Bite)) {
    text.touch(text.body.clone());
    see(Bite::Begin);
    let mut at = text.body.start;
    for found in sequences(&text.bytes[text.body.clone()], stripped_end) {
        let (start, end) = (text.body.start + found.start, text.body.start + found.end);
        see_lines(text, at..start, &mut see);
        at = end;
    }
    see_lines(text, at..text.body.end, &mut see);
}

/// Returns the end of the sequence that begins at `at`, the longest form first; an ESC that begins none stays.
fn stripped_end(bytes: &[u8], at: usize) -> Option<usize> {
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

/// One end of the text so far, as much as the budget can reach.
struct Side {
    from: Direction,
    budget: u64,
    bites: VecDeque<Bite>,
    cost: u64,
}

impl Side {
    fn take(&mut self, bite: Bite) {
        self.cost += bite.cost();
        self.bites.push_back(bite);
        let is_beyond = |left: u64| self.from == Direction::Tail && left > self.budget;
        while let Some(first) =
            self.bites.front().map(Bite::cost).filter(|first| is_beyond(self.cost - first))
        {
            self.cost -= first;
            self.bites.pop_front();
        }
    }

    /// Returns the outermost pieces that fit, at most `most`, and how many; if none does, as much of the outermost as fits.
    fn kept(mut self, text: &Text, most: u64) -> (u64, Vec<Fragment>) {
        let (from, budget) = (self.from, self.budget);
        // The outermost that does not fit may lack its `Begin`.
        let pieces = self.bites.make_contiguous().chunk_by(|_, next| !matches!(next, Bite::Begin));
        let pieces = from.ordered(pieces.collect());
        let mut cost = 0;
        let fits = |piece: &&[Bite]| {
            cost += piece.iter().map(Bite::cost).sum::<u64>();
            cost <= budget
        };
        let whole: Vec<&[Bite]> = pieces.iter().copied().take(as_usize(most)).take_while(fits).collect();
        if whole.is_empty() {
            return (0, clip(text, pieces[0], budget, from));
        }
        (whole.len() as u64, joined(&from.ordered(whole).concat()))
    }
}

/// Joins pieces by line feeds.
fn joined(bites: &[Bite]) -> Vec<Fragment> {
    let fragments = bites.iter().skip(1).map(|bite| match bite {
        Bite::Begin => Fragment::Text("\n".to_owned()),
        Bite::Left(range, _) => Fragment::Bytes(range.clone()),
    });
    fragments.collect()
}

/// Returns as much of one piece as fits, from its start or its end, cut at a character boundary.
fn clip(text: &Text, piece: &[Bite], size: u64, from: Direction) -> Vec<Fragment> {
    let (mut left, mut kept) = (size, Vec::new());
    for bite in from.ordered(piece.iter().collect()) {
        let Bite::Left(range, size) = bite else { continue };
        let fits = text.end(range.clone(), from, Unit::Bytes, left).range;
        let is_whole = fits == *range;
        kept.extend((!fits.is_empty()).then_some(Fragment::Bytes(fits)));
        if !is_whole {
            break;
        }
        left = left.saturating_sub(*size);
    }
    from.ordered(kept)
}

fn parts(text: &Text, fragments: Vec<Fragment>) -> Vec<Part> {
    if fragments.is_empty() {
        return Vec::new();
    }
    let (first, last) = (fragments.iter().find_map(bytes_of), fragments.iter().rev().find_map(bytes_of));
    let start = text.body.start;
    let range = first.zip(last).map_or(start..start, |(first, last)| first.start..last.end);
    vec![text.changed(range, fragments)]
}

fn bytes_of(fragment: &Fragment) -> Option<Range<usize>> {
    match fragment {
        Fragment::Bytes(range) => Some(range.clone()),
        _ => None,
    }
}

/// Begins U+009B in UTF-8, which stands for ESC and `[`.
const CSI: [u8; 2] = [0xc2, 0x9b];

/// Returns all sequences in order. `end_of` tells where one ends that begins with an ESC, or the first byte of U+009B.
fn sequences(bytes: &[u8], end_of: fn(&[u8], usize) -> Option<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut past = 0;
    memchr2_iter(ESC, CSI[0], bytes).filter_map(move |at| {
        let end = if at < past { None } else { end_of(bytes, at) }?;
        past = end;
        Some(at..end)
    })
}

/// Returns the end of a control sequence (ECMA-48) whose parameters begin at `at`.
fn control_end(bytes: &[u8], at: usize) -> Option<usize> {
    let at = skip(bytes, at, |byte| matches!(byte, b'0'..=b'?'));
    final_end(bytes, at, b'@')
}

/// Returns the end of a string that begins at `at`: after ESC `\`, or after a bell if that ends it as well.
fn string_end(bytes: &[u8], at: usize, has_bell: bool) -> Option<usize> {
    let at = skip(bytes, at, |byte| byte != ESC && !(has_bell && byte == 0x07));
    match bytes.get(at..)? {
        [ESC, b'\\', ..] => Some(at + 2),
        [0x07, ..] => Some(at + 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex::bytes::Regex;

    use super::*;

    /// The expressions of the agents, whose first matching alternative counts.
    const STRIPPED: &str = concat!(
        r"(?s-u)\x1b\[[0-?]*[ -/]*[@-~]",
        r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)",
        r"|\x1b[PX^_][^\x1b]*\x1b\\",
        r"|\x1b[ -/]*[0-~]"
    );
    const FILTERED: &str = concat!(
        r"(?s-u)\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|\[[0-?]*[ -/]*[@-~]|[ -/]+[0-~]|[@-Z\x5c-_])",
        r"|\xc2\x9b[0-?]*[ -/]*[@-~]"
    );

    fn hostile() -> impl proptest::strategy::Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            19 => proptest::sample::select(&b"\x1b\x1b\x1b[]P_^X\\\x07a0;m~ /@Z`\xc2\x9b\n"[..]),
            1 => any::<u8>(),
        ];
        proptest::collection::vec(byte, 0..60)
    }

    proptest! {
        #[test]
        fn sequences_are_those_of_the_agents_expressions(bytes in hostile()) {
            for (source, end_of) in [
                (STRIPPED, stripped_end as fn(&[u8], usize) -> Option<usize>),
                (FILTERED, filtered_end),
            ] {
                let regex = Regex::new(source).unwrap();
                let expected: Vec<_> = regex.find_iter(&bytes).map(|found| found.range()).collect();
                prop_assert_eq!(sequences(&bytes, end_of).collect::<Vec<_>>(), expected, "{}", source);
            }
        }
    }
}
