//! OpenClaw's tool results and deepagents' evicted ones; what `agents.md` 15 and `agents-2026-11.md`
//! leave open is as in the packages 2026.9.6 and 0.7.32.
use super::text::*;
use super::{Case, Verdict};

/// What one character costs: East Asian ones more than their units, as tokens would.
fn weight(c: char) -> usize {
    match u32::from(c) {
        0xb7 | 0x3000..=0x319f | 0x4e00..=0x9fa5 | 0xac00..=0xd7af | 0xff01..=0xff60 => 4,
        0x1100..=0x11ff | 0x2e80..=0x2fff | 0x31a0..=0x4dff | 0x9fa6..=0xa4ff => 12,
        0xa700..=0xa707 | 0xa960..=0xa97f | 0xd7b0..=0xd7ff | 0xf900..=0xfaff => 12,
        0x2c7 | 0x2c9 | 0x2cb | 0x2d9 | 0x2ea | 0x2eb | 0x305 | 0x323 => 8,
        0xfe10..=0xfe4f | 0xff61..=0xffdc | 0xffe0..=0xffe6 => 8,
        0x1d360..=0x1d371 => 12,
        0x16fe0..=0x16fff | 0x1aff0..=0x1afff | 0x1b000..=0x1b16f | 0x1f200..=0x1f2ff => 16,
        0x20000..=0x2fa1f | 0x30000..=0x3347f => 16,
        _ => c.len_utf16(),
    }
}

fn cost(text: &str) -> usize {
    text.chars().map(weight).sum()
}

/// The longest start that costs no more than the budget.
fn fit_head(text: &str, budget: usize) -> &str {
    let mut sum = 0;
    let end = text.char_indices().find(|(_, c)| {
        sum += weight(*c);
        sum > budget
    });
    end.map_or(text, |(at, _)| &text[..at])
}

/// The longest end that costs no more than the budget.
fn fit_tail(text: &str, budget: usize) -> &str {
    let mut sum = 0;
    let start = text.char_indices().rev().find(|(_, c)| {
        sum += weight(*c);
        sum > budget
    });
    start.map_or(text, |(at, c)| &text[at + c.len_utf8()..])
}

fn suffix(gone: usize) -> String {
    format!("[... {} more characters truncated; rerun with narrower args if needed]", gone.max(1))
}

/// The kept text and the suffix within the limit: the longer the suffix, the less is kept.
fn bounded(mut kept: &str, all: usize, max: usize) -> String {
    loop {
        let end = suffix(all.saturating_sub(unit_len(kept)));
        if end.len() >= max {
            return fit_head(&suffix(all), max).to_string();
        }
        let next = fit_head(kept, max - end.len());
        if next.len() == kept.len() {
            return format!("{kept}{end}");
        }
        kept = next;
    }
}

const MIDDLE: &str = "\n\n⚠️ [... middle content omitted — showing head and tail ...]\n\n";

/// Whether the last 2,000 units look like an error, JSON or a summary.
fn important_end(text: &str) -> bool {
    let mut last = units(text);
    last.drain(..last.len().saturating_sub(2000));
    drop_half_at_start(&mut last);
    let last = from_units(&last).to_lowercase();
    let words = regex::Regex::new(
        r"(?-u:\b)(?:error|exception|failed|fatal|traceback|panic|stack trace|errno|exit code|total|summary|result|complete|finished|done)(?-u:\b)",
    );
    words.unwrap().is_match(&last) || js_trim(&last).ends_with('}')
}

/// Up to the last line feed, where that is in the last fifth.
fn to_line_end(head: &str) -> &str {
    match head.rfind('\n') {
        Some(at) if 5 * unit_len(&head[..at]) > 4 * unit_len(head) => &head[..at],
        _ => head,
    }
}

/// From behind the first line feed, where that is in the first fifth.
fn from_line_start(tail: &str) -> &str {
    match tail.find('\n') {
        Some(at) if 5 * unit_len(&tail[..at]) < unit_len(tail) => &tail[at + 1..],
        _ => tail,
    }
}

pub fn tool(c: &Case) -> Verdict {
    let (text, max) = (lossy(&c.input), c.num("max_units", 16000));
    if cost(&text) <= max {
        return Ok(text);
    }
    let all = unit_len(&text);
    let least = 2000.min(max.saturating_sub(suffix(1).len()));
    let end = suffix(all - unit_len(fit_head(&text, max)));
    let budget = max.saturating_sub(end.len()).max(least);
    if important_end(&text) && budget > 2 * least {
        let tail_budget = ((budget as f64 * 0.3) as usize).min(4000);
        let head_budget = (budget - tail_budget).saturating_sub(unit_len(MIDDLE));
        if head_budget > least {
            let head = to_line_end(fit_head(&text, head_budget));
            let tail = from_line_start(fit_tail(&text, tail_budget));
            if head.len() + tail.len() < text.len() {
                return Ok(bounded(&format!("{head}{MIDDLE}{tail}"), all, max));
            }
        }
    }
    Ok(bounded(to_line_end(fit_head(&text, budget)), all, max))
}

