//! What a model did not get of an output: measured, and in words for it to read.

use std::fmt::Write;
use std::ops::{ControlFlow, Range};
use std::path::Path;

use memchr::{memchr, memmem, memrchr};

use crate::base::human::{count, lines, size, thousands};
use crate::compare::kept_ranges;
use crate::config::Config;
use crate::corpus::MAX_LINE;
use crate::preview::{self, Input, Policy, Stream, TotalsFor};
use crate::source::{Buffer, MapView, ViewSupply, measure, release_code};
use crate::text::ansi;
use crate::text::filter::KeptRanges;
use crate::text::label::{SafeText, label};
use crate::text::search::{Severity, each_match};
use crate::text::supply::Supply;
use crate::text::units::{Decoding, TotalsMask};

use super::input::MAX_TEXT;
use super::pieces;

/// Maximum number of errors that are counted: agents wait for their hooks.
const MAX_COUNTED: u64 = 750_000;

/// Maximum size of the blanks at an end of an output, in bytes: agents take them off, and a plan reads all of them.
const MAX_BLANK: usize = 64 << 10;

/// Maximum number of errors whose places are kept.
const MAX_GOT: usize = 16 << 10;

/// Maximum number of lost errors that a note lists.
const MAX_NAMED: usize = 8;

/// Maximum width of a lost line in a note, in columns.
const MAX_WORDS: usize = 120;

/// The fewest bytes at an end of an output that are found again in another text not by chance.
const MIN_SHOWN: usize = 32;

/// The most bytes of the start and of the end: with the rest below the 30,000 characters that Claude Code gives whole.
const MAX_END: usize = 10 << 10;

pub(super) struct HookOutput {
    pub view: MapView,
    /// The bytes of the view that the tool printed; an agent may add text around them, and cut that, too.
    pub inner: Range<usize>,
    /// The size of the whole, in bytes; more than the view has if that is only its beginning.
    pub size: u64,
}

#[derive(Clone, Default)]
pub(super) struct Loss {
    size: u64,
    /// The number of lines that the model got a part of, and of all lines; `None` if not all was read.
    lines: Option<[u64; 2]>,
    severity: Severity,
    /// The number of errors, or of warnings if there is no error, and of those that the model did not get.
    all: u64,
    lost: u64,
    /// In how many bytes these were counted, if not in all.
    searched: Option<u64>,
    /// Where the first lost ones begin, and the ranges of those the model got, in bytes.
    first: Vec<usize>,
    got: Vec<Range<usize>>,
    /// The lines of the first lost ones: the number, and the words as a terminal without colours would show them.
    pub named: Vec<String>,
}

impl HookOutput {
    /// Tells how much of it the file of this name holds: an agent may save only its beginning.
    pub(super) fn place(&self, name: &str) -> String {
        match self.size > self.view.len() as u64 {
            true => format!("Its first {} are in {name}", size(self.view.len() as u64)),
            false => format!("The whole output is in {name}"),
        }
    }

    /// Whether not all of it was read, so that its lines cannot be counted.
    fn is_partial(&self) -> bool {
        self.view.len() > MAX_TEXT || self.size > self.view.len() as u64
    }

    /// Returns what a policy keeps of what the tool printed; `None` if it cuts nothing, or finding out takes too long.
    pub(super) fn kept(&self, policy: &Policy, path: &str) -> Option<Vec<Range<usize>>> {
        let blank = |char: char| char.is_whitespace() || matches!(char, '\u{feff}' | '\u{fffd}');
        let is_blank = |at: usize| Decoding::Lossy.decode(&self.view[at..at + MAX_BLANK]).chars().all(blank);
        if self.view.len().checked_sub(MAX_BLANK).is_some_and(|far| is_blank(0) || is_blank(far)) {
            return None;
        }
        let input = Input::from_bytes(&self.view, path);
        let totals = |_, want| {
            let all = 0..self.view.len();
            (!self.is_partial()).then(|| measure(&self.view, all, want, &mut Buffer::default()))
        };
        let preview = preview::plan_counting(&input, policy, TotalsFor::Ranges, totals).ok()?.preview;
        let mut kept = kept_ranges(&preview.parts, &self.view, Stream::Stdout);
        if self.size > self.view.len() as u64 {
            // The view ends before the output does.
            kept.retain(|range| range.start == 0);
        }
        preview.truncated.then(|| self.within_inner(&kept))
    }

