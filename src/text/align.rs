//! Finds where the pieces of a text stand in an output, and says where two texts differ.

use std::ops::Range;

use memchr::memmem;

use crate::text::ansi;
use crate::text::units::element;

/// A match of fewer bytes is taken for chance, unless it follows the match before.
const MIN_MATCH: usize = 8;

/// A match in the middle of a line counts from this many bytes on.
const MIN_INSIDE: usize = 32;

/// Maximum number of places of the output that are tried for one line of the text.
const MAX_PLACES: usize = 64;

/// Maximum number of bytes of the output that are looked through in all.
const MAX_BYTES: usize = 4 << 30;

/// A piece of the recorded text. The pieces are in order, and joined they are the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AlignedPiece {
    /// The piece, as a range of the text in bytes.
    pub text: Range<usize>,
    /// The bytes of the output that it stands for; none if the agent added it.
    pub place: Option<Range<usize>>,
    /// Whether it is their decoding; else they are escapes and returns that are left out of the text.
    pub is_same: bool,
}

/// Aligns a recorded text with the output. Pieces of the output keep their order. `None` once `is_wanted` returns false.
pub(crate) fn align(text: &str, whole: &[u8], is_wanted: &dyn Fn() -> bool) -> Option<Vec<AlignedPiece>> {
    let mut aligner = Aligner { text, whole, pieces: Vec::new(), at: 0, from: 0, looked: 0 };
    let (end, floor) = aligner.ends();
    while aligner.at < end {
        if !is_wanted() {
            return None;
        }
        aligner.step(end, floor);
    }
    // Without a common end, shorter lines may be there.
    aligner.fill(if end < text.len() { floor } else { aligner.whole_end() });
    aligner.keep(end..text.len(), floor);
    Some(aligner.pieces)
}

struct Aligner<'a> {
    text: &'a str,
    whole: &'a [u8],
    pieces: Vec<AlignedPiece>,
    /// How far the text is aligned.
    at: usize,
    /// From where on the output is searched.
    from: usize,
    looked: usize,
}

