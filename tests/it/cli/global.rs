//! `--color` and `--quiet`, the prefix of errors, and what is said of inputs that do not last.

use crate::cli::{EXAMPLE, numbered};
use crate::common::home::Home;

#[test]
fn global_options_may_stand_before_the_subcommand() {
    let home = Home::new();
    home.file("out", b"\x1b[31mred\x1b[m\n");
    let after = home.run(&["preview", "out", "--color", "always"]).ok();
    assert_eq!(home.run(&["--color", "always", "preview", "out"]).ok().stdout, after.stdout);
    let quiet = home.run(&["-q", "--config", "missing", "list"]);
    assert!(quiet.stderr.contains("--config missing: no such file"), "{}", quiet.stderr);
}

#[test]
fn colours_are_used_where_they_are_asked_for() {
    let home = Home::new();
    home.entry("opencode", "tool_01abcdef0123456789abcdefgh", "x\n", 1);
    home.file("out", "\u{1b}[31mred\u{1b}]0;x\u{7}\n");
    let is_coloured = |words: &[&str]| home.run(words).stdout.contains(&0x1b);
    assert!(
        !is_coloured(&["list"]) && !is_coloured(&["list", "--color", "never"]) && !is_coloured(&["--help"])
    );
    let list = home.run(&["list", "--color", "always"]).ok();
    assert!(list.text().starts_with("\u{1b}[1m"), "{:?}", list.text());
    assert_eq!(list.text().matches('\u{1b}').count(), 2, "only the heading: {:?}", list.text());
    assert!(
        is_coloured(&["--help", "--color", "always"]) && is_coloured(&["list", "--help", "--color=always"])
    );
    assert_eq!(home.run(&["preview", "out"]).ok().stdout, b"\x1b[31mred\x1b]0;x\x07\n", "byte for byte");
    let shown = home.run(&["preview", "out", "--color", "always"]).ok();
    assert!(shown.text().contains("^[]0;x") && !shown.text().contains("\u{1b}]"), "{:?}", shown.text());
    let forced = home.command(&["list"]).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert!(forced.stdout.starts_with(b"\x1b[1m"));
    let forced = home.command(&["preview", "out"]).env("CLICOLOR_FORCE", "1").output().unwrap();
    assert_eq!(forced.stdout, b"\x1b[31mred\x1b]0;x\x07\n", "exact texts stay exact");
    let help = |force: &str| home.command(&["--help"]).env("CLICOLOR_FORCE", force).output().unwrap();
    assert_eq!(["0", "1"].map(|force| help(force).stdout.contains(&0x1b)), [false, true]);
    let refused = home.run(&["--bogus", "--color", "always"]);
    assert!(
        refused.stderr.starts_with("\u{1b}[") && refused.stderr.contains("overspill:"),
        "{:?}",
        refused.stderr
    );
}

#[test]
fn quiet_leaves_errors_and_the_exit_status() {
    let home = Home::new();
    let noted = |words: &[&str]| home.pipe(numbered(3000), words);
    assert!(noted(&["preview"]).stderr.contains("not saved"));
    let quiet = noted(&["preview", "-q"]);
    assert_eq!((quiet.status, quiet.stderr.as_str()), (0, ""));
    assert_eq!(quiet.stdout, noted(&["preview"]).stdout);
    home.run(&["preview", "nosuch", "--quiet"]).fails(1, &["overspill: nosuch: no such file"]);
    let timed_out = home.run(&["run", "-q", "--timeout", "0.2s", "--", "sleep", "30"]);
    assert_eq!((timed_out.status, timed_out.stderr.as_str()), (124, ""));
    assert_eq!(home.run(&["run", "-q", "--", "/nosuch/command"]).status, 127);
}

#[test]
fn every_error_starts_with_overspill_and_a_colon() {
    let home = Home::new();
    home.file("out", EXAMPLE);
    for words in [
        &["--bogus"][..],
        &["preview", "--max-lines", "many", "out"],
        &["preview", "--json", "--raw", "out"],
        &["read"],
        &["run"],
        &["completions", "tcsh"],
        &["--a\u{1b}[31m"],
        &["preview", "-p", "nobody/nothing", "out"],
        &["lst"],
        &["show", ""],
        &["clean", "--json"],
        &["preview", "--set", "flavour=9", "out"],
    ] {
        let ran = home.run(words);
        assert_eq!(ran.status, 2, "{words:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("overspill: "), "{words:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("error:"), "{words:?}: {}", ran.stderr);
    }
}

#[test]
fn shared_options_without_effect_are_refused() {
    let home = Home::new();
    home.file("out", EXAMPLE);
    home.run(&["read", "--exit-code", "1", "out"]).fails(2, &["ignores --exit-code"]);
    home.run(&["read", "--stderr", "out", "out"]).fails(2, &["ignores --stderr"]);
    home.run(&["run", "--keep", "never", "--durable", "--", "true"]).fails(2, &["--durable has no effect"]);
    home.run(&["run", "-i", "--sigpipe", "kill", "--", "true"]).fails(2, &["--sigpipe", "--interactive"]);
    let both = ["preview", "-p", "opencode/output", "--direction", "head", "--set", "direction=tail", "out"];
    home.run(&both).fails(2, &["--direction", "--set direction="]);
}

#[test]
fn warns_about_an_endless_device_as_input() {
    let home = Home::new();
    let ran = home.run(&["preview", "/dev/zero"]);
    assert!(ran.stderr.contains("only the first 64 MB were read"), "{}", ran.stderr);
    assert!(ran.stderr.contains("/dev/zero cannot be read later"), "{}", ran.stderr);
    let named = home.run(&["preview", "/dev/zero", "--saved-as", "/x"]);
    assert!(!named.stderr.contains("cannot be read later"), "{}", named.stderr);
    let json = home.run(&["preview", "/dev/zero", "--json"]).ok().json();
    assert_eq!(json["warnings"][0], "zero: only the first 64 MB were read; a device may never end");
    let compared = home.run(&["compare", "-p", "pi/bash", "/dev/zero"]);
    assert!(compared.stderr.contains("zero: only the first 64 MB were read"), "{}", compared.stderr);
    for total in ["total_lines", "total_bytes", "total_units", "removed_lines", "removed_bytes"] {
        assert_eq!((total, &json[total]), (total, &serde_json::Value::Null));
    }
    assert_eq!((&json["kept_bytes"], &json["truncated"]), (&0.into(), &true.into()));
}

#[cfg(target_os = "linux")]
#[test]
fn an_unreadable_file_does_not_pass_for_an_empty_one() {
    Home::new().run(&["preview", "/proc/self/mem"]).fails(1, &["/proc/self/mem: Input/output error"]);
}

#[test]
fn a_pipe_that_is_only_copied_is_not_saved() {
    let home = Home::new();
    for words in [&["--keep", "always"][..], &["preview", "--durable"]] {
        home.pipe("x\n", words)
            .fails(2, &["no effect here; `overspill preview --save` saves standard input"]);
    }
    home.file("out", EXAMPLE);
    home.run(&["--keep", "always", "out"]).fails(2, &["FILE is already on disk"]);
}
