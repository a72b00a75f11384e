//! What the screens of sessions ask of workers, and what those answer.

use std::sync::Arc;

use jiff::Timestamp;

use crate::session::reader::SessionFile;
use crate::session::tally::CallSums;
use crate::session::verify::Verdict;
use crate::text::label::SafeText;
use crate::tui::event::ScreenEvent;
use crate::tui::pager::json::JsonLine;
use crate::tui::recorded::ReadyCall;

use super::rows::{CallRow, CallSizes, SessionRow, SessionWords};

/// A session that was opened.
#[derive(Debug)]
pub struct OpenedCalls {
    /// Its calls, in the order of the records.
    pub rows: Vec<CallRow>,
    /// The agent, with its version.
    pub agent: SafeText,
    /// The session's title; empty if it has none.
    pub title: SafeText,
    /// What of the records was not understood, in words; empty if nothing.
    pub unread: SafeText,
    /// Whether nothing in the records was understood.
    pub is_format_unknown: bool,
}

/// The sessions that were found.
#[derive(Debug, Clone)]
pub struct FoundSessions {
    /// The number of the listing.
    pub number: u64,
    /// When they were found.
    pub now: Timestamp,
    /// The sessions, the last changed first.
    pub rows: Vec<SessionRow>,
    /// What could not be looked at, in words.
    pub faults: Vec<SafeText>,
}

/// An event for the screens of sessions.
#[derive(Debug)]
pub enum SessionsEvent {
    /// The sessions were found.
    Listed(FoundSessions),
    /// What the ends of some files say, by the index of the session in the listing of this number.
    Described(u64, Vec<(usize, SessionWords)>),
    /// Which sessions of the listing of this number may hold copies of each other's calls: groups of indices, each with the
    /// one first that was created first.
    Related(u64, Vec<Vec<usize>>),
    /// The sums over the calls of one session; none if it cannot be read.
    Summed(u64, usize, Option<CallSums>),
    /// How far the reading of a session is, in percent.
    Reading(u64),
    /// A session was opened, or has grown.
    Opened(Box<OpenedCalls>),
    /// A session cannot be read.
    Failed(SafeText),
    /// The sizes of some calls are known.
    Sized(Vec<(usize, CallSizes)>),
    /// How many other sessions have some of the calls, by the index of the call.
    Copied(Vec<(usize, u64)>),
    /// A call was compared with what the policies make.
    Verified(usize, Verdict),
    /// A call is ready to be shown.
    Ready(Box<ReadyCall>),
    /// A text of a call has been read.
    Text(Result<Box<JsonLine>, String>),
}

/// A session whose calls are to be counted.
#[derive(Debug, Clone)]
pub struct SessionToSum {
    /// Its index in the listing.
    pub index: usize,
    /// Where it is.
    pub file: Arc<SessionFile>,
    /// The sessions from which it may have copied calls, which count there.
    pub earlier: Arc<[Arc<SessionFile>]>,
}

impl ScreenEvent for SessionsEvent {}
