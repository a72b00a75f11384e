//! Claude Code's records.

use std::collections::BTreeMap;
use std::path::Path;

use overspill::internals::session::fate::ContextChange;
use overspill::internals::session::model::{CallStatus, CutState};
use overspill::internals::session::verify::{
    Counterpart, NoVerdict, Verdict, Verifier, WholeOutput, whole_display,
};
use overspill::internals::source::Source;
use overspill::preview::{Catalog, Input, plan_counted};
use serde_json::{Value, json};

use super::samples::{compare, records};
use super::{call, fate_of, first, open, pieces, write_log};

/// The texts of all results by id, in the main file and in those of the sub-agents.
fn results(path: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let own = path.with_extension("").join("subagents");
    let others = std::fs::read_dir(own).into_iter().flatten().flatten().map(|entry| entry.path());
    let logs = others.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    for log in logs.chain([path.to_owned()]) {
        for record in records(&log).into_iter().filter(|record| record["type"] == "user") {
            for block in record["message"]["content"].as_array().into_iter().flatten() {
                if block["type"] == "tool_result" {
                    found.insert(block["tool_use_id"].as_str().unwrap().into(), text(&block["content"]));
                }
            }
        }
    }
    found
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        parts => parts.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect(),
    }
}

#[test]
fn samples_read_whole() {
    compare("claude-1.0.86", "claude-code", results);
    compare("claude-2.1.330", "claude-code", results);
}

fn message(uuid: &str, parent: Value, more: Value) -> Value {
    let mut record = json!({
        "parentUuid": parent, "uuid": uuid, "isSidechain": false, "userType": "external", "sessionId": "s1",
        "version": "2.1.330", "cwd": "/home/u/proj", "timestamp": "2026-11-22T05:49:31.291Z",
    });
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    record
}

fn use_of(uuid: &str, parent: Value, id: &str) -> Value {
    let content = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "make"}}]);
    message(
        uuid,
        parent,
        json!({"type": "assistant", "message": {"id": format!("msg_{id}"), "content": content}}),
    )
}

fn result_of(uuid: &str, parent: &str, id: &str, text: Value) -> Value {
    let content = json!([{"type": "tool_result", "tool_use_id": id, "content": text}]);
    message(uuid, json!(parent), json!({"type": "user", "message": {"role": "user", "content": content}}))
}

#[test]
fn reads_the_cited_spill_and_the_exit_status() {
    let dir = tempfile::tempdir().unwrap();
    let notice = "<persisted-output>\nOutput too large (59.5KB). Full output saved to: /x/b1.txt\n\nPreview…";
    let quoted = format!("cat of a log:\n{notice}");
    let mut failed = result_of("6", "5", "c3", json!("Exit code 3\nout"));
    failed["message"]["content"][0]["is_error"] = json!(true);
    let log = [
        use_of("1", Value::Null, "c1"),
        result_of("2", "1", "c1", json!(notice)),
        use_of("3", json!("2"), "c2"),
        result_of("4", "3", "c2", json!([{"type": "text", "text": quoted}, {"type": "image"}])),
        use_of("5", json!("4"), "c3"),
        failed,
    ];
    let opened = open(&write_log(dir.path(), "s1.jsonl", &log));
    let transcript = opened.transcript();
    let c1 = call(transcript, "c1");
    assert_eq!((c1.cut, c1.cites[0].path.to_str()), (CutState::Spill, Some("/x/b1.txt")));
    assert_eq!(first(transcript, "c1"), notice);
    assert_eq!(call(transcript, "c2").cut, CutState::No, "a quoted notice is no notice");
    assert_eq!(first(transcript, "c2"), quoted);
    let c3 = call(transcript, "c3");
    assert_eq!((c3.status, c3.exit), (CallStatus::Failed, Some(3)));
    assert_eq!(transcript.facts.cwd.as_deref(), Some("/home/u/proj"));
}

#[test]
fn a_notice_that_a_command_printed_is_no_cut() {
    let dir = tempfile::tempdir().unwrap();
    let saved =
        "<persisted-output>\nOutput too large (87.8KB). Full output saved to: /x/b.txt\n\nPreview:\n1\n";
    let lost = "<truncated-output>\nOutput too large (59.5KB). It could not be saved.\n</truncated-output>";
    let cut = |told: &str, printed: &str| {
        let mut record = result_of("b", "a", "t1", json!(told));
        record["toolUseResult"] = json!({"stdout": printed, "stderr": ""});
        let log = [use_of("a", Value::Null, "t1"), record];
        call(open(&write_log(dir.path(), "s1.jsonl", &log)).transcript(), "t1").cut
    };
    assert_eq!([saved, lost].map(|told| cut(told, told)), [CutState::No; 2]);
    let other = saved.replace("87.8KB", "87.9KB");
    assert_eq!([cut(saved, &other), cut(lost, "1\n")], [CutState::Spill, CutState::NoSpill]);
}

