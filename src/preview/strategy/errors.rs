//! Lines about errors with some either side, and the end: what does not fit is left out from the middle.

use std::collections::VecDeque;
use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

use crate::preview::measure::{Text, as_usize};
use crate::preview::model::{LimitHit, Part, Unit};
use crate::preview::plan::{self, PlanError};
use crate::preview::template::{self, Fact};

use super::{Chosen, Rule, middle};

/// A stretch of pieces: their numbers (0-based) and their bytes, the last line feed not with them.
#[derive(Debug, Clone)]
struct Block {
    pieces: Range<u64>,
    bytes: Range<usize>,
}

/// The figures of the error form.
struct Figures<'a> {
    lines: u64,
    size: u64,
    around: u64,
    tail_lines: u64,
    middle: u64,
    marker: Option<template::Template<'a>>,
}

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let form = rule.form;
    let figures = Figures {
        lines: rule.needed(&form.lines, "lines")?,
        size: rule.needed(&form.size, "size")?,
        around: rule.needed(&form.around, "around")?,
        tail_lines: rule.needed(&form.tail_lines, "tail_lines")?,
        middle: rule.needed(&form.held, "held")?,
        marker: rule.template(&form.gap)?,
    };
    let large = text.exceeds(Unit::Bytes, figures.size);
    let is_over = large || text.exceeds_lines(figures.lines).unwrap_or(true);
    let is_long = text.exceeds(Unit::Points, figures.middle);
    let pattern = pattern(rule)?;
    let has_error = (is_over || is_long) && {
        text.touch(text.body.clone());
        pattern.is_match(&text.bytes[text.body.clone()])
    };
    match (has_error, is_over, is_long) {
        (true, true, _) => error_form(text, rule, &figures, &pattern, large),
        (false, _, true) => middle_of(text, rule, text),
        _ => Ok(Chosen { cut: Some(false), ..plan::everything(text) }),
    }
}

fn pattern(rule: &Rule) -> Result<Regex, PlanError> {
    let words = rule.form.words.as_deref().unwrap_or_default();
    let alternatives: Vec<_> = words.iter().map(|word| regex::escape(word)).collect();
    let built = RegexBuilder::new(&alternatives.join("|")).case_insensitive(true).unicode(false).build();
    built.map_err(|error| PlanError::policy(rule.policy, error.to_string()))
}

/// The middle cut, of the whole or of the last pieces.
fn middle_of(text: &Text, rule: &Rule, part: &Text) -> Result<Chosen, PlanError> {
    let mut chosen = middle::choose(part, rule)?;
    chosen.cut = Some(true);
    let points = part.totals.points.ok_or(crate::text::units::Want::POINTS);
    chosen.facts.insert("points", Fact::from(points));
    chosen.facts.insert("gap", Fact::Flag(true));
    text.absorb(part);
    Ok(chosen)
}

fn error_form(
    text: &Text,
    rule: &Rule,
    figures: &Figures,
    pattern: &Regex,
    large: bool,
) -> Result<Chosen, PlanError> {
    let blocks = blocks(text, figures, pattern);
    let hit = if large { LimitHit::Size(rule.policy.unit()) } else { LimitHit::Lines };
    let Some(picked) = pick(text, rule, figures, &blocks)? else {
        let tail = last_pieces(text, figures.tail_lines);
        let part = text.part(tail, None).counted();
        if part.exceeds(Unit::Points, figures.middle) {
            return middle_of(text, rule, &part);
        }
        let chosen = plan::everything(&part);
        return Ok(Chosen { cut: Some(true), hit: Some(hit), ..with_gap(chosen, false) });
    };
    let mut parts = Vec::new();
    let mut chosen = Chosen { hit: Some(hit), cut: Some(true), ..Chosen::default() };
    let mut before = 0;
    for (at, block) in picked.iter().enumerate() {
        let join = if at > 0 { "\n" } else { "" };
        if block.pieces.start > before {
            let marker = rule.numbered(&figures.marker, block.pieces.start - before)?;
            parts.push(Part::Notice { text: format!("{join}{marker}\n") });
        }
        parts.extend(text.kept(block.bytes.clone()));
        chosen.ranges.push(block.bytes.clone());
        before = block.pieces.end;
    }
    chosen.lines = Some(Ok(picked.iter().map(|block| block.pieces.end - block.pieces.start).sum()));
    chosen.slots = vec![("kept", parts), ("head", Vec::new()), ("tail", Vec::new())];
    Ok(with_gap(chosen, false))
}

