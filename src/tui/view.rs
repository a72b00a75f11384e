//! Drawing: from the state, never changing it. One file a region.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::app::{App, Overlay, Screen};
use super::pager::doc::Cost;
use super::widget::layout::{self, Side};

/// Below this size there is room for one line only.
const LEAST: (u16, u16) = (20, 3);

/// Draws everything. `cost` counts what was read and laid out for it.
pub fn draw(app: &App, frame: &mut Frame, cost: &Cost) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return super::widget::line::left(
            frame.buffer_mut(),
            area,
            "overspill: the window is too small",
            app.theme.bar,
        );
    }
    match app.screen {
        Screen::Pager => draw_pager(app, frame, area, cost),
        Screen::Stores => super::stores::view::draw(app, frame, area, cost),
    }
    match app.overlay {
        Some(Overlay::Help(top)) => super::popup::view::help::draw(app, frame, area, top),
        Some(Overlay::Facts) => super::popup::view::facts::draw(app, frame, area),
        Some(Overlay::Clean(top)) => super::stores::view::clean::draw(app, frame, area, top),
        Some(Overlay::Limits) => super::pager::view::drawer::draw(app, frame, area),
        Some(Overlay::Policies) => super::popup::view::picker::draw(app, frame, area),
        None => {}
    }
    if !app.unicode {
        super::widget::ascii::replace(frame.buffer_mut());
    }
}

fn draw_pager(app: &App, frame: &mut Frame, area: Rect, cost: &Cost) {
    let Some(output) = &app.output else { return };
    let places = layout::pager(area, app.focus());
    super::pager::view::title::draw(app, output, frame, &places);
    let mut drawn = super::pager::view::pane::Drawn::default();
    for (side, place) in [(Side::Preview, places.preview), (Side::Spill, places.spill)] {
        if let Some(place) = place {
            let shown = super::pager::view::pane::Shown {
                output,
                side,
                top: app.panes.top(side),
                headed: places.strip.is_some(),
            };
            let shows = super::pager::view::pane::draw(app, &shown, frame.buffer_mut(), place, cost);
            if side == app.focus() {
                drawn = shows;
            }
        }
    }
    if let Some(place) = places.strip {
        super::pager::view::minimap::draw(app, output, frame.buffer_mut(), place);
    }
    super::widget::line::rule(frame.buffer_mut(), places.rule, app.theme.dim, app.unicode);
    super::pager::view::status::draw(app, output, drawn, frame, places.status);
}
