//! `show`: the facts about one output.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};

use crate::common::records;
use crate::stores_cli::stocked::{ID, OTHER, Stocked, age, name};

#[test]
fn a_file_that_no_policy_made_names_no_policy() {
    // What Gemini CLI masks, what Qwen Code takes out of a batch, and what a hook of Claude Code said too much, is cut by a rule
    // that no policy has.
    let home = Stocked::new();
    let gemini = "home/.gemini/tmp/p/tool-outputs/session-652ea467-f10c-44f8-8505-783b4fc9c305";
    let claude = "home/.claude/projects/-p/652ea467-f10c-44f8-8505-783b4fc9c305/tool-results";
    let output = &["gemini-cli/output"][..];
    for (name, policies) in [
        (format!("{gemini}/run_shell_command__fc0001abcdefghijklmn.txt"), output),
        (format!("{gemini}/run_shell_command_1795616656988_0.txt"), output),
        (format!("{gemini}/run_shell_command-1757000000000-a1b2c3d4e5f6.txt"), output),
        (format!("{gemini}/mcp_gh_list_1795616656988_0.txt"), output),
        (format!("{gemini}/run_shell_command_run_shell_command_1795616656988_0_k3x9qz.txt"), &[]),
        (format!("{gemini}/mcp_gh_list_mcp_gh_list_1795616656988_0_k3x9qz.txt"), &[]),
        (format!("{gemini}/read_file_read_file_1795616656988_1_k3x9qz.txt"), &[]),
        ("home/.qwen/tmp/9c09/tool-results/call_0001.txt".to_owned(), &[]),
        (format!("{claude}/hook-toolu_0001-PostToolUse-9c09-additionalContext.txt"), &[]),
    ] {
        let path = home.put(&home.dir(&name), "x\n".repeat(50_000), 1);
        let path = path.to_str().unwrap();
        let shown = home.run(&["show", "--json", path]).ok().json();
        assert_eq!(shown["policies"], serde_json::json!(policies), "{name}");
        let preview = home.run(&["preview", "--json", path]).json();
        let certainty = if policies.is_empty() { "would-get" } else { "reconstructed" };
        assert_eq!(preview["certainty"], certainty, "{name}");
        let said = home.run(&["preview", path]).stderr;
        assert_eq!(said.contains("how this was cut is not known\n"), policies.is_empty(), "{name}: {said}");
    }
}

#[test]
fn show_prints_the_facts_of_an_entry_by_id_prefix() {
    let home = Stocked::new();
    let path = home.entry("opencode", ID, "x".repeat(2048), 240);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    home.entry("opencode", OTHER, "y", 1);
    let ran = home.run(&["show", "tool_c"]).ok();
    let facts: Vec<(&str, &str)> = ran.text().lines().map(|line| line.split_once(' ').unwrap()).collect();
    let fact = |name| facts.iter().find(|(key, _)| *key == name).unwrap().1.trim();
    assert_eq!((fact("id"), fact("path")), (ID, path.to_str().unwrap()));
    assert_eq!((fact("agent"), fact("tool"), fact("session")), ("opencode", "–", "–"));
    assert_eq!(fact("size"), "2 KB (2,048 bytes)");
    assert!(fact("modified").ends_with("Z (10 d ago)"), "{}", fact("modified"));
    assert!(fact("expires").ends_with("Z (overdue 3 d)"), "{}", fact("expires"));
    assert_eq!(fact("rule"), "mtime: 7 d after the last change");
    assert_eq!(fact("holds"), "raw: the output itself");
    assert_eq!(fact("policies"), "opencode/output, opencode/v2, opencode/shell");
    assert_eq!(fact("mode"), "0644 (warning: readable by others; fix with `chmod 600`)");
    assert!(fact("owner").ends_with("(you)"));
}

/// The store of opencode tells nothing but the output.
#[test]
fn show_fills_gaps_from_the_record_of_the_call() {
    let home = Stocked::new();
    let spill = records::claude(&home);
    let log = records::root(&home).join(format!(".claude/projects/-home-u-proj/{}.jsonl", records::SESSION));
    let moved = home.entry("opencode", ID, fs::read_to_string(&spill).unwrap(), 0);
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replace(spill.to_str().unwrap(), moved.to_str().unwrap())).unwrap();
    let json = home.run(&["show", ID, "--json"]).ok().json();
    let said = ["tool", "session", "project", "command"].map(|field| json[field].as_str().unwrap());
    assert_eq!(said, ["Bash", records::SESSION, "/home/u/proj", "seq 1 12000"]);
    let text = home.run(&["show", ID]).ok();
    let facts = format!(
        "tool      Bash\nsession   {}\nproject   /home/u/proj\ncommand   seq 1 12000\n",
        records::SESSION
    );
    assert!(text.text().contains(&facts), "{}", text.text());
}

