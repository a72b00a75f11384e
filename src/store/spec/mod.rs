//! What is known about each agent's stores: data from `assets/stores/` and the user's own directory.

mod form;
pub(crate) mod pattern;
pub(crate) mod retention;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
#[cfg(feature = "app")]
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
#[cfg(feature = "app")]
use std::sync::{Mutex, OnceLock};

use jiff::{SignedDuration, Timestamp};
#[cfg(feature = "app")]
use rustix::fs::fstat;
use serde::{Deserialize, Serialize};

#[cfg(feature = "app")]
use crate::base::fs::identity::{FileStat, Identity};
use crate::base::fs::plain_file;
#[cfg(feature = "app")]
use crate::base::lock;
use crate::base::provenance::{Confidence, Warning};
use crate::base::toml_check::{Mistake, top_text};
#[cfg(feature = "app")]
use crate::store::root::Root;
use crate::store::root::{UnsetVariable, expand_root};

use super::own::id::parse_id;
use super::{Basis, Env, Retention};
use form::AgentForm;
use pattern::{Component, PathFacts};

words! {
    /// How the content of an agent's file differs from what the tool printed.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum StoredForm {
        /// The output itself (invalid UTF-8 may have been replaced).
        #[default]
        Raw => "raw",
        /// Without escape sequences.
        Stripped => "stripped",
        /// With text of the agent around it.
        Wrapped => "wrapped",
        Reindented => "re-indented",
        Cut => "already cut",
    }
}

/// A store: where it is, what its file names mean, and when its entries are deleted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreSpec {
    /// The agent's name, or `agent/part` if it has several stores; while its file is read, the part alone.
    #[serde(default, rename = "part")]
    pub name: String,
    /// The agent's name, as in its policies.
    #[serde(skip)]
    pub agent: String,
    /// Patterns for the file names, and what each kind of file contains; the first match wins.
    pub files: Vec<FileRule>,
    pub retention: Retention,
    confidence: Option<Confidence>,
    #[serde(skip)]
    pub source: String,
    pub note: Option<String>,
    #[serde(default, rename = "warning")]
    pub warnings: Vec<Warning>,
    pub(super) roots: Vec<String>,
    #[serde(default)]
    pub(super) path: Vec<Component>,
    #[serde(default)]
    skip: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRule {
    /// The tool, if all files of this kind come from the same one.
    pub tool: Option<String>,
    #[serde(default)]
    pub holds: StoredForm,
    /// Policies that may have created it, most likely first.
    #[serde(default)]
    pub policies: Vec<String>,
    pub(super) name: Component,
    /// The parameters of these policies that take their value from a group of the path.
    #[serde(default)]
    #[cfg_attr(not(feature = "app"), allow(dead_code))]
    pub(crate) sets: BTreeMap<String, PathGroup>,
}

/// A group of a path's patterns that a parameter of a policy can take its value from.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PathGroup {
    Tool,
    Id,
    Stream,
}

#[derive(Clone, Debug, Default)]
pub struct Stores {
    /// Sorted by name.
    pub specs: Vec<Arc<StoreSpec>>,
    /// Agents that keep no spills, with the reason.
    pub keep_none: Vec<(String, String)>,
    texts: BTreeMap<String, Cow<'static, str>>,
    /// What is wrong with the user's own files, each by its agent; by its name, if it does not say of which agent it is.
    faults: Vec<(String, String)>,
}

pub(crate) const OWN: &str = "overspill";

struct Builtin {
    text: &'static str,
    #[cfg_attr(not(feature = "app"), allow(dead_code))]
    roots: &'static [&'static str],
    json: &'static str,
}

/// The built-in descriptions, sorted by path.
const BUILTIN: &[Builtin] = include!(concat!(env!("OUT_DIR"), "/stores.rs"));

impl Stores {
    /// Returns all agents whose stores are described, with those that keep no spills.
    pub fn agents(&self) -> BTreeSet<&str> {
        let without = self.keep_none.iter().map(|(agent, _)| agent.as_str());
        self.specs.iter().map(|spec| spec.agent.as_str()).chain(without).collect()
    }

