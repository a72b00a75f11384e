//! Kimi Code's records: what left the model's context, what is added to a result when it is sent, and the notices of cuts.

use overspill::internals::session::fate::ContextChange;
use overspill::internals::session::list::facts;
use overspill::internals::session::model::CutState;
use overspill::internals::session::transcript::Transcript;
use serde_json::{Value, json};

use super::{call, fate_of, first, is_read_whole, open, sessions_in, write_log};

fn event(event: Value) -> Value {
    json!({"type": "context.append_loop_event", "agentId": "main", "event": event, "time": 1795438056658_u64})
}

fn prompt(kind: &str) -> Value {
    json!({"type": "context.append_message", "message": {"role": "user", "content": [], "origin": {"kind": kind}}})
}

/// A request, the call that answers it, and its result.
fn step(id: &str, tool: &str, result: Value) -> Vec<Value> {
    step_with(id, tool, json!({}), result)
}

fn step_with(id: &str, tool: &str, args: Value, result: Value) -> Vec<Value> {
    vec![
        event(json!({"type": "step.begin", "uuid": id})),
        event(json!({"type": "tool.call", "toolCallId": id, "name": tool, "args": args})),
        event(json!({"type": "tool.result", "toolCallId": id, "result": result})),
        event(json!({"type": "step.end", "uuid": id})),
    ]
}

fn large(id: &str) -> Vec<Value> {
    step(id, "Bash", json!({"output": "x".repeat(400)}))
}

fn change(kind: &str, more: Value) -> Vec<Value> {
    let mut record = json!({"type": kind, "time": 1795438056658_u64});
    record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    vec![record]
}

fn transcript(records: &[Vec<Value>], look: impl Fn(&Transcript)) {
    let dir = tempfile::tempdir().unwrap();
    let head = vec![
        json!({"type": "metadata", "protocol_version": "1.5"}),
        json!({"type": "runtime.set_binding", "agentId": "main"}),
    ];
    let records = [&[head][..], records].concat().concat();
    let opened = open(&write_log(dir.path(), "agents/main/wire.jsonl", &records));
    assert!(is_read_whole(opened.transcript()), "{:?}", opened.transcript().unread);
    look(opened.transcript());
}

/// Returns what became of each call, in few words.
fn states(transcript: &Transcript) -> Vec<String> {
    transcript.calls.iter().map(|call| call.first().unwrap().context.describe()).collect()
}

#[test]
fn a_call_with_an_id_that_returns_is_another_one() {
    let compaction = change("context.apply_compaction", json!({"summary": "s", "keptUserMessageCount": 0}));
    let failed = json!({"output": "no\nCommand failed with exit code: 3.", "isError": true});
    transcript(&[large("Bash:0"), compaction, step("Bash:0", "Bash", failed)], |transcript| {
        let calls: Vec<_> =
            transcript.calls.iter().map(|call| (&*call.id, call.exit, fate_of(call))).collect();
        assert_eq!(
            calls,
            [("Bash:0", None, ContextChange::Compact), ("Bash:0#2", Some(3), ContextChange::Restore)]
        );
    });
}

#[test]
fn the_directory_and_the_title_may_be_beside_the_logs() {
    let home = tempfile::tempdir().unwrap();
    let head = [
        json!({"type": "metadata", "protocol_version": "1.5"}),
        json!({"type": "runtime.set_binding", "agentId": "main"}),
        json!({"type": "turn.prompt", "input": "first words"}),
    ];
    let path = write_log(home.path(), ".kimi-code/sessions/w/s/agents/main/wire.jsonl", &head);
    let facts_of = |state: Value| {
        std::fs::write(home.path().join(".kimi-code/sessions/w/s/state.json"), state.to_string()).unwrap();
        let facts = facts(&sessions_in(home.path(), "kimi-code")[0]).unwrap();
        (facts.cwd.unwrap(), [facts.title, open(&path).transcript().facts.title.clone()].map(Option::unwrap))
    };
    let state = |is_custom: bool| json!({"cwd": "/p", "title": "Mend it", "isCustomTitle": is_custom});
    assert_eq!(facts_of(state(true)), ("/p".to_owned(), ["Mend it", "Mend it"].map(str::to_owned)));
    assert_eq!(facts_of(state(false)).1, ["first words"; 2]);
}

