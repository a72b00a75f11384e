//! Keeping outputs forever: entries of overspill's own store in place, other agents' as copies, and of a pipe what was read.

use std::collections::HashSet;
use std::path::PathBuf;

use crate::base::human::{count, size, thousands};
use crate::config::ChosenBy;
use crate::output::Subject;
use crate::rows::outputs::OutputRow;
use crate::source::{FileLock, MapView};
use crate::store::{
    self, CopyRecord, Entry, EntryStatus, KEPT_ALREADY, KeptIds, OwnStore, UNFINISHED, entries_at,
};
use crate::text::label::label;
use crate::tui::event::{Event, Message};
use crate::tui::job::{JobContext, Slot};
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::list::screen::ListContext;
use crate::tui::pager::OutputEvent;
use crate::tui::screen::Effects;

use super::{Outputs, OutputsEvent};

/// Maximum number of characters of a command that is recorded with a copy.
const MAX_COMMAND: usize = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Keeping {
    /// Its id, or how many outputs it is; safe to show.
    what: String,
    size: u64,
    pub(super) done: u64,
}

impl Keeping {
    pub(super) fn describe(&self, keys: &KeyMap) -> String {
        let percent = self.done.min(self.size) * 100 / self.size.max(1);
        let back = keys.label(KeyContext::Lists, Action::Interrupt);
        format!("keeping {}: {percent}% of {}…  {back} gives up", self.what, size(self.size))
    }
}

impl Outputs {
    pub(super) fn keep_marked(&mut self, on: ListContext<OutputRow>) {
        let (mut entries, mut failures) = (Vec::new(), Vec::new());
        for row in on.list.marked_or_chosen() {
            if row.entry.status == EntryStatus::Unfinished {
                failures.push(format!("{UNFINISHED}; keep it once it is complete"));
            } else {
                entries.push((row.entry.clone(), row.written_command().unwrap_or_default().to_owned()));
            }
        }
        let what = match &entries[..] {
            [] => {
                *on.message = Some(outcome(&[], &[], &failures));
                return;
            }
            [(entry, _)] => label(entry.id_bytes()),
            all => count(all.len() as u64, "output"),
        };
        let size = store::sum(entries.iter().map(|(entry, _)| entry.size()));
        let is_accepted = self.start_keeping(Keeping { what, size, done: 0 }, on.effects, move |context| {
            keep_all(entries, failures, context);
        });
        if is_accepted {
            on.list.unmark();
        }
    }

    pub(super) fn keep_shown(&mut self, (subject, view): (Subject, MapView), on: ListContext<OutputRow>) {
        let keeping = Keeping { what: subject.name.clone(), size: view.len() as u64, done: 0 };
        if self.start_keeping(keeping, on.effects, move |context| keep_output(&subject, &view, context)) {
            on.effects.send(Event::Message(Message::note("keeping…")));
        }
    }

    /// Has a worker keep something, one after the other. Returns false if it still keeps another.
    fn start_keeping(
        &mut self,
        new: Keeping,
        effects: &mut Effects,
        work: impl FnOnce(&JobContext) + Send + 'static,
    ) -> bool {
        if let Some(old) = &self.keeping {
            let words = format!("{} is still being kept; keep this one after it", old.what);
            effects.send(Event::Message(Message::error(words)));
            return false;
        }
        self.keeping = Some(new);
        effects.run(Slot::Keep, work);
        true
    }

    /// Takes in what became of it, and says so wherever the user is now.
    pub(super) fn on_keep(&mut self, paths: Vec<PathBuf>, message: Message, on: ListContext<OutputRow>) {
        self.keeping = None;
        on.effects.send(OutputEvent::Kept(paths));
        on.effects.send(Event::Message(message));
        self.scan(on);
    }

    pub(crate) fn give_up_keeping(&mut self, effects: &mut Effects) -> bool {
        let Some(keeping) = self.keeping.take() else { return false };
        effects.send(Event::Message(Message::note(format!("gave up keeping {}", keeping.what))));
        effects.stop([Slot::Keep]);
        true
    }
}

/// Keeps entries, each with the command that printed it, and reports that; `failures` are the reasons why others are not kept.
fn keep_all(entries: Vec<(Entry, String)>, mut failures: Vec<String>, context: &JobContext) {
    let (mut kept, mut before) = (Vec::new(), 0u64);
    // A copy that the list knew of may have been deleted since.
    let known = KeptIds::load(context.env());
    let (had, entries): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(entry, _)| known.has(entry));
    for (entry, command) in entries {
        let size = entry.size();
        match keep(&entry, &command, context, before) {
            Ok(_) => kept.push(entry),
            Err(words) => failures.push(words),
        }
        if !context.is_wanted() {
            break;
        }
        before = before.saturating_add(size);
    }
    let message = outcome(&kept, &had, &failures);
    report(kept.iter().map(Entry::path).collect(), message, context);
}

