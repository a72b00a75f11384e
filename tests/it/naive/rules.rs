//! Fixed outputs for single rules: what is trimmed, escaped, stripped, split between two reads, and
//! what stands just at a cut.
use super::{Case, case};

const CLAUDE: &[&str] =
    &["claude-code/bash", "claude-code/bash-2025", "claude-code/bash-2026-01", "claude-code/bash-2026-02"];

fn each(policies: &[&'static str], outputs: &[Vec<u8>]) -> Vec<Case> {
    policies.iter().flat_map(|policy| outputs.iter().map(|output| case(policy, output, &[]))).collect()
}

fn with_exit_code(cases: Vec<Case>, code: i32) -> Vec<Case> {
    cases.into_iter().map(|c| Case { exit_code: Some(code), ..c }).collect()
}

/// `n` bytes of filling, something, and more filling up to `all` bytes.
fn at(n: usize, what: &[u8], all: usize) -> Vec<u8> {
    let rest = all.saturating_sub(n + what.len());
    [&b"y".repeat(n)[..], what, &b"z".repeat(rest)].concat()
}

/// Blanks of every kind, alone and around text, short and long.
fn blanks() -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for blank in
        [" ", "\t\n", "\r\n", "\u{a0}", "\u{feff}", "\u{85}", "\u{2028}", "\u{b}", "\u{1f}", " \n\u{a0}\n"]
    {
        for n in [1, 20000] {
            let b = blank.repeat(n);
            for text in [
                b.clone(),
                format!("{b}a{b}"),
                format!("{b}\n  a\n{b}"),
                format!("{b}{}", "line\n".repeat(7000)),
                format!("{}{b}", "line\n".repeat(7000)),
            ] {
                out.push(text.into_bytes());
            }
        }
    }
    out
}

/// Characters and tags at the cuts of the preview and of the window, and sizes around 1 MiB.
fn claude() -> Vec<Case> {
    let mut outputs = Vec::new();
    for n in [997, 998, 999, 1000, 1001, 1002, 1998, 1999, 2000, 2001] {
        for what in ["\n", "\r\n", "😀", "\u{a0}", "é😀\n😀"] {
            outputs.push(at(n, what.as_bytes(), 31000));
        }
    }
    for n in [0, 500, 981, 1980, 1981, 1982, 1990, 1999, 2000] {
        outputs.push(at(n, b"</persisted-output>", 31000));
        outputs.push(at(n, b"</persisted-output>\n</persisted-output>", 31000));
    }
    for n in 29996..30002 {
        for what in [&b"\xc3\xa9"[..], "漢".as_bytes(), "😀".as_bytes(), b"\xf0\x9f\x98", b"\xff", b" \n "]
        {
            outputs.push(at(n, what, 30100));
            // Blanks before it: what is left of the window is shown whole.
            let mut spaced = at(n, what, 30100);
            spaced[..n - 100].fill(b' ');
            outputs.push(spaced);
        }
    }
    for n in [1_048_575, 1_048_576, 1_048_577, 1_101_004, 1_101_005, 1_258_291] {
        outputs.push(b"y".repeat(n));
    }
    let mut cases = each(CLAUDE, &outputs);
    outputs.extend(blanks());
    cases.extend(each(CLAUDE, &blanks()));
    cases.extend(each(&["claude-code/bash-failed", "claude-code/tool"], &outputs));
    cases.extend(claude_window());
    cases
}

/// A wider window, and both halves of a pair at the cuts of a failure's text.
fn claude_window() -> Vec<Case> {
    let mut cases = Vec::new();
    for n in [29_999, 30_000, 30_001, 59_999, 60_000, 60_001] {
        for c in ["y", "é", "漢"] {
            let text = c.repeat(n / c.len() + 1);
            cases.push(case("claude-code/bash", &text.as_bytes()[..n], &[("window_bytes", "60000")]));
        }
    }
    for shift in 0..3 {
        let text = [&b"y".repeat(shift)[..], "😀".repeat(7400).as_bytes()].concat();
        cases.push(case("claude-code/bash-failed", &text, &[]));
    }
    with_exit_code(cases, 1)
}

/// Past what is saved at most: the sentence changes.
pub fn persist_limit() -> Vec<Case> {
    [64 * 1024 * 1024 - 1, 64 * 1024 * 1024]
        .map(|n| case("claude-code/bash", &b"y\n".repeat(n)[..n], &[]))
        .to_vec()
}

/// Escape sequences and characters split between two reads, and the second cut.
fn copilot() -> Vec<Case> {
    let mut outputs = blanks();
    let sequences: &[&[u8]] = &[
        b"\x1b[1;31m",
        b"\x1b]8;;u\x1b\\",
        b"\x1b]0;title\x07",
        b"\x1b(B",
        b"\x1bM",
        b"\xc2\x9b31m",
        "é😀".as_bytes(),
        b"\xf0\x9f\x98\x1b[1m",
        b"\r\n",
    ];
    for sequence in sequences {
        for before in 0..=sequence.len() {
            outputs.push(at(8192 - before, sequence, 8300));
            outputs.push(at(16384 - before, sequence, 20600));
        }
    }
    for n in 20420..20484 {
        outputs.push(b"y".repeat(n));
        outputs.push([&b"y".repeat(n - 3)[..], b"  \n"].concat());
        // Within the limit once it is stripped.
        outputs.push([&b"y".repeat(n)[..], b"\x1b[0m"].concat());
    }
    for n in [498, 499, 500] {
        outputs.push(at(n, "😀".as_bytes(), 21000));
    }
    for n in [20_531, 21_453, 1_048_575, 1_048_576, 1_101_004, 1_101_005, 1_153_433] {
        outputs.push(b"y".repeat(n));
    }
    let policies = &["copilot-cli/tool", "copilot-cli/tool-1.0.32"];
    let cases = each(policies, &outputs);
    [with_exit_code(cases[..40].to_vec(), 127), cases].concat()
}

