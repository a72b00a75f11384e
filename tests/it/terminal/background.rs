//! The theme by the terminal's background: asked of the terminal, and never waited for in vain nor taken for keys.

use crate::common::home::Home;
use crate::common::session::Session;

const LIGHT: &str = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;c";
const DARK: &str = "\x1b]11;rgb:1e1e/1e1e/1e1e\x07\x1b[?62;c";
const SILENT: &str = "";

/// The colour of warnings in the themes `light`, `dark` and `16`, as a terminal gets it.
const WARNINGS: [&str; 3] = ["\x1b[38;5;94;49m", "\x1b[38;5;221;49m", "\x1b[38;5;3;49m"];

fn home() -> Home {
    let home = Home::new();
    home.file("big", (1..=3000).map(|n| format!("row {n}\n")).collect::<String>());
    home
}

fn has(raw: &[u8], text: &str) -> bool {
    raw.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Goes to the notice and checks that nothing was ever drawn in another theme.
#[track_caller]
fn is_drawn_only_in(theme: usize, session: &mut Session) {
    session.wait_for("row 1");
    session.keys("}").wait_for("Full output saved to");
    let seen = session.seen();
    let drawn: Vec<usize> = (0..3).filter(|n| has(&seen.raw, WARNINGS[*n])).collect();
    assert_eq!(drawn, [theme], "{}", seen.text());
}

#[test]
fn the_first_frame_uses_the_reported_background() {
    let home = home();
    for (answer, theme) in [(LIGHT, 0), (DARK, 1)] {
        // The variable counts only where the terminal does not answer.
        for variable in ["0;15", "15;0", ""] {
            let mut session = Session::start_answering(&home, answer, &[("COLORFGBG", variable)], &["big"]);
            is_drawn_only_in(theme, &mut session);
            session.keys("q");
            assert_eq!(session.ended(), 0);
            session.is_restored();
        }
    }
}

#[test]
fn falls_back_to_colorfgbg_and_then_to_16_colours() {
    let home = home();
    for answer in ["\x1b[?62;c", SILENT] {
        for (variable, theme) in [("0;15", 0), ("15;0", 1), ("", 2)] {
            let mut session = Session::start_answering(&home, answer, &[("COLORFGBG", variable)], &["big"]);
            is_drawn_only_in(theme, &mut session);
        }
    }
}

#[test]
fn a_late_background_report_changes_the_theme() {
    let home = home();
    let mut session = Session::start_answering(&home, SILENT, &[], &["big"]);
    is_drawn_only_in(2, &mut session);
    session.keys("g").wait_top("row 1");
    session.keys(LIGHT).wait_until("the theme", |seen| has(&seen.raw, WARNINGS[0]).then_some(()));
    assert!(!session.seen().text().contains("does nothing here"));
    session.keys("\tG").wait_for("row 3000");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn keys_typed_around_the_background_report_are_not_lost() {
    let home = home();
    for (keys, shown) in [
        // Before the program has the terminal.
        ("\t/row 2999\r", "row 2999"),
        // Like the begin of an answer.
        ("\x1b]\tG", "row 3000"),
        ("\x1b]11\tG", "row 3000"),
    ] {
        for answer in [LIGHT, SILENT] {
            let mut session = Session::start_answering(&home, answer, &[], &["big"]);
            session.keys(keys).wait_for(shown);
            session.keys("g").wait_top("1 │ row 1");
        }
    }
    let mut session = Session::start_answering(&home, SILENT, &[], &["big"]);
    session.wait_until("the question", |seen| seen.asked().then_some(()));
    session.keys(&format!("\t/row 2{LIGHT}999\r")).wait_for("/row 2999 1 of 1");
}

#[test]
fn reads_the_background_report_when_input_is_a_pipe() {
    let home = home();
    let mut session = Session::shell_answering(&home, LIGHT, "cat big | \"$overspill\"");
    is_drawn_only_in(0, &mut session);
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn does_not_query_the_background_when_the_theme_is_fixed() {
    let home = home();
    home.file("own.toml", "theme = \"dark\"\n");
    let is_asked = |vars: &[(&str, &str)], words: &[&str]| {
        let mut session = Session::start_answering(&home, SILENT, vars, words);
        session.wait_for("row 1");
        session.keys("q");
        assert_eq!(session.ended(), 0);
        session.seen().asked()
    };
    assert!(!is_asked(&[], &["--config", "own.toml", "big"]));
    let printing = [("TERM", "screen.xterm-256color"), ("STY", "1.pts-0.host"), ("TERM", "linux")];
    for variable in [("NO_COLOR", "1")].into_iter().chain(printing) {
        assert!(!is_asked(&[variable], &["big"]), "{variable:?}");
    }
    assert!(is_asked(&[("TERM", "screen-256color"), ("TMUX", "/tmp/tmux-0/default,1,0")], &["big"]));
}
