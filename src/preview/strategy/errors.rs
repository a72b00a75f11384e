//! Keeps lines about errors with some context, and the end: what does not fit is left out of the middle.

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{Direction, LimitHit, PlanError, Unit};
use crate::preview::strategy::ends::Middle;
use crate::preview::strategy::{Context, Selection, Strategy, composed};
use crate::preview::template::{Fact, Figure, Template};
use crate::text::search::{Pattern, each_match};
use crate::text::supply::CopySupply;
use crate::text::units::TotalsMask;

/// A run of pieces: their numbers (0-based), and their bytes without the last line feed.
#[derive(Debug, Clone)]
struct Block {
    pieces: Range<u64>,
    bytes: Range<usize>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Errors {
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

impl Strategy for Errors {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let scope = context.scope;
        let (lines, size) = (scope.figure(&self.lines)?, scope.figure(&self.size)?);
        let (around, tail_lines) = (scope.figure(&self.around)?, scope.figure(&self.tail_lines)?);
        let middle_over = scope.figure(&self.middle_over)?;
        let search = Search { keys: self, text, context, lines, size, around, tail_lines };
        let is_large = text.exceeds(Unit::Bytes, size);
        let is_over = is_large || text.exceeds_lines(lines).unwrap_or(true);
        let is_long = text.exceeds(Unit::Chars, middle_over);
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
            (true, true, _) => {}
            (false, _, true) => return self.middle_of(text, context, text),
            _ => return Ok(Selection::uncut(text)),
        }
        let hit = Some(if is_large { context.by_size() } else { LimitHit::Lines });
        let selection = match search.pick(&search.blocks())? {
            Some(picked) => search.join(&picked)?,
            None => {
                let part = text.part(search.last_pieces(), None).counted();
                if part.exceeds(Unit::Chars, middle_over) {
                    return self.middle_of(text, context, &part);
                }
                Selection::everything(&part)
            }
        };
        Ok(Selection { hit, ..selection }.with_fact("gap", Fact::Flag(false)))
    }
}

impl Errors {
    /// Cuts the middle, of the whole text or of the last pieces.
    fn middle_of(&self, text: &Text, context: &Context, part: &Text) -> Result<Selection, PlanError> {
        let mut selection = self.middle.select(part, context)?;
        let points = part.totals.points.ok_or(TotalsMask::POINTS);
        selection.facts.insert("points", Fact::from(points));
        text.absorb(part);
        Ok(selection.with_fact("gap", Fact::Flag(true)))
    }
}

fn pattern<'de, D: Deserializer<'de>>(words: D) -> Result<Pattern, D::Error> {
    let words: Vec<_> = Vec::<String>::deserialize(words)?.iter().map(|word| regex::escape(word)).collect();
    Pattern::new(&format!("(?i-u:{})", words.join("|"))).map_err(D::Error::custom)
}

/// The blocks in order, without those in the middle that exceed any limit.
struct Blocks {
    first: Vec<Block>,
    /// The latest blocks; the oldest of them are dropped if there are more than `most`.
    last: VecDeque<Block>,
    most: usize,
    has_dropped: bool,
}

impl Blocks {
    /// At most `lines` blocks of one piece are kept on either side; the end may extend back over `tail_lines`.
    fn new(search: &Search) -> Self {
        let most = as_usize(search.lines.saturating_add(search.tail_lines).saturating_add(1));
        Self { first: Vec::new(), last: VecDeque::new(), most, has_dropped: false }
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
            self.has_dropped = true;
        }
    }

    fn pop_touching(&mut self, block: &Block) -> Option<Block> {
        let touches = |last: &Block| block.pieces.start <= last.pieces.end;
        match self.last.back() {
            Some(last) if touches(last) => self.last.pop_back(),
            None if !self.has_dropped => self.first.pop_if(|last| touches(last)),
            _ => None,
        }
    }
}

struct Search<'a, 'b> {
    keys: &'a Errors,
    text: &'a Text<'b>,
    context: &'a Context<'a>,
    lines: u64,
    size: u64,
    around: u64,
    tail_lines: u64,
}

