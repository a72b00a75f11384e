//! Escapes a tag of the agent's own envelope in the output: its `<` becomes `<\`, so that it closes nothing.

use crate::preview::expression::Expression;
use crate::preview::measure::Text;
use crate::preview::model::{Fragment, Part};
use crate::text::supply::OwnBytes;

/// Returns a regex for the `<` of such a tag: any case, `_` for `-`, and with characters in between (but no backslash
/// first, which means that it was escaped before). Source: Claude Code 2.1.330; it also recognizes lookalike letters,
/// which this does not.
pub(crate) fn finder(tag: &str) -> Result<Expression, regex::Error> {
    let name = regex::escape(tag).replace(r"\-", "[-_]");
    let signs = r"(?:[^A-Za-z0-9_<>\\-][^A-Za-z0-9_<>-]*)?";
    Expression::new(&format!(r"(?i-u)<{signs}{name}(?:[^A-Za-z0-9_-]|$)"))
}

/// Escapes every such tag in the kept parts of the slots. Copies these, whose length the limits bound.
pub(crate) fn apply(text: &Text, finder: &Expression, slots: &mut [(&'static str, Vec<Part>)]) {
    for (_, parts) in slots {
        *parts = parts.drain(..).flat_map(|part| escaped(text, finder, part)).collect();
    }
}

fn escaped(text: &Text, finder: &Expression, part: Part) -> Vec<Part> {
    let Part::Kept { range, .. } = &part else { return vec![part] };
    let bytes = text.bytes[range.clone()].to_vec();
    let mut parts = Vec::new();
    let (mut at, mut from) = (0, 0);
    while let Some(found) = finder.find_at(OwnBytes::from(&bytes), from) {
        let (start, end) = (range.start + found.start, range.start + found.start + 1);
        parts.extend(text.kept(range.start + at..start));
        parts.push(text.changed(start..end, vec![Fragment::Text("<\\".to_owned())]));
        at = found.start + 1;
        from = at;
    }
    parts.extend(text.kept(range.start + at..range.end));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_as_the_agent_finds_it() {
        let finder = finder("persisted-output").unwrap();
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
