//! Ids of outputs, sessions and calls: what each command does with each kind.

use std::fs;

use serde_json::{Value, json};

use super::{SESSION, claude, result_of, root, use_of, whole};
use crate::common::home::Home;
use crate::session::documents::{trajectory, write};
use crate::session::write_log;

/// What the model got for the call without a spill.
const RED: &str = "Exit code 3\nout \u{1b}[31mred";

/// The id of the output that the first call names.
const OUTPUT: &str = "b12345678";

#[test]
fn without_a_terminal_ids_print_calls_or_text() {
    let home = Home::new();
    claude(&home);
    assert_eq!(home.run(&["1111"]).ok().text(), home.run(&["sessions", SESSION]).ok().text());
    assert_eq!(home.run(&["c2"]).ok().text(), RED);
    assert_eq!(home.run(&["1111:c2"]).ok().text(), RED);
    assert_eq!(home.run(&[OUTPUT]).ok().text(), whole());
    home.run(&["-p", "pi/bash", "c2"]).fails(2, &["--policy has no effect here"]);
}

#[test]
fn previews_a_call_from_its_record_its_spill_or_its_text() {
    let home = Home::new();
    let spill = claude(&home);
    let got = home.run(&["show", "--text", "c1"]).ok();
    let ran = home.run(&["preview", "c1"]).ok();
    assert_eq!((ran.text(), &*ran.stderr), (got.text(), ""));
    let json = |args: &[&str]| home.run(&[&["preview", "--json"], args].concat()).json();
    let (recorded, other) = (json(&["c1"]), json(&["--max-bytes", "4000", "c1"]));
    assert_eq!((recorded["text"].as_str(), &recorded["certainty"]), (Some(got.text()), &"recorded".into()));
    assert_eq!(
        (&recorded["policy"], &recorded["truncated_by"]),
        (&"claude-code/bash".into(), &"bytes".into())
    );
    assert_eq!((&other["policy"], &other["certainty"]), (&recorded["policy"], &"would-get".into()));
    assert_eq!(other["saved_as"].as_str(), spill.to_str());
    let whole = json(&["c2"]);
    assert_eq!(
        (whole["text"].as_str(), &whole["truncated"], &whole["policy"]),
        (Some(RED), &false.into(), &Value::Null)
    );
    let read = |word: &str| home.run(&["read", word]);
    assert_eq!(read("c1").stdout, read(OUTPUT).stdout);
    let words = "overspill: the read tool of claude-code is not known; shown as opencode/read gives it\n";
    assert_eq!((read("c1").stderr, read(OUTPUT).stderr), (words.to_owned(), words.to_owned()));
    let rows = |word: &str| home.run(&["compare", "--json", word]).ok().json();
    assert_eq!(rows("c1"), rows(OUTPUT));
    let cut = |word: &str| home.run(&["preview", "--max-bytes", "4000", word]).ok().text().to_owned();
    assert_eq!(cut("c1"), cut(OUTPUT));
    let ran = home.run(&["preview", "c2"]).ok();
    assert_eq!((ran.text(), &*ran.stderr), (RED, ""));
    let ran = home.run(&["preview", "-p", "pi/bash", "c2"]);
    let said = format!("{SESSION}:c2: the agent did not cut it; this is its text as recorded");
    assert!(ran.status == 0 && ran.text() == RED && ran.stderr.contains(&said), "{}", ran.stderr);
    let ran = home.run(&["explain", "--json", "c1"]).ok();
    assert_eq!(ran.json()[0]["policy"], "claude-code/bash");
    fs::remove_file(spill).unwrap();
    assert_eq!(home.run(&["preview", "c1"]).ok().text(), got.text());
    for args in [&["read", "c1"][..], &["read", "--json", "c1"]] {
        let ran = home.run(args);
        let text = if args.len() > 2 {
            ran.json()["text"].as_str().unwrap().to_owned()
        } else {
            ran.text().to_owned()
        };
        assert_eq!(text, got.text(), "no file is left that a tool could read");
        assert_eq!(ran.stderr.matches("c1: spill deleted; this is its text as recorded").count(), 1);
    }
    let asked = home.run(&["read", "--offset", "2", "--limit", "1", "c1"]);
    assert!(asked.text().starts_with("<path><not saved></path>"), "{}", asked.text());
    let left = json(&["c1"]);
    assert_eq!((left["text"].as_str(), &left["truncated"]), (Some(got.text()), &true.into()));
    assert!(["total_bytes", "kept_bytes"].iter().all(|key| left[*key].is_null()), "{left}");
    assert!(home.run(&["preview", "--json", "c1"]).stderr.contains("c1: spill deleted"));
    let parts = left["parts"].as_array().unwrap();
    let of = |kind: &str| {
        parts
            .iter()
            .filter(|part| part["kind"] == kind)
            .map(|part| part["text"].as_str().unwrap())
            .collect::<String>()
    };
    assert!(of("notice").starts_with("<persisted-output>\n") && of("kept").starts_with("1\n2\n"), "{left}");
    assert_eq!(of("kept").len() + of("notice").len(), got.text().len());
    home.run(&["grep", "x", "c2"]).fails(2, &["c2: the agent did not cut it; `overspill show --text`"]);
}

