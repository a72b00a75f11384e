//! What a policy file says of keeping: the way, its figures, and where cuts fall.

use serde::Deserialize;
use toml::Spanned;

use crate::preview::model::{Direction, Unit};

use super::{Figure, TrimForm};

/// A way of keeping and its figures.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeepForm {
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
    /// A tag of the agent's envelope that is escaped where it stands in what is kept.
    pub escape_tag: Option<String>,
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
pub(crate) enum Way {
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
pub(crate) enum Quoted {
    /// ASCII JSON that is safe in HTML, as Jinja's `tojson` writes it.
    HtmlJson,
}

/// From which end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum From {
    Head,
    Tail,
    /// As the parameter of that role says.
    Direction,
}

impl From {
    pub(crate) fn resolve(self, direction: Option<Direction>) -> Direction {
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
pub(crate) enum Boundary {
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
pub(crate) enum Oversize {
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
pub(crate) enum LineEnds {
    /// LF alone.
    #[default]
    Lf,
    /// LF, CRLF and a lone CR.
    Any,
}
