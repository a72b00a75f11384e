//! Reconstructions against the true records, where they are at hand.

use std::os::unix::fs::MetadataExt;

use overspill::internals::session::command::command;
use overspill::internals::session::counterpart::requested_window;
use overspill::internals::session::model::{Call, CutState};
use overspill::internals::session::spill::{SpillState, state_of};
use overspill::internals::session::transcript::Transcript;
use overspill::internals::session::verify::{
    Counterpart, NoVerdict, Verdict, Verifier, WholeOutput, whole_display,
};
use overspill::internals::session::{FORMATS, list};
use overspill::internals::source::{MapView, Source};
use overspill::preview::{Catalog, Input, plan_counted};
use serde_json::{Value, json};

use super::histories::opencode;
use super::samples::home_of;
use super::{call, open, sessions_in, write_log};

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
        let format = FORMATS.iter().find(|format| format.info.name == file.format).unwrap();
        let opened = format.open(&file, &()).unwrap();
        let transcript = opened.transcript();
        let is_made = |call: &&Call| call.is_window || call.cut != CutState::No;
        for call in transcript.calls.iter().filter(is_made).filter(|call| call.result.is_some()) {
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
        return whole_display(transcript, call).or_else(|| {
            again.map(|output| {
                let view = MapView::from_bytes(output.as_bytes()).unwrap();
                WholeOutput::new(view, Counterpart::Display, String::new())
            })
        });
    };
    let path = match state_of(call, records, uid) {
        Some(SpillState::Here(path)) => path,
        _ => {
            std::fs::write(dir.join("spill"), again?).unwrap();
            dir.join("spill")
        }
    };
    Some(WholeOutput::new(Source::open(&path).unwrap().view(), Counterpart::Spill, cited))
}

