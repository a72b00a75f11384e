//! A terminal that is not in UTF-8 gets ASCII from every command: to one, other bytes may be control characters.

use std::collections::BTreeSet;

use crate::cli::reference::commands;
use crate::common::home::Home;
use crate::common::records::{self, SESSION, claude};
use crate::common::samples::hostile;
use crate::common::session::Session;

const ID: &str = "tool_c8d4f08d5001AbCdEfGhIjKlMn";
/// Of its bytes in UTF-8, the last is OSC to a terminal in 8-bit mode.
const SIGN: &str = "A\u{11d}52;c;cHdu\u{11c}B";

/// A home with unusual names and content wherever a command looks.
fn home() -> Home {
    let home = Home::new();
    let content = [hostile(), format!("\nerror {SIGN} {}\n", "e\u{301}".repeat(50)).into_bytes()].concat();
    let long = [content.clone(), format!("line {SIGN}\n").repeat(3000).into_bytes()].concat();
    home.file("é\u{202e}.log", &long);
    home.file("short", &content);
    home.file("notice.txt", format!("{SIGN}\n\n...3 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: /tmp/é{ID}\n"));
    home.private_entry("opencode", ID, &long, 1);
    home.private_entry("opencode", "tool_c8d4f08d5002AbCdEfGhIjKlMn", &long, 900);
    claude(&home);
    let log = records::root(&home).join(format!(".claude/projects/-home-u-proj/{SESSION}.jsonl"));
    let call =
        [records::use_of("toolu_9", &format!("echo {SIGN}")), records::result_of("toolu_9", SIGN, false)];
    let call = call.map(|record| format!("{record}\n")).concat();
    std::fs::write(&log, std::fs::read_to_string(&log).unwrap() + &call).unwrap();
    let config = home.work().with_file_name("config").join("overspill");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), format!("\"{SIGN}\" = 1\n")).unwrap();
    home
}

/// Command lines, each by its subcommand; those of the screens are left out, and those that ask nothing of a terminal.
const LINES: &[&str] = &[
    "preview é\u{202e}.log",
    "preview -p crush/bash short",
    "preview --json short",
    "preview --max-lines Aĝ short",
    "preview noĝ-there",
    "preview --ĝ",
    "read é\u{202e}.log --offset 5 --limit 20",
    "compare é\u{202e}.log",
    "compare --json é\u{202e}.log short",
    "show tool_c8d4f08d5001AbCdEfGhIjKlMn",
    "show --json tool_c8d4f08d5001AbCdEfGhIjKlMn",
    "show é",
    "explain notice.txt",
    "explain --json notice.txt",
    "run -- cat é\u{202e}.log",
    "run --split -- cat short",
    "run --json -- cat short",
    "run -- Aĝ",
    "clean --session ĝ",
    "grep error",
    "grep --json error",
    "grep (ĝ",
    "tune",
    "tune --json",
    "list",
    "list --json",
    "list --agent ĝ",
    "clean --agent opencode --dry-run",
    "clean --agent opencode --yes",
    "rm ĝ",
    "rm --yes tool_c8d4f08d5001AbCdEfGhIjKlMn",
    "stores",
    "stores opencode",
    "sessions",
    "sessions --json",
    "sessions SESSION",
    "sessions --json SESSION",
    "show SESSION:toolu_9",
    "show --json SESSION",
    "show --text --json SESSION:toolu_9",
    "verify",
    "policies",
    "policies opencode/output",
    "policies ĝ",
    "hook codex",
    "hook ĝ",
    "setup codex --print",
    "setup ĝ",
    "config",
    "config --json",
    "completions zsh",
    "completions ĝ",
    "man",
    "-F short",
    "--ĝ=Aĝ",
];

/// Runs each line on a terminal, and returns what of it was not printable ASCII, lines and styles.
fn odd(home: &Home, vars: &[(&str, &str)], more: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let styles = regex::bytes::Regex::new("\x1b\\[[0-9;]*m").unwrap();
    for line in LINES {
        let line = line.replace("SESSION", SESSION);
        let line: Vec<&str> = more.iter().copied().chain(line.split(' ')).collect();
        let shell = format!("exec \"$overspill\" {} </dev/null", quoted(&line));
        let session = Session::shell_with(home, (100, 24), vars, &shell);
        let raw = session.wait_until("end of the output", |seen| seen.ended.then(|| seen.raw.clone()));
        assert!(!raw.is_empty() || line.contains(&"hook"), "{line:?}");
        let plain = styles.replace_all(&raw, &b""[..]);
        let is_odd = |byte: &&u8| !matches!(**byte, b' '..=b'~' | b'\r' | b'\n');
        let odd: BTreeSet<u8> = plain.iter().filter(is_odd).copied().collect();
        if !odd.is_empty() {
            found.push(format!("{line:?}: {odd:02x?}: {}", plain.escape_ascii()));
        }
    }
    found
}

fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("'{word}' ")).collect()
}

#[test]
fn outside_a_utf_8_locale_every_command_writes_ascii() {
    let home = home();
    let mut missing = commands(&home);
    missing.retain(|name| !LINES.iter().any(|line| line.split(' ').next() == Some(name)));
    assert_eq!(missing, Vec::<String>::new());
    assert_eq!(odd(&home, &[("LANG", "C")], &[]), Vec::<String>::new());
}

#[test]
fn the_ascii_option_prints_only_ascii() {
    assert_eq!(odd(&self::home(), &[], &["--ascii"]), Vec::<String>::new());
}

#[test]
fn in_ascii_content_is_escaped_and_signs_are_replaced() {
    let home = Home::new();
    let vars = [("LANG", "C"), ("NO_COLOR", "1")];
    let shown = |words: &[&str]| {
        let session = Session::start_with(&home, &vars, words);
        session.wait_until("end of the output", |seen| {
            seen.ended.then(|| String::from_utf8_lossy(&seen.raw).into_owned())
        })
    };
    home.file("signs", "A\u{11d} a… \u{301}\n");
    assert_eq!(shown(&["preview", "signs"]), "A<U+011D> a<U+2026> <U+0301>\r\n");
    assert!(shown(&["preview", "--json", "signs"]).contains(r"A\u011d a\u2026 \u0301\n"));
    assert!(shown(&["preview", "--raw", "signs"]).contains("A\u{11d} a…"), "raw insists");
    assert!(shown(&["policies"]).contains(" - "), "for a dash");
    assert!(shown(&["preview", "ĝ"]).contains("<U+011D>"));
}

#[test]
fn a_pipe_gets_every_byte_whatever_the_locale() {
    let home = home();
    let with = |locale: &str, words: &[&str]| {
        let mut command = home.command(words);
        let ran = command.env("LANG", locale).output().unwrap();
        (ran.stdout, ran.stderr)
    };
    for words in
        [&["preview", "short"][..], &["preview", "--json", "short"], &["list"], &["policies"], &["show", "é"]]
    {
        let words = [words, &["--ascii"]].concat();
        assert_eq!(with("C", &words), with("C.UTF-8", &words[..words.len() - 1]), "{words:?}");
    }
}
