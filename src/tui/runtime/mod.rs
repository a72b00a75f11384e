//! The loop: events in, state changed, effects carried out, the screen drawn when something changed.

pub(crate) mod editor;
pub(crate) mod keyboard;
mod live;
pub(crate) mod terminal;
pub(crate) mod worker;

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use crate::source::{Change, Identity, PathStatus, Source, Watcher};
use crate::store::{Env, Marked, Stores};
use crate::text::units::Want;

use super::app::{App, Changed, Effect, Event, Message};
use super::pager::doc::Cost;
use super::pager::output::{Output, Subject};
use super::popup::picker::Choice;
use super::view;
use super::widget::theme::Theme;
use keyboard::Keyboard;
use terminal::{Outside, Screen};
use worker::{Jobs, Signal};

pub use live::{Live, LiveNews, Maker, Over, Parting};

/// The read tool that is shown for agents whose own is not known.
const READ_TOOL: &str = "opencode/read";

/// Opens an output by its path, or says why not.
pub type Opener = Box<dyn Fn(&Path) -> Result<Target, String>>;

/// Reads all policies with their limits.
pub type Chooser = Box<dyn Fn() -> Vec<Choice>>;

/// What the screens begin with.
pub struct Start {
    /// Outputs to look at; none: the stores.
    pub targets: Vec<Target>,
    /// Opens an entry of a store.
    pub opener: Opener,
    /// Reads all policies.
    pub chooser: Chooser,
    /// The stores that are browsed.
    pub stores: Stores,
    /// The surroundings in which they lie.
    pub env: Env,
    /// What still makes the first output.
    pub live: Option<Live>,
    /// Whether colours may be used.
    pub colour: bool,
    /// Whether the terminal knows more than ASCII.
    pub unicode: bool,
}

/// An output to look at.
pub struct Target {
    /// What it is, and how it was cut.
    pub subject: Subject,
    /// Its bytes.
    pub source: Source,
}

/// Shows the screens until the person leaves.
///
/// # Errors
/// The terminal cannot be used.
pub fn run(start: Start) -> io::Result<Parting> {
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
    // Without a thread, the next key or frame tells.
    let _ = terminal::on_close(move || {
        let _ = gone.send(Signal::TerminalGone(Some(io::Error::other("it has been closed"))));
    });
    let theme = if start.colour { Theme::terminal() } else { Theme::plain() };
    let size = screen.size()?;
    let mut session = Session {
        app: App::new((size.width, size.height), theme, start.unicode),
        jobs: Jobs::new(signals.clone(), start.stores, start.env.clone()),
        keyboard: Keyboard::start(signals.clone())?,
        signals,
        screen,
        source: None,
        current: None,
        watcher: None,
        files: Vec::new(),
        opener: start.opener,
        chooser: start.chooser,
        maker: None,
        left: false,
        fault: None,
    };
    let env = start.env;
    if let Some(live) = start.live {
        session.expect(live)?;
    }
    session.app.files = start.targets.len();
    session.files = start.targets.into_iter().map(Some).collect();
    let effects = match session.files.is_empty() {
        true => session.app.start_with_stores(),
        false => session.open_file(0),
    };
    let (first, rest) = effects.into_iter().partition(|effect| matches!(effect, Effect::Plan(_)));
    session.carry_out(first)?;
    session.draw()?;
    session.carry_out(rest)?;
    match (session.go(&received), terminal::ended_by()) {
        // The terminal may have gone with the signal: that is no fault then.
        (_, Some(signal)) => return Ok(Parting { words: None, signal: Some(signal) }),
        (shown, None) => shown?,
    }
    if let Some(fault) = session.fault.take() {
        return Err(fault);
    }
    let doomed = session.app.take_doomed();
    session.let_go(&doomed);
    drop(taken);
    let words = (!doomed.is_empty()).then(|| worker::delete(&doomed, &env).text);
    Ok(Parting { words, signal: None })
}

struct Session {
    app: App,
    /// The outputs that were named; the one that is looked at is taken out.
    files: Vec<Option<Target>>,
    jobs: Jobs,
    signals: Sender<Signal>,
    screen: Screen,
    source: Option<Source>,
    /// Which of the named outputs is looked at.
    current: Option<(usize, Subject)>,
    watcher: Option<Watcher>,
    keyboard: Keyboard,
    opener: Opener,
    chooser: Chooser,
    /// What makes the first of the outputs, until it is over.
    maker: Option<Maker>,
    left: bool,
    /// Why nothing can be read from the terminal.
    fault: Option<io::Error>,
}

impl Session {
    /// Looks at one of the outputs that were named.
    fn open_file(&mut self, number: usize) -> Vec<Effect> {
        let Some(target) = self.files.get_mut(number).and_then(Option::take) else { return Vec::new() };
        self.current = Some((number, target.subject.clone()));
        let effects = self.open(target);
        self.app.file = number;
        effects
    }

