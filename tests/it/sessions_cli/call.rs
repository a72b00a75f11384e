//! `sessions`, the calls of one, and `show` of a session or a call.

use std::fs;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{SESSION, claude, result_of, root, use_of, whole};
use crate::common::home::{Home, finish};
use crate::session::documents::{trajectory, write};
use crate::session::sent::{Log, hash, result, user};
use crate::session::write_log;

#[test]
fn a_session_is_listed_with_its_sums() {
    let home = Home::new();
    claude(&home);
    let ran = home.run(&["sessions", "--json"]).ok();
    let session = &ran.json()[0];
    assert_eq!((&session["id"], &session["agent"]), (&SESSION.into(), &"claude-code".into()));
    assert_eq!((&session["agent_version"], &session["project"]), (&"2.1.330".into(), &"/home/u/proj".into()));
    assert_eq!(
        (&session["calls"], &session["cut"], &session["never_saved"]),
        (&3.into(), &1.into(), &0.into())
    );
    assert_eq!(home.run(&["sessions", "--agent", "pi", "--json"]).ok().text(), "[]\n");
    assert_eq!(
        home.run(&["sessions", "--project", "/home/u", "--json"]).ok().json().as_array().unwrap().len(),
        1
    );
    assert_eq!(home.run(&["sessions", "--project", "/home/v", "--json"]).ok().text(), "[]\n");
    let none = |flag, value| home.run(&["sessions", flag, value]).stderr;
    assert!(none("--agent", "pi").contains("no sessions of that kind (1 in all)\n"));
    assert!(none("--project", "nodir").contains("kind (1 in all); there is no directory nodir"));
    assert!(none("--since", "0s").contains("no sessions of that kind (1 in all)\n"));
    home.run(&["sessions", "--agent", "nobody"]).fails(2, &["`nobody`", "claude-code"]);
}

#[test]
fn calls_are_listed_with_what_the_model_got() {
    let home = Home::new();
    let spill = claude(&home);
    let ran = home.run(&["sessions", &SESSION[..4], "--json"]).ok();
    let calls = ran.json();
    let of = |at: usize, key: &str| calls[at][key].clone();
    assert_eq!(of(0, "command"), "seq 1 12000");
    assert_eq!(
        (of(0, "cut"), of(0, "spill_state"), of(0, "verify")),
        ("spill".into(), "here".into(), "equal".into())
    );
    assert_eq!(of(0, "spill"), spill.to_str().unwrap());
    assert_eq!((of(1, "status"), of(1, "exit")), ("failed".into(), 3.into()));
    assert_eq!(
        (of(1, "got_bytes"), of(1, "evidence")),
        ("Exit code 3\nout \u{1b}[31mred".len().into(), "recorded".into())
    );
    assert_eq!(of(2, "command"), "curl -H 'Authorization: Bearer [masked]'");
    let kinds =
        |flag: &str| home.run(&["sessions", SESSION, flag, "--json"]).ok().json().as_array().unwrap().len();
    assert_eq!((kinds("--cut"), kinds("--never-saved"), kinds("--failed"), kinds("--deleted")), (1, 0, 1, 0));
    std::fs::remove_file(spill).unwrap();
    assert_eq!(kinds("--deleted"), 1);
    let text = home.run(&["sessions", SESSION]).ok();
    assert!(text.text().contains("\tdeleted\t") && text.text().lines().count() == 3, "{}", text.text());
}

#[test]
fn a_loss_of_unknown_size_comes_before_known_ones() {
    let home = Home::new();
    claude(&home);
    let log = root(&home).join(format!(".claude/projects/-home-u-proj/{SESSION}.jsonl"));
    let text = fs::read_to_string(&log).unwrap();
    let first: String = text.split_inclusive('\n').take(2).collect();
    let gone = first.replace("c1\"", "c4\"").replace("b12345678", "b87654321");
    fs::write(&log, text + &gone).unwrap();
    let calls = home.run(&["sessions", SESSION, "--sort", "lost", "--json"]).ok().json();
    let ids: Vec<&Value> = calls.as_array().unwrap().iter().map(|call| &call["id"]).collect();
    assert_eq!(ids, ["c4", "c1", "c2", "c3"]);
}

