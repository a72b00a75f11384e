//! The library's door for agents: a tool's output in, what the model gets out, the whole saved where that says.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::preview::{self, Input, PlanError, Policy, Stream, Totals};
use crate::text::units;

use super::deliver::{NOT_SAVED, Wish};
use super::place::Place;
use super::spill::Spill;

/// What a tool gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output<'a> {
    /// All that it printed.
    Whole(&'a [u8]),
    /// What the tool itself has cut already: it is left alone.
    Truncated(&'a str),
}

impl<'a> From<&'a str> for Output<'a> {
    fn from(text: &'a str) -> Self {
        Output::Whole(text.as_bytes())
    }
}

impl<'a> From<&'a [u8]> for Output<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Output::Whole(bytes)
    }
}

/// What becomes of a tool's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What the model gets.
    pub text: String,
    /// Whether anything was cut, by us or by the tool before.
    pub truncated: bool,
    /// Where the whole is (or its beginning, as far as the cap allows); none if nothing was cut,
    /// or it could not be saved.
    pub saved_to: Option<PathBuf>,
    /// Why it could not be saved.
    pub warning: Option<String>,
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The policy has a mistake, or the agent's own tool would answer with this error.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The agent that the policy is of would crash on this output, with these words.
    #[error("the agent itself crashes on this output: {0}")]
    Crashed(String),
}

/// The policies of an agent's tools, and where outputs that are cut are saved.
#[derive(Clone, Debug)]
pub struct Rules {
    policy: Policy,
    tools: BTreeMap<String, Policy>,
    place: Place,
    may_delegate: Option<bool>,
}

impl Rules {
    /// One policy for every tool, and a place to save.
    pub fn new(policy: Policy, place: Place) -> Rules {
        Rules { policy, tools: BTreeMap::new(), place, may_delegate: None }
    }

    /// Another policy for one tool.
    #[must_use]
    pub fn with_tool(mut self, tool: &str, policy: Policy) -> Rules {
        self.tools.insert(tool.to_owned(), policy);
        self
    }

    /// Whether the agent may hand a file to a helper of its own: a policy that tells the model so
    /// in its hint (`task_tool`) goes by this.
    #[must_use]
    pub fn may_delegate(self, may: bool) -> Rules {
        Rules { may_delegate: Some(may), ..self }
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
}

/// Cuts a tool's output as the rules say, and saves the whole if it was cut. A save that fails is
/// no error: the text then says so in the policy's own way.
///
/// ```
/// use jiff::Timestamp;
/// use overspill::capture::{Output, Place, Rules, truncate};
/// use overspill::config::{Config, Wishes};
/// use overspill::store::Env;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let home = tempfile::tempdir()?;
/// # let env = Env::hermetic(home.path());
/// // Policies and limits as the user has configured them, grep's apart from the rest.
/// let config = Config::load(env.clone())?;
/// let policy = |tool: &str| {
///     let tool = Some(tool.to_owned());
///     config.resolve(&Wishes { policy: Some("opencode/output".into()), tool: None, ..Wishes::default() }, None)
///         .map(|resolved| (tool, resolved.policy))
/// };
/// let (_, shell) = policy("shell")?;
/// let (_, mut grep) = policy("grep")?;
/// grep.set_max_lines(100)?;
/// let rules = Rules::new(shell, Place::own(&env, Timestamp::now())).with_tool("grep", grep).may_delegate(true);
///
/// let output = "src/main.rs:1:fn main() {\n".repeat(5000);
/// let outcome = truncate(output.as_str(), "grep", &rules)?;
/// assert!(outcome.truncated && outcome.text.contains("...4901 lines truncated..."));
/// let path = outcome.saved_to.expect("it was saved");
/// assert!(outcome.text.contains(&*path.to_string_lossy()) && outcome.text.contains("Task tool"));
/// assert_eq!(std::fs::read_to_string(path)?, output);
///
/// // What the tool has cut itself is left alone.
/// let outcome = truncate(Output::Truncated("first page"), "read", &rules)?;
/// assert_eq!((outcome.text.as_str(), outcome.saved_to), ("first page", None));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error`].
pub fn truncate<'a>(output: impl Into<Output<'a>>, tool: &str, rules: &Rules) -> Result<Outcome, Error> {
    let bytes = match output.into() {
        Output::Whole(bytes) => bytes,
        Output::Truncated(text) => {
            return Ok(Outcome { text: text.to_owned(), truncated: true, saved_to: None, warning: None });
        }
    };
    let mut policy = rules.policy(tool);
    if !planned(bytes, &policy, "")?.truncated {
        let text = planned(bytes, &policy, "")?.text;
        return Ok(Outcome { text, truncated: false, saved_to: None, warning: None });
    }
    let (saved_to, warning) = match save(bytes, &policy, &rules.place) {
        Ok(path) => (Some(path), None),
        Err(error) => {
            if policy.get("save_failed").is_some() {
                // The policy has just said that it has it.
                let _ = policy.set("save_failed", "true");
            }
            (None, Some(format!("the whole output could not be saved: {error}")))
        }
    };
    let path = saved_to.as_ref().map_or(NOT_SAVED.into(), |path| path.to_string_lossy());
    let Planned { text, .. } = planned(bytes, &policy, &path)?;
    Ok(Outcome { text, truncated: true, saved_to, warning })
}
struct Planned {
    text: String,
    truncated: bool,
}

fn planned(bytes: &[u8], policy: &Policy, path: &str) -> Result<Planned, Error> {
    let mut totals = Totals::unknown();
    loop {
        let input = Input::new(preview::Output { bytes, totals: &totals }, path);
        let preview = preview::plan(&input, policy)?;
        if let preview::Status::Crashed(words) = preview.status {
            return Err(Error::Crashed(words));
        }
        let lacking = preview.waiting_for.without(totals.known());
        if lacking.is_empty() {
            return Ok(Planned { text: preview.text(&input), truncated: preview.truncated });
        }
        totals = totals.or(Totals::of(&units::measure_all(bytes, lacking), lacking));
    }
}

/// Saves the whole, as far as the policy's cap allows.
fn save(bytes: &[u8], policy: &Policy, place: &Place) -> io::Result<PathBuf> {
    let mut spill = Spill::new(place.begin(Stream::Stdout)?);
    let cap = usize::try_from(Wish::new(policy.clone()).cap).unwrap_or(usize::MAX);
    spill.write_all(&bytes[..cap.min(bytes.len())])?;
    spill.finish(false)
}
