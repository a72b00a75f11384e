//! Counts a streamed output exactly, however it is split into chunks.

use crate::preview::Totals;
use crate::text::units::{self, Measure, TotalsMask};

/// Bytes after an unfinished character that are enough to decide how it decodes.
const LOOK_AHEAD: usize = 4;

/// Counts chunks; the sum equals what [`units::measure_all`] returns for the whole output.
#[derive(Debug)]
pub(crate) struct Counter {
    want: TotalsMask,
    sum: Measure,
    pub bytes: u64,
    /// A character that the last chunk left unfinished: at most 3 bytes, plus the bytes after them while those do not
    /// decide how it decodes.
    carry: Vec<u8>,
    last: u8,
}

impl Counter {
    /// Counts line feeds, and whatever else `want` says.
    pub(crate) fn new(want: TotalsMask) -> Self {
        Self {
            want: want | TotalsMask::LINE_FEEDS,
            sum: Measure::default(),
            bytes: 0,
            carry: Vec::new(),
            last: 0,
        }
    }

    pub(crate) fn line_feeds(&self) -> u64 {
        self.sum.line_feeds
    }

    /// Returns the number of lines so far; unlike in `wc -l`, a last line without a line feed counts.
    pub(crate) fn lines(&self) -> u64 {
        self.sum.line_feeds + u64::from(self.bytes > 0 && self.last != b'\n')
    }

    pub(crate) fn add(&mut self, chunk: &[u8]) {
        let Some(&last) = chunk.last() else { return };
        let (of_bytes, of_text) = split(self.want);
        self.sum += units::measure_all(chunk, of_bytes);
        if of_bytes.meets(TotalsMask::LONE_RETURNS) && self.last == b'\r' && chunk[0] == b'\n' {
            self.sum.lone_returns -= 1;
        }
        (self.last, self.bytes) = (last, self.bytes + chunk.len() as u64);
        if !of_text.is_empty() {
            let done = self.finish_carried(chunk, of_text);
            self.add_text(&chunk[done..], of_text);
        }
    }

    /// Returns the wanted totals; call it when everything has been added.
    pub(crate) fn totals(&self) -> Totals {
        let rest = units::measure_all(&self.carry, split(self.want).1);
        Totals::from_measure(&(self.sum + rest), self.want)
    }

    /// Counts the unfinished character. Returns how many bytes of `chunk` that took.
    fn finish_carried(&mut self, chunk: &[u8], want: TotalsMask) -> usize {
        if self.carry.is_empty() {
            return 0;
        }
        let carried = self.carry.len();
        self.carry.extend_from_slice(&chunk[..chunk.len().min(LOOK_AHEAD)]);
        if units::unfinished(&self.carry) == 0 {
            return chunk.len();
        }
        self.sum += units::measure(&self.carry, 0..carried, want);
        let end = units::element_end(&self.carry, carried);
        self.carry.clear();
        end - carried
    }

    fn add_text(&mut self, text: &[u8], want: TotalsMask) {
        let whole = units::unfinished(text);
        self.sum += units::measure_all(&text[..whole], want);
        self.carry.extend_from_slice(&text[whole..]);
    }
}

/// Splits the wanted totals into those of the bytes and those of the decoded text.
fn split(want: TotalsMask) -> (TotalsMask, TotalsMask) {
    let of_bytes = TotalsMask::LINE_FEEDS | TotalsMask::LONE_RETURNS;
    let of_text = want.without(of_bytes);
    (want.without(of_text), of_text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
}
