//! What workers find out about stored outputs: which there are, and all else of those on the screen.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::base::provenance::Certainty;
use crate::config::{ChosenBy, EffectivePolicy};
use crate::corpus::examiner;
use crate::output::{OpenOutput, Subject, Target};
use crate::preview::Status;
use crate::rows::calls::differs;
use crate::rows::column::SlowState;
use crate::rows::lost::{KeptShare, ModelShare};
use crate::rows::outputs::{
    BY_SESSION, OutputFact, OutputFacts, OutputRow, Peek, SLOW_COLUMNS, SLOW_WORDS, peek,
};
use crate::rows::{BATCH, BatchText, RowTable, TextTable};
use crate::session::examine::{CallInspector, Paths};
use crate::session::spill::CitingCall;
use crate::source::{FileLock, Identity, MapView};
use crate::store::{self, Entry, EntrySums, RecordedFile, RootReport, ScanStep, StoreSpec};
use crate::text::label::label;
use crate::text::search::SeverityPatterns;
use crate::tui::event::Message;
use crate::tui::job::{JobContext, Slot};
use crate::tui::list::List;
use crate::tui::list::screen::ListContext;
use crate::tui::screen::Effects;
use crate::tui::target::Services;

use super::{Outputs, OutputsEvent};

/// Maximum number of outputs whose facts are remembered; beyond it, all are found out again.
const MAX_FACTS: usize = 20_000;

/// How long after an output was written its call is looked for again, if none was found.
const SOUGHT_AGAIN: SignedDuration = SignedDuration::from_mins(10);

/// The longest that one entry may take until it is left unknown how much the model got.
const MAX_TIME: Duration = Duration::from_secs(1);

impl Outputs {
    /// Scans anew, unless another screen lies over the list: then it does so when it is shown again.
    pub(super) fn scan(&mut self, on: ListContext<OutputRow>) {
        if on.is_top {
            self.arriving = RowTable::default();
            on.effects.run(Slot::Scan, scan);
        }
    }

    /// Takes in what a scan reports. The rows of the first are shown as they arrive, those of later ones together.
    pub(super) fn on_scan_step(&mut self, scanned: ScanStep, on: ListContext<OutputRow>) {
        match scanned {
            ScanStep::Begun { now, user, kept } => {
                on.list.look.now = now;
                (self.user, self.kept, self.arriving_sums) = (Some(user), kept, EntrySums::default());
                if !self.first_scan_done && !on.list.rows().is_empty() {
                    on.list.set_rows(Vec::new());
                }
            }
            ScanStep::Some(entries) => {
                let now = on.list.look.now;
                entries.iter().for_each(|entry| self.arriving_sums.add(entry, now));
                let since = now.saturating_sub(SOUGHT_AGAIN).unwrap_or(now);
                let rows: Vec<OutputRow> = entries.into_iter().map(|entry| self.row(entry, since)).collect();
                if self.first_scan_done {
                    self.arriving.add(rows);
                } else {
                    on.list.add(rows);
                    self.sums = self.arriving_sums;
                }
            }
            ScanStep::All(reports) => self.finish(reports, on),
        }
    }

    fn row(&self, entry: Entry, since: Timestamp) -> OutputRow {
        let is_kept = self.kept.has(&entry);
        let mut facts = self.facts.get(&entry.identity).cloned();
        // An agent writes an output before it records the call.
        let is_new = |facts: &&mut Arc<OutputFacts>| {
            facts.call.state == SlowState::Failed && entry.modified() >= since
        };
        if let Some(facts) = facts.as_mut().filter(is_new) {
            Arc::make_mut(facts).call = Default::default();
        }
        OutputRow { entry, is_kept, facts }
    }

