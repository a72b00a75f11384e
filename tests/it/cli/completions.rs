//! What fits at the cursor, as the program says and as three shells offer it.

use std::process::{Command, Stdio};

use crate::common::home::{Home, finish};
use crate::common::records::{SESSION, claude};

const ID: &str = "tool_01abcdef0123456789abcdefgh";

fn home() -> Home {
    let home = Home::new();
    home.file("my file.log", "x\n");
    home.entry("opencode", ID, "x\n", 1);
    home.entry("opencode", "tool_01$(touch owned)", "x\n", 1);
    home
}

/// Returns what fits, without descriptions; the first line is what the shell adds.
#[track_caller]
fn fits(home: &Home, words: &[&str]) -> Vec<String> {
    let ran = home.run(&[&["__complete", "zsh", "", "--"], words].concat()).ok();
    ran.text().lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn every_kind_of_value_is_completed() {
    let home = home();
    claude(&home);
    let cases: &[(&[&str], &str, &[&str])] = &[
        (&["lis"], "files", &["list"]),
        (&["preview", "-p", "pi/b"], "words", &["pi/bash", "pi/bash-2026-03"]),
        (&["preview", "--policy=pi/bash-"], "words", &["--policy=pi/bash-2026-03"]),
        (&["-ppi/bash-"], "words", &["-ppi/bash-2026-03"]),
        (&["run", "-ippi/bash-"], "words", &["-ippi/bash-2026-03"]),
        (&["preview", "-p", "pi", "-t", "ba"], "words", &["bash", "bash-2026-03"]),
        (&["run", "-p", "opencode/output", "--set", "max_l"], "parts", &["max_lines="]),
        (&["run", "--keep", ""], "words", &["always", "cut", "never"]),
        (&["run", "--kee"], "words", &["--keep"]),
        (&["list", "--agent", "openc"], "words", &["opencode", "opencode-fork"]),
        (&["sessions", "--agent", "claude"], "words", &["claude-code"]),
        (&["list", "--sort", "si"], "words", &["size"]),
        (&["sessions", "--project", ""], "dirs", &[]),
        (&["preview", "--stderr", ""], "files", &[]),
        (&["show", "tool_01"], "files", &[ID]),
        (&["tool_01"], "files", &[ID]),
        (&["sessions", "1111"], "files", &[SESSION]),
        (&["show", "c"], "files", &["c3", "c2", "c1"]),
        (&["policies", "pi/bash-"], "words", &["pi/bash-2026-03"]),
        (&["stores", "openco"], "words", &["opencode", "opencode-fork"]),
        (&["completions", "b"], "words", &["bash"]),
        (&["man", "prev"], "words", &["preview"]),
        (&["preview", "--max-lines", ""], "words", &[]),
        (&["run", "-p", "pi/bash", "--", "ma"], "command 5", &[]),
        (&["run", "-i", "make", "-"], "command 3", &[]),
        (&["nosuch", "lis"], "files", &[]),
    ];
    for (words, kind, expected) in cases {
        let fits = fits(&home, words);
        assert_eq!(fits[0], *kind, "{words:?}: {fits:?}");
        assert_eq!(&fits[1..], *expected, "{words:?}");
    }
}

#[test]
fn mistakes_in_user_files_do_not_break_completion() {
    let home = home();
    let config = home.work().with_file_name("config").join("overspill");
    std::fs::create_dir_all(config.join("policies")).unwrap();
    std::fs::write(config.join("config.toml"), "=").unwrap();
    std::fs::write(config.join("policies/own.toml"), "=").unwrap();
    assert_eq!(fits(&home, &["-p", "pi/bash-"]), ["words", "pi/bash-2026-03"]);
}

/// Runs a script in a shell, if it is installed, and returns what it prints.
fn shell(home: &Home, name: &str, script: &str) -> Option<String> {
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_overspill")).parent().unwrap();
    let mut command = Command::new(name);
    command.args(["-c", script]).current_dir(home.work()).env_clear().envs(home.env());
    command.env("PATH", format!("{}:/usr/bin:/bin", program.display()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(child) = command.spawn() else {
        crate::common::skip::skipped(&format!("{name} is not installed"));
        return None;
    };
    let ran = finish(child);
    assert_eq!((ran.status, ran.stderr.as_str()), (0, ""), "{name}");
    assert!(!home.at("owned").exists(), "a name was run as a command");
    Some(ran.text().to_owned())
}

#[test]
fn bash_completes() {
    let home = home();
    let script = r#"eval "$(overspill completions bash)"
        compopt() { :; }
        t() {
            COMP_LINE="$*" COMP_POINT=${#1}
            read -ra COMP_WORDS <<< "${1//=/ = }"
            [[ $1 == *' ' ]] && COMP_WORDS+=('')
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _overspill
            printf '[%s]' "${COMPREPLY[@]}"
            echo
        }
        t "overspill preview -p pi/bash-"
        t "X=1 overspill show tool_01"
        t "overspill rm "
        t "overspill preview --policy=pi/bash-"
        t "overspill run -- mkfif"
        t "overspill nosuch "
    "#;
    let Some(text) = shell(&home, "bash", script) else { return };
    let lines: Vec<&str> = text.lines().collect();
    let id = format!("[{ID}]");
    assert_eq!(lines[..4], ["[pi/bash-2026-03]", &*id, &*id, "[pi/bash-2026-03]"]);
    assert!(lines[4].contains("[mkfifo]"), "{text}");
    assert_eq!(lines[5], "[]", "the shell's own file names");
}

#[test]
fn zsh_completes() {
    let home = home();
    let script = r#"compdef() { :; }
        compadd() { while [[ $1 != -a ]]; do shift; done; print -rl -- "${(@P)2}"; }
        _files() { print -r -- files "$@"; }
        _normal() { print -r -- normal $CURRENT $words; }
        eval "$(overspill completions zsh)"
        t() { words=("$@"); CURRENT=$#; PREFIX=${words[-1]}; _overspill; }
        t overspill preview -p pi/bash-
        t overspill show tool_01
        t overspill sessions --project ''
        t overspill run -p pi/bash -- make -
    "#;
    let Some(text) = shell(&home, "zsh", script) else { return };
    assert_eq!(text, format!("pi/bash-2026-03\n{ID}\nfiles\nfiles -/\nnormal 2 make -\n"));
}

#[test]
fn fish_completes() {
    let home = home();
    let script = "overspill completions fish | source
        complete -C 'overspill preview -p pi/bash-'
        complete -C 'overspill show tool_01'
        complete -C 'overspill preview my'
        complete -C 'overspill run -p pi/bash -- ls --almost'
        complete -C 'overspill run -- mkfif'
    ";
    let Some(text) = shell(&home, "fish", script) else { return };
    let words: Vec<&str> = text.lines().map(|line| line.split('\t').next().unwrap()).collect();
    assert_eq!(words, ["pi/bash-2026-03", ID, "my file.log", "--almost-all", "mkfifo"], "{text}");
}

#[test]
fn the_other_shells_get_a_script_too() {
    let home = Home::new();
    for shell in ["elvish", "powershell"] {
        assert!(home.run(&["completions", shell]).ok().text().contains("max-spill"), "{shell}");
    }
}
