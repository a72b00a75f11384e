//! Agents that keep one JSON document a session: every result of true records, against a plain parser, and made ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use overspill::internals::session::copies::SeenCalls;
use overspill::internals::session::counterpart::{WholeOutput, whole_display};
use overspill::internals::session::fate::ContextChange;
use overspill::internals::session::find::Exposure;
use overspill::internals::session::list;
use overspill::internals::session::model::{CallStatus, CutState, Evidence};
use overspill::internals::session::tally::count_calls;
use overspill::internals::session::verify::{Counterpart, NoVerdict, Verdict, Verifier};
use overspill::internals::source::Source;
use overspill::preview::{Catalog, LimitHit, Unit};
use serde_json::{Value, json};

use super::samples::{compare, compare_with_sent};
use super::verify::{lines, made, told_of_spill};
use super::{call, fate_of, first, open, pieces, sessions_in, text_of};

type Results = BTreeMap<String, String>;

fn document(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Writes a document with indents, as the agents do.
pub fn write(path: PathBuf, document: &Value) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, serde_json::to_string_pretty(document).unwrap()).unwrap();
    path
}

fn continue_cli(path: &Path) -> Results {
    let history = document(path)["history"].clone();
    let states = items(&history).flat_map(|item| items(&item["toolCallStates"]));
    states.map(|state| (string(&state["toolCallId"]), string(&state["output"][0]["content"]))).collect()
}

#[test]
fn samples_read_whole() {
    compare("continue-1.5.47", "continue", continue_cli);
}

#[test]
fn samples_are_as_sent() {
    compare_with_sent("continue-1.5.47", "continue");
    compare_with_sent("kimi-1.49.0", "kimi-cli");
    compare_with_sent("cline-3.0.65", "cline");
    compare_with_sent("openhands-1.57.0", "openhands");
}

pub fn state(id: &str, status: &str, outputs: &[&str]) -> Value {
    let output: Vec<_> = outputs.iter().map(|text| json!({"content": text, "name": "Tool Result"})).collect();
    let arguments = json!({"command": "make"}).to_string();
    json!({"toolCallId": id, "toolCall": {"id": id, "function": {"name": "Bash", "arguments": arguments}},
        "status": status, "parsedArgs": {"command": "make"}, "output": output})
}

pub fn continue_session(history: &[Value]) -> Value {
    json!({"sessionId": "s1", "title": "about \"history\"", "workspaceDirectory": "/home/u/proj", "history": history})
}

#[test]
fn continue_is_read() {
    let home = tempfile::tempdir().unwrap();
    let item =
        |states: &[Value]| json!({"message": {"role": "assistant", "content": ""}, "toolCallStates": states});
    let failed = "Error executing tool Bash: Error (exit code 3): err\n";
    let history = [
        item(&[state("c1", "done", &["(previous 3 lines truncated)\n\nout"])]),
        json!({"message": {"role": "assistant", "content": "so far"}, "conversationSummary": "so far"}),
        item(&[state("c2", "errored", &[failed]), state("c3", "canceled", &[]), state("c4", "calling", &[])]),
        item(&[state("c5", "done", &["a", "b"])]),
    ];
    let dir = home.path().join(".continue/sessions");
    let path = write(dir.join("s1.json"), &continue_session(&history));
    write(
        dir.join("sessions.json"),
        &json!([{"sessionId": "s1", "title": "t", "dateCreated": "1795378062495",
        "workspaceDirectory": "/home/u/proj"}]),
    );
    let found = sessions_in(home.path(), "continue");
    assert_eq!(found.len(), 1, "the index is no session");
    let facts = list::facts(&found[0]).unwrap();
    assert_eq!((facts.cwd.as_deref(), facts.title.as_deref()), (Some("/home/u/proj"), Some("t")));
    assert_eq!(facts.started.unwrap().to_string(), "2026-11-22T20:07:42.495Z");
    let facts = list::facts(&list::recognise(&path).unwrap()).unwrap();
    assert_eq!(facts.title.as_deref(), Some("about \"history\""), "without the index");
    let opened = open(&path);
    let transcript = opened.transcript();
    let c1 = call(transcript, "c1");
    assert_eq!((c1.cut, fate_of(c1), c1.status), (CutState::NoSpill, ContextChange::Compact, CallStatus::Ok));
    let c2 = call(transcript, "c2");
    assert_eq!((c2.status, c2.exit, fate_of(c2)), (CallStatus::Failed, Some(3), ContextChange::Restore));
    assert_eq!(
        (call(transcript, "c3").status, first(transcript, "c3")),
        (CallStatus::Denied, "Tool cancelled".into())
    );
    let c4 = call(transcript, "c4");
    assert_eq!((c4.result.is_none(), c4.cut, c4.status), (true, CutState::Unknown, CallStatus::NoResult));
    assert_eq!(
        (first(transcript, "c5"), call(transcript, "c5").first().unwrap().evidence),
        ("a\nb".into(), Evidence::Rendered)
    );
}

