//! Draws the list of stored outputs: which are kept, and until when.

mod cells;
pub(crate) mod clean;
mod columns;
pub(crate) mod details;
pub(crate) mod searched;
mod title;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use unicode_width::UnicodeWidthStr;

use crate::human::{count, size, thousands};
use crate::store::Entry;
use crate::text::label::SafeText;
use crate::tui::footer::{self, FooterState};
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::view::pane;
use crate::tui::screen::{ScreenRows, StatusLine};
use crate::tui::stores::StoresScreen;
use crate::tui::widget::cost::Cost;
use crate::tui::widget::layout;
use crate::tui::widget::line::{self, Span};

use super::sort::ListRow;
use cells::Column;
use columns::Columns;
use searched::searched;

/// The fewest hints, besides help, for which the totals at the left are shortened: those that lead out of the list.
const LEAST_HINTS: usize = 4;

/// Draws the list, and the preview of the selected entry beside it if there is room.
pub(crate) fn draw(
    screen: &StoresScreen,
    status: Option<StatusLine>,
    frame: &mut Frame,
    area: Rect,
    cost: &Cost,
) -> ScreenRows {
    let places = layout::stores(area);
    let listing = &screen.listing;
    title::draw(screen, frame, places.title);
    match (listing.shown().entries.len(), listing.shown().len()) {
        (0, _) => draw_none(screen, frame, places.list),
        (_, 0) => {
            let yet = if listing.searched_percent().is_some() { " yet" } else { "" };
            let back = screen.canvas.keys.of(KeyContext::Stores, Action::Back);
            let words =
                format!("nothing matches \u{201c}{}\u{201d}{yet}; {back} shows all", listing.filter_text());
            line::centred(frame.buffer_mut(), places.list, [words], screen.canvas.theme.dim);
        }
        _ => draw_rows(screen, frame, &places),
    }
    let output = screen.glance.as_ref().and_then(|glance| glance.output.as_ref());
    if let (Some(place), Some(output)) = (places.glance, output) {
        pane::draw(&pane::Shown::glance(output, screen.canvas), frame.buffer_mut(), place, cost);
    }
    line::upright(frame.buffer_mut(), places.divider, &screen.canvas);
    line::rule(frame.buffer_mut(), places.rule, &screen.canvas);
    details::draw(screen, frame, places.detail);
    if let Some(status) = status {
        draw_status(screen, status, frame, places.status);
    }
    ScreenRows { rule: places.rule, status: places.status }
}

fn draw_rows(screen: &StoresScreen, frame: &mut Frame, places: &layout::StoresAreas) {
    let listing = &screen.listing;
    let height = usize::from(places.list.height);
    let entries: Vec<&Entry> = listing.entries_on_screen(height).collect();
    // A blank column lies before the rule beside the list.
    let columns = Columns::of(screen, places.list.width.saturating_sub(places.divider.width), &entries);
    line::left(frame.buffer_mut(), places.head, head(screen, &columns), screen.canvas.theme.dim);
    for (n, row) in listing.on_screen(height).enumerate() {
        let at = Rect { y: places.list.y + n as u16, height: 1, ..places.list };
        let chosen = listing.top + n == listing.chosen;
        let spans = row_spans(screen, row, &columns, chosen, at.width.into());
        if chosen {
            line::selected(frame.buffer_mut(), at, &spans, &screen.canvas);
        } else {
            line::spans(frame.buffer_mut(), at, &spans);
        }
    }
}

fn row_spans(
    screen: &StoresScreen,
    row: ListRow,
    columns: &Columns,
    chosen: bool,
    width: usize,
) -> Vec<Span> {
    let listing = &screen.listing;
    let cursor = if chosen { screen.canvas.glyphs().chosen } else { " " };
    let mut spans = vec![Span::new(cursor, screen.canvas.theme.accent)];
    match row {
        ListRow::Group(name, sums) => {
            let figures = format!("  {} · {}", thousands(sums.entries), size(sums.bytes));
            let room = width.saturating_sub(cells::MARKS + figures.width());
            let words = format!("{}{figures}", SafeText::from(name).fit(room));
            spans.push(Span::new(words, screen.canvas.theme.active));
        }
        ListRow::Entry(entry) => {
            let path = entry.path();
            spans.push(match (listing.is_marked(&path), entry.exposed()) {
                (true, _) => Span::new("*", screen.canvas.theme.accent),
                (false, true) => Span::new("!", screen.canvas.theme.warning),
                (false, false) => Span::new(" ", screen.canvas.theme.dim),
            });
            let mut rest = entry_spans(screen, entry, columns);
            if listing.pending.contains(&path) {
                add_modifier(&mut rest, Modifier::CROSSED_OUT | Modifier::DIM);
            }
            spans.extend(rest);
        }
    }
    if chosen {
        add_modifier(&mut spans, Modifier::BOLD);
    }
    spans
}

