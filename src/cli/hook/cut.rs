//! What agents cut of results: by their notices if they cut before the hook runs, by their limits if afterwards.

use std::ops::Range;

use memchr::{memmem, memrchr};

use crate::cli::args::HookAgent;
use crate::text::search::line_end;
use crate::text::supply::Supply;

use super::pieces::{self, MAX_FOUND};

/// Maximum length of a figure with its unit in a notice, in bytes.
const MAX_FIGURE: usize = 64;

/// Returns the notice of Codex and the number of all lines, if told; as the policies `codex/exec` and `codex/exec-bytes`.
pub(super) fn codex_cut(text: &mut impl Supply) -> Option<(String, Option<u64>)> {
    let notice = pieces::first_in(text, |_, piece| codex_notice(piece))?;
    let len = text.len();
    let start = text.read(0..len.min(MAX_FOUND));
    // The last of these lines may go on.
    let end = memrchr(b'\n', &start).filter(|_| len > MAX_FOUND).unwrap_or(start.len());
    let first = String::from_utf8_lossy(&start[..end]);
    let lines =
        first.lines().take(2).find_map(|line| line.strip_prefix("Total output lines: ")?.parse().ok());
    Some((notice, lines))
}

fn codex_notice(piece: &[u8]) -> Option<String> {
    const END: &[u8] = " truncated…".as_bytes();
    memmem::find_iter(piece, END).find_map(|end| {
        let before = &piece[end.saturating_sub(MAX_FIGURE)..end];
        let start = end - before.len() + memmem::rfind(before, "…".as_bytes())?;
        let figure = std::str::from_utf8(&piece[start + '…'.len_utf8()..end]).ok()?;
        let (number, unit) = figure.split_once(' ')?;
        let is_notice = number.parse::<u64>().is_ok() && ["tokens", "chars"].contains(&unit);
        is_notice.then(|| format!("…{figure} truncated…"))
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

/// Bytes of a failed command's output at which Claude Code looks.
const WINDOW: u64 = 30_000;

/// Returns what the policy `claude-code/bash-failed` left out, in UTF-16 units, and whether more may have followed.
pub(super) fn claude_cut(error: &mut impl Supply, units: u64) -> Option<(u64, bool)> {
    let (left_out, notice) = pieces::first_in(error, |_, piece| claude_notice(piece))?;
    let (first, _) = line_end(error, 0, &mut || true)?;
    let is_status = error.read(0..first.min(MAX_FIGURE)).starts_with(b"Exit code ");
    let header = if is_status { first } else { 0 };
    let seen = left_out + (units - notice).saturating_sub(header as u64);
    // Other characters than ASCII take more bytes than units, and those that were left out may be such.
    Some((left_out, seen >= WINDOW || units < error.len() as u64))
}

/// Returns the figure in the first notice, and the length of that notice.
fn claude_notice(piece: &[u8]) -> Option<(u64, u64)> {
    const START: &[u8] = b"\n\n... [";
    const END: &[u8] = b" characters truncated] ...\n\n";
    memmem::find_iter(piece, START).find_map(|start| {
        let rest = &piece[start + START.len()..];
        let rest = &rest[..rest.len().min(MAX_FIGURE + END.len())];
        let number = std::str::from_utf8(&rest[..memmem::find(rest, END)?]).ok()?;
        Some((number.parse().ok()?, (START.len() + number.len() + END.len()) as u64))
    })
}

#[cfg(test)]
mod tests {
    use crate::text::supply::OwnBytes;

    use super::*;

    #[test]
    fn codex_says_how_many_lines_there_were() {
        let text = "Warning: truncated output (original token count: 71627)\nTotal output lines: 5449\n\na…276748 chars truncated…b";
        let cut = ("…276748 chars truncated…".to_owned(), Some(5449));
        let codex_cut = |text: &str| codex_cut(&mut OwnBytes::from(text));
        assert_eq!(codex_cut(text), Some(cut));
        assert_eq!(codex_cut("…12 tokens truncated…").unwrap().1, None);
        assert_eq!(codex_cut("…12 tokens… chars truncated…"), None);
        assert_eq!(codex_cut("whole"), None);
    }

    /// Returns what is left out of the text of a failure.
    fn failed(text: &str) -> Option<(u64, bool)> {
        claude_cut(&mut OwnBytes::from(text), text.encode_utf16().count() as u64)
    }

    /// The sizes are those of a run of Codex 0.169.0, of which the line before the texts takes 36 bytes.
    #[test]
    fn codex_keeps_texts_in_their_order_as_long_as_there_is_room() {
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
    fn a_notice_is_found_wherever_pieces_meet() {
        let codex = "…276748 chars truncated…";
        let claude = "\n\n... [1234 characters truncated] ...\n\n";
        for before in 65_400..65_600 {
            let text = format!("{}{codex}{}", "x".repeat(before), "… truncated…".repeat(10_000));
            assert_eq!(codex_cut(&mut OwnBytes::from(&*text)).unwrap().0, codex, "{before}");
            let starts = "\n\n... [".repeat(before / 7 + 1);
            let text = format!("{}{claude}{}", &starts[..before], "x".repeat(before));
            assert_eq!(failed(&text).unwrap().0, 1234, "{before}");
        }
    }

    #[test]
    fn of_a_failed_command_the_end_is_known_only_below_the_window() {
        let error = |left_out: usize, half: usize| {
            let text = "x".repeat(half);
            format!("Exit code 1\n{}\n\n... [{left_out} characters truncated] ...\n\n{text}", &text[12..])
        };
        assert_eq!(failed(&error(20_012, 5000)), Some((20_012, true)));
        assert_eq!(failed(&error(20_011, 5000)), Some((20_011, false)));
        assert!(failed(&error(2_000, 5000).replace('x', "é")).unwrap().1);
        assert_eq!(failed("Exit code 1\nfailed"), None);
    }
}
