//! What a model did not get of an output: measured, and in words for it to read.

use std::fmt::{self, Write};
use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

use crate::base::human::{count, lines, size, thousands};
use crate::compare::{each_lost, kept_ranges};
use crate::config::Config;
use crate::preview::{self, Input, Policy, Stream, ToCount};
use crate::source::{Buffer, MapView, ViewSupply, measure};
use crate::text::ansi;
use crate::text::label::SafeText;
use crate::text::search::Severity;
use crate::text::supply::Supply;
use crate::text::units::TotalsMask;

use super::input::MAX_TEXT;
use super::pieces;

/// Maximum number of lost errors that a note lists.
const MAX_NAMED: usize = 8;

/// Maximum number of bytes that are read of a lost line.
const MAX_LINE: usize = 400;

/// Maximum width of a lost line in a note, in columns.
const MAX_WORDS: usize = 120;

/// The fewest bytes at an end of an output that are found again in another text not by chance.
const MIN_SHOWN: usize = 32;

/// The most bytes of the start and of the end. With the rest that is less than the 30,000 characters up to which Claude Code
/// gives an output whole.
const MAX_END: usize = 10 << 10;

/// An output, as far as it was read.
pub(super) struct HookOutput {
    pub view: MapView,
    /// The bytes of the view that the tool printed; an agent may add text around them, and cut that, too.
    pub inner: Range<usize>,
    /// The size of the whole, in bytes; more than the view has if that is only its beginning.
    pub size: u64,
}

/// What the model did not get of an output.
pub(super) struct Loss {
    size: u64,
    /// The number of lines that the model got a part of, and of all lines; `None` if not all was read.
    lines: Option<[u64; 2]>,
    severity: Severity,
    /// The number of errors, or of warnings if there is no error, and of those that the model did not get.
    all: u64,
    lost: u64,
    /// The first of these.
    pub named: Vec<LostLine>,
}

pub(super) struct LostLine {
    /// The number of the line, 1-based.
    number: u64,
    /// Its first words, as a terminal without colours would show them.
    words: SafeText,
}

