//! The list of stored outputs: what agents have stored, what their models got of it, and until when it is kept.

pub mod beside;
mod clean;
mod columns;
pub mod deletion;
pub mod event;
mod facts;
pub mod got;
pub(crate) mod jobs;
mod keeping;
pub mod rows;
mod scan;
pub(crate) mod searched;
pub mod tuning;

use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::corpus::TunePolicies;
use crate::human::{count, size, thousands};
use crate::source::Identity;
use crate::store::{Entry, Kept, Marked, Pending, RootReport, StoreSpec};
use crate::text::label::SafeText;

use super::event::{Event, Message};
use super::footer::FooterState;
use super::job::Slot;
use super::keys::{Action, KeyContext};
use super::list::List;
use super::list::column::{ListSpec, SlowState, WIDE, readable_by_others};
use super::list::rows::RowTable;
use super::list::screen::{ListContext, ListKind, ListTitle, PanelFrame};
use super::list::texts::TextTable;
use super::popup::copying::Copyable;
use super::screen::{Effect, Link, OpenRequest, ScreenRequest};
use super::widget::canvas::Canvas;
use super::widget::layout::ListPanel;
use beside::Glance;
use event::OutputsEvent;
use jobs::RowEntry;
use keeping::Copying;
use rows::{OutputFacts, OutputRow};
use scan::OutputSums;

/// The most outputs of which what was found out is remembered; beyond it all is found out again for what is shown.
const MAX_FACTS: usize = 20_000;

/// The most outputs that are measured because the list is sorted or filtered by what that finds out.
const MAX_MEASURED: usize = 20_000;

/// The list of stored outputs.
#[derive(Default)]
pub struct Outputs {
    /// The number of the scan that was started last.
    look: u64,
    /// Whether a scan has finished.
    has_looked: bool,
    /// The rows of a later scan, until it has finished.
    arriving: RowTable<OutputRow>,
    /// What all rows add up to, and what those of a later scan do.
    sums: OutputSums,
    arriving_sums: OutputSums,
    /// The result of the scan for each root of each store.
    reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
    /// The id of the user running overspill.
    user: Option<u32>,
    kept: Kept,
    /// The last message about unreadable directories, so that it is not repeated.
    told: String,
    /// What was found out about outputs.
    facts: HashMap<Identity, Arc<OutputFacts>>,
    /// The files for which workers were last asked to read the first lines, to measure, and to find the call.
    asked: [HashSet<Identity>; 3],
    /// The number of the job that reads what the filter searches; `None` if none runs.
    reading: Option<u64>,
    jobs: u64,
    /// The rows of an earlier scan, and what was read of those for the filter.
    texts_before: Option<(RowTable<OutputRow>, TextTable)>,
    /// The selected output, and its preview beside the list.
    glance: Option<Glance>,
    /// The output that is being copied in order to keep it.
    copying: Option<Copying>,
    /// The outputs marked for deletion: leaving asks whether to delete them.
    pending: Pending,
    /// The output to select once it is shown.
    sought: Option<PathBuf>,
}

type Context<'a> = ListContext<'a, OutputRow>;

impl ListKind for Outputs {
    type Row = OutputRow;
    const SPEC: &'static ListSpec<OutputRow> = &columns::SPEC;

    fn footer(&self, list: &List<OutputRow>) -> FooterState {
        if !self.pending.is_empty() {
            FooterState::Deletions
        } else if list.marked() > 0 {
            FooterState::MarkedOutputs
        } else if !list.filter_text().is_empty() {
            FooterState::FilteredOutputs
        } else if list.rows().is_empty() {
            FooterState::NoOutputs
        } else if list.is_following() {
            FooterState::FollowedOutputs
        } else {
            FooterState::Outputs
        }
    }

