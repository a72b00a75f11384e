//! The list of stored outputs: which are shown, in which order and groups, which are chosen or to be deleted.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::store::{
    CleanPlan, Entry, Filter, GroupBy, Pending, RootReport, SortBy, Space, StoreSpec, Sums, apply_limits,
    group_of, sums_by,
};

use super::detail::Details;

/// What a look at the stores has found so far.
pub enum Scanned {
    /// A look begins.
    Begun {
        /// Its number.
        number: u64,
        /// When that is.
        now: Timestamp,
        /// The user who looks.
        user: u32,
    },
    /// Some entries, of a look that began with this number.
    Some(u64, Vec<Entry>),
    /// All there are.
    All(Box<Look>),
}

/// The end of a look at the stores.
pub struct Look {
    /// The number with which it began.
    pub number: u64,
    /// What became of each store's roots.
    pub reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
    /// Ids of our own store that are kept for ever.
    pub kept: BTreeSet<String>,
    /// Room on the disk of our own store.
    pub space: Option<Space>,
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// The heading of a group, with what it adds up to.
    Group(String, Sums),
    /// An entry, by its number.
    Entry(usize),
}

/// The state of the list.
#[derive(Default)]
pub struct Listing {
    entries: Vec<Entry>,
    arriving: Vec<Entry>,
    look: u64,
    /// What became of each store's roots.
    pub reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
    /// When the stores were looked at; nothing before the first look begins.
    pub now: Option<Timestamp>,
    /// The user who looks.
    pub user: Option<u32>,
    looked: bool,
    /// Room on the disk of our own store.
    pub space: Option<Space>,
    kept: BTreeSet<String>,
    rows: Vec<Row>,
    /// Place of the chosen row.
    pub chosen: usize,
    /// Place of the first row on the screen.
    pub top: usize,
    sort: usize,
    reversed: bool,
    /// By what entries are grouped.
    pub group: Option<GroupBy>,
    filter: Filter,
    /// Whether an output was opened from here, so that Esc comes back.
    pub opened: bool,
    /// What has been read of entries.
    pub details: Details,
    /// What is to be deleted on leaving.
    pub pending: Pending,
    marked: BTreeSet<PathBuf>,
    /// What cleaning would delete, while one is asked.
    pub plan: Option<CleanPlan>,
}

