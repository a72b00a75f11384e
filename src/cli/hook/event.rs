//! What each agent passes to its hook, as seen in the agents, and how it takes an answer.

use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::cli::args::HookAgent;

use super::input::{ShortJson, ToolText};

/// When the agent runs the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// A tool has done its work.
    After,
    /// A tool has failed.
    Failed,
    /// Anything else: it is not answered.
    Other,
}

#[derive(Debug)]
pub(super) struct HookEvent {
    agent: HookAgent,
    fields: Fields,
    json: ShortJson,
}

/// The fields that are read of an event. Agents pass more, and none passes all of these.
#[derive(Debug, Deserialize)]
struct Fields {
    #[serde(default, rename = "hook_event_name")]
    name: String,
    #[serde(default, alias = "toolName")]
    tool_name: String,
    #[serde(default, alias = "toolArgs")]
    tool_input: Value,
    #[serde(default, alias = "toolResult")]
    tool_response: Value,
    /// Of a failed command: what the model gets.
    #[serde(default)]
    error: Value,
    /// The agent's record of the session.
    #[serde(default)]
    transcript_path: Option<PathBuf>,
}

impl HookEvent {
    /// Takes the JSON of an event; `None` if it is none.
    pub(super) fn new(agent: HookAgent, json: ShortJson) -> Option<Self> {
        let fields = serde_json::from_slice(&json.text).ok()?;
        Some(Self { agent, fields, json })
    }

    pub(super) fn phase(&self) -> Phase {
        match &*self.fields.name {
            "PostToolUse" | "AfterTool" | "tool.execute.after" => Phase::After,
            "PostToolUseFailure" => Phase::Failed,
            // It does not name its events.
            "" if self.agent == HookAgent::CopilotCli && !self.fields.tool_response.is_null() => Phase::After,
            _ => Phase::Other,
        }
    }

    pub(super) fn agent(&self) -> HookAgent {
        self.agent
    }

    pub(super) fn is_of_shell(&self) -> bool {
        self.fields.tool_name == self.agent.shell_tool()
    }

    /// Whether the tool is one of an MCP server, as far as the agent's names tell.
    pub(super) fn is_of_mcp(&self) -> bool {
        self.fields.tool_name.starts_with("mcp__")
    }

