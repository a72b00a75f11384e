//! Takes an output as it arrives: counts it, holds it while it is small, then spills it as far as cap and disk allow.

use std::io::{self, Write};
use std::sync::Arc;

use crate::preview::Totals;
use crate::text::units::{self, Measure, TotalsMask};

use super::content::HeadAndTail;

/// Outputs up to this many bytes are held in memory, without a file.
pub const HOLD: usize = 64 << 10;

/// Bytes after an unfinished character that are enough to decide how it decodes.
const LOOK_AHEAD: usize = 4;

/// Why a spill does not have the whole output.
#[derive(Clone, Debug)]
pub enum StopReason {
    Cap,
    /// Writing failed: disk full, quota, no permission.
    Failed(Arc<io::Error>),
}

impl StopReason {
    pub fn as_str(&self) -> &'static str {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match self {
            StopReason::Cap => "cap",
            StopReason::Failed(error) => match error.kind() {
                StorageFull | QuotaExceeded | FileTooLarge => "disk full",
                _ => "failed",
            },
        }
    }
}

pub(crate) type CreateFile<W> = Box<dyn FnOnce() -> io::Result<W> + Send>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SinkLimits {
    /// Bytes held in memory before a file is created.
    pub hold: usize,
    /// Maximum number of bytes spilled; the rest is counted and dropped.
    pub cap: u64,
    /// Totals to count besides line feeds.
    pub want: TotalsMask,
}

impl Default for SinkLimits {
    /// Counts everything: what is past a cap cannot be counted later.
    fn default() -> SinkLimits {
        SinkLimits { hold: HOLD, cap: u64::MAX, want: TotalsMask::ALL }
    }
}

/// Takes an output chunk by chunk; never fails.
pub(crate) struct Sink<W> {
    limits: SinkLimits,
    pub state: SinkState<W>,
    pub counter: Counter,
    /// Number of bytes in the file.
    pub kept: u64,
    /// The two ends of what is not in the file.
    pub rest: HeadAndTail,
    /// Number of LF bytes that are not in the file.
    pub rest_feeds: u64,
    pub stopped: Option<StopReason>,
}

pub(crate) enum SinkState<W> {
    /// All in memory; the spill can still be created.
    Held(Vec<u8>, CreateFile<W>),
    /// In the file; what follows it, once it takes no more, is in the held ends. `None` if no file could be created.
    File(Option<W>),
}

impl<W: Write> Sink<W> {
    /// Creates the file once there is more than may be held; at once if nothing may be.
    pub(crate) fn new(limits: SinkLimits, begin: CreateFile<W>) -> Self {
        if limits.hold > 0 {
            return Self::in_state(limits, SinkState::Held(Vec::new(), begin));
        }
        match begin() {
            Ok(file) => Self::with_file(limits, file),
            Err(error) => Self {
                stopped: Some(StopReason::Failed(Arc::new(error))),
                ..Self::in_state(limits, SinkState::File(None))
            },
        }
    }

    pub(crate) fn with_file(limits: SinkLimits, file: W) -> Self {
        Self::in_state(limits, SinkState::File(Some(file)))
    }

    fn in_state(limits: SinkLimits, state: SinkState<W>) -> Self {
        Self {
            limits,
            state,
            counter: Counter::new(limits.want),
            kept: 0,
            rest: HeadAndTail::default(),
            rest_feeds: 0,
            stopped: None,
        }
    }

    /// Returns the file while it takes more.
    pub(crate) fn file(&self) -> Option<&W> {
        let SinkState::File(file) = &self.state else { return None };
        file.as_ref().filter(|_| self.stopped.is_none())
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.counter.add(chunk);
        match std::mem::replace(&mut self.state, SinkState::File(None)) {
            SinkState::Held(mut held, begin) if held.len() + chunk.len() <= self.limits.hold => {
                held.extend_from_slice(chunk);
                self.state = SinkState::Held(held, begin);
            }
            SinkState::Held(held, begin) => {
                match begin() {
                    Ok(file) => self.state = SinkState::File(Some(file)),
                    Err(error) => self.stopped = Some(StopReason::Failed(Arc::new(error))),
                }
                self.put(&held);
                self.put(chunk);
            }
            state => {
                self.state = state;
                self.put(chunk);
            }
        }
    }

    fn put(&mut self, chunk: &[u8]) {
        let (SinkState::File(Some(file)), None) = (&mut self.state, &self.stopped) else {
            return self.leave_out(chunk);
        };
        let room = usize::try_from(self.limits.cap - self.kept).unwrap_or(usize::MAX).min(chunk.len());
        let (count, error) = write_some(file, &chunk[..room]);
        self.kept += count as u64;
        if count == chunk.len() {
            return;
        }
        self.stopped = Some(error.map_or(StopReason::Cap, |error| StopReason::Failed(Arc::new(error))));
        self.leave_out(&chunk[count..]);
    }

    fn leave_out(&mut self, bytes: &[u8]) {
        self.rest_feeds += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.rest.push(bytes);
    }
}

fn write_some(file: &mut impl Write, bytes: &[u8]) -> (usize, Option<io::Error>) {
    let mut done = 0;
    while done < bytes.len() {
        match file.write(&bytes[done..]) {
            Ok(0) => return (done, Some(io::ErrorKind::WriteZero.into())),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (done, Some(error)),
        }
    }
    (done, None)
}

/// Counts chunks; the sum equals what [`units::measure_all`] returns for the whole output.
#[derive(Debug)]
pub(crate) struct Counter {
    want: TotalsMask,
    sum: Measure,
    pub bytes: u64,
    /// A character that the last chunk left unfinished: at most 3 bytes, and those after them that may decide it.
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
            let text = &chunk[self.finish_carried(chunk, of_text)..];
            let (whole, unfinished) = text.split_at(units::unfinished(text));
            self.sum += units::measure_all(whole, of_text);
            self.carry.extend_from_slice(unfinished);
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
}

/// Splits the wanted totals into those of the bytes and those of the decoded text.
fn split(want: TotalsMask) -> (TotalsMask, TotalsMask) {
    let of_bytes = TotalsMask::LINE_FEEDS | TotalsMask::LONE_RETURNS;
    let of_text = want.without(of_bytes);
    (want.without(of_text), of_text)
}

#[cfg(test)]
mod tests;
