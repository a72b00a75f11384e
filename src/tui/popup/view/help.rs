//! Help: the table of keys under its headings, and the legend of the marks on the screen.

use ratatui::Frame;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use crate::tui::keys::TABLE;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::glyphs::Glyphs;
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::{frame, layout};

/// The columns reserved for keys.
const KEYS: usize = 18;

enum HelpLine {
    Heading(&'static str),
    Key(String, &'static str),
    Blank,
}

fn rows(glyphs: &Glyphs) -> Vec<HelpLine> {
    let mut rows = Vec::new();
    let mut group = "";
    for binding in TABLE {
        if binding.group != group {
            if !group.is_empty() {
                rows.push(HelpLine::Blank);
            }
            group = binding.group;
            rows.push(HelpLine::Heading(group));
        }
        rows.push(HelpLine::Key(binding.keys.to_owned(), binding.what));
    }
    rows.push(HelpLine::Blank);
    rows.push(HelpLine::Heading("Marks on the screen"));
    rows.extend(legend(glyphs).map(|(mark, what)| HelpLine::Key(mark, what)));
    rows
}

/// Returns each mark on the screen with its meaning.
fn legend(glyphs: &Glyphs) -> impl Iterator<Item = (String, &'static str)> {
    let Glyphs { notice, notice_is, kept, lost, all, some, none, here, found, states, .. } = glyphs;
    let of_glyphs = [
        (format!("{notice} {notice_is}"), "text that the agent added: the notice, word for word"),
        (format!("{kept} after a number"), "the model got this line"),
        (format!("{lost} after a number"), "the model did not get this line"),
        (format!("{all} {some} {none} in the map"), "all, some, none of this part of the file was kept"),
        (format!("{here} in the map"), "the position of Spill in the file"),
        (format!("{found} in the map"), "a match of the search"),
        (format!("{states} 240 states"), "a progress line: its last state of so many"),
    ];
    let others = [
        ("~ before a number", "approximate: lines are still being counted"),
        ("! in Stores", "others can read this file too"),
        ("^M <9B> reversed", "control bytes and bytes that are not UTF-8, visible"),
        ("^[[1m dim", "an escape sequence as text, as the model got it"),
    ];
    of_glyphs.into_iter().chain(others.map(|(mark, what)| (mark.to_owned(), what)))
}

fn place(area: Rect, rows: usize) -> Rect {
    layout::overlay(area, 76, rows as u16 + 2)
}

/// Returns the last row to which help can be scrolled.
pub fn last_top(canvas: &Canvas, area: Rect) -> u16 {
    let rows = rows(canvas.glyphs()).len();
    let place = place(area, rows);
    (rows as u16).saturating_sub(place.height.saturating_sub(2))
}

/// Draws help, scrolled down to row `top`.
pub fn draw(canvas: &Canvas, frame: &mut Frame, area: Rect, top: u16) {
    let rows = rows(canvas.glyphs());
    let place = place(area, rows.len());
    let more = top < last_top(canvas, area);
    let foot = if more { " j more · Esc back " } else { " Esc back " };
    let inner = frame::draw(canvas, frame, place, " Keys ", foot);
    for (n, row) in rows.iter().skip(usize::from(top)).take(usize::from(inner.height)).enumerate() {
        let at = Rect { y: inner.y + n as u16, height: 1, ..inner };
        line::spans(frame.buffer_mut(), at, &spans(canvas, row));
    }
}

fn spans(canvas: &Canvas, row: &HelpLine) -> Vec<Span> {
    match row {
        HelpLine::Blank => Vec::new(),
        HelpLine::Heading(text) => vec![Span::new(format!(" {text}"), canvas.theme.active)],
        HelpLine::Key(keys, what) => {
            let pad = " ".repeat(KEYS.saturating_sub(keys.width()));
            vec![Span::new(format!("   {keys}{pad}"), canvas.theme.accent), Span::plain(*what)]
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tui::widget::theme::Theme;

    use super::*;

    #[test]
    fn every_row_fits_a_screen_of_80_columns() {
        let all = [true, false].map(|unicode| {
            let canvas = Canvas { size: (80, 24), theme: Theme::plain(), unicode };
            rows(canvas.glyphs())
        });
        let place = place(Rect::new(0, 0, 80, 24), all[0].len());
        let room = usize::from(place.width) - 2 - 3 - KEYS;
        for row in all.iter().flatten() {
            if let HelpLine::Key(keys, what) = row {
                assert!(keys.width() <= KEYS && what.width() <= room, "{keys} {what}");
            }
        }
    }
}