/// A line of Python's `splitlines()` without its one ending.
fn without_end(line: &str) -> String {
    let ends = "\n\r\u{b}\u{c}\u{1c}\u{1d}\u{1e}\u{85}\u{2028}\u{2029}";
    let text = line.strip_suffix("\r\n").or(line.strip_suffix(|c| ends.contains(c)));
    text.unwrap_or(line).to_string()
}

/// Rows with their numbers, as wide as the widest of them.
fn numbered(lines: &[String], first: usize) -> String {
    let width = (first + lines.len() - 1).to_string().len();
    let rows: Vec<String> = lines
        .iter()
        .enumerate()
        .map(|(i, line)| {
            let start: String = line.chars().take(1000).collect();
            format!("{:>width$}  {start}", first + i)
        })
        .collect();
    rows.join("\n")
}

pub fn deepagents(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    if point_len(&text) <= c.num("max_points", 80000) {
        return Ok(text);
    }
    let lines: Vec<String> = py_splitlines(&text).iter().map(|line| without_end(line)).collect();
    let n = lines.len();
    let (shown, sample) = if n <= 10 {
        (lines.clone(), numbered(&lines, 1))
    } else {
        let (head, tail) = (&lines[..5], &lines[n - 5..]);
        let gone = format!("... [{} lines truncated] ...", n - 10);
        ([head, tail].concat(), format!("{}\n{gone}\n{}", numbered(head, 1), numbered(tail, n - 4)))
    };
    let mut losses = Vec::new();
    if n > 10 {
        losses.push("lines of the form `... [N lines truncated] ...` indicate omitted lines in the middle of the content");
    }
    if shown.iter().any(|line| point_len(line) > 1000) {
        losses.push("the output contains lines longer than 1000 characters; this preview shows only their first 1000 characters");
    }
    let mut note = "Here is a preview".to_string();
    note += if n > 10 { " showing the head and tail of the result" } else { " of the result" };
    if !losses.is_empty() {
        note += &format!(" ({})", losses.join("; "));
    }
    let mut id: String = c.word("call_id", "CALL");
    if point_len(&id) > 32 {
        id = format!("{}...", id.chars().take(32).collect::<String>());
    }
    Ok(format!(
        "Tool result too large, the result of this tool call {id} was saved in the filesystem at this path: {}\n\nYou can read the result from the filesystem by using the read_file tool, but make sure to only read part of the result at a time.\n\nYou can do this by specifying an offset and limit in the read_file tool call. For example, to read the first 100 lines, you can use the read_file tool with offset=0 and limit=100.\n\n{note}:\n\n{sample}\n",
        c.path()
    ))
}

#[cfg(test)]
mod tests {
    use super::super::case;
    use super::*;

    #[test]
    fn one_side_or_two() {
        let out = case("openclaw/tool", &b"y".repeat(20000), &[]).naive().unwrap();
        assert_eq!(out.len(), 16000);
        assert!(
            out.ends_with("y[... 4072 more characters truncated; rerun with narrower args if needed]"),
            "{}",
            &out[15900..]
        );
        let text = format!("{}\nerror: no\n", "y".repeat(20000));
        let out = case("openclaw/tool", text.as_bytes(), &[]).naive().unwrap();
        assert!(out.contains(MIDDLE));
        assert!(out.contains("\nerror: no\n[... "));
    }

    #[test]
    fn east_asian_text_is_dearer() {
        assert_eq!(cost("aé漢😀"), 1 + 1 + 4 + 2);
        assert_eq!(fit_head("漢漢", 7), "漢");
        assert_eq!(fit_tail("漢a", 4), "a");
    }

    #[test]
    fn deepagents_numbers_each_side() {
        let text = format!("{}\n", "y".repeat(1001)).repeat(100);
        let out = case("deepagents/tool", text.as_bytes(), &[]).naive().unwrap();
        let y = "y".repeat(1000);
        assert!(out.contains(&format!("characters):\n\n1  {y}\n2  {y}\n")));
        assert!(out.contains(&format!("5  {y}\n... [90 lines truncated] ...\n 96  {y}\n")));
        assert!(out.ends_with(&format!("\n100  {y}\n")));
    }
}
