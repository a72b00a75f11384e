//! The state of a call in a few words, as the command line and the screens say it.

use crate::human::count;

use super::fate::ContextState;
use super::fate::ResultFate;
use super::model::{CallStatus, CutState};

/// Says in how many other sessions a call is, if it was copied.
pub fn copies_in_words(copies: u64) -> Option<String> {
    (copies > 0).then(|| format!("also in {}", count(copies, "session")))
}

/// Returns what matters most about a call: what is left of its output or else how it ended, then what became of the
/// result. `spill` is the word for what is at the place of its spill.
pub fn state_in_words(
    cut: CutState,
    spill: Option<&str>,
    status: CallStatus,
    context: ContextState,
) -> impl Iterator<Item = String> {
    let left = match (cut, spill) {
        (CutState::Lost, _) => Some("lost"),
        (CutState::Spill, Some("here")) => Some("spill here"),
        (CutState::Spill, Some("other")) => Some("another file"),
        (CutState::Spill, _) => Some("gone"),
        _ => None,
    };
    let status = Some(status).filter(|status| *status != CallStatus::Ok).map(CallStatus::as_str);
    let context = Some(context).filter(|context| context.fate != ResultFate::InContext);
    left.or(status).map(str::to_owned).into_iter().chain(context.map(ContextState::describe))
}
