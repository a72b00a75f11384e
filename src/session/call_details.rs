//! What the records hold of a call besides its result: facts in words, and texts such as its request.

use std::io::{Error, Result, Write};

use crate::base::human::{NamedFact, count, local_time, thousands};
use crate::text::json::{JsonExtent, pretty};

use super::command::command;
use super::examine::CallInspector;
use super::fate::FateEvidence;
use super::model::{Call, CallResult, DisplayCopy, Evidence};
use super::sent::{self, NotSentReason};
use super::text;

/// The longest text that is read, in bytes.
const MAX_TEXT: usize = 1 << 20;

const FIRST: &str = " (its first 1 MiB)";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TitledText {
    pub title: String,
    pub text: Vec<u8>,
}

impl CallInspector<'_> {
    /// Returns who recorded a call: the agent with its version.
    pub(crate) fn recorder(&self, call: &Call) -> String {
        let version = self.transcript.version_of(call).unwrap_or_default();
        format!("{} {version}", self.transcript.agent).trim_end().to_owned()
    }

    /// Returns what is known of a call, by name; `first` is its result by the best evidence.
    pub(crate) fn facts(&self, call: &Call, first: Option<&CallResult>) -> Vec<NamedFact> {
        let transcript = self.transcript;
        let thread = transcript.thread(call).map_or_else(String::new, |thread| thread.name.to_string());
        let later = Some(u64::from(call.later)).filter(|later| *later > 0);
        let time = |at| local_time(at, "%Y-%m-%d %H:%M:%S");
        let mut facts = vec![
            ("evidence", first.map_or("no result was recorded", |first| evidence(first.evidence)).to_owned()),
            ("recorded by", self.recorder(call)),
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

    /// Reads the record, the arguments, the request and the display copies of a call, as far as there are any.
    pub(crate) fn texts(&self, call: &Call) -> Vec<TitledText> {
        let record = call.first().and_then(|first| first.record).or(call.record);
        let spans = [("Record", record), ("Arguments", call.input)];
        let spans = spans.into_iter().filter_map(|(name, span)| {
            let span = span?;
            let read = self.transcript.read(span, MAX_TEXT as u64);
            let is_first = read.as_ref().is_ok_and(|bytes| (bytes.len() as u64) < span.len());
            let (text, part) = json_text(read, is_first);
            Some(TitledText { title: format!("{name}{part}"), text })
        });
        let displays = call.display.iter().map(|copy| self.display(copy));
        spans.chain(self.request(call)).chain(displays).collect()
    }

    fn display(&self, copy: &DisplayCopy) -> TitledText {
        let read = text::to_text(self.transcript, std::slice::from_ref(&copy.text), MAX_TEXT);
        let part = if read.as_ref().is_ok_and(|(_, facts)| facts.is_stopped) { FIRST } else { "" };
        let title =
            format!("Other text{part}: {}, a copy for the screen, which the model never got", copy.name);
        let text = read.map_or_else(|error| unreadable(&error), |(text, _)| text.into_bytes());
        TitledText { title, text }
    }

    /// Returns the request that first carried the result, if the records hold requests.
    fn request(&self, call: &Call) -> Option<TitledText> {
        let request = match sent::request_of(self.transcript, call) {
            Ok(request) => request,
            Err(NotSentReason::NoRequests | NotSentReason::NotCarried) => return None,
            Err(fault) => {
                let title = "Request".to_owned();
                return Some(TitledText { title, text: fault.to_string().into_bytes() });
            }
        };
        let mut first = FirstBytes::new(MAX_TEXT);
        let written = sent::write_request(self.transcript, &request, &mut first);
        let (text, part) = json_text(written.map(|_| first.bytes), first.is_more);
        let messages = count(request.messages.len() as u64, "message");
        let title = format!("Request{part}: {messages}, the first that carried the result");
        Some(TitledText { title, text })
    }
}

fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Sent => "sent: the request that carried it is in the records",
        Evidence::Recorded => "recorded: the agent's history holds it",
        Evidence::Rendered => "rendered: recorded, with what the agent is known to add when it sends it",
    }
}

/// Says whether the model still has the result, `cleared at request 12`, and how that is known if it is not recorded.
fn still_has(first: &CallResult) -> String {
    let state = first.context.describe().replace("since ", "").replace('#', "at request ");
    match first.context.evidence {
        FateEvidence::Sent | FateEvidence::Recorded => state,
        evidence => format!("{state} ({})", evidence.as_str().replace('-', " ")),
    }
}

/// Lays JSON out, and returns what its title adds if this is only the beginning; what is not JSON stays as it is.
fn json_text(read: Result<Vec<u8>>, is_first: bool) -> (Vec<u8>, &'static str) {
    let (extent, part) = if is_first { (JsonExtent::Beginning, FIRST) } else { (JsonExtent::Whole, "") };
    let text = match read {
        Ok(bytes) => pretty(&bytes, extent).map_or(bytes, |(text, _)| text),
        Err(error) => unreadable(&error),
    };
    (text, part)
}

fn unreadable(error: &Error) -> Vec<u8> {
    format!("the records cannot be read: {error}").into_bytes()
}

/// Keeps the first bytes that are written to it, up to a number.
#[derive(Debug)]
pub(crate) struct FirstBytes {
    pub bytes: Vec<u8>,
    max: usize,
    pub is_more: bool,
}

impl FirstBytes {
    pub(crate) fn new(max: usize) -> Self {
        Self { bytes: Vec::new(), max, is_more: false }
    }
}

impl Write for FirstBytes {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let room = self.max - self.bytes.len();
        self.bytes.extend(&bytes[..bytes.len().min(room)]);
        self.is_more |= bytes.len() > room;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;
    use crate::session::fate::{ContextChange, ContextState};

    #[test]
    fn still_has_names_the_request() {
        let mut result = CallResult {
            evidence: Evidence::Recorded,
            pieces: Default::default(),
            at: None,
            context: ContextState::default(),
            record: None,
        };
        assert_eq!(still_has(&result), "yes");
        result.context.since = NonZero::new(26);
        for (change, words) in [
            (ContextChange::Clear, "cleared at request 26"),
            (ContextChange::Compact, "in summary at request 26"),
            (ContextChange::Replace, "edited at request 26"),
        ] {
            result.context.change = change;
            assert_eq!(still_has(&result), words);
        }
        result.context.evidence = FateEvidence::ByRule;
        assert_eq!(still_has(&result), "edited at request 26 (by rule)");
    }
}
