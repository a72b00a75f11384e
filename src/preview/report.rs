//! A preview as the command line's JSON.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::base::provenance::{Certainty, Warning};

use super::input::Input;
use super::model::{LimitHit, Part, Preview, Status};
use super::policy::Policy;

/// One part, with its text; docs/json.md says what each field is.
#[derive(Serialize)]
struct ReportPart<'a> {
    kind: &'static str,
    text: StreamedText<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
}

/// The object that `overspill preview --json` prints; docs/json.md says what each field is.
#[derive(Serialize)]
pub struct Report<'a> {
    version: u32,
    policy: String,
    confidence: &'static str,
    certainty: &'static str,
    status: String,
    truncated: bool,
    truncated_by: Option<&'static str>,
    text: StreamedText<'a>,
    parts: Vec<ReportPart<'a>>,
    unit: &'static str,
    total_lines: Option<u64>,
    total_bytes: Option<u64>,
    kept_lines: Option<u64>,
    kept_bytes: Option<u64>,
    removed_lines: Option<u64>,
    removed_bytes: Option<u64>,
    total_units: Option<u64>,
    kept_units: Option<u64>,
    tokens_estimate: u64,
    saved_as: String,
    limits_from: String,
    details: Option<serde_json::Value>,
    warnings: Vec<String>,
}

/// Text that is decoded as it is written, because it may be as long as the output.
struct StreamedText<'a> {
    parts: &'a [Part],
    input: &'a Input<'a>,
}

impl fmt::Display for StreamedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.parts.iter().try_for_each(|part| part.each_piece(self.input, &mut |text| f.write_str(text)))
    }
}

impl Serialize for StreamedText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Describes a preview for `--json`. `certainty` says how it is known, `limits_from` where the limits came from;
/// `store` are the warnings of the store that contains the output.
pub fn report<'a>(
    preview: &'a Preview,
    input: &'a Input<'a>,
    policy: &Policy,
    certainty: Certainty,
    limits_from: &str,
    store: &[Warning],
) -> Report<'a> {
    let warnings = Warning::applying(policy.warnings(), store, preview.extent(input));
    let text = |parts: &'a [Part]| StreamedText { parts, input };
    let part = |part: &'a Part| {
        let range = part.range();
        ReportPart {
            kind: part.kind(),
            text: text(std::slice::from_ref(part)),
            start: range.as_ref().map(|(_, range)| range.start),
            end: range.as_ref().map(|(_, range)| range.end),
            source: range.map(|(source, _)| source.as_str()),
        }
    };
    Report {
        version: 1,
        policy: policy.name().to_owned(),
        confidence: policy.confidence().as_str(),
        certainty: certainty.as_str(),
        status: match &preview.status {
            Status::Ok => "ok".to_owned(),
            Status::Crashed(words) => format!("crashed: {words}"),
        },
        truncated: preview.truncated,
        truncated_by: preview.truncated_by.map(LimitHit::as_str),
        tokens_estimate: preview.tokens_estimate(input),
        text: text(&preview.parts),
        parts: preview.parts.iter().map(part).collect(),
        unit: preview.unit.as_str(),
        total_lines: preview.total.lines,
        total_bytes: preview.total.bytes,
        kept_lines: preview.kept.lines,
        kept_bytes: preview.kept.bytes,
        removed_lines: preview.removed().lines,
        removed_bytes: preview.removed().bytes,
        total_units: preview.total.units,
        kept_units: preview.kept.units,
        saved_as: input.saved_as.to_owned(),
        limits_from: limits_from.to_owned(),
        details: preview.details.clone(),
        warnings: warnings.iter().map(|warning| warning.text.clone()).collect(),
    }
}
