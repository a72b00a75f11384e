//! The requests in a session's records, by place: their lists of hashes, and the messages that the hashes stand for.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZero;

use jiff::Timestamp;

use crate::session::id::{RecordId, get_or_grow, record_id};
use crate::session::json::Json;
use crate::session::model::RecordSpan;

/// The SHA-256 of a message's canonical form.
pub type MessageHash = [u8; 32];

/// The most hashes that are kept of one session: 32 MiB.
const MAX_HASHES: usize = 1 << 20;

/// The most records of a turn before or after one of them.
const MAX_IN_TURN: usize = 1024;

/// Reads a hash: 64 hexadecimal digits.
pub fn message_hash(text: Json) -> Option<MessageHash> {
    // One more byte shows a longer text.
    let (text, mut hash) = (text.short_text(65)?, MessageHash::default());
    let is_hex = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    for (byte, at) in hash.iter_mut().zip((0..64).step_by(2)).filter(|_| is_hex) {
        *byte = u8::from_str_radix(text.get(at..at + 2)?, 16).ok()?;
    }
    is_hex.then_some(hash)
}

/// A request, as a list of hashes: the first of another request's list, then its own.
#[derive(Clone, Debug)]
pub struct LoggedRequest {
    pub record: RecordSpan,
    pub at: Option<Timestamp>,
    base: Option<u32>,
    /// How many hashes of the other request's list come first.
    keep: u32,
    /// The end of its own hashes among those of all requests.
    end: u32,
}

/// A record of the conversation, which can be a message or a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SpokenRecord {
    start: u64,
    len: u32,
    speaker: Speaker,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The user, or a tool.
    User,
    /// The model, with a number for the id of its message: several records may be of one.
    Model(NonZero<u32>),
}

impl Speaker {
    pub fn model(message: RecordId) -> Self {
        Self::Model(NonZero::new(message as u32).unwrap_or(NonZero::<u32>::MIN))
    }
}

/// The records of one message of the model, and those of the user up to its next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedTurn {
    pub model: Vec<RecordSpan>,
    pub user: Vec<RecordSpan>,
}

/// The messages of a request, in order.
#[derive(Clone, Debug, Default)]
pub struct MessageList {
    /// How many come first that are those of an earlier request, which is not recorded.
    pub missing: usize,
    pub known: Vec<MessageHash>,
}

#[derive(Clone, Debug, Default)]
pub struct RequestLog {
    requests: Vec<LoggedRequest>,
    ids: HashMap<u64, u32>,
    hashes: Vec<MessageHash>,
    /// The first place of a hash among those of all requests.
    first: HashMap<u64, u32>,
    /// The records of messages that were written for the requests, with the hashes that they name.
    blobs: Vec<(MessageHash, RecordSpan)>,
    blob_of: HashMap<u64, u32>,
    /// The calls whose results a message carries, with its number in `blobs`.
    carried: BTreeSet<(u64, u32)>,
    shapes: HashMap<u64, RecordSpan>,
    /// By the number of the source.
    spoken: Vec<Vec<SpokenRecord>>,
    /// Whether records of the conversation were forgotten, since no request needed them.
    has_forgotten: bool,
}

impl RequestLog {
    /// Whether requests came after the records of the conversation that they need were forgotten: all has to be read again.
    pub fn is_torn(&self) -> bool {
        self.has_forgotten && !self.requests.is_empty()
    }

    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Adds the request of a record, which names the one from whose list it goes on, and returns its number. One more than
    /// can be kept is left out.
    pub fn add_request(&mut self, record: Json, at: Option<Timestamp>, span: RecordSpan) -> Option<u32> {
        let (start, keep) = (self.hashes.len(), record.number("keep").unwrap_or(0));
        // A hash that cannot be read keeps its place, and stands for no message.
        let tail = record.list("tail").map(|hash| message_hash(hash).unwrap_or_default());
        self.hashes.extend(tail.take(MAX_HASHES + 1 - start.min(MAX_HASHES)));
        if self.hashes.len() > MAX_HASHES || self.requests.len() >= MAX_HASHES {
            self.hashes.truncate(start);
            return None;
        }
        for (at, hash) in self.hashes.iter().enumerate().skip(start) {
            self.first.entry(short(hash)).or_insert(at as u32);
        }
        let base = record.id("base").and_then(|base| self.ids.get(&base).copied());
        let base = base.filter(|base| self.len(*base) >= keep as usize);
        let (number, end) = (self.requests.len() as u32, self.hashes.len() as u32);
        self.ids.insert(record.id("id").unwrap_or_default(), number);
        self.requests.push(LoggedRequest { record: span, at, base, keep, end });
        Some(number)
    }

