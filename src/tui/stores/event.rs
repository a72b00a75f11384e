//! Events of the list of stored outputs.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::store::{Entry, RootReport, Space, StoreSpec};
use crate::tui::event::{Message, ScreenEvent, Urgency};

use super::details::{FoundCall, Peek};
use super::got::Glance;
use super::got::ModelGot;
use super::sort::SortedEntries;
use super::texts::BatchText;

/// An event for the list of stored outputs.
pub enum StoresEvent {
    /// The directories of the stores have changed.
    Changed,
    /// A deletion is done; the message reports which entries were deleted and which were not.
    Deleted(Message),
    /// A scan of the stores reports entries.
    Scanned(Scanned),
    /// Entries have been sorted.
    Sorted(Box<SortedEntries>),
    /// The first lines of entries, and the records of their runs, have been read.
    Peeked(Vec<(Entry, Peek)>),
    /// What the filter searches of a batch of entries has been read.
    TextRead { number: u64, batch: usize, text: BatchText },
    /// A worker found out how much of an entry the model got.
    Weighed(Box<Entry>, ModelGot),
    /// A worker looked for the call that an output is of.
    Cited(Box<Entry>, FoundCall),
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
    /// The selected entry has been opened, and its preview made, to be shown beside the list.
    Glanced(Box<Glance>),
}

impl ScreenEvent for StoresEvent {
    fn urgency(&self) -> Urgency {
        match self {
            StoresEvent::Scanned(_) | StoresEvent::Peeked(_) | StoresEvent::Copied(_) => Urgency::Progress,
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
    /// Ids of the entries in overspill's own store that are kept forever.
    pub kept: BTreeSet<String>,
    /// The space on the disk of overspill's own store.
    pub space: Option<Space>,
}
