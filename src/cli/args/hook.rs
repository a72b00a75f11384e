//! Arguments of `overspill hook`.

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
