//! `overspill grep`: which lines it prints, in which form, what it says of each, and what it does with what it cannot read.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::Value;

use crate::common::home::{Home, fifo};
use crate::common::records;
use crate::stores_cli::stocked::{ID, OTHER, Stocked};

/// Returns the objects that a command printed, one per line.
fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Numbered lines, of which opencode keeps the first 2,000, with `error` in some.
fn long() -> String {
    let word = |number| if number % 1500 == 0 { "Error: " } else { "" };
    (1..=5000).map(|number| format!("{}line {number}\n", word(number))).collect()
}

#[test]
fn grep_prints_hits_like_rg_and_says_kept_or_lost() {
    let home = Stocked::new();
    let path = home.entry("opencode", ID, long(), 60);
    let compared = home.run(&["compare", "-p", "opencode/output", path.to_str().unwrap()]).ok();
    assert!(compared.text().ends_with("\tover 2,000 lines\n"), "{}", compared.text());
    let path = path.display();
    let expected = format!(
        "{path}:1500:kept:Error: line 1500\n{path}:3000:lost: over 2,000 lines:Error: line 3000\n\
         {path}:4500:lost: over 2,000 lines:Error: line 4500\n"
    );
    assert_eq!(home.run(&["grep", "error"]).ok().text(), expected);
    assert_eq!(home.run(&["grep", "--stores", "error"]).ok().text(), expected);
    assert_eq!(home.run(&["grep", "error", ID]).ok().text(), expected);
    let lost: String = expected.split_inclusive('\n').skip(1).collect();
    assert_eq!(home.run(&["grep", "--lost", "error"]).ok().text(), lost);
    assert_eq!(home.run(&["grep", "--lost", "Error.*1500"]).status, 1);
    assert_eq!(home.run(&["grep", "eRror"]).status, 1);
}

#[test]
fn a_hit_is_an_object_with_its_place() {
    let home = Stocked::new();
    let path = home.entry("opencode", ID, long(), 60);
    home.entry("mimo", OTHER, b"a\xffb Error\r\n", 30);
    let hits = objects(home.run(&["grep", "--json", "Error"]).ok().text());
    assert_eq!(hits.len(), 4);
    let [young, first, second, _] = &hits[..] else { panic!("{hits:?}") };
    assert_eq!((&young["agent"], &young["id"]), (&"mimo".into(), &OTHER.into()));
    assert_eq!((&young["text"], &young["kept"]), (&"a\u{fffd}b Error".into(), &true.into()));
    assert_eq!((&first["path"], &first["line"]), (&path.to_str().unwrap().into(), &1500.into()));
    assert_eq!((&first["lost_by"], &second["lost_by"]), (&Value::Null, &"lines".into()));
    assert!(hits.iter().all(|hit| hit["certainty"] == "reconstructed"), "{hits:?}");
    let plain = home.file("plain.log", "an Error\n");
    let plain = objects(home.run(&["grep", "--json", "Error", plain.to_str().unwrap()]).ok().text());
    assert_eq!(plain[0]["certainty"], "would-get");
    let content = fs::read(&path).unwrap();
    for hit in &hits[1..] {
        let offset = hit["offset"].as_u64().unwrap() as usize;
        assert!(content[offset..].starts_with(hit["text"].as_str().unwrap().as_bytes()), "{hit}");
    }
}

