//! Kimi CLI's records: histories that are taken back or summed up, ids that return, and the events beside them.

use std::path::{Path, PathBuf};

use overspill::internals::session::fate::ContextChange;
use overspill::internals::session::model::{CallStatus, CutState};
use overspill::internals::session::verify::Verifier;
use overspill::preview::Catalog;
use serde_json::{Value, json};

use super::{call, fate_of, first, is_read_whole, open, sessions_in, write_log};

fn begins() -> Value {
    json!({"role": "_system_prompt", "content": "…"})
}

fn called(id: &str, command: &str) -> Value {
    let arguments = json!({"command": command}).to_string();
    let function = json!({"name": "Shell", "arguments": arguments});
    json!({"role": "assistant", "content": "", "tool_calls": [{"type": "function", "id": id, "function": function}]})
}

fn got(id: &str, parts: &[&str]) -> Value {
    let parts: Vec<_> = parts.iter().map(|text| json!({"type": "text", "text": text})).collect();
    json!({"role": "tool", "content": parts, "tool_call_id": id})
}

fn event(at: f64, kind: &str, payload: Value) -> Value {
    json!({"timestamp": at, "message": {"type": kind, "payload": payload}})
}

/// The directory of a session in a home directory.
fn session(home: &Path) -> PathBuf {
    // The MD5 of `/home/u/proj`.
    let dir = home.join(".kimi/sessions/4fafce67053eea06f159a78f7ef15755/s1");
    write_log(
        &home.join(".kimi"),
        "kimi.json",
        &[json!({"work_dirs": [{"path": "/home/u/proj", "kaos": "local"}]})],
    );
    dir
}

#[test]
fn joins_kimi_results_with_their_times() {
    let home = tempfile::tempdir().unwrap();
    let dir = session(home.path());
    let cut = "<system>Command executed successfully. Output is truncated to fit in the message.</system>";
    let history = [
        begins(),
        called("c1", "make"),
        got("c1", &[cut, "out"]),
        called("c2", "false"),
        got("c2", &["<system>ERROR: Command failed with exit code: 3.</system>", cut]),
        called("c3", "rm"),
        json!({"role": "tool", "tool_call_id": "c3", "content": "<system>ERROR: The tool call is rejected by the user. Stop.</system>"}),
        called("c4", "sleep 9"),
    ];
    write_log(&dir, "context.jsonl", &history);
    let events = [
        json!({"type": "metadata", "protocol_version": "1.10"}),
        event(1795376951.5, "TurnBegin", json!({"user_input": "do it"})),
        event(1795376952.5, "ToolCall", json!({"id": "c1"})),
        event(1795376953.5, "ToolResult", json!({"tool_call_id": "c1"})),
    ];
    write_log(&dir, "wire.jsonl", &events);
    let found = sessions_in(home.path(), "kimi-cli");
    assert_eq!((found.len(), found[0].id.as_str()), (1, "s1"));
    let facts = overspill::internals::session::list::facts(&found[0]).unwrap();
    assert_eq!((facts.cwd.as_deref(), facts.title.as_deref()), (Some("/home/u/proj"), Some("do it")));
    assert_eq!(facts.ended.unwrap().to_string(), "2026-11-22T19:49:13.5Z");
    let opened = open(&dir.join("context.jsonl"));
    let transcript = opened.transcript();
    assert!(is_read_whole(transcript), "{:?}", transcript.unread);
    let c1 = call(transcript, "c1");
    assert_eq!((c1.cut, first(transcript, "c1")), (CutState::NoSpill, format!("{cut}out")));
    assert_eq!(c1.at.unwrap().to_string(), "2026-11-22T19:49:12.5Z");
    assert_eq!(c1.first().unwrap().at.unwrap().to_string(), "2026-11-22T19:49:13.5Z");
    let text = first(transcript, "c1");
    let verifier = Verifier::new(&Catalog::builtin(), "kimi-cli");
    let added = verifier.added_in(transcript, (c1, c1.first().unwrap()), &text);
    assert_eq!(added, std::iter::once(0..cut.len()).collect::<Vec<_>>(), "the message is not the command's");
    let c2 = call(transcript, "c2");
    assert_eq!(
        (c2.status, c2.exit, c2.cut),
        (CallStatus::Failed, Some(3), CutState::No),
        "a quoted notice is no notice"
    );
    assert_eq!(call(transcript, "c3").status, CallStatus::Denied);
    assert_eq!(call(transcript, "c4").status, CallStatus::NoResult);
}

