//! pi as it ships, as written in `agents.md` section 4.
use super::text::*;
use super::{Case, Verdict};

/// What pi's details object calls `truncation`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Truncation {
    pub truncated: bool,
    pub by: Option<&'static str>,
    pub total_lines: usize,
    pub total_bytes: usize,
    pub output_lines: usize,
    pub output_bytes: usize,
    pub last_line_partial: bool,
    pub first_line_exceeds: bool,
}

impl Truncation {
    /// The object's fields as pi names them.
    pub fn json(&self, max_lines: usize, max_bytes: usize) -> serde_json::Value {
        serde_json::json!({
            "truncated": self.truncated,
            "truncatedBy": self.by,
            "totalLines": self.total_lines,
            "totalBytes": self.total_bytes,
            "outputLines": self.output_lines,
            "outputBytes": self.output_bytes,
            "lastLinePartial": self.last_line_partial,
            "firstLineExceedsLimit": self.first_line_exceeds,
            "maxLines": max_lines,
            "maxBytes": max_bytes,
        })
    }
}

/// truncateHead (4.2) over pieces already split; `text` is what they came from.
pub fn head(text: &str, all: &[&str], max_lines: usize, max_bytes: usize) -> (String, Truncation) {
    let mut t = Truncation {
        truncated: false,
        by: None,
        total_lines: all.len(),
        total_bytes: text.len(),
        output_lines: all.len(),
        output_bytes: text.len(),
        last_line_partial: false,
        first_line_exceeds: false,
    };
    if all.len() <= max_lines && text.len() <= max_bytes {
        return (text.to_string(), t);
    }
    t.truncated = true;
    // The first line is looked at before any limit of lines.
    if all.first().is_some_and(|p| p.len() > max_bytes) {
        t.by = Some("bytes");
        t.output_lines = 0;
        t.output_bytes = 0;
        t.first_line_exceeds = true;
        return (String::new(), t);
    }
    t.by = Some("lines");
    let mut taken: Vec<&str> = Vec::new();
    let mut sum = 0;
    for piece in all {
        if taken.len() >= max_lines {
            break;
        }
        let cost = piece.len() + if taken.is_empty() { 0 } else { 1 };
        if sum + cost > max_bytes {
            t.by = Some("bytes");
            break;
        }
        sum += cost;
        taken.push(piece);
    }
    t.output_lines = taken.len();
    t.output_bytes = sum;
    (taken.join("\n"), t)
}

/// truncateTail (4.2).
pub fn tail(text: &str, all: &[&str], max_lines: usize, max_bytes: usize) -> (String, Truncation) {
    let (whole, mut t) = head(text, all, max_lines, max_bytes);
    if !t.truncated {
        return (whole, t);
    }
    t.first_line_exceeds = false;
    t.by = Some("lines");
    let mut taken: Vec<String> = Vec::new();
    let mut sum = 0;
    for piece in all.iter().rev() {
        if taken.len() >= max_lines {
            break;
        }
        let cost = piece.len() + if taken.is_empty() { 0 } else { 1 };
        if sum + cost > max_bytes {
            t.by = Some("bytes");
            if taken.is_empty() {
                let part = last_bytes_from_boundary(piece, max_bytes);
                sum = part.len();
                taken.push(part);
                t.last_line_partial = true;
            }
            break;
        }
        sum += cost;
        taken.insert(0, piece.to_string());
    }
    if taken.len() >= max_lines {
        t.by = Some("lines");
    }
    t.output_lines = taken.len();
    t.output_bytes = sum;
    (taken.join("\n"), t)
}

