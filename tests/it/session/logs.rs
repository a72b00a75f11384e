//! The true records of agents that keep logs: every result, against a plain parser.

use std::collections::BTreeMap;
use std::path::Path;

use overspill::internals::session::model::CutState;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

use super::samples::{compare, records};
use super::{call, first, is_read_whole, open, recognised, sessions_in, write_log};

type Results = BTreeMap<String, String>;

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn joined(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        parts => parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect(),
    }
}

fn codex(path: &Path) -> Results {
    let outputs = records(path).into_iter().map(|record| record["payload"].clone());
    let outputs = outputs.filter(|item| item["type"] == "function_call_output");
    outputs.map(|item| (string(&item["call_id"]), joined(&item["output"]))).collect()
}

fn pi(path: &Path) -> Results {
    let messages = records(path).into_iter().map(|record| record["message"].clone());
    let results = messages.filter(|message| message["role"] == "toolResult");
    results.map(|message| (string(&message["toolCallId"]), joined(&message["content"]))).collect()
}

fn response(response: &Value) -> (String, String) {
    let text = [&response["response"]["output"], &response["response"]["error"]];
    (string(&response["id"]), text.iter().find_map(|text| text.as_str()).unwrap_or_default().to_owned())
}

fn qwen(path: &Path) -> Results {
    let parts = records(path).into_iter().flat_map(|record| record["message"]["parts"].as_array().cloned());
    parts
        .flatten()
        .filter(|part| part["functionResponse"].is_object())
        .map(|part| response(&part["functionResponse"]))
        .collect()
}

fn gemini(path: &Path) -> Results {
    let parts = records(path).into_iter().filter_map(|record| record["content"].as_array().cloned());
    parts
        .flatten()
        .filter(|part| part["functionResponse"].is_object())
        .map(|part| response(&part["functionResponse"]))
        .collect()
}

fn copilot(path: &Path) -> Results {
    let ended = records(path).into_iter().filter(|record| record["type"] == "tool.execution_complete");
    ended
        .map(|record| {
            let data = &record["data"];
            let text = data["result"]["content"].as_str().or(data["error"]["message"].as_str());
            (string(&data["toolCallId"]), text.unwrap_or_default().to_owned())
        })
        .collect()
}

/// As sent: with the lines that the agent adds.
fn kimi_code(path: &Path) -> Results {
    let agents = path.parent().unwrap().parent().unwrap();
    let mut found = Results::new();
    for agent in std::fs::read_dir(agents).unwrap() {
        let mut tools = BTreeMap::new();
        for record in records(&agent.unwrap().path().join("wire.jsonl")) {
            let event = &record["event"];
            let id = string(&event["toolCallId"]);
            if event["type"] == "tool.call" {
                tools.insert(id, string(&event["name"]));
            } else if event["type"] == "tool.result" {
                let result = &event["result"];
                let mut text = String::new();
                if ["Bash", "Agent", "Grep", "Glob"].contains(&tools[&id].as_str()) {
                    let took = result["durationMs"].as_f64().unwrap() / 1000.0;
                    text.push_str(&format!("Wall time: {took:.3} seconds\n"));
                }
                if result["isError"] == true {
                    text.push_str("<system>ERROR: Tool execution failed.</system>\n");
                }
                text.push_str(&joined(&result["output"]));
                if let Some(note) = result["note"].as_str() {
                    text.push_str(&format!("\n{note}"));
                }
                found.insert(id, text);
            }
        }
    }
    found
}

/// Of the main conversation, with the histories that were left.
fn kimi_cli(path: &Path) -> Results {
    let dir = path.parent().unwrap();
    let agents = std::fs::read_dir(dir.join("subagents")).into_iter().flatten();
    let dirs = agents.map(|agent| agent.unwrap().path()).chain([dir.to_owned()]);
    let files = dirs.flat_map(|dir| std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().path()));
    let histories = files.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("context"));
    let messages = histories.flat_map(|path| records(&path)).filter(|message| message["role"] == "tool");
    messages.map(|message| (string(&message["tool_call_id"]), joined(&message["content"]))).collect()
}

