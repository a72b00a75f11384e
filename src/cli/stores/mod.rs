//! The commands on stored outputs, and what they share: how they choose outputs and describe them.

pub(crate) mod delete;
pub(crate) mod list;
pub(crate) mod overview;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use anyhow::Context;
use jiff::Timestamp;

use crate::config::Config;
use crate::rows::column::RowLook;
use crate::store::{self, Entry, Env, KeptIds, Listing, OWN, OwnStore, Record, RunRecord};
use crate::text::label::label;

use super::{say, say_once, suggest, usage};

/// Bytes of a word of a text from which it may name an entry.
const MIN_NAME: usize = 12;

#[derive(Debug, Clone, Copy)]
pub(crate) enum OutputScope<'a> {
    All,
    /// Those of this agent: in its stores, and kept copies of them.
    Agent(&'a str),
    Stores(&'a str),
    /// Those of the stores that can hold the file at this path.
    Beside(&'a Path),
}

/// Lists entries, and reports on standard error what cannot be read.
pub(crate) fn select(config: &Config, scope: OutputScope) -> anyhow::Result<Listing> {
    let listing = select_quietly(config, scope)?;
    let mut said = HashSet::new();
    listing.unlisted().for_each(|words| say_once(&words, &mut said));
    Ok(listing)
}

/// Lists entries; [`Listing::unlisted`] has what cannot be read.
pub(crate) fn select_quietly(config: &Config, scope: OutputScope) -> anyhow::Result<Listing> {
    let now = crate::base::env::now();
    Ok(match scope {
        OutputScope::All => store::list(&config.stores.specs, &config.env, now),
        OutputScope::Beside(path) => store::list(&config.stores_around(path), &config.env, now),
        OutputScope::Agent(name) => of_agent(config, name, Some(OWN), now)?,
        OutputScope::Stores(name) => of_agent(config, name, None, now)?,
    })
}

impl Listing {
    pub(crate) fn look(&self) -> RowLook {
        RowLook { now: self.now, ..RowLook::default() }
    }

    /// Adds the marks of overspill's own store if they can be read; if not, `stores` says why.
    pub(crate) fn with_marks(self, config: &Config) -> Listing {
        Listing { kept: KeptIds::load(&config.env), ..self }
    }

    /// Fails if overspill's own store cannot be used; nothing may be deleted then.
    pub(crate) fn require_marks(self, config: &Config) -> anyhow::Result<Listing> {
        let Some(store) = OwnStore::open(&config.env)? else { return Ok(self) };
        let words = || format!("{}: the list of kept outputs cannot be read", store.root().display());
        Ok(Listing { kept: store.kept(&config.env).with_context(words)?, ..self })
    }

    /// Finds the entry at a path, whatever links lead to its directory.
    pub(crate) fn at(&self, path: &Path) -> Option<&Entry> {
        let path = std::path::absolute(path).ok()?;
        let directory = path.parent()?.canonicalize().ok()?;
        let here = |entry: &&Entry| {
            Some(entry.name()) == path.file_name()
                && entry.place().path.canonicalize().is_ok_and(|real| real == directory)
        };
        self.entries.iter().find(here)
    }

    /// Returns the entry whose id or file name comes first in a text, as a word of at least [`MIN_NAME`] bytes.
    pub(crate) fn named_in(&self, text: &str) -> Option<&Entry> {
        let names =
            |entry| [Entry::id(entry), Entry::name(entry).to_string_lossy()].map(|name| (name, entry));
        let entries: HashMap<_, _> = self.entries.iter().flat_map(names).collect();
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && !"-_.".contains(letter));
        let mut words = words.map(|word| word.trim_end_matches('.')).filter(|word| word.len() >= MIN_NAME);
        words.find_map(|word| entries.get(word).copied())
    }
}

/// Lists the stores of this agent, and its entries in those of `other`; if it has none, the entries whose paths name it.
fn of_agent(config: &Config, name: &str, other: Option<&str>, now: Timestamp) -> anyhow::Result<Listing> {
    if let Some(fault) = config.stores.fault_of(name) {
        return Err(usage(fault));
    }
    if config.stores.specs.iter().any(|spec| spec.agent == name) {
        let stores =
            config.stores.specs.iter().filter(|spec| [Some(name), other].contains(&Some(&spec.agent)));
        let mut listing = store::list(stores, &config.env, now);
        listing.entries.retain(|entry| other.is_none() || entry.agent() == name || !entry.is_own());
        return Ok(listing);
    }
    if let Some((_, why)) = config.stores.keep_none.iter().find(|(agent, _)| agent == name) {
        say(&format!("{name} keeps no outputs: {why}"));
        return Ok(Listing { now, ..Listing::default() });
    }
    let mut all = store::list(&config.stores.specs, &config.env, now);
    let mut known = config.stores.agents();
    known.extend(all.entries.iter().map(|entry| entry.agent()));
    if !known.contains(name) {
        let instead = match name.contains(',') {
            true => "name one, or leave it out for all of them".to_owned(),
            false => suggest::name(name, &Vec::from_iter(known), "the agents are:"),
        };
        return Err(usage(format!("no agent `{}`; {instead}", label(name.as_bytes()))));
    }
    all.entries.retain(|entry| entry.agent() == name);
    Ok(all)
}

/// Reads the record of the run that created an entry, and sets the entry's tool from it.
pub(crate) fn read_run(entry: &mut Entry, env: &Env) -> Option<RunRecord> {
    let run = Record::find_run(env, &entry.path())?;
    run.tool.iter().for_each(|tool| entry.learn_tool(tool));
    Some(run)
}

pub(crate) fn say_none_stored(which: &str) {
    say(&format!("no stored outputs{which}; `overspill stores --all` shows the directories searched"));
}
