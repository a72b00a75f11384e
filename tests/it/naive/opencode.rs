//! opencode, as written in `policies-core.md` and `agents.md` section 2.
use super::text::*;
use super::{Case, Fault, Verdict};

const SAVED: &str = "The tool call succeeded but the output was truncated. Full output saved to: ";

pub fn output(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 51200));
    let all = pieces(&text);
    if all.len() <= max_lines && text.len() <= max_bytes {
        return Ok(text);
    }
    let tail = c.word("direction", "head") == "tail";
    let mut taken: Vec<&str> = Vec::new();
    let mut sum = 0;
    let mut hit_bytes = false;
    let mut order: Vec<&str> = all.clone();
    if tail {
        order.reverse();
    }
    for piece in order {
        if taken.len() >= max_lines {
            break;
        }
        // Head: +1 unless it is the first piece of the text; tail: +1 unless nothing is taken yet.
        // Both are the same, as the head always begins with the first piece of the text.
        let cost = piece.len() + if taken.is_empty() { 0 } else { 1 };
        if sum + cost > max_bytes {
            hit_bytes = true;
            break;
        }
        sum += cost;
        taken.push(piece);
    }
    if tail {
        taken.reverse();
    }
    let kept = taken.join("\n");
    let (removed, unit) =
        if hit_bytes { (text.len() - sum, "bytes") } else { (all.len() - taken.len(), "lines") };
    let hint = if c.flag("task_tool") {
        format!(
            "{SAVED}{}\nUse the Task tool to have explore agent process this file with Grep and Read (with offset/limit). Do NOT read the full file yourself - delegate to save context.",
            c.path()
        )
    } else {
        format!(
            "{SAVED}{}\nUse Grep to search the full content or Read with offset/limit to view specific sections.",
            c.path()
        )
    };
    Ok(if tail {
        format!("...{removed} {unit} truncated...\n\n{hint}\n\n{kept}")
    } else {
        format!("{kept}\n\n...{removed} {unit} truncated...\n\n{hint}")
    })
}

pub fn metadata(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_units", 30000);
    if unit_len(&text) <= max {
        return Ok(text);
    }
    Ok(format!("{}\n\n...", first_units(&text, max)))
}

pub fn metadata_2026(c: &Case) -> Verdict {
    // The shell's own decoding: a leading BOM and an unfinished last character are dropped.
    let (texts, _never_flushed) = decode_stream(&c.input, 65536);
    let text = texts.concat();
    if text.is_empty() {
        return Ok("(no output)".to_string());
    }
    let max = c.num("max_units", 30000);
    if unit_len(&text) <= max {
        return Ok(text);
    }
    // Ambiguous: "slice(-0)" is said of pieces; taken to hold for units too.
    Ok(format!("...\n\n{}", js_slice_last_units(&text, max)))
}

/// Lines by Node's readline: LF, CRLF and a lone CR end one; what ends nothing is the last.
fn readline(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut open = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\n' || c == '\r' {
            if c == '\r' && chars.peek() == Some(&'\n') {
                chars.next();
            }
            lines.push(std::mem::take(&mut line));
            open = false;
        } else {
            line.push(c);
            open = true;
        }
    }
    if open {
        lines.push(line);
    }
    lines
}

enum Stop {
    Bytes,
    Limit,
    End,
}

/// The lines from `start` (0-based), cut at 2000 units, that fit in the limits; and what stopped it.
fn read_window(lines: &[String], start: usize, c: &Case, suffix: &str) -> (Vec<String>, Stop) {
    let (limit, max_bytes) = (c.num("limit", 2000), c.num("max_bytes", 51200));
    let cap = c.num("line_units", 2000);
    let mut taken: Vec<String> = Vec::new();
    let mut sum = 0;
    for line in lines.iter().skip(start) {
        if taken.len() >= limit {
            return (taken, Stop::Limit);
        }
        let line = if unit_len(line) > cap { first_units(line, cap) + suffix } else { line.clone() };
        let cost = line.len() + if taken.is_empty() { 0 } else { 1 };
        if sum + cost > max_bytes {
            return (taken, Stop::Bytes);
        }
        sum += cost;
        taken.push(line);
    }
    (taken, Stop::End)
}

fn out_of_range(offset: usize, count: usize) -> Verdict {
    Err(Fault::Error(format!("Offset {offset} is out of range for this file ({count} lines)")))
}