pub fn read(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 51200));
    let all = pieces(&text);
    let total = all.len();
    let offset = c.num("offset", 1).max(1);
    if offset > total {
        return Err(super::Fault::Error(String::new()));
    }
    let rest = &all[offset - 1..];
    let limit = if c.has("limit") { c.num("limit", 0) } else { rest.len() };
    let window = rest[..limit.min(rest.len())].join("\n");
    // Ambiguous: 4.2 says newer truncateHead drops the empty last piece, 4.5 that T counts it "in
    // all versions". Taken as: the newest form, so the cut does not see the piece and T does.
    let (kept, t) = head(&window, &pieces_without_last_empty(&window), max_lines, max_bytes);
    let size = pi_size(max_bytes);
    if t.first_line_exceeds {
        let line = pi_size(rest[0].len());
        return Ok(format!(
            "[Line {offset} is {line}, exceeds {size} limit. Use bash: sed -n '{offset}p' {} | head -c {max_bytes}]",
            c.path()
        ));
    }
    let b = (offset + t.output_lines) as i64 - 1;
    let next = b + 1;
    Ok(if t.truncated && t.by == Some("bytes") {
        format!(
            "{kept}\n\n[Showing lines {offset}-{b} of {total} ({size} limit). Use offset={next} to continue.]"
        )
    } else if t.truncated {
        format!("{kept}\n\n[Showing lines {offset}-{b} of {total}. Use offset={next} to continue.]")
    } else if limit < rest.len() {
        format!(
            "{kept}\n\n[{} more lines in file. Use offset={} to continue.]",
            rest.len() - limit,
            offset + limit
        )
    } else {
        kept
    })
}

fn status(mut text: String, c: &Case) -> Verdict {
    if c.flag("aborted") {
        text += "\n\nCommand aborted";
    } else if c.num("timeout_s", 0) > 0 {
        text += &format!("\n\nCommand timed out after {} seconds", c.num("timeout_s", 0));
    } else if c.exit_code.unwrap_or(0) != 0 {
        text += &format!("\n\nCommand exited with code {}", c.exit_code.unwrap());
    }
    Ok(text)
}

/// The rolling text of 4.4: trimmed after a read that takes it over four times the limit to twice
/// the limit, at a code point; and a partial first line is dropped at the end.
fn rolling_window(texts: &[String], max_bytes: usize) -> String {
    // With a limit of 0 the window is still one byte: the document leaves it open.
    let roll = (2 * max_bytes).max(1);
    let mut window = String::new();
    let mut at_line_start = true;
    for text in texts {
        window += text;
        if window.len() > 2 * roll {
            let kept = last_bytes_from_boundary(&window, roll);
            let dropped = &window[..window.len() - kept.len()];
            at_line_start = dropped.ends_with('\n');
            window = kept;
        }
    }
    if at_line_start {
        return window;
    }
    match window.find('\n') {
        Some(at) => window[at + 1..].to_string(),
        None => window,
    }
}

pub fn bash(c: &Case) -> Verdict {
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 51200));
    let (mut texts, held) = decode_stream(&c.input, c.num("chunk", 65536));
    if !held.is_empty() {
        texts.push("\u{fffd}".to_string());
    }
    let text = texts.concat();
    let total = pieces_without_last_empty(&text).len();
    let window = rolling_window(&texts, max_bytes);
    let (kept, t) = tail(&window, &pieces_without_last_empty(&window), max_lines, max_bytes);
    let mut out = if kept.is_empty() { "(no output)".to_string() } else { kept };
    if total > max_lines || text.len() > max_bytes {
        let a = total - t.output_lines + 1;
        let by = t.by.unwrap_or(if text.len() > max_bytes { "bytes" } else { "lines" });
        let last = text.rsplit('\n').next().unwrap();
        out += &if t.last_line_partial {
            format!(
                "\n\n[Showing last {} of line {total} (line is {}). Full output: {}]",
                pi_size(t.output_bytes),
                pi_size(last.len()),
                c.path()
            )
        } else if by == "bytes" {
            format!(
                "\n\n[Showing lines {a}-{total} of {total} ({} limit). Full output: {}]",
                pi_size(max_bytes),
                c.path()
            )
        } else {
            format!("\n\n[Showing lines {a}-{total} of {total}. Full output: {}]", c.path())
        };
    }
    status(out, c)
}

