//! Hermes and Crush, which keep their messages in tables: made records, and true ones against the requests on the wire.

use std::path::{Path, PathBuf};

use overspill::internals::session::fate::ContextChange;
use overspill::internals::session::list;
use overspill::internals::session::model::{CallStatus, CutState};
use overspill::internals::session::reader::ReadProgress;
use overspill::internals::session::verify::{Counterpart, NoVerdict, Verdict, Verifier};
use overspill::preview::Catalog;
use rusqlite::{Connection, params};
use serde_json::{Value, json};

use super::samples::compare_with_sent;
use super::verify::{lines, made, made_of, told_of_spill};
use super::{call, fate_of, first, open, sessions_in};

pub fn database(path: PathBuf, schema: &str) -> (Connection, PathBuf) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(schema).unwrap();
    (connection, path)
}

#[test]
fn samples_are_as_sent() {
    compare_with_sent("hermes-0.19.0", "hermes");
}

pub fn hermes(home: &Path) -> (Connection, PathBuf) {
    let schema = "CREATE TABLE sessions (id TEXT, source TEXT, cwd TEXT, model TEXT, title TEXT, parent_session_id TEXT,
            started_at REAL);
        CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,
            tool_calls TEXT, tool_name TEXT, timestamp REAL, active INTEGER, compacted INTEGER);
        INSERT INTO sessions VALUES ('s1', 'cli', '/p', 'm', 't', NULL, 1795380271.5);
        INSERT INTO sessions VALUES ('s2', 'subagent', '/p', 'm', NULL, 's1', 1795380272.5);";
    database(home.join(".hermes/state.db"), schema)
}

#[test]
fn hermes_is_read() {
    let home = tempfile::tempdir().unwrap();
    let (connection, path) = hermes(home.path());
    let add = |session: &str, id: &str, content: &str, active: i64, compacted: i64| {
        let calls = json!([{"id": id, "function": {"name": "terminal", "arguments": "{}"}}]).to_string();
        let insert =
            "INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp,
            active, compacted) VALUES (?, ?, ?, ?, ?, 'terminal', 1795380273.5, ?, ?)";
        let none: Option<&str> = None;
        connection
            .execute(insert, params![session, "assistant", "", none, calls, active, compacted])
            .unwrap();
        connection.execute(insert, params![session, "tool", content, id, none, active, compacted]).unwrap();
    };
    let long =
        format!("{}\n\n... [OUTPUT TRUNCATED - 10 chars omitted out of 50 total] ...\n\nb", "a".repeat(38));
    let output =
        |text: &str, code: i64| json!({"output": text, "exit_code": code, "error": null}).to_string();
    add("s1", "c1", &output(&long, 0), 1, 0);
    add("s1", "c2", &output("x", 3), 0, 0);
    add(
        "s1",
        "c3",
        "<persisted-output>\nThis tool result was too large (1 characters, 1 KB).\nFull output saved to: /x/c3.txt\nmore",
        0,
        1,
    );
    add("s1", "c4", "\0json:[{\"type\":\"text\",\"text\":\"é\"}]", 1, 0);
    // Longer than what is read at once, with characters that may be cut there.
    let text = "é😀x".repeat(200_000);
    add("s1", "c5", &text, 1, 0);
    add("s2", "c1", &output("sub", 0), 1, 0);
    drop(connection);
    let found = sessions_in(home.path(), "hermes");
    assert_eq!((found.len(), found[0].id.as_str()), (1, "s1"));
    let facts = list::facts(&found[0]).unwrap();
    assert_eq!((facts.cwd.as_deref(), facts.title.as_deref()), (Some("/p"), Some("t")));
    let opened = open(&path);
    let transcript = opened.transcript();
    assert_eq!((transcript.calls.len(), transcript.calls[5].thread), (6, 1));
    assert_eq!((first(transcript, "c1"), call(transcript, "c1").cut), (output(&long, 0), CutState::NoSpill));
    let c2 = call(transcript, "c2");
    assert_eq!((c2.status, c2.exit, fate_of(c2)), (CallStatus::Failed, Some(3), ContextChange::Rewind));
    let c3 = call(transcript, "c3");
    assert_eq!((c3.cut, fate_of(c3)), (CutState::Spill, ContextChange::Compact));
    assert_eq!(c3.cites[0].path.to_str(), Some("/x/c3.txt"));
    assert_eq!(first(transcript, "c4"), "é");
    assert!(first(transcript, "c5") == text);
}