/// Also where the home directory was copied, and the agent sent a reminder after the result.
#[test]
fn all_commands_name_the_same_limit_for_a_result() {
    let home = Home::new();
    let spill = claude(&home);
    let spill = spill.to_str().unwrap();
    let made = home.run(&["preview", "-p", "claude-code/bash", spill]).ok();
    let text = made.text().replace(root(&home).to_str().unwrap(), "/home/u");
    assert_ne!(text, made.text());
    let mut log = Log::default();
    let called = log.calls("c1");
    log.result("c1", json!(text));
    let reminded = format!("{text}\n\n<system-reminder>\nx\n</system-reminder>");
    let blob = log.blob(&user(&[result("c1", json!(reminded))]));
    log.request(0, &[hash(&called), blob]);
    let project = root(&home).join(".claude/projects/-home-u-proj");
    write_log(&project, &format!("{SESSION}.jsonl"), &log.records);
    let call = &home.run(&["sessions", SESSION, "--json"]).ok().json()[0];
    assert_eq!((&call["verify"], &call["evidence"]), (&"equal".into(), &"sent".into()));
    let preview = home.run(&["preview", "--json", spill]).ok().json();
    assert_eq!((&preview["text"], &preview["certainty"]), (&reminded.into(), &"recorded".into()));
    let hit = home.run(&["grep", "--json", "^6000$", spill]).ok().json();
    let said = [&call["cut_by"], &preview["truncated_by"], &hit["lost_by"]];
    assert_eq!(said, [&Value::from("bytes"); 3]);
}

#[test]
fn a_result_of_unknown_completeness_is_not_called_whole() {
    let home = Home::new();
    let known = "{\n  \"returncode\": 0,\n  \"output\": \"x\"\n}";
    let document = trajectory(&[("<output>x</output>", "x", 0), (known, "x", 0)]);
    write(home.at("run.traj.json"), &document);
    let ran = home.run(&["sessions", "run.traj.json"]).ok();
    let cells: Vec<Vec<&str>> =
        ran.text().lines().map(|line| line.split('\t').skip(3).take(3).collect()).collect();
    assert_eq!(cells, [["1 B", "–", "–"], ["38 B", "all", ""]], "size, model got, errors lost");
}

/// Returns the records of Qwen Code for one call.
fn qwen_log() -> Vec<Value> {
    let record = |kind: &str, part: Value| {
        json!({"type": kind, "uuid": kind, "parentUuid": null, "sessionId": "s1", "timestamp": "2026-11-22T10:00:00.000Z",
            "message": {"parts": [part]}})
    };
    let called = json!({"functionCall": {"id": "c1", "name": "glob", "args": {}}});
    let result = json!({"functionResponse": {"id": "c1", "name": "glob", "response": {"output": "x"}}});
    vec![record("assistant", called), record("tool_result", result)]
}

