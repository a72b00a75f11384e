//! Draws the bottom line: what was kept, the current position, and the keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::base::human::thousands;
use crate::document::scroll::Long;
use crate::rows::column::joined;
use crate::source::ViewSupply;
use crate::text::label::SafeText;
use crate::tui::footer::{self, Footer};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::{Counting, Pager};
use crate::tui::widget::layout::{self, Side};
use crate::tui::widget::line::{self, Span};

use super::pane::DrawnPane;

const MAX_NAME: usize = 30;

const GAP: &str = "   ";

/// Minimum number of hints, besides help, for which the words on the left are shortened.
const MIN_HINTS: usize = 2;

/// Draws the status: at the left a count, a message, or the state; at the right what was found, hints and the position.
pub(crate) fn draw(pager: &Pager, count: Option<u64>, drawn: DrawnPane, frame: &mut Frame, area: Rect) {
    let wanted = wanted_hints(pager, area.width);
    let (lefts, rights) = (left(pager, count, drawn), right(pager, drawn, wanted));
    let room = usize::from(area.width);
    let fitting = |left: &[Span], least: usize| {
        let beside = room.saturating_sub(line::width(left) + 2);
        rights.iter().find(|(right, teaches)| *teaches >= least && line::width(right) <= beside)
    };
    let longest = |least: usize| lefts.iter().find(|left| fitting(left, least).is_some());
    // The hints that a cut output needs are worth more than long words on either side.
    let needed = longest(wanted).filter(|_| wanted > MIN_HINTS);
    let left = needed.or_else(|| longest(wanted.min(MIN_HINTS))).or(lefts.last());
    let left = line::cut(left.cloned().unwrap_or_default(), room);
    let right = fitting(&left, if needed.is_some() { wanted } else { 0 });
    line::spans(frame.buffer_mut(), area, &left);
    line::right(frame.buffer_mut(), area, line::width(&left), right.map_or(&[], |(right, _)| right));
}

/// Returns how many hints are worth more than long words; what a filter found is worth more than all hints.
fn wanted_hints(pager: &Pager, columns: u16) -> usize {
    let has_caveat = pager.output.caveat().is_some();
    let narrow = match state(pager) {
        Footer::FILTERED => return 0,
        _ if pager.output.is_text_only() => return MIN_HINTS,
        Footer::PREVIEW_CUT | Footer::RECORDED_CALL => 4,
        Footer::SPILL_CUT if !has_caveat => 3,
        _ => return MIN_HINTS,
    };
    // Errors, cuts and the other text are among them, then windows, then limits.
    let hints = match columns {
        120.. => 6,
        100.. => 5,
        80.. => narrow,
        _ => return MIN_HINTS,
    };
    hints.min(if has_caveat { 4 } else { 6 }) - usize::from(pager.has_no_error())
}

fn left(pager: &Pager, count: Option<u64>, drawn: DrawnPane) -> Vec<Vec<Span>> {
    let (output, theme, back) = (&pager.output, &pager.canvas.theme, pager.key_of(Action::Back));
    let styled = |text: &str, style| vec![Span::new(format!(" {text}"), style)];
    if let Some(count) = count {
        let keys = format!(" · {} goes to line {}", pager.key_of(Action::End), thousands(count));
        return vec![vec![Span::new(format!(" {count}"), theme.accent), Span::new(keys, theme.dim)]];
    }
    if let Some(message) = &pager.message {
        return vec![styled(&message.text, if message.is_error { theme.error } else { Style::new() })];
    }
    let doing = match output.is_awaited() {
        true => Some(format!("planning…  {back} gives up")),
        false if pager.find.seeking.is_some() => Some(format!("searching…  {back} stops")),
        false => pager.describe_selection(),
    };
    if let Some(words) = doing {
        return vec![styled(&words, theme.accent)];
    }
    let side = pager.focus();
    if side == Side::Preview && output.view.is_empty() && pager.is_coming() {
        return vec![styled("no output yet", Style::new())];
    }
    let moved = if side == Side::Spill { sideways(pager) } else { String::new() };
    let words = match (output.filter_of(side), drawn.line) {
        (Some(filter), _) => filter.describe(output.certainty().verb()),
        (None, Some((offset, got))) => output.describe_line(offset, got),
        (None, None) => output.share_kept(),
    };
    let words = with_window(pager, words, drawn);
    words.into_iter().map(|words| styled(&format!("{moved}{words}"), Style::new())).collect()
}

