//! OpenHands: a JSON file for each event of a conversation; what is sent has lines around what is recorded.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::session::watch::{RecordUse, read_record};

use super::{
    Branches, Call, CallStatus, ChangeOrigin, Citation, ContextChange, CutState, Evidence, FormatInfo, IdMap,
    Json, JsonText, ReadProgress, RecordEntry, RecordFiles, RecordId, RecordPlace, SessionFacts, SessionFile,
    SessionFormat, SessionResult, TextPiece, TextPieces, Transcript, char_len, content, find, first_text,
    pieces, read_json, title,
};

/// The state of a conversation, beside the directory of its events.
const STATE: &str = "base_state.json";

const OTHER_KINDS: &str = "SystemPromptEvent MessageEvent CondensationRequest CondensationSummaryEvent \
    ConversationErrorEvent ConversationStateUpdateEvent HookExecutionEvent InterruptEvent \
    LLMCompletionLogEvent PauseEvent SecurityAnalysisEvent StreamingDeltaEvent TokenEvent";

pub(crate) const OPENHANDS: SessionFormat = SessionFormat {
    info: FormatInfo { saves_exit: |_| true, ..FormatInfo::new("openhands", "1.57.0 of the SDK") },
    find: |env, watch| find::matching(env.in_home(".openhands/conversations"), &format!("*/{STATE}"), watch),
    is_session: |path, _| path.ends_with(STATE) && events_of(path).is_dir(),
    id: |state| find::dir_name(state, 1).into(),
    glance: |file, _, _| facts(&file.path),
    records: RecordFiles::Watched(|file, _| vec![events_of(&file.path), file.path.clone()], read),
};

fn events_of(state: &Path) -> PathBuf {
    state.with_file_name("events")
}

fn is_event(name: &str) -> bool {
    name.starts_with("event-") && name.ends_with(".json")
}

fn facts(state: &Path) -> SessionFacts {
    let facts = read_json(state, |record| SessionFacts {
        cwd: record.object("workspace").string("working_dir"),
        model: record.object("agent").object("llm").name("model"),
        ..SessionFacts::default()
    });
    let mut facts = facts.unwrap_or_default();
    let is_early =
        |name: &str| is_event(name) && (name.starts_with("event-00000-") || name.starts_with("event-00001-"));
    for file in find::files(&events_of(state), is_early, &mut |_| true) {
        let first =
            read_json(&file.path, |event| (time(event), title(event.path(&["llm_message", "content"]))));
        let (at, words) = first.unwrap_or_default();
        facts.started = facts.started.or(at);
        facts.title = facts.title.or(words);
    }
    facts
}

/// Reads when an event happened: in the zone of the machine on which it did, which is taken for this one's.
fn time(event: Json) -> Option<Timestamp> {
    let at = event.get("timestamp")?;
    content::time(at).or_else(|| content::local_time(&at.short(64)?))
}

/// Reads a conversation. Events come, and never change.
fn read(file: &SessionFile, progress: &dyn ReadProgress, out: &mut Transcript) -> SessionResult<()> {
    out.facts = facts(&file.path);
    let mut reader = EventReader::default();
    let head = read_json(&file.path, |state| (state.id("leaf_event_id"), has_head(state)));
    let (leaf, has_head) = head.unwrap_or_default();
    (reader.branches.leaf, reader.has_head) = (leaf, has_head);
    let files = find::files(&events_of(&file.path), is_event, &mut |_| true);
    let total = files.len() as u64;
    for (number, file) in files.into_iter().enumerate() {
        progress.try_step(number as u64, total)?;
        read_record(file.path, out, |event, place, out| reader.event(event, place, out));
    }
    reader.derive_events(out);
    Ok(())
}

/// Whether the state of a conversation names its last event, or that there is none: the person may have moved that back. While
/// the agent works, events are written before the state.
fn has_head(state: Json) -> bool {
    let is_named = state.id("leaf_event_id").is_some() || state.flag("head_is_empty");
    is_named && !state.has("execution_status", "running")
}

