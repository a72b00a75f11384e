//! What requests in the records carried: `sent`, proven by hash.

use std::collections::BTreeMap;
use std::io::Write;

use overspill::internals::session::fate::ContextChange;
use overspill::internals::session::model::{Call, Evidence};
use overspill::internals::session::sent::{
    MessageFault, NotSentReason, RequestMessage, best, request_of, write_request,
};
use overspill::internals::session::transcript::Transcript;
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::samples::{home_of, records};
use super::{call, open, sessions_in, text_of, write_log};

/// The hash of a message: of its JSON with sorted keys.
pub fn hash(message: &Value) -> String {
    format!("{:x}", Sha256::digest(sorted(message)))
}

fn sorted(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(sorted).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let members: BTreeMap<_, _> = members.iter().collect();
            let members = members.into_iter().map(|(key, value)| format!("{}:{}", json!(key), sorted(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

/// What a request carried for a result; and why it is not known, if it is not.
fn got(transcript: &Transcript, id: &str) -> (Option<String>, Option<NotSentReason>) {
    let best = best(transcript, call(transcript, id));
    (best.first.map(|first| text_of(transcript, &first)), best.not_sent)
}

fn fate(transcript: &Transcript, call: &Call) -> ContextChange {
    best(transcript, call).first.unwrap().context.change
}

/// Records of a session with requests, made as Claude Code makes them.
#[derive(Default)]
pub struct Log {
    pub records: Vec<Value>,
    /// The last record of the conversation, which the next one follows.
    pub last: Option<String>,
    pub request: Option<String>,
}

impl Log {
    pub fn record(&mut self, mut record: Value) {
        let more =
            json!({"sessionId": "s1", "version": "2.1.330", "userType": "external", "parentUuid": self.last});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.last = record["uuid"].as_str().map(str::to_owned).or(self.last.take());
        self.records.push(record);
    }

    /// The model calls; returns its message.
    pub fn calls(&mut self, id: &str) -> Value {
        let content = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}]);
        let message =
            json!({"id": format!("msg_{id}"), "role": "assistant", "content": content, "usage": {}});
        let uuid = format!("u{id}");
        self.record(match &self.request {
            None => json!({"type": "assistant", "uuid": uuid, "message": message}),
            Some(request) => {
                json!({"type": "assistant", "uuid": uuid, "requestRef": request, "message": message})
            }
        });
        json!({"role": "assistant", "content": content})
    }

    /// The history takes a result; returns the message that it makes alone.
    pub fn result(&mut self, id: &str, content: Value) -> Value {
        let message = json!({"role": "user", "content": [result(id, content)]});
        self.record(json!({"type": "user", "uuid": format!("r{id}"), "message": message}));
        message
    }

    pub fn blob(&mut self, message: &Value) -> String {
        self.record(json!({"type": "api-request-blob", "hash": hash(message), "message": message}));
        hash(message)
    }

    /// A request that goes on from the one before.
    pub fn request(&mut self, keep: usize, tail: &[String]) {
        let id = format!("00000000-0000-0000-0000-{:012}", self.records.len());
        self.record(
            json!({"type": "api-request", "id": id, "timestamp": "2026-11-22T06:00:00Z", "querySource": "sdk",
            "params": {"model": "m"}, "base": self.request, "keep": keep, "tail": tail}),
        );
        self.request = Some(id);
    }
}

pub fn result(id: &str, content: Value) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": content})
}

pub fn user(blocks: &[Value]) -> Value {
    json!({"role": "user", "content": blocks})
}

#[test]
fn a_result_has_the_text_of_the_first_request_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Log::default();
    let called = log.calls("c1");
    log.result("c1", json!("out  \n"));
    let carried = user(&[result("c1", json!("out\n\n<system-reminder>\n\u{1b}é\n</system-reminder>"))]);
    let blob = log.blob(&carried);
    log.request(0, &[hash(&called), blob]);
    let called = log.calls("c2");
    log.result("c2", json!([{"type": "text", "text": "two"}]));
    let carried =
        user(&[result("c2", json!([{"type": "text", "text": "two"}, {"type": "text", "text": "!"}]))]);
    let blob = log.blob(&carried);
    log.request(2, &[hash(&called), blob]);
    let opened = open(&write_log(dir.path(), "s1.jsonl", &log.records));
    let transcript = opened.transcript();
    assert_eq!(got(transcript, "c1").0.unwrap(), "out\n\n<system-reminder>\n\u{1b}é\n</system-reminder>");
    assert_eq!(got(transcript, "c2").0.unwrap(), "two!");
    let best = best(transcript, call(transcript, "c1"));
    let first = best.first.unwrap();
    assert_eq!((first.evidence, best.not_sent), (Evidence::Sent, None));
    assert_eq!(first.at.unwrap().to_string(), "2026-11-22T06:00:00Z");
    assert_eq!(super::first(transcript, "c1"), "out  \n", "the history holds what it held");
}

