//! Help: the table of keys under its headings, and what the marks on the screen mean.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::widgets::{Block, Clear, Widget};
use unicode_width::UnicodeWidthStr;

use crate::tui::keys::TABLE;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::layout;
use crate::tui::widget::line::{self, Span};

/// Columns for keys.
const KEYS: usize = 18;

enum HelpLine {
    Heading(&'static str),
    Key(String, &'static str),
    Blank,
}

fn rows(unicode: bool) -> Vec<HelpLine> {
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
    let legend = if unicode { LEGEND } else { ASCII_LEGEND };
    rows.extend(legend.iter().map(|(mark, what)| HelpLine::Key((*mark).to_owned(), what)));
    rows
}

const LEGEND: &[(&str, &str)] = &[
    ("▌ and yellow", "text that the agent added: the notice, word for word"),
    ("│ after a number", "the model got this line"),
    ("┊ after a number", "the model did not get this line"),
    ("█ ▒ ░ in the map", "all, some, none of this part of the file was kept"),
    ("▸ in the map", "where Spill stands in the file"),
    ("• in the map", "the search finds something here"),
    ("~ before a number", "about: lines are still being counted"),
    ("! in Stores", "others can read this file too"),
    ("^M <9B> reversed", "control bytes and bytes that are not UTF-8, visible"),
];

const ASCII_LEGEND: &[(&str, &str)] = &[
    ("| at the left", "text that the agent added: the notice, word for word"),
    ("| after a number", "the model got this line"),
    (": after a number", "the model did not get this line"),
    ("# + . in the map", "all, some, none of this part of the file was kept"),
    ("> in the map", "where Spill stands in the file"),
    ("* in the map", "the search finds something here"),
    ("~ before a number", "about: lines are still being counted"),
    ("! in Stores", "others can read this file too"),
    ("^M <9B> reversed", "control bytes and bytes that are not UTF-8, visible"),
];

fn place(area: Rect) -> Rect {
    layout::overlay(area, 76, rows(true).len() as u16 + 2)
}

/// The furthest that help can be scrolled.
pub fn last_top(size: (u16, u16), unicode: bool) -> u16 {
    let place = place(Rect::new(0, 0, size.0, size.1));
    (rows(unicode).len() as u16).saturating_sub(place.height.saturating_sub(2))
}

/// Draws help from a row on.
pub fn draw(canvas: &Canvas, frame: &mut Frame, area: Rect, top: u16) {
    let place = place(area);
    let more = top < last_top((area.width, area.height), canvas.unicode);
    let foot = if more { " j more · Esc back " } else { " Esc back " };
    Clear.render(place, frame.buffer_mut());
    let block = Block::bordered().title(" Keys ").title_bottom(foot).border_style(canvas.theme.dim);
    let inner = block.inner(place);
    block.render(place, frame.buffer_mut());
    for (n, row) in
        rows(canvas.unicode).iter().skip(usize::from(top)).take(usize::from(inner.height)).enumerate()
    {
        let at = Rect { y: inner.y + n as u16, height: 1, ..inner };
        line::spans(frame.buffer_mut(), at, &spans(canvas, row));
    }
}

fn spans(canvas: &Canvas, row: &HelpLine) -> Vec<Span> {
    match row {
        HelpLine::Blank => Vec::new(),
        HelpLine::Heading(text) => vec![(format!(" {text}"), canvas.theme.active)],
        HelpLine::Key(keys, what) => {
            let pad = " ".repeat(KEYS.saturating_sub(keys.width()));
            vec![(format!("   {keys}{pad}"), canvas.theme.accent), ((*what).to_owned(), Style::new())]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_fits_a_screen_of_80_columns() {
        let place = place(Rect::new(0, 0, 80, 24));
        let room = usize::from(place.width) - 2 - 3 - KEYS;
        for row in rows(true).iter().chain(&rows(false)) {
            if let HelpLine::Key(keys, what) = row {
                assert!(keys.width() <= KEYS && what.width() <= room, "{keys} {what}");
            }
        }
    }
}
