//! Random changes to policy, store and configuration files, from a fixed seed: no panic, and each error names its file.

use std::fs;

use overspill::internals::config::Config;
use overspill::internals::store::{Env, Stores};
use overspill::preview::{Catalog, Input, Output, PlanError, Totals, plan};

use crate::common::home::Home;
use crate::common::rng::Rng;

const CONFIG: &str = r#"policy = "opencode/output"
keep_own = "7d"

[limits."opencode/output"]
max_lines = 100
max_bytes = "64k"

[tools.grep]
policy = "pi/grep"
"#;

/// What is inserted: characters with a meaning in TOML, templates and patterns, and absurdly large numbers.
const PIECES: [&str; 24] = [
    "\"",
    "'",
    "'''",
    "[",
    "]",
    "[[",
    "=",
    "\n",
    "#",
    "{",
    "{{",
    "}}",
    "{% if x %}",
    "(",
    "*",
    "\\",
    "\0",
    "é",
    "\u{202e}",
    "-1",
    "18446744073709551615",
    "1e400",
    "true",
    "= {}",
];

/// Returns a text with a few changes: a piece inserted, a stretch or a line removed, a line duplicated.
fn mutated(text: &str, rng: &mut Rng) -> String {
    let mut text = text.to_owned();
    for _ in 0..1 + rng.below(3) {
        let place = |rng: &mut Rng, text: &str| {
            let at = rng.below(text.len() + 1);
            (0..=at).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
        };
        let (at, to) = (place(rng, &text), place(rng, &text));
        let mut lines: Vec<&str> = text.lines().collect();
        let line = rng.below(lines.len());
        text = match rng.below(4) {
            0 => format!("{}{}{}", &text[..at], PIECES[rng.below(PIECES.len())], &text[at..]),
            1 => {
                let (from, to) = (at.min(to), at.max(to));
                let short =
                    (from..=to.min(from + 12)).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(from);
                format!("{}{}", &text[..from], &text[short..])
            }
            2 if !lines.is_empty() => {
                lines.remove(line);
                lines.join("\n")
            }
            _ if !lines.is_empty() => {
                lines.insert(rng.below(lines.len()), lines[line]);
                lines.join("\n")
            }
            _ => String::new(),
        };
    }
    text
}

#[test]
fn a_randomly_mutated_policy_file_loads_or_names_file_and_line() {
    let home = Home::new();
    let path = home.at("own.toml");
    let builtin = Catalog::builtin();
    let names: Vec<&str> = builtin.names().collect();
    let bytes = "a line\nerror: é\n".repeat(40).into_bytes();
    let totals = Totals::count(&bytes);
    let mut faults = 0;
    for seed in 1..=600_u64 {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let name = names[rng.below(names.len())];
        let text = mutated(builtin.text(name).unwrap(), &mut rng);
        fs::write(&path, &text).unwrap();
        let mut catalog = Catalog::builtin();
        if let Err(fault) = catalog.load_dir(&home.work()) {
            let fault = fault.to_string();
            let line = fault.split_once("own.toml:").and_then(|(_, rest)| rest.split_once(':'));
            let is_line = line.is_some_and(|(line, _)| line.parse::<usize>().is_ok_and(|line| line >= 1));
            assert!(is_line, "{seed}, {name}: {fault}\n{text}");
            faults += 1;
        }
        for name in catalog.names().filter(|name| catalog.is_own(name)) {
            let policy = catalog.get(name).unwrap();
            let input = Input::new(Output { bytes: &bytes, totals: &totals }, "/P");
            match plan(&input, &policy) {
                Err(PlanError::Policy { message, .. }) => assert!(!message.is_empty(), "{seed}"),
                Ok(_) | Err(PlanError::Agent { .. }) => {}
                Err(other) => panic!("{seed}: {other}"),
            }
        }
    }
    assert!((100..600).contains(&faults), "{faults} of 600 at fault");
}

#[test]
fn a_randomly_mutated_store_file_loads_or_names_the_file() {
    let home = Home::new();
    let path = home.at("own.toml");
    let builtin = Stores::builtin();
    let names = ["opencode", "pi", "claude-code", "hermes", "crush", "overspill"];
    let env = Env::hermetic(&home.work());
    let mut faults = 0;
    for seed in 1..=600_u64 {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let name = names[rng.below(names.len())];
        let text = mutated(builtin.text(name).unwrap_or_default(), &mut rng);
        fs::write(&path, &text).unwrap();
        let mut stores = Stores::default();
        if let Err(fault) = stores.load_dir(&home.work()) {
            assert!(fault.to_string().contains("own.toml:"), "{seed}, {name}: {fault}");
            faults += 1;
        }
        let _ = stores.store_of(&path, &env);
    }
    assert!((50..600).contains(&faults), "{faults} of 600 at fault");
}

#[test]
fn a_randomly_mutated_configuration_loads_or_names_the_file() {
    let home = Home::new();
    let env = Env::hermetic(&home.work());
    let path = home.work().join(".config/overspill/config.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut faults = 0;
    for seed in 1..=200_u64 {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        fs::write(&path, mutated(CONFIG, &mut rng)).unwrap();
        let config = Config::load(env.clone());
        for fault in config.faults() {
            assert!(fault.words.contains("config.toml"), "{seed}: {fault}");
        }
        faults += usize::from(!config.faults().is_empty());
    }
    assert!((50..200).contains(&faults), "{faults} of 200 at fault");
}
