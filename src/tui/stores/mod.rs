//! The list of stored outputs: what has been found, what is shown of it, what is chosen or to be deleted.

pub mod actions;
pub mod details;
pub mod glance;
pub mod keeping;
pub mod scan;
pub mod sort;
pub(crate) mod view;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crossterm::event::KeyEvent;
use jiff::Timestamp;

use crate::store::{CleanPlan, Entry, GroupBy, Pending, RootReport, SortBy, Space, StoreSpec};
use crate::text::label::label;

use super::event::{Effect, Effects};
use details::Details;
use scan::{ScanEnd, Scanned};
use sort::{EntryTable, ListOptions, ListRow, SortedEntries, Task};

pub use actions::StoresScreen;

pub(crate) use actions::Next;

/// So many entries are put in order between two keys; more are by a worker.
const AT_ONCE: usize = 20_000;

/// Why entries are put in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// There are others.
    Arrived,
    /// Someone wants to see them otherwise: keys that then act on a row wait for it.
    Asked,
}

/// What cleaning would delete, and the entries as they were then.
#[derive(Debug)]
pub struct Cleaning {
    /// Indices are numbers in the entries.
    pub plan: CleanPlan,
    /// The entries that were looked at.
    pub entries: EntryTable,
}

/// The state of the list.
#[derive(Default)]
pub struct ListState {
    entries: EntryTable,
    arriving: EntryTable,
    look: u64,
    looked: bool,
    shown: SortedEntries,
    options: ListOptions,
    running: Option<(u64, Cause)>,
    tasks: u64,
    /// Entries that were put in order so far, each time counted.
    pub sorted: u64,
    /// Keys that wait until what was asked for is shown.
    pub(crate) held: Vec<KeyEvent>,
    /// What became of each store's roots.
    pub reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
    /// When the stores were looked at; nothing before the first look begins.
    pub now: Option<Timestamp>,
    /// The user who looks.
    pub user: Option<u32>,
    /// Room on the disk of overspill's own store.
    pub space: Option<Space>,
    kept: BTreeSet<String>,
    /// Place of the chosen row.
    pub chosen: usize,
    /// Place of the first row on the screen.
    pub top: usize,
    /// Whether a key has acted here: until then the first row is chosen, whichever it is.
    pub(crate) touched: bool,
    /// Whether other words are looked for than when the rows were chosen.
    refiltered: bool,
    /// Whether an output was opened from here, so that Esc comes back.
    pub opened: bool,
    /// What has been read of entries.
    pub details: Details,
    /// What is to be deleted on leaving.
    pub pending: Pending,
    marked: BTreeMap<PathBuf, Entry>,
}

impl ListState {
    /// A look is being taken: its number.
    pub fn start_look(&mut self) -> u64 {
        self.look += 1;
        self.arriving = EntryTable::default();
        if !self.looked {
            self.entries = EntryTable::default();
        }
        self.look
    }

    /// The first of the directories that could not be looked at, and how many more there are; empty if there is none.
    pub(crate) fn unlisted(&self) -> String {
        let roots = self.reports.iter().flat_map(|(_, roots)| roots);
        let mut unlisted = roots.flat_map(RootReport::unlisted);
        let Some((path, why)) = unlisted.next() else { return String::new() };
        let more = match unlisted.count() {
            0 => String::new(),
            more => format!(", and {more} more directories"),
        };
        label(format!("{}: cannot be read: {why}{more}", path.display()).as_bytes())
    }

    /// Whether the first look is still being taken.
    pub fn is_first_look(&self) -> bool {
        !self.looked && self.look > 0
    }

    /// Whether a look has been done.
    pub fn has_looked(&self) -> bool {
        self.looked
    }

