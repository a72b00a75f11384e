//! What the model got of a stored output: its preview, shown beside the list, and how much it is in a word or two.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use memchr::memchr;

use crate::preview::Status;
use crate::source::MapView;
use crate::store::{Entry, EntryStatus};
use crate::tui::pager::making::gaps;
use crate::tui::pager::output::OpenOutput;
use crate::tui::target::Subject;

/// How long the screen waits for the preview beside the list: a frame. A key held down repeats about every 30 ms.
pub(crate) const BESIDE: Duration = Duration::from_millis(15);

/// An entry and its preview.
pub struct Glance {
    /// The path of the entry.
    pub path: PathBuf,
    /// The preview. `None` until it is made, and for an entry that cannot be opened.
    pub output: Option<OpenOutput>,
}

impl Glance {
    /// Creates a glance whose preview is not made yet.
    pub fn awaited(path: PathBuf) -> Self {
        Self { path, output: None }
    }

    /// Makes the preview of an entry. Returns `None` if it is no longer wanted.
    pub fn of(path: PathBuf, subject: Subject, view: MapView, wanted: &dyn Fn() -> bool) -> Option<Self> {
        let mut output = OpenOutput::counted_now(subject, view);
        let planned = output.task(0).run(wanted)?;
        output.take(planned);
        Some(Self { path, output: Some(output) })
    }
}

/// Up to this many bytes a gap is searched for line feeds.
const LONGEST_LINE: usize = 64 << 10;

/// How much of an output the model got, by the policy with which the output opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelGot {
    /// All of it, but perhaps for the line feed at its end.
    All,
    Nothing,
    /// All but the last line.
    LostLastLine,
    /// This part of its bytes, in percent; 0 is less than one.
    Percent(u8),
    /// An error message of the agent's instead.
    Error,
    /// Not known: only the start of the output was saved.
    Unsaved,
    /// Not known: the file cannot be read, or it took too long to find out.
    Unknown,
}

/// Whether an entry can be opened to find out.
pub(crate) fn can_weigh(entry: &Entry) -> bool {
    use EntryStatus::{FutureTime, HardLinked, Ok, Unfinished};
    matches!(entry.status, Ok | Unfinished | HardLinked | FutureTime)
}

impl ModelGot {
    /// Plans the preview of an output. Returns `None` if that is no longer wanted.
    pub fn of(subject: Subject, view: MapView, wanted: &dyn Fn() -> bool) -> Option<Self> {
        let output = OpenOutput::counted_now(subject, view);
        let planned = output.task(0).run(wanted)?;
        Some(match &planned.preview {
            Ok(preview) if preview.status == Status::Ok => Self::kept(&planned.kept, &output.view),
            _ => Self::Error,
        })
    }

    /// Returns what these ranges, in order, are of `bytes`.
    fn kept(kept: &[Range<usize>], bytes: &[u8]) -> Self {
        let lost: Vec<Range<usize>> = gaps(kept, bytes.len());
        let kept_bytes: usize = kept.iter().map(Range::len).sum();
        match &lost[..] {
            [] => Self::All,
            [end] if is_line_end(&bytes[end.clone()]) => Self::All,
            _ if kept_bytes == 0 => Self::Nothing,
            [end] if is_last_line(end, bytes) => Self::LostLastLine,
            _ => Self::Percent((kept_bytes as u128 * 100 / bytes.len().max(1) as u128).min(99) as u8),
        }
    }

    pub fn words(self) -> String {
        match self {
            Self::All => "all".into(),
            Self::Nothing => "nothing".into(),
            Self::LostLastLine => "lost the last line".into(),
            Self::Percent(0) => "<1%".into(),
            Self::Percent(percent) => format!("{percent}%"),
            Self::Error => "an error".into(),
            Self::Unsaved => "partly saved".into(),
            Self::Unknown => "–".into(),
        }
    }
}

fn is_line_end(bytes: &[u8]) -> bool {
    bytes == b"\n" || bytes == b"\r\n"
}

/// Whether a gap is the last line, whole.
fn is_last_line(gap: &Range<usize>, bytes: &[u8]) -> bool {
    let lost = &bytes[gap.clone()];
    let line = lost.strip_suffix(b"\n").unwrap_or(lost);
    gap.end == bytes.len()
        && lost.len() <= LONGEST_LINE
        && bytes[..gap.start].last().is_none_or(|byte| *byte == b'\n')
        && memchr(b'\n', line).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(kept: &[(usize, usize)], bytes: &[u8]) -> String {
        let kept: Vec<Range<usize>> = kept.iter().map(|(start, end)| *start..*end).collect();
        ModelGot::kept(&kept, bytes).words()
    }

    #[test]
    fn what_was_kept_in_a_word() {
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
            assert_eq!(words(kept, text), expected, "{kept:?}");
        }
        let long = vec![b'x'; 100_000];
        assert_eq!(words(&[(0, 1)], &long), "<1%");
        assert_eq!(words(&[(0, 99_999)], &long), "99%");
        assert_eq!(words(&[], b""), "all");
    }
}
