//! Checks that `assets/THIRD-PARTY` lists the crates in the program; `UPDATE_DOCS=1 cargo test --test it third_party`
//! writes it anew. Only where the list is made for: other targets have other dependencies.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::collections::BTreeSet;
use std::process::Command;

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/THIRD-PARTY");

/// Returns the crates that the program is built from: name, version and licence.
fn crates() -> BTreeSet<[String; 3]> {
    let cargo = std::env::var_os("CARGO").expect("cargo runs the tests");
    let words = ["tree", "--locked", "--offline", "--edges", "normal,build", "--prefix", "none"];
    let command = ["--target", "x86_64-unknown-linux-gnu", "--format", "{p}\t{l}"];
    let tree = Command::new(cargo)
        .args(words)
        .args(command)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo tree runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).expect("UTF-8");
    let of_line = |line: &str| {
        let (package, licence) = line.split_once('\t')?;
        let mut words = package.split(' ');
        let (name, version) = (words.next()?, words.next()?.trim_start_matches('v'));
        let licence = licence.trim_end_matches(" (*)").replace('/', " OR ");
        (name != "overspill").then(|| [name.to_owned(), version.to_owned(), licence])
    };
    text.lines().filter_map(of_line).collect()
}

#[test]
fn the_list_of_third_party_crates_is_complete() {
    let mut text = String::from(
        "Crates that the program overspill is built from (x86_64 Linux, all features), with version and licence.\n\
         Among them are some that are used only while building.\n\
         Made by: UPDATE_DOCS=1 cargo test --test it third_party\n\n",
    );
    let crates = crates();
    let widest = |at: usize| crates.iter().map(|row| row[at].len()).max().unwrap_or(0);
    let (name, version) = (widest(0), widest(1));
    for row in &crates {
        text.push_str(&format!("{:<name$}  {:<version$}  {}\n", row[0], row[1], row[2]));
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(PATH, &text).unwrap();
    }
    let written = std::fs::read_to_string(PATH).unwrap_or_default();
    assert!(written == text, "assets/THIRD-PARTY is not what Cargo.lock says; UPDATE_DOCS=1 writes it anew");
}
