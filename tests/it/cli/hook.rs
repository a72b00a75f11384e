//! `hook` answers what the agents document that they pass to their hooks; `docs/agents.md` shows how to set it up.

use serde_json::{Value, json};

use crate::common::home::{Home, Ran};

fn ask(home: &Home, agent: &str, input: &Value) -> Ran {
    home.pipe(input.to_string(), &["hook", agent]).ok()
}

/// Returns the answer, with the name of its event checked.
fn answer(home: &Home, agent: &str, input: &Value) -> Value {
    let answer = ask(home, agent, input).json()["hookSpecificOutput"].clone();
    assert_eq!(answer["hookEventName"], input["hook_event_name"]);
    answer
}

/// Inputs with the fields that each agent documents. `more` is what the event adds.
fn claude(event: &str, more: Value) -> Value {
    let input = json!({
        "session_id": "abc123", "transcript_path": "/home/me/.claude/projects/p/abc123.jsonl", "cwd": "/work",
        "permission_mode": "default", "hook_event_name": event, "tool_name": "Bash", "tool_use_id": "toolu_01",
        "tool_input": { "command": "printf '%s\n' it\\'s; seq 50000", "description": "Count", "timeout": 120_000 },
    });
    merged(input, more)
}

fn codex(event: &str, more: Value) -> Value {
    let input = json!({
        "session_id": "s", "turn_id": "t", "transcript_path": null, "cwd": "/work", "hook_event_name": event,
        "model": "gpt", "permission_mode": "default", "tool_name": "Bash", "tool_use_id": "call_1",
        "tool_input": { "command": "seq 50000" },
    });
    merged(input, more)
}

fn gemini(event: &str, more: Value) -> Value {
    let input = json!({
        "session_id": "s", "transcript_path": "/home/me/.gemini/tmp/p/chats/s.json", "cwd": "/work",
        "hook_event_name": event, "timestamp": "2026-11-22T10:00:00.000Z", "tool_name": "run_shell_command",
        "tool_input": { "command": "seq 50000", "description": "Count" },
    });
    merged(input, more)
}

fn opencode(event: &str, more: Value) -> Value {
    merged(
        json!({ "hook_event_name": event, "tool_name": "bash", "tool_input": { "command": "seq 50000" } }),
        more,
    )
}

fn merged(mut input: Value, more: Value) -> Value {
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input
}

/// 20,000 lines with two errors that no agent keeps.
fn output() -> String {
    let line = |n: u32| match n {
        9_000 | 11_000 => format!("error[E{n}]: \u{1b}[31mbroken\n"),
        _ => format!("line {n} of a long build, which says nothing\n"),
    };
    (1..=20_000).map(line).collect()
}

/// What comes back runs, by way of a shell, as the command itself would, and its output is within the agent's limits.
fn runs_whole(home: &Home, command: &str, ends_with: &str) {
    let ran = std::process::Command::new("bash")
        .args(["-c", command])
        .current_dir(home.work())
        .env_clear()
        .envs(home.env())
        .output()
        .unwrap();
    let text = format!("{}{}", String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && text.contains("tool-output/tool_"), "{text}");
    let path = text.split_whitespace().find(|word| word.contains("/tool-output/tool_")).unwrap();
    let path = path.trim_matches(|c: char| "\"'().,".contains(c));
    assert!(std::fs::read_to_string(path).unwrap().ends_with(ends_with), "{path}");
}

#[test]
fn a_command_is_passed_through_run_before_it_runs() {
    let home = Home::new();
    let asked = answer(&home, "claude-code", &claude("PreToolUse", json!({})));
    let updated = &asked["updatedInput"];
    assert_eq!((&updated["description"], &updated["timeout"]), (&json!("Count"), &json!(120_000)));
    assert!(asked.get("permissionDecision").is_none(), "{asked}");
    let command = updated["command"].as_str().unwrap();
    assert!(
        command.contains(" run -p claude-code/bash --headroom claude-code/bash -- \"${SHELL:-sh}\" -c '")
    );
    runs_whole(&home, command, "49999\n50000\n");
    let asked = answer(&home, "gemini-cli", &gemini("BeforeTool", json!({})));
    runs_whole(&home, asked["tool_input"]["command"].as_str().unwrap(), "50000\n");
    let asked = answer(&home, "opencode", &opencode("tool.execute.before", json!({})));
    runs_whole(&home, asked["updatedInput"]["command"].as_str().unwrap(), "50000\n");
    // Codex would take it for a permission, so it is changed only where Codex does not ask anyway.
    assert_eq!(ask(&home, "codex", &codex("PreToolUse", json!({}))).text(), "");
    let free = codex("PreToolUse", json!({ "permission_mode": "bypassPermissions" }));
    let asked = answer(&home, "codex", &free);
    assert_eq!(asked["permissionDecision"], "allow");
    runs_whole(&home, asked["updatedInput"]["command"].as_str().unwrap(), "50000\n");
}

