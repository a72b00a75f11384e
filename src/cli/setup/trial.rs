//! Tries the hook as the agent runs it, with a made-up output.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::cli::args::SetupAgent;

use super::child::TimedChild;

const LIMIT: Duration = Duration::from_secs(5);

/// Runs the command of the hook.
///
/// # Errors
/// What came instead of a note.
pub(super) fn run(agent: SetupAgent, command: &str) -> Result<(), String> {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
    let mut child = TimedChild::start(shell, LIMIT).map_err(|error| format!("sh: {error}"))?;
    child.write_all(event(agent).to_string());
    let answer: Vec<String> = std::iter::from_fn(|| child.next_line()).collect();
    let answer = answer.join("\n");
    match serde_json::from_str(&answer) {
        Ok(value) if has_note(&value) => Ok(()),
        _ if child.is_late() => Err("nothing within 5 seconds".to_owned()),
        _ if answer.is_empty() => Err("nothing".to_owned()),
        _ => Err(answer),
    }
}

fn has_note(answer: &Value) -> bool {
    let output = &answer["hookSpecificOutput"];
    let notes = [&answer["additionalContext"], &output["additionalContext"]];
    notes.iter().any(|note| note.as_str().is_some_and(|note| !note.is_empty()))
        || output["updatedToolOutput"].is_object()
}

/// Returns an event after a command that printed 6,000 lines with one error.
fn event(agent: SetupAgent) -> Value {
    let line = |n| if n == 3000 { "error: made up\n".to_owned() } else { format!("line {n} of an output\n") };
    let output: String = (1..=6000).map(line).collect();
    let (event, tool, response) = match agent {
        SetupAgent::ClaudeCode => {
            ("PostToolUse", "Bash", json!({ "stdout": output, "stderr": "", "interrupted": false }))
        }
        SetupAgent::Codex => ("PostToolUse", "Bash", json!(cut_by_codex(&output))),
        SetupAgent::GeminiCli => ("AfterTool", "run_shell_command", json!({ "llmContent": output })),
        SetupAgent::QwenCode => ("PostToolUse", "run_shell_command", json!({ "llmContent": output })),
        SetupAgent::Opencode => ("tool.execute.after", "bash", json!({ "output": output, "metadata": {} })),
        SetupAgent::CopilotCli => {
            let result = json!({ "resultType": "success", "textResultForLlm": output });
            return json!({ "toolName": "bash", "toolArgs": { "command": "made-up" }, "toolResult": result });
        }
    };
    json!({
        "hook_event_name": event, "tool_name": tool, "tool_input": { "command": "made-up" }, "tool_response": response,
    })
}

/// Codex passes what it left of an output.
fn cut_by_codex(output: &str) -> String {
    let (start, end) = (&output[..5000], &output[output.len() - 5000..]);
    let cut = output.len() - 10_000;
    format!("Total output lines: 6000\n\n{start}…{cut} chars truncated…{end}")
}
