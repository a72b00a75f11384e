//! What the model still has of results, by Claude Code's records.

use overspill::internals::session::model::CutState;
use overspill::internals::session::verify::{Verdict, Verifier};
use overspill::preview::Catalog;
use serde_json::{Value, json};

use super::sent::{Log, hash, result, user};
use super::{call, open, write_log};

/// Returns the fates of all calls with a result, in words: `c1 cleared #3 sent`.
fn fates(records: &[Value]) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&write_log(dir.path(), "s1.jsonl", records));
    let with_result =
        opened.transcript().calls.iter().filter_map(|call| Some((&call.id, call.first()?.context)));
    with_result.map(|(id, state)| format!("{id} {} {}", state.describe(), state.evidence.as_str())).collect()
}

/// Three calls with their results, without requests.
fn three() -> Log {
    let mut log = Log::default();
    for id in ["c1", "c2", "c3"] {
        log.calls(id);
        log.result(id, json!("out ".repeat(20)));
    }
    log
}

fn boundary(metadata: Value) -> Value {
    json!({"type": "system", "subtype": "compact_boundary", "uuid": "b", "compactMetadata": metadata})
}

#[test]
fn a_compaction_keeps_recent_results_and_a_rewind_undoes_it() {
    for kept in [
        json!({"preservedMessages": {"uuids": ["uc3", "rc3"]}}),
        json!({"preservedSegment": {"headUuid": "uc3", "tailUuid": "rc3"}}),
    ] {
        let mut log = three();
        log.record(boundary(kept));
        log.calls("c4");
        log.result("c4", json!("four"));
        let summed =
            ["c1 in summary #4 recorded", "c2 in summary #4 recorded", "c3 yes recorded", "c4 yes recorded"];
        assert_eq!(fates(&log.records), summed);
        log.last = Some("rc2".to_owned());
        log.record(json!({"type": "user", "uuid": "p", "message": {"role": "user", "content": "again"}}));
        log.calls("c5");
        log.result("c5", json!("five"));
        let back = [
            "c1 yes recorded",
            "c2 yes recorded",
            "c3 left branch recorded",
            "c4 left branch recorded",
            "c5 yes recorded",
        ];
        assert_eq!(fates(&log.records), back);
    }
}

#[test]
fn server_cleared_results_return_when_a_request_drops_the_edit() {
    let edits = |cleared| json!({"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": cleared}]});
    let mut log = three();
    let mut fates_after = |id: &str, context: Value| {
        log.calls(id);
        log.records.last_mut().unwrap()["message"]["context_management"] = context;
        fates(&log.records)
    };
    let two = ["c1 cleared #4 recorded", "c2 cleared #4 recorded", "c3 yes recorded"];
    assert_eq!(fates_after("c4", edits(2)), two);
    assert_eq!(fates_after("c5", edits(1)), ["c1 cleared #4 recorded", "c2 yes recorded", "c3 yes recorded"]);
    assert_eq!(fates_after("c6", json!(null)), ["c1 yes recorded", "c2 yes recorded", "c3 yes recorded"]);
}

#[test]
fn the_server_clears_none_of_the_results_that_were_taken_back() {
    let edits = json!([{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1}]);
    let retracted = json!({"type": "system", "uuid": "f", "retractedMessageUuids": ["rc1"]});
    let answer = |log: &mut Log, id: &str| {
        log.calls(id);
        log.records.last_mut().unwrap()["message"]["context_management"] = json!({"applied_edits": edits});
    };
    let mut log = three();
    log.record(retracted.clone());
    answer(&mut log, "c4");
    assert_eq!(fates(&log.records)[..2], ["c1 dropped #4 recorded", "c2 cleared #4 recorded"]);
    let mut log = three();
    answer(&mut log, "c4");
    log.record(retracted);
    answer(&mut log, "c5");
    assert_eq!(fates(&log.records)[..2], ["c1 dropped #5 recorded", "c2 cleared #5 recorded"]);
}

#[test]
fn a_result_that_the_agent_cleared_stays_so_when_the_server_clears_no_more() {
    let mut log = three();
    log.record(json!({"type": "system", "subtype": "microcompact_boundary", "uuid": "m",
        "microcompactMetadata": {"compactedToolIds": ["c1"]}}));
    log.calls("c4");
    let edits = json!([{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 2}]);
    log.calls("c5");
    log.records.last_mut().unwrap()["message"]["context_management"] = json!({"applied_edits": edits});
    log.calls("c6");
    assert_eq!(fates(&log.records)[..2], ["c1 cleared #4 recorded", "c2 yes recorded"]);
}

