//! `setup` writes an agent's own file in the home directory, tries the hook, and takes it away again.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use crate::common::home::{Home, Ran, fifo, finish};

fn at(home: &Home, name: &str) -> PathBuf {
    let path = home.work().parent().unwrap().join("home").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

fn setup(home: &Home, words: &[&str]) -> Ran {
    home.run(&[&["setup"], words].concat())
}

#[test]
fn setup_writes_tests_and_removes_the_hook() {
    let home = Home::new();
    let config = home.work().parent().unwrap().join("config/opencode/plugins/overspill.js");
    for (agent, file) in [
        ("claude-code", at(&home, ".claude/settings.json")),
        ("codex", at(&home, ".codex/config.toml")),
        ("gemini-cli", at(&home, ".gemini/settings.json")),
        ("opencode", config),
        ("qwen-code", at(&home, ".qwen/settings.json")),
        ("copilot-cli", at(&home, ".copilot/hooks/overspill.json")),
    ] {
        let ran = setup(&home, &[agent, "--yes"]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        assert!(ran.text().contains("tested: the hook gives its note on a sample output"), "{}", ran.text());
        let program = env!("CARGO_BIN_EXE_overspill");
        assert!(fs::read_to_string(&file).unwrap().contains(program), "{agent}");
        assert!(setup(&home, &[agent]).text().starts_with("already in "), "{agent}");
        setup(&home, &[agent, "--remove", "--yes"]).ok();
        assert!(!file.exists(), "{agent}");
        assert!(setup(&home, &[agent, "--remove"]).ok().text().starts_with("not in "), "{agent}");
    }
}

#[test]
fn setup_follows_the_variable_that_moves_an_agents_directory() {
    let home = Home::new();
    for (agent, variable, file) in [
        ("claude-code", "CLAUDE_CONFIG_DIR", "settings.json"),
        ("codex", "CODEX_HOME", "config.toml"),
        ("gemini-cli", "GEMINI_CLI_HOME", ".gemini/settings.json"),
        ("copilot-cli", "COPILOT_HOME", "hooks/overspill.json"),
    ] {
        let moved = home.at(agent);
        let mut setup = home.command(&["setup", agent, "--yes"]);
        let ran = finish(setup.env(variable, &moved).spawn().unwrap());
        assert_eq!(ran.status, 0, "{agent}: {}", ran.stderr);
        assert!(moved.join(file).exists(), "{agent}: {}", ran.text());
    }
}

#[test]
fn setup_tests_capture_and_leaves_a_foreign_prefix_alone() {
    let home = Home::new();
    let ran = setup(&home, &["claude-code", "--capture", "--yes"]).ok();
    assert!(ran.text().contains("runs through `overspill -c`, and a copy is saved"), "{}", ran.text());
    let data = home.work().with_file_name("data");
    assert_eq!(fs::read_dir(data).unwrap().count(), 0, "the copy is not kept");
    let file = at(&home, ".claude/settings.json");
    let text = r#"{"env": {"CLAUDE_CODE_SHELL_PREFIX": "/opt/mine"}}"#;
    fs::write(&file, text).unwrap();
    let ran = setup(&home, &["claude-code", "--capture", "--yes"]);
    assert_eq!(ran.status, 1);
    let words = "sets CLAUDE_CODE_SHELL_PREFIX to another program, and Claude Code takes only one; it is left alone: leave \
                 --capture out";
    assert!(ran.stderr.contains(words), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn a_further_setup_keeps_the_options_of_the_ones_before() {
    let home = Home::new();
    let file = at(&home, ".claude/settings.json");
    let text = "{ \"env\": { \"A\": \"1\" } }\n";
    fs::write(&file, text).unwrap();
    let set = |words: &[&str]| {
        let ran = setup(&home, &[&["claude-code", "--yes"], words].concat()).ok();
        let text = fs::read_to_string(&file).unwrap();
        let options =
            [text.matches("hook claude-code --replace\"").count(), text.matches("overspill -c\"").count()];
        (
            ran.text()
                .lines()
                .find(|line| line.contains(" in ") || line.contains("written to"))
                .unwrap()
                .to_owned(),
            options,
        )
    };
    let said = |words: &str| words.replace("FILE", &file.display().to_string());
    assert_eq!(set(&["--replace"]), (said("written to FILE, with --replace"), [2, 0]));
    assert_eq!(set(&["--capture"]), (said("written to FILE, with --replace, with --capture"), [2, 1]));
    for words in [&[][..], &["--replace"], &["--capture"]] {
        assert_eq!(set(words), (said("already in FILE, with --replace, with --capture"), [2, 1]));
    }
    let moved = fs::read_to_string(&file).unwrap().replace(env!("CARGO_BIN_EXE_overspill"), "/old/overspill");
    fs::write(&file, moved).unwrap();
    assert_eq!(set(&[]), (said("written to FILE, with --replace, with --capture"), [2, 1]));
    setup(&home, &["claude-code", "--remove", "--yes"]).ok();
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(set(&["--capture"]), (said("written to FILE, with --capture"), [0, 1]));
}

#[test]
fn removal_also_removes_a_hook_with_an_earlier_program_path() {
    let home = Home::new();
    let programs = ["first", "second"].map(|name| {
        fs::create_dir(home.at(name)).unwrap();
        symlink(env!("CARGO_BIN_EXE_overspill"), home.at(name).join("overspill")).unwrap();
        format!("{}:/usr/bin:/bin", home.at(name).display())
    });
    let files = [
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/config.toml"),
        ("gemini-cli", ".gemini/settings.json"),
    ];
    for (agent, file) in files {
        for text in [None, Some(if agent == "codex" { "model = \"m\" # so\n" } else { "{ \"model\":  1 }" })]
        {
            let file = at(&home, file);
            text.iter().for_each(|text| fs::write(&file, text).unwrap());
            let run = |path: &str, words: &[&str]| {
                let mut setup = home.command(&[&["setup", agent, "--yes"], words].concat());
                let ran = finish(setup.env("PATH", path).spawn().unwrap());
                assert_eq!(ran.status, 0, "{agent}: {}", ran.stderr);
                ran
            };
            programs.iter().for_each(|path| drop(run(path, &[])));
            assert!(run(&programs[1], &["--remove"]).text().contains("removed from"), "{agent}");
            assert_eq!(fs::read_to_string(&file).ok().as_deref(), text, "{agent}");
            assert_eq!(fs::read_dir(file.parent().unwrap()).unwrap().count(), text.iter().count(), "{agent}");
            let _ = fs::remove_file(&file);
        }
    }
}

#[test]
fn lines_that_the_user_added_to_the_plugin_stay() {
    let home = Home::new();
    let file = home.work().with_file_name("config").join("opencode/plugins/overspill.js");
    setup(&home, &["opencode", "--yes"]).ok();
    let mine = fs::read_to_string(&file).unwrap() + "// mine\n";
    fs::write(&file, &mine).unwrap();
    setup(&home, &["opencode", "--remove", "--yes"]).fails(1, &["overspill.js: has other lines", "by hand"]);
    let ran = setup(&home, &["opencode", "--yes"]);
    assert!(ran.status == 1 && ran.stderr.contains("overspill.js: has other lines"), "{}", ran.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), mine);
}

#[test]
fn a_file_is_put_back_byte_for_byte_behind_its_link() {
    let home = Home::new();
    let (file, link) = (at(&home, "dotfiles/claude.json"), at(&home, ".claude/settings.json"));
    let text = "// mine\n{ \"model\":   \"m\" }";
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).unwrap();
    symlink(&file, &link).unwrap();
    setup(&home, &["claude-code", "--yes"]).ok();
    let backup = at(&home, "dotfiles/claude.json.before-overspill");
    assert_eq!(fs::read_to_string(&backup).unwrap(), text);
    assert_eq!(fs::metadata(&backup).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    setup(&home, &["claude-code", "--remove", "--yes"]).ok();
    assert_eq!(fs::read_to_string(&link).unwrap(), text);
    assert!(link.is_symlink() && !backup.exists());
}

#[test]
fn what_is_beside_an_agents_file_is_neither_overwritten_nor_left_behind_unsaid() {
    let home = Home::new();
    let (file, backup) =
        (at(&home, ".claude/settings.json"), at(&home, ".claude/settings.json.before-overspill"));
    let words = ["settings.json.before-overspill is there already", "move it away"];
    for (text, own) in [
        (None, &b"mine \xff"[..]),
        (Some("{ \"mine\": 1 }\n"), b"mine \xff"),
        (Some("{ \"mine\": 1 }\n"), b"{ \"mine\": 1 }\n"),
    ] {
        text.iter().for_each(|text| fs::write(&file, text).unwrap());
        fs::write(&backup, own).unwrap();
        let ran = setup(&home, &["claude-code", "--yes"]);
        assert!(ran.status == 1 && words.iter().all(|words| ran.stderr.contains(words)), "{}", ran.stderr);
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), text);
        assert_eq!(fs::read(&backup).unwrap(), own);
    }
    fs::write(&backup, "mine").unwrap();
    let ran = setup(&home, &["claude-code", "--remove", "--yes"]);
    let left = format!("{} is left, from an earlier setup or of your own", backup.display());
    assert!(ran.text().starts_with("not in ") && ran.stderr.contains(&left), "{}", ran.stderr);

    // Of a file that the user deleted, the backup is the last copy.
    fs::remove_file(&backup).unwrap();
    setup(&home, &["claude-code", "--yes"]).ok();
    fs::remove_file(&file).unwrap();
    let ran = setup(&home, &["claude-code", "--yes"]);
    assert!(words.iter().all(|words| ran.stderr.contains(words)), "{}", ran.stderr);
    let ran = setup(&home, &["claude-code", "--remove", "--yes"]).ok();
    assert!(ran.text().contains("\nput back "), "{}", ran.text());
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ \"mine\": 1 }\n");
    assert!(!backup.exists());
}

