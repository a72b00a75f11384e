//! Keeping an output forever: an entry of overspill's own store in place, another agent's as a copy, and of a pipe what was read.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use crate::config::ChosenBy;
use crate::source::{Hold, MapView};
use crate::store::{CopyRecord, Entry, KEPT_ALREADY, OwnStore, scan};
use crate::tui::event::Message;
use crate::tui::job::{JobContext, Slot};
use crate::tui::recorded::RestOfOutput;
use crate::tui::screen::Effects;

use super::Pager;
use super::event::{KeepResult, OutputEvent};

/// Maximum number of characters of a command that is recorded with a copy.
const MAX_COMMAND: usize = 4096;

impl Pager {
    /// Has a worker keep the output.
    pub(crate) fn keep(&mut self, effects: &mut Effects) {
        let refusal = match self.output.recorded.as_ref().map(|recorded| &recorded.rest) {
            _ if self.output.subject.is_kept => Some(KEPT_ALREADY),
            _ if self.running => Some("the command still runs; keep its output once it has ended"),
            Some(RestOfOutput::Missing(why)) => Some(*why),
            Some(RestOfOutput::NotCut) => {
                Some("not kept: the agent did not cut it, so the records hold all of it")
            }
            _ => None,
        };
        if let Some(words) = refusal {
            self.message = Some(Message::note(words));
            return;
        }
        let subject = &self.output.subject;
        let (path, command) = (PathBuf::from(subject.path()), subject.command.clone());
        // What has a file is kept only if it is in a store: nothing deletes it otherwise.
        let read = subject.file.is_none().then(|| self.output.view.clone());
        self.message = Some(Message::note("keeping…"));
        effects.run(Slot::Keep, move |context| {
            let result = keep_output(&path, &command, read.as_ref(), context);
            context.send(OutputEvent::Kept(path.to_string_lossy().into_owned(), result));
        });
    }

    /// Takes in what became of keeping the output of this path.
    pub(crate) fn kept(&mut self, path: &str, result: KeepResult) {
        self.output.subject.is_kept |=
            path == self.output.subject.path() && !matches!(result, KeepResult::Failed(_));
        self.message = Some(match result {
            KeepResult::Kept(kept) => Message::note(format!("kept forever: {}", kept.display())),
            KeepResult::Before => Message::note(KEPT_ALREADY),
            KeepResult::Failed(words) => Message::error(words),
        });
    }
}

/// Keeps the output at a path if it is in a store; else saves what was read of it, if it is in no file.
fn keep_output(path: &Path, command: &str, read: Option<&MapView>, context: &JobContext) -> KeepResult {
    let result = match (entry_at(path, context), read) {
        (Some(entry), _) if entry.is_kept() => return KeepResult::Before,
        (Some(entry), _) => keep(&entry, command, context, &mut |_| context.is_wanted()),
        (None, Some(read)) => save(read, context),
        (None, None) => Err(format!("{}: in no agent's store, so nothing deletes it", path.display())),
    };
    match result {
        Ok(kept) => KeepResult::Kept(kept),
        Err(words) if words.ends_with(KEPT_ALREADY) => KeepResult::Before,
        Err(words) => KeepResult::Failed(words),
    }
}

/// Returns the entry of a store that is at a path.
fn entry_at(path: &Path, context: &JobContext) -> Option<Entry> {
    let (store, _) = context.services.stores.store_of(path, context.env())?;
    let mut found = None;
    scan(store, context.env(), crate::env::now(), &mut |entry| {
        let is_it = path.file_name() == Some(entry.name()) && entry.path() == path;
        if !is_it {
            return ControlFlow::Continue(());
        }
        found = Some(entry);
        ControlFlow::Break(())
    });
    found
}

/// Saves what was read of a pipe in overspill's own store, and keeps it. Returns its path.
fn save(read: &MapView, context: &JobContext) -> Result<PathBuf, String> {
    let saved = OwnStore::create(context.env()).map_err(|error| error.to_string())?;
    let goes_on = &mut |_| context.is_wanted();
    saved.save(read, context.env(), crate::env::now(), goes_on).map_err(|error| format!("not saved: {error}"))
}

/// Keeps an entry forever: overspill's own in place, another agent's as a copy in overspill's store. Returns the path of what is
/// kept. `goes_on` is told how many bytes were copied, and gives up by returning false.
pub(crate) fn keep(
    entry: &Entry,
    command: &str,
    context: &JobContext,
    goes_on: &mut dyn FnMut(u64) -> bool,
) -> Result<PathBuf, String> {
    let env = context.env();
    let own = OwnStore::create(env).map_err(|error| error.to_string())?;
    let done = if entry.is_own() {
        own.keep(&entry.id()).map(|()| entry.path())
    } else {
        let record = recorded(entry, command, context)?;
        own.adopt((entry, record), env, crate::env::now(), goes_on).map(|id| own.root().join(id))
    };
    done.map_err(|error| format!("{}: {error}", entry.id()))
}

/// Returns what is to be recorded of a copy: whose the entry is, and by which policy and limits it is cut.
fn recorded(entry: &Entry, command: &str, context: &JobContext) -> Result<CopyRecord, String> {
    let choice = (context.services.open)(&entry.path(), Hold::No)?.subject.policy;
    let policies = match choice.chosen_by {
        ChosenBy::Store(names) => names,
        ChosenBy::Person | ChosenBy::Variable => Vec::new(),
    };
    let (parameters, limits_from) = (choice.policy.changed(), choice.limits_from.to_string());
    let command = command.lines().next().unwrap_or_default().chars().take(MAX_COMMAND).collect();
    Ok(CopyRecord { command, policies, parameters, limits_from, ..CopyRecord::of(entry) })
}
