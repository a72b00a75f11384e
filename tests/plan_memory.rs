//! The memory of a plan follows the limits and never the output, for every policy of the catalog.
//! Alone in its file: what is allocated is counted for the whole process.
#![allow(unsafe_code)]

use overspill::preview::{Catalog, Input, Output, Policy, Totals, plan};
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

/// So many times smaller is the output that it is compared with; still more than any limit admits.
const TIMES: usize = 2;

/// For a longer run: MiB of an output, which is then compared with one that is 8 times smaller.
const LONG: (&str, usize) = ("OVERSPILL_PLAN_MIB", 8);

/// Bytes that a plan may take: of the policies here, crush/bang keeps the most, 50 KB in ranges of one byte each.
const MAX_BYTES: usize = 6 << 20;

/// The most bytes that a plan of the larger output may take, of that of the smaller one: what is kept differs a little.
fn with_growth(before: usize) -> usize {
    before + before / 4 + (64 << 10)
}

/// Bytes of the larger and of the smaller output.
fn sizes() -> (usize, usize) {
    match std::env::var(LONG.0) {
        Err(_) => (SIZE, SIZE / TIMES),
        Ok(mib) => {
            let size = mib.parse::<usize>().expect(LONG.0) << 20;
            (size, size / LONG.1)
        }
    }
}

/// The most bytes that a plan has allocated at a time, of an output whose totals are known or not.
fn peak_of_plan(policy: &Policy, bytes: &[u8], totals: &Totals) -> usize {
    let output = Output { bytes, totals };
    let mut input = Input::new(output, "/P");
    input.stderr = Some(output);
    peak_of(|| drop(plan(&input, policy)))
}

#[test]
fn no_plan_takes_memory_by_the_size_of_the_output() {
    let (catalog, (size, smaller)) = (Catalog::builtin(), sizes());
    let mut over = Vec::new();
    for (kind, unit) in KINDS {
        let bytes = unit.repeat(size / unit.len());
        let (small, known) = (&bytes[..smaller / unit.len() * unit.len()], Totals::count(&bytes));
        let mut most = (0, String::new());
        for name in catalog.names() {
            let policy = catalog.get(name).unwrap();
            let before = peak_of_plan(&policy, small, &Totals::unknown());
            for totals in [&Totals::unknown(), &known] {
                let peak = peak_of_plan(&policy, &bytes, totals);
                if peak > MAX_BYTES || peak > with_growth(before) {
                    over.push(format!("{name}, {kind}: {before} bytes of the smaller output, then {peak}"));
                }
                most = most.max((peak, name.to_owned()));
            }
        }
        eprintln!("{kind}: {} bytes at most, by {}, of an output of {size}", most.0, most.1);
    }
    assert!(over.is_empty(), "{} plans take too much:\n{}", over.len(), over.join("\n"));
}
