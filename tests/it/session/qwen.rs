//! Qwen Code's records: what a compression keeps, turns that were taken back, and the rules by which results are cleared.

use overspill::internals::session::fate::FateEvidence;
use overspill::internals::session::model::CutState;
use overspill::internals::session::transcript::Transcript;
use serde_json::{Value, json};

use super::{call, is_read_whole, open, write_log};

const SECOND: i64 = 1_795_437_824;

/// A conversation, record by record, each after the one before.
#[derive(Default)]
struct Chat {
    records: Vec<Value>,
    now: i64,
    tokens: u64,
}

impl Chat {
    fn add(&mut self, kind: &str, more: Value) -> &mut Self {
        let parent = self.records.last().map(|record| record["uuid"].clone());
        let at = jiff::Timestamp::from_second(SECOND + self.now).unwrap().to_string();
        let mut record = json!({
            "uuid": format!("u{}", self.records.len()), "parentUuid": parent, "sessionId": "s",
            "timestamp": at, "type": kind, "version": "0.24.4", "message": {"parts": []},
        });
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.records.push(record);
        self.now += 1;
        self
    }

    fn prompt(&mut self) -> &mut Self {
        self.add("user", json!({"message": {"parts": [{"text": "go"}]}}))
    }

    /// An answer to a request of this many tokens, with a call of a tool, and its result of so many units.
    fn called(&mut self, id: &str, tool: &str, units: usize) -> &mut Self {
        self.answer(id, tool, json!({}));
        self.got(id, tool, json!({"output": "x".repeat(units)}))
    }

    fn answer(&mut self, id: &str, tool: &str, args: Value) -> &mut Self {
        let tokens = self.tokens;
        let part = json!({"functionCall": {"id": id, "name": tool, "args": args}});
        self.add(
            "assistant",
            json!({"message": {"parts": [part]}, "usageMetadata": {"promptTokenCount": tokens}}),
        )
    }

    fn got(&mut self, id: &str, tool: &str, response: Value) -> &mut Self {
        let part = json!({"functionResponse": {"id": id, "name": tool, "response": response}});
        self.add("tool_result", json!({"message": {"parts": [part]}}))
    }

    fn look(&self, look: impl Fn(&Transcript)) {
        let dir = tempfile::tempdir().unwrap();
        let opened = open(&write_log(dir.path(), ".qwen/projects/-p/chats/s.jsonl", &self.records));
        assert!(is_read_whole(opened.transcript()), "{:?}", opened.transcript().unread);
        look(opened.transcript());
    }

    fn states(&self) -> Vec<String> {
        let mut found = Vec::new();
        let dir = tempfile::tempdir().unwrap();
        let opened = open(&write_log(dir.path(), ".qwen/projects/-p/chats/s.jsonl", &self.records));
        for call in &opened.transcript().calls {
            found.extend(call.first().map(|first| first.context.describe()));
        }
        found
    }
}

#[test]
fn a_compression_keeps_what_it_holds() {
    let kept = |ids: &[(&str, &str)]| {
        let parts = ids.iter().map(|(id, text)| {
            json!({"functionResponse": {"id": id, "name": "glob", "response": {"output": text}}})
        });
        let history = [json!({"parts": [{"text": "summary"}]}), json!({"parts": parts.collect::<Vec<_>>()})];
        json!({"subtype": "chat_compression", "systemPayload": {"compressedHistory": history}})
    };
    let mut chat = Chat::default();
    chat.prompt().called("a", "glob", 9).called("b", "glob", 9).called("c", "glob", 9);
    chat.add("system", kept(&[("b", "[Old tool result content cleared]"), ("c", "xxxxxxxxx")]));
    chat.called("d", "glob", 9);
    assert_eq!(chat.states(), ["in summary #4", "cleared #4", "yes", "yes"]);
    chat.add("system", json!({"subtype": "chat_compression", "systemPayload": {"compressedHistory": "?"}}));
    assert_eq!(chat.states(), ["in summary #4", "in summary #5", "in summary #5", "in summary #5"]);
    // If the session was resumed, what comes then is left out, up to one that can be read.
    chat.called("e", "glob", 9);
    assert_eq!(chat.states()[4], "dropped #6");
    chat.look(|transcript| {
        let context = call(transcript, "e").first().unwrap().context;
        assert_eq!(context.evidence, FateEvidence::Unknown);
    });
    chat.add("system", kept(&[])).called("f", "glob", 9);
    assert_eq!(chat.states()[4..], ["dropped #6", "yes"]);
}

