//! How a policy turns an output into text and lines.

use serde::Deserialize;

/// How bytes become text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DecodingRule {
    /// U+FFFD for each maximal subpart.
    #[default]
    Lossy,
    /// Sizes and cuts on raw bytes; U+FFFD for each bad byte.
    Go,
    /// Like `lossy`, but a leading byte order mark is dropped.
    Bom,
    /// Like `lossy`, but a leading byte order mark and an unfinished character at the very end are dropped.
    Stream,
}

/// What is removed from the ends of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TrimRule {
    #[default]
    Nothing,
    /// One line feed at the end.
    LastFeed,
    /// Every line feed at the end.
    Feeds,
    /// White space at the end, as in JavaScript's `trimEnd`.
    End,
    /// White space at both ends, as in JavaScript's `trim`.
    Both,
    /// Blank lines at the start, and white space at the end.
    BlankLines,
}

/// What counts as a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LineRule {
    /// Pieces between line feeds: after a final line feed there is one more, empty.
    #[default]
    Pieces,
    /// A final line feed ends the last line; empty text has none.
    Ended,
    /// A final line feed does not count; empty text is one piece.
    Bare,
}
