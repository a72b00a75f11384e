//! Copilot CLI, as in `agents-2026-11.md` C.2, and VS Code's Copilot chat, as in `agents.md` 14.
use super::text::*;
use super::{Case, Verdict};
use serde_json::Value;
use std::sync::LazyLock;

static ESCAPES: LazyLock<regex::Regex> = LazyLock::new(|| {
    regex::Regex::new(
        r"\x1B(?:\][^\x07\x1B]*(?:\x07|\x1B\\)|\[[0-?]*[ -/]*[@-~]|[ -/]+[0-~]|[@-Z\\-_])|\u{9B}[0-?]*[ -/]*[@-~]",
    )
    .unwrap()
});

/// The text without escape sequences, looked for in each read alone. Ambiguous: a character that is
/// split between two reads is taken as whole, and as part of the later one.
fn stripped(c: &Case) -> String {
    let (mut reads, held) = decode_reads(&c.input, c.num("chunk", 8192));
    if !held.is_empty() {
        reads.push("\u{fffd}".to_string());
    }
    reads.iter().map(|read| ESCAPES.replace_all(read, "").into_owned()).collect()
}

/// One decimal, an exact half up, as JavaScript's toFixed does; a division by 1024 is exact.
fn size(n: usize) -> String {
    let kb = n as f64 / 1024.0;
    let to_fixed = |size: f64| format!("{:.1}", (size * 10.0 + 0.5).floor() / 10.0);
    if n < 1024 * 1024 { to_fixed(kb) + " KB" } else { to_fixed(kb / 1024.0) + " MB" }
}

fn notice(text: &str, c: &Case) -> String {
    // Ambiguous: half a pair at the end of the preview is taken as U+FFFD.
    format!(
        "Output too large to read at once ({}). Saved to: {}\nConsider using tools like grep (for searching), head/tail (for viewing start/end), view with view_range (for specific sections), or jq (for JSON) to examine portions of the output.\n\nPreview (first 500 chars):\n{}",
        size(text.len()),
        c.path(),
        first_units(text, c.num("preview_units", 500))
    )
}

fn shell(c: &Case, last: String) -> Verdict {
    let (t, limit) = (stripped(c), c.num("max_bytes", 20480));
    if t.len() > limit {
        return Ok(format!("{}\n{last}", notice(&t, c)));
    }
    // Unicode's White_Space, so not the BOM. Ambiguous: nothing left is taken to leave the line feed.
    let sum = format!("{}\n{last}", t.trim());
    if sum.len() > limit {
        // Ambiguous: the second cut's size and preview are taken as those of what it cuts, the sum.
        return Ok(notice(&sum, c));
    }
    Ok(sum)
}

pub fn tool(c: &Case) -> Verdict {
    let (id, x) = (c.word("shell_id", "0"), c.exit_code.unwrap_or(0));
    shell(c, format!("<shellId: {id} completed with exit code {x}>"))
}

/// The second cut alone: no last line, and nothing is taken out.
pub fn result(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    Ok(if text.len() > c.num("max_bytes", 20480) { notice(&text, c) } else { text })
}

pub fn tool_1_0_32(c: &Case) -> Verdict {
    shell(c, format!("<exited with exit code {}>", c.exit_code.unwrap_or(0)))
}

/// `JSON.stringify(value, null, 2)`, but for the order of keys, which changes no length.
fn stringify(value: &Value, indent: usize) -> String {
    let (inner, outer) = ("  ".repeat(indent + 1), "  ".repeat(indent));
    let block = |open: char, rows: Vec<String>, close: char| {
        if rows.is_empty() {
            return format!("{open}{close}");
        }
        format!("{open}\n{inner}{}\n{outer}{close}", rows.join(&format!(",\n{inner}")))
    };
    match value {
        Value::Array(all) => block('[', all.iter().map(|v| stringify(v, indent + 1)).collect(), ']'),
        Value::Object(all) => {
            let row = |(k, v): (&String, &Value)| {
                format!("{}: {}", Value::from(k.as_str()), stringify(v, indent + 1))
            };
            block('{', all.iter().map(row).collect(), '}')
        }
        Value::Number(n) if n.is_f64() => js_number(n.as_f64().unwrap()),
        other => other.to_string(),
    }
}