#[test]
fn a_call_with_an_id_that_returns_is_another_one() {
    let kept = json!({"functionResponse": {"id": "x", "name": "glob", "response": {"output": "xxxxxxxxx"}}});
    let history = [json!({"parts": [{"text": "summary"}]}), json!({"parts": [kept]})];
    let mut chat = Chat::default();
    chat.prompt().called("x", "glob", 8).called("x", "glob", 9);
    chat.add(
        "system",
        json!({"subtype": "chat_compression", "systemPayload": {"compressedHistory": history}}),
    );
    chat.called("x", "glob", 10);
    assert_eq!(chat.states(), ["in summary #3", "yes", "yes"]);
    chat.look(|transcript| {
        let ids: Vec<_> = transcript.calls.iter().map(|call| &*call.id).collect();
        assert_eq!(ids, ["x", "x#2", "x#3"]);
    });
}

#[test]
fn a_rewind_record_takes_back_turns_off_the_tree() {
    let mut chat = Chat::default();
    chat.prompt().called("a", "glob", 9).prompt().called("b", "glob", 9);
    let back = chat.records[2]["uuid"].clone();
    chat.add(
        "system",
        json!({"subtype": "rewind", "parentUuid": back, "systemPayload": {"truncatedCount": 3}}),
    );
    chat.prompt().called("c", "glob", 9);
    assert_eq!(chat.states(), ["yes", "rewound #3", "yes"]);
    // Without such a record it is a branch that was left.
    chat.add("user", json!({"parentUuid": back}));
    assert_eq!(chat.states(), ["yes", "rewound #3", "left branch"]);
}

#[test]
fn each_rewind_takes_back_turns_since_the_previous_one() {
    let mut chat = Chat::default();
    chat.prompt().called("a", "glob", 9);
    let back = chat.records.last().unwrap()["uuid"].clone();
    let rewind = json!({"subtype": "rewind", "parentUuid": back, "systemPayload": {"truncatedCount": 3}});
    chat.prompt().called("b", "glob", 9).add("system", rewind.clone());
    chat.prompt().called("c", "glob", 9).add("system", rewind);
    chat.prompt().called("d", "glob", 9);
    assert_eq!(chat.states(), ["yes", "rewound #3", "rewound #4", "yes"]);
}

#[test]
fn the_oldest_results_are_cleared_when_all_are_too_large() {
    let mut chat = Chat::default();
    chat.prompt();
    for id in ["a", "b", "c", "d", "e", "f", "g", "h"] {
        chat.called(id, "run_shell_command", 62_500);
    }
    chat.answer("i", "todo_write", json!({}));
    assert_eq!(chat.states(), ["yes"; 8], "500,000 are not too many");
    chat.got("i", "todo_write", json!({"output": "x".repeat(100_000)}));
    chat.called("j", "read_file", 1);
    chat.answer("k", "glob", json!({})).got("k", "glob", json!({"error": "x".repeat(900)}));
    // The newest five of those that can be cleared, and the one that no request carried yet, are not.
    let states = chat.states();
    let cleared = "cleared #11".to_owned();
    assert_eq!(states[..4], [cleared.clone(), cleared.clone(), cleared, "yes".to_owned()]);
    assert!(states[3..].iter().all(|state| state == "yes"), "{states:?}");
    chat.look(|transcript| {
        let evidence = transcript.calls.iter().filter_map(|call| Some(call.first()?.context.evidence));
        assert!(evidence.into_iter().all(|evidence| evidence == FateEvidence::ByRule));
    });
}

