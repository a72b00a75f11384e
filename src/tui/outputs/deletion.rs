//! Deleting stored outputs: what is marked for it, what is overdue, and the result.

use std::any::Any;

use crossterm::event::KeyEvent;
use jiff::Timestamp;

use crate::base::human::{count, size, span, thousands};
use crate::document::{Class, Doc};
use crate::rows::RowTable;
use crate::rows::outputs::OutputRow;
use crate::store::{
    self, CleanPlan, CleanRule, DeleteMode, DeleteOutcome, DeleteReason, EntryStatus, Env, PendingDelete,
    TimeLeft,
};
use crate::text::label::{SafeText, label};
use crate::tui::event::Message;
use crate::tui::footer::Hint;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::list::screen::{ListContext, ListScreen};
use crate::tui::pager::text_box::TextBox;
use crate::tui::popup::leaving::Leaving;
use crate::tui::screen::{Layer, LayerContext, LayerFrame, LayerNext, Screen};
use crate::tui::widget::canvas::Canvas;

use super::Outputs;

/// Up to so many overdue outputs are listed, the oldest; the others are counted.
const MAX_LISTED: usize = 2_000;

const WHY_THEY_STAY: &str = "kept, linked, in use or too young";

impl Outputs {
    /// Marks the marked rows, or else the selected one, for deletion; skips those that cannot go, or not with others.
    pub(super) fn delete_marked(&mut self, on: ListContext<OutputRow>) {
        let rows = on.list.marked_or_chosen();
        let mode = if rows.len() == 1 { DeleteMode::Single } else { DeleteMode::Bulk };
        let mut refused = None;
        let mut to_delete = Vec::new();
        for row in rows {
            match refusal(row, mode, on.canvas.keys) {
                Some(why) => {
                    refused = refused.or(Some(format!("{}: {why}", label(row.entry.id_bytes()))));
                }
                None => {
                    let why = DeleteReason::Requested { knows_kept: row.entry.is_kept() };
                    to_delete.push(PendingDelete { entry: row.entry.clone(), why, mode, called: row.name() });
                }
            }
        }
        let surprise = to_delete.iter().find_map(|marked| match (marked.why, marked.entry.status) {
            (DeleteReason::Requested { knows_kept: true }, _) => Some("you keep the marked one"),
            (_, EntryStatus::HardLinked) => Some("it has other names (hard link), which stay"),
            _ => None,
        });
        self.pending.mark(to_delete);
        *on.message = Some(match (refused, surprise) {
            (Some(why), _) => Message::error(why),
            (None, Some(words)) => {
                let [undo, now] = [Action::Undo, Action::DeleteNow].map(|action| on.key(action));
                Message::note(format!("{words}: {undo} undo, {now} delete now"))
            }
            (None, None) => Message::note(self.pending_text(on.canvas.keys)),
        });
        on.list.unmark();
        on.list.act(Action::Down, None);
    }

    fn pending_text(&self, keys: &KeyMap) -> String {
        let what = count(self.pending.len() as u64, "output");
        let [undo, now] =
            [Action::Undo, Action::DeleteNow].map(|action| keys.label(KeyContext::Lists, action));
        let bytes = size(self.pending.bytes());
        format!("{what} ({bytes}) to delete: {undo} undo · {now} delete now · leaving asks")
    }

    pub(super) fn undo_deletion(&mut self, on: ListContext<OutputRow>) {
        let back = self.pending.undo().len();
        let left = match self.pending.len() {
            0 => String::new(),
            left => format!(" · {} still marked for deletion", thousands(left as u64)),
        };
        on.note(match back {
            0 => "nothing to undo".to_owned(),
            back => format!("restored {}{left}", thousands(back as u64)),
        });
    }

    pub(super) fn delete_now(&mut self, on: ListContext<OutputRow>) {
        if self.pending.is_empty() {
            let delete = on.key(Action::Delete);
            return on.note(format!("nothing marked; {delete} marks for deletion"));
        }
        let is_marked = |row: &&u32| self.pending.contains(&on.list.rows()[**row as usize].entry.path());
        let shown = match on.list.filter_text() {
            "" => self.pending.len(),
            _ => on.list.order().iter().filter(is_marked).count(),
        };
        let hidden = self.pending.len().saturating_sub(shown);
        on.effects.push_layer(Leaving::deletions(&self.pending, hidden, None));
    }

    pub(super) fn offer_cleaning(&mut self, on: ListContext<OutputRow>) {
        let rule = CleanRule { asked: store::Trigger::ByHand, older_than: None, max_total: None };
        let rows = on.list.rows().clone();
        let now = on.list.look.now;
        let mut plan = store::clean_plan(rows.iter().map(|row| &row.entry), now, &rule);
        plan.to_delete.sort_by_key(|to_delete| rows[to_delete.index].entry.identity.modified);
        // Whether the others are overdue is not known.
        plan.skipped.retain(|(row, _)| matches!(rows[*row].entry.left(now), TimeLeft::Overdue(_)));
        match (plan.to_delete.is_empty(), plan.skipped.len() as u64) {
            (true, 0) => on.note("nothing is overdue"),
            (true, staying) => {
                on.note(format!("overdue but left: {}: {WHY_THEY_STAY}", count(staying, "output")));
            }
            _ => on.effects.push_layer(CleaningBox::new(plan, &rows, now, on.canvas)),
        }
    }
}