#[test]
fn grep_takes_the_fate_of_a_line_from_the_recorded_call() {
    let home = Home::new();
    let spill = records::claude(&home);
    let log = records::root(&home).join(format!(".claude/projects/-home-u-proj/{}.jsonl", records::SESSION));
    let lines = |of: &Home| {
        let hits = objects(of.run(&["grep", "--json", "^(2|12|3000)$"]).ok().text());
        let fate =
            |hit: &Value| [&hit["line"], &hit["lost_by"], &hit["certainty"]].map(Value::to_string).join(" ");
        hits.iter().map(fate).collect::<Vec<_>>()
    };
    let by_limit = [r#"2 null "recorded""#, r#"12 null "recorded""#, r#"3000 "bytes" "recorded""#];
    assert_eq!(lines(&home), by_limit);
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replacen(r"\n2\n3\n4\n5\n6\n7\n8\n9\n", r"\n", 1)).unwrap();
    assert_eq!(lines(&home), [r#"2 "cut" "recorded""#, r#"12 null "recorded""#, r#"3000 "cut" "recorded""#]);
    assert!(home.run(&["grep", "-l", "--lost", "^2$"]).ok().text().contains(spill.to_str().unwrap()));
    fs::remove_file(&log).unwrap();
    assert_eq!(lines(&home), by_limit.map(|line| line.replace("recorded", "reconstructed")));
}

#[test]
fn a_session_among_the_paths_leaves_the_hits_of_the_others() {
    let home = Home::new();
    records::claude(&home);
    let plain = home.file("plain.log", "an Error\n");
    let ran = home.run(&["grep", "Error", plain.to_str().unwrap(), records::SESSION]);
    assert_eq!((ran.status, ran.text().lines().count()), (2, 1), "{}", ran.stderr);
    assert!(ran.stderr.contains(records::SESSION), "{}", ran.stderr);
    let ran = home.run(&["compare", plain.to_str().unwrap(), records::SESSION]);
    assert!(ran.status == 1 && ran.text().contains("of 1 output"), "{}", ran.stderr);
}

#[test]
fn grep_says_unknown_if_the_agents_policy_is_not_known() {
    let home = Stocked::new();
    let path = home.entry_at("tmp/cline/large-output-17", long(), 1);
    let lines = objects(home.run(&["grep", "--json", "Error", path.to_str().unwrap()]).ok().text());
    let unknown = |hit: &Value| ["kept", "lost_by", "certainty"].iter().all(|field| hit[field].is_null());
    assert!(lines.len() == 3 && lines.iter().all(unknown), "{lines:?}");
    assert!(home.run(&["grep", "Error"]).ok().text().contains(":4500:unknown:Error: "));
    assert_eq!(home.run(&["grep", "--lost", "Error"]).status, 1);
}

#[test]
fn only_one_agent_s_outputs_are_searched() {
    let home = Stocked::new();
    home.entry("opencode", ID, "Error one\n", 60);
    home.entry("mimo", OTHER, "Error two\n", 30);
    let text = home.run(&["grep", "--agent", "mimo", "Error"]).ok();
    assert!(text.text().contains("two") && !text.text().contains("one"));
    home.run(&["grep", "--agent", "nosuch", "Error"]).fails(2, &["nosuch", "mimo"]);
    home.run(&["grep", "--agent", "mimo", "Error", "."]).fails(2, &["--agent"]);
}

#[test]
fn grep_searches_directories_with_hidden_files_as_bytes() {
    let home = Home::new();
    fs::create_dir_all(home.at("logs/.hidden")).unwrap();
    home.file("logs/.gitignore", "*\n");
    home.file("logs/.hidden/a", "x\x1b[31merror\0 \r\nno");
    home.file("logs/b", "ERROR last");
    symlink(home.at("logs/b"), home.at("logs/link")).unwrap();
    symlink(home.at("logs"), home.at("logs/loop")).unwrap();
    fs::write(home.at("logs").join(OsStr::from_bytes(b"bad\xff\n")), "error").unwrap();
    let ran = home.run(&["grep", "error", "logs"]).ok();
    let expected: &[u8] = b"logs/.hidden/a:1:kept:x\x1b[31merror\0 \r\nlogs/b:1:kept:ERROR last\n\
        logs/bad\xff\n:1:kept:error\n";
    assert_eq!(ran.stdout, expected);
    let ran = home.pipe("an error\n", &["grep", "error", "-"]).ok();
    assert_eq!(ran.text(), "(standard input):1:kept:an error\n");
    assert_eq!(home.pipe("an error\n", &["grep", "error"]).ok().text(), ran.text());
    home.pipe("an error\n", &["grep", "--stores", "error"]).fails(1, &["no stored outputs"]);
}

#[test]
fn grep_s_own_options_mean_what_they_do_in_grep() {
    let home = Stocked::new();
    let path = home.entry("opencode", ID, long(), 60);
    let path = path.display();
    home.file("a", "Error\nerror\nfine\n");
    home.file("b", "fine\n");
    let of = |options: &[&str]| home.run(&[&["grep"], options].concat()).ok().text().to_owned();
    assert_eq!(of(&["Error", "a", "b"]), "a:1:kept:Error\n");
    assert_eq!(of(&["-n", "Error", "a"]), "a:1:kept:Error\n");
    assert_eq!(of(&["-i", "Error", "a"]), "a:1:kept:Error\na:2:kept:error\n");
    assert_eq!(of(&["-v", "error", "a", "b"]), "a:3:kept:fine\nb:1:kept:fine\n");
    assert_eq!(of(&["-c", "error", "a", "b"]), "a:2\n");
    assert_eq!(of(&["-l", "fine", "a", "b"]), "a\nb\n");
    assert_eq!(of(&["-vl", "error", "a", "b"]), "a\nb\n");
    assert_eq!(of(&["-c", "--lost", "error"]), format!("{path}:2\n"));
    assert_eq!(home.run(&["grep", "-lv", "e", "a", "b"]).status, 1);
    assert_eq!(home.run(&["grep", "-c", "e", "a", "nosuch"]).status, 2);
    home.run(&["grep", "-i", "E(", "a"]).fails(2, &["REGEX E(:", "unclosed group, at character 2"]);
}

#[test]
fn grep_reports_missing_names_and_searches_the_rest() {
    let home = Stocked::new();
    home.run(&["grep", "x"]).fails(1, &["no stored outputs", "overspill stores"]);
    let none = home.run(&["grep", "--agent", "kilo", "x"]);
    assert!(none.stderr.contains("no stored outputs; "), "{}", none.stderr);
    home.run(&["grep", "--agent", "codex", "x"]).fails(1, &["no stored outputs; `overspill stores --all`"]);
    home.run(&["grep", "("]).fails(2, &["REGEX (", "unclosed group", "character 1"]);
    home.file("a", "error\n");
    let ran = home.run(&["grep", "error", "nosuch", "a"]);
    assert_eq!((ran.status, &*ran.stdout), (2, &b"a:1:kept:error\n"[..]));
    assert!(ran.stderr.starts_with("overspill: nosuch: no such file or id; "), "{}", ran.stderr);
    assert_eq!(home.run(&["grep", "nothing", "a"]).status, 1);
    home.run(&["grep", "x", ""]).fails(2, &["empty"]);
}

#[test]
fn grep_skips_store_entries_that_are_not_files() {
    let home = Home::new();
    let spill = home.private_entry("opencode", "tool_e26cf08d5001AbCdEfGhIjKlMn", "error: x\n", 1);
    let beside = |id: &str| spill.with_file_name(id);
    fs::create_dir(beside("tool_e26cf08d5001AbCdEfGhIjKlMo")).unwrap();
    fifo(&beside("tool_e26cf08d5001AbCdEfGhIjKlMp"));
    symlink(&spill, beside("tool_e26cf08d5001AbCdEfGhIjKlMq")).unwrap();
    assert_eq!(home.run(&["list", "--json"]).ok().json().as_array().unwrap().len(), 4);
    assert_eq!(home.run(&["grep", "error"]).ok().text().lines().count(), 1);
    assert_eq!(home.run(&["tune", "-p", "opencode/output", "--stores", "--json"]).ok().json()["outputs"], 1);
}

#[test]
fn a_long_line_is_printed_in_part() {
    let home = Home::new();
    let line = [vec![b'x'; 9 << 20], b"needle".to_vec(), vec![b'y'; 1 << 20]].concat();
    home.file("long", line);
    let ran = home.run(&["grep", "needle", "long"]).ok();
    assert!(ran.stdout.len() < 70_000 && ran.text().contains("needle"));
    assert!(ran.text().ends_with(" [64 KB of a line of 10 MB]\n"), "{}", &ran.text()[60_000..]);
    let hit = &objects(home.run(&["grep", "--json", "needle", "long"]).ok().text())[0];
    assert!(hit["text"].as_str().unwrap().len() < 70_000 && hit["offset"] == 0);
}

#[test]
fn ten_thousand_outputs_are_searched_in_their_order() {
    let home = Home::new();
    let expected: BTreeMap<String, u64> = (0..10_000_u64)
        .map(|number| {
            let path = format!("many/{:02}/{number:05}", number % 50);
            fs::create_dir_all(home.at(&path).parent().unwrap()).unwrap();
            fs::write(home.at(&path), "fine\n".repeat(number as usize % 7) + "error\n").unwrap();
            (path, number % 7 + 1)
        })
        .collect();
    let ran = home.run(&["grep", "error", "many"]).ok();
    let lines: String = expected.iter().map(|(path, line)| format!("{path}:{line}:kept:error\n")).collect();
    assert!(ran.text() == lines, "{}", &ran.text()[..200]);
}

#[test]
fn grep_tolerates_files_that_vanish_or_change_meanwhile() {
    let home = Stocked::new();
    let hostile = b"\x1b]0;owned\x07 error \xff\0\xc3 \xe2\x80\xae\r\n".repeat(8);
    for number in 0..10_000 {
        home.entry("opencode", &format!("tool_{number:026}"), &hostile, 1);
    }
    let store = home.dir("data/opencode/tool-output");
    let child = home.command(&["grep", "error"]);
    let mut child = child;
    child.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = child.spawn().unwrap();
    // Its output is not read yet, so the search waits for room in the pipe.
    for entry in fs::read_dir(&store).unwrap() {
        let path = entry.unwrap().path();
        match path.as_os_str().as_bytes().last() {
            Some(b'0'..=b'3') => fs::remove_file(path).unwrap(),
            Some(b'4'..=b'6') => fs::write(path, "").unwrap(),
            _ => {}
        }
    }
    let ran = crate::common::home::finish(child).ok();
    assert!(ran.stderr.is_empty(), "{}", ran.stderr);
    let is_there = |name: &str| ran.stdout.windows(name.len()).any(|at| at == name.as_bytes());
    assert!(is_there("0007:8:kept:\x1b]0;owned") && is_there("9999:8:kept:\x1b]0;owned"));
    assert!(!ran.stdout.is_empty() && ran.stdout.split(|byte| *byte == b'\n').count() < 80_000);
}

#[test]
fn the_fields_are_documented() {
    let home = Home::new();
    home.file("a", "error\n");
    let hit = &objects(home.run(&["grep", "--json", "error", "a"]).ok().text())[0];
    let docs = fs::read_to_string("docs/json.md").unwrap();
    let section = docs.split("\n## `grep`").nth(1).unwrap().split("\n## ").next().unwrap();
    for field in hit.as_object().unwrap().keys() {
        assert!(section.contains(&format!("`{field}`")), "{field}");
    }
}

#[test]
fn a_line_of_a_run_is_kept_exactly_if_its_preview_has_it() {
    let home = Home::new();
    let ran = home.run(&["run", "-q", "-p", "kimi-code/bash", "--", "sh", "-c", "seq 1 60000; exit 123"]);
    let shown: std::collections::BTreeSet<&str> = ran.text().lines().collect();
    let hits = objects(home.run(&["grep", "--json", "--stores", "^598[0-9]{2}$"]).ok().text());
    assert_eq!(hits.len(), 100);
    for hit in &hits {
        assert_eq!(hit["kept"].as_bool(), Some(shown.contains(hit["text"].as_str().unwrap())), "{hit}");
    }
}
