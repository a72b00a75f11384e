//! The box of a pop-up: empty, with a border, a title above and keys below.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear, Widget};

use crate::text::label::SafeText;

use super::canvas::Canvas;

/// Draws the box and returns the area inside it.
pub(crate) fn draw(
    canvas: &Canvas,
    frame: &mut Frame,
    place: Rect,
    title: impl Into<SafeText>,
    foot: impl Into<SafeText>,
) -> Rect {
    let (title, foot) = (title.into(), foot.into());
    let block = Block::bordered().title(&*title).title_bottom(&*foot).border_style(canvas.theme.dim);
    let inner = block.inner(place);
    Clear.render(place, frame.buffer_mut());
    block.render(place, frame.buffer_mut());
    inner
}

/// Returns the keys for the lower border of a box of `width` columns: as many as fit, the most useful first.
pub(crate) fn foot(keys: &[String], width: u16) -> String {
    let mut foot = String::new();
    for key in keys {
        let longer = if foot.is_empty() { key.clone() } else { format!("{foot} · {key}") };
        if longer.chars().count() + 4 > usize::from(width) {
            break;
        }
        foot = longer;
    }
    format!(" {foot} ")
}

#[cfg(test)]
mod tests {
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use crate::tui::widget::theme::Theme;

    use super::*;

    #[test]
    fn raw_titles_are_drawn_safe() {
        let canvas = Canvas::new((20, 3), Theme::plain(), true);
        let mut terminal = Terminal::new(TestBackend::new(20, 3)).unwrap();
        let mut inner = Rect::default();
        terminal
            .draw(|frame| inner = draw(&canvas, frame, frame.area(), "a\u{1b}[2J", "b\u{202e}".to_owned()))
            .unwrap();
        assert_eq!(inner, Rect::new(1, 1, 18, 1));
        let drawn: String = terminal.backend().buffer().content.iter().map(|cell| cell.symbol()).collect();
        assert_eq!(drawn, "┌a^[[2J────────────┐│                  │└b<202E>───────────┘");
    }
}