pub fn read(c: &Case) -> Verdict {
    // The documents say "a file with NUL bytes"; opencode's tool/read.ts looks at 4,096 bytes, and counts control
    // bytes as well.
    let sample = &c.input[..c.input.len().min(4096)];
    let controls = sample.iter().filter(|b| **b < 9 || (**b > 13 && **b < 32)).count();
    if sample.contains(&0) || controls as f64 / sample.len() as f64 > 0.3 {
        return Err(Fault::Error(format!("Cannot read binary file: {}", c.path())));
    }
    let text = lossy(&c.input);
    let lines = readline(text.strip_prefix('\u{feff}').unwrap_or(&text));
    let offset = c.num("offset", 1);
    // Ambiguous: is offset 1 of an empty file "past the end"? Taken as fine (0 lines), as the
    // default must be able to read an empty file. Offset 0 is not covered.
    if lines.len() < offset && !(lines.is_empty() && offset == 1) {
        return out_of_range(offset, lines.len());
    }
    let (taken, stop) = read_window(&lines, offset - 1, c, "... (line truncated to 2000 chars)");
    let mut rows = Vec::new();
    for (i, line) in taken.iter().enumerate() {
        rows.push(format!("{}: {line}", offset + i));
    }
    let (a, b) = (offset, offset + taken.len() - 1);
    let notice = match stop {
        // Ambiguous: whether `50 KB` follows the parameter. It is not in the list of figures that do.
        Stop::Bytes => {
            format!("(Output capped at 50 KB. Showing lines {a}-{b}. Use offset={} to continue.)", b + 1)
        }
        Stop::Limit => {
            format!("(Showing lines {a}-{b} of {}. Use offset={} to continue.)", lines.len(), b + 1)
        }
        Stop::End => format!("(End of file - total {} lines)", lines.len()),
    };
    Ok(format!(
        "<path>{}</path>\n<type>file</type>\n<content>\n{}\n\n{notice}\n</content>",
        c.path(),
        rows.join("\n")
    ))
}

pub fn read_2026_01(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let lines = readline(&text);
    let offset = c.num("offset", 0);
    // Ambiguous: the text of the classic error is not given; the 2026 one is used.
    if lines.len() <= offset && !(lines.is_empty() && offset == 0) {
        return out_of_range(offset, lines.len());
    }
    let (taken, stop) = read_window(&lines, offset, c, "...");
    let mut rows = Vec::new();
    for (i, line) in taken.iter().enumerate() {
        rows.push(format!("{:05}| {line}", offset + i + 1));
    }
    let last = offset + taken.len();
    let notice = match stop {
        // Ambiguous likewise: `51200` is a literal in the document.
        Stop::Bytes => {
            format!("(Output truncated at 51200 bytes. Use 'offset' parameter to read beyond line {last})")
        }
        Stop::Limit => {
            format!("(File has more lines. Use 'offset' parameter to read beyond line {last})")
        }
        Stop::End => format!("(End of file - total {} lines)", lines.len()),
    };
    Ok(format!("<file>\n{}\n\n{notice}\n</file>", rows.join("\n")))
}

/// As opencode/output's tail, but a last line that is alone over the bytes keeps its end.
fn shell_tail(text: &str, max_lines: usize, max_bytes: usize) -> (String, bool) {
    let all = pieces(text);
    if all.len() <= max_lines && text.len() <= max_bytes {
        return (text.to_string(), false);
    }
    let mut taken: Vec<String> = Vec::new();
    let mut sum = 0;
    for piece in all.iter().rev() {
        if taken.len() >= max_lines {
            break;
        }
        let cost = piece.len() + if taken.is_empty() { 0 } else { 1 };
        if sum + cost > max_bytes {
            if taken.is_empty() {
                taken.push(last_bytes_from_boundary(piece, max_bytes));
            }
            break;
        }
        sum += cost;
        taken.insert(0, piece.to_string());
    }
    (taken.join("\n"), true)
}

pub fn shell(c: &Case) -> Verdict {
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 51200));
    let (texts, _never_flushed) = decode_stream(&c.input, c.num("chunk", 65536));
    // Whole chunks are dropped from the front while over twice the limit, but one always stays.
    // Ambiguous: a read that decodes to nothing (part of a character alone) is taken as a chunk.
    let mut list: Vec<String> = Vec::new();
    let mut total = 0;
    for text in texts {
        total += text.len();
        list.push(text);
        while list.iter().map(String::len).sum::<usize>() > 2 * max_bytes && list.len() > 1 {
            list.remove(0);
        }
    }
    let (tail, mut cut) = shell_tail(&list.concat(), max_lines, max_bytes);
    // The file is written once the text exceeds the limit, even if the list at exit fits again.
    if total > max_bytes {
        cut = true;
    }
    let body = if tail.is_empty() { "(no output)".to_string() } else { tail };
    let mut out = if cut {
        format!("...output truncated...\n\nFull output saved to: {}\n\n{body}", c.path())
    } else {
        body
    };
    let mut notes = Vec::new();
    if c.num("timeout_ms", 0) > 0 {
        notes.push(format!(
            "shell tool terminated command after exceeding timeout {} ms. If this command is expected to take longer and is not waiting for interactive input, retry with a larger timeout value in milliseconds.",
            c.num("timeout_ms", 0)
        ));
    }
    if c.flag("aborted") {
        notes.push("User aborted the command".to_string());
    }
    if !notes.is_empty() {
        let tag = c.word("tag", "shell");
        out += &format!("\n\n<{tag}_metadata>\n{}\n</{tag}_metadata>", notes.join("\n"));
    }
    Ok(out)
}

