//! What left the model's context in sessions of Codex, Copilot CLI, Gemini CLI and opencode: made records, and true ones
//! against the requests on the wire.

use std::path::{Path, PathBuf};

use overspill::internals::session::counterpart::whole_display;
use overspill::internals::session::fate::{ContextChange, FateEvidence};
use overspill::internals::session::list::facts;
use overspill::internals::session::model::{CallStatus, CutState};
use overspill::internals::session::transcript::Transcript;
use serde_json::{Value, json};

use super::samples::home_of;
use super::{call, fate_of, first, is_read_whole, open, sessions_in, write_log};

/// Returns what the model still has of a call, as the screens say it.
fn state(transcript: &Transcript, id: &str) -> String {
    call(transcript, id).first().unwrap().context.describe()
}

fn states<const N: usize>(transcript: &Transcript, ids: [&str; N]) -> [String; N] {
    ids.map(|id| state(transcript, id))
}

fn read(records: &[Value]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = write_log(dir.path(), "log.jsonl", records);
    (dir, path)
}

const AT: &str = "2026-11-22T05:49:31Z";

fn codex(kind: &str, more: Value) -> Value {
    let outer = match kind {
        "compacted" => "compacted",
        "task_started" | "user_message" | "thread_rolled_back" | "item_completed" => "event_msg",
        "turn_aborted" | "task_complete" => "event_msg",
        _ => "response_item",
    };
    let mut payload = json!({"type": kind});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"timestamp": AT, "type": outer, "payload": payload})
}

/// A session of Codex: of each id a turn with one call. Other events stand between them.
fn rollout(turns: &[(&str, Value)]) -> Vec<Value> {
    let mut log = vec![json!({"type": "session_meta", "payload": {"id": "s", "cwd": "/p"}})];
    for (what, data) in turns {
        if *what != "turn" {
            log.push(codex(what, data.clone()));
            continue;
        }
        let output = "Process exited with code 0\nOutput:\nx";
        log.push(codex("task_started", json!({})));
        log.push(codex("user_message", json!({})));
        log.push(codex("function_call", json!({"name": "exec_command", "arguments": "{}", "call_id": data})));
        log.push(codex("function_call_output", json!({"call_id": data, "output": output})));
        log.push(codex("message", json!({"role": "assistant", "content": []})));
    }
    log
}

#[test]
fn codex_compacts_and_rolls_back() {
    let kept = json!([{"type": "function_call_output", "call_id": "c3"}]);
    let sealed = json!([{"type": "compaction", "encrypted_content": "x"}]);
    let turns = [
        ("turn", json!("c1")),
        ("turn", json!("c2")),
        ("turn", json!("c3")),
        ("compacted", json!({"message": "m", "replacement_history": kept})),
        ("turn", json!("c4")),
        ("turn", json!("c5")),
        ("thread_rolled_back", json!({"num_turns": 2})),
        ("turn", json!("c6")),
        ("task_started", json!({})),
        ("compacted", json!({"message": "", "replacement_history": sealed})),
        ("turn", json!("c7")),
    ];
    let (_dir, path) = read(&rollout(&turns));
    let opened = open(&path);
    let transcript = opened.transcript();
    assert!(is_read_whole(transcript), "{:?}", transcript.unread);
    let summed = ["in summary #7", "in summary #7", "in summary #13"].map(str::to_owned);
    assert_eq!(states(transcript, ["c1", "c2", "c3"]), summed);
    assert_eq!(states(transcript, ["c4", "c5"]), ["rewound #11", "rewound #11"]);
    assert_eq!(states(transcript, ["c6", "c7"]), ["in summary #13", "yes"]);
    let evidence = |id: &str| call(transcript, id).first().unwrap().context.evidence;
    assert_eq!([evidence("c1"), evidence("c3")], [FateEvidence::Recorded, FateEvidence::Unknown]);
    assert_eq!(fate_of(call(transcript, "c4")), ContextChange::Rewind);
}

#[test]
fn a_turn_of_codex_that_ended_without_an_answer_is_taken_back_as_one() {
    for end in ["turn_aborted", "task_complete"] {
        let turns = [
            ("turn", json!("c1")),
            ("task_started", json!({})),
            ("user_message", json!({})),
            (end, json!({})),
            ("turn", json!("c2")),
            ("task_complete", json!({})),
            ("task_started", json!({})),
            (end, json!({})),
            ("thread_rolled_back", json!({"num_turns": 2})),
        ];
        let (_dir, path) = read(&rollout(&turns));
        let opened = open(&path);
        assert_eq!(states(opened.transcript(), ["c1", "c2"]), ["yes", "rewound #5"], "{end}");
    }
}

