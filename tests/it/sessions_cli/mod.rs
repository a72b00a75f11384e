//! The commands that read agents' own records, as a script runs them.

mod call;
mod changing;
mod verify;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::common::home::Home;

/// The session of [`claude`].
const SESSION: &str = "11111111-2222-3333-4444-555555555555";

/// What the command of the first call printed.
fn whole() -> String {
    (1..=12_000).map(|n| format!("{n}\n")).collect()
}

/// Writes a session of Claude Code with a cut call, a failed one, and one with a secret; returns the spill.
fn claude(home: &Home) -> PathBuf {
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

fn root(home: &Home) -> PathBuf {
    home.env().into_iter().find(|(name, _)| *name == "HOME").unwrap().1
}

fn record(more: Value) -> Value {
    let mut record = json!({
        "isSidechain": false, "userType": "external", "sessionId": SESSION, "version": "2.1.330",
        "cwd": "/home/u/proj", "timestamp": "2026-11-22T05:49:31.291Z",
    });
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

fn use_of(id: &str, command: &str) -> Value {
    let block = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}});
    record(json!({
        "type": "assistant", "uuid": format!("u{id}"), "parentUuid": null,
        "message": {"id": format!("m{id}"), "content": [block]},
    }))
}

fn result_of(id: &str, text: &str, is_error: bool) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error});
    record(json!({
        "type": "user", "uuid": format!("r{id}"), "parentUuid": format!("u{id}"),
        "message": {"role": "user", "content": [block]},
    }))
}

/// Returns what `ls -lR` would show of a directory: names, sizes, times, and the bytes of small files.
fn picture(dir: &Path) -> Vec<(PathBuf, u64, std::time::SystemTime, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let (path, meta) = (entry.path(), entry.metadata().unwrap());
        if meta.is_dir() {
            found.extend(picture(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            found.push((path, meta.len(), meta.modified().unwrap(), bytes));
        }
    }
    found.sort();
    found
}
