//! What the worker that holds a session reports to the list of its calls.

use jiff::Timestamp;

use crate::session::verify::Verdict;
use crate::text::label::SafeText;
use crate::tui::event::ScreenEvent;
use crate::tui::pager::json::JsonLine;
use crate::tui::recorded::ReadyCall;

use super::lost::LostInCall;
use super::rows::{CallRow, CallSizes};

/// A session that was opened.
#[derive(Debug)]
pub struct OpenedCalls {
    /// Its calls, in the order of the records.
    pub rows: Vec<CallRow>,
    /// When they were read.
    pub now: Timestamp,
    /// The agent, with its version.
    pub agent: SafeText,
    /// The session's title; empty if it has none.
    pub title: SafeText,
    /// What of the records was not understood, in words; empty if nothing.
    pub unread: SafeText,
    /// Whether nothing in the records was understood.
    pub is_format_unknown: bool,
}

/// An event for the list of calls.
#[derive(Debug)]
pub enum CallsEvent {
    /// How far the reading of a session is, in percent.
    Reading(u64),
    /// A session was opened, or has grown.
    Opened(Box<OpenedCalls>),
    /// A session cannot be read.
    Failed(SafeText),
    /// The sizes of some calls are known.
    Sized(Vec<(usize, CallSizes)>),
    /// The errors of a call's output were counted; none if the output is not at hand.
    Lost(usize, Option<LostInCall>),
    /// How many other sessions have some of the calls, by the index of the call.
    Copied(Vec<(usize, u64)>),
    /// A call was compared with what the policies make.
    Verified(usize, Verdict),
    /// A call is ready to be shown.
    Ready(Box<ReadyCall>),
    /// A text of a call has been read.
    Text(Result<Box<JsonLine>, String>),
}

impl ScreenEvent for CallsEvent {}
