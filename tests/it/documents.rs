//! The documents: their commands work, their links lead somewhere, their figures are counted, and they stay short.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use overspill::internals::session::list;

use crate::cli::examples::{stocked, works};
use crate::common::home::Home;
use crate::naive::samples;

/// Maximum number of words, as `wc -w` counts them: of the README, and of all documents with it.
const MAX_README: usize = 700;
const MAX_ALL: usize = 20_000;

/// Returns the README and the pages in `docs`.
fn pages() -> Vec<PathBuf> {
    let docs = fs::read_dir("docs").unwrap().map(|entry| entry.unwrap().path());
    docs.chain([PathBuf::from("README.md")]).collect()
}

fn text(page: &Path) -> String {
    fs::read_to_string(page).unwrap_or_else(|e| panic!("{}: {e}", page.display()))
}

/// Returns the parts of a page that are no code.
fn prose(page: &Path) -> String {
    text(page).split("```").step_by(2).collect()
}

/// Returns the names by which links name the headings of a page.
fn anchors(page: &Path) -> BTreeSet<String> {
    let prose = prose(page);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let name = |heading: &str| -> String {
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(name).collect()
}

#[test]
fn the_commands_of_the_documents_work() {
    let home = stocked();
    for page in ["README.md", "docs/recipes.md", "docs/guide.md"] {
        let text = text(Path::new(page));
        let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
        let lines: Vec<&str> =
            blocks.flat_map(str::lines).filter(|line| line.contains("overspill ")).collect();
        assert!(lines.len() > 2, "{page}: {lines:?}");
        lines.iter().for_each(|line| works(&home, line));
    }
}

#[test]
fn every_link_leads_somewhere() {
    for page in pages() {
        for link in prose(&page).split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { page.clone() } else { page.parent().unwrap().join(path) };
            if link.starts_with("https:") {
                continue;
            }
            assert!(target.exists(), "{}: {link}", page.display());
            assert!(anchor.is_empty() || anchors(&target).contains(anchor), "{}: {link}", page.display());
        }
    }
}

#[test]
fn every_agent_whose_records_are_read_is_named() {
    let page = text(Path::new("docs/sessions.md"));
    let names = page.split("\n* **").skip(1).filter_map(|entry| entry.split("** (").next());
    let names = names.filter(|names| !names.contains("**")).flat_map(|names| names.split(", "));
    let agents: BTreeSet<&str> = names.filter_map(|name| name.split(' ').next()).collect();
    assert_eq!(agents, list::agents().into_iter().collect());
}

#[test]
fn the_documents_stay_short() {
    let words = |page: &Path| text(page).split_whitespace().count();
    let readme = words(Path::new("README.md"));
    assert!(readme <= MAX_README, "README.md has {readme} words");
    let all: usize = pages().iter().map(|page| words(page)).sum();
    assert!(all <= MAX_ALL, "the documents have {all} words; say it in fewer, or drop what is said twice");
}

/// How many policies are known in which way, and how many results that agents recorded are compared.
#[test]
fn the_readme_counts_the_evidence() {
    let policies = Home::new().run(&["policies", "--json"]).ok().json();
    let policies = policies.as_array().unwrap();
    let known_by = |word| policies.iter().filter(|policy| policy["confidence"] == word).count();
    let [run, source, observed, own] = ["run", "source", "observed", "own"].map(known_by);
    let readme = text(Path::new("README.md"));
    let [rules, results] = [
        format!(
            "Of {} rules, {run} were seen by running the agent, {source} were read in its source, {observed} are",
            policies.len() - own
        ),
        format!("A test compares {} results", samples::all().len()),
    ];
    assert!(readme.contains(&rules) && readme.contains(&results), "{rules}\n{results}");
}