#[test]
fn a_result_is_dropped_that_comes_after_its_call_was_taken_back() {
    let mut log = three();
    log.calls("c4");
    log.record(json!({"type": "system", "uuid": "f", "retractedMessageUuids": ["uc4"]}));
    log.result("c4", json!("late"));
    log.records.last_mut().unwrap()["sourceToolAssistantUUID"] = json!("uc4");
    assert_eq!(fates(&log.records)[2..], ["c3 yes recorded", "c4 dropped #5 recorded"]);
}

#[test]
fn a_replacement_that_is_recorded_twice_is_one() {
    let mut log = Log::default();
    log.calls("c1");
    log.result("c1", json!("out ".repeat(20)));
    let saved = "<persisted-output>\nOutput too large (1KB). Full output saved to: /x/c1.txt\n";
    let replaced = |kind: &str| {
        let one = json!({"kind": kind, "toolUseId": "c1", "replacement": saved});
        json!({"type": "content-replacement", "replacements": [one]})
    };
    log.record(replaced("tool-result"));
    log.calls("c2");
    log.record(replaced("tool-result"));
    log.calls("c3");
    assert_eq!(fates(&log.records), ["c1 yes recorded"]);
    log.record(replaced("image"));
    assert_eq!(fates(&log.records), ["c1 yes recorded"], "not of a result");
}

#[test]
fn server_edits_on_a_left_branch_do_not_affect_others() {
    let edits = |cleared| json!({"applied_edits": [{"type": "clear_tool_uses_20250919", "cleared_tool_uses": cleared}]});
    for on_left_branch in [json!(null), edits(1), edits(3)] {
        let mut log = three();
        let answer = |log: &mut Log, id: &str, context: &Value| {
            log.calls(id);
            log.records.last_mut().unwrap()["message"]["context_management"] = context.clone();
        };
        answer(&mut log, "c4", &edits(2));
        let fork = log.last.clone();
        answer(&mut log, "c5", &on_left_branch);
        log.last = fork;
        answer(&mut log, "c6", &json!(null));
        assert_eq!(fates(&log.records), ["c1 yes recorded", "c2 yes recorded", "c3 yes recorded"]);
    }
}

#[test]
fn a_branch_is_left_at_the_first_request_after_a_rewind() {
    let mut log = Log::default();
    let mut turn = |from: Option<&str>, prompt: &str, calls: &[&str]| {
        log.last = from.map(str::to_owned);
        log.record(json!({"type": "user", "uuid": prompt, "message": {"role": "user", "content": prompt}}));
        for id in calls {
            log.calls(id);
            log.result(id, json!("out"));
        }
    };
    turn(None, "p1", &["c1"]);
    turn(Some("rc1"), "p2", &["c2", "c3"]);
    turn(Some("rc2"), "p3", &["c4"]);
    turn(Some("rc1"), "p4", &["c5"]);
    let dir = tempfile::tempdir().unwrap();
    let opened = open(&write_log(dir.path(), "s1.jsonl", &log.records));
    let since =
        |id: &str| call(opened.transcript(), id).first().unwrap().context.since.map(|since| since.get());
    assert_eq!(["c1", "c2", "c3", "c4", "c5"].map(since), [None, Some(5), Some(4), Some(5), None]);
}

/// A record that several results, here of one call, were replaced together.
fn replacement(uuid: &str, id: &str) -> Value {
    let one = json!({"kind": "tool-result", "toolUseId": id, "replacement": "<persisted-output>\n"});
    json!({"type": "content-replacement", "uuid": uuid, "replacements": [one]})
}

