//! The Go opencodes, as written in `policies-core.md` and `agents.md` section 3: sizes and cuts on
//! raw bytes, and one U+FFFD a bad byte at the very end.
use super::text::*;
use super::{Case, Fault, Verdict};

fn join(lines: &[&[u8]]) -> Vec<u8> {
    lines.join(&b'\n')
}

fn count_pieces(bytes: &[u8]) -> usize {
    raw_pieces(bytes).len()
}

pub fn legacy(c: &Case) -> Verdict {
    let bytes = &c.input;
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 51200));
    if bytes.len() <= max_bytes && count_pieces(bytes) <= max_lines {
        return Ok(go_text(bytes));
    }
    let half = max_bytes / 2;
    // "fewer than 51200 bytes" crashes. Ambiguous for an odd limit: taken as fewer than two halves,
    // where the slice bounds really cross.
    if bytes.len() < 2 * half {
        return Err(Fault::Crash("slice bounds out of range".to_string()));
    }
    let middle = &bytes[half..bytes.len() - half];
    let n = if middle.is_empty() { 0 } else { count_pieces(middle) };
    let mut out = bytes[..half].to_vec();
    out.extend_from_slice(format!("\n\n... [{n} lines truncated] ...\n\n").as_bytes());
    out.extend_from_slice(&bytes[bytes.len() - half..]);
    Ok(go_text(&out))
}

pub fn response_cap(c: &Case) -> Verdict {
    let max_tokens = c.num("max_tokens", 300000);
    if c.input.len() / 4 <= max_tokens {
        return Ok(go_text(&c.input));
    }
    let mut out = c.input[..4 * max_tokens].to_vec();
    out.extend_from_slice(b"\n\n[Output truncated due to size limit...]");
    Ok(go_text(&out))
}

pub fn line_aligned(c: &Case) -> Verdict {
    let bytes = &c.input;
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 51200));
    let all = raw_pieces(bytes);
    if bytes.len() <= max_bytes && all.len() <= max_lines {
        return Ok(go_text(bytes));
    }
    // With max_lines pieces or fewer the first ceil(n/2) and the rest; else half the limit each.
    // Ambiguous for an odd limit: taken as half of it, rounded down, on either side.
    let (first, last) = if all.len() <= max_lines {
        (all.len().div_ceil(2), all.len() / 2)
    } else {
        (max_lines / 2, max_lines / 2)
    };
    let mut head = all[..first].to_vec();
    let mut tail = all[all.len() - last..].to_vec();
    while join(&head).len() + join(&tail).len() > max_bytes {
        if join(&head).len() >= join(&tail).len() {
            head.pop();
        } else {
            tail.remove(0);
        }
    }
    let n = all.len() - head.len() - tail.len();
    let mut out = join(&head);
    out.extend_from_slice(format!("\n\n... [{n} lines truncated] ...\n\n").as_bytes());
    out.extend_from_slice(&join(&tail));
    Ok(go_text(&out))
}

/// One stream of the persistence design.
fn design_stream(bytes: &[u8], stream: &str, path: &str, c: &Case) -> Vec<u8> {
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 51200));
    let (first, last) = (c.num("head_lines", 500), c.num("tail_lines", 500));
    let all = raw_pieces(bytes);
    if bytes.len() <= max_bytes && all.len() <= max_lines {
        return bytes.to_vec();
    }
    let mut out = format!("<{stream} truncated: {} lines total>\n", commas(all.len()));
    if !c.flag("save_failed") {
        let capped =
            if bytes.len() > c.num("max_saved_bytes", 104857600) { " (truncated at 100MB)" } else { "" };
        out += &format!("Full output saved to: {path}{capped}\n");
        out += "Use the view tool with offset/limit to read specific sections.\n";
    }
    out += "\n";
    let mut out = out.into_bytes();
    if all.len() <= first + last {
        out.extend_from_slice(bytes);
    } else {
        out.extend_from_slice(format!("--- First {first} lines ---\n").as_bytes());
        out.extend_from_slice(&join(&all[..first]));
        out.extend_from_slice(format!("\n\n--- Last {last} lines ---\n").as_bytes());
        out.extend_from_slice(&join(&all[all.len() - last..]));
    }
    out
}

