//! The result of a capture: the output, how much of it was spilled, and how the command ended.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use super::process::{Ended, Stop};
use super::request::Request;
use super::spill::Spill;
use super::spill::content::{Content, HeadAndTail};
use super::spill::location::Location;
use super::spill::sink::{CreateFile, Sink, SinkState, StopReason};
use crate::preview::{Preview, Stream, Totals};
use crate::source::Source;
pub use crate::store::RunRecord;
use crate::store::{OutputSize, Record, record};

/// A command or stream that was captured to its end. No file has its final name yet: [`Captured::finish`] keeps what
/// is to be kept, and dropping this leaves no file.
#[derive(Debug)]
pub struct Captured {
    /// How the command ended; none for a stream.
    pub ended: Option<Ended>,
    pub started: Timestamp,
    /// When the command and its output had both ended.
    pub finished: Timestamp,
    /// A background process of the command still held the output, which was closed.
    pub left_running: bool,
    /// The stream was abandoned before its end.
    pub left_early: bool,
    /// The error that ended reading; everything before it is captured.
    pub failure: Option<io::Error>,
    /// The output; standard output alone if the two are separate.
    pub stdout: CapturedOutput,
    /// Standard error, if captured separately.
    pub stderr: Option<CapturedOutput>,
}

impl Captured {
    pub(crate) fn from_stream(
        started: Timestamp,
        output: CapturedOutput,
        failure: Option<io::Error>,
    ) -> Captured {
        Captured {
            ended: None,
            started,
            finished: crate::base::env::now(),
            left_running: false,
            left_early: false,
            failure,
            stdout: output,
            stderr: None,
        }
    }

    pub fn outputs(&self) -> impl Iterator<Item = &CapturedOutput> {
        std::iter::once(&self.stdout).chain(&self.stderr)
    }

    pub(crate) fn output(&self, stream: Stream) -> Option<&CapturedOutput> {
        self.outputs().find(|output| output.stream == stream)
    }

    pub(crate) fn output_mut(&mut self, stream: Stream) -> Option<&mut CapturedOutput> {
        std::iter::once(&mut self.stdout).chain(&mut self.stderr).find(|output| output.stream == stream)
    }

    pub(crate) fn record(&self, output: &CapturedOutput, request: &Request, path: &str) -> RunRecord {
        let stopped = match self.ended.map(|ended| ended.stop) {
            Some(Stop::Asked(signal)) => Some(format!("signal {signal}")),
            Some(Stop::TimedOut) => Some("timeout".to_owned()),
            Some(Stop::Unwanted) => Some("its reader had gone".to_owned()),
            Some(Stop::No) | None if self.left_early => Some("left before its end".to_owned()),
            Some(Stop::No) | None => self.failure.as_ref().map(|_| "not read to its end".to_owned()),
        };
        RunRecord {
            path: path.to_owned(),
            stream: output.stream.as_str().to_owned(),
            split: self.stderr.is_some(),
            printed: request.printed.get(output.stream).clone(),
            start: self.started,
            end: self.finished,
            exit: self.ended.map(|ended| ended.status),
            exit_code: self.ended.and_then(Ended::told_exit_code),
            stopped,
            seen: output.seen,
            kept: output.kept,
            truncated: output.stopped.as_ref().map(|stopped| stopped.as_str().to_owned()),
            policy: request.policy.name().to_owned(),
            parameters: request.policy.changed(),
            ..request.run.clone()
        }
    }
}

pub struct CapturedOutput {
    pub stream: Stream,
    /// The size of everything that arrived.
    pub seen: OutputSize,
    /// The size of what is, or would be, in the spill.
    pub kept: OutputSize,
    /// Why what is kept is not everything, if so.
    pub stopped: Option<StopReason>,
    /// The output, as far as it is still available.
    pub content: Content,
    pub(crate) totals: Totals,
    pub(crate) file: UnsavedSpill,
}

/// A spill that does not have its final name yet.
#[derive(Default)]
pub(crate) enum UnsavedSpill {
    Memory(CreateFile<Spill>),
    File(Spill),
    /// No file could be created, or it already has its final name.
    #[default]
    Nothing,
}

