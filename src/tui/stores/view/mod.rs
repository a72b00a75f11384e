//! Draws the list of stored outputs: which are kept, and until when.

pub(crate) mod clean;
pub(crate) mod details;

use jiff::Timestamp;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use unicode_width::UnicodeWidthStr;

use crate::human::{count, size, span, span_left, thousands};
use crate::store::{Entry, EntryStatus, Expiry, Left, RootState};
use crate::text::label::SafeText;
use crate::tui::event::Message;
use crate::tui::pager::reader::Cost;
use crate::tui::pager::view::pane;
use crate::tui::stores::StoresScreen;
use crate::tui::widget::glyphs::Glyphs;
use crate::tui::widget::layout;
use crate::tui::widget::line::{self, Span};

use super::sort::ListRow;

/// Columns for the bar of the time left.
const BAR: usize = 8;

/// Columns for the time left in words.
const WORDS: usize = 14;

/// The columns of the list and their widths; 0 for a column for which there is no room.
struct Columns {
    agent: usize,
    tool: usize,
    mode: usize,
    owner: usize,
    session: usize,
    content: usize,
}

impl Columns {
    fn of(screen: &StoresScreen, width: u16, entries: &[&Entry]) -> Self {
        let widest = |text: &dyn Fn(&Entry) -> usize, least: usize, most: usize| {
            entries.iter().map(|entry| text(entry)).max().unwrap_or(0).clamp(least, most)
        };
        let wide = |columns: usize| if width >= 96 { columns } else { 0 };
        let agent = widest(&|entry| agent_of(entry).columns(), 5, 14);
        let tool = wide(widest(&|entry| tool(screen, entry).columns(), 4, 12));
        let owner = wide(widest(&|entry| details::owner(screen, entry).len(), 5, 10));
        let (mode, session) = (wide(5), wide(17));
        let optional = [tool, mode, owner, session].into_iter().filter(|columns| *columns > 0);
        let fixed = 2 + agent + 2 + 9 + 2 + 7 + 2 + BAR + 1 + WORDS + optional.map(|n| n + 2).sum::<usize>();
        Self { agent, tool, mode, owner, session, content: usize::from(width).saturating_sub(fixed + 1) }
    }
}

/// Draws the list, and the preview of the selected entry beside it if there is room.
pub(crate) fn draw(
    screen: &StoresScreen,
    told: Option<Option<&Message>>,
    frame: &mut Frame,
    area: Rect,
    cost: &Cost,
) {
    let places = layout::stores(area);
    let listing = &screen.listing;
    draw_title(screen, frame, places.title);
    match (listing.shown().entries.len(), listing.shown().len()) {
        (0, _) => draw_none(screen, frame, places.list),
        (_, 0) => {
            let words = format!("nothing matches \u{201c}{}\u{201d}; Esc shows all", listing.filter_text());
            line::centred(frame.buffer_mut(), places.list, [words], screen.canvas.theme.dim);
        }
        _ => draw_rows(screen, frame, &places),
    }
    let output = screen.glance.as_ref().and_then(|glance| glance.output.as_ref());
    if let (Some(place), Some(output)) = (places.glance, output) {
        pane::draw(&pane::Shown::glance(output, screen.canvas), frame.buffer_mut(), place, cost);
    }
    line::rule(frame.buffer_mut(), places.rule, &screen.canvas);
    details::draw(screen, frame, places.detail);
    if let Some(message) = told {
        draw_status(screen, message, frame, places.status);
    }
}

