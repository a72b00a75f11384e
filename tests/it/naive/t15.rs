//! The t15 agent's cuts, as written in `policies-core.md`.
use super::text::*;
use super::{Case, Verdict};

/// The kept pieces, or nothing if the text is within the limits. The size limit trims nothing.
fn kept(text: &str, c: &Case) -> Option<String> {
    let (max_lines, max_units) = (c.num("max_lines", 2000), c.num("max_units", 50000));
    let all = pieces(text);
    if all.len() <= max_lines && unit_len(text) <= max_units {
        return None;
    }
    let n = max_lines.min(all.len());
    Some(match c.word("direction", "tail").as_str() {
        "head" => all[..n].join("\n"),
        // `slice(-0)` keeps all.
        _ if n == 0 => text.to_string(),
        _ => all[all.len() - n..].join("\n"),
    })
}

pub fn output(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let Some(kept) = kept(&text, c) else { return Ok(text) };
    Ok(format!(
        "{kept}\n<truncated-notice>\nOutput truncated to last {} lines / {} bytes.\nFull output saved to: {}\nUse the Read or Grep tool to access specific parts.\n</truncated-notice>",
        c.num("max_lines", 2000),
        c.num("max_units", 50000),
        c.path()
    ))
}

pub fn generic(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_units", 50000);
    let n = unit_len(&text);
    if n <= max {
        return Ok(text);
    }
    // Ambiguous: "slice(-0)" is said of pieces; taken to hold for units too.
    Ok(format!(
        "{}\n\n[Output was {n} bytes, truncated to last 50k. Full content: {}. Use Read/Grep to inspect.]",
        js_slice_last_units(&text, max),
        c.path()
    ))
}

pub fn recipe(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let Some(kept) = kept(&text, c) else { return Ok(text) };
    // The `2000` prints max_lines, however many pieces there are.
    Ok(format!(
        "{kept}\n\n[Output truncated: {} lines → {} lines kept ({}).\n Full output ({} bytes) saved to: {}\n Use Read or Grep tool to inspect specific sections.]",
        pieces(&text).len(),
        c.num("max_lines", 2000),
        c.word("direction", "tail"),
        unit_len(&text),
        c.path()
    ))
}

#[cfg(test)]
mod tests {
    use super::super::case;

    #[test]
    fn the_size_limit_is_never_enforced() {
        let text = "y".repeat(60000);
        let out = case("t15/output", text.as_bytes(), &[]).naive().unwrap();
        assert_eq!(
            out,
            format!(
                "{text}\n<truncated-notice>\nOutput truncated to last 2000 lines / 50000 bytes.\nFull output saved to: /P\nUse the Read or Grep tool to access specific parts.\n</truncated-notice>"
            )
        );
    }

    #[test]
    fn a_split_pair_leaves_the_replacement() {
        let out = case("t15/generic", "😀a".as_bytes(), &[("max_units", "2")]).naive().unwrap();
        assert!(out.starts_with("\u{fffd}a\n\n[Output was 3 bytes, truncated to last 50k. "));
    }
}
