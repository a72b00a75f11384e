//! The list of sessions that agents recorded, and its workers.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::base::human::NamedFact;
use crate::corpus::{Corpus, TuneOutputs, TunePolicies};
use crate::rows::calls::differs;
use crate::rows::column::{ListSpec, SlowState, readable_by_others};
use crate::rows::lost::LostCounts;
use crate::rows::sessions::{self, SLOW_COLUMNS, SLOW_WORDS, SessionRow, SessionTexts};
use crate::session::call_details::TitledText;
use crate::session::copies::{SeenCalls, families};
use crate::session::examine::CallInspector;
use crate::session::find::Exposure;
use crate::session::list::{self, agents};
use crate::session::model::SessionFacts;
use crate::session::reader::SessionFile;
use crate::session::tally::{self, CallSums};
use crate::store::{self, Expiry};
use crate::text::label::SafeText;

use super::event::{Message, ScreenEvent, SearchScope};
use super::footer::Footer;
use super::job::{JobContext, Slot};
use super::keys::{Action, KeyMap};
use super::list::List;
use super::list::screen::{ActionHandler, ListContext, ListKind, ListTitle};
use super::pager::text_box::ListFacts;
use super::popup::menu::Copyable;
use super::screen::{Link, TuneStart};

/// Maximum number of sessions that are looked through for the originals of copied calls.
const MAX_EARLIER: usize = 100;

/// How many sessions are described before what is known is sent.
const BATCH: usize = 128;

/// The shortest time between two looks at all sessions.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Looks are rarer where they take long: at least this many times as long apart.
const REST: u32 = 20;

/// How long a job that rests takes to notice that it is no longer wanted.
const NOTICE: Duration = Duration::from_millis(100);

#[derive(Debug, Default)]
pub struct Sessions {
    /// When they were last looked at; `None` before the first time.
    now: Option<Timestamp>,
    last_faults: Vec<SafeText>,
}

#[derive(Debug)]
pub enum SessionsEvent {
    /// The sessions at this time, the last changed first; and what could not be listed.
    Listed(Timestamp, Vec<SessionRow>, Vec<SafeText>),
    Looked(Timestamp),
    /// What the ends of some files say, by the index of the session.
    Described(Vec<(usize, SessionTexts)>),
    /// Sessions that may hold copies of each other's calls: groups of indices, the earliest created first.
    Related(Vec<Vec<usize>>),
    /// The sums over the calls of a session as its file was, and what all of its records say; none if it cannot be read.
    Summed(Arc<SessionFile>, Option<CallSums>, Option<SessionTexts>),
    /// The errors that a session's calls lost; `None` if none is known and not all cut outputs are at hand.
    Lost(Arc<SessionFile>, Option<LostCounts>),
    /// How many of a session's calls differ from what their policies make.
    Compared(Arc<SessionFile>, u64),
    /// When the first spill of a session is deleted; none if no rule says so.
    Expires(Arc<SessionFile>, Option<Expiry>),
}

impl ScreenEvent for SessionsEvent {}

