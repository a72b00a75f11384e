//! The list of stored outputs: what agents have stored, what their models got of it, and until when it is kept.

pub mod beside;
pub mod deletion;
mod keeping;
mod scan;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::base::human::{count, size, thousands};
use crate::corpus::{TuneOutputs, TunePolicies};
use crate::rows::column::{ListSpec, WIDE, readable_by_others};
use crate::rows::outputs::{self, OutputFact, OutputFacts, OutputRow};
use crate::rows::{BatchText, RowTable};
use crate::source::Identity;
use crate::store::{self, Entry, EntrySums, KeptIds, Pending, PendingDelete, RootReport, StoreSpec};
use crate::text::label::SafeText;

use super::event::{FRAME, Message, ScreenEvent};
use super::footer::Footer;
use super::keys::{Action, KeyMap};
use super::list::List;
use super::list::screen::{ActionHandler, ListContext, ListKind, ListTitle, PanelFrame};
use super::pager::text_box::ListFacts;
use super::popup::menu::Copyable;
use super::screen::{Link, OpenRequest, TuneSource, TuneStart};
use super::target::{StartAt, StartView};
use super::widget::canvas::Canvas;
use super::widget::layout::ListPanel;
use beside::SidePreview;
use keeping::Keeping;
use scan::SearchedRows;

const ALL: &str = "all stored outputs";

#[derive(Default)]
pub struct Outputs {
    first_scan_done: bool,
    /// The rows of a later scan, until it has finished.
    arriving: RowTable<OutputRow>,
    /// What all rows add up to, and what those of a later scan do.
    sums: EntrySums,
    arriving_sums: EntrySums,
    reports: Vec<(Arc<StoreSpec>, Vec<RootReport>)>,
    user: Option<u32>,
    kept: KeptIds,
    /// The last message about unreadable directories, so that it is not repeated.
    last_warning: String,
    facts: HashMap<Identity, Arc<OutputFacts>>,
    /// The files about which the worker in a slot was asked last.
    asked: HashMap<usize, HashSet<Identity>>,
    is_reading: bool,
    /// The rows of an earlier scan, and what was read of those for the filter.
    texts_before: Option<SearchedRows>,
    beside: Option<SidePreview>,
    keeping: Option<Keeping>,
    /// The outputs marked for deletion: leaving asks whether to delete them.
    pub(super) pending: Pending,
    sought: Option<PathBuf>,
}

/// An event for the list of stored outputs. An index is that of a row when the event was asked for.
pub enum OutputsEvent {
    Changed,
    /// A deletion is done; the message reports which entries were deleted, and these stayed.
    Deleted(Message, Vec<PendingDelete>),
    Scanned(store::ScanStep),
    Learned(usize, Box<Entry>, OutputFact),
    /// The texts that the filter searches in the batch of this number have been read.
    TextRead(usize, BatchText),
    Copied(u64),
    /// The outputs of these paths are kept forever; the message says what was not.
    Kept(Vec<PathBuf>, Message),
    Previewed(SidePreview),
}

impl ScreenEvent for OutputsEvent {
    fn patience(&self) -> Duration {
        match self {
            OutputsEvent::Scanned(_) | OutputsEvent::Learned(..) | OutputsEvent::Copied(_) => FRAME,
            _ => Duration::ZERO,
        }
    }
}

/// Says what to try where nothing is stored, and which directories were searched, in at most `height` rows.
pub(crate) fn none_yet(reports: &[(Arc<StoreSpec>, Vec<RootReport>)], height: usize) -> Vec<SafeText> {
    let first = "No stored outputs yet. Try `overspill --demo`, or `overspill FILE`.".into();
    let searched = store::searched("These directories were searched:", reports, height.saturating_sub(6));
    [first, SafeText::default()].into_iter().chain(searched).collect()
}

impl ListKind for Outputs {
    type Row = OutputRow;
    type Event = OutputsEvent;
    const SPEC: &'static ListSpec<OutputRow> = &outputs::SPEC;

    fn footer(&self, list: &List<OutputRow>) -> Footer {
        if !self.pending.is_empty() {
            Footer::DELETIONS
        } else if list.marked() > 0 {
            Footer::MARKED_OUTPUTS
        } else if list.rows().is_empty() {
            Footer::NO_OUTPUTS
        } else if list.is_following() {
            Footer::FOLLOWED_OUTPUTS
        } else {
            Footer::OUTPUTS
        }
    }

