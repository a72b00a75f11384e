//! Copying text: a line, the window, the preview, or lines that are selected.

use std::io::Write;

use overspill::internals::tui::app::Effect;

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;
use crate::common::samples::test_log;
use crate::screens::SIZES;

fn open(content: &[u8]) -> Bench {
    let home = Home::new();
    Bench::open(SIZES[0], &home.file("build.log", content), policy("opencode/output"))
}

fn keep(name: &str, bench: &Bench) {
    let (width, height) = bench.app.canvas.size;
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), bench.screen());
    });
}

/// Returns the text copied last.
fn copied(bench: &Bench) -> &str {
    let Some(Effect::Copy(text)) = bench.asked.last() else { panic!("{:?}", bench.asked) };
    text
}

/// Asserts that a row of the screen has these words.
fn shows(bench: &Bench, words: &str) {
    assert!(bench.rows().iter().any(|row| row.contains(words)), "{words}: {:#?}", bench.rows());
}

#[test]
fn copies_a_line_the_window_and_the_preview() {
    let mut bench = open(b"one\ntwo \xff\x1b[1m\nthree\nfour\n");
    keep("copying", bench.keys("<Tab>y"));
    shows(&bench, "l  line          line 1 · 3 B");
    shows(&bench, "w  window        lines 1-4 · 24 B");
    shows(&bench, "m  model's text  Model got · 27 B");
    assert!(bench.keys("l").status().contains("copied 1 line, 3 B"), "{}", bench.status());
    assert_eq!(copied(&bench), "one");
    bench.keys("o2 2<Enter>yw");
    assert_eq!(copied(&bench), "two \u{fffd}\u{1b}[1m\nthree");
    assert!(bench.keys("ym").status().contains("copied 4 lines, 27 B"), "{}", bench.status());
    assert!(copied(&bench).ends_with("three\nfour\n"));
}

#[test]
fn the_preview_is_copied_with_its_notice() {
    let mut bench = open(&test_log(8432));
    bench.keys("ym");
    assert!(copied(&bench).contains("lines truncated"), "{}", bench.status());
}

#[test]
fn lines_are_selected_marked_and_copied() {
    let mut bench = open(&test_log(8432));
    bench.keys("<Tab>5G");
    bench.keys("Vjj");
    assert!(bench.status().contains("selected lines 5-7 · "), "{}", bench.status());
    keep("selected", bench.keys("k"));
    bench.keys("y");
    let lines: Vec<&str> = copied(&bench).lines().collect();
    assert!(lines.len() == 2 && lines[0].ends_with("unit_5") && lines[1].ends_with("unit_6"), "{lines:?}");
    assert!(!bench.status().contains("selected"), "{}", bench.status());
    assert!(bench.keys("GVjjj").status().contains("selected lines 8,412-8,415 · "), "{}", bench.status());
    bench.keys("y");
    assert_eq!(copied(&bench).lines().count(), 4, "also where the pane cannot scroll any further");
    assert!(!bench.keys("VkkG<Esc>").status().contains("selected"), "{}", bench.status());
}

#[test]
fn a_selection_survives_switching_to_the_other_text() {
    for side in ["", "<Tab>"] {
        let mut bench = open(&test_log(8432));
        let selected = bench.keys(side).keys("Vjj").status();
        assert!(side.is_empty() || selected.contains("selected lines 1-3 · "), "{selected}");
        for keys in ["<Tab>", "jjG", "<Tab>"] {
            let words = selected.split(" · y").next().expect("words");
            assert!(bench.keys(keys).status().starts_with(words), "{keys}: {} | {words}", bench.status());
        }
        assert_eq!(copied(bench.keys("wwrry")).lines().count(), 3, "{side}");
    }
}

#[test]
fn too_much_is_refused_with_its_size() {
    let mut bench = open(&test_log(200_000));
    bench.keys("<Tab>VG");
    assert!(bench.keys("y").status().contains("(limit 1 MB)"), "{}", bench.status());
    assert!(!bench.asked.iter().any(|effect| matches!(effect, Effect::Copy(_))));
}

#[test]
fn copies_the_matched_line_and_under_a_filter_only_shown_lines() {
    let mut bench = open(&test_log(8432));
    bench.keys("<Tab>/unit_x failed<Enter>");
    assert!(bench.rows()[1].contains("84") && !bench.rows()[1].contains("unit_x"), "{:?}", bench.rows()[1]);
    bench.keys("yl");
    assert!(copied(&bench).ends_with("unit_x failed"), "{}", copied(&bench));
    bench.keys("v");
    assert!(matches!(bench.asked.last(), Some(Effect::Edit { line: 8421, .. })), "{:?}", bench.asked.last());
    bench.keys("Vy");
    assert!(copied(&bench).ends_with("unit_x failed") && copied(&bench).lines().count() == 1);
    bench.keys("<Esc>g&skip<Enter>VG");
    assert!(bench.status().contains("those shown"), "{}", bench.status());
    bench.keys("y");
    assert_eq!(copied(&bench).lines().count(), 87, "{}", bench.status());
    assert!(copied(&bench).lines().all(|line| line.contains("skip")), "{}", copied(&bench));
    bench.keys("y");
    shows(&bench, "w  window        lines 6,001-8,000 · those shown");
    bench.keys("w");
    assert!(copied(&bench).lines().all(|line| line.contains("skip")), "{}", copied(&bench));
}

#[test]
fn a_selection_moves_by_the_filtered_lines() {
    let mut bench = open(&test_log(8432));
    bench.keys("<Tab>&unit_[18]000<Enter>");
    let selects = |bench: &mut Bench, keys: &str, lines: &str| {
        let status = bench.keys(keys).status();
        assert!(status.contains(&format!("selected {lines} · those shown")), "{keys}: {status}");
    };
    selects(&mut bench, "V", "line 1,000");
    selects(&mut bench, "k", "line 1,000");
    selects(&mut bench, "j", "lines 1,000-8,000");
    selects(&mut bench, "j", "lines 1,000-8,000");
    selects(&mut bench, "k", "line 1,000");
}

#[test]
fn the_copy_menu_omits_figures_that_do_not_fit() {
    let mut bench = open(&test_log(8432));
    bench.resize((40, 12));
    bench.keys("<Tab>4076Gy");
    shows(&bench, "l  line          line 4,076 ");
    shows(&bench, "r  read call     offset 4001 ");
    let is_cut = |row: &String| row.contains('…') && !row.contains("path");
    assert!(!bench.rows()[1..10].iter().any(is_cut), "{:#?}", bench.rows());
}

#[test]
fn copies_the_models_text_as_of_the_moment_of_picking() {
    let home = Home::new();
    let path = home.file("build.log", "one\n");
    let mut bench = Bench::open(SIZES[0], &path, policy("opencode/output"));
    bench.keys("y");
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(b"two\n").unwrap();
    bench.look();
    bench.keys("m");
    assert_eq!(copied(&bench), "one\ntwo\n");
}
