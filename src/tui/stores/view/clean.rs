//! Draws what cleaning would delete, before anything is deleted.

use std::any::Any;

use crossterm::event::KeyEvent;
use ratatui::Frame;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use crate::human::{count, size, span};
use crate::text::label::SafeText;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::screen::{Layer, LayerContext, LayerFrame, LayerNext, box_action};
use crate::tui::stores::{Cleaning, StoresScreen};
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::{frame, layout};

/// Returns the keys, the longest form first.
fn feet(keys: &KeyMap) -> [String; 3] {
    let [open, undo, back] =
        [Action::Open, Action::Undo, Action::Back].map(|action| keys.of(KeyContext::Stores, action));
    [format!(" (leaving asks; {undo} undoes)"), " (leaving asks)".into(), String::new()]
        .map(|asks| format!(" {open} marks them for deletion{asks} · {back} leaves them "))
}

/// The overdue entries, scrolled down to a row.
pub(crate) struct CleaningBox {
    pub(crate) cleaning: Cleaning,
    pub(crate) top: u16,
}

impl Layer for CleaningBox {
    fn key(&mut self, key: KeyEvent, mut on: LayerContext) -> LayerNext {
        let action = match box_action(key, &mut on) {
            Ok(action) => action,
            Err(next) => return next,
        };
        let page = on.canvas.size.1 / 2;
        self.top = match action {
            Action::Down => self.top.saturating_add(1),
            Action::Up => self.top.saturating_sub(1),
            Action::PageDown | Action::HalfDown | Action::Choose => self.top.saturating_add(page),
            Action::PageUp | Action::HalfUp => self.top.saturating_sub(page),
            Action::Open => {
                if let Some(stores) = (on.below as &mut dyn Any).downcast_mut::<StoresScreen>() {
                    stores.accept_cleaning(&self.cleaning);
                }
                return LayerNext::Closes;
            }
            _ => return LayerNext::Closes,
        };
        LayerNext::Stays
    }

    fn draw(&self, look: LayerFrame) {
        if let Some(stores) = (look.below as &dyn Any).downcast_ref() {
            let area = look.frame.area();
            draw(stores, &self.cleaning, look.frame, area, self.top);
        }
    }
}

/// Draws the list of overdue entries, scrolled down to row `top`.
fn draw(screen: &StoresScreen, cleaning: &Cleaning, frame: &mut Frame, area: Rect, top: u16) {
    let Cleaning { plan, entries } = cleaning;
    let now = screen.listing.now.unwrap_or_default();
    let rows = plan.to_delete.len().max(1);
    let place = layout::overlay(
        area,
        100,
        u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(4).min(area.height.saturating_sub(2)),
    );
    let title = format!(" Overdue: {}, {} ", count(plan.to_delete.len() as u64, "output"), size(plan.bytes));
    let fits = |foot: &String| foot.width() + 2 <= usize::from(place.width);
    let foot = feet(screen.canvas.keys).into_iter().find(fits).unwrap_or_default();
    let inner = frame::draw(&screen.canvas, frame, place, title, foot);
    let height = usize::from(inner.height.saturating_sub(1));
    let top = usize::from(top).min(plan.to_delete.len().saturating_sub(height.max(1)));
    for (n, to_delete) in plan.to_delete.iter().skip(top).take(height).enumerate() {
        let entry = entries.entry(to_delete.index as u32);
        let age = span(entry.age(now).as_secs().max(0) as u64);
        let path = SafeText::from_bytes(entry.path().as_os_str().as_encoded_bytes());
        let room = usize::from(inner.width).saturating_sub(26);
        let spans = [
            Span::new(format!(" {:>9}  {age:>7} old  ", size(entry.size())), screen.canvas.theme.dim),
            Span::plain(path.fit(room)),
        ];
        line::spans(frame.buffer_mut(), Rect { y: inner.y + n as u16, height: 1, ..inner }, &spans);
    }
    if inner.height > 0 && !plan.skipped.is_empty() {
        let foot = Rect { y: inner.y + inner.height - 1, height: 1, ..inner };
        let words =
            format!(" {} more are overdue, and stay: kept, linked, in use or too young", plan.skipped.len());
        let words = line::head(words, foot.width.into(), screen.canvas.glyphs());
        line::left(frame.buffer_mut(), foot, words, screen.canvas.theme.dim);
    }
}
