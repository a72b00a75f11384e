//! The event loop: takes in events, updates the state, carries out effects, and draws the screen when something
//! changed.

pub(crate) mod editor;
mod frame;
pub(crate) mod keyboard;
mod live;
mod modes;
mod news;
mod outside;
mod recorded;
pub(crate) mod signal;
pub(crate) mod terminal;
mod viewed;
pub(crate) mod worker;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use crate::corpus::{FindEnd, FoundLine, TuneFault, TuneRequest, TuneRun, WatchNews};
use crate::source::{Change, Hold, Identity, PathStatus, Source, Watcher};
use crate::store::{Env, Marked, Stores};
use crate::text::search::{Pattern, SeverityPatterns};

use super::app::App;
use super::event::{Changed, Effect, Effects, Event, Message, OutputEvent};
use super::keys::KeyMap;
use super::pager::subject::{Choice, StartAt, Subject};
use super::tune::job::{TuneEvent, TuneStart};
use super::widget::canvas::Canvas;
use super::widget::theme::Theme;
use keyboard::Keyboard;
use signal::{Inbox, Signal};
use terminal::{Outside, TerminalScreen};
use viewed::Viewed;
use worker::Jobs;
use worker::sessions::ExaminerOf;

pub use news::{Completed, Live, LiveNews, Maker, Parting};

/// Opens an output by its path, or returns an error message.
pub type Opener = Arc<dyn Fn(&Path, Hold) -> Result<Target, String> + Send + Sync>;

/// Finds the matching lines of all stored outputs: asks whether to go on, and passes on lines until nobody takes them.
pub type Finder = Arc<
    dyn Fn(&Pattern, &(dyn Fn() -> bool + Sync), &mut (dyn FnMut(Vec<FoundLine>) -> bool + Send)) -> FindEnd
        + Send
        + Sync,
>;

/// Follows the stores for as long as their news are taken.
pub type Follower = Box<dyn FnOnce(&mut dyn FnMut(WatchNews) -> bool) + Send>;
/// Lists outputs, and resolves the policies to measure them under.
pub type TunePreparer = Arc<dyn Fn(TuneRequest) -> Result<TuneRun, TuneFault> + Send + Sync>;

/// Loads the policy of a name, or all policies, with their limits.
pub type Chooser = Box<dyn Fn(Option<&str>) -> Vec<Choice>>;

/// What the screens start with.
pub struct Start {
    /// The outputs to show. If there are none, the list of stored outputs is shown.
    pub targets: Vec<Target>,
    /// Follows the stores, to show the list of new outputs, if that is wanted.
    pub follower: Option<Follower>,
    /// Where to open outputs, by their index, if not at their beginning.
    pub places: BTreeMap<usize, StartAt>,
    /// Opens an entry of a store.
    pub opener: Opener,
    /// Searches all stored outputs.
    pub finder: Finder,
    /// Prepares measuring outputs under many settings.
    pub preparer: TunePreparer,
    /// What the Tune view shows, if the screens begin with it.
    pub tune: Option<TuneStart>,
    /// Loads policies.
    pub chooser: Chooser,
    /// Makes what examines the calls of an agent's sessions.
    pub examiner: ExaminerOf,
    /// The stores to browse.
    pub stores: Stores,
    /// The environment in which the stores lie.
    pub env: Env,
    /// What is still making the first output, if anything is.
    pub live: Option<Live>,
    pub theme: Theme,
    pub severities: SeverityPatterns,
    /// Whether the terminal can show characters beyond ASCII.
    pub unicode: bool,
    /// The keys in use.
    pub keys: &'static KeyMap,
    /// What to say once, until the first key.
    pub notice: Option<String>,
}

/// An output to show.
pub struct Target {
    /// What the output is, and how it was cut.
    pub subject: Subject,
    /// The bytes of the output.
    pub source: Source,
}

/// Shows the screens until the user quits, or a signal ends them; nothing is deleted then.
///
/// # Errors
/// If the terminal cannot be used.
pub fn run(start: Start) -> io::Result<Parting> {
    let left = show(start);
    match terminal::ended_by() {
        // Errors of a terminal that was closed are no news.
        Some(signal) => Ok(Parting { words: Vec::new(), signal: Some(signal) }),
        None => left,
    }
}