/// The file of notes that every sample reads, made again.
fn noted(transcript: &Transcript, call: &Call, dir: &std::path::Path) -> Option<WholeOutput> {
    let window = requested_window(transcript, call)?;
    assert_eq!(window.path.to_str(), Some("/home/u/proj/notes.txt"));
    let lines: String = (1..=3000).map(|n| format!("note line {n}\n")).collect();
    std::fs::write(dir.join("notes"), lines).unwrap();
    let view = Source::open(&dir.join("notes")).unwrap().view();
    let whole = WholeOutput::new(view, Counterpart::File, window.named.clone());
    Some(WholeOutput { window: Some(window), is_changed: true, ..whole })
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
    equal("claude-1.0.86", "claude-code", "Bash", "claude-code/bash-2025");
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

#[test]
fn calls_of_one_message_of_continue_share_the_limits() {
    let home = tempfile::tempdir().unwrap();
    let cut = |lines: u32| {
        let kept: String = (lines + 1..=2000).map(|n| format!("{n}\n")).collect();
        format!("(previous {} lines truncated)\n\n{kept}", lines)
    };
    let state = |id: &str, text: &str| {
        json!({"toolCallId": id, "toolCall": {"id": id, "function": {"name": "Bash", "arguments": "{}"}},
            "status": "done", "output": [{"content": text}]})
    };
    let item = |states: &[Value]| json!({"message": {"role": "assistant"}, "toolCallStates": states});
    // With its final line feed the output has 2,001 lines.
    let history = [
        item(&[state("c1", &cut(1001))]),
        item(&[state("c2", &cut(1501)), state("c3", "ok")]),
        item(&[state("c4", &cut(1001))]),
    ];
    let document = json!({"sessionId": "s1", "workspaceDirectory": "/p", "history": history});
    let dir = home.path().join(".continue/sessions");
    std::fs::create_dir_all(&dir).unwrap();
    let verifier = Verifier::new(&Catalog::builtin(), "continue");
    for text in [document.to_string(), serde_json::to_string_pretty(&document).unwrap()] {
        std::fs::write(dir.join("s1.json"), text).unwrap();
        let opened = list::open(&sessions_in(home.path(), "continue")[0], &()).unwrap();
        let marks = opened.transcript().calls.iter().map(|call| {
            let verdict = verifier.verify(opened.transcript(), call, None);
            (call.id.to_string(), verdict.mark())
        });
        let found: Vec<_> = marks.collect();
        let expected = [("c1", "≈"), ("c2", "≈"), ("c3", "?"), ("c4", "≈")];
        assert_eq!(found, expected.map(|(id, mark)| (id.to_owned(), mark)));
    }
}

#[test]
fn other_kimi_code_tools_are_verified_by_their_own_policy() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join(".kimi-code/sessions/wd_p/session_1/agents/main");
    std::fs::create_dir_all(&dir).unwrap();
    let spill = home.path().join("spill.txt");
    let output: String = (1..=12_000).map(|n| format!("{n}\n")).collect();
    std::fs::write(&spill, &output).unwrap();
    let path = spill.to_str().unwrap();
    let cut = |id: &str| {
        let mut policy = Catalog::builtin().get("kimi-code/tool").unwrap();
        policy.set("tool_name", "mcp__fix__rows").unwrap();
        policy.set("call_id", id).unwrap();
        let input = Input::from_bytes(output.as_bytes(), path);
        plan_counted(&input, &policy).unwrap().text(&input)
    };
    let mut log = vec![
        json!({"type": "metadata", "protocol_version": "1.0", "time": 1795378305189_i64}),
        json!({"type": "runtime.set_binding"}),
    ];
    for (id, text, is_error, took) in [
        ("c1", cut("c1"), false, None),
        ("c2", cut("c2"), true, None),
        ("c3", cut("c3") + "\n\ntask_id: c3", false, None),
        ("c4", cut("c1"), false, None),
        ("c5", cut("c5"), false, Some(1500)),
    ] {
        let call = json!({"type": "tool.call", "toolCallId": id, "name": "mcp__fix__rows", "args": {}});
        let result = json!({"type": "tool.result", "toolCallId": id,
            "result": {"output": text, "isError": is_error, "durationMs": took}});
        log.extend([call, result].map(|event| json!({"type": "context.append_loop_event", "event": event})));
    }
    let log: String = log.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(dir.join("wire.jsonl"), log).unwrap();
    let opened = list::open(&sessions_in(home.path(), "kimi-code")[0], &()).unwrap();
    let verifier = Verifier::new(&Catalog::builtin(), "kimi-code");
    let verdicts = opened.transcript().calls.iter().map(|call| {
        let whole =
            WholeOutput::new(Source::open(&spill).unwrap().view(), Counterpart::Spill, path.to_owned());
        match verifier.verify(opened.transcript(), call, Some(&whole)) {
            Verdict::Equal { policy, .. } => policy,
            Verdict::Differs(difference) => format!("≠ {}", difference.policy),
            other => panic!("{other:?}"),
        }
    });
    let (same, other) = ("kimi-code/tool", "≠ kimi-code/tool");
    let expected = [same, "kimi-code/tool failed=true", other, other, same];
    assert_eq!(verdicts.collect::<Vec<_>>(), expected);
}

/// Lines that are cut by any limit of the tests below.
pub fn lines() -> String {
    (1..=12_000).map(|n| format!("{n}\n")).collect()
}

/// Returns what a policy makes of [`lines`] with these parameters.
pub fn made(name: &str, parameters: &[(&str, &str)], path: &str) -> String {
    made_of(lines(), name, parameters, path)
}

pub fn made_of(output: impl AsRef<[u8]>, name: &str, parameters: &[(&str, &str)], path: &str) -> String {
    let mut policy = Catalog::builtin().get(name).unwrap();
    parameters.iter().for_each(|(key, value)| policy.set(key, value).unwrap());
    let input = Input::from_bytes(output.as_ref(), path);
    plan_counted(&input, &policy).unwrap().text(&input)
}

