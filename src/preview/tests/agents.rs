//! Tests agents as they ship, by the documents' examples.

use super::*;

const ABC: &[u8] = b"aaa\nbbbb\nccccc\n";

fn lines(count: usize) -> Vec<u8> {
    (1..=count).flat_map(|line| format!("{line}\n").into_bytes()).collect()
}

#[test]
fn opencode_shell() {
    let set = [("max_lines", "2")];
    assert_eq!(
        preview("opencode/shell", &set, ABC),
        "...output truncated...\n\nFull output saved to: /P\n\nccccc\n"
    );
    let huge = [vec![b'y'; 60_000], b"\n".to_vec()].concat();
    assert_eq!(
        preview("opencode/shell", &[], &huge),
        "...output truncated...\n\nFull output saved to: /P\n\n(no output)"
    );
    assert_eq!(preview("opencode/shell", &[], b""), "(no output)");
    assert_eq!(preview("opencode/shell", &[], b"\xef\xbb\xbfa\xf0\x9f"), "a");
    let stopped =
        preview("opencode/shell", &[("timeout_ms", "5"), ("aborted", "true"), ("tag", "bash")], b"a");
    assert!(
        stopped.starts_with(
            "a\n\n<bash_metadata>\nshell tool terminated command after exceeding timeout 5 ms. If"
        )
    );
    assert!(stopped.ends_with("milliseconds.\nUser aborted the command\n</bash_metadata>"), "{stopped}");
}

#[test]
fn opencode_shell_drops_whole_chunks() {
    let set = [("max_bytes", "10"), ("chunk", "8")];
    assert_eq!(
        preview("opencode/shell", &set, &[b'y'; 20]).len(),
        "...output truncated...\n\nFull output saved to: /P\n\n".len() + 10
    );
    let held = preview("opencode/shell", &[("max_bytes", "10"), ("chunk", "16")], b"0123456789abcdef\nghi");
    assert!(held.ends_with("\n\nghi"), "{held}");
}

#[test]
fn opencode_v2() {
    let cut = preview("opencode/v2", &[("max_lines", "10")], &lines(3000));
    assert_eq!(cut, "1\n2\n3\n\n... output truncated; full content saved to /P ...\n\n2999\n3000\n");
    let marker = "... output truncated; full content saved to /P ...";
    assert_eq!(preview("opencode/v2", &[("max_lines", "4")], &lines(9)), marker);
    assert_eq!(preview("opencode/v2", &[("max_bytes", "7")], &lines(9)), "... out");
    let halves = preview("opencode/v2", &[("max_bytes", "59")], &[b'y'; 100]);
    assert_eq!(halves, format!("yyy\n\n{marker}\n\nyy"));
}

#[test]
fn metadata_2026_keeps_the_end() {
    assert_eq!(preview("opencode/metadata-2026", &[("max_units", "2")], b"abc"), "...\n\nbc");
}

#[test]
fn pi_bash() {
    let bash = |set: &[(&str, &str)], text: &[u8]| preview("pi/bash", set, text);
    let four = b"l1\nl2\nl3\nl4\n";
    let end = "\n\n[Showing lines 3-4 of 4. Full output: /P]";
    assert_eq!(bash(&[("max_lines", "2")], four), format!("l3\nl4{end}"));
    assert_eq!(
        bash(&[("max_bytes", "5")], four),
        "l3\nl4\n\n[Showing lines 3-4 of 4 (5B limit). Full output: /P]"
    );
    assert_eq!(bash(&[], b""), "(no output)");
    assert_eq!(bash(&[("aborted", "true")], b"a"), "a\n\nCommand aborted");
    let ended = [vec![b'y'; 60_000], b"\n".to_vec()].concat();
    let expected =
        format!("{}\n\n[Showing last 50.0KB of line 1 (line is 0B). Full output: /P]", "y".repeat(51200));
    assert_eq!(bash(&[], &ended), expected);
    assert!(
        bash(&[], &lines(30000))
            .ends_with("\n30000\n\n[Showing lines 28001-30000 of 30000. Full output: /P]")
    );
}

#[test]
fn pi_bash_rolls_its_window() {
    let ended = [vec![b'y'; 300_000], b"\nabc\n".to_vec()].concat();
    assert_eq!(
        preview("pi/bash", &[], &ended),
        "abc\n\n\n[Showing lines 2-2 of 2 (50.0KB limit). Full output: /P]"
    );
}

#[test]
fn pi_read() {
    let read = |set: &[(&str, &str)], text: &[u8]| preview("pi/read", set, text);
    assert_eq!(
        read(&[("limit", "2")], ABC),
        "aaa\nbbbb\n\n[2 more lines in file. Use offset=3 to continue.]"
    );
    assert_eq!(
        read(&[("max_lines", "1")], ABC),
        "aaa\n\n[Showing lines 1-1 of 4. Use offset=2 to continue.]"
    );
    assert_eq!(read(&[("max_lines", "3")], ABC), "aaa\nbbbb\nccccc\n");
    let first = read(&[("max_bytes", "2")], ABC);
    assert_eq!(first, "[Line 1 is 3B, exceeds 2B limit. Use bash: sed -n '1p' /P | head -c 2]");
    let grep = preview("pi/grep", &[("limit", "1"), ("line_units", "2")], ABC);
    assert_eq!(
        grep,
        "aa... [truncated]\n\n[1 matches limit reached. Use limit=2 for more, or refine pattern. Some lines truncated to 500 chars. Use read tool to see full lines]"
    );
}

