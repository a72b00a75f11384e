//! `verify`: equal, different, and not to be checked.

use std::fs;

use super::{SESSION, claude, root};
use crate::common::home::Home;

#[test]
fn equal_results_end_with_0() {
    let home = Home::new();
    claude(&home);
    let ran = home.run(&["verify", "--all", "--json"]).ok();
    let verdicts = ran.json();
    assert_eq!(verdicts.as_array().unwrap().len(), 1, "only what was cut");
    assert_eq!(
        (&verdicts[0]["verdict"], &verdicts[0]["policy"]),
        (&"equal".into(), &"claude-code/bash".into())
    );
    let ran = home.run(&["verify", SESSION]);
    assert_eq!(ran.status, 0);
    assert!(
        ran.text().starts_with("=  claude-code 2.1.330") && ran.stderr.contains("1 equal"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_difference_is_told_by_its_first_byte_and_ends_with_1() {
    let home = Home::new();
    let spill = claude(&home);
    let mut bytes = fs::read(&spill).unwrap();
    bytes[0] = b'7';
    fs::write(&spill, bytes).unwrap();
    let ran = home.run(&["verify", SESSION, "--json"]);
    assert_eq!(ran.status, 1);
    let verdict = &ran.json()[0];
    assert_eq!((&verdict["verdict"], &verdict["part"]), (&"differs".into(), &"kept".into()));
    let recorded = home.run(&["call", "c1"]).ok();
    let first = recorded.text().find("\n1\n2\n").unwrap() + 1;
    assert_eq!(verdict["differs_at"], first);
}

#[test]
fn without_a_spill_nothing_is_claimed() {
    let home = Home::new();
    fs::remove_file(claude(&home)).unwrap();
    let ran = home.run(&["verify", SESSION, "--json"]).ok();
    assert_eq!(ran.json()[0]["verdict"], "unchecked");
    assert_eq!(ran.json()[0]["reason"], "the whole output is not at hand");
}

#[test]
fn a_path_outside_of_the_stores_is_not_opened_unasked() {
    let home = Home::new();
    let spill = claude(&home);
    let outside = home.at("b12345678.txt");
    fs::rename(&spill, &outside).unwrap();
    let log = root(&home).join(".claude/projects/-home-u-proj").join(format!("{SESSION}.jsonl"));
    let text = fs::read_to_string(&log).unwrap();
    fs::write(&log, text.replace(spill.to_str().unwrap(), outside.to_str().unwrap())).unwrap();
    let ran = home.run(&["verify", SESSION, "--json"]).ok();
    assert!(ran.json()[0]["reason"].as_str().unwrap().contains("--any-path"));
    let ran = home.run(&["verify", SESSION, "--any-path", "--json"]).ok();
    assert_eq!(ran.json()[0]["verdict"], "equal");
}

#[test]
fn something_must_be_named() {
    let home = Home::new();
    home.run(&["verify"]).fails(2, &["--all"]);
    home.run(&["verify", "--all", "--json"]).ok();
}
