//! What the model got of an output, and how many errors and warnings it lost.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;
use std::path::{Path, PathBuf};

use memchr::memchr;

use crate::base::human::thousands;
use crate::compare::{ErrorsLost, first_lost_line, kept_ranges, lost_errors};
use crate::corpus;
use crate::preview::{self, Input, Stream};
use crate::session::examine::CallInspector;
use crate::session::model::Call;
use crate::session::text::{MAX_RESULT, to_text};
use crate::source::{MapView, ViewSupply};
use crate::text::ansi;
use crate::text::filter::KeptRanges;
use crate::text::label::SafeText;
use crate::text::search::{Severity, SeverityPatterns};
use crate::text::supply::Supply;
use crate::text::utf16::ByteOrder;

use super::column::{RowCell, RowLook, SlowFigure, Tone, WIDE, bar, percentage};

/// The longest output, in bytes, whose errors are counted for a list: reading more would hold up all others.
const MAX_OUTPUT: usize = 256 << 20;

/// Maximum length of a gap that is searched for line feeds, in bytes.
const MAX_LINE: usize = 64 << 10;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LostCounts {
    pub errors: ErrorsLost,
    pub warnings: ErrorsLost,
}

impl LostCounts {
    /// Sums them up over all cut outputs, and adds their spills; `None` if told to stop, or if no loss is known and not
    /// all outputs are at hand.
    pub(crate) fn count_all(
        inspector: &CallInspector,
        severities: &SeverityPatterns,
        spills: &mut Vec<PathBuf>,
        is_wanted: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let (mut sum, mut is_complete) = (Self::default(), true);
        for call in inspector.transcript.calls.iter().filter(|call| call.is_cut()) {
            if !is_wanted() {
                return None;
            }
            spills.extend(inspector.spill(call).and_then(|spill| spill.path().map(Path::to_path_buf)));
            let lost = ModelShare::from_call(inspector, call, severities).and_then(|share| share.lost);
            is_complete &= lost.is_some();
            sum.add(lost.unwrap_or_default());
        }
        (is_complete || sum.errors.lost > 0).then_some(sum)
    }

    /// Counts them, and finds the line of the first lost error, or warning; `None` in UTF-16. `supply` has the same bytes.
    pub(crate) fn beside<S: Supply>(
        bytes: &[u8],
        supply: impl Fn() -> S,
        kept: &[Range<usize>],
        severities: &SeverityPatterns,
    ) -> Option<(Self, Option<Range<usize>>)> {
        // The patterns are of UTF-8.
        if ByteOrder::detect(bytes).is_some() {
            return None;
        }
        let [(errors, lost_error), (warnings, lost_warning)] = Severity::ALL.map(|severity| {
            let lost = |pattern| lost_errors(bytes, &mut supply(), kept, pattern);
            severities.get(severity).map(lost).unwrap_or_default()
        });
        Some((Self { errors, warnings }, if errors.all > 0 { lost_error } else { lost_warning }))
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (sum, more) in [(&mut self.errors, other.errors), (&mut self.warnings, other.warnings)] {
            (sum.all, sum.lost) = (sum.all + more.all, sum.lost + more.lost);
        }
    }

    /// Returns the cell of a column of lost errors. Where an output has no error, its warnings stand there.
    pub(crate) fn cell(figure: &SlowFigure<Self>) -> RowCell {
        let has_lost = figure.value.is_some_and(|lost| lost.errors.lost > 0);
        let words = figure.describe(|lost| match lost {
            Self { errors, warnings } if errors.all == 0 && warnings.lost > 0 => {
                format!("{} w", thousands(warnings.lost))
            }
            Self { errors, .. } => thousands(errors.lost),
        });
        RowCell::new(words, if has_lost { Tone::Warning } else { Tone::Dim })
    }

