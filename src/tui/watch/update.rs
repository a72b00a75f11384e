//! What news of the stores and keys change in the list of new outputs.

use std::path::PathBuf;

use crate::corpus::{WatchNews, WatchedOutput};
use crate::text::label::{SafeText, shell};
use crate::text::search::Severity;
use crate::tui::event::{Message, ScreenEvent};
use crate::tui::screen::{Effect, Effects, OpenRequest};

use super::{AGENT, MOST_ROWS, WatchRow, WatchScreen, WatchedDirs};

impl ScreenEvent for WatchNews {}

impl WatchScreen {
    /// Takes in news.
    pub(super) fn take_news(&mut self, news: WatchNews, is_top: bool) {
        match news {
            WatchNews::Listed { there, absent } => {
                let words = |(agent, path): &(String, PathBuf)| {
                    let path = SafeText::from_bytes(path.as_os_str().as_encoded_bytes());
                    SafeText::from(format!("{agent:<AGENT$}  {path}"))
                };
                let there = there.iter().map(words);
                self.watched = Some(WatchedDirs { there: there.collect(), absent });
            }
            WatchNews::Output(output) => self.add(*output, is_top),
            WatchNews::Fault(words) => self.message = Some(Message::error(words)),
        }
    }

    fn add(&mut self, output: WatchedOutput, is_top: bool) {
        // Beneath what was opened from here, the row stays selected.
        let follows = self.follows() && is_top;
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

    /// Opens the selected output at its first lost error, or at the cut.
    pub(super) fn open(&mut self, effects: &mut Effects) {
        let Some((path, at)) = self.chosen().map(|row| (row.path.clone(), row.open_at)) else { return };
        effects.push(Effect::Open(OpenRequest::stored(path, at)));
    }

    pub(super) fn copy(&mut self, effects: &mut Effects) {
        let Some(row) = self.chosen() else { return };
        let text = shell::word(row.path.as_os_str().as_encoded_bytes());
        self.message = Some(Message::note(format!("copied: {text}")));
        effects.push(Effect::Copy(text));
    }
}
