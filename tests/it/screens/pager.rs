//! One output: Preview and Spill in every state.

use overspill::internals::source::{Change, PathStatus, Source};
use overspill::internals::text::index::{BLOCK, BlockIndex};
use overspill::internals::text::units::Measure;
use overspill::internals::tui::app::{ContentChange, Event, Message, OutputEvent};
use overspill::internals::tui::job::Slot;
use overspill::internals::tui::pager::Pager;
use overspill::internals::tui::widget::canvas::Canvas;
use overspill::internals::tui::widget::layout::Side;
use overspill::internals::tui::widget::theme::Theme;
use overspill::preview::Direction;
use ratatui::style::Style;

use crate::common::bench::{Bench, policy, subject};
use crate::common::home::Home;
use crate::common::samples::{build_log, hostile, test_log};
use crate::screens::SIZES;

/// Opens a file with this content under opencode's policy.
fn open(size: (u16, u16), content: &[u8]) -> Bench {
    open_with(size, content, |_| ())
}

fn open_with(size: (u16, u16), content: &[u8], set: impl FnOnce(&mut overspill::preview::Policy)) -> Bench {
    let home = Home::new();
    let mut policy = policy("opencode/output");
    set(&mut policy);
    // The map outlives the file's name, so the home directory may be removed.
    Bench::open(size, &home.file("build.log", content), policy)
}

/// Checks a screen against the snapshot `NAME_WIDTHxHEIGHT`.
fn keep(name: &str, bench: &Bench) {
    let (width, height) = bench.app.canvas.size;
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), bench.screen());
    });
}

#[test]
fn the_first_screen_of_a_long_output() {
    for size in SIZES {
        keep("first", &open(size, &test_log(8432)));
    }
}

#[test]
fn a_failed_command_under_the_policy_of_one_that_succeeds() {
    let home = Home::new();
    let path = home.file("build.log", test_log(8432));
    let mut bench = Bench::open(SIZES[0], &path, policy("claude-code/bash"));
    bench.app.screen_mut::<Pager>().unwrap().output.subject.context.exit_code = Some(2);
    keep("failed", &bench);
    keep("failed_form", &Bench::open(SIZES[0], &path, policy("claude-code/bash-failed")));
}

#[test]
fn the_cut_by_lines() {
    for size in SIZES {
        let mut bench = open(size, &test_log(8432));
        keep("cut_by_lines", bench.keys("G"));
        keep("cut_by_lines_spill", bench.keys("<Tab>"));
    }
}

#[test]
fn the_cut_by_bytes() {
    for size in SIZES {
        let mut bench = open(size, &build_log(6433));
        keep("cut_by_bytes", bench.keys("G"));
        keep("cut_by_bytes_spill", bench.keys("<Tab>"));
    }
}

#[test]
fn the_end_kept() {
    for size in SIZES {
        let tail = |policy: &mut overspill::preview::Policy| policy.set_direction(Direction::Tail).unwrap();
        let mut bench = open_with(size, &test_log(8432), tail);
        keep("tail", &bench);
        keep("tail_spill", bench.keys("<Tab>").keys("g").keys("6434G5k"));
    }
}

#[test]
fn nothing_cut() {
    for size in SIZES {
        let mut bench = open(size, &build_log(12));
        keep("nothing_cut", &bench);
        keep("nothing_cut_spill", bench.keys("<Tab>"));
    }
    keep("nothing_cut_long", open(SIZES[0], &build_log(312)).keys("G"));
    keep("one_line", &open(SIZES[0], b"hello"));
}

#[test]
fn nothing_kept() {
    let content = [vec![b'x'; 200 << 10], b"\nsecond line\n".to_vec()].concat();
    for size in SIZES {
        let mut bench = open(size, &content);
        keep("nothing_kept", &bench);
        keep("nothing_kept_spill", bench.keys("<Tab>"));
    }
}

#[test]
fn an_empty_file() {
    for size in SIZES {
        let mut bench = open(size, b"");
        keep("empty", &bench);
        keep("empty_spill", bench.keys("<Tab>"));
    }
}

