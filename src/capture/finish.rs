//! Turns a capture into the preview that a model would get, and keeps the spill if the request says so.

use std::path::{Path, PathBuf};

use super::request::{KeepSpill, Mishap, Request, set_mishaps};
use super::spill::location::Location;
use super::spill::sink::StopReason;
use crate::base::provenance::Warning;
use crate::preview::{
    self, CountedPlan, Input, PerStream, PlanError, Policy, Preview, Stream, Totals, TotalsFor,
};
use crate::store::{Record, RunRecord};

use super::captured::{Captured, CapturedOutput};
use super::headroom::{self, LoweredPolicy, TextExtent};
use super::{Ended, Stop};

/// The path that notices print if no file holds the whole output.
pub const NOT_SAVED: &str = "<not saved>";

#[derive(Debug)]
pub struct FinishedCapture {
    pub policy: Policy,
    /// What the model gets; for standard output alone if the policy does not take standard error separately.
    pub preview: Preview,
    /// What the model gets of standard error, if it was captured separately and the policy does not handle it.
    pub stderr_preview: Option<Preview>,
    pub captured: Captured,
    pub saved: PerStream<Option<PathBuf>>,
    /// Problems that stopped nothing. Escape them before printing to a terminal.
    pub warnings: Vec<String>,
    /// What the capture told the policy.
    pub mishaps: Vec<Mishap>,
    /// Whether the limits were lowered to fit the requested headroom.
    pub limits_from_headroom: bool,
    paths: PerStream<String>,
    totals: PerStream<Totals>,
}

/// The captured output has no preview; the output itself may still have been saved.
#[derive(Debug, thiserror::Error)]
#[error("{error}{whereabouts}")]
#[non_exhaustive]
pub struct NoPreview {
    /// Why there is none.
    #[source]
    pub error: PlanError,
    /// Where the outputs were saved.
    pub saved: PerStream<Option<PathBuf>>,
    whereabouts: String,
}

impl FinishedCapture {
    pub fn input(&self) -> Input<'_> {
        input(&self.captured, &self.policy, &self.totals, &self.paths)
    }

    /// What to record of standard output if it is saved later, with what notices have printed for its path.
    pub fn record(&self, request: &Request) -> RunRecord {
        let request = Request { policy: self.policy.clone(), ..request.clone() };
        let printed = self.preview.truncated.then(|| self.paths.stdout.clone());
        RunRecord { printed, ..self.captured.record(&self.captured.stdout, &request, "") }
    }

    pub fn stderr_input(&self) -> Input<'_> {
        let bytes = self.captured.stderr.as_ref().map_or(&[][..], |output| output.content.bytes());
        alone(&self.captured, bytes, &self.totals.stderr, &self.paths.stderr)
    }
}

fn input<'a>(
    captured: &'a Captured,
    policy: &Policy,
    totals: &'a PerStream<Totals>,
    paths: &'a PerStream<String>,
) -> Input<'a> {
    let stderr = captured.stderr.as_ref().filter(|_| policy.takes_stderr());
    let stderr =
        stderr.map(|output| preview::Output { bytes: output.content.bytes(), totals: &totals.stderr });
    let main = alone(captured, captured.stdout.content.bytes(), &totals.stdout, &paths.stdout);
    Input { stderr, saved_as_stderr: &paths.stderr, ..main }
}

fn alone<'a>(captured: &Captured, bytes: &'a [u8], totals: &'a Totals, path: &'a str) -> Input<'a> {
    let exit_code = captured.ended.and_then(Ended::told_exit_code).map(Into::into);
    Input { exit_code, ..Input::new(preview::Output { bytes, totals }, path) }
}