#[test]
fn a_recorded_preview_uses_the_policys_unit_without_the_spill() {
    let home = Home::new();
    let spill = claude(&home);
    let policy = "claude-code/bash-2025";
    let text = home.run(&["preview", "-p", policy, spill.to_str().unwrap()]);
    let mut log = [use_of("c4", "seq 1 12000"), result_of("c4", text.text(), false)];
    log.iter_mut().for_each(|record| record["version"] = "1.0.86".into());
    write_log(&root(&home).join(".claude/projects/-home-u-proj"), "2.jsonl", &log);
    let left = home.run(&["preview", "--json", "c4"]).json();
    let of = |field: &str| left[field].clone();
    assert_eq!([of("policy"), of("truncated_by"), of("unit")], [policy, "units", "units"]);
    assert_eq!([of("kept_units"), of("total_units")], [Value::Null, Value::Null]);
}

/// Of the agent's own read tool its session tells, also where no policy is known and no store has the output.
#[test]
fn a_call_is_read_as_its_agent_reads() {
    let home = Home::new();
    let message = |id: &str, of: Value| json!({"type": "message", "id": id, "timestamp": "2026-11-22T05:51:41Z", "message": of});
    let called = json!({"type": "toolCall", "id": "call_1", "name": "bash", "arguments": {"command": "ls"}});
    let got = json!({"role": "toolResult", "toolCallId": "call_1", "toolName": "bash", "isError": false,
        "content": [{"type": "text", "text": "one\ntwo\nthree\n"}]});
    let log = [
        json!({"type": "session", "version": 3, "id": "pi1", "timestamp": "2026-11-22T05:51:41Z", "cwd": "/p"}),
        message("1", json!({"role": "assistant", "content": [called]})),
        message("2", got),
    ];
    write_log(&root(&home), ".pi/agent/sessions/--p--/2026-11-22T05-51-41-802Z_pi1.jsonl", &log);
    let output = home.file("output", "one\ntwo\nthree\n");
    let window = |words: &[&str]| {
        home.run(&[&["read", "--offset", "2", "--limit", "1"], words].concat()).text().to_owned()
    };
    let by_pi = window(&["-p", "pi/read", output.to_str().unwrap()]);
    assert!(by_pi.starts_with("two\n"), "{by_pi}");
    assert_eq!(window(&["pi1:call_1"]), by_pi);
    assert!(window(&["-p", "opencode", "pi1:call_1"]).starts_with("<path>"));
}

#[test]
fn a_short_line_between_two_notices_counts_as_kept() {
    let home = Home::new();
    let spill = claude(&home);
    let lines =
        |range: std::ops::Range<u32>| range.map(|n| format!("a line, number {n}\n")).collect::<String>();
    fs::write(&spill, format!("{}passed\n{}", lines(1..50), lines(50..100))).unwrap();
    let log = root(&home).join(format!(".claude/projects/-home-u-proj/{SESSION}.jsonl"));
    let saved = format!("Output too large (2KB). Full output saved to: {}", spill.display());
    let got = format!(
        "<persisted-output>\n{saved}\n\nPreview (first 2KB):\n{}[47 lines cut]\npassed\n[49 lines cut]\n{}...\n</persisted-output>",
        lines(1..3),
        lines(99..100)
    );
    let log_text = [use_of("c1", "make"), result_of("c1", &got, false)].map(|record| format!("{record}\n"));
    fs::write(log, log_text.concat()).unwrap();
    let json = home.run(&["preview", "--json", "c1"]).ok().json();
    assert_eq!((&json["kept_lines"], &json["total_lines"]), (&4.into(), &100.into()), "{json}");
}

#[test]
fn a_recorded_preview_shows_the_warnings_of_its_spills_store() {
    let home = Home::new();
    claude(&home);
    let own = home.work().with_file_name("config").join("overspill/stores");
    fs::create_dir_all(&own).unwrap();
    let store = fs::read_to_string("assets/stores/claude-code.toml").unwrap();
    fs::write(own.join("claude-code.toml"), store + "\n[[store.warning]]\ntext = \"look twice\"\n").unwrap();
    for args in [&["c1"][..], &["--max-bytes", "4000", "c1"], &[OUTPUT]] {
        let json = home.run(&[&["preview", "--json"], args].concat()).ok().json();
        assert!(json["warnings"].as_array().unwrap().contains(&"look twice".into()), "{args:?}: {json}");
    }
}

