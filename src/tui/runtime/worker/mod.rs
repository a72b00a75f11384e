//! Slow work on separate threads, such as counting lines and searching. Each worker checks at every chunk whether it is
//! still wanted; all report over one channel.

pub(crate) mod calls;
mod comparing;
mod held;
pub(crate) mod scans;
pub(crate) mod sessions;
pub(crate) mod sift;
pub(crate) mod stores;
pub(crate) mod ticket;
mod tune;

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::{Receiver, SendError, Sender, TryRecvError, channel, sync_channel};
use std::time::Duration;

use crate::session::reader::SessionFile;
use crate::source::{Hold, MapView};
use crate::store::{self, Entry, Env, Marked, Stores};
use crate::text::search::Pattern;
use crate::tui::event::{Event, Message, OutputEvent, StoresEvent};
use crate::tui::pager::advice::KeepRequest;
use crate::tui::pager::counted::Uncounted;
use crate::tui::pager::filter::job::SiftJob;
use crate::tui::pager::making::{Making, Planned};
use crate::tui::pager::search::job::{CountJob, Counting, Found, SearchJob};
use crate::tui::sessions::job::{CallRequest, SumTask};
use crate::tui::stores::details::{self, Lines};
use crate::tui::stores::glance::Glance;
use crate::tui::stores::reading::TextTask;
use crate::tui::stores::sort::{SortedEntries, Task};

use super::signal::Signal;
use super::terminal::{self, ThreadRole};
use super::{Finder, Follower, Opener};
use scans::{Background, Gate};
use sessions::ExaminerOf;
use ticket::{Reporter, Ticket};

/// How long the loop waits for a preview, about two frames: a preview made by then appears in the next frame, not one
/// later.
const SOON: Duration = Duration::from_millis(30);

/// How long the loop waits for a preview beside the list. It is half as long, because a key held down repeats about
/// every 30 ms.
const BESIDE: Duration = Duration::from_millis(15);

/// Starts workers, and makes them stop when newer work replaces theirs.
#[derive(Debug)]
pub struct Jobs {
    events: Reporter,
    places: Arc<(Stores, Env)>,
    counting: Arc<AtomicU64>,
    searching: Arc<AtomicU64>,
    tallying: Arc<AtomicU64>,
    noticing: [Arc<AtomicU64>; 2],
    sifting: Arc<AtomicU64>,
    looking: Arc<AtomicU64>,
    arranging: Arc<AtomicU64>,
    planning: Arc<AtomicU64>,
    glancing: Arc<AtomicU64>,
    weighing: Arc<AtomicU64>,
    grepping: Arc<AtomicU64>,
    tuning: Arc<AtomicU64>,
    reading: Arc<AtomicU64>,
    advising: Arc<AtomicU64>,
    comparing: Arc<AtomicU64>,
    pairing: Arc<AtomicU64>,
    keeping: Arc<AtomicU64>,
    finding: Arc<AtomicU64>,
    summing: Arc<AtomicU64>,
    holding: Arc<AtomicU64>,
    /// The requests to the worker that holds the open session.
    session: RefCell<Option<Sender<CallRequest>>>,
    /// The sessions as they were listed last.
    listed: stores::SessionsListed,
    /// For each request to keep an entry: receives the error, or `None`, once the request is done.
    kept: RefCell<Vec<Receiver<Option<String>>>>,
    /// Where a filter waits for a search.
    searches: Gate,
    /// Where counts wait for a search and for a filter.
    counts: Gate,
}

impl Jobs {
    /// Creates the workers' owner. Workers report over `signals`.
    pub fn new(signals: Sender<Signal>, stores: Stores, env: Env) -> Self {
        let never = || Arc::new(AtomicU64::new(0));
        Self {
            events: Reporter::new(signals),
            places: Arc::new((stores, env)),
            counting: never(),
            searching: never(),
            tallying: never(),
            noticing: [never(), never()],
            sifting: never(),
            looking: never(),
            arranging: never(),
            planning: never(),
            glancing: never(),
            weighing: never(),
            grepping: never(),
            tuning: never(),
            reading: never(),
            advising: never(),
            comparing: never(),
            pairing: never(),
            keeping: never(),
            finding: never(),
            summing: never(),
            holding: never(),
            session: RefCell::default(),
            listed: stores::SessionsListed::default(),
            kept: RefCell::default(),
            searches: Gate::default(),
            counts: Gate::default(),
        }
    }

