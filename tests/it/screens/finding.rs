//! Searching and jumping: what is found, what was lost, and where the screens say so.

use crossterm::event::KeyCode;
use overspill::internals::output::Ending;
use overspill::internals::tui::app::{ContentChange, Effect, Event, OutputEvent};
use overspill::internals::tui::job::{Pace, Slot};
use overspill::internals::tui::widget::layout::Side;
use overspill::preview::Certainty;

use crate::common::bench::{Bench, is_job, policy};
use crate::common::home::Home;
use crate::common::samples::test_log;
use crate::screens::SIZES;

/// The model gets the first 2,000 of its lines; its line 8,421 is the only error.
fn open(size: (u16, u16)) -> Bench {
    let home = Home::new();
    Bench::open(size, &home.file("build.log", test_log(8432)), policy("opencode/output"))
}

/// The end of an output of which no model got anything.
pub fn plain() -> Ending {
    Ending { certainty: Certainty::WouldGet, exit_code: None, failed: None, mishaps: Vec::new(), run: None }
}

/// Returns the first row that contains `words`.
fn row(bench: &Bench, words: &str) -> String {
    let rows = bench.rows();
    rows.iter().find(|row| row.contains(words)).unwrap_or_else(|| panic!("no {words} in {rows:#?}")).clone()
}

/// Presses keys of which the first results are there only after the last.
fn at_once(bench: &mut Bench, keys: &str) {
    let typed = keys.chars().map(KeyCode::Char).chain([KeyCode::Enter]);
    let effects = typed.flat_map(|code| bench.update(Event::Key(code.into()))).collect();
    bench.carry_out(effects);
}

#[test]
fn the_status_line_shows_a_lines_fate_at_every_width() {
    let home = Home::new();
    let path = home.file("build.log", crate::common::samples::build_log(8_432));
    for width in 40..=80 {
        let mut bench = Bench::open((width, 12), &path, policy("opencode/output"));
        let error = bench.keys("e").status();
        assert!(error.contains("line 8,411 · lost") || error.contains("line 8,411 of"), "{width}: {error}");
        assert!(error.contains("S lists"), "{width}: {error}");
        let found = bench.keys("/E0308<Enter>").status();
        assert!(found.contains("· lost") && found.contains("1 of 1"), "{width}: {found}");
    }
}

#[test]
fn a_search_typed_fast_still_ends_at_the_lost_match() {
    for size in SIZES {
        let (mut fast, mut slow) = (open(size), open(size));
        at_once(&mut fast, "/error");
        assert_eq!(fast.pager().focus(), Side::Spill);
        assert!(row(&fast, "error: unit_x").contains("8421 ┊"));
        assert!(fast.status().contains("line 8,421") && fast.status().contains("lost"), "{}", fast.status());
        assert_eq!(slow.keys("/error<Enter>").rows(), fast.rows());
        assert_eq!(slow.keys("<Tab>''").rows(), fast.keys("<Tab>''").rows());
    }
}

#[test]
fn tab_shows_a_lost_line_after_a_jump() {
    for keys in [":6330<Enter>", "6330G"] {
        let mut bench = open(SIZES[0]);
        bench.keys(keys);
        assert!(bench.status().contains("line 6,330 was lost · Tab shows it"), "{}", bench.status());
        assert!(bench.keys("<Tab>").rows()[1].contains("6330 ┊"), "{:?}", bench.rows()[1]);
    }
    let mut bench = open(SIZES[0]);
    let effects = bench.update(OutputEvent::Ended(Box::new(plain())));
    bench.carry_out(effects);
    assert!(bench.keys("6330G").status().contains("line 6,330 would be lost"), "{}", bench.status());
    let mut bench = open(SIZES[0]);
    assert!(!bench.keys(":1200<Enter>").status().contains("lost"));
    assert!(bench.rows()[1].contains("unit_1200"));
}

