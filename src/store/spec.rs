//! What is known of each agent's store: data, from `assets/stores/` and the user's own directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use super::expand::{Unset, expand};
use super::pattern::{Component, Facts};
use super::{Basis, Env, Retention, parse_age};

/// What an agent's file holds, compared to what the tool printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Holds {
    /// The output itself (bytes that are no text may have been replaced).
    Raw,
    /// Escape sequences taken out.
    Stripped,
    /// Words of the agent around it.
    Wrapped,
    /// JSON, indented anew.
    Reindented,
    /// Already cut.
    Cut,
}

impl Holds {
    /// As in `list --json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Holds::Raw => "raw",
            Holds::Stripped => "stripped",
            Holds::Wrapped => "wrapped",
            Holds::Reindented => "re-indented",
            Holds::Cut => "already cut",
        }
    }
}

/// How sure a store's description is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Read in the agent's source, or this program's own.
    Source,
    /// From the vendor's documentation.
    Documented,
    /// Seen in transcripts and issues.
    Observed,
}

impl Confidence {
    /// In one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Confidence::Source => "source",
            Confidence::Documented => "documented",
            Confidence::Observed => "observed",
        }
    }
}

/// One store: where it lies, what its names say, when its entries go.
#[derive(Debug)]
pub struct StoreSpec {
    /// The agent's name, or `agent/part` where it has several stores.
    pub name: String,
    /// The agent's name, as in its policies'.
    pub agent: String,
    /// The tool whose output all entries are, if they are of one.
    pub tool: Option<String>,
    /// What its files hold.
    pub holds: Holds,
    /// Policies that may have made its entries, the likeliest first.
    pub policies: Vec<String>,
    /// When entries go.
    pub retention: Retention,
    /// How sure all this is.
    pub confidence: Confidence,
    /// Where it is from.
    pub source: String,
    /// What else there is to know.
    pub note: Option<String>,
    pub(super) roots: Vec<String>,
    pub(super) path: Vec<Component>,
    skip: Vec<String>,
}

