//! Claude Code in its eras, as in `agents-2026-11.md` C.1.
use super::text::*;
use super::{Case, Verdict};

fn size(n: usize) -> String {
    if n < 1024 {
        return format!("{n} bytes");
    }
    let (mut divisor, mut unit) = (1024, "KB");
    // Just below 1 MiB the figure is `1024KB`: the unit follows the bytes.
    if n >= 1024 * 1024 {
        (divisor, unit) = (1024 * 1024, "MB");
    }
    if n >= 1024 * 1024 * 1024 {
        (divisor, unit) = (1024 * 1024 * 1024, "GB");
    }
    let figure = js_fixed1(n, divisor);
    format!("{}{unit}", figure.strip_suffix(".0").unwrap_or(&figure))
}

/// `text.replace(/^(\s*\n)+/, "")`, then `trimEnd()`.
fn without_blank_lines(text: &str) -> String {
    let blanks = text.len() - text.trim_start_matches(js_space).len();
    let start = text[..blanks].rfind('\n').map_or(0, |at| at + 1);
    text[start..].trim_end_matches(js_space).to_string()
}

/// What becomes of half a pair at the end of the preview.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Dropped,
    Replaced,
}

/// The preview's text, and whether there is more.
fn preview(w: &str, max: usize, half: Half) -> (String, bool) {
    let all = units(w);
    if all.len() <= max {
        return (w.to_string(), false);
    }
    let cut = match all[..max].iter().rposition(|u| *u == 10) {
        // "Past the middle" of an odd number of units is past its real half.
        Some(at) if 2 * at > max => at,
        _ => max,
    };
    let mut kept = all[..cut].to_vec();
    if half == Half::Dropped {
        drop_half_at_end(&mut kept);
    }
    (from_units(&kept), true)
}

fn saved(size: &str, c: &Case) -> String {
    format!("Output too large ({size}). Full output saved to: {}", c.path())
}

fn envelope(what: &str, (p, more): (String, bool)) -> Verdict {
    let dots = if more { "\n..." } else { "" };
    Ok(format!("<persisted-output>\n{what}\n\nPreview (first 2KB):\n{p}{dots}\n</persisted-output>"))
}

fn escaped((p, more): (String, bool)) -> (String, bool) {
    // The document has the closing tag; 2.1.330 knows it by its name, whatever stands around that.
    let all: Vec<char> = p.chars().collect();
    let mut out = String::new();
    for (at, c) in all.iter().enumerate() {
        out.push(*c);
        if *c == '<' && is_tag(&all[at + 1..]) {
            out.push('\\');
        }
    }
    (out, more)
}

/// Whether the tag's name follows, with nothing before it that could belong to another.
fn is_tag(rest: &[char]) -> bool {
    if rest.first() == Some(&'\\') {
        return false;
    }
    let belongs = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let Some(start) = rest.iter().position(|c| belongs(*c) || *c == '<' || *c == '>') else { return false };
    let name: String = rest[start..].iter().take(16).collect();
    let name = name.to_ascii_lowercase();
    let is_named = name == "persisted-output" || name == "persisted_output";
    is_named && rest.get(start + 16).is_none_or(|c| !belongs(*c))
}

fn preview_units(c: &Case) -> usize {
    c.num("preview_units", 2000)
}

/// The name that an older form of the parameter had, or the one it has.
fn max_bytes(c: &Case) -> usize {
    if c.has("max_units") { c.num("max_units", 0) } else { c.num("max_bytes", 30000) }
}

fn or_nothing(text: &str, tool: &str) -> Verdict {
    Ok(if text.is_empty() { format!("({tool} completed with no output)") } else { text.to_string() })
}

pub fn bash(c: &Case) -> Verdict {
    let limit = max_bytes(c);
    // Ambiguous: whether `window_bytes` over 150000 is taken as 150000, which is the most that the
    // agent's variable may be. Taken as it is given.
    let window = limit.max(c.num("window_bytes", 0));
    let raw = c.input.len();
    if raw <= window {
        let text = js_trim(&lossy(&c.input)).to_string();
        let n = unit_len(&text);
        if n <= limit {
            return or_nothing(&text, "Bash");
        }
        return envelope(&saved(&size(n), c), escaped(preview(&text, preview_units(c), Half::Dropped)));
    }
    let w = without_blank_lines(&lossy(&c.input[..window]));
    let what = if raw >= 64 * 1024 * 1024 {
        format!("Output exceeded the 64MB persist limit; only the first 64MB were saved to: {}", c.path())
    } else {
        saved(&size(raw), c)
    };
    envelope(&what, escaped(preview(&w, preview_units(c), Half::Dropped)))
}

