//! What the records of Claude Code say about the whole of a session.

use jiff::Timestamp;

use crate::session::clock;
use crate::session::content::{LONGEST_NAME, LONGEST_TEXT, first_text};
use crate::session::json::Json;
use crate::session::model::SessionFacts;

/// Takes over a name, unless it is the same as before.
fn keep_last(fact: &mut Option<String>, name: Option<Json>) {
    let is_new = |name: &Json| !fact.as_deref().is_some_and(|known| name.is(known));
    if let Some(name) = name.filter(is_new).and_then(|name| name.short(LONGEST_NAME)) {
        *fact = Some(name);
    }
}

/// Takes over what a record says about the whole session. Returns when the record was written.
pub(super) fn note_facts(record: Json, facts: &mut SessionFacts) -> Option<Timestamp> {
    let kind = record.get("type");
    let text = |key: &str| record.get(key).and_then(|value| value.short(LONGEST_TEXT));
    let is = |name: &str| kind.is_some_and(|kind| kind.is(name));
    if facts.id.is_empty() {
        facts.id = text("sessionId").unwrap_or_default();
    }
    keep_last(&mut facts.version, record.get("version"));
    facts.cwd = facts.cwd.take().or_else(|| text("cwd"));
    keep_last(&mut facts.model, record.path(&["message", "model"]));
    let at = record.get("timestamp").and_then(clock::time);
    facts.note_time(at);
    if is("ai-title") || is("custom-title") || is("summary") {
        let title = ["aiTitle", "customTitle", "title", "summary"].into_iter().find_map(text);
        facts.title = title.or(facts.title.take());
    }
    let is_main = || record.get("isSidechain").and_then(|mark| mark.bool()) != Some(true);
    if facts.origin.is_none() && is_main() {
        facts.origin = record.get("uuid").and_then(|uuid| uuid.short(LONGEST_NAME));
    }
    if facts.title.is_none() && is("user") && is_main() {
        let words = record.path(&["message", "content"]).map(first_text);
        facts.title = words.filter(|words| !words.is_empty() && !words.starts_with('<'));
    }
    at
}