/// Adds the window of lines while the user pages by it: `offset 2001 limit 2000 · next 4001`. The words go first.
fn with_window(pager: &Pager, words: Vec<String>, drawn: DrawnPane) -> Vec<String> {
    if !pager.panes.is_paging {
        return words;
    }
    let (window, given) = pager.paged();
    let [paged, call] = window.describe(given, pager.output.lines());
    let beside: Vec<String> = words.iter().map(|words| format!("{words} · {paged}")).collect();
    // The window says its first line; what else is to be said is worth more than the window.
    let line = drawn.line.and_then(|(offset, _)| pager.output.line_number(offset));
    let is_first = line.is_some_and(|line| line <= window.offset);
    let is_partly_read = pager.output.is_read_view() && pager.output.percent_kept().is_some();
    let alone = if is_first || is_partly_read { vec![paged, call] } else { words };
    [beside, alone].concat()
}

/// Describes how far to the right the panes are scrolled; empty if they are not.
fn sideways(pager: &Pager) -> String {
    let Long::Sideways(at @ 1..) = pager.panes.place.long else { return String::new() };
    let (scroll, top, at) = (pager.scroll(pager.focus()), pager.panes.top(pager.focus()), thousands(at + 1));
    // In a line that is too long for columns, moves count in bytes.
    match scroll.fold(top).is_none() && !scroll.reader.segment(top).closes {
        true => format!("byte {at} of line · "),
        false => format!("column {at} · "),
    }
}

/// Returns versions of the right end, the longest first, each with the number of its hints besides help. Hints are dropped
/// first, what was found at last.
fn right(pager: &Pager, drawn: DrawnPane, wanted: usize) -> Vec<(Vec<Span>, usize)> {
    let theme = &pager.canvas.theme;
    let [position, none] = [Span::new(position(pager, drawn), theme.bar), Span::plain("")];
    let [long, short, least] =
        matches(pager).unwrap_or_default().map(|text| Span::new(with_gap(text), theme.accent));
    let caveat = pager.output.caveat().map_or(String::new(), |short| format!("! {short}{GAP}"));
    let asks =
        escapes(pager, drawn).map(|text| Span::new(format!("{caveat}{}", with_gap(text)), theme.warning));
    let json = drawn.json.then_some(&footer::JSON);
    let idle = |action| match action {
        Action::NextError => pager.has_no_error(),
        Action::NextMissed => !pager.output.is_cut(),
        // A recorded text without its output cannot be compared with anything.
        Action::Other | Action::NextCut | Action::Limits | Action::Evidence => pager.output.is_text_only(),
        _ => false,
    };
    let text = if pager.focus() == Side::Preview { "whole" } else { "model got" };
    let hints = state(pager).versions(KeyContext::Pager, (json, text), idle, pager.canvas.keys);
    let last = hints.len().saturating_sub(1);
    // What is searched for, and the hints that a cut output needs, are worth more than what the keys do about escapes.
    let without = if long.text.columns() > 0 || wanted > MIN_HINTS + 1 { wanted } else { 0 };
    let order = [
        (&long, &asks[0], wanted.max(MIN_HINTS) + 1),
        (&long, &asks[1], without),
        (&long, &none, 1),
        (&short, &none, 0),
    ];
    let mut ends = Vec::new();
    let mut add = |[found, asks, end]: [&Span; 3], hint: &str, teaches: usize| {
        ends.push((vec![found.clone(), asks.clone(), Span::new(hint, theme.dim), end.clone()], teaches));
    };
    for (found, asks, fewest) in order {
        for (n, hint) in hints.iter().enumerate().filter(|(n, _)| last - n >= fewest) {
            add([found, asks, &position], hint, last - n);
            // The way to the lists is worth more than the position.
            if last - n == 1 {
                add([found, asks, &Span::plain(" ")], hint, 1);
            }
        }
    }
    [&long, &short, &least, &none].into_iter().for_each(|found| add([found, &none, &position], "", 0));
    ends
}

fn with_gap(text: String) -> String {
    if text.is_empty() { text } else { text + GAP }
}

fn state(pager: &Pager) -> Footer {
    let (output, is_cut) = (&pager.output, pager.output.is_cut());
    let is_hidden = output.filter_of(pager.focus()).is_some() && pager.find.current == [None, None];
    match pager.focus() {
        _ if pager.find.pattern.is_some() && pager.find.tally.counts.total() > 0 && !is_hidden => {
            Footer::SEARCH
        }
        Side::Spill if output.filter.is_some() => Footer::FILTERED,
        _ if pager.is_coming() && !pager.panes.following => Footer::GROWING,
        Side::Preview if output.recorded.as_ref().is_some_and(|call| call.index.is_some()) => {
            Footer::RECORDED_CALL
        }
        _ if !is_cut => Footer::WHOLE,
        Side::Preview => Footer::PREVIEW_CUT,
        Side::Spill => Footer::SPILL_CUT,
    }
}

