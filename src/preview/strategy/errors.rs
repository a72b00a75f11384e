//! Keeps lines about errors with some context, and the end: what does not fit is left out of the middle.

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Direction, LimitHit, PlanError, Unit};
use crate::preview::strategy::composed::{self, Segment};
use crate::preview::strategy::ends::Middle;
use crate::preview::strategy::{Context, Selection, Strategy};
use crate::preview::template::{Fact, Figure, Template};
use crate::text::search::{Pattern, each_match};
use crate::text::supply::CopySupply;

/// A run of pieces: their numbers (0-based), and their bytes without the last line feed.
#[derive(Debug, Clone)]
struct Block {
    pieces: Range<u64>,
    bytes: Range<usize>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Errors {
    /// Matches lines that are errors.
    #[serde(rename = "words", deserialize_with = "pattern")]
    pattern: Pattern,
    lines: Figure,
    size: Figure,
    /// Number of context lines on either side of an error.
    around: Figure,
    /// Number of lines at the end that are always kept.
    tail_lines: Figure,
    /// Stands for `number` lines that are left out.
    marker: Option<Template>,
    /// Text with more code points is cut in the middle, if it contains no error.
    middle_over: Figure,
    middle: Middle,
}

struct Figures<'a> {
    lines: u64,
    size: u64,
    around: u64,
    tail_lines: u64,
    middle_over: u64,
    marker: &'a Option<Template>,
}

impl Strategy for Errors {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let figures = self.figures(context)?;
        let large = text.exceeds(Unit::Bytes, figures.size);
        let is_over = large || text.exceeds_lines(figures.lines).unwrap_or(true);
        let is_long = text.exceeds(Unit::Chars, figures.middle_over);
        let has_error = (is_over || is_long) && {
            text.touch(text.body.clone());
            let mut has_error = false;
            each_match(&mut CopySupply::from(&text.bytes[text.body.clone()]), &self.pattern, &mut |_| {
                has_error = true;
                ControlFlow::Break(())
            });
            has_error
        };
        match (has_error, is_over, is_long) {
            (true, true, _) => self.error_form(text, context, &figures, large),
            (false, _, true) => self.middle_of(text, context, text),
            _ => Ok(Selection::uncut(text)),
        }
    }
}

impl Errors {
    fn figures(&self, context: &Context) -> Result<Figures<'_>, PlanError> {
        let scope = context.scope;
        Ok(Figures {
            lines: scope.figure(&self.lines)?,
            size: scope.figure(&self.size)?,
            around: scope.figure(&self.around)?,
            tail_lines: scope.figure(&self.tail_lines)?,
            middle_over: scope.figure(&self.middle_over)?,
            marker: &self.marker,
        })
    }

    /// Cuts the middle, of the whole text or of the last pieces.
    fn middle_of(&self, text: &Text, context: &Context, part: &Text) -> Result<Selection, PlanError> {
        let mut selection = self.middle.select(part, context)?;
        selection.cut = Some(true);
        let points = part.totals.points.ok_or(crate::text::units::TotalsMask::POINTS);
        selection.facts.insert("points", Fact::from(points));
        text.absorb(part);
        Ok(selection.with_fact("gap", Fact::Flag(true)))
    }

    fn error_form(
        &self,
        text: &Text,
        context: &Context,
        figures: &Figures,
        large: bool,
    ) -> Result<Selection, PlanError> {
        let blocks = blocks(text, figures, &self.pattern);
        let hit = if large { context.by_size() } else { LimitHit::Lines };
        let Some(picked) = pick(text, context, figures, &blocks)? else {
            let tail = last_pieces(text, figures.tail_lines);
            let part = text.part(tail, None).counted();
            if part.exceeds(Unit::Chars, figures.middle_over) {
                return self.middle_of(text, context, &part);
            }
            let selection = Selection::everything(&part).with_fact("gap", Fact::Flag(false));
            return Ok(Selection { cut: Some(true), hit: Some(hit), ..selection });
        };
        joined(text, context, figures, hit, &picked)
    }
}

fn pattern<'de, D: Deserializer<'de>>(words: D) -> Result<Pattern, D::Error> {
    let words: Vec<_> = Vec::<String>::deserialize(words)?.iter().map(|word| regex::escape(word)).collect();
    Pattern::new(&format!("(?i-u:{})", words.join("|"))).map_err(D::Error::custom)
}

/// Returns the blocks, each preceded by a marker for what is left out.
fn joined(
    text: &Text,
    context: &Context,
    figures: &Figures,
    hit: LimitHit,
    picked: &[Block],
) -> Result<Selection, PlanError> {
    let mut segments = Vec::new();
    let mut before = 0;
    for (at, block) in picked.iter().enumerate() {
        let join = if at > 0 { "\n" } else { "" };
        if block.pieces.start > before {
            let marker = context.scope.render_number(figures.marker, block.pieces.start - before)?;
            segments.push(Segment::Words(format!("{join}{marker}\n")));
        }
        segments.push(Segment::Bytes(block.bytes.clone()));
        before = block.pieces.end;
    }
    let lines = picked.iter().map(|block| block.pieces.end - block.pieces.start).sum();
    let slots = vec![("kept", segments), ("head", Vec::new()), ("tail", Vec::new())];
    let selection = composed::selection_of_lines(text, context, lines, slots);
    Ok(Selection { hit: Some(hit), cut: Some(true), ..selection }.with_fact("gap", Fact::Flag(false)))
}

fn last_pieces(text: &Text, lines: u64) -> Range<usize> {
    let (start, end) = (text.body.start, text.body.end);
    text.outer_pieces(start..end, Direction::Tail, lines).unwrap_or(start..end)
}

