//! What makes an agent cut an output (`[when]`), refuse it (`[refuse]`), or cut the whole response (`[cap]`).

use std::ops::Range;

use serde::Deserialize;

use crate::text::units::{self, TotalsMask};

use super::input::{Input, Stream};
use super::measure::{Text, as_usize};
use super::model::{Fragment, LimitHit, Part, PlanError, Unit, WAITING};
use super::template::{Facts, Figure, Scope, Template};

/// The limits of `[when]`; exceeding either is enough.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Limits {
    pub lines: Option<Figure>,
    pub size: Option<Figure>,
    /// A size in raw bytes of the whole output, before anything is removed from it.
    raw: Option<Figure>,
    /// The unit of `size`, if not the policy's.
    unit: Option<Unit>,
    /// A size, in `also_unit`, that must be exceeded as well.
    also_size: Option<Figure>,
    also_unit: Option<Unit>,
    /// Whether a final line feed is left out of the size.
    bare: bool,
    /// Whether a limit of 0 never cuts.
    pub zero_is_off: bool,
}

impl Limits {
    pub(crate) fn has_any(&self) -> bool {
        self.lines.is_some() || self.size.is_some() || self.raw.is_some()
    }

    /// Returns the limits on lines and on size, in the policy's unit; none if there are others, or they have exceptions.
    #[cfg(feature = "app")]
    pub(crate) fn plain(&self, scope: &Scope) -> Result<Option<[Option<u64>; 2]>, PlanError> {
        let is_plain = self.raw.is_none()
            && self.unit.is_none()
            && self.also_size.is_none()
            && !self.bare
            && !self.zero_is_off;
        let both = [scope.optional(&self.lines)?, scope.optional(&self.size)?];
        Ok(is_plain.then_some(both))
    }

