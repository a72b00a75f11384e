//! Draws the prompt at the bottom of the screen.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};

use crate::tui::event::Message;
use crate::tui::popup::prompt::{Prompt, Purpose};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};

/// Draws the prompt with its cursor, and at the right end `note`, or else what can be typed.
pub(crate) fn draw(
    canvas: &Canvas,
    message: Option<&Message>,
    (prompt, note): (&Prompt, Option<Span>),
    frame: &mut Frame,
    area: Rect,
) {
    let label = prompt.label();
    let fault = message.filter(|message| message.is_error);
    let spans = [
        Span::new(label.as_str(), canvas.theme.accent),
        Span::plain(prompt.text()),
        Span::new(fault.map_or_else(String::new, |fault| format!(" — {}", fault.text)), canvas.theme.error),
    ];
    line::spans(frame.buffer_mut(), area, &spans);
    if fault.is_none() {
        let hint = match prompt.purpose() {
            Purpose::Search | Purpose::SearchBack => "Enter search · ↑ earlier · Esc cancel ",
            Purpose::Lines { .. } => "! not · Tab lost lines · empty shows all · Esc cancel ",
            Purpose::GoTo => "line · 50% · 4096b ",
            Purpose::Find => "what the model should get; empty: errors · Esc cancel ",
            _ => "Enter · Esc cancel ",
        };
        let hint = Span::new(hint, canvas.theme.dim);
        line::right(frame.buffer_mut(), area, line::width(&spans), &[note.unwrap_or(hint)]);
    }
    let x = area.x + (label.chars().count() + prompt.cursor()) as u16;
    frame.set_cursor_position(Position { x: x.min(area.x + area.width.saturating_sub(1)), y: area.y });
}