#[derive(Default)]
struct EventReader {
    branches: Branches,
    /// Whether the leaf of the branches, or none, is where the conversation stands, whatever events follow.
    has_head: bool,
    /// The events with results, and the numbers of their calls.
    results: Vec<(RecordId, u32)>,
    /// The condensations, each with the events that it takes out.
    condensations: Vec<(RecordId, ChangeOrigin, Vec<RecordId>)>,
    /// The last answer of the model that was counted: one may have several calls.
    answer: Option<String>,
}

impl EventReader {
    fn event(&mut self, event: Json, place: RecordPlace, out: &mut Transcript) -> RecordUse {
        let kind = event.word("kind");
        let (id, at) = (event.id("id").unwrap_or_default(), time(event));
        self.branches.add(id, event.id("parent_id").or(self.branches.last()));
        out.facts.ended = out.facts.ended.max(at);
        self.count_answer(event, &kind, out);
        let entry = RecordEntry { record: event, place, at, thread: 0 };
        match &*kind {
            "ActionEvent" => {
                if let Some(id) = event.name("tool_call_id") {
                    let input = event.get("action").filter(|action| !action.is_null());
                    entry.add_next_call(id, &event.word("tool_name"), input, out);
                }
            }
            "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" => {
                if let Some(call) = event.name("tool_call_id") {
                    let call = out.call_or_new(0, &call, &event.word("tool_name"));
                    out.unanswered(call).into_iter().for_each(|call| read_observation(entry, &kind, call));
                    self.results.push((id, call));
                }
            }
            "Condensation" => {
                let ids = event.list("forgotten_event_ids");
                let forgotten = ids.filter_map(|id| id.as_id()).collect();
                self.condensations.push((id, out.origin(entry.thread), forgotten));
            }
            kind if out.unread.is_known(kind, OTHER_KINDS) => return RecordUse::Known,
            _ => return RecordUse::Unknown,
        }
        RecordUse::Kept
    }

    fn count_answer(&mut self, event: Json, kind: &str, out: &mut Transcript) {
        let is_agents = event.has("source", "agent");
        let is_answer = kind == "ActionEvent" || (kind == "MessageEvent" && is_agents);
        let answer = event.name("llm_response_id").filter(|_| is_answer);
        if is_answer && (answer.is_none() || answer != self.answer) {
            out.count_answer(0);
            self.answer = answer;
        }
    }

    /// Notes what is on branches that were left, and what condensations took out.
    fn derive_events(self, out: &mut Transcript) {
        let leaf = self.branches.leaf;
        let head = self.has_head.then(|| self.branches.living_at(leaf));
        let head = head.filter(|head| leaf.is_none_or(|leaf| head.number(leaf).is_some()));
        let living = head.unwrap_or_else(|| self.branches.living());
        let (on, left): (Vec<_>, Vec<_>) =
            self.results.into_iter().partition(|(event, _)| living.contains(event));
        let on: IdMap<u32> = on.into_iter().collect();
        for (event, origin, forgotten) in self.condensations {
            if living.contains(&event) {
                let calls = forgotten.iter().filter_map(|event| on.get(event).copied());
                out.add_event(ContextChange::Compact, origin, calls);
            }
        }
        let off = left.into_iter().map(|(_, call)| call);
        out.add_event(ContextChange::Leave, ChangeOrigin::default(), off);
    }
}

fn read_observation(entry: RecordEntry, kind: &str, call: &mut Call) {
    let (event, place) = (entry.record, entry.place);
    let text = |key: &str| event.get(key).map(|text| pieces(text, place)).unwrap_or_default();
    let (evidence, pieces) = match kind {
        "AgentErrorEvent" => {
            (call.status, call.cut) = (CallStatus::Failed, CutState::No);
            (Evidence::Recorded, text("error"))
        }
        "UserRejectObservation" => {
            (call.status, call.cut) = (CallStatus::Denied, CutState::No);
            let words = TextPiece::Added("Action rejected: ".into());
            (Evidence::Rendered, std::iter::once(words).chain(text("rejection_reason")).collect())
        }
        _ => {
            let Some(observation) = event.get("observation") else { return };
            observation_text(observation, place, call)
        }
    };
    entry.add_text(evidence, pieces, call);
}