fn position(pager: &Pager, drawn: DrawnPane) -> String {
    if pager.canvas.size.0 >= layout::MAPPED {
        return " ".to_owned();
    }
    let len = pager.output.doc(pager.focus()).len().max(1);
    format!("{GAP}{}% ", drawn.end.min(len) * 100 / len)
}

/// Names the key for escapes, or folded progress lines, on the screen: a long and a short version.
fn escapes(pager: &Pager, drawn: DrawnPane) -> [String; 2] {
    let (count, key) = (thousands(drawn.hidden as u64), pager.key_of(Action::Raw));
    let noun = if drawn.hidden == 1 { "escape" } else { "escapes" };
    let share = pager.output.made.escapes.filter(|_| pager.focus() == Side::Preview);
    let colours = if drawn.escapes { format!("{key} colours") } else { String::new() };
    match (drawn.hidden, share) {
        (0, _) if drawn.folded => [(); 2].map(|()| format!("{} unfolds", key)),
        (0, Some(percent)) => {
            let dot = if drawn.escapes { " · " } else { "" };
            [format!("escapes take {percent}% of the limit{dot}{colours}"), colours]
        }
        (0, None) => [colours.clone(), colours],
        _ => [(); 2].map(|()| format!("{key} shows {count} {noun}")),
    }
}

pub(crate) fn typing_note(pager: &Pager) -> Option<Span> {
    let typing = pager.find.typing.as_ref()?;
    let theme = &pager.canvas.theme;
    let note = typing.note();
    if pager.find.pattern.is_none() || pager.find.tally.counts.total() == 0 {
        let waiting = pager.find.seeking.is_some().then(|| "searching…".into());
        return note.or(waiting).map(|note| Span::new(format!("{note} "), theme.dim));
    }
    let note = note.map_or(String::new(), |note| format!("{note} · "));
    Some(Span::new(format!("{note}{} ", describe_matches(pager)), theme.accent))
}

/// Describes the matches, in three versions: `/error 3 of 14 · model got 2`.
fn matches(pager: &Pager) -> Option<[String; 3]> {
    let pattern = pager.find.pattern.as_ref()?;
    let name = SafeText::from(pattern.text()).fit(MAX_NAME);
    let (output, tally) = (&pager.output, &pager.find.tally);
    if tally.is_whole(output.view.len()) && tally.counts.total() == 0 {
        // A message says it already.
        let none = "no match".to_owned();
        return pager.message.is_none().then(|| [format!("{none} for {name}"), none.clone(), none]);
    }
    let counts = describe_matches(pager);
    let least = counts.split(" · ").next().unwrap_or_default().to_owned();
    Some([format!("/{name} {counts}"), counts, least])
}

/// Describes the current match, the number of matches, and how many of them the model got: `3 of 14 · model got 2`.
fn describe_matches(pager: &Pager) -> String {
    let total = pager.find.tally.describe(&pager.output);
    let got = pager.find.tally.got(&pager.output).filter(|_| pager.output.has_preview());
    let got = got.map(|got| format!("model {} {}", pager.output.certainty().verb(), thousands(got)));
    let number = number(pager, Counting::Matches).map(|number| format!("{} of ", thousands(number)));
    joined([Some(number.unwrap_or_default() + &total), got]).to_string()
}

/// Returns the number of the current match, or error, among those of the file, 1-based, if it is counted.
pub(super) fn number(pager: &Pager, of: Counting) -> Option<u64> {
    let (output, find) = (&pager.output, &pager.find);
    let in_preview = || {
        let at = find.current(Side::Preview)?.start;
        output.made.seen.kept_at(at).or_else(|| match of {
            Counting::Matches => None,
            // There is at most one in a line, of which changed text shows no more than where it starts.
            Counting::Severity(_) => {
                let line = output.made.seen.line_at(at)? as u64;
                Some(output.lines_of(Side::Spill, line, line).end as usize)
            }
        })
    };
    let in_spill = || find.current(Side::Spill).map(|range| range.start as usize);
    let at = match pager.focus() {
        _ if find.at != of => None,
        Side::Preview => in_preview().or_else(in_spill),
        Side::Spill => in_spill(),
    };
    pager.tally(of).counts.number(&mut ViewSupply::from(&output.view), pager.pattern(of)?, at?)
}