#[test]
fn counting_in_progress() {
    for size in SIZES {
        let home = Home::new();
        let mut bench = Bench::new(size);
        let content = build_log(60_000);
        bench.start(&home.file("build.log", &content), policy("opencode/output"));
        bench.count(0, 14);
        keep("counting", bench.keys("G"));
        keep("counting_spill", bench.keys("<Tab>"));
        bench.count(14, usize::MAX);
        assert!(bench.screen().contains("of 60,000"), "{}", bench.screen());
    }
}

#[test]
fn a_window_of_the_spill() {
    for size in SIZES {
        keep("window", open(size, &test_log(8432)).keys("]"));
        keep("window_typed", open(size, &test_log(8432)).keys("o2001 500<Enter>"));
        keep("window_last", open(size, &test_log(8432)).keys("]]]"));
    }
}

#[test]
fn a_hundred_percent_is_the_last_line() {
    let mut bench = open(SIZES[0], &build_log(4000));
    let status = bench.keys("100%").status();
    assert!(status.contains("line 4,000 ") && !status.contains("4,001"), "{status}");
}

#[test]
fn a_search_that_wraps_says_to_which_end() {
    let mut bench = open(SIZES[0], b"one needle\ntwo\nthree needle\n");
    bench.keys("<Tab>/needle<Enter>n");
    assert!(!bench.status().contains("wrapped"), "{}", bench.status());
    assert!(bench.keys("n").status().contains("search wrapped to the top"), "{}", bench.status());
    assert!(bench.keys("N").status().contains("search wrapped to the bottom"), "{}", bench.status());
}

#[test]
fn a_search() {
    for size in SIZES {
        let mut bench = open(size, &test_log(8432));
        keep("search", bench.keys("/skip<Enter>"));
        keep("search_next", bench.keys("nn"));
        keep("search_spill", bench.keys("<Tab>/error<Enter>"));
    }
    keep("search_nothing", open(SIZES[0], &build_log(40)).keys("/nosuch<Enter>"));
    keep("search_bad", open(SIZES[0], &build_log(40)).keys("/a(b<Enter>"));
}

#[test]
fn prompts() {
    keep("prompt_search", open(SIZES[0], &build_log(40)).keys("/err"));
    keep("prompt_window", open(SIZES[0], &build_log(40)).keys("o"));
    keep("prompt_goto", open(SIZES[0], &build_log(40)).keys(":50%"));
    keep("prompt_count", open(SIZES[0], &build_log(40)).keys("12"));
}

#[test]
fn overlays() {
    for size in SIZES {
        keep("help", open(size, &test_log(8432)).keys("h"));
        keep("facts", open(size, &test_log(8432)).keys("="));
        keep("limits", open(size, &test_log(8432)).keys("l"));
        keep("policies", open(size, &test_log(8432)).keys("lp"));
    }
    keep("help_of_limits", open(SIZES[0], &test_log(8432)).keys("lh"));
    keep("help_all_end", open(SIZES[0], &test_log(8432)).keys("h<Tab>").keys(&"j".repeat(90)));
}

#[test]
fn no_key_in_help_reaches_the_view_below() {
    let mut bench = open(SIZES[0], &test_log(8432));
    let before = bench.rows();
    bench.keys("h");
    assert!(bench.keys("D").status().contains("D does nothing in help; h closes it"), "{}", bench.status());
    assert!(bench.keys("5Gwp/x<Tab><Tab>q").app.layers().next().is_none());
    assert_eq!(bench.rows(), before);
}

