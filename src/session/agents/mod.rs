//! The readers: one form of an agent's records each.

pub(crate) mod claude;
mod cline;
mod codex;
mod continue_cli;
mod copilot;
mod crush;
mod gemini;
mod goose;
mod hermes;
mod kimi_cli;
mod kimi_code;
mod mini_swe_agent;
mod openclaw;
mod opencode;
mod openhands;
mod pi;
mod qwen;
mod roo;

// The readers import from here what most of them need.
use super::body::{RecordedResult, ResultBody};
use super::branch::{Branches, LivingBranch};
use super::content::{
    self, MAX_TEXT, asked_lines_in, between, cited, first_text, has_line, is_number, last_line, line_range,
    number_after, pieces, shown_lines, text_end, text_start, texts, title,
};
use super::database::{self, RowBuffer, RowsOf, TableRow, TableRows};
use super::entry::{RecordEntry, id_of};
use super::fate::{ContextChange, FateEvidence};
use super::find::{self, FoundFile};
use super::format::{
    FormatInfo, ReadParameter, RecordFiles, SessionFormat, TableSession, before_member, count_records,
    has_before, only_file,
};
use super::id::{IdMap, RecordId, get_or_grow, id_of_bytes, record_id};
use super::json::{Json, JsonText, Kind, Tape, char_len, end_of_string};
use super::model::{
    Call, CallResult, CallStatus, ChangeOrigin, Citation, CutState, DisplayCopy, Evidence, RecordSpan,
    SessionFacts, ShownLines, TextPiece, TextPieces,
};
use super::reader::{FindWatch, GLANCE, LogReader, ReadProgress, RecordPlace, SessionFile, SessionResult};
use super::record::read_json;
use super::transcript::{ReadReport, Transcript};

/// All forms, in the order in which a file is tried.
pub const FORMATS: &[&SessionFormat] = &[
    &claude::CLAUDE_CODE,
    &codex::CODEX,
    &gemini::GEMINI_DOCUMENT,
    &gemini::GEMINI_CLI,
    &qwen::QWEN_CODE,
    &pi::PI,
    &copilot::COPILOT_CLI,
    &kimi_code::KIMI_CODE,
    &kimi_cli::KIMI_CLI,
    &continue_cli::CONTINUE,
    &cline::CLINE,
    &openhands::OPENHANDS,
    &roo::ROO,
    &roo::KILO,
    &roo::CLINE,
    &opencode::OPENCODE_MESSAGES,
    &opencode::OPENCODE_ROWS,
    &opencode::KILO_ROWS,
    &opencode::OPENCODE_TREE,
    &goose::GOOSE,
    &hermes::HERMES,
    &crush::CRUSH,
    &openclaw::OPENCLAW,
    &mini_swe_agent::MINI_SWE_AGENT,
];

/// Returns what is peculiar to an agent, as any of its forms says it; nothing is to one that is not known.
pub fn info_of(agent: &str) -> FormatInfo {
    let known = FORMATS.iter().map(|format| format.info).find(|info| info.agent == agent);
    known.unwrap_or(FormatInfo::new("", ""))
}
