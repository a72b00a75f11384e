//! Prepares a recorded call to be shown: its text, the output that it was cut from, and its other texts.

use std::sync::Arc;

use jiff::tz::TimeZone;

use crate::human::{count, thousands};
use crate::session::command::{command, one_line};
use crate::session::examine::Paths;
use crate::session::fate::FateEvidence;
use crate::session::model::{Call, CallResult, CutState, RecordSpan, TextPiece};
use crate::session::sent;
use crate::session::spill::SpillState;
use crate::session::text;
use crate::session::verify::{Verdict, WholeOutput, whole_display};
use crate::source::MapView;
use crate::text::pretty::{JsonExtent, Pretty, pretty};
use crate::tui::pager::json::JsonLine;
use crate::tui::recorded::{CallText, OutputPlace, ReadyCall, RecordedCall, RestOfOutput};

use super::held::{HeldSession, exit_code};
use super::rows::CallsEvent;

/// The longest result that is shown, in bytes.
const LONGEST: usize = 16 << 20;

/// The longest record, display copy or argument that is shown, in bytes.
const LONGEST_TEXT: usize = 1 << 20;

/// Outputs up to this many bytes are compared before the call is shown; others while it is shown.
const COMPARED_FIRST: u64 = 4 << 20;

/// Why a spill is not opened that lies where the records claim it to be.
const OUTSIDE: &str = "its spill is in no known store, and is not opened unasked";

/// Prepares a call, and sends it.
pub(crate) fn show(held: &HeldSession, index: usize, paths: Paths) {
    let event = match ready(held, index, paths) {
        Ok(ready) => CallsEvent::Ready(Box::new(ready)),
        Err(words) => CallsEvent::Text(Err(words)),
    };
    held.context.send(event);
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
    let version = held.transcript.facts.version.as_deref().unwrap_or_default();
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
            notices: match rest {
                RestOfOutput::Missing(_) => held.examiner.notices_in(&text).into(),
                _ => Arc::default(),
            },
            text: text.into(),
            evidence: first.evidence,
            by: format!("{} {version}", held.transcript.agent).trim_end().to_owned(),
            rest,
            claim,
            check,
            facts: facts_of(held, call, first),
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

fn facts_of(held: &HeldSession, call: &Call, first: &CallResult) -> Vec<(&'static str, String)> {
    let transcript = held.transcript;
    let time =
        |at: jiff::Timestamp| at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string();
    let thread = transcript.thread(call).map_or_else(String::new, |thread| thread.name.to_string());
    let cites = call.cites.iter().map(|cite| ("cites", cite.path.to_string_lossy().into_owned()));
    let later = call.results.len().saturating_sub(1) as u64;
    let still_has = match first.context.evidence {
        FateEvidence::Sent | FateEvidence::Recorded => first.context.describe(),
        evidence => format!("{} ({})", first.context.describe(), evidence.as_str().replace('-', " ")),
    };
    let mut facts = vec![
        ("session", held.file.id.clone()),
        ("call", call.id.to_string()),
        ("command", command(transcript, call)),
        ("thread", thread),
        ("called", call.at.map(time).unwrap_or_default()),
        ("recorded", first.at.map(time).unwrap_or_default()),
        ("status", call.status.as_str().to_owned()),
        ("still has", still_has),
    ];
    if later > 0 {
        facts.push(("later texts", thousands(later)));
    }
    facts.extend(cites);
    facts.retain(|(_, text)| !text.is_empty());
    facts
}

/// Reads a text of a call, and sends it.
pub(crate) fn text(held: &HeldSession, index: usize, wanted: CallText) {
    let line = match held.transcript.calls.get(index) {
        None => Err("the call is gone from the records".to_owned()),
        Some(call) => match wanted {
            CallText::Display => display(held, call),
            CallText::Record => {
                let span = call.first().and_then(|first| first.record).or(call.record);
                record(held, span, "the record")
            }
            CallText::Arguments => record(held, call.input, "the arguments"),
            CallText::Request => request(held, call),
        },
    };
    held.context.send(CallsEvent::Text(line.map(Box::new)));
}

fn display(held: &HeldSession, call: &Call) -> Result<JsonLine, String> {
    let copy = call.display.first().ok_or("the records hold no display copy of this call")?;
    let piece: &TextPiece = &copy.text;
    let (text, facts) = text::to_text(held.transcript, std::slice::from_ref(piece), LONGEST_TEXT)
        .map_err(|error| format!("the records cannot be read: {error}"))?;
    let part = if facts.is_stopped { " (its first 1 MiB)" } else { "" };
    let title = format!("{}{part}: a display copy, which the model never got", copy.name);
    Ok(JsonLine { title, text: text.into_bytes() })
}

fn request(held: &HeldSession, call: &Call) -> Result<JsonLine, String> {
    let request = sent::request_of(held.transcript, call).map_err(|error| error.to_string())?;
    let mut first = FirstBytes { bytes: Vec::new(), is_more: false };
    let written = sent::write_request(held.transcript, &request, &mut first);
    written.map_err(|error| format!("the records cannot be read: {error}"))?;
    let extent = if first.is_more { JsonExtent::Beginning } else { JsonExtent::Whole };
    let part = if first.is_more { " (its first 1 MiB)" } else { "" };
    let messages = count(request.messages.len() as u64, "message");
    let title = format!("the request that carried the result: {messages}{part}, from the agent's log");
    let text = pretty(&first.bytes, extent).map_or(first.bytes, |pretty| pretty.text);
    Ok(JsonLine { title, text })
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

fn record(held: &HeldSession, span: Option<RecordSpan>, name: &str) -> Result<JsonLine, String> {
    let span = span.ok_or_else(|| format!("the records do not hold {name} of this call"))?;
    let bytes = held.transcript.read(span, LONGEST_TEXT as u64);
    let bytes = bytes.map_err(|error| format!("the records cannot be read: {error}"))?;
    let extent = if (bytes.len() as u64) < span.len() { JsonExtent::Beginning } else { JsonExtent::Whole };
    let part = if extent == JsonExtent::Beginning { " (its first 1 MiB)" } else { "" };
    let title = format!("{name} of this call{part}, as the agent wrote it");
    let text = match pretty(&bytes, extent) {
        Ok(Pretty { text, .. }) => text,
        // A value that is not JSON is shown as it is.
        Err(_) => bytes,
    };
    Ok(JsonLine { title, text })
}
