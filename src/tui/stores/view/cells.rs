//! What a row of the list shows in each column.

use jiff::Timestamp;
use ratatui::style::Style;

use crate::human::{size, span, span_left};
use crate::session::citing::CitingCall;
use crate::store::{Entry, EntryStatus, Expiry, Left};
use crate::text::label::SafeText;
use crate::tui::stores::StoresScreen;
use crate::tui::stores::details::FoundCall;
use crate::tui::stores::got::{self, ModelGot};
use crate::tui::widget::glyphs::Glyphs;
use crate::tui::widget::line::{self, Span};

use super::details;

/// A column, in the order in which they stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Agent,
    Tool,
    Size,
    Age,
    /// The time left, as a bar and in words.
    Left,
    /// How much of the output the model got.
    Got,
    /// Mode and owner, of entries that others have access to.
    Access,
    /// The session, or else the project.
    Session,
    /// The agent's id of the call that the output is of.
    Call,
}

/// Columns between two columns of text.
pub(super) const BETWEEN: usize = 2;

/// Columns at the start of a row: the cursor, and a mark.
pub(super) const MARKS: usize = 2;

/// Returns the heading of a column; `width` decides between a long and a short one.
pub(super) fn heading(column: Column, width: usize) -> &'static str {
    match column {
        Column::Agent => "agent",
        Column::Tool => "tool",
        Column::Size => "size",
        Column::Age => "age",
        Column::Left if width < 9 => "left",
        Column::Left => "time left",
        Column::Got => "model got",
        Column::Access if width < 11 => "mode",
        Column::Access => "mode, owner",
        Column::Call => "call",
        Column::Session if width < 16 => "session",
        Column::Session => "session, project",
    }
}

/// The time left of an entry: a bar if an end is known, and words.
struct TimeLeft {
    /// Seconds left, and seconds in all.
    bar: Option<(u64, u64)>,
    words: String,
    style: Style,
}

/// Returns the columns that an entry's text in `column` takes; 0 if it has none.
pub(super) fn width(screen: &StoresScreen, entry: &Entry, column: Column, bar: usize) -> usize {
    match column {
        Column::Tool if tool(screen, entry).is_none() => 0,
        Column::Session if entry.whose().is_none() => 0,
        Column::Call if call(screen, entry).is_none() => 0,
        _ => line::width(&spans(screen, entry, column, bar)),
    }
}

/// Returns the text of an entry in a column, fitted to `width` columns.
pub(super) fn fitted(
    screen: &StoresScreen,
    entry: &Entry,
    (column, width): (Column, usize),
    bar: usize,
) -> Vec<Span> {
    let theme = &screen.canvas.theme;
    let is_right = matches!(column, Column::Size | Column::Age);
    let mut text = match column {
        Column::Got if got(screen, entry) == Some(ModelGot::LostLastLine) && width < 18 => {
            vec![Span::plain("\u{2212}1 line")]
        }
        Column::Got if got(screen, entry) == Some(ModelGot::Unsaved) && width < 12 => {
            vec![Span::new("?", theme.warning)]
        }
        _ => spans(screen, entry, column, bar),
    };
    // A name's end tells as much as its start.
    if let ([name], Column::Agent | Column::Tool | Column::Session | Column::Call) = (&mut text[..], column) {
        name.text = name.text.fit(width);
    }
    let mut text = line::cut(text, width, screen.canvas.glyphs());
    let blank = Span::plain(" ".repeat(width.saturating_sub(line::width(&text))));
    text.insert(if is_right { 0 } else { text.len() }, blank);
    text
}

fn spans(screen: &StoresScreen, entry: &Entry, column: Column, bar: usize) -> Vec<Span> {
    let (theme, now) = (&screen.canvas.theme, screen.listing.now.unwrap_or_default());
    vec![match column {
        Column::Agent => Span::plain(entry.agent()),
        Column::Tool => Span::plain(tool(screen, entry).unwrap_or("–")),
        Column::Size => Span::plain(size(entry.size())),
        Column::Age => Span::plain(age(entry, now)),
        Column::Left => return time_left(screen, entry, bar, now),
        Column::Got => match got(screen, entry) {
            Some(ModelGot::All | ModelGot::Unknown) => Span::new(got_words(screen, entry), theme.dim),
            Some(ModelGot::Error | ModelGot::Nothing | ModelGot::Unsaved) => {
                Span::new(got_words(screen, entry), theme.warning)
            }
            _ => Span::plain(got_words(screen, entry)),
        },
        Column::Access => Span::new(access(screen, entry), theme.warning),
        Column::Session => Span::new(entry.whose().unwrap_or("–"), theme.dim),
        Column::Call => Span::new(call(screen, entry).map_or("–", |call| &call.call), theme.dim),
    }]
}