    /// Returns the limit that a text exceeds under a policy of that unit, or the total needed to decide it.
    pub(crate) fn test(
        &self,
        text: &Text,
        scope: &Scope,
        unit: Unit,
    ) -> Result<Result<Option<LimitHit>, TotalsMask>, PlanError> {
        let off = |limit: &u64| !(self.zero_is_off && *limit == 0);
        let (lines, size) =
            (scope.optional(&self.lines)?.filter(off), scope.optional(&self.size)?.filter(off));
        let bare = u64::from(self.bare && text.final_feed());
        let over =
            |limit: u64, own: Option<Unit>| text.exceeds(own.unwrap_or(unit), limit.saturating_add(bare));
        let also = scope.optional(&self.also_size)?;
        if scope.optional(&self.raw)?.is_some_and(|raw| text.bytes.len() as u64 > raw) {
            return Ok(Ok(Some(LimitHit::Size(unit))));
        }
        if size.is_some_and(|size| over(size, self.unit))
            && also.is_none_or(|also| over(also, self.also_unit))
        {
            return Ok(Ok(Some(LimitHit::Size(unit))));
        }
        let many = lines.map_or(Ok(false), |lines| text.exceeds_lines(lines));
        Ok(many.map(|many| many.then_some(LimitHit::Lines)))
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Cap {
    /// The response is cut if it exceeds this many raw bytes.
    over: Figure,
    /// The raw bytes that it is cut to.
    size: Figure,
    /// Whether to cut back to the last line feed, if there is one.
    to_line: bool,
    notice: Template,
}

impl Cap {
    /// Cuts the joined parts (raw bytes) to the cap, back to a line feed if requested. Returns whether it cut.
    pub(super) fn apply(
        &self,
        input: &Input,
        scope: &Scope,
        parts: &mut Vec<Part>,
    ) -> Result<bool, PlanError> {
        let (over, size) = (as_usize(scope.figure(&self.over)?), as_usize(scope.figure(&self.size)?));
        let total: usize = parts.iter().map(raw_len).sum();
        if total <= over {
            return Ok(false);
        }
        let at = last_feed(input, parts, size).filter(|at| self.to_line && *at > 0).unwrap_or(size);
        cut(input, parts, at);
        parts.push(Part::Notice { text: scope.render_text(&self.notice, Facts::new())? });
        Ok(true)
    }
}

fn raw_len(part: &Part) -> usize {
    match part {
        Part::Kept { range, .. } => range.len(),
        Part::Changed { fragments, .. } => {
            let len = |fragment: &Fragment| match fragment {
                Fragment::Text(text) => text.len(),
                // No policy with a cap keeps only escapes.
                Fragment::Bytes(range) | Fragment::Escapes(range) => range.len(),
                Fragment::Replaced(count) => 3 * count,
            };
            fragments.iter().map(len).sum()
        }
        Part::Notice { text } => text.len(),
        Part::Counting => WAITING.len(),
    }
}

/// Returns the position of the last line feed before `size` in the joined parts.
fn last_feed(input: &Input, parts: &[Part], size: usize) -> Option<usize> {
    let (mut start, mut found) = (0, None);
    for part in parts {
        if start >= size {
            break;
        }
        let within = raw_len(part).min(size - start);
        let feed = match part {
            Part::Kept { source, range, .. } => {
                memchr::memrchr(b'\n', &input.stream(*source).bytes[range.start..range.start + within])
            }
            Part::Notice { text } => memchr::memrchr(b'\n', &text.as_bytes()[..within]),
            Part::Changed { .. } | Part::Counting => None,
        };
        found = feed.map(|feed| start + feed).or(found);
        start += raw_len(part);
    }
    found
}

/// Drops everything from `at` in the joined parts; a character that is split becomes a part of its own.
fn cut(input: &Input, parts: &mut Vec<Part>, at: usize) {
    let mut left = at;
    let mut kept = Vec::new();
    for part in parts.drain(..) {
        let len = raw_len(&part);
        if len <= left {
            left -= len;
            kept.push(part);
            continue;
        }
        match part {
            Part::Kept { source, range, decoding } => {
                let end = range.start + left;
                let whole = whole_end(input, source, &range, end);
                if whole > range.start {
                    kept.push(Part::Kept { source, range: range.start..whole, decoding });
                }
                if end > whole {
                    let fragments = vec![Fragment::Bytes(whole..end)];
                    kept.push(Part::Changed { source, range: whole..end, fragments, decoding });
                }
            }
            Part::Notice { text } => {
                let end = (0..=left).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
                kept.push(Part::Notice { text: text[..end].to_owned() });
            }
            Part::Changed { .. } | Part::Counting => {}
        }
        break;
    }
    *parts = kept;
}

/// Returns the end of the last whole character before a raw cut.
fn whole_end(input: &Input, source: Stream, range: &Range<usize>, end: usize) -> usize {
    let bytes = &input.stream(source).bytes[..range.end];
    let start = units::element_start(bytes, end).max(range.start);
    if start < end && units::element(bytes, start).valid { start } else { end }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Refuse {
    /// Number of bytes at the start that are checked for NUL and other control bytes.
    sample: Figure,
    /// Maximum percentage of control bytes, not counting line breaks and tabs.
    controls: Figure,
    /// File name endings that it refuses without looking, in lower case, with the dot.
    endings: Option<Vec<String>>,
    words: Template,
}

impl Refuse {
    /// Fails with the agent's message if its tool refuses this output, which is saved at `path`.
    pub(super) fn check(&self, text: &Text, path: &str, scope: &Scope) -> Result<(), PlanError> {
        let sample = as_usize(scope.figure(&self.sample)?);
        let controls = scope.figure(&self.controls)?;
        let name = path.rsplit('/').next().unwrap_or_default();
        let ending = name.rfind('.').map(|at| name[at..].to_lowercase());
        let is_named =
            ending.is_some_and(|ending| self.endings.iter().flatten().any(|other| *other == ending));
        if is_named || is_binary(text, sample, controls) {
            return Err(scope.refusal(&self.words, Facts::new()));
        }
        Ok(())
    }
}

/// Whether the start contains a NUL, or more than `most` percent control bytes (not counting TAB to CR).
fn is_binary(text: &Text, sample: usize, most: u64) -> bool {
    let sample = &text.bytes[..text.bytes.len().min(sample)];
    text.touch(0..sample.len());
    let controls = sample.iter().filter(|byte| matches!(byte, ..9 | 14..32)).count() as u64;
    sample.contains(&0) || controls * 100 > sample.len() as u64 * most
}
