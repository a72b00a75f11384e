//! Drawing: from the state, never changing it. One file a region.

mod ascii;
mod clean;
mod detail;
mod drawer;
pub mod facts;
pub mod help;
mod line;
mod pane;
mod picker;
pub mod status;
mod stores;
mod strip;
mod title;

use ratatui::Frame;
use ratatui::layout::Rect;

use super::app::{App, Overlay, Screen};
use super::doc::Cost;
use super::geometry::{self, Side};

/// Below this size there is room for one line only.
const LEAST: (u16, u16) = (20, 3);

/// Draws everything. `cost` counts what was read and laid out for it.
pub fn draw(app: &App, frame: &mut Frame, cost: &Cost) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return line::left(frame.buffer_mut(), area, "overspill: the window is too small", app.theme.bar);
    }
    match app.screen {
        Screen::Pager => draw_pager(app, frame, area, cost),
        Screen::Stores => stores::draw(app, frame, area, cost),
    }
    match app.overlay {
        Some(Overlay::Help(top)) => help::draw(app, frame, area, top),
        Some(Overlay::Facts) => facts::draw(app, frame, area),
        Some(Overlay::Clean(top)) => clean::draw(app, frame, area, top),
        Some(Overlay::Limits) => drawer::draw(app, frame, area),
        Some(Overlay::Policies) => picker::draw(app, frame, area),
        None => {}
    }
    if !app.unicode {
        ascii::replace(frame.buffer_mut());
    }
}

fn draw_pager(app: &App, frame: &mut Frame, area: Rect, cost: &Cost) {
    let Some(output) = &app.output else { return };
    let places = geometry::pager(area, app.focus());
    title::draw(app, output, frame, &places);
    let mut drawn = pane::Drawn::default();
    for (side, place) in [(Side::Preview, places.preview), (Side::Spill, places.spill)] {
        if let Some(place) = place {
            let shown =
                pane::Shown { output, side, top: app.panes.top(side), headed: places.strip.is_some() };
            let shows = pane::draw(app, &shown, frame.buffer_mut(), place, cost);
            if side == app.focus() {
                drawn = shows;
            }
        }
    }
    if let Some(place) = places.strip {
        strip::draw(app, output, frame.buffer_mut(), place);
    }
    line::rule(frame.buffer_mut(), places.rule, app);
    status::draw(app, output, drawn, frame, places.status);
}
