//! Counting a whole view by as many threads as help, chunk by chunk.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::text::units::{self, Measure, Want};

use super::{View, populate};

/// Bytes that a thread takes at a time.
const CHUNK: usize = 8 << 20;

/// Counts the totals wanted of all bytes of `view`.
pub fn count(view: &View, want: Want) -> Measure {
    let chunks = view.len().div_ceil(CHUNK);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(chunks).min(8);
    let next = AtomicUsize::new(0);
    let total = Mutex::new(Measure::default());
    let work = || {
        let mut mine = Measure::default();
        loop {
            let start = next.fetch_add(1, Ordering::Relaxed) * CHUNK;
            if start >= view.len() {
                break;
            }
            let range = start..(start + CHUNK).min(view.len());
            populate(view, range.clone());
            mine += units::measure(view, range, want);
        }
        *total.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += mine;
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(work);
        }
        work();
    });
    total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}
