//! Sorts, filters and adds up entries. Pure.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::str::FromStr;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use memchr::memmem::Finder;

use crate::store::{Entry, EntryStatus, Left, Origin};

/// The sort key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// Youngest first.
    Age,
    /// Largest first.
    Size,
    /// What is deleted soonest first; what is never deleted last.
    Left,
    /// By agent name.
    Agent,
    /// By tool name; entries without one last.
    Tool,
    /// By session, then project; entries without either last.
    Session,
    Id,
}

impl SortBy {
    /// All keys, in the order in which a screen cycles through them.
    pub const ALL: [SortBy; 7] =
        [SortBy::Age, SortBy::Size, SortBy::Left, SortBy::Agent, SortBy::Tool, SortBy::Session, SortBy::Id];

    /// Returns the name used on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            SortBy::Age => "age",
            SortBy::Size => "size",
            SortBy::Left => "left",
            SortBy::Agent => "agent",
            SortBy::Tool => "tool",
            SortBy::Session => "session",
            SortBy::Id => "id",
        }
    }

    /// Compares two entries. Ties are broken by age, then path, so that a list does not move when it is read again.
    pub fn compare(self, a: &Entry, b: &Entry) -> Ordering {
        let youngest = || b.identity.modified.cmp(&a.identity.modified);
        let first = match self {
            SortBy::Age => youngest(),
            SortBy::Size => b.size().cmp(&a.size()),
            SortBy::Left => none_last(a.expires.at(), b.expires.at()),
            SortBy::Agent => a.agent().cmp(b.agent()),
            SortBy::Tool => none_last(a.tool(), b.tool()),
            SortBy::Session => none_last(a.whose(), b.whose()),
            SortBy::Id => a.id().cmp(&b.id()),
        };
        let path = || a.place().path.cmp(&b.place().path).then_with(|| a.name().cmp(b.name()));
        first.then_with(youngest).then_with(path)
    }

    /// Returns the indices in the order of [`SortBy::compare`]. Most entries are distinguished by a key of two words,
    /// computed once: a list may hold millions, scattered over memory.
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

    /// Returns the word to sort by, if the key is one.
    fn word(self, entry: &Entry) -> Option<&str> {
        match self {
            SortBy::Agent => Some(entry.agent()),
            SortBy::Tool => entry.tool(),
            SortBy::Session => entry.whose(),
            _ => None,
        }
    }

    /// Ranks the words of the entries. Entries in the same place share an origin, so only changes of origin are looked
    /// at.
    fn ranks<'a>(self, entries: impl Iterator<Item = &'a Entry>) -> BTreeMap<Option<&'a str>, u64> {
        let mut ranks = BTreeMap::new();
        let mut last = None;
        for entry in entries.filter(|entry| self.word(entry).is_some()) {
            if last.replace(Arc::as_ptr(entry.origin())) != Some(Arc::as_ptr(entry.origin())) {
                ranks.insert(self.word(entry), 0);
            }
        }
        ranks.values_mut().zip(0..).for_each(|(rank, n)| *rank = n);
        ranks
    }
}

impl FromStr for SortBy {
    type Err = String;

    fn from_str(name: &str) -> Result<SortBy, String> {
        let found = SortBy::ALL.into_iter().find(|by| by.as_str() == name);
        found.ok_or_else(|| format!("`{name}`: sort by {}", SortBy::ALL.map(SortBy::as_str).join(", ")))
    }
}

fn none_last<T: Ord>(a: Option<T>, b: Option<T>) -> Ordering {
    (a.is_none(), a).cmp(&(b.is_none(), b))
}

/// Which entries to show; a field that is not set lets everything through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub agent: Option<String>,
    pub older_than: Option<SignedDuration>,
    /// Only larger than this many bytes.
    pub larger_than: Option<u64>,
    /// Only with every word of this, ignoring case, in agent, tool, session, project, id, path, status, or the word for
    /// its time left.
    pub text: String,
}

impl Filter {
    /// Whether the filter lets an entry through.
    pub fn admits(&self, entry: &Entry, now: Timestamp) -> bool {
        self.agent.as_deref().is_none_or(|agent| agent == entry.agent())
            && self.older_than.is_none_or(|age| entry.age(now) > age)
            && self.larger_than.is_none_or(|size| entry.size() > size)
            && (self.text.is_empty() || Words::of(&self.text).are_in(entry, now, &[]))
    }

    /// The same for many entries in a row. Words are also searched in other texts of the entry, in lower case.
    pub fn admitting(&self, now: Timestamp) -> impl FnMut(&Entry, &[&[u8]]) -> bool {
        let mut words = Words::of(&self.text);
        let rest = Filter { text: String::new(), ..self.clone() };
        move |entry, more| rest.admits(entry, now) && words.are_in(entry, now, more)
    }
}

