//! The files of a database: itself, and what its writers left beside it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::base::fs::plain_file;
use crate::session::record::{fill, open_regular};

use super::DatabaseError;

/// What the names of the files beside a database add to its own: the log, its index, and the journal of a transaction.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The first bytes of a journal whose transaction is not finished.
const JOURNAL_MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];

/// The state by which a change of a file is noticed: length, time and inode; nothing if the file is missing.
pub(super) type FileState = Option<(u64, i64, i64, u64)>;

/// Returns the states by which a change of a database, its log or its journal is noticed.
pub(super) fn states(path: &Path) -> Vec<FileState> {
    let state = |path: PathBuf| {
        let meta = fs::metadata(path).ok()?;
        Some((meta.len(), meta.mtime(), meta.mtime_nsec(), meta.ino()))
    };
    content_files(path).map(state).into()
}

/// Returns the files that hold a database's content: itself, its log and its journal.
pub(super) fn content_files(path: &Path) -> [PathBuf; 3] {
    [path.to_owned(), beside(path, "-wal"), beside(path, "-journal")]
}

/// Returns the path of a file beside a database.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Returns a file's length in bytes, if it is there.
pub(super) fn length(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|meta| meta.len())
}

/// Checks that a database can be opened without blocking, and that no transaction is unfinished: SQLite would take
/// it back by writing, and a journal may name any file to be deleted then. Opens but the journal: to close a file takes away
/// the locks on it that this process has.
///
/// # Errors
/// A file is not a regular file, or the database is not there; or there is such a journal.
pub(super) fn check(path: &Path) -> Result<(), DatabaseError> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("is not a regular file").into());
    }
    let is_other = |path: PathBuf| fs::metadata(path).is_ok_and(|meta| !meta.is_file());
    if let Some(ending) = BESIDE.into_iter().find(|ending| is_other(beside(path, ending))) {
        return Err(io::Error::other(format!("its {ending} is not a regular file")).into());
    }
    match open_regular(&beside(path, "-journal")) {
        Ok((journal, _)) if is_hot(&journal)? => Err(DatabaseError::Unfinished),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn is_hot(journal: &File) -> io::Result<bool> {
    let mut head = [0; JOURNAL_MAGIC.len()];
    let filled = fill(journal, 0, &mut head)?;
    Ok(filled == head.len() && head == JOURNAL_MAGIC)
}

/// Checks a database that lies in a project, which may be anybody's work: it and what is beside it must be regular files of
/// this user or root, reached from the project on without a link.
///
/// # Errors
/// The first that is not, and why; `None` if there is no such database.
pub fn check_project_s(project: &Path, path: &Path) -> Result<(), Option<String>> {
    let refused = |path: &Path, error: &io::Error| Some(format!("{}: {error}", path.display()));
    let is_missing =
        |error: &io::Error| matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
    match plain_file::check_in_project(project, path) {
        Ok(_) => {}
        Err((_, error)) if is_missing(&error) => return Err(None),
        Err((at, error)) => return Err(refused(&at, &error)),
    }
    for path in BESIDE.map(|ending| beside(path, ending)) {
        match plain_file::check_in_project(project, &path) {
            Err((at, error)) if !is_missing(&error) => return Err(refused(&at, &error)),
            _ => {}
        }
    }
    Ok(())
}
