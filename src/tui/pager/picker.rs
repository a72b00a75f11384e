//! The policy picker: a table of what each policy does to the output, narrowed down by typing.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_input::backend::crossterm::EventHandler;
use tui_input::{Input, InputRequest};

use crate::compare::{Order, Sorting};
use crate::config::EffectivePolicy;
use crate::tui::event::{MOST_TYPED, Message};
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::screen::{Effects, LayerNext};

use super::Pager;
use super::comparing::Comparisons;
use super::planning::AfterPlan;

/// Rows besides the table and the prose: the border, the typed text and the heading.
const AROUND: u16 = 4;

/// From this many rows of the screen on there are three rows of prose, below that one.
const TALL: u16 = 20;

/// Returns the rows of prose below the table.
pub(crate) fn prose_rows(height: u16) -> u16 {
    if height < TALL { 1 } else { 3 }
}

/// Returns the rows of the whole picker on a screen of `height` rows: at most two thirds of them.
pub(crate) fn height(height: u16, picker: &Picker) -> u16 {
    let most = (picker.most() as u16).saturating_add(AROUND + prose_rows(height));
    most.min((height / 3 * 2).max(AROUND + 3)).min(height)
}

/// Returns the number of policies that a screen of this size (columns, rows) has room for.
pub(crate) fn rows(size: (u16, u16), picker: &Picker) -> usize {
    usize::from(height(size.1, picker).saturating_sub(AROUND + prose_rows(size.1)).max(1))
}

/// The table, and the text typed to narrow it down.
#[derive(Debug, Clone, Default)]
pub struct Picker {
    choices: Vec<EffectivePolicy>,
    input: Input,
    /// The name of the policy in use, which is listed whatever its era.
    used: Option<String>,
    sorting: Sorting,
    /// Whether policies of earlier eras are listed too.
    pub all: bool,
    /// The index of the selected policy among those shown, and its name.
    pub chosen: usize,
    pub(super) chosen_name: Option<String>,
}

impl Picker {
    /// Creates a picker with the policy in use selected.
    pub(crate) fn new(choices: Vec<EffectivePolicy>, used: String) -> Self {
        let mut picker = Self { choices, used: Some(used.clone()), ..Self::default() };
        picker.choose(Some(&used), &Comparisons::default());
        picker
    }

