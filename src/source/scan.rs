//! Going through a whole view by as many threads as help, chunk by chunk.

use std::ops::{ControlFlow, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::text::units::{self, Measure, Want};

use super::{View, is_hole, populate};

/// Bytes that a thread takes at a time.
const CHUNK: usize = 8 << 20;

/// More threads than this share the memory's speed without adding to it.
const MOST_THREADS: usize = 4;

/// Calls `work` with the numbers below `count`, each once and handed out in order, from several threads, and
/// returns when all are done. Once a call breaks off, no higher number is handed out than there has been.
pub fn share_out(count: usize, work: impl Fn(usize) -> ControlFlow<()> + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count).min(MOST_THREADS);
    let next = AtomicUsize::new(0);
    let run = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                return;
            }
            if work(number).is_break() {
                return next.store(count, Ordering::Relaxed);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
}

/// The bytes of a view's chunk of `size` bytes, by its number from 0.
fn chunk(view: &View, number: usize) -> Range<usize> {
    number * CHUNK..((number + 1) * CHUNK).min(view.len())
}

/// Counts the totals wanted of all bytes of `view`.
pub fn count(view: &View, want: Want) -> Measure {
    let total = Mutex::new(Measure::default());
    share_out(view.len().div_ceil(CHUNK), |number| {
        let mine = measure(view, chunk(view, number), want);
        *total.lock().unwrap_or_else(std::sync::PoisonError::into_inner) += mine;
        ControlFlow::Continue(())
    });
    total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Measures some bytes of a view; where the file has a hole there, without reading it.
pub fn measure(view: &View, range: Range<usize>, want: Want) -> Measure {
    if is_hole(view, &range) {
        return Measure::of_zeros(range.len() as u64);
    }
    populate(view, range.clone());
    units::measure(view, range, want)
}
