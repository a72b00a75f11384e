//! `overspill clean`: deletes what has expired, after showing it.

use std::borrow::Cow;
use std::io::{self, Write};

use anyhow::{anyhow, bail};
use jiff::Timestamp;
use serde_json::Value;

use crate::base::human::{count, size};
use crate::capture::{EndError, EndedSession, end_session};
use crate::cli::args::CleanArgs;
use crate::cli::terminal::{self, Consent, ask};
use crate::cli::{CommandResult, print_json_array, say, table, usage};
use crate::config::{Config, Need};
use crate::rows::outputs;
use crate::store::{
    CleanPlan, CleanRule, Cleaner, DeleteMode, DeleteOutcome, DeleteReason, Entry, Env, PlannedDelete,
    Reason, Record, SkipReason, SortBy, Trigger, clean_plan,
};
use crate::text::label::label;

use super::{DELETE_COLUMNS, OWN, Selected, ToDeleteRow, Whose, path};

#[derive(Debug)]
enum DueOutcome {
    /// Only shown, nothing done.
    WouldGo,
    Deleted,
    AlreadyGone,
    /// Not deleted, for this good reason.
    Kept(String),
    /// Could not be deleted, for this reason.
    Failed(String),
}

impl DueOutcome {
    fn as_str(&self) -> &'static str {
        match self {
            DueOutcome::WouldGo => "would go",
            DueOutcome::Deleted => "deleted",
            DueOutcome::AlreadyGone => "already gone",
            DueOutcome::Kept(_) => "kept",
            DueOutcome::Failed(_) => "failed",
        }
    }

    fn reason(&self) -> Option<&str> {
        if let DueOutcome::Kept(reason) | DueOutcome::Failed(reason) = self { Some(reason) } else { None }
    }
}

fn record(entry: &Entry, why: Option<&str>, end: &DueOutcome, now: Timestamp) -> Value {
    let mut record = outputs::json(entry, now);
    record["why"] = why.into();
    record["outcome"] = end.as_str().into();
    record["reason"] = end.reason().into();
    record
}

/// Returns the settings that the cleaning needs: how long overspill's own store keeps outputs, if that is cleaned.
pub(crate) fn need(args: &CleanArgs) -> Need {
    match (args.agent.as_deref(), &args.session) {
        (None | Some(OWN), None) => Need::Retention,
        _ => Need::Nothing,
    }
}

/// Refuses to clean a store of which the user said something that was not understood.
fn refuse_unclear(config: &Config, whose: Whose) -> anyhow::Result<()> {
    let fault = match whose {
        Whose::Own => config.stores.fault_of(OWN),
        Whose::Agent(name) => config.stores.fault_of(name),
        Whose::All => config.stores.faults().next(),
    };
    fault.map_or(Ok(()), |fault| {
        Err(usage(format!("{fault}; nothing was deleted, because this file may say what to keep")))
    })
}