impl UnsavedSpill {
    /// Gives the spill its final name, writing it first if it is still in memory; fails if saving failed before.
    pub(crate) fn save(self, held: &[u8], cap: usize, stopped: Option<&StopReason>) -> io::Result<PathBuf> {
        if let Some(StopReason::Failed(error)) = stopped {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        match self {
            UnsavedSpill::Memory(begin) => {
                let mut spill = begin()?;
                spill.write_all(&held[..cap.min(held.len())])?;
                spill.file.finish(false)
            }
            UnsavedSpill::File(spill) => spill.file.finish(false),
            UnsavedSpill::Nothing => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl std::fmt::Debug for CapturedOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("CapturedOutput");
        shown.field("stream", &self.stream).field("seen", &self.seen).field("kept", &self.kept);
        shown.field("stopped", &self.stopped).finish_non_exhaustive()
    }
}

impl CapturedOutput {
    pub(crate) fn new(stream: Stream, taken: Sink<Spill>) -> io::Result<CapturedOutput> {
        let counter = &taken.counter;
        let (feeds, kept) = (counter.line_feeds(), taken.kept);
        let seen = OutputSize { bytes: counter.bytes, lines: counter.lines() };
        let ((content, file), kept) = match taken.state {
            SinkState::Held(held, begin) => ((Content::Held(held), UnsavedSpill::Memory(begin)), seen.bytes),
            SinkState::File(file) => (Self::on_disk(file, kept, &taken.rest)?, kept),
        };
        let lines =
            if kept == seen.bytes { seen.lines } else { cut_lines(&content, feeds - taken.rest_feeds, kept) };
        let kept = OutputSize { bytes: kept, lines };
        let (totals, stopped) = (taken.counter.totals(), taken.stopped);
        Ok(CapturedOutput { stream, seen, kept, stopped, content, totals, file })
    }

    fn on_disk(file: Option<Spill>, kept: u64, rest: &HeadAndTail) -> io::Result<(Content, UnsavedSpill)> {
        let whole = file.as_ref().filter(|_| rest.total == 0);
        let whole = whole.and_then(|spill| {
            let view = Source::open_entry(&spill.file.temporary_path()).ok()?.view();
            (view.len() as u64 == kept).then_some(Content::File(view))
        });
        let ends = || Content::from_ends(file.as_ref().map(|spill| spill.file.file()), kept, rest);
        let content = whole.map_or_else(ends, Ok)?;
        Ok((content, file.map_or(UnsavedSpill::Nothing, UnsavedSpill::File)))
    }

    pub(crate) fn is_whole(&self) -> bool {
        self.kept.bytes >= self.seen.bytes
    }

    /// Says where the output was saved, and how much of it if that is not all.
    pub(crate) fn whereabouts(&self, path: &Path) -> String {
        let (path, kept, seen) = (path.display(), self.kept.bytes, self.seen.bytes);
        match self.is_whole() {
            true => format!("the whole output is in {path}"),
            false => format!("{path} holds only the first {kept} of {seen} bytes"),
        }
    }

    /// Same, for readers of the preview: nothing if a notice names the path of the whole output.
    pub(crate) fn remark(&self, preview: &Preview, path: &Path) -> Option<String> {
        let is_said = self.is_whole() && preview.has_notice_with(&path.to_string_lossy());
        (!is_said).then(|| self.whereabouts(path))
    }

    pub fn temporary_path(&self) -> Option<PathBuf> {
        if let UnsavedSpill::File(spill) = &self.file { Some(spill.file.temporary_path()) } else { None }
    }

    /// Turns the spill into a file if it is still in memory.
    pub(crate) fn spill(&mut self, cap: u64) -> Option<&Spill> {
        self.file = match std::mem::take(&mut self.file) {
            UnsavedSpill::Memory(begin) => self.write_held(begin, cap),
            file => file,
        };
        if let UnsavedSpill::File(spill) = &self.file { Some(spill) } else { None }
    }

    /// Truncates the file to its cap, if it is larger. Whoever views it meanwhile sees the rest disappear.
    pub(crate) fn cut(&mut self, cap: u64) {
        let (UnsavedSpill::File(spill), true) = (&self.file, self.kept.bytes > cap) else { return };
        let kept = self.size_within(cap);
        match spill.file.file().set_len(cap) {
            Ok(()) => (self.kept, self.stopped) = (kept, Some(StopReason::Cap)),
            Err(error) => self.fail(error),
        }
    }

    fn size_within(&self, cap: u64) -> OutputSize {
        let bytes = self.content.bytes();
        let bytes = &bytes[..usize::try_from(cap).map_or(bytes.len(), |cap| cap.min(bytes.len()))];
        let (kept, feeds) = (bytes.len() as u64, bytecount::count(bytes, b'\n') as u64);
        OutputSize { bytes: kept, lines: cut_lines(&self.content, feeds, kept) }
    }

    fn write_held(&mut self, begin: CreateFile<Spill>, cap: u64) -> UnsavedSpill {
        let (bytes, kept) = (self.content.bytes(), self.size_within(cap));
        match begin().and_then(|mut spill| spill.write_all(&bytes[..kept.bytes as usize]).map(|()| spill)) {
            Ok(spill) => {
                if kept.bytes < bytes.len() as u64 {
                    (self.kept, self.stopped) = (kept, Some(StopReason::Cap));
                }
                UnsavedSpill::File(spill)
            }
            Err(error) => {
                self.fail(error);
                UnsavedSpill::Nothing
            }
        }
    }

    /// Writes the record, then gives the spill its final name.
    pub(crate) fn finish(&mut self, record: &Record, place: &Location, durable: bool) -> Option<PathBuf> {
        let UnsavedSpill::File(spill) = std::mem::take(&mut self.file) else {
            return None;
        };
        let recorded = place.records().map_or(Ok(()), |env| record.write(env, spill.file.id(), durable));
        let partial = matches!(self.stopped, Some(StopReason::Failed(_)));
        if recorded.is_err() && partial {
            // A partial spill without a record would pass for the whole output.
            return None;
        }
        let name = spill.file.id().to_owned();
        match spill.file.finish(durable) {
            Ok(path) => Some(path),
            Err(error) => {
                place.records().into_iter().for_each(|env| record::remove(env, &name));
                self.fail(error);
                None
            }
        }
    }

    fn fail(&mut self, error: io::Error) {
        self.stopped = Some(StopReason::Failed(Arc::new(error)));
        self.kept = OutputSize::default();
    }
}

/// Counts the lines of the first `kept` bytes, which contain `feeds` line feeds.
fn cut_lines(content: &Content, feeds: u64, kept: u64) -> u64 {
    let last = usize::try_from(kept).ok().and_then(|kept| content.bytes().get(kept.checked_sub(1)?));
    feeds + u64::from(last.is_some_and(|byte| *byte != b'\n'))
}