/// The file's path, where one was written.
pub fn bash_details(c: &Case) -> serde_json::Value {
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 51200));
    if c.input.len() <= max_bytes && count_pieces(&c.input) <= max_lines {
        return serde_json::Value::Null;
    }
    serde_json::json!({ "temp_file_path": c.path() })
}

/// One stream as it shipped: no separators, the tool for reading, the count of dropped lines between.
fn shipped_stream(bytes: &[u8], stream: &str, path: &str, c: &Case, tool: &str) -> Vec<u8> {
    let (max_lines, max_bytes) = (c.num("max_lines", 2000), c.num("max_bytes", 51200));
    let (first, last) = (c.num("head_lines", 500), c.num("tail_lines", 500));
    let all = raw_pieces(bytes);
    if bytes.len() <= max_bytes && all.len() <= max_lines {
        return bytes.to_vec();
    }
    let mut out = format!("<{stream} truncated: {} lines total>\n", all.len());
    if !c.flag("save_failed") {
        let capped =
            if bytes.len() > c.num("max_saved_bytes", 104857600) { " (truncated at 100MB)" } else { "" };
        out += &format!("Full output saved to: {path}{capped}\n");
        out += &format!("Use the {tool} tool with offset/limit to read specific sections.\n");
    }
    out += "\n";
    let mut out = out.into_bytes();
    if all.len() <= first + last {
        out.extend_from_slice(bytes);
    } else {
        let n = all.len() - first - last;
        out.extend_from_slice(format!("--- First {first} lines ---\n").as_bytes());
        out.extend_from_slice(&join(&all[..first]));
        out.extend_from_slice(format!("\n\n... [{n} lines truncated] ...\n\n").as_bytes());
        out.extend_from_slice(format!("--- Last {last} lines ---\n").as_bytes());
        out.extend_from_slice(&join(&all[all.len() - last..]));
    }
    out
}

/// The stderr text, and how the command ended if not well.
fn exit_message(stderr: &[u8], c: &Case) -> Vec<u8> {
    let mut message = stderr.to_vec();
    let code = c.exit_code.unwrap_or(0);
    if c.flag("timed_out") {
        message.extend_from_slice(b"\nCommand execution timed out or was interrupted");
    }
    let aborted = c.flag("aborted") || c.flag("timed_out");
    if (aborted || code != 0) && !message.is_empty() {
        message.push(b'\n');
    }
    if aborted {
        message.extend_from_slice(b"Command was aborted before completion");
    } else if code != 0 {
        message.extend_from_slice(format!("Exit code {code}").as_bytes());
    }
    message
}

/// `agents.md` 3.1, Assembly.
fn assemble(stdout: &[u8], stderr: &[u8], c: &Case) -> Vec<u8> {
    let message = exit_message(stderr, c);
    let mut out = stdout.to_vec();
    if !stdout.is_empty() && !message.is_empty() {
        out.push(b'\n');
    }
    if !message.is_empty() {
        out.push(b'\n');
        out.extend_from_slice(&message);
    }
    if out.is_empty() { b"no output".to_vec() } else { out }
}

pub fn bash(c: &Case) -> Verdict {
    let stream = c.word("stream", "stdout");
    // Ambiguous: without `--stderr` and `--exit-code` the policy is one stream's text alone (empty
    // stays empty); with either, the whole response.
    if c.stderr.is_none() && c.exit_code.is_none() && !c.flag("aborted") && !c.flag("timed_out") {
        return Ok(go_text(&design_stream(&c.input, &stream, c.path(), c)));
    }
    let out = design_stream(&c.input, &stream, c.path(), c);
    let err = design_stream(c.stderr.as_deref().unwrap_or_default(), "stderr", c.path_stderr(), c);
    Ok(go_text(&assemble(&out, &err, c)))
}

pub fn shipped(c: &Case) -> Verdict {
    shipped_with(c, "read")
}

/// "Before 2026-03-05: `Use the view tool with…`".
pub fn shipped_2026_02(c: &Case) -> Verdict {
    shipped_with(c, "view")
}

