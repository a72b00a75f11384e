//! Checks that `docs/cli.md` matches the program; `UPDATE_DOCS=1 cargo test --test it cli::reference` regenerates it.

use overspill::tui::keys::KeyMap;

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

/// Returns the table of keys with its headings, as on the help screen, and the names of the rows in the configuration.
fn keys() -> String {
    let mut text = String::from(
        "\n## Keys\n\nUnder its name in `[keys]` of `config.toml`, a key can be replaced by your own: see the\n\
         [guide](guide.md#keys). `^D` is Ctrl-D.\n",
    );
    let keys = KeyMap::standard();
    let mut group = "";
    for bound in keys.rows() {
        let row = bound.row;
        if row.group != group {
            group = row.group;
            let heading = keys.in_words(group);
            text.push_str(&format!("\n### {heading}\n\n| key | what it does | name |\n|---|---|---|\n"));
        }
        let shown: Vec<String> = bound.keys.iter().map(|key| format!("`{key}`")).collect();
        let name = if row.name.is_empty() { String::new() } else { format!("`{}`", row.name) };
        text.push_str(&format!("| {} | {} | {name} |\n", shown.join(" "), keys.in_words(row.what)));
    }
    text
}
