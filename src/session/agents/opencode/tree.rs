//! opencode up to 1.1: a JSON file for each session, message and part.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::base::env::Env;
use crate::session::find::{self, FoundFile};
use crate::session::json::{Json, Tape};
use crate::session::model::SessionFacts;
use crate::session::reader::{
    FormatInfo, OpenResult, ReadProgress, RecordPlace, SessionError, SessionFile, SessionFormat, TakeFault,
    TakeSession,
};
use crate::session::record::{FileRecords, read_json};
use crate::session::transcript::Transcript;
use crate::session::watch::WatchedSession;

use super::history::SessionHistory;

const AGENT: &str = "opencode";
const FORM: &str = "opencode (files)";

/// The sessions of opencode as trees of JSON files.
#[derive(Debug)]
pub(crate) struct OpencodeTree;

impl SessionFormat for OpencodeTree {
    fn info(&self) -> FormatInfo {
        FormatInfo { agent: AGENT, name: FORM, made_for: "1.1.53" }
    }

    fn find(&self, env: &Env, _: &dyn ReadProgress, found: TakeSession, fault: TakeFault) {
        let root = find::data_dir(env, "opencode/storage/session");
        let sessions =
            find::matching(root, "*/*.json", fault).into_iter().filter_map(|file| session_file(&file));
        // Those of sub-agents are part of their parents.
        sessions.filter(|session| session.facts.parent.is_none()).for_each(found);
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let mut tape = Tape::default();
        let record = tape.read(head.trim_ascii()).ok()?;
        let looks_alike = record.name("projectID").is_some() && record.name("directory").is_some();
        looks_alike.then(|| session_file(&find::found_file(path)?))?
    }

    fn glance(&self, file: &SessionFile, _: &[u8], _: &[u8]) -> SessionFacts {
        file.facts.clone()
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        WatchedSession::open(AGENT, file, files, Box::new(read), progress)
    }
}

fn is_json(name: &str) -> bool {
    name.ends_with(".json")
}

fn session_file(file: &FoundFile) -> Option<SessionFile> {
    read_json(&file.path, facts).map(|facts| SessionFile { facts, ..file.session(FORM, file.stem()) })
}

fn facts(record: Json) -> SessionFacts {
    let time = record.object("time");
    SessionFacts {
        id: record.name("id").unwrap_or_default(),
        version: record.name("version"),
        cwd: record.string("directory"),
        title: record.string("title"),
        parent: record.name("parentID"),
        started: time.time("created"),
        ended: time.time("updated"),
        ..SessionFacts::default()
    }
}

fn storage(file: &SessionFile) -> PathBuf {
    file.path.ancestors().nth(3).map(Path::to_owned).unwrap_or_default()
}

/// Returns the files that tell whether anything changed: those of the parts, and the directory of the sessions, in
/// which those of sub-agents come.
fn files(file: &SessionFile, transcript: &Transcript) -> Vec<PathBuf> {
    let storage = storage(file);
    let others = transcript.threads.iter().skip(1).map(|thread| &*thread.id);
    let sessions = std::iter::once(file.id.as_str()).chain(others);
    let messages = sessions.flat_map(|session| messages(&storage, session));
    let files = messages.flat_map(|message| {
        let parts = parts(&storage, &message).into_iter().map(|part| part.path);
        parts.chain([message.path])
    });
    file.path.parent().map(Path::to_owned).into_iter().chain([file.path.clone()]).chain(files).collect()
}

fn read(file: &SessionFile, progress: &dyn ReadProgress, out: &mut Transcript) -> Result<(), SessionError> {
    let storage = storage(file);
    let mut threads = vec![(file.id.clone(), 0)];
    threads.extend(children(file, out));
    for (session, thread) in threads {
        let mut history = SessionHistory::new(thread);
        read_messages(&storage, &session, &mut history, progress, out)?;
        let path = file.path.with_file_name(format!("{session}.json"));
        history.derive_events(reverted(&path).as_deref(), out);
    }
    Ok(())
}

fn messages(storage: &Path, session: &str) -> Vec<FoundFile> {
    find::files(&storage.join("message").join(session), is_json, &mut |_| {})
}

fn parts(storage: &Path, message: &FoundFile) -> Vec<FoundFile> {
    find::files(&storage.join("part").join(message.stem()), is_json, &mut |_| {})
}

/// Returns the sessions of sub-agents, which lie beside their parent's.
fn children(parent: &SessionFile, out: &mut Transcript) -> Vec<(String, u32)> {
    let Some(project) = parent.path.parent() else { return Vec::new() };
    let files = find::files(project, is_json, &mut |_| {});
    let sessions = files.iter().filter_map(session_file);
    let ours = sessions.filter(|session| session.facts.parent.as_deref() == Some(parent.id.as_str()));
    ours.map(|session| {
        let thread = out.thread_id(&session.id);
        if let Some(thread) = out.threads.get_mut(thread as usize) {
            thread.name = session.facts.title.unwrap_or_default().into();
        }
        (session.id, thread)
    })
    .collect()
}

/// Returns the message of a session from which on the person took all back, if so.
fn reverted(path: &Path) -> Option<String> {
    read_json(path, |session| session.object("revert").name("messageID")).flatten()
}

/// Reads the messages of a session, in the order of their times.
fn read_messages(
    storage: &Path,
    session: &str,
    history: &mut SessionHistory,
    progress: &dyn ReadProgress,
    out: &mut Transcript,
) -> Result<(), SessionError> {
    let mut messages: Vec<_> =
        messages(storage, session).into_iter().map(|file| (created(&file), file)).collect();
    messages.sort_by_key(|(at, _)| *at);
    let total = messages.len() as u64;
    for (at, file) in &messages {
        let bytes = FileRecords::new(&file.path).whole().unwrap_or_default();
        let mut tape = Tape::default();
        history.add_message(file.stem(), *at, tape.read(&bytes).ok());
    }
    for (number, (_, message)) in messages.iter().enumerate() {
        if !progress.step(number as u64, total) {
            return Err(SessionError::GivenUp);
        }
        let parts = parts(storage, message).into_iter();
        parts.for_each(|part| read_part(part.path, message.stem(), history, out));
    }
    Ok(())
}

fn created(message: &FoundFile) -> Option<Timestamp> {
    read_json(&message.path, |message| message.object("time").time("created")).flatten()
}

fn read_part(path: PathBuf, message: &str, history: &mut SessionHistory, out: &mut Transcript) {
    out.unread.records += 1;
    let records = FileRecords::new(path);
    let bytes = records.whole();
    let mut tape = Tape::default();
    let Some(Ok(record)) = bytes.as_ref().ok().map(|bytes| tape.read(bytes)) else {
        out.unread.broken += 1;
        return;
    };
    let (calls, source) = (out.calls.len(), out.sources.len() as u32);
    let is_known = history.part(message, record, RecordPlace { source, row: 0, start: 0 }, out);
    out.unread.known += u64::from(is_known);
    if out.calls.len() > calls || record.is_type("compaction") {
        out.add_source(Arc::new(records));
    }
}