/// Under limits of the user's own, nothing tells what Qwen Code cleared.
#[test]
fn all_commands_agree_on_what_the_model_still_has() {
    let home = Home::new();
    let mut log = qwen_log();
    let agent = home.work().with_file_name("home/.qwen");
    let chat = "projects/-p/chats/s1.jsonl";
    write_log(&agent, chat, &log);
    let told = || {
        let [list, shown] = [["sessions", "s1"], ["show", "c1"]].map(|words| home.run(&words).ok());
        let shown =
            shown.text().lines().find_map(|line| line.strip_prefix("still has   ")).unwrap().to_owned();
        let json = home.run(&["sessions", "s1", "--json"]).ok().json();
        let fate = ["fate", "fate_evidence", "form", "fate_since"].map(|field| json[0][field].clone());
        let one = home.run(&["show", "c1", "--json"]).ok().json();
        assert_eq!(["fate", "fate_evidence", "form", "fate_since"].map(|field| one[field].clone()), fate);
        (list.text().split('\t').nth(6).unwrap().to_owned(), shown, Value::from(fate.to_vec()))
    };
    let three = |a: &str, b: &str, fate: Value| (a.to_owned(), b.to_owned(), fate);
    assert_eq!(told(), three("yes", "yes (by rule)", json!(["in-context", "by-rule", "whole", null])));
    fs::write(agent.join("settings.json"), r#"{"toolResultsNumToKeep": 3}"#).unwrap();
    assert_eq!(told(), three("–", "– (unknown)", json!([null, "unknown", null, null])));
    let payload = json!({"compressedHistory": []});
    let mut summary = log[0].clone();
    summary.as_object_mut().unwrap().extend([
        ("type".to_owned(), "system".into()),
        ("uuid".to_owned(), "summary".into()),
        ("parentUuid".to_owned(), "tool_result".into()),
        ("subtype".to_owned(), "chat_compression".into()),
        ("systemPayload".to_owned(), payload),
    ]);
    log[1]["parentUuid"] = "assistant".into();
    log.push(summary);
    write_log(&agent, chat, &log);
    let fate = json!(["compacted", "recorded", "summary", 2]);
    assert_eq!(told(), three("in summary #2", "in summary at request 2", fate));
}

/// The settings lie in the home directory, wherever the logs are.
#[test]
fn user_limits_apply_to_logs_in_another_directory() {
    let home = Home::new();
    write_log(&home.at("runtime"), "projects/-p/chats/s1.jsonl", &qwen_log());
    let evidence = || {
        let mut command = home.command(&["sessions", "s1", "--json"]);
        let ran = finish(command.env("QWEN_RUNTIME_DIR", home.at("runtime")).spawn().unwrap()).ok();
        ran.json()[0]["fate_evidence"].clone()
    };
    assert_eq!(evidence(), "by-rule");
    let settings = home.work().with_file_name("home/.qwen/settings.json");
    write(
        settings,
        &json!({"context": {"clearContextOnIdle": {"toolResultsTotalCharsThreshold": 5_000_000}}}),
    );
    assert_eq!(evidence(), "unknown");
}

/// By which rules a sub-agent's results are cleared is not known.
#[test]
fn the_context_of_a_qwen_code_sub_agent_is_unknown() {
    let home = Home::new();
    let record = |kind: &str, part: Value| {
        json!({"type": kind, "uuid": kind, "parentUuid": null, "sessionId": "s1", "timestamp": "2026-11-22T10:00:00.000Z",
            "message": {"parts": [part]}})
    };
    let log = |id: &str| {
        [
            record("assistant", json!({"functionCall": {"id": id, "name": "glob", "args": {}}})),
            record(
                "tool_result",
                json!({"functionResponse": {"id": id, "name": "glob", "response": {"output": "x"}}}),
            ),
        ]
    };
    let agent = home.work().with_file_name("home/.qwen");
    write_log(&agent, "projects/-p/chats/s1.jsonl", &log("c1"));
    write_log(&agent, "projects/-p/subagents/s1/agent-explorer-c1.jsonl", &log("c2"));
    let calls = home.run(&["sessions", "s1", "--json"]).ok().json();
    let evidence = |at: usize| (&calls[at]["thread"], &calls[at]["fate_evidence"]);
    assert_eq!(evidence(0), (&"main".into(), &"by-rule".into()));
    assert_eq!(evidence(1), (&"explorer".into(), &"unknown".into()));
}

#[test]
fn a_text_of_a_call_is_printed_byte_for_byte() {
    let home = Home::new();
    claude(&home);
    assert_eq!(home.run(&["show", "c2", "--text"]).ok().text(), "Exit code 3\nout \u{1b}[31mred");
    assert_eq!(home.run(&["show", "c1", "--text=spill"]).ok().text(), whole());
    assert_eq!(
        home.run(&["show", &format!("{SESSION}:c3"), "--text"]).ok().text(),
        "token sk-abcdefghijklmnop1234"
    );
    let masked = home.run(&["show", "c3", "--json", "--text"]).ok().json();
    assert_eq!(masked["text"], "token [masked]");
    home.run(&["show", "nope", "--text"]).fails(1, &["nope: no such file or id", "overspill sessions"]);
    home.run(&["show", "c2", "--text=sent"]).fails(1, &["--text=recorded"]);
    home.run(&["show", "c2", "--text=display"]).fails(1, &["no copy"]);
    home.run(&["show", "c2", "--text=spill"]).fails(1, &["no spill"]);
}

#[test]
fn an_id_in_two_sessions_is_ambiguous() {
    let home = Home::new();
    claude(&home);
    let dir = root(&home).join(".claude/projects/-home-u-proj");
    let text = std::fs::read_to_string(dir.join(format!("{SESSION}.jsonl"))).unwrap();
    std::fs::write(dir.join("99999999-copy.jsonl"), text.replace("[31mred", "[31mother")).unwrap();
    home.run(&["show", "c2", "--text"]).fails(2, &[&format!("{SESSION}:c2"), "99999999-copy:c2"]);
}

#[test]
fn a_call_copied_by_a_fork_is_shown_once() {
    let home = Home::new();
    claude(&home);
    let dir = root(&home).join(".claude/projects/-home-u-proj");
    let text = std::fs::read_to_string(dir.join(format!("{SESSION}.jsonl"))).unwrap();
    let own =
        [use_of("c4", "ls"), result_of("c4", "a\n", false)].map(|record| format!("{record}\n")).concat();
    let fork = "99999999-2222-3333-4444-555555555555";
    std::fs::write(dir.join(format!("{fork}.jsonl")), format!("{text}{own}").replace(SESSION, fork)).unwrap();
    let ran = home.run(&["show", "c2", "--text"]);
    assert_eq!((ran.status, ran.text()), (0, "Exit code 3\nout \u{1b}[31mred"));
    assert!(ran.stderr.contains("this call is also in 1 session"), "{}", ran.stderr);
    home.run(&["show", "c4", "--text"]).ok();
    let calls = home.run(&["sessions", fork]).ok();
    let copied = calls.text().lines().filter(|line| line.contains("also in 1 session")).count();
    assert_eq!((calls.text().lines().count(), copied), (4, 3), "{}", calls.text());
    let calls = home.run(&["sessions", fork, "--json"]).ok().json();
    let also_in: Vec<_> = calls.as_array().unwrap().iter().map(|call| call["also_in"].clone()).collect();
    assert_eq!(also_in, [1, 1, 1, 0]);
    let sessions = home.run(&["sessions", "--json"]).ok().json();
    let counts = sessions.as_array().unwrap().iter().map(|one| [&one["calls"], &one["copied"]]);
    let mut counts: Vec<_> = counts.map(|both| both.map(|count| count.as_u64().unwrap())).collect();
    counts.sort_unstable();
    assert_eq!(counts, [[1, 3], [3, 0]], "a copied call counts once");
    std::fs::write(dir.join(format!("{fork}.jsonl")), text.replace(SESSION, fork)).unwrap();
    let sessions = home.run(&["sessions"]);
    let row = sessions.text().lines().find(|row| row.ends_with(fork)).unwrap_or_default();
    assert!(row.contains("\t–\t–\t") && !row.contains("\t0\t"), "{}", sessions.text());
    let verified = home.run(&["verify", "--json"]).ok().json();
    assert_eq!((verified.as_array().unwrap().len(), &verified[0]["session"]), (1, &SESSION.into()));
}

#[test]
fn a_call_without_a_result_shows_no_figures() {
    let home = Home::new();
    claude(&home);
    let log = root(&home).join(format!(".claude/projects/-home-u-proj/{SESSION}.jsonl"));
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, format!("{text}{}\n", use_of("c4", "sleep 9"))).unwrap();
    let ran = home.run(&["sessions", SESSION]).ok();
    let cells: Vec<&str> = ran.text().lines().last().unwrap().split('\t').skip(3).take(5).collect();
    assert_eq!(cells, ["–", "", "", "", "no result"], "size, model got, errors lost, still has, state");
}

