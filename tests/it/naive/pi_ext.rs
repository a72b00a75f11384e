//! pi's cuts of what MCP servers and scripts return, as in `agents-2026-11.md` C.3.
use super::text::*;
use super::{Case, Verdict};

fn warning(tokens: usize, lines: usize) -> String {
    format!("Warning: truncated output (original token count: {tokens})\nTotal output lines: {lines}\n\n")
}

pub fn mcp(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_bytes", 20480);
    if text.len() <= max {
        return Ok(text);
    }
    let head = prefix_bytes(&text, max / 2);
    // The document has halves of 10240; 1.5.2 gives the odd byte of another limit to the tail.
    let tail = suffix_bytes(&text, max.div_ceil(2));
    let removed = point_len(&text) - point_len(&head) - point_len(&tail);
    // "Total output lines" does not count what a final line feed begins: 1.5.2.
    let lines = pieces_without_last_empty(&text).len();
    Ok(format!(
        "{}{head}…{removed} chars truncated…{tail}\n\n[Full output: {} (read it with offset/limit)]",
        warning(text.len().div_ceil(4), lines),
        c.path()
    ))
}

pub fn codemode(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_units", 40000);
    let all = units(&text);
    if all.len() <= max {
        return Ok(text);
    }
    let mut head = all[..max / 2].to_vec();
    drop_half_at_end(&mut head);
    let mut tail = all[all.len() - max.div_ceil(2)..].to_vec();
    drop_half_at_start(&mut tail);
    // What a dropped half takes away is not counted: 1.5.2.
    let removed = all.len() - max;
    Ok(format!(
        "{}{}…{} tokens truncated…{}\n\n[Full output: {} (read with offset/limit)]",
        warning(all.len().div_ceil(4), pieces(&text).len()),
        from_units(&head),
        removed.div_ceil(4),
        from_units(&tail),
        c.path()
    ))
}

#[cfg(test)]
mod tests {
    use super::super::case;

    #[test]
    fn halves_are_whole_characters() {
        let out = case("pi/mcp", "é漢é\n".as_bytes(), &[("max_bytes", "5")]).naive().unwrap();
        assert_eq!(
            out,
            "Warning: truncated output (original token count: 2)\nTotal output lines: 1\n\né…1 chars truncated…é\n\n\n[Full output: /P (read it with offset/limit)]"
        );
        let out = case("pi/codemode", "a😀b😀\n".as_bytes(), &[("max_units", "4")]).naive().unwrap();
        assert_eq!(
            out,
            "Warning: truncated output (original token count: 2)\nTotal output lines: 2\n\na…1 tokens truncated…\n\n\n[Full output: /P (read with offset/limit)]"
        );
    }
}
