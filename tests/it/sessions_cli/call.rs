//! `sessions`, `calls` and `call`.

use sha2::{Digest, Sha256};

use super::{SESSION, claude, root, whole};
use crate::common::home::Home;

#[test]
fn a_session_is_listed_with_its_sums() {
    let home = Home::new();
    claude(&home);
    let ran = home.run(&["sessions", "--json"]).ok();
    let session = &ran.json()[0];
    assert_eq!((&session["id"], &session["agent"]), (&SESSION.into(), &"claude-code".into()));
    assert_eq!((&session["version"], &session["project"]), (&"2.1.330".into(), &"/home/u/proj".into()));
    assert_eq!((&session["calls"], &session["cut"], &session["lost"]), (&3.into(), &1.into(), &0.into()));
    assert_eq!(home.run(&["sessions", "--agent", "pi", "--json"]).ok().text(), "[]\n");
    assert_eq!(
        home.run(&["sessions", "--project", "/home/u", "--json"]).ok().json().as_array().unwrap().len(),
        1
    );
    assert_eq!(home.run(&["sessions", "--project", "/home/v", "--json"]).ok().text(), "[]\n");
    home.run(&["sessions", "--agent", "nobody"]).fails(2, &["`nobody`", "claude-code"]);
}

#[test]
fn calls_are_listed_with_what_the_model_got() {
    let home = Home::new();
    let spill = claude(&home);
    let ran = home.run(&["calls", &SESSION[..4], "--json"]).ok();
    let calls = ran.json();
    let of = |at: usize, key: &str| calls[at][key].clone();
    assert_eq!(of(0, "command"), "seq 1 12000");
    assert_eq!(
        (of(0, "cut"), of(0, "spill_state"), of(0, "verify")),
        ("spill".into(), "here".into(), "equal".into())
    );
    assert_eq!(of(0, "spill"), spill.to_str().unwrap());
    assert_eq!((of(1, "status"), of(1, "exit")), ("failed".into(), 3.into()));
    assert_eq!(
        (of(1, "got_bytes"), of(1, "evidence")),
        ("Exit code 3\nout \u{1b}[31mred".len().into(), "recorded".into())
    );
    assert_eq!(of(2, "command"), "curl -H 'Authorization: Bearer [masked]'");
    let kinds =
        |flag: &str| home.run(&["calls", SESSION, flag, "--json"]).ok().json().as_array().unwrap().len();
    assert_eq!((kinds("--cut"), kinds("--lost"), kinds("--failed"), kinds("--gone")), (1, 0, 1, 0));
    std::fs::remove_file(spill).unwrap();
    assert_eq!(kinds("--gone"), 1);
    let text = home.run(&["calls", SESSION]).ok();
    assert!(text.text().contains("gone") && text.text().lines().count() == 3, "{}", text.text());
}

#[test]
fn a_text_of_a_call_is_printed_byte_for_byte() {
    let home = Home::new();
    claude(&home);
    assert_eq!(home.run(&["call", "c2"]).ok().text(), "Exit code 3\nout \u{1b}[31mred");
    assert_eq!(home.run(&["call", "c1", "--spill"]).ok().text(), whole());
    assert_eq!(home.run(&["call", &format!("{SESSION}:c3")]).ok().text(), "token sk-abcdefghijklmnop1234");
    let raw = home.run(&["call", "c2", "--raw"]).ok();
    assert_eq!(raw.json()["uuid"], "rc2");
    let masked = home.run(&["call", "c3", "--json"]).ok().json();
    assert_eq!(masked["text"], "token [masked]");
    home.run(&["call", "nope"]).fails(2, &["`nope`", "overspill calls"]);
    home.run(&["call", "c2", "--sent"]).fails(1, &["--recorded"]);
    home.run(&["call", "c2", "--display"]).fails(1, &["no copy"]);
    home.run(&["call", "c2", "--spill"]).fails(1, &["no spill"]);
}

#[test]
fn an_id_in_two_sessions_is_asked_for() {
    let home = Home::new();
    claude(&home);
    let dir = root(&home).join(".claude/projects/-home-u-proj");
    std::fs::copy(dir.join(format!("{SESSION}.jsonl")), dir.join("99999999-copy.jsonl")).unwrap();
    home.run(&["call", "c1"]).fails(2, &[&format!("{SESSION}:c1"), "99999999-copy:c1"]);
}