/// A store's description is wrong.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The file or directory cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not what a store's file looks like; the message has the line.
    #[error("{}: {message}", path.display())]
    Form {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

/// All stores that are known.
#[derive(Clone, Debug, Default)]
pub struct Stores {
    /// In the order of their names.
    pub specs: Vec<Arc<StoreSpec>>,
    /// Agents that keep no spills, and why.
    pub keep_none: Vec<(String, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentForm {
    agent: String,
    source: String,
    confidence: Confidence,
    keeps_none: Option<String>,
    #[serde(default)]
    store: Vec<StoreForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoreForm {
    part: Option<String>,
    roots: Vec<String>,
    path: Vec<String>,
    tool: Option<String>,
    holds: Holds,
    #[serde(default)]
    policies: Vec<String>,
    retention: RetentionForm,
    confidence: Option<Confidence>,
    note: Option<String>,
    #[serde(default)]
    skip: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RetentionForm {
    by: Basis,
    after: Option<String>,
    max_count: Option<u64>,
    max_total: Option<u64>,
    note: Option<String>,
}

/// The descriptions compiled in: file name and text.
const BUILTIN: &[(&str, &str)] = &[
    ("opencode.toml", include_str!("../../assets/stores/opencode.toml")),
    ("overspill.toml", include_str!("../../assets/stores/overspill.toml")),
];

impl Stores {
    /// Those that are compiled in.
    pub fn builtin() -> Stores {
        let mut stores = Stores::default();
        for (name, text) in BUILTIN {
            let added = stores.add(Path::new(name), text);
            debug_assert!(added.is_ok(), "{added:?}");
        }
        stores
    }

    /// Adds every `*.toml` in `dir`, in the order of their names; an agent described there replaces
    /// the one of that name. A directory that is not there adds nothing.
    ///
    /// # Errors
    /// The first file that cannot be read or understood; those before it have been added.
    pub fn load_dir(&mut self, dir: &Path) -> Result<(), SpecError> {
        let failed = |path: &Path, source| SpecError::Read { path: path.to_owned(), source };
        let listed = match fs::read_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            listed => listed.and_then(Iterator::collect::<io::Result<Vec<_>>>).map_err(|e| failed(dir, e))?,
        };
        let mut paths: Vec<PathBuf> = listed.into_iter().map(|file| file.path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
        paths.sort();
        for path in paths {
            let text = fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
            self.add(&path, &text)?;
        }
        self.check()
    }

    /// Compiles every pattern, which otherwise waits until it is needed.
    pub(super) fn check(&self) -> Result<(), SpecError> {
        for spec in &self.specs {
            for component in &spec.path {
                let wrong = |message| SpecError::Form { path: PathBuf::from(&spec.name), message };
                component.check().map_err(wrong)?;
            }
        }
        Ok(())
    }

    /// Adds one description; `path` is for messages.
    fn add(&mut self, path: &Path, text: &str) -> Result<(), SpecError> {
        let wrong = |message: String| SpecError::Form { path: path.to_owned(), message };
        let form: AgentForm = toml::from_str(text).map_err(|error| wrong(error.to_string()))?;
        let agent = form.agent.clone();
        let none = form.keeps_none.clone();
        let specs = specs(form).map_err(wrong)?;
        self.specs.retain(|spec| spec.agent != agent);
        self.keep_none.retain(|(name, _)| *name != agent);
        self.keep_none.extend(none.map(|reason| (agent, reason)));
        self.specs.extend(specs.into_iter().map(Arc::new));
        self.specs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(())
    }

    /// The store of that name; with an agent's name, all of that agent's stores.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Arc<StoreSpec>> {
        self.specs.iter().filter(move |spec| spec.name == name || spec.agent == name)
    }

    /// The store in which `path` (absolute) lies, told by the path alone.
    pub fn store_of(&self, path: &Path, env: &Env) -> Option<&Arc<StoreSpec>> {
        self.specs.iter().find(|spec| spec.holds_path(path, env))
    }
}

fn specs(form: AgentForm) -> Result<Vec<StoreSpec>, String> {
    let AgentForm { agent, source, confidence, store, .. } = form;
    store.into_iter().map(|store| spec(store, &agent, &source, confidence)).collect()
}

fn spec(form: StoreForm, agent: &str, source: &str, confidence: Confidence) -> Result<StoreSpec, String> {
    let path: Vec<Component> = form.path.iter().map(|text| Component::new(text)).collect();
    if path.is_empty() || form.roots.is_empty() {
        return Err("`roots` and `path` must not be empty".into());
    }
    Ok(StoreSpec {
        name: form.part.map_or_else(|| agent.to_owned(), |part| format!("{agent}/{part}")),
        agent: agent.to_owned(),
        tool: form.tool,
        holds: form.holds,
        policies: form.policies,
        retention: retention(form.retention)?,
        confidence: form.confidence.unwrap_or(confidence),
        source: source.to_owned(),
        note: form.note,
        roots: form.roots,
        path,
        skip: form.skip,
    })
}

fn retention(form: RetentionForm) -> Result<Retention, String> {
    let after = match &form.after {
        Some(text) => Some(
            parse_age(text).ok_or_else(|| format!("`after = \"{text}\"`: write an age such as 7d or 24h"))?,
        ),
        None => None,
    };
    Ok(Retention {
        basis: form.by,
        after,
        max_count: form.max_count,
        max_total: form.max_total,
        note: form.note,
    })
}

impl StoreSpec {
    /// Its root directories: each path, or the variable without which there is none.
    pub fn roots(&self, env: &Env) -> Vec<Result<PathBuf, Unset>> {
        self.roots.iter().map(|pattern| expand(pattern, env)).collect()
    }

    /// Whether the files of `agent` are described by a store of its own.
    pub(super) fn skips(&self, agent: &str) -> bool {
        self.skip.iter().any(|skipped| skipped == agent)
    }

    fn holds_path(&self, path: &Path, env: &Env) -> bool {
        let under = |root: PathBuf| path.strip_prefix(&root).is_ok_and(|rest| self.fits(rest));
        self.roots(env).into_iter().flatten().any(under)
    }

    fn fits(&self, rest: &Path) -> bool {
        let mut facts = Facts::default();
        let names: Vec<_> = rest.iter().map(|name| name.as_encoded_bytes()).collect();
        names.len() == self.path.len()
            && self.path.iter().zip(names).all(|(component, name)| component.read(name, &mut facts))
            && !facts.agent.is_some_and(|agent| self.skips(&agent))
    }
}
