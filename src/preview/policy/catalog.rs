//! All policies by name, each parsed only on demand; and the forms that one tool's policy had at different times.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use crate::base::fs::plain_file::{self, ellipsize};
use crate::base::provenance::Era;
use crate::base::toml_check::{nearest, top_text};
use crate::preview::policy::load::{PolicySource, parse};
use crate::preview::policy::{Policy, PolicyError};
use crate::preview::template::PolicyOrigin;

/// The built-in policies as (name, TOML): every file in `assets/policies`.
const BUILTIN: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/policies.rs"));

/// Policy files by name; the user's own take precedence over the built-in ones.
#[derive(Debug, Clone)]
pub struct Catalog {
    files: BTreeMap<Cow<'static, str>, File>,
    broken: Vec<FaultyFile>,
}

/// A file of the user's own that cannot be used.
#[derive(Debug, Clone)]
struct FaultyFile {
    /// The policy that it describes, if it says so.
    name: Option<String>,
    /// The name of the file, without `.toml`.
    stem: String,
    fault: PolicyError,
}

impl FaultyFile {
    /// Whether the file was to describe this policy; if it does not say, `my-shell.toml` is for `my/shell`.
    fn is_of(&self, name: &str) -> bool {
        self.name.as_ref().map_or(self.stem == name.replace('/', "-"), |own| own == name)
    }
}

#[derive(Debug, Clone)]
struct File {
    text: Cow<'static, str>,
    /// The path of a file of the user's own.
    own: Option<String>,
}

impl Catalog {
    /// Returns the built-in policies.
    pub fn builtin() -> Self {
        let file = |text| File { text: Cow::Borrowed(text), own: None };
        let files = BUILTIN.iter().map(|&(name, text)| (Cow::Borrowed(name), file(text)));
        Self { files: files.collect(), broken: Vec::new() }
    }

    /// Adds every `*.toml` in a directory; a missing directory adds nothing. Each policy has the name stated in its
    /// file, and takes precedence over a built-in one. Valid files are added even if another is faulty; the policy of a
    /// faulty one cannot be used ([`Catalog::faults`]).
    ///
    /// # Errors
    /// The first file that cannot be read or used, with its line and key.
    pub fn load_dir(&mut self, directory: &Path) -> Result<(), PolicyError> {
        let paths = plain_file::toml_in(directory).map_err(|error| unreadable(directory, &error));
        let paths = paths.inspect_err(|fault| {
            self.broken.push(FaultyFile { name: None, stem: String::new(), fault: fault.clone() });
        })?;
        let loaded: Vec<_> = paths.iter().map(|path| self.load_file(path)).collect();
        let all: Vec<_> =
            loaded.into_iter().zip(&paths).map(|(policy, path)| self.check_failed(policy?, path)).collect();
        all.into_iter().collect()
    }

    /// Fails if a policy names none for failed commands; all files are loaded by now.
    fn check_failed(&mut self, policy: Option<Policy>, path: &Path) -> Result<(), PolicyError> {
        let Some(policy) = policy else { return Ok(()) };
        let Some(failed) = &policy.file.schema.failed else { return Ok(()) };
        let Err(unknown @ PolicyError::Unknown { .. }) = self.get(failed.get_ref()) else { return Ok(()) };
        let source = PolicySource { text: &policy.text, path: &path.display().to_string() };
        let fault = source.at(failed.span().start, "failed", unknown.to_string());
        self.files.remove(policy.name());
        Err(self.set_aside(path, &policy.text, fault))
    }

    fn load_file(&mut self, path: &Path) -> Result<Option<Policy>, PolicyError> {
        let text = plain_file::read(path).map_err(|error| unreadable(path, &error));
        let text = text.map_err(|fault| self.set_aside(path, "", fault))?;
        // The shell creates the file before `overspill policies NAME >FILE` has printed anything.
        if text.is_empty() {
            return Ok(None);
        }
        let shown = path.display().to_string();
        let policy =
            parse(&text, &shown, PolicyOrigin::Own).map_err(|fault| self.set_aside(path, &text, fault))?;
        let file = File { text: Cow::Owned(text), own: Some(shown) };
        self.files.insert(Cow::Owned(policy.name().to_owned()), file);
        Ok(Some(policy))
    }

