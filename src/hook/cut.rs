//! What agents cut of results: by their notices if they cut before the hook runs, by their limits if afterwards.

use std::ops::Range;

use memchr::memmem;

use crate::session::content::is_number;
use crate::text::supply::Supply;
use crate::text::units::Decoding;

use super::agent::HookAgent;
use super::pieces::{self, MAX_FOUND};

/// Maximum length of a figure with its unit and the marks around it in a notice, in bytes.
const MAX_FIGURE: usize = 64;

/// Returns the notice of Codex and the number of all lines, if told; as the policies `codex/exec` and `codex/exec-bytes`.
pub(super) fn codex_cut(text: &mut impl Supply) -> Option<(String, Option<u64>)> {
    const WARNING: &str = "Warning: truncated output (original token count: ";
    const LINES: &str = "Total output lines: ";
    let start = Decoding::Lossy.decode(&text.read(0..text.len().min(MAX_FOUND)));
    let (first, _) = start.split_once("\n\n")?;
    // Before 2026 there was no warning before the number of lines.
    if ![WARNING, LINES].iter().any(|words| first.starts_with(words)) {
        return None;
    }
    let lines = first.lines().find_map(|line| line.strip_prefix(LINES)?.parse().ok());
    // It keeps as much of both ends, up to a character: a notice elsewhere is a quotation.
    let middle = (first.len() + "\n\n".len()).midpoint(text.len());
    let near = text.read(middle.saturating_sub(MAX_FIGURE)..text.len().min(middle + MAX_FIGURE));
    let near = Decoding::Lossy.decode(&near);
    near.match_indices(" truncated…").find_map(|(end, _)| {
        let (_, figure) = near[..end].rsplit_once('…')?;
        let (number, unit) = figure.split_once(' ')?;
        let is_notice = is_number(number) && ["tokens", "chars"].contains(&unit);
        is_notice.then(|| (format!("…{figure} truncated…"), lines))
    })
}

/// Maximum size of a preview, in UTF-16 units, and the bytes that are read for it: a unit takes at most three.
const PREVIEW: usize = 2000;
pub(super) const MAX_HEAD: usize = 3 * (PREVIEW + 1);

/// Returns how many bytes of an MCP server's text of `len` bytes the agent's preview shows; `None` if it cuts nothing.
/// `head` is the first [`MAX_HEAD`] bytes; the limits are those that hold unless the user or the server sets others.
pub(super) fn previewed(agent: HookAgent, head: &str, len: usize, units: impl Fn() -> u64) -> Option<usize> {
    let is_over = |most: usize| len > most && units() > most as u64;
    match agent {
        // The preview is one of the JSON of the result.
        HookAgent::ClaudeCode if is_over(50_000) => {
            let before = "[\n  {\n    \"type\": \"text\",\n    \"text\": \"".len();
            Some(first_units(head, PREVIEW - before, |char| match char {
                '"' | '\\' | '\u{8}' | '\t' | '\n' | '\u{c}' | '\r' => 2,
                '\0'..' ' => "\\u0000".len(),
                other => other.len_utf16(),
            }))
        }
        HookAgent::QwenCode if is_over(28_000) => {
            let end = first_units(head, PREVIEW, char::len_utf16);
            Some(head[..end].rfind('\n').filter(|feed| *feed > 0).unwrap_or(end))
        }
        _ => None,
    }
}

pub(super) fn is_cut_by_qwen(text: &mut impl Supply) -> bool {
    const MARK: &[u8] = b"... [CONTENT TRUNCATED] ...";
    const START: &[u8] = b"<persisted-output>";
    let is_marked = |_, piece: &[u8]| memmem::find(piece, MARK);
    text.read(0..START.len().min(text.len())).starts_with(START)
        || pieces::first_in(text, is_marked).is_some()
}

/// Bytes of an MCP server's texts for which Codex has room: 12,000 tokens of four. Models with a limit in bytes get less.
const CODEX_ROOM: u64 = 48_000;

/// Returns the ranges, in bytes, that Codex keeps of an MCP server's texts; `None` if it keeps all: texts while there is
/// room, then both ends of the next. The line that it writes first takes room, too, so it keeps a little less.
pub(super) fn kept_by_codex(texts: &[Range<u64>]) -> Option<Vec<Range<usize>>> {
    let (mut kept, mut room, mut is_cut) = (Vec::new(), CODEX_ROOM, false);
    for text in texts {
        let len = text.end - text.start;
        let fits = len.next_multiple_of(4) <= room;
        match fits {
            true => kept.push(text.clone()),
            false => kept.extend([text.start..text.start + room / 2, text.end - room / 2..text.end]),
        }
        is_cut |= !fits;
        room = if fits { room - len.next_multiple_of(4) } else { 0 };
    }
    let in_memory = |range: Range<u64>| range.start as usize..range.end as usize;
    is_cut.then(|| kept.into_iter().filter(|range| !range.is_empty()).map(in_memory).collect())
}

fn first_units(text: &str, most: usize, units: impl Fn(char) -> usize) -> usize {
    let mut room = most;
    let is_over = |char| room.checked_sub(units(char)).map(|left| room = left).is_none();
    text.find(is_over).unwrap_or(text.len())
}

/// UTF-16 units of a failed command's output from which on Claude Code may have cut it at 30,000 bytes before: it takes off
/// the blanks at their end.
const NEAR_WINDOW: u64 = 29_500;

