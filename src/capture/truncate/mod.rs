//! The library's entry point for agents: takes a tool's output, returns what the model gets, and saves the whole.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::preview::{
    self, CountedPlan, Input, ParamRole, PlanError, Policy, PolicyError, Status, Stream, Totals, TotalsFor,
    TotalsMask,
};
use crate::text::supply::CopySupply;
use crate::text::units::{self, Measure};

use super::captured::{Captured, CapturedOutput};
use super::finish::{NOT_SAVED, NoPreview};
use super::process::StartError;
use super::request::{Mishap, Request, set_mishaps};
use super::spill::Spill;
use super::spill::location::Location;
use super::spill::sink::{Sink, SinkLimits};
use super::{Outcome, errors_in, errors_of};

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The policy is faulty, or the agent's own tool would reply with this error.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The policy's agent would crash on this output, with this message.
    #[error("the agent itself crashes on this output: {0}")]
    Crashed(String),
    /// A command's output has no preview; the error says where the output was saved.
    #[error(transparent)]
    NoPreview(#[from] NoPreview),
    /// The command could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// An output that arrived in chunks cannot be read back.
    #[error("the output cannot be read back: {0}")]
    Io(#[from] io::Error),
}

/// Cuts the outputs of an agent's tools as a policy says, and saves the whole of what is cut.
///
/// ```
/// use overspill::capture::{Location, Truncator};
/// use overspill::preview::Policy;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let store = tempfile::tempdir()?;
/// let mut grep = Policy::builtin("opencode/output")?;
/// grep.set("max_lines", "100")?;
/// let truncator = Truncator::new("opencode/output")?
///     .with_tool("grep", grep)
///     .may_delegate(true)
///     .save_in(Location::dir(store.path().join("outputs")));
///
/// let output = "src/main.rs:1:fn main() {\n".repeat(1500);
/// let outcome = truncator.truncate(&output, "grep")?;
/// assert!(outcome.truncated && outcome.text.contains("...1401 lines truncated..."));
/// let path = outcome.saved_to.expect("it was saved");
/// assert!(outcome.text.contains(&*path.to_string_lossy()) && outcome.text.contains("Task tool"));
/// assert_eq!(std::fs::read_to_string(path)?, output);
///
/// // The other tools may give the model more.
/// assert!(!truncator.truncate(&output, "shell")?.truncated);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Truncator {
    policy: Policy,
    tools: BTreeMap<String, Policy>,
    pub(super) place: Location,
    may_delegate: Option<bool>,
}

impl Truncator {
    /// Truncates with the built-in policy of this name (`agent/tool`), and saves in [`Location::default`].
    ///
    /// # Errors
    /// [`PolicyError::Unknown`], which says what may be meant.
    pub fn new(policy: &str) -> Result<Truncator, PolicyError> {
        Ok(Truncator::from_policy(Policy::builtin(policy)?))
    }

    /// Truncates with this policy, and saves in [`Location::default`].
    pub fn from_policy(policy: Policy) -> Truncator {
        Truncator { policy, tools: BTreeMap::new(), place: Location::default(), may_delegate: None }
    }

    /// Sets where outputs are saved.
    #[must_use]
    pub fn save_in(self, place: Location) -> Truncator {
        Truncator { place, ..self }
    }

    /// Sets another policy for one tool.
    #[must_use]
    pub fn with_tool(mut self, tool: &str, policy: Policy) -> Truncator {
        self.tools.insert(tool.to_owned(), policy);
        self
    }

    /// Sets whether the agent may hand a file to a sub-agent. Used by policies that mention this in their hint to the
    /// model (parameter `task_tool`).
    #[must_use]
    pub fn may_delegate(self, may: bool) -> Truncator {
        Truncator { may_delegate: Some(may), ..self }
    }

    /// Returns the policy for a tool, with its current parameters.
    pub fn policy(&self, tool: &str) -> Policy {
        let mut policy = self.tools.get(tool).unwrap_or(&self.policy).clone();
        let key = policy.key(ParamRole::Tool).map(str::to_owned);
        if let Some(key) = key.filter(|key| !policy.is_set(key)) {
            // If the policy does not know this kind of output, it treats it like any other.
            let _ = policy.set(&key, tool);
        }
        if let Some(may) = self.may_delegate.filter(|_| policy.get("task_tool").is_some()) {
            // The policy has this parameter, as was just checked.
            let _ = policy.set("task_tool", if may { "true" } else { "false" });
        }
        policy
    }

