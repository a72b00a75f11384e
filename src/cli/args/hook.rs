//! Arguments of `overspill hook`.

use clap::{Args as Group, ValueEnum};

#[derive(Debug, Group)]
pub(crate) struct HookArgs {
    /// The agent that runs the hook
    #[arg(value_name = "AGENT")]
    pub agent: HookAgent,
}

/// An agent whose hooks are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum HookAgent {
    /// Claude Code: PostToolUse
    ClaudeCode,
    /// Codex: PostToolUse
    Codex,
    /// Gemini CLI: AfterTool
    GeminiCli,
    /// opencode: by a plugin, which docs/agents.md has
    Opencode,
}