/// Returns the mark of a verdict, and the policy that it names or the reason.
fn told(verdict: &Verdict) -> String {
    let words = match verdict {
        Verdict::Unchecked(why) => why.to_string(),
        known => known.policy().unwrap_or_default().to_owned(),
    };
    format!("{} {words}", verdict.mark())
}

const SPILL: &str = "/home/u/.local/share/opencode/tool-output/tool_201ce273";

/// Returns what is told of an opencode call whose tool gave this text for [`lines`].
fn told_of_opencode(verifier: &Verifier, text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opencode.db");
    let metadata = json!({"truncated": true, "outputPath": SPILL});
    let state = json!({"status": "completed", "input": {"command": "x"}, "output": text, "metadata": metadata,
        "time": {"start": 1_795_326_607_000_i64, "end": 1_795_326_608_000_i64}});
    let part = json!({"type": "tool", "tool": "bash", "callID": "c1", "state": state});
    opencode(&path, None, &[("m1", json!({"role": "assistant"}), vec![part])]);
    let opened = open(&path);
    let view = MapView::from_bytes(lines().as_bytes()).unwrap();
    let whole = WholeOutput::new(view, Counterpart::Spill, SPILL.to_owned());
    told(&verifier.verify(opened.transcript(), call(opened.transcript(), "c1"), Some(&whole)))
}

#[test]
fn verifies_a_stopped_opencode_command_with_either_tag() {
    let verifier = Verifier::new(&Catalog::builtin(), "opencode");
    for tag in ["bash", "shell"] {
        let stopped = made("opencode/shell", &[("timeout_ms", "1000"), ("tag", tag)], SPILL);
        assert_eq!(told_of_opencode(&verifier, &stopped), "= opencode/shell");
        let aborted = made("opencode/shell", &[("aborted", "true"), ("tag", tag)], SPILL);
        assert_eq!(told_of_opencode(&verifier, &aborted), "= opencode/shell aborted=true");
    }
}

/// What the user has set need not be what held when the result was made: the same text by either is equal, and by a third
/// limit unknown. Other words than the agent's stay different.
#[test]
fn verifies_with_set_or_default_limits_and_allows_for_others() {
    let default = Verifier::new(&Catalog::builtin(), "opencode");
    let set = Verifier::new(&Catalog::builtin(), "opencode").with_settings(|policy| {
        let mut policy = policy.clone();
        policy.set_max_lines(100).ok()?;
        Some(policy)
    });
    let of = |parameters: &[(&str, &str)]| made("opencode/shell", parameters, SPILL);
    let both = |text: &str| [&default, &set].map(|verifier| told_of_opencode(verifier, text));
    let other = format!("? {}", NoVerdict::OtherLimit);
    assert_eq!(both(&of(&[])), ["= opencode/shell", "= opencode/shell"]);
    assert_eq!(both(&of(&[("max_lines", "100")])), [&other, "= opencode/shell max_lines=100"]);
    for limits in [
        [("max_lines", "50"), ("max_bytes", "51200")],
        [("max_lines", "2000"), ("max_bytes", "3000")],
        [("max_lines", "9000"), ("max_bytes", "90000")],
    ] {
        assert_eq!(both(&of(&limits)), [other.clone(), other.clone()], "{limits:?}");
    }
    let changed =
        [of(&[]).replace("truncated...", "cut..."), of(&[("max_lines", "100")]).replace("11999\n", "")];
    for text in changed {
        assert!(both(&text).iter().all(|told| told.starts_with('≠')), "{text}");
    }
}

/// Returns what is told of a call with this result for [`lines`].
fn told_of(agent: &str, tool: &str, version: &str, text: &str) -> String {
    told_of_output(&lines(), agent, tool, version, text)
}

