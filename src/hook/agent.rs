//! The agents whose hooks are known: what each calls its file, its events and its shell tool, and how it takes a time limit.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::base::env::Env;
use crate::base::fs::identity::Identity;
use crate::text::label::quote;

/// How long an agent waits for its hook, in seconds.
pub(super) const MAX_SECONDS: u32 = 10;

/// The agent that has options: the setting that names the program to run commands with, and how a hook that replaces ends.
pub(crate) const OF_PREFIX: HookAgent = HookAgent::ClaudeCode;
pub(super) const PREFIX: &str = "CLAUDE_CODE_SHELL_PREFIX";
pub(super) const REPLACE: &str = " --replace";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SetupRequest {
    /// The absolute path of this program.
    pub program: String,
    /// The path by which the agent knows its file: Codex keeps its trust under it.
    pub file: PathBuf,
    pub replace: bool,
    pub capture: bool,
}

/// The name of a list of hooks, and an entry in it.
pub(super) type JsonHook = (String, Value);

words! {
    /// An agent whose hooks are known, with its name on the command line, with which its policies begin.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
    pub(crate) enum HookAgent {
        /// Claude Code: PostToolUse, PostToolUseFailure
        ClaudeCode => "claude-code",
        /// Codex: PostToolUse
        Codex => "codex",
        /// Gemini CLI: AfterTool
        GeminiCli => "gemini-cli",
        /// opencode: a plugin
        Opencode => "opencode",
        /// Qwen Code: PostToolUse, PostToolUseFailure
        QwenCode => "qwen-code",
        /// Copilot CLI: postToolUse
        CopilotCli => "copilot-cli",
    }
}

impl HookAgent {
    /// Returns the policy by which the agent cuts what its shell tool prints.
    pub(crate) fn policy(self) -> &'static str {
        // Its limit depends on the model; this is the lower one.
        if self == Self::Codex { "codex/exec-bytes" } else { self.as_str() }
    }

    /// Returns what the agent calls its shell tool.
    pub(crate) fn shell_tool(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Codex => "Bash",
            Self::GeminiCli | Self::QwenCode => "run_shell_command",
            Self::Opencode | Self::CopilotCli => "bash",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::GeminiCli => "Gemini CLI",
            Self::Opencode => "opencode",
            Self::QwenCode => "Qwen Code",
            Self::CopilotCli => "Copilot CLI",
        }
    }

    pub(crate) fn file(self, env: &Env) -> PathBuf {
        let (variable, directory, file) = match self {
            Self::ClaudeCode => ("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
            Self::Codex => ("CODEX_HOME", ".codex", "config.toml"),
            Self::GeminiCli => ("GEMINI_CLI_HOME", "", ".gemini/settings.json"),
            Self::Opencode => ("XDG_CONFIG_HOME", ".config", "opencode/plugins/overspill.js"),
            Self::QwenCode => ("", ".qwen", "settings.json"),
            Self::CopilotCli => ("COPILOT_HOME", ".copilot", "hooks/overspill.json"),
        };
        env.dir_or(variable, directory).unwrap_or_default().join(file)
    }

    /// Returns the file of a project, if it is known that the agent reads hooks there; Copilot CLI does once it trusts the project.
    pub(crate) fn project_file(self) -> Option<&'static str> {
        match self {
            Self::ClaudeCode => Some(".claude/settings.json"),
            Self::GeminiCli => Some(".gemini/settings.json"),
            Self::Opencode => Some(".opencode/plugins/overspill.js"),
            Self::QwenCode => Some(".qwen/settings.json"),
            Self::CopilotCli => Some(".github/hooks/overspill.json"),
            Self::Codex => None,
        }
    }

    pub(crate) fn command(self, wanted: &SetupRequest) -> String {
        let replace = if wanted.replace { REPLACE } else { "" };
        format!("{} hook {}{replace}", quote::word(wanted.program.as_bytes()), self.as_str())
    }

    /// Whether a command is one that setup writes for this agent, with whatever path.
    pub(super) fn is_own(self, command: &str) -> bool {
        let command = command.strip_suffix(REPLACE).unwrap_or(command);
        let rest = command.strip_suffix(self.as_str()).and_then(|rest| rest.strip_suffix(" hook "));
        rest.is_some_and(is_program)
    }

    /// Returns the settings with which the agent runs no hook: their places in its file, and their values then.
    pub(super) fn switches(self) -> &'static [(&'static str, bool)] {
        match self {
            Self::ClaudeCode | Self::QwenCode | Self::CopilotCli => &[("/disableAllHooks", true)],
            Self::GeminiCli => &[("/hooksConfig/enabled", false)],
            Self::Codex => &[("/features/hooks", false), ("/features/codex_hooks", false)],
            Self::Opencode => &[],
        }
    }

    /// Returns for which tools the hook runs: after a note, Gemini CLI would no longer cut the result of an MCP tool.
    pub(super) fn matcher(self) -> String {
        match self {
            Self::GeminiCli => self.shell_tool().to_owned(),
            _ => format!("{}|mcp__.*", self.shell_tool()),
        }
    }

    pub(super) fn json_hooks(self, wanted: &SetupRequest) -> Vec<JsonHook> {
        let command = self.command(wanted);
        let (events, timeout): (&[_], _) = match self {
            Self::ClaudeCode | Self::QwenCode => (&["PostToolUse", "PostToolUseFailure"], MAX_SECONDS),
            // Its unit is the millisecond.
            Self::GeminiCli => (&["AfterTool"], 1000 * MAX_SECONDS),
            Self::CopilotCli => {
                let hook = json!({ "type": "command", "bash": command, "timeoutSec": MAX_SECONDS });
                return vec![("postToolUse".to_owned(), hook)];
            }
            Self::Codex | Self::Opencode => return Vec::new(),
        };
        let hook = json!({ "type": "command", "command": command, "timeout": timeout });
        let entry = json!({ "matcher": self.matcher(), "hooks": [hook] });
        events.iter().map(|event| ((*event).to_owned(), entry.clone())).collect()
    }
}