    /// Counts the blocks of `view` from `from` on; an earlier count is abandoned.
    pub fn count(&self, view: &MapView, number: u64, from: Uncounted) {
        let (view, background) = (view.clone(), self.background(&self.counting));
        self.spawn("count", move || scans::count(&view, number, from, &background));
    }

    /// Searches for a match; an earlier search is abandoned, and counting waits meanwhile.
    pub fn search(&self, job: SearchJob) {
        let ticket = Ticket::next(&self.searching);
        let (events, searches, counts) = (self.events.clone(), self.searches.clone(), self.counts.clone());
        self.spawn("search", move || {
            let passing = (searches.pass(), counts.pass());
            let reply = scans::seek(&job, &ticket);
            drop(passing);
            if ticket.is_wanted() {
                events.send(OutputEvent::Found(Found { number: job.number, reply }));
            }
        });
    }

    /// Counts all matches, or errors, in a file; an earlier count of the same is abandoned.
    pub fn count_matches(&self, job: CountJob) {
        let background = self.background(match job.what {
            Counting::Matches => &self.tallying,
            Counting::Severity(severity) => &self.noticing[severity as usize],
        });
        self.spawn("matches", move || scans::tally(&job, &background));
    }

    /// Counts the lines that a filter shows, and counting of all else waits meanwhile; an earlier one is abandoned.
    pub fn sift(&self, job: SiftJob) {
        let background = Background { gate: self.searches.clone(), ..self.background(&self.sifting) };
        let counts = self.counts.clone();
        self.spawn("filter", move || {
            let _passing = counts.pass();
            sift::run(&job, &background);
        });
    }

    /// Abandons counting the lines that a filter shows.
    pub fn stop_sift(&self) {
        Ticket::next(&self.sifting);
    }

    fn background(&self, newest: &Arc<AtomicU64>) -> Background {
        Background { ticket: Ticket::next(newest), gate: self.counts.clone(), events: self.events.clone() }
    }

    /// Scans all stores; an earlier scan is abandoned. Entries are sent as they are found. Afterwards the directories
    /// are watched until the next scan.
    pub fn scan(&self, number: u64) {
        let (events, places) = (self.events.clone(), self.places.clone());
        let ticket = Ticket::next(&self.looking);
        self.spawn("stores", move || stores::look(number, &places, &ticket, &events));
    }

    /// Finds the sessions that agents recorded; an earlier listing is abandoned.
    pub fn list_sessions(&self, number: u64) {
        let (events, places) = (self.events.clone(), self.places.clone());
        let ticket = Ticket::next(&self.finding);
        self.spawn("sessions", move || sessions::find(number, &places.1, &ticket, &events));
    }

    /// Sums up the calls of sessions; an earlier request is abandoned.
    pub fn sum_sessions(&self, task: SumTask) {
        let (events, uid) = (self.events.clone(), self.places.1.uid());
        let ticket = Ticket::next(&self.summing);
        self.spawn("sums", move || sessions::sum(&task, uid, &ticket, &events));
    }

    /// Abandons finding sessions and summing up their calls.
    pub fn stop_sessions(&self) {
        [&self.finding, &self.summing].into_iter().for_each(|newest| drop(Ticket::next(newest)));
    }

    /// Opens a session and holds it; an earlier one is closed.
    pub fn open_session(&self, file: Arc<SessionFile>, examiner: ExaminerOf) {
        let (send, requests) = channel();
        *self.session.borrow_mut() = Some(send);
        Ticket::next(&self.summing);
        let (events, ticket) = (self.events.clone(), Ticket::next(&self.holding));
        let places = self.places.clone();
        self.spawn("session", move || {
            let agent = crate::session::list::format_of(&file).map_or("", |format| format.agent());
            sessions::hold(&places.1, &file, &examiner(agent), &requests, &ticket, &events);
        });
    }

