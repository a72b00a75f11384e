//! The readers: one form of an agent's records each.

mod claude;
mod cline;
mod codex;
mod continue_cli;
mod copilot;
#[cfg(feature = "sqlite")]
mod crush;
mod gemini;
#[cfg(feature = "sqlite")]
mod goose;
#[cfg(feature = "sqlite")]
mod hermes;
mod kimi_cli;
mod kimi_code;
mod mini_swe_agent;
#[cfg(feature = "sqlite")]
mod openclaw;
mod opencode;
mod openhands;
mod pi;
mod qwen;
mod roo;

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
    &openhands::OpenHands,
    &roo::ROO,
    &roo::KILO,
    &roo::CLINE,
    #[cfg(feature = "sqlite")]
    &opencode::OpencodeMessages,
    #[cfg(feature = "sqlite")]
    &opencode::OpencodeRows,
    #[cfg(feature = "sqlite")]
    &opencode::KiloRows,
    &opencode::OpencodeTree,
    #[cfg(feature = "sqlite")]
    &goose::GOOSE,
    #[cfg(feature = "sqlite")]
    &hermes::HERMES,
    #[cfg(feature = "sqlite")]
    &crush::CRUSH,
    #[cfg(feature = "sqlite")]
    &openclaw::OPENCLAW,
    &mini_swe_agent::MiniSweAgent,
];
