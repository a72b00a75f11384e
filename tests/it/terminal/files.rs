//! Files that change while they are viewed, and streams that are still arriving.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use rustix::process::Signal;

use crate::cli::compressed::gzip;
use crate::common::home::{Home, fifo};
use crate::common::records::claude;
use crate::common::samples::test_log;
use crate::common::session::Session;

#[test]
fn says_that_an_open_file_was_cut_short() {
    let home = Home::new();
    let path = home.file("build.log", test_log(8432));
    let mut session = Session::start(&home, &["build.log"]);
    session.wait_status("gets 2,000 of 8,432 lines");
    session.keys("\tG").wait_for("8432 ┊");
    File::options().write(true).open(&path).unwrap().set_len(100).unwrap();
    session.wait_status("the file was cut short while you looked").wait_top("1 │ ok   unit_1");
    session.keys("\t").wait_for("the model gets all");
}

#[test]
fn says_that_an_open_file_was_rewritten() {
    let home = Home::new();
    let path = home.file("build.log", "first\n".repeat(50));
    let session = Session::start(&home, &["build.log"]);
    session.wait_status("the model gets all 50 lines");
    std::fs::write(&path, "second\n".repeat(100)).unwrap();
    session.wait_top("second");
}

#[test]
fn flags_on_an_output_that_was_cut_already_are_a_what_if() {
    let home = Home::new();
    let run = home.run(&["run", "--json", "--", "seq", "3000"]).ok().json();
    let own = run["id"].as_str().unwrap();
    let mut session = Session::start(&home, &["--direction", "tail", own]);
    session.wait_for("1002").wait_for("Model would get").wait_for("would get · direction tail");
    session.keys("l").wait_for("kept lines").wait_for("2,000 → 1,999");
    session.keys("R\r").wait_status("the limits are those of the start").wait_for("Model got");
    drop(session);
    let id = "tool_e26cf08d5001AbCdEfGhIjKlMn";
    home.private_entry("opencode", id, "line\n".repeat(3000), 1);
    home.file("plain.log", "one\n");
    let line = "OVERSPILL_POLICY=none $overspill -p pi/bash plain.log";
    Session::shell(&home, line).wait_for("would get");
    let mut session = Session::start(&home, &["-p", "pi/bash", id]);
    session.wait_for("would get · pi/bash");
    session.keys("=").wait_for("would get: the policy or its limits were changed");
    session.keys("qlR\r").wait_status("the limits are those of the start").wait_for("reconstructed");
}

#[test]
fn a_deleted_file_is_still_held() {
    let home = Home::new();
    let path = home.file("build.log", "first\n");
    let session = Session::start(&home, &["build.log"]);
    session.wait_status("the model gets the one line");
    std::fs::remove_file(path).unwrap();
    session.wait_status("deleted; you can still read it here").wait_top("first");
}

#[test]
fn a_growing_file_is_followed() {
    let home = Home::new();
    let path = home.file("build.log", test_log(40));
    let mut session = Session::start(&home, &["build.log"]);
    session.wait_status("the model gets all 40 lines");
    session.keys("\tF").wait_for("40 │ ok").wait_for("FOLLOW");
    let mut file = File::options().append(true).open(path).unwrap();
    for n in 41..=45 {
        writeln!(file, "line {n}").unwrap();
        session.wait_for(&format!("{n} │ line {n}"));
    }
    writeln!(file, "{}end", "more\n".repeat(200)).unwrap();
    session.wait_for("246 │ end");
    session.keys("k").wait_gone("FOLLOW");
    // The end of the file is followed from when it grows on.
    session.keys("G").wait_for("246 │ end");
    assert!(!session.seen().text().contains("FOLLOW"));
    writeln!(file, "one more").unwrap();
    session.wait_for("247 │ one more").wait_for("FOLLOW");
    session.keys("50%").wait_gone("FOLLOW");
}

#[test]
fn the_end_of_a_pipe_is_followed_and_the_follow_hint_hidden() {
    let home = Home::new();
    let line = "(seq 1 100; exec sleep 60) | $overspill";
    let mut session = Session::shell(&home, line);
    session.keys("\t").wait_for("1 │ 1").wait_status("F follow");
    session.keys("G").wait_for("100 │ 100").wait_for("FOLLOW");
    session.wait_until("other hints", |seen| (!seen.status().contains("F follow")).then_some(()));
    session.keys("F").wait_gone("FOLLOW").wait_status("F follow");
}

