//! The man pages: made from the definition of the command line, a page a subcommand, and checked for what each has to have.

use std::io::{self, Write};

use clap::Command;
use clap::builder::StyledStr;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use overspill::internals::cli::help::{self, examples, exit_statuses};

use crate::common::home::Home;

/// The sections on the environment and on files, the same on every page.
const SECTIONS: &str = include_str!("../../../assets/sections.roff");

/// Returns the man pages, each with the name of its file.
pub fn pages() -> Vec<(String, String)> {
    let mut root = help::command().disable_help_subcommand(true);
    root.build();
    let shown = root.get_subcommands().filter(|command| !command.is_hide_set());
    let all = shown.map(|command| (command, command.get_name())).chain([(&root, "")]);
    all.map(|(command, name)| (format!("{}.1", title(name)), render(command, name, &root).unwrap())).collect()
}

/// Moves the section on arguments before that on options, as in the help.
fn arguments_first(page: &str) -> String {
    let section = |heading: &str| page.find(&format!(".SH {heading}\n"));
    let (Some(options), Some(start)) = (section("OPTIONS"), section("ARGUMENTS")) else {
        return page.to_owned();
    };
    let end = page[start + 1..].find("\n.SH ").map_or(page.len(), |at| start + 2 + at);
    [&page[..options], &page[start..end], &page[options..start], &page[end..]].concat()
}

fn render(command: &Command, name: &str, root: &Command) -> io::Result<String> {
    let usage = command.clone().render_usage().to_string();
    let about = command.get_long_about().or_else(|| command.get_about());
    let sentences = |text: &StyledStr| {
        let text = text.to_string();
        let paragraphs = text.split("\n\n").map(|text| format!("{}.", text.trim_end().trim_end_matches('.')));
        paragraphs.collect::<Vec<_>>().join("\n\n")
    };
    let paragraphs = about.into_iter().chain(command.get_after_help()).map(sentences);
    // `clap_mangen` prints no text for an option that `-h` leaves out.
    let command = command.clone().mut_args(|arg| match arg.is_positional() {
        true => arg.hide_short_help(false).help_heading("Arguments"),
        false => arg.hide_short_help(false),
    });
    let command = command.override_usage(usage.trim_start_matches("Usage:").to_owned());
    let man = Man::new(command.long_about(paragraphs.collect::<Vec<_>>().join("\n\n")));
    let mut page = Vec::new();
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    if name.is_empty() {
        commands(root).to_writer(&mut page)?;
    }
    man.render_options_section(&mut page)?;
    let mut statuses = Roff::new();
    statuses.control("SH", ["EXIT STATUS"]);
    exit_statuses(name).iter().for_each(|(status, meaning)| item(&mut statuses, status, meaning));
    statuses.to_writer(&mut page)?;
    page.write_all(SECTIONS.as_bytes())?;
    ending(name).to_writer(&mut page)?;
    // The preamble that each part begins with, once.
    let preamble = Roff::new().render();
    let page = String::from_utf8_lossy(&page).replace(&preamble, "").replace("\n.br\n\n.br\n", "\n.sp\n");
    let page = arguments_first(&page);
    let version = root.get_version().unwrap_or_default();
    // Without a date, so that the same sources make the same pages; the crate would leave the empty field out.
    let title = format!(".TH {} 1 \"\" \"overspill {version}\" \"overspill manual\"", title(name));
    Ok(format!("{preamble}{title}\n{page}"))
}

fn title(name: &str) -> String {
    if name.is_empty() { "overspill".to_owned() } else { format!("overspill-{name}") }
}

fn item(roff: &mut Roff, term: &str, meaning: &str) {
    roff.control("TP", []);
    roff.text([bold(term)]);
    roff.text([roman(meaning)]);
}

fn commands(root: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["COMMANDS"]);
    for (heading, names) in help::GROUPS {
        roff.control("SS", [*heading]);
        for command in names.iter().filter_map(|name| root.find_subcommand(name)) {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            item(&mut roff, command.get_name(), &about);
        }
    }
    roff
}

/// Returns the examples, and references to every page from the main one, from others to it and to those of their group.
fn ending(name: &str) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["EXAMPLES"]);
    examples(name).iter().for_each(|(does, line)| item(&mut roff, line, does));
    roff.control("SH", ["SEE ALSO"]);
    let own = help::GROUPS.iter().filter(|(_, names)| name.is_empty() || names.contains(&name));
    let others = [""].into_iter().chain(own.flat_map(|(_, names)| *names).copied());
    let mut others = others.filter(|other| *other != name).peekable();
    while let Some(other) = others.next() {
        let comma = if others.peek().is_some() { "," } else { "" };
        roff.text([bold(title(other)), roman(format!("(1){comma}"))]);
    }
    roff
}

#[test]
fn every_page_has_every_section_in_order() {
    for (name, page) in pages() {
        let at = |heading: &str| page.find(&format!("\n.SH {heading}\n"));
        let headings = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "\"EXIT STATUS\"", "ENVIRONMENT"];
        assert!(page.find(".SH ARGUMENTS").is_none_or(|at| Some(at) < page.find(".SH OPTIONS")), "{page}");
        let places: Vec<_> = headings
            .iter()
            .chain(&["FILES", "EXAMPLES", "\"SEE ALSO\""])
            .map(|heading| at(heading))
            .collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{name}: {places:?}\n{page}");
        assert_eq!(page.matches(".ie \\n(.g").count(), 1, "one preamble: {page}");
        let mut items = page.split("\n.TP\n").skip(1);
        assert!(items.all(|item| item.lines().nth(1).is_some_and(|text| !text.is_empty())), "{page}");
    }
}

#[test]
fn a_page_is_named_by_its_command_or_its_file() {
    let home = Home::new();
    let page = home.run(&["man", "list"]).ok().text().to_owned();
    assert!(page.contains(".TH overspill-list 1"));
    assert_eq!(home.run(&["man", "overspill-list"]).ok().text(), page);
    assert_eq!(home.run(&["man", "ls"]).ok().text(), page);
    assert_eq!(home.run(&["man", "overspill"]).ok().text(), home.run(&["man"]).ok().text());
    home.run(&["man", "lst"]).fails(2, &["did you mean `overspill man list`?"]);
    home.run(&["man", "hook"]).fails(2, &["no man page `hook`"]);
    home.run(&["man", ""]).fails(2, &["no man page ``"]);
}
