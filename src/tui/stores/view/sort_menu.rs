//! Draws the menu of columns by which the list can be sorted.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::store::SortBy;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::stores::StoresScreen;
use crate::tui::stores::sort_menu::{LETTERS, SortMenu, column, order};
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::{frame, layout};

/// Draws the menu in a box. The column in use shows its direction; picked again, it is reversed.
pub(crate) fn draw(screen: &StoresScreen, menu: &SortMenu, frame: &mut Frame, area: Rect) {
    let (canvas, listing) = (&screen.canvas, &screen.listing);
    let place = layout::overlay(area, 46, SortBy::ALL.len() as u16 + 2);
    let back = canvas.keys.of(KeyContext::Stores, Action::Back);
    let foot = format!(" a letter picks · again reverses · {back} back ");
    let inner = frame::draw(canvas, frame, place, " Sort by ", foot);
    for (n, (by, letter)) in SortBy::ALL.into_iter().zip(LETTERS).enumerate().take(inner.height.into()) {
        let used = listing.sort() == by;
        let mark = if n == menu.chosen { canvas.glyphs().chosen } else { " " };
        let style = if used { canvas.theme.active } else { canvas.theme.bar };
        let row = [
            Span::new(format!("{mark} "), canvas.theme.accent),
            Span::new(format!("{letter}  "), canvas.theme.accent),
            Span::new(column(by), style),
            Span::plain(" ".repeat(12_usize.saturating_sub(column(by).len()))),
            Span::new(
                order(by, used && listing.is_reversed()),
                if used { canvas.theme.bar } else { canvas.theme.dim },
            ),
        ];
        line::spans(frame.buffer_mut(), Rect { y: inner.y + n as u16, height: 1, ..inner }, &row);
    }
}