    fn title(&self, list: &List<OutputRow>) -> ListTitle {
        let EntrySums { entries: outputs, bytes, exposed, overdue, overdue_bytes } = self.sums;
        let figures = match list.filter_text() {
            _ if outputs == 0 => String::new(),
            "" => {
                let exposed = readable_by_others(exposed, &list.look);
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
            _ if overdue == 0 || !list.filter_text().is_empty() => String::new(),
            _ if list.look.width < WIDE => format!("overdue {}", thousands(overdue)),
            _ => format!("overdue {}, {}", thousands(overdue), size(overdue_bytes)),
        };
        ListTitle { place: &["Outputs"], figures, alarm, ..ListTitle::default() }
    }

    fn empty(&self, list: &List<OutputRow>, keys: &KeyMap) -> Vec<SafeText> {
        if !list.rows().is_empty() && !list.filter_text().is_empty() {
            let is_awaited = self.read_percent(list).is_some() || list.is_following();
            return list.no_match(if is_awaited { " yet" } else { "" }, keys);
        }
        if !self.first_scan_done {
            return vec!["scanning the stores…".into()];
        }
        if !list.is_following() {
            return none_yet(&self.reports, list.height);
        }
        let heading = "Waiting for new outputs in these directories:";
        store::searched(heading, &self.reports, list.height.saturating_sub(4))
    }

    fn details(&self, list: &List<OutputRow>) -> [SafeText; 2] {
        if list.marked() > 0 {
            let bytes = store::sum(list.marked_or_chosen().iter().map(|row| row.entry.size()));
            let marked = count(list.marked() as u64, "output");
            return [format!("{marked} marked, {}", size(bytes)).into(), SafeText::default()];
        }
        list.chosen().map(|row| outputs::details(row, self.user, &list.look)).unwrap_or_default()
    }

    fn progress(&self, _: &List<OutputRow>, canvas: &Canvas) -> String {
        match &self.keeping {
            Some(keeping) => keeping.describe(canvas.keys),
            None if !self.first_scan_done => "scanning the stores…".to_owned(),
            None => String::new(),
        }
    }

    fn copyable(&self, row: &OutputRow) -> Vec<Copyable> {
        Copyable::for_row(Some(&row.entry.path()), row.written_command(), row.entry.id_bytes())
    }

    fn is_struck(&self, row: &OutputRow) -> bool {
        !self.pending.is_empty() && self.pending.contains(&row.entry.path())
    }

    fn open(&self, list: &List<OutputRow>, row: &OutputRow) -> Option<OpenRequest> {
        let first_lost = row.share().and_then(|share| share.first_lost.as_ref());
        let first_lost = first_lost.filter(|_| list.is_following());
        let place = first_lost.map(|lost| StartAt::Line(lost.line));
        Some(OpenRequest {
            path: row.entry.path(),
            start: StartView { place, ..StartView::default() },
            name: row.name(),
            id: row.entry.id().into_owned(),
            is_kept: row.is_kept,
            command: row.written_command().unwrap_or_default().to_owned(),
        })
    }

    fn serves(&self, link: &Link) -> bool {
        matches!(link, Link::Stores(_) | Link::Keep(_))
    }

    fn follow(&mut self, link: Link, on: ListContext<OutputRow>) {
        match link {
            Link::Stores(path) => self.sought = path.or(self.sought.take()),
            Link::Keep(shown) => self.keep_shown(*shown, on),
            _ => {}
        }
    }

    fn handle(&mut self, event: OutputsEvent, on: ListContext<OutputRow>) {
        match event {
            OutputsEvent::Changed => self.scan(on),
            OutputsEvent::Deleted(message, stayed) => {
                *on.message = Some(message);
                self.pending.mark(stayed);
                self.scan(on);
            }
            OutputsEvent::Scanned(scanned) => self.on_scan_step(scanned, on),
            OutputsEvent::Copied(bytes) => {
                self.keeping.iter_mut().for_each(|keeping| keeping.done = bytes);
            }
            OutputsEvent::Kept(paths, message) => self.on_keep(paths, message, on),
            OutputsEvent::Learned(row, entry, fact) => self.learn(on.list, (row, &entry), fact),
            OutputsEvent::TextRead(batch, text) => {
                on.list.set_text(batch, text);
                if on.list.texts.read == on.list.rows().batches().len() {
                    (self.is_reading, self.texts_before) = (false, None);
                }
            }
            OutputsEvent::Previewed(beside) => {
                // Another row may be selected by now.
                self.beside = self.beside.take().map(|old| if old.of == beside.of { beside } else { old });
            }
        }
    }

    fn handler(&self, action: Action) -> Option<ActionHandler<Self>> {
        Some(match action {
            Action::Follow => |_, on| Self::toggle_follow(on),
            Action::Limits => |of, on| of.tune_outputs(TunePolicies::Around(Box::default()), on),
            Action::Policy => |of, on| of.tune_outputs(TunePolicies::Current, on),
            Action::Refresh => Self::scan,
            Action::Delete => Self::delete_marked,
            Action::Undo => Self::undo_deletion,
            Action::DeleteNow => Self::delete_now,
            Action::CleanOverdue => Self::offer_cleaning,
            Action::Facts => |of, on| of.show_facts(on),
            Action::Keep => Self::keep_marked,
            Action::Other => |_, on| on.effects.turn(Link::Sessions),
            _ => return None,
        })
    }

    fn ask(&mut self, on: ListContext<OutputRow>) {
        self.select_sought(on.list);
        self.read_texts(on.list, on.effects);
        self.ask_for_facts(on.list, on.effects);
        self.ask_beside(on.list, on.canvas, on.effects);
    }

    fn stop(&mut self, on: ListContext<OutputRow>) -> bool {
        self.give_up_keeping(on.effects) || on.list.end_following()
    }

    fn show(&mut self, on: ListContext<OutputRow>) {
        self.scan(on);
    }

    fn panel(&self) -> ListPanel {
        ListPanel::Beside
    }

    fn draw_panel(&self, list: &List<OutputRow>, on: PanelFrame) {
        beside::draw(self.beside.as_ref(), list, on);
    }
}

impl Outputs {
    fn toggle_follow(on: ListContext<OutputRow>) {
        if on.list.end_following() {
            return on.note("no longer following");
        }
        let sorted = if on.list.follow() { "sorted newest first: " } else { "" };
        let key = on.key(Action::Follow);
        on.note(format!("{sorted}new outputs come in on top; {key} or a move stops"));
    }

