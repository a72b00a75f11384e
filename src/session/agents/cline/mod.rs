//! Cline since its 3.x command line: one JSON document a conversation, and one about the session. One call may have several
//! commands.

mod context;
mod rendered;

use std::path::{Path, PathBuf};

use crate::base::env::Env;
use crate::session::content::number_after;
use crate::session::document::{before_member, count_records};
use crate::session::entry::RecordEntry;
use crate::session::find;
use crate::session::format::{FileFormat, RecordFiles, files_by};
use crate::session::json::Json;
use crate::session::model::{CutState, DisplayCopy, Evidence, RecordSpan, SessionFacts};
use crate::session::reader::{FormatInfo, RecordPlace};
use crate::session::record::read_json;
use crate::session::transcript::Transcript;

use self::context::{Compaction, FileReads};

/// How the name of a conversation's file ends.
const MESSAGES: &str = ".messages.json";

/// How the name of the file with its newest compaction ends.
const COMPACTION: &str = ".compaction.json";

/// The length from which an output was cut before it was recorded, in UTF-16 units; a shorter one is whole.
const EXECUTOR: u32 = 48_000;

/// The sessions of Cline, JSON documents.
pub(crate) const CLINE: FileFormat = FileFormat {
    info: FormatInfo::new("cline", "3.0.65"),
    find: |env, fault| {
        let Some(data) = data_dir(env) else { return Vec::new() };
        let sessions = find::directories(&data.join("sessions"), fault).into_iter();
        let main = |dir: PathBuf| {
            let id = find::dir_name(&dir, 0);
            find::found_file(&dir.join(format!("{id}{MESSAGES}")))
        };
        sessions.filter_map(main).collect()
    },
    is_session: |_, head| {
        let has =
            |start: Json| ["sessionId", "updated_at", "agent"].iter().all(|key| start.get(key).is_some());
        before_member(head, "messages", has).unwrap_or(false)
    },
    // The name of a conversation's file without its ending.
    id: |path| id_of(path).unwrap_or_default(),
    glance: |path, head, _| {
        with_manifest(path, before_member(head, "messages", facts_of).unwrap_or_default())
    },
    records: RecordFiles::Documents(|main| files_by(main, conversations), read),
};

/// Returns the directory of the agent's data.
pub(super) fn data_dir(env: &Env) -> Option<PathBuf> {
    let named = find::home_or(env, "CLINE_DIR", ".cline").map(|dir| dir.join("data"));
    find::named_dir(env, "CLINE_DATA_DIR").or(named)
}

fn id_of(messages: &Path) -> Option<&str> {
    messages.file_name()?.to_str()?.strip_suffix(MESSAGES)
}

/// Returns the file of the main conversation, and those of its sub-agents and of compactions, which lie beside it.
fn conversations(main: &Path) -> Vec<PathBuf> {
    let is_main = id_of(main) == Some(find::dir_name(main, 1));
    let dir = main.parent().filter(|_| is_main);
    let beside = dir.map(|dir| find::files(dir, is_followed, &mut |_| {}));
    let others = beside.into_iter().flatten().map(|file| file.path).filter(|path| path != main);
    std::iter::once(main.to_owned()).chain(others).collect()
}

fn is_followed(name: &str) -> bool {
    name.ends_with(MESSAGES) || name.ends_with(COMPACTION)
}

fn facts_of(document: Json) -> SessionFacts {
    SessionFacts {
        id: document.name("sessionId").unwrap_or_default(),
        version: document.object("origin").name("version"),
        parent: document.object("origin").name("parentThreadId"),
        ended: document.time("updated_at"),
        ..SessionFacts::default()
    }
}

/// Adds the facts in the document about the session.
fn with_manifest(messages: &Path, facts: SessionFacts) -> SessionFacts {
    read_manifest(messages, |manifest| SessionFacts {
        cwd: manifest.string("cwd"),
        title: manifest.object("metadata").string("title").or(manifest.string("prompt")),
        model: manifest.name("model"),
        started: manifest.time("started_at"),
        ended: facts.ended.max(manifest.time("ended_at")),
        ..facts.clone()
    })
    .unwrap_or(facts)
}

