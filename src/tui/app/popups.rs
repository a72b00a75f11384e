//! Keys while a pop-up is open.

use crossterm::event::{KeyCode, KeyEvent};

use crate::text::search::Toward;
use crate::tui::effect::{Effect, Effects};
use crate::tui::event::Message;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::pager::comparing::job::Compared;
use crate::tui::pager::filter::Asked;
use crate::tui::pager::pair::PairSide;
use crate::tui::popup::Popup;
use crate::tui::popup::help::{HelpKey, HelpView};
use crate::tui::popup::json::JsonView;
use crate::tui::popup::picker::{Picked, Picker};
use crate::tui::popup::prompt::{Prompt, Purpose, Typed};
use crate::tui::popup::view;
use crate::tui::target::Choice;
use crate::tui::widget::sort_menu::SortPicked;

use super::{App, Screen};

impl App {
    /// Shows the policies, with the current one selected.
    pub(crate) fn offer(&mut self, mut choices: Vec<Choice>, effects: &mut Effects) {
        let Some(pager) = self.stack.output_mut() else { return };
        pager.drawer.open = false;
        let (policy, limits_from) = pager.own_policy();
        let used = policy.name().to_owned();
        // The policy in use is listed with its limits as they are now.
        if let Some(choice) = choices.iter_mut().find(|choice| choice.policy.name() == used) {
            (choice.policy, choice.limits_from) = (policy.clone(), limits_from.to_owned());
        }
        self.popup = Some(Popup::Policies(Picker::new(choices, used)));
        self.fill_in(effects);
    }

    /// Has the rows of the policy picker made, those on the screen first.
    fn fill_in(&mut self, effects: &mut Effects) {
        let (Some(Popup::Policies(picker)), Some(pager)) = (&self.popup, self.stack.output_mut()) else {
            return;
        };
        let height = view::picker::rows(self.canvas.size, picker);
        let wanted = picker.wanted(&pager.comparisons, height);
        pager.compare(wanted, effects);
    }

    /// Takes in a row of the policy picker; the same policy stays selected.
    pub(crate) fn compared(&mut self, compared: Compared, effects: &mut Effects) {
        let Some(pager) = self.stack.output_mut() else { return };
        let mut popups = self.popup.iter_mut().chain(&mut self.beneath);
        let picker = popups.find_map(|popup| match popup {
            Popup::Policies(picker) => Some(picker),
            _ => None,
        });
        let Some(picker) = picker else { return pager.compared(compared, effects) };
        let chosen = picker.selected(&pager.comparisons).map(|choice| choice.policy.name().to_owned());
        pager.compared(compared, effects);
        picker.choose(chosen.as_deref(), &pager.comparisons);
    }

    /// Shows a line as indented JSON: the one of this number, or the one under examination.
    pub(crate) fn show_json(&mut self, number: Option<u64>) {
        match self.stack.output().map(|pager| pager.line_as_json(number)) {
            Some(Ok(line)) => self.popup = Some(Popup::Json(JsonView::new(line))),
            Some(Err(words)) => self.message = Some(Message::error(words)),
            None => {}
        }
    }

    /// Lays a pop-up over the screen and what pops up there already.
    pub(crate) fn lay_over(&mut self, popup: Popup) {
        self.beneath.extend(self.popup.replace(popup));
    }

    /// Closes the uppermost pop-up; the one beneath it comes back.
    pub(crate) fn uncover(&mut self) {
        self.popup = self.beneath.pop();
    }

    /// Opens help, which begins with the keys of a place.
    pub(crate) fn open_help(&mut self, from: KeyContext) {
        self.lay_over(Popup::Help(HelpView::new(from)));
    }

