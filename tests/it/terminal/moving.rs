//! Moving around in an output, and changing its limits.

use crate::common::home::Home;
use crate::common::samples::test_log;
use crate::common::session::Session;

/// A log that is cut after 2,000 of its 8,432 lines.
fn cut() -> Home {
    let home = Home::new();
    home.file("build.log", test_log(8432));
    home
}

fn open(home: &Home) -> Session {
    let session = Session::start(home, &["build.log"]);
    session.wait_status("gets 2,000 of 8,432 lines");
    session
}

#[test]
fn preview_opens_first_and_tab_goes_to_the_spill() {
    let home = cut();
    let mut session = open(&home);
    session.wait_top("^[[32mok^[[0m   unit_1");
    session.keys("G").wait_for("...6433 lines truncated...").wait_for("Full output saved to:");
    session.keys("\t").wait_for("lost from here: over 2,000 lines").wait_for("2001 ┊ ok   unit_2001");
    session.keys("g").wait_top("1 │ ok   unit_1");
    session.keys("\t").wait_top("^[[32mok^[[0m   unit_1");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn keys_page_and_go_to_lines() {
    let home = cut();
    let mut session = open(&home);
    session.keys("\t").wait_top("1 │ ok   unit_1");
    session.keys("j").wait_top("2 │");
    session.keys("3k").wait_top("1 │");
    session.keys(" ").wait_top("21 │");
    session.keys("b").wait_top("1 │");
    session.keys("d").wait_top("11 │");
    session.keys("u").wait_top("1 │");
    session.keys("100G").wait_top("100 │");
    session.keys("''").wait_top("1 │");
    session.keys("G").wait_for("8432 ┊ ok   unit_8432");
    session.keys("9999G").wait_status("no line 9,999: the last is 8,432");
}

#[test]
fn windows_page_as_an_agent_does() {
    let home = cut();
    let mut session = open(&home);
    session.keys("]").wait_status("offset 2001 limit 2000");
    session.wait_for("2001 ┊ ok   unit_2001");
    session.keys("[").wait_status("offset 1 limit 2000").wait_top("1 │");
    session.keys("o").wait_status("offset [limit], e.g. 2001 2000:");
    session.keys("2001 500\r").wait_status("offset 2001 limit 500");
    session.keys("]").wait_status("offset 2501 limit 500").wait_top("2501 ┊");
}

#[test]
fn a_search_goes_on_and_back() {
    let home = cut();
    let mut session = open(&home);
    session.keys("\t/skip\r").wait_status("/skip 1 of 87 · model gets 21").wait_for("50 │ skip unit_50");
    session.keys("n").wait_status("/skip 2 of 87").wait_for("147 │ skip unit_147");
    session.keys("N").wait_status("/skip 1 of 87");
    session
        .keys("/error\r")
        .wait_status("/error 1 of 1 · model gets 0")
        .wait_for("8421 ┊ error: unit_x failed");
    session.keys("/nothing like it\r").wait_status("no match for nothing like it");
    session.keys("/a(\r").wait_status("/a( — unclosed group at column 2");
}

#[test]
fn keys_change_limits_and_the_preview_follows() {
    let home = cut();
    let mut session = open(&home);
    session.keys("G").wait_for("...6433 lines truncated...");
    session.keys("-").wait_status("l changes limits");
    session.keys("l-").wait_for("max lines 1,500").wait_for("...6933 lines truncated...");
    session.keys("+").wait_for("limits as at the start").wait_for("unit_1998");
    session.keys("D").wait_for("is now lost").wait_for("▌...6433 lines truncated...");
    session.keys("\t:8000\rk").wait_top("7999 │ ok   unit_7999");
    session.keys("D").wait_for("line 7,999 is now lost").wait_top("7999 ┊ ok   unit_7999");
    session.keys("D\r").wait_gone("What if").wait_status("l R Enter ends that").wait_for("would get");
    session.keys("lR\r").wait_status("the limits are those of the start");
}

#[test]
fn a_wider_terminal_shows_both_sides() {
    let home = cut();
    let mut session = open(&home);
    session.resize(200, 50).wait_for("Model would get").wait_for("Whole output · 8,432 lines");
    session.resize(60, 10).wait_gone("Whole output · 8,432 lines");
    session.resize(5, 2).wait_for("overs");
    session.resize(80, 24).wait_status("gets 2,000 of 8,432 lines");
}

#[test]
fn the_wheel_scrolls_by_arrow_keys() {
    let home = cut();
    let mut session = open(&home);
    session.wait_until("alternate scroll", |seen| {
        seen.raw.windows(8).any(|window| window == b"\x1b[?1007h").then_some(())
    });
    session.keys("\t").wait_top("1 │");
    session.keys("\x1b[B\x1b[B\x1b[B").wait_top("4 │");
    session.keys("\x1bOA\x1bOA\x1bOA").wait_top("1 │");
}

#[test]
fn help_has_every_key_and_esc_leaves_it() {
    let home = cut();
    let mut session = open(&home);
    session.keys("h").wait_for(" Keys ").wait_for("Signs in an output");
    session.keys("\t").wait_for("down a line");
    session.keys(&"j".repeat(200)).wait_for("can be deleted");
    session.keys("\x1b").wait_gone("can be deleted");
    session.keys("hq").wait_gone("Signs in an output");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn a_filter_shows_which_errors_the_model_missed() {
    let home = Home::new();
    home.file("build.log", test_log(200_000));
    let mut session = Session::start(&home, &["build.log"]);
    session.wait_status("gets 2,000 of 200,000 lines");
    session.keys("&skip\r").wait_top("50 │ skip unit_50").wait_status("&skip · 2,062 lines, model gets 21");
    session.keys("&\t\r").wait_for("2087 ┊ skip unit_2087").wait_status("2,041 of 2,062 lines");
    session.keys("G").wait_for("skip unit_199967");
    session.keys("\x1b").wait_status("all lines are shown").wait_top("^[[32mok^[[0m   unit_1");
}

#[test]
fn own_keys_are_read_from_the_configuration() {
    let home = cut();
    let config = home.work().with_file_name("config").join("overspill");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(
        config.join("config.toml"),
        "[keys]\nsearch = [\"ctrl-f\"]\npage-down = \"space\"\nhelp = \"f2\"\n",
    )
    .unwrap();
    let mut session = open(&home);
    session.wait_status("F2 help");
    session.keys("\x06error\r").wait_for("model gets 0");
    session.keys("/").wait_status("/ does nothing here; F2 for help");
    session.keys("\x1bOQ").wait_for("F2 closes");
    session.keys("q").wait_status("model gets 0");
    session.keys("q");
    assert_eq!(session.ended(), 0);
}