/// Writes the log of an agent with a call of a tool, whose result is this text, and tells what is found for an output.
fn told_of_output(output: &str, agent: &str, tool: &str, version: &str, text: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    let (at, cwd) = ("2026-04-20T10:00:00.000Z", "/p");
    let (name, log) = match agent {
        "claude-code" => {
            let called = json!([{"type": "tool_use", "id": "c1", "name": tool, "input": {"command": "x"}}]);
            let result = json!([{"type": "tool_result", "tool_use_id": "c1", "content": text}]);
            let record = |kind: &str, uuid: &str, content: Value| {
                json!({"type": kind, "uuid": uuid, "parentUuid": null, "sessionId": "s1", "version": version, "cwd": cwd,
                    "timestamp": at, "message": {"id": uuid, "role": kind, "content": content}})
            };
            (
                ".claude/projects/-p/s1.jsonl",
                vec![record("assistant", "1", called), record("user", "2", result)],
            )
        }
        "qwen-code" => {
            let record = |kind: &str, part: Value| {
                json!({"type": kind, "uuid": kind, "parentUuid": null, "sessionId": "s1", "version": version, "cwd": cwd,
                    "timestamp": at, "message": {"role": "model", "parts": [part]},
                    "toolCallResult": {"callId": "c1", "status": "success"}})
            };
            let called = json!({"functionCall": {"id": "c1", "name": tool, "args": {}}});
            let result =
                json!({"functionResponse": {"id": "c1", "name": tool, "response": {"output": text}}});
            (
                ".qwen/projects/-p/chats/s1.jsonl",
                vec![record("assistant", called), record("tool_result", result)],
            )
        }
        _ => {
            let called = json!([{"type": "toolCall", "id": "c1", "name": tool, "arguments": {}}]);
            let message = |id: &str, message: Value| json!({"type": "message", "id": id, "parentId": null, "timestamp": at, "message": message});
            let result = json!({"role": "toolResult", "toolCallId": "c1", "toolName": tool, "isError": false,
                "content": [{"type": "text", "text": text}], "details": {"truncation": {"truncated": true},
                "fullOutputPath": SPILL}});
            let log = vec![
                json!({"type": "session", "version": 3, "id": "s1", "timestamp": at, "cwd": cwd}),
                message("1", json!({"role": "assistant", "content": called})),
                message("2", result),
            ];
            (".pi/agent/sessions/--p--/2026-04-20T10-00-00-000Z_s1.jsonl", log)
        }
    };
    write_log(home.path(), name, &log);
    let opened = list::open(&sessions_in(home.path(), agent)[0], &()).unwrap();
    told_of_spill(opened.transcript(), output, SPILL)
}

/// Tells what is found of the call `c1`, whose output was saved as a file.
pub fn told_of_spill(transcript: &Transcript, output: impl AsRef<[u8]>, saved_as: &str) -> String {
    let view = MapView::from_bytes(output.as_ref()).unwrap();
    let whole = WholeOutput::new(view, Counterpart::Spill, saved_as.to_owned());
    let verifier = Verifier::new(&Catalog::builtin(), transcript.agent);
    told(&verifier.verify(transcript, call(transcript, "c1"), Some(&whole)))
}

#[test]
fn a_result_is_judged_by_the_policies_of_its_tool_and_version() {
    let unknown = format!("? {}", NoVerdict::NoPolicy);
    let told = |agent: &str, tool: &str, version: &str, policy: &str| {
        told_of(agent, tool, version, &made(policy, &[], SPILL))
    };
    let bash = "claude-code/bash";
    assert_eq!(told("claude-code", "Bash", "2.1.330", bash), "= claude-code/bash");
    assert_eq!(told("claude-code", "Bash", "2.1.234", bash), unknown, "between two policies");
    assert_eq!(told("claude-code", "Grep", "2.1.330", "claude-code/tool"), "= claude-code/tool");
    let shell = "qwen-code/shell";
    assert_eq!(told("qwen-code", "run_shell_command", "0.24.4", shell), "= qwen-code/shell");
    assert_eq!(told("qwen-code", "run_shell_command", "0.18.0", shell), unknown, "between two policies");
    assert_eq!(told("qwen-code", "web_fetch", "0.24.4", shell), unknown, "a tool without a policy");
    assert_eq!(told("qwen-code", "run_shell_command", "0.24.4", "qwen-code/grep"), "≠ qwen-code/shell");
    assert_eq!(told("pi", "bash", "", "pi/bash-2026-03"), unknown, "of 2026-04-20, between two policies");
    assert_eq!(told("pi", "find", "", "pi/bash"), "≠ pi/find");
}

