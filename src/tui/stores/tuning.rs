//! Which outputs the list hands to the Tune view.

use crate::human::count;
use crate::store::Entry;
use crate::text::label::SafeText;
use crate::tui::event::Message;

use super::sort::ShownEntries;
use super::{Next, StoresScreen};

/// How all stored outputs are called.
const ALL: &str = "all stored outputs";

/// Stored outputs to be measured.
pub(crate) enum TunedEntries {
    /// All of them.
    All,
    /// Those that the list shows.
    Shown(ShownEntries),
    /// Those that are marked.
    Marked(Vec<Entry>),
}

/// Under what stored outputs are to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TunedBy {
    /// Settings around the limits of the policy that cut most of them.
    Settings,
    /// All policies.
    Policies,
}

impl StoresScreen {
    /// Hands on the marked outputs; without marks, those that the filter shows; without a filter, all.
    pub(crate) fn tune_outputs(&mut self, by: TunedBy) -> Next {
        let listing = &self.listing;
        if listing.marked() > 0 {
            let marked: Vec<Entry> = listing.marked_or_chosen().into_iter().cloned().collect();
            let place = count(marked.len() as u64, "marked output");
            return Next::Tune(TunedEntries::Marked(marked), place.into(), by);
        }
        let filter = listing.filter_text();
        let shown = || TunedEntries::Shown(listing.shown().shown_entries());
        match (filter.is_empty(), listing.shown().is_empty()) {
            // The list may not be complete yet, and then all are listed again.
            (true, is_none) if is_none || !listing.has_looked() => {
                Next::Tune(TunedEntries::All, ALL.into(), by)
            }
            (true, _) => Next::Tune(shown(), ALL.into(), by),
            (false, true) => {
                self.message = Some(Message::note("no outputs are shown, so there is nothing to measure"));
                Next::Stay
            }
            (false, false) => Next::Tune(shown(), SafeText::from(format!("filter: {filter}")), by),
        }
    }
}
