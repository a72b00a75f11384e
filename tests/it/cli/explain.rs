//! `explain`: from a notice to the policy that wrote it and the output that it was cut from.

use std::fs;

use serde_json::Value;

use crate::common::home::Home;

const ID: &str = "tool_c8d4f08d5001AbCdEfGhIjKlMn";

/// Policies that say nothing where they cut, or refuse the output instead.
const SILENT: &[&str] = &[
    "go-opencode/read",
    "kimi-cli/shell",
    "mistral-vibe/bash",
    "opencode/metadata",
    "opencode/metadata-2026",
];

/// A store with one output, and the last lines of what opencode's model got of it.
fn cut() -> (Home, std::path::PathBuf, String) {
    let home = Home::new();
    let lines: String = (1..=6345).map(|n| format!("line {n}\n")).collect();
    let spill = home.private_entry("opencode", ID, lines, 48);
    let preview = home.run(&["preview", spill.to_str().unwrap()]);
    let notice = preview.text().split_once("line 2000\n").unwrap().1.to_owned();
    (home, spill, notice)
}

fn explained(home: &Home, text: &str) -> Value {
    home.pipe(text, &["explain", "--json"]).ok().json()
}

#[test]
fn every_policy_s_notice_is_recognised() {
    let home = Home::new();
    let output: String = (0..40_000).map(|n| format!("{n} and more of a long output\n")).collect();
    home.file("out.log", output);
    let policies = home.run(&["policies", "--all", "--json"]).ok().json();
    let names: Vec<&str> =
        policies.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    let previewed = |name: &&str| {
        let preview = home.run(&["preview", "-p", name, "--saved-as", "/tmp/x/out.txt", "out.log"]);
        serde_json::json!({ "text": String::from_utf8_lossy(&preview.stdout) }).to_string()
    };
    home.file("all.jsonl", names.iter().map(previewed).collect::<Vec<_>>().join("\n"));
    let rows = home.run(&["explain", "--json", "all.jsonl"]).ok().json();
    let writes = |row: &Value, name: &str| {
        row["policy"] == name || row["also"].as_array().unwrap().contains(&name.into())
    };
    let is_unknown = |name: &&str| !rows.as_array().unwrap().iter().any(|row| writes(row, name));
    let unknown: Vec<&str> = names.into_iter().filter(is_unknown).collect();
    assert_eq!(unknown, SILENT);
}

/// What a notice says of the call itself is in no file.
#[test]
fn the_call_that_a_notice_names_is_taken_from_it() {
    let home = Home::new();
    let lines: String = (1..=12_000).map(|n| format!("{n}\n")).collect();
    let session = "wd_p_9c09f8055a26/session_b51462bc-c4a8-4af5-acd2-8daf9f492909";
    let task = format!("home/.kimi-code/sessions/{session}/agents/main/tasks/bash-r8tcfbjz/output.log");
    let spill = home.entry_at(&task, lines, 1);
    let call = ["--set", "call_id=call_9", "--set", "task_id=bash-r8tcfbjz", "--set", "wall_seconds=0.025"];
    let words = [&["preview", "-p", "kimi-code/bash"], &call[..], &[spill.to_str().unwrap()]].concat();
    let notice = home.run(&words).ok().text().to_owned();
    assert!(["call_9", "bash-r8tcfbjz", "0.025"].iter().all(|word| notice.contains(word)), "{notice}");
    let row = &explained(&home, &notice)[0];
    assert_eq!((&row["policy"], &row["agrees"]), (&"kimi-code/bash".into(), &true.into()), "{row}");
    let other = notice.replace("59870", "59871");
    assert_ne!(other, notice);
    assert_eq!(explained(&home, &other)[0]["agrees"], false);
}

#[test]
fn a_notice_leads_to_its_output() {
    let (home, spill, notice) = cut();
    // Only the stores that can hold the output are listed.
    let kilo = spill.ancestors().nth(3).unwrap().join("kilo");
    std::fs::create_dir(&kilo).unwrap();
    std::os::unix::fs::symlink("tool-output", kilo.join("tool-output")).unwrap();
    let ran = home.pipe(&*notice, &["explain"]).ok();
    let (line, rest) = ran.text().split_once('\n').unwrap();
    assert_eq!(
        line,
        "opencode/output · 4,345 lines lost · the whole output is there, 6,345 lines · deleted in 5 d"
    );
    assert_eq!(rest, format!("  {}\n  the same notice: kilo/output\n", spill.display()));
    let row = &explained(&home, &notice)[0];
    assert_eq!(
        (&row["agent"], &row["tool"], &row["spill"]),
        (&"opencode".into(), &"output".into(), &"here".into())
    );
    assert_eq!((&row["agrees"], &row["figures"]["removed"]), (&true.into(), &"4346".into()));
    assert_eq!(row["path"], spill.to_str().unwrap());
}

