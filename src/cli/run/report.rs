//! What `overspill run` prints of a command: the preview, as text or JSON, or only its notices; and where the output is.

use std::borrow::Cow;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::base::human::{count, lines, size};
use crate::base::provenance::Certainty;
use crate::capture::{CapturedOutput, FinishedCapture, ProcessStatus, Stop};
use crate::cli::args::TextForm;
use crate::cli::terminal::SafeWriter;
use crate::cli::{CommandResult, Failure, add, fail, is_closed_pipe, preview, print_json, say};
use crate::config::{EffectivePolicy, SettingFrom};
use crate::preview::{Part, Report, Status};

/// Maximum number of notices that are printed at either end: some policies add one to every long line.
const MAX_NOTICES: usize = 5;

/// Prints the preview, then the remarks about it.
pub(super) fn print(
    finished: &FinishedCapture,
    by: &EffectivePolicy,
    policy_from: &SettingFrom,
    form: TextForm,
) -> CommandResult {
    finished.warnings.iter().for_each(|warning| say(warning));
    let FinishedCapture { preview, policy, .. } = finished;
    let (input, certainty) = (&finished.input(), certainty(finished));
    let lowered = finished.limits_from_headroom.then(|| "headroom".to_owned());
    let limits_from = &lowered.unwrap_or_else(|| by.limits_from.to_string());
    let report = Report { preview, input, policy: Some(policy), certainty, limits_from, store: &[] };
    let written = match form {
        TextForm::Json => write_json(finished, report, policy_from),
        form => preview::write(&report, form),
    };
    // Ends with 128 + SIGPIPE if the reader has closed the pipe, as any program in a pipe.
    if let Err(error) = written {
        let is_closed = is_closed_pipe(&error);
        let saved = finished.saved.iter().zip(finished.captured.outputs()).filter(|_| !is_closed);
        saved.for_each(|(path, output)| path.iter().for_each(|path| say(&output.whereabouts(path))));
        return Err(if is_closed { Failure::Ended(141).into() } else { error });
    }
    if let Status::Crashed(words) = &finished.preview.status {
        fail(&Failure::Crashed(words.clone()).to_string());
    }
    if let Some(stderr) = finished.stderr_preview.as_ref().filter(|_| form != TextForm::Json) {
        // The command itself has not failed when standard error cannot be written.
        let _ = preview::write_to_stderr(stderr, &finished.stderr_input(), form);
    }
    if form != TextForm::Json {
        say_where(finished);
    }
    Ok(())
}

/// Says where the output is, unless the notices do, and how much of it if the cap cut it.
fn say_where(finished: &FinishedCapture) {
    let previews = [&finished.preview, finished.stderr_preview.as_ref().unwrap_or(&finished.preview)];
    for ((path, preview), output) in finished.saved.iter().zip(previews).zip(finished.captured.outputs()) {
        let remark = path.as_ref().and_then(|path| output.remark(preview, path));
        remark.iter().for_each(|words| say(words));
    }
}

fn write_json(finished: &FinishedCapture, report: Report, policy_from: &SettingFrom) -> CommandResult {
    let FinishedCapture { captured, saved, .. } = finished;
    let mut value = record(Some(report), &captured.stdout, saved.stdout.as_ref())?;
    if let Some(Value::Array(warnings)) = value.get_mut("warnings") {
        warnings.extend(finished.warnings.iter().map(|words| Value::from(words.as_str())));
    }
    let input = finished.stderr_input();
    let stderr = finished.stderr_preview.as_ref();
    let stderr = stderr.map(|preview| Report { preview, input: &input, ..report });
    let apart = captured.stderr.as_ref();
    let apart = apart.map(|output| record(stderr, output, saved.stderr.as_ref())).transpose()?;
    let ended = captured.ended;
    let signal = ended.and_then(|ended| match ended.status {
        ProcessStatus::Signal(signal) => Some(signal),
        ProcessStatus::Code(_) => None,
    });
    let duration = captured.finished.duration_since(captured.started).as_millis().max(0);
    let ran = json!({
        "exit_code": ended.map(|ended| ended.exit_code()),
        "signal": signal,
        "timed_out": ended.is_some_and(|ended| ended.stop == Stop::TimedOut),
        "duration_ms": u64::try_from(duration).unwrap_or(u64::MAX),
        "policy_from": policy_from.to_string(),
        "stderr": apart,
    });
    add(&mut value, ran);
    print_json(&value)
}

