//! Cuts each line to a length; if that is still too large, keeps both ends of the whole.

use std::ops::Range;

use serde::Deserialize;

use crate::preview::measure::{Text, as_usize, is_js_space};
use crate::preview::model::{Direction, Part, PlanError, Unit};
use crate::preview::strategy::composed::{self, Composed, Envelope};
use crate::preview::strategy::{Context, Selection, Strategy};
use crate::preview::template::{Fact, Facts, Figure, Template};
use crate::text::units::TotalsMask;

#[derive(Debug, Deserialize)]
pub(crate) struct Shaped {
    frame: Envelope,
    size: Figure,
    /// Maximum size of one line, including its break.
    line_size: Figure,
    line_suffix: Option<String>,
    head: Figure,
    tail: Figure,
    /// Maximum size that the agent holds of the stream.
    held: Option<Figure>,
    /// Texts that count as empty, apart from surrounding white space.
    empty_texts: Option<Vec<String>>,
    /// The text after a cut output.
    closing: Template,
}

impl Strategy for Shaped {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let size = context.scope.figure(&self.size)?;
        let mut all = self.frame.around(text, context)?;
        if !all.exceeds(text, Unit::Utf16, size) {
            return Ok(self.whole(text, &all));
        }
        let held = context.scope.optional(&self.held)?.unwrap_or(u64::MAX);
        let is_over = text.exceeds(Unit::Utf16, size);
        let held_end = held_end(text, held);
        if let Some(end) = held_end {
            hold(text, &mut all, end);
        }
        let facts = Facts::from([
            ("over", Fact::Flag(is_over)),
            ("full", Fact::Flag(held_end.is_some())),
            ("composed_bytes", Fact::from(all.size(text, Unit::Bytes))),
            ("bytes", Fact::from(text.size(Unit::Bytes))),
        ]);
        let (words, waiting) = context.scope.render_waiting(&self.closing, facts.clone())?;
        text.wait_for(waiting);
        let line_most = context.scope.figure(&self.line_size)?;
        let marker = self.line_suffix.as_deref().unwrap_or_default();
        let mut selection = match Shaping::new(text, marker, size, line_most).run(&all) {
            Some(shaping) => shaping.finish(context, &words),
            None => self.both_ends(text, context, all, held_end.map(|_| held), words)?,
        };
        selection.facts.extend(facts);
        selection.hit = Some(context.by_size());
        Ok(selection)
    }
}

impl Shaped {
    /// Returns the whole, and whether it counts as empty.
    fn whole(&self, text: &Text, all: &Composed) -> Selection {
        let decoded = text.decoding.decode(&text.bytes[text.body.clone()]);
        let trimmed = decoded.trim_matches(is_js_space);
        let is_blank = trimmed.is_empty() || self.empty_texts.iter().flatten().any(|empty| empty == trimmed);
        all.uncut(text).with_fact("blank", Fact::Flag(is_blank))
    }

    fn both_ends(
        &self,
        text: &Text,
        context: &Context,
        mut all: Composed,
        held: Option<u64>,
        words: String,
    ) -> Result<Selection, PlanError> {
        if held.is_some() {
            all.after.clear();
        }
        let total = match held {
            Some(held) => Ok(held),
            None => all.size(text, Unit::Utf16),
        };
        let (first, last) = (context.scope.figure(&self.head)?, context.scope.figure(&self.tail)?);
        let first = total.map_or(first, |total| first.min(total));
        let last = total.map_or(last, |total| last.min(total - first));
        let head = all.end(text, Direction::Head, Unit::Utf16, first);
        let tail = all.end(text, Direction::Tail, Unit::Utf16, last);
        let mut selection = composed::selection(text, context, vec![("head", head), ("tail", tail)]);
        selection.facts = Facts::from([
            ("stop", Fact::Text("size".to_owned())),
            ("head_size", Fact::Number(first)),
            ("elided", Fact::from(total.map(|total| total - last))),
            ("composed_size", Fact::from(total)),
            ("tail_empty", Fact::Flag(last == 0)),
            ("marker", Fact::Text(words)),
        ]);
        Ok(selection)
    }
}

/// Returns where the part that the agent holds ends, if it does not hold everything.
fn held_end(text: &Text, held: u64) -> Option<usize> {
    if text.len() as u64 <= held {
        return None;
    }
    match text.known_or_wait(text.size(Unit::Utf16))? {
        units if units <= held => None,
        units if units == text.len() as u64 => Some(text.body.start + as_usize(held)),
        _ => Some(text.end(text.body.clone(), Direction::Head, Unit::Utf16, held).range.end),
    }
}

/// Ends the output where the part that is held ends; text after it begins on a new line.
fn hold(text: &Text, all: &mut Composed, end: usize) {
    all.body.end = end;
    let words = all.after.trim_start_matches('\n');
    let open = !words.is_empty() && text.bytes[..end].last() != Some(&b'\n');
    all.after = format!("{}{words}", if open { "\n" } else { "" });
}

