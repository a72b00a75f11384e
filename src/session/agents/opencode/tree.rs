//! opencode up to 1.1: a JSON file for each session, message and part.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::session::find::{self, FoundFile, stem};
use crate::session::format::{FileFormat, RecordFiles};
use crate::session::json::{Json, Tape};
use crate::session::model::SessionFacts;
use crate::session::reader::{FormatInfo, ReadProgress, SessionError, SessionFile};
use crate::session::record::{FileRecords, read_json};
use crate::session::transcript::Transcript;
use crate::session::watch::{RecordUse, read_record};

use super::history::SessionHistory;

pub(crate) const OPENCODE_TREE: FileFormat = FileFormat {
    info: FormatInfo { agent: "opencode", name: "opencode (files)", made_for: "1.1.53" },
    find: |env, fault| {
        let root = find::data_dir(env, "opencode/storage/session");
        let with_facts = |file: FoundFile| Some(FoundFile { facts: read_json(&file.path, facts)?, ..file });
        let sessions = find::matching(root, "*/*.json", fault).into_iter().filter_map(with_facts);
        // Those of sub-agents are part of their parents.
        sessions.filter(|session| session.facts.parent.is_none()).collect()
    },
    is_session: |_, head| {
        let mut tape = Tape::default();
        let record = tape.read(head.trim_ascii()).ok();
        record.is_some_and(|record| record.name("projectID").is_some() && record.name("directory").is_some())
    },
    id: stem,
    glance: |path, _, _| read_json(path, facts).unwrap_or_default(),
    records: RecordFiles::Single(files, read),
};

fn is_json(name: &str) -> bool {
    name.ends_with(".json")
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

/// Returns the files by which a change is noticed: those of the parts, and the directory of the sessions, in
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
    out.facts = read_json(&file.path, facts).unwrap_or_default();
    let storage = storage(file);
    let mut threads = vec![(file.id.clone(), 0)];
    threads.extend(children(file, out));
    for (session, thread) in threads {
        let mut history = SessionHistory::new(thread);
        read_messages(&storage, &session, &mut history, progress, out)?;
        // The message from which on the person took all back.
        let revert = read_json(file.path.with_file_name(format!("{session}.json")), |session| {
            session.object("revert").name("messageID")
        });
        history.derive_events(revert.flatten().as_deref(), out);
    }
    Ok(())
}

fn messages(storage: &Path, session: &str) -> Vec<FoundFile> {
    find::files(&storage.join("message").join(session), is_json, &mut |_| {})
}

fn parts(storage: &Path, message: &FoundFile) -> Vec<FoundFile> {
    find::files(&storage.join("part").join(stem(&message.path)), is_json, &mut |_| {})
}

/// Returns the sessions of sub-agents, which lie beside their parent's.
fn children(parent: &SessionFile, out: &mut Transcript) -> Vec<(String, u32)> {
    let Some(project) = parent.path.parent() else { return Vec::new() };
    let child = |file: FoundFile| {
        let facts = read_json(&file.path, facts).filter(|facts| facts.parent.as_ref() == Some(&parent.id))?;
        let id = stem(&file.path);
        let thread = out.thread_id(id);
        out.describe_thread(thread, facts.title.or(Some(String::new())), None);
        Some((id.to_owned(), thread))
    };
    find::files(project, is_json, &mut |_| {}).into_iter().filter_map(child).collect()
}

/// Reads the messages of a session, in the order of their times.
fn read_messages(
    storage: &Path,
    session: &str,
    history: &mut SessionHistory,
    progress: &dyn ReadProgress,
    out: &mut Transcript,
) -> Result<(), SessionError> {
    let created =
        |file: &FoundFile| read_json(&file.path, |message| message.object("time").time("created")).flatten();
    let mut messages: Vec<(Option<Timestamp>, FoundFile)> =
        messages(storage, session).into_iter().map(|file| (created(&file), file)).collect();
    messages.sort_by_key(|(at, _)| *at);
    let total = messages.len() as u64;
    for (at, file) in &messages {
        let bytes = FileRecords::new(&file.path).whole().unwrap_or_default();
        let mut tape = Tape::default();
        history.add_message(stem(&file.path), *at, tape.read(&bytes).ok());
    }
    for (number, (_, message)) in messages.iter().enumerate() {
        if !progress.step(number as u64, total) {
            return Err(SessionError::GivenUp);
        }
        for part in parts(storage, message) {
            read_record(part.path, out, |record, place, out| {
                let calls = out.calls.len();
                match history.part(stem(&message.path), record, place, out) {
                    false => RecordUse::Unknown,
                    true if out.calls.len() > calls || record.is_type("compaction") => RecordUse::Kept,
                    true => RecordUse::Known,
                }
            });
        }
    }
    Ok(())
}