impl ListKind for Sessions {
    type Row = SessionRow;
    type Event = SessionsEvent;
    const SPEC: &'static ListSpec<SessionRow> = &sessions::SPEC;
    const SCOPE: SearchScope = SearchScope::Sessions;

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
            return list.no_match("", keys);
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
        Copyable::for_row(Some(&row.file.path), None, row.file.id.as_bytes())
    }

    fn serves(&self, link: &Link) -> bool {
        matches!(link, Link::Sessions)
    }

    fn handler(&self, action: Action) -> Option<ActionHandler<Self>> {
        Some(match action {
            Action::Open => |_, on| on.list.chosen().into_iter().for_each(|row| on.effects.show(link(row))),
            Action::Limits => |_, on| Self::tune(TunePolicies::Around(Box::default()), on),
            Action::Policy => |_, on| Self::tune(TunePolicies::Current, on),
            Action::Facts => |of, on| of.show_facts(on),
            Action::Refresh => |_, on| on.effects.run(Slot::FindSessions, find_sessions),
            Action::Other => |_, on| on.effects.turn(Link::Stores(None)),
            _ => return None,
        })
    }

    fn handle(&mut self, event: SessionsEvent, on: ListContext<SessionRow>) {
        match event {
            SessionsEvent::Listed(now, rows, faults) => {
                (self.now, on.list.look.now) = (Some(now), now);
                self.on_listing(rows, faults, on);
            }
            SessionsEvent::Looked(now) => (self.now, on.list.look.now) = (Some(now), now),
            SessionsEvent::Described(words) => on.list.change(words, |row, words| match &mut row.words {
                // All records were read, which say more than the ends.
                Some(known) if row.sums.state == SlowState::Known => {
                    known.is_open_to_others = words.is_open_to_others;
                }
                known => *known = Some(words),
            }),
            SessionsEvent::Related(groups) => on_relations(on.list, &groups),
            SessionsEvent::Summed(file, sums, words) => change(on.list, &file, |row| {
                row.sums.set(sums);
                row.words = words.clone().or(row.words.take());
                if !is_as(&row.file, &file) {
                    row.sums.state = SlowState::Missing;
                }
            }),
            SessionsEvent::Lost(file, lost) => change(on.list, &file, |row| row.lost.set(lost)),
            SessionsEvent::Compared(file, differing) => {
                change(on.list, &file, |row| row.differing = differing);
            }
            SessionsEvent::Expires(file, at) => change(on.list, &file, |row| row.expires.set(at)),
        }
    }

    /// Asks for the sums that rows on the screen lack; what is only to be counted again waits for those.
    fn ask(&mut self, on: ListContext<SessionRow>) {
        let placed = on.list.placed_by(&SLOW_WORDS, &SLOW_COLUMNS);
        let has = |state: SlowState, counted: bool| {
            let rows = on.list.rows_on_screen().chain(placed.iter().copied());
            let mut sums = rows.map(|n| &on.list.rows()[n].sums);
            sums.any(|sums| sums.state == state && (counted || sums.value.is_none()))
        };
        if !has(SlowState::Missing, false) && (has(SlowState::Asked, true) || !has(SlowState::Missing, true))
        {
            return;
        }
        give_up_sums(on.list);
        let is_lacking = |n: &usize| on.list.rows()[*n].sums.state == SlowState::Missing;
        let on_screen: HashSet<usize> = on.list.rows_on_screen().collect();
        let mut asked: Vec<usize> = on_screen.iter().copied().chain(placed).filter(is_lacking).collect();
        // The small ones first: one of gigabytes must not hold up the others.
        asked.sort_by_key(|n| (!on_screen.contains(n), on.list.rows()[*n].file.size, *n));
        asked.dedup();
        let to_sum = |index: usize| {
            let row = on.list.row_mut(index)?;
            row.sums.state = SlowState::Asked;
            Some(row.clone())
        };
        let sessions: Vec<SessionRow> = asked.into_iter().filter_map(to_sum).collect();
        on.effects.run(Slot::SumSessions, move |context| _ = sum_calls(&sessions, context));
    }

    fn show(&mut self, on: ListContext<SessionRow>) {
        on.effects.run(Slot::FindSessions, find_sessions);
    }

    /// Abandons what is still being found out; it is asked for again when the list is shown again.
    fn cover(&mut self, on: ListContext<SessionRow>) {
        give_up_sums(on.list);
        on.effects.stop([Slot::FindSessions, Slot::SumSessions]);
    }

    fn close(&mut self, on: ListContext<SessionRow>) {
        self.cover(on);
    }
}

impl ListFacts for Sessions {
    fn facts(&self, list: &List<SessionRow>) -> (Vec<NamedFact>, Option<&[TitledText]>) {
        (list.chosen().map(|row| sessions::facts(row, &list.look).into()).unwrap_or_default(), Some(&[]))
    }

