//! The spills that results name: whether they are still there, and the call whose result names one; a path in the records is
//! a claim, and what it names is not opened.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::slice;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use crate::base::env::Env;
use crate::base::fs::identity::{Identity, RecordedFile};
use crate::base::lock;

use super::command::command;
use super::find::is_hidden;
use super::list;
use super::model::{Call, Citation};
use super::reader::{OpenedSession, ReadProgress, SessionFile};
use super::record::LogSearch;
use super::transcript::Transcript;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpillState {
    /// A regular file of the size that the records claim, if any; for a text, of a size that decodes to it: a byte that
    /// is not UTF-8 becomes three, and a byte order mark of three is dropped.
    Here(PathBuf),
    /// Something else: a file of another size or owner, a link, a directory.
    Other(PathBuf),
    Deleted,
}

impl SpillState {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Here(_) => "here",
            Self::Other(_) => "other",
            Self::Deleted => "deleted",
        }
    }

    pub fn path(&self) -> Option<&Path> {
        let Self::Here(path) = self else { return None };
        Some(path)
    }
}

/// Looks for the first spill of a call that is there; `None` if it names none. `records` is the file with the call: where
/// a home directory was copied, a spill is looked for in the copy, too. `uid` owns the files that count.
pub fn state_of(call: &Call, records: &Path, uid: u32) -> Option<SpillState> {
    let states = call.cites.iter().map(|cite| look_for(cite, records, uid));
    states.min_by_key(|state| (state.path().is_none(), *state == SpillState::Deleted))
}

/// Looks for the file of a claim. `records` and `uid` are as for [`state_of`].
pub fn look_for(cite: &Citation, records: &Path, uid: u32) -> SpillState {
    let mut other = None;
    for path in places(cite, records) {
        let Ok(meta) = path.symlink_metadata() else { continue };
        let is_same = cite.bytes.is_none_or(|bytes| match cite.is_decoded {
            true => (bytes.div_ceil(3)..=bytes.saturating_add(3)).contains(&meta.len()),
            false => bytes == meta.len(),
        });
        if meta.is_file() && is_same && (meta.uid() == uid || meta.uid() == 0) {
            return SpillState::Here(path);
        }
        other = Some(path);
    }
    other.map_or(SpillState::Deleted, SpillState::Other)
}

fn places(cite: &Citation, records: &Path) -> impl Iterator<Item = PathBuf> {
    let places = [Some(cite.path.clone()), in_copy(&cite.path, records)];
    places.into_iter().flatten().filter(|path| path.is_absolute())
}

