//! Sessions that change while they are open: only what was added is read, and what was rewritten is read anew.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use overspill::internals::session::reader::{OpenedSession, ReadProgress, SessionError};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::{first, open, sessions_in, write_log};

fn use_of(id: &str) -> Value {
    let block = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "ls"}});
    json!({
        "type": "assistant", "uuid": format!("u{id}"), "parentUuid": null, "userType": "external",
        "sessionId": "s", "message": {"id": format!("m{id}"), "content": [block]},
    })
}

fn result_of(id: &str, text: &str) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
    json!({
        "type": "user", "uuid": format!("r{id}"), "parentUuid": format!("u{id}"), "sessionId": "s",
        "message": {"role": "user", "content": [block]},
    })
}

fn append(path: &Path, text: &str) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

/// Makes a file look as if it was last changed some seconds ago.
fn age(path: &Path, seconds: u64) {
    let time = SystemTime::now() - Duration::from_secs(seconds);
    File::open(path).unwrap().set_modified(time).unwrap();
}

fn ids(opened: &dyn OpenedSession) -> Vec<String> {
    opened.transcript().calls.iter().map(|call| call.id.to_string()).collect()
}

#[test]
fn a_log_is_read_on_from_its_last_whole_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = write_log(dir.path(), "s.jsonl", &[use_of("1"), result_of("1", "one")]);
    let mut opened = open(&path);
    assert!(!opened.refresh(&()).unwrap());
    let line = use_of("2").to_string();
    let (start, end) = line.split_at(40);
    append(&path, start);
    assert!(opened.refresh(&()).unwrap());
    assert_eq!((ids(&*opened).len(), opened.transcript().unread.unfinished), (1, 40));
    append(&path, end);
    assert!(opened.refresh(&()).unwrap());
    assert_eq!(
        (ids(&*opened).len(), opened.transcript().unread.unfinished),
        (2, 0),
        "no line feed is needed"
    );
    append(&path, &format!("\n{}\n", result_of("2", "two")));
    assert!(opened.refresh(&()).unwrap());
    let transcript = opened.transcript();
    assert_eq!((first(transcript, "1"), first(transcript, "2")), ("one".into(), "two".into()));
    assert_eq!((transcript.unread.records, transcript.unread.broken), (4, 0), "no record is read twice");
    assert!(!opened.refresh(&()).unwrap());
}

#[test]
fn a_log_that_is_rewritten_or_replaced_is_read_anew() {
    let dir = tempfile::tempdir().unwrap();
    let path = write_log(dir.path(), "s.jsonl", &[use_of("1"), use_of("2")]);
    let mut opened = open(&path);
    write_log(dir.path(), "s.jsonl", &[use_of("3")]);
    assert!(opened.refresh(&()).unwrap());
    assert_eq!(ids(&*opened), ["3"], "shorter");
    write_log(dir.path(), "s.jsonl", &[use_of("4"), use_of("5"), use_of("6")]);
    assert!(opened.refresh(&()).unwrap());
    assert_eq!(ids(&*opened), ["4", "5", "6"], "longer");
    let other = write_log(dir.path(), "s.compact.tmp", &[use_of("7"), result_of("7", "seven")]);
    fs::rename(other, &path).unwrap();
    assert!(opened.refresh(&()).unwrap());
    assert_eq!((ids(&*opened), first(opened.transcript(), "7")), (vec!["7".into()], "seven".into()));
    fs::remove_file(&path).unwrap();
    assert!(!opened.refresh(&()).unwrap());
    assert_eq!(first(opened.transcript(), "7"), "seven", "a deleted log stays readable");
}

