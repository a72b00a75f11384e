//! The user's own configuration file: default policy, and parameters by policy and by tool.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

use crate::base::fs::plain_file::{self, ellipsize};
use crate::base::toml_check::Shape::{
    Checked, Flag, List, Loose, Names, Number, Or, Scalar, Table, Text, TextOrTexts,
};
use crate::base::toml_check::{self, Field, Mistake, Spot, is_word, nearest, optional};
use crate::preview::Catalog;
use crate::text::search::Pattern;

use super::effective::FileValue;
use super::fault::{FaultScope, check_names};
use super::theme::{self, ThemeConfig};

/// What is understood of `config.toml`. Every key is optional.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct FileConfig {
    /// Parameters by policy: `[limits."opencode/output"]`.
    pub limits: BTreeMap<String, Parameters>,
    /// Policy and parameters by tool: `[tools.grep]`, for `--tool grep`.
    pub tools: BTreeMap<String, ToolConfig>,
    /// The colours of the screens: `theme = "light"`, or `[theme]`.
    pub theme: ThemeConfig,
    pub mouse: MouseConfig,
    pub hook: HookConfig,
    /// The user's own keys, in the order of the file.
    #[serde(skip)]
    pub keys: Vec<KeySetting>,
    /// All of it, setting by setting, by dotted names.
    #[serde(skip)]
    pub(super) written: BTreeMap<String, FileValue>,
}

/// What `overspill hook` answers.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct HookConfig {
    pub notes: bool,
    /// Maximum length of a note, in bytes; at most [`MAX_NOTE`].
    pub limit: u64,
    /// Commands that get no note: those that begin with one of these.
    pub ignore: Vec<String>,
}

impl Default for HookConfig {
    fn default() -> Self {
        Self { notes: true, limit: MAX_NOTE, ignore: Vec::new() }
    }
}

/// Maximum length of a note, in bytes.
pub const MAX_NOTE: u64 = 2048;

const MAX_IGNORE: usize = 256;

/// What the screens take of the mouse.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MouseConfig {
    /// Nothing: the mouse stays the terminal's.
    #[default]
    None,
    /// The wheel; clicks do nothing.
    Wheel,
}

/// The keys of one action: `next-match = ["n", "ctrl-n"]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeySetting {
    pub name: String,
    pub keys: Vec<String>,
    /// The line of the file, 1-based.
    pub line: usize,
}

#[derive(Debug, Clone, Default, Deserialize)]
pub struct ToolConfig {
    pub policy: Option<String>,
    #[serde(flatten)]
    pub parameters: Parameters,
}

/// Parameters and their values; sizes may have a suffix.
pub type Parameters = BTreeMap<String, Value>;

const FILE: &[Field] = &[
    optional("policy", Text),
    optional("keep_own", Checked(age)),
    optional("errors", Checked(pattern)),
    optional("warnings", Checked(pattern)),
    optional("limits", Names(&Names(&Scalar))),
    optional("tools", Names(&Names(&Scalar))),
    optional("theme", Or(&Loose(theme::is_base), &Table(theme::FIELDS))),
    optional("mouse", Checked(is_word::<MouseConfig>)),
    optional("hook", Table(HOOK)),
    optional("keys", Names(&TextOrTexts)),
];

const HOOK: &[Field] =
    &[optional("notes", Flag), optional("limit", Number), optional("ignore", List(&Text, MAX_IGNORE))];

impl FileConfig {
    /// Reads the file at `path`, which may name the policies of a catalog; a missing file sets nothing. Returns too what is
    /// not understood: what it affects, and where and what it is.
    pub(super) fn read(path: &Path, catalog: &Catalog) -> (Self, Vec<(FaultScope, String)>) {
        match plain_file::read(path) {
            // As ssh and git have it.
            _ if path == Path::new("/dev/null") => Default::default(),
            Ok(text) => Self::parse(&text, catalog),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Default::default(),
            Err(error) => (Self::default(), vec![(FaultScope::Settings, format!(" {error}"))]),
        }
    }

    fn parse(text: &str, catalog: &Catalog) -> (Self, Vec<(FaultScope, String)>) {
        let (mut table, mut mistakes) = match toml_check::check(text, FILE) {
            Ok(checked) => checked,
            Err(mistake) => return (Self::default(), vec![fault(mistake)]),
        };
        for mistake in check_names(text, table.get_ref(), catalog) {
            if let Some(top) = &mistake.top {
                table.get_mut().remove(top.as_str());
            }
            mistakes.push(mistake);
        }
        let (keys, written) = (keys(text, table.get_ref()), written(text, table.get_ref()));
        let config = match Self::deserialize(toml::de::Deserializer::from(table)) {
            Ok(read) => Self { keys, written, ..read },
            Err(error) => {
                mistakes.push(Mistake::unread(text, &error));
                Self::default()
            }
        };
        (config, mistakes.into_iter().map(fault).collect())
    }

    /// Returns a setting as written, by its dotted name.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        Some(&self.written.get(name)?.value)
    }
}

fn fault(mut mistake: Mistake) -> (FaultScope, String) {
    // What TOML makes of [limits.agent/tool] without quotes, once the slash is a dot.
    if mistake.top.as_deref() == Some("limits") && mistake.words.ends_with("not a table") {
        mistake.words = "the name of a policy stands in quotes: [limits.\"opencode/output\"]".to_owned();
    }
    (scope_of(mistake.top.as_deref()), mistake.to_string())
}