/// Reads the document about the session, if there is one.
fn read_manifest<T>(messages: &Path, take: impl FnOnce(Json) -> T) -> Option<T> {
    read_json(messages.with_file_name(format!("{}.json", id_of(messages)?)), take)
}

/// Returns the file with the newest compaction of a conversation: it lies beside the messages, also if the document about
/// the session claims another place.
fn compaction_of(messages: &Path) -> Option<PathBuf> {
    let claimed = read_manifest(messages, |manifest| manifest.string("compaction_path")).flatten();
    let claimed = claimed.and_then(|path| Some(Path::new(&path).file_name()?.to_owned()));
    let usual = || Some(format!("{}{COMPACTION}", id_of(messages)?).into());
    Some(messages.with_file_name(claimed.or_else(usual)?))
}

fn read(document: Json, place: RecordPlace, path: &Path, out: &mut Transcript) {
    if path.to_str().is_some_and(|path| path.ends_with(COMPACTION)) {
        return;
    }
    let is_main = place.source == 0;
    let thread = if is_main {
        out.facts = with_manifest(path, facts_of(document));
        0
    } else {
        let sub_agent = document.object("origin").name("subagent");
        out.thread_id(&sub_agent.or(id_of(path).map(str::to_owned)).unwrap_or_default())
    };
    let Some(messages) = count_records(document.get("messages"), out) else { return };
    let count = messages.items().count();
    // The compaction of a longer conversation, which was taken back since then, is not used.
    let compaction = compaction_of(path).and_then(|path| Compaction::read(&path, out));
    let compaction = compaction.filter(|compaction| compaction.messages <= count);
    let (mut reads, first) = (FileReads::default(), out.calls.len() as u32);
    for (number, message) in messages.items().enumerate() {
        if let Some(compaction) = compaction.as_ref().filter(|compaction| compaction.messages == number) {
            compaction.apply(thread, first, &mut reads, out);
        }
        let at = message.time("ts");
        if message.has("role", "assistant") {
            reads.clear(thread, at, out);
            out.count_answer(thread);
        }
        for block in message.list("content") {
            let entry = RecordEntry { record: block, place, at, thread };
            if block.is_type("tool_use") {
                entry.add_call_of(block, ["id", "name", "input"], out);
            } else if block.is_type("tool_result")
                && let Some(call) = result(entry, out)
            {
                reads.note(call, block, place, out);
            }
        }
    }
    if let Some(compaction) = compaction.filter(|compaction| compaction.messages == count) {
        compaction.apply(thread, first, &mut reads, out);
    }
}

/// Reads a result. Returns the number of its call, unless that has one already.
fn result(entry: RecordEntry, out: &mut Transcript) -> Option<u32> {
    let (block, thread) = (entry.record, entry.thread);
    let (id, content) = (block.name("tool_use_id")?, block.get("content")?);
    let number = out.number_or_new(thread, &id, &block.word("name"));
    let call = out.unanswered(number)?;
    let is_failed = |item: &Json| item.get("success").and_then(|flag| flag.bool()) == Some(false);
    let first_failed = content.items().find(is_failed);
    call.end(block.flag("is_error") || first_failed.is_some());
    let error = first_failed.map(|item| item.word("error")).unwrap_or_default();
    call.exit = number_after(&error, "Command exited with code ");
    match rendered::render(content, entry.place) {
        Some(sent) => {
            call.note_cut(None, sent.is_cut);
            let copy = |span: &RecordSpan| DisplayCopy::new("result", *span, Some(EXECUTOR));
            call.display = sent.cut.iter().map(copy).collect();
            entry.add_text(Evidence::Rendered, sent.pieces, call);
        }
        None => {
            call.cut = CutState::No;
            entry.add_result(Some(content), call);
        }
    }
    Some(number)
}
