//! Keys while a pop-up is open.

use crossterm::event::{KeyCode, KeyEvent};

use crate::text::search::Toward;
use crate::tui::event::{Effect, Effects, Message};
use crate::tui::keys::{self, Action};
use crate::tui::pager::filter::Asked;
use crate::tui::pager::subject::Choice;
use crate::tui::popup::Popup;
use crate::tui::popup::json::JsonView;
use crate::tui::popup::picker::{Picked, Picker};
use crate::tui::popup::prompt::{Prompt, Purpose, Typed};
use crate::tui::stores::sort_menu::SortPicked;

use super::{App, Screen};

impl App {
    /// Shows the policies, with the current one selected.
    pub(crate) fn offer(&mut self, choices: Vec<Choice>) {
        let used = self.pager.as_ref().map(|pager| pager.output.subject.policy.name().to_owned());
        self.popup = Some(Popup::Policies(Picker::new(choices, used)));
        self.in_pager(|pager| pager.drawer.open = false);
    }

    /// Shows a line as indented JSON: the one of this number, or the one under examination.
    pub(crate) fn show_json(&mut self, number: Option<u64>) {
        match self.pager.as_ref().map(|pager| pager.line_as_json(number)) {
            Some(Ok(line)) => self.popup = Some(Popup::Json(JsonView::new(line))),
            Some(Err(words)) => self.message = Some(Message::error(words)),
            None => {}
        }
    }

    /// Handles a key in the policy picker.
    pub(crate) fn pick_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        let Some(Popup::Policies(picker)) = &mut self.popup else { return };
        match picker.key(key, isize::from(self.canvas.size.1 as i16 / 2)) {
            Picked::Nothing => {}
            Picked::TooMuch => self.message = Some(Message::full_line()),
            Picked::Closed => self.popup = None,
            Picked::One(choice) => {
                self.popup = None;
                self.in_pager(|pager| pager.use_policy(choice.policy, choice.limits_from, effects));
            }
        }
    }

    /// Handles a key in the menu of columns to sort by.
    pub(crate) fn sort_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        let Some(Popup::Sort(menu)) = &mut self.popup else { return };
        match menu.key(key) {
            SortPicked::Nothing => {}
            SortPicked::Closed => self.popup = None,
            SortPicked::Column(column) => {
                self.popup = None;
                self.in_stores(|stores| stores.sort_by(column, effects));
            }
        }
    }

    /// Handles a key in the limits drawer.
    pub(crate) fn drawer_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        let is_typing = self.pager.as_ref().is_some_and(|pager| pager.drawer.typed.is_some());
        match keys::action(self.key_place(), key) {
            Some(Action::Interrupt) => Self::interrupt(effects),
            Some(Action::QuitNow) if !is_typing => self.leave(effects),
            _ => self.in_pager(|pager| pager.drawer_key(key, effects)),
        }
    }

    /// Handles a key in help, facts or the list of overdue entries.
    pub(crate) fn act_on_popup(&mut self, popup: Popup, action: Action, effects: &mut Effects) {
        self.popup = match (popup, action) {
            (_, Action::Quit) => None,
            (popup, Action::QuitNow) => {
                self.popup = Some(popup);
                return self.leave(effects);
            }
            (popup, Action::Interrupt) => {
                Self::interrupt(effects);
                Some(popup)
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
        let history = self.pager.as_ref().map_or(&[][..], |pager| match prompt.purpose() {
            Purpose::Lines { .. } => &pager.filter.history,
            _ => &pager.find.history,
        });
        match prompt.key(key, history) {
            Typed::Text => {}
            Typed::TooMuch => self.message = Some(Message::full_line()),
            Typed::Left => {
                self.popup = None;
                self.in_pager(|pager| pager.give_up_typing(effects));
            }
            Typed::Whole => return self.enter(effects),
        }
        if self.popup.is_none() && key.code != KeyCode::Backspace && self.screen == Screen::Stores {
            return self.stores.give_up_filter(effects);
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
        let pager = self.pager.as_mut();
        match (prompt.purpose(), pager) {
            (Purpose::Filter, _) => self.stores.filter(prompt.text(), effects),
            (Purpose::Search, Some(pager)) => pager.type_search(prompt.text(), Toward::End, effects),
            (Purpose::SearchBack, Some(pager)) => pager.type_search(prompt.text(), Toward::Start, effects),
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
                self.in_pager(|pager| done = pager.search(prompt.text(), Toward::End, effects));
            }
            Purpose::SearchBack => {
                self.in_pager(|pager| done = pager.search(prompt.text(), Toward::Start, effects));
            }
            Purpose::Lines { shows, around } => {
                let asked = Asked { text: prompt.text(), shows, around };
                self.in_pager(|pager| done = pager.filter(asked, effects));
            }
            Purpose::GoTo if text == "q" => self.leave(effects),
            Purpose::GoTo if self.screen == Screen::Stores => done = self.stores.go_to_row(text, effects),
            Purpose::GoTo if text == "n" || text == "p" => {
                effects.push(Effect::OtherFile { next: text == "n" });
            }
            Purpose::GoTo => self.in_pager(|pager| done = pager.go_to(text)),
            Purpose::Window => self.in_pager(|pager| done = pager.set_window(text)),
            Purpose::Filter => {}
        }
        done
    }
}
