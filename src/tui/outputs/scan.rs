//! Scans of the stores: the worker that lists their outputs and watches for changes, and what the list takes in of that.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::rows::batch::{BATCH, RowTable};
use crate::rows::outputs::OutputRow;
use crate::store::{self, DirWatch, Entry, EntrySums, Env, GrowingEntries, Kept, RootReport, StoreSpec};
use crate::text::label::label;
use crate::tui::event::Message;
use crate::tui::job::{JobContext, Slot};
use crate::tui::screen::Effects;

use super::{Context, Outputs, OutputsEvent};

pub enum Scanned {
    Begun {
        now: Timestamp,
        user: u32,
        kept: Kept,
    },
    Some(Vec<Entry>),
    /// The end, with the result for each root of each store.
    All(Vec<(Arc<StoreSpec>, Vec<RootReport>)>),
}

impl Outputs {
    pub(super) fn scan(&mut self, effects: &mut Effects) {
        self.arriving = RowTable::default();
        effects.run(Slot::Scan, scan);
    }

    /// Takes in what a scan reports. The rows of the first are shown as they arrive; later ones change the list only
    /// when they have finished.
    pub(super) fn scanned(&mut self, scanned: Scanned, on: Context) {
        match scanned {
            Scanned::Begun { now, user, kept } => {
                on.list.look.now = now;
                (self.user, self.kept, self.arriving_sums) = (Some(user), kept, EntrySums::default());
                if !self.has_looked && !on.list.rows().is_empty() {
                    on.list.set_rows(Vec::new());
                }
            }
            Scanned::Some(entries) => {
                let now = on.list.look.now;
                entries.iter().for_each(|entry| self.arriving_sums.add(entry, now));
                let rows: Vec<OutputRow> = entries.into_iter().map(|entry| self.row(entry)).collect();
                if self.has_looked {
                    self.arriving.add(rows);
                } else {
                    on.list.add(rows);
                    self.sums = self.arriving_sums;
                }
            }
            Scanned::All(reports) => self.finish(reports, on),
        }
    }

    fn row(&self, entry: Entry) -> OutputRow {
        let is_kept = self.kept.has(&entry);
        let facts = self.facts.get(&entry.identity).cloned();
        OutputRow { entry, is_kept, facts }
    }

    fn finish(&mut self, reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>, on: Context) {
        if self.has_looked {
            let texts = on.list.texts().clone();
            let had = self.texts_before.as_ref().map_or(0, |(_, texts)| texts.read);
            if texts.read > 0 && texts.read >= had {
                self.texts_before = Some((on.list.rows().clone(), texts));
            }
            self.is_reading = false;
            on.effects.stop([Slot::ReadTexts]);
            self.asked = Default::default();
            on.list.set_rows(std::mem::take(&mut self.arriving));
        } else {
            on.list.finish_adding();
        }
        (self.reports, self.sums, self.has_looked) = (reports, self.arriving_sums, true);
        let words = self.unlisted();
        if words != self.last_warning {
            *on.message = (!words.is_empty()).then(|| Message::error(words.clone()));
            self.last_warning = words;
        }
    }

    /// Returns an error message with the first unreadable directory and the number of others; empty if there is none.
    fn unlisted(&self) -> String {
        let roots = self.reports.iter().flat_map(|(_, roots)| roots);
        let mut unlisted = roots.flat_map(RootReport::unlisted);
        let Some(first) = unlisted.next() else { return String::new() };
        let more = match unlisted.count() {
            0 => String::new(),
            more => format!(", and {more} more directories"),
        };
        label(format!("{first}{more}").as_bytes())
    }
}

/// The first entries are sent after this many, because the screen is waiting.
const FIRST: usize = 128;

/// The shortest time between two checks of the stores' directories.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Checks are rarer after a slow scan: they are at least this many times its duration apart.
const REST: u32 = 4;

/// Scans all stores, then watches their directories, and the entries that may be growing, until another scan is wanted or
/// something has changed.
fn scan(context: &JobContext) {
    let began = Instant::now();
    let env = context.env();
    let now = crate::env::now();
    let own = store::OwnStore::open(env).ok().flatten();
    let kept = own.and_then(|own| own.kept(env).ok()).unwrap_or_default();
    context.send(OutputsEvent::Scanned(Scanned::Begun { now, user: env.uid(), kept }));
    let some = Vec::with_capacity(FIRST);
    let mut sender = EntrySender { some, most: FIRST, now, growing: GrowingEntries::default(), context };
    let mut reports = Vec::new();
    for store in &context.services.stores.specs {
        reports.push((Arc::clone(store), sender.scan(store, env, now)));
    }
    sender.send();
    let mut growing = sender.growing;
    let mut watch = DirWatch::new(reports.iter().flat_map(|(_, roots)| roots));
    if !context.send(OutputsEvent::Scanned(Scanned::All(reports))) {
        return;
    }
    let rest = LOOK_EVERY.max(began.elapsed() * REST);
    loop {
        std::thread::sleep(rest);
        if !context.is_wanted() {
            return;
        }
        if watch.check_once() || growing.check_once(crate::env::now()) {
            context.send(OutputsEvent::Changed);
            return;
        }
    }
}

struct EntrySender<'a> {
    some: Vec<Entry>,
    most: usize,
    now: Timestamp,
    growing: GrowingEntries,
    context: &'a JobContext,
}

impl EntrySender<'_> {
    /// Sends the entries of one store. Retention limits by count and size need all entries of the store first.
    fn scan(&mut self, store: &Arc<StoreSpec>, env: &Env, now: Timestamp) -> Vec<RootReport> {
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
        self.growing.note(&entry, self.now);
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
        self.context.send(OutputsEvent::Scanned(Scanned::Some(some)));
    }
}
