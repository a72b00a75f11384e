//! The library's entry point for agents: takes a tool's output, returns what the model gets, and saves the whole.

mod writer;

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::preview::{
    self, CountedPlan, Input, PlanError, Policy, PolicyError, Status, Stream, ToCount, Want,
};
use crate::text::units::{self, Measure};

use super::process::exit::Ended;
use super::process::options::StartError;
use super::request::{Request, set_true};
use super::result::finish::{NOT_SAVED, NoPreview};
use super::spill::file::Spill;
use super::spill::location::Location;
use super::spill::sink::{HOLD, SinkLimits};

pub use writer::Writer;

/// The output of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolOutput<'a> {
    /// Everything that it printed.
    Whole(&'a [u8]),
    /// Output that the tool has already truncated: it is left alone.
    Truncated(&'a str),
}

impl<'a> From<&'a str> for ToolOutput<'a> {
    fn from(text: &'a str) -> Self {
        ToolOutput::Whole(text.as_bytes())
    }
}

impl<'a> From<&'a String> for ToolOutput<'a> {
    fn from(text: &'a String) -> Self {
        ToolOutput::Whole(text.as_bytes())
    }
}

impl<'a> From<&'a [u8]> for ToolOutput<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        ToolOutput::Whole(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for ToolOutput<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        ToolOutput::Whole(bytes)
    }
}

/// The result of truncating a tool's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// What the model gets.
    pub text: String,
    /// Whether `text` was truncated, by the policy or by the tool itself.
    pub truncated: bool,
    /// Where the whole output was saved (or its beginning, up to the policy's cap). None if the output fits, or could
    /// not be saved.
    pub saved_to: Option<PathBuf>,
    /// The same for a command's standard error, where the policy treats it separately.
    pub stderr_saved_to: Option<PathBuf>,
    /// How the command ended; none if there was no command.
    pub ended: Option<Ended>,
    /// Problems that stopped nothing, such as a failed save. Escape them before printing to a terminal.
    pub warnings: Vec<String>,
}

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
/// use overspill::capture::{Location, ToolOutput, Truncator};
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
/// // The other tools may give the model more; what a tool has cut itself is left alone.
/// assert!(!truncator.truncate(&output, "shell")?.truncated);
/// let outcome = truncator.truncate(ToolOutput::Truncated("first page"), "read")?;
/// assert_eq!((outcome.text.as_str(), outcome.saved_to), ("first page", None));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Truncator {
    policy: Policy,
    tools: BTreeMap<String, Policy>,
    place: Location,
    may_delegate: Option<bool>,
}

impl Truncator {
    /// Truncates with the built-in policy of this name (`agent/tool`), and saves in [`Location::default`].
    ///
    /// # Errors
    /// [`PolicyError::Unknown`], which lists the existing names.
    pub fn new(policy: &str) -> Result<Truncator, PolicyError> {
        Ok(Truncator::of(Policy::builtin(policy)?))
    }

    /// Truncates with this policy, and saves in [`Location::default`].
    pub fn of(policy: Policy) -> Truncator {
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
        let key = policy.tool_key().map(str::to_owned);
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

    /// Returns where outputs are saved.
    pub fn place(&self) -> &Location {
        &self.place
    }

    /// Truncates a tool's output with the tool's policy, and saves the whole output if it is cut. A failed save is not
    /// an error: the text then mentions it in the policy's own way.
    ///
    /// # Errors
    /// [`Error`].
    pub fn truncate<'a>(&self, output: impl Into<ToolOutput<'a>>, tool: &str) -> Result<Outcome, Error> {
        let bytes = match output.into() {
            ToolOutput::Whole(bytes) => bytes,
            ToolOutput::Truncated(text) => {
                return Ok(Outcome { text: text.to_owned(), truncated: true, ..Outcome::default() });
            }
        };
        let policy = self.policy(tool);
        let kept = &bytes[..cap(&policy).min(bytes.len())];
        let count = |want| Some(units::measure_all(bytes, want));
        Ok(outcome(bytes, count, policy, || save(kept, &self.place))?.0)
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
        let policy = self.policy(tool);
        let limits = SinkLimits { hold: HOLD, cap: cap(&policy) as u64, want: Want::ALL };
        Writer { sink: self.place.sink(Stream::Stdout, limits), policy }
    }
}

/// Plans without a path first; if that cuts, saves the output and plans again with its path. `truncated` always belongs
/// to the returned text: where the path's length counts, the two plans may differ.
fn outcome(
    bytes: &[u8],
    count: impl Fn(Want) -> Option<Measure>,
    mut policy: Policy,
    save: impl FnOnce() -> io::Result<PathBuf>,
) -> Result<(Outcome, preview::Preview, u64), Error> {
    let unsaved = planned(bytes, &count, &policy, NOT_SAVED)?;
    if !unsaved.preview.is_to_be_saved() {
        return Ok(of_plan(bytes, unsaved, None));
    }
    match save() {
        Ok(path) => {
            let saved = planned(bytes, &count, &policy, &path.to_string_lossy())?;
            Ok(of_plan(bytes, saved, Some(path)))
        }
        Err(error) => {
            set_true(&mut policy, &["save_failed"]);
            let mut made = of_plan(bytes, planned(bytes, &count, &policy, NOT_SAVED)?, None);
            made.0.warnings.push(format!("the whole output could not be saved: {error}"));
            Ok(made)
        }
    }
}

fn of_plan(
    bytes: &[u8],
    counted: CountedPlan,
    saved_to: Option<PathBuf>,
) -> (Outcome, preview::Preview, u64) {
    let CountedPlan { preview, touched, .. } = counted;
    // The path is already in the notices; this only turns ranges into text.
    let text = preview.text(&Input::of(bytes, ""));
    let outcome = Outcome { text, truncated: preview.truncated, saved_to, ..Outcome::default() };
    (outcome, preview, touched)
}

fn planned(
    bytes: &[u8],
    count: impl Fn(Want) -> Option<Measure>,
    policy: &Policy,
    path: &str,
) -> Result<CountedPlan, Error> {
    let count = |_, want| count(want);
    let counted = preview::plan_counting(&Input::of(bytes, path), policy, ToCount::Text, count)?;
    match counted.preview.status {
        Status::Crashed(words) => Err(Error::Crashed(words)),
        Status::Ok => Ok(counted),
    }
}

/// Returns the maximum number of bytes to save.
fn cap(policy: &Policy) -> usize {
    usize::try_from(Request::new(policy.clone()).cap).unwrap_or(usize::MAX)
}

fn save(bytes: &[u8], place: &Location) -> io::Result<PathBuf> {
    let mut spill = Spill::new(place.begin(Stream::Stdout)?);
    spill.write_all(bytes)?;
    spill.finish(false)
}

#[cfg(test)]
mod tests;
