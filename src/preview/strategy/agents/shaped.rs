//! Lines each cut to a length; where that is still too much, both ends of the whole.

use std::ops::Range;

use crate::preview::measure::{Text, as_usize, is_js_space};
use crate::preview::model::{Bit, LimitHit, Part, Unit};
use crate::preview::plan::{self, PlanError};
use crate::preview::strategy::composed::{self, Composed};
use crate::preview::strategy::segments::Segment;
use crate::preview::strategy::{Chosen, Rule};
use crate::preview::template::{Fact, Facts};
use crate::text::units::Want;

pub(crate) fn choose(text: &Text, rule: &Rule) -> Result<Chosen, PlanError> {
    let size = rule.needed(&rule.form.size, "size")?;
    let mut all = composed::compose(text, rule)?;
    if !all.exceeds(text, Unit::Units, size) {
        return Ok(whole(text, rule, &all));
    }
    let held = rule.figure(&rule.form.held)?.unwrap_or(u64::MAX);
    let is_over = text.exceeds(Unit::Units, size);
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
    let words = words(text, rule, &facts)?;
    let shaped = Shaping::new(text, rule, size)?.run(&all);
    let mut chosen = match shaped {
        Some(shaping) => shaping.finish(&words),
        None => both_ends(text, rule, all, held_end.map(|_| held), words)?,
    };
    chosen.facts.extend(facts);
    chosen.hit = Some(LimitHit::Size(rule.policy.unit()));
    chosen.cut = Some(true);
    Ok(chosen)
}

/// The whole, and whether it is as good as nothing.
fn whole(text: &Text, rule: &Rule, all: &Composed) -> Chosen {
    let decoded = text.decoding.decode(&text.bytes[text.body.clone()]);
    let trimmed = decoded.trim_matches(is_js_space);
    let same = rule.form.words.iter().flatten().any(|word| word == trimmed);
    let mut chosen = Chosen { cut: Some(false), ..plan::everything(text) };
    chosen.slots = vec![("kept", all.parts(text))];
    crate::preview::strategy::with_fact(chosen, "blank", Fact::Flag(trimmed.is_empty() || same))
}

/// Where what the agent holds ends, if it holds less than all.
fn held_end(text: &Text, held: u64) -> Option<usize> {
    if text.len() as u64 <= held {
        return None;
    }
    match text.size(Unit::Units) {
        Ok(units) if units <= held => None,
        Ok(units) if units == text.len() as u64 => Some(text.body.start + as_usize(held)),
        Ok(_) => Some(text.advance(text.body.start, text.body.end, Unit::Units, held).at),
        Err(want) => {
            text.wait_for(want);
            None
        }
    }
}

/// Ends the output where what is held ends; words after it begin on a line of their own.
fn hold(text: &Text, all: &mut Composed, end: usize) {
    all.body.end = end;
    let words = all.after.trim_start_matches('\n');
    let open = !words.is_empty() && text.bytes[..end].last() != Some(&b'\n');
    all.after = format!("{}{words}", if open { "\n" } else { "" });
}

/// The words after the cut text.
fn words(text: &Text, rule: &Rule, facts: &Facts) -> Result<String, PlanError> {
    let (words, waiting) = rule.words_waiting(&rule.form.gap, facts)?;
    text.wait_for(waiting);
    Ok(words)
}

fn both_ends(
    text: &Text,
    rule: &Rule,
    mut all: Composed,
    held: Option<u64>,
    words: String,
) -> Result<Chosen, PlanError> {
    if held.is_some() {
        all.after.clear();
    }
    let total = match held {
        Some(held) => Ok(held),
        None => all.size(text, Unit::Units),
    };
    let (first, last) = (rule.needed(&rule.form.head, "head")?, rule.needed(&rule.form.tail, "tail")?);
    let first = total.map_or(first, |total| first.min(total));
    let last = total.map_or(last, |total| last.min(total - first));
    let (head, tail) = (all.head(text, Unit::Units, first), all.tail(text, Unit::Units, last));
    let ranges = head.iter().chain(&tail).filter_map(Segment::range).collect();
    let mut chosen = Chosen {
        lines: Some(Ok(composed::lines(text, &head) + composed::lines(text, &tail))),
        halves: composed::halves(&head) + composed::halves(&tail),
        ranges,
        slots: vec![("head", composed::parts(text, head)), ("tail", composed::parts(text, tail))],
        ..Chosen::default()
    };
    chosen.facts.insert("stop", Fact::Text("size".to_owned()));
    chosen.facts.insert("head_size", Fact::Number(first));
    chosen.facts.insert("elided", Fact::from(total.map(|total| total - last)));
    chosen.facts.insert("composed_size", Fact::from(total));
    chosen.facts.insert("tail_empty", Fact::Flag(last == 0));
    chosen.facts.insert("marker", Fact::Text(words));
    Ok(chosen)
}

/// A line: its text, and what ends it.
struct Line {
    text: Range<usize>,
    ending: Range<usize>,
    /// What ends it besides: a line feed that the agent adds.
    added: &'static str,
}