#[test]
fn wide_facts_are_folded_and_not_clipped() {
    let home = Home::new();
    let source = Source::open(&home.file("build.log", test_log(40))).unwrap();
    let saved_as = format!("/出力/{}.log", "日本語の長い名前".repeat(8));
    let mut bench = Bench::new(SIZES[0]);
    let mut shown = subject(policy("opencode/output"));
    shown.context.saved_as.clone_from(&saved_as);
    let effects = bench.show(shown, &source);
    bench.carry_out(effects);
    keep("wide_facts", bench.keys("="));
    let rows = bench.rows();
    let inside = |row: &String| row.split('│').nth(1).map(|fact| fact.replace(' ', ""));
    let facts: String = rows[1..].iter().filter_map(inside).collect();
    assert!(facts.starts_with(&format!("file{saved_as}size")), "{facts}");
}

#[test]
fn the_picker_lists_earlier_policies_after_current_ones() {
    let mut bench = open(SIZES[0], &test_log(8432));
    let names = |bench: &Bench| bench.rows().join("\n");
    keep("policies_earlier", bench.keys("lp/earlier<Enter>"));
    let home = Home::new();
    let mut bench = Bench::open(SIZES[0], &home.file("build.log", test_log(40)), policy("opencode/metadata"));
    assert!(names(bench.keys("lp")).contains("▌@opencode/metadata "), "the one in use comes first");
}

#[test]
fn shows_warnings_about_a_preview() {
    let home = Home::new();
    for size in SIZES {
        let path = home.file("build.log", test_log(8432));
        let mut bench = Bench::open(size, &path, policy("opencode/shell"));
        keep("warned", &bench);
        keep("warned_facts", bench.keys("="));
    }
}

#[test]
fn warnings_about_an_agents_store_skip_overspills_own_outputs() {
    let home = Home::new();
    let path = home.file("build.log", test_log(8432));
    let mut bench = Bench::open((200, 50), &path, policy("claude-code/bash-failed"));
    assert!(bench.screen().contains("! its end is gone"), "{}", bench.screen());
    bench.app.screen_mut::<Pager>().unwrap().output.first.is_own = true;
    for keys in ["g", "="] {
        let shown = bench.keys(keys).screen();
        assert!(!shown.contains("its end is gone") && !shown.contains("saves nothing"), "{shown}");
    }
}

#[test]
fn limits_turned() {
    for size in SIZES {
        keep("limits_turned", open(size, &test_log(8432)).keys("l--<Enter>"));
        keep("direction_turned", open(size, &test_log(8432)).keys("lD<Enter>"));
    }
}

#[test]
fn messages() {
    let mut bench = open(SIZES[0], &build_log(40));
    keep("message", bench.keys("w"));
    keep("no_such_line", bench.keys("99G"));
    keep("no_such_key", bench.keys("Z"));
    bench.update(Event::Message(Message::error("vi: no such program; $EDITOR names the editor")));
    keep("error", &bench);
}

#[test]
fn a_file_cut_under_the_reader() {
    let home = Home::new();
    let path = home.file("build.log", test_log(8432));
    let mut bench = Bench::open(SIZES[0], &path, policy("opencode/output"));
    bench.keys("G");
    std::fs::File::options().write(true).open(&path).unwrap().set_len(300).unwrap();
    bench.look();
    keep("cut_under_reader", &bench);
}

#[test]
fn a_late_count_of_a_shorter_file_is_dropped() {
    let home = Home::new();
    let path = home.file("build.log", "first\n");
    let mut bench = Bench::new(SIZES[0]);
    bench.asked = bench.start(&path, policy("opencode/output"));
    let view = bench.source.as_ref().unwrap().view();
    let counts = BlockIndex::count(&view, BLOCK, 0..1);
    let late = OutputEvent::Counted { counts, measure: Measure::default(), measured: 0..6 };
    let late = bench.report(Slot::CountLines, 0, late);
    std::fs::write(&path, "first\nsecond\n").unwrap();
    let source = bench.source.as_mut().unwrap();
    let content = source.refresh();
    let changed = ContentChange { view: source.view(), content, path: PathStatus::Current, streaming: false };
    let effects = bench.update(OutputEvent::Changed(changed));
    bench.update(late);
    bench.carry_out(effects);
    assert!(bench.status().contains("the model got all 2 lines"), "{}", bench.status());
}

