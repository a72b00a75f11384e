//! Claude Code's records of its requests, of 2.1.300 on: what each list of messages carries in the place of a result.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::session::agents::{
    ContextChange, MAX_TEXT, RecordEntry, RecordSpan, TextPiece, Transcript, get_or_grow,
};
use crate::session::sent::log::{MessageHash, MessageList, RequestLog, message_hash};
use crate::session::sent::{FirstForm, is_proven, own_hashes, text_of};
use crate::session::text::to_text;

use super::history::{ClaudeHistory, Conversation, ResultRecord};

/// Maximum number of calls that are looked for in each request because of a change that only other records tell.
const MAX_UNSHOWN: usize = 10_000;

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
    /// The hashes of the conversation's messages with these records of results, as far as they were looked for.
    own: HashMap<RecordSpan, Vec<MessageHash>>,
}

/// The messages of the last request of a thread.
#[derive(Default)]
struct List {
    request: Option<u32>,
    messages: MessageList,
    /// The calls whose results are not whole in it.
    altered: HashMap<u32, ContextChange>,
    /// The calls of changes that only other records tell, at most [`MAX_UNSHOWN`].
    unshown: HashSet<u32>,
}

impl RequestLists {
    /// Reads a message that was written for a request, after the records in `history`.
    pub(super) fn blob(&mut self, entry: RecordEntry, history: &ClaudeHistory, out: &mut Transcript) {
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
                history.was_sent(call).then(recorded).flatten().unwrap_or_else(|| FirstForm::new(&text))
            });
            let change = first.compare(&text, &history.stand_ins);
            altered.extend((change != ContextChange::Restore).then_some((call, change)));
        }
        if !altered.is_empty() && is_proven(message, &hash) {
            self.altered.insert(hash, altered);
        }
    }

    /// Takes the list of a thread's next request. Returns what became of results since the one before, by their calls. Of the
    /// changes that other records `named` since, it leaves those that the list does not show.
    pub(super) fn request(
        &mut self,
        thread: u32,
        number: u32,
        named: &mut Vec<(u32, ContextChange)>,
        out: &Transcript,
    ) -> [(ContextChange, Vec<u32>); 3] {
        use ContextChange::{Clear, Replace, Restore};
        let Self { lists, altered, own, .. } = self;
        let list = get_or_grow(lists, thread);
        let (left, come) = list.advance_to(number, &out.requests);
        let results = |messages: Vec<MessageHash>| {
            let known = messages.iter().filter_map(|hash| altered.get(hash));
            known.flatten().copied().collect::<Vec<(u32, ContextChange)>>()
        };
        let mut next: BTreeMap<u32, ContextChange> =
            results(left).into_iter().map(|(call, _)| (call, Restore)).collect();
        let new = come.iter().copied().collect();
        let back = list.unshown.extract_if(|call| shows(own, *call, &new, out));
        next.extend(back.map(|call| (call, Restore)));
        next.extend(results(come));
        next.retain(|call, change| {
            let before = match change {
                Restore => list.altered.remove(call),
                _ => list.altered.insert(*call, *change),
            };
            before.unwrap_or(Restore) != *change
        });
        let known = if named.is_empty() { &[][..] } else { &list.messages.known };
        let known = known.iter().copied().collect();
        named.retain(|(call, _)| !shows(own, *call, &known, out));
        list.altered.extend(named.iter().copied());
        let room = MAX_UNSHOWN.saturating_sub(list.unshown.len());
        list.unshown.extend(named.iter().map(|(call, _)| *call).take(room));
        [Restore, Clear, Replace].map(|change| {
            let calls = next.iter().filter(|(_, of)| **of == change);
            (change, calls.map(|(call, _)| *call).collect())
        })
    }

    /// Returns the calls whose results the last requests of their threads show.
    pub(super) fn carried(&mut self, history: &ClaudeHistory, out: &Transcript) -> HashSet<u32> {
        let Self { lists, own, .. } = self;
        let known = |list: &List| list.messages.known.iter().copied().collect();
        let lists: Vec<HashSet<MessageHash>> = lists.iter().map(known).collect();
        // What a request added and the last one still has is unchanged.
        let mut lasts = HashMap::new();
        // The first request from each on that is in the records, by conversation.
        let logged: Vec<Vec<Option<u32>>> = history.conversations.iter().map(Conversation::logged).collect();
        let mut is_carried = |result: &&ResultRecord| {
            let thread = result.thread as usize;
            let (conversation, list) = history.conversations.get(thread).zip(lists.get(thread))?;
            let last = conversation.requests.last()?;
            if last.number.is_none() || result.record >= last.position {
                return None;
            }
            let first = conversation.request_after(result.record) as usize - 1;
            let first = logged[thread].get(first).copied().flatten()?;
            let added = out.requests.own_hashes(first);
            let all = || !added.is_empty() && added.iter().all(|hash| list.contains(hash));
            let is_same = *lasts.entry(first).or_insert_with(all);
            Some(is_same || shows(own, result.call, list, out))
        };
        let carried = history.results.iter().filter(|result| is_carried(result) == Some(true));
        carried.map(|result| result.call).collect()
    }
}

/// Whether the messages of a request show what it carries for a result: its own message is among them, or one that was written
/// for requests. `own` takes the hashes that are looked for.
fn shows(
    own: &mut HashMap<RecordSpan, Vec<MessageHash>>,
    call: u32,
    messages: &HashSet<MessageHash>,
    out: &Transcript,
) -> bool {
    let Some(of) = out.calls.get(call as usize) else { return false };
    let Some(record) = of.first().and_then(|first| first.record) else { return false };
    let mut blobs = out.requests.blobs_of(of.thread, &of.id);
    blobs.any(|(hash, _)| messages.contains(&hash)) || {
        let hashes = own.entry(record).or_insert_with(|| own_hashes(out, record));
        hashes.iter().any(|hash| messages.contains(hash))
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