    fn link(&self, list: &List<SessionRow>, name: &str) -> Option<Link> {
        list.chosen().filter(|_| name == "session").map(link)
    }
}

impl Sessions {
    fn tune(policies: TunePolicies, on: ListContext<SessionRow>) {
        let Some(row) = on.list.chosen() else { return };
        let title = row.words.as_ref().map_or("", |words| &*words.title);
        let place = if title.is_empty() { row.file.id.as_str() } else { title };
        let file = row.file.clone();
        let list = Arc::new(move |context: &JobContext| outputs_of(&file, context));
        on.effects.show(Link::Tune(TuneStart::new(list, place, policies)));
    }

    /// Takes in a listing; what is known of a session stays, and is found out anew if the session has changed.
    fn on_listing(&mut self, mut rows: Vec<SessionRow>, faults: Vec<SafeText>, on: ListContext<SessionRow>) {
        let known: HashMap<_, &SessionRow> = on.list.rows().iter().map(|row| (key(row), row)).collect();
        for row in &mut rows {
            let Some(old) = known.get(&key(row)).copied() else { continue };
            let words = row.words.take().or_else(|| old.words.clone());
            *row = SessionRow { file: row.file.clone(), words, ..old.clone() };
            if row.sums.state != SlowState::Asked && !is_as(&old.file, &row.file) {
                row.sums.state = SlowState::Missing;
            }
        }
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

fn key(row: &SessionRow) -> (&Path, &str) {
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
fn on_relations(list: &mut List<SessionRow>, groups: &[Vec<usize>]) {
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

fn give_up_sums(list: &mut List<SessionRow>) {
    for n in 0..list.rows().len() {
        let SessionRow { sums, lost, expires, .. } = &list.rows()[n];
        let is_missing = lost.state == SlowState::Missing || expires.state == SlowState::Missing;
        let has_rest = is_missing && sums.value.is_some_and(|sums| sums.cut > 0);
        if (sums.state == SlowState::Asked || has_rest)
            && let Some(row) = list.row_mut(n)
        {
            row.sums.state = SlowState::Missing;
        }
    }
}

/// Finds the sessions and reads the ends of their files, then goes on looking for changes.
fn find_sessions(context: &JobContext) {
    let mut known: Option<Vec<SessionFile>> = None;
    loop {
        let began = Instant::now();
        let listing = list::list(context.env(), None, &context.ticket);
        if !context.is_wanted() {
            return;
        }
        if known.as_ref() == Some(&listing.sessions) {
            context.send(SessionsEvent::Looked(crate::base::env::now()));
        } else {
            known = Some(listing.sessions.clone());
            if report_sessions(listing, context).is_break() {
                return;
            }
        }
        let until = Instant::now() + LOOK_EVERY.max(began.elapsed() * REST);
        while Instant::now() < until {
            std::thread::sleep(NOTICE);
            if !context.is_wanted() {
                return;
            }
        }
    }
}

/// Reports the sessions, then what the ends of their files say, until it is no longer wanted.
fn report_sessions(listing: list::SessionListing, context: &JobContext) -> ControlFlow<()> {
    let rows: Vec<SessionRow> = listing.sessions.into_iter().map(SessionRow::new).collect();
    let files: Vec<Arc<SessionFile>> = rows.iter().map(|row| row.file.clone()).collect();
    let faults = listing.faults.into_iter().map(SafeText::from).collect();
    context.report(SessionsEvent::Listed(crate::base::env::now(), rows, faults))?;
    let (mut described, mut exposure) = (Vec::new(), Exposure::default());
    let mut origins = Vec::with_capacity(files.len());
    for (n, file) in files.iter().enumerate() {
        let listed = list::read_listed(SessionFile::clone(file), &mut exposure);
        let origin = listed.as_ref().ok().and_then(|listed| listed.facts.origin.clone());
        origins.push(SessionFacts { origin, ..SessionFacts::default() });
        let words = listed.map(|listed| SessionTexts::new(&listed.facts, listed.is_open_to_others));
        described.push((n, words.unwrap_or_default()));
        // The first are sent soon, because the screen is waiting.
        if described.len() == BATCH || n + 1 == BATCH / 4 {
            context.report(SessionsEvent::Described(std::mem::take(&mut described)))?;
        }
    }
    context.send(SessionsEvent::Described(described));
    let all: Vec<_> = files.iter().map(|file| &**file).zip(&origins).collect();
    let related = families(&all).into_iter().filter(|family| family.len() > 1).collect();
    context.report(SessionsEvent::Related(related))
}

/// Sums up the calls of sessions, then counts the errors that they lost, and finds when their spills expire, until it is no
/// longer wanted.
fn sum_calls(sessions: &[SessionRow], context: &JobContext) -> ControlFlow<()> {
    let uid = context.env().uid();
    let (mut cut, mut exposure) = (Vec::new(), Exposure::default());
    for session in sessions {
        let SessionRow { file, earlier, .. } = session;
        let mut seen = SeenCalls::default();
        let opened = earlier.iter().filter_map(|file| list::open(file, &context.ticket).ok());
        opened.for_each(|opened| seen.add(opened.transcript()));
        let mut listed = list::read_listed(SessionFile::clone(file), &mut exposure).ok();
        let counted =
            listed.as_mut().map(|listed| tally::count_calls(listed, uid, &mut seen, &context.ticket));
        let sums = counted.and_then(|counted| counted.ok()?.0);
        cut.extend(sums.filter(|sums| sums.cut > 0).map(|_| session));
        let words = listed.map(|listed| SessionTexts::new(&listed.facts, listed.is_open_to_others));
        context.report(SessionsEvent::Summed(file.clone(), sums, words))?;
    }
    let (mut spills, severities) = (Vec::new(), &context.services.severities);
    for session in cut {
        let mut own = Vec::new();
        let count = |inspector: CallInspector| {
            let lost = LostCounts::count_all(&inspector, severities, &mut own, &|| context.is_wanted());
            let cut = inspector.transcript.calls.iter().filter(|call| call.is_cut() && context.is_wanted());
            let differing = cut.filter(|call| differs(&inspector.verify(call)).is_some());
            context.send(SessionsEvent::Lost(session.file.clone(), lost));
            differing.count() as u64
        };
        let event = match context.services.inspect(&session.file, &context.ticket, count) {
            Ok(differing) => SessionsEvent::Compared(session.file.clone(), differing),
            Err(_) => SessionsEvent::Lost(session.file.clone(), None),
        };
        context.report(event)?;
        spills.push((session, own));
    }
    let paths = spills.iter().flat_map(|(_, own)| own).map(PathBuf::as_path).collect();
    let (stores, is_wanted) = (&context.services.config.stores, || context.is_wanted());
    let entries = store::entries_at(&paths, stores, context.env(), crate::base::env::now(), &is_wanted);
    for (session, own) in &spills {
        let first = own.iter().filter_map(|spill| Some(entries.get(spill)?.expires)).min();
        context.report(SessionsEvent::Expires(session.file.clone(), first))?;
    }
    ControlFlow::Continue(())
}

/// Lists the outputs that the results of a session name and that are there, in the order of its calls.
fn outputs_of(file: &SessionFile, context: &JobContext) -> Result<TuneOutputs, String> {
    context.services.inspect(file, &context.ticket, |inspector| {
        let spills = inspector.transcript.calls.iter().filter_map(|call| inspector.spill(call));
        let paths = spills.filter_map(|spill| spill.path().map(Path::to_path_buf));
        let paths: Vec<PathBuf> = paths.filter(|path| inspector.is_known(path)).collect();
        TuneOutputs::Listed(Arc::new(Corpus::from_paths(&paths)))
    })
}