    pub fn builtin() -> Stores {
        Stores::from_builtin(|_| true)
    }

    fn from_builtin(is_wanted: impl Fn(&Builtin) -> bool) -> Stores {
        let mut stores = Stores::default();
        for Builtin { text, json, .. } in BUILTIN.iter().filter(|builtin| is_wanted(builtin)) {
            let added = serde_json::from_str(json).map(|form| stores.add(form, Cow::Borrowed(text)));
            debug_assert!(added.is_ok(), "{json}: {added:?}");
        }
        stores
    }

    /// Adds every `*.toml` in `dir`, sorted by name, in place of what describes the same agent. Valid files are added
    /// even if another is faulty: its agent keeps its built-in description, but when its outputs are deleted counts as
    /// unknown. Fails with the first fault; [`Stores::faults`] has all.
    pub fn load_dir(&mut self, dir: &Path) -> Result<(), String> {
        let paths = plain_file::toml_in(dir).map_err(|error| format!("{}: {error}", dir.display()));
        let paths = paths.inspect_err(|error| self.set_aside(dir, "", error))?;
        let loaded: Vec<_> = paths.iter().map(|path| self.load_file(path)).collect();
        loaded.into_iter().collect()
    }

    fn load_file(&mut self, path: &Path) -> Result<(), String> {
        let read = plain_file::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let text = read.inspect_err(|error| self.set_aside(path, "", error))?;
        // The shell creates the file before `overspill stores NAME >FILE` has printed anything.
        if text.is_empty() {
            return Ok(());
        }
        let agent = self.add_own(path, &text).inspect_err(|error| self.set_aside(path, &text, error))?;
        self.skip(&agent);
        Ok(())
    }

    fn set_aside(&mut self, path: &Path, text: &str, fault: &str) {
        let stem = || path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let agent = top_text(text, "agent").map_or_else(stem, str::to_owned);
        self.distrust(&agent);
        self.faults.push((agent, fault.to_owned()));
    }

    /// Returns what is wrong with the user's own files, in the order in which they were read.
    pub fn faults(&self) -> impl Iterator<Item = &str> {
        self.faults.iter().map(|(_, fault)| fault.as_str())
    }

    /// Returns what is wrong with the user's own file about an agent's stores, by the name of the agent or of one store.
    pub fn fault_of(&self, name: &str) -> Option<&str> {
        let agent = name.split('/').next().unwrap_or(name);
        self.faults.iter().find(|(of, _)| of == agent).map(|(_, fault)| fault.as_str())
    }

    /// Treats it as unknown when an agent's outputs are deleted, because the user's description was not understood.
    pub fn distrust(&mut self, agent: &str) {
        for spec in self.specs.iter_mut().filter(|spec| spec.agent == agent) {
            let why = "there is a mistake in your own file".to_owned();
            Arc::make_mut(spec).retention = Retention::none(Some(why), None);
        }
    }

    /// Makes the catch-all stores skip an agent that has its own, so that its entries are not listed twice.
    fn skip(&mut self, agent: &str) {
        let catching = |spec: &&mut Arc<StoreSpec>| !spec.skip.is_empty() && !spec.skips(agent);
        for spec in self.specs.iter_mut().filter(catching).filter(|spec| spec.agent != agent) {
            Arc::make_mut(spec).skip.push(agent.to_owned());
        }
    }

    /// Adds one of the user's own descriptions, once it is checked, and returns the agent's name.
    fn add_own(&mut self, path: &Path, text: &str) -> Result<String, String> {
        let wrong = |mistake: Mistake| format!("{}:{mistake}", path.display());
        let table = form::check(text).map_err(wrong)?;
        let form = AgentForm::deserialize(toml::de::Deserializer::from(table));
        let form = form.map_err(|error| wrong(Mistake::unread(text, &error)))?;
        Ok(self.add(form, Cow::Owned(text.to_owned())))
    }

