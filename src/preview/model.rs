//! The result of a plan: parts that stand for ranges of an output, and their totals; or why there is none.

use std::ops::Range;

use crate::base::provenance::Extent;
use crate::text::ansi;
use crate::text::units::{self, Decoding, TotalsMask};

use super::input::{Input, Stream};

/// What a notice shows for a figure that is still being counted.
pub(crate) const WAITING: &str = "…";

/// A piece of a changed part's text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fragment {
    /// Text that is not in the output.
    Text(String),
    /// The decoded text of these bytes of the part's source.
    Bytes(Range<usize>),
    /// This many U+FFFD.
    Replaced(usize),
    /// The escape sequences in these bytes, concatenated.
    Escapes(Range<usize>),
}

/// Kept text is passed on, and counted, in pieces of this many bytes.
const PIECE: usize = 1 << 20;

/// A part of a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The decoded text of a byte range of the output.
    Kept {
        /// Which output.
        source: Stream,
        /// The byte range; never empty.
        range: Range<usize>,
        /// How the bytes are decoded.
        decoding: Decoding,
    },
    /// Stands for a byte range, but with other text: half a character, a numbered line, a stripped one.
    Changed {
        /// Which output.
        source: Stream,
        /// The byte range that it stands for.
        range: Range<usize>,
        /// Its text, in order.
        fragments: Vec<Fragment>,
        /// How the bytes of the fragments are decoded.
        decoding: Decoding,
    },
    /// Text added by the agent.
    Notice {
        /// The text.
        text: String,
    },
    /// A figure in a notice that is still being counted. Its text is `…`, which no model got; once the totals in
    /// [`Preview::missing`] are known, a preview has none of these.
    Counting,
}

impl Part {
    /// Returns the part's text, decoded from the bytes of `input`.
    pub fn text(&self, input: &Input) -> String {
        match self {
            Self::Kept { source, range, decoding } => decoding.decode(window(input, *source, range)),
            Self::Changed { source, fragments, decoding, .. } => {
                fragments.iter().map(|fragment| fragment.text(input, *source, *decoding)).collect()
            }
            Self::Notice { text } => text.clone(),
            Self::Counting => WAITING.to_owned(),
        }
    }

    /// Passes on the part's text in order, of kept text a piece at a time, so that memory does not grow with it.
    pub(crate) fn each_piece<E>(
        &self,
        input: &Input,
        take: &mut dyn FnMut(&str) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self::Kept { source, range, decoding } = self else { return take(&self.text(input)) };
        pieces(window(input, *source, range)).try_for_each(|piece| take(&decoding.decode(piece)))
    }

    /// Returns the length of [`Part::text`] in UTF-8 bytes; any number once nobody wants it any more.
    pub fn byte_len(&self, input: &Input) -> u64 {
        match self {
            Self::Kept { source, range, decoding } => {
                let output = input.stream(*source);
                let is_whole = *decoding == Decoding::Lossy && range.len() == output.bytes.len();
                let counted = output.totals.decoded_bytes.filter(|_| is_whole);
                let pieces = pieces(window(input, *source, range)).take_while(|_| input.is_wanted());
                counted.unwrap_or_else(|| pieces.map(|piece| decoding.len_of(piece)).sum())
            }
            Self::Changed { source, fragments, decoding, .. } => {
                fragments.iter().map(|fragment| fragment.byte_len(input, *source, *decoding)).sum()
            }
            Self::Notice { text } => text.len() as u64,
            Self::Counting => WAITING.len() as u64,
        }
    }

    /// Returns the output and range that the part stands for; `None` for text that is not in the output.
    pub fn range(&self) -> Option<(Stream, Range<usize>)> {
        match self {
            Self::Kept { source, range, .. } | Self::Changed { source, range, .. } => {
                Some((*source, range.clone()))
            }
            Self::Notice { .. } | Self::Counting => None,
        }
    }

    /// Returns `kept`, `changed`, `notice` or `counting`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Kept { .. } => "kept",
            Self::Changed { .. } => "changed",
            Self::Notice { .. } => "notice",
            Self::Counting => "counting",
        }
    }
}

