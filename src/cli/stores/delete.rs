//! `overspill clean` and `overspill rm`: delete what has expired, or the entries that the user names, after showing them.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Write};

use anyhow::{anyhow, bail};
use jiff::Timestamp;
use serde_json::Value;

use crate::base::human::{count, size};
use crate::capture::{EndError, EndedSession, end_session};
use crate::cli::args::{CleanArgs, RmArgs};
use crate::cli::input::{self, NamedItem};
use crate::cli::terminal::{self, Consent, ask};
use crate::cli::{CommandResult, print_json_array, say, table, usage};
use crate::config::{Config, RequiredSettings};
use crate::rows::column::CellSide::{self, Left, Right};
use crate::rows::column::{ListColumn, RowCell};
use crate::rows::outputs;
use crate::store::{
    self, CleanPlan, CleanRule, Cleaner, DeleteMode, DeleteOutcome, DeleteReason, Entry, EntryStatus, Env,
    Listing, OWN, PlannedDelete, Reason, Record, SkipReason, SortBy, Trigger, clean_plan,
};
use crate::text::label::{SafeText, label};

use super::{OutputScope, select};

fn path(entry: &Entry) -> String {
    label(entry.path().as_os_str().as_encoded_bytes())
}

struct ToDeleteRow {
    entry: Entry,
    why: &'static str,
}

static COLUMNS: [ListColumn<ToDeleteRow>; 5] = [
    ListColumn::new("when", Right, 7, |row, look| outputs::when(&row.entry, look)),
    ListColumn::new("size", Right, 8, |row, _| RowCell::plain(size(row.entry.size()))),
    ListColumn::new("agent", Left, 13, |row, _| RowCell::plain(row.entry.agent())),
    ListColumn::new("why", Left, 24, |row, _| RowCell::plain(row.why)),
    ListColumn::new("path", CellSide::Path, 0, |row, _| {
        RowCell::plain(SafeText::from_bytes(row.entry.path().as_os_str().as_encoded_bytes()))
    }),
];

/// Returns the settings that the cleaning needs: how long overspill's own store keeps outputs, if that is cleaned.
pub(crate) fn need(args: &CleanArgs) -> RequiredSettings {
    match (args.agent.as_deref(), &args.session) {
        (None | Some(OWN), None) => RequiredSettings::Retention,
        _ => RequiredSettings::Nothing,
    }
}

/// Refuses to clean a store whose settings contain a mistake.
fn refuse_unclear(config: &Config, scope: OutputScope) -> anyhow::Result<()> {
    let fault = match scope {
        OutputScope::Stores(name) => config.stores.fault_of(name),
        _ => config.stores.faults().next(),
    };
    fault.map_or(Ok(()), |fault| {
        Err(usage(format!("{fault}; nothing was deleted, because this file may say what to keep")))
    })
}

pub(crate) fn clean(config: &Config, args: &CleanArgs) -> CommandResult {
    if let Some(name) = &args.session {
        return end(config, name);
    }
    let of = args.agent.as_deref().unwrap_or(OWN);
    let scope = if args.all { OutputScope::All } else { OutputScope::Stores(of) };
    refuse_unclear(config, scope)?;
    let mut selected = select(config, scope)?.require_marks(config)?;
    selected.entries.sort_by(|a, b| SortBy::Age.compare(b, a));
    let rule = CleanRule {
        older_than: args.older_than,
        max_total: args.max_total.map(|size| size.number),
        asked: Trigger::ByHand,
    };
    let plan = clean_plan(&selected.entries, selected.now, &rule);
    let is_shown_only = args.dry_run || (plan.to_delete.is_empty() && !args.json);
    let remedy = "add --yes to delete, or --dry-run to see what would go";
    let consent = Consent::from_flags(is_shown_only, args.yes, !args.json, remedy)?;
    let cleaning = Cleaning { selected, plan, env: &config.env };
    if args.json {
        return cleaning.as_json(consent);
    }
    cleaning.as_text(consent, || nothing_due(config, args, &rule, cleaning.selected.now))
}