/// A session with a message that was written for a request, and one that is made of records.
fn both_kinds() -> Vec<String> {
    let mut log = Log::default();
    let called = log.calls("c1");
    log.result("c1", json!("out"));
    let blob = log.blob(&user(&[result("c1", json!("out!"))]));
    log.request(0, &[hash(&called), blob]);
    let called = log.calls("c2");
    let second = log.result("c2", json!([{"type": "text", "text": "two"}]));
    log.request(2, &[hash(&called), hash(&second)]);
    log.records.iter().map(|record| format!("{record}\n")).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn damaged_records_prove_nothing_else(
        order in Just(both_kinds()).prop_shuffle(),
        is_shuffled in any::<bool>(),
        at in any::<prop::sample::Index>(),
        byte in proptest::option::of(any::<u8>()),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s1.jsonl");
        let mut bytes = if is_shuffled { order.concat() } else { both_kinds().concat() }.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte.unwrap_or(bytes[at]);
        std::fs::write(&path, &bytes).unwrap();
        let (head, _) = overspill::internals::session::find::ends(&path).unwrap();
        let known = overspill::internals::session::FORMATS.iter().find(|format| format.info.name == "claude-code").unwrap();
        let Some(file) = known.recognise(&path, &head) else { return Ok(()) };
        let opened = known.open(&file, &()).unwrap();
        let transcript = opened.transcript();
        for call in &transcript.calls {
            let found = best(transcript, call);
            if let Some(sent) = found.first.filter(|result| result.evidence == Evidence::Sent) {
                let text = text_of(transcript, &sent);
                let was_sent = ["out!", "two"].contains(&text.as_str());
                prop_assert!(was_sent, "{}", text);
            }
            if let Ok(request) = request_of(transcript, call) {
                let _ = write_request(transcript, &request, &mut std::io::sink());
            }
        }
    }
}

#[test]
fn records_of_the_conversation_are_messages_too() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Log::default();
    log.record(json!({"type": "user", "uuid": "p", "message": {"role": "user", "content": "go"}}));
    let prompt = user(&[json!({"type": "text", "text": "go"})]);
    let (one, first) = (log.calls("c1"), log.result("c1", json!("one")));
    // Of parallel calls, a second record of the message follows the first result.
    let two = json!([{"type": "tool_use", "id": "c2", "name": "Bash", "input": {"b": 1, "a": 2}}]);
    log.record(json!({"type": "assistant", "uuid": "u2",
        "message": {"id": "msg_c1", "role": "assistant", "content": two}}));
    let second = log.result("c2", json!("two"));
    let joined = |a: &Value, b: &Value| {
        [a, b].iter().flat_map(|list| list.as_array().unwrap().clone()).collect::<Vec<_>>()
    };
    let both = json!({"role": "assistant", "content": joined(&one["content"], &two)});
    let results = user(&joined(&first["content"], &second["content"]));
    log.request(0, &[hash(&prompt), hash(&both), hash(&results)]);
    let opened = open(&write_log(dir.path(), "s1.jsonl", &log.records));
    let transcript = opened.transcript();
    assert_eq!(
        (got(transcript, "c1"), got(transcript, "c2")),
        ((Some("one".into()), None), (Some("two".into()), None))
    );
    let request = request_of(transcript, call(transcript, "c2")).unwrap();
    let roles = request.messages.iter().map(|message| match message {
        RequestMessage::Spoken(role, _) => role.as_str(),
        other => panic!("{other:?}"),
    });
    assert_eq!(roles.collect::<Vec<_>>(), ["user", "assistant", "user"]);
    let mut written = Vec::new();
    write_request(transcript, &request, &mut written).unwrap();
    let written: Value = serde_json::from_slice(&written).unwrap();
    assert_eq!(written, json!({"messages": [prompt, both, results], "model": "m"}));
}

#[test]
fn a_message_with_another_hash_proves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Log::default();
    log.calls("c1");
    log.result("c1", json!("out"));
    let blob = log.blob(&user(&[result("c1", json!("out!"))]));
    log.records.last_mut().unwrap()["message"]["content"][0]["content"] = json!("changed");
    log.request(0, &[blob]);
    log.calls("c2");
    log.result("c2", json!("two"));
    let opened = open(&write_log(dir.path(), "s1.jsonl", &log.records));
    let transcript = opened.transcript();
    let mismatch = NotSentReason::Message(MessageFault::Mismatch);
    assert_eq!(got(transcript, "c1"), (Some("out".into()), Some(mismatch)));
    let request = request_of(transcript, call(transcript, "c1")).unwrap();
    let RequestMessage::Blob(_, fault) = request.messages[0] else { panic!("{request:?}") };
    assert_eq!(fault, Some(MessageFault::Mismatch));
    assert_eq!(got(transcript, "c2"), (Some("two".into()), Some(NotSentReason::NotCarried)));
    let opened = open(&write_log(dir.path(), "s2.jsonl", &log.records[..2]));
    assert_eq!(got(opened.transcript(), "c1").1, Some(NotSentReason::NoRequests));
}

