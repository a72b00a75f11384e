//! Keeping an output forever: an entry of overspill's own store in place, another agent's as a copy.

use crate::human::size;
use crate::store::{self, Entry, EntryStatus, Env, UNFINISHED};
use crate::text::label::label;
use crate::tui::event::Message;
use crate::tui::job::{JobContext, Slot};
use crate::tui::keys::{Action, KeyContext, KeyMap};

use super::event::OutputsEvent;
use super::{Context, Outputs};

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
        let back = keys.of(KeyContext::Stores, Action::Interrupt);
        format!("copying {}: {percent}% of {}…  {back} gives up", self.id, size(self.size))
    }
}

impl Outputs {
    /// Keeps the selected entry, or stops keeping it. overspill's own entries are kept in place; another agent's is
    /// copied into overspill's store.
    pub(super) fn keep_chosen(&mut self, on: Context) {
        let Some(row) = on.list.chosen() else { return };
        let (entry, kept) = (row.entry.clone(), row.is_kept);
        if entry.status == EntryStatus::Unfinished {
            let words = format!("{}: {UNFINISHED}; keep it once it is complete", label(entry.id_bytes()));
            *on.message = Some(Message::error(words));
            return;
        }
        if let Some(copying) = &self.copying {
            *on.message = Some(Message::error(format!("{} is still being copied", copying.id)));
            return;
        }
        if !kept && !entry.is_own() {
            let (id, size) = (label(entry.id_bytes()), entry.size());
            self.copying = Some(Copying { id, size, done: 0 });
        }
        on.effects.run(Slot::Keep, move |context| keep(&entry, !kept, context));
    }

    /// Handles the result of a request to keep an entry, or to stop keeping it.
    pub(super) fn kept(&mut self, id: &str, keep: bool, fault: Option<&str>, on: Context) {
        self.copying = None;
        *on.message = Some(match (fault, keep) {
            (Some(fault), _) => Message::error(fault),
            (None, true) => Message::note(format!("{id} is kept forever in overspill's own store")),
            (None, false) => Message::note(format!("{id} is no longer kept")),
        });
        if fault.is_none() {
            let row = on.list.rows().iter().position(|row| row.entry.is_own() && row.entry.id() == id);
            on.list.change(row.map(|row| (row, keep)), |row, keep| row.is_kept = keep);
        }
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

/// Keeps an entry forever, or no longer: overspill's own in place, another agent's as a copy in overspill's store.
fn keep(entry: &Entry, keep: bool, context: &JobContext) {
    let mut goes_on = |bytes| context.is_wanted() && context.send(OutputsEvent::Copied(bytes));
    let done = set_kept(entry, keep, context.env(), &mut goes_on);
    let fault = done.as_ref().err().cloned();
    if fault.is_some() && !context.is_wanted() {
        return;
    }
    let id = done.unwrap_or_else(|_| entry.id().into_owned());
    context.send(OutputsEvent::Kept { id, keep, fault });
}

/// Keeps an entry, or stops keeping it. Returns its id in overspill's own store.
fn set_kept(
    entry: &Entry,
    keep: bool,
    env: &Env,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<String, String> {
    let own = store::OwnStore::create(env).map_err(|error| error.to_string())?;
    let done = match (entry.is_own(), keep) {
        (true, true) => own.keep(&entry.id()).map(|()| entry.id().into_owned()),
        (true, false) => own.unkeep(&entry.id()).map(|()| entry.id().into_owned()),
        (false, _) => own.adopt(entry, crate::env::now(), goes_on),
    };
    done.map_err(|error| format!("{}: {error}", entry.id()))
}