/// Adds a call of Hermes and its result, which a compaction took or not.
fn hermes_run(connection: &Connection, id: &str, arguments: Value, content: &str, compacted: bool) {
    let tool = if arguments.get("path").is_some() { "read_file" } else { "terminal" };
    let function = json!({"name": tool, "arguments": arguments.to_string()});
    let calls = json!([{"id": id, "function": function}]).to_string();
    let insert =
        "INSERT INTO messages (session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp,
        active, compacted) VALUES ('s1', ?, ?, ?, ?, ?, 1795380273.5, ?, ?)";
    let none: Option<&str> = None;
    connection.execute(insert, params!["assistant", "", none, calls, none, !compacted, compacted]).unwrap();
    connection.execute(insert, params!["tool", content, id, none, tool, !compacted, compacted]).unwrap();
}

#[test]
fn a_file_of_hermes_is_lost_beyond_what_was_shown_unless_the_call_asked_for_no_more() {
    let home = tempfile::tempdir().unwrap();
    let (connection, path) = hermes(home.path());
    let shown = |truncated: bool, range: &str| {
        let hint = format!("Use offset=501 to continue reading (showing {range} of 4001 lines)");
        json!({"content": "1|a", "total_lines": 4001, "truncated": truncated, "hint": hint}).to_string()
    };
    let run = |id: &str, arguments: Value, content: &str| {
        hermes_run(&connection, id, arguments, content, false);
    };
    run("all", json!({"path": "/x"}), &shown(true, "1-500"));
    run("window", json!({"path": "/x", "offset": 9, "limit": 50}), &shown(true, "9-58"));
    run("less", json!({"path": "/x", "limit": 600}), &shown(true, "1-500"));
    run("end", json!({"path": "/x"}), &shown(false, "1-500"));
    let opened = open(&path);
    let cut = ["all", "window", "less", "end"].map(|id| call(opened.transcript(), id).cut);
    assert_eq!(cut, [CutState::NoSpill, CutState::No, CutState::NoSpill, CutState::No]);
}

#[test]
fn a_call_of_hermes_with_an_id_that_returns_is_another_one() {
    let home = tempfile::tempdir().unwrap();
    let (connection, path) = hermes(home.path());
    let run = |arguments: &str, content: &str, compacted: bool| {
        hermes_run(&connection, "x", json!({"command": arguments}), content, compacted);
    };
    run("make", "one", true);
    run("test", "two", true);
    let long = format!("echo {}", "z".repeat(300));
    run(&long, "three", true);
    connection
        .execute(
            "INSERT INTO messages (session_id, role, content, timestamp, active, compacted)
            VALUES ('s1', 'user', '[CONTEXT COMPACTION — REFERENCE ONLY] so far', 1795380273.5, 1, 0)",
            [],
        )
        .unwrap();
    // What the compaction keeps, with long arguments cut, and then a new call.
    run("test", "two", false);
    run(&format!("{}...[truncated]", &long[..200]), "three", false);
    run("make test", "four", false);
    let opened = open(&path);
    let calls: Vec<_> = opened.transcript().calls.iter().map(|call| (&*call.id, fate_of(call))).collect();
    let kept = ContextChange::Restore;
    assert_eq!(calls, [("x", ContextChange::Compact), ("x#2", kept), ("x#3", kept), ("x#4", kept)]);
}

#[test]
fn a_call_of_crush_with_an_id_that_returns_is_another_one() {
    let home = tempfile::tempdir().unwrap();
    let (connection, path) = crush(home.path());
    for n in 1..4 {
        let used = json!({"type": "tool_call", "data": {"id": "x", "name": "bash", "input": "{}"}});
        let got = json!({"type": "tool_result", "data": {"tool_call_id": "x", "content": n.to_string()}});
        let insert = "INSERT INTO messages VALUES (?, 's1', 'tool', ?, 'm', ?)";
        let parts = json!([used, got]).to_string();
        connection.execute(insert, params![format!("m{n}"), parts, 1795380271 + n]).unwrap();
    }
    let opened = open(&path);
    let calls: Vec<_> = opened.transcript().calls.iter().map(|call| (&*call.id, fate_of(call))).collect();
    let kept = ContextChange::Restore;
    assert_eq!(calls, [("x", ContextChange::Compact), ("x#2", ContextChange::Compact), ("x#3", kept)]);
}