#[test]
fn distinguishes_long_ids_with_a_common_beginning() {
    let dir = tempfile::tempdir().unwrap();
    let ids = ["one", "two"].map(|end| format!("call_{}_{end}", "x".repeat(1000)));
    let log = [
        use_of("1", Value::Null, &ids[0]),
        result_of("2", "1", &ids[0], json!("first")),
        use_of("3", json!("2"), &ids[1]),
        result_of("4", "3", &ids[1], json!("second")),
    ];
    let opened = open(&write_log(dir.path(), "s1.jsonl", &log));
    assert_eq!(ids.map(|id| first(opened.transcript(), &id)), ["first", "second"]);
}

#[test]
fn a_result_with_too_many_tokens_cites_its_file() {
    let dir = tempfile::tempdir().unwrap();
    let told = "Error: result (297,831 characters across 9,001 lines) exceeds maximum allowed tokens. Output has been saved \
                to /x/mcp-db-1.txt.\nFormat: Plain text\nUse offset and limit…";
    let mut log = [
        use_of("1", Value::Null, "c1"),
        result_of("2", "1", "c1", json!(told)),
        use_of("3", json!("2"), "c2"),
        result_of("4", "3", "c2", json!([{"type": "text", "text": told}])),
        use_of("5", json!("4"), "c3"),
        result_of("6", "5", "c3", json!(told)),
    ];
    for call in [0, 2] {
        log[call]["message"]["content"][0]["name"] = json!("mcp__db__query");
    }
    let opened = open(&write_log(dir.path(), "s1.jsonl", &log));
    let transcript = opened.transcript();
    for id in ["c1", "c2"] {
        let call = call(transcript, id);
        assert_eq!(
            (call.cut, call.cites[0].path.to_str()),
            (CutState::Spill, Some("/x/mcp-db-1.txt")),
            "{id}"
        );
        assert!(call.has_unmodelled_cut, "{id}: no policy is to be blamed");
    }
    assert_eq!(call(transcript, "c3").cut, CutState::No, "what a command printed");
}

#[test]
fn claude_code_up_to_2_1_1_saves_no_command_output() {
    let cut = |version: &str, tool: &str, head: usize| {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("{}\n\n... [5779 lines truncated] ...", "é".repeat(head));
        let mut log = [use_of("1", Value::Null, "c1"), result_of("2", "1", "c1", json!(text))];
        log[0]["message"]["content"][0]["name"] = json!(tool);
        log[1]["version"] = json!(version);
        call(open(&write_log(dir.path(), "s1.jsonl", &log)).transcript(), "c1").cut
    };
    assert_eq!(["1.0.86", "2.0.69", "2.1.1"].map(|old| cut(old, "Bash", 30_000)), [CutState::NoSpill; 3]);
    assert_eq!(["2.1.2", "2.1.330", ""].map(|new| cut(new, "Bash", 30_000)), [CutState::No; 3]);
    let quoted = [cut("2.1.1", "Read", 30_000), cut("2.1.1", "Bash", 29_999), cut("2.1.1", "Bash", 4)];
    assert_eq!(quoted, [CutState::No; 3], "a quoted notice is no notice");
}

#[test]
fn a_call_is_judged_by_the_version_that_made_it() {
    let dir = tempfile::tempdir().unwrap();
    let output: String = (1..=9000).map(|n| format!("{n}\n")).collect();
    let input = Input::from_bytes(output.as_bytes(), "");
    let policy = Catalog::builtin().get("claude-code/bash-2025").unwrap();
    let cut = plan_counted(&input, &policy).unwrap().text(&input);
    let mut log = [
        use_of("1", Value::Null, "c1"),
        result_of("2", "1", "c1", json!(cut)),
        use_of("3", json!("2"), "c2"),
    ];
    log[..2].iter_mut().for_each(|record| record["version"] = json!("1.0.86"));
    let opened = open(&write_log(dir.path(), "s1.jsonl", &log));
    let transcript = opened.transcript();
    let versions = ["c1", "c2"].map(|id| transcript.version_of(call(transcript, id)).unwrap());
    assert_eq!(versions, ["1.0.86", "2.1.330"]);
    let verifier = Verifier::new(&Catalog::builtin(), "claude-code");
    assert_eq!(verifier.verify(transcript, call(transcript, "c1"), None).mark(), "≈");
}

