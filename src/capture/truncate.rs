//! The library's door for agents: a tool's output in, what the model gets out, the whole saved where that says.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use crate::preview::{self, Counted, Counts, Input, PlanError, Policy, PolicyError, Status, Stream, Want};
use crate::text::units::{self, Measure};

use super::process::exit::Ended;
use super::process::options::StartError;
use super::request::{Wish, set_true};
use super::result::captured::{Captured, CapturedOutput};
use super::result::finish::{NOT_SAVED, NoPreview};
use super::spill::file::Spill;
use super::spill::location::Place;
use super::spill::sink::{HOLD, Limits, Sink};

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
/// use overspill::capture::{Place, ToolOutput, Truncator};
/// use overspill::preview::Policy;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let store = tempfile::tempdir()?;
/// let mut grep = Policy::builtin("opencode/output")?;
/// grep.set("max_lines", "100")?;
/// let truncator = Truncator::new("opencode/output")?
///     .with_tool("grep", grep)
///     .may_delegate(true)
///     .save_in(Place::dir(store.path().join("outputs")));
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
    place: Place,
    may_delegate: Option<bool>,
}

impl Truncator {
    /// Cuts as the built-in policy of this name (`agent/tool`) says, and saves in [`Place::default`].
    ///
    /// # Errors
    /// [`PolicyError::Unknown`] lists the names that there are.
    pub fn new(policy: &str) -> Result<Truncator, PolicyError> {
        Ok(Truncator::of(Policy::builtin(policy)?))
    }

    /// Cuts as this policy says, and saves in [`Place::default`].
    pub fn of(policy: Policy) -> Truncator {
        Truncator { policy, tools: BTreeMap::new(), place: Place::default(), may_delegate: None }
    }

    /// Saves in another place.
    #[must_use]
    pub fn save_in(self, place: Place) -> Truncator {
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
    pub fn place(&self) -> &Place {
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
    /// # use overspill::capture::{Place, Truncator};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let store = tempfile::tempdir()?;
    /// let truncator = Truncator::new("opencode/output")?.save_in(Place::dir(store.path()));
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
        let limits = Limits { hold: HOLD, cap: cap(&policy) as u64, want: policy.needs() };
        Writer { sink: self.place.sink(Stream::Stdout, limits), policy }
    }
}

/// A tool's output that is still coming: held while it is small, then written to a file. Memory stays bounded,
/// however long the output is. Dropped unfinished, it leaves no file.
pub struct Writer {
    sink: Sink<Spill>,
    policy: Policy,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Writer");
        shown.field("policy", &self.policy.name()).field("bytes", &self.bytes()).finish_non_exhaustive()
    }
}

impl Writer {
    /// Takes the next chunk of any size; it may end within a character. Never fails: what cannot be saved is
    /// counted all the same.
    pub fn push(&mut self, chunk: &[u8]) {
        self.sink.push(chunk);
    }

    /// Bytes that came so far.
    pub fn bytes(&self) -> u64 {
        self.sink.bytes()
    }

