//! The basic agent's cuts, as written in `policies-core.md`.
use super::text::*;
use super::{Case, Verdict};

pub fn line_limit(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_lines", 500);
    let all = pieces(&text);
    if all.len() <= max {
        return Ok(text);
    }
    let more = all.len() - max;
    Ok(format!("{}\n\n[... {more} more lines truncated ...]", all[..max].join("\n")))
}

/// First k points, notice, last k points; k = 0 keeps the whole text as the last.
pub fn cut_middle(text: &str, max: usize) -> String {
    let all = points(text);
    if all.len() <= max {
        return text.to_string();
    }
    let k = (max as f64 * 0.45).floor() as usize;
    let first = from_points(&all[..k]);
    let last = if k == 0 { text.to_string() } else { from_points(&all[all.len() - k..]) };
    format!("{first}\n\n[... {} bytes truncated from middle ...]\n\n{last}", all.len() - 2 * k)
}

pub fn middle_out(c: &Case) -> Verdict {
    Ok(cut_middle(&lossy(&c.input), c.num("max_points", 50000)))
}

pub fn byte_limit(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = if c.has("max_tokens") { 4 * c.num("max_tokens", 0) } else { c.num("max_bytes", 40000) };
    if text.len() <= max {
        return Ok(text);
    }
    Ok(cut_middle(&text, max))
}

pub fn metadata(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_points", 50000);
    if point_len(&text) <= max {
        return Ok(text);
    }
    let m = cut_middle(&text, max);
    Ok(format!(
        "{m}\n[Output truncated: {} bytes -> {} bytes]\n[To see full output, write to a file and read specific sections]\n",
        point_len(&text),
        point_len(&m)
    ))
}

pub fn stdout_stderr(c: &Case) -> Verdict {
    let mut out = cut_middle(&lossy(&c.input), c.num("max_points", 30000));
    let err = lossy(c.stderr.as_deref().unwrap_or_default());
    if !err.is_empty() {
        out += &format!("\n\n[STDERR]\n{err}");
    }
    Ok(out)
}

/// Both halves of the limit, drawn in to whole characters and then to the nearest line feed of their outer half.
pub fn shell(c: &Case) -> Verdict {
    let (s, max) = (&c.input, c.num("max_bytes", 30000));
    if s.len() <= max {
        return Ok(lossy(s));
    }
    let is_start = |at: &usize| s.get(*at).is_none_or(|byte| !(0x80..0xC0).contains(byte));
    let (half, rest) = (max / 2, max - max / 2);
    let head = (0..=half).rev().find(is_start).unwrap_or(0);
    let tail = (s.len() - rest..=s.len()).find(is_start).unwrap();
    let head = (half / 2 + 1..head).rev().find(|at| s[*at] == b'\n').unwrap_or(head);
    let near = s.len().min(tail + rest / 2);
    let tail = (tail..near).find(|at| s[*at] == b'\n').map_or(tail, |at| at + 1);
    let notice = format!("[... {} bytes left out; full output: {} ...]", tail - head, c.path());
    Ok(format!("{}\n\n{notice}\n\n{}", lossy(&s[..head]), lossy(&s[tail..])))
}

pub fn smart(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let middle = c.num("middle_points", 50000);
    Ok(match c.word("tool", "").as_str() {
        "shell" | "shell_command" => smart_shell(&text, middle, c),
        "file" | "read_file" => smart_file(&text, c),
        "grep" | "grep_files" => smart_grep(&text, c),
        _ => cut_middle(&text, c.num("max_size", 50000)),
    })
}

fn is_error(piece: &str) -> bool {
    let low = piece.to_ascii_lowercase();
    low.contains("error") || low.contains("failed")
}

fn smart_shell(text: &str, middle: usize, c: &Case) -> String {
    let all = pieces(text);
    if !all.iter().any(|p| is_error(p)) {
        return cut_middle(text, middle);
    }
    let (max_lines, max_bytes) = (c.num("max_lines", 500), c.num("max_size", 51200));
    let fits = |t: &str| pieces(t).len() <= max_lines && t.len() <= max_bytes;
    if fits(text) {
        return text.to_string();
    }
    let last20 = all.len().saturating_sub(20);
    let mut wanted = vec![false; all.len()];
    for (i, piece) in all.iter().enumerate() {
        if is_error(piece) {
            wanted[i.saturating_sub(3)..(i + 4).min(all.len())].fill(true);
        }
        if i >= last20 {
            wanted[i] = true;
        }
    }
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for (i, want) in wanted.iter().enumerate() {
        if !want {
            continue;
        }
        match ranges.last_mut() {
            Some(r) if r.1 == i => r.1 = i + 1,
            _ => ranges.push((i, i + 1)),
        }
    }
    if fits(&join_ranges(&all, &ranges)) {
        return join_ranges(&all, &ranges);
    }
    let mut chosen = vec![ranges.pop().unwrap()];
    if !fits(&join_ranges(&all, &chosen)) {
        return cut_middle(&all[last20..].join("\n"), middle);
    }
    let mut from_front = true;
    while !ranges.is_empty() {
        let next = if from_front { ranges.remove(0) } else { ranges.pop().unwrap() };
        from_front = !from_front;
        let mut trial = chosen.clone();
        trial.push(next);
        trial.sort();
        if !fits(&join_ranges(&all, &trial)) {
            break;
        }
        chosen = trial;
    }
    join_ranges(&all, &chosen)
}