#[test]
fn a_replaced_result_returns_as_its_replacement() {
    let mut log = three();
    log.record(replacement("p", "c1"));
    let replaced = ["c1 edited since #4 recorded", "c2 yes recorded", "c3 yes recorded"];
    assert_eq!(fates(&log.records), replaced);
    let mut cleared = Log { records: log.records.clone(), last: log.last.clone(), request: None };
    log.record(boundary(json!({})));
    log.calls("c4");
    log.last = Some("p".to_owned());
    log.record(json!({"type": "user", "uuid": "q", "message": {"role": "user", "content": "again"}}));
    log.calls("c5");
    let back = ["c1 edited since #5 recorded", "c2 yes recorded", "c3 yes recorded"];
    assert_eq!(fates(&log.records), back, "the person went back over a compaction");

    cleared.calls("c4");
    let edits = json!([{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 2}]);
    cleared.records.last_mut().unwrap()["message"]["context_management"] = json!({"applied_edits": edits});
    let gone = ["c1 cleared #4 recorded", "c2 cleared #4 recorded", "c3 yes recorded"];
    assert_eq!(fates(&cleared.records), gone);
    cleared.calls("c5");
    assert_eq!(fates(&cleared.records), back, "the server clears no more");
}

#[test]
fn a_replacement_on_a_left_branch_does_not_count() {
    let mut log = three();
    log.record(replacement("p", "c1"));
    log.calls("c4");
    log.last = Some("rc3".to_owned());
    log.calls("c5");
    assert_eq!(fates(&log.records)[0], "c1 yes recorded");
    log.record(replacement("q", "c1"));
    log.record(replacement("r", "c1"));
    log.calls("c6");
    log.record(replacement("s", "c1"));
    assert_eq!(
        fates(&log.records)[0],
        "c1 edited since #6 recorded",
        "the first on the living branch counts"
    );
}

#[test]
fn an_undone_compaction_restores_earlier_fates() {
    let cleared = json!({"type": "system", "subtype": "microcompact_boundary", "uuid": "p",
        "microcompactMetadata": {"compactedToolIds": ["c1"]}});
    let retracted = json!({"type": "system", "uuid": "p", "retractedMessageUuids": ["rc1"]});
    let edits = json!([{"type": "clear_tool_uses_20250919", "cleared_tool_uses": 1}]);
    let served = json!({"type": "assistant", "uuid": "p",
        "message": {"role": "assistant", "id": "p", "content": [], "context_management": {"applied_edits": edits}}});
    for (record, fate) in [(cleared, "cleared #5"), (retracted, "dropped #5"), (served, "cleared #6")] {
        let mut log = three();
        log.record(record);
        log.record(boundary(json!({})));
        log.calls("c4");
        log.last = Some("p".to_owned());
        log.record(json!({"type": "user", "uuid": "q", "message": {"role": "user", "content": "again"}}));
        let first = format!("c1 {fate} recorded");
        assert_eq!(fates(&log.records), [&first, "c2 yes recorded", "c3 yes recorded"], "{fate}");
    }
}

#[test]
fn a_cut_on_a_left_branch_does_not_count() {
    let mut log = three();
    let cut = |uuid: &str| {
        json!({"type": "attachment", "uuid": uuid, "attachment":
            {"type": "tool_results_cut", "callIds": ["c1"], "standIn": "[Old tool result content cleared]"}})
    };
    let fork = log.last.clone();
    log.record(cut("a"));
    log.calls("c4");
    log.last = fork;
    log.calls("c5");
    assert_eq!(fates(&log.records)[0], "c1 yes recorded");
    log.record(cut("b"));
    log.calls("c6");
    log.record(cut("d"));
    assert_eq!(fates(&log.records)[0], "c1 cleared #6 recorded", "the first on the living branch counts");
}

