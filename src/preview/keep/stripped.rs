//! Both ends, whole lines, of a text without its escape sequences.

use super::{Chosen, Rule};
use crate::preview::notice::Fact;
use crate::preview::parts::{Bit, Direction, LimitHit, Part, Unit};
use crate::preview::plan::{self, PlanError};
use crate::preview::text::{Text, as_usize};
use regex::bytes::Regex;
use std::ops::Range;

/// Escape sequences, the first alternative that matches; an ESC that begins none of them stays.
const ESCAPES: &str = concat!(
    r"(?s-u)\x1b\[[0-?]*[ -/]*[@-~]",
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)",
    r"|\x1b[PX^_][^\x1b]*\x1b\\",
    r"|\x1b[ -/]*[0-~]"
);

/// A piece of the stripped text: the ranges that are left of it.
#[derive(Debug, Clone, Default)]
struct Piece {
    ranges: Vec<Range<usize>>,
    size: u64,
}

pub(super) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let lines = rule.needed(&rule.form.lines, "lines")?;
    let size = rule.needed(&rule.form.size, "size")?;
    let escapes = Regex::new(ESCAPES).map_err(|error| PlanError::policy(rule.policy, error.to_string()))?;
    let pieces = pieces(text, &escapes);
    let total = pieces.iter().map(|piece| piece.size).sum::<u64>() + pieces.len() as u64 - 1;
    if pieces.len() as u64 <= lines && total <= size {
        return Ok(Chosen { cut: Some(false), ..plan::everything(text) });
    }
    let head = taken(pieces.iter(), lines / 2, size / 2);
    let tail = taken(pieces[head..].iter().rev(), lines / 2, size / 2);
    let first = side(text, &pieces[..head]).or_else(|| clip(text, &pieces[0], size / 2, Direction::Head));
    let last_piece = &pieces[pieces.len() - 1];
    let last = side(text, &pieces[pieces.len() - tail..])
        .or_else(|| clip(text, last_piece, size / 2, Direction::Tail));
    let joints = |count: usize| (count as u64).saturating_sub(1);
    let omitted = (pieces.len() as u64 - 1).saturating_sub(joints(head) + joints(tail));
    let mut chosen = Chosen {
        lines: Some(Ok((head + tail) as u64)),
        hit: Some(if total > size { LimitHit::Size(rule.policy.unit()) } else { LimitHit::Lines }),
        ranges: [&first, &last].into_iter().flatten().flat_map(kept_ranges).collect(),
        ..Chosen::default()
    };
    chosen.facts.insert("middle_lines", Fact::Number(omitted));
    chosen.slots = vec![("head", first.into_iter().collect()), ("tail", last.into_iter().collect())];
    Ok(chosen)
}

/// The stripped text's pieces.
fn pieces(text: &Text, escapes: &Regex) -> Vec<Piece> {
    text.touch(text.body.clone());
    let mut pieces = vec![Piece::default()];
    let mut at = text.body.start;
    for found in escapes.find_iter(&text.bytes[text.body.clone()]) {
        let (start, end) = (text.body.start + found.start(), text.body.start + found.end());
        add(text, &mut pieces, at..start);
        at = end;
    }
    add(text, &mut pieces, at..text.body.end);
    pieces
}

fn add(text: &Text, pieces: &mut Vec<Piece>, range: Range<usize>) {
    let mut at = range.start;
    loop {
        let feed = text.feed_after(at, range.end);
        let stop = feed.unwrap_or(range.end);
        if let Some(piece) = pieces.last_mut().filter(|_| stop > at) {
            piece.size += text.size_of(at..stop, Unit::Bytes);
            piece.ranges.push(at..stop);
        }
        let Some(feed) = feed else { return };
        pieces.push(Piece::default());
        at = feed + 1;
    }
}

/// How many pieces fit, each with a line feed.
fn taken<'a>(pieces: impl Iterator<Item = &'a Piece>, most: u64, size: u64) -> usize {
    let mut sum = 0;
    let fits = |piece: &&Piece| {
        sum += piece.size + 1;
        sum <= size
    };
    pieces.take(as_usize(most)).take_while(fits).count()
}

/// Pieces joined by line feeds; none if that is empty.
fn side(text: &Text, pieces: &[Piece]) -> Option<Part> {
    let mut bits = Vec::new();
    for (at, piece) in pieces.iter().enumerate() {
        if at > 0 {
            bits.push(Bit::Text("\n".to_owned()));
        }
        bits.extend(piece.ranges.iter().cloned().map(Bit::Bytes));
    }
    part_of(text, bits)
}

fn part_of(text: &Text, bits: Vec<Bit>) -> Option<Part> {
    let mut ranges = bits.iter().filter_map(|bit| match bit {
        Bit::Bytes(range) => Some(range.clone()),
        _ => None,
    });
    let first = ranges.next();
    let last = ranges.next_back().or_else(|| first.clone());
    match (first, last) {
        (Some(first), Some(last)) => Some(text.changed(first.start..last.end, bits)),
        _ if bits.is_empty() => None,
        _ => Some(text.changed(text.body.start..text.body.start, bits)),
    }
}

/// As much of one piece as fits, at a character boundary, from its start or its end.
fn clip(text: &Text, piece: &Piece, size: u64, from: Direction) -> Option<Part> {
    let mut left = size;
    let mut kept = Vec::new();
    if from == Direction::Head {
        for range in &piece.ranges {
            let cut = text.advance(range.start, range.end, Unit::Bytes, left).at;
            left -= text.size_of(range.start..cut, Unit::Bytes);
            kept.push(range.start..cut);
            if cut < range.end {
                break;
            }
        }
    } else {
        for range in piece.ranges.iter().rev() {
            let cut = text.retreat(range.start, range.end, Unit::Bytes, left).at;
            left -= text.size_of(cut..range.end, Unit::Bytes);
            kept.insert(0, cut..range.end);
            if cut > range.start {
                break;
            }
        }
    }
    let bits = kept.into_iter().filter(|range| !range.is_empty()).map(Bit::Bytes);
    part_of(text, bits.collect())
}

fn kept_ranges(part: &Part) -> Vec<Range<usize>> {
    let Part::Changed { bits, .. } = part else { return Vec::new() };
    let ranges = bits.iter().filter_map(|bit| match bit {
        Bit::Bytes(range) => Some(range.clone()),
        _ => None,
    });
    ranges.collect()
}
