//! Looks for sessions: walks the agents' directories, and reads the ends of files.

use std::fs::DirEntry;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memchr::memmem;

use crate::base::env::Env;

use super::json::{Json, Tape};
use super::model::SessionFacts;
use super::reader::GLANCE;
use super::record::{open_regular, read};

/// The most names that are read of one directory.
const MAX_NAMES: usize = 1_000_000;

/// A file that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundFile {
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    pub modified: Option<SystemTime>,
    /// What is known of the session without reading the file, as from an index that the agent keeps.
    pub facts: SessionFacts,
}

impl FoundFile {
    pub fn stem(&self) -> &str {
        stem(&self.path)
    }
}

/// Returns the name of a file without its last extension; empty if it is not UTF-8.
pub fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

/// Returns the name of the directory this many levels above a file; empty if there is none, or it is not UTF-8.
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

/// Returns the directory of an agent: the variable's value, else the path below the home directory. Without a home, none.
pub fn home_or(env: &Env, variable: &str, below_home: &str) -> Option<PathBuf> {
    named_dir(env, variable).or_else(|| below(env.home(), below_home))
}

/// Returns a variable's value, if it is an absolute path.
pub fn named_dir(env: &Env, variable: &str) -> Option<PathBuf> {
    env.var(variable).map(PathBuf::from).filter(|path| path.is_absolute())
}

/// Returns a path in the XDG data directory.
pub fn data_dir(env: &Env, below_data: &str) -> Option<PathBuf> {
    match env.var("XDG_DATA_HOME") {
        Some(data) => Some(Path::new(data).join(below_data)),
        None => below(env.home(), &format!(".local/share/{below_data}")),
    }
}

fn below(home: &Path, path: &str) -> Option<PathBuf> {
    (!home.as_os_str().is_empty()).then(|| home.join(path))
}

/// Returns the directories in `dir`, sorted by name; none if it is not there. Links to directories count. What cannot be
/// read goes to `fault`, in words.
pub fn directories(dir: &Path, fault: &mut dyn FnMut(String)) -> Vec<PathBuf> {
    let is_dir = |entry: &DirEntry| match entry.file_type() {
        Ok(kind) if !kind.is_symlink() => kind.is_dir(),
        _ => entry.path().is_dir(),
    };
    let mut found: Vec<_> =
        entries(dir, fault).into_iter().filter(is_dir).map(|entry| entry.path()).collect();
    found.sort();
    found
}

/// Returns the files below a directory whose paths are as `pattern` says: a part `*` stands for any directory, and one in the
/// name of the file for any characters.
pub fn matching(root: Option<PathBuf>, pattern: &str, fault: &mut dyn FnMut(String)) -> Vec<FoundFile> {
    let mut dirs = Vec::from_iter(root);
    let mut parts: Vec<&str> = pattern.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    for part in parts {
        dirs = match part {
            "*" => dirs.iter().flat_map(|dir| directories(dir, fault)).collect(),
            part => dirs.into_iter().map(|dir| dir.join(part)).collect(),
        };
    }
    match name.split_once('*') {
        Some((start, end)) => {
            let is_meant = |name: &str| name.starts_with(start) && name.ends_with(end);
            dirs.iter().flat_map(|dir| files(dir, is_meant, fault)).collect()
        }
        None => dirs.iter().filter_map(|dir| found_file(&dir.join(name))).collect(),
    }
}

/// Returns the regular files in `dir` whose names `wanted` accepts, sorted by name; none if it is not there.
pub fn files(dir: &Path, wanted: impl Fn(&str) -> bool, fault: &mut dyn FnMut(String)) -> Vec<FoundFile> {
    let is_wanted = |entry: &DirEntry| entry.file_name().to_str().is_some_and(&wanted);
    let entries = entries(dir, fault).into_iter().filter(is_wanted);
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
    /// How many directories this thread has listed.
    pub static LISTED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn entries(dir: &Path, fault: &mut dyn FnMut(String)) -> Vec<DirEntry> {
    #[cfg(test)]
    LISTED.set(LISTED.get() + 1);
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => {
            if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
                fault(format!("{}: {error}", dir.display()));
            }
            return Vec::new();
        }
    };
    entries.filter_map(Result::ok).take(MAX_NAMES).collect()
}

/// Reads the first 64 KiB of a regular file.
pub fn head(path: &Path) -> io::Result<Vec<u8>> {
    let (file, meta) = open_regular(path)?;
    read(&file, 0..meta.len().min(GLANCE as u64))
}

/// Reads the first and the last 64 KiB of a regular file; the second is empty if the first is all of it.
///
/// # Errors
/// The system's; or it is not a regular file.
pub fn ends(path: &Path) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (file, meta) = open_regular(path)?;
    let head = read(&file, 0..meta.len().min(GLANCE as u64))?;
    let rest = meta.len().saturating_sub(head.len() as u64);
    let tail = read(&file, meta.len() - rest.min(GLANCE as u64)..meta.len())?;
    Ok((head, tail))
}

/// Reads the facts of a log from its ends, of whole lines only.
pub fn glance(head: &[u8], tail: &[u8], note: fn(Json, &mut SessionFacts)) -> SessionFacts {
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

#[cfg(test)]
mod tests {
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
}
