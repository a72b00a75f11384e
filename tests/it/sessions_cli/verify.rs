//! `verify`: equal, different, and not to be checked.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::{SESSION, claude, root};
use crate::common::home::Home;

#[test]
fn equal_results_end_with_0() {
    let home = Home::new();
    claude(&home);
    let ran = home.run(&["verify", "--all", "--json"]).ok();
    let verdicts = ran.json();
    assert_eq!(verdicts.as_array().unwrap().len(), 1, "only what was cut");
    assert_eq!(
        (&verdicts[0]["verdict"], &verdicts[0]["policy"]),
        (&"equal".into(), &"claude-code/bash".into())
    );
    let ran = home.run(&["verify", SESSION]);
    assert_eq!(ran.status, 0);
    assert!(
        ran.text().starts_with("=  claude-code 2.1.330") && ran.stderr.contains("1 equal"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_difference_is_told_by_its_first_byte_and_ends_with_1() {
    let home = Home::new();
    let spill = claude(&home);
    let mut bytes = fs::read(&spill).unwrap();
    bytes[0] = b'7';
    fs::write(&spill, bytes).unwrap();
    let ran = home.run(&["verify", SESSION, "--json"]);
    assert_eq!(ran.status, 1);
    let verdict = &ran.json()[0];
    assert_eq!((&verdict["verdict"], &verdict["part"]), (&"differs".into(), &"kept".into()));
    let recorded = home.run(&["call", "c1"]).ok();
    let first = recorded.text().find("\n1\n2\n").unwrap() + 1;
    assert_eq!(verdict["differs_at"], first);
}

#[test]
fn without_a_spill_nothing_is_claimed() {
    let home = Home::new();
    fs::remove_file(claude(&home)).unwrap();
    let ran = home.run(&["verify", SESSION, "--json"]).ok();
    assert_eq!(ran.json()[0]["verdict"], "unchecked");
    assert_eq!(ran.json()[0]["reason"], "the whole output is not at hand");
}

#[test]
fn a_path_outside_of_the_stores_is_not_opened_unasked() {
    let home = Home::new();
    let spill = claude(&home);
    let outside = home.at("b12345678.txt");
    fs::rename(&spill, &outside).unwrap();
    let log = root(&home).join(".claude/projects/-home-u-proj").join(format!("{SESSION}.jsonl"));
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replace(spill.to_str().unwrap(), outside.to_str().unwrap())).unwrap();
    let ran = home.run(&["verify", SESSION, "--json"]).ok();
    assert!(ran.json()[0]["reason"].as_str().unwrap().contains("--any-path"));
    let ran = home.run(&["verify", SESSION, "--any-path", "--json"]).ok();
    assert_eq!(ran.json()[0]["verdict"], "equal");
}

#[test]
fn something_must_be_named() {
    let home = Home::new();
    home.run(&["verify"]).fails(2, &["--all"]);
    home.run(&["verify", "--all", "--json"]).ok();
}

/// Writes a session of pi that read a file of 3,000 lines, from line `offset` on; returns the file.
fn pi(home: &Home, offset: u64) -> PathBuf {
    let file = home.file("notes.txt", (1..=3000).map(|n| format!("note {n}\n")).collect::<String>());
    let offset = offset.to_string();
    let read = home.run(&["read", "-p", "pi/read", file.to_str().unwrap(), "--offset", &offset]).ok();
    let log = [
        json!({"type": "session", "version": 3, "id": "pi1", "timestamp": "2030-11-22T05:51:41Z", "cwd": "/p"}),
        json!({"type": "message", "id": "1", "parentId": null, "timestamp": "2030-11-22T05:51:41Z", "message": {
            "role": "assistant", "content": [{"type": "toolCall", "id": "c1", "name": "read",
                "arguments": {"path": file, "offset": offset.parse::<u64>().unwrap()}}]}}),
        json!({"type": "message", "id": "2", "parentId": "1", "timestamp": "2030-11-22T05:51:42Z", "message": {
            "role": "toolResult", "toolCallId": "c1", "toolName": "read", "isError": false,
            "content": [{"type": "text", "text": read.text()}], "details": {"truncation": {"truncated": true}}}}),
    ];
    let dir = root(home).join(".pi/agent/sessions/--p--");
    fs::create_dir_all(&dir).unwrap();
    let lines: Vec<String> = log.iter().map(|record| format!("{record}\n")).collect();
    fs::write(dir.join("2030-11-22T05-51-41-802Z_pi1.jsonl"), lines.concat()).unwrap();
    file
}

#[test]
fn a_window_of_a_file_is_checked_against_the_file() {
    let home = Home::new();
    let file = pi(&home, 1);
    let reason = |flags: &[&str]| home.run(flags).ok().json()[0]["reason"].as_str().unwrap().to_owned();
    assert!(reason(&["verify", "pi1", "--json"]).contains("--any-path"));
    let any = ["verify", "pi1", "--any-path", "--json"];
    assert_eq!(home.run(&any).ok().json()[0]["policy"], "pi/read");
    let calls = home.run(&["calls", "pi1", "--json"]).ok().json();
    assert_eq!((&calls[0]["cut"], &calls[0]["verify"]), (&"no".into(), &"unchecked".into()));
    let other = fs::read_to_string(&file).unwrap().replace("note 7\n", "note !\n");
    fs::write(&file, other).unwrap();
    let ran = home.run(&any);
    assert_eq!((ran.status, &ran.json()[0]["part"]), (1, &"kept".into()), "the file is older than the call");
    let log = root(&home).join(".pi/agent/sessions/--p--/2030-11-22T05-51-41-802Z_pi1.jsonl");
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replace("2030-", "2020-")).unwrap();
    assert_eq!(reason(&any), "the file that was read was changed since");
    fs::remove_file(file).unwrap();
    assert_eq!(reason(&any), "the file that was read is not at hand");
}

#[test]
fn the_window_is_the_one_that_was_asked_for() {
    let home = Home::new();
    pi(&home, 900);
    assert_eq!(home.run(&["verify", "pi1", "--any-path", "--json"]).ok().json()[0]["verdict"], "equal");
}
