//! The limits drawer: each parameter of the policy changed by key or typed, the preview following at once.

use crossterm::event::{KeyCode, KeyEvent};

use crate::preview::{ParamKind, Policy};
use crate::text::label::shell::word;
use crate::tui::event::{Effect, Effects, MOST_TYPED, Message};
use crate::tui::widget::layout::Side;

use super::Pager;
use super::limits::{other_end, size_in_words, step_of};
use super::output::OpenOutput;
use super::planning::Making;

/// A change that would do: in words, and the policy with it.
pub type LimitChange = (String, Policy);

/// In files up to this many bytes it is searched what it takes to keep a line.
const LONGEST: usize = 64 << 20;

/// The state of the drawer.
#[derive(Debug, Clone, Default)]
pub struct Drawer {
    /// Whether it is open.
    pub open: bool,
    /// Place of the chosen parameter.
    pub chosen: usize,
    /// Digits or letters typed for it, not yet taken.
    pub typed: Option<String>,
    /// The policy as it was when the drawer was opened.
    before: Option<Policy>,
    /// What it takes to keep the line in question.
    pub advice: Option<Advice>,
}

/// What it takes to keep a line.
#[derive(Debug, Clone)]
pub struct Advice {
    /// The line, 1-based, where it is counted.
    pub line: Option<u64>,
    /// Whether the model gets it as things stand.
    pub is_kept: bool,
    /// Otherwise the change that would do.
    pub change: Option<LimitChange>,
    /// The number of the request that is not answered yet.
    pub(crate) asked: Option<u64>,
}

/// A request for the smallest change of limits that keeps a byte.
#[derive(Debug, Clone)]
pub struct KeepRequest {
    task: Making,
    offset: usize,
}

impl KeepRequest {
    /// Its number; an answer to an older one is dropped.
    pub fn number(&self) -> u64 {
        self.task.number
    }

    /// The smallest change of direction or limits that would do; none if it is no longer wanted.
    pub fn fulfil(&self, wanted: &dyn Fn() -> bool) -> Option<LimitChange> {
        keeping(self, wanted).filter(|_| wanted())
    }

    fn would_do(&self, policy: &Policy, wanted: &dyn Fn() -> bool) -> bool {
        self.task.would_keep(policy, self.offset, wanted)
    }
}

impl Pager {
    /// Opens the drawer.
    pub(crate) fn open_drawer(&mut self, effects: &mut Effects) {
        let output = &self.output;
        self.drawer = Drawer { before: Some(output.policy.clone()), ..Drawer::default() };
        self.drawer.open = true;
        self.advise(effects)
    }

