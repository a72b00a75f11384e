//! Checks that `docs/cli.md` and the man pages match the program; `UPDATE_DOCS=1 cargo test --test it cli::reference`
//! regenerates them.

use overspill::internals::tui::keys::KeyMap;

use crate::common::home::Home;

/// The headings of options that several commands share, which the reference prints once.
const SHARED: &[&str] = &["Policy", "Command", "Limits", "Saving", "Output format", "Global options"];

/// The headings of what only `--help` has.
const IN_HELP_ALONE: &[&str] = &["See", "Stored", "Recorded", "Set up", "Arguments", "Examples"];

#[test]
fn the_reference_is_what_the_program_says() {
    let home = Home::new();
    let mut text = String::from(
        "# Command line and keys\n\nMade from the program's own help. `overspill COMMAND --help` has the arguments, too, \
         and examples;\n[recipes](recipes.md) has more of them. `[OPTIONS]` takes in those that commands [share](#shared-options).\n",
    );
    let statuses = home.run(&["preview", "--help"]).ok().text().to_owned();
    let statuses =
        sections(&statuses).into_iter().find(|section| section.starts_with("Exit status")).unwrap();
    text.push_str(&format!("\n```text\n{statuses}\n```\n\nWhere a command has others, it lists them.\n"));
    let mut shared: Vec<(String, String)> = Vec::new();
    for command in [&[String::new()][..], &commands(&home)].concat() {
        let words: Vec<&str> =
            [&*command].into_iter().filter(|word| !word.is_empty()).chain(["--help"]).collect();
        let ran = home.run(&words).ok();
        let (own, of_all) = parted(ran.text(), &statuses);
        let name = format!("overspill {command}");
        text.push_str(&format!("\n## {}\n\n```text\n{own}\n```\n", name.trim_end()));
        for (heading, options) in of_all {
            match shared.iter().find(|(known, _)| *known == heading) {
                Some((_, known)) => {
                    assert_eq!(*known, options, "{heading} of {command} is not what the others have")
                }
                None => shared.push((heading, options)),
            }
        }
    }
    text.push_str("\n## Shared options\n");
    for (heading, options) in shared {
        text.push_str(&format!("\n### {heading}\n\n```text\n{options}\n```\n"));
    }
    text.push_str(&keys());
    is_written("docs/cli.md", &text);
}

/// A packager installs these without running the program.
#[test]
fn the_man_pages_are_what_the_program_prints() {
    let home = Home::new();
    let names = commands(&home);
    let mut files = vec!["overspill.1".to_owned()];
    is_written("assets/man/overspill.1", home.run(&["man"]).ok().text());
    for name in names {
        let file = format!("overspill-{name}.1");
        is_written(&format!("assets/man/{file}"), home.run(&["man", &name]).ok().text());
        files.push(file);
    }
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/man");
    let here =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = here.filter(|name| !files.contains(name)).collect();
    assert!(left.is_empty(), "delete the pages of subcommands that are gone: {left:?}");
}

/// Checks that a generated file is current; with UPDATE_DOCS set, writes it.
fn is_written(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
    }
    let written = std::fs::read_to_string(path).unwrap_or_default();
    assert!(written == text, "{name} is not what the program says; UPDATE_DOCS=1 writes it anew");
}

/// Returns the subcommands that the main help lists, in its order.
pub fn commands(home: &Home) -> Vec<String> {
    let help = home.run(&["--help"]).ok();
    let listed = help.text().split("\nArguments:\n").next().unwrap();
    assert!(
        !listed.contains("\nMore:\n"),
        "put the new subcommand into GROUPS of src/cli/args/help.rs: {listed}"
    );
    let long = listed.lines().find(|line| line.chars().count() > 80);
    assert_eq!(long, None, "shorten the summary: the help fits 80 columns");
    let names = listed.lines().filter_map(|line| line.strip_prefix("  ")?.split_once("  "));
    names.map(|(name, _)| name.to_owned()).filter(|name| !name.is_empty()).collect()
}

/// Returns the sections of a help text.
fn sections(help: &str) -> Vec<String> {
    help.trim_end().split("\n\n").fold(Vec::new(), joined)
}