struct Line {
    text: Range<usize>,
    ending: Range<usize>,
    /// A further break: a line feed that the agent adds.
    added: &'static str,
}

/// The lines so far, each cut to a length.
struct Shaping<'a, 'b> {
    text: &'a Text<'b>,
    most: u64,
    line_most: u64,
    marker: &'a str,
    parts: Vec<Part>,
    sum: u64,
    run: usize,
}

impl<'a, 'b> Shaping<'a, 'b> {
    fn new(text: &'a Text<'b>, marker: &'a str, most: u64, line_most: u64) -> Self {
        Self { text, most, line_most, marker, parts: Vec::new(), sum: 0, run: text.body.start }
    }

    /// Cuts all lines; none if they are still too large.
    fn run(mut self, all: &Composed) -> Option<Self> {
        let feed = if all.after.starts_with('\n') { "\n" } else { "" };
        let mut at = all.body.start;
        while at < all.body.end && self.sum <= self.most && self.is_sure() {
            let line = self.next(at, all.body.end, feed);
            at = line.ending.end;
            self.add(&line);
        }
        if self.sum > self.most || !self.is_sure() {
            return None;
        }
        self.keep(all.body.end);
        self.run = all.body.end;
        let added = if all.body.is_empty() { all.after.as_str() } else { &all.after[feed.len()..] };
        for words in added.split_inclusive('\n') {
            self.add_words(words);
        }
        (self.sum <= self.most).then_some(self)
    }

    /// Whether the end of every line was found.
    fn is_sure(&self) -> bool {
        self.text.gave_up().without(TotalsMask::UNITS | TotalsMask::DECODED_BYTES).is_empty()
    }

    fn next(&self, at: usize, end: usize, feed: &'static str) -> Line {
        let bound = self.text.patient_end(at, end);
        let found = self.text.break_after(at, bound);
        if found.is_none() && bound < end {
            self.text.wait_for(TotalsMask::LINE_FEEDS);
        }
        let stop = found.unwrap_or(bound);
        let is_pair = self.text.bytes[stop..end].starts_with(b"\r\n");
        let after = end.min(stop + 1 + usize::from(is_pair));
        let open = after == end && !self.text.bytes[stop..after].ends_with(b"\n");
        Line { text: at..stop, ending: stop..after, added: if open { feed } else { "" } }
    }

    fn add(&mut self, line: &Line) {
        let ending = (line.ending.len() + line.added.len()) as u64;
        let room = self.line_most.saturating_sub(ending);
        let fits = self.text.end(line.text.clone(), Direction::Head, Unit::Utf16, room);
        if fits.range == line.text && ending <= self.line_most {
            self.sum += self.text.size_of(line.text.clone(), Unit::Utf16) + ending;
            self.push_added(line);
            return;
        }
        let suffix = self.marker.encode_utf16().count() as u64 + ending;
        let room = self.line_most.max(suffix) - suffix;
        let cut = self.text.end(line.text.clone(), Direction::Head, Unit::Utf16, room);
        self.keep(cut.range.end);
        self.parts.extend(cut.half.map(|half| self.text.half(half)));
        self.parts.extend(composed::notice(self.marker));
        self.run = line.ending.start;
        self.sum += room + suffix;
        self.push_added(line);
    }

    fn push_added(&mut self, line: &Line) {
        if !line.added.is_empty() {
            self.keep(line.ending.end);
            self.run = line.ending.end;
            self.parts.extend(composed::notice(line.added));
        }
    }

    fn add_words(&mut self, words: &str) {
        let units = words.encode_utf16().count() as u64;
        if units <= self.line_most {
            self.sum += units;
            self.parts.extend(composed::notice(words));
            return;
        }
        let ending = if words.ends_with('\n') { "\n" } else { "" };
        let suffix = self.marker.encode_utf16().count() as u64 + ending.len() as u64;
        let room = self.line_most.max(suffix) - suffix;
        let kept: String = words.chars().take(as_usize(room)).collect();
        self.sum += room + suffix;
        self.parts.extend(composed::notice(format!("{kept}{}{ending}", self.marker)));
    }

    fn keep(&mut self, to: usize) {
        self.parts.extend(self.text.kept(self.run..to));
    }

    /// Appends the text that follows, except for lines that are present already.
    fn finish(self, context: &Context, words: &str) -> Selection {
        // The limit bounds it.
        let shown = composed::decoded(self.text, &self.parts);
        let has = |line: &&str| !line.is_empty() && shown.contains(*line);
        let left = if words.split('\n').any(|line| has(&line)) {
            words.split('\n').filter(|line| !line.is_empty() && !has(line)).collect::<Vec<_>>().join("\n")
        } else {
            words.to_owned()
        };
        let facts = Facts::from([
            ("stop", Fact::Text("lines".to_owned())),
            ("ended", Fact::Flag(shown.is_empty() || shown.ends_with('\n'))),
            ("marker", Fact::Text(left)),
        ]);
        let slots = vec![("kept", self.parts)];
        Selection { facts, ..composed::selection(self.text, context, slots) }
    }
}
