//! Help: its rows, how they stand in columns, and how it scrolls and searches.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use crate::tui::event::MOST_TYPED;
use crate::tui::keys::{Action, BoundKeys, KeyContext, name};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::layout;

use super::legend::legend;

/// The columns reserved for keys.
pub(crate) const KEYS: usize = 18;

/// The columns before the keys.
pub(crate) const INDENT: usize = 3;

/// From this many columns of the screen on, help has two columns.
const TWO_COLUMNS: u16 = 120;

/// The widest box with one column of rows, and with two.
const WIDEST: (u16, u16) = (76, 156);

/// A row of help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HelpLine {
    Heading(String),
    /// Keys, or a mark on the screen, and what they mean. Both are empty in part if the text goes on from the row above.
    Key(String, String),
    /// An empty row.
    Blank,
}

impl HelpLine {
    /// Whether the row holds a text, whatever the case of its ASCII letters.
    fn has(&self, text: &str) -> bool {
        let holds = |row: &str| row.to_ascii_lowercase().contains(&text.to_ascii_lowercase());
        match self {
            Self::Heading(heading) => holds(heading),
            Self::Key(keys, what) => holds(keys) || holds(what),
            Self::Blank => false,
        }
    }
}

/// A search in help.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum HelpSearch {
    /// None.
    #[default]
    None,
    /// A text being typed.
    Typing(String),
    /// A text that was entered.
    Entered(String),
}

/// The state of help.
#[derive(Debug, Clone)]
pub struct HelpView {
    /// The view that it was opened from, whose keys come first.
    from: KeyContext,
    /// The first row shown.
    pub(crate) top: usize,
    pub(crate) search: HelpSearch,
    /// The row of the match under examination.
    at: usize,
}

impl HelpView {
    /// Opens help over a view.
    pub(crate) fn new(from: KeyContext) -> Self {
        Self { from, top: 0, search: HelpSearch::None, at: 0 }
    }

    /// Returns the text searched for; empty if there is none.
    pub(crate) fn sought(&self) -> &str {
        match &self.search {
            HelpSearch::None => "",
            HelpSearch::Typing(text) | HelpSearch::Entered(text) => text,
        }
    }

    /// Whether a text is being typed.
    pub(crate) fn is_typing(&self) -> bool {
        matches!(self.search, HelpSearch::Typing(_))
    }

    /// Handles a key. Returns false if it closes help.
    ///
    /// # Errors
    /// What to say, if the key does nothing.
    pub(crate) fn key(&mut self, key: KeyEvent, canvas: &Canvas) -> Result<bool, String> {
        if let HelpSearch::Typing(text) = &self.search {
            let text = text.clone();
            self.type_key(key, text, canvas);
            return Ok(true);
        }
        let shown = HelpRows::of(self, canvas);
        let page = shown.height.max(1);
        let (down, up) = (|by| self.top.saturating_add(by), |by| self.top.saturating_sub(by));
        let top = match canvas.keys.action(KeyContext::Help, key) {
            Some(Action::Search) => {
                self.search = HelpSearch::Typing(String::new());
                return Ok(true);
            }
            Some(Action::NextMatch) => return self.next_match(&shown, MatchStep::Next, canvas),
            Some(Action::PreviousMatch) => return self.next_match(&shown, MatchStep::Previous, canvas),
            Some(Action::Down) => down(1),
            Some(Action::Up) => up(1),
            Some(Action::HalfDown) => down(page / 2),
            Some(Action::HalfUp) => up(page / 2),
            Some(Action::PageDown) => down(page),
            Some(Action::PageUp) => up(page),
            Some(Action::Start) => 0,
            Some(Action::End) => usize::MAX,
            Some(Action::Back) if self.search != HelpSearch::None => {
                self.search = HelpSearch::None;
                return Ok(true);
            }
            Some(Action::Help | Action::Back | Action::Quit | Action::Interrupt) => return Ok(false),
            _ => return Err(nothing(key, canvas)),
        };
        self.top = top.min(shown.last_top());
        Ok(true)
    }

    fn type_key(&mut self, key: KeyEvent, mut text: String, canvas: &Canvas) {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        self.search = match key.code {
            KeyCode::Enter if text.is_empty() => HelpSearch::None,
            KeyCode::Enter => HelpSearch::Entered(text),
            KeyCode::Esc => HelpSearch::None,
            KeyCode::Backspace if text.pop().is_none() => HelpSearch::None,
            KeyCode::Char(c) if !control && text.len() < MOST_TYPED => {
                text.push(c);
                HelpSearch::Typing(text)
            }
            _ => HelpSearch::Typing(text),
        };
        if let HelpSearch::Typing(_) = self.search {
            let shown = HelpRows::of(self, canvas);
            let first = shown.matches(self.sought()).into_iter().find(|row| *row >= self.top);
            first
                .or(shown.matches(self.sought()).first().copied())
                .into_iter()
                .for_each(|row| self.show(row, &shown));
        }
    }

