//! What the model still has of each result, and since which request, after an agent compacted, cleared or took back.

use std::path::Path;

use overspill::internals::session::fate::FateEvidence;
use overspill::internals::session::model::CutState;
use overspill::internals::session::reader::OpenedSession;
use rusqlite::params;
use serde_json::{Value, json};

use super::documents::{cline_message, cline_session, continue_session, state, write};
use super::tables::{database, hermes};
use super::{call, first, open, write_log};

/// Returns what the model still has of the first results of calls, in the words of the screens.
fn still_has<const N: usize>(opened: &dyn OpenedSession, ids: [&str; N]) -> [String; N] {
    ids.map(|id| call(opened.transcript(), id).first().unwrap().context.describe())
}

/// A read of files by Cline, and its result: the entries' queries and texts.
fn cline_read(id: &str, files: &[(&str, &str)]) -> [Value; 2] {
    let used = json!([{"type": "tool_use", "id": id, "name": "read_files", "input": {}}]);
    let entry = |(query, text): &(&str, &str)| json!({"query": query, "result": text, "success": true});
    let content: Vec<_> = files.iter().map(entry).collect();
    let got = json!([{"type": "tool_result", "tool_use_id": id, "name": "read_files", "content": content}]);
    [cline_message("assistant", used), cline_message("user", got)]
}

/// Writes a session of Cline with these messages; returns the file.
fn cline(home: &Path, messages: &[Value]) -> std::path::PathBuf {
    write(home.join("s1/s1.messages.json"), &cline_session(messages, json!({})))
}

#[test]
fn a_compaction_of_cline_keeps_what_its_own_file_holds() {
    let home = tempfile::tempdir().unwrap();
    let calls = ["c1", "c2", "c3", "c4"].map(|id| cline_read(id, &[(id, "x")]));
    let path = cline(home.path(), calls.as_flattened());
    let mut opened = open(&path);
    let ids = ["c1", "c2", "c3", "c4"];
    assert_eq!(still_has(&*opened, ids), ["yes"; 4], "without a compaction");
    let compaction = |count: usize| {
        json!({"version": 1, "updated_at": "2026-11-22T20:11:47.876Z", "source_message_count": count,
            "messages": [cline_message("user", json!("summary")), calls[2][0], calls[2][1]]})
    };
    write(home.path().join("s1/s1.compaction.json"), &compaction(6));
    assert!(opened.refresh(&()).unwrap(), "the file of the compaction is followed");
    assert_eq!(still_has(&*opened, ids), ["in summary #4", "in summary #4", "yes", "yes"]);
    assert_eq!(call(opened.transcript(), "c1").first().unwrap().context.evidence, FateEvidence::Recorded);
    // All of the conversation, before the next request.
    write(home.path().join("s1/s1.compaction.json"), &compaction(8));
    assert_eq!(still_has(&*open(&path), ids), ["in summary #5", "in summary #5", "yes", "in summary #5"]);
    // With another text of what is kept.
    let mut other = compaction(6);
    other["messages"][2]["content"][0]["content"][0]["result"] = json!("y, cut");
    write(home.path().join("s1/s1.compaction.json"), &other);
    let has = still_has(&*open(&path), ids);
    assert_eq!(has, ["in summary #4", "in summary #4", "edited since #4", "yes"]);
    // Of a conversation that was taken back since then.
    write(home.path().join("s1/s1.compaction.json"), &compaction(9));
    assert_eq!(still_has(&*open(&path), ids), ["yes"; 4]);
    // The document about the session names another file, which lies beside the messages whatever it says.
    write(home.path().join("s1/other.compaction.json"), &compaction(6));
    write(home.path().join("s1/s1.json"), &json!({"compaction_path": "/elsewhere/other.compaction.json"}));
    assert_eq!(still_has(&*open(&path), ids), ["in summary #4", "in summary #4", "yes", "yes"]);
}

