//! The application: screens on a stack, pop-ups over them. What has to happen outside is returned as effects.

mod stack;

use std::any::Any;
use std::collections::BTreeMap;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;

use crate::base::human;
use crate::config::EffectivePolicy;
use crate::document::reader::Cost;
use crate::store::Pending;
use crate::text::search::SeverityPatterns;

use super::calls::Calls;
use super::event::Purpose;
use super::job::{Tickets, unstamp};
use super::keys::{Action, character};
use super::lines::FoundLines;
use super::list::screen::ListScreen;
use super::outputs::Outputs;
use super::popup::help::HelpView;
use super::popup::leaving::Leaving;
use super::popup::prompt::Prompt;
use super::screen::{
    ExitChoice, Layer, LayerContext, LayerFrame, LayerNext, Screen, ScreenRequest, ScreenRows, StatusRow,
};
use super::sessions::Sessions;
use super::tune::changed::ChangedList;
use super::tune::{TuneRows, Tuning};
use super::widget::canvas::Canvas;
use super::widget::layout;
use super::widget::line::{self, Span};

pub use super::event::{Event, Message};
pub use super::outputs::OutputsEvent;
pub use super::pager::{ContentChange, OutputEvent};
pub use super::screen::{Effect, Effects};

/// The largest count accepted before a key: more than lines in any file; pages of it can be added without overflow.
const MAX_COUNT: u64 = 1_000_000_000_000_000;

const WHEEL_LINES: usize = 3;

/// Below this many rows there is room for one line only, even of a list, which may stand in a strip beside an agent.
const MIN_ROWS: u16 = 3;

/// Columns of the rule that stay at the right of what is written on it.
const RULE_END: u16 = 3;

pub struct App {
    pub canvas: Canvas,
    /// The screens from the one that the program began with up to the one that is shown.
    stack: Vec<Box<dyn Screen>>,
    idle_screens: Vec<Box<dyn Screen>>,
    layers: Vec<Box<dyn Layer>>,
    /// The what-ifs that are kept for outputs opened from lists, by the files of those; `None` if one was ended.
    what_ifs: BTreeMap<String, Option<Box<EffectivePolicy>>>,
    pub count: Option<u64>,
    pub severities: SeverityPatterns,
    pub(crate) tickets: Tickets,
}

impl App {
    pub fn new(canvas: Canvas) -> Self {
        Self {
            canvas,
            stack: Vec::new(),
            idle_screens: vec![
                Box::new(ListScreen::new(canvas, Outputs::default())),
                Box::new(ListScreen::new(canvas, Sessions::default())),
                Box::new(ListScreen::new(canvas, Calls::default())),
                Box::new(ListScreen::new(canvas, FoundLines::default())),
                Box::new(ListScreen::new(canvas, Tuning::new(TuneRows::Settings))),
                Box::new(ListScreen::new(canvas, Tuning::new(TuneRows::Policies))),
                Box::new(ListScreen::new(canvas, ChangedList::default())),
            ],
            layers: Vec::new(),
            what_ifs: BTreeMap::new(),
            count: None,
            severities: SeverityPatterns::default(),
            tickets: Tickets::default(),
        }
    }

    pub fn effects(&self) -> Effects {
        Effects::new(&self.tickets)
    }

