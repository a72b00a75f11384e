//! What the job of a filter is given, and what it reports.

use std::ops::Range;
use std::sync::Arc;

use crate::source::MapView;
use crate::text::filter::index::BlockLines;
use crate::text::filter::scan::LineScan;
use crate::text::filter::{Condition, Got};

/// A task for a worker: count the lines that meet conditions.
#[derive(Debug, Clone)]
pub struct SiftJob {
    /// The number of the task; replies to older ones are dropped.
    pub number: u64,
    pub view: MapView,
    /// The blocks to count, in this order.
    pub blocks: Vec<Range<usize>>,
    pub(crate) conditions: Arc<[Condition]>,
    pub(crate) got: Arc<[Range<usize>]>,
    pub(crate) block: usize,
}

impl SiftJob {
    /// Returns the scan that the task asks for.
    pub fn scan(&self) -> LineScan<'_> {
        LineScan { conditions: &self.conditions, got: Got(&self.got), block: self.block }
    }
}

/// A worker's reply: the counts of consecutive blocks.
#[derive(Debug, Clone)]
pub struct Sifted {
    /// The number of the task.
    pub number: u64,
    /// The index of the first block, 0-based.
    pub first: usize,
    /// The counts of each block.
    pub lines: Vec<BlockLines>,
}
