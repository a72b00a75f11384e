//! One component of a path under a store's root: a literal name, or a pattern that reads facts off it.

use std::sync::OnceLock;

use regex::bytes::{Captures, Regex};

/// The names of groups that a pattern may have; anything else is a mistake in the file.
const GROUPS: [&str; 7] = ["agent", "tool", "session", "project", "id", "pid", "partial"];

/// A component of a path pattern. Patterns are compiled on first use: a start must not pay for the
/// stores it does not look at.
#[derive(Clone, Debug)]
pub(super) enum Component {
    Literal(String),
    Pattern { source: String, regex: OnceLock<Option<Regex>> },
}

/// What the components of one path have told so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Facts {
    pub agent: Option<String>,
    pub tool: Option<String>,
    pub session: Option<String>,
    pub project: Option<String>,
    pub id: Option<String>,
    pub pid: Option<u32>,
    pub partial: bool,
}

impl Component {
    /// Letters, digits, `-` and `_` alone are a literal; all else is an anchored regular expression.
    pub fn new(text: &str) -> Component {
        let literal = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        match literal && !text.is_empty() {
            true => Component::Literal(text.into()),
            false => Component::Pattern { source: text.into(), regex: OnceLock::new() },
        }
    }

    /// Compiles the pattern and looks at its group names; the message says what is wrong.
    pub fn check(&self) -> Result<(), String> {
        let Component::Pattern { source, .. } = self else { return Ok(()) };
        let regex = compile(source).map_err(|error| error.to_string())?;
        match regex.capture_names().flatten().find(|name| !GROUPS.contains(name)) {
            Some(name) => Err(format!("`{source}` has a group `{name}`; known are {}", GROUPS.join(", "))),
            None => Ok(()),
        }
    }

    /// Whether `name` fits; the named groups that took part are added to `facts`.
    pub fn read(&self, name: &[u8], facts: &mut Facts) -> bool {
        match self {
            Component::Literal(literal) => literal.as_bytes() == name,
            Component::Pattern { source, regex } => {
                let Some(regex) = regex.get_or_init(|| compile(source).ok()) else { return false };
                if regex.captures_len() == 1 {
                    return regex.is_match(name);
                }
                regex.captures(name).is_some_and(|captures| facts.take(&captures))
            }
        }
    }
}

fn compile(source: &str) -> Result<Regex, regex::Error> {
    Regex::new(&format!(r"(?-u)\A(?:{source})\z"))
}

impl Facts {
    fn take(&mut self, captures: &Captures<'_>) -> bool {
        let group =
            |name: &str| captures.name(name).map(|m| String::from_utf8_lossy(m.as_bytes()).into_owned());
        let fill = |fact: &mut Option<String>, name| *fact = group(name).or(fact.take());
        fill(&mut self.agent, "agent");
        fill(&mut self.tool, "tool");
        fill(&mut self.session, "session");
        fill(&mut self.project, "project");
        fill(&mut self.id, "id");
        self.pid = group("pid").and_then(|pid| pid.parse().ok()).or(self.pid);
        self.partial |= captures.name("partial").is_some();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_patterns() {
        let mut facts = Facts::default();
        assert!(Component::new("tool-results").read(b"tool-results", &mut facts));
        assert!(!Component::new("tool-results").read(b"tool_results", &mut facts));
        assert!(Component::new(r"opencode-(?<pid>\d+)").read(b"opencode-42", &mut facts));
        assert!(Component::new(r"(?<id>.+)\.txt").read(b"a\xff.txt", &mut facts));
        assert_eq!((facts.pid, facts.id.as_deref()), (Some(42), Some("a\u{fffd}")));
        assert!(!Component::new(r"a\d").read(b"a1\n", &mut facts));
    }

    #[test]
    fn mistakes_are_said() {
        assert!(Component::new("(").check().is_err());
        assert!(Component::new("(?<sesion>.*)").check().unwrap_err().contains("`sesion`"));
        assert_eq!(Component::new("(?<session>.*)").check(), Ok(()));
    }
}