#[test]
fn a_file_is_lost_beyond_the_read_tool_s_limits_unless_the_call_asked_for_no_more() {
    let home = tempfile::tempdir().unwrap();
    let dir = session(home.path());
    let cut = |arguments: Value, told: &str| {
        let mut called = called("c1", "");
        let function = json!({"name": "ReadFile", "arguments": arguments.to_string()});
        called["tool_calls"][0]["function"] = function;
        let message = format!("<system>{told}</system>");
        write_log(&dir, "context.jsonl", &[begins(), called, got("c1", &[&message, "     1\ta\n"])]);
        call(open(&dir.join("context.jsonl")).transcript(), "c1").cut
    };
    let read = |count: u32, rest: &str| format!("{count} lines read from file starting from line 1.{rest}");
    let lost = CutState::NoSpill;
    let all = || json!({"path": "/x"});
    assert_eq!(cut(all(), &read(1000, " Total lines in file: 4001.")), lost);
    assert_eq!(cut(all(), &read(600, " Total lines in file: 4001. Max 102400 bytes reached.")), lost);
    assert_eq!(cut(all(), &read(1000, " Max 1000 lines reached.")), lost, "an older message");
    let ends = " Total lines in file: 3. End of file reached.";
    assert_eq!(cut(all(), &read(3, ends)), CutState::No);
    assert_eq!(cut(all(), &read(3, &format!("{ends} Lines [2] were truncated."))), lost);
    let window = |lines: u32| json!({"path": "/x", "n_lines": lines});
    assert_eq!(cut(window(50), &read(50, " Total lines in file: 4001.")), CutState::No);
    assert_eq!(cut(window(700), &read(600, " Total lines in file: 4001. Max 102400 bytes reached.")), lost);
    let end = "300 lines read from file starting from line 701. Total lines in file: 1000. Max 102400 bytes reached.";
    assert_eq!(cut(json!({"path": "/x", "line_offset": -500}), end), lost, "of the end of a file");
}

#[test]
fn a_background_task_has_a_spill() {
    let home = tempfile::tempdir().unwrap();
    let dir = session(home.path());
    let lines = |cut: bool| {
        let of_command = "command: echo\noutput_truncated: true\noutput_path: /etc/passwd";
        format!(
            "retrieval_status: success\n{of_command}\n\noutput_path: /x/output.log\noutput_size_bytes: 60894\n\
             output_truncated: {cut}\n\nfull_output_available: true\nfull_output_tool: ReadFile\nhint\n\n[output]\nout"
        )
    };
    let mut calls = [called("c1", ""), called("c2", "")];
    calls.iter_mut().for_each(|call| call["tool_calls"][0]["function"]["name"] = json!("TaskOutput"));
    let [c1, c2] = calls;
    let got = |id: &str, cut| got(id, &["<system>Task output retrieved.</system>", &lines(cut)]);
    write_log(&dir, "context.jsonl", &[begins(), c1, got("c1", true), c2, got("c2", false)]);
    let opened = open(&dir.join("context.jsonl"));
    let c1 = call(opened.transcript(), "c1");
    assert_eq!((c1.cut, c1.cites[0].path.to_str()), (CutState::Spill, Some("/x/output.log")));
    assert_eq!(c1.cites[0].bytes, Some(60_894));
    let c2 = call(opened.transcript(), "c2");
    assert!(c2.cut == CutState::No && c2.cites.is_empty());
}

#[test]
fn reads_abandoned_kimi_histories() {
    let home = tempfile::tempdir().unwrap();
    let dir = session(home.path());
    let summary = json!({"role": "user", "content": [{"type": "text", "text":
        "<system>Previous context has been compacted. Here is the compaction output:</system>"}]});
    let one = [begins(), called("s:0", "a"), got("s:0", &["one"]), called("s:1", "b"), got("s:1", &["two"])];
    // Taken back to after the first call; the second id comes again, with another command.
    let two =
        [begins(), called("s:0", "a"), got("s:0", &["one"]), called("s:1", "c"), got("s:1", &["three"])];
    // Summed up; the ids begin anew, and the same command has another result.
    let three = [begins(), summary, called("s:0", "a"), got("s:0", &["four"])];
    write_log(&dir, "context_1.jsonl", &one);
    write_log(&dir, "context_2.jsonl", &two);
    write_log(&dir, "context.jsonl", &three);
    let events: Vec<_> = ["s:0", "s:1", "s:1", "s:0"]
        .iter()
        .zip(1..)
        .map(|(id, at)| event(1795376950.0 + f64::from(at), "ToolCall", json!({"id": id})))
        .flat_map(|call| [event(1795376950.0, "StepBegin", json!({"n": 1})), call])
        .chain([event(1795376960.0, "CompactionEnd", json!({}))])
        .collect();
    write_log(&dir, "wire.jsonl", &events);
    let opened = open(&dir.join("context.jsonl"));
    let transcript = opened.transcript();
    let ids: Vec<_> = transcript.calls.iter().map(|call| &*call.id).collect();
    assert_eq!(ids, ["s:0", "s:1", "s:1#2", "s:0#2"]);
    let texts: Vec<_> = ids.iter().map(|id| first(transcript, id)).collect();
    assert_eq!(texts, ["one", "two", "three", "four"]);
    let seconds: Vec<_> =
        transcript.calls.iter().map(|call| call.at.unwrap().as_second() - 1795376950).collect();
    assert_eq!(seconds, [1, 2, 3, 4]);
    let fates: Vec<_> = transcript.calls.iter().map(fate_of).collect();
    let summed_up = ContextChange::Compact;
    assert_eq!(fates, [summed_up, ContextChange::Rewind, summed_up, ContextChange::Restore]);
    assert_eq!(transcript.calls[0].first().unwrap().context.describe(), "in summary #5");
}