#[test]
fn an_id_of_the_wrong_kind_names_the_right_command() {
    let home = Home::new();
    claude(&home);
    let calls = format!("{SESSION} is a session; `overspill sessions {SESSION}` lists its calls");
    for command in [&["preview"][..], &["read"], &["explain"], &["compare"], &["show", "--text"]] {
        home.run(&[command, &["1111"]].concat()).fails(1, &[&calls]);
    }
    for id in ["1111", "c1"] {
        home.run(&["rm", "--yes", id])
            .fails(1, &[SESSION, "in an agent's records, which overspill never changes"]);
    }
    home.run(&["show", "--text", OUTPUT]).fails(2, &["`overspill b12345678 | cat` prints an output"]);
}

/// The records of another machine name its paths.
#[test]
fn explains_a_call_by_its_agent_even_in_a_copied_directory() {
    let home = Home::new();
    let spill = claude(&home);
    let log = root(&home).join(format!(".claude/projects/-home-u-proj/{SESSION}.jsonl"));
    let moved = fs::read_to_string(&log).unwrap().replace(root(&home).to_str().unwrap(), "/home/nobody");
    fs::write(&log, moved).unwrap();
    let explain = || home.run(&["explain", "--json", "c1"]).ok().json()[0].clone();
    let here = explain();
    assert_eq!(
        (&here["policy"], &here["spill"], &here["agrees"]),
        (&"claude-code/bash".into(), &"here".into(), &true.into())
    );
    assert!(here["path"].as_str().unwrap().starts_with("/home/nobody/.claude/"), "{here}");
    assert_eq!(home.run(&["preview", "--json", "c1"]).ok().json()["saved_as"], here["path"]);
    // Outside of all stores, too.
    fs::rename(root(&home).join(".claude"), home.at(".claude")).unwrap();
    let call = format!(".claude/projects/-home-u-proj/{SESSION}.jsonl:c1");
    let copied = home.run(&["explain", "--json", &call]).ok().json()[0].clone();
    assert_eq!((&copied["spill"], &copied["agrees"]), (&"here".into(), &true.into()), "{copied}");
    fs::rename(home.at(".claude"), root(&home).join(".claude")).unwrap();
    fs::remove_file(spill).unwrap();
    assert_eq!(explain()["spill"], "missing");
    let words = home.run(&["explain", "c1"]).ok().text().to_owned();
    assert!(words.contains("nothing is at that path here") && !words.contains("deleted"), "{words}");
}

#[test]
fn an_output_leads_to_its_call() {
    let home = Home::new();
    claude(&home);
    let calls = home.run(&["sessions", "--json", OUTPUT]).ok().json();
    assert_eq!((calls.as_array().unwrap().len(), &calls[0]["id"]), (1, &"c1".into()));
    assert_eq!(home.run(&["verify", "--json", OUTPUT]).ok().json()[0]["verdict"], "equal");
    home.private_entry("opencode", "tool_e26cf08d6001AbCdEfGhIjKlMn", "x\n", 1);
    home.run(&["verify", "tool_e2"]).fails(1, &["no session near it in time names this output"]);
}

#[test]
fn an_output_of_kimi_code_has_the_id_of_its_session() {
    let home = Home::new();
    let session = "session_b51462bc-c4a8-4af5-acd2-8daf9f492909";
    let agent = format!("home/.kimi-code/sessions/wd_proj_9c09f8055a26/{session}/agents/main");
    let log =
        [json!({"type": "metadata", "protocol_version": "1.0"}), json!({"type": "runtime.set_binding"})];
    home.entry_at(&format!("{agent}/wire.jsonl"), log.map(|record| format!("{record}\n")).concat(), 1);
    home.entry_at(&format!("{agent}/tasks/bash-r8tcfbjz/output.log"), "x\n", 1);
    let first = |words: &[&str], field: &str| home.run(words).ok().json()[0][field].clone();
    assert_eq!(first(&["list", "--agent", "kimi-code", "--json"], "session"), session);
    assert_eq!(first(&["sessions", "--json"], "id"), session);
}

#[test]
fn a_prefix_of_an_output_and_a_session_is_ambiguous() {
    let home = Home::new();
    claude(&home);
    let id = "tool_e26cf08d6001AbCdEfGhIjKlMn";
    home.private_entry("opencode", id, "x\n", 1);
    let dir = root(&home).join(".claude/projects/-home-u-proj");
    fs::copy(dir.join(format!("{SESSION}.jsonl")), dir.join("tool_e9.jsonl")).unwrap();
    let both = format!("tool_e matches 2 ids: {id}, tool_e9");
    for command in [&["show"][..], &["preview"], &["verify"], &["rm", "--yes"], &[]] {
        home.run(&[command, &["tool_e"]].concat()).fails(2, &[&both]);
    }
    assert_eq!(home.run(&["show", "--json", "tool_e2"]).ok().json()["kind"], "output");
    assert_eq!(home.run(&["show", "--json", "tool_e9"]).ok().json()["kind"], "session");
}

