//! The background jobs of the list of stored outputs.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::fs::stat::timestamp;
use crate::session::citing;
use crate::source::{Hold, Identity};
use crate::store::{self, DirWatch, Entry, Env, Record, RootReport, StoreSpec};
use crate::tui::job::JobContext;
use crate::tui::list::rows::{BATCH, RowTable};
use crate::tui::list::texts::{BatchText, TextTable};

use super::event::{OutputsEvent, ScanEnd, Scanned};
use super::got::{ModelGot, ModelShare};
use super::rows::{OutputRow, Peek, peek};

/// The first entries are sent after this many, because the screen is waiting.
const FIRST: usize = 128;

/// The shortest time between two checks of the stores' directories.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Checks are rarer after a slow scan: they are at least this many times its duration apart.
const REST: u32 = 4;

/// Entries that were changed less than this before a look at the stores may still be growing.
const GROWS: SignedDuration = SignedDuration::from_secs(10);

/// Scans all stores, then watches their directories, and the entries that may be growing, until another scan is wanted or
/// something has changed.
pub(crate) fn scan(number: u64, context: &JobContext) {
    let began = Instant::now();
    let env = context.env();
    let now = crate::env::now();
    let own = store::OwnStore::open(env).ok().flatten();
    let kept = own.and_then(|own| own.kept(env).ok()).unwrap_or_default();
    context.send(OutputsEvent::Scanned(Scanned::Begun { number, now, user: env.uid(), kept }));
    let some = Vec::with_capacity(FIRST);
    let mut finds = Finds { number, some, most: FIRST, now, growing: Vec::new(), context };
    let mut reports = Vec::new();
    for store in &context.services.stores.specs {
        reports.push((Arc::clone(store), finds.of(store, env, now)));
    }
    finds.send();
    let mut growing = finds.growing;
    let mut watch = DirWatch::new(reports.iter().flat_map(|(_, roots)| roots));
    let look = ScanEnd { number, reports };
    if !context.is_wanted() || !context.send(OutputsEvent::Scanned(Scanned::All(Box::new(look)))) {
        return;
    }
    let rest = LOOK_EVERY.max(began.elapsed() * REST);
    loop {
        std::thread::sleep(rest);
        if !context.is_wanted() {
            return;
        }
        if watch.check_once() || have_grown(&mut growing, crate::env::now()) {
            context.send(OutputsEvent::Changed);
            return;
        }
    }
}

/// An entry that may be growing.
struct Growing {
    path: PathBuf,
    /// As it was listed.
    listed: Identity,
    /// As it was at the last look.
    seen: Identity,
}

/// Whether an entry is another than was listed, and no longer growing. What was not changed for a while, and what
/// vanished, is forgotten.
fn have_grown(growing: &mut Vec<Growing>, now: Timestamp) -> bool {
    let mut have_grown = false;
    growing.retain_mut(|entry| {
        let Ok(facts) = entry.path.symlink_metadata() else { return false };
        let before = std::mem::replace(&mut entry.seen, Identity::from(&facts));
        let is_young = now.duration_since(timestamp(entry.seen.modified)) < GROWS;
        have_grown |= entry.seen != entry.listed && (entry.seen == before || !is_young);
        is_young
    });
    have_grown
}

/// Collects entries on their way to the screen.
struct Finds<'a> {
    number: u64,
    some: Vec<Entry>,
    most: usize,
    /// When the scan began.
    now: Timestamp,
    growing: Vec<Growing>,
    context: &'a JobContext,
}

impl Finds<'_> {
    /// Sends the entries of one store. Retention limits by count and size need all entries of the store first.
    fn of(&mut self, store: &Arc<StoreSpec>, env: &Env, now: Timestamp) -> Vec<RootReport> {
        if !store.retention.has_limits() {
            return store::scan(store, env, now, &mut |entry| self.add(entry));
        }
        let mut all = Vec::new();
        let roots = store::scan(store, env, now, &mut |entry| {
            all.push(entry);
            self.go_on()
        });
        store::apply_limits(&mut all, now);
        _ = all.into_iter().try_for_each(|entry| self.add(entry));
        roots
    }

    fn add(&mut self, entry: Entry) -> ControlFlow<()> {
        if entry.known_age(self.now).is_some_and(|age| age < GROWS) {
            let (path, listed) = (entry.path(), entry.identity);
            self.growing.push(Growing { path, listed, seen: listed });
        }
        self.some.push(entry);
        if self.some.len() == self.most {
            // The first two messages together make up one batch.
            self.most = if self.most == FIRST { BATCH - FIRST } else { BATCH };
            self.send();
        }
        self.go_on()
    }

    fn go_on(&self) -> ControlFlow<()> {
        if self.context.is_wanted() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn send(&mut self) {
        let some = std::mem::replace(&mut self.some, Vec::with_capacity(self.most));
        self.context.send(OutputsEvent::Scanned(Scanned::Some(self.number, some)));
    }
}

/// The longest that one entry may take until it is left unknown how much of it the model got.
const MAX_TIME: Duration = Duration::from_secs(1);