    pub fn has_request(&self, id: RecordId) -> bool {
        self.ids.contains_key(&id)
    }

    /// Adds a message written for a request, with the calls (thread and id) whose results it carries.
    pub fn add_blob<'a>(
        &mut self,
        hash: MessageHash,
        record: RecordSpan,
        calls: impl Iterator<Item = (u32, &'a str)>,
    ) {
        let number = self.blobs.len() as u32;
        if self.blobs.len() >= MAX_HASHES || *self.blob_of.entry(short(&hash)).or_insert(number) != number {
            return;
        }
        self.blobs.push((hash, record));
        self.carried.extend(calls.map(|(thread, id)| (call_key(thread, id), number)));
    }

    /// Adds the record that holds the system prompt and the tools of requests.
    pub fn add_shape(&mut self, hash: MessageHash, record: RecordSpan) {
        self.shapes.insert(short(&hash), record);
    }

    /// Adds a record of the conversation, after those before it in its file.
    pub fn add_spoken(&mut self, speaker: Speaker, record: RecordSpan) {
        let (start, len) = (record.start(), record.len().try_into().unwrap_or(0));
        get_or_grow(&mut self.spoken, record.source()).push(SpokenRecord { start, len, speaker });
    }

    /// Frees unused capacity. Forgets those of the conversation if there are no requests.
    pub fn shrink(&mut self) {
        if self.requests.is_empty() && !self.spoken.is_empty() {
            self.spoken = Vec::new();
            self.has_forgotten = true;
        }
        self.hashes.shrink_to_fit();
        self.spoken.iter_mut().for_each(Vec::shrink_to_fit);
    }

    pub fn request(&self, number: u32) -> Option<&LoggedRequest> {
        self.requests.get(number as usize)
    }

    /// Returns the record with the system prompt and the tools of this hash.
    pub fn shape(&self, hash: &MessageHash) -> Option<RecordSpan> {
        self.shapes.get(&short(hash)).copied()
    }

    /// Returns the number of the first request with a message of this hash.
    pub fn first_request(&self, hash: &MessageHash) -> Option<u32> {
        let at = *self.first.get(&short(hash))?;
        let is_same = self.hashes.get(at as usize) == Some(hash);
        is_same.then(|| self.requests.partition_point(|request| request.end <= at) as u32)
    }

    /// Returns the record of the message with this hash, if one was written.
    pub fn blob(&self, hash: &MessageHash) -> Option<RecordSpan> {
        self.blobs.get(*self.blob_of.get(&short(hash))? as usize).map(|(_, record)| *record)
    }

    /// Returns the hashes and the records of the messages that may carry the result of a call.
    pub fn blobs_of(&self, thread: u32, id: &str) -> impl Iterator<Item = (MessageHash, RecordSpan)> {
        let key = call_key(thread, id);
        let numbers = self.carried.range((key, 0)..=(key, u32::MAX));
        numbers.filter_map(|(_, number)| self.blobs.get(*number as usize).copied())
    }

    /// Returns the hashes of a request's messages.
    pub fn messages(&self, number: u32) -> MessageList {
        let mut parts: Vec<&[MessageHash]> = Vec::new();
        let (mut at, mut wanted, mut missing) = (Some(number), usize::MAX, 0);
        // A base was logged before, so the way ends.
        while let Some((number, request)) = at.and_then(|at| Some((at, self.request(at)?))) {
            let keep = request.keep as usize;
            let own = self.own_hashes(number);
            parts.push(&own[..wanted.saturating_sub(keep).min(own.len())]);
            wanted = wanted.min(keep);
            at = request.base.filter(|_| wanted > 0);
            missing = if at.is_none() { wanted.min(MAX_HASHES) } else { 0 };
        }
        MessageList { missing, known: parts.into_iter().rev().flatten().copied().collect() }
    }

