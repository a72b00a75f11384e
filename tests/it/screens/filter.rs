//! The filter of Spill: which lines are shown, where one is, and what it costs.

use std::os::unix::fs::FileExt;

use overspill::internals::tui::widget::layout::{self, Side};
use overspill::preview::Direction;
use ratatui::layout::Rect;

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;
use crate::screens::SIZES;

/// A log of this many lines: every 33rd is an error, every 97th speaks of one that is skipped.
fn log(lines: usize) -> String {
    let line = |n: usize| match n {
        _ if n.is_multiple_of(33) => format!("error: unit_{n} failed\n"),
        _ if n % 97 == 50 => format!("debug: error skipped in unit_{n}\n"),
        _ => format!("ok   unit_{n}\n"),
    };
    (1..=lines).map(line).collect()
}

fn open(size: (u16, u16), content: &str) -> Bench {
    Bench::open(size, &Home::new().file("build.log", content), policy("opencode/output"))
}

/// Checks a screen against the snapshot `NAME_WIDTHxHEIGHT`.
fn keep(name: &str, bench: &Bench) {
    let (width, height) = bench.app.canvas.size;
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), bench.screen());
    });
}

/// Returns the rows that show lines, without the gutter.
fn texts(bench: &Bench) -> Vec<String> {
    let (columns, rows) = bench.app.canvas.size;
    let screen = Rect::new(0, 0, columns, rows);
    let spill = layout::pager(screen, Side::Spill, columns >= 140).spill.expect("Spill");
    let of_spill = |row: String| -> String {
        row.chars().skip(usize::from(spill.x)).take(usize::from(spill.width)).collect()
    };
    let text = |row: String| row.split_once(['│', '┊']).map(|(_, text)| text.trim().to_owned());
    bench.rows().into_iter().skip(1).map(of_spill).filter_map(text).collect()
}

#[test]
fn only_matching_lines_with_numbers_and_fate() {
    for size in SIZES {
        let mut bench = open(size, &log(9000));
        keep("filter_prompt", bench.keys("&error"));
        keep("filter", bench.keys("<Enter>"));
        keep("filter_not", bench.keys("&!debug<Enter>"));
        keep("filter_lost_prompt", bench.keys("&<Tab>"));
        keep("filter_lost", bench.keys("<Enter>"));
        keep("filter_around", bench.keys("2&<Enter>jj"));
    }
}

#[test]
fn a_filter_that_shows_nothing_says_so_and_how_to_leave() {
    for size in SIZES {
        let mut bench = open(size, &log(9000));
        keep("filter_nothing", bench.keys("&nosuch<Enter>"));
    }
    let mut bench = open(SIZES[0], &log(900));
    bench.keys("&error<Enter>&<Tab><Enter>");
    assert!(bench.screen().contains("no line. The model got all 36."), "{}", bench.screen());
    assert!(open(SIZES[0], &log(90)).keys("&<Enter>").status().contains("type a pattern"));
    assert!(open(SIZES[0], &log(90)).keys("&!(<Enter>").status().contains("at character 2"));
}

#[test]
fn esc_undoes_a_filter_and_an_empty_one_keeps_the_line() {
    let mut bench = open(SIZES[0], &log(9000));
    let before = bench.keys("jjj").rows();
    assert_ne!(bench.keys("&error<Enter>").rows(), before);
    assert_eq!(bench.keys("<Esc><Down><Up>").rows(), before);
    assert_eq!(bench.keys("&error<Enter>&<Enter><Down><Up>").rows(), before, "nothing was moved");
    bench.keys("&error<Enter>ddd");
    let line = texts(&bench)[0].clone();
    bench.keys("&<Enter>");
    assert_eq!(texts(&bench)[0], line, "the line at the top stays there");
    assert!(texts(&bench)[1].starts_with("ok"));
    assert_eq!(bench.keys("''").rows(), before, "and the mark leads back");
}

#[test]
fn moves_and_searches_keep_to_the_lines_shown() {
    let mut bench = open(SIZES[0], &log(9000));
    bench.keys("&error<Enter>&!debug<Enter>");
    for keys in ["G", "g", "d", " ", "u", "b", "500G", "jjk", "}", "{", "]", "w", "w"] {
        let shown = texts(bench.keys(keys));
        assert!(!shown.is_empty() && shown.iter().all(|text| text.starts_with("error")), "{keys}: {shown:?}");
    }
    assert!(bench.keys("8000G").status().contains("filtered out"), "{}", bench.status());
    assert!(texts(&bench)[0].contains("unit_8019"), "{:?}", texts(&bench));
    bench.keys("g/unit_.*0<Enter>");
    assert!(bench.pager().find.current(Side::Spill).is_some());
    for _ in 0..5 {
        bench.keys("n");
        let at = bench.pager().find.current(Side::Spill).unwrap().start as usize;
        let line = bench.pager().output.view[..at].rsplit(|byte| *byte == b'\n').next().unwrap();
        assert!(line.starts_with(b"error"), "{}", String::from_utf8_lossy(line));
    }
    assert!(bench.keys("/skipped<Enter>").status().contains("no match"), "{}", bench.status());
}

