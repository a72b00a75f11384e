//! Piped input on the screens: it is saved in overspill's own store, and stays there if the policy cuts it.

use std::fs::{self, File};
use std::io::Write;

use rustix::process::Signal;

use super::{mode, names, own, record, sequence, spill, wait_until};
use crate::common::home::{Home, fifo};
use crate::common::session::Session;

/// Opens the screens on a FIFO that this test writes to.
fn looking(home: &Home, words: &str) -> (Session, File) {
    fifo(&home.at("pipe"));
    let session = Session::shell(home, &format!("exec $overspill {words} < pipe"));
    let writer = File::options().write(true).open(home.at("pipe")).unwrap();
    (session, writer)
}

fn stored(home: &Home) -> Vec<String> {
    names(&own(home, "tool-output"))
}

#[test]
fn a_piped_spill_is_renamed_when_complete() {
    let home = Home::new();
    let (mut session, mut writer) = looking(&home, "");
    session.wait_for("still coming").wait_for("No output yet.");
    let temporary = stored(&home);
    assert!(temporary.len() == 1 && temporary[0].starts_with(".tmp-tool_"), "{temporary:?}");
    assert_eq!(mode(&own(&home, "tool-output").join(&temporary[0])), 0o600);
    writer.write_all(sequence(5000).as_bytes()).unwrap();
    session.wait_status("gets 2,000 of 5,000 lines");
    drop(writer);
    session.wait_gone("still coming");
    wait_until("it has its name", || !stored(&home)[0].starts_with('.'));
    let path = spill(&home);
    session.keys("}");
    // The text spans several rows.
    let letters = |text: &str| text.chars().filter(char::is_ascii_alphanumeric).collect::<String>();
    let notice = letters(&format!("saved to: {}", path.display()));
    session.wait_until("true path", |seen| letters(&seen.text()).contains(&notice).then_some(()));
    assert!(!session.seen().text().contains("deleted"), "{}", session.seen().text());
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
    assert_eq!(fs::read_to_string(&path).unwrap(), sequence(5000));
    let record = record(&home, &path);
    assert_eq!((&record["command"], &record["exit"]), (&serde_json::json!([]), &().into()));
    assert_eq!((&record["seen"]["lines"], &record["stopped"]), (&5000.into(), &().into()));
}

#[test]
fn an_uncut_pipe_leaves_no_file_but_stays_on_screen() {
    let home = Home::new();
    let (mut session, mut writer) = looking(&home, "");
    writer.write_all(b"little\n").unwrap();
    drop(writer);
    wait_until("it is gone", || stored(&home).is_empty());
    session.wait_for("little").wait_gone("still coming");
    session.keys("=").wait_for("<not saved>");
    assert!(!session.seen().text().contains("deleted"), "{}", session.seen().text());
    session.keys("q").wait_gone("<not saved>");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    assert_eq!(names(&own(&home, "records")), Vec::<String>::new());
}

#[test]
fn leaving_early_closes_the_pipe_and_keeps_what_came() {
    let home = Home::new();
    let (mut session, mut writer) = looking(&home, "");
    writer.write_all(sequence(3000).as_bytes()).unwrap();
    session.wait_status("gets 2,000 of 3,000 lines");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    assert_eq!(writer.write_all(b"more\n").unwrap_err().kind(), std::io::ErrorKind::BrokenPipe);
    let path = spill(&home);
    assert_eq!(fs::read_to_string(&path).unwrap(), sequence(3000));
    assert_eq!(record(&home, &path)["stopped"], "left before its end");
    assert!(session.seen().text().contains("what arrived of the output is in"), "{}", session.seen().text());
}

#[test]
fn a_pipe_over_the_cap_is_shown_whole_and_saved_in_part() {
    let home = Home::new();
    let (mut session, mut writer) = looking(&home, "--max-spill 10k");
    writer.write_all(sequence(5000).as_bytes()).unwrap();
    session.wait_status("over 10 KB: only the first 10 KB will be kept");
    session.keys("\tG").wait_for("5000 ┊");
    drop(writer);
    session.wait_gone("still coming");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    assert_eq!(fs::read_to_string(spill(&home)).unwrap(), sequence(5000)[..10240]);
    let record = record(&home, &spill(&home));
    assert_eq!((&record["kept"]["bytes"], &record["seen"]["lines"]), (&10240.into(), &5000.into()));
    assert_eq!(record["truncated"], "cap");
}

#[test]
fn a_killed_viewer_leaves_only_a_temporary_file() {
    let home = Home::new();
    let (mut session, mut writer) = looking(&home, "");
    writer.write_all(sequence(5000).as_bytes()).unwrap();
    session.wait_status("gets 2,000 of 5,000 lines").signal(Signal::KILL);
    session.ended();
    let left = stored(&home);
    assert!(left.len() == 1 && left[0].starts_with(".tmp-"), "{left:?}");
}

#[test]
fn shows_a_pipe_even_if_it_cannot_be_saved() {
    let home = Home::new();
    fs::write(own(&home, "records").parent().unwrap(), "in the way").unwrap();
    let (mut session, mut writer) = looking(&home, "");
    writer.write_all(sequence(5000).as_bytes()).unwrap();
    session.wait_status("not saved: ");
    session.keys("j");
    session.wait_status("gets 2,000 of 5,000 lines");
    drop(writer);
    session.wait_gone("still coming");
    session.keys("q");
    assert_eq!(session.ended(), 0);
}

#[test]
fn keep_max_spill_and_durable_apply_only_to_saved_output() {
    let home = Home::new();
    home.file("out", "x\n");
    for words in [&["--keep", "always", "out"][..], &["preview", "--durable", "out"]] {
        home.run(words).fails(2, &["--keep, --max-spill and --durable"]);
    }
    let ran = home.pipe(sequence(3000), &["preview", "--save", "--max-spill", "100", "--durable"]);
    let told = format!("{} holds only the first 100 of ", spill(&home).display());
    assert!(ran.stderr.contains(&told) && ran.text().contains("<not saved>"), "{}", ran.stderr);
    assert_eq!(fs::metadata(spill(&home)).unwrap().len(), 100);
}

#[test]
fn a_signal_keeps_what_came() {
    for (signal, status) in [(Signal::HUP, 129), (Signal::TERM, 143)] {
        let home = Home::new();
        let (mut session, mut writer) = looking(&home, "");
        writer.write_all(sequence(3000).as_bytes()).unwrap();
        session.wait_status("gets 2,000 of 3,000 lines");
        session.signal(signal);
        assert_eq!(session.ended(), status);
        session.is_restored();
        assert_eq!(fs::read_to_string(spill(&home)).unwrap(), sequence(3000));
        assert_eq!(stored(&home).len(), 1, "nothing is left under another name");
    }
}
