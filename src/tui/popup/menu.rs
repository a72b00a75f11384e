//! Menus as pop-ups: a letter an entry, what it is, and a note about it; and the one of what can be copied.

use std::path::Path;

use crossterm::event::{KeyCode, KeyEvent};

use crate::base::human::{count, size};
use crate::text::label::{SafeText, quote};
use crate::tui::event::Message;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::screen::{Effect, Effects, Layer, LayerContext, LayerFrame, LayerNext, Screen};
use crate::tui::widget::layout;
use crate::tui::widget::line::{self, Span};

/// The narrowest and the widest menu, in columns.
const WIDTHS: (usize, usize) = (46, 116);

/// The columns reserved for names, and those besides names and notes: the border, the mark, the letter and gaps.
const NAMES: usize = 12;
const AROUND: usize = 8;

type Pick = Box<dyn Fn(&mut dyn Screen, &mut Effects)>;

pub(crate) struct MenuEntry {
    letter: char,
    name: &'static str,
    /// Its description, the longest form first. Where none fits, the shortest is cut.
    notes: Vec<SafeText>,
    pick: Pick,
}

impl MenuEntry {
    pub(crate) fn new(
        letter: char,
        name: &'static str,
        note: impl Into<SafeText>,
        pick: impl Fn(&mut dyn Screen, &mut Effects) + 'static,
    ) -> Self {
        Self { letter, name, notes: vec![note.into()], pick: Box::new(pick) }
    }

    /// Adds shorter notes, for where there is no room for the longer ones.
    pub(crate) fn or(mut self, shorter: impl IntoIterator<Item = String>) -> Self {
        self.notes.extend(shorter.into_iter().map(SafeText::from));
        self
    }

    fn note(&self, room: usize) -> SafeText {
        let fitting = self.notes.iter().find(|note| note.columns() <= room);
        fitting.or(self.notes.last()).map(|note| note.fit(room)).unwrap_or_default()
    }
}

pub(crate) struct Menu {
    title: &'static str,
    foot: &'static str,
    entries: Vec<MenuEntry>,
    chosen: usize,
    used: Option<usize>,
}

impl Menu {
    pub(crate) fn new(title: &'static str, foot: &'static str, entries: Vec<MenuEntry>) -> Self {
        Self { title, foot, entries, chosen: 0, used: None }
    }

    pub(crate) fn using(self, used: usize) -> Self {
        Self { chosen: used, used: Some(used), ..self }
    }

    fn columns(&self) -> (usize, usize) {
        let names = self.entries.iter().map(|entry| entry.name.len() + 2).fold(NAMES, usize::max);
        let notes = self.entries.iter().map(|entry| entry.notes[0].columns()).max().unwrap_or_default();
        (names, (AROUND + names + notes).clamp(WIDTHS.0, WIDTHS.1))
    }
}

impl Layer for Menu {
    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext {
        let last = self.entries.len().saturating_sub(1);
        let letter = |entry: &&MenuEntry| KeyCode::Char(entry.letter) == key.code && key.modifiers.is_empty();
        let by_letter = self.entries.iter().find(letter);
        let entered = || self.entries.get(self.chosen).filter(|_| key.code == KeyCode::Enter);
        if let Some(entry) = by_letter.or_else(entered) {
            (entry.pick)(on.below, on.effects);
            return LayerNext::Closes;
        }
        match on.canvas.keys.action(KeyContext::Everywhere, key) {
            Some(Action::Back | Action::Quit | Action::Interrupt) => return LayerNext::Closes,
            Some(Action::Down) => self.chosen = (self.chosen + 1).min(last),
            Some(Action::Up) => self.chosen = self.chosen.saturating_sub(1),
            _ => {}
        }
        LayerNext::Stays
    }

