//! Records of Claude Code in a home directory, for tests that run the program.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::home::Home;

/// The session of [`claude`].
pub const SESSION: &str = "11111111-2222-3333-4444-555555555555";

/// What the command of the first call printed.
pub fn whole() -> String {
    (1..=12_000).map(|n| format!("{n}\n")).collect()
}

/// Writes a session of Claude Code with a cut call, a failed one, and one with a secret; returns the spill.
pub fn claude(home: &Home) -> PathBuf {
    let project = root(home).join(".claude/projects/-home-u-proj");
    let spill = project.join(SESSION).join("tool-results/b12345678.txt");
    fs::create_dir_all(spill.parent().unwrap()).unwrap();
    fs::write(&spill, whole()).unwrap();
    let notice = home.run(&["preview", "-p", "claude-code/bash", spill.to_str().unwrap()]).ok();
    let log = [
        use_of("c1", "seq 1 12000"),
        result_of("c1", notice.text(), false),
        use_of("c2", "exit 3"),
        result_of("c2", "Exit code 3\nout \u{1b}[31mred", true),
        use_of("c3", "curl -H 'Authorization: Bearer abcdefgh12345678'"),
        result_of("c3", "token sk-abcdefghijklmnop1234", false),
    ];
    let lines: Vec<String> = log.iter().map(|record| format!("{record}\n")).collect();
    fs::write(project.join(format!("{SESSION}.jsonl")), lines.concat()).unwrap();
    spill
}

pub fn root(home: &Home) -> PathBuf {
    home.env().into_iter().find(|(name, _)| *name == "HOME").unwrap().1
}

pub fn record(more: Value) -> Value {
    let mut record = json!({
        "isSidechain": false, "userType": "external", "sessionId": SESSION, "version": "2.1.330",
        "cwd": "/home/u/proj", "timestamp": "2026-11-22T05:49:31.291Z",
    });
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

pub fn use_of(id: &str, command: &str) -> Value {
    let block = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
    record(json!({
        "type": "assistant", "uuid": format!("u{id}"), "parentUuid": null,
        "message": {"id": format!("m{id}"), "content": [block]},
    }))
}

pub fn result_of(id: &str, text: &str, is_error: bool) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error});
    record(json!({
        "type": "user", "uuid": format!("r{id}"), "parentUuid": format!("u{id}"),
        "message": {"role": "user", "content": [block]},
    }))
}
