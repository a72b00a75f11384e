//! Draws the bottom line: what was kept, the current position, and the keys.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::human::{self, thousands};
use crate::source::ViewSupply;
use crate::text::label::SafeText;
use crate::tui::footer::{self, FooterState};
use crate::tui::keys::Action;
use crate::tui::pager::output::OpenOutput;
use crate::tui::pager::scroll::Long;
use crate::tui::pager::search::job::Counting;
use crate::tui::pager::window::ReadWindow;
use crate::tui::pager::{Pager, describe, filter};
use crate::tui::screen::StatusLine;
use crate::tui::widget::layout::Side;
use crate::tui::widget::line::{self, Span};

use super::pane::Drawn;

/// The most columns that a pattern takes in the status line.
const LONGEST_NAME: usize = 30;

/// The columns between what stands by itself.
const GAP: &str = "   ";

/// The fewest hints, besides help, for which the words on the left are shortened.
const LEAST_HINTS: usize = 2;

/// Draws the status of one output: a count, a message, or the state; at the right the position, and before it what was
/// found and as many hints as fit.
pub fn draw(pager: &Pager, told: &StatusLine, drawn: Drawn, frame: &mut Frame, area: Rect) {
    let rights = right(pager, told, drawn);
    let room = usize::from(area.width);
    let fits = |left: &[Span], right: &[Span]| line::width(left) + line::width(right) + 2 <= room;
    // What a filter found is worth more than hints.
    let is_filtered = pager.focus() == Side::Spill && pager.output.sift.is_some();
    let wanted = if is_filtered { 0 } else { LEAST_HINTS };
    let least = rights.iter().position(|right| right.teaches < wanted).unwrap_or(rights.len());
    let least = rights.get(least.saturating_sub(1)).map_or(&[][..], |right| &right.spans);
    let mut lefts = left(pager, told);
    let shortest = lefts.pop().unwrap_or_default();
    let left = lefts.into_iter().find(|left| fits(left, least)).unwrap_or(shortest);
    let left = line::cut(left, room, pager.canvas.glyphs());
    line::spans(frame.buffer_mut(), area, &left);
    let right = rights.iter().find(|right| fits(&left, &right.spans));
    let spans = right.map_or(&[][..], |right| &right.spans);
    line::right(frame.buffer_mut(), area, line::width(&left), spans);
}