impl Aligner<'_> {
    /// Takes the common beginning, and returns where the common end of the rest begins in text and output.
    fn ends(&mut self) -> (usize, usize) {
        let run = self.extend(0, 0, self.text.len(), self.whole.len());
        let length = run.text_end;
        let is_line = self.text[..length].contains('\n') || length == self.text.len();
        if length >= MIN_INSIDE || is_line && length > 0 && (length >= MIN_MATCH || length == self.text.len())
        {
            self.take(run);
        }
        let whole_end = self.whole_end();
        let whole = self.whole.get(self.from..whole_end).unwrap_or_default();
        let text = &self.text.as_bytes()[self.at..];
        let common = text.iter().rev().zip(whole.iter().rev()).take_while(|(a, b)| a == b).count();
        let mut start = self.text.len() - common;
        while !self.text.is_char_boundary(start) {
            start += 1;
        }
        let is_whole_line = |start: usize| {
            opens(self.text.as_bytes(), start) && opens(self.whole, whole_end + start - self.text.len())
        };
        let length = self.text.len() - start;
        if length < MIN_INSIDE && !is_whole_line(start) {
            let lines = memchr::memchr(b'\n', &self.text.as_bytes()[start..]);
            start = lines.map_or(self.text.len(), |at| start + at + 1);
        }
        // The line end of a cut line, or of the notice, is not part of the next.
        start += usize::from(self.text[start..].starts_with('\n') && !is_whole_line(start));
        let len = self.text.len() - start;
        if len >= MIN_MATCH { (start, whole_end - len) } else { (self.text.len(), self.whole.len()) }
    }

    /// Returns where the output ends; without its last line feed if the text ends without one.
    fn whole_end(&self) -> usize {
        self.whole.len() - usize::from(self.whole.ends_with(b"\n") && !self.text.ends_with('\n'))
    }

    /// Aligns the next line of the text, or skips it as added.
    fn step(&mut self, end: usize, floor: usize) {
        let line_end = memchr::memchr(b'\n', &self.text.as_bytes()[self.at..end]).map(|at| self.at + at + 1);
        let line_end = line_end.unwrap_or(end);
        let numbered = self.at + numbered(&self.text[self.at..line_end]);
        // A numbered line stops at its line end: the next number is not part of the output.
        let plain = (self.at..line_end, end);
        let after_number = (numbered..line_end, line_end);
        let both = [Some(plain), (numbered > self.at).then_some(after_number)];
        let found = both.iter().flatten().find_map(|(line, end)| self.next(line, *end, floor));
        let found =
            found.or_else(|| both.iter().flatten().find_map(|(line, end)| self.find(line, *end, floor)));
        match found {
            None if self.at == 0 && self.is_line(&(0..line_end), line_end) => self.keep(0..line_end, 0),
            Some(run) => {
                self.fill(run.starts[1]);
                self.skip(run.starts[0]);
                self.take(run);
            }
            None => self.skip(line_end),
        }
    }

    /// Returns the line of the text if the output goes on with it.
    fn next(&self, line: &Range<usize>, end: usize, floor: usize) -> Option<Run> {
        let run = self.extend(line.start, self.from, end, floor);
        let is_whole = run.text_end >= line.end && !line.is_empty();
        let last = self.pieces.last().and_then(|last| last.place.as_ref());
        let is_next = last.is_some_and(|place| place.end == self.from);
        (is_whole && (is_next || run.text_end - line.start >= MIN_MATCH)).then_some(run)
    }

    /// Finds a line of the text in the rest of the output, where it goes on longest.
    fn find(&mut self, line: &Range<usize>, end: usize, floor: usize) -> Option<Run> {
        // A short line is looked for together with what follows it.
        let anchor = line.start..line.end.max((line.start + MIN_MATCH).min(end));
        if anchor.len() < MIN_MATCH || self.looked >= MAX_BYTES || !self.text.is_char_boundary(anchor.end) {
            return None;
        }
        let needle = &self.text.as_bytes()[anchor.clone()];
        let hay = &self.whole[self.from..floor];
        let places: Vec<usize> = memmem::find_iter(hay, needle).take(MAX_PLACES).collect();
        self.looked += places.last().filter(|_| places.len() == MAX_PLACES).map_or(hay.len(), |last| *last);
        let runs = places.into_iter().map(|place| self.extend(anchor.start, self.from + place, end, floor));
        // The first of equally long ones.
        runs.reduce(|best, other| if other.text_end > best.text_end { other } else { best })
    }

    /// Returns how far text and output agree from these places, ignoring escapes, returns and bytes that are not text.
    fn extend(&self, at: usize, from: usize, end: usize, floor: usize) -> Run {
        let (text, whole) = (self.text.as_bytes(), &self.whole[..floor]);
        let mut run = Run { pieces: Vec::new(), starts: [at, from], text_end: at, whole_end: from };
        loop {
            let (t, w) = (run.text_end, run.whole_end);
            let same = text[t..end].iter().zip(&whole[w.min(floor)..]).take_while(|(a, b)| a == b).count();
            let same = (0..=same).rev().find(|same| self.text.is_char_boundary(t + same)).unwrap_or(0);
            run.push(t + same, w + same, true);
            let (t, w) = (t + same, w + same);
            let (replaced, skipped) = match whole.get(w).filter(|_| t < end) {
                Some(0x80..) if text[t..end].starts_with("\u{FFFD}".as_bytes()) => match element(whole, w) {
                    bad if bad.valid => break,
                    bad => (3, bad.len.max(1)),
                },
                Some(0x1b) => match ansi::sequence(&whole[w..]) {
                    Some(escape) if escape.len > 0 => (0, escape.len),
                    _ => break,
                },
                Some(b'\r') => (0, 1),
                _ => break,
            };
            run.push(t + replaced, w + skipped, replaced > 0);
        }
        run.trim();
        run
    }

    fn take(&mut self, run: Run) {
        (self.at, self.from) = (run.text_end, run.whole_end);
        run.pieces.into_iter().for_each(|piece| self.push(piece));
    }

    /// Takes lines right before `to` in the output that were too short to be found, from the text since the piece before:
    /// those to the end of both, else those with a number, as others may be a notice.
    fn fill(&mut self, mut to: usize) {
        let added = self.pieces.pop_if(|piece| piece.place.is_none());
        let Some(AlignedPiece { text, .. }) = added else { return };
        let (is_end, mut at, mut found) = (text.end == self.text.len(), text.end, Vec::new());
        for row in self.text[text.clone()].split_inclusive('\n').rev() {
            let (start, number) = (at - row.len(), numbered(row));
            let starts = [is_end.then_some(start), (number > 0).then_some(start + number)];
            let mut lines = starts.into_iter().flatten().map(|start| start..at);
            let Some(line) = lines.find(|line| self.is_line(line, to)) else { break };
            (at, to) = (start, to - line.len());
            found.push((line, to));
        }
        self.at = text.start;
        self.take_lone_lines(at, to);
        found.into_iter().rev().for_each(|(line, place)| self.keep(line, place));
        self.skip(text.end);
    }

    /// Takes short lines up to `end`, each alone between two notices of one form, which are too long to be missed in the
    /// output: one that is just once in it before `to` was kept from there.
    fn take_lone_lines(&mut self, end: usize, to: usize) {
        let (text, mut start) = (&self.text[self.at..end], self.at);
        let lines = || text.split_inclusive('\n');
        for ((before, line), after) in lines().zip(lines().skip(1)).zip(lines().skip(2)) {
            start += before.len();
            let own = start + numbered(line)..start + line.len();
            let is_lone = own.len() < MIN_MATCH && before.len() >= MIN_MATCH && is_one_form(before, after);
            let is_sought = is_lone && !line.trim().is_empty() && self.looked < MAX_BYTES / 2;
            if let Some(place) = is_sought.then(|| self.only_place(&own, to)).flatten() {
                self.keep(own, place);
            }
        }
    }

    /// Returns where a line of the text is in the rest of the output before `to`, if it is there just once.
    fn only_place(&mut self, line: &Range<usize>, to: usize) -> Option<usize> {
        // The line there may be the last, and have no line feed.
        let gap = self.whole.get(self.from..self.whole.len().min(to + 1))?;
        self.looked += gap.len();
        let line = &self.text.as_bytes()[line.clone()];
        let mut places = memmem::find_iter(gap, line).filter(|at| opens(self.whole, self.from + at));
        let place = self.from + places.next()?;
        let is_only = places.next().is_none() && !gap.ends_with(&line[..line.len() - 1]);
        (is_only && place + line.len() <= to).then_some(place)
    }

    /// Whether a line of the text is one that ends at `to` in the output, and is not passed.
    fn is_line(&self, line: &Range<usize>, to: usize) -> bool {
        let before = self.whole.get(self.from..to).unwrap_or_default();
        before.ends_with(&self.text.as_bytes()[line.clone()])
            && opens(self.whole, to - line.len())
            && (opens(self.whole, to) || self.whole[to..].first().is_none_or(|next| *next == b'\n'))
    }

    /// Takes a stretch of the text that is the same in the output.
    fn keep(&mut self, text: Range<usize>, place: usize) {
        if !text.is_empty() {
            self.skip(text.start);
            (self.at, self.from) = (text.end, place + text.len());
            self.push(AlignedPiece { text, place: Some(place..self.from), is_same: true });
        }
    }

    /// Leaves the text up to `to` as added.
    fn skip(&mut self, to: usize) {
        if to > self.at {
            self.push(AlignedPiece { text: self.at..to, place: None, is_same: false });
            self.at = to;
        }
    }

    fn push(&mut self, piece: AlignedPiece) {
        match self.pieces.last_mut() {
            Some(last) if last.place.is_none() && piece.place.is_none() => last.text.end = piece.text.end,
            _ => self.pieces.push(piece),
        }
    }
}

