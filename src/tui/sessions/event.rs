//! What workers report to the list of sessions, and what they are given to count.

use std::sync::Arc;

use jiff::Timestamp;

use crate::session::reader::SessionFile;
use crate::session::tally::CallSums;
use crate::text::label::SafeText;
use crate::tui::calls::lost::LostInCall;
use crate::tui::event::ScreenEvent;

use super::rows::{SessionRow, SessionWords};

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

/// An event for the list of sessions. The first number is that of the listing.
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
    /// The sums over the calls of one session; none if it cannot be read.
    Summed(u64, usize, Option<CallSums>),
    /// The errors in the outputs of one session that were cut; none if they cannot be counted.
    Lost(u64, usize, Option<LostInCall>),
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
