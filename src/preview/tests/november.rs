//! Tests agents of November 2026: what was recorded of them, and the edges of their limits.

use super::*;

fn seq(count: usize) -> String {
    (1..=count).map(|line| format!("{line}\n")).collect()
}

/// Returns the preview's text, saved at `path`, for a command that ended with this exit status.
fn ended(name: &str, set: &[(&str, &str)], path: &str, exit_code: Option<i32>, bytes: &[u8]) -> String {
    let totals = Totals::count(bytes);
    let input = Input { exit_code, ..Input::new(Output { bytes, totals: &totals }, path) };
    plan(&input, &policy(name, set)).unwrap_or_else(|error| panic!("{error}")).text(&input)
}

const KIMI_END: &str = "Command executed successfully.\ntask_id: TASK\noutput_size_bytes: 60894\nnext_step: Use TaskOutput(task_id=\"TASK\") to query the task output.";
const KIMI_NEXT: &str =
    "next_step: Use Read with output_path to page through the saved output, or Grep to search it.";

#[test]
fn kimi_code_shows_both_ends_as_it_was_recorded() {
    let text = seq(12000);
    let cut = ended(
        "kimi-code/bash",
        &[("call_id", "call_1"), ("task_id", "TASK")],
        "/o.log",
        None,
        text.as_bytes(),
    );
    let head = "Tool output exceeded 50000 characters; the full output was saved to a file.\ntool_name: Bash\ntool_call_id: call_1\noutput_size_chars: 60894\noutput_size_bytes: 60894\noutput_path: /o.log\n";
    let expected = format!(
        "{head}{KIMI_NEXT}\n\n[preview: chars [0, 4096)]\n{}\n\n[elided: chars [4096, 59870)]\n\n[preview: chars [59870, 60894)]\n{}\n\n{KIMI_END}",
        &text[..4096],
        &text[59870..]
    );
    assert_eq!(cut, expected);
}

#[test]
fn kimi_code_says_how_a_failed_command_ended() {
    let failed = |bytes: &[u8]| ended("kimi-code/bash", &[], "/P", Some(3), bytes);
    let error = "<system>ERROR: Tool execution failed.</system>\n";
    assert_eq!(failed(b"out\nerr\n"), format!("{error}out\nerr\nCommand failed with exit code: 3."));
    assert_eq!(failed(b"a"), format!("{error}a\nCommand failed with exit code: 3."));
    assert_eq!(failed(b""), format!("{error}Process exited with code 3\nCommand failed with exit code: 3."));
    let cut = failed(seq(12000).as_bytes());
    assert!(cut.starts_with(&format!("{error}Tool output exceeded")), "{cut}");
    assert!(cut.contains("output_size_chars: 60894\noutput_path: /P\n"));
    assert!(cut.contains("[preview: chars [59903, 60927)]\n"));
    assert!(
        cut.contains("12000\nCommand failed with exit code: 3.\n\ntask_id: TASK\noutput_size_bytes: 60894\n")
    );
}

#[test]
fn kimi_code_has_words_for_nothing_and_a_line_for_the_time() {
    let of = |bytes: &[u8]| preview("kimi-code/bash", &[], bytes);
    assert_eq!(of(b""), "Command executed successfully.");
    assert_eq!(of(" \n\u{feff}".as_bytes()), "<system>Tool output is empty.</system>");
    assert_eq!(of(b"Tool output is empty.\n"), "<system>Tool output is empty.</system>");
    assert_eq!(of("\u{85}".as_bytes()), "\u{85}");
    assert_eq!(of(&[b'y'; 50_000]).len(), 50_000);
    assert_eq!(
        preview("kimi-code/bash", &[("wall_seconds", "0.049")], b"a\n"),
        "Wall time: 0.049 seconds\na\n"
    );
    let mut policy = policy("kimi-code/bash", &[]);
    let error = policy.set("wall_seconds", "1s").unwrap_err().to_string();
    assert!(error.contains("`wall_seconds` takes nothing or a decimal number"), "{error}");
    assert!(policy.set("wall_seconds", "-1").is_err() && policy.set("wall_seconds", "1.").is_err());
    policy.set("wall_seconds", "").unwrap();
}