/// The lines so far, each cut to a length.
struct Shaping<'a, 'b> {
    text: &'a Text<'b>,
    most: u64,
    line_most: u64,
    marker: &'a str,
    parts: Vec<Part>,
    ranges: Vec<Range<usize>>,
    halves: u64,
    lines: u64,
    sum: u64,
    run: usize,
}

impl<'a, 'b> Shaping<'a, 'b> {
    fn new(text: &'a Text<'b>, rule: &'a Rule, most: u64) -> Result<Self, PlanError> {
        Ok(Self {
            text,
            most,
            line_most: rule.needed(&rule.form.line_size, "line_size")?,
            marker: rule.form.line_suffix.as_deref().unwrap_or_default(),
            parts: Vec::new(),
            ranges: Vec::new(),
            halves: 0,
            lines: 0,
            sum: 0,
            run: text.body.start,
        })
    }

    /// Cuts all lines; nothing if they are still too much.
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
        self.text.gave_up().without(Want::UNITS | Want::DECODED_BYTES).is_empty()
    }

    fn next(&self, at: usize, end: usize, feed: &'static str) -> Line {
        let bound = self.text.patient_end(at, end);
        let found = self.text.break_after(at, bound);
        if found.is_none() && bound < end {
            self.text.give_up();
        }
        let stop = found.unwrap_or(bound);
        let after = match (self.text.bytes.get(stop), self.text.bytes.get(stop + 1)) {
            _ if stop == end => stop,
            (Some(b'\r'), Some(b'\n')) if stop + 1 < end => stop + 2,
            _ => stop + 1,
        };
        let open = after == end && !self.text.bytes[stop..after].ends_with(b"\n");
        Line { text: at..stop, ending: stop..after, added: if open { feed } else { "" } }
    }

    fn add(&mut self, line: &Line) {
        self.lines += 1;
        let ending = (line.ending.len() + line.added.len()) as u64;
        let room = self.line_most.saturating_sub(ending);
        let fits = self.text.advance(line.text.start, line.text.end, Unit::Units, room);
        if fits.at == line.text.end && ending <= self.line_most {
            self.sum += self.text.size_of(line.text.clone(), Unit::Units) + ending;
            self.push_added(line);
            return;
        }
        let suffix = self.marker.encode_utf16().count() as u64 + ending;
        let room = self.line_most.max(suffix) - suffix;
        let cut = self.text.advance(line.text.start, line.text.end, Unit::Units, room);
        self.keep(cut.at);
        if let Some(half) = cut.half {
            self.parts.push(self.text.changed(half, vec![Bit::Replaced(1)]));
            self.halves += 1;
        }
        self.parts.push(Part::Notice { text: self.marker.to_owned() });
        self.run = line.ending.start;
        self.sum += room + suffix;
        self.push_added(line);
    }

    fn push_added(&mut self, line: &Line) {
        if !line.added.is_empty() {
            self.keep(line.ending.end);
            self.run = line.ending.end;
            self.parts.push(Part::Notice { text: line.added.to_owned() });
        }
    }

    /// A line of the agent's own words.
    fn add_words(&mut self, words: &str) {
        let units = words.encode_utf16().count() as u64;
        if units <= self.line_most {
            self.sum += units;
            self.parts.push(Part::Notice { text: words.to_owned() });
            return;
        }
        let ending = if words.ends_with('\n') { "\n" } else { "" };
        let suffix = self.marker.encode_utf16().count() as u64 + ending.len() as u64;
        let room = self.line_most.max(suffix) - suffix;
        let kept: String = words.chars().take(as_usize(room)).collect();
        self.sum += room + suffix;
        self.parts.push(Part::Notice { text: format!("{kept}{}{ending}", self.marker) });
    }

    fn keep(&mut self, to: usize) {
        if to > self.run {
            self.parts.extend(self.text.kept(self.run..to));
            self.ranges.push(self.run..to);
        }
    }

    /// With the words after it, less those lines that the text has already.
    fn finish(self, words: &str) -> Chosen {
        let shown = self.shown();
        let has = |line: &&str| !line.is_empty() && shown.contains(*line);
        let left = match words.split('\n').any(|line| has(&line)) {
            true => {
                words.split('\n').filter(|line| !line.is_empty() && !has(line)).collect::<Vec<_>>().join("\n")
            }
            false => words.to_owned(),
        };
        let mut chosen = Chosen {
            slots: vec![("kept", self.parts)],
            ranges: self.ranges,
            halves: self.halves,
            lines: Some(Ok(self.lines)),
            ..Chosen::default()
        };
        chosen.facts.insert("stop", Fact::Text("lines".to_owned()));
        chosen.facts.insert("ended", Fact::Flag(shown.is_empty() || shown.ends_with('\n')));
        chosen.facts.insert("marker", Fact::Text(left));
        chosen
    }

    /// The text of the parts; the limit bounds it.
    fn shown(&self) -> String {
        let texts = self.parts.iter().map(|part| match part {
            Part::Kept { range, .. } => self.text.decoding.decode(&self.text.bytes[range.clone()]),
            Part::Notice { text } => text.clone(),
            Part::Changed { .. } => "\u{FFFD}".to_owned(),
        });
        texts.collect()
    }
}
