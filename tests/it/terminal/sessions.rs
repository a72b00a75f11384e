//! Sessions, their calls, and a recorded call, as the agent's files have them.

use std::fs::OpenOptions;
use std::io::Write;

use crate::common::home::Home;
use crate::common::records::{SESSION, claude, result_of, root, use_of};
use crate::common::session::Session;

#[test]
fn from_sessions_to_a_call_and_back() {
    let home = Home::new();
    claude(&home);
    let mut session = Session::start_sized(&home, (120, 24), &[]);
    session.keys("\t").wait_for("1 session").wait_for("claude-code").wait_for("/home/u/proj");
    session.wait_for("time left").wait_for(" 30 d ");
    session.keys("\r").wait_for("3 calls, 1 cut").wait_for("  saved ").wait_for("verified: claude-code/bash");
    session.keys("\r").wait_for("recorded · by claude-code 2.1.330").wait_status("got 527 of 12,000 lines");
    session.keys("i").wait_for("reconstructed by claude-code/bash").wait_status("equal");
    session.keys("i").wait_for("recorded · by claude-code 2.1.330").wait_status("equal");
    session.keys("=").wait_for("evidence     recorded");
    session.keys(" ").wait_for("──── Record");
    session.keys("q").wait_gone("──── Record");
    session.keys("q").wait_for("3 calls, 1 cut");
    session.keys("=").wait_for("evidence     recorded");
    session.wait_for("──── Record");
    session.keys("=").wait_gone("──── Record");
    session.keys("q").wait_for("1 session");
    session.keys("\t").wait_for("Outputs │ Sessions   1 output");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn a_session_and_a_call_are_opened_by_their_ids() {
    let home = Home::new();
    claude(&home);
    let mut session = Session::start_sized(&home, (120, 24), &["1111"]);
    session.wait_for("3 calls, 1 cut").wait_for("seq 1 12000");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    let mut session = Session::start_sized(&home, (120, 24), &["c1"]);
    session.wait_for("recorded · by claude-code 2.1.330").wait_status("got 527 of 12,000 lines");
    session.keys("q").wait_for("3 calls, 1 cut");
    session.keys("q");
    assert_eq!(session.ended(), 0);
}

#[test]
fn a_call_leads_to_its_output_in_the_lists() {
    let home = Home::new();
    claude(&home);
    let mut session = Session::start_sized(&home, (120, 24), &[]);
    session.wait_for("  seq 1 12000");
    session.keys("\t").wait_for("1 session");
    session.keys("\r").wait_for("3 calls, 1 cut").wait_for("  saved ");
    session.keys("S").wait_for("Outputs │ Sessions   1 output").wait_for("b12345678");
    session.keys("Q");
    assert_eq!(session.ended(), 0);
}

#[test]
fn a_search_from_the_sessions_finds_recorded_results_too() {
    let home = Home::new();
    claude(&home);
    let mut session = Session::start_sized(&home, (120, 24), &[]);
    session.wait_for("  seq 1 12000");
    session.keys("&out red\r").wait_for("Lines of all outputs").wait_for("No line matches.");
    session.keys("q\t").wait_for("1 session");
    session.keys("&").wait_status("search outputs and sessions:");
    session.keys("^(out red|777)$\r").wait_for("2 lines").wait_for("2 lines in 1 of 1 output, 1 session");
    session.wait_for("seq 1 12000").wait_for("Bash: exit 3");
    session.keys("G\r").wait_for("recorded · by claude-code 2.1.330").wait_status("line 2 of 2");
    session.wait_status("/^(out red|777)$ 1 of 1");
    session.keys("q").wait_for("Lines of outputs and sessions").wait_status("2 of 2");
    session.keys("q").wait_for("1 session");
    session.keys("Q");
    assert_eq!(session.ended(), 0);
}

#[test]
fn leaving_the_lists_returns_to_the_piped_output() {
    let home = Home::new();
    claude(&home);
    // Nothing of it is cut, so nothing else keeps it.
    let mut session = Session::shell_with(&home, (120, 24), &[], r#"seq 1 40 | "$overspill""#);
    session.wait_for("the model gets all 40 lines");
    session.keys("G").wait_top("20");
    session.keys("S").wait_for("  seq 1 12000");
    session.keys("\r").wait_for(" seq 1 12000  Model got │ Whole output");
    session.keys("S").wait_for("Outputs │ Sessions   1 output");
    session.keys("\t").wait_for("1 session");
    session.keys("\r").wait_for("  saved ");
    session.keys("\r").wait_for("recorded · by");
    session.keys("q").wait_for("3 calls, 1 cut");
    session.keys("S").wait_for("Outputs │ Sessions   1 output");
    session.keys("\x1b").wait_for("3 calls, 1 cut");
    session.keys("\x1b").wait_for("1 session");
    session.keys("\x1b").wait_status("the model gets all 40 lines").wait_top("20");
    session.keys("\x1b").wait_status("q quits");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn a_command_that_ends_in_the_background_is_whole_on_return() {
    let home = Home::new();
    claude(&home);
    let command = "seq 1 3000; while ! [ -e go ]; do sleep 0.02; done; echo last";
    let mut session = Session::start_sized(&home, (120, 24), &["run", "-i", "--", "sh", "-c", command]);
    session.wait_for("of 3,000 lines");
    session.keys("S").wait_for("  seq 1 12000");
    session.keys("/claude\r").wait_for("1 of 2");
    session.keys("\r").wait_for(" seq 1 12000  Model got │ Whole output");
    home.file("go", "");
    session.wait_status("exited with status 0");
    session.keys("q").wait_for("1 of 2");
    session.keys("\x1b").wait_for("Outputs │ Sessions   2 outputs");
    session.keys("q").wait_for("of 3,001 lines");
    session.keys("\tG").wait_for("last");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn a_session_that_grows_is_followed() {
    let home = Home::new();
    claude(&home);
    let mut session = Session::start_sized(&home, (120, 24), &[]);
    session.keys("\t").wait_for("1 session");
    session.keys("\r").wait_for("3 calls, 1 cut");
    let log = root(&home).join(format!(".claude/projects/-home-u-proj/{SESSION}.jsonl"));
    let mut log = OpenOptions::new().append(true).open(log).unwrap();
    let (call, result) = (use_of("c4", "echo late"), result_of("c4", "late", false));
    // The last line is not whole yet: no error, and no call.
    let half = format!("{call}\n{result}");
    log.write_all(&half.as_bytes()[..half.len() - 20]).unwrap();
    session.wait_for("4 calls, 1 cut").wait_for("echo late");
    log.write_all(&half.as_bytes()[half.len() - 20..]).unwrap();
    log.write_all(b"\n").unwrap();
    session.keys("G").wait_for("got 4 B");
    session.keys("Q");
    assert_eq!(session.ended(), 0);
}

#[test]
fn a_call_with_a_deleted_spill_opens_alone_and_says_so() {
    let home = Home::new();
    let spill = claude(&home);
    std::fs::remove_file(&spill).unwrap();
    let mut session = Session::start_sized(&home, (120, 24), &[]);
    session.keys("\t").wait_for("1 session");
    session.keys("\r").wait_for("plausible: claude-code/bash");
    session.keys("\r").wait_status("spill deleted");
    session.keys("l").wait_for("limits have no effect");
    session.keys("Q");
    assert_eq!(session.ended(), 0);
}

#[test]
fn a_spill_outside_of_the_stores_is_opened_only_after_its_path_was_shown() {
    let home = Home::new();
    let spill = claude(&home);
    let elsewhere = home.file("b12345678.txt", std::fs::read(&spill).unwrap());
    let log = root(&home).join(format!(".claude/projects/-home-u-proj/{SESSION}.jsonl"));
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, text.replace(spill.to_str().unwrap(), elsewhere.to_str().unwrap())).unwrap();
    std::fs::remove_file(&spill).unwrap();
    let mut session = Session::start_sized(&home, (140, 24), &[]);
    session.keys("\t").wait_for("1 session");
    session.keys("\r").wait_for("is in no known store");
    session.keys("\r").wait_status("its spill is in no known store");
    session.keys("i").wait_status(elsewhere.to_str().unwrap());
    session.keys("i").wait_for("12,000 lines");
    session.keys("Q");
    assert_eq!(session.ended(), 0);
}

#[test]
fn a_session_and_its_call_that_lost_an_error_are_found() {
    let home = Home::new();
    let spill = claude(&home);
    let mut whole = std::fs::read(&spill).unwrap();
    whole.extend(b"error: no space left on device\n");
    std::fs::write(&spill, whole).unwrap();
    let mut session = Session::start_sized(&home, (120, 24), &[]);
    session.keys("\t").wait_for("1 session");
    session.keys("/lost\r").wait_for("1 of 1 session").wait_for(SESSION);
    session.keys("\r").wait_for("3 calls, 1 cut");
    session.keys("/lost\r").wait_for("1 of 3 calls").wait_for("seq 1 12000");
    session.keys("Q");
    assert_eq!(session.ended(), 0);
}

#[test]
fn a_session_that_begins_appears_by_itself() {
    let home = Home::new();
    claude(&home);
    let mut session = Session::start_sized(&home, (120, 24), &[]);
    session.keys("\t").wait_for("1 session");
    let project = root(&home).join(".claude/projects/-home-u-proj");
    let log = std::fs::read_to_string(project.join(format!("{SESSION}.jsonl"))).unwrap();
    let other = "99999999-2222-3333-4444-555555555555";
    std::fs::write(project.join(format!("{other}.jsonl")), log.replace(SESSION, other)).unwrap();
    session.wait_for("2 sessions");
    session.keys("Q");
    assert_eq!(session.ended(), 0);
}

#[test]
fn a_stored_output_is_shown_as_its_call_was_recorded() {
    let home = Home::new();
    let spill = claude(&home);
    let log = root(&home).join(".claude/projects/-home-u-proj").join(format!("{SESSION}.jsonl"));
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, text.replacen(r"\n2\n3\n4\n5\n6\n7\n8\n9\n", r"\n", 1)).unwrap();
    let mut session = Session::start_sized(&home, (120, 24), &[spill.to_str().unwrap()]);
    session.wait_for("recorded · DIFFERS from claude-code/bash").wait_status("got 518 of 12,000 lines");
    session.keys("=").wait_for("call         c1").wait_for("seq 1 12000");
    session.keys("q").wait_gone("Facts");
    session.keys("i").wait_for("reconstructed by claude-code/bash").wait_status("first differs");
    session.keys("S").wait_for("DIFFERS  seq 1 12000").wait_for("DIFFERS from claude-code/bash");
    session.keys("/differs\r").wait_for("1 of 1 · ");
    session.keys("Q");
    assert_eq!(session.ended(), 0);
}
