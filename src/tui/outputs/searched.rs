//! Which directories were searched for stored outputs in vain, and the state of each.

use std::sync::Arc;

use crate::store::{RootReport, RootState, StoreSpec};
use crate::text::label::SafeText;

/// The heading where no outputs are listed.
pub(crate) const NONE_YET: &str = "No stored outputs yet. These directories were searched:";

/// Returns a heading, then at most `room` directories (at least one), those that exist first.
pub(crate) fn searched(
    heading: &str,
    reports: &[(Arc<StoreSpec>, Vec<RootReport>)],
    room: usize,
) -> Vec<SafeText> {
    let mut looked: Vec<(bool, String)> = reports
        .iter()
        .flat_map(|(store, roots)| {
            roots.iter().map(|report| {
                let root = SafeText::from_bytes(report.root.as_os_str().as_encoded_bytes());
                (
                    report.state == RootState::Absent,
                    format!("{:<12} {root} ({})", store.agent, state_in_words(&report.state)),
                )
            })
        })
        .collect();
    looked.sort();
    looked.dedup();
    let more = looked.len().saturating_sub(room.max(1));
    looked.truncate(room.max(1));
    let mut words = vec![heading.to_owned(), String::new()];
    words.extend(looked.into_iter().map(|(_, words)| words));
    if more > 0 {
        words.push(format!("and {more} more: `overspill stores` lists all"));
    }
    words.into_iter().map(SafeText::from).collect()
}

fn state_in_words(state: &RootState) -> &str {
    match state {
        RootState::Absent => "not there",
        RootState::Listed | RootState::Stopped => "empty",
        RootState::Unset(_) => "its variable is not set",
        RootState::Unreadable(reason) => reason,
    }
}
