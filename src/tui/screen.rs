//! What the application knows of its screens and pop-ups, and what those request of it and of the event loop.

use std::any::Any;
use std::path::PathBuf;
use std::sync::Arc;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::corpus::{Corpus, TuneOutputs, TunePolicies, TuneRun};
use crate::document::reader::Cost;
use crate::output::Subject;
use crate::output::recorded::{CallRequest, ReadyCall};
use crate::session::reader::SessionFile;
use crate::session::spill::CitingCall;
use crate::source::MapView;
use crate::store::PendingDelete;
use crate::text::label::SafeText;
use crate::text::search::Pattern;

use super::event::{Event, Message, Purpose, ScreenEvent, SearchScope};
use super::job::{Job, JobContext, Pace, Slot, Tickets};
use super::keys::{Action, KeyContext};
use super::target::StartView;
use super::widget::canvas::Canvas;
use super::widget::line::Span;

/// What a screen draws in its last row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusRow {
    /// Its own words, with the count that has been typed.
    Own(Option<u64>),
    /// Nothing: a pop-up draws there.
    Left,
}

pub struct ScreenRows {
    pub rule: Rect,
    pub status: Rect,
}

pub trait Screen: Any {
    fn context(&self) -> KeyContext;

    fn message(&self) -> Option<&Message>;

    /// Puts a message in the status line until the next key, or takes it away.
    fn say(&mut self, message: Option<Message>);

    fn serves(&self, _link: &Link) -> bool {
        false
    }

    /// Handles an event, or returns it if it is for another screen. `is_top` is whether this screen is shown.
    fn update(&mut self, event: Event, is_top: bool, effects: &mut Effects) -> Result<(), Event>;

    /// Handles a key before actions are looked up. Returns whether it was used.
    fn key(&mut self, key: KeyEvent, effects: &mut Effects) -> bool;

    /// Whether an action of the screen does something here, so that help lists its keys.
    fn supports(&self, action: Action) -> bool;

    /// Carries out an action, `count` times or on the line or row of this number.
    fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects);

    /// Closes what lies over the place. Returns false if nothing does.
    fn close_inner(&mut self, _effects: &mut Effects) -> bool {
        false
    }

    /// Stops what runs. Returns false if nothing does.
    fn stop(&mut self, effects: &mut Effects) -> bool;

    fn repaint(&mut self, canvas: Canvas, effects: &mut Effects);

    /// Draws the screen. Returns the rows on which the application and pop-ups draw.
    fn draw(&self, status: StatusRow, frame: &mut Frame, area: Rect, cost: &Cost) -> ScreenRows;

    /// The screen has come to the top of the stack, or is asked for anew.
    fn show(&mut self, _effects: &mut Effects) {}

    fn cover(&mut self, _effects: &mut Effects) {}

    fn close(&mut self, effects: &mut Effects);

    /// Handles an entered line; one that is refused can be corrected.
    fn enter(&mut self, purpose: Purpose, text: &str, effects: &mut Effects) -> Result<(), String>;

    fn type_on(&mut self, purpose: Purpose, text: &str, effects: &mut Effects);

    /// Undoes what typing previewed when the line is cancelled.
    fn give_up_typing(&mut self, purpose: Purpose, effects: &mut Effects);

    /// Returns the lines entered before, newest last.
    fn history(&self, _purpose: Purpose) -> &[String] {
        &[]
    }

    /// What was found of the line that is being typed.
    fn prompt_note(&self) -> Option<Span> {
        None
    }

    fn sort_by(&mut self, column: usize, effects: &mut Effects);

    /// Whether a command still runs whose output it shows.
    fn is_running(&self) -> bool {
        false
    }
}

pub trait Layer: Any {
    fn context(&self, below: &dyn Screen) -> KeyContext {
        below.context()
    }

    /// Whether a key without a modifier is text.
    fn is_typing(&self) -> bool {
        false
    }

    fn has_status_row(&self) -> bool {
        false
    }

    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext;

    fn paste(&mut self, _text: &str, _below: &mut dyn Screen, _effects: &mut Effects) {}

    fn refresh(&mut self, _below: &dyn Screen) {}

    fn draw(&self, look: LayerFrame);
}

pub struct LayerContext<'a> {
    pub canvas: &'a Canvas,
    pub below: &'a mut dyn Screen,
    pub effects: &'a mut Effects,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayerNext {
    Stays,
    Closes,
}

pub struct LayerFrame<'a, 'b> {
    pub canvas: &'a Canvas,
    pub below: &'a dyn Screen,
    pub frame: &'a mut Frame<'b>,
    pub status: Rect,
}

#[derive(Clone)]
pub enum Link {
    /// To the list of stored outputs, with this one selected.
    Stores(Option<PathBuf>),
    Sessions,
    Session {
        file: Arc<SessionFile>,
        title: SafeText,
    },
    Call(Box<CitingCall>),
    /// To a call itself, opened from the list of its session.
    OpenCall(Box<CitingCall>),
    Lines(Pattern, SearchScope),
    /// From the call of this index to its spill in the list of stored outputs.
    SpillOfCall(usize),
    /// To the list of stored outputs, which keeps this one forever: what it is, and what was read of it.
    Keep(Box<(Subject, MapView)>),
    Tune(TuneStart),
    /// To the outputs that a setting cuts differently.
    Changed(ChangedStart),
}