#[test]
fn reads_codex_running_commands_and_cut_script_output() {
    let item = |id: &str, code: i64| json!({"item": {"type": "CommandExecution", "id": id, "exit_code": code, "aggregated_output": "x"}});
    let cut = "Warning: truncated output (original token count: 12000)\nx";
    let parts = [
        json!({"type": "input_text", "text": "Script completed\nWall time 0.3 seconds\nOutput:\n"}),
        json!({"type": "input_text", "text": cut}),
    ];
    let running = "Wall time: 1.0000 seconds\nProcess running with session ID 7\nOutput:\nx";
    let log = [
        json!({"type": "session_meta", "payload": {"id": "s", "cwd": "/p"}}),
        codex("function_call", json!({"name": "exec_command", "arguments": "{}", "call_id": "c1"})),
        codex("item_completed", item("c1", -1)),
        codex("function_call_output", json!({"call_id": "c1", "output": running})),
        codex("function_call", json!({"name": "exec_command", "arguments": "{}", "call_id": "c2"})),
        codex("function_call_output", json!({"call_id": "c2", "output": running})),
        codex("item_completed", item("c2", -1)),
        codex("custom_tool_call", json!({"name": "exec", "input": "x", "call_id": "c3"})),
        codex("custom_tool_call_output", json!({"call_id": "c3", "output": parts})),
        codex("custom_tool_call", json!({"name": "exec", "input": "x", "call_id": "c4"})),
        codex("custom_tool_call_output", json!({"call_id": "c4", "output": [parts[0]]})),
        codex("function_call", json!({"name": "exec_command", "arguments": "{}", "call_id": "c5"})),
        codex("item_completed", item("c5", -1)),
        codex("function_call", json!({"name": "exec_command", "arguments": "{}", "call_id": "c6"})),
        codex("item_completed", item("c6", -1)),
        codex("function_call_output", json!({"call_id": "c6", "output": "exec_command failed"})),
    ];
    let (_dir, path) = read(&log);
    let opened = open(&path);
    let of = |id: &str| call(opened.transcript(), id);
    assert_eq!(
        [(of("c1").exit, of("c1").status), (of("c2").exit, of("c2").status)],
        [(None, CallStatus::Ok); 2]
    );
    assert_eq!(["c5", "c6"].map(|id| of(id).exit), [None, Some(-1)], "one has no result");
    assert_eq!(["c1", "c3", "c4"].map(|id| of(id).cut), [CutState::No, CutState::NoSpill, CutState::No]);
}

/// An event of Copilot CLI; its id is its number.
fn copilot(events: &[(&str, Value)]) -> Vec<Value> {
    let start = ("session.start", json!({"sessionId": "s", "copilotVersion": "1.0.102"}));
    let mut log = Vec::new();
    for (kind, data) in [start].iter().chain(events) {
        let id = format!("e{}", log.len());
        log.push(json!({"type": kind, "id": id, "timestamp": AT, "data": data}));
    }
    log
}