fn with_gap(mut chosen: Chosen, gap: bool) -> Chosen {
    chosen.facts.insert("gap", Fact::Flag(gap));
    chosen
}

fn last_pieces(text: &Text, lines: u64) -> Range<usize> {
    let (start, end) = (text.body.start, text.body.end);
    text.start_of_pieces(start, end, lines).unwrap_or(start)..end
}

/// The blocks in order, without those in the middle that no limit admits.
struct Blocks {
    first: Vec<Block>,
    /// The newest; the oldest of them go when there are more than `most`.
    last: VecDeque<Block>,
    most: usize,
    /// Whether some were left out.
    is_short: bool,
}

impl Blocks {
    /// Each block has a piece at least, so that of either side no more than `lines` are kept; the end may reach back
    /// over `tail_lines`.
    fn new(figures: &Figures) -> Self {
        let most = as_usize(figures.lines.saturating_add(figures.tail_lines).saturating_add(1));
        Self { first: Vec::new(), last: VecDeque::new(), most, is_short: false }
    }

    /// Adds a block, merged with those before it that it overlaps or touches; the end may reach back over several.
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

/// Every error piece with its neighbours, and the end, merged where they overlap or touch.
fn blocks(text: &Text, figures: &Figures, pattern: &Regex) -> Blocks {
    let mut blocks = Blocks::new(figures);
    let body = text.body.clone();
    let mut at = body.start;
    let mut piece = 0;
    while let Some(found) = pattern.find_at(&text.bytes[..body.end], at) {
        piece += text.line_feeds_of(at..found.start());
        blocks.push(around(text, found.start(), piece, figures.around));
        let Some(feed) = text.feed_after(found.start(), body.end) else {
            at = body.end;
            break;
        };
        at = feed + 1;
        piece += 1;
    }
    let last = piece + text.line_feeds_of(at.min(body.end)..body.end) + 1;
    let tail = last_pieces(text, figures.tail_lines);
    let total = text.line_feeds().map_or(last, |feeds| feeds + 1);
    blocks.push(Block { pieces: total.saturating_sub(figures.tail_lines)..total, bytes: tail });
    blocks
}

/// The piece that holds byte `at`, with so many either side.
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

/// The blocks that are kept: all if they fit, else the end and others by turns; none if not even the end fits.
fn pick(
    text: &Text,
    rule: &Rule,
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
        && fits(text, rule, figures, &select(others.len(), 0))?
    {
        return Ok(Some(held));
    }
    if !fits(text, rule, figures, &select(0, 0))? {
        return Ok(None);
    }
    let (mut front, mut back) = (0, 0);
    while front + back < others.len() {
        let next = if front == back { (front + 1, back) } else { (front, back + 1) };
        if !fits(text, rule, figures, &select(next.0, next.1))? {
            break;
        }
        (front, back) = next;
    }
    Ok(Some(select(front, back)))
}

/// Whether blocks fit both limits, their markers counted.
fn fits(text: &Text, rule: &Rule, figures: &Figures, blocks: &[Block]) -> Result<bool, PlanError> {
    let (mut pieces, mut size, mut before, mut segments) = (0, 0, 0, 0u64);
    for block in blocks {
        if block.pieces.start > before {
            pieces += 1;
            segments += 1;
            size += rule.numbered(&figures.marker, block.pieces.start - before)?.len() as u64;
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