    fn finish(&mut self, reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>, on: ListContext<OutputRow>) {
        if self.first_scan_done {
            let texts = on.list.texts.clone();
            let had = self.texts_before.as_ref().map_or(0, |(_, texts)| texts.read);
            if texts.read > 0 && texts.read >= had {
                self.texts_before = Some((on.list.rows().clone(), texts));
            }
            self.is_reading = false;
            on.effects.stop([Slot::ReadTexts]);
            self.asked.clear();
            on.list.set_rows(std::mem::take(&mut self.arriving));
        } else {
            on.list.finish_adding();
        }
        (self.reports, self.sums, self.first_scan_done) = (reports, self.arriving_sums, true);
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

    pub(super) fn ask_for_facts(&mut self, list: &List<OutputRow>, effects: &mut Effects) {
        let on_screen: Vec<usize> = list.rows_on_screen().collect();
        let read = |entries: Vec<RowEntry>, context: &JobContext| {
            for (row, entry) in entries {
                let fact = OutputFact::Peek(peek(&entry, context.env()));
                context.send(OutputsEvent::Learned(row, Box::new(entry), fact));
            }
        };
        self.ask_about(Slot::Other, list, &on_screen, |facts| facts.peek.state, effects, read);
        let placed = list.placed_by(&SLOW_WORDS, &SLOW_COLUMNS);
        // Where a call is known, its record tells what the model got; where none is known yet, one may be found.
        let is_measured =
            |row: &usize| list.rows()[*row].can_be_read() && !list.rows()[*row].may_be_recorded();
        let measured = on_screen.iter().chain(&placed).copied().filter(is_measured).collect::<Vec<_>>();
        self.ask_about(Slot::MeasureKept, list, &measured, |facts| facts.share.state, effects, measure);
        let grouped = if list.group() == Some(BY_SESSION) { list.all_shown() } else { Vec::new() };
        // If the path names the session, the call is not needed.
        let grouped = grouped.into_iter().filter(|row| list.rows()[*row].entry.session().is_none());
        let cited = on_screen.into_iter().chain(placed).chain(grouped);
        let cited: Vec<usize> = cited.filter(|row| list.rows()[*row].entry.is_of_agent()).collect();
        let screen = list.height;
        let find = move |entries: Vec<RowEntry>, context: &JobContext| find_calls(&entries, screen, context);
        self.ask_about(Slot::FindCalls, list, &cited, |facts| facts.call.state, effects, find);
    }

    /// Has a worker find out what is not known of some rows, unless it was asked about all of them.
    fn ask_about(
        &mut self,
        slot: Slot,
        list: &List<OutputRow>,
        rows: &[usize],
        state: fn(&OutputFacts) -> SlowState,
        effects: &mut Effects,
        work: impl FnOnce(Vec<RowEntry>, &JobContext) + Send + 'static,
    ) {
        let (mut files, mut wanted) = (HashSet::new(), Vec::new());
        for row in rows {
            let OutputRow { entry, facts, .. } = &list.rows()[*row];
            let is_lacking = facts.as_ref().is_none_or(|facts| state(facts) == SlowState::Missing);
            if is_lacking && files.insert(entry.identity) {
                wanted.push((*row, entry.clone()));
            }
        }
        let asked = self.asked.entry(slot as usize).or_default();
        if !files.is_subset(asked) {
            *asked = files;
            effects.run(slot, move |context| work(wanted, context));
        }
    }

    /// Takes in something about an output, whose row may stand elsewhere since it was asked for.
    pub(super) fn learn(
        &mut self,
        list: &mut List<OutputRow>,
        (row, entry): (usize, &Entry),
        fact: OutputFact,
    ) {
        if self.facts.len() > MAX_FACTS {
            self.facts.clear();
        }
        let is_it = |n: &usize| {
            list.rows()
                .get(*n)
                .is_some_and(|row| row.entry.identity == entry.identity && row.entry.name() == entry.name())
        };
        let row = Some(row).filter(is_it).or_else(|| list.rows_on_screen().find(is_it));
        let known = || row.and_then(|row| list.rows()[row].facts.clone()).unwrap_or_default();
        let facts = self.facts.entry(entry.identity).or_insert_with(known);
        // The share in the record of its call holds, even if a measured one comes in later.
        let is_recorded = facts.call.value.is_some() && facts.share.value.is_some();
        if !(is_recorded && matches!(fact, OutputFact::Share(_))) {
            Arc::make_mut(facts).learn(fact);
        }
        let facts = Arc::clone(facts);
        list.change(row.map(|row| (row, facts)), |row, facts| row.facts = Some(facts));
    }

    /// Returns how much of what the filter searches has been read, in percent; `None` once all of it has.
    pub(super) fn read_percent(&self, list: &List<OutputRow>) -> Option<usize> {
        self.is_reading.then(|| list.texts.read * 100 / list.rows().batches().len().max(1))
    }

    /// Has a worker read what the filter searches, if there is one, once the scan is complete: then a row's number stays. The
    /// commands of calls are searched, too.
    pub(super) fn read_texts(&mut self, list: &List<OutputRow>, effects: &mut Effects) {
        let is_read = list.texts.read == list.rows().batches().len();
        let is_current = self.first_scan_done && !list.is_replaced();
        if list.filter_text().is_empty() || !is_current || is_read || self.is_reading {
            return;
        }
        self.is_reading = true;
        let (rows, before) = ((list.rows().clone(), list.texts.clone()), self.texts_before.clone());
        effects.run(Slot::ReadTexts, move |context| {
            read_batches(&rows, before.as_ref(), context);
            let rows = rows.0.iter().enumerate().filter(|(_, row)| row.may_be_recorded());
            let rows: Vec<RowEntry> = rows.map(|(n, row)| (n, row.entry.clone())).take(MAX_FACTS).collect();
            find_calls(&rows, 0, context);
        });
    }
}

fn scan(context: &JobContext) {
    let send = |scanned| context.send(OutputsEvent::Scanned(scanned));
    let of = (&*context.services.config.stores, context.env());
    if store::list_and_watch(of, BATCH, &send, &|| context.is_wanted()) {
        context.send(OutputsEvent::Changed);
    }
}

type RowEntry = (usize, Entry);

fn measure(entries: Vec<RowEntry>, context: &JobContext) {
    for (row, entry) in entries {
        let began = Instant::now();
        let is_wanted = || context.is_wanted() && began.elapsed() < MAX_TIME;
        let target = (context.services.open)(&entry.path(), FileLock::None).ok();
        // Another agent's policy says nothing about an agent's output.
        let is_known = |target: &Target| {
            let EffectivePolicy { policy, chosen_by, .. } = &target.subject.policy;
            matches!(chosen_by, ChosenBy::Store(_)) || !entry.is_of_agent() || policy.agent() == entry.agent()
        };
        let share = target.filter(is_known).and_then(|target| {
            share_of((target.subject, target.source.view()), &context.services.severities, &is_wanted)
        });
        if !context.send(OutputsEvent::Learned(row, Box::new(entry), OutputFact::Share(share))) {
            return;
        }
    }
}

/// Plans the preview of an output, and measures it. Returns `None` if that is no longer wanted.
fn share_of(
    (subject, view): (Subject, MapView),
    severities: &SeverityPatterns,
    wanted: &dyn Fn() -> bool,
) -> Option<ModelShare> {
    // What the model got of a part, or of a file that was changed since, is not known.
    if subject.policy.is_partial {
        return Some(ModelShare::without_errors(KeptShare::Unsaved));
    }
    let output = OpenOutput::counted_now(subject, view);
    let planned = output.task().run(wanted)?;
    let share = match &planned.made.preview {
        Ok(preview) if preview.status == Status::Ok => {
            ModelShare::measure(&output.view, &planned.made.kept, severities)
        }
        _ => ModelShare::without_errors(KeptShare::Error),
    };
    let got = match share.got {
        KeptShare::Percent(percent) if output.may_vary() => KeptShare::Estimate(percent),
        got => got,
    };
    Some(ModelShare { got, is_past: output.certainty() != Certainty::WouldGet, ..share })
}

fn find_calls(entries: &[RowEntry], on_screen: usize, context: &JobContext) {
    let Services { sessions, config, severities, .. } = &*context.services;
    let (first, others) = entries.split_at(on_screen.min(entries.len()));
    for some in [first, others] {
        let files: Vec<RecordedFile> = some.iter().map(|(_, entry)| entry.recorded_file()).collect();
        let mut examiners = HashMap::new();
        sessions.find_all(&files, context.env(), &context.ticket, &mut |n, found| {
            let (row, entry) = &some[n];
            // What was found out holds, even if other rows are on the screen by now.
            let learn =
                |fact| context.send_always(OutputsEvent::Learned(*row, Box::new(entry.clone()), fact));
            let Some((file, opened, call)) = found else { return learn(OutputFact::Call(None)) };
            let transcript = opened.transcript();
            let examiner = examiners
                .entry(transcript.agent)
                .or_insert_with_key(|agent| examiner(config, agent, Paths::Known));
            let inspector = CallInspector { examiner, file, transcript, copy: files[n].copy.as_deref() };
            let share = ModelShare::from_call(&inspector, call, severities);
            share.map(|share| OutputFact::Share(Some(share))).into_iter().for_each(learn);
            learn(OutputFact::Call(Some(Box::new(CitingCall::new(file, transcript, call)))));
            differs(&inspector.verify(call)).map(OutputFact::Differs).into_iter().for_each(learn);
        });
    }
}

pub(super) type SearchedRows = (RowTable<OutputRow>, TextTable);

/// Reads what the filter searches, batch by batch. `before` is that of an earlier scan, so that no file is read twice.
fn read_batches((rows, texts): &SearchedRows, before: Option<&SearchedRows>, context: &JobContext) {
    let before = before.map(texts_of).unwrap_or_default();
    for (batch, entries) in rows.batches().enumerate().filter(|(n, _)| texts.batch(*n).is_none()) {
        let mut text = BatchText::default();
        for OutputRow { entry, .. } in entries {
            if !context.is_wanted() {
                return;
            }
            match before.get(&entry.identity) {
                Some(known) => text.push_lower(known),
                None => {
                    let Peek { tool, command, first_line, .. } = peek(entry, context.env());
                    text.push(&format!("{} {command} {first_line}", tool.as_deref().unwrap_or_default()));
                }
            }
        }
        if !context.send(OutputsEvent::TextRead(batch, text)) {
            return;
        }
    }
}

fn texts_of((rows, texts): &SearchedRows) -> HashMap<Identity, &[u8]> {
    let read = rows.batches().enumerate().filter_map(|(n, batch)| Some((batch, texts.batch(n)?)));
    read.flat_map(|(batch, texts)| {
        batch.iter().enumerate().map(|(n, row)| (row.entry.identity, texts.get(n)))
    })
    .collect()
}