    /// Returns which of its two ends a cut result shows; `None` for neither, as where it has another form.
    pub(super) fn shown_in(&self, text: &MapView) -> Option<Vec<Range<usize>>> {
        let [mut text, mut whole] = [ViewSupply::from(text), ViewSupply::from(&self.view)];
        let sure = MIN_SHOWN.min(whole.len());
        let first = whole.read(0..sure).to_vec();
        let at = pieces::first_in(&mut text, |at, piece| Some(at + memmem::find(piece, &first)?));
        let start = at.map(|at| 0..pieces::common_start(&mut text, at, &mut whole));
        let end = pieces::common_end(&mut text, &mut whole);
        let found = text.len() - end;
        // The two line feeds between a notice and the end are the notice's, though the file may have such there.
        let feeds = |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|byte| **byte == b'\n').count();
        let before = feeds(&mut text.read(found.saturating_sub(2)..found).iter().rev());
        let end = end - feeds(&mut text.read(found..text.len().min(found + 2 - before)).iter());
        let end = (end >= sure).then(|| whole.len() - end..whole.len());
        let shown: Vec<Range<usize>> = start.into_iter().chain(end).collect();
        (!shown.is_empty()).then(|| self.within_inner(&shown))
    }

    fn within_inner(&self, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
        let inside = |at: usize| at.clamp(self.inner.start, self.inner.end) - self.inner.start;
        ranges.iter().map(|range| inside(range.start)..inside(range.end)).collect()
    }

    /// Finds out what is lost to a model that got these ranges of what the tool printed.
    pub(super) fn loss(&self, config: &Config, kept: &[Range<usize>]) -> Loss {
        let mut loss = Loss {
            size: self.size.saturating_sub((self.view.len() - self.inner.len()) as u64),
            lines: (!self.is_partial()).then(|| [self.lines_got(kept), self.lines()]),
            searched: self.is_partial().then(|| self.printed().len() as u64),
            ..Loss::default()
        };
        release_code();
        let severities = config.severities();
        for severity in Severity::ALL {
            let Some(pattern) = severities.get(severity).filter(|_| loss.all == 0) else { continue };
            loss.severity = severity;
            each_match(&mut self.printed(), pattern, &mut |found| {
                if loss.all == MAX_COUNTED {
                    loss.searched = Some(found.start as u64);
                    return ControlFlow::Break(());
                }
                loss.all += 1;
                loss.add_error(&found, kept);
                ControlFlow::Continue(())
            });
        }
        loss.named = self.named(&loss.first);
        loss
    }

    /// Finds out the same for a model that gets less each time, if possible by what was found out the first time.
    pub(super) fn next_loss(&self, config: &Config, first: &mut Option<Loss>, kept: &[Range<usize>]) -> Loss {
        let Some(before) = first else { return first.insert(self.loss(config, kept)).clone() };
        if before.got.len() as u64 + before.lost < before.all {
            return self.loss(config, kept);
        }
        let mut loss = Loss { got: Vec::new(), first: Vec::new(), ..before.clone() };
        loss.lines = before.lines.map(|[_, all]| [self.lines_got(kept), all]);
        before.got.iter().for_each(|found| loss.add_error(found, kept));
        // Earlier losses may lie on either side.
        loss.first.extend(&before.first);
        loss.first.sort_unstable();
        loss.first.truncate(MAX_NAMED);
        loss.named = self.named(&loss.first);
        loss
    }

    fn named(&self, first: &[usize]) -> Vec<String> {
        let lines = pieces::lines_of(&mut self.printed(), first, MAX_LINE).into_iter();
        let words = |line: Vec<u8>| SafeText::from_bytes(&ansi::printed(&line)).fit(MAX_WORDS);
        lines.map(|(number, line)| format!("line {}: {}", thousands(number), words(line))).collect()
    }

    fn printed(&self) -> ViewSupply<'_> {
        self.part(0..self.inner.len().min(MAX_TEXT))
    }

    fn part(&self, range: Range<usize>) -> ViewSupply<'_> {
        let start = self.inner.start;
        ViewSupply::from(&self.view).within(start + range.start..start + range.end)
    }

    fn lines(&self) -> u64 {
        let is_open = !self.inner.is_empty() && self.view.get(self.inner.end - 1) != Some(&b'\n');
        self.line_feeds(0..self.inner.len()) + u64::from(is_open)
    }

    /// Returns the number of lines with a part in these ranges. Reads what lies between them up to a line feed.
    fn lines_got(&self, kept: &[Range<usize>]) -> u64 {
        let (mut got, mut last) = (0, None);
        for range in kept {
            let range = range.start.max(last.unwrap_or_default())..range.end;
            if range.is_empty() {
                continue;
            }
            let ends_in =
                |gap| pieces::first_in(&mut self.part(gap), |_, piece| memchr(b'\n', piece)).is_some();
            got += u64::from(last.is_none_or(|last| ends_in(last..range.start)));
            got += self.line_feeds(range.start..range.end - 1);
            last = Some(range.end - 1);
        }
        got
    }

    fn line_feeds(&self, range: Range<usize>) -> u64 {
        let range = self.inner.start + range.start..self.inner.start + range.end;
        measure(&self.view, range, TotalsMask::LINE_FEEDS, &mut Buffer::default()).line_feeds
    }
}

