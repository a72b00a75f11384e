//! When a store's own rule deletes an entry. The times are passed in.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
#[cfg(feature = "app")]
use serde_json::Value;

#[cfg(feature = "app")]
use crate::base::fs::plain_file::{self, ellipsize};
use crate::base::human::parse_age;
#[cfg(feature = "app")]
use crate::base::human::{size, thousands};
use crate::store::Env;
use crate::store::list::entry::{Entry, ListedDir};
use crate::store::own::id::{Id, IdForm, WRAP_MS};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    Mtime,
    /// The later of its access and modification times.
    Use,
    /// The modification time of the directory that contains it.
    FolderMtime,
    /// The time in the file's name, compared as in opencode's classic form: modulo 2^48.
    Id,
    SessionEnd,
    ProcessExit,
    Never,
    Unknown,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retention {
    #[serde(rename = "by")]
    pub basis: Basis,
    /// The age at which an entry is deleted, for rules based on age.
    #[serde(default, deserialize_with = "read_age")]
    pub after: Option<SignedDuration>,
    pub setting: Option<Setting>,
    /// Maximum number of entries in a directory; beyond it the oldest are deleted.
    pub max_count: Option<u64>,
    /// Maximum number of bytes in a directory; beyond it the oldest entries are deleted.
    pub max_total: Option<u64>,
    pub note: Option<String>,
    /// Why the rule is unknown, if a file that others may have written is the reason: not safe to print.
    #[serde(skip)]
    pub why_unknown: Option<String>,
}

fn read_age<'de, D: Deserializer<'de>>(age: D) -> Result<Option<SignedDuration>, D::Error> {
    let text = String::deserialize(age)?;
    parse_age(&text).map(Some).ok_or_else(|| D::Error::custom(text))
}

/// A value in an agent's own configuration, a JSON file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Setting {
    /// The file, as a root pattern.
    pub file: String,
    /// The path of keys to the value, outermost first, joined by dots. A number means days.
    pub key: String,
    /// The path of keys to what is false where the agent deletes nothing.
    pub switch: Option<String>,
    /// The shortest age that the agent takes.
    #[serde(default, deserialize_with = "read_age")]
    pub least: Option<SignedDuration>,
}

words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Rule {
        Mtime => "mtime",
        Use => "use",
        Id => "id",
        Count => "count",
        TotalSize => "total-size",
        SessionEnd => "session-end",
        ProcessExit => "process-exit",
        /// Deleted soon, by the next cleaning: nothing will finish it.
        Unfinished => "unfinished",
        Never => "never",
        /// Never deleted, because the user keeps it in overspill's own store.
        Kept => "kept",
        Unknown => "unknown",
    }
}

/// In the order in which they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expiry {
    /// At the first cleanup that the agent runs after this time.
    At(Timestamp),
    SessionEnd,
    ProcessExit,
    /// Its process ended without deleting it, so nothing will.
    Orphaned,
    Unknown,
    Never,
    /// No rule deletes it: it is a link, or not a file.
    Exempt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLeft {
    For(SignedDuration),
    Overdue(SignedDuration),
    /// There is no point in time.
    Open,
}

impl Expiry {
    pub fn at(self) -> Option<Timestamp> {
        let Expiry::At(time) = self else { return None };
        Some(time)
    }

    /// Returns the time left at `now`; exactly `now` is overdue.
    pub fn left(self, now: Timestamp) -> TimeLeft {
        match self.at().map(|time| time.duration_since(now)) {
            None => TimeLeft::Open,
            Some(left) if left.is_positive() => TimeLeft::For(left),
            Some(left) => TimeLeft::Overdue(left.abs()),
        }
    }

    /// Returns the state of the time left in a word; empty if a time is left.
    pub fn left_word(self, now: Timestamp) -> &'static str {
        match (self.left(now), self) {
            (TimeLeft::For(_), _) => "",
            (TimeLeft::Overdue(_), _) => "overdue",
            (TimeLeft::Open, Self::SessionEnd) => "session",
            (TimeLeft::Open, Self::ProcessExit) => "process",
            (TimeLeft::Open, Self::Never) => "never",
            (TimeLeft::Open, Self::Orphaned) => "left behind",
            (TimeLeft::Open, Self::Exempt) => "–",
            (TimeLeft::Open, _) => "unknown",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub modified: Timestamp,
    pub accessed: Timestamp,
    pub folder: Timestamp,
    pub id: Option<Id>,
    /// Whether the process that created it is alive; `None` if the path does not say.
    pub alive: Option<bool>,
    pub now: Timestamp,
}

impl Retention {
    /// Returns the rule by which nothing is deleted, or not known to be, for this reason.
    pub(super) fn none(why_unknown: Option<String>, note: Option<String>) -> Retention {
        let basis = if why_unknown.is_some() { Basis::Unknown } else { Basis::Never };
        Retention { basis, after: None, setting: None, max_count: None, max_total: None, note, why_unknown }
    }

