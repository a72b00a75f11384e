//! The policy picker: a list of all policies, narrowed down by typing.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_input::backend::crossterm::EventHandler;
use tui_input::{Input, InputRequest};

use crate::tui::event::MOST_TYPED;
use crate::tui::pager::subject::Choice;

/// The list, and the text typed to narrow it down.
#[derive(Debug, Clone, Default)]
pub struct Picker {
    choices: Vec<Choice>,
    input: Input,
    /// The name of the policy in use, which is listed whatever its era.
    used: Option<String>,
    /// Whether policies of earlier eras are listed too.
    pub all: bool,
    /// The index of the selected policy among those shown.
    pub chosen: usize,
}

impl Picker {
    /// Returns the policies that contain all typed words. If no policy on offer does, those of all eras are searched.
    pub fn shown(&self) -> Vec<&Choice> {
        let words: Vec<String> = self.input.value().split_whitespace().map(str::to_lowercase).collect();
        let text =
            |choice: &Choice| format!("{} {}", choice.policy.name(), choice.policy.summary()).to_lowercase();
        let fits = |choice: &&Choice| words.iter().all(|word| text(choice).contains(word));
        let shown: Vec<&Choice> = self.offered().filter(fits).collect();
        if shown.is_empty() { self.choices.iter().filter(fits).collect() } else { shown }
    }

    /// Returns the policies on offer: the current ones and the one in use, or all.
    fn offered(&self) -> impl Iterator<Item = &Choice> {
        let is_used = |choice: &Choice| self.used.as_deref() == Some(choice.policy.name());
        self.choices.iter().filter(move |choice| self.all || choice.is_current || is_used(choice))
    }

    /// Returns the number of policies on offer, ignoring the typed text.
    pub fn most(&self) -> usize {
        self.offered().count()
    }

    /// Returns the number of policies of all eras.
    pub fn of_all_eras(&self) -> usize {
        self.choices.len()
    }

    /// Returns the typed text.
    pub fn typed(&self) -> &str {
        self.input.value()
    }

    /// Toggles whether earlier eras are listed. The same policy stays selected if it is still listed.
    fn turn_eras(&mut self) {
        let chosen = self.shown().get(self.chosen).map(|choice| choice.policy.name().to_owned());
        self.all = !self.all;
        self.choose(chosen.as_deref());
    }

    fn choose(&mut self, name: Option<&str>) {
        let at = self.shown().iter().position(|choice| Some(choice.policy.name()) == name);
        self.chosen = at.unwrap_or(0);
    }

    fn step(&mut self, by: isize) {
        let last = self.shown().len().saturating_sub(1);
        self.chosen = self.chosen.saturating_add_signed(by).min(last);
    }

    /// Creates a picker with the policy in use selected.
    pub(crate) fn new(choices: Vec<Choice>, used: Option<String>) -> Self {
        let mut picker = Self { choices, used: used.clone(), ..Self::default() };
        picker.choose(used.as_deref());
        picker
    }

    /// Handles a key. `page` is the number of rows in a page.
    pub(crate) fn key(&mut self, key: KeyEvent, page: isize) -> Picked {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Esc => return Picked::Closed,
            KeyCode::Char('c') if control => return Picked::Closed,
            KeyCode::Enter => {
                let chosen = self.shown().get(self.chosen).map(|choice| Box::new((*choice).clone()));
                return chosen.map_or(Picked::Nothing, Picked::One);
            }
            KeyCode::Tab | KeyCode::BackTab => self.turn_eras(),
            KeyCode::Down => self.step(1),
            KeyCode::Up => self.step(-1),
            KeyCode::Char('n') if control => self.step(1),
            KeyCode::Char('p') if control => self.step(-1),
            KeyCode::PageDown => self.step(page),
            KeyCode::PageUp => self.step(-page),
            KeyCode::Char(_) if !control && self.typed().len() >= MOST_TYPED => return Picked::TooMuch,
            KeyCode::Char(c) if !control => {
                self.input.handle(InputRequest::InsertChar(c));
                self.chosen = 0;
            }
            _ => {
                self.input.handle_event(&crossterm::event::Event::Key(key));
                self.step(0);
            }
        }
        Picked::Nothing
    }
}

/// The result of a key in the picker.
pub(crate) enum Picked {
    /// Nothing is picked yet.
    Nothing,
    /// The typed line is full.
    TooMuch,
    /// The picker was closed.
    Closed,
    /// This policy was picked.
    One(Box<Choice>),
}
