//! The state of the screens, and how events change it. It does no input or output: whatever has to happen outside is
//! returned as effects.

mod leaving;
mod popups;
mod sessions;
mod stack;
mod tune;
mod watch;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::text::filter::Shows;
use crate::text::search::SeverityPatterns;

use super::keys::{Action, KeyContext, name};
use super::pager::Pager;
use super::pager::bookmark::Handover;
use super::pager::copying;
use super::pager::jump::Waiting;
use super::popup::prompt::{Prompt, Purpose};
use super::sessions::SessionsScreen;
use super::stores::{Next, StoresScreen};
use super::target::{Opened, OpenedFrom, StartAt};
use super::tune::TuneScreen;
use super::watch::WatchScreen;
use super::widget::canvas::Canvas;

pub use super::effect::{Effect, Effects};
pub use super::event::{Event, Message};
pub use super::pager::event::{Changed, OutputEvent};
pub use super::popup::Popup;
pub use super::stores::event::StoresEvent;
pub use stack::Stack;

/// The largest count accepted before a key: more than any file has lines, and small enough that pages of it can be
/// added without overflow.
const MOST: u64 = 1_000_000_000_000_000;

/// The screen being shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// One output: what did the model see, and what is in the file?
    Pager,
    /// Stores: which outputs are kept, and until when?
    Stores,
    /// Sessions: what did the agent record, call by call?
    Sessions,
    /// Watch: what is cut, as it is cut?
    Watch,
    /// Tune: which limits would keep more of many outputs?
    Tune,
}

/// The state of everything on the screens.
pub struct App {
    /// The size and capabilities of the terminal.
    pub canvas: Canvas,
    /// Where the user is, with the outputs being viewed.
    pub stack: Stack,
    /// The list of stored outputs.
    pub stores: StoresScreen,
    /// The sessions that agents recorded, and the calls of one.
    pub sessions: SessionsScreen,
    /// The new outputs, if the stores are watched.
    pub watch: Option<WatchScreen>,
    /// Limits judged on many outputs.
    pub tune: TuneScreen,
    /// The pop-up over the screen.
    pub popup: Option<Popup>,
    /// The pop-ups that it lies over, the lowest first; they come back when it closes.
    pub(crate) beneath: Vec<Popup>,
    /// The message shown until the next key.
    pub message: Option<Message>,
    /// The count typed before a key.
    pub count: Option<u64>,
    pub severities: SeverityPatterns,
    waiting: Option<Waiting>,
}

impl App {
    /// Creates the screens for a terminal, with no output open.
    pub fn new(canvas: Canvas) -> Self {
        Self {
            canvas,
            stack: Stack::default(),
            stores: StoresScreen::new(canvas),
            sessions: SessionsScreen::new(canvas),
            watch: None,
            tune: TuneScreen::new(canvas),
            popup: None,
            beneath: Vec::new(),
            message: None,
            count: None,
            severities: SeverityPatterns::default(),
            waiting: None,
        }
    }

