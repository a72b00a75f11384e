//! Which entries a cleaning would delete. Pure: it decides, and [`delete`](self::delete) acts.

pub(crate) mod delete;
pub(crate) mod pending;

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::{Entry, EntryStatus, Left, Rule, sum};

/// Nothing younger is deleted by an automatic cleaning, and no unfinished spill by any.
const HOUR: SignedDuration = SignedDuration::from_hours(1);

/// Who asked for a cleaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The user, who sees the plan first.
    ByHand,
    /// Nobody: it happens once a run.
    Automatic,
}

/// What a cleaning is to delete.
#[derive(Clone, Copy, Debug)]
pub struct CleanRule {
    /// Everything older than this; `None`: what is overdue by its store's own rule.
    pub older_than: Option<SignedDuration>,
    /// Then the oldest, until no more than so many bytes are left.
    pub max_total: Option<u64>,
    /// Who asked.
    pub asked: Trigger,
}

/// Why an entry goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A temporary file that its writer left behind.
    Unfinished,
    /// Its store's own rule should have deleted it.
    Overdue(Rule),
    /// It is older than was asked.
    Old,
    /// It is among the oldest beyond the total.
    OverTotal,
    /// The user named it.
    Asked,
}

impl Why {
    /// In words, as logged.
    pub fn as_str(self) -> &'static str {
        match self {
            Why::Unfinished => "unfinished",
            Why::Overdue(rule) => rule.as_str(),
            Why::Old => "older-than",
            Why::OverTotal => "max-total",
            Why::Asked => "asked",
        }
    }
}

/// One entry that goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToDelete {
    /// Its index in what was listed.
    pub index: usize,
    /// Why.
    pub why: Why,
}

/// Why an entry that is due stays all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skipped {
    /// The user keeps it.
    Kept,
    /// It is not an ordinary file of the user's; the status says which.
    Unusual(EntryStatus),
    /// Its store calls it overdue, but by its own times it is young.
    Young,
}

/// What a cleaning would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleanPlan {
    /// What goes, in the order in which it goes: unfinished, due, then the oldest.
    pub to_delete: Vec<ToDelete>,
    /// What is due and stays, by index.
    pub skipped: Vec<(usize, Skipped)>,
    /// Bytes that go.
    pub bytes: u64,
}

/// Decides what goes. `kept` has the ids that the user keeps in overspill's own store. An automatic
/// cleaning does nothing when an entry is newer than the clock: then the clock is wrong.
pub fn clean_plan<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    kept: &BTreeSet<String>,
    now: Timestamp,
    rule: &CleanRule,
) -> CleanPlan {
    let entries: Vec<&Entry> = entries.into_iter().collect();
    let automatic = rule.asked == Trigger::Automatic;
    let mut plan = CleanPlan::default();
    if automatic && entries.iter().any(|entry| entry.modified() > now) {
        return plan;
    }
    let floor = if automatic { HOUR } else { SignedDuration::ZERO };
    let mut staying = Vec::new();
    let mut to_delete = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        match judge(entry, kept, now, rule, floor) {
            Verdict::Goes(why) => to_delete.push(ToDelete { index, why }),
            Verdict::Skipped(why) => plan.skipped.push((index, why)),
            Verdict::Stays => staying.push(index),
        }
    }
    to_delete.sort_by_key(|to_delete| (to_delete.why != Why::Unfinished, to_delete.index));
    let gone: u128 = to_delete.iter().map(|to_delete| u128::from(entries[to_delete.index].size())).sum();
    if let Some(most) = rule.max_total {
        let total: u128 = entries.iter().map(|entry| u128::from(entry.size())).sum();
        let over = (total - gone).saturating_sub(most.into()).try_into().unwrap_or(u64::MAX);
        let open = staying.into_iter().filter(|&index| may_go(entries[index], kept, now, floor));
        to_delete.extend(over_total(&entries, open.collect(), over, now));
    }
    plan.bytes = sum(to_delete.iter().map(|to_delete| entries[to_delete.index].size()));
    plan.to_delete = to_delete;
    plan
}

enum Verdict {
    Goes(Why),
    Skipped(Skipped),
    Stays,
}

fn judge(
    entry: &Entry,
    kept: &BTreeSet<String>,
    now: Timestamp,
    rule: &CleanRule,
    floor: SignedDuration,
) -> Verdict {
    let age = entry.safe_age(now);
    let why = match (entry.status == EntryStatus::Unfinished, rule.older_than) {
        (true, _) => (age > HOUR).then_some(Why::Unfinished),
        (false, Some(limit)) => (entry.age(now) > limit).then_some(Why::Old),
        (false, None) => matches!(entry.left(now), Left::Overdue(_)).then_some(Why::Overdue(entry.rule)),
    };
    let Some(why) = why else { return Verdict::Stays };
    let enough = match why {
        Why::Old => rule.older_than,
        Why::Overdue(Rule::Mtime | Rule::Id) => entry.place().after,
        _ => None,
    };
    match &entry.status {
        EntryStatus::Ok | EntryStatus::Unfinished if is_kept(entry, kept) => Verdict::Skipped(Skipped::Kept),
        EntryStatus::Ok | EntryStatus::Unfinished if age >= enough.unwrap_or_default().max(floor) => {
            Verdict::Goes(why)
        }
        EntryStatus::Ok | EntryStatus::Unfinished => Verdict::Skipped(Skipped::Young),
        unusual => Verdict::Skipped(Skipped::Unusual(*unusual)),
    }
}

/// Only overspill's own store has marks, so only its ids are compared.
fn is_kept(entry: &Entry, kept: &BTreeSet<String>) -> bool {
    entry.is_own() && kept.contains(&*entry.id())
}

fn may_go(entry: &Entry, kept: &BTreeSet<String>, now: Timestamp, floor: SignedDuration) -> bool {
    entry.status == EntryStatus::Ok && !is_kept(entry, kept) && entry.safe_age(now) >= floor
}

/// The oldest of `open` that together have at least `excess` bytes.
fn over_total(entries: &[&Entry], mut open: Vec<usize>, mut excess: u64, now: Timestamp) -> Vec<ToDelete> {
    open.sort_by_key(|&index| std::cmp::Reverse(entries[index].safe_age(now)));
    let mut to_delete = Vec::new();
    for index in open {
        if excess == 0 {
            break;
        }
        excess = excess.saturating_sub(entries[index].size());
        to_delete.push(ToDelete { index, why: Why::OverTotal });
    }
    to_delete
}
