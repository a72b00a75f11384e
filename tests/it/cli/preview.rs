//! `overspill preview`: byte for byte what the model got.

use crate::cli::{EXAMPLE, numbered, preview};
use crate::common::home::{Home, fifo};

const HINT: &str = "The tool call succeeded but the output was truncated. Full output saved to: /s/out\n\
    Use Grep to search the full content or Read with offset/limit to view specific sections.";

const TASK_HINT: &str = "The tool call succeeded but the output was truncated. Full output saved to: /s/out\n\
    Use the Task tool to have explore agent process this file with Grep and Read (with offset/limit). \
    Do NOT read the full file yourself - delegate to save context.";

#[test]
fn an_output_within_the_limits_is_printed_as_it_is() {
    assert_eq!(preview(&[]).ok().text(), EXAMPLE);
}

#[test]
fn a_preview_cut_by_lines() {
    let ran = preview(&["--max-lines", "2"]).ok();
    assert_eq!(ran.text(), format!("aaa\nbbbb\n\n...2 lines truncated...\n\n{HINT}"));
}

#[test]
fn a_preview_cut_by_bytes() {
    for size in ["9", "9b", "9B"] {
        let ran = preview(&["--max-bytes", size]).ok();
        assert_eq!(ran.text(), format!("aaa\nbbbb\n\n...7 bytes truncated...\n\n{HINT}"));
    }
}

#[test]
fn a_preview_of_the_end() {
    let ran = preview(&["--max-lines", "2", "--direction", "tail"]).ok();
    assert_eq!(ran.text(), format!("...2 lines truncated...\n\n{HINT}\n\nccccc\n"));
}

#[test]
fn a_preview_for_an_agent_with_a_task_tool() {
    let ran = preview(&["--max-lines", "2", "--set", "task_tool=true"]).ok();
    assert_eq!(ran.text(), format!("aaa\nbbbb\n\n...2 lines truncated...\n\n{TASK_HINT}"));
}

#[test]
fn a_preview_in_units() {
    let ran = preview(&["-p", "opencode/metadata", "--max-bytes", "5"]).ok();
    assert_eq!(ran.text(), "aaa\nb\n\n...");
    assert_eq!(
        preview(&["-p", "opencode", "-t", "metadata", "--set", "max_units=5"]).ok().text(),
        ran.text()
    );
}

#[test]
fn the_notice_names_the_file_unless_told_otherwise() {
    let home = Home::new();
    home.file("out", EXAMPLE);
    let ran = home.run(&["preview", "--max-lines", "0", "out"]).ok();
    let work = std::fs::canonicalize(home.work()).unwrap();
    let named: Vec<_> = ran.text().lines().filter_map(|line| line.split("saved to: ").nth(1)).collect();
    assert_eq!(named, [work.join("out").to_str().unwrap()]);
}

#[test]
fn preview_says_that_a_piped_output_is_not_saved() {
    let home = Home::new();
    for words in [&["preview", "--max-lines", "1"][..], &["preview", "-", "--max-lines", "1"]] {
        let ran = home.pipe(EXAMPLE, words);
        assert_eq!(ran.status, 0);
        assert!(ran.text().contains("saved to: <not saved>\n"), "{}", ran.text());
        assert!(ran.stderr.contains("not saved") && ran.stderr.contains("--saved-as PATH"), "{}", ran.stderr);
    }
}

#[test]
fn says_nothing_about_saving_if_no_notice_names_a_file() {
    let home = Home::new();
    assert_eq!(home.pipe(EXAMPLE, &["preview"]).ok().text(), EXAMPLE);
    let ran = home.pipe(EXAMPLE, &["preview", "--max-lines", "1", "--saved-as", "/s/out"]).ok();
    assert!(ran.text().ends_with(HINT));
    // Its notice names no file.
    assert!(home.pipe("line\n".repeat(3000), &["preview", "-p", "pi/grep", "-"]).ok().text().len() < 15_000);
}

