//! The output as a screen of the application: its keys, prompts and events.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;

use crate::text::filter::Shows;
use crate::text::search::Toward;
use crate::tui::event::{Event, Message};
use crate::tui::job::Slot;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::recorded::{CallRequest, CallText};
use crate::tui::screen::{Effect, Effects, Link, Screen, ScreenRequest, ScreenRows, StatusLine};
use crate::tui::target::OpenedFrom;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::cost::Cost;
use crate::tui::widget::line::Span;
use crate::tui::widget::prompt::{Prompt, Purpose};

use super::event::OutputEvent;
use super::filter::Asked;
use super::json_box::JsonBox;
use super::jump::Waiting;
use super::view::facts::FactsBox;
use super::{Pager, copying, picker, view};

impl Screen for Pager {
    fn context(&self) -> KeyContext {
        match (&self.pair, self.drawer.open) {
            (Some(_), _) => KeyContext::Pair,
            (None, true) => KeyContext::Drawer,
            (None, false) => KeyContext::Pager,
        }
    }

    fn message(&self) -> Option<&Message> {
        self.message.as_ref()
    }

    fn say(&mut self, message: Option<Message>) {
        self.message = message;
    }

    fn update(&mut self, event: Event, is_top: bool, effects: &mut Effects) -> Result<(), Event> {
        match event.downcast()? {
            OutputEvent::Policies(choices) => picker::open(self, choices, effects),
            OutputEvent::Ready(ready) => {
                let shown = self.output.recorded.as_ref().map(|recorded| recorded.index);
                if is_top && shown == Some(ready.recorded.index) {
                    effects.push(Effect::OpenCall(ready));
                }
            }
            event => self.handle(event, effects),
        }
        Ok(())
    }

    fn key(&mut self, key: KeyEvent, effects: &mut Effects) -> bool {
        let context = self.context();
        let is_typing = context == KeyContext::Drawer && self.drawer.typed.is_some();
        match (context, self.canvas.keys.action(context, key)) {
            (KeyContext::Pair | KeyContext::Drawer, Some(Action::QuitNow | Action::Help)) if !is_typing => {
                return false;
            }
            (KeyContext::Pair, _) => self.pair_key(key),
            (KeyContext::Drawer, _) => self.drawer_key(key, effects),
            _ => match self.waiting.take() {
                Some(waiting) => self.second_key(waiting, key, effects),
                None => return false,
            },
        }
        true
    }

    fn act(&mut self, action: Action, count: Option<u64>, effects: &mut Effects) {
        match action {
            Action::Facts => effects.lay(FactsBox),
            Action::Stores => match &self.output.recorded {
                Some(recorded) => effects.send(Link::SpillOfCall(recorded.index)),
                None => effects.show(Link::Stores(None)),
            },
            Action::ToCall if self.origin() == OpenedFrom::Stores => effects.send(Link::CallOfOutput),
            Action::ToCall => {
                self.message = Some(Message::note("only an output opened from Outputs leads to its call"))
            }
            Action::Back if !self.back(effects) => effects.request(ScreenRequest::Back),
            Action::Back => {}
            Action::Search => effects.lay(Prompt::nth(Purpose::Search, count)),
            Action::SearchBack => effects.lay(Prompt::nth(Purpose::SearchBack, count)),
            Action::Matching => {
                effects.lay(Prompt::new(Purpose::Lines { shows: Shows::All, around: count }));
            }
            Action::Window => effects.lay(Prompt::new(Purpose::Window)),
            Action::Json => match self.line_as_json(count) {
                Ok(line) => effects.lay(JsonBox::new(line)),
                Err(words) => self.message = Some(Message::error(words)),
            },
            Action::Texts => self.offer_texts(),
            Action::CopyText if self.selection.is_none() => {
                self.wait(Waiting::Copy, &copying::choice(self.canvas.keys));
            }
            Action::Mark => self.wait(Waiting::SetMark, "mark: a letter"),
            Action::ToMark => self.wait(Waiting::ToMark, "go to mark: a letter, or ' for where you were"),
            _ => self.carry_out(action, count, effects),
        }
    }

    fn close_inner(&mut self, effects: &mut Effects) -> bool {
        self.close_read_form(effects)
    }

    fn stop(&mut self, effects: &mut Effects) -> bool {
        self.stop_work(effects)
    }

    fn repaint(&mut self, canvas: Canvas, _effects: &mut Effects) {
        self.hold();
        self.canvas = canvas;
        self.show_otherwise();
        self.follow();
    }

    fn draw(&self, status: Option<StatusLine>, frame: &mut Frame, area: Rect, cost: &Cost) -> ScreenRows {
        let rows = view::draw(self, status, frame, area, cost);
        if let Some(pair) = &self.pair {
            view::pair::draw(self, pair, frame, cost);
        }
        rows
    }

    fn enter(&mut self, prompt: &Prompt, effects: &mut Effects) -> Result<(), String> {
        match (prompt.purpose(), prompt.text().trim()) {
            (Purpose::Search, _) => self.search(prompt.text(), (Toward::End, prompt.times()), effects)?,
            (Purpose::SearchBack, _) => {
                self.search(prompt.text(), (Toward::Start, prompt.times()), effects)?
            }
            (Purpose::Lines { shows, around }, _) => {
                self.filter(Asked { text: prompt.text(), shows, around }, effects)?;
            }
            (Purpose::GoTo, text @ ("n" | "p")) => {
                effects.request(ScreenRequest::OtherFile { next: text == "n" });
            }
            (Purpose::GoTo, text) => self.go_to(text)?,
            (Purpose::Window, text) => self.set_window(text)?,
            _ => {}
        }
        Ok(())
    }

    fn type_on(&mut self, prompt: &Prompt, effects: &mut Effects) {
        match prompt.purpose() {
            Purpose::Search => self.type_search(prompt.text(), (Toward::End, prompt.times()), effects),
            Purpose::SearchBack => self.type_search(prompt.text(), (Toward::Start, prompt.times()), effects),
            _ => {}
        }
    }

    fn give_up_typing(&mut self, effects: &mut Effects) {
        self.give_up_search(effects);
    }

    fn history(&self, purpose: Purpose) -> &[String] {
        match purpose {
            Purpose::Lines { .. } => &self.filter.history,
            _ => &self.find.history,
        }
    }

    fn prompt_note(&self) -> Option<Span> {
        view::status::typed(self)
    }

    fn is_running(&self) -> bool {
        self.running
    }
}

impl Pager {
    fn wait(&mut self, waiting: Waiting, text: &str) {
        self.waiting = Some(waiting);
        self.message = Some(Message::note(text));
    }

    /// Asks which other text of the recorded call to show.
    fn offer_texts(&mut self) {
        if self.output.recorded.is_some() {
            return self.wait(Waiting::Text, &CallText::choice(self.canvas.keys));
        }
        let key = self.key_of(Action::Sessions);
        let words = format!("only a call of a session has other texts; {key} lists sessions");
        self.message = Some(Message::note(words));
    }

    /// Handles the key that names a text of the call.
    pub(super) fn text_key(&mut self, key: KeyEvent, effects: &mut Effects) {
        let index = self.output.recorded.as_ref().map(|recorded| recorded.index);
        match (CallText::chosen(key, self.canvas.keys), index) {
            (Ok(Some(text)), Some(index)) => effects.ask(Slot::OpenSession, CallRequest::Text(index, text)),
            (Ok(_), _) => {}
            (Err(words), _) => self.message = Some(Message::note(words)),
        }
    }
}
