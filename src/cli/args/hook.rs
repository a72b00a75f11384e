//! Arguments of `overspill setup` and `overspill hook`, and the agents that have hooks.

use clap::{Args as Group, ValueEnum};

#[derive(Debug, Group)]
pub(crate) struct HookArgs {
    /// The agent that runs the hook
    #[arg(value_name = "AGENT")]
    pub agent: HookAgent,
    /// Put the start, the errors and the end of a long output in place of its preview (claude-code)
    #[arg(long)]
    pub replace: bool,
}

#[derive(Debug, Group)]
pub(crate) struct SetupArgs {
    /// The agent to set up
    #[arg(value_name = "AGENT")]
    pub agent: HookAgent,
    /// Set up the project in the current directory, not the user (all but codex)
    #[arg(long)]
    pub project: bool,
    /// Print the file as it would be, and write nothing
    #[arg(long)]
    pub print: bool,
    /// Remove what setup added
    #[arg(long, conflicts_with_all = ["replace", "capture"])]
    pub remove: bool,
    /// Skip the confirmation
    #[arg(short, long)]
    pub yes: bool,
    /// Let the hook put the start, the errors and the end of a long output in place of its preview (claude-code)
    #[arg(long)]
    pub replace: bool,
    /// Also save the outputs of which the agent keeps no copy (claude-code)
    #[arg(long)]
    pub capture: bool,
}

/// An agent whose hooks are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookAgent {
    /// Claude Code: PostToolUse, PostToolUseFailure
    ClaudeCode,
    /// Codex: PostToolUse
    Codex,
    /// Gemini CLI: AfterTool
    GeminiCli,
    /// opencode: a plugin
    Opencode,
    /// Qwen Code: PostToolUse, PostToolUseFailure
    QwenCode,
    /// Copilot CLI: postToolUse
    CopilotCli,
}

impl HookAgent {
    /// Returns its name on the command line, with which its policies begin.
    pub(crate) fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::GeminiCli => "gemini-cli",
            Self::Opencode => "opencode",
            Self::QwenCode => "qwen-code",
            Self::CopilotCli => "copilot-cli",
        }
    }

    /// Returns the policy by which the agent cuts what its shell tool prints.
    pub(crate) fn policy(self) -> &'static str {
        match self {
            // Its limit depends on the model; this is the lower one.
            Self::Codex => "codex/exec-bytes",
            _ => self.id(),
        }
    }

    /// Returns what the agent calls its shell tool.
    pub(crate) fn shell_tool(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Codex => "Bash",
            Self::GeminiCli | Self::QwenCode => "run_shell_command",
            Self::Opencode | Self::CopilotCli => "bash",
        }
    }
}
