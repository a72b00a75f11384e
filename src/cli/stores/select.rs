//! What the commands without the screen start from: the entries that are meant, and which the user keeps.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use jiff::Timestamp;

use crate::cli::{Failure, input, say};
use crate::config::Config;
use crate::source::OpenError;
use crate::store::{self, Entry, Listing, OwnStore, RootReport, StoreSpec};

/// The name under which overspill's own store is listed.
pub(crate) const OWN: &str = "overspill";

/// Whose entries are meant.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Whose<'a> {
    /// Everyone's.
    All,
    /// Those in overspill's own store.
    Own,
    /// Those of one agent.
    Agent(&'a str),
}

/// Some entries, as listed.
#[derive(Debug)]
pub(crate) struct Selected {
    /// The entries.
    pub entries: Vec<Entry>,
    /// The ids in overspill's own store that the user keeps.
    pub kept: BTreeSet<String>,
    /// When they were listed.
    pub now: Timestamp,
}

impl Selected {
    /// Lists what is there, and reports on standard error what cannot be read.
    ///
    /// # Errors
    /// There is no such agent.
    pub(crate) fn list(config: &Config, whose: Whose) -> anyhow::Result<Selected> {
        let now = Timestamp::now();
        let Listing { entries, reports } = match whose {
            Whose::All => store::list(&config.stores.specs, &config.env, now),
            Whose::Own => store::list(config.stores.named(OWN), &config.env, now),
            Whose::Agent(name) => of_agent(config, name, now)?,
        };
        reports.iter().flat_map(|(_, roots)| roots).for_each(complain);
        Ok(Selected { entries, kept: BTreeSet::new(), now })
    }

    /// With the marks of overspill's own store, if they can be read; if not, `stores` says why.
    pub(crate) fn with_marks(self, config: &Config) -> Selected {
        Selected { kept: marks(config).unwrap_or_default(), ..self }
    }

    /// With the marks of overspill's own store.
    ///
    /// # Errors
    /// Our own store may not be used: nothing may then be deleted.
    pub(crate) fn with_sure_marks(self, config: &Config) -> anyhow::Result<Selected> {
        Ok(Selected { kept: marks(config)?, ..self })
    }

    /// Whether the user keeps an entry: then no cleaning deletes it.
    pub(crate) fn is_kept(&self, entry: &Entry) -> bool {
        entry.is_own() && self.kept.contains(&*entry.id())
    }

    /// The entry that a word means: a path (with a slash, or that exists), an id, or the beginning of one.
    /// `None`: a path that lies in no store.
    ///
    /// # Errors
    /// It is empty, or it means none, or several.
    pub(crate) fn find(&self, word: &OsStr) -> anyhow::Result<Option<&Entry>> {
        input::refuse_empty(word)?;
        let path = PathBuf::from(word);
        if word.as_bytes().contains(&b'/') || path.symlink_metadata().is_ok() {
            return Ok(self.at(&path));
        }
        let whole: Vec<&Entry> =
            self.entries.iter().filter(|entry| entry.id_bytes() == word.as_bytes()).collect();
        let is_begun = |entry: &&Entry| entry.id_bytes().starts_with(word.as_bytes());
        let begun = || self.entries.iter().filter(is_begun).collect();
        let found: Vec<&Entry> = if whole.is_empty() { begun() } else { whole };
        match found.as_slice() {
            [] => Err(OpenError::Missing(path).into()),
            [entry] => Ok(Some(entry)),
            several => Err(input::ambiguous(word, several).into()),
        }
    }

    /// The entry at a path, whatever links lead to its directory.
    fn at(&self, path: &Path) -> Option<&Entry> {
        let path = std::path::absolute(path).ok()?;
        let directory = path.parent()?.canonicalize().ok()?;
        let here = |entry: &&Entry| {
            Some(entry.name()) == path.file_name()
                && entry.place().path.canonicalize().is_ok_and(|real| real == directory)
        };
        self.entries.iter().find(here)
    }
}

fn marks(config: &Config) -> anyhow::Result<BTreeSet<String>> {
    let store = OwnStore::open(&config.env)?;
    let Some(store) = store else { return Ok(BTreeSet::new()) };
    store.kept().with_context(|| format!("{}: what you keep cannot be told", store.root().display()))
}

/// The stores of an agent by its name; else what some store's paths say is this agent's.
fn of_agent(config: &Config, name: &str, now: Timestamp) -> anyhow::Result<Listing> {
    let stores: Vec<&Arc<StoreSpec>> = config.stores.specs.iter().filter(|spec| spec.agent == name).collect();
    if !stores.is_empty() {
        return Ok(store::list(stores, &config.env, now));
    }
    if let Some((_, why)) = config.stores.keep_none.iter().find(|(agent, _)| agent == name) {
        say(&format!("{name} keeps no outputs: {why}"));
        return Ok(Listing::default());
    }
    let mut all = store::list(&config.stores.specs, &config.env, now);
    let known = agents(config, &all.entries);
    if !known.contains(name) {
        let known: Vec<&str> = known.into_iter().collect();
        return Err(Failure::Usage(format!("no agent `{name}`; the agents are: {}", known.join(", "))).into());
    }
    all.entries.retain(|entry| entry.agent() == name);
    Ok(all)
}

/// All agents that are known of, and those that paths tell of.
fn agents<'a>(config: &'a Config, entries: &'a [Entry]) -> BTreeSet<&'a str> {
    let described = config.stores.specs.iter().map(|spec| spec.agent.as_str());
    let without = config.stores.keep_none.iter().map(|(agent, _)| agent.as_str());
    described.chain(without).chain(entries.iter().map(|entry| entry.agent())).collect()
}

/// Says what of a root could not be read.
fn complain(report: &RootReport) {
    report.unlisted().for_each(|(path, why)| say(&format!("{}: cannot be read: {why}", path.display())));
}
