//! OpenHands' terminal, mini-swe-agent and the smaller newcomers, as in `agents-2026-11.md`.
use super::text::*;
use super::{Case, Verdict};

const CLIPPED: &str = "<response clipped><NOTE>Due to the max output limit, only part of the full response has been shown to you.";

pub fn openhands(c: &Case) -> Verdict {
    let mut text = format!("{}{}{}", c.word("prefix", ""), lossy(&c.input), c.word("suffix", ""));
    if !c.word("cwd", "").is_empty() {
        text += &format!("\n[Current working directory: {}]", c.word("cwd", ""));
    }
    if !c.word("interpreter", "").is_empty() {
        text += &format!("\n[Python interpreter: {}]", c.word("interpreter", ""));
    }
    if let Some(x) = c.exit_code.filter(|x| *x != -1) {
        text += &format!("\n[Command finished with exit code {x}]");
    }
    let (all, max) = (points(&text), c.num("max_points", 30000));
    // What a limit of the notice's size or less makes is as in SDK 1.58.2, where 0 is no limit.
    if max == 0 || all.len() <= max {
        return Ok(text);
    }
    let short = format!("{CLIPPED}</NOTE>");
    if point_len(&short) >= max {
        return Ok(short.chars().take(max).collect());
    }
    let head = (max - point_len(&short)).div_ceil(2);
    let line = py_splitlines(&from_points(&all[..head])).len() + 1;
    let notice = format!(
        "{CLIPPED} The complete output has been saved to {} - you can use other tools to view the full content (truncated part starts around line {line}).</NOTE>",
        c.path()
    );
    if point_len(&notice) >= max {
        return Ok(notice.chars().take(max).collect());
    }
    let rest = max - point_len(&notice);
    let head = head.min(rest);
    let tail = rest - head;
    Ok(format!("{}{notice}{}", from_points(&all[..head]), from_points(&all[all.len() - tail..])))
}

/// Jinja's `tojson`: Python's JSON in ASCII, and what HTML minds escaped too.
fn tojson(text: &[char]) -> String {
    let mut out = String::from('"');
    for unit in units(&from_points(text)) {
        match char::from_u32(unit.into()) {
            Some('"') => out += "\\\"",
            Some('\\') => out += "\\\\",
            Some('\n') => out += "\\n",
            Some('\r') => out += "\\r",
            Some('\t') => out += "\\t",
            Some('\u{8}') => out += "\\b",
            Some('\u{c}') => out += "\\f",
            Some(ch) if (' '..='~').contains(&ch) && !"<>&'".contains(ch) => out.push(ch),
            _ => out += &format!("\\u{unit:04x}"),
        }
    }
    out + "\""
}

/// Droid's generic tools. Thousands are cut off: as the bundle of 0.215.0 has it.
pub fn droid(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let (all, max) = (units(&text), c.num("max_units", 40000));
    if all.len() <= max {
        return Ok(text);
    }
    let first = max * 3 / 4;
    let (head, tail) = (from_units(&all[..first]), from_units(&all[all.len() - (max - first)..]));
    let lines = |text: &str| pieces(text).len();
    let thousands = |n: usize| if n < 1000 { n.to_string() } else { format!("{}k", n / 1000) };
    Ok(format!(
        "{head}\n\n[... truncated {} characters from middle section ...]\n\n{tail}\n\n[Output truncated. Showing first {} characters ({} lines) and last {} characters ({} lines) out of {} total characters ({} lines)]\n\n<system-reminder>\nThis output was truncated. The full result is saved to {}. When your conclusion depends on complete coverage, read that file before proceeding (Read with offset/limit, Grep for patterns, or Execute for text processing).\n</system-reminder>",
        all.len() - max,
        thousands(first),
        lines(&head),
        thousands(max - first),
        lines(&tail),
        thousands(all.len()),
        lines(&text),
        c.path()
    ))
}

pub fn mini_swe_agent(c: &Case) -> Verdict {
    // Python's text mode.
    let text = lossy(&c.input).replace("\r\n", "\n").replace('\r', "\n");
    let (all, max, x) = (points(&text), c.num("max_points", 10000), c.exit_code.unwrap_or(0));
    // The document has the names on one line; the template of 2.4.6 (config/mini.yaml) has these lines,
    // and what a short output becomes.
    if all.len() < max {
        return Ok(format!("{{\n  \"returncode\": {x},\n  \"output\": {}\n}}", tojson(&all)));
    }
    let (head, tail) = (max / 2, max.div_ceil(2));
    Ok(format!(
        "{{\n  \"returncode\": {x},\n  \"output_head\": {},\n  \"output_tail\": {},\n  \"elided_chars\": {},\n  \"warning\": \"Output too long.\"\n}}",
        tojson(&all[..head]),
        tojson(&all[all.len() - tail..]),
        all.len() - max
    ))
}

/// Nanocoder's command: the line about the status counts, and the result is exactly as long as the limit.
pub fn nanocoder(c: &Case) -> Verdict {
    let text = format!("EXIT_CODE: {}\n{}", c.exit_code.unwrap_or(0), lossy(&c.input));
    let (all, max) = (units(&text), c.num("max_units", 2000));
    if all.len() <= max {
        return Ok(text);
    }
    let notice = format!(
        "\n... [Output truncated: {} characters total; request a narrower result to inspect omitted content] ...\n",
        all.len()
    );
    let budget = max - notice.len();
    let head = budget * 2 / 5;
    Ok(format!("{}{notice}{}", from_units(&all[..head]), from_units(&all[all.len() - (budget - head)..])))
}

#[cfg(test)]
mod tests {
    use super::super::case;

    #[test]
    fn openhands_is_exactly_the_limit() {
        let sets = [("cwd", "/w"), ("interpreter", "/p"), ("prefix", "[x]\n")];
        let mut c = case("openhands/terminal", b"a\n", &sets);
        c.exit_code = Some(2);
        assert_eq!(
            c.naive().unwrap(),
            "[x]\na\n\n[Current working directory: /w]\n[Python interpreter: /p]\n[Command finished with exit code 2]"
        );
        let out = case("openhands/terminal", "y\n".repeat(20000).as_bytes(), &[]).naive().unwrap();
        assert_eq!(out.len(), 30000);
        assert!(out.contains("saved to /P - you can use other tools to view the full content (truncated part starts around line 7473).</NOTE>"));
    }

    #[test]
    fn mini_swe_agent_writes_json() {
        let mut c = case("mini-swe-agent/observation", "é😀<a>\n'\u{1}\"\\~ \u{7f}".as_bytes(), &[]);
        c.exit_code = Some(1);
        assert_eq!(
            c.naive().unwrap(),
            "{\n  \"returncode\": 1,\n  \"output\": \"\\u00e9\\ud83d\\ude00\\u003ca\\u003e\\n\\u0027\\u0001\\\"\\\\~ \\u007f\"\n}"
        );
        let out = case("mini-swe-agent/observation", "ab".repeat(5000).as_bytes(), &[]).naive().unwrap();
        assert!(out.ends_with("b\",\n  \"elided_chars\": 0,\n  \"warning\": \"Output too long.\"\n}"));
    }
}
