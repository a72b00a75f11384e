//! The limits drawer: each parameter of the policy changed by key or typed, the preview following at once.

use crossterm::event::{KeyCode, KeyEvent};

use crate::preview::{ParamKind, Policy};
use crate::text::label::shell::word;
use crate::tui::app::{App, Effect, Message, Overlay};
use crate::tui::popup::prompt;
use crate::tui::widget::layout::Side;

use super::limits::{other_end, step_of};
use super::output::{Output, size_in_words};
use super::planning::Making;

/// A change that would do: in words, and the policy with it.
pub type Change = (String, Policy);

/// In files up to this many bytes it is searched what it takes to keep a line.
const LONGEST: usize = 64 << 20;

/// The state of the drawer.
#[derive(Debug, Clone, Default)]
pub struct Drawer {
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
    pub change: Option<Change>,
    /// The number of the wish whose answer is still to come.
    pub(crate) asked: Option<u64>,
}

/// A wish for the smallest change with which the model gets a byte.
#[derive(Debug, Clone)]
pub struct Wish {
    task: Making,
    offset: usize,
}

impl Wish {
    /// Its number; an answer to an older one is dropped.
    pub fn number(&self) -> u64 {
        self.task.number
    }

    /// The smallest change of direction or limits that would do; none if it is no longer wanted.
    pub fn fulfil(&self, wanted: &dyn Fn() -> bool) -> Option<Change> {
        keeping(self, wanted).filter(|_| wanted())
    }

    fn would_do(&self, policy: &Policy, wanted: &dyn Fn() -> bool) -> bool {
        self.task.would_keep(policy, self.offset, wanted)
    }
}

impl App {
    /// Opens the drawer.
    pub(crate) fn open_drawer(&mut self) -> Vec<Effect> {
        let Some(output) = &self.output else { return Vec::new() };
        self.drawer = Drawer { before: Some(output.policy.clone()), ..Drawer::default() };
        self.overlay = Some(Overlay::Limits);
        self.advise()
    }