/// Characters split where one read ends.
fn reads() -> Vec<Case> {
    let mut outputs = Vec::new();
    for what in ["é", "漢", "😀", "\u{feff}", "\r\n"] {
        for before in 0..=what.len() {
            for all in [65_600, 100_000, 140_000] {
                outputs.push(at(65_536 - before, what.as_bytes(), all));
                outputs.push(
                    [&b"l\n".repeat(32_700)[..], &at(136 - before, what.as_bytes(), all - 65_400)].concat(),
                );
            }
        }
    }
    each(&["continue/bash", "opencode/shell", "kilo/shell", "pi/bash", "opencode/metadata-2026"], &outputs)
}

/// Lines at Kimi Code's limits, pairs at its cuts, and the failure's own line across the limit.
fn kimi() -> Vec<Case> {
    let mut outputs = blanks();
    for end in ["\n", "\r\n", "\r", ""] {
        for n in [1984, 1998, 1999, 2000, 2001] {
            outputs.push(format!("{}{end}", "y".repeat(n)).repeat(30).into_bytes());
            outputs.push(format!("{}{end}{}", "x".repeat(60000), "y\n".repeat(n)).into_bytes());
        }
        outputs.push(format!("y😀{end}").repeat(20000).into_bytes());
        outputs.push(format!("{}{end}", "😀".repeat(1200)).repeat(30).into_bytes());
    }
    for n in 49_965..50_003 {
        outputs.push(b"y".repeat(n));
        outputs.push([&b"y\n".repeat(n / 2 - 1)[..], b"ab\n"].concat());
    }
    // What the text has already is not said again below it.
    outputs.push(format!("Command executed successfully.\n{}", "x".repeat(60000)).into_bytes());
    outputs.push(format!("task_id: TASK\n{}", "x".repeat(60000)).into_bytes());
    let cases = each(&["kimi-code/bash"], &outputs);
    [with_exit_code(cases.clone(), 3), cases].concat()
}

/// Rows of matches whose place is not counted.
fn matches() -> Vec<Case> {
    let mut outputs = Vec::new();
    for place in
        ["src/a.c:12: ", "a-b-7- ", "x:1: ", "x:1: \u{feff}", "y-1- \u{feff}\u{feff}", ":3: ", "a:3:", ""]
    {
        for n in [498, 499, 500, 501] {
            outputs.push(format!("{place}{}\nnext:2: b\n", "y".repeat(n)).into_bytes());
            outputs.push(format!("{place}{}😀z", "y".repeat(n)).into_bytes());
        }
    }
    each(&["pi/grep", "pi/find", "pi/ls"], &outputs)
}

/// JSON of every shape around the limit, and text that is only almost JSON.
fn json() -> Vec<Case> {
    let mut outputs = Vec::new();
    for n in [8189, 8190, 8191, 8192, 8193, 9000] {
        outputs.push(format!("\"{}\"", "s".repeat(n - 2)).into_bytes());
        outputs.push(format!("[{}1]", "1,".repeat((n - 3) / 2)).into_bytes());
        outputs.push(format!("[{}1", "1,".repeat((n - 2) / 2)).into_bytes());
        outputs.push(format!("\u{feff}[{}1]", "1,".repeat(n / 2)).into_bytes());
    }
    for value in [
        "{\"a\":{\"b\":[]},\"c\":{}}",
        "{\"a\" : [ 1.50, -0.0, 1e3, 1E-7, true, null ]}",
        "\"\\u00e9\\/\\ud83d\\ude00\\u0000\\n\"",
        "\"é😀\u{2028}\u{7f}\"",
        "[[[[\"x\"]]]]",
    ] {
        for times in [200, 3000] {
            outputs.push(format!(" [{value}{}]\r\n", format!(",\t{value}").repeat(times)).into_bytes());
        }
    }
    for shift in 0..40 {
        let text = "y".repeat(500 + 26 * shift);
        outputs.push(format!("[\"{text}\"{}]", ",0".repeat(4000)).into_bytes());
    }
    each(&["copilot-chat/result"], &outputs)
}

/// Every rule's own edges.
pub fn all() -> Vec<Case> {
    let mut cases = [claude(), copilot(), reads(), kimi(), matches(), json()].concat();
    let odd =
        [&b"\xef\xbb\xbfa\nb"[..], b"\xef\xbb\xbf", b"a\0b", b"a\xe2\x82", b"\xe2\x82"].map(|o| o.to_vec());
    cases.extend(each(&["opencode/read", "opencode/read-2026-01", "opencode/metadata-2026"], &odd));
    cases.extend(each(&["hermes/terminal", "goose/shell", "goose/shell-2026-08"], &blanks()));
    for n in (19_970..20_010).chain(29_985..30_015) {
        let c = case("hermes/terminal", &at(n, b"\x1b[1;31mred\x1b[0m", 60_000), &[]);
        cases.push(c);
    }
    for n in [29_900, 29_960, 30_000] {
        let sets =
            [("cwd", "/w"), ("interpreter", "/usr/bin/python3"), ("prefix", "[x]\n"), ("suffix", "\n[y]")];
        for length in n..n + 40 {
            let c = case("openhands/terminal", &b"y\n".repeat(length)[..length], &sets);
            cases.push(Case { exit_code: Some(0), ..c });
        }
    }
    cases
}
