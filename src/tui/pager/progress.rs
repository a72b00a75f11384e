//! Turns the folding of progress lines on and off, and says what stays as it is.

use crate::tui::event::Message;
use crate::tui::keys::Action;
use crate::tui::widget::layout::Side;

use super::Pager;
use super::fold::ProgressLines;
use super::scroll::ScreenRow;

impl Pager {
    /// Shows progress lines by their last state, or as they are.
    pub(crate) fn turn_progress(&mut self) {
        let side = self.focus();
        let [raw, unfold] = [Action::Raw, Action::Unfold].map(|action| self.key_of(action));
        if side == Side::Spill && self.panes.raw[side as usize] {
            let words =
                format!("all states are shown while escapes are text; {raw}, then {unfold} folds them");
            self.message = Some(Message::note(words));
            return;
        }
        let progress = &mut self.panes.progress[side as usize];
        let (now, words) = match *progress {
            ProgressLines::Folded(None) => {
                (ProgressLines::Unfolded, format!("all states of progress lines; {unfold} folds them"))
            }
            _ => {
                let words = format!("the last state of progress lines; {unfold} unfolds them");
                (ProgressLines::Folded(None), words)
            }
        };
        *progress = now;
        self.settle();
        let words = if self.leaves_states(side) {
            "a long progress line that was cut cannot be folded; the others are".to_owned()
        } else {
            words
        };
        self.message = Some(Message::note(words));
    }

    /// Whether a line on the screen shows several states although such lines are to be folded: in Preview, where the
    /// index of the file does not tell how long a line is that was cut.
    fn leaves_states(&self, side: Side) -> bool {
        let top = self.panes.top(side);
        let rows = self.scroll(side).screen(top);
        let has_states = |row: &ScreenRow| {
            let mut texts = row.cells.iter().map(|cell| cell.text.as_str()).skip_while(|text| *text != "^M");
            row.states.is_none() && texts.any(|text| text != "^M")
        };
        side == Side::Preview
            && self.panes.progress[side as usize] == ProgressLines::Folded(None)
            && self.output.index.is_complete()
            && rows.iter().any(has_states)
    }
}
