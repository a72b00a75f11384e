//! The state of the screens, and how events change it. No input or output: what is to be done outside
//! comes back as effects.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

use crate::source::{Change, PathStatus, View};
use crate::text::index::BlockCounts;
use crate::text::units::Measure;

use super::keys::{self, Action, Place};
use super::pager::drawer::Drawer;
use super::pager::output::{Output, Subject};
use super::pager::panes::Panes;
use super::pager::planning::Then;
use super::pager::search::Find;
use super::pager::window::ThenRead;
use super::popup::picker::Picker;
use super::popup::prompt::{Prompt, Purpose};
use super::stores::Listing;
use super::stores::glance::Glance;
use super::widget::layout::Side;
use super::widget::theme::Theme;

pub use super::event::{Changed, Effect, Effects, Event, Message};
pub use super::popup::Overlay;

/// The largest number that is taken before a key: no file has as many lines, and pages of it can be added up.
const MOST: u64 = 1_000_000_000_000_000;

/// Which question is being answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// One output: what did the model see, and what is in the file?
    Pager,
    /// Stores: what is kept, and until when?
    Stores,
}

/// A key that waits for the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Waiting {
    SetMark,
    ToMark,
}

/// Everything that the screens show.
pub struct App {
    /// Columns and rows of the terminal.
    pub size: (u16, u16),
    /// Looks.
    pub theme: Theme,
    /// Whether the terminal knows more than ASCII.
    pub unicode: bool,
    /// Which screen is shown.
    pub screen: Screen,
    /// The output that is looked at.
    pub output: Option<Output>,
    /// Where the panes stand.
    pub panes: Panes,
    /// The search.
    pub find: Find,
    /// The list of stored outputs.
    pub listing: Listing,
    /// The entry whose preview is shown beside the list.
    pub glance: Option<Glance>,
    /// The list of policies.
    pub picker: Picker,
    /// The limits drawer.
    pub drawer: Drawer,
    /// A line being typed.
    pub prompt: Option<Prompt>,
    /// What lies over the screen.
    pub overlay: Option<Overlay>,
    /// What is told until the next key.
    pub message: Option<Message>,
    /// Digits typed before a key.
    pub count: Option<u64>,
    pub(super) waiting: Option<Waiting>,
    /// The number of the plan that was asked for last,
    pub(super) plans: u64,
    /// and what to do once it is there.
    pub(super) then: Then,
    /// Whether more of the output may come.
    pub streaming: bool,
    /// Whether the command runs whose output is shown.
    pub running: bool,
    /// How many outputs were named.
    pub files: usize,
    /// Which of them is looked at, 0-based.
    pub file: usize,
    /// What has become of the file's name.
    pub path_status: PathStatus,
}

impl App {
    /// Screens of this size, with nothing to look at yet.
    pub fn new(size: (u16, u16), theme: Theme, unicode: bool) -> Self {
        Self {
            size,
            theme,
            unicode,
            screen: Screen::Stores,
            output: None,
            panes: Panes::default(),
            find: Find::default(),
            listing: Listing::default(),
            glance: None,
            picker: Picker::default(),
            drawer: Drawer::default(),
            prompt: None,
            overlay: None,
            message: None,
            count: None,
            waiting: None,
            plans: 0,
            then: Then::Stay,
            streaming: false,
            running: false,
            files: 0,
            file: 0,
            path_status: PathStatus::Current,
        }
    }

    /// Looks at an output, from its start, in Preview.
    pub fn open(&mut self, subject: Subject, view: View, streaming: bool, effects: &mut Effects) {
        let warning =
            subject.warnings.first().map(|text| Message::error(crate::text::label::label(text.as_bytes())));
        let output = Output::new(subject, view);
        self.panes = Panes::default();
        self.find.forget_place();
        self.screen = Screen::Pager;
        self.overlay = None;
        self.streaming = streaming;
        self.path_status = PathStatus::Current;
        self.output = Some(output);
        self.message = warning;
        self.plan(Then::Stay, effects);
        self.count_all(effects);
    }

