//! Which outputs the list hands to the Tune view.

use crate::corpus::{TuneOutputs, TunePolicies};
use crate::human::count;
use crate::store::Entry;
use crate::text::label::SafeText;
use crate::text::search::Pattern;
use crate::tui::event::{Message, ScreenEvent};
use crate::tui::screen::Effects;

use super::StoresScreen;
use super::sort::ShownEntries;

/// How all stored outputs are called.
const ALL: &str = "all stored outputs";

/// What the Tune view opens with.
#[derive(Debug, Clone)]
pub struct TuneStart {
    pub outputs: TuneSource,
    /// Which those are, in words.
    pub place: SafeText,
    pub policies: TunePolicies,
    /// What counts as a find; without it the errors do.
    pub find: Option<Pattern>,
}

/// Where the outputs come from.
#[derive(Debug, Clone)]
pub enum TuneSource {
    /// They were listed, or are to be listed from the stores.
    Listed(TuneOutputs),
    /// The list of stored outputs shows them.
    Shown(ShownEntries),
    /// They are marked in the list of stored outputs.
    Marked(Vec<Entry>),
}

impl ScreenEvent for TuneStart {}

impl StoresScreen {
    /// Hands on the marked outputs; without marks, those that the filter shows; without a filter, all.
    pub(crate) fn tune_outputs(&mut self, policies: TunePolicies, effects: &mut Effects) {
        let listing = &self.listing;
        let filter = listing.filter_text();
        let shown = || TuneSource::Shown(listing.shown().shown_entries());
        let (outputs, place) = match (listing.marked(), filter, listing.shown().is_empty()) {
            (0, "", is_none) => {
                // The list may not be complete yet, and then all are listed again.
                let is_known = !is_none && listing.has_looked();
                let all = || TuneSource::Listed(TuneOutputs::Stored(None));
                (if is_known { shown() } else { all() }, ALL.into())
            }
            (0, _, true) => {
                self.message = Some(Message::note("no outputs are shown, so there is nothing to measure"));
                return;
            }
            (0, filter, false) => (shown(), SafeText::from(format!("filter: {filter}"))),
            _ => {
                let marked: Vec<Entry> = listing.marked_or_chosen().into_iter().cloned().collect();
                let place = count(marked.len() as u64, "marked output").into();
                (TuneSource::Marked(marked), place)
            }
        };
        effects.show(TuneStart { outputs, place, policies, find: None });
    }
}
