//! What the list of outputs takes in of a scan of the stores.

use std::sync::Arc;

use crate::rows::batch::{BATCH, RowTable};
use crate::rows::outputs::OutputRow;
use crate::store::{self, Entry, EntrySums, RootReport, ScanStep, StoreSpec};
use crate::text::label::label;
use crate::tui::event::Message;
use crate::tui::job::{JobContext, Slot};
use crate::tui::screen::Effects;

use super::{Context, Outputs, OutputsEvent};

impl Outputs {
    pub(super) fn scan(&mut self, effects: &mut Effects) {
        self.arriving = RowTable::default();
        effects.run(Slot::Scan, scan);
    }

    /// Takes in what a scan reports. The rows of the first are shown as they arrive; later ones change the list only
    /// when they have finished.
    pub(super) fn scanned(&mut self, scanned: ScanStep, on: Context) {
        match scanned {
            ScanStep::Begun { now, user, kept } => {
                on.list.look.now = now;
                (self.user, self.kept, self.arriving_sums) = (Some(user), kept, EntrySums::default());
                if !self.has_looked && !on.list.rows().is_empty() {
                    on.list.set_rows(Vec::new());
                }
            }
            ScanStep::Some(entries) => {
                let now = on.list.look.now;
                entries.iter().for_each(|entry| self.arriving_sums.add(entry, now));
                let rows: Vec<OutputRow> = entries.into_iter().map(|entry| self.row(entry)).collect();
                if self.has_looked {
                    self.arriving.add(rows);
                } else {
                    on.list.add(rows);
                    self.sums = self.arriving_sums;
                }
            }
            ScanStep::All(reports) => self.finish(reports, on),
        }
    }

    fn row(&self, entry: Entry) -> OutputRow {
        let is_kept = self.kept.has(&entry);
        let facts = self.facts.get(&entry.identity).cloned();
        OutputRow { entry, is_kept, facts }
    }

    fn finish(&mut self, reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>, on: Context) {
        if self.has_looked {
            let texts = on.list.texts().clone();
            let had = self.texts_before.as_ref().map_or(0, |(_, texts)| texts.read);
            if texts.read > 0 && texts.read >= had {
                self.texts_before = Some((on.list.rows().clone(), texts));
            }
            self.is_reading = false;
            on.effects.stop([Slot::ReadTexts]);
            self.asked = Default::default();
            on.list.set_rows(std::mem::take(&mut self.arriving));
        } else {
            on.list.finish_adding();
        }
        (self.reports, self.sums, self.has_looked) = (reports, self.arriving_sums, true);
        let words = self.unlisted();
        if words != self.last_warning {
            *on.message = (!words.is_empty()).then(|| Message::error(words.clone()));
            self.last_warning = words;
        }
    }

    /// Returns an error message with the first unreadable directory and the number of others; empty if there is none.
    fn unlisted(&self) -> String {
        let roots = self.reports.iter().flat_map(|(_, roots)| roots);
        let mut unlisted = roots.flat_map(RootReport::unlisted);
        let Some(first) = unlisted.next() else { return String::new() };
        let more = match unlisted.count() {
            0 => String::new(),
            more => format!(", and {more} more directories"),
        };
        label(format!("{first}{more}").as_bytes())
    }
}

fn scan(context: &JobContext) {
    let send = |scanned| context.send(OutputsEvent::Scanned(scanned));
    let of = (&*context.services.stores, context.env());
    if store::list_and_watch(of, BATCH, &send, &|| context.is_wanted()) {
        context.send(OutputsEvent::Changed);
    }
}
