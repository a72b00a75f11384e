//! The event loop: takes in events, updates the state, carries out effects, and draws the screen when something
//! changed.

mod background;
pub(crate) mod editor;
mod frame;
mod jobs;
pub(crate) mod keyboard;
mod live;
mod modes;
mod news;
mod outside;
mod recorded;
pub(crate) mod signal;
pub(crate) mod terminal;
mod viewed;

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use crate::config::{MouseConfig, ThemeConfig};
use crate::source::{Change, Identity, PathStatus, Watcher};
use crate::store::Marked;
use crate::text::label::SafeText;

use super::app::App;
use super::event::{Event, Message};
use super::job::{Job, Slot};
use super::keys::KeyMap;
use super::outputs::OutputsEvent;
use super::outputs::TuneStart;
use super::outputs::deletion::delete;
use super::pager::event::{Changed, OutputEvent};
use super::screen::{Effect, Effects, Link};
use super::services::Services;
use super::target::{StartAt, Target};
use super::widget::canvas::Canvas;
use super::widget::theme::{Backdrop, Theme};
use background::LIMIT;
use jobs::Jobs;
use keyboard::{BackgroundQuestion, Keyboard};
use signal::{Inbox, Signal};
use terminal::{Outside, TerminalScreen};
use viewed::Viewed;

pub use news::{Completed, Live, LiveNews, Maker, Parting};

/// What the screens start with.
pub struct Start {
    /// The outputs to show. If there are none, the list of stored outputs is shown.
    pub targets: Vec<Target>,
    /// The words of the stored outputs that are followed, if the screens begin with that.
    pub follow: Option<String>,
    /// Where to open outputs, by their index, if not at their beginning.
    pub places: BTreeMap<usize, StartAt>,
    pub services: Services,
    /// What the list of settings shows, if the screens begin with it.
    pub tune: Option<TuneStart>,
    /// What is still making the first output, if anything is.
    pub live: Option<Live>,
    /// The theme, as far as it is known without asking the terminal.
    pub theme: Theme,
    /// By what the theme is chosen if the terminal says what its background is; `None` if it is not to be asked.
    pub asks: Option<ThemeConfig>,
    /// Whether the terminal can show characters beyond ASCII.
    pub unicode: bool,
    pub mouse: MouseConfig,
    /// The keys in use.
    pub keys: &'static KeyMap,
    /// What to say once, until the first key.
    pub notice: Option<String>,
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
    if start.mouse == MouseConfig::Wheel {
        terminal::take_wheel()?;
    }
    let gone = signals.clone();
    // If no thread can be started, the next key or frame notices that the terminal is gone.
    let _ = terminal::on_close(move || {
        let _ = gone.send(Signal::TerminalGone(None));
    });
    let size = screen.size()?.into();
    let (keyboard, background) = listen(&signals, start.asks.is_some())?;
    let theme = start.asks.as_ref().zip(background);
    let theme = theme.map_or(start.theme, |(config, background)| Theme::of_config(config, Some(background)));
    let (unicode, keys) = (start.unicode, start.keys);
    let services = Arc::new(start.services);
    let mut session = Session {
        app: App::new(Canvas { size, theme, unicode, keys }),
        jobs: Jobs::new(signals.clone(), services.clone()),
        services,
        keyboard,
        asks: start.asks,
        signals,
        screen,
        viewed: Vec::new(),
        file: 0,
        watcher: None,
        files: Vec::new(),
        places: start.places,
        maker: None,
        key_repeats: false,
        postponed: Vec::new(),
        left: false,
        to_delete: Vec::new(),
        fault: None,
    };
    session.app.severities = session.services.severities.clone();
    if let Some(live) = start.live {
        session.expect(live)?;
    }
    session.files = start.targets.into_iter().map(Some).collect();
    let mut effects = Effects::default();
    if let Some(words) = start.follow {
        session.app.go_to(Link::Follow(words), &mut effects);
    } else if let Some(tune) = start.tune {
        session.app.go_to(tune, &mut effects);
    } else if session.files.is_empty() {
        session.app.go_to(Link::Stores(None), &mut effects);
    } else {
        session.open_file(0, &mut effects);
    }
    if let Some(notice) = start.notice {
        session.app.update(Event::Told(Message::error(notice)), &mut effects);
    }
    let (first, rest): (Vec<_>, Vec<_>) =
        effects.into_iter().partition(|effect| matches!(effect, Effect::Run(job) if job.slot == Slot::Plan));
    session.carry_out(first)?;
    session.draw()?;
    session.carry_out(rest)?;
    let mut inbox = Inbox::new(received);
    session.go(&mut inbox)?;
    if let Some(fault) = session.fault.take() {
        return Err(fault);
    }
    if terminal::ended_by().is_some() {
        return Ok(Parting::default());
    }
    let to_delete = std::mem::take(&mut session.to_delete);
    session.let_go(&to_delete);
    drop(taken);
    session.jobs.finish_keeping();
    let deleted = (!to_delete.is_empty()).then(|| delete(&to_delete, &session.services.env).text);
    Ok(Parting { words: inbox.rest().filter_map(not_kept).chain(deleted).collect(), signal: None })
}

/// Returns why an output was not kept, if that is what an event says.
fn not_kept(event: Event) -> Option<SafeText> {
    match event.downcast() {
        Ok(OutputsEvent::Kept(kept)) => kept.err().map(SafeText::from),
        _ => None,
    }
}

/// Starts reading keys. If the terminal is to be asked what its background is, waits for the answer, for [`LIMIT`] at most.
fn listen(signals: &Sender<Signal>, asks: bool) -> io::Result<(Keyboard, Option<Backdrop>)> {
    if !asks {
        return Ok((Keyboard::start(signals.clone(), None)?, None));
    }
    terminal::ask(background::QUESTION)?;
    let (question, answer) = BackgroundQuestion::new();
    let keyboard = Keyboard::start(signals.clone(), Some(question))?;
    Ok((keyboard, answer.recv_timeout(LIMIT).ok().flatten()))
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
    /// By what the theme is chosen once the terminal says what its background is.
    asks: Option<ThemeConfig>,
    services: Arc<Services>,
    /// What is making the first output, until it is complete.
    maker: Option<Maker>,
    /// Whether the same key waits behind the one being handled.
    key_repeats: bool,
    /// What a key asked for that is held down: carried out with its last press, unless that asks for it again.
    postponed: Vec<Job>,
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
            Signal::Background(background) => {
                if let Some(config) = &self.asks {
                    let theme = Theme::of_config(config, Some(background));
                    self.app.repaint(Canvas { theme, ..self.app.canvas }, &mut effects);
                }
            }
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
            postponed.into_iter().try_for_each(|job| self.run(job))?;
        }
        Ok(if self.known() == known { patience } else { Duration::ZERO })
    }

    /// Returns whether all lines are counted, and whether all totals are; `None` if no output is open.
    fn known(&self) -> Option<(bool, bool)> {
        self.app.output().map(|pager| (pager.output.index.is_complete(), pager.output.is_counted()))
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