/// UTF-16 units that it keeps of either end of a failure; a pair that would be split is left out.
const FAILURE_END: usize = 5000;

/// Returns what the policy `claude-code/bash-failed` left out, in UTF-16 units, and whether more may have followed.
pub(super) fn claude_cut(error: &mut impl Supply, units: u64) -> Option<(u64, bool)> {
    const START: &str = "\n\n... [";
    const END: &str = " characters truncated] ...\n\n";
    let head = Decoding::Lossy.decode(&error.read(0..error.len().min(3 * FAILURE_END + MAX_FIGURE)));
    let end = first_units(&head, FAILURE_END, char::len_utf16);
    let notice = |at: usize| head.get(at..)?.strip_prefix(START)?.split_once(END);
    let (figure, _) = [end, end.saturating_sub(1)].into_iter().find_map(notice)?;
    let left_out: u64 = figure.parse().ok()?;
    let seen = left_out.saturating_add(2 * FAILURE_END as u64);
    // Other characters than ASCII take more bytes than units, and those that were left out may be such.
    Some((left_out, seen >= NEAR_WINDOW || units < error.len() as u64))
}

#[cfg(test)]
mod tests {
    use crate::text::supply::OwnBytes;

    use super::*;

    #[test]
    fn codex_says_how_many_lines_there_were() {
        let codex_cut = |text: &str| codex_cut(&mut OwnBytes::from(text));
        let warning = "Warning: truncated output (original token count: 71627)\n";
        let lines = "Total output lines: 5449\n";
        let omitted = "... 9 bytes omitted ...\n";
        let notice = "…276748 chars truncated…";
        for (start, all) in [
            (format!("{warning}{lines}"), Some(5449)),
            (format!("{warning}{omitted}"), None),
            (lines.into(), Some(5449)),
        ] {
            let cut = Some((notice.to_owned(), all));
            assert_eq!(codex_cut(&format!("{start}\na{notice}b")), cut);
            let half = "€".repeat(9000);
            assert_eq!(
                codex_cut(&format!(
                    "{start}\n…12 tokens truncated…{half}{notice}{half}xx…2 tokens truncated…"
                )),
                cut
            );
            assert_eq!(codex_cut(&format!("{start}\n{notice}")), cut);
            assert_eq!(codex_cut(&format!("{start}\n{notice}{half}")), None, "a quotation");
            assert_eq!(codex_cut(&format!("{start}\na…12 tokens… chars truncated…b")), None);
            assert_eq!(codex_cut(&format!("say:\n{start}\na{notice}b")), None);
        }
        assert_eq!(codex_cut(notice), None);
        assert_eq!(codex_cut("whole"), None);
    }

    /// Returns what is left out of the text of a failure.
    fn failed(text: &str) -> Option<(u64, bool)> {
        claude_cut(&mut OwnBytes::from(text), text.encode_utf16().count() as u64)
    }

    /// The sizes are those of a run of Codex 0.169.0, of which the line before the texts takes 36 bytes.
    #[test]
    fn codex_keeps_texts_in_order_while_there_is_room() {
        let texts = [0..20_290, 20_290..40_579, 40_580..60_870, 60_870..81_159];
        let kept = [0..20_290, 20_290..40_579, 40_580..44_288, 57_162..60_870];
        assert_eq!(kept_by_codex(&texts), Some(kept.to_vec()));
        assert_eq!(kept_by_codex(&texts[..2]), None);
        let one = |len: u64| kept_by_codex(std::slice::from_ref(&(0..len)));
        assert_eq!(one(48_000), None);
        assert_eq!(one(48_001), Some(vec![0..24_000, 24_001..48_001]));
        let full = [0..20_000, 20_000..48_000, 48_000..48_001];
        assert_eq!(kept_by_codex(&full), Some(vec![0..20_000, 20_000..48_000]));
    }

    #[test]
    fn claude_code_writes_its_notice_after_5000_units() {
        let notice = "\n\n... [1234 characters truncated] ...\n\n";
        let is_cut = |before: &str| failed(&format!("{before}{notice}{}", "x".repeat(5000))).is_some();
        for (char, pair) in [("x", "🦀"), ("é", "🦀"), ("€", "🦀"), ("\n", "🦀")] {
            let before = |units: usize| char.repeat(units);
            assert_eq!(
                [4998, 4999, 5000, 5001].map(|units| is_cut(&before(units))),
                [false, true, true, false]
            );
            assert_eq!([4998, 4999].map(|units| is_cut(&(before(units) + pair))), [true, false]);
        }
        assert!(failed(&format!("{notice}{}{notice}", "x".repeat(5000 - notice.len()))).is_some());
    }

    #[test]
    fn the_end_of_a_failed_command_is_known_only_below_the_window() {
        let error = |left_out: usize, half: usize| {
            let text = "x".repeat(half);
            format!("Exit code 1\n{}\n\n... [{left_out} characters truncated] ...\n\n{text}", &text[12..])
        };
        assert_eq!(failed(&error(20_012, 5000)), Some((20_012, true)));
        assert_eq!(failed(&error(19_500, 5000)), Some((19_500, true)));
        assert_eq!(failed(&error(19_499, 5000)), Some((19_499, false)));
        assert!(failed(&error(2_000, 5000).replace('x', "é")).unwrap().1);
        assert_eq!(failed("Exit code 1\nfailed"), None);
    }
}
