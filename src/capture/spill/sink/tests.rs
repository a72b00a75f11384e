//! Tests the sink against a disk that fails at every possible write, and its counts against any split into chunks.

use std::sync::Mutex;

use proptest::prelude::*;

use super::*;

/// A disk that accepts `takes` writes of at most `most` bytes each, then fails.
struct Disk {
    written: Arc<Mutex<Vec<u8>>>,
    takes: usize,
    most: usize,
    error: i32,
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.takes == 0 {
            return Err(io::Error::from_raw_os_error(self.error));
        }
        self.takes -= 1;
        let count = bytes.len().min(self.most);
        self.written.lock().unwrap().extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn limits(hold: usize, cap: u64) -> SinkLimits {
    SinkLimits { hold, cap, want: TotalsMask::ALL }
}

/// Feeds `output` to a sink on a disk that fails after `takes` writes.
fn taken(
    output: &[u8],
    limits: SinkLimits,
    takes: usize,
    most: usize,
    error: i32,
) -> (Sink<Disk>, Arc<Mutex<Vec<u8>>>) {
    let written = Arc::new(Mutex::new(Vec::new()));
    let disk = Disk { written: Arc::clone(&written), takes, most, error };
    let mut sink = Sink::new(limits, Box::new(|| Ok(disk)));
    output.chunks(7).for_each(|chunk| sink.push(chunk));
    (sink, written)
}

fn lines(count: usize) -> Vec<u8> {
    (0..count).flat_map(|n| format!("line {n}\n").into_bytes()).collect()
}

/// Checks that the file and the held ends together are the output, and that the counts are right.
fn check(output: &[u8], taken: &Sink<Disk>, written: &[u8]) {
    assert_eq!(taken.counter.totals(), Totals::count(output));
    assert_eq!(written, &output[..written.len()]);
    assert_eq!(taken.kept, written.len() as u64);
    assert_eq!(taken.rest.total, (output.len() - written.len()) as u64);
    let feeds = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    assert_eq!(taken.rest_feeds, feeds(&output[written.len()..]));
    for (at, held) in taken.rest.stretches() {
        assert_eq!(held, &output[written.len() + at as usize..][..held.len()]);
    }
}

#[test]
fn a_small_output_is_held_without_a_file() {
    let mut sink: Sink<Disk> = Sink::new(limits(10, 100), Box::new(|| panic!("begun")));
    sink.push(b"12345");
    sink.push(b"67890");
    let SinkState::Held(held, _) = sink.state else { panic!("spilled") };
    assert_eq!(held, b"1234567890");
}

#[test]
fn counts_stay_exact_whichever_write_fails() {
    let output = lines(60);
    for error in [libc::ENOSPC, libc::EDQUOT, libc::EFBIG, libc::EIO] {
        for takes in 0..output.len() {
            let (taken, written) = taken(&output, limits(0, u64::MAX), takes, 3, error);
            check(&output, &taken, &written.lock().unwrap());
            let whole = taken.stopped.is_none();
            assert_eq!(whole, taken.kept == output.len() as u64);
            let words = taken.stopped.map_or("", |stopped| stopped.as_str());
            let expected = if error == libc::EIO { "failed" } else { "disk full" };
            assert!(whole || words == expected, "{words}");
        }
    }
}

#[test]
fn after_the_cap_counting_goes_on() {
    let output = lines(60);
    for cap in 0..=output.len() + 1 {
        let (taken, written) = taken(&output, limits(0, cap as u64), usize::MAX, usize::MAX, 0);
        check(&output, &taken, &written.lock().unwrap());
        assert_eq!(taken.kept, cap.min(output.len()) as u64);
        assert_eq!(matches!(taken.stopped, Some(StopReason::Cap)), cap < output.len(), "{cap}");
    }
}

#[test]
fn held_bytes_are_spilled_first() {
    let output = lines(60);
    for hold in [0, 1, 6, 7, 8, 100, output.len() - 1] {
        let (taken, written) = taken(&output, limits(hold, u64::MAX), usize::MAX, usize::MAX, 0);
        assert!(matches!(taken.state, SinkState::File(Some(_))));
        assert_eq!(*written.lock().unwrap(), output);
    }
}

#[test]
fn a_failure_to_create_the_spill_does_not_stop_the_capture() {
    let output = lines(60);
    let mut sink: Sink<Disk> =
        Sink::new(limits(20, 100), Box::new(|| Err(io::ErrorKind::PermissionDenied.into())));
    output.chunks(7).for_each(|chunk| sink.push(chunk));
    let taken = sink;
    check(&output, &taken, b"");
    assert!(matches!(taken.state, SinkState::File(None)));
    assert_eq!(taken.stopped.unwrap().as_str(), "failed");
}

fn counted(chunks: &[&[u8]], want: TotalsMask) -> Totals {
    let mut counter = Counter::new(want);
    chunks.iter().for_each(|chunk| counter.add(chunk));
    counter.totals()
}

#[test]
fn a_character_in_four_chunks_is_one() {
    let chunks: Vec<_> = "\u{1F600}".as_bytes().chunks(1).collect();
    assert_eq!(counted(&chunks, TotalsMask::ALL), Totals::count("\u{1F600}".as_bytes()));
}

#[test]
fn crlf_may_be_split_between_chunks() {
    assert_eq!(counted(&[b"a\r", b"", b"\nb\r"], TotalsMask::ALL).lone_returns, Some(1));
}

#[test]
fn lines_are_counted_as_a_pager_counts() {
    let lines = |text: &[u8]| {
        let mut counter = Counter::new(TotalsMask::NOTHING);
        counter.add(text);
        counter.lines()
    };
    assert_eq!([lines(b""), lines(b"a"), lines(b"a\n"), lines(b"a\nb")], [0, 1, 1, 2]);
}

#[test]
fn only_the_wanted_totals_are_reported() {
    assert_eq!(counted(&[b"a\n"], TotalsMask::UNITS).known(), TotalsMask::UNITS | TotalsMask::LINE_FEEDS);
}

fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => any::<u8>(), 4 => prop::sample::select(b"\r\na\xe2\x82\xac\xf0\x9f\x98\x80\xed\xa0\xff".to_vec()),
    ];
    prop::collection::vec(byte, 0..60)
}

proptest! {
    #[test]
    fn any_partition_counts_alike(bytes in hostile(), cuts in prop::collection::vec(1usize..6, 1..30)) {
        let mut counter = Counter::new(TotalsMask::ALL);
        let mut rest = &bytes[..];
        for cut in cuts.iter().cycle() {
            if rest.is_empty() { break; }
            let (chunk, more) = rest.split_at((*cut).min(rest.len()));
            counter.add(chunk);
            rest = more;
        }
        prop_assert_eq!(counter.totals(), Totals::count(&bytes));
    }
}
