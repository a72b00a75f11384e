//! Putting entries in order, choosing among them, and adding them up. Pure.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::str::FromStr;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::{Entry, Left};

/// By what entries are sorted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// Youngest first.
    Age,
    /// Largest first.
    Size,
    /// What goes first, first; what never goes, last.
    Left,
    /// By the agent's name.
    Agent,
    /// By the tool's name; none last.
    Tool,
    /// By session, then project; none last.
    Session,
    /// By id.
    Id,
}

impl SortBy {
    /// All of them, in the order in which a screen goes through them.
    pub const ALL: [SortBy; 7] =
        [SortBy::Age, SortBy::Size, SortBy::Left, SortBy::Agent, SortBy::Tool, SortBy::Session, SortBy::Id];

    /// Its name on the command line.
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

    /// Which of two entries comes first. Ties go by age, then by path, so that a list stays still
    /// when it is read again.
    pub fn compare(self, a: &Entry, b: &Entry) -> Ordering {
        let youngest = || b.modified.cmp(&a.modified);
        let first = match self {
            SortBy::Age => youngest(),
            SortBy::Size => b.size().cmp(&a.size()),
            SortBy::Left => none_last(a.expires.at(), b.expires.at()),
            SortBy::Agent => a.agent.cmp(&b.agent),
            SortBy::Tool => none_last(a.tool.as_ref(), b.tool.as_ref()),
            SortBy::Session => none_last(whose(a), whose(b)),
            SortBy::Id => a.id.cmp(&b.id),
        };
        let path = || a.place.path.cmp(&b.place.path).then_with(|| a.name.cmp(&b.name));
        first.then_with(youngest).then_with(path)
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

/// The session, or else the project.
fn whose(entry: &Entry) -> Option<&str> {
    entry.session.as_deref().or(entry.project.as_deref())
}

/// Which entries are wanted; what is not set lets everything through.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Of this agent.
    pub agent: Option<String>,
    /// Older than this.
    pub older_than: Option<SignedDuration>,
    /// Larger than so many bytes.
    pub larger_than: Option<u64>,
    /// With every word of this, in whatever case, in agent, tool, session, project, id or path.
    pub text: String,
}

impl Filter {
    /// Whether an entry is wanted.
    pub fn admits(&self, entry: &Entry, now: Timestamp) -> bool {
        self.agent.as_deref().is_none_or(|agent| agent == &*entry.agent)
            && self.older_than.is_none_or(|age| entry.age(now) > age)
            && self.larger_than.is_none_or(|size| entry.size() > size)
            && self.mentions(entry)
    }

    fn mentions(&self, entry: &Entry) -> bool {
        if self.text.trim().is_empty() {
            return true;
        }
        let tool = entry.tool.as_deref().unwrap_or_default();
        let all =
            format!("{} {tool} {} {}", entry.agent, entry.id, entry.path().to_string_lossy()).to_lowercase();
        self.text.to_lowercase().split_whitespace().all(|word| all.contains(word))
    }
}

/// By what entries are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupBy {
    /// Agent.
    Agent,
    /// Store.
    Store,
    /// Session, or else project.
    Session,
    /// Day of modification.
    Day,
}

/// What a group of entries adds up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// How many.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many are overdue.
    pub overdue: u64,
    /// The bytes of those.
    pub overdue_bytes: u64,
}

impl Sums {
    /// One more entry.
    pub fn add(&mut self, entry: &Entry, now: Timestamp) {
        self.entries += 1;
        self.bytes += entry.size();
        if matches!(entry.left(now), Left::Overdue(_)) {
            self.overdue += 1;
            self.overdue_bytes += entry.size();
        }
    }

    /// Of all `entries`.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>, now: Timestamp) -> Sums {
        let mut sums = Sums::default();
        entries.into_iter().for_each(|entry| sums.add(entry, now));
        sums
    }
}

/// The name of the group that an entry belongs to; a day is written `2026-11-21` in `zone`, and
/// what a path does not tell is `–`.
pub fn group_of(entry: &Entry, by: GroupBy, zone: &TimeZone) -> String {
    match by {
        GroupBy::Agent => entry.agent.to_string(),
        GroupBy::Store => entry.store().name.clone(),
        GroupBy::Session => whose(entry).unwrap_or("–").to_owned(),
        GroupBy::Day => entry.modified.to_zoned(zone.clone()).date().to_string(),
    }
}

/// The groups of `entries` by name, with what each adds up to.
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