    /// The outcome, as [`Truncator::truncate`] gives it of the whole. Of an output over the policy's cap only
    /// its first and its last 2 MiB besides what was saved are still there: a warning tells if the preview needs more.
    ///
    /// # Errors
    /// [`Error`].
    pub fn finish(self) -> Result<Outcome, Error> {
        let Writer { sink, policy } = self;
        let output = CapturedOutput::new(Stream::Stdout, sink.finish())?;
        let mut captured = Captured::of_stream(jiff::Timestamp::now(), output, None);
        let file = captured.stdout.take_file();
        let content = captured.stdout.content();
        let save = || file.save(content.bytes(), cap(&policy), captured.stdout.stopped.as_ref());
        let count = |want| content.count(want);
        let (mut outcome, preview, touched) = outcome(content.bytes(), count, policy.clone(), save)?;
        outcome.warnings.extend(captured.missing(&preview, touched));
        Ok(outcome)
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

fn of_plan(bytes: &[u8], counted: Counted, saved_to: Option<PathBuf>) -> (Outcome, preview::Preview, u64) {
    let Counted { preview, touched, .. } = counted;
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
) -> Result<Counted, Error> {
    let count = |_, want| count(want);
    let counted = preview::plan_counting(&Input::of(bytes, path), policy, Counts::Text, count)?;
    match counted.preview.status {
        Status::Crashed(words) => Err(Error::Crashed(words)),
        Status::Ok => Ok(counted),
    }
}

/// Bytes that are saved at most.
fn cap(policy: &Policy) -> usize {
    usize::try_from(Wish::new(policy.clone()).cap).unwrap_or(usize::MAX)
}

fn save(bytes: &[u8], place: &Place) -> io::Result<PathBuf> {
    let mut spill = Spill::new(place.begin(Stream::Stdout)?);
    spill.write_all(bytes)?;
    spill.finish(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn truncator(policy: &str, set: &[(&str, &str)]) -> (tempfile::TempDir, Truncator) {
        let home = tempfile::tempdir().unwrap();
        let mut policy = Policy::builtin(policy).unwrap();
        set.iter().for_each(|(key, value)| policy.set(key, value).unwrap());
        let place = Place::dir(home.path().join("outputs"));
        (home, Truncator::of(policy).save_in(place))
    }

    /// The same, where nothing can be saved.
    fn without_a_place(policy: &str, set: &[(&str, &str)]) -> (tempfile::TempDir, Truncator) {
        let (home, truncator) = truncator(policy, set);
        std::fs::write(home.path().join("outputs"), "").unwrap();
        (home, truncator)
    }

    #[test]
    fn what_is_within_its_limits_is_not_touched() {
        let (home, truncator) = truncator("opencode/output", &[]);
        let outcome = truncator.truncate("little\n", "shell").unwrap();
        assert_eq!(outcome, Outcome { text: "little\n".into(), ..Outcome::default() });
        assert!(!home.path().join("outputs").exists());
    }

    #[test]
    fn a_save_that_fails_is_said_as_the_policy_says_it() {
        let limit = [("max_lines", "1")];
        let (_home, truncator) = without_a_place("opencode/output", &limit);
        let outcome = truncator.truncate("a\nb\n", "shell").unwrap();
        assert!(outcome.text.contains("saved to: <not saved>") && outcome.saved_to.is_none());
        assert!(outcome.warnings[0].contains("could not be saved"));
        let (_home, truncator) = without_a_place("go-opencode/bash", &limit);
        let text = truncator.truncate("a\nb\n", "shell").unwrap().text;
        assert!(text.starts_with("<stdout truncated: 3 lines total>\n\na\nb"), "{text}");
    }

    #[test]
    fn the_policy_s_cap_holds() {
        let (_home, truncator) =
            truncator("go-opencode/bash", &[("max_lines", "1"), ("max_saved_bytes", "3")]);
        let outcome = truncator.truncate("a\nb\nc\n", "shell").unwrap();
        assert_eq!(std::fs::read(outcome.saved_to.unwrap()).unwrap(), b"a\nb");
        assert!(outcome.text.contains(" (truncated at 100MB)\n"), "{}", outcome.text);
    }

    #[test]
    fn a_policy_that_tells_kinds_apart_is_told_the_tool() {
        let (_home, truncator) = truncator("basic/recommended", &[]);
        let lines = "x\n".repeat(300);
        assert!(truncator.truncate(&lines, "grep").unwrap().truncated);
        assert!(!truncator.truncate(&lines, "shell").unwrap().truncated);
    }

    #[test]
    fn the_hint_goes_by_whether_the_agent_may_delegate() {
        let (_home, truncator) = truncator("opencode/output", &[("max_lines", "1")]);
        let text = |truncator: &Truncator| truncator.truncate("a\nb\n", "shell").unwrap().text;
        assert!(text(&truncator).contains("Use Grep"));
        assert!(text(&truncator.clone().may_delegate(true)).contains("Use the Task tool"));
        assert!(text(&truncator.may_delegate(false)).contains("Use Grep"));
    }

    #[test]
    fn where_the_agent_would_crash_so_it_says() {
        let (_home, truncator) = truncator("go-opencode/legacy", &[]);
        let lines = "x\n".repeat(3000);
        let error = truncator.truncate(&lines, "shell").unwrap_err();
        assert!(matches!(error, Error::Crashed(words) if words.contains("out of range")));
    }

    /// Its response always names the file, and is cut at `max` bytes with that name in it.
    fn naming(max: usize) -> Policy {
        Policy::parse(&format!(
            r#"
agent = "test"
tool = "naming"
summary = "Names the file, and cuts the whole response."
confidence = "observed"
source = "none"
unit = "bytes"

[when]
lines = 1000

[keep]
way = "pieces"
lines = 1000

[text]
whole = "{{{{ body }}}}({{{{ path }}}})"
cut = "{{{{ kept }}}}({{{{ path }}}})"

[cap]
over = {max}
size = {max}
notice = "..."
"#
        ))
        .unwrap()
    }

    #[test]
    fn flag_and_text_agree_where_the_length_of_the_path_counts() {
        let dir = tempfile::tempdir().unwrap();
        let place = Place::dir(dir.path().join("a-directory-of-a-long-name"));
        for max in [5, 15, 20, 60, 200, 400] {
            let truncator = Truncator::of(naming(max)).save_in(place.clone());
            for outcome in [truncator.truncate("little\n", "t").unwrap(), written(&truncator, "little\n")] {
                assert_eq!(outcome.truncated, outcome.text.ends_with("..."), "{max}: {outcome:?}");
                assert!(outcome.saved_to.is_some() || !outcome.truncated, "{max}: {outcome:?}");
            }
        }
        // `<not saved>` is longer than this path.
        let short = tempfile::Builder::new().prefix("o").rand_bytes(1).tempdir_in("/tmp").unwrap();
        let len = "little\n()".len() + short.path().as_os_str().len() + "/a".len();
        let policy = naming(len);
        let (outcome, ..) = outcome(b"little\n", |_| None, policy, || Ok(short.path().join("a"))).unwrap();
        assert!(len < "little\n(<not saved>)".len());
        assert_eq!((outcome.truncated, outcome.text.ends_with("/a)")), (false, true), "{outcome:?}");
    }

    fn written(truncator: &Truncator, output: &str) -> Outcome {
        let mut writer = truncator.writer("t");
        output.as_bytes().chunks(7).for_each(|chunk| writer.push(chunk));
        writer.finish().unwrap()
    }

    #[test]
    fn a_writer_s_outcome_is_that_of_the_whole() {
        for policy in ["opencode/output", "pi/bash", "basic/smart", "claude-code/bash", "crush/bash"] {
            let (_home, truncator) = truncator(policy, &[]);
            for count in [0, 1, 100, 30_000] {
                let output = "a line of text\n".repeat(count);
                let (whole, chunks) =
                    (truncator.truncate(&output, "t").unwrap(), written(&truncator, &output));
                assert_eq!((whole.truncated, whole.warnings), (chunks.truncated, chunks.warnings.clone()));
                let name = |outcome: &Outcome| {
                    outcome
                        .saved_to
                        .as_ref()
                        .map(|path| path.to_string_lossy().into_owned())
                        .unwrap_or("-".into())
                };
                let one = Outcome { saved_to: whole.saved_to.clone(), ..Outcome::default() };
                assert_eq!(
                    whole.text.replace(&name(&one), "PATH"),
                    chunks.text.replace(&name(&chunks), "PATH"),
                    "{policy} {count}"
                );
                let saved = chunks.saved_to.map(|path| std::fs::read_to_string(path).unwrap());
                assert!(saved.is_none_or(|saved| saved == output), "{policy} {count}");
            }
        }
    }

    #[test]
    fn a_writer_that_is_dropped_leaves_no_file() {
        let (home, truncator) = truncator("opencode/output", &[]);
        let mut writer = truncator.writer("shell");
        writer.push(&vec![b'x'; 1 << 20]);
        let files = || std::fs::read_dir(home.path().join("outputs")).unwrap().count();
        assert_eq!((writer.bytes(), files()), (1 << 20, 1));
        drop(writer);
        assert_eq!(files(), 0);
    }

    #[test]
    fn a_writer_that_cannot_save_says_so() {
        let (_home, truncator) = without_a_place("opencode/output", &[]);
        let outcome = written(&truncator, &"line\n".repeat(30_000));
        assert!(outcome.truncated && outcome.text.contains("saved to: <not saved>"));
        assert!(outcome.warnings[0].contains("could not be saved"), "{:?}", outcome.warnings);
    }
}
