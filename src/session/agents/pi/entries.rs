//! Reads pi's entries, one after the other: the calls, their results, and what later entries do to those.

use std::path::PathBuf;

use crate::session::branch::{Branches, LivingBranch};
use crate::session::clock;
use crate::session::content::{LONGEST_NAME, flag, is, is_type, items, last_line, name, text};
use crate::session::context::ContextEvent;
use crate::session::entry::RecordEntry;
use crate::session::fate::ContextChange;
use crate::session::id::record_id;
use crate::session::json::Json;
use crate::session::model::{Call, Citation};
use crate::session::reader::{LogReader, RecordPlace};
use crate::session::transcript::Transcript;

use super::changes::{ContextResults, EntryChange, EntryEffect, EntryResult, result_key};
use super::note_facts;

/// Kinds of entries that hold nothing about calls.
const OTHER_KINDS: &[&str] = &[
    "session",
    "model_change",
    "thinking_level_change",
    "branch_summary",
    "label",
    "session_info",
    "custom",
    "custom_message",
    "leaf",
];

/// Reads the entries of one session.
#[derive(Default)]
pub(crate) struct PiReader {
    branches: Branches,
    /// The number of the first request after each entry.
    requests: Vec<u32>,
    results: Vec<EntryResult>,
    changes: Vec<EntryChange>,
}

impl LogReader for PiReader {
    fn record(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) -> bool {
        note_facts(record, &mut out.facts);
        let kind = name(record, "type").unwrap_or_default();
        if kind != "session" {
            self.link(record, &kind, out);
        }
        if kind == "message" {
            self.message(record, place, out);
            return true;
        }
        let effect = EntryEffect::read(&kind, record, place);
        let is_known = effect.is_some() || OTHER_KINDS.contains(&kind.as_str()) || kind == "context_edit";
        if !is_known {
            out.unread.unknown(&kind);
        }
        self.changes.extend(effect.map(|effect| {
            let entry = self.entry();
            let request = self.requests.get(entry as usize).copied();
            let at = record.get("timestamp").and_then(clock::time);
            EntryChange { entry, request, at, record: place.span(record), effect }
        }));
        is_known
    }

    fn settle(&mut self, out: &mut Transcript) {
        out.events.clear();
        for result in &self.results {
            let call = out.calls.get_mut(result.call as usize);
            call.into_iter().for_each(|call| call.results.truncate(1));
        }
        let living = self.branches.living();
        let mut left = self.left(&living, out).into_iter().rev().peekable();
        let mut unread = self.results.iter().peekable();
        let mut held = ContextResults::default();
        for change in
            self.changes.iter().filter(|change| living.contains_number(change.entry, &self.branches))
        {
            while let Some((_, event)) = left.next_if(|(entry, _)| *entry < change.entry) {
                out.events.push(event);
            }
            while let Some(result) = unread.next_if(|result| result.entry < change.entry) {
                if living.contains_number(result.entry, &self.branches) {
                    held.push(*result);
                }
            }
            change.apply(&living, &mut held, out);
        }
        out.events.extend(left.map(|(_, event)| event));
    }
}

impl PiReader {
    /// Notes the place of an entry in the tree. The first version had neither ids nor parents: a line.
    fn link(&mut self, record: Json, kind: &str, out: &Transcript) {
        let line = || record_id(&format!("line {}", self.requests.len()));
        let id = name(record, "id").map_or_else(line, |id| record_id(&id));
        // OpenClaw names the entry to which the conversation goes back.
        let parent = record.get(if kind == "leaf" { "targetId" } else { "parentId" });
        let parent = match parent {
            Some(parent) => parent.short(LONGEST_NAME).map(|parent| record_id(&parent)),
            None => self.branches.last(),
        };
        self.branches.add(id, parent);
        // An entry at the side, which only OpenClaw has, leaves the conversation where it is.
        if record.get("appendMode").is_none_or(|mode| kind == "leaf" || !mode.is("side")) {
            self.branches.set_leaf(id);
        }
        self.requests.push(out.next_request(0).unwrap_or(1));
    }

