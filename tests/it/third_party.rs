//! Checks that `assets/THIRD-PARTY` lists the crates in the program and holds their licence texts; `UPDATE_DOCS=1 cargo
//! test --test it third_party` writes it anew. Only on the target that the list is made for: others have other crates.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/THIRD-PARTY");

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Returns what cargo prints about the crates of `Cargo.lock`.
fn cargo(words: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let mut command = Command::new(cargo);
    command.args(words).args(["--locked", "--offline"]).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Returns the crates that the program is built from: name, version and licence.
fn crates() -> BTreeSet<[String; 3]> {
    let format = ["--prefix", "none", "--format", "{p}\t{l}"];
    let text = cargo(&[&["tree", "--edges", "normal,build", "--target", TARGET], &format[..]].concat());
    let of_line = |line: &str| {
        let (package, licence) = line.split_once('\t')?;
        let mut words = package.split(' ');
        let (name, version) = (words.next()?, words.next()?.trim_start_matches('v'));
        let licence = licence.trim_end_matches(" (*)").replace('/', " OR ");
        (name != "overspill").then(|| [name.to_owned(), version.to_owned(), licence])
    };
    text.lines().filter_map(of_line).collect()
}

/// Returns the directory of each crate's source, by name and version.
fn sources() -> BTreeMap<[String; 2], PathBuf> {
    let text = cargo(&["metadata", "--format-version", "1", "--filter-platform", TARGET]);
    let metadata: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").iter();
    let field = |package: &serde_json::Value, name: &str| package[name].as_str().expect("a text").to_owned();
    let directory = |package| Path::new(&field(package, "manifest_path")).parent().unwrap().to_owned();
    packages
        .map(|package| (["name", "version"].map(|name| field(package, name)), directory(package)))
        .collect()
}

/// Returns the licence texts in a crate's source; where it may be had under MIT, not those of the alternatives.
fn licences(source: &Path) -> Vec<String> {
    let names = fs::read_dir(source).expect("the crate's source").map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    names.sort();
    let has = |name: &String, words: &[&str]| words.iter().any(|word| name.to_uppercase().contains(word));
    names.retain(|name| has(name, &["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"]));
    if names.iter().any(|name| has(name, &["MIT"])) {
        names.retain(|name| !has(name, &["APACHE", "UNLICENSE"]));
    }
    let text = |name: &String| fs::read_to_string(source.join(name)).expect("a text").replace('\r', "");
    names.iter().map(text).map(|text| text.trim_matches('\n').trim_end().to_owned()).collect()
}

/// Returns each licence text below the crates that it is of.
fn texts(crates: &BTreeSet<[String; 3]>) -> String {
    let sources = sources();
    let mut texts: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for [name, version, _] in crates {
        let found = licences(&sources[&[name.clone(), version.clone()]]);
        assert!(!found.is_empty(), "{name} {version} has no licence text: find it, and put it here");
        for text in found {
            texts.entry(text).or_default().push(name);
        }
    }
    let mut texts: Vec<(Vec<&str>, String)> = texts.into_iter().map(|(text, names)| (names, text)).collect();
    texts.sort();
    let line = "-".repeat(80);
    texts.iter().map(|(names, text)| format!("\n{line}\n{}\n\n{text}\n", names.join(" "))).collect()
}

#[test]
fn the_third_party_crates_are_listed_with_their_licence_texts() {
    let mut text = String::from(
        "Crates that the program overspill is built from (x86_64 Linux, all features), with version and licence; below,\n\
         the licence texts. Among them are some that are used only while building. SQLite is in the public domain.\n\
         Made by: UPDATE_DOCS=1 cargo test --test it third_party\n\n",
    );
    let crates = crates();
    let widest = |at: usize| crates.iter().map(|row| row[at].len()).max().unwrap_or(0);
    let (name, version) = (widest(0), widest(1));
    for row in &crates {
        text.push_str(&format!("{:<name$}  {:<version$}  {}\n", row[0], row[1], row[2]));
    }
    text.push_str(&texts(&crates));
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(PATH, &text).unwrap();
    }
    let written = fs::read_to_string(PATH).unwrap_or_default();
    assert!(written == text, "assets/THIRD-PARTY is not what Cargo.lock says; UPDATE_DOCS=1 writes it anew");
}
