//! Draws the Tune view.

mod cells;
mod changed;
mod plot;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::human::{count, size, span_left, thousands};
use crate::text::label::SafeText;
use crate::tui::footer::{self, FooterState};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::outputs::searched::{NONE_YET, searched};
use crate::tui::screen::{ScreenRows, StatusLine};
use crate::tui::widget::layout::{self, TuneAreas};
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::table::ListTable;

use super::TuneScreen;
use super::changed::ChangedView;
use super::table::{TuneState, TuneTable};

/// Columns of the bar of progress.
const BAR: u64 = 16;

/// The fewest columns in which the title says which outputs are measured.
const LEAST_PLACE: usize = 8;

/// Whether there is something to plot.
pub(crate) fn has_plot(screen: &TuneScreen) -> bool {
    screen.changed.is_none()
        && screen.shown().is_some_and(|table| table.grid().is_some() && table.figures.finds > 0)
}

/// Draws the view. Without `status`, the last line is left to a prompt.
pub(crate) fn draw(
    screen: &TuneScreen,
    status: Option<StatusLine>,
    frame: &mut Frame,
    area: Rect,
) -> ScreenRows {
    let places = layout::tune(area, has_plot(screen));
    let rows = ScreenRows { rule: places.rule, status: places.status };
    let Some(table) = screen.shown() else { return rows };
    draw_title(screen, table, frame, places.title);
    let body = Rect { y: places.head.y, height: places.head.height + places.list.height, ..places.list };
    match (&screen.changed, empty(screen, table, body)) {
        (Some(view), _) => draw_changed(screen, table, view, frame, &places),
        (None, words) if !words.is_empty() => {
            line::block(frame.buffer_mut(), body, &words, screen.canvas.theme.dim);
        }
        (None, _) => draw_table(screen, table, frame, &places),
    }
    line::rule(frame.buffer_mut(), places.rule, &screen.canvas);
    draw_details(screen, table, frame, places.detail);
    if let Some(status) = status {
        let rest = match table.is_running() {
            true => Span::new(progress(screen, table), screen.canvas.theme.accent),
            false => Span::plain(position(screen, table)),
        };
        let hints = footer::versions(footer_state(screen, table), None, screen.canvas.keys);
        status.draw(rest, &hints, &screen.canvas, (frame.buffer_mut(), places.status));
    }
    rows
}

fn draw_table(screen: &TuneScreen, table: &TuneTable, frame: &mut Frame, places: &TuneAreas) {
    if places.plot.height > 0 {
        plot::draw(screen, table, frame, places);
    }
    let height = usize::from(places.list.height);
    let (columns, rows) = match table.grid() {
        Some((policy, grid)) => (
            cells::settings(table, policy, places.list.width),
            cells::setting_rows(screen, table, (policy, grid), height),
        ),
        None => (cells::policies(table), cells::policy_rows(screen, table, height)),
    };
    let drawn = ListTable { columns: &columns, rows, canvas: &screen.canvas };
    let chosen = table.cursor.chosen.saturating_sub(table.cursor.top);
    drawn.draw(frame.buffer_mut(), places.head, places.list, chosen);
}

fn draw_changed(
    screen: &TuneScreen,
    table: &TuneTable,
    view: &ChangedView,
    frame: &mut Frame,
    places: &TuneAreas,
) {
    let words = match &view.outputs {
        None => "putting the outputs in order…",
        Some((0, _)) => "It cuts no output otherwise than the present setting.",
        Some(_) => "",
    };
    if !words.is_empty() {
        return line::centred(frame.buffer_mut(), places.list, [words], screen.canvas.theme.dim);
    }
    let columns = changed::columns(table);
    let rows = changed::rows(screen, view, usize::from(places.list.height));
    let drawn = ListTable { columns: &columns, rows, canvas: &screen.canvas };
    let chosen = view.cursor.chosen.saturating_sub(view.cursor.top);
    drawn.draw(frame.buffer_mut(), places.head, places.list, chosen);
}

fn draw_title(screen: &TuneScreen, table: &TuneTable, frame: &mut Frame, area: Rect) {
    let theme = &screen.canvas.theme;
    let name = match (&table.policies, &screen.changed) {
        (crate::corpus::TunePolicies::Current, _) => " Policies",
        _ => " Tune",
    };
    let mut left = vec![Span::new(name, theme.active)];
    if let Some(view) = &screen.changed {
        left.push(Span::plain(" › "));
        left.push(Span::new("Outputs", theme.active));
        left.push(Span::plain(format!("   {}", changed::title(table, view))));
    } else {
        let policy = table.grid().map(|(policy, _)| format!("{} · ", policy.policy.name()));
        left.push(Span::plain(format!("   {}{}", policy.unwrap_or_default(), outputs_in_words(table))));
    }
    let left = line::cut(left, usize::from(area.width), screen.canvas.glyphs());
    line::spans(frame.buffer_mut(), area, &left);
    let taken = line::width(&left) + 2;
    let room = usize::from(area.width).saturating_sub(taken + 2);
    if room >= LEAST_PLACE {
        let place = line::head(screen.place.clone(), room, screen.canvas.glyphs());
        line::right(frame.buffer_mut(), area, taken, &[Span::new(format!("{place} "), theme.dim)]);
    }
}

