//! `list`: which entries, in which order, and their columns.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::stores_cli::stocked::{ID, OTHER, Stocked, name, own_id};

fn stocked() -> Stocked {
    let home = Stocked::new();
    home.entry("opencode", ID, "x".repeat(3000), 60);
    home.entry("opencode", OTHER, "y", 24 * 9);
    home.entry("mimo", "tool_0000f08d5001AbCdEfGhIjKlMn", "fork", 5);
    home.own(1, "ours", 1);
    home.put(&home.dir("tmp/pi-bash-0123456789abcdef.log"), "pi", 30);
    home
}

const PI: &str = "0123456789abcdef";
const FORK: &str = "tool_0000f08d5001AbCdEfGhIjKlMn";

#[test]
fn entries_are_chosen_by_agent_age_and_size() {
    let home = stocked();
    let own = own_id(1, 1)[..5].to_owned();
    assert_eq!(home.listed(&["--agent", "opencode"]), [ID, OTHER]);
    assert_eq!(home.listed(&["--agent", "mimo"]), [FORK]);
    assert_eq!(home.listed(&["--agent", "opencode-fork"]), [FORK]);
    assert!(home.listed(&["--agent", "overspill"])[0].starts_with(&own));
    assert_eq!(home.listed(&["--older-than", "2d"]), [ID, OTHER]);
    assert_eq!(home.listed(&["--older-than", "1d", "--larger-than", "1"]), [PI, ID]);
    assert_eq!(home.listed(&["--larger-than", "2k"]), [ID]);
    assert_eq!(home.listed(&["--larger-than", "3000"]), [""; 0]);
}

#[test]
fn entries_are_sorted_by_every_key() {
    let home = stocked();
    let sorted = |key| {
        let ids = home.listed(&["--sort", key]);
        ids.into_iter()
            .map(|id| [ID, OTHER, FORK, PI].iter().position(|known| *known == id))
            .collect::<Vec<_>>()
    };
    let (id, other, fork, pi, own) = (Some(0), Some(1), Some(2), Some(3), None);
    assert_eq!(sorted("age"), [own, fork, pi, id, other]);
    assert_eq!(sorted("size"), [id, own, fork, pi, other]);
    assert_eq!(sorted("left"), [other, id, own, fork, pi]);
    assert_eq!(sorted("agent"), [fork, id, other, own, pi]);
    assert_eq!(sorted("tool"), [pi, own, fork, id, other]);
    assert_eq!(sorted("id"), [pi, fork, own, other, id]);
    let [past, older] = ["2020-01-01", "1999-01-01"].map(|day| home.run(&["list", "--older-than", day]));
    assert!(past.stdout.is_empty() && older.stdout.is_empty(), "all are younger than that day");
    home.run(&["list", "--sort", "colour"]).fails(2, &["colour", "age", "left", "session"]);
    home.run(&["list", "-f", "--sort", "age"]).fails(2, &["--follow", "--sort"]);
    assert_eq!(home.run(&["ls"]).ok().text(), home.run(&["list"]).ok().text());
}

#[test]
fn an_unknown_agent_is_answered_with_the_known_ones() {
    let home = stocked();
    for command in [&["list"][..], &["clean", "--dry-run"]] {
        let flags = ["--agent", "mini"];
        home.run(&[command, &flags].concat()).fails(2, &["`mini`", "claude-code", "codex", "mimo", "pi"]);
    }
    home.run(&["list", "--older-than", "7"]).fails(2, &["'7'", "7d"]);
    home.run(&["list", "--larger-than", "big"]).fails(2, &["'big'", "50k"]);
}

#[test]
fn list_says_that_an_agent_keeps_no_outputs() {
    let ran = stocked().run(&["list", "--agent", "codex", "--json"]);
    assert_eq!((ran.status, ran.text()), (0, "[]\n"));
    assert!(ran.stderr.contains("codex keeps no outputs"), "{}", ran.stderr);
}

#[test]
fn list_json_records_have_a_fixed_set_of_fields() {
    let home = stocked();
    let session = "01234567-0123-0123-0123-0123456789ab";
    let claude = home.dir("home/.claude/projects/-work").join(session).join("tool-results/bab12cd34.txt");
    home.put(&claude, "x", 1);
    let json = home.run(&["list", "--json", "--agent", "claude-code"]).ok().json();
    let record = json[0].as_object().unwrap();
    let keys: Vec<&str> = record.keys().map(String::as_str).collect();
    let expected = [
        "id", "path", "agent", "tool", "session", "project", "size", "modified", "expires", "rule", "holds",
        "copy_of", "status", "mode",
    ];
    assert_eq!(keys, expected);
    assert_eq!((&record["tool"], &record["session"]), (&"Bash".into(), &session.into()));
    assert_eq!((&record["holds"], &record["mode"]), (&"raw".into(), &"0644".into()));
    assert_eq!(record["project"], "-work");
    let modified = record["modified"].as_str().unwrap();
    assert!(modified.ends_with('Z') && modified.len() == "2026-11-25T14:00:00Z".len(), "{modified}");
}

