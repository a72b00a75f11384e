//! The event loop: takes in signals, updates the state, has effects carried out, and draws what changed.

mod keyboard;
mod outside;
pub(crate) mod terminal;
mod viewed;

use std::any::Any;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crossterm::event::KeyEvent;
use ratatui::Frame;

use crate::config::{Backdrop, MouseConfig, ThemeConfig};
use crate::document::reader::Cost;
use crate::output::Target;
use crate::source::{Change, Source, Watcher};
use crate::store::PendingDelete;
use crate::text::label::SafeText;

use super::app::App;
use super::event::{Event, FRAME, Message};
use super::job::{Job, Slot};
use super::keys::{KeyMap, character};
use super::outputs::OutputsEvent;
use super::outputs::deletion::delete;
use super::screen::{Effect, Effects, Link};
use super::target::{LiveUpdate, Producer, Services, StartAt};
use super::widget::canvas::Canvas;
use super::widget::theme::Theme;
use keyboard::Keyboard;
use outside::Jobs;
use terminal::TerminalScreen;
use viewed::ViewedOutput;

#[derive(Default)]
pub struct Startup {
    /// The outputs to show. If there are none, the list of stored outputs is shown.
    pub targets: Vec<Target>,
    /// Where to open outputs, by their index, if not at their beginning.
    pub places: BTreeMap<usize, StartAt>,
    /// What is still making the first output, if anything is, and what is told of that.
    pub live: Option<(Producer, Receiver<LiveUpdate>)>,
    /// Leads to the list that is shown instead, if one is.
    pub list: Option<Link>,
}

pub struct Start {
    pub startup: Startup,
    pub services: Services,
    /// The theme, as far as it is known without asking the terminal.
    pub theme: Theme,
    /// By what the theme is chosen if the terminal says what its background is; `None` if it is not to be asked.
    pub asks: Option<ThemeConfig>,
    pub unicode: bool,
    pub mouse: MouseConfig,
    pub keys: &'static KeyMap,
    pub notice: Option<String>,
}

#[derive(Debug, Default)]
pub struct ExitReport {
    pub messages: Vec<SafeText>,
    /// The signal that asked overspill to end, if the output still has to be completed.
    pub signal: Option<i32>,
}

/// Shows the screens until the user quits, or a signal ends them; nothing is deleted then.
pub fn run(start: Start) -> io::Result<ExitReport> {
    let left = show(start);
    match terminal::ended_by() {
        // Errors of a terminal that was closed are no news.
        Some(signal) => Ok(ExitReport { messages: Vec::new(), signal: Some(signal) }),
        None => left,
    }
}

fn show(start: Start) -> io::Result<ExitReport> {
    let (signals, received) = channel();
    let outside = signals.clone();
    let guard = terminal::take(move |signal| drop(outside.send(signal)))?;
    if start.mouse == MouseConfig::Wheel {
        terminal::take_wheel()?;
    }
    // First: the terminal answers while the screen is made.
    let keyboard = Keyboard::start(signals.clone(), start.asks.is_some())?;
    let mut screen = terminal::screen()?;
    let size = screen.get_frame().area().as_size().into();
    let services = Arc::new(start.services);
    let Startup { targets, places, live, list } = start.startup;
    let mut inbox = Inbox::new(received);
    let app = App::new(Canvas { size, theme: start.theme, unicode: start.unicode, keys: start.keys });
    let mut session = Session {
        jobs: Jobs::new(signals.clone(), services.clone(), app.tickets.clone()),
        app,
        services,
        keyboard,
        asks: start.asks,
        signals,
        screen,
        viewed: Vec::new(),
        file: 0,
        watcher: None,
        files: targets,
        places,
        producer: None,
        key_repeats: false,
        postponed: Vec::new(),
        exit: None,
    };
    session.app.severities = session.services.severities.clone();
    if let Some((producer, updates)) = live {
        session.follow(producer, updates)?;
    }
    session.begin(list, start.notice, &mut inbox)?;
    session.go(&mut inbox)?;
    let to_delete = session.exit.take().transpose()?.unwrap_or_default();
    if terminal::ended_by().is_some() {
        return Ok(ExitReport::default());
    }
    session.let_go(&to_delete);
    drop(guard);
    session.jobs.finish_keeping();
    let not_kept = |event: Event| match event.downcast() {
        Ok(OutputsEvent::Kept(_, message)) if message.is_error => Some(message.text),
        _ => None,
    };
    let deleted = (!to_delete.is_empty()).then(|| delete(to_delete, &session.services.config.env).0.text);
    Ok(ExitReport { messages: inbox.rest().filter_map(not_kept).chain(deleted).collect(), signal: None })
}