#[test]
fn sub_agents_of_sub_agents_are_read() {
    let home = tempfile::tempdir().unwrap();
    let (connection, path) = hermes(home.path());
    let insert = "INSERT INTO sessions VALUES (?, 'subagent', '/p', 'm', NULL, ?, 1795380272.5)";
    // The last two, which no agent makes, form a circle.
    for (id, parent) in [("s3", "s2"), ("s4", "s3"), ("s1", "s4"), ("s2", "s4")] {
        connection.execute(insert, [id, parent]).unwrap();
    }
    for session in ["s1", "s2", "s3", "s4"] {
        let insert =
            "INSERT INTO messages (session_id, role, content, tool_call_id, tool_name, timestamp, active)
            VALUES (?, 'tool', 'x', ?, 'terminal', 1795380273.5, 1)";
        connection.execute(insert, [session, &format!("of-{session}")]).unwrap();
    }
    let opened = open(&path);
    let calls = opened.transcript().calls.iter().map(|call| (&*call.id, call.thread));
    assert_eq!(calls.collect::<Vec<_>>(), [("of-s1", 0), ("of-s2", 1), ("of-s3", 2), ("of-s4", 3)]);
    assert_eq!(opened.transcript().threads.len(), 4);
}

/// The shell's own last line counts in the cut: its length follows from the session's directory.
#[test]
fn hermes_is_checked_by_a_witness() {
    let home = tempfile::tempdir().unwrap();
    let (connection, _) = hermes(home.path());
    let whole: String = (1..=30_000).map(|n| format!("{n}\n")).collect();
    let notice = "\n\n... [OUTPUT TRUNCATED - 119,055 chars omitted out of 168,980 total] ...\n\n";
    let room = 50_000 - notice.len();
    let (head, tail) = (room * 2 / 5, room - room * 2 / 5 - 86);
    let output = format!("{}{notice}{}", &whole[..head], whole[whole.len() - tail..].trim_end());
    let content = json!({"output": output, "exit_code": 0, "error": null}).to_string();
    let insert =
        "INSERT INTO messages (session_id, role, content, tool_call_id, tool_name, timestamp, active)
        VALUES ('s1', 'tool', ?, 'c1', 'terminal', 1795380273.5, 1)";
    connection.execute(insert, params![content]).unwrap();
    let verifier = Verifier::new(&Catalog::builtin(), "hermes");
    let verdict_in = |cwd: &str| {
        connection.execute("UPDATE sessions SET cwd = ?", params![cwd]).unwrap();
        let opened = list::open(&sessions_in(home.path(), "hermes")[0], &()).unwrap();
        verifier.verify(opened.transcript(), call(opened.transcript(), "c1"), None)
    };
    let verdict = verdict_in("/home/u/a-directory-of-thirty-");
    assert_eq!(verdict.counterpart(), Some(Counterpart::Witness), "{verdict:?}");
    assert_eq!(verdict_in("/elsewhere"), Verdict::Unchecked(NoVerdict::NoSpill));
}

fn crush(project: &Path) -> (Connection, PathBuf) {
    let schema = "CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT, created_at INTEGER, updated_at INTEGER,
            summary_message_id TEXT);
        CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, model TEXT, created_at INTEGER);
        INSERT INTO sessions VALUES ('s1', NULL, 't', 1795380271, 1795380279, 'm3');
        INSERT INTO sessions VALUES ('s2', 's1', 'sub', 1795380271, 1795380279, NULL);";
    database(project.join(".crush/crush.db"), schema)
}

