//! What news of the stores and keys change in the list of new outputs.

use std::path::PathBuf;

use crate::corpus::{WatchNews, WatchedOutput};
use crate::text::label::{SafeText, shell};
use crate::text::search::Severity;
use crate::tui::effect::{Effect, Effects};
use crate::tui::event::{Message, ScreenEvent};
use crate::tui::keys::{Action, KeyContext};

use super::{AGENT, MOST_ROWS, WatchRow, WatchScreen, WatchedDirs};

impl ScreenEvent for WatchNews {}

/// What a key in the list requests from the rest of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatchNext {
    /// Stay in the list.
    Stay,
    /// Show the list of all stored outputs.
    Stores,
}

/// Where the user is when news arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WatchGaze {
    List,
    /// In an output opened from it: the row stays selected.
    Output,
}

impl WatchScreen {
    /// Takes in news.
    pub(crate) fn update(&mut self, news: WatchNews, gaze: WatchGaze) {
        match news {
            WatchNews::Listed { there, absent } => {
                let words = |(agent, path): &(String, PathBuf)| {
                    let path = SafeText::from_bytes(path.as_os_str().as_encoded_bytes());
                    SafeText::from(format!("{agent:<AGENT$}  {path}"))
                };
                let there = there.iter().map(words);
                self.watched = Some(WatchedDirs { there: there.collect(), absent });
            }
            WatchNews::Output(output) => self.add(*output, gaze),
            WatchNews::Fault(words) => self.message = Some(Message::error(words)),
        }
    }

    fn add(&mut self, output: WatchedOutput, gaze: WatchGaze) {
        let follows = self.follows() && gaze == WatchGaze::List;
        let row = WatchRow::of(output);
        self.sums.outputs += 1;
        self.sums.cut += u64::from(row.got.is_cut());
        let errors = row.found.filter(|(severity, _)| *severity == Severity::Error);
        let lost = errors.map_or(0, |(_, found)| found.lost);
        self.sums.errors_lost = self.sums.errors_lost.saturating_add(lost);
        self.rows.push_back(row);
        if self.rows.len() > MOST_ROWS {
            self.rows.pop_front();
            self.cursor.chosen = self.cursor.chosen.saturating_sub(1);
            self.cursor.top = self.cursor.top.saturating_sub(1);
        }
        if follows {
            self.cursor.chosen = usize::MAX;
        }
        self.settle();
    }

    /// Adjusts the list after a change of size or content.
    pub(crate) fn settle(&mut self) {
        let height = self.height();
        self.cursor.go(self.cursor.chosen, self.rows.len(), height);
    }

    /// Carries out an action. Returns what it requests from the rest of the program.
    pub(crate) fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) -> WatchNext {
        let (len, height) = (self.rows.len(), self.height());
        if self.cursor.act(action, count, len, height) {
            return WatchNext::Stay;
        }
        match action {
            Action::Stores => return WatchNext::Stores,
            Action::Follow | Action::Back => self.cursor.go(usize::MAX, len, height),
            Action::Open => self.open(effects),
            Action::Copy => self.copy(effects),
            _ => {
                let help = self.canvas.keys.of(KeyContext::Watch, Action::Help);
                self.message = Some(Message::note(format!("that does nothing here; {help} for help")));
            }
        }
        WatchNext::Stay
    }

    /// Opens the selected output at its first lost error, or at the cut.
    fn open(&mut self, effects: &mut Effects) {
        let Some((path, at)) = self.chosen().map(|row| (row.path.clone(), row.open_at)) else { return };
        self.opened_at = at;
        effects.push(Effect::Open(path));
    }

    fn copy(&mut self, effects: &mut Effects) {
        let Some(row) = self.chosen() else { return };
        let text = shell::word(row.path.as_os_str().as_encoded_bytes());
        self.message = Some(Message::note(format!("copied: {text}")));
        effects.push(Effect::Copy(text));
    }
}