struct Session {
    app: App,
    files: Vec<Target>,
    places: BTreeMap<usize, StartAt>,
    jobs: Jobs,
    signals: Sender<Signal>,
    screen: TerminalScreen,
    /// The outputs on the stack of the screens, in its order; the last one is watched.
    viewed: Vec<ViewedOutput>,
    /// The index of the named output that was viewed last, 0-based.
    file: usize,
    watcher: Option<Watcher>,
    keyboard: Keyboard,
    asks: Option<ThemeConfig>,
    services: Arc<Services>,
    /// What is making the first output, until it is complete.
    producer: Option<Producer>,
    key_repeats: bool,
    /// Jobs of a held key: they run with its last press, unless that requests them again.
    postponed: Vec<Job>,
    /// Once the screens are to be left: what to delete then, because the user said so, or why the terminal cannot be read.
    exit: Option<io::Result<Vec<PendingDelete>>>,
}

impl Session {
    /// Draws the first frame: the first output or a list. Of their effects, only the plan is made before.
    fn begin(&mut self, list: Option<Link>, notice: Option<String>, inbox: &mut Inbox) -> io::Result<()> {
        let mut effects = self.app.effects();
        match list {
            Some(list) => self.app.go_to(list, &mut effects),
            None if self.files.is_empty() => self.app.go_to(Link::Stores(None), &mut effects),
            None => self.open_file(0, &mut effects),
        }
        if let Some(notice) = notice {
            self.app.update(Event::Message(Message::error(notice)), &mut effects);
        }
        let (first, rest): (Vec<_>, Vec<_>) = effects
            .outside
            .into_iter()
            .partition(|effect| matches!(effect, Effect::Run(job) if job.slot() == Slot::Plan));
        self.carry_out(first)?;
        let mut effects = self.app.effects();
        if self.asks.is_some() {
            let background = inbox.wait_for_background(keyboard::LIMIT);
            self.take_background(background, &mut effects);
        }
        self.draw()?;
        let gone = self.signals.clone();
        // If no thread can be started, the next key or frame notices that the terminal is gone.
        let _ = terminal::on_close(move || {
            let _ = gone.send(Signal::TerminalGone(None));
        });
        self.carry_out(rest.into_iter().chain(effects.outside))
    }

    fn tell(&mut self, message: Message) {
        self.app.update(Event::Message(message), &mut Effects::default());
    }

    fn take_background(&mut self, background: Option<Backdrop>, effects: &mut Effects) {
        if let (Some(config), Some(_)) = (&self.asks, background) {
            let theme = Theme::from_config(config, background);
            self.app.repaint(Canvas { theme, ..self.app.canvas }, effects);
        }
    }

    /// Handles all signals that have arrived, then draws once. Progress waits for the next frame.
    fn go(&mut self, inbox: &mut Inbox) -> io::Result<()> {
        let mut drawn = Instant::now();
        while self.exit.is_none() {
            let Some(signal) = inbox.recv() else { return Ok(()) };
            let mut patience = self.take(signal, inbox)?;
            while self.exit.is_none() {
                let rest = patience.saturating_sub(drawn.elapsed());
                let Some(signal) = inbox.recv_timeout(rest) else { break };
                patience = patience.min(self.take(signal, inbox)?);
            }
            self.draw()?;
            drawn = Instant::now();
        }
        Ok(())
    }

