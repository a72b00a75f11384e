//! Claude Code: where its sessions lie, and which files make up one.

mod facts;
mod records;
mod replaced;
mod requests;
mod result;

use std::path::{Path, PathBuf};

use crate::env::Env;
use crate::session::find::{self, FoundFile};
use crate::session::model::SessionFacts;
use crate::session::reader::{
    LogSession, OpenedSession, ReadProgress, SessionError, SessionFile, SessionFormat,
};
use crate::session::watch::PathWatch;

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

    fn name(&self) -> &'static str {
        AGENT
    }

    fn seen(&self) -> &'static str {
        "1.0.86 to 2.1.330"
    }

    fn find(&self, env: &Env, found: &mut dyn FnMut(SessionFile), fault: &mut dyn FnMut(String)) {
        let main = find::home_or(env, "CLAUDE_CONFIG_DIR", ".claude");
        let other = find::home_or(env, "", ".config/claude");
        for root in main.into_iter().chain(other) {
            for project in find::directories(&root.join("projects"), fault) {
                for file in find::files(&project, is_session, fault) {
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

    fn open(
        &self,
        file: &SessionFile,
        progress: &dyn ReadProgress,
    ) -> Result<Box<dyn OpenedSession>, SessionError> {
        let main = file.path.clone();
        let (mut watch, mut paths) = (PathWatch::default(), Vec::new());
        let find = Box::new(move || {
            if watch.has_changed(&directories_of(&main)) {
                paths = files_of(&main);
            }
            paths.clone()
        });
        LogSession::follow(AGENT, find, || Box::new(ClaudeReader::default()), progress)
    }
}

fn is_session(name: &str) -> bool {
    name.ends_with(".jsonl") && !name.starts_with("agent-")
}

fn is_sub_agent(name: &str) -> bool {
    name.ends_with(".jsonl") && name.starts_with("agent-")
}

fn session_file(file: &FoundFile) -> SessionFile {
    file.session(AGENT, file.stem())
}

fn glance(head: &[u8], tail: &[u8]) -> SessionFacts {
    find::glance(head, tail, &mut |record, facts| {
        note_facts(record, facts);
    })
}

/// Returns the directories in which the files of a session's sub-agents come and go.
fn directories_of(main: &Path) -> Vec<PathBuf> {
    let own = main.with_extension("").join("subagents");
    let (workflows, project) = (own.join("workflows"), main.parent().map(Path::to_owned));
    let nested = find::directories(&workflows, &mut |_| {});
    project.into_iter().chain([own, workflows]).chain(nested).collect()
}

/// Returns the files of a session: the main one, and those of its sub-agents, which since 2.1 lie in a directory of the
/// session, and before that beside the main file, where only their content tells whose they are.
fn files_of(main: &Path) -> Vec<PathBuf> {
    let mut ignore = |_: String| {};
    let mut paths = vec![main.to_owned()];
    let session = main.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let (Some(project), false) = (main.parent(), session.is_empty()) else { return paths };
    let own = project.join(session).join("subagents");
    let nested = find::directories(&own.join("workflows"), &mut ignore);
    for dir in [own].into_iter().chain(nested) {
        paths.extend(find::files(&dir, is_sub_agent, &mut ignore).into_iter().map(|file| file.path));
    }
    for file in find::files(project, is_sub_agent, &mut ignore) {
        let head = find::ends(&file.path).map(|(head, _)| head).unwrap_or_default();
        if glance(&head, &[]).id == session {
            paths.push(file.path);
        }
    }
    paths
}