#[test]
fn samples_read_whole() {
    compare("codex-0.169.0", "codex", codex);
    compare("pi-1.5.2", "pi", pi);
    compare("qwen-0.24.4", "qwen-code", qwen);
    compare("gemini-0.61.0", "gemini-cli", gemini);
    compare("copilot-1.0.102", "copilot-cli", copilot);
    compare("kimicode-2.1.0", "kimi-code", kimi_code);
    compare("kimi-1.49.0", "kimi-cli", kimi_cli);
}

/// Reads a session of Codex with one result; returns its exit status, and whether it was cut.
fn codex_result(output: &str) -> (Option<i32>, bool) {
    let dir = tempfile::tempdir().unwrap();
    let item = json!({"type": "function_call_output", "call_id": "c1", "output": output});
    let log = [
        json!({"type": "session_meta", "payload": {"id": "s1"}}),
        json!({"type": "response_item", "payload": item}),
    ];
    let opened = open(&write_log(dir.path(), "log.jsonl", &log));
    let call = call(opened.transcript(), "c1");
    (call.exit, call.is_cut())
}

#[test]
fn a_codex_cut_notice_counts_only_before_the_output() {
    let result = |more: &str| codex_result(&format!("Exit code: 3\nWall time: 0.1 seconds\n{more}"));
    assert_eq!(result("Total output lines: 9000\nOutput:\nx"), (Some(3), true));
    assert_eq!(result("Output:\nx\nTotal output lines: 9000\n"), (Some(3), false), "printed");
    let other = "Chunk\nWall time: 0.1 seconds\nTotal output lines: 9000\nOutput:\nx";
    assert_eq!(codex_result(other), (None, false));
}

#[test]
fn the_oldest_codex_form_has_its_status_after_the_output() {
    for length in [9, 5000, 1 << 20] {
        let metadata = json!({"exit_code": 2, "duration_seconds": 0.1});
        let text = "\"exit_code\":7".repeat(length / 9);
        let result = format!("{{\"output\":{},\"metadata\":{metadata}}}", json!(text));
        assert_eq!(codex_result(&result), (Some(2), false), "{length}");
    }
}

#[test]
fn a_status_that_a_tool_of_codex_printed_is_none_of_its_own() {
    let printed = [
        "Job 12\nExit code: 3\nend\n",
        "Job\nProcess exited with code 4\n",
        "Wall time: 0.1 seconds\nOutput:\nExit code: 5\n",
        "Exit code: 6\nof the job",
    ];
    assert_eq!(printed.map(codex_result), [(None, false); 4]);
    let ran = |first: &str| codex_result(&format!("{first}\nProcess exited with code 4\nOutput:\nx")).0;
    assert_eq!(["Chunk ID: 96c4e1", "Wall time: 0.1 seconds", "Job 12"].map(ran), [Some(4), Some(4), None]);
}

#[test]
fn the_middle_of_an_output_in_the_free_form_of_codex_is_lost() {
    let is_cut = |head: usize, middle: &str, tail: usize| {
        let (head, tail) = ("x".repeat(head), "y".repeat(tail));
        codex_result(&format!("Exit code: 0\nWall time: 0.3 seconds\nOutput:\n{head}{middle}{tail}")).1
    };
    let tokens = "…5008 tokens truncated…";
    assert!(is_cut(20_000, tokens, 20_000) && !is_cut(20_000, tokens, 20_100));
    let fitted = "\n[... output truncated to fit 10240 bytes ...]\n\n";
    assert!(is_cut(5000, fitted, 5000) && is_cut(5120, fitted, 0));
    assert!(!is_cut(5121, fitted, 0) && !is_cut(5000, fitted, 6000) && !is_cut(9, fitted, 9), "printed");
}

