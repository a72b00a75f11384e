//! Codex's records, in all three forms: calls, results, and what became of them.

use std::collections::HashSet;

use jiff::Timestamp;

use crate::session::clock;
use crate::session::content::{first_text, is_type, name, pieces, text};
use crate::session::json::{Json, Kind};
use crate::session::model::{
    Call, CallResult, CallStatus, CutState, DisplayCopy, ResultFate, SessionFacts, TextPiece,
};
use crate::session::reader::{LogReader, RecordPlace};
use crate::session::transcript::Transcript;

/// Kinds of records that hold nothing about calls.
const OTHER_KINDS: &[&str] = &[
    "session_meta",
    "turn_context",
    "world_state",
    "token_usage_record",
    "message",
    "reasoning",
    "ghost_snapshot",
    "web_search_call",
    "image_generation_call",
];

/// Reads the records of one rollout.
#[derive(Default)]
pub(super) struct CodexReader {
    results: Vec<(Box<str>, u64)>,
    ended: Vec<Ended>,
    turn: u64,
}

/// A place from which results are no longer seen.
enum Ended {
    /// The history began anew before this result, with those calls kept.
    Compacted { before: usize, kept: HashSet<Box<str>>, at: Option<Timestamp> },
    /// The turns from this one on were dropped, of the results so far.
    Dropped { from_turn: u64, before: usize, at: Option<Timestamp> },
}

impl LogReader for CodexReader {
    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        let at = record.get("timestamp").and_then(clock::time);
        // The oldest form has no wrapper.
        let item = record.get("payload").unwrap_or(record);
        let outer = name(record, "type").unwrap_or_default();
        let kind = match outer.as_str() {
            "response_item" | "event_msg" => name(item, "type").unwrap_or_default(),
            _ => outer,
        };
        match kind.as_str() {
            "function_call" | "custom_tool_call" | "local_shell_call" => call(record, item, place, at, out),
            "function_call_output" | "custom_tool_call_output" => self.result(record, item, place, at, out),
            "item_completed" => completed(item, place, out),
            "exec_command_end" => exec_end(item, place, out),
            "compacted" => self.compacted(item, at),
            "thread_rolled_back" => self.dropped(item, at),
            "task_started" | "user_message" => self.turn += 1,
            known if OTHER_KINDS.contains(&known) => {}
            "" => return record.get("record_type").is_some() || record.get("instructions").is_some(),
            // Events are for the agent's own screen, of which there are many.
            _ if is_type(record, "event_msg") => {}
            other => {
                out.unread.unknown(other);
                return false;
            }
        }
        true
    }

    fn settle(&mut self, out: &mut Transcript) {
        for (number, (id, turn)) in self.results.iter().enumerate() {
            let fate = self.ended.iter().rev().find_map(|ended| ended.fate(number, id, *turn));
            if let Some(first) = out.call_mut(0, id).and_then(|call| call.results.first_mut()) {
                first.fate = fate.unwrap_or(ResultFate::InContext);
            }
        }
    }
}

impl Ended {
    fn fate(&self, number: usize, id: &str, turn: u64) -> Option<ResultFate> {
        match self {
            Self::Compacted { before, kept, at } => {
                (number < *before && !kept.contains(id)).then_some(ResultFate::Compacted(*at))
            }
            Self::Dropped { from_turn, before, at } => {
                (number < *before && turn >= *from_turn).then_some(ResultFate::Rewound(*at))
            }
        }
    }
}

impl CodexReader {
    fn result(
        &mut self,
        record: Json,
        item: Json,
        place: RecordPlace,
        at: Option<Timestamp>,
        out: &mut Transcript,
    ) {
        let (Some(id), Some(output)) = (name(item, "call_id"), item.get("output")) else { return };
        let call = out.call_or_new(0, &id, "");
        if !call.results.is_empty() {
            return;
        }
        self.results.push((id.into(), self.turn));
        // Some versions wrote the text into an object.
        let content = output.get("content").filter(|_| output.kind() == Kind::Object).unwrap_or(output);
        let start = first_text(content);
        call.exit = exit_of(&start).or(call.exit);
        call.status = match call.exit {
            Some(0) | None => CallStatus::Ok,
            Some(_) => CallStatus::Failed,
        };
        call.cut = if is_cut(&start) { CutState::Lost } else { CutState::No };
        call.results.push(CallResult::recorded(pieces(content, place), at, place.span(record)));
    }

    fn compacted(&mut self, item: Json, at: Option<Timestamp>) {
        let items = item.get("replacement_history").into_iter().flat_map(|list| list.items());
        let kept = items.filter_map(|item| name(item, "call_id")).map(Into::into).collect();
        self.ended.push(Ended::Compacted { before: self.results.len(), kept, at });
    }