#[test]
fn codex() {
    let tokens = preview("codex/exec", &[("max_tokens", "2")], ABC);
    assert_eq!(
        tokens,
        "Warning: truncated output (original token count: 4)\nTotal output lines: 3\n\naaa\n…2 tokens truncated…ccc\n"
    );
    let bytes = preview("codex/exec-bytes", &[("max_bytes", "20")], &lines(3000));
    assert!(bytes.ends_with("\n\n1\n2\n3\n4\n5\n…13873 chars truncated…2999\n3000\n"), "{bytes}");
}

#[test]
fn claude_code() {
    let text = [b"a\n".repeat(900), vec![b'y'; 66_382 - 1800]].concat();
    let cut = preview("claude-code/bash", &[], &text);
    let start =
        "<persisted-output>\nOutput too large (64.8KB). Full output saved to: /P\n\nPreview (first 2KB):\n";
    assert_eq!(cut, format!("{start}{}a\n...\n</persisted-output>", "a\n".repeat(899)));
    let plain = preview("claude-code/bash", &[], &[b'y'; 30_001]);
    assert!(plain.ends_with(&format!("\n{}\n...\n</persisted-output>", "y".repeat(2000))));
    assert_eq!(
        preview("claude-code/bash-2025", &[("max_units", "2")], b"abc\nd"),
        "ab\n\n... [2 lines truncated] ..."
    );
}

#[test]
fn gemini() {
    let cut = preview("gemini-cli/output", &[], &[b'y'; 41_234]);
    assert!(cut.starts_with(
        "Output too large. Showing first 8,000 and last 32,000 characters. For full output see: /P\ny"
    ));
    assert!(cut.contains("y\n\n... [1,234 characters omitted] ...\n\ny"));
    assert_eq!(preview("gemini-cli/output", &[("max_units", "0")], b"abc"), "abc");
}

#[test]
fn line_counts_and_marks_of_the_others() {
    let goose = preview("goose/shell", &[("max_lines", "2"), ("tail_lines", "1")], b"a\nb\nc\n\n");
    assert!(
        goose
            .starts_with("c\n\n[Output exceeded 2 line limit (3 lines total). Full output saved to /P. Read")
    );
    assert_eq!(preview("goose/shell", &[], b"\n\n"), "(no output)");
    let kimi = preview("kimi-cli/shell", &[("line_points", "20")], b"0123456789abcdefghijk\r\nb\n");
    assert_eq!(kimi, "0123[...truncated]\r\nb\n");
    let task = preview("kimi-cli/task", &[("max_bytes", "3")], "a\u{e9}b\n".as_bytes());
    assert_eq!(task, "[Truncated. Full output: /P]\n\n\u{FFFD}b");
    assert_eq!(preview("swe-agent/observation", &[], b""), "Observation: ");
    let cont = preview("continue/bash", &[("max_lines", "2"), ("max_units", "3")], b"a\nbb\ncc");
    assert_eq!(cont, "(previous output truncated: 1 lines and 3 characters removed)\n\ncc");
    let old = preview("pi/bash-2026-03", &[("max_lines", "2")], b"l1\nl2\nl3\nl4\n");
    assert_eq!(old, "l4\n\n\n[Showing lines 4-5 of 5. Full output: undefined]");
}

#[test]
fn crush_strips_what_it_cuts() {
    let fits = b"\x1b[31mab\x1b[0m".to_vec();
    assert_eq!(preview("crush/bang", &[("max_bytes", "4")], &fits), "\x1b[31mab\x1b[0m");
    let cut = preview("crush/bang", &[("max_lines", "2")], b"\x1b[1ma\x1b[m\nb\nc");
    assert_eq!(cut, "a\n\n2 lines omitted, full output: /P\n\nc");
}

#[test]
fn a_go_read_refuses_large_files_and_miscounts() {
    let read = |set: &[(&str, &str)], text: &[u8]| preview("go-opencode/read", set, text);
    assert_eq!(read(&[], b""), "<file>\n\n</file>\n");
    assert_eq!(read(&[], b"a\r\r\n"), "<file>\n     1|a\n</file>\n");
    assert_eq!(read(&[("limit", "2")], b"a\nb\nc\n"), "<file>\n     1|a\n     2|b\n</file>\n");
    let notice = "(Showing lines 1-2 of 3 total. Use offset=2 to continue reading.)";
    assert_eq!(
        read(&[("limit", "2")], b"a\nb\nc\nd\n"),
        format!("<file>\n     1|a\n     2|b\n\n{notice}\n</file>\n")
    );
    let big = vec![b'\n'; 256_001];
    let totals = Totals::count(&big);
    let error =
        plan(&Input::new(Output { bytes: &big, totals: &totals }, "/P"), &policy("go-opencode/read", &[]));
    assert_eq!(
        error.unwrap_err().to_string(),
        "File is too large (256001 bytes). Maximum size is 256000 bytes"
    );
}

#[test]
fn two_cuts_in_a_row_count_the_second_notice() {
    let cut = preview("cline/result", &[], &[b'y'; 50_000]);
    assert_eq!(cut.len(), 7999);
    assert!(cut.starts_with("yyyy") && cut.ends_with("yyyy") && cut.contains("y\n\n...[truncated "), "{cut}");
    let exact = preview("openhands/terminal", &[], &[b'y'; 30_001]);
    assert_eq!(exact.chars().count(), 30_000);
    assert!(exact.contains("(truncated part starts around line 2).</NOTE>y"));
}

#[test]
fn copilot_counts_a_line_that_is_kept_up_to_an_escape_sequence() {
    let set = [("max_bytes", "3"), ("preview_units", "2")];
    let kept = |bytes: &[u8]| planned("copilot-cli/tool", &set, bytes).kept;
    assert_eq!(kept(b"ab\x1b[mcd\n").lines, Some(1));
    assert_eq!(kept(b"ab\x1b[mcd\n"), kept(b"abcd\n"));
}
