//! OpenHands: a JSON file for each event of a conversation; what is sent has lines around what is recorded.

mod rendered;

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::session::branch::Branches;
use crate::session::clock;
use crate::session::content::{first_text, pieces, title};
use crate::session::context::ContextEvent;
use crate::session::entry::RecordEntry;
use crate::session::fate::ContextChange;
use crate::session::find;
use crate::session::format::{FileFormat, RecordFiles};
use crate::session::id::{IdMap, RecordId, record_id};
use crate::session::json::Json;
use crate::session::model::{Call, CallStatus, CutState, Evidence, SessionFacts, TextPiece, TextPieces};
use crate::session::reader::{FormatInfo, ReadProgress, RecordPlace, SessionError, SessionFile};
use crate::session::record::read_json;
use crate::session::transcript::Transcript;
use crate::session::watch::{RecordUse, read_record};

/// The state of a conversation, beside the directory of its events.
const STATE: &str = "base_state.json";

/// Kinds of events that hold nothing about calls.
const OTHER_KINDS: &[&str] = &[
    "SystemPromptEvent",
    "MessageEvent",
    "CondensationRequest",
    "CondensationSummaryEvent",
    "ConversationErrorEvent",
    "ConversationStateUpdateEvent",
    "HookExecutionEvent",
    "InterruptEvent",
    "LLMCompletionLogEvent",
    "PauseEvent",
    "SecurityAnalysisEvent",
    "StreamingDeltaEvent",
    "TokenEvent",
];

/// The conversations of the software-agent-sdk, a JSON file an event.
pub(crate) const OPENHANDS: FileFormat = FileFormat {
    info: FormatInfo::new("openhands", "1.57.0 of the SDK"),
    find: |env, fault| {
        let home = Some(env.home().to_owned()).filter(|home| home.is_absolute());
        find::matching(home, &format!(".openhands/conversations/*/{STATE}"), fault)
    },
    is_session: |path, _| path.ends_with(STATE) && events_of(path).is_dir(),
    id: |state| find::dir_name(state, 1),
    glance: |state, _, _| facts(state),
    records: RecordFiles::Single(|file, _| vec![events_of(&file.path), file.path.clone()], read),
};

fn events_of(state: &Path) -> PathBuf {
    state.with_file_name("events")
}

fn is_event(name: &str) -> bool {
    name.starts_with("event-") && name.ends_with(".json")
}

/// Returns the facts in the state, and in the first event of the user.
fn facts(state: &Path) -> SessionFacts {
    let facts = read_json(state, |record| SessionFacts {
        cwd: record.object("workspace").string("working_dir"),
        model: record.object("agent").object("llm").name("model"),
        ..SessionFacts::default()
    });
    let mut facts = facts.unwrap_or_default();
    let is_early =
        |name: &str| is_event(name) && (name.starts_with("event-00000-") || name.starts_with("event-00001-"));
    for file in find::files(&events_of(state), is_early, &mut |_| {}) {
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
    clock::time(at).or_else(|| clock::local(&at.short(64)?))
}

/// Reads a conversation. Events come, and never change.
fn read(file: &SessionFile, progress: &dyn ReadProgress, out: &mut Transcript) -> Result<(), SessionError> {
    out.facts = facts(&file.path);
    let mut reader = EventReader::default();
    let leaf = read_json(&file.path, |record| record.id("leaf_event_id")).flatten();
    leaf.into_iter().for_each(|leaf| reader.branches.set_leaf(leaf));
    let files = find::files(&events_of(&file.path), is_event, &mut |_| {});
    let total = files.len() as u64;
    for (number, file) in files.into_iter().enumerate() {
        if !progress.step(number as u64, total) {
            return Err(SessionError::GivenUp);
        }
        read_record(file.path, out, |event, place, out| reader.event(event, place, out));
    }
    reader.derive_events(out);
    Ok(())
}

/// Reads the events of a conversation, one after the other.
#[derive(Default)]
struct EventReader {
    branches: Branches,
    /// The events with results, and the numbers of their calls.
    results: Vec<(RecordId, u32)>,
    /// The condensations, each with the events that it takes out.
    condensations: Vec<(RecordId, ContextEvent, Vec<RecordId>)>,
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
                    entry.add_call(id, &event.word("tool_name"), input, out);
                }
            }
            "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" => {
                if let Some(call) = event.name("tool_call_id") {
                    let call = out.number_or_new(0, &call, &event.word("tool_name"));
                    out.unanswered(call).into_iter().for_each(|call| read_observation(entry, &kind, call));
                    self.results.push((id, call));
                }
            }
            "Condensation" => {
                let ids = event.list("forgotten_event_ids");
                let forgotten = ids.filter_map(|id| Some(record_id(&id.short(64)?))).collect();
                let told = entry.event(ContextChange::Compact, Vec::new(), out);
                self.condensations.push((id, told, forgotten));
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
        let living = self.branches.living();
        let (on, left): (Vec<_>, Vec<_>) =
            self.results.into_iter().partition(|(event, _)| living.contains(event));
        let mut off = ContextEvent::recorded(ContextChange::Leave, None);
        off.results = out.results_of(left.into_iter().map(|(_, call)| call));
        let on: IdMap<u32> = on.into_iter().collect();
        for (event, mut told, forgotten) in self.condensations {
            if living.contains(&event) {
                told.results = out.results_of(forgotten.iter().filter_map(|event| on.get(event).copied()));
                out.add_event(told);
            }
        }
        out.add_event(off);
    }
}

fn read_observation(entry: RecordEntry, kind: &str, call: &mut Call) {
    let (event, place) = (entry.record, entry.place);
    let text = |key: &str| event.get(key).map(|text| pieces(text, place)).unwrap_or_default();
    let (evidence, pieces) = match kind {
        "AgentErrorEvent" => {
            call.status = CallStatus::Failed;
            (Evidence::Recorded, text("error"))
        }
        "UserRejectObservation" => {
            call.status = CallStatus::Denied;
            let words = TextPiece::Added("Action rejected: ".into());
            (Evidence::Rendered, std::iter::once(words).chain(text("rejection_reason")).collect())
        }
        _ => {
            let Some(observation) = event.get("observation") else { return };
            observation_text(observation, place, call)
        }
    };
    if call.cut == CutState::Unknown && call.status != CallStatus::NoResult {
        call.cut = CutState::No;
    }
    entry.add_text(evidence, pieces, call);
}

fn observation_text(observation: Json, place: RecordPlace, call: &mut Call) -> (Evidence, TextPieces) {
    call.exit = observation.number("exit_code").filter(|code| *code != -1);
    call.end(observation.flag("is_error"));
    let prefix = observation.path(&["metadata", "prefix"]).map(first_text).unwrap_or_default();
    let lost = prefix.starts_with("[Previous command outputs are truncated.");
    match rendered::render(observation, place) {
        Some(sent) => {
            call.note_cut(sent.saved, lost);
            let is_added = sent.pieces.iter().any(|piece| matches!(piece, TextPiece::Added(_)));
            (if is_added { Evidence::Rendered } else { Evidence::Recorded }, sent.pieces.into())
        }
        // Too long to be rendered: what is recorded, of which less was sent.
        None => {
            call.cut = CutState::Unknown;
            (
                Evidence::Recorded,
                observation.get("content").map(|content| pieces(content, place)).unwrap_or_default(),
            )
        }
    }
}
