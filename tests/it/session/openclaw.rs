//! OpenClaw, which keeps pi's entries in rows, large ones compressed: made records after its tables.

use std::path::{Path, PathBuf};

use overspill::internals::session::fate::FateEvidence;
use overspill::internals::session::list;
use overspill::internals::session::model::{CallStatus, CutState};
use overspill::internals::session::reader::OpenedSession;
use overspill::internals::session::verify::{Counterpart, Verifier};
use overspill::preview::Catalog;
use rusqlite::{Connection, params};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};

use super::tables::database;
use super::{call, first, is_read_whole, open, sessions_in, text_of};

const TABLE: &str =
    "CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT,
    created_at INTEGER NOT NULL, event_zstd BLOB, event_utf8_bytes INTEGER, navigation_json TEXT,
    PRIMARY KEY (session_id, seq)) STRICT;";

/// When the first event was written, in milliseconds.
const AT: i64 = 1_795_378_305_000;

/// Events of one session; each follows the one before it, unless it names its parent itself.
struct Events {
    connection: Connection,
    path: PathBuf,
    last: Value,
    seq: i64,
}

impl Events {
    fn new(home: &Path) -> Self {
        let path = home.join(".openclaw/agents/main/agent/openclaw-agent.sqlite");
        let (connection, path) = database(path, TABLE);
        let mut events = Self { connection, path, last: Value::Null, seq: 0 };
        events.add(json!({"type": "session", "version": 4, "id": "s1", "cwd": "/p"}));
        events.last = Value::Null;
        events
    }

    /// Adds an event; one of over 2,000 bytes is compressed.
    fn add(&mut self, event: Value) {
        let mut record = json!({"parentId": self.last, "timestamp": "2026-11-22T20:11:45.000Z"});
        record.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
        self.last = record["id"].clone();
        let text = record.to_string();
        let packed = (text.len() > 2000).then(|| compress_to_vec(text.as_bytes(), CompressionLevel::Fastest));
        let plain = packed.is_none().then_some(&text);
        self.connection
            .execute(
                "INSERT INTO transcript_events VALUES ('s1', ?, ?, ?, ?, ?, NULL)",
                params![self.seq, plain, AT + 1000 * self.seq, packed, text.len() as i64],
            )
            .unwrap();
        self.seq += 1;
    }

    /// Adds a call and its result.
    fn run(&mut self, id: &str, text: &str, details: Value) {
        let called =
            json!([{"type": "toolCall", "id": id, "name": "exec", "arguments": {"command": "make"}}]);
        self.add(json!({"type": "message", "id": format!("a{id}"), "message": {"role": "assistant", "content": called}}));
        let message = json!({"role": "toolResult", "toolCallId": id, "toolName": "exec", "isError": false,
            "content": [{"type": "text", "text": text}], "details": details, "timestamp": AT});
        self.add(json!({"type": "message", "id": format!("r{id}"), "message": message}));
    }

    fn prune(&mut self, id: &str, data: Value) {
        self.add(json!({"type": "custom", "id": id, "customType": "openclaw.cache-ttl", "data": data}));
    }

    fn open(&self) -> Box<dyn OpenedSession> {
        open(&self.path)
    }
}

fn still_has<const N: usize>(opened: &dyn OpenedSession, ids: [&str; N]) -> [String; N] {
    ids.map(|id| call(opened.transcript(), id).first().unwrap().context.describe())
}

/// An output of lines, and what the model gets of it.
fn cut() -> (String, String) {
    let whole = "y".repeat(20_000);
    let notice = "[... 4072 more characters truncated; rerun with narrower args if needed]";
    let got = format!("{}{notice}", &whole[..16_000 - notice.len()]);
    (whole, got)
}

#[test]
fn sessions_are_found_and_read() {
    let home = tempfile::tempdir().unwrap();
    let mut events = Events::new(home.path());
    events.add(json!({"type": "message", "id": "u", "message": {"role": "user", "content": "make it"}}));
    let (_, got) = cut();
    let long = "é\u{1F600}x".repeat(500_000);
    events.run("c1", "fine", json!({"exitCode": 0, "durationMs": 5}));
    events.run("c2", &got, json!({"exitCode": 3}));
    events.run("c3", &long, json!({"fullOutputPath": "/x/spill.log"}));
    let found = sessions_in(home.path(), "openclaw");
    assert_eq!((found.len(), found[0].id.as_str()), (1, "s1"));
    let facts = list::facts(&found[0]).unwrap();
    assert_eq!((facts.cwd.as_deref(), facts.title.as_deref()), (Some("/p"), Some("make it")));
    assert_eq!(facts.started.unwrap().as_millisecond(), AT);
    assert_eq!(facts.ended.unwrap().as_millisecond(), AT + 1000 * (events.seq - 1));
    let opened = events.open();
    let transcript = opened.transcript();
    assert!(is_read_whole(transcript), "{:?}", transcript.unread);
    let c1 = call(transcript, "c1");
    assert_eq!((first(transcript, "c1").as_str(), c1.cut, c1.exit), ("fine", CutState::No, Some(0)));
    let c2 = call(transcript, "c2");
    assert_eq!((c2.cut, c2.exit, c2.status), (CutState::NoSpill, Some(3), CallStatus::Failed));
    assert!(first(transcript, "c2") == got);
    let c3 = call(transcript, "c3");
    assert_eq!((c3.cut, c3.cites[0].path.to_str()), (CutState::Spill, Some("/x/spill.log")));
    assert!(first(transcript, "c3") == long, "a compressed one of more than is read at once");
    assert_eq!(transcript.tool(c3), "exec");
    assert_eq!(transcript.next_request(0), Some(4));
    let verdict = Verifier::new(&Catalog::builtin(), "openclaw").verify(transcript, c2, None);
    assert_eq!(verdict.counterpart(), Some(Counterpart::Witness), "{verdict:?}");
}

