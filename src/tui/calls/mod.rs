//! The list of the calls of one session.

pub(crate) mod work;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;

use crate::base::human::{NamedFact, thousands};
use crate::output::recorded::{CallFacts, CallRequest, ReadyCall};
use crate::rows::calls::{self, CallRow, CallSizes};
use crate::rows::column::{ListSpec, SlowState};
use crate::rows::lost::ModelShare;
use crate::rows::sessions::describe_unsure;
use crate::session::call_details::TitledText;
use crate::session::examine::Paths;
use crate::session::list::format_of;
use crate::session::reader::SessionFile;
use crate::session::verdict::Verdict;
use crate::text::label::SafeText;

use super::event::{ScreenEvent, SearchScope};
use super::footer::Footer;
use super::job::Slot;
use super::keys::{Action, KeyContext, KeyMap};
use super::list::List;
use super::list::screen::{ActionHandler, ListContext, ListKind, ListTitle};
use super::pager::OutputEvent;
use super::pager::text_box::ListFacts;
use super::popup::menu::Copyable;
use super::screen::{Effect, Link};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ReadingState {
    #[default]
    Reading,
    Read,
    Failed(SafeText),
}

#[derive(Debug, Default)]
pub struct Calls {
    file: Option<Arc<SessionFile>>,
    state: ReadingState,
    /// How much of it has been read.
    percent: u64,
    /// What is known of the session; its rows are in the list.
    session: OpenedCalls,
    sought: Option<SafeText>,
    opens_sought: bool,
    /// The calls that the worker was last told to look at first.
    asked: Vec<usize>,
    shown_call: Option<usize>,
    /// The facts that came last, and the index of the call that they are of.
    facts: Option<(usize, CallFacts)>,
}

#[derive(Debug, Default)]
pub struct OpenedCalls {
    pub rows: Vec<CallRow>,
    pub now: Timestamp,
    pub agent: SafeText,
    pub title: SafeText,
    /// What of the records was not understood, in words; empty if nothing.
    pub unread: SafeText,
    pub is_format_unknown: bool,
}

#[derive(Debug)]
pub enum CallsEvent {
    Reading(u64),
    Opened(Box<OpenedCalls>),
    Failed(SafeText),
    Sized(Vec<(usize, CallSizes)>),
    /// What the model got of a call's output; none if that is not at hand.
    Measured(usize, Option<ModelShare>),
    /// How many other sessions have some of the calls, by the index of the call.
    Copied(Vec<(usize, u64)>),
    Verified(usize, Verdict),
    Ready(Box<ReadyCall>),
    Facts(usize, Box<CallFacts>),
}

impl ScreenEvent for CallsEvent {}

impl ListKind for Calls {
    type Row = CallRow;
    type Event = CallsEvent;
    const SPEC: &'static ListSpec<CallRow> = &calls::SPEC;
    const SCOPE: SearchScope = SearchScope::Sessions;

    fn footer(&self, _: &List<CallRow>) -> Footer {
        Footer::CALLS
    }

    fn title(&self, list: &List<CallRow>) -> ListTitle {
        let number = |of: fn(&CallRow) -> bool| list.rows().iter().filter(|row| of(row)).count() as u64;
        let figures = match (&self.state, list.filter_text()) {
            (ReadingState::Reading, _) => format!("reading… {}%", self.percent),
            (ReadingState::Failed(_), _) => "not readable".into(),
            (ReadingState::Read, "") => {
                let unsure = describe_unsure(number(CallRow::is_unsure));
                format!("{}, {} cut{unsure}", list.describe_count(), thousands(number(CallRow::is_cut)))
            }
            (ReadingState::Read, _) => list.describe_count(),
        };
        let id = self.file.as_ref().map_or("", |file| &file.id);
        let name = if self.session.title.is_empty() { id.into() } else { self.session.title.clone() };
        let alarm = match number(|row| row.differs()) {
            0 => String::new(),
            1 => "1 DIFFERS".to_owned(),
            differing => format!("{} DIFFER", thousands(differing)),
        };
        let figures = format!("{figures} · {}", self.session.agent);
        ListTitle { place: &["Sessions", "Calls"], figures, alarm, name }
    }

