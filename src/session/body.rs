//! The part of a result that a policy makes: without what an agent puts around it whatever the output is.

use std::io;

use super::json::{Json, Tape};
use super::model::CallResult;
use super::text;
use super::transcript::Transcript;

/// Where the output begins in what Codex gives its model.
const HEADER_END: &str = "\nOutput:\n";

/// The last lines about a background task of Kimi CLI, and what its output follows.
const TASK_LINES: &str = "\nfull_output_tool: ";
const TASK_OUTPUT: &str = "\n[output]\n";

/// What stands between two parts in the text of a policy.
const BETWEEN: &str = "\n\n";

/// How many bytes of an output identify its result among several.
const TELLING: usize = 1000;

/// A result as the policies make it.
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
    /// Takes the body out of a result of which `text` is the whole. `output` is what the policies are applied to: of
    /// several results in one it picks the one. Texts over `longest` bytes are cut.
    pub(super) fn new(
        transcript: &Transcript,
        result: &CallResult,
        text: &str,
        output: &[u8],
        longest: usize,
    ) -> io::Result<Self> {
        let head = match transcript.agent {
            "goose" => return in_parts(transcript, result, longest),
            "cline" | "hermes" => match in_json(text, output) {
                Some(body) => return Ok(body),
                None => None,
            },
            "codex" => text.find(HEADER_END).map(|at| at + HEADER_END.len()),
            "kimi-cli" => after_system_lines(transcript, result, text, longest),
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
fn in_parts(transcript: &Transcript, result: &CallResult, longest: usize) -> io::Result<ResultBody> {
    let (mut text, mut breaks) = (String::new(), Vec::new());
    for piece in &result.pieces {
        if !text.is_empty() {
            breaks.push(text.len() as u64);
            text.push_str(BETWEEN);
        }
        text.push_str(&text::to_text(transcript, std::slice::from_ref(piece), longest)?.0);
    }
    Ok(ResultBody { text, place: BodyPlace::Parts(breaks) })
}

/// Hermes sends a record in JSON, Cline a list with a record for each command: finds the one whose text begins as the output
/// does.
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
    let start = |result: &Json| result.text().map(|text| text.to_text(TELLING).text).unwrap_or_default();
    let is_meant = |result: &Json| {
        let start = start(result);
        let common = start.bytes().zip(beginning.bytes()).take_while(|(a, b)| a == b).count();
        // A character may be cut at the end of either.
        common + 4 > start.len().min(beginning.len())
    };
    let found = results().find(is_meant).or_else(|| results().next())?;
    let place = BodyPlace::InJson(found.range().start as u64 + 1);
    Some(ResultBody { text: found.text()?.to_text(text.len()).text, place })
}

/// Returns where the output begins in what Kimi CLI gives its model: after the message, which is a part of its own, and
/// after the lines about a background task.
fn after_system_lines(
    transcript: &Transcript,
    result: &CallResult,
    text: &str,
    longest: usize,
) -> Option<usize> {
    if let Some(header) = text.find(TASK_LINES) {
        return Some(header + text[header..].find(TASK_OUTPUT)? + TASK_OUTPUT.len());
    }
    let message = result.pieces.get(..1).filter(|_| result.pieces.len() > 1)?;
    text::to_text(transcript, message, longest).ok().map(|(message, _)| message.len())
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