    /// Handles a signal, with the keys that go on with it. Returns how long the result may wait to be drawn.
    fn take(&mut self, signal: Signal, inbox: &mut Inbox) -> io::Result<Duration> {
        let signal = if self.app.is_typing() { inbox.join_typed(signal) } else { signal };
        self.key_repeats = inbox.repeats(&signal);
        let (patience, known) = (signal.patience(), self.known());
        let mut effects = self.app.effects();
        match signal {
            Signal::App(event) => self.app.update(event, &mut effects),
            Signal::Look => self.look(&mut effects),
            Signal::Live(update) => self.on_live_update(update, &mut effects),
            Signal::Background(background) => self.take_background(background, &mut effects),
            Signal::TerminalGone(fault) => self.exit = Some(fault.map_or_else(|| Ok(Vec::new()), Err)),
            // The panic has already been printed.
            Signal::Panicked(panic) => std::panic::resume_unwind(panic),
            Signal::Pause => effects.push(Effect::Suspend),
            Signal::Resumed => self.resume_screen()?,
        }
        self.carry_out(effects.outside)?;
        if !self.key_repeats {
            let postponed = std::mem::take(&mut self.postponed);
            self.carry_out(postponed.into_iter().map(Effect::Run))?;
        }
        Ok(if self.known() == known { patience } else { Duration::ZERO })
    }

    /// Returns whether all lines are counted, and whether all totals are; `None` if no output is open.
    fn known(&self) -> Option<(bool, bool)> {
        self.app.output().map(|pager| (pager.output.index.is_complete(), pager.output.is_counted()))
    }

    /// Draws the current content of the file. Refreshes first, to notice when the file has been truncated.
    fn draw(&mut self) -> io::Result<()> {
        if terminal::ended_by().is_some() {
            self.exit.get_or_insert_with(|| Ok(Vec::new()));
            return Ok(());
        }
        let content = self.source_mut().map_or(Change::Same, Source::refresh);
        if content != Change::Same {
            self.on_screens(|session, effects| session.on_change(content, effects))?;
        }
        while let Some((columns, rows)) = self.draw_unless_resized()? {
            self.happen(Event::Resize(columns, rows))?;
        }
        Ok(())
    }

    /// Draws, or returns the size of the terminal, if the screens have another: its event may be on the way.
    fn draw_unless_resized(&mut self) -> io::Result<Option<(u16, u16)>> {
        let app = &self.app;
        let mut size = app.canvas.size;
        let drawn = terminal::paint(|| {
            let draw = |frame: &mut Frame<'_>| {
                size = frame.area().as_size().into();
                if size != app.canvas.size {
                    return Err(io::Error::from(io::ErrorKind::Interrupted));
                }
                app.draw(frame, &Cost::default());
                Ok(())
            };
            self.screen.try_draw(draw).map(drop)
        });
        if size == app.canvas.size { drawn.map(|()| None) } else { Ok(Some(size)) }
    }
}

pub enum Signal {
    App(Event),
    Look,
    Live(LiveUpdate),
    /// What the terminal says that its background is; `None` if it does not say it in time.
    Background(Option<Backdrop>),
    /// The terminal is gone, or cannot be read; the error if there is one to report.
    TerminalGone(Option<std::io::Error>),
    /// Another process asked overspill to stop for a while, as Ctrl-Z does.
    Pause,
    /// overspill was stopped from outside and continues: the terminal's modes and contents have changed meanwhile.
    Resumed,
    /// A thread that the screens cannot do without has panicked, with this payload.
    Panicked(Box<dyn Any + Send>),
}

impl Signal {
    /// Returns how long the signal may wait to be drawn: zero for anything the user has just asked for.
    pub fn patience(&self) -> Duration {
        match self {
            Signal::App(event) => event.patience(),
            Signal::Look => FRAME,
            _ => Duration::ZERO,
        }
    }
}

/// The signals that have not been handled yet. Some are taken out early, to see which key waits.
pub struct Inbox {
    signals: Receiver<Signal>,
    waiting: VecDeque<Signal>,
}

impl Inbox {
    pub fn new(signals: Receiver<Signal>) -> Self {
        Self { signals, waiting: VecDeque::new() }
    }