/// Returns versions of the left end, from the longest to the shortest.
fn left(pager: &Pager, told: &StatusLine) -> Vec<Vec<Span>> {
    let output = &pager.output;
    let plain = |text: String| vec![Span::plain(format!(" {text}"))];
    if let Some(count) = told.count {
        let keys = Span::new(
            format!(" · {} goes to line {}", pager.key_of(Action::End), thousands(count)),
            pager.canvas.theme.dim,
        );
        return vec![vec![Span::new(format!(" {count}"), pager.canvas.theme.accent), keys]];
    }
    if let Some(message) = told.message {
        let style = if message.is_error { pager.canvas.theme.error } else { Style::new() };
        return vec![vec![Span::new(format!(" {}", message.text), style)]];
    }
    let back = pager.key_of(Action::Back);
    if output.is_awaited() {
        return vec![vec![Span::new(format!(" planning…  {back} gives up"), pager.canvas.theme.accent)]];
    }
    if pager.find.is_running() {
        return vec![vec![Span::new(format!(" searching…  {back} stops"), pager.canvas.theme.accent)]];
    }
    if let Some(words) = pager.selection_in_words() {
        return vec![vec![Span::new(format!(" {words}"), pager.canvas.theme.accent)]];
    }
    match pager.focus() {
        Side::Preview if output.view.is_empty() && pager.is_coming() => {
            vec![plain("no output yet".into())]
        }
        Side::Preview => describe::share_kept(output).into_iter().map(plain).collect(),
        Side::Spill => {
            let moved = sideways(pager);
            let words = match &output.sift {
                Some(sift) => filter::words::summary(sift, output.certainty().verb()),
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
    let of_all = format!("{call} of {}", human::lines(total));
    vec![format!("{call} · {lines} · {next}"), of_all, call]
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

/// A version of the right end.
struct RightEnd {
    spans: Vec<Span>,
    /// The number of hints in it.
    teaches: usize,
}

/// Returns versions of the right end, from the longest to the shortest: what was found, what needs a look, hints, the
/// position. Hints are dropped first, then the longer words, what was found at last.
fn right(pager: &Pager, told: &StatusLine, drawn: Drawn) -> Vec<RightEnd> {
    let theme = &pager.canvas.theme;
    let place = Span::new(format!("{GAP}{} ", position(pager, &pager.output, drawn)), theme.bar);
    let found = matches(pager, told).unwrap_or_default();
    let found = found.map(|text| optional(text, theme.accent));
    let [warned, warned_barely] = warned(pager);
    let [hidden, hidden_barely] = escapes(pager, drawn);
    let asks = [warned + &hidden, format!("{warned_barely}{hidden_barely}"), warned_barely];
    let asks = asks.map(|text| (!text.is_empty()).then(|| Span::new(text, theme.warning)));
    let json = drawn.json.then_some(&footer::JSON);
    let hints = footer::versions(footer_state(pager), json, pager.canvas.keys);
    let last = hints.len().saturating_sub(1);
    let hint = |n: usize| hints.get(n).map(|text| Span::new(text.as_str(), theme.dim));
    let end = |found: &Option<Span>, asks: Option<&Span>, n: usize| RightEnd {
        spans: found.iter().chain(asks).cloned().chain(hint(n)).chain([place.clone()]).collect(),
        teaches: last.saturating_sub(n),
    };
    let [long, short] = &found;
    let [asks_long, asks_short, asks_least] = asks.each_ref().map(Option::as_ref);
    // What is searched for is worth more than what the keys do about escapes.
    let without = if long.is_some() { LEAST_HINTS } else { 0 };
    let mut ends: Vec<RightEnd> = Vec::new();
    ends.extend((0..=last).filter(|n| last - n > LEAST_HINTS).map(|n| end(long, asks_long, n)));
    for asks in [asks_short, asks_least] {
        ends.extend((0..=last).filter(|n| last - n >= without).map(|n| end(long, asks, n)));
    }
    ends.extend((0..=last).map(|n| end(long, None, n)));
    ends.extend((0..=last).map(|n| end(short, None, n)));
    let bare = [long, short, &None].map(|found| found.iter().cloned().chain([place.clone()]).collect());
    ends.extend(bare.map(|spans| RightEnd { spans, teaches: 0 }));
    ends
}

fn optional(text: String, style: Style) -> Option<Span> {
    (!text.is_empty()).then(|| Span::new(format!("{text}{GAP}"), style))
}

/// Returns the state that decides which keys are taught.
fn footer_state(pager: &Pager) -> FooterState {
    let output = &pager.output;
    let is_cut = output.preview.as_ref().is_ok_and(|preview| preview.truncated);
    let top = pager.panes.top(Side::Spill) as usize;
    match pager.focus() {
        _ if pager.find.pattern.is_some() && pager.find.tally.counts.total() > 0 => {
            if is_cut {
                FooterState::SearchCut
            } else {
                FooterState::SearchWhole
            }
        }
        Side::Spill if output.sift.is_some() => FooterState::Filtered,
        _ if pager.is_coming() && !pager.panes.following => FooterState::Growing,
        Side::Preview if output.is_alone() => FooterState::RecordedAlone,
        Side::Preview if output.recorded.is_some() => FooterState::RecordedCall,
        Side::Preview if is_cut => FooterState::PreviewCut,
        Side::Preview => FooterState::PreviewWhole,
        Side::Spill if !is_cut => FooterState::SpillWhole,
        Side::Spill if output.is_kept(top) => FooterState::SpillKept,
        Side::Spill => FooterState::SpillLost,
    }
}

/// Describes how far down the pane is, in percent.
fn position(pager: &Pager, output: &OpenOutput, drawn: Drawn) -> String {
    let len = output.doc(pager.focus()).len().max(1);
    format!("{}%", drawn.end.min(len) * 100 / len)
}

/// Names the key for escape sequences, if there are any on the screen, shown or hidden, or for folded progress lines, and
/// says what escapes took of the limit if that is much: a long and a short version.
fn escapes(pager: &Pager, drawn: Drawn) -> [String; 2] {
    let (count, key) = (thousands(drawn.hidden as u64), pager.key_of(Action::Raw));
    let noun = if drawn.hidden == 1 { "escape" } else { "escapes" };
    let share = pager.output.escapes.filter(|_| pager.focus() == Side::Preview);
    let teaches = if drawn.escapes { format!(", {key} colours") } else { String::new() };
    match (drawn.hidden, share) {
        (0, _) if drawn.folded => {
            ["unfolds   ", "unfolds  "].map(|word| format!("{} {word}", pager.key_of(Action::Unfold)))
        }
        (0, Some(percent)) => [
            format!("escapes took {percent}% of the limit{teaches}   "),
            format!("escapes {percent}%{teaches}  "),
        ],
        (0, None) if drawn.escapes => [format!("{key} as colours   "), format!("{key} colours  ")],
        (0, None) => Default::default(),
        _ => [format!("{count} {noun} hidden, {key} shows   "), format!("{count} hidden: {key}  ")],
    }
}

/// Announces that there are warnings about the preview, with the key that shows them: a long and a short version.
fn warned(pager: &Pager) -> [String; 2] {
    let (warnings, key) = (pager.output.warnings(), pager.key_of(Action::Facts));
    match warnings.first() {
        None => Default::default(),
        Some(first) => ["   ", "  "].map(|gap| format!("! {} ({key}){gap}", first.short())),
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
fn matches(pager: &Pager, told: &StatusLine) -> Option<[String; 2]> {
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
    let got = got.map_or(String::new(), |got| {
        format!(" · model {} {}", pager.output.certainty().verb(), thousands(got))
    });
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
        Counting::Severity(severity) => (pager.errors.patterns.get(severity)?, pager.errors.tally(severity)),
    };
    let in_preview = || find.current(Side::Preview).and_then(|range| output.seen.kept_at(range.start));
    let in_spill = || find.current(Side::Spill).map(|range| range.start as usize);
    let at = match pager.focus() {
        _ if find.at != of => None,
        Side::Preview => in_preview().or_else(in_spill),
        Side::Spill => in_spill(),
    };
    tally.counts.number(&mut ViewSupply::from(&output.view), pattern, at?)
}
