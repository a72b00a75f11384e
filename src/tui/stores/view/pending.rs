//! Draws how much is marked for deletion, on the rule of every view.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::human::{count, size};
use crate::tui::stores::StoresScreen;
use crate::tui::widget::line::{self, Span};

/// Columns of the rule that stay at its right end.
const END: u16 = 3;

/// Draws it at the right end of a rule; nothing if nothing is marked.
pub(crate) fn draw(screen: &StoresScreen, frame: &mut Frame, rule: Rect) {
    let pending = &screen.listing.pending;
    if pending.is_empty() || rule.height == 0 {
        return;
    }
    let words = format!(" {} to delete ({}) ", count(pending.len() as u64, "output"), size(pending.bytes()));
    let area = Rect { width: rule.width.saturating_sub(END), ..rule };
    // The rule is dim, and what is drawn on it would be, too.
    let style = screen.canvas.theme.warning.remove_modifier(Modifier::DIM);
    line::right(frame.buffer_mut(), area, 0, &[Span::new(words, style)]);
}
