//! Events of the list of stored outputs.

use std::sync::Arc;

use jiff::Timestamp;

use crate::session::citing::CitingCall;
use crate::store::{Entry, Kept, RootReport, StoreSpec};
use crate::tui::event::{Message, ScreenEvent, Urgency};
use crate::tui::list::texts::BatchText;

use super::got::ModelShare;
use super::rows::Peek;

/// An event for the list of stored outputs. An index is that of a row when the event was asked for.
pub enum OutputsEvent {
    /// The directories of the stores have changed.
    Changed,
    /// A deletion is done; the message reports which entries were deleted and which were not.
    Deleted(Message),
    /// A scan of the stores reports entries.
    Scanned(Scanned),
    /// The first lines of entries, and the records of their runs, have been read.
    Peeked(Vec<(usize, Entry, Peek)>),
    /// What the filter searches of a batch of entries has been read.
    TextRead { number: u64, batch: usize, text: BatchText },
    /// It was found out what the model got of an entry; none if that cannot be.
    Measured(usize, Box<Entry>, Option<ModelShare>),
    /// The call that an output is of was looked for.
    Cited(usize, Box<Entry>, Option<Box<CitingCall>>),
    /// This many bytes of the entry being kept have been copied so far.
    Copied(u64),
    /// An entry is kept forever, or why not, in words.
    Kept(Result<String, String>),
}

impl ScreenEvent for OutputsEvent {
    fn urgency(&self) -> Urgency {
        match self {
            OutputsEvent::Scanned(_) | OutputsEvent::Peeked(_) | OutputsEvent::Copied(_) => Urgency::Progress,
            _ => Urgency::Now,
        }
    }
}

/// A result of a scan of the stores.
pub enum Scanned {
    /// A scan has begun.
    Begun {
        /// The number of the scan.
        number: u64,
        /// When the scan began.
        now: Timestamp,
        /// The id of the user running overspill.
        user: u32,
        /// What is kept forever.
        kept: Kept,
    },
    /// Some entries, found by the scan of this number.
    Some(u64, Vec<Entry>),
    /// The scan has finished.
    All(Box<ScanEnd>),
}

/// The end of a scan of the stores.
pub struct ScanEnd {
    /// The number of the scan.
    pub number: u64,
    /// The result for each root of each store.
    pub reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
}