    /// Takes in what was found; the same entry stays chosen. Until the first look is done, what has come
    /// is shown as it comes; later ones change the list only when they are done.
    pub fn scanned(&mut self, scanned: Scanned, effects: &mut Effects) {
        match scanned {
            Scanned::Begun { number, now, user } if number == self.look => {
                (self.now, self.user) = (Some(now), Some(user));
            }
            Scanned::Some(number, entries) if number == self.look => {
                let now = self.now.unwrap_or_default();
                if self.looked {
                    self.arriving.add(entries, now)
                } else {
                    self.entries.add(entries, now)
                }
                self.catch_up(effects)
            }
            Scanned::All(look) if look.number == self.look => {
                if self.looked {
                    self.entries = std::mem::take(&mut self.arriving);
                    self.remark();
                }
                let ScanEnd { reports, kept, space, .. } = *look;
                (self.reports, self.kept, self.space, self.looked) = (reports, kept, space, true);
                self.sort_again(Cause::Arrived, effects)
            }
            _ => {}
        }
    }

    /// What has come is shown once it is a good part of the whole, so that all of them together cost a few times
    /// what the whole costs.
    fn catch_up(&mut self, effects: &mut Effects) {
        let (all, shown) = (self.entries.len(), self.shown.entries.len());
        if self.running.is_none() && !self.looked && all > shown && all - shown >= shown / 4 {
            self.sort_again(Cause::Arrived, effects);
        }
    }

    /// Filters, sorts and groups anew, or has it done.
    fn sort_again(&mut self, cause: Cause, effects: &mut Effects) {
        self.tasks += 1;
        self.sorted += self.entries.len() as u64;
        let (entries, options) = (self.entries.clone(), self.options.clone());
        let task = Task { number: self.tasks, entries, options, now: self.now.unwrap_or_default() };
        if task.entries.len() <= AT_ONCE {
            self.running = None;
            SortedEntries::new(&task, || true).into_iter().for_each(|sorted| self.show(sorted));
            return;
        }
        let awaited = self.is_awaited() || cause == Cause::Asked;
        self.running = Some((task.number, if awaited { Cause::Asked } else { cause }));
        effects.push(Effect::Sort(Box::new(task)))
    }

    /// A worker has put entries in order; what is older than the newest task does not count.
    pub fn take_sorted(&mut self, sorted: SortedEntries, effects: &mut Effects) {
        if self.running.is_none_or(|(number, _)| number != sorted.number) {
            return;
        }
        self.running = None;
        self.show(sorted);
        self.catch_up(effects)
    }

    /// Whether someone waits for another order than the one that is shown.
    pub fn is_awaited(&self) -> bool {
        self.running.is_some_and(|(_, cause)| cause == Cause::Asked)
    }

    /// The same entry stays chosen, and where it was on the screen, unless that was at the top. If it has gone, the
    /// one in its place is; if it has not the words that are looked for, the first one that has.
    fn show(&mut self, sorted: SortedEntries) {
        let place = if self.touched { sorted.place_of(&self.shown, self.chosen) } else { Some(0) };
        let above = self.chosen.saturating_sub(self.top);
        self.shown = sorted;
        let instead = if std::mem::take(&mut self.refiltered) { 0 } else { self.chosen };
        self.chosen = place.unwrap_or(instead).min(self.shown.len().saturating_sub(1));
        if self.top > 0 {
            self.top = self.chosen.saturating_sub(above);
        }
    }

    /// The entry on which keys act.
    pub fn chosen(&self) -> Option<&Entry> {
        match self.shown.row(self.chosen)? {
            ListRow::Entry(entry) => Some(entry),
            ListRow::Group(..) => None,
        }
    }

    /// What is shown.
    pub fn shown(&self) -> &SortedEntries {
        &self.shown
    }

    /// All entries, shown or not.
    pub fn entries(&self) -> &EntryTable {
        &self.entries
    }