    /// Returns the rule as the user has set it in the agent's configuration.
    pub fn as_set(&self, env: &Env) -> Retention {
        match self.setting.as_ref().and_then(|setting| setting.read(env)) {
            None => self.clone(),
            Some(Ok(age)) => Retention { after: Some(age), ..self.clone() },
            Some(Err(why_unknown)) => Retention::none(why_unknown, self.note.clone()),
        }
    }

    /// Says when an entry is deleted: `7 d after the last change`.
    #[cfg(feature = "app")]
    pub(crate) fn describe(&self) -> String {
        let unknown = || "unknown".to_owned();
        let aged = |since| self.after.map_or_else(unknown, |age| format!("{} after {since}", exact(age)));
        let mut words = match self.basis {
            Basis::Mtime => aged("the last change"),
            Basis::Use => aged("the last use"),
            Basis::FolderMtime => aged("its folder's last change"),
            Basis::Id => aged("the time in its id"),
            Basis::SessionEnd => "when the session ends".to_owned(),
            Basis::ProcessExit => "when the agent ends".to_owned(),
            Basis::Never => "never".to_owned(),
            Basis::Unknown => self.why_unknown.as_ref().map_or_else(unknown, |why| format!("unknown: {why}")),
        };
        let count = self.max_count.map(|most| format!("{} files", thousands(most)));
        for most in count.into_iter().chain(self.max_total.map(size)) {
            words.push_str(&format!("; the oldest beyond {most} in a directory"));
        }
        words
    }

    pub fn has_limits(&self) -> bool {
        self.max_count.is_some() || self.max_total.is_some()
    }

    /// Returns when an entry is deleted by age, session or process; [`apply_limits`] adds the limits of a directory.
    pub(crate) fn expiry(&self, times: &Times) -> (Expiry, Rule) {
        let due = |since: Timestamp| since.checked_add(self.after?).ok();
        let aged = |since| due(since).map_or(Expiry::Unknown, Expiry::At);
        match self.basis {
            Basis::Mtime => (aged(times.modified), Rule::Mtime),
            Basis::Use => (aged(times.accessed.max(times.modified)), Rule::Use),
            Basis::FolderMtime => (aged(times.folder), Rule::Mtime),
            Basis::Id => (self.by_id(times).unwrap_or(Expiry::Unknown), Rule::Id),
            Basis::SessionEnd => (Expiry::SessionEnd, Rule::SessionEnd),
            Basis::ProcessExit if times.alive == Some(false) => (Expiry::Orphaned, Rule::ProcessExit),
            Basis::ProcessExit => (Expiry::ProcessExit, Rule::ProcessExit),
            Basis::Never => (Expiry::Never, Rule::Never),
            Basis::Unknown => (Expiry::Unknown, Rule::Unknown),
        }
    }

    /// opencode's classic cleanup compares the wrapped times of two ids. So until `after` has passed since a wrap,
    /// everything newer than the wrap looks old and is deleted at once; after that, everything older than the wrap is
    /// never deleted.
    fn by_id(&self, times: &Times) -> Option<Expiry> {
        let (id, after) = (times.id?, self.after?);
        let made = id.time(times.modified)?;
        let (due, cutoff) = (made.checked_add(after).ok()?, times.now.checked_sub(after).ok()?);
        let epoch = |time: Timestamp| match id.form {
            IdForm::Six => time.as_millisecond().div_euclid(WRAP_MS),
            IdForm::Seven | IdForm::Eight => 0,
        };
        Some(match epoch(made).cmp(&epoch(cutoff)) {
            std::cmp::Ordering::Equal => Expiry::At(due),
            std::cmp::Ordering::Greater => Expiry::At(made),
            std::cmp::Ordering::Less => Expiry::Never,
        })
    }
}

impl Setting {
    /// Returns the age that is set, if any is; fails with why it is unknown, or without a reason if nothing is deleted.
    #[cfg(feature = "app")]
    fn read(&self, env: &Env) -> Option<Result<SignedDuration, Option<String>>> {
        let path = crate::store::root::expand(&self.file, env).ok()?;
        let settings = match plain_file::settings(&path)? {
            Err(error) => return Some(Err(Some(error))),
            Ok(settings) => settings,
        };
        let value = |keys: &str| keys.split('.').try_fold(&settings, |value: &Value, key| value.get(key));
        if self.switch.as_deref().and_then(value) == Some(&Value::Bool(false)) {
            return Some(Err(None));
        }
        let set = value(&self.key)?;
        let in_days = |days: i64| SignedDuration::try_from_hours(days.checked_mul(24)?);
        let age = set.as_str().map_or_else(|| set.as_i64().and_then(in_days), age_in);
        // What an agent does below its minimum is unknown, and fresh entries must not count as due.
        let is_taken = |age: &SignedDuration| age.is_positive() && Some(*age) >= self.least;
        let (path, key, text) = (path.display(), &self.key, ellipsize(set.to_string().trim_matches('"')));
        let why = || Some(format!("{path}: {key} is {text}, which the agent does not take"));
        Some(age.filter(is_taken).ok_or_else(why))
    }