impl fmt::Display for LostLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", thousands(self.number), self.words)
    }
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

    /// Returns what a policy keeps of what the tool printed, as ranges in its bytes; `None` if the policy cuts nothing.
    pub(super) fn kept(&self, policy: &Policy, path: &str) -> Option<Vec<Range<usize>>> {
        let input = Input::from_bytes(&self.view, path);
        let totals = |_, want| {
            let all = 0..self.view.len();
            (!self.is_partial()).then(|| measure(&self.view, all, want, &mut Buffer::default()))
        };
        let preview = preview::plan_counting(&input, policy, ToCount::All, totals).ok()?.preview;
        let mut kept = kept_ranges(&preview.parts, Stream::Stdout);
        if self.size > self.view.len() as u64 {
            // What looks like its end is none.
            kept.retain(|range| range.start == 0);
        }
        preview.truncated.then(|| self.within_inner(&kept))
    }

    /// Returns what of its two ends is in the text of a result that the agent has cut, as ranges in what the tool printed;
    /// `None` if neither is found, as where the agent writes it in another form.
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

    /// Turns ranges of the view into those of what the tool printed.
    fn within_inner(&self, ranges: &[Range<usize>]) -> Vec<Range<usize>> {
        let inside = |at: usize| at.clamp(self.inner.start, self.inner.end) - self.inner.start;
        ranges.iter().map(|range| inside(range.start)..inside(range.end)).collect()
    }

    /// Finds out what is lost to a model that got these ranges of what the tool printed.
    pub(super) fn loss(&self, config: &Config, kept: &[Range<usize>]) -> Loss {
        let severities = config.severities();
        let mut found = Severity::ALL.into_iter().filter_map(|severity| {
            let mut first = Vec::new();
            let [all, got] = each_lost(&mut self.printed(), kept, severities.get(severity)?, &mut |found| {
                if first.len() < MAX_NAMED {
                    first.push(found.start);
                }
            });
            (all > 0).then_some((severity, all, all - got, first))
        });
        let (severity, all, lost, first) = found.next().unwrap_or_default();
        let lines = (!self.is_partial()).then(|| self.lines_got(kept));
        Loss {
            size: self.size.saturating_sub((self.view.len() - self.inner.len()) as u64),
            lines,
            severity,
            all,
            lost,
            named: pieces::lines_of(&mut self.printed(), &first, MAX_LINE)
                .into_iter()
                .map(|(number, line)| LostLine {
                    number,
                    words: SafeText::from_bytes(&ansi::printed(&line)).fit(MAX_WORDS),
                })
                .collect(),
        }
    }

    /// Returns what the tool printed, as far as it is looked at, to be read piece by piece.
    fn printed(&self) -> ViewSupply<'_> {
        let end = self.inner.end.min(self.inner.start + MAX_TEXT);
        ViewSupply::from(&self.view).within(self.inner.start..end)
    }

    /// Returns the number of lines of which a part is in these ranges, and of all lines.
    fn lines_got(&self, kept: &[Range<usize>]) -> [u64; 2] {
        let mut buffer = Buffer::default();
        let mut feeds = |range: Range<usize>| self.line_feeds(range, &mut buffer);
        let (mut at, mut line, mut got, mut last) = (0, 0, 0, None);
        for range in kept {
            let range = range.start.max(at)..range.end;
            if range.is_empty() {
                continue;
            }
            line += feeds(at..range.start);
            let first = line;
            line += feeds(range.start..range.end - 1);
            got += line - first + u64::from(last != Some(first));
            last = Some(line);
            at = range.end - 1;
        }
        let all = line + feeds(at..self.inner.len());
        let is_open = !self.inner.is_empty() && self.view.get(self.inner.end - 1) != Some(&b'\n');
        [got, all + u64::from(is_open)]
    }

    fn line_feeds(&self, range: Range<usize>, buffer: &mut Buffer) -> u64 {
        let start = self.inner.start;
        measure(&self.view, start + range.start..start + range.end, TotalsMask::LINE_FEEDS, buffer).line_feeds
    }
}

impl Loss {
    /// Tells how many errors the model did not get; empty if it got all.
    pub(super) fn heading(&self) -> String {
        let [one, many] = [self.severity.singular(), self.severity.plural()];
        match self.lines {
            _ if self.lost == 0 => String::new(),
            None => {
                format!("At least {} (in its first 40 MB) did not reach you:", count(self.lost, one))
            }
            _ if self.lost == self.all => format!("You got none of its {}:", count(self.all, one)),
            _ => {
                let (lost, all) = (thousands(self.lost), thousands(self.all));
                format!("You did not get {lost} of its {all} {many}:")
            }
        }
    }

    /// Writes the note: what the model got, on a condition if there is one, the lost errors as far as they have room in
    /// `most` bytes, and `place`, which says where the whole is.
    pub(super) fn note(&self, condition: &str, place: &str, most: usize) -> String {
        let got = match self.lines {
            Some([got, all]) => format!("{} of {}", thousands(got), lines(all)),
            None => "a part".to_owned(),
        };
        let note =
            format!("overspill: {condition}you got {got} of this output ({} in all).", size(self.size));
        let place = if place.is_empty() { String::new() } else { format!("\n{place}") };
        self.with_named(note, &self.heading(), &place, most)
    }

