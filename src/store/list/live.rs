//! Lists all stores for somebody who waits, a batch of entries at a time, then watches until something has changed.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::base::fs::identity::timestamp;
use crate::source::{FileTime, Identity};
use crate::store::{KeptIds, Stores, scan};

use super::{Entry, Env, RootReport, StoreSpec, apply_limits};

/// The first entries are passed on after this many, because somebody waits.
const FIRST: usize = 128;

/// The shortest time between two checks of the stores' directories.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Checks are rarer after a slow listing: they are at least this many times its duration apart.
const REST: u32 = 4;

/// Returns how long to wait after a listing that took this long, before looking for changes.
pub fn rest_after(took: Duration) -> Duration {
    LOOK_EVERY.max(took * REST)
}

pub enum ScanStep {
    Begun {
        now: Timestamp,
        user: u32,
        kept: KeptIds,
    },
    Some(Vec<Entry>),
    /// The end, with the result for each root of each store.
    All(Vec<(Arc<StoreSpec>, Vec<RootReport>)>),
}

/// Passes on all entries in batches, then watches. Returns true once something has changed, false if unwanted.
pub fn list_and_watch(
    (stores, env): (&Stores, &Env),
    batch: usize,
    pass_on: &dyn Fn(ScanStep) -> bool,
    is_wanted: &dyn Fn() -> bool,
) -> bool {
    let (began, now) = (Instant::now(), crate::base::env::now());
    pass_on(ScanStep::Begun { now, user: env.uid(), kept: KeptIds::load(env) });
    let (some, growing) = (Vec::with_capacity(FIRST), GrowingEntries::default());
    let mut batches = Batches { some, len: FIRST, max: batch, now, growing, pass_on, is_wanted };
    let list = |store: &Arc<StoreSpec>| (Arc::clone(store), batches.list(store, env));
    let reports: Vec<_> = stores.specs.iter().map(list).collect();
    batches.pass_on();
    let mut watch = DirWatch::new(reports.iter().flat_map(|(_, roots)| roots));
    if !pass_on(ScanStep::All(reports)) {
        return false;
    }
    let rest = rest_after(began.elapsed());
    loop {
        std::thread::sleep(rest);
        if !is_wanted() {
            return false;
        }
        if watch.check_once() || batches.growing.check_once(crate::base::env::now()) {
            return true;
        }
    }
}

struct Batches<'a> {
    some: Vec<Entry>,
    /// How many entries there are to be in the next batch, and in later ones.
    len: usize,
    max: usize,
    now: Timestamp,
    growing: GrowingEntries,
    pass_on: &'a dyn Fn(ScanStep) -> bool,
    is_wanted: &'a dyn Fn() -> bool,
}

impl Batches<'_> {
    /// Lists one store. Retention limits by count and size need all entries of the store first.
    fn list(&mut self, store: &Arc<StoreSpec>, env: &Env) -> Vec<RootReport> {
        if !store.retention.has_limits() {
            return scan(store, env, self.now, &mut |entry| self.add(entry));
        }
        let mut all = Vec::new();
        let roots = scan(store, env, self.now, &mut |entry| {
            all.push(entry);
            self.check_wanted()
        });
        apply_limits(&mut all, self.now);
        _ = all.into_iter().try_for_each(|entry| self.add(entry));
        roots
    }

    fn add(&mut self, entry: Entry) -> ControlFlow<()> {
        self.growing.note(&entry, self.now);
        self.some.push(entry);
        if self.some.len() == self.len {
            // The first two together make up one batch.
            self.len = if self.len == FIRST { self.max - FIRST } else { self.max };
            self.pass_on();
        }
        self.check_wanted()
    }

    fn check_wanted(&self) -> ControlFlow<()> {
        if (self.is_wanted)() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn pass_on(&mut self) {
        let some = std::mem::replace(&mut self.some, Vec::with_capacity(self.len));
        (self.pass_on)(ScanStep::Some(some));
    }
}

/// Entries that were changed less than this before a look may still be growing.
const GROWS: SignedDuration = SignedDuration::from_secs(10);

/// Detects whether directories have changed since they were listed, with one stat each.
#[derive(Clone, Debug, Default)]
pub struct DirWatch {
    dirs: Vec<(PathBuf, Option<FileTime>)>,
}

impl DirWatch {
    pub fn new<'a>(reports: impl IntoIterator<Item = &'a RootReport>) -> DirWatch {
        DirWatch { dirs: reports.into_iter().flat_map(|report| report.dirs.iter().cloned()).collect() }
    }

    /// Checks once; true if an entry may have been added or removed since the last check.
    pub fn check_once(&mut self) -> bool {
        let mut changed = false;
        for (path, seen) in &mut self.dirs {
            let now = std::fs::metadata(&path).ok().map(|meta| Identity::from(&meta).modified);
            changed |= std::mem::replace(seen, now) != now;
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

    /// Whether an entry has changed and stopped growing. Forgets what was not changed for a while or vanished.
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
