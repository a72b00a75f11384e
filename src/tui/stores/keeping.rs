//! Keeping an output forever: an entry of overspill's own store in place, another agent's as a copy.

use crate::human::size;
use crate::store::{self, Entry, EntryStatus, Env, UNFINISHED};
use crate::text::label::label;
use crate::tui::event::Message;
use crate::tui::job::{JobContext, Slot};
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::screen::Effects;

use super::StoresScreen;
use super::event::StoresEvent;

/// An entry that is being copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copying {
    /// Its id, safe to show.
    pub id: String,
    /// Its size, in bytes.
    pub size: u64,
    /// Bytes copied so far.
    pub done: u64,
}

impl Copying {
    /// Describes the progress.
    pub fn in_words(&self, keys: &KeyMap) -> String {
        let percent = self.done.min(self.size) * 100 / self.size.max(1);
        let back = keys.of(KeyContext::Stores, Action::Back);
        format!("copying {}: {percent}% of {}…  {back} gives up", self.id, size(self.size))
    }
}

impl StoresScreen {
    /// Keeps the selected entry, or stops keeping it. overspill's own entries are kept in place; another agent's is
    /// copied into overspill's store.
    pub(crate) fn keep_chosen(&mut self, effects: &mut Effects) {
        let Some(entry) = self.listing.chosen().cloned() else { return };
        if entry.status == EntryStatus::Unfinished {
            self.message = Some(Message::error(format!(
                "{}: {UNFINISHED}; keep it once it is complete",
                label(entry.id_bytes())
            )));
            return;
        }
        if let Some(copying) = &self.copying {
            self.message = Some(Message::error(format!("{} is still being copied", copying.id)));
            return;
        }
        let kept = self.listing.is_kept(&entry);
        if !kept && !entry.is_own() {
            let (id, size) = (label(entry.id_bytes()), entry.size());
            self.copying = Some(Copying { id, size, done: 0 });
        }
        effects.run(Slot::Keep, move |context| keep(&entry, !kept, context));
    }

    /// Handles the result of a request to keep an entry, or to stop keeping it.
    pub(crate) fn kept(&mut self, id: String, keep: bool, fault: Option<String>, effects: &mut Effects) {
        self.copying = None;
        self.message = Some(match (&fault, keep) {
            (Some(fault), _) => Message::error(fault.clone()),
            (None, true) => Message::note(format!("{id} is kept forever in overspill's own store")),
            (None, false) => Message::note(format!("{id} is no longer kept")),
        });
        if fault.is_none() {
            self.listing.set_kept(id, keep);
        }
        self.scan(effects)
    }

    /// Handles progress of the copy: `bytes` have been copied so far.
    pub(crate) fn copied(&mut self, bytes: u64) {
        if let Some(copying) = &mut self.copying {
            copying.done = bytes;
        }
    }

    /// Abandons the copy being made. Returns false if there is none.
    pub(crate) fn give_up_copying(&mut self, effects: &mut Effects) -> bool {
        let Some(copying) = self.copying.take() else { return false };
        self.message = Some(Message::note(format!("gave up copying {}", copying.id)));
        effects.stop([Slot::Keep]);
        true
    }
}

/// Keeps an entry forever, or no longer: overspill's own in place, another agent's as a copy in overspill's store.
fn keep(entry: &Entry, keep: bool, context: &JobContext) {
    let mut goes_on = |bytes| context.is_wanted() && context.send(StoresEvent::Copied(bytes));
    let done = set_kept(entry, keep, context.env(), &mut goes_on);
    let fault = done.as_ref().err().cloned();
    if fault.is_some() && !context.is_wanted() {
        return;
    }
    let id = done.unwrap_or_else(|_| entry.id().into_owned());
    context.send(StoresEvent::Kept { id, keep, fault });
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