#[test]
fn openclaw_events_tell_which_results_are_gone_and_no_more() {
    let home = tempfile::tempdir().unwrap();
    let mut events = Events::new(home.path());
    for id in ["c1", "c2", "c3"] {
        events.run(id, id, json!({}));
    }
    let key = |id: &str| format!("tool:{id}:{AT}");
    let frozen = |id: &str| json!([{"key": key(id), "sourceHash": "h"}]);
    events.prune("p0", json!({"prunedToolResults": [], "frozenToolResults": frozen("c1")}));
    let has = still_has(&*events.open(), ["c1", "c2", "c3"]);
    assert_eq!(has, ["–"; 3]);
    let hard = json!({"key": key("c1"), "mode": "hard", "placeholder": "[Old tool result content cleared]"});
    let soft = json!({"key": key("c2"), "mode": "soft"});
    let other = json!({"key": format!("tool:c3:{}", AT + 1), "mode": "hard", "placeholder": "x"});
    events.prune("p1", json!({"prunedToolResults": [hard, soft, other]}));
    // The list of all is written again with each change, or just what is new in it.
    events.prune("p2", json!({"prunedToolResults": [hard, soft]}));
    let opened = events.open();
    assert_eq!(still_has(&*opened, ["c1", "c2", "c3"]), ["cleared", "edited", "–"]);
    let evidence = |id: &str| call(opened.transcript(), id).first().unwrap().context.evidence;
    assert_eq!(
        ["c1", "c2", "c3"].map(evidence),
        [FateEvidence::Recorded, FateEvidence::Recorded, FateEvidence::Unknown],
        "old results may be left out without an event"
    );
    assert_eq!(opened.transcript().events.len(), 2);
    let delta = json!({"prunedToolResults": {"set": [{"key": key("c3"), "mode": "soft"}], "remove": []}});
    events.prune("p3", json!({"cacheTtlDelta": delta}));
    events.add(json!({"type": "compaction", "id": "k", "summary": "s", "firstKeptEntryId": "rc3"}));
    events.run("c4", "c4", json!({}));
    let has = still_has(&*events.open(), ["c1", "c2", "c3", "c4"]);
    assert_eq!(has, ["in summary #4", "in summary #4", "edited", "–"]);
    events.add(json!({"type": "reset", "id": "n", "reason": "new", "firstKeptEntryId": "rc4"}));
    events.run("c5", "c5", json!({}));
    let has = still_has(&*events.open(), ["c1", "c3", "c4", "c5"]);
    assert_eq!(has, ["in summary #4", "dropped #5", "–", "–"]);
}

#[test]
fn a_leaf_record_moves_the_conversation_to_its_target() {
    let home = tempfile::tempdir().unwrap();
    let mut events = Events::new(home.path());
    events.run("c1", "1", json!({}));
    events.run("c2", "2", json!({}));
    events.add(json!({"type": "leaf", "id": "l", "targetId": "rc1", "appendParentId": "rc1"}));
    assert_eq!(still_has(&*events.open(), ["c1", "c2"]), ["–", "left branch"]);
    events.last = json!("rc1");
    events.run("c3", "3", json!({}));
    // At the side of the conversation, which stays where it is.
    events.add(json!({"type": "label", "id": "side", "parentId": "rc2", "appendMode": "side"}));
    let opened = events.open();
    assert_eq!(still_has(&*opened, ["c1", "c2", "c3"]), ["–", "left branch", "–"]);
    assert!(is_read_whole(opened.transcript()), "{:?}", opened.transcript().unread);
}

