//! Which outputs the list hands to the Tune view.

use crate::human::count;
use crate::store::Entry;
use crate::text::label::SafeText;
use crate::tui::event::Message;

use super::sort::ShownEntries;
use super::{Next, StoresScreen};

/// Stored outputs to be measured.
pub(crate) enum TunedEntries {
    /// All of them.
    All,
    /// Those that the list shows.
    Shown(ShownEntries),
    /// Those that are marked.
    Marked(Vec<Entry>),
}

impl StoresScreen {
    /// Hands on the marked outputs; without marks, those that the filter shows; without a filter, all.
    pub(crate) fn to_tune(&mut self) -> Next {
        let listing = &self.listing;
        if listing.marked() > 0 {
            let marked: Vec<Entry> = listing.marked_or_chosen().into_iter().cloned().collect();
            let place = count(marked.len() as u64, "marked output");
            return Next::Tune(TunedEntries::Marked(marked), place.into());
        }
        let filter = listing.filter_text();
        match filter.is_empty() {
            // The list may not be complete yet, and then all are listed again.
            true if !listing.has_looked() || listing.shown().is_empty() => {
                Next::Tune(TunedEntries::All, "all stored outputs".into())
            }
            true => {
                Next::Tune(TunedEntries::Shown(listing.shown().shown_entries()), "all stored outputs".into())
            }
            false if listing.shown().is_empty() => {
                self.message = Some(Message::note("no outputs are shown, so there is nothing to measure"));
                Next::Stay
            }
            false => {
                let place = SafeText::from(format!("filter: {filter}"));
                Next::Tune(TunedEntries::Shown(listing.shown().shown_entries()), place)
            }
        }
    }
}
