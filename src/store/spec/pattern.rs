//! One component of a path under a store's root: a literal name, or a pattern that extracts facts from it.

use std::sync::OnceLock;

use regex::bytes::{Captures, Match, Regex};
use serde::Deserialize;

use crate::base::fs::plain_file::{self, ellipsize};

#[cfg(feature = "app")]
use super::PathGroup;

/// The group names that a pattern may have; any other is an error in the file.
const GROUPS: [&str; 8] = ["agent", "tool", "session", "project", "id", "pid", "stream", "partial"];

/// A component of a path pattern, compiled on first use: startup does not pay for stores that are not scanned.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "String")]
pub(crate) enum Component {
    Literal(String),
    Pattern { source: String, regex: OnceLock<Option<CompiledPattern>> },
}

#[derive(Clone, Debug)]
pub(crate) struct CompiledPattern {
    regex: Regex,
    groups: [Option<usize>; GROUPS.len()],
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PathFacts {
    pub agent: Option<String>,
    pub tool: Option<String>,
    pub session: Option<String>,
    pub project: Option<String>,
    /// The id as text, of what [`Component::read_text`] read.
    pub id: Option<String>,
    /// The byte range of the id in the name read last.
    pub id_at: Option<(u8, u8)>,
    pub pid: Option<u32>,
    pub stream: Option<String>,
    pub partial: bool,
}

impl From<String> for Component {
    fn from(text: String) -> Component {
        Component::new(&text)
    }
}

impl Component {
    /// Letters, digits, `-` and `_` alone make a literal; anything else is an anchored regular expression.
    pub(crate) fn new(text: &str) -> Component {
        if text.bytes().all(is_literal) && !text.is_empty() {
            Component::Literal(text.into())
        } else {
            Component::Pattern { source: text.into(), regex: OnceLock::new() }
        }
    }

    /// Compiles the pattern and checks its group names. The error says what is wrong.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Component::Pattern { source, .. } = self else { return Ok(()) };
        let regex = compile(source).map_err(|error| format!("`{}`: {error}", ellipsize(source)))?;
        match regex.capture_names().flatten().find(|name| !GROUPS.contains(name)) {
            Some(name) => {
                let names = GROUPS.join(", ");
                Err(format!("`{}` has a group `{}`; known are {names}", ellipsize(source), ellipsize(name)))
            }
            None => Ok(()),
        }
    }

    /// Whether `name` matches; adds the groups that matched to `facts`.
    pub(crate) fn read(&self, name: &[u8], facts: &mut PathFacts) -> bool {
        match self {
            Component::Literal(literal) => literal.as_bytes() == name,
            Component::Pattern { source, .. } if !may_match(source, name) => false,
            Component::Pattern { source, regex } => {
                let Some(compiled) = regex.get_or_init(|| CompiledPattern::new(source).ok()) else {
                    return false;
                };
                if compiled.regex.captures_len() == 1 {
                    return compiled.regex.is_match(name);
                }
                let captures = compiled.regex.captures(name);
                captures.map(|captures| facts.take(&captures, &compiled.groups)).is_some()
            }
        }
    }

    /// The same with the id as text, for a directory, whose name may be the id of everything below it, and for one file.
    pub(crate) fn read_text(&self, name: &[u8], facts: &mut PathFacts) -> bool {
        facts.id_at = None;
        let fits = self.read(name, facts);
        if let Some((start, end)) = facts.id_at.take() {
            facts.id = Some(text(&name[usize::from(start)..usize::from(end)]));
        }
        fits
    }
}

impl CompiledPattern {
    fn new(source: &str) -> Result<CompiledPattern, String> {
        let regex = compile(source)?;
        let groups = GROUPS.map(|wanted| regex.capture_names().position(|name| name == Some(wanted)));
        Ok(CompiledPattern { regex, groups })
    }
}

