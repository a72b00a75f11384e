//! Events that change the state of the screens, and effects that the screens request from the event loop.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use crossterm::event::KeyEvent;

use crate::corpus::{FindEnd, FoundLine, TuneRun, WatchNews};
use crate::session::reader::SessionFile;
use crate::session::verify::Verdict;
use crate::source::{MapView, PathStatus};
use crate::store::Marked;
use crate::text::index::BlockCounts;
use crate::text::label::SafeText;
use crate::text::search::Pattern;
use crate::text::units::Measure;

use super::pager::advice::{KeepRequest, LimitChange};
use super::pager::comparing::job::{CompareJob, Compared};
use super::pager::counted::Uncounted;
use super::pager::filter::job::{SiftJob, Sifted};
use super::pager::making::{Making, Planned};
use super::pager::pair::task::{PairPlanned, PairTask};
use super::pager::search::job::{CountJob, Found, SearchJob};
use super::pager::subject::{Choice, Ending, Opened, StartAt};
use super::pager::window::ThenRead;
use super::sessions::job::{CallRequest, ReadyCall, SessionsEvent, SumTask};
use super::stores::details::{FoundCall, Lines, Peek};
use super::stores::glance::Glance;
use super::stores::got::ModelGot;
use super::stores::reading::TextTask;
use super::stores::scan::Scanned;
use super::stores::sort::{SortedEntries, Task};
use super::stores::texts::BatchText;
use super::tune::job::{TuneEvent, TuneJob};

/// An event for the screens.
pub enum Event {
    /// A key was pressed.
    Key(KeyEvent),
    /// Text was pasted.
    Paste(String),
    /// The terminal was resized to this many columns and rows.
    Resize(u16, u16),
    /// An output was opened, to be shown.
    Opened(Box<Opened>),
    /// The list of stored outputs is to be shown.
    ToStores,
    /// The list of new outputs is to be shown.
    ToWatch,
    /// News of the stores that are watched.
    Watch(WatchNews),
    /// The directories of the stores have changed.
    StoresChanged,
    /// A deletion is done; the message reports which entries were deleted and which were not.
    Deleted(Message),
    /// The policies have been loaded.
    Policies(Vec<Choice>),
    /// A message from outside the screens.
    Told(Message),
    /// An event for the output being viewed.
    Output(OutputEvent),
    /// An event for the output that is still being made, viewed or not.
    Live(OutputEvent),
    /// An event for the list of stored outputs.
    Stores(StoresEvent),
    /// An event for the screens of sessions.
    Sessions(SessionsEvent),
    /// An event for the Tune view.
    Tune(TuneEvent),
}

/// An event for the output being viewed.
pub enum OutputEvent {
    /// A worker counted a chunk of the file.
    Counted {
        /// The generation of the file's content that was counted.
        generation: u64,
        /// The number of the count; chunks of an older count are dropped.
        number: u64,
        /// Line feeds by block.
        counts: BlockCounts,
        /// The other totals of the chunk.
        measure: Measure,
        /// The bytes whose totals those are; none if only line feeds were counted.
        measured: Range<u64>,
    },
    /// A search reports a result.
    Found(Found),
    /// A worker counted blocks of lines for the filter.
    Sifted(Sifted),
    /// The file has changed.
    Changed(Changed),
    /// The notices of this output print another path from now on.
    SavedAs(String),
    /// The command whose output is shown first has ended.
    Finished,
    /// The output is complete; this is how it ended.
    Ended(Box<Ending>),
    /// A preview has been made.
    Planned(Box<Planned>),
    /// The previews of two policies have been made.
    PairPlanned(Box<PairPlanned>),
    /// A worker compared policies.
    Compared(Compared),
    /// The answer to what keeps a line: the request's number, and the change of limits that keeps the line.
    Advised(u64, Option<LimitChange>),
    /// A recorded result has been compared with what the policies make.
    Checked(Box<Verdict>),
    /// The output is to be shown from this place on.
    StartAt(StartAt),
    /// The policy of the agent's read tool has been loaded.
    ReadTool(Choice, ThenRead),
}

