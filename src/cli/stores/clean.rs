//! `overspill clean`: deletes what is due, after showing which.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

use crate::capture;
use crate::cli::args::CleanArgs;
use crate::cli::table::{Align, Table, safe};
use crate::cli::{Failure, Outcome, json, say};
use crate::config::Config;
use crate::human::{size, thousands};
use crate::store::{
    self, Asked, CleanPlan, CleanRule, Cleaner, DeleteMode, Entry, Env, Reason, Skipped, ToDelete, Why,
    clean_plan,
};

use super::confirm::{Consent, ask};
use super::row::{Record, age};
use super::select::{Stock, Whose};

/// What became of an entry that was due.
#[derive(Debug)]
enum End {
    /// Nothing yet: it is only shown.
    WouldGo,
    Deleted,
    AlreadyGone,
    /// It is as it should be that it is still there, for this reason.
    Kept(String),
    /// It should be gone and is not, for this reason.
    Failed(String),
}

impl End {
    fn as_str(&self) -> &'static str {
        match self {
            End::WouldGo => "would go",
            End::Deleted => "deleted",
            End::AlreadyGone => "already gone",
            End::Kept(_) => "kept",
            End::Failed(_) => "failed",
        }
    }

    fn reason(&self) -> Option<&str> {
        match self {
            End::Kept(reason) | End::Failed(reason) => Some(reason),
            End::WouldGo | End::Deleted | End::AlreadyGone => None,
        }
    }
}

impl From<store::Outcome> for End {
    /// What has changed, is in use or was marked since it was listed is no longer to go.
    fn from(outcome: store::Outcome) -> End {
        match outcome {
            store::Outcome::Deleted => End::Deleted,
            store::Outcome::AlreadyGone => End::AlreadyGone,
            store::Outcome::Stayed(reason) => match reason {
                Reason::Changed | Reason::InUse | Reason::Kept => End::Kept(reason.as_str().to_owned()),
                _ => End::Failed(reason.as_str().to_owned()),
            },
        }
    }
}

/// An entry that is due as `--json` gives it.
#[derive(Serialize)]
struct CleanRow<'a> {
    #[serde(flatten)]
    record: Record,
    why: Option<&'static str>,
    outcome: &'static str,
    reason: Option<&'a str>,
}

impl<'a> CleanRow<'a> {
    fn of(entry: &Entry, why: Option<&'static str>, end: &'a End, stock: &Stock) -> Self {
        Self { record: Record::of(entry, stock), why, outcome: end.as_str(), reason: end.reason() }
    }
}

/// Shows what is due, asks where there is someone to ask, and deletes.
pub(crate) fn run(config: &Config, args: &CleanArgs) -> Outcome {
    let remedy = "add --yes to delete, or --dry-run to see what would go";
    let consent = Consent::from_flags(args.dry_run, args.yes, !args.json, remedy)?;
    let whose = match &args.agent {
        Some(name) => Whose::Agent(name),
        None if args.all => Whose::All,
        None => Whose::Own,
    };
    let stock = Stock::list(config, whose)?.with_sure_marks(config)?;
    let rule = CleanRule {
        older_than: args.older_than,
        max_total: args.max_total.map(|size| size.number),
        asked: Asked::ByHand,
    };
    let plan = clean_plan(&stock.entries, &stock.kept, stock.now, &rule);
    if args.json {
        as_json(&stock, &plan, consent, &config.env)
    } else {
        as_text(&stock, &plan, consent, &config.env)
    }
}

fn as_json(stock: &Stock, plan: &CleanPlan, consent: Consent, env: &Env) -> Outcome {
    let ends = match consent {
        Consent::Given => delete(stock, plan, env)?,
        Consent::DryRun | Consent::Ask => plan.doomed.iter().map(|_| End::WouldGo).collect(),
    };
    let kept: Vec<End> = plan.spared.iter().map(|(_, why)| End::Kept(because(why).into_owned())).collect();
    let doomed = plan.doomed.iter().map(|doomed| (doomed.index, Some(word(doomed.why)))).zip(&ends);
    let spared = plan.spared.iter().map(|(index, _)| (*index, None)).zip(&kept);
    let due = doomed.chain(spared);
    let rows: Vec<CleanRow> =
        due.map(|((index, why), end)| CleanRow::of(&stock.entries[index], why, end, stock)).collect();
    json(&mut crate::fs::patient::stdout(), &rows)?;
    result(&ends)
}

