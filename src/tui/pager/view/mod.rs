//! Draws an output: title, panes, the map, the status line and the limits drawer.

pub(crate) mod drawer;
pub(crate) mod minimap;
pub(crate) mod pane;
pub(crate) mod picker;
pub(crate) mod status;
pub(crate) mod title;

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::tui::screen::{ScreenRows, StatusLine};
use crate::tui::widget::layout::{self, Side};
use crate::tui::widget::line;

use super::Pager;
use super::filter::sift::Sift;
use crate::tui::widget::cost::Cost;
use pane::{Drawn, Shown};

/// Draws the screen of one output. Without `told`, the last line is left to a prompt.
pub(crate) fn draw(
    pager: &Pager,
    told: Option<StatusLine>,
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
    let mut drawn = Drawn::default();
    for (side, place) in [(Side::Preview, places.preview), (Side::Spill, places.spill)] {
        if let Some(place) = place {
            let shown = shown(pager, side, places.between.is_some());
            let shows = pane::draw(&shown, frame.buffer_mut(), place, cost);
            if side == pager.focus() {
                drawn = shows;
            }
        }
    }
    if let Some(place) = places.between {
        line::upright(frame.buffer_mut(), place, &pager.canvas);
    }
    if let Some(place) = places.map {
        minimap::draw(pager, &pager.output, frame.buffer_mut(), place);
    }
    line::rule(frame.buffer_mut(), places.rule, &pager.canvas);
    if let Some(told) = told {
        status::draw(pager, &told, drawn, frame, places.status);
    }
    match &pager.drawer.picker {
        Some(picker) => picker::draw(pager, picker, frame, below),
        None if pager.drawer.is_open() => drawer::draw(pager, frame, below),
        None => {}
    }
    ScreenRows { rule: places.rule, status: places.status }
}

fn shown(pager: &Pager, side: Side, headed: bool) -> Shown<'_> {
    Shown {
        output: &pager.output,
        side,
        top: pager.panes.top(side),
        headed,
        canvas: pager.canvas,
        frame: pager.viewport(side),
        active: pager.focus() == side,
        chosen: (pager.focus() == side).then(|| pager.chosen(side)),
        coming: pager.is_coming(),
        selected: pager.selected(side),
        pattern: pager.find.pattern.as_ref().or_else(|| pager.output.sift_of(side).and_then(Sift::marked)),
        current: pager.find.current(side),
        severities: Some(&pager.errors.patterns),
    }
}
