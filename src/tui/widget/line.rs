//! Single lines of text, cut off where their area ends, and the boxes of pop-ups.

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Clear, Widget};

use crate::text::label::SafeText;

use super::canvas::Canvas;

pub(crate) const DASH: &str = "─";

#[derive(Debug, Clone, Default)]
pub struct Span {
    pub text: SafeText,
    pub style: Style,
}

impl Span {
    pub(crate) fn new(text: impl Into<SafeText>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    pub(crate) fn plain(text: impl Into<SafeText>) -> Self {
        Self::new(text, Style::new())
    }
}

pub(crate) fn width(spans: &[Span]) -> usize {
    spans.iter().map(|span| span.text.columns()).sum()
}

/// Draws text from the left edge; the part that does not fit is cut off.
pub(crate) fn left(buffer: &mut Buffer, area: Rect, text: impl Into<SafeText>, style: Style) {
    spans(buffer, area, &[Span::new(text, style)]);
}

pub(crate) fn spans(buffer: &mut Buffer, area: Rect, spans: &[Span]) {
    if area.height == 0 {
        return;
    }
    let mut x = area.x;
    for Span { text, style } in spans {
        let room = (area.x + area.width).saturating_sub(x);
        if room == 0 {
            return;
        }
        (x, _) = buffer.set_stringn(x, area.y, &**text, usize::from(room), *style);
    }
}

pub(crate) fn rows(
    buffer: &mut Buffer,
    area: Rect,
    texts: impl IntoIterator<Item = impl Into<SafeText>>,
    canvas: &Canvas,
) {
    let room = usize::from(area.width).saturating_sub(2);
    for (text, row) in texts.into_iter().zip(area.rows()) {
        let text = text.into().head(room);
        left(buffer, row, format!(" {text}"), canvas.theme.dim);
    }
}

/// Draws spans from the left edge of a row of a list; the background of the selected one is set off in its whole width.
pub(crate) fn list_row(buffer: &mut Buffer, area: Rect, spans_: &[Span], is_selected: bool, canvas: &Canvas) {
    spans(buffer, area, spans_);
    if is_selected {
        buffer.set_style(Rect { height: area.height.min(1), ..area }, canvas.theme.selected);
    }
}

/// Draws spans against the right edge, if they fit beside the `taken` columns at the left.
pub(crate) fn right(buffer: &mut Buffer, area: Rect, taken: usize, spans_: &[Span]) {
    let needed = width(spans_);
    let room = usize::from(area.width);
    if needed > 0 && taken + needed < room {
        let x = area.x + (room - needed) as u16;
        spans(buffer, Rect { x, width: needed as u16, ..area }, spans_);
    }
}

/// Shortens spans to `columns` columns; the one that does not fit ends in the mark for cut text.
pub(crate) fn cut(spans: Vec<Span>, columns: usize) -> Vec<Span> {
    if width(&spans) <= columns {
        return spans;
    }
    let (mut room, mut fitted) = (columns, Vec::new());
    for Span { text, style } in spans {
        let has_room = text.columns() < room;
        let text = if has_room { text } else { SafeText::new(format!("{text} ")).head(room) };
        room -= text.columns();
        fitted.push(Span { text, style });
        if !has_room {
            break;
        }
    }
    fitted
}

pub(crate) fn vertical_rule(buffer: &mut Buffer, area: Rect, canvas: &Canvas) {
    area.rows().for_each(|row| left(buffer, row, "│", canvas.theme.dim));
}

pub(crate) fn rule(buffer: &mut Buffer, area: Rect, canvas: &Canvas) {
    left(buffer, area, DASH.repeat(usize::from(area.width)), canvas.theme.dim);
}

/// Draws a horizontal rule with text in it: `──── words ────`.
pub(crate) fn titled_rule(buffer: &mut Buffer, area: Rect, words: impl Into<SafeText>, style: Style) {
    let words = words.into();
    let room = usize::from(area.width).saturating_sub(words.columns() + 2);
    let before = room.min(4);
    let text = format!("{} {words} {}", DASH.repeat(before), DASH.repeat(room - before));
    left(buffer, area, text, style);
}

pub(crate) fn centred(
    buffer: &mut Buffer,
    area: Rect,
    words: impl IntoIterator<Item = impl Into<SafeText>>,
    style: Style,
) {
    let words: Vec<SafeText> = words.into_iter().map(Into::into).collect();
    let above = usize::from(area.height).saturating_sub(words.len()) / 3;
    for (text, row) in words.into_iter().zip(area.rows().skip(above)) {
        let width = text.columns().min(usize::from(row.width)) as u16;
        left(buffer, Rect { x: row.x + (row.width - width) / 2, width, ..row }, text, style);
    }
}

/// Draws lines of text in the middle of an area, all from the same column on.
pub(crate) fn block(buffer: &mut Buffer, area: Rect, words: &[SafeText], style: Style) {
    let width = words.iter().map(SafeText::columns).max().unwrap_or(0).min(area.width.into());
    centred(buffer, area, words.iter().map(|text| text.fit(width).padded(width)), style);
}

/// Draws the box of a pop-up, empty, with a title above and below as many of its keys as fit, the most useful first. Returns
/// the area inside it.
pub(crate) fn boxed(
    canvas: &Canvas,
    frame: &mut Frame,
    place: Rect,
    title: impl Into<SafeText>,
    keys: &[String],
) -> Rect {
    let title = title.into().head(usize::from(place.width).saturating_sub(2));
    let foot = SafeText::from(foot(keys, place.width));
    let block = Block::bordered().title(&*title).title_bottom(&*foot).border_style(canvas.theme.dim);
    let inner = block.inner(place);
    Clear.render(place, frame.buffer_mut());
    block.render(place, frame.buffer_mut());
    inner
}

fn foot(keys: &[String], width: u16) -> String {
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
    use crate::tui::widget::theme::Theme;

    use super::*;

    const RAW: &str = "a\u{1b}[31m\u{202e}.log";
    const SAFE: &str = "a^[[31m<202E>.log";

    /// Returns what `draw` draws on a line of 40 columns.
    fn drawn(draw: impl FnOnce(&mut Buffer, Rect)) -> String {
        let area = Rect::new(0, 0, 40, 1);
        let mut buffer = Buffer::empty(area);
        draw(&mut buffer, area);
        buffer.content.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned()
    }

    #[test]
    fn a_raw_path_is_safe_however_it_is_drawn() {
        let plain = Style::new();
        let spans_of = |text: &str| [Span::new(text, plain), Span::plain(text.to_owned())];
        let table = [
            (drawn(|buffer, area| left(buffer, area, RAW, plain)), SAFE.to_owned()),
            (drawn(|buffer, area| spans(buffer, area, &spans_of(RAW))), SAFE.repeat(2)),
            (
                drawn(|buffer, area| right(buffer, area, 0, &spans_of(RAW))),
                format!("      {}", SAFE.repeat(2)),
            ),
            (drawn(|buffer, area| centred(buffer, area, [RAW], plain)), format!("           {SAFE}")),
            (
                drawn(|buffer, area| titled_rule(buffer, area, RAW, plain)),
                format!("──── {SAFE} {}", "─".repeat(17)),
            ),
        ];
        for (drawn, expected) in table {
            assert_eq!(drawn, expected);
        }
        assert_eq!(width(&spans_of(RAW)), 2 * SAFE.len());
        assert_eq!(&*SafeText::from(RAW).head(8), "a^[[31m…");
        assert_eq!(&*SafeText::from(RAW).head(0), "");
    }

    #[test]
    fn everything_drawn_passes_the_sanitiser() {
        let marks = format!("a{}", "\u{301}".repeat(1000));
        for (text, start) in
            [("x\u{e0068}\u{202e}\u{9b}y", "x<E0068><202E><9B>y"), (marks.as_str(), "a\u{301}")]
        {
            let area = Rect::new(0, 0, 40, 1);
            let mut buffer = Buffer::empty(area);
            left(&mut buffer, area, text, Style::new());
            let drawn: String = buffer.content.iter().map(|cell| cell.symbol()).collect();
            assert!(drawn.starts_with(start), "{drawn:?}");
            assert!(buffer.content.iter().all(|cell| cell.symbol().len() <= 32), "{drawn:?}");
        }
    }

    #[test]
    fn raw_titles_are_drawn_safe() {
        let canvas = Canvas::new((20, 3), Theme::named("plain"), true);
        let mut terminal = ratatui::Terminal::new(ratatui::backend::TestBackend::new(20, 3)).unwrap();
        let mut inner = Rect::default();
        terminal
            .draw(|frame| {
                inner = boxed(&canvas, frame, frame.area(), "a\u{1b}[2J", &["b\u{202e}".to_owned()])
            })
            .unwrap();
        assert_eq!(inner, Rect::new(1, 1, 18, 1));
        let drawn: String = terminal.backend().buffer().content.iter().map(|cell| cell.symbol()).collect();
        assert_eq!(drawn, "┌a^[[2J────────────┐│                  │└ b<202E> ─────────┘");
    }
}