fn got(screen: &StoresScreen, entry: &Entry) -> Option<ModelGot> {
    if got::can_weigh(entry) {
        screen.listing.details.got.get(entry).copied()
    } else {
        Some(ModelGot::Unknown)
    }
}

fn got_words(screen: &StoresScreen, entry: &Entry) -> String {
    got(screen, entry).map_or_else(String::new, ModelGot::words)
}

/// Returns the recorded call that an entry is of, if it was found.
fn call<'a>(screen: &'a StoresScreen, entry: &Entry) -> Option<&'a CitingCall> {
    match screen.listing.details.calls.get(entry)? {
        FoundCall::Call(call) => Some(call),
        FoundCall::None => None,
    }
}

/// Returns the tool named by the entry's path, or else the one recorded for its run.
fn tool<'a>(screen: &'a StoresScreen, entry: &'a Entry) -> Option<&'a str> {
    let recorded = || screen.listing.details.peeks.get(entry).and_then(|peek| peek.tool.as_deref());
    entry.tool().or_else(recorded)
}

fn age(entry: &Entry, now: Timestamp) -> String {
    entry.known_age(now).map_or_else(|| "?".to_owned(), |age| span(age.as_secs().max(0) as u64))
}

/// Returns mode and owner as far as they are a reason for a warning; empty if they are not.
fn access(screen: &StoresScreen, entry: &Entry) -> String {
    let mode = entry.exposed().then(|| format!("{:04o}", entry.mode));
    let owner = details::is_foreign(screen, entry).then(|| details::owner(screen, entry));
    mode.into_iter().chain(owner).collect::<Vec<_>>().join(" ")
}

fn time_left(screen: &StoresScreen, entry: &Entry, bar: usize, now: Timestamp) -> Vec<Span> {
    let TimeLeft { bar: part, words, style } = left(screen, entry, now);
    let Some((rest, whole)) = part.filter(|_| bar > 0) else { return vec![Span::new(words, style)] };
    let theme = &screen.canvas.theme;
    let full = (u128::from(rest) * bar as u128).div_ceil(whole.max(1).into()).min(bar as u128) as usize;
    let Glyphs { left, passed, .. } = screen.canvas.glyphs();
    let colour = if is_short(rest, whole) { theme.warning } else { Style::new() };
    vec![
        Span::new(left.repeat(full), colour),
        Span::new(passed.repeat(bar - full), theme.dim),
        Span::new(format!(" {words}"), style),
    ]
}

/// Whether under a quarter of the time is left.
fn is_short(rest: u64, whole: u64) -> bool {
    u128::from(rest) * 4 < u128::from(whole)
}

fn left(screen: &StoresScreen, entry: &Entry, now: Timestamp) -> TimeLeft {
    let theme = &screen.canvas.theme;
    let only = |words: &str, style| TimeLeft { bar: None, words: words.to_owned(), style };
    match (entry.left(now), entry.expires) {
        _ if screen.listing.is_kept(entry) => only("kept", theme.dim),
        (Left::For(rest), _) => {
            let rest = rest.as_secs().max(0) as u64;
            let whole = rest.saturating_add(entry.age(now).as_secs().max(0) as u64);
            let style = if is_short(rest, whole) { theme.warning } else { Style::new() };
            TimeLeft { bar: Some((rest, whole)), words: span_left(rest), style }
        }
        (Left::Overdue(late), _) => {
            only(&format!("{} {}", entry.left_word(now), span(late.as_secs().max(0) as u64)), theme.warning)
        }
        (Left::Open, Expiry::Orphaned) => only(entry.left_word(now), theme.warning),
        (Left::Open, _) => only(entry.left_word(now), theme.dim),
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

/// Describes the output in at most `columns` columns: anything unusual, its command if one is recorded, its first line.
pub(super) fn content(screen: &StoresScreen, entry: &Entry, columns: usize) -> Vec<Span> {
    let theme = &screen.canvas.theme;
    let kept = screen.listing.is_kept(entry).then(|| SafeText::from("kept forever"));
    let status = (entry.status != EntryStatus::Ok).then(|| SafeText::from(&*entry.status.words()));
    let remarks = kept.into_iter().chain(status);
    let mut spans: Vec<Span> =
        remarks.map(|remark| Span::new(format!("{remark}  "), theme.warning)).collect();
    if let Some(peek) = screen.listing.details.peeks.get(entry) {
        let recorded = call(screen, entry).map(|call| SafeText::from(first_line(&call.command)));
        let command = recorded.filter(|_| peek.command.is_empty()).unwrap_or_else(|| peek.command.clone());
        if !command.is_empty() {
            spans.push(Span::plain(format!("$ {command}  ")));
        }
        spans.push(Span::new(peek.first_line.clone(), theme.dim));
    }
    line::cut(spans, columns, screen.canvas.glyphs())
}