fn js_number(n: f64) -> String {
    match n.abs() {
        0.0 => "0".to_string(),
        1e21.. => format!("{n:e}").replace('e', "e+"),
        1e-6.. => format!("{n}"),
        _ => format!("{n:e}"),
    }
}

/// The KB are rounded: `Math.round(length / 1024)` in the extension's source, of what it writes.
pub fn chat(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    if unit_len(&text) <= c.num("max_units", 8192) {
        return Ok(text);
    }
    let json = serde_json::from_str::<Value>(&text).ok();
    let written = json.as_ref().map_or(text, |value| stringify(value, 0));
    let kb = (unit_len(&written) + 512) / 1024;
    let mut out = format!(
        "Large tool result ({kb}KB) written to file. Use the read_file tool to access the content at: {}",
        c.path()
    );
    if json.is_some() {
        out += &format!("\n\nData schema found at: {}", c.path().replace("content.json", "schema.json"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::super::case;

    fn run(input: &[u8], sets: &[(&'static str, &str)]) -> String {
        case("copilot-cli/tool", input, sets).naive().unwrap()
    }

    const LAST: &str = "\n<shellId: 0 completed with exit code 0>";

    #[test]
    fn an_escape_split_between_reads_stays() {
        assert_eq!(run(b"a\x1b[31mb\n", &[]), format!("ab{LAST}"));
        assert_eq!(run(b"a\x1b[31mb\n", &[("chunk", "3")]), format!("a\x1b[31mb{LAST}"));
        let mut text = vec![b'y'; 8190];
        text.extend_from_slice(b"\x1b[1mb");
        assert!(run(&text, &[]).contains("yy\x1b[1mb\n<"));
        text.insert(0, b'\n');
        assert!(run(&text, &[]).contains("yy\x1b[1mb\n<"));
        text.drain(..5);
        assert!(run(&text, &[]).contains("yyb\n<"));
    }

    #[test]
    fn sequences_of_every_form() {
        assert_eq!(
            run(b"1\x1b]0;t\x072\x1b]8;;u\x1b\\3\x1b(B4\x1bM5\xc2\x9b1m6", &[]),
            format!("123456{LAST}")
        );
        // Without an end only the introducer goes; without a final byte all of it stays.
        assert_eq!(run(b"\x1b]0;t", &[]), format!("0;t{LAST}"));
        assert_eq!(run(b"\x1b[3", &[]), format!("\x1b[3{LAST}"));
        assert_eq!(run(b"x\x1b", &[]), format!("x\x1b{LAST}"));
    }

    #[test]
    fn json_is_measured_as_it_is_written() {
        let value = serde_json::from_str(r#"{"b":[1.0,1e21,{}],"a":[],"c":"\u0041\n"}"#).unwrap();
        assert_eq!(
            super::stringify(&value, 0).len(),
            "{\n  \"b\": [\n    1,\n    1e+21,\n    {}\n  ],\n  \"a\": [],\n  \"c\": \"A\\n\"\n}".len()
        );
        // 8,193 units in one line are 4,097 lines of six.
        let text = format!("[{}1]", "1,".repeat(4096));
        let out = case("copilot-chat/result", text.as_bytes(), &[]).naive().unwrap();
        assert_eq!(
            out,
            "Large tool result (20KB) written to file. Use the read_file tool to access the content at: /s/content.json\n\nData schema found at: /s/schema.json"
        );
    }

    #[test]
    fn the_second_cut_has_no_last_line() {
        let out = run(&[b'y'; 20475], &[]);
        assert!(out.starts_with("Output too large to read at once (20.0 KB). Saved to: /P\n"));
        assert!(out.ends_with("yy"));
        let out = run(&[b'y'; 20481], &[]);
        assert!(out.ends_with(&format!("yy{LAST}")));
    }
}