fn is_literal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// Whether a name begins as the pattern's plain text does, which rules most out without compiling it.
fn may_match(source: &str, name: &[u8]) -> bool {
    let mut rest = source.as_bytes();
    if rest.contains(&b'|') {
        return true;
    }
    for byte in name {
        let (literal, after) = match rest {
            [b'\\', b'.', after @ ..] => (b'.', after),
            [plain, after @ ..] if is_literal(*plain) => (*plain, after),
            _ => return true,
        };
        if matches!(after.first(), Some(b'?' | b'*' | b'{')) {
            return true;
        }
        if literal != *byte {
            return false;
        }
        rest = after;
    }
    true
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn compile(source: &str) -> Result<Regex, String> {
    // A name may hold line feeds, which `.` has to match.
    plain_file::regex(&format!(r"(?s-u)\A(?:{source})\z"))
}

impl PathFacts {
    #[cfg(feature = "app")]
    pub(super) fn group(&self, group: PathGroup) -> Option<&String> {
        match group {
            PathGroup::Tool => self.tool.as_ref(),
            PathGroup::Id => self.id.as_ref(),
            PathGroup::Stream => self.stream.as_ref(),
        }
    }

    fn take(&mut self, captures: &Captures<'_>, groups: &[Option<usize>; GROUPS.len()]) {
        let [agent, tool, session, project, id, pid, stream, partial] =
            groups.map(|number| number.and_then(|number| captures.get(number)));
        let fill = |fact: &mut Option<String>, group: Option<Match<'_>>| {
            *fact = group.map(|m| text(m.as_bytes())).or(fact.take());
        };
        fill(&mut self.agent, agent);
        fill(&mut self.tool, tool);
        fill(&mut self.session, session);
        fill(&mut self.project, project);
        fill(&mut self.stream, stream);
        // A name is at most 255 bytes long.
        let place = |m: Match<'_>| Some((m.start().try_into().ok()?, m.end().try_into().ok()?));
        self.id_at = id.and_then(place).or(self.id_at);
        self.pid = pid.and_then(|m| text(m.as_bytes()).parse().ok()).or(self.pid);
        self.partial |= partial.is_some();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_and_patterns() {
        let mut facts = PathFacts::default();
        assert!(Component::new("tool-results").read(b"tool-results", &mut facts));
        assert!(!Component::new("tool-results").read(b"tool_results", &mut facts));
        assert!(Component::new(r"opencode-(?<pid>\d+)").read(b"opencode-42", &mut facts));
        assert!(Component::new(r"(?<id>.+)\.txt").read(b"a\xff.txt", &mut facts));
        assert_eq!((facts.pid, facts.id.as_deref(), facts.id_at), (Some(42), None, Some((0, 2))));
        assert!(Component::new(r"task-(?<id>.+)").read_text(b"task-\xff", &mut facts));
        assert_eq!((facts.id.as_deref(), facts.id_at), (Some("\u{fffd}"), None));
        assert!(!Component::new(r"a\d").read(b"a1\n", &mut facts));
        assert!(Component::new("(?<id>[^.].*)").read(b"a\nb\n", &mut facts));
    }

    #[test]
    fn a_name_with_another_beginning_needs_no_regular_expression() {
        for source in [r"opencode-(?<pid>\d+)", r"\.tmp[0-9A-Za-z]{6}"] {
            let pattern = Component::new(source);
            assert!(!pattern.read(b"bd", &mut PathFacts::default()));
            let Component::Pattern { regex, .. } = &pattern else { panic!("{pattern:?}") };
            assert!(regex.get().is_none(), "{source}");
        }
    }

    #[test]
    fn an_alternative_or_a_repeated_byte_is_no_beginning() {
        for (pattern, name) in [
            ("ab|c.", "cd"),
            ("ab?.", "ax"),
            ("ab*", "a"),
            ("ab{0}", "a"),
            ("ab+", "abb"),
            (r"\.?a", "a"),
            (r"a\.b", "a.b"),
            ("(?:a|b)c", "bc"),
        ] {
            assert!(Component::new(pattern).read(name.as_bytes(), &mut PathFacts::default()), "{pattern}");
        }
    }

    #[test]
    fn mistakes_are_reported() {
        assert!(Component::new("(").check().is_err());
        assert!(Component::new("(?<sesion>.*)").check().unwrap_err().contains("`sesion`"));
        assert_eq!(Component::new("(?<session>.*)").check(), Ok(()));
    }
}
