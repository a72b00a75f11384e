//! The list of stored outputs.

use crate::common::home::Home;
use crate::common::records::{SESSION, claude, result_of, root, use_of, whole};
use crate::common::session::Session;

const ID: &str = "tool_c8d4f08d5001AbCdEfGhIjKlMn";
const OTHER: &str = "tool_c8d4f08d6001AbCdEfGhIjKlMn";

#[test]
fn an_entry_is_chosen_opened_and_left_again() {
    let home = Home::new();
    home.private_entry("opencode", ID, "the younger\n", 1);
    home.private_entry("opencode", OTHER, "the older\n", 50);
    let mut session = Session::start(&home, &[]);
    session.wait_for("2 outputs").wait_for("the younger").wait_for("the older");
    session.keys("j\r").wait_for("Model got").wait_top("the older").wait_status("the model got the one line");
    session.keys("\x1b").wait_for("2 outputs");
    session.keys("k\r").wait_top("the younger");
    session.keys("S").wait_for("2 outputs");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn a_line_of_all_outputs_is_opened_and_left_again() {
    let home = Home::new();
    let line = |number| if number == 2500 { "a needle\n".into() } else { format!("line {number}\n") };
    home.private_entry("opencode", ID, (1..=3000).map(line).collect::<String>(), 1);
    home.private_entry("opencode", OTHER, "the needle\n", 50);
    let mut session = Session::start(&home, &[]);
    session.wait_for("2 outputs");
    session
        .keys("&needle\r")
        .wait_for("2 lines in 2 of 2 outputs · 1 lost")
        .wait_for("lost: over 2,000 lines");
    session.keys("\r").wait_for("2500 ┊ a needle");
    session.keys("q").wait_for("2 lines in 2 of 2 outputs · 1 lost");
    session.keys("j\r").wait_top("the needle");
    session.keys("q").wait_for("2 lines in 2 of 2 outputs · 1 lost");
    session.keys("\x1b").wait_gone("1 lost").wait_for("2 outputs");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    session.is_restored();
}

#[test]
fn the_list_marks_a_partly_saved_output() {
    let home = Home::new();
    home.run(&["run", "--keep", "always", "--max-spill", "1k", "--", "seq", "1", "5000"]);
    let session = Session::start_sized(&home, (200, 24), &[]);
    session.wait_for("partly saved").wait_for("only the first 1 KB of 23.3 KB saved");
}

#[test]
fn an_output_without_a_policy_of_its_agent_shows_no_figures() {
    let home = Home::new();
    let dir = home.env().into_iter().find(|(name, _)| *name == "TMPDIR").unwrap().1.join("cline");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("large-output-1"), "error: one\n".repeat(9_000)).unwrap();
    let session = Session::start_sized(&home, (120, 24), &[]);
    session.wait_for(" cline ").wait_until("figures that are not to be had", |seen| {
        let row = seen.text().lines().find(|row| row.contains("error: one"))?.to_owned();
        (row.matches('–').count() == 2 && !row.contains("would get")).then_some(())
    });
}

#[test]
fn a_kept_copy_has_its_originals_preview_even_after_deletion() {
    let home = Home::new();
    let root = home.work().parent().unwrap().join("home/.qwen/tmp/web");
    std::fs::create_dir_all(&root).unwrap();
    let original = root.join("run_shell_command_0123456789ab.output");
    let text: String = (1..=20_000).map(|number| format!("line {number} of a build\n")).collect();
    std::fs::write(&original, text).unwrap();
    let path = original.to_str().unwrap();
    let previewed = |name: &str| home.run(&["preview", name]).ok().stdout;
    let (before, compared) = (previewed(path), home.run(&["compare", path]).ok().stdout);
    assert!(before.len() < 40_000 && String::from_utf8_lossy(&before).contains(path));
    let mut session = Session::start(&home, &[]);
    session.wait_for("1 output");
    session.keys("K").wait_for("0123456789ab is kept forever").wait_for("2 outputs");
    session.keys("K").wait_for("0123456789ab: kept already");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    std::fs::remove_file(&original).unwrap();
    let list = home.run(&["list", "--json"]).ok().json();
    let id = list[0]["id"].as_str().unwrap();
    assert_eq!((list.as_array().unwrap().len(), &list[0]["agent"]), (1, &"qwen-code".into()));
    assert_eq!((&list[0]["copy_of"], &list[0]["rule"]), (&path.into(), &"kept".into()));
    assert_eq!(home.run(&["list", "--json", "--agent", "qwen-code"]).ok().json(), list);
    assert_eq!(home.run(&["list", "--json", "--agent", "overspill"]).ok().json(), serde_json::json!([]));
    assert_eq!(home.run(&["grep", "-c", "--agent", "qwen-code", "build"]).ok().text().lines().count(), 1);
    assert_eq!(previewed(id), before);
    assert_eq!(home.run(&["compare", id]).ok().stdout, compared);
    let json = home.run(&["preview", "--json", id]).ok().json();
    assert_eq!((&json["certainty"], &json["saved_as"]), (&"reconstructed".into(), &path.into()));
    let retention = &home.run(&["show", "--json", id]).ok().json()["retention"];
    assert_eq!(*retention, serde_json::Value::Null);
    let show = home.run(&["show", id]).ok();
    for fact in [
        "agent     qwen-code".to_owned(),
        "expires   never: you keep it".to_owned(),
        "rule      kept: no rule deletes it".to_owned(),
        format!("copy of   {path}"),
        "cut by    qwen-code/shell, limits from policy".to_owned(),
    ] {
        assert!(show.text().lines().any(|line| line == fact), "{fact}: {}", show.text());
    }
    // x lets go of it, and takes its record along.
    let mut session = Session::start(&home, &[]);
    session.wait_for("1 output");
    session.keys("x").wait_for("you keep the marked one: U undo");
    session.keys("D").wait_for(" (qwen-code, 418.8 KB)?");
    session.keys("y").wait_for("1 deleted");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    assert_eq!(home.run(&["list", "--json"]).ok().json(), serde_json::json!([]));
    let own = home.work().parent().unwrap().join("data/overspill");
    for directory in ["records", "kept", "tool-output"] {
        assert_eq!(std::fs::read_dir(own.join(directory)).unwrap().count(), 0, "{directory}");
    }
}

