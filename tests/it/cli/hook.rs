//! `hook` answers what the agents document that they pass to their hooks; `docs/agents.md` shows how to set it up.

use std::io::Write;

use serde_json::{Value, json};

use crate::common::home::{Home, Ran, finish};

pub(super) fn ask(home: &Home, agent: &str, input: &Value) -> Ran {
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

pub(super) fn merged(mut input: Value, more: Value) -> Value {
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input
}

/// How Codex begins what it cut.
const CODEX_CUT: &str =
    "Warning: truncated output (original token count: 71627)\nTotal output lines: 5449\n\n";

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
fn hook_does_not_answer_events_before_a_command() {
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
fn hook_never_exits_with_more_than_1() {
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
    let input =
        codex("PostToolUse", json!({ "tool_response": format!("{CODEX_CUT}…3021 tokens truncated…") }));
    for (words, named) in wrong {
        let ran = home.pipe(input.to_string(), words);
        assert!(ran.status <= 1, "{words:?}: {} {}", ran.status, ran.stderr);
        assert!(ran.status == 0 || ran.stderr.contains(named), "{words:?}: {}", ran.stderr);
    }
    for (redirection, status) in
        [("<&-", 0), ("<.", 1), (">&-", 0), (">/dev/full", 1), ("2>&- >/dev/full", 1)]
    {
        let line =
            format!("printf %s '{input}' | {} hook codex {redirection}", env!("CARGO_BIN_EXE_overspill"));
        let mut shell = std::process::Command::new("bash");
        let shell = shell.args(["-c", &line]).current_dir(home.work()).env_clear().envs(home.env());
        assert_eq!(shell.output().unwrap().status.code(), Some(status), "{redirection}");
    }
}

#[test]
fn standard_input_that_does_not_block_is_awaited() {
    let home = Home::new();
    let half = "x".repeat(2 << 20);
    let text = format!("{CODEX_CUT}{half}…3021 tokens truncated…{half}");
    let event = codex("PostToolUse", json!({ "tool_response": text }));
    let (reader, mut writer) = std::io::pipe().unwrap();
    rustix::io::ioctl_fionbio(&reader, true).unwrap();
    let child = home.command(&["hook", "codex"]).stdin(reader).spawn().unwrap();
    let writing = std::thread::spawn(move || writer.write_all(event.to_string().as_bytes()));
    let ran = finish(child).ok();
    assert!(ran.text().contains("3021 tokens"), "{}", ran.text());
    writing.join().unwrap().unwrap();
}

/// Returns what the answer is if the hook may have few files open.
pub(super) fn with_few_files(home: &Home, agent: &str, input: &Value) -> String {
    let input = home.file("input.json", input.to_string());
    let line =
        format!("ulimit -n 12; {} hook {agent} < {}", env!("CARGO_BIN_EXE_overspill"), input.display());
    let mut shell = std::process::Command::new("bash");
    let shell = shell.args(["-c", &line]).current_dir(home.work()).env_clear().envs(home.env());
    let output = shell.output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
    String::from_utf8(output.stdout).unwrap()
}

/// Agents show a person what a hook says when it fails, after each command.
#[test]
fn hook_stays_silent_on_malformed_input() {
    let home = Home::new();
    let text = format!("{CODEX_CUT}…3021 tokens truncated…");
    let event = codex("PostToolUse", json!({ "tool_response": text })).to_string();
    let deep = |levels: usize| format!("{}1{}", "[".repeat(levels), "]".repeat(levels));
    let with = |member: &str| format!("{},{member}}}", &event[..event.len() - 1]).into_bytes();
    let key = "k".repeat(3 << 20);
    let senseless = [
        Vec::new(),
        b"not json".to_vec(),
        b"[]".to_vec(),
        b"{}{}".to_vec(),
        vec![0; 3 << 20],
        vec![0xff; 3 << 20],
        deep(3 << 20).into_bytes(),
        event.as_bytes()[..event.len() - 1].to_vec(),
        event.as_bytes()[..event.len() / 2].to_vec(),
        with(&format!("\"{key}")),
        with(&format!("\"a\":[{}1]", "1,".repeat(3 << 20))),
    ];
    for input in senseless {
        let ran = home.pipe(input.clone(), &["hook", "codex"]).ok();
        let start = String::from_utf8_lossy(&input[..input.len().min(60)]).into_owned();
        assert_eq!((ran.text(), &*ran.stderr), ("", ""), "{start}");
    }
    // What else is in an event does not matter, though it be in another form.
    let note = home.pipe(event.clone(), &["hook", "codex"]).ok().text().to_owned();
    let odd = [
        with(&format!("\"{key}\":1")),
        with(&format!("\"a\":{}", deep(3_000))),
        [&with("\"a\":\"")[..event.len() + 5], b"\xff\xfe\"}"].concat(),
        with("\"a\":\"\\ud800\""),
    ];
    for input in odd {
        assert_eq!(home.pipe(input, &["hook", "codex"]).ok().text(), note);
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
    // What `run` saved has a file, which its own notice names; what only mentions it does not.
    for (command, is_told) in
        [("cd x && overspill run -- make", false), ("cat docs | grep \"overspill run x\"", true)]
    {
        let run = json!({ "tool_input": { "command": command }, "tool_response": format!("{CODEX_CUT}…3 tokens truncated…") });
        assert_ne!(ask(&home, "codex", &codex("PostToolUse", run)).text().is_empty(), is_told, "{command}");
    }
    home.pipe("{}", &["hook", "cursor"]).fails(1, &["cursor", "claude-code"]);
}

/// Returns the note in an answer.
pub(super) fn note(home: &Home, agent: &str, input: &Value) -> String {
    answer(home, agent, input)["additionalContext"].as_str().unwrap().to_owned()
}

const ERRORS: &str =
    " You got none of its 2 errors:\nline 9,000: error[E9000]: broken\nline 11,000: error[E11000]: broken";

/// Writes the output where Claude Code keeps it, beside its records. Returns both paths.
fn claude_spill(home: &Home) -> [std::path::PathBuf; 2] {
    let records = home.work().join(".claude/projects/p/s.jsonl");
    let spill = home.work().join(".claude/projects/p/s/tool-results/btrdy8235.txt");
    std::fs::create_dir_all(spill.parent().unwrap()).unwrap();
    std::fs::write(&spill, output()).unwrap();
    [records, spill]
}

fn claude_saved(records: &std::path::Path, path: &std::path::Path, size: usize) -> Value {
    let response = json!({ "stdout": &output()[..30_000], "stderr": "", "interrupted": false, "isImage": false,
        "noOutputExpected": false, "persistedOutputPath": path, "persistedOutputSize": size });
    claude("PostToolUse", json!({ "transcript_path": records, "tool_response": response, "duration_ms": 60 }))
}

#[test]
fn the_model_is_told_what_it_did_not_get() {
    let home = Home::new();
    // Claude Code names the file that it saved; only one beside its records is opened.
    let [records, spill] = claude_spill(&home);
    let said = note(&home, "claude-code", &claude_saved(&records, &spill, output().len()));
    let start = "overspill: you got 45 of 20,000 lines of this output (907.1 KB in all).";
    assert_eq!(said, format!("{start}{ERRORS}\nThe whole output is in {}", spill.display()));
    let said = note(&home, "claude-code", &claude_saved(&records, &spill, 90 << 20));
    assert!(said.contains("you got a part of this output (90 MB in all). At least 2 errors"), "{said}");
    assert!(said.ends_with(&format!("Its first 907.1 KB are in {}", spill.display())), "{said}");
    std::fs::write(home.at("elsewhere.txt"), output()).unwrap();
    let input = claude_saved(&records, &home.at("elsewhere.txt"), output().len());
    assert_eq!(ask(&home, "claude-code", &input).text(), "");

    let store = home.private_entry("opencode", "tool_e26cf08d5001AbCdEfGhIjKlMn", output(), 1);
    let metadata = json!({ "truncated": true, "outputPath": store });
    let response = json!({ "output": "...", "metadata": metadata });
    let input = opencode("tool.execute.after", json!({ "tool_response": response }));
    let said = note(&home, "opencode", &input);
    assert!(said.contains(ERRORS) && said.ends_with(&store.display().to_string()), "{said}");

    let cut = format!("{CODEX_CUT}1\n2\n…3021 tokens truncated…\n50000\n");
    let said = note(&home, "codex", &codex("PostToolUse", json!({ "tool_response": cut })));
    assert!(said.starts_with(
        "overspill: you did not get all of this output of 5,449 lines (…3021 tokens truncated…)."
    ));
    let whole = "see: …12 tokens truncated… in the log\n";
    let quotes = format!(
        "Warning: truncated output (original token count: 12)\nTotal output lines: 3\n\n{whole}{}",
        "x".repeat(99)
    );
    for whole in ["1\n2\n", whole, &quotes] {
        let input = codex("PostToolUse", json!({ "tool_response": whole }));
        assert_eq!(ask(&home, "codex", &input).text(), "", "{whole}");
    }
    let cut = format!("{}{whole}{}…7 tokens truncated…{}", CODEX_CUT, "x".repeat(400), "y".repeat(441));
    let said = note(&home, "codex", &codex("PostToolUse", json!({ "tool_response": cut })));
    assert!(said.contains(" of 5,449 lines (…7 tokens truncated…). "), "{said}");
}

/// An agent saves nothing of a command that failed.
#[test]
fn the_note_on_a_failed_command_states_only_known_facts() {
    let home = Home::new();
    let failed = |error: &str| {
        let more = json!({ "error": error, "is_interrupt": false, "duration_ms": 36 });
        claude("PostToolUseFailure", more)
    };
    let half = "x".repeat(5000);
    let cut = |left_out: u32| {
        failed(&format!(
            "Exit code 1\n{}\n\n... [{left_out} characters truncated] ...\n\n{half}",
            &half[12..]
        ))
    };
    let said = note(&home, "claude-code", &cut(20_012));
    assert!(
        said.starts_with(
            "overspill: 20,012 characters of this output were left out, and what follows its first"
        ),
        "{said}"
    );
    let said = note(&home, "claude-code", &cut(2_000));
    assert!(
        said.starts_with(
            "overspill: 2,000 characters of this output were left out. The agent keeps no copy: "
        ),
        "{said}"
    );
    // Blanks at the end of what the agent looks at are taken off, so that less is left out of an output of any length.
    for left_out in [20_011, 20_010] {
        let said = note(&home, "claude-code", &cut(left_out));
        assert!(said.contains(" its first 30,000 bytes is gone, too: its real end may be missing"), "{said}");
    }
    assert_eq!(ask(&home, "claude-code", &failed("Exit code 1\nfailed\n")).text(), "");
    let quoted = "Exit code 1\nfoo\n\n... [12 characters truncated] ...\n\nbar";
    assert_eq!(ask(&home, "claude-code", &failed(quoted)).text(), "", "the command printed this notice");
    let mut quotes = cut(10_056);
    let error = quotes["error"].as_str().unwrap();
    quotes["error"] = json!(format!("{quoted}{}", &error[quoted.len()..]));
    let said = note(&home, "claude-code", &quotes);
    assert!(said.starts_with("overspill: 10,056 characters of this output were left out. "), "{said}");
    let mut other = cut(2_000);
    other["tool_name"] = json!("Edit");
    assert_eq!(ask(&home, "claude-code", &other).text(), "");
    other["tool_name"] = json!("mcp__big__fails");
    other["error"] = json!(format!("{half}\n\n... [299459 characters truncated] ...\n\n{half}"));
    let left_out = "overspill: 299,459 characters of this output were left out. The agent keeps no copy.";
    assert_eq!(note(&home, "claude-code", &other), left_out);
}

/// Gemini CLI cuts the result with its own words around the output, and with the note at its end.
#[test]
fn the_gemini_line_count_allows_for_the_note_itself() {
    let home = Home::new();
    for after in ["", "Exit Code: 1\n"] {
        let text = format!(
            "<untrusted_context>\nOutput: {}{after}Process Group PGID: 12792\n</untrusted_context>",
            output()
        );
        let response = json!({ "llmContent": text, "returnDisplay": output() });
        let said = note(&home, "gemini-cli", &gemini("AfterTool", json!({ "tool_response": response })));
        let result = format!(
            "{text}\n\n<hook_context>{}</hook_context>",
            said.replace('<', "&lt;").replace('>', "&gt;")
        );
        let start = "<untrusted_context>\nOutput: ".len();
        let end = start + output().len();
        let head = output()[..8_000 - start].lines().count();
        let tail = output()[result.len() - 32_000 - start..].lines().count();
        assert!(result.len() > end);
        let got =
            format!("overspill: you got {} of 20,000 lines of this output (907.1 KB in all).", head + tail);
        let place = "\nThe first line of this result names the file with the whole output.";
        assert_eq!(said, format!("{got}{ERRORS}{place}"), "{after}");
    }
    let parts = json!({ "llmContent": [{ "text": output() }], "returnDisplay": "" });
    let said = note(&home, "gemini-cli", &gemini("AfterTool", json!({ "tool_response": parts })));
    assert!(said.contains(ERRORS), "{said}");
    let fits = json!({ "llmContent": "x".repeat(39_990), "returnDisplay": "" });
    assert_eq!(ask(&home, "gemini-cli", &gemini("AfterTool", json!({ "tool_response": fits }))).text(), "");
}

#[test]
fn gemini_cuts_at_the_limit_in_its_settings() {
    let home = Home::new();
    let settings = home.work().with_file_name("home/.gemini/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let answer = |limit: i64, text: &str| {
        let tools = json!({ "tools": { "truncateToolOutputThreshold": limit } });
        std::fs::write(&settings, tools.to_string()).unwrap();
        let response = json!({ "llmContent": text, "returnDisplay": "" });
        ask(&home, "gemini-cli", &gemini("AfterTool", json!({ "tool_response": response }))).text().to_owned()
    };
    let short = &output()[..20_000];
    for (limit, text) in [(1_000_000, output().as_str()), (0, &output()), (-1, &output()), (40_000, short)] {
        assert_eq!(answer(limit, text), "", "{limit}");
    }
    assert!(answer(10_000, short).contains("overspill: you got "));
}

/// Saves the output where an agent does, as a path beside the working directory.
fn saved_at(home: &Home, path: &str) -> std::path::PathBuf {
    let path = home.work().with_file_name(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, output()).unwrap();
    path
}

/// 5,449 lines with an error in line 3,120, as the agents were asked to print in runs.
pub(super) fn build() -> String {
    let line = |n: u32| match n {
        3_120 => "error[E0308]: mismatched types\n".to_owned(),
        _ => format!("line {n} of a long build which says nothing much at all\n"),
    };
    (1..=5_449).map(line).collect()
}

pub(super) fn note_of_build(got: u32, path: &std::path::Path) -> String {
    format!(
        "overspill: you got {got} of 5,449 lines of this output (302.2 KB in all). You got none of its 1 error:\n\
         line 3,120: error[E0308]: mismatched types\nThe whole output is in {}",
        path.display()
    )
}

/// opencode and Qwen Code may miss the end of an output, in the file as well: 134 lines of this one in a run.
fn note_of_what_was_read(got: u32, path: &std::path::Path) -> String {
    let note =
        note_of_build(got, path).replace("overspill: you", "overspill: as far as the agent read it, you");
    note.replace("The whole output is in ", "What it read, which may lack the end, is in ")
}

/// What is kept of more than 100 KB depends on how it read the pipe.
#[test]
fn the_opencode_note_counts_the_lines_it_passes_on() {
    let home = Home::new();
    let store = home.private_entry("opencode", "tool_2124f6036001kecZL66oEBnb67", build(), 1);
    for got in [898, 28] {
        let kept: String = build().split_inclusive('\n').skip(5_449 - got as usize).collect();
        let text = format!("...output truncated...\n\nFull output saved to: {}\n\n{kept}", store.display());
        let metadata = json!({ "output": kept, "exit": 1, "truncated": true, "outputPath": store });
        let input = opencode(
            "tool.execute.after",
            json!({ "tool_response": { "output": text, "metadata": metadata } }),
        );
        assert_eq!(note(&home, "opencode", &input), note_of_what_was_read(got, &store));
    }
}

#[test]
fn qwen_and_copilot_name_the_file_in_the_text() {
    let home = Home::new();
    let saved = saved_at(&home, "home/.qwen/tmp/0a1b/run_shell_command_0123456789ab.output");
    let around = "\nError: (none)\nExit Code: 1\nSignal: (none)\nProcess Group PGID: (none)";
    let result = format!("Command: make\nDirectory: (root)\nOutput: {}{around}", build().trim_end());
    std::fs::write(&saved, result).unwrap();
    let text = format!(
        "Tool output was too large and has been truncated.\nThe full output has been saved to: {}\nTo read the complete output, \
         use the read_file tool with the absolute file path above.\nThe truncated output below shows the beginning and end of the \
         content. The marker '... [CONTENT TRUNCATED] ...' indicates where content was removed.\n\nTruncated part of the \
         output:\nCommand: make\nDirectory: (root)\nOutput: line 1\n\n---\n... [CONTENT TRUNCATED] ...\n---\n\n...nothing{around}",
        saved.display()
    );
    let qwen = |more: Value| {
        let input = json!({ "session_id": "s", "transcript_path": "/home/me/.qwen/s.jsonl", "cwd": "/work",
            "timestamp": "2026-11-22T10:00:00.000Z", "permission_mode": "yolo", "tool_name": "run_shell_command",
            "tool_call_id": "call_1", "tool_input": { "command": "make" } });
        merged(input, more)
    };
    let response = json!({ "llmContent": text, "returnDisplay": output() });
    let after = qwen(json!({ "hook_event_name": "PostToolUse", "tool_response": response }));
    let failed = |error: &str| qwen(json!({ "hook_event_name": "PostToolUseFailure", "error": error }));
    let quoted = json!(text).to_string();
    for input in [after, failed(&text), failed(&quoted)] {
        assert_eq!(note(&home, "qwen-code", &input), note_of_what_was_read(69, &saved));
    }

    let name = "1764000000000-copilot-tool-output-42-0123abcd-0123-4567-89ab-0123456789ab.txt";
    let saved = saved_at(&home, &format!("tmp/{name}"));
    let text = format!(
        "Output too large to read at once (860.6 KB). Saved to: {}\nConsider using tools like grep (for searching), head/tail \
         (for viewing start/end), view with view_range (for specific sections), or jq (for JSON) to examine portions of the \
         output.\n\nPreview (first 500 chars):\nline 1\n<shellId: 1 completed with exit code 1>",
        saved.display()
    );
    let input = json!({ "sessionId": "s", "timestamp": 1_764_000_000_000_u64, "cwd": "/work", "toolName": "bash",
        "toolArgs": { "command": "make", "description": "Build" },
        "toolResult": { "resultType": "success", "textResultForLlm": text } });
    let said = ask(&home, "copilot-cli", &input).json()["additionalContext"].as_str().unwrap().to_owned();
    assert!(said.contains(ERRORS) && said.ends_with(&saved.display().to_string()), "{said}");
}

#[test]
fn replace_gives_claude_code_the_start_errors_and_end() {
    let home = Home::new();
    let [records, spill] = claude_spill(&home);
    let input = claude_saved(&records, &spill, output().len());
    let ran = home.pipe(input.to_string(), &["hook", "claude-code", "--replace"]).ok();
    let answer = &ran.json()["hookSpecificOutput"];
    assert_eq!(answer.get("additionalContext"), None, "the text says all");
    let output_of = &answer["updatedToolOutput"];
    let keys: Vec<&String> = output_of.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["stdout", "stderr", "interrupted", "isImage", "noOutputExpected"]);
    let text = output_of["stdout"].as_str().unwrap();
    assert!(
        text.len() < 30_000
            && text.starts_with("line 1 of")
            && text.ends_with("line 20000 of a long build, which says nothing\n")
    );
    let place = format!(
        "The whole output is in {}]\nYou got none of its 2 errors:\nline 9,000: error[E9000]: broken\n",
        spill.display()
    );
    assert!(text.contains(&place), "{text}");
    // There is no file of a failed command.
    let failed = claude("PostToolUseFailure", json!({ "error": "Exit code 1\n" }));
    assert_eq!(home.pipe(failed.to_string(), &["hook", "claude-code", "--replace"]).ok().text(), "");
}

#[test]
fn replace_keeps_its_text_or_falls_back_to_a_note() {
    let home = Home::new();
    let [records, spill] = claude_spill(&home);
    let mut input = claude_saved(&records, &spill, output().len());
    let replacing = |input: &Value| {
        let ran = home.pipe(input.to_string(), &["hook", "claude-code", "--replace"]).ok();
        ran.json()["hookSpecificOutput"].clone()
    };
    // A member that is too large to be passed on leaves a note.
    input["tool_response"]["other"] = json!("x".repeat(9 << 10));
    assert_eq!(replacing(&input)["additionalContext"], note(&home, "claude-code", &input));
    input["tool_response"] = json!({ "interrupted": false, "persistedOutputPath": spill });
    let mut answer = replacing(&input)["updatedToolOutput"].take();
    let text = answer["stdout"].take();
    assert!(text.as_str().is_some_and(|text| text.starts_with("line 1 of")), "{text}");
    assert_eq!(answer, json!({ "stdout": null, "stderr": "", "interrupted": false }));
}

fn write_config(home: &Home, text: &str) {
    let directory = home.work().with_file_name("config/overspill");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::write(directory.join("config.toml"), text).unwrap();
}

#[test]
fn hook_settings_switch_notes_off_and_limit_their_length() {
    let home = Home::new();
    let [records, spill] = claude_spill(&home);
    let mut input = claude_saved(&records, &spill, output().len());
    let with = |text: &str, input: &Value| {
        write_config(&home, text);
        ask(&home, "claude-code", input).text().to_owned()
    };
    assert_eq!(with("[hook]\nnotes = false\n", &input), "");
    let short = with("[hook]\nlimit = 240\n", &input);
    assert!(short.contains("none of its 2 errors.") && !short.contains("line 9,000"), "{short}");
    input["tool_input"]["command"] = json!("git log -p");
    assert_eq!(with("[hook]\nignore = [\"git log\"]\n", &input), "");
    assert_ne!(with("[hook]\nignore = [\"git lo\"]\n", &input), "");
}

#[test]
fn a_huge_output_is_described_by_its_first_part() {
    let home = Home::new();
    let store = home.private_entry("opencode", "tool_e26cf08d5001AbCdEfGhIjKlMn", output(), 1);
    std::fs::File::options().write(true).open(&store).unwrap().set_len(1 << 40).unwrap();
    let metadata = json!({ "truncated": true, "outputPath": store });
    let input =
        opencode("tool.execute.after", json!({ "tool_response": { "output": "...", "metadata": metadata } }));
    let errors = "\nline 9,000: error[E9000]: broken\nline 11,000: error[E11000]: broken\nWhat it read, which may lack the \
                  end, is in ";
    let expected = "overspill: as far as the agent read it, you got a part of this output (1 TB in all). At least 2 errors (in \
                    its first 40 MB) did not reach you:";
    assert_eq!(note(&home, "opencode", &input), format!("{expected}{errors}{}", store.display()));
}

/// Counting them takes time, so it ends at a number of them.
#[test]
fn the_note_counts_errors_up_to_a_limit() {
    let home = Home::new();
    let [records, spill] = claude_spill(&home);
    std::fs::write(&spill, "error: x\n".repeat(750_005)).unwrap();
    let said = note(&home, "claude-code", &claude_saved(&records, &spill, 9 * 750_005));
    let expected = "overspill: you got 222 of 750,005 lines of this output (6.4 MB in all). At least 749,778 errors (in its \
                    first 6.4 MB) did not reach you:\nline 223: error: x\n";
    assert!(said.starts_with(expected) && said.contains("\nand 749,770 more\n"), "{said}");
}

/// The page shows what `setup` writes, for a program of another path.
#[test]
fn the_settings_on_the_page_are_those_that_setup_writes() {
    let page = std::fs::read_to_string("docs/agents.md").unwrap();
    let blocks = |kind: &str| {
        let fence = format!("```{kind}\n");
        let starts: Vec<&str> = page.split(&fence).skip(1).collect();
        starts.into_iter().map(|rest| rest.split("```").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let home = Home::new();
    let printed = |agent: &str| {
        let text = home.run(&["setup", agent, "--print"]).ok().text().to_owned();
        text.replace(env!("CARGO_BIN_EXE_overspill"), "/usr/bin/overspill")
    };
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let shown: Vec<Value> = blocks("json").iter().map(|text| json(text)).collect();
    for (agent, shown) in ["claude-code", "gemini-cli", "copilot-cli"].into_iter().zip(&shown) {
        for (event, hooks) in shown["hooks"].as_object().unwrap() {
            assert_eq!(&json(&printed(agent))["hooks"][event], hooks, "{agent}");
        }
    }
    let toml = |text: &str| text.parse::<toml::Table>().unwrap();
    assert_eq!(toml(&blocks("toml")[1])["hooks"], toml(&printed("codex"))["hooks"]);
    let before = ["PreToolUse", "BeforeTool", "tool.execute.before"];
    assert!(before.iter().all(|event| !page.contains(event)), "no hook before a command is recommended");
}
