//! Selects, sorts and groups the entries to show. Works on a snapshot, so that a worker can do it too.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::store::{Entry, Filter, GroupBy, SortBy, Sums, group_of};
use crate::text::label::SafeText;

use super::texts::TextTable;

/// The number of entries that are stored, and sent, together.
pub const BATCH: usize = 4096;

/// What the list says of an entry that is kept forever.
const KEPT: &[u8] = b"kept forever";

/// The bit that marks a row as the heading of a group; the other bits are the group's index.
const HEADING: u32 = 1 << 31;

/// All entries, numbered from 0. Cheap to share with a worker.
#[derive(Debug, Clone, Default)]
pub struct EntryTable {
    batches: Vec<Arc<Vec<Entry>>>,
    /// The totals of all entries.
    pub sums: Sums,
}

impl EntryTable {
    /// Adds entries. A full batch that starts on a batch boundary is stored without copying. Clones of the table that
    /// share batches with it do not change.
    pub fn add(&mut self, entries: Vec<Entry>, now: Timestamp) {
        entries.iter().for_each(|entry| self.sums.add(entry, now));
        if entries.len() == BATCH && self.len().is_multiple_of(BATCH) {
            return self.batches.push(Arc::new(entries));
        }
        for entry in entries {
            match self.batches.last_mut() {
                Some(batch) if batch.len() < BATCH => Arc::make_mut(batch).push(entry),
                _ => {
                    let mut batch = Vec::with_capacity(BATCH);
                    batch.push(entry);
                    self.batches.push(Arc::new(batch));
                }
            }
        }
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.batches.last().map_or(0, |last| (self.batches.len() - 1) * BATCH + last.len())
    }

    /// Whether the table has no entries.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    pub fn entry(&self, number: u32) -> &Entry {
        &self.batches[number as usize / BATCH][number as usize % BATCH]
    }

    /// Iterates over the batches, in the order of their numbers.
    pub fn batches(&self) -> impl ExactSizeIterator<Item = &[Entry]> {
        self.batches.iter().map(|batch| &batch[..])
    }

    /// Iterates over all entries, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.batches.iter().flat_map(|batch| batch.iter())
    }

    /// Whether both tables share the batch of this number, so that it stands for the same entry in both. That holds if
    /// one table has grown out of the other.
    fn shares(&self, other: &EntryTable, number: u32) -> bool {
        let batch = |entries: &EntryTable| entries.batches.get(number as usize / BATCH).map(Arc::as_ptr);
        batch(self).is_some() && batch(self) == batch(other)
    }
}

/// How entries are to be shown.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// Which entries are shown.
    pub filter: Filter,
    /// The order: an index into [`SortBy::ALL`].
    pub sort: usize,
    /// Whether the order is reversed.
    pub reversed: bool,
    /// The grouping, if there is one.
    pub group: Option<GroupBy>,
}

impl ListOptions {
    /// Returns the sort key.
    pub fn sort(&self) -> SortBy {
        SortBy::ALL[self.sort % SortBy::ALL.len()]
    }
}

/// A task for a worker: entries to select, sort and group.
#[derive(Debug, Clone)]
pub struct Task {
    /// The number of the task, repeated in the answer.
    pub number: u64,
    /// All entries.
    pub entries: EntryTable,
    /// How they are to be shown.
    pub options: ListOptions,
    /// The time at which ages and remaining times are computed.
    pub now: Timestamp,
    /// What the filter searches of the entries besides, as far as it has been read.
    pub texts: TextTable,
    /// Ids of the entries in overspill's own store that are kept forever.
    pub kept: BTreeSet<String>,
}

/// A row of the list.
#[derive(Debug, Clone, Copy)]
pub enum ListRow<'a> {
    /// The heading of a group, with the group's totals.
    Group(&'a str, &'a Sums),
    Entry(&'a Entry),
}

/// The widest texts of the entries shown, in columns; 0 for one that none has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Widest {
    pub agent: usize,
    /// The tool, as far as path or store tells it.
    pub tool: usize,
    /// The session, or else the project.
    pub session: usize,
}

impl Widest {
    /// Measures the entries. Those in the same place share an origin, so only changes of origin are looked at.
    fn of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Self {
        let columns = |text: Option<&str>| text.map_or(0, |text| SafeText::from(text).columns());
        let (mut widest, mut last) = (Self::default(), None);
        for entry in entries {
            if last.replace(Arc::as_ptr(entry.origin())) != Some(Arc::as_ptr(entry.origin())) {
                widest = Self {
                    agent: widest.agent.max(columns(Some(entry.agent()))),
                    tool: widest.tool.max(columns(entry.tool())),
                    session: widest.session.max(columns(entry.whose())),
                };
            }
        }
        widest
    }
}

/// A row to be found again in another order of the list.
#[derive(Debug, Clone)]
pub enum RowMark {
    /// The heading of this group.
    Group(String),
    /// The entry with this number in this table.
    Entry(EntryTable, u32),
}

/// The entries in the order in which they are shown.
#[derive(Debug, Default)]
pub struct SortedEntries {
    /// The number of the task that made this.
    pub number: u64,
    /// All entries, shown or not.
    pub entries: EntryTable,
    rows: Arc<Vec<u32>>,
    groups: Vec<(String, Sums)>,
    /// The totals of the shown entries by agent, in alphabetical order of agents.
    pub by_agent: BTreeMap<Arc<str>, Sums>,
    /// The widest texts of the shown entries.
    pub widest: Widest,
}