#[test]
fn explain_reports_a_notice_that_does_not_fit_the_output() {
    let (home, spill, notice) = cut();
    let row = explained(&home, &notice.replace("4346", "4000"))[0].clone();
    assert_eq!((&row["spill"], &row["agrees"]), (&"here".into(), &false.into()));
    assert_eq!(row["differs"], "removed is 4000 in the notice, and would be 4346");
    std::fs::remove_file(&spill).unwrap();
    let ran = home.pipe(&*notice, &["explain"]).ok();
    let first = ran.text().lines().next().unwrap();
    let gone = "opencode/output · 4,346 lines lost · the whole output was deleted · opencode deletes 7 d after the last change";
    assert!(first.starts_with(gone), "{first}");
    // A path outside of all stores is a claim, and is not opened.
    let elsewhere = home.file("mine.txt", "secret\n");
    let row =
        explained(&home, &notice.replace(spill.to_str().unwrap(), elsewhere.to_str().unwrap()))[0].clone();
    assert_eq!((&row["spill"], &row["agrees"], &row["lines"]), (&"other".into(), &Value::Null, &Value::Null));
}

/// A notice of several parts, one that comes twice, and one that tells the exit status.
#[test]
fn the_notices_of_a_preview_agree_with_its_output() {
    let home = Home::new();
    let output: String = (0..40_000).map(|n| format!("{n} and more of a long output\n")).collect();
    let temporary = home.work().with_file_name("tmp");
    fs::create_dir(temporary.join(".tmpGoose1")).unwrap();
    for (name, policy) in [
        (".tmpGoose1/stdout-1", "goose/shell"),
        ("pi-mcp-0123456789abcdef.txt", "pi/mcp"),
        ("pi-codemode-0123456789abcdef.txt", "pi/codemode"),
        ("copilot-tool-output-1764000000000-abc123.txt", "copilot-cli/tool-1.0.32"),
    ] {
        let path = temporary.join(name);
        fs::write(&path, &output).unwrap();
        let preview = home.run(&["preview", path.to_str().unwrap()]);
        let rows = explained(&home, preview.text());
        let of_file: Vec<&Value> =
            rows.as_array().unwrap().iter().filter(|row| row["spill"] != "deleted").collect();
        let of = |row: &Value| (row["policy"].clone(), row["agrees"].clone());
        let all: Vec<_> = of_file.into_iter().map(of).collect();
        assert_eq!(all, [(policy.into(), true.into())], "{rows}");
    }
    let run = home.run(&["run", "-p", "pi/bash", "--", "sh", "-c", "seq 5000; exit 4"]);
    assert_eq!(explained(&home, run.text())[0]["agrees"], true);
}

/// Also in another home directory than this one.
#[test]
fn the_path_in_a_notice_tells_the_agent() {
    let home = Home::new();
    for (agent, data) in [("opencode", "opencode"), ("kilo", "kilo")] {
        let path = format!("/home/u/.local/share/{data}/tool-output/{ID}");
        let row =
            &explained(&home, &format!("...output truncated...\n\nFull output saved to: {path}\n\nabc"))[0];
        let of = [&row["policy"], &row["path"], &row["spill"]];
        assert_eq!(of, [&format!("{agent}/shell"), &path, "missing"], "{row}");
    }
}

/// Several agents write the same tag around what they saved.
#[test]
fn a_lone_closing_tag_is_not_a_notice() {
    let home = Home::new();
    let qwen = "/home/u/.qwen/tmp/h/tool-results/call_1.txt";
    let session = "/home/u/.claude/projects/-p/11111111-2222-3333-4444-555555555555";
    let [hint, ends] = ["toolu_1.txt", "babcdefgh.txt"].map(|name| format!("{session}/tool-results/{name}"));
    let size = "Output too large (59.5KB). Full output saved to:";
    for (text, words) in [
        (
            format!("\n{size} {qwen}\nNote: this file may go.\n\nPreview (up to 2000 chars):\nabc\n..."),
            format!("it names a file of qwen-code: {qwen}"),
        ),
        (
            format!("Tool result saved to: {hint}\n\nUse Read to view"),
            format!("it names a file of claude-code: {hint}"),
        ),
        (
            format!("\n{size} {ends}\n\nPreview (start and end):\nabc\n[… 55KB omitted …]\nxyz"),
            format!("it names a file of claude-code: {ends}"),
        ),
        ("abc\n...".to_owned(), "give the notice whole".to_owned()),
    ] {
        let text = format!("<persisted-output>{text}\n</persisted-output>");
        home.pipe(text, &["explain"]).fails(1, &["no notice of a known policy in this text", &words]);
    }
}

