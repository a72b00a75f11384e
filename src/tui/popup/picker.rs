//! Picking a policy from the list of all: typed words narrow it down.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_input::backend::crossterm::EventHandler;
use tui_input::{Input, InputRequest};

use crate::preview::Policy;
use crate::tui::app::{App, Effect, Message, Overlay};
use crate::tui::pager::planning::Then;

use super::prompt;

/// A policy that can be picked, with the limits that hold for it.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The policy.
    pub policy: Policy,
    /// Where its limits come from.
    pub limits_from: String,
    /// Whether it is its tool's form of today, not an earlier one.
    pub is_current: bool,
}

/// The list, and what has been typed to narrow it.
#[derive(Debug, Clone, Default)]
pub struct Picker {
    choices: Vec<Choice>,
    input: Input,
    /// The policy in use, which is shown whatever its era.
    used: Option<String>,
    /// Whether earlier forms are shown, too.
    pub all: bool,
    /// Place of the chosen one among those shown.
    pub chosen: usize,
}

impl Picker {
    /// The choices that have all the typed words; earlier forms too, where none of today has them.
    pub fn shown(&self) -> Vec<&Choice> {
        let words: Vec<String> = self.input.value().split_whitespace().map(str::to_lowercase).collect();
        let text =
            |choice: &Choice| format!("{} {}", choice.policy.name(), choice.policy.summary()).to_lowercase();
        let fits = |choice: &&Choice| words.iter().all(|word| text(choice).contains(word));
        let shown: Vec<&Choice> = self.offered().filter(fits).collect();
        if shown.is_empty() { self.choices.iter().filter(fits).collect() } else { shown }
    }

    /// Those of today and the one in use, or all.
    fn offered(&self) -> impl Iterator<Item = &Choice> {
        let is_used = |choice: &Choice| self.used.as_deref() == Some(choice.policy.name());
        self.choices.iter().filter(move |choice| self.all || choice.is_current || is_used(choice))
    }

    /// How many there are, narrowed down or not.
    pub fn most(&self) -> usize {
        self.offered().count()
    }

    /// How many there are of all eras.
    pub fn of_all_eras(&self) -> usize {
        self.choices.len()
    }

    /// What has been typed.
    pub fn typed(&self) -> &str {
        self.input.value()
    }

    /// Shows earlier forms, too, or not any more; the chosen one stays, if it is still there.
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
}

impl App {
    /// The policies have been read: shows them, the one in use chosen.
    pub(crate) fn offer(&mut self, choices: Vec<Choice>) {
        let used = self.output.as_ref().map(|output| output.policy.name().to_owned());
        self.picker = Picker { choices, used: used.clone(), ..Picker::default() };
        self.picker.choose(used.as_deref());
        self.overlay = Some(Overlay::Policies);
    }

    /// A key while policies are listed.
    pub(crate) fn pick_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let page = isize::from(self.size.1 as i16 / 2);
        match key.code {
            KeyCode::Esc => self.overlay = None,
            KeyCode::Char('c') if control => self.overlay = None,
            KeyCode::Enter => return self.pick(),
            KeyCode::Tab | KeyCode::BackTab => self.picker.turn_eras(),
            KeyCode::Down => self.picker.step(1),
            KeyCode::Up => self.picker.step(-1),
            KeyCode::Char('n') if control => self.picker.step(1),
            KeyCode::Char('p') if control => self.picker.step(-1),
            KeyCode::PageDown => self.picker.step(page),
            KeyCode::PageUp => self.picker.step(-page),
            KeyCode::Char(_) if !control && self.picker.typed().len() >= prompt::MOST => {
                self.message = Some(prompt::full());
            }
            KeyCode::Char(c) if !control => {
                self.picker.input.handle(InputRequest::InsertChar(c));
                self.picker.chosen = 0;
            }
            _ => {
                self.picker.input.handle_event(&crossterm::event::Event::Key(key));
                self.picker.step(0);
            }
        }
        Vec::new()
    }

    fn pick(&mut self) -> Vec<Effect> {
        let Some(choice) = self.picker.shown().get(self.picker.chosen).map(|choice| (*choice).clone()) else {
            return Vec::new();
        };
        self.overlay = None;
        self.use_policy(choice.policy, choice.limits_from)
    }

    /// The next policy that may have made this output, as its store tells.
    pub(crate) fn next_candidate(&mut self) -> Vec<Effect> {
        let Some(output) = &self.output else { return Vec::new() };
        let at = output.candidates.iter().position(|policy| policy.name() == output.policy.name());
        let next = at.map_or(0, |at| at + 1);
        match output.candidates.get(next).or(output.candidates.first()).cloned() {
            Some(policy) if output.candidates.len() > 1 => self.use_policy(policy, "policy".to_owned()),
            _ => {
                self.message = Some(Message::note("no other policy is known to have made this; p lists all"));
                Vec::new()
            }
        }
    }

    pub(crate) fn use_policy(&mut self, policy: Policy, limits_from: String) -> Vec<Effect> {
        self.use_policy_then(policy, limits_from, Then::ShowCut)
    }

    /// Cuts by another policy, and then shows what there is to see.
    pub(crate) fn use_policy_then(&mut self, policy: Policy, limits_from: String, then: Then) -> Vec<Effect> {
        let Some(output) = &mut self.output else { return Vec::new() };
        output.limits_from = limits_from;
        output.policy = policy;
        let mut effects = self.plan(then);
        effects.extend(self.count_all());
        effects
    }
}