#[test]
fn a_different_text_in_a_later_request_is_a_change() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Log::default();
    log.calls("c1");
    let first = log.result("c1", json!("one"));
    log.calls("c2");
    log.result("c2", json!("two"));
    let second = log.blob(&user(&[result("c2", json!("two!"))]));
    log.request(0, &[hash(&first), second.clone()]);
    let cleared = log.blob(&user(&[result("c1", json!("[Old tool result content cleared]"))]));
    let shorter = log.blob(&user(&[result("c2", json!("2"))]));
    log.request(0, &[cleared, shorter]);
    let opened = open(&write_log(dir.path(), "s1.jsonl", &log.records));
    let transcript = opened.transcript();
    let [c1, c2] =
        ["c1", "c2"].map(|id| (got(transcript, id).0.unwrap(), fate(transcript, call(transcript, id))));
    assert_eq!(c1, ("one".into(), ContextChange::Clear));
    assert_eq!(c2, ("two!".into(), ContextChange::Replace));
}

#[test]
fn a_request_whose_base_is_missing_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let request = Some("99999999-0000-0000-0000-000000000000".into());
    let mut log = Log { request, ..Log::default() };
    log.calls("c1");
    let result = log.result("c1", json!("one"));
    log.request(2, &[hash(&result)]);
    let opened = open(&write_log(dir.path(), "s1.jsonl", &log.records));
    let request = request_of(opened.transcript(), call(opened.transcript(), "c1")).unwrap();
    use RequestMessage::{Missing, Spoken};
    assert!(matches!(request.messages[..], [Missing, Missing, Spoken(..)]), "{request:?}");
}

/// Returns the content of a message that was written for a request, and that its hash proves.
fn sent_in_sample(records: &[Value], id: &str) -> Option<String> {
    let blobs = records.iter().filter(|record| record["type"] == "api-request-blob");
    let proven = blobs.filter(|blob| blob["hash"] == hash(&blob["message"]));
    let blocks = proven.flat_map(|blob| blob["message"]["content"].as_array().unwrap());
    let found = blocks.filter(|block| block["tool_use_id"] == id).map(|block| &block["content"]);
    found.map(|content| content.as_str().unwrap_or_default().to_owned()).next()
}

#[test]
fn the_sample_is_proven_but_for_what_was_scrubbed() {
    let Some(home) = home_of("claude-2.1.330") else { return };
    let file = sessions_in(&home, "claude-code").remove(0);
    let own = file.path.with_extension("").join("subagents");
    let agents = std::fs::read_dir(own).unwrap().map(|entry| entry.unwrap().path());
    let logs = agents.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let all: Vec<Value> = logs.chain([file.path.clone()]).flat_map(|path| records(&path)).collect();
    let opened = open(&file.path);
    let transcript = opened.transcript();
    let mut proven = 0;
    for call in &transcript.calls {
        let (texts, why) = got(transcript, &call.id);
        match sent_in_sample(&all, &call.id) {
            Some(text) => assert_eq!((texts, why), (Some(text), None), "{}", call.id),
            None => assert_eq!(why, Some(NotSentReason::Message(MessageFault::Mismatch)), "{}", call.id),
        }
        proven += usize::from(why.is_none());
        let request = request_of(transcript, call).unwrap();
        let is_proven =
            |message: &&_| matches!(message, RequestMessage::Blob(_, None) | RequestMessage::Spoken(..));
        let faults = request.messages.len() - request.messages.iter().filter(is_proven).count();
        assert!(faults <= 2, "the prompt, and the result of the sub-agent");
    }
    assert_eq!((transcript.calls.len(), proven), (8, 7));
}

#[test]
fn a_session_whose_first_request_comes_late_is_read_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut log = Log::default();
    let called = log.calls("c1");
    let carried = log.result("c1", json!("out"));
    let path = write_log(dir.path(), "s.jsonl", &log.records);
    let mut opened = open(&path);
    log.request(0, &[hash(&called), hash(&carried)]);
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    writeln!(file, "{}", log.records.last().unwrap()).unwrap();
    assert!(opened.refresh(&()).unwrap());
    let transcript = opened.transcript();
    assert_eq!(best(transcript, &transcript.calls[0]).first.unwrap().evidence, Evidence::Sent);
    assert_eq!(transcript.unread.records, 3);
}