    /// Returns the policies that contain all typed words, in order. If no policy on offer does, those of all eras are
    /// searched.
    pub fn shown(&self, rows: &Comparisons) -> Vec<&EffectivePolicy> {
        let words: Vec<String> = self.input.value().split_whitespace().map(str::to_lowercase).collect();
        let text = |choice: &EffectivePolicy| {
            format!("{} {}", choice.policy.name(), choice.policy.summary()).to_lowercase()
        };
        let fits = |choice: &&EffectivePolicy| words.iter().all(|word| text(choice).contains(word));
        let mut shown: Vec<&EffectivePolicy> = self.offered().filter(fits).collect();
        if shown.is_empty() {
            shown = self.choices.iter().filter(fits).collect();
        }
        let row = |choice: &EffectivePolicy| rows.row(choice.policy.name());
        shown.sort_by(|a, b| match (row(a), row(b)) {
            _ if self.sorting.by == Order::Name => {
                self.sorting.compare_names(a.policy.name(), b.policy.name())
            }
            (Some(a), Some(b)) => self.sorting.compare(a, b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        });
        shown
    }

    /// Returns the policies on offer: the current ones and the one in use, or all.
    pub(crate) fn offered(&self) -> impl Iterator<Item = &EffectivePolicy> {
        let is_used = |choice: &EffectivePolicy| self.used.as_deref() == Some(choice.policy.name());
        self.choices.iter().filter(move |choice| self.all || choice.is_current || is_used(choice))
    }

    /// Returns the policies whose rows are wanted, in the order of need: those on a screen of `height` rows, then the
    /// others.
    pub(crate) fn wanted(&self, rows: &Comparisons, height: usize) -> Vec<EffectivePolicy> {
        let mut shown = self.shown(rows);
        let (top, len) = (self.top(height), shown.len());
        shown.rotate_left(top.min(len));
        let is_shown =
            |choice: &&EffectivePolicy| shown.iter().any(|one| one.policy.name() == choice.policy.name());
        let others = self.offered().filter(|choice| !is_shown(choice));
        shown.iter().copied().chain(others).cloned().collect()
    }

    /// Returns the 0-based number of the first row on a screen of `height` rows.
    pub(crate) fn top(&self, height: usize) -> usize {
        (self.chosen + 1).saturating_sub(height.max(1))
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

    /// Returns how the rows are sorted.
    pub(crate) fn sorting(&self) -> Sorting {
        self.sorting
    }

    /// Sorts by the next figure that there is.
    fn sort_by_next(&mut self, rows: &Comparisons) {
        let made = || self.choices.iter().filter_map(|choice| rows.row(choice.policy.name()));
        let by = self.sorting.by.next(|by| made().any(|row| by.has_figure(row)));
        self.sorting = Sorting { by, ..Sorting::default() };
    }

    pub(crate) fn selected(&self, rows: &Comparisons) -> Option<&EffectivePolicy> {
        self.shown(rows).get(self.chosen).copied()
    }

    /// Selects a policy if it is listed, else the first.
    pub(crate) fn choose(&mut self, name: Option<&str>, rows: &Comparisons) {
        let at = self.shown(rows).iter().position(|choice| Some(choice.policy.name()) == name);
        self.chosen = at.unwrap_or(0);
        self.chosen_name = self.selected(rows).map(|choice| choice.policy.name().to_owned());
    }

    /// Changes what is listed or its order; the same policy stays selected if it is still listed.
    fn list(&mut self, rows: &Comparisons, change: impl FnOnce(&mut Self)) {
        let chosen = self.selected(rows).map(|choice| choice.policy.name().to_owned());
        change(self);
        self.choose(chosen.as_deref(), rows);
    }

    fn step(&mut self, by: isize, rows: &Comparisons) {
        let last = self.shown(rows).len().saturating_sub(1);
        self.chosen = self.chosen.saturating_add_signed(by).min(last);
    }

    /// Handles a key. `page` is the number of rows in a page.
    pub(crate) fn key(&mut self, key: KeyEvent, keys: &KeyMap, page: isize, rows: &Comparisons) -> Picked {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match keys.action(KeyContext::Policies, key) {
            Some(Action::Back) => return Picked::Closed,
            Some(Action::Open) => {
                let chosen = self.selected(rows).map(|choice| Box::new(choice.clone()));
                return chosen.map_or(Picked::Nothing, Picked::One);
            }
            Some(Action::Eras) => self.list(rows, |picker| picker.all = !picker.all),
            Some(Action::Sort) => self.list(rows, |picker| picker.sort_by_next(rows)),
            Some(Action::SortReverse) => {
                self.list(rows, |picker| picker.sorting = picker.sorting.reversed());
            }
            Some(Action::Down) => self.step(1, rows),
            Some(Action::Up) => self.step(-1, rows),
            Some(Action::PageDown) => self.step(page, rows),
            Some(Action::PageUp) => self.step(-page, rows),
            _ => match key.code {
                KeyCode::Char(_) if !control && self.typed().len() >= MOST_TYPED => return Picked::TooMuch,
                KeyCode::Char(c) if !control => {
                    self.input.handle(InputRequest::InsertChar(c));
                    self.chosen = 0;
                }
                _ => {
                    self.input.handle_event(&crossterm::event::Event::Key(key));
                    self.step(0, rows);
                }
            },
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
    One(Box<EffectivePolicy>),
}

/// Shows the policies, with the one in use selected.
pub(crate) fn open(pager: &mut Pager, mut choices: Vec<EffectivePolicy>, effects: &mut Effects) {
    pager.drawer.open = false;
    let own = pager.own_policy();
    let used = own.policy.name().to_owned();
    // The policy in use is listed with its limits as they are now.
    if let Some(choice) = choices.iter_mut().find(|choice| choice.policy.name() == used) {
        *choice = EffectivePolicy { is_current: choice.is_current, ..own.clone() };
    }
    let picker = Picker::new(choices, used);
    picker.request_rows(pager, effects);
    effects.lay(picker);
}

impl Picker {
    /// Has the rows made, those on the screen first.
    fn request_rows(&self, pager: &mut Pager, effects: &mut Effects) {
        let height = rows(pager.canvas.size, self);
        pager.compare(self.wanted(&pager.comparisons, height), effects);
    }

    /// Handles a key, and tries on the policy that it selects.
    pub(super) fn pick(&mut self, key: KeyEvent, pager: &mut Pager, effects: &mut Effects) -> LayerNext {
        let page = rows(pager.canvas.size, self) as isize;
        let picked = self.key(key, pager.canvas.keys, page.max(1), &pager.comparisons);
        match picked {
            Picked::Nothing => {
                let chosen = self.selected(&pager.comparisons).cloned();
                let name = chosen.as_ref().map(|choice| choice.policy.name().to_owned());
                if let Some(choice) = chosen.filter(|_| self.chosen_name != name) {
                    pager.try_on(&choice, effects);
                }
                self.chosen_name = name;
                self.request_rows(pager, effects);
            }
            Picked::TooMuch => pager.message = Some(Message::full_line()),
            Picked::Closed | Picked::One(_) => {
                pager.give_back(effects);
                pager.stop_comparing(effects);
                if let Picked::One(choice) = picked {
                    pager.use_policy(*choice, AfterPlan::Hold, effects);
                }
                return LayerNext::Closes;
            }
        }
        LayerNext::Stays
    }
}
