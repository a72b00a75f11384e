//! The history of one agent of Kimi Code, as its records change it: which results the model still has.

use crate::session::content::name;
use crate::session::context::ContextEvent;
use crate::session::fate::ContextChange;
use crate::session::json::Json;
use crate::session::reader::RecordPlace;
use crate::session::transcript::Transcript;

/// A message of the history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    /// What the person wrote.
    Prompt,
    /// What the agent put in.
    Injection,
    /// What stands for the messages before it.
    Summary,
    /// The result of a call, by its number; small ones are never cleared.
    Result {
        call: u32,
        is_small: bool,
    },
    Other,
}

/// What the model has of one agent's conversation.
#[derive(Debug, Default)]
pub(super) struct WireHistory {
    messages: Vec<Message>,
    /// How many messages from the first on had their results cleared.
    cleared: usize,
    /// Whether a request was begun that is not answered yet.
    is_asked: bool,
}

impl WireHistory {
    /// Adds a message that is no result.
    pub(super) fn add_message(&mut self, message: Option<Json>) {
        let origin = message.and_then(|message| message.get("origin"));
        let is = |value: Option<Json>, text: &str| value.is_some_and(|value| value.is(text));
        let of_origin = |key: &str| origin.and_then(|origin| origin.get(key));
        let is_prompt = match origin.and_then(|origin| name(origin, "kind")).as_deref() {
            None | Some("user") => true,
            Some("skill_activation" | "plugin_command") => is(of_origin("trigger"), "user-slash"),
            Some(_) => false,
        };
        let is_user = is(message.and_then(|message| message.get("role")), "user");
        self.messages.push(match () {
            () if is(of_origin("kind"), "injection") => Message::Injection,
            () if is(of_origin("kind"), "compaction_summary") => Message::Summary,
            () if is_user && is_prompt => Message::Prompt,
            () => Message::Other,
        });
    }

    /// Begins a request, whose answer is one message.
    pub(super) fn ask(&mut self) {
        self.messages.push(Message::Other);
        self.is_asked = true;
    }

    /// Returns whether this is the first sign that the request was answered.
    pub(super) fn is_answered(&mut self) -> bool {
        std::mem::take(&mut self.is_asked)
    }

    pub(super) fn add_result(&mut self, call: u32, is_small: bool) {
        self.messages.push(Message::Result { call, is_small });
    }

    /// Reads a record that changes the history. Returns whether it is one.
    pub(super) fn change(
        &mut self,
        record: Json,
        place: RecordPlace,
        mut event: ContextEvent,
        out: &mut Transcript,
    ) -> bool {
        let (change, calls) = match name(record, "type").unwrap_or_default().as_str() {
            "context.clear" => (ContextChange::Rewind, self.keep_from(usize::MAX)),
            "context.undo" => (ContextChange::Rewind, self.undo(number(record, "count").unwrap_or(0))),
            "context.apply_compaction" => (ContextChange::Compact, self.compact(record)),
            "micro_compaction.apply" => {
                (ContextChange::Clear, self.clear_to(number(record, "cutoff").unwrap_or(0)))
            }
            _ => return false,
        };
        event.change = change;
        event.record = Some(place.span(record));
        event.results = calls.into_iter().flat_map(|call| out.result_ids(call)).collect();
        if !event.results.is_empty() {
            out.events.push(event);
        }
        true
    }

    /// Takes out the messages before one. Returns the calls of the results among them.
    fn keep_from(&mut self, first: usize) -> Vec<u32> {
        self.cleared = 0;
        let end = first.min(self.messages.len());
        calls_of(self.messages.drain(..end))
    }

    /// A summary takes the place of everything, the person's messages apart. Before those were counted, what came after the
    /// first `compactedCount` messages stayed, too.
    fn compact(&mut self, record: Json) -> Vec<u32> {
        let kept = number(record, "keptUserMessageCount");
        let has_tail = record.get("legacyTail").and_then(|tail| tail.bool()).unwrap_or(kept.is_none());
        let compacted = number(record, "compactedCount").or_else(|| number(record, "count"));
        let calls = self.keep_from(compacted.filter(|_| has_tail).unwrap_or(usize::MAX));
        let prompts = if has_tail { 0 } else { kept.unwrap_or(0).min(MAX_PROMPTS) };
        let kept = std::iter::repeat_n(Message::Prompt, prompts).chain([Message::Summary]);
        self.messages.splice(..0, kept);
        calls
    }

    /// Takes back the last `count` of the person's messages, with all that followed but what the agent put in; nothing if
    /// there are not as many after the last summary.
    fn undo(&mut self, count: usize) -> Vec<u32> {
        let after_summary =
            self.messages.iter().enumerate().rev().take_while(|(_, message)| **message != Message::Summary);
        let mut prompts = after_summary.filter(|(_, message)| **message == Message::Prompt);
        let first = count.checked_sub(1).and_then(|before| prompts.nth(before));
        let Some(first) = first.map(|(at, _)| at) else { return Vec::new() };
        let taken = self.messages.split_off(first);
        self.messages.extend(taken.iter().filter(|message| **message == Message::Injection));
        self.cleared = self.cleared.min(self.messages.len());
        calls_of(taken)
    }

    /// Clears the results among the first `cutoff` messages.
    fn clear_to(&mut self, cutoff: usize) -> Vec<u32> {
        let end = cutoff.min(self.messages.len());
        let new = self.messages.get(self.cleared..end).unwrap_or_default().iter().copied();
        self.cleared = self.cleared.max(end);
        calls_of(new.filter(|message| !matches!(message, Message::Result { is_small: true, .. })))
    }
}

/// The most messages of the person that are taken to stay beside a summary: they fill 20,000 tokens.
const MAX_PROMPTS: usize = 20_000;

fn calls_of(messages: impl IntoIterator<Item = Message>) -> Vec<u32> {
    let call = |message| match message {
        Message::Result { call, .. } => Some(call),
        _ => None,
    };
    messages.into_iter().filter_map(call).collect()
}

fn number(record: Json, key: &str) -> Option<usize> {
    record.get(key)?.int()?.try_into().ok()
}
