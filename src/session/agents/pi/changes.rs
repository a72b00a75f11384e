//! What an entry of pi says about those before it on its branch: a summary, another text, what was pruned.

use std::collections::VecDeque;

use jiff::Timestamp;

use crate::session::branch::LivingBranch;
use crate::session::content::pieces;
use crate::session::fate::ContextChange;
use crate::session::id::{IdMap, RecordId, record_id};
use crate::session::json::Json;
use crate::session::model::{CallResult, ContextEvent, RecordSpan};
use crate::session::reader::RecordPlace;
use crate::session::transcript::Transcript;

/// The kind of OpenClaw's own entries about results that it prunes when it sends them. With such results it was not seen in
/// use: after the program's source.
const PRUNED: &str = "openclaw.cache-ttl";

#[derive(Clone, Copy)]
pub(super) struct EntryResult {
    pub entry: u32,
    pub call: u32,
    /// What OpenClaw calls it where it was pruned.
    pub key: RecordId,
    pub pruned: Option<ContextChange>,
}

/// The results that the model has, in their order.
#[derive(Default)]
pub(super) struct ContextResults {
    results: VecDeque<EntryResult>,
    /// The entries of all that it ever had, by their keys; of equal ones the first.
    entries: IdMap<u32>,
}

impl ContextResults {
    pub(super) fn push(&mut self, result: EntryResult) {
        self.entries.entry(result.key).or_insert(result.entry);
        self.results.push_back(result);
    }

    fn place(&self, entry: u32) -> Option<usize> {
        self.results.binary_search_by_key(&entry, |result| result.entry).ok()
    }

    /// Marks results as pruned. Returns the calls of those that were not pruned so before.
    fn prune(&mut self, keys: &IdMap<ContextChange>, change: ContextChange) -> Vec<u32> {
        let keys = keys.iter().filter(|(_, wanted)| **wanted == change);
        let mut places: Vec<_> = keys.filter_map(|(key, _)| self.place(*self.entries.get(key)?)).collect();
        places.sort_unstable();
        let results = places.into_iter().filter_map(|place| {
            let result = self.results.get_mut(place)?;
            (result.pruned.replace(change) != Some(change)).then_some(result.call)
        });
        results.collect()
    }
}

/// Returns what OpenClaw calls a result, by its call and the time in its message.
pub(super) fn result_key(message: Json, call_id: &str) -> RecordId {
    match message.number::<i64>("timestamp") {
        Some(at) => record_id(&format!("tool:{call_id}:{at}")),
        None => record_id(&format!("tool:{call_id}")),
    }
}

/// What an entry says about those before it on its branch.
pub(super) struct EntryChange {
    pub entry: u32,
    /// The number of the first request after it.
    pub request: Option<u32>,
    pub at: Option<Timestamp>,
    pub record: RecordSpan,
    pub effect: EntryEffect,
}

pub(super) enum EntryEffect {
    /// All entries before one are gone; all, if that is none of them.
    KeptFrom { first: RecordId, change: ContextChange },
    /// A summary stands for all entries; some are in its own record again.
    KeptTail(IdMap<CallResult>),
    /// Another text of an entry, in all later requests; it is gone without one.
    Edit { target: RecordId, replacement: Option<CallResult> },
    /// Results are shortened or cleared, in requests up to then and in all later ones.
    Prune(IdMap<ContextChange>),
}

impl EntryEffect {
    /// Reads what an entry of a kind says; `None` if that is nothing.
    pub(super) fn read(kind: &str, record: Json, place: RecordPlace) -> Option<Self> {
        let kept_from = |change| {
            let first = record.id("firstKeptEntryId").unwrap_or_default();
            Self::KeptFrom { first, change }
        };
        match kind {
            "compaction" => match record.get("retainedTail").filter(|tail| !tail.is_null()) {
                Some(tail) => Some(Self::KeptTail(retained_results(record, tail, place))),
                None => Some(kept_from(ContextChange::Compact)),
            },
            "reset" => Some(kept_from(ContextChange::Drop)),
            "context_edit" => read_edit(record, place),
            "custom" if record.has("customType", PRUNED) => read_prune(record),
            _ => None,
        }
    }
}

