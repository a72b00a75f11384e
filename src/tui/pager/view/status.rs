//! The line at the foot: what was kept, where one is, and what to press.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;

use crate::human::thousands;
use crate::text::label::label;
use crate::tui::app::App;
use crate::tui::keys::{Action, key_of};
use crate::tui::pager::describe;
use crate::tui::pager::output::Output;
use crate::tui::pager::scroll::Long;
use crate::tui::pager::window::Window;
use crate::tui::popup::prompt::{Prompt, Purpose};
use crate::tui::widget::layout::Side;
use crate::tui::widget::line::{self, Span};

use super::pane::Drawn;

/// Draws the status of one output: a line being typed, a message, or the state.
pub fn draw(app: &App, output: &Output, drawn: Drawn, frame: &mut Frame, area: Rect) {
    if let Some(prompt) = &app.prompt {
        return draw_prompt(app, prompt, frame, area);
    }
    let right = right(app, output, drawn);
    let room = usize::from(area.width);
    let least = right.last().map_or(0, |spans| line::width(spans)) + 2;
    let mut lefts = left(app, output);
    let shortest = lefts.pop().unwrap_or_default();
    let left = lefts.into_iter().find(|spans| line::width(spans) + least <= room).unwrap_or(shortest);
    let taken = line::width(&left);
    line::spans(frame.buffer_mut(), area, &left);
    let right = right.into_iter().find(|spans| taken + line::width(spans) + 2 <= room);
    line::right(frame.buffer_mut(), area, taken, &right.unwrap_or_default());
}

/// Draws a line being typed, with its cursor.
pub fn draw_prompt(app: &App, prompt: &Prompt, frame: &mut Frame, area: Rect) {
    let label = prompt.purpose().label();
    let fault = app.message.as_ref().filter(|message| message.is_error);
    let spans = [
        (label.to_owned(), app.theme.accent),
        (prompt.text().to_owned(), Style::new()),
        (fault.map_or_else(String::new, |fault| format!("   {}", fault.text)), app.theme.error),
    ];
    line::spans(frame.buffer_mut(), area, &spans);
    if fault.is_none() {
        let hint = match prompt.purpose() {
            Purpose::Search | Purpose::SearchBack => "Enter search · ↑ earlier · Esc leave ",
            _ => "Enter · Esc leave ",
        };
        line::right(frame.buffer_mut(), area, line::width(&spans), &[(hint.into(), app.theme.dim)]);
    }
    let x = area.x + (label.chars().count() + prompt.cursor()) as u16;
    frame.set_cursor_position(Position { x: x.min(area.x + area.width.saturating_sub(1)), y: area.y });
}

/// The left end, from the fullest to the barest.
fn left(app: &App, output: &Output) -> Vec<Vec<Span>> {
    let plain = |text: String| vec![(format!(" {text}"), Style::new())];
    if let Some(count) = app.count {
        let count = (format!(" {count}"), app.theme.accent);
        return vec![vec![count, ("  then a key: G goes to that line".into(), app.theme.dim)]];
    }
    if let Some(message) = &app.message {
        let style = if message.is_error { app.theme.error } else { Style::new() };
        return vec![vec![(format!(" {}", message.text), style)]];
    }
    if output.is_awaited() {
        return vec![vec![(" planning…  Esc gives up".into(), app.theme.accent)]];
    }
    if app.find.is_running() {
        return vec![vec![(" searching…  Esc stops".into(), app.theme.accent)]];
    }
    match app.focus() {
        Side::Preview if output.view.is_empty() && app.is_coming() => {
            vec![plain("nothing has come yet".into())]
        }
        Side::Preview => describe::summary(output).into_iter().map(plain).collect(),
        Side::Spill => {
            let moved = sideways(app);
            window(app.panes.window, output)
                .into_iter()
                .map(|words| plain(format!("{moved}{words}")))
                .collect()
        }
    }
}

