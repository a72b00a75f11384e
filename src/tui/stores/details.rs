//! Details about stored outputs that a scan does not give: first lines and commands.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::capture::Record;
use crate::session::citing::CitingCall;
use crate::source::Identity;
use crate::store::{Entry, Env, first_line};
use crate::text::ansi;
use crate::text::label::SafeText;

use super::got::ModelGot;

/// The limit on entries remembered. Beyond it everything read is forgotten, and read again for what is shown.
const MOST: usize = 20_000;

/// What was read from an entry's file and from the record of its run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peek {
    /// The file's first line, as a terminal without colours would leave it.
    pub first_line: SafeText,
    /// The command that printed the output; empty if none is recorded.
    pub command: SafeText,
    /// The tool, if one is recorded.
    pub tool: Option<Arc<str>>,
    /// The bytes that the command printed, if it is recorded that only the first of them were saved.
    pub printed: Option<u64>,
}

/// Reads an entry's first line and the record of its run.
pub fn peek(entry: &Entry, env: &Env) -> Peek {
    let line = first_line(entry).unwrap_or_default();
    let run = record(entry, env);
    Peek {
        first_line: SafeText::from_bytes(&ansi::printed(&line)),
        command: run.as_ref().map_or_else(SafeText::default, |run| SafeText::new(run.command.join(" "))),
        printed: run.as_ref().filter(|run| run.kept.bytes < run.seen.bytes).map(|run| run.seen.bytes),
        tool: run.and_then(|run| run.tool).map(Arc::from),
    }
}

/// Returns the record of an entry's run. Different places may use the same name, so the path in the record must match
/// too.
fn record(entry: &Entry, env: &Env) -> Option<Record> {
    Record::read(env, entry.name().to_str()?).filter(|run| entry.path() == Path::new(&run.path))
}

/// What was found of the call that an output is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundCall {
    /// This call names it.
    Call(Box<CitingCall>),
    /// No session near it in time names it.
    None,
}

/// What is known of entries by their paths: nothing yet (`None`) of those that were asked for. What was found of a file that
/// has changed since is ignored.
#[derive(Debug)]
pub(crate) struct Known<T>(HashMap<PathBuf, (Identity, Option<T>)>);

impl<T> Default for Known<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T> Known<T> {
    /// Returns those of `entries` that were not asked for, and marks them as asked for.
    pub(crate) fn ask<'a>(&mut self, entries: impl Iterator<Item = &'a Entry>) -> Vec<Entry> {
        if self.0.len() > MOST {
            self.0.clear();
        }
        let is_new = |entry: &&Entry| {
            let before = self.0.insert(entry.path(), (entry.identity, None));
            match before.filter(|(identity, _)| *identity == entry.identity) {
                Some(known) => {
                    self.0.insert(entry.path(), known);
                    false
                }
                None => true,
            }
        };
        entries.filter(is_new).cloned().collect()
    }

    pub(crate) fn set(&mut self, entry: &Entry, found: T) {
        self.0.insert(entry.path(), (entry.identity, Some(found)));
    }

    pub(crate) fn get(&self, entry: &Entry) -> Option<&T> {
        let (identity, found) = self.0.get(&entry.path())?;
        found.as_ref().filter(|_| *identity == entry.identity)
    }
}

/// The details read so far.
#[derive(Debug, Default)]
pub struct Details {
    pub(crate) peeks: Known<Peek>,
    pub(crate) got: Known<ModelGot>,
    /// The calls that the outputs are of.
    pub(crate) calls: Known<FoundCall>,
    /// The entries for which a worker was last asked what the model got.
    weighed: Vec<(PathBuf, Identity)>,
}

impl Details {
    /// Returns those of `entries` of which it is not known what the model got; none if a worker is finding out for all
    /// of them.
    pub fn unweighed<'a>(&mut self, entries: impl Iterator<Item = &'a Entry>) -> Vec<Entry> {
        if self.got.0.len() > MOST {
            self.got.0.clear();
        }
        let wanted: Vec<Entry> = entries.filter(|entry| self.got.get(entry).is_none()).cloned().collect();
        let named: Vec<_> = wanted.iter().map(|entry| (entry.path(), entry.identity)).collect();
        if named.iter().all(|entry| self.weighed.contains(entry)) {
            return Vec::new();
        }
        self.weighed = named;
        wanted
    }
}
