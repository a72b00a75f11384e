//! Claude Code: where its sessions lie.

mod changes;
mod facts;
mod fates;
mod files;
mod history;
mod lists;
mod records;
mod replaced;
mod requests;
mod result;
mod server;
mod turns;

use std::path::Path;

use memchr::memmem;

use crate::session::find;
use crate::session::format::{FileFormat, RecordFiles};
use crate::session::model::SessionFacts;
use crate::session::reader::FormatInfo;

use facts::note_facts;
use records::ClaudeReader;

/// The sessions of Claude Code, a JSON value a line.
pub(crate) const CLAUDE_CODE: FileFormat = FileFormat {
    info: FormatInfo::new("claude-code", "1.0.86 to 2.1.330"),
    find: |env, fault| {
        let main = find::home_or(env, "CLAUDE_CONFIG_DIR", ".claude");
        let other = find::home_or(env, "", ".config/claude");
        let is_log = |name: &str| name.ends_with(".jsonl") && !files::is_sub_agent(name);
        let mut logs = Vec::new();
        for root in [main, other].into_iter().flatten() {
            for project in find::directories(&root.join("projects"), fault) {
                logs.extend(find::files(&project, is_log, fault));
            }
        }
        logs
    },
    is_session,
    id: find::stem,
    glance: |_, head, tail| glance(head, tail),
    records: RecordFiles::Logs(files::find_logs, || Box::new(ClaudeReader::default())),
};

fn is_session(_: &Path, head: &[u8]) -> bool {
    let has = |words: &str| memmem::find(head, words.as_bytes()).is_some();
    let is_ours = !glance(head, &[]).id.is_empty() && has("\"sessionId\"");
    is_ours && has("\"parentUuid\"") && has("\"userType\"") && !has("\"toolCallResult\"")
}

fn glance(head: &[u8], tail: &[u8]) -> SessionFacts {
    find::glance(head, tail, |record, facts| {
        note_facts(record, facts);
    })
}