#[test]
fn a_document_that_is_written_anew_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let with = |states: &[Value]| continue_session(&[json!({"message": {}, "toolCallStates": states})]);
    let path = dir.path().join("s1.json");
    write(path.clone(), &with(&[state("c1", "calling", &[])]));
    let mut opened = open(&path);
    assert!(!opened.refresh(&()).unwrap());
    let whole = serde_json::to_string_pretty(&with(&[state("c1", "done", &["out"])])).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(opened.refresh(&()).unwrap());
    assert!(opened.transcript().unread.is_format_unknown(), "half of it");
    std::fs::write(&path, &whole).unwrap();
    assert!(opened.refresh(&()).unwrap());
    assert_eq!(first(opened.transcript(), "c1"), "out");
    let next = write(dir.path().join("next"), &with(&[state("c1", "done", &["another"])]));
    std::fs::rename(next, &path).unwrap();
    assert!(opened.refresh(&()).unwrap(), "the file that took its place");
    assert_eq!(first(opened.transcript(), "c1"), "another");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("another", "ANOTHER")).unwrap();
    assert!(opened.refresh(&()).unwrap(), "of the same length");
    assert_eq!(first(opened.transcript(), "c1"), "ANOTHER");
    let away = dir.path().join("away");
    std::fs::rename(&path, &away).unwrap();
    assert!(opened.refresh(&()).is_err());
    assert_eq!(first(opened.transcript(), "c1"), "ANOTHER", "what was read of it stays");
    std::fs::rename(&away, &path).unwrap();
    assert!(opened.refresh(&()).unwrap(), "it can be read again, and is the same");
}

pub fn cline_message(role: &str, content: Value) -> Value {
    json!({"id": "m", "role": role, "content": content, "ts": 1795378305189_i64})
}

pub fn cline_session(messages: &[Value], more: Value) -> Value {
    let mut document = json!({"version": 1, "updated_at": "2026-11-22T20:11:47.876Z", "agent": "lead",
        "sessionId": "s1", "origin": {"version": "3.0.65"}});
    document.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    document["messages"] = json!(messages);
    document
}

fn run(id: &str, results: Value) -> [Value; 2] {
    let commands: Vec<_> = items(&results).map(|result| result["query"].clone()).collect();
    let called =
        json!([{"type": "tool_use", "id": id, "name": "run_commands", "input": {"commands": commands}}]);
    let got = json!([{"type": "tool_result", "tool_use_id": id, "name": "run_commands", "content": results}]);
    [cline_message("assistant", called), cline_message("user", got)]
}

