//! Scans of the stores: the worker that lists their outputs and watches for changes, what the list takes in of that, and
//! which directories were searched in vain.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::fs::stat::timestamp;
use crate::source::Identity;
use crate::store::{self, DirWatch, Entry, Env, Kept, Left, RootReport, RootState, StoreSpec};
use crate::text::label::{SafeText, label};
use crate::tui::event::Message;
use crate::tui::job::{JobContext, Slot};
use crate::tui::list::rows::{BATCH, RowTable};
use crate::tui::screen::Effects;

use super::rows::OutputRow;
use super::{Context, Outputs, OutputsEvent};

/// What a scan of the stores reports.
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

/// What outputs add up to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OutputSums {
    pub outputs: u64,
    pub bytes: u64,
    /// How many of them others can read.
    pub exposed: u64,
    pub overdue: u64,
    pub overdue_bytes: u64,
}

impl OutputSums {
    fn add(&mut self, entry: &Entry, now: jiff::Timestamp) {
        self.outputs += 1;
        self.bytes = self.bytes.saturating_add(entry.size());
        self.exposed += u64::from(entry.exposed());
        if matches!(entry.left(now), Left::Overdue(_)) {
            self.overdue += 1;
            self.overdue_bytes = self.overdue_bytes.saturating_add(entry.size());
        }
    }
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
                (self.user, self.kept, self.arriving_sums) = (Some(user), kept, OutputSums::default());
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
        let is_kept = entry.is_kept() || self.kept.has_copy_of(&entry);
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
        let Some((path, why)) = unlisted.next() else { return String::new() };
        let more = match unlisted.count() {
            0 => String::new(),
            more => format!(", and {more} more directories"),
        };
        label(format!("{}: cannot be read: {why}{more}", path.display()).as_bytes())
    }
}

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
fn scan(context: &JobContext) {
    let began = Instant::now();
    let env = context.env();
    let now = crate::env::now();
    let own = store::OwnStore::open(env).ok().flatten();
    let kept = own.and_then(|own| own.kept(env).ok()).unwrap_or_default();
    context.send(OutputsEvent::Scanned(Scanned::Begun { now, user: env.uid(), kept }));
    let some = Vec::with_capacity(FIRST);
    let mut sender = EntrySender { some, most: FIRST, now, growing: Vec::new(), context };
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
        if watch.check_once() || have_grown(&mut growing, crate::env::now()) {
            context.send(OutputsEvent::Changed);
            return;
        }
    }
}

/// An entry that may be growing, as it was listed and at the last look.
struct Growing {
    path: PathBuf,
    listed: Identity,
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
struct EntrySender<'a> {
    some: Vec<Entry>,
    most: usize,
    now: Timestamp,
    growing: Vec<Growing>,
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
        self.context.send(OutputsEvent::Scanned(Scanned::Some(some)));
    }
}

/// The heading where no outputs are listed.
pub(crate) const NONE_YET: &str = "No stored outputs yet. These directories were searched:";

/// Returns a heading, then at most `room` directories (at least one), those that exist first.
pub(crate) fn searched(
    heading: &str,
    reports: &[(Arc<StoreSpec>, Vec<RootReport>)],
    room: usize,
) -> Vec<SafeText> {
    let mut looked: Vec<(bool, String)> = reports
        .iter()
        .flat_map(|(store, roots)| {
            roots.iter().map(|report| {
                let root = SafeText::from_bytes(report.root.as_os_str().as_encoded_bytes());
                (
                    report.state == RootState::Absent,
                    format!("{:<12} {root} ({})", store.agent, state_in_words(&report.state)),
                )
            })
        })
        .collect();
    looked.sort();
    looked.dedup();
    let more = looked.len().saturating_sub(room.max(1));
    looked.truncate(room.max(1));
    let mut words = vec![heading.to_owned(), String::new()];
    words.extend(looked.into_iter().map(|(_, words)| words));
    if more > 0 {
        words.push(format!("and {more} more: `overspill stores` lists all"));
    }
    words.into_iter().map(SafeText::from).collect()
}

fn state_in_words(state: &RootState) -> &str {
    match state {
        RootState::Absent => "not there",
        RootState::Listed | RootState::Stopped => "empty",
        RootState::Unset(_) => "its variable is not set",
        RootState::Unreadable(reason) => reason,
    }
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
