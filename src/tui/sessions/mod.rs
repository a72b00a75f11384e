//! The list of sessions that agents recorded.

mod work;

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::corpus::TunePolicies;
use crate::rows::column::{ListSpec, SlowState, readable_by_others};
use crate::rows::lost::LostInCall;
use crate::rows::sessions::{self, SessionRow, SessionTexts};
use crate::session::facts::TitledText;
use crate::session::list::agents;
use crate::session::reader::SessionFile;
use crate::session::tally::CallSums;
use crate::text::label::SafeText;

use super::event::{Message, ScreenEvent};
use super::footer::Footer;
use super::job::{JobContext, Slot};
use super::keys::{Action, KeyMap};
use super::list::List;
use super::list::screen::{ListContext, ListKind, ListTitle};
use super::outputs::TuneStart;
use super::pager::facts::{FactRow, ListFacts};
use super::popup::copying::Copyable;
use super::screen::Link;

/// Maximum number of sessions that are looked through for the originals of copied calls.
const MAX_EARLIER: usize = 100;

#[derive(Debug, Default)]
pub struct Sessions {
    /// When they were last looked at; `None` before the first time.
    now: Option<Timestamp>,
    last_faults: Vec<SafeText>,
}

#[derive(Debug, Clone)]
pub struct FoundSessions {
    pub now: Timestamp,
    /// The last changed comes first.
    pub rows: Vec<SessionRow>,
    pub faults: Vec<SafeText>,
}

#[derive(Debug)]
pub enum SessionsEvent {
    Listed(FoundSessions),
    Looked(Timestamp),
    /// What the ends of some files say, by the index of the session.
    Described(Vec<(usize, SessionTexts)>),
    /// Which sessions may hold copies of each other's calls: groups of indices, each with the one first that was created
    /// first.
    Related(Vec<Vec<usize>>),
    /// The sums over the calls of a session as its file was; none if it cannot be read.
    Summed(Arc<SessionFile>, Option<CallSums>),
    /// The errors in the outputs of a session that were cut; none if they cannot be counted.
    Lost(Arc<SessionFile>, Option<LostInCall>),
    /// When the first spill of a session is deleted; none if no rule says so.
    Expires(Arc<SessionFile>, Option<Timestamp>),
}

impl ScreenEvent for SessionsEvent {}

type Context<'a> = ListContext<'a, SessionRow>;

impl ListKind for Sessions {
    type Row = SessionRow;
    type Event = SessionsEvent;
    type Link = Link;
    const SPEC: &'static ListSpec<SessionRow> = &sessions::SPEC;

    fn footer(&self, list: &List<SessionRow>) -> Footer {
        if list.rows().is_empty() { Footer::NO_SESSIONS } else { Footer::SESSIONS }
    }

    fn title(&self, list: &List<SessionRow>) -> ListTitle {
        let mut figures = list.describe_count();
        if list.filter_text().is_empty() {
            let words = list.rows().iter().filter_map(|row| row.words.as_ref());
            let open = words.filter(|words| words.is_open_to_others).count() as u64;
            figures.push_str(&readable_by_others(open, &list.look));
        }
        ListTitle { place: &["Sessions"], figures, ..ListTitle::default() }
    }

    fn empty(&self, list: &List<SessionRow>, keys: &KeyMap) -> Vec<SafeText> {
        if self.now.is_none() {
            return vec!["looking for sessions…".into()];
        }
        if !list.rows().is_empty() {
            return list.no_match(keys);
        }
        let heading = ["No agent has recorded a session here.", "", "Sessions of these agents are read:"];
        // As many in a row as fit on the narrowest screen.
        let rows = agents().chunks(5).map(|row| row.join(", ")).collect::<Vec<_>>();
        heading.map(SafeText::from).into_iter().chain(rows.into_iter().map(SafeText::from)).collect()
    }

    fn details(&self, list: &List<SessionRow>) -> [SafeText; 2] {
        list.chosen().map(sessions::details).unwrap_or_default()
    }

