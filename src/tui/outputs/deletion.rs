//! Deleting stored outputs: what is marked, and the result.

use crate::human::{count, size, thousands};
use crate::store::{self, DeleteMode, EntryStatus, Env, Marked, Why};
use crate::text::label::label;
use crate::tui::event::Message;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::popup::leaving::{Leaving, Question};
use crate::tui::screen::ExitChoice;

use super::rows::OutputRow;
use super::{Context, Outputs};

impl Outputs {
    /// Marks for deletion what is marked, or else the selected row, except entries that cannot be deleted. Of several,
    /// those that are kept or have more than one hard link are refused too.
    pub(super) fn delete_marked(&mut self, on: Context) {
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
                    let why = if row.entry.is_kept() { Why::AskedKept } else { Why::Asked };
                    to_delete.push(Marked { entry: row.entry.clone(), why, mode });
                }
            }
        }
        let surprise = to_delete.iter().find_map(|marked| match (marked.why, marked.entry.status) {
            (Why::AskedKept, _) => Some("you keep it"),
            (_, EntryStatus::HardLinked) => Some("it has other names (hard link), which stay"),
            _ => None,
        });
        self.pending.mark(to_delete);
        *on.message = Some(match (refused, surprise) {
            (Some(why), _) => Message::error(why),
            (None, Some(words)) => {
                let [undo, now] = [Action::Undo, Action::DeleteNow]
                    .map(|action| on.canvas.keys.of(KeyContext::Lists, action));
                Message::note(format!("{words}: {undo} undo, {now} delete now"))
            }
            (None, None) => Message::note(self.pending_words(on.canvas.keys)),
        });
        on.list.unmark();
        on.list.act(Action::Down, None);
    }

    /// Describes what is marked for deletion.
    pub(super) fn pending_words(&self, keys: &KeyMap) -> String {
        let what = count(self.pending.len() as u64, "output");
        let [undo, now] = [Action::Undo, Action::DeleteNow].map(|action| keys.of(KeyContext::Lists, action));
        let bytes = size(self.pending.bytes());
        format!("{what} ({bytes}) to delete: {undo} undo · {now} delete now · leaving asks")
    }

    pub(super) fn undo_deletion(&mut self, on: Context) {
        let back = self.pending.undo().len();
        let left = match self.pending.len() {
            0 => String::new(),
            left => format!(" · {} still marked for deletion", thousands(left as u64)),
        };
        *on.message = Some(Message::note(match back {
            0 => "nothing to undo".to_owned(),
            back => format!("restored {}{left}", thousands(back as u64)),
        }));
    }

    /// Asks whether to delete what is marked for deletion now, not on leaving.
    pub(super) fn delete_now(&mut self, on: Context) {
        if self.pending.is_empty() {
            let delete = on.canvas.keys.of(KeyContext::Lists, Action::Delete);
            let words = format!("nothing is struck through; {delete} marks for deletion");
            *on.message = Some(Message::note(words));
            return;
        }
        let question = Question::deletions(&self.pending, false);
        on.effects.lay(Leaving { question, choice: ExitChoice::default() });
    }
}

/// Returns why an entry cannot be deleted, or `None` if it can.
fn refusal(row: &OutputRow, mode: DeleteMode, keys: &KeyMap) -> Option<String> {
    let unusual = row.entry.status.words();
    match row.entry.status {
        _ if row.entry.is_kept() && mode == DeleteMode::Bulk => {
            let delete = keys.of(KeyContext::Lists, Action::Delete);
            Some(format!("you keep it; {delete} on it alone deletes it"))
        }
        EntryStatus::Ok | EntryStatus::Unfinished | EntryStatus::FutureTime => None,
        EntryStatus::HardLinked if mode == DeleteMode::Single => None,
        EntryStatus::HardLinked => {
            let delete = keys.of(KeyContext::Lists, Action::Delete);
            Some(format!("{unusual}: it has other names; {delete} on it alone deletes it"))
        }
        _ => Some(format!("{unusual}: not deleted by overspill")),
    }
}

/// Deletes entries by the rules of their stores. Returns a message with the result.
pub fn delete(to_delete: &[Marked], env: &Env) -> Message {
    let now = crate::env::now();
    let mut cleaner = match store::Cleaner::start(env) {
        Ok(Some(cleaner)) => cleaner,
        Ok(None) => return Message::error("another cleaning is under way; nothing was deleted"),
        Err(error) => return Message::error(format!("nothing was deleted: {error}")),
    };
    let (mut gone, mut bytes, mut stayed) = (0, 0, Vec::new());
    for Marked { entry, why, mode } in to_delete {
        match cleaner.delete(entry, *why, *mode, env, now) {
            store::DeleteOutcome::Deleted | store::DeleteOutcome::AlreadyGone => {
                gone += 1;
                bytes = u64::saturating_add(bytes, entry.size());
            }
            store::DeleteOutcome::Stayed(reason) => {
                stayed.push(format!("{}: {}", entry.id(), reason.as_str()))
            }
        }
    }
    let done = format!("{} deleted, {}", crate::human::thousands(gone), crate::human::size(bytes));
    match stayed.first() {
        None if cleaner.unlogged().is_some() => {
            Message::error(format!("{done}; {}", cleaner.unlogged().unwrap_or_default()))
        }
        None => Message::note(done),
        Some(first) => Message::error(format!("{done}; {} stayed: {first}", stayed.len())),
    }
}
