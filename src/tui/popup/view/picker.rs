//! Draws the policy picker, in a box.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

use crate::human::{limit, lines, thousands};
use crate::preview::Unit;
use crate::text::label::SafeText;
use crate::tui::pager::subject::Choice;
use crate::tui::popup::picker::Picker;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::{frame, layout};

/// Draws the picker.
pub(crate) fn draw(canvas: &Canvas, picker: &Picker, frame: &mut Frame, area: Rect) {
    let shown = picker.shown();
    let place = layout::overlay(
        area,
        116,
        (picker.most() as u16).saturating_add(3).min(area.height.saturating_sub(4)),
    );
    let eras = if picker.all {
        "current only".to_owned()
    } else {
        format!("all {}, earlier ones too", picker.of_all_eras())
    };
    let foot = format!(" type to narrow · ↑ ↓ · Tab {eras} · Enter use · Esc back ");
    let inner = frame::draw(canvas, frame, place, " Policies ", foot);
    let typed = [Span::plain(" "), Span::new(picker.typed(), canvas.theme.accent)];
    line::spans(frame.buffer_mut(), Rect { height: inner.height.min(1), ..inner }, &typed);
    let x = inner.x + line::width(&typed) as u16;
    frame.set_cursor_position(Position { x: x.min(inner.right().saturating_sub(1)), y: inner.y });
    let rows = usize::from(inner.height.saturating_sub(1));
    let top = (picker.chosen + 1).saturating_sub(rows.max(1));
    let widest = shown.iter().map(|choice| name(choice).columns()).max().unwrap_or(0).max(20);
    for (n, choice) in shown.iter().enumerate().skip(top).take(rows) {
        let at = Rect { y: inner.y + 1 + (n - top) as u16, height: 1, ..inner };
        let spans = row(canvas, choice, widest, n == picker.chosen);
        line::spans(frame.buffer_mut(), at, &spans);
    }
}

fn row(canvas: &Canvas, choice: &Choice, widest: usize, chosen: bool) -> Vec<Span> {
    let mark = if chosen { canvas.glyphs().chosen } else { " " };
    let style = if chosen { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
    let limits = limits(choice);
    vec![
        Span::new(format!("{mark} "), canvas.theme.accent),
        Span::new(name(choice).padded(widest + 2), style),
        Span::new(format!("{limits:<24}  "), style),
        Span::new(format!("{}{}", held(choice), choice.policy.summary()), canvas.theme.dim),
    ]
}

fn name(choice: &Choice) -> SafeText {
    choice.policy.name().into()
}

/// Describes when a policy of an earlier era held; empty for a current one.
fn held(choice: &Choice) -> String {
    if choice.is_current {
        String::new()
    } else {
        choice.policy.era().span().map_or("earlier: ".into(), |span| format!("{span}: "))
    }
}

/// Formats the limits: `2,000 lines, 50 KB`.
fn limits(choice: &Choice) -> String {
    let policy = &choice.policy;
    let most = policy.max_size().map(|most| match policy.unit() {
        Unit::Bytes => limit(most),
        unit => format!("{} {}", thousands(most), unit.as_str()),
    });
    policy.max_lines().map(lines).into_iter().chain(most).collect::<Vec<_>>().join(", ")
}