/// Reads the messages that the record of a compaction keeps.
fn retained_results(record: Json, tail: Json, place: RecordPlace) -> IdMap<CallResult> {
    let at = record.time("timestamp");
    let kept = tail.items().filter_map(|message| {
        let content = message.get("content").map(|content| pieces(content, place)).unwrap_or_default();
        Some((message.id("toolCallId")?, CallResult::recorded(content, at, place.span(message))))
    });
    kept.collect()
}

fn read_edit(record: Json, place: RecordPlace) -> Option<EntryEffect> {
    let target = record.id("targetId")?;
    let at = record.time("timestamp");
    let content = record.get("replacement").filter(|replacement| !replacement.is_null());
    let replacement =
        content.map(|content| CallResult::recorded(pieces(content, place), at, place.span(record)));
    Some(EntryEffect::Edit { target, replacement })
}

/// Reads which results are pruned: all of them, or those since the entry before.
fn read_prune(record: Json) -> Option<EntryEffect> {
    let lists = [&["data", "prunedToolResults"][..], &["data", "cacheTtlDelta", "prunedToolResults", "set"]];
    let results = lists.into_iter().find_map(|list| record.path(list))?;
    let result = |result: Json| {
        let change = match result.get("mode")? {
            mode if mode.is("soft") => ContextChange::Replace,
            mode if mode.is("hard") => ContextChange::Clear,
            _ => return None,
        };
        Some((result.id("key")?, change))
    };
    let results: IdMap<_> = results.items().filter_map(result).collect();
    (!results.is_empty()).then_some(EntryEffect::Prune(results))
}

impl EntryChange {
    /// Notes what an entry of the living branch does to the results that the model has.
    pub(super) fn apply(&self, living: &LivingBranch, context: &mut ContextResults, out: &mut Transcript) {
        match &self.effect {
            EntryEffect::KeptFrom { first, change } => {
                let first = living.number(*first).filter(|first| *first < self.entry);
                let first = first.unwrap_or(self.entry);
                let gone = context.results.partition_point(|result| result.entry < first);
                self.event(*change, context.results.drain(..gone).map(|result| result.call), out);
            }
            EntryEffect::KeptTail(kept) => self.keep_tail(kept, context, out),
            EntryEffect::Edit { target, replacement } => {
                let Some(target) = living.number(*target) else { return };
                let Some(place) = context.place(target) else { return };
                let call = context.results[place].call;
                match replacement {
                    None => {
                        context.results.remove(place);
                        self.event(ContextChange::Drop, [call], out);
                    }
                    Some(text) => {
                        self.event(ContextChange::Replace, [call], out);
                        out.calls[call as usize].results.push(text.clone());
                    }
                }
            }
            EntryEffect::Prune(keys) => {
                for change in [ContextChange::Replace, ContextChange::Clear] {
                    self.event(change, context.prune(keys, change), out);
                }
            }
        }
    }

    /// A summary stands for all results but those that are in its own record.
    fn keep_tail(&self, kept: &IdMap<CallResult>, context: &mut ContextResults, out: &mut Transcript) {
        let id =
            |result: &EntryResult| out.calls.get(result.call as usize).map_or(0, |call| record_id(&call.id));
        let (stay, gone): (Vec<_>, Vec<_>) =
            context.results.drain(..).partition(|result| kept.contains_key(&id(result)));
        let other: Vec<_> =
            stay.iter().filter_map(|result| Some((result.call, kept.get(&id(result))?))).collect();
        self.event(ContextChange::Compact, gone.iter().map(|result| result.call), out);
        for (call, text) in other {
            let last = out.calls.get(call as usize).and_then(|call| call.results.last());
            if last.is_some_and(|last| last.recorded_len() != text.recorded_len()) {
                self.event(ContextChange::Replace, [call], out);
                out.calls[call as usize].results.push(text.clone());
            }
        }
        context.results.extend(stay);
    }

    fn event(&self, change: ContextChange, calls: impl IntoIterator<Item = u32>, out: &mut Transcript) {
        // An entry about pruned results may come after the first requests that are made so.
        let request = self.request.filter(|_| !matches!(self.effect, EntryEffect::Prune(_)));
        let results = out.outer_results_of(calls);
        let event = ContextEvent::recorded(change, self.at);
        out.add_event(ContextEvent { request, record: Some(self.record), results, ..event });
    }
}
