//! Properties of every cleaning, whatever the entries; and of sorting and sums.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::sync::{Arc, LazyLock};

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;

use crate::source::{FileTime, Identity};
use crate::store::*;

use super::{Home, now, old};

/// What differs between the entries of a case: hours since mtime and since the id was created, size, status and whether
/// it is kept.
type Row = (i64, Option<i64>, u64, usize, bool);

const STATUSES: [EntryStatus; 4] =
    [EntryStatus::Ok, EntryStatus::Ok, EntryStatus::Unfinished, EntryStatus::HardLinked];

/// An entry of overspill's own store, from which all others are derived.
static MODEL: LazyLock<Entry> = LazyLock::new(|| {
    let home = Home::new();
    old(&home, 1, 1);
    home.list("overspill").remove(0)
});

fn entries(rows: &[Row]) -> Vec<Entry> {
    let hours = |hours: i64| now().checked_sub(SignedDuration::from_hours(hours)).unwrap();
    let entry = |(n, row): (usize, &Row)| {
        let mut entry = MODEL.clone();
        let id = row.1.map(|made| new_id(hours(made), n as u16, [0; 12]));
        entry.name = OsStr::new(&id.unwrap_or(format!("undated-{n}"))).into();
        entry.id_at = None;
        entry.identity.modified = FileTime { seconds: hours(row.0).as_second(), nanos: 0 };
        entry.identity.size = row.2;
        entry.status = STATUSES[row.3];
        entry.expires = Expiry::At(hours(row.0 - 24 * 7));
        entry.rule = if row.4 { Rule::Kept } else { entry.rule };
        entry
    };
    rows.iter().enumerate().map(entry).collect()
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let hours = 0..24 * 20i64;
    proptest::collection::vec(
        (hours.clone(), proptest::option::of(hours), 0..100u64, 0..4usize, any::<bool>()),
        0..12,
    )
}

fn rules() -> impl Strategy<Value = CleanRule> {
    let older_than = proptest::option::of((0..24 * 10i64).prop_map(SignedDuration::from_hours));
    let asked = prop_oneof![Just(Trigger::ByHand), Just(Trigger::Automatic)];
    (older_than, proptest::option::of(0..600u64), asked)
        .prop_map(|(older_than, max_total, asked)| CleanRule { older_than, max_total, asked })
}

