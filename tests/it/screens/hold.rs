//! Nothing loses the reader's place: changes of limits, direction and policy, wrapping, and whatever is given up.

use overspill::internals::source::{Change, PathStatus, Source};
use overspill::internals::tui::app::{ContentChange, Effect, OutputEvent};
use overspill::internals::tui::widget::layout::Side;

use crate::common::bench::{Bench, policy, subject};
use crate::common::home::Home;
use crate::common::samples::test_log;
use crate::screens::stores::Stocked;

/// Opens a log of 8,432 lines, of which opencode's policy keeps 2,000.
fn open(size: (u16, u16)) -> Bench {
    let home = Home::new();
    Bench::open(size, &home.file("build.log", test_log(8432)), policy("opencode/output"))
}

/// Returns the row of the screen that shows this text.
fn row_of(bench: &Bench, text: &str) -> Option<usize> {
    bench.rows().iter().position(|row| row.contains(text))
}

/// Returns the rows of the panes, without the marks of what is kept.
fn body(bench: &Bench) -> Vec<String> {
    let rows = bench.rows();
    let drawer = rows.iter().position(|row| row.starts_with("┌ What if")).unwrap_or(rows.len());
    let text = |row: &String| row.chars().take(row.chars().count() - 2).collect::<String>();
    rows[1..drawer - 2].iter().map(text).map(|row| row.replace(['│', '┊', '┃', '█', '░'], " ")).collect()
}

#[test]
fn changing_limits_keeps_the_line_on_its_row_and_says_its_fate() {
    for size in [(80, 24), (200, 50)] {
        let mut bench = open(size);
        bench.keys("<Tab>7000G5k");
        let row = row_of(&bench, "7000 ┊").expect("the line");
        bench.keys("lD");
        assert_eq!(row_of(&bench, "7000 │"), Some(row), "{:?}", bench.rows());
        assert!(bench.status().contains("line 6,995 is now kept"), "{}", bench.status());
        bench.keys("D");
        assert_eq!(row_of(&bench, "7000 ┊"), Some(row), "{:?}", bench.rows());
        assert!(bench.status().contains("line 6,995 is now lost · limits as at the start"));
    }
}

#[test]
fn many_limit_changes_do_not_move_either_pane() {
    let narrow = ["", "1500G", "G", "<Tab>1990G", "<Tab>6433G3k", "<Tab>G10k"];
    for (size, places) in [((80, 24), &narrow[..]), ((200, 50), &["1500G", "<Tab>6433G3k"][..])] {
        for before in places {
            let mut bench = open(size);
            bench.keys(before);
            let first = body(&bench);
            for keys in [
                "lDDDD<Enter>",
                "l--++<Enter>",
                "l--D++D<Enter>",
                "l<Down>--++<Enter>",
                "l+<Down>+<Esc>",
                "lD<Esc>",
                "rr",
            ] {
                assert_eq!(body(bench.keys(keys)), first, "{before} {keys}");
            }
        }
    }
}

#[test]
fn the_current_match_stays_on_its_row() {
    let mut bench = open((80, 24));
    bench.keys("<Tab>/error<Enter>");
    bench.keys("l");
    let row = row_of(&bench, "8421 ┊").expect("the match");
    bench.keys("D");
    assert_eq!(row_of(&bench, "8421 │"), Some(row), "{:?}", bench.rows());
    let status = bench.status();
    assert!(status.contains("line 8,421 is now kept") && status.contains("model gets 1 of 1"), "{status}");
    bench.keys("D");
    assert_eq!(row_of(&bench, "8421 ┊"), Some(row), "{:?}", bench.rows());
    assert!(bench.status().contains("model got 0 of 1"), "{}", bench.status());
}

#[test]
fn the_preview_scrolls_to_a_match_that_is_now_kept() {
    let mut bench = open((200, 50));
    bench.keys("1500G/error<Enter>l");
    let row = row_of(&bench, "8421 ┊");
    assert!(row.is_some(), "{:?}", bench.rows());
    assert!(row_of(&bench, "│ line 8,421 is lost. ").is_some(), "the drawer: {:?}", bench.rows());
    bench.keys("D");
    assert!(row_of(&bench, "│ line 8,421 is kept").is_some(), "the drawer: {:?}", bench.rows());
    assert_eq!(row_of(&bench, "8421 │"), row, "{:?}", bench.rows());
    assert!(row_of(&bench, "^[[31merror^[[0m: unit_x failed").is_some(), "{:?}", bench.rows());
    assert!(bench.status().contains("line 8,421 is now kept"), "{}", bench.status());
    assert_eq!(row_of(bench.keys("D"), "8421 ┊"), row);
}