#[test]
fn json_has_the_text_its_parts_and_the_figures() {
    let json = preview(&["--max-lines", "2", "--json"]).ok().json();
    let text = format!("aaa\nbbbb\n\n...2 lines truncated...\n\n{HINT}");
    let expected = serde_json::json!({
        "version": 1, "policy": "opencode/output", "confidence": "run", "certainty": "would-get", "status": "ok",
        "truncated": true, "truncated_by": "lines", "text": text,
        "parts": [
            {"kind": "kept", "text": "aaa\nbbbb", "start": 0, "end": 8, "source": "stdout"},
            {"kind": "notice", "text": text.strip_prefix("aaa\nbbbb").unwrap()},
        ],
        "unit": "bytes", "total_lines": 4, "total_bytes": 15, "kept_lines": 2, "kept_bytes": 8,
        "removed_lines": 2, "removed_bytes": 7, "total_units": 15, "kept_units": 8,
        "tokens_estimate": text.len().div_ceil(4), "saved_as": "/s/out", "limits_from": "flags", "details": null,
        "warnings": [],
    });
    assert_eq!(json, expected);
}

#[test]
fn json_says_whether_a_model_got_the_text() {
    let home = Home::new();
    let id = "tool_e26cf08d5001AbCdEfGhIjKlMn";
    home.private_entry("opencode", id, "line\n".repeat(3000), 1);
    home.file("out.log", "line\n".repeat(3000));
    let run = home.run(&["run", "--json", "--", "seq", "3000"]).ok().json();
    assert_eq!(run["certainty"], "recorded");
    let own = run["id"].as_str().expect("a spill");
    for (words, certainty) in [
        (&["out.log"][..], "would-get"),
        (&[id], "reconstructed"),
        (&["-p", "opencode/output", id], "reconstructed"),
        (&["--max-lines", "2000", id], "reconstructed"),
        (&["--max-lines", "10", id], "would-get"),
        (&["-p", "pi/bash", id], "would-get"),
        (&[own], "recorded"),
        (&["--direction", "tail", own], "would-get"),
        (&["-p", "pi/bash", own], "would-get"),
    ] {
        let json = home.run(&[&["preview", "--json"], words].concat()).ok().json();
        assert_eq!(json["certainty"], certainty, "{words:?}");
    }
    assert_eq!(home.pipe("a\n", &["preview", "--json"]).ok().json()["certainty"], "would-get");
    let piped = home.pipe("line\n".repeat(3000), &["preview", "--save", "--json"]).ok().json();
    let saved = home.run(&["preview", "--json", piped["id"].as_str().expect("a spill")]).ok().json();
    assert_eq!((&piped["certainty"], &saved["certainty"]), (&"would-get".into(), &"would-get".into()));
}

#[test]
fn a_stored_output_is_the_same_by_every_path() {
    let home = Home::new();
    let id = "tool_e26cf08d5001AbCdEfGhIjKlMn";
    let spill = home.entry_at(&format!("disk/opencode/tool-output/{id}"), numbered(3000), 1);
    home.entry_at("disk/other/x", "", 1);
    let at = |name: &str| home.work().with_file_name(name);
    std::fs::create_dir(at("home/.local")).unwrap();
    std::os::unix::fs::symlink(at("disk"), at("home/.local/share")).unwrap();
    std::os::unix::fs::symlink(spill.parent().unwrap(), at("work/link")).unwrap();
    let seen = |directory: &str, word: &str| {
        let mut command = home.command(&["preview", "--json", word]);
        let child = command.env_remove("XDG_DATA_HOME").current_dir(at(directory)).spawn();
        let json = crate::common::home::finish(child.unwrap()).ok().json();
        ["policy", "certainty", "saved_as"].map(|key| json[key].as_str().unwrap().to_owned())
    };
    let ours = ["opencode/shell", "reconstructed"];
    let words = [
        ("work", id.to_owned(), at("home/.local/share/opencode/tool-output").join(id)),
        ("work", spill.display().to_string(), spill.clone()),
        ("disk/opencode/tool-output", format!("./{id}"), spill.clone()),
        (
            "disk/other",
            format!("../opencode/tool-output/{id}"),
            at("disk/other/../opencode/tool-output").join(id),
        ),
        ("work", format!("link/{id}"), at("work/link").join(id)),
    ];
    for (directory, word, saved_as) in words {
        let [policy, certainty, saved] = seen(directory, &word);
        assert_eq!(([&*policy, &*certainty], saved), (ours, saved_as.display().to_string()), "{word}");
    }
    // What a link in a store leads to is stored elsewhere.
    std::fs::create_dir_all(at("home/.gemini/tmp/p")).unwrap();
    std::os::unix::fs::symlink(at("disk/other"), at("home/.gemini/tmp/p/tool-outputs")).unwrap();
    home.entry_at("disk/other/glob_1.txt", numbered(3000), 1);
    home.entry_at("home/.gemini/tool-outputs/glob_1.txt", numbered(3000), 1);
    for word in ["../disk/other/glob_1.txt", "../home/.gemini/tmp/../tool-outputs/glob_1.txt"] {
        let [policy, certainty, _] = seen("work", word);
        assert_eq!([&*policy, &*certainty], ["opencode/output", "would-get"], "{word}");
    }
}

