//! Words that are nearly right are answered with what was meant, and options that change nothing are refused.

use crate::cli::EXAMPLE;
use crate::common::home::Home;

fn with_log() -> Home {
    let home = Home::new();
    home.file("build.log", EXAMPLE);
    home
}

pub(super) fn config(home: &Home, text: &str) {
    let config = home.work().with_file_name("config").join("overspill");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), text).unwrap();
}

#[test]
fn refuses_a_start_position_when_a_file_is_copied() {
    let home = with_log();
    for words in
        [&["+100", "build.log"][..], &["+G", "build.log"], &["build.log", "+/E0308"], &["build.log:3"]]
    {
        home.run(words).fails(2, &["has no effect here", "overspill read --offset N"]);
    }
    home.run(&["+100"]).fails(2, &["+100", "no file is named"]);
    home.run(&["nosuch:3"]).fails(1, &["nosuch:3: no such file"]);
    home.file("build.log:3", "named so\n");
    assert_eq!(home.run(&["build.log:3"]).ok().text(), "named so\n");
    assert_eq!(home.run(&["-F", "build.log"]).ok().text(), EXAMPLE);
}

#[test]
fn refuses_preview_options_when_a_file_is_copied() {
    let home = with_log();
    for flags in
        [&["-p", "opencode/outptu"][..], &["--max-lines", "3"], &["--set", "a=b"], &["--exit-code", "1"]]
    {
        let words = [flags, &["build.log"]].concat();
        home.run(&words).fails(2, &["has no effect here", "overspill preview"]);
    }
    home.run(&["run", "--session", "s", "--", "true"]).fails(2, &["--session", "--layout agent"]);
}

#[test]
fn the_last_of_a_repeated_option_counts() {
    let home = with_log();
    let of = |flags: &[&str]| home.run(&[&["preview", "build.log"], flags].concat()).ok().text().to_owned();
    assert_eq!(of(&["--max-lines", "1", "--max-lines", "2"]), of(&["--max-lines", "2"]));
    assert_eq!(of(&["-p", "pi/bash", "-p", "opencode/output"]), of(&[]));
    let both = of(&["-p", "opencode/output", "--set", "max_lines=2", "--set", "max_bytes=5"]);
    assert_eq!(both, of(&["--max-lines", "2", "--max-bytes", "5"]), "--set adds up");
}

#[test]
fn a_policy_that_the_configuration_misspells_is_named_with_its_place() {
    let home = with_log();
    for (text, place) in [
        (
            "policy = \"opencode/otput\"\n",
            "config.toml:1:10: `policy`: no policy `opencode/otput`; did you mean opencode/output?",
        ),
        (
            "[limits.\"opencode/otput\"]\nmax_lines = 3\n",
            "config.toml:1:9: `limits`: no policy `opencode/otput`; did you mean opencode/output?",
        ),
        (
            "[tools.grep]\npolicy = \"pi/gerp\"\n",
            "config.toml:2:10: `policy`: no policy `pi/gerp`; did you mean pi/grep?",
        ),
    ] {
        config(&home, text);
        home.run(&["preview", "build.log"]).fails(2, &["config.toml", place]);
    }
}

#[test]
fn a_timeout_is_reported() {
    let ran = Home::new().run(&["run", "--timeout", "0.2s", "--", "sleep", "30"]);
    assert_eq!(ran.status, 124);
    assert!(ran.stderr.contains("the command timed out and was stopped"), "{}", ran.stderr);
}

#[test]
fn mistakes_are_answered_with_suggestions() {
    let home = with_log();
    std::os::unix::fs::symlink("loop", home.at("loop")).unwrap();
    let none: &[&str] = &["no sessions of `Codex`", "did you mean codex?"];
    for (words, status, said) in [
        (&["sessions", "--agent", "Codex"][..], 2, none),
        (&["list.log"], 1, &["list.log: no such file"]),
        (&["stores", "claude"], 2, &["no store `claude`; did you mean claude-code?"]),
        (&["verify", "nosuch"], 1, &["nosuch: no such file or id", "`overspill sessions`"]),
        (&["run", "ls | head -1"], 127, &["command not found; overspill runs no shell"]),
        (&["run", "--", "cd", "/"], 127, &["command not found; overspill runs no shell"]),
        (&["run", "--", "./build.log"], 126, &["./build.log: not an executable file"]),
        (&["run", "--headroom", "t15", "--", "true"], 2, &["the policies of t15 are t15/generic, "]),
        (&["preview", "-p", "claude", "build.log"], 2, &["are claude-code/bash, claude-code/bash-failed, "]),
        (
            &["preview", "-p", "bash", "build.log"],
            2,
            &["no policy `bash`; name its agent, too: claude-code/bash, "],
        ),
        (&["preview", "-p", "gpt-5", "build.log"], 2, &["no policy `gpt-5`; `overspill policies` lists"]),
        (&["preview", "--set", "foo", "build.log"], 2, &["'foo' is not KEY=VALUE; write it as in --set"]),
        (
            &["read", "-p", "claude-code", "build.log"],
            2,
            &["claude-code/bash is not a read tool; try -p with "],
        ),
        (&["list", "foo"], 2, &["unexpected `foo`: `overspill list` takes no names; `overspill show ID`"]),
        (&["list", "--agent", "opencode,pi"], 2, &["no agent `opencode,pi`; name one, or leave it out"]),
        (&["list", "--agent", "pi", "--agent=opencode"], 2, &["--agent is given twice; name one agent"]),
        (
            &["list", "--sort", "name"],
            2,
            &["`name` is not a value of --sort; write one of age, size, left, agent, tool, session, id"],
        ),
        (&["show", "--text=foo", "x"], 2, &["`foo` is not a value of --text; write one of sent, recorded, "]),
        (&["list", "--older-than", "2999-01-01"], 2, &["or a past day such as 2026-11-01"]),
        (&["preview", "loop"], 1, &["loop: is a symbolic link that leads back to itself"]),
        (&["policies", "pi/bash", "--json"], 2, &["--all and --json are for lists"]),
    ] {
        home.run(words).fails(status, said);
    }
}