#[test]
fn with_both_panes_the_one_with_the_match_moves() {
    let mut bench = open(SIZES[1]);
    bench.keys("/error<Enter>");
    assert!(row(&bench, "error: unit_x").contains("8421 ┊"));
    assert!(bench.status().contains("line 8,421 of 8,432 · lost"), "{}", bench.status());
}

#[test]
fn reports_a_pattern_without_a_match_once() {
    for keys in ["/nosuch<Enter>", "<Tab>/nosuch<Enter>"] {
        let mut bench = open(SIZES[0]);
        bench.keys(keys);
        assert_eq!(bench.status().matches("nosuch").count(), 1, "{}", bench.status());
        assert!(bench.status().contains("no match for nosuch"), "{}", bench.status());
    }
}

#[test]
fn a_match_in_appended_text_replaces_the_no_match_message() {
    let home = Home::new();
    let path = home.file("build.log", "fine\n");
    let mut bench = Bench::open(SIZES[0], &path, policy("opencode/output"));
    assert!(bench.keys("/error<Enter>").status().contains("no match for error"), "{}", bench.status());
    std::fs::write(&path, "fine\nerror: now\n").unwrap();
    bench.look();
    let status = bench.status();
    assert!(!status.contains("no match") && status.contains("/error 1"), "{status}");
}

#[test]
fn parentheses_step_through_the_lost_matches() {
    let mut bench = open(SIZES[0]);
    bench.keys("/skip<Enter>)");
    let at = |bench: &Bench, number: u32| {
        let expected = format!("/skip {number} of 87 · model got 21");
        assert!(bench.status().contains(&expected), "{expected}: {}", bench.status());
    };
    at(&bench, 22);
    assert!(row(&bench, "unit_2087").contains("2087 ┊"), "Preview has none of them, so Spill is shown");
    at(bench.keys("3)"), 25);
    at(bench.keys("("), 24);
    at(bench.keys("2("), 22);
    assert!(bench.keys("(").status().contains("wrapped to the bottom"), "{}", bench.status());
    let mut bench = open(SIZES[0]);
    at(bench.keys("/skip<Enter>"), 1);
    at(bench.keys("N"), 87);
    assert!(bench.status().contains("wrapped to the bottom"), "{}", bench.status());
    assert_eq!(bench.pager().focus(), Side::Spill, "before the first that the model got is the last of all");
    let mut bench = open(SIZES[0]);
    assert!(bench.keys("n").status().contains("no search yet"));
    assert!(bench.keys("/unit_12<Enter>/unit_12$<Enter>)").status().contains("the model got every match"));
}

#[test]
fn jump_keys_take_a_count() {
    let mut bench = open(SIZES[0]);
    bench.keys("<Tab>/skip<Enter>3n");
    assert!(bench.status().contains("/skip 4 of 87"), "{}", bench.status());
    assert!(bench.keys("2N").status().contains("/skip 2 of 87"), "{}", bench.status());
    assert!(bench.keys("/<Enter>").status().contains("/skip 3 of 87"), "an empty pattern repeats the search");
    assert!(bench.keys("3]").status().contains("offset 6001"), "{}", bench.status());
    assert!(bench.keys("2[").status().contains("offset 2001"), "{}", bench.status());
    bench.keys("50%");
    let half = bench.rows()[1].clone();
    assert_eq!(bench.keys("g:50%<Enter>").rows()[1], half);
    assert!(bench.keys("%").status().contains("type the number first: 50%"), "{}", bench.status());
}

#[test]
fn the_counts_stay_right_while_the_file_grows() {
    let home = Home::new();
    let path = home.file("build.log", "needle\n".repeat(30_000) + "need");
    let mut bench = Bench::open(SIZES[0], &path, policy("opencode/output"));
    bench.keys("<Tab>/needle<Enter>");
    assert!(bench.status().contains("1 of 30,000 · model got 2,000"), "{}", bench.status());
    let mut file = std::fs::File::options().append(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, b"le\nneedle\n").unwrap();
    bench.look();
    assert!(bench.status().contains("1 of 30,002 · model got 2,000"), "{}", bench.status());
    std::fs::write(&path, "needle\n").unwrap();
    bench.look();
    assert!(bench.keys("n").status().contains("1 of 1 · model got 1"), "{}", bench.status());
}

