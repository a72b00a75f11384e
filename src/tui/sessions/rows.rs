//! The rows of the lists of sessions and of calls, as a worker finds them. All texts are safe to show.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;
use unicode_width::UnicodeWidthStr;

use crate::session::fate::ContextState;
use crate::session::list::LIVE;
use crate::session::model::{CallStatus, CutState, Evidence};
use crate::session::reader::SessionFile;
use crate::session::state::{StateLength, copies_in_short, copies_in_words, state_in_words};
use crate::session::tally::CallSums;
use crate::session::verify::Verdict;
use crate::text::label::SafeText;

/// What is known of a figure that takes a while.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SumState<T> {
    /// Nobody asked for it yet.
    #[default]
    Unknown,
    /// A worker is at it.
    Asked,
    Known(T),
    /// It cannot be had.
    Failed,
}

impl<T> SumState<T> {
    /// Returns the figure if it is known.
    pub fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            _ => None,
        }
    }
}

/// What the ends of a session's file say about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionWords {
    /// The agent's version.
    pub version: SafeText,
    /// The project's directory.
    pub project: SafeText,
    /// The title, or the first words of the user.
    pub title: SafeText,
    /// Whether other users of the machine can read the file.
    pub is_open_to_others: bool,
}

/// A session in the list.
#[derive(Debug, Clone)]
pub struct SessionRow {
    /// Where the session is.
    pub file: Arc<SessionFile>,
    pub agent: &'static str,
    /// What the ends of its file say; `None` until they are read.
    pub words: Option<SessionWords>,
    /// The sums over its calls, without those that were copied from a session before it.
    pub sums: SumState<CallSums>,
    /// The sessions from which it may have copied calls.
    pub earlier: Arc<[Arc<SessionFile>]>,
}

impl SessionRow {
    /// Returns when the session was last changed.
    pub fn changed(&self) -> Option<Timestamp> {
        self.file.modified.and_then(|time| Timestamp::try_from(time).ok())
    }

    /// Whether the session was changed in the last minute.
    pub fn is_live(&self, now: Timestamp) -> bool {
        let now = SystemTime::from(now);
        let age = self.file.modified.and_then(|time| now.duration_since(time).ok());
        age.is_some_and(|age| age < LIVE)
    }
}

/// What takes a while to find out about a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallSizes {
    /// The length of what the model first got, in UTF-8 bytes.
    pub got: Option<u64>,
    /// The size of the whole output in bytes, if it is known.
    pub whole: Option<u64>,
    /// What is at the place that its result names: the word of `--json`.
    pub spill: Option<&'static str>,
    /// The spill, if it is there.
    pub spill_path: Option<PathBuf>,
    /// What the call did, in one line.
    pub command: SafeText,
    /// What the records prove of the result.
    pub evidence: Option<Evidence>,
    /// What became of the result, by the requests too.
    pub context: Option<ContextState>,
}

impl CallSizes {
    /// Returns how many bytes of the output the model did not get, if that is known.
    pub fn lost(&self) -> u64 {
        self.whole.unwrap_or(0).saturating_sub(self.got.unwrap_or(0))
    }
}

/// A call in the list.
#[derive(Debug, Clone)]
pub struct CallRow {
    /// The agent's id of the call.
    pub id: SafeText,
    /// Who called: the name of the conversation; empty for the main one.
    pub thread: SafeText,
    pub tool: SafeText,
    /// When the model called.
    pub at: Option<Timestamp>,
    /// How the call ended.
    pub status: CallStatus,
    /// Whether its output was cut.
    pub cut: CutState,
    /// Whether it is a window of a file.
    pub is_window: bool,
    /// What became of the result.
    pub context: ContextState,
    /// What the records say about the result; `None` if there is none.
    pub evidence: Option<Evidence>,
    /// What takes a while to find out.
    pub sizes: Option<CallSizes>,
    /// Whether a policy makes the same text; of calls that were cut.
    pub verdict: Option<Verdict>,
    /// The number of other sessions that have the same call, as far as is known.
    pub copies: u64,
}

impl CallRow {
    /// Whether the model got only a part, so that a policy can be held against it.
    pub fn is_partial(&self) -> bool {
        self.is_window || self.is_cut()
    }

    /// Whether the output was cut.
    pub fn is_cut(&self) -> bool {
        matches!(self.cut, CutState::Spill | CutState::Lost)
    }

    /// Returns the words that matter most about a call.
    pub fn state(&self) -> String {
        self.state_of_length(StateLength::Full)
    }

    /// Returns the same in at most so many columns of the screen, if the short words do.
    pub fn state_within(&self, most: usize) -> String {
        let full = self.state();
        if full.width() <= most { full } else { self.state_of_length(StateLength::Short) }
    }

    fn state_of_length(&self, length: StateLength) -> String {
        let sizes = self.sizes.as_ref();
        // Nobody has looked for the spill yet.
        let is_unseen = self.cut == CutState::Spill && sizes.is_none();
        let cut = if is_unseen { CutState::Unknown } else { self.cut };
        let context = sizes.and_then(|sizes| sizes.context).unwrap_or(self.context);
        let words = state_in_words(cut, sizes.and_then(|sizes| sizes.spill), self.status, context);
        let copies = match length {
            StateLength::Full => copies_in_words(self.copies),
            StateLength::Short => copies_in_short(self.copies),
        };
        words.chain(copies).collect::<Vec<_>>().join(", ")
    }
}