#[test]
fn a_transcript_is_searched_record_by_record() {
    let (home, spill, notice) = cut();
    let record =
        |text: &str| serde_json::json!({ "type": "tool", "content": [{ "text": text }] }).to_string();
    let other = notice.replace("4346", "17");
    let lines =
        [record("nothing here"), record(&format!("line 2000\n{notice}")), record(&other), record(&notice)];
    home.file("session.jsonl", lines.join("\n"));
    let rows = home.run(&["explain", "--json", "session.jsonl"]).ok().json();
    let removed: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["figures"]["removed"].as_str().unwrap()).collect();
    assert_eq!(removed, ["4346", "17"], "each notice once");
    assert_eq!(rows[0]["path"], spill.to_str().unwrap());
}

#[test]
fn a_figure_has_as_many_decimals_as_its_policy_writes() {
    let home = Home::new();
    let result = "Chunk ID: 5d3a80\nWall time: 0.0000 seconds\nProcess exited with code 0\nOutput:\n\
        Warning: truncated output (original token count: 71627)\nTotal output lines: 5449\n\n\
        1\n…3021 tokens truncated…\n9\n";
    let rows = explained(&home, result);
    assert_eq!((rows[0]["policy"].as_str(), rows.as_array().unwrap().len()), (Some("codex/exec"), 1));
}

#[test]
fn a_part_of_a_notice_leads_to_the_output_that_it_names() {
    let home = Home::new();
    let id = "tool_c8d4f08d5001Lq7Zx2Bw9TkRm3";
    home.entry("opencode", id, "1\n2\n", 1);
    let words = format!("no notice of a known policy in this text; the output that it names: overspill {id}");
    for text in [format!("saved to: /elsewhere/tool-output/{id}.\nUse Grep"), format!("\"{id}\"")] {
        home.pipe(text, &["explain"]).fails(1, &[&words]);
    }
    home.pipe(format!("{id}2"), &["explain"]).fails(1, &["give the notice whole"]);
}

#[test]
fn a_text_without_a_notice_is_a_failure() {
    let home = Home::new();
    let part = "Output too large (2.4MB). Full output saved to: /tmp/x.txt\n";
    for text in ["all is well\n", part] {
        home.pipe(text, &["explain"])
            .fails(1, &["no notice of a known policy in this text; give the notice whole"]);
    }
    let ran = home.pipe("x", &["explain", "--json"]);
    assert_eq!((ran.status, ran.text()), (1, "[]\n"));
    home.run(&["explain", "nosuch"]).fails(1, &["nosuch: no such file; name the text"]);
    home.run(&["explain", "--clipboard"]).fails(1, &["the clipboard cannot be read", "pipe the text in"]);
    let hostile = "\u{1b}]0;x\u{7}...7 \u{1b}[31mlines truncated...\n\nThe tool call succeeded but the output was truncated.";
    let ran = home.pipe(hostile, &["explain"]);
    assert!(!ran.text().contains('\u{1b}') && !ran.stderr.contains('\u{1b}'));
}

#[test]
fn the_notice_of_a_failed_command_tells_its_exit_status() {
    let home = Home::new();
    for policy in ["copilot-cli/tool", "grok/bash", "pi/bash"] {
        let ran = home.run(&["run", "-q", "-p", policy, "--", "sh", "-c", "seq 1 60000; exit 3"]);
        let rows = explained(&home, ran.text());
        assert_eq!(rows[0]["agrees"], true, "{policy}: {rows}");
        assert_eq!(rows[0]["figures"]["exit_code"], "3", "{policy}: {rows}");
    }
}

/// What a tool printed may quote a notice of the agent's that cuts it.
#[test]
fn two_cuts_of_one_policy_stay_two_notices() {
    let home = Home::new();
    let by_lines = "[Showing lines 1-2000 of 6346. Full output: /tmp/pi-bash-0.log]";
    let by_size = "[Showing lines 4000-9000 of 9000 (50.0KB limit). Full output: /tmp/pi-bash-1.log]";
    for both in [[by_lines, by_size], [by_size, by_lines]] {
        let rows = explained(&home, &both.join("\n\n"));
        let paths: Vec<&str> =
            rows.as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
        let each =
            both.map(|notice| if notice == by_lines { "/tmp/pi-bash-0.log" } else { "/tmp/pi-bash-1.log" });
        assert_eq!(paths, each, "{rows}");
    }
    let path = home.work().with_file_name("tmp").join("pi-bash-0123456789abcdef.log");
    let output: String = (0..40_000).map(|n| format!("{n} and more of a long output\n")).collect();
    fs::write(&path, format!("{output}{by_lines}\n")).unwrap();
    let preview = home.run(&["preview", path.to_str().unwrap()]).ok();
    let rows = explained(&home, preview.text());
    let of = |at: usize| (&rows[at]["policy"], &rows[at]["spill"], &rows[at]["agrees"]);
    assert_eq!(of(0), (&"pi/bash".into(), &"missing".into(), &Value::Null), "{rows}");
    assert_eq!(of(1), (&"pi/bash".into(), &"here".into(), &true.into()), "{rows}");
}