#[test]
fn lost_text_gives_its_row_to_the_notice_and_gets_it_back() {
    let mut bench = open((80, 24));
    bench.keys("1700G5jl");
    let first = body(&bench);
    bench.keys("-");
    assert!(row_of(&bench, "...6933 lines truncated...").is_some(), "{:?}", bench.rows());
    assert!(bench.status().contains("line 1,705 is now lost"), "{}", bench.status());
    assert!(row_of(&bench, "│ line 1,705 is lost. ").is_some(), "the drawer: {:?}", bench.rows());
    assert_eq!(body(bench.keys("+")), first);
    assert!(bench.status().contains("line 1,705 is now kept"), "{}", bench.status());
    bench.keys("+");
    assert_eq!(body(&bench), first);
    assert!(bench.status().contains("line 1,705 is still kept · +179 lines, +4,296 B"), "{}", bench.status());
}

#[test]
fn a_match_is_current_again_once_it_is_kept_again() {
    let mut bench = open((80, 24));
    bench.keys("/unit_1700<Enter>");
    let current = bench.pager().find.current(Side::Preview).cloned();
    assert!(current.is_some());
    bench.keys("l-");
    assert_eq!(bench.pager().find.current(Side::Preview), None);
    bench.keys("+");
    assert_eq!(bench.pager().find.current(Side::Preview).cloned(), current);
}

#[test]
fn another_policy_keeps_the_place_and_says_would_get() {
    let mut bench = open((140, 24));
    bench.keys("<Tab>5000G");
    let row = row_of(&bench, "5000 ┊");
    bench.keys("lp/read<Enter><Enter><Enter>");
    assert!(bench.rows()[0].contains("opencode/read"), "{:?}", bench.rows());
    assert_eq!(row_of(&bench, "5000 ┊"), row, "{:?}", bench.rows());
    assert!(bench.rows()[0].contains("would get · read view"), "{:?}", bench.rows());
}

#[test]
fn closing_unchanged_limits_leaves_the_screen_as_it_was() {
    let mut bench = open((80, 24));
    bench.keys("<Tab>3000G");
    let before = bench.rows();
    assert_eq!(bench.keys("l<Esc>").rows(), before);
}

#[test]
fn wrapping_off_and_on_again_comes_back_in_a_line_of_megabytes() {
    let home = Home::new();
    let line: String = (0..400_000).map(|n| format!("{n:07} ")).collect();
    let path = home.file("long", format!("first\n{line}\nlast\n"));
    for side in ["<Tab>", ""] {
        let mut roomy = policy("opencode/output");
        roomy.set_max_size(9_000_000).expect("a limit");
        let mut bench = Bench::open((80, 24), &path, roomy);
        bench.keys(side).keys(":1600000b<Enter>3j");
        let before = body(&bench);
        let word = before[0].split_whitespace().nth(1).expect("a number").to_owned();
        bench.keys("w");
        assert!(row_of(&bench, &word).is_some(), "{word} {:?}", bench.rows());
        assert_eq!(body(bench.keys("w")), before);
    }
}

#[test]
fn leaving_the_read_view_returns_to_the_old_place() {
    for before in ["<Tab>2500G", "<Tab>w2500G", "1500G", "lD<Enter><Tab>7000G"] {
        let mut bench = open((80, 24));
        bench.keys(before);
        let (first, limits) = (body(&bench), bench.pager().output.limits());
        let side = bench.pager().focus();
        bench.keys("O");
        assert_eq!(bench.pager().focus(), Side::Preview);
        assert_eq!(body(bench.keys("O")), first, "{before}");
        assert_eq!((bench.pager().focus(), bench.pager().output.limits()), (side, limits), "{before}");
    }
}

#[test]
fn returning_to_a_file_restores_side_place_search_and_limits() {
    let home = Home::new();
    let logs = [("one", test_log(8432)), ("two", test_log(500))];
    let sources = logs.map(|(name, log)| Source::open(&home.file(name, log)).expect("a file"));
    let mut bench = Bench::new((80, 24));
    let show = |bench: &mut Bench, file: usize| {
        let effects = bench.show_file(file, 2, subject(policy("opencode/output")), &sources[file]);
        bench.carry_out(effects);
    };
    show(&mut bench, 0);
    bench.keys("l-<Enter><Tab>/error<Enter>j");
    let first = bench.rows();
    show(&mut bench, 1);
    assert_eq!(bench.pager().focus(), Side::Preview);
    assert!(bench.status().contains("error"), "the pattern is taken along: {}", bench.status());
    bench.keys("/skip<Enter>");
    let second = bench.rows();
    show(&mut bench, 0);
    assert_eq!(bench.rows(), first);
    assert!(bench.keys("l+").status().contains("limits as at the start"), "{}", bench.status());
    show(&mut bench, 1);
    assert_eq!(bench.rows(), second);
}

