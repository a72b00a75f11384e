//! Mistakes and odd requests at the command line: the status of each, and the first line of the answer.

use std::fmt::Write as _;
use std::os::unix::net::UnixListener;
use std::process::{Command, Stdio};

use crate::cli::numbered;
use crate::common::home::{Home, finish};
use crate::common::records;

/// Command lines by kind of mistake; the answers stand beside them in the snapshot.
const LINES: &[(&str, &[&str])] = &[
    (
        "commands that are not there",
        &[
            "previw f",
            "lst",
            "policy",
            "store",
            "version",
            "PREVIEW f",
            "search x",
            "delete -f x",
            "view f",
            "diff f",
            "status",
            "init",
            "nosuch",
            "help prview",
            "help nosuch",
            "-p opencode/output preview f",
            "--json list",
            "--nosuch list",
            "-v",
        ],
    ),
    (
        "options that are not there",
        &[
            "preview -V f",
            "run --version",
            "preview --agent opencode f",
            "preview --lines 5 f",
            "preview -n 5 f",
            "preview --tail 5 f",
            "preview --max-line 5 f",
            "preview --max_lines=5 f",
            "preview --colour never f",
            "preview --nosuch f",
            "rm -f x",
            "rm --dry-run x",
            "rm --json x",
            "policies --agent pi",
            "stores --agent pi",
            "preview '--a\u{1b}[31m' f",
            "grep -r x f",
            "grep -o x f",
            "explain --clipboard f",
            "run -c 'echo hi'",
        ],
    ),
    (
        "values",
        &[
            "preview --direction middle f",
            "preview --max-lines 5k f",
            "preview --max-lines five f",
            "preview --max-lines 1,000 f",
            "preview --max-lines -5 f",
            "preview --max-lines 99999999999999999999 f",
            "preview --max-bytes 18446744073709551616 f",
            "preview --max-bytes 50x f",
            "preview --max-bytes 1.5k f",
            "preview --max-bytes '50 k' f",
            "preview --max-bytes -1 f",
            "list --older-than -1d",
            "clean --max-total -1",
            "list --older-than 7",
            "preview --exit-code abc f",
            "preview --max-lines",
            "preview --saved-as '' f",
            "read --offset 0 f",
            "read --offset 99999 f",
            "completions /bin/bash",
            "completions foo",
            "hook foo",
        ],
    ),
    (
        "policies and agents",
        &[
            "preview -p Claude-Code/Bash f",
            "preview -p claude_code/bash f",
            "preview -p claude-code/bsh f",
            "preview -p pi -t bsh f",
            "preview -t bash f",
            "preview -p claude-code/bash --max-lines 5 f",
            "preview --max-bytes 9 --set max_bytes=4 f",
            "preview --exit-code 3 f",
            "preview --stderr a f",
            "read -p claude-code/bash f",
            "list --agent open",
        ],
    ),
    (
        "names that are not there",
        &[
            "preview nofile",
            "preview ''",
            "preview dir",
            "preview < dir",
            "show tool_zzz",
            "rm nothing",
            "rm -y nothing",
            "rm -y f",
            "rm -y ''",
            "compare nofile",
            "compare nofile f",
            "compare dir",
            "tune dir",
            "tune nofile",
            "tune nofile f",
            "grep x nofile",
            "grep 1 nofile f",
            "explain nofile",
            "explain f",
            "man nosuch",
            "man overspill",
            "--config nofile list",
            "explain dir",
            "explain sock",
            "preview sock",
            "preview loop",
            "show dir",
            "show loop",
            "show tool_",
            "rm -y tool_",
            "sessions nosuch",
            "verify nosuch",
            "verify f",
            "sessions --project /nonexistent",
        ],
    ),
    (
        "too many words, too few, and words that exclude each other",
        &[
            "preview a b",
            "read f 2001 500",
            "read f:3",
            "preview +3 f",
            "show a b",
            "list foo",
            "clean foo",
            "stores a b",
            "read",
            "show",
            "rm",
            "grep",
            "completions",
            "setup",
            "hook",
            "run",
            "preview --json --raw f",
            "clean --dry-run --yes",
            "clean --all --agent pi",
            "clean --json",
            "stores pi --json",
            "preview --keep always f",
            "run --saved-as-stderr /y -- true",
            "run --layout agent -p opencode/output --session s -- true",
            "-p pi/bash f",
            "--max-lines 3 f",
            "+100 f",
        ],
    ),
    (
        "what is no mistake",
        &["clean", "preview --max-lines 1 --max-lines 2 f", "help run", "run --headroom 10 -- true"],
    ),
];

#[test]
fn every_mistake_is_answered_in_one_line_that_says_what_to_do() {
    let home = Home::new();
    for name in ["f", "a", "b"] {
        home.file(name, numbered(3000));
    }
    std::fs::create_dir(home.at("dir")).unwrap();
    std::os::unix::fs::symlink("loop", home.at("loop")).unwrap();
    let _listener = UnixListener::bind(home.at("sock")).unwrap();
    records::claude(&home);
    for id in ["tool_01aaaaaaaaaaaaaa0123456789ab", "tool_02aaaaaaaaaaaaaa0123456789ab"] {
        home.entry("opencode", id, "x\n", 1);
    }
    let mut answers = String::new();
    for (kind, lines) in LINES {
        let _ = writeln!(answers, "# {kind}");
        for line in *lines {
            let (status, answer) = answer(&home, line);
            let _ = writeln!(answers, "{line}\n  {status} {answer}");
        }
    }
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!("misuse", answers);
    });
}

/// Returns the status of a command line, and the first line on standard error.
fn answer(home: &Home, line: &str) -> (i32, String) {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{} {line}", env!("CARGO_BIN_EXE_overspill"))]);
    shell.current_dir(home.work()).env_clear().envs(home.env());
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = finish(shell.spawn().unwrap());
    let first = ran.stderr.lines().next().unwrap_or("(nothing)");
    (ran.status, first.replace(home.work().parent().unwrap().to_str().unwrap(), ""))
}