#[test]
fn cline_clears_outdated_reads_only_if_that_saves_enough() {
    let home = tempfile::tempdir().unwrap();
    // An entry is sent with 8,000 characters of its text, and takes some 40 bytes more: eight are not enough, nine are.
    let text = "x".repeat(20_000);
    let names: Vec<String> = (0..9).map(|n| format!("/p/{n}:1-40")).collect();
    let mut messages = Vec::new();
    for (n, name) in names.iter().enumerate() {
        messages.extend(cline_read(&format!("a{n}"), &[(name, &text)]));
    }
    messages.extend(cline_read("part", &[("/p/0", "short"), ("/p/kept", "short")]));
    let again = |n: usize| cline_read(&format!("b{n}"), &[(&names[n], &text)]);
    messages.extend((1..8).flat_map(again));
    messages.push(cline_message("assistant", json!([{"type": "text", "text": "so far"}])));
    let path = cline(home.path(), &messages);
    assert_eq!(still_has(&*open(&path), ["a0", "a7", "a8"]), ["yes"; 3], "eight outdated reads");
    // The whole file makes the lines of it outdated; JSON names the same file.
    messages.extend(cline_read("b8", &[(r#"{"path": "/p/8"}"#, "short")]));
    messages.extend(cline_read("b0", &[("/p/0", "short")]));
    let path = cline(home.path(), &messages);
    let opened = open(&path);
    let has = still_has(&*opened, ["a0", "a7", "a8", "part", "b1", "b8", "b0"]);
    // 9 + 1 + 7 requests, one without a call, and that of b8: the next is made so.
    assert_eq!(has, ["cleared #20", "cleared #20", "cleared #20", "yes", "yes", "yes", "yes"]);
    assert_eq!(call(opened.transcript(), "a0").first().unwrap().context.evidence, FateEvidence::ByRule);
    // What was read again later waits for the next time, when it is a part of its result.
    let more: Vec<String> = (0..9).map(|n| format!("/q/{n}")).collect();
    for id in ["d", "e"] {
        let files: Vec<_> = more.iter().map(|name| (&**name, &*text)).collect();
        messages.extend(cline_read(id, &files));
    }
    messages.push(cline_message("assistant", json!([])));
    let path = cline(home.path(), &messages);
    let has = still_has(&*open(&path), ["a0", "part", "d", "e"]);
    assert_eq!(has, ["cleared #20", "edited since #23", "cleared #23", "yes"]);
}

#[test]
fn a_file_that_cline_read_twice_at_once_is_outdated_twice() {
    let home = tempfile::tempdir().unwrap();
    let text = "x".repeat(20_000);
    let lines = "/p/a:1-40";
    let twice = cline_read("r0", &[(lines, &text), ("/p/a", &text), ("/p/a", &text)]);
    let ids: Vec<String> = (1..9).map(|n| format!("r{n}")).collect();
    let mut messages = twice.to_vec();
    messages.extend(ids.iter().flat_map(|id| cline_read(id, &[("/p/a", &text)])));
    messages.push(cline_message("assistant", json!([])));
    let opened = open(&cline(home.path(), &messages));
    assert_eq!(still_has(&*opened, ["r0", "r6", "r7"]), ["cleared #9", "cleared #9", "yes"]);
}

#[test]
fn compacted_cline_reads_do_not_count_as_savings() {
    let home = tempfile::tempdir().unwrap();
    let text = "x".repeat(20_000);
    let names: Vec<String> = (0..9).map(|n| format!("/p/{n}")).collect();
    let files: Vec<_> = names.iter().map(|name| (&**name, &*text)).collect();
    let messages = ["c1", "c2", "c3"].map(|id| cline_read(id, &files));
    write(
        home.path().join("s1/s1.compaction.json"),
        &json!({"source_message_count": 2, "messages": [cline_message("user", json!("summary"))]}),
    );
    let path = cline(home.path(), messages.as_flattened());
    // The third request would clear c1, if it still held it.
    assert_eq!(still_has(&*open(&path), ["c1", "c2", "c3"]), ["in summary #2", "yes", "yes"]);
    std::fs::remove_file(home.path().join("s1/s1.compaction.json")).unwrap();
    assert_eq!(still_has(&*open(&path), ["c1", "c2", "c3"]), ["cleared #3", "yes", "yes"]);
}

/// A log of pi: each entry follows the one before it, unless it names its parent itself.
pub fn pi(home: &Path, entries: &[Value]) -> Box<dyn OpenedSession> {
    let mut records = vec![json!({"type": "session", "version": 3, "id": "s", "cwd": "/p"})];
    let mut last = Value::Null;
    for entry in entries {
        let mut record = json!({"parentId": last, "timestamp": "2026-11-22T20:11:47.876Z"});
        record.as_object_mut().unwrap().extend(entry.as_object().unwrap().clone());
        last = record["id"].clone();
        records.push(record);
    }
    open(&write_log(home, "2026_s.jsonl", &records))
}

fn pi_message(id: &str, text: &str) -> Value {
    json!({"role": "toolResult", "toolCallId": id, "toolName": "bash", "content": [{"type": "text", "text": text}]})
}

/// A call of pi and its result: the entries `a` and `r` with the call's id.
pub fn pi_call(id: &str) -> [Value; 2] {
    let block = json!({"type": "toolCall", "id": id, "name": "bash", "arguments": {}});
    let used = json!({"type": "message", "id": format!("a{id}"), "message": {"role": "assistant", "content": [block]}});
    [used, json!({"type": "message", "id": format!("r{id}"), "message": pi_message(id, "text")})]
}

#[test]
fn a_pi_read_is_cut_unless_it_got_all_that_it_asked_for() {
    let cut = |arguments: Value, truncated: bool| {
        let home = tempfile::tempdir().unwrap();
        let [mut called, mut got] = pi_call("1");
        let block = &mut called["message"]["content"][0];
        (block["name"], block["arguments"]) = (json!("read"), arguments);
        got["message"]["toolName"] = json!("read");
        got["message"]["content"][0]["text"] =
            json!("x\n\n[2 more lines in file. Use offset=2001 to continue.]");
        got["message"]["details"] = json!({"truncation": {"truncated": truncated, "outputLines": 2000}});
        let opened = pi(home.path(), &[called, got]);
        let call = call(opened.transcript(), "1");
        (call.cut, call.is_window)
    };
    assert_eq!(cut(json!({"path": "/x"}), true), (CutState::NoSpill, true));
    assert_eq!(cut(json!({"path": "/x", "limit": 3000}), true), (CutState::NoSpill, true));
    assert_eq!(cut(json!({"path": "/x", "offset": 2001}), true), (CutState::No, true));
    assert_eq!(cut(json!({"path": "/x", "limit": 2000}), false), (CutState::No, true));
}

#[test]
fn a_compaction_of_pi_keeps_what_it_says() {
    let home = tempfile::tempdir().unwrap();
    let after = |compaction: Value| {
        let mut entries = ["1", "2", "3"].map(pi_call).concat();
        entries.push(compaction);
        entries.extend(pi_call("4"));
        let opened = pi(home.path(), &entries);
        (still_has(&*opened, ["1", "2", "3", "4"]), opened)
    };
    let compaction = |more: Value| {
        let mut record = json!({"type": "compaction", "id": "k", "summary": "s"});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record
    };
    let gone = "in summary #4";
    assert_eq!(after(compaction(json!({"firstKeptEntryId": "a3"}))).0, [gone, gone, "yes", "yes"]);
    assert_eq!(after(compaction(json!({"firstKeptEntryId": "none"}))).0, [gone, gone, gone, "yes"]);
    assert_eq!(after(compaction(json!({"retainedTail": []}))).0, [gone, gone, gone, "yes"]);
    let tail = json!({"retainedTail": [{"role": "user", "content": "go"}, pi_message("1", "text"), pi_message("3", "cut")]});
    let (has, opened) = after(compaction(tail));
    assert_eq!(has, ["yes", gone, "edited since #4", "yes"]);
    let later = ["3", "1"].map(|id| (first(opened.transcript(), id), call(opened.transcript(), id).later));
    assert_eq!(later, [("text".into(), 1), ("text".into(), 0)], "of one the same text again");
}

#[test]
fn each_branch_of_pi_is_left_with_the_first_request_after_it() {
    let home = tempfile::tempdir().unwrap();
    let [first, second, third, fourth] = ["1", "2", "3", "4"].map(pi_call);
    let back = |id: &str| json!({"type": "branch_summary", "id": id, "parentId": "r1", "summary": "s"});
    let entries = [&first[..], &second, &[back("b1")], &third, &[back("b2")], &fourth].concat();
    let opened = pi(home.path(), &entries);
    let events = opened.transcript().events.iter();
    let left: Vec<_> = events.map(|event| (event.origin.request, event.calls.clone())).collect();
    assert_eq!(left, [(Some(3), vec![1]), (Some(4), vec![2])]);
}

#[test]
fn repeated_call_ids_of_pi_and_codex_are_numbered() {
    let home = tempfile::tempdir().unwrap();
    let entries = ["1", "1", "1"].map(pi_call).concat();
    let opened = pi(home.path(), &entries);
    let ids: Vec<_> = opened.transcript().calls.iter().map(|call| &*call.id).collect();
    assert_eq!(ids, ["1", "1#2", "1#3"]);

    let item = |payload: Value| json!({"type": "response_item", "payload": payload});
    let call_of = |n: i32| json!({"type": "function_call", "name": "exec_command", "arguments": format!("{{\"cmd\":\"echo {n}\"}}"), "call_id": "c"});
    let output = |n: i32| json!({"type": "function_call_output", "call_id": "c", "output": format!("Wall time: 0.1 seconds\nProcess exited with code {n}\nOutput:\n")});
    let mut records = vec![json!({"type": "session_meta", "payload": {"id": "s", "cwd": "/p"}})];
    records.extend((0..3).flat_map(|n| [item(call_of(n)), item(output(n))]));
    records.push(json!({"type": "compacted", "payload": {"message": "", "replacement_history": [call_of(2), output(2)]}}));
    let opened = open(&write_log(home.path(), "rollout-s.jsonl", &records));
    let calls = opened.transcript().calls.iter();
    let calls: Vec<_> =
        calls.map(|call| (&*call.id, call.exit, call.first().unwrap().context.describe())).collect();
    let gone = || "in summary #4".to_owned();
    assert_eq!(calls, [("c", Some(0), gone()), ("c#2", Some(1), gone()), ("c#3", Some(2), "yes".to_owned())]);
}

#[test]
fn only_the_living_branch_of_pi_counts() {
    let home = tempfile::tempdir().unwrap();
    let [first, second, third, fourth] = ["1", "2", "3", "4"].map(pi_call);
    let compaction = json!({"type": "compaction", "id": "k", "summary": "s", "retainedTail": []});
    let back = json!({"type": "branch_summary", "id": "b", "parentId": "r1", "fromId": "r3", "summary": "s"});
    let edit = |id: &str, target: &str, replacement: Value| json!({"type": "context_edit", "id": id, "targetId": target, "replacement": replacement});
    // The compaction, an edit and a call are left with their branch.
    let left = edit("e0", "r1", json!("left"));
    let more = [compaction, left].into_iter().chain(third).chain([back]);
    let mut entries: Vec<_> = first.into_iter().chain(second).chain(more).chain(fourth).collect();
    let opened = pi(home.path(), &entries);
    assert_eq!(still_has(&*opened, ["1", "2", "3", "4"]), ["yes", "left branch", "left branch", "yes"]);
    let leave = &opened.transcript().events[0];
    assert_eq!((leave.origin.request, leave.calls.len(), opened.transcript().events.len()), (Some(4), 2, 1));
    entries.extend([
        edit("e1", "r1", json!([{"type": "text", "text": "short"}])),
        edit("e2", "r4", Value::Null),
    ]);
    let opened = pi(home.path(), &entries);
    assert_eq!(still_has(&*opened, ["1", "4"]), ["edited since #5", "dropped #5"]);
    let edited = call(opened.transcript(), "1");
    assert_eq!((self::first(opened.transcript(), "1").as_str(), edited.later), ("text", 1));
    // What is summed up is not edited any more, and what was edited is summed up whole.
    entries.push(json!({"type": "compaction", "id": "k2", "summary": "s", "firstKeptEntryId": "k2"}));
    entries.push(edit("e3", "r1", json!("again")));
    let opened = pi(home.path(), &entries);
    assert_eq!(still_has(&*opened, ["1", "4"]), ["in summary #5", "dropped #5"]);
    let edited = call(opened.transcript(), "1");
    let described = edited.first().unwrap().context.describe();
    assert_eq!((described.as_str(), edited.later), ("in summary #5", 1));
}

/// The latest edit on the branch counts.
#[test]
fn a_pi_result_removed_by_an_edit_returns_with_new_text() {
    let home = tempfile::tempdir().unwrap();
    let [first, second] = ["1", "2"].map(pi_call);
    let edit =
        |replacement: Value| json!({"type": "context_edit", "targetId": "r1", "replacement": replacement});
    let mut entries: Vec<_> = first.into_iter().chain(second).collect();
    let expected =
        ["yes", "edited since #3", "dropped #3", "edited since #3", "edited since #3", "dropped #3"];
    let edits = ["short", "", "again", "shorter", ""];
    for (n, expected) in expected.into_iter().enumerate() {
        let opened = pi(home.path(), &entries);
        assert_eq!(still_has(&*opened, ["1", "2"]), [expected, "yes"], "after {n} edits");
        let text =
            |text: &&str| if text.is_empty() { Value::Null } else { json!([{"type": "text", "text": text}]) };
        entries.extend(edits.get(n).map(|words| with(&edit(text(words)), json!({"id": format!("e{n}")}))));
    }
}

/// A session of Goose: the content of each message, and to whom it is visible (the user, the agent).
pub fn goose(home: &Path, messages: &[(&str, Value, bool, bool)]) -> Box<dyn OpenedSession> {
    let path = home.join("sessions.db");
    let _ = std::fs::remove_file(&path);
    let schema =
        "CREATE TABLE sessions (id TEXT, name TEXT, working_dir TEXT, created_at TEXT, updated_at TEXT);
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT,
            created_timestamp INTEGER, metadata_json TEXT);
        INSERT INTO sessions VALUES ('s1', 't', '/p', '2026-11-22 05:52:17', '2026-11-22 05:52:17');";
    let (connection, path) = database(path, schema);
    for (role, content, user, agent) in messages {
        let meta = json!({"userVisible": user, "agentVisible": agent}).to_string();
        let insert = "INSERT INTO messages (session_id, role, content_json, created_timestamp, metadata_json)
            VALUES ('s1', ?, ?, 1795326738, ?)";
        connection.execute(insert, params![role, content.to_string(), meta]).unwrap();
    }
    drop(connection);
    open(&path)
}

#[test]
fn a_goose_summary_of_one_pair_is_not_a_compaction() {
    let home = tempfile::tempdir().unwrap();
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let pair = |id: &str, agent: bool| {
        let used = json!([{"type": "toolRequest", "id": id, "toolCall": {"value": {"name": "shell", "arguments": {}}}}]);
        let content = text(id);
        let got = json!([{"type": "toolResponse", "id": id, "toolResult": {"value": {"content": content}}}]);
        [("assistant", used, true, agent), ("user", got, true, agent)]
    };
    let compacted = |agent: bool| {
        let goes_on = text(
            "Your context was compacted. The previous message contains a summary of the conversation so far.",
        );
        [("user", text("summary"), false, agent), ("assistant", goes_on, false, agent)]
    };
    // The first pair has a summary of its own, and nothing is compacted.
    let mut messages = vec![("user", text("go"), true, true)];
    messages.extend([pair("c1", false), pair("c2", true)].concat());
    messages.push(("user", text("a call listed the files"), false, true));
    assert_eq!(still_has(&*goose(home.path(), &messages), ["c1", "c2"]), ["in checkpoint", "yes"]);
    // Two compactions, then a pair with a summary of its own.
    let mut messages = vec![("user", text("go"), true, false)];
    messages.extend([pair("c1", false), pair("c2", false), compacted(false), pair("c3", false)].concat());
    messages.extend([compacted(true), pair("c4", false), pair("c5", true)].concat());
    messages.push(("user", text("a call listed the files"), false, true));
    let has = still_has(&*goose(home.path(), &messages), ["c1", "c2", "c3", "c4", "c5"]);
    assert_eq!(has, ["in summary #3", "in summary #3", "in summary #4", "in checkpoint", "yes"]);
}

#[test]
fn duplicate_hermes_rows_count_as_one_result() {
    let home = tempfile::tempdir().unwrap();
    let (connection, path) = hermes(home.path());
    let row =
        |role: &str, content: &str, id: Option<&str>, calls: Option<String>, active: i64, compacted: i64| {
            let insert =
            "INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp,
            active, compacted) VALUES ('s1', ?, ?, ?, ?, 'terminal', 1795380273.5, ?, ?)";
            connection.execute(insert, params![role, content, id, calls, active, compacted]).unwrap();
        };
    let pair = |id: &str, content: &str, active: i64, compacted: i64| {
        let calls = json!([{"id": id, "function": {"name": "terminal", "arguments": "{}"}}]).to_string();
        row("assistant", "", None, Some(calls), active, compacted);
        row("tool", content, Some(id), None, active, compacted);
    };
    let duplicate = "[Duplicate tool output — same content as a more recent call]";
    let line = "[terminal] ran `make` -> exit 0, 3 lines output";
    for id in ["gone", "cleared", "line", "kept"] {
        pair(id, "text", 0, 1);
    }
    row("user", "[CONTEXT COMPACTION — REFERENCE ONLY] so far", None, None, 1, 0);
    pair("cleared", duplicate, 1, 0);
    pair("line", line, 1, 0);
    pair("kept", "text", 1, 0);
    pair("alone", duplicate, 1, 0);
    pair("back", "text", 0, 0);
    pair("new", "[other] not the tool's line", 1, 0);
    drop(connection);
    let opened = open(&path);
    let has = still_has(&*opened, ["gone", "cleared", "line", "kept", "alone", "back", "new"]);
    let expected = ["in summary #5", "cleared #5", "edited since #5", "yes", "cleared", "rewound", "yes"];
    assert_eq!(has, expected);
    let results =
        ["line", "kept"].map(|id| (first(opened.transcript(), id), call(opened.transcript(), id).later));
    assert_eq!(results, [("text".into(), 1), ("text".into(), 0)]);
    assert_eq!(opened.transcript().next_request(0), Some(8), "what was kept is no new answer");
}

/// A compaction inserts again what it keeps, and the next one takes that.
#[test]
fn a_result_that_hermes_keeps_is_not_in_the_first_summary() {
    let home = tempfile::tempdir().unwrap();
    let (connection, path) = hermes(home.path());
    let row = |role: &str, content: &str, id: Option<&str>, compacted: i64| {
        let insert = "INSERT INTO messages (session_id, role, content, tool_call_id, tool_name, timestamp,
            active, compacted) VALUES ('s1', ?, ?, ?, 'terminal', 1795380273.5, ?, ?)";
        connection.execute(insert, params![role, content, id, 1 - compacted, compacted]).unwrap();
    };
    let got = |id: &str, compacted: i64| row("tool", "text", Some(id), compacted);
    let summary = |compacted| row("user", "[CONTEXT COMPACTION — REFERENCE ONLY] so far", None, compacted);
    row("assistant", "", None, 1);
    got("gone", 1);
    got("kept", 1);
    summary(1);
    got("kept", 1);
    got("next", 1);
    summary(0);
    drop(connection);
    let has = still_has(&*open(&path), ["gone", "kept", "next"]);
    assert_eq!(has, ["in summary #2", "in summary", "in summary"]);
}

/// Messages of a task of Roo: a call and its result for each id.
fn roo_calls(ids: &[&str]) -> Vec<Value> {
    let used = |id: &str| json!([{"type": "tool_use", "id": id, "name": "read_file", "input": {}}]);
    let got = |id: &str| json!([{"type": "tool_result", "tool_use_id": id, "content": "text"}]);
    ids.iter().flat_map(|id| [cline_message("assistant", used(id)), cline_message("user", got(id))]).collect()
}

fn with(message: &Value, more: Value) -> Value {
    let mut message = message.clone();
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    message
}

#[test]
fn tasks_begin_with_their_last_summary() {
    let home = tempfile::tempdir().unwrap();
    let open = |history: Vec<Value>| {
        open(&write(home.path().join("t/api_conversation_history.json"), &json!(history)))
    };
    let calls = roo_calls(&["c1", "c2", "c3", "c4"]);
    let summary = |id: &str| {
        with(&cline_message("user", json!("so far")), json!({"isSummary": true, "condenseId": id}))
    };
    let ids = ["c1", "c2", "c3", "c4"];
    // The call of c3 stands before the second summary, its result after it.
    let mut history = calls[..2].to_vec();
    history.push(summary("s1"));
    history.extend_from_slice(&calls[2..5]);
    history.push(summary("s2"));
    history.extend_from_slice(&calls[5..]);
    assert_eq!(still_has(&*open(history), ids), ["in summary #4", "in summary #4", "dropped #4", "yes"]);
    // A gap, and messages that name what was taken back.
    let gap = json!({"isTruncationMarker": true, "truncationId": "g1"});
    let mut history = calls.clone();
    history[1] = with(&calls[1], json!({"truncationParent": "g1"}));
    history[3] = with(&calls[3], json!({"truncationParent": "g2"}));
    history[5] = with(&calls[5], json!({"condenseParent": "s9"}));
    history.insert(
        2,
        with(&cline_message("user", json!("[Sliding window truncation: 2 messages hidden]")), gap),
    );
    assert_eq!(still_has(&*open(history), ids), ["dropped", "yes", "yes", "yes"]);
    // What has only the ids of a summary and of a gap is neither.
    let mut history = calls.clone();
    history[1] = with(&calls[1], json!({"truncationParent": "g1"}));
    history[3] = with(&calls[3], json!({"condenseParent": "s1"}));
    history.push(with(&cline_message("user", json!("x")), json!({"truncationId": "g1", "condenseId": "s1"})));
    assert_eq!(still_has(&*open(history), ids), ["yes"; 4]);
}

#[test]
fn calls_of_roo_cline_goose_and_continue_with_one_id_are_told_apart() {
    let home = tempfile::tempdir().unwrap();
    let ids = ["x", "x#2", "x#3"];
    let calls = |opened: Box<dyn OpenedSession>, expected: [&str; 3]| {
        let found: Vec<_> = opened.transcript().calls.iter().map(|call| call.id.to_string()).collect();
        assert_eq!(found, ids);
        assert_eq!(still_has(&*opened, ids), expected);
    };
    let mut history = roo_calls(&["x", "x", "x"]);
    history[1] = with(&history[1], json!({"truncationParent": "g1"}));
    let gap = json!({"isTruncationMarker": true, "truncationId": "g1"});
    history.insert(2, with(&cline_message("user", json!("[Sliding window truncation]")), gap));
    calls(
        open(&write(home.path().join("t/api_conversation_history.json"), &json!(history))),
        ["dropped", "yes", "yes"],
    );

    let messages = ["1", "2", "3"].map(|text| cline_read("x", &[(text, text)]));
    let summary = json!({"source_message_count": 4, "messages": [cline_message("user", json!("summary"))]});
    write(home.path().join("s1/s1.compaction.json"), &summary);
    let gone = "in summary #3";
    calls(open(&cline(home.path(), messages.as_flattened())), [gone, gone, "yes"]);

    let pair = |agent: bool| {
        let used = json!([{"type": "toolRequest", "id": "x", "toolCall": {"value": {"name": "shell", "arguments": {}}}}]);
        let got = json!([{"type": "toolResponse", "id": "x", "toolResult": {"value": {"content": []}}}]);
        [("assistant", used, true, agent), ("user", got, true, agent)]
    };
    let messages = [pair(true), pair(false), pair(true)].concat();
    calls(goose(home.path(), &messages), ["yes", "in checkpoint", "yes"]);

    let item = || json!({"message": {"role": "assistant"}, "toolCallStates": [state("x", "done", &["x"])]});
    let summary = json!({"message": {"role": "assistant", "content": "s"}, "conversationSummary": "s"});
    let history = [item(), summary, item(), item()];
    let path = write(home.path().join("s2.json"), &continue_session(&history));
    calls(open(&path), ["in summary #2", "yes", "yes"]);
}

#[test]
fn openhands_condensations_on_a_left_branch_do_not_count() {
    let home = tempfile::tempdir().unwrap();
    let dir = home.path().join("c1");
    let state = write(dir.join("base_state.json"), &json!({}));
    let mut count = 0;
    let mut event = |id: &str, parent: &str, more: Value| {
        let event = with(&json!({"id": id, "parent_id": parent, "timestamp": "2026-11-22T20:58:49"}), more);
        write(dir.join(format!("events/event-{count:05}-x.json")), &event);
        count += 1;
    };
    let run = |id: &str, parent: &str, answer: &str, event: &mut dyn FnMut(&str, &str, Value)| {
        event(
            &format!("a{id}"),
            parent,
            json!({"kind": "ActionEvent", "tool_name": "t", "tool_call_id": id,
            "llm_response_id": answer}),
        );
        let observation = json!({"kind": "Observation", "content": [{"type": "text", "text": "x"}]});
        event(
            &format!("o{id}"),
            &format!("a{id}"),
            json!({"kind": "ObservationEvent", "tool_name": "t",
            "tool_call_id": id, "observation": observation}),
        );
    };
    run("1", "", "r1", &mut event);
    run("2", "o1", "r1", &mut event);
    run("3", "o2", "r2", &mut event);
    event("k1", "o3", json!({"kind": "Condensation", "forgotten_event_ids": ["o1", "o2", "o3"]}));
    // Back to before the third call.
    event("k2", "o2", json!({"kind": "Condensation", "forgotten_event_ids": ["a1", "o1"]}));
    run("4", "k2", "r3", &mut event);
    let has = |state: &Path| still_has(&*open(state), ["1", "2", "3", "4"]);
    assert_eq!(has(&state), ["in summary #3", "yes", "left branch", "yes"]);
    // The person takes the conversation back, also to before its first event; while the agent works its state is behind.
    let at = |more: Value| has(&write(dir.join("base_state.json"), &more));
    assert_eq!(at(json!({"leaf_event_id": "k2"})), ["in summary #3", "yes", "left branch", "left branch"]);
    assert_eq!(at(json!({"leaf_event_id": "o2"})), ["yes", "yes", "left branch", "left branch"]);
    assert_eq!(at(json!({"leaf_event_id": null, "head_is_empty": true})), ["left branch"; 4]);
    let working = json!({"leaf_event_id": "k2", "execution_status": "running"});
    assert_eq!(at(working), ["in summary #3", "yes", "left branch", "yes"]);
    assert_eq!(at(json!({"leaf_event_id": "unknown"})), ["in summary #3", "yes", "left branch", "yes"]);
    run("4", "o4", "r4", &mut event);
    let opened = open(&state);
    assert_eq!(still_has(&*opened, ["4", "4#2"]), ["yes", "yes"], "an id that returns");
}

#[test]
fn a_failed_crush_summary_is_not_a_boundary() {
    let home = tempfile::tempdir().unwrap();
    let schema = "CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, created_at INTEGER, updated_at INTEGER,
            summary_message_id TEXT);
        CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER,
            is_summary_message INTEGER);
        INSERT INTO sessions VALUES ('s1', NULL, 't', 1795380271, 1795380279, NULL);";
    let (connection, path) = database(home.path().join(".crush/crush.db"), schema);
    let mut at = 1795380271;
    let mut add = |id: &str, role: &str, parts: Value, is_summary: bool| {
        at += 1;
        let insert = "INSERT INTO messages VALUES (?, 's1', ?, ?, 'm', ?, ?)";
        connection.execute(insert, params![id, role, parts.to_string(), at, is_summary]).unwrap();
    };
    let pair = |id: &str, add: &mut dyn FnMut(&str, &str, Value, bool)| {
        let called = json!([{"type": "tool_call", "data": {"id": id, "name": "bash", "input": "{}"}}]);
        let got =
            json!([{"type": "tool_result", "data": {"tool_call_id": id, "name": "bash", "content": "x"}}]);
        add(&format!("a{id}"), "assistant", called, false);
        add(&format!("r{id}"), "tool", got, false);
    };
    pair("c1", &mut add);
    add("failed", "assistant", json!([{"type": "finish", "data": {"reason": "error"}}]), true);
    pair("c2", &mut add);
    add("summary", "assistant", json!([{"type": "text", "data": {"text": "so far"}}]), true);
    pair("c3", &mut add);
    assert_eq!(still_has(&*open(&path), ["c1", "c2", "c3"]), ["yes"; 3]);
    connection.execute("UPDATE sessions SET summary_message_id = 'summary'", []).unwrap();
    assert_eq!(still_has(&*open(&path), ["c1", "c2", "c3"]), ["in summary #3", "in summary #3", "yes"]);
}

#[test]
fn continue_sends_what_follows_the_last_summary() {
    let home = tempfile::tempdir().unwrap();
    let item =
        |id: &str| json!({"message": {"role": "assistant"}, "toolCallStates": [state(id, "done", &["x"])]});
    let summary = json!({"message": {"role": "assistant", "content": "s"}, "conversationSummary": "s"});
    let none = |summary: Value| json!({"message": {"role": "assistant"}, "conversationSummary": summary});
    let after = [none(Value::Null), none(json!(""))];
    let history = [&[item("c1"), summary.clone(), item("c2"), summary, item("c3")][..], &after].concat();
    let path = write(home.path().join("s1.json"), &continue_session(&history));
    assert_eq!(still_has(&*open(&path), ["c1", "c2", "c3"]), ["in summary #3", "in summary #3", "yes"]);
}
