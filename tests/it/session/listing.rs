//! Lists of sessions: in two steps, newest first, and without reading what is ruled out.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use overspill::internals::session::copies::SeenCalls;
use overspill::internals::session::find::Exposure;
use overspill::internals::session::list::{self, ListedSession, SessionFilter};
use overspill::internals::session::reader::{ReadProgress, SessionError, SessionFile};
use overspill::internals::session::tally::{CallSums, count_calls};
use overspill::internals::store::Env;
use serde_json::{Value, json};

use super::write_log;

/// A time that all sessions of these tests are older than.
const NOW: u64 = 1_795_326_617;

fn record(project: &str, more: Value) -> Value {
    let mut record =
        json!({"sessionId": "s", "version": "2.1.330", "cwd": project, "uuid": "u", "userType": "external"});
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

fn says(project: &str, words: &str) -> Value {
    record(project, json!({"type": "user", "message": {"role": "user", "content": words}}))
}

fn call(project: &str, id: &str) -> Value {
    let block = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}});
    record(project, json!({"type": "assistant", "message": {"id": "m", "content": [block]}}))
}

fn result(project: &str, id: &str, text: &str) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": text});
    record(project, json!({"type": "user", "message": {"role": "user", "content": [block]}}))
}

/// Writes a session of Claude Code that was changed so many seconds ago.
fn session(home: &Path, name: &str, age: u64, records: &[Value]) -> PathBuf {
    let path = write_log(home, &format!(".claude/projects/-p/{name}.jsonl"), records);
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(NOW - age);
    File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    path
}

fn sessions(home: &Path, wanted: &SessionFilter) -> Vec<ListedSession> {
    list::read_all(&Env::hermetic(home), wanted, &mut |_| ())
}

fn ids(sessions: &[ListedSession]) -> Vec<&str> {
    sessions.iter().map(|session| session.file.id.as_str()).collect()
}

#[test]
fn the_newest_come_first() {
    let home = tempfile::tempdir().unwrap();
    for n in 0..300 {
        session(home.path(), &format!("s{n}"), n * 7 % 300, &[says("/p", "hello")]);
    }
    let listed = sessions(home.path(), &SessionFilter::default());
    assert_eq!(listed.len(), 300);
    assert!(listed.is_sorted_by(|a, b| a.file.modified >= b.file.modified));
}

#[test]
fn reads_only_sessions_that_pass_the_filter() {
    let home = tempfile::tempdir().unwrap();
    session(home.path(), "new", 60, &[says("/p/a", "hello")]);
    session(home.path(), "other", 70, &[says("/q", "hello")]);
    let old = session(home.path(), "old", 9000, &[says("/p", "hello")]);
    let since = Timestamp::from_second((NOW - 100) as i64).ok();
    let claude = SessionFilter { agent: Some("claude-code"), ..SessionFilter::default() };
    assert_eq!(ids(&sessions(home.path(), &claude)), ["new", "other", "old"]);
    assert_eq!(ids(&sessions(home.path(), &SessionFilter { since, ..claude })), ["new", "other"]);
    let project = Some(Path::new("/p"));
    assert_eq!(ids(&sessions(home.path(), &SessionFilter { project, ..claude })), ["new", "old"]);
    let real = home.path().join("real");
    fs::create_dir_all(real.join("below")).unwrap();
    std::os::unix::fs::symlink(&real, home.path().join("link")).unwrap();
    for (name, dir) in [("by link", "link"), ("by path", "real")] {
        session(home.path(), name, 80, &[says(home.path().join(dir).to_str().unwrap(), "hello")]);
    }
    for dir in ["real", "link", "real/below/..", "link/../real"] {
        let dir = home.path().join(dir);
        let found = sessions(home.path(), &SessionFilter { project: Some(&dir), ..claude });
        assert_eq!(ids(&found), ["by link", "by path"], "{dir:?}");
    }
    // Only a session that is looked at can be a fault.
    fs::remove_file(&old).unwrap();
    fs::create_dir(&old).unwrap();
    let gone =
        SessionFile { path: old, ..list::list(&Env::hermetic(home.path()), None, &()).sessions.remove(0) };
    assert!(
        list::read_listed(gone, &mut Exposure::default())
            .unwrap_err()
            .ends_with("old.jsonl: cannot be read: is not a regular file")
    );
}

#[test]
fn a_title_is_the_agent_s_own_or_the_user_s_first_line() {
    let home = tempfile::tempdir().unwrap();
    let titled = |name: &str, records: &[Value]| {
        session(home.path(), name, 60, records);
        let found = sessions(home.path(), &SessionFilter::default());
        found.into_iter().find(|session| session.file.id == name).unwrap().facts.title
    };
    let words = says("/p", "\n  mend the test \nand more");
    assert_eq!(titled("a", std::slice::from_ref(&words)).as_deref(), Some("mend the test"));
    assert_eq!(
        titled("b", &[words.clone(), json!({"type": "ai-title", "aiTitle": "Mending"})]).as_deref(),
        Some("Mending")
    );
    for flag in ["isMeta", "isCompactSummary"] {
        let mut own = says("/p", "of the agent");
        own[flag] = json!(true);
        assert_eq!(titled(flag, &[own, words.clone()]).as_deref(), Some("mend the test"));
    }
    assert_eq!(titled("c", &[json!({"type": "mode"})]), None);
}

