//! The place in an output at which it is opened: a line, the end, or the first match of a pattern.

use crate::text::search::Toward;
use crate::tui::event::Message;
use crate::tui::screen::Effects;
use crate::tui::widget::layout::Side;

use super::Pager;
use crate::tui::target::StartAt;

/// What is left to do before the place is on the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Starting {
    /// To go there.
    At(StartAt),
    /// To hear from the search for the pattern.
    Searching,
}

impl Pager {
    /// Goes to a place as soon as it is known where that is; a key that acts on the output cancels it.
    pub(crate) fn start_at(&mut self, place: StartAt) {
        self.start = Some(Starting::At(place));
    }

    /// Goes to the place at which the output is to be opened, if there is one, once the preview is made, and the line
    /// counted or the match found. While the output is still produced, its end is followed, and a match is looked for once it
    /// is complete.
    pub(crate) fn start_now(&mut self, effects: &mut Effects) {
        if self.output.is_awaited() || !self.is_start_known() {
            return;
        }
        match self.start.take() {
            None => {}
            Some(Starting::At(StartAt::End)) if self.is_coming() => self.follow_from_start(),
            Some(Starting::At(StartAt::End)) => self.go_end(self.focus(), None),
            Some(Starting::At(StartAt::Line(line))) => self.start_at_line(line),
            Some(Starting::At(StartAt::Match(pattern))) => {
                match self.search(&pattern, (Toward::End, 1), effects) {
                    Ok(()) => self.start = Some(Starting::Searching),
                    Err(fault) => self.message = Some(Message::error(format!("{pattern}: {fault}"))),
                }
            }
            Some(Starting::Searching) => self.show_found(),
        }
    }

    fn is_start_known(&self) -> bool {
        let index = &self.output.index;
        match &self.start {
            Some(Starting::At(StartAt::Line(line))) => {
                let is_counted = !self.is_coming() && index.is_complete();
                is_counted || index.offset_of(&self.output.view, line.saturating_sub(1)).is_some()
            }
            Some(Starting::At(StartAt::Match(_))) => !self.is_coming(),
            Some(Starting::Searching) => !self.find.is_running(),
            _ => true,
        }
    }

    /// Shows the end in Spill while the output grows.
    fn follow_from_start(&mut self) {
        if !self.shows_both() {
            self.panes.focus = Side::Spill;
        }
        if !self.panes.following {
            self.turn_follow();
        }
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

    /// Turns to Spill if only that has the match.
    fn show_found(&mut self) {
        if let Some(found) = self.find.current(Side::Spill).cloned().filter(|_| !self.shows_both()) {
            self.panes.focus = Side::Spill;
            self.message = None;
            self.reveal(Side::Spill, found);
        }
    }
}
