//! Hermes, as in `agents.md` 15 and `agents-2026-11.md` C.3.
use super::text::*;
use super::{Case, Verdict};
use std::sync::LazyLock;

fn persisted(c: &Case, recovery: &str) -> Verdict {
    let text = lossy(&c.input);
    let all = points(&text);
    if all.len() <= c.num("max_points", 100000) {
        return Ok(text);
    }
    let mut head = all[..all.len().min(1500)].to_vec();
    // 0.19.0 looks for a line feed, and says that there is more, only where there is.
    let more = if all.len() > 1500 { "\n..." } else { "" };
    if !more.is_empty()
        && let Some(at) = head.iter().rposition(|ch| *ch == '\n')
        && at > 750
    {
        head.truncate(at + 1);
    }
    // Python rounds an exact half to even, as Rust's formatting does.
    let kb = all.len() as f64 / 1024.0;
    // MB begins at 1024 KB: 0.19.0.
    let size = if kb < 1024.0 { format!("{kb:.1} KB") } else { format!("{:.1} MB", kb / 1024.0) };
    Ok(format!(
        "<persisted-output>\nThis tool result was too large ({} characters, {size}).\nFull output saved to: {}\nUse the read_file tool with offset and limit to access specific sections of this output.\n{recovery}\nPreview (first {} chars):\n{}{more}\n</persisted-output>",
        commas(all.len()),
        c.path(),
        head.len(),
        from_points(&head)
    ))
}

pub fn tool(c: &Case) -> Verdict {
    persisted(
        c,
        "Recovery: page through the saved file with read_file (offset/limit) or process it with execute_code — do NOT re-request the same data from the remote API; the full result is already on disk.\n",
    )
}

pub fn tool_0_19(c: &Case) -> Verdict {
    persisted(c, "")
}

/// "ANSI stripped" as 0.19.0 does it.
static ESCAPES: LazyLock<regex::Regex> = LazyLock::new(|| {
    regex::Regex::new(
        r"(?s)\x1b(?:\[[0-?]*[ -/]*[@-~]|\].*?(?:\x07|\x1b\\)|[PX^_].*?\x1b\\|[ -/]+[0-~]|[0-~])|\u{9b}[0-?]*[ -/]*[@-~]|\u{9d}.*?(?:\x07|\u{9c})|[\u{80}-\u{9f}]",
    )
    .unwrap()
});

/// `after` is the length of the shell's own last line, which counts and is taken away.
fn cut(text: &str, max: usize, after: usize) -> String {
    let all = points(text);
    let total = all.len() + after;
    if total <= max {
        return text.to_string();
    }
    let split = |notice: &[char]| {
        let budget = max.saturating_sub(notice.len());
        let head = (budget as f64 * 0.4) as usize;
        (head, budget - head)
    };
    // The notice counts in the limit, and its own length depends on what it says.
    let mut notice: Vec<char> = Vec::new();
    for _ in 0..4 {
        let (head, tail) = split(&notice);
        let words = format!(
            "\n\n... [OUTPUT TRUNCATED - {} chars omitted out of {} total] ...\n\n",
            commas(total - head - tail),
            commas(total)
        );
        let updated = points(&words);
        if updated == notice {
            break;
        }
        notice = updated;
    }
    let (head, tail) = split(&notice);
    notice.truncate(max);
    let tail = tail.saturating_sub(after).min(all.len());
    from_points(&[&all[..head.min(all.len())], &notice, &all[all.len() - tail..]].concat())
}

/// Python's `strip()`.
fn py_strip(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c))
}

/// What secrets are masked is not in the document; no output here has any.
pub fn terminal(c: &Case) -> Verdict {
    let kept = cut(&lossy(&c.input), c.num("max_points", 50000), c.num("shell_points", 0));
    Ok(py_strip(&ESCAPES.replace_all(&kept, "")).to_string())
}

#[cfg(test)]
mod tests {
    use super::super::case;

    #[test]
    fn the_notice_counts_in_the_limit() {
        let out = case("hermes/terminal", "y".repeat(168_980).as_bytes(), &[]).naive().unwrap();
        assert_eq!(out.len(), 50000);
        // 77 code points of notice.
        let notice = "\n\n... [OUTPUT TRUNCATED - 119,055 chars omitted out of 168,980 total] ...\n\n";
        assert!(out.contains(notice));
        assert_eq!(out.find("\n\n..."), Some((50000 - notice.len()) * 2 / 5));
    }

    #[test]
    fn the_working_directory_counts_too() {
        // `seq 1 30000` in a directory of 30 points, as it was recorded.
        let output: String = (1..=30_000).map(|n| format!("{n}\n")).collect();
        let out = case("hermes/terminal", output.as_bytes(), &[("shell_points", "86")]).naive().unwrap();
        assert!(out.contains("119,055 chars omitted out of 168,980 total"));
        // The last line feed is stripped.
        assert_eq!((out.len(), &out[out.len() - 5..]), (50_000 - 86 - 1, "30000"));
    }

    #[test]
    fn escapes_go_after_the_cut() {
        let run = |text: &str| case("hermes/terminal", text.as_bytes(), &[]).naive().unwrap();
        assert_eq!(run(" \x1b[1ma\u{9b}1mb\x1b]0;t\x07c\u{85}\n"), "abc");
        assert_eq!(run("\u{1f}a\x1b]x"), "ax");
    }

    #[test]
    fn no_recovery_line_in_0_19() {
        let out = case("hermes/tool-0.19", &b"y".repeat(100_001), &[]).naive().unwrap();
        assert!(out.contains("of this output.\n\nPreview (first 1500 chars):\nyy"));
    }
}
