//! The two sides of a comparison: a call's whole output or file, and the part of the result that a policy makes.

use std::io;
use std::path::{Path, PathBuf};

use crate::source::MapView;

use super::command::arguments;
use super::content::MAX_TEXT;
use super::json::{Json, Kind, Tape};
use super::model::{Call, CallResult, CutState};
use super::text::{self, MAX_RESULT};
use super::transcript::Transcript;
use super::verdict::Counterpart;

const PATH_KEYS: &[&str] = &["path", "filePath", "file_path", "absolute_path"];

/// What a result is compared with: a spill, a file, or a copy for the agent's own screen that is known to be whole.
#[derive(Clone, Debug)]
pub struct WholeOutput {
    pub view: MapView,
    pub against: Counterpart,
    /// The path that the agent's notices print; empty if there is none.
    pub saved_as: String,
    /// What the call asked for, if it read a file.
    pub window: Option<FileWindow>,
    /// Whether the file was changed after the call, or that is not known.
    pub is_changed: bool,
}

impl WholeOutput {
    pub fn new(view: MapView, against: Counterpart, saved_as: String) -> Self {
        Self { view, against, saved_as, window: None, is_changed: false }
    }
}

/// What stands for the middle in a copy that Codex cut to about its limit.
const CUT_COPY: &str = "... command output truncated for persistence ...";
const MAX_BELOW: u64 = 1024;

/// Returns the display copy of a call that holds all of its output, if there is one.
pub fn whole_display(transcript: &Transcript, call: &Call) -> Option<WholeOutput> {
    call.display.iter().find_map(|copy| {
        let most = copy.most.map_or(MAX_RESULT, |most| most as usize);
        let (text, facts) = text::to_text(transcript, std::slice::from_ref(&copy.text), most).ok()?;
        // Before a character that takes up to four bytes, up to three are left free.
        let is_short = copy.most.is_none_or(|most| facts.bytes + 4 <= most.into());
        let is_larger = call.cites.iter().any(|cite| cite.bytes > Some(facts.bytes));
        let is_cut = || facts.bytes + MAX_BELOW > most as u64 && text.contains(CUT_COPY);
        let is_whole =
            !facts.is_stopped && is_short && !is_larger && (transcript.agent != "codex" || !is_cut());
        let view = MapView::from_bytes(text.as_bytes()).ok().filter(|_| is_whole && facts.replaced == 0);
        Some(WholeOutput::new(view?, Counterpart::Display, String::new()))
    })
}

