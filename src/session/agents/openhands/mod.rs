//! OpenHands: a JSON file for each event of a conversation; what is sent has lines around what is recorded.

mod rendered;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::env::Env;
use crate::session::branch::Branches;
use crate::session::clock;
use crate::session::content::{first_text, flag, is, items, name, pieces, text};
use crate::session::context::ContextEvent;
use crate::session::entry::RecordEntry;
use crate::session::fate::ContextChange;
use crate::session::find::{self, FoundFile};
use crate::session::id::{IdMap, RecordId, record_id};
use crate::session::json::{Json, Tape};
use crate::session::model::{Call, CallStatus, CutState, Evidence, SessionFacts, TextPiece, TextPieces};
use crate::session::reader::{
    OpenResult, ReadProgress, RecordPlace, SessionError, SessionFile, SessionFormat, TakeFault, TakeSession,
};
use crate::session::record::FileRecords;
use crate::session::transcript::Transcript;
use crate::session::watch::WatchedSession;

const AGENT: &str = "openhands";

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
#[derive(Debug)]
pub(crate) struct OpenHands;

impl SessionFormat for OpenHands {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn seen(&self) -> &'static str {
        "1.57.0 of the SDK"
    }

    fn find(&self, env: &Env, _: &dyn ReadProgress, found: TakeSession, fault: TakeFault) {
        let home = Some(env.home()).filter(|home| home.is_absolute());
        let home = home.map(Path::to_owned);
        let states = find::matching(home, &format!(".openhands/conversations/*/{STATE}"), fault);
        states.iter().for_each(|file| found(session_file(file)));
    }

    fn recognise(&self, path: &Path, _: &[u8]) -> Option<SessionFile> {
        let is_state = path.ends_with(STATE) && events_of(path).is_dir();
        is_state.then(|| find::found_file(path).map(|file| session_file(&file)))?
    }

    fn glance(&self, file: &SessionFile, _: &[u8], _: &[u8]) -> SessionFacts {
        facts(&file.path)
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        let paths = |file: &SessionFile, _: &Transcript| vec![events_of(&file.path), file.path.clone()];
        WatchedSession::open(AGENT, file, paths, Box::new(read), progress)
    }
}

/// The conversation's id is the name of its directory.
fn session_file(file: &FoundFile) -> SessionFile {
    file.session(AGENT, find::dir_name(&file.path, 1))
}

fn events_of(state: &Path) -> PathBuf {
    state.with_file_name("events")
}

fn is_event(name: &str) -> bool {
    name.starts_with("event-") && name.ends_with(".json")
}

