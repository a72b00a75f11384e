//! Checks that `docs/cli.md` and the man pages match the program; `UPDATE_DOCS=1 cargo test --test it cli::reference`
//! regenerates them.

use overspill::internals::tui::keys::KeyMap;

use crate::common::home::Home;

use super::man::pages;

/// The headings of options that several commands share, which the reference prints once.
const SHARED: &[&str] = &["Policy", "Command", "Limits", "Saving", "Output format", "Global options"];

/// The widest line of a list of options.
const COLUMNS: usize = 100;

#[test]
fn the_reference_matches_the_programs_help() {
    let home = Home::new();
    let mut text = String::from(
        "# Command line and keys\n\nMade from the program's own help; `overspill COMMAND --help` says what each option does, and has \
         examples.\n[Recipes](recipes.md) shows the commands in use.\n\n## Commands\n\n`[OPTIONS]` are those named below it, and \
         [shared ones](#shared-options).\n\n```text\n",
    );
    let mut shared: Vec<(String, String)> = Vec::new();
    let mut entries: Vec<String> = Vec::new();
    for command in [&[String::new()][..], &commands(&home)].concat() {
        let words: Vec<&str> =
            [&*command].into_iter().filter(|word| !word.is_empty()).chain(["--help"]).collect();
        let help = home.run(&words).ok().text().to_owned();
        entries.push(entry(&sections(&help)));
        for (heading, options) in options_shared(&help) {
            match shared.iter().find(|(known, _)| *known == heading) {
                Some((_, known)) => {
                    assert_eq!(*known, options, "{heading} of {command} is not what the others have")
                }
                None => shared.push((heading, options)),
            }
        }
    }
    let shared = shared.iter().map(|(heading, options)| format!("{heading}:{}", names(options.lines())));
    let shared: Vec<String> = shared.collect();
    text.push_str(&format!("{}\n```\n\n## Shared options\n\n", entries.join("\n\n")));
    text.push_str(&format!("```text\n{}\n```\n{}", shared.join("\n\n"), keys()));
    is_written("docs/cli.md", &text);
}

/// A packager installs these without running the program, which prints them as they were when it was built.
#[test]
fn the_man_pages_match_the_command_line_and_the_man_output() {
    let home = Home::new();
    let mut files = Vec::new();
    for (file, page) in pages() {
        is_written(&format!("assets/man/{file}"), &page);
        let name = file.trim_end_matches(".1");
        assert!(home.run(&["man", name]).ok().text() == page || is_updating(), "{name}: build anew");
        files.push(file);
    }
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/man");
    let here =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = here.filter(|name| !files.contains(name)).collect();
    assert!(left.is_empty(), "delete the pages of subcommands that are gone: {left:?}");
}

fn is_updating() -> bool {
    std::env::var_os("UPDATE_DOCS").is_some()
}

/// Checks that a generated file is current; with UPDATE_DOCS set, writes it.
fn is_written(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if is_updating() {
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

/// Returns the options of a help text that other commands have, too: headings and options.
fn options_shared(help: &str) -> Vec<(String, String)> {
    let parted = sections(help).into_iter().filter_map(|section| {
        let (heading, options) = section.split_once(":\n")?;
        SHARED.contains(&heading).then(|| (heading.to_owned(), options.to_owned()))
    });
    parted.collect()
}

/// Returns how to call a command, what it does, and the names of the options that it alone has.
fn entry(sections: &[String]) -> String {
    let usage = sections.iter().find_map(|section| section.strip_prefix("Usage: ")).unwrap();
    let usage: Vec<&str> = usage.lines().map(str::trim).collect();
    let own = sections.iter().filter(|section| !SHARED.iter().any(|name| section.starts_with(name)));
    let lines = own.flat_map(|section| section.lines()).filter(|line| !line.contains("-h, --help"));
    format!("{}\n    {}{}", usage.join("\n"), sections[0], names(lines))
}

/// Returns the names of the options in these lines of help, in lines of their own.
fn names<'a>(help: impl Iterator<Item = &'a str>) -> String {
    let (mut text, mut width) = (String::new(), COLUMNS);
    for option in help.filter(|line| is_option(line)).map(str::trim) {
        let is_full = width + 3 + option.len() > COLUMNS;
        text.push_str(if is_full { "\n    " } else { "   " });
        width = option.len() + if is_full { 4 } else { width + 3 };
        text.push_str(option);
    }
    text
}

/// Whether a line of a help text names an option, short or long.
fn is_option(line: &str) -> bool {
    line.starts_with("  -") && !line.starts_with("  - ") || line.starts_with("      --")
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
        "\n## Keys\n\nBy its name in `[keys]` of `config.toml`, at the end of a row, a key can be replaced by your own: see the\n\
         [guide](guide.md#keys). `^D` is Ctrl-D.\n",
    );
    for rows in KeyMap::standard().rows.chunk_by(|one, next| one.row.heading() == next.row.heading()) {
        text.push_str(&format!("\n### {}\n\n```text\n", rows[0].row.heading()));
        let keys: Vec<String> = rows.iter().map(|bound| bound.keys.join(" ")).collect();
        let keys_width = keys.iter().map(|keys| keys.chars().count()).max().unwrap_or_default();
        let what_width = rows.iter().map(|bound| bound.row.what.chars().count()).max().unwrap_or_default();
        for (keys, bound) in keys.iter().zip(rows) {
            let row = format!("{keys:keys_width$}   {:what_width$}   {}", bound.row.what, bound.row.name);
            text.push_str(&format!("{}\n", row.trim_end()));
        }
        text.push_str("```\n");
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
    for rows in KeyMap::standard().rows.chunk_by(|one, next| one.row.heading() == next.row.heading()) {
        let named = rows.iter().filter(|bound| !bound.row.name.is_empty());
        let actions: Vec<String> =
            named.map(|bound| format!("{} {}", escaped(&bound.keys[0]), escaped(bound.row.name))).collect();
        text.push_str(&format!(".TP\n\\fB{}\\fR\n{}.\n", rows[0].row.heading(), actions.join(", ")));
    }
    text
}
