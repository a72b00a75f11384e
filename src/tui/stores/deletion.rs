//! Deleting stored outputs: what is marked, what is overdue, and the result.

use crate::store::{self, CleanRule, DeleteMode, Env, Marked, ToDelete, Trigger, clean_plan};
use crate::tui::event::Message;
use crate::tui::keys::Action;
use crate::tui::screen::{Effect, Effects};

use super::view::clean::CleaningBox;
use super::{Cleaning, StoresScreen};

impl StoresScreen {
    /// Deletes what is marked for deletion now, not on leaving.
    pub(super) fn delete_now(&mut self, effects: &mut Effects) {
        if self.listing.pending.is_empty() {
            let delete = self.key_of(Action::Delete);
            let words = format!("nothing is struck through; {delete} marks for deletion");
            self.message = Some(Message::note(words));
            return;
        }
        effects.push(Effect::Delete(self.listing.pending.take()));
    }

    /// Shows what is overdue, before anything is deleted.
    pub(super) fn offer_cleaning(&mut self, effects: &mut Effects) {
        let Some(now) = self.listing.now else { return };
        let rule = CleanRule { asked: Trigger::ByHand, older_than: None, max_total: None };
        let entries = self.listing.entries().clone();
        let mut plan = clean_plan(entries.iter(), self.listing.kept(), now, &rule);
        plan.to_delete.sort_by_key(|to_delete| entries.entry(to_delete.index as u32).identity.modified);
        if plan.to_delete.is_empty() {
            self.message = Some(Message::note("nothing is overdue"));
            return;
        }
        effects.lay(CleaningBox { cleaning: Cleaning { plan, entries }, top: 0 });
    }

    /// Marks for deletion exactly what was shown as overdue, even if a scan has found more since.
    pub(crate) fn accept_cleaning(&mut self, Cleaning { plan, entries }: &Cleaning) {
        let mark = |to_delete: &ToDelete| {
            let entry = entries.entry(to_delete.index as u32).clone();
            Marked { entry, why: to_delete.why, mode: DeleteMode::Bulk }
        };
        self.listing.pending.mark(plan.to_delete.iter().map(mark));
        self.message = Some(Message::note(self.pending_words()));
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