/// The events of an answer with one call.
fn called(id: &str, content: &str) -> [(&'static str, Value); 3] {
    let start = json!({"toolCallId": id, "toolName": "grep", "arguments": {}});
    let complete = json!({"toolCallId": id, "success": true, "result": {"content": content}});
    [
        ("assistant.message", json!({"content": ""})),
        ("tool.execution_start", start),
        ("tool.execution_complete", complete),
    ]
}

/// A session may be resumed by another version, which does not say so.
#[test]
fn the_copilot_version_is_unknown_after_a_resume() {
    let events =
        [&called("c1", "x")[..], &[("session.resume", json!({"eventCount": 4}))], &called("c2", "y")];
    let (_dir, path) = read(&copilot(&events.concat()));
    let opened = open(&path);
    let transcript = opened.transcript();
    let versions = ["c1", "c2"].map(|id| transcript.version_of(call(transcript, id)));
    assert_eq!((versions, &transcript.facts.version), ([Some("1.0.102"), None], &None));
}

#[test]
fn a_session_of_copilot_has_the_name_that_the_person_gave_it() {
    let home = tempfile::tempdir().unwrap();
    let log = copilot(&[("user.message", json!({"content": "first words"}))]);
    let path = write_log(home.path(), ".copilot/session-state/s/events.jsonl", &log);
    let titles = |state: &str| {
        std::fs::write(path.with_file_name("workspace.yaml"), state).unwrap();
        let listed =
            sessions_in(home.path(), "copilot-cli").iter().map(|file| facts(file).unwrap().title).next();
        [listed.unwrap(), open(&path).transcript().facts.title.clone()].map(Option::unwrap)
    };
    assert_eq!(titles("id: s\nname: \"Mend it\"\nuser_named: true\n"), ["Mend it"; 2]);
    assert_eq!(titles("id: s\nname: Mend it\nuser_named: false\n"), ["first words"; 2]);
}

#[test]
fn copilot_sums_up_what_came_before_the_start() {
    let start = || ("session.compaction_start", json!({}));
    let complete = |outcome: &str| {
        ("session.compaction_complete", json!({"success": outcome == "applied", "outcome": outcome}))
    };
    let log = [
        called("c1", "x").as_slice(),
        &called("c2", "a\n... 18 more match(es) omitted in this file"),
        &[start(), complete("failed"), start()],
        &called("c3", "[omitted 4200 match(es) in 140 file(s)]"),
        &[complete("applied")],
        &called("c4", "match(es) omitted in this file"),
    ]
    .concat();
    let (_dir, path) = read(&copilot(&log));
    let opened = open(&path);
    let transcript = opened.transcript();
    assert_eq!(
        states(transcript, ["c1", "c2", "c3", "c4"]),
        ["in summary #4", "in summary #4", "yes", "yes"]
    );
    let cut = ["c1", "c2", "c3", "c4"].map(|id| call(transcript, id).cut);
    assert_eq!(cut, [CutState::No, CutState::NoSpill, CutState::NoSpill, CutState::No]);
    // The rewind takes the summary back, and the last call.
    let rewind = json!({"upToEventId": "e13", "eventsRemoved": 5});
    let log = [&log[..], &[("session.snapshot_rewind", rewind)]].concat();
    let (_dir, path) = read(&copilot(&log));
    let opened = open(&path);
    assert_eq!(states(opened.transcript(), ["c1", "c2", "c3", "c4"]), ["yes", "yes", "yes", "rewound #5"]);
    // Only what is named.
    let rewind = json!({"upToEventId": "e3", "eventsRemoved": 1, "eventIds": ["e3"]});
    let log = [called("c1", "x"), called("c2", "x"), called("c3", "x")].concat();
    let (_dir, path) = read(&copilot(&[&log[..], &[("session.snapshot_rewind", rewind)]].concat()));
    assert_eq!(states(open(&path).transcript(), ["c1", "c2", "c3"]), ["rewound #4", "yes", "yes"]);
}

#[test]
fn a_truncated_copilot_view_counts_as_cut() {
    let told = "1. x\n\n[Output truncated. Use view_range=[2400, ...] to continue reading. File has at least 2500 lines.]";
    let cut = |tool: &str, text: &str| {
        let mut log = called("c1", text);
        log[1].1["toolName"] = json!(tool);
        let (_dir, path) = read(&copilot(&log));
        call(open(&path).transcript(), "c1").cut
    };
    assert_eq!(cut("view", told), CutState::NoSpill);
    assert_eq!([cut("bash", told), cut("view", &format!("{told}\nx"))], [CutState::No; 2]);
}

#[test]
fn copilot_drops_the_oldest_messages() {
    let of = |before: u64| {
        let cut = json!({"messagesRemovedDuringTruncation": 2, "preTruncationMessagesLength": before});
        let log = [&called("c1", "x")[..], &called("c2", "x"), &[("session.truncation", cut)]].concat();
        let (_dir, path) = read(&copilot(&log));
        let opened = open(&path);
        assert_eq!(states(opened.transcript(), ["c1", "c2"]), ["dropped #3", "yes"]);
        call(opened.transcript(), "c1").first().unwrap().context.evidence
    };
    assert_eq!([of(4), of(5), of(9)], [FateEvidence::ByRule, FateEvidence::ByRule, FateEvidence::Unknown]);
}

#[test]
fn a_codex_command_that_ends_late_gets_its_final_status() {
    let item = |kind: &str, payload: Value| json!({"timestamp": AT, "type": kind, "payload": payload});
    let output = "Wall time: 1.0 seconds\nProcess running with session ID 5\nOutput:\nstarted";
    let log = [
        item("session_meta", json!({"id": "s", "cwd": "/p"})),
        item(
            "response_item",
            json!({"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c"}),
        ),
        item("response_item", json!({"type": "function_call_output", "call_id": "c", "output": output})),
        item(
            "event_msg",
            json!({"type": "item_completed", "item": {"type": "CommandExecution", "id": "c", "exit_code": 1}}),
        ),
    ];
    let ended = |log: &[Value]| {
        let (_dir, path) = read(log);
        let opened = open(&path);
        let call = call(opened.transcript(), "c");
        (call.exit, call.status)
    };
    assert_eq!(ended(&log[..3]), (None, CallStatus::Ok));
    assert_eq!(ended(&log), (Some(1), CallStatus::Failed));
}

#[test]
fn a_call_with_an_id_that_is_too_long_is_reported() {
    let item = |payload: Value| json!({"timestamp": AT, "type": "response_item", "payload": payload});
    let call_of = |id: &str| {
        item(json!({"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": id}))
    };
    let meta = json!({"type": "session_meta", "payload": {"id": "s", "cwd": "/p"}});
    let (_dir, path) = read(&[meta, call_of(&"c".repeat(4096)), call_of(&"c".repeat(4097))]);
    let opened = open(&path);
    assert_eq!((opened.transcript().calls.len(), opened.transcript().unread.broken), (1, 1));
}

fn gemini(id: &str, call: &str, text: &str) -> [Value; 2] {
    let response =
        json!({"functionResponse": {"id": call, "name": "read_file", "response": {"output": text}}});
    let called = json!([{"id": call, "name": "read_file", "args": {}, "status": "success"}]);
    [
        json!({"id": format!("g{id}"), "timestamp": AT, "type": "gemini", "content": "", "tokens": {}, "toolCalls": called}),
        json!({"id": format!("u{id}"), "timestamp": AT, "type": "user", "content": [response]}),
    ]
}

#[test]
fn gemini_keeps_what_the_last_checkpoint_holds() {
    let [g1, u1] = gemini("1", "f1", "one");
    let notice = "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 1-2000 of 4001 total lines.\n";
    let [g2, u2] = gemini("2", "f2", notice);
    let [g3, u3] = gemini("3", "f3", "three");
    let [_, masked] = gemini("3", "f3", "<tool_output_masked>\nx\n</tool_output_masked>");
    let [g4, u4] = gemini("4", "f4", "four");
    let set = |messages: &[&Value]| json!({"$set": {"messages": messages, "lastUpdated": AT}});
    let summary =
        json!({"id": "s", "type": "user", "content": [{"text": "<state_snapshot>x</state_snapshot>"}]});
    let head = json!({"sessionId": "s", "projectHash": "p", "startTime": AT});
    let mut log = vec![head, g1.clone(), u1.clone(), g2, u2, g3.clone(), u3.clone()];
    log.push(set(&[&summary, &g3, &masked]));
    log.extend([g4.clone(), u4.clone()]);
    let states_of = |log: &[Value]| {
        let (_dir, path) = read(log);
        states(open(&path).transcript(), ["f1", "f2", "f3", "f4"])
    };
    assert_eq!(states_of(&log), ["in summary #4", "in summary #4", "edited since #4", "yes"]);
    let (_dir, path) = read(&log);
    let opened = open(&path);
    let f3 = call(opened.transcript(), "f3");
    assert_eq!((f3.later, first(opened.transcript(), "f3").as_str()), (1, "three"));
    assert_eq!(["f1", "f2"].map(|id| call(opened.transcript(), id).cut), [CutState::No, CutState::NoSpill]);
    let after = |record: Value| states_of(&[&log[..], &[record]].concat());
    let gone = "in summary #4";
    assert_eq!(after(json!({"$rewindTo": "g4"})), [gone, gone, "edited since #4", "rewound #5"]);
    assert_eq!(after(json!({"$rewindTo": "unknown"})), [gone, gone, "rewound #5", "rewound #5"]);
    assert_eq!(after(set(&[&summary, &g3, &masked])), [gone, gone, "edited since #4", "dropped #5"]);
    assert_eq!(after(set(&[&g1, &u1, &g3, &u3, &g4, &u4]))[..2], ["yes", "in summary #4"]);
}

#[test]
fn a_gemini_read_is_cut_unless_it_got_all_that_it_asked_for() {
    let notice = "\nIMPORTANT: The file content has been truncated.\nStatus: Showing lines 11-20 of 4001 total lines.\n";
    let cut = |args: Value| {
        let [mut called, got] = gemini("1", "f1", notice);
        called["toolCalls"][0]["args"] = args;
        let head = json!({"sessionId": "s", "projectHash": "p", "startTime": AT});
        let (_dir, path) = read(&[head, called, got]);
        call(open(&path).transcript(), "f1").cut
    };
    assert_eq!(cut(json!({"file_path": "/x"})), CutState::NoSpill);
    assert_eq!(cut(json!({"start_line": 11, "end_line": 20})), CutState::No);
    assert_eq!(cut(json!({"start_line": 11, "end_line": 21})), CutState::NoSpill);
}

#[test]
fn geminis_display_holds_the_whole_output_only_of_commands() {
    let [mut g1, u1] = gemini("1", "f1", "\nIMPORTANT: The file content has been truncated.\nStatus: …");
    let [mut g2, u2] = gemini("2", "f2", "Output too large. Showing first 1 and last 1 characters.");
    g1["toolCalls"][0]["resultDisplay"] = json!("Read lines 1-2000 of 3001 from notes.txt");
    g2["toolCalls"][0]["resultDisplay"] = json!("whole");
    g2["toolCalls"][0]["name"] = json!("run_shell_command");
    let head = json!({"sessionId": "s", "projectHash": "p", "startTime": AT});
    let (_dir, path) = read(&[head, g1, u1, g2, u2]);
    let opened = open(&path);
    let whole = |id| whole_display(opened.transcript(), call(opened.transcript(), id));
    let whole = ["f1", "f2"].map(|id| whole(id).map(|whole| whole.view.to_vec()));
    assert_eq!(whole, [None, Some(b"whole".to_vec())]);
}

#[test]
fn a_failed_gemini_command_stays_failed_in_a_new_history() {
    let [g1, u1] = gemini("1", "f1", "Output: x\nExit Code: 3");
    let [g2, u2] = gemini("2", "f1", "Output: x\nExit Code: 3");
    let head = json!({"sessionId": "s", "projectHash": "p", "startTime": AT});
    let set = json!({"$set": {"messages": [g1, u1], "lastUpdated": AT}});
    let log = [head, g1, u1, set, g2, u2];
    for n in 3..=log.len() {
        let (_dir, path) = read(&log[..n]);
        let opened = open(&path);
        let f1 = call(opened.transcript(), "f1");
        assert_eq!((f1.status, f1.exit), (CallStatus::Failed, Some(3)), "after {n} records");
    }
}

#[test]
fn gemini_s_sessions_have_the_id_in_their_records() {
    let home = tempfile::tempdir().unwrap();
    let chats = home.path().join(".gemini/tmp/p/chats");
    let id = "652ea467-f10c-44f8-8505-783b4fc9c305";
    let head = json!({"sessionId": id, "projectHash": "p", "startTime": AT});
    write_log(&chats, "session-2026-11-22T05-51-652ea467.jsonl", std::slice::from_ref(&head));
    write_log(&chats.join(id), "aaaa1111.jsonl", &[head]);
    let mut ids: Vec<_> = sessions_in(home.path(), "gemini-cli").into_iter().map(|file| file.id).collect();
    ids.sort();
    assert_eq!(ids, [id, "aaaa1111"], "a sub-agent's log has its id as its name");
    let projects =
        || sessions_in(home.path(), "gemini-cli").into_iter().map(|file| facts(&file).unwrap().cwd);
    assert!(projects().all(|project| project.is_none()));
    let projects_json = json!({"projects": {"/home/u/q": "q", "/home/u/proj": "p"}}).to_string();
    std::fs::write(home.path().join(".gemini/tmp/p/.project_root"), "/home/u/own\n").unwrap();
    assert!(projects().all(|project| project.as_deref() == Some("/home/u/own")));
    std::fs::write(home.path().join(".gemini/projects.json"), projects_json).unwrap();
    assert!(projects().all(|project| project.as_deref() == Some("/home/u/proj")));
    let log = chats.join(id).join("aaaa1111.jsonl");
    assert_eq!(open(&log).transcript().facts.cwd.as_deref(), Some("/home/u/proj"));
}

/// Until a session is resumed: then a log beside the document has all of it, in which old results are with their calls alone.
#[test]
fn an_older_document_of_gemini_s_is_read() {
    let home = tempfile::tempdir().unwrap();
    let chats = home.path().join(".gemini/tmp/p/chats");
    let output = "Output: x\nExit Code: 3";
    let [mut g1, u1] = gemini("1", "f1", output);
    g1["toolCalls"][0]["result"] = u1["content"].clone();
    let prompt = json!({"id": "0", "timestamp": AT, "type": "user", "content": "fix it"});
    let start = json!({"sessionId": "652ea467-f10c", "projectHash": "p", "startTime": AT, "lastUpdated": AT});
    let mut document = start.clone();
    document["messages"] = json!([prompt, g1]);
    let path = chats.join("session-2025-10-22T05-51-652ea467.json");
    std::fs::create_dir_all(&chats).unwrap();
    std::fs::write(&path, serde_json::to_string_pretty(&document).unwrap()).unwrap();
    let found = sessions_in(home.path(), "gemini-cli");
    assert_eq!(
        found.iter().map(|file| (&*file.id, &file.path)).collect::<Vec<_>>(),
        [("652ea467-f10c", &path)]
    );
    assert_eq!(facts(&found[0]).unwrap().ended.map(|at| at.to_string()).as_deref(), Some(AT));
    assert_eq!(facts(&found[0]).unwrap().title.as_deref(), Some("fix it"));
    let reads = |path: &Path| {
        let opened = open(path);
        let (transcript, f1) = (opened.transcript(), call(opened.transcript(), "f1"));
        assert!(is_read_whole(transcript), "{:?}", transcript.unread);
        assert_eq!((f1.status, f1.exit, f1.later), (CallStatus::Failed, Some(3), 0));
        assert_eq!(first(transcript, "f1"), output);
        (state(transcript, "f1"), transcript.facts.title.clone(), transcript.next_request(0))
    };
    assert_eq!(reads(&path), ("–".to_owned(), Some("fix it".to_owned()), Some(2)));
    let [g2, u2] = gemini("2", "f2", "later");
    let name = "session-2025-10-22T05-51-652ea467.jsonl";
    let log = write_log(&chats, name, &[start, prompt, g1, g2, u2]);
    let found = sessions_in(home.path(), "gemini-cli");
    assert_eq!(found.iter().map(|file| &file.path).collect::<Vec<_>>(), [&log]);
    assert_eq!(reads(&log), ("yes".to_owned(), Some("fix it".to_owned()), Some(3)));
}

/// Up to January 2026, with another notice than now, for which there is no policy.
#[test]
fn a_gemini_2025_notice_names_the_file_with_the_output() {
    let words = "Tool output was too large and has been truncated.\nThe full output has been saved to: ";
    let cut = |text: &str| {
        let [mut called, got] = gemini("1", "f1", text);
        called["toolCalls"][0]["result"] = got["content"].clone();
        let document = json!({"sessionId": "s", "projectHash": "p", "startTime": AT, "messages": [called]});
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("copy.txt");
        std::fs::write(&path, serde_json::to_string_pretty(&document).unwrap()).unwrap();
        let f1 = call(open(&path).transcript(), "f1").clone();
        let cites: Vec<_> = f1.cites.into_iter().map(|cite| cite.path).collect();
        (f1.cut, f1.has_unmodelled_cut, cites)
    };
    let file = PathBuf::from("/h/.gemini/tmp/p/f1.output");
    let told = format!("{words}{}\nTo read the complete output, …", file.display());
    assert_eq!(cut(&told), (CutState::Spill, true, vec![file]));
    assert_eq!(
        cut(&format!("Output: {told}")),
        (CutState::No, false, vec![]),
        "a quoted notice is no notice"
    );
}

#[test]
fn a_copy_that_codex_cut_is_not_the_whole_output() {
    let is_whole = |copy: String| {
        let called = json!({"name": "exec_command", "arguments": "{}", "call_id": "c1"});
        let item = json!({"type": "CommandExecution", "id": "c1", "aggregated_output": copy, "exit_code": 0});
        let output = "Process exited with code 0\nOutput:\nx";
        let log = [
            json!({"type": "session_meta", "payload": {"id": "s", "cwd": "/p"}}),
            codex("function_call", called),
            codex("item_completed", json!({"item": item})),
            codex("function_call_output", json!({"call_id": "c1", "output": output})),
        ];
        let (_dir, path) = read(&log);
        let opened = open(&path);
        whole_display(opened.transcript(), call(opened.transcript(), "c1")).is_some()
    };
    assert!(is_whole("x".repeat(65_532)) && !is_whole("x".repeat(65_533)));
    let marked = |head: usize| "a".repeat(head) + "\n\n... command output truncated for persistence ...\n\nb";
    assert!(!is_whole(marked(65_000)) && is_whole(marked(600)), "a quoted mark is no mark");
}

#[test]
fn a_restored_gemini_result_has_the_text_it_returns_with() {
    let [g1, u1] = gemini("1", "f1", "one");
    let [_, masked] = gemini("1", "f1", "<tool_output_masked>\nx\n</tool_output_masked>");
    let [_, again] = gemini("2", "f1", "<tool_output_masked>\nx\n</tool_output_masked>");
    let set = |messages: &[&Value]| json!({"$set": {"messages": messages, "lastUpdated": AT}});
    let rewind = |to: &str| json!({"$rewindTo": to});
    let after = |records: &[Value]| {
        let head = json!({"sessionId": "s", "projectHash": "p", "startTime": AT});
        let (_dir, path) = read(&[&[head, g1.clone(), u1.clone()], records].concat());
        states(open(&path).transcript(), ["f1"])[0].clone()
    };
    assert_eq!(after(&[rewind("u1")]), "rewound #2");
    assert_eq!(after(&[rewind("u1"), u1.clone()]), "yes");
    assert_eq!(after(&[rewind("u1"), masked.clone()]), "edited since #2");
    assert_eq!(after(&[set(&[]), g1.clone(), u1.clone()]), "yes");
    let is_masked = set(&[&g1, &masked]);
    assert_eq!(after(std::slice::from_ref(&is_masked)), "edited since #2");
    assert_eq!(after(&[is_masked.clone(), set(&[&g1, &u1])]), "yes");
    assert_eq!(after(&[is_masked.clone(), rewind("u1"), u1.clone()]), "yes");
    assert_eq!(after(std::slice::from_ref(&again)), "edited since #2");
    assert_eq!(after(&[again, rewind("u2")]), "yes");
}

/// If each change named all earlier texts, a log of a megabyte would take hundreds.
#[test]
fn each_gemini_edit_names_its_result_once() {
    let [g1, u1] = gemini("1", "f1", "one");
    let mut log = vec![json!({"sessionId": "s", "projectHash": "p", "startTime": AT}), g1, u1];
    log.extend((0..200).map(|n| gemini("1", "f1", &format!("edit {n}"))[1].clone()));
    let messages = json!({"messages": [], "lastUpdated": AT});
    log.extend([json!({"$set": messages}), gemini("1", "f1", "edit 199")[1].clone()]);
    let back = gemini("1", "f1", "edit 199");
    log.push(json!({"$set": {"messages": back, "lastUpdated": AT}}));
    let (_dir, path) = read(&log);
    let opened = open(&path);
    let transcript = opened.transcript();
    let named: usize = transcript.events.iter().map(|event| event.calls.len()).sum();
    let edited = call(transcript, "f1");
    assert_eq!((edited.later, named), (200, 200 + 3));
    let fate = edited.first().unwrap().context.describe();
    assert!(fate.starts_with("edited"), "{fate}");
}

/// Before Gemini CLI sends a request for which it masks results, it writes its whole history under new ids, without tokens and
/// calls, and then once more as one record. The results that the request brings are written after that.
#[test]
fn a_masked_gemini_result_counts_as_edited_from_that_request() {
    let [g1, u1] = gemini("1", "f1", "one");
    let [g2, u2] = gemini("2", "f2", "two");
    let [_, masked] = gemini("3", "f1", "<tool_output_masked>\nx\n</tool_output_masked>");
    let answer = |id: &str| json!({"id": id, "timestamp": AT, "type": "gemini", "content": [{"functionCall": {}}], "tokens": null});
    let again = [answer("n1"), masked, answer("n2")];
    let head = json!({"sessionId": "s", "projectHash": "p", "startTime": AT});
    let mut log = vec![head, g1, u1, g2];
    log.extend(again.clone());
    let states_of = |log: &[Value]| {
        let (_dir, path) = read(log);
        states(open(&path).transcript(), ["f1", "f2"])
    };
    log.extend([json!({"$set": {"messages": again, "lastUpdated": AT}}), u2]);
    assert_eq!(states_of(&log), ["edited since #3", "yes"]);
    log.extend(gemini("4", "f4", "four"));
    assert_eq!(states_of(&log), ["edited since #3", "yes"]);
}

/// A database of opencode with a conversation and from where on it was taken back, `message` or `message/part`: ids, times and messages, with their parts. Ids and times run against each
/// other.
pub fn opencode(path: &Path, revert: Option<&str>, messages: &[(&str, Value, Vec<Value>)]) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let columns = "id text PRIMARY KEY, parent_id text, directory text, title text, version text,
        time_created integer, time_updated integer, revert text";
    connection
        .execute_batch(&format!(
            "CREATE TABLE session ({columns});
            CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
            CREATE TABLE part (id text, message_id text, session_id text, data text);"
        ))
        .unwrap();
    let revert = revert.map(|id| match id.split_once('/') {
        Some((message, part)) => json!({"messageID": message, "partID": part}).to_string(),
        None => json!({"messageID": id}).to_string(),
    });
    let insert = "INSERT INTO session VALUES ('ses_1', NULL, '/p', 't', '1.18.33', 1, 2, ?)";
    connection.execute(insert, [revert]).unwrap();
    for (number, (id, data, parts)) in messages.iter().enumerate() {
        let insert = "INSERT INTO message VALUES (?, 'ses_1', ?, ?)";
        let at = 1_795_326_607_000 + number as i64 * 1000;
        connection.execute(insert, (id, at, data.to_string())).unwrap();
        for (number, part) in parts.iter().enumerate() {
            let insert = "INSERT INTO part VALUES (?2 || '-' || ?1, ?2, 'ses_1', ?3)";
            connection.execute(insert, (number as i64, id, part.to_string())).unwrap();
        }
    }
}

