//! Draws the screens from the state, which it never changes.

use ratatui::Frame;
use ratatui::layout::Rect;

use super::app::{App, Popup, Screen};
use super::pager::reader::Cost;
use super::pager::view::status::Told;
use super::widget::layout::{self, Side};
use super::{pager, popup, sessions, stores, tune, watch};

/// Below this many columns and rows there is room for one line only.
const LEAST: (u16, u16) = (20, 3);

/// Draws everything. `cost` counts what was read and laid out for it.
pub fn draw(app: &App, frame: &mut Frame, cost: &Cost) {
    let area = frame.area();
    let canvas = &app.canvas;
    if area.width < LEAST.0 || area.height < LEAST.1 {
        return super::widget::line::left(
            frame.buffer_mut(),
            area,
            "overspill: the window is too small",
            canvas.theme.bar,
        );
    }
    let prompt = match &app.popup {
        Some(Popup::Prompt(prompt)) => Some(prompt),
        _ => None,
    };
    let asks = prompt.is_some() || matches!(app.popup, Some(Popup::Leaving(_)));
    let message = app.message.as_ref();
    let (rule, status) = match app.stack.screen() {
        Screen::Pager => {
            let told = (!asks).then_some(Told { count: app.count, message });
            if let Some(pager) = app.stack.output() {
                pager::view::draw(pager, told, frame, area, cost);
                if let Some(pair) = &pager.pair {
                    pager::view::pair::draw(pager, pair, frame, cost);
                }
            }
            let places = layout::pager(area, Side::Preview);
            (places.rule, places.status)
        }
        Screen::Sessions => {
            let told = (!asks).then_some(message);
            sessions::view::draw(&app.sessions, told, frame, area);
            let places = layout::sessions(area);
            (places.rule, places.status)
        }
        Screen::Watch => {
            let told = (!asks).then_some(message);
            if let Some(screen) = &app.watch {
                watch::view::draw(screen, told, frame, area);
            }
            let places = layout::watch(area);
            (places.rule, places.status)
        }
        Screen::Tune => {
            let told = (!asks).then_some(message);
            tune::view::draw(&app.tune, told, frame, area);
            tune::view::bands(area)
        }
        Screen::Stores => {
            let told = (!asks).then_some(message);
            stores::view::draw(&app.stores, told, frame, area, cost);
            let places = layout::stores(area);
            (places.rule, places.status)
        }
    };
    stores::view::pending::draw(&app.stores, frame, rule);
    if let Some(prompt) = prompt {
        let note = app.stack.output().and_then(pager::view::status::typed);
        popup::view::prompt::draw(canvas, message, (prompt, note), frame, status);
    }
    for popup in app.beneath.iter().chain(&app.popup) {
        draw_popup(app, popup, frame, (area, status), cost);
    }
    if !canvas.unicode {
        super::widget::ascii::replace(frame.buffer_mut());
    }
    super::widget::wide::settle(frame.buffer_mut());
}

/// Draws a pop-up over the screen; a question in the row of the status.
fn draw_popup(app: &App, popup: &Popup, frame: &mut Frame, (area, status): (Rect, Rect), cost: &Cost) {
    let canvas = &app.canvas;
    match (popup, app.stack.output()) {
        (Popup::Help(help), _) => popup::view::help::draw(canvas, help, frame),
        (Popup::Facts, Some(pager)) => popup::view::facts::draw(canvas, &pager.output, frame, area),
        (Popup::Cleaning(cleaning, top), _) => {
            stores::view::clean::draw(&app.stores, cleaning, frame, area, *top);
        }
        (Popup::Json(json), _) => popup::view::json::draw(canvas, json, frame),
        (Popup::Sort(menu), _) => popup::view::sort_menu::draw(canvas, menu, frame, area),
        (Popup::Policies(picker), Some(pager)) => {
            popup::view::picker::draw(pager, picker, app.message.as_ref(), frame);
            if let Some(pair) = &pager.pair {
                pager::view::pair::draw(pager, pair, frame, cost);
            }
        }
        (Popup::Leaving(leaving), _) => {
            popup::view::leaving::draw(canvas, leaving.question, frame, status);
        }
        (Popup::Prompt(_), _) | (Popup::Facts | Popup::Policies(_), None) => {}
    }
}