#[test]
fn kimi_code_cuts_long_lines_first() {
    let long = format!("{}\r\n{}\rend", "a".repeat(60_000), "b".repeat(1999));
    let cut = preview("kimi-code/bash", &[], long.as_bytes());
    let pointer =
        "[Per-line truncation occurred; the complete output was saved to a file.\noutput_path: /P\n";
    let line = format!("{}[...truncated]\r\n", "a".repeat(2000 - 16));
    let end = KIMI_END.replace("60894", &long.len().to_string());
    assert_eq!(cut, format!("{line}{}\rend\n{pointer}{KIMI_NEXT}]\n\n{end}", "b".repeat(1999)));
    let told = format!("{}\nCommand executed successfully.\n", "a".repeat(60_000));
    let cut = preview("kimi-code/bash", &[], told.as_bytes());
    assert!(cut.contains("to search it.]\n\ntask_id: TASK\n"), "{cut}");
    let wide = format!("{}\u{1F600}{}", "a".repeat(1985), "b".repeat(60_000));
    let cut = preview("kimi-code/bash", &[], wide.as_bytes());
    assert!(cut.starts_with(&format!("{}\u{FFFD}[...truncated]\n[Per-line", "a".repeat(1985))), "{cut}");
}

#[test]
fn kimi_code_counts_the_closing_line_of_a_failed_command() {
    let edge = ended("kimi-code/bash", &[], "/P", Some(1), &seq(60_000).as_bytes()[..49_990]);
    assert!(edge.contains("output_size_chars: 50024\noutput_size_bytes: 50024\n"), "{edge}");
    assert!(edge.ends_with("\nCommand failed with exit code: 1."), "{edge}");
    let open = format!("{}\n{}", "x".repeat(60_000), "y".repeat(2000));
    let cut = ended("kimi-code/bash", &[], "/P", Some(1), open.as_bytes());
    let last = format!("{}[...truncated]\nCommand failed with exit code: 1.\n[Per-line", "y".repeat(1985));
    assert!(cut.contains(&last), "{cut}");
}

#[test]
fn goose_names_both_files() {
    let text = seq(12000);
    let set = [];
    let cut = ended("goose/shell", &set, "/tmp/.tmpvqC5OW/stdout-0", None, text.as_bytes());
    let notice = |file: &str| {
        format!(
            "[Output exceeded 2000 line limit (12000 lines total). Full output saved to /tmp/.tmpvqC5OW/{file}. Read it with shell commands like `head`, `tail`, or `sed -n '100,200p'` up to 2000 lines at a time.]"
        )
    };
    let kept: Vec<_> = (11951..=12000).map(|line| line.to_string()).collect();
    assert_eq!(cut, format!("{}\n\n{}\n{}", kept.join("\n"), notice("stdout-0"), notice("output-0")));
    let old = ended("goose/shell-2026-08", &set, "/tmp/.tmpvqC5OW/stdout-0", None, text.as_bytes());
    assert_eq!(old, format!("{}\n\n{}", kept.join("\n"), notice("stdout-0")));
}

#[test]
fn openhands_puts_its_trailers_into_the_limit() {
    let set = [("cwd", "/w"), ("interpreter", "/py"), ("prefix", "[é]\n"), ("suffix", "\n[done]")];
    let whole = ended("openhands/terminal", &set, "/P", Some(0), b"out");
    assert_eq!(
        whole,
        "[é]\nout\n[done]\n[Current working directory: /w]\n[Python interpreter: /py]\n[Command finished with exit code 0]"
    );
    assert_eq!(ended("openhands/terminal", &[], "/P", Some(-1), b"out"), "out");
    let edge = "y".repeat(30_000 - "\n[Command finished with exit code 0]".len());
    assert_eq!(ended("openhands/terminal", &[], "/P", Some(0), edge.as_bytes()).len(), 30_000);
    let over = format!("{edge}y");
    let cut = ended("openhands/terminal", &[], "/P", Some(0), over.as_bytes());
    assert_eq!(cut.chars().count(), 30_000);
    assert!(
        cut.contains("has been saved to /P - ") && cut.ends_with("y\n[Command finished with exit code 0]")
    );
}

#[test]
fn hermes_says_nothing_of_recovery_in_0_19() {
    let cut = preview("hermes/tool-0.19", &[], &[b'y'; 100_001]);
    assert!(cut.starts_with("<persisted-output>\nThis tool result was too large (100,001 characters, 97.7 KB).\nFull output saved to: /P\nUse the read_file tool with offset and limit to access specific sections of this output.\n\nPreview (first 1500 chars):\nyyy"));
}

