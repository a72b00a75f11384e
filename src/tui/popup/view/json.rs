//! Draws a line of JSON, indented, in a box.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::view::pane;
use crate::tui::popup::json::JsonView;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::frame;

/// Draws the box.
pub(crate) fn draw(canvas: &Canvas, json: &JsonView, frame: &mut Frame) {
    let key = |action| canvas.keys.of(KeyContext::Pager, action);
    let [down, start, end, back] = [Action::Down, Action::Start, Action::End, Action::Back].map(key);
    let foot = match json.has_more(canvas) {
        true => format!(" {down} more · {start} {end} ends · {back} back "),
        false => format!(" {back} back "),
    };
    let title = format!(" {} ", json.title);
    let inner = frame::draw(canvas, frame, JsonView::place(canvas), title, foot);
    let rows = json.scrolling(canvas, |scroll, top| scroll.screen(scroll.row_at(top)));
    for (row, y) in rows.iter().zip(inner.y..inner.bottom()) {
        let mut x = inner.x;
        for cell in &row.cells {
            let style = pane::kind_style(cell.kind, &canvas.theme).unwrap_or_default();
            x = pane::put(frame.buffer_mut(), Rect { y, height: 1, ..inner }, x, cell, style);
        }
    }
}