/// Returns what the state tells, and the first event of the user.
fn facts(state: &Path) -> SessionFacts {
    let bytes = FileRecords::new(state).whole().unwrap_or_default();
    let mut tape = Tape::default();
    let mut facts = SessionFacts::default();
    if let Ok(record) = tape.read(bytes.trim_ascii()) {
        facts.cwd = record.get("workspace").and_then(|workspace| text(workspace, "working_dir"));
        facts.model = record.path(&["agent", "llm"]).and_then(|llm| name(llm, "model"));
    }
    let is_early =
        |name: &str| is_event(name) && (name.starts_with("event-00000-") || name.starts_with("event-00001-"));
    for file in find::files(&events_of(state), is_early, &mut |_| {}) {
        let bytes = FileRecords::new(&file.path).whole().unwrap_or_default();
        let Ok(event) = tape.read(&bytes) else { continue };
        facts.started = facts.started.or(time(event));
        let words = event.path(&["llm_message", "content"]).map(first_text).filter(|words| !words.is_empty());
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
    let mut reader = EventReader::new(&file.path);
    let files = find::files(&events_of(&file.path), is_event, &mut |_| {});
    let total = files.len() as u64;
    for (number, file) in files.into_iter().enumerate() {
        if !progress.step(number as u64, total) {
            return Err(SessionError::GivenUp);
        }
        reader.file(file.path);
    }
    *out = reader.done();
    Ok(())
}

/// Reads the events of a conversation, one after the other.
struct EventReader {
    out: Transcript,
    branches: Branches,
    /// The events with results, and the numbers of their calls.
    results: Vec<(RecordId, u32)>,
    /// The condensations, each with the events that it takes out.
    condensations: Vec<(RecordId, ContextEvent, Vec<RecordId>)>,
    /// The last answer of the model that was counted: one may have several calls.
    answer: Option<String>,
}

impl EventReader {
    fn new(state: &Path) -> Self {
        let mut out = Transcript::new(AGENT);
        out.facts = facts(state);
        let mut branches = Branches::default();
        let bytes = FileRecords::new(state).whole().unwrap_or_default();
        let mut tape = Tape::default();
        let leaf = tape.read(bytes.trim_ascii()).ok().and_then(|record| name(record, "leaf_event_id"));
        leaf.iter().for_each(|leaf| branches.set_leaf(record_id(leaf)));
        Self { out, branches, results: Vec::new(), condensations: Vec::new(), answer: None }
    }

    fn file(&mut self, path: PathBuf) {
        self.out.unread.records += 1;
        let records = FileRecords::new(path);
        let bytes = records.whole();
        let mut tape = Tape::default();
        let Some(Ok(event)) = bytes.as_ref().ok().map(|bytes| tape.read(bytes)) else {
            self.out.unread.broken += 1;
            return;
        };
        let source = self.out.sources.len() as u32;
        let kind = name(event, "kind").unwrap_or_default();
        if matches!(
            kind.as_str(),
            "ActionEvent" | "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" | "Condensation"
        ) {
            self.out.add_source(Arc::new(records.clone()));
        }
        let is_known = self.event(event, &kind, RecordPlace { source, row: 0, start: 0 });
        self.out.unread.known += u64::from(is_known);
    }

    fn event(&mut self, event: Json, kind: &str, place: RecordPlace) -> bool {
        let (id, at) = (name(event, "id").map(|id| record_id(&id)).unwrap_or_default(), time(event));
        self.branches
            .add(id, name(event, "parent_id").map(|parent| record_id(&parent)).or(self.branches.last()));
        self.out.facts.ended = self.out.facts.ended.max(at);
        self.count_answer(event, kind);
        let entry = RecordEntry { record: event, place, at, thread: 0 };
        match kind {
            "ActionEvent" => {
                if let Some(id) = name(event, "tool_call_id") {
                    let input = event.get("action").filter(|action| !action.is_null());
                    entry.add_call(id, &name(event, "tool_name").unwrap_or_default(), input, &mut self.out);
                }
            }
            "ObservationEvent" | "AgentErrorEvent" | "UserRejectObservation" => {
                if let Some(call) = name(event, "tool_call_id") {
                    observed(entry, kind, &call, &mut self.out);
                    self.results.extend(self.out.call_number(0, &call).map(|call| (id, call)));
                }
            }
            "Condensation" => {
                let ids = items(event, "forgotten_event_ids");
                let forgotten = ids.filter_map(|id| Some(record_id(&id.short(64)?))).collect();
                let told = entry.event(ContextChange::Compact, Vec::new(), &self.out);
                self.condensations.push((id, told, forgotten));
            }
            kind if OTHER_KINDS.contains(&kind) => {}
            kind => {
                self.out.unread.unknown(kind);
                return false;
            }
        }
        true
    }

    fn count_answer(&mut self, event: Json, kind: &str) {
        let is_agents = is(event, "source", "agent");
        let is_answer = kind == "ActionEvent" || (kind == "MessageEvent" && is_agents);
        let answer = name(event, "llm_response_id").filter(|_| is_answer);
        if is_answer && (answer.is_none() || answer != self.answer) {
            self.out.count_answer(0);
            self.answer = answer;
        }
    }

    fn done(mut self) -> Transcript {
        let living = self.branches.living();
        let (on, left): (Vec<_>, Vec<_>) =
            self.results.into_iter().partition(|(event, _)| living.contains(event));
        let mut off = ContextEvent::recorded(ContextChange::Leave, None);
        off.results = left.into_iter().flat_map(|(_, call)| self.out.result_ids(call)).collect();
        let on: IdMap<u32> = on.into_iter().collect();
        for (event, mut told, forgotten) in self.condensations {
            if living.contains(&event) {
                let calls = forgotten.iter().filter_map(|event| on.get(event));
                told.results = calls.flat_map(|call| self.out.result_ids(*call)).collect();
                self.out.events.push(told);
            }
        }
        self.out.events.extend((!off.results.is_empty()).then_some(off));
        self.out
    }
}

fn observed(entry: RecordEntry, kind: &str, id: &str, out: &mut Transcript) {
    let (event, place) = (entry.record, entry.place);
    let call = out.call_or_new(0, id, &name(event, "tool_name").unwrap_or_default());
    if !call.results.is_empty() {
        return;
    }
    let (evidence, pieces) = match kind {
        "AgentErrorEvent" => {
            call.status = CallStatus::Failed;
            (Evidence::Recorded, event.get("error").map(|error| pieces(error, place)).unwrap_or_default())
        }
        "UserRejectObservation" => {
            call.status = CallStatus::Denied;
            let reason =
                event.get("rejection_reason").map(|reason| pieces(reason, place)).unwrap_or_default();
            let words = TextPiece::Added("Action rejected: ".into());
            (Evidence::Rendered, std::iter::once(words).chain(reason).collect())
        }
        _ => {
            let Some(observation) = event.get("observation") else { return };
            observation_of(observation, place, call)
        }
    };
    if call.cut == CutState::Unknown && call.status != CallStatus::NoResult {
        call.cut = CutState::No;
    }
    entry.add_text(evidence, pieces, call);
}

fn observation_of(observation: Json, place: RecordPlace, call: &mut Call) -> (Evidence, TextPieces) {
    let code = observation.get("exit_code").and_then(|code| code.int()).filter(|code| *code != -1);
    call.exit = code.and_then(|code| code.try_into().ok());
    call.end(flag(observation, "is_error"));
    let prefix = observation.path(&["metadata", "prefix"]).map(first_text).unwrap_or_default();
    let lost = prefix.starts_with("[Previous command outputs are truncated.");
    match rendered::sent(observation, place) {
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