/// The blocks in order, without those in the middle that exceed any limit.
struct Blocks {
    first: Vec<Block>,
    /// The latest blocks; the oldest of them are dropped if there are more than `most`.
    last: VecDeque<Block>,
    most: usize,
    /// Whether blocks were dropped.
    is_short: bool,
}

impl Blocks {
    /// Each block has at least one piece, so at most `lines` are kept on either side; the end may extend back over
    /// `tail_lines`.
    fn new(figures: &Figures) -> Self {
        let most = as_usize(figures.lines.saturating_add(figures.tail_lines).saturating_add(1));
        Self { first: Vec::new(), last: VecDeque::new(), most, is_short: false }
    }

    /// Adds a block, merging it with earlier ones that it overlaps or touches; the end may extend back over several.
    fn push(&mut self, mut block: Block) {
        while let Some(last) = self.pop_touching(&block) {
            block.pieces = last.pieces.start.min(block.pieces.start)..last.pieces.end.max(block.pieces.end);
            block.bytes = last.bytes.start.min(block.bytes.start)..last.bytes.end.max(block.bytes.end);
        }
        if self.last.is_empty() && self.first.len() < self.most {
            self.first.push(block);
            return;
        }
        self.last.push_back(block);
        if self.last.len() > self.most {
            self.last.pop_front();
            self.is_short = true;
        }
    }

    fn pop_touching(&mut self, block: &Block) -> Option<Block> {
        let touches = |last: &Block| block.pieces.start <= last.pieces.end;
        match self.last.pop_back() {
            Some(last) if touches(&last) => Some(last),
            Some(last) => {
                self.last.push_back(last);
                None
            }
            None if self.is_short => None,
            None => self.first.pop_if(|last| touches(last)),
        }
    }
}

/// Returns every error piece with its context, and the end, merged where they overlap or touch.
fn blocks(text: &Text, figures: &Figures, pattern: &Pattern) -> Blocks {
    let mut blocks = Blocks::new(figures);
    let body = text.body.clone();
    let (mut at, mut piece) = (body.start, 0);
    each_match(&mut CopySupply::from(&text.bytes[body.clone()]), pattern, &mut |found| {
        let start = body.start + found.start;
        // The first match in a line counts.
        if start >= at {
            piece += text.line_feeds_of(at..start);
            blocks.push(around(text, start, piece, figures.around));
            let feed = text.feed_after(start, body.end);
            at = feed.map_or(body.end, |feed| feed + 1);
            piece += u64::from(feed.is_some());
        }
        ControlFlow::Continue(())
    });
    let last = piece + text.line_feeds_of(at.min(body.end)..body.end) + 1;
    let tail = last_pieces(text, figures.tail_lines);
    let total = text.line_feeds().map_or(last, |feeds| feeds + 1);
    blocks.push(Block { pieces: total.saturating_sub(figures.tail_lines)..total, bytes: tail });
    blocks
}

/// Returns the piece that contains byte `at`, with `around` pieces on either side.
fn around(text: &Text, at: usize, piece: u64, around: u64) -> Block {
    let body = text.body.clone();
    let mut start = text.feed_before(body.start, at).map_or(body.start, |feed| feed + 1);
    let mut first = piece;
    while first > 0 && piece - first < around {
        start = text.feed_before(body.start, start - 1).map_or(body.start, |feed| feed + 1);
        first -= 1;
    }
    let mut end = text.feed_after(at, body.end).unwrap_or(body.end);
    let mut last = piece + 1;
    while end < body.end && last - piece <= around {
        end = text.feed_after(end + 1, body.end).unwrap_or(body.end);
        last += 1;
    }
    Block { pieces: first..last, bytes: start..end }
}

/// Returns the blocks to keep: all if they fit, else the end and others alternately; none if not even the end fits.
fn pick(
    text: &Text,
    context: &Context,
    figures: &Figures,
    blocks: &Blocks,
) -> Result<Option<Vec<Block>>, PlanError> {
    let held: Vec<_> = blocks.first.iter().chain(&blocks.last).cloned().collect();
    let Some((tail, others)) = held.split_last() else { return Ok(None) };
    let select = |front: usize, back: usize| -> Vec<Block> {
        let rest = others[others.len() - back..].iter();
        others[..front].iter().chain(rest).chain([tail]).cloned().collect()
    };
    if !blocks.is_short
        && others.len() as u64 <= figures.lines
        && fits(text, context, figures, &select(others.len(), 0))?
    {
        return Ok(Some(held));
    }
    if !fits(text, context, figures, &select(0, 0))? {
        return Ok(None);
    }
    let (mut front, mut back) = (0, 0);
    while front + back < others.len() {
        let next = if front == back { (front + 1, back) } else { (front, back + 1) };
        if !fits(text, context, figures, &select(next.0, next.1))? {
            break;
        }
        (front, back) = next;
    }
    Ok(Some(select(front, back)))
}

/// Whether blocks fit both limits, including their markers.
fn fits(text: &Text, context: &Context, figures: &Figures, blocks: &[Block]) -> Result<bool, PlanError> {
    let (mut pieces, mut size, mut before, mut segments) = (0, 0, 0, 0u64);
    for block in blocks {
        if block.pieces.start > before {
            pieces += 1;
            segments += 1;
            size += context.scope.render_number(figures.marker, block.pieces.start - before)?.len() as u64;
        }
        pieces += block.pieces.end - block.pieces.start;
        segments += 1;
        let raw = block.bytes.len() as u64;
        size += if raw > figures.size { raw } else { text.size_of(block.bytes.clone(), Unit::Bytes) };
        before = block.pieces.end;
        if pieces > figures.lines || size > figures.size {
            return Ok(false);
        }
    }
    Ok(size + segments.saturating_sub(1) <= figures.size)
}