/// `offset 2001 limit 2000 · lines 2,001-4,000 of 8,432 · next 4001`, from the fullest to the barest.
pub fn window(window: Window, output: &Output) -> Vec<String> {
    let Window { offset, limit } = window;
    let call = format!("offset {offset} limit {limit}");
    let Some(total) = output.lines() else {
        return vec![format!("{call} · counting lines, {} %", output.counted_percent()), call];
    };
    let last = (window.next() - 1).min(total);
    if total == 0 || offset > total {
        return vec![format!("{call} · {} lines", thousands(total)), call];
    }
    let lines = format!("lines {}-{} of {}", thousands(offset), thousands(last), thousands(total));
    let next = if last < total { format!("next {}", window.next()) } else { "the last window".into() };
    vec![format!("{call} · {lines} · {next}"), format!("{call} · {next}"), call]
}

/// How far to the right the panes are.
fn sideways(app: &App) -> String {
    match app.panes.long {
        Long::Sideways(at) if at > 0 && app.is_long_line(app.focus()) => {
            format!("byte {} of line · ", thousands(at + 1))
        }
        Long::Sideways(at) if at > 0 => format!("column {} · ", thousands(at + 1)),
        _ => String::new(),
    }
}

/// The right end, from the fullest to the barest.
fn right(app: &App, output: &Output, drawn: Drawn) -> Vec<Vec<Span>> {
    let dim = app.theme.dim;
    let place = vec![(format!("{} ", position(app, output, drawn)), dim)];
    let found: Vec<Span> =
        matches(app, output).map(|text| (format!("{text}   "), app.theme.accent)).into_iter().collect();
    let [warned, warned_barely] = warned(output);
    let [hidden, barely] = hidden(drawn);
    let [hidden, barely] = [warned + &hidden, warned_barely + &barely].map(|text| (text, app.theme.warning));
    let other = match app.focus() {
        Side::Preview => "spill",
        Side::Spill => "preview",
    };
    let short = vec![(format!("{} help ", key_of(Action::Help)), dim)];
    let some = vec![(format!("Tab {other}  {} help ", key_of(Action::Help)), dim)];
    let all =
        vec![(format!("Tab {other}  +- lines  <> bytes  [] window  / search  S stores  h help ",), dim)];
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
    let bare = (!found.is_empty()).then(|| found.clone());
    keys.into_iter().map(|keys| [found.clone(), keys].concat()).chain(bare).collect()
}

/// How far down the pane is.
fn position(app: &App, output: &Output, drawn: Drawn) -> String {
    let len = app.doc(output, app.focus()).len().max(1);
    format!("{}%", drawn.end.min(len) * 100 / len)
}

/// What is on the screen and cannot be seen, and the key that shows it: in words, and barely.
fn hidden(drawn: Drawn) -> [String; 2] {
    let (count, key) = (thousands(drawn.hidden as u64), key_of(Action::Raw));
    let noun = if drawn.hidden == 1 { "escape" } else { "escapes" };
    match drawn.hidden {
        0 => Default::default(),
        _ => [format!("{count} {noun} hidden, {key} shows   "), format!("{count} hidden: {key}  ")],
    }
}

/// That there is something to know before the preview is trusted, and the key that tells it: in words, and barely.
fn warned(output: &Output) -> [String; 2] {
    let (warnings, key) = (output.warnings(), key_of(Action::Facts));
    match warnings.first() {
        None => Default::default(),
        Some(first) => {
            [format!("{}, {key} tells   ", label(first.short().as_bytes())), format!("warning: {key}  ")]
        }
    }
}

/// In Spill `error: 3 of 14, 2 kept`, in Preview `error: 2 of 14 kept`.
fn matches(app: &App, output: &Output) -> Option<String> {
    let pattern = app.find.pattern.as_ref()?;
    let counts = &app.find.counts;
    let total = counts.total();
    let more = if counts.counted_bytes() < output.view.len() { "+" } else { "" };
    let name = label(pattern.text().as_bytes());
    let total = format!("{}{more}", thousands(total));
    if app.focus() == Side::Preview {
        return Some(match app.find.kept {
            Some(kept) => format!("{name}: {} of {total} kept", thousands(kept)),
            None => format!("{name}: {total} in the file"),
        });
    }
    let current = app.find.current(Side::Spill).map(|range| range.start as usize);
    let number = current.and_then(|at| counts.number(&output.view, pattern, at));
    let kept = app.find.kept.map_or(String::new(), |kept| format!(", {} kept", thousands(kept)));
    Some(match number {
        Some(number) => format!("{name}: {} of {total}{kept}", thousands(number)),
        None => format!("{name}: {total}{kept}"),
    })
}