#[test]
fn the_errors_of_a_growing_file_are_counted_on_before_the_next_frame() {
    let home = Home::new();
    let path = home.file("build.log", "error: x\n".repeat(3));
    let mut bench = Bench::open(SIZES[0], &path, policy("opencode/output"));
    std::fs::write(&path, "error: x\n".repeat(5)).unwrap();
    let source = bench.source.as_mut().expect("a file");
    let (content, path) = (source.refresh(), source.path_status());
    let changed = ContentChange { view: source.view(), content, path, streaming: false };
    let effects = bench.update(OutputEvent::Changed(changed));
    assert!(bench.rows()[0].contains("errors 3+, model got 3"), "{}", bench.rows()[0]);
    let is_at_once = |effect: &Effect| matches!(effect, Effect::Run(job) if job.pace == Pace::AtOnce);
    let lines = effects.iter().find(|effect| is_job(effect, Slot::CountLines));
    assert!(lines.is_some_and(is_at_once), "{effects:?}");
    bench.carry_out(effects);
    assert!(bench.rows()[0].ends_with("errors 5"), "{}", bench.rows()[0]);
}

#[test]
fn a_search_is_shown_while_it_is_typed() {
    let mut bench = open(SIZES[0]);
    bench.keys("<Tab>100G/unit_2");
    assert!(bench.status().contains("12 of 1,111 · model got 112"), "{}", bench.status());
    bench.keys("2<Backspace>2");
    assert!(row(&bench, "unit_220").contains("220 │"), "the first after where the typing began");
    assert!(bench.status().contains("2 of 111 · model got 11"), "{}", bench.status());
    assert!(bench.keys("(").status().contains("unclosed group at column 8"), "{}", bench.status());
    assert!(bench.rows()[1].contains("100 │"), "a pattern that cannot be used shows where one was");
    assert!(bench.keys("<Backspace>zz").status().contains("no match"), "{}", bench.status());
    bench.keys("<Esc>");
    assert!(bench.rows()[1].contains("100 │") && !bench.status().contains("unit"), "{:#?}", bench.rows());
    assert!(bench.keys("n").status().contains("no search yet"));
}

#[test]
fn esc_restores_the_previous_search() {
    let mut bench = open(SIZES[0]);
    bench.keys("<Tab>/skip<Enter>n");
    let before = bench.rows();
    bench.keys("/error");
    assert!(bench.status().contains("1 of 1 · model got 0"), "{}", bench.status());
    assert!(row(&bench, "error: unit_x").contains("8421 ┊"));
    assert_eq!(bench.keys("<Esc>").rows(), before);
    assert!(bench.keys("n").status().contains("/skip 3 of 87"), "{}", bench.status());
    assert!(bench.keys("/error<Enter>n").status().contains("/error 1 of 1"), "{}", bench.status());
    let mut bench = open(SIZES[0]);
    let before = bench.rows();
    assert!(row(bench.keys("/error"), "error: unit_x").contains("8421 ┊"));
    assert_eq!(bench.keys("<Esc>").rows(), before, "in the model's text again");
}

#[test]
fn the_search_that_esc_ended_goes_on() {
    let mut bench = open(SIZES[0]);
    bench.keys("<Tab>/skip<Enter>n");
    assert!(!bench.keys("<Esc>").status().contains("skip"), "{}", bench.status());
    assert!(bench.keys("g<Esc>n").status().contains("/skip 1 of 87"), "{}", bench.status());
    assert!(bench.keys("n<Esc>G<Esc>N").status().contains("/skip 87 of 87"), "{}", bench.status());
    assert!(bench.keys("g?skip<Enter><Esc>Gn").status().contains("/skip 87 of 87"), "backwards, as it was");
}

