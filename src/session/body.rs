//! The part of a recorded result that a policy makes, without what the agent puts around it.

use std::io;
use std::path::PathBuf;

use super::json::{Json, Tape};
use super::model::{Call, CallResult};
use super::text::{self, MAX_RESULT};
use super::transcript::Transcript;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileWindow {
    /// The path as the agent's notices print it.
    pub named: String,
    /// The path of the file: a claim of the records.
    pub path: PathBuf,
    pub offset: Option<i64>,
    pub limit: Option<i64>,
}

/// A result, and what is known of how it came about.
pub struct RecordedResult<'a> {
    pub transcript: &'a Transcript,
    pub call: &'a Call,
    pub result: &'a CallResult,
    /// The whole text of the result.
    pub text: &'a str,
    pub window: Option<&'a FileWindow>,
}

impl RecordedResult<'_> {
    /// Returns what follows these words at the start of one of the last three lines, up to a blank.
    pub fn figure_at_end(&self, words: &str) -> Option<String> {
        let rest = self.text.lines().rev().take(3).find_map(|line| line.strip_prefix(words))?;
        Some(rest.split(' ').next()?.to_owned())
    }
}

/// What stands between two parts in the text of a policy.
const BETWEEN: &str = "\n\n";

/// How many bytes of an output identify its result among several.
const TELLING: usize = 1000;

pub struct ResultBody {
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
    /// Takes what follows the first bytes of a result; all of it if it has no head.
    pub fn after(recorded: &RecordedResult, head: Option<usize>) -> Self {
        let head = head.unwrap_or(0);
        Self { text: recorded.text[head..].to_owned(), place: BodyPlace::After(head as u64) }
    }

    /// Takes a result whose notice is a part of its own: the policy has an empty line before it. The parts are decoded anew,
    /// and cut to [`MAX_RESULT`] bytes.
    pub fn in_parts(recorded: &RecordedResult) -> io::Result<Self> {
        let (mut text, mut breaks) = (String::new(), Vec::new());
        for piece in &recorded.result.pieces {
            if !text.is_empty() {
                breaks.push(text.len() as u64);
                text.push_str(BETWEEN);
            }
            text.push_str(&text::to_text(recorded.transcript, std::slice::from_ref(piece), MAX_RESULT)?.0);
        }
        Ok(ResultBody { text, place: BodyPlace::Parts(breaks) })
    }

    /// Takes the result out of a record in JSON, or out of a list of such: the one whose text begins as the output does.
    pub fn in_json(recorded: &RecordedResult, output: &[u8]) -> Self {
        in_json(recorded.text, output).unwrap_or_else(|| Self::after(recorded, None))
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