    /// Orders by lost errors, then by lost warnings, the most first. What is not known may be the most.
    pub(crate) fn compare(a: Option<Self>, b: Option<Self>) -> Ordering {
        let key = |lost: Option<Self>| {
            lost.map(|lost| match lost.errors.all {
                0 => Reverse((0, lost.warnings.lost)),
                _ => Reverse((lost.errors.lost, 0)),
            })
        };
        key(a).cmp(&key(b))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptShare {
    /// All of it, but perhaps for the line feed at its end.
    All,
    Nothing,
    LostLastLine,
    /// This part of its bytes, in percent; 0 is less than one.
    Percent(u8),
    /// The same, if it may have been another part.
    Estimate(u8),
    /// An error message of the agent's instead.
    Error,
    /// Not known: only the start of the output was saved, or its file was changed since.
    Unsaved,
}

/// What the model got of an output, by the policy with which it opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelShare {
    pub got: KeptShare,
    /// Whether a model got the output; else that is what one would get.
    pub is_past: bool,
    /// The errors in it; `None` if it is too long to count them for a list.
    pub lost: Option<LostCounts>,
    /// What the model lost first; `None` if it got all, or the output is too long.
    pub first_lost: Option<FirstLost>,
}

/// The first error that the model did not get, or else the first warning, or else the first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstLost {
    pub line: u64,
    /// The text of an error or warning, as a terminal without colours would show it; else empty.
    pub text: SafeText,
}

impl ModelShare {
    /// Measures an output of which these ranges, in order, were kept, and counts the errors.
    pub(crate) fn measure(view: &MapView, kept: &[Range<usize>], severities: &SeverityPatterns) -> Self {
        let got = KeptShare::kept(kept, view);
        let count = || LostCounts::beside(view, || ViewSupply::from(view), kept, severities);
        let (lost, line) = (view.len() <= MAX_OUTPUT).then(count).flatten().unzip();
        let first_lost = line.filter(|_| got.is_cut()).map(|line| FirstLost::find(line, view, kept));
        Self { got, is_past: true, lost, first_lost }
    }

    /// Measures what the model got of a call; `None` if the whole output or the result is not at hand, or too long.
    pub(crate) fn from_call(
        inspector: &CallInspector,
        call: &Call,
        severities: &SeverityPatterns,
    ) -> Option<Self> {
        let best = inspector.best(call);
        let (result, facts) = to_text(inspector.transcript, &best.first.as_ref()?.pieces, MAX_RESULT).ok()?;
        let mut measure = |view: &MapView| {
            if view.len() > MAX_OUTPUT || facts.is_stopped {
                return None;
            }
            let preview = preview::recorded(&result, &Input::from_bytes(view, "")).ok()?;
            Some(Self::measure(view, &kept_ranges(&preview.parts, view, Stream::Stdout), severities))
        };
        inspector.read_whole(call, &mut measure).flatten()
    }

    pub(crate) fn without_errors(got: KeptShare) -> Self {
        Self { got, is_past: true, lost: None, first_lost: None }
    }
}

impl FirstLost {
    /// Describes the line of an error or warning, or else the first line of which these ranges do not have all.
    fn find(line: Option<Range<usize>>, bytes: &[u8], kept: &[Range<usize>]) -> Self {
        let start = line.as_ref().map_or_else(|| first_lost_line(bytes, kept), |line| line.start);
        let line = line.unwrap_or_default();
        let text = &bytes[line.start..line.end.min(line.start + corpus::MAX_LINE)];
        Self {
            line: bytecount::count(&bytes[..start], b'\n') as u64 + 1,
            text: SafeText::from_bytes(&ansi::printed(text)),
        }
    }
}

impl KeptShare {
    /// Returns what these ranges, in order, are of `bytes`.
    fn kept(kept: &[Range<usize>], bytes: &[u8]) -> Self {
        let lost: Vec<Range<usize>> = KeptRanges(kept).gaps(bytes.len());
        let kept_bytes: usize = kept.iter().map(Range::len).sum();
        match &lost[..] {
            [] => Self::All,
            [end] if matches!(&bytes[end.clone()], b"\n" | b"\r\n") => Self::All,
            _ if kept_bytes == 0 => Self::Nothing,
            [end] if is_last_line(end, bytes) => Self::LostLastLine,
            _ => Self::Percent((kept_bytes as u128 * 100 / bytes.len().max(1) as u128).min(99) as u8),
        }
    }