#[test]
fn hermes_counts_its_notice_and_strips_after_the_cut() {
    // The figures of a recorded run: 168,980 code points, 119,055 of them left out.
    let cut = preview("hermes/terminal", &[], &[b'y'; 168_980]);
    assert!(
        cut.contains("y\n\n... [OUTPUT TRUNCATED - 119,055 chars omitted out of 168,980 total] ...\n\ny"),
        "{cut}"
    );
    assert_eq!(cut.len(), 50_000);
    assert_eq!(cut.find('\n'), Some(19_970));
    // The run itself: `seq 1 30000` in a directory whose path has 30 points.
    let output: String = (1..=30_000).map(|n| format!("{n}\n")).collect();
    let cut = preview("hermes/terminal", &[("shell_points", "86")], output.as_bytes());
    assert!(cut.contains("119,055 chars omitted out of 168,980 total") && cut.ends_with("\n30000"));
    assert_eq!(cut.len(), 50_000 - 86 - 1);
    let of = |text: &str| preview("hermes/terminal", &[], text.as_bytes());
    assert_eq!(of(" \x1b[31mred\x1b[0m\u{9b}1m \x1b]0;t\x07x\u{85}\x1c\n"), "red x");
    assert_eq!(of("\x1b[0m"), "");
}

#[test]
fn codex_code_mode_has_a_header_and_joins_what_it_collected() {
    let of = |set: &[(&str, &str)], bytes: &[u8]| preview("codex/exec-code-mode", set, bytes);
    assert_eq!(of(&[], b"hi"), "Script completed\nOutput:\n\n\nhi");
    assert_eq!(
        of(&[("wall_seconds", "0.25")], b""),
        "Script completed\nWall time 0.3 seconds\nOutput:\n\n\n"
    );
    let cut = of(&[], &b"0123456\n".repeat(1 << 18));
    assert!(
        cut.contains("(original token count: 262144)\nTotal output lines: 131072\n\n0123"),
        "{}",
        &cut[..300]
    );
    assert!(cut.contains("…252144 tokens truncated…"));
}

#[test]
fn a_character_at_the_seam_of_what_was_collected_is_whole() {
    let set = [("max_tokens", "262144")];
    let text = format!("{}€{}", "y".repeat((1 << 19) - 2), "y".repeat((1 << 19) - 1));
    let all = format!("{}\u{82}\u{ac}", "y".repeat((1 << 19) - 2));
    let preview = preview("codex/exec-code-mode", &set, text.as_bytes());
    assert_eq!(preview.len(), text.len() + "Script completed\nOutput:\n\n\n".len(), "{}", all.len());
}

#[test]
fn mini_swe_agent_writes_json() {
    let of = |bytes: &[u8]| preview("mini-swe-agent/observation", &[], bytes);
    assert_eq!(
        of("a\"<é\n".as_bytes()),
        "{\n  \"returncode\": 0,\n  \"output\": \"a\\\"\\u003c\\u00e9\\n\"\n}"
    );
    assert!(of(&[b'y'; 9999]).contains("\"output\": \"yyy"));
    let y = "y".repeat(5000);
    assert_eq!(
        of(&[b'y'; 10_000]),
        format!(
            "{{\n  \"returncode\": 0,\n  \"output_head\": \"{y}\",\n  \"output_tail\": \"{y}\",\n  \"elided_chars\": 0,\n  \"warning\": \"Output too long.\"\n}}"
        )
    );
    assert!(
        ended("mini-swe-agent/observation", &[], "/P", Some(2), b"").starts_with("{\n  \"returncode\": 2,\n")
    );
}

#[test]
fn droid_counts_thousands_and_lines() {
    let text = seq(10_000);
    assert_eq!(preview("droid/tool", &[], &text.as_bytes()[..40_000]), text[..40_000]);
    let cut = preview("droid/tool", &[], text.as_bytes());
    let (head, tail) = (&text[..30_000], &text[text.len() - 10_000..]);
    let pieces = |text: &str| text.split('\n').count();
    let expected = format!(
        "{head}\n\n[... truncated {} characters from middle section ...]\n\n{tail}\n\n[Output truncated. Showing first 30k characters ({} lines) and last 10k characters ({} lines) out of 48k total characters (10001 lines)]\n\n<system-reminder>\nThis output was truncated. The full result is saved to /P. When your conclusion depends on complete coverage, read that file before proceeding (Read with offset/limit, Grep for patterns, or Execute for text processing).\n</system-reminder>",
        text.len() - 40_000,
        pieces(head),
        pieces(tail)
    );
    assert_eq!(cut, expected);
}