    fn add(&mut self, form: AgentForm, text: Cow<'static, str>) -> String {
        let agent = form.agent.clone();
        let none = form.keeps_none.clone();
        self.specs.retain(|spec| spec.agent != agent);
        self.keep_none.retain(|(name, _)| *name != agent);
        self.keep_none.extend(none.map(|reason| (agent.clone(), reason)));
        self.specs.extend(form.specs().into_iter().map(Arc::new));
        self.specs.sort_by(|a, b| a.name.cmp(&b.name));
        self.texts.insert(agent.clone(), text);
        agent
    }

    /// Returns the description of an agent's stores as written; also found by the name of one of the stores.
    pub fn text(&self, name: &str) -> Option<&str> {
        let of_store = || self.specs.iter().find(|spec| spec.name == name);
        self.texts.get(name).or_else(|| self.texts.get(&of_store()?.agent)).map(AsRef::as_ref)
    }

    /// Returns the store of this name; for an agent's name, all of that agent's stores.
    pub fn named<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Arc<StoreSpec>> {
        self.specs.iter().filter(move |spec| spec.name == name || spec.agent == name)
    }

    /// Returns the store that contains `path` (absolute) and the kind of file, judging by the path alone.
    pub fn store_of(&self, path: &Path, env: &Env) -> Option<(&Arc<StoreSpec>, &FileRule)> {
        let (directory, name) = (path.parent()?, path.file_name()?);
        self.around_by_name(directory, env).find_map(|(spec, rest)| Some((spec, spec.fits(&rest, name)?.0)))
    }

    /// Returns the stores that can have files in `directory` (absolute), by name, each with what is below its root.
    fn around_by_name(
        &self,
        directory: &Path,
        env: &Env,
    ) -> impl Iterator<Item = (&Arc<StoreSpec>, PathBuf)> {
        self.specs.iter().flat_map(move |spec| {
            let roots = spec.roots.iter().filter_map(|pattern| expand_root(pattern, env).ok());
            roots.filter_map(move |root| Some((spec, named_below(directory, &root)?.to_owned())))
        })
    }

    /// Keeps overspill's own spills for `age` instead of seven days; `None` means forever.
    pub fn keep_own_for(&mut self, age: Option<SignedDuration>) {
        for spec in self.specs.iter_mut().filter(|spec| spec.agent == OWN) {
            let retention = &mut Arc::make_mut(spec).retention;
            retention.after = age;
            retention.basis = if age.is_some() { Basis::Mtime } else { Basis::Never };
        }
    }
}

/// Returns the first of some stores that contains `path` (absolute), also by links or `..`, the kind of file, and the
/// parameters that its path gives.
#[cfg(feature = "app")]
pub(crate) fn store_among<'a>(
    specs: &'a [Arc<StoreSpec>],
    path: &Path,
    env: &Env,
) -> Option<(&'a Arc<StoreSpec>, &'a FileRule, BTreeMap<String, String>)> {
    let (directory, name) = (path.parent()?, path.file_name()?);
    specs.iter().find_map(|spec| {
        let mut below = spec.roots.iter().filter_map(|root| below(directory, root, env));
        let (rule, facts) = below.find_map(|rest| spec.fits(&rest, name))?;
        let set =
            rule.sets.iter().filter_map(|(key, group)| Some((key.clone(), facts.group(*group)?.clone())));
        Some((spec, rule, set.collect()))
    })
}

/// Returns what of `directory` (absolute) is below a root, by name or by the links that a listing of it follows.
#[cfg(feature = "app")]
fn below(directory: &Path, root: &str, env: &Env) -> Option<PathBuf> {
    let root = Root::new(root, env).ok()?;
    if let Some(rest) = named_below(directory, &root.path) {
        return Some(rest.to_owned());
    }
    let root = FileStat::from(fstat(root.open().ok()?).ok()?).identity;
    let directory = directory.canonicalize().ok()?;
    let is_root = |above: &&Path| above.metadata().is_ok_and(|meta| root.same_file(&Identity::from(&meta)));
    Some(directory.strip_prefix(directory.ancestors().find(is_root)?).ok()?.to_owned())
}

fn named_below<'a>(path: &'a Path, root: &Path) -> Option<&'a Path> {
    path.strip_prefix(root).ok().filter(|rest| rest.iter().all(|name| name != ".."))
}

