//! Fixed outputs: the limits as they ship, to the line and to the byte, and every short string.

/// Default limits of each policy: pieces and size, in the policy's own unit; 0 for none.
pub const LIMITS: &[(&str, usize, usize)] = &[
    ("opencode/output", 2000, 51200),
    ("kilo/output", 2000, 51200),
    ("opencode/metadata", 0, 30000),
    ("opencode/read", 2000, 51200),
    ("opencode/read-2026-01", 2000, 51200),
    ("opencode/shell", 2000, 51200),
    ("kilo/shell", 2000, 51200),
    ("opencode/v2", 2000, 51200),
    ("opencode/metadata-2026", 0, 30000),
    ("basic/line-limit", 500, 0),
    ("basic/middle-out", 0, 50000),
    ("basic/byte-limit", 0, 40000),
    ("basic/metadata", 0, 50000),
    ("basic/stdout-stderr", 0, 30000),
    ("basic/smart", 200, 50000),
    ("basic/recommended", 500, 51200),
    ("basic/shell", 0, 30000),
    ("go-opencode/legacy", 2000, 51200),
    ("go-opencode/response-cap", 0, 1200000),
    ("go-opencode/line-aligned", 2000, 51200),
    ("go-opencode/bash", 2000, 51200),
    ("go-opencode/shipped", 2000, 51200),
    ("go-opencode/shipped-2026-02", 2000, 51200),
    ("go-opencode/2025", 0, 30000),
    ("go-opencode/mcp", 0, 51200),
    ("go-opencode/read", 2000, 2000),
    ("t15/output", 2000, 50000),
    ("t15/generic", 0, 50000),
    ("t15/recipe", 2000, 50000),
    ("pi-30k/read", 2000, 30720),
    ("pi-30k/bash", 2000, 30720),
    ("pi-30k/grep", 100, 500),
    ("pi-30k/find", 1000, 30720),
    ("pi-30k/ls", 500, 30720),
    ("pi/read", 2000, 51200),
    ("pi/bash", 2000, 51200),
    ("pi/bash-2026-03", 2000, 51200),
    ("pi/grep", 100, 500),
    ("pi/find", 1000, 51200),
    ("pi/ls", 500, 51200),
    ("pi/mcp", 0, 20480),
    ("pi/codemode", 0, 40000),
    ("codex/exec", 0, 40000),
    ("codex/exec-bytes", 0, 10000),
    ("codex/exec-code-mode", 0, 40000),
    ("claude-code/bash", 0, 30000),
    ("claude-code/bash-failed", 0, 30000),
    // Less the first line, and with the slack above.
    ("claude-code/bash-failed", 0, 11012),
    ("claude-code/bash-2025", 0, 30000),
    ("claude-code/bash-2026-01", 0, 30000),
    ("claude-code/bash-2026-02", 0, 30000),
    ("claude-code/tool", 0, 50000),
    ("gemini-cli/output", 0, 40000),
    ("qwen-code/shell", 0, 30000),
    ("qwen-code/shell-2026-03", 0, 30000),
    ("qwen-code/grep", 0, 20000),
    ("qwen-code/mcp", 0, 500000),
    ("crush/bang", 2000, 51200),
    ("goose/shell", 2000, 50000),
    ("goose/shell-2026-08", 2000, 50000),
    ("goose/result", 0, 200000),
    ("kimi-code/bash", 2000, 50000),
    ("kimi-code/bash", 0, 2000),
    ("kimi-code/tool", 0, 50000),
    ("nanocoder/bash", 0, 1987),
    ("kimi-cli/shell", 2000, 50000),
    ("kimi-cli/task", 0, 32768),
    ("cline/result", 0, 8000),
    ("cline/result", 0, 48000),
    ("copilot-chat/result", 0, 8192),
    ("copilot-cli/tool", 0, 20480),
    // With the last line that is the sum.
    ("copilot-cli/tool", 0, 20440),
    ("copilot-cli/tool", 0, 8192),
    ("copilot-cli/result", 0, 20480),
    ("copilot-cli/tool-1.0.32", 0, 20480),
    ("copilot-cli/tool-1.0.32", 0, 20453),
    ("hermes/tool", 0, 100000),
    ("hermes/tool-0.19", 0, 100000),
    ("hermes/terminal", 0, 50000),
    ("openhands/terminal", 0, 30000),
    ("mini-swe-agent/observation", 0, 10000),
    ("droid/tool", 0, 40000),
    ("openclaw/tool", 0, 16000),
    ("deepagents/tool", 0, 80000),
    ("openhands-v0/terminal", 0, 30000),
    ("continue/bash", 1000, 50000),
    ("swe-agent/observation", 0, 100000),
];