impl Search<'_, '_> {
    /// Returns every error piece with its context, and the end, merged where they overlap or touch.
    fn blocks(&self) -> Blocks {
        let text = self.text;
        let mut blocks = Blocks::new(self);
        let body = text.body.clone();
        let (mut at, mut piece) = (body.start, 0);
        let mut supply = CopySupply::from(&text.bytes[body.clone()]);
        each_match(&mut supply, &self.keys.pattern, &mut |found| {
            let start = body.start + found.start;
            // The first match in a line counts.
            if start >= at {
                piece += text.line_feeds_of(at..start);
                blocks.push(around(text, start, piece, self.around));
                let feed = text.feed_after(start, body.end);
                at = feed.map_or(body.end, |feed| feed + 1);
                piece += u64::from(feed.is_some());
            }
            ControlFlow::Continue(())
        });
        let last = piece + text.line_feeds_of(at.min(body.end)..body.end) + 1;
        let bytes = self.last_pieces();
        let total = text.line_feeds().map_or(last, |feeds| feeds + 1);
        blocks.push(Block { pieces: total.saturating_sub(self.tail_lines)..total, bytes });
        blocks
    }

    fn last_pieces(&self) -> Range<usize> {
        let body = self.text.body.clone();
        self.text.outer_pieces(body.clone(), Direction::Tail, self.tail_lines).unwrap_or(body)
    }

    /// Returns the blocks to keep: all if they fit, else the end and others alternately; none if not even the end fits.
    fn pick(&self, blocks: &Blocks) -> Result<Option<Vec<Block>>, PlanError> {
        let held: Vec<_> = blocks.first.iter().chain(&blocks.last).cloned().collect();
        let Some((tail, others)) = held.split_last() else { return Ok(None) };
        let select = |front: usize, back: usize| -> Vec<Block> {
            let rest = others[others.len() - back..].iter();
            others[..front].iter().chain(rest).chain([tail]).cloned().collect()
        };
        let is_few = !blocks.has_dropped && others.len() as u64 <= self.lines;
        if is_few && self.fits(&select(others.len(), 0))? {
            return Ok(Some(held));
        }
        if !self.fits(&select(0, 0))? {
            return Ok(None);
        }
        let (mut front, mut back) = (0, 0);
        while front + back < others.len() {
            let next = if front == back { (front + 1, back) } else { (front, back + 1) };
            if !self.fits(&select(next.0, next.1))? {
                break;
            }
            (front, back) = next;
        }
        Ok(Some(select(front, back)))
    }

    /// Whether blocks fit both limits, including their markers.
    fn fits(&self, blocks: &[Block]) -> Result<bool, PlanError> {
        let (mut pieces, mut size, mut before, mut segments) = (0, 0, 0, 0u64);
        for block in blocks {
            if block.pieces.start > before {
                pieces += 1;
                segments += 1;
                size += self.marker(block.pieces.start - before)?.len() as u64;
            }
            pieces += block.pieces.end - block.pieces.start;
            segments += 1;
            let raw = block.bytes.len() as u64;
            size += if raw > self.size { raw } else { self.text.size_of(block.bytes.clone(), Unit::Bytes) };
            before = block.pieces.end;
            if pieces > self.lines || size > self.size {
                return Ok(false);
            }
        }
        Ok(size + segments.saturating_sub(1) <= self.size)
    }

    fn marker(&self, left_out: u64) -> Result<String, PlanError> {
        self.context.scope.render_number(self.keys.marker.as_ref(), left_out)
    }

    /// Joins the blocks, each preceded by a marker for what is left out.
    fn join(&self, picked: &[Block]) -> Result<Selection, PlanError> {
        let mut parts = Vec::new();
        let mut before = 0;
        for (at, block) in picked.iter().enumerate() {
            let join = if at > 0 { "\n" } else { "" };
            if block.pieces.start > before {
                let marker = self.marker(block.pieces.start - before)?;
                parts.extend(composed::notice(format!("{join}{marker}\n")));
            }
            parts.extend(self.text.kept(block.bytes.clone()));
            before = block.pieces.end;
        }
        let lines = picked.iter().map(|block| block.pieces.end - block.pieces.start).sum();
        let slots = vec![("kept", parts), ("head", Vec::new()), ("tail", Vec::new())];
        Ok(composed::selection_of_lines(self.context, lines, slots))
    }
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
