//! What OpenHands sends of an observation: the lines that it puts around a terminal's output, and the cut of the whole.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use crate::session::content::pieces;
use crate::session::json::{Json, JsonText, Kind, char_len};
use crate::session::model::{Citation, TextPiece};
use crate::session::reader::RecordPlace;

/// The most code points that are sent of a terminal's output with the lines around it.
const MAX_POINTS: usize = 30_000;

/// The most bytes of a recorded output, as it is written, that are rendered.
const MAX_RECORDED: usize = 1 << 20;

/// The notice that the beginning is reckoned with, in code points.
const SHORT_NOTICE: usize = 113;

/// What is sent before the text of an error.
const ERROR: &str = "[An error occurred during execution.]\n";

/// The end of a line, for the agent, which is Python.
const BREAKS: &[char] =
    &['\n', '\r', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];

/// An observation as it is sent.
pub(super) struct SentObservation {
    pub pieces: Vec<TextPiece>,
    /// Where the whole of it was saved, if it was cut.
    pub saved: Option<Citation>,
}

/// Renders an observation. Returns `None` for a terminal's output that cannot be rendered.
pub(super) fn render(observation: Json, place: RecordPlace) -> Option<SentObservation> {
    let content = observation.get("content")?;
    let is_error = observation.flag("is_error");
    let mut all: Vec<_> = is_error.then(|| TextPiece::Added(ERROR.into())).into_iter().collect();
    let is_terminal = observation.has("kind", "TerminalObservation");
    match observation.get("metadata").filter(|_| is_terminal) {
        Some(metadata) => {
            let SentObservation { pieces, saved } =
                Terminal::new(observation, metadata, content)?.render(place)?;
            all.extend(pieces);
            Some(SentObservation { pieces: all, saved })
        }
        None => {
            all.extend(pieces(content, place));
            Some(SentObservation { pieces: all, saved: None })
        }
    }
}

/// What is sent of a terminal.
struct Terminal<'a> {
    prefix: String,
    output: Json<'a>,
    decoded: String,
    suffix: String,
    save_dir: Option<String>,
}

impl<'a> Terminal<'a> {
    fn new(observation: Json<'a>, metadata: Json<'a>, content: Json<'a>) -> Option<Self> {
        let output = content.items().next()?.get("text").filter(|text| text.kind() == Kind::String)?;
        let short = |key: &str| metadata.string(key).unwrap_or_default();
        let mut suffix = short("suffix");
        let lines =
            [("working_dir", "Current working directory"), ("py_interpreter_path", "Python interpreter")];
        for (key, words) in lines {
            let value = short(key);
            if !value.is_empty() {
                suffix.push_str(&format!("\n[{words}: {value}]"));
            }
        }
        let code = metadata.number("exit_code").unwrap_or(-1_i64);
        if code != -1 {
            suffix.push_str(&format!("\n[Command finished with exit code {code}]"));
        }
        let is_short = output.raw().len() <= MAX_RECORDED;
        let decoded = is_short.then(|| output.text()).flatten()?.to_text(MAX_RECORDED).text;
        let save_dir = observation.string("full_output_save_dir");
        Some(Self { prefix: short("prefix"), output, decoded, suffix, save_dir })
    }

