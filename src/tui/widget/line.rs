//! Single lines of words: cut to fit, never past their place.

use std::borrow::Cow;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::text::label::{columns_of, label};

/// A stretch of text in one look.
pub type Span = (String, Style);

/// Columns that some spans take.
pub fn width(spans: &[Span]) -> usize {
    spans.iter().map(|(text, _)| safe(text).width()).sum()
}

/// Words as they may be drawn: names and messages have passed the sanitiser before, and nothing comes round it.
fn safe(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(label(text.as_bytes()))
    }
}

/// Draws text from the left; what does not fit is cut off.
pub fn left(buffer: &mut Buffer, area: Rect, text: &str, style: Style) {
    spans(buffer, area, &[(text.to_owned(), style)]);
}

/// Draws spans from the left.
pub fn spans(buffer: &mut Buffer, area: Rect, spans: &[Span]) {
    if area.height == 0 {
        return;
    }
    let mut x = area.x;
    for (text, style) in spans {
        let room = (area.x + area.width).saturating_sub(x);
        if room == 0 {
            return;
        }
        (x, _) = buffer.set_stringn(x, area.y, safe(text), usize::from(room), *style);
    }
}

/// Draws spans against the right edge, if they fit into what is left of the line.
pub fn right(buffer: &mut Buffer, area: Rect, taken: usize, spans_: &[Span]) {
    let needed = width(spans_);
    let room = usize::from(area.width);
    if needed > 0 && taken + needed < room {
        let x = area.x + (room - needed) as u16;
        spans(buffer, Rect { x, width: needed as u16, ..area }, spans_);
    }
}

/// The start of a text, in at most so many columns; prose says at its start what it is about.
pub fn head(text: &str, columns: usize, unicode: bool) -> String {
    if columns_of(text) <= columns {
        return text.to_owned();
    }
    let mark = if unicode { "…" } else { "." };
    let mut used = mark.width();
    let fits = |grapheme: &&str| {
        used += grapheme.width();
        used <= columns
    };
    let head: String = text.graphemes(true).take_while(fits).collect();
    if columns > 0 { head + mark } else { head }
}

/// A rule across.
pub fn rule(buffer: &mut Buffer, area: Rect, style: Style, unicode: bool) {
    let dash = if unicode { "─" } else { "-" };
    left(buffer, area, &dash.repeat(usize::from(area.width)), style);
}

/// A rule with words in it: `──── words ────`.
pub fn ruled(buffer: &mut Buffer, area: Rect, words: &str, style: Style, unicode: bool) {
    let dash = if unicode { "─" } else { "-" };
    let room = usize::from(area.width).saturating_sub(words.width() + 2);
    let before = room.min(4);
    let text = format!("{} {words} {}", dash.repeat(before), dash.repeat(room - before));
    left(buffer, area, &text, style);
}

/// Words in the middle of an empty place.
pub fn centred(buffer: &mut Buffer, area: Rect, words: &[String], style: Style) {
    let top = area.y + area.height.saturating_sub(words.len() as u16) / 3;
    for (n, text) in words.iter().enumerate() {
        let y = top + n as u16;
        if y >= area.y + area.height {
            return;
        }
        let width = text.width().min(usize::from(area.width)) as u16;
        let x = area.x + (area.width - width) / 2;
        left(buffer, Rect { x, y, width, height: 1 }, text, style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_drawn_comes_round_the_sanitiser() {
        let marks = format!("a{}", "\u{301}".repeat(1000));
        for (text, start) in [("x\u{e0068}\u{202e}\u{9b}y", "x<E0068><202E><9B>y"), (&marks, "a\u{301}")] {
            let area = Rect::new(0, 0, 40, 1);
            let mut buffer = Buffer::empty(area);
            left(&mut buffer, area, text, Style::new());
            let drawn: String = buffer.content.iter().map(|cell| cell.symbol()).collect();
            assert!(drawn.starts_with(start), "{drawn:?}");
            assert!(buffer.content.iter().all(|cell| cell.symbol().len() <= 32), "{drawn:?}");
        }
    }
}