fn show(start: Start) -> io::Result<Parting> {
    let (signals, received) = channel();
    let told = signals.clone();
    let (taken, screen) = terminal::take(move |news| {
        let signal = match news {
            Outside::Pause => Signal::Pause,
            Outside::GoesOn => Signal::GoesOn,
            Outside::Failed(words) => Signal::App(Event::Told(Message::error(words))),
            Outside::Panicked(panic) => Signal::Panicked(panic),
        };
        let _ = told.send(signal);
    })?;
    let gone = signals.clone();
    // If no thread can be started, the next key or frame notices that the terminal is gone.
    let _ = terminal::on_close(move || {
        let _ = gone.send(Signal::TerminalGone(None));
    });
    let size = screen.size()?.into();
    let (theme, unicode, keys) = (start.theme, start.unicode, start.keys);
    let mut session = Session {
        app: App::new(Canvas { size, theme, unicode, keys }),
        jobs: Jobs::new(signals.clone(), start.stores, start.env.clone()),
        keyboard: Keyboard::start(signals.clone())?,
        signals,
        screen,
        viewed: Vec::new(),
        file: 0,
        watcher: None,
        files: Vec::new(),
        places: start.places,
        opener: start.opener,
        finder: start.finder,
        preparer: start.preparer,
        chooser: start.chooser,
        examiner: start.examiner,
        maker: None,
        key_repeats: false,
        postponed: Vec::new(),
        left: false,
        to_delete: Vec::new(),
        fault: None,
    };
    session.app.severities = start.severities;
    let env = start.env;
    if let Some(live) = start.live {
        session.expect(live)?;
    }
    session.files = start.targets.into_iter().map(Some).collect();
    let mut effects = Effects::default();
    if let Some(follower) = start.follower {
        session.app.update(Event::ToWatch, &mut effects);
        session.jobs.follow(follower);
    } else if let Some(tune) = start.tune {
        session.app.update(TuneEvent::Start(Box::new(tune)), &mut effects);
    } else if session.files.is_empty() {
        session.app.update(Event::ToStores, &mut effects);
    } else {
        session.open_file(0, &mut effects);
    }
    if let Some(notice) = start.notice {
        session.app.update(Event::Told(Message::error(notice)), &mut effects);
    }
    let (first, rest): (Vec<_>, Vec<_>) =
        effects.into_iter().partition(|effect| matches!(effect, Effect::Plan(_)));
    session.carry_out(first)?;
    session.draw()?;
    session.carry_out(rest)?;
    session.go(&mut Inbox::new(received))?;
    if let Some(fault) = session.fault.take() {
        return Err(fault);
    }
    if terminal::ended_by().is_some() {
        return Ok(Parting::default());
    }
    let to_delete = std::mem::take(&mut session.to_delete);
    session.let_go(&to_delete);
    drop(taken);
    let not_kept = session.jobs.finish_keeping();
    let deleted = (!to_delete.is_empty()).then(|| worker::delete(&to_delete, &env).text);
    Ok(Parting {
        words: not_kept.into_iter().map(crate::text::label::SafeText::from).chain(deleted).collect(),
        signal: None,
    })
}

struct Session {
    app: App,
    /// The outputs named on the command line, except the one being viewed, which is taken out.
    files: Vec<Option<Target>>,
    /// Where to open them the first time.
    places: BTreeMap<usize, StartAt>,
    jobs: Jobs,
    signals: Sender<Signal>,
    screen: TerminalScreen,
    /// The outputs on the stack of the screens, in its order; the last one is watched.
    viewed: Vec<Viewed>,
    /// The index of the named output that was viewed last, 0-based.
    file: usize,
    watcher: Option<Watcher>,
    keyboard: Keyboard,
    opener: Opener,
    finder: Finder,
    preparer: TunePreparer,
    chooser: Chooser,
    examiner: ExaminerOf,
    /// What is making the first output, until it is complete.
    maker: Option<Maker>,
    /// Whether the same key waits behind the one being handled.
    key_repeats: bool,
    /// What a key asked for that is held down: carried out with its last press, unless that asks for it again.
    postponed: Vec<Effect>,
    left: bool,
    /// What to delete once the screens are left, because the user said so.
    to_delete: Vec<Marked>,
    /// Why the terminal cannot be read.
    fault: Option<io::Error>,
}

