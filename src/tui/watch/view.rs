//! Draws the list of new outputs, on any screen from a narrow strip beside an agent upwards.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::human::{count, size, thousands};
use crate::text::label::SafeText;
use crate::text::search::Severity;
use crate::tui::footer::{self, FooterState};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::screen::{ScreenRows, StatusLine};
use crate::tui::widget::layout;
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::table::{CellSide, ListTable, ListTableRow, TableColumn, column};

use super::{AGENT, WatchRow, WatchScreen};

/// From this many columns on, a row says what the model got in full, and of how many errors some were lost.
const WIDE: u16 = 100;

/// Below this many columns, the time has no seconds.
const NARROW: u16 = 72;

const WIDE_COLUMNS: &[TableColumn] = &[
    column("time", CellSide::Left, 8, Some(3)),
    column("agent", CellSide::Left, AGENT, Some(4)),
    column("size", CellSide::Right, 8, Some(2)),
    column("the model got", CellSide::Right, 27, None),
    column("errors lost", CellSide::Right, 15, None),
    column(TEXT, CellSide::Left, 0, None),
];

const COLUMNS: &[TableColumn] = &[
    column("time", CellSide::Left, 8, Some(2)),
    column("agent", CellSide::Left, AGENT, Some(3)),
    column("size", CellSide::Right, 8, Some(1)),
    column("model", CellSide::Right, 7, None),
    column("lost", CellSide::Right, 6, None),
    column(TEXT, CellSide::Left, 0, None),
];

const TEXT: &str = "first lost error, else the first line";

/// Draws the list. Without `status`, the last line is left to a question.
pub(crate) fn draw(
    screen: &WatchScreen,
    status: Option<StatusLine>,
    frame: &mut Frame,
    area: Rect,
) -> ScreenRows {
    let places = layout::watch(area);
    draw_title(screen, frame, places.title);
    if screen.rows.is_empty() {
        let body = Rect { y: places.head.y, height: places.head.height + places.list.height, ..places.list };
        line::centred(frame.buffer_mut(), body, waiting(screen, body), screen.canvas.theme.dim);
    } else {
        let columns = if area.width < WIDE { COLUMNS } else { WIDE_COLUMNS };
        let rows = screen.cursor.rows(screen.rows.len(), places.list.height.into());
        let rows = screen.rows.range(rows).map(|row| cells(screen, row)).collect();
        let table = ListTable { columns, rows, canvas: &screen.canvas };
        let chosen = screen.cursor.chosen.saturating_sub(screen.cursor.top);
        table.draw(frame.buffer_mut(), places.head, places.list, chosen);
    }
    line::rule(frame.buffer_mut(), places.rule, &screen.canvas);
    draw_details(screen, frame, places.detail);
    if let Some(status) = status {
        draw_status(screen, status, frame, places.status);
    }
    ScreenRows { rule: places.rule, status: places.status }
}

fn cells(screen: &WatchScreen, row: &WatchRow) -> ListTableRow {
    let (theme, width) = (&screen.canvas.theme, screen.canvas.size.0);
    let is_wide = width >= WIDE;
    let time = if width < NARROW { short(&row.time) } else { row.time.clone() };
    let got = if is_wide { row.got.words() } else { row.got.word() };
    let lost = match row.found {
        Some((severity, found)) => {
            let of = if is_wide { format!(" of {}", thousands(found.all)) } else { String::new() };
            let unit = if severity == Severity::Warning { " w" } else { "" };
            format!("{}{of}{unit}", thousands(found.lost))
        }
        None if row.is_known => String::new(),
        None => "–".to_owned(),
    };
    let is_lost = row.lost() > 0;
    let cells = vec![
        Span::new(time, theme.dim),
        Span::plain(row.agent.clone()),
        Span::plain(size(row.size)),
        Span::new(got, if row.got.is_cut() { Style::new() } else { theme.dim }),
        Span::new(lost, if is_lost { theme.warning } else { theme.dim }),
        Span::new(row.text.clone(), if is_lost { Style::new() } else { theme.dim }),
    ];
    ListTableRow::Cells(Span::plain(" "), cells)
}