#[test]
fn a_resumed_session_begins_with_whole_results() {
    let begun = |tokens: u64| {
        let mut chat = Chat { tokens: 100_000, ..Chat::default() };
        chat.prompt();
        for n in 0..9 {
            chat.called(&n.to_string(), "glob", 60_000);
        }
        // Of 540,000 units three results are cleared: five others are the newest, and one is pending.
        chat.called("9", "glob", 1).prompt();
        chat.tokens = tokens;
        chat.called("10", "glob", 1);
        chat.states().iter().filter(|state| **state != "yes").count()
    };
    assert_eq!(begun(100_000), 3, "it went on");
    // Anew, nothing is pending: two more are cleared, so that 240,000 units are left.
    assert_eq!(begun(70_000), 5, "the request is smaller by two results");
}

#[test]
fn after_an_hour_all_but_the_newest_are_cleared() {
    let paused = |minutes: i64, tokens: u64| {
        let mut chat = Chat { tokens: 20_000, ..Chat::default() };
        chat.prompt();
        for n in 0..8 {
            chat.called(&n.to_string(), "glob", 4000);
        }
        chat.answer("8", "none", json!({}));
        chat.now += minutes * 60;
        chat.tokens = tokens;
        chat.prompt().called("9", "glob", 1);
        chat.states().iter().filter(|state| *state == "cleared #10").count()
    };
    assert_eq!(paused(59, 20_000), 0);
    assert_eq!(paused(61, 17_000), 3);
    assert_eq!(paused(61, 20_000), 0, "a session that was resumed was not idle");
}

