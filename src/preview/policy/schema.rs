//! The form of a policy file: the structs that serde reads, and the table of its keys by which mistakes are found.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::base::provenance::{Confidence, Date, Era, Warning};
use crate::base::toml_check::Shape::{self, Checked, Flag, List, Names, Number, Scalar, Table, Tables, Text};
use crate::base::toml_check::{Field, is_word, needed, optional};
use crate::preview::measure::{DecodingRule, LineRule, TrimRule};
use crate::preview::model::Unit;
use crate::preview::section::{KeyValue, Section};

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PolicySchema {
    pub agent: String,
    pub tool: String,
    #[serde(default)]
    #[cfg_attr(not(feature = "records"), allow(dead_code, reason = "only records name tools"))]
    pub tools: Vec<String>,
    /// Whether this is what the agent's shell tool does today: what the agent's name alone means.
    #[serde(default)]
    pub shell: bool,
    /// For people, if `from`, `until` and `seen` are not enough.
    pub version: Option<String>,
    #[serde(flatten)]
    pub era: Era,
    pub source: Option<String>,
    #[serde(default = "own")]
    pub confidence: Confidence,
    pub summary: Option<String>,
    /// The policy that the agent uses for the output of a failing command, if it is another one.
    pub failed: Option<Spanned<String>>,
    #[serde(default)]
    pub quirks: Vec<String>,
    #[serde(default = "bytes")]
    pub unit: Unit,
    #[serde(default)]
    pub decoding: DecodingRule,
    #[serde(default)]
    pub lines: LineRule,
    /// What is removed from the ends of the text before anything else.
    #[serde(default)]
    pub trim: TrimRule,
    /// Bytes per read, if the agent decodes each read separately: a character split between two reads is lost.
    pub reads: Option<KeyValue>,
    pub refuse: Option<Spanned<Section>>,
    pub settings: Option<SettingsSchema>,
    #[serde(default, rename = "warning")]
    pub warnings: Vec<Warning>,
    #[serde(default, rename = "param")]
    pub params: Vec<Spanned<ParamSchema>>,
    #[serde(default, rename = "variant")]
    pub variants: Vec<VariantSchema>,
    pub when: Option<Spanned<Section>>,
    pub keep: Spanned<Section>,
    pub text: Option<Spanned<Section>>,
    pub details: Option<DetailsSchema>,
    pub cap: Option<Spanned<Section>>,
}

fn own() -> Confidence {
    Confidence::Own
}

fn bytes() -> Unit {
    Unit::Bytes
}

/// Where the agent's own configuration has these limits.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SettingsSchema {
    pub file: String,
    pub lines: Option<String>,
    pub size: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct DetailsSchema {
    pub shape: DetailsShape,
    /// The key of a limit on matches that was reached.
    pub limit: Option<String>,
    /// Whether they include the saved path.
    #[serde(default)]
    pub path: bool,
    /// Whether a failed command has none.
    #[serde(default)]
    pub unless_failed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DetailsShape {
    /// pi's truncation result.
    Pi,
    /// The Go agents' temporary file.
    TempFile,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ParamSchema {
    pub name: String,
    pub doc: Option<String>,
    pub default: KeyValue,
    pub role: Option<ParamRole>,
    pub min: Option<u64>,
    pub max: Option<u64>,
    pub values: Option<Vec<String>>,
    pub also: Option<AlsoSchema>,
    pub kind: Option<KindSchema>,
}

/// What a text parameter takes, if not any text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KindSchema {
    /// Empty, or a decimal number.
    Decimal,
}

/// Another name for a parameter, in another unit.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct AlsoSchema {
    pub name: String,
    /// How many of the parameter's units make one of these.
    pub times: u64,
}

/// The role of a parameter on the command line and the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ParamRole {
    /// `--max-lines`.
    Lines,
    /// `--max-bytes`.
    Size,
    /// `--direction`.
    Direction,
    /// `--tool`.
    Tool,
    /// First line of a window, in the agent's own base.
    Offset,
    /// Number of lines of a window.
    Limit,
}

