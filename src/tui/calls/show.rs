//! Prepares a recorded call to be shown: its text, the output that it was cut from, and its other texts.

use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::human::{count, thousands};
use crate::session::citing::CitingCall;
use crate::session::command::{command, one_line};
use crate::session::examine::Paths;
use crate::session::fate::FateEvidence;
use crate::session::model::{Call, CallResult, CutState, DisplayCopy, Evidence, RecordSpan};
use crate::session::sent::{self, NotSent};
use crate::session::spill::SpillState;
use crate::session::text;
use crate::session::verify::{Verdict, WholeOutput, whole_display};
use crate::source::MapView;
use crate::text::pretty::{JsonExtent, pretty};
use crate::tui::event::{Event, Message};
use crate::tui::recorded::{CallFacts, OutputPlace, ReadyCall, RecordedCall, RestOfOutput, TitledText};

use super::held::{HeldSession, exit_code};
use super::rows::CallsEvent;

/// The longest result that is shown, in bytes.
const LONGEST: usize = 16 << 20;

/// The longest record, display copy, argument or request that is shown, in bytes.
const LONGEST_TEXT: usize = 1 << 20;

/// What the title of a longer one says.
const FIRST: &str = " (its first 1 MiB)";

/// Outputs up to this many bytes are compared before the call is shown; others while it is shown.
const COMPARED_FIRST: u64 = 4 << 20;

/// Why a spill is not opened that lies where the records claim it to be.
const OUTSIDE: &str = "its spill is in no known store, and is not opened unasked";

/// Prepares a call, and sends it.
pub(crate) fn show(held: &HeldSession, index: usize, paths: Paths) {
    match ready(held, index, paths) {
        Ok(ready) => held.context.send(CallsEvent::Ready(Box::new(ready))),
        Err(words) => held.context.send(Event::Told(Message::note(words))),
    };
}

fn ready(held: &HeldSession, index: usize, paths: Paths) -> Result<ReadyCall, String> {
    let call = held.transcript.calls.get(index).ok_or("the call is gone from the records")?;
    let best = sent::best(held.transcript, call);
    let first = best.first().ok_or("no result of this call was recorded")?;
    let (text, facts) = text::to_text(held.transcript, &first.pieces, LONGEST)
        .map_err(|error| format!("the records cannot be read: {error}"))?;
    if facts.is_stopped {
        return Err(format!("the result is over {} MB, too long to be shown", LONGEST >> 20));
    }
    let (place, rest) = output(held, call, &text, paths)?;
    let claim = match held.examiner.spill(held.file, call) {
        Some(SpillState::Here(path)) if rest == RestOfOutput::Missing(OUTSIDE) => Some(path),
        _ => None,
    };
    let is_quick = held.examiner.whole_bytes(held.file, call).is_none_or(|bytes| bytes <= COMPARED_FIRST);
    let check = held.verdict(index).or_else(|| is_quick.then(|| held.compare(index, call)));
    let policy = match &check {
        Some(Verdict::Equal { policy, .. }) => Some(policy.clone()),
        Some(Verdict::Differs(difference)) if !difference.policy.is_empty() => {
            Some(difference.policy.clone())
        }
        _ => None,
    };
    let tool = held.transcript.tool(call);
    Ok(ReadyCall {
        name: format!("{tool}: {}", one_line(&command(held.transcript, call))),
        agent: held.transcript.agent,
        policy: policy.map(|policy| policy.split(' ').next().unwrap_or_default().to_owned()),
        exit_code: exit_code(call),
        saved_as: call.cites.first().map(|cite| cite.path.to_string_lossy().into_owned()),
        place,
        recorded: Box::new(RecordedCall {
            index,
            call: CitingCall {
                file: held.file.clone(),
                call: call.id.to_string(),
                command: command(held.transcript, call),
            },
            notices: match rest {
                RestOfOutput::Missing(_) => {
                    held.examiner.added_in(held.transcript, (call, first), &text).into()
                }
                _ => Arc::default(),
            },
            text: text.into(),
            evidence: first.evidence,
            by: recorder(held),
            rest,
            claim,
            check,
            facts: facts_of(held, call, Some(first)),
            texts: None,
        }),
    })
}