#[test]
fn reading_a_whole_session_refines_title_and_end_time() {
    let home = tempfile::tempdir().unwrap();
    let at = |time: &str, record: Value| {
        let mut record = record;
        record["timestamp"] = json!(format!("2026-11-{time}Z"));
        record
    };
    let long = "x".repeat(70_000);
    let records = [
        at("01T10:00:00", says("/p", "hello")),
        at("02T10:00:00", says("/p", &long)),
        json!({"type": "ai-title", "aiTitle": "\n Mending\n"}),
        at("03T10:00:00", says("/p", &long)),
    ];
    session(home.path(), "s", 7, &records);
    let mut listed = sessions(home.path(), &SessionFilter::default()).remove(0);
    let ended = Timestamp::from_second((NOW - 7) as i64).unwrap();
    assert_eq!(listed.facts.ended, Some(ended), "the time of the file, where the last line is long");
    assert_eq!(listed.facts.title.as_deref(), Some("hello"));
    count_calls(&mut listed, 0, &mut SeenCalls::default(), &()).unwrap();
    assert_eq!(listed.facts.ended, Some("2026-11-03T10:00:00Z".parse().unwrap()));
    assert_eq!(listed.facts.title.as_deref(), Some("Mending"));
}

#[test]
fn a_session_with_two_paths_or_formats_is_listed_once() {
    let home = tempfile::tempdir().unwrap();
    session(home.path(), "s", 0, &[says("/p", "hello")]);
    fs::create_dir(home.path().join(".config")).unwrap();
    std::os::unix::fs::symlink("../.claude", home.path().join(".config/claude")).unwrap();
    assert_eq!(ids(&sessions(home.path(), &SessionFilter::default())), ["s"]);
    // A copy in another directory is another file.
    write_log(home.path(), ".claude/projects/-q/s.jsonl", &[says("/q", "hello")]);
    assert_eq!(ids(&sessions(home.path(), &SessionFilter::default())), ["s", "s"]);

    let data = home.path().join(".local/share/opencode");
    for id in ["one", "two"] {
        let tree = json!({"id": id, "projectID": "p", "directory": "/p", "title": "of a file", "time": {}});
        write_log(&data, &format!("storage/session/p/{id}.json"), &[tree]);
    }
    let opencode = SessionFilter { agent: Some("opencode"), ..SessionFilter::default() };
    assert_eq!(sessions(home.path(), &opencode).len(), 2);
    let database = rusqlite::Connection::open(data.join("opencode.db")).unwrap();
    database.execute_batch("CREATE TABLE session (id, parent_id, directory, title, version, time_created, time_updated);
        INSERT INTO session VALUES ('one', NULL, '/p', 'of the database', '1', 1795326600000, 1795326600000);").unwrap();
    let titles = sessions(home.path(), &opencode).into_iter().map(|session| session.facts.title.unwrap());
    assert_eq!(
        titles.collect::<std::collections::BTreeSet<_>>().into_iter().collect::<Vec<_>>(),
        ["of a file", "of the database"]
    );
}

#[test]
fn a_session_is_live_for_a_minute() {
    let home = tempfile::tempdir().unwrap();
    session(home.path(), "s", 0, &[says("/p", "hello")]);
    let listed = sessions(home.path(), &SessionFilter::default()).remove(0);
    let at = |seconds: u64| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    assert!(list::is_live(&listed.file, at(NOW + 59)) && list::is_live(&listed.file, at(NOW - 5)));
    assert!(!list::is_live(&listed.file, at(NOW + 60)));
}

#[test]
fn counting_calls_is_a_separate_step_that_can_be_cancelled() {
    let home = tempfile::tempdir().unwrap();
    session(home.path(), "s", 0, &[call("/p", "1"), result("/p", "1", "é\n"), call("/p", "2")]);
    let mut listed = sessions(home.path(), &SessionFilter::default()).remove(0);
    let (sums, unread) = count_calls(&mut listed, 0, &mut SeenCalls::default(), &()).unwrap();
    assert_eq!(sums, Some(CallSums { calls: 2, got_bytes: 3, ..CallSums::default() }));
    assert!(!unread.is_format_unknown());

    struct Stop;
    impl ReadProgress for Stop {
        fn step(&self, _: u64, _: u64) -> bool {
            false
        }
    }
    assert!(matches!(
        count_calls(&mut listed, 0, &mut SeenCalls::default(), &Stop),
        Err(SessionError::GivenUp)
    ));
}