    /// The next of the outputs that were named, or the one before.
    fn other_file(&mut self, next: bool) -> Vec<Effect> {
        let at = self.app.file;
        let to = if next { Some(at + 1) } else { at.checked_sub(1) };
        let Some(to) = to.filter(|to| *to < self.files.len()) else {
            let words = format!(
                "file {} of {} is the {}",
                at + 1,
                self.files.len(),
                if next { "last" } else { "first" }
            );
            self.tell(Message::note(words));
            return Vec::new();
        };
        if let (Some((number, subject)), Some(source)) = (self.current.take(), self.source.take()) {
            self.files[number] = Some(Target { subject, source });
        }
        self.open_file(to)
    }

    /// Looks at an output; what it takes to count it.
    fn open(&mut self, target: Target) -> Vec<Effect> {
        let source = target.source;
        let streaming = self.is_streaming(&source);
        let effects = self.app.open(target.subject, source.view(), streaming);
        self.watch(&source);
        self.source = Some(source);
        effects
    }

    fn watch(&mut self, source: &Source) {
        let signals = self.signals.clone();
        let probe = if self.is_live() { source.probe().often() } else { source.probe() };
        let watcher = Watcher::spawn(probe, move || signals.send(Signal::Look).is_ok());
        match watcher {
            Ok(watcher) => self.watcher = Some(watcher),
            Err(error) => self.tell(Message::error(format!("the file is not watched for changes: {error}"))),
        }
    }

    fn tell(&mut self, message: Message) {
        let _ = self.app.update(Event::Told(message));
    }

    /// Takes in all that has come, then draws once, until the person leaves. What only shows progress waits for
    /// the next frame; what a person waits for does not, nor does the end of counting.
    fn go(&mut self, signals: &Receiver<Signal>) -> io::Result<()> {
        let mut drawn = Instant::now();
        while !self.left {
            let Ok(signal) = signals.recv() else { return Ok(()) };
            let mut patience = self.take(signal)?;
            while !self.left {
                let rest = patience.saturating_sub(drawn.elapsed());
                let Ok(signal) = signals.recv_timeout(rest) else { break };
                patience = patience.min(self.take(signal)?);
            }
            self.draw()?;
            drawn = Instant::now();
        }
        Ok(())
    }

    /// Takes in a signal; how long what it tells may wait to be drawn.
    fn take(&mut self, signal: Signal) -> io::Result<Duration> {
        let (patience, known) = (signal.patience(), self.known());
        let effects = match signal {
            Signal::App(event) => self.app.update(event),
            Signal::Look => self.look(),
            Signal::Live(news) => self.hear(news),
            Signal::TerminalGone(fault) => {
                drop(self.app.take_doomed());
                self.fault = fault;
                vec![Effect::Quit]
            }
            // It has been printed.
            Signal::Panicked(panic) => std::panic::resume_unwind(panic),
            Signal::Pause => vec![Effect::Suspend],
            Signal::GoesOn => {
                self.go_on()?;
                Vec::new()
            }
        };
        self.carry_out(effects)?;
        Ok(if self.known() == known { patience } else { Duration::ZERO })
    }

    /// Whether all lines are counted, and all totals.
    fn known(&self) -> Option<(bool, bool)> {
        self.app.output.as_ref().map(|output| (output.index.is_complete(), output.is_counted()))
    }

    /// What the person deletes here is not kept by our own looking at it. What another viewer looks at stays.
    fn let_go(&self, doomed: &[Marked]) {
        let named = self.files.iter().flatten().map(|target| &target.source);
        for source in self.source.iter().chain(named) {
            let is_it = |file: &Identity| doomed.iter().any(|marked| marked.entry.identity.same_file(file));
            if source.identity().as_ref().is_some_and(is_it) {
                source.let_go();
            }
        }
    }

    /// The file may have changed: how?
    fn look(&mut self) -> Vec<Effect> {
        let Some(source) = &mut self.source else { return Vec::new() };
        let content = source.refresh();
        self.changed(content)
    }

    /// A refresh tells of a change once: what it says must reach the screens.
    fn changed(&mut self, content: Change) -> Vec<Effect> {
        let Some(source) = &self.source else { return Vec::new() };
        let changed = Changed {
            view: source.view(),
            content,
            // A name that it still has to get is none that it has lost.
            path: if self.is_live() { PathStatus::Current } else { source.path_status() },
            streaming: self.is_streaming(source),
        };
        self.app.update(Event::Changed(changed))
    }

    /// What is drawn is what the file holds now: pages that were cut off are noticed first.
    fn draw(&mut self) -> io::Result<()> {
        if terminal::ended_by().is_some() {
            self.left = true;
            return Ok(());
        }
        let content = self.source.as_mut().map_or(Change::Same, Source::refresh);
        if content != Change::Same {
            let effects = self.changed(content);
            self.carry_out(effects)?;
        }
        let app = &self.app;
        let screen = &mut self.screen;
        terminal::paint(|| screen.draw(|frame| view::draw(app, frame, &Cost::default())).map(drop))
    }