#[test]
fn entries_without_a_time_rule_have_no_expiry() {
    let home = stocked();
    home.put(&home.dir("tmp/opencode-s1/bash-17-stdout.txt"), "x", 1);
    home.put(&home.dir("tmp/opencode-999999999/bash-stdout-17.txt"), "x", 1);
    let json = home.run(&["list", "--json"]).ok().json();
    let rules = json.as_array().unwrap().iter().filter(|record| record["expires"].is_null());
    let mut rules: Vec<(&str, &str)> =
        rules.map(|record| (record["rule"].as_str().unwrap(), record["status"].as_str().unwrap())).collect();
    rules.sort();
    let expected = [("never", "ok"), ("process-exit", "orphaned"), ("session-end", "ok"), ("unknown", "ok")];
    assert_eq!(rules, expected);
    assert!(home.run(&["list"]).ok().text().contains("\tleft behind\t"));
}

#[test]
fn age_and_time_left_add_up_to_the_whole() {
    let home = Stocked::new();
    home.own(1, "new", 0);
    home.own(2, "older", 5 * 24);
    let text = home.run(&["list"]).ok().stdout;
    let text = String::from_utf8(text).unwrap();
    let left: Vec<&str> = text.lines().map(|row| row.split('\t').nth(4).unwrap()).collect();
    assert_eq!(left, ["7 d", "2 d"], "{text}");
}

#[test]
fn a_kept_output_does_not_expire() {
    let home = Stocked::new();
    let path = home.own(1, "precious", 240);
    home.put(&home.dir("data/overspill/kept").join(name(&path)), "", 0);
    let json = home.run(&["list", "--json"]).ok().json();
    assert_eq!((&json[0]["rule"], &json[0]["expires"]), (&"kept".into(), &serde_json::Value::Null));
    assert_eq!(json[0]["status"], "ok");
    assert!(home.run(&["list"]).ok().text().contains("\tkept\t"));
}

#[test]
fn list_marks_a_mode_that_lets_others_read() {
    let home = Stocked::new();
    home.own(1, "x", 1);
    let open = home.entry("opencode", ID, "x", 2);
    fs::set_permissions(open, PermissionsExt::from_mode(0o640)).unwrap();
    let ran = home.run(&["list"]).ok();
    let modes: Vec<&str> = ran.text().lines().map(|row| row.split('\t').nth(6).unwrap()).collect();
    assert_eq!(modes, ["0600", "0640!"]);
}

#[test]
fn names_of_any_bytes_are_one_safe_line_each() {
    let home = Stocked::new();
    let dir = home.dir("home/.hermes/cache/terminal-output");
    let long = "n".repeat(255);
    let names: [&[u8]; 6] =
        [b"\x1b]0;gotcha\x07", b"a\nb", b"\xff\xfe", "\u{202e}txt".as_bytes(), long.as_bytes(), b"-rf"];
    for name in names {
        home.put(&dir.join(std::ffi::OsStr::from_bytes(name)), "x", 1);
    }
    symlink("/etc/passwd", dir.join("link")).unwrap();
    let ran = home.run(&["list"]).ok();
    let count = home.run(&["list", "--json"]).ok().json().as_array().unwrap().len();
    assert_eq!((ran.text().lines().count(), count), (count, ran.text().lines().count()));
    assert_eq!(count, 7, "{}", ran.text());
    assert!(ran.text().contains("a^Jb"), "{}", ran.text());
    let bad =
        |c: char| !['\n', '\t'].contains(&c) && (c.is_control() || matches!(c, '\u{202a}'..='\u{202e}'));
    assert!(!ran.text().contains(bad), "{:?}", ran.text());
    assert!(ran.text().contains("symbolic link"), "{}", ran.text());
    for words in
        [&["stores"][..], &["clean", "--all", "--dry-run", "--older-than", "0s"], &["show", "\x1b]0"]]
    {
        let ran = home.run(words);
        assert!(!ran.text().contains(bad) && !ran.stderr.contains(bad), "{ran:?}");
    }
    home.run(&["clean", "--yes", "--agent", "hermes", "--older-than", "0s"]).ok();
    let left: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["link"], "a name that can be listed can be deleted");
    assert!(home.log().lines().count() == 6 && !home.log().contains(bad), "{}", home.log());
}

#[test]
fn a_missing_store_or_a_file_in_its_place_is_no_error() {
    let home = Stocked::new();
    home.put(&home.dir("data/opencode/tool-output"), "not a directory", 1);
    let ran = home.run(&["list"]);
    assert_eq!((ran.status, ran.text()), (0, ""));
    assert!(ran.stderr.contains("overspill stores"), "{}", ran.stderr);
    home.entry("kilo", ID, "x", 1);
    assert!(home.run(&["list", "--older-than", "1d"]).stderr.contains("of that kind"));
}

#[test]
fn list_reports_an_unreadable_store_and_lists_the_rest() {
    if !crate::common::skip::is_ordinary("everything can be read") {
        return;
    }
    let home = stocked();
    // Several agents keep outputs in the other directory.
    let roots = [home.dir("data/opencode/tool-output"), home.dir("tmp")];
    let set = |mode| {
        roots.iter().for_each(|root| fs::set_permissions(root, PermissionsExt::from_mode(mode)).unwrap());
    };
    set(0o300);
    let ran = home.run(&["list", "--json"]);
    set(0o700);
    assert_eq!((ran.status, ran.json().as_array().unwrap().len()), (0, 2));
    assert!(ran.stderr.contains("data/opencode/tool-output: cannot be read"), "{}", ran.stderr);
    assert_eq!(ran.stderr.matches("/tmp: cannot be read").count(), 1, "{}", ran.stderr);
}