    /// A key while the drawer is open.
    pub(crate) fn drawer_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        let last = self.output.policy.params().len().saturating_sub(1);
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
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.drawer.chosen = self.drawer.chosen.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.drawer.chosen = (self.drawer.chosen + 1).min(last),
            KeyCode::Left => self.change_chosen(false, effects),
            KeyCode::Right | KeyCode::Char(' ') => self.change_chosen(true, effects),
            KeyCode::Char(c) if c.is_ascii_digit() => self.drawer.typed = Some(c.to_string()),
            KeyCode::Char('a') => self.take_advice(effects),
            KeyCode::Char('R') => {
                self.put_back(|output, _| Some(output.first_policy.clone()), effects);
            }
            KeyCode::Char('y') => self.copy_flags(effects),
            KeyCode::Char('p') => effects.push(Effect::Policies),
            KeyCode::Enter | KeyCode::Char('l') => self.drawer.open = false,
            KeyCode::Esc => {
                self.drawer.open = false;
                self.put_back(|_, drawer| drawer.before.clone(), effects);
            }
            KeyCode::Char('q') => effects.push(Effect::Quit),
            _ => {}
        }
    }

    fn put_back(&mut self, which: impl Fn(&OpenOutput, &Drawer) -> Option<Policy>, effects: &mut Effects) {
        let policy = which(&self.output, &self.drawer);
        if let Some(policy) = policy {
            self.change_to(policy, effects);
        }
    }

    fn change_to(&mut self, policy: Policy, effects: &mut Effects) {
        self.with_policy(
            |old| {
                *old = policy;
                Ok(())
            },
            effects,
        )
    }

    /// Sets a parameter from its text.
    fn put(&mut self, key: &str, value: &str, effects: &mut Effects) {
        self.with_policy(|policy| policy.set(key, value).map_err(|error| error.to_string()), effects)
    }

    fn chosen_param(&self) -> Option<(String, ParamKind, String)> {
        let policy = &self.output.policy;
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

    /// The limits as the command line takes them.
    fn copy_flags(&mut self, effects: &mut Effects) {
        let output = &self.output;
        let policy = &output.policy;
        let set = policy.params().iter().filter(|param| policy.is_set(&param.name));
        let set = set.filter_map(|param| {
            let set = format!("{}={}", param.name, policy.get(&param.name)?);
            Some(format!(" --set {}", word(set.as_bytes())))
        });
        let flags = format!("--policy {}{}", word(policy.name().as_bytes()), set.collect::<String>());
        self.message = Some(Message::note(format!("copied: {flags}")));
        effects.push(Effect::Copy(flags))
    }

    /// Looks what it takes to keep the current match in Spill, or else the line at its top.
    pub(crate) fn advise(&mut self, effects: &mut Effects) {
        let number = self.next_plan();
        let output = &self.output;
        let found = self.find.current(Side::Spill).map(|range| range.start);
        let offset = found.unwrap_or_else(|| self.panes.top(Side::Spill)) as usize;
        let line = output.index.line_at(&output.view, offset as u64).map(|line| line + 1);
        let is_kept = output.is_kept(offset);
        let request = (!is_kept).then(|| KeepRequest { task: output.task(number), offset });
        self.drawer.advice = Some(Advice { line, is_kept, change: None, asked: Some(number) });
        if let Some(request) = request {
            effects.push(Effect::Advise(Box::new(request)));
        }
    }
}

/// The value after or before one, by the kind of the parameter.
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

/// The smallest change of direction or limits with which the model gets the byte at `offset`.
fn keeping(request: &KeepRequest, wanted: &dyn Fn() -> bool) -> Option<LimitChange> {
    let now = &request.task.policy;
    if let Some(direction) = now.direction() {
        let mut policy = now.clone();
        let other = other_end(direction);
        if policy.set_direction(other).is_ok() && request.would_do(&policy, wanted) {
            return Some((format!("direction {}", other.as_str()), policy));
        }
    }
    if request.task.bytes() > LONGEST {
        return None;
    }
    let most = request.task.bytes() as u64 * 3 + 1;
    let lines = |policy: &mut Policy, n: u64| policy.set_max_lines(n).is_ok();
    let size = |policy: &mut Policy, n: u64| policy.set_max_size(n).is_ok();
    if let Some((n, policy)) = least(request, wanted, now, now.max_lines(), most, lines) {
        return Some((format!("max lines {}", crate::human::thousands(n)), policy));
    }
    if let Some((n, policy)) = least(request, wanted, now, now.max_size(), most, size) {
        return Some((format!("max {} {}", now.unit().as_str(), size_in_words(now, n)), policy));
    }
    let mut wide = now.clone();
    wide.set_max_lines(most).ok()?;
    let (bytes, mut policy) = least(request, wanted, &wide, now.max_size(), most, size)?;
    policy.set_max_lines(now.max_lines()?).ok()?;
    let (n, policy) = least(request, wanted, &policy, now.max_lines(), most, lines)?;
    let words = format!(
        "max lines {} and max {} {}",
        crate::human::thousands(n),
        now.unit().as_str(),
        size_in_words(now, bytes)
    );
    Some((words, policy))
}

/// The least value of one limit, above its present one and up to `most`, that keeps the byte at `offset`.
fn least(
    request: &KeepRequest,
    wanted: &dyn Fn() -> bool,
    policy: &Policy,
    present: Option<u64>,
    most: u64,
    set: impl Fn(&mut Policy, u64) -> bool,
) -> Option<(u64, Policy)> {
    let with = |n: u64| {
        let mut policy = policy.clone();
        (set(&mut policy, n) && request.would_do(&policy, wanted)).then_some(policy)
    };
    let mut low = present?;
    let mut best = (most, with(most)?);
    while low + 1 < best.0 {
        let middle = low + (best.0 - low) / 2;
        match with(middle) {
            Some(policy) => best = (middle, policy),
            None => low = middle,
        }
    }
    Some(best)
}
