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
fn kimi_code_reports_empty_output_and_wall_time() {
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
fn kimi_code_says_nothing_after_the_previews_of_other_tools() {
    let text = format!("{}é", seq(12000));
    let of = |set: &[(&str, &str)], bytes: &[u8]| {
        let mut all = vec![("call_id", "call_1"), ("tool_name", "mcp__fix__rows")];
        all.extend(set);
        preview("kimi-code/tool", &all, bytes)
    };
    let cut = format!(
        "Tool output exceeded 50000 characters; the full output was saved to a file.\ntool_name: mcp__fix__rows\ntool_call_id: call_1\noutput_size_chars: 60895\noutput_size_bytes: 60896\noutput_path: /P\n{KIMI_NEXT}\n\n[preview: chars [0, 4096)]\n{}\n\n[elided: chars [4096, 59871)]\n\n[preview: chars [59871, 60895)]\n{}",
        &text[..4096],
        &text[59871..]
    );
    assert_eq!(of(&[], text.as_bytes()), cut);
    let error = "<system>ERROR: Tool execution failed.</system>\n";
    let failed = [("failed", "true"), ("wall_seconds", "0.25")];
    assert_eq!(of(&failed, text.as_bytes()), format!("Wall time: 0.250 seconds\n{error}{cut}"));
    assert_eq!(of(&[("failed", "true")], b"no"), format!("{error}no"));
    assert_eq!(
        [of(&[], b" \n"), of(&[("failed", "true")], b"")],
        [
            "<system>Tool output is empty.</system>",
            "<system>ERROR: Tool execution failed. Tool output is empty.</system>"
        ]
    );
    assert_eq!(of(&[], &[b'y'; 50_000]).len(), 50_000);
}

#[test]
fn nanocoder_is_exactly_as_long_as_its_limit() {
    let of = |bytes: &[u8]| ended("nanocoder/bash", &[], "/P", Some(7), bytes);
    assert_eq!(of(b"a\n"), "EXIT_CODE: 7\na\n");
    assert_eq!(of(&[b'y'; 1987]).len(), 2000);
    let text = seq(12000);
    let notice = "\n... [Output truncated: 60907 characters total; request a narrower result to inspect omitted content] ...\n";
    let tail = 2000 - 13 - 744 - notice.len();
    let (head, tail) = (&text[..744], &text[text.len() - tail..]);
    assert_eq!(of(text.as_bytes()), format!("EXIT_CODE: 7\n{head}{notice}{tail}"));
    assert_eq!(of(&[b'y'; 1988]).len(), 2000);
}

#[test]
fn continue_shares_its_limits_among_the_calls_of_a_message() {
    let of = |calls: &str, count| preview("continue/bash", &[("calls", calls)], seq(count).as_bytes());
    assert!(of("1", 2000).starts_with("(previous 1001 lines truncated)\n\n1002\n"));
    assert!(of("2", 2000).starts_with("(previous 1501 lines truncated)\n\n1502\n"));
    assert!(of("3", 2000).starts_with("(previous 1668 lines truncated)\n\n1669\n"));
    assert_eq!(of("2", 499), seq(499));
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
fn copilot_cuts_a_result_again_without_a_last_line() {
    let text = "y".repeat(499) + "\u{1f980}" + &"z".repeat(19_977);
    assert_eq!(preview("copilot-cli/result", &[], text.as_bytes()), text);
    let cut = preview("copilot-cli/result", &[], format!("{text}z").as_bytes());
    assert!(cut.starts_with("Output too large to read at once (20.0 KB). Saved to: /P\nConsider using"));
    assert!(cut.ends_with(&format!("\nPreview (first 500 chars):\n{}\u{fffd}", "y".repeat(499))), "{cut}");
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
    assert_eq!(cut, ended("goose/shell", &set, "/tmp/.tmpvqC5OW/output-0", None, text.as_bytes()));
    let other = ended("goose/shell", &set, "/tmp/.tmpvqC5OW/stderr-0", None, text.as_bytes());
    assert!(other.ends_with(&format!("{}\n{}", notice("stderr-0"), notice("stderr-0"))), "not seen");
    let old = ended("goose/shell-2026-08", &set, "/tmp/.tmpvqC5OW/stdout-0", None, text.as_bytes());
    assert_eq!(old, format!("{}\n\n{}", kept.join("\n"), notice("stdout-0")));
}

#[test]
fn goose_replaces_a_large_result_whole() {
    let text = "é".repeat(200_000);
    assert_eq!(preview("goose/result", &[], text.as_bytes()), text);
    let path = "/tmp/goose_mcp_responses/mcp_response_20261121_120000.123456.txt";
    let cut = ended("goose/result", &[], path, None, format!("{text}\n").as_bytes());
    assert_eq!(
        cut,
        format!(
            "The response returned from the tool call was larger (200001 characters) and is stored in the file which you can use other tools to examine or search in: {path}"
        )
    );
}

#[test]
fn goose_keeps_both_ends_of_what_is_over_10_mib() {
    let cap = 10 << 20;
    for (policy, bytes, saved) in [
        ("goose/shell", cap, "limit (10485760 bytes total). Full output saved to /t/stdout-0. Read it"),
        (
            "goose/shell",
            cap + 1,
            "Captured fragment (beginning and end) saved to /t/stdout-0; the dropped middle is unrecoverable.",
        ),
        (
            "goose/shell",
            cap + 1,
            "Captured fragment (beginning and end) saved to /t/output-0; the dropped middle is unrecoverable.",
        ),
        (
            "goose/shell-2026-08",
            cap,
            "limit (10485760 bytes total). Full output saved to /t/stdout-0. Read it",
        ),
        (
            "goose/shell-2026-08",
            cap + 1,
            "Captured fragment (beginning and end) saved to /t/stdout-0; the dropped middle is unrecoverable.",
        ),
    ] {
        let cut = ended(policy, &[], "/t/stdout-0", None, &vec![b'x'; bytes]);
        assert!(cut.contains(saved), "{policy}, {bytes}: {}", &cut[10_000..]);
        assert_eq!(cut.contains("Full output"), bytes == cap, "{policy}, {bytes}");
        let all = ended(policy, &[("capture_bytes", "0")], "/t/stdout-0", None, &vec![b'x'; bytes]);
        assert!(all.contains("Full output saved to /t/stdout-0.") && !all.contains("fragment"), "{policy}");
    }
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
    assert!(
        cut.contains("…252144 tokens truncated…\n\n[Code Mode session output limit reached: omitted 31 text")
    );
    let between = |raw: usize| {
        let text = of(&[], &vec![b'y'; raw]);
        let (_, cut) = text.split_once(" tokens truncated…").unwrap();
        cut[..cut.len() - 20_000].to_owned()
    };
    let part = |omitted: &str| {
        format!(
            "\n\n[Code Mode session output limit reached: omitted {omitted} text bytes; discarded 0 text segments, 0 images, 0 audio items]\n\n"
        )
    };
    assert_eq!(
        [1_048_576, 1_048_577, 1_300_000, 3_000_000].map(between),
        [String::new(), part("25"), part("30"), part("31")]
    );
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
    assert_eq!(of(b"a\r\nb\rc\r\r\n"), of(b"a\nb\nc\n\n"));
    // CRLF counts once, on either side of the limit, and a cut never parts it.
    let crlf = |lines: usize, rest: &str| format!("{}{rest}", "\r\n".repeat(lines));
    let feeds = |lines: usize, rest: &str| format!("{}{rest}", "\n".repeat(lines));
    for (lines, rest) in [(9999, ""), (9999, "é"), (12_000, "\r"), (40_000, "\r\r")] {
        let plain = feeds(lines, &rest.replace('\r', "\n"));
        assert_eq!(of(crlf(lines, rest).as_bytes()), of(plain.as_bytes()), "{lines} {rest:?}");
    }
    assert!(of(crlf(40_000, "").as_bytes()).contains("\"elided_chars\": 30000,"));
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
fn openclaw_keeps_the_end_if_it_looks_important() {
    let of = |text: &str| preview("openclaw/tool", &[], text.as_bytes());
    assert_eq!(of(&"y".repeat(16_000)).len(), 16_000);
    let head = of(&"y".repeat(20_000));
    let suffix = "[... 4072 more characters truncated; rerun with narrower args if needed]";
    assert_eq!(head, format!("{}{suffix}", "y".repeat(15_928)));
    let ends = of(&format!("{} error", "y".repeat(20_000)));
    assert!(ends.contains("y\n\n⚠️ [... middle content omitted — showing head and tail ...]\n\ny"), "{ends}");
    assert!(ends.contains("y error[... ") && ends.encode_utf16().count() <= 16_000);
    // JavaScript's `trim` takes U+FEFF for white space, but not U+0085.
    for (end, kept) in [("}\u{feff}\n", true), ("}\u{85}", false)] {
        let cut = of(&format!("{}{end}", "y".repeat(20_000)));
        assert_eq!(cut.contains("showing head and tail"), kept, "{end:?}");
    }
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
        (planned.total.units, planned.kept.units)
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

const QWEN_WRAPPER: &str = "Tool output was too large and has been truncated.\nThe full output has been saved to: /P\nTo read the complete output, use the read_file tool with the absolute file path above.\nThe truncated output below shows the beginning and end of the content. The marker '... [CONTENT TRUNCATED] ...' indicates where content was removed.\n\nTruncated part of the output:\n";
const QWEN_BETWEEN: &str = "\n\n---\n... [CONTENT TRUNCATED] ...\n---\n\n";

/// What Qwen Code's search found, 25 units a line.
fn found(lines: std::ops::RangeInclusive<usize>) -> String {
    let line = |number| format!("src/a.rs:{number:05}: let x = 1");
    lines.map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn qwen_code_shows_all_of_a_search_s_budget() {
    let text = format!("Found 1000 matches\n---\n{}", found(1..=1000));
    let cut = preview("qwen-code/grep", &[], text.as_bytes());
    let (head, tail) = (&text[..3992 - 3], &text[text.len() - (15_969 - 3)..]);
    assert_eq!(cut, format!("{QWEN_WRAPPER}{head}...{QWEN_BETWEEN}...{tail}"));
    // A command of the same size is shown whole, and a larger one far shorter.
    assert_eq!(preview("qwen-code/shell", &[], text.as_bytes()), text);
}

#[test]
fn qwen_code_cuts_what_a_server_gives_to_2000_units() {
    let text = found(1..=20_000);
    assert_eq!(preview("qwen-code/mcp", &[], &text.as_bytes()[..500_000]), text[..500_000]);
    let text = &text[..500_001];
    // 1,961 for both: 392 and the rest. Two units are too few for the dots.
    let (head, tail) = (&text[..392 - 3], &text[text.len() - (1569 - 3)..]);
    let cut = preview("qwen-code/mcp", &[], text.as_bytes());
    assert_eq!(cut, format!("{QWEN_WRAPPER}{head}{QWEN_BETWEEN}...{tail}"));
}

/// As it was seen: 25,106 units were cut to 20,467, with the path of the agent's own file.
#[test]
fn qwen_code_cuts_a_search_to_the_size_that_was_seen() {
    let path = format!("/home/u/.qwen/tmp/{}/grep_search_{}.output", "0".repeat(64), "0".repeat(12));
    let text = found(1..=1005);
    let text = &text[..25_106];
    let cut = ended("qwen-code/grep", &[], &path, None, text.as_bytes());
    assert_eq!(cut.len(), 20_467);
    assert!(cut.contains(&format!("saved to: {path}\n")) && cut.ends_with(&text[text.len() - 15_966..]));
}

#[test]
fn qwen_code_leaves_a_search_as_it_is_if_nothing_would_be_won() {
    let of = |text: &str| preview("qwen-code/grep", &[], text.as_bytes());
    let least = QWEN_WRAPPER.len() + 19_961 + QWEN_BETWEEN.len();
    let text = found(1..=1000);
    for units in [20_000, 20_001, least] {
        assert_eq!(of(&text[..units]), text[..units]);
    }
    assert_eq!(of(&text[..=least]).len(), least);
    let again = of(&text);
    assert_eq!(of(&format!("{again}{text}")), format!("{again}{text}"), "what was cut before");
}
