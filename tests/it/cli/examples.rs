//! Every example in the help works as it is written.

use std::process::{Command, Stdio};

use crate::cli::numbered;
use crate::cli::reference::commands;
use crate::common::home::{Home, finish};
use crate::common::records::{self, claude};

/// Returns the command lines in the help of a subcommand.
fn examples(home: &Home, command: &[&str]) -> Vec<String> {
    let help = home.run(&[command, &["--help"]].concat()).ok();
    let (_, examples) = help.text().split_once("\nExamples:\n").unwrap_or_else(|| panic!("{command:?}"));
    let lines: Vec<&str> = examples.lines().collect();
    let commands =
        lines.windows(2).filter(|pair| pair[0].starts_with("  # ")).map(|pair| pair[1].trim().to_owned());
    commands.collect()
}

/// A home with what the examples name.
pub fn stocked() -> Home {
    let home = Home::new();
    home.file("build.log", numbered(3000));
    let hook = r#"{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":"made"}"#;
    home.file("hook.json", hook);
    home.file("notes.txt", "nothing was cut\n");
    claude(&home);
    let log = records::root(&home).join(format!(".claude/projects/-home-u-proj/{}.jsonl", records::SESSION));
    let call = [records::use_of("toolu_01", "true"), records::result_of("toolu_01", "", false)];
    let call = call.map(|record| format!("{record}\n")).concat();
    std::fs::write(&log, std::fs::read_to_string(&log).unwrap() + &call).unwrap();
    home.entry("opencode", "tool_01aaaaaaaaaaaaaa0123456789ab", "x\n", 1);
    std::fs::create_dir_all(home.at("logs")).unwrap();
    home.file("logs/a.log", "thread 'main' panicked at src/main.rs:2:5:\n");
    home.file("Makefile", "all test:\n\t@echo made\n");
    for dir in [".zfunc", ".config/fish/completions", ".local/share/man/man1"] {
        std::fs::create_dir_all(home.work().with_file_name("home").join(dir)).unwrap();
    }
    home
}

/// Runs a line of shell, which overspill must not call a usage error, unless it lacks only a terminal.
#[track_caller]
pub fn works(home: &Home, line: &str) {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_overspill")).parent().unwrap();
    // It goes on until it is ended.
    let line =
        if line.starts_with("overspill list -f") { format!("timeout 1 {line}") } else { line.to_owned() };
    let mut shell = Command::new("bash");
    shell.args(["-c", &line]).current_dir(home.work()).env_clear().envs(home.env());
    shell.env("PATH", format!("{}:/usr/bin:/bin", program.display()));
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = finish(shell.spawn().unwrap());
    let is_usage = ran.status == 2 || ran.stderr.contains("Usage:");
    assert!(!is_usage || ran.stderr.contains("a terminal"), "{line}: {}", ran.stderr);
}

#[test]
fn the_examples_of_the_help_work() {
    let home = stocked();
    for name in commands(&home).into_iter().chain(["hook", "completions", "man", ""].map(str::to_owned)) {
        let words: Vec<&str> = [&*name].into_iter().filter(|name| !name.is_empty()).collect();
        let lines = examples(&home, &words);
        assert!((2..=4).contains(&lines.len()), "{name}: {lines:?}");
        lines.iter().for_each(|line| works(&home, line));
    }
}
