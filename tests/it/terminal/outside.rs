//! What others do to the program and its terminal: too small a terminal, changed modes, stopped and continued from
//! outside.

use std::process::Command;
use std::time::Instant;

use rustix::process::Signal;

use crate::common::home::{DEADLINE, Home};
use crate::common::session::{Seen, Session};

fn home() -> Home {
    let home = Home::new();
    home.file("big", (1..=3000).map(|n| format!("row {n}\n")).collect::<String>());
    home
}

/// Returns how often a text has been written to the terminal.
fn count(session: &Session, text: &str) -> usize {
    session.seen().raw.windows(text.len()).filter(|window| *window == text.as_bytes()).count()
}

#[test]
fn too_few_descriptors_are_reported() {
    let mut told = 0;
    for most in 6..12 {
        let home = home();
        let line = format!("ulimit -n {most}; \"$overspill\" big; echo status $?");
        let mut session = Session::shell(&home, &line);
        session.wait_until("an end, or the screens", |seen| {
            let text = seen.text();
            (text.contains("status") || text.contains("row 1")).then_some(())
        });
        session.keys("q");
        session.wait_for("status");
        let text = session.seen().text();
        let is_told = text.contains("status 1") && text.contains("ulimit -n");
        assert!(
            is_told || text.contains("status 0") && count(&session, "\x1b[?1049h") == 1,
            "{most}: {text}"
        );
        told += usize::from(is_told);
    }
    assert!(told > 0, "so few are too few");
}

#[test]
fn without_a_controlling_terminal_it_says_so() {
    let home = home();
    let mut session = Session::shell(&home, "setsid -w \"$overspill\" big < /dev/null; echo status $?");
    session.ended();
    let text = session.seen().text();
    assert!(text.contains("status 1") && text.contains("no controlling terminal"), "{text}");
}

#[test]
fn a_dumb_terminal_gets_the_list_and_the_reason() {
    let mut session = Session::start_with(&home(), &[("TERM", "dumb")], &[]);
    assert_eq!(session.ended(), 0);
    let text = session.seen().text();
    assert!(text.contains("TERM is not set or dumb"), "{text}");
}

#[test]
fn in_a_terminal_without_a_size_keys_are_heard() {
    let home = home();
    let line = "stty rows 0 cols 0; \"$overspill\" big; echo status $?";
    let mut session = Session::shell(&home, line);
    session.wait_until("the screens", |seen| seen.parser.screen().alternate_screen().then_some(()));
    session.keys("q");
    session.wait_for("status 0");
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_does_not_block_shows_the_screens() {
    let home = home();
    let line = "dd iflag=nonblock oflag=nonblock count=0 2> /dev/null; \"$overspill\" big; echo status $?";
    let mut session = Session::shell(&home, line);
    session.wait_for("row 1");
    session.keys("\tG").wait_for("row 3000");
    session.keys("q");
    session.wait_for("status 0");
}

#[test]
fn redrawing_removes_foreign_text_from_the_screen() {
    let home = home();
    let mut session = Session::start(&home, &["big"]);
    // Over the screen, a prompt, help and the drawer.
    let states = [
        ("", "row 1", " big"),
        ("/word", "/word", " big"),
        ("h", "half page", "┌ Keys"),
        ("l", "What if", " big"),
    ];
    for (keys, shown, first) in states {
        session.keys(keys).wait_for(shown);
        std::fs::write(session.name(), "\x1b[3;1Ha message to all\x1b[24;1H\nand a row more").unwrap();
        session.wait_for("a message to all").wait_for("and a row more");
        session.keys("\x0c").wait_gone("a message to all").wait_gone("and a row more").wait_for(shown);
        let is_back = |seen: &Seen| seen.text().starts_with(first);
        session.wait_until("the first row where it was", |seen| is_back(seen).then_some(()));
        session.keys("\x1b").wait_until("the end of it", |seen| {
            let is_over =
                if shown == "row 1" { seen.text().contains("q quits") } else { !seen.text().contains(shown) };
            is_over.then_some(())
        });
    }
}

#[test]
fn tstp_restores_the_terminal_and_cont_takes_it_again() {
    let home = home();
    let mut session = Session::start(&home, &["big"]);
    session.wait_for("row 1");
    let raw = session.modes();
    session.signal(Signal::TSTP);
    session.wait_until("end of the screens", |seen| (!seen.parser.screen().alternate_screen()).then_some(()));
    session.wait_until_stopped();
    session.signal(Signal::CONT);
    session.wait_for("row 1");
    session.keys("\tG").wait_for("row 3000");
    assert_eq!(session.modes(), raw);
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[cfg(target_os = "linux")]
#[test]
fn after_sigstop_it_sets_the_modes_again_and_redraws() {
    let home = home();
    let mut session = Session::start(&home, &["big"]);
    session.keys("\tG").wait_for("row 3000");
    let (raw, drawn) = (session.modes(), count(&session, "3000"));
    session.signal(Signal::STOP);
    // Like a shell that has its prompt in the foreground again.
    let sane = Command::new("stty").arg("-F").arg(session.name()).arg("sane").status().unwrap();
    assert!(sane.success() && session.modes() != raw);
    session.signal(Signal::CONT);
    let until = Instant::now() + DEADLINE;
    while session.modes() != raw || count(&session, "3000") == drawn {
        assert!(Instant::now() < until, "{}", session.seen().text());
        std::thread::yield_now();
    }
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}