#[test]
fn cline_is_read_as_it_is_sent() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join(".cline/data/sessions/s1");
    let long: String = (1..=3000).map(|n| format!("{n}\n")).collect();
    let results = json!([{"query": "false", "result": "[Command exited with code 3]\n", "success": false,
        "error": "Command exited with code 3"}, {"query": "seq 1 3000", "result": long, "success": true}]);
    let plain = json!([{"type": "tool_result", "tool_use_id": "c2", "name": "spawn_agent", "content": "{\"text\":1}"}]);
    let [called, got] = run("c1", results);
    let path = write(
        dir.join("s1.messages.json"),
        &cline_session(&[called, got, cline_message("user", plain)], json!({})),
    );
    let sub = json!({"agent": "subagent", "sessionId": "s1__agent_1", "origin": {"subagent": "agent_1"}});
    write(dir.join("agent_1.messages.json"), &cline_session(&run("c1", json!([])), sub));
    let manifest = json!({"cwd": "/home/u/proj", "model": "m", "started_at": "2026-11-22T20:11:44.316Z",
        "metadata": {"title": "t"}});
    write(dir.join("s1.json"), &manifest);
    let found = sessions_in(home.path(), "cline");
    assert_eq!((found.len(), found[0].id.as_str()), (1, "s1"));
    let facts = list::facts(&found[0]).unwrap();
    assert_eq!((facts.cwd.as_deref(), facts.title.as_deref()), (Some("/home/u/proj"), Some("t")));
    assert_eq!((facts.version.as_deref(), facts.model.as_deref()), (Some("3.0.65"), Some("m")));
    let opened = open(&path);
    let transcript = opened.transcript();
    let c1 = call(transcript, "c1");
    assert_eq!((c1.status, c1.exit, c1.cut), (CallStatus::Failed, Some(3), CutState::NoSpill));
    let sent: Value = serde_json::from_str(&first(transcript, "c1")).unwrap();
    assert_eq!(sent[1]["result"].as_str().unwrap().len(), 8000);
    assert!(sent[1]["result"].as_str().unwrap().contains("\n\n...[truncated 5925 chars]...\n\n"));
    assert_eq!(
        (sent[0]["error"].clone(), c1.first().unwrap().evidence),
        ("Command exited with code 3".into(), Evidence::Rendered)
    );
    assert_eq!(
        pieces(transcript, std::slice::from_ref(&c1.display[0].text)),
        long,
        "the whole is in the record"
    );
    assert_eq!(first(transcript, "c2"), "{\"text\":1}");
    let threads: Vec<_> = transcript.calls.iter().map(|call| call.thread).collect();
    assert_eq!((threads, &*transcript.threads[1].id), (vec![0, 0, 1], "agent_1"));
    let verifier = Verifier::new(&Catalog::builtin(), "cline");
    let verdict = verifier.verify(transcript, c1, whole_display(transcript, c1).as_ref());
    assert_eq!(
        verdict,
        Verdict::Equal {
            policy: "cline/result".into(),
            by: Some((LimitHit::Size(Unit::Utf16), Some(8_000))),
            counterpart: Counterpart::Display
        }
    );
}

#[test]
fn reads_tasks_of_editor_extensions() {
    let home = tempfile::tempdir().unwrap();
    let task = home.path().join(".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/t1");
    let cut = "Command executed in '/p'. Command execution was not successful, inspect the cause and adjust as needed.\n\
        Exit code: 3\n\nOutput (35.7KB) persisted. Artifact ID: cmd-17.txt\n\nPreview:\na\n[...3 bytes omitted...]\nb";
    let used =
        json!([{"type": "tool_use", "id": "c1", "name": "execute_command", "input": {"command": "make"}}]);
    let got = json!([{"type": "tool_result", "tool_use_id": "c1", "content": cut}]);
    let old = json!([{"type": "text", "text": "[read_file for 'x'] Result:\n\nx"}, {"type": "text", "text": "[note] more"}]);
    let mut hidden = cline_message("user", got);
    hidden["condenseParent"] = json!("s1");
    let mut summary = cline_message("assistant", json!("summary"));
    (summary["condenseId"], summary["isSummary"]) = (json!("s1"), json!(true));
    let history = json!([cline_message("assistant", used), hidden, summary, cline_message("user", old)]);
    let path = write(task.join("api_conversation_history.json"), &history);
    write(
        task.join("history_item.json"),
        &json!({"task": "do it", "workspace": "/p", "ts": 1795378305189_i64}),
    );
    let found = sessions_in(home.path(), "roo");
    assert_eq!((found.len(), found[0].id.as_str()), (1, "t1"));
    let facts = list::facts(&found[0]).unwrap();
    assert_eq!((facts.cwd.as_deref(), facts.title.as_deref()), (Some("/p"), Some("do it")));
    let opened = open(&path);
    let transcript = opened.transcript();
    assert_eq!(transcript.agent, "roo");
    let c1 = call(transcript, "c1");
    assert_eq!((c1.exit, c1.cut, fate_of(c1)), (Some(3), CutState::Spill, ContextChange::Compact));
    assert_eq!(c1.cites[0].path, task.join("command-output/cmd-17.txt"));
    assert_eq!(first(transcript, "c1"), cut);
    let old = call(transcript, "1795378305189-0");
    assert_eq!((transcript.tool(old), fate_of(old)), ("read_file", ContextChange::Restore));
    assert_eq!(transcript.calls.len(), 2);
    let elsewhere = write(home.path().join("kilocode.kilo-code/t/api_conversation_history.json"), &history);
    assert_eq!(open(&elsewhere).transcript().agent, "kilo");
    let words = cline_message("user", json!([{"type": "text", "text": "<task>\nfix it\n</task>\n<more>"}]));
    let alone = write(home.path().join("t2/api_conversation_history.json"), &json!([words]));
    let facts = open(&alone).transcript().facts.clone();
    assert_eq!(facts.title.as_deref(), Some("fix it"), "without an item of the list");
    assert_eq!((facts.started, facts.ended.is_some()), (facts.ended, true));
}