/// To change a result, OpenClaw writes it and all that follows once more, on a branch of its own.
#[test]
fn what_is_written_again_on_another_branch_is_no_other_call() {
    let home = tempfile::tempdir().unwrap();
    let mut events = Events::new(home.path());
    let (whole, got) = cut();
    for (id, text) in [("c1", &*whole), ("c2", "two"), ("c3", "three")] {
        events.run(id, text, json!({}));
    }
    let again = |events: &mut Events, entry: &str, text: &str| {
        let json = "SELECT event_json FROM transcript_events WHERE event_json ->> 'id' = ?";
        let event: Option<String> = events.connection.query_row(json, [entry], |row| row.get(0)).ok();
        let mut event: Value = event.map_or(
            json!({"message": {"role": "toolResult", "toolCallId": "c1", "toolName": "exec", "timestamp": AT}}),
            |event| serde_json::from_str(&event).unwrap(),
        );
        if !text.is_empty() {
            event["message"]["content"] = json!([{"type": "text", "text": text}]);
        }
        let message = event["message"].clone();
        events.add(json!({"type": "message", "id": format!("{entry}-{}", events.seq), "message": message}));
    };
    events.last = json!("ac1");
    again(&mut events, "rc1", &got);
    for entry in ["ac2", "rc2", "ac3", "rc3"] {
        again(&mut events, entry, "");
    }
    events.run("c4", "four", json!({}));
    let opened = events.open();
    let transcript = opened.transcript();
    let ids: Vec<_> = transcript.calls.iter().map(|call| &*call.id).collect();
    assert_eq!(ids, ["c1", "c2", "c3", "c4"]);
    assert_eq!(still_has(&*opened, ["c1", "c2", "c3", "c4"]), ["edited since #4", "–", "–", "–"]);
    assert_eq!((call(transcript, "c1").later, first(transcript, "c1") == whole), (1, true));
    assert_eq!(transcript.next_request(0), Some(5), "what is written again is no new answer");
    // Once more, and then the branch is left.
    events.last = json!("ac1");
    again(&mut events, "rc1", "short");
    again(&mut events, "ac2", "");
    events.add(json!({"type": "branch_summary", "id": "b", "parentId": "ac1", "summary": "s"}));
    let has = still_has(&*events.open(), ["c1", "c2", "c3", "c4"]);
    assert_eq!(has, ["left branch"; 4]);
    // An id that returns on the branch itself is of another call.
    events.run("x", "five", json!({}));
    events.run("x", "six", json!({}));
    let opened = events.open();
    let ids: Vec<_> = opened.transcript().calls.iter().map(|call| &*call.id).collect();
    assert_eq!(ids, ["c1", "c2", "c3", "c4", "x", "x#2"]);
}

#[test]
fn each_text_of_a_result_is_cut_by_itself() {
    let home = tempfile::tempdir().unwrap();
    let mut events = Events::new(home.path());
    let cut_of = |texts: &[&str], events: &mut Events| {
        let id = format!("c{}", events.seq);
        events.run(&id, "", json!({}));
        let parts: Vec<_> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
        let path = "$.message.content";
        let update =
            "UPDATE transcript_events SET event_json = json_set(event_json, ?, json(?)) WHERE seq = ?";
        let row = params![path, json!(parts).to_string(), events.seq - 1];
        events.connection.execute(update, row).unwrap();
        call(events.open().transcript(), &id).cut
    };
    let notice = "[... 4072 more characters truncated; rerun with narrower args if needed]";
    let cut = format!("yyy{notice}");
    assert_eq!(cut_of(&[&cut, "small tail"], &mut events), CutState::NoSpill);
    assert_eq!(cut_of(&["abc[... 12 chars truncated; narrow args]"], &mut events), CutState::NoSpill);
    let elided = "[tool result elided: aggregate tool-result budget exceeded; rerun the command if the output is needed]";
    assert_eq!(cut_of(&[elided], &mut events), CutState::NoSpill);
    let quoted = format!("{cut}\nit says");
    assert_eq!(cut_of(&[&quoted, &format!("{elided}.")], &mut events), CutState::No);
}

#[test]
fn events_that_cannot_be_read_are_counted() {
    let home = tempfile::tempdir().unwrap();
    let mut events = Events::new(home.path());
    events.run("c1", &"x".repeat(3000), json!({}));
    let insert = |seq: i64, packed: Option<Vec<u8>>| {
        let insert = "INSERT INTO transcript_events VALUES ('s1', ?, NULL, 0, ?, 1, NULL)";
        events.connection.execute(insert, params![seq, packed]).unwrap();
    };
    insert(100, None);
    insert(101, Some(b"{}".to_vec()));
    insert(102, Some(compress_to_vec(&b"not json"[..], CompressionLevel::Fastest)));
    let long = format!("{{\"type\": \"label\", \"id\": \"long\", \"text\": \"{}\"}}", " ".repeat(16 << 20));
    insert(103, Some(compress_to_vec(long.as_bytes(), CompressionLevel::Fastest)));
    insert(104, Some(vec![0; (16 << 20) + 1]));
    let opened = events.open();
    let unread = &opened.transcript().unread;
    assert_eq!((unread.records, unread.known, unread.broken, unread.long), (8, 4, 4, 1));
    let c1 = call(opened.transcript(), "c1").first().unwrap();
    assert_eq!(text_of(opened.transcript(), c1), "x".repeat(3000));
    // Before 2026.9 no event was compressed.
    events.connection.execute_batch("DELETE FROM transcript_events WHERE seq > 1").unwrap();
    events.connection.execute_batch("ALTER TABLE transcript_events DROP COLUMN event_zstd").unwrap();
    assert_eq!(events.open().transcript().calls.len(), 1);
}
