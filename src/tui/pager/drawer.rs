//! The limits drawer: changes each parameter of the policy by key or by typing, while the preview follows.

use crossterm::event::{KeyCode, KeyEvent};

use crate::preview::{ParamKind, Policy};
use crate::tui::event::{MOST_TYPED, Message};
use crate::tui::job::Slot;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::screen::Effects;

use super::Pager;
use super::advice::{Advice, KeepRequest};
use super::event::OutputEvent;
use super::limits::step_of;
use super::limits_text;
use super::panes::Place;
use super::planning::AfterPlan;
use super::read_tool::load_policies;

/// The state of the drawer.
#[derive(Debug, Clone, Default)]
pub struct Drawer {
    pub open: bool,
    /// The index of the selected parameter.
    pub chosen: usize,
    /// The text typed for it, not yet applied.
    pub typed: Option<String>,
    /// The policy when the drawer was opened, and where the panes were.
    before: Option<(Policy, Place)>,
    /// What it takes to keep the line that the drawer asks about.
    pub advice: Option<Advice>,
    /// What keys do besides moving.
    pub(crate) mode: DrawerMode,
    /// The answer to the last key, shown until the next.
    pub(crate) told: Option<Message>,
}

/// What a key in the drawer answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum DrawerMode {
    /// It changes a limit.
    #[default]
    Limits,
    Copying,
}

impl Pager {
    pub(crate) fn open_drawer(&mut self, effects: &mut Effects) {
        let output = &self.output;
        let before = (output.policy().clone(), self.panes.here());
        self.drawer = Drawer { before: Some(before), ..Drawer::default() };
        self.drawer.open = true;
        self.advise(effects)
    }

    /// Handles a key while the drawer is open.
    pub(crate) fn drawer_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        let last = self.output.policy().params().len().saturating_sub(1);
        if let Some(typed) = &mut self.drawer.typed {
            match key.code {
                KeyCode::Enter => return self.take_typed(effects),
                KeyCode::Esc => self.drawer.typed = None,
                KeyCode::Backspace => drop(typed.pop()),
                KeyCode::Char(_) if typed.len() >= MOST_TYPED => self.message = Some(Message::full_line()),
                KeyCode::Char(c) => typed.push(c),
                _ => {}
            }
            return;
        }
        self.drawer.told = None;
        if self.drawer.mode == DrawerMode::Copying {
            self.drawer.mode = DrawerMode::Limits;
            let keys = self.canvas.keys;
            let action = keys.action(KeyContext::Copying, key);
            self.drawer.told = limits_text::copy(self.output.policy(), action, keys, effects);
            return;
        }
        match self.canvas.keys.action(KeyContext::Drawer, key) {
            Some(Action::Up) => self.drawer.chosen = self.drawer.chosen.saturating_sub(1),
            Some(Action::Down) => self.drawer.chosen = (self.drawer.chosen + 1).min(last),
            Some(Action::Lower) => self.change_chosen(false, effects),
            Some(Action::Higher) => self.change_chosen(true, effects),
            Some(Action::TakeAdvice) => self.take_advice(effects),
            Some(Action::Reset) => self.change_to(self.output.first.policy.clone(), effects),
            Some(Action::Copy) => self.drawer.mode = DrawerMode::Copying,
            Some(Action::Policy) => load_policies(effects),
            Some(Action::Apply) => self.drawer.open = false,
            Some(Action::Back | Action::Interrupt) => self.cancel(effects),
            _ => {
                if let KeyCode::Char(c) = key.code
                    && c.is_ascii_digit()
                {
                    self.drawer.typed = Some(c.to_string());
                }
            }
        }
    }

    /// Closes the drawer; limits and panes are again as they were when it was opened.
    fn cancel(&mut self, effects: &mut Effects) {
        self.drawer.open = false;
        let Some((policy, place)) = self.drawer.before.take() else { return };
        if policy.is_same(self.output.policy()) {
            return;
        }
        self.output.subject.policy.policy = policy;
        self.plan(AfterPlan::Return(place), effects);
        self.message = Some(Message::note("cancelled: the limits are as before"));
    }

    fn change_to(&mut self, policy: Policy, effects: &mut Effects) {
        self.with_policy(|old| set_to(old, policy), effects);
    }

    /// Sets a parameter from its text.
    fn put(&mut self, key: &str, value: &str, effects: &mut Effects) {
        self.with_policy(|policy| policy.set(key, value).map_err(|error| error.to_string()), effects);
    }

    fn chosen_param(&self) -> Option<(String, ParamKind, String)> {
        let policy = self.output.policy();
        let param = policy.params().get(self.drawer.chosen)?;
        let value = policy.get(&param.name)?.to_string();
        Some((param.name.clone(), param.kind.clone(), value))
    }

    fn change_chosen(&mut self, up: bool, effects: &mut Effects) {
        let Some((key, kind, value)) = self.chosen_param() else { return };
        if let Some(next) = next_value(&kind, &value, up) {
            self.put(&key, &next, effects);
        }
    }

    fn take_typed(&mut self, effects: &mut Effects) {
        let Some((key, ..)) = self.chosen_param() else { return };
        let typed = self.drawer.typed.take().unwrap_or_default();
        let number = typed.parse::<crate::human::TypedSize>().map(|size| size.number.to_string());
        self.put(&key, &number.unwrap_or(typed), effects)
    }

    fn take_advice(&mut self, effects: &mut Effects) {
        let change = self.drawer.advice.as_ref().and_then(|advice| advice.change.clone());
        if let Some((_, policy)) = change {
            self.change_to(policy, effects);
        }
    }

    /// Asks what it takes to keep the current line.
    pub(crate) fn advise(&mut self, effects: &mut Effects) {
        let number = self.next_plan();
        let (offset, output) = (self.current_offset(), &self.output);
        let line = output.index.line_at(&output.view, offset as u64).map(|line| line + 1);
        let is_kept = output.is_kept(offset);
        let request = (!is_kept).then(|| KeepRequest { task: output.task(number), offset });
        self.drawer.advice = Some(Advice { line, is_kept, change: None, asked: Some(number) });
        if let Some(request) = request {
            effects.run(Slot::Advise, move |context| {
                let change = request.fulfil(&|| context.is_wanted());
                if context.is_wanted() {
                    context.send(OutputEvent::Advised(number, change));
                }
            });
        }
    }
}

fn set_to(old: &mut Policy, new: Policy) -> Result<(), String> {
    *old = new;
    Ok(())
}

/// Returns the next or previous value of a parameter, depending on its kind.
fn next_value(kind: &ParamKind, value: &str, up: bool) -> Option<String> {
    match kind {
        ParamKind::Integer { .. } => Some(step_of(value.parse().ok()?, up).to_string()),
        ParamKind::Boolean => Some((value != "true").to_string()),
        ParamKind::Choice(words) => {
            let at = words.iter().position(|word| word == value)?;
            let next = if up { at + 1 } else { at + words.len() - 1 };
            words.get(next % words.len()).cloned()
        }
        ParamKind::Text | ParamKind::Decimal => None,
    }
}