#[test]
fn cut_and_retracted_results_and_spans_are_followed() {
    let mut log = three();
    let stand_in = "[Old tool result content cleared]";
    log.record(json!({"type": "attachment", "uuid": "a", "attachment":
        {"type": "tool_results_cut", "callIds": ["c1"], "standIn": stand_in}}));
    log.record(json!({"type": "system", "subtype": "microcompact_boundary", "uuid": "m",
        "microcompactMetadata": {"compactedToolIds": ["c2"]}}));
    log.record(json!({"type": "system", "subtype": "model_refusal_fallback", "uuid": "f",
        "retractedMessageUuids": ["rc3"]}));
    let taken = ["c1 cleared #4 recorded", "c2 cleared #4 recorded", "c3 dropped #4 recorded"];
    assert_eq!(fates(&log.records), taken);

    let mut log = three();
    let call = json!({"type": "tool_use", "id": "c4", "name": "mcp__claude_ai__x", "input": {}});
    log.record(json!({"type": "assistant", "uuid": "uc4", "message": {"id": "m4", "content": [call]}}));
    log.result("c4", json!("out ".repeat(20)));
    log.record(json!({"type": "attachment", "uuid": "a", "attachment": {"type": "tool_results_cut",
        "callIds": ["c1", "c4"], "standIn": "[Result removed.]", "cause": "withdrawn_by_tool"}}));
    let withdrawn = ["c1 yes recorded", "c2 yes recorded", "c3 yes recorded", "c4 cleared #5 recorded"];
    assert_eq!(fates(&log.records), withdrawn, "only some tools withdraw results");

    let mut log = three();
    log.last = Some("rc1".to_owned());
    log.record(json!({"type": "user", "uuid": "s", "replacesSpan": true,
        "message": {"role": "user", "content": "summary"}}));
    log.calls("c4");
    let summed = ["c1 yes recorded", "c2 in summary #4 recorded", "c3 in summary #4 recorded"];
    assert_eq!(fates(&log.records), summed);

    let mut log = three();
    log.last = None;
    log.record(json!({"type": "user", "uuid": "s", "replacesSpan": true,
        "message": {"role": "user", "content": "summary"}}));
    log.calls("c4");
    assert_eq!(fates(&log.records), ["c1", "c2", "c3"].map(|id| format!("{id} in summary #4 recorded")));
}

#[test]
fn a_record_that_cannot_be_read_leaves_no_branch() {
    let mut log = three();
    log.record(json!({"type": "attachment", "uuid": "a", "attachment": {"type": "x"}}));
    let gap = log.records.len() - 1;
    log.calls("c4");
    log.result("c4", json!("four"));
    let dir = tempfile::tempdir().unwrap();
    let lines = log.records.iter().map(|record| format!("{record}\n"));
    let cut_off =
        lines.enumerate().map(|(at, line)| if at == gap { "{\"type\":\n".to_owned() } else { line });
    std::fs::write(dir.path().join("s1.jsonl"), cut_off.collect::<String>()).unwrap();
    let opened = open(&dir.path().join("s1.jsonl"));
    let is_whole = |id: &&str| call(opened.transcript(), id).first().unwrap().context.is_whole();
    assert!(["c1", "c2", "c3", "c4"].iter().all(is_whole));
}

#[test]
fn newer_records_count_more_than_a_leaf_that_was_named_before_them() {
    let mut log = three();
    let named = json!({"type": "last-prompt", "leafUuid": log.last});
    log.records.push(named.clone());
    log.last = Some("rc1".to_owned());
    log.calls("c4");
    log.result("c4", json!("four"));
    let back = ["c1 yes recorded", "c2 left branch recorded", "c3 left branch recorded", "c4 yes recorded"];
    assert_eq!(fates(&log.records), back);
    log.records.push(named);
    let again = ["c1 yes recorded", "c2 yes recorded", "c3 yes recorded", "c4 left branch recorded"];
    assert_eq!(fates(&log.records), again, "named after them");
}

#[test]
fn recorded_requests_show_what_each_result_became() {
    let mut log = Log::default();
    let mut messages = Vec::new();
    for id in ["c1", "c2", "c3"] {
        let new = messages.len().saturating_sub(2)..messages.len();
        log.request(new.start, &messages[new]);
        messages.extend([hash(&log.calls(id)), hash(&log.result(id, json!("out")))]);
    }
    log.request(4, &messages[4..]);
    let saved = "<persisted-output>Tool result saved to: /x\n\nUse Read to view</persisted-output>";
    let cut = log.blob(&user(&[result("c1", json!(saved))]));
    let reminded = log.blob(&user(&[result("c2", json!("out\n\n<system-reminder>\nx\n</system-reminder>"))]));
    log.request(1, &[&[cut, messages[2].clone(), reminded], &messages[4..]].concat());
    assert_eq!(fates(&log.records), ["c1 edited since #5 sent", "c2 yes sent", "c3 yes sent"]);
    // A process that takes the session up begins a list anew.
    log.request = None;
    log.request(0, &messages);
    assert_eq!(fates(&log.records), ["c1 yes sent", "c2 yes sent", "c3 yes sent"]);
    log.record(boundary(json!({"preservedMessages": {"uuids": ["uc3", "rc3"]}})));
    log.request = None;
    log.request(0, &messages[4..]);
    assert_eq!(fates(&log.records), ["c1 in summary #7 sent", "c2 in summary #7 sent", "c3 yes sent"]);
}

