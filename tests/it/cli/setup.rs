//! `setup` writes an agent's own file in the home directory, tries the hook, and takes it away again.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use crate::common::home::{Home, Ran, fifo};

fn at(home: &Home, name: &str) -> PathBuf {
    let path = home.work().parent().unwrap().join("home").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    path
}

fn setup(home: &Home, words: &[&str]) -> Ran {
    home.run(&[&["setup"], words].concat())
}

#[test]
fn the_hook_is_written_tried_and_taken_away() {
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
        assert!(
            ran.text().contains("tried: the hook answers a made-up output with a note"),
            "{}",
            ran.text()
        );
        let program = env!("CARGO_BIN_EXE_overspill");
        assert!(fs::read_to_string(&file).unwrap().contains(program), "{agent}");
        assert!(setup(&home, &[agent]).text().starts_with("already in "), "{agent}");
        setup(&home, &[agent, "--remove", "--yes"]).ok();
        assert!(!file.exists(), "{agent}");
        assert!(setup(&home, &[agent, "--remove"]).ok().text().starts_with("not in "), "{agent}");
    }
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
fn what_cannot_be_changed_is_left_alone() {
    let home = Home::new();
    let file = at(&home, ".claude/settings.json");
    fs::write(&file, "{ broken").unwrap();
    let ran = setup(&home, &["claude-code", "--yes"]);
    assert_eq!(ran.status, 1);
    assert!(ran.stderr.contains("is no JSON") && ran.stderr.contains("by hand"), "{}", ran.stderr);
    assert!(ran.text().contains("hook claude-code"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "{ broken");
    fs::remove_file(&file).unwrap();
    fifo(&file);
    setup(&home, &["claude-code", "--yes"]).fails(1, &["not a regular file"]);
    symlink("/nowhere", home.at(".gemini")).unwrap();
    setup(&home, &["gemini-cli", "--project", "--yes"]).fails(1, &["is a link in a project"]);
    setup(&home, &["codex", "--project"]).fails(2, &["leave --project out"]);
    setup(&home, &["codex", "--capture"]).fails(2, &["claude-code alone"]);
}

/// Speaks the three requests, and keeps what it was asked to trust.
const CODEX: &str = r#"#!/bin/sh
while read -r line; do
  case $line in
    *'"initialize"'*) echo '{"id":1,"result":{}}' ;;
    *'"hooks/list"'*)
      command=$(sed -n 's/^command = "\(.*\)"$/\1/p' "$HOME/.codex/config.toml")
      echo '{"id":2,"result":{"data":[{"hooks":[{"key":"K:post_tool_use:0:0","command":"'"$command"'","currentHash":"sha256:1"}]}]}}' ;;
    *'"config/batchWrite"'*) echo "$line" > "$HOME/asked"; echo '{"id":3,"result":{"status":"ok"}}' ;;
  esac
done
"#;

#[test]
fn codex_is_asked_to_trust_the_hook() {
    let home = Home::new();
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
    let asked = fs::read_to_string(at(&home, "asked")).unwrap();
    assert!(asked.contains(r#"{"K:post_tool_use:0:0":{"trusted_hash":"sha256:1"}}"#), "{asked}");
}
