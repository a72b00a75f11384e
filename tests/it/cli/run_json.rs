//! `run --json`: how the command ended, what was saved, and from where the policy comes.

use serde_json::{Value, json};

use crate::common::home::Home;

fn run(home: &Home, words: &[&str]) -> Value {
    home.run(&[&["run", "--json"], words].concat()).json()
}

#[test]
fn run_json_reports_how_the_command_ended() {
    let home = Home::new();
    let json = run(&home, &["--", "sh", "-c", "echo a; exit 3"]);
    let of = |json: &Value, key: &str| json[key].clone();
    assert_eq!(
        (of(&json, "version"), of(&json, "exit_code"), of(&json, "signal")),
        (1.into(), 3.into(), Value::Null)
    );
    assert_eq!(
        (of(&json, "id"), of(&json, "saved_as"), of(&json, "saved_bytes")),
        (Value::Null, Value::Null, 0.into())
    );
    assert_eq!(
        (of(&json, "seen_bytes"), of(&json, "whole"), of(&json, "stderr")),
        (2.into(), true.into(), Value::Null)
    );
    assert_eq!((of(&json, "timed_out"), of(&json, "policy_from")), (false.into(), "default".into()));
    assert!(json["duration_ms"].is_u64());
    let json = run(&home, &["-p", "pi/bash", "--", "sh", "-c", "kill -9 $$"]);
    assert_eq!(
        (of(&json, "exit_code"), of(&json, "signal"), of(&json, "policy_from")),
        (137.into(), 9.into(), "flags".into())
    );
    let json = run(&home, &["--timeout", "0.2s", "--", "sleep", "30"]);
    assert_eq!((of(&json, "exit_code"), of(&json, "timed_out")), (124.into(), true.into()));
}

#[test]
fn run_json_includes_stderr_messages_as_warnings() {
    let home = Home::new();
    let words = ["-p", "pi/bash", "--headroom", "10", "--", "seq", "5000"];
    let warnings = run(&home, &words)["warnings"].to_string();
    assert!(
        warnings.contains("no limit on lines or size makes the preview fit in the headroom"),
        "{warnings}"
    );
}

#[test]
fn run_json_says_that_a_capped_spill_is_not_whole() {
    let home = Home::new();
    let json = run(&home, &["--", "seq", "5000"]);
    let path = json["saved_as"].as_str().unwrap().to_owned();
    assert!(path.ends_with(json["id"].as_str().unwrap()) && json["whole"] == json!(true), "{json}");
    assert_eq!(json["saved_bytes"].as_u64(), Some(std::fs::metadata(&path).unwrap().len()));
    let words = ["--max-spill", "1k", "--", "seq", "5000"];
    let json = run(&home, &words);
    assert_eq!(
        (&json["whole"], &json["saved_bytes"], &json["seen_bytes"]),
        (&json!(false), &json!(1024), &json!(23_893))
    );
    let ran = home.run(&[&["run"], &words[..]].concat());
    assert!(ran.stderr.contains(" holds only the first 1024 of 23893 bytes"), "{}", ran.stderr);
    let json = run(&home, &["--split", "--", "sh", "-c", "echo out; echo error >&2"]);
    assert_eq!((&json["stderr"]["seen_bytes"], &json["seen_bytes"]), (&json!(6), &json!(4)), "{json}");
}