    /// Goes to the next or previous match, round the end if need be.
    fn next_match(&mut self, shown: &HelpRows, step: MatchStep, canvas: &Canvas) -> Result<bool, String> {
        if self.sought().is_empty() {
            let search = canvas.keys.of(KeyContext::Help, Action::Search);
            return Err(format!("no search in help yet; {search} starts one"));
        }
        let matches = shown.matches(self.sought());
        let next = match step {
            MatchStep::Next => matches.iter().find(|row| **row > self.at).or(matches.first()),
            MatchStep::Previous => matches.iter().rev().find(|row| **row < self.at).or(matches.last()),
        };
        match next {
            Some(row) => self.show(*row, shown),
            None => return Err(format!("no match for {} in help", self.sought())),
        }
        Ok(true)
    }

    /// Scrolls so that a row is on the screen.
    fn show(&mut self, row: usize, shown: &HelpRows) {
        self.at = row;
        if row < self.top || row >= self.top.saturating_add(shown.height) {
            self.top = row.saturating_sub(1).min(shown.last_top());
        }
    }
}

/// A way through the matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatchStep {
    Next,
    Previous,
}

fn nothing(key: KeyEvent, canvas: &Canvas) -> String {
    let help = canvas.keys.of(KeyContext::Help, Action::Help);
    name(key).map_or(format!("{help} closes help"), |name| {
        format!("{name} does nothing in help; {help} closes it")
    })
}

/// Help as it stands on a screen.
pub(crate) struct HelpRows {
    pub(crate) place: Rect,
    /// The rows, in one column or two.
    pub(crate) columns: Vec<Vec<HelpLine>>,
    /// The number of rows on the screen at a time.
    pub(crate) height: usize,
}

impl HelpRows {
    /// Lays help out for a screen.
    pub(crate) fn of(view: &HelpView, canvas: &Canvas) -> Self {
        let (width, height) = canvas.size;
        let area = Rect::new(0, 0, width, height);
        let (number, widest) = if width >= TWO_COLUMNS { (2, WIDEST.1) } else { (1, WIDEST.0) };
        let inner = usize::from(layout::overlay(area, widest, height).width.saturating_sub(2));
        let room = (inner / number).saturating_sub(INDENT + KEYS + 1).max(10);
        let columns = in_columns(groups(view.from, canvas, room), number);
        let rows = columns.iter().map(Vec::len).max().unwrap_or(0);
        let place = layout::overlay(area, widest, (rows as u16).saturating_add(2));
        Self { place, columns, height: usize::from(place.height.saturating_sub(2)) }
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.columns.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Returns the last row to which help can be scrolled.
    fn last_top(&self) -> usize {
        self.rows().saturating_sub(self.height)
    }

    /// Returns the rows that hold a text, in order.
    pub(crate) fn matches(&self, text: &str) -> Vec<usize> {
        let has =
            |row: &usize| self.columns.iter().any(|lines| lines.get(*row).is_some_and(|line| line.has(text)));
        if text.is_empty() { Vec::new() } else { (0..self.rows()).filter(has).collect() }
    }
}

/// Puts groups into columns of about the same height; no group is torn.
fn in_columns(groups: Vec<Vec<HelpLine>>, number: usize) -> Vec<Vec<HelpLine>> {
    let all: usize = groups.iter().map(|group| group.len() + 1).sum();
    let mut columns = vec![Vec::new()];
    let mut taken = 0;
    for group in groups {
        let is_full = taken * 2 + group.len() > all;
        if is_full && columns.len() < number {
            columns.push(Vec::new());
        }
        taken += group.len() + 1;
        if let Some(column) = columns.last_mut() {
            if !column.is_empty() {
                column.push(HelpLine::Blank);
            }
            column.extend(group);
        }
    }
    columns
}

/// Returns the groups of keys, those of the view `from` first, and the legend of the marks on the screen.
fn groups(from: KeyContext, canvas: &Canvas, room: usize) -> Vec<Vec<HelpLine>> {
    let keys = canvas.keys;
    let all = || keys.rows().iter().filter(|bound| !bound.keys.is_empty());
    let is_here = |bound: &&BoundKeys| [from, KeyContext::Everywhere].contains(&bound.row.place);
    let here: Vec<&BoundKeys> = all().filter(is_here).collect();
    let is_own = |group: &str| here.iter().any(|bound| bound.row.group == group && bound.row.place == from);
    let (own, others): (Vec<&BoundKeys>, Vec<&BoundKeys>) =
        here.iter().partition(|bound| is_own(bound.row.group));
    let elsewhere: Vec<&BoundKeys> = all().filter(|bound| !is_here(bound)).collect();
    let mut groups = Vec::new();
    for (rows, place) in [(own, ""), (others, ""), (elsewhere, elsewhere_of(from))] {
        for rows in rows.chunk_by(|one, next| one.row.group == next.row.group) {
            let heading = rows.first().map_or(String::new(), |bound| heading(bound, place));
            let row = |bound: &&BoundKeys| (bound.keys.join(" "), keys.in_words(bound.row.what));
            groups.push(group(keys.in_words(&heading), rows.iter().map(row), room));
        }
    }
    groups.push(group("Marks on the screen".into(), legend(canvas.glyphs()), room));
    groups
}

/// Returns what a heading of a view that is not on the screen says besides.
fn elsewhere_of(from: KeyContext) -> &'static str {
    if from == KeyContext::Lists { " in Preview and Spill" } else { "" }
}

