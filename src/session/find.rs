//! Looks for sessions: walks the agents' directories, reads the ends of files, and sees who else can read them.

use std::fs::DirEntry;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memchr::memmem;

use crate::base::env::Env;

use super::json::{Json, Tape};
use super::model::SessionFacts;
use super::reader::{FindWatch, GLANCE};
use super::record::{open_regular, read};

/// The most names that are read of one directory.
const MAX_NAMES: usize = 1_000_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    pub modified: Option<SystemTime>,
    /// What is known of the session without reading the file, as from an index that the agent keeps.
    pub facts: SessionFacts,
}

/// Returns the name of a file without its last extension; empty if it is not UTF-8.
pub fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

/// Returns the name of a file, or of the directory this many levels above it; empty if there is none, or it is not UTF-8.
pub fn dir_name(path: &Path, above: usize) -> &str {
    path.ancestors().nth(above).and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default()
}

/// Whether the first line of a file has all of these words, which identify its form.
pub fn begins_with_line(head: &[u8], words: &[&str]) -> bool {
    let first = first_line(head);
    words.iter().all(|words| memmem::find(first, words.as_bytes()).is_some())
}

pub fn first_line(head: &[u8]) -> &[u8] {
    head.split(|byte| *byte == b'\n').next().unwrap_or_default()
}

/// Returns the files in the directory of an agent, as [`Env::dir_or`] finds it, that one of the patterns is [`matching`].
pub fn in_agent_dir(
    env: &Env,
    (variable, below_home): (&str, &str),
    patterns: &[&str],
    watch: FindWatch,
) -> Vec<FoundFile> {
    let root = env.dir_or(variable, below_home);
    patterns.iter().flat_map(|pattern| matching(root.clone(), pattern, watch)).collect()
}

pub fn data_dir(env: &Env, below_data: &str) -> Option<PathBuf> {
    env.dir_or("XDG_DATA_HOME", ".local/share").map(|data| data.join(below_data))
}

