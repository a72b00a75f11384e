//! What an agent does to the kept text: removes what matches, strips white space, quotes it as JSON, escapes a tag.

use std::borrow::Cow;
use std::ops::Range;

use regex::bytes::{Captures, Regex};
use serde::Deserialize;

use crate::base::fs::plain_file;
use crate::text::supply::OwnBytes;
use crate::text::units::Decoding;

use super::input::{Input, Stream};
use super::measure::Text;
use super::model::{Fragment, Part};

/// A regular expression that searches nothing but bytes of our own: the output's may change at any moment.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Expression(Regex);

impl Expression {
    pub(crate) fn new(source: &str) -> Result<Self, regex::Error> {
        Regex::new(source).map(Self)
    }

    /// Returns the first match that starts at or after `at`.
    pub(crate) fn find_at(&self, bytes: OwnBytes, at: usize) -> Option<Range<usize>> {
        self.0.find_at(bytes.as_slice(), at).map(|found| found.range())
    }

    pub(crate) fn find_all(&self, bytes: OwnBytes) -> Vec<Range<usize>> {
        self.0.find_iter(bytes.as_slice()).map(|found| found.range()).collect()
    }

    pub(crate) fn captures<'a>(&self, bytes: OwnBytes<'a>) -> Option<Captures<'a>> {
        self.0.captures(bytes.as_slice())
    }
}

impl TryFrom<String> for Expression {
    type Error = String;

    fn try_from(source: String) -> Result<Self, String> {
        plain_file::regex(&source).map(Self)
    }
}

/// How kept text is written inside a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Quoted {
    /// ASCII JSON that is safe in HTML, as written by Jinja's `tojson`.
    HtmlJson,
}

/// The final keys of `[keep]`, which any strategy may have.
#[derive(Debug, Deserialize)]
pub(crate) struct Rewrite {
    remove: Option<Expression>,
    /// Whether white space is stripped from both ends, as by Python's `strip`.
    strip: bool,
    quoted: Option<Quoted>,
}

impl Rewrite {
    #[cfg(feature = "app")]
    pub(crate) fn is_nothing(&self) -> bool {
        self.remove.is_none() && !self.strip && self.quoted.is_none()
    }

    /// Rewrites the slots. Copies the kept text, whose length the limits bound.
    pub(crate) fn slots(
        &self,
        input: &Input,
        source: Stream,
        slots: Vec<(&'static str, Vec<Part>)>,
    ) -> Vec<(&'static str, Vec<Part>)> {
        let rewritten = slots.into_iter().map(|(name, mut parts)| {
            if let Some(remove) = &self.remove {
                let found = remove.find_all(OwnBytes::from(&flat(input, &parts)));
                parts = without(input, parts, &found);
            }
            if self.strip {
                let ends = blank_ends(&flat(input, &parts));
                parts = without(input, parts, &ends);
            }
            if let Some(Quoted::HtmlJson) = self.quoted {
                parts = parts.into_iter().map(|part| quoted(input, source, part)).collect();
            }
            (name, parts)
        });
        rewritten.collect()
    }
}

/// Returns the bytes of a part before decoding, or of its own text.
pub(super) fn raw<'a>(input: &Input<'a>, part: &Part) -> Cow<'a, [u8]> {
    match part {
        Part::Kept { source, range, .. } => Cow::Borrowed(&input.stream(*source).bytes[range.clone()]),
        part => Cow::Owned(part.text(input).into_bytes()),
    }
}

fn flat(input: &Input, parts: &[Part]) -> Vec<u8> {
    parts.iter().flat_map(|part| raw(input, part).into_owned()).collect()
}

fn blank_ends(bytes: &[u8]) -> Vec<Range<usize>> {
    let text = Decoding::Lossy.decode(bytes);
    let start = text.len() - text.trim_start_matches(is_space).len();
    let end = text.len() - text.trim_end_matches(is_space).len();
    vec![0..start, bytes.len() - end.min(bytes.len() - start)..bytes.len()]
}

/// Whether Python's `str.strip` treats the character as white space.
fn is_space(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}')
}

