//! Lists of many stored outputs, and lists that change meanwhile: their cost, and what keys act on.

use std::fs;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use overspill::internals::rows::BATCH;
use overspill::internals::store::{self, DeleteMode, Entry, Env, ScanStep};
use overspill::internals::tui::app::{Effect, Event, OutputsEvent};

use crate::common::bench::{Bench, looked_at};

/// More than are sorted between two keys.
const MANY: usize = 3 * BATCH;

/// Creates a home directory with this many entries, the first one the youngest, and screens that show it.
fn stocked(count: usize) -> (tempfile::TempDir, Bench) {
    let dir = tempfile::tempdir().unwrap();
    let mut bench = Bench::new((80, 24));
    bench.env = Env::hermetic(dir.path());
    for n in 0..count {
        put(&dir, &bench, n, n as u64);
    }
    (dir, bench)
}

fn name(n: usize) -> String {
    format!("tool_c8d4f08d5001{n:014}")
}

fn put(dir: &tempfile::TempDir, bench: &Bench, n: usize, minutes: u64) -> std::path::PathBuf {
    let store = dir.path().join(".local/share/opencode/tool-output");
    fs::create_dir_all(&store).unwrap();
    let path = store.join(name(n));
    let file = fs::File::create(&path).unwrap();
    let then = std::time::SystemTime::from(bench.now) - std::time::Duration::from_secs(minutes * 60);
    file.set_modified(then).unwrap();
    path
}

fn press(bench: &mut Bench, key: char) -> Vec<Effect> {
    bench.update(Event::Key(KeyEvent::new(KeyCode::Char(key), KeyModifiers::NONE)))
}

/// Has the list reversed; returns what a worker is asked for.
fn sort(bench: &mut Bench) -> Vec<Effect> {
    bench.keys("s");
    press(bench, 'w')
}

fn chosen(bench: &Bench) -> String {
    bench.stores().list.chosen().map(|row| row.entry.id().into_owned()).unwrap_or_default()
}

/// Delivers a scan batch by batch, as a worker does.
fn stream(bench: &mut Bench, entries: Vec<Entry>, mut between: impl FnMut(&mut Bench)) {
    let (now, user) = (bench.now, bench.env.uid());
    bench.update(OutputsEvent::Scanned(ScanStep::Begun { now, user, kept: Default::default() }));
    let mut entries = entries.into_iter().peekable();
    while entries.peek().is_some() {
        let some = entries.by_ref().take(BATCH / 8).collect();
        let effects = bench.update(OutputsEvent::Scanned(ScanStep::Some(some)));
        bench.carry_out(effects);
        between(bench);
    }
    let effects = bench.update(OutputsEvent::Scanned(ScanStep::All(Vec::new())));
    bench.carry_out(effects);
}

#[test]
fn a_long_list_fills_in_at_bounded_cost() {
    let (_dir, mut bench) = stocked(MANY);
    let entries = store::list(&looked_at(), &bench.env, bench.now).entries;
    let mut shown = Vec::new();
    stream(&mut bench, entries, |bench| shown.push(bench.stores().list.len()));
    assert_eq!(shown[0], BATCH / 8, "the first ones at once");
    assert!(shown.windows(2).all(|pair| pair[0] <= pair[1]));
    let list = &bench.stores().list;
    assert_eq!((list.len(), list.rows().len()), (MANY, MANY));
    assert!(list.arranged <= 6 * MANY as u64, "{} put in order", list.arranged);
    assert_eq!(chosen(&bench), name(0), "the youngest, since no key has been pressed");
    let before = bench.stores().list.arranged;
    for key in ["j", "f", "G", "k", "b", "g", " "] {
        bench.keys(key).draw();
    }
    assert_eq!(bench.stores().list.arranged, before, "moving puts nothing in order");
}

#[test]
fn keys_typed_ahead_wait_for_the_requested_rows() {
    let (_dir, mut bench) = stocked(MANY);
    let effects = bench.start_with_stores();
    bench.carry_out(effects);
    bench.keys("/00000000012100<Esc>/");
    let mut tasks = Vec::new();
    for key in "00000000012100".chars() {
        tasks.extend(press(&mut bench, key));
    }
    tasks.extend(bench.update(Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE))));
    for key in ['j', 'k', 'x'] {
        tasks.extend(press(&mut bench, key));
    }
    assert!(bench.app.pending().is_none(), "nothing is done to the rows of before");
    bench.carry_out(tasks);
    let to_delete = bench.app.take_pending();
    let ids: Vec<_> = to_delete.iter().map(|marked| marked.entry.id().into_owned()).collect();
    assert_eq!(ids, [name(12_100)]);
    assert_eq!(to_delete[0].mode, DeleteMode::Single);
}