fn as_text(stock: &Stock, plan: &CleanPlan, consent: Consent, env: &Env) -> Outcome {
    let mut out = io::BufWriter::new(crate::fs::patient::stdout());
    table(stock, plan).print(&mut out)?;
    for (index, why) in &plan.spared {
        writeln!(out, "kept: {}: {}", path(&stock.entries[*index]), safe(because(why).as_bytes()))?;
    }
    let what = format!("{}, {}", outputs(plan.doomed.len() as u64), size(plan.bytes));
    if plan.doomed.is_empty() {
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
    let ends = delete(stock, plan, env)?;
    report(&mut out, stock, plan, &ends)?;
    out.flush()?;
    result(&ends)
}

/// What was deleted, and what was not and why.
fn report(out: &mut impl Write, stock: &Stock, plan: &CleanPlan, ends: &[End]) -> io::Result<()> {
    let (mut files, mut bytes) = (0, 0);
    for (ToDelete { index, .. }, end) in plan.doomed.iter().zip(ends) {
        let entry = &stock.entries[*index];
        if let End::Deleted = end {
            files += 1;
            bytes = u64::saturating_add(bytes, entry.size());
        } else {
            let reason = end.reason().map_or(String::new(), |why| format!(": {}", safe(why.as_bytes())));
            writeln!(out, "{}: {}{reason}", end.as_str(), path(entry))?;
        }
    }
    writeln!(out, "deleted: {}, {}", outputs(files), size(bytes))
}

/// Deletes what the plan says, as the only cleaner; while another is at it, everything is left to that one.
fn delete(stock: &Stock, plan: &CleanPlan, env: &Env) -> anyhow::Result<Vec<End>> {
    if plan.doomed.is_empty() {
        return Ok(Vec::new());
    }
    let Some(mut cleaner) = Cleaner::start(env)? else {
        say("another cleaning is running; nothing was deleted here");
        let left = |_| End::Kept("another cleaning is running".to_owned());
        return Ok(plan.doomed.iter().map(left).collect());
    };
    let mut one = |doomed: &ToDelete| {
        let entry = &stock.entries[doomed.index];
        End::from(cleaner.delete(entry, doomed.why, DeleteMode::Bulk, env, stock.now))
    };
    let ends = plan.doomed.iter().map(&mut one).collect();
    cleaner.unlogged().into_iter().for_each(say);
    // A record that stays behind goes with the next cleaning.
    let _ = capture::Record::sweep(env, stock.now);
    Ok(ends)
}

/// Status 1 if something that should go could not.
fn result(ends: &[End]) -> Outcome {
    match ends.iter().filter(|end| matches!(end, End::Failed(_))).count() {
        0 => Ok(()),
        failed => {
            let what = outputs(failed as u64);
            Err(Failure::Failed(format!("{what} could not be deleted; see the reasons above")).into())
        }
    }
}

fn table(stock: &Stock, plan: &CleanPlan) -> Table<5> {
    use Align::{Left, Right};
    let heads = [("age", Right), ("size", Right), ("agent", Left), ("why", Left), ("path", Left)];
    let mut table = Table::new(heads);
    for ToDelete { index, why } in &plan.doomed {
        let entry = &stock.entries[*index];
        let agent = safe(entry.agent().as_bytes());
        table.row([age(entry, stock.now), size(entry.size()), agent, word(*why).to_owned(), path(entry)]);
    }
    table
}

fn path(entry: &Entry) -> String {
    safe(entry.path().as_os_str().as_encoded_bytes())
}

fn word(why: Why) -> &'static str {
    match why {
        Why::Overdue(_) => "overdue",
        why => why.as_str(),
    }
}

fn because(spared: &Skipped) -> Cow<'static, str> {
    match spared {
        Skipped::Kept => "kept by you".into(),
        Skipped::Unusual(status) => status.words(),
        Skipped::Young => "younger by its own times than its store's rule says".into(),
    }
}

/// `1 output` or `12 outputs`.
pub(crate) fn outputs(number: u64) -> String {
    format!("{} output{}", thousands(number), if number == 1 { "" } else { "s" })
}
