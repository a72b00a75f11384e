//! Reconstructions against the true records, where they are at hand.

use std::os::unix::fs::MetadataExt;

use overspill::preview::Catalog;
use overspill::session::FORMATS;
use overspill::session::command::command;
use overspill::session::model::{Call, CutState};
use overspill::session::spill::{SpillState, state_of};
use overspill::session::transcript::Transcript;
use overspill::session::verify::{Verdict, Verifier, WholeOutput, whole_display};
use overspill::source::Source;

use super::samples::home_of;
use super::sessions_in;

/// What `seq 1 12000` prints: the output of the call that is cut in every sample.
fn counted() -> String {
    (1..=12_000).map(|n| format!("{n}\n")).collect()
}

/// Returns the verdicts on all calls of a sample that were cut. A spill that the sample lacks is made again.
fn verdicts(version: &str, agent: &str) -> Option<Vec<(String, Verdict)>> {
    let home = home_of(version)?;
    let verifier = Verifier::new(&Catalog::builtin(), agent);
    let mut found = Vec::new();
    for file in sessions_in(&home, agent) {
        let format = FORMATS.iter().find(|format| format.name() == file.format).unwrap();
        let opened = format.open(&file, &()).unwrap();
        let transcript = opened.transcript();
        for call in
            transcript.calls.iter().filter(|call| call.cut != CutState::No && !call.results.is_empty())
        {
            let dir = tempfile::tempdir().unwrap();
            let whole = whole(transcript, call, &file.path, dir.path());
            let verdict = verifier.verify(transcript, call, whole.as_ref());
            found.push((transcript.tool(call).to_owned(), verdict));
        }
    }
    Some(found)
}

fn whole(
    transcript: &Transcript,
    call: &Call,
    records: &std::path::Path,
    dir: &std::path::Path,
) -> Option<WholeOutput> {
    let uid = records.metadata().unwrap().uid();
    let cited = call.cites.first().map(|cite| cite.path.to_string_lossy().into_owned());
    let is_counted = command(transcript, call) == "seq 1 12000";
    let Some(cited) = cited else {
        let again = || WholeOutput::Display(counted().into_bytes());
        return whole_display(transcript, call).or_else(|| is_counted.then(again));
    };
    let path = match state_of(call, records, uid) {
        Some(SpillState::Here(path)) => path,
        _ if is_counted => {
            std::fs::write(dir.join("spill"), counted()).unwrap();
            dir.join("spill")
        }
        _ => return None,
    };
    Some(WholeOutput::Spill(Source::open(&path).unwrap().view(), cited))
}

/// Asserts that every cut call of these tools is equal by this policy.
fn equal(version: &str, agent: &str, tool: &str, policy: &str) {
    let Some(found) = verdicts(version, agent) else { return };
    let of_tool: Vec<_> = found.into_iter().filter(|(name, _)| name == tool).collect();
    assert!(!of_tool.is_empty(), "{version}: nothing was cut");
    for (_, verdict) in of_tool {
        assert_eq!(verdict, Verdict::Equal { policy: policy.to_owned() }, "{version} {tool}");
    }
}

#[test]
fn samples_are_equal() {
    equal("claude-2.1.330", "claude-code", "Bash", "claude-code/bash");
    equal("codex-0.169.0", "codex", "exec_command", "codex/exec-bytes");
    equal("gemini-0.61.0", "gemini-cli", "run_shell_command", "gemini-cli/output");
    equal("pi-1.5.2", "pi", "bash", "pi/bash");
    equal("qwen-0.24.4", "qwen-code", "run_shell_command", "qwen-code/shell");
    equal("copilot-1.0.102", "copilot-cli", "bash", "copilot-cli/tool");
    equal("opencode-1.18.33", "opencode", "bash", "opencode/shell");
    equal("opencode-1.1.53", "opencode", "bash", "opencode/output task_tool=true");
    equal("goose-1.52.0", "goose", "shell", "goose/shell");
    equal("kimicode-2.1.0", "kimi-code", "Bash", "kimi-code/bash");
    equal("kimi-1.49.0", "kimi-cli", "Shell", "kimi-cli/shell");
    equal("kimi-1.49.0", "kimi-cli", "TaskOutput", "kimi-cli/task");
}