/// Says in which stores nothing is due, and how much is in those of agents, which are cleaned only on request.
fn nothing_due(config: &Config, args: &CleanArgs, rule: &CleanRule, now: Timestamp) -> String {
    let whose = match &args.agent {
        _ if args.all => return "nothing to delete".to_owned(),
        Some(agent) if agent != OWN => return format!("nothing to delete in the stores of {agent}"),
        _ => "nothing to delete in overspill's own store",
    };
    if args.older_than.is_some() || args.max_total.is_some() {
        return whose.to_owned();
    }
    let of_agents = config.stores.specs.iter().filter(|spec| spec.agent != OWN);
    let listing = store::list(of_agents, &config.env, now);
    let plan = clean_plan(&listing.entries, now, rule);
    match plan.to_delete.len() as u64 {
        0 => whose.to_owned(),
        due => {
            let due = format!("{}, {}", count(due, "output"), size(plan.bytes));
            format!("{whose}; due in those of agents: {due}: see `overspill clean --all --dry-run`")
        }
    }
}

fn end(config: &Config, name: &str) -> CommandResult {
    let ended = end_session(name, &config.env).map_err(|error| match error {
        EndError::Name(error) => usage(error),
        error @ EndError::NoSession(_) => {
            anyhow!("{error}; NAME is the one that was given with `run --session`")
        }
        error => anyhow!(error.to_string()),
    })?;
    let EndedSession { path, files, bytes, left } = ended;
    let place = label(path.as_os_str().as_encoded_bytes());
    say(&format!("removed {} ({}) from {place}", count(files, "spill"), size(bytes)));
    if left.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = left.iter().map(|name| label(name.as_bytes())).collect();
    bail!("{place} was kept, because it holds files that are not finished spills: {}", names.join(", "))
}

struct Cleaning<'a> {
    selected: Listing,
    plan: CleanPlan,
    env: &'a Env,
}

impl Cleaning<'_> {
    fn as_json(&self, consent: Consent) -> CommandResult {
        let to_delete = &self.plan.to_delete;
        let ends = match consent {
            Consent::Given => self.delete()?,
            Consent::DryRun | Consent::Ask => Vec::new(),
        };
        let due = to_delete.iter().enumerate().map(|(n, due)| {
            let end = ends.get(n).map_or(("would go", None), DeleteOutcome::words);
            self.record(due.index, Some(word(due.why)), end)
        });
        let skipped = self.plan.skipped.iter();
        let skipped = skipped.map(|(index, why)| self.record(*index, None, ("kept", Some(&because(why)))));
        print_json_array(due.chain(skipped))?;
        result(&ends)
    }

    fn record(&self, index: usize, why: Option<&str>, (end, reason): (&str, Option<&str>)) -> Value {
        let mut record = outputs::json(&self.selected.entries[index], self.selected.now);
        record["why"] = why.into();
        record["outcome"] = end.into();
        record["reason"] = reason.into();
        record
    }

    /// Prints the plan, and what `nothing` says if there is nothing to delete.
    fn as_text(&self, consent: Consent, nothing: impl FnOnce() -> String) -> CommandResult {
        let Self { selected, plan, .. } = self;
        let mut out = io::BufWriter::new(terminal::stdout());
        let row = |due: &PlannedDelete| ToDeleteRow {
            entry: selected.entries[due.index].clone(),
            why: word(due.why),
        };
        let rows: Vec<_> = plan.to_delete.iter().map(row).collect();
        table::print(&mut out, &COLUMNS, &rows, true)?;
        for (index, why) in &plan.skipped {
            writeln!(out, "kept: {}: {}", path(&selected.entries[*index]), label(because(why).as_bytes()))?;
        }
        let what = format!("{}, {}", count(plan.to_delete.len() as u64, "output"), size(plan.bytes));
        if plan.to_delete.is_empty() {
            writeln!(out, "{}", nothing())?;
            return Ok(out.flush()?);
        }
        writeln!(out, "to delete: {what}")?;
        out.flush()?;
        if consent == Consent::DryRun {
            return Ok(());
        }
        if consent == Consent::Ask && !ask(&format!("Delete {what}?"))? {
            writeln!(out, "nothing was deleted")?;
            return Ok(out.flush()?);
        }
        let ends = self.delete()?;
        let (mut files, mut bytes) = (0, 0);
        for (PlannedDelete { index, .. }, end) in plan.to_delete.iter().zip(&ends) {
            let entry = &selected.entries[*index];
            if *end == DeleteOutcome::Deleted {
                files += 1;
                bytes = u64::saturating_add(bytes, entry.size());
            } else {
                let (word, why) = end.words();
                let why = why.map(|why| format!(": {}", label(why.as_bytes())));
                writeln!(out, "{word}: {}{}", path(entry), why.unwrap_or_default())?;
            }
        }
        writeln!(out, "deleted: {}, {}", count(files, "output"), size(bytes))?;
        out.flush()?;
        result(&ends)
    }

    /// Deletes what the plan says; if another process is cleaning, leaves everything to that one.
    fn delete(&self) -> anyhow::Result<Vec<DeleteOutcome>> {
        let due = &self.plan.to_delete;
        if due.is_empty() {
            return Ok(Vec::new());
        }
        let all = due.iter().map(|due| (&self.selected.entries[due.index], due.why, DeleteMode::Bulk));
        Ok(delete_all(self.env, self.selected.now, all)?.unwrap_or_else(|| {
            say("another cleaning is running; nothing was deleted here");
            vec![DeleteOutcome::Stayed(Reason::OtherCleaning); due.len()]
        }))
    }
}

