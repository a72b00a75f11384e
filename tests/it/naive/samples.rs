//! What real agents recorded, one run each: `seq 1 12000`, a command that fails with 3, a few odd
//! bytes, a file of 3,000 lines. The paths they printed are replaced by ours.
use super::{Case, case};

/// The lines from `a` to `b`, without a final line feed.
fn seq(a: usize, b: usize) -> String {
    (a..=b).map(|n| n.to_string()).collect::<Vec<_>>().join("\n")
}

fn seq_12000() -> String {
    seq(1, 12000) + "\n"
}

fn notes(a: usize, b: usize, row: fn(usize) -> String) -> String {
    (a..=b).map(|n| format!("{}note line {n}", row(n))).collect::<Vec<_>>().join("\n")
}

fn bare(_: usize) -> String {
    String::new()
}

const ODD: &[u8] = b"a\x1b[31mred\x1b[0m\r50%\r100%\n\xff\n";
const ODD_SHOWN: &str = "a\u{1b}[31mred\u{1b}[0m\r50%\r100%\n\u{fffd}";

type Sample = (Case, String);

fn of(policy: &'static str, input: &[u8], sets: &[(&'static str, &str)], recorded: String) -> Sample {
    (case(policy, input, sets), recorded)
}

fn failed(mut sample: Sample) -> Sample {
    sample.0.exit_code = Some(3);
    sample
}

fn claude() -> Vec<Sample> {
    let seq_all = seq_12000();
    vec![
        // 2.1.330
        of(
            "claude-code/bash",
            seq_all.as_bytes(),
            &[],
            format!(
                "<persisted-output>\nOutput too large (59.5KB). Full output saved to: /P\n\nPreview (first 2KB):\n{}\n...\n</persisted-output>",
                seq(1, 527)
            ),
        ),
        of("claude-code/bash", ODD, &[], ODD_SHOWN.to_string()),
        failed(of("claude-code/bash-failed", b"out\nerr\n", &[], "Exit code 3\nout\nerr".to_string())),
        // 1.0.86
        of(
            "claude-code/bash-2025",
            seq_all.as_bytes(),
            &[],
            format!("{}\n62\n\n... [5779 lines truncated] ...", seq(1, 6221)),
        ),
        of("claude-code/bash-2025", ODD, &[], ODD_SHOWN.to_string()),
    ]
}

/// 1.0.102.
fn copilot() -> Vec<Sample> {
    vec![
        of(
            "copilot-cli/tool",
            seq_12000().as_bytes(),
            &[("shell_id", "3")],
            format!(
                "Output too large to read at once (59.5 KB). Saved to: /P\nConsider using tools like grep (for searching), head/tail (for viewing start/end), view with view_range (for specific sections), or jq (for JSON) to examine portions of the output.\n\nPreview (first 500 chars):\n{}\n\n<shellId: 3 completed with exit code 0>",
                seq(1, 152)
            ),
        ),
        failed(of(
            "copilot-cli/tool",
            b"err\nout\n",
            &[("shell_id", "1")],
            "err\nout\n<shellId: 1 completed with exit code 3>".to_string(),
        )),
        of(
            "copilot-cli/tool",
            ODD,
            &[("shell_id", "2")],
            "ared\r50%\r100%\n\u{fffd}\n<shellId: 2 completed with exit code 0>".to_string(),
        ),
    ]
}

/// 2.1.0, as rendered from what it recorded.
fn kimi_code() -> Vec<Sample> {
    let sets =
        [("call_id", "call_0006AbCdEfGhIjKlMn"), ("task_id", "bash-r8tcfbjz"), ("wall_seconds", "0.039")];
    vec![
        of(
            "kimi-code/bash",
            seq_12000().as_bytes(),
            &sets,
            format!(
                "Wall time: 0.039 seconds\nTool output exceeded 50000 characters; the full output was saved to a file.\ntool_name: Bash\ntool_call_id: call_0006AbCdEfGhIjKlMn\noutput_size_chars: 60894\noutput_size_bytes: 60894\noutput_path: /P\nnext_step: Use Read with output_path to page through the saved output, or Grep to search it.\n\n[preview: chars [0, 4096)]\n{}\n104\n\n[elided: chars [4096, 59870)]\n\n[preview: chars [59870, 60894)]\n830\n{}\n\n\nCommand executed successfully.\ntask_id: bash-r8tcfbjz\noutput_size_bytes: 60894\nnext_step: Use TaskOutput(task_id=\"bash-r8tcfbjz\") to query the task output.",
                seq(1, 1040),
                seq(11831, 12000)
            ),
        ),
        failed(of(
            "kimi-code/bash",
            b"out\nerr\n",
            &[("wall_seconds", "0.029")],
            "Wall time: 0.029 seconds\n<system>ERROR: Tool execution failed.</system>\nout\nerr\nCommand failed with exit code: 3."
                .to_string(),
        )),
        of("kimi-code/bash", ODD, &[], ODD_SHOWN.to_string() + "\n"),
    ]
}

