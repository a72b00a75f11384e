//! The limits drawer: a row for the policy and one for each of its parameters, while the preview follows.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent};

use crate::base::human::thousands;
use crate::config::{self, EffectivePolicy, LimitsFrom};
use crate::corpus::tune::{LimitChange, describe_change, flags, next_value, other_end, smallest_change};
use crate::output::recorded::PreviewFrom;
use crate::preview::{LimitHit, Param, ParamError, ParamKind, ParamRole, Policy};
use crate::tui::event::{MAX_TYPED, Message};
use crate::tui::job::{Pace, Slot};
use crate::tui::keys::{Action, KeyContext, character};
use crate::tui::popup::help::HelpView;
use crate::tui::popup::menu::{CopyWhat, Copyable};
use crate::tui::screen::Effects;

use super::picker::Picker;
use super::planning::{AfterPlan, ViewPoint};
use super::view::drawer;
use super::{OutputEvent, Pager};

#[derive(Default)]
pub struct Drawer {
    /// What was shown when it was opened; `None` while it is closed.
    before: Option<ViewPoint>,
    /// The selected row: 0 is the policy, the others are its parameters.
    pub row: usize,
    pub typed: Option<String>,
    pub advice: Option<Advice>,
    pub picker: Option<Picker>,
}

pub struct Advice {
    /// The offset of the line, or the match, in the output.
    pub(super) offset: usize,
    /// The change of limits that would keep it, or why there is none; `None` while a worker looks for it.
    pub(super) found: Option<Result<LimitChange, &'static str>>,
}

impl Drawer {
    pub fn is_open(&self) -> bool {
        self.before.is_some()
    }
}

impl Pager {
    pub(crate) fn open_drawer(&mut self, effects: &mut Effects) {
        if self.output.is_rest_missing() {
            return self.note("limits have no effect: only the recorded text is left");
        }
        let (side, before, panes) = (self.focus(), Some(self.view_point()), self.panes.clone());
        let line = self.current_line(side);
        self.drawer = Drawer { before, ..Drawer::default() };
        let policy = self.output.policy();
        let limit = policy.key(ParamRole::Lines).or(policy.key(ParamRole::Size));
        self.drawer.row = self.cutting_row().or_else(|| self.row_of(limit?)).unwrap_or(0);
        self.reveal(side, line..line);
        (self.panes.target, self.panes.following) = (panes.target, panes.following);
        self.follow();
        self.advise(effects);
    }

    pub(crate) fn drawer_height(&self) -> u16 {
        let screen = self.canvas.size.1;
        match &self.drawer.picker {
            Some(picker) => picker.height(screen),
            None if self.drawer.is_open() => drawer::height(self, screen),
            None => 0,
        }
    }

    pub(crate) fn cutting_row(&self) -> Option<usize> {
        let policy = self.output.policy();
        let key = match self.output.limit_hit()? {
            LimitHit::Lines => policy.key(ParamRole::Lines),
            LimitHit::Size(_) => policy.key(ParamRole::Size),
            LimitHit::Matches => None,
        }?;
        self.row_of(key)
    }

    fn row_of(&self, key: &str) -> Option<usize> {
        self.output.policy().params().iter().position(|param| param.name == key).map(|row| row + 1)
    }

    /// Handles a key while the drawer is open. Returns false if it is not the drawer's: it acts on the output then.
    pub(crate) fn drawer_key(&mut self, key: KeyEvent, effects: &mut Effects) -> bool {
        if self.drawer.typed.is_some() {
            self.type_value(key, effects);
            return true;
        }
        let keys = self.canvas.keys;
        match (keys.action(KeyContext::Drawer, key), character(key)) {
            (Some(action), _) => self.drawer_action(action, effects),
            (None, Some(c)) if c.is_ascii_digit() && self.takes_typing() => {
                self.drawer.typed = Some(c.to_string());
            }
            _ => return false,
        }
        true
    }

    fn drawer_action(&mut self, action: Action, effects: &mut Effects) {
        match action {
            Action::Up => self.drawer.row = self.drawer.row.saturating_sub(1),
            Action::Down => {
                self.drawer.row = (self.drawer.row + 1).min(self.output.policy().params().len());
            }
            Action::Lower => self.change_row(false, effects),
            Action::Higher => self.change_row(true, effects),
            Action::Direction => self.switch_direction(effects),
            Action::TakeAdvice => self.take_advice(effects),
            Action::Reset => {
                self.read_changed = None;
                self.plan_by(self.output.first.clone(), PreviewFrom::default(), AfterPlan::Hold, effects);
            }
            Action::Policy => effects.run_at(Pace::AtOnce, Slot::Other, |context| {
                context.send(OutputEvent::Policies((context.services.load_policies)(None)));
            }),
            Action::Apply => self.keep_what_if(),
            Action::Help => effects.push_layer(HelpView::new(KeyContext::Drawer)),
            _ => drop(self.close_drawer(effects)),
        }
    }