    /// Truncates a tool's output with the tool's policy, and saves the whole output if it is cut. A failed save is not
    /// an error: the text then mentions it in the policy's own way.
    ///
    /// # Errors
    /// [`Error`].
    pub fn truncate(&self, output: impl AsRef<[u8]>, tool: &str) -> Result<Outcome, Error> {
        let (bytes, request) = (output.as_ref(), Request::new(self.policy(tool)));
        let output = preview::Output { bytes, totals: &Totals::unknown() };
        let count = |want| Some(units::measure_all(bytes, want));
        let mut warnings = Vec::new();
        let save = |cap: usize| {
            let mut spill = Spill::new(self.place.begin(Stream::Stdout)?);
            spill.write_all(&bytes[..cap.min(bytes.len())])?;
            spill.file.finish(false)
        };
        let (CountedPlan { preview, .. }, saved_to) =
            saved_plan(output, count, request, save, &mut warnings)?;
        let errors = errors_in(&preview, Stream::Stdout, bytes, &mut CopySupply::from(bytes));
        // The path is already in the notices; this only turns ranges into text.
        Ok(Outcome { saved_to, warnings, ..Outcome::new(&preview, &Input::new(output, ""), errors) })
    }

    /// Takes a tool's output in chunks, while it is still coming.
    ///
    /// ```
    /// # use overspill::capture::{Location, Truncator};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let store = tempfile::tempdir()?;
    /// let truncator = Truncator::new("opencode/output")?.save_in(Location::dir(store.path()));
    /// let mut writer = truncator.writer("shell");
    /// for number in 0..5000 {
    ///     writer.push(format!("line {number}\n").as_bytes());
    /// }
    /// let outcome = writer.finish()?;
    /// assert!(outcome.truncated && outcome.text.contains("...3001 lines truncated..."));
    /// # Ok(())
    /// # }
    /// ```
    pub fn writer(&self, tool: &str) -> Writer {
        let request = Request::new(self.policy(tool));
        let limits = SinkLimits { cap: request.cap, ..SinkLimits::default() };
        Writer { sink: self.place.sink(Stream::Stdout, limits), request }
    }
}

/// A tool's output that is still arriving: held in memory while it is small, then written to a file. Memory stays
/// bounded however long the output is. If dropped before [`Writer::finish`], it leaves no file.
pub struct Writer {
    sink: Sink<Spill>,
    request: Request,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Writer");
        let policy = self.request.policy.name();
        shown.field("policy", &policy).field("bytes", &self.bytes()).finish_non_exhaustive()
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
        self.sink.counter.bytes
    }

    /// Returns the outcome, just as [`Truncator::truncate`] does for a complete output. If the output exceeds the
    /// policy's cap, only the saved part and the first and last 2 MiB of the rest are available; a warning says so if
    /// the preview needs more.
    ///
    /// # Errors
    /// [`Error`].
    pub fn finish(self) -> Result<Outcome, Error> {
        let Writer { sink, request } = self;
        let output = CapturedOutput::new(Stream::Stdout, sink)?;
        let mut captured = Captured::from_stream(crate::base::env::now(), output, None);
        let file = std::mem::take(&mut captured.stdout.file);
        let content = &captured.stdout.content;
        let save = |cap| file.save(content.bytes(), cap, captured.stdout.stopped.as_ref());
        let output = preview::Output { bytes: content.bytes(), totals: &captured.stdout.totals };
        let mut warnings = Vec::new();
        let (CountedPlan { preview, touched, .. }, saved_to) =
            saved_plan(output, |want| content.count(want), request, save, &mut warnings)?;
        warnings.extend(captured.missing(&preview, touched));
        let errors = errors_of(&preview, &captured);
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

/// Plans without a path; if that cuts, saves the output and plans again with its path, which is returned. A warning
/// names the path of a part, unless the policy's notices tell of the cap.
fn saved_plan(
    output: preview::Output,
    count: impl Fn(TotalsMask) -> Option<Measure>,
    mut request: Request,
    save: impl FnOnce(usize) -> io::Result<PathBuf>,
    warnings: &mut Vec<String>,
) -> Result<(CountedPlan, Option<PathBuf>), Error> {
    let unsaved = plan(output, &count, &request.policy, NOT_SAVED)?;
    if !unsaved.preview.is_to_be_saved() {
        return Ok((unsaved, None));
    }
    let (seen, cap) = (output.bytes.len(), usize::try_from(request.cap).unwrap_or(usize::MAX));
    let saved = save(cap);
    warnings.push(match &saved {
        Ok(path) if seen <= cap || request.tells_cap() => {
            let planned = plan(output, &count, &request.policy, &path.to_string_lossy())?;
            return Ok((planned, saved.ok()));
        }
        Ok(path) => format!("{} holds only the first {cap} of {seen} bytes", path.display()),
        Err(error) => format!("the whole output could not be saved: {error}"),
    });
    set_mishaps(&mut request.policy, &[Mishap::NotSaved]);
    Ok((plan(output, &count, &request.policy, NOT_SAVED)?, saved.ok()))
}

fn plan(
    output: preview::Output,
    count: impl Fn(TotalsMask) -> Option<Measure>,
    policy: &Policy,
    path: &str,
) -> Result<CountedPlan, Error> {
    let count = |_, want| count(want);
    let counted = preview::plan_counting(&Input::new(output, path), policy, TotalsFor::All, count)?;
    match counted.preview.status {
        Status::Crashed(words) => Err(Error::Crashed(words)),
        Status::Ok => Ok(counted),
    }
}

#[cfg(test)]
mod tests;
