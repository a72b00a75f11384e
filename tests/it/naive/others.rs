//! codex, gemini-cli, qwen-code, crush, goose and kimi, as in `agents.md` 5 to 11.
use super::text::*;
use super::{Case, Verdict};
use std::sync::LazyLock;

/// codex's middle cut: the text around the marker, and how many code points are gone.
fn codex_middle(text: &str, budget: usize) -> (String, String, usize) {
    let left = budget / 2;
    let right = budget - left;
    let prefix = prefix_bytes(text, left);
    let suffix = suffix_bytes(text, right);
    let removed = point_len(text) - point_len(&prefix) - point_len(&suffix);
    (prefix, suffix, removed)
}

/// The collector: 512 KiB of head and of tail, and a line that says how much fell out between.
fn codex_collect(bytes: &[u8]) -> (String, Option<usize>) {
    let keep = 512 * 1024;
    if bytes.len() <= 2 * keep {
        return (lossy(bytes), None);
    }
    let omitted = bytes.len() - 2 * keep;
    let mut all = bytes[..keep].to_vec();
    all.extend_from_slice(format!("\n... {omitted} bytes omitted ...\n").as_bytes());
    all.extend_from_slice(&bytes[bytes.len() - keep..]);
    (lossy(&all), Some(omitted))
}

fn codex(c: &Case, budget: usize, by_tokens: bool) -> Verdict {
    let (text, omitted) = codex_collect(&c.input);
    if text.len() <= budget {
        return Ok(text);
    }
    let (prefix, suffix, removed) = codex_middle(&text, budget);
    let middle = if by_tokens {
        format!("{prefix}…{} tokens truncated…{suffix}", (text.len() - budget).div_ceil(4))
    } else {
        format!("{prefix}…{removed} chars truncated…{suffix}")
    };
    // Ambiguous: the Warning's count is taken as the decoded text's tokens; only where the collector
    // dropped bytes as those of all raw bytes ("incl. dropped ones").
    if let Some(n) = omitted {
        let t = c.input.len().div_ceil(4);
        let line = format!("\n... {n} bytes omitted ...\n");
        if !middle.contains(&line) {
            return Ok(format!(
                "Warning: truncated output (original token count: {t})\n... {n} bytes omitted ...\n\n{middle}"
            ));
        }
        return Ok(format!(
            "Warning: truncated output (original token count: {t})\nTotal output lines: {}\n\n{middle}",
            text.lines().count()
        ));
    }
    Ok(format!(
        "Warning: truncated output (original token count: {})\nTotal output lines: {}\n\n{middle}",
        text.len().div_ceil(4),
        text.lines().count()
    ))
}

pub fn codex_exec(c: &Case) -> Verdict {
    codex(c, 4 * c.num("max_tokens", 10000), true)
}

pub fn codex_exec_bytes(c: &Case) -> Verdict {
    codex(c, c.num("max_bytes", 10000), false)
}

/// What a script's tool gives: over 1 MiB both ends stand together, and every figure is of those.
pub fn codex_code_mode(c: &Case) -> Verdict {
    let keep = 512 * 1024;
    let mut bytes = c.input.clone();
    let mut between = String::new();
    if bytes.len() > 2 * keep {
        let line = format!("\n... {} bytes omitted ...\n", bytes.len() - 2 * keep);
        between = format!(
            "\n\n[Code Mode session output limit reached: omitted {} text bytes; discarded 0 text segments, 0 images, 0 audio items]\n\n",
            line.len()
        );
        // Ambiguous: both ends are taken to be joined as bytes, before they are decoded, and nothing to stand
        // between them where the joined text is within the budget.
        bytes.drain(keep..bytes.len() - keep);
    }
    let (text, budget) = (lossy(&bytes), 4 * c.num("max_tokens", 10000));
    let seconds = c.word("wall_seconds", "");
    // Ambiguous: what is left of the first part where the wall time is not given; taken as its other
    // lines. The two are content blocks, which the text form joins by an empty line.
    let wall = if seconds.is_empty() { String::new() } else { format!("Wall time {seconds} seconds\n") };
    let first = format!("Script completed\n{wall}Output:\n\n\n");
    if text.len() <= budget {
        return Ok(first + &text);
    }
    let (prefix, suffix, _) = codex_middle(&text, budget);
    Ok(format!(
        "{first}Warning: truncated output (original token count: {})\nTotal output lines: {}\n\n{prefix}…{} tokens truncated…{between}{suffix}",
        text.len().div_ceil(4),
        text.lines().count(),
        (text.len() - budget).div_ceil(4)
    ))
}

