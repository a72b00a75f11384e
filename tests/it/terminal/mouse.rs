//! The wheel of the mouse: the terminal's own by default; taken on request, and given back whatever happens.

use rustix::process::Signal;
use vt100::{MouseProtocolEncoding, MouseProtocolMode};

use crate::common::home::Home;
use crate::common::session::Session;

const UP: &str = "\x1b[<64;10;10M";
const DOWN: &str = "\x1b[<65;10;10M";

fn home() -> Home {
    let home = Home::new();
    home.file("big", (1..=3000).map(|n| format!("row {n}\n")).collect::<String>());
    home.file("own.toml", "mouse = \"wheel\"\n");
    home
}

fn start(home: &Home) -> Session {
    let session = Session::start(home, &["--config", "own.toml", "big"]);
    session.wait_for("row 1");
    session
}

#[track_caller]
fn is_taken(session: &Session) {
    session.wait_until("the buttons", |seen| {
        let screen = seen.parser.screen();
        (screen.mouse_protocol_mode() == MouseProtocolMode::PressRelease
            && screen.mouse_protocol_encoding() == MouseProtocolEncoding::Sgr)
            .then_some(())
    });
}

#[test]
fn the_wheel_scrolls_by_three_lines_and_buttons_do_nothing() {
    let home = home();
    let mut session = start(&home);
    is_taken(&session);
    session.keys(DOWN).wait_top("row 4");
    session.keys(&DOWN.repeat(2)).wait_top("row 10");
    session.keys("\x1b[<0;5;5M\x1b[<0;5;5m").keys(UP).wait_top("row 7");
    // A line that is typed stays; help scrolls.
    session.keys("/row").wait_status("/row");
    session.keys(UP).keys(" 9").wait_status("/row 9");
    session.keys("\x1b").wait_status("h help");
    session.keys("h\t").wait_for("keys 1-21");
    session.keys(DOWN).wait_for("keys 4-24");
    session.keys("q").wait_gone("keys 4-24");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn the_mouse_is_released_on_a_stop_and_on_a_fatal_signal() {
    let home = home();
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let session = &mut start(&home);
        is_taken(session);
        session.signal(Signal::TSTP);
        session.wait_until("end of the screens", |seen| {
            (!seen.parser.screen().alternate_screen()).then_some(())
        });
        session.wait_until_stopped();
        assert_eq!(session.seen().parser.screen().mouse_protocol_mode(), MouseProtocolMode::None);
        session.signal(Signal::CONT);
        is_taken(session);
        session.keys(DOWN).wait_top("row 4");
        session.signal(signal);
        assert_eq!(session.ended(), status);
        session.is_restored();
    }
}

#[test]
fn does_not_capture_the_mouse_by_default() {
    let home = home();
    let mut session = Session::start(&home, &["big"]);
    session.wait_for("row 1").wait_status("h help");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    let seen = session.seen();
    let has = |mode: &str| seen.raw.windows(mode.len()).any(|window| window == mode.as_bytes());
    assert!(!has("?1000") && !has("?1002") && !has("?1003") && !has("?1006"));
}