fn shipped_with(c: &Case, tool: &str) -> Verdict {
    let out = shipped_stream(&c.input, &c.word("stream", "stdout"), c.path(), c, tool);
    let err = shipped_stream(c.stderr.as_deref().unwrap_or_default(), "stderr", c.path_stderr(), c, tool);
    let mut whole = assemble(&out, &err, c);
    // "Whole response": the global cap is behind every tool.
    if whole.len() / 4 > 300000 {
        whole.truncate(1200000);
        match whole.iter().rposition(|b| *b == b'\n') {
            Some(at) if at > 0 => whole.truncate(at),
            _ => {}
        }
        whole.extend_from_slice(b"\n\n[Output truncated due to size limit. Consider using more specific search parameters or viewing smaller sections.]");
    }
    Ok(go_text(&whole))
}

fn stream_2025(bytes: &[u8], max: usize) -> Vec<u8> {
    if bytes.len() <= max {
        return bytes.to_vec();
    }
    let half = max / 2;
    let n = count_pieces(&bytes[half..bytes.len() - half]);
    let mut out = bytes[..half].to_vec();
    out.extend_from_slice(format!("\n\n... [{n} lines truncated] ...\n\n").as_bytes());
    out.extend_from_slice(&bytes[bytes.len() - half..]);
    out
}

pub fn of_2025(c: &Case) -> Verdict {
    let max = c.num("max_bytes", 30000);
    let stdout = stream_2025(&c.input, max);
    let stderr = stream_2025(c.stderr.as_deref().unwrap_or_default(), max);
    let message = exit_message(&stderr, c);
    let mut out = stdout.clone();
    // Here the raw stderr decides, not the exit message.
    if !stdout.is_empty() && (!stderr.is_empty() || c.flag("timed_out")) {
        out.push(b'\n');
    }
    if !message.is_empty() {
        out.push(b'\n');
        out.extend_from_slice(&message);
    }
    // Ambiguous: `no output` is said of the fork alone; taken to hold here too.
    Ok(if out.is_empty() { "no output".to_string() } else { go_text(&out) })
}

fn is_rune_start(b: u8) -> bool {
    b & 0xc0 != 0x80
}

pub fn mcp(c: &Case) -> Verdict {
    let s = &c.input;
    let max = c.num("max_bytes", 51200);
    if s.len() <= max {
        return Ok(go_text(s));
    }
    let mut head_end = max / 2;
    while head_end > 0 && !is_rune_start(s[head_end]) {
        head_end -= 1;
    }
    if let Some(at) = s[..head_end].iter().rposition(|b| *b == b'\n')
        && at > (max / 2) / 2
    {
        head_end = at;
    }
    let tail_size = max - max / 2;
    let mut tail_start = s.len() - tail_size;
    while tail_start < s.len() && !is_rune_start(s[tail_start]) {
        tail_start += 1;
    }
    if let Some(at) = s[tail_start..].iter().position(|b| *b == b'\n')
        && at < tail_size / 2
    {
        tail_start += at + 1;
    }
    let mut out = format!(
        "<{} output truncated: {} bytes total>\nFull output saved to: {}\nExplore it with the grep tool, read specific ranges with the read tool (offset/limit), or use sed in bash. Do not re-run the tool just to get the full output.\n\n",
        c.word("label", "tool"),
        s.len(),
        c.path()
    )
    .into_bytes();
    out.extend_from_slice(&s[..head_end]);
    out.extend_from_slice(
        format!("\n\n... [{} bytes elided — full output in the saved file] ...\n\n", tail_start - head_end)
            .as_bytes(),
    );
    out.extend_from_slice(&s[tail_start..]);
    Ok(go_text(&out))
}