    /// The rows on a screen of `height` rows.
    pub fn on_screen(&self, height: usize) -> impl Iterator<Item = ListRow<'_>> {
        (self.top..self.top.saturating_add(height)).map_while(|place| self.shown.row(place))
    }

    /// The entries on a screen of `height` rows.
    pub fn entries_on_screen(&self, height: usize) -> impl Iterator<Item = &Entry> {
        self.on_screen(height).filter_map(|row| match row {
            ListRow::Entry(entry) => Some(entry),
            ListRow::Group(..) => None,
        })
    }

    /// The ids of overspill's own store that are kept for ever.
    pub fn kept(&self) -> &BTreeSet<String> {
        &self.kept
    }

    /// Whether an entry is kept for ever.
    pub fn is_kept(&self, entry: &Entry) -> bool {
        entry.is_own() && self.kept.contains(&*entry.id())
    }

    /// Whether an entry is marked.
    pub fn is_marked(&self, path: &Path) -> bool {
        self.marked.contains_key(path)
    }

    /// How many are marked.
    pub fn marked(&self) -> usize {
        self.marked.len()
    }

    /// By what it is sorted.
    pub fn sort(&self) -> SortBy {
        self.options.sort()
    }

    /// Whether it is sorted the other way round.
    pub fn is_reversed(&self) -> bool {
        self.options.reversed
    }

    /// The words that entries must have.
    pub fn filter_text(&self) -> &str {
        &self.options.filter.text
    }

    /// Shows only what has all these words, in any order.
    pub fn filter(&mut self, words: &str, effects: &mut Effects) {
        if self.options.filter.text == words {
            return;
        }
        self.options.filter.text = words.to_owned();
        self.refiltered = true;
        self.sort_again(Cause::Asked, effects)
    }

    pub(crate) fn sort_next(&mut self, effects: &mut Effects) {
        self.options.sort = (self.options.sort + 1) % SortBy::ALL.len();
        self.options.reversed = false;
        self.sort_again(Cause::Asked, effects)
    }

    pub(crate) fn reverse(&mut self, effects: &mut Effects) {
        self.options.reversed = !self.options.reversed;
        self.sort_again(Cause::Asked, effects)
    }

    pub(crate) fn group_next(&mut self, effects: &mut Effects) {
        self.options.group = match self.options.group {
            None => Some(GroupBy::Store),
            Some(GroupBy::Store | GroupBy::Agent) => Some(GroupBy::Session),
            Some(GroupBy::Session) => Some(GroupBy::Day),
            Some(GroupBy::Day) => None,
        };
        self.sort_again(Cause::Asked, effects)
    }

    pub(crate) fn go(&mut self, to: usize, height: usize) {
        self.chosen = to.min(self.shown.len().saturating_sub(1));
        self.settle(height);
    }

    /// The chosen row stays on a screen of `height` rows.
    pub(crate) fn settle(&mut self, height: usize) {
        let height = height.max(1);
        self.top = self.top.clamp((self.chosen + 1).saturating_sub(height), self.chosen);
    }

    /// Entries on a screen of `height` rows that have not been read; they are taken to be asked for now.
    pub(crate) fn unread(&mut self, height: usize) -> Vec<Entry> {
        let entries: Vec<Entry> = self.entries_on_screen(height).cloned().collect();
        self.details.unread(entries.iter())
    }

    pub(crate) fn toggle_mark(&mut self) {
        let Some(entry) = self.chosen().cloned() else { return };
        let path = entry.path();
        if self.marked.remove(&path).is_none() {
            self.marked.insert(path, entry);
        }
    }

    /// The marked entries, or else the chosen one.
    pub fn marked_or_chosen(&self) -> Vec<&Entry> {
        if self.marked.is_empty() {
            self.chosen().into_iter().collect()
        } else {
            self.marked.values().collect()
        }
    }

    /// The same; none is marked any more.
    pub(crate) fn take_marked(&mut self) -> Vec<Entry> {
        let entries = self.marked_or_chosen().into_iter().cloned().collect();
        self.marked.clear();
        entries
    }

    /// Marked entries as they are now; those that have gone are no longer marked.
    fn remark(&mut self) {
        let old = std::mem::take(&mut self.marked);
        if old.is_empty() {
            return;
        }
        let names: HashSet<_> = old.values().map(Entry::name).collect();
        let same_name = self.entries.iter().filter(|entry| names.contains(entry.name()));
        let with_path = same_name.map(|entry| (entry.path(), entry.clone()));
        self.marked = with_path.filter(|(path, _)| old.contains_key(path)).collect();
    }

    /// Forgets the marks; whether there were any.
    pub(crate) fn unmark(&mut self) -> bool {
        !std::mem::take(&mut self.marked).is_empty()
    }

    pub(crate) fn set_kept(&mut self, id: String, kept: bool) {
        if kept {
            self.kept.insert(id);
        } else {
            self.kept.remove(&id);
        }
    }
}
