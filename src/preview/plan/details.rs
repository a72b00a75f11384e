//! The machine-readable details that some agents return beside the text.

use serde_json::{Map, json};

use crate::preview::input::Input;
use crate::preview::measure::Text;
use crate::preview::model::LimitHit;
use crate::preview::plan::counts::KeptCounts;
use crate::preview::policy::Policy;
use crate::preview::policy::schema::{DetailsSchema, DetailsShape};
use crate::preview::strategy::Selection;
use crate::preview::strategy::selection::Inner;
use crate::preview::template::Value;

/// JavaScript's largest safe integer, which stands for no limit on lines.
const NO_LIMIT: u64 = (1 << 53) - 1;

/// Returns the details for the plan of one stream, if the policy has any and they apply.
pub(super) fn describe(
    input: &Input,
    policy: &Policy,
    text: &Text,
    selection: &Selection,
    counts: &KeptCounts,
    is_cut: bool,
) -> Option<serde_json::Value> {
    let schema = policy.file().schema.details.as_ref()?;
    match schema.shape {
        DetailsShape::TempFile => temp_file(input, policy, text, is_cut),
        DetailsShape::Pi if schema.unless_failed && has_failed(input, policy) => None,
        DetailsShape::Pi => pi(input, policy, schema, text, selection, counts, is_cut),
    }
}

fn temp_file(input: &Input, policy: &Policy, text: &Text, is_cut: bool) -> Option<serde_json::Value> {
    let failed = policy.get("save_failed") == Some(Value::Boolean(true));
    (is_cut && !failed).then(|| json!({ "temp_file_path": input.saved_path(text.source) }))
}

fn has_failed(input: &Input, policy: &Policy) -> bool {
    let is_set =
        |key: &str| !matches!(policy.get(key), None | Some(Value::Boolean(false) | Value::Integer(0)));
    input.exit_code.is_some_and(|code| code != 0) || is_set("aborted") || is_set("timeout_s")
}

fn pi(
    input: &Input,
    policy: &Policy,
    schema: &DetailsSchema,
    text: &Text,
    selection: &Selection,
    counts: &KeptCounts,
    is_cut: bool,
) -> Option<serde_json::Value> {
    let inner = selection.inner.unwrap_or_else(|| Inner::new(text, is_cut, false));
    let mut details = Map::new();
    if inner.cut {
        details.insert("truncation".to_owned(), truncation(policy, schema, selection, &inner, counts));
        if schema.path {
            details.insert("fullOutputPath".to_owned(), json!(input.saved_path(text.source)));
        }
    }
    if let (Some(key), Some(limit)) = (&schema.limit, inner.limited) {
        details.insert(key.clone(), json!(limit));
    }
    if inner.clipped {
        details.insert("linesTruncated".to_owned(), json!(true));
    }
    (!details.is_empty()).then_some(serde_json::Value::Object(details))
}

fn truncation(
    policy: &Policy,
    schema: &DetailsSchema,
    selection: &Selection,
    inner: &Inner,
    counts: &KeptCounts,
) -> serde_json::Value {
    let by = match selection.hit {
        Some(LimitHit::Lines) => "lines",
        _ => "bytes",
    };
    let max_lines = if schema.limit.is_some() { Some(NO_LIMIT) } else { policy.max_lines() };
    json!({
        "truncated": true,
        "truncatedBy": by,
        "totalLines": inner.totals.map(|(lines, _)| lines),
        "totalBytes": inner.totals.map(|(_, bytes)| bytes),
        "outputLines": counts.kept.lines.ok(),
        "outputBytes": inner.output_bytes.or(counts.kept_agent_bytes.ok()),
        "lastLinePartial": selection.partial,
        "firstLineExceedsLimit": inner.first_line,
        "maxLines": max_lines,
        "maxBytes": policy.max_size(),
    })
}