#[test]
fn the_first_line_of_roo_states_the_working_directory() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("roo/api_conversation_history.json");
    let spill = home.path().join("roo/command-output/cmd-17.txt");
    let told = |cwd: &str| {
        let content = made("roo/command", &[("cwd", cwd)], spill.to_str().unwrap());
        let result = json!([{"type": "tool_result", "tool_use_id": "c1", "content": content}]);
        write(path.clone(), &json!([cline_message("user", result)]));
        told_of_spill(open(&path).transcript(), lines(), spill.to_str().unwrap())
    };
    let found = [".", "/home/u/proj", "/home/u/it's. here"].map(told);
    assert_eq!(found, ["= roo/command", "= roo/command", "= roo/command"]);
}

#[test]
fn openhands_is_read_as_it_is_sent() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join(".openhands/conversations/c1");
    let state = json!({"persistence_dir": "/x", "workspace": {"working_dir": "/p"}, "agent": {"llm": {"model": "m"}}});
    let path = write(dir.join("base_state.json"), &state);
    let mut count = 0;
    let mut event = |more: Value| {
        let mut event = json!({"id": format!("e{count}"), "timestamp": "2026-11-22T20:58:49.157886",
            "parent_id": if count == 0 { Value::Null } else { json!(format!("e{}", count - 1)) }});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        write(dir.join(format!("events/event-{count:05}-x.json")), &event);
        count += 1;
    };
    let mut run = |id: &str, text: &str, dir: &str, is_error: bool| {
        event(
            json!({"kind": "ActionEvent", "tool_name": "terminal", "tool_call_id": id, "action": {"command": "make"}}),
        );
        let metadata = json!({"exit_code": 3, "working_dir": "/p", "py_interpreter_path": "/py", "prefix": "", "suffix": "\n[s]"});
        let observation = json!({"kind": "TerminalObservation", "content": [{"type": "text", "text": text}], "exit_code": 3,
            "is_error": is_error, "metadata": metadata, "full_output_save_dir": dir});
        event(
            json!({"kind": "ObservationEvent", "tool_name": "terminal", "tool_call_id": id, "observation": observation}),
        );
    };
    let around = "\n[s]\n[Current working directory: /p]\n[Python interpreter: /py]\n[Command finished with exit code 3]";
    let long = "é\n".repeat(15_000);
    run("c1", "out", "/x", true);
    run("c2", &long, home.path().to_str().unwrap(), false);
    run("c4", &"x".repeat((1 << 20) + 1), "/x", false);
    let short = "<response clipped><NOTE>Due to the max output limit, only part of the full response has been shown to you.</NOTE>";
    let clipped = |head: usize, tail: usize| format!("{}{short}{}", "x".repeat(head), "y".repeat(tail));
    run("c5", &clipped(14_944, 14_943), "/x", false);
    run("c6", &clipped(14_000, 14_943), "/x", false);
    event(json!({"kind": "ActionEvent", "tool_name": "grep", "tool_call_id": "c7", "action": {}}));
    let other = json!({"kind": "GrepObservation", "content": [{"type": "text", "text": "é".repeat(60_000)}]});
    event(
        json!({"kind": "ObservationEvent", "tool_name": "grep", "tool_call_id": "c7", "observation": other}),
    );
    event(
        json!({"kind": "UserRejectObservation", "tool_name": "terminal", "tool_call_id": "c3", "rejection_reason": "no"}),
    );
    event(json!({"kind": "Condensation", "forgotten_event_ids": ["e1"]}));
    let found = sessions_in(home.path(), "openhands");
    assert_eq!((found.len(), found[0].id.as_str()), (1, "c1"));
    assert_eq!(list::facts(&found[0]).unwrap().cwd.as_deref(), Some("/p"));
    let opened = open(&path);
    let transcript = opened.transcript();
    assert_eq!(first(transcript, "c1"), format!("[An error occurred during execution.]\nout{around}"));
    let c1 = call(transcript, "c1");
    assert_eq!((c1.exit, c1.cut), (Some(3), CutState::No));
    assert_eq!(fate_of(c1), ContextChange::Compact);
    assert_eq!(call(transcript, "c4").cut, CutState::Unknown, "too long to be rendered");
    assert_eq!(
        ["c5", "c6", "c7"].map(|id| call(transcript, id).cut),
        [CutState::NoSpill, CutState::No, CutState::NoSpill]
    );
    assert!(call(transcript, "c5").cites.is_empty(), "what is saved had been cut before");
    assert_eq!(first(transcript, "c7"), format!("{}{short}{}", "é".repeat(24_944), "é".repeat(24_943)));
    let (c2, text) = (call(transcript, "c2"), first(transcript, "c2"));
    assert_eq!((c2.cut, text.chars().count()), (CutState::Spill, 30_000));
    assert!(
        text.ends_with(around) && text.contains("(truncated part starts around line 7473)."),
        "{}",
        &text[29_000..]
    );
    assert_eq!(
        (first(transcript, "c3").as_str(), call(transcript, "c3").status),
        ("Action rejected: no", CallStatus::Denied)
    );
    // The agent saves the whole, with the lines around it: the policy makes the same of it.
    std::fs::write(&c2.cites[0].path, format!("{long}{around}")).unwrap();
    let saved_as = c2.cites[0].path.to_str().unwrap().to_owned();
    let whole =
        WholeOutput::new(Source::open(&c2.cites[0].path).unwrap().view(), Counterpart::Spill, saved_as);
    let verdict = Verifier::new(&Catalog::builtin(), "openhands").verify(transcript, c2, Some(&whole));
    assert_eq!(
        verdict,
        Verdict::Equal {
            policy: "openhands/terminal".into(),
            by: Some((LimitHit::Size(Unit::Chars), Some(30_000))),
            counterpart: Counterpart::Spill
        }
    );
}

