//! Impossible requests are reported with their name, a remedy, and an exit status that says whose fault it is.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::cli::{EXAMPLE, numbered, preview};
use crate::common::home::{Home, Ran, fifo, finish};

/// Every way of naming an output reports the same.
#[track_caller]
fn all_fail(home: &Home, name: &str, words: &[&str]) {
    for command in [&[][..], &["preview"], &["read"]] {
        home.run(&[command, &[name]].concat()).fails(1, words);
    }
}

#[test]
fn a_missing_file_is_named_with_a_remedy() {
    all_fail(&Home::new(), "nosuch.log", &["nosuch.log: no such file", "overspill list"]);
}

#[test]
fn a_directory_is_named_with_a_remedy() {
    all_fail(&Home::new(), ".", &[".: is a directory", "name a file"]);
}

/// What takes one output, a record, or many.
#[test]
fn every_command_says_what_to_do_about_a_file_that_can_not_be_read() {
    let home = Home::new();
    home.file("f", "x\n");
    std::os::unix::fs::symlink("loop", home.at("loop")).unwrap();
    let missing = "no such file or id; `overspill list` and `overspill sessions` list what there is";
    let circle = "is a symbolic link that leads back to itself; remove it, or let it name a file";
    for (name, words) in [("nofile", missing), ("loop", circle)] {
        let words = format!("overspill: {name}: {words}\n");
        for (command, status) in [
            (&["preview", name][..], 1),
            (&["show", name], 1),
            (&["sessions", name], 1),
            (&["verify", name], 1),
            (&["compare", name, "f"], 1),
            (&["tune", name], 1),
            (&["grep", "x", name], 2),
        ] {
            let ran = home.run(command);
            assert!(ran.status == status && ran.stderr.starts_with(&words), "{command:?}: {}", ran.stderr);
        }
    }
    std::fs::create_dir(home.at("dir")).unwrap();
    for command in [&["show"][..], &["show", "--text"], &["sessions"], &["verify"], &["explain"]] {
        home.run(&[command, &["dir"]].concat()).fails(1, &["dir: is a directory; name a file in it"]);
    }
}

#[test]
fn a_socket_is_named_with_a_remedy() {
    let home = Home::new();
    let _listener = std::os::unix::net::UnixListener::bind(home.at("sock")).unwrap();
    all_fail(&home, "sock", &["sock: is a socket", "pipe it in"]);
}

#[test]
fn an_unreadable_file_is_named_with_a_remedy() {
    if !crate::common::skip::is_ordinary("everything can be read") {
        return;
    }
    let home = Home::new();
    std::fs::set_permissions(home.file("secret", "x"), PermissionsExt::from_mode(0o000)).unwrap();
    all_fail(&home, "secret", &["secret: permission denied", "ls -l"]);
    for command in ["compare", "sessions", "verify"] {
        home.run(&[command, "secret"])
            .fails(1, &["secret: permission denied; `ls -l` shows who may read it"]);
    }
}

#[test]
fn a_name_can_not_write_to_the_terminal() {
    let home = Home::new();
    let ran = home.run(&["preview", "\x1b]0;gotcha\x07.log"]).fails(1, &["no such file"]);
    assert!(!ran.stderr.chars().any(|c| c.is_control() && c != '\n'), "{:?}", ran.stderr);
}

#[test]
fn one_missing_file_among_several_prints_none() {
    let home = Home::new();
    home.file("a", "first\n");
    home.run(&["a", "nosuch"]).fails(1, &["nosuch: no such file"]);
}

#[test]
fn invalid_arguments_exit_2() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["-p", "nobody/nothing"], &["nobody/nothing", "overspill policies"]),
        (&["-p", "opencode/outptu"], &["did you mean opencode/output?"]),
        (&["-p", "pi", "-t", "bsh"], &["did you mean pi/bash?"]),
        (&["--exit-code", "3"], &["ignores --exit-code", "opencode/output"]),
        (&["--stderr", "out"], &["ignores --stderr"]),
        (&["--max-lines", "3", "--set", "max_lines=4"], &["--max-lines", "one of them"]),
        (&["--saved-as", ""], &["--saved-as", "cannot be empty"]),
        (&["-p", "t15"], &["no policy `t15`; the policies of t15 are t15/generic"]),
        (&["--bogus"], &["--bogus"]),
        (&["--max-bytes", "5x"], &["5x", "50k"]),
        (&["--max-bytes", "-1"], &["-1"]),
        (&["--max-lines", "many"], &["many"]),
        (&["--direction", "middle"], &["middle", "head", "tail"]),
        (&["--set", "max_lines"], &["max_lines", "KEY=VALUE"]),
        (&["--set", "max_lines=many"], &["max_lines", "many", "number"]),
        (&["--set", "flavour=9"], &["flavour", "max_lines"]),
        (&["--set", "max_bytes=9", "--max-bytes", "9"], &["--max-bytes", "max_bytes", "one of them"]),
        (&["-t", "grep"], &["--tool", "opencode/output"]),
        (&["-p", "opencode/metadata", "--max-lines", "3"], &["max_lines", "max_units"]),
        (&["-p", "opencode/metadata", "--max-bytes", "5k"], &["units", "plain number"]),
        (&["--json", "--raw"], &["--json", "--raw"]),
    ];
    for (flags, words) in cases {
        preview(flags).fails(2, words);
    }
}

