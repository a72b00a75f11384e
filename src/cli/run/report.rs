//! `run --json`: the preview's object, and how the command ended and what was saved.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::base::provenance::Certainty;
use crate::capture::{CapturedOutput, FinishedCapture, ProcessStatus, Stop};
use crate::cli::{CommandResult, add, print_json};
use crate::preview::report;

/// Writes the object. `from` says where the limits and the policy come from.
pub(super) fn write(finished: &FinishedCapture, (limits_from, policy_from): (&str, &str)) -> CommandResult {
    let certainty = certainty(finished);
    let input = finished.input();
    let made = report(&finished.preview, &input, &finished.policy, certainty, limits_from, &[]);
    let mut value = serde_json::to_value(made)?;
    let captured = &finished.captured;
    let ended = captured.ended;
    add(&mut value, saved(&captured.stdout, finished.saved.stdout.as_ref()));
    let signal = ended.and_then(|ended| match ended.status {
        ProcessStatus::Signal(signal) => Some(signal),
        ProcessStatus::Code(_) => None,
    });
    let duration = captured.finished.duration_since(captured.started).as_millis().max(0);
    add(
        &mut value,
        json!({
            "exit_code": ended.map(|ended| ended.exit_code()),
            "signal": signal,
            "timed_out": ended.is_some_and(|ended| ended.stop == Stop::TimedOut),
            "duration_ms": u64::try_from(duration).unwrap_or(u64::MAX),
            "policy_from": policy_from,
            "stderr": stderr(finished, limits_from)?,
        }),
    );
    print_json(&value)
}

/// Returns how the preview is known: what a command printed is cut for whoever ran it, what comes from a pipe may be anything.
pub(super) fn certainty(finished: &FinishedCapture) -> Certainty {
    match finished.captured.ended {
        Some(_) => Certainty::Recorded,
        None => Certainty::WouldGet,
    }
}

/// Returns the object of standard error; null if it is not apart.
fn stderr(finished: &FinishedCapture, limits_from: &str) -> anyhow::Result<Value> {
    let Some(output) = &finished.captured.stderr else { return Ok(Value::Null) };
    let (certainty, input) = (certainty(finished), finished.stderr_input());
    let made = finished.stderr_preview.as_ref();
    let made = made.map(|made| report(made, &input, &finished.policy, certainty, limits_from, &[]));
    let mut value = made.map_or_else(|| Ok(json!({})), serde_json::to_value)?;
    add(&mut value, saved(output, finished.saved.stderr.as_ref()));
    Ok(value)
}

/// Returns what was saved of an output: nothing, the start of it up to a cap, or all.
fn saved(output: &CapturedOutput, path: Option<&PathBuf>) -> Value {
    let id = path.and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
    json!({
        "id": id,
        "saved_as": path.map(|path| Path::to_string_lossy(path)),
        "saved_bytes": path.map_or(0, |_| output.kept.bytes),
        "seen_bytes": output.seen.bytes,
        "whole": output.is_whole(),
    })
}