    /// Takes in an event.
    pub fn update(&mut self, event: Event, effects: &mut Effects) {
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key, effects),
            Event::Key(_) => {}
            Event::Paste(text) => self.paste(&text, effects),
            Event::Resize(columns, rows) => self.resize((columns, rows), effects),
            Event::Counted { generation, number, counts, measure, bytes } => {
                self.counted((generation, number), &counts, &measure, bytes, effects)
            }
            Event::Found(found) => self.found(found),
            Event::Changed(changed) => self.changed(changed, effects),
            Event::Scanned(scanned) => self.list_scanned(scanned, effects),
            Event::Arranged(arranged) => self.list_arranged(*arranged, effects),
            Event::Ended(words) => {
                self.running = false;
                self.message = Some(Message::note(words));
            }
            Event::StoresChanged => self.stores_changed(effects),
            Event::Deleted(message) => {
                self.message = Some(message);
                self.stores_changed(effects)
            }
            Event::Kept { id, keep, fault } => self.kept(id, keep, fault, effects),
            Event::Peeked(peeks) => {
                peeks.into_iter().for_each(|(entry, peek)| self.listing.details.read(&entry, peek));
            }
            Event::LinesCounted(entry, lines) => {
                self.listing.details.counted(&entry, lines);
            }
            Event::Glanced(glance) => self.glanced(*glance),
            Event::Planned(planned) => self.planned(*planned, effects),
            Event::Advised(number, change) => self.advised(number, change),
            Event::Policies(choices) => {
                self.offer(choices);
            }
            Event::ReadTool(choice, then) => self.read_tool(choice, then, effects),
            Event::Told(message) => {
                self.message = Some(message);
            }
        }
    }

    /// Whether more of the output may come by itself.
    pub fn is_coming(&self) -> bool {
        self.running || self.streaming
    }

    fn resize(&mut self, size: (u16, u16), effects: &mut Effects) {
        self.size = size;
        self.settle();
        self.settle_list(effects)
    }

    /// The place in whose keys a key press is looked up.
    pub fn key_place(&self) -> Place {
        match self.screen {
            Screen::Pager => Place::Pager,
            Screen::Stores => Place::Stores,
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent, effects: &mut Effects) {
        self.message = None;
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('z') {
            return effects.push(Effect::Suspend);
        }
        if self.prompt.is_some() {
            return self.type_key(key, effects);
        }
        match self.overlay {
            Some(Overlay::Policies) => return self.pick_key(key, effects),
            Some(Overlay::Limits) => return self.drawer_key(key, effects),
            None if self.is_to_wait(key) => return self.wait_for_rows(key),
            _ => {}
        }
        if let Some(waiting) = self.waiting.take() {
            self.mark_key(waiting, key);
            return;
        }
        if let KeyCode::Char(c) = key.code
            && let Some(digit) = c.to_digit(10)
            && key.modifiers.is_empty()
        {
            self.count = Some((self.count.unwrap_or(0) * 10 + u64::from(digit)).min(MOST));
            return;
        }
        let count = self.count.take();
        match keys::action(self.key_place(), key) {
            Some(action) => self.act(action, count, effects),
            None => {
                self.message = keys::name(key)
                    .map(|name| Message::note(format!("{name} does nothing here; h for help")));
            }
        }
    }

    fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        if self.overlay.is_some() {
            return self.act_on_overlay(action, effects);
        }
        match action {
            Action::Quit => effects.push(Effect::Quit),
            Action::Help => self.overlay = Some(Overlay::Help(0)),
            Action::Facts if self.output.is_some() => self.overlay = Some(Overlay::Facts),
            _ if self.screen == Screen::Stores => self.act_on_list(action, count, effects),
            _ => self.act_on_output(action, count, effects),
        }
    }

    fn act_on_output(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        match action {
            Action::Stores => return self.go_to_stores(effects),
            Action::Back => return self.back(effects),
            Action::Search => self.prompt = Some(Prompt::new(Purpose::Search)),
            Action::SearchBack => self.prompt = Some(Prompt::new(Purpose::SearchBack)),
            Action::NextMatch => return self.next_match(false, effects),
            Action::PreviousMatch => return self.next_match(true, effects),
            Action::GoTo => self.prompt = Some(Prompt::new(Purpose::GoTo)),
            Action::Window => self.prompt = Some(Prompt::new(Purpose::Window)),
            Action::Mark => self.wait(Waiting::SetMark, "mark: a letter"),
            Action::ToMark => self.wait(Waiting::ToMark, "go to mark: a letter, or ' for where you were"),
            Action::Copy => return self.copy_path(effects),
            Action::Editor => {
                return effects.push(Effect::Edit(self.line_of_top().map_or(1, |line| line + 1)));
            }
            Action::Reopen => return effects.push(Effect::Reopen),
            Action::MoreLines => return self.turn_lines(true, count, effects),
            Action::FewerLines => return self.turn_lines(false, count, effects),
            Action::MoreBytes => return self.turn_size(true, count, effects),
            Action::FewerBytes => return self.turn_size(false, count, effects),
            Action::Direction => return self.turn_direction(effects),
            Action::ReadForm => return self.ask_read_tool(ThenRead::Show, effects),
            Action::CopyCall => return self.ask_read_tool(ThenRead::CopyCall, effects),
            Action::Limits => return self.open_drawer(effects),
            Action::Policy => return effects.push(Effect::Policies),
            Action::Candidate => return self.next_candidate(effects),
            _ => self.move_by(action, count),
        }
    }

    fn wait(&mut self, waiting: Waiting, text: &str) {
        self.waiting = Some(waiting);
        self.message = Some(Message::note(text));
    }

    fn copy_path(&mut self, effects: &mut Effects) {
        let Some(output) = &self.output else { return };
        let text = crate::text::label::shell::word(output.saved_as.as_bytes());
        self.message = Some(Message::note(format!("copied: {text}")));
        effects.push(Effect::Copy(text))
    }

    /// Esc goes back: from a plan or a search to the text, from an output to the list it was opened from.
    fn back(&mut self, effects: &mut Effects) {
        if self.give_up_planning(effects) {
            return;
        }
        if self.find.is_running() {
            self.find.stop();
            self.message = Some(Message::note("search stopped"));
            return effects.push(Effect::StopSearch);
        }
        if self.find.pattern.is_some() {
            self.find.clear();
            return;
        }
        if self.listing.opened {
            self.screen = Screen::Stores;
        }
    }

    fn counted(
        &mut self,
        of: (u64, u64),
        counts: &BlockCounts,
        measure: &Measure,
        bytes: u64,
        effects: &mut Effects,
    ) {
        let Some(output) = self.output.as_mut().filter(|o| (o.view.generation(), o.count_number()) == of)
        else {
            return;
        };
        if output.counted(counts, measure, bytes) {
            return self.plan_again(effects);
        }
    }

    /// Counts what is not counted yet: all blocks, or those that have come since.
    pub(super) fn count_all(&mut self, effects: &mut Effects) {
        let Some(output) = &mut self.output else { return };
        let want = output.wanted();
        let from = output.start_counting(want);
        effects.push(Effect::Count { number: output.count_number(), want, from })
    }

    fn changed(&mut self, changed: Changed, effects: &mut Effects) {
        let Some(output) = &mut self.output else { return };
        self.streaming = changed.streaming;
        if self.path_status != PathStatus::Gone && changed.path == PathStatus::Gone {
            self.message = Some(Message::error("the file was deleted; what you see is still held"));
        }
        self.path_status = changed.path;
        if changed.content == Change::Same {
            return;
        }
        let lost = output.changed(changed.view);
        self.message = match changed.content {
            Change::Truncated => {
                Some(Message::error("the file was cut short while you looked; shown as it is now"))
            }
            Change::Replaced => {
                Some(Message::error("the file was rewritten while you looked; shown as it is now"))
            }
            _ => self.message.take(),
        };
        if lost {
            self.plan(Then::Stay, effects)
        } else {
            self.plan_again(effects)
        }
        self.settle();
        self.follow();
        self.count_all(effects);
    }

    /// The side on which keys act.
    pub fn focus(&self) -> Side {
        self.panes.focus
    }
}