    fn copyable(&self, row: &SessionRow) -> Vec<Copyable> {
        let path = Copyable::path(row.file.path.as_os_str().as_encoded_bytes());
        vec![path, Copyable::id(row.file.id.as_bytes())]
    }

    fn serves(&self, link: &Link) -> bool {
        matches!(link, Link::Sessions)
    }

    fn knows(&self, action: Action) -> bool {
        use Action::{Facts, Limits, Open, Other, Policy, Refresh};
        matches!(action, Open | Limits | Policy | Facts | Refresh | Other)
    }

    fn act(&mut self, action: Action, on: Context) {
        match action {
            Action::Open => {
                on.list.chosen().into_iter().for_each(|row| on.effects.show(link(row)));
            }
            Action::Limits => Self::tune(TunePolicies::Around(Box::default()), on),
            Action::Policy => Self::tune(TunePolicies::Current, on),
            Action::Facts => self.show_facts(on),
            Action::Refresh => on.effects.run(Slot::FindSessions, work::find),
            Action::Other => on.effects.turn(Link::Stores(None)),
            _ => {}
        }
    }

    fn handle(&mut self, event: SessionsEvent, on: Context) {
        match event {
            SessionsEvent::Listed(found) => self.listed(found, on),
            SessionsEvent::Looked(now) => {
                self.now = Some(now);
                on.list.look.now = now;
            }
            SessionsEvent::Described(words) => {
                on.list.change(words, |row, words| row.words = Some(words));
            }
            SessionsEvent::Related(groups) => related(on.list, &groups),
            SessionsEvent::Summed(file, sums) => change(on.list, &file, |row| {
                row.sums.found(sums);
                if !is_as(&row.file, &file) {
                    row.sums.state = SlowState::Missing;
                }
            }),
            SessionsEvent::Lost(file, lost) => change(on.list, &file, |row| row.lost.found(lost)),
            SessionsEvent::Expires(file, at) => change(on.list, &file, |row| row.expires.found(at)),
        }
    }

    /// Asks for the sums of the sessions on the screen that lack them; an earlier request is given up. What is only to be
    /// counted again waits for that request, so that a session that grows all the time does not hold up the others.
    fn ask(&mut self, on: Context) {
        let has = |state: SlowState, counted: bool| {
            let mut sums = on.list.rows_on_screen().map(|n| &on.list.rows()[n].sums);
            sums.any(|sums| sums.state == state && (counted || sums.value.is_none()))
        };
        if !has(SlowState::Missing, false) && (has(SlowState::Asked, true) || !has(SlowState::Missing, true))
        {
            return;
        }
        give_up_sums(on.list);
        let is_lacking = |n: &usize| on.list.rows()[*n].sums.state == SlowState::Missing;
        let mut asked: Vec<usize> = on.list.rows_on_screen().filter(is_lacking).collect();
        // The small ones first: one of gigabytes must not hold up the others.
        asked.sort_by_key(|n| on.list.rows()[*n].file.size);
        let to_sum = |index: usize| {
            let row = on.list.row_mut(index)?;
            row.sums.state = SlowState::Asked;
            Some(row.clone())
        };
        let sessions: Vec<SessionRow> = asked.into_iter().filter_map(to_sum).collect();
        on.effects.run(Slot::SumSessions, move |context| work::sum(&sessions, context));
    }

    fn show(&mut self, on: Context) {
        on.effects.run(Slot::FindSessions, work::find);
    }

    /// Abandons what is still being found out; it is asked for again when the list is shown again.
    fn cover(&mut self, on: Context) {
        give_up_sums(on.list);
        on.effects.stop([Slot::FindSessions, Slot::SumSessions]);
    }

    fn close(&mut self, on: Context) {
        self.cover(on);
    }
}

impl ListFacts for Sessions {
    fn facts(&self, list: &List<SessionRow>) -> (Vec<FactRow>, Option<&[TitledText]>) {
        let Some(row) = list.chosen() else { return (Vec::new(), Some(&[])) };
        let id = FactRow::from(("session", row.file.id.clone())).leading(link(row));
        let facts = sessions::facts(row, &list.look).map(FactRow::from);
        ([id].into_iter().chain(facts).collect(), Some(&[]))
    }
}