fn tool(id: &str, more: Value) -> Value {
    let mut state = json!({"status": "completed", "input": {}, "output": id, "time": {"start": 1, "end": 2}});
    state.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"type": "tool", "tool": "read", "callID": id, "state": state})
}

/// Five answers with a call each, of which the third and the fourth are about a summary.
fn conversation(summary: Value, tail: Option<&str>) -> Vec<(&'static str, Value, Vec<Value>)> {
    let answer = json!({"role": "assistant", "finish": "tool-calls"});
    let compaction = json!({"type": "compaction", "auto": true, "tail_start_id": tail});
    let mut summed = json!({"role": "assistant", "summary": true, "parentID": "m3"});
    summed.as_object_mut().unwrap().extend(summary.as_object().unwrap().clone());
    let cleared = json!({"time": {"start": 1, "end": 2, "compacted": 1_795_326_613_500_i64}});
    vec![
        ("m9", json!({"role": "user"}), vec![]),
        ("m8", answer.clone(), vec![tool("c1", json!({}))]),
        ("m7", answer.clone(), vec![tool("c2", cleared.clone())]),
        ("m6", answer.clone(), vec![tool("c3", json!({}))]),
        ("m3", json!({"role": "user"}), vec![compaction]),
        ("m2", summed, vec![]),
        ("m1", answer.clone(), vec![tool("c4", cleared)]),
        ("m0", answer, vec![tool("c5", json!({}))]),
    ]
}

