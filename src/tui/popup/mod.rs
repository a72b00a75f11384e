//! What lies over the screen, and what keys do there.

pub mod picker;
pub mod prompt;
pub mod view;

use super::app::{App, Effect, Effects};
use super::keys::Action;

/// What lies over the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlay {
    /// Keys and legend, from this row on.
    Help(u16),
    /// Facts about the output.
    Facts,
    /// All policies, to pick one.
    Policies,
    /// The limits drawer.
    Limits,
    /// What is overdue, from this row on.
    Clean(u16),
}

impl App {
    pub(crate) fn act_on_overlay(&mut self, action: Action, effects: &mut Effects) {
        let page = self.size.1 / 2;
        self.overlay = match (self.overlay, action) {
            (_, Action::Quit) => return effects.push(Effect::Quit),
            (Some(Overlay::Clean(_)), Action::Open) => {
                self.accept_cleaning();
                None
            }
            (Some(Overlay::Clean(top)), Action::Down) => Some(Overlay::Clean(top.saturating_add(1))),
            (Some(Overlay::Clean(top)), Action::Up) => Some(Overlay::Clean(top.saturating_sub(1))),
            (Some(Overlay::Clean(top)), Action::PageDown | Action::HalfDown | Action::Choose) => {
                Some(Overlay::Clean(top.saturating_add(page)))
            }
            (Some(Overlay::Clean(top)), Action::PageUp | Action::HalfUp) => {
                Some(Overlay::Clean(top.saturating_sub(page)))
            }
            (Some(Overlay::Help(top)), Action::Down) => Some(Overlay::Help(top.saturating_add(1))),
            (Some(Overlay::Help(top)), Action::Up) => Some(Overlay::Help(top.saturating_sub(1))),
            (Some(Overlay::Help(top)), Action::PageDown | Action::HalfDown) => {
                Some(Overlay::Help(top.saturating_add(page)))
            }
            (Some(Overlay::Help(top)), Action::PageUp | Action::HalfUp) => {
                Some(Overlay::Help(top.saturating_sub(page)))
            }
            _ => None,
        };
        if let Some(Overlay::Help(top)) = &mut self.overlay {
            *top = (*top).min(self::view::help::last_top(self.size, self.unicode));
        }
    }
}