#[test]
fn a_summary_takes_all_results_or_leaves_the_last() {
    let begins = change("full_compaction.begin", json!({}));
    let cancelled = change("full_compaction.cancel", json!({}));
    let three = [vec![prompt("user")], large("a"), large("b"), large("c")].concat();
    let all = change("context.apply_compaction", json!({"compactedCount": 7, "keptUserMessageCount": 1}));
    transcript(&[three.clone(), begins.clone(), all, large("d")], |transcript| {
        assert_eq!(states(transcript), ["in summary #4", "in summary #4", "in summary #4", "yes"]);
    });
    let tail = change("context.apply_compaction", json!({"compactedCount": 5}));
    transcript(&[three.clone(), begins.clone(), tail, large("d")], |transcript| {
        assert_eq!(states(transcript), ["in summary #4", "in summary #4", "yes", "yes"]);
    });
    transcript(&[three, begins, cancelled, large("d")], |transcript| {
        assert_eq!(states(transcript), ["yes"; 4], "a summary that failed takes nothing");
    });
}

#[test]
fn what_was_cleared_is_whole_again_after_a_summary() {
    let four = [vec![prompt("user")], large("a"), large("b"), large("c"), large("d")].concat();
    let clear = change("micro_compaction.apply", json!({"cutoff": 7}));
    let tail = change("context.apply_compaction", json!({"compactedCount": 5}));
    transcript(&[four, clear, large("e"), tail, large("f")], |transcript| {
        assert_eq!(states(transcript), ["in summary #6", "in summary #6", "yes", "yes", "yes", "yes"]);
    });
}

#[test]
fn undo_takes_back_turns_only_since_the_last_summary() {
    let undo = |count: u64| change("context.undo", json!({"count": count}));
    let turn = |id: &str| [vec![prompt("user"), prompt("injection")], large(id)].concat();
    transcript(&[turn("a"), turn("b"), turn("c"), undo(2), turn("d")], |transcript| {
        assert_eq!(states(transcript), ["yes", "rewound #4", "rewound #4", "yes"]);
    });
    let summary = change("context.apply_compaction", json!({"compactedCount": 3, "keptUserMessageCount": 1}));
    transcript(&[turn("a"), summary, turn("b"), undo(2)], |transcript| {
        assert_eq!(states(transcript), ["in summary #2", "yes"], "there is one turn after the summary");
    });
    transcript(&[turn("a"), change("context.clear", json!({})), turn("b")], |transcript| {
        assert_eq!(states(transcript), ["rewound #2", "yes"]);
    });
}

#[test]
fn large_results_among_the_first_messages_were_cleared() {
    let small = step("b", "Bash", json!({"output": "x".repeat(396)}));
    let cutoff = |cutoff: u64| change("micro_compaction.apply", json!({"cutoff": cutoff}));
    let first = [vec![prompt("user")], large("a"), small, large("c")].concat();
    transcript(&[first, cutoff(5), large("d"), cutoff(7)], |transcript| {
        assert_eq!(states(transcript), ["cleared #4", "yes", "cleared #5", "yes"]);
        assert_eq!(fate_of(call(transcript, "a")), ContextChange::Clear);
    });
}

#[test]
fn a_result_is_rendered_as_it_is_sent() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image_url", "image_url": {"url": "data:"}});
    let records = [
        step("mcp", "mcp__fix__rows", json!({"output": "rows", "durationMs": 1500})),
        step("grep", "Grep", json!({"output": "a:1", "durationMs": 2, "note": "<system>n</system>"})),
        step(
            "read",
            "Read",
            json!({"output": [text("<image>"), image, text("</image>")], "durationMs": 2, "note": "N"}),
        ),
        step("blank", "Bash", json!({"output": " \n", "durationMs": 1})),
        step("mark", "Write", json!({"output": "\u{feff}"})),
        step("half", "Bash", json!({"output": "\u{85}", "durationMs": 62.5})),
        step("marked", "Write", json!({"output": "Tool output is empty.\u{feff}"})),
        step("words", "Write", json!({"output": "\nTool output is empty.\n"})),
        step("failed", "Bash", json!({"output": "", "isError": true})),
        step("space", "Write", json!({"output": " ", "isError": true})),
        step("part", "Write", json!({"output": [text("no")], "isError": true})),
    ];
    transcript(&records, |transcript| {
        let failed = "<system>ERROR: Tool execution failed.";
        assert_eq!(first(transcript, "mcp"), "Wall time: 1.500 seconds\nrows");
        assert_eq!(first(transcript, "grep"), "Wall time: 0.002 seconds\na:1\n<system>n</system>");
        assert_eq!(first(transcript, "read"), "<image></image>N", "a note beside parts is one, too");
        let empty = "<system>Tool output is empty.</system>";
        assert_eq!(first(transcript, "blank"), format!("Wall time: 0.001 seconds\n{empty}"));
        assert_eq!(["mark", "marked", "words"].map(|id| first(transcript, id)), [empty; 3]);
        let half = "Wall time: 0.063 seconds\n\u{85}";
        assert_eq!(first(transcript, "half"), half, "blank and rounded as JavaScript does");
        assert_eq!(first(transcript, "failed"), format!("{failed} Tool output is empty.</system>"));
        assert_eq!(first(transcript, "space"), format!("{failed}</system>\n "));
        assert_eq!(first(transcript, "part"), format!("{failed}</system>\nno"));
    });
}

