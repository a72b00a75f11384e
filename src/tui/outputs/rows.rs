//! The rows of the list of stored outputs, and what is found out about each.

use std::sync::Arc;

use crate::session::citing::CitingCall;
use crate::store::{Entry, EntryStatus, Env, Record, first_line};
use crate::text::ansi;
use crate::text::label::{SafeText, shell};
use crate::tui::list::column::SlowFigure;

use super::got::ModelShare;

/// A stored output.
#[derive(Debug, Clone)]
pub struct OutputRow {
    pub entry: Entry,
    /// Whether it is kept forever: itself in overspill's own store, an agent's as a copy there.
    pub is_kept: bool,
    /// What was found out about it; `None` if nothing yet.
    pub facts: Option<Arc<OutputFacts>>,
}

/// What a scan does not tell of an output.
#[derive(Debug, Clone, Default)]
pub struct OutputFacts {
    pub peek: SlowFigure<Peek>,
    pub share: SlowFigure<ModelShare>,
    /// The call that it is of; not to be had if no session near it in time names it.
    pub call: SlowFigure<CitingCall>,
}

/// What was read from an output's file and from the record of its run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Peek {
    /// The file's first line, as a terminal without colours would leave it.
    pub first_line: SafeText,
    /// The command that printed the output; empty if none is recorded.
    pub command: SafeText,
    /// The same as a shell takes it.
    pub written: Box<str>,
    /// The tool, if one is recorded.
    pub tool: Option<Arc<str>>,
    /// The bytes that the command printed, if it is recorded that only the first of them were saved.
    pub printed: Option<u64>,
}

impl OutputRow {
    pub(crate) fn peek(&self) -> Option<&Peek> {
        self.facts.as_ref()?.peek.value.as_ref()
    }

    pub(crate) fn share(&self) -> Option<&ModelShare> {
        self.facts.as_ref()?.share.value.as_ref()
    }

    pub(crate) fn call(&self) -> Option<&CitingCall> {
        self.facts.as_ref()?.call.value.as_ref()
    }

    /// Returns the tool named by the path, or else the one recorded.
    pub(crate) fn tool(&self) -> Option<&str> {
        self.entry.tool().or_else(|| self.peek()?.tool.as_deref())
    }

    /// Returns the command that printed the output, in one line; empty if none is known.
    pub(crate) fn command(&self) -> SafeText {
        match self.peek() {
            Some(peek) if !peek.command.is_empty() => peek.command.clone(),
            _ => self
                .call()
                .map(|call| call.command.lines().next().unwrap_or_default().into())
                .unwrap_or_default(),
        }
    }

    /// Returns that command as it was written; `None` if none is known.
    pub(crate) fn written_command(&self) -> Option<&str> {
        match self.peek() {
            Some(peek) if !peek.written.is_empty() => Some(&peek.written),
            _ => self.call().map(|call| &*call.command),
        }
    }

    /// Whether an agent stored it, or the original of which it is a kept copy.
    pub(crate) fn is_of_agent(&self) -> bool {
        !self.entry.is_own() || self.entry.copy().is_some()
    }

    /// Whether its file can be opened to see what the model got.
    pub(crate) fn can_be_read(&self) -> bool {
        use EntryStatus::{FutureTime, HardLinked, Ok, Unfinished};
        matches!(self.entry.status, Ok | Unfinished | HardLinked | FutureTime)
    }
}

/// Reads an entry's first line and the record of its run.
pub fn peek(entry: &Entry, env: &Env) -> Peek {
    let line = first_line(entry).unwrap_or_default();
    let run = entry.is_own().then(|| Record::of_run(env, &entry.path())).flatten();
    let original = || entry.copy().map(|copy| copy.command.clone()).unwrap_or_default();
    Peek {
        first_line: SafeText::from_bytes(&ansi::printed(&line)),
        written: run.as_ref().map_or_else(original, |run| shell_words(&run.command)).into(),
        command: SafeText::new(run.as_ref().map_or_else(original, |run| run.command.join(" "))),
        printed: run.as_ref().filter(|run| run.kept.bytes < run.seen.bytes).map(|run| run.seen.bytes),
        tool: run.and_then(|run| run.tool).map(Arc::from),
    }
}

/// Returns the arguments of a command as a shell takes them.
fn shell_words(command: &[String]) -> String {
    command.iter().map(|argument| shell::word(argument.as_bytes())).collect::<Vec<_>>().join(" ")
}
