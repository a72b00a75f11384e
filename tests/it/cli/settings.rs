//! `overspill config`, `--config FILE` and `OVERSPILL_POLICY`: the settings in effect, and where each comes from.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::cli::numbered;
use crate::common::home::{Home, Ran, finish};

fn config(home: &Home, text: &str) -> PathBuf {
    let path = home.work().with_file_name("config").join("overspill/config.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    path
}

/// Returns value and origin of each setting: `from`, or `from:line`.
fn settings(ran: Ran) -> BTreeMap<String, (String, String)> {
    let object = ran.ok().json();
    assert_eq!(object["version"], 1);
    let all = object["settings"].as_array().unwrap().iter().map(|setting| {
        let text = |key: &str| setting[key].as_str().unwrap().to_owned();
        let line = setting["line"].as_u64().map_or(String::new(), |line| format!(":{line}"));
        (text("name"), (text("value"), format!("{}{line}", text("from"))))
    });
    all.collect()
}

/// Runs with a policy named in the environment.
fn with_variable(home: &Home, name: &str, words: &[&str]) -> Ran {
    finish(home.command(words).env("OVERSPILL_POLICY", name).spawn().unwrap())
}

#[test]
fn config_shows_the_origin_of_each_setting() {
    let home = Home::new();
    let all = settings(home.run(&["config", "--json"]));
    assert!(all.values().all(|(_, from)| from == "default"), "{all:?}");
    let path = config(
        &home,
        "policy = \"pi/bash\"\nkeep_own = \"never\"\n\n[limits.\"pi/bash\"]\nmax_lines = 7\n\n\
         [limits.\"opencode/output\"]\nmax_bytes = \"1k\"\n\n[tools.grep]\npolicy = \"pi/grep\"\n\n[keys]\nsearch = [\"/\", \"ctrl-n\"]\n",
    );
    let before = fs::read_to_string(&path).unwrap();
    let at = |line: usize| format!("{}:{line}", path.display());
    let pair = |value: &str, from: &str| (value.to_owned(), from.to_owned());
    let all = settings(home.run(&["config", "--json"]));
    assert_eq!(all["policy"], pair("pi/bash", &at(1)));
    assert_eq!(all["keep_own"], pair("never", &at(2)));
    assert_eq!(all["limits.pi/bash.max_lines"], pair("7", &at(5)));
    assert_eq!(all["limits.pi/bash.max_bytes"], pair("51200", "default"));
    assert_eq!(all["limits.opencode/output.max_bytes"], pair("1k", &at(8)));
    assert_eq!(all["keys.search"], pair("/ ctrl-n", &at(14)));
    assert_eq!(all["keys.next-match"], pair("n", "default"));
    assert_eq!(settings(home.run(&["config", "--json", "-t", "grep"]))["policy"], pair("pi/grep", &at(11)));
    assert_eq!(
        settings(home.run(&["config", "--json", "-p", "crush/bash"]))["policy"],
        pair("crush/bash", "flags")
    );
    let of_variable = settings(with_variable(&home, "pi/grep", &["config", "--json"]));
    assert_eq!(of_variable["policy"], pair("pi/grep", "OVERSPILL_POLICY"));
    home.file("opencode.json", r#"{"tool_output": {"max_lines": 3}}"#);
    let of_agent = settings(home.run(&["config", "--json", "-p", "opencode/output"]));
    let (value, from) = &of_agent["limits.opencode/output.max_lines"];
    assert!(value == "3" && from.ends_with("work/opencode.json"), "{from}");
    // A tool that a named policy does not know is none of its.
    let other =
        config(&home, "[tools.grep]\npolicy = \"opencode/output\"\nmax_lines = 20\nmax_bytes = \"1k\"\n");
    let of_tool = settings(home.run(&["config", "--json", "-p", "pi/bash", "-t", "grep"]));
    assert_eq!(of_tool["limits.pi/bash.max_lines"], pair("2000", "default"));
    let of_tool = settings(home.run(&["config", "--json", "-t", "grep"]));
    assert_eq!(of_tool["limits.opencode/output.max_lines"], pair("20", &format!("{}:3", other.display())));
    fs::write(&path, before).unwrap();
    let text = home.run(&["config"]).ok();
    let first = text.text().lines().next().unwrap_or_default().to_owned();
    assert_eq!(first.split_whitespace().collect::<Vec<_>>(), ["policy", &at(1), "pi/bash"]);
}

#[test]
fn the_commented_file_holds_the_defaults() {
    let home = Home::new();
    let defaults = settings(home.run(&["config", "--json"]));
    let path = PathBuf::from(home.run(&["config", "--init"]).ok().text().trim_end());
    assert_eq!(path, home.work().with_file_name("config").join("overspill/config.toml"));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.lines().all(|line| line.is_empty() || line.starts_with('#')), "everything is a comment");
    home.run(&["config", "--init"]).fails(1, &["config.toml: exists already, and is not overwritten"]);
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let is_setting = |line: &str| line.starts_with('#') && !line.starts_with("# ");
    let lines = text.lines().map(|line| if is_setting(line) { &line[1..] } else { line });
    fs::write(&path, lines.collect::<Vec<_>>().join("\n")).unwrap();
    let ran = home.run(&["config", "--json"]);
    assert_eq!(ran.stderr, "");
    let set = settings(ran);
    let values = |all: &BTreeMap<String, (String, String)>| -> BTreeMap<String, String> {
        all.iter().map(|(name, (value, _))| (name.clone(), value.clone())).collect()
    };
    assert_eq!(values(&set), values(&defaults));
    let path = path.display().to_string();
    assert!(set.values().all(|(_, from)| from.starts_with(&path)), "each is set by the file: {set:?}");
}

#[test]
fn the_config_option_replaces_the_configuration_file() {
    let home = Home::new();
    home.file("out.log", numbered(30));
    config(&home, "[limits.\"opencode/output\"]\nmax_lines = 2\n");
    let other = home.file("other.toml", "[limits.\"opencode/output\"]\nmax_lines = 5\n");
    let other = other.to_str().unwrap();
    let lines = |ran: Ran| ran.ok().text().lines().filter(|line| line.starts_with("line ")).count();
    assert_eq!(lines(home.run(&["preview", "out.log"])), 2);
    assert_eq!(lines(home.run(&["preview", "out.log", "--config", other])), 5);
    assert_eq!(lines(home.run(&["preview", "--config", other, "out.log"])), 5);
    for command in
        [&["list"][..], &["policies"], &["clean"], &["run", "--", "true"], &["config"], &["out.log"]]
    {
        home.run(&[&["--config", "none.toml"], command].concat())
            .fails(2, &["--config none.toml: no such file"]);
    }
    home.run(&["run", "--config", "none.toml", "--", "true"]).fails(2, &["none.toml: no such file"]);
    let new = home.at("deep/new.toml");
    let ran = home.run(&["config", "--init", "--config", "deep/new.toml"]).ok();
    assert_eq!(ran.text(), format!("{}\n", new.display()));
    assert!(new.exists());
}

#[test]
fn the_policy_variable_ranks_below_flags_and_above_the_config() {
    let home = Home::new();
    home.file("out.log", numbered(30));
    config(&home, "policy = \"crush/bash\"\n\n[tools.grep]\npolicy = \"crush/bash\"\n");
    let of = |name: &str, words: &[&str]| {
        with_variable(&home, name, &[words, &["out.log", "--json"]].concat()).ok().json()["policy"].clone()
    };
    assert_eq!(of("pi/bash", &["preview"]), "pi/bash");
    assert_eq!(of("", &["preview"]), "crush/bash", "empty is unset");
    assert_eq!(of("pi/bash", &["preview", "-p", "opencode/output"]), "opencode/output");
    assert_eq!(of("pi", &["preview", "-t", "grep"]), "pi/grep");
    assert_eq!(of("claude-code", &["preview"]), "claude-code/bash");
    assert_eq!(of("", &["preview", "-p", "opencode"]), "opencode/shell");
    assert_eq!(of("", &["read", "-p", "pi"]), "pi/read");
    config(&home, "policy = \"gemini-cli\"\n");
    assert_eq!(of("", &["preview"]), "gemini-cli/output");
    config(&home, "policy = \"opencode\"\n");
    assert_eq!(of("", &["preview", "-t", "output"]), "opencode/output");
    config(&home, "policy = \"crush/bash\"\n");
    let spill = home.private_entry("opencode", "tool_e26cf08d50010000AbCdEfGhIjKl", numbered(30), 1);
    let stored = with_variable(&home, "pi/bash", &["preview", "--json", spill.to_str().unwrap()]);
    assert_eq!(stored.ok().json()["policy"], "opencode/shell", "where it is stored tells more");
    let run = with_variable(&home, "pi/bash", &["run", "--json", "--", "seq", "3"]).ok().json();
    assert_eq!((&run["policy"], &run["policy_from"]), (&"pi/bash".into(), &"OVERSPILL_POLICY".into()));
    let words = ["OVERSPILL_POLICY: no policy `pi/bahs`; did you mean pi/bash?"];
    with_variable(&home, "pi/bahs", &["preview", "out.log"]).fails(2, &words);
    with_variable(&home, "pi/bahs", &["run", "--", "true"]).fails(2, &words);
    with_variable(&home, "pi/bahs", &["list"]).ok();
}
