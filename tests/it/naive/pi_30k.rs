//! pi's read and bash in the design document's form (`policies-core.md`, 30 KB).
use super::pi::{Truncation, head, tail};
use super::text::*;
use super::{Case, Verdict};
use serde_json::{Value, json};

pub fn whole_kb(n: usize) -> String {
    format!("{}KB", n / 1024)
}

pub fn read(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 30720));
    let all = pieces(&text);
    let total = all.len();
    let offset = c.num("offset", 1).max(1);
    if offset > total {
        // Ambiguous: the error's text is not in the document.
        return Err(super::Fault::Error(String::new()));
    }
    let rest = &all[offset - 1..];
    let limit = if c.has("limit") { c.num("limit", 0) } else { rest.len() };
    let window = &rest[..limit.min(rest.len())];
    // "A window cut by the caller's own limit counts as the piece limit", so the smaller is in force.
    let (kept, t) = head(&window.join("\n"), window, max_lines, max_bytes);
    let size = whole_kb(max_bytes);
    if t.first_line_exceeds {
        let line = whole_kb(window[0].len());
        // "Notices after two LFs ... no text": taken as the notice alone, as in the design document.
        return Ok(if offset == 1 {
            format!("[Line 1 is {line}, exceeds {size} limit. Use bash to read: head -c 30000 {}]", c.path())
        } else {
            format!(
                "[Line {offset} is {line}, exceeds {size} limit. Use bash: sed -n '{offset}p' {} | head -c 30000]",
                c.path()
            )
        });
    }
    let (a, b) = (offset, offset + t.output_lines);
    let b = b as i64 - 1;
    let next = b + 1;
    Ok(if t.by == Some("bytes") {
        format!("{kept}\n\n[Showing lines {a}-{b} of {total} ({size} limit). Use offset={next} to continue]")
    } else if t.truncated || window.len() < rest.len() {
        format!("{kept}\n\n[Showing lines {a}-{b} of {total}. Use offset={next} to continue]")
    } else {
        kept
    })
}

pub fn bash(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 30720));
    let all = pieces(&text);
    let (kept, t) = tail(&text, &all, max_lines, max_bytes);
    if !t.truncated {
        // Ambiguous: whether an empty output gives `(no output)`; the document only says that a cut
        // one does not. Taken as unchanged.
        return Ok(text);
    }
    let total = all.len();
    let a = total - t.output_lines + 1;
    let size = whole_kb(max_bytes);
    Ok(if t.last_line_partial {
        let line = whole_kb(all[total - 1].len());
        format!("{kept}\n\n[Showing last {size} of line {total} (line is {line}). Full output: {}]", c.path())
    } else if t.by == Some("bytes") {
        format!("{kept}\n\n[Showing lines {a}-{total} of {total} ({size} limit). Full output: {}]", c.path())
    } else {
        format!("{kept}\n\n[Showing lines {a}-{total} of {total}. Full output: {}]", c.path())
    })
}

fn details(t: Truncation, path: Option<&str>, c: &Case) -> Value {
    if !t.truncated {
        return Value::Null;
    }
    let mut out = json!({ "truncation": t.json(c.num("max_lines", 2000), c.num("max_bytes", 30720)) });
    if let Some(path) = path {
        out["fullOutputPath"] = json!(path);
    }
    out
}

/// read's details, for a whole file.
pub fn read_details(c: &Case) -> Value {
    let text = lossy(&c.input);
    let (_, t) = head(&text, &pieces(&text), c.num("max_lines", 2000), c.num("max_bytes", 30720));
    details(t, None, c)
}

/// bash's details.
pub fn bash_details(c: &Case) -> Value {
    let text = lossy(&c.input);
    let (_, mut t) = tail(&text, &pieces(&text), c.num("max_lines", 2000), c.num("max_bytes", 30720));
    // Ambiguous: with one line allowed and only a part of it shown, pi as it ships says `lines`
    // (agents.md 4.2), and its own design says `bytes`.
    if t.last_line_partial {
        t.by = Some("bytes");
    }
    details(t, Some(c.path()), c)
}
