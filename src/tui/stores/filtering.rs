//! The filter of the list: where the list stands before and after it, and the reading of what it searches.

use std::sync::Arc;

use crate::tui::job::Slot;
use crate::tui::screen::Effects;

use super::event::StoresEvent;
use super::jobs::TextTask;
use super::sort::{EntryTable, RowMark};
use super::texts::{BatchText, TextTable};
use super::{Cause, ListState};

/// Where the list stood, to return to once a filter is given up.
#[derive(Debug, Clone)]
pub(super) struct ListPlace {
    filter: String,
    pub(super) row: Option<RowMark>,
    /// The index of the selected row, in case it is gone.
    pub(super) chosen: usize,
    /// Rows on the screen above it.
    pub(super) above: usize,
}

/// The state of the filter.
#[derive(Debug, Default)]
pub(super) struct Filtering {
    /// Whether the filter has changed since the rows were last sorted.
    pub(super) changed: bool,
    /// Where the list stood when the prompt of the filter was opened.
    asked_at: Option<ListPlace>,
    /// Where the list stood without a filter, until another row is selected.
    pub(super) unfiltered: Option<ListPlace>,
    /// Where the next rows that are shown are to stand.
    pub(super) back_to: Option<ListPlace>,
    /// What has been read of the entries.
    pub(super) texts: TextTable,
    /// The entries of an earlier scan, and what was read of those.
    before: Option<(EntryTable, TextTable)>,
    /// The number of the task that reads the rest.
    reading: Option<u64>,
    /// How many batches had been read when the rows were last filtered.
    pub(super) searched: usize,
}

impl ListState {
    /// Returns where the list stands.
    pub(super) fn list_place(&self) -> ListPlace {
        ListPlace {
            filter: self.options.filter.text.clone(),
            row: self.shown.mark_at(self.chosen),
            chosen: self.chosen,
            above: self.chosen.saturating_sub(self.top),
        }
    }

    /// Returns the words that entries must contain.
    pub fn filter_text(&self) -> &str {
        &self.options.filter.text
    }

    /// Shows only the entries that contain all of these words, in any order.
    pub fn filter(&mut self, words: &str, effects: &mut Effects) {
        if self.options.filter.text == words {
            return;
        }
        if self.options.filter.text.is_empty() {
            self.filtering.unfiltered = Some(self.list_place());
        }
        self.options.filter.text = words.to_owned();
        self.filtering.changed = true;
        self.sort_again(Cause::Asked, effects);
        self.read_texts(effects);
    }

    /// Remembers where the list stands, for the prompt of the filter.
    pub(crate) fn start_filter(&mut self) {
        self.filtering.asked_at = Some(self.list_place());
    }

    /// Shows the list as it was when the prompt of the filter was opened.
    pub(crate) fn give_up_filter(&mut self, effects: &mut Effects) {
        let Some(standing) = self.filtering.asked_at.take() else { return };
        let filter = standing.filter.clone();
        if filter != self.options.filter.text {
            self.filtering.back_to = Some(standing);
            self.filter(&filter, effects);
        }
    }

    /// Shows all entries again. The list stands where it did before it was filtered, unless another row was selected.
    pub(crate) fn unfilter(&mut self, effects: &mut Effects) {
        self.filtering.back_to = self.filtering.unfiltered.take();
        self.filter("", effects);
    }

    /// Returns how much of what the filter searches has been read, in percent; `None` once all of it has.
    pub fn searched_percent(&self) -> Option<usize> {
        let read = self.filtering.texts.read() * 100;
        self.filtering.reading.map(|_| read / self.entries.batches().len().max(1))
    }

    /// Has a worker read what the filter searches, if there is one. It reads once the scan is complete: then an entry's
    /// number stays.
    pub(super) fn read_texts(&mut self, effects: &mut Effects) {
        let is_read = self.filtering.texts.read() == self.entries.batches().len();
        if self.filter_text().is_empty() || !self.looked || is_read || self.filtering.reading.is_some() {
            return;
        }
        self.tasks += 1;
        self.filtering.reading = Some(self.tasks);
        let number = self.tasks;
        let task = TextTask {
            entries: self.entries.clone(),
            texts: self.filtering.texts.clone(),
            before: self.filtering.before.clone(),
        };
        effects.run(Slot::ReadTexts, move |context| {
            task.run(context.env(), &|| context.is_wanted(), &mut |batch, text| {
                context.send(StoresEvent::TextRead { number, batch, text })
            });
        });
    }

    /// Starts anew with the entries of another scan. Of `old`, the entries before, what has been read is kept.
    pub(super) fn forget_texts(&mut self, old: EntryTable) {
        let texts = std::mem::take(&mut self.filtering.texts);
        let had = self.filtering.before.as_ref().map_or(0, |(_, texts)| texts.read());
        if texts.read() > 0 && texts.read() >= had {
            self.filtering.before = Some((old, texts));
        }
        (self.filtering.reading, self.filtering.searched) = (None, 0);
    }

    /// Handles the texts of a batch; those of another task than the newest are dropped.
    pub(crate) fn take_text(&mut self, number: u64, batch: usize, text: BatchText, effects: &mut Effects) {
        if self.filtering.reading != Some(number) {
            return;
        }
        self.filtering.texts.set(batch, Arc::new(text));
        if self.filtering.texts.read() == self.entries.batches().len() {
            (self.filtering.reading, self.filtering.before) = (None, None);
        }
        self.search_read(effects)
    }

    /// Filters again once what has been read meanwhile is a good part of the whole, so that this costs only a few times
    /// as much as filtering once.
    pub(super) fn search_read(&mut self, effects: &mut Effects) {
        let (read, searched) = (self.filtering.texts.read(), self.filtering.searched);
        let is_due = self.filtering.reading.is_none() || read - searched.min(read) >= searched / 4;
        if read > searched && is_due && self.running.is_none() && !self.filter_text().is_empty() {
            self.sort_again(Cause::Arrived, effects);
        }
    }
}