/// Where the limits are others, or may be, nothing tells what was cleared.
#[test]
fn user_limits_make_clearing_by_rule_unknown() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    let mut chat = Chat::default();
    chat.prompt();
    for n in 0..10 {
        chat.called(&n.to_string(), "glob", 62_500);
    }
    chat.records[0]["cwd"] = project.to_str().into();
    let log = write_log(dir.path(), "home/.qwen/projects/-p/chats/s.jsonl", &chat.records);
    let first = || call(open(&log).transcript(), "0").first().unwrap().context;
    assert_eq!((first().describe().as_str(), first().evidence), ("cleared #10", FateEvidence::ByRule));
    for file in [dir.path().join("home/.qwen/settings.json"), project.join(".qwen/settings.json")] {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        for (set, evidence) in [
            (r#"{"toolResultsTotalCharsThreshold": 5000000} // more"#, FateEvidence::Unknown),
            (r#"{"toolResultsThresholdMinutes": -1}"#, FateEvidence::Unknown),
            (r#"{"toolResultsNumToKeep": "#, FateEvidence::Unknown),
            (r#"{"thinkingThresholdMinutes": 9}"#, FateEvidence::ByRule),
        ] {
            let text = format!("{{\"context\": {{\"clearContextOnIdle\": {set}\n}}}}");
            std::fs::write(&file, text).unwrap();
            assert_eq!(first().evidence, evidence, "{set}");
            let has = if evidence == FateEvidence::Unknown { "–" } else { "cleared #10" };
            assert_eq!(first().describe(), has, "{set}");
        }
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn omissions_of_qwen_tools_count_as_lost() {
    let told = "Showing lines 1-506 of 4001 total lines.\n\n---\n\nx";
    let mut chat = Chat::default();
    chat.prompt().answer("a", "read_file", json!({})).got("a", "read_file", json!({"output": told}));
    chat.answer("b", "read_file", json!({"limit": 506})).got("b", "read_file", json!({"output": told}));
    chat.answer("c", "glob", json!({})).got(
        "c",
        "glob",
        json!({"output": "a\n---\n[50 files truncated] ..."}),
    );
    let grep = json!({"output": "a\n---\n[4358 lines truncated] ..."});
    chat.answer("e", "grep_search", json!({})).got("e", "grep_search", grep.clone());
    chat.answer("f", "grep_search", json!({"limit": 9})).got("f", "grep_search", grep);
    let end = told.replace("1-506 of 4001", "3001-4001 of 4001");
    chat.answer("d", "read_file", json!({"offset": 3000, "limit": 2000}));
    chat.got("d", "read_file", json!({"output": end}));
    chat.look(|transcript| {
        let cut = |id: &str| call(transcript, id).cut;
        assert_eq!([cut("a"), cut("b"), cut("c")], [CutState::NoSpill, CutState::No, CutState::NoSpill]);
        assert_eq!(cut("d"), CutState::No, "the file ends before the limit");
        assert_eq!([cut("e"), cut("f")], [CutState::NoSpill, CutState::No]);
    });
}

#[test]
fn a_cut_qwen_result_without_a_file_is_lost() {
    let preview = "a\n\n---\n... [CONTENT TRUNCATED] ...\n---\n\nz";
    let note = "\n[Note: Could not save full output to file]";
    let mut chat = Chat::default();
    chat.prompt();
    for (id, tool, text) in [
        ("a", "run_shell_command", format!("{preview}{note}")),
        ("b", "mcp__db", format!("{preview}{note}")),
        ("c", "run_shell_command", format!("{preview}{note}\nmore")),
        ("d", "run_shell_command", format!("a{note}")),
    ] {
        chat.answer(id, tool, json!({})).got(id, tool, json!({"output": text}));
    }
    chat.answer("e", "mcp__db", json!({})).got("e", "mcp__db", json!({"error": format!("{preview}{note}")}));
    chat.look(|transcript| {
        let cut = |id: &str| call(transcript, id).cut;
        assert_eq!(["a", "b", "e"].map(cut), [CutState::NoSpill; 3]);
        assert_eq!(["c", "d"].map(cut), [CutState::No; 2], "quoted words");
    });
}

#[test]
fn every_notice_names_its_file() {
    let mut chat = Chat::default();
    chat.prompt();
    let notices = [
        "Tool output was too large and has been truncated.\nThe full output has been saved to: /x/a b\nTo read…",
        "<persisted-output>\nOutput too large (51.7 KB). Full output saved to: /x/a b\nNote: …",
        "Tool output truncated. Persisted tool-output artifact: /x/a b\n\nx\n...\ny",
        "cat: Tool output truncated. Persisted tool-output artifact: /x/a b\n",
    ];
    for (id, notice) in ["a", "b", "c", "d"].into_iter().zip(notices) {
        chat.answer(id, "mcp__db", json!({})).got(id, "mcp__db", json!({"output": notice}));
    }
    chat.look(|transcript| {
        for id in ["a", "b", "c"] {
            let call = call(transcript, id);
            assert_eq!((call.cut, call.cites[0].path.to_str()), (CutState::Spill, Some("/x/a b")), "{id}");
            assert_eq!(call.has_unmodelled_cut, id != "a", "{id}");
        }
        assert_eq!(call(transcript, "d").cut, CutState::No);
    });
}

#[test]
fn sub_agents_have_logs_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let mut chat = Chat::default();
    chat.prompt().answer("call_1", "agent", json!({}));
    let path = write_log(dir.path(), "chats/s.jsonl", &chat.records);
    let mut side = Chat::default();
    side.prompt().called("call_2", "glob", 3);
    write_log(dir.path(), "subagents/s/agent-code-explorer-call_1.jsonl", &side.records);
    let opened = open(&path);
    let transcript = opened.transcript();
    let thread = transcript.thread(call(transcript, "call_2")).unwrap();
    assert_eq!(&*thread.name, "code-explorer");
    assert_eq!((transcript.calls.len(), call(transcript, "call_1").thread), (2, 0));
}
