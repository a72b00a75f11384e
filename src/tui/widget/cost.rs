//! What drawing a frame costs.

use std::cell::{Cell as Count, RefCell};
use std::collections::BTreeSet;
use std::ops::Range;

use crate::preview::Stream;
use crate::text::index::BLOCK;

/// The cost of drawing a frame. Tests assert it, so that a slow path fails without timing.
#[derive(Debug, Default)]
pub struct Cost {
    blocks: RefCell<BTreeSet<(bool, usize)>>,
    rows: Count<usize>,
}

impl Cost {
    /// Returns the number of distinct 64 KiB blocks of the output that were read.
    pub fn blocks(&self) -> usize {
        self.blocks.borrow().len()
    }

    /// Returns the number of rows laid out.
    pub fn rows(&self) -> usize {
        self.rows.get()
    }

    pub(crate) fn count_rows(&self, count: usize) {
        self.rows.set(self.rows.get() + count);
    }

    pub(crate) fn read(&self, stream: Stream, range: &Range<usize>) {
        if !range.is_empty() {
            let blocks = range.start / BLOCK..=(range.end - 1) / BLOCK;
            self.blocks.borrow_mut().extend(blocks.map(|block| (stream == Stream::Stderr, block)));
        }
    }
}
