//! Draws the map of the whole file between the panes: what was kept, what was lost, and the current position.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::tui::pager::Pager;
use crate::tui::pager::output::OpenOutput;
use crate::tui::pager::share::{Share, share};
use crate::tui::widget::layout::Side;
use crate::tui::widget::line::{self, Span};

/// Draws the map. Its rows divide the file into equal parts, from start to end.
pub(crate) fn draw(pager: &Pager, output: &OpenOutput, buffer: &mut Buffer, area: Rect) {
    let len = output.view.len();
    let rows = usize::from(area.height);
    if len == 0 || rows == 0 {
        return;
    }
    let glyphs = pager.canvas.glyphs();
    let top = pager.panes.top(Side::Spill) as usize;
    let at = |row: usize| (len as u128 * row as u128 / rows as u128) as usize;
    for row in 0..rows {
        let stretch = at(row)..at(row + 1).max(at(row) + 1);
        let (mark, mut style) = look(pager, share(&output.kept, &stretch));
        let finds = has_finds(pager, output, &stretch);
        if finds {
            style = pager.canvas.theme.accent;
        }
        let here = stretch.contains(&top) || (row + 1 == rows && top >= stretch.end);
        let pointer = if here { glyphs.here } else { " " };
        let find = if finds { glyphs.found } else { " " };
        let accent = pager.canvas.theme.accent;
        let spans = [Span::new(pointer, accent), Span::new(mark, style), Span::new(find, accent)];
        line::spans(buffer, Rect { y: area.y + row as u16, height: 1, ..area }, &spans);
    }
}

/// Whether a range of the file has a match or, without a search, a line that the filter shows.
fn has_finds(pager: &Pager, output: &OpenOutput, stretch: &Range<usize>) -> bool {
    match &output.sift {
        _ if pager.find.pattern.is_some() => pager.find.tally.counts.any_in(stretch),
        Some(sift) => sift.any_in(output.files(), stretch),
        None => false,
    }
}

fn look(pager: &Pager, share: Share) -> (&'static str, Style) {
    let (theme, glyphs) = (&pager.canvas.theme, pager.canvas.glyphs());
    match share {
        Share::Whole => (glyphs.all, Style::new()),
        Share::Some => (glyphs.some, theme.warning),
        Share::None => (glyphs.none, theme.warning),
    }
}