    fn title(&self, list: &List<OutputRow>) -> ListTitle {
        let OutputSums { outputs, bytes, exposed, overdue, overdue_bytes } = self.sums;
        let figures = match list.filter_text() {
            _ if outputs == 0 => String::new(),
            "" => {
                let exposed = readable_by_others(exposed, list.look());
                format!("{} · {}{exposed}", count(outputs, "output"), size(bytes))
            }
            _ => {
                let shown = format!("{} of {}", thousands(list.len() as u64), thousands(outputs));
                match self.read_percent(list) {
                    Some(percent) => format!("{shown} · searching first lines {percent}%"),
                    None => format!("{shown} · {}", list.sum()),
                }
            }
        };
        let alarm = match overdue {
            0 => String::new(),
            _ if !list.filter_text().is_empty() => String::new(),
            _ if list.look().width < WIDE => format!("overdue {}", thousands(overdue)),
            _ => format!("overdue {}, {}", thousands(overdue), size(overdue_bytes)),
        };
        ListTitle { place: &["Outputs"], figures, alarm, ..ListTitle::default() }
    }

    fn empty(&self, list: &List<OutputRow>) -> Vec<SafeText> {
        if !list.rows().is_empty() && !list.filter_text().is_empty() {
            let is_awaited = self.read_percent(list).is_some() || list.is_following();
            let yet = if is_awaited { " yet" } else { "" };
            let words = format!("nothing matches \u{201c}{}\u{201d}{yet}; Esc shows all", list.filter_text());
            return vec![words.into()];
        }
        if !self.has_looked {
            return vec!["scanning the stores…".into()];
        }
        let heading = match list.is_following() {
            true => "Waiting for new outputs in these directories:",
            false => searched::NONE_YET,
        };
        let mut words = searched::searched(heading, &self.reports, list.height().saturating_sub(6));
        words.extend([SafeText::default(), "`overspill FILE` opens any file.".into()]);
        words
    }

    fn details(&self, list: &List<OutputRow>) -> [SafeText; 2] {
        if list.marked() > 0 {
            let bytes = crate::store::sum(list.marked_or_chosen().iter().map(|row| row.entry.size()));
            let marked = count(list.marked() as u64, "output");
            return [format!("{marked} marked, {}", size(bytes)).into(), SafeText::default()];
        }
        list.chosen().map(|row| columns::details(row, self.user, list.look())).unwrap_or_default()
    }

    fn progress(&self, _: &List<OutputRow>, canvas: &Canvas) -> String {
        match &self.copying {
            Some(copying) => copying.in_words(canvas.keys),
            None if !self.has_looked => "scanning the stores…".to_owned(),
            None => String::new(),
        }
    }

    fn copyable(&self, row: &OutputRow) -> Vec<Copyable> {
        let path = Copyable::path(row.entry.path().as_os_str().as_encoded_bytes());
        let command = row.written_command().and_then(Copyable::command);
        std::iter::once(path).chain(command).chain([Copyable::id(row.entry.id_bytes())]).collect()
    }

    fn is_struck(&self, row: &OutputRow) -> bool {
        !self.pending.is_empty() && self.pending.contains(&row.entry.path())
    }

    fn pending(&self) -> Option<&Pending> {
        Some(&self.pending).filter(|pending| !pending.is_empty())
    }

    fn take_pending(&mut self) -> Vec<Marked> {
        self.pending.take()
    }

    fn file(&self, row: &OutputRow) -> Option<(PathBuf, u64)> {
        Some((row.entry.path(), 1))
    }

    fn serves(&self, event: &dyn Any) -> bool {
        matches!(event.downcast_ref(), Some(Link::Stores(_) | Link::Follow(_)))
    }

    fn update(&mut self, event: Event, on: Context) -> Result<(), Event> {
        match event.downcast() {
            Ok(event) => self.handle(event, on),
            Err(event) => match event.downcast() {
                Ok(Link::Stores(path)) => self.sought = path.or(self.sought.take()),
                Ok(Link::Follow(words)) => {
                    on.list.filter_by(&words);
                    on.list.follow();
                }
                Ok(Link::CallOfOutput) => Self::go_to_call(on),
                Ok(other) => return Err(other.into()),
                Err(event) => self.take_glance(event.downcast()?),
            },
        }
        Ok(())
    }