    /// Writes the note on texts, which are ranges in bytes, of which the middle is left out at a limit that is not known: what is
    /// lost is what lies there.
    pub(super) fn note_of_middle(&self, texts: &[Range<u64>], most: usize) -> String {
        let all = self.lines.map(|[_, all]| format!("{}, ", lines(all))).unwrap_or_default();
        let bytes = size(texts.iter().map(|text| text.end - text.start).sum());
        let lost = count(self.lost, self.severity.singular());
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

    /// Adds the lost errors with their heading, if there are any, and where the whole is.
    fn with_named(&self, mut note: String, heading: &str, place: &str, most: usize) -> String {
        if self.lost == 0 {
            return note + place;
        }
        let _ = write!(note, " {heading}");
        let (mut named, mut shown) = (String::new(), 0);
        for line in &self.named {
            let line = format!("\n{line}");
            let rest = "\nand 1,000,000 more".len();
            if note.len() + named.len() + line.len() + rest + place.len() > most {
                break;
            }
            named.push_str(&line);
            shown += 1;
        }
        if shown < self.lost {
            let _ = write!(named, "\nand {} more", thousands(self.lost - shown));
        }
        note + &named + place
    }
}

/// Returns the text that an output which is too long gets in place of the agent's preview: its start, the errors with the numbers
/// of their lines, and its end; `None` if it is not too long.
pub(super) fn in_place_of_preview(config: &Config, output: &HookOutput, path: &str) -> Option<String> {
    let bytes = &*output.view;
    if bytes.len() <= 2 * MAX_END {
        return None;
    }
    let [start, end] = ends(bytes);
    let loss = output.loss(config, &[start.clone(), end.clone()]);
    let named: String = loss.named.iter().map(|line| format!("{line}\n")).collect();
    let left_out = size((end.start - start.end) as u64);
    let words = |range: Range<usize>| String::from_utf8_lossy(&bytes[range]).into_owned();
    let notice = format!("[overspill: {left_out} are left out here. {}]", output.place(path));
    let heading = loss.heading();
    Some(format!("{}\n{notice}\n{heading}\n{named}\n{}", words(start), words(end)))
}

/// Returns the start and the end of an output, in whole lines unless these are long.
fn ends(bytes: &[u8]) -> [Range<usize>; 2] {
    let start = memrchr(b'\n', &bytes[..MAX_END]).map_or(MAX_END, |feed| feed + 1);
    let from = bytes.len() - MAX_END;
    let end = memchr(b'\n', &bytes[from..bytes.len() - 1]).map_or(from, |feed| from + feed + 1);
    [0..start, end..bytes.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> HookOutput {
        let view = MapView::from_bytes(text.as_bytes()).unwrap();
        HookOutput { inner: 0..text.len(), size: text.len() as u64, view }
    }

    #[test]
    fn a_line_of_which_a_part_was_got_counts_once() {
        let text = "one\ntwo\nthree\nfour";
        let got = |kept: &[Range<usize>]| output(text).lines_got(kept);
        assert_eq!(got(&[]), [0, 4]);
        assert_eq!(got(std::slice::from_ref(&(0..text.len()))), [4, 4]);
        assert_eq!(got(&[0..1, 2..3]), [1, 4], "both in the first line");
        assert_eq!(got(&[0..4, 14..18]), [2, 4]);
        assert_eq!(got(&[3..4, 5..6]), [2, 4]);
        assert_eq!(output("").lines_got(&[]), [0, 0]);
        assert_eq!(output("a\n").lines_got(&[0..0, 0..1]), [1, 1], "what is empty does not count");
    }

    #[test]
    fn a_note_has_no_more_bytes_than_it_may() {
        let words = |n: u64| LostLine { number: n, words: "error: something is broken here".into() };
        let loss = Loss {
            size: 250 << 10,
            lines: Some([13, 5449]),
            severity: Severity::Error,
            all: 20,
            lost: 19,
            named: (1..=8).map(words).collect(),
        };
        let whole = loss.note("", "The whole output is in /tmp/x", 2048);
        assert!(whole.starts_with("overspill: you got 13 of 5,449 lines of this output (250 KB in all). You did not get 19 of its 20 errors:\nline 1: "));
        assert!(whole.ends_with("\nand 11 more\nThe whole output is in /tmp/x"), "{whole}");
        for most in 200..600 {
            let note = loss.note("", "The whole output is in /tmp/x", most);
            assert!(note.len() <= most, "{most}: {note}");
            assert!(note.ends_with("more\nThe whole output is in /tmp/x"));
        }
    }
}