#[test]
fn a_file_anywhere_is_read() {
    let home = Home::new();
    claude(&home);
    let log = root(&home).join(".claude/projects/-home-u-proj").join(format!("{SESSION}.jsonl"));
    let elsewhere = home.at("record.jsonl");
    std::fs::copy(log, &elsewhere).unwrap();
    let ran = home.run(&["calls", elsewhere.to_str().unwrap(), "--json"]).ok();
    assert_eq!(ran.json().as_array().unwrap().len(), 3);
    let other = home.file("other.txt", "no records\n");
    home.run(&["calls", other.to_str().unwrap()]).fails(1, &["other.txt", "claude-code"]);
    home.run(&["calls", "no-such"]).fails(2, &["`no-such`", "overspill sessions"]);
}

#[test]
fn records_that_are_not_understood_are_said() {
    let home = Home::new();
    claude(&home);
    let log = root(&home).join(".claude/projects/-home-u-proj").join(format!("{SESSION}.jsonl"));
    let text = std::fs::read_to_string(&log).unwrap();
    let more = "{\"type\":\"new-kind\",\"sessionId\":\"x\"}\n{broken\n{\"type\":\"user\",\"half";
    std::fs::write(&log, format!("{text}{more}")).unwrap();
    let ran = home.run(&["calls", SESSION, "--json"]);
    assert_eq!((ran.status, ran.json().as_array().unwrap().len()), (0, 3));
    assert!(
        ran.stderr.contains("1 record of 1 unknown kind (new-kind ×1), 1 record not readable"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("2.1.330") && !ran.stderr.contains("half"), "{}", ran.stderr);
}

#[test]
fn what_a_request_carried_comes_before_what_the_history_holds() {
    let home = Home::new();
    claude(&home);
    let message =
        r#"{"content":[{"content":"Exit code 3\n!","tool_use_id":"c2","type":"tool_result"}],"role":"user"}"#;
    let hash = format!("{:x}", Sha256::digest(message));
    let blob = format!(r#"{{"type":"api-request-blob","hash":"{hash}","message":{message}}}"#);
    let request =
        format!(r#"{{"type":"api-request","id":"r1","params":{{"model":"m"}},"keep":0,"tail":["{hash}"]}}"#);
    let log = root(&home).join(".claude/projects/-home-u-proj").join(format!("{SESSION}.jsonl"));
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, format!("{text}{blob}\n{request}\n")).unwrap();
    for flags in [&["call", "c2"][..], &["call", "c2", "--sent"]] {
        assert_eq!(home.run(flags).ok().text(), "Exit code 3\n!");
    }
    assert_eq!(home.run(&["call", "c2", "--recorded"]).ok().text(), "Exit code 3\nout \u{1b}[31mred");
    let carried = home.run(&["call", "c2", "--request"]).ok();
    assert_eq!(carried.text(), format!("{{\"messages\":[{message}],\"model\":\"m\"}}\n"));
    home.run(&["call", "c1", "--request"]).fails(1, &["no request in the records carried"]);
    let calls = home.run(&["calls", SESSION, "--json"]).ok().json();
    assert_eq!((&calls[1]["evidence"], &calls[0]["evidence"]), (&"sent".into(), &"recorded".into()));
    assert_eq!(calls[1]["got_sha256"], format!("{:x}", Sha256::digest("Exit code 3\n!")));
    let bytes: u64 = calls.as_array().unwrap().iter().map(|call| call["got_bytes"].as_u64().unwrap()).sum();
    assert_eq!(home.run(&["sessions", "--json"]).ok().json()[0]["got_bytes"], bytes);
    std::fs::write(&log, format!("{text}{}\n{request}\n", blob.replace("3\\n!", "4"))).unwrap();
    let ran = home.run(&["call", "c2"]);
    assert!(ran.text().ends_with("red") && ran.stderr.contains("as recorded, not as sent"), "{}", ran.stderr);
    home.run(&["call", "c2", "--sent"]).fails(1, &["does not have the hash", "--recorded"]);
}
