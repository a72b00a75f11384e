//! The history of one agent of Kimi Code, as its records change it: which results the model still has.

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
    pub(super) fn add_message(&mut self, message: Json) {
        let origin = message.object("origin");
        let is_user = message.has("role", "user");
        self.messages.push(match origin.name("kind").as_deref() {
            Some("injection") => Message::Injection,
            Some("compaction_summary") => Message::Summary,
            None | Some("user") if is_user => Message::Prompt,
            Some("skill_activation" | "plugin_command") if is_user && origin.has("trigger", "user-slash") => {
                Message::Prompt
            }
            _ => Message::Other,
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
        let (change, calls) = match &*record.word("type") {
            "context.clear" => (ContextChange::Rewind, self.keep_from(usize::MAX)),
            "context.undo" => (ContextChange::Rewind, self.undo(record.number("count").unwrap_or(0))),
            "context.apply_compaction" => (ContextChange::Compact, self.compact(record)),
            "micro_compaction.apply" => {
                (ContextChange::Clear, self.clear_to(record.number("cutoff").unwrap_or(0)))
            }
            _ => return false,
        };
        event.change = change;
        event.record = Some(place.span(record));
        event.results = out.results_of(calls);
        out.add_event(event);
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
        let kept = record.number("keptUserMessageCount");
        let has_tail = record.get("legacyTail").and_then(|tail| tail.bool()).unwrap_or(kept.is_none());
        let compacted = record.number("compactedCount").or_else(|| record.number("count"));
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