    /// The library looks only at overspill's own store, which has none.
    #[cfg(not(feature = "app"))]
    fn read(&self, _: &Env) -> Option<Result<SignedDuration, Option<String>>> {
        None
    }
}

#[cfg(feature = "app")]
fn exact(age: SignedDuration) -> String {
    let seconds = age.as_secs();
    let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
    let whole = units.into_iter().find(|(unit, _)| seconds % unit == 0);
    let (unit, word) = whole.unwrap_or((1, "s"));
    format!("{} {word}", seconds / unit)
}

/// Parses an age as Gemini CLI does: in hours, days, weeks, or months of 30 days.
#[cfg(feature = "app")]
fn age_in(text: &str) -> Option<SignedDuration> {
    match text.strip_suffix('m') {
        Some(months) => parse_age(&format!("{months}d"))?.checked_mul(30),
        None => parse_age(text).filter(|_| !text.ends_with('s')),
    }
}

/// Marks the oldest of `entries`, all those of their stores, beyond their directory's limits as due at `now`.
pub fn apply_limits(entries: &mut [Entry], now: Timestamp) {
    let limited = |entry: &Entry| {
        entry.store().retention.has_limits() && !entry.is_kept() && entry.expires != Expiry::Exempt
    };
    let mut by_place: BTreeMap<*const ListedDir, Vec<usize>> = BTreeMap::new();
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| limited(entry)) {
        by_place.entry(Arc::as_ptr(&entry.origin.place)).or_default().push(index);
    }
    for indices in by_place.into_values() {
        let files: Vec<_> =
            indices.iter().map(|&index| (entries[index].modified(), entries[index].size())).collect();
        for (position, rule) in over_limits(&entries[indices[0]].store().retention, &files) {
            let entry = &mut entries[indices[position]];
            if !matches!(entry.left(now), TimeLeft::Overdue(_)) {
                (entry.expires, entry.rule) = (Expiry::At(now), rule);
            }
        }
    }
}

