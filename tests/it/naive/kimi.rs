//! Kimi Code's Bash, as in `agents-2026-11.md` C.4; what it leaves open is as in the package 2.1.0.
use super::text::*;
use super::{Case, Verdict};

/// Lines with their breaks: CRLF, CR or LF.
fn lines(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut line = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        line.push(c);
        if c == '\n' || c == '\r' && chars.peek() != Some(&'\n') {
            all.push(std::mem::take(&mut line));
        }
    }
    if !line.is_empty() {
        all.push(line);
    }
    all
}

/// Every line within so many units, its break counted.
fn shaped(text: &str, max: usize) -> String {
    let mut out = String::new();
    for line in lines(text) {
        if unit_len(&line) <= max {
            out += &line;
            continue;
        }
        let ending = &line[line.trim_end_matches(['\r', '\n']).len()..];
        let marker = format!("[...truncated]{ending}");
        let keep = max.max(marker.len()) - marker.len();
        out += &first_units(&line, keep);
        out += &marker;
    }
    out
}

/// The first and the last units of a text, and between which places they stand.
fn preview(text: &str, head: usize, tail: usize) -> String {
    let all = units(text);
    let n = all.len();
    let head = head.min(n);
    let start = n.saturating_sub(tail).max(head);
    let mut out = format!("\n\n[preview: chars [0, {head})]\n{}", from_units(&all[..head]));
    if start < n {
        if start > head {
            out += &format!("\n\n[elided: chars [{head}, {start})]");
        }
        out += &format!("\n\n[preview: chars [{start}, {n})]\n{}", from_units(&all[start..]));
    }
    out
}

fn with_line_feed(text: &str) -> String {
    if text.ends_with('\n') || text.is_empty() { text.to_string() } else { format!("{text}\n") }
}

/// What the tool knows of its own result: its task, unless the output was small.
fn suffix(t: &str, failed: bool, c: &Case) -> String {
    let task = c.word("task_id", "TASK");
    let first = if failed { "" } else { "Command executed successfully.\n" };
    format!(
        "{first}task_id: {task}\noutput_size_bytes: {}\nnext_step: Use TaskOutput(task_id=\"{task}\") to query the task output.",
        t.len()
    )
}

/// The suffix below shortened lines: without those of its lines that the text above has already.
fn suffix_below(suffix: &str, text: &str) -> String {
    suffix.lines().filter(|line| !text.contains(line)).collect::<Vec<_>>().join("\n")
}

const NEXT: &str =
    "next_step: Use Read with output_path to page through the saved output, or Grep to search it.";

fn result(t: &str, x: i32, c: &Case) -> String {
    let max = c.num("max_units", 50000);
    let failed = x != 0;
    let text = if failed {
        let said = if t.is_empty() { format!("Process exited with code {x}") } else { t.to_string() };
        format!("{}Command failed with exit code: {x}.", with_line_feed(&said))
    } else if t.is_empty() {
        "Command executed successfully.".to_string()
    } else {
        t.to_string()
    };
    if unit_len(&text) <= max {
        let blank = js_trim(&text).is_empty();
        return if blank { "<system>Tool output is empty.</system>".to_string() } else { text };
    }
    // The last line alone took it over the limit: then the whole text is saved, as any other tool's.
    let by_task = unit_len(t) > max;
    let s = if by_task { suffix(t, failed, c) } else { String::new() };
    let short = shaped(&text, c.num("line_units", 2000));
    if unit_len(&short) <= max {
        let below = suffix_below(&s, &short);
        let gap = if below.is_empty() { "" } else { "\n\n" };
        return format!(
            "{}[Per-line truncation occurred; the complete output was saved to a file.\noutput_path: {}\n{NEXT}]{gap}{below}",
            with_line_feed(&short),
            c.path()
        );
    }
    let size = unit_len(if by_task { t } else { &text });
    let bytes =
        if size == unit_len(&text) { format!("output_size_bytes: {}\n", text.len()) } else { String::new() };
    let gap = if s.is_empty() { "" } else { "\n\n" };
    format!(
        "Tool output exceeded {max} characters; the full output was saved to a file.\ntool_name: Bash\ntool_call_id: {}\noutput_size_chars: {size}\n{bytes}output_path: {}\n{NEXT}{}{gap}{s}",
        c.word("call_id", "CALL"),
        c.path(),
        preview(&text, c.num("head_units", 4096), c.num("tail_units", 1024))
    )
}

