//! Places in a file as `less` and editors take them, and `-F`.

use crate::common::home::{Home, fifo};
use crate::common::samples::test_log;
use crate::common::session::Session;

/// A log that is cut after 2,000 of its 8,432 lines.
fn cut() -> Home {
    let home = Home::new();
    home.file("build.log", test_log(8432));
    home
}

#[test]
fn a_place_on_the_command_line_is_opened() {
    let home = cut();
    for (words, top) in [
        // What the model did not get is shown in Spill.
        (&["+4000", "build.log"][..], "4000 ┊ ok   unit_4000"),
        (&["build.log:4000"], "4000 ┊ ok   unit_4000"),
        (&["build.log:100"], "^[[32mok^[[0m   unit_100"),
        (&["build.log", "+/unit_4001"], "3994 ┊ ok   unit_3994"),
    ] {
        let mut session = Session::start(&home, words);
        session.wait_top(top);
        session.keys("q");
        assert_eq!(session.ended(), 0, "{words:?}");
    }
    let mut session = Session::start(&home, &["+G", "build.log"]);
    session.wait_for("8432 ┊");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    let session = Session::start(&home, &["+9999", "build.log"]);
    session.wait_status("no line 9,999: the last is 8,432");
    let session = Session::start(&home, &["+/a(b", "build.log"]);
    session.wait_status("unclosed group");
}

#[test]
fn a_place_is_opened_in_an_output_that_is_piped_in() {
    let home = Home::new();
    fifo(&home.at("more"));
    let piped = r#"{ seq 1 3000; cat more; seq 3001 4000; } | "$overspill""#;
    for (place, first, then) in [
        ("+2900", "2900 ┊ 2900", "2900 ┊ 2900"),
        ("+3500", "would get", "3500 ┊ 3500"),
        ("+/^3200$", "would get", "3200 ┊ 3200"),
        ("+G", "3000 ┊ 3000", "4000 ┊ 4000"),
    ] {
        let mut session = Session::shell(&home, &format!("{piped} {place}"));
        session.wait_for(first);
        std::fs::write(home.at("more"), "").unwrap();
        session.wait_for(then);
        session.keys("Q");
        assert_eq!(session.ended(), 0, "{place}");
    }
}

#[test]
fn an_output_that_fits_on_one_screen_is_printed() {
    let home = cut();
    home.file("small.log", "a\x1b]0;gotcha\x07b\n\x1b[31mred\x1b[0m\n");
    let mut session = Session::start(&home, &["-F", "small.log"]);
    session.wait_for("ab");
    assert_eq!(session.ended(), 0);
    assert!(!session.seen().raw.windows(8).any(|bytes| bytes == b"\x1b[?1049h"), "no screen of its own");
    let mut session = Session::start(&home, &["-F", "build.log"]);
    session.wait_status("gets 2,000 of 8,432 lines");
    session.keys("q");
    assert_eq!(session.ended(), 0);
}
