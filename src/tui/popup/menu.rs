//! A menu as a pop-up: a letter an entry, what it is, and a note about it.

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::layout::Rect;

use crate::text::label::SafeText;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::screen::{Effects, Layer, LayerContext, LayerFrame, LayerNext, Screen};
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
    note: SafeText,
    pick: Pick,
}

impl MenuEntry {
    pub(crate) fn new(
        letter: char,
        name: &'static str,
        note: impl Into<SafeText>,
        pick: impl Fn(&mut dyn Screen, &mut Effects) + 'static,
    ) -> Self {
        Self { letter, name, note: note.into(), pick: Box::new(pick) }
    }
}

pub(crate) struct Menu {
    title: &'static str,
    /// What the lower border says of the letters.
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
        let notes = self.entries.iter().map(|entry| entry.note.columns()).max().unwrap_or_default();
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
        let foot = format!(" {} · {back} back ", self.foot);
        let inner = line::boxed(canvas, frame, place, self.title, foot);
        let room = usize::from(inner.width).saturating_sub(AROUND - 2 + names);
        // A menu that is higher than the screen shows the selected entry.
        let first = (self.chosen + 1).saturating_sub(inner.height.into());
        let entries = self.entries.iter().enumerate().skip(first);
        for ((n, entry), y) in entries.zip(inner.y..inner.bottom()) {
            let mark = if n == self.chosen { canvas.glyphs().chosen } else { " " };
            let [name, note] = match self.used == Some(n) {
                true => [canvas.theme.active, canvas.theme.bar],
                false => [canvas.theme.bar, canvas.theme.dim],
            };
            let row = [
                Span::new(format!("{mark} "), canvas.theme.accent),
                Span::new(format!("{}  ", entry.letter), canvas.theme.accent),
                Span::new(entry.name, name),
                Span::plain(" ".repeat(names.saturating_sub(entry.name.len()))),
                Span::new(entry.note.fit(room), note),
            ];
            line::spans(frame.buffer_mut(), Rect { y, height: 1, ..inner }, &row);
        }
    }
}
