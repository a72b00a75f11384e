//! What makes an agent cut an output (`[when]`), refuse it (`[refuse]`), or cut the whole response (`[cap]`).

use serde::Deserialize;

use crate::text::units::TotalsMask;

use super::input::{Input, PerStream};
use super::measure::{Text, as_usize};
use super::model::{LimitHit, Part, PlanError, Unit};
use super::rewrite;
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
        let is_large = |size| over(size, self.unit) && also.is_none_or(|also| over(also, self.also_unit));
        let is_raw_large = |raw| text.bytes.len() as u64 > raw;
        if scope.optional(&self.raw)?.is_some_and(is_raw_large) || size.is_some_and(is_large) {
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
        texts: PerStream<&Text>,
        parts: &mut Vec<Part>,
    ) -> Result<bool, PlanError> {
        let (over, size) = (as_usize(scope.figure(&self.over)?), as_usize(scope.figure(&self.size)?));
        let total: usize = parts.iter().map(|part| rewrite::raw(input, part).len()).sum();
        if total <= over {
            return Ok(false);
        }
        let at = last_feed(input, parts, size).filter(|at| self.to_line && *at > 0).unwrap_or(size);
        let apart = |part| match part {
            Part::Kept { source, range, .. } => texts.get(source).raw(range),
            part => vec![part],
        };
        let left = rewrite::without(input, std::mem::take(parts), std::slice::from_ref(&(at..total)));
        *parts = left.into_iter().flat_map(apart).collect();
        parts.push(Part::Notice { text: scope.render_text(&self.notice, Facts::new())? });
        Ok(true)
    }
}

/// Returns the position of the last line feed before `size` in the joined parts.
fn last_feed(input: &Input, parts: &[Part], size: usize) -> Option<usize> {
    let (mut start, mut found) = (0, None);
    for part in parts {
        if start >= size {
            break;
        }
        let bytes = rewrite::raw(input, part);
        let feed = memchr::memrchr(b'\n', &bytes[..bytes.len().min(size - start)]);
        found = feed.map(|feed| start + feed).or(found);
        start += bytes.len();
    }
    found
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
