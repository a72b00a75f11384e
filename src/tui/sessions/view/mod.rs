//! Draws the screens of sessions and calls.

mod calls;
mod list;

use ratatui::Frame;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use crate::session::list::agents;
use crate::text::label::SafeText;
use crate::tui::footer::{self, FooterState};
use crate::tui::screen::{ScreenRows, StatusLine};
use crate::tui::widget::layout::{self, SessionsAreas};
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::table::ListTable;

use super::SessionsScreen;
use super::calls::{CallList, ReadingState};

/// The fewest columns in which a title is shown.
const LEAST_TITLE: usize = 8;

/// Draws the list of sessions, or the calls of the one that is open. Without `status`, the last line is left to a prompt.
pub(crate) fn draw(
    screen: &SessionsScreen,
    status: Option<StatusLine>,
    frame: &mut Frame,
    area: Rect,
) -> ScreenRows {
    let places = layout::sessions(area);
    draw_title(screen, frame, places.title);
    let empty = empty(screen);
    if empty.is_empty() {
        draw_table(screen, frame, &places);
    } else {
        let body = Rect { y: places.head.y, height: places.head.height + places.list.height, ..places.list };
        line::centred(frame.buffer_mut(), body, empty, screen.canvas.theme.dim);
    }
    line::rule(frame.buffer_mut(), places.rule, &screen.canvas);
    draw_details(screen, frame, places.detail);
    if let Some(status) = status {
        draw_status(screen, status, frame, places.status);
    }
    ScreenRows { rule: places.rule, status: places.status }
}

fn draw_table(screen: &SessionsScreen, frame: &mut Frame, places: &SessionsAreas) {
    let height = usize::from(places.list.height);
    let (columns, rows, cursor) = match &screen.calls {
        Some(open) => (calls::columns(places.list.width), calls::rows(screen, open, height), open.cursor),
        None => (list::COLUMNS.to_vec(), list::rows(screen, height), screen.list.cursor),
    };
    let table = ListTable { columns: &columns, rows, canvas: &screen.canvas };
    let chosen = cursor.chosen.saturating_sub(cursor.top);
    table.draw(frame.buffer_mut(), places.head, places.list, chosen);
}

fn draw_title(screen: &SessionsScreen, frame: &mut Frame, area: Rect) {
    let theme = &screen.canvas.theme;
    let (words, order, filter) = match &screen.calls {
        Some(open) => (calls::title(open), calls::order(open), open.filter_text()),
        None => (list::title(screen), list::order(screen), screen.list.filter_text()),
    };
    let mut left = vec![Span::new(" Sessions", theme.active)];
    if let Some(open) = &screen.calls {
        left.push(Span::plain(" › "));
        left.push(Span::new("Calls", theme.active));
        left.push(Span::plain(format!("   {words}")));
        let room = usize::from(area.width).saturating_sub(line::width(&left) + order.width() + 6);
        let title = if open.title.is_empty() { open.file.id.as_str() } else { &*open.title };
        if room >= LEAST_TITLE {
            let title = line::head(title, room, screen.canvas.glyphs());
            left.push(Span::new(format!(" · {title}"), theme.dim));
        }
    } else {
        left.push(Span::plain(format!("   {words}")));
    }
    line::spans(frame.buffer_mut(), area, &left);
    let order = Span::new(format!("{order} "), theme.dim);
    let filter = if filter.is_empty() { String::new() } else { format!("filter: {filter}   ") };
    let filter = Span::new(filter, theme.accent);
    let taken = line::width(&left);
    for right in [vec![filter.clone(), order], vec![filter]] {
        if taken + line::width(&right) + 2 <= usize::from(area.width) {
            return line::right(frame.buffer_mut(), area, taken, &right);
        }
    }
}

/// Returns what stands in place of an empty list.
fn empty(screen: &SessionsScreen) -> Vec<SafeText> {
    let words: Vec<String> = match &screen.calls {
        Some(open) => no_calls(open),
        None if !screen.list.is_empty() => Vec::new(),
        None if screen.list.now.is_none() => vec!["looking for sessions…".into()],
        None if !screen.list.filter_text().is_empty() => {
            vec!["No session has these words. Esc shows all.".into()]
        }
        None => {
            let heading = ["No agent has recorded a session here.", "", "Sessions of these agents are read:"];
            // As many in a row as fit on the narrowest screen.
            let rows = agents().chunks(5).map(|row| row.join(", ")).collect::<Vec<_>>();
            heading.map(String::from).into_iter().chain(rows).collect()
        }
    };
    words.into_iter().map(SafeText::from).collect()
}

fn no_calls(open: &CallList) -> Vec<String> {
    match &open.state {
        _ if !open.is_empty() => Vec::new(),
        ReadingState::Reading(percent) => vec![format!("reading the session… {percent}%   Esc goes back")],
        ReadingState::Failed(why) => vec!["The session cannot be read:".into(), why.to_string()],
        ReadingState::Read if open.is_format_unknown => vec![
            "Format not understood: nothing in these records is of a kind that overspill knows.".into(),
            open.unread.to_string(),
        ],
        ReadingState::Read if !open.rows().is_empty() => {
            vec!["No call has these words. Esc shows all.".into()]
        }
        ReadingState::Read => vec!["No tool was called in this session.".into()],
    }
}

fn draw_details(screen: &SessionsScreen, frame: &mut Frame, area: Rect) {
    let words = match &screen.calls {
        Some(open) => calls::details(open),
        None => list::details(screen),
    };
    line::rows(frame.buffer_mut(), area, words, &screen.canvas, screen.canvas.theme.dim);
}

fn draw_status(screen: &SessionsScreen, status: StatusLine, frame: &mut Frame, area: Rect) {
    let state = match &screen.calls {
        Some(_) => FooterState::Calls,
        None => FooterState::Sessions,
    };
    let hints = footer::versions(state, None, screen.canvas.keys);
    status.draw(Span::plain(position(screen)), &hints, &screen.canvas, (frame.buffer_mut(), area));
}

/// Returns which row is selected, of how many.
fn position(screen: &SessionsScreen) -> String {
    let (cursor, len) = match &screen.calls {
        Some(open) => (open.cursor, open.len()),
        None => (screen.list.cursor, screen.list.len()),
    };
    if len == 0 {
        return String::new();
    }
    let of = crate::human::thousands(len as u64);
    format!(" {} of {of}", crate::human::thousands(cursor.chosen as u64 + 1))
}