#[test]
fn says_that_a_file_is_compressed_and_does_not_follow_it() {
    let mut bench = open(SIZES[0], &test_log(8432));
    bench.update(OutputEvent::Packed("gzip", 4200));
    let rows = bench.keys("=").rows().join("\n");
    assert!(rows.contains(" (gzip, 4.1 KB compressed)"), "{rows}");
    bench.keys("<Esc>F");
    assert!(bench.status().contains("a compressed file is read once"), "{}", bench.status());
    assert!(!bench.rows()[0].contains("FOLLOW"), "{}", bench.rows()[0]);
}

#[test]
fn a_compressed_file_is_followed_until_all_of_it_is_unpacked() {
    let mut bench = open(SIZES[0], &test_log(8432));
    let view = bench.source.as_ref().unwrap().view();
    let look = |bench: &mut Bench, streaming| {
        let path = PathStatus::Current;
        let view = view.clone();
        bench.update(OutputEvent::Changed(ContentChange { view, content: Change::Same, path, streaming }));
        bench.update(OutputEvent::Packed("gzip", 4200));
    };
    look(&mut bench, true);
    bench.keys("F");
    assert!(bench.rows()[0].contains("FOLLOW"), "{}", bench.rows()[0]);
    look(&mut bench, false);
    assert!(!bench.rows()[0].contains("FOLLOW"), "{}", bench.rows()[0]);
}

#[test]
fn the_map_shows_the_kept_part_even_if_errors_are_everywhere() {
    let map =
        |bench: &Bench| bench.rows()[1..22].iter().filter_map(|row| row.chars().last()).collect::<String>();
    let log = "error: one\nfine\n".repeat(2000);
    let bench = open(SIZES[0], log.as_bytes());
    assert_eq!(map(&bench), "◂█████████●●●●●●●●●●●");
    let whole = open(SIZES[0], &log.as_bytes()[..log.len() / 4]);
    assert_eq!(map(&whole), "◂●●●●●●●●●●●●●●●●●●●●", "nothing was lost");
}

#[test]
fn a_file_deleted_under_the_reader() {
    let home = Home::new();
    let path = home.file("build.log", build_log(40));
    let mut bench = Bench::open(SIZES[0], &path, policy("opencode/output"));
    std::fs::remove_file(&path).unwrap();
    bench.look();
    keep("deleted_under_reader", &bench);
}

#[test]
fn hostile_bytes_are_shown_escaped() {
    for size in SIZES {
        let mut bench = open(size, &hostile());
        keep("hostile", &bench);
        keep("hostile_spill", bench.keys("<Tab>"));
    }
    keep("hostile_raw", open(SIZES[0], &hostile()).keys("<Tab>r"));
    keep("hostile_sideways", open(SIZES[0], &hostile()).keys("<Tab>w<Right>"));
}

#[test]
fn without_colour() {
    for size in SIZES {
        let mut bench = open(size, &test_log(8432));
        bench.repaint(Canvas { theme: Theme::named("plain"), ..bench.app.canvas });
        keep("plain", bench.keys("/skip<Enter>G"));
        keep("plain_spill", bench.keys("<Tab>"));
    }
}

#[test]
fn in_blue_and_orange() {
    for (theme, name) in [("blue-orange", "blue_orange_dark"), ("blue-orange-light", "blue_orange_light")] {
        let mut bench = open((140, 24), &test_log(8432));
        bench.repaint(Canvas { theme: Theme::named(theme), ..bench.app.canvas });
        keep(name, bench.keys("/skip<Enter>eG"));
    }
}

#[test]
fn a_message_that_is_too_long_ends_in_an_ellipsis() {
    let mut bench = open((40, 12), &test_log(8432));
    bench.keys("/a word that is in no line of this log<Enter>");
    assert_eq!(bench.rows()[11], " no match for a word that is in no line…");
    let mut stores = Bench::new((40, 12));
    stores.update(Event::Message(Message::note("a message of more than forty columns of text")));
    assert_eq!(stores.rows()[11], " a message of more than forty columns o…");
}

