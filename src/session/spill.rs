//! The spills that results name: whether they are still there, and the call whose result names one; a path in the records is
//! a claim, and what it names is not opened.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use memchr::memmem::Finder;

use crate::base::env::Env;
use crate::base::lock;

use super::command::command;
use super::find::is_hidden;
use super::list;
use super::model::{Call, Citation};
use super::reader::{ReadProgress, SessionFile};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpillState {
    /// A regular file, of the size that the records claim if they claim one.
    Here(PathBuf),
    /// Something else: a file of another size or owner, a link, a directory.
    Other(PathBuf),
    Gone,
}

impl SpillState {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Here(_) => "here",
            Self::Other(_) => "other",
            Self::Gone => "gone",
        }
    }

    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Here(path) => Some(path),
            Self::Other(_) | Self::Gone => None,
        }
    }
}

/// Looks for the first spill of a call that is there; `None` if it names none. `records` is the file with the call: where
/// a home directory was copied, a spill is looked for in the copy, too. `uid` owns the files that count.
pub fn state_of(call: &Call, records: &Path, uid: u32) -> Option<SpillState> {
    let states = call.cites.iter().map(|cite| look_for(cite, records, uid));
    states.min_by_key(|state| match state {
        SpillState::Here(_) => 0,
        SpillState::Other(_) => 1,
        SpillState::Gone => 2,
    })
}

/// Looks for the file of a claim. `records` and `uid` are as for [`state_of`].
pub fn look_for(cite: &Citation, records: &Path, uid: u32) -> SpillState {
    let places = [Some(cite.path.clone()), in_copy(&cite.path, records)];
    let found = places.into_iter().flatten().filter(|path| path.is_absolute());
    let looks = found.filter_map(|path| path.symlink_metadata().ok().map(|meta| (path, meta)));
    let mut other = None;
    for (path, meta) in looks {
        let is_same = cite.bytes.is_none_or(|bytes| bytes == meta.len());
        if meta.is_file() && is_same && (meta.uid() == uid || meta.uid() == 0) {
            return SpillState::Here(path);
        }
        other = Some(path);
    }
    other.map_or(SpillState::Gone, SpillState::Other)
}

/// Whether a file lies in the hidden directory with the records, and no link leads from there to elsewhere.
pub fn is_beside(path: &Path, records: &Path) -> bool {
    let is_plain = !path.components().any(|part| part == Component::ParentDir);
    let Some(root) =
        records.ancestors().find(|dir| is_hidden(dir)).filter(|root| is_plain && path.starts_with(root))
    else {
        return false;
    };
    let Ok(real) = path.canonicalize() else { return false };
    let above = records.ancestors().skip(1).take_while(|dir| dir.starts_with(root));
    above.filter_map(|dir| dir.canonicalize().ok()).any(|dir| real.starts_with(dir))
}

/// Returns a cited file's place in a copy of the agent's directory: below that of the same name with the records.
fn in_copy(cited: &Path, records: &Path) -> Option<PathBuf> {
    if cited.components().any(|part| part == Component::ParentDir) {
        return None;
    }
    let names = cited.iter().skip_while(|name| !name.as_encoded_bytes().starts_with(b"."));
    let hidden = names.clone().next()?;
    let root = records.ancestors().find(|dir| dir.file_name() == Some(hidden))?;
    let copy: PathBuf = root.iter().chain(names.skip(1)).collect();
    (copy != cited).then_some(copy)
}

/// The most sessions that are looked through for one output.
const MAX_SESSIONS: usize = 64;

/// The shortest name that is looked for, in bytes: a shorter one is in many records by chance.
const MIN_NAME: usize = 5;

/// How much earlier than its output a session may seem to have been written, for clocks that differ.
const SLACK: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitingCall {
    pub file: SessionFile,
    /// The agent's id of the call.
    pub call: String,
    /// What the call did, as the model wrote it; empty if that is not recorded.
    pub command: String,
}

/// The sessions as they were listed last, and when, shared by all searches for calls.
#[derive(Debug, Default)]
pub struct SessionsCache(Mutex<Option<(Timestamp, Arc<Vec<SessionFile>>)>>);

impl SessionsCache {
    /// Finds the call that names an output, which was written at a time; `None` if there is none among the sessions near it.
    pub fn find(&self, path: &Path, written: Timestamp, env: &Env) -> Option<Box<CitingCall>> {
        find_citing(&self.since(written, env), path, env.uid(), &()).map(Box::new)
    }

    /// Returns the sessions of a list that is younger than a time: a session begins before its outputs are written.
    fn since(&self, time: Timestamp, env: &Env) -> Arc<Vec<SessionFile>> {
        let mut listed = lock(&self.0);
        if let Some((_, sessions)) = listed.as_ref().filter(|(at, _)| *at > time) {
            return sessions.clone();
        }
        let at = crate::base::env::now();
        let sessions = Arc::new(list::list(env, None, &()).sessions);
        *listed = Some((at, sessions.clone()));
        sessions
    }
}

/// Finds the call that names the file at `path`; `None` too if `progress` gave up. `uid` owns the files that count. A spill
/// does not say whose it is, so the sessions near it in time are looked through.
pub fn find_citing(
    sessions: &[SessionFile],
    path: &Path,
    uid: u32,
    progress: &dyn ReadProgress,
) -> Option<CitingCall> {
    let name = path.file_name().filter(|name| name.as_encoded_bytes().len() >= MIN_NAME)?;
    let written = path.symlink_metadata().ok()?.modified().ok();
    let finder = Finder::new(name.as_encoded_bytes());
    let mut room = Vec::new();
    for file in near(sessions, path, written) {
        let mut wanted = || progress.step(0, 1);
        if !wanted() {
            return None;
        }
        if list::may_hold(file, &finder, &mut room, &mut wanted)
            && let Some(found) = in_session(file, path, name, uid, progress)
        {
            return Some(found);
        }
    }
    None
}

