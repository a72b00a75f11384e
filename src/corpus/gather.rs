//! Which outputs a corpus has: entries of stores, files, and all files in directories.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use jiff::{SignedDuration, Timestamp};

use crate::config::Config;
use crate::source::OpenError;
use crate::store::{CopyRecord, Entry, EntryStatus};

/// Outputs to look at together; none has been opened.
#[derive(Debug, Default)]
pub(crate) struct Corpus {
    /// The outputs, in the order in which results are handed on.
    pub outputs: Vec<CorpusOutput>,
    /// Messages about what could not be listed.
    pub faults: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum CorpusOutput {
    Entry(Box<Entry>),
    /// A file that was named; links are followed.
    Named(PathBuf),
    Found(PathBuf),
}

impl Corpus {
    /// Takes the files that stores list, and leaves out links, directories and pipes, and copies of others of them.
    pub(crate) fn from_entries(mut entries: Vec<Entry>) -> Self {
        entries.retain(|entry| !matches!(entry.status, EntryStatus::SymbolicLink | EntryStatus::NotAFile));
        let place = |entry: &Entry| (entry.modified(), entry.path());
        let is_unreadable = |entry: &&Entry| matches!(entry.status, EntryStatus::Unreadable(_));
        let has_copies = entries.iter().any(|entry| entry.copy().is_some());
        let places: HashSet<_> =
            entries.iter().filter(|entry| has_copies && !is_unreadable(entry)).map(place).collect();
        let is_twice =
            |copy: &Arc<CopyRecord>| places.contains(&(copy.modified, PathBuf::from(&*copy.original)));
        entries.retain(|entry| !entry.copy().is_some_and(is_twice));
        entries.sort_by(|a, b| b.modified().cmp(&a.modified()).then_with(|| a.path().cmp(&b.path())));
        let outputs = entries.into_iter().map(|entry| CorpusOutput::Entry(Box::new(entry))).collect();
        Self { outputs, faults: Vec::new() }
    }

    /// Takes files and all regular files below directories, hidden ones too, sorted. Links inside are not followed.
    pub(crate) fn from_paths(paths: &[PathBuf]) -> Self {
        let mut corpus = Self::default();
        for path in paths {
            match fs::metadata(path) {
                Ok(meta) if meta.is_dir() => corpus.add_directory(path.clone()),
                Ok(_) => corpus.outputs.push(CorpusOutput::Named(path.clone())),
                Err(error) => corpus.fault(path, error),
            }
        }
        corpus
    }

    /// Adds the files below a directory. Directories that vanish meanwhile are not faults.
    fn add_directory(&mut self, top: PathBuf) {
        let mut left = vec![(top, true)];
        while let Some((path, is_directory)) = left.pop() {
            if !is_directory {
                self.outputs.push(CorpusOutput::Found(path));
                continue;
            }
            match list_directory(&path) {
                // The last one is taken first.
                Ok(found) => left.extend(found.into_iter().rev()),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => self.fault(&path, error),
            }
        }
    }

    fn fault(&mut self, path: &Path, error: io::Error) {
        self.faults.push(OpenError::new(path, error).to_string());
    }
}

/// Returns the regular files and the directories in a directory, sorted; true marks a directory.
fn list_directory(directory: &Path) -> io::Result<Vec<(PathBuf, bool)>> {
    let mut found = Vec::new();
    for item in fs::read_dir(directory)? {
        let item = item?;
        let Ok(kind) = item.file_type() else { continue };
        if kind.is_dir() || kind.is_file() {
            found.push((item.path(), kind.is_dir()));
        }
    }
    found.sort();
    Ok(found)
}

impl CorpusOutput {
    pub(crate) fn path(&self) -> Cow<'_, Path> {
        match self {
            CorpusOutput::Entry(entry) => entry.path().into(),
            CorpusOutput::Named(path) | CorpusOutput::Found(path) => path.into(),
        }
    }

    pub(crate) fn saved_as(&self) -> String {
        match self {
            CorpusOutput::Entry(entry) => entry.saved_as(),
            CorpusOutput::Named(path) | CorpusOutput::Found(path) => {
                std::path::absolute(path).unwrap_or_else(|_| path.clone()).to_string_lossy().into_owned()
            }
        }
    }

    /// Returns the agent whose store has it; `None` for a file outside all stores.
    pub(crate) fn agent(&self, config: &Config) -> Option<String> {
        match self {
            CorpusOutput::Entry(entry) => Some(entry.agent().to_owned()),
            CorpusOutput::Named(path) | CorpusOutput::Found(path) => {
                config.stored_file(path).map(|file| file.agent().to_owned())
            }
        }
    }

    pub(crate) fn id(&self) -> Option<Cow<'_, str>> {
        let CorpusOutput::Entry(entry) = self else { return None };
        Some(entry.id())
    }

    /// Returns the age by the modification time, if both are known and that is not in the future.
    pub(crate) fn age(&self, now: Timestamp) -> Option<SignedDuration> {
        match self {
            CorpusOutput::Entry(entry) => entry.known_age(now),
            CorpusOutput::Named(path) | CorpusOutput::Found(path) => {
                let modified = Timestamp::try_from(fs::metadata(path).ok()?.modified().ok()?).ok()?;
                Some(now.duration_since(modified)).filter(|age| !age.is_negative())
            }
        }
    }
}