#[test]
fn a_pipe_is_shown_while_it_streams() {
    let home = Home::new();
    fifo(&home.at("pipe"));
    let mut session = Session::shell(&home, "cat pipe | $overspill");
    let mut writer = File::options().write(true).open(home.at("pipe")).unwrap();
    writer.write_all(b"first\n").unwrap();
    session.wait_for("standard input").wait_for("still coming").wait_top("first");
    writer.write_all(b"second\n").unwrap();
    session.wait_for("second").wait_status("the model gets all 2 lines");
    drop(writer);
    session.wait_gone("still coming");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

/// Presses the keys for the editor and for opening again, and waits for what they say.
fn edit_and_open_again(session: &mut Session, says: [&str; 2]) {
    for (key, says) in ["v", "R"].into_iter().zip(says) {
        session.keys(key).wait_status(says);
        session.keys("g").wait_gone(says);
    }
}

#[test]
fn output_in_no_file_cannot_be_edited_or_reopened() {
    const NO_FILE: &str = "this output is in no file";
    let home = Home::new();
    claude(&home);
    let mut session = Session::shell(&home, "seq 1 40 | $overspill");
    session.wait_for("the model gets all 40 lines").wait_gone("still coming");
    edit_and_open_again(&mut session, [NO_FILE; 2]);
    session.keys("S\t").wait_for("1 session");
    session.keys("\rG\r").wait_for("the model got the one line");
    edit_and_open_again(&mut session, [NO_FILE; 2]);
    // Nothing of it is cut, so it is not saved.
    let mut session = Session::start(&home, &["run", "-i", "--", "seq", "1", "40"]);
    session.wait_status("exited with status 0");
    edit_and_open_again(&mut session, [NO_FILE; 2]);
}

#[test]
fn a_pipe_can_be_edited_once_it_is_kept() {
    let home = Home::new();
    let mut session = Session::shell(&home, "export VISUAL=no-such-editor; seq 1 40 | $overspill");
    session.wait_for("the model gets all 40 lines").wait_gone("still coming");
    session.keys("K").wait_status("kept forever: ");
    session.keys("v").wait_status("no-such-editor: ");
    session.keys("=").wait_for("tool-output/");
}

#[test]
fn the_saved_output_of_a_command_that_ran_is_edited_and_opened_again() {
    let home = Home::new();
    let words = ["run", "-i", "--keep", "always", "--", "seq", "1", "40"];
    let mut session = Session::start_with(&home, &[("VISUAL", "no-such-editor")], &words);
    session.wait_status("exited with status 0");
    edit_and_open_again(&mut session, ["no-such-editor: ", "opened again"]);
}

#[test]
fn a_signal_gives_the_terminal_back() {
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130), (Signal::QUIT, 131)]
    {
        let home = Home::new();
        home.file("build.log", "text\n");
        let mut session = Session::start(&home, &["build.log"]);
        session.wait_status("the model gets the one line");
        session.signal(signal);
        assert_eq!(session.ended(), status);
        session.is_restored();
    }
}

#[test]
fn a_file_that_can_not_be_opened_leaves_the_terminal_alone() {
    let home = Home::new();
    let mut session = Session::start(&home, &["nosuch.log"]);
    assert_eq!(session.ended(), 1);
    let seen = session.seen();
    assert!(seen.text().contains("nosuch.log: no such file"), "{}", seen.text());
    assert!(!seen.raw.contains(&b'\x1b'), "{}", seen.raw.escape_ascii());
}

#[test]
fn a_compressed_file_is_shown_decompressed_under_its_name() {
    let home = Home::new();
    home.file("build.log.gz", gzip(test_log(8432)));
    let mut session = Session::start(&home, &["build.log.gz"]);
    session.wait_status("gets 2,000 of 8,432 lines").wait_for("build.log.gz");
    session.keys("R").wait_status("opened again");
    session.keys("\tG").wait_for("8432 ┊");
}

#[test]
fn says_that_a_compressed_file_ends_early() {
    let home = Home::new();
    let packed = gzip(test_log(8432));
    home.file("build.log.gz", &packed[..packed.len() / 2]);
    let mut session = Session::start(&home, &["build.log.gz"]);
    session.wait_for("the compressed file ends too early; what came before is shown").wait_for("cut short");
    home.file("build.log.gz", &packed);
    session.keys("R").wait_status("opened again");
    session.wait_gone("cut short");
}

#[test]
fn a_damaged_compressed_file_is_an_error_and_not_called_empty() {
    let home = Home::new();
    home.file("bad.gz", b"\x1f\x8b\x08garbage");
    let mut session = Session::start(&home, &["bad.gz"]);
    session.wait_for("         cannot be read: the compressed file is damaged");
    session.wait_for("would get · opencode · cannot be read");
    assert!(!session.seen().text().contains("empty"), "{}", session.seen().text());
    session.keys("=").wait_for("fault        the compressed file is damaged").wait_for("cannot be read");
    assert!(!session.seen().text().contains("kept"), "{}", session.seen().text());
}

#[test]
fn the_sample_opens_as_an_output() {
    let home = Home::new();
    let mut session = Session::start(&home, &["--demo"]);
    session.wait_for("build.log (a sample)");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn grep_refuses_a_terminal_as_standard_input() {
    let home = Home::new();
    let mut session = Session::start(&home, &["grep", "x", "-"]);
    assert_eq!(session.ended(), 2);
    let text = session.seen().text();
    assert!(text.contains("standard input: is a terminal; name a file"), "{text}");
}

#[test]
fn in_tmux_a_text_is_copied_through_tmux() {
    let home = Home::new();
    home.file("build.log", "one\ntwo\n");
    let program = home.file("tmux", "#!/bin/sh\necho \"$@\" > copied\ncat >> copied\n");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let vars = [("PATH", &*path), ("TMUX", "/tmp/tmux-0/default,1,0")];
    let mut session = Session::start_with(&home, &vars, &["build.log"]);
    session.wait_for("all 2 lines");
    session.keys("ym").wait_for("copied 2 lines, 8 B");
    assert_eq!(fs::read_to_string(home.work().join("copied")).unwrap(), "load-buffer -w -\none\ntwo\n");
}