pub fn read(c: &Case) -> Verdict {
    let bytes = &c.input;
    if bytes.len() > 256000 {
        return Err(Fault::Error(format!(
            "File is too large ({} bytes). Maximum size is 256000 bytes",
            bytes.len()
        )));
    }
    let (offset, limit) = (c.num("offset", 0), c.num("limit", 2000));
    let mut lines: Vec<&[u8]> = raw_pieces(bytes);
    if lines.last() == Some(&&b""[..]) {
        lines.pop();
    }
    if lines.iter().any(|l| l.len() >= 65536) {
        return Err(Fault::Error("bufio.Scanner: token too long".to_string()));
    }
    let mut shown: Vec<Vec<u8>> = Vec::new();
    for line in lines.iter().skip(offset).take(limit) {
        let mut line = line.strip_suffix(b"\r").unwrap_or(line).to_vec();
        if line.len() > 2000 {
            line.truncate(2000);
            line.extend_from_slice(b"...");
        }
        shown.push(line);
    }
    let mut out = b"<file>\n".to_vec();
    let joined = shown.join(&b'\n');
    if !joined.is_empty() {
        for (i, line) in shown.iter().enumerate() {
            if i > 0 {
                out.push(b'\n');
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            out.extend_from_slice(format!("{:>6}|", offset + i + 1).as_bytes());
            out.extend_from_slice(line);
        }
    }
    // Ambiguous with an offset: "lines - 1 if lines > limit" is taken as "if the limit stops the
    // scan", that is, lines > offset + limit.
    let stopped = lines.len() > offset.saturating_add(limit);
    let total = if stopped { lines.len() - 1 } else { lines.len() };
    let b = offset + shown.len();
    if total > b {
        out.extend_from_slice(
            format!(
                "\n\n(Showing lines {}-{b} of {total} total. Use offset={b} to continue reading.)",
                offset + 1
            )
            .as_bytes(),
        );
    }
    out.extend_from_slice(b"\n</file>\n");
    Ok(go_text(&out))
}

#[cfg(test)]
mod tests {
    use super::super::{Fault, case};

    #[test]
    fn assembly_examples() {
        let mut c = case("go-opencode/shipped", b"ok\n", &[]);
        c.stderr = Some(b"err\n".to_vec());
        c.exit_code = Some(1);
        assert_eq!(c.naive().unwrap(), "ok\n\n\nerr\n\nExit code 1");
        let mut c = case("go-opencode/shipped", b"", &[]);
        c.exit_code = Some(1);
        assert_eq!(c.naive().unwrap(), "\nExit code 1");
        assert_eq!(case("go-opencode/shipped", b"", &[]).naive().unwrap(), "no output");
        let mut c = case("go-opencode/2025", b"ok\n", &[]);
        c.exit_code = Some(1);
        assert_eq!(c.naive().unwrap(), "ok\n\nExit code 1");
    }

    #[test]
    fn examples_of_2025_and_shipped() {
        let y = "y".repeat(60000);
        let out = case("go-opencode/2025", y.as_bytes(), &[]).naive().unwrap();
        // The document says 30035 bytes, but its own template makes 31 bytes of the notice.
        assert_eq!(out.len(), 30031);
        assert!(out.contains("y\n\n... [1 lines truncated] ...\n\ny"));
        let out = case("go-opencode/shipped", y.as_bytes(), &[]).naive().unwrap();
        assert_eq!(
            out,
            format!(
                "<stdout truncated: 1 lines total>\nFull output saved to: /P\nUse the read tool with offset/limit to read specific sections.\n\n{y}"
            )
        );
    }

    #[test]
    fn legacy_crashes_on_many_short_lines() {
        let text = "\n".repeat(2000);
        assert_eq!(
            case("go-opencode/legacy", text.as_bytes(), &[]).naive(),
            Err(Fault::Crash("slice bounds out of range".to_string()))
        );
        let text = format!("{}{}", "\n".repeat(2000), "y".repeat(49200));
        let out = case("go-opencode/legacy", text.as_bytes(), &[]).naive().unwrap();
        assert!(out.contains("... [0 lines truncated] ..."));
    }

    #[test]
    fn read_quirks() {
        let text = "x\n".repeat(3000);
        let out = case("go-opencode/read", text.as_bytes(), &[]).naive().unwrap();
        assert!(out.ends_with(
            "\n\n(Showing lines 1-2000 of 2999 total. Use offset=2000 to continue reading.)\n</file>\n"
        ));
        let text = "x\n".repeat(2001);
        let out = case("go-opencode/read", text.as_bytes(), &[]).naive().unwrap();
        assert!(out.ends_with("  2000|x\n</file>\n"));
        assert_eq!(case("go-opencode/read", b"\n", &[]).naive().unwrap(), "<file>\n\n</file>\n");
        assert_eq!(case("go-opencode/read", b"\r\r\n", &[]).naive().unwrap(), "<file>\n     1|\n</file>\n");
    }
}