/// A stretch in which text and output agree.
struct Run {
    pieces: Vec<AlignedPiece>,
    /// Where it begins in the text and in the output.
    starts: [usize; 2],
    text_end: usize,
    whole_end: usize,
}

impl Run {
    fn push(&mut self, text_end: usize, whole_end: usize, is_same: bool) {
        let (text, whole) = (self.text_end..text_end, self.whole_end..whole_end);
        (self.text_end, self.whole_end) = (text_end, whole_end);
        if !text.is_empty() || !whole.is_empty() {
            self.pieces.push(AlignedPiece { text, place: Some(whole), is_same });
        }
    }

    /// Drops what was passed over at the end, which agrees with nothing.
    fn trim(&mut self) {
        while let Some(AlignedPiece { place: Some(whole), is_same: false, .. }) = self.pieces.last() {
            self.whole_end = whole.start;
            self.pieces.pop();
        }
    }
}

/// Whether a line begins at a place.
fn opens(bytes: &[u8], at: usize) -> bool {
    at == 0 || bytes.get(at - 1) == Some(&b'\n')
}

/// Whether two lines are the same but for their figures.
fn is_one_form(line: &str, other: &str) -> bool {
    let is_word = |c: &char| !matches!(c, '0'..='9' | ',' | '.');
    line.trim_end().chars().filter(is_word).eq(other.trim_end().chars().filter(is_word))
}

