//! Draws the map of the whole file at the right edge: what was kept, what was lost, errors, matches, and the current position.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::text::search::Severity;
use crate::tui::pager::Pager;
use crate::tui::pager::event::Counting;
use crate::tui::pager::fates::{Share, share};
use crate::tui::pager::output::OpenOutput;
use crate::tui::widget::layout::Side;
use crate::tui::widget::line;

/// Draws the map. Its rows divide the file into equal parts, from start to end.
pub(crate) fn draw(pager: &Pager, output: &OpenOutput, buffer: &mut Buffer, area: Rect) {
    let len = output.view.len();
    let rows = usize::from(area.height);
    if len == 0 || rows == 0 {
        return;
    }
    let top = pager.panes.top(Side::Spill) as usize;
    let at = |row: usize| (len as u128 * row as u128 / rows as u128) as usize;
    for row in 0..rows {
        let stretch = at(row)..at(row + 1).max(at(row) + 1);
        let is_here = stretch.contains(&top) || (row + 1 == rows && top >= stretch.end);
        let (mark, style) = look(pager, output, &stretch, is_here);
        line::left(buffer, Rect { y: area.y + row as u16, height: 1, ..area }, mark, style);
    }
}

/// Returns the mark of a part of the file, and its style. The position stands out above all, then errors, then matches.
fn look(pager: &Pager, output: &OpenOutput, stretch: &Range<usize>, is_here: bool) -> (&'static str, Style) {
    let (theme, glyphs) = (&pager.canvas.theme, pager.canvas.glyphs());
    let finds = has_finds(pager, output, stretch);
    let fails = pager.tally(Counting::Severity(Severity::Error)).counts.any_in(stretch);
    let (shade, style) = match share(&output.kept, stretch) {
        Share::Whole => (glyphs.all, Style::new()),
        Share::Some => (glyphs.some, theme.warning),
        Share::None => (glyphs.none, theme.warning),
    };
    let mark = match (is_here, fails, finds) {
        (true, ..) => glyphs.here,
        (_, true, _) => glyphs.error,
        (_, _, true) => glyphs.found,
        _ => shade,
    };
    let style = match (finds, fails) {
        (true, _) => theme.accent,
        (_, true) => theme.error,
        _ if is_here => theme.accent,
        _ => style,
    };
    (mark, style)
}

/// Whether a range of the file has a match or, without a search, a line that the filter shows.
fn has_finds(pager: &Pager, output: &OpenOutput, stretch: &Range<usize>) -> bool {
    match &output.sift {
        _ if pager.find.pattern.is_some() => pager.find.tally.counts.any_in(stretch),
        Some(sift) => sift.any_in(output.files(), stretch),
        None => false,
    }
}
