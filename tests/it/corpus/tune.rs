//! `overspill tune`: which settings it finds best, on which outputs, and what it does with what it cannot read.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::home::{Home, fifo};
use crate::common::session::Session;
use crate::stores_cli::stocked::{ID, OTHER, Stocked};

/// Numbered lines, the last ones of which are errors: what opencode cuts away.
fn late_errors() -> String {
    let word = |number| if number > 4950 { "Error: " } else { "" };
    (1..=5000).map(|number| format!("{}line {number} of an output\n", word(number))).collect()
}

/// Returns all files below a directory, with their content.
fn tree(top: &Path) -> BTreeSet<(PathBuf, Vec<u8>)> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(top).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(tree(&path));
        } else {
            let content = fs::read(&path).unwrap();
            all.insert((path, content));
        }
    }
    all
}

#[test]
fn the_frontier_of_stored_outputs_is_printed() {
    let home = Stocked::new();
    home.entry("opencode", ID, late_errors(), 60);
    home.entry("opencode", OTHER, "short\n", 30);
    let before = tree(&home.dir(""));
    let text = home.run(&["tune"]).ok().text().to_owned();
    assert!(
        text.starts_with("opencode/output: the best of 60 settings for 2 outputs (111.6 KB) with 50 errors"),
        "{text}"
    );
    assert!(text.contains("\n*\thead\t2,000\t50 KB\t0%\t"), "{text}");
    assert!(text.contains("\ntail, 500 lines, 6,400 B: 100% of errors (now 0%) for "), "{text}");
    assert!(text.contains("2,000 lines, 50 KB, now: other settings keep some"), "{text}");
    assert_eq!(home.run(&["tune", "--stores"]).ok().text(), text);
    assert_eq!(home.run(&["tune", "--agent", "opencode"]).ok().text(), text);
    assert_eq!(tree(&home.dir("")), before, "something was written");
}

#[test]
fn figures_agree_with_preview() {
    let home = Home::new();
    fs::create_dir(home.at("logs")).unwrap();
    home.file("logs/a.log", late_errors());
    home.file("logs/b.log", "Error: one\n".repeat(300));
    let tuned =
        home.run(&["tune", "--json", "-p", "opencode/output", "--find", "line|one", "logs"]).ok().json();
    assert_eq!(
        (&tuned["version"], &tuned["outputs"], &tuned["matches"]),
        (&1.into(), &2.into(), &5300.into())
    );
    let settings = tuned["settings"].as_array().unwrap();
    assert_eq!(settings.len(), 60);
    assert!(settings.contains(&tuned["current"]));
    for setting in settings.iter().step_by(7).chain([&tuned["current"]]) {
        let number = |key: &str| setting[key].as_u64().unwrap();
        let of = |file: &str| {
            let (lines, size) = (number("max_lines").to_string(), number("max_bytes").to_string());
            let direction = setting["direction"].as_str().unwrap();
            let flags = ["--max-lines", &lines, "--max-bytes", &size, "--direction", direction];
            let words = ["preview", "--json", "-p", "opencode/output", file];
            home.run(&[&words[..], &flags].concat()).ok().json()
        };
        let previews = [of("logs/a.log"), of("logs/b.log")];
        let tokens: u64 = previews.iter().map(|preview| preview["tokens_estimate"].as_u64().unwrap()).sum();
        let cut = previews.iter().filter(|preview| preview["truncated"] == true).count() as u64;
        assert_eq!((number("tokens"), number("cut")), (tokens, cut), "{setting}");
    }
    let frontier = tuned["frontier"].as_array().unwrap();
    let kept = |setting: &Value| (setting["tokens"].as_u64(), setting["kept_matches"].as_u64());
    assert!(frontier.windows(2).all(|pair| kept(&pair[0]).0 < kept(&pair[1]).0));
    assert!(frontier.windows(2).all(|pair| kept(&pair[0]).1 < kept(&pair[1]).1));
    for setting in settings {
        let beats = |best: &Value| kept(best).0 <= kept(setting).0 && kept(best).1 >= kept(setting).1;
        assert!(frontier.iter().any(beats), "{setting}");
    }
}

#[test]
fn tune_names_and_skips_unreadable_outputs() {
    let home = Home::new();
    home.file("a", "error: no\n");
    let ran = home.run(&["tune", "nosuch", "a"]);
    assert_eq!(ran.status, 1);
    assert!(ran.text().contains("for 1 output (10 B) with 1 error"), "{}", ran.text());
    let expected = "overspill: nosuch: no such file or id; `overspill list` and `overspill sessions` list what there is\n\
                    overspill: 1 output could not be read, and is left out\n";
    assert_eq!(ran.stderr, expected);
    assert_eq!(home.run(&["tune", "--json", "nosuch", "a"]).json()["complete"], false);
    assert_eq!(home.run(&["tune", "--json", "a"]).ok().json()["complete"], true);
}