impl Loss {
    fn add_error(&mut self, found: &Range<usize>, kept: &[Range<usize>]) {
        if !KeptRanges(kept).covers(found) {
            self.lost += 1;
            self.first.extend((self.first.len() < MAX_NAMED).then_some(found.start));
        } else if self.got.len() < MAX_GOT {
            self.got.push(found.clone());
        }
    }

    /// Tells how many errors the model did not get; empty if it got all.
    pub(super) fn heading(&self) -> String {
        let [lost, all] = [self.lost, self.all].map(|number| count(number, self.severity.as_str()));
        match self.searched {
            _ if self.lost == 0 => String::new(),
            Some(bytes) => format!("At least {lost} (in its first {}) did not reach you:", size(bytes)),
            None if self.lost == self.all => format!("You got none of its {all}:"),
            None => format!("You did not get {} of its {all}:", thousands(self.lost)),
        }
    }

    /// Writes what the model got, the lost errors that fit in `most` bytes, and `place`, which says where the whole is.
    pub(super) fn note(&self, condition: &str, place: &str, most: usize) -> String {
        let got = self.lines.map(|[got, all]| format!("{} of {}", thousands(got), lines(all)));
        let got = got.unwrap_or_else(|| "a part".to_owned());
        let note =
            format!("overspill: {condition}you got {got} of this output ({} in all).", size(self.size));
        self.with_named(note, &self.heading(), &format!("\n{place}"), most)
    }

    /// Writes the note on texts (ranges in bytes) without their middle: what is lost lies there.
    pub(super) fn note_of_middle(&self, texts: &[Range<u64>], most: usize) -> String {
        let all = self.lines.map(|[_, all]| format!("{}, ", lines(all))).unwrap_or_default();
        let bytes = size(texts.iter().map(|text| text.end - text.start).sum());
        let mut lost = count(self.lost, self.severity.as_str());
        if self.searched.is_some() {
            lost.insert_str(0, "at least ");
        }
        let (note, heading) = match texts.len() {
            1 => (
                format!(
                    "overspill: this result has {all}{bytes}. What is over the agent's limit was taken out of its middle, and the \
                     agent keeps no copy."
                ),
                format!("In its middle it has {lost}:"),
            ),
            number => (
                format!(
                    "overspill: this result has {all}{bytes}, in {number} texts. What is over the agent's limit was left out, from \
                     the middle of a text or from its start on, with all texts after it. The agent keeps no copy."
                ),
                format!("What was left out has {lost}:"),
            ),
        };
        self.with_named(note, &heading, "", most)
    }