impl Fragment {
    fn text(&self, input: &Input, source: Stream, decoding: Decoding) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Bytes(range) => decoding.decode(window(input, source, range)),
            Self::Replaced(count) => "\u{FFFD}".repeat(*count),
            Self::Escapes(range) => ansi::sequences(window(input, source, range))
                .map(|(bytes, _)| decoding.decode(bytes))
                .collect(),
        }
    }

    pub(super) fn byte_len(&self, input: &Input, source: Stream, decoding: Decoding) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Bytes(range) => decoding.len_of(window(input, source, range)),
            Self::Replaced(count) => 3 * *count as u64,
            Self::Escapes(range) => {
                ansi::sequences(window(input, source, range)).map(|(bytes, _)| decoding.len_of(bytes)).sum()
            }
        }
    }
}

/// The file may have shrunk since the plan was made: what no longer exists is left out.
fn window<'a>(input: &Input<'a>, source: Stream, range: &Range<usize>) -> &'a [u8] {
    let bytes = input.stream(source).bytes;
    let end = range.end.min(bytes.len());
    &bytes[range.start.min(end)..end]
}

/// Splits bytes where no character is.
fn pieces(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (piece, rest) = bytes.split_at(units::element_start(bytes, PIECE));
        bytes = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

words! {
    /// The unit of a policy's sizes.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    #[non_exhaustive]
    pub enum Unit {
        /// UTF-8 bytes of the decoded text (raw bytes for Go agents).
        Bytes => "bytes",
        /// UTF-16 units.
        #[serde(rename = "units")]
        Utf16 => "units",
        /// Unicode code points.
        #[serde(rename = "points")]
        Chars => "points",
        /// Terminal cells.
        Cells => "cells",
        /// Tokens, by the agents' own rule of four bytes each.
        Tokens => "tokens",
    }
}

#[cfg(feature = "app")]
impl Unit {
    /// Returns the unit's name for people: `UTF-16 units`, `chars`.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Utf16 => "UTF-16 units",
            Self::Chars => "chars",
            unit => unit.as_str(),
        }
    }
}

words! {
    /// Which end of an output is kept.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    #[cfg_attr(feature = "app", derive(clap::ValueEnum))]
    #[non_exhaustive]
    pub enum Direction {
        /// The beginning.
        Head => "head",
        /// The end.
        Tail => "tail",
    }
}

impl Direction {
    /// Returns the outermost place of a range.
    pub(crate) fn edge(self, range: &Range<usize>) -> usize {
        match self {
            Self::Head => range.start,
            Self::Tail => range.end,
        }
    }

    /// Returns the part of a range from that end up to and with a range inside of it.
    pub(crate) fn up_to(self, whole: &Range<usize>, inner: &Range<usize>) -> Range<usize> {
        match self {
            Self::Head => whole.start..inner.end,
            Self::Tail => inner.start..whole.end,
        }
    }

    /// Splits a range into `len` bytes of that end, of which it has as many, and the rest.
    pub(crate) fn split(self, whole: &Range<usize>, len: usize) -> (Range<usize>, Range<usize>) {
        let Range { start, end } = *whole;
        match self {
            Self::Head => (start..start + len, start + len..end),
            Self::Tail => (end - len..end, start..end - len),
        }
    }

    /// Converts between the order of the text and the order from this end inward.
    pub(crate) fn ordered<T>(self, mut all: Vec<T>) -> Vec<T> {
        if self == Self::Tail {
            all.reverse();
        }
        all
    }

    /// Joins what lies outermost with what follows inward, in the order of the text.
    pub(crate) fn join<T>(
        self,
        outer: impl IntoIterator<Item = T>,
        inner: impl IntoIterator<Item = T>,
    ) -> Vec<T> {
        match self {
            Self::Head => outer.into_iter().chain(inner).collect(),
            Self::Tail => inner.into_iter().chain(outer).collect(),
        }
    }
}

/// The limit that cut an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitHit {
    /// Too many lines.
    Lines,
    /// Too large, in the policy's unit.
    Size(Unit),
    /// Too many matches or entries.
    Matches,
}

impl LimitHit {
    /// Returns `lines`, `matches` or the unit's name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Size(unit) => unit.as_str(),
            Self::Matches => "matches",
        }
    }
}

/// Whether the agent succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The model got the parts.
    Ok,
    /// The agent crashes on this output, with this message. There are no parts then.
    Crashed(String),
}

impl Status {
    /// Returns `ok`, or `crashed` with the message: what JSON says.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Ok => "ok".to_owned(),
            Self::Crashed(words) => format!("crashed: {words}"),
        }
    }
}