impl Session {
    fn tell(&mut self, message: Message) {
        self.app.update(Event::Told(message), &mut Effects::default());
    }

    /// Handles all signals that have arrived, then draws once; repeats until the user quits. Progress waits for the
    /// next frame; what the user waits for does not, nor does the end of counting.
    fn go(&mut self, inbox: &mut Inbox) -> io::Result<()> {
        let mut drawn = Instant::now();
        while !self.left {
            let Some(signal) = inbox.recv() else { return Ok(()) };
            let mut patience = self.take(signal, inbox)?;
            while !self.left {
                let rest = patience.saturating_sub(drawn.elapsed());
                let Some(signal) = inbox.recv_timeout(rest) else { break };
                patience = patience.min(self.take(signal, inbox)?);
            }
            self.draw()?;
            drawn = Instant::now();
        }
        Ok(())
    }

    /// Handles a signal, and with it the keys that wait and go on with it. Returns how long the result may wait to be
    /// drawn.
    fn take(&mut self, signal: Signal, inbox: &mut Inbox) -> io::Result<Duration> {
        let signal = if self.app.is_typing() { inbox.join_typed(signal) } else { signal };
        self.key_repeats = inbox.repeats(&signal);
        let (patience, known) = (signal.patience(), self.known());
        let mut effects = Effects::default();
        match signal {
            Signal::App(event) => self.app.update(event, &mut effects),
            Signal::Look => self.look(&mut effects),
            Signal::Live(news) => self.hear(news, &mut effects),
            Signal::TerminalGone(fault) => {
                self.fault = fault;
                effects.push(Effect::Quit(Vec::new()));
            }
            // The panic has already been printed.
            Signal::Panicked(panic) => std::panic::resume_unwind(panic),
            Signal::Pause => effects.push(Effect::Suspend),
            Signal::GoesOn => self.go_on()?,
        }
        self.carry_out(effects)?;
        if !self.key_repeats {
            let postponed = std::mem::take(&mut self.postponed);
            self.carry_out(postponed)?;
        }
        Ok(if self.known() == known { patience } else { Duration::ZERO })
    }

    /// Returns whether all lines are counted, and whether all totals are; `None` if no output is open.
    fn known(&self) -> Option<(bool, bool)> {
        self.app.stack.output().map(|pager| (pager.output.index.is_complete(), pager.output.is_counted()))
    }

    /// Releases the files being deleted: showing an output here must not keep the user from deleting it here. Files
    /// open in another viewer stay.
    fn let_go(&self, to_delete: &[Marked]) {
        let named = self.files.iter().flatten().map(|target| &target.source);
        let viewed = self.viewed.iter().filter_map(|viewed| viewed.source.as_ref());
        for source in viewed.chain(named) {
            let is_it =
                |file: &Identity| to_delete.iter().any(|marked| marked.entry.identity.same_file(file));
            if source.identity().as_ref().is_some_and(is_it) {
                source.let_go();
            }
        }
    }

    /// Checks whether and how the file has changed.
    fn look(&mut self, effects: &mut Effects) {
        let Some(source) = self.source_mut() else { return };
        let content = source.refresh();
        self.changed(content, effects);
    }

    /// Passes a change to the screens. A refresh reports each change only once, so it must not get lost.
    fn changed(&mut self, content: Change, effects: &mut Effects) {
        let Some(source) = self.source() else { return };
        let changed = Changed {
            view: source.view(),
            content,
            // A file that has no name yet has not lost its name.
            path: if self.is_live() { PathStatus::Current } else { source.path_status() },
            streaming: self.is_streaming(source),
        };
        self.app.update(OutputEvent::Changed(changed), effects);
    }
}
