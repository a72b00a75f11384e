//! The workers of the screens of sessions: one finds sessions, one sums up their calls, one holds the session that is
//! open, follows it, and answers what the screens ask of its calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::env::Env;
use crate::session::copies::{RelatedSessions, SeenCalls, families};
use crate::session::exposure::Exposure;
use crate::session::list;
use crate::session::model::{Call, SessionFacts};
use crate::session::reader::{OpenedSession, ReadProgress, SessionFile};
use crate::session::tally;
use crate::session::transcript::Transcript;
use crate::text::label::SafeText;
use crate::tui::event::Event;
use crate::tui::job::{JobContext, JobRequest, Ticket};
use crate::tui::recorded::CallRequest;

use super::held::{HeldSession, Verdicts};
use super::job::{FoundSessions, OpenedCalls, SessionToSum, SessionsEvent};
use super::rows::{CallRow, SessionRow, SessionWords, SumState};
use super::show;

/// How many sessions are described before what is known is sent.
const BATCH: usize = 128;

/// How many calls are looked at before what is known is sent, and requests are heard.
const CALLS: usize = 32;

/// How often a session that is open is looked at for changes.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Finds the sessions, then reads the ends of their files.
pub(crate) fn find(number: u64, context: &JobContext) {
    let listing = list::list(context.env(), None, &Wanted(&context.ticket));
    let row = |file: SessionFile| {
        let agent = list::format_of(&file).map_or("", |format| format.agent());
        let words = (!file.facts.id.is_empty()).then(|| words(&file.facts));
        SessionRow { file: Arc::new(file), agent, words, sums: SumState::Unknown, earlier: Arc::default() }
    };
    let rows: Vec<SessionRow> = listing.sessions.into_iter().map(row).collect();
    let files: Vec<Arc<SessionFile>> = rows.iter().map(|row| row.file.clone()).collect();
    let faults = listing.faults.into_iter().map(SafeText::from).collect();
    let found = FoundSessions { number, now: crate::env::now(), rows, faults };
    if !context.is_wanted() || !context.send(SessionsEvent::Listed(found)) {
        return;
    }
    let (mut described, mut exposure) = (Vec::new(), Exposure::default());
    let mut origins = Vec::with_capacity(files.len());
    for (n, file) in files.iter().enumerate() {
        let listed = list::listed(SessionFile::clone(file), &mut exposure);
        let origin = listed.as_ref().ok().and_then(|listed| listed.facts.origin.clone());
        origins.push(SessionFacts { origin, ..SessionFacts::default() });
        let described_as = listed.map(|listed| SessionWords {
            is_open_to_others: listed.is_open_to_others,
            ..words(&listed.facts)
        });
        described.push((n, described_as.unwrap_or_default()));
        // The first are sent soon, because the screen is waiting.
        if described.len() == BATCH || n + 1 == BATCH / 4 {
            let some = std::mem::take(&mut described);
            if !context.is_wanted() || !context.send(SessionsEvent::Described(number, some)) {
                return;
            }
        }
    }
    context.send(SessionsEvent::Described(number, described));
    let all: Vec<_> = files.iter().map(|file| &**file).zip(&origins).collect();
    let related = families(&all).into_iter().filter(|family| family.len() > 1).collect();
    context.send(SessionsEvent::Related(number, related));
}

fn words(facts: &SessionFacts) -> SessionWords {
    let text = |text: &Option<String>| {
        SafeText::from(text.as_deref().unwrap_or_default().lines().next().unwrap_or_default())
    };
    SessionWords {
        version: text(&facts.version),
        project: text(&facts.cwd),
        title: text(&facts.title),
        is_open_to_others: false,
    }
}

/// Sums up the calls of sessions, one after the other. A call that was copied counts in the session that was created first.
pub(crate) fn sum(number: u64, sessions: &[SessionToSum], context: &JobContext) {
    let uid = context.env().uid();
    for SessionToSum { index, file, earlier } in sessions {
        let (progress, mut seen) = (Wanted(&context.ticket), SeenCalls::default());
        earlier
            .iter()
            .filter_map(|file| list::open(file, &progress).ok())
            .for_each(|opened| seen.add(opened.transcript()));
        let sums = tally::count_new(file, uid, &mut seen, &progress).ok().map(|counted| counted.sums);
        if !context.is_wanted() || !context.send(SessionsEvent::Summed(number, *index, sums)) {
            return;
        }
    }
}

