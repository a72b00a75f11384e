//! The list of new outputs within the whole: how it is shown, and what its events and keys lead to.

use crate::tui::effect::Effects;
use crate::tui::keys::Action;
use crate::tui::watch::{WatchGaze, WatchNext, WatchScreen};

use crate::corpus::WatchNews;

use super::{App, Screen};

impl App {
    /// Shows the list of new outputs; empty the first time.
    pub fn go_to_watch(&mut self, effects: &mut Effects) {
        self.watch.get_or_insert_with(|| WatchScreen::new(self.canvas));
        self.go_to(Screen::Watch, effects);
    }

    /// Takes in news of the stores that are watched.
    pub(crate) fn watch_news(&mut self, news: WatchNews) {
        let gaze = if self.stack.screen() == Screen::Pager { WatchGaze::Output } else { WatchGaze::List };
        self.in_watch(|watch| watch.update(news, gaze));
    }

    /// Carries out an action in the list of new outputs.
    pub(crate) fn act_on_watch(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        let mut next = WatchNext::Stay;
        self.in_watch(|watch| next = watch.act(action, count, effects));
        if next == WatchNext::Stores {
            self.go_to_stores(effects);
        }
    }

    /// Runs `act` on the list, if there is one, and takes over its message.
    fn in_watch(&mut self, act: impl FnOnce(&mut WatchScreen)) {
        if let Some(watch) = &mut self.watch {
            act(watch);
            self.message = watch.message.take().or(self.message.take());
        }
    }
}