/// Returns how certain the preview is: a command's output is cut for its caller, a pipe's may be anything.
pub(super) fn certainty(finished: &FinishedCapture) -> Certainty {
    if finished.captured.ended.is_some() { Certainty::Recorded } else { Certainty::WouldGet }
}

/// Returns the object of a preview, if there is one, with how much of its output was saved.
fn record(report: Option<Report>, output: &CapturedOutput, path: Option<&PathBuf>) -> anyhow::Result<Value> {
    let mut value = report.map_or_else(|| Ok(json!({})), serde_json::to_value)?;
    let id = path.and_then(|path| path.file_name()).map(|name| name.to_string_lossy());
    let saved = json!({
        "id": id,
        "saved_as": path.map(|path| path.to_string_lossy()),
        "saved_bytes": path.map_or(0, |_| output.kept.bytes),
        "seen_bytes": output.seen.bytes,
        "whole": output.is_whole(),
    });
    add(&mut value, saved);
    Ok(value)
}

/// Prints of an output that the screens have shown the notices, then the remarks about it, not the whole preview again.
pub(super) fn print_notices(finished: &FinishedCapture) -> CommandResult {
    finished.warnings.iter().for_each(|warning| say(warning));
    let mut out = SafeWriter::stdout();
    for notice in shorten(notices(&finished.preview.parts)) {
        writeln!(out, "{notice}")?;
    }
    out.end()?;
    match &finished.preview.status {
        Status::Crashed(words) => fail(&Failure::Crashed(words.clone()).to_string()),
        // Without a cut there may be no notice.
        Status::Ok if !finished.preview.truncated => {
            let seen = &finished.captured.stdout.seen;
            say(&format!("nothing was cut: {}, {}", lines(seen.lines), size(seen.bytes)));
        }
        Status::Ok => {}
    }
    say_where(finished);
    Ok(())
}

fn notices(parts: &[Part]) -> Vec<Cow<'_, str>> {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Notice { text } => Some(text.trim_matches('\n')),
        _ => None,
    });
    texts.filter(|text| !text.is_empty()).map(Cow::from).collect()
}

fn shorten(mut notices: Vec<Cow<'_, str>>) -> Vec<Cow<'_, str>> {
    let more = notices.len().saturating_sub(2 * MAX_NOTICES);
    if more > 0 {
        let words = format!("({} left out; --print prints the whole preview)", count(more as u64, "notice"));
        notices.splice(MAX_NOTICES..MAX_NOTICES + more, [words.into()]);
    }
    notices
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(texts: &[&str]) -> Vec<Part> {
        texts.iter().map(|text| Part::Notice { text: (*text).to_owned() }).collect()
    }

    #[test]
    fn empty_lines_around_a_notice_are_left_out() {
        assert_eq!(notices(&parts(&["\n\na\n\nb\n", "\n"])), ["a\n\nb"]);
    }

    #[test]
    fn only_the_first_and_last_of_many_notices_are_printed() {
        let texts: Vec<String> = (0..1400).map(|n| n.to_string()).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let all = parts(&texts);
        let words = "(1,390 notices left out; --print prints the whole preview)";
        let ends = ["0", "1", "2", "3", "4", words, "1395", "1396", "1397", "1398", "1399"];
        assert_eq!(shorten(notices(&all)), ends);
        assert_eq!(shorten(notices(&all[..10])).len(), 10);
    }
}