impl FileRule {
    /// Returns when a file of this name was created, if the name says so; `modified` is its modification time.
    pub fn made(&self, name: &OsStr, modified: Timestamp) -> Option<Timestamp> {
        let (name, mut facts) = (name.as_encoded_bytes(), PathFacts::default());
        self.name.read(name, &mut facts);
        let id = facts.id_at.and_then(|(start, end)| name.get(usize::from(start)..usize::from(end)));
        parse_id(id.unwrap_or(name))?.time(modified)
    }
}

impl StoreSpec {
    pub fn confidence(&self) -> Confidence {
        self.confidence.unwrap_or(Confidence::Own)
    }

    pub fn roots(&self, env: &Env) -> Vec<Result<PathBuf, UnsetVariable>> {
        self.roots.iter().map(|pattern| expand_root(pattern, env)).collect()
    }

    /// Whether `agent` has a store of its own, so that this one leaves it out.
    pub(super) fn skips(&self, agent: &str) -> bool {
        self.skip.iter().any(|skipped| skipped == agent)
    }

    /// Returns the kind of file that `name` is; adds the groups of its pattern to `facts`.
    pub(super) fn file_rule(&self, name: &[u8], facts: &mut PathFacts) -> Option<&FileRule> {
        self.files.iter().find(|rule| rule.name.read(name, facts))
    }

    /// Reads what the directories between a root and the files tell; `None` if these are none of them.
    fn read_path(&self, directories: &Path) -> Option<PathFacts> {
        // Most paths are too short or too long for a store, and no pattern has to be compiled to see that.
        if directories.iter().count() != self.path.len() {
            return None;
        }
        let mut facts = PathFacts::default();
        let mut pairs = self.path.iter().zip(directories);
        let fits = pairs.all(|(component, name)| component.read_text(name.as_encoded_bytes(), &mut facts));
        Some(facts).filter(|_| fits)
    }

    fn fits(&self, directories: &Path, file: &OsStr) -> Option<(&FileRule, PathFacts)> {
        let mut facts = self.read_path(directories)?;
        let name = file.as_encoded_bytes();
        let rule = self.files.iter().find(|rule| rule.name.read_text(name, &mut facts))?;
        let is_skipped = facts.agent.as_ref().is_some_and(|agent| self.skips(agent));
        (!is_skipped).then_some((rule, facts))
    }
}

/// A store, and what of a directory is below its root.
#[cfg(feature = "app")]
type HeldDirectory = (Arc<StoreSpec>, PathBuf);

/// The stores that are read when they are first asked for: to open a file takes only those that it may be in.
#[cfg(feature = "app")]
#[derive(Clone, Debug, Default)]
pub struct LazyStores {
    all: OnceLock<Stores>,
    /// Those around the directory that was asked for first: the one of the output that is opened.
    first: OnceLock<(PathBuf, Vec<Arc<StoreSpec>>)>,
    /// By directory, those that can have files there, here or in another home directory.
    known: Arc<Mutex<BTreeMap<PathBuf, Vec<HeldDirectory>>>>,
}

#[cfg(feature = "app")]
impl Deref for LazyStores {
    type Target = Stores;

    fn deref(&self) -> &Stores {
        self.all.get_or_init(Stores::builtin)
    }
}

#[cfg(feature = "app")]
impl LazyStores {
    /// Adds the user's own descriptions, if there is a directory of them, and returns what is wrong with them.
    pub(crate) fn load_any(&mut self, directory: &Path) -> Vec<String> {
        if let Ok(false) = directory.try_exists() {
            return Vec::new();
        }
        // The stores remember all faults themselves.
        self.change(|stores| drop(stores.load_dir(directory)));
        self.faults().map(str::to_owned).collect()
    }

    pub fn change(&mut self, change: impl FnOnce(&mut Stores)) {
        let mut stores = self.all.take().unwrap_or_else(Stores::builtin);
        change(&mut stores);
        *self = Self { all: OnceLock::from(stores), ..Self::default() };
    }