fn add_modifier(spans: &mut [Span], modifier: Modifier) {
    spans.iter_mut().for_each(|span| span.style = span.style.add_modifier(modifier));
}

fn head(screen: &StoresScreen, columns: &Columns) -> String {
    let mut text = " ".repeat(cells::MARKS);
    for (column, width) in &columns.shown {
        let name = cells::heading(*column, *width);
        text += &match column {
            Column::Size | Column::Age => format!("{name:>width$}  "),
            _ => format!("{name:<width$}  "),
        };
    }
    text + &line::head("command, first line", columns.content, screen.canvas.glyphs())
}

fn entry_spans(screen: &StoresScreen, entry: &Entry, columns: &Columns) -> Vec<Span> {
    let mut spans = Vec::new();
    for column in &columns.shown {
        spans.extend(cells::fitted(screen, entry, *column, columns.bar));
        spans.push(Span::plain(" ".repeat(cells::BETWEEN)));
    }
    spans.extend(cells::content(screen, entry, columns.content));
    spans
}

/// Draws the empty list: which directories were searched, and the state of each.
fn draw_none(screen: &StoresScreen, frame: &mut Frame, area: Rect) {
    if !screen.listing.has_looked() {
        return line::centred(frame.buffer_mut(), area, ["scanning the stores…"], screen.canvas.theme.dim);
    }
    let mut words = searched(&screen.listing.reports, usize::from(area.height).saturating_sub(6));
    words.extend([String::new(), "`overspill FILE` opens any file.".to_owned()].map(SafeText::from));
    line::block(frame.buffer_mut(), area, &words, screen.canvas.theme.dim);
}

fn draw_status(screen: &StoresScreen, status: StatusLine, frame: &mut Frame, area: Rect) {
    let theme = &screen.canvas.theme;
    let hints = footer::versions(footer_state(screen), None, screen.canvas.keys);
    let rest = match &screen.copying {
        Some(copying) => Span::new(format!(" {}", copying.in_words(screen.canvas.keys)), theme.accent),
        None if screen.listing.is_first_look() => Span::new(" scanning the stores…", theme.accent),
        None => {
            let least = hints.iter().rev().nth(LEAST_HINTS).map_or(0, |hints| hints.width());
            let room = usize::from(area.width).saturating_sub(least + 4);
            Span::plain(format!(" {}", by_agent(screen, room).unwrap_or_else(|| in_all(screen))))
        }
    };
    status.draw(rest, &hints, &screen.canvas, (frame.buffer_mut(), area));
}

/// Returns the state that decides which keys are taught.
fn footer_state(screen: &StoresScreen) -> FooterState {
    let listing = &screen.listing;
    if !listing.pending.is_empty() {
        FooterState::Deletions
    } else if listing.marked() > 0 {
        FooterState::MarkedOutputs
    } else if !listing.filter_text().is_empty() {
        FooterState::FilteredStores
    } else if listing.shown().entries.is_empty() {
        FooterState::NoOutputs
    } else {
        FooterState::Outputs
    }
}

/// Totals by agent, as many as fit into `room` columns: `opencode 1,101 · 62.9 GB   pi 39 · 2 MB   2 more`.
fn by_agent(screen: &StoresScreen, room: usize) -> Option<SafeText> {
    let totals = &screen.listing.shown().by_agent;
    let words = totals
        .iter()
        .map(|(agent, sums)| format!("{agent} {} · {}", thousands(sums.entries), size(sums.bytes)));
    let words: Vec<String> = words.collect();
    let some = |shown: usize| {
        let more = words.len() - shown;
        let rest = (more > 0).then(|| format!("{more} more"));
        SafeText::new(words[..shown].iter().cloned().chain(rest).collect::<Vec<_>>().join("   "))
    };
    (1..=words.len()).rev().map(some).find(|text| text.columns() <= room)
}

/// The total of all agents: `1,140 outputs`.
fn in_all(screen: &StoresScreen) -> SafeText {
    count(screen.listing.shown().by_agent.values().map(|sums| sums.entries).sum(), "output").into()
}
