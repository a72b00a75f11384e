//! `stores`: what is known about each agent's store.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::stores_cli::stocked::{ID, Stocked};

#[test]
fn every_adapter_has_a_row() {
    let home = Stocked::new();
    home.entry("opencode", ID, "x".repeat(2048), 1);
    let here = home.run(&["stores"]).ok();
    let names: Vec<&str> = here.text().lines().filter_map(|row| row.split('\t').next()).collect();
    assert_eq!(names, ["opencode"], "what has outputs on this system");
    let ran = home.run(&["stores", "--all"]).ok();
    let row =
        |name: &str| ran.text().lines().find(|row| row.starts_with(name)).unwrap_or_else(|| panic!("{name}"));
    let root = home.dir("data/opencode/tool-output");
    assert!(row("opencode\t").ends_with(root.to_str().unwrap()), "{}", row("opencode\t"));
    assert!(row("opencode\t").contains("\t1\t2 KB\t7 d after the last change\t"), "{}", row("opencode\t"));
    assert!(row("kilo\t").contains("–") && row("kilo\t").ends_with("(not there)"), "{}", row("kilo\t"));
    assert!(row("crush\t").ends_with(".crush/shell-output (not there)"), "{}", row("crush\t"));
    assert!(row("codex\t").contains("keeps none: "), "{}", row("codex\t"));
    assert!(row("gemini-cli/session\t").contains("30 d after its folder's last change"));
    for name in
        ["claude-code", "copilot-chat", "goose/mcp", "hermes/exec", "kimi-cli", "overspill", "pi", "roo"]
    {
        row(name);
    }
}

#[test]
fn stores_json_has_roots_rule_and_source() {
    let home = Stocked::new();
    home.entry("opencode", ID, "xyz", 1);
    let json = home.run(&["stores", "--json"]).ok().json();
    let store = |name: &str| json.as_array().unwrap().iter().find(|store| store["name"] == name).unwrap();
    let opencode = store("opencode");
    assert_eq!((&opencode["entries"], &opencode["bytes"]), (&1.into(), &3.into()));
    assert_eq!(opencode["roots"][0]["state"], "there");
    assert_eq!(
        (&opencode["rule"], &opencode["holds"][0]),
        (&"7 d after the last change".into(), &"raw".into())
    );
    assert_eq!(store("copilot-chat")["roots"].as_array().unwrap().len(), 4);
    assert_eq!(store("kilo")["roots"][0]["state"], "not there");
    assert!(store("codex")["keeps_none"].as_str().unwrap().contains("kept nowhere"));
}

#[test]
fn stores_shows_the_age_from_the_agents_settings() {
    let home = Stocked::new();
    home.put(&home.dir("home/.claude/settings.json"), r#"{"cleanupPeriodDays": 3}"#, 1);
    let ran = home.run(&["stores", "--all"]).ok();
    let row = ran.text().lines().find(|row| row.starts_with("claude-code\t")).unwrap();
    assert!(row.contains("3 d after the last change"), "{row}");
}

#[test]
fn an_unknown_rule_shows_the_reason() {
    let home = Stocked::new();
    let output = home.put(&home.dir("home/.gemini/tmp/p/tool-outputs/glob_1.txt"), "x", 1);
    let settings = home.dir("home/.gemini/settings.json");
    let check = |why: &str| {
        let why = format!("unknown: {}: {why}", settings.display());
        let ran = home.run(&["stores"]).ok();
        let row = ran.text().lines().find(|row| row.starts_with("gemini-cli/project\t")).unwrap();
        assert!(row.contains(&why), "{row}");
        let ran = home.run(&["show", output.to_str().unwrap()]).ok();
        assert!(ran.text().contains(&format!("rule      {why}")), "{}", ran.text());
        let shown = home.run(&["show", "--json", output.to_str().unwrap()]).ok().json();
        assert!(shown["retention"].as_str().unwrap().starts_with(&why), "{shown}");
    };
    home.put(&settings, "{", 1);
    check("Unterminated object on line 1");
    home.put(&settings, r#"{"general": {"sessionRetention": {"maxAge": "30s"}}}"#, 1);
    check("general.sessionRetention.maxAge is 30s, which the agent does not take");
    fs::remove_file(&settings).unwrap();
    fs::create_dir(&settings).unwrap();
    check("is not a regular file, and is not read");
}

#[test]
fn a_printed_store_file_can_be_edited_and_used() {
    let home = Stocked::new();
    let text = home.run(&["stores", "goose"]).ok();
    assert!(text.text().contains("agent = \"goose\"") && text.text().contains("part = \"mcp\""));
    assert_eq!(home.run(&["stores", "goose/mcp"]).ok().text(), text.text());
    let changed = text
        .text()
        .replace("retention = { by = \"never\" }", "retention = { by = \"mtime\", after = \"5h\" }");
    home.put(&home.dir("config/overspill/stores/goose.toml"), &changed, 0);
    assert_eq!(home.run(&["stores", "goose"]).ok().text(), changed);
    assert!(home.run(&["stores", "--all"]).ok().text().contains("5 h after the last change"));
    home.put(&home.dir("config/overspill/stores/goose.toml"), "", 0);
    assert_eq!(home.run(&["stores", "goose"]).text(), text.text(), "a shell empties the file it writes to");
    home.run(&["stores", "moose"]).fails(2, &["`moose`", "did you mean goose?"]);
    home.run(&["stores", "zzz"]).fails(2, &["`zzz`", "goose", "codex", "overspill"]);
}

#[test]
fn stores_says_that_an_own_store_open_to_others_is_refused() {
    let home = Stocked::new();
    fs::set_permissions(home.own_root(), PermissionsExt::from_mode(0o755)).unwrap();
    let ran = home.run(&["stores"]).ok();
    let row = ran.text().lines().find(|row| row.starts_with("overspill\t")).unwrap();
    assert!(row.contains("refused: ") && row.contains("chmod 700"), "{row}");
}
