//! The true records of agents that keep logs: every result, against a plain parser.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::samples::{compare, records};

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
                if ["Bash", "Agent"].contains(&tools[&id].as_str()) {
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
