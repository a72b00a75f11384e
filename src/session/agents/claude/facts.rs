//! What the records of Claude Code say about the whole of a session.

use jiff::Timestamp;

use crate::session::content::{MAX_NAME, title};
use crate::session::json::Json;
use crate::session::model::SessionFacts;

/// Takes over a name, unless it is the same as before.
fn keep_last(fact: &mut Option<String>, name: Option<Json>) {
    let is_new = |name: &Json| !fact.as_deref().is_some_and(|known| name.is(known));
    if let Some(name) = name.filter(is_new).and_then(|name| name.short(MAX_NAME)) {
        *fact = Some(name);
    }
}

/// Takes over what a record says about the whole session. Returns when the record was written.
pub(super) fn note_facts(record: Json, facts: &mut SessionFacts) -> Option<Timestamp> {
    let kind = record.get("type");
    let is = |name: &str| kind.is_some_and(|kind| kind.is(name));
    if facts.id.is_empty() {
        facts.id = record.string("sessionId").unwrap_or_default();
    }
    keep_last(&mut facts.version, record.get("version"));
    facts.cwd = facts.cwd.take().or_else(|| record.string("cwd"));
    keep_last(&mut facts.model, record.path(&["message", "model"]));
    let at = record.time("timestamp");
    facts.note_time(at);
    if is("ai-title") || is("custom-title") || is("summary") {
        let keys = ["aiTitle", "customTitle", "title", "summary"];
        facts.title = keys.iter().find_map(|key| record.string(key)).or(facts.title.take());
    }
    let is_main = || !record.flag("isSidechain");
    if facts.origin.is_none() && is_main() {
        facts.origin = record.name("uuid");
    }
    if facts.title.is_none() && is("user") && is_main() {
        let words = title(record.path(&["message", "content"]));
        facts.title = words.filter(|words| !words.starts_with('<'));
    }
    at
}
