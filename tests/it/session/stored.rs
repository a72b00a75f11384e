//! The true records of agents that keep trees of files and databases: every result, against a plain parser.

use std::collections::BTreeMap;
use std::path::Path;

use overspill::internals::session::fate::ContextChange;
use overspill::internals::session::model::{CallStatus, CutState};
use serde_json::{Value, json};

use super::documents::write;
use super::samples::compare;
use super::{call, fate_of, first, open, sessions_in, text_of};

type Results = BTreeMap<String, String>;

fn text_of_part(part: &Value) -> Option<(String, String)> {
    let state = (part["type"] == "tool").then_some(&part["state"])?;
    let text = if state["status"] == "error" { &state["error"] } else { &state["output"] };
    Some((part["callID"].as_str()?.to_owned(), text.as_str()?.to_owned()))
}

fn opencode_tree(session: &Path) -> Results {
    let parts = session.ancestors().nth(3).unwrap().join("part");
    let messages = std::fs::read_dir(parts).unwrap().map(|dir| dir.unwrap().path());
    let files = messages.flat_map(|dir| std::fs::read_dir(dir).unwrap().map(|file| file.unwrap().path()));
    let parsed = files.map(|path| serde_json::from_slice::<Value>(&std::fs::read(path).unwrap()).unwrap());
    parsed.filter_map(|part| text_of_part(&part)).collect()
}

fn rows(database: &Path, sql: &str) -> Vec<Value> {
    let uri = format!("file:{}?immutable=1", database.display());
    let connection = rusqlite::Connection::open(uri).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let found = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    found.map(|text| serde_json::from_str(&text.unwrap()).unwrap()).collect()
}

fn opencode_rows(database: &Path) -> Results {
    rows(database, "SELECT data FROM part").iter().filter_map(text_of_part).collect()
}

fn goose(database: &Path) -> Results {
    let contents = rows(database, "SELECT content_json FROM messages");
    let parts = contents.iter().flat_map(|content| content.as_array().unwrap());
    let results = parts.filter(|part| part["type"] == "toolResponse");
    results
        .map(|part| {
            let content = part["toolResult"]["value"]["content"].as_array().unwrap();
            let texts: Vec<_> = content.iter().filter_map(|part| part["text"].as_str()).collect();
            (part["id"].as_str().unwrap().to_owned(), texts.concat())
        })
        .collect()
}

#[test]
fn samples_read_whole() {
    compare("opencode-1.1.53", "opencode", opencode_tree);
    compare("opencode-1.18.33", "opencode", opencode_rows);
    compare("goose-1.52.0", "goose", goose);
}

/// The database of opencode 2, with a session, its sub-agent, and the stale rows of opencode 1.
fn opencode_2(path: &Path) {
    let connection = rusqlite::Connection::open(path).unwrap();
    let columns = "id text PRIMARY KEY, parent_id text, directory text, title text, version text,
        time_created integer, time_updated integer";
    connection
        .execute_batch(&format!(
            "CREATE TABLE session ({columns});
            CREATE TABLE session_v2 ({columns}, fork_session_id text, fork_boundary text);
            CREATE TABLE session_message (id text, session_id text, type text, seq integer, time_created integer,
                time_updated integer, data text);
            INSERT INTO session VALUES ('ses_0', NULL, '/p', 'old', '1.18.33', 1795326607575, 1795326607575);
            INSERT INTO session VALUES ('ses_1', NULL, '/p', 'stale', '1.18.33', 1795326607575, 1795326607575);
            INSERT INTO session_v2 VALUES ('ses_1', NULL, '/p', 't', '2.0.3', 1795326607575, 1795326619016, NULL, NULL);
            INSERT INTO session_v2 VALUES ('ses_2', 'ses_1', '/p', 'sub', '2.0.3', 1795326607575, 1795326619016, NULL, NULL);"
        ))
        .unwrap();
    let tool = |id: &str, status: &str, more: Value| {
        let mut state = json!({"status": status, "input": {"command": "make"}});
        state.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"type": "tool", "id": id, "name": "bash", "state": state, "time": {"created": 1795326607575u64,
            "completed": 1795326608000u64}})
    };
    let text = |text: &str| json!([{"type": "text", "text": text}, {"type": "text", "text": "!"}]);
    let mut pruned = tool("c2", "completed", json!({"content": text("two"), "structured": {"exit": 3}}));
    pruned["time"]["pruned"] = json!(1795326609000u64);
    let saved =
        json!({"content": text("three"), "outputPaths": ["/x/tool_1"], "metadata": {"truncated": true}});
    let read = |id: &str, input: Value| {
        let content = json!([{"type": "text", "text": "Read file /a, lines 1-2/x, lines 1-2000\n1: a\n\n[Output truncated. Continue reading with offset: 2001]"}]);
        let mut tool = tool(
            id,
            "completed",
            json!({"content": content, "metadata": {"truncated": true}, "input": input}),
        );
        tool["name"] = json!("read");
        tool
    };
    let recent = "[User]: go\n\n[Assistant tool call]: bash({})\n[Tool result]: two\n!";
    let rows = [
        ("ses_1", "user", json!({"text": "go"})),
        (
            "ses_1",
            "assistant",
            json!({"content": [{"type": "text", "text": "a"}, tool("c1", "completed", json!({"content": text("one")})), pruned]}),
        ),
        ("ses_1", "compaction", json!({"status": "failed"})),
        ("ses_1", "compaction", json!({"status": "completed", "recent": recent})),
        (
            "ses_1",
            "assistant",
            json!({"content": [tool("c3", "completed", saved), tool("c4", "error", json!({"error": {"message": "no"}})), tool("c5", "running", json!({}))]}),
        ),
        (
            "ses_1",
            "assistant",
            json!({"content": [tool("c3", "completed", json!({"content": text("again")}))]}),
        ),
        ("ses_1", "new-kind", json!({})),
        (
            "ses_2",
            "assistant",
            json!({"content": [tool("c1", "completed", json!({"content": text("sub")}))]}),
        ),
        (
            "ses_1",
            "assistant",
            json!({"content": [read("all", json!({})), read("window", json!({"limit": 2000})),
                read("less", json!({"limit": 5000}))]}),
        ),
    ];
    for (seq, (session, kind, data)) in rows.iter().enumerate() {
        let row = (seq as i64, session, kind, data.to_string());
        let sql = "INSERT INTO session_message VALUES ('m' || ?1, ?2, ?3, ?1, 1795326610000, 0, ?4)";
        connection.execute(sql, row).unwrap();
    }
}

