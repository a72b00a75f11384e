//! The form of a policy file: TOML in, checked tables out.

mod response;

pub(super) use response::{CapForm, DetailsForm, DetailsShape, TextForm};

use super::parts::{Direction, Unit};
use crate::known::{Confidence, Edge, Warning};
use serde::Deserialize;
use toml::Spanned;

/// A policy file, as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PolicyForm {
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
pub(super) enum DecodingForm {
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
pub(super) enum TrimForm {
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
pub(super) struct RefuseForm {
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
pub(super) enum LinesForm {
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
pub(super) struct SettingsForm {
    pub file: String,
    pub lines: Option<String>,
    pub size: Option<String>,
}

/// A parameter.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ParamForm {
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
pub(super) enum KindForm {
    /// Nothing or a decimal number.
    Decimal,
}

/// Another name for a parameter, in another unit.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AlsoForm {
    pub name: String,
    /// How many of the parameter's units make one of these.
    pub times: u64,
}

/// What a parameter is to the command line and the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RoleForm {
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
pub(super) struct VariantForm {
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
pub(super) enum FigureForm {
    Number(u64),
    Expression(String),
}

pub(super) type Figure = Spanned<FigureForm>;

/// Over which limits an output is cut; either suffices.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WhenForm {
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

/// A way of keeping and its figures.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeepForm {
    pub way: Way,
    pub from: Option<Spanned<From>>,
    pub lines: Option<Figure>,
    pub size: Option<Figure>,
    pub head: Option<Figure>,
    pub tail: Option<Figure>,
    /// What sizes are measured in, if not in the policy's unit.
    pub unit: Option<Unit>,
    #[serde(default)]
    pub boundary: Boundary,
    #[serde(default)]
    pub oversize: Oversize,
    /// Whether keeping the last 0 keeps all, as `slice(-0)` does.
    #[serde(default)]
    pub zero_keeps_all: bool,
    /// Cut back to the line feed nearest the cut, if its index is over this.
    pub snap: Option<Figure>,
    /// Whether that line feed is kept.
    #[serde(default)]
    pub snap_keeps_feed: bool,
    /// What the agent says where the two kept ends would overlap, which makes it crash.
    pub overlap: Option<String>,
    pub offset: Option<Figure>,
    /// Lines that the caller asks for, before the limits apply.
    pub take: Option<Figure>,
    /// Those count as the limit on lines, not before it.
    #[serde(default)]
    pub take_counts: bool,
    /// What makes a line an error, ignoring ASCII case.
    pub words: Option<Vec<String>>,
    /// Whether lines end at CR, too.
    #[serde(default)]
    pub line_ends: LineEnds,
    /// Units (or bytes) of one line or piece that are kept.
    pub line_size: Option<Figure>,
    /// What follows a line that was cut.
    pub line_suffix: Option<String>,
    /// A line's number and what follows it.
    pub number: Option<Spanned<String>>,
    /// What the agent says to an offset past the end.
    pub past_end: Option<Spanned<String>>,
    /// Lines of the end that are kept in any case.
    pub tail_lines: Option<Figure>,
    /// Lines either side of an error.
    pub around: Option<Figure>,
    /// A piece that stands for left out lines.
    pub gap: Option<Spanned<String>>,
    /// Counting the pieces wins over the size where a cut piece is the last that fits.
    #[serde(default)]
    pub lines_win: bool,
    /// The most that the agent holds of what streamed by.
    pub held: Option<Figure>,
    /// Bytes of one read.
    pub chunk: Option<Figure>,
    /// What is held are raw bytes, decoded at the end.
    #[serde(default)]
    pub raw: bool,
    /// Not 0: what is held is kept whole.
    pub whole_if: Option<Figure>,
    /// Of a longer output only so many raw bytes at the start are looked at.
    pub first: Option<Figure>,
    /// What is removed from the ends of those.
    #[serde(default)]
    pub first_trim: TrimForm,
    /// Text that is shown as other text where it is kept.
    pub replace: Option<ReplaceForm>,
    /// Text that the agent puts before the output, and after it, and cuts with it.
    pub before: Option<Spanned<String>>,
    pub after: Option<Spanned<String>>,
    /// Over this size both together are cut.
    pub over: Option<Figure>,
    /// What is cut before each line's own text: `path:12: `.
    #[serde(default)]
    pub row_prefix: bool,
    /// What stands between the two ends, where the way puts it there.
    pub between: Option<String>,
    /// What is taken out of what was kept: a regular expression over bytes.
    pub remove: Option<Spanned<String>>,
    /// White space at the ends of what was kept goes, as Python's `strip` has it.
    #[serde(default)]
    pub strip: bool,
    /// What was kept is written as the inside of a string.
    pub quoted: Option<Quoted>,
}

/// A text and what stands for it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplaceForm {
    pub text: String,
    pub with: String,
}

impl KeepForm {
    /// Every figure, for checking.
    pub fn figures(&self) -> [&Option<Figure>; 15] {
        [
            &self.lines,
            &self.size,
            &self.head,
            &self.tail,
            &self.snap,
            &self.offset,
            &self.line_size,
            &self.around,
            &self.held,
            &self.chunk,
            &self.tail_lines,
            &self.take,
            &self.whole_if,
            &self.first,
            &self.over,
        ]
    }
}

/// The ways of keeping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Way {
    /// Whole pieces from one end.
    Pieces,
    /// So much from one end.
    Size,
    /// So much from either end.
    Middle,
    /// So many pieces from either end.
    Ends,
    /// Numbered lines from an offset.
    Window,
    /// Lines from an offset, then whole pieces from their start.
    Selection,
    /// Pieces that are matches or entries: so many, each cut, then so much.
    Matches,
    /// Lines about errors, with some either side, and the end.
    Errors,
    /// Half the lines from either end, dropped from the larger side until they fit.
    Balanced,
    /// Half the lines from either end; if that is too much, half the bytes of those.
    Sampled,
    /// The end of what a reader still holds who reads in chunks and drops the oldest.
    Held,
    /// The end of a rolling decoded window.
    Rolling,
    /// Both ends of what a collector holds.
    Collected,
    /// Both ends, then both ends of that.
    Twice,
    /// Both ends, drawn in to characters and line feeds.
    Snapped,
    /// The last raw bytes, wherever they begin.
    RawTail,
    /// Lines from the start, each cut to a length.
    Clipped,
    /// A fifth of the budget from the start, the rest from the end, by lines.
    Shares,
    /// Both ends around a notice that counts in the limit.
    Exact,
    /// Numbered lines as a Go scanner reads them.
    View,
    /// Both ends of the text without escape sequences.
    Stripped,
    /// Both ends of the output with text of the agent's own around it.
    Wrapped,
    /// The start of a text that loses its escape sequences read by read; with the last line, cut once more.
    Filtered,
    /// Lines each cut to a length; where that is too much, both ends.
    Shaped,
    /// Both ends around a notice that counts in the limit and gives figures of what it leaves.
    Counted,
    /// Numbered lines from either end, each cut to a length.
    Numbered,
    /// The start, or both ends where the end matters, by a weight of characters.
    Weighed,
    /// Both ends in terminal cells, with every escape sequence.
    Celled,
}

/// How kept text is written inside a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Quoted {
    /// ASCII JSON that is safe in HTML, as Jinja's `tojson` writes it.
    HtmlJson,
}

/// From which end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum From {
    Head,
    Tail,
    /// As the parameter of that role says.
    Direction,
}

impl From {
    pub(super) fn resolve(self, direction: Option<Direction>) -> Direction {
        match self {
            Self::Head => Direction::Head,
            Self::Tail => Direction::Tail,
            Self::Direction => direction.unwrap_or(Direction::Head),
        }
    }
}

/// Where a cut by size may fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Boundary {
    /// Between characters, inward.
    #[default]
    Character,
    /// Between units of the size: half a surrogate pair becomes U+FFFD.
    Unit,
    /// Anywhere between raw bytes.
    Byte,
}

/// What becomes of a first piece that alone is over the size limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Oversize {
    /// It is left out, and nothing is kept.
    #[default]
    None,
    /// What fits of it is kept.
    Cut,
    /// The limit applies to the kept pieces together, which are cut anywhere.
    Text,
}

/// Where lines of a window end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LineEnds {
    /// LF alone.
    #[default]
    Lf,
    /// LF, CRLF and a lone CR.
    Any,
}