    pub fn label(self) -> String {
        match self {
            Self::All => "all".into(),
            Self::Nothing => "nothing".into(),
            Self::LostLastLine => "lost the last line".into(),
            Self::Percent(percent) => percentage(percent.into(), false),
            Self::Estimate(percent) => percentage(percent.into(), true),
            Self::Error => "an error".into(),
            Self::Unsaved => "partly saved".into(),
        }
    }

    /// Returns the cell of a share, and whether the model got that, or would.
    pub(crate) fn cell(figure: &SlowFigure<(Self, bool)>, look: &RowLook) -> RowCell {
        let words = figure.describe(|(got, is_past)| match *got {
            Self::LostLastLine if !is_past => "would get −1 line".to_owned(),
            _ if !is_past => format!("would get {}", got.label()),
            Self::Percent(percent) | Self::Estimate(percent) if look.width >= WIDE => {
                format!("{} {:>4}", bar(percent.into()), got.label())
            }
            Self::LostLastLine if look.width < WIDE => "−1 line".to_owned(),
            got => got.label(),
        });
        let tone = match figure.value {
            Some((_, false) | (Self::All, _)) | None => Tone::Dim,
            Some((Self::Error | Self::Nothing | Self::Unsaved, _)) => Tone::Warning,
            Some((Self::LostLastLine | Self::Percent(_) | Self::Estimate(_), _)) => Tone::Plain,
        };
        RowCell::new(words, tone)
    }

    pub(crate) fn is_cut(self) -> bool {
        self != Self::All
    }

    /// Orders by how much the model got, the least first.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::Unsaved | Self::Error | Self::Nothing => 0,
            Self::Percent(percent) | Self::Estimate(percent) => 1 + percent,
            Self::LostLastLine => 101,
            Self::All => 102,
        }
    }
}

fn is_last_line(gap: &Range<usize>, bytes: &[u8]) -> bool {
    let lost = &bytes[gap.clone()];
    let line = lost.strip_suffix(b"\n").unwrap_or(lost);
    gap.end == bytes.len()
        && lost.len() <= MAX_LINE
        && bytes[..gap.start].last().is_none_or(|byte| *byte == b'\n')
        && memchr(b'\n', line).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(kept: &[(usize, usize)], bytes: &[u8]) -> String {
        let kept: Vec<Range<usize>> = kept.iter().map(|(start, end)| *start..*end).collect();
        KeptShare::kept(&kept, bytes).label()
    }

    #[test]
    fn the_kept_share_in_a_word() {
        let text = b"one\ntwo\nthree\n";
        let table: [(&[(usize, usize)], &str); 8] = [
            (&[(0, 14)], "all"),
            (&[(0, 13)], "all"),
            (&[(0, 4), (4, 14)], "all"),
            (&[], "nothing"),
            (&[(0, 8)], "lost the last line"),
            (&[(0, 7)], "50%"),
            (&[(0, 10)], "71%"),
            (&[(4, 14)], "71%"),
        ];
        for (kept, expected) in table {
            assert_eq!(label(kept, text), expected, "{kept:?}");
        }
        let long = vec![b'x'; 100_000];
        assert_eq!(label(&[(0, 1)], &long), "<1%");
        assert_eq!(label(&[(0, 99_999)], &long), "99%");
        assert_eq!(label(&[], b""), "all");
    }

    #[test]
    fn the_first_loss_is_an_error_or_else_the_cut() {
        let bytes = b"one\ntwo\n\x1b[31merror: three\x1b[0m\n";
        let first = |line| {
            let FirstLost { line, text } = FirstLost::find(line, bytes, std::slice::from_ref(&(0..4)));
            (line, text.to_string())
        };
        assert_eq!(first(None), (2, String::new()));
        assert_eq!(first(Some(8..29)), (3, "error: three".to_owned()));
    }
}