    pub fn rest(&mut self) -> impl Iterator<Item = Event> {
        let signals = self.waiting.drain(..).chain(self.signals.try_iter());
        signals.filter_map(|signal| match signal {
            Signal::App(event) => Some(event),
            _ => None,
        })
    }

    pub fn recv(&mut self) -> Option<Signal> {
        self.waiting.pop_front().or_else(|| self.signals.recv().ok())
    }

    pub fn recv_timeout(&mut self, limit: Duration) -> Option<Signal> {
        self.waiting.pop_front().or_else(|| self.signals.recv_timeout(limit).ok())
    }

    /// Waits for the terminal's answer, up to `limit`; all else is left for later.
    pub fn wait_for_background(&mut self, limit: Duration) -> Option<Backdrop> {
        let until = Instant::now() + limit;
        loop {
            match self.signals.recv_timeout(until.saturating_duration_since(Instant::now())).ok()? {
                Signal::Background(background) => return background,
                other => self.waiting.push_back(other),
            }
        }
    }

    fn next_key(&mut self) -> Option<KeyEvent> {
        if self.waiting.is_empty() {
            self.waiting.extend(self.signals.try_recv());
        }
        self.waiting.front().and_then(key)
    }

    /// Joins a typed character with those behind it: terminals without bracketed paste send a paste as keys.
    pub fn join_typed(&mut self, signal: Signal) -> Signal {
        let Some(first) = key(&signal).and_then(character) else { return signal };
        let mut text = String::from(first);
        while let Some(next) = self.next_key().and_then(character) {
            text.push(next);
            self.waiting.pop_front();
        }
        if text.len() > first.len_utf8() { Signal::App(Event::Paste(text)) } else { signal }
    }

    /// Whether the same key waits again, as while it is held down.
    pub fn repeats(&mut self, signal: &Signal) -> bool {
        let press = |key: KeyEvent| (key.code, key.modifiers);
        self.next_key().is_some_and(|next| key(signal).is_some_and(|key| press(key) == press(next)))
    }
}

fn key(signal: &Signal) -> Option<KeyEvent> {
    match signal {
        Signal::App(Event::Key(key)) => Some(*key),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use crossterm::event::{KeyCode, KeyModifiers};

    use super::*;

    fn inbox(keys: &[KeyEvent]) -> Inbox {
        let (give, taken) = channel();
        keys.iter().for_each(|key| give.send(Signal::App(Event::Key(*key))).unwrap());
        give.send(Signal::Look).unwrap();
        Inbox::new(taken)
    }

    fn typed(text: &str) -> Vec<KeyEvent> {
        text.chars().map(|c| KeyEvent::from(KeyCode::Char(c))).collect()
    }

    #[test]
    fn queued_characters_are_typed_together_up_to_another_key() {
        let mut keys = typed("aé b");
        keys.push(KeyEvent::from(KeyCode::Enter));
        keys.extend(typed("c"));
        let mut inbox = inbox(&keys);
        let mut texts = Vec::new();
        while let Some(signal) = inbox.recv() {
            match inbox.join_typed(signal) {
                Signal::App(Event::Paste(text)) => texts.push(text),
                Signal::App(Event::Key(key)) => texts.push(format!("{:?}", key.code)),
                _ => break,
            }
        }
        assert_eq!(texts, ["aé b", "Enter", "Char('c')"]);
    }

    #[test]
    fn a_character_with_ctrl_or_alt_is_not_text() {
        for modifier in [KeyModifiers::CONTROL, KeyModifiers::ALT] {
            let mut inbox = inbox(&[KeyEvent::new(KeyCode::Char('b'), modifier)]);
            let first = Signal::App(Event::Key(typed("a")[0]));
            assert!(matches!(inbox.join_typed(first), Signal::App(Event::Key(_))));
        }
    }

    #[test]
    fn a_key_repeats_if_the_same_one_waits_next() {
        let mut inbox = inbox(&typed("++-"));
        let repeats: Vec<bool> = std::iter::from_fn(|| {
            let signal = inbox.recv()?;
            key(&signal).map(|_| inbox.repeats(&signal))
        })
        .collect();
        assert_eq!(repeats, [true, false, false]);
    }
}