    pub fn update(&mut self, event: impl Into<Event>, effects: &mut Effects) {
        match event.into() {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key, effects),
            Event::Key(_) => {}
            Event::Paste(text) => self.paste(&text, effects),
            Event::Resize(columns, rows) => {
                self.repaint(Canvas { size: (columns, rows), ..self.canvas }, effects);
            }
            Event::Told(message) => self.message = Some(message),
            event @ Event::Screen(_) => self.screen_event(event, effects),
        }
    }

    /// Passes an event to the screen that knows its type.
    fn screen_event(&mut self, event: Event, effects: &mut Effects) {
        let event = match event.downcast() {
            Ok(event) => return self.output_event(event, effects),
            Err(event) => event,
        };
        let event = match event.downcast() {
            Ok(event) => return self.stores_event(event, effects),
            Err(event) => event,
        };
        let event = match event.downcast() {
            Ok(event) => return self.sessions_event(event, effects),
            Err(event) => event,
        };
        let event = match event.downcast() {
            Ok(event) => return self.tune_event(event, effects),
            Err(event) => event,
        };
        if let Ok(news) = event.downcast() {
            self.watch_news(news);
        }
    }

    fn output_event(&mut self, event: OutputEvent, effects: &mut Effects) {
        match event {
            OutputEvent::Policies(choices) => self.offer(choices, effects),
            OutputEvent::Compared(compared) => self.compared(compared, effects),
            event => self.in_pager(|pager| pager.update(event, effects)),
        }
    }

    fn stores_event(&mut self, event: StoresEvent, effects: &mut Effects) {
        let is_change = matches!(event, StoresEvent::Changed | StoresEvent::Deleted(_));
        let is_list = matches!(event, StoresEvent::Scanned(_) | StoresEvent::Sorted(_));
        self.in_stores(|stores| stores.update(event, effects));
        if is_change {
            self.stores_changed(effects);
        }
        if is_list {
            self.typed_ahead(effects);
        }
    }

    /// Handles an event of the output that is still being made, which is the first one.
    pub fn live_event(&mut self, event: OutputEvent, effects: &mut Effects) {
        if matches!(event, OutputEvent::Finished) {
            self.command_ended();
        }
        if self.stack.outputs().count() == 1 {
            return self.in_pager(|pager| pager.update(event, effects));
        }
        if let Some(pager) = self.stack.outputs_mut().next() {
            // What it asks for is asked for again once it is shown.
            pager.update(event, &mut Effects::default());
        }
    }

    /// Runs `act` on the pager, if there is one, and takes over its message.
    fn in_pager(&mut self, act: impl FnOnce(&mut Pager)) {
        if let Some(pager) = self.stack.output_mut() {
            act(pager);
            self.message = pager.message.take().or(self.message.take());
        }
    }

    /// Runs `act` on the list of stored outputs, and takes over its message.
    fn in_stores<T>(&mut self, act: impl FnOnce(&mut StoresScreen) -> T) -> T {
        let done = act(&mut self.stores);
        self.message = self.stores.message.take().or(self.message.take());
        done
    }

    /// Handles a change of the terminal's size or colours.
    pub fn repaint(&mut self, canvas: Canvas, effects: &mut Effects) {
        self.canvas = canvas;
        self.stack.outputs_mut().for_each(|pager| pager.repaint(canvas));
        self.stores.canvas = canvas;
        self.stores.settle(effects);
        self.sessions.canvas = canvas;
        if let Some(watch) = &mut self.watch {
            watch.canvas = canvas;
            watch.settle();
        }
        self.tune.canvas = canvas;
        self.tune.settle();
        if self.stack.screen() == Screen::Sessions {
            self.sessions.settle(effects);
        }
    }

    /// Puts an output on top.
    pub fn open(&mut self, mut opened: Opened, effects: &mut Effects) {
        let applied = self.tune.applied_to(&opened);
        let from = self.stack.screen();
        if from == Screen::Tune {
            opened.origin = OpenedFrom::Tune;
        }
        let before = match self.stack.pop_output() {
            Some(replaced) => replaced.hand_over(),
            None => self.stack.output_mut().map_or_else(Handover::default, |pager| pager.park(effects)),
        };
        let mut pager = Pager::new(self.canvas, opened, before, effects);
        pager.errors.patterns = self.severities.clone();
        self.message = pager.message.take();
        let watched = self.watch.as_mut().and_then(|watch| watch.opened_at.take());
        if let Some(line) = self.stores.opened_at.take().or(watched) {
            pager.update(OutputEvent::StartAt(StartAt::Line(line)), effects);
        }
        let setting = self.tune.take_opening().filter(|_| from == Screen::Tune).or(applied);
        if let Some((policy, limits_from)) = setting {
            pager.use_policy(policy, limits_from, effects);
        }
        self.stack.push_output(pager);
        self.popup = None;
        self.beneath.clear();
    }

    /// Shows the list of stored outputs.
    pub fn go_to_stores(&mut self, effects: &mut Effects) {
        self.go_to(Screen::Stores, effects);
        self.stores.scan(effects);
    }

    /// Scans the stores again if the list is on the screen.
    fn stores_changed(&mut self, effects: &mut Effects) {
        if self.stack.screen() == Screen::Stores {
            self.stores.scan(effects);
        }
    }

    /// Replays the keys that were typed ahead, once the rows that they waited for are shown.
    fn typed_ahead(&mut self, effects: &mut Effects) {
        self.stores.settle(effects);
        if self.stores.listing.is_awaited() {
            return;
        }
        for key in std::mem::take(&mut self.stores.listing.held) {
            self.key(key, effects);
            // The remaining keys were meant for the screen about to open, or for none: they must not act on this one,
            // nor answer a question that nobody has seen.
            if effects.iter().any(|effect| matches!(effect, Effect::Open(_) | Effect::Quit(_)))
                || matches!(self.popup, Some(Popup::Leaving(_)))
            {
                self.stores.listing.held.clear();
                break;
            }
        }
    }

    /// Returns the context in which a key press is looked up.
    pub fn key_place(&self) -> KeyContext {
        match self.stack.screen() {
            Screen::Pager => KeyContext::Pager,
            Screen::Stores => KeyContext::Stores,
            Screen::Sessions => KeyContext::Sessions,
            Screen::Watch => KeyContext::Watch,
            Screen::Tune => KeyContext::Tune,
        }
    }

    /// Whether a line is being typed, so that a key without a modifier is text.
    pub fn is_typing(&self) -> bool {
        matches!(self.popup, Some(Popup::Prompt(_)))
    }

    fn key(&mut self, key: KeyEvent, effects: &mut Effects) {
        self.message = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('z') {
            return effects.push(Effect::Suspend);
        }
        match &self.popup {
            Some(Popup::Leaving(leaving)) => return self.answer_key(*leaving, key, effects),
            Some(Popup::Help(_)) => return self.help_key(key, effects),
            Some(Popup::Prompt(_)) => return self.type_key(key, effects),
            Some(Popup::Sort(_)) => return self.sort_key(key, effects),
            Some(Popup::Policies(_)) if self.stack.output().is_some_and(|pager| pager.pair.is_some()) => {
                return self.pair_key(key, effects);
            }
            Some(Popup::Policies(_)) => return self.pick_key(key, effects),
            None if self.stack.screen() == Screen::Pager
                && self.stack.output().is_some_and(|pager| pager.pair.is_some()) =>
            {
                return self.pair_key(key, effects);
            }
            None if self.stack.screen() == Screen::Pager
                && self.stack.output().is_some_and(|pager| pager.drawer.open) =>
            {
                return self.drawer_key(key, effects);
            }
            None if self.stack.screen() == Screen::Stores && self.stores.is_to_wait(key) => {
                return self.stores.wait_for_rows(key);
            }
            _ => {}
        }
        if let Some(waiting) = self.waiting.take() {
            match waiting {
                Waiting::Text => return self.text_key(key, effects),
                Waiting::Limits => return self.copy_setting_key(key, effects),
                Waiting::SetMark | Waiting::ToMark | Waiting::Copy => {}
            }
            return self.in_pager(|pager| pager.second_key(waiting, key, effects));
        }
        if let KeyCode::Char(c) = key.code
            && let Some(digit) = c.to_digit(10)
            && key.modifiers.is_empty()
        {
            self.count = Some((self.count.unwrap_or(0) * 10 + u64::from(digit)).min(MOST));
            return;
        }
        let count = self.count.take();
        match self.canvas.keys.action(self.key_place(), key) {
            Some(action) => self.act(action, count, effects),
            None => {
                let help = self.canvas.keys.of(self.key_place(), Action::Help);
                self.message =
                    name(key).map(|name| Message::note(format!("{name} does nothing here; {help} for help")));
            }
        }
    }

    fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        if let Some(popup) = self.popup.take() {
            return self.act_on_popup(popup, action, effects);
        }
        match action {
            Action::Quit => self.quit(effects),
            Action::QuitNow => self.leave(effects),
            Action::Interrupt => self.interrupt(effects),
            Action::Help => self.open_help(self.key_place()),
            Action::Facts if self.stack.output().is_some() && self.stack.screen() != Screen::Tune => {
                self.popup = Some(Popup::Facts)
            }
            Action::GoTo => self.ask(Purpose::GoTo),
            Action::Sessions => self.go_to_sessions(effects),
            _ if self.stack.screen() == Screen::Stores => self.act_on_list(action, count, effects),
            _ if self.stack.screen() == Screen::Sessions => self.act_on_sessions(action, count, effects),
            _ if self.stack.screen() == Screen::Watch => self.act_on_watch(action, count, effects),
            _ if self.stack.screen() == Screen::Tune => self.act_on_tune(action, count, effects),
            _ => self.act_on_output(action, count, effects),
        }
    }

    fn act_on_output(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        match action {
            Action::Stores => self.go_to_spill(effects),
            Action::ToCall => self.go_to_call(effects),
            Action::Back => self.back(effects),
            Action::Search => self.ask_nth(Purpose::Search, count),
            Action::SearchBack => self.ask_nth(Purpose::SearchBack, count),
            Action::Matching => self.ask(Purpose::Lines { shows: Shows::All, around: count }),
            Action::Window => self.ask(Purpose::Window),
            Action::Json => self.show_json(count),
            Action::Texts => self.offer_texts(),
            Action::CopyText if self.stack.output().is_some_and(|pager| pager.selection.is_none()) => {
                self.wait(Waiting::Copy, &copying::choice(self.canvas.keys));
            }
            Action::Mark => self.wait(Waiting::SetMark, "mark: a letter"),
            Action::ToMark => self.wait(Waiting::ToMark, "go to mark: a letter, or ' for where you were"),
            _ => self.in_pager(|pager| pager.act(action, count, effects)),
        }
    }

    fn act_on_list(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        if action == Action::ToCall {
            return self.go_to_call(effects);
        }
        match self.in_stores(|stores| stores.act(action, count, effects)) {
            Next::Stay => {}
            Next::Look => self.go_to_stores(effects),
            Next::Filter(words) => {
                self.popup = Some(Popup::Prompt(Prompt::with(Purpose::Filter, &words)));
            }
            Next::Grep => self.ask(Purpose::Grep),
            Next::Tune(source, place, by) => self.tune_stored((source, place), by, effects),
            Next::Sort(menu) => self.popup = Some(Popup::Sort(menu)),
            Next::Clean(cleaning) => self.popup = Some(Popup::Cleaning(cleaning, 0)),
            Next::Back => self.go_back(effects),
        }
    }

    fn ask(&mut self, purpose: Purpose) {
        self.popup = Some(Popup::Prompt(Prompt::new(purpose)));
    }

    fn ask_nth(&mut self, purpose: Purpose, count: Option<u64>) {
        self.popup = Some(Popup::Prompt(Prompt::nth(purpose, count)));
    }

    fn wait(&mut self, waiting: Waiting, text: &str) {
        self.waiting = Some(waiting);
        self.message = Some(Message::note(text));
    }

    /// Handles Esc: from a plan or a search back to the text, from an output back to the place beneath.
    fn back(&mut self, effects: &mut Effects) {
        let mut went = false;
        self.in_pager(|pager| went = pager.back(effects));
        if !went {
            self.go_back(effects);
        }
    }
}
