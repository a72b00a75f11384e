//! Nothing beside an agent's records is ever created or changed, whatever state its database is in.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{picture, root};
use crate::common::home::Home;

/// A database of opencode with one call, in write-ahead mode.
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
    add(&connection, "c1");
    (path, connection)
}

fn add(connection: &Connection, id: &str) {
    let part = serde_json::json!({
        "type": "tool", "tool": "bash", "callID": id,
        "state": {"status": "completed", "input": {"command": "ls"}, "output": format!("out of {id}"),
            "metadata": {"exit": 0, "truncated": false}},
    });
    let row = (format!("prt_{id}"), part.to_string());
    connection.execute("INSERT INTO part VALUES (?, 'msg_1', 'ses_1', ?)", row).unwrap();
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", path.display()))
}

/// Reads all that there is, and asserts that these calls are found and nothing is changed.
fn reads(home: &Home, dir: &Path, calls: usize) {
    let before = picture(dir);
    let found = home.run(&["sessions", "ses_1", "--json"]).ok().json();
    assert_eq!(found.as_array().unwrap().len(), calls);
    assert_eq!(home.run(&["show", "--text", "c1"]).ok().text(), "out of c1");
    home.run(&["sessions", "--json"]).ok();
    home.run(&["verify", "--json"]).ok();
    let after = picture(dir);
    let looks = |all: &[(PathBuf, u64, std::time::SystemTime, Vec<u8>)]| {
        let kept = all.iter().filter(|file| !file.0.to_string_lossy().ends_with("-shm"));
        (all.iter().map(|file| file.0.clone()).collect::<Vec<_>>(), kept.cloned().collect::<Vec<_>>())
    };
    assert!(looks(&before) == looks(&after), "{before:?}\n{after:?}");
}

#[test]
fn a_closed_database_is_read_without_a_log() {
    let home = Home::new();
    let dir = root(&home).parent().unwrap().join("data/opencode");
    let (path, connection) = database(&dir);
    drop(connection);
    assert!(!beside(&path, "-wal").exists());
    reads(&home, &dir, 1);
    let listed = home.run(&["sessions", "--json"]).ok().json();
    assert_eq!(listed[0]["size"], fs::metadata(&path).unwrap().len());
    fs::write(beside(&path, "-wal"), b"").unwrap();
    reads(&home, &dir, 1);
}

#[test]
fn a_database_that_is_open_is_read_with_its_log() {
    let home = Home::new();
    let dir = root(&home).parent().unwrap().join("data/opencode");
    let (path, connection) = database(&dir);
    assert!(fs::metadata(beside(&path, "-wal")).unwrap().len() > 0 && beside(&path, "-shm").exists());
    reads(&home, &dir, 1);
    add(&connection, "c2");
    reads(&home, &dir, 2);
}

#[test]
fn a_log_that_was_left_behind_is_read_from_a_copy() {
    let home = Home::new();
    let dir = root(&home).parent().unwrap().join("data/opencode");
    let aside = home.at("aside");
    let (path, connection) = database(&dir);
    fs::create_dir(&aside).unwrap();
    for ending in ["", "-wal"] {
        fs::copy(beside(&path, ending), aside.join(format!("opencode.db{ending}"))).unwrap();
    }
    drop(connection);
    fs::remove_dir_all(&dir).unwrap();
    fs::rename(&aside, &dir).unwrap();
    reads(&home, &dir, 1);
    let left = home.env().into_iter().find(|(name, _)| *name == "TMPDIR").unwrap().1;
    assert_eq!(fs::read_dir(left).unwrap().count(), 0, "the copy is deleted");
}

#[test]
fn a_database_is_read_while_another_process_writes() {
    let home = Home::new();
    let dir = root(&home).parent().unwrap().join("data/opencode");
    let (_path, connection) = database(&dir);
    let writer = std::thread::spawn(move || {
        (2..200).for_each(|n| add(&connection, &format!("c{n}")));
        connection
    });
    let found = home.run(&["sessions", "ses_1", "--json"]).ok().json();
    assert!(!found.as_array().unwrap().is_empty());
    let _connection = writer.join().unwrap();
    reads(&home, &dir, 199);
}

#[test]
fn reports_a_damaged_database_and_reads_the_others() {
    let home = Home::new();
    let dir = root(&home).parent().unwrap().join("data/opencode");
    drop(database(&dir));
    fs::write(dir.join("opencode-beta.db"), [b"SQLite format 3\0", &[7u8; 5000][..]].concat()).unwrap();
    let ran = home.run(&["sessions", "--json"]);
    assert_eq!((ran.status, ran.json().as_array().unwrap().len()), (0, 1));
    assert!(ran.stderr.contains("opencode-beta.db") && ran.stderr.contains("damaged"), "{}", ran.stderr);
}
