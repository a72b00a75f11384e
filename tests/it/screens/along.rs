//! Moving along long lines: to their ends, wrapped and sideways, whatever the width of their bytes.

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;

/// Creates a line of this many bytes that ends in `the end`, between two short ones.
fn long(home: &Home, bytes: usize) -> std::path::PathBuf {
    let line = "größer ".repeat(bytes / 9);
    home.file("long", format!("first\n{line}the end\nlast\n"))
}

fn shows(bench: &Bench, text: &str) -> bool {
    bench.rows().iter().any(|row| row.contains(text))
}

#[test]
fn a_dollar_shows_the_end_of_the_line_and_a_caret_its_start() {
    let home = Home::new();
    for bytes in [900, 40_000, 3_000_000] {
        let path = long(&home, bytes);
        for keys in ["<Tab>2G", "<Tab>w"] {
            let mut bench = Bench::open((80, 12), &path, policy("opencode/output"));
            bench.keys(keys);
            assert!(shows(&bench, "größer") && !shows(&bench, "the end"), "{:?}", bench.rows());
            bench.keys("$");
            assert!(shows(&bench, "the end"), "{bytes} {keys} {:?}", bench.rows());
            bench.keys("^");
            assert!(shows(&bench, "   2 ") && !shows(&bench, "the end"), "{bytes} {keys} {:?}", bench.rows());
        }
    }
}

#[test]
fn a_short_line_needs_no_move_to_its_end() {
    let home = Home::new();
    let mut bench =
        Bench::open((80, 12), &home.file("short", "one\ntwo\nthree\n"), policy("opencode/output"));
    let before = bench.keys("<Tab>").rows();
    assert_eq!(bench.keys("$").rows(), before);
}

#[test]
fn an_uncounted_line_end_is_reported_unknown() {
    let home = Home::new();
    let mut bench = Bench::new((80, 12));
    bench.start(&home.sparse("huge", 1 << 30), policy("opencode/output"));
    bench.keys("<Tab>$");
    assert!(shows(&bench, "the line's end is not known yet"), "{:?}", bench.rows());
}

#[test]
fn a_match_behind_wide_text_is_brought_onto_the_screen_sideways() {
    let home = Home::new();
    let wide = format!("{}\x1b[31mneedle\x1b[0m{}\n", "日本".repeat(700), "x".repeat(300));
    let mut bench = Bench::open((80, 12), &home.file("wide", wide), policy("opencode/output"));
    bench.keys("<Tab>w/needle<Enter>");
    assert!(shows(&bench, "needle") && shows(&bench, "日本"), "{:?}", bench.rows());
}