/// Returns the oldest files of a directory beyond the limits, by time and size in bytes, with the rule.
fn over_limits(retention: &Retention, files: &[(Timestamp, u64)]) -> Vec<(usize, Rule)> {
    let mut newest_first: Vec<usize> = (0..files.len()).collect();
    newest_first.sort_by_key(|&index| std::cmp::Reverse(files[index].0));
    let mut total = 0u64;
    let judge = |(rank, index): (usize, usize)| {
        total = total.saturating_add(files[index].1);
        let is_many = retention.max_count.is_some_and(|most| rank as u64 >= most);
        let is_large = retention.max_total.is_some_and(|most| total > most);
        let rule = if is_many { Some(Rule::Count) } else { is_large.then_some(Rule::TotalSize) };
        Some((index, rule?))
    };
    newest_first.into_iter().enumerate().filter_map(judge).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEEK: SignedDuration = SignedDuration::from_hours(7 * 24);

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn rule(basis: Basis) -> Retention {
        Retention { basis, after: Some(WEEK), ..Retention::none(None, None) }
    }

    fn times(modified: &str, now: &str) -> Times {
        let modified = at(modified);
        Times { modified, accessed: modified, folder: modified, id: None, alive: None, now: at(now) }
    }

    fn by_id(made: &str, now: &str) -> Expiry {
        let id = Some(Id { form: IdForm::Six, millis: at(made).as_millisecond() % WRAP_MS });
        rule(Basis::Id).expiry(&Times { id, ..times(made, now) }).0
    }

    #[test]
    fn rules_in_words() {
        let words = |basis| rule(basis).describe();
        assert_eq!(words(Basis::Mtime), "7 d after the last change");
        assert_eq!((words(Basis::Never), words(Basis::Unknown)), ("never".into(), "unknown".into()));
        let short = Retention { after: Some(SignedDuration::from_hours(50)), ..rule(Basis::Id) };
        assert_eq!(short.describe(), "50 h after the time in its id");
        let limited =
            Retention { max_count: Some(1000), max_total: Some(256 << 20), ..rule(Basis::FolderMtime) };
        let words = "7 d after its folder's last change; the oldest beyond 1,000 files in a directory; \
            the oldest beyond 256 MB in a directory";
        assert_eq!(limited.describe(), words);
        assert_eq!(Retention { after: None, ..rule(Basis::Mtime) }.describe(), "unknown");
    }

    #[test]
    fn by_mtime() {
        let (expiry, rule) =
            rule(Basis::Mtime).expiry(&times("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z"));
        assert_eq!((expiry, rule), (Expiry::At(at("2026-11-08T00:00:00Z")), Rule::Mtime));
        assert_eq!(expiry.left(at("2026-11-07T23:00:00Z")), TimeLeft::For(SignedDuration::from_hours(1)));
        assert_eq!(expiry.left(at("2026-11-08T00:00:00Z")), TimeLeft::Overdue(SignedDuration::ZERO));
        assert_eq!(Expiry::Never.left(at("2026-11-08T00:00:00Z")), TimeLeft::Open);
    }

    #[test]
    fn expiry_by_use_takes_the_later_of_access_and_change() {
        let read_late = times("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z");
        for (accessed, due) in [("2026-11-05T00:00:00Z", 12), ("2026-10-01T00:00:00Z", 8)] {
            let (expiry, of) = rule(Basis::Use).expiry(&Times { accessed: at(accessed), ..read_late });
            assert_eq!((expiry, of), (Expiry::At(at(&format!("2026-11-{due:02}T00:00:00Z"))), Rule::Use));
        }
    }

    #[test]
    fn the_outputs_of_a_dead_process_stay() {
        let dead = Times { alive: Some(false), ..times("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z") };
        assert_eq!(rule(Basis::ProcessExit).expiry(&dead).0, Expiry::Orphaned);
        assert_eq!(
            rule(Basis::ProcessExit).expiry(&Times { alive: Some(true), ..dead }).0,
            Expiry::ProcessExit
        );
    }

    #[test]
    fn by_id_within_one_turn_of_the_clock() {
        assert_eq!(
            by_id("2026-11-01T00:00:00Z", "2026-11-20T00:00:00Z"),
            Expiry::At(at("2026-11-08T00:00:00Z"))
        );
        assert_eq!(
            by_id("2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z"),
            Expiry::At(at("2026-05-08T00:00:00Z"))
        );
    }

    #[test]
    fn by_id_around_the_wrap_of_2026() {
        let fresh = "2026-08-15T00:00:00Z";
        assert_eq!(by_id(fresh, "2026-08-15T01:00:00Z"), Expiry::At(at(fresh)), "fresh files go at once");
        assert_eq!(by_id(fresh, "2026-08-22T00:00:00Z"), Expiry::At(at("2026-08-22T00:00:00Z")));
        let old = "2026-08-14T00:00:00Z";
        assert_eq!(by_id(old, "2026-08-15T00:00:00Z"), Expiry::At(at("2026-08-21T00:00:00Z")));
        assert_eq!(by_id(old, "2026-09-01T00:00:00Z"), Expiry::Never, "old ones stay for good");
    }

    #[test]
    fn expiry_by_id_is_unknown_without_an_id() {
        let times = times("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z");
        assert_eq!(rule(Basis::Id).expiry(&times).0, Expiry::Unknown);
    }

    #[test]
    fn limits_take_the_oldest() {
        let files: Vec<_> =
            [(3, 10), (1, 10), (2, 10)].map(|(s, size)| (Timestamp::from_second(s).unwrap(), size)).into();
        let limit = |max_count, max_total| Retention { max_count, max_total, ..rule(Basis::Mtime) };
        assert_eq!(over_limits(&limit(Some(2), None), &files), [(1, Rule::Count)]);
        assert_eq!(over_limits(&limit(None, Some(10)), &files), [(2, Rule::TotalSize), (1, Rule::TotalSize)]);
        assert_eq!(over_limits(&limit(None, Some(30)), &files), []);
    }
}