    pub fn update(&mut self, event: impl Into<Event>, effects: &mut Effects) {
        let Some(event) = unstamp(event.into()) else { return };
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => self.key(key, effects),
            Event::Key(_) => {}
            Event::Paste(text) => self.paste(&text, effects),
            Event::Wheel(arrow) => self.wheel(arrow, effects),
            Event::Resize(columns, rows) => {
                self.repaint(Canvas { size: (columns, rows), ..self.canvas }, effects);
            }
            Event::Message(message) => self.say(Some(message)),
            event @ Event::Screen(_) => self.send(event, effects),
        }
        self.handle_requests(effects);
    }

    /// Hands an event to the screen that knows it, the uppermost if several do.
    fn send(&mut self, event: Event, effects: &mut Effects) {
        let mut left = Some(event);
        for (n, screen) in self.stack.iter_mut().rev().chain(&mut self.idle_screens).enumerate() {
            let Some(event) = left.take() else { break };
            left = screen.update(event, n == 0, effects).err();
        }
        self.refresh_layers();
    }

    fn refresh_layers(&mut self) {
        if let Some(top) = self.stack.last() {
            self.layers.iter_mut().for_each(|layer| layer.refresh(&**top));
        }
    }

    fn handle_requests(&mut self, effects: &mut Effects) {
        loop {
            let requests = std::mem::take(&mut effects.requests);
            if requests.is_empty() {
                return;
            }
            for request in requests {
                match request {
                    ScreenRequest::Back => self.go_back(effects),
                    ScreenRequest::Leave(choice) => self.leave(choice, effects),
                    ScreenRequest::DeleteMarked => effects.push(Effect::Delete(self.take_pending())),
                    ScreenRequest::OtherFile(number) => self.other_file(number, effects),
                    ScreenRequest::Show(link) => self.show(link, effects),
                    ScreenRequest::Turn(link) => self.turn(link, effects),
                    ScreenRequest::Send(Event::Message(message)) => self.say(Some(message)),
                    ScreenRequest::Send(event) => self.send(event, effects),
                    ScreenRequest::PushLayer(layer) => {
                        self.layers.push(layer);
                        self.refresh_layers();
                    }
                    ScreenRequest::Replay(keys) => self.replay(keys, effects),
                }
            }
        }
    }

    fn say(&mut self, message: Option<Message>) {
        self.on_top(|top| top.say(message));
    }

    pub fn repaint(&mut self, canvas: Canvas, effects: &mut Effects) {
        self.canvas = canvas;
        let screens = self.stack.iter_mut().chain(&mut self.idle_screens);
        screens.for_each(|screen| screen.repaint(canvas, effects));
        self.refresh_layers();
    }

    /// Handles keys that waited for rows. Once one opens something or leaves, the rest could answer unseen questions.
    fn replay(&mut self, keys: Vec<KeyEvent>, effects: &mut Effects) {
        for key in keys {
            self.key(key, effects);
            self.handle_requests(effects);
            let asks = self.layers.last().is_some_and(|layer| (&**layer as &dyn Any).is::<Leaving>());
            let leads_away = |effect: &Effect| matches!(effect, Effect::Open(_) | Effect::Quit(_));
            if asks || effects.outside.iter().any(leads_away) {
                return;
            }
        }
    }

    /// Whether a line is being typed, so that a key without a modifier is text.
    pub fn is_typing(&self) -> bool {
        self.layers.last().is_some_and(|layer| layer.is_typing())
    }

    fn paste(&mut self, text: &str, effects: &mut Effects) {
        let Some(mut layer) = self.layers.pop() else { return };
        self.on_top(|top| layer.paste(text, top, effects));
        self.layers.push(layer);
    }

    fn key(&mut self, key: KeyEvent, effects: &mut Effects) {
        if self.is_redraw(key) {
            return effects.push(Effect::Redraw);
        }
        self.say(None);
        if key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char('z') {
            return effects.push(Effect::Suspend);
        }
        if let Some(layer) = self.layers.pop() {
            return self.layer_key(layer, key, effects);
        }
        if self.on_top(|top| top.key(key, effects)) == Some(true) {
            return;
        }
        if let KeyCode::Char(c) = key.code
            && let Some(digit) = c.to_digit(10)
            && key.modifiers.is_empty()
        {
            self.count = Some((self.count.unwrap_or(0) * 10 + u64::from(digit)).min(MAX_COUNT));
            return;
        }
        let count = self.count.take();
        let context = self.context();
        match self.canvas.keys.action(context, key) {
            Some(action) => self.act(action, count, effects),
            None => self.say(self.canvas.keys.unknown(context, key).map(Message::note)),
        }
    }

    /// Whether a key draws the screen again, whatever lies over it or is typed.
    fn is_redraw(&self, key: KeyEvent) -> bool {
        let above = self.layers.last().zip(self.top());
        let context = above.map_or_else(|| self.context(), |(layer, below)| layer.context(below));
        let is_text = self.is_typing() && character(key).is_some();
        !is_text && self.canvas.keys.action(context, key) == Some(Action::Redraw)
    }

    fn wheel(&mut self, arrow: KeyCode, effects: &mut Effects) {
        let action = if arrow == KeyCode::Up { Action::Up } else { Action::Down };
        let is_typing = self.is_typing();
        for _ in (0..WHEEL_LINES).filter(|_| !is_typing) {
            match self.layers.pop() {
                Some(layer) => self.layer_key(layer, KeyEvent::from(arrow), effects),
                None => drop(self.on_top(|top| top.act(action, None, effects))),
            }
        }
    }

    fn layer_key(&mut self, mut layer: Box<dyn Layer>, key: KeyEvent, effects: &mut Effects) {
        let canvas = self.canvas;
        let next = self.on_top(|below| layer.key(key, LayerContext { canvas: &canvas, below, effects }));
        if next == Some(LayerNext::Stays) {
            self.layers.push(layer);
        }
    }

    fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        match action {
            Action::Quit => self.quit(effects),
            Action::QuitNow => self.leave(ExitChoice::default(), effects),
            Action::Interrupt => self.interrupt(effects),
            Action::Help => effects.push_layer(HelpView::new(self.context())),
            Action::GoTo => effects.push_layer(Prompt::new(Purpose::GoTo)),
            Action::Mark => effects.push_layer(Prompt::new(Purpose::Mark)),
            Action::ToMark => effects.push_layer(Prompt::new(Purpose::ToMark)),
            _ => drop(self.on_top(|top| top.act(action, count, effects))),
        }
    }

    /// Draws everything. `cost` counts what was read and laid out for it.
    pub fn draw(&self, frame: &mut Frame, cost: &Cost) {
        let (area, canvas) = (frame.area(), &self.canvas);
        if area.width < layout::LEAST.0 || area.height < MIN_ROWS {
            return line::left(frame.buffer_mut(), area, layout::TOO_SMALL, canvas.theme.bar);
        }
        let Some(top) = self.top() else { return };
        let asks = self.layers().next_back().is_some_and(|layer| layer.has_status_row());
        let status = if asks { StatusRow::Left } else { StatusRow::Own(self.count) };
        let ScreenRows { rule, status } = top.draw(status, frame, area, cost);
        if let Some(pending) = self.pending() {
            self.draw_pending(pending, frame, rule);
        }
        for layer in self.layers() {
            layer.draw(LayerFrame { canvas, below: top, frame, status });
        }
        canvas.finish(frame.buffer_mut());
    }

    fn draw_pending(&self, pending: &Pending, frame: &mut Frame, rule: Rect) {
        let (outputs, bytes) = (human::count(pending.len() as u64, "output"), human::size(pending.bytes()));
        let area = Rect { width: rule.width.saturating_sub(RULE_END), ..rule };
        // The rule is dim, and what is drawn on it would be, too.
        let style = self.canvas.theme.warning.remove_modifier(Modifier::DIM);
        let words = Span::new(format!(" {outputs} to delete ({bytes}) "), style);
        line::right(frame.buffer_mut(), area, 0, &[words]);
    }
}
