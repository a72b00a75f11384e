//! What the model still has of a result: the events by which an agent takes results out of the context, and the fate of
//! each result that follows from them.

use std::num::NonZero;

use jiff::Timestamp;

use super::fate::{ContextChange, ContextState, FateEvidence, ResultFate};
use super::model::RecordSpan;

/// One result of a transcript.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResultId {
    /// An index into [`super::transcript::Transcript::calls`].
    pub call: u32,
    /// An index into [`super::model::Call::results`].
    pub result: u32,
}

/// A change of the model's context. The events of a transcript, taken in their order, give the fate of each result after
/// the last request; those up to a request give it for that request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextEvent {
    /// What was done.
    pub change: ContextChange,
    /// When.
    pub at: Option<Timestamp>,
    /// The first request of the thread that is made so, 1-based, as [`super::transcript::Transcript::next_request`]
    /// counts; `None` if that is unknown.
    pub request: Option<u32>,
    pub evidence: FateEvidence,
    pub record: Option<RecordSpan>,
    /// The results to which it was done.
    pub results: Vec<ResultId>,
}

impl ContextEvent {
    /// Creates an event that the agent recorded; it has no results yet.
    pub fn recorded(change: ContextChange, at: Option<Timestamp>) -> Self {
        let (request, evidence, record) = (None, FateEvidence::Recorded, None);
        Self { change, at, request, evidence, record, results: Vec::new() }
    }

    /// Returns the state of one of its results after it.
    pub fn applied_to(&self, state: ContextState) -> ContextState {
        let fate = state.fate.after(self.change, self.at);
        if fate == state.fate {
            return state;
        }
        let since = self.request.and_then(NonZero::new).filter(|_| fate != ResultFate::InContext);
        ContextState { fate, evidence: self.evidence, since }
    }
}

#[cfg(test)]
mod tests;