/// Kept ranges in order, each gap before one being a piece of its own.
fn join_ranges(all: &[&str], ranges: &[(usize, usize)]) -> String {
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    for (start, end) in ranges {
        if *start > at {
            out.push(format!("[... {} lines omitted ...]", start - at));
        }
        out.extend(all[*start..*end].iter().map(|p| p.to_string()));
        at = *end;
    }
    out.join("\n")
}

fn smart_file(text: &str, c: &Case) -> String {
    let (first, last) = (c.num("head_lines", 100), c.num("tail_lines", 100));
    let all = pieces(text);
    if all.len() <= first + last {
        return text.to_string();
    }
    format!(
        "{}\n\n[... {} lines omitted ...]\n\n{}",
        all[..first].join("\n"),
        all.len() - first - last,
        all[all.len() - last..].join("\n")
    )
}

fn smart_grep(text: &str, c: &Case) -> String {
    let (max_lines, max_bytes) = (c.num("max_lines", 200), c.num("max_size", 20480));
    let all = pieces(text);
    let kept = take_whole(&all, max_lines, max_bytes);
    if kept.len() == all.len() {
        return text.to_string();
    }
    let dropped = all.len() - kept.len();
    format!("{}\n\n[... {dropped} more matches truncated ...]", kept.join("\n"))
}

/// Whole pieces from the start within both limits; +1 for each joining LF.
fn take_whole<'a>(all: &[&'a str], max_lines: usize, max_bytes: usize) -> Vec<&'a str> {
    let mut kept: Vec<&str> = Vec::new();
    let mut sum = 0;
    for piece in all {
        let cost = piece.len() + if kept.is_empty() { 0 } else { 1 };
        if kept.len() >= max_lines || sum + cost > max_bytes {
            break;
        }
        sum += cost;
        kept.push(piece);
    }
    kept
}

pub fn recommended(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let tool = c.word("tool", "shell");
    let (bytes, lines) = match tool.as_str() {
        "shell" => (51200, 500),
        "read" => (40960, 400),
        "grep" => (20480, 200),
        "list" | "error" => (10240, 100),
        other => panic!("no such tool: {other}"),
    };
    let (max_lines, max_bytes) = (c.num("max_lines", lines), c.num("max_bytes", bytes));
    let body = text.strip_suffix('\n').unwrap_or(&text);
    let mut all = pieces(body);
    if all.len() <= max_lines && body.len() <= max_bytes {
        return Ok(text);
    }
    let tail = tool == "shell" || tool == "error";
    if tail {
        all.reverse();
    }
    let mut kept = take_whole(&all, max_lines, max_bytes);
    let mut left_out = all.len() - kept.len();
    // The first piece to be taken is over the byte limit alone. Ambiguous: with a limit of 0 lines
    // no piece is to be taken, so none is cut either.
    let oversize = max_lines > 0 && all[0].len() > max_bytes;
    if tail {
        kept.reverse();
    }
    let mut out = kept.join("\n");
    if oversize {
        left_out = all.len() - 1;
        let line = all[0];
        let part = if tail { suffix_bytes(line, max_bytes) } else { prefix_bytes(line, max_bytes) };
        let notice = format!("[... {} bytes of this line truncated ...]", line.len() - part.len());
        out = if tail { format!("{notice} {part}") } else { format!("{part} {notice}") };
    }
    if left_out == 0 {
        return Ok(out);
    }
    Ok(if tail {
        format!("[... {left_out} earlier lines truncated ...]\n\n{out}")
    } else {
        format!("{out}\n\n[... {left_out} more lines truncated ...]")
    })
}

#[cfg(test)]
mod tests {
    use super::super::case;

    #[test]
    fn fifteen_thousand_wide_characters_come_back_unchanged() {
        let text = "漢".repeat(15000);
        assert_eq!(case("basic/byte-limit", text.as_bytes(), &[]).naive().unwrap(), text);
    }

    #[test]
    fn a_middle_of_nothing_keeps_the_whole_text() {
        let out = case("basic/middle-out", b"abcde", &[("max_points", "2")]).naive().unwrap();
        assert_eq!(out, "\n\n[... 5 bytes truncated from middle ...]\n\nabcde");
        let out = case("basic/middle-out", b"abcdef", &[("max_points", "5")]).naive().unwrap();
        assert_eq!(out, "ab\n\n[... 2 bytes truncated from middle ...]\n\nef");
    }

    #[test]
    fn recommended_cuts_one_long_line() {
        let sets = [("tool", "read"), ("max_bytes", "4")];
        let out = case("basic/recommended", "aé漢b\nx\n".as_bytes(), &sets).naive().unwrap();
        assert_eq!(out, "aé [... 4 bytes of this line truncated ...]\n\n[... 1 more lines truncated ...]");
        let sets = [("tool", "error"), ("max_bytes", "4")];
        let out = case("basic/recommended", "aé漢b\n".as_bytes(), &sets).naive().unwrap();
        assert_eq!(out, "[... 3 bytes of this line truncated ...] 漢b");
    }

    #[test]
    fn smart_shell_marks_gaps_and_keeps_the_tail_range() {
        let mut text = String::new();
        for n in 0..600 {
            text += &if n == 10 { "an ERROR\n".to_string() } else { format!("{n}\n") };
        }
        let out = case("basic/smart", text.as_bytes(), &[("tool", "shell")]).naive().unwrap();
        assert!(out.starts_with(
            "[... 7 lines omitted ...]\n7\n8\n9\nan ERROR\n11\n12\n13\n[... 567 lines omitted ...]\n581\n"
        ));
        assert!(out.ends_with("\n599\n"));
    }
}