    fn empty(&self, list: &List<CallRow>, keys: &KeyMap) -> Vec<SafeText> {
        let back = keys.label(KeyContext::Lists, Action::Back);
        let words = match &self.state {
            ReadingState::Reading => {
                vec![format!("reading the session… {}%   {back} goes back", self.percent)]
            }
            ReadingState::Failed(why) => vec!["The session cannot be read:".into(), why.to_string()],
            ReadingState::Read if self.session.is_format_unknown => vec![
                "Format not understood: nothing in these records is of a kind that overspill knows.".into(),
                self.session.unread.to_string(),
            ],
            ReadingState::Read if !list.rows().is_empty() => return list.no_match("", keys),
            ReadingState::Read => vec!["No tool was called in this session.".to_owned()],
        };
        words.into_iter().map(SafeText::from).collect()
    }

    fn details(&self, list: &List<CallRow>) -> [SafeText; 2] {
        let Some(row) = list.chosen() else { return [SafeText::default(), self.session.unread.clone()] };
        let [first, second] = calls::details(row);
        [first, if self.session.unread.is_empty() { second } else { self.session.unread.clone() }]
    }

    fn copyable(&self, row: &CallRow) -> Vec<Copyable> {
        let session = self.file.as_ref().map_or("", |file| &file.id);
        let command = row.sizes.as_ref().map(|sizes| &*sizes.written);
        Copyable::for_row(row.spill_path(), command, format!("{session}:{}", row.id).as_bytes())
    }

    fn output(&self, _: &List<CallRow>, row: &CallRow) -> Option<(PathBuf, u64)> {
        Some((row.spill_path()?.to_owned(), 1))
    }

    fn serves(&self, link: &Link) -> bool {
        matches!(link, Link::Session { .. } | Link::Call(_) | Link::OpenCall(_) | Link::SpillOfCall(_))
    }

    fn follow(&mut self, link: Link, on: ListContext<CallRow>) {
        let opens_sought = matches!(link, Link::OpenCall(_));
        match link {
            Link::Session { file, .. } if self.holds(&file) => {}
            Link::Session { file, title } => self.open(file, title, None, on),
            Link::Call(call) if self.holds(&call.file) => {
                self.sought = Some(call.call.into());
                self.select_sought(on.list);
            }
            Link::Call(call) | Link::OpenCall(call) => {
                self.open(Arc::new(call.file), SafeText::default(), Some(call.call.into()), on);
                self.opens_sought = opens_sought;
            }
            Link::SpillOfCall(index) => on.effects.show(link_to_spill(on.list.rows().get(index))),
            _ => {}
        }
    }

    fn handle(&mut self, event: CallsEvent, on: ListContext<CallRow>) {
        match event {
            CallsEvent::Reading(percent) => self.percent = percent,
            CallsEvent::Opened(opened) => {
                self.on_calls(*opened, on.list);
                if std::mem::take(&mut self.opens_sought) {
                    self.open_chosen(on);
                }
            }
            CallsEvent::Failed(why) => self.state = ReadingState::Failed(why),
            CallsEvent::Sized(sizes) => on.list.change(sizes, |row, sizes| row.sizes = Some(sizes)),
            CallsEvent::Measured(index, share) => {
                on.list.change([(index, share)], |row, share| row.share.set(share))
            }
            CallsEvent::Copied(copies) => on.list.change(copies, |row, copies| row.copies = copies),
            CallsEvent::Verified(index, verdict) => {
                on.effects.send(OutputEvent::Checked(index, Box::new(verdict.clone())));
                on.list.change([(index, verdict)], |row, verdict| row.verdict = Some(verdict));
            }
            // A user who has left meanwhile stays where they are.
            CallsEvent::Ready(ready) if on.is_top && self.shown_call == ready.recorded.index => {
                on.effects.push(Effect::OpenCall(ready, Default::default()));
            }
            CallsEvent::Ready(ready) => on.effects.send(OutputEvent::Ready(ready)),
            CallsEvent::Facts(index, facts) if on.is_top => self.facts = Some((index, *facts)),
            CallsEvent::Facts(index, facts) => on.effects.send(OutputEvent::Facts(index, facts)),
        }
    }

    fn handler(&self, action: Action) -> Option<ActionHandler<Self>> {
        Some(match action {
            Action::Open => Self::open_chosen,
            Action::Facts => |of, on| {
                let Some(index) = on.list.chosen_index() else { return };
                on.effects.push(Effect::Ask(CallRequest::Facts(index)));
                of.show_facts(on);
            },
            Action::Refresh => |of, on| {
                of.asked.clear();
                on.list.change((0..on.list.rows().len()).map(|row| (row, ())), |row, ()| row.sizes = None);
            },
            Action::Follow => |_, on| {
                if on.list.is_empty() {
                    return on.note("no call is listed");
                }
                let sorted = if on.list.follow() { "sorted oldest first: " } else { "" };
                on.note(format!("{sorted}at the last call, following new ones; a move stops that"));
            },
            _ => return None,
        })
    }