fn opencode_states(revert: Option<&str>, messages: &[(&str, Value, Vec<Value>)]) -> [String; 5] {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opencode.db");
    opencode(&path, revert, messages);
    states(open(&path).transcript(), ["c1", "c2", "c3", "c4", "c5"])
}

#[test]
fn opencode_keeps_the_tail_of_a_compaction_in_force() {
    let done = || json!({"finish": "stop"});
    let summed = "in summary #5";
    let found = opencode_states(None, &conversation(done(), Some("m6")));
    assert_eq!(found, [summed, summed, "yes", "cleared #6", "yes"]);
    let found = opencode_states(None, &conversation(done(), None));
    assert_eq!(found, [summed, summed, summed, "cleared #6", "yes"]);
    for failed in [
        json!({"finish": "stop", "error": {"name": "x"}}),
        json!({}),
        json!({"finish": "stop", "parentID": "m9"}),
    ] {
        let found = opencode_states(None, &conversation(failed, None));
        assert!(!found.iter().any(|state| state.starts_with("in summary")), "{found:?}");
    }
    let found = opencode_states(Some("m1"), &conversation(done(), Some("m6")));
    assert_eq!(found, [summed, summed, "yes", "rewound #7", "rewound #7"]);
    let found = opencode_states(Some("m3"), &conversation(done(), Some("m6")));
    assert_eq!(found, ["yes", "cleared #7", "yes", "rewound #7", "rewound #7"]);
}