    fn keep_what_if(&mut self) {
        self.drawer = Drawer::default();
        self.align_panes();
        let words = match (self.output.what_if(), self.output.other_candidate()) {
            (Some(_), _) => {
                let (keys, limits) = (self.canvas.keys, self.key_of(Action::Limits));
                let [reset, keep] =
                    [Action::Reset, Action::Apply].map(|action| keys.label(KeyContext::Drawer, action));
                format!("these limits stay for this output; {limits} {reset} {keep} ends that")
            }
            (None, Some(policy)) => {
                format!("shown as cut by {}, which may also have made it", policy.name())
            }
            (None, None) => "the limits are those of the start".to_owned(),
        };
        self.note(words);
    }

    /// Closes the drawer; what is shown is again as it was when it was opened. Returns false if it is closed.
    pub(crate) fn close_drawer(&mut self, effects: &mut Effects) -> bool {
        let Some(before) = std::mem::take(&mut self.drawer).before else { return false };
        self.give_up_planning(effects);
        self.align_panes();
        self.return_to(before, effects);
        true
    }

    /// Changes the policy and makes the preview again; the current line stays where it is.
    fn with_policy(&mut self, changed: Result<Policy, ParamError>, effects: &mut Effects) {
        let output = &mut self.output;
        let used = &mut output.subject.policy;
        let before = match &used.limits_from {
            LimitsFrom::Screen(before) => Arc::clone(before),
            _ => Arc::new(used.clone()),
        };
        *used = match changed {
            Ok(policy) if policy.is_same(&output.first.policy) => output.first.clone(),
            Ok(policy) if policy.is_same(&before.policy) => EffectivePolicy::clone(&before),
            Ok(policy) => EffectivePolicy { policy, limits_from: LimitsFrom::Screen(before), ..used.clone() },
            Err(fault) => return self.fail(fault.to_string()),
        };
        output.preview_from = PreviewFrom::Policy;
        self.plan(AfterPlan::Hold, effects)
    }

    fn set(&mut self, set: impl FnOnce(&mut Policy) -> Result<(), ParamError>, effects: &mut Effects) {
        let mut policy = self.output.policy().clone();
        let changed = set(&mut policy).map(|()| policy);
        self.with_policy(changed, effects);
    }

    pub(super) fn chosen_param(&self) -> Option<&Param> {
        self.output.policy().params().get(self.drawer.row.checked_sub(1)?)
    }

    fn change_row(&mut self, up: bool, effects: &mut Effects) {
        let Some(Param { name, kind, .. }) = self.chosen_param().cloned() else {
            return self.next_candidate(up, effects);
        };
        let value = self.output.policy().get(&name).map(|value| value.to_string());
        if let Some(next) = value.and_then(|value| next_value(&kind, &value, up)) {
            self.set(|policy| policy.set(&name, &next), effects);
        }
    }

    /// Switches to the next or previous policy that may have made this output, according to its store.
    fn next_candidate(&mut self, next: bool, effects: &mut Effects) {
        let (candidates, name) = (&self.output.subject.candidates, self.output.policy().name());
        let others = candidates.len();
        let at = candidates.iter().position(|found| found.policy.name() == name);
        let step = if next { 1 } else { others.saturating_sub(1) };
        let to = at.map_or(0, |at| (at + step) % others);
        match candidates.get(to).filter(|_| others > 1 || at.is_none()).cloned() {
            Some(policy) => self.use_policy(policy, AfterPlan::Hold, effects),
            None => {
                let all = self.canvas.keys.label(KeyContext::Drawer, Action::Policy);
                self.note(format!("no other policy is known to have made this; {all} lists all"));
            }
        }
    }

    fn switch_direction(&mut self, effects: &mut Effects) {
        let Some(direction) = self.output.policy().direction() else {
            return self.note(format!("{} has no direction to change", self.output.policy().name()));
        };
        self.set(|policy| policy.set_direction(other_end(direction)), effects);
    }

    fn takes_typing(&self) -> bool {
        let is_word = |kind: &ParamKind| matches!(kind, ParamKind::Boolean | ParamKind::Choice(_));
        self.chosen_param().is_some_and(|param| !is_word(&param.kind))
    }