/// Deletes entries under the lock for cleaning; `None` if another process holds it.
fn delete_all<'a>(
    env: &Env,
    now: Timestamp,
    all: impl Iterator<Item = (&'a Entry, DeleteReason, DeleteMode)>,
) -> anyhow::Result<Option<Vec<DeleteOutcome>>> {
    // Up to 2 s: an automatic cleaning ends sooner.
    let Some(mut cleaner) = Cleaner::start_within(env, 40)? else { return Ok(None) };
    let ends = all.map(|(entry, why, mode)| cleaner.delete(entry, why, mode, env, now)).collect();
    cleaner.unlogged.as_deref().into_iter().for_each(say);
    // A record that is left behind is removed by the next cleaning.
    let _ = Record::sweep(env, now);
    Ok(Some(ends))
}

fn result(ends: &[DeleteOutcome]) -> CommandResult {
    match ends.iter().filter(|end| end.is_failure()).count() {
        0 => Ok(()),
        failed => bail!("{} could not be deleted; see the reasons above", count(failed as u64, "output")),
    }
}

fn word(why: DeleteReason) -> &'static str {
    if let DeleteReason::Overdue(_) = why { "overdue" } else { why.as_str() }
}

fn because(skipped: &SkipReason) -> Cow<'static, str> {
    match skipped {
        SkipReason::Kept => "kept by you".into(),
        SkipReason::Unusual(status) => status.describe(),
        SkipReason::Young => "younger by its own times than its store's rule says".into(),
    }
}

pub(crate) fn rm(config: &Config, args: &RmArgs) -> CommandResult {
    args.names.iter().try_for_each(|name| input::path(name).map(drop))?;
    let selected = select(config, OutputScope::All)?.require_marks(config)?;
    let entries = find_entries(config, &selected, &args.names)?;
    let consent = Consent::from_flags(false, args.yes, true, "add --yes to delete")?;
    let refused = entries.iter().find_map(|entry| Some((*entry, refusal(entry, consent, entries.len())?)));
    if let Some((entry, why)) = refused {
        bail!("{}: {why}; nothing was deleted", entry.path().display());
    }
    if consent == Consent::Ask && !confirm(&entries)? {
        return Ok(writeln!(terminal::stdout(), "nothing was deleted")?);
    }
    delete_each(config, selected.now, &entries, consent)
}