    /// Closes the open session.
    pub fn close_session(&self) {
        *self.session.borrow_mut() = None;
        Ticket::next(&self.holding);
    }

    /// Asks the worker that holds the open session.
    pub fn ask_session(&self, request: CallRequest) {
        if let Some(session) = &*self.session.borrow() {
            // A worker that has ended has said why.
            let _ = session.send(request);
        }
    }

    /// Sorts entries; an earlier task is abandoned.
    pub fn sort(&self, task: Task) {
        let events = self.events.clone();
        let ticket = Ticket::next(&self.arranging);
        self.spawn("order", move || {
            if let Some(sorted) = SortedEntries::new(&task, || ticket.is_wanted()) {
                events.send(StoresEvent::Sorted(Box::new(sorted)));
            }
        });
    }

    /// Deletes entries and reports the result.
    pub fn delete(&self, to_delete: Vec<Marked>) {
        let (events, places) = (self.events.clone(), self.places.clone());
        self.spawn("delete", move || {
            events.send(Event::Deleted(delete(&to_delete, &places.1)));
        });
    }

    /// Keeps an entry forever, or no longer: overspill's own in place, another agent's as a copy in overspill's store.
    pub fn keep(&self, entry: Entry, keep: bool) {
        let (events, places) = (self.events.clone(), self.places.clone());
        let ticket = Ticket::next(&self.keeping);
        let (tell, told) = channel();
        self.kept.borrow_mut().push(told);
        self.spawn("keep", move || {
            let mut goes_on = |bytes| ticket.is_wanted() && events.send(StoresEvent::Copied(bytes));
            let done = set_kept(&entry, keep, &places.1, &mut goes_on);
            let fault = done.as_ref().err().cloned();
            // The receiver is only read on quitting.
            let _ = tell.send(fault.clone());
            if fault.is_some() && !ticket.is_wanted() {
                return;
            }
            let id = done.unwrap_or_else(|_| entry.id().into_owned());
            events.send(StoresEvent::Kept { id, keep, fault });
        });
    }

    /// Abandons copying an entry to keep it.
    pub fn stop_keeping(&self) {
        Ticket::next(&self.keeping);
    }

    /// Waits for pending requests to keep entries. Returns an error that the screens have not shown, if there is one.
    pub fn finish_keeping(&self) -> Option<String> {
        let unfinished = |told: &Receiver<_>| told.try_recv() == Err(TryRecvError::Empty);
        let left: Vec<_> = self.kept.take().into_iter().filter(unfinished).collect();
        left.into_iter().filter_map(|told| told.recv().ok().flatten()).last()
    }

    /// Reads the first lines of some entries, and the records of their runs.
    pub fn peek(&self, entries: Vec<Entry>) {
        let (events, places) = (self.events.clone(), self.places.clone());
        self.spawn("first lines", move || {
            let read = |entry: Entry| {
                let peek = details::peek(&entry, &places.1);
                (entry, peek)
            };
            events.send(StoresEvent::Peeked(entries.into_iter().map(read).collect()));
        });
    }

    /// Reads what the filter searches of all entries; an earlier task is abandoned.
    pub fn read_texts(&self, task: TextTask) {
        let (events, places) = (self.events.clone(), self.places.clone());
        let ticket = Ticket::next(&self.reading);
        self.spawn("texts", move || {
            let number = task.number;
            task.run(&places.1, &|| ticket.is_wanted(), &mut |batch, text| {
                events.send(StoresEvent::TextRead { number, batch, text })
            });
        });
    }

    /// Finds out how much of each entry the model got; an earlier request is abandoned.
    pub fn weigh(&self, entries: Vec<Entry>, opener: Opener) {
        let (events, ticket) = (self.events.clone(), Ticket::next(&self.weighing));
        let places = self.places.clone();
        self.spawn("model got", move || stores::weigh(entries, (&places.1, &opener), &ticket, &events));
    }

    /// Searches all stored outputs; an earlier search is abandoned.
    pub fn grep(&self, number: u64, pattern: Pattern, finder: Finder) {
        let (events, ticket) = (self.events.clone(), Ticket::next(&self.grepping));
        self.spawn("grep", move || {
            let goes_on = || ticket.is_wanted();
            let end = finder(&pattern, &goes_on, &mut |lines| {
                goes_on() && events.send(StoresEvent::Hits(number, lines))
            });
            events.send(StoresEvent::HitsEnd(number, end));
        });
    }