#[test]
fn other_commands_tools_and_events_are_left_alone() {
    let home = Home::new();
    for input in [
        claude("PreToolUse", json!({ "tool_name": "Edit", "tool_input": { "file_path": "/a" } })),
        claude("PreToolUse", json!({ "tool_input": { "command": "npm start", "run_in_background": true } })),
        claude("PreToolUse", json!({ "tool_input": { "command": "overspill run -- make" } })),
        claude("Stop", json!({})),
        claude(
            "PostToolUse",
            json!({ "tool_response": { "stdout": "short\n", "stderr": "", "interrupted": false } }),
        ),
        claude("PostToolUse", json!({ "tool_response": "Error: Exit code 3" })),
    ] {
        assert_eq!(ask(&home, "claude-code", &input).text(), "", "{input}");
    }
    home.pipe("not json", &["hook", "codex"])
        .fails(1, &["standard input is not what codex passes to a hook"]);
    home.pipe("{}", &["hook", "cursor"]).fails(1, &["cursor", "claude-code"]);
}

#[test]
fn the_model_is_told_what_it_did_not_get() {
    let home = Home::new();
    // Claude Code names the file that it saved; only one beside its records is opened.
    let records = home.work().join(".claude/projects/p/s.jsonl");
    let spill = home.work().join(".claude/projects/p/s/tool-results/b1.txt");
    std::fs::create_dir_all(spill.parent().unwrap()).unwrap();
    std::fs::write(&spill, output()).unwrap();
    let with = |path: &std::path::Path| {
        let response = json!({ "stdout": &output()[..30_000], "stderr": "", "interrupted": false, "isImage": false,
            "persistedOutputPath": path, "persistedOutputSize": output().len() });
        claude("PostToolUse", json!({ "transcript_path": records, "tool_response": response }))
    };
    let note = answer(&home, "claude-code", &with(&spill))["additionalContext"].as_str().unwrap().to_owned();
    let got = "overspill: you got ";
    let errors = " You got none of its 2 lines with an error or warning; the first is line 9,000: error[E9000]: ^[[31mbroken.";
    assert!(note.starts_with(got) && note.contains(errors), "{note}");
    assert!(note.ends_with(&format!("The whole output is in {}", spill.display())), "{note}");
    std::fs::write(home.at("elsewhere.txt"), output()).unwrap();
    let input = with(&home.at("elsewhere.txt"));
    assert!(!ask(&home, "claude-code", &input).text().contains("error[E9000]"));

    let input = gemini(
        "AfterTool",
        json!({ "tool_response": { "llmContent": [{ "text": output() }], "returnDisplay": "" } }),
    );
    let note = answer(&home, "gemini-cli", &input)["additionalContext"].as_str().unwrap().to_owned();
    assert!(
        note.starts_with(got) && note.contains(errors) && note.contains("No file holds the rest"),
        "{note}"
    );

    let store = home.private_entry("opencode", "tool_e26cf08d5001AbCdEfGhIjKlMn", output(), 1);
    let metadata = json!({ "truncated": true, "outputPath": store });
    let input =
        opencode("tool.execute.after", json!({ "tool_response": { "output": "...", "metadata": metadata } }));
    let note = answer(&home, "opencode", &input)["additionalContext"].as_str().unwrap().to_owned();
    assert!(note.contains(errors) && note.ends_with(&store.display().to_string()), "{note}");

    let cut = "Total output lines: 50000\n\n1\n2\n…3021 tokens truncated…\n50000\n";
    let note =
        answer(&home, "codex", &codex("PostToolUse", json!({ "tool_response": cut })))["additionalContext"]
            .clone();
    assert!(note.as_str().unwrap().contains("(…3021 tokens truncated…)"), "{note}");
    let whole = codex("PostToolUse", json!({ "tool_response": "1\n2\n" }));
    assert_eq!(ask(&home, "codex", &whole).text(), "");
}

/// The settings that the page tells to add are what the agents read: JSON, TOML.
#[test]
fn the_settings_on_the_page_parse_and_name_the_hook() {
    let page = std::fs::read_to_string("docs/agents.md").unwrap();
    let blocks = |kind: &str| {
        let fence = format!("```{kind}\n");
        let starts: Vec<&str> = page.split(&fence).skip(1).collect();
        starts.into_iter().map(|rest| rest.split("```").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let settings: Vec<Value> =
        blocks("json").iter().map(|text| serde_json::from_str(text).unwrap()).collect();
    let command = |value: &Value, event: &str| value["hooks"][event][0]["hooks"][0]["command"].clone();
    assert_eq!(command(&settings[0], "PreToolUse"), "overspill hook claude-code");
    assert_eq!(command(&settings[0], "PostToolUse"), "overspill hook claude-code");
    assert_eq!(command(&settings[1], "BeforeTool"), "overspill hook gemini-cli");
    assert_eq!(command(&settings[1], "AfterTool"), "overspill hook gemini-cli");
    let config: toml::Table = blocks("toml")[0].parse().unwrap();
    for event in ["PreToolUse", "PostToolUse"] {
        let hook = &config["hooks"][event][0];
        assert_eq!(hook["hooks"][0]["command"].as_str(), Some("overspill hook codex"));
    }
    assert!(blocks("js")[0].contains("[\"hook\", \"opencode\"]"));
}
