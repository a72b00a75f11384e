//! Reconstructions against the true records, where they are at hand.

use std::os::unix::fs::MetadataExt;

use overspill::preview::Catalog;
use overspill::session::FORMATS;
use overspill::session::command::command;
use overspill::session::model::{Call, CutState};
use overspill::session::spill::{SpillState, state_of};
use overspill::session::transcript::Transcript;
use overspill::session::verify::{Verdict, Verifier, WholeOutput, whole_display};
use overspill::session::window::{ReadFile, asked_for};
use overspill::source::Source;

use super::samples::home_of;
use super::sessions_in;

/// What the commands print whose output is cut in the samples: `seq 1 N`, with ` | sed 's/$/TEXT/'` or without.
fn counted(command: &str) -> Option<String> {
    let (count, ending) = command.split_once(" | sed 's/$/").unwrap_or((command, "/'"));
    let last: u32 = count.strip_prefix("seq 1 ")?.parse().ok()?;
    let ending = ending.strip_suffix("/'")?;
    Some((1..=last).map(|n| format!("{n}{ending}\n")).collect())
}

/// Returns the verdicts on all calls of a sample that were cut. A spill that the sample lacks is made again.
fn verdicts(version: &str, agent: &str) -> Option<Vec<(String, Verdict)>> {
    verdicts_by(&Verifier::new(&Catalog::builtin(), agent), version, agent)
}

fn verdicts_by(verifier: &Verifier, version: &str, agent: &str) -> Option<Vec<(String, Verdict)>> {
    let home = home_of(version)?;
    let mut found = Vec::new();
    for file in sessions_in(&home, agent) {
        let format = FORMATS.iter().find(|format| format.name() == file.format).unwrap();
        let opened = format.open(&file, &()).unwrap();
        let transcript = opened.transcript();
        let is_made = |call: &&Call| call.is_window || call.cut != CutState::No;
        for call in transcript.calls.iter().filter(is_made).filter(|call| !call.results.is_empty()) {
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
    if call.is_window {
        return noted(transcript, call, dir);
    }
    let uid = records.metadata().unwrap().uid();
    let cited = call.cites.first().map(|cite| cite.path.to_string_lossy().into_owned());
    let again = counted(&command(transcript, call));
    let Some(cited) = cited else {
        return whole_display(transcript, call)
            .or_else(|| again.map(|output| WholeOutput::Display(output.into_bytes())));
    };
    let path = match state_of(call, records, uid) {
        Some(SpillState::Here(path)) => path,
        _ => {
            std::fs::write(dir.join("spill"), again?).unwrap();
            dir.join("spill")
        }
    };
    Some(WholeOutput::Spill(Source::open(&path).unwrap().view(), cited))
}

/// The file of notes that every sample reads, made again.
fn noted(transcript: &Transcript, call: &Call, dir: &std::path::Path) -> Option<WholeOutput> {
    let window = asked_for(transcript, call)?;
    assert_eq!(window.path.to_str(), Some("/home/u/proj/notes.txt"));
    let lines: String = (1..=3000).map(|n| format!("note line {n}\n")).collect();
    std::fs::write(dir.join("notes"), lines).unwrap();
    let view = Source::open(&dir.join("notes")).unwrap().view();
    Some(WholeOutput::File(Box::new(ReadFile { window, view, is_changed: true })))
}

/// Asserts that every cut call of these tools is equal by this policy.
fn equal(version: &str, agent: &str, tool: &str, policy: &str) {
    let Some(found) = verdicts(version, agent) else { return };
    let of_tool: Vec<_> = found.into_iter().filter(|(name, _)| name == tool).collect();
    assert!(!of_tool.is_empty(), "{version}: nothing was cut");
    for (_, verdict) in of_tool {
        let equal = matches!(&verdict, Verdict::Equal { policy: found, .. } if found == policy);
        assert!(equal, "{version} {tool}: {verdict:?}");
    }
}

#[test]
fn samples_are_equal() {
    equal("claude-2.1.330", "claude-code", "Bash", "claude-code/bash");
    equal("codex-0.169.0", "codex", "exec_command", "codex/exec-bytes");
    equal("gemini-0.61.0", "gemini-cli", "run_shell_command", "gemini-cli/output");
    equal("pi-1.5.2", "pi", "bash", "pi/bash");
    equal("pi-1.5.2", "pi", "read", "pi/read");
    equal("opencode-1.18.33", "opencode", "read", "opencode/read");
    equal("opencode-1.1.53", "opencode", "read", "opencode/read-2026-01");
    equal("qwen-0.24.4", "qwen-code", "run_shell_command", "qwen-code/shell");
    equal("copilot-1.0.102", "copilot-cli", "bash", "copilot-cli/tool");
    equal("opencode-1.18.33", "opencode", "bash", "opencode/shell");
    equal("opencode-1.1.53", "opencode", "bash", "opencode/output task_tool=true");
    equal("goose-1.52.0", "goose", "shell", "goose/shell");
    equal("kimicode-2.1.0", "kimi-code", "Bash", "kimi-code/bash");
    equal("continue-1.5.47", "continue", "Bash", "continue/bash");
    equal("openhands-1.57.0", "openhands", "terminal", "openhands/terminal");
    equal("cline-3.0.65", "cline", "run_commands", "cline/result");
    equal("kimi-1.49.0", "kimi-cli", "Shell", "kimi-cli/shell");
    equal("kimi-1.49.0", "kimi-cli", "TaskOutput", "kimi-cli/task");
}

#[test]
fn kilo_has_the_tools_of_opencode() {
    let verifier = Verifier::new(&Catalog::builtin(), "kilo");
    let Some(found) = verdicts_by(&verifier, "opencode-1.18.33", "opencode") else { return };
    assert!(!found.is_empty() && found.iter().all(|(_, verdict)| verdict.mark() == "="), "{found:?}");
}
