//! What the user should know before trusting a preview or a stored output.

use serde::Deserialize;

use crate::base::toml_check::{Field, Shape, needed, optional};

/// A warning, and which outputs it applies to.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Warning {
    /// Applies to outputs of more raw bytes than this; if not set, to all that were cut.
    pub over: Option<u64>,
    /// Applies only if the output does not end with a line feed.
    #[serde(default)]
    pub unended: bool,
    /// A short version for the bottom line of the screen; without one, only the facts say it.
    pub short: Option<String>,
    /// The warning in one or two sentences.
    pub text: String,
}

pub(crate) const WARNING: &[Field] = &[
    optional("over", Shape::Number),
    optional("unended", Shape::Flag),
    optional("short", Shape::Text),
    needed("text", Shape::Text),
];

/// What decides whether a warning applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The output's raw size in bytes.
    pub bytes: u64,
    /// The output's last byte, if known and not empty.
    pub last: Option<u8>,
    /// Whether the model did not get all of it.
    pub cut: bool,
}

impl Warning {
    pub fn holds(&self, extent: Extent) -> bool {
        let reached = self.over.map_or(extent.cut, |over| extent.bytes > over);
        reached && (!self.unended || extent.last.is_some_and(|last| last != b'\n'))
    }

    /// Returns the warnings that apply to an output, from its policy and its store; each text once.
    pub fn applying<'a>(policy: &'a [Self], store: &'a [Self], extent: Extent) -> Vec<&'a Self> {
        let mut all: Vec<&Self> = Vec::new();
        // An output is stored only because it was cut.
        let stored = Extent { cut: true, ..extent };
        let policy = policy.iter().filter(|warning| warning.holds(extent));
        for warning in policy.chain(store.iter().filter(|warning| warning.holds(stored))) {
            if all.iter().all(|other| other.text != warning.text) {
                all.push(warning);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warning(over: Option<u64>, unended: bool) -> Warning {
        Warning { over, unended, short: None, text: "t".into() }
    }

    #[test]
    fn without_a_size_it_holds_of_what_was_cut() {
        let cut = Extent { bytes: 1, last: Some(b'\n'), cut: true };
        assert!(warning(None, false).holds(cut));
        assert!(!warning(None, false).holds(Extent { cut: false, ..cut }));
    }

    #[test]
    fn a_size_must_be_exceeded_and_then_a_cut_does_not_matter() {
        let at = |bytes| Extent { bytes, last: None, cut: false };
        assert!(!warning(Some(10), false).holds(at(10)));
        assert!(warning(Some(10), false).holds(at(11)));
    }

    #[test]
    fn a_warning_of_both_policy_and_store_appears_once() {
        let extent = Extent { bytes: 11, last: None, cut: true };
        let (once, other) =
            (warning(None, false), Warning { text: "other".into(), ..warning(Some(10), false) });
        let (policy, store) = ([once.clone()], [once, other]);
        let texts: Vec<&str> =
            Warning::applying(&policy, &store, extent).iter().map(|warning| warning.text.as_str()).collect();
        assert_eq!(texts, ["t", "other"]);
        let whole = Warning::applying(&policy, &store, Extent { bytes: 1, cut: false, ..extent });
        assert_eq!(whole.len(), 1, "the store's alone");
    }

    #[test]
    fn an_end_inside_a_line_must_be_seen() {
        let ending = |last| Extent { bytes: 11, last, cut: true };
        assert!(warning(Some(10), true).holds(ending(Some(b'x'))));
        assert!(!warning(Some(10), true).holds(ending(Some(b'\n'))));
        assert!(!warning(None, true).holds(ending(None)));
    }
}
