//! How each policy is asked: its parameters and their ranges.
use super::inputs::Kind::*;
use super::inputs::{Scale, Scale::*, Spec, Streams};

const TOOLS: &[&str] = &["shell", "file", "grep", "shell_command", "read_file", "grep_files", "ls"];
const DIRECTIONS: &[&str] = &["head", "tail"];

const fn plain(
    policy: &'static str,
    scale: Scale,
    knobs: &'static [(&'static str, super::inputs::Kind)],
) -> Spec {
    Spec { policy, scale, knobs, streams: Streams::None }
}

const fn streams(
    policy: &'static str,
    scale: Scale,
    knobs: &'static [(&'static str, super::inputs::Kind)],
    streams: Streams,
) -> Spec {
    Spec { policy, scale, knobs, streams }
}

/// The policies that their documents define.
pub static CORE: &[Spec] = &[
    plain(
        "opencode/output",
        Small,
        &[
            ("max_lines", Lines),
            ("max_bytes", Bytes(0)),
            ("direction", Word(DIRECTIONS)),
            ("task_tool", Bool),
        ],
    ),
    plain("opencode/metadata", Small, &[("max_units", Units(0))]),
    plain("opencode/read", Small, &[("offset", Offset(1)), ("limit", Limit)]),
    plain("opencode/read-2026-01", Small, &[("offset", Offset(0)), ("limit", Limit)]),
    plain("basic/line-limit", Small, &[("max_lines", Lines)]),
    plain("basic/middle-out", Small, &[("max_points", Points(0))]),
    plain("basic/byte-limit", Small, &[("max_bytes", Bytes(0))]),
    plain("basic/byte-limit", Small, &[("max_tokens", Tokens)]),
    plain("basic/metadata", Small, &[("max_points", Points(0))]),
    streams("basic/stdout-stderr", Small, &[("max_points", Points(0))], Streams::Stderr),
    plain("basic/smart", Large, &[("tool", Word(TOOLS))]),
    plain(
        "basic/smart",
        Large,
        &[
            ("tool", Word(&["shell", "grep"])),
            ("max_lines", Lines),
            ("max_size", Bytes(0)),
            ("middle_points", Points(0)),
        ],
    ),
    plain("basic/smart", Small, &[("max_size", Points(0))]),
    plain(
        "basic/recommended",
        Small,
        &[
            ("tool", Word(&["shell", "read", "grep", "list", "error"])),
            ("max_lines", Lines),
            ("max_bytes", Bytes(0)),
        ],
    ),
    plain("basic/shell", Small, &[("max_bytes", RawBytes(0))]),
    plain("go-opencode/legacy", Small, &[("max_lines", Lines), ("max_bytes", RawBytes(0))]),
    plain("go-opencode/response-cap", Small, &[("max_tokens", Tokens)]),
    plain("go-opencode/line-aligned", Small, &[("max_lines", Lines), ("max_bytes", RawBytes(0))]),
    streams(
        "go-opencode/bash",
        Small,
        &[
            ("max_lines", Lines),
            ("max_bytes", RawBytes(0)),
            ("head_lines", Lines),
            ("tail_lines", Lines),
            ("save_failed", Bool),
            ("aborted", Bool),
            ("timed_out", Bool),
            ("max_saved_bytes", RawBytes(0)),
        ],
        Streams::Both,
    ),
    plain(
        "t15/output",
        Small,
        &[("max_lines", Lines), ("max_units", Units(0)), ("direction", Word(DIRECTIONS))],
    ),
    plain("t15/generic", Small, &[("max_units", Units(0))]),
    plain(
        "t15/recipe",
        Small,
        &[("max_lines", Lines), ("max_units", Units(0)), ("direction", Word(DIRECTIONS))],
    ),
    plain(
        "pi-30k/read",
        Small,
        &[("max_lines", Lines), ("max_bytes", Bytes(0)), ("offset", Offset(1)), ("limit", Limit)],
    ),
    plain("pi-30k/bash", Small, &[("max_lines", Lines), ("max_bytes", Bytes(0))]),
    plain("pi-30k/grep", Large, &[("limit", Limit), ("max_bytes", Bytes(0))]),
    plain("pi-30k/find", Small, &[("limit", Limit), ("max_bytes", Bytes(0))]),
    plain("pi-30k/ls", Small, &[("limit", Limit), ("max_bytes", Bytes(0))]),
];