/// The words that entries must contain. The text that entries share is searched only once for all in a row.
struct Words {
    words: Vec<Finder<'static>>,
    origin: *const Origin,
    /// The text of the last entry searched, in lower case: everything but the name, then the name.
    text: Vec<u8>,
    shared: usize,
    /// The words that are not in the shared text.
    open: Vec<usize>,
}

impl Words {
    fn of(text: &str) -> Words {
        let text = text.to_lowercase();
        let words = text.split_whitespace().map(|word| Finder::new(word).into_owned()).collect();
        Words { words, origin: std::ptr::null(), text: Vec::new(), shared: 0, open: Vec::new() }
    }

    fn are_in(&mut self, entry: &Entry, now: Timestamp, more: &[&[u8]]) -> bool {
        if self.origin != Arc::as_ptr(entry.origin()) {
            self.share(entry);
        }
        if self.open.is_empty() {
            return true;
        }
        self.add_name(entry.name());
        let status = (entry.status != EntryStatus::Ok).then(|| entry.status.words().to_lowercase());
        let told = [entry.left_word(now).as_bytes(), status.as_deref().unwrap_or_default().as_bytes()];
        self.open.iter().all(|n| {
            let word = &self.words[*n];
            // A word may also begin in the directory's path and end in the name.
            let name = &self.text[self.shared.saturating_sub(word.needle().len())..];
            [name].iter().chain(&told).chain(more).any(|text| word.find(text).is_some())
        })
    }

    fn share(&mut self, entry: &Entry) {
        self.origin = Arc::as_ptr(entry.origin());
        let or_none = |word: Option<&str>| word.unwrap_or_default().to_owned();
        let [tool, session, project] = [entry.tool(), entry.session(), entry.project()].map(or_none);
        let place = entry.place().path.to_string_lossy();
        let text = format!("{} {tool} {session} {project} {place}/", entry.agent()).to_lowercase();
        self.open =
            (0..self.words.len()).filter(|n| self.words[*n].find(text.as_bytes()).is_none()).collect();
        self.shared = text.len();
        self.text = text.into_bytes();
    }

    /// Puts the name after the shared text.
    fn add_name(&mut self, name: &OsStr) {
        self.text.truncate(self.shared);
        if name.as_encoded_bytes().is_ascii() {
            self.text.extend(name.as_encoded_bytes().iter().map(u8::to_ascii_lowercase))
        } else {
            self.text.extend(name.to_string_lossy().to_lowercase().bytes())
        }
    }
}

/// How entries are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    Agent,
    Store,
    /// Session, or else project.
    Session,
    /// Day of modification.
    Day,
}

/// Adds up sizes in bytes, saturating: sparse files can add up to more than fits.
pub fn sum(sizes: impl IntoIterator<Item = u64>) -> u64 {
    sizes.into_iter().fold(0, u64::saturating_add)
}

/// The totals of a group of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    pub entries: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// Number of overdue entries.
    pub overdue: u64,
    /// Size of the overdue entries in bytes.
    pub overdue_bytes: u64,
}

impl Sums {
    pub fn add(&mut self, entry: &Entry, now: Timestamp) {
        self.entries += 1;
        self.bytes = self.bytes.saturating_add(entry.size());
        if matches!(entry.left(now), Left::Overdue(_)) {
            self.overdue += 1;
            self.overdue_bytes = self.overdue_bytes.saturating_add(entry.size());
        }
    }

    /// Adds up `entries`.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>, now: Timestamp) -> Sums {
        let mut sums = Sums::default();
        entries.into_iter().for_each(|entry| sums.add(entry, now));
        sums
    }
}

/// Returns the name of an entry's group. A day is written `2026-11-21` in `zone`; `–` stands for what a path does not
/// say.
pub fn group_of(entry: &Entry, by: GroupBy, zone: &TimeZone) -> String {
    match by {
        GroupBy::Agent => entry.agent().to_string(),
        GroupBy::Store => entry.store().name.clone(),
        GroupBy::Session => entry.whose().unwrap_or("–").to_owned(),
        GroupBy::Day => entry.modified().to_zoned(zone.clone()).date().to_string(),
    }
}

/// Returns the groups of `entries` by name, each with its totals.
pub fn sums_by<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    by: GroupBy,
    zone: &TimeZone,
    now: Timestamp,
) -> BTreeMap<String, Sums> {
    let mut groups: BTreeMap<String, Sums> = BTreeMap::new();
    for entry in entries {
        groups.entry(group_of(entry, by, zone)).or_default().add(entry, now);
    }
    groups
}
