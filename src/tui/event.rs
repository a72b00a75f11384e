//! What happens to the screens, and what is to be done outside of them.

use std::path::PathBuf;

use crossterm::event::KeyEvent;

use crate::source::{MapView, PathStatus};
use crate::store::Marked;
use crate::text::index::BlockCounts;
use crate::text::label::SafeText;
use crate::text::units::{Measure, Want};

use super::pager::advice::{KeepRequest, LimitChange};
use super::pager::making::{Making, Planned};
use super::pager::search::job::{CountJob, Found, SearchJob};
use super::pager::subject::{Choice, Ending, Opened};
use super::pager::window::ThenRead;
use super::stores::details::{Lines, Peek};
use super::stores::glance::Glance;
use super::stores::scan::Scanned;
use super::stores::sort::{SortedEntries, Task};

/// What happens to the screens.
pub enum Event {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The terminal has this many columns and rows.
    Resize(u16, u16),
    /// An output is to be looked at.
    Opened(Box<Opened>),
    /// The list of stored outputs is to be shown.
    ToStores,
    /// The stores' directories have changed.
    StoresChanged,
    /// Entries have been deleted, or not: in words.
    Deleted(Message),
    /// The policies have been read.
    Policies(Vec<Choice>),
    /// Something to tell, from outside.
    Told(Message),
    /// Something happened to the output that is shown.
    Output(OutputEvent),
    /// Something happened to the list of stored outputs.
    Stores(StoresEvent),
}

/// What happens to the output that is shown.
pub enum OutputEvent {
    /// A worker counted a chunk of the file.
    Counted {
        /// Of which content.
        generation: u64,
        /// The count's number; chunks of an older one are dropped.
        number: u64,
        /// Newlines by block.
        counts: BlockCounts,
        /// The other totals of the chunk.
        measure: Measure,
        /// Bytes in the chunk.
        bytes: u64,
    },
    /// A search has something to say.
    Found(Found),
    /// The file is not as it was.
    Changed(Changed),
    /// Notices of the output that is looked at print another path from now on.
    SavedAs(String),
    /// The command has ended whose output is shown first.
    Finished,
    /// The output that is looked at is whole, and ended so.
    Ended(Box<Ending>),
    /// A preview has been made.
    Planned(Box<Planned>),
    /// What it takes to keep a line: the request's number, and the change that keeps the line.
    Advised(u64, Option<LimitChange>),
    /// The policy of the agent's read tool has been read.
    ReadTool(Choice, ThenRead),
}

/// What happens to the list of stored outputs.
pub enum StoresEvent {
    /// Entries of stores have been found.
    Scanned(Scanned),
    /// Entries have been put in order.
    Sorted(Box<SortedEntries>),
    /// First lines of entries, and the records of their runs, have been read.
    Peeked(Vec<(crate::store::Entry, Peek)>),
    /// The lines of an entry have been counted, or cannot be.
    LinesCounted(Box<crate::store::Entry>, Lines),
    /// So many bytes of the entry that is to be kept have been copied.
    Copied(u64),
    /// An entry is kept for ever, or no longer; or that failed.
    Kept {
        /// Its id in overspill's own store.
        id: String,
        /// What was asked.
        keep: bool,
        /// What went wrong.
        fault: Option<String>,
    },
    /// An entry beside the list has been opened, and its preview made.
    Glanced(Box<Glance>),
}

impl From<OutputEvent> for Event {
    fn from(event: OutputEvent) -> Self {
        Event::Output(event)
    }
}

impl From<StoresEvent> for Event {
    fn from(event: StoresEvent) -> Self {
        Event::Stores(event)
    }
}

/// How a file has changed.
pub struct Changed {
    /// The file as it is now.
    pub view: MapView,
    /// What has become of its content.
    pub content: crate::source::Change,
    /// What has become of its name.
    pub path: PathStatus,
    /// Whether more may come: a stream that has not ended.
    pub streaming: bool,
}

/// What is to be done outside.
#[derive(Debug)]
pub enum Effect {
    /// Leave.
    Quit,
    /// Count the file from this block on, with these totals.
    Count {
        /// Its number, for the answers.
        number: u64,
        /// Of the whole file: totals beyond line feeds.
        want: Want,
        /// First block to be counted.
        from: usize,
    },
    /// Search; an earlier search is given up.
    Search(SearchJob),
    /// Count all matches; an earlier count is given up.
    CountMatches(CountJob),
    /// Give up searching and counting matches.
    StopSearch,
    /// Make a preview; an earlier one is given up.
    Plan(Box<Making>),
    /// Give up making a preview.
    StopPlan,
    /// Find out what it takes to keep a line; an earlier request is dropped.
    Advise(Box<KeepRequest>),
    /// Put text on the terminal's clipboard.
    Copy(String),
    /// Open the file in an editor, at a line.
    Edit(u64),
    /// Open a file.
    Open(PathBuf),
    /// Open the file that is shown again.
    Reopen,
    /// Look at the next of the outputs that were named, or the one before.
    OtherFile {
        /// Which of the two.
        next: bool,
    },
    /// Read all policies.
    Policies,
    /// Read the policy of an agent's read tool.
    ReadTool {
        /// The agent.
        agent: String,
        /// What is then to be done with it.
        then: ThenRead,
    },
    /// Look at all stores; the look has this number.
    Scan(u64),
    /// Put entries in order; an earlier task is given up.
    Sort(Box<Task>),
    /// Look at the preview of an entry.
    Glance(PathBuf),
    /// Delete these.
    Delete(Vec<Marked>),
    /// Keep an entry for ever, or no longer.
    Keep {
        /// Which.
        entry: crate::store::Entry,
        /// Whether it is to be kept.
        keep: bool,
    },
    /// Give up copying an entry to keep it.
    StopKeeping,
    /// Read the first lines of these entries, and the records of their runs.
    Peek(Vec<crate::store::Entry>),
    /// Count the lines of these entries.
    CountLines(Vec<crate::store::Entry>),
    /// Stop, as other programs do on this key.
    Suspend,
}

/// What is to be done outside, in order.
#[derive(Debug, Default)]
pub struct Effects(Vec<Effect>);

impl Effects {
    /// Asks for one thing more.
    pub fn push(&mut self, effect: Effect) {
        self.0.push(effect);
    }

    /// What is asked for so far.
    pub fn iter(&self) -> std::slice::Iter<'_, Effect> {
        self.0.iter()
    }
}

impl IntoIterator for Effects {
    type Item = Effect;
    type IntoIter = std::vec::IntoIter<Effect>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Something to tell on the status line until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// In one line.
    pub text: SafeText,
    /// Whether something went wrong.
    pub is_error: bool,
}

/// Bytes that a typed line may have: much more than anyone types, and soon edited.
pub(crate) const MOST_TYPED: usize = 4096;

impl Message {
    /// A plain word.
    pub fn note(text: impl Into<SafeText>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    /// Something went wrong.
    pub fn error(text: impl Into<SafeText>) -> Self {
        Self { text: text.into(), is_error: true }
    }

    /// A typed line takes no more.
    pub(crate) fn full_line() -> Self {
        Self::error(format!("a line takes {MOST_TYPED} bytes at most: the rest is left out"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raw_name_in_a_message_is_safe() {
        for message in [Message::note("a\u{1b}]0;x\u{7}\n"), Message::error("a\u{1b}]0;x\u{7}\n".to_owned())]
        {
            assert_eq!(&*message.text, "a^[]0;x^G^J");
        }
    }
}