fn draw_title(screen: &StoresScreen, frame: &mut Frame, area: Rect) {
    let listing = &screen.listing;
    let sums = listing.entries().sums;
    let mut title = vec![
        Span::new(" Stores", screen.canvas.theme.active),
        Span::plain(format!("   {} · {}", count(sums.entries, "output"), size(sums.bytes))),
    ];
    if sums.overdue > 0 {
        title.push(Span::new(
            format!(" · overdue {}, {}", thousands(sums.overdue), size(sums.overdue_bytes)),
            screen.canvas.theme.warning,
        ));
    }
    line::spans(frame.buffer_mut(), area, &title);
    let filter = match listing.filter_text() {
        "" => String::new(),
        words => format!("filter: {words}   "),
    };
    let way = if listing.is_reversed() { " reversed" } else { "" };
    let disk = |words: fn(crate::store::Space) -> String| listing.space.map_or(String::new(), words);
    let free = disk(|space| format!("disk: {} free   ", size(space.free)));
    let whole = disk(|space| format!("disk: {} of {} free   ", size(space.free), size(space.total)));
    let sort = format!("sort: {}{way} ", listing.sort().as_str());
    let taken = line::width(&title);
    let room = usize::from(area.width).saturating_sub(taken + 1);
    for rest in [whole + &sort, free + &sort, sort] {
        let right =
            [Span::new(filter.clone(), screen.canvas.theme.accent), Span::new(rest, screen.canvas.theme.dim)];
        if line::width(&right) <= room {
            return line::right(frame.buffer_mut(), area, taken, &right);
        }
    }
    // The filter is shown even when space is short: the user must see that the list is incomplete.
    let filter = line::head(filter, room, screen.canvas.glyphs());
    line::right(frame.buffer_mut(), area, taken, &[Span::new(filter, screen.canvas.theme.accent)]);
}

fn draw_rows(screen: &StoresScreen, frame: &mut Frame, places: &layout::StoresAreas) {
    let listing = &screen.listing;
    let height = usize::from(places.list.height);
    let entries: Vec<&Entry> = listing.entries_on_screen(height).collect();
    let columns = Columns::of(screen, places.list.width, &entries);
    line::left(frame.buffer_mut(), places.head, head(&columns), screen.canvas.theme.dim);
    for (n, row) in listing.on_screen(height).enumerate() {
        let at = Rect { y: places.list.y + n as u16, height: 1, ..places.list };
        let chosen = listing.top + n == listing.chosen;
        let spans = spans(screen, row, &columns, chosen);
        if chosen {
            line::selected(frame.buffer_mut(), at, &spans, &screen.canvas);
        } else {
            line::spans(frame.buffer_mut(), at, &spans);
        }
    }
}