impl Sessions {
    /// Goes to the settings of a policy, or to all policies, with what they do to the outputs of the selected session.
    fn tune(policies: TunePolicies, on: Context) {
        let Some(row) = on.list.chosen() else { return };
        let title = row.words.as_ref().map_or("", |words| &*words.title);
        let place = if title.is_empty() { row.file.id.as_str() } else { title };
        let file = row.file.clone();
        let list = Arc::new(move |context: &JobContext| work::outputs_of(&file, context));
        on.effects.show(TuneStart::new(list, place, policies));
    }

    /// Takes in a listing; what is known of a session stays, and is found out anew if the session has changed.
    fn listed(&mut self, found: FoundSessions, on: Context) {
        let FoundSessions { now, mut rows, faults } = found;
        let known: HashMap<_, &SessionRow> = on.list.rows().iter().map(|row| (key(row), row)).collect();
        for row in &mut rows {
            let Some(old) = known.get(&key(row)).copied() else { continue };
            row.words = row.words.take().or_else(|| old.words.clone());
            row.earlier = old.earlier.clone();
            (row.sums, row.lost) = (old.sums.clone(), old.lost.clone());
            row.expires = old.expires.clone();
            if row.sums.state != SlowState::Asked && !is_as(&old.file, &row.file) {
                row.sums.state = SlowState::Missing;
            }
        }
        self.now = Some(now);
        on.list.look.now = now;
        on.list.set_rows(rows);
        if let Some(first) = faults.first().filter(|_| faults != self.last_faults) {
            *on.message = Some(Message::error(first.clone()));
        }
        self.last_faults = faults;
    }
}

fn link(row: &SessionRow) -> Link {
    let title = row.words.clone().unwrap_or_default().title;
    Link::Session { file: row.file.clone(), title }
}

fn key(row: &SessionRow) -> (&std::path::Path, &str) {
    (&row.file.path, &row.file.id)
}

fn change(list: &mut List<SessionRow>, file: &SessionFile, change: impl Fn(&mut SessionRow)) {
    let row = list.rows().iter().position(|row| key(row) == (&*file.path, &*file.id));
    list.change(row.map(|row| (row, ())), |row, ()| change(row));
}

fn is_as(before: &SessionFile, now: &SessionFile) -> bool {
    (before.size, before.modified) == (now.size, now.modified)
}

/// Takes in which sessions may hold copies of each other's calls. Sums that counted copies are asked for again.
fn related(list: &mut List<SessionRow>, groups: &[Vec<usize>]) {
    let mut earlier: HashMap<usize, Arc<[Arc<SessionFile>]>> = HashMap::new();
    for group in groups {
        let files = group.iter().filter_map(|n| Some(list.rows().get(*n)?.file.clone()));
        let files: Vec<_> = files.take(MAX_EARLIER).collect();
        let before = |place: usize| files.get(..place.min(files.len())).unwrap_or_default().into();
        earlier.extend(group.iter().enumerate().skip(1).map(|(place, n)| (*n, before(place))));
    }
    let names = |files: &[Arc<SessionFile>]| -> Vec<_> {
        files.iter().map(|file| (file.path.clone(), file.id.clone())).collect()
    };
    for n in 0..list.rows().len() {
        let found = earlier.remove(&n).unwrap_or_default();
        if let Some(row) = list.row_mut(n).filter(|row| names(&found) != names(&row.earlier)) {
            (row.sums.state, row.earlier) = (SlowState::Missing, found);
        }
    }
}

/// Gives up the sums that were asked for and have not arrived; they will be asked for again.
fn give_up_sums(list: &mut List<SessionRow>) {
    for n in 0..list.rows().len() {
        if list.rows()[n].sums.state == SlowState::Asked
            && let Some(row) = list.row_mut(n)
        {
            row.sums.state = SlowState::Missing;
        }
    }
}