impl SortedEntries {
    /// Selects, sorts and groups. Returns `None` as soon as `go_on`, which is called from time to time, returns false.
    pub fn new(task: &Task, go_on: impl Fn() -> bool) -> Option<Self> {
        let Task { number, entries, options, now, texts, kept } = task;
        let mut admits = options.filter.admitting(*now);
        let mut shown = Vec::with_capacity(if options.filter.text.is_empty() { entries.len() } else { 0 });
        for (n, (batch, first)) in entries.batches.iter().zip((0..).step_by(BATCH)).enumerate() {
            if !go_on() {
                return None;
            }
            let texts = texts.batch(n);
            let is_shown = |(n, entry): &(usize, &Entry)| {
                let text = texts.map_or(&[][..], |texts| texts.get(*n));
                let is_kept = !kept.is_empty() && entry.is_own() && kept.contains(&*entry.id());
                admits(entry, &[text, if is_kept { KEPT } else { &[] }])
            };
            shown.extend(batch.iter().enumerate().filter(is_shown).map(|(n, _)| first + n as u32));
        }
        let by_agent = by_agent(entries, &shown, *now);
        let widest = Widest::of(shown.iter().map(|n| entries.entry(*n)));
        let mut rows = options.sort().order(&shown, |n| entries.entry(n));
        drop(shown);
        if options.reversed {
            rows.reverse();
        }
        let mut sorted = Self {
            number: *number,
            entries: entries.clone(),
            rows: Arc::new(rows),
            groups: Vec::new(),
            by_agent,
            widest,
        };
        match options.group {
            Some(by) if go_on() => sorted.group(by, *now),
            _ => {}
        }
        go_on().then_some(sorted)
    }

    /// Groups the entries under headings: the largest group first, or the most recent day.
    fn group(&mut self, by: GroupBy, now: Timestamp) {
        let zone = TimeZone::system();
        let mut groups: BTreeMap<String, (Sums, Vec<u32>)> = BTreeMap::new();
        for &n in &*self.rows {
            let entry = self.entries.entry(n);
            let (sums, members) = groups.entry(group_of(entry, by, &zone)).or_default();
            sums.add(entry, now);
            members.push(n);
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        match by {
            GroupBy::Day => groups.reverse(),
            _ => groups.sort_by_key(|(_, (sums, _))| Reverse(sums.bytes)),
        }
        let mut rows = Vec::with_capacity(self.rows.len() + groups.len());
        for (name, (sums, members)) in groups {
            rows.push(HEADING | self.groups.len() as u32);
            rows.extend(members);
            self.groups.push((name, sums));
        }
        self.rows = Arc::new(rows);
    }

    /// Returns the entries shown, cheap to share with a worker.
    pub fn shown_entries(&self) -> ShownEntries {
        ShownEntries { entries: self.entries.clone(), rows: Arc::clone(&self.rows) }
    }

    /// Returns the number of rows, headings included.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the row at an index.
    pub fn row(&self, place: usize) -> Option<ListRow<'_>> {
        let row = *self.rows.get(place)?;
        Some(match row & HEADING {
            0 => ListRow::Entry(self.entries.entry(row)),
            _ => {
                let (name, sums) = &self.groups[(row & !HEADING) as usize];
                ListRow::Group(name, sums)
            }
        })
    }

    /// Returns what finds the row at an index again.
    pub fn mark_at(&self, place: usize) -> Option<RowMark> {
        let row = *self.rows.get(place)?;
        Some(match self.row(place)? {
            ListRow::Group(name, _) => RowMark::Group(name.to_owned()),
            ListRow::Entry(_) => RowMark::Entry(self.entries.clone(), row),
        })
    }

    /// Returns the row of the entry at `path`, if it is shown.
    pub fn place_of_path(&self, path: &Path) -> Option<usize> {
        let is_it = |row: usize| matches!(self.row(row), Some(ListRow::Entry(entry)) if entry.path() == path);
        (0..self.len()).find(|row| is_it(*row))
    }

    /// Finds a row in this list: the same entry, or the heading of the same group.
    pub fn place_of(&self, mark: &RowMark) -> Option<usize> {
        let (entries, row) = match mark {
            RowMark::Group(name) => {
                let group = self.groups.iter().position(|group| group.0 == *name)? as u32;
                return self.rows.iter().position(|row| *row == HEADING | group);
            }
            RowMark::Entry(entries, row) => (entries, *row),
        };
        if self.entries.shares(entries, row) {
            return self.rows.iter().position(|r| *r == row);
        }
        let entry = entries.entry(row);
        let is_it = |here: &Entry| here.name() == entry.name() && here.place().path == entry.place().path;
        self.rows.iter().position(|row| row & HEADING == 0 && is_it(self.entries.entry(*row)))
    }
}

/// The entries that a list shows, without its headings.
#[derive(Debug, Clone)]
pub struct ShownEntries {
    entries: EntryTable,
    rows: Arc<Vec<u32>>,
}

impl ShownEntries {
    /// Returns copies of the entries, in the order of the list. Takes time that grows with them.
    pub fn to_vec(&self) -> Vec<Entry> {
        let shown = self.rows.iter().filter(|row| *row & HEADING == 0);
        shown.map(|row| self.entries.entry(*row).clone()).collect()
    }
}

fn by_agent(entries: &EntryTable, shown: &[u32], now: Timestamp) -> BTreeMap<Arc<str>, Sums> {
    let mut totals: BTreeMap<Arc<str>, Sums> = BTreeMap::new();
    for entry in shown.iter().map(|n| entries.entry(*n)) {
        let agent = &entry.origin().agent;
        match totals.get_mut(agent) {
            Some(sums) => sums.add(entry, now),
            None => totals.entry(Arc::clone(agent)).or_default().add(entry, now),
        }
    }
    totals
}