fn spans(screen: &StoresScreen, row: ListRow, columns: &Columns, chosen: bool) -> Vec<Span> {
    let listing = &screen.listing;
    let cursor = if chosen { screen.canvas.glyphs().chosen } else { " " };
    let mut spans = vec![Span::new(cursor, screen.canvas.theme.accent)];
    match row {
        ListRow::Group(name, sums) => {
            let words = format!("{name}  {} · {}", thousands(sums.entries), size(sums.bytes));
            spans.push(Span::new(words, screen.canvas.theme.active));
        }
        ListRow::Entry(entry) => {
            let path = entry.path();
            spans.push(match (listing.is_marked(&path), entry.exposed()) {
                (true, _) => Span::new("*", screen.canvas.theme.accent),
                (false, true) => Span::new("!", screen.canvas.theme.warning),
                (false, false) => Span::new(" ", screen.canvas.theme.dim),
            });
            let mut rest = entry_spans(screen, entry, columns, listing.now.unwrap_or_default());
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

fn head(columns: &Columns) -> String {
    let Columns { agent, tool, mode, owner, session, .. } = *columns;
    let mut text = format!("  {:<agent$}  ", "agent");
    if tool > 0 {
        text.push_str(&format!("{:<tool$}  ", "tool"));
    }
    text.push_str(&format!("{:>9}  {:>7}  {:<left$}", "size", "age", "time left", left = BAR + 1 + WORDS));
    if mode > 0 {
        text.push_str(&format!("{:<mode$}  {:<owner$}  ", "mode", "owner"));
    }
    if session > 0 {
        text.push_str(&format!("{:<session$}  ", "session, project"));
    }
    text + "command, first line"
}

fn entry_spans(screen: &StoresScreen, entry: &Entry, columns: &Columns, now: Timestamp) -> Vec<Span> {
    let Columns { agent, tool: tool_width, mode, owner, session, content } = *columns;
    let age = entry.known_age(now).map_or_else(|| "?".to_owned(), |age| span(age.as_secs().max(0) as u64));
    let mut spans = vec![Span::plain(agent_of(entry).fit(agent).padded(agent + 2))];
    if tool_width > 0 {
        spans.push(Span::plain(tool(screen, entry).fit(tool_width).padded(tool_width + 2)));
    }
    spans.push(Span::plain(format!("{:>9}  {age:>7}  ", size(entry.size()))));
    spans.extend(left(screen, entry, now));
    if mode > 0 {
        let style = if entry.exposed() { screen.canvas.theme.warning } else { screen.canvas.theme.dim };
        let shown = format!("{:04o}{}", entry.mode, if entry.exposed() { "!" } else { "" });
        spans.push(Span::new(format!("{shown:<mode$}  "), style));
        spans.push(Span::new(format!("{:<owner$}  ", details::owner(screen, entry)), style));
    }
    if session > 0 {
        let name = or_dash(entry.whose()).fit(session).padded(session + 2);
        spans.push(Span::new(name, screen.canvas.theme.dim));
    }
    spans.extend(
        remarks(screen, entry).map(|remark| Span::new(format!("{remark}  "), screen.canvas.theme.warning)),
    );
    spans.extend(details::content(screen, entry, content));
    spans
}

fn agent_of(entry: &Entry) -> SafeText {
    entry.agent().into()
}

/// Returns the tool named by the entry's path, or else the one recorded for its run.
fn tool(screen: &StoresScreen, entry: &Entry) -> SafeText {
    let recorded = || screen.listing.details.peek(entry).and_then(|peek| peek.tool.as_deref());
    or_dash(entry.tool().or_else(recorded))
}

/// Returns remarks on anything unusual about an entry.
fn remarks(screen: &StoresScreen, entry: &Entry) -> impl Iterator<Item = SafeText> {
    let kept = screen.listing.is_kept(entry).then(|| SafeText::from("kept forever"));
    let status = (entry.status != EntryStatus::Ok).then(|| SafeText::from(&*entry.status.words()));
    [kept, status].into_iter().flatten()
}

fn or_dash(text: Option<&str>) -> SafeText {
    text.unwrap_or("–").into()
}

/// Draws the time left, as a bar and in words.
fn left(screen: &StoresScreen, entry: &Entry, now: Timestamp) -> [Span; 2] {
    let blank = || Span::plain(" ".repeat(BAR + 1));
    let theme = &screen.canvas.theme;
    let words = |text: &str, style| Span::new(SafeText::from(text).padded(WORDS), style);
    match (entry.left(now), entry.expires) {
        _ if screen.listing.is_kept(entry) => [blank(), words("kept", theme.dim)],
        (Left::For(rest), _) => {
            let rest = rest.as_secs().max(0) as u64;
            let whole = rest + entry.age(now).as_secs().max(0) as u64;
            let bar = Span::new(bar(screen, rest, whole.max(1)), theme.accent);
            [bar, words(&span_left(rest), Style::new())]
        }
        (Left::Overdue(late), _) => {
            let late = span(late.as_secs().max(0) as u64);
            [blank(), words(&format!("overdue {late}"), theme.warning)]
        }
        (Left::Open, Expiry::SessionEnd) => [blank(), words("session", theme.dim)],
        (Left::Open, Expiry::ProcessExit) => [blank(), words("process", theme.dim)],
        (Left::Open, Expiry::Never) => [blank(), words("never", Style::new())],
        (Left::Open, Expiry::Orphaned) => [blank(), words("left behind", theme.warning)],
        (Left::Open, _) => [blank(), words("unknown", theme.dim)],
    }
}

fn bar(screen: &StoresScreen, rest: u64, whole: u64) -> String {
    let full = (rest * BAR as u64).div_ceil(whole).min(BAR as u64) as usize;
    let Glyphs { left, passed, .. } = screen.canvas.glyphs();
    format!("{}{} ", left.repeat(full), passed.repeat(BAR - full))
}

fn state_in_words(state: &RootState) -> &str {
    match state {
        RootState::Absent => "not there",
        RootState::Listed | RootState::Stopped => "empty",
        RootState::Unset(_) => "its variable is not set",
        RootState::Unreadable(reason) => reason,
    }
}

/// Draws the empty list: which directories were searched, and the state of each.
fn draw_none(screen: &StoresScreen, frame: &mut Frame, area: Rect) {
    if !screen.listing.has_looked() {
        return line::centred(frame.buffer_mut(), area, ["scanning the stores…"], screen.canvas.theme.dim);
    }
    let mut looked: Vec<(bool, String)> = screen
        .listing
        .reports
        .iter()
        .flat_map(|(store, roots)| {
            roots.iter().map(|report| {
                let root = SafeText::from_bytes(report.root.as_os_str().as_encoded_bytes());
                (
                    report.state == RootState::Absent,
                    format!("{:<12} {root} ({})", store.agent, state_in_words(&report.state)),
                )
            })
        })
        .collect();
    looked.sort();
    looked.dedup();
    let room = usize::from(area.height).saturating_sub(6).max(1);
    let more = looked.len().saturating_sub(room);
    looked.truncate(room);
    let mut words = vec!["No stored outputs yet. These directories were searched:".to_owned(), String::new()];
    words.extend(looked.into_iter().map(|(_, words)| words));
    if more > 0 {
        words.push(format!("and {more} more: `overspill stores` lists all"));
    }
    words.extend([String::new(), "`overspill FILE` opens any file.".to_owned()]);
    let words: Vec<SafeText> = words.into_iter().map(SafeText::from).collect();
    let width = words.iter().map(SafeText::columns).max().unwrap_or(0);
    line::centred(
        frame.buffer_mut(),
        area,
        words.iter().map(|text| text.padded(width)),
        screen.canvas.theme.dim,
    );
}

/// The shortest list of keys in the footer.
const LEAST_KEYS: &str = "h help ";

fn draw_status(screen: &StoresScreen, message: Option<&Message>, frame: &mut Frame, area: Rect) {
    let theme = &screen.canvas.theme;
    let left = match (message, &screen.copying) {
        (Some(message), _) if message.is_error => Span::new(format!(" {}", message.text), theme.error),
        (Some(message), _) => Span::plain(format!(" {}", message.text)),
        (None, Some(copying)) => Span::new(format!(" {}", copying.in_words()), theme.accent),
        (None, None) if screen.listing.is_first_look() => Span::new(" scanning the stores…", theme.accent),
        (None, None) if !screen.listing.pending.is_empty() => {
            Span::new(format!(" {}", screen.pending_words()), theme.warning)
        }
        (None, None) => {
            let room = usize::from(area.width).saturating_sub(LEAST_KEYS.width() + 3);
            Span::plain(format!(" {}", by_agent(screen, room)))
        }
    };
    let left = [left];
    line::spans(frame.buffer_mut(), area, &left);
    let taken = line::width(&left);
    let all = "Enter open · x delete · U undo · X clean overdue · / filter · s sort · t totals · h help ";
    for keys in
        [all, "Enter open · x delete · / filter · s sort · h help ", "Enter open · h help ", LEAST_KEYS]
    {
        if taken + keys.width() + 2 < usize::from(area.width) {
            return line::right(frame.buffer_mut(), area, taken, &[Span::new(keys, theme.dim)]);
        }
    }
}

/// Totals by agent, as many as fit into `room` columns: `opencode 1,101 · 62.9 GB   pi 39 · 2 MB   2 more`.
fn by_agent(screen: &StoresScreen, room: usize) -> SafeText {
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
    let fitting = (1..=words.len()).rev().map(some).find(|text| text.columns() <= room);
    fitting.unwrap_or_else(|| count(totals.values().map(|sums| sums.entries).sum(), "output").into())
}