#[test]
fn opencode_takes_a_conversation_back_from_a_part_on() {
    let answer = json!({"role": "assistant", "finish": "tool-calls"});
    let parts = |ids: &[&str]| ids.iter().map(|id| tool(id, json!({}))).collect::<Vec<_>>();
    let messages = [
        ("m3", answer.clone(), parts(&["c1"])),
        ("m2", answer.clone(), parts(&["c2", "c3", "c4"])),
        ("m1", answer, parts(&["c5"])),
    ];
    let gone = "rewound #4";
    assert_eq!(opencode_states(Some("m2/m2-1"), &messages), ["yes", "yes", gone, gone, gone]);
    assert_eq!(opencode_states(Some("m2/m2-0"), &messages), ["yes", gone, gone, gone, gone]);
    assert_eq!(opencode_states(Some("m2/none"), &messages), ["yes", "yes", "yes", "yes", gone]);
}

#[test]
fn calls_of_opencode_copilot_and_gemini_with_one_id_are_told_apart() {
    let calls = |path: &Path| {
        let opened = open(path);
        let calls = opened.transcript().calls.iter();
        calls
            .map(|call| format!("{}: {}", call.id, call.first().unwrap().context.describe()))
            .collect::<Vec<_>>()
    };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opencode.db");
    let mut messages = conversation(json!({"finish": "stop"}), None);
    for (_, _, parts) in &mut messages {
        parts.iter_mut().filter(|part| part["type"] == "tool").for_each(|part| part["callID"] = json!("x"));
    }
    opencode(&path, None, &messages);
    let summed = ["x: in summary #5", "x#2: in summary #5", "x#3: in summary #5"];
    assert_eq!(calls(&path), [&summed[..], &["x#4: cleared #6", "x#5: yes"]].concat());

    let start = ("session.compaction_start", json!({}));
    let complete = ("session.compaction_complete", json!({"success": true, "outcome": "applied"}));
    let log = [&called("x", "1")[..], &called("x", "2"), &[start, complete], &called("x", "3")].concat();
    let (_dir, path) = read(&copilot(&log));
    assert_eq!(calls(&path), ["x: in summary #3", "x#2: in summary #3", "x#3: yes"]);

    let [g1, u1] = gemini("1", "x", "one");
    let [g2, u2] = gemini("2", "x", "two");
    let [_, masked] = gemini("1", "x", "<tool_output_masked>\nx\n</tool_output_masked>");
    let head = json!({"sessionId": "s", "projectHash": "p", "startTime": AT});
    let set = |messages: &[&Value]| json!({"$set": {"messages": messages, "lastUpdated": AT}});
    let log = [head, g1.clone(), u1.clone(), g2.clone(), u2.clone(), g2.clone()];
    let after = |more: &[Value]| {
        let (_dir, path) = read(&[&log[..], more].concat());
        calls(&path)
    };
    assert_eq!(after(&[]), ["x: yes", "x#2: yes"]);
    assert_eq!(after(&[set(&[&g1, &masked, &g2, &u2])]), ["x: edited since #3", "x#2: yes"]);
    assert_eq!(after(&[set(&[&g2, &u2])]), ["x: dropped #3", "x#2: yes"]);
}

