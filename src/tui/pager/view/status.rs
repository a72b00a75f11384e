//! Draws the bottom line: what was kept, the current position, and the keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::human::thousands;
use crate::text::label::SafeText;
use crate::tui::event::Message;
use crate::tui::keys::{Action, key_of};
use crate::tui::pager::output::OpenOutput;
use crate::tui::pager::scroll::Long;
use crate::tui::pager::search::job::Counting;
use crate::tui::pager::window::ReadWindow;
use crate::tui::pager::{Pager, describe, filter};
use crate::tui::widget::layout::Side;
use crate::tui::widget::line::{self, Span};

use super::pane::Drawn;

/// The most columns that a pattern takes in the status line.
const LONGEST_NAME: usize = 30;

/// What the status line shows in preference to the state.
#[derive(Debug, Clone, Copy, Default)]
pub struct Told<'a> {
    /// The count typed before a key.
    pub count: Option<u64>,
    /// The message shown until the next key.
    pub message: Option<&'a Message>,
}

/// Draws the status of one output: a count, a message, or the state.
pub fn draw(pager: &Pager, told: &Told, drawn: Drawn, frame: &mut Frame, area: Rect) {
    let right = right(pager, told, drawn);
    let room = usize::from(area.width);
    // The pattern is worth more than the longer words on the left.
    let named = right.len().saturating_sub(1 + usize::from(pager.find.pattern.is_some()));
    let least = right.get(named).map_or(0, |spans| line::width(spans)) + 2;
    let mut lefts = left(pager, told);
    let shortest = lefts.pop().unwrap_or_default();
    let left = lefts.into_iter().find(|spans| line::width(spans) + least <= room).unwrap_or(shortest);
    let taken = line::width(&left);
    line::spans(frame.buffer_mut(), area, &left);
    let right = right.into_iter().find(|spans| taken + line::width(spans) + 2 <= room);
    line::right(frame.buffer_mut(), area, taken, &right.unwrap_or_default());
}

/// Returns versions of the left end, from the longest to the shortest.
fn left(pager: &Pager, told: &Told) -> Vec<Vec<Span>> {
    let output = &pager.output;
    let plain = |text: String| vec![Span::plain(format!(" {text}"))];
    if let Some(count) = told.count {
        let keys = Span::new(
            format!(" · {} goes to line {}", key_of(Action::End), thousands(count)),
            pager.canvas.theme.dim,
        );
        return vec![vec![Span::new(format!(" {count}"), pager.canvas.theme.accent), keys]];
    }
    if let Some(message) = told.message {
        let style = if message.is_error { pager.canvas.theme.error } else { Style::new() };
        return vec![vec![Span::new(format!(" {}", message.text), style)]];
    }
    if output.is_awaited() {
        return vec![vec![Span::new(" planning…  Esc gives up", pager.canvas.theme.accent)]];
    }
    if pager.find.is_running() {
        return vec![vec![Span::new(" searching…  Esc stops", pager.canvas.theme.accent)]];
    }
    match pager.focus() {
        Side::Preview if output.view.is_empty() && pager.is_coming() => {
            vec![plain("no output yet".into())]
        }
        Side::Preview => describe::summary(output).into_iter().map(plain).collect(),
        Side::Spill => {
            let moved = sideways(pager);
            let words = match &output.sift {
                Some(sift) => filter::words::summary(sift),
                None => window(pager.panes.window, output),
            };
            words.into_iter().map(|words| plain(format!("{moved}{words}"))).collect()
        }
    }
}

/// Describes the window in versions from the longest to the shortest: `offset 2001 limit 2000 · lines 2,001-4,000 of
/// 8,432 · next 4001`.
pub fn window(window: ReadWindow, output: &OpenOutput) -> Vec<String> {
    let ReadWindow { offset, limit } = window;
    let call = format!("offset {offset} limit {limit}");
    let Some(total) = output.lines() else {
        return vec![format!("{call} · counting lines, {}%", output.counted_percent()), call];
    };
    let last = (window.next() - 1).min(total);
    if total == 0 || offset > total {
        return vec![format!("{call} · {} lines", thousands(total)), call];
    }
    let lines = format!("lines {}-{} of {}", thousands(offset), thousands(last), thousands(total));
    let next = if last < total { format!("next {}", window.next()) } else { "the last window".into() };
    vec![format!("{call} · {lines} · {next}"), format!("{call} · {next}"), call]
}

/// Describes how far to the right the panes are scrolled; empty if they are not.
fn sideways(pager: &Pager) -> String {
    match pager.panes.long {
        Long::Sideways(at) if at > 0 && pager.is_long_line(pager.focus()) => {
            format!("byte {} of line · ", thousands(at + 1))
        }
        Long::Sideways(at) if at > 0 => format!("column {} · ", thousands(at + 1)),
        _ => String::new(),
    }
}