#[test]
fn the_path_by_which_a_shell_finds_the_program_is_written() {
    let home = Home::new();
    fs::create_dir(home.work().join("bin")).unwrap();
    let link = home.file("bin/overspill", "");
    let program = env!("CARGO_BIN_EXE_overspill");
    let command = |path: &Path| {
        let mut setup = home.command(&["setup", "claude-code", "--print"]);
        setup.env("PATH", path);
        let ran = finish(setup.spawn().expect("the program starts")).ok();
        ran.json()["hooks"]["PostToolUse"][0]["hooks"][0]["command"].as_str().unwrap().to_owned()
    };
    let directory = link.parent().unwrap();
    assert!(command(directory).starts_with(program), "another program of that name is not this one");
    fs::remove_file(&link).unwrap();
    symlink(program, &link).unwrap();
    assert_eq!(command(directory), format!("{} hook claude-code", link.display()));
}

#[test]
fn nothing_is_written_without_consent() {
    let home = Home::new();
    let file = at(&home, ".claude/settings.json");
    let ran = setup(&home, &["claude-code"]);
    assert!(ran.status == 2 && ran.stderr.contains("add --yes"), "{}", ran.stderr);
    assert!(ran.text().contains("\n+   \"hooks\": {\n"), "{}", ran.text());
    let ran = setup(&home, &["claude-code", "--print"]).ok();
    assert_eq!(ran.json()["hooks"]["PostToolUse"][0]["hooks"][0]["timeout"], 10);
    assert!(!file.exists());
}

