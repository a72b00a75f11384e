//! The list of outputs that a setting cuts otherwise than the present one, worst first.

use crate::tui::widget::cursor::ListCursor;
use crate::tune::ChangedOutput;

use super::job::ChangedList;

/// The list, over the table of settings.
#[derive(Debug)]
pub(crate) struct ChangedView {
    job: u64,
    /// The number of the setting.
    pub(crate) setting: usize,
    /// How many outputs there are, and the worst of them, once they are in order.
    pub(crate) outputs: Option<(u64, Vec<ChangedOutput>)>,
    pub(crate) cursor: ListCursor,
}

impl ChangedView {
    /// Creates a list that a worker is to fill.
    pub(crate) fn new(job: u64, setting: usize) -> Self {
        Self { job, setting, outputs: None, cursor: ListCursor::default() }
    }

    /// Takes in the outputs, on a screen of `height` rows; those of another setting are dropped. The same output stays
    /// selected.
    pub(crate) fn take(&mut self, list: ChangedList, height: usize) {
        if (list.job, list.setting) == (self.job, self.setting) {
            let chosen = self.chosen().map(|output| output.number);
            self.outputs = Some((list.all, list.worst));
            let at = self.rows().iter().position(|output| Some(output.number) == chosen);
            self.cursor.go(at.unwrap_or(self.cursor.chosen), self.len(), height);
        }
    }

    /// Whether it lists outputs that a job has measured.
    pub(crate) fn is_of(&self, job: u64) -> bool {
        self.job == job
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows().len()
    }

    pub(crate) fn rows(&self) -> &[ChangedOutput] {
        self.outputs.as_ref().map_or(&[], |(_, worst)| worst)
    }

    /// Returns the selected output.
    pub(crate) fn chosen(&self) -> Option<&ChangedOutput> {
        self.rows().get(self.cursor.chosen)
    }
}
