//! The limits beyond which an output is cut.

use serde::Deserialize;

use crate::text::units::TotalsMask;

use super::error::PlanError;
use super::measure::Text;
use super::model::Unit;
use super::template::Figure;
use super::template::scope::Scope;

/// Which limit an output exceeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    Nothing,
    Size,
    Lines,
}

/// A limit on lines and one on size.
#[cfg(feature = "app")]
pub(crate) type PlainLimits = (Option<u64>, Option<u64>);

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
    zero_is_off: bool,
}

impl Limits {
    pub(crate) fn has_any(&self) -> bool {
        self.lines.is_some() || self.size.is_some() || self.raw.is_some()
    }

    /// Returns the limits on lines and on size, in the policy's unit; none if there are others, or they have exceptions.
    #[cfg(feature = "app")]
    pub(crate) fn plain(&self, scope: &Scope) -> Result<Option<PlainLimits>, PlanError> {
        let is_plain = self.raw.is_none()
            && self.unit.is_none()
            && self.also_size.is_none()
            && !self.bare
            && !self.zero_is_off;
        let both = (scope.optional(&self.lines)?, scope.optional(&self.size)?);
        Ok(is_plain.then_some(both))
    }

    /// Tests the limits under a policy of that unit, the cheaper one first. If that cannot be decided yet, returns the
    /// total needed.
    pub(crate) fn test(
        &self,
        text: &Text,
        scope: &Scope,
        unit: Unit,
    ) -> Result<Result<Over, TotalsMask>, PlanError> {
        let off = |limit: &u64| !(self.zero_is_off && *limit == 0);
        let (lines, size) =
            (scope.optional(&self.lines)?.filter(off), scope.optional(&self.size)?.filter(off));
        let bare = u64::from(self.bare && text.final_feed());
        let over =
            |limit: u64, own: Option<Unit>| text.exceeds(own.unwrap_or(unit), limit.saturating_add(bare));
        let also = scope.optional(&self.also_size)?;
        if scope.optional(&self.raw)?.is_some_and(|raw| text.bytes.len() as u64 > raw) {
            return Ok(Ok(Over::Size));
        }
        if size.is_some_and(|size| over(size, self.unit))
            && also.is_none_or(|also| over(also, self.also_unit))
        {
            return Ok(Ok(Over::Size));
        }
        let many = lines.map_or(Ok(false), |lines| text.exceeds_lines(lines));
        Ok(many.map(|many| if many { Over::Lines } else { Over::Nothing }))
    }
}