/// Reading goes on as long as it is wanted.
struct Wanted<'a>(&'a Ticket);

impl ReadProgress for Wanted<'_> {
    fn step(&self, _: u64, _: u64) -> bool {
        self.0.is_wanted()
    }

    fn wanted(&self) -> Option<Arc<dyn Fn() -> bool + Send + Sync>> {
        Some(still_wanted(self.0))
    }
}

/// Reading is reported in percent, and goes on as long as it is wanted.
struct Percent<'a> {
    context: &'a JobContext,
    last: AtomicU64,
}

impl ReadProgress for Percent<'_> {
    fn step(&self, done: u64, total: u64) -> bool {
        let percent = (u128::from(done) * 100 / u128::from(total.max(1))) as u64;
        if self.last.swap(percent, Ordering::Relaxed) != percent {
            self.context.send(SessionsEvent::Reading(percent));
        }
        self.context.is_wanted()
    }

    fn wanted(&self) -> Option<Arc<dyn Fn() -> bool + Send + Sync>> {
        Some(still_wanted(&self.context.ticket))
    }
}

fn still_wanted(ticket: &Ticket) -> Arc<dyn Fn() -> bool + Send + Sync> {
    let ticket = ticket.clone();
    Arc::new(move || ticket.is_wanted())
}

/// Opens a session and holds it: answers requests, works out what its calls lack, and follows it as it grows, until the
/// requests end.
pub(crate) fn hold(file: &SessionFile, context: &JobContext) {
    let agent = list::format_of(file).map_or("", |format| format.agent());
    let (examiner, requests) = ((context.services.examiner)(agent), context.take_requests());
    let progress = Percent { context, last: AtomicU64::new(0) };
    let mut opened = match list::open(file, &progress) {
        Ok(opened) => opened,
        Err(_) if !context.is_wanted() => return,
        Err(error) => {
            context.send(SessionsEvent::Failed(error.to_string().into()));
            return;
        }
    };
    if !context.is_wanted() || !context.send(opened_calls(opened.transcript())) {
        return;
    }
    let mut todo = Todo::new(opened.transcript().calls.len());
    let mut copies = CopiesElsewhere::look(context.env(), file, &context.ticket);
    let verdicts = Verdicts::default();
    loop {
        let request = next_request(&requests, if todo.is_done() { LOOK_EVERY } else { Duration::ZERO });
        let held = HeldSession {
            file,
            examiner: &examiner,
            transcript: opened.transcript(),
            context,
            verdicts: &verdicts,
        };
        match request {
            Ok(CallRequest::Rows(rows)) => todo.first(rows),
            Ok(CallRequest::Show(index, paths)) => show::show(&held, index, paths),
            Ok(CallRequest::Text(index, text)) => show::text(&held, index, text),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) if !todo.is_done() => todo.step(&held),
            Err(RecvTimeoutError::Timeout) => {
                copies.report(opened.transcript(), context);
                if follow(&mut opened, &mut todo, context) == Followed::New {
                    verdicts.borrow_mut().clear();
                }
            }
        }
        if !context.is_wanted() {
            return;
        }
    }
}

/// Waits for a request.
fn next_request(requests: &Receiver<JobRequest>, limit: Duration) -> Result<CallRequest, RecvTimeoutError> {
    let request = requests.recv_timeout(limit)?;
    request.downcast().map(|request| *request).map_err(|_| RecvTimeoutError::Timeout)
}

/// Finds out which other sessions have the same calls, while the session is looked at.
struct CopiesElsewhere {
    looking: Option<JoinHandle<RelatedSessions>>,
    found: RelatedSessions,
    /// The number of calls that were looked for in the other sessions.
    reported: usize,
}

