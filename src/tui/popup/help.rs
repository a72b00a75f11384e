//! Help: the keys and signs of the view that it lies over on one screen, or all keys.

use crossterm::event::KeyEvent;
use ratatui::layout::{Constraint, Rect};
use unicode_width::UnicodeWidthStr;

use crate::tui::event::Message;
use crate::tui::keys::{Action, BoundKeys, KeyContext, MOTIONS, name};
use crate::tui::screen::{ExitChoice, Layer, LayerContext, LayerFrame, LayerNext, Screen, ScreenRequest};
use crate::tui::widget::canvas::{Canvas, Glyphs};
use crate::tui::widget::line::{self, Span};

const MAX_COLUMNS: usize = 3;

/// Rows of the screen that stay free of keys and signs: two of the border, and the status line.
const AROUND: usize = 3;

/// Actions of the application, which do the same over every screen.
const OF_APPLICATION: [Action; 6] =
    [Action::Help, Action::GoTo, Action::Quit, Action::QuitNow, Action::Interrupt, Action::Redraw];

type Supports<'a> = &'a dyn Fn(Action) -> bool;

#[derive(Debug, Clone)]
pub struct HelpView {
    from: KeyContext,
    /// Whether the keys of all views are shown, not those of one.
    of_all: bool,
    top: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum HelpRow {
    Blank,
    Heading(&'static str),
    /// Keys, or a sign on the screen, and what they mean.
    Entry(String, String),
}

impl HelpView {
    pub(crate) fn new(from: KeyContext) -> Self {
        Self { from, of_all: false, top: 0 }
    }

    /// Returns the rows of help, each as wide as they all are. Of a view, `supports` tells which actions do something there.
    fn lines(&self, canvas: &Canvas, supports: Supports) -> Vec<Vec<Span>> {
        let room = usize::from(canvas.size.0.saturating_sub(2));
        let columns = fitting(&self.groups(canvas, supports), room);
        let rows = columns.iter().map(|column| column.rows.len()).max().unwrap_or(0);
        let line = |row| columns.iter().flat_map(|column| column.spans(row, canvas)).collect();
        let mut lines: Vec<Vec<Span>> = (0..rows).map(line).collect();
        if !self.of_all {
            let motions = motions(self.from, canvas, columns.iter().map(HelpColumn::width).sum());
            // Apart from the keys, where one screen has room for that.
            let is_roomy = lines.len() + motions.len() + AROUND < usize::from(canvas.size.1);
            lines.extend(is_roomy.then(Vec::new));
            lines.extend(motions);
        }
        lines
    }

    fn groups(&self, canvas: &Canvas, supports: Supports) -> Vec<Vec<HelpRow>> {
        let (from, glyphs) = (self.from, canvas.glyphs());
        if !self.of_all {
            let signs = if from == KeyContext::Lists { signs_of_lists } else { signs_of_output };
            let keys = |place| keys_of(place, (from, supports), canvas);
            return vec![keys(from), keys(KeyContext::Everywhere), signs(glyphs)];
        }
        let rows = canvas.keys.rows.chunk_by(|one, next| one.row.heading() == next.row.heading());
        let groups = rows.map(|rows| {
            let heading = rows.first().map_or("", |bound| bound.row.heading());
            group(heading, rows.iter().filter_map(|bound| entry(bound, KeyContext::Everywhere, canvas)))
        });
        groups.chain([other_in_lists(canvas), signs_of_output(glyphs), signs_of_lists(glyphs)]).collect()
    }

    /// Returns where help stands, and the first row that is shown there: the screen may have grown since it was scrolled to.
    fn place(&self, lines: &[Vec<Span>], canvas: &Canvas) -> (Rect, usize) {
        let (columns, rows) = canvas.size;
        let width = lines.iter().map(|line| line::width(line)).max().unwrap_or(0) as u16 + 2;
        // The status line stays free for messages.
        let area = Rect::new(0, 0, columns, rows.saturating_sub(1));
        let place = area.centered(Constraint::Length(width), Constraint::Length(lines.len() as u16 + 2));
        (place, self.top.min(lines.len().saturating_sub(height(place))))
    }

    fn foot(&self, scrolls: bool, canvas: &Canvas) -> Vec<String> {
        let key = |action| canvas.keys.label(KeyContext::Everywhere, action);
        let [other, close, down] = [Action::Other, Action::Help, Action::Down].map(key);
        let scope = if self.of_all { "keys of this view" } else { "all keys" };
        let scroll = scrolls.then(|| format!("{down} down"));
        [format!("{other} {scope}"), format!("{close} closes")].into_iter().chain(scroll).collect()
    }
}

fn height(place: Rect) -> usize {
    usize::from(place.height.saturating_sub(2))
}

impl Layer for HelpView {
    fn context(&self, _below: &dyn Screen) -> KeyContext {
        KeyContext::Everywhere
    }

    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext {
        let keys = on.canvas.keys;
        match keys.action(KeyContext::Everywhere, key) {
            Some(Action::Help | Action::Back | Action::Quit | Action::Interrupt) => return LayerNext::Closes,
            Some(Action::QuitNow) => on.effects.request(ScreenRequest::Leave(ExitChoice::default())),
            Some(Action::Other) => (self.of_all, self.top) = (!self.of_all, 0),
            action => {
                let lines = self.lines(on.canvas, &|action| on.below.supports(action));
                let (place, top) = self.place(&lines, on.canvas);
                match action.and_then(|action| action.destination(None, [top, lines.len()], height(place))) {
                    Some(to) => self.top = to.min(lines.len()),
                    None => on.below.say(name(key).map(|name| {
                        let help = keys.label(KeyContext::Everywhere, Action::Help);
                        Message::note(format!("{name} does nothing in help; {help} closes it"))
                    })),
                }
            }
        }
        LayerNext::Stays
    }

    fn draw(&self, look: LayerFrame) {
        let lines = self.lines(look.canvas, &|action| look.below.supports(action));
        let (place, top) = self.place(&lines, look.canvas);
        let (rows, shown) = (lines.len(), height(place));
        let words = if self.of_all { "All keys" } else { "Keys" };
        let title = match shown < rows {
            true => format!(" {words} {}-{} of {rows} ", top + 1, top + shown),
            false => format!(" {words} "),
        };
        let foot = self.foot(shown < rows, look.canvas);
        let inner = line::boxed(look.canvas, look.frame, place, title, &foot);
        for (line, row) in lines.iter().skip(top).zip(inner.rows()) {
            line::spans(look.frame.buffer_mut(), row, line);
        }
    }
}

/// Rows below each other, and the columns that their halves take.
struct HelpColumn {
    rows: Vec<HelpRow>,
    keys: usize,
    texts: usize,
}

impl HelpColumn {
    fn new(rows: Vec<HelpRow>) -> Self {
        let (mut keys, mut texts) = (0, 0);
        for row in &rows {
            if let HelpRow::Entry(key, text) = row {
                (keys, texts) = (keys.max(key.width()), texts.max(text.width()));
            }
        }
        Self { rows, keys, texts }
    }

    fn width(&self) -> usize {
        self.keys + self.texts + 2
    }

    fn spans(&self, row: usize, canvas: &Canvas) -> Vec<Span> {
        let padded = |text: &str, width: usize| format!("{text}{}", " ".repeat(width - text.width()));
        let spans = match self.rows.get(row).unwrap_or(&HelpRow::Blank) {
            HelpRow::Blank => vec![Span::plain(" ".repeat(self.width() - 1))],
            HelpRow::Heading(text) => vec![Span::new(padded(text, self.width() - 1), canvas.theme.active)],
            HelpRow::Entry(keys, text) => vec![
                Span::new(padded(keys, self.keys), canvas.theme.accent),
                Span::plain(" "),
                Span::plain(padded(text, self.texts)),
            ],
        };
        [Span::plain(" ")].into_iter().chain(spans).collect()
    }
}

fn fitting(groups: &[Vec<HelpRow>], room: usize) -> Vec<HelpColumn> {
    let width = |columns: &Vec<HelpColumn>| columns.iter().map(HelpColumn::width).sum::<usize>();
    let mut numbers = (1..=MAX_COLUMNS).rev().map(|number| in_columns(groups, number));
    numbers.find(|columns| columns.len() == 1 || width(columns) <= room).unwrap_or_default()
}

/// Puts groups into columns of about the same height; no group is torn.
fn in_columns(groups: &[Vec<HelpRow>], number: usize) -> Vec<HelpColumn> {
    let height = groups.iter().map(|group| group.len() + 1).sum::<usize>().div_ceil(number);
    let mut columns = vec![Vec::new()];
    for group in groups {
        let has_room = columns
            .last()
            .is_some_and(|column| column.is_empty() || column.len() + group.len() / 2 <= height);
        if !has_room && columns.len() < number {
            columns.push(Vec::new());
        }
        if let Some(column) = columns.last_mut() {
            column.extend((!column.is_empty()).then_some(HelpRow::Blank));
            column.extend(group.iter().cloned());
        }
    }
    columns.into_iter().map(HelpColumn::new).collect()
}

fn group<K: Into<String>, T: Into<String>>(
    heading: &'static str,
    entries: impl IntoIterator<Item = (K, T)>,
) -> Vec<HelpRow> {
    let entries = entries.into_iter().map(|(keys, what)| HelpRow::Entry(keys.into(), what.into()));
    [HelpRow::Heading(heading)].into_iter().chain(entries).collect()
}

/// Returns the keys of a place that do something in the view `from`, those forwards and backwards in one row.
fn keys_of(place: KeyContext, (from, supports): (KeyContext, Supports), canvas: &Canvas) -> Vec<HelpRow> {
    /// As many keys of a row as a compact column has room for.
    const MAX_KEYS: usize = 2;
    let is_known = |action: Action| OF_APPLICATION.contains(&action) || supports(action);
    let is_of_place =
        |bound: &&BoundKeys| bound.row.place == place && !bound.row.is_motion() && is_known(bound.row.action);
    let mut entries: Vec<(String, String)> = Vec::new();
    for bound in canvas.keys.rows.iter().filter(is_of_place) {
        let keys = canvas.keys.keys_in(from, bound).take(MAX_KEYS);
        let keys: Vec<&str> = keys.map(|key| canvas.key_name(key)).collect();
        let Some(key) = keys.first() else { continue };
        let what = bound.row.what_in(from);
        match entries.last_mut() {
            Some((forwards, text)) if is_pair(text, what) => {
                let first = forwards.split(' ').next().unwrap_or_default();
                (*forwards, *text) = (format!("{first} {key}"), format!("next, {what}"));
            }
            _ => entries.push((keys.join(" "), what.to_owned())),
        }
    }
    group(place.as_str(), entries)
}

fn is_pair(forwards: &str, backwards: &str) -> bool {
    let step = forwards.strip_prefix("next ");
    step.is_some() && step == backwards.strip_prefix("previous ")
}

fn other_in_lists(canvas: &Canvas) -> Vec<HelpRow> {
    let what = |bound: &BoundKeys, place| bound.row.what_in(place);
    let is_other = |bound: &&BoundKeys| what(bound, KeyContext::Everywhere) != what(bound, KeyContext::Lists);
    let rows = canvas.keys.rows.iter().filter(is_other);
    group("In lists", rows.filter_map(|bound| entry(bound, KeyContext::Lists, canvas)))
}

fn entry(bound: &BoundKeys, place: KeyContext, canvas: &Canvas) -> Option<(String, &'static str)> {
    let keys: Vec<&str> = bound.keys.iter().map(|key| canvas.key_name(key)).collect();
    (!keys.is_empty()).then(|| (keys.join(" "), bound.row.what_in(place)))
}

/// Returns the motions of a view in lines of at most `room` columns.
fn motions(from: KeyContext, canvas: &Canvas, room: usize) -> Vec<Vec<Span>> {
    /// As many keys of a motion as two lines have room for.
    const MAX_KEYS: usize = 3;
    let is_here = |bound: &&BoundKeys| {
        bound.row.is_motion() && (bound.row.place == KeyContext::Everywhere || from != KeyContext::Lists)
    };
    let rows: Vec<&BoundKeys> = canvas.keys.rows.iter().filter(is_here).collect();
    let keys = |action: Action| {
        let bound = rows.iter().filter(move |bound| bound.row.action == action);
        bound.flat_map(|bound| canvas.keys.keys_in(from, bound).take(MAX_KEYS))
    };
    let mut lines: Vec<Vec<Span>> = vec![Vec::new()];
    for (word, actions) in MOTIONS {
        let keys = actions.iter().copied().flat_map(keys).map(|key| canvas.key_name(key));
        let keys: Vec<&str> = keys.collect();
        if keys.is_empty() {
            continue;
        }
        let item = [
            Span::plain(" "),
            Span::new(keys.join(" "), canvas.theme.accent),
            Span::plain(format!(" {word} ")),
        ];
        match lines.last_mut() {
            Some(line) if line.is_empty() || line::width(line) + line::width(&item) <= room => {
                line.extend(item)
            }
            _ => lines.push(item.into()),
        }
    }
    lines
}

fn signs_of_output(glyphs: &Glyphs) -> Vec<HelpRow> {
    let Glyphs { notice, differs, kept, lost, all, some, none, here, error, found, states, .. } = glyphs;
    let map = format!("{all}{some}{none}");
    group(
        "Signs in an output",
        [
            (*kept, "got"),
            (*lost, "lost"),
            (*error, "error"),
            (*found, "warning, or match"),
            (map.as_str(), "map: got to lost"),
            (*here, "map: you are here"),
            (*notice, "agent's notice"),
            (*differs, "differs"),
            (*states, "its last state"),
            ("…", "still counting"),
            ("~9", "estimated"),
            ("^M", "control byte"),
            ("bold", "current line"),
        ],
    )
}

fn signs_of_lists(glyphs: &Glyphs) -> Vec<HelpRow> {
    group(
        "Signs in lists",
        [
            (glyphs.chosen, "cursor"),
            ("*", "marked"),
            (glyphs.differs, "differs"),
            ("▇▇░░", "model got (share)"),
            ("~9", "estimated"),
            ("…", "not known yet"),
            ("–", "cannot be known"),
            ("#26", "at request 26"),
            ("kept", "stays forever"),
            ("overdue", "can be deleted"),
        ],
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use crate::text::label::like;
    use crate::tui::keys::{KeyMap, TABLE};
    use crate::tui::widget::theme::Theme;

    use super::*;

    const VIEWS: [KeyContext; 3] = [KeyContext::Pager, KeyContext::Lists, KeyContext::Drawer];

    fn canvas(size: (u16, u16)) -> Canvas {
        Canvas::new(size, Theme::named("plain"), true)
    }

    fn texts(lines: &[Vec<Span>]) -> Vec<String> {
        lines.iter().map(|line| line.iter().map(|span| &*span.text).collect()).collect()
    }

    #[test]
    fn the_help_of_every_view_fits_one_screen() {
        for (from, unicode) in VIEWS.into_iter().flat_map(|from| [(from, true), (from, false)]) {
            let canvas = Canvas { unicode, ..canvas((80, 24)) };
            let view = HelpView::new(from);
            let lines = view.lines(&canvas, &|_| true);
            let (place, _) = view.place(&lines, &canvas);
            let widest = lines.iter().map(|line| line::width(line)).max();
            assert!(lines.len() <= height(place), "{from:?} {} {place}", lines.len());
            assert!(widest <= Some(usize::from(place.width) - 2), "{from:?} {widest:?}");
        }
    }

    #[test]
    fn the_help_of_a_view_lists_its_own_and_all_global_keys() {
        for from in VIEWS {
            let text = texts(&HelpView::new(from).lines(&canvas((80, 24)), &|_| true)).join("\n");
            let is_here =
                |row: &&crate::tui::keys::Binding| row.place == from || row.place == KeyContext::Everywhere;
            for row in TABLE.iter().filter(is_here) {
                let key = KeyMap::standard().known(from, row.action).unwrap_or_default();
                assert!(text.contains(key), "{from:?} {row:?}\n{text}");
            }
        }
    }

    #[test]
    fn all_keys_are_in_the_help_of_every_view() {
        for from in VIEWS {
            let view = HelpView { of_all: true, ..HelpView::new(from) };
            let groups = view.groups(&canvas((80, 24)), &|_| true);
            for row in TABLE {
                for place in [KeyContext::Everywhere, KeyContext::Lists] {
                    let entry = HelpRow::Entry(row.keys.to_owned(), row.what_in(place).to_owned());
                    assert!(groups.iter().flatten().any(|row| *row == entry), "{entry:?}");
                }
            }
        }
    }

    #[test]
    fn in_ascii_no_sign_and_no_key_has_two_meanings() {
        let ascii = |text: &str| text.chars().map(|c| like(c).unwrap_or(c)).collect::<String>();
        for unicode in [true, false] {
            let canvas = Canvas { unicode, ..canvas((80, 24)) };
            for signs in [signs_of_output(canvas.glyphs()), signs_of_lists(canvas.glyphs())] {
                let mut seen = BTreeSet::new();
                for row in signs {
                    let HelpRow::Entry(sign, what) = row else { continue };
                    let sign = if unicode { sign } else { ascii(&sign) };
                    assert!(seen.insert(sign.clone()), "{sign} is {what}, too");
                }
            }
            let text = texts(&HelpView::new(KeyContext::Pager).lines(&canvas, &|_| true)).join("\n");
            assert!(["↑", "→"].iter().all(|arrow| text.contains(arrow) == unicode), "{text}");
        }
    }

    #[test]
    fn forward_and_backward_keys_share_one_help_row() {
        assert!(is_pair("next cut", "previous cut") && !is_pair("next cut", "previous match"));
        assert!(!is_pair("cut", "cut"));
    }
}