fn find_entries<'a>(
    config: &Config,
    selected: &'a Listing,
    words: &[OsString],
) -> anyhow::Result<Vec<&'a Entry>> {
    let mut entries: Vec<&Entry> = Vec::new();
    for word in words {
        // A whole id needs no other search of the stores.
        let mut same = selected.entries.iter().filter(|entry| entry.id_bytes() == word.as_encoded_bytes());
        let entry = match (input::path(word)?, same.next(), same.next()) {
            (None, Some(entry), None) => Some(entry),
            _ => match input::find(config, word)? {
                NamedItem::Output(entry) => selected.at(&entry.path()),
                NamedItem::File(path) => selected.at(&path),
                NamedItem::Stdin => None,
                NamedItem::Recorded(found) => {
                    let words = "is in an agent's records, which overspill never changes";
                    let spill =
                        found.call.map_or("", |_| "; `overspill show` names its spill, if it has one");
                    bail!("{} {words}{spill}", found.id());
                }
            },
        };
        let Some(entry) = entry else {
            let words = "is not a stored output; `rm` deletes only those (see `overspill list`)";
            bail!("{}: {words}", word.display());
        };
        if !entries.iter().any(|known| std::ptr::eq(*known, entry)) {
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// Returns why one of `named` entries cannot be deleted, or not without asking.
fn refusal(entry: &Entry, consent: Consent, named: usize) -> Option<String> {
    let unusual = entry.status.describe();
    match entry.status {
        _ if entry.is_kept() && consent != Consent::Ask && named > 1 => {
            Some("you keep it; name it alone, or run without --yes to confirm".to_owned())
        }
        EntryStatus::Ok | EntryStatus::Unfinished | EntryStatus::FutureTime => None,
        EntryStatus::HardLinked if consent == Consent::Ask => None,
        EntryStatus::HardLinked => {
            Some(format!("{unusual}: it has other names; run without --yes to confirm"))
        }
        EntryStatus::Unreadable(_) => Some(unusual.into_owned()),
        _ => Some(format!("{unusual}: not deleted by overspill; `rm` itself can, if you are sure")),
    }
}

fn confirm(entries: &[&Entry]) -> io::Result<bool> {
    let mut out = terminal::stdout();
    let row = |entry: &&Entry| ToDeleteRow { entry: Entry::clone(entry), why: "" };
    table::print(&mut out, &COLUMNS, &entries.iter().map(row).collect::<Vec<_>>(), true)?;
    for entry in entries.iter().filter(|entry| entry.status == EntryStatus::HardLinked) {
        writeln!(out, "{} has other names (hard link): they stay, and no space is freed", path(entry))?;
    }
    for entry in entries.iter().filter(|entry| entry.is_kept()) {
        writeln!(out, "{} is kept: you chose that it never expires", path(entry))?;
    }
    out.flush()?;
    let bytes = store::sum(entries.iter().map(|entry| entry.size()));
    ask(&format!("Delete {}, {}?", count(entries.len() as u64, "output"), size(bytes)))
}

fn delete_each(config: &Config, now: Timestamp, entries: &[&Entry], consent: Consent) -> CommandResult {
    let due = entries.iter().map(|entry| {
        // The user knows of the other names only if asked.
        let is_linked = consent == Consent::Ask && entry.status == EntryStatus::HardLinked;
        let mode = if is_linked { DeleteMode::Single } else { DeleteMode::Bulk };
        (*entry, DeleteReason::Requested { knows_kept: entry.is_kept() }, mode)
    });
    let Some(ends) = delete_all(&config.env, now, due)? else {
        bail!("another cleaning is running, and nothing was deleted; try again when it is done");
    };
    let (mut out, mut stayed) = (terminal::stdout(), Vec::new());
    for (entry, end) in entries.iter().zip(ends) {
        match end {
            DeleteOutcome::Deleted => writeln!(out, "deleted: {}, {}", path(entry), size(entry.size()))?,
            DeleteOutcome::AlreadyGone => writeln!(out, "already gone: {}", path(entry))?,
            DeleteOutcome::Stayed(why) => {
                stayed.push(format!("{}: {}", entry.path().display(), why.as_str()));
            }
        }
    }
    if stayed.is_empty() { Ok(()) } else { bail!("not deleted: {}", stayed.join("; ")) }
}