#[test]
fn setup_leaves_unusable_files_unchanged() {
    let home = Home::new();
    let file = at(&home, ".claude/settings.json");
    fs::write(&file, "{ broken").unwrap();
    let ran = setup(&home, &["claude-code", "--yes"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("is not JSON") && ran.stderr.contains("by hand"), "{}", ran.stderr);
    assert!(ran.text().contains("hook claude-code"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ broken");
    fs::remove_file(&file).unwrap();
    fifo(&file);
    setup(&home, &["claude-code", "--yes"]).fails(1, &["not a regular file"]);
    fs::remove_file(&file).unwrap();
    symlink("gone", &file).unwrap();
    let words =
        ["settings.json: is a symbolic link to a file that cannot be opened", "`ls -l` shows where to"];
    setup(&home, &["claude-code", "--yes"]).fails(1, &words);
    symlink("/nowhere", home.at(".gemini")).unwrap();
    setup(&home, &["gemini-cli", "--project", "--yes"]).fails(1, &["is a link in a project"]);
    for (agent, file) in [
        ("claude-code", ".claude/settings.json"),
        ("opencode", ".opencode/plugins/overspill.js"),
        ("qwen-code", ".qwen/settings.json"),
        ("copilot-cli", ".github/hooks/overspill.json"),
    ] {
        setup(&home, &[agent, "--project", "--yes"]).ok();
        assert!(home.at(file).is_file(), "{agent}");
    }
    setup(&home, &["codex", "--project"]).fails(2, &["leave --project out"]);
    setup(&home, &["codex", "--capture"]).fails(2, &["claude-code alone"]);
}

#[test]
fn a_byte_order_mark_stays_before_the_text() {
    let home = Home::new();
    for (agent, file, text) in [
        ("claude-code", ".claude/settings.json", "\u{feff}// mine\n{ \"disableAllHooks\": true }\n"),
        ("codex", ".codex/config.toml", "\u{feff}features.hooks = false\r\n"),
    ] {
        let file = at(&home, file);
        fs::write(&file, text).unwrap();
        let ran = setup(&home, &[agent, "--yes"]);
        assert!(ran.status == 0 && ran.stderr.contains("runs no hook"), "{}", ran.stderr);
        let new = fs::read_to_string(&file).unwrap();
        assert!(new.starts_with('\u{feff}') && new.matches('\u{feff}').count() == 1, "{new}");
        assert!(setup(&home, &[agent]).text().starts_with("already in "));
        assert!(!ran.text().contains("feff") && !ran.text().contains('\u{feff}'), "{}", ran.text());
        setup(&home, &[agent, "--remove", "--yes"]).ok();
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn a_read_only_file_is_not_changed() {
    let home = Home::new();
    let file = at(&home, ".claude/settings.json");
    let change = |mode: u32, words: &[&str]| {
        fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        let before = fs::read_to_string(&file).unwrap();
        let ran = setup(&home, &[&["claude-code", "--yes"], words].concat());
        if mode == 0o444 {
            assert!(
                ran.status == 1 && ran.stderr.contains("is read-only; `chmod u+w` lets"),
                "{}",
                ran.stderr
            );
            assert_eq!(fs::read_to_string(&file).unwrap(), before);
        }
    };
    fs::write(&file, "{}").unwrap();
    change(0o444, &[]);
    assert!(!at(&home, ".claude/settings.json.before-overspill").exists());
    change(0o644, &[]);
    change(0o444, &["--remove"]);
    assert!(setup(&home, &["claude-code"]).text().starts_with("already in "));
}

/// Answers and writes as `codex app-server` of 0.169.0 did in a run.
const CODEX: &str = r#"#!/bin/sh
config=$HOME/.codex/config.toml
key=$config:post_tool_use:0:0
while read -r line; do
  case $line in
    *'"initialize"'*)
      echo '{"id":1,"result":{"userAgent":"overspill/0.169.0","codexHome":"'"$HOME"'/.codex","platformFamily":"unix","platformOs":"linux"}}' ;;
    *'"hooks/list"'*)
      command=$(sed -n 's/^command = "\(.*\)"$/\1/p' "$config")
      echo '{"method":"configWarning","params":{"summary":"a warning","details":null},"emittedAtMs":1795603417889}'
      echo '{"method":"remoteControl/status/changed","params":{"status":"disabled","serverName":"vm","environmentId":null},"emittedAtMs":1795603417889}'
      echo '{"id":2,"result":{"data":[{"cwd":"'"$HOME"'/.codex","hooks":[{"key":"'"$key"'","eventName":"postToolUse","handlerType":"command","command":"'"$command"'","async":false,"matcher":"Bash","timeoutSec":10,"statusMessage":null,"sourcePath":"'"$config"'","source":"user","pluginId":null,"displayOrder":0,"enabled":true,"isManaged":false,"currentHash":"sha256:69809cc3","trustStatus":"untrusted"}],"warnings":[],"errors":[]}]}}' ;;
    *'"config/batchWrite"'*'{"'"$key"'":{"trusted_hash":"sha256:69809cc3"}}'*)
      printf '\n[hooks.state]\n\n[hooks.state."%s"]\ntrusted_hash = "sha256:69809cc3"\n' "$key" >> "$config"
      echo '{"id":3,"result":{"status":"ok","version":"sha256:47cb5803","filePath":"'"$config"'","overriddenMetadata":null}}' ;;
  esac
done
"#;

#[test]
fn codex_is_asked_to_trust_the_hook() {
    let home = Home::new();
    let text = "# mine\nmodel = \"m\"\n";
    let config = at(&home, ".codex/config.toml");
    fs::write(&config, text).unwrap();
    let ran = setup(&home, &["codex", "--yes"]);
    assert_eq!(ran.status, 0);
    assert!(ran.stderr.contains("enter /hooks in Codex"), "{}", ran.stderr);
    let codex = at(&home, "bin/codex");
    fs::write(&codex, CODEX).unwrap();
    fs::set_permissions(&codex, PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = home.command(&["setup", "codex"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", codex.parent().unwrap().display()));
    let ran = crate::common::home::finish(command.spawn().unwrap()).ok();
    assert!(ran.text().contains("Codex trusts the hook"), "{} {}", ran.text(), ran.stderr);
    assert!(fs::read_to_string(&config).unwrap().contains("trusted_hash"), "it was asked for this hook");
    setup(&home, &["codex", "--remove", "--yes"]).ok();
    assert_eq!(fs::read_to_string(&config).unwrap(), text);
}

/// Codex keeps trust by the number of the hook's group.
#[test]
fn removal_renumbers_the_trust_of_later_codex_hooks() {
    let home = Home::new();
    let config = at(&home, ".codex/config.toml");
    let hook = |name: &str| {
        format!(
            "\n[[hooks.PostToolUse]]\n[[hooks.PostToolUse.hooks]]\ntype = \"command\"\ncommand = \"{name}\"\n"
        )
    };
    let state = |number: usize, hook: usize, rest: &str| {
        let key = format!("{}:post_tool_use:{number}:{hook}", config.display());
        format!("\n[hooks.state.\"{key}\"]\n{rest}\n")
    };
    let trust = |number: usize, hash: &str| state(number, 0, &format!("trusted_hash = \"sha256:{hash}\""));
    fs::write(&config, hook("first")).unwrap();
    assert_eq!(setup(&home, &["codex", "--yes"]).status, 0);
    let mut text = fs::read_to_string(&config).unwrap();
    text += &(2..12).map(|n| hook(&format!("number {n}"))).collect::<String>();
    // The last is not trusted, the one before is switched off.
    text += &(trust(0, "aa") + &trust(1, "bb"));
    text += &((2..10).map(|n| trust(n, &format!("c{n}"))).collect::<String>());
    text += &state(10, 1, "enabled = false");
    fs::write(&config, &text).unwrap();
    let ran = setup(&home, &["codex", "--remove", "--yes"]).ok();
    assert!(ran.text().contains("removed from"), "{}", ran.text());
    let expected = hook("first")
        + &(2..12).map(|n| hook(&format!("number {n}"))).collect::<String>()
        + &trust(0, "aa")
        + &(2..10).map(|n| trust(n - 1, &format!("c{n}"))).collect::<String>()
        + &state(9, 1, "enabled = false");
    assert_eq!(fs::read_to_string(&config).unwrap(), expected);
}

#[test]
fn trust_that_cannot_be_renumbered_is_not_given_to_another_hook() {
    let home = Home::new();
    let config = at(&home, ".codex/config.toml");
    assert_eq!(setup(&home, &["codex", "--yes"]).status, 0);
    let mine =
        "\n[[hooks.PostToolUse]]\n[[hooks.PostToolUse.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n";
    let key = format!("{}:post_tool_use:1:0", config.display());
    let state = format!("\n[hooks.state.'{key}']\ntrusted_hash = \"sha256:bb\"\n");
    let text = fs::read_to_string(&config).unwrap() + mine + &state;
    fs::write(&config, &text).unwrap();
    setup(&home, &["codex", "--remove", "--yes"]).fails(1, &["trust in hooks behind", "by hand"]);
    assert_eq!(fs::read_to_string(&config).unwrap(), text);
}

/// What is tried is the hook, not the user's settings for it: those may be meant.
#[test]
fn a_configuration_that_asks_for_no_note_is_named() {
    let home = Home::new();
    let config = home.work().with_file_name("config").join("overspill/config.toml");
    fs::create_dir(config.parent().unwrap()).unwrap();
    for (text, is_named) in [
        ("[hook]\nnotes = false\n", true),
        ("[hook]\nnotes = true\nignore = [\"made-up\"]\n", false),
        ("[limits.\"claude-code/bash\"]\nmax_bytes = 9000000\n", false),
    ] {
        fs::write(&config, text).unwrap();
        let ran = setup(&home, &["claude-code", "--yes"]);
        assert!(ran.status == 0 && ran.text().contains("tested: the hook"), "{text}: {}", ran.stderr);
        let words = format!("the hook gives no note while notes = false in [hook] of {}\n", config.display());
        assert_eq!(ran.stderr.contains(&words), is_named, "{}", ran.stderr);
        assert!(is_named || ran.stderr.is_empty(), "{}", ran.stderr);
    }
}

#[test]
fn the_trial_succeeds_whatever_limits_the_user_has_set_in_the_agent() {
    let home = Home::new();
    let threshold = r#"{"tools": {"truncateToolOutputThreshold": 9000000}}"#;
    for (agent, file, text) in [
        ("claude-code", ".claude/settings.json", r#"{"bashOutputMaxChars": 9000000}"#),
        ("gemini-cli", ".gemini/settings.json", threshold),
        ("qwen-code", ".qwen/settings.json", threshold),
        (
            "opencode",
            "../work/opencode.json",
            r#"{"tool_output": {"max_lines": 9000000, "max_bytes": 9000000}}"#,
        ),
    ] {
        fs::write(at(&home, file), text).unwrap();
        let ran = setup(&home, &[agent, "--yes"]).ok();
        assert!(ran.text().contains("tested: the hook gives its note"), "{agent}: {}", ran.text());
    }
}

#[test]
fn a_switch_that_keeps_all_hooks_from_running_is_named() {
    let home = Home::new();
    for (agent, file, text, setting) in [
        ("claude-code", ".claude/settings.json", r#"{"disableAllHooks": true}"#, "disableAllHooks = true"),
        ("qwen-code", ".qwen/settings.json", r#"{"disableAllHooks": true}"#, "disableAllHooks = true"),
        (
            "gemini-cli",
            ".gemini/settings.json",
            r#"{"hooksConfig": {"enabled": false}}"#,
            "hooksConfig.enabled = false",
        ),
        ("codex", ".codex/config.toml", "[features]\nhooks = false\n", "features.hooks = false"),
    ] {
        let file = at(&home, file);
        fs::write(&file, text).unwrap();
        for words in [&[agent, "--yes"][..], &[agent]] {
            let ran = setup(&home, words);
            assert!(
                ran.status == 0
                    && ran
                        .stderr
                        .contains(&format!("runs no hook while that file has {setting}; take it out")),
                "{}",
                ran.stderr
            );
        }
        assert!(!setup(&home, &[agent, "--remove", "--yes"]).ok().stderr.contains("runs no hook"), "{agent}");
        fs::write(&file, text.replace("true", "no").replace("false", "true").replace("no", "false")).unwrap();
        assert!(!setup(&home, &[agent, "--yes"]).stderr.contains("runs no hook"), "{agent}");
    }
}
