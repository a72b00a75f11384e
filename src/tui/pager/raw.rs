//! Turns between the bytes as they are, with escape sequences as text and all states of rewritten lines, and what they
//! show on a terminal.

use crate::tui::keys::Action;
use crate::tui::widget::layout::Side;

use super::Pager;
use super::scroll::ScreenRow;

impl Pager {
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
        let has_states = |row: &ScreenRow| {
            let mut texts = row.cells.iter().map(|cell| cell.text.as_str()).skip_while(|text| *text != "^M");
            row.states.is_none() && texts.any(|text| text != "^M")
        };
        self.output.index.is_complete() && rows.iter().any(has_states)
    }
}