    /// Handles a key in help; none reaches the view below.
    pub(crate) fn help_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        let Some(Popup::Help(help)) = &mut self.popup else { return };
        match self.canvas.keys.action(KeyContext::Help, key) {
            Some(Action::QuitNow) if !help.is_typing() => return self.leave(effects),
            _ => {}
        }
        match help.key(key, &self.canvas) {
            HelpKey::Stays => {}
            HelpKey::Says(words) => self.message = Some(Message::note(words)),
            HelpKey::Closes => self.uncover(),
        }
    }

    /// Handles a key in the policy picker.
    pub(crate) fn pick_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        match self.canvas.keys.action(KeyContext::Policies, key) {
            Some(Action::Help) => return self.open_help(KeyContext::Policies),
            Some(Action::QuitNow) => return self.leave(effects),
            _ => {}
        }
        let (Some(Popup::Policies(picker)), Some(pager)) = (&mut self.popup, self.stack.output_mut()) else {
            return;
        };
        let rows = &pager.comparisons;
        let page = view::picker::rows(self.canvas.size, picker) as isize;
        let before = picker.selected(rows).map(|choice| choice.policy.name().to_owned());
        match picker.key(key, self.canvas.keys, page.max(1), rows) {
            Picked::Nothing => {
                let chosen =
                    picker.selected(rows).filter(|choice| before.as_deref() != Some(choice.policy.name()));
                if let Some(choice) = chosen.cloned() {
                    pager.try_on(&choice, effects);
                }
                self.fill_in(effects);
            }
            Picked::TooMuch => self.message = Some(Message::full_line()),
            Picked::Closed => {
                self.popup = None;
                self.in_pager(|pager| {
                    pager.give_back(effects);
                    pager.stop_comparing(effects);
                });
            }
            Picked::Two(choices) => {
                pager.show_pair(choices.map(|choice| PairSide::Policy(Box::new(choice))), effects);
            }
            Picked::One(choice) => {
                self.popup = None;
                self.in_pager(|pager| {
                    pager.give_back(effects);
                    pager.stop_comparing(effects);
                    pager.use_policy(choice.policy, choice.limits_from, effects);
                });
            }
        }
    }

    /// Handles a key in the menu of columns to sort by.
    pub(crate) fn sort_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        let Some(Popup::Sort(menu)) = &mut self.popup else { return };
        match menu.key(key, self.canvas.keys) {
            SortPicked::Nothing => {}
            SortPicked::Closed => self.popup = None,
            SortPicked::Column(column) => {
                self.popup = None;
                if self.stack.screen() == Screen::Sessions {
                    self.sessions.sort_by(column, effects);
                } else {
                    self.in_stores(|stores| stores.sort_by(column, effects));
                }
            }
        }
    }

    /// Handles a key while two previews are shown side by side.
    pub(crate) fn pair_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        match self.canvas.keys.action(KeyContext::Pair, key) {
            Some(Action::QuitNow) => self.leave(effects),
            Some(Action::Help) => self.open_help(KeyContext::Pair),
            _ => self.in_pager(|pager| pager.pair_key(key)),
        }
    }

    /// Handles a key in the limits drawer.
    pub(crate) fn drawer_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        let is_typing = self.stack.output().is_some_and(|pager| pager.drawer.typed.is_some());
        match self.canvas.keys.action(KeyContext::Drawer, key) {
            Some(Action::QuitNow) if !is_typing => self.leave(effects),
            Some(Action::Help) if !is_typing => self.open_help(KeyContext::Drawer),
            _ => self.in_pager(|pager| pager.drawer_key(key, effects)),
        }
    }

    /// Handles a key in help, facts or the list of overdue entries.
    pub(crate) fn act_on_popup(&mut self, popup: Popup, action: Action, effects: &mut Effects) {
        self.popup = match (popup, action) {
            (_, Action::Quit | Action::Interrupt) => None,
            (popup, Action::QuitNow) => {
                self.popup = Some(popup);
                return self.leave(effects);
            }
            (Popup::Cleaning(cleaning, _), Action::Open) => {
                self.in_stores(|stores| stores.accept_cleaning(cleaning));
                None
            }
            (popup, action) => popup.act(action, self.canvas),
        };
    }

    /// Handles a key while a line is being typed.
    pub(crate) fn type_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        let Some(Popup::Prompt(prompt)) = &mut self.popup else { return };
        let history = self.stack.output().map_or(&[][..], |pager| match prompt.purpose() {
            Purpose::Lines { .. } => &pager.filter.history,
            _ => &pager.find.history,
        });
        let is_filter = prompt.purpose() == Purpose::Filter;
        match prompt.key(key, history) {
            Typed::Text => {}
            Typed::TooMuch => self.message = Some(Message::full_line()),
            Typed::Left => {
                self.popup = None;
                self.in_pager(|pager| pager.give_up_typing(effects));
            }
            Typed::Whole => return self.enter(effects),
        }
        if self.popup.is_none()
            && key.code != KeyCode::Backspace
            && self.stack.screen() == Screen::Stores
            && is_filter
        {
            return self.stores.give_up_filter(effects);
        }
        if self.popup.is_none() && key.code != KeyCode::Backspace && self.stack.screen() == Screen::Sessions {
            return self.sessions.give_up_filter(effects);
        }
        self.narrow(effects);
    }

    /// Handles pasted text: it is typed into the prompt, never taken for keys.
    pub(crate) fn paste(&mut self, text: &str, effects: &mut Effects) {
        if let Some(Popup::Prompt(prompt)) = &mut self.popup
            && !prompt.paste(text)
        {
            self.message = Some(Message::full_line());
        }
        self.narrow(effects);
    }

    /// Applies a filter, or searches, while it is being typed.
    fn narrow(&mut self, effects: &mut Effects) {
        let Some(Popup::Prompt(prompt)) = &self.popup else { return };
        let screen = self.stack.screen();
        match (prompt.purpose(), self.stack.output_mut()) {
            (Purpose::Filter, _) if screen == Screen::Sessions => {
                self.sessions.filter(prompt.text(), effects);
            }
            (Purpose::Filter, _) => self.stores.filter(prompt.text(), effects),
            (Purpose::Search, Some(pager)) => {
                pager.type_search(prompt.text(), (Toward::End, prompt.times()), effects);
            }
            (Purpose::SearchBack, Some(pager)) => {
                pager.type_search(prompt.text(), (Toward::Start, prompt.times()), effects);
            }
            _ => {}
        }
    }

    fn enter(&mut self, effects: &mut Effects) {
        let Some(Popup::Prompt(prompt)) = self.popup.take() else { return };
        if let Err(fault) = self.entered(&prompt, effects) {
            self.message = Some(Message::error(fault));
            self.popup = Some(Popup::Prompt(prompt));
        }
    }

    fn entered(&mut self, prompt: &Prompt, effects: &mut Effects) -> Result<(), String> {
        let text = prompt.text().trim();
        let mut done = Ok(());
        match prompt.purpose() {
            Purpose::Search => {
                self.in_pager(|pager| {
                    done = pager.search(prompt.text(), (Toward::End, prompt.times()), effects)
                });
            }
            Purpose::SearchBack => {
                self.in_pager(|pager| {
                    done = pager.search(prompt.text(), (Toward::Start, prompt.times()), effects)
                });
            }
            Purpose::Lines { shows, around } => {
                let asked = Asked { text: prompt.text(), shows, around };
                self.in_pager(|pager| done = pager.filter(asked, effects));
            }
            Purpose::GoTo if text == "q" => self.leave(effects),
            Purpose::GoTo if self.stack.screen() == Screen::Sessions => {
                done = self.sessions.go_to_row(text, effects);
            }
            Purpose::GoTo if self.stack.screen() == Screen::Stores => {
                done = self.stores.go_to_row(text, effects)
            }
            Purpose::GoTo if text == "n" || text == "p" => {
                // Outputs named on the command line are at the bottom.
                if self.stack.screens().next() == Some(Screen::Pager) {
                    self.pop(self.stack.depth(), effects);
                }
                effects.push(Effect::OtherFile { next: text == "n" });
            }
            Purpose::GoTo => self.in_pager(|pager| done = pager.go_to(text)),
            Purpose::Window => self.in_pager(|pager| done = pager.set_window(text)),
            Purpose::Grep => done = self.stores.search_all(prompt.text(), effects),
            Purpose::Find => done = self.tune.set_find(prompt.text(), effects),
            Purpose::Filter => {}
        }
        done
    }
}
