//! The stack of places: where the user is, and where leaving leads back to.

use crate::tui::pager::Pager;

use super::Screen;

/// A screen on the stack. A list is on it at most once, so its state lies beside the stack.
pub(super) enum StackPlace {
    Output(Box<Pager>),
    List(Screen),
}

/// The places from the one that the program began with up to the one that is shown.
#[derive(Default)]
pub struct Stack {
    places: Vec<StackPlace>,
}

impl StackPlace {
    fn output(&self) -> Option<&Pager> {
        match self {
            StackPlace::Output(pager) => Some(pager),
            StackPlace::List(_) => None,
        }
    }

    fn output_mut(&mut self) -> Option<&mut Pager> {
        match self {
            StackPlace::Output(pager) => Some(pager),
            StackPlace::List(_) => None,
        }
    }

    fn screen(&self) -> Screen {
        match self {
            StackPlace::Output(_) => Screen::Pager,
            StackPlace::List(screen) => *screen,
        }
    }
}

impl Stack {
    /// Returns the screen that is shown.
    pub fn screen(&self) -> Screen {
        self.places.last().map_or(Screen::Stores, StackPlace::screen)
    }

    /// Returns the screens, the first one at the bottom.
    pub fn screens(&self) -> impl Iterator<Item = Screen> {
        self.places.iter().map(StackPlace::screen)
    }

    /// Returns the output that is shown, or the nearest one beneath the lists.
    pub fn output(&self) -> Option<&Pager> {
        self.places.iter().rev().find_map(StackPlace::output)
    }

    /// Returns the same to change it.
    pub fn output_mut(&mut self) -> Option<&mut Pager> {
        self.places.iter_mut().rev().find_map(StackPlace::output_mut)
    }

    /// Returns the outputs, the first one at the bottom.
    pub fn outputs(&self) -> impl Iterator<Item = &Pager> {
        self.places.iter().filter_map(StackPlace::output)
    }

    /// Returns the same to change them.
    pub(crate) fn outputs_mut(&mut self) -> impl Iterator<Item = &mut Pager> {
        self.places.iter_mut().filter_map(StackPlace::output_mut)
    }

    /// Whether leaving the place that is shown leads nowhere.
    pub(crate) fn is_at_bottom(&self) -> bool {
        self.depth() == 0
    }

    /// Returns how many places lie above a screen, if it is on the stack.
    pub(crate) fn depth_of(&self, screen: Screen) -> Option<usize> {
        self.places.iter().rev().position(|place| place.screen() == screen)
    }

    /// Returns how many places lie above the one at the bottom.
    pub(crate) fn depth(&self) -> usize {
        self.places.len().saturating_sub(1)
    }

    /// Puts an output on top.
    pub(crate) fn push_output(&mut self, pager: Pager) {
        self.places.push(StackPlace::Output(Box::new(pager)));
    }

    /// Puts a list on top, which must not be on the stack yet.
    pub(crate) fn push_list(&mut self, screen: Screen) {
        self.places.push(StackPlace::List(screen));
    }

    /// Takes the place off the top.
    pub(super) fn pop(&mut self) -> Option<StackPlace> {
        self.places.pop()
    }

    /// Takes the output off the top, if one is there.
    pub(super) fn pop_output(&mut self) -> Option<Pager> {
        match self.places.pop_if(|place| place.output().is_some())? {
            StackPlace::Output(pager) => Some(*pager),
            StackPlace::List(_) => None,
        }
    }
}