/// Whether the rest of an output that was cut is nowhere: in no spill, and in no copy that is whole.
pub fn is_never_saved(transcript: &Transcript, call: &Call) -> bool {
    call.cut == CutState::NoSpill && whole_display(transcript, call).is_none()
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWindow {
    /// The path as the agent's notices print it.
    pub named: String,
    /// The path of the file: a claim of the records.
    pub path: PathBuf,
    pub offset: Option<i64>,
    pub limit: Option<i64>,
}

/// Returns the file that a call asked for; `None` if its arguments do not say.
pub fn requested_window(transcript: &Transcript, call: &Call) -> Option<FileWindow> {
    let input = arguments(transcript, call)?;
    let mut tape = Tape::default();
    let arguments = tape.read(&input).ok()?;
    let given = PATH_KEYS.iter().find_map(|key| arguments.get(key)?.short(MAX_TEXT))?;
    let number = |key: &str| arguments.get(key).filter(|value| value.kind() == Kind::Bare)?.int();
    let cwd = transcript.facts.cwd.as_deref().unwrap_or_default();
    let path = Path::new(cwd).join(&given);
    // The others print the absolute path.
    let named = if transcript.agent == "pi" { given } else { path.to_string_lossy().into_owned() };
    Some(FileWindow { named, path, offset: number("offset"), limit: number("limit") })
}

/// Where the output begins in what Codex gives its model.
const HEADER_END: &str = "\nOutput:\n";

/// The last lines about a background task of Kimi CLI, and what its output follows.
const TASK_LINES: &str = "\nfull_output_tool: ";
const TASK_OUTPUT: &str = "\n[output]\n";

/// What Crush puts before the output of a background job.
const JOB_STATES: [&str; 2] = ["Status: running\n\n", "Status: completed\n\n"];

/// What stands between two parts in the text of a policy.
const BETWEEN: &str = "\n\n";

/// How many bytes of an output identify its result among several.
const TELLING: usize = 1000;

pub(super) struct ResultBody {
    pub text: String,
    place: BodyPlace,
}

/// Where the bytes of a body are in what the model got.
enum BodyPlace {
    /// After this many others.
    After(u64),
    /// In parts, which begin at these places of the body, after an empty line that the model did not get.
    Parts(Vec<u64>),
    /// In a string of JSON, whose first byte is at this place.
    InJson(u64),
}

impl ResultBody {
    /// Takes the body out of a result of which `text` is the whole; of several results the one of `output`. Only texts that
    /// are decoded anew are cut to [`MAX_RESULT`] bytes.
    pub(super) fn new(
        transcript: &Transcript,
        result: &CallResult,
        text: &str,
        output: &[u8],
    ) -> io::Result<Self> {
        let head = match transcript.agent {
            "goose" => return in_parts(transcript, result),
            "cline" | "hermes" => match in_json(text, output) {
                Some(body) => return Ok(body),
                None => None,
            },
            "codex" => text.find(HEADER_END).map(|at| at + HEADER_END.len()),
            "kimi-cli" => after_system_lines(transcript, result, text),
            "crush" => JOB_STATES.iter().find(|state| text.starts_with(**state)).map(|state| state.len()),
            _ => None,
        };
        let head = head.unwrap_or(0);
        Ok(Self { text: text[head..].to_owned(), place: BodyPlace::After(head as u64) })
    }

    /// Returns the place in what the model got of a byte of the body.
    pub(super) fn place(&self, at: u64) -> u64 {
        match &self.place {
            BodyPlace::After(head) => at.saturating_add(*head),
            BodyPlace::Parts(breaks) => {
                let before = breaks.iter().filter(|place| **place < at).count() as u64;
                at.saturating_sub(before * BETWEEN.len() as u64)
            }
            BodyPlace::InJson(start) => {
                let at = usize::try_from(at).unwrap_or(usize::MAX).min(self.text.len());
                let end = (0..=at).rev().find(|end| self.text.is_char_boundary(*end)).unwrap_or(0);
                let encoded = serde_json::to_string(&self.text[..end]).map_or(0, |text| text.len() as u64);
                start.saturating_add(encoded.saturating_sub(2))
            }
        }
    }
}

/// Goose sends the notice as a part of its own; the policy has an empty line before it.
fn in_parts(transcript: &Transcript, result: &CallResult) -> io::Result<ResultBody> {
    let (mut text, mut breaks) = (String::new(), Vec::new());
    for piece in &result.pieces {
        if !text.is_empty() {
            breaks.push(text.len() as u64);
            text.push_str(BETWEEN);
        }
        text.push_str(&text::to_text(transcript, std::slice::from_ref(piece), MAX_RESULT)?.0);
    }
    Ok(ResultBody { text, place: BodyPlace::Parts(breaks) })
}

/// Hermes sends a record in JSON, Cline a list of them: finds the one whose text begins as the output does.
fn in_json(text: &str, output: &[u8]) -> Option<ResultBody> {
    let mut tape = Tape::default();
    let sent = tape.read(text.as_bytes()).ok()?;
    let results = || {
        sent.items()
            .filter_map(|item| item.get("result"))
            .chain(sent.get("output"))
            .filter(|result| result.text().is_some())
    };
    let beginning = String::from_utf8_lossy(output.get(..TELLING).unwrap_or(output)).into_owned();
    let is_meant = |result: &Json| {
        let start = result.text().map(|text| text.to_text(TELLING).text).unwrap_or_default();
        let common = start.bytes().zip(beginning.bytes()).take_while(|(a, b)| a == b).count();
        // A character may be cut at the end of either.
        common + 4 > start.len().min(beginning.len())
    };
    let found = results().find(is_meant).or_else(|| results().next())?;
    let place = BodyPlace::InJson(found.range().start as u64 + 1);
    Some(ResultBody { text: found.text()?.to_text(text.len()).text, place })
}

/// Returns where Kimi CLI's output begins: after a message, a part of its own, or the lines about a background task.
fn after_system_lines(transcript: &Transcript, result: &CallResult, text: &str) -> Option<usize> {
    if let Some(header) = text.find(TASK_LINES) {
        return Some(header + text[header..].find(TASK_OUTPUT)? + TASK_OUTPUT.len());
    }
    let message = result.pieces.get(..1).filter(|_| result.pieces.len() > 1)?;
    text::to_text(transcript, message, MAX_RESULT).ok().map(|(message, _)| message.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_result_of_an_output_is_found() {
        let text = r#"[{"query":"a","result":"one\n...","success":true},{"query":"b","result":"two\t\"x","success":true}]"#;
        let body = in_json(text, b"two\t\"x and more").unwrap();
        assert_eq!(body.text, "two\t\"x");
        let at = |at: u64| &text[body.place(at) as usize..][..2];
        assert_eq!((at(0), at(3), at(4), at(5)), ("tw", "\\t", "\\\"", "x\""));
        assert_eq!(in_json(text, b"other").unwrap().text, "one\n...");
        assert!(in_json("no list", b"").is_none());
    }
}