#[test]
fn reads_cut_opencode_reads_and_interrupted_commands() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opencode.db");
    let long = format!("1: {}... (line truncated to 2000 chars)\n", "é".repeat(2000));
    let metadata = json!({"interrupted": true, "output": "printed"});
    let old = |id: &str, notice: &str| {
        let output = format!("<file>\n00001| a\n\n({notice})\n</file>");
        tool(id, json!({"output": output, "metadata": {"truncated": true}, "input": {"limit": 2000}}))
    };
    let parts = vec![
        tool(
            "c1",
            json!({"output": "1: a\n\n(Output capped at 50 KB. Showing lines 1-1027. Use offset=1028 to continue.)"}),
        ),
        tool("c2", json!({"output": long})),
        tool("c3", json!({"output": "1: a... (line truncated to 2000 chars)\n2: (Output capped at x"})),
        tool(
            "c4",
            json!({"output": "(Showing lines 1-2 of 9. Use offset=3 to continue.)", "metadata": {"truncated": true}}),
        ),
        tool("c5", json!({"status": "error", "error": "stopped", "metadata": metadata})),
        tool(
            "c6",
            json!({"output": "(Showing lines 1-2 of 9. Use offset=3 to continue.)", "metadata": {"truncated": true},
                "input": {"limit": 2}}),
        ),
        old("c7", "Output truncated at 51200 bytes. Use 'offset' parameter to read beyond line 900"),
        old("c8", "File has more lines. Use 'offset' parameter to read beyond line 2000"),
    ];
    opencode(&path, None, &[("m1", json!({"role": "assistant"}), parts)]);
    let opened = open(&path);
    let of = |id: &str| call(opened.transcript(), id);
    assert_eq!(
        ["c7", "c8"].map(|id| of(id).cut),
        [CutState::NoSpill, CutState::No],
        "by the limit that ended it"
    );
    let cut = ["c1", "c2", "c3", "c4", "c6"].map(|id| (of(id).cut, of(id).is_window));
    let (lost, no) = (CutState::NoSpill, CutState::No);
    assert_eq!(cut, [(lost, true), (lost, true), (no, false), (lost, true), (no, true)]);
    assert_eq!((first(opened.transcript(), "c5").as_str(), of("c5").status), ("printed", CallStatus::Failed));
}