/// limit - 1, limit, limit + 1 short lines, with and without a final LF.
pub fn by_lines(limit: usize) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for (line, n) in
        [("x", limit - 1), ("x", limit), ("x", limit + 1), ("", limit), ("", 3 * limit), ("é\r", limit)]
    {
        let mut text = format!("{line}\n").repeat(n).into_bytes();
        out.push(text.clone());
        text.pop();
        out.push(text);
    }
    out
}

/// One line around the limit in every width of character, and huge lines first, last and alone.
pub fn by_size(limit: usize) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for n in [limit - 1, limit, limit + 1] {
        for last in ["y", "\n"] {
            out.push(["y".repeat(n - 1).as_bytes(), last.as_bytes()].concat());
            out.push(
                [
                    format!("{}\n", "z".repeat(79)).repeat(n / 80).as_bytes(),
                    "y".repeat(n % 80).as_bytes(),
                    last.as_bytes(),
                ]
                .concat(),
            );
        }
    }
    for c in ["é", "漢", "😀"] {
        for shift in 0..c.len() {
            out.push(["a".repeat(shift).as_bytes(), c.repeat(limit / c.len() + 1).as_bytes()].concat());
        }
        out.push(["a".as_bytes(), c.repeat(limit + 1).as_bytes()].concat());
    }
    for bad in [&b"\xff"[..], b"\xf0\x9f\x98", b"\xed\xa0\x80"] {
        out.push(bad.repeat(limit / 3 + 1));
    }
    let huge = "漢".repeat(limit + 1);
    for text in [
        format!("{huge}\n"),
        format!("{huge}\nlast\n"),
        format!("first\n{huge}"),
        format!("first\n{huge}\n\nlast\n"),
    ] {
        out.push(text.into_bytes());
    }
    out
}

/// Every string of at most `length` letters.
pub fn every_string(letters: &[&[u8]], length: usize) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = vec![Vec::new()];
    let mut longest = all.clone();
    for _ in 0..length {
        let mut longer = Vec::new();
        for text in &longest {
            for letter in letters {
                longer.push([text.as_slice(), letter].concat());
            }
        }
        all.extend(longer.iter().cloned());
        longest = longer;
    }
    all
}

