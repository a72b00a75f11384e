//! Kimi CLI: the model's history in one log, the times in another; a history that is taken back or summed up is renamed,
//! and kept.

mod records;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use md5::{Digest, Md5};

use crate::session::content::title;
use crate::session::find;
use crate::session::format::{FileFormat, RecordFiles, files_by};
use crate::session::json::Json;
use crate::session::model::SessionFacts;
use crate::session::reader::FormatInfo;
use crate::session::record::read_json;

use records::KimiReader;

/// The history as the model has it.
const HISTORY: &str = "context.jsonl";

/// What happened, with times.
const EVENTS: &str = "wire.jsonl";

/// The sessions of Kimi CLI, a JSON value a line.
pub(crate) const KIMI_CLI: FileFormat = FileFormat {
    info: FormatInfo::new("kimi-cli", "1.49.0"),
    find: |env, fault| {
        let root = find::home_or(env, "KIMI_SHARE_DIR", ".kimi");
        find::matching(root, &format!("sessions/*/*/{HISTORY}"), fault)
    },
    is_session: |_, head| {
        let roles = ["\"_system_prompt\"", "\"_checkpoint\""];
        roles.iter().any(|role| find::begins_with_line(head, &[role]))
    },
    id: |history| find::dir_name(history, 1),
    glance: |history, _, _| {
        let (head, tail) = find::ends(&history.with_file_name(EVENTS)).unwrap_or_default();
        let facts = find::glance(&head, &tail, note_facts);
        let title = own_title(history).or(facts.title);
        SessionFacts { cwd: project_of(history), title, ..facts }
    },
    records: RecordFiles::Logs(|main| files_by(main, logs), || Box::new(KimiReader::default())),
};

/// Returns the directory of the project of a session, for which the directory above the session's is named.
fn project_of(history: &Path) -> Option<String> {
    let name = find::dir_name(history, 2);
    let is_meant = |project: &Json| {
        let Some(path) = project.string("path") else { return false };
        let hash = Md5::digest(path.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        });
        let host = project.name("kaos").filter(|host| host != "local");
        host.map_or(hash.clone(), |host| format!("{host}_{hash}")) == name
    };
    let root = history.ancestors().nth(4)?;
    read_json(root.join("kimi.json"), |record| {
        record.list("work_dirs").filter(is_meant).last()?.string("path")
    })?
}

/// Returns the logs of a session: of the main conversation the histories, oldest first, and the events; then those of the
/// sub-agents. For another file than a session's history, that alone.
fn logs(main: &Path) -> Vec<PathBuf> {
    let dir = main.parent().filter(|_| main.ends_with(HISTORY));
    let Some(dir) = dir else { return vec![main.to_owned()] };
    let sub_agents = find::directories(&dir.join("subagents"), &mut |_| {});
    std::iter::once(dir.to_owned()).chain(sub_agents).flat_map(|dir| conversation_logs(&dir)).collect()
}

fn conversation_logs(dir: &Path) -> Vec<PathBuf> {
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

/// Takes over the facts of an event.
fn note_facts(record: Json, facts: &mut SessionFacts) {
    facts.note_time(record.time("timestamp"));
    let message = record.get("message").filter(|message| message.is_type("TurnBegin"));
    if let (None, Some(message)) = (&facts.title, message) {
        facts.title = title(message.path(&["payload", "user_input"]));
    }
}
