//! From a capture to the preview that a model would get of it, the spill kept where that says it is.

use std::path::{Path, PathBuf};

use crate::capture::request::{CAP, Keep, Wish, set_true};
use crate::capture::spill::content::Content;
use crate::capture::spill::file::Spill;
use crate::capture::spill::location::Place;
use crate::capture::spill::sink::Stopped;
use crate::preview::{self, Input, PlanError, Policy, Preview, Stream, Totals};
use crate::source;

use super::captured::{Captured, CapturedOutput};
use super::record::Record;

/// The path that notices print where nothing was saved.
pub const NOT_SAVED: &str = "<not saved>";

/// A preview and all that it is made from.
#[derive(Debug)]
pub struct Delivery {
    /// The policy, with what the capture told it.
    pub policy: Policy,
    /// What the model gets; of standard output where the policy does not know the two apart.
    pub preview: Preview,
    /// What it gets of standard error, where that was apart and the policy does not know it.
    pub stderr_preview: Option<Preview>,
    /// What was captured.
    pub captured: Captured,
    /// Where the outputs were saved, in order.
    pub saved: [Option<PathBuf>; 2],
    /// What went wrong without stopping anything; not safe for a terminal as it is.
    pub warnings: Vec<String>,
    /// What the policy was told of the capture: names of parameters that are `true` because of it.
    pub told: Vec<&'static str>,
    paths: [String; 2],
    totals: [Totals; 2],
}

/// There is no preview of what was captured; what was captured is there all the same.
#[derive(Debug, thiserror::Error)]
#[error("{error}{}", whereabouts(saved))]
pub struct NoPreview {
    /// Why.
    #[source]
    pub error: PlanError,
    /// Where the outputs were saved, in order.
    pub saved: [Option<PathBuf>; 2],
}

fn whereabouts(saved: &[Option<PathBuf>; 2]) -> String {
    let paths: Vec<String> = saved.iter().flatten().map(|path| path.display().to_string()).collect();
    if paths.is_empty() { String::new() } else { format!("; the whole output is in {}", paths.join(" and ")) }
}

impl Delivery {
    /// What [`Delivery::preview`] is a preview of.
    pub fn input(&self) -> Input<'_> {
        input(&self.captured, &self.policy, &self.totals, &self.paths)
    }

    /// What [`Delivery::stderr_preview`] is a preview of.
    pub fn stderr_input(&self) -> Input<'_> {
        let bytes = self.captured.stderr.as_ref().map_or(&[][..], |output| output.content().bytes());
        alone(&self.captured, bytes, &self.totals[1], &self.paths[1])
    }

    /// The preview's text.
    pub fn text(&self) -> String {
        self.preview.text(&self.input())
    }

    /// Whether the policy's own notice tells that saving stopped at a cap.
    pub fn tells_cap(&self) -> bool {
        self.policy.get(CAP).is_some()
    }

    /// Whether anything was cut.
    pub fn is_cut(&self) -> bool {
        self.preview.truncated || self.stderr_preview.as_ref().is_some_and(|preview| preview.truncated)
    }
}

/// Both outputs, as a policy that knows them apart takes them.
fn input<'a>(
    captured: &'a Captured,
    policy: &Policy,
    totals: &'a [Totals; 2],
    paths: &'a [String; 2],
) -> Input<'a> {
    let stderr = captured.stderr.as_ref().filter(|_| policy.takes_stderr());
    let stderr = stderr.map(|output| preview::Output { bytes: output.content().bytes(), totals: &totals[1] });
    let main = alone(captured, captured.stdout.content().bytes(), &totals[0], &paths[0]);
    Input { stderr, saved_as_stderr: &paths[1], ..main }
}

fn alone<'a>(captured: &Captured, bytes: &'a [u8], totals: &'a Totals, path: &'a str) -> Input<'a> {
    let exit_code = captured.ended.map(|ended| ended.exit_code().into());
    Input { exit_code, ..Input::new(preview::Output { bytes, totals }, path) }
}

