//! The memory of a plan follows the limits and never the output, for every policy of the catalog.
//! Alone in its file: what is allocated is counted for the whole process.
#![allow(unsafe_code)]

use overspill::preview::{Catalog, Input, Output, Totals, plan};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Counts what is allocated now, and the most that ever was.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call goes on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(at, layout) }
    }
}

/// The most bytes that `act` had allocated at a time, above what there was before.
fn peak_of(act: impl FnOnce()) -> usize {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    act();
    PEAK.load(Relaxed) - before
}

/// What an output is made of, over and over.
const KINDS: &[(&str, &[u8])] = &[
    ("line feeds", b"\n"),
    ("escape sequences", b"\x1b[1mx\x1b[0m"),
    ("escape sequences and line feeds", b"\x1b[1m\n\x1b]0;a\nb\x07"),
    ("short lines", b"ab\r\ncd\n"),
    ("error lines, apart", b"error\n\n\n\n\n\n\n\n"),
    ("open brackets", b"["),
    ("bad bytes", b"\xff\xc3"),
    ("tags", b"<persisted-output>\n"),
];

/// Bytes of an output: more than any limit admits, of which a range for each line would take 20 times as many.
const SIZE: usize = 5 << 18;

/// Bytes that a plan may take: of the policies here, crush/bang keeps the most, 50 KB in ranges of one byte each.
const MOST: usize = 6 << 20;

#[test]
fn no_plan_takes_memory_by_the_size_of_the_output() {
    let catalog = Catalog::builtin();
    let mut over = Vec::new();
    for (kind, unit) in KINDS {
        let bytes = unit.repeat(SIZE / unit.len());
        for totals in [Totals::unknown(), Totals::count(&bytes)] {
            for name in catalog.names() {
                let policy = catalog.get(name).unwrap();
                let output = Output { bytes: &bytes, totals: &totals };
                let mut input = Input::new(output, "/P");
                input.stderr = Some(output);
                let peak = peak_of(|| drop(plan(&input, &policy)));
                if peak > MOST {
                    over.push(format!("{name}, {kind}: {peak} bytes"));
                }
            }
        }
    }
    assert!(over.is_empty(), "{} plans take too much:\n{}", over.len(), over.join("\n"));
}
