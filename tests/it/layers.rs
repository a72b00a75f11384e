//! Checks which modules may use which: compares the paths in the sources with the planned layers.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What each module may use besides itself.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("env", &[]),
    ("fs", &[]),
    ("toml_check", &["fs"]),
    ("human", &[]),
    ("text", &[]),
    ("provenance", &["toml_check"]),
    ("preview", &["provenance", "toml_check", "fs", "human", "text"]),
    ("source", &["fs", "text"]),
    ("store", &["source", "provenance", "toml_check", "env", "fs", "human", "text"]),
    ("session", &["source", "preview", "provenance", "env", "fs", "human", "text"]),
    ("compare", &["preview", "human", "text"]),
    ("capture", &["compare", "store", "source", "preview", "provenance", "env", "fs", "text"]),
    ("document", &["source", "preview", "human", "text"]),
    ("config", &["store", "preview", "provenance", "toml_check", "env", "fs", "human", "text"]),
    (
        "corpus",
        &["compare", "config", "session", "provenance", "store", "source", "preview", "human", "text"],
    ),
    (
        "hook",
        &[
            "compare", "config", "corpus", "session", "store", "source", "preview", "text", "human", "env",
            "fs",
        ],
    ),
    ("output", &["document"]),
    (
        "rows",
        &[
            "corpus",
            "compare",
            "config",
            "session",
            "provenance",
            "store",
            "source",
            "preview",
            "text",
            "human",
        ],
    ),
    ("tui", &["output", "rows", "corpus", "document", "store", "toml_check", "env", "fs"]),
    ("cli", &["hook", "output", "rows", "corpus", "store", "toml_check", "env", "fs"]),
];

/// What these may use besides, all three.
const SHARING: &[&str] = &["output", "tui", "cli"];
const SHARED: &[&str] =
    &["compare", "config", "capture", "session", "provenance", "source", "preview", "human", "text"];

/// What each file or folder of `preview` may use besides itself, from the bottom up.
const IN_PREVIEW: &[(&str, &[&str])] = &[
    ("input", &[]),
    ("model", &["input"]),
    ("measure", &["input", "model"]),
    ("template", &["model"]),
    ("section", &["template"]),
    ("rewrite", &["input", "model", "measure", "section"]),
    ("limits", &["input", "model", "measure", "template", "section", "rewrite"]),
    ("strategy", &["model", "measure", "template", "section", "limits", "rewrite"]),
    ("policy", &["model", "measure", "template", "section", "limits", "rewrite", "strategy"]),
    ("plan", &["input", "model", "measure", "template", "limits", "strategy", "policy"]),
    ("sweep", &["input", "model", "measure", "template", "limits", "strategy", "policy", "plan"]),
    ("recorded", &["input", "model"]),
    ("report", &["input", "model", "policy"]),
    ("witness", &["input", "model", "policy", "plan"]),
];

/// What each part of the screens may use besides itself.
const SCREENS_MAY_KNOW: &[(&str, &[&str])] = &[
    ("keys", &[]),
    ("widget", &["event", "keys"]),
    ("footer", &["keys"]),
    ("event", &[]),
    ("target", &[]),
    ("job", &["target", "event"]),
    ("screen", &["job", "target", "event", "keys", "widget"]),
    ("pager", &["popup", "list", "screen", "job", "target", "event", "footer", "keys", "widget"]),
    (
        "outputs",
        &["popup", "list", "calls", "pager", "screen", "job", "target", "event", "footer", "keys", "widget"],
    ),
    ("list", &["popup", "screen", "job", "target", "event", "footer", "keys", "widget"]),
    ("lines", &["popup", "list", "screen", "job", "target", "event", "footer", "keys", "widget"]),
    ("calls", &["popup", "list", "pager", "screen", "job", "event", "footer", "keys", "widget"]),
    (
        "sessions",
        &["popup", "calls", "outputs", "list", "pager", "screen", "job", "event", "footer", "keys", "widget"],
    ),
    (
        "tune",
        &[
            "popup", "outputs", "calls", "list", "pager", "screen", "job", "target", "event", "footer",
            "keys", "widget",
        ],
    ),
    ("popup", &["screen", "event", "keys", "widget"]),
    (
        "app",
        &[
            "popup", "tune", "outputs", "sessions", "calls", "lines", "list", "pager", "screen", "job",
            "target", "event", "keys", "widget",
        ],
    ),
    (
        "runtime",
        &["app", "outputs", "sessions", "pager", "screen", "job", "target", "event", "keys", "widget"],
    ),
];

/// Files of the command line that start the screens.
const STARTS_SCREENS: &[&str] = &["cli/screens.rs", "cli/run/live.rs"];

/// What pure modules must not use.
const IMPURE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "std::time",
    "File::open",
    "rustix::",
    "libc::",
];