    /// Returns the command that the shell tool ran; empty for another tool.
    pub(super) fn command(&self) -> &str {
        self.fields.tool_input.get("command").and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn records(&self) -> Option<&Path> {
        self.fields.transcript_path.as_deref()
    }

    /// Returns the file in which the agent says that it saved the output, if it does so outside of the text.
    pub(super) fn saved_as(&self) -> Option<PathBuf> {
        let response = &self.fields.tool_response;
        let path = match (self.agent, response.as_str()) {
            (HookAgent::ClaudeCode, Some(told)) if self.is_of_mcp() => return claude_mcp_file(told),
            (HookAgent::ClaudeCode, _) => response.get("persistedOutputPath"),
            (HookAgent::Opencode, _) => response.get("metadata").and_then(|data| data.get("outputPath")),
            _ => None,
        };
        path.and_then(Value::as_str).map(PathBuf::from)
    }

    /// Returns the size of the output in bytes, if the agent says it beside the file.
    pub(super) fn saved_size(&self) -> Option<u64> {
        self.fields.tool_response.get("persistedOutputSize").and_then(Value::as_u64)
    }

    /// Returns the text of the result: the whole output, or what was left of it.
    pub(super) fn text(&self) -> Option<ToolText> {
        let response = &self.fields.tool_response;
        let values: Vec<&Value> = match (self.phase(), self.agent) {
            (Phase::Failed, _) => vec![&self.fields.error],
            (_, HookAgent::ClaudeCode) if self.is_of_shell() => {
                ["stdout", "stderr"].iter().filter_map(|key| response.get(key)).collect()
            }
            (_, HookAgent::Codex) if response.is_object() => response.get("content").into_iter().collect(),
            (_, HookAgent::ClaudeCode | HookAgent::Codex) => vec![response],
            (_, HookAgent::GeminiCli | HookAgent::QwenCode) => {
                response.get("llmContent").into_iter().collect()
            }
            (_, HookAgent::Opencode) => response.get("output").into_iter().collect(),
            (_, HookAgent::CopilotCli) => response.get("textResultForLlm").into_iter().collect(),
        };
        let mut strings = Vec::new();
        values.into_iter().for_each(|value| strings_in(value, &mut strings));
        self.json.join(&strings)
    }

    /// Returns the one text of a result that the agent cuts only after the hook. Of several texts, or with something else
    /// beside the text, agents cut in other ways or not at all.
    pub(super) fn uncut(&self) -> Option<ToolText> {
        let response = &self.fields.tool_response;
        let parts = match self.agent {
            _ if !self.is_of_mcp() => None,
            HookAgent::ClaudeCode => Some(response),
            // The model gets what is structured instead of the text.
            HookAgent::Codex if response.get("structuredContent").is_some_and(|value| !value.is_null()) => {
                None
            }
            HookAgent::Codex => response.get("content"),
            HookAgent::QwenCode => response.get("llmContent"),
            _ => None,
        };
        parts?.as_array().filter(|parts| parts.len() == 1).and_then(|_| self.text())
    }

    /// Returns what of a text is the output itself, as a range in bytes: some agents write about it before and after it, and
    /// `filler` bytes follow that.
    pub(super) fn inner(&self, text: &[u8], filler: usize) -> Range<usize> {
        let text = &text[..text.len() - filler];
        match start_of_output(self.agent, text, self.command()) {
            0 => 0..text.len(),
            start => start..text.len() - after_output(self.agent, &text[start..]),
        }
    }

    /// Returns the answer that adds a note for the model.
    pub(super) fn with_note(&self, note: &str) -> Value {
        match self.agent {
            HookAgent::CopilotCli => json!({ "additionalContext": note }),
            _ => {
                json!({ "hookSpecificOutput": { "hookEventName": self.fields.name, "additionalContext": note } })
            }
        }
    }

    /// Returns the answer that puts another text in place of the output; `None` if the agent takes none.
    pub(super) fn with_text(&self, text: String) -> Option<Value> {
        let mut output: Map<String, Value> = self.fields.tool_response.as_object()?.clone();
        if self.agent != HookAgent::ClaudeCode {
            return None;
        }
        // With them the model would get a preview of 2 KB of the new text.
        output.retain(|key, _| !key.starts_with("persistedOutput"));
        output.insert("stdout".to_owned(), text.into());
        output.insert("stderr".to_owned(), "".into());
        Some(
            json!({ "hookSpecificOutput": { "hookEventName": self.fields.name, "updatedToolOutput": output } }),
        )
    }
}

/// Returns a text, or the texts in a list of parts.
fn strings_in<'a>(value: &'a Value, strings: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => strings.push(text),
        Value::Array(parts) => parts.iter().for_each(|part| strings_in(part, strings)),
        Value::Object(part) => part.get("text").into_iter().for_each(|text| strings_in(text, strings)),
        _ => {}
    }
}

/// How the lines begin that Gemini CLI and Qwen Code write after the output of a command, in their order.
const AFTER: [&str; 5] = ["Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "];

/// How long what they write before or after the output may be, in bytes, without the command.
const MAX_AROUND: usize = 4096;

/// Returns where the output begins in the text of a command's result, in bytes; 0 if nothing stands before it.
fn start_of_output(agent: HookAgent, text: &[u8], command: &str) -> usize {
    const FIRST: &[u8] = b"<untrusted_context>\nOutput: ";
    const NEXT: &[u8] = b"\nOutput: ";
    match agent {
        HookAgent::GeminiCli if text.starts_with(FIRST) => FIRST.len(),
        HookAgent::QwenCode => {
            let told = format!("Command: {command}\n");
            let start = if text.starts_with(told.as_bytes()) { told.len() } else { 0 };
            let rest = &text[start..text.len().min(start + MAX_AROUND)];
            let next = memmem::find(rest, NEXT).filter(|_| rest.starts_with(b"Directory: "));
            next.map_or(0, |next| start + next + NEXT.len())
        }
        _ => 0,
    }
}