impl Captured {
    /// Plans the preview, and gives the spills to be kept their final names; the others are removed. If it cannot be
    /// planned, the output is kept, unless the request says [`KeepSpill::Never`].
    pub fn finish(mut self, request: &Request, place: &Location) -> Result<FinishedCapture, NoPreview> {
        let mut request = request.for_exit(self.ended);
        let mut mishaps = Vec::from_iter(request.mishap(self.ended));
        set_mishaps(&mut request.policy, &mishaps);
        let (request, mut policy) = (&request, request.policy.clone());
        let mut warnings = self.notes();
        let narrow = self.fit_headroom(request, &policy, &PerStream::default(), &warnings);
        let (narrow, fits) = narrow.as_ref().map_or((&policy, true), |narrow| (&narrow.policy, narrow.fits));
        let mut is_lost = request.keep == KeepSpill::Never;
        let saved = PerStream::each(|stream| {
            let is_over = !fits && request.keep == KeepSpill::Cut;
            let wanted =
                self.output(stream).is_some() && (is_over || self.is_wanted(stream, request, narrow));
            let path = wanted.then(|| save_one(&mut self, stream, request, place, &mut warnings)).flatten();
            is_lost |= wanted && !(path.is_some() && self.is_told(stream, request));
            path
        });
        if is_lost {
            mishaps.push(Mishap::NotSaved);
            set_mishaps(&mut policy, &mishaps);
        }
        let paths =
            PerStream::each(|stream| self.printed_path(request, stream, saved.get(stream).as_deref()));
        let fitted = self.fit_headroom(request, &policy, &saved, &warnings);
        if fitted.as_ref().is_some_and(|lowered| !lowered.fits) {
            let words = "no limit on lines or size makes the preview fit in the headroom, so the calling agent may cut this one";
            warnings.push(words.into());
        }
        let limits_from_headroom = fitted.is_some();
        policy = fitted.map_or(policy, |lowered| lowered.policy);
        let planned = self.plan(&policy, &paths, request.counts).and_then(|planned| {
            let apart = self.plan_stderr(&policy, &paths, request.counts)?;
            Ok((planned, apart))
        });
        let (CountedPlan { preview, touched, mut totals }, apart) = match planned {
            Ok(planned) => planned,
            Err(error) => {
                let places = saved.iter().zip(self.outputs());
                let places = places.filter_map(|(path, output)| Some(output.whereabouts(path.as_deref()?)));
                let whereabouts = places.map(|place| format!("; {place}")).collect();
                return Err(NoPreview { error, saved, whereabouts });
            }
        };
        let stderr_preview = apart.map(|apart| {
            totals.stderr = apart.totals.stdout;
            apart.preview
        });
        warnings.extend(self.missing(&preview, touched));
        Ok(FinishedCapture {
            policy,
            preview,
            stderr_preview,
            captured: self,
            saved,
            warnings,
            mishaps,
            limits_from_headroom,
            paths,
            totals,
        })
    }

    /// Lowers the policy's limits until the preview and all messages fit in the headroom; `None` if they fit as they are.
    fn fit_headroom(
        &self,
        request: &Request,
        policy: &Policy,
        saved: &PerStream<Option<PathBuf>>,
        said: &[String],
    ) -> Option<LoweredPolicy> {
        let paths =
            PerStream::each(|stream| self.printed_path(request, stream, saved.get(stream).as_deref()));
        let measure = |policy: &Policy| {
            let CountedPlan { preview, touched, totals } = self.plan(policy, &paths, TotalsFor::Text).ok()?;
            let input = input(self, policy, &totals, &paths);
            let saved = saved.stdout.as_deref().and_then(|path| self.stdout.remark(&preview, path));
            let warnings = Warning::applying(policy.warnings(), &[], preview.extent(&input));
            let mut remarks = [said, &request.said].concat();
            remarks.extend(warnings.iter().map(|warning| format!("{}: {}", policy.name(), warning.text)));
            remarks.extend(saved.into_iter().chain(self.missing(&preview, touched)));
            Some(TextExtent::new(&preview.text(&input), &remarks))
        };
        headroom::fit(policy, request.headroom?, measure)
    }

    /// Keeps an output that was viewed, up to the cap, if requested. Returns its path; problems go to `notes`.
    pub fn keep(mut self, request: &Request, place: &Location, notes: &mut Vec<String>) -> Option<PathBuf> {
        notes.extend(self.notes());
        let wanted = self.is_wanted(Stream::Stdout, request, &request.policy);
        self.stdout.cut(request.cap);
        wanted.then(|| save_one(&mut self, Stream::Stdout, request, place, notes)).flatten()
    }

    /// Whether an output is to be kept: also if the policy would cut it without a saved copy, or the plan fails: a faulty
    /// policy must not cost an output of hours.
    fn is_wanted(&self, stream: Stream, request: &Request, policy: &Policy) -> bool {
        const NONE: preview::Output = preview::Output { bytes: &[], totals: &Totals::unknown() };
        if request.keep != KeepSpill::Cut {
            return request.keep == KeepSpill::Always;
        }
        let Some(output) = self.output(stream) else { return false };
        let path = &self.printed_path(request, stream, None);
        let input = alone(self, output.content.bytes(), &output.totals, path);
        let input = match stream {
            Stream::Stderr if policy.takes_stderr() => {
                let stderr = Some(input.output);
                Input { output: NONE, stderr, saved_as: "", saved_as_stderr: path, ..input }
            }
            Stream::Stdout | Stream::Stderr => input,
        };
        preview::plan(&input, policy).map_or(true, |preview| preview.is_to_be_saved())
    }

    fn plan(
        &self,
        policy: &Policy,
        paths: &PerStream<String>,
        counts: TotalsFor,
    ) -> Result<CountedPlan, PlanError> {
        let totals =
            PerStream::each(|stream| self.output(stream).map_or(Totals::unknown(), |out| out.totals));
        let count = |stream, want| self.output(stream)?.content.count(want);
        preview::plan_counting(&input(self, policy, &totals, paths), policy, counts, count)
    }