#[test]
fn what_is_taken_back_after_a_summary_is_in_no_summary() {
    let home = tempfile::tempdir().unwrap();
    let dir = session(home.path());
    let summary = |words: &str| {
        let begins = "<system>Previous context has been compacted. Here is the compaction output:</system>";
        json!({"role": "user", "content": [{"type": "text", "text": begins}, {"type": "text", "text": words}]})
    };
    let run = |id: &str| [called(id, id), got(id, &[id])];
    let log = |name: &str, summary: Option<Value>, calls: &[[Value; 2]]| {
        let records: Vec<_> = [begins()].into_iter().chain(summary).chain(calls.concat()).collect();
        write_log(&dir, name, &records);
    };
    log("context_1.jsonl", None, &[run("a")]);
    log("context_2.jsonl", Some(summary("one")), &[run("b")]);
    log("context_3.jsonl", Some(summary("one")), &[run("c")]);
    log("context.jsonl", Some(summary("two")), &[run("d")]);
    let step = event(1795376950.0, "StepBegin", json!({"n": 1}));
    let answer = event(1795376951.0, "ContentPart", json!({}));
    let summed_up = event(1795376952.0, "CompactionEnd", json!({}));
    let request = [step, answer];
    let one = [&request[..], std::slice::from_ref(&summed_up)].concat();
    write_log(&dir, "wire.jsonl", &[&one[..], &request, &request, &[summed_up]].concat());
    let opened = open(&dir.join("context.jsonl"));
    let state = |id: &str| call(opened.transcript(), id).first().unwrap().context.describe();
    assert_eq!(["a", "b", "c", "d"].map(state), ["in summary #2", "rewound", "in summary #4", "yes"]);
}

#[test]
fn a_session_is_followed_through_its_logs() {
    let home = tempfile::tempdir().unwrap();
    let dir = session(home.path());
    let history = [begins(), called("c1", "a"), got("c1", &["one"])];
    write_log(&dir, "context.jsonl", &history);
    let spawned =
        json!({"parent_tool_call_id": "c1", "agent_id": "a1", "subagent_type": "coder", "event": {}});
    write_log(&dir, "wire.jsonl", &[event(1795376951.0, "SubagentEvent", spawned)]);
    write_log(&dir, "subagents/a1/context.jsonl", &[begins(), called("c1", "b")]);
    let mut opened = open(&dir.join("context.jsonl"));
    let threads: Vec<_> = opened.transcript().calls.iter().map(|call| call.thread).collect();
    assert_eq!(threads, [0, 1]);
    assert_eq!(&*opened.transcript().threads[1].name, "coder");
    // What is added to the first log belongs to the main conversation.
    let longer = [&history[..], &[called("c2", "c"), got("c2", &["two"])]].concat();
    write_log(&dir, "context.jsonl", &longer);
    assert!(opened.refresh(&()).unwrap());
    assert_eq!(
        (call(opened.transcript(), "c2").thread, first(opened.transcript(), "c2")),
        (0, "two".to_owned())
    );
    // The history is taken back: the log is renamed, and begins anew.
    std::fs::rename(dir.join("context.jsonl"), dir.join("context_1.jsonl")).unwrap();
    write_log(&dir, "context.jsonl", &history);
    assert!(opened.refresh(&()).unwrap());
    let fate = |id: &str| fate_of(call(opened.transcript(), id));
    assert_eq!((fate("c1"), fate("c2")), (ContextChange::Restore, ContextChange::Rewind));
    assert!(!opened.refresh(&()).unwrap());
}