pub fn bash_failed(c: &Case) -> Verdict {
    let (max, slack) = (c.num("max_units", 10000), c.num("slack_units", 1024));
    let w = lossy(&c.input[..c.input.len().min(c.num("window_bytes", 30000))]);
    let whole = format!("Exit code {}\n{w}", c.exit_code.unwrap_or(1));
    let e = units(js_trim(&whole));
    if e.len() <= max + slack {
        return Ok(from_units(&e));
    }
    // The document has 5000 and 5000; 2.1.330 gives the odd unit of another limit to the tail.
    let mut head = e[..max / 2].to_vec();
    drop_half_at_end(&mut head);
    let mut tail = e[e.len() - max.div_ceil(2)..].to_vec();
    drop_half_at_start(&mut tail);
    // A dropped half of a pair is not kept, so it is counted as gone.
    let gone = e.len() - head.len() - tail.len();
    Ok(format!("{}\n\n... [{gone} characters truncated] ...\n\n{}", from_units(&head), from_units(&tail)))
}

/// Blank output is the empty text in this era and the next: 2.1.1, 2.1.30 and 2.1.72 know no other
/// word for it.
pub fn bash_2025(c: &Case) -> Verdict {
    let text = without_blank_lines(&lossy(&c.input));
    let max = c.num("max_units", 30000);
    let all = units(&text);
    if all.len() <= max {
        return Ok(text);
    }
    let n = all[max..].iter().filter(|u| **u == 10).count() + 1;
    Ok(format!("{}\n\n... [{n} lines truncated] ...", from_units(&all[..max])))
}

/// The closing tag inside the preview stays as it is in this era and the next: 2.1.30, 2.1.72 and
/// 2.1.231 do not escape it.
pub fn bash_2026_01(c: &Case) -> Verdict {
    let text = without_blank_lines(&lossy(&c.input));
    let n = unit_len(&text);
    if n <= c.num("max_units", 30000) {
        return Ok(text);
    }
    envelope(&saved(&size(n), c), preview(&text, preview_units(c), Half::Replaced))
}

pub fn bash_2026_02(c: &Case) -> Verdict {
    let (raw, limit) = (c.input.len(), c.num("max_bytes", 30000));
    let w = without_blank_lines(&lossy(&c.input[..raw.min(limit)]));
    if raw <= limit {
        // Ambiguous: 2.1.72 knows no word for nothing, 2.1.80 and 2.1.231 do; taken as most of the era.
        return or_nothing(&w, "Bash");
    }
    envelope(&saved(&size(raw), c), preview(&w, preview_units(c), Half::Replaced))
}

pub fn tool(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let n = unit_len(&text);
    // Ambiguous: whether an output within the limit is trimmed as Bash's is. Taken as not: the
    // document trims what Bash prints, and recorded Read results keep their last tab.
    if js_trim(&text).is_empty() {
        return or_nothing("", &c.word("tool", "Tool"));
    }
    if n <= c.num("max_units", 50000) {
        return Ok(text);
    }
    envelope(&saved(&size(n), c), escaped(preview(&text, preview_units(c), Half::Dropped)))
}

#[cfg(test)]
mod tests {
    use super::super::case;
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size(66382), "64.8KB");
        assert_eq!(size(228894), "223.5KB");
        assert_eq!(size(200 * 1024), "200KB");
        assert_eq!(size(512), "512 bytes");
        assert_eq!(size(30000), "29.3KB");
        assert_eq!(size(1024 * 1024 - 1), "1024KB");
        assert_eq!(size(1024 * 1024), "1MB");
        assert_eq!(size(1258291), "1.2MB");
    }

    #[test]
    fn blank_lines_and_first_indentation() {
        assert_eq!(without_blank_lines(" \n\t\n  a\n\u{a0}"), "  a");
        assert_eq!(without_blank_lines("\u{feff}\nb"), "b");
        assert_eq!(without_blank_lines("\u{85}\nb\u{85}"), "\u{85}\nb\u{85}");
        assert_eq!(without_blank_lines(" \n "), "");
        assert_eq!(case("claude-code/bash", b"  a\n b\n", &[]).naive().unwrap(), "a\n b");
    }

    #[test]
    fn the_closing_tag_is_escaped_today() {
        let text = b"</persisted-output>".repeat(3);
        let sets = [("max_bytes", "40"), ("preview_units", "25")];
        let out = case("claude-code/bash", &text, &sets).naive().unwrap();
        assert!(out.ends_with("2KB):\n<\\/persisted-output></pers\n...\n</persisted-output>"), "{out}");
        let out = case("claude-code/bash-2026-02", &text, &sets).naive().unwrap();
        assert!(out.ends_with("2KB):\n</persisted-output></pers\n...\n</persisted-output>"), "{out}");
    }

    #[test]
    fn a_failed_build_loses_its_end() {
        let out = case("claude-code/bash-failed", &b"y\n".repeat(20000), &[]).naive().unwrap();
        assert!(out.starts_with("Exit code 1\ny\ny\n"));
        // 30000 bytes, the first line, and no final line feed.
        assert!(out.contains("\n\n... [20011 characters truncated] ...\n\n"), "{}", &out[4980..5100]);
    }
}
