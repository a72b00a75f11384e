//! Tests what a cleaning decides, and in what order.

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::SignedDuration;

use crate::store::*;

use super::{BY_HAND, Home, age, now, old, old_id, own, plan, stayed};

const AUTOMATIC: CleanRule = CleanRule { asked: Trigger::Automatic, ..BY_HAND };

#[test]
fn only_overdue_entries_are_deleted() {
    let home = Home::new();
    let (due, young) = (old(&home, 1, 24 * 8), old(&home, 2, 24 * 6));
    sweep(&Stores::builtin(), &home.env, now()).unwrap();
    assert!(!due.exists() && young.exists());
    let log = || fs::read_to_string(own_home(&home.env).unwrap().join("deletions.log")).unwrap();
    assert_eq!(log().lines().count(), 1);
    assert!(log().contains(r#""size":10,"age_seconds":691200,"rule":"mtime""#), "{}", log());
    sweep(&Stores::builtin(), &home.env, now()).unwrap();
    assert!(log().lines().count() == 1 && young.exists());
}

#[test]
fn a_fresh_id_protects_an_old_mtime() {
    let home = Home::new();
    own(&home, 1, 24 * 8);
    let entries = home.list("overspill");
    assert_eq!(plan(&entries, &BY_HAND).to_delete, []);
    assert_eq!(plan(&entries, &BY_HAND).skipped, [(0, SkipReason::Young)]);
    let older = CleanRule { older_than: crate::base::human::parse_age("1d"), ..BY_HAND };
    assert_eq!(plan(&entries, &older).skipped, [(0, SkipReason::Young)]);
}

#[test]
fn a_fresh_mtime_protects_an_id_of_before_the_wrap() {
    let home = Home::new();
    let toml = "agent = \"opencode\"\nsource = \"x\"\nconfidence = \"source\"\n[[store]]\nroots = [\"~/o\"]\nfiles = [{ name = 'tool_.+' }]\nretention = { by = \"id\", after = \"7d\" }\n";
    home.file(&home.at("stores/o.toml"), toml.as_bytes(), 0);
    let mut stores = Stores::builtin();
    stores.load_dir(&home.at("stores")).unwrap();
    // Created in the days after the wrap of 2026, when the agent's own rule deleted such files at once.
    let wrapped: jiff::Timestamp = "2026-08-15T12:00:00Z".parse().unwrap();
    let path = home.file(&home.at("o/tool_004000000001AbCdEfGhIjKlMn"), b"x", 0);
    File::open(&path).unwrap().set_modified(SystemTime::from(wrapped)).unwrap();
    let entries = list(stores.named("opencode"), &home.env, wrapped).entries;
    assert!(matches!(entries[0].left(wrapped), TimeLeft::Overdue(_)));
    let decided = clean_plan(&entries, wrapped, &BY_HAND);
    assert_eq!((decided.to_delete, decided.skipped), (vec![], vec![(0, SkipReason::Young)]));
}

#[test]
fn oldest_first_down_to_a_total() {
    let home = Home::new();
    for (n, hours) in [(1, 3), (2, 30), (3, 20)] {
        old(&home, n, hours);
    }
    let entries = home.list("overspill");
    let total = |most, asked| plan(&entries, &CleanRule { older_than: None, max_total: Some(most), asked });
    let ages = |plan: CleanPlan| -> Vec<i64> {
        plan.to_delete.iter().map(|to_delete| entries[to_delete.index].age(now()).as_hours()).collect()
    };
    assert_eq!(ages(total(30, Trigger::ByHand)), [0; 0]);
    assert_eq!(ages(total(20, Trigger::ByHand)), [30]);
    assert_eq!(ages(total(19, Trigger::ByHand)), [30, 20]);
    assert_eq!(total(0, Trigger::ByHand).bytes, 30);
}

#[test]
fn a_missed_max_total_lists_entries_that_could_not_go() {
    let home = Home::new();
    let (linked, ahead) = (old(&home, 1, 30), old(&home, 2, 20));
    old(&home, 3, 10);
    fs::hard_link(&linked, home.at("other")).unwrap();
    File::open(ahead).unwrap().set_modified(SystemTime::from(now()) + Duration::from_secs(86_400)).unwrap();
    let entries = home.list("overspill");
    let total = |most| plan(&entries, &CleanRule { max_total: Some(most), ..BY_HAND });
    let skipped = |plan: CleanPlan| -> Vec<_> {
        let status = |(index, _): (usize, SkipReason)| entries[index].status;
        plan.skipped.into_iter().map(status).collect()
    };
    assert_eq!(skipped(total(20)), [], "within it");
    let missed = total(19);
    assert_eq!(missed.to_delete.len(), 1);
    let mut reasons = skipped(missed);
    reasons.sort_by_key(|status| status.describe());
    assert_eq!(reasons, [EntryStatus::HardLinked, EntryStatus::FutureTime]);
}

#[test]
fn nothing_younger_than_an_hour_is_cleaned_automatically() {
    let home = Home::new();
    old(&home, 1, 0);
    old(&home, 2, 2);
    let entries = home.list("overspill");
    let rule = CleanRule { max_total: Some(0), ..AUTOMATIC };
    let decided = plan(&entries, &rule);
    assert_eq!(decided.to_delete.len(), 1);
    assert_eq!(entries[decided.to_delete[0].index].age(now()).as_hours(), 2);
}

#[test]
fn a_clock_that_was_set_back_stops_automatic_cleaning() {
    let home = Home::new();
    old(&home, 1, 24 * 8);
    let newest = own(&home, 2, 0);
    File::open(newest).unwrap().set_modified(SystemTime::from(now()) + Duration::from_secs(60)).unwrap();
    let entries = home.list("overspill");
    assert_eq!(plan(&entries, &AUTOMATIC).to_delete, []);
    assert_eq!(plan(&entries, &BY_HAND).to_delete.len(), 1);
}

#[test]
fn a_time_in_the_future_is_kept() {
    let home = Home::new();
    let path = old(&home, 1, 24 * 8);
    File::open(path).unwrap().set_modified(SystemTime::from(now()) + Duration::from_secs(86_400)).unwrap();
    let entries = home.list("overspill");
    let rule = CleanRule { older_than: Some(SignedDuration::ZERO), max_total: Some(0), ..BY_HAND };
    assert_eq!(plan(&entries, &rule).to_delete, []);
}

#[test]
fn unfinished_spills_go_first_once_their_writer_is_gone() {
    let home = Home::new();
    let store = OwnStore::create(&home.env).unwrap();
    old(&home, 1, 24 * 8);
    let writing = store.begin(now()).unwrap();
    age(&writing.temporary_path(), 2);
    let left = home.file(&store.root().join(format!(".tmp-{}", old_id(2, 5))), b"half", 5);
    let entries = home.list("overspill");
    assert_eq!(entries.iter().filter(|entry| entry.status == EntryStatus::Unfinished).count(), 2);
    let decided = plan(&entries, &BY_HAND);
    assert_eq!(decided.to_delete[0].why, DeleteReason::Unfinished);
    assert_eq!(decided.to_delete[1].why, DeleteReason::Overdue(Rule::Mtime));
    let entry = |path: &Path| entries.iter().find(|entry| entry.path() == path).unwrap();
    assert_eq!(stayed(entry(&writing.temporary_path()), &home), Reason::InUse);
    assert_eq!(delete(entry(&left), DeleteMode::Bulk, &home.env), DeleteOutcome::Deleted);
}

#[test]
fn one_cleaner_holds_the_lock() {
    let home = Home::new();
    let due = old(&home, 1, 24 * 8);
    let first = Cleaner::start(&home.env).unwrap();
    assert!(first.is_some());
    assert!(Cleaner::start(&home.env).unwrap().is_none());
    sweep(&Stores::builtin(), &home.env, now()).unwrap();
    assert!(due.exists());
    drop(first);
    assert!(Cleaner::start(&home.env).unwrap().is_some());
}

#[test]
fn pending_deletions_are_undone_step_by_step() {
    let home = Home::new();
    for n in 1..=3 {
        old(&home, n, 240);
    }
    let entries = home.list("overspill");
    let mut pending = Pending::default();
    let mark = |entry: &Entry| PendingDelete {
        entry: entry.clone(),
        why: DeleteReason::Requested { knows_kept: false },
        mode: DeleteMode::Single,
        called: entry.called(Default::default()),
    };
    assert_eq!(pending.mark([mark(&entries[0])]), 1);
    assert_eq!(pending.mark(entries.iter().map(mark)), 2);
    assert_eq!(pending.mark(entries.iter().map(mark)), 0);
    assert_eq!((pending.len(), pending.bytes()), (3, 30));
    assert_eq!(pending.undo().len(), 2);
    assert!(pending.contains(&entries[0].path()) && !pending.contains(&entries[1].path()));
    assert!(entries.iter().all(|entry| entry.path().exists()));
    pending.mark([mark(&entries[2])]);
    assert_eq!(pending.bytes(), 20);
    let taken: Vec<_> = pending.take().into_iter().map(|marked| marked.entry.id().into_owned()).collect();
    assert_eq!(taken, [entries[0].id().into_owned(), entries[2].id().into_owned()]);
    assert!(pending.is_empty() && pending.undo().is_empty());
}
