//! pi: a log that is a tree, of which the branch to the last entry counts.

mod changes;
mod entries;

use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::env::Env;
use crate::session::clock;
use crate::session::content::{first_text, is_type, name, text};
use crate::session::find::{self, FoundFile};
use crate::session::json::Json;
use crate::session::model::SessionFacts;
use crate::session::reader::{
    LogSession, OpenResult, ReadProgress, SessionFile, SessionFormat, TakeFault, TakeSession,
};

pub(super) use entries::PiReader;

const AGENT: &str = "pi";

/// The sessions of pi, a JSON value a line.
#[derive(Debug)]
pub(crate) struct Pi;

impl SessionFormat for Pi {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn seen(&self) -> &'static str {
        "1.5.2"
    }

    fn find(&self, env: &Env, _: &dyn ReadProgress, found: TakeSession, fault: TakeFault) {
        let Some(root) = find::home_or(env, "PI_CODING_AGENT_DIR", ".pi/agent") else { return };
        for project in find::directories(&root.join("sessions"), fault) {
            let files = find::files(&project, |name| name.ends_with(".jsonl"), fault);
            files.iter().for_each(|file| found(session_file(file)));
        }
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let first = find::first_line(head);
        let is_header = memmem::find(first, b"\"type\":\"session\"").is_some()
            && memmem::find(first, b"\"cwd\"").is_some();
        is_header.then(|| find::found_file(path).map(|file| session_file(&file)))?
    }

    fn glance(&self, _: &SessionFile, head: &[u8], tail: &[u8]) -> SessionFacts {
        find::glance(head, tail, &mut note_facts)
    }

    fn logs(&self, file: &SessionFile) -> Vec<PathBuf> {
        file.only_log()
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        LogSession::open(AGENT, vec![file.path.clone()], || Box::new(PiReader::default()), progress)
    }
}

/// The name of a session's file is a time and its id.
fn session_file(file: &FoundFile) -> SessionFile {
    let id = file.stem().split_once('_').map_or(file.stem(), |(_, id)| id);
    file.session(AGENT, id)
}

/// Notes what an entry says about its session.
pub(super) fn note_facts(record: Json, facts: &mut SessionFacts) {
    let at = record.get("timestamp").and_then(clock::time);
    facts.note_time(at);
    if is_type(record, "session") {
        facts.id = name(record, "id").unwrap_or_default();
        facts.cwd = text(record, "cwd");
        facts.parent = text(record, "parentSession");
    }
    if facts.origin.is_none() && !is_type(record, "session") {
        facts.origin = name(record, "id");
    }
    if is_type(record, "model_change") {
        facts.model = name(record, "modelId").or(facts.model.take());
    }
    if is_type(record, "session_info") {
        facts.title = text(record, "name").or(facts.title.take());
    }
    let message = record.get("message").filter(|_| facts.title.is_none());
    if let Some(message) = message.filter(|message| message.get("role").is_some_and(|role| role.is("user"))) {
        facts.title = message.get("content").map(first_text).filter(|words| !words.is_empty());
    }
}
