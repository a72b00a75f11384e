//! `overspill -c` runs the lines of Claude Code's shell tool as the shell does, and saves a copy of what is cut.

use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::common::home::Home;

/// Commands of fifteen kinds, as a model writes them.
const COMMANDS: [&str; 15] = [
    "echo out; echo err >&2",
    "exit 3",
    "set -e; false; echo no",
    "cd sub && pwd",
    "export X=1; f() { echo \"f $X\"; }; f",
    "rcfunc",
    "exec echo replaced",
    "trap 'echo bye' EXIT; echo hi; exit 4",
    "sleep 5 & echo started",
    "cat <<'E'\nit's a \"here\" document $X\nE",
    "kill -9 $$",
    "kill -TERM $$",
    "cat; echo read",
    "yes | head -2; printf 'no feed'",
    "nonexistent-command; echo $?",
];

/// Returns the shells that this machine has.
fn shells() -> Vec<&'static str> {
    let has = |shell: &&str| Path::new(shell).exists();
    ["/bin/bash", "/usr/bin/zsh", "/bin/zsh"].into_iter().filter(has).take(2).collect()
}

/// Writes a line as Claude Code does.
fn line_for(home: &Home, command: &str) -> String {
    let quoted = command.replace('\'', "'\\''");
    format!(
        "source {} 2>/dev/null || true && eval '{quoted}' < /dev/null && pwd -P >| {}",
        home.at("snapshot.sh").display(),
        home.at("claude-5c3e-cwd").display()
    )
}

/// Runs a line with one file as standard output and error. Returns the status, what was written, and the directory noted.
fn run(home: &Home, program: &str, shell: &str, line: &str) -> (ExitStatus, String, String) {
    let _ = fs::remove_file(home.at("claude-5c3e-cwd"));
    let file = File::create(home.at("task.output")).unwrap();
    let mut command = Command::new(program);
    command.args(["-c", line]).current_dir(home.work()).env_clear().envs(home.env()).env("SHELL", shell);
    let status = command.stdout(file.try_clone().unwrap()).stderr(file).status().unwrap();
    let read = |name: &str| fs::read_to_string(home.at(name)).unwrap_or_default();
    (status, read("task.output"), read("claude-5c3e-cwd"))
}

fn prepared() -> Home {
    let home = Home::new();
    home.file("snapshot.sh", "rcfunc() { echo from the snapshot; }\n");
    fs::create_dir(home.at("sub")).unwrap();
    home
}

const OVERSPILL: &str = env!("CARGO_BIN_EXE_overspill");

#[test]
fn the_shell_wrapper_does_not_change_how_a_line_ends() {
    let home = prepared();
    for shell in shells() {
        for command in COMMANDS {
            let line = line_for(&home, command);
            let began = Instant::now();
            let with = run(&home, OVERSPILL, shell, &line);
            assert!(began.elapsed() < Duration::from_secs(4), "it does not wait for children: {command}");
            assert_eq!(with, run(&home, shell, shell, &line), "{shell}: {command}");
        }
    }
    assert_eq!(fs::read_dir(home.work().with_file_name("data")).unwrap().count(), 0, "nothing was cut");
}

/// A hook, or the command of an MCP server: its output goes into a pipe.
#[test]
fn other_lines_go_to_the_shell_unchanged() {
    let home = prepared();
    let mut command = home.command(&["-c", "seq 50000; exit 7"]);
    let ran = command.env("SHELL", "/bin/bash").output().unwrap();
    assert_eq!((ran.status.code(), ran.stdout.len()), (Some(7), 288_894));
    let missing = home.command(&["-c", "true"]).env("SHELL", "/no/such/shell").output().unwrap();
    assert_eq!(missing.status.code(), Some(127));
    assert_eq!(fs::read_dir(home.work().with_file_name("data")).unwrap().count(), 0);
}

#[test]
fn overspill_as_the_shell_runs_sh() {
    let home = prepared();
    std::os::unix::fs::symlink(OVERSPILL, home.at("linked")).unwrap();
    for shell in [OVERSPILL, "overspill", home.at("linked").to_str().unwrap()] {
        let ran = home.command(&["-c", "echo $0 ran"]).env("SHELL", shell).output().unwrap();
        assert_eq!(ran.stdout, b"sh ran\n", "{shell}");
    }
    home.run(&["-c"]).fails(2, &["write `overspill -c LINE`"]);
}

const BUILD: &str = "seq 4000 | sed 's/^/line /; 3120s/.*/error[E0308]: mismatched types/'; exit 1";

#[test]
fn the_output_of_a_failed_build_is_saved_and_the_note_names_it() {
    let home = prepared();
    let (status, printed, _) = run(&home, OVERSPILL, "/bin/bash", &line_for(&home, BUILD));
    assert_eq!((status.code(), printed.lines().count()), (Some(1), 4000));
    let listed = home.run(&["list", "--json"]).ok().json();
    let saved = listed[0]["path"].as_str().unwrap();
    assert_eq!(fs::read_to_string(saved).unwrap(), printed);
    assert_eq!(listed[0]["tool"], "Bash");
    assert!(home.run(&["list"]).ok().text().contains(BUILD), "the line, and not the shell");

    let event = json!({ "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": { "command": BUILD },
        "tool_use_id": "toolu_1", "error": "Exit code 1\n...", "is_interrupt": false });
    let answer = home.pipe(event.to_string(), &["hook", "claude-code"]).ok().json();
    let note = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let error = "You got none of its 1 error:\nline 3,120: error[E0308]: mismatched types\n";
    assert!(note.contains(error) && note.ends_with(&format!("The whole output is in {saved}")), "{note}");
    // The model got what Claude Code makes of it.
    let preview = home.run(&["preview", saved, "--json"]).ok().json();
    assert_eq!(preview["policy"], "claude-code/bash-failed");
}

#[test]
fn the_line_runs_even_if_nothing_can_be_saved() {
    let home = prepared();
    fs::write(home.work().with_file_name("data/overspill"), "in the way").unwrap();
    let (status, printed, _) = run(&home, OVERSPILL, "/bin/bash", &line_for(&home, BUILD));
    assert_eq!((status.code(), printed.lines().count()), (Some(1), 4000), "and not a word more");
}

#[test]
fn a_signal_reaches_the_command() {
    let home = prepared();
    let line = line_for(&home, "trap 'echo caught; exit 5' TERM; echo ready; while :; do sleep 0.05; done");
    let file = File::create(home.at("task.output")).unwrap();
    let mut command = Command::new(OVERSPILL);
    command
        .args(["-c", &line])
        .current_dir(home.work())
        .env_clear()
        .envs(home.env())
        .env("SHELL", "/bin/bash");
    let mut child = command.stdout(file.try_clone().unwrap()).stderr(file).spawn().unwrap();
    let read = || fs::read_to_string(home.at("task.output")).unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    while !read().contains("ready") && Instant::now() < until {
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let status = child.wait().unwrap();
    assert_eq!((status.code(), status.signal(), read().as_str()), (Some(5), None, "ready\ncaught\n"));
}