pub fn gemini(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let limit = c.num("max_units", 40000);
    let all = units(&text);
    if limit == 0 || all.len() <= limit {
        return Ok(text);
    }
    let head = (0.2 * limit as f64).floor() as usize;
    let tail = limit - head;
    Ok(format!(
        "Output too large. Showing first {} and last {} characters. For full output see: {}\n{}\n\n... [{} characters omitted] ...\n\n{}",
        commas(head),
        commas(tail),
        c.path(),
        from_units(&all[..head]),
        commas(all.len() - limit),
        from_units(&all[all.len() - tail..])
    ))
}

const QWEN_FIRST: &str = "Tool output was too large and has been truncated.";

pub fn qwen(c: &Case) -> Verdict {
    qwen_preview(c, c.num("max_units", 30000), c.num("preview_units", 4000))
}

/// A search has another budget than a command, and shows all of it.
pub fn qwen_grep(c: &Case) -> Verdict {
    qwen_preview(c, c.num("max_units", 20000), c.num("preview_units", 20000))
}

/// "MCP: trigger 500,000, preview 2,000."
pub fn qwen_mcp(c: &Case) -> Verdict {
    qwen_preview(c, c.num("max_units", 500000), c.num("preview_units", 2000))
}

/// The preview is as large as what starts the cut.
pub fn qwen_2026_03(c: &Case) -> Verdict {
    qwen_preview(c, c.num("max_units", 30000), c.num("max_units", 30000))
}

fn qwen_preview(c: &Case, max: usize, preview: usize) -> Verdict {
    let text = lossy(&c.input);
    if unit_len(&text) <= max || text.starts_with(QWEN_FIRST) {
        return Ok(text);
    }
    let all: Vec<Vec<u16>> = pieces(&text).iter().map(|p| units(p)).collect();
    let dots: Vec<u16> = units("...");
    let hc = (all.len() / 5).max(1);
    // A preview under the separator's 39 leaves nothing for the text.
    let budget = preview.saturating_sub(39);
    let head_budget = budget / 5;
    let mut head: Vec<Vec<u16>> = Vec::new();
    let mut used = 0;
    for piece in &all[..hc] {
        let rest = head_budget - used;
        if piece.len() < rest {
            head.push(piece.clone());
            used += piece.len() + 1;
            continue;
        }
        if rest >= 3 {
            head.push([&piece[..rest - 3], &dots].concat());
        }
        used = head_budget;
        break;
    }
    let mut rest = budget - used;
    let mut tail: Vec<Vec<u16>> = Vec::new();
    for piece in all[hc..].iter().rev() {
        if piece.len() < rest {
            tail.insert(0, piece.clone());
            rest -= piece.len() + 1;
            continue;
        }
        if rest >= 3 {
            tail.insert(0, [&dots, &piece[piece.len() - (rest - 3)..]].concat());
        }
        break;
    }
    let marker = format!(
        "{QWEN_FIRST}\nThe full output has been saved to: {}\nTo read the complete output, use the read_file tool with the absolute file path above.\nThe truncated output below shows the beginning and end of the content. The marker '... [CONTENT TRUNCATED] ...' indicates where content was removed.\n\nTruncated part of the output:\n",
        c.path()
    );
    let kept = format!(
        "{}\n\n---\n... [CONTENT TRUNCATED] ...\n---\n\n{}",
        from_units(&head.join(&10)),
        from_units(&tail.join(&10))
    );
    Ok(match unit_len(&marker) + unit_len(&kept) >= unit_len(&text) {
        true => text,
        false if c.flag("save_failed") => kept + "\n[Note: Could not save full output to file]",
        false => marker + &kept,
    })
}

