//! A record that is being read: how readers note the calls and results in it, and what it does to earlier results.

use jiff::Timestamp;

use super::content::{asked_lines, pieces};
use super::fate::ContextChange;
use super::json::{Json, Kind};
use super::model::{Call, CallResult, DisplayCopy, Evidence, RecordSpan, TextPieces};
use super::reader::RecordPlace;
use super::transcript::Transcript;

/// A record of a conversation; of one that holds several calls or results, the part with one of them.
#[derive(Clone, Copy)]
pub struct RecordEntry<'a> {
    pub record: Json<'a>,
    pub place: RecordPlace<'a>,
    pub at: Option<Timestamp>,
    pub thread: u32,
}

impl<'a> RecordEntry<'a> {
    /// Returns a part of the record, or the whole of which this is one.
    pub fn with(self, record: Json<'a>) -> Self {
        Self { record, ..self }
    }

    pub fn span(self) -> RecordSpan {
        self.place.span(self.record)
    }

    /// Returns a call of the record, which is to be added.
    pub fn call(
        self,
        id: impl Into<Box<str>>,
        tool: &str,
        input: Option<Json>,
        out: &mut Transcript,
    ) -> Call {
        let new = Call::new(id, self.thread, out.tool_id(tool));
        let asked_lines = input.and_then(asked_lines);
        let input = input.map(|input| self.place.span(input));
        Call { input, asked_lines, at: self.at, record: Some(self.span()), ..new }
    }

    /// Adds a call as [`Transcript::add_next_call`] does. Returns its number.
    pub fn add_next_call(
        self,
        id: impl Into<Box<str>>,
        tool: &str,
        input: Option<Json>,
        out: &mut Transcript,
    ) -> u32 {
        let call = self.call(id, tool, input, out);
        out.add_next_call(call)
    }

    /// Adds the call `value` as [`Transcript::add_next_call`] does. The keys are as in [`RecordEntry::add_call_of`]. Returns its
    /// number; `None` without an id.
    pub fn add_next_call_of(self, value: Json, keys: [&str; 3], out: &mut Transcript) -> Option<u32> {
        let [id, tool, input] = keys;
        let id = id_of(value, id, out)?;
        Some(self.add_next_call(id, &value.word(tool), value.get(input), out))
    }

    /// Adds the call `value`, unless there is one of its id; `keys` are those of its id, tool and arguments. Returns its
    /// number; `None` without an id.
    pub fn add_call_of(self, value: Json, keys: [&str; 3], out: &mut Transcript) -> Option<u32> {
        let [id, tool, input] = keys;
        let id = id_of(value, id, out)?;
        let call = self.call(id, &value.word(tool), value.get(input), out);
        Some(out.add_call(call))
    }

    /// Adds what the model got for a call, as the agent's history holds it.
    pub fn add_result(self, content: Option<Json>, call: &mut Call) {
        call.add(self.result(content));
    }

    /// Returns what the model got for a call, as the agent's history holds it.
    pub fn result(self, content: Option<Json>) -> CallResult {
        let pieces = content.map(|content| pieces(content, self.place)).unwrap_or_default();
        CallResult::recorded(pieces, self.at, self.span())
    }

    pub fn add_text(self, evidence: Evidence, pieces: impl Into<TextPieces>, call: &mut Call) {
        let recorded = CallResult::recorded(pieces.into(), self.at, self.span());
        call.add(CallResult { evidence, ..recorded });
    }

    /// Notes a copy of an output for the agent's own screen, if it is a text with anything in it. `most` is as in [`DisplayCopy`].
    pub fn note_copy(self, name: &'static str, copy: Option<Json>, most: Option<u32>, call: &mut Call) {
        let copy = copy.filter(|copy| copy.kind() == Kind::String && !copy.is(""));
        call.display.extend(copy.map(|copy| DisplayCopy::new(name, self.place.span(copy), most)));
    }

    /// Adds a change of the results of some calls by the record, before the next request of its conversation.
    pub fn add_event(
        self,
        change: ContextChange,
        calls: impl IntoIterator<Item = u32>,
        out: &mut Transcript,
    ) {
        out.add_event(change, out.origin(self.thread), calls);
    }
}

/// Returns the id of a call; counts a call whose id is too long to be kept as not readable.
pub fn id_of(value: Json, key: &str, out: &mut Transcript) -> Option<String> {
    let id = value.name(key);
    let is_too_long = id.is_none() && value.get(key).is_some_and(|id| id.kind() == Kind::String);
    out.unread.broken += u64::from(is_too_long);
    id
}