#[test]
fn a_filtered_search_continues_into_the_lost_lines_shown() {
    for (hidden, side, line) in
        [("4950", Side::Spill, "error: unit_8250"), ("4950|8250", Side::Preview, "error: unit_1980")]
    {
        let mut bench = open(SIZES[0], &log(9000));
        bench.keys(&format!("&!{hidden}<Enter><Tab>/unit_(1980|4950|8250)<Enter>n"));
        assert_eq!(bench.pager().focus(), side);
        let found = bench.pager().find.current(side).unwrap();
        let text = &bench.pager().output.view[..found.end as usize];
        assert!(text.ends_with(line.as_bytes()), "{}", bench.screen());
        let wraps = bench.status().contains("wrapped to the top");
        assert_eq!(wraps, side == Side::Preview, "{}", bench.status());
    }
}

#[test]
fn no_match_messages_mention_the_lines_shown() {
    for (keys, says) in [
        (r"&unit_33\b<Enter>)", "no lost error in the lines shown"),
        (r"/failed<Enter>&unit_33\b<Enter>)", "no lost match in the lines shown"),
        (r"&unit_34\b<Enter>e", "no error in the lines shown"),
        (r"&unit_34\b<Enter>)", "no lost error in the lines shown"),
    ] {
        let mut bench = open(SIZES[0], &log(9000));
        assert!(bench.keys(keys).status().contains(says), "{keys}: {}", bench.status());
    }
    let mut quiet = open(SIZES[0], &"ok\n".repeat(3000));
    let status = quiet.keys("&ok<Enter>e").status();
    assert!(status.contains("no error or warning in the lines shown"), "{status}");
}

#[test]
fn a_search_that_the_filter_hides_offers_no_next_match() {
    let mut bench = open(SIZES[1], &log(9000));
    let status = bench.keys("&unit_33\\b<Enter>/debug<Enter>k").status();
    assert!(status.contains("/debug ") && !status.contains("n next"), "{status}");
    assert!(status.contains("Esc all lines"), "{status}");
}

#[test]
fn a_change_of_limits_changes_what_was_lost() {
    let mut bench = open(SIZES[0], &log(9000));
    bench.keys("&error<Enter>&!debug<Enter>");
    assert!(bench.status().contains("272 lines, model got 60"), "{}", bench.status());
    bench.keys("lD<Enter><Down>");
    assert_eq!(bench.pager().output.policy().direction(), Some(Direction::Tail));
    assert!(bench.status().contains("272 lines, model gets 6"), "{}", bench.status());
    let got = bench.pager().output.filter.as_ref().unwrap().total().got;
    let kept = &bench.pager().output.made.kept;
    let text = &bench.pager().output.view[kept[0].clone()];
    assert_eq!(
        got as usize,
        text.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"error")).count()
    );
}

#[test]
fn lines_that_are_added_are_filtered_as_they_come() {
    let home = Home::new();
    let path = home.file("build.log", log(300));
    let mut bench = Bench::open(SIZES[0], &path, policy("opencode/output"));
    bench.keys("&error<Enter>F");
    let more = |text: &str| {
        let file = std::fs::File::options().append(true).open(&path).unwrap();
        file.write_all_at(text.as_bytes(), file.metadata().unwrap().len()).unwrap();
    };
    more("ok\nan err");
    bench.look();
    assert!(!texts(&bench).last().unwrap().contains("an err"));
    more("or at last\nok\n");
    bench.look();
    assert_eq!(texts(&bench).last().unwrap(), "an error at last");
    assert!(bench.keys("<Tab><Tab>").status().contains("13 lines"), "{}", bench.status());
    std::fs::write(&path, "new error\nok\n").unwrap();
    bench.look();
    assert_eq!(texts(&bench), ["new error"]);
}

#[test]
fn a_screen_of_a_filter_reads_no_more_blocks_than_it_shows_lines() {
    let home = Home::new();
    let path = home.file("huge", "a line without it, of some length\n".repeat(400_000));
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    for n in 1..13u64 {
        file.write_all_at(b"a needle", n * 34_000 * 30).unwrap();
    }
    for size in SIZES {
        let mut bench = Bench::open(size, &path, policy("opencode/output"));
        let (_, before) = bench.draw();
        bench.keys("&needle<Enter>");
        assert_eq!(texts(&bench).iter().filter(|text| text.contains("needle")).count(), 12);
        // Each line may start in a block of its own; what was found once is not looked for again.
        let (_, cost) = bench.draw();
        assert!(cost.blocks() <= before.blocks() + 2 * 12, "{} blocks at {size:?}", cost.blocks());
        assert!(cost.rows() <= 2 * usize::from(size.1), "{} rows at {size:?}", cost.rows());
        bench.keys("G");
        let (_, cost) = bench.draw();
        assert!(cost.blocks() <= before.blocks() + 2 * 12, "{} blocks at {size:?}", cost.blocks());
    }
}

#[test]
fn a_match_deep_inside_a_long_line_is_shown() {
    let home = Home::new();
    let long = format!("{}needle{}", "x".repeat(3 << 20), "y".repeat(2 << 20));
    let path = home.file("long", format!("first\n{long}\nlast needle\n"));
    let mut bench = Bench::open(SIZES[0], &path, policy("opencode/output"));
    bench.keys("&needle<Enter>");
    assert!(texts(&bench)[0].starts_with("xxx"), "{:?}", texts(&bench));
    assert!(bench.status().contains("2 lines"), "{}", bench.status());
    bench.keys("G");
    assert_eq!(texts(&bench).last().unwrap(), "last needle");
    assert!(texts(bench.keys("&!x<Enter>")) == ["last needle"], "{:?}", texts(&bench));
}
