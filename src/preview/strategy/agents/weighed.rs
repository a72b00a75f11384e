//! Keeps the start of a text, or both ends if its end matters, by a weight in which some characters count more.

use std::ops::Range;

use regex::Regex;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::preview::measure::{Text, is_js_space};
use crate::preview::model::{Direction, Part, PlanError, Unit};
use crate::preview::strategy::{Context, Selection, Strategy, composed};
use crate::preview::template::{Figure, Template};

/// Share of the budget that the end may take, if it matters.
const TAIL_SHARE: f64 = 0.3;
/// A line feed beyond this fraction of the start ends it.
const LATE: f64 = 0.8;
/// A line feed before this fraction of the end begins it.
const EARLY: f64 = 0.2;

#[derive(Debug, Deserialize)]
pub(crate) struct Weighed {
    /// Maximum weight of the result.
    size: Figure,
    /// UTF-16 units of the beginning that are always kept.
    least: Figure,
    /// Maximum number of UTF-16 units kept of the end, if it matters.
    tail: Figure,
    /// UTF-16 units of the end that are searched to decide whether it matters.
    looked_at: Figure,
    /// Matches the words that make an end matter.
    #[serde(rename = "words", deserialize_with = "pattern")]
    pattern: Regex,
    between: Option<String>,
    /// Appended at the end; `number` is what is missing.
    suffix: Template,
}

impl Strategy for Weighed {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let most = context.scope.figure(&self.size)?;
        let is_long = text.exceeds(Unit::Utf16, most);
        let near = text.end(text.body.clone(), Direction::Head, Unit::Utf16, most).range;
        let start = text.decoding.decode(&text.bytes[near]);
        if !is_long && weight(&start) <= most {
            return Ok(Selection::uncut(text));
        }
        let total = text.known_or_wait(text.size(Unit::Utf16)).unwrap_or(text.len() as u64);
        let scale = Scale { keys: self, context, most, total };
        let kept = scale.kept(text, &start)?;
        let slots = vec![("kept", scale.bounded(text, kept)?)];
        Ok(composed::selection(text, context, slots))
    }
}

impl Weighed {
    /// Whether the end of a text looks like an error, a summary or the end of JSON.
    fn matters(&self, text: &Text, context: &Context) -> Result<bool, PlanError> {
        let looked_at = context.scope.figure(&self.looked_at)?;
        let last = text.end(text.body.clone(), Direction::Tail, Unit::Utf16, looked_at).range;
        let end = text.decoding.decode(&text.bytes[last]).to_lowercase();
        Ok(self.pattern.is_match(&end) || end.trim_matches(is_js_space).ends_with('}'))
    }
}

fn pattern<'de, D: Deserializer<'de>>(words: D) -> Result<Regex, D::Error> {
    let words: Vec<_> = Vec::<String>::deserialize(words)?.iter().map(|word| regex::escape(word)).collect();
    Regex::new(&format!(r"(?-u:\b)(?:{})(?-u:\b)", words.join("|"))).map_err(D::Error::custom)
}

/// Returns how many units a character counts.
fn heavy(character: char) -> u64 {
    match u32::from(character) {
        0xB7 | 0x3000..=0x319F | 0x4E00..=0x9FA5 | 0xAC00..=0xD7AF | 0xFF01..=0xFF60 => 4,
        0x2C7 | 0x2C9 | 0x2D9 | 0x2EA..=0x2EB | 0x305 | 0x323 => 8,
        0xFE10..=0xFE4F | 0xFF61..=0xFFDC | 0xFFE0..=0xFFE6 => 8,
        0x1100..=0x11FF | 0x2E80..=0x2FFF | 0x31A0..=0x4DFF | 0x9FA6..=0xA4FF | 0xA700..=0xA707 => 12,
        0xA960..=0xA97F | 0xD7B0..=0xD7FF | 0xF900..=0xFAFF | 0x1D360..=0x1D371 => 12,
        0x16FE0..=0x16FFF | 0x1AFF0..=0x1AFFF | 0x1B000..=0x1B16F | 0x1F200..=0x1F2FF => 16,
        0x20000..=0x2FA1F | 0x30000..=0x3347F => 16,
        _ => character.len_utf16() as u64,
    }
}