    /// Returns the stores that can have files in `directory` (absolute), for [`store_among`]: by name, else by links.
    pub(crate) fn around(&self, directory: &Path, env: &Env) -> Vec<Arc<StoreSpec>> {
        let named = |root: &str| Some(named_below(directory, &expand_root(root, env).ok()?)?.to_owned());
        let find = || match self.holding(&named) {
            none if none.is_empty() => self.holding(&|root| below(directory, root, env)),
            named => named,
        };
        let (first, specs) = self.first.get_or_init(|| (directory.to_owned(), find()));
        if first == directory { specs.clone() } else { find() }
    }

    /// Returns the agent in whose store a path is, or would be in another home directory. A directory is looked up once.
    pub(crate) fn agent_of(&self, path: &Path, env: &Env) -> Option<String> {
        let (directory, name) = (path.parent()?, path.file_name()?);
        let around = |env: Env| {
            let found = self.around_by_name(directory, &env);
            found.map(|(spec, rest)| (Arc::clone(spec), rest)).collect::<Vec<_>>()
        };
        let homes = directory.ancestors().map(Env::hermetic);
        let find = || [env.clone()].into_iter().chain(homes).flat_map(around).collect();
        let mut known = lock(&self.known);
        let mut around = known.entry(directory.to_owned()).or_insert_with(find).iter();
        around.find_map(|(spec, rest)| spec.fits(rest, name).map(|_| spec.agent.clone()))
    }

    fn holding(&self, below: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<Arc<StoreSpec>> {
        let fits = |spec: &Arc<StoreSpec>| {
            let mut rests = spec.roots.iter().filter_map(|root| below(root));
            rests.any(|rest| spec.read_path(&rest).is_some())
        };
        let read = |builtin: &Builtin| builtin.roots.iter().any(|root| below(root).is_some());
        let specs = self.all.get().map_or_else(|| Stores::from_builtin(read).specs, |all| all.specs.clone());
        specs.into_iter().filter(fits).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unreadable_directory_is_a_fault_and_a_missing_one_is_not() {
        let home = tempfile::tempdir().unwrap();
        let directory = home.path().join("stores");
        let mut stores = LazyStores::default();
        assert!(stores.load_any(&directory).is_empty() && stores.all.get().is_none());
        std::os::unix::fs::symlink(&directory, &directory).unwrap();
        assert_eq!(stores.load_any(&directory).len(), 1);
    }

    #[test]
    fn lazy_loading_finds_the_same_stores() {
        let env = Env::hermetic(Path::new("/home/me")).with_var("PWD", "/home/me/work");
        let read = LazyStores::default();
        assert!(read.specs.len() > 20);
        let names = |stores: &LazyStores, directory: &str| {
            let specs = stores.around(Path::new(directory), &env).into_iter();
            specs.map(|spec| spec.name.clone()).collect::<Vec<_>>()
        };
        for spec in &read.specs {
            for root in spec.roots(&env).into_iter().flatten() {
                let directory = root.display().to_string();
                let unread = LazyStores::default();
                assert_eq!(names(&unread, &directory), names(&read, &directory), "{directory}");
                let is_found = names(&read, &directory).contains(&spec.name);
                assert_eq!(is_found, spec.path.is_empty(), "{directory}");
                assert!(unread.all.get().is_none(), "{directory}");
            }
        }
        assert!(names(&read, "/home/me/work").is_empty());
    }

    #[test]
    fn the_stores_of_a_directory_are_looked_for_once() {
        let home = tempfile::tempdir().unwrap();
        let (stores, env) = (LazyStores::default(), Env::hermetic(home.path()));
        let agent_of = |home: &Path, name: String| {
            let path = home.join(".local/share/opencode/tool-output").join(name);
            stores.agent_of(&path, &env)
        };
        for n in 1000..2000 {
            let name = || format!("tool_c8d4f08d5001AbCdEfGhIj{n}");
            for home in [home.path(), Path::new("/home/other")] {
                assert_eq!(agent_of(home, name()).as_deref(), Some("opencode"));
            }
        }
        assert_eq!(agent_of(home.path(), "x".into()), None, "no name of its files");
        assert_eq!(lock(&stores.known).len(), 2);
    }
}