/// Removes ordered ranges of the parts' joined bytes.
pub(super) fn without(input: &Input, parts: Vec<Part>, ranges: &[Range<usize>]) -> Vec<Part> {
    let mut left = Vec::new();
    let mut start = 0;
    let mut next = 0;
    for part in parts {
        let end = start + raw(input, &part).len();
        let mut at = start;
        while let Some(range) = ranges.get(next).filter(|range| range.start < end) {
            left.extend(slice(input, &part, at - start..range.start.max(at) - start));
            at = range.end.clamp(at, end);
            if range.end > end {
                break;
            }
            next += 1;
        }
        left.extend(slice(input, &part, at - start..end - start));
        start = end;
    }
    left
}

/// Returns a range of a part; half a character is kept entirely or not at all.
fn slice(input: &Input, part: &Part, range: Range<usize>) -> Option<Part> {
    if range.is_empty() {
        return None;
    }
    Some(match part {
        Part::Kept { source, range: whole, decoding } => {
            let range = whole.start + range.start..whole.start + range.end;
            Part::Kept { source: *source, range, decoding: *decoding }
        }
        Part::Notice { text } => {
            let end = (0..=range.end).rev().find(|at| text.is_char_boundary(*at))?;
            Part::Notice { text: text.get(range.start..end)?.to_owned() }
        }
        Part::Changed { .. } | Part::Counting => {
            return (range.len() == part.text(input).len()).then(|| part.clone());
        }
    })
}

fn quoted(input: &Input, source: Stream, part: Part) -> Part {
    let Some((_, range)) = part.range() else { return part };
    if let Part::Changed { fragments, .. } = &part
        && fragments.iter().all(|part| matches!(part, Fragment::Escapes(_) | Fragment::Replaced(_)))
    {
        return part;
    }
    let fragments = vec![Fragment::Text(html_json(&part.text(input)))];
    Part::Changed { source, range, fragments, decoding: Decoding::Lossy }
}

/// Returns the inside of a string in ASCII JSON, with nothing that is special in HTML.
fn html_json(text: &str) -> String {
    let (mut written, quoted) = (String::new(), serde_json::Value::from(text).to_string());
    for character in quoted[1..quoted.len() - 1].chars() {
        match character {
            ' '..='~' if !"<>&'".contains(character) => written.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    written.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    written
}

/// Returns a regex for the `<` of a tag of the agent's own envelope: any case, `_` for `-`, and with characters in between
/// (but no backslash first). Source: Claude Code 2.1.330, which also recognizes lookalike letters, as this does not.
pub(crate) fn tag_finder(tag: &str) -> Result<Expression, regex::Error> {
    let name = regex::escape(tag).replace(r"\-", "[-_]");
    let signs = r"(?:[^A-Za-z0-9_<>\\-][^A-Za-z0-9_<>-]*)?";
    Expression::new(&format!(r"(?i-u)<{signs}{name}(?:[^A-Za-z0-9_-]|$)"))
}

/// Escapes every such tag in a kept part, so that it closes nothing: `<` becomes `<\`.
pub(crate) fn escaped(text: &Text, finder: &Expression, part: Part) -> Vec<Part> {
    let Part::Kept { range, .. } = &part else { return vec![part] };
    let bytes = text.bytes[range.clone()].to_vec();
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some(found) = finder.find_at(OwnBytes::from(&bytes), at) {
        let start = range.start + found.start;
        parts.extend(text.kept(range.start + at..start));
        parts.push(text.changed(start..start + 1, vec![Fragment::Text("<\\".to_owned())]));
        at = found.start + 1;
    }
    parts.extend(text.kept(range.start + at..range.end));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_ascii_and_safe_in_html() {
        assert_eq!(
            html_json("a\"\\\n\u{1b}<é\u{1F600}\u{7f}"),
            "a\\\"\\\\\\n\\u001b\\u003c\\u00e9\\ud83d\\ude00\\u007f"
        );
    }

    #[test]
    fn a_tag_is_found_as_the_agent_finds_it() {
        let finder = tag_finder("persisted-output").unwrap();
        for tag in
            ["</persisted-output>", "<persisted-output>", "< / Persisted_Output >", "<persisted-output"]
        {
            assert!(finder.find_at(OwnBytes::from(tag), 0).is_some(), "{tag}");
        }
        for tag in
            ["<\\/persisted-output>", "<persisted-outputs>", "<x persisted-output>", "persisted-output>"]
        {
            assert!(finder.find_at(OwnBytes::from(tag), 0).is_none(), "{tag}");
        }
    }
}