#[test]
fn an_ambiguous_id_opens_no_screen() {
    let home = Home::new();
    let paths = ["kilo", "opencode"].map(|agent| home.private_entry(agent, ID, "x", 1));
    let mut session = Session::start_sized(&home, (250, 24), &[ID]);
    session.wait_for("is the id of several outputs; name one by its path");
    assert_eq!(session.ended(), 2);
    for path in paths {
        session.wait_for(path.to_str().unwrap());
    }
}

#[test]
fn opening_a_deleted_entry_says_no_such_file() {
    let home = Home::new();
    let path = home.private_entry("opencode", ID, "soon gone\n", 1);
    let mut session = Session::start(&home, &[]);
    session.wait_for("soon gone");
    std::fs::remove_file(path).unwrap();
    session.keys("\r").wait_status("no such file; ");
}

#[test]
fn an_empty_list_says_where_it_looked() {
    let home = Home::new();
    let session = Session::start_sized(&home, (120, 60), &[]);
    session.wait_for("No stored outputs yet").wait_for("data/opencode/tool-output");
}

#[test]
fn an_output_can_be_deleted_after_viewing() {
    for keys in ["xDy", "xqy", "xQy"] {
        let home = Home::new();
        let path = home.private_entry("opencode", ID, "looked at\n", 1);
        let mut session = Session::start(&home, &[]);
        session.wait_for("looked at");
        session.keys("\r").wait_top("looked at");
        session.keys("q").wait_for("1 output");
        session.keys(keys).wait_for("1 deleted");
        assert!(!path.exists(), "{keys}");
    }
}

#[test]
fn a_project_is_not_a_session() {
    let home = Home::new();
    home.entry_at("home/.gemini/tmp/abc/tool-outputs/glob_1.txt", "x", 1);
    let mut session = Session::start(&home, &[]);
    session.wait_for("1 output");
    session.keys("tt").wait_for("no session · 1 output");
}

#[test]
fn marked_outputs_are_deleted_only_after_a_yes() {
    for (keys, status) in [("qn", 0), ("\x03", 0), ("q\x03\x03", 0), ("", 143)] {
        let home = Home::new();
        let path = home.private_entry("opencode", ID, "marked\n", 1);
        let mut session = Session::start(&home, &[]);
        session.wait_for("marked");
        session.keys("x").wait_for("1 output to delete (7 B)");
        session.keys(keys);
        if keys.is_empty() {
            session.signal(rustix::process::Signal::TERM);
        }
        assert_eq!(session.ended(), status, "{keys:?}");
        session.is_restored();
        assert!(path.exists(), "{keys:?}");
    }
}

#[test]
fn a_kept_copy_leads_to_its_call_without_the_original() {
    let home = Home::new();
    let original = claude(&home);
    let mut session = Session::start(&home, &[]);
    session.wait_for("1 output");
    session.keys("K").wait_for("b12345678 is kept forever").wait_for("2 outputs");
    session.keys("q");
    assert_eq!(session.ended(), 0);
    let list = home.run(&["list", "--json"]).ok().json();
    let copy = list.as_array().unwrap().iter().find(|entry| !entry["copy_of"].is_null()).unwrap();
    let id = copy["id"].as_str().unwrap();
    let got = home.run(&["show", "--text", "c1"]).ok();
    let leads_to_its_call = || {
        assert_eq!(home.run(&["sessions", "--json", id]).ok().json()[0]["id"], "c1");
        assert_eq!(home.run(&["verify", "--json", id]).ok().json()[0]["verdict"], "equal");
        assert_eq!(home.run(&["preview", id]).ok().text(), got.text());
        let mut session = Session::start_sized(&home, (120, 40), &[id]);
        session.wait_for("recorded").wait_for("got 3%");
        session.keys("=").wait_for("c1");
    };
    leads_to_its_call();
    // A later call reuses the file, as goose does.
    std::fs::write(&original, whole().replace('1', "2")).unwrap();
    let log = root(&home).join(format!(".claude/projects/-home-u-proj/{SESSION}.jsonl"));
    let text = std::fs::read_to_string(&log).unwrap();
    let notice = home.run(&["preview", "-p", "claude-code/bash", original.to_str().unwrap()]).ok();
    let later = [use_of("c4", "make"), result_of("c4", notice.text(), false)].map(|mut record| {
        record["timestamp"] = "2099-01-01T00:00:00Z".into();
        format!("{record}\n")
    });
    let later = later.concat();
    std::fs::write(&log, text + &later).unwrap();
    leads_to_its_call();
    std::fs::remove_file(&original).unwrap();
    leads_to_its_call();
    // Of its own call there is no record.
    std::fs::write(&log, later).unwrap();
    let words = format!("{id}: no session near it in time names this output");
    for command in ["sessions", "verify"] {
        home.run(&[command, id]).fails(1, &[&words]);
    }
    let json = home.run(&["preview", "--json", id]).ok().json();
    assert_eq!(json["certainty"], "reconstructed");
    let mut session = Session::start_sized(&home, (120, 40), &[id]);
    session.wait_for("reconstructed");
    session.keys("=").wait_for("no session near it in time names this output");
}