#[test]
fn opencode_of_2025_says_at_the_end_that_a_command_was_cut() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("opencode.db");
    let block =
        "<bash_metadata>\nbash tool truncated output as it exceeded 30000 char limit\n</bash_metadata>";
    let ended = |id: &str, units: usize, end: &str| {
        tool(id, json!({"output": format!("{}\n\n{end}", "😀".repeat(units / 2)), "metadata": {}}))
    };
    let plain = "(Output was truncated due to length limit)";
    let parts = vec![
        ended("c1", 30_000, plain),
        ended("c2", 30_000, block),
        ended("c3", 29_998, plain),
        ended("c4", 30_000, "(Output was truncated due to"),
    ]
    .into_iter()
    .map(|mut part| {
        part["tool"] = json!("bash");
        part
    });
    opencode(&path, None, &[("m1", json!({"role": "assistant"}), parts.collect())]);
    let opened = open(&path);
    let cut = ["c1", "c2", "c3", "c4"].map(|id| call(opened.transcript(), id).is_cut());
    assert_eq!(cut, [true, true, false, false]);
}

/// What the last request held of each result, where that is at hand.
#[test]
fn the_opencode_tail_matches_the_sent_request() {
    let Some(home) = home_of("opencode-1.18.33-tail") else { return };
    let sent: Value = serde_json::from_slice(&std::fs::read(home.join("sent.json")).unwrap()).unwrap();
    let file = sessions_in(&home, "opencode").remove(0);
    let opened = overspill::internals::session::list::open(&file, &()).unwrap();
    for result in sent["results"].as_array().unwrap() {
        let id = result["id"].as_str().unwrap();
        let found = state(opened.transcript(), id);
        let expected = match result["later"].as_str().unwrap() {
            "same" => "yes",
            "gone" => "in summary #24",
            _ => "cleared",
        };
        assert!(found.starts_with(expected), "{id}: {found}, not {expected}");
    }
}
