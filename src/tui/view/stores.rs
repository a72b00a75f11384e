//! The list of stored outputs: what is kept, and until when.

use jiff::Timestamp;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr;

use crate::store::{Entry, Expiry, Left, RootState};
use crate::text::safe::{fit, label};
use crate::tui::app::App;
use crate::tui::geometry;
use crate::words::{lines, size, span, thousands};

use super::line::{self, Span};
use super::status;

/// Columns of the bar of time left.
const BAR: usize = 8;

/// Columns of its words, `overdue 119 s` and a space.
const LEFT: usize = 14;

/// Which columns there is room for, and how wide they are.
struct Columns {
    agent: usize,
    tool: usize,
    session: usize,
    first_line: usize,
}

impl Columns {
    fn of(width: u16, entries: &[&Entry]) -> Self {
        let widest = |text: fn(&Entry) -> &str| entries.iter().map(|e| text(e).width()).max().unwrap_or(0);
        let agent = widest(|e| &e.agent).clamp(5, 14);
        let wide = width >= 110;
        let tool = if wide { widest(|e| e.tool.as_deref().unwrap_or("")).clamp(4, 12) } else { 0 };
        let session = if wide { 24 } else { 0 };
        let fixed =
            2 + agent + 2 + 9 + 2 + 7 + 2 + BAR + 1 + LEFT + tool + session + if wide { 4 } else { 0 };
        Self { agent, tool, session, first_line: usize::from(width).saturating_sub(fixed + 1) }
    }
}

/// Draws the list.
pub fn draw(app: &App, frame: &mut Frame, area: Rect) {
    let places = geometry::stores(area);
    let listing = &app.listing;
    let (count, bytes) = listing.total();
    let title = [
        (" Stores".into(), app.theme.active),
        (format!("   {} outputs · {}", thousands(count as u64), size(bytes)), Style::new()),
    ];
    line::spans(frame.buffer_mut(), places.title, &title);
    let filter =
        if listing.filter.is_empty() { String::new() } else { format!("filter: {}   ", listing.filter) };
    let right = [(filter, app.theme.accent), (format!("sort: {} ", listing.sort.word()), app.theme.dim)];
    line::right(frame.buffer_mut(), places.title, line::width(&title), &right);
    match (count, listing.shown().len()) {
        (0, _) => draw_none(app, frame, places.list),
        (_, 0) => line::centred(
            frame.buffer_mut(),
            places.list,
            &[format!("nothing has {:?}; Esc shows all", listing.filter)],
            app.theme.dim,
        ),
        _ => draw_entries(app, frame, &places),
    }
    line::rule(frame.buffer_mut(), places.rule, app);
    draw_status(app, frame, places.status);
}

fn draw_entries(app: &App, frame: &mut Frame, places: &geometry::Stores) {
    let listing = &app.listing;
    let on_screen: Vec<&Entry> =
        listing.shown().skip(listing.top).take(usize::from(places.list.height)).collect();
    let columns = Columns::of(places.list.width, &on_screen);
    line::left(frame.buffer_mut(), places.head, &head(&columns), app.theme.dim);
    let now = listing.now.unwrap_or_default();
    for (n, entry) in on_screen.iter().enumerate() {
        let at = Rect { y: places.list.y + n as u16, height: 1, ..places.list };
        let chosen = listing.top + n == listing.chosen;
        let mut spans = row(app, entry, &columns, now);
        let mark = if !chosen {
            " "
        } else if app.unicode {
            "▌"
        } else {
            ">"
        };
        spans.insert(0, (format!("{mark} "), app.theme.accent));
        if chosen {
            spans.iter_mut().for_each(|(_, style)| *style = style.add_modifier(Modifier::BOLD));
        }
        line::spans(frame.buffer_mut(), at, &spans);
    }
}

fn head(columns: &Columns) -> String {
    let Columns { agent, tool, session, .. } = *columns;
    let mut text = format!("  {:<agent$}  ", "agent");
    if tool > 0 {
        text.push_str(&format!("{:<tool$}  ", "tool"));
    }
    text.push_str(&format!("{:>9}  {:>7}  {:<left$}", "size", "age", "time left", left = BAR + 1 + LEFT));
    if session > 0 {
        text.push_str(&format!("{:<session$}  ", "session / project"));
    }
    text + "first line"
}

fn row(app: &App, entry: &Entry, columns: &Columns, now: Timestamp) -> Vec<Span> {
    let Columns { agent, tool, session, first_line } = *columns;
    let plain = Style::new();
    let age = span(entry.age(now).as_secs().max(0) as u64);
    let mut spans = vec![(format!("{:<agent$}  ", fit(&label(entry.agent.as_bytes()), agent)), plain)];
    if tool > 0 {
        spans.push((format!("{:<tool$}  ", fit(&or_dash(entry.tool.as_deref()), tool)), plain));
    }
    spans.push((format!("{:>9}  {age:>7}  ", size(entry.size())), plain));
    spans.extend(left(app, entry, now));
    if session > 0 {
        let name = entry.session.as_deref().or(entry.project.as_deref());
        spans.push((padded(&fit(&or_dash(name), session), session + 2), app.theme.dim));
    }
    let first = app.listing.first_lines.get(&entry.path()).map_or("", String::as_str);
    spans.push((line::head(first, first_line, app.unicode), app.theme.dim));
    spans
}