fn heading(bound: &BoundKeys, place: &str) -> String {
    let place = if bound.row.place == KeyContext::Pager { place } else { "" };
    format!("{}{place}", bound.row.group)
}

fn group(heading: String, rows: impl Iterator<Item = (String, String)>, room: usize) -> Vec<HelpLine> {
    let mut lines = vec![HelpLine::Heading(heading)];
    for (keys, what) in rows {
        let (keys, what) = (folded(&keys, KEYS - 1), folded(&what, room));
        let part = |parts: &[String], n: usize| parts.get(n).cloned().unwrap_or_default();
        lines.extend((0..keys.len().max(what.len())).map(|n| HelpLine::Key(part(&keys, n), part(&what, n))));
    }
    lines
}

/// Folds a text between words into rows of at most `room` columns.
fn folded(text: &str, room: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in text.split(' ') {
        match rows.last_mut() {
            Some(row) if row.is_empty() => row.push_str(word),
            Some(row) if row.width() + 1 + word.width() <= room => *row = format!("{row} {word}"),
            _ => rows.push(word.to_owned()),
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use crate::tui::widget::theme::Theme;

    use super::*;

    fn canvas(size: (u16, u16)) -> Canvas {
        Canvas::new(size, Theme::plain(), true)
    }

    fn press(view: &mut HelpView, keys: &str, canvas: &Canvas) -> Result<bool, String> {
        let mut last = Ok(true);
        for c in keys.chars() {
            let code = if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
            last = view.key(KeyEvent::new(code, KeyModifiers::NONE), canvas);
        }
        last
    }

    #[test]
    fn every_row_fits_its_column() {
        for size in [(80, 24), (120, 30), (200, 50)] {
            for from in [KeyContext::Pager, KeyContext::Lists] {
                let shown = HelpRows::of(&HelpView::new(from), &canvas(size));
                let width = usize::from(shown.place.width - 2) / shown.columns.len();
                for line in shown.columns.iter().flatten() {
                    if let HelpLine::Key(keys, what) = line {
                        assert!(
                            keys.width() <= KEYS && INDENT + KEYS + what.width() <= width,
                            "{keys} {what}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn the_keys_of_the_view_come_first() {
        let first = |from| HelpRows::of(&HelpView::new(from), &canvas((80, 24))).columns[0][0].clone();
        assert_eq!(first(KeyContext::Pager), HelpLine::Heading("Move".into()));
        assert_eq!(first(KeyContext::Lists), HelpLine::Heading("Lists".into()));
    }

    #[test]
    fn every_key_is_in_help_whichever_view_it_is_opened_from() {
        for from in [KeyContext::Pager, KeyContext::Lists] {
            let shown = HelpRows::of(&HelpView::new(from), &canvas((200, 50)));
            let lines: Vec<&HelpLine> = shown.columns.iter().flatten().collect();
            for row in crate::tui::keys::TABLE {
                let is_row = |line: &&HelpLine| matches!(line, HelpLine::Key(keys, _) if keys == row.keys);
                assert!(lines.iter().any(is_row), "{}", row.keys);
            }
        }
    }

    #[test]
    fn a_search_goes_from_match_to_match_and_round_the_end() {
        let canvas = canvas((80, 24));
        let mut view = HelpView::new(KeyContext::Pager);
        press(&mut view, "/the map\n", &canvas).unwrap();
        let matches = HelpRows::of(&view, &canvas).matches("the map");
        assert!(matches.len() > 2);
        assert_eq!(view.at, matches[0]);
        press(&mut view, "n", &canvas).unwrap();
        assert_eq!(view.at, matches[1]);
        press(&mut view, "NN", &canvas).unwrap();
        assert_eq!(Some(&view.at), matches.last());
    }

    #[test]
    fn other_keys_say_how_to_close_it() {
        let canvas = canvas((80, 24));
        let mut view = HelpView::new(KeyContext::Pager);
        let says = press(&mut view, "x", &canvas);
        assert_eq!(says, Err("x does nothing in help; h closes it".into()));
        assert_eq!(press(&mut view, "h", &canvas), Ok(false));
    }
}