/// The agents as they ship.
pub static SHIPPED: &[Spec] = &[
    plain(
        "kilo/output",
        Small,
        &[
            ("max_lines", Lines),
            ("max_bytes", Bytes(0)),
            ("direction", Word(DIRECTIONS)),
            ("task_tool", Bool),
        ],
    ),
    plain("opencode/shell", Small, &[("max_lines", Lines), ("max_bytes", Bytes(0)), ("chunk", Chunk)]),
    plain("kilo/shell", Small, &[("max_lines", Lines), ("max_bytes", Bytes(0)), ("chunk", Chunk)]),
    plain("opencode/v2", Small, &[("max_lines", Lines), ("max_bytes", Bytes(60))]),
    plain("opencode/metadata-2026", Small, &[("max_units", Units(0))]),
    streams(
        "go-opencode/shipped",
        Small,
        &[
            ("max_lines", Lines),
            ("max_bytes", RawBytes(0)),
            ("head_lines", Lines),
            ("tail_lines", Lines),
            ("save_failed", Bool),
            ("aborted", Bool),
            ("timed_out", Bool),
            ("max_saved_bytes", RawBytes(0)),
            ("stream", Word(&["stdout", "stderr"])),
        ],
        Streams::Both,
    ),
    streams("go-opencode/2025", Small, &[("max_bytes", RawBytes(0)), ("timed_out", Bool)], Streams::Both),
    plain("go-opencode/mcp", Small, &[("max_bytes", RawBytes(0)), ("label", Word(&["tool", "x.y"]))]),
    plain("go-opencode/read", Large, &[("offset", Offset(0)), ("limit", Limit)]),
    streams(
        "pi/bash",
        Small,
        &[("max_lines", Lines), ("max_bytes", Bytes(0)), ("chunk", Chunk)],
        Streams::ExitCode,
    ),
    streams(
        "pi/bash-2026-03",
        Small,
        &[("max_lines", Lines), ("max_bytes", Bytes(0)), ("chunk", Chunk)],
        Streams::ExitCode,
    ),
    plain(
        "pi/read",
        Small,
        &[("max_lines", Lines), ("max_bytes", Bytes(0)), ("offset", Offset(1)), ("limit", Limit)],
    ),
    plain("pi/grep", Large, &[("limit", Limit), ("max_bytes", Bytes(0))]),
    plain("pi/grep", Small, &[("limit", Limit), ("max_bytes", Bytes(0)), ("line_units", Few)]),
    plain("pi/mcp", Small, &[("max_bytes", Bytes(0))]),
    plain("pi/codemode", Small, &[("max_units", Units(0))]),
    plain("pi/find", Small, &[("limit", Limit), ("max_bytes", Bytes(0))]),
    plain("pi/ls", Small, &[("limit", Limit), ("max_bytes", Bytes(0))]),
    plain("codex/exec", Small, &[("max_tokens", Tokens)]),
    plain("codex/exec-bytes", Small, &[("max_bytes", Bytes(0))]),
    plain(
        "codex/exec-code-mode",
        Small,
        &[("max_tokens", Tokens), ("wall_seconds", Word(&["", "0.2", "13.0"]))],
    ),
    plain("claude-code/bash", Large, &[("max_bytes", RawBytes(0))]),
    plain("claude-code/bash", Small, &[("max_units", RawBytes(0)), ("preview_units", Few)]),
    plain(
        "claude-code/bash",
        Small,
        &[("max_bytes", RawBytes(0)), ("window_bytes", RawBytes(0)), ("preview_units", Units(0))],
    ),
    streams(
        "claude-code/bash-failed",
        Small,
        &[("max_units", Units(12)), ("slack_units", Few), ("window_bytes", RawBytes(0))],
        Streams::ExitCode,
    ),
    streams("claude-code/bash-failed", Large, &[], Streams::ExitCode),
    plain("claude-code/bash-2025", Small, &[("max_units", Units(0))]),
    plain("claude-code/bash-2026-01", Small, &[("max_units", Units(0)), ("preview_units", Units(0))]),
    plain("claude-code/bash-2026-01", Large, &[("max_units", Units(0))]),
    plain("claude-code/bash-2026-02", Small, &[("max_bytes", RawBytes(0)), ("preview_units", Units(0))]),
    plain("claude-code/bash-2026-02", Large, &[("max_bytes", RawBytes(0))]),
    plain(
        "claude-code/tool",
        Small,
        &[("max_units", Units(0)), ("preview_units", Units(0)), ("tool", Word(&["Grep", "mcp__a__b"]))],
    ),
    plain("claude-code/tool", Large, &[("max_units", Units(0))]),
    plain("gemini-cli/output", Small, &[("max_units", Units(0))]),
    plain("qwen-code/shell", Large, &[("max_units", Units(45)), ("preview_units", Units(45))]),
    plain("qwen-code/shell", Large, &[("max_units", Units(0)), ("save_failed", Bool)]),
    plain("qwen-code/grep", Large, &[("max_units", Units(45)), ("preview_units", Units(45))]),
    plain("qwen-code/grep", Large, &[("max_units", Units(0)), ("save_failed", Bool)]),
    plain("qwen-code/mcp", Large, &[("max_units", Units(45)), ("preview_units", Units(45))]),
    plain("qwen-code/mcp", Large, &[("max_units", Units(0)), ("save_failed", Bool)]),
    plain("qwen-code/shell-2026-03", Large, &[("max_units", Units(45)), ("save_failed", Bool)]),
    plain("crush/bang", Small, &[("max_lines", Lines), ("max_bytes", Bytes(0))]),
    plain(
        "goose/shell",
        Small,
        &[("max_lines", Lines), ("max_bytes", Bytes(0)), ("tail_lines", Lines), ("tail_bytes", Bytes(0))],
    ),
    plain("goose/shell-2026-08", Large, &[("max_lines", Lines), ("max_bytes", Bytes(0))]),
    plain(
        "goose/shell-2026-08",
        Small,
        &[("max_lines", Lines), ("max_bytes", Bytes(0)), ("capture_bytes", RawBytes(0))],
    ),
    streams(
        "kimi-code/bash",
        Small,
        &[
            ("max_units", Units(30)),
            ("line_units", Few),
            ("head_units", Few),
            ("tail_units", Few),
            ("call_id", Word(&["CALL", "call_1"])),
            ("task_id", Word(&["TASK", "bash-1"])),
            ("wall_seconds", Word(&["", "0.034"])),
        ],
        Streams::ExitCode,
    ),
    streams(
        "kimi-code/bash",
        Small,
        &[
            ("max_units", Units(30)),
            ("line_units", Units(0)),
            ("head_units", Units(0)),
            ("tail_units", Units(0)),
        ],
        Streams::ExitCode,
    ),
    streams("kimi-code/bash", Large, &[("max_units", Units(30))], Streams::ExitCode),
    plain(
        "kimi-code/tool",
        Small,
        &[
            ("max_units", Units(30)),
            ("line_units", Few),
            ("head_units", Few),
            ("tail_units", Few),
            ("call_id", Word(&["CALL", "call_1"])),
            ("tool_name", Word(&["TOOL", "mcp__fix__rows"])),
            ("failed", Bool),
            ("wall_seconds", Word(&["", "0.034"])),
        ],
    ),
    plain("kimi-code/tool", Large, &[("max_units", Units(30))]),
    streams("nanocoder/bash", Small, &[("max_units", Units(200))], Streams::ExitCode),
    streams("nanocoder/bash", Large, &[("max_units", Units(200))], Streams::ExitCode),
    streams("goose/shell", Large, &[("max_lines", Lines), ("max_bytes", Bytes(0))], Streams::ExitCode),
    streams("goose/shell", Small, &[("max_lines", Lines), ("timeout_s", Few)], Streams::ExitCode),
    plain(
        "goose/shell",
        Small,
        &[("max_lines", Lines), ("max_bytes", Bytes(0)), ("capture_bytes", RawBytes(0))],
    ),
    plain("kimi-cli/shell", Large, &[]),
    plain("kimi-cli/shell", Small, &[("max_points", Points(0)), ("line_points", Points(0))]),
    plain("kimi-cli/task", Small, &[("max_bytes", RawBytes(0))]),
    plain("cline/result", Large, &[]),
    plain("copilot-chat/result", Large, &[("max_units", Units(0))]),
    streams("copilot-cli/tool", Large, &[("max_bytes", Bytes(0))], Streams::ExitCode),
    streams(
        "copilot-cli/tool",
        Small,
        &[
            ("max_bytes", Bytes(0)),
            ("preview_units", Few),
            ("chunk", Chunk),
            ("shell_id", Word(&["0", "7", "ab-1"])),
        ],
        Streams::ExitCode,
    ),
    streams(
        "copilot-cli/tool",
        Small,
        &[("max_bytes", Bytes(45)), ("preview_units", Few), ("chunk", Chunk)],
        Streams::ExitCode,
    ),
    streams(
        "copilot-cli/tool-1.0.32",
        Small,
        &[("max_bytes", Bytes(28)), ("preview_units", Few), ("chunk", Chunk)],
        Streams::ExitCode,
    ),
    plain("hermes/tool", Large, &[("max_points", Points(0))]),
    plain("hermes/tool-0.19", Large, &[("max_points", Points(0))]),
    plain("hermes/terminal", Small, &[("max_points", Points(0)), ("shell_points", Few)]),
    plain("hermes/terminal", Large, &[("max_points", Points(0)), ("shell_points", Few)]),
    streams(
        "openhands/terminal",
        Small,
        &[
            ("max_points", Points(0)),
            ("prefix", Word(&["", "[Below is the output of the previous command.]\n", "é"])),
            ("suffix", Word(&["", "\n[The command completed.]"])),
            ("cwd", Word(&["", "/w/é"])),
            ("interpreter", Word(&["", "/usr/bin/python3"])),
        ],
        Streams::ExitCode,
    ),
    streams("openhands/terminal", Large, &[("max_points", Points(0))], Streams::ExitCode),
    plain("droid/tool", Small, &[("max_units", Units(0))]),
    plain("openclaw/tool", Small, &[("max_units", Units(75))]),
    plain("openclaw/tool", Large, &[]),
    plain(
        "deepagents/tool",
        Small,
        &[("max_points", Points(0)), ("call_id", Word(&["CALL", "call_0123456789abcdef0123456789abcdef"]))],
    ),
    plain("deepagents/tool", Large, &[("max_points", Points(0))]),
    streams("mini-swe-agent/observation", Small, &[("max_points", Points(0))], Streams::ExitCode),
    plain("openhands-v0/terminal", Small, &[("max_points", Points(0))]),
    plain("continue/bash", Large, &[("max_lines", Lines), ("max_units", Units(0))]),
    plain("continue/bash", Small, &[("max_lines", Lines), ("max_units", Units(0)), ("chunk", Chunk)]),
    plain(
        "continue/bash",
        Small,
        &[("max_lines", Lines), ("max_units", Units(0)), ("calls", Word(&["1", "2", "3"]))],
    ),
    plain("swe-agent/observation", Small, &[("max_points", Points(0))]),
];

/// The policies whose details the documents give. Not read's with a window: whether the totals are
/// then the file's or the window's is not said.
pub static DETAILED: &[Spec] = &[
    plain("pi-30k/read", Small, &[("max_lines", Lines), ("max_bytes", Bytes(0))]),
    plain("pi-30k/bash", Small, &[("max_lines", Lines), ("max_bytes", Bytes(0))]),
    plain("pi-30k/grep", Large, &[("limit", Limit), ("max_bytes", Bytes(0))]),
    plain("pi-30k/find", Small, &[("limit", Limit), ("max_bytes", Bytes(0))]),
    plain("pi-30k/ls", Small, &[("limit", Limit), ("max_bytes", Bytes(0))]),
    plain("go-opencode/bash", Small, &[("max_lines", Lines), ("max_bytes", RawBytes(0))]),
];