    fn select_sought(&mut self, list: &mut List<OutputRow>) {
        let Some(path) = &self.sought else { return };
        let row = list.rows().iter().position(|row| row.entry.is_at(path));
        if row.is_some_and(|row| list.hides(row)) && !list.filter_text().is_empty() {
            list.end_filter();
        }
        if row.is_some_and(|row| list.choose(row)) || row.is_none() && self.first_scan_done {
            self.sought = None;
        }
    }

    /// Measures the marked outputs; without marks, those that the filter shows; without a filter, all.
    fn tune_outputs(&self, policies: TunePolicies, on: ListContext<OutputRow>) {
        let rows = |numbers: Arc<Vec<u32>>| -> TuneSource {
            let all = on.list.rows().clone();
            let entry = move |row: &u32| all[*row as usize].entry.clone();
            Arc::new(move |_| Ok(TuneOutputs::Entries(numbers.iter().map(&entry).collect())))
        };
        let (list, place): (TuneSource, SafeText) = match (on.list.marked(), on.list.filter_text()) {
            (0, "") if !on.list.is_empty() && self.first_scan_done => (rows(on.list.order()), ALL.into()),
            // The list may not be complete yet, so all are listed again.
            (0, "") => (Arc::new(|_| Ok(TuneOutputs::Stored(None))), ALL.into()),
            (0, _) if on.list.is_empty() => {
                return on.note("no outputs are shown, so there is nothing to measure");
            }
            (0, filter) => (rows(on.list.order()), format!("filter: {filter}").into()),
            _ => (rows(on.list.marked_rows()), "marked".into()),
        };
        on.effects.show(Link::Tune(TuneStart::new(list, place, policies)));
    }
}
