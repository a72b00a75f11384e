//! Sorts entries and adds them up. Pure.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::store::{Entry, TimeLeft};

words! {
    /// A key, with its name on the command line.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum SortBy {
        Age => "age",
        Size => "size",
        /// What is deleted soonest first; what is never deleted last.
        Left => "left",
        Agent => "agent",
        /// By tool name; entries without one last.
        Tool => "tool",
        /// By session, then project; entries without either last.
        Session => "session",
        Id => "id",
    }
}

impl SortBy {
    /// Compares two entries. Ties are broken by age, then path, so that a list does not move when it is read again.
    pub fn compare(self, a: &Entry, b: &Entry) -> Ordering {
        let youngest = || b.identity.modified.cmp(&a.identity.modified);
        let first = match self {
            SortBy::Age => youngest(),
            SortBy::Size => b.size().cmp(&a.size()),
            SortBy::Left => none_last(a.expires.at(), b.expires.at()),
            SortBy::Agent | SortBy::Tool | SortBy::Session => none_last(self.word(a), self.word(b)),
            SortBy::Id => a.id().cmp(&b.id()),
        };
        let path = || a.place().path.cmp(&b.place().path).then_with(|| a.name().cmp(b.name()));
        first.then_with(youngest).then_with(path)
    }

    /// Returns the numbers in order, by a key of two words that is computed once, else by [`SortBy::compare`].
    pub fn order<'a>(self, numbers: &[u32], entry: impl Fn(u32) -> &'a Entry) -> Vec<u32> {
        let ranks = self.ranks(numbers.iter().map(|n| entry(*n)));
        let mut keyed: Vec<(u64, u64, u32)> =
            numbers.iter().map(|&n| (n, self.key(entry(n), &ranks))).map(|(n, (a, b))| (a, b, n)).collect();
        keyed.sort_unstable_by(|a, b| {
            (a.0, a.1).cmp(&(b.0, b.1)).then_with(|| self.compare(entry(a.2), entry(b.2)))
        });
        keyed.into_iter().map(|(_, _, n)| n).collect()
    }

    /// Returns a key that never contradicts [`SortBy::compare`], but may not distinguish two entries.
    fn key(self, entry: &Entry, ranks: &BTreeMap<Option<&str>, u64>) -> (u64, u64) {
        let biased = |seconds: i64| seconds.wrapping_sub(i64::MIN) as u64;
        let modified = entry.identity.modified;
        let youngest = !biased(modified.seconds);
        match self {
            SortBy::Age => (youngest, u64::from(!modified.nanos)),
            SortBy::Size => (!entry.size(), youngest),
            SortBy::Left => entry.expires.at().map_or((u64::MAX, youngest), |at| {
                (biased(at.as_second()), biased(at.subsec_nanosecond().into()))
            }),
            SortBy::Agent | SortBy::Tool | SortBy::Session => {
                (ranks.get(&self.word(entry)).copied().unwrap_or(u64::MAX), youngest)
            }
            SortBy::Id => {
                let id = entry.id();
                let mut start = [0; 16];
                let len = id.len().min(start.len());
                start[..len].copy_from_slice(&id.as_bytes()[..len]);
                let start = u128::from_be_bytes(start);
                ((start >> 64) as u64, start as u64)
            }
        }
    }

    fn word(self, entry: &Entry) -> Option<&str> {
        match self {
            SortBy::Agent => Some(entry.agent()),
            SortBy::Tool => entry.tool(),
            SortBy::Session => entry.session().or(entry.project()),
            _ => None,
        }
    }

    /// Ranks the words of the entries. Those in one place share an origin, so only changes of that are looked at.
    fn ranks<'a>(self, entries: impl Iterator<Item = &'a Entry>) -> BTreeMap<Option<&'a str>, u64> {
        let mut ranks = BTreeMap::new();
        let mut last = None;
        for entry in entries.filter(|entry| self.word(entry).is_some()) {
            if last.replace(Arc::as_ptr(&entry.origin)) != Some(Arc::as_ptr(&entry.origin)) {
                ranks.insert(self.word(entry), 0);
            }
        }
        ranks.values_mut().zip(0..).for_each(|(rank, n)| *rank = n);
        ranks
    }
}

fn none_last<T: Ord>(a: Option<T>, b: Option<T>) -> Ordering {
    (a.is_none(), a).cmp(&(b.is_none(), b))
}

/// Adds up sizes in bytes, saturating: sparse files can add up to more than fits.
pub fn sum(sizes: impl IntoIterator<Item = u64>) -> u64 {
    sizes.into_iter().fold(0, u64::saturating_add)
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EntrySums {
    pub entries: u64,
    pub bytes: u64,
    pub exposed: u64,
    pub overdue: u64,
    pub overdue_bytes: u64,
}

impl EntrySums {
    pub fn add(&mut self, entry: &Entry, now: Timestamp) {
        self.entries += 1;
        self.bytes = self.bytes.saturating_add(entry.size());
        self.exposed += u64::from(entry.exposed());
        if matches!(entry.left(now), TimeLeft::Overdue(_)) {
            self.overdue += 1;
            self.overdue_bytes = self.overdue_bytes.saturating_add(entry.size());
        }
    }
}
