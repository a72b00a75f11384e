//! How the text of a line is shown: wrapped or moved along sideways, and with its escape sequences as text or as colours.

use std::ops::Range;

use crate::document::scroll::{Long, ScreenRow, Viewport};
use crate::tui::keys::Action;
use crate::tui::widget::layout::Side;

use super::Pager;

impl Pager {
    /// Whether the line at the top of a side is so long that horizontal moves count in bytes.
    pub fn is_long_line(&self, side: Side) -> bool {
        let (scroll, top) = (self.scroll(side), self.panes.top(side));
        scroll.fold(top).is_none() && !scroll.reader.segment(top).closes
    }

    /// Scrolls horizontally until the start of a range of the document is visible.
    pub(crate) fn reveal_sideways(&mut self, side: Side, range: &Range<u64>) {
        let Long::Sideways(from) = self.panes.long else { return };
        let (width, _) = self.room(side);
        let column = self.scroll(side).column_of(range.start);
        if !(from..from + u64::from(width)).contains(&column) {
            self.panes.long = Long::Sideways(column.saturating_sub(u64::from(width) / 3));
        }
    }

    pub(crate) fn go_sideways(&mut self, right: bool, count: Option<u64>) {
        let (width, _) = self.room(self.focus());
        let step = count.unwrap_or(u64::from(width / 2).max(1));
        self.panes.long = match (self.panes.long, right) {
            (Long::Wrapped, false) => return,
            (Long::Wrapped, true) => return self.stop_wrapping(),
            (Long::Sideways(at), true) => Long::Sideways(at.saturating_add(step)),
            (Long::Sideways(at), false) => Long::Sideways(at.saturating_sub(step)),
        };
        self.align_panes();
    }

    pub(crate) fn turn_wrap(&mut self) {
        let words = match self.panes.long {
            Long::Wrapped => {
                self.stop_wrapping();
                "wrap off · ← → scroll"
            }
            Long::Sideways(_) => {
                self.hold();
                self.panes.long = Long::Wrapped;
                self.show_otherwise();
                "long lines wrap"
            }
        };
        self.note(words);
    }

    /// Shows each line as one row, from the column on that shows the text under examination.
    fn stop_wrapping(&mut self) {
        self.hold();
        let side = self.focus();
        self.panes.long = Long::Sideways(self.column_at_top(side));
        self.show_otherwise();
        let shown = self.shown_range(side);
        if let Some(found) = self.find.current(side).filter(|found| shown.contains(&found.start)).cloned() {
            self.reveal_sideways(side, &found);
        }
        self.held_as_shown();
    }

    /// Returns the column of the top of a wrapped side in its line if that line fills the screen or is too long to be
    /// laid out at once; otherwise 0, so that other lines are shown from their start.
    fn column_at_top(&self, side: Side) -> u64 {
        let (scroll, top) = (self.scroll(side), self.panes.top(side));
        let segment = scroll.reader.segment(scroll.reader.segment_start(top));
        let is_whole = segment.opens && segment.closes;
        let fills = scroll.screen(top).iter().skip(1).all(|row| !row.opens);
        if is_whole && !fills { 0 } else { scroll.column_of(top) }
    }

    /// Goes to the first row of the line at the top or, if lines are not wrapped, to the left edge.
    pub(crate) fn go_line_start(&mut self, side: Side) {
        match self.panes.long {
            Long::Sideways(_) => self.panes.long = Long::Sideways(0),
            Long::Wrapped => {
                let scroll = self.scroll(side);
                let start = scroll.top_at(scroll.reader.line_start(self.panes.top(side)), 0);
                self.panes.remember();
                self.place(side, start);
            }
        }
    }

    /// Goes to where the end of the line at the top is visible or, if lines are not wrapped, that of the longest line
    /// shown.
    pub(crate) fn go_line_end(&mut self, side: Side) {
        let (scroll, top) = (self.scroll(side), self.panes.top(side));
        let end = match self.panes.long {
            Long::Sideways(_) => scroll.longest_end(top),
            Long::Wrapped => scroll.reader.line_end(top),
        };
        if !scroll.reader.ends_line(end) {
            let percent = self.output.counted_percent();
            return self.note(format!("the line's end is not known yet: counting lines, {percent}%"));
        }
        let Viewport { width, height, .. } = scroll.frame;
        match self.panes.long {
            Long::Sideways(_) => {
                let columns = scroll.column_of(end);
                self.panes.long = Long::Sideways(columns.saturating_sub(u64::from(width)));
            }
            Long::Wrapped => {
                let rows = usize::from(height).saturating_sub(1);
                let to = scroll.up(scroll.row_at(end), rows).max(top);
                self.panes.remember();
                self.place(side, to);
            }
        }
    }

    pub(crate) fn turn_raw(&mut self) {
        let side = self.focus();
        let raw = !self.panes.raw[side as usize];
        self.hold();
        self.panes.raw[side as usize] = raw;
        self.panes.unfolded[side as usize] = None;
        self.show_otherwise();
        let key = self.key_of(Action::Raw);
        let words = match (side, raw) {
            (Side::Preview, true) => {
                format!("raw: escapes as text, as the model {} them", self.output.certainty().verb())
            }
            (Side::Preview, false) if self.leaves_states(side) => {
                "a long progress line that was cut cannot be folded; the others are".to_owned()
            }
            (Side::Preview, false) => {
                format!("escapes as colours, as the model did not see them; {key} goes back")
            }
            (Side::Spill, true) => "raw: escapes as text, lines with all their states".to_owned(),
            (Side::Spill, false) => "escapes as colours, lines by their last state".to_owned(),
        };
        self.note(words);
    }

    /// Whether a line on the screen shows several states although such lines are folded: in Preview, where the index of the
    /// file does not tell how long a line is that was cut.
    fn leaves_states(&self, side: Side) -> bool {
        let top = self.panes.top(side);
        let rows = self.scroll(side).screen(top);
        self.output.index.is_complete() && rows.iter().any(ScreenRow::shows_states)
    }
}
