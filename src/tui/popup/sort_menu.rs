//! The menu of columns to sort by, as a pop-up.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::tui::keys::{Action, KeyContext};
use crate::tui::screen::{Layer, LayerContext, LayerFrame, LayerNext};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::sort_menu::{SortMenu, SortPicked};
use crate::tui::widget::{frame, layout};

impl Layer for SortMenu {
    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext {
        match self.key(key, on.canvas.keys) {
            SortPicked::Nothing => return LayerNext::Stays,
            SortPicked::Closed => {}
            SortPicked::Column(column) => on.below.sort_by(column, on.effects),
        }
        LayerNext::Closes
    }

    fn draw(&self, look: LayerFrame) {
        let area = look.frame.area();
        draw(look.canvas, self, look.frame, area);
    }
}

/// Draws the menu in a box. The column in use shows its direction; picked again, it is reversed.
fn draw(canvas: &Canvas, menu: &SortMenu, frame: &mut Frame, area: Rect) {
    let place = layout::overlay(area, 46, menu.columns.len() as u16 + 2);
    let back = canvas.keys.of(KeyContext::Stores, Action::Back);
    let foot = format!(" a letter picks · again reverses · {back} back ");
    let inner = frame::draw(canvas, frame, place, " Sort by ", foot);
    for (n, column) in menu.columns.iter().enumerate().take(inner.height.into()) {
        let used = menu.used == n;
        let mark = if n == menu.chosen { canvas.glyphs().chosen } else { " " };
        let style = if used { canvas.theme.active } else { canvas.theme.bar };
        let row = [
            Span::new(format!("{mark} "), canvas.theme.accent),
            Span::new(format!("{}  ", column.letter), canvas.theme.accent),
            Span::new(column.name, style),
            Span::plain(" ".repeat(12_usize.saturating_sub(column.name.len()))),
            Span::new(
                column.order(used && menu.reversed),
                if used { canvas.theme.bar } else { canvas.theme.dim },
            ),
        ];
        line::spans(frame.buffer_mut(), Rect { y: inner.y + n as u16, height: 1, ..inner }, &row);
    }
}
