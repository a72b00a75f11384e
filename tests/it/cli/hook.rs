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

/// Rewriting a command would turn the agents' rules for permissions off.
#[test]
fn nothing_is_answered_before_a_command() {
    let home = Home::new();
    let free = json!({ "permission_mode": "bypassPermissions" });
    for (agent, input) in [
        ("claude-code", claude("PreToolUse", json!({}))),
        ("claude-code", claude("PreToolUse", free.clone())),
        ("codex", codex("PreToolUse", free)),
        ("gemini-cli", gemini("BeforeTool", json!({}))),
        ("opencode", opencode("tool.execute.before", json!({}))),
    ] {
        assert_eq!(ask(&home, agent, &input).text(), "", "{input}");
    }
}

/// To an agent, 2 means that the command must not run.
#[test]
fn whatever_fails_the_status_is_at_most_1() {
    let home = Home::new();
    home.file("broken.toml", "[[[");
    std::fs::create_dir(home.at("dir")).unwrap();
    let wrong: &[(&[&str], &str)] = &[
        (&["--config", "none.toml", "hook", "claude-code"], "no such file"),
        (&["hook", "--config", "none.toml", "claude-code"], "no such file"),
        (&["--config=none.toml", "-q", "hook", "claude-code"], "no such file"),
        (&["--config", "broken.toml", "hook", "claude-code"], "broken.toml"),
        (&["--config", "dir", "hook", "claude-code"], "dir"),
        (&["-q", "hook", "cursor"], "cursor"),
        (&["--color", "sometimes", "hook", "claude-code"], "sometimes"),
        (&["--colour", "never", "hook", "claude-code"], "--colour"),
        (&["hook"], "AGENT"),
        (&["hook", "claude-code", "--max-lines", "3"], "--max-lines"),
        (&["hook", "claude-code", "codex"], "codex"),
        (&["hook", "claude-code", "list"], "list"),
    ];
    let input = codex("PostToolUse", json!({ "tool_response": "…3021 tokens truncated…" }));
    for (words, named) in wrong {
        let ran = home.pipe(input.to_string(), words);
        assert!(ran.status <= 1, "{words:?}: {} {}", ran.status, ran.stderr);
        assert!(ran.status == 0 || ran.stderr.contains(named), "{words:?}: {}", ran.stderr);
    }
    home.pipe("", &["hook", "codex"]).fails(1, &["standard input"]);
    for (redirection, status) in
        [("<&-", 1), ("<.", 1), (">&-", 0), (">/dev/full", 1), ("2>&- >/dev/full", 1)]
    {
        let line =
            format!("printf %s '{input}' | {} hook codex {redirection}", env!("CARGO_BIN_EXE_overspill"));
        let mut shell = std::process::Command::new("bash");
        let shell = shell.args(["-c", &line]).current_dir(home.work()).env_clear().envs(home.env());
        assert_eq!(shell.output().unwrap().status.code(), Some(status), "{redirection}");
    }
}

#[test]
fn other_commands_tools_and_events_are_left_alone() {
    let home = Home::new();
    for input in [
        claude("PostToolUse", json!({ "tool_name": "Edit", "tool_input": { "file_path": "/a" } })),
        claude("Stop", json!({})),
        claude(
            "PostToolUse",
            json!({ "tool_response": { "stdout": "short\n", "stderr": "", "interrupted": false } }),
        ),
        claude("PostToolUse", json!({ "tool_response": "Error: Exit code 3" })),
    ] {
        assert_eq!(ask(&home, "claude-code", &input).text(), "", "{input}");
    }
    // What `run` saved has a file, which its own notice names.
    let run = json!({ "tool_input": { "command": "overspill run -- make" }, "tool_response": "…3 tokens truncated…" });
    assert_eq!(ask(&home, "codex", &codex("PostToolUse", run)).text(), "");
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
    let errors = " You got none of its 2 errors; the first is line 9,000: error[E9000]: ^[[31mbroken.";
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
    // It may be saved later.
    assert!(note.starts_with(got) && note.ends_with(errors), "{note}");

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

#[test]
fn of_an_output_without_end_the_first_part_is_told() {
    let home = Home::new();
    let store = home.private_entry("opencode", "tool_e26cf08d5001AbCdEfGhIjKlMn", output(), 1);
    std::fs::File::options().write(true).open(&store).unwrap().set_len(1 << 40).unwrap();
    let metadata = json!({ "truncated": true, "outputPath": store });
    let input =
        opencode("tool.execute.after", json!({ "tool_response": { "output": "...", "metadata": metadata } }));
    let note = answer(&home, "opencode", &input)["additionalContext"].as_str().unwrap().to_owned();
    let expected = "overspill: you got a part of this output (1 TB in all). The first error that you did \
                    not get is line 9,000: error[E9000]: ^[[31mbroken. The whole output is in ";
    assert_eq!(note, format!("{expected}{}", store.display()));
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
    assert_eq!(command(&settings[0], "PostToolUse"), "overspill hook claude-code");
    assert_eq!(command(&settings[1], "AfterTool"), "overspill hook gemini-cli");
    let config: toml::Table = blocks("toml")[0].parse().unwrap();
    assert_eq!(
        config["hooks"]["PostToolUse"][0]["hooks"][0]["command"].as_str(),
        Some("overspill hook codex")
    );
    let before = ["PreToolUse", "BeforeTool", "tool.execute.before"];
    assert!(before.iter().all(|event| !page.contains(event)), "no hook before a command is recommended");
    assert!(blocks("js")[0].contains("[\"hook\", \"opencode\"]"));
}
