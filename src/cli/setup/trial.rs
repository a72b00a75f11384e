//! Tries the hook as the agent runs it, with a made-up output.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::base::env::Env;
use crate::cli::args::HookAgent;
use crate::preview::{self, Input, Policy};
use crate::store::Record;

use super::child::TimedChild;

const LIMIT: Duration = Duration::from_secs(5);

/// Runs the command of the hook.
///
/// # Errors
/// What came instead of a note.
pub(super) fn run(agent: HookAgent, command: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("the trial could not be made: {error}");
    let stores = tempfile::tempdir().map_err(failed)?;
    let event = event(agent, stores.path()).map_err(failed)?;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
    // Where agents keep their outputs.
    shell.envs(["XDG_DATA_HOME", "QWEN_RUNTIME_DIR", "TMPDIR"].map(|name| (name, stores.path())));
    let mut child = TimedChild::start(shell, LIMIT).map_err(|error| format!("sh: {error}"))?;
    child.write_all(event.to_string());
    let answer: Vec<String> = std::iter::from_fn(|| child.next_line()).collect();
    let answer = answer.join("\n");
    match serde_json::from_str(&answer) {
        Ok(value) if has_note(&value) => Ok(()),
        _ if child.is_late() => Err("nothing within 5 seconds".to_owned()),
        _ if answer.is_empty() => Err("nothing".to_owned()),
        _ => Err(answer),
    }
}

/// Runs a failing command through `overspill -c`, as Claude Code does with the prefix.
///
/// # Errors
/// What came instead of its output, its status and a copy.
pub(super) fn run_prefix(program: &str) -> Result<(), String> {
    let failed = |error: io::Error| format!("the trial could not be made: {error}");
    let stores = tempfile::tempdir().map_err(failed)?;
    let output = stores.path().join("output");
    let line = "true && eval 'seq 9999; exit 3' < /dev/null && pwd -P >| made-up-cwd";
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$0\" -c \"$1\" > \"$2\" 2>&1; echo $?", program, line]).arg(&output);
    shell.env("SHELL", "/bin/sh").current_dir(stores.path());
    shell.envs(["XDG_DATA_HOME", "XDG_CONFIG_HOME"].map(|name| (name, stores.path())));
    let child = TimedChild::start(shell, LIMIT).map_err(|error| format!("sh: {error}"))?;
    let status = child.next_line().ok_or("nothing within 5 seconds")?;
    let printed = fs::read_to_string(&output).map_err(failed)?;
    let expected: String = (1..=9999).map(|n| format!("{n}\n")).collect();
    let env = Env::hermetic(stores.path()).with_var("XDG_DATA_HOME", stores.path());
    match (&*status, Record::names(&env).len()) {
        ("3", _) if printed != expected => Err(format!("another output: {}", beginning(&printed))),
        ("3", 1) => Ok(()),
        ("3", _) => Err("no copy".to_owned()),
        (status, _) => Err(format!("the status {status}: {}", beginning(&printed))),
    }
}

/// Returns the beginning of what a program printed.
fn beginning(printed: &str) -> String {
    printed.chars().take(200).collect()
}

fn has_note(answer: &Value) -> bool {
    let output = &answer["hookSpecificOutput"];
    let notes = [&answer["additionalContext"], &output["additionalContext"]];
    notes.iter().any(|note| note.as_str().is_some_and(|note| !note.is_empty()))
        || output["updatedToolOutput"].is_object()
}

/// Returns an event after a command that printed 6,000 lines with one error. An agent that saves the output has done so.
fn event(agent: HookAgent, stores: &Path) -> io::Result<Value> {
    let line = |n| if n == 3000 { "error: made up\n".to_owned() } else { format!("line {n} of an output\n") };
    let output: String = (1..=6000).map(line).collect();
    let saved = |path: &str| {
        let path = stores.join(path);
        fs::create_dir_all(path.parent().unwrap_or(stores))?;
        fs::write(&path, &output)?;
        Ok::<_, io::Error>(path.display().to_string())
    };
    let (event, response) = match agent {
        HookAgent::ClaudeCode => {
            let path = saved(".claude/projects/p/s/tool-results/b1.txt")?;
            let response = json!({ "stdout": output[..30_000], "stderr": "", "persistedOutputPath": path });
            ("PostToolUse", response)
        }
        HookAgent::Codex => ("PostToolUse", json!(cut(agent, &output, "")?)),
        HookAgent::GeminiCli => ("AfterTool", json!({ "llmContent": output })),
        HookAgent::QwenCode => {
            let path = saved("tmp/p/run_shell_command_0123456789ab.output")?;
            ("PostToolUse", json!({ "llmContent": cut(agent, &output, &path)? }))
        }
        HookAgent::Opencode => {
            let path = saved("opencode/tool-output/tool_e26cf08d5001AbCdEfGhIjKlMn")?;
            ("tool.execute.after", json!({ "output": "", "metadata": { "outputPath": path } }))
        }
        HookAgent::CopilotCli => {
            let path = saved("1-copilot-tool-output-1-0123abcd-0123-4567-89ab-0123456789ab.txt")?;
            let result = json!({ "resultType": "success", "textResultForLlm": cut(agent, &output, &path)? });
            return Ok(
                json!({ "toolName": agent.shell_tool(), "toolArgs": { "command": "made-up" }, "toolResult": result }),
            );
        }
    };
    let records = stores.join(".claude/projects/p/s.jsonl");
    Ok(json!({
        "hook_event_name": event, "tool_name": agent.shell_tool(), "tool_input": { "command": "made-up" }, "tool_response": response,
        "transcript_path": records,
    }))
}

/// Returns what the model gets of the output, which the agent has cut before it runs the hook.
fn cut(agent: HookAgent, output: &str, path: &str) -> io::Result<String> {
    let policy = Policy::builtin(agent.policy()).map_err(io::Error::other)?;
    let input = Input::from_bytes(output.as_bytes(), path);
    let preview = preview::plan_counted(&input, &policy).map_err(io::Error::other)?;
    Ok(preview.text(&input))
}