/// An entry, and the index of its row.
pub(crate) type RowEntry = (usize, Entry);

/// Finds out what the model got of each entry, one after the other, and reports each.
pub(crate) fn measure(entries: Vec<RowEntry>, context: &JobContext) {
    for (row, entry) in entries {
        let began = Instant::now();
        let goes_on = || context.is_wanted() && began.elapsed() < MAX_TIME;
        let share = match is_part_saved(&entry, context.env()) {
            true => Some(ModelShare::without_errors(ModelGot::Unsaved)),
            false => (context.services.open)(&entry.path(), Hold::No).ok().and_then(|target| {
                let of = (target.subject, target.source.view());
                ModelShare::measure(of, &context.services.severities, &goes_on)
            }),
        };
        let event = OutputsEvent::Measured(row, Box::new(entry), share);
        if !context.is_wanted() || !context.send(event) {
            return;
        }
    }
}

/// Whether it is recorded that only the start of an output was saved.
fn is_part_saved(entry: &Entry, env: &Env) -> bool {
    entry.is_own() && Record::of_run(env, &entry.path()).is_some_and(|run| !run.is_whole())
}

/// Reads the first lines of some entries, and the records of their runs.
pub(crate) fn peek_all(entries: Vec<RowEntry>, context: &JobContext) {
    let read = |(row, entry): RowEntry| {
        let peek = peek(&entry, context.env());
        (row, entry, peek)
    };
    context.send(OutputsEvent::Peeked(entries.into_iter().map(read).collect()));
}

/// Looks for the call that each entry is of, and reports each.
pub(crate) fn find_calls(entries: Vec<RowEntry>, context: &JobContext) {
    let newest = entries.iter().map(|(_, entry)| entry.modified()).max().unwrap_or_default();
    let env = context.env();
    let sessions = context.services.sessions.since(newest, env);
    for (row, entry) in entries {
        let found = citing::find(&sessions, Path::new(&entry.saved_as()), env.uid(), &()).map(Box::new);
        if !context.send(OutputsEvent::Cited(row, Box::new(entry), found)) {
            return;
        }
    }
}

/// Entries whose tools, commands and first lines are to be read.
#[derive(Debug, Clone)]
pub(crate) struct TextTask {
    pub(crate) rows: RowTable<OutputRow>,
    /// What has been read of them.
    pub(crate) texts: TextTable,
    /// The entries of the scan before and what was read of those, so that no file is read twice.
    pub(crate) before: Option<(RowTable<OutputRow>, TextTable)>,
}

impl TextTask {
    /// Reads batch by batch what has not been read, and passes each batch on with its number. Ends when `take` returns
    /// false, or `wanted`, which is asked before each file.
    pub(crate) fn run(
        &self,
        env: &Env,
        wanted: &dyn Fn() -> bool,
        take: &mut dyn FnMut(usize, BatchText) -> bool,
    ) {
        let before = self.known_before();
        for (n, batch) in self.rows.batches().enumerate().filter(|(n, _)| self.texts.batch(*n).is_none()) {
            let mut texts = BatchText::default();
            for OutputRow { entry, .. } in batch {
                if !wanted() {
                    return;
                }
                match before.get(&entry.identity) {
                    Some(text) => texts.push_lower(text),
                    None => texts.push(&searched(&peek(entry, env))),
                }
            }
            if !take(n, texts) {
                return;
            }
        }
    }

    fn known_before(&self) -> HashMap<Identity, &[u8]> {
        let Some((rows, texts)) = &self.before else { return HashMap::new() };
        let read = rows.batches().enumerate().filter_map(|(n, batch)| Some((batch, texts.batch(n)?)));
        read.flat_map(|(batch, texts)| {
            let known = batch.iter().take(texts.len()).enumerate();
            known.map(|(n, row)| (row.entry.identity, texts.get(n)))
        })
        .collect()
    }
}

fn searched(peek: &Peek) -> String {
    format!("{} {} {}", peek.tool.as_deref().unwrap_or_default(), peek.command, peek.first_line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_grown_once_it_no_longer_grows() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("output");
        let write = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Identity::from(&path.symlink_metadata().unwrap())
        };
        let entry = |listed| Growing { path: path.clone(), listed, seen: listed };
        let listed = write("one");
        let now = timestamp(listed.modified);
        let mut growing = vec![entry(listed)];
        assert!(!have_grown(&mut growing, now), "it is as it was listed");
        write("one two");
        assert!(!have_grown(&mut growing, now), "it grows");
        let last = write("one two three");
        assert!(!have_grown(&mut growing, now), "it still grows");
        assert!(have_grown(&mut growing, now));
        let later = timestamp(last.modified) + GROWS;
        growing = vec![entry(last), entry(listed)];
        assert!(have_grown(&mut growing, later), "one had grown before it could be looked at");
        assert!(growing.is_empty(), "nothing has changed for a while");
        growing = vec![entry(last)];
        std::fs::remove_file(&path).unwrap();
        assert!(!have_grown(&mut growing, now) && growing.is_empty());
    }
}
