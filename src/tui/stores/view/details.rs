//! Draws two lines of details about the selected entry below the list: its id and lines; its permissions and command.

use ratatui::Frame;
use ratatui::layout::Rect;

use crate::human::{count, size};
use crate::store::{self, Entry};
use crate::text::label::SafeText;
use crate::tui::stores::StoresScreen;
use crate::tui::widget::line::{self, Span};

/// The maximum columns for an id. Only ids that someone chose are longer.
const ID: usize = 44;

/// Draws both lines, or as many as fit.
pub(crate) fn draw(screen: &StoresScreen, frame: &mut Frame, area: Rect) {
    let both =
        [first(screen), screen.listing.chosen().map(|entry| second(screen, entry)).unwrap_or_default()];
    for (n, spans) in (0..area.height).zip(both) {
        let spans = line::cut(spans, area.width.into(), screen.canvas.glyphs());
        line::spans(frame.buffer_mut(), Rect { y: area.y + n, height: 1, ..area }, &spans);
    }
}

/// The first line: the selected entry's id or the number of marked entries.
fn first(screen: &StoresScreen) -> Vec<Span> {
    let listing = &screen.listing;
    let entries = listing.marked_or_chosen();
    let what = match (listing.marked(), entries.first()) {
        (_, None) => return Vec::new(),
        (0, Some(entry)) => SafeText::from_bytes(entry.id_bytes()).fit(ID),
        (marked, _) => {
            let bytes = store::sum(entries.iter().map(|entry| entry.size()));
            SafeText::new(format!("{} marked, {}", count(marked as u64, "output"), size(bytes)))
        }
    };
    let mut spans = vec![Span::plain(format!(" {what}"))];
    if let [entry] = entries[..]
        && let Some(printed) = listing.details.peeks.get(entry).and_then(|peek| peek.printed)
    {
        let words = format!(" · only the first {} of {} saved", size(entry.size()), size(printed));
        spans.push(Span::new(words, screen.canvas.theme.warning));
    }
    spans
}

/// The second line: mode and owner, with a warning if others have access; the retention rule; the command.
fn second(screen: &StoresScreen, entry: &Entry) -> Vec<Span> {
    let access = format!(" mode {:04o}, owner {}", entry.mode, owner(screen, entry));
    let warns = entry.exposed() || is_foreign(screen, entry);
    let style = if warns { screen.canvas.theme.warning } else { screen.canvas.theme.dim };
    let mut spans = vec![Span::new(access + exposure(entry), style)];
    let rule = if screen.listing.is_kept(entry) { "kept" } else { entry.rule.as_str() };
    spans.push(Span::new(format!(" · rule: {rule}"), screen.canvas.theme.dim));
    if let Some(peek) = screen.listing.details.peeks.get(entry).filter(|peek| !peek.command.is_empty()) {
        spans.push(Span::new(" · $ ", screen.canvas.theme.dim));
        spans.push(Span::plain(peek.command.clone()));
    }
    spans
}

/// Describes what the mode lets others do; empty if nothing.
fn exposure(entry: &Entry) -> &'static str {
    match entry.mode & 0o077 {
        _ if !entry.exposed() => "",
        rights if rights & 0o022 != 0 => ": others can write to it",
        rights if rights & 0o044 != 0 => ": others can read it",
        _ => ": others can run it",
    }
}

/// Returns `you`, or the id of another user.
pub(crate) fn owner(screen: &StoresScreen, entry: &Entry) -> String {
    if screen.listing.user == Some(entry.owner) { "you".to_owned() } else { entry.owner.to_string() }
}

/// Whether an entry belongs to another user.
pub(crate) fn is_foreign(screen: &StoresScreen, entry: &Entry) -> bool {
    screen.listing.user.is_some_and(|user| user != entry.owner)
}
