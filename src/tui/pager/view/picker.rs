//! Draws the policy picker over the lower part of the screen, so that the preview shows above it.

use std::any::Any;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

use crate::config::EffectivePolicy;
use crate::tui::event::Message;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::pager::Pager;
use crate::tui::pager::picker::{Picker, height, prose_rows, rows};
use crate::tui::screen::{Layer, LayerContext, LayerFrame, LayerNext, Screen};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::frame;
use crate::tui::widget::line::{self, Span};

use super::figures::{FigureCells, FigureColumns, limits};

impl Layer for Picker {
    fn context(&self, _: &dyn Screen) -> KeyContext {
        KeyContext::Policies
    }

    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext {
        if let Some(action @ (Action::Help | Action::QuitNow)) =
            on.canvas.keys.action(KeyContext::Policies, key)
        {
            return LayerNext::Passes(action);
        }
        let LayerContext { below, effects, .. } = on;
        let below: &mut dyn Any = below;
        below.downcast_mut().map_or(LayerNext::Closes, |pager| self.pick(key, pager, effects))
    }

    /// The same policy stays selected when rows arrive.
    fn refresh(&mut self, below: &dyn Screen) {
        if let Some(pager) = (below as &dyn Any).downcast_ref::<Pager>() {
            let name = self.chosen_name.take();
            self.choose(name.as_deref(), &pager.comparisons);
        }
    }

    fn draw(&self, look: LayerFrame) {
        let Some(pager) = (look.below as &dyn Any).downcast_ref::<Pager>() else { return };
        draw(pager, self, look.message, look.frame);
    }
}

/// Draws the picker. A message about an error takes the place of the keys.
fn draw(pager: &Pager, picker: &Picker, message: Option<&Message>, frame: &mut Frame) {
    let (canvas, area) = (&pager.canvas, frame.area());
    let height = height(area.height, picker);
    let place = Rect { y: area.bottom().saturating_sub(height), height, ..area };
    let fault = message.filter(|message| message.is_error);
    let foot =
        fault.map_or_else(|| keys(picker, canvas.keys, place.width), |fault| format!(" {} ", fault.text));
    let inner = frame::draw(canvas, frame, place, title(pager, picker), foot);
    let row = |n: u16| Rect { y: inner.y + n, height: u16::from(n < inner.height), ..inner };
    let shown = picker.shown(&pager.comparisons);
    typed(canvas, picker, shown.len(), frame, row(0));
    let offered: Vec<&EffectivePolicy> = picker.offered().collect();
    let cells = FigureCells::new(pager);
    let columns = FigureColumns::fitting(&cells, &offered, usize::from(inner.width).saturating_sub(3));
    line::spans(frame.buffer_mut(), row(1), &columns.heading(canvas.theme.dim));
    let rows = rows((area.width, area.height), picker);
    let top = picker.top(rows);
    for (n, choice) in shown.iter().enumerate().skip(top).take(rows) {
        let chosen = n == picker.chosen;
        let style = if chosen { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
        let mark = if chosen { canvas.glyphs().chosen } else { " " };
        let mut spans = vec![Span::new(format!("{mark} "), canvas.theme.accent)];
        spans.extend(columns.row(&cells, choice, canvas.glyphs(), style));
        let at = row(2 + (n - top) as u16);
        if chosen {
            line::selected(frame.buffer_mut(), at, &spans, canvas);
        } else {
            line::spans(frame.buffer_mut(), at, &spans);
        }
    }
    if let Some(choice) = shown.get(picker.chosen) {
        let first = inner.height.saturating_sub(prose_rows(area.height));
        for (n, text) in prose(choice, prose_rows(area.height)).into_iter().enumerate() {
            let text = line::head(text, usize::from(inner.width).saturating_sub(2), canvas.glyphs());
            let spans = [Span::plain("  "), Span::new(text, canvas.theme.dim)];
            line::spans(frame.buffer_mut(), row(first + n as u16), &spans);
        }
    }
}

/// Names the output, so that the figures cannot be taken for limits.
fn title(pager: &Pager, picker: &Picker) -> String {
    let sorted = picker.sorting().in_words();
    format!(" Policies: what each makes of {} · by {sorted} ", pager.output.subject.name)
}

/// Returns the keys that fit, the most useful first.
fn keys(picker: &Picker, keys: &KeyMap, width: u16) -> String {
    let key = |action| keys.of(KeyContext::Policies, action);
    let eras = if picker.all { "current".to_owned() } else { format!("all {}", picker.of_all_eras()) };
    let keys = [
        format!("{} use", key(Action::Open)),
        format!("{} back", key(Action::Back)),
        format!("{} {eras}", key(Action::Eras)),
        format!("{} sort", key(Action::Sort)),
        "type to narrow".to_owned(),
        format!("{} reverse", key(Action::SortReverse)),
    ];
    frame::foot(&keys, width)
}

/// Draws the typed text with the cursor, and how many policies it leaves.
fn typed(canvas: &Canvas, picker: &Picker, shown: usize, frame: &mut Frame, area: Rect) {
    let typed = [Span::plain(" "), Span::new(picker.typed(), canvas.theme.accent)];
    line::spans(frame.buffer_mut(), area, &typed);
    let taken = line::width(&typed);
    let count = format!("{shown} of {} ", picker.most().max(shown));
    line::right(frame.buffer_mut(), area, taken, &[Span::new(count, canvas.theme.dim)]);
    let x = area.x.saturating_add(taken as u16);
    frame.set_cursor_position(Position { x: x.min(area.right().saturating_sub(1)), y: area.y });
}

/// Describes a policy: what it does; where that is known from; its era and limits.
fn prose(choice: &EffectivePolicy, rows: u16) -> Vec<String> {
    let policy = &choice.policy;
    let held = match choice.is_current {
        true => String::new(),
        false => policy.era().span().map_or("earlier: ".to_owned(), |span| format!("{span}: ")),
    };
    let summary = format!("{held}{}", policy.summary());
    if rows == 1 {
        return vec![summary];
    }
    let known = format!("{} · {}", policy.source(), policy.confidence().as_str());
    let (version, limits) = (policy.version(), limits(choice));
    let words = [version, limits, format!("limits from: {}", choice.origin())];
    let words: Vec<String> = words.into_iter().filter(|words| !words.is_empty()).collect();
    vec![summary, known, words.join(" · ")]
}