/// Returns how many bytes at the end of a text follow the output.
fn after_output(agent: HookAgent, text: &[u8]) -> usize {
    let end = String::from_utf8_lossy(&text[text.len().saturating_sub(MAX_AROUND)..]);
    let last = if agent == HookAgent::GeminiCli { "\n</untrusted_context>" } else { "" };
    let Some(mut rest) = end.strip_suffix(last) else { return 0 };
    for key in AFTER.iter().rev() {
        if let Some((before, line)) = rest.rsplit_once('\n')
            && line.starts_with(key)
        {
            rest = before;
        }
    }
    // What is not UTF-8 would stand before all that.
    end.len() - rest.len()
}

/// Returns how many bytes Gemini CLI adds to a text with a note: that is part of what it cuts.
pub(super) fn added_by_gemini(note: &str) -> usize {
    let escaped = note.replace('<', "&lt;").replace('>', "&gt;");
    "\n\n<hook_context></hook_context>".len() + escaped.encode_utf16().count()
}

/// What an agent that keeps no copy left out before its hook ran.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CutBefore {
    /// Its notice.
    pub notice: String,
    /// The number of lines of the whole, if it says that.
    pub lines: Option<u64>,
}

/// Returns what Codex cut; see the policies `codex/exec` and `codex/exec-bytes`.
pub(super) fn codex_cut(text: &str) -> Option<CutBefore> {
    const END: &str = " truncated…";
    let notice = text.match_indices(END).find_map(|(end, _)| {
        let start = text[..end].rfind('…')?;
        let (number, unit) = text[start..end].trim_start_matches('…').split_once(' ')?;
        let is_notice = number.parse::<u64>().is_ok() && ["tokens", "chars"].contains(&unit);
        is_notice.then(|| text[start..end + END.len()].to_owned())
    })?;
    let lines = text.lines().take(2).find_map(|line| line.strip_prefix("Total output lines: ")?.parse().ok());
    Some(CutBefore { notice, lines })
}

/// Returns the file that Claude Code names in place of an MCP server's result of too many tokens, if it holds the text as it is.
fn claude_mcp_file(told: &str) -> Option<PathBuf> {
    const SAVED: &str = " exceeds maximum allowed tokens. Output has been saved to ";
    let (_, rest) = told.strip_prefix("Error: result (")?.split_once(SAVED)?;
    let (path, _) = rest.split_once(".\nFormat: Plain text\n")?;
    Some(path.into())
}

/// Returns what the model gets, as ranges in bytes, of an MCP server's text if the agent cuts it after the hook; `None` if it
/// does not. The limits are those that hold unless the user, the model or the server sets others.
pub(super) fn kept_after(agent: HookAgent, text: &str) -> Option<Vec<Range<usize>>> {
    /// Of a preview, in UTF-16 units.
    const PREVIEW: usize = 2000;
    /// What Codex keeps of either end: half of 12,000 tokens of four bytes. Models with a limit in bytes keep less.
    const END: usize = 24_000;
    let is_over = |units| text.len() > units && text.encode_utf16().count() > units;
    let end = match agent {
        // The preview is one of the JSON of the result.
        HookAgent::ClaudeCode if is_over(50_000) => {
            let before = "[\n  {\n    \"type\": \"text\",\n    \"text\": \"".len();
            first_units(text, PREVIEW - before, |char| match char {
                '"' | '\\' | '\u{8}' | '\t' | '\n' | '\u{c}' | '\r' => 2,
                '\0'..' ' => "\\u0000".len(),
                other => other.len_utf16(),
            })
        }
        HookAgent::QwenCode if is_over(28_000) => {
            let end = first_units(text, PREVIEW, char::len_utf16);
            text[..end].rfind('\n').filter(|feed| *feed > 0).unwrap_or(end)
        }
        HookAgent::Codex if text.len() > 2 * END => return Some(vec![0..END, text.len() - END..text.len()]),
        _ => return None,
    };
    Some(std::iter::once(0..end).collect())
}

/// Returns how many bytes the first characters have that take so many units at most.
fn first_units(text: &str, most: usize, units: impl Fn(char) -> usize) -> usize {
    let mut room = most;
    let is_over = |char| match room.checked_sub(units(char)) {
        Some(left) => {
            room = left;
            false
        }
        None => true,
    };
    text.find(is_over).unwrap_or(text.len())
}

/// What Claude Code left out of the output of a failed command, in UTF-16 units; see the policy `claude-code/bash-failed`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FailedCut {
    pub left_out: u64,
    /// Whether more may have followed, of which nothing is known: only so much of an output is looked at.
    pub may_be_more: bool,
}

