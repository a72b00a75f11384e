//! The cursor of a list: which row is selected, and which rows are on the screen.

use crate::tui::keys::Action;

use super::List;

impl<R: Clone> List<R> {
    /// Returns the index of the selected row.
    pub fn chosen_index(&self) -> Option<usize> {
        self.shown.order.get(self.chosen).map(|row| *row as usize)
    }

    pub fn chosen(&self) -> Option<&R> {
        self.rows.get(self.chosen_index()?)
    }

    /// Selects a row by its index. Returns false if it is not shown.
    pub(crate) fn choose(&mut self, row: usize) -> bool {
        let at = self.shown_at(row);
        at.into_iter().for_each(|at| self.move_to(at));
        at.is_some()
    }

    /// Selects a row by its index until the user selects one.
    pub(crate) fn begin_at(&mut self, row: usize) {
        if let Some(at) = self.shown_at(row).filter(|_| !self.has_moved) {
            self.chosen = at;
            self.settle();
        }
    }

    pub(super) fn shown_at(&self, row: usize) -> Option<usize> {
        self.shown.order.iter().position(|n| *n as usize == row)
    }

    /// Returns the number of the selected row among those shown, 1-based.
    pub(crate) fn number(&self) -> usize {
        self.chosen + 1
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.chosen + 1 >= self.len()
    }

    /// Returns the row of the screen on which the selected row stands, from 0.
    pub(crate) fn chosen_on_screen(&self) -> usize {
        self.place_of(self.chosen).saturating_sub(self.top)
    }

    /// Returns where a shown row stands, counted with headings.
    pub(super) fn place_of(&self, shown: usize) -> usize {
        shown + self.shown.headings.partition_point(|heading| heading.before <= shown)
    }

    /// Moves by an action and the number typed before it. Returns false if the action does not move.
    pub(crate) fn act(&mut self, action: Action, count: Option<u64>) -> bool {
        let to = action.destination(count, self.chosen, self.height);
        to.into_iter().for_each(|to| self.move_to(to));
        to.is_some()
    }

    /// Selects a shown row, or the last if there are fewer.
    pub(super) fn move_to(&mut self, chosen: usize) {
        self.chosen = chosen;
        self.go_on_following(false);
        self.has_moved = !self.is_following();
        self.stay();
        self.running.iter_mut().for_each(|running| running.landing = None);
        self.settle();
    }

    /// Selects the row whose number, 1-based, was typed.
    ///
    /// # Errors
    /// The text is not a number.
    pub(crate) fn go_to(&mut self, text: &str) -> Result<(), String> {
        let text = text.trim();
        let row: usize = text.parse().map_err(|_| format!("'{text}' is not the number of a row"))?;
        self.move_to(row.saturating_sub(1));
        Ok(())
    }

    /// Scrolls so that the selected row is on the screen, the first of a group with its heading, and no blank rows are
    /// shown while there are others.
    pub(super) fn settle(&mut self) {
        self.chosen = self.chosen.min(self.len().saturating_sub(1));
        let place = self.place_of(self.chosen);
        let headings = &self.shown.headings;
        let begins = headings.binary_search_by_key(&self.chosen, |heading| heading.before).is_ok();
        let first = if begins && self.height > 1 { place.saturating_sub(1) } else { place };
        self.top = self.top.clamp((place + 1).saturating_sub(self.height), first);
        let all = self.len() + headings.len();
        self.top = self.top.min(all.saturating_sub(self.height));
    }
}
