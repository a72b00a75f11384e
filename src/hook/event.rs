//! What each agent passes to its hook, as seen in the agents, and how it takes an answer.

use std::ops::Range;
use std::path::PathBuf;

use memchr::memmem;
use serde_json::{Map, Value, json};

use crate::session::agents::claude::oversized_result;
use crate::session::json::{Json, JsonText, Kind, Tape};

use super::agent::HookAgent;
use super::input::{Separator, ShortJson, ToolText};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    After,
    Failed,
    /// Anything else: it is not answered.
    Other,
}

/// What is read of an event. Agents pass more, and none passes all of these.
pub(super) struct HookEvent<'a> {
    pub agent: HookAgent,
    /// The command that the shell tool ran; empty for another tool.
    pub command: String,
    pub records: Option<PathBuf>,
    json: &'a ShortJson,
    root: Json<'a>,
    name: String,
    tool: String,
    response: Json<'a>,
}

impl<'a> HookEvent<'a> {
    /// Takes the JSON of an event, which is indexed in `tape`; `None` if it is none.
    pub(super) fn new(agent: HookAgent, json: &'a ShortJson, tape: &'a mut Tape) -> Option<Self> {
        let root = tape.read(&json.bytes).ok().filter(|root| root.kind() == Kind::Object)?;
        // Copilot CLI has names of its own.
        let field = |key, other| root.get(key).unwrap_or_else(|| root.object(other));
        let string = |value| json.string(value).unwrap_or_default();
        Some(Self {
            agent,
            json,
            root,
            name: string(root.object("hook_event_name")),
            tool: string(field("tool_name", "toolName")),
            command: string(field("tool_input", "toolArgs").object("command")),
            records: json.string(root.object("transcript_path")).map(PathBuf::from),
            response: field("tool_response", "toolResult"),
        })
    }

    pub(super) fn phase(&self) -> Phase {
        match &*self.name {
            "PostToolUse" | "AfterTool" | "tool.execute.after" => Phase::After,
            "PostToolUseFailure" => Phase::Failed,
            // It does not name its events.
            "" if self.agent == HookAgent::CopilotCli && self.response.kind() == Kind::Object => Phase::After,
            _ => Phase::Other,
        }
    }

    pub(super) fn is_of_shell(&self) -> bool {
        self.tool == self.agent.shell_tool()
    }

    /// Whether the tool is one of an MCP server, as far as the agent's names tell; in opencode only such a result has parts.
    pub(super) fn is_of_mcp(&self) -> bool {
        let has_parts = || self.response.get("content").is_some_and(|parts| parts.kind() == Kind::Array);
        if self.agent == HookAgent::Opencode { has_parts() } else { self.tool.starts_with("mcp__") }
    }

    /// Returns the file that the agent names outside of the text.
    pub(super) fn saved_as(&self) -> Option<PathBuf> {
        let path = match self.agent {
            HookAgent::ClaudeCode if self.is_of_mcp() && self.response.kind() == Kind::String => {
                // If it holds the text as it is.
                let told = self.json.string(self.response)?;
                let (path, format) = oversized_result(&told)?;
                return format.starts_with("Plain text\n").then(|| path.into());
            }
            HookAgent::ClaudeCode => self.response.get("persistedOutputPath"),
            HookAgent::Opencode => self.response.path(&["metadata", "outputPath"]),
            _ => None,
        }?;
        self.json.string(path).map(PathBuf::from)
    }

    pub(super) fn saved_size(&self) -> Option<u64> {
        self.response.get("persistedOutputSize")?.int()?.try_into().ok()
    }

    /// Returns the one text of the result, if it has one: the whole output, or what was left of it.
    pub(super) fn text(&self) -> Option<ToolText> {
        let value = match (self.phase(), self.agent) {
            (Phase::Failed, _) => self.root.get("error"),
            (_, HookAgent::ClaudeCode | HookAgent::Codex) => Some(self.response),
            (_, HookAgent::GeminiCli | HookAgent::QwenCode) => self.response.get("llmContent"),
            (_, HookAgent::Opencode) => self.response.get("output"),
            (_, HookAgent::CopilotCli) => self.response.get("textResultForLlm"),
        }?;
        // Qwen Code quotes what it says of a failure as JSON.
        let is_quoted = self.agent == HookAgent::QwenCode && self.phase() == Phase::Failed;
        let told = self.json.string(value).filter(|_| is_quoted).unwrap_or_default();
        if let Some(quoted) = told.strip_prefix('"').and_then(|told| told.strip_suffix('"')) {
            return self.json.text_of(JsonText { encoded: quoted.as_bytes() });
        }
        let one = Some(value).filter(|value| value.kind() != Kind::Array);
        let mut texts = one.into_iter().chain(value.items()).filter_map(text_in);
        self.json.text_of(texts.next().filter(|_| texts.next().is_none())?)
    }