    fn carry_out(&mut self, effects: Vec<Effect>) -> io::Result<()> {
        for effect in effects {
            match effect {
                Effect::Quit => self.left = true,
                Effect::Count { number, want, from } => self.count(number, want, from),
                Effect::Search(quest) => self.jobs.search(quest),
                Effect::Census(census) => self.jobs.census(census),
                Effect::StopSearch => self.jobs.stop_search(),
                Effect::Plan(task) => {
                    if let Some(planned) = self.jobs.plan(*task) {
                        let effects = self.app.update(Event::Planned(Box::new(planned)));
                        self.carry_out(effects)?;
                    }
                }
                Effect::StopPlan => self.jobs.stop_plan(),
                Effect::Advise(wish) => self.jobs.advise(*wish),
                Effect::Copy(text) => self.copy(&text)?,
                Effect::Edit(line) => self.edit(line)?,
                Effect::Open(path) => self.open_path(&path)?,
                Effect::Reopen => self.reopen()?,
                Effect::Policies => {
                    let choices = (self.chooser)();
                    let effects = self.app.update(Event::Policies(choices));
                    self.carry_out(effects)?;
                }
                Effect::ReadTool { agent, then } => {
                    let mut choices = (self.chooser)();
                    let name = format!("{agent}/read");
                    let at = choices.iter().position(|choice| choice.policy.name() == name);
                    let at =
                        at.or_else(|| choices.iter().position(|choice| choice.policy.name() == READ_TOOL));
                    if let Some(at) = at {
                        let effects = self.app.update(Event::ReadTool(choices.swap_remove(at), then));
                        self.carry_out(effects)?;
                    }
                }
                Effect::OtherFile { next } => {
                    let effects = self.other_file(next);
                    self.carry_out(effects)?;
                }
                Effect::Scan(number) => self.jobs.scan(number),
                Effect::Arrange(task) => self.jobs.arrange(*task),
                Effect::Glance(path) => {
                    let target = (self.opener)(&path).ok();
                    let output = target.map(|target| self.glance(target));
                    self.app.glance = Some((path, output));
                }
                Effect::Delete(doomed) => {
                    self.let_go(&doomed);
                    self.jobs.delete(doomed);
                }
                Effect::Keep { entry, keep } => self.jobs.keep(entry, keep),
                Effect::Peek(entries) => self.jobs.peek(entries),
                Effect::CountLines(entries) => self.jobs.count_lines(entries),
                Effect::Suspend => self.suspend()?,
            }
        }
        Ok(())
    }

    /// What the model got of an entry beside the list.
    fn glance(&mut self, target: Target) -> Output {
        let mut output = Output::counted_now(target.subject, target.source.view());
        let task = output.replan(self.app.next_plan(), true);
        if let Some(planned) = task.and_then(|task| self.jobs.plan_glance(task)) {
            output.take(planned);
        }
        output
    }

    fn count(&self, number: u64, want: Want, from: usize) {
        if let Some(output) = &self.app.output {
            self.jobs.count(&output.view, number, want, from);
        }
    }

    /// OSC 52 reaches the clipboard also through ssh and tmux.
    fn copy(&mut self, text: &str) -> io::Result<()> {
        let mut out = crate::fs::patient::screen();
        terminal::paint(|| {
            crossterm::execute!(out, crossterm::clipboard::CopyToClipboard::to_clipboard_from(text))?;
            out.flush()
        })
    }

    /// The person's editor has the terminal to itself until it ends.
    fn edit(&mut self, line: u64) -> io::Result<()> {
        let Some(path) = self.source.as_ref().and_then(Source::path).map(Path::to_owned) else {
            self.tell(Message::note("standard input has no file to edit"));
            return Ok(());
        };
        let editor =
            ["VISUAL", "EDITOR"].iter().find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
        let editor = editor.unwrap_or_else(|| "vi".into());
        let (program, arguments) = self::editor::command(&editor, line, &path);
        let hold = self.keyboard.hold();
        terminal::restore();
        let status = Command::new(&program).args(arguments).status();
        terminal::enter()?;
        terminal::forget(&mut self.screen)?;
        drop(hold);
        if let Err(error) = status {
            self.tell(Message::error(format!("{program}: {error}; $EDITOR names the editor")));
        }
        Ok(())
    }

    fn open_path(&mut self, path: &Path) -> io::Result<()> {
        match (self.opener)(path) {
            Ok(target) => {
                if let (Some((number, subject)), Some(source)) = (self.current.take(), self.source.take()) {
                    self.files[number] = Some(Target { subject, source });
                }
                let effects = self.open(target);
                self.carry_out(effects)
            }
            Err(fault) => {
                self.tell(Message::error(fault));
                Ok(())
            }
        }
    }

    fn reopen(&mut self) -> io::Result<()> {
        let Some(source) = &mut self.source else { return Ok(()) };
        match source.reopen() {
            Ok(()) => {
                let probe = source.probe();
                let changed = Changed {
                    view: source.view(),
                    content: Change::Grown { from: 0 },
                    path: source.path_status(),
                    streaming: false,
                };
                let signals = self.signals.clone();
                self.watcher = Watcher::spawn(probe, move || signals.send(Signal::Look).is_ok()).ok();
                let effects = self.app.update(Event::Changed(changed));
                self.tell(Message::note("opened again"));
                self.carry_out(effects)
            }
            Err(error) => {
                self.tell(Message::error(error.to_string()));
                Ok(())
            }
        }
    }
}