    /// Plans standard error alone, if it is separate and the policy does not handle it.
    fn plan_stderr(
        &self,
        policy: &Policy,
        paths: &PerStream<String>,
        counts: TotalsFor,
    ) -> Result<Option<CountedPlan>, PlanError> {
        let Some(stderr) = self.stderr.as_ref().filter(|_| !policy.takes_stderr()) else { return Ok(None) };
        let input = alone(self, stderr.content.bytes(), &stderr.totals, &paths.stderr);
        let count = |_, want| stderr.content.count(want);
        preview::plan_counting(&input, policy, counts, count).map(Some)
    }

    fn notes(&self) -> Vec<String> {
        let held = "a background process still holds the output; what it prints from now on is not kept";
        let failure = self.failure.as_ref();
        let failure = failure.map(|error| format!("the output could not be read to its end: {error}"));
        let timed_out = self.ended.is_some_and(|ended| ended.stop == Stop::TimedOut);
        let timeout = timed_out.then(|| "the command timed out and was stopped".to_owned());
        self.left_running.then(|| held.to_owned()).into_iter().chain(failure).chain(timeout).collect()
    }

    /// Whether a notice may name the file of an output: it is whole, or the notice tells of the cap.
    fn is_told(&self, stream: Stream, request: &Request) -> bool {
        request.tells_cap() || self.output(stream).is_some_and(CapturedOutput::is_whole)
    }

    fn printed_path(&self, request: &Request, stream: Stream, saved: Option<&Path>) -> String {
        let told = saved.filter(|_| self.is_told(stream, request));
        let path = || told.map_or(NOT_SAVED.into(), |path| path.to_string_lossy()).into_owned();
        request.printed.get(stream).clone().unwrap_or_else(path)
    }

    /// Returns a warning if the preview needed bytes that are gone and so is not exact.
    pub(super) fn missing(&self, preview: &Preview, touched: u64) -> Option<String> {
        let holes = || self.outputs().flat_map(|out| out.content.holes().iter().map(|hole| (hole, out.kept)));
        let unread: u64 = holes().map(|(hole, _)| hole.end - hole.start).sum();
        let gone: u64 = holes().map(|(hole, kept)| hole.end.saturating_sub(hole.start.max(kept.bytes))).sum();
        let there = self.outputs().map(|output| output.seen.bytes).sum::<u64>() - unread;
        let shown = preview.parts.iter().filter_map(|part| part.range()).any(|(stream, range)| {
            let holes = self.output(stream).map_or(&[][..], |output| output.content.holes());
            holes.iter().any(|hole| hole.start < range.end as u64 && hole.end > range.start as u64)
        });
        let unread = unread - gone;
        (gone + unread > 0 && (shown || touched > there)).then(|| {
            let unread =
                if unread > 0 { format!(", {unread} before it are not read") } else { String::new() };
            format!("{gone} bytes past the cap are gone{unread}: this preview is not exact")
        })
    }
}

/// Writes the record of an output and names its spill. Returns its path if all, or all up to the cap, was saved.
fn save_one(
    captured: &mut Captured,
    stream: Stream,
    request: &Request,
    place: &Location,
    warnings: &mut Vec<String>,
) -> Option<PathBuf> {
    let path = captured.output_mut(stream)?.spill(request.cap).map(|spill| spill.file.path());
    let taken = captured.output(stream)?;
    let dir =
        path.as_deref().and_then(Path::parent).map_or(String::new(), |dir| format!(" in {}", dir.display()));
    let has_failed = matches!(taken.stopped, Some(StopReason::Failed(_)));
    let path = path.filter(|_| !has_failed || taken.kept.bytes > 0);
    let saved = path.and_then(|path| {
        let saved = PerStream::each(|each| (each == stream).then(|| path.clone()));
        let fitted = captured.fit_headroom(request, &request.policy, &saved, warnings);
        let policy = fitted.map_or_else(|| request.policy.clone(), |lowered| lowered.policy);
        let fitted = Request { policy, ..request.clone() };
        let record = captured.record(captured.output(stream)?, &fitted, &path.to_string_lossy());
        captured.output_mut(stream)?.finish(&Record::Run(record), place, request.durable)
    });
    let output = captured.output(stream)?;
    let Some(StopReason::Failed(error)) = &output.stopped else { return saved };
    let part = saved.map(|path| format!("; its first {} bytes are in {}", output.kept.bytes, path.display()));
    warnings.push(format!("the whole output could not be saved{dir}: {error}{}", part.unwrap_or_default()));
    None
}