/// Whether a file lies in the hidden directory with the records, and no link leads from there to elsewhere.
pub fn is_beside(path: &Path, records: &Path) -> bool {
    let is_plain = !path.components().any(|part| part == Component::ParentDir);
    let root = records.ancestors().find(|dir| is_hidden(dir));
    let Some(root) = root.filter(|root| is_plain && path.starts_with(root)) else { return false };
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

const MAX_SESSIONS: usize = 64;

/// The shortest name that is looked for, in bytes: a shorter one is in many records by chance.
const MIN_NAME: usize = 5;

/// How much earlier than its output a session may seem to have been written, for clocks that differ.
const SLACK: Duration = Duration::from_secs(60);

/// How long before an output the turn may have begun in which it was written.
const MAX_TURN: Duration = Duration::from_secs(24 * 60 * 60);

/// How much later a call may seem to have begun than its output was written: some records have whole seconds.
const ROUNDING: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitingCall {
    pub file: SessionFile,
    pub call: String,
    /// What the call did, as the model wrote it; empty if that is not recorded.
    pub command: String,
}

impl CitingCall {
    pub fn new(file: &SessionFile, transcript: &Transcript, call: &Call) -> Self {
        Self { file: file.clone(), call: call.id.to_string(), command: command(transcript, call) }
    }
}

/// The sessions as they were listed last, and when, shared by all searches for calls.
#[derive(Debug, Default)]
pub struct SessionsCache(Mutex<Option<(Timestamp, Arc<Vec<SessionFile>>)>>);

impl SessionsCache {
    /// Finds the call that names an output: its session, and its index there.
    pub fn find(&self, of: &RecordedFile, env: &Env) -> Option<(SessionFile, Rc<dyn OpenedSession>, usize)> {
        let mut citing = None;
        self.find_all(slice::from_ref(of), env, &(), &mut |_, found| {
            let Some((file, opened, call)) = found else { return };
            let index = opened.transcript().calls.iter().position(|one| std::ptr::eq(one, call));
            citing = index.map(|index| (file.clone(), opened.clone(), index));
        });
        citing
    }

    /// Finds the calls that name outputs, and hands each to `take` with the index of its output, until `progress` gives up.
    pub fn find_all(&self, files: &[RecordedFile], env: &Env, progress: &dyn ReadProgress, take: TakeCall) {
        let newest = files.iter().filter_map(written).max();
        // No list of sessions is newer than a time in the future.
        let newest = newest.and_then(|time| Timestamp::try_from(time).ok()).unwrap_or_default();
        let newest = newest.min(crate::base::env::now());
        find_citing(&self.since(newest, env), files, env.uid(), progress, take);
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

fn written(file: &RecordedFile) -> Option<SystemTime> {
    let modified = || file.path.symlink_metadata().and_then(|meta| meta.modified()).ok();
    file.written.map(SystemTime::from).or_else(modified)
}

/// Takes the call of the output of an index, with its session, which was read to find it; `None` if there is none.
pub type TakeCall<'a> = &'a mut dyn FnMut(usize, Option<(&SessionFile, &Rc<dyn OpenedSession>, &Call)>);

/// Finds the calls that name outputs in sessions, the last changed first. `uid` owns the files that count. A spill does not
/// say whose it is, so the sessions near it in time are looked through, each for all outputs that it is near to at once.
fn find_citing(
    sessions: &[SessionFile],
    files: &[RecordedFile],
    uid: u32,
    progress: &dyn ReadProgress,
    take: TakeCall,
) {
    let mut by_name: BTreeMap<&OsStr, Vec<usize>> = BTreeMap::new();
    let mut turns: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    let (mut last, mut times) = (vec![None; files.len()], vec![None; files.len()]);
    for (n, file) in files.iter().enumerate() {
        let name = file.path.file_name().filter(|name| name.as_encoded_bytes().len() >= MIN_NAME);
        if let Some((name, written)) = name.zip(written(file)) {
            by_name.entry(name).or_default().push(n);
            times[n] = Some(written);
            let near = near(sessions, &file.path, written);
            last[n] = near.iter().max().copied();
            near.into_iter().for_each(|turn| turns.entry(turn).or_default().push(n));
        }
    }
    let mut search = LogSearch::new(by_name.keys().copied());
    let mut left: BTreeSet<usize> = (0..files.len()).collect();
    for (turn @ (relation, at), near) in turns {
        let file = &sessions[if relation == Nearness::After { sessions.len() - 1 - at } else { at }];
        let mut is_wanted = || progress.step(0, 1);
        let is_near = near.iter().any(|n| left.contains(n)) && is_wanted();
        let opens = is_near && list::may_hold(file, &mut search, &mut is_wanted);
        if let Some(Ok(opened)) = opens.then(|| list::open(file, progress)) {
            let (opened, mut found) = (Rc::<dyn OpenedSession>::from(opened), BTreeMap::new());
            for call in &opened.transcript().calls {
                let cited =
                    call.cites.iter().filter_map(|cite| by_name.get(cite.path.file_name()?)).flatten();
                let cited = cited.filter(|n| near.contains(n) && left.contains(n));
                for n in cited.filter(|n| names(call, (&file.path, uid), &files[**n])) {
                    // Goose overwrites the outputs of earlier calls; a later call may quote a notice.
                    let times = call.at.map(SystemTime::from).zip(times[*n]);
                    if times.is_some_and(|(began, written)| began <= written + ROUNDING) {
                        found.insert(*n, call);
                    } else if files[*n].written.is_none() {
                        found.entry(*n).or_insert(call);
                    }
                }
            }
            for (n, call) in found {
                take(n, Some((file, &opened, call)));
                left.remove(&n);
            }
        }
        let is_over = |n: &usize| last[*n] == Some(turn) && left.contains(n);
        let over: Vec<usize> = near.into_iter().filter(is_over).collect();
        if !over.is_empty() && progress.step(0, 1) {
            for n in over {
                left.remove(&n);
                take(n, None);
            }
        }
    }
    if progress.step(0, 1) {
        left.into_iter().for_each(|n| take(n, None));
    }
}

/// Whether the result of a call names a file, or the place where it was before it was changed or deleted.
fn names(call: &Call, (records, uid): (&Path, u32), file: &RecordedFile) -> bool {
    let directory = |path: &Path| path.parent()?.metadata().ok().map(|meta| Identity::from(&meta));
    // The directory may be reached by other links.
    let is_it = |path: &Path| {
        let is_beside = || Some(directory(path)?.same_file(&directory(&file.path)?));
        path == file.path || path.file_name() == file.path.file_name() && is_beside() == Some(true)
    };
    call.cites.iter().any(|cite| match file.written {
        None => look_for(cite, records, uid).path().is_some_and(is_it),
        Some(_) => places(cite, records).any(|path| is_it(&path)),
    })
}

/// Why a session may have the call of an output, the likeliest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// The path of the output names it.
    Named,
    /// It was changed after the output.
    After,
    /// By the agent's note, which may date from the start of a turn, it was changed less than [`MAX_TURN`] before.
    Before,
}

/// Returns the sessions to search for an output, in order: by index, those changed after it by index from the end, so that
/// those nearest to it come first.
fn near(sessions: &[SessionFile], path: &Path, written: SystemTime) -> Vec<(Nearness, usize)> {
    let text = path.to_string_lossy();
    let nearness = |file: &SessionFile| {
        let is_within = |time: Duration| file.modified.is_none_or(|changed| changed + time >= written);
        match file {
            file if !file.id.is_empty() && text.contains(&file.id) => Some(Nearness::Named),
            _ if is_within(SLACK) => Some(Nearness::After),
            file if !file.facts.id.is_empty() && is_within(MAX_TURN) => Some(Nearness::Before),
            _ => None,
        }
    };
    let of = |at: usize, file| match nearness(file)? {
        Nearness::After => Some((Nearness::After, sessions.len() - 1 - at)),
        other => Some((other, at)),
    };
    let mut near: Vec<_> = sessions.iter().enumerate().filter_map(|(at, file)| of(at, file)).collect();
    near.sort_unstable();
    near.truncate(MAX_SESSIONS);
    near
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::model::SessionFacts;
    use super::*;

    fn citing(path: &Path, bytes: Option<u64>) -> Call {
        let mut call = Call::new("1", 0, 0);
        call.cites = vec![Citation { bytes, ..Citation::new(path) }];
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
        assert_eq!(state(&dir.path().join("no"), None), Some(SpillState::Deleted));
        assert_eq!(state(Path::new("b1.txt"), None), Some(SpillState::Deleted), "relative");
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&spill, &link).unwrap();
        assert_eq!(state(&link, None), Some(SpillState::Other(link)));
        assert_eq!(state_of(&Call::new("1", 0, 0), Path::new("/log"), uid), None);
    }

    struct Looks(AtomicUsize);

    impl ReadProgress for Looks {
        fn step(&self, _: u64, _: u64) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed);
            true
        }
    }

    /// Returns the calls that name outputs in sessions of these texts, the first changed first, and how often it was asked
    /// whether to go on.
    fn cited(dir: &Path, texts: &[String], files: &[RecordedFile]) -> (Vec<Option<String>>, usize) {
        let session = |(n, text): (usize, &String)| {
            let path = dir.join(format!("{n}.jsonl"));
            std::fs::write(&path, text).unwrap();
            let modified = Some(SystemTime::now() + Duration::from_secs(n as u64));
            let (id, facts) = (format!("session-{n}"), Default::default());
            SessionFile { format: "claude-code", path, id, size: text.len() as u64, modified, facts }
        };
        let sessions: Vec<SessionFile> = texts.iter().enumerate().map(session).rev().collect();
        let (mut calls, looks) = (vec![None; files.len()], Looks(AtomicUsize::new(0)));
        let uid = dir.metadata().unwrap().uid();
        find_citing(&sessions, files, uid, &looks, &mut |n, found| {
            calls[n] = found.map(|(file, _, call)| format!("{}:{}", file.id, call.id));
        });
        (calls, looks.0.into_inner())
    }

    /// Returns the records of a call that began at a time, and whose result names a spill.
    fn records(id: &str, spill: &Path, at: &str) -> String {
        let call = serde_json::json!({"type": "assistant", "timestamp": at, "message": {"id": id, "content": [
            {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}}]}});
        let text = format!(
            "<persisted-output>\nOutput too large (8.7KB). Full output saved to: {}\n\nPreview (first 2KB):\nx\n...\n</persisted-output>",
            spill.display()
        );
        let result = serde_json::json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": text}]}});
        format!("{call}\n{result}\n")
    }

    #[test]
    fn a_reused_path_belongs_to_the_last_call_before_its_mtime() {
        let dir = tempfile::tempdir().unwrap();
        let spill = dir.path().join("stdout-0");
        std::fs::write(&spill, "x").unwrap();
        let [first, second, quote] = [1, 3, 5].map(|minute| format!("2026-11-27T05:0{minute}:00Z"));
        let calls = [("first", &first), ("second", &second), ("quote", &quote)];
        let log = [calls.map(|(id, at)| records(id, &spill, at)).concat()];
        let call_of = |written: &str| {
            let written: Timestamp = written.parse().unwrap();
            std::fs::File::open(&spill).unwrap().set_modified(written.into()).unwrap();
            let here = RecordedFile { path: spill.clone(), ..RecordedFile::default() };
            let gone = |path| RecordedFile { path, copy: None, written: Some(written) };
            cited(
                dir.path(),
                &log,
                &[here.clone(), here, gone(spill.clone()), gone(dir.path().join("stdout-1"))],
            )
            .0
        };
        for (written, call, of_gone) in
            [("04:00", "second", Some("second")), ("02:00", "first", Some("first")), ("00:00", "first", None)]
        {
            let [call, of_gone] =
                [Some(call), of_gone].map(|call| call.map(|call| format!("session-0:{call}")));
            let found = call_of(&format!("2026-11-27T05:{written}Z"));
            assert_eq!(found, [call.clone(), call, of_gone, None], "{written}");
        }
    }

    #[test]
    fn a_noted_session_may_be_a_whole_turn_older_than_the_output() {
        let written = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 20);
        let session = |id: &str, age: u64, noted: &str| {
            let facts = SessionFacts { id: noted.to_owned(), ..SessionFacts::default() };
            let modified = Some(written - Duration::from_secs(age));
            SessionFile { id: id.to_owned(), modified, facts, ..SessionFile::default() }
        };
        let day = MAX_TURN.as_secs();
        let mut sessions = [
            session("id-a", 0, ""),
            session("id-b", 60, ""),
            session("id-c", 600, "c"),
            session("id-d", 700, ""),
            session("named", day, "named"),
            session("id-e", day, "e"),
            session("id-f", day + 1, "f"),
        ];
        sessions[0].modified = Some(written + SLACK);
        let near = near(&sessions, Path::new("/x/named/y"), written);
        use Nearness::{After, Before, Named};
        assert_eq!(near, [(Named, 4), (After, 5), (After, 6), (Before, 2), (Before, 5)]);
    }

    #[test]
    fn searches_each_session_once_for_all_outputs() {
        let dir = tempfile::tempdir().unwrap();
        let spill = |n: usize| dir.path().join(format!("bspill{n}.txt"));
        let paths: Vec<RecordedFile> =
            (0..40).map(|n| RecordedFile { path: spill(n), ..RecordedFile::default() }).collect();
        paths.iter().for_each(|file| std::fs::write(&file.path, "x").unwrap());
        let none = vec!["{}\n".repeat(10); 5];
        let (calls, looks) = cited(dir.path(), &none, &paths[..1]);
        assert_eq!((calls, cited(dir.path(), &none, &paths)), (vec![None], (vec![None; 40], looks)));
        let call = |n: usize, id: &str| records(id, &spill(n), "2026-11-27T05:49:31Z");
        let texts = ["{}\n".to_owned(), call(0, "a") + &call(2, "b"), call(2, "c") + &call(1, "d")];
        let (calls, _) = cited(dir.path(), &texts, &paths[..4]);
        let expected = [Some("session-1:a"), Some("session-2:d"), Some("session-1:b"), None];
        assert_eq!(calls, expected.map(|call| call.map(str::to_owned)));
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
        assert_eq!(state_of(&citing(out, None), &records, uid), Some(SpillState::Deleted));
    }
}