#[test]
fn next_and_previous_stay_if_there_is_no_other_file() {
    let home = Home::new();
    let source = Source::open(&home.file("one", test_log(500))).expect("a file");
    let mut bench = Bench::new((80, 24));
    for (file, files, keys, words) in [
        (0, 1, ":n<Enter>", "no other file was named on the command line"),
        (0, 2, ":p<Enter>", "file 1 of 2 is the first"),
        (1, 2, ":n<Enter>", "file 2 of 2 is the last"),
    ] {
        let effects = bench.show_file(file, files, subject(policy("opencode/output")), &source);
        bench.carry_out(effects);
        assert!(bench.keys(keys).status().contains(words), "{}", bench.status());
    }
    assert!(!bench.asked.iter().any(|effect| matches!(effect, Effect::OtherFile(_))));
    bench.keys(":p<Enter>");
    assert!(bench.asked.iter().any(|effect| matches!(effect, Effect::OtherFile(0))));
}

#[test]
fn following_starts_with_f_and_shows_the_whole_output() {
    let mut bench = open((80, 24));
    let view = bench.pager().output.view.clone();
    let content = Change::Grown;
    let changed = ContentChange { view, content, path: PathStatus::Current, streaming: false };
    bench.keys("<Tab>G");
    let effects = bench.update(OutputEvent::Changed(changed));
    bench.carry_out(effects);
    assert!(!bench.pager().panes.following);
    bench.keys("g<Tab>F");
    assert!(bench.pager().panes.following);
    assert_eq!(bench.pager().focus(), Side::Spill, "new lines arrive there");
}

#[test]
fn following_the_preview_shows_new_lines_at_once() {
    let home = Home::new();
    let numbers = |last: u64| (1..=last).map(|n| format!("{n}\n")).collect::<String>();
    let path = home.file("grow.log", numbers(50));
    let mut bench = Bench::open((80, 24), &path, policy("opencode/output"));
    bench.keys("F");
    for last in [60, 1500] {
        std::fs::write(&path, numbers(last)).unwrap();
        bench.look();
        assert!(row_of(&bench, &format!(" {last} ")) == Some(21), "{last}: {:#?}", bench.rows());
    }
    // From here on the rest is lost, which the notice at the end says.
    std::fs::write(&path, numbers(3000)).unwrap();
    bench.look();
    let notice = row_of(&bench, "...1001 lines truncated...");
    assert!(notice.is_some(), "{:#?}", bench.rows());
}

#[test]
fn a_filter_comes_back_with_its_file() {
    let home = Home::new();
    let logs = [("one", test_log(8432)), ("two", test_log(500))];
    let sources = logs.map(|(name, log)| Source::open(&home.file(name, log)).expect("a file"));
    let mut bench = Bench::new((80, 24));
    let show = |bench: &mut Bench, file: usize| {
        let effects = bench.show_file(file, 2, subject(policy("opencode/output")), &sources[file]);
        bench.carry_out(effects);
    };
    show(&mut bench, 0);
    let before = bench.keys("<Tab>300G").rows();
    bench.keys("2&unit_.*7$<Enter>40j");
    let first = bench.rows();
    show(&mut bench, 1);
    assert!(!bench.keys("<Tab>").status().contains('&'), "{}", bench.status());
    show(&mut bench, 0);
    assert_eq!(bench.rows(), first);
    assert_eq!(bench.keys("<Esc>").rows()[..22], before[..22]);
}

#[test]
fn giving_up_a_list_filter_returns_to_the_selected_entry() {
    let mut stocked = Stocked::with_entries((80, 24)).shown();
    let bench = &mut stocked.bench;
    let chosen = |bench: &Bench| bench.stores().list.chosen().map(|row| row.entry.path());
    bench.keys("jjj");
    let before = chosen(bench);
    assert!(before.is_some());
    for keys in ["/overspill<Esc>", "/overspill<Enter><Esc>", "/nothing like it<Esc>"] {
        assert_eq!(chosen(bench.keys(keys)), before, "{keys}");
    }
    let other = chosen(bench.keys("/overspill<Enter>j"));
    assert_ne!(other, before);
    assert_eq!(chosen(bench.keys("<Esc>")), other, "a move in the filtered list counts");
}

#[test]
fn the_current_match_stays_on_the_screen_whatever_its_size() {
    for keys in ["/unit_17<Enter>", "<Tab>/unit_5000<Enter>", "<Tab>/unit_5000<Enter>5k"] {
        let mut bench = open((120, 40));
        bench.keys(keys);
        let shows = |bench: &Bench| {
            let rows = bench.rows();
            let is_match =
                |row: &String| row.split_whitespace().any(|word| ["unit_17", "unit_5000"].contains(&word));
            rows[1..rows.len() - 2].iter().any(is_match)
        };
        for size in [(40, 10), (200, 50), (60, 8), (120, 40)] {
            assert!(shows(bench.resize(size)), "{keys} at {size:?}: {:#?}", bench.rows());
        }
    }
}