    /// Returns the number of the entry that was read last.
    fn entry(&self) -> u32 {
        (self.requests.len() as u32).saturating_sub(1)
    }

    fn message(&mut self, record: Json, place: RecordPlace, out: &mut Transcript) {
        let Some(message) = record.get("message") else { return };
        let at = record.get("timestamp").and_then(clock::time);
        let entry = RecordEntry { record, place, at, thread: 0 };
        match name(message, "role").unwrap_or_default().as_str() {
            "assistant" => {
                out.count_answer(0);
                calls(entry, message, out);
            }
            "toolResult" => {
                let Some(call_id) = name(message, "toolCallId") else { return };
                let tool = name(message, "toolName").unwrap_or_default();
                let call = out.call_or_new(0, &call_id, &tool);
                if call.results.is_empty() {
                    result(entry, message, call);
                    let (entry, key) = (self.entry(), result_key(message, &call_id));
                    let call = out.call_number(0, &call_id);
                    self.results.extend(call.map(|call| EntryResult { entry, call, key, pruned: None }));
                }
            }
            _ => {}
        }
    }

    /// Returns what is on branches that were left, with the entry of the living branch that came after it; the last first.
    fn left(&self, living: &LivingBranch, out: &Transcript) -> Vec<(u32, ContextEvent)> {
        let (mut left, mut next): (Vec<(u32, ContextEvent)>, _) = (Vec::new(), None);
        let mut results = self.results.iter().rev().peekable();
        for entry in (0..self.requests.len() as u32).rev() {
            if living.contains_number(entry, &self.branches) {
                next = Some(entry);
            } else if let Some(result) = results.next_if(|result| result.entry == entry) {
                let by = next.unwrap_or(entry);
                if left.last().is_none_or(|(entry, _)| *entry != by) {
                    let request = next.and_then(|next| self.requests.get(next as usize)).copied();
                    let event = ContextEvent::recorded(ContextChange::Leave, None);
                    left.push((by, ContextEvent { request, ..event }));
                }
                left.last_mut()
                    .into_iter()
                    .for_each(|(_, event)| event.results.extend(out.result_ids(result.call)));
            }
            while results.next_if(|result| result.entry == entry).is_some() {}
        }
        left
    }
}

fn calls(entry: RecordEntry, message: Json, out: &mut Transcript) {
    for block in items(message, "content") {
        let Some(id) = name(block, "id").filter(|_| is_type(block, "toolCall")) else { continue };
        entry.add_call(id, &name(block, "name").unwrap_or_default(), block.get("arguments"), out);
    }
}

fn result(entry: RecordEntry, message: Json, call: &mut Call) {
    let (content, details, is_error) =
        (message.get("content"), message.get("details"), flag(message, "isError"));
    call.exit = content.map(last_line).filter(|_| is_error).and_then(|line| exit_of(&line));
    call.end(is_error);
    let truncation = details.and_then(|details| details.get("truncation"));
    // A window of a file is no cut: the file holds the rest.
    let is_read = is(message, "toolName", "read");
    let is_truncated = truncation.is_some_and(|cut| flag(cut, "truncated"));
    call.is_window = is_read && (is_truncated || content.map(last_line).is_some_and(|line| has_more(&line)));
    let spill = details.and_then(|details| text(details, "fullOutputPath"));
    let bytes = truncation.and_then(|cut| cut.get("totalBytes")?.int()?.try_into().ok());
    let spill = spill.map(|path| Citation { path: PathBuf::from(path), bytes });
    call.note_cut(spill, is_truncated && !is_read);
    entry.add_result(content, call);
}

/// Whether the last line of a window says that the file goes on after what was asked for.
fn has_more(line: &str) -> bool {
    line.starts_with('[') && line.contains(" more lines in file. Use offset=")
}

/// Reads the status from the last line of a failed command.
fn exit_of(line: &str) -> Option<i32> {
    line.strip_prefix("Command exited with code ")?.parse().ok()
}