pub(super) fn is_program(word: &str) -> bool {
    let quoted = word.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    let has_space = |text: &str| text.contains(char::is_whitespace);
    let name = quoted.or(Some(word).filter(|word| !has_space(word))).and_then(|path| path.rsplit('/').next());
    name.is_some_and(|name| name.starts_with("overspill") && !has_space(name))
}

/// Fails if a shell or an agent could not take the path of this program, or would not know it again.
pub(crate) fn program(env: &Env) -> Result<String, String> {
    let file = std::env::current_exe().map_err(|error| format!("cannot find overspill's path: {error}"))?;
    let path = path_of_command(env, &file).unwrap_or(file);
    let shown = path.display().to_string();
    let is_plain = path.to_str().is_some_and(|path| !quote::word(path.as_bytes()).starts_with('$'));
    if !path.is_file() {
        Err(format!("{shown}: the program was moved or deleted; run it again"))
    } else if !is_plain {
        Err(format!("{shown}: no agent can take such a path; move overspill elsewhere"))
    } else if !is_program(&quote::word(shown.as_bytes())) {
        Err(format!("{shown}: setup finds its entries by the program's name; rename it overspill"))
    } else {
        Ok(shown)
    }
}

/// Returns the path by which a shell finds the program: a link there outlives an upgrade, the file that it leads to may not.
fn path_of_command(env: &Env, program: &Path) -> Option<PathBuf> {
    let identity = |path: &Path| path.metadata().ok().map(|meta| Identity::from(&meta));
    let this = identity(program)?;
    let mut paths = std::env::split_paths(env.var("PATH")?).map(|dir| dir.join("overspill"));
    paths.find(|path| path.is_absolute() && identity(path).is_some_and(|other| other.same_file(&this)))
}

/// Fails if Claude Code would not find the program: it splits the value at spaces.
pub(super) fn prefix(program: &str) -> Result<String, String> {
    if quote::word(program.as_bytes()) == program {
        return Ok(format!("{program} -c"));
    }
    Err(format!(
        "{program}: Claude Code splits {PREFIX} at spaces, and this path needs quotes; move overspill to a path \
         without, or use --remove, then set it up without --capture"
    ))
}