#[test]
fn a_file_anywhere_is_read() {
    let home = Home::new();
    claude(&home);
    let log = root(&home).join(".claude/projects/-home-u-proj").join(format!("{SESSION}.jsonl"));
    let elsewhere = home.at("record.jsonl");
    std::fs::copy(log, &elsewhere).unwrap();
    let ran = home.run(&["sessions", elsewhere.to_str().unwrap(), "--json"]).ok();
    assert_eq!(ran.json().as_array().unwrap().len(), 3);
    let other = home.file("other.txt", "no records\n");
    home.run(&["sessions", other.to_str().unwrap()]).fails(1, &["other.txt", "claude-code"]);
    home.run(&["sessions", "no-such"]).fails(1, &["no-such: no such file or id", "overspill sessions"]);
}

#[test]
fn reports_unknown_records_on_stderr() {
    let home = Home::new();
    claude(&home);
    let log = root(&home).join(".claude/projects/-home-u-proj").join(format!("{SESSION}.jsonl"));
    let text = std::fs::read_to_string(&log).unwrap();
    let more = "{\"type\":\"new-kind\",\"sessionId\":\"x\"}\n{broken\n{\"type\":\"user\",\"half";
    std::fs::write(&log, format!("{text}{more}")).unwrap();
    let ran = home.run(&["sessions", SESSION, "--json"]);
    assert_eq!((ran.status, ran.json().as_array().unwrap().len()), (0, 3));
    assert!(
        ran.stderr.contains("1 record of 1 unknown kind (new-kind ×1), 1 record not readable"),
        "{}",
        ran.stderr
    );
    let made_for = "1 record not readable; the reader was made for 1.0.86 to 2.1.330\n";
    assert!(ran.stderr.contains(made_for) && !ran.stderr.contains("half"), "{}", ran.stderr);
}