#[test]
fn mistakes_are_explained() {
    let home = Home::new();
    home.file("a", "error: no\n");
    home.run(&["tune", "-p", "nosuch/tool", "a"]).fails(2, &["nosuch/tool"]);
    home.run(&["tune", "-p", "opencode/metadata", "--find", "(", "a"]).fails(2, &["--find ("]);
    home.run(&["tune", "--find", "x", ""]).fails(2, &["empty"]);
    home.run(&["tune", "--stores", "a"]).fails(2, &["--stores"]);
    fs::create_dir(home.at("empty")).unwrap();
    for command in ["tune", "compare", "grep x"] {
        let words: Vec<&str> = command.split(' ').chain(["empty"]).collect();
        home.run(&words).fails(1, &["empty: contains no files"]);
    }
    let ran = Stocked::new().run(&["tune"]);
    assert_eq!(ran.status, 0);
    assert!(ran.text().is_empty() && ran.stderr.contains("no stored outputs"), "{}", ran.stderr);
}

#[test]
fn the_fields_are_documented() {
    let home = Home::new();
    home.file("a", "error: no\n");
    let tuned = home.run(&["tune", "--json", "a"]).ok().json();
    let docs = fs::read_to_string("docs/json.md").unwrap();
    let section = docs.split("\n## `tune`").nth(1).unwrap().split("\n## ").next().unwrap();
    let fields = [&tuned, &tuned["current"]].map(|object| object.as_object().unwrap().keys().cloned());
    for field in fields.into_iter().flatten() {
        assert!(section.contains(&format!("`{field}`")), "{field}");
    }
}

#[test]
fn compare_sums_up_many_outputs() {
    let home = Home::new();
    fs::create_dir(home.at("logs")).unwrap();
    home.file("logs/a.log", late_errors());
    home.file("b.log", "Error: one\n".repeat(300));
    let rows =
        home.run(&["compare", "--json", "-p", "opencode", "--find", "error", "logs", "b.log"]).ok().json();
    let row = |name: &str| rows.as_array().unwrap().iter().find(|row| row["policy"] == name).unwrap().clone();
    let one = |file: &str| home.run(&["preview", "--json", "-p", "opencode/shell", file]).ok().json();
    let tokens = |file: &str| one(file)["tokens_estimate"].as_u64().unwrap();
    let shell = row("opencode/shell");
    assert_eq!((&shell["outputs"], &shell["cut"], &shell["matches"]), (&2.into(), &1.into(), &350.into()));
    assert_eq!(shell["kept_matches"], 350);
    assert_eq!(shell["tokens"], tokens("logs/a.log") + tokens("b.log"));
    assert_eq!(
        (&row("opencode/output")["kept_matches"], &row("opencode/output")["lost_last_line"]),
        (&300.into(), &1.into())
    );
    let text = home.run(&["compare", "-p", "opencode/output", "logs", "b.log"]).ok().text().to_owned();
    assert!(text.contains("\nof 2 outputs (114.8 KB) with 350 errors in 2 of them\n"), "{text}");
    let docs = fs::read_to_string("docs/json.md").unwrap();
    let section = docs.split("\n## `compare`").nth(1).unwrap().split("\n## ").next().unwrap();
    for field in shell.as_object().unwrap().keys() {
        assert!(section.contains(&format!("`{field}`")), "{field}");
    }
    home.run(&["compare", "--stores", "b.log"]).fails(2, &["--stores"]);
}

#[test]
fn an_output_with_a_match_counts_without_an_error() {
    let home = Home::new();
    home.file("a", "hello\nworld\n");
    home.file("b", "error: x\n");
    for words in [&["tune", "a", "b"][..], &["compare", "-p", "opencode/output", "a", "b"]] {
        let ran = home.run(&[words, &["--find", "hello"]].concat()).ok();
        assert!(ran.text().contains("with 1 match in 1 of them"), "{}", ran.text());
    }
}

#[test]
fn an_interrupt_leaves_the_figures_so_far() {
    let home = Home::new();
    home.file("a", "error: no\n".repeat(20));
    // More than are read at once.
    let pipes: Vec<String> = (0..300).map(|number| format!("pipe{number}")).collect();
    pipes.iter().for_each(|pipe| fifo(&home.at(pipe)));
    let words = ["tune", "a"].into_iter().chain(pipes.iter().map(String::as_str));
    let mut session = Session::start(&home, &Vec::from_iter(words));
    session.wait_for("measured 1 of 301 outputs, 200 B, ");
    session.keys("\x03").wait_for("^C");
    // Those that are being read are finished first.
    for pipe in &pipes {
        drop(fs::OpenOptions::new().read(true).write(true).open(home.at(pipe)).unwrap());
    }
    session.wait_for("stopped: the figures are of ").wait_for(" of 301 outputs");
    session.wait_for("*    head   2,000  50 KB");
    assert_eq!(session.ended(), 130);
}

#[test]
fn hostile_names_and_bytes_are_measured() {
    let home = Home::new();
    fs::create_dir(home.at("many")).unwrap();
    for number in 0..10_000_usize {
        let name = [b"many/\x1b[31m\xff".as_slice(), number.to_string().as_bytes()].concat();
        let bytes: Vec<u8> =
            (0..number % 200).map(|at| ((at * 7919 + number * 104_729) % 256) as u8).collect();
        fs::write(home.work().join(OsStr::from_bytes(&name)), bytes).unwrap();
    }
    let tuned = home.run(&["tune", "--json", "-p", "pi/bash", "many"]).ok().json();
    assert_eq!((&tuned["outputs"], &tuned["complete"]), (&10_000.into(), &true.into()));
    assert_eq!(tuned["bytes"], 50 * (0..200).sum::<u64>());
}