#[test]
fn grok_says_what_it_shows() {
    assert_eq!(ended("grok/bash", &[], "/P", Some(3), b"a\r\n\0\x1b[1mb"), "exit: 3\na\nb");
    let cut = preview("grok/bash", &[], &[b'y'; 1_008_890]);
    assert!(cut.starts_with(
        "exit: 0 [truncated: showing first/last 19.6 KB of 985.2 KB - full output at: /P]\nyyy"
    ));
    assert!(cut.contains("y\n\n... (output truncated) ...\n\ny"));
}

#[test]
fn openclaw_keeps_the_end_where_it_matters() {
    let of = |text: &str| preview("openclaw/tool", &[], text.as_bytes());
    assert_eq!(of(&"y".repeat(16_000)).len(), 16_000);
    let head = of(&"y".repeat(20_000));
    let suffix = "[... 4072 more characters truncated; rerun with narrower args if needed]";
    assert_eq!(head, format!("{}{suffix}", "y".repeat(15_928)));
    let ends = of(&format!("{} error", "y".repeat(20_000)));
    assert!(ends.contains("y\n\n⚠️ [... middle content omitted — showing head and tail ...]\n\ny"), "{ends}");
    assert!(ends.contains("y error[... ") && ends.encode_utf16().count() <= 16_000);
    let wide = of(&"漢".repeat(5000));
    assert!(wide.contains("more characters truncated") && wide.starts_with('漢'));
}

#[test]
fn deepagents_numbers_both_ends() {
    let text = seq(20_000);
    let cut = preview("deepagents/tool", &[("call_id", "c1")], text.as_bytes());
    assert!(cut.starts_with("Tool result too large, the result of this tool call c1 was saved in the filesystem at this path: /P\n\nYou can read the result"));
    assert!(cut.contains("indicate omitted lines in the middle of the content):\n\n1  1\n2  2\n3  3\n4  4\n5  5\n... [19990 lines truncated] ...\n19996  19996\n"), "{cut}");
    assert!(cut.ends_with("20000  20000\n"));
    let few = format!("{}\u{2028}a\r\n\u{b}\x1cb", "y".repeat(80_000));
    let cut = preview("deepagents/tool", &[], few.as_bytes());
    let shown = format!("characters):\n\n1  {}\n2  a\n3  \n4  \n5  b\n", "y".repeat(1000));
    assert!(cut.ends_with(&shown), "{cut}");
    assert!(cut.contains(
        "Here is a preview of the result (the output contains lines longer than 1000 characters; "
    ));
    let many = format!("{}\r\n{}", "a\u{85}b\r".repeat(50_000), "x\u{b}");
    let cut = preview("deepagents/tool", &[], many.as_bytes());
    assert!(cut.contains("... [99992 lines truncated] ...\n") && cut.ends_with("\n100002  x\n"), "{cut}");
}

#[test]
fn mistral_vibe_keeps_the_beginning() {
    assert_eq!(preview("mistral-vibe/bash", &[], &[b'y'; 16_001]).len(), 16_000);
}

#[test]
fn crush_measures_cells_and_keeps_every_escape() {
    let of = |text: &str| preview("crush/bash", &[("max_cells", "4")], text.as_bytes());
    assert_eq!(of("ab\n\ncd"), "ab\n\ncd");
    assert_eq!(of(""), "no output");
    assert_eq!(
        of("a\x1b[1mb\nc\nd\x1b[0mef"),
        "a\x1b[1mb\n\x1b[0m\n\n... [1 lines truncated, full output: /P] ...\n\n\x1b[1m\x1b[0mef"
    );
    assert_eq!(of("漢字漢字"), "漢\n\n... [0 lines truncated, full output: /P] ...\n\n字");
    let long = preview("crush/bash", &[], "e\u{301}".repeat(40_000).as_bytes());
    assert_eq!(long.matches('e').count(), 30_000 + "lines truncated, full".matches('e').count());
}

#[test]
fn sizes_in_cells_are_columns() {
    let of = |text: &str| {
        let planned = planned("crush/bash", &[("max_cells", "4")], text.as_bytes());
        (planned.total_units, planned.kept_units)
    };
    assert_eq!(of("a\x1b[1mb\x1b[0m\n漢"), (Some(4), Some(4)));
    assert_eq!(of("漢字漢字"), (Some(8), Some(4)));
    assert_eq!(of("e\u{301}\u{301}"), (Some(1), Some(1)));
}

#[test]
fn kilo_cuts_commands_as_opencode_does() {
    for bytes in [&b"a\n"[..], b"", &[b'y'; 60_000], seq(3000).as_bytes()] {
        assert_eq!(preview("kilo/shell", &[], bytes), preview("opencode/shell", &[], bytes));
    }
}
