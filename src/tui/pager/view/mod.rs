//! Draws an output: title, panes, the map, the status line, and the limits drawer or the policy picker.

pub(crate) mod drawer;
pub(crate) mod pane;
pub(crate) mod status;
pub(crate) mod title;

use std::ops::Range;

use ratatui::Frame;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::document::reader::Cost;
use crate::output::OpenOutput;
use crate::text::filter::{KeptRanges, Share};
use crate::text::search::Severity;
use crate::tui::screen::{ScreenRows, StatusRow};
use crate::tui::widget::layout::{self, Side};
use crate::tui::widget::line;

use super::{Counting, Pager};
use pane::{DrawnPane, PaneView};

const WHOLE: &str = "Whole output";

pub(crate) fn draw(
    pager: &Pager,
    status: StatusRow,
    frame: &mut Frame,
    area: Rect,
    cost: &Cost,
) -> ScreenRows {
    let height = area.height.saturating_sub(pager.drawer_height());
    let below = Rect { y: area.y + height, height: area.height - height, ..area };
    let area = Rect { height, ..area };
    let places = layout::pager(area, pager.focus(), pager.shows_both());
    if pager.canvas.size.1 < layout::LEAST.1 {
        line::left(frame.buffer_mut(), area, layout::TOO_SMALL, pager.canvas.theme.bar);
        return ScreenRows { rule: Rect::ZERO, status: places.status };
    }
    title::draw(pager, &pager.output, frame, &places);
    let mut drawn = DrawnPane::default();
    for (side, place) in [(Side::Preview, places.preview), (Side::Spill, places.spill)] {
        if let Some(place) = place {
            let shown = PaneView {
                output: &pager.output,
                side,
                top: pager.panes.top(side),
                headed: places.between.is_some(),
                canvas: pager.canvas,
                frame: pager.viewport(side),
                pager: Some(pager),
            };
            let shows = pane::draw(&shown, frame.buffer_mut(), place, cost);
            if side == pager.focus() {
                drawn = shows;
            }
        }
    }
    if let Some(place) = places.between {
        line::vertical_rule(frame.buffer_mut(), place, &pager.canvas);
    }
    if let Some(place) = places.map {
        draw_map(pager, &pager.output, frame.buffer_mut(), place);
    }
    line::rule(frame.buffer_mut(), places.rule, &pager.canvas);
    if let StatusRow::Own(count) = status {
        status::draw(pager, count, drawn, frame, places.status);
    }
    match &pager.drawer.picker {
        Some(picker) => drawer::draw_picker(pager, picker, frame, below),
        None if pager.drawer.is_open() => drawer::draw(pager, frame, below),
        None => {}
    }
    ScreenRows { rule: places.rule, status: places.status }
}

/// Draws the map. Its rows divide the file into equal parts, from start to end.
fn draw_map(pager: &Pager, output: &OpenOutput, buffer: &mut Buffer, area: Rect) {
    let len = output.view.len();
    let rows = usize::from(area.height);
    if len == 0 || rows == 0 {
        return;
    }
    let top = pager.panes.top(Side::Spill) as usize;
    let at = |row: usize| (len as u128 * row as u128 / rows as u128) as usize;
    let stretch = |row: usize| at(row)..at(row + 1).max(at(row) + 1);
    let errors = &pager.tally(Counting::Severity(Severity::Error)).counts;
    let fails: Vec<bool> = (0..rows).map(|row| errors.any_in(&stretch(row))).collect();
    // Where errors are dense, dots for those that the model got would hide that.
    let is_dense = output.is_cut() && fails.iter().filter(|fails| **fails).count() * 2 > rows;
    for (row, (place, fails)) in area.rows().zip(fails).enumerate() {
        let stretch = stretch(row);
        let is_here = stretch.contains(&top) || (row + 1 == rows && top >= stretch.end);
        let share = KeptRanges(&output.made.kept).share(&stretch);
        let fails = fails && !(is_dense && share == Share::Whole);
        let (mark, style) = look(pager, &stretch, share, is_here, fails);
        line::left(buffer, place, mark, style);
    }
}

/// Returns the mark of a part of the file, and its style. The position stands out above all, then errors, then matches.
fn look(
    pager: &Pager,
    stretch: &Range<usize>,
    share: Share,
    is_here: bool,
    fails: bool,
) -> (&'static str, Style) {
    let (theme, glyphs, output) = (&pager.canvas.theme, pager.canvas.glyphs(), &pager.output);
    let finds = match &output.filter {
        _ if pager.find.pattern.is_some() => pager.find.tally.counts.any_in(stretch),
        // Without a search, the lines that the filter shows.
        Some(filter) => filter.any_in(output.files(), stretch),
        None => false,
    };
    let (shade, style) = match share {
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