    fn ask(&mut self, on: ListContext<CallRow>) {
        let lacks = |n: &usize| {
            let row = &on.list.rows()[*n];
            row.sizes.is_none()
                || row.is_partial() && row.verdict.is_none()
                || row.is_cut() && row.share.state == SlowState::Missing
        };
        let wanted: Vec<usize> = on.list.rows_on_screen().filter(lacks).collect();
        if !wanted.is_empty() && wanted != self.asked {
            self.asked.clone_from(&wanted);
            on.effects.push(Effect::Ask(CallRequest::Rows(wanted)));
        }
    }

    fn awaits_rows(&self, list: &List<CallRow>) -> bool {
        self.state == ReadingState::Reading && list.is_empty()
    }

    fn stop(&mut self, on: ListContext<CallRow>) -> bool {
        on.list.end_following()
    }

    fn close(&mut self, on: ListContext<CallRow>) {
        *self = Self::default();
        on.list.clear();
        on.effects.stop([Slot::OpenSession]);
    }
}

impl ListFacts for Calls {
    fn facts(&self, list: &List<CallRow>) -> (Vec<NamedFact>, Option<&[TitledText]>) {
        let known = self.facts.as_ref().filter(|(index, _)| Some(*index) == list.chosen_index());
        let of_records = known.map(|(_, known)| known.facts.clone()).unwrap_or_default();
        let facts = list.chosen().map(|row| calls::facts(row, of_records)).unwrap_or_default();
        (facts, known.map(|(_, known)| known.texts.as_slice()))
    }

    fn link(&self, list: &List<CallRow>, name: &str) -> Option<Link> {
        (name == "spill").then(|| link_to_spill(list.chosen()))
    }
}

fn link_to_spill(row: Option<&CallRow>) -> Link {
    Link::Stores(row.and_then(CallRow::spill_path).map(Path::to_owned))
}

impl Calls {
    fn open_chosen(&mut self, on: ListContext<CallRow>) {
        let Some(index) = on.list.chosen_index() else { return };
        self.shown_call = Some(index);
        on.effects.push(Effect::Ask(CallRequest::Show(index, Paths::Known)));
    }

    fn holds(&self, file: &SessionFile) -> bool {
        self.file.as_ref().is_some_and(|held| (&held.path, &held.id) == (&file.path, &file.id))
    }

    fn select_sought(&mut self, list: &mut List<CallRow>) {
        if self.state != ReadingState::Read {
            return;
        }
        let sought = self.sought.take();
        let row = sought.and_then(|id| list.rows().iter().position(|row| row.id == id));
        if let Some(row) = row {
            list.choose(row);
        }
    }

    fn open(
        &mut self,
        file: Arc<SessionFile>,
        title: SafeText,
        sought: Option<SafeText>,
        on: ListContext<CallRow>,
    ) {
        let agent = format_of(&file).map_or("", |format| format.info.agent).into();
        let session = OpenedCalls { agent, title, ..OpenedCalls::default() };
        *self = Self { file: Some(file.clone()), session, sought, ..Self::default() };
        on.list.clear();
        on.list.grows_at_end = true;
        on.effects.run(Slot::OpenSession, move |context| work::hold(&file, context));
    }

    /// Takes in the calls: those of a session just read, or of one that has grown. What is known of a call stays.
    fn on_calls(&mut self, mut opened: OpenedCalls, list: &mut List<CallRow>) {
        let mut rows = std::mem::take(&mut opened.rows);
        for (row, old) in rows.iter_mut().zip(list.rows().iter()).filter(|(row, old)| row.id == old.id) {
            if row.cut == old.cut && row.context.is_some() == old.context.is_some() {
                (row.sizes, row.verdict) = (old.sizes.clone(), old.verdict.clone());
                (row.share, row.copies) = (old.share.clone(), old.copies);
            }
        }
        self.state = ReadingState::Read;
        // A session is called as the list of sessions calls it.
        if !self.session.title.is_empty() {
            opened.title = std::mem::take(&mut self.session.title);
        }
        self.session = opened;
        self.asked.clear();
        list.look.now = self.session.now;
        list.set_rows(rows);
        self.select_sought(list);
    }
}
