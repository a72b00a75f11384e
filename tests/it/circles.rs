//! Checks that no file depends on itself through others, apart from parents and children, and that no two types visible
//! to other files have the same name.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::layers::{code, sources};

/// A module's path below the crate: `["tui", "pager"]`.
type Module = Vec<String>;

/// Returns the module of a file; none for files of tests.
fn module_of(file: &str) -> Option<Module> {
    let path = file.trim_end_matches(".rs").trim_end_matches("/mod");
    let parts: Module = path.split('/').map(str::to_owned).collect();
    (!parts.iter().any(|part| ["lib", "main", "tests"].contains(&part.as_str()))).then_some(parts)
}

/// Returns the code of a file without its tests and comments.
fn without_tests(text: &str) -> String {
    let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    code(own).collect::<Vec<_>>().join("\n")
}

/// Expands `a::{b, c::{d}}` into its paths.
fn expand(tree: &str, before: &[String], paths: &mut Vec<Module>) {
    let (head, group) = match tree.split_once('{') {
        Some((head, rest)) => (head, rest.trim_end().strip_suffix('}')),
        None => (tree.split(" as ").next().unwrap_or(tree), None),
    };
    let head = head.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned);
    let path: Module = before.iter().cloned().chain(head).collect();
    let Some(group) = group else { return paths.push(path) };
    let (mut depth, mut start) = (0, 0);
    for (at, c) in group.char_indices().chain([(group.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let part = group[start..at].trim();
                if !part.is_empty() {
                    expand(part, &path, paths);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// Returns a path from the crate's root; none if it leads elsewhere.
fn absolute(path: &[String], from: &Module, modules: &BTreeSet<Module>) -> Option<Module> {
    let climbed = path.iter().take_while(|part| *part == "super").count();
    let rest = |skip: usize| path[skip..].iter().cloned();
    match path.first()?.as_str() {
        "crate" => Some(rest(1).collect()),
        "super" => {
            Some(from.get(..from.len().checked_sub(climbed)?)?.iter().cloned().chain(rest(climbed)).collect())
        }
        first => {
            let child: Module = from.iter().cloned().chain([first.to_owned()]).collect();
            modules.contains(&child).then(|| from.iter().cloned().chain(rest(0)).collect())
        }
    }
}

/// Returns the modules that a file uses, apart from its parents and children.
fn needs(text: &str, own: &Module, modules: &BTreeSet<Module>) -> BTreeSet<Module> {
    let uses = Regex::new(r"(?m)^(?:pub(?:\([a-z :]+\))? )?use ([^;]+);").expect("a pattern");
    let inline = Regex::new(r"\b[a-z_]+(?:::\w+)+").expect("a pattern");
    let mut paths = Vec::new();
    uses.captures_iter(text).for_each(|found| expand(&found[1], &[], &mut paths));
    let named: BTreeMap<String, Module> =
        paths.iter().filter_map(|path| Some((path.last()?.clone(), path.clone()))).collect();
    for found in inline.find_iter(&uses.replace_all(text, "")) {
        let path: Module = found.as_str().split("::").map(str::to_owned).collect();
        let start = named.get(&path[0]).cloned().unwrap_or_else(|| vec![path[0].clone()]);
        paths.push(start.into_iter().chain(path[1..].iter().cloned()).collect());
    }
    let module = |path: Module| {
        (1..=path.len()).rev().map(|end| path[..end].to_vec()).find(|path| modules.contains(path))
    };
    let known = paths.iter().filter_map(|path| absolute(path, own, modules)).filter_map(module);
    known.filter(|other| !other.starts_with(own) && !own.starts_with(other)).collect()
}

/// Returns the path from a module back to itself, if there is one.
fn circle(start: &Module, graph: &BTreeMap<Module, BTreeSet<Module>>) -> Option<Vec<String>> {
    let (mut seen, mut left) = (BTreeSet::new(), vec![vec![start.clone()]]);
    while let Some(way) = left.pop() {
        for next in graph.get(way.last()?).into_iter().flatten() {
            if next == start {
                return Some(way.iter().map(|module| module.join("/")).collect());
            }
            if seen.insert(next.clone()) {
                left.push(way.iter().cloned().chain([next.clone()]).collect());
            }
        }
    }
    None
}

#[test]
fn no_dependency_cycles() {
    let files = sources();
    let files: Vec<_> = files.iter().filter_map(|(file, text)| Some((module_of(file)?, text))).collect();
    let modules: BTreeSet<Module> = files.iter().map(|(module, _)| module.clone()).collect();
    let graph: BTreeMap<_, _> =
        files.iter().map(|(own, text)| (own.clone(), needs(&without_tests(text), own, &modules))).collect();
    let circles: Vec<_> = graph.keys().filter_map(|module| circle(module, &graph)).collect();
    assert_eq!(circles, Vec::<Vec<String>>::new());
    let most = graph.values().map(BTreeSet::len).max();
    assert!(most > Some(5), "no file names many others, so this test sees nothing");
}

#[test]
fn visible_type_names_are_unique() {
    let types =
        Regex::new(r"(?m)^ *pub(?:\([a-z :]+\))? (?:struct|enum|trait|type) (\w+)").expect("a pattern");
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in &sources() {
        for found in types.captures_iter(text) {
            files.entry(found[1].to_owned()).or_default().push(file.clone());
        }
    }
    files.retain(|_, files| files.len() > 1);
    assert_eq!(files, BTreeMap::new());
}

#[test]
fn cycles_are_found() {
    let modules: BTreeSet<Module> =
        ["a", "a/b", "c"].iter().map(|path| path.split('/').map(str::to_owned).collect()).collect();
    let own = |path: &str| path.split('/').map(str::to_owned).collect::<Module>();
    let of = |text: &str, path: &str| {
        needs(text, &own(path), &modules).into_iter().map(|m| m.join("/")).collect::<Vec<_>>()
    };
    assert_eq!(of("use crate::{c::{X, y as z}, text};\n", "a/b"), ["c"]);
    assert_eq!(of("use super::b::X;\nuse crate::a;\nfn f() { a::b::g() }", "c"), ["a", "a/b"]);
    assert_eq!(of("use super::X;\nfn f() { super::g() }", "a/b"), Vec::<String>::new(), "a parent");
    let graph =
        BTreeMap::from([(own("c"), BTreeSet::from([own("a/b")])), (own("a/b"), BTreeSet::from([own("c")]))]);
    assert_eq!(circle(&own("c"), &graph), Some(vec!["c".to_owned(), "a/b".to_owned()]));
}
