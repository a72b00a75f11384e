//! The list of stored outputs: the entries found, which of them are shown, and which are selected or marked for
//! deletion.

pub mod actions;
pub mod deletion;
pub mod details;
pub mod event;
mod filtering;
pub mod got;
pub(crate) mod jobs;
pub mod keeping;
mod screen;
pub mod sort;
pub mod sort_columns;
pub mod texts;
pub mod tuning;
pub(crate) mod view;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crossterm::event::KeyEvent;
use jiff::Timestamp;

use crate::store::{CleanPlan, Entry, GroupBy, Pending, RootReport, SortBy, Space, StoreSpec};
use crate::text::label::label;

use super::job::Slot;
use super::screen::Effects;
use details::Details;
use event::{ScanEnd, Scanned, StoresEvent};
use filtering::Filtering;
use sort::{EntryTable, ListOptions, ListRow, SortedEntries, Task};

pub use actions::StoresScreen;

/// Up to this many entries are sorted at once, between two keys; a worker sorts more.
const AT_ONCE: usize = 20_000;

/// Why entries are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// New entries arrived.
    Arrived,
    /// The user asked for another order or filter. Keys that act on a row wait for the result.
    Asked,
}

/// What cleaning would delete, with a snapshot of the entries.
#[derive(Debug)]
pub struct Cleaning {
    /// The plan. Its indices are entry numbers in `entries`.
    pub plan: CleanPlan,
    /// The entries that the plan was made from.
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
    /// The total number of entries sorted so far; each sort adds the number of all entries.
    pub sorted: u64,
    /// Keys that wait until the requested rows are shown.
    pub(crate) held: Vec<KeyEvent>,
    /// The result of the scan for each root of each store.
    pub reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
    /// When the last scan began; `None` before the first.
    pub now: Option<Timestamp>,
    /// The id of the user running overspill.
    pub user: Option<u32>,
    /// The space on the disk of overspill's own store.
    pub space: Option<Space>,
    kept: BTreeSet<String>,
    /// The index of the selected row.
    pub chosen: usize,
    /// The index of the first row on the screen.
    pub top: usize,
    /// Whether any key has been pressed in the list. Until then the first row stays selected, whichever it is.
    pub(crate) touched: bool,
    filtering: Filtering,
    /// The entry to select once it is shown.
    sought: Option<PathBuf>,
    /// Details read from the entries.
    pub details: Details,
    /// The entries marked for deletion: leaving asks whether to delete them.
    pub pending: Pending,
    marked: BTreeMap<PathBuf, Entry>,
}

impl ListState {
    /// Starts a new scan and returns its number.
    pub fn start_look(&mut self) -> u64 {
        self.look += 1;
        self.arriving = EntryTable::default();
        if !self.looked {
            self.entries = EntryTable::default();
        }
        self.look
    }

    /// Returns the number of the scan that was started last.
    pub fn look(&self) -> u64 {
        self.look
    }

    /// Returns an error message with the first unreadable directory and the number of others; empty if there is none.
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

    /// Whether the first scan is still running.
    pub fn is_first_look(&self) -> bool {
        !self.looked && self.look > 0
    }

    /// Whether a scan has finished.
    pub fn has_looked(&self) -> bool {
        self.looked
    }

