//! Records of over 16 MB: what stands after a long string is read, and what is not known of a record counts as not known.

use std::fs;

use overspill::internals::session::fate::{ContextChange, FateEvidence};
use overspill::internals::session::model::CallStatus;
use serde_json::json;

use super::compacted::pi_call;
use super::sent::Log;
use super::{call, fate_of, first, open, write_log};

const LONG: usize = (16 << 20) + 1000;

#[test]
fn a_long_result_keeps_its_place_its_status_and_its_text() {
    let text = format!("Exit code 3\n{}é", "x".repeat(LONG));
    let mut log = Log::default();
    for (id, text, is_error) in [("c1", "one", false), ("c2", &text, true), ("c3", "three", false)] {
        log.calls(id);
        log.result(id, json!(text));
        log.records.last_mut().unwrap()["message"]["content"][0]["is_error"] = json!(is_error);
    }
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&write_log(dir.path(), "s1.jsonl", &log.records));
    let transcript = opened.transcript();
    let states = transcript.calls.iter().map(|call| (fate_of(call), call.status, call.exit));
    let ok = (ContextChange::Restore, CallStatus::Ok, None);
    let failed = (ContextChange::Restore, CallStatus::Failed, Some(3));
    assert_eq!(states.collect::<Vec<_>>(), [ok, failed, ok], "the parent stands behind the message");
    assert!(first(transcript, "c2") == text);
    assert_eq!(transcript.unread.describe(), "");
}

#[test]
fn a_too_long_history_leaves_the_fate_unknown() {
    let item =
        |payload| json!({"timestamp": "2026-11-22T05:50:17Z", "type": "response_item", "payload": payload});
    let [call_1, output] = [
        json!({"type": "function_call", "name": "exec_command", "arguments": "{}", "call_id": "c1"}),
        json!({"type": "function_call_output", "call_id": "c1", "output": "one"}),
    ];
    let meta = json!({"type": "session_meta", "payload": {"id": "s", "cwd": "/p", "cli_version": "0.169.0"}});
    let compacted = |before: &str, blanks: usize| {
        let (blanks, before) =
            (" ".repeat(blanks), format!("{{\"type\":\"message\",\"text\":\"{before}\"}}"));
        let history = format!("[{before},{blanks}{call_1},{output}]");
        format!("{{\"type\":\"compacted\",\"payload\":{{\"replacement_history\":{history}}}}}\n")
    };
    let dir = tempfile::tempdir().unwrap();
    let after = |compacted: String| {
        let path =
            write_log(dir.path(), "s.jsonl", &[meta.clone(), item(call_1.clone()), item(output.clone())]);
        fs::write(&path, fs::read_to_string(&path).unwrap() + &compacted).unwrap();
        let opened = open(&path);
        let context = call(opened.transcript(), "c1").first().unwrap().context;
        (context.change, context.evidence, opened.transcript().unread.long)
    };
    let whole = (ContextChange::Restore, FateEvidence::Recorded, 0);
    assert_eq!(after(compacted(&"x".repeat(LONG), 1)), whole);
    let unknown = (ContextChange::Compact, FateEvidence::Unknown, 1);
    assert_eq!(after(compacted("x", LONG + (4 << 20))), unknown);
}

#[test]
fn a_too_long_tail_of_pi_leaves_the_fate_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let head = json!({"type": "session", "version": 3, "id": "s", "cwd": "/p"});
    let [called, got] = pi_call("1");
    let path = write_log(dir.path(), "s.jsonl", &[head, called, got.clone()]);
    let evidence_after = |blanks: usize| {
        let (blanks, tail) = (" ".repeat(blanks), &got["message"]);
        let compaction =
            format!("{{\"type\":\"compaction\",\"id\":\"k\",\"retainedTail\":[{blanks}{tail}]}}\n");
        let records = fs::read_to_string(&path).unwrap();
        fs::write(dir.path().join("long.jsonl"), records + &compaction).unwrap();
        let opened = open(&dir.path().join("long.jsonl"));
        let context = call(opened.transcript(), "1").first().unwrap().context;
        (context.change, context.evidence)
    };
    assert_eq!(evidence_after(LONG), (ContextChange::Restore, FateEvidence::Recorded));
    assert_eq!(evidence_after(LONG + (4 << 20)), (ContextChange::Compact, FateEvidence::Unknown));
}
