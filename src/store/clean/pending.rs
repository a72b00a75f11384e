//! Deletions that were requested but not yet carried out: they can be undone until then, and are lost if killed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::store::{DeleteMode, DeleteReason, Entry};

#[derive(Clone, Debug)]
pub struct PendingDelete {
    /// The entry, as it was when it was marked.
    pub entry: Entry,
    pub why: DeleteReason,
    pub mode: DeleteMode,
}

/// Entries to be deleted, in the steps in which they were marked. Pure: nothing is deleted until the caller takes them
/// and acts.
#[derive(Clone, Debug, Default)]
pub struct Pending {
    steps: Vec<Vec<PathBuf>>,
    entries: HashMap<PathBuf, PendingDelete>,
    bytes: u128,
}

impl Pending {
    /// Marks entries in one step, except those already marked. Returns how many are new.
    pub fn mark(&mut self, entries: impl IntoIterator<Item = PendingDelete>) -> usize {
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

    /// Undoes the last step. Returns the paths that are no longer marked.
    pub fn undo(&mut self) -> Vec<PathBuf> {
        let step = self.steps.pop().unwrap_or_default();
        for path in &step {
            if let Some(marked) = self.entries.remove(path) {
                self.bytes -= u128::from(marked.entry.size());
            }
        }
        step
    }

    pub fn contains(&self, path: &Path) -> bool {
        self.entries.contains_key(path)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn only(&self) -> Option<&PendingDelete> {
        self.entries.values().next().filter(|_| self.entries.len() == 1)
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.try_into().unwrap_or(u64::MAX)
    }

    /// Takes all marked entries, in the order in which they were marked, to be deleted now.
    pub fn take(&mut self) -> Vec<PendingDelete> {
        let Pending { steps, mut entries, .. } = std::mem::take(self);
        steps.into_iter().flatten().filter_map(|path| entries.remove(&path)).collect()
    }
}