fn weight(text: &str) -> u64 {
    text.chars().map(heavy).sum()
}

fn units(text: &str) -> u64 {
    text.encode_utf16().count() as u64
}

/// Returns the start or end of a text with at most this weight.
fn fitting(text: &str, from: Direction, most: u64) -> &str {
    composed::fitting(text, from, most, heavy)
}

/// The limit, and what is measured against it.
struct Scale<'a> {
    keys: &'a Weighed,
    context: &'a Context<'a>,
    most: u64,
    /// UTF-16 units of the whole.
    total: u64,
}

impl Scale<'_> {
    fn suffix(&self, removed: u64) -> Result<String, PlanError> {
        self.context.scope.render_number(Some(&self.keys.suffix), removed.max(1))
    }

    fn kept(&self, text: &Text, start: &str) -> Result<Vec<Part>, PlanError> {
        let least = self.context.scope.figure(&self.keys.least)?;
        let least = least.min(self.most.saturating_sub(weight(&self.suffix(1)?)));
        let first = units(fitting(start, Direction::Head, self.most));
        let room = self.most.saturating_sub(weight(&self.suffix(self.total.saturating_sub(first))?));
        let budget = room.max(least);
        if budget > 2 * least
            && self.keys.matters(text, self.context)?
            && let Some(kept) = self.both_ends(text, start, budget, least)?
        {
            return Ok(kept);
        }
        Ok(Vec::from_iter(text.kept(head(text, fitting(start, Direction::Head, budget)))))
    }

    /// Returns both ends, moved inward to line feeds that are near; none if they would be everything.
    fn both_ends(
        &self,
        text: &Text,
        start: &str,
        budget: u64,
        least: u64,
    ) -> Result<Option<Vec<Part>>, PlanError> {
        let between = self.keys.between.clone().unwrap_or_default();
        let most = self.context.scope.figure(&self.keys.tail)?;
        let last = ((budget as f64 * TAIL_SHARE) as u64).min(most);
        let first = budget.saturating_sub(last + weight(&between));
        if first <= least {
            return Ok(None);
        }
        let head = head(text, fitting(start, Direction::Head, first));
        let far = text.end(text.body.clone(), Direction::Tail, Unit::Utf16, last).range;
        let end = text.decoding.decode(&text.bytes[far]);
        let end = fitting(&end, Direction::Tail, last);
        let feed = end.find('\n').filter(|at| (units(&end[..*at]) as f64) < units(end) as f64 * EARLY);
        let end = feed.map_or(end, |at| &end[at + 1..]);
        let tail = text.end(text.body.clone(), Direction::Tail, Unit::Utf16, units(end)).range;
        let both = text.size_of(head.clone(), Unit::Utf16) + units(end);
        let kept =
            [text.kept(head), composed::notice(between), text.kept(tail)].into_iter().flatten().collect();
        Ok((both < self.total).then_some(kept))
    }

    /// Adds the suffix, cutting the end until both fit.
    fn bounded(&self, text: &Text, mut kept: Vec<Part>) -> Result<Vec<Part>, PlanError> {
        loop {
            let shown = composed::decoded(text, &kept);
            let size = units(&shown);
            let suffix = self.suffix(self.total.saturating_sub(size))?;
            let Some(room) = self.most.checked_sub(weight(&suffix)).filter(|room| *room > 0) else {
                let all = self.suffix(self.total)?;
                return Ok(Vec::from_iter(composed::notice(fitting(&all, Direction::Head, self.most))));
            };
            let fits = units(fitting(&shown, Direction::Head, room));
            if fits == size {
                kept.extend(composed::notice(suffix));
                return Ok(kept);
            }
            kept = composed::end(text, &kept, Direction::Head, Unit::Utf16, fits);
        }
    }
}

/// Returns the range of a start, without what follows a late line feed.
fn head(text: &Text, start: &str) -> Range<usize> {
    let feed = start.rfind('\n').filter(|at| units(&start[..*at]) as f64 > units(start) as f64 * LATE);
    let kept = feed.map_or(start, |at| &start[..at]);
    text.end(text.body.clone(), Direction::Head, Unit::Utf16, units(kept)).range
}