    /// Returns how many messages of another request's list one keeps, and its new hashes; `None` if it does not go on from that.
    pub fn follows(&self, number: u32, other: u32) -> Option<(usize, &[MessageHash])> {
        let request = self.request(number).filter(|request| request.base == Some(other))?;
        Some((request.keep as usize, self.own_hashes(number)))
    }

    fn len(&self, number: u32) -> usize {
        let keep = self.request(number).map_or(0, |request| request.keep as usize);
        keep.saturating_add(self.own_hashes(number).len())
    }

    /// Returns the hashes that a request adds to those of the one from which it goes on.
    pub fn own_hashes(&self, number: u32) -> &[MessageHash] {
        let end = |number: u32| self.request(number).map_or(0, |request| request.end as usize);
        let start = number.checked_sub(1).map_or(0, end);
        self.hashes.get(start..end(number)).unwrap_or_default()
    }

    /// Returns the turn of a record of the conversation; `None` if the record is not part of a conversation, or the turn is too long.
    pub fn turn_of(&self, record: RecordSpan) -> Option<LoggedTurn> {
        let spoken = self.spoken.get(record.source() as usize)?;
        let at = spoken.binary_search_by_key(&record.start(), |spoken| spoken.start).ok()?;
        let first = (at + 1).saturating_sub(MAX_IN_TURN);
        let before = &spoken[first..=at];
        let message = before.iter().map(|spoken| spoken.speaker).rfind(|speaker| *speaker != Speaker::User);
        let other = before.iter().rposition(|spoken| !is_of(spoken.speaker, message));
        let start = first + other.map_or(0, |other| other + 1);
        let begins = spoken[start..=at].iter().position(|spoken| Some(spoken.speaker) == message);
        let is_whole = other.is_some() || before.len() < MAX_IN_TURN;
        is_whole.then(|| turn(record.source(), &spoken[start + begins.unwrap_or(0)..]).0)
    }

    /// Hands the turns of a file to `take`, as long as it returns true.
    pub fn turns(&self, source: u32, take: &mut dyn FnMut(LoggedTurn) -> bool) {
        let mut rest = self.spoken.get(source as usize).map_or(&[][..], |spoken| spoken);
        while !rest.is_empty() {
            let (turn, len) = turn(source, rest);
            rest = rest.get(len.max(1)..).unwrap_or_default();
            if !take(turn) {
                break;
            }
        }
    }
}

/// Whether a record belongs to the turn of a message of the model.
fn is_of(speaker: Speaker, message: Option<Speaker>) -> bool {
    speaker == Speaker::User || Some(speaker) == message
}

/// Returns the turn at the start of records, and how many they are.
fn turn(source: u32, spoken: &[SpokenRecord]) -> (LoggedTurn, usize) {
    let message = spoken.first().map(|first| first.speaker).filter(|speaker| *speaker != Speaker::User);
    let own = spoken.iter().take(MAX_IN_TURN).take_while(|spoken| is_of(spoken.speaker, message));
    let mut turn = LoggedTurn::default();
    for spoken in own {
        let span = RecordSpan::new(source, 0, spoken.start, spoken.len.into());
        match spoken.speaker {
            Speaker::User => turn.user.push(span),
            Speaker::Model(_) => turn.model.push(span),
        }
    }
    let len = turn.user.len() + turn.model.len();
    (turn, len)
}

/// Returns the first bytes of a hash as a number, by which it is found. The hash itself is compared after that.
fn short(hash: &MessageHash) -> u64 {
    hash.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes))
}

