//! The session that is open: what a worker finds out about its calls, and how one is prepared to be shown with its text, the
//! output that it was cut from, and its other texts.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::human::{count, thousands};
use crate::session::citing::CitingCall;
use crate::session::command::{command, one_line};
use crate::session::examine::{Examiner, Paths};
use crate::session::fate::FateEvidence;
use crate::session::model::{Call, CallResult, CutState, DisplayCopy, Evidence, RecordSpan};
use crate::session::reader::SessionFile;
use crate::session::sent::{self, NotSent};
use crate::session::spill::SpillState;
use crate::session::tally::length;
use crate::session::text;
use crate::session::transcript::Transcript;
use crate::session::verify::{Verdict, WholeOutput, whole_display};
use crate::source::MapView;
use crate::text::label::SafeText;
use crate::text::pretty::{JsonExtent, pretty};
use crate::tui::event::{Event, Message};
use crate::tui::job::JobContext;
use crate::tui::recorded::{CallFacts, OutputPlace, ReadyCall, RecordedCall, RestOfOutput, TitledText};

use super::CallsEvent;
use super::lost::LostInCall;
use super::rows::CallSizes;

/// The longest result that is shown, in bytes.
const MAX_RESULT: usize = 16 << 20;

/// The longest record, display copy, argument or request that is shown, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// What the title of a longer one says.
const FIRST: &str = " (its first 1 MiB)";

/// Outputs up to this many bytes are compared before the call is shown; others while it is shown.
const COMPARED_FIRST: u64 = 4 << 20;

/// Why a spill is not opened that lies where the records claim it to be.
const OUTSIDE: &str = "its spill is in no known store, and is not opened unasked";

/// The session that is open, and what its calls are examined with.
pub(crate) struct SessionContext<'a> {
    pub file: &'a SessionFile,
    pub examiner: &'a Examiner,
    pub transcript: &'a Transcript,
    pub context: &'a JobContext,
    pub verdicts: &'a Verdicts,
}

/// Verdicts on calls by their numbers, so that opening a call does not compare it twice.
pub(super) type Verdicts = RefCell<BTreeMap<usize, Verdict>>;