    /// Follows the stores until the program quits.
    pub fn follow(&self, follower: Follower) {
        let events = self.events.clone();
        self.spawn("watch", move || follower(&mut |news| events.send(Event::Watch(news))));
    }

    /// Abandons the search through all outputs.
    pub fn stop_grep(&self) {
        _ = Ticket::next(&self.grepping);
    }

    /// Looks for the calls that entries are of, one after the other, until the program quits.
    pub fn find_calls(&self, entries: Vec<Entry>) {
        let (events, places) = (self.events.clone(), self.places.clone());
        let listed = self.listed.clone();
        self.spawn("calls", move || stores::find_calls(entries, &places.1, &listed, &events));
    }

    /// Counts the lines of some entries, one entry after the other, until the program quits.
    pub fn count_lines(&self, entries: Vec<Entry>) {
        let events = self.events.clone();
        self.spawn("lines", move || {
            for entry in entries {
                let counted = store::count_lines(&entry);
                let lines = counted.map_or_else(|error| Lines::Failed(error.to_string()), Lines::Counted);
                if !events.send(StoresEvent::LinesCounted(Box::new(entry), lines)) {
                    return;
                }
            }
        });
    }

    /// Makes the preview of the output being viewed; an earlier one is abandoned. That of a small output is made at
    /// once. Another one is made by a worker: if it is ready soon it is returned, so that no frame is drawn without it;
    /// otherwise it is reported later.
    pub fn plan(&self, task: Making) -> Option<Box<Planned>> {
        if task.is_small() {
            self.stop_plan();
            return task.run(&|| true).map(Box::new);
        }
        let patience = if task.asked { SOON } else { Duration::ZERO };
        self.make("plan", (&self.planning, patience), move |wanted| task.run(wanted), OutputEvent::Planned)
    }

    /// Opens an entry and makes its preview, to be shown beside the list; an earlier one is abandoned. It is returned
    /// or reported as in [`Self::plan`].
    pub fn glance(&self, path: PathBuf, opener: Opener) -> Option<Box<Glance>> {
        let work = move |wanted: &dyn Fn() -> bool| match opener(&path, Hold::No) {
            Ok(target) => Glance::of(path, target.subject, target.source.view(), wanted),
            Err(_) => Some(Glance::awaited(path)),
        };
        self.make("glance", (&self.glancing, BESIDE), work, StoresEvent::Glanced)
    }

    /// Has a worker make something; earlier work of the same kind is abandoned. The result is returned if it is ready
    /// within the patience given, otherwise reported as an event.
    fn make<T: Send + 'static, E: Into<Event> + 'static>(
        &self,
        name: &str,
        (newest, patience): (&Arc<AtomicU64>, Duration),
        work: impl FnOnce(&dyn Fn() -> bool) -> Option<T> + Send + 'static,
        event: fn(Box<T>) -> E,
    ) -> Option<Box<T>> {
        let (events, ticket) = (self.events.clone(), Ticket::next(newest));
        let (here, soon) = sync_channel(0);
        self.spawn(name, move || {
            let wanted = || ticket.is_wanted();
            let made = catch_unwind(AssertUnwindSafe(|| work(&wanted)));
            match made {
                Ok(Some(made)) => {
                    // The channel has no buffer: this succeeds only while the caller still waits.
                    if let Err(SendError(made)) = here.send(Box::new(made)) {
                        events.send(event(made));
                    }
                }
                Ok(None) => {}
                // A plan that was told to stop may panic over figures that it was no longer given; ignore that.
                Err(fault) if ticket.is_wanted() => resume_unwind(fault),
                Err(_) => {}
            }
        });
        soon.recv_timeout(patience).ok()
    }

    /// Abandons the preview being made.
    pub fn stop_plan(&self) {
        Ticket::next(&self.planning);
    }