#[test]
fn a_log_that_could_not_be_read_for_a_while_counts_as_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (project, away) = (dir.path().join("p"), dir.path().join("away"));
    let path = write_log(&project, "s.jsonl", &[use_of("1")]);
    let mut opened = open(&path);
    fs::rename(&project, &away).unwrap();
    fs::write(&project, "").unwrap();
    assert!(opened.refresh(&()).is_err(), "a file is where its directory was");
    fs::remove_file(&project).unwrap();
    fs::rename(&away, &project).unwrap();
    assert!(opened.refresh(&()).unwrap(), "or a screen would say for ever that it is unreadable");
    assert_eq!((ids(&*opened), opened.refresh(&()).unwrap()), (vec!["1".to_owned()], false));
}

#[test]
fn a_sub_agent_that_begins_later_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let path = write_log(dir.path(), "s.jsonl", &[use_of("1")]);
    let mut opened = open(&path);
    let sub_agent = write_log(dir.path(), "s/subagents/agent-a1.jsonl", &[use_of("2")]);
    assert!(opened.refresh(&()).unwrap());
    assert_eq!(ids(&*opened), ["1", "2"]);
    append(&sub_agent, &format!("{}\n", use_of("3")));
    assert!(opened.refresh(&()).unwrap());
    let transcript = opened.transcript();
    let threads: Vec<_> = transcript.calls.iter().map(|call| &*transcript.thread(call).unwrap().id).collect();
    assert_eq!(threads, ["", "a1", "a1"]);
    assert_eq!(transcript.unread.records, 3, "no record is read twice");
}

#[test]
fn more_sub_agents_than_files_may_be_open_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = write_log(dir.path(), "s.jsonl", &[use_of("main")]);
    for n in 0..300 {
        let id = format!("c{n}");
        let records = [use_of(&id), result_of(&id, &format!("text {n}"))];
        write_log(dir.path(), &format!("s/subagents/agent-{n}.jsonl"), &records);
    }
    let opened = open(&path);
    assert_eq!(ids(&*opened).len(), 301);
    assert_eq!(first(opened.transcript(), "c299"), "text 299");
}

#[test]
fn a_cancelled_refresh_is_made_up_by_the_next() {
    struct Stop;
    impl ReadProgress for Stop {
        fn step(&self, _: u64, _: u64) -> bool {
            false
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let path = write_log(dir.path(), "s.jsonl", &[use_of("1")]);
    let mut opened = open(&path);
    append(&path, &format!("{}\n{}\n", use_of("2"), use_of("3")));
    assert!(matches!(opened.refresh(&Stop), Err(SessionError::GivenUp)));
    assert!(opened.refresh(&()).unwrap());
    assert_eq!((ids(&*opened).len(), opened.transcript().unread.records), (3, 3));
}

#[test]
fn a_tree_of_files_is_read_again_if_one_changed() {
    let home = tempfile::tempdir().unwrap();
    let storage = home.path().join(".local/share/opencode/storage");
    let write = |path: &str, record: Value| {
        let path = storage.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, record.to_string()).unwrap();
        path
    };
    let part = |text: &str| {
        let state = json!({"status": "completed", "input": {}, "output": text, "metadata": {}});
        json!({"type": "tool", "tool": "bash", "callID": "c1", "state": state})
    };
    write("session/p/ses_1.json", json!({"id": "ses_1", "projectID": "p", "directory": "/p", "title": "t"}));
    write("message/ses_1/msg_1.json", json!({"role": "assistant"}));
    let path = write("part/msg_1/prt_1.json", part("one"));
    let project = storage.join("session/p");
    [&path, &project].into_iter().for_each(|path| age(path, 9));
    let file = sessions_in(home.path(), "opencode").remove(0);
    let mut opened = overspill::internals::session::list::open(&file, &()).unwrap();
    // The first look does not know yet which files there are.
    let _ = opened.refresh(&()).unwrap();
    assert!(!opened.refresh(&()).unwrap());
    write("part/msg_1/prt_1.json", part("two and more"));
    assert!(opened.refresh(&()).unwrap());
    assert_eq!(first(opened.transcript(), "c1"), "two and more");
}

/// A database of opencode without calls, in write-ahead mode.
fn database(dir: &Path) -> (PathBuf, Connection) {
    fs::create_dir_all(dir).unwrap();
    let path = dir.join("opencode.db");
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", "wal").unwrap();
    connection
        .execute_batch(
            "CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text, title text, version text,
                time_created integer, time_updated integer);
            CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
            CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);
            INSERT INTO session VALUES ('ses_1', NULL, '/p', 't', '1.18.33', 1795326607575, 1795326619016);
            INSERT INTO message VALUES ('msg_1', 'ses_1', 1795326607575, '{\"role\":\"assistant\"}');",
        )
        .unwrap();
    (path, connection)
}

