//! The library's door for agents: a tool's output in, what the model gets out, the whole saved where that says.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::preview::{self, Input, PlanError, Policy, Stream, Totals};
use crate::text::units;

use super::request::Wish;
use super::result::finish::NOT_SAVED;
use super::spill::file::Spill;
use super::spill::location::Place;

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
/// # std::fs::create_dir_all(home.path().join(".config/overspill"))?;
/// # std::fs::write(home.path().join(".config/overspill/config.toml"), "[tools.grep]\nmax_lines = 100\n")?;
/// // Policies and limits as the user has configured them; in config.toml `[tools.grep]` has `max_lines = 100`.
/// let config = Config::load(env.clone())?;
/// let rest = config.resolve(&Wishes::default(), None)?.policy;
/// let grep = config.resolve(&Wishes { tool: Some("grep".into()), ..Wishes::default() }, None)?.policy;
/// let place = Place::own(&env, Timestamp::now());
/// let rules = Rules::new(rest, place).with_tool("grep", grep).may_delegate(true);
///
/// let output = "src/main.rs:1:fn main() {\n".repeat(1500);
/// let outcome = truncate(output.as_str(), "grep", &rules)?;
/// assert!(outcome.truncated && outcome.text.contains("...1401 lines truncated..."));
/// let path = outcome.saved_to.expect("it was saved");
/// assert!(outcome.text.contains(&*path.to_string_lossy()) && outcome.text.contains("Task tool"));
/// assert_eq!(std::fs::read_to_string(path)?, output);
///
/// // The other tools may give the model more; what a tool has cut itself is left alone.
/// assert!(!truncate(output.as_str(), "shell", &rules)?.truncated);
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
    let whole = planned(bytes, &policy, NOT_SAVED)?;
    if !whole.truncated {
        return Ok(Outcome { text: whole.text, truncated: false, saved_to: None, warning: None });
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

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::preview::Catalog;
    use crate::store::Env;

    fn rules(policy: &str, set: &[(&str, &str)]) -> (tempfile::TempDir, Rules) {
        let home = tempfile::tempdir().unwrap();
        let mut policy = Catalog::builtin().get(policy).unwrap();
        set.iter().for_each(|(key, value)| policy.set(key, value).unwrap());
        let place = Place::own(&Env::hermetic(home.path()), Timestamp::now());
        (home, Rules::new(policy, place))
    }

    /// The same, where nothing can be saved.
    fn without_a_place(policy: &str, set: &[(&str, &str)]) -> (tempfile::TempDir, Rules) {
        let (home, rules) = rules(policy, set);
        std::fs::write(home.path().join(".local"), "").unwrap();
        (home, rules)
    }

    #[test]
    fn what_is_within_its_limits_is_not_touched() {
        let (home, rules) = rules("opencode/output", &[]);
        let outcome = truncate("little\n", "shell", &rules).unwrap();
        let expected = Outcome { text: "little\n".into(), truncated: false, saved_to: None, warning: None };
        assert_eq!(outcome, expected);
        assert!(!home.path().join(".local").exists());
    }

    #[test]
    fn a_save_that_fails_is_said_as_the_policy_says_it() {
        let limit = [("max_lines", "1")];
        let (_home, rules) = without_a_place("opencode/output", &limit);
        let outcome = truncate("a\nb\n", "shell", &rules).unwrap();
        assert!(outcome.text.contains("saved to: <not saved>") && outcome.saved_to.is_none());
        assert!(outcome.warning.unwrap().contains("could not be saved"));
        let (_home, rules) = without_a_place("go-opencode/bash", &limit);
        let text = truncate("a\nb\n", "shell", &rules).unwrap().text;
        assert!(text.starts_with("<stdout truncated: 3 lines total>\n\na\nb"), "{text}");
    }

    #[test]
    fn the_policy_s_cap_holds() {
        let (_home, rules) = rules("go-opencode/bash", &[("max_lines", "1"), ("max_saved_bytes", "3")]);
        let outcome = truncate("a\nb\nc\n", "shell", &rules).unwrap();
        assert_eq!(std::fs::read(outcome.saved_to.unwrap()).unwrap(), b"a\nb");
        assert!(outcome.text.contains(" (truncated at 100MB)\n"), "{}", outcome.text);
    }

    #[test]
    fn a_policy_that_tells_kinds_apart_is_told_the_tool() {
        let (_home, rules) = rules("basic/recommended", &[]);
        let lines = "x\n".repeat(300);
        assert!(truncate(lines.as_str(), "grep", &rules).unwrap().truncated);
        assert!(!truncate(lines.as_str(), "shell", &rules).unwrap().truncated);
    }

    #[test]
    fn the_hint_goes_by_whether_the_agent_may_delegate() {
        let (_home, rules) = rules("opencode/output", &[("max_lines", "1")]);
        let text = |rules: &Rules| truncate("a\nb\n", "shell", rules).unwrap().text;
        assert!(text(&rules).contains("Use Grep"));
        assert!(text(&rules.clone().may_delegate(true)).contains("Use the Task tool"));
        assert!(text(&rules.may_delegate(false)).contains("Use Grep"));
    }

    #[test]
    fn where_the_agent_would_crash_so_it_says() {
        let (_home, rules) = rules("go-opencode/legacy", &[]);
        let lines = "x\n".repeat(3000);
        let error = truncate(lines.as_str(), "shell", &rules).unwrap_err();
        assert!(matches!(error, Error::Crashed(words) if words.contains("out of range")));
    }
}
