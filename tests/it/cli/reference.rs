//! Checks that `docs/cli.md` matches the program; `UPDATE_DOCS=1 cargo test --test it cli::reference` regenerates it.

use overspill::tui::keys::TABLE;

use crate::common::home::Home;

const COMMANDS: &[&str] = &[
    "",
    "preview",
    "read",
    "run",
    "list",
    "clean",
    "show",
    "rm",
    "stores",
    "compare",
    "policies",
    "session",
    "completions",
    "man",
];

#[test]
fn the_reference_is_what_the_program_says() {
    let home = Home::new();
    let mut text = String::from(
        "# Command line and keys\n\nMade from `overspill --help`, that of each subcommand, and the table of keys.\n",
    );
    for command in COMMANDS {
        let words: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).chain(["--help"]).collect();
        let ran = home.run(&words).ok();
        let help = ran.text();
        let name = format!("overspill {command}");
        text.push_str(&format!("\n## {}\n\n```text\n{}\n```\n", name.trim_end(), help.trim_end()));
    }
    text.push_str(&keys());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/cli.md");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, &text).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == text, "docs/cli.md is not what the program says; UPDATE_DOCS=1 writes it anew");
}

/// Returns the table of keys with its headings, as on the help screen.
fn keys() -> String {
    let mut text = String::from("\n## Keys\n");
    let mut group = "";
    for row in TABLE {
        if row.group != group {
            group = row.group;
            text.push_str(&format!("\n### {group}\n\n| key | what it does |\n|---|---|\n"));
        }
        let keys: Vec<String> = row.keys.split(' ').map(|key| format!("`{key}`")).collect();
        text.push_str(&format!("| {} | {} |\n", keys.join(" "), row.what));
    }
    text
}