/// Returns what a mistake under this key of the file affects; an unknown key may be meant for the one most like it.
fn scope_of(top: Option<&str>) -> FaultScope {
    let Some(top) = top else { return FaultScope::Settings };
    match nearest(top, FILE.iter().map(|field| field.name)) {
        Some("policy" | "limits" | "tools") => FaultScope::Limits,
        Some("keep_own") => FaultScope::Retention,
        Some("errors" | "warnings") => FaultScope::Severities,
        Some("theme" | "mouse" | "keys") => FaultScope::Screens,
        _ => FaultScope::Settings,
    }
}

/// Returns the table `[keys]`, in the order of the file.
fn keys(text: &str, table: &DeTable) -> Vec<KeySetting> {
    let keys = table.get("keys").and_then(|keys| keys.get_ref().as_table());
    let mut all: Vec<_> = keys.into_iter().flat_map(|keys| keys.iter()).collect();
    all.sort_by_key(|(name, _)| name.span().start);
    let setting = |(name, keys): (&Spanned<Cow<str>>, &Spanned<DeValue>)| {
        let several = keys.get_ref().as_array().into_iter().flat_map(|keys| keys.iter());
        let keys = several.filter_map(|key| key.get_ref().as_str()).chain(keys.get_ref().as_str());
        KeySetting {
            name: name.get_ref().to_string(),
            keys: keys.map(str::to_owned).collect(),
            line: Spot::new(text, name.span().start).line,
        }
    };
    all.into_iter().map(setting).collect()
}

/// Returns each setting as written, by its dotted name.
fn written(text: &str, table: &DeTable) -> BTreeMap<String, FileValue> {
    let mut all = BTreeMap::new();
    let mut left = vec![(String::new(), table)];
    while let Some((place, table)) = left.pop() {
        for (key, value) in table.iter() {
            let name = format!("{place}{}", key.get_ref());
            let value = match value.get_ref() {
                DeValue::Table(table) => {
                    left.push((format!("{name}."), table));
                    continue;
                }
                DeValue::String(value) => value.to_string(),
                DeValue::Array(list) => {
                    let texts: Vec<&str> = list.iter().filter_map(|text| text.get_ref().as_str()).collect();
                    texts.join(" ")
                }
                _ => text.get(value.span()).unwrap_or_default().to_owned(),
            };
            all.insert(name, FileValue { line: Spot::new(text, key.span().start).line, value });
        }
    }
    all
}

/// Reads how long outputs stay in overspill's own store: an age, or `never` for no limit.
pub(super) fn parse_retention(text: &str) -> Option<Option<jiff::SignedDuration>> {
    if text == "never" { Some(None) } else { crate::base::human::parse_age(text).map(Some) }
}

fn age(text: &str) -> Result<(), String> {
    let words = || format!("does not take `{}`; write an age such as 12h or 7d, or never", ellipsize(text));
    parse_retention(text).map(drop).ok_or_else(words)
}

fn pattern(text: &str) -> Result<(), String> {
    Pattern::to_line_end(text).map(drop).map_err(|error| {
        let place = error.at.map_or(String::new(), |at| format!(" at character {} of it", at + 1));
        format!("is not a pattern: {}{place}", error.why)
    })
}

#[cfg(test)]
mod tests {
    use super::super::overrides::text_of;
    use super::*;

    #[test]
    fn parameters_are_words_numbers_and_flags() {
        let text = "[limits.\"opencode/output\"]\nmax_lines = 5\ntask_tool = true\nmax_bytes = \"50k\"\n";
        let (read, faults) = FileConfig::parse(text, &Catalog::builtin());
        assert_eq!(faults, []);
        let words: Vec<_> =
            read.limits["opencode/output"].iter().map(|(k, v)| format!("{k}={}", text_of(v))).collect();
        assert_eq!(words, ["max_bytes=50k", "max_lines=5", "task_tool=true"]);
        assert_eq!(
            read.written["limits.opencode/output.max_bytes"],
            FileValue { line: 4, value: "50k".into() }
        );
    }

    #[test]
    fn valid_settings_apply_despite_a_mistake_elsewhere() {
        let text = "policy = \"pi/bash\"\ntheme = \"x\"\nkep_own = 3\n";
        let (read, faults) = FileConfig::parse(text, &Catalog::builtin());
        assert_eq!(read.text("policy"), Some("pi/bash"));
        let affected: Vec<FaultScope> = faults.iter().map(|(scope, _)| *scope).collect();
        assert_eq!(affected, [FaultScope::Screens, FaultScope::Retention]);
    }

    fn read_keys(text: &str) -> Vec<KeySetting> {
        FileConfig::parse(text, &Catalog::builtin()).0.keys
    }

    #[test]
    fn an_action_has_a_key_or_a_list_of_keys() {
        let setting = |name: &str, keys: &[&str], line| KeySetting {
            name: name.into(),
            keys: keys.iter().map(|key| (*key).to_owned()).collect(),
            line,
        };
        let text = "[keys]\nsearch = \"ctrl-f\"\n\nnext-match = [\n  \"n\", \"ctrl-n\"]\nfollow = []\n";
        let settings = [
            setting("search", &["ctrl-f"], 2),
            setting("next-match", &["n", "ctrl-n"], 4),
            setting("follow", &[], 6),
        ];
        assert_eq!(read_keys(text), settings);
        assert_eq!(read_keys("keys.wrap = \"x\""), [setting("wrap", &["x"], 1)]);
    }
}