#[test]
fn a_request_after_an_undone_compaction_shows_earlier_fates() {
    let mut log = Log::default();
    let first = [hash(&log.calls("c1")), hash(&log.result("c1", json!("out")))];
    log.request(0, &first);
    let saved = "<persisted-output>Tool result saved to: /x\n\nUse Read to view</persisted-output>";
    let cut = log.blob(&user(&[result("c1", json!(saved))]));
    let second = [hash(&log.calls("c2")), hash(&log.result("c2", json!("out")))];
    log.request(1, &[&[cut], &second[..]].concat());
    assert_eq!(fates(&log.records), ["c1 edited since #3 sent", "c2 yes sent"]);
    log.record(boundary(json!({})));
    log.request = None;
    log.request(0, &[]);
    log.calls("c3");
    log.last = Some("rc1".to_owned());
    log.record(json!({"type": "user", "uuid": "p", "message": {"role": "user", "content": "again"}}));
    log.request = None;
    log.request(0, &first);
    assert_eq!(fates(&log.records), ["c1 yes sent", "c2 left branch sent"]);
}

#[test]
fn a_request_brings_back_what_it_carries_again_and_not_what_it_lacks() {
    let begin = || {
        let mut log = Log::default();
        let first = [hash(&log.calls("c1")), hash(&log.result("c1", json!("out")))];
        log.request(0, &first);
        let second = [hash(&log.calls("c2")), hash(&log.result("c2", json!("out")))];
        let cut = log.blob(&user(&[result("c1", json!("[Old tool result content cleared]"))]));
        log.request(1, &[&[cut], &second[..]].concat());
        assert_eq!(fates(&log.records), ["c1 cleared #3 sent", "c2 yes sent"]);
        log.request = None;
        (log, first, second)
    };
    let (mut log, _, second) = begin();
    log.record(json!({"type": "system", "uuid": "f", "retractedMessageUuids": ["rc1"]}));
    log.request(0, &second);
    assert_eq!(fates(&log.records), ["c1 dropped #4 recorded", "c2 yes sent"], "taken back");
    let (mut log, first, _) = begin();
    log.record(boundary(json!({"preservedMessages": {"uuids": ["uc1", "rc1"]}})));
    log.request(0, &first);
    assert_eq!(fates(&log.records), ["c1 yes sent", "c2 in summary #4 sent"], "kept");
    let (mut log, _, second) = begin();
    log.record(boundary(json!({"preservedMessages": {"uuids": ["uc2", "rc2"]}})));
    log.request(0, &second);
    assert_eq!(fates(&log.records), ["c1 in summary #4 sent", "c2 yes sent"]);
}

#[test]
fn only_what_the_last_request_shows_is_known_from_requests() {
    let out = json!("out ".repeat(20));
    let begin = || {
        let mut log = Log::default();
        let mut messages = Vec::new();
        for id in ["c1", "c2"] {
            messages.extend([hash(&log.calls(id)), hash(&log.result(id, out.clone()))]);
            log.request(messages.len() - 2, &messages[messages.len() - 2..]);
        }
        (log, messages)
    };
    let stand_in = "[Old tool result content cleared]";
    let unseen = hash(&user(&[result("c1", json!(stand_in))]));
    let cut = json!({"type": "attachment", "uuid": "a", "attachment":
        {"type": "tool_results_cut", "callIds": ["c1"], "standIn": stand_in}});

    let (mut log, messages) = begin();
    log.calls("c3");
    log.result("c3", out.clone());
    assert_eq!(fates(&log.records), ["c1 yes sent", "c2 yes sent", "c3 yes recorded"], "not sent yet");

    let (mut other, _) = begin();
    other.request(1, &[std::slice::from_ref(&unseen), &messages[2..]].concat());
    assert_eq!(fates(&other.records), ["c1 yes recorded", "c2 yes sent"], "another message in its place");

    let (mut log, _) = begin();
    log.record(cut);
    let mut whole =
        Log { records: log.records.clone(), last: log.last.clone(), request: log.request.clone() };
    whole.request(4, &[]);
    assert_eq!(fates(&whole.records), ["c1 yes sent", "c2 yes sent"], "it is in the request as it was");
    log.request(1, &[&[unseen], &messages[2..]].concat());
    assert_eq!(fates(&log.records), ["c1 cleared #4 recorded", "c2 yes sent"]);
    log.request = None;
    log.request(0, &messages);
    assert_eq!(fates(&log.records), ["c1 yes sent", "c2 yes sent"], "a new process");
}

