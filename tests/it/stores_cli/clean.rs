//! `clean`: what it deletes, what it leaves, and when it asks first.

use std::fs;

use rustix::fs::{FlockOperation, flock};

use crate::stores_cli::stocked::{ID, OTHER, Stocked, done, name};

/// One due and one young entry each in overspill's own store and in opencode's.
fn stocked() -> (Stocked, [std::path::PathBuf; 4]) {
    let home = Stocked::new();
    let paths = [
        home.own(1, "0123456789", 240),
        home.own(2, "0123456789", 24),
        home.entry("opencode", OTHER, "x", 240),
        home.entry("opencode", ID, "x", 24),
    ];
    (home, paths)
}

fn there(paths: &[std::path::PathBuf; 4]) -> [bool; 4] {
    paths.each_ref().map(|path| path.exists())
}

#[test]
fn without_a_terminal_clean_deletes_nothing() {
    let (home, paths) = stocked();
    for flags in [&["--all"][..], &[], &["--json"], &["--agent", "opencode", "--older-than", "0s"]] {
        let words = [&["clean"], flags].concat();
        home.run(&words).fails(2, &["cannot ask for confirmation", "--yes", "--dry-run"]);
    }
    home.pipe("y\n", &["clean", "--all"]).fails(2, &["--yes"]);
    assert_eq!(there(&paths), [true; 4]);
    assert_eq!(Stocked::new().run(&["clean"]).ok().text(), "nothing to delete in overspill's own store\n");
    home.run(&["clean", "--dry-run", "--yes"]).fails(2, &["--dry-run", "--yes"]);
    home.run(&["clean", "--dry-run", "--all", "--agent", "pi"]).fails(2, &["--all", "--agent"]);
}

#[test]
fn a_dry_run_shows_what_would_go_and_leaves_no_trace() {
    let (home, paths) = stocked();
    let ran = home.run(&["clean", "--dry-run", "--all"]).ok();
    let expected = format!(
        "10 d\t10 B\toverspill\toverdue\t{}\n10 d\t1 B\topencode\toverdue\t{}\nto delete: 2 outputs, 11 B\n",
        paths[0].display(),
        paths[2].display(),
    );
    assert_eq!(ran.text(), expected);
    assert_eq!(there(&paths), [true; 4]);
    let left: Vec<_> =
        fs::read_dir(home.dir("data/overspill")).unwrap().map(|f| f.unwrap().file_name()).collect();
    assert_eq!(left, ["tool-output"]);
}

