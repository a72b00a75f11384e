//! Takes a tool's output in chunks while it arrives.

use std::fmt;
use std::io::{self, Write};

use crate::capture::outcome::{Outcome, errors_of};
use crate::capture::result::captured::{Captured, CapturedOutput};
use crate::capture::spill::file::Spill;
use crate::capture::spill::sink::Sink;
use crate::preview::{self, CountedPlan, Input, Policy, Stream};

use super::{Error, cap, saved_plan};

/// A tool's output that is still arriving: held in memory while it is small, then written to a file. Memory stays
/// bounded however long the output is. If dropped before [`Writer::finish`], it leaves no file.
pub struct Writer {
    pub(super) sink: Sink<Spill>,
    pub(super) policy: Policy,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Writer");
        shown.field("policy", &self.policy.name()).field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl Writer {
    /// Takes the next chunk, of any size; it may end within a character. Never fails: what cannot be saved is still
    /// counted.
    pub fn push(&mut self, chunk: &[u8]) {
        self.sink.push(chunk);
    }

    /// Returns the number of bytes so far.
    pub fn bytes(&self) -> u64 {
        self.sink.bytes()
    }

    /// Returns the outcome, just as [`Truncator::truncate`](super::Truncator::truncate) does for a complete output. If the output exceeds the
    /// policy's cap, only the saved part and the first and last 2 MiB of the rest are available; a warning says so if
    /// the preview needs more.
    ///
    /// # Errors
    /// [`Error`].
    pub fn finish(self) -> Result<Outcome, Error> {
        let Writer { sink, policy } = self;
        let output = CapturedOutput::new(Stream::Stdout, sink.finish())?;
        let mut captured = Captured::from_stream(crate::base::env::now(), output, None);
        let file = captured.stdout.take_file();
        let content = captured.stdout.content();
        let save = || file.save(content.bytes(), cap(&policy), captured.stdout.stopped.as_ref());
        let output = preview::Output { bytes: content.bytes(), totals: captured.stdout.totals() };
        let mut warnings = Vec::new();
        let (CountedPlan { preview, touched, .. }, saved_to) =
            saved_plan(output, |want| content.count(want), policy.clone(), save, &mut warnings)?;
        warnings.extend(captured.missing(&preview, touched));
        let errors = errors_of(&preview, std::iter::once((Stream::Stdout, content)));
        Ok(Outcome { saved_to, warnings, ..Outcome::new(&preview, &Input::new(output, ""), errors) })
    }
}

impl Write for Writer {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        self.push(chunk);
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
