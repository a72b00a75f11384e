//! What a word on the command line names: a file, a stored output, or a session or a call that an agent recorded.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

use crate::config::Config;
use crate::session::spill::SessionsCache;
use crate::source::OpenError;
use crate::store::{self, Entry};
use crate::text::label::label;

use super::sessions::select::{self, SelectedSession};
use super::{suggest, usage};

/// What a word names.
pub(crate) enum Named {
    Stdin,
    /// It has a slash, or exists.
    File(PathBuf),
    Output(Box<Entry>),
    /// A session, or one of its calls.
    Recorded(Box<SelectedSession>),
}

/// Finds what a word names: `-` is standard input, what has a slash or exists a file; else it is an id, or a prefix of
/// just one. Calls come last, since only the records themselves have their ids.
///
/// # Errors
/// The word is empty, or names nothing or several.
pub(crate) fn find(config: &Config, word: &OsStr) -> anyhow::Result<Named> {
    if word == "-" {
        return Ok(Named::Stdin);
    }
    if let Some(path) = path(word)? {
        return Ok(Named::File(path));
    }
    let mut outputs = store::resolve(word, &config.stores.specs, &config.env, crate::base::env::now());
    let is_whole = outputs.iter().any(|entry| entry.id_bytes() == word.as_bytes());
    let id = word.to_string_lossy();
    let mut sessions = if is_whole { Vec::new() } else { select::begun(config, &id) };
    match (outputs.len(), sessions.len()) {
        (1, 0) => Ok(Named::Output(Box::new(outputs.remove(0)))),
        (0, 1) => Ok(Named::Recorded(Box::new(select::opened(sessions.remove(0), &id)?))),
        (0, 0) => {
            // All records are read for it, which is too much for the name of a file or a command that was mistyped.
            let is_name = id.contains(['.', ':']) || id.bytes().all(|byte| byte.is_ascii_alphabetic());
            let call = if is_name { None } else { select::call(config, &id)? };
            call.map(|call| Named::Recorded(Box::new(call))).ok_or(OpenError::Missing(word.into()).into())
        }
        _ => {
            let ids = sessions.into_iter().map(|session| session.id);
            Err(ambiguous(word, &outputs.iter().collect::<Vec<_>>(), ids))
        }
    }
}

/// Finds the session or the call that a word names, or the call that an output is of.
///
/// # Errors
/// Those of [`find`], or no call is known.
pub(crate) fn recorded(config: &Config, word: &OsStr) -> anyhow::Result<SelectedSession> {
    match find(config, word)? {
        Named::Recorded(found) => Ok(*found),
        Named::File(path) => select::of_file(&path),
        Named::Stdin => select::of_file(Path::new("-")),
        Named::Output(entry) => {
            let path = entry.saved_as();
            let cited = SessionsCache::default().find(Path::new(&path), entry.modified(), &config.env);
            let none = || anyhow!("{}: no session near it in time names this output", entry.id());
            let cited = cited.ok_or_else(none)?;
            select::opened(cited.file, &format!(":{}", cited.call))
        }
    }
}

/// Returns the word as a path if it has a slash or names an existing file; otherwise it is an id, or a prefix of one.
///
/// # Errors
/// The word is empty: every id has the empty prefix, but a variable that a script forgot to set chooses nothing.
pub(crate) fn path(word: &OsStr) -> anyhow::Result<Option<PathBuf>> {
    if word.is_empty() {
        return Err(usage("the empty string is neither a file nor an id; name one, or leave it out"));
    }
    let path = PathBuf::from(word);
    let is_path = word.as_bytes().contains(&b'/') || path.symlink_metadata().is_ok();
    Ok(is_path.then_some(path))
}

/// Reports an id that means several outputs or sessions. Outputs may all have the same id; then only their paths differ.
pub(crate) fn ambiguous(
    word: &OsStr,
    outputs: &[&Entry],
    sessions: impl Iterator<Item = String>,
) -> anyhow::Error {
    let mut ids: Vec<&[u8]> = outputs.iter().map(|entry| entry.id_bytes()).collect();
    let sessions: Vec<String> = sessions.map(|id| label(id.as_bytes())).collect();
    ids.sort_unstable();
    ids.dedup();
    if ids.len() == 1 && sessions.is_empty() {
        let mut paths: Vec<PathBuf> = outputs.iter().map(|entry| entry.path()).collect();
        paths.sort();
        let paths = paths.iter().map(|path| label(path.as_os_str().as_bytes())).collect();
        return suggest::several(word, "is the id of several outputs; name one by its path", paths);
    }
    let names: Vec<String> = ids.into_iter().map(label).chain(sessions).collect();
    suggest::several(word, &format!("matches {} ids", names.len()), names)
}