fn refusal(row: &OutputRow, mode: DeleteMode, keys: &KeyMap) -> Option<String> {
    let unusual = row.entry.status.describe();
    let delete = || keys.label(KeyContext::Lists, Action::Delete);
    match row.entry.status {
        _ if row.entry.is_kept() && mode == DeleteMode::Bulk => {
            Some(format!("you keep it; {} on it alone deletes it", delete()))
        }
        EntryStatus::Ok | EntryStatus::Unfinished | EntryStatus::FutureTime => None,
        EntryStatus::HardLinked if mode == DeleteMode::Single => None,
        EntryStatus::HardLinked => {
            Some(format!("{unusual}: it has other names; {} on it alone deletes it", delete()))
        }
        _ => Some(format!("{unusual}: not deleted by overspill")),
    }
}

/// Deletes entries by the rules of their stores. Returns a message with the result, and what stayed.
pub fn delete(to_delete: Vec<PendingDelete>, env: &Env) -> (Message, Vec<PendingDelete>) {
    let now = crate::base::env::now();
    let mut cleaner = match store::Cleaner::start(env) {
        Ok(Some(cleaner)) => cleaner,
        Ok(None) => return (Message::error("another cleaning is under way; nothing was deleted"), to_delete),
        Err(error) => return (Message::error(format!("nothing was deleted: {error}")), to_delete),
    };
    let (mut gone, mut stayed, mut reasons) = (Vec::new(), Vec::new(), Vec::new());
    for marked in to_delete {
        match cleaner.delete(&marked.entry, marked.why, marked.mode, env, now) {
            DeleteOutcome::Deleted | DeleteOutcome::AlreadyGone => gone.push(marked.entry.size()),
            DeleteOutcome::Stayed(reason) => {
                reasons.push(format!("{}: {}", reason.as_str(), marked.entry.id()));
                stayed.push(marked);
            }
        }
    }
    let done = format!("{} deleted, {}", thousands(gone.len() as u64), size(store::sum(gone)));
    let message = match (reasons.first(), &cleaner.unlogged) {
        (Some(first), _) => Message::error(format!("{done}; {} stayed: {first}", stayed.len())),
        (None, Some(unlogged)) => Message::error(format!("{done}; {unlogged}")),
        (None, None) => Message::note(done),
    };
    (message, stayed)
}

/// What cleaning would delete: exactly what is shown or counted is marked, even if a scan has found more since.
struct CleaningBox {
    text: TextBox,
    overdue: Vec<PendingDelete>,
}

const CLEANING: &[Hint] = &[(&[Action::Open], "marks them"), (&[Action::Back], "leaves them")];

impl CleaningBox {
    fn new(plan: CleanPlan, rows: &RowTable<OutputRow>, now: Timestamp, canvas: &Canvas) -> Self {
        let is_unfinished = plan.to_delete.iter().any(|planned| planned.why == DeleteReason::Unfinished);
        let what = if is_unfinished { "Overdue or unfinished" } else { "Overdue" };
        let title = format!("{what}: {}, {}", count(plan.to_delete.len() as u64, "output"), size(plan.bytes));
        let (mut text, mut overdue) = (Vec::new(), Vec::new());
        if !plan.skipped.is_empty() {
            let words = format!(" overdue but left: {} more: {WHY_THEY_STAY}\n", plan.skipped.len());
            text.push((Class::Own, words.into_bytes()));
        }
        let room = TextBox::columns(canvas).saturating_sub(26);
        for (n, to_delete) in plan.to_delete.iter().enumerate() {
            let row = &rows[to_delete.index];
            let (entry, why, mode) = (&row.entry, to_delete.why, DeleteMode::Bulk);
            overdue.push(PendingDelete { entry: entry.clone(), why, mode, called: row.name() });
            if n >= MAX_LISTED {
                continue;
            }
            let age = span(entry.age(now).as_secs().max(0) as u64);
            let path = SafeText::from_bytes(entry.path().as_os_str().as_encoded_bytes());
            text.push((Class::Own, format!(" {:>9}  {age:>7} old  ", size(entry.size())).into_bytes()));
            text.push((Class::Kept, format!("{}\n", path.fit(room)).into_bytes()));
        }
        if let more @ 1.. = overdue.len().saturating_sub(MAX_LISTED) {
            text.push((Class::Own, format!(" and {} more\n", thousands(more as u64)).into_bytes()));
        }
        Self { text: TextBox::from_doc(title, Doc::from_texts(text), Some(CLEANING)), overdue }
    }
}

impl Layer for CleaningBox {
    fn key(&mut self, key: KeyEvent, on: LayerContext) -> LayerNext {
        if on.canvas.keys.action(KeyContext::Lists, key) != Some(Action::Open) {
            return self.text.key(key, on);
        }
        if let Some(outputs) = (on.below as &mut dyn Any).downcast_mut::<ListScreen<Outputs>>() {
            outputs.of.pending.mark(self.overdue.drain(..));
            let words = outputs.of.pending_text(on.canvas.keys);
            outputs.say(Some(Message::note(words)));
        }
        LayerNext::Closes
    }

    fn draw(&self, look: LayerFrame) {
        self.text.draw(look);
    }
}