/// A policy of lines, and the values of its parameters in the sweep.
pub type Sweep = (&'static str, &'static [(&'static str, &'static [&'static str])]);

const LINES: &[&str] = &["0", "1", "2", "3", "4"];
const SIZES: &[&str] = &["0", "1", "2", "3", "4", "5", "6"];
const FROM_1: &[&str] = &["1", "2", "3", "4"];
const BOTH: &[&str] = &["head", "tail"];

/// Every combination of these, over every short string.
pub const SWEEPS: &[Sweep] = &[
    ("opencode/output", &[("max_lines", LINES), ("max_bytes", SIZES), ("direction", BOTH)]),
    ("opencode/shell", &[("max_lines", LINES), ("max_bytes", SIZES), ("chunk", &["1", "2", "3", "65536"])]),
    (
        "opencode/v2",
        &[
            ("max_lines", &["4", "5", "6", "7", "8"]),
            ("max_bytes", &["53", "57", "58", "59", "60", "61", "62"]),
        ],
    ),
    ("opencode/read", &[("offset", FROM_1), ("limit", LINES)]),
    ("opencode/read-2026-01", &[("offset", LINES), ("limit", LINES)]),
    ("basic/line-limit", &[("max_lines", LINES)]),
    ("basic/recommended", &[("tool", &["read", "shell"]), ("max_lines", LINES), ("max_bytes", SIZES)]),
    ("basic/shell", &[("max_bytes", SIZES)]),
    ("go-opencode/legacy", &[("max_lines", LINES), ("max_bytes", SIZES)]),
    ("go-opencode/line-aligned", &[("max_lines", LINES), ("max_bytes", SIZES)]),
    (
        "go-opencode/bash",
        &[
            ("max_lines", LINES),
            ("max_bytes", SIZES),
            ("head_lines", &["0", "1", "2"]),
            ("tail_lines", &["0", "1", "2"]),
        ],
    ),
    ("go-opencode/mcp", &[("max_bytes", SIZES)]),
    ("go-opencode/read", &[("offset", LINES), ("limit", LINES)]),
    ("t15/output", &[("max_lines", LINES), ("max_units", SIZES), ("direction", BOTH)]),
    ("t15/recipe", &[("max_lines", LINES), ("max_units", SIZES), ("direction", BOTH)]),
    ("pi-30k/read", &[("max_lines", LINES), ("max_bytes", SIZES), ("offset", &["1", "2"]), ("limit", LINES)]),
    ("pi-30k/bash", &[("max_lines", LINES), ("max_bytes", SIZES)]),
    ("pi-30k/grep", &[("limit", LINES), ("max_bytes", SIZES)]),
    ("pi-30k/ls", &[("limit", LINES), ("max_bytes", SIZES)]),
    ("pi/read", &[("max_lines", LINES), ("max_bytes", SIZES), ("offset", &["1", "2"]), ("limit", LINES)]),
    ("pi/bash", &[("max_lines", LINES), ("max_bytes", SIZES), ("chunk", &["1", "2", "65536"])]),
    ("pi/bash-2026-03", &[("max_lines", LINES), ("max_bytes", SIZES), ("chunk", &["1", "2", "65536"])]),
    ("crush/bang", &[("max_lines", LINES), ("max_bytes", SIZES)]),
    ("goose/shell", &[("max_lines", LINES), ("max_bytes", SIZES)]),
    ("codex/exec-bytes", &[("max_bytes", SIZES)]),
    ("gemini-cli/output", &[("max_units", SIZES)]),
    ("continue/bash", &[("max_lines", LINES), ("max_units", SIZES), ("chunk", &["1", "2", "3", "65536"])]),
    ("claude-code/bash", &[("max_bytes", SIZES), ("preview_units", &["1", "2", "3", "2000"])]),
    (
        "claude-code/bash-failed",
        &[("max_units", SIZES), ("slack_units", &["8", "12"]), ("window_bytes", SIZES)],
    ),
    ("claude-code/bash-2025", &[("max_units", SIZES)]),
    ("claude-code/bash-2026-01", &[("max_units", SIZES), ("preview_units", &["1", "2", "3", "2000"])]),
    ("claude-code/bash-2026-02", &[("max_bytes", SIZES), ("preview_units", &["1", "2", "3", "2000"])]),
    ("copilot-cli/result", &[("max_bytes", SIZES), ("preview_units", &["1", "2", "3"])]),
    (
        "copilot-cli/tool",
        &[("chunk", &["1", "2", "3"]), ("max_bytes", &["3", "42", "43", "44", "45", "8192"])],
    ),
    (
        "kimi-code/bash",
        &[("max_units", SIZES), ("line_units", &["2", "15"]), ("head_units", LINES), ("tail_units", LINES)],
    ),
    (
        "kimi-code/tool",
        &[("max_units", SIZES), ("line_units", &["2", "15"]), ("head_units", LINES), ("tail_units", LINES)],
    ),
    ("pi/grep", &[("limit", LINES), ("max_bytes", SIZES), ("line_units", &["0", "1", "2"])]),
    ("pi/find", &[("limit", LINES), ("max_bytes", SIZES)]),
    ("pi/mcp", &[("max_bytes", SIZES)]),
    ("pi/codemode", &[("max_units", SIZES)]),
    ("mini-swe-agent/observation", &[("max_points", SIZES)]),
];

/// All combinations of the values.
pub fn combinations(
    values: &[(&'static str, &'static [&'static str])],
) -> Vec<Vec<(&'static str, &'static str)>> {
    let mut all = vec![Vec::new()];
    for (key, options) in values {
        let mut longer = Vec::new();
        for so_far in &all {
            for option in *options {
                let mut sets = so_far.clone();
                sets.push((*key, *option));
                longer.push(sets);
            }
        }
        all = longer;
    }
    all
}

/// Outputs that no limit alone asks for: many reads of a pipe, collectors, the net behind every tool.
pub fn large() -> Vec<Vec<u8>> {
    let rows = |width: usize, n: usize| format!("{}\n", "r".repeat(width - 1)).repeat(n).into_bytes();
    let mut out = Vec::new();
    for n in [65537, 105_536, 131_072, 204_801, 300_000] {
        out.push("y".repeat(n).into_bytes());
        out.push([&b"y".repeat(n - 1)[..], b"\n"].concat());
        out.push(rows(64, n / 64));
        out.push(rows(64, n / 64 + 1)[..n].to_vec());
        out.push([&rows(64, 1000)[..], "漢".repeat(n / 3).as_bytes(), b"\nend"].concat());
        out.push([&b"\n".to_vec()[..], &b"\xff".repeat(n / 3)].concat());
        out.push("é\n".repeat(n / 3).into_bytes());
        out.push(
            ["y".repeat(65535).as_bytes(), "😀".as_bytes(), "z\n".repeat((n - 65536) / 2).as_bytes()]
                .concat(),
        );
    }
    for n in [1_048_575, 1_048_576, 1_048_577, 1_200_003, 1_200_004] {
        out.push("y".repeat(n).into_bytes());
    }
    out.push([&b"\n"[..], &b"y".repeat(1_300_000)].concat());
    out.push([&b"yy\n"[..], &b"y".repeat(1_300_000)].concat());
    out.push([&b"\xc3\xa9".repeat(600_000)[..], b"\n\xff\n"].concat());
    out
}

/// The policies that those are for.
pub const STREAMED: &[&str] = &[
    "opencode/shell",
    "continue/bash",
    "pi/bash",
    "pi/bash-2026-03",
    "codex/exec",
    "codex/exec-bytes",
    "codex/exec-code-mode",
    "go-opencode/shipped",
    "go-opencode/response-cap",
    "opencode/v2",
];
