//! Draws the list of sessions.

use jiff::Timestamp;
use ratatui::style::Style;

use crate::human::{count, size, span, thousands, tokens};
use crate::session::tally::CallSums;
use crate::text::label::SafeText;
use crate::tui::sessions::SessionsScreen;
use crate::tui::sessions::list::ShownSession;
use crate::tui::sessions::order::SESSION_COLUMNS;
use crate::tui::sessions::rows::{SessionRow, SumState};
use crate::tui::widget::line::Span;
use crate::tui::widget::table::{CellSide, ListTableRow, TableColumn, column};

/// The columns; the last takes what is left.
pub(super) const COLUMNS: &[TableColumn] = &[
    column("when", CellSide::Right, 7, None),
    column("agent", CellSide::Left, 13, None),
    column("version", CellSide::Left, 10, Some(1)),
    column("project", CellSide::Path, 24, Some(5)),
    column("calls", CellSide::Right, 7, None),
    column("cut", CellSide::Right, 6, None),
    column("lost", CellSide::Right, 6, Some(6)),
    column("gone", CellSide::Right, 6, Some(4)),
    column("got", CellSide::Right, 8, Some(2)),
    column("tokens", CellSide::Right, 7, Some(3)),
    column("title", CellSide::Left, 0, None),
];

pub(super) fn rows(screen: &SessionsScreen, height: usize) -> Vec<ListTableRow> {
    let now = screen.list.now.unwrap_or_default();
    let row = |shown: &ShownSession| match shown {
        ShownSession::Session(index) => {
            let row = screen.list.row(*index);
            let is_open = row.and_then(|row| row.words.as_ref()).is_some_and(|words| words.is_open_to_others);
            let mark = Span::new(if is_open { "!" } else { " " }, screen.canvas.theme.warning);
            ListTableRow::Cells(mark, row.map_or_else(Vec::new, |row| cells(screen, row, now)))
        }
        ShownSession::Group(name, members) => ListTableRow::Heading(Span::new(
            format!("{name} · {}", count(*members as u64, "session")),
            screen.canvas.theme.accent,
        )),
    };
    screen.list.on_screen(height).map(row).collect()
}

fn cells(screen: &SessionsScreen, row: &SessionRow, now: Timestamp) -> Vec<Span> {
    let theme = &screen.canvas.theme;
    let words = row.words.clone().unwrap_or_default();
    let sum = |of: fn(&CallSums) -> u64| figure(row, |sums| thousands(of(sums)));
    // What nobody can get back stands out; none of it does not.
    let loss = |of: fn(&CallSums) -> u64| {
        let any = row.sums.known().is_some_and(|sums| of(sums) > 0);
        Span::new(sum(of), if any { theme.warning } else { theme.dim })
    };
    let when = match row.changed() {
        _ if row.is_live(now) => Span::new("live", theme.accent),
        Some(at) => Span::plain(span(now.duration_since(at).as_secs().max(0) as u64)),
        None => Span::new("?", theme.dim),
    };
    let untitled = words.title.is_empty();
    let title = if untitled { SafeText::from(row.file.id.as_str()) } else { words.title };
    vec![
        when,
        Span::plain(row.agent),
        Span::new(words.version, theme.dim),
        Span::plain(words.project),
        Span::plain(sum(|sums| sums.calls)),
        Span::plain(sum(|sums| sums.cut)),
        loss(|sums| sums.lost),
        loss(|sums| sums.gone),
        Span::plain(figure(row, |sums| size(sums.got_bytes))),
        Span::new(figure(row, |sums| tokens(sums.got_bytes)), theme.dim),
        Span::new(title, if untitled { theme.dim } else { Style::new() }),
    ]
}

fn figure(row: &SessionRow, words: impl Fn(&CallSums) -> String) -> String {
    match &row.sums {
        SumState::Known(sums) => words(sums),
        SumState::Failed => "?".into(),
        SumState::Unknown | SumState::Asked => "…".into(),
    }
}

/// Returns the words of the title: how many sessions there are and, with a filter, how many of them are shown.
pub(super) fn title(screen: &SessionsScreen) -> String {
    let (all, shown) = (screen.list.rows().len() as u64, screen.list.sessions_shown() as u64);
    match screen.list.filter_text() {
        "" => count(all, "session"),
        _ => format!("{} of {}", thousands(shown), count(all, "session")),
    }
}

/// Returns the order in words.
pub(super) fn order(screen: &SessionsScreen) -> String {
    let (column, reversed) = screen.list.sort();
    SESSION_COLUMNS
        .get(column)
        .map_or_else(String::new, |column| format!("sort: {}, {}", column.name, column.order(reversed)))
}

/// Returns two lines about the selected session.
pub(super) fn details(screen: &SessionsScreen) -> [SafeText; 2] {
    let Some(row) = screen.list.chosen() else { return Default::default() };
    let path = String::from_utf8_lossy(row.file.path.as_os_str().as_encoded_bytes()).into_owned();
    let words = row.words.clone().unwrap_or_default();
    let agent = format!("{} {}", row.agent, words.version);
    let sums = match &row.sums {
        SumState::Known(sums) => {
            let got = format!("got {} ({} tokens)", size(sums.got_bytes), tokens(sums.got_bytes));
            format!("{}, {} cut · {got}", count(sums.calls, "call"), thousands(sums.cut))
        }
        SumState::Failed => "its records cannot be read".into(),
        SumState::Unknown | SumState::Asked => "counting its calls…".into(),
    };
    let open = if words.is_open_to_others { "other users can read it" } else { "" }.to_owned();
    let parts = [agent.trim_end().to_owned(), open, words.project.to_string(), sums];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    [SafeText::from(parts.join(" · ")), SafeText::from(path)]
}