/// A trajectory of mini-SWE-agent: a call with its result for each text, with the exit status and the whole output. With the
/// status -1, which is the agent's own, there was an exception.
pub fn trajectory(results: &[(&str, &str, i64)]) -> Value {
    let mut messages =
        vec![json!({"role": "system", "content": "s"}), json!({"role": "user", "content": "make it\nnow"})];
    for (n, (content, whole, code)) in results.iter().enumerate() {
        let (id, at) = (format!("c{}", n + 1), 1_795_378_305.5 + n as f64);
        let function = json!({"name": "bash", "arguments": json!({"command": "make"}).to_string()});
        messages.push(json!({"role": "assistant", "content": null, "extra": {"timestamp": at},
            "tool_calls": [{"id": id, "type": "function", "function": function}]}));
        let exception = if *code == -1 { "timed out after 2 seconds" } else { "" };
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": content,
            "extra": {"raw_output": whole, "returncode": code, "timestamp": at + 0.5,
                "exception_info": exception}}));
    }
    messages.push(json!({"role": "exit", "content": "done"}));
    let config = json!({"model": {"model_name": "m"}, "environment": {"cwd": "/p"}});
    json!({"info": {"config": config, "mini_version": "2.4.6"}, "messages": messages,
        "trajectory_format": "mini-swe-agent-1.1"})
}