    fn type_value(&mut self, key: KeyEvent, effects: &mut Effects) {
        let is_interrupt = self.canvas.keys.action(KeyContext::Pager, key) == Some(Action::Interrupt);
        let Some(typed) = &mut self.drawer.typed else { return };
        match key.code {
            KeyCode::Enter => self.enter_typed(effects),
            KeyCode::Backspace => drop(typed.pop()),
            KeyCode::Char(c) if character(key).is_some() => match typed.len() < MAX_TYPED {
                true => typed.push(c),
                false => self.message = Some(Message::full_line()),
            },
            _ if is_interrupt || key.code == KeyCode::Esc => self.drawer.typed = None,
            _ => {}
        }
    }

    fn enter_typed(&mut self, effects: &mut Effects) {
        let Some(key) = self.chosen_param().map(|param| param.name.clone()) else { return };
        let typed = self.drawer.typed.take().unwrap_or_default();
        let number = typed.parse::<crate::base::human::TypedSize>().map(|size| size.number.to_string());
        self.set(|policy| policy.set(&key, &number.unwrap_or(typed)), effects)
    }

    fn take_advice(&mut self, effects: &mut Effects) {
        let words = match &self.drawer.advice {
            Some(Advice { found: Some(Ok((_, policy))), .. }) => {
                return self.with_policy(Ok(policy.clone()), effects);
            }
            Some(Advice { found: Some(Err(why)), .. }) => *why,
            Some(Advice { found: None, .. }) => "still looking for what keeps this line",
            None => "there is no line",
        };
        self.note(words);
    }

    pub(crate) fn advise(&mut self, effects: &mut Effects) {
        let (offset, output) = (self.examined_offset(), &self.output);
        let is_kept = output.is_kept(offset);
        let found = is_kept.then_some(Err("the model gets this line already"));
        self.drawer.advice = (!output.view.is_empty()).then_some(Advice { offset, found });
        if output.view.is_empty() || is_kept {
            return;
        }
        let task = output.task();
        effects.run(Slot::Advise, move |context| {
            let keeps = |policy: &Policy| task.would_keep(policy, offset, &|| context.is_wanted());
            let change = smallest_change(&task.policy, task.view.len(), &keeps);
            context.send(OutputEvent::Advised(change));
        });
    }

    pub(crate) fn advise_again(&mut self, effects: &mut Effects) {
        let is_of_other = |advice: &Advice| advice.offset != self.examined_offset();
        let is_shown = self.drawer.is_open() && !self.output.is_awaited();
        if is_shown && self.drawer.advice.as_ref().is_none_or(is_of_other) {
            self.advise(effects);
        }
    }

    /// Returns the longest description of the last change that fits on the screen.
    pub(crate) fn outcome(&self) -> String {
        let held = self.held.as_ref();
        let before = held.and_then(|held| held.policy.as_ref());
        let change = before.and_then(|before| describe_change(before, self.output.policy()));
        let line = held.map(|held| self.describe_held(held));
        let limits = || self.output.difference().unwrap_or_else(|| self.output.limits());
        let is_first = self.output.limits_are_first();
        let gained = Some(if is_first { "limits as at the start".to_owned() } else { limits() });
        let got = self.got();
        let versions = [
            join(&[&change, &line, &gained, &got]),
            join(&[&line, &gained, &got]),
            join(&[&line, &got]),
            join(&[&line]),
        ];
        let room = usize::from(self.canvas.size.0).saturating_sub(2);
        let fitting = versions.into_iter().find(|words| !words.is_empty() && words.chars().count() <= room);
        fitting.unwrap_or_else(|| join(&[&gained]))
    }

    fn got(&self) -> Option<String> {
        self.find.pattern.as_ref()?;
        let (output, tally) = (&self.output, &self.find.tally);
        let got = tally.got(output)?;
        let (verb, total) = (output.certainty().verb(), tally.describe(output));
        Some(format!("model {verb} {} of {total}", thousands(got)))
    }
}

fn join(parts: &[&Option<String>]) -> String {
    let parts: Vec<&str> = parts.iter().filter_map(|part| part.as_deref()).collect();
    parts.join(" · ")
}

pub(crate) fn copyable(policy: &Policy) -> Vec<Copyable> {
    let flags = Copyable::new(CopyWhat::FLAGS, flags(policy));
    let file = policy.written().map(|text| {
        Copyable::described(CopyWhat::POLICY_FILE, text, "for policies/ in the configuration".to_owned())
    });
    let agent = config::settings(policy)
        .map(|(file, text)| Copyable::described(CopyWhat::AGENT_CONFIG, text, format!("for {file}")));
    std::iter::once(flags).chain(file).chain(agent).collect()
}
