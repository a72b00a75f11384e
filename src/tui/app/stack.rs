//! The stack of places: where the user is, and where leaving leads back to.

use std::any::Any;

use crate::tui::event::{Event, ScreenEvent};
use crate::tui::keys::KeyContext;
use crate::tui::pager::Pager;
use crate::tui::screen::{Effects, Layer, Screen};

use super::App;

impl App {
    /// Returns the screen that is shown.
    pub fn top(&self) -> Option<&dyn Screen> {
        self.stack.last().or(self.shelf.first()).map(|screen| &**screen)
    }

    /// Returns the context in which a key press is looked up.
    pub fn context(&self) -> KeyContext {
        self.top().map_or(KeyContext::Everywhere, Screen::context)
    }

    /// Returns the screens on the stack, the first one at the bottom.
    pub fn places(&self) -> impl DoubleEndedIterator<Item = &dyn Screen> {
        self.stack.iter().map(|screen| &**screen)
    }

    /// Returns the screens on the stack and those that were left.
    pub(crate) fn screens(&self) -> impl Iterator<Item = &dyn Screen> {
        self.stack.iter().chain(&self.shelf).map(|screen| &**screen)
    }

    /// Returns the screen of a type: the uppermost on the stack, else as it was left.
    pub fn screen<S: Screen>(&self) -> Option<&S> {
        let mut screens = self.stack.iter().rev().chain(&self.shelf);
        screens.find_map(|screen| (&**screen as &dyn Any).downcast_ref())
    }

    /// Returns the same to change it.
    pub fn screen_mut<S: Screen>(&mut self) -> Option<&mut S> {
        let mut screens = self.stack.iter_mut().rev().chain(&mut self.shelf);
        screens.find_map(|screen| (&mut **screen as &mut dyn Any).downcast_mut())
    }

    /// Returns the pop-ups over the screen, the lowest first.
    pub fn layers(&self) -> impl DoubleEndedIterator<Item = &dyn Layer> {
        self.layers.iter().map(|layer| &**layer)
    }

    /// Returns the uppermost pop-up if it is of this type.
    pub fn layer<L: Layer>(&self) -> Option<&L> {
        self.layers.last().and_then(|layer| (&**layer as &dyn Any).downcast_ref())
    }

    /// Whether leaving the place that is shown leads nowhere.
    pub(super) fn is_at_bottom(&self) -> bool {
        self.stack.len() <= 1
    }

    /// Goes to the screen that serves an event: back to it if it is on the stack, else it comes on top.
    pub(super) fn show(&mut self, event: Box<dyn ScreenEvent>, effects: &mut Effects) {
        let serves = |screen: &dyn Screen| screen.serves(&*event as &dyn Any);
        let depth = self.places().rev().position(serves);
        if let Some(depth) = depth {
            self.pop(depth, effects);
        } else if let Some(at) = self.shelf.iter().position(|screen| serves(&**screen)) {
            let screen = self.shelf.remove(at);
            self.on_top(|top| top.cover(effects));
            self.stack.push(screen);
        }
        self.send(Event::Screen(event), effects);
        self.on_top(|top| top.show(effects));
    }

    /// Takes places off the top, and continues the output beneath one that was taken off.
    pub(super) fn pop(&mut self, places: usize, effects: &mut Effects) {
        let mut left = None;
        for mut screen in self.stack.split_off(self.stack.len().saturating_sub(places)).into_iter().rev() {
            screen.close(effects);
            let screen: Box<dyn Any> = match (&*screen as &dyn Any).is::<Pager>() {
                true => screen,
                false => {
                    self.shelf.push(screen);
                    continue;
                }
            };
            left = left.or(screen.downcast::<Pager>().ok());
        }
        if let (Some(left), Some(pager)) = (left, self.output_mut()) {
            pager.resume(&left, effects);
        }
    }
}
