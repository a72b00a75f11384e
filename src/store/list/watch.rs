//! Notices what has changed in stores since they were listed, with a stat each: their directories, and entries that may be
//! growing.

use std::path::PathBuf;

use jiff::{SignedDuration, Timestamp};

use crate::base::fs::identity::timestamp;
use crate::source::{Identity, Stamp};

use super::{Entry, RootReport};

/// Entries that were changed less than this before a look may still be growing.
const GROWS: SignedDuration = SignedDuration::from_secs(10);

/// Detects whether directories have changed since they were listed, with one stat each.
#[derive(Clone, Debug, Default)]
pub struct DirWatch {
    dirs: Vec<(PathBuf, Option<Stamp>)>,
}

impl DirWatch {
    pub fn new<'a>(reports: impl IntoIterator<Item = &'a RootReport>) -> DirWatch {
        let dirs = reports.into_iter().flat_map(|report| report.dirs.iter().cloned()).collect();
        DirWatch { dirs }
    }

    /// Checks once; true if an entry may have been added or removed since the last check.
    pub fn check_once(&mut self) -> bool {
        let mut changed = false;
        for (path, seen) in &mut self.dirs {
            let now = std::fs::metadata(&path).ok().map(|meta| Identity::from(&meta).modified);
            changed |= now != *seen;
            *seen = now;
        }
        changed
    }
}

#[derive(Debug, Default)]
pub(crate) struct GrowingEntries(Vec<GrowingEntry>);

/// An entry that may be growing, as it was listed and at the last look.
#[derive(Debug)]
struct GrowingEntry {
    path: PathBuf,
    listed: Identity,
    seen: Identity,
}

impl GrowingEntries {
    /// Watches an entry if it was changed a short time ago.
    pub(crate) fn note(&mut self, entry: &Entry, now: Timestamp) {
        if entry.known_age(now).is_some_and(|age| age < GROWS) {
            let (path, listed) = (entry.path(), entry.identity);
            self.0.push(GrowingEntry { path, listed, seen: listed });
        }
    }

    /// Whether an entry is another than was listed, and no longer growing. What was not changed for a while, and what
    /// vanished, is forgotten.
    pub(crate) fn check_once(&mut self, now: Timestamp) -> bool {
        let mut have_grown = false;
        self.0.retain_mut(|entry| {
            let Ok(facts) = entry.path.symlink_metadata() else { return false };
            let before = std::mem::replace(&mut entry.seen, Identity::from(&facts));
            let is_young = now.duration_since(timestamp(entry.seen.modified)) < GROWS;
            have_grown |= entry.seen != entry.listed && (entry.seen == before || !is_young);
            is_young
        });
        have_grown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_complete_once_it_no_longer_grows() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("output");
        let write = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Identity::from(&path.symlink_metadata().unwrap())
        };
        let entry = |listed| GrowingEntry { path: path.clone(), listed, seen: listed };
        let listed = write("one");
        let now = timestamp(listed.modified);
        let mut growing = GrowingEntries(vec![entry(listed)]);
        assert!(!growing.check_once(now), "it is as it was listed");
        write("one two");
        assert!(!growing.check_once(now), "it grows");
        let last = write("one two three");
        assert!(!growing.check_once(now), "it still grows");
        assert!(growing.check_once(now));
        let later = timestamp(last.modified) + GROWS;
        growing = GrowingEntries(vec![entry(last), entry(listed)]);
        assert!(growing.check_once(later), "one had grown before it could be looked at");
        assert!(growing.0.is_empty(), "nothing has changed for a while");
        growing = GrowingEntries(vec![entry(last)]);
        std::fs::remove_file(&path).unwrap();
        assert!(!growing.check_once(now) && growing.0.is_empty());
    }
}
