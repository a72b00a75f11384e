//! The machine-readable details that some agents return beside the text.

use serde_json::{Map, json};

use crate::preview::input::Input;
use crate::preview::measure::Text;
use crate::preview::model::LimitHit;
use crate::preview::plan::counts::KeptCounts;
use crate::preview::policy::Policy;
use crate::preview::policy::schema::DetailsShape;
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
    let path = input.saved_path(text.source);
    if schema.shape == DetailsShape::TempFile {
        let is_saved = policy.get("save_failed") != Some(Value::Boolean(true));
        return (is_cut && is_saved).then(|| json!({ "temp_file_path": path }));
    }
    if schema.unless_failed && has_failed(input, policy) {
        return None;
    }
    let inner = selection.inner.unwrap_or_else(|| Inner::new(text, is_cut, false));
    let mut details = Map::new();
    if inner.cut {
        let by = if selection.hit == Some(LimitHit::Lines) { "lines" } else { "bytes" };
        let max_lines = if schema.limit.is_some() { Some(NO_LIMIT) } else { policy.max_lines() };
        let truncation = json!({
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
        });
        details.insert("truncation".to_owned(), truncation);
        if schema.path {
            details.insert("fullOutputPath".to_owned(), json!(path));
        }
    }
    if let (Some(key), Some(limit)) = (&schema.limit, inner.limited) {
        details.insert(key.clone(), json!(limit));
    }
    if inner.clipped {
        details.insert("linesTruncated".to_owned(), json!(true));
    }
    (!details.is_empty()).then_some(details.into())
}

fn has_failed(input: &Input, policy: &Policy) -> bool {
    let is_set =
        |key: &str| !matches!(policy.get(key), None | Some(Value::Boolean(false) | Value::Integer(0)));
    input.exit_code.is_some_and(|code| code != 0) || is_set("aborted") || is_set("timeout_s")
}
