//! Scans of the stores, and the reading of what the filter searches: what of it is taken in, and when more is asked for.

use crate::store::{Entry, Left, RootReport};
use crate::text::label::label;
use crate::tui::event::Message;
use crate::tui::job::Slot;
use crate::tui::list::List;
use crate::tui::list::rows::RowTable;
use crate::tui::screen::Effects;

use super::event::{OutputsEvent, ScanEnd, Scanned};
use super::jobs::{self, TextTask};
use super::rows::OutputRow;
use super::{Context, Outputs};

/// What outputs add up to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct OutputSums {
    pub outputs: u64,
    pub bytes: u64,
    /// How many of them others can read.
    pub exposed: u64,
    pub overdue: u64,
    pub overdue_bytes: u64,
}

impl OutputSums {
    fn add(&mut self, entry: &Entry, now: jiff::Timestamp) {
        self.outputs += 1;
        self.bytes = self.bytes.saturating_add(entry.size());
        self.exposed += u64::from(entry.exposed());
        if matches!(entry.left(now), Left::Overdue(_)) {
            self.overdue += 1;
            self.overdue_bytes = self.overdue_bytes.saturating_add(entry.size());
        }
    }
}

impl Outputs {
    /// Scans all stores.
    pub(super) fn scan(&mut self, effects: &mut Effects) {
        let number = self.start_scan();
        effects.run(Slot::Scan, move |context| jobs::scan(number, context));
    }

    /// Starts a scan, and returns its number.
    pub fn start_scan(&mut self) -> u64 {
        self.look += 1;
        self.arriving = RowTable::default();
        self.look
    }

    /// Returns the number of the scan that was started last.
    pub fn last_scan(&self) -> u64 {
        self.look
    }

    /// Takes in what a scan reports. The rows of the first are shown as they arrive; later ones change the list only
    /// when they have finished.
    pub(super) fn scanned(&mut self, scanned: Scanned, on: Context) {
        match scanned {
            Scanned::Begun { number, now, user, kept } if number == self.look => {
                on.list.set_now(now);
                (self.user, self.kept, self.arriving_sums) = (Some(user), kept, OutputSums::default());
                if !self.has_looked && !on.list.rows().is_empty() {
                    on.list.set_rows(Vec::new());
                }
            }
            Scanned::Some(number, entries) if number == self.look => {
                let now = on.list.look().now;
                entries.iter().for_each(|entry| self.arriving_sums.add(entry, now));
                let rows: Vec<OutputRow> = entries.into_iter().map(|entry| self.row(entry)).collect();
                if self.has_looked {
                    self.arriving.add(rows);
                } else {
                    on.list.add(rows);
                    self.sums = self.arriving_sums;
                }
            }
            Scanned::All(end) if end.number == self.look => self.finish(*end, on),
            _ => {}
        }
    }

    fn row(&self, entry: Entry) -> OutputRow {
        let is_kept = entry.is_kept() || self.kept.has_copy_of(&entry);
        let facts = self.facts.get(&entry.identity).cloned();
        OutputRow { entry, is_kept, facts }
    }

    fn finish(&mut self, end: ScanEnd, on: Context) {
        if self.has_looked {
            let texts = on.list.texts().clone();
            let had = self.texts_before.as_ref().map_or(0, |(_, texts)| texts.read());
            if texts.read() > 0 && texts.read() >= had {
                self.texts_before = Some((on.list.rows().clone(), texts));
            }
            self.reading = None;
            self.asked = Default::default();
            on.list.set_rows(std::mem::take(&mut self.arriving));
        } else {
            on.list.finish_adding();
        }
        (self.reports, self.sums, self.has_looked) = (end.reports, self.arriving_sums, true);
        let words = self.unlisted();
        if words != self.told {
            *on.message = (!words.is_empty()).then(|| Message::error(words.clone()));
            self.told = words;
        }
    }

    /// Returns an error message with the first unreadable directory and the number of others; empty if there is none.
    fn unlisted(&self) -> String {
        let roots = self.reports.iter().flat_map(|(_, roots)| roots);
        let mut unlisted = roots.flat_map(RootReport::unlisted);
        let Some((path, why)) = unlisted.next() else { return String::new() };
        let more = match unlisted.count() {
            0 => String::new(),
            more => format!(", and {more} more directories"),
        };
        label(format!("{}: cannot be read: {why}{more}", path.display()).as_bytes())
    }

    /// Returns how much of what the filter searches has been read, in percent; `None` once all of it has.
    pub(super) fn read_percent(&self, list: &List<OutputRow>) -> Option<usize> {
        self.reading.map(|_| list.texts().read() * 100 / list.rows().batches().len().max(1))
    }

    /// Has a worker read what the filter searches, if there is one. It reads once the scan is complete: then a row's
    /// number stays.
    pub(super) fn read_texts(&mut self, list: &List<OutputRow>, effects: &mut Effects) {
        let is_read = list.texts().read() == list.rows().batches().len();
        let is_settled = self.has_looked && !list.is_replaced();
        if list.filter_text().is_empty() || !is_settled || is_read || self.reading.is_some() {
            return;
        }
        self.jobs += 1;
        let number = self.jobs;
        self.reading = Some(number);
        let task = TextTask {
            rows: list.rows().clone(),
            texts: list.texts().clone(),
            before: self.texts_before.clone(),
        };
        effects.run(Slot::ReadTexts, move |context| {
            task.run(context.env(), &|| context.is_wanted(), &mut |batch, text| {
                context.send(OutputsEvent::TextRead { number, batch, text })
            });
        });
    }
}