/// goose 1.52.0, qwen-code 0.24.4 and gemini-cli 0.61.0.
fn others() -> Vec<Sample> {
    let tail = "Error: (none)\nExit Code: 0\nSignal: (none)\nProcess Group PGID: (none)";
    let qwen = format!("Command: seq 1 12000\nDirectory: (root)\nOutput: {}\n{tail}", seq(1, 12000));
    let end = "Process Group PGID: 11183\n</untrusted_context>";
    let gemini = format!("<untrusted_context>\nOutput: {}\n{end}", seq(1, 12000));
    let goose = |file: &str| {
        format!(
            "[Output exceeded 2000 line limit (12000 lines total). Full output saved to /t/{file}-3. Read it with shell commands like `head`, `tail`, or `sed -n '100,200p'` up to 2000 lines at a time.]"
        )
    };
    vec![
        of(
            "goose/shell",
            seq_12000().as_bytes(),
            &[],
            format!("{}\n\n{}\n{}", seq(11951, 12000), goose("stdout"), goose("output")),
        ),
        of("goose/shell", ODD, &[], ODD_SHOWN.to_string()),
        of(
            "qwen-code/shell",
            qwen.as_bytes(),
            &[],
            format!(
                "Tool output was too large and has been truncated.\nThe full output has been saved to: /P\nTo read the complete output, use the read_file tool with the absolute file path above.\nThe truncated output below shows the beginning and end of the content. The marker '... [CONTENT TRUNCATED] ...' indicates where content was removed.\n\nTruncated part of the output:\nCommand: seq 1 12000\nDirectory: (root)\nOutput: {}\n\n---\n... [CONTENT TRUNCATED] ...\n---\n\n...4\n{}\n{tail}",
                seq(1, 213),
                seq(11485, 12000)
            ),
        ),
        of(
            "gemini-cli/output",
            gemini.as_bytes(),
            &[],
            format!(
                "Output too large. Showing first 8,000 and last 32,000 characters. For full output see: /P\n<untrusted_context>\nOutput: {}\n\n... [20,968 characters omitted] ...\n\n10\n{}\n{end}",
                seq(1, 1816),
                seq(6011, 12000)
            ),
        ),
    ]
}

/// pi 1.5.2 and codex 0.169.0 with a model that it does not know.
fn pi_and_codex() -> Vec<Sample> {
    let file = notes(1, 3000, bare) + "\n";
    vec![
        of(
            "pi/bash",
            seq_12000().as_bytes(),
            &[],
            format!("{}\n\n[Showing lines 10001-12000 of 12000. Full output: /P]", seq(10001, 12000)),
        ),
        failed(of("pi/bash", b"out\nerr\n", &[], "out\nerr\n\n\nCommand exited with code 3".to_string())),
        of("pi/bash", ODD, &[], ODD_SHOWN.to_string() + "\n"),
        of(
            "pi/read",
            file.as_bytes(),
            &[],
            format!(
                "{}\n\n[Showing lines 1-2000 of 3001. Use offset=2001 to continue.]",
                notes(1, 2000, bare)
            ),
        ),
        of(
            "codex/exec-bytes",
            seq_12000().as_bytes(),
            &[],
            format!(
                "Warning: truncated output (original token count: 15224)\nTotal output lines: 12000\n\n{}\n12…50894 chars truncated…7\n{}\n",
                seq(1, 1221),
                seq(11168, 12000)
            ),
        ),
        of("codex/exec-bytes", ODD, &[], ODD_SHOWN.to_string() + "\n"),
    ]
}

/// 1.18.33 and 1.1.53.
fn opencode() -> Vec<Sample> {
    let file = notes(1, 3000, bare) + "\n";
    let seq_all = seq_12000();
    vec![
        of(
            "opencode/shell",
            seq_all.as_bytes(),
            &[],
            format!("...output truncated...\n\nFull output saved to: /P\n\n{}\n", seq(10002, 12000)),
        ),
        of("opencode/shell", ODD, &[], ODD_SHOWN.to_string() + "\n"),
        of("opencode/metadata-2026", seq_all.as_bytes(), &[], format!("...\n\n401\n{}\n", seq(6402, 12000))),
        of(
            "opencode/read",
            file.as_bytes(),
            &[],
            format!(
                "<path>/P</path>\n<type>file</type>\n<content>\n{}\n\n(Showing lines 1-2000 of 3000. Use offset=2001 to continue.)\n</content>",
                notes(1, 2000, |n| format!("{n}: "))
            ),
        ),
        of(
            "opencode/output",
            seq_all.as_bytes(),
            &[("task_tool", "true")],
            format!(
                "{}\n\n...10001 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: /P\nUse the Task tool to have explore agent process this file with Grep and Read (with offset/limit). Do NOT read the full file yourself - delegate to save context.",
                seq(1, 2000)
            ),
        ),
        of(
            "opencode/read-2026-01",
            file.as_bytes(),
            &[],
            format!(
                "<file>\n{}\n\n(File has more lines. Use 'offset' parameter to read beyond line 2000)\n</file>",
                notes(1, 2000, |n| format!("{n:05}| "))
            ),
        ),
    ]
}

/// Every output that a recorded session holds whole, and what the agent recorded of it.
pub fn all() -> Vec<Sample> {
    [claude(), copilot(), kimi_code(), others(), pi_and_codex(), opencode()].concat()
}