/// Qwen Code's limit is in UTF-16 units: the 10,000 of this output, of 30,000 bytes, are over a limit of 5,000.
#[test]
fn recognises_another_limit_in_the_policys_unit() {
    let output = "一二三四五六七八九\n".repeat(1000);
    let of = |limit: &str| {
        let text = made_of(&output, "qwen-code/shell", &[("max_units", limit)], SPILL);
        told_of_output(&output, "qwen-code", "run_shell_command", "0.24.4", &text)
    };
    assert_eq!(of("5000"), format!("? {}", NoVerdict::OtherLimit));
}

/// Claude Code reads up to so many raw bytes before it tests the limit in units, and then states the size in units.
#[test]
fn allows_for_a_changed_claude_code_window() {
    let output = "é".repeat(40_000);
    let text = made_of(&output, "claude-code/bash", &[("window_bytes", "100000")], SPILL);
    let told = |text: &str| told_of_output(&output, "claude-code", "Bash", "2.1.330", text);
    assert_eq!(told(&text), format!("? {}", NoVerdict::OtherLimit));
    assert!(told(&text.replace("Output too", "The output is too")).starts_with('≠'));
}

/// A limit that the record states is the one that held.
#[test]
fn gemini_s_notice_states_its_limit() {
    let home = tempfile::tempdir().unwrap();
    let made = |limit: &str| made("gemini-cli/output", &[("max_units", limit)], SPILL);
    let told = |text: &str| {
        let at = "2026-11-20T10:00:00.000Z";
        let called = json!([{"id": "c1", "name": "run_shell_command", "args": {}, "status": "success"}]);
        let called =
            json!({"id": "1", "type": "gemini", "content": "", "timestamp": at, "toolCalls": called});
        let response = json!({"id": "c1", "name": "run_shell_command", "response": {"output": text}});
        let result = json!([{"functionResponse": response}]);
        let result = json!({"id": "2", "type": "user", "content": result, "timestamp": at});
        let start = json!({"sessionId": "s1", "projectHash": "p", "startTime": at, "lastUpdated": at,
            "kind": "main"});
        write_log(
            home.path(),
            ".gemini/tmp/p/chats/session-2026-11-20T10-00-s1.jsonl",
            &[start, called, result],
        );
        let opened = list::open(&sessions_in(home.path(), "gemini-cli")[0], &()).unwrap();
        let view = MapView::from_bytes(lines().as_bytes()).unwrap();
        let whole = WholeOutput::new(view, Counterpart::Spill, SPILL.to_owned());
        let verifier = Verifier::new(&Catalog::builtin(), "gemini-cli");
        told(&verifier.verify(opened.transcript(), call(opened.transcript(), "c1"), Some(&whole)))
    };
    for limit in ["40000", "20001", "1000"] {
        assert_eq!(told(&made(limit)), "= gemini-cli/output", "{limit}");
    }
    let longer = made("1000").replace("first 200 and", "first 201 and");
    assert_eq!(told(&longer), "≠ gemini-cli/output");
    let huge = made("1000").replace("first 200 and last 800", &format!("first {0} and last {0}", u64::MAX));
    assert_eq!(told(&huge), "≠ gemini-cli/output");
}