/// An event for the list of stored outputs.
pub enum StoresEvent {
    /// A scan of the stores reports entries.
    Scanned(Scanned),
    /// Entries have been sorted.
    Sorted(Box<SortedEntries>),
    /// The first lines of entries, and the records of their runs, have been read.
    Peeked(Vec<(crate::store::Entry, Peek)>),
    /// What the filter searches of a batch of entries has been read.
    TextRead { number: u64, batch: usize, text: BatchText },
    /// A worker found out how much of an entry the model got.
    Weighed(Box<crate::store::Entry>, ModelGot),
    /// A worker looked for the call that an output is of.
    Cited(Box<crate::store::Entry>, FoundCall),
    /// The lines of an entry have been counted, or counting failed.
    LinesCounted(Box<crate::store::Entry>, Lines),
    /// This many bytes of the entry being kept have been copied so far.
    Copied(u64),
    /// Keeping an entry forever, or no longer keeping it, has succeeded or failed.
    Kept {
        /// The entry's id in overspill's own store.
        id: String,
        /// The request: true to keep, false to stop keeping.
        keep: bool,
        /// The error, if it failed.
        fault: Option<String>,
    },
    /// A search through all outputs of this number found lines.
    Hits(u64, Vec<FoundLine>),
    /// The search of this number has ended.
    HitsEnd(u64, FindEnd),
    /// The selected entry has been opened, and its preview made, to be shown beside the list.
    Glanced(Box<Glance>),
}

impl From<OutputEvent> for Event {
    fn from(event: OutputEvent) -> Self {
        Event::Output(event)
    }
}

impl From<SessionsEvent> for Event {
    fn from(event: SessionsEvent) -> Self {
        Event::Sessions(event)
    }
}

impl From<WatchNews> for Event {
    fn from(news: WatchNews) -> Self {
        Event::Watch(news)
    }
}