fn observation_text(observation: Json, place: RecordPlace, call: &mut Call) -> (Evidence, TextPieces) {
    call.exit = observation.number("exit_code").filter(|code| *code != -1);
    call.end(observation.flag("is_error"));
    let prefix = observation.path(&["metadata", "prefix"]).map(first_text).unwrap_or_default();
    let lost = prefix.starts_with("[Previous command outputs are truncated.");
    match render(observation, place) {
        Some(sent) => {
            call.note_cut(sent.saved, lost || sent.is_lost);
            let is_added = sent.pieces.iter().any(|piece| matches!(piece, TextPiece::Added(_)));
            (if is_added { Evidence::Rendered } else { Evidence::Recorded }, sent.pieces.into())
        }
        // Too long to be rendered: what is recorded, of which less may have been sent.
        None => {
            let content = observation.get("content");
            call.cut = if content.is_some() { CutState::Unknown } else { CutState::No };
            (Evidence::Recorded, content.map(|content| pieces(content, place)).unwrap_or_default())
        }
    }
}

/// The most code points that are sent of a terminal's output with the lines around it, and of any other.
const MAX_POINTS: usize = 30_000;
const MAX_OTHER_POINTS: usize = 50_000;

/// The most bytes of a recorded output, as it is written, that are rendered.
const MAX_RECORDED: usize = 1 << 20;

/// The notice if nothing is saved; its length determines the head's.
const SHORT_NOTICE: &str = "<response clipped><NOTE>Due to the max output limit, only part of the full response has been shown to you.</NOTE>";
/// What is sent before the text of an error.
const ERROR: &str = "[An error occurred during execution.]\n";

