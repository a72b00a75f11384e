//! Draws the screens from the state, which it never changes.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::human::{count, size};
use crate::store::Pending;

use super::app::App;
use super::screen::{LayerFrame, StatusLine};
use super::widget::cost::Cost;
use super::widget::layout;
use super::widget::line::{self, Span};
use super::widget::theme::Theme;

/// Below this many rows there is room for one line only, even of a list, which may stand in a strip beside an agent.
const LEAST_ROWS: u16 = 3;

/// Columns of the rule that stay at its right end.
const END: u16 = 3;

/// Draws everything. `cost` counts what was read and laid out for it.
pub fn draw(app: &App, frame: &mut Frame, cost: &Cost) {
    let area = frame.area();
    let canvas = &app.canvas;
    if area.width < layout::LEAST.0 || area.height < LEAST_ROWS {
        return line::left(frame.buffer_mut(), area, layout::TOO_SMALL, canvas.theme.bar);
    }
    let asks = app.layers().next_back().is_some_and(|layer| layer.has_status_row());
    let Some(top) = app.top() else { return };
    let message = top.message();
    let status = (!asks).then_some(StatusLine { count: app.count, message });
    let rows = top.draw(status, frame, area, cost);
    if let Some(pending) = app.screens().find_map(|screen| screen.pending()) {
        draw_pending(pending, &canvas.theme, frame, rows.rule);
    }
    for layer in app.layers() {
        layer.draw(LayerFrame { canvas, below: top, message, frame, status: rows.status, cost });
    }
    if !canvas.unicode {
        super::widget::ascii::replace(frame.buffer_mut());
    }
    super::widget::wide::settle(frame.buffer_mut());
}

/// Draws how much is marked for deletion at the right end of a rule.
fn draw_pending(pending: &Pending, theme: &Theme, frame: &mut Frame, rule: Rect) {
    if rule.height == 0 {
        return;
    }
    let words = format!(" {} to delete ({}) ", count(pending.len() as u64, "output"), size(pending.bytes()));
    let area = Rect { width: rule.width.saturating_sub(END), ..rule };
    // The rule is dim, and what is drawn on it would be, too.
    let style = theme.warning.remove_modifier(Modifier::DIM);
    line::right(frame.buffer_mut(), area, 0, &[Span::new(words, style)]);
}