/// Returns versions of the right end, from the longest to the shortest.
fn right(pager: &Pager, told: &Told, drawn: Drawn) -> Vec<Vec<Span>> {
    let output = &pager.output;
    let dim = pager.canvas.theme.dim;
    let place = vec![Span::new(format!("{} ", position(pager, output, drawn)), dim)];
    let found = matches(pager, told).unwrap_or_default();
    let span = |text: String| Span::new(format!("{text}   "), pager.canvas.theme.accent);
    let [found, found_barely] = found
        .map(|text| Some(text).filter(|text| !text.is_empty()).map(span).into_iter().collect::<Vec<_>>());
    let [warned, warned_barely] = warned(output);
    let [hidden, barely] = hidden(drawn);
    let [hidden, barely] =
        [warned + &hidden, warned_barely + &barely].map(|text| Span::new(text, pager.canvas.theme.warning));
    let other = match pager.focus() {
        Side::Preview => "spill",
        Side::Spill => "preview",
    };
    let short = vec![Span::new(format!("{} help ", key_of(Action::Help)), dim)];
    let some = vec![Span::new(format!("Tab {other}  {} help ", key_of(Action::Help)), dim)];
    let all = format!("Tab {other}  +- lines  <> bytes  [] window  / search  S stores  h help ");
    let all = vec![Span::new(all, dim)];
    let [all, most] = [all, some.clone()].map(|keys| [keys, place.clone()].concat());
    let with = |hidden: &Span, keys: &[Span]| [std::slice::from_ref(hidden), keys].concat();
    let keys = [
        with(&hidden, &all),
        with(&hidden, &most),
        with(&barely, &most),
        with(&barely, &some),
        with(&barely, &short),
        some,
        short,
    ];
    let bare = [found.clone(), found_barely].into_iter().filter(|found| !found.is_empty());
    keys.into_iter().map(|keys| [found.clone(), keys].concat()).chain(bare).collect()
}

/// Describes how far down the pane is, in percent.
fn position(pager: &Pager, output: &OpenOutput, drawn: Drawn) -> String {
    let len = output.doc(pager.focus()).len().max(1);
    format!("{}%", drawn.end.min(len) * 100 / len)
}

/// Names the key for escape sequences, if there are any on the screen, shown or hidden, or for folded progress lines: a
/// long and a short version.
fn hidden(drawn: Drawn) -> [String; 2] {
    let (count, key) = (thousands(drawn.hidden as u64), key_of(Action::Raw));
    let noun = if drawn.hidden == 1 { "escape" } else { "escapes" };
    match drawn.hidden {
        0 if drawn.folded => {
            ["unfolds   ", "unfolds  "].map(|word| format!("{} {word}", key_of(Action::Unfold)))
        }
        0 if drawn.escapes => [format!("{key} as colours   "), format!("{key} colours  ")],
        0 => Default::default(),
        _ => [format!("{count} {noun} hidden, {key} shows   "), format!("{count} hidden: {key}  ")],
    }
}

/// Announces that there are warnings about the preview, with the key that shows them: a long and a short version.
fn warned(output: &OpenOutput) -> [String; 2] {
    let (warnings, key) = (output.warnings(), key_of(Action::Facts));
    match warnings.first() {
        None => Default::default(),
        Some(first) => [format!("{}, {key} explains   ", first.short()), format!("warning: {key}  ")],
    }
}

/// Describes what was found of the pattern being typed, if one is.
pub(crate) fn typed(pager: &Pager) -> Option<Span> {
    let typing = pager.find.typing.as_ref()?;
    let theme = &pager.canvas.theme;
    let note = typing.note();
    if pager.find.pattern.is_none() || pager.find.tally.counts.total() == 0 {
        let waiting = pager.find.is_running().then(|| "searching…".into());
        return note.or(waiting).map(|note| Span::new(format!("{note} "), theme.dim));
    }
    let note = note.map_or(String::new(), |note| format!("{note} · "));
    Some(Span::new(format!("{note}{} ", counted(pager)), theme.accent))
}

/// Describes the matches: `/error 3 of 14 · model got 2`; a long and a short version.
fn matches(pager: &Pager, told: &Told) -> Option<[String; 2]> {
    let pattern = pager.find.pattern.as_ref()?;
    let name = SafeText::from(pattern.text()).fit(LONGEST_NAME);
    let (output, tally) = (&pager.output, &pager.find.tally);
    if tally.is_whole(output.view.len()) && tally.counts.total() == 0 {
        // A message says it already.
        return told.message.is_none().then(|| [format!("no match for {name}"), "no match".into()]);
    }
    let counts = counted(pager);
    Some([format!("/{name} {counts}"), counts])
}

/// Describes the current match, the number of matches, and how many of them the model got: `3 of 14 · model got 2`.
fn counted(pager: &Pager) -> String {
    let total = describe::total(&pager.output, &pager.find.tally);
    let got = describe::got(&pager.output, &pager.find.tally);
    let got = got.map_or(String::new(), |got| format!(" · model got {}", thousands(got)));
    match number(pager, Counting::Matches) {
        Some(number) => format!("{} of {total}{got}", thousands(number)),
        None => format!("{total}{got}"),
    }
}

/// Returns the number of the current match, or error, among those of the file, 1-based, if it is counted.
pub(super) fn number(pager: &Pager, of: Counting) -> Option<u64> {
    let (output, find) = (&pager.output, &pager.find);
    let (pattern, tally) = match of {
        Counting::Matches => (find.pattern.as_ref()?, &find.tally),
        Counting::Errors => (pager.errors.pattern()?, &pager.errors.tally),
    };
    let in_preview = || find.current(Side::Preview).and_then(|range| output.seen.kept_at(range.start));
    let in_spill = || find.current(Side::Spill).map(|range| range.start as usize);
    let at = match pager.focus() {
        _ if find.at != of => None,
        Side::Preview => in_preview().or_else(in_spill),
        Side::Spill => in_spill(),
    };
    tally.counts.number(&output.view, pattern, at?)
}