#[test]
fn a_file_named_like_a_subcommand_needs_a_dot_and_a_slash() {
    let home = Home::new();
    home.file("list", EXAMPLE);
    assert_eq!(home.run(&["./list"]).ok().text(), EXAMPLE);
    assert!(home.run(&["list"]).stderr.contains("no stored outputs"));
    assert!(home.run(&["--help"]).ok().text().contains("./NAME"));
}

#[test]
fn a_file_named_like_a_flag_follows_two_dashes() {
    let home = Home::new();
    home.file("--json", EXAMPLE);
    assert_eq!(home.run(&["preview", "--", "--json"]).ok().text(), EXAMPLE);
    assert_eq!(home.run(&["--", "--json"]).ok().text(), EXAMPLE);
}

#[test]
fn the_sample_is_printed_as_a_file_is_and_stored_nowhere() {
    let home = Home::new();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/samples/build.log");
    assert!(home.run(&["--demo"]).ok().stdout == std::fs::read(sample).unwrap());
    home.run(&["--demo", "f"]).fails(2, &["--demo"]);
    home.run(&["--demo", "--max-lines", "3"]).fails(2, &["--max-lines has no effect here"]);
    assert_eq!(std::fs::read_dir(home.work().with_file_name("data")).unwrap().count(), 0);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let home = Home::new();
    home.file("big", numbered(400_000));
    let all = ["--max-lines", "1000000", "--max-bytes", "1g"];
    for words in [&["big"][..], &[&["preview", "big"][..], &all].concat(), &[&["read", "big"][..]].concat()] {
        let mut child = home.command(words).spawn().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdout.read_exact(&mut [0]).unwrap();
        drop(stdout);
        finish(child).ok();
    }
}

/// Runs the program with a redirection as the shell writes it.
fn redirected(home: &Home, words: &[&str], redirection: &str) -> Ran {
    let line = format!("exec \"$0\" \"$@\" {redirection}");
    let direct = home.command(words);
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &line]).arg(direct.get_program()).args(words).current_dir(home.work());
    shell.env_clear().envs(home.env()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    finish(shell.spawn().unwrap())
}

#[test]
fn a_closed_standard_output_is_a_failure() {
    let home = Home::new();
    home.file("out", EXAMPLE);
    home.entry("opencode", "tool_ffa1b2c3d001aaaaaaaaaaaaaa", EXAMPLE, 1);
    let closed = "overspill: standard output is closed; redirect it to a file, or pipe it on\n";
    let all: [&[&str]; 13] = [
        &["out"],
        &["preview", "out"],
        &["preview", "out", "--json"],
        &["read", "out", "-p", "opencode/read"],
        &["list"],
        &["grep", ".", "out"],
        &["compare", "out"],
        &["policies"],
        &["stores"],
        &["config"],
        &["man"],
        &["--help"],
        &["--version"],
    ];
    for words in all {
        let ran = redirected(&home, words, ">&-");
        // As with grep, 1 would say that there are no hits.
        let status = if words[0] == "grep" { 2 } else { 1 };
        assert_eq!((ran.status, ran.stderr.as_str()), (status, closed), "{words:?}");
    }
    // What writes nothing there does not need it, and an agent's shell prefix passes it on as it is.
    assert_eq!(redirected(&home, &["grep", "nowhere", "out"], ">&-").status, 1);
    assert_eq!(redirected(&home, &["grep", "nowhere", "out"], ">&-").stderr, "");
    assert_eq!(redirected(&home, &["-c", "exit 7"], ">&-").status, 7);
    redirected(&home, &["preview", "out"], "2>&-").ok();
}

#[test]
fn a_closed_standard_input_is_named() {
    let home = Home::new();
    home.file("out", EXAMPLE);
    let closed = ["overspill: standard input", "it is closed; name a file, or pipe an output in"];
    for words in [&["-"][..], &["preview"], &["preview", "--save"], &["read", "-"], &["explain"]] {
        redirected(&home, words, "<&-").fails(1, &closed);
    }
    redirected(&home, &["grep", "x", "-"], "<&-").fails(2, &closed);
    redirected(&home, &["preview", "out"], "<&-").ok();
}

