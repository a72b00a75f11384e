//! The place in an output at which it is opened: a line, the end, or the first match of a pattern.

use crate::text::search::Toward;
use crate::tui::event::{Effects, Message};
use crate::tui::widget::layout::Side;

use super::Pager;
use super::subject::StartAt;

impl Pager {
    /// Goes to a place as soon as it is known where that is; a key that acts on the output cancels it.
    pub(crate) fn start_at(&mut self, place: StartAt, effects: &mut Effects) {
        self.start = Some(place);
        self.start_now(effects);
    }

    /// Goes to the place at which the output is to be opened, if there is one, the preview is made, and the line counted.
    pub(crate) fn start_now(&mut self, effects: &mut Effects) {
        if self.output.is_awaited() || !self.is_start_known() {
            return;
        }
        match self.start.take() {
            None => {}
            Some(StartAt::End) => self.go_end(self.focus(), None),
            Some(StartAt::Line(line)) => self.start_at_line(line),
            Some(StartAt::Match(pattern)) => {
                if let Err(fault) = self.search(&pattern, (Toward::End, 1), effects) {
                    self.message = Some(Message::error(format!("{pattern}: {fault}")));
                }
            }
        }
    }

    fn is_start_known(&self) -> bool {
        let Some(StartAt::Line(line)) = &self.start else { return true };
        let index = &self.output.index;
        index.is_complete() || index.offset_of(&self.output.view, line.saturating_sub(1)).is_some()
    }

    /// Shows the line: in Spill, if Preview has the screen for itself and has not got the line.
    fn start_at_line(&mut self, line: u64) {
        let output = &self.output;
        let offset = output.index.offset_of(&output.view, line.saturating_sub(1));
        let is_lost = offset.is_some_and(|offset| output.has_preview() && !output.is_kept(offset as usize));
        if is_lost && !self.shows_both() {
            self.panes.focus = Side::Spill;
        }
        self.go_start(self.focus(), Some(line));
    }
}
