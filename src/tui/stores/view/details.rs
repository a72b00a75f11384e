//! Two lines on the chosen entry below the list: its name and lines; who may read it, and what printed it.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::human::{count, lines, size};
use crate::store::{self, Entry};
use crate::text::label::{columns_of, fit, label};
use crate::tui::app::App;
use crate::tui::keys::{self, Action};
use crate::tui::stores::details::Lines;
use crate::tui::widget::line::{self, Span};

/// The most columns for an id: names are longer only where someone makes them so.
const ID: usize = 44;

/// Draws both lines, or as many as there is room for.
pub fn draw(app: &App, frame: &mut Frame, area: Rect) {
    let both = [first(app), app.listing.chosen().map(|entry| second(app, entry)).unwrap_or_default()];
    for (n, spans) in (0..area.height).zip(both) {
        line::spans(frame.buffer_mut(), Rect { y: area.y + n, height: 1, ..area }, &spans);
    }
}

/// The chosen entry's id, or how many are marked; and how many lines.
fn first(app: &App) -> Vec<Span> {
    let listing = &app.listing;
    let entries = listing.marked_or_chosen();
    let what = match (listing.marked(), entries.first()) {
        (_, None) => return Vec::new(),
        (0, Some(entry)) => fit(&label(entry.id().as_bytes()), ID),
        (marked, _) => {
            format!(
                "{} marked, {}",
                count(marked as u64, "output"),
                size(store::sum(entries.iter().map(|e| e.size())))
            )
        }
    };
    let (text, style) = counted(app, &entries);
    vec![(format!(" {what}"), Style::new()), (format!(" · {text}"), style)]
}

/// The lines of some entries together, as far as they are counted.
fn counted(app: &App, entries: &[&Entry]) -> Span {
    let known: Vec<&Lines> = entries.iter().filter_map(|entry| app.listing.details.lines(entry)).collect();
    let failed = known.iter().find_map(|of| match of {
        Lines::Failed(reason) => Some(reason),
        _ => None,
    });
    let done: Vec<u64> = known
        .iter()
        .filter_map(|of| match of {
            Lines::Counted(lines) => Some(*lines),
            _ => None,
        })
        .collect();
    let sum = lines(done.iter().sum());
    match (failed, known.len(), done.len()) {
        (Some(reason), ..) => (format!("lines not counted: {}", label(reason.as_bytes())), app.theme.error),
        (_, _, all) if all == entries.len() => (sum, Style::new()),
        (_, 0, _) => (format!("{} counts lines", keys::key_of(Action::CountLines)), app.theme.dim),
        (_, asked, done) if asked == entries.len() && done == 0 => {
            ("counting lines…".into(), app.theme.accent)
        }
        (_, _, done) => (format!("{sum} in {done} of {}", entries.len()), app.theme.accent),
    }
}

/// Mode and owner, with a warning where others have a right to it; the rule by which it goes; the command.
fn second(app: &App, entry: &Entry) -> Vec<Span> {
    let access = format!(" mode {:04o}, owner {}", entry.mode, owner(app, entry));
    let foreign = app.listing.user.is_some_and(|user| user != entry.owner);
    let style = if entry.exposed() || foreign { app.theme.warning } else { app.theme.dim };
    let mut spans = vec![(access + exposure(entry), style)];
    let rule = if app.listing.is_kept(entry) { "kept" } else { entry.rule.as_str() };
    spans.push((format!(" · rule: {rule}"), app.theme.dim));
    let command = app.listing.details.peek(entry).map_or("", |peek| peek.command.as_str());
    if !command.is_empty() {
        spans.push((" · $ ".into(), app.theme.dim));
        spans.push((command.to_owned(), Style::new()));
    }
    spans
}

/// What the mode lets others do, in words.
fn exposure(entry: &Entry) -> &'static str {
    match entry.mode & 0o077 {
        0 => "",
        rights if rights & 0o022 != 0 => ": others can write to it",
        rights if rights & 0o044 != 0 => ": others can read it",
        _ => ": others can run it",
    }
}

/// `you`, or the number of another user.
pub fn owner(app: &App, entry: &Entry) -> String {
    if app.listing.user == Some(entry.owner) { "you".to_owned() } else { entry.owner.to_string() }
}

/// The command in front of the first line, where one is recorded: what an output is, in so many columns.
pub fn content(app: &App, entry: &Entry, columns: usize) -> [Span; 2] {
    let Some(peek) = app.listing.details.peek(entry) else { return Default::default() };
    let command = match peek.command.as_str() {
        "" => String::new(),
        command => line::head(&format!("$ {command}  "), columns, app.unicode),
    };
    let room = columns - columns_of(&command).min(columns);
    let first = line::head(&peek.first_line, room, app.unicode);
    [(command, Style::new()), (first, app.theme.dim)]
}
