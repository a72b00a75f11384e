//! Nothing in an output, a name or an error reaches the terminal raw.

use std::collections::BTreeSet;

use crate::common::home::Home;
use crate::common::samples::hostile;
use crate::common::sequences::kinds;
use crate::common::session::{QUESTION, Session};

/// What the screens themselves send to a terminal: styles, positions, clearing, and restoring the modes.
const OURS: [&str; 14] = [
    "CSI m",
    "CSI H",
    "CSI J",
    "CSI K",
    "CSI ?1049h",
    "CSI ?1049l",
    "CSI ?1007h",
    "CSI ?1007s",
    "CSI ?1007r",
    "CSI ?2004h",
    "CSI ?2004l",
    "CSI ?25h",
    "CSI ?25l",
    "CSI ?1l",
];

fn not_ours(raw: &[u8]) -> BTreeSet<String> {
    let question = raw.windows(QUESTION.len()).position(|window| window == QUESTION).expect("a question");
    kinds(&[&raw[..question], &raw[question + QUESTION.len()..]].concat())
        .into_iter()
        .filter(|kind| !OURS.contains(&kind.as_str()))
        .collect()
}

#[test]
fn hostile_bytes_do_not_reach_the_terminal() {
    let home = Home::new();
    home.file("\x1b]0;name\x07\u{202e}.log", hostile());
    let mut session = Session::start(&home, &["\x1b]0;name\x07\u{202e}.log"]);
    session.wait_for("title: ^[]0;owned^G done").wait_for("the model gets all 10 lines");
    session.keys("\t").wait_for("title:  done").wait_for("<FF>");
    session.keys("r").wait_for("^[]52;c;b3duZWQ=^[\\");
    session.keys("w\x1b[C").wait_status("");
    session.keys("=").wait_for("Facts");
    session.keys("\x1b").wait_gone("Facts");
    session.keys("/").wait_status("Enter search");
    session.keys("\x1b[200~\x1b]0;pasted\x07\x1b[201~").wait_status("]0;pasted");
    session.keys("\r").wait_status("no match for ]0;pasted");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
    let seen = session.seen();
    assert_eq!(not_ours(&seen.raw), BTreeSet::new());
}

#[test]
fn a_preview_on_a_terminal_is_shown_safe() {
    let home = Home::new();
    home.file("bad", hostile());
    let mut session = Session::start(&home, &["preview", "bad"]);
    assert_eq!(session.ended(), 0);
    session.wait_for("title: ^[]0;owned^G done");
    let odd = kinds(&session.seen().raw);
    assert!(odd.iter().all(|kind| ["CSI m", "^J", "^M"].contains(&kind.as_str())), "{odd:?}");
}

#[test]
fn run_pty_lets_only_colours_through() {
    let home = Home::new();
    home.file("bad", b"\x1b[1;31mred\x1b[0m \x1b]0;owned\x07\x1b[2Jend\n");
    let mut session = Session::start(&home, &["run", "--pty", "--", "cat", "bad"]);
    assert_eq!(session.ended(), 0);
    session.wait_for("red end");
    assert_eq!(kinds(&session.seen().raw), BTreeSet::from(["CSI m", "^J", "^M"].map(String::from)));
    let mut session = Session::start(&home, &["run", "--pty", "--raw", "--", "cat", "bad"]);
    assert_eq!(session.ended(), 0);
    assert!(kinds(&session.seen().raw).contains("OSC"));
}

#[test]
fn raw_prints_escapes_to_a_terminal() {
    let home = Home::new();
    home.file("bad", hostile());
    let mut session = Session::start(&home, &["preview", "--raw", "bad"]);
    assert_eq!(session.ended(), 0);
    assert!(kinds(&session.seen().raw).contains("OSC"));
}

#[test]
fn a_store_can_not_write_to_the_terminal() {
    let home = Home::new();
    home.private_entry("opencode", "tool_c8d4f08d5001AbCdEfGhIjKlMn", hostile(), 1);
    let mut session = Session::start(&home, &[]);
    session.wait_for("title:  done");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    assert_eq!(not_ours(&session.seen().raw), BTreeSet::new());
}

#[test]
fn no_color_means_none() {
    let home = Home::new();
    home.file("build.log", b"\x1b[31mred\x1b[0m\n".repeat(3000));
    let mut session = Session::start_with(&home, &[("NO_COLOR", "1")], &["build.log"]);
    session.wait_status("gets 2,000 of 3,000 lines");
    session.keys("G").wait_for("truncated...");
    session.keys("\t").wait_for("lost from here");
    let seen = session.seen();
    let coloured = seen.parser.screen().contents_formatted();
    let styles = coloured.split("\x1b[").filter_map(|rest| Some(rest.split_once('m')?.0));
    let mut codes = styles.flat_map(|codes| codes.split(';')).filter(|code| code.len() == 2);
    assert!(!codes.any(|code| code.starts_with(['3', '9'])), "{coloured:?}");
}

#[test]
fn a_dumb_terminal_gets_the_file() {
    let home = Home::new();
    home.file("build.log", "text\n");
    let mut session = Session::start_with(&home, &[("TERM", "dumb")], &["build.log"]);
    assert_eq!(session.ended(), 0);
    assert_eq!(session.seen().raw, b"text\r\n");
}

#[test]
fn a_dumb_terminal_gets_a_file_escaped() {
    let home = Home::new();
    home.file("bad", hostile());
    let mut session = Session::start_with(&home, &[("TERM", "dumb"), ("NO_COLOR", "1")], &["bad"]);
    assert_eq!(session.ended(), 0);
    session.wait_for("title: ^[]0;owned^G done");
    let odd = kinds(&session.seen().raw);
    assert!(odd.iter().all(|kind| ["^J", "^M"].contains(&kind.as_str())), "{odd:?}");
}