    fn set_aside(&mut self, path: &Path, text: &str, fault: PolicyError) -> PolicyError {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = top_text(text, "agent").zip(top_text(text, "tool"));
        let name = name.map(|(agent, tool)| format!("{agent}/{tool}"));
        self.broken.push(FaultyFile { name, stem, fault: fault.clone() });
        fault
    }

    /// Returns what is wrong with the user's own files, in the order in which they were read.
    pub fn faults(&self) -> impl Iterator<Item = &PolicyError> {
        self.broken.iter().map(|broken| &broken.fault)
    }

    /// Returns why a policy cannot be used, if the user's own file of it is faulty, and there is no other.
    fn fault_of(&self, name: &str) -> Option<&PolicyError> {
        let broken = self.broken.iter().find(|broken| broken.is_of(name));
        broken.filter(|_| !self.is_own(name)).map(|broken| &broken.fault)
    }

    /// Whether there is a policy of this name, even if its file is faulty.
    pub fn knows(&self, name: &str) -> bool {
        self.files.contains_key(name) || self.fault_of(name).is_some()
    }

    /// Returns the names of all policies that can be used, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(|name| &**name).filter(|name| self.fault_of(name).is_none())
    }

    /// Returns the names of an agent's policies that can be used, sorted.
    pub fn names_of(&self, agent: &str) -> impl Iterator<Item = &str> {
        self.names().filter(move |name| name.split('/').next() == Some(agent))
    }

    /// Returns a policy with its parameters at their defaults; the name of an agent alone means the policy of its shell
    /// tool.
    ///
    /// # Errors
    /// If there is no policy of that name (the error says what may be meant), or its file is faulty.
    pub fn get(&self, name: &str) -> Result<Policy, PolicyError> {
        if let Some(fault) = self.fault_of(name) {
            return Err(fault.clone());
        }
        let Some(file) = self.files.get(name) else {
            let mut own = self.names_of(name).filter_map(|name| self.get(name).ok());
            let unknown = || PolicyError::Unknown { name: ellipsize(name), instead: self.instead_of(name) };
            return own.find(|policy| policy.file.schema.shell).ok_or_else(unknown);
        };
        match &file.own {
            Some(path) => parse(&file.text, path, PolicyOrigin::Own),
            None => parse(&file.text, &format!("built-in {name}"), PolicyOrigin::BuiltIn),
        }
    }

    /// Returns a policy's file as written.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(|file| &*file.text)
    }

    /// Whether a policy is one of the user's own files.
    pub fn is_own(&self, name: &str) -> bool {
        self.files.get(name).is_some_and(|file| file.own.is_some())
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> PolicyError {
    PolicyError::Read { file: path.display().to_string(), message: error.to_string() }
}

impl Policy {
    /// Parses a policy file and checks all of it: parameters, figures and templates.
    ///
    /// # Errors
    /// [`PolicyError::Invalid`] with the line and the key; the file is called `policy`.
    pub fn parse(text: &str) -> Result<Self, PolicyError> {
        parse(text, "policy", PolicyOrigin::Own)
    }

    /// Returns the built-in policy of this name (`agent/tool`).
    ///
    /// # Errors
    /// [`PolicyError::Unknown`], which says what may be meant.
    pub fn builtin(name: &str) -> Result<Self, PolicyError> {
        Catalog::builtin().get(name)
    }
}

/// Returns what all forms of a tool have in common: the name of its current policy.
fn today<'a>(name: &'a str, era: &'a Era) -> &'a str {
    era.of.as_deref().unwrap_or(name)
}

impl Catalog {
    /// Whether a policy is its tool's current form: it names no other one, or one that does not exist.
    pub fn is_current(&self, policy: &Policy) -> bool {
        policy.era().of.is_none_or(|of| self.text(&of).is_none())
    }

    /// Returns the other forms of a policy's tool, sorted by name. Faulty files are skipped.
    pub fn other_eras(&self, policy: &Policy) -> Vec<Policy> {
        let era = policy.era();
        let ours = today(policy.name(), &era);
        let others =
            self.names().filter(|name| *name != policy.name()).filter_map(|name| self.get(name).ok());
        others.filter(|other| today(other.name(), &other.era()) == ours).collect()
    }

    /// Sorts policies that may have created an output on a given day, most likely first: the tools that a form of that
    /// day is known of, in the order of their first forms; of each tool the form of that day first.
    #[cfg(feature = "app")]
    pub(crate) fn by_day(&self, names: Vec<String>, day: jiff::civil::Date) -> Vec<String> {
        let era = |name: &String| self.get(name).map(|policy| policy.era()).unwrap_or_default();
        let eras: Vec<Era> = names.iter().map(era).collect();
        let tool = |at: usize| today(&names[at], &eras[at]);
        let forms = |at: usize| (0..names.len()).filter(move |other| tool(*other) == tool(at));
        let existed = |at: usize| forms(at).any(|form| eras[form].holds_at(day));
        let mut order: Vec<usize> = (0..names.len()).collect();
        order.sort_by_cached_key(|at| (!existed(*at), forms(*at).next(), eras[*at].rank(day)));
        order.into_iter().map(|at| names[at].clone()).collect()
    }

    /// Says which policy may be meant by a name that none has, or where all are listed.
    pub(super) fn instead_of(&self, name: &str) -> String {
        let (agent, tool) = name.split_once('/').unwrap_or((name, ""));
        let agents = || self.names().filter_map(|name| name.split('/').next());
        let tools = self.names_of(agent).filter_map(|name| name.split('/').nth(1));
        let best = match nearest(tool, tools) {
            Some(tool) => Some(format!("{agent}/{tool}")),
            None if agents().any(|known| known == agent) => None,
            None => nearest(name, self.names()).map(str::to_owned),
        };
        if let Some(best) = best.filter(|_| !tool.is_empty()) {
            return format!("did you mean {best}?");
        }
        let agent = agent.to_lowercase();
        let begun = || agents().find(|known| !agent.is_empty() && known.split('-').next() == Some(&agent));
        let meant = agents().find(|known| *known == agent).or_else(begun);
        if let Some(meant) = meant {
            return format!("the policies of {meant} are {}", self.current_names(meant));
        }
        let with_tool: Vec<&str> =
            self.names().filter(|known| known.split('/').nth(1) == Some(&agent)).collect();
        if !with_tool.is_empty() {
            return format!("name its agent, too: {}", with_tool.join(", "));
        }
        match nearest(&agent, agents()) {
            Some(near) => format!("the policies of {near} are {}", self.current_names(near)),
            None => "`overspill policies` lists them all".to_owned(),
        }
    }

    /// Returns the names of an agent's policies, without those of earlier forms if it has any others.
    fn current_names(&self, agent: &str) -> String {
        let is_today = |name: &&str| self.get(name).is_ok_and(|policy| self.is_current(&policy));
        let today: Vec<&str> = self.names_of(agent).filter(is_today).collect();
        if today.is_empty() { self.names_of(agent).collect() } else { today }.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_policy_name_suggests_similar_ones() {
        let of = |name: &str| Catalog::builtin().get(name).unwrap_err().to_string();
        for (name, instead) in [
            ("opencode/outptu", "did you mean opencode/output?"),
            ("Claude-Code/Bash", "did you mean claude-code/bash?"),
            ("pi/bsh", "did you mean pi/bash?"),
            ("kimi-code/foo", "the policies of kimi-code are kimi-code/bash, kimi-code/tool"),
            (
                "claude",
                "the policies of claude-code are claude-code/bash, claude-code/bash-failed, claude-code/tool",
            ),
            ("droid", "the policies of droid are droid/tool"),
            ("kimi-code/", "the policies of kimi-code are kimi-code/bash, kimi-code/tool"),
            (
                "pi/zzz",
                "the policies of pi are pi/bash, pi/codemode, pi/find, pi/grep, pi/ls, pi/mcp, pi/read",
            ),
            ("terminal", "name its agent, too: hermes/terminal, openhands-v0/terminal, openhands/terminal"),
            ("xyz/q", "`overspill policies` lists them all"),
        ] {
            assert_eq!(of(name), format!("no policy `{name}`; {instead}"));
        }
    }

    #[test]
    fn an_agent_alone_means_its_shell_tool_of_today() {
        let catalog = Catalog::builtin();
        let name = |agent: &str| catalog.get(agent).unwrap().name().to_owned();
        assert_eq!(
            ["claude-code", "gemini-cli", "pi"].map(name),
            ["claude-code/bash", "gemini-cli/output", "pi/bash"]
        );
        let flagged = catalog.names().filter(|name| catalog.get(name).unwrap().file.schema.shell);
        let mut agents: Vec<&str> = flagged.filter_map(|name| name.split('/').next()).collect();
        agents.sort_unstable();
        assert!(agents.is_sorted_by(|a, b| a < b), "an agent has one shell tool: {agents:?}");
    }
}
