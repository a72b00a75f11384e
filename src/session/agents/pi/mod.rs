//! pi: a log that is a tree, of which the branch to the last entry counts.

mod changes;
mod entries;

use crate::session::content::title;
use crate::session::find;
use crate::session::format::{FileFormat, RecordFiles, only_file};
use crate::session::json::Json;
use crate::session::model::SessionFacts;
use crate::session::reader::FormatInfo;

pub(super) use entries::PiReader;

/// The sessions of pi, a JSON value a line.
pub(crate) const PI: FileFormat = FileFormat {
    info: FormatInfo::new("pi", "1.5.2"),
    find: |env, fault| {
        find::matching(find::home_or(env, "PI_CODING_AGENT_DIR", ".pi/agent"), "sessions/*/*.jsonl", fault)
    },
    is_session: |_, head| find::begins_with_line(head, &["\"type\":\"session\"", "\"cwd\""]),
    // The name is a time and the id.
    id: |log| find::stem(log).split_once('_').map_or(find::stem(log), |(_, id)| id),
    glance: |_, head, tail| find::glance(head, tail, note_facts),
    records: RecordFiles::Logs(only_file, || Box::new(PiReader::default())),
};

pub(super) fn note_facts(record: Json, facts: &mut SessionFacts) {
    facts.note_time(record.time("timestamp"));
    if record.is_type("session") {
        facts.id = record.name("id").unwrap_or_default();
        facts.cwd = record.string("cwd");
        facts.parent = record.string("parentSession");
    }
    if facts.origin.is_none() && !record.is_type("session") {
        facts.origin = record.name("id");
    }
    if record.is_type("model_change") {
        facts.model = record.name("modelId").or(facts.model.take());
    }
    if record.is_type("session_info") {
        facts.title = record.string("name").or(facts.title.take());
    }
    let message = record.get("message").filter(|_| facts.title.is_none());
    if let Some(message) = message.filter(|message| message.has("role", "user")) {
        facts.title = title(message.get("content"));
    }
}