/// Returns the directories in `dir` and links to such, sorted by name; none if it is not there. What cannot be read goes to
/// `watch`, in words.
pub fn directories(dir: &Path, watch: FindWatch) -> Vec<PathBuf> {
    let is_dir = |entry: &DirEntry| match entry.file_type() {
        Ok(kind) if !kind.is_symlink() => kind.is_dir(),
        _ => entry.path().is_dir(),
    };
    let mut found: Vec<_> =
        entries(dir, watch).into_iter().filter(is_dir).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// Returns the files below a directory of these paths: a part `*` is any directory, one in the name any characters.
pub fn matching(root: Option<PathBuf>, pattern: &str, watch: FindWatch) -> Vec<FoundFile> {
    let mut dirs = Vec::from_iter(root);
    let mut parts: Vec<&str> = pattern.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    for part in parts {
        dirs = match part {
            "*" => dirs.iter().flat_map(|dir| directories(dir, watch)).collect(),
            part => dirs.into_iter().map(|dir| dir.join(part)).collect(),
        };
    }
    match name.split_once('*') {
        Some((start, end)) => {
            let is_meant = |name: &str| name.starts_with(start) && name.ends_with(end);
            dirs.iter().flat_map(|dir| files(dir, is_meant, watch)).collect()
        }
        None => dirs.iter().filter_map(|dir| found_file(&dir.join(name))).collect(),
    }
}

/// Returns the regular files in `dir` whose names `wanted` accepts, sorted by name; none if it is not there.
pub fn files(dir: &Path, wanted: impl Fn(&str) -> bool, watch: FindWatch) -> Vec<FoundFile> {
    let is_wanted = |entry: &DirEntry| entry.file_name().to_str().is_some_and(&wanted);
    let entries = entries(dir, watch).into_iter().filter(is_wanted);
    let entries = entries.take_while(|_| watch(None));
    let mut found: Vec<_> = entries.filter_map(|entry| found_file(&entry.path())).collect();
    // All have the same parent, and to compare paths part by part takes several times as long.
    found.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
    found
}

/// Returns a file's size and time, if it is a regular file.
pub fn found_file(path: &Path) -> Option<FoundFile> {
    let meta = path.metadata().ok().filter(|meta| meta.is_file())?;
    let (size, modified) = (meta.len(), meta.modified().ok());
    Some(FoundFile { path: path.to_owned(), size, modified, facts: SessionFacts::default() })
}

#[cfg(test)]
thread_local! {
    pub static LISTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn entries(dir: &Path, watch: FindWatch) -> Vec<DirEntry> {
    if !watch(None) {
        return Vec::new();
    }
    #[cfg(test)]
    LISTED.set(LISTED.get() + 1);
    match std::fs::read_dir(dir) {
        Ok(entries) => return entries.filter_map(Result::ok).take(MAX_NAMES).collect(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
        Err(error) => drop(watch(Some(format!("{}: {error}", dir.display())))),
    }
    Vec::new()
}

/// Reads the first bytes of a regular file, at most `most`.
pub fn head(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    read(&open_regular(path)?.0, 0..most as u64)
}

/// Reads the first and the last 64 KiB of a regular file; the second is empty if the first is all of it.
pub fn ends(path: &Path) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (file, meta) = open_regular(path)?;
    let head = read(&file, 0..GLANCE as u64)?;
    let rest = meta.len().saturating_sub(head.len() as u64);
    let tail = read(&file, meta.len() - rest.min(GLANCE as u64)..meta.len())?;
    Ok((head, tail))
}

/// Reads the facts of a log from its ends, of whole lines only.
pub fn glance<T>(head: &[u8], tail: &[u8], note: fn(Json, &mut SessionFacts) -> T) -> SessionFacts {
    let mut facts = SessionFacts::default();
    let mut tape = Tape::default();
    // The first line of the tail begins somewhere before it.
    let tail = memchr::memchr(b'\n', tail).map_or(&[][..], |at| &tail[at + 1..]);
    for line in head.split(|byte| *byte == b'\n').chain(tail.split(|byte| *byte == b'\n')) {
        if let Ok(record) = tape.read(line) {
            note(record, &mut facts);
        }
    }
    facts
}

/// The bits of a mode by which others may read a file and search a directory: those of the group, and of everybody.
const OTHERS: [(u32, u32); 2] = [(0o040, 0o010), (0o004, 0o001)];

/// Tells which files others can read; looks at the directories above once for the files of one directory.
#[derive(Clone, Debug, Default)]
pub struct Exposure {
    dir: Option<PathBuf>,
    /// Whether the group and everybody can reach the files of the directory.
    is_reached: [bool; 2],
}

impl Exposure {
    /// Whether the group or everybody can read a file: by its own mode, and by those of all directories above it.
    pub fn is_open_to_others(&mut self, file: &Path) -> bool {
        let own = mode(file);
        let may_read = OTHERS.map(|(read, _)| own & read != 0);
        if may_read == [false; 2] {
            return false;
        }
        let dir = file.parent().unwrap_or(file);
        if self.dir.as_deref() != Some(dir) {
            let modes = dir.ancestors().filter(|dir| !dir.as_os_str().is_empty()).map(mode);
            let shared = modes.fold(u32::MAX, |shared, mode| shared & mode);
            *self = Self {
                dir: Some(dir.to_owned()),
                is_reached: OTHERS.map(|(_, search)| shared & search != 0),
            };
        }
        may_read.into_iter().zip(self.is_reached).any(|(may_read, is_reached)| may_read && is_reached)
    }
}

/// Returns the directory to be closed: the agent's own, the hidden one above the file, else the one that holds the file.
pub fn directory_to_close(file: &Path) -> Option<PathBuf> {
    file.ancestors().skip(1).find(|dir| is_hidden(dir)).or_else(|| file.parent()).map(Path::to_owned)
}

/// Whether a directory is an agent's own, or another one that is hidden.
pub fn is_hidden(dir: &Path) -> bool {
    dir.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Returns the mode of a file or directory; 0 for one that cannot be looked at, which counts as closed.
fn mode(path: &Path) -> u32 {
    path.metadata().map_or(0, |meta| meta.mode())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn both_ends_of_a_file_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        for len in [0, 10, GLANCE, GLANCE + 10, 3 * GLANCE] {
            let bytes: Vec<u8> = (0..len).map(|n| (n % 251) as u8).collect();
            std::fs::write(&path, &bytes).unwrap();
            let (head, tail) = ends(&path).unwrap();
            assert_eq!(head, bytes[..len.min(GLANCE)]);
            assert_eq!(tail, bytes[len - (len - head.len()).min(GLANCE)..]);
        }
        assert!(ends(dir.path()).is_err());
    }

    #[test]
    fn facts_come_from_whole_lines() {
        let facts = glance(b"{\"n\":1}\n{\"n\":2", b"9}\n{\"n\":3}\n", |record, facts| {
            facts.title.get_or_insert_default().push_str(&String::from_utf8_lossy(record.object("n").raw()));
        });
        assert_eq!(facts.title.as_deref(), Some("13"));
    }

    #[test]
    fn a_file_is_open_if_it_and_all_directories_above_are() {
        // Below a directory that is open to all, as the directory for temporary files is.
        let top = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
        let dir = top.path().join(".agent");
        let file = dir.join("s.jsonl");
        fs::create_dir(&dir).unwrap();
        fs::write(&file, "").unwrap();
        let with = |of_dir, of_file| {
            fs::set_permissions(&dir, Permissions::from_mode(of_dir)).unwrap();
            fs::set_permissions(&file, Permissions::from_mode(of_file)).unwrap();
            Exposure::default().is_open_to_others(&file)
        };
        let is_below_open = top.path().ancestors().skip(1).all(|dir| mode(dir) & 0o001 != 0);
        assert_eq!(with(0o755, 0o644), is_below_open);
        assert!(!with(0o700, 0o644) && !with(0o755, 0o600) && !with(0o710, 0o604));
        assert_eq!(directory_to_close(&file), Some(dir));
        assert!(!Exposure::default().is_open_to_others(&top.path().join("none")));
    }
}
