//! A person's own policy, store or configuration file, an agent's configuration, a pattern to search for: any text
//! works, or its fault is told in a few words that name the file.
#![no_main]

mod safe;

use std::cell::OnceCell;
use std::fs;
use std::path::PathBuf;

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use overspill::internals::config::{Config, Overrides};
use overspill::internals::store::{list, Env, Stores};
use overspill::internals::text::label::label;
use overspill::internals::text::search::Pattern;
use overspill::preview::{plan, Catalog, Input, Output, PlanError, Totals};
use safe::is_safe;
use tempfile::TempDir;

/// No fault needs more bytes to be told.
const MAX_FAULT: usize = 3000;
/// No preview of a small output needs more bytes, whatever a policy's template says.
const MAX_TEXT: u64 = 64 << 20;

struct Bench {
    home: TempDir,
    catalog: Catalog,
}

thread_local! {
    static BENCH: OnceCell<Bench> = const { OnceCell::new() };
}

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    BENCH.with(|bench| {
        let bench = bench.get_or_init(Bench::new);
        if text.contains("[[store]]") || text.contains("keeps_none") {
            bench.store(text)
        } else if text.contains("summary") {
            bench.policy(text)
        } else if text.starts_with('{') {
            bench.config("opencode/opencode.json", text)
        } else if text.contains('=') {
            bench.config("overspill/config.toml", text)
        } else {
            pattern(text)
        }
    });
});

/// Names of files are safe; what is left has few bytes and harms no terminal once it is a label.
fn told(fault: &str, file: &str) {
    assert!(fault.contains(file), "{fault}");
    assert!(fault.len() <= MAX_FAULT, "{} bytes: {}", fault.len(), &fault[..200]);
    assert!(is_safe(&label(fault.as_bytes())), "{fault:?}");
}

impl Bench {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        for name in ["policies", "stores", ".config/overspill", ".config/opencode", "work", "spills/a/b"] {
            fs::create_dir_all(home.path().join(name)).unwrap();
        }
        for name in ["spills/a/b/tool_e26cf08d5001AbCdEfGhIjKlMn", "spills/x.log", "spills/a/y.txt"] {
            fs::write(home.path().join(name), "x").unwrap();
        }
        Self { home, catalog: Catalog::builtin() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn policy(&self, text: &str) {
        fs::write(self.at("policies/own.toml"), text).unwrap();
        let mut catalog = self.catalog.clone();
        if let Err(fault) = catalog.load_dir(&self.at("policies")) {
            return told(&fault.to_string(), "own.toml");
        }
        let bytes = "a line\nerror: é\n".repeat(40).into_bytes();
        let totals = Totals::count(&bytes);
        for name in catalog.names().filter(|name| catalog.is_own(name)) {
            let policy = catalog.get(name).unwrap();
            let _ = (catalog.other_eras(&policy).len(), policy.version());
            for totals in [totals, Totals::unknown()] {
                let input = Input::new(Output { bytes: &bytes, totals: &totals }, "/P");
                match plan(&input, &policy) {
                    Err(PlanError::Policy { message, .. }) => {
                        assert!(!message.is_empty() && message.len() <= MAX_FAULT)
                    }
                    Ok(preview) => assert!(preview.byte_len(&input) <= MAX_TEXT),
                    Err(_) => {}
                }
            }
        }
    }

    fn store(&self, text: &str) {
        fs::write(self.at("stores/own.toml"), text).unwrap();
        let env = Env::hermetic(self.home.path()).with_var("PWD", self.at("work"));
        let mut stores = Stores::default();
        if let Err(fault) = stores.load_dir(&self.at("stores")) {
            return told(&fault.to_string(), "own.toml");
        }
        let _ = stores.store_of(&self.at("spills/x.log"), &env);
        let now: Timestamp = "2026-11-22T12:00:00Z".parse().unwrap();
        let ours: Vec<_> = stores.specs.iter().filter(|spec| self.is_ours(spec.roots(&env))).cloned().collect();
        let _ = list(&ours, &env, now);
    }

    /// Whether all roots lie in the home directory made here: the fuzzer looks at nothing else of the machine's.
    fn is_ours<E>(&self, roots: Vec<Result<PathBuf, E>>) -> bool {
        let is_ours = |root: PathBuf| root.starts_with(self.home.path()) && !root.to_string_lossy().contains("..");
        roots.into_iter().flatten().all(is_ours)
    }

    fn config(&self, file: &str, text: &str) {
        for name in ["overspill/config.toml", "opencode/opencode.json"] {
            fs::write(self.at(".config").join(name), if name == file { text } else { "" }).unwrap();
        }
        let config = Config::load(Env::hermetic(self.home.path()));
        config.faults().iter().for_each(|fault| told(&fault.words, "config.toml"));
        let _ = config.resolve(&Overrides::default(), None);
        let overrides = Overrides { tool: Some("grep".into()), ..Overrides::default() };
        let _ = config.resolve(&overrides, None);
    }
}

fn pattern(text: &str) {
    let Ok(pattern) = Pattern::new(text) else { return };
    let lines = b"a line\nerror[E0308]: \xc3\xa9\xff\n\n\ttab\r\n";
    for found in pattern.in_lines(lines) {
        assert!(!found.is_empty() && !lines[found].contains(&b'\n'));
    }
}
