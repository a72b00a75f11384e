//! The worker that holds the session that is open: reads and follows it, and works out what its calls lack.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use crate::base::lock;
use crate::corpus::examiner;
use crate::output::recorded::{CallFacts, CallRequest, ReadyCall};
use crate::rows::calls::{CallRow, CallSizes};
use crate::rows::lost::ModelShare;
use crate::session::copies::CopySearch;
use crate::session::examine::{CallInspector, Paths};
use crate::session::list;
use crate::session::reader::{OpenedSession, ReadProgress, SessionFile};
use crate::session::transcript::Transcript;
use crate::session::verdict::Verdict;
use crate::tui::event::{Event, Message};
use crate::tui::job::{JobContext, Ticket};

use super::{CallsEvent, OpenedCalls};

/// How many calls are looked at before what is known is sent, and requests are heard.
const CALLS: usize = 32;

const LOOK_EVERY: Duration = Duration::from_millis(500);

impl ReadProgress for Ticket {
    fn step(&self, _: u64, _: u64) -> bool {
        self.is_wanted()
    }

    fn wanted_check(&self) -> Option<Arc<dyn Fn() -> bool + Send + Sync>> {
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

    fn wanted_check(&self) -> Option<Arc<dyn Fn() -> bool + Send + Sync>> {
        self.context.ticket.wanted_check()
    }
}

pub(crate) fn hold(file: &SessionFile, context: &JobContext) {
    let agent = list::format_of(file).map_or("", |format| format.info.agent);
    let (examiner, requests) =
        (examiner(&context.services.config, agent, Paths::Known), lock(&context.requests));
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
    let mut pending = PendingWork { len: opened.transcript().calls.len(), ..PendingWork::default() };
    let mut copies = CopySearch::start(context.env(), file, context.ticket.clone());
    let verdicts = RefCell::default();
    loop {
        let request = requests.recv_timeout(if pending.is_done() { LOOK_EVERY } else { Duration::ZERO });
        let session = SessionContext {
            of: CallInspector { examiner: &examiner, file, transcript: opened.transcript(), copy: None },
            context,
            verdicts: &verdicts,
        };
        match request {
            Ok(CallRequest::Rows(rows)) => pending.first = rows.into_iter().rev().collect(),
            Ok(CallRequest::Show(index, paths)) => session.show(index, paths),
            Ok(CallRequest::Facts(index)) => session.facts(index),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) if !pending.is_done() => pending.step(&session),
            Err(RecvTimeoutError::Timeout) => {
                if let Some(copies) = copies.news(opened.transcript()) {
                    context.send(CallsEvent::Copied(copies));
                }
                if follow(&mut opened, &mut pending, context) {
                    verdicts.borrow_mut().clear();
                }
            }
        }
        if !context.is_wanted() {
            return;
        }
    }
}

fn follow(opened: &mut Box<dyn OpenedSession>, pending: &mut PendingWork, context: &JobContext) -> bool {
    let has_grown = opened.refresh(&context.ticket).unwrap_or_else(|error| {
        context.send(CallsEvent::Failed(error.to_string().into()));
        false
    });
    if has_grown {
        context.send(opened_calls(opened.transcript()));
        *pending = PendingWork { len: opened.transcript().calls.len(), ..PendingWork::default() };
    }
    has_grown
}

fn opened_calls(transcript: &Transcript) -> CallsEvent {
    let (unread, facts) = (&transcript.unread, &transcript.facts);
    let agent = format!("{} {}", transcript.agent, facts.version.as_deref().unwrap_or_default());
    CallsEvent::Opened(Box::new(OpenedCalls {
        rows: transcript.calls.iter().map(|call| CallRow::new(transcript, call)).collect(),
        now: crate::base::env::now(),
        agent: agent.trim_end().into(),
        title: facts.title.as_deref().and_then(|title| title.lines().next()).unwrap_or_default().into(),
        unread: unread.describe().into(),
        is_format_unknown: unread.is_format_unknown(),
    }))
}

/// Pending work: everything about calls on the screen, then sizes, then losses and verdicts of cut ones.
#[derive(Default)]
struct PendingWork {
    first: Vec<usize>,
    sizes: usize,
    lost: usize,
    verdicts: usize,
    len: usize,
}

impl PendingWork {
    fn is_done(&self) -> bool {
        self.first.is_empty() && [self.sizes, self.lost, self.verdicts].iter().all(|done| *done >= self.len)
    }

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

struct SessionContext<'a> {
    of: CallInspector<'a>,
    context: &'a JobContext,
    /// Verdicts on calls by their numbers, so that opening a call does not compare it twice.
    verdicts: &'a RefCell<BTreeMap<usize, Verdict>>,
}

impl SessionContext<'_> {
    fn size(&self, range: Range<usize>) {
        let sizes = |index: usize| {
            let call = self.of.transcript.calls.get(index)?;
            Some((index, CallSizes::find(&self.of, call, &mut |_| {})))
        };
        self.context.send(CallsEvent::Sized(range.filter_map(sizes).collect()));
    }

    fn count_lost(&self, index: usize) {
        let Some(call) = self.of.transcript.calls.get(index).filter(|call| call.is_cut()) else { return };
        let share = ModelShare::from_call(&self.of, call, &self.context.services.severities);
        self.context.send(CallsEvent::Measured(index, share));
    }

    fn verdict(&self, index: usize) -> Option<Verdict> {
        self.verdicts.borrow().get(&index).cloned()
    }

    fn verify(&self, index: usize) {
        let Some(call) = self.of.transcript.calls.get(index).filter(|call| call.is_partial()) else { return };
        let verdict = self.verdict(index).unwrap_or_else(|| self.of.verify(call));
        self.verdicts.borrow_mut().insert(index, verdict.clone());
        self.context.send(CallsEvent::Verified(index, verdict));
    }

    fn show(&self, index: usize, paths: Paths) {
        match self.ready(index, paths) {
            Ok(ready) => self.context.send(CallsEvent::Ready(Box::new(ready))),
            Err(words) => self.context.send(Event::Message(Message::note(words))),
        };
    }

    fn ready(&self, index: usize, paths: Paths) -> Result<ReadyCall, String> {
        let call = self.of.transcript.calls.get(index).ok_or("the call is gone from the records")?;
        let mut ready = ReadyCall::read(&self.of, call, paths, self.verdict(index))?;
        ready.recorded.index = Some(index);
        if let Some(verdict) = &ready.recorded.check {
            self.verdicts.borrow_mut().insert(index, verdict.clone());
        }
        Ok(ready)
    }

    fn facts(&self, index: usize) {
        let Some(call) = self.of.transcript.calls.get(index) else { return };
        let facts = self.of.facts(call, self.of.best(call).first.as_ref());
        let facts = CallFacts { facts, texts: self.of.texts(call) };
        self.context.send(CallsEvent::Facts(index, Box::new(facts)));
    }
}
