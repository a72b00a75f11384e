//! The background jobs of the list of stored outputs.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::session::citing;
use crate::source::{Hold, Identity};
use crate::store::{self, DirWatch, Entry, Env, RootReport, RunNote, Space, StoreSpec};
use crate::tui::job::JobContext;

use super::details::{FoundCall, Peek, peek};
use super::event::{ScanEnd, Scanned, StoresEvent};
use super::got::Glance;
use super::got::ModelGot;
use super::sort::{BATCH, EntryTable};
use super::texts::{BatchText, TextTable};

/// The first entries are sent after this many, because the screen is waiting.
const FIRST: usize = 128;

/// The shortest time between two checks of the stores' directories.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Checks are rarer after a slow scan: they are at least this many times its duration apart.
const REST: u32 = 4;

/// Scans all stores, then watches their directories until another scan is wanted or something has changed.
pub(crate) fn scan(number: u64, context: &JobContext) {
    let began = Instant::now();
    let env = context.env();
    let now = crate::env::now();
    context.send(StoresEvent::Scanned(Scanned::Begun { number, now, user: env.uid() }));
    let mut finds = Finds { number, some: Vec::with_capacity(FIRST), most: FIRST, context };
    let mut reports = Vec::new();
    for store in &context.services.stores.specs {
        reports.push((Arc::clone(store), finds.of(store, env, now)));
    }
    finds.send();
    let mut watch = DirWatch::new(reports.iter().flat_map(|(_, roots)| roots));
    let own = store::OwnStore::open(env).ok().flatten();
    let kept = own.and_then(|own| own.kept().ok()).unwrap_or_default();
    let space = store::own_home(env).ok().and_then(|home| nearest_space(&home));
    let look = ScanEnd { number, reports, kept, space };
    if !context.is_wanted() || !context.send(StoresEvent::Scanned(Scanned::All(Box::new(look)))) {
        return;
    }
    let rest = LOOK_EVERY.max(began.elapsed() * REST);
    loop {
        std::thread::sleep(rest);
        if !context.is_wanted() {
            return;
        }
        if watch.check_once() {
            context.send(StoresEvent::Changed);
            return;
        }
    }
}

/// Collects entries on their way to the screen.
struct Finds<'a> {
    number: u64,
    some: Vec<Entry>,
    most: usize,
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
        self.context.send(StoresEvent::Scanned(Scanned::Some(self.number, some)));
    }
}

/// Returns the space on the disk of the nearest existing directory.
fn nearest_space(path: &Path) -> Option<Space> {
    path.ancestors().find_map(|path| store::space(path).ok())
}

/// The longest that one entry may take until it is left unknown how much of it the model got.
const MAX_TIME: Duration = Duration::from_secs(1);

/// Finds out how much of each entry the model got, one after the other, and reports each.
pub(crate) fn measure_kept(entries: Vec<Entry>, context: &JobContext) {
    for entry in entries {
        let began = Instant::now();
        let goes_on = || context.is_wanted() && began.elapsed() < MAX_TIME;
        let got = match is_part_saved(&entry, context.env()) {
            true => Some(ModelGot::Unsaved),
            false => (context.services.open)(&entry.path(), Hold::No)
                .ok()
                .and_then(|target| ModelGot::of(target.subject, target.source.view(), &goes_on)),
        };
        let event = StoresEvent::Weighed(Box::new(entry), got.unwrap_or(ModelGot::Unknown));
        if !context.is_wanted() || !context.send(event) {
            return;
        }
    }
}

/// Whether it is recorded that only the start of an output was saved.
fn is_part_saved(entry: &Entry, env: &Env) -> bool {
    entry.is_own() && RunNote::of(env, &entry.path()).is_some_and(|run| !run.is_whole())
}

/// Reads the first lines of some entries, and the records of their runs.
pub(crate) fn peek_all(entries: Vec<Entry>, context: &JobContext) {
    let read = |entry: Entry| {
        let peek = peek(&entry, context.env());
        (entry, peek)
    };
    context.send(StoresEvent::Peeked(entries.into_iter().map(read).collect()));
}

/// Looks for the call that each entry is of, and reports each.
pub(crate) fn find_calls(entries: Vec<Entry>, context: &JobContext) {
    let newest = entries.iter().map(Entry::modified).max().unwrap_or_default();
    let env = context.env();
    let sessions = context.services.sessions.since(newest, env);
    for entry in entries {
        let found = citing::find(&sessions, &entry.path(), env.uid(), &());
        let found = found.map_or(FoundCall::None, |call| FoundCall::Call(Box::new(call)));
        if !context.send(StoresEvent::Cited(Box::new(entry), found)) {
            return;
        }
    }
}

/// Opens an entry and makes its preview, and reports it.
pub(crate) fn plan_beside(path: PathBuf, context: &JobContext) {
    let made = match (context.services.open)(&path, Hold::No) {
        Ok(target) => Glance::of(path, target.subject, target.source.view(), &|| context.is_wanted()),
        Err(_) => Some(Glance::awaited(path)),
    };
    if let Some(made) = made {
        context.send(StoresEvent::Glanced(Box::new(made)));
    }
}

/// Entries whose tools, commands and first lines are to be read.
#[derive(Debug, Clone)]
pub(crate) struct TextTask {
    pub(crate) entries: EntryTable,
    /// What has been read of them.
    pub(crate) texts: TextTable,
    /// The entries of the scan before and what was read of those, so that no file is read twice.
    pub(crate) before: Option<(EntryTable, TextTable)>,
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
        for (n, batch) in self.entries.batches().enumerate().filter(|(n, _)| self.texts.batch(*n).is_none()) {
            let mut texts = BatchText::default();
            for entry in batch {
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
        let Some((entries, texts)) = &self.before else { return HashMap::new() };
        let read = entries.batches().enumerate().filter_map(|(n, batch)| Some((batch, texts.batch(n)?)));
        read.flat_map(|(batch, texts)| {
            let known = batch.iter().take(texts.len()).enumerate();
            known.map(|(n, entry)| (entry.identity, texts.get(n)))
        })
        .collect()
    }
}

fn searched(peek: &Peek) -> String {
    format!("{} {} {}", peek.tool.as_deref().unwrap_or_default(), peek.command, peek.first_line)
}