    fn with_named(&self, note: String, heading: &str, place: &str, most: usize) -> String {
        if self.lost == 0 {
            return note + place;
        }
        let (mut named, mut shown) = (format!(" {heading}"), 0);
        for line in &self.named {
            let line = format!("\n{line}");
            let rest = "\nand 1,000,000 more".len();
            if note.len() + named.len() + line.len() + rest + place.len() > most {
                break;
            }
            named.push_str(&line);
            shown += 1;
        }
        if shown == 0 {
            named = format!(" {}.", heading.trim_end_matches(':'));
            if note.len() + named.len() + place.len() > most {
                named.clear();
            }
        } else if shown < self.lost {
            let _ = write!(named, "\nand {} more", thousands(self.lost - shown));
        }
        note + &named + place
    }
}

/// Returns the start, the errors with their line numbers, and the end; `None` if the output is not too long.
pub(super) fn in_place_of_preview(config: &Config, output: &HookOutput, path: &Path) -> Option<String> {
    let bytes = &*output.view;
    if bytes.len() <= 2 * MAX_END {
        return None;
    }
    let start = memrchr(b'\n', &bytes[..MAX_END]).map_or(MAX_END, |feed| feed + 1);
    let from = bytes.len() - MAX_END;
    let end = memchr(b'\n', &bytes[from..bytes.len() - 1]).map_or(from, |feed| from + feed + 1);
    let (start, end) = (0..start, end..bytes.len());
    let loss = output.loss(config, &[start.clone(), end.clone()]);
    let named: String = loss.named.iter().map(|line| format!("{line}\n")).collect();
    let left_out = size((end.start - start.end) as u64);
    let words = |range: Range<usize>| String::from_utf8_lossy(&bytes[range]).into_owned();
    let place = output.place(&label(path.as_os_str().as_encoded_bytes()));
    let notice = format!("[overspill: {left_out} are left out here. {place}]");
    let heading = loss.heading();
    Some(format!("{}\n{notice}\n{heading}\n{named}\n{}", words(start), words(end)))
}

#[cfg(test)]
mod tests {
    use crate::base::env::Env;

    use super::*;

    fn output(text: &str) -> HookOutput {
        let view = MapView::from_bytes(text.as_bytes()).unwrap();
        HookOutput { inner: 0..text.len(), size: text.len() as u64, view }
    }

    /// Returns the number of lines that a model got of a text, and of all.
    fn lines(text: &str, kept: &[Range<usize>]) -> [u64; 2] {
        let output = output(text);
        [output.lines_got(kept), output.lines()]
    }

    #[test]
    fn a_line_received_in_parts_counts_once() {
        let text = "one\ntwo\nthree\nfour";
        let got = |kept: &[Range<usize>]| lines(text, kept);
        assert_eq!(got(&[]), [0, 4]);
        assert_eq!(got(std::slice::from_ref(&(0..text.len()))), [4, 4]);
        assert_eq!(got(&[0..1, 2..3]), [1, 4], "both in the first line");
        assert_eq!(got(&[0..4, 14..18]), [2, 4]);
        assert_eq!(got(&[3..4, 5..6]), [2, 4]);
        assert_eq!(lines("", &[]), [0, 0]);
        assert_eq!(lines("a\n", &[0..0, 0..1]), [1, 1], "what is empty does not count");
    }

