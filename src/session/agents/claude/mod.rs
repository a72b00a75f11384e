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

use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::session::find::{self, FoundFile};
use crate::session::model::SessionFacts;
use crate::session::reader::{
    LogSession, OpenResult, ReadProgress, SessionFile, SessionFormat, TakeFault, TakeSession,
};

use facts::note_facts;
use records::ClaudeReader;

const AGENT: &str = "claude-code";

/// The sessions of Claude Code, a JSON value a line.
#[derive(Debug)]
pub(crate) struct ClaudeCode;

impl SessionFormat for ClaudeCode {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn seen(&self) -> &'static str {
        "1.0.86 to 2.1.330"
    }

    fn find(&self, env: &Env, _: &dyn ReadProgress, found: TakeSession, fault: TakeFault) {
        let main = find::home_or(env, "CLAUDE_CONFIG_DIR", ".claude");
        let other = find::home_or(env, "", ".config/claude");
        for root in main.into_iter().chain(other) {
            for project in find::directories(&root.join("projects"), fault) {
                for file in find::files(&project, files::is_session, fault) {
                    found(session_file(&file));
                }
            }
        }
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let facts = glance(head, &[]);
        let is_ours = !facts.id.is_empty() && memchr::memmem::find(head, b"\"sessionId\"").is_some();
        let looks_alike = memchr::memmem::find(head, b"\"parentUuid\"").is_some()
            && memchr::memmem::find(head, b"\"userType\"").is_some()
            && memchr::memmem::find(head, b"\"toolCallResult\"").is_none();
        (is_ours && looks_alike).then(|| find::found_file(path).map(|file| session_file(&file)))?
    }

    fn glance(&self, _: &SessionFile, head: &[u8], tail: &[u8]) -> SessionFacts {
        glance(head, tail)
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        LogSession::follow(AGENT, files::of(&file.path), || Box::new(ClaudeReader::default()), progress)
    }

    fn logs(&self, file: &SessionFile) -> Vec<PathBuf> {
        files::of(&file.path)()
    }
}

fn session_file(file: &FoundFile) -> SessionFile {
    file.session(AGENT, file.stem())
}

fn glance(head: &[u8], tail: &[u8]) -> SessionFacts {
    find::glance(head, tail, &mut |record, facts| {
        note_facts(record, facts);
    })
}
