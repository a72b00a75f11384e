//! The readers: one form of an agent's records each.

mod claude;
mod cline;
mod codex;
mod continue_cli;
mod copilot;
mod gemini;
#[cfg(feature = "sqlite")]
mod goose;
mod kimi_cli;
mod kimi_code;
mod opencode;
mod pi;
mod qwen;

use super::reader::SessionFormat;

/// All forms, in the order in which a file is tried.
pub const FORMATS: &[&dyn SessionFormat] = &[
    &claude::ClaudeCode,
    &codex::Codex,
    &gemini::GeminiCli,
    &qwen::QwenCode,
    &pi::Pi,
    &copilot::CopilotCli,
    &kimi_code::KimiCode,
    &kimi_cli::KimiCli,
    &continue_cli::Continue,
    &cline::Cline,
    #[cfg(feature = "sqlite")]
    &opencode::OpencodeMessages,
    #[cfg(feature = "sqlite")]
    &opencode::OpencodeRows,
    #[cfg(feature = "sqlite")]
    &opencode::KiloRows,
    &opencode::OpencodeTree,
    #[cfg(feature = "sqlite")]
    &goose::Goose,
];
