//! Deletions that have been asked for and not yet done: undone while that lasts, lost with a kill.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::store::{DeleteMode, Entry, Why};

/// An entry to be deleted.
#[derive(Clone, Debug)]
pub struct Marked {
    /// The entry, as it was when that was asked.
    pub entry: Entry,
    /// Why it goes.
    pub why: Why,
    /// How it was chosen.
    pub mode: DeleteMode,
}

/// Entries to be deleted, in the steps in which they were marked. Pure: nothing is deleted until
/// the caller takes them and acts.
#[derive(Clone, Debug, Default)]
pub struct Pending {
    steps: Vec<Vec<PathBuf>>,
    entries: HashMap<PathBuf, Marked>,
    bytes: u128,
}

impl Pending {
    /// Marks entries in one step; those already marked stay as they are. Returns how many are new.
    pub fn mark(&mut self, entries: impl IntoIterator<Item = Marked>) -> usize {
        let mut step = Vec::new();
        for marked in entries {
            let path = marked.entry.path();
            if !self.entries.contains_key(&path) {
                self.bytes += u128::from(marked.entry.size());
                self.entries.insert(path.clone(), marked);
                step.push(path);
            }
        }
        let marked = step.len();
        if marked > 0 {
            self.steps.push(step);
        }
        marked
    }

    /// Takes the last step back; returns the paths that are no longer marked.
    pub fn undo(&mut self) -> Vec<PathBuf> {
        let step = self.steps.pop().unwrap_or_default();
        for path in &step {
            if let Some(marked) = self.entries.remove(path) {
                self.bytes -= u128::from(marked.entry.size());
            }
        }
        step
    }

    /// Whether the entry at `path` is marked.
    pub fn contains(&self, path: &Path) -> bool {
        self.entries.contains_key(path)
    }

    /// How many are marked.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Bytes that deleting them would free.
    pub fn bytes(&self) -> u64 {
        self.bytes.try_into().unwrap_or(u64::MAX)
    }

    /// Takes them all, in the order in which they were marked, to be deleted now.
    pub fn take(&mut self) -> Vec<Marked> {
        let Pending { steps, mut entries, .. } = std::mem::take(self);
        steps.into_iter().flatten().filter_map(|path| entries.remove(&path)).collect()
    }
}