    /// A key while the drawer is open.
    pub(crate) fn drawer_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let last = self.output.as_ref().map_or(0, |output| output.policy.params().len().saturating_sub(1));
        if let Some(typed) = &mut self.drawer.typed {
            match key.code {
                KeyCode::Enter => return self.take_typed(),
                KeyCode::Esc => self.drawer.typed = None,
                KeyCode::Backspace => drop(typed.pop()),
                KeyCode::Char(_) if typed.len() >= prompt::MOST => self.message = Some(prompt::full()),
                KeyCode::Char(c) => typed.push(c),
                _ => {}
            }
            return Vec::new();
        }
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => self.drawer.chosen = self.drawer.chosen.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.drawer.chosen = (self.drawer.chosen + 1).min(last),
            KeyCode::Left => return self.change_chosen(false),
            KeyCode::Right | KeyCode::Char(' ') => return self.change_chosen(true),
            KeyCode::Char(c) if c.is_ascii_digit() => self.drawer.typed = Some(c.to_string()),
            KeyCode::Char('a') => return self.take_advice(),
            KeyCode::Char('R') => return self.put_back(|output, _| Some(output.first_policy.clone())),
            KeyCode::Char('y') => return self.copy_flags(),
            KeyCode::Char('p') => return vec![Effect::Policies],
            KeyCode::Enter | KeyCode::Char('l') => self.overlay = None,
            KeyCode::Esc => {
                self.overlay = None;
                return self.put_back(|_, drawer| drawer.before.clone());
            }
            KeyCode::Char('q') => return vec![Effect::Quit],
            _ => {}
        }
        Vec::new()
    }

    fn put_back(&mut self, which: impl Fn(&Output, &Drawer) -> Option<Policy>) -> Vec<Effect> {
        let policy = self.output.as_ref().and_then(|output| which(output, &self.drawer));
        policy.map_or_else(Vec::new, |policy| self.change_to(policy))
    }

    fn change_to(&mut self, policy: Policy) -> Vec<Effect> {
        self.with_policy(|old| {
            *old = policy;
            Ok(())
        })
    }

    /// Sets a parameter from its text.
    fn put(&mut self, key: &str, value: &str) -> Vec<Effect> {
        self.with_policy(|policy| policy.set(key, value).map_err(|error| error.to_string()))
    }

    fn chosen_param(&self) -> Option<(String, ParamKind, String)> {
        let policy = &self.output.as_ref()?.policy;
        let param = policy.params().get(self.drawer.chosen)?;
        let value = policy.get(&param.name)?.to_string();
        Some((param.name.clone(), param.kind.clone(), value))
    }

    fn change_chosen(&mut self, up: bool) -> Vec<Effect> {
        let Some((key, kind, value)) = self.chosen_param() else { return Vec::new() };
        match next_value(&kind, &value, up) {
            Some(next) => self.put(&key, &next),
            None => Vec::new(),
        }
    }

    fn take_typed(&mut self) -> Vec<Effect> {
        let Some((key, ..)) = self.chosen_param() else { return Vec::new() };
        let typed = self.drawer.typed.take().unwrap_or_default();
        let number = typed.parse::<crate::human::Size>().map(|size| size.number.to_string());
        self.put(&key, &number.unwrap_or(typed))
    }

    fn take_advice(&mut self) -> Vec<Effect> {
        let change = self.drawer.advice.as_ref().and_then(|advice| advice.change.clone());
        change.map_or_else(Vec::new, |(_, policy)| self.change_to(policy))
    }

    /// The limits as the command line takes them.
    fn copy_flags(&mut self) -> Vec<Effect> {
        let Some(output) = &self.output else { return Vec::new() };
        let policy = &output.policy;
        let set = policy.params().iter().filter(|param| policy.is_set(&param.name));
        let set = set.filter_map(|param| {
            let set = format!("{}={}", param.name, policy.get(&param.name)?);
            Some(format!(" --set {}", word(set.as_bytes())))
        });
        let flags = format!("--policy {}{}", word(policy.name().as_bytes()), set.collect::<String>());
        self.message = Some(Message::note(format!("copied: {flags}")));
        vec![Effect::Copy(flags)]
    }

    /// Looks what it takes to keep the current match in Spill, or else the line at its top.
    pub(crate) fn advise(&mut self) -> Vec<Effect> {
        let number = self.next_plan();
        let Some(output) = &self.output else { return Vec::new() };
        let found = self.find.current(Side::Spill).map(|range| range.start);
        let offset = found.unwrap_or_else(|| self.panes.top(Side::Spill)) as usize;
        let line = output.index.line_at(&output.view, offset as u64).map(|line| line + 1);
        let is_kept = output.is_kept(offset);
        let wish = (!is_kept).then(|| Wish { task: output.task(number), offset });
        self.drawer.advice = Some(Advice { line, is_kept, change: None, asked: Some(number) });
        wish.map(|wish| Effect::Advise(Box::new(wish))).into_iter().collect()
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
fn keeping(wish: &Wish, wanted: &dyn Fn() -> bool) -> Option<Change> {
    let now = &wish.task.policy;
    if let Some(direction) = now.direction() {
        let mut policy = now.clone();
        let other = other_end(direction);
        if policy.set_direction(other).is_ok() && wish.would_do(&policy, wanted) {
            return Some((format!("direction {}", other.as_str()), policy));
        }
    }
    if wish.task.bytes() > LONGEST {
        return None;
    }
    let most = wish.task.bytes() as u64 * 3 + 1;
    let lines = |policy: &mut Policy, n: u64| policy.set_max_lines(n).is_ok();
    let size = |policy: &mut Policy, n: u64| policy.set_max_size(n).is_ok();
    if let Some((n, policy)) = least(wish, wanted, now, now.max_lines(), most, lines) {
        return Some((format!("max lines {}", crate::human::thousands(n)), policy));
    }
    if let Some((n, policy)) = least(wish, wanted, now, now.max_size(), most, size) {
        return Some((format!("max {} {}", now.unit().as_str(), size_in_words(now, n)), policy));
    }
    let mut wide = now.clone();
    wide.set_max_lines(most).ok()?;
    let (bytes, mut policy) = least(wish, wanted, &wide, now.max_size(), most, size)?;
    policy.set_max_lines(now.max_lines()?).ok()?;
    let (n, policy) = least(wish, wanted, &policy, now.max_lines(), most, lines)?;
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
    wish: &Wish,
    wanted: &dyn Fn() -> bool,
    policy: &Policy,
    present: Option<u64>,
    most: u64,
    set: impl Fn(&mut Policy, u64) -> bool,
) -> Option<(u64, Policy)> {
    let with = |n: u64| {
        let mut policy = policy.clone();
        (set(&mut policy, n) && wish.would_do(&policy, wanted)).then_some(policy)
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