#[test]
fn a_full_disk_is_a_failure() {
    if !std::path::Path::new("/dev/full").exists() {
        return; // only Linux has it
    }
    let home = Home::new();
    home.file("out", EXAMPLE);
    for words in [&["out"][..], &["preview", "out"], &["preview", "out", "--json"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let ran = finish(home.command(words).stdout(Stdio::from(full)).spawn().unwrap());
        assert_eq!(ran.status, 1);
        assert!(ran.stderr.contains("No space left"), "{}", ran.stderr);
    }
}

#[test]
fn a_fifo_or_device_as_configuration_is_reported_at_once() {
    let home = Home::new();
    home.file("out.log", numbered(3));
    fifo(&home.at("opencode.json"));
    let ran = home.run(&["preview", "out.log"]);
    assert_eq!((ran.status, ran.text()), (0, numbered(3).as_str()), "{}", ran.stderr);
    assert!(ran.stderr.contains("opencode.json: is not a regular file"), "{}", ran.stderr);
    let config = home.work().with_file_name("config").join("overspill");
    std::fs::create_dir_all(&config).unwrap();
    std::os::unix::fs::symlink("/dev/zero", config.join("config.toml")).unwrap();
    home.run(&["preview", "out.log"]).fails(2, &["config.toml: is not a regular file"]);
    for dir in ["policies", "stores"] {
        let _ = std::fs::remove_file(config.join("config.toml"));
        std::fs::create_dir(config.join(dir)).unwrap();
        fifo(&config.join(dir).join("own.toml"));
        let ran = home.run(&["preview", "out.log"]);
        assert_eq!((ran.status, ran.text()), (0, numbered(3).as_str()), "{}", ran.stderr);
        assert!(ran.stderr.contains("own.toml: is not a regular file"), "{}", ran.stderr);
        std::fs::remove_dir_all(config.join(dir)).unwrap();
    }
}

#[test]
fn a_mistake_in_keys_is_reported_and_stops_no_command() {
    let home = Home::new();
    let config = home.work().with_file_name("config").join("overspill");
    std::fs::create_dir_all(&config).unwrap();
    home.file("out.log", numbered(3));
    let tells_of = |keys: &str, words: &str, effect: &str| {
        std::fs::write(config.join("config.toml"), format!("policy = \"pi/bash\"\n\n[keys]\n{keys}\n"))
            .unwrap();
        let ran = home.run(&["preview", "out.log"]);
        assert_eq!((ran.status, ran.text()), (0, numbered(3).as_str()), "{}", ran.stderr);
        let all = ["config.toml:4: ", words, effect];
        assert!(all.iter().all(|words| ran.stderr.contains(words)), "{}", ran.stderr);
    };
    let tells = |keys, words| tells_of(keys, words, "used by the screens only");
    tells("nxt-match = \"n\"", "`nxt-match`: there is no such action in [keys]; did you mean `next-match`?");
    tells("search = \"n\"", "keys.search: \"n\" is a key of keys.next-match, too");
    tells("quit = []", "keys.quit: needs at least one key");
    tells("search = [\"hyper-x\"]", "keys.search: \"hyper-x\" is not a key");
    tells_of(
        "list-other = \"x\"\nsearch = \"x\"",
        "keys.list-other: now other-view",
        "this line is not used",
    );
    tells_of("help-next-match = \"x\"", "keys.help-next-match: this key is gone", "this line is not used");
}

#[test]
fn a_directory_as_standard_input_is_named() {
    let home = Home::new();
    let mut command = home.command(&["preview"]);
    let ran = command.stdin(std::fs::File::open(home.work()).unwrap()).output().unwrap();
    let said = String::from_utf8(ran.stderr).unwrap();
    assert!(said.starts_with("overspill: standard input is a directory; name a file in it"), "{said}");
}

#[test]
fn a_broken_errors_pattern_falls_back_to_the_built_in_one() {
    let home = Home::new();
    super::suggestions::config(&home, "errors = \"(\"\n");
    home.file("out.log", numbered(3));
    for words in [&["tune", "out.log"][..], &["compare", "out.log", "out.log"], &["hook", "codex"]] {
        let ran = home.run(words);
        assert!(
            ran.stderr.contains("group at character 1 of it (the built-in pattern is used)"),
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn dev_null_serves_as_an_empty_configuration() {
    let home = Home::new();
    super::suggestions::config(&home, "policy = \"pi/bash\"\nnonsense = 1\n");
    home.file("out.log", numbered(3));
    let ran = home.run(&["--config", "/dev/null", "preview", "--json", "out.log"]).ok();
    assert_eq!((ran.json()["policy"].as_str(), &*ran.stderr), (Some("opencode/output"), ""));
}

#[test]
fn a_mistake_in_the_configuration_stops_no_completions() {
    let home = Home::new();
    let config = home.work().with_file_name("config").join("overspill");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "polcy = 1\n").unwrap();
    home.file("out.log", numbered(3));
    home.run(&["preview", "out.log"]).fails(2, &["config.toml", "polcy"]);
    assert!(home.run(&["completions", "bash"]).ok().text().contains("overspill"));
    assert!(home.run(&["man"]).ok().text().contains("overspill"));
}
