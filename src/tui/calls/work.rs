//! The worker that holds the session that is open: reads it, follows it as it grows, works out what its calls lack, and
//! answers what the screens ask of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::env::Env;
use crate::session::copies::RelatedSessions;
use crate::session::list;
use crate::session::model::Call;
use crate::session::reader::{OpenedSession, ReadProgress, SessionFile};
use crate::session::transcript::Transcript;
use crate::text::label::SafeText;
use crate::tui::job::{JobContext, JobRequest, Ticket};
use crate::tui::list::column::SlowFigure;
use crate::tui::recorded::CallRequest;

use super::context::{SessionContext, Verdicts};
use super::rows::CallRow;
use super::{CallsEvent, OpenedCalls};

/// How many calls are looked at before what is known is sent, and requests are heard.
const CALLS: usize = 32;

/// How often a session that is open is looked at for changes.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Reading goes on as long as the job is wanted.
impl ReadProgress for Ticket {
    fn step(&self, _: u64, _: u64) -> bool {
        self.is_wanted()
    }

    fn wanted(&self) -> Option<Arc<dyn Fn() -> bool + Send + Sync>> {
        let ticket = self.clone();
        Some(Arc::new(move || ticket.is_wanted()))
    }
}

/// The same, and reading is reported in percent.
struct Percent<'a> {
    context: &'a JobContext,
    last: AtomicU64,
}

impl ReadProgress for Percent<'_> {
    fn step(&self, done: u64, total: u64) -> bool {
        let percent = (u128::from(done) * 100 / u128::from(total.max(1))) as u64;
        if self.last.swap(percent, Ordering::Relaxed) != percent {
            self.context.send(CallsEvent::Reading(percent));
        }
        self.context.is_wanted()
    }

    fn wanted(&self) -> Option<Arc<dyn Fn() -> bool + Send + Sync>> {
        self.context.ticket.wanted()
    }
}

/// Opens a session and holds it: answers requests, works out what its calls lack, and follows it as it grows, until the
/// requests end.
pub(crate) fn hold(file: &SessionFile, context: &JobContext) {
    let agent = list::format_of(file).map_or("", |format| format.agent());
    let (examiner, requests) = ((context.services.examiner)(agent), context.requests());
    let progress = Percent { context, last: AtomicU64::new(0) };
    let mut opened = match list::open(file, &progress) {
        Ok(opened) => opened,
        Err(error) => {
            context.send(CallsEvent::Failed(error.to_string().into()));
            return;
        }
    };
    if !context.send(opened_calls(opened.transcript())) {
        return;
    }
    let mut todo = Todo::new(opened.transcript().calls.len());
    let mut copies = CopiesElsewhere::look(context.env(), file, &context.ticket);
    let verdicts = Verdicts::default();
    loop {
        let request = next_request(&requests, if todo.is_done() { LOOK_EVERY } else { Duration::ZERO });
        let session = SessionContext {
            file,
            examiner: &examiner,
            transcript: opened.transcript(),
            context,
            verdicts: &verdicts,
        };
        match request {
            Ok(CallRequest::Rows(rows)) => todo.first(rows),
            Ok(CallRequest::Show(index, paths)) => session.show(index, paths),
            Ok(CallRequest::Facts(index)) => session.facts(index),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) if !todo.is_done() => todo.step(&session),
            Err(RecvTimeoutError::Timeout) => {
                copies.report(opened.transcript(), context);
                if follow(&mut opened, &mut todo, context) {
                    verdicts.borrow_mut().clear();
                }
            }
        }
        if !context.is_wanted() {
            return;
        }
    }
}

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
        let look = move || RelatedSessions::find(&env, &file, &ticket);
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
        context.send(CallsEvent::Copied(counts.filter(|(_, copies)| *copies > 0).collect()));
    }
}

/// Reads what was added to the session since. Returns whether there was anything.
fn follow(opened: &mut Box<dyn OpenedSession>, todo: &mut Todo, context: &JobContext) -> bool {
    match opened.refresh(&context.ticket) {
        Ok(false) => {}
        Ok(true) => {
            context.send(opened_calls(opened.transcript()));
            *todo = Todo::new(opened.transcript().calls.len());
            return true;
        }
        Err(error) => drop(context.send(CallsEvent::Failed(error.to_string().into()))),
    }
    false
}

fn opened_calls(transcript: &Transcript) -> CallsEvent {
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
            lost: SlowFigure::default(),
            copies: 0,
        }
    };
    let (unread, facts) = (&transcript.unread, &transcript.facts);
    let agent = format!("{} {}", transcript.agent, facts.version.as_deref().unwrap_or_default());
    CallsEvent::Opened(Box::new(OpenedCalls {
        rows: transcript.calls.iter().map(row).collect(),
        now: crate::env::now(),
        agent: agent.trim_end().into(),
        title: facts.title.as_deref().and_then(|title| title.lines().next()).unwrap_or_default().into(),
        unread: unread.in_words().into(),
        is_format_unknown: unread.is_format_unknown(),
    }))
}

/// What is still to be found out about the calls: first what is on the screen, then the sizes of all, then of those that
/// were cut, which errors were lost, and whether policies make the same.
struct Todo {
    first: Vec<usize>,
    sizes: usize,
    lost: usize,
    verdicts: usize,
    len: usize,
}

impl Todo {
    fn new(len: usize) -> Self {
        Self { first: Vec::new(), sizes: 0, lost: 0, verdicts: 0, len }
    }

    fn is_done(&self) -> bool {
        self.first.is_empty() && [self.sizes, self.lost, self.verdicts].iter().all(|done| *done >= self.len)
    }

    fn first(&mut self, mut rows: Vec<usize>) {
        rows.reverse();
        self.first = rows;
    }

    /// Takes a step, short enough that requests do not wait long.
    fn step(&mut self, session: &SessionContext) {
        if let Some(index) = self.first.pop() {
            session.size(index..index + 1);
            session.count_lost(index);
            session.verify(index);
        } else if self.sizes < self.len {
            session.size(self.sizes..(self.sizes + CALLS).min(self.len));
            self.sizes += CALLS;
        } else if self.lost < self.len {
            session.count_lost(self.lost);
            self.lost += 1;
        } else {
            session.verify(self.verdicts);
            self.verdicts += 1;
        }
    }
}
