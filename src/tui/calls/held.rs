//! The session that a worker holds, and what it finds out about its calls.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use crate::session::command::{command, one_line};
use crate::session::examine::Examiner;
use crate::session::model::Call;
use crate::session::reader::SessionFile;
use crate::session::sent;
use crate::session::spill::SpillState;
use crate::session::tally::length;
use crate::session::transcript::Transcript;
use crate::session::verify::Verdict;
use crate::text::label::SafeText;
use crate::tui::job::JobContext;

use super::lost::LostInCall;
use super::rows::{CallSizes, CallsEvent};

/// The session that is open, and what its calls are examined with.
pub(crate) struct HeldSession<'a> {
    pub file: &'a SessionFile,
    pub examiner: &'a Examiner,
    pub transcript: &'a Transcript,
    pub context: &'a JobContext,
    /// What was found of calls that were compared, by their numbers.
    pub verdicts: &'a Verdicts,
}

/// Verdicts on calls by their numbers, so that opening a call does not compare it twice.
pub(crate) type Verdicts = RefCell<BTreeMap<usize, Verdict>>;

impl HeldSession<'_> {
    pub(crate) fn size(&self, range: std::ops::Range<usize>) {
        let sizes = |index: usize| {
            let call = self.transcript.calls.get(index)?;
            let spill = self.examiner.spill(self.file, call);
            let command = command(self.transcript, call);
            let best = sent::best(self.transcript, call);
            Some((
                index,
                CallSizes {
                    got: best.first().and_then(|first| length(self.transcript, first)),
                    evidence: best.first().map(|first| first.evidence),
                    context: best.first().map(|first| first.context),
                    whole: self.examiner.whole_bytes(self.file, call),
                    spill: spill.as_ref().map(SpillState::as_str),
                    spill_path: spill.as_ref().and_then(SpillState::path).map(Path::to_owned),
                    command: SafeText::from(one_line(&command)),
                    written: command.into(),
                },
            ))
        };
        self.context.send(CallsEvent::Sized(range.filter_map(sizes).collect()));
    }

    /// Counts the errors that a call lost, if it was cut.
    pub(crate) fn count_lost(&self, index: usize) {
        let Some(call) = self.transcript.calls.get(index).filter(|call| call.is_cut()) else { return };
        let of = (self.file, self.transcript, call);
        let lost = LostInCall::count(self.examiner, of, &self.context.services.severities);
        self.context.send(CallsEvent::Lost(index, lost));
    }

    /// Returns what was found of a call, if it was compared.
    pub(crate) fn verdict(&self, index: usize) -> Option<Verdict> {
        self.verdicts.borrow().get(&index).cloned()
    }

    /// Compares a call with what the policies make of its output.
    pub(crate) fn compare(&self, index: usize, call: &Call) -> Verdict {
        let verdict = self.examiner.verify(self.file, self.transcript, call);
        self.verdicts.borrow_mut().insert(index, verdict.clone());
        verdict
    }

    /// Compares a call with what the policies make, if it was cut.
    pub(crate) fn verify(&self, index: usize) {
        let call = self.transcript.calls.get(index);
        let Some(call) = call.filter(|call| call.is_partial()) else {
            return;
        };
        let verdict = self.verdict(index).unwrap_or_else(|| self.compare(index, call));
        self.context.send(CallsEvent::Verified(index, verdict));
    }
}

/// Returns the exit status of a command that failed, if it is recorded.
pub(crate) fn exit_code(call: &Call) -> Option<i32> {
    call.exit.filter(|code| *code != 0)
}