/// Parts the shared options from what else the reference says of a command: headings and options.
fn parted(help: &str, statuses: &str) -> (String, Vec<(String, String)>) {
    let (mut own, mut shared) = (Vec::new(), Vec::new());
    for section in sections(help) {
        let heading = section.split(":\n").next().unwrap_or_default();
        match heading {
            _ if SHARED.contains(&heading) => {
                shared.push((heading.to_owned(), section[heading.len() + 2..].to_owned()));
            }
            _ if IN_HELP_ALONE.contains(&heading) => {}
            "Options" => own.extend(without_help(&section)),
            "Exit status" => own.extend(other_statuses(&section, statuses)),
            _ => own.push(section),
        }
    }
    (own.join("\n\n"), shared)
}

/// Returns the options but for `--help`, which every command has; nothing if no other is left.
fn without_help(options: &str) -> Option<String> {
    let options: Vec<&str> = options["Options:\n".len()..].split("\n\n").collect();
    let own: Vec<&str> = options.into_iter().filter(|option| !option.starts_with("  -h, --help")).collect();
    (!own.is_empty()).then(|| format!("Options:\n{}", own.join("\n\n")))
}

/// Returns the exit statuses that `preview` does not have, if there are any.
fn other_statuses(own: &str, statuses: &str) -> Option<String> {
    let others: Vec<&str> = own.lines().filter(|line| !statuses.contains(line)).collect();
    (!others.is_empty()).then(|| format!("Exit status:\n{}", others.join("\n")))
}

/// Adds a paragraph to the sections; one that is indented belongs to the section before.
fn joined(mut sections: Vec<String>, paragraph: &str) -> Vec<String> {
    match sections.last_mut() {
        Some(last) if paragraph.starts_with(' ') => last.push_str(&format!("\n\n{paragraph}")),
        _ => sections.push(paragraph.to_owned()),
    }
    sections
}

/// Returns the table of keys with its headings, as in help, and the names of the rows in the configuration.
fn keys() -> String {
    let mut text = String::from(
        "\n## Keys\n\nUnder its name in `[keys]` of `config.toml`, a key can be replaced by your own: see the\n\
         [guide](guide.md#keys). `^D` is Ctrl-D.\n",
    );
    for rows in KeyMap::standard().rows().chunk_by(|one, next| one.row.heading() == next.row.heading()) {
        let heading = rows[0].row.heading();
        text.push_str(&format!("\n### {heading}\n\n| key | what it does | name |\n|---|---|---|\n"));
        for bound in rows {
            let shown: Vec<String> = bound.keys.iter().map(|key| format!("`{key}`")).collect();
            let name =
                if bound.row.name.is_empty() { String::new() } else { format!("`{}`", bound.row.name) };
            text.push_str(&format!("| {} | {} | {name} |\n", shown.join(" "), bound.row.what));
        }
    }
    text
}

/// The man pages take their section on keys from `assets/sections.roff`, which is compiled in: after a change to a key the
/// pages follow with the next build.
#[test]
fn the_man_pages_name_the_keys() {
    let path = "assets/sections.roff";
    let sections = std::fs::read_to_string(path).unwrap();
    let start = sections.find(".SH KEYS\n").unwrap();
    let end = sections.find(".SH ENVIRONMENT\n").unwrap();
    is_written(path, &[&sections[..start], &keys_in_roff(), &sections[end..]].concat());
}

/// Returns the section: below each heading the keys that are shown first, with the names of their actions.
fn keys_in_roff() -> String {
    let escaped = |text: &str| {
        let signs = [
            ("-", "\\-"),
            ("'", "\\(aq"),
            ("^", "\\(ha"),
            ("←", "\\(<-"),
            ("→", "\\(->"),
            ("↑", "\\(ua"),
            ("↓", "\\(da"),
        ];
        signs.iter().fold(text.to_owned(), |text, (sign, roff)| text.replace(sign, roff))
    };
    let mut text = String::from(
        ".SH KEYS\nEach key with the name of its action, by which [keys] of the configuration replaces it.\n",
    );
    for rows in KeyMap::standard().rows().chunk_by(|one, next| one.row.heading() == next.row.heading()) {
        let named = rows.iter().filter(|bound| !bound.row.name.is_empty());
        let actions: Vec<String> =
            named.map(|bound| format!("{} {}", escaped(&bound.keys[0]), escaped(bound.row.name))).collect();
        text.push_str(&format!(".TP\n\\fB{}\\fR\n{}.\n", rows[0].row.heading(), actions.join(", ")));
    }
    text
}