/// Each file, the command's words before its path, and what its notices say.
#[test]
fn notices_say_what_the_path_of_a_stored_file_tells() {
    let home = Home::new();
    let kimi = "home/.kimi-code/sessions/wd_web_0123456789ab/session_b51462bc-c4a8-4af5-acd2-8daf9f492909/agents/main";
    let rows = |name: &str| format!("{kimi}/tool-results/{name}-b51462bc-c4a8-4af5-acd2-8daf9f492909.txt");
    let mcp = "tmp/opencode-99/mcp-search_docs-1787000000000000000-123.txt".to_owned();
    for (path, words, said) in [
        (
            "tmp/opencode-99/bash-stderr-1787000000000000000-1.txt".into(),
            "",
            "<stderr truncated: 20001 lines total>",
        ),
        (
            "tmp/opencode-99/bash-stdout-1787000000000000000-1.txt".into(),
            "",
            "<stdout truncated: 20001 lines total>",
        ),
        (
            "tmp/opencode-s1/bash-1787000000000000000-stderr.txt".into(),
            "",
            "<stderr truncated: 20,001 lines total>",
        ),
        (mcp.clone(), "", "<search_docs output truncated: "),
        (mcp, "--set label=mine", "<mine output truncated: "),
        (rows("mcp__fix__rows-call_07"), "", "\ntool_name: mcp__fix__rows\ntool_call_id: call_07\n"),
        (
            rows("mcp__my-server__rows-call_08"),
            "",
            "\ntool_name: mcp__my-server__rows\ntool_call_id: call_08\n",
        ),
        (rows("Bash-call_9"), "", "\ntool_name: Bash\ntool_call_id: call_9\n"),
        (format!("{kimi}/tasks/bash-rh4qskiy/output.log"), "", "\ntask_id: bash-rh4qskiy\n"),
        (
            format!("{kimi}/tasks/bash-rh4qskiy/output.log"),
            "-p kimi-code/bash --set task_id=7",
            "\ntask_id: 7\n",
        ),
    ] {
        let spill = home.entry_at(&path, numbered(20_000), 1);
        let words: Vec<&str> = ["preview"].into_iter().chain(words.split_whitespace()).collect();
        let ran = home.run(&[&words[..], &[spill.to_str().unwrap()]].concat()).ok();
        assert!(ran.text().contains(said), "{path}: {said}");
    }
    // The streams of a run of overspill's own.
    let split = ["run", "--json", "--split", "--layout", "agent", "-p", "go-opencode/bash", "--", "sh", "-c"];
    let ran = home.run(&[&split[..], &["seq 9000; seq 9001 >&2"]].concat()).ok().json();
    for (stream, lines) in
        [(&ran, "<stdout truncated: 9,001 "), (&ran["stderr"], "<stderr truncated: 9,002 ")]
    {
        let shown = home.run(&["preview", stream["saved_as"].as_str().unwrap()]).ok();
        assert!(shown.text().starts_with(lines), "{lines}");
    }
}

