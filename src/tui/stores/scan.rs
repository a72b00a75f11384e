//! The results of a scan of the stores, as they arrive.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::store::{Entry, RootReport, Space, StoreSpec};

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