#[test]
fn crush_is_read() {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("p");
    let (connection, path) = crush(&project);
    let add = |id: &str, session: &str, at: i64, parts: Value| {
        let insert = "INSERT INTO messages VALUES (?, ?, 'tool', ?, 'm', ?)";
        connection.execute(insert, params![id, session, parts.to_string(), at]).unwrap();
    };
    let called = |id: &str| json!({"type": "tool_call", "data": {"id": id, "name": "bash", "input": "{\"command\":\"make\"}"}});
    let got = |id: &str, content: &str| {
        json!({"type": "tool_result", "data": {"tool_call_id": id, "name": "bash",
        "content": content, "is_error": false}})
    };
    let cut = "a\n\n... [12 lines truncated, full output: /x/output-1.log] ...\n\nb";
    add("m1", "s1", 1795380272, json!([called("c1")]));
    add("m2", "s1", 1795380273, json!([got("c1", cut)]));
    add("m3", "s1", 1795380274, json!([{"type": "text", "data": {"text": "summary"}}]));
    add(
        "m4",
        "s1",
        1795380275,
        json!([called("c2"), got("c2", "x\nExit code 3\n\n<cwd>/p</cwd>"), {"type": "finish", "data": {}}]),
    );
    let aborted = "x\nCommand was aborted before completion\n\n<cwd>/p</cwd>";
    add("m4b", "s1", 1795380275, json!([called("c3"), got("c3", aborted)]));
    add("m5", "s2", 1795380275, json!([called("c1"), got("c1", "a\n\n... [2 lines truncated] ...\n\nb")]));
    add("m6", "s2", 1795380276, json!([{"type": "other", "data": {}}]));
    drop(connection);
    let projects = json!({"projects": [{"path": project, "data_dir": ".crush"}]}).to_string();
    let data = home.path().join(".local/share/crush");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::write(data.join("projects.json"), projects).unwrap();
    let found = sessions_in(home.path(), "crush");
    assert_eq!((found.len(), found[0].id.as_str()), (1, "s1"));
    assert_eq!(list::facts(&found[0]).unwrap().cwd, project.to_str().map(str::to_owned));
    let opened = open(&path);
    let transcript = opened.transcript();
    let c1 = call(transcript, "c1");
    assert_eq!((c1.cut, fate_of(c1)), (CutState::Spill, ContextChange::Compact));
    assert_eq!((first(transcript, "c1").as_str(), c1.cites[0].path.to_str()), (cut, Some("/x/output-1.log")));
    let c2 = call(transcript, "c2");
    assert_eq!((c2.status, c2.exit, fate_of(c2)), (CallStatus::Failed, Some(3), ContextChange::Restore));
    assert_eq!(call(transcript, "c3").status, CallStatus::Denied);
    assert_eq!((transcript.calls[3].thread, transcript.calls[3].cut), (1, CutState::NoSpill));
    assert_eq!(transcript.unread.describe(), "1 record of 1 unknown kind (other ×1)");
}

/// The kept head of an output may end in a line feed, which then precedes the empty line before the notice.
#[test]
fn a_cut_of_crush_is_found_wherever_its_head_ends() {
    let home = tempfile::tempdir().unwrap();
    let (connection, path) = crush(home.path());
    let spill = "/p/.crush/shell-output/output-1.log";
    let insert = "INSERT INTO messages VALUES (?1, 's1', 'tool', ?2, 'm', 1795380272)";
    for digits in 3..15 {
        let id = format!("c{digits}");
        let output: String = (0..20_000).map(|n| format!("{n:0digits$}\n")).collect();
        let content = made_of(&output, "crush/bash", &[], spill);
        let data = json!({"tool_call_id": id, "name": "bash", "content": content, "is_error": false});
        let parts = json!([{"type": "tool_result", "data": data}]).to_string();
        connection.execute(insert, params![id, parts]).unwrap();
    }
    let opened = open(&path);
    for call in &opened.transcript().calls {
        assert_eq!(call.cut, CutState::Spill, "{}", call.id);
        assert_eq!(call.cites[0].path.to_str(), Some(spill));
    }
    assert_eq!(opened.transcript().calls.len(), 12);
}

#[test]
fn text_that_crush_adds_around_an_output_is_no_difference() {
    let spill = "/p/.crush/shell-output/output-1.log";
    let told = |tool: &str, around: [&str; 2], cwd: &str| {
        let home = tempfile::tempdir().unwrap();
        let (connection, path) = crush(home.path());
        let [before, after] = around;
        let content = before.to_owned() + &made("crush/bash", &[], spill) + after + cwd;
        let data = json!({"tool_call_id": "c1", "name": tool, "content": content, "is_error": false});
        let parts = json!([{"type": "tool_result", "data": data}]).to_string();
        let insert = "INSERT INTO messages VALUES ('m1', 's1', 'tool', ?, 'm', 1795380272)";
        connection.execute(insert, params![parts]).unwrap();
        told_of_spill(open(&path).transcript(), lines(), spill)
    };
    let cwd = "\n\n<cwd>/home/u/proj</cwd>";
    assert_eq!(["", cwd].map(|cwd| told("bash", ["", ""], cwd)), ["= crush/bash", "= crush/bash"]);
    assert_eq!(told("bash", ["", "\nexit status 2\nExit code 2"], cwd), "= crush/bash");
    let unknown = format!("? {}", NoVerdict::NoStderr);
    assert_eq!(told("bash", ["", "\n\nwarning\n\nExit code 2"], cwd), unknown);
    assert_eq!(told("job_output", ["Status: running\n\n", ""], ""), "= crush/bash");
}