fn call_key(thread: u32, id: &str) -> u64 {
    record_id(id).wrapping_add(thread.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::session::json::Tape;

    use super::*;

    fn nowhere() -> RecordSpan {
        RecordSpan::new(0, 0, 0, 0)
    }

    fn add(log: &mut RequestLog, id: &str, base: Option<&str>, keep: u32, tail: &[u8]) {
        let tail: Vec<String> = tail.iter().map(|byte| format!("{byte:02x}").repeat(32)).collect();
        let record = serde_json::json!({"id": id, "base": base, "keep": keep, "tail": tail}).to_string();
        log.add_request(Tape::default().read(record.as_bytes()).unwrap(), None, nowhere());
    }

    fn messages(log: &RequestLog, number: u32) -> (usize, Vec<u8>) {
        let list = log.messages(number);
        (list.missing, list.known.iter().map(|hash| hash[0]).collect())
    }

    #[test]
    fn a_request_goes_on_from_the_first_messages_of_another() {
        let mut log = RequestLog::default();
        add(&mut log, "a", None, 0, &[1, 2, 3]);
        add(&mut log, "b", Some("a"), 3, &[4]);
        add(&mut log, "c", Some("b"), 2, &[5, 6]);
        add(&mut log, "d", Some("c"), 3, &[]);
        add(&mut log, "e", Some("x"), 2, &[7]);
        add(&mut log, "f", Some("a"), 9, &[8]);
        add(&mut log, "g", Some("x"), u32::MAX, &[]);
        assert_eq!(messages(&log, 1), (0, vec![1, 2, 3, 4]));
        assert_eq!(messages(&log, 2), (0, vec![1, 2, 5, 6]));
        assert_eq!(messages(&log, 3), (0, vec![1, 2, 5]));
        assert_eq!(messages(&log, 4), (2, vec![7]), "an unknown base");
        assert_eq!(messages(&log, 5), (9, vec![8]), "a base that is too short");
        assert_eq!(messages(&log, 6), (MAX_HASHES, vec![]), "nothing is made for what is missing");
        assert_eq!((log.first_request(&[5; 32]), log.first_request(&[9; 32])), (Some(2), None));
    }

    #[test]
    fn drops_conversation_records_until_a_request_needs_them() {
        let place = |start| RecordSpan::new(0, 0, start, 1);
        let mut log = RequestLog::default();
        log.add_spoken(Speaker::User, place(0));
        log.shrink();
        assert_eq!((log.turn_of(place(0)), log.is_torn()), (None, false));
        add(&mut log, "a", None, 0, &[1]);
        assert!(log.is_torn(), "all has to be read again");

        let mut log = RequestLog::default();
        log.add_spoken(Speaker::User, place(0));
        add(&mut log, "a", None, 0, &[1]);
        log.shrink();
        assert_eq!((log.turn_of(place(0)).is_some(), log.is_torn()), (true, false));
    }

    #[test]
    fn a_hash_has_64_hexadecimal_digits() {
        let read = |text: &str| message_hash(Tape::default().read(format!("\"{text}\"").as_bytes()).unwrap());
        assert_eq!(read(&"0f".repeat(32)), Some([15; 32]));
        assert_eq!([read("0f"), read(&"+f".repeat(32)), read(&"é".repeat(32))], [None; 3]);
    }

    proptest! {
        #[test]
        fn any_requests_have_lists(
            all in proptest::collection::vec((0u8..6, proptest::option::of(0u8..6), 0u32..9, any::<Vec<u8>>()), 0..12),
        ) {
            let mut log = RequestLog::default();
            for (id, base, keep, tail) in &all {
                let base = base.map(|base| base.to_string());
                add(&mut log, &id.to_string(), base.as_deref(), *keep, &tail[..tail.len().min(5)]);
            }
            for (number, (_, _, keep, tail)) in all.iter().enumerate() {
                let list = log.messages(number as u32);
                prop_assert_eq!(list.missing + list.known.len(), *keep as usize + tail.len().min(5));
            }
        }

        #[test]
        fn any_records_form_turns(speakers in proptest::collection::vec(0u32..4, 1..40), of in any::<prop::sample::Index>()) {
            let mut log = RequestLog::default();
            for (start, speaker) in speakers.iter().enumerate() {
                let speaker = NonZero::new(*speaker).map_or(Speaker::User, Speaker::Model);
                log.add_spoken(speaker, RecordSpan::new(0, 0, start as u64, 1));
            }
            let mut all = 0;
            log.turns(0, &mut |turn| { all += turn.model.len() + turn.user.len(); true });
            prop_assert_eq!(all, speakers.len());
            let at = of.index(speakers.len()) as u64;
            let turn = log.turn_of(RecordSpan::new(0, 0, at, 1)).unwrap();
            let holds = turn.model.iter().chain(&turn.user).any(|record| record.start() == at);
            prop_assert!(holds);
        }
    }
}
