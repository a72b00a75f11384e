//! The user's own keys: what they do, and that the screens show them.

use overspill::internals::config::KeySetting;
use overspill::internals::tui::keys::KeyMap;
use overspill::internals::tui::widget::canvas::Canvas;

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;
use crate::common::samples::test_log;

use super::stores::Stocked;

const WIDE: (u16, u16) = (200, 50);

/// Opens an output with keys as `[keys]` has them.
fn open(size: (u16, u16), own: &[(&str, &[&str])]) -> Bench {
    let setting = |(name, keys): &(&str, &[&str])| KeySetting {
        name: (*name).to_owned(),
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
        line: 1,
    };
    let settings: Vec<KeySetting> = own.iter().map(setting).collect();
    let keys = Box::leak(Box::new(KeyMap::with_own(&settings).expect("keys")));
    let home = Home::new();
    let mut bench = Bench::open(size, &home.file("build.log", test_log(8432)), policy("opencode/output"));
    bench.repaint(Canvas { keys, ..bench.app.canvas });
    bench
}

fn shows(bench: &Bench, words: &str) {
    let rows = bench.rows();
    assert!(rows.iter().any(|row| row.contains(words)), "{words}\n{}", rows.join("\n"));
}

#[test]
fn a_configured_key_works_and_the_default_one_stops() {
    let mut bench = open((80, 24), &[("search", &["ctrl-f", "f4"]), ("page-down", &["space"])]);
    shows(bench.keys("<^f>"), "Enter search");
    bench.keys("<Esc>/");
    assert!(bench.app.layers().next().is_none());
    shows(&bench, "/ does nothing here; h for help");
}

#[test]
fn footer_and_messages_name_own_keys() {
    let own: &[(&str, &[&str])] = &[
        ("next-cut", &["f3"]),
        ("search", &["f4"]),
        ("help", &["f2"]),
        ("other-view", &[]),
        ("back", &["esc"]),
    ];
    let mut bench = open((110, 24), own);
    shows(&bench, "e error  F3 cut  [ ] window");
    shows(bench.keys("n"), "no search yet; F4 to search");
    shows(bench.keys("1200x"), "F2 for help");
}

#[test]
fn help_shows_own_keys() {
    let own: &[(&str, &[&str])] = &[
        ("end", &["E", "ctrl-e", "end", "pgdn", "f11", "f12"]),
        ("down", &["j"]),
        ("page-down", &["space"]),
        ("next-error", &["e"]),
        ("previous-error", &[]),
        ("limits", &["f5"]),
    ];
    let mut bench = open(WIDE, own);
    bench.keys("h");
    shows(&bench, " e   next error ");
    shows(&bench, " F5   change the limits ");
    shows(&bench, " g < Home E ^E End start, end");
    shows(bench.keys("/"), "/ does nothing in help; h closes it");
    shows(bench.keys("<Tab>"), "E ^E End PgDn F11 F12 to the end, or line 5: 5G");
    assert!(!bench.rows().iter().any(|row| row.contains("previous error")));
}

#[test]
fn drawer_and_choices_show_own_keys() {
    let own: &[(&str, &[&str])] =
        &[("limits-reset", &["f7"]), ("limits-keep-line", &["f8"]), ("copy", &["Y"])];
    let mut bench = open(WIDE, own);
    shows(bench.keys("l"), "F7 reset");
    shows(bench.keys("<Esc><Tab>4000Gl"), "F8 applies it");
    shows(bench.keys("<Esc>V"), "Y copies");
}

/// Keys that do something in some lists only, with their words in help.
const SOME: [(&str, &str); 8] = [
    ("x", "mark for deletion"),
    ("D", "delete those marked"),
    ("U", "undo the last of them"),
    ("X", "overdue outputs"),
    ("K", "keep forever"),
    ("a", "apply a setting"),
    ("e", "judge settings by"),
    ("F", "follow"),
];

#[test]
fn the_help_of_a_list_leaves_out_the_keys_that_do_nothing_there() {
    for (place, known) in [("", "xDUXKF"), ("<Tab>", ""), ("&fn<Enter>", ""), ("l", "ae")] {
        for (key, what) in SOME {
            let mut stocked = Stocked::with_entries((120, 40)).shown();
            let bench = stocked.bench.keys(place);
            let is_listed = bench.keys("h").rows().iter().any(|row| row.contains(what));
            let is_refused = bench.keys("h").keys(key).status().contains(" does nothing here");
            assert_eq!((is_listed, is_refused), (known.contains(key), !known.contains(key)), "{place} {key}");
        }
    }
    let mut bench = open((120, 40), &[]);
    let help = bench.keys("lph").rows().join("\n");
    assert!(help.contains("filter the rows") && !help.contains("mark for deletion"), "{help}");
}
