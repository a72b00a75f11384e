//! cline, OpenHands V0, continue and SWE-agent, as in `agents.md` 13 to 15.
use super::text::*;
use super::{Case, Verdict};

fn cline_marker(n: usize) -> String {
    format!("\n\n...[truncated {n} chars]...\n\n")
}

pub fn cline(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let (first_max, max) = (c.num("first_units", 48000), c.num("max_units", 8000));
    let mut all = units(&text);
    if all.len() > first_max {
        let (head, tail) = (first_max.div_ceil(2), first_max / 2);
        let marker = format!(
            "\n[... output truncated: {} chars total. Refine the command (grep, head, tail) to view the elided middle ...]\n",
            all.len()
        );
        all = [&all[..head], &units(&marker), &all[all.len() - tail..]].concat();
    }
    if all.len() > max {
        let room = |n: usize| max.saturating_sub(unit_len(&cline_marker(n))) / 2;
        let keep0 = room(all.len() - max);
        let n = all.len() - 2 * keep0;
        let keep = room(n);
        all = [&all[..keep], &units(&cline_marker(n)), &all[all.len() - keep..]].concat();
    }
    Ok(from_units(&all))
}

pub fn openhands_v0(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_points", 30000);
    let all = points(&text);
    if all.len() <= max {
        return Ok(text);
    }
    // Ambiguous for small limits: Python's `text[-0:]` is the whole text.
    let half = max / 2;
    let last = if half == 0 { all.clone() } else { all[all.len() - half..].to_vec() };
    Ok(format!(
        "{}\n[... Observation truncated due to length ...]\n{}",
        from_points(&all[..half]),
        from_points(&last)
    ))
}

pub fn continue_bash(c: &Case) -> Verdict {
    // Every read is decoded alone: a character split there is bad on both sides.
    let mut text: String = c.input.chunks(c.num("chunk", 65536)).map(lossy).collect();
    // Ambiguous: a limit that is not divided evenly is taken to be rounded down.
    let calls = c.num("calls", 1);
    let (max_lines, max_units) = (c.num("max_lines", 1000) / calls, c.num("max_units", 50000) / calls);
    let all: Vec<String> = pieces(&text).iter().map(|p| p.to_string()).collect();
    let mut lines_gone = None;
    if all.len() > max_lines {
        lines_gone = Some(all.len() - max_lines);
        text = if max_lines == 0 { text } else { all[all.len() - max_lines..].join("\n") };
    }
    let mut all = units(&text);
    let line_cut = all.len();
    let mut chars_gone = None;
    if all.len() > max_units {
        if max_units > 0 {
            all = all[all.len() - max_units..].to_vec();
        }
        if let Some(at) = all.iter().position(|u| *u == 10)
            && at < 1000
        {
            all = all[at + 1..].to_vec();
        }
        chars_gone = Some(line_cut - all.len());
    }
    let body = from_units(&all);
    Ok(match (lines_gone, chars_gone) {
        (None, None) => body,
        (Some(l), None) => format!("(previous {l} lines truncated)\n\n{body}"),
        (None, Some(ch)) => format!("(previous {ch} characters truncated)\n\n{body}"),
        (Some(l), Some(ch)) => {
            format!("(previous output truncated: {l} lines and {ch} characters removed)\n\n{body}")
        }
    })
}

pub fn swe_agent(c: &Case) -> Verdict {
    let text = lossy(&c.input);
    let max = c.num("max_points", 100000);
    let all = points(&text);
    if all.len() <= max {
        return Ok(format!("Observation: {text}"));
    }
    Ok(format!(
        "Observation: {}<response clipped><NOTE>Observations should not exceeded {max} characters. {} characters were elided. Please try a different command that produces less output or use head/tail/grep/redirect the output to a file. Do not use interactive pagers.</NOTE>",
        from_points(&all[..max]),
        all.len() - max
    ))
}

#[cfg(test)]
mod tests {
    use super::super::case;

    #[test]
    fn cline_counts_its_marker() {
        let out = case("cline/result", "y".repeat(60000).as_bytes(), &[]).naive().unwrap();
        assert!(out.len() <= 8000);
        assert!(out.contains("\n\n...[truncated "));
    }

    #[test]
    fn swe_agent_always_says_observation() {
        assert_eq!(case("swe-agent/observation", b"", &[]).naive().unwrap(), "Observation: ");
    }

    #[test]
    fn continue_decodes_each_read_alone() {
        let out = case("continue/bash", "é漢".as_bytes(), &[("chunk", "3")]).naive().unwrap();
        assert_eq!(out, "é\u{fffd}\u{fffd}\u{fffd}");
        let out = case("continue/bash", "é漢".as_bytes(), &[("chunk", "5")]).naive().unwrap();
        assert_eq!(out, "é漢");
    }

    #[test]
    fn continue_drops_a_partial_first_line() {
        let sets = [("max_lines", "2"), ("max_units", "5")];
        let out = case("continue/bash", b"x\nabc\ndef", &sets).naive().unwrap();
        assert_eq!(out, "(previous output truncated: 1 lines and 4 characters removed)\n\ndef");
    }
}
