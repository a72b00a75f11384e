//! pi's grep, find and ls, in both forms: the first so many lines, then whole lines within the bytes.
use super::pi::Truncation;
use super::pi_30k::whole_kb;
use super::text::*;
use super::{Case, Verdict};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// What becomes of one row, and whether that is less than all of it.
type RowCut = fn(&str, usize) -> (String, bool);

/// The design document's: the first so many units of the whole row.
fn cut_row(row: &str, cap: usize) -> (String, bool) {
    if unit_len(row) <= cap {
        return (row.to_string(), false);
    }
    (first_units(row, cap) + "... [truncated]", true)
}

static PLACE: LazyLock<regex::Regex> =
    LazyLock::new(|| regex::Regex::new("^(.+?)(?::([0-9]+): |-([0-9]+)- )").unwrap());

/// As it ships: the first so many units of the match's text, which comes after its place. A row
/// without a place is all text. Ambiguous: a path that itself looks like a place ends at the first.
fn cut_match(row: &str, cap: usize) -> (String, bool) {
    let at = PLACE.find(row).map_or(0, |m| m.end());
    let (place, mut text) = row.split_at(at);
    // The tool's own search drops a BOM of line 1.
    if PLACE.captures(row).is_some_and(|c| c.get(2).or(c.get(3)).unwrap().as_str() == "1") {
        text = text.strip_prefix('\u{feff}').unwrap_or(text);
    }
    let mut kept = units(text);
    if kept.len() <= cap {
        return (format!("{place}{text}"), false);
    }
    kept.truncate(cap);
    drop_half_at_end(&mut kept);
    (format!("{place}{}... [truncated]", from_units(&kept)), true)
}

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

fn listing(text: &str, limit: usize, max_bytes: usize, line_cap: Option<(RowCut, usize)>) -> Listing {
    let all = pieces_without_last_empty(text);
    // Ambiguous: at exactly the limit, is it "reached"? Taken as: only when something is left out.
    let limit_reached = all.len() > limit;
    let mut lines_cut = false;
    let mut lines: Vec<String> = Vec::new();
    for line in all.iter().take(limit) {
        match line_cap {
            Some((cut_to, cap)) => {
                let (row, cut) = cut_to(line, cap);
                lines_cut |= cut;
                lines.push(row);
            }
            None => lines.push(line.to_string()),
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
    let l = listing(&text, c.num("limit", limit), max, line_cap.map(|cap| (cut_row as RowCut, cap)));
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

const REFINE: &str = ", or refine pattern";

pub fn grep_30k(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_bytes", 30720);
    let cap = c.num("line_units", 500);
    let l = listing(&text, c.num("limit", 100), max, Some((cut_row, cap)));
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

/// As it ships: one bracket for all notices, and never a final line feed (1.5.2 joins the rows; the
/// document says so of find and ls alone).
fn or_none(text: String, l: Listing, notes: Vec<String>, none: &str) -> Verdict {
    if text.is_empty() {
        return Ok(none.to_string());
    }
    if notes.is_empty() {
        return Ok(l.kept);
    }
    Ok(format!("{}\n\n[{}]", l.kept, notes.join(". ")))
}

/// Limits below 1 are 1.
fn limit(c: &Case, default: usize) -> usize {
    c.num("limit", default).max(1)
}

pub fn grep(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let (max, cap) = (c.num("max_bytes", 51200), c.num("line_units", 500));
    let l = listing(&text, limit(c, 100), max, Some((cut_match, cap)));
    let all = notes(&l, "matches", REFINE, format!("{} limit reached", pi_size(max)));
    or_none(text, l, all, "No matches found")
}

pub fn find(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_bytes", 51200);
    let l = listing(&text, limit(c, 1000), max, None);
    let all = notes(&l, "results", REFINE, format!("{} limit reached", pi_size(max)));
    or_none(text, l, all, "No files found matching pattern")
}

pub fn ls(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_bytes", 51200);
    let l = listing(&text, limit(c, 500), max, None);
    let all = notes(&l, "entries", "", format!("{} limit reached", pi_size(max)));
    or_none(text, l, all, "(empty directory)")
}

#[cfg(test)]
mod tests {
    use super::super::case;
    use super::*;

    #[test]
    fn the_place_of_a_match_is_not_counted() {
        assert_eq!(cut_match("a.c:12: abcd", 3), ("a.c:12: abc... [truncated]".to_string(), true));
        assert_eq!(cut_match("a-b-7- ab", 3), ("a-b-7- ab".to_string(), false));
        assert_eq!(cut_match("plain", 3), ("pla... [truncated]".to_string(), true));
        assert_eq!(cut_match("p:1: ab😀", 3), ("p:1: ab... [truncated]".to_string(), true));
        assert_eq!(cut_match("p:1: \u{feff}abc", 3), ("p:1: abc".to_string(), false));
        assert_eq!(cut_match("p:2: \u{feff}abc", 4), ("p:2: \u{feff}abc".to_string(), false));
    }

    #[test]
    fn no_final_line_feed_as_it_ships() {
        assert_eq!(case("pi/find", b"a\nb\n", &[]).naive().unwrap(), "a\nb");
        assert_eq!(
            case("pi/ls", b"a\nb\n", &[("limit", "0")]).naive().unwrap(),
            "a\n\n[1 entries limit reached. Use limit=2 for more]"
        );
    }
}