    /// Returns the text of a result that the agent cuts only after the hook, and in a way that is known.
    pub(super) fn uncut(&self) -> Option<ToolText> {
        let is_structured = || self.response.get("structuredContent").is_some_and(|value| !value.is_null());
        let (key, separator) = match self.agent {
            _ if !self.is_of_mcp() => return None,
            HookAgent::ClaudeCode => return self.text().filter(|_| self.response.items().count() == 1),
            // The model gets what is structured instead of the text.
            HookAgent::Codex if is_structured() => return None,
            HookAgent::Codex => ("content", Separator::LineEnd),
            HookAgent::Opencode => ("content", Separator::EmptyLine),
            HookAgent::QwenCode => ("llmContent", Separator::LineFeed),
            HookAgent::GeminiCli | HookAgent::CopilotCli => return None,
        };
        let parts = self.response.get(key).filter(|parts| parts.kind() == Kind::Array)?;
        let texts = parts.items().filter_map(|part| text_for(self.agent, part));
        self.json.join(&texts.collect::<Option<Vec<_>>>()?, separator)
    }

    /// Returns the range of the output itself, in bytes: agents write before and after it, and `filler` bytes follow that.
    pub(super) fn inner(&self, text: &[u8], filler: usize) -> Range<usize> {
        let text = &text[..text.len() - filler];
        match start_of_output(self.agent, text, &self.command) {
            0 => 0..text.len(),
            start => start..text.len() - after_output(self.agent, &text[start..]),
        }
    }

    pub(super) fn with_note(&self, note: &str) -> Value {
        if self.agent == HookAgent::CopilotCli {
            return json!({ "additionalContext": note });
        }
        json!({ "hookSpecificOutput": { "hookEventName": self.name, "additionalContext": note } })
    }

    /// Returns the answer that replaces the output; `None` if the agent takes none, or the rest of it is too large.
    pub(super) fn with_text(&self, text: &str) -> Option<Value> {
        if self.agent != HookAgent::ClaudeCode || self.response.kind() != Kind::Object {
            return None;
        }
        let mut output = Map::from_iter([("stdout".into(), text.into()), ("stderr".into(), "".into())]);
        for (key, value) in self.response.members() {
            let key = key.to_text(MAX_MEMBER).text;
            // With the path and the size of the file the model would get a preview of 2 KB of the new text.
            if ["stdout", "stderr"].contains(&&*key) || key.starts_with("persistedOutput") {
                continue;
            }
            let value = Some(value.raw()).filter(|raw| raw.len() <= MAX_MEMBER)?;
            output.insert(key, serde_json::from_slice(value).ok()?);
        }
        Some(json!({ "hookSpecificOutput": { "hookEventName": self.name, "updatedToolOutput": output } }))
    }
}

/// Maximum size of a member of an answer besides its text, in bytes: parsed, some take a hundred times as much.
const MAX_MEMBER: usize = 8 << 10;

fn text_in(part: Json) -> Option<JsonText> {
    part.text().or_else(|| part.get("text")?.text())
}

/// Returns the text that the agent makes of a part of an MCP server's result: `None` for none, `Some(None)` if not known.
fn text_for(agent: HookAgent, part: Json) -> Option<Option<JsonText>> {
    if agent == HookAgent::QwenCode {
        return Some(text_in(part).or(Some(JsonText { encoded: b"" })));
    }
    let kind = part.object("type");
    let is_encrypted = part.path(&["_meta", "codex/encryptedContent"]).is_some();
    let resource = part.get("resource").filter(|resource| resource.get("blob").is_none());
    if kind.is("text") && (agent != HookAgent::Codex || !is_encrypted) {
        return Some(text_in(part));
    }
    match agent {
        _ if kind.is("image") => None,
        HookAgent::Opencode if kind.is("resource") && resource.is_some() => {
            resource.and_then(text_in).filter(|text| !text.is("")).map(Some)
        }
        HookAgent::Opencode if !kind.is("resource") => None,
        _ => Some(None),
    }
}

/// How the lines begin that Gemini CLI and Qwen Code write after the output of a command, in their order.
const AFTER: [&str; 5] = ["Error: ", "Exit Code: ", "Signal: ", "Background PIDs: ", "Process Group PGID: "];

/// How long what they write before or after the output may be, in bytes, without the command.
const MAX_AROUND: usize = 4096;

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
    // Lossy decoding changes only what comes before.
    end.len() - rest.len()
}

/// Returns how many bytes Gemini CLI adds to a text with a note: that is part of what it cuts.
pub(super) fn added_by_gemini(note: &str) -> usize {
    let escaped = note.replace('<', "&lt;").replace('>', "&gt;");
    "\n\n<hook_context></hook_context>".len() + escaped.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what of a text is the output, for an agent that ran `make`.
    fn inner(agent: HookAgent, text: &str) -> String {
        let json = json!({ "tool_input": { "command": "make\nDirectory: x" } }).to_string();
        let json = ShortJson::read(&mut json.as_bytes()).unwrap().unwrap();
        text[HookEvent::new(agent, &json, &mut Tape::default()).unwrap().inner(text.as_bytes(), 0)].to_owned()
    }

    #[test]
    fn strips_the_text_that_gemini_writes_around_an_output() {
        let inner = |text: &str| inner(HookAgent::GeminiCli, text);
        for after in ["Process Group PGID: 12\n", "Exit Code: 1\nSignal: 9\nProcess Group PGID: 12\n", ""] {
            let text = format!("<untrusted_context>\nOutput: one\ntwo: 2\n\n{after}</untrusted_context>");
            assert_eq!(inner(&text), "one\ntwo: 2\n", "{after}");
        }
        assert_eq!(inner("plain\n"), "plain\n");
        assert_eq!(inner("<untrusted_context>\nOutput: one"), "one");
    }

    #[test]
    fn strips_the_text_that_qwen_code_writes_around_an_output() {
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
}