    /// Handles results of a scan; the same entry stays selected. During the first scan entries are shown as they
    /// arrive; later scans change the list only when they finish.
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
                    let old = std::mem::replace(&mut self.entries, std::mem::take(&mut self.arriving));
                    self.forget_texts(old);
                    self.remark();
                }
                let ScanEnd { reports, kept, space, .. } = *look;
                (self.reports, self.kept, self.space, self.looked) = (reports, kept, space, true);
                self.sort_again(Cause::Arrived, effects);
                self.read_texts(effects)
            }
            _ => {}
        }
    }

    /// Sorts newly arrived entries once they are a good part of the whole, so that all these sorts together cost only a
    /// few times as much as sorting the whole once.
    fn catch_up(&mut self, effects: &mut Effects) {
        let (all, shown) = (self.entries.len(), self.shown.entries.len());
        if self.running.is_none() && !self.looked && all > shown && all - shown >= shown / 4 {
            self.sort_again(Cause::Arrived, effects);
        }
    }

    /// Filters, sorts and groups again, at once or through a worker.
    fn sort_again(&mut self, cause: Cause, effects: &mut Effects) {
        self.tasks += 1;
        self.sorted += self.entries.len() as u64;
        self.filtering.searched = self.filtering.texts.read();
        let task = Task {
            number: self.tasks,
            entries: self.entries.clone(),
            options: self.options.clone(),
            now: self.now.unwrap_or_default(),
            texts: self.filtering.texts.clone(),
            kept: self.kept.clone(),
        };
        if task.entries.len() <= AT_ONCE {
            self.running = None;
            SortedEntries::new(&task, || true).into_iter().for_each(|sorted| self.show(sorted));
            return;
        }
        let awaited = self.is_awaited() || cause == Cause::Asked;
        self.running = Some((task.number, if awaited { Cause::Asked } else { cause }));
        effects.run(Slot::Sort, move |context| {
            if let Some(sorted) = SortedEntries::new(&task, || context.is_wanted()) {
                context.send(StoresEvent::Sorted(Box::new(sorted)));
            }
        });
    }

    /// Handles the result of a worker; results of tasks other than the newest are dropped.
    pub fn take_sorted(&mut self, sorted: SortedEntries, effects: &mut Effects) {
        if self.running.is_none_or(|(number, _)| number != sorted.number) {
            return;
        }
        self.running = None;
        self.show(sorted);
        self.catch_up(effects);
        self.search_read(effects)
    }

    /// Whether the user waits for an order or filter that is not shown yet.
    pub fn is_awaited(&self) -> bool {
        self.running.is_some_and(|(_, cause)| cause == Cause::Asked)
    }

    /// Shows sorted entries. The same entry stays selected and keeps its place on the screen, unless the list was
    /// scrolled to the top. If the entry is gone, the row at its index is selected; if the filter removed it, the first
    /// row.
    fn show(&mut self, sorted: SortedEntries) {
        let refiltered = std::mem::take(&mut self.filtering.changed);
        let (standing, is_back) = match self.filtering.back_to.take() {
            Some(standing) => (standing, true),
            None => (self.list_place(), false),
        };
        let place = standing.row.filter(|_| self.touched).and_then(|row| sorted.place_of(&row));
        let instead = if !self.touched || refiltered && !is_back { 0 } else { standing.chosen };
        self.shown = sorted;
        let sought = self.sought.as_ref().and_then(|path| self.shown.place_of_path(path));
        if let Some(found) = sought {
            (self.chosen, self.sought, self.touched) = (found, None, true);
            return;
        }
        self.chosen = place.unwrap_or(instead).min(self.shown.len().saturating_sub(1));
        if self.top > 0 || is_back {
            self.top = self.chosen.saturating_sub(standing.above);
        }
    }

    /// Selects the entry at `path`, now or once it is found.
    pub(crate) fn seek(&mut self, path: PathBuf) {
        match self.shown.place_of_path(&path) {
            Some(found) => (self.chosen, self.touched) = (found, true),
            None => self.sought = Some(path),
        }
    }

    /// Returns the selected entry, on which keys act; `None` on a heading.
    pub fn chosen(&self) -> Option<&Entry> {
        match self.shown.row(self.chosen)? {
            ListRow::Entry(entry) => Some(entry),
            ListRow::Group(..) => None,
        }
    }

    /// Returns the rows shown.
    pub fn shown(&self) -> &SortedEntries {
        &self.shown
    }

    /// Returns all entries, shown or not.
    pub fn entries(&self) -> &EntryTable {
        &self.entries
    }

    /// Iterates over the rows visible on a screen of `height` rows.
    pub fn on_screen(&self, height: usize) -> impl Iterator<Item = ListRow<'_>> {
        (self.top..self.top.saturating_add(height)).map_while(|place| self.shown.row(place))
    }

    /// Iterates over the entries visible on a screen of `height` rows.
    pub fn entries_on_screen(&self, height: usize) -> impl Iterator<Item = &Entry> {
        self.on_screen(height).filter_map(|row| match row {
            ListRow::Entry(entry) => Some(entry),
            ListRow::Group(..) => None,
        })
    }

    /// Returns the ids of the entries in overspill's own store that are kept forever.
    pub fn kept(&self) -> &BTreeSet<String> {
        &self.kept
    }

    /// Whether an entry is kept forever.
    pub fn is_kept(&self, entry: &Entry) -> bool {
        entry.is_own() && self.kept.contains(&*entry.id())
    }

    /// Whether an entry is marked.
    pub fn is_marked(&self, path: &Path) -> bool {
        self.marked.contains_key(path)
    }

    /// Returns the number of marked entries.
    pub fn marked(&self) -> usize {
        self.marked.len()
    }

    /// Returns the sort key.
    pub fn sort(&self) -> SortBy {
        self.options.sort()
    }

    /// Returns the index of the sort key in [`SortBy::ALL`].
    pub(crate) fn sort_column(&self) -> usize {
        self.options.sort
    }

    /// Whether the order is reversed.
    pub fn is_reversed(&self) -> bool {
        self.options.reversed
    }

    /// Sorts by a column, an index into [`SortBy::ALL`]; if it is the one in use, in the other direction.
    pub(crate) fn sort_by(&mut self, column: usize, effects: &mut Effects) {
        self.options.reversed = self.options.sort == column && !self.options.reversed;
        self.options.sort = column;
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
        let to = to.min(self.shown.len().saturating_sub(1));
        if to != self.chosen {
            self.filtering.unfiltered = None;
        }
        self.chosen = to;
        self.settle(height);
    }

    /// Scrolls so that the selected row is visible on a screen of `height` rows.
    pub(crate) fn settle(&mut self, height: usize) {
        let height = height.max(1);
        self.top = self.top.clamp((self.chosen + 1).saturating_sub(height), self.chosen);
    }

    /// Returns the entries visible on a screen of `height` rows that have not been read, and marks them as requested.
    pub(crate) fn unread(&mut self, height: usize) -> Vec<Entry> {
        let entries: Vec<Entry> = self.entries_on_screen(height).cloned().collect();
        self.details.peeks.ask(entries.iter())
    }

    /// Returns the entries visible on a screen of `height` rows whose calls have not been looked for, and marks them as
    /// requested.
    pub(crate) fn uncited(&mut self, height: usize) -> Vec<Entry> {
        let entries: Vec<Entry> =
            self.entries_on_screen(height).filter(|entry| !entry.is_own()).cloned().collect();
        self.details.calls.ask(entries.iter())
    }

    /// Returns the entries visible on a screen of `height` rows of which it is not known what the model got, as far as
    /// they can be opened.
    pub(crate) fn unweighed(&mut self, height: usize) -> Vec<Entry> {
        let entries: Vec<Entry> =
            self.entries_on_screen(height).filter(|entry| got::can_weigh(entry)).cloned().collect();
        self.details.unweighed(entries.iter())
    }

    pub(crate) fn toggle_mark(&mut self) {
        let Some(entry) = self.chosen().cloned() else { return };
        let path = entry.path();
        if self.marked.remove(&path).is_none() {
            self.marked.insert(path, entry);
        }
    }

    /// Returns the marked entries, or the selected one if none is marked.
    pub fn marked_or_chosen(&self) -> Vec<&Entry> {
        if self.marked.is_empty() {
            self.chosen().into_iter().collect()
        } else {
            self.marked.values().collect()
        }
    }

    /// Same as [`Self::marked_or_chosen`], but also removes all marks.
    pub(crate) fn take_marked(&mut self) -> Vec<Entry> {
        let entries = self.marked_or_chosen().into_iter().cloned().collect();
        self.marked.clear();
        entries
    }

    /// Replaces marked entries with their current state, and drops the marks of those that are gone.
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

    /// Removes all marks. Returns whether there were any.
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
