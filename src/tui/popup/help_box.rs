//! Help as a pop-up: its rows in one column or two, with matches set off, and where it is.

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

use crate::tui::event::Message;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::screen::{Layer, LayerContext, LayerFrame, LayerNext, Screen};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::frame;
use crate::tui::widget::line::{self, Span};

use super::help::{HelpLine, HelpRows, HelpSearch, HelpView, INDENT, KEYS};

impl Layer for HelpView {
    fn context(&self, _below: &dyn Screen) -> KeyContext {
        KeyContext::Help
    }

    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext {
        if on.canvas.keys.action(KeyContext::Help, key) == Some(Action::QuitNow) && !self.is_typing() {
            return LayerNext::Passes(Action::QuitNow);
        }
        match self.key(key, on.canvas) {
            Ok(true) => {}
            Ok(false) => return LayerNext::Closes,
            Err(words) => on.below.say(Some(Message::note(words))),
        }
        LayerNext::Stays
    }

    fn draw(&self, look: LayerFrame) {
        draw(look.canvas, self, look.frame);
    }
}

fn draw(canvas: &Canvas, view: &HelpView, frame: &mut Frame) {
    let shown = HelpRows::of(view, canvas);
    let inner = frame::draw(canvas, frame, shown.place, title(view, &shown), foot(view, canvas));
    let number = shown.columns.len().max(1) as u16;
    let width = inner.width / number;
    for (column, lines) in shown.columns.iter().enumerate() {
        let x = inner.x + width * column as u16;
        for (n, line) in lines.iter().skip(view.top).take(usize::from(inner.height)).enumerate() {
            let at = Rect { x, y: inner.y + n as u16, width, height: 1 };
            line::spans(frame.buffer_mut(), at, &spans(canvas, line, view.sought()));
        }
    }
}

/// Says where help is: `Keys 1-19 of 78`.
fn title(view: &HelpView, shown: &HelpRows) -> String {
    let rows = shown.rows();
    let last = view.top.saturating_add(shown.height).min(rows);
    if last == rows && view.top == 0 {
        " Keys ".into()
    } else {
        format!(" Keys {}-{last} of {rows} ", view.top + 1)
    }
}

fn foot(view: &HelpView, canvas: &Canvas) -> String {
    let key = |action| canvas.keys.of(KeyContext::Help, action);
    let (down, close, search) = (key(Action::Down), key(Action::Help), key(Action::Search));
    let (next, previous, back) = (key(Action::NextMatch), key(Action::PreviousMatch), key(Action::Back));
    match &view.search {
        HelpSearch::None => format!(" {down} down · {search} search · {close} closes "),
        HelpSearch::Typing(text) => format!(" /{text}_  Enter · Esc cancel "),
        HelpSearch::Entered(text) => {
            format!(" /{text} · {next} next · {previous} previous · {back} ends · {close} closes ")
        }
    }
}

fn spans(canvas: &Canvas, line: &HelpLine, sought: &str) -> Vec<Span> {
    let found = canvas.theme.found;
    match line {
        HelpLine::Blank => Vec::new(),
        HelpLine::Heading(text) => {
            let mut spans = vec![Span::plain(" ")];
            spans.extend(marked(text, sought, canvas.theme.active, found));
            spans
        }
        HelpLine::Key(keys, what) => {
            let pad = " ".repeat(KEYS.saturating_sub(keys.width()));
            let mut spans = vec![Span::plain(" ".repeat(INDENT))];
            spans.extend(marked(keys, sought, canvas.theme.accent, found));
            spans.push(Span::plain(pad));
            spans.extend(marked(what, sought, Style::new(), found));
            spans
        }
    }
}

/// Splits a text where it holds what is sought, whatever the case of ASCII letters, and sets that off.
fn marked(text: &str, sought: &str, style: Style, found: Style) -> Vec<Span> {
    let (low, sought) = (text.to_ascii_lowercase(), sought.to_ascii_lowercase());
    let mut spans = Vec::new();
    let mut from = 0;
    if !sought.is_empty() {
        for (at, _) in low.match_indices(&sought) {
            spans.push(Span::new(&text[from..at], style));
            from = at + sought.len();
            spans.push(Span::new(&text[at..from], found));
        }
    }
    spans.push(Span::new(&text[from..], style));
    spans
}