/// Returns where the whole output is, and what is left of it.
fn output(
    held: &HeldSession,
    call: &Call,
    text: &str,
    paths: Paths,
) -> Result<(OutputPlace, RestOfOutput), String> {
    let spill = held.examiner.spill(held.file, call);
    let is_cut = call.is_cut();
    if let Some(SpillState::Here(path)) = &spill
        && is_cut
        && (paths == Paths::Any || held.examiner.is_known(held.file, path))
    {
        return Ok((OutputPlace::File(path.clone()), RestOfOutput::Here));
    }
    let memory = |bytes: &[u8]| {
        let view = MapView::of_bytes(bytes).map_err(|error| format!("no memory for the text: {error}"));
        view.map(OutputPlace::Memory)
    };
    if let Some(WholeOutput::Display(bytes)) = whole_display(held.transcript, call).filter(|_| is_cut) {
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
fn recorder(held: &HeldSession) -> String {
    let version = held.transcript.facts.version.as_deref().unwrap_or_default();
    format!("{} {version}", held.transcript.agent).trim_end().to_owned()
}

fn facts_of(held: &HeldSession, call: &Call, first: Option<&CallResult>) -> Vec<(&'static str, String)> {
    let transcript = held.transcript;
    let time =
        |at: jiff::Timestamp| at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string();
    let thread = transcript.thread(call).map_or_else(String::new, |thread| thread.name.to_string());
    let later = (call.results.len() as u64).checked_sub(1).filter(|later| *later > 0);
    let mut facts = vec![
        ("evidence", first.map_or("no result was recorded", |first| evidence(first.evidence)).to_owned()),
        ("recorded by", recorder(held)),
        ("session", held.file.id.clone()),
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

/// Reads what the records hold of a call besides its result, and sends it.
pub(crate) fn facts(held: &HeldSession, index: usize) {
    let Some(call) = held.transcript.calls.get(index) else { return };
    let best = sent::best(held.transcript, call);
    let record = call.first().and_then(|first| first.record).or(call.record);
    let spans = [("Record", record), ("Arguments", call.input)];
    let spans = spans.into_iter().filter_map(|(name, span)| Some(record_text(held, name, span?)));
    let displays = call.display.iter().map(|copy| display(held, copy));
    let texts = spans.chain(request(held, call)).chain(displays).collect();
    let facts = CallFacts { facts: facts_of(held, call, best.first()), texts };
    held.context.send(CallsEvent::Facts(index, Box::new(facts)));
}

fn unreadable(error: &std::io::Error) -> Vec<u8> {
    format!("the records cannot be read: {error}").into_bytes()
}

fn display(held: &HeldSession, copy: &DisplayCopy) -> TitledText {
    let read = text::to_text(held.transcript, std::slice::from_ref(&copy.text), LONGEST_TEXT);
    let part = if read.as_ref().is_ok_and(|(_, facts)| facts.is_stopped) { FIRST } else { "" };
    let title = format!("Other text{part}: {}, a copy for the screen, which the model never got", copy.name);
    TitledText { title, text: read.map_or_else(|error| unreadable(&error), |(text, _)| text.into_bytes()) }
}

/// Returns the request that first carried the result, if the records hold requests.
fn request(held: &HeldSession, call: &Call) -> Option<TitledText> {
    let request = match sent::request_of(held.transcript, call) {
        Ok(request) => request,
        Err(NotSent::NoRequests | NotSent::NotCarried) => return None,
        Err(fault) => {
            let title = "Request".to_owned();
            return Some(TitledText { title, text: fault.to_string().into_bytes() });
        }
    };
    let mut first = FirstBytes { bytes: Vec::new(), is_more: false };
    let written = sent::write_request(held.transcript, &request, &mut first);
    let extent = if first.is_more { JsonExtent::Beginning } else { JsonExtent::Whole };
    let part = if first.is_more { FIRST } else { "" };
    let messages = count(request.messages.len() as u64, "message");
    let title = format!("Request{part}: {messages}, the first that carried the result");
    let text = match written {
        Ok(_) => pretty(&first.bytes, extent).map_or(first.bytes, |pretty| pretty.text),
        Err(error) => unreadable(&error),
    };
    Some(TitledText { title, text })
}

/// Keeps the first bytes that are written to it.
struct FirstBytes {
    bytes: Vec<u8>,
    is_more: bool,
}

impl std::io::Write for FirstBytes {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let room = LONGEST_TEXT - self.bytes.len();
        self.bytes.extend(&bytes[..bytes.len().min(room)]);
        self.is_more |= bytes.len() > room;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Reads a record; a value that is not JSON is shown as it is.
fn record_text(held: &HeldSession, name: &str, span: RecordSpan) -> TitledText {
    let read = held.transcript.read(span, LONGEST_TEXT as u64);
    let is_first = read.as_ref().is_ok_and(|bytes| (bytes.len() as u64) < span.len());
    let (extent, part) = if is_first { (JsonExtent::Beginning, FIRST) } else { (JsonExtent::Whole, "") };
    let text = match read {
        Ok(bytes) => pretty(&bytes, extent).map_or(bytes, |pretty| pretty.text),
        Err(error) => unreadable(&error),
    };
    TitledText { title: format!("{name}{part}"), text }
}