impl ScreenEvent for Link {}

impl Link {
    /// Leads from the fact of a name about a call to its session, or to it.
    pub(crate) fn in_session(name: &str, call: &CitingCall) -> Option<Self> {
        match name {
            "session" => {
                Some(Self::Session { file: Arc::new(call.file.clone()), title: SafeText::default() })
            }
            "call" => Some(Self::Call(Box::new(call.clone()))),
            _ => None,
        }
    }

    pub(crate) fn lines(text: &str, scope: SearchScope) -> Result<Self, String> {
        if text.is_empty() {
            return Err("type a regular expression, or Esc".to_owned());
        }
        Ok(Self::Lines(Pattern::new(text).map_err(|error| error.describe())?, scope))
    }
}

pub type TuneSource = Arc<dyn Fn(&JobContext) -> Result<TuneOutputs, String> + Send + Sync>;

#[derive(Clone)]
pub struct TuneStart {
    pub(crate) list: TuneSource,
    pub place: SafeText,
    pub policies: TunePolicies,
    /// What counts; without it the errors do.
    pub find: Option<Pattern>,
    /// The same outputs once they were listed.
    pub(crate) listed: Option<Arc<Corpus>>,
}

impl TuneStart {
    pub fn new(list: TuneSource, place: impl Into<SafeText>, policies: TunePolicies) -> Self {
        Self { list, place: place.into(), policies, find: None, listed: None }
    }
}

#[derive(Debug, Clone)]
pub struct ChangedStart {
    pub(crate) run: Arc<TuneRun>,
    pub(crate) setting: usize,
    pub(crate) name: SafeText,
    pub(crate) matches: &'static str,
}

pub enum ScreenRequest {
    Back,
    /// Leaves the screens; asks first about what would be lost, as far as that is not chosen.
    Leave(ExitChoice),
    DeleteMarked,
    /// Goes back to the outputs named on the command line, and on to the one of this index.
    OtherFile(usize),
    /// Goes to the screen that serves this link, and hands it over.
    Show(Link),
    /// Goes to the screen that serves this link in place of the one that is shown.
    Turn(Link),
    Send(Event),
    PushLayer(Box<dyn Layer>),
    Replay(Vec<KeyEvent>),
}

/// What is done on leaving, as far as the user has been asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExitChoice {
    pub stop_command: Option<bool>,
    pub delete_marked: Option<bool>,
}

#[derive(Debug, Clone, Default)]
pub struct OpenRequest {
    pub path: PathBuf,
    pub start: StartView,
    /// What its list calls it; empty if its file's name is all that is known.
    pub name: SafeText,
    pub id: String,
    pub is_kept: bool,
    /// The command that printed it, as it was written; empty if none is known.
    pub command: String,
}

#[derive(Debug)]
pub enum Effect {
    /// Has a worker do a job; an earlier one in its slot is abandoned.
    Run(Job),
    Stop(Slot),
    /// Asks something of the worker that holds the open session.
    Ask(CallRequest),
    /// Leaves the screens, then deletes these entries. Nothing else that is marked is deleted.
    Quit(Vec<PendingDelete>),
    /// Stops the command whose output is shown first, as Ctrl-C does.
    StopCommand,
    Copy(String),
    /// Opens a file in an editor, by default that of the output being viewed.
    Edit {
        path: Option<PathBuf>,
        /// The line to begin with, 1-based.
        line: u64,
    },
    Open(OpenRequest),
    Reopen,
    OtherFile(usize),
    Delete(Vec<PendingDelete>),
    OpenCall(Box<ReadyCall>, StartView),
    Redraw,
    Suspend,
}

#[derive(Default)]
pub struct Effects {
    pub outside: Vec<Effect>,
    pub(super) requests: Vec<ScreenRequest>,
    tickets: Tickets,
}

impl Effects {
    pub(crate) fn new(tickets: &Tickets) -> Self {
        Self { tickets: tickets.clone(), ..Self::default() }
    }

    pub fn push(&mut self, effect: Effect) {
        self.outside.push(effect);
    }

    pub(crate) fn run(&mut self, slot: Slot, work: impl FnOnce(&JobContext) + Send + 'static) {
        self.run_at(Pace::Background, slot, work);
    }

    pub(crate) fn run_at(&mut self, pace: Pace, slot: Slot, work: impl FnOnce(&JobContext) + Send + 'static) {
        self.push(Effect::Run(Job { pace, ticket: self.tickets.next(slot), work: Box::new(work) }));
    }

    pub(crate) fn stop(&mut self, slots: impl IntoIterator<Item = Slot>) {
        for slot in slots {
            self.tickets.void(slot);
            self.push(Effect::Stop(slot));
        }
    }

    pub(crate) fn request(&mut self, request: ScreenRequest) {
        self.requests.push(request);
    }

    pub(crate) fn show(&mut self, link: Link) {
        self.request(ScreenRequest::Show(link));
    }

    pub(crate) fn turn(&mut self, link: Link) {
        self.request(ScreenRequest::Turn(link));
    }

    pub(crate) fn send(&mut self, event: impl Into<Event>) {
        self.request(ScreenRequest::Send(event.into()));
    }

    pub(crate) fn push_layer(&mut self, layer: impl Layer) {
        self.request(ScreenRequest::PushLayer(Box::new(layer)));
    }
}
