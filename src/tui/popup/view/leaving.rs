//! Draws the question asked before the screens are left, on the status line.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::tui::popup::leaving::Question;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};

/// Draws the question and the keys that answer it.
pub(crate) fn draw(canvas: &Canvas, question: Question, frame: &mut Frame, area: Rect) {
    let [what, keys] = question.words();
    let spans = [
        Span::plain(" "),
        Span::new(what, canvas.theme.warning),
        Span::plain("  "),
        Span::new(keys, canvas.theme.accent),
    ];
    line::spans(frame.buffer_mut(), area, &spans);
}
