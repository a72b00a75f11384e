//! How much the model got of a stored output, in a word or two, and what it lost first.

use std::ops::Range;

use memchr::memchr;

use crate::compare::first_lost_line;
use crate::source::MapView;
use crate::text::ansi;
use crate::text::filter::Got;
use crate::text::label::SafeText;
use crate::text::search::SeverityPatterns;

use super::lost::LostInCall;

/// Maximum length of a gap that is searched for line feeds, in bytes.
const MAX_LINE: usize = 64 << 10;

/// Maximum length of a lost line as it is shown, in bytes.
const MAX_TEXT: usize = 400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptShare {
    /// All of it, but perhaps for the line feed at its end.
    All,
    Nothing,
    LostLastLine,
    /// This part of its bytes, in percent; 0 is less than one.
    Percent(u8),
    /// An error message of the agent's instead.
    Error,
    /// Not known: only the start of the output was saved.
    Unsaved,
}

/// What the model got of an output, by the policy with which it opens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelShare {
    pub got: KeptShare,
    /// The errors in it; `None` if it is too long to count them for a list.
    pub lost: Option<LostInCall>,
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
        let (lost, line) = LostInCall::beside(view, kept, severities).unzip();
        let first_lost = line.filter(|_| got.is_cut()).map(|line| FirstLost::find(line, view, kept));
        Self { got, lost, first_lost }
    }

    pub(crate) fn without_errors(got: KeptShare) -> Self {
        Self { got, lost: None, first_lost: None }
    }
}

impl FirstLost {
    /// Describes the line of an error or warning, or else the first line of which these ranges do not have all.
    fn find(line: Option<Range<usize>>, bytes: &[u8], kept: &[Range<usize>]) -> Self {
        let start = line.as_ref().map_or_else(|| first_lost_line(bytes, kept), |line| line.start);
        let line = line.unwrap_or_default();
        let text = &bytes[line.start..line.end.min(line.start + MAX_TEXT)];
        Self {
            line: bytecount::count(&bytes[..start], b'\n') as u64 + 1,
            text: SafeText::from_bytes(&ansi::printed(text)),
        }
    }
}

impl KeptShare {
    /// Returns what these ranges, in order, are of `bytes`.
    fn kept(kept: &[Range<usize>], bytes: &[u8]) -> Self {
        let lost: Vec<Range<usize>> = Got(kept).gaps(bytes.len());
        let kept_bytes: usize = kept.iter().map(Range::len).sum();
        match &lost[..] {
            [] => Self::All,
            [end] if is_line_end(&bytes[end.clone()]) => Self::All,
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
            Self::Percent(0) => "<1%".into(),
            Self::Percent(percent) => format!("{percent}%"),
            Self::Error => "an error".into(),
            Self::Unsaved => "partly saved".into(),
        }
    }

    pub(crate) fn is_cut(self) -> bool {
        self != Self::All
    }

    /// Orders by how much the model got, the least first.
    pub(crate) fn rank(self) -> u8 {
        match self {
            Self::Unsaved | Self::Error | Self::Nothing => 0,
            Self::Percent(percent) => 1 + percent,
            Self::LostLastLine => 101,
            Self::All => 102,
        }
    }
}

fn is_line_end(bytes: &[u8]) -> bool {
    bytes == b"\n" || bytes == b"\r\n"
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