/// Bytes of a failed command's output at which Claude Code looks.
const WINDOW: u64 = 30_000;

pub(super) fn claude_cut(error: &str) -> Option<FailedCut> {
    const START: &str = "\n\n... [";
    const END: &str = " characters truncated] ...\n\n";
    let (notice, left_out) = error.match_indices(START).find_map(|(start, _)| {
        let (number, _) = error[start + START.len()..].split_once(END)?;
        Some((START.len() + number.len() + END.len(), number.parse::<u64>().ok()?))
    })?;
    let shown = error.encode_utf16().count() - notice;
    let status = error.lines().next().filter(|line| line.starts_with("Exit code "));
    let header = status.map_or(0, |line| line.len() + 1);
    let seen = left_out + (shown - header) as u64;
    // Other characters than ASCII take more bytes than units, and those that were left out may be such.
    Some(FailedCut { left_out, may_be_more: seen >= WINDOW || !error.is_ascii() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what of a text is the output, for an agent that ran `make`.
    fn inner(agent: HookAgent, text: &str) -> String {
        let json = json!({ "tool_input": { "command": "make\nDirectory: x" } }).to_string();
        let json = ShortJson::read(&mut json.as_bytes()).unwrap().unwrap();
        text[HookEvent::new(agent, json).unwrap().inner(text.as_bytes(), 0)].to_owned()
    }

    #[test]
    fn what_gemini_writes_around_an_output_is_no_part_of_it() {
        let inner = |text: &str| inner(HookAgent::GeminiCli, text);
        for after in ["Process Group PGID: 12\n", "Exit Code: 1\nSignal: 9\nProcess Group PGID: 12\n", ""] {
            let text = format!("<untrusted_context>\nOutput: one\ntwo: 2\n\n{after}</untrusted_context>");
            assert_eq!(inner(&text), "one\ntwo: 2\n", "{after}");
        }
        assert_eq!(inner("plain\n"), "plain\n");
        assert_eq!(inner("<untrusted_context>\nOutput: one"), "one");
    }

    #[test]
    fn what_qwen_code_writes_around_an_output_is_no_part_of_it() {
        let inner = |text: &str| inner(HookAgent::QwenCode, text);
        let after = "\nError: (none)\nExit Code: 1\nSignal: (none)\nProcess Group PGID: (none)";
        for before in ["Command: make\nDirectory: x\nDirectory: (root)\nOutput: ", "Directory: sub\nOutput: "]
        {
            for output in ["one\n\nError: two", "one\nOutput: two", "Signal: 9\nExit Code: 2\n"] {
                assert_eq!(inner(&format!("{before}{output}{after}")), output);
            }
        }
        assert_eq!(inner("Command: other\nOutput: one"), "Command: other\nOutput: one");
        assert_eq!(inner("Output: one\nExit Code: 0"), "Output: one\nExit Code: 0");
    }

    #[test]
    fn codex_says_how_many_lines_there_were() {
        let text = "Warning: truncated output (original token count: 71627)\nTotal output lines: 5449\n\na…276748 chars truncated…b";
        let cut = CutBefore { notice: "…276748 chars truncated…".to_owned(), lines: Some(5449) };
        assert_eq!(codex_cut(text), Some(cut));
        assert_eq!(codex_cut("…12 tokens truncated…").unwrap().lines, None);
        assert_eq!(codex_cut("whole"), None);
    }

    #[test]
    fn of_a_failed_command_the_end_is_known_only_below_the_window() {
        let error = |left_out: usize, half: usize| {
            let text = "x".repeat(half);
            format!("Exit code 1\n{}\n\n... [{left_out} characters truncated] ...\n\n{text}", &text[12..])
        };
        assert_eq!(claude_cut(&error(20_012, 5000)), Some(FailedCut { left_out: 20_012, may_be_more: true }));
        assert_eq!(
            claude_cut(&error(20_011, 5000)),
            Some(FailedCut { left_out: 20_011, may_be_more: false })
        );
        assert!(claude_cut(&error(2_000, 5000).replace('x', "é")).unwrap().may_be_more);
        assert_eq!(claude_cut("Exit code 1\nfailed"), None);
    }
}