    fn act(&mut self, action: Action, on: Context) {
        match action {
            Action::Open => {
                let Some(row) = on.list.chosen() else { return };
                let first_lost = row.share().and_then(|share| share.first_lost.as_ref());
                let first_lost = first_lost.filter(|_| on.list.is_following());
                on.effects.push(Effect::Open(OpenRequest {
                    line: first_lost.map(|lost| lost.line),
                    name: row.command(),
                    id: row.entry.id().into_owned(),
                    is_kept: row.is_kept,
                    command: row.written_command().unwrap_or_default().to_owned(),
                    ..OpenRequest::stored(row.entry.path())
                }));
            }
            Action::Follow => Self::turn_follow(on),
            Action::Limits => self.tune_outputs(TunePolicies::Around(Box::default()), on),
            Action::Policy => self.tune_outputs(TunePolicies::Current, on),
            Action::Refresh => self.scan(on.effects),
            Action::Delete => self.delete_marked(on),
            Action::Undo => self.undo_deletion(on),
            Action::DeleteNow => self.delete_now(on),
            Action::CleanOverdue => self.offer_cleaning(on),
            Action::Facts => self.show_facts(on),
            Action::Keep => self.keep_chosen(on),
            Action::Other => on.effects.request(ScreenRequest::turn(Link::Sessions)),
            _ => on.refuse(),
        }
    }

    /// Asks for what the rows on the screen lack: their first lines, what the model got, the calls that they are of, and
    /// the preview of the selected one.
    fn ask(&mut self, on: Context) {
        self.select_sought(on.list);
        self.read_texts(on.list, on.effects);
        let list = &*on.list;
        let on_screen: Vec<usize> = list.rows_on_screen().collect();
        let wanted = self.lacking(0, list, &on_screen, |facts| facts.peek.state);
        if !wanted.is_empty() {
            on.effects.run(Slot::Other, move |context| jobs::peek_all(wanted, context));
        }
        let measured = on_screen.iter().copied().chain(columns::placed_by_share(list, MAX_MEASURED));
        let measured: Vec<usize> = measured.filter(|row| list.rows()[*row].can_be_read()).collect();
        let wanted = self.lacking(1, list, &measured, |facts| facts.share.state);
        if !wanted.is_empty() {
            on.effects.run(Slot::MeasureKept, move |context| jobs::measure(wanted, context));
        }
        let is_of_agent = |row: &usize| list.rows()[*row].is_of_agent();
        let cited: Vec<usize> = on_screen.into_iter().filter(is_of_agent).collect();
        let wanted = self.lacking(2, list, &cited, |facts| facts.call.state);
        if !wanted.is_empty() {
            on.effects.run(Slot::Other, move |context| jobs::find_calls(wanted, context));
        }
        self.ask_beside(list, on.canvas, on.effects);
    }

    fn stop(&mut self, on: Context) -> bool {
        match self.copying {
            Some(_) => self.give_up_copying(on),
            None => on.list.end_following(),
        }
    }

    fn show(&mut self, on: Context) {
        self.scan(on.effects);
    }

    fn panel(&self) -> ListPanel {
        ListPanel::Beside
    }

    fn draw_panel(&self, list: &List<OutputRow>, on: PanelFrame) {
        beside::draw(self.glance.as_ref(), list, on);
    }
}

impl Outputs {
    /// Returns those of some rows of which something is not known, each once; none if a worker was asked for all of them.
    fn lacking(
        &mut self,
        what: usize,
        list: &List<OutputRow>,
        rows: &[usize],
        state: impl Fn(&OutputFacts) -> SlowState,
    ) -> Vec<RowEntry> {
        let mut asked = HashSet::new();
        let is_wanted = |row: &usize| {
            let OutputRow { entry, facts, .. } = &list.rows()[*row];
            let is_lacking = facts.as_ref().is_none_or(|facts| state(facts) == SlowState::Missing);
            is_lacking && asked.insert(entry.identity)
        };
        let wanted: Vec<usize> = rows.iter().copied().filter(is_wanted).collect();
        if asked.is_subset(&self.asked[what]) {
            return Vec::new();
        }
        self.asked[what] = asked;
        wanted.into_iter().map(|row| (row, list.rows()[row].entry.clone())).collect()
    }

