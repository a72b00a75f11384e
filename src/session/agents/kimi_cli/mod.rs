//! Kimi CLI: the model's history in one log, the times in another; a history that is taken back or summed up is renamed,
//! and kept.

mod records;

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};

use crate::base::env::Env;
use crate::session::content::title;
use crate::session::find::{self, FoundFile};
use crate::session::format::logs_by;
use crate::session::json::Json;
use crate::session::model::SessionFacts;
use crate::session::reader::{
    FormatInfo, LogReader, LogSession, OpenResult, ReadProgress, SessionFile, SessionFormat, TakeFault,
    TakeSession,
};
use crate::session::record::read_json;

const AGENT: &str = "kimi-cli";

/// The history as the model has it.
const HISTORY: &str = "context.jsonl";

/// What happened, with times.
const EVENTS: &str = "wire.jsonl";

/// The sessions of Kimi CLI, a JSON value a line.
#[derive(Debug)]
pub(crate) struct KimiCli;

impl SessionFormat for KimiCli {
    fn info(&self) -> FormatInfo {
        FormatInfo::new(AGENT, "1.49.0")
    }

    fn find(&self, env: &Env, _: &dyn ReadProgress, found: TakeSession, fault: TakeFault) {
        let Some(root) = find::home_or(env, "KIMI_SHARE_DIR", ".kimi") else { return };
        let projects = projects(&root);
        let histories = find::matching(Some(root), &format!("sessions/*/*/{HISTORY}"), fault);
        histories.iter().for_each(|file| found(session_file(file, &projects)));
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let roles = ["\"_system_prompt\"", "\"_checkpoint\""];
        let looks_alike = roles.iter().any(|role| find::begins_with_line(head, &[role]));
        let projects = || path.ancestors().nth(4).map(projects).unwrap_or_default();
        looks_alike.then(|| find::found_file(path).map(|file| session_file(&file, &projects())))?
    }

    fn glance(&self, file: &SessionFile, _: &[u8], _: &[u8]) -> SessionFacts {
        let events = file.path.with_file_name(EVENTS);
        let (head, tail) = find::ends(&events).unwrap_or_default();
        let facts = find::glance(&head, &tail, &mut note_facts);
        let title = own_title(&file.path).or(facts.title);
        SessionFacts { cwd: file.facts.cwd.clone(), title, ..facts }
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        let new_reader: fn() -> Box<dyn LogReader> = || Box::new(records::KimiReader::default());
        LogSession::open(AGENT, logs_by(&file.path, logs), new_reader, progress)
    }
}

/// The session's id is the name of its directory, the project that of the directory above.
fn session_file(file: &FoundFile, projects: &HashMap<String, String>) -> SessionFile {
    let mut session = file.session(AGENT, find::dir_name(&file.path, 1));
    session.facts.cwd = projects.get(find::dir_name(&file.path, 2)).cloned();
    session
}

/// Returns the directories of the projects by the names that their sessions' directories have.
fn projects(root: &Path) -> HashMap<String, String> {
    let project = |project: Json| {
        let path = project.string("path")?;
        let hash = Md5::digest(path.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let host = project.name("kaos").filter(|host| host != "local");
        Some((host.map_or(hash.clone(), |host| format!("{host}_{hash}")), path))
    };
    let listed = |record: Json| record.list("work_dirs").filter_map(project).collect();
    read_json(root.join("kimi.json"), listed).unwrap_or_default()
}

/// Returns the logs of a session: of the main conversation the histories, oldest first, and the events; then those of the
/// sub-agents. For another file than a session's history, that alone.
fn logs(main: &Path) -> Vec<PathBuf> {
    let dir = main.parent().filter(|_| main.ends_with(HISTORY));
    let Some(dir) = dir else { return vec![main.to_owned()] };
    let sub_agents = find::directories(&dir.join("subagents"), &mut |_| {});
    std::iter::once(dir.to_owned()).chain(sub_agents).flat_map(|dir| of_conversation(&dir)).collect()
}

fn of_conversation(dir: &Path) -> Vec<PathBuf> {
    let is_old = |name: &str| old_number(name).is_some();
    let old = find::files(dir, is_old, &mut |_| {}).into_iter().map(|file| file.path);
    let mut logs: Vec<_> = old.filter_map(|path| Some((number_of(&path)?, path))).collect();
    logs.sort();
    let newest = [HISTORY, EVENTS].map(|name| dir.join(name)).into_iter().filter(|path| path.is_file());
    logs.into_iter().map(|(_, path)| path).chain(newest).collect()
}

fn number_of(path: &Path) -> Option<u64> {
    old_number(path.file_name()?.to_str()?)
}

/// Returns the number of a history that was renamed: 2 of `context_2.jsonl`.
fn old_number(name: &str) -> Option<u64> {
    name.strip_prefix("context_")?.strip_suffix(".jsonl")?.parse().ok()
}

/// Returns the title that the agent or the user gave to a session.
fn own_title(history: &Path) -> Option<String> {
    let title = read_json(history.with_file_name("state.json"), |record| record.string("custom_title"));
    title.flatten().filter(|title| !title.is_empty())
}

/// Takes over what an event tells of the session.
fn note_facts(record: Json, facts: &mut SessionFacts) {
    let at = record.time("timestamp");
    facts.note_time(at);
    let message = record.get("message").filter(|message| message.is_type("TurnBegin"));
    if let (None, Some(message)) = (&facts.title, message) {
        facts.title = title(message.path(&["payload", "user_input"]));
    }
}