#[test]
fn an_estimated_line_number_fits_its_column() {
    let home = Home::new();
    let mut bench = Bench::new((80, 24));
    bench.start(&home.file("build.log", "x\n".repeat(12_000_000)), policy("opencode/output"));
    let rows = bench.keys("<Tab>G").rows();
    assert!(rows[10].starts_with("~1") && rows[10].contains(" ┊ x "), "{rows:#?}");
}

#[test]
fn without_unicode() {
    for size in SIZES {
        let mut bench = open(size, &[test_log(8432), hostile()].concat());
        bench.repaint(Canvas { unicode: false, ..bench.app.canvas });
        for keys in ["G", "<Tab>", "h"] {
            let screen = bench.keys(keys).rows();
            let odd: Vec<_> = screen.iter().filter(|row| !row.is_ascii()).collect();
            assert!(odd.is_empty(), "after {keys}: {odd:?}");
        }
        keep("ascii", bench.keys("<Esc>"));
    }
}

#[test]
fn both_texts_stand_side_by_side_on_request_where_there_is_room() {
    let both =
        |bench: &Bench| bench.rows()[1].contains("Model got") && bench.rows()[1].contains("Whole output");
    let mut bench = open((99, 24), &test_log(8432));
    assert!(bench.keys("s").status().contains("side by side needs 100 columns"), "{}", bench.status());
    assert!(!both(&bench));
    assert!(!both(bench.resize((139, 24))) && both(bench.keys("s")) && both(bench.resize((100, 24))));
    bench.keys("<Tab>");
    assert_eq!(bench.pager().focus(), Side::Spill);
    assert!(!both(bench.keys("s")) && !both(bench.resize((200, 24))) && both(bench.keys("s")));
}

#[test]
fn lines_with_errors_and_warnings_are_marked_in_both_texts() {
    let log = "ok\nerror: one\nwarning: two\n{\"level\":\"error\"}\n";
    let bench = open((140, 24), log.as_bytes());
    let (buffer, theme) = (bench.draw().0, Theme::named("16"));
    let spill = bench.rows()[3].chars().position(|sign| sign == '│').expect("the rule") as u16 + 5;
    let looks = |x: u16| [2, 3, 4, 5].map(|y| buffer[(x, y)].fg);
    let [plain, error, warning] =
        [Style::new(), theme.error, theme.warning].map(|style| style.fg.unwrap_or_default());
    assert_eq!(looks(spill), [plain, error, warning, error]);
    assert_eq!([2, 3, 4, 5].map(|y| buffer[(0, y)].symbol()), [" ", "●", "•", "●"]);
}

#[test]
fn an_error_is_a_single_dot_in_the_map() {
    let log = format!("{}error: here\n{}", "ok\n".repeat(300), "ok\n".repeat(100));
    for size in SIZES {
        let bench = open(size, log.as_bytes());
        let dots = bench.rows().iter().filter(|row| row.ends_with('●')).count();
        assert!((1..=2).contains(&dots), "{:#?}", bench.rows());
    }
}

#[test]
fn the_status_counts_lines_as_they_are_numbered() {
    for (direction, got) in
        [(Direction::Head, "got 2,000 of 8,432 lines"), (Direction::Tail, "got 1,999 of 8,432 lines")]
    {
        let bench = open_with((120, 24), &test_log(8432), |policy| policy.set_direction(direction).unwrap());
        assert!(bench.status().contains(got), "{}", bench.status());
    }
}

#[test]
fn a_too_small_screen_shows_one_sentence() {
    let mut bench = open((80, 24), &test_log(40));
    for size in [(39, 24), (80, 7), (5, 2)] {
        assert!(bench.resize(size).rows()[0].starts_with("overs"), "{:?}", bench.rows());
        assert!(bench.rows()[1..].iter().all(|row| row.trim().is_empty()), "{:?}", bench.rows());
    }
    assert!(bench.resize((40, 8)).rows()[1].contains("unit_1"), "{:?}", bench.rows());
}
