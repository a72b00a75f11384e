//! What is read of stored outputs beyond what their directories tell: first lines, commands, lines counted.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::capture::Record;
use crate::source::Identity;
use crate::store::{Entry, Env, first_line};
use crate::text::label::SafeText;

/// Beyond so many, what has been read is forgotten and read again where it is shown.
const MOST: usize = 20_000;

/// What a glance at an entry's file, and at the record of its run, tells.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peek {
    /// The file's first line.
    pub first_line: SafeText,
    /// The command whose output it is; empty where none is recorded.
    pub command: SafeText,
    /// The tool that was recorded.
    pub tool: Option<Arc<str>>,
}

/// Reads an entry's first line and the record of its run.
pub fn peek(entry: &Entry, env: &Env) -> Peek {
    let line = first_line(entry).unwrap_or_default();
    let run = record(entry, env);
    Peek {
        first_line: SafeText::from_bytes(line.trim_ascii()),
        command: run.as_ref().map_or_else(SafeText::default, |run| SafeText::new(run.command.join(" "))),
        tool: run.and_then(|run| run.tool).map(Arc::from),
    }
}

/// Names may be the same in several places: the record tells the path.
fn record(entry: &Entry, env: &Env) -> Option<Record> {
    Record::read(env, entry.name().to_str()?).filter(|run| entry.path() == Path::new(&run.path))
}

/// How far the lines of an entry are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lines {
    /// A worker is at it.
    Counting,
    /// So many, counted as `less` does.
    Counted(u64),
    /// They cannot be, for this reason.
    Failed(String),
}

/// What has been read so far. What was read of a file that has changed since does not count.
#[derive(Debug, Default)]
pub struct Details {
    peeks: HashMap<PathBuf, (Identity, Option<Peek>)>,
    lines: HashMap<PathBuf, (Identity, Lines)>,
}

impl Details {
    /// Those of some entries that have not been read; they are taken to be asked for now.
    pub fn unread<'a>(&mut self, entries: impl Iterator<Item = &'a Entry>) -> Vec<Entry> {
        if self.peeks.len() > MOST {
            self.peeks.clear();
        }
        let mut wanted = Vec::new();
        for entry in entries {
            let asked =
                self.peeks.get(&entry.path()).is_some_and(|(identity, _)| *identity == entry.identity);
            if !asked {
                self.peeks.insert(entry.path(), (entry.identity, None));
                wanted.push(entry.clone());
            }
        }
        wanted
    }

    /// An entry has been read.
    pub fn read(&mut self, entry: &Entry, peek: Peek) {
        self.peeks.insert(entry.path(), (entry.identity, Some(peek)));
    }

    /// What was read of an entry.
    pub fn peek(&self, entry: &Entry) -> Option<&Peek> {
        let (identity, peek) = self.peeks.get(&entry.path())?;
        peek.as_ref().filter(|_| *identity == entry.identity)
    }

    /// Those of some entries whose lines are not counted; they are taken to be asked for now.
    pub fn uncounted(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        let uncounted =
            |entry: &Entry| !matches!(self.lines(entry), Some(Lines::Counting | Lines::Counted(_)));
        let wanted: Vec<Entry> = entries.into_iter().filter(uncounted).collect();
        self.lines.extend(wanted.iter().map(|entry| (entry.path(), (entry.identity, Lines::Counting))));
        wanted
    }

    /// The lines of an entry have been counted, or cannot be.
    pub fn counted(&mut self, entry: &Entry, lines: Lines) {
        self.lines.insert(entry.path(), (entry.identity, lines));
    }

    /// How far an entry's lines are counted; nothing if nobody has asked.
    pub fn lines(&self, entry: &Entry) -> Option<&Lines> {
        let (identity, lines) = self.lines.get(&entry.path())?;
        (*identity == entry.identity).then_some(lines)
    }
}