/// Which of a policy's two texts the agent answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reply {
    /// The one for an output within the limits.
    Whole,
    /// The one for an output beyond them. Some agents then keep all of it nevertheless.
    Cut,
}

/// How much text there is, in each measure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts<T = Option<u64>> {
    /// Number of lines, as the policy counts them.
    pub lines: T,
    /// Length of the decoded text in UTF-8 bytes.
    pub bytes: T,
    /// Size in the policy's unit.
    pub units: T,
}

impl<T> Counts<T> {
    pub(super) fn zip<U, V>(self, other: Counts<U>, with: impl Fn(T, U) -> V) -> Counts<V> {
        Counts {
            lines: with(self.lines, other.lines),
            bytes: with(self.bytes, other.bytes),
            units: with(self.units, other.units),
        }
    }
}

/// What a model got: the parts, in order, and their totals.
///
/// Invariants: the joined texts of the parts are the preview; the kept parts of one source are ordered, disjoint and in
/// range. Counts are in the policy's own terms and include both streams; one whose total is not known yet is `None`.
/// Exactly if the output is truncated, not all of its bytes are kept. What an agent adds to every output (line numbers,
/// a status) or takes from every output (white space at its ends, escape sequences) is no truncation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Preview {
    /// The parts, in order.
    pub parts: Vec<Part>,
    /// Whether the agent succeeded.
    pub status: Status,
    /// Whether any of the output was cut away.
    pub truncated: bool,
    /// The limit that cut it; none exactly if it is not truncated, or if an agent's record does not tell.
    pub truncated_by: Option<LimitHit>,
    /// The policy's size unit.
    pub unit: Unit,
    /// The whole output.
    pub total: Counts,
    /// What was kept of it; a line that was kept in part counts.
    pub kept: Counts,
    /// Length of the preview's text, with all that the agent adds, in UTF-8 bytes. Planning does not measure it.
    pub(crate) text_bytes: Option<u64>,
    /// Which of its texts the agent answered with.
    pub(crate) reply: Reply,
    /// Totals that the text still lacks, each shown as `…`. If empty, the text is exact.
    pub missing: TotalsMask,
    /// Totals without which it is not certain which ranges of the output the parts keep, nor by which limit it is cut.
    pub(crate) ranges_missing: TotalsMask,
    /// Totals that the counts above still lack. If empty, all counts are known.
    pub counts_missing: TotalsMask,
    /// The agent's own machine-readable details, if the policy has them.
    pub details: Option<serde_json::Value>,
}

impl Preview {
    /// Returns what was not kept: [`Preview::total`] without [`Preview::kept`].
    pub fn removed(&self) -> Counts {
        self.total.zip(self.kept, |total, kept| Some(total?.saturating_sub(kept?)))
    }

    /// Returns the whole preview as text.
    pub fn text(&self, input: &Input) -> String {
        self.parts.iter().map(|part| part.text(input)).collect()
    }

    /// Returns the length of [`Preview::text`] in UTF-8 bytes.
    pub fn byte_len(&self, input: &Input) -> u64 {
        self.parts.iter().map(|part| part.byte_len(input)).sum()
    }

    /// Returns the facts that warnings depend on.
    #[doc(hidden)]
    pub fn extent(&self, input: &Input) -> Extent {
        let bytes = input.output.bytes;
        Extent { bytes: bytes.len() as u64, last: bytes.last().copied(), cut: self.is_to_be_saved() }
    }

    /// Whether the agent saves the output: it cut some of it, or says so.
    pub(crate) fn is_to_be_saved(&self) -> bool {
        self.truncated || self.reply == Reply::Cut
    }

    pub(crate) fn has_notice_with(&self, words: &str) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Notice { text } if text.contains(words)))
    }

    /// Estimates tokens at four bytes each, rounded up.
    pub fn tokens_estimate(&self, input: &Input) -> u64 {
        self.byte_len(input).div_ceil(4)
    }
}

/// Why there is no preview.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The agent's tool replies with an error, for example if an offset is beyond the end.
    #[error("{message}")]
    Agent {
        /// The agent's message.
        message: String,
    },
    /// The plan is no longer wanted.
    #[error("the plan was cancelled")]
    Cancelled,
    /// The policy file has a mistake that only shows in use.
    #[error("{policy}: {message}")]
    Policy {
        /// The policy's name, before it the file if it is the user's own.
        policy: String,
        /// What is wrong.
        message: String,
    },
}