    fn render(&self, place: RecordPlace) -> Option<SentObservation> {
        let span = place.span(self.output);
        let (before, after) = (points(&self.prefix), points(&self.suffix));
        let added = |text: &str| (!text.is_empty()).then(|| TextPiece::Added(text.into()));
        let of_output = points(&self.decoded);
        if before + of_output + after <= MAX_POINTS {
            let all = [added(&self.prefix), Some(TextPiece::Json(span)), added(&self.suffix)];
            return Some(SentObservation { pieces: all.into_iter().flatten().collect(), saved: None });
        }
        let whole = [self.prefix.as_str(), &self.decoded, &self.suffix].concat();
        let head = (MAX_POINTS - SHORT_NOTICE).div_ceil(2);
        let saved = self.save_dir.as_deref().map(|dir| saved_at(&whole, dir));
        let notice = notice(&whole, head, saved.as_deref());
        let tail = MAX_POINTS.checked_sub(points(&notice) + head)?;
        // Of the output, that part of either end which the lines around it leave.
        let (start, end) = (head.checked_sub(before)?, tail.checked_sub(after)?);
        let inner = self.output.raw().get(1..self.output.raw().len().saturating_sub(1))?;
        let start = offset_of(inner, start);
        let end = offset_of(inner, of_output.checked_sub(end)?);
        let (first, last) =
            (span.part(0, start as u64 + 2), span.part(end as u64, (inner.len() - end) as u64 + 2));
        let all = [
            added(&self.prefix),
            Some(TextPiece::Json(first)),
            added(&notice),
            Some(TextPiece::Json(last)),
            added(&self.suffix),
        ];
        let saved = saved.map(|path| Citation { path: PathBuf::from(path), bytes: Some(whole.len() as u64) });
        Some(SentObservation { pieces: all.into_iter().flatten().collect(), saved })
    }
}

/// Files are named by what is in them.
fn saved_at(whole: &str, dir: &str) -> String {
    let hash = format!("{:x}", Sha256::digest(whole));
    format!("{dir}/terminal_output_{}.txt", &hash[..8])
}

fn notice(whole: &str, head: usize, saved: Option<&str>) -> String {
    let words = "<response clipped><NOTE>Due to the max output limit, only part of the full response has been shown to you.";
    let Some(path) = saved else { return format!("{words}</NOTE>") };
    let kept = whole.char_indices().nth(head).map_or(whole, |(at, _)| &whole[..at]);
    let line = lines(kept) + 1;
    format!(
        "{words} The complete output has been saved to {path} - you can use other tools to view the full content \
         (truncated part starts around line {line}).</NOTE>"
    )
}

/// Counts lines as Python does: CR and LF together end one, and what follows the last end counts if there is any.
fn lines(text: &str) -> usize {
    let text = text.replace("\r\n", "\n");
    text.split(BREAKS).count() - usize::from(text.is_empty() || text.ends_with(BREAKS))
}

fn points(text: &str) -> usize {
    text.chars().count()
}

/// Returns the offset in an encoded string after this many code points.
fn offset_of(encoded: &[u8], wanted: usize) -> usize {
    let (mut at, mut count) = (0, 0);
    while at < encoded.len() && count < wanted {
        at += step(&encoded[at..]);
        count += 1;
    }
    at
}

/// Returns the bytes of the character or escape at the start; a pair of escapes for one character is one.
fn step(encoded: &[u8]) -> usize {
    let is_pair = || {
        let whole = encoded.get(..12).map(JsonText::new).map(|text| text.to_text(12));
        whole.is_some_and(|pair| pair.replaced == 0 && pair.text.chars().count() == 1)
    };
    if encoded.starts_with(b"\\u") && is_pair() { 12 } else { char_len(encoded).0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_by_code_points() {
        let encoded = r"aé\n\u00e9\ud83d\ude00😀\ud83dx".as_bytes();
        let rest = |count| std::str::from_utf8(&encoded[offset_of(encoded, count)..]).unwrap();
        assert_eq!((rest(2), rest(3)), (r"\n\u00e9\ud83d\ude00😀\ud83dx", r"\u00e9\ud83d\ude00😀\ud83dx"));
        assert_eq!((rest(5), rest(6), rest(7), rest(99)), (r"😀\ud83dx", r"\ud83dx", "x", ""));
    }

    #[test]
    fn lines_are_counted_as_python_does() {
        assert_eq!(
            [lines(""), lines("a"), lines("a\n"), lines("a\r\nb\u{2028}c"), lines("\n")],
            [0, 1, 1, 3, 1]
        );
    }
}
