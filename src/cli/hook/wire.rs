//! What agents pass to their hooks, and what they read back.

use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::cli::args::HookAgent;

/// What a hook reads on standard input. Agents pass more, and not all pass all of this.
#[derive(Debug, Deserialize)]
pub(super) struct HookInput {
    #[serde(rename = "hook_event_name")]
    event: String,
    tool_name: String,
    #[serde(default)]
    tool_input: Map<String, Value>,
    #[serde(default)]
    tool_response: Value,
    /// The agent's record of the session.
    #[serde(default)]
    pub transcript_path: Option<PathBuf>,
}

/// What the model is given of a command's output, as far as the hook is told.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ToolResponse {
    /// The text; the whole output, or already cut.
    pub text: String,
    /// The file that the agent saved the output in.
    pub saved_as: Option<PathBuf>,
    /// The notice of an agent that cut the text before its hook ran, and keeps no copy.
    pub notice: Option<String>,
}

impl HookAgent {
    /// Returns the policy by which the agent cuts what its shell tool prints.
    pub(super) fn policy(self) -> &'static str {
        match self {
            HookAgent::ClaudeCode => "claude-code/bash",
            // Its limit depends on the model; this is the lower one.
            HookAgent::Codex => "codex/exec-bytes",
            HookAgent::GeminiCli => "gemini-cli/output",
            HookAgent::Opencode => "opencode/shell",
        }
    }

    fn shell_tool(self) -> &'static str {
        match self {
            HookAgent::ClaudeCode | HookAgent::Codex => "Bash",
            HookAgent::GeminiCli => "run_shell_command",
            HookAgent::Opencode => "bash",
        }
    }
}

impl HookInput {
    /// Whether a command of the shell tool has ended, and was not passed through `overspill run`, which says itself what
    /// it kept.
    pub(super) fn is_after_command(&self, agent: HookAgent) -> bool {
        let is_after = matches!(&*self.event, "PostToolUse" | "AfterTool" | "tool.execute.after");
        let command = self.tool_input.get("command").and_then(Value::as_str).unwrap_or_default();
        is_after && self.tool_name == agent.shell_tool() && !command.contains("overspill run ")
    }

    /// Returns what the model is given of the output.
    pub(super) fn response(&self, agent: HookAgent) -> ToolResponse {
        let of = |key: &str| self.tool_response.get(key);
        let path = |value: Option<&Value>| value.and_then(Value::as_str).map(PathBuf::from);
        match agent {
            HookAgent::ClaudeCode => {
                let both = [of("stdout"), of("stderr")].map(|text| text.map(text_of).unwrap_or_default());
                let saved_as = path(of("persistedOutputPath"));
                ToolResponse { text: both.concat(), saved_as, notice: None }
            }
            HookAgent::Codex => {
                let text = text_of(&self.tool_response);
                let notice = codex_notice(&text);
                ToolResponse { text, saved_as: None, notice }
            }
            HookAgent::GeminiCli => {
                let text = of("llmContent").map(text_of).unwrap_or_default();
                ToolResponse { text, ..ToolResponse::default() }
            }
            HookAgent::Opencode => {
                let saved_as = path(of("metadata").and_then(|data| data.get("outputPath")));
                let text = of("output").map(text_of).unwrap_or_default();
                ToolResponse { text, saved_as, notice: None }
            }
        }
    }

    /// Returns the answer that adds a note for the model.
    pub(super) fn with_note(&self, note: &str) -> Value {
        json!({ "hookSpecificOutput": { "hookEventName": self.event, "additionalContext": note } })
    }
}

/// Returns the notice that Codex writes in place of what it cut; see the policies `codex/exec` and `codex/exec-bytes`.
fn codex_notice(text: &str) -> Option<String> {
    let notice = regex::Regex::new("…[0-9]+ (?:tokens|chars) truncated…").ok()?;
    Some(notice.find(text)?.as_str().to_owned())
}

/// Returns a text, or the texts of a list of parts.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).collect(),
        Value::Object(part) => part.get("text").map(text_of).unwrap_or_default(),
        _ => String::new(),
    }
}