static ESCAPES: LazyLock<regex::Regex> = LazyLock::new(|| {
    regex::Regex::new(
        r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x1b[ -/]*[0-~]",
    )
    .unwrap()
});

pub fn crush_bang(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 51200));
    let within = |t: &str| pieces(t).len() <= max_lines && t.len() <= max_bytes;
    let stripped = ESCAPES.replace_all(&text, "").into_owned();
    if within(&text) || within(&stripped) {
        return Ok(text);
    }
    let (half_lines, half_bytes) = (max_lines / 2, max_bytes / 2);
    let claim = |order: Vec<&str>| {
        let mut taken: Vec<String> = Vec::new();
        let mut sum = 0;
        for piece in order {
            if taken.len() >= half_lines || sum + piece.len() + 1 > half_bytes {
                break;
            }
            sum += piece.len() + 1;
            taken.push(piece.to_string());
        }
        taken
    };
    let all = pieces(&stripped);
    let mut head = claim(all.clone()).join("\n");
    let mut backwards = all.clone();
    backwards.reverse();
    let mut last = claim(backwards);
    last.reverse();
    let mut tail = last.join("\n");
    if head.is_empty() {
        head = prefix_bytes(all[0], half_bytes);
    }
    if tail.is_empty() {
        tail = last_bytes_from_boundary(all[all.len() - 1], half_bytes);
    }
    let n = count_lf(&stripped) as i64 - count_lf(&head) as i64 - count_lf(&tail) as i64;
    let what = if n <= 0 { "output truncated".to_string() } else { format!("{n} lines omitted") };
    Ok(format!("{head}\n\n{what}, full output: {}\n\n{tail}", c.path()))
}

/// The kept end and, where something was cut, why.
fn goose_cut(c: &Case) -> Result<(String, String), String> {
    let decoded = lossy(&c.input);
    let text = decoded.trim_end_matches('\n');
    if text.is_empty() {
        return Err("(no output)".to_string());
    }
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 50000));
    let all = pieces(text);
    let reason = if all.len() > max_lines {
        format!("{max_lines} line limit ({} lines total)", all.len())
    } else if text.len() > max_bytes {
        format!("{max_bytes} byte limit ({} bytes total)", text.len())
    } else {
        return Err(text.to_string());
    };
    let last = all[all.len().saturating_sub(c.num("tail_lines", 50))..].join("\n");
    Ok((last_bytes_from_boundary(&last, c.num("tail_bytes", 10000)), reason))
}

fn goose_notice(c: &Case, reason: &str, path: &str) -> String {
    // Ambiguous: the rest of the notice about a fragment is taken to be as in the other, with the figures of the whole output.
    let limit = c.num("capture_bytes", 10 << 20);
    let saved = if limit > 0 && c.input.len() > limit {
        format!("Captured fragment (beginning and end) saved to {path}; the dropped middle is unrecoverable.")
    } else {
        format!("Full output saved to {path}.")
    };
    format!(
        "[Output exceeded {reason}. {saved} Read it with shell commands like `head`, `tail`, or `sed -n '100,200p'` up to 2000 lines at a time.]"
    )
}

pub fn goose(c: &Case) -> Verdict {
    // As recorded in 1.52.0; where it stands in an output that is cut is a guess.
    let failed = c.exit_code.filter(|x| *x != 0);
    let end = failed.map_or(String::new(), |x| format!("\n\nCommand exited with code {x}"));
    let end = match c.num("timeout_s", 0) {
        0 => end,
        s => format!("\n\nCommand timed out after {s} seconds"),
    };
    Ok(goose_cut(c).map_or_else(
        |whole| whole + &end,
        |(kept, reason)| {
            let kept = kept + &end;
            // Ambiguous: a path that ends in neither `stdout-N` nor `output-N` has no such file beside it;
            // then both notices are taken to name it.
            let (stdout, output) = (c.path(), c.path().replace("/stdout-", "/output-"));
            format!("{kept}\n\n{}\n{}", goose_notice(c, &reason, stdout), goose_notice(c, &reason, &output))
        },
    ))
}

