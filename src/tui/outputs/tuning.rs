//! Which outputs the list hands to the Tune view.

use std::sync::Arc;

use crate::corpus::{TuneOutputs, TunePolicies};
use crate::human::count;
use crate::store::Entry;
use crate::text::label::SafeText;
use crate::text::search::Pattern;
use crate::tui::event::{Message, ScreenEvent};
use crate::tui::list::rows::RowTable;

use super::rows::OutputRow;
use super::{Context, Outputs};

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
    Shown(ShownOutputs),
    /// They are marked in the list of stored outputs.
    Marked(Vec<Entry>),
}

impl ScreenEvent for TuneStart {}

/// The outputs of a list, in its order; cheap to share with a worker.
#[derive(Debug, Clone)]
pub struct ShownOutputs {
    rows: RowTable<OutputRow>,
    order: Arc<Vec<u32>>,
}

impl ShownOutputs {
    /// Returns copies of the entries. Takes time that grows with them.
    pub fn to_vec(&self) -> Vec<Entry> {
        self.order.iter().map(|row| self.rows[*row as usize].entry.clone()).collect()
    }
}

impl Outputs {
    /// Hands on the marked outputs; without marks, those that the filter shows; without a filter, all.
    pub(super) fn tune_outputs(&self, policies: TunePolicies, on: Context) {
        let filter = on.list.filter_text();
        let shown =
            || TuneSource::Shown(ShownOutputs { rows: on.list.rows().clone(), order: on.list.order() });
        let (outputs, place) = match (on.list.marked(), filter, on.list.is_empty()) {
            (0, "", is_none) => {
                // The list may not be complete yet, and then all are listed again.
                let is_known = !is_none && self.has_looked;
                let all = || TuneSource::Listed(TuneOutputs::Stored(None));
                (if is_known { shown() } else { all() }, ALL.into())
            }
            (0, _, true) => {
                *on.message = Some(Message::note("no outputs are shown, so there is nothing to measure"));
                return;
            }
            (0, filter, false) => (shown(), SafeText::from(format!("filter: {filter}"))),
            _ => {
                let marked: Vec<Entry> =
                    on.list.marked_or_chosen().into_iter().map(|row| row.entry.clone()).collect();
                let place = count(marked.len() as u64, "marked output").into();
                (TuneSource::Marked(marked), place)
            }
        };
        on.effects.show(TuneStart { outputs, place, policies, find: None });
    }
}