#[test]
fn errors_in_changed_text_map_to_their_lines() {
    let home = Home::new();
    let line = |n: u64| match n {
        2507 | 2607 | 2707 => format!("\x1b[31merror\x1b[0m: in line {n}\n"),
        _ => format!("\x1b[1mline {n} of some length, with escapes\x1b[0m\n"),
    };
    let path = home.file("build.log", (1..=3000).map(line).collect::<String>());
    let mut bench = Bench::open((120, 24), &path, policy("crush/bang"));
    for (number, at) in [(1, "line 2,507 of"), (2, "line 2,607 of"), (3, "line 2,707 of")] {
        bench.keys("e");
        let shown = format!("error {number} of 3");
        assert!(bench.rows()[0].contains(&shown), "{shown}: {}", bench.rows()[0]);
        assert!(bench.status().contains(at), "{at}: {}", bench.status());
    }
    assert!(row(bench.keys("<Tab>"), "in line 2707").contains("2707 "), "{:?}", bench.rows());
}

#[test]
fn e_steps_through_the_errors_and_counts_them() {
    let mut bench = open(SIZES[1]);
    assert!(bench.rows()[0].contains("errors 1, model got 0"), "{}", bench.rows()[0]);
    bench.keys("e");
    assert!(row(&bench, "error: unit_x").contains("8421 ┊"));
    assert!(bench.rows()[0].contains("error 1 of 1, model got 0"), "{}", bench.rows()[0]);
    let home = Home::new();
    let lines: String = (1..=3000).map(|n| if n % 100 == 0 { "warning: x\n" } else { "ok\n" }).collect();
    let mut bench = Bench::open(SIZES[0], &home.file("build.log", lines), policy("opencode/output"));
    assert!(bench.rows()[0].contains("warnings 30, model got 20"), "{}", bench.rows()[0]);
    bench.keys("<Tab>e3e");
    assert!(bench.rows()[0].contains("warning 4 of 30"), "{}", bench.rows()[0]);
    assert!(bench.keys("E").rows()[0].contains("warning 3 of 30"), "{}", bench.rows()[0]);
    assert!(
        bench.keys(")").rows()[0].contains("warning 21 of 30"),
        "without a search, what was missed are errors, or warnings where there is no error"
    );
    assert!(bench.keys("<Esc>").rows()[0].contains("warnings 30, "), "Esc leaves the warning");
    let mut quiet = Bench::open(SIZES[0], &home.file("quiet.log", "ok\n"), policy("opencode/output"));
    assert!(
        !quiet.rows()[0].contains("errors") && quiet.keys("e").status().contains("no error or warning found")
    );
}

#[test]
fn a_configured_pattern_defines_the_errors() {
    let home = Home::new();
    let mut bench = Bench::new(SIZES[0]);
    let own = overspill::internals::text::search::Pattern::to_line_end("boom|bang").unwrap();
    bench.app.severities.own[0] = Some(own);
    let effects =
        bench.start(&home.file("build.log", "error: x\nboom bang\nbang\n"), policy("opencode/output"));
    bench.carry_out(effects);
    assert!(bench.rows()[0].ends_with("errors 2"), "{}", bench.rows()[0]);
}

#[test]
fn a_count_before_a_search_goes_to_that_match() {
    let mut bench = open(SIZES[0]);
    bench.keys("<Tab>3/unit_1\\d\\b");
    assert!(bench.status().contains("3/unit_1"), "{}", bench.status());
    assert!(bench.status().contains("3 of 10"), "it is shown while typing: {}", bench.status());
    assert!(bench.keys("<Enter>").status().contains("3 of 10"), "{}", bench.status());
    assert!(bench.keys("n").status().contains("4 of 10"), "{}", bench.status());
    assert!(bench.keys("2/<Enter>").status().contains("6 of 10"), "{}", bench.status());
    assert!(bench.keys("2?<Enter>").status().contains("4 of 10"), "{}", bench.status());
}