pub fn goose_2026_08(c: &Case) -> Verdict {
    Ok(goose_cut(c)
        .map_or_else(|whole| whole, |(kept, why)| format!("{kept}\n\n{}", goose_notice(c, &why, c.path()))))
}

pub fn goose_result(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let n = point_len(&text);
    if n <= c.num("max_points", 200000) {
        return Ok(text);
    }
    Ok(format!(
        "The response returned from the tool call was larger ({n} characters) and is stored in the file which you can use other tools to examine or search in: {}",
        c.path()
    ))
}

pub fn kimi_shell(c: &Case) -> Verdict {
    let (max, line_max) = (c.num("max_points", 50000), c.num("line_points", 2000));
    let marker = "[...truncated]";
    let mut out = String::new();
    for line in py_splitlines(&lossy(&c.input)) {
        let so_far = point_len(&out);
        if so_far >= max {
            break;
        }
        let limit = (max - so_far).min(line_max);
        if point_len(&line) <= limit {
            out += &line;
            continue;
        }
        let ending = &line[line.trim_end_matches(['\r', '\n']).len()..];
        let e = point_len(marker) + point_len(ending);
        out.extend(line.chars().take(limit.max(e) - e));
        out += marker;
        out += ending;
    }
    Ok(out)
}

pub fn kimi_task(c: &Case) -> Verdict {
    let max = c.num("max_bytes", 32768);
    let start = c.input.len().saturating_sub(max);
    let body = lossy(&c.input[start..]);
    let body = body.trim_end_matches('\n');
    let body = if body.is_empty() { "[no output available]" } else { body };
    Ok(if c.input.len() > max {
        format!("[Truncated. Full output: {}]\n\n{body}", c.path())
    } else {
        body.to_string()
    })
}

#[cfg(test)]
mod tests {
    use super::super::case;
    use super::*;

    #[test]
    fn codex_examples() {
        let out = case("codex/exec", b"aaa\nbbbb\nccccc\n", &[("max_tokens", "2")]).naive().unwrap();
        assert_eq!(
            out,
            "Warning: truncated output (original token count: 4)\nTotal output lines: 3\n\naaa\n…2 tokens truncated…ccc\n"
        );
        let mut seq = String::new();
        for n in 1..=3000 {
            seq += &format!("{n}\n");
        }
        let out = case("codex/exec-bytes", seq.as_bytes(), &[("max_bytes", "20")]).naive().unwrap();
        assert!(out.ends_with("\n\n1\n2\n3\n4\n5\n…13873 chars truncated…2999\n3000\n"));
    }

    #[test]
    fn gemini_separates_thousands() {
        let out = case("gemini-cli/output", "y".repeat(50000).as_bytes(), &[]).naive().unwrap();
        assert!(out.starts_with("Output too large. Showing first 8,000 and last 32,000 characters. "));
        assert!(out.contains("\n\n... [10,000 characters omitted] ...\n\n"));
    }

    #[test]
    fn qwen_shows_a_fifth_of_one_huge_line() {
        let out = case("qwen-code/shell", "y".repeat(50000).as_bytes(), &[]).naive().unwrap();
        let preview = out.split("output:\n").last().unwrap();
        assert_eq!(preview.matches('y').count(), 792 - 3);
        let out = case("qwen-code/shell-2026-03", "y".repeat(50000).as_bytes(), &[]).naive().unwrap();
        let preview = out.split("output:\n").last().unwrap();
        assert_eq!(preview.matches('y').count(), (30000 - 39) / 5 - 3);
        assert!(out.ends_with("y...\n\n---\n... [CONTENT TRUNCATED] ...\n---\n\n"));
    }

    #[test]
    fn kimi_splits_as_python_does() {
        assert_eq!(py_splitlines("a\r\nb\rc\u{2028}d\u{b}\n"), ["a\r\n", "b\r", "c\u{2028}", "d\u{b}", "\n"]);
        let out =
            case("kimi-cli/shell", format!("{}\r\nb", "y".repeat(3000)).as_bytes(), &[]).naive().unwrap();
        assert_eq!(out, format!("{}[...truncated]\r\nb", "y".repeat(1984)));
    }
}
