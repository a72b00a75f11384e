//! The marks of a list, to act on several rows at once. They stay on their rows whatever is shown.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::tui::keys::Action;

use super::List;

impl<R: Clone> List<R> {
    /// Marks the selected row, or takes its mark away.
    pub(crate) fn toggle_mark(&mut self) {
        let Some(row) = self.chosen_index().map(|row| row as u32) else { return };
        if !self.marks.remove(&row) {
            self.marks.insert(row);
        }
        self.act(Action::Down, None);
    }

    /// Marks all rows that are shown; if they all are marked, takes their marks away.
    pub(crate) fn toggle_all(&mut self) {
        let shown: BTreeSet<u32> = self.shown.order.iter().copied().collect();
        match shown.is_subset(&self.marks) {
            true => self.marks.retain(|row| !shown.contains(row)),
            false => self.marks.extend(shown),
        }
    }

    pub(crate) fn is_marked(&self, row: usize) -> bool {
        self.marks.contains(&(row as u32))
    }

    /// Returns the number of marked rows.
    pub fn marked(&self) -> usize {
        self.marks.len()
    }

    /// Returns the numbers of the marked rows, cheap to share with a worker.
    pub(crate) fn marked_rows(&self) -> Arc<Vec<u32>> {
        Arc::new(self.marks.iter().copied().collect())
    }

    /// Takes all marks away. Returns false if there are none.
    pub(crate) fn unmark(&mut self) -> bool {
        !std::mem::take(&mut self.marks).is_empty()
    }

    /// Returns the marked rows, or the selected one if none is marked.
    pub fn marked_or_chosen(&self) -> Vec<&R> {
        match self.marks.is_empty() {
            true => self.chosen().into_iter().collect(),
            false => self.marks.iter().filter_map(|row| self.rows.get(*row as usize)).collect(),
        }
    }
}