/// Anybody may have made what lies in a project: each database that must not be read is named once, and the others are read.
#[test]
fn a_project_database_must_be_a_plain_file_not_behind_links() {
    use std::os::unix::fs::symlink;
    let home = tempfile::tempdir().unwrap();
    let at = |name: &str| home.path().join(name);
    let messages = "CREATE TABLE messages (id, session_id, parts, model, created_at);";
    let sessions =
        "CREATE TABLE sessions (id, parent_session_id, title, created_at, updated_at, summary_message_id);
        INSERT INTO sessions VALUES ('s1', NULL, 't', 1, 1, NULL);";
    let view =
        "CREATE VIEW sessions AS SELECT 's2' AS id, NULL AS parent_session_id, 't' AS title, 1 AS created_at,
        1 AS updated_at, NULL AS summary_message_id;";
    database(at("good/.crush/crush.db"), &format!("{sessions} {messages}"));
    database(at("view/.crush/crush.db"), &format!("{view} {messages}"));
    for project in ["linked", "file", "log", "gone"] {
        std::fs::create_dir(at(project)).unwrap();
    }
    symlink(at("good/.crush"), at("linked/.crush")).unwrap();
    std::fs::create_dir(at("file/.crush")).unwrap();
    symlink(at("good/.crush/crush.db"), at("file/.crush/crush.db")).unwrap();
    database(at("log/.crush/crush.db"), &format!("{sessions} {messages}"));
    symlink("/dev/zero", at("log/.crush/crush.db-wal")).unwrap();
    let names = ["good", "view", "linked", "file", "log", "gone"];
    let projects = names.map(|name| json!({"path": at(name), "data_dir": ".crush"}));
    std::fs::create_dir_all(at(".local/share/crush")).unwrap();
    std::fs::write(at(".local/share/crush/projects.json"), json!({"projects": projects}).to_string())
        .unwrap();
    // The project at hand is looked for upwards.
    let deep = at("linked/src");
    std::fs::create_dir(&deep).unwrap();
    let env = overspill::internals::store::Env::hermetic(home.path()).with_var("PWD", &deep);
    let listing = list::list(&env, Some("crush"), &());
    let found: Vec<_> = listing.sessions.iter().map(|session| session.path.clone()).collect();
    assert_eq!(found, [at("good/.crush/crush.db")]);
    let mut refused: Vec<_> =
        listing.faults.iter().map(|fault| fault.replace(home.path().to_str().unwrap(), "")).collect();
    refused.sort();
    let link = "is a link in a project, and is not followed";
    let expected = [
        format!("/file/.crush/crush.db: {link}"),
        format!("/linked/.crush: {link}"),
        format!("/log/.crush/crush.db-wal: {link}"),
        "/view/.crush/crush.db: a table of the agent's is a view, a virtual table, or computed, and is not read".into(),
    ];
    assert_eq!(refused, expected);
    let named = list::recognise(&at("view/.crush/crush.db")).unwrap_err().to_string();
    assert!(named.contains("a table of the agent's is a view"), "{named}");
}

/// Gives every reading up.
struct GivenUp;

impl ReadProgress for GivenUp {
    fn step(&self, _: u64, _: u64) -> bool {
        false
    }
}

#[test]
fn a_listing_that_is_given_up_finds_no_more() {
    let home = tempfile::tempdir().unwrap();
    let (_connection, _) = hermes(home.path());
    let env = overspill::internals::store::Env::hermetic(home.path());
    assert_eq!(list::list(&env, None, &()).sessions.len(), 1);
    assert_eq!(list::list(&env, None, &GivenUp).sessions.len(), 0);
}
