//! Draws the policy picker, in a box.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::{Modifier, Style};

use crate::human::{limit_in, lines};
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
    let widest = |text: fn(&Choice) -> SafeText| shown.iter().map(|choice| text(choice).columns()).max();
    let columns = (widest(name).unwrap_or(0).max(20), widest(limits).unwrap_or(0));
    for (n, choice) in shown.iter().enumerate().skip(top).take(rows) {
        let at = Rect { y: inner.y + 1 + (n - top) as u16, height: 1, ..inner };
        let mut spans = row(canvas, choice, columns, n == picker.chosen);
        let room = usize::from(at.width).saturating_sub(line::width(&spans) + 1);
        let summary = format!("{}{}", held(choice), choice.policy.summary());
        spans.push(Span::new(line::head(summary, room, canvas.glyphs()), canvas.theme.dim));
        if n == picker.chosen {
            line::selected(frame.buffer_mut(), at, &spans, canvas);
        } else {
            line::spans(frame.buffer_mut(), at, &spans);
        }
    }
}

/// Returns the name and the limits of a policy, in columns of these widths.
fn row(canvas: &Canvas, choice: &Choice, (names, figures): (usize, usize), chosen: bool) -> Vec<Span> {
    let mark = if chosen { canvas.glyphs().chosen } else { " " };
    let style = if chosen { Style::new().add_modifier(Modifier::BOLD) } else { Style::new() };
    vec![
        Span::new(format!("{mark} "), canvas.theme.accent),
        Span::new(name(choice).padded(names + 2), style),
        Span::new(limits(choice).padded(figures + 2), style),
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
fn limits(choice: &Choice) -> SafeText {
    let policy = &choice.policy;
    let most = policy.max_size().map(|most| limit_in(most, policy.unit().words()));
    policy.max_lines().map(lines).into_iter().chain(most).collect::<Vec<_>>().join(", ").into()
}