#[test]
fn a_call_is_found_by_an_id_like_a_file_s_name_or_a_command() {
    let home = Home::new();
    claude(&home);
    let log = root(&home).join(format!(".claude/projects/-home-u-proj/{SESSION}.jsonl"));
    let text = fs::read_to_string(&log).unwrap();
    let calls = home.run(&["sessions", SESSION, "--json"]).ok().json();
    let old = calls[0]["id"].as_str().unwrap();
    for id in ["functions.bash:7", "abcdefgh"] {
        fs::write(&log, text.replace(old, id)).unwrap();
        assert_eq!(home.run(&["show", "--json", id]).ok().json()["id"], id);
        home.run(&[id]).fails(1, &["no such file or id"]);
    }
}

#[test]
fn show_prints_the_facts_of_a_session_and_a_call() {
    let home = Home::new();
    let spill = claude(&home);
    let facts = |id: &str| {
        let shown = home.run(&["show", id]).ok();
        let facts = shown.text().lines().map(|line| line.split_at(12));
        facts.map(|(name, value)| (name.trim().to_owned(), value.to_owned())).collect::<Vec<_>>()
    };
    let has = |facts: &[(String, String)], name: &str, value: &str| {
        assert!(facts.iter().any(|fact| fact.0 == name && fact.1.starts_with(value)), "{name}: {facts:#?}");
    };
    let session = facts("1111");
    has(&session, "session", SESSION);
    has(&session, "agent", "claude-code 2.1.330");
    has(&session, "calls", "3 calls, 1 cut · got ");
    has(&session, "time left", "30 d · of the spill that is deleted first");
    let call = facts("c1");
    has(&call, "compared", "verified: claude-code/bash");
    has(&call, "spill", spill.to_str().unwrap());
    has(&call, "command", "seq 1 12000");
    has(&call, "evidence", "recorded: ");
    has(&facts("c3"), "command", "curl -H 'Authorization: Bearer [masked]'");
    let json = home.run(&["show", "--json", "1111"]).ok().json();
    assert_eq!((&json["version"], &json["kind"], &json["calls"]), (&1.into(), &"session".into(), &3.into()));
    let json = home.run(&["show", "--json", "c1"]).ok().json();
    assert_eq!((&json["kind"], &json["verify"], json.get("text")), (&"call".into(), &"equal".into(), None));
}

/// Tools other than Bash name the spill by the call.
#[test]
fn show_text_prefers_the_call_over_a_spill_with_the_same_id() {
    let home = Home::new();
    let spill = claude(&home);
    let id = "toolu_01AbCdEfGhIjKlMnOpQr";
    let log = root(&home).join(format!(".claude/projects/-home-u-proj/{SESSION}.jsonl"));
    let text = fs::read_to_string(&log).unwrap();
    fs::write(log, text.replace(OUTPUT, id).replace("\"c1\"", &format!("\"{id}\""))).unwrap();
    fs::rename(&spill, spill.with_file_name(format!("{id}.txt"))).unwrap();
    let got = home.run(&["show", "--text", id]).ok();
    assert!(got.text().starts_with("<persisted-output>\n"), "{}", got.text());
    assert_eq!(home.run(&["show", "--text", &format!("{SESSION}:{id}")]).ok().text(), got.text());
    assert_eq!(home.run(&["explain", "--json", id]).ok().json()[0]["spill"], "here");
    assert_eq!(home.run(&["show", "--json", id]).ok().json()["kind"], "output");
}

#[test]
fn a_call_in_a_file_is_named_by_file_colon_id() {
    let home = Home::new();
    write(home.at("run.traj.json"), &trajectory(&[("one", "one", 0), ("two", "two", 0)]));
    let path = home.at("run.traj.json");
    for file in ["run.traj.json", "./run.traj.json", path.to_str().unwrap()] {
        assert_eq!(home.run(&["show", "--text", &format!("{file}:c2")]).ok().text(), "two");
    }
    home.run(&["show", "run.traj.json:c3"]).fails(1, &["no call of session run.traj.json has the id `c3`"]);
    home.file("other.txt", "x\n");
    home.run(&["show", "other.txt:c3"]).fails(1, &["other.txt:c3: no such file"]);
    home.file("run.traj.json:c1", "a file\n");
    assert_eq!(home.run(&["run.traj.json:c1"]).ok().text(), "a file\n");
}