    fn draw(&self, LayerFrame { canvas, frame, .. }: LayerFrame) {
        let (names, columns) = self.columns();
        let place = layout::overlay(frame.area(), columns as u16, self.entries.len() as u16 + 2);
        let back = canvas.keys.label(KeyContext::Everywhere, Action::Back);
        let keys = [self.foot.to_owned(), format!("{back} back")];
        let inner = line::boxed(canvas, frame, place, self.title, &keys);
        let room = usize::from(inner.width).saturating_sub(AROUND - 2 + names);
        // A menu that is higher than the screen shows the selected entry.
        let first = (self.chosen + 1).saturating_sub(inner.height.into());
        let entries = self.entries.iter().enumerate().skip(first);
        for ((n, entry), row) in entries.zip(inner.rows()) {
            let mark = if n == self.chosen { canvas.glyphs().chosen } else { " " };
            let [name, note] = match self.used == Some(n) {
                true => [canvas.theme.active, canvas.theme.bar],
                false => [canvas.theme.bar, canvas.theme.dim],
            };
            let spans = [
                Span::new(format!("{mark} "), canvas.theme.accent),
                Span::new(format!("{}  ", entry.letter), canvas.theme.accent),
                Span::new(entry.name, name),
                Span::plain(" ".repeat(names.saturating_sub(entry.name.len()))),
                Span::new(entry.note(room), note),
            ];
            line::spans(frame.buffer_mut(), row, &spans);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CopyWhat {
    letter: char,
    name: &'static str,
}

impl CopyWhat {
    pub(crate) const PATH: Self = Self { letter: 'p', name: "path" };
    pub(crate) const LINE: Self = Self { letter: 'l', name: "line" };
    pub(crate) const WINDOW: Self = Self { letter: 'w', name: "window" };
    pub(crate) const MODEL_TEXT: Self = Self { letter: 'm', name: "model's text" };
    pub(crate) const COMMAND: Self = Self { letter: 'c', name: "command" };
    pub(crate) const ID: Self = Self { letter: 'i', name: "id" };
    pub(crate) const READ_CALL: Self = Self { letter: 'r', name: "read call" };
    pub(crate) const FLAGS: Self = Self { letter: 'f', name: "flags" };
    pub(crate) const POLICY_FILE: Self = Self { letter: 't', name: "policy file" };
    pub(crate) const AGENT_CONFIG: Self = Self { letter: 'a', name: "agent's configuration" };

    pub(crate) fn entry(
        self,
        note: impl Into<String>,
        pick: impl Fn(&mut dyn Screen, &mut Effects) + 'static,
    ) -> MenuEntry {
        MenuEntry::new(self.letter, self.name, note.into(), pick)
    }
}

/// A short text that can be copied: of a row, or about an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copyable {
    what: CopyWhat,
    text: String,
    /// What the menu says in place of the text; empty if the text says it.
    note: String,
}

impl Copyable {
    pub(crate) fn new(what: CopyWhat, text: impl Into<String>) -> Self {
        Self { what, text: text.into(), note: String::new() }
    }

    pub(crate) fn described(what: CopyWhat, text: String, note: String) -> Self {
        Self { what, text, note }
    }

    /// Returns what can be copied of a row: the path of its file, its command, its id.
    pub(crate) fn for_row(path: Option<&Path>, command: Option<&str>, id: &[u8]) -> Vec<Self> {
        let path = path.map(|path| Self::path(path.as_os_str().as_encoded_bytes()));
        path.into_iter().chain(command.and_then(Self::command)).chain([Self::id(id)]).collect()
    }

    pub(crate) fn path(bytes: &[u8]) -> Self {
        Self::new(CopyWhat::PATH, quote::word(bytes))
    }

    pub(crate) fn id(bytes: &[u8]) -> Self {
        Self::new(CopyWhat::ID, quote::word(bytes))
    }

    pub(crate) fn command(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self::new(CopyWhat::COMMAND, text))
    }

    /// Joins what several rows have; leaves out what not all of them have.
    pub(crate) fn join_all(rows: &[Vec<Self>]) -> Vec<Self> {
        let together = |copyable: &Self| {
            let find = |row: &Vec<Self>| row.iter().find(|other| other.what == copyable.what).cloned();
            rows.iter().map(find).collect::<Option<Vec<Self>>>().and_then(join)
        };
        rows.first().into_iter().flatten().filter_map(together).collect()
    }

    pub(crate) fn entry(self) -> MenuEntry {
        let Self { what, text, note } = self;
        let (note, said) = match note.is_empty() {
            true => (text.clone(), format!("copied {}: {text}", what.name)),
            false => (note.clone(), format!("copied {} {note}", what.name)),
        };
        what.entry(note, move |below, effects| {
            below.say(Some(Message::note(said.as_str())));
            effects.push(Effect::Copy(text.clone()));
        })
    }
}

/// Joins one kind of text of several rows: commands one per line, words in one line. Descriptions are of one row.
fn join(mut all: Vec<Copyable>) -> Option<Copyable> {
    let first = all.first()?;
    let what = first.what;
    match (all.len() as u64, what) {
        (1, _) => all.pop(),
        (rows, CopyWhat::PATH | CopyWhat::ID | CopyWhat::COMMAND) => {
            let between = if what == CopyWhat::COMMAND { "\n" } else { " " };
            let text = all.iter().map(|one| &*one.text).collect::<Vec<_>>().join(between);
            let note = format!("of {}, {}", count(rows, "row"), size(text.len() as u64));
            Some(Copyable::described(what, text, note))
        }
        _ => None,
    }
}

pub(crate) fn copy_menu(entries: Vec<MenuEntry>) -> Menu {
    Menu::new(" Copy ", "a letter copies", entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_rows_offer_only_what_all_of_them_have() {
        let row = |path: &str, command: &str| {
            let path = Copyable::path(path.as_bytes());
            std::iter::once(path).chain(Copyable::command(command)).collect::<Vec<_>>()
        };
        let both = Copyable::join_all(&[row("/a b", "ls"), row("/c", "cat\nx")]);
        let texts: Vec<(&str, &str)> = both.iter().map(|one| (&*one.text, &*one.note)).collect();
        assert_eq!(texts, [("'/a b' /c", "of 2 rows, 9 B"), ("ls\ncat\nx", "of 2 rows, 8 B")]);
        let paths = Copyable::join_all(&[row("/a", "ls"), row("/c", "")]);
        assert_eq!(paths.len(), 1, "{paths:?}");
        assert_eq!(Copyable::join_all(&[row("/a", "ls")]), row("/a", "ls"));
        assert_eq!(Copyable::join_all(&[]), []);
    }

    #[test]
    fn menu_letters_are_unique_and_not_motion_or_close_keys() {
        use CopyWhat as C;
        let of_output = [C::PATH, C::LINE, C::WINDOW, C::MODEL_TEXT, C::COMMAND, C::ID, C::READ_CALL];
        let all = [&of_output[..], &[C::FLAGS, C::POLICY_FILE, C::AGENT_CONFIG]].concat();
        let letters: std::collections::BTreeSet<char> = all.iter().map(|what| what.letter).collect();
        assert_eq!(letters.len(), all.len());
        assert!(!letters.iter().any(|letter| "jkq".contains(*letter)), "{letters:?}");
    }
}