    /// Finds the change of limits that keeps a line; an earlier request is dropped.
    pub fn advise(&self, options: KeepRequest) {
        let (events, ticket) = (self.events.clone(), Ticket::next(&self.advising));
        self.spawn("advice", move || {
            let change = options.fulfil(&|| ticket.is_wanted());
            if ticket.is_wanted() {
                events.send(OutputEvent::Advised(options.number(), change));
            }
        });
    }

    /// Abandons searching and counting matches.
    pub fn stop_search(&self) {
        Ticket::next(&self.searching);
        Ticket::next(&self.tallying);
    }

    /// Starts a worker. If it fails, the status line reports it and the screens go on.
    fn spawn(&self, name: &str, work: impl FnOnce() + Send + 'static) {
        self.start(name, Box::new(work));
    }

    /// Does the same. It is compiled once, not for each worker.
    fn start(&self, name: &str, work: Box<dyn FnOnce() + Send>) {
        let events = self.events.clone();
        let guarded = move || {
            terminal::play(ThreadRole::Caught);
            if catch_unwind(AssertUnwindSafe(work)).is_err() {
                events.send(Event::Told(Message::error("a worker failed; what it was counting is missing")));
            }
        };
        if let Err(error) = std::thread::Builder::new().name(name.to_owned()).spawn(guarded) {
            self.events.send(Event::Told(Message::error(format!("cannot start a thread: {error}"))));
        }
    }
}

/// Stops the copy being made and waits for it, so that none is left half done, however the screens end.
impl Drop for Jobs {
    fn drop(&mut self) {
        self.stop_keeping();
        self.finish_keeping();
    }
}

/// Deletes entries by the rules of their stores. Returns a message with the result.
pub fn delete(to_delete: &[Marked], env: &Env) -> Message {
    let now = crate::env::now();
    let mut cleaner = match store::Cleaner::start(env) {
        Ok(Some(cleaner)) => cleaner,
        Ok(None) => return Message::error("another cleaning is under way; nothing was deleted"),
        Err(error) => return Message::error(format!("nothing was deleted: {error}")),
    };
    let (mut gone, mut bytes, mut stayed) = (0, 0, Vec::new());
    for Marked { entry, why, mode } in to_delete {
        match cleaner.delete(entry, *why, *mode, env, now) {
            store::DeleteOutcome::Deleted | store::DeleteOutcome::AlreadyGone => {
                gone += 1;
                bytes = u64::saturating_add(bytes, entry.size());
            }
            store::DeleteOutcome::Stayed(reason) => {
                stayed.push(format!("{}: {}", entry.id(), reason.as_str()))
            }
        }
    }
    let done = format!("{} deleted, {}", crate::human::thousands(gone), crate::human::size(bytes));
    match stayed.first() {
        None if cleaner.unlogged().is_some() => {
            Message::error(format!("{done}; {}", cleaner.unlogged().unwrap_or_default()))
        }
        None => Message::note(done),
        Some(first) => Message::error(format!("{done}; {} stayed: {first}", stayed.len())),
    }
}

/// Keeps an entry, or stops keeping it. Returns its id in overspill's own store.
fn set_kept(
    entry: &Entry,
    keep: bool,
    env: &Env,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<String, String> {
    let own = store::OwnStore::create(env).map_err(|error| error.to_string())?;
    let done = match (entry.is_own(), keep) {
        (true, true) => own.keep(&entry.id()).map(|()| entry.id().into_owned()),
        (true, false) => own.unkeep(&entry.id()).map(|()| entry.id().into_owned()),
        (false, _) => own.adopt(entry, crate::env::now(), goes_on),
    };
    done.map_err(|error| format!("{}: {error}", entry.id()))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_worker_that_panics_says_so_and_others_go_on() {
        let (signals, received) = channel();
        let env = Env::hermetic(std::path::Path::new("/nowhere"));
        let jobs = Jobs::new(signals, Stores::builtin(), env);
        jobs.spawn("count", || panic!("a worker's fault"));
        let told = received.recv().unwrap();
        assert!(matches!(told, Signal::App(Event::Told(message)) if message.is_error), "an error line");
        let events = jobs.events.clone();
        jobs.spawn("count", move || assert!(events.send(Event::StoresChanged)));
        assert!(matches!(received.recv().unwrap(), Signal::App(Event::StoresChanged)));
    }
}
