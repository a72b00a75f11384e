//! Details about stored outputs that a scan does not give: first lines, commands and line counts.

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
        first_line: SafeText::from_bytes(&as_printed(&line)),
        command: run.as_ref().map_or_else(SafeText::default, |run| SafeText::new(run.command.join(" "))),
        printed: run.as_ref().filter(|run| run.kept.bytes < run.seen.bytes).map(|run| run.seen.bytes),
        tool: run.and_then(|run| run.tool).map(Arc::from),
    }
}

/// Returns what a terminal would leave of a line: no escape sequences, the last state of a line of progress, and spaces
/// for tabs.
fn as_printed(line: &[u8]) -> Vec<u8> {
    let line = ansi::stripped(line);
    let states = line.split(|byte| *byte == b'\r').map(<[u8]>::trim_ascii);
    let last = states.rev().find(|state| !state.is_empty()).unwrap_or_default();
    last.iter().map(|byte| if *byte == b'\t' { b' ' } else { *byte }).collect()
}

/// Returns the record of an entry's run. Different places may use the same name, so the path in the record must match
/// too.
fn record(entry: &Entry, env: &Env) -> Option<Record> {
    Record::read(env, entry.name().to_str()?).filter(|run| entry.path() == Path::new(&run.path))
}

/// The state of counting an entry's lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lines {
    /// A worker is counting.
    Counting,
    /// The number of lines, counted as `less` does.
    Counted(u64),
    /// Counting failed, for this reason.
    Failed(String),
}

/// What was found of the call that an output is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FoundCall {
    /// This call names it.
    Call(Box<CitingCall>),
    /// No session near it in time names it.
    None,
}

/// The details read so far. Those of a file that has changed since are ignored.
#[derive(Debug, Default)]
pub struct Details {
    peeks: HashMap<PathBuf, (Identity, Option<Peek>)>,
    lines: HashMap<PathBuf, (Identity, Lines)>,
    got: HashMap<PathBuf, (Identity, ModelGot)>,
    /// The calls that the outputs are of: `None` until looked for, then none if no session near in time names it.
    calls: HashMap<PathBuf, (Identity, Option<FoundCall>)>,
    /// The entries for which a worker was last asked what the model got.
    weighed: Vec<(PathBuf, Identity)>,
}

impl Details {
    /// Returns those of `entries` that have not been read, and marks them as requested.
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

    /// Returns those of `entries` whose calls have not been looked for, and marks them as requested.
    pub(crate) fn uncited<'a>(&mut self, entries: impl Iterator<Item = &'a Entry>) -> Vec<Entry> {
        if self.calls.len() > MOST {
            self.calls.clear();
        }
        let mut wanted = Vec::new();
        for entry in entries {
            let known =
                self.calls.get(&entry.path()).is_some_and(|(identity, _)| *identity == entry.identity);
            if !known {
                self.calls.insert(entry.path(), (entry.identity, None));
                wanted.push(entry.clone());
            }
        }
        wanted
    }

    /// Stores the call that an output is of.
    pub(crate) fn cited(&mut self, entry: &Entry, call: FoundCall) {
        self.calls.insert(entry.path(), (entry.identity, Some(call)));
    }

    /// Returns the call that an output is of, as far as it has been looked for.
    pub(crate) fn call(&self, entry: &Entry) -> Option<&FoundCall> {
        let (identity, call) = self.calls.get(&entry.path())?;
        call.as_ref().filter(|_| *identity == entry.identity)
    }

    /// Stores what was read from an entry.
    pub fn read(&mut self, entry: &Entry, peek: Peek) {
        self.peeks.insert(entry.path(), (entry.identity, Some(peek)));
    }

    /// Returns what was read from an entry.
    pub fn peek(&self, entry: &Entry) -> Option<&Peek> {
        let (identity, peek) = self.peeks.get(&entry.path())?;
        peek.as_ref().filter(|_| *identity == entry.identity)
    }

    /// Returns those of `entries` of which it is not known what the model got; none if a worker is finding out for all
    /// of them.
    pub fn unweighed<'a>(&mut self, entries: impl Iterator<Item = &'a Entry>) -> Vec<Entry> {
        if self.got.len() > MOST {
            self.got.clear();
        }
        let wanted: Vec<Entry> = entries.filter(|entry| self.got(entry).is_none()).cloned().collect();
        let named: Vec<_> = wanted.iter().map(|entry| (entry.path(), entry.identity)).collect();
        if named.iter().all(|entry| self.weighed.contains(entry)) {
            return Vec::new();
        }
        self.weighed = named;
        wanted
    }

    /// Stores how much of an entry the model got.
    pub fn weighed(&mut self, entry: &Entry, got: ModelGot) {
        self.got.insert(entry.path(), (entry.identity, got));
    }

    /// Returns how much of an entry the model got, once it is known.
    pub fn got(&self, entry: &Entry) -> Option<ModelGot> {
        let (identity, got) = self.got.get(&entry.path())?;
        (*identity == entry.identity).then_some(*got)
    }

    /// Returns those of `entries` whose lines have not been counted, and marks them as requested.
    pub fn uncounted(&mut self, entries: Vec<Entry>) -> Vec<Entry> {
        let uncounted =
            |entry: &Entry| !matches!(self.lines(entry), Some(Lines::Counting | Lines::Counted(_)));
        let wanted: Vec<Entry> = entries.into_iter().filter(uncounted).collect();
        self.lines.extend(wanted.iter().map(|entry| (entry.path(), (entry.identity, Lines::Counting))));
        wanted
    }

    /// Stores the line count of an entry, or why counting failed.
    pub fn counted(&mut self, entry: &Entry, lines: Lines) {
        self.lines.insert(entry.path(), (entry.identity, lines));
    }

    /// Returns the state of counting an entry's lines; `None` if it was never requested.
    pub fn lines(&self, entry: &Entry) -> Option<&Lines> {
        let (identity, lines) = self.lines.get(&entry.path())?;
        (*identity == entry.identity).then_some(lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_shown_as_a_terminal_leaves_it() {
        let table: [(&[u8], &[u8]); 6] = [
            (b"  plain ", b"plain"),
            (b"\x1b[1mbold\x1b[0m \x1b]0;title\x07end", b"bold end"),
            (b"10%\r50%\r100%\r", b"100%"),
            (b"a\tb", b"a b"),
            (b"\x1b", b"\x1b"),
            (b"\r\r", b""),
        ];
        for (line, printed) in table {
            assert_eq!(as_printed(line).escape_ascii().to_string(), printed.escape_ascii().to_string());
        }
    }
}
