//! pi's grep, find and ls, in both forms: the first so many lines, then whole lines within the bytes.
use super::pi::Truncation;
use super::pi_30k::whole_kb;
use super::text::*;
use super::{Case, Verdict};
use serde_json::{Value, json};

/// What grep, find and ls have in common: the first n lines, then whole lines within the bytes.
struct Listing {
    unchanged: bool,
    kept: String,
    shown: usize,
    /// The lines there were within the limit of matches, and the bytes of them joined.
    lines: usize,
    bytes: usize,
    limit: usize,
    limit_reached: bool,
    bytes_reached: bool,
    lines_cut: bool,
}

fn listing(text: &str, limit: usize, max_bytes: usize, line_cap: Option<usize>) -> Listing {
    let all = pieces_without_last_empty(text);
    // Ambiguous: at exactly the limit, is it "reached"? Taken as: only when something is left out.
    let limit_reached = all.len() > limit;
    let mut lines_cut = false;
    let mut lines: Vec<String> = Vec::new();
    for line in all.iter().take(limit) {
        match line_cap {
            Some(cap) if unit_len(line) > cap => {
                lines_cut = true;
                lines.push(first_units(line, cap) + "... [truncated]");
            }
            _ => lines.push(line.to_string()),
        }
    }
    let mut taken: Vec<&str> = Vec::new();
    let mut sum = 0;
    let mut bytes_reached = false;
    for line in &lines {
        let cost = line.len() + if taken.is_empty() { 0 } else { 1 };
        if sum + cost > max_bytes {
            bytes_reached = true;
            break;
        }
        sum += cost;
        taken.push(line);
    }
    Listing {
        // Ambiguous: whether an output that nothing is cut from loses its final LF. Taken as not.
        unchanged: !limit_reached && !lines_cut && !bytes_reached,
        kept: taken.join("\n"),
        shown: taken.len(),
        lines: lines.len(),
        bytes: lines.join("\n").len(),
        limit,
        limit_reached,
        bytes_reached,
        lines_cut,
    }
}

/// The details: each limit that applied. Of the bytes' `truncation` only what the documents settle:
/// they do not say whether it has a limit of lines too, so the engine's is taken as it is.
pub fn details_30k(c: &Case, limit: usize, reached: &str, line_cap: Option<usize>) -> Value {
    let text = lossy(&c.input);
    let max = c.num("max_bytes", 30720);
    let l = listing(&text, c.num("limit", limit), max, line_cap);
    let mut out = serde_json::Map::new();
    if l.bytes_reached {
        let t = Truncation {
            truncated: true,
            by: Some("bytes"),
            total_lines: l.lines,
            total_bytes: l.bytes,
            output_lines: l.shown,
            output_bytes: l.kept.len(),
            last_line_partial: false,
            first_line_exceeds: l.shown == 0,
        };
        out.insert("truncation".to_string(), t.json(9007199254740991, max));
    }
    if l.limit_reached {
        out.insert(reached.to_string(), json!(l.limit));
    }
    if l.lines_cut {
        out.insert("linesTruncated".to_string(), json!(true));
    }
    if out.is_empty() { Value::Null } else { Value::Object(out) }
}

fn notes(l: &Listing, what: &str, more: &str, bytes_note: String) -> Vec<String> {
    let mut out = Vec::new();
    if l.limit_reached {
        out.push(format!("{} {what} limit reached. Use limit={} for more{more}", l.limit, 2 * l.limit));
    }
    if l.bytes_reached {
        out.push(bytes_note);
    }
    if l.lines_cut {
        out.push("Some lines truncated to 500 chars. Use read tool to see full lines".to_string());
    }
    out
}

fn each_its_own(text: String, l: Listing, notes: Vec<String>) -> Verdict {
    if l.unchanged {
        return Ok(text);
    }
    let mut out = l.kept;
    for note in notes {
        out += &format!("\n\n[{note}]");
    }
    Ok(out)
}

fn in_one(text: String, l: Listing, notes: Vec<String>) -> Verdict {
    if l.unchanged {
        return Ok(text);
    }
    Ok(format!("{}\n\n[{}]", l.kept, notes.join(". ")))
}

const REFINE: &str = ", or refine pattern";

pub fn grep_30k(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_bytes", 30720);
    let l = listing(&text, c.num("limit", 100), max, Some(c.num("line_units", 500)));
    // Ambiguous: {N} in `{shown} of {N}+` is taken as the limit in force, as in the first notice.
    let bytes = format!("{} limit reached ({} of {}+ matches shown)", whole_kb(max), l.shown, l.limit);
    let all = notes(&l, "matches", REFINE, bytes);
    each_its_own(text, l, all)
}

pub fn find_30k(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_bytes", 30720);
    let l = listing(&text, c.num("limit", 1000), max, None);
    let all = notes(&l, "results", REFINE, format!("{} limit reached", whole_kb(max)));
    each_its_own(text, l, all)
}

pub fn ls_30k(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_bytes", 30720);
    let l = listing(&text, c.num("limit", 500), max, None);
    let all = notes(&l, "entries", "", format!("{} limit reached", whole_kb(max)));
    each_its_own(text, l, all)
}

fn or_none(text: String, l: Listing, notes: Vec<String>, none: &str) -> Verdict {
    if text.is_empty() {
        return Ok(none.to_string());
    }
    in_one(text, l, notes)
}

pub fn grep(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_bytes", 51200);
    let l = listing(&text, c.num("limit", 100), max, Some(c.num("line_units", 500)));
    let all = notes(&l, "matches", REFINE, format!("{} limit reached", pi_size(max)));
    or_none(text, l, all, "No matches found")
}

pub fn find(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_bytes", 51200);
    let l = listing(&text, c.num("limit", 1000), max, None);
    let all = notes(&l, "results", REFINE, format!("{} limit reached", pi_size(max)));
    or_none(text, l, all, "No files found matching pattern")
}

pub fn ls(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_bytes", 51200);
    let l = listing(&text, c.num("limit", 500), max, None);
    let all = notes(&l, "entries", "", format!("{} limit reached", pi_size(max)));
    or_none(text, l, all, "(empty directory)")
}
