//! The session that is open: what a worker finds out about its calls, and how one is prepared to be shown with its text, the
//! output that it was cut from, and its other texts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::session::citing::CitingCall;
use crate::session::command::{command, one_line};
use crate::session::examine::{CallInspector, OUTSIDE, Paths, RestOfOutput};
use crate::session::model::Call;
use crate::session::spill::SpillState;
use crate::session::tally::length;
use crate::session::text;
use crate::session::verify::Verdict;
use crate::text::label::SafeText;
use crate::tui::event::{Event, Message};
use crate::tui::job::JobContext;
use crate::tui::recorded::{CallFacts, ReadyCall, RecordedCall};

use super::lost::LostInCall;
use super::rows::CallSizes;
use super::{CallsEvent, CallsReport};

/// The longest result that is shown, in bytes.
const MAX_RESULT: usize = 16 << 20;

/// Outputs up to this many bytes are compared before the call is shown; others while it is shown.
const COMPARED_FIRST: u64 = 4 << 20;

/// The session that is open, and what its calls are examined with.
pub(crate) struct SessionContext<'a> {
    pub of: CallInspector<'a>,
    pub reports: Reports<'a>,
    pub verdicts: &'a Verdicts,
}

/// Reports on the session of this number, as long as it is the one that is open.
#[derive(Clone, Copy)]
pub(crate) struct Reports<'a> {
    pub number: u64,
    pub context: &'a JobContext,
}

impl Reports<'_> {
    /// Sends an event. Returns whether the session is still open.
    pub(super) fn send(&self, event: CallsEvent) -> bool {
        self.context.is_wanted() && self.context.send(CallsReport(self.number, event))
    }
}

/// Verdicts on calls by their numbers, so that opening a call does not compare it twice.
pub(super) type Verdicts = RefCell<BTreeMap<usize, Verdict>>;

impl SessionContext<'_> {
    pub(super) fn size(&self, range: Range<usize>) {
        let sizes = |index: usize| {
            let call = self.of.transcript.calls.get(index)?;
            let spill = self.of.spill(call);
            let command = command(self.of.transcript, call);
            let best = self.of.best(call);
            Some((
                index,
                CallSizes {
                    got: best.first().and_then(|first| length(self.of.transcript, first)),
                    evidence: best.first().map(|first| first.evidence),
                    context: best.first().map(|first| first.context),
                    whole: self.of.whole_bytes(call),
                    spill: spill.as_ref().map(SpillState::as_str),
                    spill_path: spill.as_ref().and_then(SpillState::path).map(Path::to_owned),
                    command: SafeText::from(one_line(&command)),
                    written: command.into(),
                },
            ))
        };
        self.reports.send(CallsEvent::Sized(range.filter_map(sizes).collect()));
    }

    pub(super) fn count_lost(&self, index: usize) {
        let Some(call) = self.of.transcript.calls.get(index).filter(|call| call.is_cut()) else { return };
        let lost = LostInCall::count(&self.of, call, &self.reports.context.services.severities);
        self.reports.send(CallsEvent::Lost(index, lost));
    }

    fn verdict(&self, index: usize) -> Option<Verdict> {
        self.verdicts.borrow().get(&index).cloned()
    }

    fn compare(&self, index: usize, call: &Call) -> Verdict {
        let verdict = self.of.verify(call);
        self.verdicts.borrow_mut().insert(index, verdict.clone());
        verdict
    }

    /// Compares a call with what the policies make, if it was cut.
    pub(super) fn verify(&self, index: usize) {
        let Some(call) = self.of.transcript.calls.get(index).filter(|call| call.is_partial()) else { return };
        let verdict = self.verdict(index).unwrap_or_else(|| self.compare(index, call));
        self.reports.send(CallsEvent::Verified(index, verdict));
    }

    pub(super) fn show(&self, index: usize, paths: Paths) {
        let context = self.reports.context;
        match self.ready(index, paths) {
            Ok(ready) => self.reports.send(CallsEvent::Ready(Box::new(ready))),
            Err(words) => context.is_wanted() && context.send(Event::Told(Message::note(words))),
        };
    }

    fn ready(&self, index: usize, paths: Paths) -> Result<ReadyCall, String> {
        let call = self.of.transcript.calls.get(index).ok_or("the call is gone from the records")?;
        let best = self.of.best(call);
        let first = best.first().ok_or("no result of this call was recorded")?;
        let (text, facts) = text::to_text(self.of.transcript, &first.pieces, MAX_RESULT)
            .map_err(|error| format!("the records cannot be read: {error}"))?;
        if facts.is_stopped {
            return Err(format!("the result is over {} MB, too long to be shown", MAX_RESULT >> 20));
        }
        let (place, rest) =
            self.of.output(call, &text, paths).map_err(|error| format!("no memory for the text: {error}"))?;
        let claim = match self.of.spill(call) {
            Some(SpillState::Here(path)) if rest == RestOfOutput::Missing(OUTSIDE) => Some(path),
            _ => None,
        };
        let is_quick = self.of.whole_bytes(call).is_none_or(|bytes| bytes <= COMPARED_FIRST);
        let check = self.verdict(index).or_else(|| is_quick.then(|| self.compare(index, call)));
        let policy = match &check {
            Some(Verdict::Equal { policy, .. }) => Some(policy.clone()),
            Some(Verdict::Differs(difference)) if !difference.policy.is_empty() => {
                Some(difference.policy.clone())
            }
            _ => None,
        };
        let tool = self.of.transcript.tool(call);
        Ok(ReadyCall {
            name: format!("{tool}: {}", one_line(&command(self.of.transcript, call))),
            agent: self.of.transcript.agent,
            policy: policy.map(|policy| policy.split(' ').next().unwrap_or_default().to_owned()),
            exit_code: call.exit.filter(|code| *code != 0),
            saved_as: call.cites.first().map(|cite| cite.path.to_string_lossy().into_owned()),
            place,
            recorded: Box::new(RecordedCall {
                index,
                call: CitingCall {
                    file: self.of.file.clone(),
                    call: call.id.to_string(),
                    command: command(self.of.transcript, call),
                },
                notices: match rest {
                    RestOfOutput::Missing(_) => self.of.added_in((call, first), &text).into(),
                    _ => Arc::default(),
                },
                text: text.into(),
                evidence: first.evidence,
                by: self.of.recorder(),
                rest,
                claim,
                check,
                facts: self.of.facts(call, Some(first)),
                texts: None,
            }),
        })
    }

    /// Reads what the records hold of a call besides its result, and sends it.
    pub(super) fn facts(&self, index: usize) {
        let Some(call) = self.of.transcript.calls.get(index) else { return };
        let facts = self.of.facts(call, self.of.best(call).first());
        let facts = CallFacts { facts, texts: self.of.texts(call) };
        self.reports.send(CallsEvent::Facts(index, Box::new(facts)));
    }
}