/// The only files outside of `source` that may use unsafe: a command is made a session leader between fork and exec, and
/// the streams are looked at before Rust's runtime opens those that are closed.
const UNSAFE: [&str; 2] = ["capture/process/pipe.rs", "main.rs"];

/// Files that put text on the screen: safe text in lines and boxes, the ASCII fallback, and the cells of an output.
const DRAWS: &[&str] = &["tui/widget/line.rs", "tui/widget/canvas.rs", "tui/pager/view/pane.rs"];

/// Returns every source file with its path below `src`.
pub fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let mut left: Vec<PathBuf> = vec![root.clone()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            files.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
    files
}

/// Returns the module of a file at the top level, or in `base`: `tui` for `tui/pager/view/pane.rs`, `fs` for `base/fs/room.rs`.
fn module(name: &str) -> &str {
    let name = name.strip_prefix("base/").unwrap_or(name);
    name.split('/').next().unwrap_or(name).trim_end_matches(".rs")
}

/// Returns the lines of code, without comments.
pub fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// Returns the modules that a text uses through `crate::`, with those in `base`, but not `lock`, which is a function there.
fn named(text: &str) -> BTreeSet<&str> {
    let mut names = named_after(text, "crate::");
    names.remove("base");
    names.extend(named_after(text, "crate::base::"));
    names.remove("lock");
    names
}

/// Returns the names that follow a path in a text.
fn named_after<'a>(text: &'a str, path: &str) -> BTreeSet<&'a str> {
    let paths = code(text).flat_map(|line| line.split(path).skip(1));
    paths
        .flat_map(|path| match path.strip_prefix('{') {
            Some(group) => group.split(',').map(str::trim).collect::<Vec<_>>(),
            None => vec![path],
        })
        .map(|path| path.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or(path))
        .filter(|word| !word.is_empty())
        .collect()
}