impl CopiesElsewhere {
    fn look(env: &Env, file: &SessionFile, ticket: &Ticket) -> Self {
        let (env, file, ticket) = (env.clone(), file.clone(), ticket.clone());
        let look = move || RelatedSessions::find(&env, &file, &Wanted(&ticket));
        let looking = std::thread::Builder::new().name("copies".into()).spawn(look).ok();
        Self { looking, found: RelatedSessions::default(), reported: 0 }
    }

    /// Reports how many sessions have each call, once that is known, and again when the session has grown.
    fn report(&mut self, transcript: &Transcript, context: &JobContext) {
        if let Some(done) = self.looking.take_if(|looking| looking.is_finished()) {
            self.found = done.join().unwrap_or_default();
        }
        if self.looking.is_some() || self.reported == transcript.calls.len() {
            return;
        }
        self.reported = transcript.calls.len();
        let counts = transcript.calls.iter().map(|call| self.found.with(call)).enumerate();
        context.send(SessionsEvent::Copied(counts.filter(|(_, copies)| *copies > 0).collect()));
    }
}

/// Reads what was added to the session since.
fn follow(opened: &mut Box<dyn OpenedSession>, todo: &mut Todo, context: &JobContext) -> Followed {
    match opened.refresh(&Wanted(&context.ticket)) {
        Ok(false) => {}
        Ok(true) => {
            context.send(opened_calls(opened.transcript()));
            *todo = Todo::new(opened.transcript().calls.len());
            return Followed::New;
        }
        Err(error) if context.is_wanted() => {
            context.send(SessionsEvent::Failed(error.to_string().into()));
        }
        Err(_) => {}
    }
    Followed::Same
}

/// Whether there was anything new in a session.
#[derive(PartialEq, Eq)]
enum Followed {
    Same,
    New,
}

fn opened_calls(transcript: &Transcript) -> Event {
    let row = |call: &Call| {
        let thread = transcript.thread(call).filter(|_| call.thread > 0);
        CallRow {
            id: SafeText::from(&*call.id),
            thread: thread.map_or_else(SafeText::default, |thread| SafeText::from(&*thread.name)),
            tool: SafeText::from(transcript.tool(call)),
            at: call.at,
            status: call.status,
            cut: call.cut,
            is_window: call.is_window,
            context: call.first().map(|first| first.context).unwrap_or_default(),
            evidence: call.first().map(|first| first.evidence),
            sizes: None,
            verdict: None,
            copies: 0,
        }
    };
    let (unread, facts) = (&transcript.unread, &transcript.facts);
    let agent = format!("{} {}", transcript.agent, facts.version.as_deref().unwrap_or_default());
    SessionsEvent::Opened(Box::new(OpenedCalls {
        rows: transcript.calls.iter().map(row).collect(),
        agent: agent.trim_end().into(),
        title: words(facts).title,
        unread: unread.in_words().into(),
        is_format_unknown: unread.is_format_unknown(),
    }))
    .into()
}

/// What is still to be found out about the calls: first what is on the screen, then the sizes of all, then whether
/// policies make the same of those that were cut.
struct Todo {
    first: Vec<usize>,
    sizes: usize,
    verdicts: usize,
    len: usize,
}

impl Todo {
    fn new(len: usize) -> Self {
        Self { first: Vec::new(), sizes: 0, verdicts: 0, len }
    }

    fn is_done(&self) -> bool {
        self.first.is_empty() && self.sizes >= self.len && self.verdicts >= self.len
    }

    fn first(&mut self, mut rows: Vec<usize>) {
        rows.reverse();
        self.first = rows;
    }

    /// Takes a step, short enough that requests do not wait long.
    fn step(&mut self, held: &HeldSession) {
        if let Some(index) = self.first.pop() {
            held.size(index..index + 1);
            held.verify(index);
        } else if self.sizes < self.len {
            held.size(self.sizes..(self.sizes + CALLS).min(self.len));
            self.sizes += CALLS;
        } else {
            held.verify(self.verdicts);
            self.verdicts += 1;
        }
    }
}