#[test]
fn messages_of_opencode_2_hold_calls() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(".local/share/opencode/opencode.db");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    opencode_2(&path);
    let mut found: Vec<_> =
        sessions_in(home.path(), "opencode").into_iter().map(|file| (file.format, file.id)).collect();
    found.sort();
    assert_eq!(
        found,
        [("opencode", "ses_0".into()), ("opencode-2", "ses_1".into())],
        "stale rows are left out"
    );
    let opened = open(&path);
    let transcript = opened.transcript();
    assert_eq!(["c1", "c2", "c3", "c4"].map(|id| first(transcript, id)), ["one!", "two!", "three!", "no"]);
    let fate = |id: &str| fate_of(call(transcript, id));
    assert_eq!(fate("c1"), ContextChange::Compact);
    assert_eq!(fate("c2"), ContextChange::Checkpoint, "a copy is in the checkpoint");
    assert_eq!((fate("c3"), call(transcript, "c3").cut), (ContextChange::Restore, CutState::Spill));
    assert_eq!(first(transcript, "c3#2"), "again!", "an id that returns is of another call");
    assert_eq!(call(transcript, "c2").exit, Some(3));
    let read = ["all", "window", "less"].map(|id| call(transcript, id).cut);
    assert_eq!(
        read,
        [CutState::NoSpill, CutState::No, CutState::NoSpill],
        "by what was asked for, and what came"
    );
    let c5 = call(transcript, "c5");
    assert_eq!((c5.result.is_none(), c5.cut, c5.status), (true, CutState::Unknown, CallStatus::NoResult));
    let sub = transcript.calls.iter().find(|call| call.thread == 1).unwrap();
    assert_eq!(
        (text_of(transcript, sub.first().unwrap()), &*transcript.threads[1].name),
        ("sub!".into(), "sub")
    );
    assert_eq!(transcript.unread.describe(), "1 record of 1 unknown kind (new-kind ×1)");
}

#[test]
fn files_of_opencode_s_sub_agents_are_found_at_any_depth() {
    let home = tempfile::tempdir().unwrap();
    let storage = home.path().join(".local/share/opencode/storage");
    for (id, parent) in [("ses_1", None), ("ses_2", Some("ses_1")), ("ses_3", Some("ses_2"))] {
        let session = json!({"id": id, "projectID": "p", "directory": "/p", "title": id, "parentID": parent});
        write(storage.join(format!("session/p/{id}.json")), &session);
        write(storage.join(format!("message/{id}/msg_{id}.json")), &json!({"role": "assistant"}));
        let state = json!({"status": "completed", "input": {}, "output": "x"});
        let part = json!({"type": "tool", "tool": "bash", "callID": format!("of-{id}"), "state": state});
        write(storage.join(format!("part/msg_{id}/prt_1.json")), &part);
    }
    let found = sessions_in(home.path(), "opencode");
    assert_eq!(found.len(), 1);
    let opened = overspill::internals::session::list::open(&found[0], &()).unwrap();
    let calls = opened.transcript().calls.iter().map(|call| (&*call.id, call.thread));
    assert_eq!(calls.collect::<Vec<_>>(), [("of-ses_1", 0), ("of-ses_2", 1), ("of-ses_3", 2)]);
}