    /// Follows new outputs, or no longer.
    fn turn_follow(on: Context) {
        if on.list.end_following() {
            *on.message = Some(Message::note("no longer following"));
            return;
        }
        let sorted = if on.list.follow() { "sorted youngest first: " } else { "" };
        let key = on.canvas.keys.of(KeyContext::Lists, Action::Follow);
        let words = format!("{sorted}new outputs come in on top; {key} or a move stops");
        *on.message = Some(Message::note(words));
    }

    fn handle(&mut self, event: OutputsEvent, on: Context) {
        match event {
            OutputsEvent::Changed if on.is_top => self.scan(on.effects),
            OutputsEvent::Changed => {}
            OutputsEvent::Deleted(message) => {
                *on.message = Some(message);
                if on.is_top {
                    self.scan(on.effects);
                }
            }
            OutputsEvent::Scanned(scanned) => self.scanned(scanned, on),
            OutputsEvent::Copied(bytes) => {
                self.copying.iter_mut().for_each(|copying| copying.done = bytes);
            }
            OutputsEvent::Kept(kept) => self.kept(kept, on),
            OutputsEvent::Peeked(peeks) => {
                for (row, entry, peek) in peeks {
                    self.learn(on.list, (row, &entry), |facts| facts.peek.found(Some(peek)));
                }
            }
            OutputsEvent::TextRead { number, batch, text } if self.reading == Some(number) => {
                on.list.set_text(batch, text);
                if on.list.texts().read() == on.list.rows().batches().len() {
                    (self.reading, self.texts_before) = (None, None);
                }
            }
            OutputsEvent::TextRead { .. } => {}
            OutputsEvent::Measured(row, entry, share) => {
                self.learn(on.list, (row, &entry), |facts| facts.share.found(share));
            }
            OutputsEvent::Cited(row, entry, call) => {
                self.learn(on.list, (row, &entry), |facts| facts.call.found(call.map(|call| *call)));
            }
        }
    }

    /// Takes in something about an output, whose row may stand elsewhere since it was asked for.
    fn learn(
        &mut self,
        list: &mut List<OutputRow>,
        (row, entry): (usize, &Entry),
        learn: impl FnOnce(&mut OutputFacts),
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
        learn(Arc::make_mut(facts));
        let facts = Arc::clone(facts);
        list.change(row.map(|row| (row, facts)), |row, facts| row.facts = Some(facts));
    }

    /// Selects the output that is looked for, once it is shown.
    fn select_sought(&mut self, list: &mut List<OutputRow>) {
        let Some(path) = &self.sought else { return };
        let is_it = |row: &OutputRow| path.file_name() == Some(row.entry.name()) && row.entry.path() == *path;
        let row = list.rows().iter().position(is_it);
        if row.is_some_and(|row| list.choose(row)) || row.is_none() && self.has_looked {
            self.sought = None;
        }
    }

    /// Goes to the recorded call of the selected output.
    fn go_to_call(on: Context) {
        let Some(row) = on.list.chosen() else { return };
        if let Some(call) = row.call() {
            return on.effects.show(Link::Call(Box::new(call.clone())));
        }
        let state = row.facts.as_ref().map_or(SlowState::Missing, |facts| facts.call.state);
        *on.message = Some(Message::note(match state {
            SlowState::Failed => "no call is known: no session recorded near it in time names this output",
            _ if !row.is_of_agent() => "overspill's own outputs are of no agent's call",
            _ => "its call is being looked for; try again in a moment",
        }));
    }
}