#[test]
fn the_sent_text_takes_precedence_over_the_history() {
    let home = Home::new();
    claude(&home);
    let message =
        r#"{"content":[{"content":"Exit code 3\n!","tool_use_id":"c2","type":"tool_result"}],"role":"user"}"#;
    let hash = format!("{:x}", Sha256::digest(message));
    let blob = format!(r#"{{"type":"api-request-blob","hash":"{hash}","message":{message}}}"#);
    let request =
        format!(r#"{{"type":"api-request","id":"r1","params":{{"model":"m"}},"keep":0,"tail":["{hash}"]}}"#);
    let log = root(&home).join(".claude/projects/-home-u-proj").join(format!("{SESSION}.jsonl"));
    let text = std::fs::read_to_string(&log).unwrap();
    std::fs::write(&log, format!("{text}{blob}\n{request}\n")).unwrap();
    for flags in [&["show", "c2", "--text"][..], &["show", "c2", "--text=sent"]] {
        assert_eq!(home.run(flags).ok().text(), "Exit code 3\n!");
    }
    assert_eq!(home.run(&["show", "c2", "--text=recorded"]).ok().text(), "Exit code 3\nout \u{1b}[31mred");
    let carried = home.run(&["show", "c2", "--text=request"]).ok();
    assert_eq!(carried.text(), format!("{{\"messages\":[{message}],\"model\":\"m\"}}\n"));
    home.run(&["show", "c1", "--text=request"]).fails(1, &["no request in the records carried"]);
    let calls = home.run(&["sessions", SESSION, "--json"]).ok().json();
    assert_eq!((&calls[1]["evidence"], &calls[0]["evidence"]), (&"sent".into(), &"recorded".into()));
    assert_eq!(calls[1]["got_sha256"], format!("{:x}", Sha256::digest("Exit code 3\n!")));
    let bytes: u64 = calls.as_array().unwrap().iter().map(|call| call["got_bytes"].as_u64().unwrap()).sum();
    assert_eq!(home.run(&["sessions", "--json"]).ok().json()[0]["got_bytes"], bytes);
    std::fs::write(&log, format!("{text}{}\n{request}\n", blob.replace("3\\n!", "4"))).unwrap();
    let ran = home.run(&["show", "c2", "--text"]);
    assert!(ran.text().ends_with("red") && ran.stderr.contains("as recorded, not as sent"), "{}", ran.stderr);
    home.run(&["show", "c2", "--text=sent"]).fails(1, &["does not have the hash", "--text=recorded"]);
}

#[test]
fn a_call_that_a_codex_fork_replays_counts_once() {
    let home = Home::new();
    let ids = ["01a201cd-0000-7000-8000-000000000001", "01a201cd-0000-7000-8000-000000000002"];
    let meta = |id: &str| json!({"type": "session_meta", "payload": {"id": id, "cwd": "/p", "cli_version": "0.100.0"}});
    let item = |payload: Value| json!({"type": "response_item", "payload": payload});
    let call =
        |id: &str| item(json!({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": id}));
    let output = |id: &str| item(json!({"type": "function_call_output", "call_id": id, "output": "done"}));
    let dir = root(&home).join(".codex/sessions/2026/11/22");
    std::fs::create_dir_all(&dir).unwrap();
    let write = |id: &str, log: &[Value]| {
        let lines: Vec<String> = log.iter().map(|record| format!("{record}\n")).collect();
        std::fs::write(dir.join(format!("rollout-2026-11-22T05-49-57-{id}.jsonl")), lines.concat()).unwrap();
    };
    write(ids[0], &[meta(ids[0]), call("c1"), output("c1")]);
    write(ids[1], &[meta(ids[1]), meta(ids[0]), call("c1"), output("c1"), call("c2"), output("c2")]);
    let sessions = home.run(&["sessions", "--json"]).ok().json();
    let counts: Vec<_> = sessions.as_array().unwrap().iter().map(|one| one["calls"].clone()).collect();
    assert_eq!(counts, [1, 1]);
    let text = home.run(&["sessions", ids[1]]).ok();
    assert_eq!(text.text().matches("also in 1 session").count(), 1, "{}", text.text());
}

/// A newer fork of Codex holds only what is its own, and points at the rest; its origin's calls are listed only there.
#[test]
fn a_codex_fork_that_only_points_at_its_origin_has_its_own_calls() {
    let home = Home::new();
    let ids = ["01a201cd-0000-7000-8000-000000000001", "01a201cd-0000-7000-8000-000000000002"];
    let item = |payload: Value| json!({"type": "response_item", "payload": payload});
    let call =
        |id: &str| item(json!({"type": "function_call", "name": "shell", "arguments": "{}", "call_id": id}));
    let output =
        |id: &str, text: &str| item(json!({"type": "function_call_output", "call_id": id, "output": text}));
    let meta = |id: &str, fork: Value| {
        let mut payload =
            json!({"id": id, "cwd": "/p", "cli_version": "0.169.0", "history_mode": "paginated"});
        payload.as_object_mut().unwrap().extend(fork.as_object().cloned().unwrap_or_default());
        json!({"type": "session_meta", "ordinal": 0, "payload": payload})
    };
    let dir = root(&home).join(".codex/sessions/2026/11/22");
    std::fs::create_dir_all(&dir).unwrap();
    let write = |id: &str, log: &[Value]| {
        let lines: Vec<String> = log.iter().map(|record| format!("{record}\n")).collect();
        std::fs::write(dir.join(format!("rollout-2026-11-22T05-49-57-{id}.jsonl")), lines.concat()).unwrap();
    };
    let base = json!({"thread_id": ids[0], "end_ordinal_exclusive": 3, "end_byte_offset": 400});
    write(ids[0], &[meta(ids[0], json!({})), call("c1"), output("c1", "done")]);
    // It calls again by an id that its origin has, too, and gets something else.
    let fork = meta(ids[1], json!({"forked_from_id": ids[0], "history_base": base}));
    write(ids[1], &[fork, call("c2"), output("c2", "new"), call("c1"), output("c1", "another")]);
    let sessions = home.run(&["sessions", "--json"]).ok().json();
    let mut counts: Vec<_> = sessions.as_array().unwrap().iter().map(|one| one["calls"].clone()).collect();
    counts.sort_by_key(|count| count.as_u64());
    assert_eq!(counts, [1, 2]);
    let calls = home.run(&["sessions", ids[1]]).ok();
    assert!(!calls.text().contains("also in"), "{}", calls.text());
    assert_eq!(home.run(&["show", "c2", "--text"]).ok().text(), "new");
    assert_eq!(home.run(&["show", &format!("{}:c1", ids[0]), "--text"]).ok().text(), "done");
}

/// A fork of pi begins with copies of the records of its origin, of which the first has the same id.
#[test]
fn a_call_copied_by_a_pi_fork_counts_once() {
    let home = Home::new();
    let dir = root(&home).join(".pi/agent/sessions/--p--");
    std::fs::create_dir_all(&dir).unwrap();
    let call = |id: &str, parent: Value, called: &str| {
        json!({"type": "message", "id": id, "parentId": parent, "message": {"role": "assistant",
            "content": [{"type": "toolCall", "id": called, "name": "bash", "arguments": {"command": "make"}}]}})
    };
    let result = |id: &str, parent: &str, called: &str| {
        json!({"type": "message", "id": id, "parentId": parent, "message": {"role": "toolResult", "toolCallId": called,
            "toolName": "bash", "isError": false, "content": [{"type": "text", "text": "done"}]}})
    };
    let shared = [call("a", Value::Null, "c1"), result("b", "a", "c1")];
    let write = |id: &str, first: Value, own: &[Value]| {
        let all = std::iter::once(&first).chain(&shared).chain(own);
        let lines: Vec<String> = all.map(|record| format!("{record}\n")).collect();
        std::fs::write(dir.join(format!("2026-11-22T05-51-41-802Z_{id}.jsonl")), lines.concat()).unwrap();
    };
    let header = |id: &str| json!({"type": "session", "version": 3, "id": id, "timestamp": "2026-11-22T05:51:41Z", "cwd": "/p"});
    write("pi1", header("pi1"), &[]);
    let mut fork = header("pi2");
    fork["parentSession"] = json!(dir.join("2026-11-22T05-51-41-802Z_pi1.jsonl"));
    write("pi2", fork, &[call("c", json!("b"), "c2"), result("d", "c", "c2")]);
    let sessions = home.run(&["sessions", "--json"]).ok().json();
    let counts: Vec<_> = sessions.as_array().unwrap().iter().map(|one| one["calls"].clone()).collect();
    assert_eq!(counts, [1, 1]);
    let calls = home.run(&["sessions", "pi2"]).ok();
    assert_eq!(calls.text().matches("also in 1 session").count(), 1, "{}", calls.text());
}

/// Returns the fields that docs/json.md describes for a command.
fn documented(command: &str) -> Vec<String> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/json.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with(&format!("`{command}`"))).unwrap();
    let names = section.lines().filter_map(|line| Some(line.strip_prefix("* `")?.split_once("`: ")?.0));
    names.flat_map(|names| names.split("`, `")).map(str::to_owned).collect()
}

#[test]
fn every_field_is_documented_and_no_other() {
    let home = Home::new();
    claude(&home);
    let fields = |words: &[&str]| {
        let found = home.run(words).ok().json();
        let object = found.as_array().map_or(&found, |all| &all[0]);
        object.as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    for (words, section) in [
        (&["sessions", "--json"][..], "sessions"),
        (&["sessions", SESSION, "--json"], "sessions SESSION"),
        (&["verify", SESSION, "--json"], "verify"),
    ] {
        assert_eq!(fields(words), documented(section), "{words:?}");
    }
    let mut all = [documented("sessions SESSION"), documented("show SESSION|CALL")].concat();
    let mut found = fields(&["show", "c1", "--json", "--text"]);
    assert_eq!(home.run(&["show", "c1", "--json", "--text"]).ok().json()["version"], 1);
    all.sort();
    found.sort();
    assert_eq!(found, all);
}

#[test]
fn a_unique_id_prefix_names_a_call() {
    let home = Home::new();
    claude(&home);
    let log = root(&home).join(format!(".claude/projects/-home-u-proj/{SESSION}.jsonl"));
    let more =
        ["toolu_01ab", "toolu_02ab"].map(|id| [use_of(id, "echo"), result_of(id, "one", false)]).concat();
    let more: Vec<String> = more.iter().map(|record| format!("{record}\n")).collect();
    std::fs::write(&log, std::fs::read_to_string(&log).unwrap() + &more.concat()).unwrap();
    for id in ["toolu_01", "1111:toolu_01", "toolu_01ab"] {
        assert_eq!(home.run(&["show", id, "--text"]).ok().text(), "one", "{id}");
    }
    home.run(&["show", "toolu_0", "--text"]).fails(2, &["toolu_0 matches 2 calls: toolu_01ab, toolu_02ab"]);
    home.run(&["show", "1111:c", "--text"]).fails(2, &["c matches 3 calls: c1, c2, c3"]);
    home.run(&["show", "toolu_03", "--text"]).fails(1, &["toolu_03: no such file or id"]);
    home.run(&["show", "1111:d", "--text"]).fails(1, &["no call of session 1111 has the id `d`"]);
}

/// Codex saves no file, but a copy for its own screen holds the whole.
#[test]
fn shows_a_share_if_the_records_hold_the_whole_output() {
    let home = Home::new();
    let dir = root(&home).join(".codex/sessions/2026/11/22");
    let id = "01a201cd-d8bb-7e20-a4d6-f051bbc3fae1";
    let payload = |kind: &str, payload: Value| json!({"timestamp": "2026-11-22T05:49:57.508Z", "type": kind, "payload": payload});
    let (first, last) = (&whole()[..5_000], &whole()[55_000..]);
    let got = format!(
        "Chunk ID: 119713\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 15224\nOutput:\n\
         Warning: truncated output (original token count: 15224)\nTotal output lines: 12000\n\n{first}…12501 tokens truncated…{last}"
    );
    let call = json!({"type": "function_call", "name": "exec_command", "arguments": "{\"cmd\": \"seq 1 12000\"}", "call_id": "c1"});
    let item = json!({"type": "CommandExecution", "id": "c1", "aggregated_output": whole(), "exit_code": 0});
    let log = [
        payload("session_meta", json!({"id": id, "cwd": "/home/u/proj", "cli_version": "0.169.0"})),
        payload("response_item", call),
        payload("event_msg", json!({"type": "item_completed", "item": item})),
        payload("response_item", json!({"type": "function_call_output", "call_id": "c1", "output": got})),
    ];
    fs::create_dir_all(&dir).unwrap();
    let lines: String = log.iter().map(|record| format!("{record}\n")).collect();
    fs::write(dir.join(format!("rollout-2026-11-22T05-49-57-{id}.jsonl")), lines).unwrap();
    let table = home.run(&["sessions", id]).ok().text().to_owned();
    assert!(
        table.contains("59.5 KB") && table.contains("\t17%\t"),
        "of its bytes, without the notice: {table}"
    );
    assert!(table.contains("\tin the record\t"), "{table}");
    assert_eq!(home.run(&["sessions", id, "--json"]).ok().json()[0]["cut"], "in-record");
    assert_eq!(home.run(&["sessions", "--json"]).ok().json()[0]["never_saved"], 0);
    let json = home.run(&["preview", "--json", "c1"]).ok().json();
    assert_eq!((json["text"].as_str(), json["total_bytes"].as_u64()), (Some(&*got), Some(60_894)));
    assert_eq!(json["kept_bytes"].as_u64(), Some(10_894));
}

#[test]
fn a_stored_output_of_a_recorded_call_is_previewed_as_it_was_recorded() {
    let home = Home::new();
    let spill = claude(&home);
    let spill = spill.to_str().unwrap();
    let log = root(&home).join(".claude/projects/-home-u-proj").join(format!("{SESSION}.jsonl"));
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replacen(r"\n3\n", r"\nthree\n", 1)).unwrap();
    let recorded = home.run(&["preview", spill]).ok();
    assert_eq!(recorded.text(), home.run(&["show", "c1", "--text"]).ok().text());
    assert!(recorded.text().contains("\nthree\n"));
    assert_eq!(home.run(&["preview", "--json", spill]).ok().json()["certainty"], "recorded");
    let other = home.run(&["preview", "--json", "-p", "claude-code/bash-2026-01", spill]);
    assert_eq!((other.status, other.json()["certainty"].clone()), (0, "would-get".into()));
    fs::remove_file(log).unwrap();
    let made = home.run(&["preview", "--json", spill]).ok().json();
    assert_eq!(made["certainty"], "reconstructed", "no call is known");
}
