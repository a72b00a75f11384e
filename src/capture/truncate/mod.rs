//! The library's door for agents: a tool's output in, what the model gets out, the whole saved where that says.

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

/// What a tool gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolOutput<'a> {
    /// All that it printed.
    Whole(&'a [u8]),
    /// What the tool itself has cut already: it is left alone.
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

/// What becomes of a tool's output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Outcome {
    /// What the model gets.
    pub text: String,
    /// Whether `text` is cut, by the policy or by the tool before.
    pub truncated: bool,
    /// Where the whole output is (or its beginning, as far as the policy's cap allows). None if the output fits, or
    /// could not be saved.
    pub saved_to: Option<PathBuf>,
    /// The same for a command's standard error, where the policy takes it apart.
    pub stderr_saved_to: Option<PathBuf>,
    /// How the command ended; none if there was no command.
    pub ended: Option<Ended>,
    /// What went wrong without stopping anything, such as a failure to save; not safe for a terminal as it is.
    pub warnings: Vec<String>,
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The policy has a mistake, or the agent's own tool would answer with this error.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The agent that the policy is of would crash on this output, with these words.
    #[error("the agent itself crashes on this output: {0}")]
    Crashed(String),
    /// There is no preview of a command's output; it says where the output was saved.
    #[error(transparent)]
    NoPreview(#[from] NoPreview),
    /// The command could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// An output that came in chunks cannot be read back.
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
    /// Cuts as the built-in policy of this name (`agent/tool`) says, and saves in [`Location::default`].
    ///
    /// # Errors
    /// [`PolicyError::Unknown`] lists the names that there are.
    pub fn new(policy: &str) -> Result<Truncator, PolicyError> {
        Ok(Truncator::of(Policy::builtin(policy)?))
    }

    /// Cuts as this policy says, and saves in [`Location::default`].
    pub fn of(policy: Policy) -> Truncator {
        Truncator { policy, tools: BTreeMap::new(), place: Location::default(), may_delegate: None }
    }

    /// Saves in another place.
    #[must_use]
    pub fn save_in(self, place: Location) -> Truncator {
        Truncator { place, ..self }
    }

    /// Another policy for one tool.
    #[must_use]
    pub fn with_tool(mut self, tool: &str, policy: Policy) -> Truncator {
        self.tools.insert(tool.to_owned(), policy);
        self
    }

    /// Whether the agent may hand a file to a helper of its own: a policy that tells the model so
    /// in its hint (`task_tool`) goes by this.
    #[must_use]
    pub fn may_delegate(self, may: bool) -> Truncator {
        Truncator { may_delegate: Some(may), ..self }
    }

    /// The policy for a tool, as it is set now.
    pub fn policy(&self, tool: &str) -> Policy {
        let mut policy = self.tools.get(tool).unwrap_or(&self.policy).clone();
        let key = policy.tool_key().map(str::to_owned);
        if let Some(key) = key.filter(|key| !policy.is_set(key)) {
            // A kind of output that the policy does not know is cut as any other.
            let _ = policy.set(&key, tool);
        }
        if let Some(may) = self.may_delegate.filter(|_| policy.get("task_tool").is_some()) {
            // The policy has just said that it has it.
            let _ = policy.set("task_tool", if may { "true" } else { "false" });
        }
        policy
    }

    /// Where outputs are saved.
    pub fn place(&self) -> &Location {
        &self.place
    }

    /// Cuts a tool's output as the tool's policy says, and saves the whole if it is cut. A save that fails is
    /// no error: the text then says so in the policy's own way.
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
        let limits = SinkLimits { hold: HOLD, cap: cap(&policy) as u64, want: policy.needs() };
        Writer { sink: self.place.sink(Stream::Stdout, limits), policy }
    }
}

/// Plans with the path of nothing; if that cuts, saves and plans with the path that there is. The flag is always that
/// of the text: where the length of the path counts, the two plans may differ.
fn outcome(
    bytes: &[u8],
    count: impl Fn(Want) -> Option<Measure>,
    mut policy: Policy,
    save: impl FnOnce() -> io::Result<PathBuf>,
) -> Result<(Outcome, preview::Preview, u64), Error> {
    let unsaved = planned(bytes, &count, &policy, NOT_SAVED)?;
    if !unsaved.preview.truncated {
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
    // What is made into text are ranges; the path is in the notices already.
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

/// Bytes that are saved at most.
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