#[test]
fn mini_swe_agent_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let whole = format!("{}{}", "y".repeat(5000), "é\r\n".repeat(3000)).replace("\r\n", "\n");
    let points: Vec<char> = whole.chars().collect();
    let quoted =
        |points: &[char]| points.iter().collect::<String>().replace('\n', "\\n").replace('é', "\\u00e9");
    let cut = format!(
        "{{\n  \"returncode\": 3,\n  \"output_head\": \"{}\",\n  \"output_tail\": \"{}\",\n  \"elided_chars\": {},\n  \"warning\": \"Output too long.\"\n}}",
        quoted(&points[..5000]),
        quoted(&points[points.len() - 5000..]),
        points.len() - 10_000
    );
    let uncut = "{\n  \"returncode\": 0,\n  \"output\": \"fine\\n\"\n}";
    let late = cut
        .replace("\": 3", "\": -1")
        .replace("\n}", ", \"exception_info\": \"timed out after 2 seconds\"\n}");
    let other = "<output>x</output>";
    let results = [(uncut, "fine\n", 0), (&cut, &whole, 3), (other, "x", 0), (&late, &whole, -1)];
    let document = trajectory(&results);
    let path = write(dir.path().join("run.traj.json"), &document);
    let named = list::recognise(&path).unwrap();
    assert_eq!((named.format, named.id.as_str()), ("mini-swe-agent", "run"));
    let facts = list::facts(&named).unwrap();
    assert_eq!((facts.version.as_deref(), facts.cwd.as_deref()), (Some("2.4.6"), Some("/p")));
    let opened = open(&path);
    let transcript = opened.transcript();
    assert!(super::is_read_whole(transcript), "{:?}", transcript.unread);
    assert_eq!(transcript.facts.title.as_deref(), Some("make it\nnow"));
    assert_eq!((transcript.facts.model.as_deref(), transcript.next_request(0)), (Some("m"), Some(5)));
    let c1 = call(transcript, "c1");
    assert_eq!((first(transcript, "c1").as_str(), c1.cut, c1.status), (uncut, CutState::No, CallStatus::Ok));
    assert_eq!(c1.first().unwrap().at.unwrap().to_string(), "2026-11-22T20:11:46Z");
    let c2 = call(transcript, "c2");
    assert_eq!((c2.cut, c2.exit, c2.status), (CutState::NoSpill, Some(3), CallStatus::Failed));
    assert_eq!((fate_of(c2), c2.first().unwrap().evidence), (ContextChange::Restore, Evidence::Recorded));
    assert_eq!(call(transcript, "c3").cut, CutState::Unknown, "of another configuration");
    let mut listed = list::read_listed(named, &mut Exposure::default()).unwrap();
    let sums = count_calls(&mut listed, 0, &mut SeenCalls::default(), &()).unwrap().0.unwrap();
    assert_eq!(
        [sums.calls, sums.cut, sums.never_saved, sums.unsure],
        [4, 2, 0, 1],
        "the whole is in the record"
    );
    let c4 = call(transcript, "c4");
    assert_eq!((c4.cut, c4.exit, c4.status), (CutState::NoSpill, None, CallStatus::Failed));
    let verifier = Verifier::new(&Catalog::builtin(), "mini-swe-agent");
    let verdict = verifier.verify(transcript, c4, whole_display(transcript, c4).as_ref());
    assert_eq!(verdict, Verdict::Unchecked(NoVerdict::DisplayOnly), "no policy has the exception");
    let unsure = Verifier::new(&Catalog::builtin(), "x").verify(transcript, call(transcript, "c3"), None);
    assert_eq!(unsure, Verdict::Unchecked(NoVerdict::Unsure));
    let display = whole_display(transcript, c2);
    let verdict = verifier.verify(transcript, c2, display.as_ref());
    assert_eq!(verdict.counterpart(), Some(Counterpart::Display), "{verdict:?}");
    let mut again = trajectory(&[(uncut, "fine\n", 0), (other, "x", 0)]);
    for part in ["/messages/4/tool_calls/0/id", "/messages/5/tool_call_id"] {
        *again.pointer_mut(part).unwrap() = json!("c1");
    }
    let again = open(&write(dir.path().join("again.traj.json"), &again));
    let calls = again.transcript().calls.iter();
    let calls: Vec<_> =
        calls.map(|call| (&*call.id, text_of(again.transcript(), call.first().unwrap()))).collect();
    assert_eq!(calls, [("c1", uncut.to_owned()), ("c1#2", other.to_owned())], "an id that returns");
    let elsewhere = write(dir.path().join("run.json"), &document);
    assert!(list::recognise(&elsewhere).is_err(), "by its name, too");
}

/// A part may be written before its command has ended, and once more as another part.
#[test]
fn an_opencode_part_that_goes_on_with_a_call_is_read_from_its_own_file() {
    let home = tempfile::tempdir().unwrap();
    let storage = home.path().join(".local/share/opencode/storage");
    let write = |path: &str, document: Value| {
        let path = storage.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, document.to_string()).unwrap();
    };
    let part = |id: &str, status: &str, output: Option<&str>| {
        let state = json!({"status": status, "input": {"command": "x"}, "output": output});
        json!({"type": "tool", "callID": id, "tool": "bash", "state": state})
    };
    write("session/p/ses_1.json", json!({"id": "ses_1", "projectID": "p", "directory": "/p"}));
    write("message/ses_1/msg_1.json", json!({"role": "assistant", "time": {"created": 1}}));
    write("part/msg_1/prt_1.json", part("a", "running", None));
    write("part/msg_1/prt_2.json", part("a", "completed", Some("one")));
    write("part/msg_1/prt_3.json", part("b", "completed", Some("three")));
    let file = sessions_in(home.path(), "opencode").remove(0);
    let opened = list::open(&file, &()).unwrap();
    let transcript = opened.transcript();
    assert_eq!(transcript.calls.len(), 2);
    assert_eq!((first(transcript, "a"), first(transcript, "b")), ("one".to_owned(), "three".to_owned()));
}
