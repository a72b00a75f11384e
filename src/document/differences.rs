//! What differs between the text that was recorded and the one that the policy makes of the output.

use std::ops::Range;

use crate::base::human::{count, thousands};
use crate::preview::{self, Input, Part, Preview};

/// Texts of more bytes are not compared.
const MAX_BYTES: u64 = 16 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Differences {
    /// The stretches of the document that is shown which the other text does not have, in bytes, in order. One is empty
    /// where only the other has something.
    places: Vec<Range<u64>>,
    /// The first byte of the recorded text that differs, 0-based.
    first: u64,
    /// The part of what the policy makes in which that is.
    part: &'static str,
}

impl Differences {
    /// Compares the recorded text with what the policy makes. `is_recorded` is whether the recorded text is shown. `None` if
    /// that is no longer wanted, one is too long, or what the policy makes is not known byte for byte.
    pub(crate) fn find(recorded: &str, made: &Preview, input: &Input, is_recorded: bool) -> Option<Self> {
        let is_short = recorded.len() as u64 <= MAX_BYTES && made.byte_len(input) <= MAX_BYTES;
        let text = (is_short && is_exact(made, input)).then(|| made.text(input))?;
        let found = preview::differences(recorded, &text, &|| input.is_wanted())?;
        let first = recorded.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count() as u64;
        let last = if is_recorded { recorded.len() } else { text.len() }.saturating_sub(1);
        let shown = found.into_iter().map(|[old, new]| if is_recorded { old } else { new });
        // What the other text has after the end is missing at the last byte.
        let place = |place: Range<usize>| match place.is_empty() {
            true => [place.start.min(last); 2],
            false => [place.start, place.end],
        };
        let places = shown.map(place).map(|[start, end]| start as u64..end as u64).collect();
        Some(Self { places, first, part: part_at(made, input, first) })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether a stretch of the document differs, or lacks something that the other text has.
    pub(crate) fn touch(&self, range: &Range<u64>) -> bool {
        let next = self.places.partition_point(|place| place.end < range.start);
        let mut near = self.places[next..].iter().take_while(|place| place.start < range.end);
        near.any(|place| place.end > range.start || place.is_empty())
    }

    pub(crate) fn hold(&self, at: u64) -> bool {
        let next = self.places.partition_point(|place| place.end <= at);
        self.places.get(next).is_some_and(|place| place.start <= at)
    }

    /// Iterates over the positions where differences begin, in order.
    pub(crate) fn starts(&self) -> impl Iterator<Item = u64> + '_ {
        self.places.iter().map(|place| place.start)
    }

    pub(crate) fn describe(&self) -> String {
        let all = self.places.len() as u64;
        match all {
            0 => "equal".to_owned(),
            _ => {
                let at = thousands(self.first + 1);
                format!("first differs at byte {at}, in its {} · {}", self.part, count(all, "difference"))
            }
        }
    }
}

/// Whether the document of a preview is its text byte for byte: no figure is still being counted, and no byte is shown that
/// is no character.
fn is_exact(preview: &Preview, input: &Input) -> bool {
    preview.parts.iter().all(|part| match part {
        Part::Kept { range, .. } => part.byte_len(input) == range.len() as u64,
        Part::Counting => false,
        Part::Changed { .. } | Part::Notice { .. } => true,
    })
}

fn part_at(preview: &Preview, input: &Input, at: u64) -> &'static str {
    let mut end = 0;
    let part = preview.parts.iter().find(|part| {
        end += part.byte_len(input);
        at < end
    });
    part.map_or("end", Part::kind)
}