#[test]
fn a_cut_is_known_by_its_notice() {
    let lines = "xxx[...truncated]\n[Per-line truncation occurred; the complete output was saved to a file.\n\
                 output_path: /h/.kimi-code/o.log\nnext_step: Use Read with output_path to page.]";
    let closing =
        "\n\nCommand executed successfully.\ntask_id: b\noutput_size_bytes: 75008\nnext_step: Use it.";
    let note = "<system>Character limit reached. Effective max_chars: 100000. Next Read: {}</system>";
    let read = |id: &str, asked: u32, got: u32| {
        let note =
            note.replace("Character", &format!("{got} lines read from file starting from line 9. Character"));
        step_with(
            id,
            "Read",
            json!({"path": "/x", "line_offset": 9, "n_lines": asked}),
            json!({"output": "9\ta", "note": note}),
        )
    };
    let records = [
        step("bash", "Bash", json!({"output": format!("{lines}{closing}")})),
        step("other", "Grep", json!({"output": lines})),
        step("quoted", "Bash", json!({"output": format!("{lines}\nand more")})),
        step("read", "Read", json!({"output": "1\ta", "note": note})),
        read("window", 300, 300),
        read("less", 500, 300),
        step("glob", "Glob", json!({"output": "a\nShowing matches 1–100 of 150.\n"})),
        step("last", "Glob", json!({"output": "a\nShowing matches 101–150 of 150.\n"})),
    ];
    transcript(&records, |transcript| {
        let cut = |id: &str| call(transcript, id).cut;
        let bash = call(transcript, "bash");
        assert_eq!((bash.cut, bash.cites[0].path.to_str()), (CutState::Spill, Some("/h/.kimi-code/o.log")));
        assert_eq!((bash.cites[0].bytes, call(transcript, "other").cites[0].bytes), (Some(75_008), None));
        assert_eq!([cut("other"), cut("quoted")], [CutState::Spill, CutState::No]);
        assert_eq!([cut("window"), cut("less")], [CutState::No, CutState::NoSpill], "by what was asked for");
        assert_eq!(
            [cut("read"), cut("glob"), cut("last")],
            [CutState::NoSpill, CutState::NoSpill, CutState::No]
        );
    });
}

#[test]
fn reads_the_exit_status_before_a_cut_notice() {
    let bash = |id: &str, output: &str, is_error: bool| {
        step(id, "Bash", json!({"output": format!("a\n{output}"), "isError": is_error}))
    };
    let status = "Command failed with exit code: 3.";
    let task = "task_id: b\noutput_size_bytes: 9\nnext_step: Use TaskOutput(task_id=\"b\") to query it.";
    let lines = "[Per-line truncation occurred; the complete output was saved to a file.\noutput_path: /o.log\n\
                 next_step: Use Read with output_path to page.]";
    let records = [
        bash("plain", status, true),
        bash("cut", &format!("{status}\n\n{task}"), true),
        bash("full", &format!("b\n\n{status}\n{task}"), true),
        bash("lines", &format!("{status}\n{lines}\n\n{task}"), true),
        bash("printed", &format!("{status}\nb"), true),
        bash("well", status, false),
    ];
    transcript(&records, |transcript| {
        let exit = |id: &str| call(transcript, id).exit;
        assert_eq!(["plain", "cut", "full", "lines"].map(exit), [Some(3); 4]);
        assert_eq!(["printed", "well"].map(exit), [None; 2]);
    });
}
