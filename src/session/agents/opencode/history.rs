//! The messages of opencode and Kilo and the parts of them: the calls, and what the model still has of their results.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::session::agents::{
    Call, CallStatus, Citation, ContextChange, IdMap, Json, Kind, RecordEntry, RecordId, RecordPlace,
    Transcript, has_line, record_id, shown_lines, text_end,
};

/// The messages of a conversation, in the order in which they were sent, and the results in them.
#[derive(Default)]
pub(super) struct SessionHistory {
    thread: u32,
    messages: Vec<Message>,
    numbers: IdMap<u32>,
    results: Vec<MessageResult>,
    /// The calls whose results were cleared, and when.
    marks: Vec<(u32, Timestamp)>,
    /// From which message and part of it on the person took all back, if so: without a part, the whole message.
    revert: Option<Revert>,
    /// The first call that was taken back with the part.
    taken_from: Option<u32>,
}

pub(super) type Revert = (RecordId, Option<RecordId>);

/// Reads what a session says of how far it was taken back.
pub(super) fn revert(record: Json) -> Option<Revert> {
    Some((record.id("messageID")?, record.id("partID")))
}

#[derive(Default)]
struct Message {
    at: Option<Timestamp>,
    is_answer: bool,
    /// The message that a summary answers, if it was made to its end.
    summary_of: Option<RecordId>,
    /// `Some` if it requests a summary, with the first earlier message that is kept.
    compaction: Option<Option<RecordId>>,
}

#[derive(Clone, Copy)]
struct MessageResult {
    message: u32,
    call: u32,
}

impl SessionHistory {
    pub(super) fn new(thread: u32, revert: Option<Revert>) -> Self {
        Self { thread, revert, ..Self::default() }
    }

    /// Adds a message, after those before it in time.
    pub(super) fn add_message(&mut self, id: &str, at: Option<Timestamp>, message: Option<Json>) {
        let has =
            |key: &str| message.and_then(|message| message.get(key)).is_some_and(|value| !value.is_null());
        let is_summary = message.is_some_and(|message| message.flag("summary"));
        let parent = message.and_then(|message| message.id("parentID"));
        let is_answer = has("finish");
        let summary_of = parent.filter(|_| is_summary && is_answer && !has("error"));
        self.numbers.insert(record_id(id), self.messages.len() as u32);
        self.messages.push(Message { at, is_answer, summary_of, compaction: None });
    }

    pub(super) fn part(
        &mut self,
        message: &str,
        id: &str,
        part: Json,
        place: RecordPlace,
        out: &mut Transcript,
    ) -> bool {
        let (first, is_tool) = (out.calls.len() as u32, part.is_type("tool"));
        let is_known = is_tool || out.unread.is_known(&part.word("type"), OTHER_KINDS);
        let call = if is_tool { read_call(part, self.thread, place, out) } else { None };
        let Some(number) = self.numbers.get(&record_id(message)).copied() else { return is_known };
        let Some(message) = self.messages.get_mut(number as usize) else { return is_known };
        if part.is_type("compaction") {
            message.compaction = Some(part.id("tail_start_id"));
        }
        message.is_answer |= is_tool;
        if self.revert.is_some_and(|(_, part)| part == Some(record_id(id))) {
            self.taken_from = Some(first);
        }
        if let Some(call) = call.filter(|call| out.has_result(*call)) {
            self.results.push(MessageResult { message: number, call });
            let at = part.object("state").object("time").time("compacted");
            self.marks.extend(at.map(|at| (call, at)));
        }
        is_known
    }

    pub(super) fn derive_events(mut self, out: &mut Transcript) {
        let mut living = std::mem::take(&mut self.results);
        // The first message that is taken back as a whole.
        let hidden = self.revert.and_then(|(message, part)| Some((self.numbers.get(&message)?, part)));
        let hidden = hidden.map(|(number, part)| number + u32::from(part.is_some()));
        let is_reverted = |result: &&MessageResult| {
            hidden.is_some_and(|from| result.message >= from)
                || self.taken_from.is_some_and(|from| result.call >= from)
        };
        let reverted: Vec<u32> = living.iter().filter(is_reverted).map(|result| result.call).collect();
        self.marks.sort_by_key(|(_, at)| *at);
        let mut marks = self.marks.iter().peekable();
        // What each compaction took, with the last of the messages that make it.
        let mut compacted: Vec<(u32, Vec<u32>)> = Vec::new();
        for (number, message) in self.messages.iter().enumerate() {
            while let Some((call, _)) = marks.next_if(|(_, at)| message.is_answer && message.at > Some(*at)) {
                self.add_event(ContextChange::Clear, [*call], out);
            }
            if message.is_answer {
                out.count_answer(self.thread);
            }
            // The message that asked for a summary, if that was made, and the first that is kept.
            let asked = message.summary_of.and_then(|id| self.numbers.get(&id).copied());
            let tail = asked.and_then(|asked| self.messages.get(asked as usize)?.compaction);
            if let Some((asked, tail)) = asked.zip(tail) {
                let tail = tail.and_then(|id| self.numbers.get(&id).copied());
                let is_taken = |result: &mut MessageResult| {
                    result.message < asked && tail.is_none_or(|tail| result.message < tail)
                };
                let taken: Vec<_> = living.extract_if(.., is_taken).map(|result| result.call).collect();
                self.add_event(ContextChange::Compact, taken.iter().copied(), out);
                compacted.push((asked.max(number as u32), taken));
            }
        }
        marks.for_each(|(call, _)| self.add_event(ContextChange::Clear, [*call], out));
        // A compaction without its messages is no longer in force.
        let undone = compacted.into_iter().filter(|(last, _)| hidden.is_some_and(|from| *last >= from));
        let back: BTreeSet<u32> = undone.flat_map(|(_, taken)| taken).collect();
        self.add_event(ContextChange::Restore, back.iter().copied(), out);
        let cleared = self.marks.iter().filter(|(call, _)| back.contains(call));
        cleared.for_each(|(call, _)| self.add_event(ContextChange::Clear, [*call], out));
        self.add_event(ContextChange::Rewind, reverted, out);
    }

