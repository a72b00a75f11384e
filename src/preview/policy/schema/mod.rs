//! The form of a policy file: TOML in, checked tables out.

mod keep;
mod response;

use serde::Deserialize;
use toml::Spanned;

use crate::known::{Confidence, Edge, Warning};
use crate::preview::model::Unit;

pub(crate) use keep::{Boundary, KeepForm, LineEnds, Oversize, Quoted, Way};
pub(crate) use response::{CapForm, DetailsForm, DetailsShape, TextForm};

/// A policy file, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyForm {
    pub agent: String,
    pub tool: String,
    /// For people, where `from`, `until` and `seen` do not say it.
    pub version: Option<String>,
    /// The first version and date.
    pub from: Option<Edge>,
    /// The last version and date; absent while it still holds.
    pub until: Option<Edge>,
    /// The newest version for which it was checked.
    pub seen: Option<Edge>,
    /// The current policy of which this is an earlier form.
    pub era_of: Option<String>,
    pub source: String,
    pub confidence: Confidence,
    pub summary: String,
    /// The policy by which the agent cuts the output of a command that fails, if that is another.
    pub failed: Option<String>,
    #[serde(default)]
    pub quirks: Vec<String>,
    pub unit: Unit,
    #[serde(default)]
    pub decoding: DecodingForm,
    #[serde(default)]
    pub lines: LinesForm,
    /// What is removed from the ends of the text before anything else.
    #[serde(default)]
    pub trim: TrimForm,
    /// Bytes of one read, where the agent decodes each read alone: a character split between two reads is lost.
    pub reads: Option<Figure>,
    pub refuse: Option<RefuseForm>,
    pub settings: Option<SettingsForm>,
    #[serde(default, rename = "warning")]
    pub warnings: Vec<Warning>,
    #[serde(default, rename = "param")]
    pub params: Vec<Spanned<ParamForm>>,
    #[serde(default, rename = "variant")]
    pub variants: Vec<VariantForm>,
    #[serde(default)]
    pub when: WhenForm,
    pub keep: KeepForm,
    #[serde(default)]
    pub text: TextForm,
    pub details: Option<DetailsForm>,
    pub cap: Option<CapForm>,
}

/// How bytes become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DecodingForm {
    /// U+FFFD for each maximal subpart.
    #[default]
    Lossy,
    /// Sizes and cuts on raw bytes; U+FFFD for each bad byte.
    Go,
    /// As `lossy`, but a leading byte order mark is dropped.
    Bom,
    /// As `lossy`, but a leading byte order mark and an unfinished character at the very end are dropped.
    Stream,
}

/// What is removed from the ends of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TrimForm {
    #[default]
    Nothing,
    /// One line feed at the end.
    LastFeed,
    /// Every line feed at the end.
    Feeds,
    /// White space at the end, as JavaScript's `trimEnd` has it.
    End,
    /// White space at both ends, as JavaScript's `trim` has it.
    Both,
    /// Blank lines at the start, and white space at the end.
    BlankLines,
}

/// An output that the agent's tool does not show at all.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RefuseForm {
    /// Bytes at the start in which it looks for NUL and other control bytes.
    pub sample: Figure,
    /// Over so many control bytes in a hundred (line breaks and tabs are none) it refuses.
    pub controls: Figure,
    /// Endings of names that it refuses unseen, lower case, with their dot.
    #[serde(default)]
    pub endings: Vec<String>,
    pub words: Spanned<String>,
}

/// What counts as a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LinesForm {
    /// Pieces between line feeds: a final line feed makes one more, empty.
    #[default]
    Pieces,
    /// A final line feed ends the last line; empty text has none.
    Ended,
    /// A final line feed does not count; empty text is one piece.
    Bare,
}

/// Where the agent's own configuration has these limits.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SettingsForm {
    pub file: String,
    pub lines: Option<String>,
    pub size: Option<String>,
}

/// A parameter.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParamForm {
    pub name: String,
    pub doc: String,
    pub default: toml::Value,
    pub role: Option<RoleForm>,
    pub min: Option<u64>,
    pub max: Option<u64>,
    pub values: Option<Vec<String>>,
    pub also: Option<AlsoForm>,
    pub kind: Option<KindForm>,
}

/// What a text parameter takes, where it is not any text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum KindForm {
    /// Nothing or a decimal number.
    Decimal,
}

/// Another name for a parameter, in another unit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AlsoForm {
    pub name: String,
    /// How many of the parameter's units make one of these.
    pub times: u64,
}

/// What a parameter is to the command line and the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RoleForm {
    /// `--max-lines`.
    Lines,
    /// `--max-bytes`.
    Size,
    /// `--direction`.
    Direction,
    /// `--tool`.
    Tool,
    /// First line of a window.
    Offset,
    /// Lines of a window.
    Limit,
}

/// What differs for some values of the tool parameter.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VariantForm {
    pub tools: Vec<String>,
    #[serde(default)]
    pub defaults: toml::Table,
    pub when: Option<WhenForm>,
    pub keep: Option<KeepForm>,
    pub text: Option<TextForm>,
    pub lines: Option<LinesForm>,
    pub unit: Option<Unit>,
}

/// A number, or an expression over the parameters.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(crate) enum FigureForm {
    Number(u64),
    Expression(String),
}

pub(crate) type Figure = Spanned<FigureForm>;

/// Over which limits an output is cut; either suffices.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhenForm {
    pub lines: Option<Figure>,
    pub size: Option<Figure>,
    /// A size in raw bytes of the whole output, before anything is removed from it.
    pub raw: Option<Figure>,
    /// What `size` is measured in, if not in the policy's unit.
    pub unit: Option<Unit>,
    /// A size, in `also_unit`, that must be exceeded as well.
    pub also_size: Option<Figure>,
    pub also_unit: Option<Unit>,
    /// A final line feed does not count in the size.
    #[serde(default)]
    pub bare: bool,
    /// A limit of 0 never cuts.
    #[serde(default)]
    pub zero_is_off: bool,
}