#[test]
fn every_module_uses_only_modules_below_it() {
    let mut faults = Vec::new();
    for (name, text) in
        sources().iter().filter(|(name, _)| !["lib.rs", "main.rs", "base/mod.rs"].contains(&name.as_str()))
    {
        let module = module(name);
        let (_, allowed) = MAY_KNOW.iter().find(|row| row.0 == module).expect("every module is in the table");
        for other in named(text) {
            let starts = other == "tui" && STARTS_SCREENS.contains(&name.as_str());
            let is_shared = SHARING.contains(&module) && SHARED.contains(&other);
            if other != module && !allowed.contains(&other) && !is_shared && !starts {
                faults.push(format!("{name} knows {other}"));
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn every_module_of_preview_uses_only_those_below_it() {
    let mut faults = Vec::new();
    for (at, (name, allowed)) in IN_PREVIEW.iter().enumerate() {
        let is_below = |other: &&&str| IN_PREVIEW[..at].iter().any(|row| row.0 == **other);
        faults
            .extend(allowed.iter().filter(|other| !is_below(other)).map(|other| format!("{name}: {other}")));
    }
    let sources = sources();
    for (file, text) in &sources {
        let Some(inner) = file.strip_prefix("preview/").filter(|inner| *inner != "mod.rs") else { continue };
        if inner.starts_with("tests/") {
            continue;
        }
        let unit = module(inner);
        let (_, allowed) = IN_PREVIEW.iter().find(|row| row.0 == unit).expect("every file is in the table");
        let is_first = inner.split('/').count() == 1 || inner == format!("{unit}/mod.rs");
        let by_parent = if is_first { named_after(text, "super::") } else { BTreeSet::new() };
        let known = named_after(text, "crate::preview::").into_iter().chain(by_parent);
        let strangers = known.filter(|other| *other != unit && !allowed.contains(other));
        faults.extend(strangers.map(|other| format!("{file} knows {other}")));
    }
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn every_part_of_the_screens_uses_only_those_below_it() {
    let (mut faults, mut seen) = (Vec::new(), 0);
    for (name, text) in &sources() {
        let Some(inside) = name.strip_prefix("tui/").filter(|inside| *inside != "mod.rs") else { continue };
        let part = module(inside);
        let (_, allowed) =
            SCREENS_MAY_KNOW.iter().find(|row| row.0 == part).expect("every part is in the table");
        let mut others = named_after(text, "crate::tui::");
        if inside.ends_with("/mod.rs") && inside.matches('/').count() == 1 || !inside.contains('/') {
            others.extend(named_after(text, "super::"));
        }
        for other in others.into_iter().filter(|other| SCREENS_MAY_KNOW.iter().any(|row| row.0 == *other)) {
            seen += 1;
            if other != part && !allowed.contains(&other) {
                faults.push(format!("{name} knows {other}"));
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new());
    assert!(seen > 0, "no part names another, so this test sees nothing");
}

#[test]
fn pure_modules_touch_nothing_outside() {
    let is_pure = |name: &str| ["text", "preview"].contains(&module(name)) && !name.contains("test");
    let mut faults = Vec::new();
    for (name, text) in sources().iter().filter(|(name, _)| is_pure(name)) {
        for word in IMPURE {
            if code(text).any(|line| line.contains(word)) {
                faults.push(format!("{name}: {word}"));
            }
        }
    }
    assert_eq!(faults, Vec::<String>::new());
}

#[test]
fn only_the_listed_files_contain_unsafe_code() {
    let unsafe_files: Vec<String> = sources()
        .into_iter()
        .filter(|(_, text)| {
            code(text).any(|line| line.contains("unsafe ") || line.contains("allow(unsafe_code)"))
        })
        .map(|(name, _)| name)
        .collect();
    let may = |name: &String| module(name) == "source" || UNSAFE.contains(&name.as_str());
    let strangers: Vec<_> = unsafe_files.iter().filter(|name| !may(name)).collect();
    assert!(strangers.is_empty(), "{strangers:?}");
    assert!(!unsafe_files.is_empty(), "the map is unsafe, so this test sees nothing");
}

#[test]
fn text_reaches_the_screen_as_safe_text_or_as_cells() {
    let ways =
        ["set_string", "set_symbol", "set_char", "set_span", "set_line", "ratatui::widgets", "ratatui::text"];
    let sources = sources();
    let mut drawing: Vec<&str> = sources
        .iter()
        .filter(|(_, text)| code(text).any(|line| ways.iter().any(|way| line.contains(way))))
        .map(|(name, _)| name.as_str())
        .collect();
    drawing.sort_by_key(|name| DRAWS.iter().position(|draws| draws == name));
    assert_eq!(drawing, DRAWS);
}

/// The print macros panic when nobody reads their output any more.
#[test]
fn nothing_is_printed_by_a_macro() {
    let is_test = |name: &str| name.contains("test");
    let mut faults = Vec::new();
    for (name, text) in sources().iter().filter(|(name, _)| !is_test(name)) {
        let words = ["print!(", "println!("].map(|word| (format!(" {word}"), format!(" e{word}")));
        let prints = |line: &str| {
            words
                .iter()
                .any(|(out, err)| format!(" {line}").contains(out) || format!(" {line}").contains(err))
        };
        faults.extend(
            code(text).map(str::trim).filter(|line| prints(line)).map(|line| format!("{name}: {line}")),
        );
    }
    assert_eq!(faults, Vec::<String>::new());
}

/// A clock may be set to what `Timestamp::now` panics at; `env::now` does not.
#[test]
fn the_clock_is_read_in_one_place() {
    let asks = |text: &str| code(text).any(|line| line.contains("Timestamp::now"));
    let found = sources().into_iter().filter(|(name, text)| !name.contains("tests") && asks(text));
    assert_eq!(found.map(|(name, _)| name).collect::<Vec<_>>(), Vec::<String>::new());
}

/// A regular expression reads the same bytes twice, and panics if they differ: an output's may change at any moment. Each
/// of these gives it bytes of our own, which their types say, or only compiles it.
#[test]
fn only_the_listed_files_use_byte_regular_expressions() {
    let owning = [
        "base/fs/plain_file.rs",
        "preview/rewrite.rs",
        "session/record/bytes.rs",
        "store/spec/pattern.rs",
        "text/search/pattern.rs",
        "text/search/severity.rs",
    ];
    let holds = |text: &str| {
        let own = text.split("#[cfg(test)]").next().unwrap_or(text);
        code(own).any(|line| line.contains("regex::bytes"))
    };
    let found = sources().into_iter().filter(|(name, text)| !name.contains("tests") && holds(text));
    let found: BTreeSet<String> = found.map(|(name, _)| name).collect();
    assert_eq!(found, owning.map(str::to_owned).into());
}

/// What the command line writes passes the writers that know what the terminal can show; few copy byte for byte.
#[test]
fn commands_write_to_the_terminal_in_one_place() {
    let exact = ["cli/preview.rs", "cli/sessions/show.rs", "cli/terminal.rs", "cli/view.rs"];
    let ways = ["blocking::", "stdout().lock", "SafeWriter::in_form"];
    let raw = |text: &str| code(text).any(|line| ways.iter().any(|way| line.contains(way)));
    let found = sources().into_iter().filter(|(name, text)| name.starts_with("cli/") && raw(text));
    let found: BTreeSet<String> = found.map(|(name, _)| name).collect();
    assert_eq!(found, exact.map(str::to_owned).into());
}

#[test]
fn paths_are_read_off_the_sources() {
    let text = "use crate::text::{a, b};\nuse crate::{preview, source::View};\n// crate::cli\nlet x = crate::words::size(1);";
    assert_eq!(named(text).into_iter().collect::<Vec<_>>(), ["preview", "source", "text", "words"]);
}
