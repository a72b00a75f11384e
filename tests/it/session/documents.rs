//! Agents that keep one JSON document a session: every result of true records, against a plain parser, and made ones.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use overspill::session::list;
use overspill::session::model::{CallStatus, CutState, Evidence, ResultFate};
use serde_json::{Value, json};

use super::samples::compare;
use super::{call, first, open, sessions_in};

type Results = BTreeMap<String, String>;

fn document(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Writes a document with indents, as the agents do.
fn write(path: PathBuf, document: &Value) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, serde_json::to_string_pretty(document).unwrap()).unwrap();
    path
}

fn continue_cli(path: &Path) -> Results {
    let history = document(path)["history"].clone();
    let states = items(&history).flat_map(|item| items(&item["toolCallStates"]));
    states.map(|state| (string(&state["toolCallId"]), string(&state["output"][0]["content"]))).collect()
}

#[test]
fn samples_read_whole() {
    compare("continue-1.5.47", "continue", continue_cli);
}

fn state(id: &str, status: &str, outputs: &[&str]) -> Value {
    let output: Vec<_> = outputs.iter().map(|text| json!({"content": text, "name": "Tool Result"})).collect();
    let arguments = json!({"command": "make"}).to_string();
    json!({"toolCallId": id, "toolCall": {"id": id, "function": {"name": "Bash", "arguments": arguments}},
        "status": status, "parsedArgs": {"command": "make"}, "output": output})
}

fn continue_session(history: &[Value]) -> Value {
    json!({"sessionId": "s1", "title": "about \"history\"", "workspaceDirectory": "/home/u/proj", "history": history})
}

#[test]
fn continue_is_read() {
    let home = tempfile::tempdir().unwrap();
    let item =
        |states: &[Value]| json!({"message": {"role": "assistant", "content": ""}, "toolCallStates": states});
    let failed = "Error executing tool Bash: Error (exit code 3): err\n";
    let history = [
        item(&[state("c1", "done", &["(previous 3 lines truncated)\n\nout"])]),
        json!({"message": {"role": "assistant", "content": "so far"}, "conversationSummary": "so far"}),
        item(&[state("c2", "errored", &[failed]), state("c3", "canceled", &[]), state("c4", "calling", &[])]),
        item(&[state("c5", "done", &["a", "b"])]),
    ];
    let dir = home.path().join(".continue/sessions");
    let path = write(dir.join("s1.json"), &continue_session(&history));
    write(
        dir.join("sessions.json"),
        &json!([{"sessionId": "s1", "title": "t", "dateCreated": "1795378062495",
        "workspaceDirectory": "/home/u/proj"}]),
    );
    let found = sessions_in(home.path(), "continue");
    assert_eq!(found.len(), 1, "the index is no session");
    let facts = list::facts(&found[0]).unwrap();
    assert_eq!((facts.cwd.as_deref(), facts.title.as_deref()), (Some("/home/u/proj"), Some("t")));
    assert_eq!(facts.started.unwrap().to_string(), "2026-11-22T20:07:42.495Z");
    let facts = list::facts(&list::recognise(&path).unwrap()).unwrap();
    assert_eq!(facts.title.as_deref(), Some("about \"history\""), "without the index");
    let opened = open(&path);
    let transcript = opened.transcript();
    let c1 = call(transcript, "c1");
    assert_eq!((c1.cut, c1.fate(), c1.status), (CutState::Lost, ResultFate::Compacted(None), CallStatus::Ok));
    let c2 = call(transcript, "c2");
    assert_eq!((c2.status, c2.exit, c2.fate()), (CallStatus::Failed, Some(3), ResultFate::InContext));
    assert_eq!(
        (call(transcript, "c3").status, first(transcript, "c3")),
        (CallStatus::Denied, "Tool cancelled".into())
    );
    assert!(call(transcript, "c4").results.is_empty());
    assert_eq!(
        (first(transcript, "c5"), call(transcript, "c5").results[0].evidence),
        ("a\nb".into(), Evidence::Rendered)
    );
}

#[test]
fn a_document_that_is_written_anew_is_read_again() {
    let dir = tempfile::tempdir().unwrap();
    let with = |states: &[Value]| continue_session(&[json!({"message": {}, "toolCallStates": states})]);
    let path = dir.path().join("s1.json");
    write(path.clone(), &with(&[state("c1", "calling", &[])]));
    let mut opened = open(&path);
    assert!(!opened.refresh(&()).unwrap());
    let whole = serde_json::to_string_pretty(&with(&[state("c1", "done", &["out"])])).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    assert!(opened.refresh(&()).unwrap());
    assert!(opened.transcript().unread.is_format_unknown(), "half of it");
    std::fs::write(&path, &whole).unwrap();
    assert!(opened.refresh(&()).unwrap());
    assert_eq!(first(opened.transcript(), "c1"), "out");
}
