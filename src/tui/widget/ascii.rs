//! The fallback for ASCII-only terminals: replaces all other characters on a screen.

use ratatui::buffer::Buffer;

use crate::text::label::like;

/// Replaces every symbol that is not ASCII with a similar one that is.
pub(crate) fn replace(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() {
            let like = cell.symbol().chars().next().and_then(like).unwrap_or('?');
            cell.set_char(like);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn nothing_but_ascii_is_left() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 18, 1));
        buffer.set_string(0, 0, "a · b… ┌─┐ ↑ ≈≠日e\u{301}", Style::new());
        replace(&mut buffer);
        let text: String = buffer.content.iter().map(|cell| cell.symbol()).collect();
        assert_eq!(text, "a - b. +-+ ^ ~!? ?");
    }
}
