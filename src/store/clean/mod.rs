//! Decides which entries a cleaning deletes, for [`delete`](self::delete) to act on, and remembers those marked by hand: pure.

pub(crate) mod delete;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use crate::text::label::SafeText;

use super::{DeleteMode, Entry, EntryStatus, Rule, TimeLeft, sum};

/// An automatic cleaning deletes nothing younger than this, and no cleaning an unfinished spill that is, or a record without
/// a spill: that may be about to get its final name.
pub(crate) const YOUNG: SignedDuration = SignedDuration::from_hours(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// The user, who sees the plan first.
    ByHand,
    /// Nobody: it happens once per run.
    Automatic,
}

#[derive(Clone, Copy, Debug)]
pub struct CleanRule {
    /// Delete everything older than this; `None`: what is overdue by its store's own rule.
    pub older_than: Option<SignedDuration>,
    /// Then delete the oldest until at most this many bytes are left.
    pub max_total: Option<u64>,
    pub asked: Trigger,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteReason {
    /// A temporary file that its writer left behind.
    Unfinished,
    /// Its store's own rule should have deleted it.
    Overdue(Rule),
    Old,
    OverTotal,
    /// Named by the user, who may know that it is kept.
    Requested {
        knows_kept: bool,
    },
}

impl DeleteReason {
    pub fn as_str(self) -> &'static str {
        match self {
            DeleteReason::Unfinished => "unfinished",
            DeleteReason::Overdue(rule) => rule.as_str(),
            DeleteReason::Old => "older-than",
            DeleteReason::OverTotal => "max-total",
            DeleteReason::Requested { .. } => "asked",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedDelete {
    pub index: usize,
    pub why: DeleteReason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipReason {
    Kept,
    /// Not a regular file of the user with a single name; the status says why.
    Unusual(EntryStatus),
    /// Due by its store's rule, but young by its own times.
    Young,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CleanPlan {
    /// What to delete, in this order: unfinished, due, then the oldest.
    pub to_delete: Vec<PlannedDelete>,
    /// Entries that are due, or may be, but not deleted, by index.
    pub skipped: Vec<(usize, SkipReason)>,
    pub bytes: u64,
}

/// Decides what to delete. An entry newer than the clock stops an automatic cleaning: the clock must be wrong.
pub fn clean_plan<'a>(
    entries: impl IntoIterator<Item = &'a Entry>,
    now: Timestamp,
    rule: &CleanRule,
) -> CleanPlan {
    let entries: Vec<&Entry> = entries.into_iter().collect();
    let automatic = rule.asked == Trigger::Automatic;
    let mut plan = CleanPlan::default();
    if automatic && entries.iter().any(|entry| entry.modified() > now) {
        return plan;
    }
    let floor = if automatic { YOUNG } else { SignedDuration::ZERO };
    let mut staying = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        match judge(entry, now, rule, floor) {
            Some(Ok(why)) => plan.to_delete.push(PlannedDelete { index, why }),
            Some(Err(why)) => plan.skipped.push((index, why)),
            None => staying.push(index),
        }
    }
    plan.to_delete.sort_by_key(|to_delete| (to_delete.why != DeleteReason::Unfinished, to_delete.index));
    let gone: u128 = plan.to_delete.iter().map(|to_delete| u128::from(entries[to_delete.index].size())).sum();
    if let Some(most) = rule.max_total {
        let total: u128 = entries.iter().map(|entry| u128::from(entry.size())).sum();
        let over = (total - gone).saturating_sub(most.into()).try_into().unwrap_or(u64::MAX);
        let hindrance = |index: usize| match entries[index].status {
            EntryStatus::Unfinished => Some(SkipReason::Unusual(EntryStatus::Unfinished)),
            _ => hindrance(entries[index], now, floor),
        };
        let open = staying.iter().copied().filter(|&index| hindrance(index).is_none());
        let (oldest, missed) = over_total(&entries, open.collect(), over, now);
        plan.to_delete.extend(oldest);
        let hinder = staying.into_iter().filter_map(|index| Some((index, hindrance(index)?)));
        plan.skipped.extend(hinder.filter(|_| missed > 0));
    }
    plan.bytes = sum(plan.to_delete.iter().map(|to_delete| entries[to_delete.index].size()));
    plan
}

/// Returns why to delete an entry, or to skip one that is or may be due; `None` if it is not due.
fn judge(
    entry: &Entry,
    now: Timestamp,
    rule: &CleanRule,
    floor: SignedDuration,
) -> Option<Result<DeleteReason, SkipReason>> {
    if let EntryStatus::Unreadable(_) = entry.status {
        // Whether it is due is unknown.
        return Some(Err(SkipReason::Unusual(entry.status)));
    }
    let why = match (entry.status == EntryStatus::Unfinished, rule.older_than) {
        (true, _) => (entry.safe_age(now) > YOUNG).then_some(DeleteReason::Unfinished),
        (false, Some(limit)) => (entry.age(now) > limit).then_some(DeleteReason::Old),
        (false, None) => {
            matches!(entry.left(now), TimeLeft::Overdue(_)).then_some(DeleteReason::Overdue(entry.rule))
        }
    }?;
    let enough = match why {
        DeleteReason::Old => rule.older_than,
        DeleteReason::Overdue(Rule::Mtime | Rule::Use | Rule::Id) => entry.place().retention.after,
        _ => None,
    };
    Some(hindrance(entry, now, enough.unwrap_or_default().max(floor)).map_or(Ok(why), Err))
}

/// Returns why an entry may not be deleted that has to be at least this old.
fn hindrance(entry: &Entry, now: Timestamp, enough: SignedDuration) -> Option<SkipReason> {
    match entry.status {
        EntryStatus::Ok | EntryStatus::Unfinished if entry.is_kept() => Some(SkipReason::Kept),
        EntryStatus::Ok | EntryStatus::Unfinished => {
            (entry.safe_age(now) < enough).then_some(SkipReason::Young)
        }
        unusual => Some(SkipReason::Unusual(unusual)),
    }
}

/// Returns the oldest of `open` that together have at least `excess` bytes, and how many bytes they lack.
fn over_total(
    entries: &[&Entry],
    mut open: Vec<usize>,
    mut excess: u64,
    now: Timestamp,
) -> (Vec<PlannedDelete>, u64) {
    open.sort_by_key(|&index| std::cmp::Reverse(entries[index].safe_age(now)));
    let mut to_delete = Vec::new();
    for index in open {
        if excess == 0 {
            break;
        }
        excess = excess.saturating_sub(entries[index].size());
        to_delete.push(PlannedDelete { index, why: DeleteReason::OverTotal });
    }
    (to_delete, excess)
}

#[derive(Clone, Debug)]
pub struct PendingDelete {
    pub entry: Entry,
    pub why: DeleteReason,
    pub mode: DeleteMode,
    /// What the list calls it.
    pub called: SafeText,
}

/// Entries marked to be deleted, by steps. Pure: the caller takes them and acts.
#[derive(Clone, Debug, Default)]
pub struct Pending {
    steps: Vec<Vec<PathBuf>>,
    entries: HashMap<PathBuf, PendingDelete>,
    bytes: u128,
}

impl Pending {
    /// Marks entries in one step, except those already marked. Returns how many are new.
    pub fn mark(&mut self, entries: impl IntoIterator<Item = PendingDelete>) -> usize {
        let mut step = Vec::new();
        for marked in entries {
            let path = marked.entry.path();
            if !self.entries.contains_key(&path) {
                self.bytes += u128::from(marked.entry.size());
                self.entries.insert(path.clone(), marked);
                step.push(path);
            }
        }
        let marked = step.len();
        if marked > 0 {
            self.steps.push(step);
        }
        marked
    }

    /// Undoes the last step. Returns the paths that are no longer marked.
    pub fn undo(&mut self) -> Vec<PathBuf> {
        let step = self.steps.pop().unwrap_or_default();
        for path in &step {
            if let Some(marked) = self.entries.remove(path) {
                self.bytes -= u128::from(marked.entry.size());
            }
        }
        step
    }

    pub fn contains(&self, path: &Path) -> bool {
        self.entries.contains_key(path)
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn only(&self) -> Option<&PendingDelete> {
        self.entries.values().next().filter(|_| self.entries.len() == 1)
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.try_into().unwrap_or(u64::MAX)
    }

    /// Takes all marked entries, in the order in which they were marked, to be deleted now.
    pub fn take(&mut self) -> Vec<PendingDelete> {
        let Pending { steps, mut entries, .. } = std::mem::take(self);
        steps.into_iter().flatten().filter_map(|path| entries.remove(&path)).collect()
    }
}
