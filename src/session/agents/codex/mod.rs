//! Codex CLI: where its rollouts lie.

mod records;

use std::path::{Path, PathBuf};

use memchr::memmem;

use crate::env::Env;
use crate::session::find::{self, FoundFile};
use crate::session::model::SessionFacts;
use crate::session::reader::{
    GLANCE, LogSession, OpenResult, ReadProgress, SessionFile, SessionFormat, TakeFault, TakeSession,
};
use crate::session::record::{is_packed, unpack};

use records::{CodexReader, note_facts};

const AGENT: &str = "codex";

/// The length of a session's id at the end of a rollout's name, in bytes.
const ID: usize = 36;

/// The rollouts of Codex, a JSON value a line.
#[derive(Debug)]
pub(crate) struct Codex;

impl SessionFormat for Codex {
    fn agent(&self) -> &'static str {
        AGENT
    }

    fn seen(&self) -> &'static str {
        "0.25.0 to 0.169.0"
    }

    fn find(&self, env: &Env, _: &dyn ReadProgress, found: TakeSession, fault: TakeFault) {
        let Some(root) = find::home_or(env, "CODEX_HOME", ".codex") else { return };
        let mut dirs = vec![root.join("sessions")];
        for _ in ["year", "month", "day"] {
            dirs = dirs.iter().flat_map(|dir| find::directories(dir, fault)).collect();
        }
        dirs.push(root.join("archived_sessions"));
        for dir in dirs {
            let files = find::files(&dir, is_rollout, fault);
            // A compressed copy is only used where the plain one is gone.
            let plain = |path: &Path| files.iter().any(|file| file.path == path.with_extension(""));
            files.iter().filter(|file| !plain(&file.path)).for_each(|file| found(session_file(file)));
        }
    }

    fn recognise(&self, path: &Path, head: &[u8]) -> Option<SessionFile> {
        let first = find::first_line(head);
        let is_meta = memmem::find(first, b"\"session_meta\"").is_some();
        // The oldest form has no types: its first line has these keys.
        let is_bare = [&b"\"instructions\""[..], b"\"id\"", b"\"timestamp\""]
            .iter()
            .all(|key| memmem::find(first, key).is_some());
        (is_meta || is_bare || is_packed_rollout(path))
            .then(|| find::found_file(path).map(|file| session_file(&file)))?
    }

    fn glance(&self, file: &SessionFile, head: &[u8], tail: &[u8]) -> SessionFacts {
        if is_packed(&file.path) {
            return find::glance(&unpack(head, GLANCE).0, &[], &mut note_facts);
        }
        find::glance(head, tail, &mut note_facts)
    }

    fn logs(&self, file: &SessionFile) -> Vec<PathBuf> {
        file.only_log()
    }

    fn open(&self, file: &SessionFile, progress: &dyn ReadProgress) -> OpenResult {
        LogSession::open(AGENT, vec![file.path.clone()], || Box::new(CodexReader::default()), progress)
    }
}

fn is_packed_rollout(path: &Path) -> bool {
    path.to_string_lossy().ends_with(".jsonl.zst")
}

fn is_rollout(name: &str) -> bool {
    name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
}

fn session_file(file: &FoundFile) -> SessionFile {
    let name = file.path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = name.trim_end_matches(".zst").trim_end_matches(".jsonl");
    let id = stem.len().checked_sub(ID).and_then(|at| stem.get(at..)).unwrap_or(stem);
    file.session(AGENT, id)
}