impl Captured {
    /// Plans the preview, and gives the spills that are to be kept their names. What is not kept
    /// is removed.
    ///
    /// # Errors
    /// As [`preview::plan`]'s. The output is kept then, unless [`Keep::Never`] is wished.
    pub fn deliver(mut self, wish: &Wish, place: &Place) -> Result<Delivery, NoPreview> {
        let wish = &wish.of_ended(self.ended);
        let mut policy = wish.policy.clone();
        let mut told = Vec::new();
        if self.ended.is_some_and(|ended| ended.is_aborted()) {
            told.push("aborted");
            set_true(&mut policy, &told);
        }
        let mut warnings = self.notes();
        let saved = save(&mut self, wish, &policy, place, &mut warnings);
        let cut_unsaved = |at: usize| saved[at].wanted && saved[at].path.is_none();
        if wish.keep == Keep::Never || cut_unsaved(0) || cut_unsaved(1) {
            told.push("save_failed");
            set_true(&mut policy, &told);
        }
        let path = |at: usize| match (&wish.printed[at], &saved[at].path) {
            (Some(printed), _) => printed.clone(),
            (None, Some(path)) => path.to_string_lossy().into_owned(),
            (None, None) => NOT_SAVED.to_owned(),
        };
        let paths = [path(0), path(1)];
        let mut totals = [self.stdout.totals, self.stderr.as_ref().map_or(Totals::unknown(), |e| e.totals)];
        let saved = saved.map(|saved| saved.path);
        let planned = self.planned(&policy, &mut totals, &paths, wish.counts).and_then(|planned| {
            let apart = self.planned_apart(&policy, &mut totals, &paths, wish.counts)?;
            Ok((planned, apart))
        });
        let ((preview, touched), stderr_preview) = match planned {
            Ok(planned) => planned,
            Err(error) => return Err(NoPreview { error, saved }),
        };
        warnings.extend(self.missing(&preview, touched));
        Ok(Delivery { policy, preview, stderr_preview, captured: self, saved, warnings, told, paths, totals })
    }

    /// Keeps the output if that is wanted, and plans nothing: for what has been looked at. What is over
    /// the cap is cut off. Where it is then; what went wrong is added to `warnings`.
    pub fn keep(mut self, wish: &Wish, place: &Place, warnings: &mut Vec<String>) -> Option<PathBuf> {
        warnings.extend(self.notes());
        let wanted = self.is_wanted(Stream::Stdout, wish, &wish.policy);
        self.stdout.cut(wish.cap);
        wanted.then(|| save_one(&mut self, Stream::Stdout, wish, place, warnings)).flatten()
    }

    /// Whether a stream's output is to be kept. It is when the policy does not say: a mistake in a policy must not
    /// cost an output that may have taken hours.
    fn is_wanted(&self, stream: Stream, wish: &Wish, policy: &Policy) -> bool {
        match wish.keep {
            Keep::Always => true,
            Keep::Never => false,
            Keep::Cut => is_cut(self, stream, policy).unwrap_or(true),
        }
    }

    /// Plans, counts what that turns out to need, and plans again.
    fn planned(
        &self,
        policy: &Policy,
        totals: &mut [Totals; 2],
        paths: &[String; 2],
        counts: bool,
    ) -> Result<(Preview, u64), PlanError> {
        loop {
            let (planned, touched) = preview::plan_touching(&input(self, policy, totals, paths), policy);
            let preview = planned?;
            if !self.count(&preview, totals, counts) {
                return Ok((preview, touched));
            }
        }
    }

    /// Counts what a preview waits for; whether there was anything to count.
    fn count(&self, preview: &Preview, totals: &mut [Totals; 2], counts: bool) -> bool {
        let more = if counts { preview.counts_waiting_for } else { preview::Want::NOTHING };
        let wanted = preview.waiting_for | more;
        let mut any = false;
        for (output, totals) in self.outputs().zip(totals) {
            let lacking = wanted.without(totals.known());
            let counted = match output.content() {
                _ if lacking.is_empty() => continue,
                Content::Held(bytes) => crate::text::units::measure_all(bytes, lacking),
                Content::File(view) => source::count(view, lacking),
                // What is gone cannot be counted any more.
                Content::Ends(..) => continue,
            };
            *totals = totals.or(Totals::of(&counted, lacking));
            any = true;
        }
        any
    }

    /// The preview of standard error alone, where it is apart and the policy does not know it.
    fn planned_apart(
        &self,
        policy: &Policy,
        totals: &mut [Totals; 2],
        paths: &[String; 2],
        counts: bool,
    ) -> Result<Option<Preview>, PlanError> {
        let Some(stderr) = self.stderr.as_ref().filter(|_| !policy.takes_stderr()) else { return Ok(None) };
        loop {
            let input = alone(self, stderr.content().bytes(), &totals[1], &paths[1]);
            let preview = preview::plan(&input, policy)?;
            if !self.count(&preview, totals, counts) {
                return Ok(Some(preview));
            }
        }
    }

