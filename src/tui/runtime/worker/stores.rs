//! The workers of the list of stored outputs: one scans all stores, sends entries as they are found, and then watches
//! the directories; another finds out how much of each entry the model got.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::session::reader::SessionFile;
use crate::session::{citing, list};
use crate::source::Hold;
use crate::store::{self, DirWatch, Entry, Env, RootReport, RunNote, Space, StoreSpec, Stores};
use crate::tui::event::{Event, StoresEvent};
use crate::tui::runtime::Opener;
use crate::tui::stores::details::FoundCall;
use crate::tui::stores::got::ModelGot;
use crate::tui::stores::scan::{ScanEnd, Scanned};
use crate::tui::stores::sort::BATCH;

use super::ticket::{Reporter, Ticket};

/// The first entries are sent after this many, because the screen is waiting.
const FIRST: usize = 128;

/// The shortest time between two checks of the stores' directories.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Checks are rarer after a slow scan: they are at least this many times its duration apart.
const REST: u32 = 4;

/// Scans all stores, then watches their directories until another scan is wanted or something has changed.
pub(crate) fn look(number: u64, places: &(Stores, Env), ticket: &Ticket, events: &Reporter) {
    let began = Instant::now();
    let (stores, env) = places;
    let now = crate::env::now();
    events.send(StoresEvent::Scanned(Scanned::Begun { number, now, user: env.uid() }));
    let mut finds = Finds { number, some: Vec::with_capacity(FIRST), most: FIRST, ticket, events };
    let mut reports = Vec::new();
    for store in &stores.specs {
        reports.push((Arc::clone(store), finds.of(store, env, now)));
    }
    finds.send();
    let mut watch = DirWatch::new(reports.iter().flat_map(|(_, roots)| roots));
    let own = store::OwnStore::open(env).ok().flatten();
    let kept = own.and_then(|own| own.kept().ok()).unwrap_or_default();
    let space = store::own_home(env).ok().and_then(|home| nearest_space(&home));
    let look = ScanEnd { number, reports, kept, space };
    if !ticket.is_wanted() || !events.send(StoresEvent::Scanned(Scanned::All(Box::new(look)))) {
        return;
    }
    let rest = LOOK_EVERY.max(began.elapsed() * REST);
    loop {
        std::thread::sleep(rest);
        if !ticket.is_wanted() {
            return;
        }
        if watch.check_once() {
            events.send(Event::StoresChanged);
            return;
        }
    }
}

/// Collects entries on their way to the screen.
struct Finds<'a> {
    number: u64,
    some: Vec<Entry>,
    most: usize,
    ticket: &'a Ticket,
    events: &'a Reporter,
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
        if self.ticket.is_wanted() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn send(&mut self) {
        let some = std::mem::replace(&mut self.some, Vec::with_capacity(self.most));
        self.events.send(StoresEvent::Scanned(Scanned::Some(self.number, some)));
    }
}

/// The longest that one entry may take until it is left unknown how much of it the model got.
const LONGEST: Duration = Duration::from_secs(1);

/// Finds out how much of each entry the model got, one after the other, and reports each.
pub(crate) fn weigh(entries: Vec<Entry>, (env, opener): (&Env, &Opener), ticket: &Ticket, events: &Reporter) {
    for entry in entries {
        let began = Instant::now();
        let goes_on = || ticket.is_wanted() && began.elapsed() < LONGEST;
        let weigh = || {
            if entry.is_own() && RunNote::of(env, &entry.path()).is_some_and(|run| !run.is_whole()) {
                return Some(ModelGot::Unsaved);
            }
            let target = opener(&entry.path(), Hold::No).ok()?;
            ModelGot::of(target.subject, target.source.view(), &goes_on)
        };
        let got = match catch_unwind(AssertUnwindSafe(weigh)) {
            Ok(got) => got,
            // A plan that was told to stop may panic over figures that it was no longer given; ignore that.
            Err(_) if !goes_on() => None,
            Err(fault) => resume_unwind(fault),
        };
        let event = StoresEvent::Weighed(Box::new(entry), got.unwrap_or(ModelGot::Unknown));
        if !ticket.is_wanted() || !events.send(event) {
            return;
        }
    }
}

/// Sessions, and when they were listed.
#[derive(Debug)]
struct DatedSessions {
    at: Timestamp,
    sessions: Arc<Vec<SessionFile>>,
}

/// The sessions as they were listed last, shared by all searches for calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct SessionsListed(Arc<Mutex<Option<DatedSessions>>>);

impl SessionsListed {
    /// Returns the sessions as they were at a time or later. A session begins before its outputs are written, so a list
    /// that is younger than an output has its session.
    fn since(&self, time: Timestamp, env: &Env) -> Arc<Vec<SessionFile>> {
        let mut listed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = listed.as_ref().filter(|known| known.at > time) {
            return known.sessions.clone();
        }
        let at = crate::env::now();
        let sessions = Arc::new(list::list(env, None, &()).sessions);
        *listed = Some(DatedSessions { at, sessions: sessions.clone() });
        sessions
    }
}

/// Looks for the call that each entry is of, and reports each.
pub(crate) fn find_calls(entries: Vec<Entry>, env: &Env, listed: &SessionsListed, events: &Reporter) {
    let newest = entries.iter().map(Entry::modified).max().unwrap_or_default();
    let sessions = listed.since(newest, env);
    for entry in entries {
        let found = citing::find(&sessions, &entry.path(), env.uid(), &());
        let found = found.map_or(FoundCall::None, |call| FoundCall::Call(Box::new(call)));
        if !events.send(StoresEvent::Cited(Box::new(entry), found)) {
            return;
        }
    }
}

/// Returns the space on the disk of the nearest existing directory.
fn nearest_space(path: &Path) -> Option<Space> {
    path.ancestors().find_map(|path| store::space(path).ok())
}
