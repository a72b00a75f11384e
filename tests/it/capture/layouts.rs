//! Spills where, and under the name, that an agent would use.

use std::fs;
use std::path::PathBuf;

use super::{mode, names, run, sequence, spills};
use crate::common::home::Home;

fn tmp(home: &Home) -> PathBuf {
    home.work().with_file_name("tmp")
}

#[test]
fn a_session_keeps_its_spills_together_until_it_ends() {
    let home = Home::new();
    let flags = ["-p", "go-opencode/bash", "--layout", "agent", "--session", "s1", "--split"];
    let ran = run(&home, &flags, "seq 1 3000; seq 1 4000 >&2; exit 3");
    assert_eq!(ran.status, 3);
    let dir = tmp(&home).join("opencode-s1");
    assert_eq!(mode(&dir), 0o700);
    let files = names(&dir);
    let [stderr, stdout] = &files[..] else { panic!("{files:?}") };
    assert!(stdout.starts_with("bash-") && stdout.ends_with("-stdout.txt"), "{stdout}");
    assert_eq!(stdout.replace("stdout", "stderr"), *stderr);
    assert_eq!(fs::read_to_string(dir.join(stdout)).unwrap(), sequence(3000));
    assert_eq!(fs::read_to_string(dir.join(stderr)).unwrap(), sequence(4000));
    for name in &files {
        let path = format!("Full output saved to: {}\n", dir.join(name).display());
        assert!(ran.text().contains(&path), "{name}: {}", ran.text());
    }
    assert!(ran.text().ends_with("Exit code 3"), "{}", ran.text());
    let listed = home.run(&["list", "--json"]).ok().json();
    assert_eq!((&listed[0]["session"], &listed[0]["agent"]), (&"s1".into(), &"go-opencode".into()));
    let ended = home.run(&["clean", "--session", "s1"]);
    assert_eq!((ended.status, dir.exists()), (0, false));
    home.run(&["clean", "--session", "s1"]).fails(1, &["no such session"]);
    home.run(&["clean", "--session", "../s1"]).fails(2, &["letters"]);
}

#[test]
fn split_saves_only_the_stream_that_is_cut() {
    let home = Home::new();
    let flags = ["-p", "go-opencode/bash", "--layout", "agent", "--split"];
    let ran = run(&home, &flags, "seq 1 3000; echo little >&2");
    assert_eq!(names(&tmp(&home).join("opencode-overspill")).len(), 1);
    assert!(ran.text().ends_with("little\n"), "{}", ran.text());
}

#[test]
fn layout_agent_uses_the_agents_file_names() {
    let home = Home::new();
    let spilled = |policy: &str| {
        let ran = run(&home, &["-p", policy, "--tool", "bash", "--layout", "agent"], "seq 1 9000");
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran.text().to_owned()
    };
    spilled("opencode/output");
    let opencode = home.work().with_file_name("data").join("opencode/tool-output");
    assert!(matches!(&names(&opencode)[..], [name] if name.starts_with("tool_") && name.len() == 33));
    assert!(spilled("pi-30k/bash").contains(&format!("{}/pi-bash-", tmp(&home).display())));
    spilled("t15/recipe");
    let recipe = names(&tmp(&home).join("agent-overflow"));
    assert!(matches!(&recipe[..], [name] if name.starts_with("bash-") && name.len() == 17), "{recipe:?}");
    assert_eq!(spills(&home).len(), 0);
    let text = home.run(&["list"]).ok().stdout;
    let text = String::from_utf8(text).unwrap();
    assert_eq!(
        text.lines().filter(|row| row.split('\t').any(|cell| cell == "sh -c seq 1 9000")).count(),
        3,
        "{text}"
    );
}

#[test]
fn an_output_in_an_agents_store_is_shown_as_its_run_recorded_it() {
    let home = Home::new();
    let flags = ["-p", "pi-30k/bash", "--layout", "agent", "--max-lines", "20", "--max-spill", "1k"];
    run(&home, &flags, "seq 5000; exit 3");
    let name = names(&tmp(&home)).into_iter().find(|name| name.starts_with("pi-bash-")).unwrap();
    let path = tmp(&home).join(name);
    let shown = home.run(&["preview", "--json", path.to_str().unwrap()]);
    let json = shown.json();
    assert_eq!((&json["policy"], &json["kept_lines"]), (&"pi-30k/bash".into(), &20.into()), "{json}");
    assert_eq!(json["certainty"], "would-get", "no model got what is made of a part");
    assert!(shown.stderr.contains("only the first 1024 of 23893 bytes"), "{}", shown.stderr);
    let whole = ["-p", "pi-30k/bash", "--layout", "agent"];
    let printed = run(&home, &whole, "seq 5000; exit 3");
    let of_whole = |name: &String| name.starts_with("pi-bash-") && !path.ends_with(name);
    let name = names(&tmp(&home)).into_iter().find(of_whole).unwrap();
    let again = home.run(&["preview", tmp(&home).join(name).to_str().unwrap()]).ok();
    assert_eq!(again.text(), printed.text());
}

#[test]
fn an_agent_without_a_place_of_its_own_is_refused() {
    let home = Home::new();
    let words = ["run", "-p", "basic/smart", "--layout", "agent", "--", "touch", "made"];
    home.run(&words).fails(2, &["basic", "--layout"]);
    let words =
        ["run", "-p", "go-opencode/bash", "--layout", "agent", "--session", "a/b", "--", "touch", "made"];
    home.run(&words).fails(2, &["a/b"]);
    assert!(!home.at("made").exists());
}
