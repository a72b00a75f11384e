//! Draws the matching lines of all outputs: agent, age, output, line, what became of it, and its text.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::corpus::{FoundLine, LineGot};
use crate::human::{span, thousands};
use crate::text::label::SafeText;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::stores::StoresScreen;
use crate::tui::stores::hits::HitList;
use crate::tui::widget::layout::StoresAreas;
use crate::tui::widget::line::{self, Span};

/// Columns of the agent, of the age, of the line's number, and of what became of the line.
const AGENT: usize = 12;
const AGE: usize = 6;
const NUMBER: usize = 8;
const FATE: usize = 16;

/// Draws the lines in the place of the list and of the details below it.
pub(super) fn draw(screen: &StoresScreen, hits: &HitList, frame: &mut Frame, places: &StoresAreas) {
    let theme = &screen.canvas.theme;
    let width = places.title.width;
    let list = Rect { width, ..places.list };
    title(screen, hits, frame, places.title);
    let id = id_columns(width.into());
    let head = format!(
        "  {:<AGENT$}  {:>AGE$}  {:<id$}  {:>NUMBER$}  {:<FATE$}  text",
        "agent", "age", "output", "line", "model"
    );
    let head = line::head(head, width.into(), screen.canvas.glyphs());
    line::left(frame.buffer_mut(), Rect { width, ..places.head }, head, theme.dim);
    if hits.len() == 0 {
        let words = if hits.is_running() { "searching…" } else { "no line matches" };
        return line::centred(frame.buffer_mut(), list, [words], theme.dim);
    }
    for row in 0..list.height {
        let index = hits.cursor.top + usize::from(row);
        let Some(found) = hits.row(index) else { break };
        let at = Rect { y: list.y + row, height: 1, ..list };
        let mut spans = spans(screen, found, id, index == hits.cursor.chosen);
        if index == hits.cursor.chosen {
            spans.iter_mut().for_each(|span| span.style = span.style.add_modifier(Modifier::BOLD));
            line::selected(frame.buffer_mut(), at, &spans, &screen.canvas);
        } else {
            line::spans(frame.buffer_mut(), at, &spans);
        }
    }
}

/// Draws the keys at the right of the status line.
pub(super) fn hints(screen: &StoresScreen) -> String {
    let key = |action| screen.canvas.keys.of(KeyContext::Stores, action);
    let (open, lost, back) = (key(Action::Open), key(Action::LostOnly), key(Action::Back));
    format!("{open} open at the line · {lost} lost only · {back} back")
}

fn title(screen: &StoresScreen, hits: &HitList, frame: &mut Frame, area: Rect) {
    let theme = &screen.canvas.theme;
    let pattern = SafeText::from_bytes(hits.pattern.as_bytes()).fit(usize::from(area.width) / 3);
    let left = [
        Span::new(" Lines", theme.active),
        Span::plain(" of all outputs with "),
        Span::new(pattern, theme.accent),
        Span::plain(format!(": {}", hits.in_words())),
    ];
    line::spans(frame.buffer_mut(), area, &left);
    let right = [Span::new(format!("{} ", hits.state_in_words()), theme.dim)];
    line::right(frame.buffer_mut(), area, line::width(&left), &right);
}

/// Returns the columns for the id of an output.
fn id_columns(width: usize) -> usize {
    if width >= 120 { 30 } else { 10 }
}

fn spans(screen: &StoresScreen, found: &FoundLine, id: usize, chosen: bool) -> Vec<Span> {
    let theme = &screen.canvas.theme;
    let cursor = if chosen { screen.canvas.glyphs().chosen } else { " " };
    let cell =
        |text: &str, columns: usize| SafeText::from_bytes(text.as_bytes()).fit(columns).padded(columns);
    let age = found.age.map_or_else(|| "?".to_owned(), span);
    let fate = match found.got {
        LineGot::Lost(_) => theme.warning,
        LineGot::Kept | LineGot::Unknown => theme.dim,
    };
    vec![
        Span::new(format!("{cursor} "), theme.accent),
        Span::plain(format!("{}  ", cell(&found.agent, AGENT))),
        Span::new(format!("{age:>AGE$}  "), theme.dim),
        Span::plain(format!("{}  ", cell(&found.id, id))),
        Span::plain(format!("{:>NUMBER$}  ", thousands(found.number))),
        Span::new(format!("{:<FATE$}  ", found.got.words()), fate),
        Span::plain(found.text.clone()),
    ]
}