#[test]
fn reads_the_fate_of_each_result() {
    let dir = tempfile::tempdir().unwrap();
    let boundary = json!({
        "type": "system", "subtype": "compact_boundary", "uuid": "5", "parentUuid": null, "logicalParentUuid": "4",
        "timestamp": "2026-11-22T06:00:00Z", "compactMetadata": {"preservedMessages": {"uuids": ["4"]}},
        "sessionId": "s1", "userType": "external",
    });
    let notice = "<persisted-output>\nOutput too large (1KB). Full output saved to: /x/c.txt\n";
    let replacement = |id: &str| {
        let one = json!({"kind": "tool-result", "toolUseId": id, "replacement": notice});
        json!({"type": "content-replacement", "sessionId": "s1", "replacements": [one]})
    };
    let log = [
        use_of("1", Value::Null, "c1"),
        result_of("2", "1", "c1", json!("one")),
        use_of("3", json!("2"), "c2"),
        result_of("4", "3", "c2", json!("two")),
        boundary,
        use_of("6", json!("5"), "c3"),
        result_of("7", "6", "c3", json!("three")),
        use_of("8", json!("6"), "c4"),
        result_of("9", "8", "c4", json!("four")),
        use_of("10", json!("7"), "c5"),
        replacement("c3"),
        result_of("11", "10", "c5", json!("five")),
        replacement("c5"),
    ];
    let opened = open(&write_log(dir.path(), "s1.jsonl", &log));
    let transcript = opened.transcript();
    let fate = |id: &str| fate_of(call(transcript, id));
    assert_eq!(fate("c1"), ContextChange::Compact);
    assert_eq!(fate("c2"), ContextChange::Restore, "preserved");
    assert_eq!(fate("c3"), ContextChange::Replace);
    assert_eq!((call(transcript, "c3").later, call(transcript, "c3").cut), (1, CutState::Spill));
    let c5 = call(transcript, "c5");
    assert_eq!((first(transcript, "c5"), c5.later), (notice.to_owned(), 0), "never seen otherwise");
    assert_eq!(pieces(transcript, std::slice::from_ref(&c5.display[0].text)), "five");
    assert_eq!((fate("c4"), fate("c5")), (ContextChange::Leave, ContextChange::Restore));
}

#[test]
fn a_batch_replacement_is_not_checked_against_a_single_limit() {
    let dir = tempfile::tempdir().unwrap();
    let spill = dir.path().join("c1.txt");
    let output: String = (1..=2500).map(|n| format!("line {n}\n")).collect();
    std::fs::write(&spill, &output).unwrap();
    let path = spill.to_str().unwrap();
    let mut policy = Catalog::builtin().get("claude-code/tool").unwrap();
    policy.set("max_units", "5000").unwrap();
    let input = Input::from_bytes(output.as_bytes(), path);
    let replacement = plan_counted(&input, &policy).unwrap().text(&input);
    let replaced = json!({"kind": "tool-result", "toolUseId": "c1", "replacement": replacement});
    let log = [
        use_of("1", Value::Null, "c1"),
        result_of("2", "1", "c1", json!(output)),
        json!({"type": "content-replacement", "sessionId": "s1", "replacements": [replaced]}),
    ];
    let opened = open(&write_log(dir.path(), "s1.jsonl", &log));
    let transcript = opened.transcript();
    assert_eq!(first(transcript, "c1"), replacement);
    let whole = WholeOutput::new(Source::open(&spill).unwrap().view(), Counterpart::Spill, path.to_owned());
    let verifier = Verifier::new(&Catalog::builtin(), "claude-code");
    let verdict = verifier.verify(transcript, call(transcript, "c1"), Some(&whole));
    assert_eq!(verdict, Verdict::Unchecked(NoVerdict::NoPolicy));
}

/// The agent keeps the first 30,000 bytes, without half a character at their end.
#[test]
fn a_stdout_shorter_than_its_size_is_not_the_whole_output() {
    let is_whole = |stdout: &str, size: usize| {
        let dir = tempfile::tempdir().unwrap();
        let notice = "<persisted-output>\nOutput too large (57.5KB). Full output saved to: /x/b1.txt\n";
        let mut log = [use_of("1", Value::Null, "c1"), result_of("2", "1", "c1", json!(notice))];
        log[1]["toolUseResult"] =
            json!({"stdout": stdout, "persistedOutputPath": "/x/b1.txt", "persistedOutputSize": size});
        let opened = open(&write_log(dir.path(), "s1.jsonl", &log));
        whole_display(opened.transcript(), call(opened.transcript(), "c1")).is_some()
    };
    let x = |bytes: usize| "x".repeat(bytes);
    assert!(is_whole(&x(29_996), 29_996));
    assert!(!is_whole(&x(29_997), 29_997), "it may be cut before a long character");
    assert!(!is_whole(&x(20_000), 20_001), "the whole is larger");
}

#[test]
fn a_log_that_grows_is_followed() {
    let dir = tempfile::tempdir().unwrap();
    let log = [use_of("1", Value::Null, "c1")];
    let path = write_log(dir.path(), "s1.jsonl", &log);
    let mut opened = open(&path);
    assert!(call(opened.transcript(), "c1").result.is_none());
    let next = format!("{}\n", result_of("2", "1", "c1", json!("done")));
    let (half, rest) = next.split_at(40);
    let append = |text: &str| {
        use std::io::Write;
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().write_all(text.as_bytes()).unwrap();
    };
    append(half);
    assert!(opened.refresh(&()).unwrap());
    assert_eq!((opened.transcript().unread.unfinished, opened.transcript().unread.broken), (40, 0));
    append(rest);
    assert!(opened.refresh(&()).unwrap());
    assert_eq!(first(opened.transcript(), "c1"), "done");
    assert_eq!(opened.transcript().unread.unfinished, 0);
    assert!(!opened.refresh(&()).unwrap());
}
