//! The marks in rendered text: around a slot's index, and around the `…` of a figure that is still being counted.

use std::ops::RangeInclusive;

use crate::preview::model::WAITING;

/// Surrounds a slot's index in rendered text, unless a variable's text holds it. No template does.
pub(super) const SLOT: char = '\0';
/// The marks that then surround it instead: private characters, of which one is in none of the texts.
pub(super) const OTHER_SLOTS: RangeInclusive<char> = '\u{f0000}'..='\u{ffffd}';

/// Returns a marked `…`.
pub(super) fn waiting(mark: char) -> String {
    format!("{mark}{WAITING}{mark}")
}

/// Whether a value is a marked `…`, and nothing else.
pub(super) fn is_waiting(text: &str) -> bool {
    let is_mark = |mark: char| mark == SLOT || OTHER_SLOTS.contains(&mark);
    text.chars().next().is_some_and(|mark| is_mark(mark) && text == waiting(mark))
}