pub fn v2(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 51200));
    if text.len() <= max_bytes && count_lf(&text) < max_lines {
        return Ok(text);
    }
    let marker = format!("... output truncated; full content saved to {} ...", c.path());
    if max_lines <= 4 || max_bytes <= marker.len() + 4 {
        // Ambiguous: "cut to maxBytes" is taken as whole code points.
        return Ok(prefix_bytes(&marker, max_bytes));
    }
    let (l, b) = (max_lines - 4, max_bytes - marker.len() - 4);
    let all = pieces(&text);
    let (mut head, mut tail);
    let sampled;
    if all.len() > l {
        let (first, last) = (l.div_ceil(2), l / 2);
        head = all[..first].join("\n");
        tail = all[all.len() - last..].join("\n");
        let mut both = all[..first].to_vec();
        both.extend_from_slice(&all[all.len() - last..]);
        sampled = both.join("\n");
    } else {
        head = text.clone();
        tail = String::new();
        sampled = text.clone();
    }
    if sampled.len() > b {
        head = prefix_bytes(&sampled, b.div_ceil(2));
        tail = suffix_bytes(&sampled, b / 2);
    }
    Ok(if tail.is_empty() { format!("{head}\n\n{marker}") } else { format!("{head}\n\n{marker}\n\n{tail}") })
}

#[cfg(test)]
mod tests {
    use super::super::case;
    const SHORT: &[u8] = b"aaa\nbbbb\nccccc\n";
    const HINT: &str = "The tool call succeeded but the output was truncated. Full output saved to: /P\nUse Grep to search the full content or Read with offset/limit to view specific sections.";

    fn run(policy: &'static str, input: &[u8], sets: &[(&'static str, &str)]) -> String {
        case(policy, input, sets).naive().unwrap()
    }

    #[test]
    fn output_examples() {
        let name = "opencode/output";
        assert_eq!(
            run(name, SHORT, &[("max_lines", "2")]),
            format!("aaa\nbbbb\n\n...2 lines truncated...\n\n{HINT}")
        );
        assert_eq!(
            run(name, SHORT, &[("max_bytes", "9")]),
            format!("aaa\nbbbb\n\n...7 bytes truncated...\n\n{HINT}")
        );
        assert_eq!(
            run(name, SHORT, &[("max_lines", "2"), ("direction", "tail")]),
            format!("...2 lines truncated...\n\n{HINT}\n\nccccc\n")
        );
        let mut huge = vec![b'x'; 200000];
        huge.push(b'\n');
        assert_eq!(run(name, &huge, &[]), format!("\n\n...200001 bytes truncated...\n\n{HINT}"));
    }

    #[test]
    fn shell_examples() {
        let cut = "...output truncated...\n\nFull output saved to: /P\n\n";
        assert_eq!(run("opencode/shell", SHORT, &[("max_lines", "2")]), format!("{cut}ccccc\n"));
        let mut huge = vec![b'x'; 60000];
        huge.push(b'\n');
        assert_eq!(run("opencode/shell", &huge, &[]), format!("{cut}(no output)"));
        assert_eq!(run("opencode/shell", b"", &[]), "(no output)");
        assert_eq!(run("opencode/shell", b"\xef\xbb\xbfa\xe2\x82", &[]), "a");
        let lines = "a\n".repeat(2000);
        assert!(run("opencode/shell", lines.as_bytes(), &[]).starts_with(cut));
    }

    #[test]
    fn v2_example() {
        let mut seq = String::new();
        for n in 1..=3000 {
            seq += &format!("{n}\n");
        }
        assert_eq!(
            run("opencode/v2", seq.as_bytes(), &[("max_lines", "10")]),
            "1\n2\n3\n\n... output truncated; full content saved to /P ...\n\n2999\n3000\n"
        );
    }

    #[test]
    fn read_example() {
        assert_eq!(
            run("opencode/read", SHORT, &[]),
            "<path>/P</path>\n<type>file</type>\n<content>\n1: aaa\n2: bbbb\n3: ccccc\n\n(End of file - total 3 lines)\n</content>"
        );
        assert_eq!(
            run("opencode/read-2026-01", SHORT, &[("limit", "2")]),
            "<file>\n00001| aaa\n00002| bbbb\n\n(File has more lines. Use 'offset' parameter to read beyond line 2)\n</file>"
        );
        assert_eq!(super::readline("a\rb\r\nc\n\r"), ["a", "b", "c", ""]);
    }
}