#[test]
fn clean_without_agent_cleans_only_overspills_own_store() {
    let (home, paths) = stocked();
    let ran = home.run(&["clean", "--yes"]).ok();
    assert_eq!(there(&paths), [false, true, true, true]);
    assert!(ran.text().ends_with("to delete: 1 output, 10 B\ndeleted: 1 output, 10 B\n"), "{}", ran.text());
    let rest = "nothing to delete in overspill's own store; due in those of agents: 1 output, 1 B: \
                see `overspill clean --all --dry-run`\n";
    assert_eq!(home.run(&["clean", "--yes"]).ok().text(), rest);
    assert_eq!(home.log().lines().count(), 1);
    assert!(home.log().contains(r#""size":10,"#) && home.log().contains(name(&paths[0])), "{}", home.log());
}

#[test]
fn clean_agent_cleans_the_store_of_that_agent() {
    let (home, paths) = stocked();
    home.run(&["clean", "--yes", "--agent", "opencode"]).ok();
    assert_eq!(there(&paths), [true, true, false, true]);
    home.run(&["clean", "--yes", "--all", "--older-than", "23h"]).ok();
    assert_eq!(there(&paths), [false; 4]);
}

#[test]
fn does_not_clean_recently_used_copilot_chat_outputs() {
    let home = Stocked::new();
    let dir = home
        .dir("config/Code/User/workspaceStorage/w/GitHub.copilot-chat/chat-session-resources/s")
        .join("call_1");
    let path = home.put(&dir.join("content.txt"), "x", 10);
    let clean = || home.run(&["clean", "--agent", "copilot-chat", "--dry-run"]).ok().text().to_owned();
    assert!(clean().ends_with("to delete: 1 output, 1 B\n"), "{}", clean());
    let used = fs::FileTimes::new().set_accessed(std::time::SystemTime::now());
    fs::File::open(&path).unwrap().set_times(used).unwrap();
    assert_eq!(clean(), "nothing to delete in the stores of copilot-chat\n");
    let json = home.run(&["list", "--json"]).ok().json();
    assert_eq!((&json[0]["rule"], &json[0]["status"]), (&"use".into(), &"ok".into()));
}

#[test]
fn clean_max_total_deletes_the_oldest_until_the_rest_fits() {
    let home = Stocked::new();
    let paths = [(1, 50), (2, 30), (3, 40), (4, 20)].map(|(n, hours)| home.own(n, [b'x'; 512], hours));
    let ran = home.run(&["clean", "--dry-run", "--max-total", "2KiB"]).ok();
    assert_eq!(ran.text(), "nothing to delete in overspill's own store\n");
    let ran = home.run(&["clean", "--yes", "--max-total", "1KiB"]).ok();
    assert_eq!(there(&paths), [false, true, false, true]);
    assert!(ran.text().contains("\tmax-total\t"), "{}", ran.text());
    home.run(&["clean", "--yes", "--max-total", "0"]).ok();
    assert_eq!(there(&paths), [false; 4]);
}

#[test]
fn clean_says_why_an_overdue_entry_stays() {
    let home = Stocked::new();
    let [kept, linked, young] = [1, 2, 3].map(|n| home.own(n, "x", 240));
    home.put(&home.dir("data/overspill/kept").join(name(&kept)), "", 0);
    fs::hard_link(&linked, home.dir("data/other-name")).unwrap();
    fs::rename(&young, home.own_root().join(crate::stores_cli::stocked::own_id(4, 1))).unwrap();
    let ran = home.run(&["clean", "--yes"]).ok();
    assert!(!ran.text().contains(name(&kept)), "what is kept is never due: {}", ran.text());
    assert!(ran.text().contains(&format!("kept: {}: hard link\n", linked.display())), "{}", ran.text());
    assert!(ran.text().contains(": younger by its own times"), "{}", ran.text());
    assert!(ran.text().ends_with("nothing to delete in overspill's own store\n"), "{}", ran.text());
    let json = home.run(&["clean", "--yes", "--json"]).ok().json();
    let rows = json.as_array().unwrap();
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|row| row["outcome"] == "kept" && row["why"].is_null()), "{json}");
    let asked = home.run(&["clean", "--dry-run", "--older-than", "2d"]).ok();
    assert!(asked.text().contains(&format!("kept: {}: kept by you\n", kept.display())), "{}", asked.text());
}

#[test]
fn clean_json_gives_the_outcome_of_each_entry() {
    let (home, paths) = stocked();
    let fate = |flag| {
        let json = home.run(&["clean", "--json", flag]).ok().json();
        let row = json[0].clone();
        assert_eq!((json.as_array().unwrap().len(), row["why"].as_str()), (1, Some("overdue")), "{json}");
        assert_eq!(row["path"], paths[0].to_str().unwrap());
        assert_eq!((&row["size"], &row["rule"]), (&10.into(), &"mtime".into()));
        row["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(fate("--dry-run"), "would go");
    assert!(paths[0].exists());
    assert_eq!(fate("--yes"), "deleted");
    assert_eq!(there(&paths), [false, true, true, true]);
    assert_eq!(home.run(&["clean", "--json", "--yes"]).ok().text(), "[]\n");
}

#[test]
fn deletes_nothing_while_another_cleaning_runs() {
    let (home, paths) = stocked();
    let lock = fs::File::create(home.dir("data/overspill/.lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let ran = done(home.run(&["clean", "--yes"]));
    assert!(ran.stderr.contains("another cleaning is running"), "{}", ran.stderr);
    assert!(ran.text().contains(": another cleaning is running\n"), "{}", ran.text());
    home.run(&["rm", "--yes", name(&paths[0])]).fails(1, &["another cleaning is running", "try again"]);
    assert_eq!(there(&paths), [true; 4]);
    drop(lock);
    home.run(&["clean", "--yes"]).ok();
    assert_eq!(there(&paths), [false, true, true, true]);
}

#[test]
fn clean_deletes_abandoned_temporary_files() {
    let home = Stocked::new();
    let temporary = |n| home.own_root().join(format!(".tmp-{}", crate::stores_cli::stocked::own_id(n, 2)));
    let (dead, writing) = (home.put(&temporary(1), "x", 2), home.put(&temporary(2), "x", 2));
    let young =
        home.put(&home.own_root().join(format!(".tmp-{}", crate::stores_cli::stocked::own_id(3, 0))), "x", 0);
    let lock = fs::File::open(&writing).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let ran = home.run(&["clean", "--yes"]).ok();
    assert_eq!((dead.exists(), writing.exists(), young.exists()), (false, true, true));
    assert!(ran.text().contains("unfinished"), "{}", ran.text());
    assert!(ran.text().contains(&format!("kept: {}: being written", writing.display())), "{}", ran.text());
}