    #[test]
    fn a_note_stays_within_its_byte_limit() {
        let words = |number: u64| format!("line {number}: error: something is broken here");
        let loss = Loss {
            size: 250 << 10,
            lines: Some([13, 5449]),
            severity: Severity::Error,
            all: 20,
            lost: 19,
            named: (1..=8).map(words).collect(),
            ..Loss::default()
        };
        let whole = loss.note("", "The whole output is in /tmp/x", 2048);
        assert!(whole.starts_with("overspill: you got 13 of 5,449 lines of this output (250 KB in all). You did not get 19 of its 20 errors:\nline 1: "));
        assert!(whole.ends_with("\nand 11 more\nThe whole output is in /tmp/x"), "{whole}");
        let (start, end) = (whole.find(" You did").unwrap(), "\nThe whole output is in /tmp/x");
        for most in start + end.len()..600 {
            let note = loss.note("", &end[1..], most);
            assert!(note.len() <= most, "{most}: {note}");
            let ends =
                ["in all).", "its 20 errors.", "more"].map(|words| note.ends_with(&(words.to_owned() + end)));
            let expected = [most < 135, (135..194).contains(&most), most >= 194];
            assert_eq!(ends, expected, "{most}: {note}");
        }
        assert_eq!(loss.note("", &end[1..], 0).len(), start + end.len(), "the least that a note says");
    }

    /// Returns how many errors a text has and how many are lost, the first of these, and how much was searched.
    fn lost(text: &str, kept: &[Range<usize>]) -> ([u64; 2], Vec<String>, Option<u64>) {
        let config = Config::load_from(Env::hermetic(Path::new("/none")), None);
        let loss = output(text).loss(&config, kept);
        ([loss.all, loss.lost], loss.named, loss.searched)
    }

    /// Counting is bounded by the number of errors, so that it is the same on any machine.
    #[test]
    fn counts_errors_up_to_a_maximum() {
        let text = "error:\n".repeat(MAX_COUNTED as usize);
        let end = text.len() - 14..text.len();
        let named: Vec<String> = (3..=10).map(|number| format!("line {number}: error:")).collect();
        assert_eq!(lost(&text, &[0..14, end.clone()]), ([MAX_COUNTED, MAX_COUNTED - 4], named.clone(), None));
        let more = format!("{text}fine\nerror:\n");
        let searched = Some(text.len() as u64 + 5);
        assert_eq!(lost(&more, &[0..14, end]), ([MAX_COUNTED, MAX_COUNTED - 4], named.clone(), searched));
    }

    #[test]
    fn next_loss_agrees_with_a_loss_computed_anew() {
        let text: String = (1..=40).map(|n| if n % 3 == 0 { "error: x\n" } else { "none: xy\n" }).collect();
        let config = Config::load_from(Env::hermetic(Path::new("/none")), None);
        let output = output(&text);
        let end = text.len();
        let mut before = Some(output.loss(&config, &[0..90, 180..end]));
        for kept in [
            [0..90, 180..end],
            [0..90, 200..end],
            [0..90, end - 1..end],
            [0..90, end..end],
            [0..60, 180..end],
            [0..0, 180..end],
            [0..30, 330..end],
            [0..0, 200..end],
        ] {
            let [one, other] = [output.next_loss(&config, &mut before, &kept), output.loss(&config, &kept)];
            assert_eq!(one.note("", "", 2000), other.note("", "", 2000), "{kept:?}");
        }
        let mut forgot = before.map(|before| Loss { got: Vec::new(), ..before });
        let none = [0..0, 0..0];
        let [one, other] = [output.next_loss(&config, &mut forgot, &none), output.loss(&config, &none)];
        assert_eq!(one.note("", "", 2000), other.note("", "", 2000));
    }

    #[test]
    fn too_many_blanks_at_an_end_leave_the_kept_part_unknown() {
        let policy = Policy::builtin("claude-code").unwrap();
        let kept = |text: &str| output(text).kept(&policy, "");
        let long = "x".repeat(40_000);
        for blank in [" ", "\n", "\u{3000}", "\u{feff}"] {
            let some = blank.repeat(9_000);
            assert!(kept(&format!("{some}{long}{some}")).is_some());
            let many = blank.repeat(MAX_BLANK);
            assert_eq!(
                [format!("{many}{long}"), format!("{long}{many}")].map(|text| kept(&text)),
                [None, None]
            );
        }
    }
}