#[test]
fn preview_gives_the_same_text_as_the_run_that_saved_it() {
    let home = Home::new();
    let command = ["--", "sh", "-c", "seq 60000; sleep ${1:-0}; exit 4"];
    let timeout = ["--timeout", "0.3", "--", "sh", "-c", "seq 60000; sleep 9"];
    let policies =
        ["mini-swe-agent/observation", "claude-code/bash", "roo/command", "pi/bash", "goose/shell"];
    let ended = policies.map(|policy| (policy, &command[..]));
    let stopped = ["pi/bash-2026-03", "go-opencode/bash"].map(|policy| (policy, &timeout[..]));
    let named = [("opencode/output", &["--saved-as", "/s/out", "--", "seq", "60000"][..])];
    for (policy, words) in ended.into_iter().chain(stopped).chain(named) {
        let run = home.run(&[&["run", "--json", "--keep", "always", "-p", policy], words].concat()).json();
        let id = run["id"].as_str().expect("a spill");
        let preview = home.run(&["preview", "--json", id]).ok().json();
        assert_eq!((&preview["text"], &preview["certainty"]), (&run["text"], &"recorded".into()), "{policy}");
        let other = home.run(&["preview", "--json", id, "--saved-as", "/else"]).ok().json();
        assert_eq!(other["certainty"], "would-get", "{policy}");
    }
}

#[test]
fn a_preview_of_both_streams_is_recorded_for_neither() {
    let home = Home::new();
    let words =
        ["run", "--json", "--split", "-p", "go-opencode/bash", "--", "sh", "-c", "seq 9000; seq 9000 >&2"];
    let run = home.run(&words).json();
    for id in [&run["id"], &run["stderr"]["id"]] {
        let preview = home.run(&["preview", "--json", id.as_str().expect("a spill")]).ok().json();
        assert_eq!(preview["certainty"], "would-get");
    }
}

#[test]
fn exit_code_suggests_the_policy_for_failed_commands() {
    let home = Home::new();
    home.file("out.log", "line\n".repeat(10_000));
    let of = |exit: &str| home.run(&["preview", "-p", "claude-code/bash", "--exit-code", exit, "out.log"]);
    assert_eq!(of("0").ok().stderr, "");
    let failed = of("2");
    assert!(
        failed.stderr.contains("a failed command is cut by claude-code/bash-failed"),
        "{}",
        failed.stderr
    );
    assert_eq!(failed.text(), of("0").text());
    let itself = ["preview", "-p", "claude-code/bash-failed", "--exit-code", "2", "out.log"];
    let itself = home.run(&itself);
    assert!(itself.text().starts_with("Exit code 2\nline\n") && !itself.stderr.contains("is cut by"));
    assert!(itself.stderr.contains("nothing beyond the first 30,000 bytes"), "{}", itself.stderr);
}

/// Returns more than 100 KB whose last line has no line feed.
fn unended() -> String {
    "line\n".repeat(25_000) + "half a li"
}

#[test]
fn prints_each_warning_about_a_preview_once() {
    let home = Home::new();
    home.file("out.log", unended());
    let ran = home.run(&["preview", "-p", "opencode/shell", "out.log"]);
    assert_eq!(ran.status, 0);
    for words in ["the end may be missing", "ends inside a line", "Over 100 KB"] {
        let said = ran.stderr.lines().filter(|line| line.contains(words)).count();
        assert_eq!(said, 1, "{words}: {}", ran.stderr);
    }
    let json = home.run(&["preview", "-p", "opencode/shell", "--json", "out.log"]).ok();
    assert_eq!((json.json()["warnings"].as_array().unwrap().len(), &*json.stderr), (3, ""));
    home.file("short.log", "line\n");
    assert_eq!(home.run(&["preview", "-p", "opencode/shell", "short.log"]).ok().stderr, "");
}

