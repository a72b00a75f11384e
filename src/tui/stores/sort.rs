//! Which entries are shown, in which order and groups: decided from a snapshot of them, here or by a worker.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::store::{Entry, Filter, GroupBy, SortBy, Sums, group_of};

/// Entries that are stored, and arrive, together.
pub const BATCH: usize = 4096;

/// Of a row: it is the heading of a group, whose number the other bits are.
const HEADING: u32 = 1 << 31;

/// All entries, each with a number from 0; cheap to share with a worker.
#[derive(Debug, Clone, Default)]
pub struct EntryTable {
    batches: Vec<Arc<Vec<Entry>>>,
    /// What they add up to.
    pub sums: Sums,
}

impl EntryTable {
    /// Adds entries; a whole batch that begins where one does is taken as it is. What others share stays.
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

    /// How many there are.
    pub fn len(&self) -> usize {
        self.batches.last().map_or(0, |last| (self.batches.len() - 1) * BATCH + last.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// An entry by its number.
    pub fn entry(&self, number: u32) -> &Entry {
        &self.batches[number as usize / BATCH][number as usize % BATCH]
    }

    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.batches.iter().flat_map(|batch| batch.iter())
    }

    /// Whether an entry of this number is the same one in both: then one has grown out of the other.
    fn shares(&self, other: &EntryTable, number: u32) -> bool {
        let batch = |entries: &EntryTable| entries.batches.get(number as usize / BATCH).map(Arc::as_ptr);
        batch(self).is_some() && batch(self) == batch(other)
    }
}

/// How entries are to be shown.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// Which of them.
    pub filter: Filter,
    /// In which order: the number of one of [`SortBy::ALL`].
    pub sort: usize,
    /// Whether the other way round.
    pub reversed: bool,
    /// Under which headings.
    pub group: Option<GroupBy>,
}

impl ListOptions {
    /// By what they are sorted.
    pub fn sort(&self) -> SortBy {
        SortBy::ALL[self.sort % SortBy::ALL.len()]
    }
}

/// Entries to be put in order.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its number, for the answer.
    pub number: u64,
    /// All entries.
    pub entries: EntryTable,
    /// How they are to be shown.
    pub options: ListOptions,
    /// When that is.
    pub now: Timestamp,
}

/// A row of the list.
#[derive(Debug, Clone, Copy)]
pub enum ListRow<'a> {
    /// The heading of a group, with what it adds up to.
    Group(&'a str, &'a Sums),
    /// An entry.
    Entry(&'a Entry),
}

/// Entries as they are shown.
#[derive(Debug, Default)]
pub struct SortedEntries {
    /// The number of its task.
    pub number: u64,
    /// The entries, shown or not.
    pub entries: EntryTable,
    rows: Vec<u32>,
    groups: Vec<(String, Sums)>,
    /// What the shown ones of each agent add up to, in the order of their names.
    pub by_agent: BTreeMap<Arc<str>, Sums>,
}

impl SortedEntries {
    /// Chooses, sorts and groups; nothing once `go_on`, asked now and then, says no.
    pub fn new(task: &Task, go_on: impl Fn() -> bool) -> Option<Self> {
        let Task { number, entries, options, now } = task;
        let mut admits = options.filter.admitting(*now);
        let mut shown = Vec::with_capacity(if options.filter.text.is_empty() { entries.len() } else { 0 });
        for (batch, first) in entries.batches.iter().zip((0..).step_by(BATCH)) {
            if !go_on() {
                return None;
            }
            shown.extend((first..).zip(batch.iter()).filter(|(_, entry)| admits(entry)).map(|(n, _)| n));
        }
        let by_agent = by_agent(entries, &shown, *now);
        let mut rows = options.sort().order(&shown, |n| entries.entry(n));
        drop(shown);
        if options.reversed {
            rows.reverse();
        }
        let mut sorted =
            Self { number: *number, entries: entries.clone(), rows, groups: Vec::new(), by_agent };
        match options.group {
            Some(by) if go_on() => sorted.group(by, *now),
            _ => {}
        }
        go_on().then_some(sorted)
    }

    /// Puts entries under headings; the heaviest group first, or the youngest day.
    fn group(&mut self, by: GroupBy, now: Timestamp) {
        let zone = TimeZone::system();
        let mut groups: BTreeMap<String, (Sums, Vec<u32>)> = BTreeMap::new();
        for &n in &self.rows {
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
        self.rows.clear();
        for (name, (sums, members)) in groups {
            self.rows.push(HEADING | self.groups.len() as u32);
            self.rows.extend(members);
            self.groups.push((name, sums));
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A row by its place.
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

    /// Where the row of another arrangement is in this one: the same entry, or the same heading.
    pub fn place_of(&self, other: &Self, place: usize) -> Option<usize> {
        let row = *other.rows.get(place)?;
        let is_heading = |row: &u32| row & HEADING != 0;
        match other.row(place)? {
            ListRow::Group(name, _) => {
                let group = self.groups.iter().position(|group| group.0 == name)? as u32;
                self.rows.iter().position(|row| *row == HEADING | group)
            }
            ListRow::Entry(_) if self.entries.shares(&other.entries, row) => {
                self.rows.iter().position(|r| *r == row)
            }
            ListRow::Entry(entry) => self.rows.iter().position(|row| {
                !is_heading(row) && {
                    let here = self.entries.entry(*row);
                    here.name() == entry.name() && here.place().path == entry.place().path
                }
            }),
        }
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
