//! What cleaning would delete, shown before anything is deleted.

use std::any::Any;

use crossterm::event::KeyEvent;
use jiff::Timestamp;
use ratatui::Frame;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

use crate::human::{count, size, span};
use crate::store::{CleanPlan, CleanRule, DeleteMode, Marked, Trigger, clean_plan};
use crate::text::label::SafeText;
use crate::tui::event::Message;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::list::rows::RowTable;
use crate::tui::list::screen::ListScreen;
use crate::tui::screen::{Layer, LayerContext, LayerFrame, LayerNext, Screen, box_action};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::{frame, layout};

use super::rows::OutputRow;
use super::{Context, Outputs};

impl Outputs {
    /// Shows what is overdue, before anything is deleted.
    pub(super) fn offer_cleaning(&mut self, on: Context) {
        let rule = CleanRule { asked: Trigger::ByHand, older_than: None, max_total: None };
        let rows = on.list.rows().clone();
        let now = on.list.look().now;
        let mut plan = clean_plan(rows.iter().map(|row| &row.entry), now, &rule);
        plan.to_delete.sort_by_key(|to_delete| rows[to_delete.index].entry.identity.modified);
        if plan.to_delete.is_empty() {
            *on.message = Some(Message::note("nothing is overdue"));
            return;
        }
        on.effects.lay(CleaningBox { plan, rows, now, top: 0 });
    }
}

/// Returns the keys, the longest form first.
fn feet(keys: &KeyMap) -> [String; 3] {
    let [open, undo, back] =
        [Action::Open, Action::Undo, Action::Back].map(|action| keys.of(KeyContext::Lists, action));
    [format!(" (leaving asks; {undo} undoes)"), " (leaving asks)".into(), String::new()]
        .map(|asks| format!(" {open} marks them for deletion{asks} · {back} leaves them "))
}

/// The overdue entries, scrolled down to a row.
struct CleaningBox {
    /// What cleaning would delete. Its indices are row numbers in `rows`.
    plan: CleanPlan,
    /// The rows that the plan was made from.
    rows: RowTable<OutputRow>,
    /// The time that ages are counted to.
    now: Timestamp,
    top: u16,
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
                if let Some(outputs) = (on.below as &mut dyn Any).downcast_mut::<ListScreen<Outputs>>() {
                    outputs.of.pending.mark(self.marked());
                    let words = outputs.of.pending_words(on.canvas.keys);
                    outputs.say(Some(Message::note(words)));
                }
                return LayerNext::Closes;
            }
            _ => return LayerNext::Closes,
        };
        LayerNext::Stays
    }

    fn draw(&self, look: LayerFrame) {
        let area = look.frame.area();
        self.draw_rows(look.canvas, look.frame, area);
    }
}

impl CleaningBox {
    /// Returns exactly what is shown as overdue, even if a scan has found more since.
    fn marked(&self) -> impl Iterator<Item = Marked> + '_ {
        self.plan.to_delete.iter().map(|to_delete| {
            let entry = self.rows[to_delete.index].entry.clone();
            Marked { entry, why: to_delete.why, mode: DeleteMode::Bulk }
        })
    }

    fn draw_rows(&self, canvas: &Canvas, frame: &mut Frame, area: Rect) {
        let Self { plan, rows: all, now, top } = self;
        let rows = plan.to_delete.len().max(1);
        let place = layout::overlay(
            area,
            100,
            u16::try_from(rows).unwrap_or(u16::MAX).saturating_add(4).min(area.height.saturating_sub(2)),
        );
        let title =
            format!(" Overdue: {}, {} ", count(plan.to_delete.len() as u64, "output"), size(plan.bytes));
        let fits = |foot: &String| foot.width() + 2 <= usize::from(place.width);
        let foot = feet(canvas.keys).into_iter().find(fits).unwrap_or_default();
        let inner = frame::draw(canvas, frame, place, title, foot);
        let height = usize::from(inner.height.saturating_sub(1));
        let top = usize::from(*top).min(plan.to_delete.len().saturating_sub(height.max(1)));
        for (n, to_delete) in plan.to_delete.iter().skip(top).take(height).enumerate() {
            let entry = &all[to_delete.index].entry;
            let age = span(entry.age(*now).as_secs().max(0) as u64);
            let path = SafeText::from_bytes(entry.path().as_os_str().as_encoded_bytes());
            let room = usize::from(inner.width).saturating_sub(26);
            let spans = [
                Span::new(format!(" {:>9}  {age:>7} old  ", size(entry.size())), canvas.theme.dim),
                Span::plain(path.fit(room)),
            ];
            line::spans(frame.buffer_mut(), Rect { y: inner.y + n as u16, height: 1, ..inner }, &spans);
        }
        if inner.height > 0 && !plan.skipped.is_empty() {
            let foot = Rect { y: inner.y + inner.height - 1, height: 1, ..inner };
            let words = format!(
                " {} more are overdue, and stay: kept, linked, in use or too young",
                plan.skipped.len()
            );
            let words = line::head(words, foot.width.into(), canvas.glyphs());
            line::left(frame.buffer_mut(), foot, words, canvas.theme.dim);
        }
    }
}