pub fn bash(c: &Case) -> Verdict {
    let x = c.exit_code.unwrap_or(0);
    let mut out = result(&lossy(&c.input), x, c);
    if x != 0 {
        out = format!("<system>ERROR: Tool execution failed.</system>\n{out}");
    }
    let seconds = c.word("wall_seconds", "");
    if !seconds.is_empty() {
        out = format!("Wall time: {seconds} seconds\n{out}");
    }
    Ok(out)
}

/// Any other tool's result, as that of an MCP server: the same header, with both sizes, and nothing after the previews.
pub fn tool(c: &Case) -> Verdict {
    let (t, max) = (lossy(&c.input), c.num("max_units", 50000));
    let failed = c.flag("failed");
    let short = shaped(&t, c.num("line_units", 2000));
    let text = if unit_len(&t) <= max {
        // Ambiguous: a failed tool's text of blanks alone is taken as a text.
        match js_trim(&t) {
            _ if failed && t.is_empty() => String::new(),
            "" | "Tool output is empty." if !failed => "<system>Tool output is empty.</system>".to_string(),
            _ => t,
        }
    } else if unit_len(&short) <= max {
        format!(
            "{}[Per-line truncation occurred; the complete output was saved to a file.\noutput_path: {}\n{NEXT}]",
            with_line_feed(&short),
            c.path()
        )
    } else {
        format!(
            "Tool output exceeded {max} characters; the full output was saved to a file.\ntool_name: {}\ntool_call_id: {}\noutput_size_chars: {}\noutput_size_bytes: {}\noutput_path: {}\n{NEXT}{}",
            c.word("tool_name", "TOOL"),
            c.word("call_id", "CALL"),
            unit_len(&t),
            t.len(),
            c.path(),
            preview(&t, c.num("head_units", 4096), c.num("tail_units", 1024))
        )
    };
    let status = match (failed, text.is_empty()) {
        (true, true) => "<system>ERROR: Tool execution failed. Tool output is empty.</system>",
        (true, false) => "<system>ERROR: Tool execution failed.</system>\n",
        (false, _) => "",
    };
    let seconds = c.word("wall_seconds", "");
    let wall = if seconds.is_empty() { String::new() } else { format!("Wall time: {seconds} seconds\n") };
    Ok(format!("{wall}{status}{text}"))
}

#[cfg(test)]
mod tests {
    use super::super::case;
    use super::*;

    #[test]
    fn small_outputs() {
        let run = |input: &[u8]| case("kimi-code/bash", input, &[]).naive().unwrap();
        assert_eq!(run(b""), "Command executed successfully.");
        assert_eq!(run(b" \n"), "<system>Tool output is empty.</system>");
        let mut failed = case("kimi-code/bash", b"", &[("wall_seconds", "0.034")]);
        failed.exit_code = Some(3);
        assert_eq!(
            failed.naive().unwrap(),
            "Wall time: 0.034 seconds\n<system>ERROR: Tool execution failed.</system>\nProcess exited with code 3\nCommand failed with exit code: 3."
        );
    }

    #[test]
    fn lines_are_cut_with_their_breaks() {
        assert_eq!(lines("a\r\nb\rc\n\nd"), ["a\r\n", "b\r", "c\n", "\n", "d"]);
        assert_eq!(shaped(&format!("{}\r\nb", "y".repeat(19)), 20), "yyyy[...truncated]\r\nb");
        assert_eq!(shaped(&"y".repeat(20), 20), "y".repeat(20));
    }

    #[test]
    fn long_lines_alone_keep_the_rest_whole() {
        let text = format!("{}\nend", "y".repeat(60000));
        let out = case("kimi-code/bash", text.as_bytes(), &[]).naive().unwrap();
        let start = format!("{}[...truncated]\nend\n[Per-line truncation occurred; ", "y".repeat(1985));
        assert!(out.starts_with(&start));
        assert!(out.ends_with("search it.]\n\nCommand executed successfully.\ntask_id: TASK\noutput_size_bytes: 60004\nnext_step: Use TaskOutput(task_id=\"TASK\") to query the task output."));
    }
}
