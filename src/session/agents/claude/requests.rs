//! Claude Code's records of its requests, of 2.1.300 on: what each list of messages carries in the place of a result.

use std::collections::{BTreeMap, HashMap};

use crate::session::agents::{ContextChange, RecordEntry, TextPiece, Transcript, get_or_grow};
use crate::session::content::MAX_TEXT;
use crate::session::sent::log::{MessageHash, MessageList, RequestFacts, RequestLog, message_hash};
use crate::session::sent::{FirstForm, is_proven, text_of};
use crate::session::text::to_text;

pub(super) fn request(entry: RecordEntry, log: &mut RequestLog) -> Option<u32> {
    let record = entry.record;
    let facts = RequestFacts {
        id: record.id("id").unwrap_or_default(),
        base: record.id("base"),
        keep: record.number("keep").unwrap_or(0),
        at: entry.at,
    };
    // A hash that cannot be read keeps its place, and stands for no message.
    let tail = record.list("tail").map(|hash| message_hash(hash).unwrap_or_default());
    log.add_request(&facts, entry.span(), tail)
}

/// The longest result that is compared, in bytes.
const MAX_COMPARED: usize = 32 << 20;

#[derive(Default)]
pub(super) struct RequestLists {
    /// By the numbers of the threads.
    lists: Vec<List>,
    /// How the first request that carried a result had it, by the number of the call.
    first: HashMap<u32, FirstForm>,
    /// The results that a message does not carry as they were first sent.
    altered: HashMap<MessageHash, Vec<(u32, ContextChange)>>,
}

/// The messages of the last request of a thread.
#[derive(Default)]
struct List {
    request: Option<u32>,
    messages: MessageList,
    /// The calls whose results are not whole in it.
    altered: HashMap<u32, ContextChange>,
}

impl RequestLists {
    /// Reads a message that was written for a request. `was_sent` returns whether an earlier request carried the result of a call.
    pub(super) fn blob(&mut self, entry: RecordEntry, was_sent: &dyn Fn(u32) -> bool, out: &mut Transcript) {
        let RecordEntry { record, thread, .. } = entry;
        let hash = record.get("hash").and_then(message_hash);
        let Some((hash, message)) = hash.zip(record.get("message")) else { return };
        let results = || message.list("content").filter(|block| block.is_type("tool_result"));
        let ids: Vec<String> = results().filter_map(|block| block.name("tool_use_id")).collect();
        out.requests.add_blob(hash, entry.span(), ids.iter().map(|id| (thread, id.as_str())));
        let mut altered = Vec::new();
        for block in results().filter(|_| !self.altered.contains_key(&hash)) {
            let id = block.get("tool_use_id").and_then(|id| id.short_text(MAX_TEXT));
            let call = id.and_then(|id| out.call_number(thread, &id));
            let (Some(call), Some(content)) = (call, block.get("content")) else { continue };
            let text = text_of(content);
            let first = *self.first.entry(call).or_insert_with(|| {
                let recorded = || recorded(call, out);
                was_sent(call).then(recorded).flatten().unwrap_or_else(|| FirstForm::new(&text))
            });
            let change = first.compare(&text);
            altered.extend((change != ContextChange::Restore).then_some((call, change)));
        }
        if !altered.is_empty() && is_proven(message, &hash) {
            self.altered.insert(hash, altered);
        }
    }

    /// Takes the list of a thread's next request. Returns what became of results since the one before, by their calls.
    pub(super) fn request(
        &mut self,
        thread: u32,
        number: u32,
        log: &RequestLog,
    ) -> [(ContextChange, Vec<u32>); 3] {
        use ContextChange::{Clear, Replace, Restore};
        let Self { lists, altered, .. } = self;
        let list = get_or_grow(lists, thread);
        let (left, come) = list.advance_to(number, log);
        let results = |messages: Vec<MessageHash>| {
            let known = messages.iter().filter_map(|hash| altered.get(hash));
            known.flatten().copied().collect::<Vec<(u32, ContextChange)>>()
        };
        let mut next: BTreeMap<u32, ContextChange> =
            results(left).into_iter().map(|(call, _)| (call, Restore)).collect();
        next.extend(results(come));
        next.retain(|call, change| {
            let before = match change {
                Restore => list.altered.remove(call),
                _ => list.altered.insert(*call, *change),
            };
            before.unwrap_or(Restore) != *change
        });
        [Restore, Clear, Replace].map(|change| {
            let calls = next.iter().filter(|(_, of)| **of == change);
            (change, calls.map(|(call, _)| *call).collect())
        })
    }
}

impl List {
    /// Takes the messages of the next request. Returns those of the one before that it lacks, and those that are new.
    fn advance_to(&mut self, number: u32, log: &RequestLog) -> (Vec<MessageHash>, Vec<MessageHash>) {
        let MessageList { missing, known } = &mut self.messages;
        let before = self.request.replace(number);
        if let Some((keep, own)) = before.and_then(|before| log.follows(number, before))
            && keep <= *missing + known.len()
        {
            let left = known.split_off(keep.saturating_sub(*missing));
            *missing = keep.min(*missing);
            known.extend(own);
            return (left, own.to_vec());
        }
        let next = log.messages(number);
        let both = known.iter().zip(&next.known).take_while(|(one, other)| one == other);
        let same = if *missing == next.missing { both.count() } else { 0 };
        let left = known.split_off(same);
        let come = next.known.get(same..).unwrap_or_default().to_vec();
        self.messages = next;
        (left, come)
    }
}

/// Returns the form of a result as the agent's history has it.
fn recorded(call: u32, out: &Transcript) -> Option<FirstForm> {
    let first = out.calls.get(call as usize)?.first()?;
    let texts = first.pieces.iter().map(|piece| match piece {
        TextPiece::Image => Some("\u{fffc}".to_owned()),
        piece => Some(to_text(out, std::slice::from_ref(piece), MAX_COMPARED).ok()?.0),
    });
    Some(FirstForm::new(&texts.collect::<Option<String>>()?))
}
