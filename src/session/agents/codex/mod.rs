//! Codex CLI: where its rollouts lie.

mod records;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::base::env::Env;
use crate::session::find::{self, FoundFile};
use crate::session::format::{FileFormat, RecordFiles, only_file};
use crate::session::reader::{FormatInfo, GLANCE, TakeFault};
use crate::session::record::{is_packed, unpack};

use records::{CodexReader, note_facts};

/// The length of a session's id at the end of a rollout's name, in bytes.
const ID: usize = 36;

/// The rollouts of Codex, a JSON value a line.
pub(crate) const CODEX: FileFormat = FileFormat {
    info: FormatInfo::new("codex", "0.25.0 to 0.169.0"),
    find: rollouts,
    is_session: |path, head| {
        // The oldest form has no types: its first line has these keys.
        let is_bare = find::begins_with_line(head, &["\"instructions\"", "\"id\"", "\"timestamp\""]);
        let is_meta = find::begins_with_line(head, &["\"session_meta\""]);
        is_meta || is_bare || path.to_string_lossy().ends_with(".jsonl.zst")
    },
    id,
    glance: |path, head, tail| match is_packed(path) {
        true => find::glance(&unpack(head, GLANCE).0, &[], note_facts),
        false => find::glance(head, tail, note_facts),
    },
    records: RecordFiles::Logs(only_file, || Box::new(CodexReader::default())),
};

fn rollouts(env: &Env, fault: TakeFault) -> Vec<FoundFile> {
    let root = find::home_or(env, "CODEX_HOME", ".codex");
    let mut files = find::matching(root.clone(), "sessions/*/*/*/rollout-*", fault);
    files.extend(find::matching(root, "archived_sessions/rollout-*", fault));
    let is_plain = |path: &Path| path.extension().is_some_and(|end| end == "jsonl");
    let plain: HashSet<PathBuf> =
        files.iter().map(|file| file.path.clone()).filter(|path| is_plain(path)).collect();
    // A compressed copy is only used where the plain one is gone.
    files.retain(|file| {
        let unpacked = file.path.with_extension("");
        is_plain(&file.path) || is_packed(&file.path) && is_plain(&unpacked) && !plain.contains(&unpacked)
    });
    files
}

fn id(rollout: &Path) -> &str {
    let name = rollout.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let stem = name.trim_end_matches(".zst").trim_end_matches(".jsonl");
    stem.len().checked_sub(ID).and_then(|at| stem.get(at..)).unwrap_or(stem)
}