pub fn bash_2026_03(c: &Case) -> Verdict {
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 51200));
    let mut reads: Vec<&[u8]> = c.input.chunks(c.num("chunk", 65536)).collect();
    // Dropped as each read comes in; what stays at the end is what counts.
    let mut buffer: Vec<&[u8]> = Vec::new();
    for read in reads.drain(..) {
        buffer.push(read);
        while buffer.iter().map(|r| r.len()).sum::<usize>() > 2 * max_bytes && buffer.len() > 1 {
            buffer.remove(0);
        }
    }
    let window = lossy(&buffer.concat());
    let all = pieces(&window);
    let (kept, t) = tail(&window, &all, max_lines, max_bytes);
    let path = if c.input.len() > max_bytes { c.path() } else { "undefined" };
    let mut out = if kept.is_empty() { "(no output)".to_string() } else { kept };
    if t.truncated {
        let total = all.len();
        let a = total - t.output_lines + 1;
        out += &if t.last_line_partial {
            format!(
                "\n\n[Showing last {} of line {total} (line is {}). Full output: {path}]",
                pi_size(t.output_bytes),
                pi_size(all[total - 1].len())
            )
        } else if t.by == Some("bytes") {
            format!(
                "\n\n[Showing lines {a}-{total} of {total} ({} limit). Full output: {path}]",
                pi_size(max_bytes)
            )
        } else {
            format!("\n\n[Showing lines {a}-{total} of {total}. Full output: {path}]")
        };
    }
    status(out, c)
}

#[cfg(test)]
mod tests {
    use super::super::case;
    use super::*;

    const LINES: &str = "l1\nl2\nl3\nl4\n";

    #[test]
    fn micro_examples_of_the_tail() {
        let (old, t) = tail(LINES, &pieces(LINES), 2, 51200);
        assert_eq!((old.as_str(), t.total_lines, t.output_lines), ("l4\n", 5, 2));
        let (new, t) = tail(LINES, &pieces_without_last_empty(LINES), 2, 51200);
        assert_eq!((new.as_str(), t.total_lines), ("l3\nl4", 4));
        assert_eq!(tail(LINES, &pieces(LINES), 2000, 5).0, "l4\n");
        assert_eq!(tail(LINES, &pieces_without_last_empty(LINES), 2000, 5).0, "l3\nl4");
    }

    #[test]
    fn huge_lines() {
        let huge = "x".repeat(60000) + "\n";
        assert_eq!(
            case("pi-30k/bash", huge.as_bytes(), &[]).naive().unwrap(),
            "\n\n[Showing lines 2-2 of 2 (30KB limit). Full output: /P]"
        );
        let out = case("pi/bash-2026-03", huge.as_bytes(), &[]).naive().unwrap();
        assert_eq!(out, "(no output)\n\n[Showing lines 2-2 of 2 (50.0KB limit). Full output: /P]");
        let out = case("pi/bash", huge.as_bytes(), &[]).naive().unwrap();
        assert!(out.ends_with("x\n\n[Showing last 50.0KB of line 1 (line is 0B). Full output: /P]"));
        let out = case("pi-30k/read", huge.as_bytes(), &[]).naive().unwrap();
        assert_eq!(out, "[Line 1 is 58KB, exceeds 30KB limit. Use bash to read: head -c 30000 /P]");
    }

    #[test]
    fn many_lines() {
        let mut text = String::new();
        for n in 1..=30000 {
            text += &format!("line number {n:>9}\n");
        }
        let out = case("pi/bash", text.as_bytes(), &[]).naive().unwrap();
        assert!(
            out.ends_with("[Showing lines 28001-30000 of 30000. Full output: /P]"),
            "{}",
            &out[out.len() - 90..]
        );
        let out = case("pi/bash-2026-03", "x\n".repeat(2500).as_bytes(), &[]).naive().unwrap();
        assert!(out.ends_with("[Showing lines 502-2501 of 2501. Full output: undefined]"));
    }

    #[test]
    fn grep_notices_in_order() {
        let text = format!("{}\n", "m".repeat(501)).repeat(101);
        let out = case("pi-30k/grep", text.as_bytes(), &[]).naive().unwrap();
        assert!(out.ends_with("\n\n[100 matches limit reached. Use limit=200 for more, or refine pattern]\n\n[30KB limit reached (59 of 100+ matches shown)]\n\n[Some lines truncated to 500 chars. Use read tool to see full lines]"));
    }
}