/// Returns a time without its seconds.
fn short(time: &SafeText) -> SafeText {
    time.rsplit_once(':').map_or_else(|| time.clone(), |(short, _)| short.into())
}

fn draw_title(screen: &WatchScreen, frame: &mut Frame, area: Rect) {
    let (theme, sums) = (&screen.canvas.theme, screen.sums);
    let mut left = vec![Span::new(" Watch", theme.active)];
    if sums.outputs > 0 {
        left.push(Span::plain(format!("   {}", count(sums.outputs, "output"))));
        left.push(Span::plain(format!(" · {} cut", thousands(sums.cut))));
    }
    if sums.errors_lost > 0 {
        left.push(Span::new(format!(" · {} lost", count(sums.errors_lost, "error")), theme.warning));
    }
    line::spans(frame.buffer_mut(), area, &left);
    let taken = line::width(&left);
    let room = usize::from(area.width).saturating_sub(taken);
    if let Some(right) = state(screen).into_iter().find(|right| right.text.columns() < room) {
        line::right(frame.buffer_mut(), area, taken, &[right]);
    }
}

/// Says whether the list follows, or else how many outputs are newer; the longest form first.
fn state(screen: &WatchScreen) -> Vec<Span> {
    let theme = &screen.canvas.theme;
    match screen.newer() {
        _ if screen.rows.is_empty() => Vec::new(),
        0 => vec![Span::new("following ", theme.dim)],
        newer => {
            let newer = thousands(newer as u64);
            let follow = screen.canvas.keys.of(KeyContext::Watch, Action::Follow);
            let words = [format!("{newer} newer: {follow} follows "), format!("{newer} newer ")];
            words.map(|words| Span::new(words, theme.accent)).into()
        }
    }
}

/// Returns what stands in place of an empty list: that it waits, and for what.
fn waiting(screen: &WatchScreen, area: Rect) -> Vec<SafeText> {
    let Some(watched) = &screen.watched else { return vec!["listing the stores…".into()] };
    let absent = match watched.absent {
        0 => String::new(),
        absent => format!("{} more will be watched once they exist", thousands(absent as u64)),
    };
    let heading = match watched.there.len() {
        0 => "Waiting for new outputs: no agent has a store here yet".to_owned(),
        dirs if usize::from(area.height) < dirs + 5 && area.height < 8 => {
            format!("waiting for new outputs in {dirs} directories")
        }
        _ => "Waiting for new outputs in these directories:".to_owned(),
    };
    let room = usize::from(area.height).saturating_sub(5);
    let more = watched.there.len().saturating_sub(room);
    let mut words = vec![SafeText::from(heading)];
    if room > 0 {
        words.push(SafeText::default());
        words.extend(watched.there.iter().take(room).cloned());
        if more > 0 {
            words.push(format!("and {more} more").into());
        }
        words.extend([SafeText::default(), absent.into()]);
    }
    let width = words.iter().map(SafeText::columns).max().unwrap_or(0).min(area.width.into());
    words.iter().map(|text| text.fit(width).padded(width)).collect()
}

/// Draws two lines about the selected output: what the model got of it, and the text of the row.
fn draw_details(screen: &WatchScreen, frame: &mut Frame, area: Rect) {
    let Some(row) = screen.chosen() else { return };
    let errors = row.found.map_or(String::new(), |(severity, found)| {
        format!(" · {} lost of {}", count(found.lost, severity.singular()), thousands(found.all))
    });
    let got = format!("model got {}{errors} · {}", row.got.words(), row.id);
    let words = [SafeText::from(got), row.text.clone()];
    line::rows(frame.buffer_mut(), area, words, &screen.canvas, screen.canvas.theme.dim);
}

fn draw_status(screen: &WatchScreen, status: StatusLine, frame: &mut Frame, area: Rect) {
    let [at, of] = [screen.cursor.chosen + 1, screen.rows.len()].map(|n| thousands(n as u64));
    let (rest, state) = match screen.rows.is_empty() {
        true => (Span::default(), FooterState::WatchEmpty),
        false => (Span::plain(format!(" {at} of {of}")), FooterState::Watch),
    };
    let hints = footer::versions(state, None, screen.canvas.keys);
    status.draw(rest, &hints, &screen.canvas, (frame.buffer_mut(), area));
}