#[test]
fn a_notice_that_a_command_of_codex_printed_is_no_cut() {
    let ran = |tokens: u32, text: &str| {
        let header = "Chunk ID: 96c4e1\nWall time: 0.1 seconds\nProcess exited with code 0";
        codex_result(&format!("{header}\nOriginal token count: {tokens}\nOutput:\n{text}")).1
    };
    let notice = "Warning: truncated output (original token count: 15224)\nTotal output lines: 12000\n\n1\n";
    assert!(ran(15224, notice) && !ran(22, notice));
    assert!(ran(15220, notice), "the header counts bytes, which were no UTF-8");
    assert!(!ran(6, "Total output lines: 3\nfoo\n") && ran(15003, "Total output lines: 1\n\n1"));
    let free = codex_result("Exit code: 0\nWall time: 0.1 seconds\nOutput:\nTotal output lines: 3\n\nfoo");
    assert_eq!(free, (Some(0), false));
}

#[test]
fn what_older_versions_of_codex_wrote_down_whole_may_have_been_cut() {
    let dir = tempfile::tempdir().unwrap();
    let cut = |version: &str, output: &str| {
        let item = json!({"type": "function_call_output", "call_id": "c1", "output": output});
        let log = [
            json!({"type": "session_meta", "payload": {"id": "s1", "cli_version": version}}),
            json!({"type": "response_item", "payload": item}),
        ];
        call(open(&write_log(dir.path(), "log.jsonl", &log)).transcript(), "c1").cut
    };
    let long = "r".repeat(48_001);
    assert_eq!(["0.58.0", "0.169.0"].map(|version| cut(version, &long)), [CutState::Unknown, CutState::No]);
    assert_eq!(cut("0.58.0", &long[1..]), CutState::No);
    assert_eq!(cut("0.58.0", &format!("Exit code: 0\nOutput:\n{long}")), CutState::No, "of a command");
}

/// A rollout of Codex with as many calls, whose outputs do not compress well.
fn rollout(calls: u64) -> String {
    let noise = |seed: u64| {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            format!("{state:016x}")
        };
        (0..100).map(|_| next()).collect::<String>()
    };
    let mut log =
        vec![json!({"type": "session_meta", "payload": {"id": "s1", "cwd": "/p", "cli_version": "0.169.0"}})];
    for n in 0..calls {
        let (id, output) = (format!("c{n}"), noise(n));
        let call = json!({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": id});
        log.push(json!({"type": "response_item", "payload": call}));
        let output = json!({"type": "function_call_output", "call_id": id, "output": output});
        log.push(json!({"type": "response_item", "payload": output}));
    }
    log.iter().map(|record| format!("{record}\n")).collect()
}

#[test]
fn a_compressed_rollout_is_read() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join(".codex/sessions/2026/11/22");
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("rollout-2026-11-22T05-49-57-01a201cd-0000-7000-8000-000000000001.jsonl.zst");
    let text = rollout(200);
    // Two frames, and so many bytes that the first 64 KiB of them are not all.
    let (start, end) = text.split_at(text.len() / 2 + 7);
    let pack = |text: &str| compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
    let packed = [pack(start), pack(end)].concat();
    assert!(packed.len() > 3 * 65_536);
    std::fs::write(&path, pack(&rollout(1))).unwrap();
    let file = sessions_in(home.path(), "codex").remove(0);
    assert_eq!(
        overspill::internals::session::list::facts(&file).unwrap().version.as_deref(),
        Some("0.169.0")
    );
    std::fs::write(&path, &packed).unwrap();
    let opened = open(&path);
    assert!(is_read_whole(opened.transcript()));
    let plain = write_log(home.path(), "plain.jsonl", &[]);
    std::fs::write(&plain, &text).unwrap();
    let expected = open(&plain);
    assert_eq!(opened.transcript().calls.len(), 200);
    for call in &expected.transcript().calls {
        assert_eq!(first(opened.transcript(), &call.id), first(expected.transcript(), &call.id));
    }
    std::fs::write(&path, &packed[..packed.len() - 100]).unwrap();
    let damaged = open(&path);
    let unread = damaged.transcript().unread.describe();
    assert!(unread.contains("the compressed file is damaged; "), "{unread}");
    // Those of the second frame, too, as far as it goes.
    assert!((150..200).contains(&damaged.transcript().calls.len()));
    std::fs::write(&path, &packed[..1000]).unwrap();
    let (format, file) = recognised(&path);
    let error = format.open(&file, &()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("the compressed file is damaged"), "{error}");
}