/// The end of a line, for the agent, which is Python.
const BREAKS: &[char] =
    &['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

struct SentObservation {
    pieces: Vec<TextPiece>,
    /// Where the whole of it was saved, if it was cut.
    saved: Option<Citation>,
    is_lost: bool,
}

/// Renders an observation. Returns `None` for an output that is too long to be rendered.
fn render(observation: Json, place: RecordPlace) -> Option<SentObservation> {
    let content = observation.get("content")?;
    let metadata = observation.get("metadata").filter(|_| observation.has("kind", "TerminalObservation"));
    let first = observation.list("content").next().and_then(|part| part.get("text"));
    let mut sent = match (metadata, first) {
        (Some(metadata), first) => {
            let around = (metadata.string("prefix").unwrap_or_default(), lines_after(metadata));
            let dir = observation.string("full_output_save_dir");
            clip(first?, around, MAX_POINTS, dir, place)?
        }
        (None, Some(text)) if text.raw().len() > MAX_OTHER_POINTS && content.items().count() == 1 => {
            clip(text, <(String, String)>::default(), MAX_OTHER_POINTS, None, place)?
        }
        _ => SentObservation { pieces: pieces(content, place).into_vec(), saved: None, is_lost: false },
    };
    if observation.flag("is_error") {
        sent.pieces.insert(0, TextPiece::Added(ERROR.into()));
    }
    Some(sent)
}

/// Renders an output with what is sent around it; of one of over `most` code points the two ends, and a notice between them.
/// `dir` is where the whole is saved.
fn clip(
    output: Json,
    (prefix, suffix): (String, String),
    most: usize,
    dir: Option<String>,
    place: RecordPlace,
) -> Option<SentObservation> {
    let inner = output.text().filter(|_| output.raw().len() <= MAX_RECORDED)?;
    let decoded = inner.to_text(MAX_RECORDED).text;
    let span = place.span(output);
    let (before, of_output, after) = (points(&prefix), points(&decoded), points(&suffix));
    let around = |inside: Vec<TextPiece>| {
        let added = |text: &str| (!text.is_empty()).then(|| TextPiece::Added(text.into()));
        added(&prefix).into_iter().chain(inside).chain(added(&suffix)).collect()
    };
    let head = (most - points(SHORT_NOTICE)).div_ceil(2);
    // The terminal's session has cut the output before, and saved nothing of it.
    let notice_at = decoded.char_indices().nth(head).filter(|_| of_output == most);
    let was_clipped = notice_at.is_some_and(|(at, _)| decoded[at..].starts_with(SHORT_NOTICE));
    if before + of_output + after <= most {
        let pieces = around(vec![TextPiece::Json(span)]);
        return Some(SentObservation { pieces, saved: None, is_lost: was_clipped });
    }
    let whole = [prefix.as_str(), &decoded, &suffix].concat();
    // Files are named by what is in them.
    let hash = || format!("{:x}", Sha256::digest(&whole));
    let saved = dir.map(|dir| format!("{dir}/terminal_output_{}.txt", &hash()[..8]));
    let notice = notice(&whole, head, saved.as_deref());
    let tail = most.checked_sub(points(&notice) + head)?;
    // The part of either end that the lines around the output leave.
    let (start, end) = (head.checked_sub(before)?, tail.checked_sub(after)?);
    let start = offset_of(inner.encoded, start);
    let end = offset_of(inner.encoded, of_output.checked_sub(end)?);
    let first = TextPiece::Json(span.part(0, start as u64 + 2));
    let last = TextPiece::Json(span.part(end as u64, (inner.encoded.len() - end) as u64 + 2));
    let pieces = around(vec![first, TextPiece::Added(notice.into()), last]);
    let is_lost = was_clipped || saved.is_none();
    let saved = saved.filter(|_| !is_lost);
    let saved = saved.map(|path| Citation { bytes: Some(whole.len() as u64), ..Citation::new(path) });
    Some(SentObservation { pieces, saved, is_lost })
}

/// Returns what is sent after the output of a terminal.
fn lines_after(metadata: Json) -> String {
    let mut lines = metadata.string("suffix").unwrap_or_default();
    for (key, words) in
        [("working_dir", "Current working directory"), ("py_interpreter_path", "Python interpreter")]
    {
        if let Some(value) = metadata.string(key).filter(|value| !value.is_empty()) {
            lines.push_str(&format!("\n[{words}: {value}]"));
        }
    }
    let code = metadata.number("exit_code").unwrap_or(-1_i64);
    if code != -1 {
        lines.push_str(&format!("\n[Command finished with exit code {code}]"));
    }
    lines
}

fn notice(whole: &str, head: usize, saved: Option<&str>) -> String {
    let Some(path) = saved else { return SHORT_NOTICE.to_owned() };
    let words = SHORT_NOTICE.trim_end_matches("</NOTE>");
    let kept = whole.char_indices().nth(head).map_or(whole, |(at, _)| &whole[..at]);
    let line = lines(kept) + 1;
    format!(
        "{words} The complete output has been saved to {path} - you can use other tools to view the full content \
         (truncated part starts around line {line}).</NOTE>"
    )
}

/// Counts lines as Python does: CR and LF together end one, and what follows the last end counts if there is any.
fn lines(text: &str) -> usize {
    let text = text.replace("\r\n", "\n");
    text.split(BREAKS).count() - usize::from(text.is_empty() || text.ends_with(BREAKS))
}

fn points(text: &str) -> usize {
    text.chars().count()
}

/// Returns the offset in an encoded string after this many code points.
fn offset_of(encoded: &[u8], wanted: usize) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < encoded.len() && count < wanted {
        at += step(&encoded[at..]);
        count += 1;
    }
    at
}

/// Returns the bytes of the character or escape at the start; a pair of escapes for one character is one.
fn step(encoded: &[u8]) -> usize {
    let is_pair = || {
        let whole = encoded.get(..12).map(|encoded| JsonText { encoded }.to_text(12));
        whole.is_some_and(|pair| pair.replaced == 0 && pair.text.chars().count() == 1)
    };
    if encoded.starts_with(b"\\u") && is_pair() { 12 } else { char_len(encoded).0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_code_points() {
        let encoded = r"aé\n\u00e9\ud83d\ude00😀\ud83dx".as_bytes();
        let rest = |count| std::str::from_utf8(&encoded[offset_of(encoded, count)..]).unwrap();
        assert_eq!((rest(2), rest(3)), (r"\n\u00e9\ud83d\ude00😀\ud83dx", r"\u00e9\ud83d\ude00😀\ud83dx"));
        assert_eq!((rest(5), rest(6), rest(7), rest(99)), (r"😀\ud83dx", r"\ud83dx", "x", ""));
    }

    #[test]
    fn lines_are_counted_as_python_does() {
        assert_eq!(
            [lines(""), lines("a"), lines("a\n"), lines("a\r\nb\u{2028}c"), lines("\n")],
            [0, 1, 1, 3, 1]
        );
    }
}
