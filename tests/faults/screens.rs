//! The program under test on a terminal: what is typed, what it told on its screens, and how it left the terminal.

use std::collections::BTreeSet;
use std::fs;
use std::num::NonZeroU16;
use std::time::Duration;

use crate::common::home::{DEADLINE, Home, Ran};
use crate::common::session::Session;
use crate::scenes::Step;

/// As wide as messages with long paths need.
const SIZE: (u16, u16) = (240, 24);

/// After a fault what is waited for may never be shown. Keys are then typed all the same.
const PATIENCE: Duration = Duration::from_secs(3);

/// How each frame ends: the cursor is hidden again.
const FRAME_END: &[u8] = b"\x1b[?25l";

/// Runs a line of shell on a terminal. What is taken for standard output is how far the steps came and how the
/// terminal was left; for standard error, the program's own and what its screens told of errors.
pub fn play(home: &Home, vars: &[(&str, &str)], line: &str, steps: &[Step]) -> Ran {
    let line = format!("{{ {line}; }} 2> err; exit $?");
    let mut session = Session::shell_with(home, SIZE, vars, &line);
    let mut out = String::new();
    for Step { shown, keys } in steps {
        // At the foot, that is: in a list it stays.
        let comes =
            session.holds_within(PATIENCE, |seen| seen.text().contains(shown) || is_told(&seen.status()));
        let is_shown = session.seen().text().contains(shown);
        if !is_shown {
            out += &format!("never shown: {shown}\n");
        }
        if !comes && session.seen().ended {
            break;
        }
        session.keys(keys);
    }
    leave(&mut session);
    let status = session.ended();
    out += &left(&session);
    let told = fs::read_to_string(home.at("err")).unwrap_or_default() + &told(&session.seen().raw);
    let _ = fs::remove_file(home.at("err"));
    Ran { status: status.cast_signed(), stdout: out.into_bytes(), stderr: told }
}

fn is_told(text: &str) -> bool {
    text.contains("(os error ")
}

/// Whatever is shown, these keys end the screens sooner or later.
fn leave(session: &mut Session) {
    let tries = DEADLINE.as_secs() / PATIENCE.as_secs();
    for keys in ["\x1b", "Q", "n"].into_iter().cycle().take(tries as usize) {
        session.holds_within(PATIENCE, |_| false);
        if session.seen().ended {
            return;
        }
        session.keys(keys);
    }
}

/// What of the terminal is not as it was.
fn left(session: &Session) -> String {
    let seen = session.seen();
    let screen = seen.parser.screen();
    let is_left = [
        ("alternate screen", screen.alternate_screen()),
        ("hidden cursor", screen.hide_cursor()),
        ("bracketed paste", screen.bracketed_paste()),
        ("modes", modes(&session.modes()) != modes(&session.before)),
    ];
    is_left.into_iter().filter(|(_, is_left)| *is_left).map(|(what, _)| format!("left: {what}\n")).collect()
}

/// Without the control modes: with the feature `faults` the input speed is set there.
fn modes(all: &str) -> String {
    let kept = |field: &&str| !field.contains("c_cflag") && !field.contains("control_flags");
    all.split(", ").filter(kept).collect()
}

/// The rows of all frames that tell of an error, each once.
fn told(raw: &[u8]) -> String {
    let [columns, rows] = [SIZE.0, SIZE.1].map(|size| NonZeroU16::new(size).expect("room"));
    let mut parser = vt100::Parser::new(rows, columns, 0);
    let (mut rest, mut told) = (raw, BTreeSet::new());
    while !rest.is_empty() {
        let end = rest.windows(FRAME_END.len()).position(|window| window == FRAME_END);
        let (frame, after) = rest.split_at(end.map_or(rest.len(), |at| at + FRAME_END.len()));
        parser.process(frame);
        rest = after;
        let text = parser.screen().contents();
        // A row of the list names its output only while it is chosen.
        let last = text.lines().last().unwrap_or_default();
        let name = |line: &str| if line == last { String::new() } else { "in a row: ".into() };
        told.extend(text.lines().filter(|line| is_told(line)).map(|line| name(line) + line.trim() + "\n"));
    }
    told.into_iter().collect()
}
