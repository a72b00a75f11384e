//! `verify`: equal, different, and not to be checked.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use super::{SESSION, claude, root};
use crate::common::home::Home;

#[test]
fn verify_exits_0_if_all_results_are_equal() {
    let home = Home::new();
    claude(&home);
    let ran = home.run(&["verify", "--json"]).ok();
    let verdicts = ran.json();
    assert_eq!(verdicts.as_array().unwrap().len(), 1, "only what was cut");
    assert_eq!(
        (&verdicts[0]["verdict"], &verdicts[0]["policy"]),
        (&"equal".into(), &"claude-code/bash".into())
    );
    let ran = home.run(&["verify", SESSION]);
    assert_eq!(ran.status, 0);
    assert!(
        ran.text().starts_with("=\tclaude-code 2.1.330\t") && ran.stderr.contains("1 equal"),
        "{}",
        ran.stderr
    );
}

#[test]
fn verify_shows_the_first_differing_byte_and_exits_1() {
    let home = Home::new();
    let spill = claude(&home);
    let mut bytes = fs::read(&spill).unwrap();
    bytes[0] = b'7';
    fs::write(&spill, bytes).unwrap();
    let ran = home.run(&["verify", SESSION, "--json"]);
    assert_eq!(ran.status, 1);
    let verdict = &ran.json()[0];
    assert_eq!((&verdict["verdict"], &verdict["part"]), (&"differs".into(), &"kept".into()));
    let recorded = home.run(&["show", "--text", "c1"]).ok();
    let first = recorded.text().find("\n1\n2\n").unwrap() + 1;
    assert_eq!(verdict["differs_at"], first);
    // People count from 1, as cmp does.
    let place = format!("byte {}, in the kept text", first + 1);
    let ran = home.run(&["verify", SESSION]);
    assert!(ran.text().contains(&place) && ran.stderr.contains(": 1 cut result: 0 equal"), "{}", ran.stderr);
    assert!(home.run(&["show", "c1"]).ok().text().contains(&place));
}

/// Replaces some of the text in Claude Code's log.
fn alter(home: &Home, from: &str, to: &str) {
    let log = root(home).join(".claude/projects/-home-u-proj").join(format!("{SESSION}.jsonl"));
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.contains(from), "{text}");
    fs::write(&log, text.replace(from, to)).unwrap();
}

#[test]
fn without_a_spill_verify_checks_only_the_cut() {
    let home = Home::new();
    fs::remove_file(claude(&home)).unwrap();
    let ran = home.run(&["verify", SESSION]);
    assert_eq!(ran.status, 0);
    assert!(ran.text().starts_with("≈\tclaude-code 2.1.330\t"), "{}", ran.text());
    assert!(
        ran.text().contains("not at hand, so its totals in the notice are not checked"),
        "{}",
        ran.text()
    );
    assert!(ran.stderr.contains("1 equal (1 by a witness), 0 different"), "{}", ran.stderr);
    let verdict = home.run(&["verify", SESSION, "--json"]).ok().json()[0].clone();
    assert_eq!((&verdict["verdict"], &verdict["against"]), (&"equal".into(), &"witness".into()));
    let calls = home.run(&["sessions", SESSION, "--json"]).ok().json();
    assert_eq!((&calls[0]["verify"], &calls[0]["verify_against"]), (&"equal".into(), &"witness".into()));
    assert!(home.run(&["sessions", SESSION]).ok().text().contains('≈'));
}

#[test]
fn without_a_spill_a_cut_that_no_policy_makes_is_not_checked() {
    let home = Home::new();
    fs::remove_file(claude(&home)).unwrap();
    alter(&home, "Preview (first 2KB)", "Preview (first 3KB)");
    let ran = home.run(&["verify", SESSION, "--json"]).ok();
    assert_eq!(ran.json()[0]["verdict"], "unchecked");
    assert_eq!(ran.json()[0]["reason"], "the whole output is not at hand");
}

/// Writes a session of Continue, with the result of one command.
fn continue_cli(home: &Home, got: &str) {
    let call = json!({"toolCallId": "c1", "status": "done", "toolCall": {"function": {"name": "Bash",
        "arguments": "{\"command\": \"seq 1 12000\"}"}}, "output": [{"content": got}]});
    let session = json!({"sessionId": "s1", "title": "t", "workspaceDirectory": "/p",
        "history": [{"message": {}, "toolCallStates": [call]}]});
    let dir = root(home).join(".continue/sessions");
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("s1.json"), session.to_string()).unwrap();
}

/// Writes a session of Kimi CLI, with the result of one command.
fn kimi_cli(home: &Home, got: &str) {
    let dir = root(home).join(".kimi/sessions/4fafce67053eea06f159a78f7ef15755/k1");
    let notice = "<system>Command executed successfully. Output is truncated to fit in the message.</system>";
    let part = |text: &str| json!({"type": "text", "text": text});
    let function = json!({"name": "Shell", "arguments": "{}"});
    let log = [
        json!({"role": "_system_prompt", "content": ""}),
        json!({"role": "assistant", "content": "", "tool_calls": [{"type": "function", "id": "c1", "function": function}]}),
        json!({"role": "tool", "tool_call_id": "c1", "content": [part(notice), part(got)]}),
    ];
    fs::create_dir_all(&dir).unwrap();
    fs::write(dir.join("context.jsonl"), log.map(|record| format!("{record}\n")).concat()).unwrap();
}

#[test]
fn agents_that_keep_no_whole_output_are_checked_by_a_witness() {
    let home = Home::new();
    let last: String = (11_002..=12_000).map(|n| format!("{n}\n")).collect();
    continue_cli(&home, &format!("(previous 11001 lines truncated)\n\n{last}"));
    let whole: String = (1..=12_000).map(|n| format!("{n}\n")).collect();
    // The line at the total is cut to what is left of it.
    let first = format!("{}[...truncated]\n", &whole[..49_985]);
    kimi_cli(&home, &first);
    let verdicts = home.run(&["verify", "--json"]).ok().json();
    let of = |agent: &str| {
        let all = verdicts.as_array().unwrap();
        all.iter().find(|verdict| verdict["agent"] == agent).unwrap().clone()
    };
    for (agent, policy) in [("continue", "continue/bash"), ("kimi-cli", "kimi-cli/shell")] {
        let found = of(agent);
        assert_eq!((&found["verdict"], &found["against"]), (&"equal".into(), &"witness".into()), "{found}");
        assert_eq!(found["policy"], policy);
    }
    // A line more than the policy keeps.
    continue_cli(&home, &format!("(previous 11001 lines truncated)\n\n11001\n{last}"));
    let ran = home.run(&["verify", "s1", "--json"]).ok();
    assert_eq!((&ran.json()[0]["verdict"], &ran.json()[0]["against"]), (&"unchecked".into(), &json!(null)));
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
fn verify_exits_0_if_there_are_no_sessions() {
    let home = Home::new();
    home.run(&["verify", "--json"]).ok();
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
    let calls = home.run(&["sessions", "pi1", "--json"]).ok().json();
    assert_eq!((&calls[0]["cut"], &calls[0]["verify"]), (&"never-saved".into(), &"unchecked".into()));
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
fn verify_uses_the_requested_window() {
    let home = Home::new();
    pi(&home, 900);
    assert_eq!(home.run(&["verify", "pi1", "--any-path", "--json"]).ok().json()[0]["verdict"], "equal");
}