pub(crate) fn run(config: &Config, args: &CleanArgs) -> CommandResult {
    if let Some(name) = &args.session {
        return end(config, name);
    }
    let whose = match &args.agent {
        Some(name) => Whose::Agent(name),
        None if args.all => Whose::All,
        None => Whose::Own,
    };
    refuse_unclear(config, whose)?;
    let mut selected = Selected::list(config, whose)?.with_sure_marks(config)?;
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
    if args.json {
        as_json(&selected, &plan, consent, &config.env)
    } else {
        as_text(&selected, &plan, consent, &config.env)
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
    let names = names.join(", ");
    bail!("{place} was kept, because it holds files that are not finished spills: {names}")
}

fn as_json(selected: &Selected, plan: &CleanPlan, consent: Consent, env: &Env) -> CommandResult {
    let ends = match consent {
        Consent::Given => delete(selected, plan, env)?,
        Consent::DryRun | Consent::Ask => plan.to_delete.iter().map(|_| DueOutcome::WouldGo).collect(),
    };
    let record = |index: usize, why, end: &_| record(&selected.entries[index], why, end, selected.now);
    let due = plan.to_delete.iter().zip(&ends).map(|(due, end)| record(due.index, Some(word(due.why)), end));
    let kept = |why| DueOutcome::Kept(because(why).into_owned());
    let skipped = plan.skipped.iter().map(|(index, why)| record(*index, None, &kept(why)));
    print_json_array(due.chain(skipped))?;
    result(&ends)
}

fn as_text(selected: &Selected, plan: &CleanPlan, consent: Consent, env: &Env) -> CommandResult {
    let mut out = io::BufWriter::new(terminal::stdout());
    let entry = |due: &PlannedDelete| selected.entries[due.index].clone();
    let row = |due| ToDeleteRow { entry: entry(due), why: word(due.why) };
    let rows: Vec<_> = plan.to_delete.iter().map(row).collect();
    table::print(&mut out, &DELETE_COLUMNS, &rows, true)?;
    for (index, why) in &plan.skipped {
        writeln!(out, "kept: {}: {}", path(&selected.entries[*index]), label(because(why).as_bytes()))?;
    }
    let what = format!("{}, {}", count(plan.to_delete.len() as u64, "output"), size(plan.bytes));
    if plan.to_delete.is_empty() {
        writeln!(out, "nothing to delete")?;
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
    let ends = delete(selected, plan, env)?;
    report(&mut out, selected, plan, &ends)?;
    out.flush()?;
    result(&ends)
}

fn report(
    out: &mut impl Write,
    selected: &Selected,
    plan: &CleanPlan,
    ends: &[DueOutcome],
) -> io::Result<()> {
    let (mut files, mut bytes) = (0, 0);
    for (PlannedDelete { index, .. }, end) in plan.to_delete.iter().zip(ends) {
        let entry = &selected.entries[*index];
        if let DueOutcome::Deleted = end {
            files += 1;
            bytes = u64::saturating_add(bytes, entry.size());
        } else {
            let reason = end.reason().map_or(String::new(), |why| format!(": {}", label(why.as_bytes())));
            writeln!(out, "{}: {}{reason}", end.as_str(), path(entry))?;
        }
    }
    writeln!(out, "deleted: {}, {}", count(files, "output"), size(bytes))
}

/// Deletes what the plan says under the lock for cleaning; if another process holds it, leaves everything to that one.
fn delete(selected: &Selected, plan: &CleanPlan, env: &Env) -> anyhow::Result<Vec<DueOutcome>> {
    if plan.to_delete.is_empty() {
        return Ok(Vec::new());
    }
    let Some(mut cleaner) = Cleaner::start_patiently(env)? else {
        say("another cleaning is running; nothing was deleted here");
        let left = |_| DueOutcome::Kept("another cleaning is running".to_owned());
        return Ok(plan.to_delete.iter().map(left).collect());
    };
    let mut one = |to_delete: &PlannedDelete| {
        let entry = &selected.entries[to_delete.index];
        match cleaner.delete(entry, to_delete.why, DeleteMode::Bulk, env, selected.now) {
            DeleteOutcome::Deleted => DueOutcome::Deleted,
            DeleteOutcome::AlreadyGone => DueOutcome::AlreadyGone,
            // It has changed, is in use or was marked since the listing.
            DeleteOutcome::Stayed(why @ (Reason::Changed | Reason::InUse | Reason::Kept)) => {
                DueOutcome::Kept(why.as_str().to_owned())
            }
            DeleteOutcome::Stayed(why) => DueOutcome::Failed(why.as_str().to_owned()),
        }
    };
    let ends = plan.to_delete.iter().map(&mut one).collect();
    cleaner.unlogged().into_iter().for_each(say);
    // A record that is left behind is removed by the next cleaning.
    let _ = Record::sweep(env, selected.now);
    Ok(ends)
}

/// Exit status 1 if anything could not be deleted.
fn result(ends: &[DueOutcome]) -> CommandResult {
    match ends.iter().filter(|end| matches!(end, DueOutcome::Failed(_))).count() {
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
