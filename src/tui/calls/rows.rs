//! The rows of the list of calls, and how the worker that holds the session reports them. All texts are safe to show.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::session::fate::ContextState;
use crate::session::model::{CallStatus, CutState, Evidence};
use crate::session::state::copies_in_words;
use crate::session::verify::{Difference, Verdict};
use crate::text::label::SafeText;
use crate::tui::event::ScreenEvent;
use crate::tui::list::column::SlowFigure;
use crate::tui::recorded::{CallFacts, ReadyCall};

use super::lost::LostInCall;

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
    /// The same as it was written.
    pub written: Box<str>,
    /// What the records prove of the result.
    pub evidence: Option<Evidence>,
    /// What became of the result, by the requests too.
    pub context: Option<ContextState>,
}

#[derive(Debug, Clone)]
pub struct CallRow {
    /// The agent's id of the call.
    pub id: SafeText,
    /// Who called: the name of the conversation; empty for the main one.
    pub thread: SafeText,
    pub tool: SafeText,
    pub at: Option<Timestamp>,
    pub status: CallStatus,
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
    /// The errors in the output, if it was cut.
    pub lost: SlowFigure<LostInCall>,
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

    /// Returns what the model still has of the result.
    pub(crate) fn still_has(&self) -> ContextState {
        self.sizes.as_ref().and_then(|sizes| sizes.context).unwrap_or(self.context)
    }

    /// Returns what is left of an output that was cut; `None` if it was not cut, or nobody has looked yet.
    pub(crate) fn left(&self) -> Option<&'static str> {
        let spill = self.sizes.as_ref().map(|sizes| sizes.spill);
        match (self.cut, spill) {
            (CutState::Lost, _) => Some("never saved"),
            (CutState::Spill, Some(Some("here"))) => Some("saved"),
            (CutState::Spill, Some(Some("other"))) => Some("another file"),
            (CutState::Spill, Some(_)) => Some("deleted"),
            _ => None,
        }
    }

    /// Returns the words that matter most about a call, the most important first.
    pub fn state(&self) -> String {
        let differs = self.difference().map(|difference| format!("DIFFERS from {}", difference.policy));
        let status = Some(self.status).filter(|status| *status != CallStatus::Ok);
        let words = [status.map(|status| status.as_str().to_owned()), self.left().map(str::to_owned)];
        let words = differs.into_iter().chain(words.into_iter().flatten());
        words.chain(copies_in_words(self.copies)).collect::<Vec<_>>().join(", ")
    }

    /// Whether the result is not what the policies of the agent make.
    pub(crate) fn differs(&self) -> bool {
        self.difference().is_some()
    }

    fn difference(&self) -> Option<&Difference> {
        match &self.verdict {
            Some(Verdict::Differs(difference)) if difference.fits.is_none() => Some(difference),
            _ => None,
        }
    }

    /// Whether something about the call needs a look: it failed, differs from its policy, or its output is nowhere.
    pub(crate) fn is_bad(&self) -> bool {
        self.status == CallStatus::Failed || self.differs() || self.left().is_some_and(|left| left != "saved")
    }

    /// Returns how much of the output the model got: of its bytes, in percent, below 100; `None` if that is not known.
    pub(crate) fn share(&self) -> Option<u64> {
        let sizes = self.sizes.as_ref()?;
        let (got, whole) = (sizes.got?, sizes.whole?);
        Some((u128::from(got) * 100 / u128::from(whole.max(1))).min(99) as u64)
    }
}

/// A session that was opened.
#[derive(Debug)]
pub struct OpenedCalls {
    /// Its calls, in the order of the records.
    pub rows: Vec<CallRow>,
    pub now: Timestamp,
    /// The agent, with its version.
    pub agent: SafeText,
    /// The session's title; empty if it has none.
    pub title: SafeText,
    /// What of the records was not understood, in words; empty if nothing.
    pub unread: SafeText,
    /// Whether nothing in the records was understood.
    pub is_format_unknown: bool,
}

/// An event for the list of calls.
#[derive(Debug)]
pub enum CallsEvent {
    /// How far the reading of a session is, in percent.
    Reading(u64),
    /// A session was opened, or has grown.
    Opened(Box<OpenedCalls>),
    /// A session cannot be read.
    Failed(SafeText),
    /// The sizes of some calls are known.
    Sized(Vec<(usize, CallSizes)>),
    /// The errors of a call's output were counted; none if the output is not at hand.
    Lost(usize, Option<LostInCall>),
    /// How many other sessions have some of the calls, by the index of the call.
    Copied(Vec<(usize, u64)>),
    /// A call was compared with what the policies make.
    Verified(usize, Verdict),
    /// A call is ready to be shown.
    Ready(Box<ReadyCall>),
    /// What the records hold of the call of this index besides its result.
    Facts(usize, Box<CallFacts>),
}

impl ScreenEvent for CallsEvent {}