impl SessionContext<'_> {
    pub(super) fn size(&self, range: Range<usize>) {
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

    pub(super) fn count_lost(&self, index: usize) {
        let Some(call) = self.transcript.calls.get(index).filter(|call| call.is_cut()) else { return };
        let of = (self.file, self.transcript, call);
        let lost = LostInCall::count(self.examiner, of, &self.context.services.severities);
        self.context.send(CallsEvent::Lost(index, lost));
    }

    fn verdict(&self, index: usize) -> Option<Verdict> {
        self.verdicts.borrow().get(&index).cloned()
    }

    fn compare(&self, index: usize, call: &Call) -> Verdict {
        let verdict = self.examiner.verify(self.file, self.transcript, call);
        self.verdicts.borrow_mut().insert(index, verdict.clone());
        verdict
    }

    /// Compares a call with what the policies make, if it was cut.
    pub(super) fn verify(&self, index: usize) {
        let Some(call) = self.transcript.calls.get(index).filter(|call| call.is_partial()) else { return };
        let verdict = self.verdict(index).unwrap_or_else(|| self.compare(index, call));
        self.context.send(CallsEvent::Verified(index, verdict));
    }

    pub(super) fn show(&self, index: usize, paths: Paths) {
        match self.ready(index, paths) {
            Ok(ready) => self.context.send(CallsEvent::Ready(Box::new(ready))),
            Err(words) => self.context.send(Event::Message(Message::note(words))),
        };
    }

    fn ready(&self, index: usize, paths: Paths) -> Result<ReadyCall, String> {
        let call = self.transcript.calls.get(index).ok_or("the call is gone from the records")?;
        let best = sent::best(self.transcript, call);
        let first = best.first().ok_or("no result of this call was recorded")?;
        let (text, facts) = text::to_text(self.transcript, &first.pieces, MAX_RESULT)
            .map_err(|error| format!("the records cannot be read: {error}"))?;
        if facts.is_stopped {
            return Err(format!("the result is over {} MB, too long to be shown", MAX_RESULT >> 20));
        }
        let (place, rest) = self.output(call, &text, paths)?;
        let claim = match self.examiner.spill(self.file, call) {
            Some(SpillState::Here(path)) if rest == RestOfOutput::Missing(OUTSIDE) => Some(path),
            _ => None,
        };
        let is_quick = self.examiner.whole_bytes(self.file, call).is_none_or(|bytes| bytes <= COMPARED_FIRST);
        let check = self.verdict(index).or_else(|| is_quick.then(|| self.compare(index, call)));
        let policy = match &check {
            Some(Verdict::Equal { policy, .. }) => Some(policy.clone()),
            Some(Verdict::Differs(difference)) if !difference.policy.is_empty() => {
                Some(difference.policy.clone())
            }
            _ => None,
        };
        let tool = self.transcript.tool(call);
        Ok(ReadyCall {
            name: format!("{tool}: {}", one_line(&command(self.transcript, call))),
            agent: self.transcript.agent,
            policy: policy.map(|policy| policy.split(' ').next().unwrap_or_default().to_owned()),
            exit_code: call.exit.filter(|code| *code != 0),
            saved_as: call.cites.first().map(|cite| cite.path.to_string_lossy().into_owned()),
            place,
            recorded: Box::new(RecordedCall {
                index,
                call: CitingCall {
                    file: self.file.clone(),
                    call: call.id.to_string(),
                    command: command(self.transcript, call),
                },
                notices: match rest {
                    RestOfOutput::Missing(_) => {
                        self.examiner.added_in(self.transcript, (call, first), &text).into()
                    }
                    _ => Arc::default(),
                },
                text: text.into(),
                evidence: first.evidence,
                by: self.recorder(),
                rest,
                claim,
                check,
                facts: self.facts_of(call, Some(first)),
                texts: None,
            }),
        })
    }

    /// Returns where the whole output is, and what is left of it.
    fn output(&self, call: &Call, text: &str, paths: Paths) -> Result<(OutputPlace, RestOfOutput), String> {
        let spill = self.examiner.spill(self.file, call);
        let is_cut = call.is_cut();
        if let Some(SpillState::Here(path)) = &spill
            && is_cut
            && (paths == Paths::Any || self.examiner.is_known(self.file, path))
        {
            return Ok((OutputPlace::File(path.clone()), RestOfOutput::Here));
        }
        let memory = |bytes: &[u8]| {
            let view = MapView::of_bytes(bytes).map_err(|error| format!("no memory for the text: {error}"));
            view.map(OutputPlace::Memory)
        };
        if let Some(WholeOutput::Display(bytes)) = whole_display(self.transcript, call).filter(|_| is_cut) {
            return Ok((memory(&bytes)?, RestOfOutput::Here));
        }
        let rest = match (call.cut, spill) {
            (CutState::Lost, _) => RestOfOutput::Missing("the agent cut it and never kept the rest"),
            (CutState::Spill, Some(SpillState::Here(_))) => RestOfOutput::Missing(OUTSIDE),
            (CutState::Spill, Some(SpillState::Other(_))) => {
                RestOfOutput::Missing("another file is where its spill was")
            }
            (CutState::Spill, _) => RestOfOutput::Missing("its spill was deleted since"),
            (CutState::No | CutState::Unknown, _) => RestOfOutput::NotCut,
        };
        Ok((memory(text.as_bytes())?, rest))
    }

    /// Returns who recorded the session: the agent with its version.
    fn recorder(&self) -> String {
        let version = self.transcript.facts.version.as_deref().unwrap_or_default();
        format!("{} {version}", self.transcript.agent).trim_end().to_owned()
    }

    fn facts_of(&self, call: &Call, first: Option<&CallResult>) -> Vec<(&'static str, String)> {
        let transcript = self.transcript;
        let time =
            |at: jiff::Timestamp| at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string();
        let thread = transcript.thread(call).map_or_else(String::new, |thread| thread.name.to_string());
        let later = (call.results.len() as u64).checked_sub(1).filter(|later| *later > 0);
        let mut facts = vec![
            ("evidence", first.map_or("no result was recorded", |first| evidence(first.evidence)).to_owned()),
            ("recorded by", self.recorder()),
            ("session", self.file.id.clone()),
            ("call", call.id.to_string()),
            ("command", command(transcript, call)),
            ("thread", thread),
            ("called", call.at.map(time).unwrap_or_default()),
            ("recorded", first.and_then(|first| first.at).map(time).unwrap_or_default()),
            ("status", call.status.as_str().to_owned()),
            ("still has", first.map(still_has).unwrap_or_default()),
            ("later texts", later.map(thousands).unwrap_or_default()),
        ];
        facts.extend(call.cites.iter().map(|cite| ("cites", cite.path.to_string_lossy().into_owned())));
        facts.retain(|(_, text)| !text.is_empty());
        facts
    }

    /// Reads what the records hold of a call besides its result, and sends it.
    pub(super) fn facts(&self, index: usize) {
        let Some(call) = self.transcript.calls.get(index) else { return };
        let best = sent::best(self.transcript, call);
        let record = call.first().and_then(|first| first.record).or(call.record);
        let spans = [("Record", record), ("Arguments", call.input)];
        let spans = spans.into_iter().filter_map(|(name, span)| Some(self.record_text(name, span?)));
        let displays = call.display.iter().map(|copy| self.display(copy));
        let texts = spans.chain(self.request(call)).chain(displays).collect();
        let facts = CallFacts { facts: self.facts_of(call, best.first()), texts };
        self.context.send(CallsEvent::Facts(index, Box::new(facts)));
    }

    fn display(&self, copy: &DisplayCopy) -> TitledText {
        let read = text::to_text(self.transcript, std::slice::from_ref(&copy.text), MAX_TEXT);
        let part = if read.as_ref().is_ok_and(|(_, facts)| facts.is_stopped) { FIRST } else { "" };
        let title =
            format!("Other text{part}: {}, a copy for the screen, which the model never got", copy.name);
        TitledText {
            title,
            text: read.map_or_else(|error| unreadable(&error), |(text, _)| text.into_bytes()),
        }
    }

    /// Returns the request that first carried the result, if the records hold requests.
    fn request(&self, call: &Call) -> Option<TitledText> {
        let request = match sent::request_of(self.transcript, call) {
            Ok(request) => request,
            Err(NotSent::NoRequests | NotSent::NotCarried) => return None,
            Err(fault) => {
                let title = "Request".to_owned();
                return Some(TitledText { title, text: fault.to_string().into_bytes() });
            }
        };
        let mut first = FirstBytes { bytes: Vec::new(), is_more: false };
        let written = sent::write_request(self.transcript, &request, &mut first);
        let (text, part) = json_text(written.map(|_| first.bytes), first.is_more);
        let messages = count(request.messages.len() as u64, "message");
        let title = format!("Request{part}: {messages}, the first that carried the result");
        Some(TitledText { title, text })
    }

    fn record_text(&self, name: &str, span: RecordSpan) -> TitledText {
        let read = self.transcript.read(span, MAX_TEXT as u64);
        let is_first = read.as_ref().is_ok_and(|bytes| (bytes.len() as u64) < span.len());
        let (text, part) = json_text(read, is_first);
        TitledText { title: format!("{name}{part}"), text }
    }
}

fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Sent => "sent: the request that carried it is in the records",
        Evidence::Recorded => "recorded: the agent's history holds it",
        Evidence::Rendered => "rendered: recorded, with what the agent is known to add when it sends it",
    }
}

/// Says whether the model still has the result, and how that is known if it is not recorded.
fn still_has(first: &CallResult) -> String {
    match first.context.evidence {
        FateEvidence::Sent | FateEvidence::Recorded => first.context.describe(),
        evidence => format!("{} ({})", first.context.describe(), evidence.as_str().replace('-', " ")),
    }
}

/// Lays JSON out, and returns what its title adds if this is only the beginning; what is not JSON stays as it is.
fn json_text(read: std::io::Result<Vec<u8>>, is_first: bool) -> (Vec<u8>, &'static str) {
    let (extent, part) = if is_first { (JsonExtent::Beginning, FIRST) } else { (JsonExtent::Whole, "") };
    let text = match read {
        Ok(bytes) => pretty(&bytes, extent).map_or(bytes, |pretty| pretty.text),
        Err(error) => unreadable(&error),
    };
    (text, part)
}

fn unreadable(error: &std::io::Error) -> Vec<u8> {
    format!("the records cannot be read: {error}").into_bytes()
}

/// Keeps the first bytes that are written to it.
struct FirstBytes {
    bytes: Vec<u8>,
    is_more: bool,
}

impl std::io::Write for FirstBytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = MAX_TEXT - self.bytes.len();
        self.bytes.extend(&bytes[..bytes.len().min(room)]);
        self.is_more |= bytes.len() > room;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