/// The differences for some values of the tool parameter.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct VariantSchema {
    pub tools: Vec<String>,
    #[serde(default)]
    pub defaults: BTreeMap<String, KeyValue>,
    pub when: Option<Spanned<Section>>,
    pub keep: Option<Spanned<Section>>,
    pub text: Option<Spanned<Section>>,
    pub lines: Option<LineRule>,
    pub unit: Option<Unit>,
}

/// Maximum number of parameters, and of variants: each template is checked against all of them.
const MAX_TABLES: usize = 100;
/// Maximum number of elements of other lists.
const MAX_ELEMENTS: usize = 1000;

pub(super) const FILE: &[Field] = &[
    needed("agent", Checked(name)),
    needed("tool", Checked(name)),
    optional("tools", List(&Text, MAX_ELEMENTS)),
    optional("shell", Flag),
    optional("version", Text),
    optional("from", Table(EDGE)),
    optional("until", Table(EDGE)),
    optional("seen", Table(EDGE)),
    optional("era_of", Text),
    optional("source", Text),
    optional("confidence", Checked(is_word::<Confidence>)),
    optional("summary", Text),
    optional("failed", Text),
    optional("quirks", List(&Text, MAX_ELEMENTS)),
    optional("unit", Checked(is_word::<Unit>)),
    optional("decoding", Checked(is_word::<DecodingRule>)),
    optional("lines", Checked(is_word::<LineRule>)),
    optional("trim", Checked(is_word::<TrimRule>)),
    optional("reads", Scalar),
    optional("refuse", Shape::Section),
    optional("settings", Table(SETTINGS)),
    optional("warning", Tables(&Table(crate::base::provenance::WARNING), MAX_ELEMENTS)),
    optional("param", Tables(&Table(PARAM), MAX_TABLES)),
    optional("variant", Tables(&Table(VARIANT), MAX_TABLES)),
    optional("when", Shape::Section),
    needed("keep", Shape::Section),
    needed("text", Shape::Section),
    optional("details", Table(DETAILS)),
    optional("cap", Shape::Section),
];

const EDGE: &[Field] = &[optional("version", Text), optional("date", Checked(date))];

const SETTINGS: &[Field] = &[needed("file", Text), optional("lines", Text), optional("size", Text)];

const DETAILS: &[Field] = &[
    needed("shape", Checked(is_word::<DetailsShape>)),
    optional("limit", Text),
    optional("path", Flag),
    optional("unless_failed", Flag),
];

const PARAM: &[Field] = &[
    needed("name", Checked(name)),
    needed("default", Scalar),
    optional("doc", Text),
    optional("role", Checked(is_word::<ParamRole>)),
    optional("min", Number),
    optional("max", Number),
    optional("values", List(&Text, MAX_ELEMENTS)),
    optional("also", Table(&[needed("name", Checked(name)), needed("times", Number)])),
    optional("kind", Checked(is_word::<KindSchema>)),
];

const VARIANT: &[Field] = &[
    needed("tools", List(&Text, MAX_ELEMENTS)),
    optional("defaults", Names(&Scalar)),
    optional("when", Shape::Section),
    optional("keep", Shape::Section),
    optional("text", Shape::Section),
    optional("lines", Checked(is_word::<LineRule>)),
    optional("unit", Checked(is_word::<Unit>)),
];

/// Checks a name that stands on the command line.
fn name(text: &str) -> Result<(), String> {
    let is_plain = |c: char| !(c.is_whitespace() || c.is_control() || c == '/' || c == '=');
    if !text.is_empty() && text.chars().all(is_plain) {
        Ok(())
    } else {
        Err("takes a name without spaces, `/` and `=`".to_owned())
    }
}

fn date(text: &str) -> Result<(), String> {
    Date::try_from(crate::base::fs::plain_file::ellipsize(text)).map(drop)
}
