//! The rows of the list of sessions, and how workers report them. All texts are safe to show.

use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;

use crate::session::list::LIVE;
use crate::session::reader::SessionFile;
use crate::session::tally::CallSums;
use crate::text::label::SafeText;
use crate::tui::calls::lost::LostInCall;
use crate::tui::event::ScreenEvent;
use crate::tui::list::column::SlowFigure;

/// What the ends of a session's file say about it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionWords {
    /// The agent's version.
    pub version: SafeText,
    /// The project's directory.
    pub project: SafeText,
    /// The title, or the first words of the user.
    pub title: SafeText,
    /// Whether other users of the machine can read the file.
    pub is_open_to_others: bool,
}

#[derive(Debug, Clone)]
pub struct SessionRow {
    pub file: Arc<SessionFile>,
    pub agent: &'static str,
    /// What the ends of its file say; `None` until they are read.
    pub words: Option<SessionWords>,
    /// The sums over its calls, without those that were copied from a session before it.
    pub sums: SlowFigure<CallSums>,
    /// The errors in the outputs that were cut, as far as those are there.
    pub lost: SlowFigure<LostInCall>,
    /// When the first of its spills is deleted, by the rules of their stores.
    pub expires: SlowFigure<Timestamp>,
    /// The sessions from which it may have copied calls.
    pub earlier: Arc<[Arc<SessionFile>]>,
}

impl SessionRow {
    /// Returns when the session was last changed.
    pub fn changed(&self) -> Option<Timestamp> {
        self.file.modified.and_then(|time| Timestamp::try_from(time).ok())
    }

    /// Whether the session was changed in the last minute.
    pub fn is_live(&self, now: Timestamp) -> bool {
        let now = SystemTime::from(now);
        let age = self.file.modified.and_then(|time| now.duration_since(time).ok());
        age.is_some_and(|age| age < LIVE)
    }
}

/// The sessions that were found.
#[derive(Debug, Clone)]
pub struct FoundSessions {
    /// The number of the job that lists them.
    pub number: u64,
    pub now: Timestamp,
    /// The sessions, the last changed first.
    pub rows: Vec<SessionRow>,
    /// What could not be looked at, in words.
    pub faults: Vec<SafeText>,
}

/// An event for the list of sessions. The first number is that of the job that lists them.
#[derive(Debug)]
pub enum SessionsEvent {
    /// The sessions were found, or have changed since.
    Listed(FoundSessions),
    /// They were looked at again, and have not changed.
    Looked(u64, Timestamp),
    /// What the ends of some files say, by the index of the session.
    Described(u64, Vec<(usize, SessionWords)>),
    /// Which sessions may hold copies of each other's calls: groups of indices, each with the one first that was created
    /// first.
    Related(u64, Vec<Vec<usize>>),
    /// The sums over the calls of a session as its file was; none if it cannot be read.
    Summed(Arc<SessionFile>, Option<CallSums>),
    /// The errors in the outputs of a session that were cut; none if they cannot be counted.
    Lost(Arc<SessionFile>, Option<LostInCall>),
    /// When the first spill of a session is deleted; none if no rule says so.
    Expires(Arc<SessionFile>, Option<Timestamp>),
}

/// A session whose calls are to be counted.
#[derive(Debug, Clone)]
pub struct SessionToSum {
    pub file: Arc<SessionFile>,
    /// The sessions from which it may have copied calls, which count there.
    pub earlier: Arc<[Arc<SessionFile>]>,
}

impl ScreenEvent for SessionsEvent {}
