//! When each stretch of two streams arrived: the order that two pipes lose, as far as timing can tell.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::preview::Stream;

/// Maximum number of stretches; when it is exceeded, times are rounded more coarsely.
const MOST: usize = 512;

/// The stretches of two streams in order of arrival.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timeline {
    /// Times are rounded down to multiples of this many milliseconds. Everything that arrives on one stream within one
    /// multiple is a single stretch; the order of the two streams within it is unknown.
    pub within_ms: u64,
    /// The stretches.
    pub stretches: Vec<TimelineEntry>,
}

/// Bytes of one stream that arrived at about the same time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineEntry {
    /// Milliseconds since the command started.
    pub ms: u64,
    /// `stdout` or `stderr`.
    pub stream: String,
    /// Number of bytes; they follow those of this stream's previous stretch.
    pub bytes: u64,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline { within_ms: 1, stretches: Vec::new() }
    }
}

impl Timeline {
    /// Records bytes that arrived `ms` milliseconds after the start.
    fn note(&mut self, ms: u64, stream: &str, bytes: u64) {
        self.add(ms, stream, bytes);
        if self.stretches.len() > MOST {
            self.coarsen();
        }
    }

    /// Coarsens until at most half of the stretches remain, so that this is rarely needed.
    fn coarsen(&mut self) {
        while self.stretches.len() > MOST / 2 {
            self.within_ms *= 2;
            for stretch in std::mem::take(&mut self.stretches) {
                self.add(stretch.ms, &stretch.stream, stretch.bytes);
            }
        }
    }

    fn add(&mut self, ms: u64, stream: &str, bytes: u64) {
        let ms = ms - ms % self.within_ms;
        let mut near = self.stretches.iter_mut().rev().take_while(|stretch| stretch.ms >= ms);
        match near.find(|stretch| stretch.stream == stream) {
            Some(stretch) => stretch.bytes += bytes,
            None => self.stretches.push(TimelineEntry { ms, stream: stream.to_owned(), bytes }),
        }
    }
}

/// A timeline shared by two reading threads.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    since: Instant,
    arrivals: Arc<Mutex<Timeline>>,
}

impl Clock {
    /// Starts the clock.
    pub(crate) fn start() -> Clock {
        Clock { since: Instant::now(), arrivals: Arc::default() }
    }

    /// Returns the timeline so far.
    pub(crate) fn arrivals(&self) -> Timeline {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, stream: Stream, bytes: usize) {
        let mut arrivals = self.arrivals.lock().unwrap_or_else(PoisonError::into_inner);
        // Read the clock under the lock, so that entries are in order of time.
        let ms = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        arrivals.note(ms, stream.as_str(), bytes as u64);
    }
}

/// A reader that records when bytes arrive.
pub(crate) struct Timed<R> {
    pub reader: R,
    pub stream: Stream,
    /// None if no timeline is wanted.
    pub clock: Option<Clock>,
}

impl<R: Read> Read for Timed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        if let Some(clock) = self.clock.as_ref().filter(|_| count > 0) {
            clock.note(self.stream, count);
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn noted(notes: &[(u64, &str, u64)]) -> Timeline {
        let mut arrivals = Timeline::default();
        notes.iter().for_each(|(ms, stream, bytes)| arrivals.note(*ms, stream, *bytes));
        arrivals
    }

    #[test]
    fn what_comes_together_is_one_stretch() {
        let arrivals = noted(&[(0, "stdout", 1), (0, "stderr", 2), (0, "stdout", 4), (3, "stdout", 8)]);
        let stretches: Vec<_> = arrivals
            .stretches
            .iter()
            .map(|stretch| (stretch.ms, stretch.stream.as_str(), stretch.bytes))
            .collect();
        assert_eq!(stretches, [(0, "stdout", 5), (0, "stderr", 2), (3, "stdout", 8)]);
    }

    #[test]
    fn a_long_run_is_told_more_coarsely() {
        let notes: Vec<_> = (0..100_000).map(|ms| (ms, ["stdout", "stderr"][ms as usize % 2], 1)).collect();
        let arrivals = noted(&notes);
        assert!(arrivals.stretches.len() <= MOST && arrivals.within_ms >= 2 * 100_000 / MOST as u64);
        assert!(arrivals.within_ms <= 8 * 100_000 / MOST as u64, "{}", arrivals.within_ms);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_time_goes_on(steps in prop::collection::vec((0u64..50, any::<bool>(), 1u64..9), 0..3000)) {
            let (mut arrivals, mut now, mut sums) = (Timeline::default(), 0, [0, 0]);
            for (step, is_err, bytes) in steps {
                now += step;
                sums[usize::from(is_err)] += bytes;
                arrivals.note(now, ["stdout", "stderr"][usize::from(is_err)], bytes);
                prop_assert!(arrivals.stretches.len() <= MOST);
            }
            let sum = |name| arrivals.stretches.iter().filter(|s| s.stream == name).map(|s| s.bytes).sum::<u64>();
            prop_assert_eq!([sum("stdout"), sum("stderr")], sums);
            prop_assert!(arrivals.stretches.is_sorted_by_key(|stretch| stretch.ms));
            prop_assert!(arrivals.stretches.iter().all(|stretch| stretch.ms % arrivals.within_ms == 0));
        }
    }
}