#[test]
fn the_warnings_of_a_store_appear_under_any_policy() {
    let home = Home::new();
    let path = home.entry("opencode", "tool_e26cf08d5001AbCdEfGhIjKlMn", unended(), 1);
    let path = path.to_str().unwrap();
    for policy in ["opencode/output", "opencode/shell", "pi/bash"] {
        let ran = home.run(&["preview", "-p", policy, path]);
        let said = ran.stderr.lines().filter(|line| line.contains("the end may be missing")).count();
        assert_eq!(said, 1, "{policy}: {}", ran.stderr);
    }
    let shown = home.run(&["show", "--json", path]).ok().json();
    assert_eq!(shown["warnings"].as_array().unwrap().len(), 3, "{shown}");
    assert_eq!(home.run(&["read", path]).ok().stderr, "");
}

#[test]
fn json_names_the_limit_that_cut_and_its_origin() {
    let of = |flags: &[&str]| preview(&[flags, &["--json"]].concat()).ok().json();
    let json = of(&["--max-bytes", "9"]);
    assert_eq!((&json["truncated_by"], &json["removed_bytes"]), (&"bytes".into(), &7.into()));
    let json = of(&[]);
    assert_eq!((&json["truncated"], &json["truncated_by"]), (&false.into(), &serde_json::Value::Null));
    assert_eq!(json["limits_from"], "policy");
    let json = of(&["-p", "opencode/metadata", "--set", "max_units=5"]);
    assert_eq!((&json["unit"], &json["truncated_by"]), (&"units".into(), &"units".into()));
}

#[test]
fn invalid_bytes_become_replacement_characters() {
    let home = Home::new();
    let hostile = b"ok\xff\xf0\x9f\x98\x1b]52;c;aGk=\x07\0\xe2\x82\nend";
    home.file("bad", hostile);
    assert_eq!(home.run(&["preview", "bad"]).ok().text(), String::from_utf8_lossy(hostile));
}

#[test]
fn a_long_output_is_cut_exactly_at_the_default_limits() {
    let home = Home::new();
    home.file("log", numbered(2000));
    let ran = home.run(&["preview", "log", "--saved-as", "/s/out"]).ok();
    let kept = numbered(2000);
    assert_eq!(ran.text(), format!("{}\n\n...1 lines truncated...\n\n{HINT}", kept.trim_end()));
    home.file("log", kept.trim_end());
    assert_eq!(home.run(&["preview", "log"]).ok().text(), kept.trim_end());
}

#[test]
fn an_empty_output_is_an_empty_preview() {
    let home = Home::new();
    home.file("empty", "");
    assert_eq!(home.run(&["preview", "empty"]).ok().stdout, b"");
    assert_eq!(home.run(&["preview", "empty", "--json"]).ok().json()["truncated"], false);
}

#[test]
fn a_fifo_is_read_to_its_end() {
    let home = Home::new();
    fifo(&home.at("pipe"));
    let path = home.at("pipe");
    let writer = std::thread::spawn(move || std::fs::write(path, EXAMPLE));
    assert_eq!(home.run(&["preview", "pipe"]).ok().text(), EXAMPLE);
    writer.join().unwrap().unwrap();
}

#[test]
fn an_output_that_crashes_the_agent_exits_3() {
    let home = Home::new();
    home.file("log", numbered(2500));
    let words = ["preview", "-p", "go-opencode/legacy", "log"];
    home.run(&words).fails(3, &["the agent itself crashes on this output", "out of range"]);
    let ran = home.run(&[&words[..], &["--json"]].concat());
    assert_eq!(ran.status, 3);
    let status = ran.json()["status"].to_string();
    assert!(status.contains("crashed: ") && status.contains("out of range"), "{status}");
    // A command's status is kept, whatever would become of its output.
    let ran = home.run(&["run", "-p", "go-opencode/legacy", "--", "sh", "-c", "seq 1 2500; exit 5"]);
    assert_eq!((ran.status, ran.text()), (5, ""));
    assert!(ran.stderr.contains("the agent itself crashes"), "{}", ran.stderr);
    let ran = home.pipe(numbered(2500), &["preview", "--save", "-p", "go-opencode/legacy"]);
    assert_eq!(
        (ran.status, ran.stderr.matches("the agent itself crashes").count()),
        (3, 1),
        "{}",
        ran.stderr
    );
    home.file("log", numbered(1000));
    home.run(&words).ok();
}
