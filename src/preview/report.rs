//! A preview as the command line's JSON.

#[cfg(feature = "app")]
use std::fmt;

use serde::Serialize;

use crate::base::provenance::{Certainty, Warning};

use super::input::Input;
use super::model::{LimitHit, Part, Preview, Status};
use super::policy::Policy;

/// One part, with its text; docs/json.md says what each field is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
#[allow(missing_docs)]
pub struct ReportPart<T = String> {
    pub kind: &'static str,
    pub text: T,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'static str>,
}

/// The object that `overspill preview --json` prints; docs/json.md says what each field is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[allow(missing_docs)]
pub struct Report<T = String> {
    pub version: u32,
    pub policy: String,
    pub confidence: &'static str,
    pub certainty: &'static str,
    pub status: String,
    pub truncated: bool,
    pub truncated_by: Option<&'static str>,
    pub text: T,
    pub parts: Vec<ReportPart<T>>,
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

/// Describes a preview for `--json`, including all its text. `certainty` says how it is known, `limits_from` where the limits came from; `store` are
/// the warnings of the store that contains the output.
pub fn report(
    preview: &Preview,
    input: &Input,
    policy: &Policy,
    certainty: Certainty,
    limits_from: &str,
    store: &[Warning],
) -> Report {
    let text = |parts: &[Part]| parts.iter().map(|part| part.text(input)).collect();
    with_text(preview, input, policy, (certainty, limits_from, store), text)
}

/// Same as [`report`], with texts that are decoded as they are written: they may be as long as the output.
#[cfg(feature = "app")]
pub(crate) fn streamed_report<'a>(
    preview: &'a Preview,
    input: &'a Input<'a>,
    policy: &Policy,
    certainty: Certainty,
    limits_from: &str,
    store: &[Warning],
) -> Report<impl Serialize + 'a> {
    with_text(preview, input, policy, (certainty, limits_from, store), |parts| StreamedText { parts, input })
}

#[cfg(feature = "app")]
struct StreamedText<'a> {
    parts: &'a [Part],
    input: &'a Input<'a>,
}

#[cfg(feature = "app")]
impl fmt::Display for StreamedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.parts.iter().try_for_each(|part| part.each_piece(self.input, &mut |text| f.write_str(text)))
    }
}

#[cfg(feature = "app")]
impl Serialize for StreamedText<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

fn with_text<'a, T>(
    preview: &'a Preview,
    input: &Input,
    policy: &Policy,
    (certainty, limits_from, store): (Certainty, &str, &[Warning]),
    text: impl Fn(&'a [Part]) -> T,
) -> Report<T> {
    let warnings = Warning::applying(policy.warnings(), store, preview.extent(input));
    let parts: Vec<ReportPart<T>> = preview
        .parts
        .iter()
        .map(|part| {
            let range = part.range();
            ReportPart {
                kind: part.kind(),
                text: text(std::slice::from_ref(part)),
                start: range.as_ref().map(|(_, range)| range.start),
                end: range.as_ref().map(|(_, range)| range.end),
                source: range.map(|(source, _)| source.as_str()),
            }
        })
        .collect();
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
        parts,
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