impl Listing {
    /// A look is being taken: its number.
    pub fn start_look(&mut self) -> u64 {
        self.look += 1;
        self.arriving.clear();
        self.look
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
    pub fn scanned(&mut self, scanned: Scanned) {
        match scanned {
            Scanned::Begun { number, now, user } if number == self.look => {
                (self.now, self.user) = (Some(now), Some(user));
            }
            Scanned::Some(number, entries) if number == self.look => {
                self.arriving.extend(entries);
                if !self.looked {
                    self.entries.append(&mut self.arriving);
                    self.arrange();
                }
            }
            Scanned::All(look) if look.number == self.look => {
                if self.looked {
                    self.entries = std::mem::take(&mut self.arriving);
                }
                apply_limits(&mut self.entries, self.now.unwrap_or_default());
                let Look { reports, kept, space, .. } = *look;
                (self.reports, self.kept, self.space, self.looked) = (reports, kept, space, true);
                self.arrange();
            }
            _ => {}
        }
    }

    /// The entry on which keys act.
    pub fn chosen(&self) -> Option<&Entry> {
        match self.rows.get(self.chosen)? {
            Row::Entry(n) => self.entries.get(*n),
            Row::Group(..) => None,
        }
    }

    /// The rows, in order.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// An entry by its number.
    pub fn entry(&self, number: usize) -> &Entry {
        &self.entries[number]
    }

    /// All entries, shown or not.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entries that are shown, in order.
    pub fn shown(&self) -> impl Iterator<Item = &Entry> {
        self.rows.iter().filter_map(|row| match row {
            Row::Entry(n) => Some(&self.entries[*n]),
            Row::Group(..) => None,
        })
    }

    /// The ids of our own store that are kept for ever.
    pub fn kept(&self) -> &BTreeSet<String> {
        &self.kept
    }

    /// Whether an entry is kept for ever.
    pub fn is_kept(&self, entry: &Entry) -> bool {
        entry.is_own() && self.kept.contains(&*entry.id())
    }

    /// Whether an entry is marked.
    pub fn is_marked(&self, path: &Path) -> bool {
        self.marked.contains(path)
    }

    /// How many are marked.
    pub fn marked(&self) -> usize {
        self.marked.len()
    }

    /// By what it is sorted.
    pub fn sort(&self) -> SortBy {
        SortBy::ALL[self.sort % SortBy::ALL.len()]
    }

    /// Whether it is sorted the other way round.
    pub fn is_reversed(&self) -> bool {
        self.reversed
    }

    /// The words that entries must have.
    pub fn filter_text(&self) -> &str {
        &self.filter.text
    }

    /// Shows only what has all these words, in any order.
    pub fn filter(&mut self, words: &str) {
        self.filter.text = words.to_owned();
        self.arrange();
    }

    pub(super) fn sort_next(&mut self) {
        self.sort = (self.sort + 1) % SortBy::ALL.len();
        self.reversed = false;
        self.arrange();
    }

    pub(super) fn reverse(&mut self) {
        self.reversed = !self.reversed;
        self.arrange();
    }

    pub(super) fn group_next(&mut self) {
        self.group = match self.group {
            None => Some(GroupBy::Store),
            Some(GroupBy::Store | GroupBy::Agent) => Some(GroupBy::Session),
            Some(GroupBy::Session) => Some(GroupBy::Day),
            Some(GroupBy::Day) => None,
        };
        self.arrange();
    }

    /// Filters, sorts and groups anew; the same entry stays chosen.
    fn arrange(&mut self) {
        let chosen = self.chosen().map(Entry::path);
        let now = self.now.unwrap_or_default();
        let (entries, filter, by) = (&self.entries, &self.filter, self.sort());
        let mut shown: Vec<usize> = (0..entries.len()).filter(|n| filter.admits(&entries[*n], now)).collect();
        shown.sort_by(|a, b| by.compare(&entries[*a], &entries[*b]));
        if self.reversed {
            shown.reverse();
        }
        self.rows = match self.group {
            None => shown.into_iter().map(Row::Entry).collect(),
            Some(group) => grouped(entries, &shown, group, now),
        };
        let place = chosen.and_then(|path| {
            self.rows.iter().position(|row| matches!(row, Row::Entry(n) if self.entries[*n].path() == path))
        });
        self.chosen = place.unwrap_or(self.chosen).min(self.rows.len().saturating_sub(1));
    }

    pub(super) fn go(&mut self, to: usize, height: usize) {
        self.chosen = to.min(self.rows.len().saturating_sub(1));
        self.settle(height);
    }

    /// The chosen row stays on a screen of `height` rows.
    pub(super) fn settle(&mut self, height: usize) {
        let height = height.max(1);
        self.top = self.top.clamp((self.chosen + 1).saturating_sub(height), self.chosen);
    }

    /// Entries on a screen of `height` rows that have not been read; they are taken to be asked for now.
    pub(super) fn unread(&mut self, height: usize) -> Vec<Entry> {
        let on_screen = self.rows.iter().skip(self.top).take(height);
        let entries = on_screen.filter_map(|row| match row {
            Row::Entry(n) => Some(&self.entries[*n]),
            Row::Group(..) => None,
        });
        self.details.unread(entries)
    }

    pub(super) fn toggle_mark(&mut self) {
        if let Some(path) = self.chosen().map(Entry::path)
            && !self.marked.remove(&path)
        {
            self.marked.insert(path);
        }
    }

    /// The marked entries, or else the chosen one.
    pub fn marked_or_chosen(&self) -> Vec<&Entry> {
        if self.marked.is_empty() {
            return self.chosen().into_iter().collect();
        }
        self.entries.iter().filter(|entry| self.marked.contains(&entry.path())).collect()
    }

    /// The same; none is marked any more.
    pub(super) fn take_marked(&mut self) -> Vec<Entry> {
        let entries = self.marked_or_chosen().into_iter().cloned().collect();
        self.marked.clear();
        entries
    }

    /// Forgets the marks; whether there were any.
    pub(super) fn unmark(&mut self) -> bool {
        !std::mem::take(&mut self.marked).is_empty()
    }

    pub(super) fn set_kept(&mut self, id: String, kept: bool) {
        if kept {
            self.kept.insert(id);
        } else {
            self.kept.remove(&id);
        }
    }
}

/// Headings with their entries below; the heaviest group first.
fn grouped(entries: &[Entry], shown: &[usize], by: GroupBy, now: Timestamp) -> Vec<Row> {
    let zone = TimeZone::system();
    let sums = sums_by(shown.iter().map(|n| &entries[*n]), by, &zone, now);
    let mut members: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for n in shown {
        members.entry(group_of(&entries[*n], by, &zone)).or_default().push(*n);
    }
    let mut groups: Vec<_> = sums.into_iter().collect();
    match by {
        GroupBy::Day => groups.reverse(),
        _ => groups.sort_by_key(|(_, sums)| Reverse(sums.bytes)),
    }
    let rows = groups.into_iter().flat_map(|(name, sums)| {
        let below = members.remove(&name).unwrap_or_default();
        std::iter::once(Row::Group(name, sums)).chain(below.into_iter().map(Row::Entry))
    });
    rows.collect()
}