#[test]
fn filter_text_typed_ahead_is_not_taken_for_keys() {
    let (_dir, mut bench) = stocked(MANY);
    let effects = bench.start_with_stores();
    bench.carry_out(effects);
    bench.keys("x");
    let mut tasks = sort(&mut bench);
    for key in "/x!q5".chars() {
        tasks.extend(press(&mut bench, key));
    }
    bench.carry_out(tasks);
    assert_eq!(bench.stores().list.filter_text(), "x!q5");
    assert_eq!(
        bench.app.pending().map(overspill::internals::store::Pending::len),
        Some(1),
        "only the one of before"
    );
    let asked = |bench: &Bench| {
        bench.asked.iter().filter(|effect| matches!(effect, Effect::Delete(_) | Effect::Quit(_))).count()
    };
    assert_eq!(asked(&bench), 0, "neither deleted nor left");
}

#[test]
fn keys_typed_after_opening_do_not_act_on_the_list() {
    let (_dir, mut bench) = stocked(MANY);
    let effects = bench.start_with_stores();
    bench.carry_out(effects);
    let mut tasks = sort(&mut bench);
    tasks.extend(bench.update(Event::Key(KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE))));
    tasks.extend(press(&mut bench, 'x'));
    bench.carry_out(tasks);
    assert!(bench.asked.iter().any(|effect| matches!(effect, Effect::Open(_))));
    assert!(bench.app.pending().is_none());
}

#[test]
fn cursor_and_marks_stay_on_their_entries_when_others_come_and_go() {
    let (dir, mut bench) = stocked(60);
    let effects = bench.start_with_stores();
    bench.carry_out(effects);
    bench.keys("30j  ");
    let row = |bench: &Bench| bench.rows().iter().position(|row| row.starts_with('▌'));
    let (before, at) = (chosen(&bench), row(&bench));
    for n in 100..105 {
        put(&dir, &bench, n, 0);
    }
    fs::remove_file(put(&dir, &bench, 3, 0)).unwrap();
    fs::remove_file(put(&dir, &bench, 31, 0)).unwrap();
    let effects = bench.update(OutputsEvent::Changed);
    bench.carry_out(effects);
    assert_eq!((chosen(&bench), row(&bench)), (before, at));
    assert_eq!(bench.stores().list.rows().len(), 63);
    let marked: Vec<_> =
        bench.stores().list.marked_or_chosen().iter().map(|row| row.entry.id().into_owned()).collect();
    assert_eq!(marked, [name(30)], "the other one is gone");
}

#[test]
fn lists_the_oldest_overdue_outputs_and_marks_them_all() {
    let (dir, mut bench) = stocked(0);
    for n in 0..2_003 {
        put(&dir, &bench, n, 8 * 24 * 60 + n as u64);
    }
    let effects = bench.start_with_stores();
    bench.carry_out(effects);
    let rows = bench.keys("X").rows();
    assert!(rows.iter().any(|row| row.contains("Overdue: 2,003 outputs")), "{rows:#?}");
    assert!(rows.iter().any(|row| row.contains("002002 ")), "the oldest: {rows:#?}");
    let rows = bench.keys("G").rows();
    assert!(rows.iter().any(|row| row.contains("and 3 more")), "{rows:#?}");
    bench.keys("<Enter>");
    assert_eq!(bench.app.take_pending().len(), 2_003);
}

#[test]
fn marks_only_the_outputs_shown_as_overdue() {
    let (dir, mut bench) = stocked(0);
    let week = 7 * 24 * 60;
    for n in 0..3 {
        put(&dir, &bench, n, week + 60 + n as u64);
    }
    let effects = bench.start_with_stores();
    bench.carry_out(effects);
    bench.keys("X");
    for n in 10..20 {
        put(&dir, &bench, n, n as u64);
    }
    fs::remove_file(put(&dir, &bench, 0, 0)).unwrap();
    let effects = bench.update(OutputsEvent::Changed);
    bench.carry_out(effects);
    bench.keys("<Enter>");
    let to_delete = bench.app.take_pending();
    let mut ids: Vec<_> = to_delete.iter().map(|marked| marked.entry.id().into_owned()).collect();
    ids.sort();
    assert_eq!(ids, [name(0), name(1), name(2)], "gone or not, but none that came");
    assert!(to_delete.iter().all(|marked| marked.mode == DeleteMode::Bulk && marked.why.as_str() == "mtime"));
}

#[test]
fn marking_an_undeletable_entry_gives_the_reason() {
    let (dir, mut bench) = stocked(1);
    let store = dir.path().join(".local/share/opencode/tool-output");
    std::os::unix::fs::symlink(store.join(name(0)), store.join(name(1))).unwrap();
    fs::hard_link(put(&dir, &bench, 2, 5), dir.path().join("elsewhere")).unwrap();
    let effects = bench.start_with_stores();
    bench.carry_out(effects);
    bench.keys("/00001<Enter>x");
    assert!(bench.status().contains("symbolic link: not deleted by overspill"), "{}", bench.status());
    bench.keys("<Esc>/00002<Enter>x");
    assert!(bench.status().contains("other names (hard link), which stay"), "{}", bench.status());
    bench.keys("U<Esc>g   x");
    let to_delete = bench.app.take_pending();
    let ids: Vec<_> = to_delete.iter().map(|marked| marked.entry.id().into_owned()).collect();
    assert_eq!(ids, [name(0)], "of several, neither the link nor what has other names");
}