fn or_dash(text: Option<&str>) -> String {
    text.map_or_else(|| "–".to_owned(), |text| label(text.as_bytes()))
}

fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// The bar and the words of the time left.
fn left(app: &App, entry: &Entry, now: Timestamp) -> [Span; 2] {
    let blank = || (" ".repeat(BAR + 1), Style::new());
    let words = |text: String| padded(&text, LEFT);
    match (entry.left(now), entry.expires) {
        (Left::For(rest), _) => {
            let rest = rest.as_secs().max(0) as u64;
            let whole = rest + entry.age(now).as_secs().max(0) as u64;
            [(bar(app, rest, whole.max(1)), app.theme.accent), (words(span(rest)), Style::new())]
        }
        (Left::Overdue(late), _) => {
            let late = span(late.as_secs().max(0) as u64);
            [blank(), (words(format!("overdue {late}")), app.theme.warning)]
        }
        (Left::Open, Expiry::SessionEnd) => [blank(), (words("session".into()), app.theme.dim)],
        (Left::Open, Expiry::ProcessExit) => [blank(), (words("process".into()), app.theme.dim)],
        (Left::Open, Expiry::Never) => [blank(), (words("never".into()), Style::new())],
        (Left::Open, Expiry::Orphaned) => [blank(), (words("left behind".into()), app.theme.warning)],
        (Left::Open, _) => [blank(), (words("unknown".into()), app.theme.dim)],
    }
}

fn bar(app: &App, rest: u64, whole: u64) -> String {
    let full = (rest * BAR as u64).div_ceil(whole).min(BAR as u64) as usize;
    let (on, off) = if app.unicode { ("▓", "░") } else { ("#", ".") };
    format!("{}{} ", on.repeat(full), off.repeat(BAR - full))
}

/// No entries: which directories were looked at, and what was there.
fn draw_none(app: &App, frame: &mut Frame, area: Rect) {
    if app.listing.now.is_none() {
        return line::centred(frame.buffer_mut(), area, &["looking at the stores…".into()], app.theme.dim);
    }
    let mut words =
        vec!["No stored outputs yet. These directories were looked at:".to_owned(), String::new()];
    for (store, roots) in &app.listing.reports {
        for report in roots {
            let root = label(report.root.to_string_lossy().as_bytes());
            let state = match &report.state {
                RootState::Absent => "not there".into(),
                RootState::Listed | RootState::Stopped => "empty".into(),
                RootState::Unset(_) => "its variable is not set".into(),
                RootState::Unreadable(reason) => reason.clone(),
            };
            words.push(format!("{:<12} {root} ({state})", store.agent));
        }
    }
    words.extend([String::new(), "`overspill FILE` looks at any file.".to_owned()]);
    let width = words.iter().map(|text| text.width()).max().unwrap_or(0);
    let aligned: Vec<String> = words.iter().map(|text| padded(text, width)).collect();
    line::centred(frame.buffer_mut(), area, &aligned, app.theme.dim);
}

fn draw_status(app: &App, frame: &mut Frame, area: Rect) {
    if let Some(prompt) = &app.prompt {
        return status::draw_prompt(app, prompt, frame, area);
    }
    let left = match &app.message {
        Some(message) if message.is_error => (format!(" {}", message.text), app.theme.error),
        Some(message) => (format!(" {}", message.text), Style::new()),
        None if app.listing.scanning => (" looking at the stores…".into(), app.theme.accent),
        None => (format!(" {}", by_agent(app)), Style::new()),
    };
    let left = [left];
    line::spans(frame.buffer_mut(), area, &left);
    let taken = line::width(&left);
    for keys in
        ["Enter open · / filter · s sort · y copy path · q quit · h help ", "Enter open · h help ", "h help "]
    {
        if taken + keys.width() + 2 < usize::from(area.width) {
            return line::right(frame.buffer_mut(), area, taken, &[(keys.into(), app.theme.dim)]);
        }
    }
}

/// `opencode 1,101 · 62.9 GB   pi 39 · 2 MB`.
fn by_agent(app: &App) -> String {
    let mut totals: std::collections::BTreeMap<&str, (u64, u64)> = Default::default();
    for entry in app.listing.shown() {
        let total = totals.entry(&entry.agent).or_default();
        *total = (total.0 + 1, total.1 + entry.size());
    }
    let words = totals
        .iter()
        .map(|(agent, (count, bytes))| format!("{agent} {} · {}", thousands(*count), size(*bytes)));
    let words: Vec<String> = words.collect();
    if words.is_empty() { lines(0).replace("lines", "outputs") } else { words.join("   ") }
}
