//! Keeping the selected output forever, and how far its copy is.

use crate::human::size;
use crate::store::{EntryStatus, KEPT_ALREADY, UNFINISHED};
use crate::text::label::label;
use crate::tui::event::Message;
use crate::tui::job::Slot;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::pager::keeping::keep;

use super::{Context, Outputs, OutputsEvent};

/// An entry that is being copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Copying {
    /// Its id, safe to show.
    pub id: String,
    /// Its size, in bytes.
    pub size: u64,
    /// Bytes copied so far.
    pub done: u64,
}

impl Copying {
    /// Describes the progress.
    pub(super) fn in_words(&self, keys: &KeyMap) -> String {
        let percent = self.done.min(self.size) * 100 / self.size.max(1);
        let back = keys.of(KeyContext::Lists, Action::Interrupt);
        format!("copying {}: {percent}% of {}…  {back} gives up", self.id, size(self.size))
    }
}

impl Outputs {
    /// Keeps the selected entry forever. overspill's own entries are kept in place; another agent's is copied into
    /// overspill's store.
    pub(super) fn keep_chosen(&mut self, on: Context) {
        let Some(row) = on.list.chosen() else { return };
        let (id, size) = (label(row.entry.id_bytes()), row.entry.size());
        let refusal = match &self.copying {
            _ if row.is_kept => Some(Message::note(format!("{id}: {KEPT_ALREADY}"))),
            _ if row.entry.status == EntryStatus::Unfinished => {
                Some(Message::error(format!("{id}: {UNFINISHED}; keep it once it is complete")))
            }
            Some(copying) => Some(Message::error(format!("{} is still being copied", copying.id))),
            None => None,
        };
        if refusal.is_some() {
            *on.message = refusal;
            return;
        }
        let command = row.call().map(|call| call.command.clone()).unwrap_or_default();
        let entry = row.entry.clone();
        self.copying = (!entry.is_own()).then_some(Copying { id, size, done: 0 });
        let delete = on.canvas.keys.of(KeyContext::Lists, Action::Delete);
        on.effects.run(Slot::Keep, move |context| {
            let mut goes_on = |bytes| context.is_wanted() && context.send(OutputsEvent::Copied(bytes));
            let kept = keep(&entry, &command, context, &mut goes_on).map(|_| {
                let what = if entry.is_own() { "it" } else { "the copy" };
                format!("{} is kept forever; {delete} deletes {what}", label(entry.id_bytes()))
            });
            if kept.is_ok() || context.is_wanted() {
                context.send(OutputsEvent::Kept(kept));
            }
        });
    }

    /// Takes in that an entry is kept now, or why not.
    pub(super) fn kept(&mut self, kept: Result<String, String>, on: Context) {
        self.copying = None;
        *on.message = Some(kept.map_or_else(Message::error, Message::note));
        self.scan(on.effects);
    }

    /// Abandons the copy being made. Returns false if there is none.
    pub(super) fn give_up_copying(&mut self, on: Context) -> bool {
        let Some(copying) = self.copying.take() else { return false };
        *on.message = Some(Message::note(format!("gave up copying {}", copying.id)));
        on.effects.stop([Slot::Keep]);
        true
    }
}