/// Returns the length of the line number before a line, as read tools print it; 0 if there is none.
fn numbered(line: &str) -> usize {
    let bytes = line.as_bytes();
    let blanks = bytes.iter().take_while(|byte| **byte == b' ').count();
    let digits = bytes[blanks..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &line[blanks + digits..];
    let mark = ["\t", "\u{2192}", ": ", ":", "| ", "|"].into_iter().find(|mark| rest.starts_with(mark));
    mark.filter(|_| digits > 0).map_or(0, |mark| blanks + digits + mark.len())
}

/// A stretch in which two texts differ, as a range in bytes of each. One of the two may be empty.
pub(crate) type DifferingRanges = [Range<usize>; 2];

/// Returns where two texts differ, in order; the rest of both is equal. `None` once `is_wanted` returns false.
pub(crate) fn differences(
    one: &str,
    other: &str,
    is_wanted: &dyn Fn() -> bool,
) -> Option<Vec<DifferingRanges>> {
    let start = common(one.chars(), other.chars());
    let mut found = Vec::new();
    let mut at = [start, start];
    if one.len() > start && other.len() > start {
        for piece in align(&one[start..], &other.as_bytes()[start..], is_wanted)? {
            let Some(range) = piece.place.filter(|_| piece.is_same) else { continue };
            let stretch = [at[0]..start + piece.text.start, at[1]..start + range.start];
            push_lines(&mut found, [one, other], stretch);
            at = [start + piece.text.end, start + range.end];
        }
    }
    push_lines(&mut found, [one, other], [at[0]..one.len(), at[1]..other.len()]);
    Some(found)
}

/// Returns the length in bytes of what two texts begin with, or end with.
fn common(one: impl Iterator<Item = char>, other: impl Iterator<Item = char>) -> usize {
    one.zip(other).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

/// Adds what differs in a stretch: line by line, if it has as many lines in both.
fn push_lines(found: &mut Vec<DifferingRanges>, texts: [&str; 2], stretch: DifferingRanges) {
    let [lines, others] = [0, 1].map(|n| {
        let lines = texts[n][stretch[n].clone()].split_inclusive('\n');
        lines.map(str::len).collect::<Vec<_>>()
    });
    if lines.len() != others.len() {
        return push(found, texts, stretch);
    }
    let mut at = stretch.map(|range| range.start);
    for (line, other) in lines.into_iter().zip(others) {
        let next = [at[0] + line, at[1] + other];
        push(found, texts, [at[0]..next[0], at[1]..next[1]]);
        at = next;
    }
}

/// Adds what differs in a stretch, without its common beginning and end.
fn push(found: &mut Vec<DifferingRanges>, texts: [&str; 2], stretch: DifferingRanges) {
    let [one, other] = [0, 1].map(|n| &texts[n][stretch[n].clone()]);
    let start = common(one.chars(), other.chars());
    let end = common(one[start..].chars().rev(), other[start..].chars().rev());
    let ranges = stretch.map(|range| range.start + start..range.end - end);
    if ranges.iter().any(|range| !range.is_empty()) {
        let back = to_line(found.last(), texts, &ranges);
        found.push(ranges.map(|range| range.start - back..range.end - back));
    }
}

/// Returns by how much what one text alone has goes back to the start of its line, where it reads the same; else 0.
fn to_line(last: Option<&DifferingRanges>, texts: [&str; 2], ranges: &DifferingRanges) -> usize {
    let Some(empty) = ranges.iter().position(Range::is_empty) else { return 0 };
    let (text, alone) = (texts[1 - empty], &ranges[1 - empty]);
    let line = text[..alone.start].rfind('\n').map_or(0, |at| at + 1);
    let back = alone.start - line;
    let is_free = |n: usize| last.map_or(0, |last| last[n].end) + back <= ranges[n].start;
    let reads_same = text[..alone.end].ends_with(&text[line..alone.start]);
    if is_free(0) && is_free(1) && reads_same { back } else { 0 }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use proptest::prelude::*;

    use super::*;

    /// Shows an alignment: `=a..b` the same, `~a..b` changed, `+text` added.
    fn shown(text: &str, whole: &[u8]) -> String {
        let mut shown = String::new();
        for piece in align(text, whole, &|| true).unwrap() {
            let _ = match piece.place {
                Some(range) if piece.is_same => write!(shown, "={}..{} ", range.start, range.end),
                Some(range) => write!(shown, "~{}..{} ", range.start, range.end),
                None => write!(shown, "+{:?} ", &text[piece.text]),
            };
        }
        shown.trim_end().to_owned()
    }

    fn numbers(range: Range<usize>) -> String {
        range.map(|n| format!("line {n}\n")).collect()
    }

    #[test]
    fn an_uncut_text_aligns_as_one_piece() {
        assert_eq!(shown("one\ntwo\n", b"one\ntwo\n"), "=0..8");
        assert_eq!(shown("", b"one"), "");
        assert_eq!(shown("x", b""), "+\"x\"");
    }

    #[test]
    fn a_head_and_a_notice() {
        let whole = numbers(0..100);
        let text = format!("{}[90 lines truncated]", numbers(0..10));
        assert_eq!(shown(&text, whole.as_bytes()), "=0..70 +\"[90 lines truncated]\"");
    }

    #[test]
    fn a_notice_and_a_tail() {
        let whole = numbers(0..100);
        let text = format!("...cut...\n\n{}", numbers(90..100));
        let from = numbers(0..90).len();
        assert_eq!(shown(&text, whole.as_bytes()), format!("+\"...cut...\\n\\n\" ={from}..{}", whole.len()));
    }

    #[test]
    fn a_cut_in_the_middle_of_lines() {
        let line: String = ('a'..='z').cycle().take(1000).collect();
        let text = format!("{}…900 chars truncated…{}", &line[..50], &line[950..]);
        assert_eq!(shown(&text, line.as_bytes()), "=0..50 +\"…900 chars truncated…\" =950..1000");
    }

    #[test]
    fn a_preview_between_notices_and_errors_from_the_middle() {
        let whole = format!("{}error: no such file\n{}", numbers(0..50), numbers(50..100));
        let text = format!("<out>\nSaved to: /x\n\n{}error: no such file\n...\n</out>", numbers(0..3));
        let at = whole.find("error").unwrap();
        let expected = format!(
            "+\"<out>\\nSaved to: /x\\n\\n\" =0..21 ={at}..{} +\"...\\n</out>\"",
            at + "error: no such file\n".len()
        );
        assert_eq!(shown(&text, whole.as_bytes()), expected);
    }

    #[test]
    fn numbers_before_lines_are_added() {
        let whole = b"fn main() {\n    run();\n}\nlast line here\n";
        let text = "     1\tfn main() {\n     2\t    run();\n     3\t}\n";
        assert_eq!(shown(text, whole), "+\"     1\\t\" =0..12 +\"     2\\t\" =12..23 +\"     3\\t\" =23..25");
    }

    #[test]
    fn aligns_short_lines_at_the_ends_or_by_their_line_numbers() {
        let whole = "{\nan opening line\n}\nok\n}\na long line of it\n}\n\n}\n";
        assert_eq!(shown("{\n[6 lines cut]\n}\n", whole.as_bytes()), "=0..2 +\"[6 lines cut]\\n\" =46..48");
        assert_eq!(shown("{\n[6 lines cut]\n}", whole.as_bytes()), "=0..2 +\"[6 lines cut]\\n\" =46..47");
        let long = "another line, which is long enough\n";
        assert_eq!(
            shown(&format!("[cut]\n 2\t}}\n 3\t{long}"), format!("a\n}}\n{long}").as_bytes()),
            format!("+\"[cut]\\n 2\\t\" =2..4 +\" 3\\t\" =4..{}", 4 + long.len())
        );
        let numbered = "[cut]\n 5\t}\n 6\ta long line of it\n 7\t}\n 8\t\n";
        let expected = "+\"[cut]\\n 5\\t\" =23..25 +\" 6\\t\" =25..43 +\" 7\\t\" =43..45 +\" 8\\t\" =45..46";
        assert_eq!(shown(numbered, whole.as_bytes()), expected);
    }

    #[test]
    fn short_lines_that_the_agent_may_have_added_are_not_claimed() {
        let added = |text: &str, whole: &str| assert_eq!(shown(text, whole.as_bytes()), format!("+{text:?}"));
        added("[2 lines cut]\nok\n[2 more]\n", "a\nok\nb\n");
        added("[2 lines cut]\nok\nno\n[2 lines cut]\n", "a\nok\nb\nno\n");
        added("[2 lines cut]\nok\n[2 lines cut]\n", "ok\nb\nok\n");
        added("[2 lines cut]\nok\n[2 lines cut]\n", "ok\nb\nok");
        added("[2 lines cut]\nok\n[2 lines cut]\n", "a\nnot ok\nb\n");
        added("[2 lines cut]\n\n[2 lines cut]\n", "a\n\nb\n");
        added("[cut]\nok\n[cut]\n", "a\nok\nb\n");
        added("[cut]\n...\n[cut]", "a\n...\nb\n");
        added("[cut]\n}\n[cut]", "a\n}\nb\n");
        added("[cut]\nok", "a\nnot ok");
        added("ok\n[cut]", "ok too\n");
        added("[cut]\n2: ok\n[cut]", "ok\nb\nok\n");
    }

    #[test]
    fn aligns_a_lone_short_line_only_if_it_is_unique() {
        let whole = "the first line\nno\na\nok\nb\nno\nc\nthe last line\nok\n";
        let text = "the first line\n[2 lines cut]\nok\n[1,234 lines cut]\n 7\tno\n[1 lines cut]\nthe last line\n[1 cut]";
        let expected = "=0..15 +\"[2 lines cut]\\n\" =20..23 +\"[1,234 lines cut]\\n 7\\t\" =25..28 \
                        +\"[1 lines cut]\\n\" =30..44 +\"[1 cut]\"";
        assert_eq!(shown(text, whole.as_bytes()), expected);
        assert_eq!(
            shown("[1 lines]\n}\n[2 lines]", b"a\n}\nb\n"),
            "+\"[1 lines]\\n\" =2..4 +\"[2 lines]\"",
            "without anything else"
        );
    }

    /// Each such line costs a search of the gap, and all together at most half of the search limit.
    #[test]
    fn looking_for_short_lines_is_bounded() {
        let whole = numbers(0..20_000);
        let lines: String = (0..1000).map(|n| format!("[{n} lines cut]\n{n}\n")).collect();
        for (before, most) in [(0, 1000 * whole.len()), (MAX_BYTES / 2 - 1, whole.len()), (MAX_BYTES / 2, 0)]
        {
            let (text, whole, pieces) = (&*lines, whole.as_bytes(), Vec::new());
            let mut aligner = Aligner { text, whole, pieces, at: 0, from: 0, looked: before };
            aligner.take_lone_lines(text.len(), whole.len());
            assert!(aligner.looked - before <= most, "{} of {most}", aligner.looked - before);
        }
    }

    /// Some lines, short and long ones, the same one and others.
    fn some_lines() -> impl Strategy<Value = Vec<String>> {
        let line = prop_oneof![
            Just("}\n".to_owned()),
            Just("ok\n".to_owned()),
            Just("\n".to_owned()),
            (0..99).prop_map(|n| format!("{n}: a line of some text\n")),
        ];
        prop::collection::vec(line, 1..14)
    }

    proptest! {
        #[test]
        fn aligns_head_and_tail_however_few_lines_they_have(
            (lines, head, tail) in some_lines().prop_flat_map(|lines| {
                let most = lines.len();
                (Just(lines), 0..=most).prop_flat_map(move |(lines, head)| (Just(lines), Just(head), 0..=most - head))
            }),
            (is_open, is_trimmed) in any::<(bool, bool)>(),
        ) {
            let mut whole = lines.concat();
            let lost = lines.len() - head - tail;
            let end = whole.len() - lines[lines.len() - tail..].concat().len();
            let head = lines[..head].concat().len();
            whole.truncate(whole.len() - usize::from(is_open && tail > 0 && lines[lines.len() - 1] != "\n"));
            let is_trimmed = is_trimmed && tail > 0 && whole.ends_with('\n') && lines[lines.len() - 1] != "\n";
            let stop = whole.len() - usize::from(is_trimmed);
            let notice = if lost > 0 { format!("[{lost} lines cut]\n") } else { String::new() };
            let text = format!("{}{notice}{}", &whole[..head], &whole[end..stop]);
            let pieces = align(&text, whole.as_bytes(), &|| true).unwrap();
            let found: Vec<usize> = pieces.iter().filter_map(|piece| piece.place.clone()).flatten().collect();
            prop_assert!(found.iter().copied().eq((0..head).chain(end..stop)), "{:?} {:?}", text, pieces);
        }

        #[test]
        fn kept_ranges_decode_to_the_text_in_their_place(
            lines in some_lines(),
            keep in prop::collection::vec(0u8..4, 14),
            is_numbered in any::<bool>(),
        ) {
            let whole = lines.concat();
            let text: String = lines.iter().zip(&keep).enumerate().map(|(n, (line, keep))| match keep {
                0 => "...\n".to_owned(),
                1 => String::new(),
                _ if is_numbered => format!("{:>4}\t{line}", n + 1),
                _ => line.clone(),
            }).collect();
            let (mut joined, mut from) = (String::new(), 0);
            for piece in align(&text, whole.as_bytes(), &|| true).unwrap() {
                match piece.place {
                    None => joined += &text[piece.text],
                    Some(range) => {
                        prop_assert!(from <= range.start);
                        from = range.end;
                        joined += &whole[range];
                    }
                }
            }
            prop_assert_eq!(joined, text);
        }
    }

    #[test]
    fn escapes_left_out_are_changed_and_bad_bytes_are_decoded() {
        assert_eq!(shown("red text\n", b"\x1b[31mred text\x1b[0m\n"), "~0..5 =5..13 ~13..17 =17..18");
        assert_eq!(shown("abc\u{FFFD}defgh\n", b"abc\xffdefgh\n"), "=0..3 =3..4 =4..10");
    }

    #[test]
    fn a_shared_line_end_is_not_a_match() {
        assert_eq!(shown("nothing of it\n", b"some other text\n"), "+\"nothing of it\\n\"");
    }

    proptest! {
        #[test]
        fn pieces_join_to_the_text_and_keep_the_order(
            whole in proptest::collection::vec("[ab\\n\\r\u{e9}\u{1b}\\[m]{0,9}", 0..20),
            keep in proptest::collection::vec(0u8..4, 20),
            bad in proptest::collection::vec(any::<u8>(), 0..4),
        ) {
            let text: String = whole.iter().zip(&keep).map(|(piece, keep)| match keep {
                0 => "[cut]\n".to_owned(),
                1 => String::new(),
                _ => piece.clone(),
            }).collect();
            let mut bytes = whole.concat().into_bytes();
            bytes.extend(bad);
            let pieces = align(&text, &bytes, &|| true).unwrap();
            let (mut at, mut from) = (0, 0);
            for piece in &pieces {
                prop_assert_eq!(piece.text.start, at);
                at = piece.text.end;
                if let Some(range) = &piece.place {
                    prop_assert!(range.start >= from && range.end <= bytes.len());
                    from = range.end;
                }
                if let Some(range) = piece.place.as_ref().filter(|_| piece.is_same) {
                    prop_assert_eq!(&bytes[range.clone()], text[piece.text.clone()].as_bytes());
                }
            }
            prop_assert_eq!(at, text.len());
        }
    }

    fn differing(one: &str, other: &str) -> Vec<(String, String)> {
        let found = differences(one, other, &|| true).unwrap();
        found.into_iter().map(|[a, b]| (one[a].to_owned(), other[b].to_owned())).collect()
    }

    fn pair(one: &str, other: &str) -> (String, String) {
        (one.to_owned(), other.to_owned())
    }

    #[test]
    fn marks_each_differing_figure_of_a_notice_separately() {
        let one = "first line\n[8.7 KB cut, see /s.txt]\n[kept 30 lines]\nlast line\n";
        let other = "first line\n[9 KB cut, see /t.txt]\n[kept 31 lines]\nlast line\n";
        assert_eq!(differing(one, other), [pair("8.7 KB cut, see /s", "9 KB cut, see /t"), pair("0", "1")]);
    }

    #[test]
    fn a_line_in_only_one_text_differs_from_nothing() {
        let (one, other) =
            ("a line of text\nmore of the text\nthe end of it\n", "a line of text\nthe end of it\n");
        assert_eq!(differing(one, other), [pair("more of the text\n", "")]);
        let (one, other) = ("line 6\nline 7\nline 8\nline 9\n", "line 6\nline 8\nline 9\n");
        assert_eq!(differing(one, other), [pair("line 7\n", "")], "from the start of the line");
        assert_eq!(differing(other, one), [pair("", "line 7\n")]);
        assert_eq!(differing("é", "è"), [pair("é", "è")]);
        assert_eq!(differing(one, one), []);
        assert_eq!(differing("", "x"), [pair("", "x")]);
    }

    #[test]
    fn differences_stops_when_not_wanted() {
        assert_eq!(differences("one text", "an other", &|| false), None);
    }

    proptest! {
        #[test]
        fn applying_the_differences_turns_one_text_into_the_other(
            texts in prop::array::uniform2(prop::collection::vec(
                prop_oneof![
                    Just("a line of some text\n"), Just("another line, longer than that\n"), Just("\n"), Just("é"),
                    Just("[12 lines cut]\n"), Just("\u{1b}[31m"), Just("\r\n"), Just("\u{FFFD}"), Just("x"),
                ],
                0..12,
            )),
        ) {
            let [one, other] = texts.map(|parts| parts.concat());
            let found = differences(&one, &other, &|| true).unwrap();
            let (mut made, mut at) = (String::new(), [0, 0]);
            for [a, b] in &found {
                prop_assert!(at[0] <= a.start && at[1] <= b.start && !(a.is_empty() && b.is_empty()));
                prop_assert_eq!(&one[at[0]..a.start], &other[at[1]..b.start]);
                made += &one[at[0]..a.start];
                made += &other[b.clone()];
                at = [a.end, b.end];
            }
            made += &one[at[0]..];
            prop_assert_eq!(&made, &other);
            let first = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
            prop_assert!(found.first().is_none_or(|[a, _]| a.start <= first));
            prop_assert_eq!(found.is_empty(), one == other);
        }
    }
}
