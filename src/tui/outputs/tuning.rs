//! Which outputs a list of settings or policies is of.

use std::sync::Arc;

use crate::corpus::{Corpus, TuneOutputs, TunePolicies};
use crate::session::reader::SessionFile;
use crate::store::Entry;
use crate::text::label::SafeText;
use crate::text::search::Pattern;
use crate::tui::event::{Message, ScreenEvent};
use crate::tui::list::rows::RowTable;

use super::rows::OutputRow;
use super::{Context, Outputs};

/// How all stored outputs are called.
const ALL: &str = "all stored outputs";

/// What a list of settings or policies opens with.
#[derive(Debug, Clone)]
pub struct TuneStart {
    pub outputs: TuneSource,
    /// Which those are, in words.
    pub place: SafeText,
    pub policies: TunePolicies,
    /// What counts; without it the errors do.
    pub find: Option<Pattern>,
    /// The same outputs once they were listed.
    pub(crate) listed: Option<Arc<Corpus>>,
}

impl TuneStart {
    /// Has outputs judged by their errors.
    pub fn new(outputs: TuneSource, place: impl Into<SafeText>, policies: TunePolicies) -> Self {
        Self { outputs, place: place.into(), policies, find: None, listed: None }
    }
}

/// Where the outputs come from.
#[derive(Debug, Clone)]
pub enum TuneSource {
    /// They were listed, or are to be listed from the stores.
    Listed(TuneOutputs),
    /// They are rows of the list of stored outputs.
    Rows(OutputRows),
    /// They are those of the calls of a session.
    Session(Arc<SessionFile>),
}

impl ScreenEvent for TuneStart {}

/// Some rows of a list, in order; cheap to share with a worker.
#[derive(Debug, Clone)]
pub struct OutputRows {
    all: RowTable<OutputRow>,
    /// The numbers of those rows.
    numbers: Arc<Vec<u32>>,
}

impl OutputRows {
    /// Returns copies of the entries. Takes time that grows with them.
    pub fn to_vec(&self) -> Vec<Entry> {
        self.numbers.iter().map(|row| self.all[*row as usize].entry.clone()).collect()
    }
}

impl Outputs {
    /// Hands on the marked outputs; without marks, those that the filter shows; without a filter, all.
    pub(super) fn tune_outputs(&self, policies: TunePolicies, on: Context) {
        let filter = on.list.filter_text();
        let rows = |numbers| TuneSource::Rows(OutputRows { all: on.list.rows().clone(), numbers });
        let shown = || rows(on.list.order());
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
            _ => (rows(on.list.marked_rows()), "marked".into()),
        };
        on.effects.show(TuneStart::new(outputs, place, policies));
    }
}