#[test]
fn a_search_back_from_the_end_begins_with_the_last_line() {
    let mut bench = open(SIZES[0]);
    bench.keys("<Tab>G?unit<Enter>");
    let line = |bench: &Bench| {
        let at = bench.pager().find.current(Side::Spill).expect("a match").start as usize;
        bench.pager().output.view[at..].iter().filter(|byte| **byte == b'\n').count()
    };
    assert_eq!(line(&bench), 1, "the last line is the first one found");
    assert!(!bench.status().contains("wrapped"), "{}", bench.status());
    assert_eq!(line(bench.keys("n")), 2);
    assert_eq!(line(bench.keys("<Esc>GE")), 12, "the error on the screen");
    assert!(!bench.status().contains("wrapped"), "{}", bench.status());
}

#[test]
fn n_goes_from_the_last_kept_match_to_the_first_lost_one() {
    let home = Home::new();
    let line =
        |n: u32| if [10, 20, 2500, 2600].contains(&n) { format!("error: hit {n}\n") } else { "ok\n".into() };
    let path = home.file("build.log", (1..=3000).map(line).collect::<String>());
    for (size, keys, next) in
        [(SIZES[0], "/hit<Enter>", "n"), (SIZES[0], "e", "e"), (SIZES[1], "/hit<Enter>", "n")]
    {
        let mut bench = Bench::open(size, &path, policy("opencode/output"));
        bench.keys(keys);
        let at = |bench: &Bench| {
            let pager = bench.pager();
            let focus = pager.panes.place.focus;
            let found = pager.find.current(focus).cloned().expect("a match");
            let bytes = match focus {
                Side::Spill => pager.output.view.to_vec(),
                Side::Preview => pager.output.view[..found.end as usize].to_vec(),
            };
            (focus, 1 + bytes[..found.start as usize].iter().filter(|byte| **byte == b'\n').count())
        };
        let walk = [20, 2500, 2600, 10];
        assert_eq!(at(&bench), (Side::Preview, 10), "{keys}");
        for line in walk {
            bench.keys(next);
            let side = if line == 20 { Side::Preview } else { Side::Spill };
            assert_eq!(at(&bench), (side, line), "{keys}: {:?}", bench.rows());
        }
    }
}

#[test]
fn n_finds_the_first_lost_match_in_the_other_text() {
    let home = Home::new();
    let log = String::from_utf8(test_log(8432))
        .expect("text")
        .replace("unit_1500\n", "unit_1500 here\n")
        .replace("unit_7000\n", "unit_7000 here\n");
    for size in SIZES {
        let mut bench = Bench::open(size, &home.file("build.log", &log), policy("opencode/output"));
        bench.keys("/here<Enter>");
        assert!(bench.status().contains("1 of 2 · model got 1"), "{}", bench.status());
        bench.keys("n");
        assert_eq!(bench.pager().focus(), Side::Spill);
        assert!(row(&bench, "unit_7000 here").contains("7000 ┊"), "{:?}", bench.rows());
        assert!(bench.status().contains("line 7,000 of 8,432 · lost"), "{}", bench.status());
    }
}

#[test]
fn a_search_stopped_before_any_match_shows_no_count() {
    let mut bench = open(SIZES[0]);
    let typed = "/zzz".chars().map(KeyCode::Char).chain([KeyCode::Enter]);
    // What the worker is asked for is not done.
    typed.for_each(|code| drop(bench.update(Event::Key(code.into()))));
    assert!(bench.status().contains("searching…"), "{}", bench.status());
    bench.keys("<Esc>");
    assert!(
        bench.status().contains("search stopped") && !bench.status().contains("0+"),
        "{}",
        bench.status()
    );
    assert!(bench.pager().find.pattern.is_none());
}