#[test]
fn the_cut_middle_of_a_failed_command_is_lost_and_verified() {
    let verifier = Verifier::new(&Catalog::builtin(), "claude-code");
    let cut = |head: usize| {
        let (head, tail) = ("a".repeat(head - 12), "b".repeat(5000));
        let mut log = Log::default();
        log.calls("c1");
        log.result(
            "c1",
            json!(format!("Exit code 7\n{head}\n\n... [20012 characters truncated] ...\n\n{tail}")),
        );
        log.records.last_mut().unwrap()["message"]["content"][0]["is_error"] = json!(true);
        let dir = tempfile::tempdir().unwrap();
        let opened = open(&write_log(dir.path(), "s1.jsonl", &log.records));
        let call = call(opened.transcript(), "c1");
        (call.cut, verifier.verify(opened.transcript(), call, None))
    };
    let (state, verdict) = cut(5000);
    assert_eq!(state, CutState::NoSpill);
    let is_equal = matches!(&verdict, Verdict::Equal { policy, .. } if policy == "claude-code/bash-failed");
    assert!(is_equal, "{verdict:?}");
    assert_eq!(cut(4999).0, CutState::NoSpill, "a surrogate pair would have been split");
    assert_eq!([cut(4998).0, cut(5001).0], [CutState::No; 2]);
}

#[test]
fn a_sentence_that_the_records_name_stands_for_a_cleared_result() {
    let mut log = Log::default();
    let first = [hash(&log.calls("c1")), hash(&log.result("c1", json!("out ".repeat(20))))];
    log.request(0, &first);
    let stand_in = "[An earlier result was here]";
    log.record(json!({"type": "attachment", "uuid": "a", "attachment":
        {"type": "tool_results_cut", "callIds": ["c1"], "standIn": stand_in}}));
    let cut = log.blob(&user(&[result("c1", json!(stand_in))]));
    log.request(1, &[cut]);
    assert_eq!(fates(&log.records), ["c1 cleared #3 sent"]);
}

#[test]
fn the_end_of_a_failed_commands_output_may_be_gone_without_a_word() {
    let cut = |version: &str, printed: usize, is_error: bool| {
        let mut log = Log::default();
        log.calls("c1");
        log.result("c1", json!(format!("Exit code 1\n{}", "漢".repeat(printed))));
        let record = log.records.last_mut().unwrap();
        record["message"]["content"][0]["is_error"] = json!(is_error);
        record["version"] = json!(version);
        let dir = tempfile::tempdir().unwrap();
        call(open(&write_log(dir.path(), "s1.jsonl", &log.records)).transcript(), "c1").cut
    };
    assert_eq!(cut("2.1.330", 9_999, true), CutState::Unknown);
    assert_eq!([cut("2.1.330", 9_998, true), cut("2.1.330", 9_999, false)], [CutState::No; 2]);
    assert_eq!(cut("2.1.20", 10_000, true), CutState::No);
}

#[test]
fn the_middle_of_a_failed_result_of_an_mcp_server_is_lost() {
    let cut = |tool: &str, head: usize, is_error: bool| {
        let (head, tail) = ("a".repeat(head), "b".repeat(5000));
        let mut log = Log::default();
        log.calls("c1");
        log.records[0]["message"]["content"][0]["name"] = json!(tool);
        log.result("c1", json!(format!("{head}\n\n... [130 characters truncated] ...\n\n{tail}")));
        log.records.last_mut().unwrap()["message"]["content"][0]["is_error"] = json!(is_error);
        let dir = tempfile::tempdir().unwrap();
        let opened = open(&write_log(dir.path(), "s1.jsonl", &log.records));
        call(opened.transcript(), "c1").cut
    };
    assert_eq!([4999, 5000].map(|head| cut("mcp__a__b", head, true)), [CutState::NoSpill; 2]);
    assert_eq!([12, 5001].map(|head| cut("mcp__a__b", head, true)), [CutState::No; 2], "a quoted notice");
    assert_eq!(cut("mcp__a__b", 5000, false), CutState::No, "of one that did not fail");
}