    fn add_event(&self, change: ContextChange, calls: impl IntoIterator<Item = u32>, out: &mut Transcript) {
        out.add_event(change, out.origin(self.thread), calls);
    }
}

const OTHER_KINDS: &str = "text reasoning file step-start step-finish snapshot patch agent retry \
    compaction subtask";

/// The longest display copy, in UTF-16 units; a shorter one is whole.
const DISPLAY: u32 = 30_000;

/// How the read tool said that it ended a window before what was asked for.
const AT_LIMIT: &str = "(Output truncated at ";

/// Where the read tool cuts a line, in UTF-16 units, and what it puts there.
const LINE: usize = 2000;
const CUT_LINE: &str = "... (line truncated to 2000 chars)";

/// Whether a command's output was cut after 30,000 UTF-16 units, as it was in 2025: a notice follows them.
fn is_cut_2025(text: Json) -> bool {
    let end = text_end(text, 512);
    let (_, notice) = end.rsplit_once("\n\n").unwrap_or_default();
    let is_notice = notice == "(Output was truncated due to length limit)"
        || notice.starts_with("<bash_metadata>\nbash tool truncated output ");
    let units = |text: &str| text.encode_utf16().count();
    is_notice && text.text().map_or(0, |text| text.sum(units)) == 30_000 + units("\n\n") + units(notice)
}

/// Reads a call with its result. Returns its number.
fn read_call(part: Json, thread: u32, place: RecordPlace, out: &mut Transcript) -> Option<u32> {
    let (id, state) = (part.name("callID")?, part.get("state")?);
    let time = state.object("time");
    let entry = RecordEntry { record: part, place, at: time.time("start"), thread };
    let number = entry.add_next_call(id, &part.word("tool"), state.get("input"), out);
    result(RecordEntry { at: time.time("end"), ..entry }, state, &mut out.calls[number as usize]);
    Some(number)
}

fn result(entry: RecordEntry, state: Json, call: &mut Call) {
    let is_read = entry.record.has("tool", "read");
    let (status, metadata) = (state.word("status"), state.object("metadata"));
    call.exit = metadata.number("exit");
    call.status = status_of(&status, call.exit);
    let copy = metadata.get("output").filter(|copy| copy.kind() == Kind::String);
    // The model gets what a command printed until it was interrupted.
    let printed = copy.filter(|_| metadata.flag("interrupted"));
    let text = match (&*status, printed) {
        ("error", Some(printed)) => Some(printed),
        ("error", None) => state.get("error"),
        _ => state.get("output"),
    };
    let Some(text) = text.filter(|text| text.kind() == Kind::String) else { return };
    let is_cut = metadata.flag("truncated") || entry.record.has("tool", "bash") && is_cut_2025(text);
    let is_notice =
        |line: &str| line.starts_with("(Output capped at ") || is_cut && line.starts_with("(Showing lines ");
    let gives_less = |line: &str| is_notice(line) && call.gives_less(shown_lines(line));
    let is_cut_line =
        |line: &str| line.strip_suffix(CUT_LINE).is_some_and(|kept| kept.encode_utf16().count() >= LINE);
    let is_short = is_read
        && (has_line(text, CUT_LINE, is_cut_line)
            || has_line(text, "Showing lines ", gives_less)
            // Until March 2026: at the tool's own limit, whatever was asked for.
            || is_cut && has_line(text, AT_LIMIT, |line| line.starts_with(AT_LIMIT))
            || is_cut && call.gives_less(None));
    call.is_window = is_read && (is_short || is_cut);
    call.note_cut(metadata.string("outputPath").map(Citation::new), if is_read { is_short } else { is_cut });
    entry.note_copy("metadata.output", copy, Some(DISPLAY), call);
    entry.add_result(Some(text), call);
}

pub(super) fn status_of(word: &str, exit: Option<i32>) -> CallStatus {
    match (word, exit) {
        ("completed", Some(0) | None) => CallStatus::Ok,
        ("completed" | "error", _) => CallStatus::Failed,
        _ => CallStatus::NoResult,
    }
}