/// Returns the sessions that may have written an output: those named in its path, then the next that changed.
fn near<'a>(
    sessions: &'a [SessionFile],
    path: &Path,
    written: Option<SystemTime>,
) -> impl Iterator<Item = &'a SessionFile> {
    let text = path.to_string_lossy().into_owned();
    let named = |file: &SessionFile| !file.id.is_empty() && text.contains(&file.id);
    let (mut first, rest): (Vec<_>, Vec<_>) = sessions.iter().partition(|file| named(file));
    let after = |file: &&SessionFile| match (file.modified, written) {
        (Some(changed), Some(written)) => changed + SLACK >= written,
        _ => true,
    };
    let mut rest: Vec<_> = rest.into_iter().filter(after).collect();
    rest.sort_by_key(|file| file.modified);
    first.extend(rest);
    first.into_iter().take(MAX_SESSIONS)
}

fn in_session(
    file: &SessionFile,
    path: &Path,
    name: &OsStr,
    uid: u32,
    progress: &dyn ReadProgress,
) -> Option<CitingCall> {
    let opened = list::open(file, progress).ok()?;
    let transcript = opened.transcript();
    let cites = |call: &&Call| {
        let by_name = call.cites.iter().any(|cite| cite.path.file_name() == Some(name));
        by_name && matches!(state_of(call, &file.path, uid), Some(SpillState::Here(here)) if here == path)
    };
    let call = transcript.calls.iter().find(cites)?;
    Some(CitingCall { file: file.clone(), call: call.id.to_string(), command: command(transcript, call) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn citing(path: &Path, bytes: Option<u64>) -> Call {
        let mut call = Call::new("1", 0, 0);
        call.cites = vec![Citation { path: path.to_owned(), bytes }];
        call
    }

    #[test]
    fn a_spill_is_here_gone_or_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let spill = dir.path().join("b1.txt");
        std::fs::write(&spill, "12345").unwrap();
        let uid = dir.path().metadata().unwrap().uid();
        let state = |path: &Path, bytes| state_of(&citing(path, bytes), Path::new("/log"), uid);
        assert_eq!(state(&spill, Some(5)), Some(SpillState::Here(spill.clone())));
        assert_eq!(state(&spill, None), Some(SpillState::Here(spill.clone())));
        assert_eq!(state(&spill, Some(6)), Some(SpillState::Other(spill.clone())));
        assert_eq!(state(dir.path(), None), Some(SpillState::Other(dir.path().to_owned())));
        assert_eq!(state(&dir.path().join("no"), None), Some(SpillState::Gone));
        assert_eq!(state(Path::new("b1.txt"), None), Some(SpillState::Gone), "relative");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&spill, &link).unwrap();
        assert_eq!(state(&link, None), Some(SpillState::Other(link)));
        assert_eq!(state_of(&Call::new("1", 0, 0), Path::new("/log"), uid), None);
    }

    #[test]
    fn files_in_the_agents_directory_are_beside_the_records() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        for dir in [".claude/projects/p/s", ".ssh", "moved/p/s"] {
            std::fs::create_dir_all(at(dir)).unwrap();
        }
        for file in
            [".claude/projects/p/s.jsonl", ".claude/projects/p/s/b1.txt", ".ssh/id", "moved/p/s/b1.txt"]
        {
            std::fs::write(at(file), "").unwrap();
        }
        let records = at(".claude/projects/p/s.jsonl");
        assert!(is_beside(&at(".claude/projects/p/s/b1.txt"), &records));
        assert!(!is_beside(&at(".ssh/id"), &records));
        assert!(!is_beside(&at(".claude/../.ssh/id"), &records));
        assert!(!is_beside(Path::new("/etc/passwd"), Path::new("/etc/s.jsonl")), "no hidden directory");
        symlink(at(".ssh"), at(".claude/projects/p/out")).unwrap();
        assert!(!is_beside(&at(".claude/projects/p/out/id"), &records), "a link leads out");
        // A person may have moved the directory of the records.
        symlink(at("moved"), at(".claude/elsewhere")).unwrap();
        let records = at(".claude/elsewhere/p/s.jsonl");
        assert!(is_beside(&at(".claude/elsewhere/p/s/b1.txt"), &records));
    }

    #[test]
    fn a_spill_is_found_in_a_copy_of_the_home_directory() {
        let dir = tempfile::tempdir().unwrap();
        let spill = dir.path().join(".claude/projects/p/b1.txt");
        std::fs::create_dir_all(spill.parent().unwrap()).unwrap();
        std::fs::write(&spill, "12345").unwrap();
        let uid = dir.path().metadata().unwrap().uid();
        let records = dir.path().join(".claude/projects/p/s.jsonl");
        let cited = Path::new("/home/nobody/.claude/projects/p/b1.txt");
        assert_eq!(state_of(&citing(cited, Some(5)), &records, uid), Some(SpillState::Here(spill)));
        let out = Path::new("/home/nobody/.claude/../b1.txt");
        assert_eq!(state_of(&citing(out, None), &records, uid), Some(SpillState::Gone));
    }
}
