//! What a scan of the stores has found so far.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use crate::store::{Entry, RootReport, Space, StoreSpec};

/// What a look at the stores has found so far.
pub enum Scanned {
    /// A look begins.
    Begun {
        /// Its number.
        number: u64,
        /// When that is.
        now: Timestamp,
        /// The user who looks.
        user: u32,
    },
    /// Some entries, of a look that began with this number.
    Some(u64, Vec<Entry>),
    /// All there are.
    All(Box<ScanEnd>),
}

/// The end of a look at the stores.
pub struct ScanEnd {
    /// The number with which it began.
    pub number: u64,
    /// What became of each store's roots.
    pub reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
    /// Ids of overspill's own store that are kept for ever.
    pub kept: BTreeSet<String>,
    /// Room on the disk of overspill's own store.
    pub space: Option<Space>,
}
