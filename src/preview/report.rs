//! A preview as the command line's JSON.

use serde::Serialize;

use crate::known::Warning;

use super::input::Input;
use super::model::{LimitHit, Preview, Status};
use super::policy::Policy;

/// One part, with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ReportPart {
    /// `kept`, `changed` or `notice`.
    pub kind: &'static str,
    /// Its text.
    pub text: String,
    /// First byte of the output that it stands for; none for a notice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    /// Index after the last byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
    /// `stdout` or `stderr`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'static str>,
}

/// The object that `overspill preview --json` prints; DESIGN.md, "Command line", says what each field means.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs)]
#[non_exhaustive]
pub struct Report {
    /// The version of this form: 1. A field that changes its meaning would raise it.
    pub version: u32,
    pub policy: String,
    pub confidence: &'static str,
    pub status: String,
    pub truncated: bool,
    pub truncated_by: Option<&'static str>,
    pub text: String,
    pub parts: Vec<ReportPart>,
    pub unit: &'static str,
    pub total_lines: Option<u64>,
    pub total_bytes: Option<u64>,
    pub kept_lines: Option<u64>,
    pub kept_bytes: Option<u64>,
    pub removed_lines: Option<u64>,
    pub removed_bytes: Option<u64>,
    pub total_units: Option<u64>,
    pub kept_units: Option<u64>,
    pub tokens_estimate: u64,
    pub saved_as: String,
    pub limits_from: String,
    pub details: Option<serde_json::Value>,
    pub warnings: Vec<String>,
}

/// Describes a preview for `--json`, including all its text. `limits_from` says where the limits came from; `store` are
/// the warnings of the store that contains the output.
pub fn report(
    preview: &Preview,
    input: &Input,
    policy: &Policy,
    limits_from: &str,
    store: &[Warning],
) -> Report {
    let warnings = Warning::of(policy.warnings(), store, preview.extent(input));
    let parts: Vec<ReportPart> = preview
        .parts
        .iter()
        .map(|part| {
            let range = part.range();
            ReportPart {
                kind: part.kind(),
                text: part.text(input),
                start: range.as_ref().map(|(_, range)| range.start),
                end: range.as_ref().map(|(_, range)| range.end),
                source: range.map(|(source, _)| source.as_str()),
            }
        })
        .collect();
    let text: String = parts.iter().map(|part| part.text.as_str()).collect();
    Report {
        version: 1,
        policy: policy.name().to_owned(),
        confidence: policy.confidence().as_str(),
        status: match &preview.status {
            Status::Ok => "ok".to_owned(),
            Status::Crashed(words) => format!("crashed: {words}"),
        },
        truncated: preview.truncated,
        truncated_by: preview.truncated_by.map(LimitHit::as_str),
        tokens_estimate: (text.len() as u64).div_ceil(4),
        text,
        parts,
        unit: preview.unit.as_str(),
        total_lines: preview.total_lines,
        total_bytes: preview.total_bytes,
        kept_lines: preview.kept_lines,
        kept_bytes: preview.kept_bytes,
        removed_lines: preview.removed_lines,
        removed_bytes: preview.removed_bytes,
        total_units: preview.total_units,
        kept_units: preview.kept_units,
        saved_as: input.saved_as.to_owned(),
        limits_from: limits_from.to_owned(),
        details: preview.details.clone(),
        warnings: warnings.iter().map(|warning| warning.text.clone()).collect(),
    }
}