    /// What was not as it should be.
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.left_running {
            notes.push(
                "a background process still holds the output; what it prints from now on is not kept".into(),
            );
        }
        notes.extend(
            self.failure.as_ref().map(|error| format!("the output could not be read to its end: {error}")),
        );
        notes
    }

    /// A preview that needed bytes which are nowhere any more is not exact, and that is said.
    fn missing(&self, preview: &Preview, touched: u64) -> Option<String> {
        let holes = self.outputs().flat_map(|output| output.content().holes());
        let gone: u64 = holes.map(|hole| hole.end - hole.start).sum();
        let there = self.outputs().map(|output| output.seen.bytes).sum::<u64>() - gone;
        let shown = preview.parts.iter().filter_map(|part| part.range()).any(|(stream, range)| {
            let output = if stream == Stream::Stdout { Some(&self.stdout) } else { self.stderr.as_ref() };
            let holes = output.map_or(&[][..], |output| output.content().holes());
            holes.iter().any(|hole| hole.start < range.end as u64 && hole.end > range.start as u64)
        });
        (gone > 0 && (shown || touched > there)).then(|| {
            format!("{gone} bytes in the middle were past the cap and are gone: this preview is not exact")
        })
    }
}

/// What became of a spill.
#[derive(Debug, Default)]
struct Saved {
    /// It was to be kept.
    wanted: bool,
    /// Where the whole of it (or all up to its cap) is.
    path: Option<PathBuf>,
}

fn save(
    captured: &mut Captured,
    wish: &Wish,
    policy: &Policy,
    place: &Place,
    warnings: &mut Vec<String>,
) -> [Saved; 2] {
    let mut saved = [Saved::default(), Saved::default()];
    for (stream, saved) in [Stream::Stdout, Stream::Stderr].into_iter().zip(&mut saved) {
        saved.wanted = captured.is_wanted(stream, wish, policy);
        if saved.wanted {
            saved.path = save_one(captured, stream, wish, place, warnings);
        }
    }
    saved
}

/// Whether the policy cuts this stream, whatever it does to the other.
fn is_cut(captured: &Captured, stream: Stream, policy: &Policy) -> Result<bool, PlanError> {
    const NONE: preview::Output = preview::Output { bytes: &[], totals: &Totals::unknown() };
    let output = output(captured, stream)
        .map(|output| preview::Output { bytes: output.content().bytes(), totals: &output.totals });
    let Some(output) = output else { return Ok(false) };
    let input = match stream {
        Stream::Stderr if policy.takes_stderr() => Input { stderr: Some(output), ..Input::new(NONE, "") },
        Stream::Stdout | Stream::Stderr => Input::new(output, ""),
    };
    let exit_code = captured.ended.map(|ended| ended.exit_code().into());
    let input = Input { exit_code, ..input };
    Ok(preview::plan(&input, policy)?.truncated)
}

fn output(captured: &Captured, stream: Stream) -> Option<&CapturedOutput> {
    captured.outputs().find(|output| output.stream == stream)
}

fn output_mut(captured: &mut Captured, stream: Stream) -> Option<&mut CapturedOutput> {
    match stream {
        Stream::Stdout => Some(&mut captured.stdout),
        Stream::Stderr => captured.stderr.as_mut(),
    }
}

/// Saves one stream's output; its path, if that is the whole, or the whole up to the cap.
fn save_one(
    captured: &mut Captured,
    stream: Stream,
    wish: &Wish,
    place: &Place,
    warnings: &mut Vec<String>,
) -> Option<PathBuf> {
    let path = output_mut(captured, stream)?.spill(wish.cap).map(Spill::path);
    let saved = path.and_then(|path| finish(captured, stream, wish, place, &path));
    let output = output(captured, stream)?;
    let Some(Stopped::Failed(error)) = &output.stopped else { return saved };
    let part = saved.map(|path| format!("; its first {} bytes are in {}", output.kept.bytes, path.display()));
    warnings.push(format!("the whole output could not be saved: {error}{}", part.unwrap_or_default()));
    None
}

/// Writes the record and gives the spill its name; a failed one that has nothing goes.
fn finish(
    captured: &mut Captured,
    stream: Stream,
    wish: &Wish,
    place: &Place,
    path: &Path,
) -> Option<PathBuf> {
    let taken = output(captured, stream)?;
    if matches!(taken.stopped, Some(Stopped::Failed(_))) && taken.kept.bytes == 0 {
        return None;
    }
    let record = Record::new(captured, taken, &wish.about, &path.to_string_lossy());
    output_mut(captured, stream)?.finish(&record, place, wish.durable)
}