#[test]
fn show_takes_a_path_like_an_id() {
    let home = Stocked::new();
    let path = home.own(1, "x", 1);
    let by_id = home.run(&["show", name(&path)]).ok();
    assert!(by_id.text().contains("mode      0600\n"), "{}", by_id.text());
    assert_eq!(home.run(&["show", path.to_str().unwrap()]).ok().text(), by_id.text());
    std::os::unix::fs::symlink(home.own_root(), home.at("elsewhere")).unwrap();
    let linked = format!("elsewhere/{}", name(&path));
    assert_eq!(home.run(&["show", &linked]).ok().text(), by_id.text());
}

#[test]
fn show_prints_the_recorded_run() {
    let home = Stocked::new();
    let words = ["run", "--keep", "always", "--tool", "bash", "--", "sh", "-c", "printf '\\033[31m'; exit 2"];
    assert_eq!(home.run(&words).status, 2);
    let json = home.run(&["list", "--json"]).ok().json();
    let (id, tool) = (json[0]["id"].as_str().unwrap(), &json[0]["tool"]);
    assert_eq!(tool, "bash");
    let list = home.run(&["list"]).ok();
    assert!(list.text().contains("\tsh -c printf '\\033[31m'; exit 2\t"), "{}", list.text());
    let ran = home.run(&["show", id]).ok();
    assert!(ran.text().contains("\ntool      bash\n"), "{}", ran.text());
    assert!(ran.text().contains("\nended     with status 2\n"), "{}", ran.text());
    assert!(ran.text().contains("\nprinted   5 B, 1 line\n"), "{}", ran.text());
    let json = home.run(&["show", id, "--json"]).ok().json();
    assert_eq!((&json["run"]["exit"]["code"], &json["tool"]), (&2.into(), &"bash".into()));
    assert_eq!(json["version"], 1);
    assert_eq!((&json["exposed"], &json["policies"][0]), (&false.into(), &"opencode/output".into()));
    let record = home.dir("data/overspill/records").join(format!("{id}.json"));
    age(&record, 2);
    home.run(&["rm", "--yes", id]).ok();
    assert!(!record.exists());
}

#[test]
fn an_invalid_record_is_ignored() {
    let home = Stocked::new();
    let path = home.own(1, "x", 1);
    let records = home.dir("data/overspill/records");
    fs::DirBuilder::new().mode(0o700).create(&records).unwrap();
    let record = records.join(format!("{}.json", name(&path)));
    for text in ["no JSON", "[]", "{\"command\": [\"x\"]}"] {
        fs::write(&record, text).unwrap();
        assert_eq!(home.run(&["show", name(&path), "--json"]).ok().json()["run"], serde_json::Value::Null);
        home.run(&["list"]).ok();
    }
}

#[test]
fn a_file_outside_of_all_stores_has_facts_too() {
    let home = Stocked::new();
    let path = home.file("out.log", "12345");
    // No store that could hold it, and so not listed.
    let kilo = home.dir("data/kilo/tool-output");
    std::fs::create_dir_all(kilo.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&kilo, &kilo).unwrap();
    let ran = home.run(&["show", "out.log"]).ok();
    let path = path.to_str().unwrap();
    assert!(ran.text().contains(path) && ran.text().contains("no agent's rule deletes it"), "{}", ran.text());
    let json = home.run(&["show", "./out.log", "--json"]).ok().json();
    assert_eq!(json["version"], 1);
    assert_eq!((&json["size"], &json["path"]), (&5.into(), &path.into()));
    assert_eq!((&json["rule"], json.get("policies")), (&serde_json::Value::Null, None));
}

#[test]
fn unknown_and_ambiguous_ids_are_refused() {
    let home = Stocked::new();
    home.entry("opencode", ID, "x", 1);
    home.entry("kilo", OTHER, "x", 1);
    let several = format!("overspill: tool_ matches 2 ids: {OTHER}, {ID}\n");
    let commands = [&["show"][..], &["rm", "--yes"], &["preview"], &[]];
    for command in commands {
        assert_eq!(home.run(&[command, &["tool_"]].concat()).fails(2, &[]).stderr, several);
        home.run(&[command, &["nosuch"]].concat()).fails(1, &["nosuch: no such file", "overspill list"]);
    }
    home.run(&["show", "./nosuch"]).fails(1, &["./nosuch: no such file"]);
    home.entry("kilo", ID, "x", 1);
    let [kilo, opencode] =
        ["kilo", "opencode"].map(|agent| home.dir(&format!("data/{agent}/tool-output/{ID}")));
    let paths = format!("{}, {}", kilo.display(), opencode.display());
    let same = format!("overspill: {ID} is the id of several outputs; name one by its path: {paths}\n");
    for command in commands {
        assert_eq!(home.run(&[command, &[ID]].concat()).fails(2, &[]).stderr, same);
    }
    home.run(&["show", "tool_"]).fails(2, &[&several]);
}