    fn dropped(&mut self, item: Json, at: Option<Timestamp>) {
        let turns = item.get("num_turns").and_then(|number| number.int()).unwrap_or(0);
        let turns = u64::try_from(turns).unwrap_or(0);
        self.turn = self.turn.saturating_sub(turns);
        self.ended.push(Ended::Dropped { from_turn: self.turn + 1, before: self.results.len(), at });
    }
}

fn call(record: Json, item: Json, place: RecordPlace, at: Option<Timestamp>, out: &mut Transcript) {
    let Some(id) = name(item, "call_id").or_else(|| name(item, "id")) else { return };
    let tool = name(item, "name").unwrap_or_else(|| "local_shell".to_owned());
    let tool = out.tool_id(&tool);
    let input = item.get("arguments").or_else(|| item.get("input")).or_else(|| item.get("action"));
    let mut call = Call::new(id, 0, tool);
    call.input = input.map(|input| place.span(input));
    call.at = at;
    call.record = Some(place.span(record));
    out.add_call(call);
}

/// Reads an item of the agent's own screen, which keeps part of what a command printed.
fn completed(item: Json, place: RecordPlace, out: &mut Transcript) {
    let Some(item) = item.get("item").filter(|item| is_type(*item, "CommandExecution")) else { return };
    let Some(id) = name(item, "id") else { return };
    screen_copy(&id, item, ("CommandExecution.aggregated_output", 65_536), place, out);
}

/// As [`completed`], of older versions.
fn exec_end(item: Json, place: RecordPlace, out: &mut Transcript) {
    let Some(id) = name(item, "call_id") else { return };
    screen_copy(&id, item, ("exec_command_end.aggregated_output", 10_000), place, out);
}

fn screen_copy(
    id: &str,
    item: Json,
    (what, most): (&'static str, u32),
    place: RecordPlace,
    out: &mut Transcript,
) {
    let Some(call) = out.call_mut(0, id) else { return };
    let most = Some(most);
    let exit = item.get("exit_code").and_then(|code| code.int()).and_then(|code| code.try_into().ok());
    call.exit = call.exit.or(exit);
    if let Some(text) = item.get("aggregated_output").filter(|text| text.kind() == Kind::String) {
        call.display.push(DisplayCopy { name: what, text: TextPiece::Json(place.span(text)), most });
    }
}

/// Reads the exit status from the lines before a command's output; of the oldest form from the JSON around it.
fn exit_of(start: &str) -> Option<i32> {
    if start.starts_with("{\"output\":") {
        return start.rsplit_once("\"exit_code\":")?.1.split([',', '}']).next()?.trim().parse().ok();
    }
    let header = start.split("\nOutput:\n").next().unwrap_or_default();
    let after = |marker: &str| header.lines().find_map(|line| line.strip_prefix(marker)?.trim().parse().ok());
    after("Process exited with code ").or_else(|| after("Exit code: "))
}

/// Whether the agent says at the start of an output that it cut it.
fn is_cut(start: &str) -> bool {
    let output = start.split_once("\nOutput:\n").map_or(start, |(_, output)| output);
    let output = output.strip_prefix("{\"output\":\"").unwrap_or(output);
    output.starts_with("Warning: truncated output (original token count: ")
        || output.starts_with("Total output lines: ")
}

/// Takes over what a record says about the whole session.
pub(super) fn note_facts(record: Json, facts: &mut SessionFacts) {
    let item = record.get("payload").unwrap_or(record);
    let at = record.get("timestamp").and_then(clock::time);
    facts.started = facts.started.or(at);
    facts.ended = facts.ended.max(at);
    if is_type(record, "session_meta") || record.get("type").is_none() && record.get("id").is_some() {
        if facts.id.is_empty() {
            facts.id = name(item, "id").unwrap_or_default();
            facts.parent = name(item, "forked_from_id");
            facts.origin = facts.parent.clone().or_else(|| Some(facts.id.clone()));
        } else if facts.parent.is_none() {
            // Older forks begin with the lines of the session from which they were forked.
            facts.parent = name(item, "id").filter(|id| *id != facts.id);
            facts.origin = facts.parent.clone().or(facts.origin.take());
        }
        facts.version = facts.version.take().or_else(|| name(item, "cli_version"));
        facts.cwd = facts.cwd.take().or_else(|| text(item, "cwd"));
    }
    if is_type(record, "turn_context") {
        facts.model = name(item, "model").or(facts.model.take());
        facts.cwd = facts.cwd.take().or_else(|| text(item, "cwd"));
    }
    let is_user = is_type(item, "message") && item.get("role").is_some_and(|role| role.is("user"));
    if facts.title.is_none() && is_user {
        let words = item.get("content").map(first_text).unwrap_or_default();
        facts.title = Some(words).filter(|words| !words.is_empty() && !words.starts_with('<'));
    }
}
