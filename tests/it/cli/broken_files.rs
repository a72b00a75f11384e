//! A mistake in one of the user's own files stops nothing that does not need that file, and deletes nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::cli::numbered;
use crate::common::home::{Home, Ran};

fn own(home: &Home, name: &str, text: &str) -> PathBuf {
    let path = home.work().with_file_name("config").join("overspill").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

/// An id in overspill's own store.
const ID: &str = "tool_0000019abcdef012ABCDEFGHIJKL";

/// A policy that keeps `size` bytes of the start.
fn policy(tool: &str, size: &str) -> String {
    format!(
        "agent = \"mine\"\ntool = \"{tool}\"\nsource = \"me\"\nconfidence = \"own\"\nsummary = \"s\"\nunit = \"bytes\"\n\n\
         [when]\nsize = {size}\n\n[keep]\nstrategy = \"size\"\nsize = 5\n\n[text]\ncut = \"{{{{ kept }}}}!\"\n"
    )
}

#[track_caller]
fn goes_on(ran: Ran, words: &[&str]) -> Ran {
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(words.iter().all(|words| ran.stderr.contains(words)), "{words:?} in {}", ran.stderr);
    ran
}

/// A home with one policy that works and one that does not.
fn with_policies() -> Home {
    let home = Home::new();
    home.file("out.log", numbered(3));
    own(&home, "policies/good.toml", &policy("good", "5"));
    own(&home, "policies/bad.toml", &policy("bad", "true"));
    home
}

#[test]
fn a_broken_policy_stops_nothing_but_itself() {
    let home = with_policies();
    let words = ["policies/bad.toml:9", "`size`", "whole number", "this file is not used"];
    let good = goes_on(home.run(&["preview", "-p", "mine/good", "out.log"]), &words);
    assert_eq!(good.text(), "line !");
    let all = goes_on(home.run(&["policies"]), &words);
    assert!(all.text().contains("mine/good") && !all.text().contains("mine/bad"), "{}", all.text());
    for command in
        [&["list"][..], &["stores"], &["clean", "--dry-run"], &["show", "out.log"], &["compare", "out.log"]]
    {
        goes_on(home.run(command), &words);
    }
    for command in [&["man"][..], &["completions", "zsh"], &["--help"], &["list", "--help"]] {
        assert_eq!(home.run(command).ok().stderr, "");
    }
    for command in [&["preview", "-p", "mine/bad", "out.log"][..], &["policies", "mine/bad"]] {
        home.run(command).fails(2, &words[..3]);
    }
}

#[test]
fn a_broken_override_does_not_bring_back_the_built_in_policy() {
    let home = with_policies();
    let text = policy("output", "true").replace("\"mine\"", "\"opencode\"");
    own(&home, "policies/over.toml", &text);
    home.run(&["preview", "out.log"]).fails(2, &["over.toml:9", "`size`"]);
    home.run(&["preview", "-p", "opencode/output", "out.log"]).fails(2, &["over.toml:9"]);
    goes_on(home.run(&["preview", "-p", "pi/bash", "out.log"]), &["over.toml:9"]);
    // Another file that works makes up for it.
    own(&home, "policies/over2.toml", &text.replace("size = true", "size = 5"));
    assert_eq!(goes_on(home.run(&["preview", "out.log"]), &["over.toml:9"]).text(), "line !");
}

#[test]
fn a_command_is_run_whatever_is_wrong_with_the_files() {
    let home = with_policies();
    let shell = ["--", "sh", "-c", "echo ran >>proof; seq 3; exit 4"];
    let run = |flags: &[&str]| home.run(&[&["run"], flags, &shell[..]].concat());
    let ran = |ran: Ran, words: &[&str]| {
        assert_eq!((ran.status, ran.text()), (4, "1\n2\n3\n"), "{}", ran.stderr);
        assert!(words.iter().all(|words| ran.stderr.contains(words)), "{words:?} in {}", ran.stderr);
    };
    let instead = "going on with opencode/output as built in";
    ran(run(&["-p", "mine/bad"]), &["bad.toml:9", instead]);
    own(&home, "config.toml", "policy = \"mine/bad\"\n");
    ran(run(&[]), &["bad.toml:9", instead]);
    for text in ["policy = 7\n", "polcy = 'x'\n", "[[[", "keep_own = 'x'\n", "policy = 'no/such'\n"] {
        own(&home, "config.toml", text);
        ran(run(&[]), &["config.toml"]);
    }
    // What only the screens need is no business of a command whose standard error a model reads.
    own(&home, "config.toml", "theme = 'x'\n");
    let quiet = run(&[]);
    assert_eq!(quiet.status, 4);
    assert!(!quiet.stderr.contains("config.toml"), "{}", quiet.stderr);
    own(&home, "config.toml", "[limits.\"opencode/output\"]\nmax_lines = \"many\"\n");
    ran(run(&[]), &["config.toml", "max_lines", "many"]);
    assert_eq!(fs::read_to_string(home.at("proof")).unwrap(), "ran\n".repeat(9));
}

#[test]
fn a_broken_configuration_stops_commands_that_need_limits() {
    let home = Home::new();
    home.file("out.log", numbered(3));
    own(&home, "config.toml", "policy = 7\n");
    for command in [&["preview", "out.log"][..], &["compare", "out.log"], &["read", "out.log"]] {
        home.run(command).fails(2, &["config.toml"]);
    }
    for command in
        [&["list"][..], &["stores"], &["policies"], &["sessions"], &["clean", "--agent", "pi", "--dry-run"]]
    {
        goes_on(home.run(command), &["config.toml"]);
    }
    assert_eq!(home.run(&["man"]).ok().stderr, "");
}

#[test]
fn an_invalid_setting_never_deletes_anything() {
    let home = Home::new();
    let spill = home.private_entry("overspill", ID, "x", 40 * 24);
    for directory in spill.ancestors().skip(1).take(2) {
        fs::set_permissions(directory, PermissionsExt::from_mode(0o700)).unwrap();
    }
    for text in
        ["keep_own = 7\n", "keep_own = \"for ever\"\n", "kep_own = \"never\"\n", "keep_own = \"never\n"]
    {
        own(&home, "config.toml", text);
        for command in
            [&["clean", "--yes"][..], &["clean", "--all", "--yes"], &["clean", "--older-than", "1d", "--yes"]]
        {
            home.run(command).fails(2, &["config.toml"]);
        }
        let ran = home.run(&["run", "--keep", "always", "--", "echo", "x"]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(spill.exists(), "{text}");
    }
    own(&home, "config.toml", "keep_own = \"never\"\n");
    assert!(home.run(&["clean", "--yes"]).ok().text().contains("nothing"), "kept for ever");
    own(&home, "config.toml", "theme = \"dark\"\n");
    home.run(&["clean", "--yes"]).ok();
    assert!(!spill.exists());
}

#[test]
fn a_broken_store_file_lists_the_others_and_deletes_nothing() {
    let home = Home::new();
    let spills = home.work().with_file_name("home/spills");
    let store = "agent = \"mine\"\nsource = \"me\"\nconfidence = \"own\"\n\n[[store]]\nroots = [\"~/spills\"]\nfiles = [{ name = '.*' }]\n\
                 retention = { by = \"mtime\", after = \"7d\" }\n";
    fs::create_dir_all(&spills).unwrap();
    fs::write(spills.join("a"), "x").unwrap();
    let then = std::time::SystemTime::now() - std::time::Duration::from_secs(40 * 86_400);
    fs::File::open(spills.join("a")).unwrap().set_modified(then).unwrap();
    own(&home, "stores/good.toml", store);
    own(&home, "stores/bad.toml", &store.replace("mine", "pi").replace("7d", "soon"));
    let words = ["bad.toml", "after", "soon"];
    assert!(goes_on(home.run(&["list"]), &words).text().contains("mine"));
    for command in [&["stores", "pi"][..], &["list", "--agent", "pi"], &["clean", "--agent", "pi", "--yes"]] {
        home.run(command).fails(2, &words);
    }
    home.run(&["clean", "--all", "--yes"]).fails(2, &["nothing was deleted"]);
    assert!(spills.join("a").exists());
    goes_on(home.run(&["clean", "--agent", "mine", "--yes"]), &words);
    assert!(!spills.join("a").exists());
}

#[test]
fn files_that_can_not_be_read_are_named_with_a_remedy() {
    let home = with_policies();
    let link = own(&home, "policies/link.toml", "");
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("nowhere", &link).unwrap();
    let config = own(&home, "config.toml", "");
    fs::write(&config, b"theme = \"dark\"\npolicy = \"\xff\"\n").unwrap();
    let words =
        ["link.toml: is a symbolic link", "ls -l", "config.toml: is not UTF-8 in line 2; save it as UTF-8"];
    home.run(&["preview", "f"]).fails(2, &words);
}

#[test]
fn the_smallest_policy_of_the_documentation_works() {
    let home = Home::new();
    home.file("out.log", numbered(300));
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/policies.md")).unwrap();
    let (_, rest) = page.split_once("## The smallest policy").unwrap();
    let (_, rest) = rest.split_once("```toml\n").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    own(&home, "policies/my-agent-shell.toml", text);
    let ran = home.run(&["preview", "-p", "my-agent", "out.log"]).ok();
    let end = format!("line 100\n[201 lines cut; the whole output is in {}]", home.at("out.log").display());
    assert!(ran.text().starts_with("line 1\n") && ran.text().ends_with(&end), "{}", ran.text());
    let all = home.run(&["policies", "--json"]).ok().json();
    let mine = all.as_array().unwrap().iter().find(|policy| policy["name"] == "my-agent/shell").unwrap();
    assert_eq!((&mine["unit"], &mine["confidence"]), (&"bytes".into(), &"own".into()));
    assert_eq!(mine["source"], "its file does not say");
    assert!(home.run(&["policies"]).ok().text().contains("my-agent/shell"));
    // Without its limits it would still be a policy; every other line is needed.
    for line in text.lines().filter(|line| line.contains('=')) {
        own(&home, "policies/my-agent-shell.toml", &text.replace(&format!("{line}\n"), ""));
        let is_limit = line.starts_with("lines");
        let ran = home.run(&["preview", "-p", "my-agent", "out.log"]);
        assert!(is_limit || ran.status == 2, "{line}: {}", ran.stderr);
    }
}

#[test]
fn an_agent_s_policies_are_listed() {
    let home = Home::new();
    let of = |words: &[&str]| -> Vec<String> {
        let listed = home.run(&[&["policies"], words].concat()).ok();
        listed.text().lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    };
    assert_eq!(of(&["kimi-code"]), ["kimi-code/bash", "kimi-code/tool"]);
    assert_eq!(of(&["claude-code", "--all"]).len(), 6);
    assert!(of(&["pi-30k"]).contains(&"pi-30k/bash".to_owned()), "all of it is of earlier versions");
    let json = home.run(&["policies", "goose", "--json"]).ok().json();
    let names = Vec::from_iter(json.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()));
    assert_eq!(names, ["goose/result", "goose/shell"]);
}