impl From<TuneEvent> for Event {
    fn from(event: TuneEvent) -> Self {
        Event::Tune(event)
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
    /// What happened to its content.
    pub content: crate::source::Change,
    /// What happened to its name.
    pub path: PathStatus,
    /// Whether more may arrive: true for a stream that has not ended.
    pub streaming: bool,
}

/// Something that the event loop does for the screens.
#[derive(Debug)]
pub enum Effect {
    /// Leaves the screens, then deletes these entries. Nothing else that is marked is deleted.
    Quit(Vec<Marked>),
    /// Stops the command whose output is shown first, as Ctrl-C does.
    StopCommand,
    /// Counts the file's lines and totals from a block on.
    Count {
        /// The number of the count, repeated in the answers.
        number: u64,
        /// Where to begin.
        from: Uncounted,
    },
    /// Searches; an earlier search is abandoned.
    Search(Box<SearchJob>),
    /// Counts all matches; an earlier count is abandoned.
    CountMatches(CountJob),
    /// Abandons searching and counting matches.
    StopSearch,
    /// Counts the lines that the filter shows; an earlier count is abandoned.
    Sift(SiftJob),
    /// Abandons counting the lines that the filter shows.
    StopSift,
    /// Makes a preview; an earlier one is abandoned.
    Plan(Box<Making>),
    /// Abandons the preview being made.
    StopPlan,
    /// Makes the previews of two policies; earlier ones are abandoned.
    PlanPair(Box<PairTask>),
    /// Plans the output under several policies; an earlier job is abandoned.
    Compare(Box<CompareJob>),
    /// Abandons comparing policies.
    StopComparing,
    /// Finds the change of limits that keeps a line; an earlier request is dropped.
    Advise(Box<KeepRequest>),
    /// Puts text on the clipboard of the terminal.
    Copy(String),
    /// Opens the file in an editor, at this line.
    Edit(u64),
    Open(PathBuf),
    /// Opens the file being viewed again.
    Reopen,
    /// Switches to the next or previous of the outputs named on the command line.
    OtherFile {
        /// True for the next, false for the previous.
        next: bool,
    },
    Policies,
    /// Loads the policy of an agent's read tool.
    ReadTool {
        /// The agent's name.
        agent: String,
        /// What to do once it is loaded.
        then: ThenRead,
    },
    /// Scans all stores; the scan has this number.
    Scan(u64),
    /// Sorts entries; an earlier task is abandoned.
    Sort(Box<Task>),
    /// Makes the preview of an entry, to be shown beside the list.
    Glance(PathBuf),
    /// Searches all stored outputs; an earlier search is abandoned. The search has this number.
    Grep(u64, Box<Pattern>),
    /// Abandons the search through all outputs.
    StopGrep,
    /// Deletes these entries.
    Delete(Vec<Marked>),
    /// Keeps an entry forever, or no longer.
    Keep {
        entry: Box<crate::store::Entry>,
        /// True to keep, false to stop keeping.
        keep: bool,
    },
    /// Abandons copying an entry to keep it.
    StopKeeping,
    /// Reads the first lines of these entries, and the records of their runs.
    Peek(Vec<crate::store::Entry>),
    /// Reads what the filter searches of all entries; an earlier task is abandoned.
    ReadTexts(Box<TextTask>),
    /// Finds out how much of each of these entries the model got; an earlier request is abandoned.
    Weigh(Vec<crate::store::Entry>),
    /// Looks for the calls that these entries are of.
    FindCalls(Vec<crate::store::Entry>),
    /// Counts the lines of these entries.
    CountLines(Vec<crate::store::Entry>),
    /// Finds the sessions that agents recorded; the listing has this number.
    ListSessions(u64),
    /// Sums up the calls of sessions; an earlier request is abandoned.
    SumSessions(SumTask),
    /// Abandons finding sessions and summing up their calls.
    StopSessions,
    /// Opens a session and follows it; an earlier one is closed.
    OpenSession(Arc<SessionFile>),
    /// Closes the open session.
    CloseSession,
    /// Asks the worker that holds the open session.
    AskSession(CallRequest),
    /// Opens the call on the screen again, with its spill wherever the records claim it to be.
    OpenClaim,
    /// Opens a call of the session.
    OpenCall(Box<ReadyCall>),
    /// Measures outputs under many settings; an earlier job is abandoned.
    Tune(Box<TuneJob>),
    /// Abandons measuring; what has been found out stays.
    StopTune,
    /// Lets go of what has been measured.
    LetGo(Vec<Arc<TuneRun>>),
    /// Puts the outputs in order that a setting cuts otherwise: the number of the job, its run, and the setting.
    ListChanged(u64, Arc<TuneRun>, usize),
    /// Suspends overspill, as Ctrl-Z does in other programs.
    Suspend,
}

/// A queue of effects, in the order in which they are carried out.
#[derive(Debug, Default)]
pub struct Effects(Vec<Effect>);

impl Effects {
    pub fn push(&mut self, effect: Effect) {
        self.0.push(effect);
    }

    /// Iterates over the effects requested so far.
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

/// A message, shown on the status line until the next key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The text, on one line.
    pub text: SafeText,
    /// Whether it reports an error.
    pub is_error: bool,
}

/// The longest line that can be typed, in bytes: far more than anyone types, and quick to edit.
pub(crate) const MOST_TYPED: usize = 4096;

impl Message {
    /// Creates an informational message.
    pub fn note(text: impl Into<SafeText>) -> Self {
        Self { text: text.into(), is_error: false }
    }

    /// Creates an error message.
    pub fn error(text: impl Into<SafeText>) -> Self {
        Self { text: text.into(), is_error: true }
    }

    /// Creates the message that a typed line is full.
    pub(crate) fn full_line() -> Self {
        Self::error(format!("a line holds at most {MOST_TYPED} bytes; the rest is dropped"))
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