proptest! {
    #[test]
    fn plans_to_delete_only_permitted_entries(rows in rows(), rule in rules()) {
        let entries = entries(&rows);
        let plan = clean_plan(&entries, now(), &rule);
        let mut seen = BTreeSet::new();
        for PlannedDelete { index, why } in &plan.to_delete {
            let (entry, age) = (&entries[*index], entries[*index].safe_age(now()));
            prop_assert!(seen.insert(*index));
            prop_assert!(!entry.is_kept());
            prop_assert!(matches!(entry.status, EntryStatus::Ok | EntryStatus::Unfinished));
            prop_assert!(rule.asked == Trigger::ByHand || age >= SignedDuration::from_hours(1));
            match why {
                DeleteReason::Unfinished => prop_assert!(entry.status == EntryStatus::Unfinished),
                DeleteReason::Old => prop_assert!(age >= rule.older_than.unwrap()),
                DeleteReason::Overdue(_) => prop_assert!(age >= SignedDuration::from_hours(24 * 7)),
                DeleteReason::OverTotal => prop_assert!(rule.max_total.is_some() && entry.status == EntryStatus::Ok),
                DeleteReason::Requested { .. } => prop_assert!(false),
            }
        }
        prop_assert_eq!(plan.bytes, seen.iter().map(|&index| entries[index].size()).sum::<u64>());
        prop_assert!(plan.skipped.iter().all(|(index, _)| !seen.contains(index)));
    }

    #[test]
    fn max_total_deletes_the_oldest_entries_first(rows in rows(), most in 0..600u64) {
        let entries = entries(&rows);
        let rule = CleanRule { older_than: None, max_total: Some(most), asked: Trigger::ByHand };
        let plan = clean_plan(&entries, now(), &rule);
        let gone: BTreeSet<_> = plan.to_delete.iter().map(|to_delete| to_delete.index).collect();
        let left: Vec<_> = (0..entries.len()).filter(|index| !gone.contains(index)).collect();
        let free = |index: &&usize| entries[**index].status == EntryStatus::Ok && !entries[**index].is_kept();
        let total: u64 = left.iter().map(|&index| entries[index].size()).sum();
        let skipped: BTreeSet<_> = plan.skipped.iter().map(|(index, _)| *index).collect();
        let youngest_free = left.iter().filter(free).filter(|index| !skipped.contains(index));
        prop_assert!(total <= most || youngest_free.clone().next().is_none());
        let oldest_left = youngest_free.map(|&index| entries[index].safe_age(now())).max();
        for to_delete in plan.to_delete.iter().filter(|to_delete| to_delete.why == DeleteReason::OverTotal) {
            prop_assert!(oldest_left.is_none_or(|age| entries[to_delete.index].safe_age(now()) >= age));
        }
    }

    #[test]
    fn an_id_tells_when_it_was_made(millis in 0..4_102_444_800_000i64, away in -300i64..300, counter in 1u16..16) {
        let made = jiff::Timestamp::from_millisecond(millis).unwrap();
        let near = jiff::Timestamp::from_millisecond((millis + away * 86_400_000).max(0)).unwrap();
        let id = parse_id(new_id(made, counter, [7; 12]).as_bytes()).unwrap();
        prop_assert_eq!((id.form, id.time(near)), (IdForm::Eight, Some(made)));
        let six = format!("tool_{:012x}zzzzzzzzzzzzzz", ((millis << 12) | i64::from(counter)) & 0xffff_ffff_ffff);
        let id = parse_id(six.as_bytes()).unwrap();
        prop_assert_eq!((id.form, id.time(near)), (IdForm::Six, Some(made)));
    }

    #[test]
    fn every_order_is_total(rows in rows()) {
        let mut entries = entries(&rows);
        for by in SortBy::ALL {
            entries.sort_by(|a, b| by.compare(a, b));
            prop_assert!(entries.windows(2).all(|pair| by.compare(&pair[0], &pair[1]).is_lt()));
        }
    }
}

/// Entries that vary in every sort key, but often agree.
fn various() -> impl Strategy<Value = Vec<Entry>> {
    let word = || proptest::option::of("(same-start-|)[a-c]?");
    let entry = (
        0..3i64,
        0..2u32,
        0..3u64,
        word(),
        word(),
        "[a-bB-Cé]{0,2}(the-very-same-start)?[0-9]{1,3}",
        0..3i64,
    );
    proptest::collection::vec(entry, 0..16).prop_map(|rows| {
        let various = |(seconds, nanos, size, tool, session, name, due): (
            _,
            _,
            _,
            Option<String>,
            Option<String>,
            String,
            i64,
        )| {
            let mut entry = MODEL.clone();
            let origin = Arc::make_mut(&mut entry.origin);
            (origin.tool, origin.session) = (tool.map(Arc::from), session.map(Arc::from));
            entry.identity = Identity { size, modified: FileTime { seconds, nanos }, ..entry.identity };
            entry.name = OsStr::new(&name).into();
            entry.id_at = None;
            entry.expires =
                if due == 0 { Expiry::Never } else { Expiry::At(Timestamp::new(due, nanos as i32).unwrap()) };
            entry
        };
        let mut entries: Vec<Entry> = rows.into_iter().map(various).collect();
        entries.sort_by(|a, b| a.name().cmp(b.name()));
        entries.dedup_by(|a, b| a.name() == b.name());
        entries
    })
}

proptest! {
    #[test]
    fn sorting_by_keys_agrees_with_comparing(entries in various()) {
        let numbers: Vec<u32> = (0..entries.len() as u32).collect();
        for by in SortBy::ALL {
            let mut compared = numbers.clone();
            compared.sort_by(|a, b| by.compare(&entries[*a as usize], &entries[*b as usize]));
            prop_assert_eq!(by.order(&numbers, |n| &entries[n as usize]), compared, "{:?}", by);
        }
    }
}