/// Describes what is measured: `345 outputs, 12.3 MB · 1,234 errors`.
fn outputs_in_words(table: &TuneTable) -> String {
    let figures = &table.figures;
    if table.run.is_none() || matches!(table.state, TuneState::Listing) {
        return String::new();
    }
    let outputs = match figures.done {
        (done, all) if done < all => format!("{} of {}", thousands(figures.outputs), count(all, "output")),
        _ => count(figures.outputs, "output"),
    };
    let finds = count(figures.finds, table.finds().trim_end_matches('s'));
    let unreadable = match figures.unreadable.0 {
        0 => String::new(),
        some => format!(" · {} unreadable", thousands(some)),
    };
    format!("{outputs}, {} · {finds}{unreadable}", size(figures.bytes))
}

/// Returns what stands in place of an empty table.
fn empty(screen: &TuneScreen, table: &TuneTable, area: Rect) -> Vec<SafeText> {
    let policy = screen.canvas.keys.of(KeyContext::Tune, Action::Policy);
    let words = match &table.state {
        TuneState::Empty(reports) if reports.is_empty() => {
            vec![format!("There are no outputs here: {}.", screen.place)]
        }
        TuneState::Empty(reports) => {
            return searched(NONE_YET, reports, usize::from(area.height).saturating_sub(6));
        }
        TuneState::Failed(words) => {
            vec![words.to_string(), String::new(), format!("{policy} picks another policy")]
        }
        _ if !table.rows.is_empty() && table.figures.outputs > 0 => Vec::new(),
        TuneState::Listing => vec!["listing the outputs…".into()],
        TuneState::Measuring => vec!["measuring…".into()],
        TuneState::Stopped => vec!["stopped before any output was measured".into()],
        TuneState::Done => vec!["None of the outputs can be read.".into(), first_fault(table)],
    };
    words.into_iter().map(SafeText::from).collect()
}

fn first_fault(table: &TuneTable) -> String {
    table.figures.unreadable.1.clone().unwrap_or_default()
}

fn draw_details(screen: &TuneScreen, table: &TuneTable, frame: &mut Frame, area: Rect) {
    let room = usize::from(area.width).saturating_sub(2);
    let words = match &screen.changed {
        Some(view) => changed::details(screen, view),
        None => cells::details(screen, table, room),
    };
    line::rows(frame.buffer_mut(), area, words, &screen.canvas, Style::new());
}

fn footer_state(screen: &TuneScreen, table: &TuneTable) -> FooterState {
    match table.policies {
        _ if screen.changed.is_some() => FooterState::TuneOutputs,
        _ if table.is_running() => FooterState::TuneMeasuring,
        _ if table.rows.is_empty() || matches!(table.state, TuneState::Failed(_)) => FooterState::TuneNothing,
        crate::corpus::TunePolicies::Current => FooterState::TunePolicies,
        crate::corpus::TunePolicies::Around(_) => FooterState::Tune,
    }
}

/// Returns a bar with how far measuring is, and the time left: `━━━━──── 1,234 of 10,000 · 12 s left`.
fn progress(screen: &TuneScreen, table: &TuneTable) -> String {
    let (done, all) = table.figures.done;
    if all == 0 {
        return " listing the outputs…".to_owned();
    }
    let glyphs = screen.canvas.glyphs();
    let (so_far, whole) = table.figures.progress;
    let filled = (u128::from(so_far) * u128::from(BAR) / u128::from(whole.max(1))).min(BAR.into()) as usize;
    let bar = glyphs.done.repeat(filled) + &glyphs.ahead.repeat(BAR as usize - filled);
    let left = table.figures.left.map_or(String::new(), |left| format!(" · {} left", span_left(left)));
    format!(" {bar} {} of {}{left}", thousands(done), thousands(all))
}

/// Returns which row is selected, of how many.
fn position(screen: &TuneScreen, table: &TuneTable) -> String {
    let (cursor, len) = match &screen.changed {
        Some(view) => (view.cursor, view.len()),
        None => (table.cursor, table.rows.len()),
    };
    let stopped = if matches!(table.state, TuneState::Stopped) { " stopped ·" } else { "" };
    match len {
        0 => String::new(),
        len => format!("{stopped} {} of {}", thousands(cursor.chosen as u64 + 1), thousands(len as u64)),
    }
}