fn add_row(connection: &Connection, id: &str, text: &str) {
    let state = json!({"status": "completed", "input": {"command": "ls"}, "output": text, "metadata": {}});
    let part = json!({"type": "tool", "tool": "bash", "callID": id, "state": state});
    let row = (format!("prt_{id}"), part.to_string());
    connection.execute("INSERT OR REPLACE INTO part VALUES (?, 'msg_1', 'ses_1', ?)", row).unwrap();
}

#[test]
fn a_database_is_read_again_when_it_changed() {
    let dir = tempfile::tempdir().unwrap();
    let (path, connection) = database(dir.path());
    add_row(&connection, "c1", "one");
    let files = [path.clone(), dir.path().join("opencode.db-wal")];
    let mut opened = open(&path);
    assert_eq!(first(opened.transcript(), "c1"), "one");
    add_row(&connection, "c2", "two");
    assert!(opened.refresh(&()).unwrap());
    assert_eq!(first(opened.transcript(), "c2"), "two");
    add_row(&connection, "c2", "TWO");
    assert!(opened.refresh(&()).unwrap());
    assert_eq!(first(opened.transcript(), "c2"), "TWO", "a row that was rewritten");
    files.iter().for_each(|file| age(file, 9));
    assert!(!opened.refresh(&()).unwrap());
    assert!(!opened.refresh(&()).unwrap());
    // The agent ends: the log is taken in, and deleted.
    add_row(&connection, "c3", "three");
    drop(connection);
    assert!(!files[1].exists());
    assert!(opened.refresh(&()).unwrap());
    assert_eq!(
        (ids(&*opened), first(opened.transcript(), "c3")),
        (vec!["c1".into(), "c2".into(), "c3".into()], "three".into())
    );
}

/// An edited result of pi has two texts; on a branch that was left it has but the one that was recorded.
#[test]
fn following_a_left_branch_gives_the_same_as_reading_anew() {
    let message = |id: &str, parent: Value, message: Value| json!({"type": "message", "id": id, "parentId": parent, "message": message});
    let call = json!({"type": "toolCall", "id": "1", "name": "bash", "arguments": {"command": "ls"}});
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let records = [
        json!({"type": "session", "version": 3, "id": "s", "cwd": "/p"}),
        message("a", json!(null), json!({"role": "assistant", "content": [call]})),
        message("b", json!("a"), json!({"role": "toolResult", "toolCallId": "1", "content": text("one")})),
        json!({"type": "context_edit", "id": "c", "parentId": "b", "targetId": "b", "replacement": text("short")}),
        message("d", json!("a"), json!({"role": "assistant", "content": text("again")})),
    ];
    let dir = tempfile::tempdir().unwrap();
    let path = write_log(dir.path(), "s.jsonl", &records[..4]);
    let mut opened = open(&path);
    assert_eq!(opened.transcript().calls[0].later, 1, "as recorded and as edited");
    append(&path, &format!("{}\n", records[4]));
    assert!(opened.refresh(&()).unwrap());
    let whole = open(&path);
    let (followed, whole) = (opened.transcript(), whole.transcript());
    assert_eq!(followed.events, whole.events);
    assert_eq!((followed.calls[0].later, followed.events[0].calls.len()), (0, 1));
}