/// Says which entries are kept, which were before, and why the first of the others is not.
fn outcome(kept: &[Entry], had: &[(Entry, String)], failures: &[String]) -> Message {
    match (kept, had, failures) {
        ([entry], [], []) => {
            let id = label(entry.id_bytes());
            let how = if entry.is_own() { "is kept forever" } else { "is kept forever as a copy" };
            return Message::note(format!("{id} {how}"));
        }
        ([], [(entry, _)], []) => {
            return Message::note(format!("{}: {KEPT_ALREADY}", label(entry.id_bytes())));
        }
        ([], [], [why]) => return Message::error(why.as_str()),
        _ => {}
    }
    let all = [(kept.len(), "kept"), (had.len(), KEPT_ALREADY), (failures.len(), "cannot be kept")];
    let counts = all.into_iter().filter(|(n, _)| *n > 0);
    let counts = counts.map(|(n, what)| format!("{} {what}", thousands(n as u64)));
    let counts = counts.collect::<Vec<_>>().join(" · ");
    match failures.first() {
        None => Message::note(counts),
        Some(why) => Message::error(format!("{counts}: {why}")),
    }
}

/// Keeps the output that is shown: as an entry of its store, or else what was read, if that is in no file any more.
fn keep_output(subject: &Subject, view: &MapView, context: &JobContext) {
    let path = PathBuf::from(subject.path());
    let (env, at) = (context.env(), HashSet::from([&*path]));
    let mut found = entries_at(&at, &context.services.config.stores, env, crate::base::env::now(), &|| true);
    let entry = found.remove(&path);
    if entry.as_ref().is_some_and(|entry| KeptIds::load(env).has(entry)) {
        return report(vec![path], Message::note(KEPT_ALREADY), context);
    }
    let result = match (entry, &subject.file) {
        (Some(entry), _) => keep(&entry, &subject.command, context, 0),
        (None, Some(_)) if path.exists() => {
            Err(format!("{}: in no agent's store, so nothing deletes it", path.display()))
        }
        (None, _) => {
            let step = &mut |bytes| context.send(OutputsEvent::Copied(bytes));
            let (run, now) = (subject.run.as_deref().cloned(), crate::base::env::now());
            let saved = OwnStore::create(env).and_then(|own| own.save((view, run), env, now, step));
            saved.map_err(|error| format!("not saved: {error}"))
        }
    };
    match result {
        Ok(kept) => {
            let words = format!("kept forever: {}", kept.display());
            report(vec![path, kept], Message::note(words), context);
        }
        Err(words) => report(Vec::new(), Message::error(words), context),
    }
}

/// Reports what was kept, and where; after a cancellation, only what was kept before it.
fn report(paths: Vec<PathBuf>, message: Message, context: &JobContext) {
    if context.is_wanted() {
        context.send_always(OutputsEvent::Kept(paths, message));
    } else if !paths.is_empty() {
        context.send_always(Event::Message(message));
        context.send_always(OutputsEvent::Changed);
    }
}

/// Keeps an entry in place, or a copy of another agent's; returns its path. `before` bytes were copied before it.
fn keep(entry: &Entry, command: &str, context: &JobContext, before: u64) -> Result<PathBuf, String> {
    let env = context.env();
    let own = OwnStore::create(env).map_err(|error| error.to_string())?;
    let done = if entry.is_own() {
        own.keep(&entry.id()).map(|()| entry.path())
    } else {
        let record = recorded(entry, command, context)?;
        let step = &mut |bytes| context.send(OutputsEvent::Copied(before.saturating_add(bytes)));
        own.adopt((entry, record), env, crate::base::env::now(), step).map(|id| own.root().join(id))
    };
    done.map_err(|error| format!("{error}: {}", entry.id()))
}

/// Returns what is to be recorded of a copy: whose the entry is, and by which policy and limits it is cut.
fn recorded(entry: &Entry, command: &str, context: &JobContext) -> Result<CopyRecord, String> {
    let choice = (context.services.open)(&entry.path(), FileLock::None)?.subject.policy;
    let policies = if let ChosenBy::Store(names) = choice.chosen_by { names } else { Vec::new() };
    let (parameters, limits_from) = (choice.policy.changed(), choice.limits_from.to_string());
    let command = command.lines().next().unwrap_or_default().chars().take(MAX_COMMAND).collect();
    Ok(CopyRecord { command, policies, parameters, limits_from, ..CopyRecord::new(entry) })
}
