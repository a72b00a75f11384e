//! `overspill list`: lists stored outputs, or prints a line for each as an agent stores it.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::bail;
use serde_json::Value;

use crate::base::human::{count, local_time, size, thousands};
use crate::base::provenance::Certainty;
use crate::cli::args::ListArgs;
use crate::cli::{CommandResult, json, say, say_once, table, terminal};
use crate::config::Config;
use crate::corpus::{CutPolicies, ReadFault};
use crate::rows::column::key_of;
use crate::rows::lost::LostCounts;
use crate::rows::outputs::{self, OutputFacts, OutputRow, recorded};
use crate::rows::watched::WatchedOutput;
use crate::source::Identity;
use crate::store::{DirWatch, Entry, EntryStatus, Env, Listing, Record, SortBy, rest_after};
use crate::text::label::label;

use super::{OutputScope, read_run, say_none_stored, select, select_quietly};

/// How long an output must not change before it counts as complete.
const COMPLETE_AFTER: Duration = Duration::from_secs(1);

pub(crate) fn run(config: &Config, args: &ListArgs) -> CommandResult {
    let scope = args.agent.as_deref().map_or(OutputScope::All, OutputScope::Agent);
    let mut selected = select(config, scope)?.with_marks(config);
    let mut rows = rows(&mut selected, &config.env);
    let any = !rows.is_empty();
    let (now, larger_than) = (selected.now, args.larger_than.as_ref().map(|size| size.number));
    rows.retain(|OutputRow { entry, .. }| {
        args.older_than.is_none_or(|age| entry.age(now) > age)
            && larger_than.is_none_or(|size| entry.size() > size)
    });
    let by = args.sort.unwrap_or(SortBy::Age);
    rows.sort_by(|a, b| by.compare(&a.entry, &b.entry));
    if rows.is_empty() && !args.json {
        say_none_stored(if any { " of that kind" } else { "" });
        return Ok(());
    }
    table::list(args.json, outputs::TABLE, &rows, |row| outputs::json(&row.entry, selected.now))
}

/// Takes out the entries, with what is recorded of those that overspill saved, in whatever store.
fn rows(selected: &mut Listing, env: &Env) -> Vec<OutputRow> {
    let names = Record::names(env);
    let row = |mut entry: Entry| {
        let is_recorded = entry.name().to_str().is_some_and(|name| names.contains(name));
        let facts = is_recorded.then(|| {
            let run = if entry.copy().is_none() { read_run(&mut entry, env) } else { None };
            let mut facts = OutputFacts::default();
            facts.peek.set(Some(recorded(&entry, run)));
            Arc::new(facts)
        });
        OutputRow { is_kept: selected.kept.has(&entry), entry, facts }
    };
    std::mem::take(&mut selected.entries).into_iter().map(row).collect()
}

/// Prints a line for each new output once it is complete, until it is interrupted or nobody reads the lines.
pub(crate) fn follow(config: &Config, args: &ListArgs) -> CommandResult {
    let scope = args.agent.as_deref().map_or(OutputScope::All, OutputScope::Agent);
    let (mut selected, mut rest) = list_timed(config, scope)?;
    if selected.roots().next().is_none() {
        bail!("there is no store to follow; `overspill stores --all` lists all");
    }
    let mut said = HashSet::new();
    let mut complain = |of: &Listing| of.unlisted().for_each(|words| say_once(&words, &mut said));
    complain(&selected);
    say("waiting for new outputs; Ctrl-C ends");
    let (policies, severities) = (CutPolicies::new(config), config.severities());
    let mut known: HashSet<u64> =
        selected.entries.iter().filter(|entry| is_complete(entry)).map(key).collect();
    let mut directories = DirWatch::new(selected.roots());
    // New outputs, each with when it was last seen to change.
    let mut growing: Vec<(Entry, Instant)> = Vec::new();
    loop {
        std::thread::sleep(rest);
        for entry in take_complete(&mut growing) {
            match WatchedOutput::read(entry, &policies, &severities) {
                Ok(mut output) => {
                    read_run(&mut output.entry, &config.env);
                    let mut out = terminal::stdout();
                    match args.json {
                        true => json(&mut out, &follow_record(&output, &selected))?,
                        false => out.write_all(format!("{}\n", describe(&output)).as_bytes())?,
                    }
                    out.flush()?;
                }
                Err(ReadFault::Gone) => {}
                Err(ReadFault::Failed(words) | ReadFault::Unsteady(words)) => say(&words),
            }
        }
        if directories.check_once() {
            (selected, rest) = list_timed(config, scope)?;
            complain(&selected);
            directories = DirWatch::new(selected.roots());
            let mut new = std::mem::take(&mut selected.entries);
            new.retain(|entry| is_complete(entry) && known.insert(key(entry)));
            new.sort_by_key(Entry::modified);
            growing.extend(new.into_iter().map(|entry| (entry, Instant::now())));
        }
    }
}

fn list_timed(config: &Config, scope: OutputScope) -> anyhow::Result<(Listing, Duration)> {
    let began = Instant::now();
    let selected = select_quietly(config, scope)?.with_marks(config);
    Ok((selected, rest_after(began.elapsed())))
}

/// Takes out what has not changed for long enough; what vanished is forgotten.
fn take_complete(growing: &mut Vec<(Entry, Instant)>) -> Vec<Entry> {
    let (mut complete, mut left) = (Vec::new(), Vec::new());
    for (mut entry, mut since) in growing.drain(..) {
        let Ok(now) = entry.path().symlink_metadata() else { continue };
        let now = Identity::from(&now);
        if now != entry.identity {
            (entry.identity, since) = (now, Instant::now());
        }
        if since.elapsed() >= COMPLETE_AFTER { complete.push(entry) } else { left.push((entry, since)) }
    }
    *growing = left;
    complete
}

/// Whether an entry has its final name; only such can be opened.
fn is_complete(entry: &Entry) -> bool {
    use EntryStatus::{FutureTime, HardLinked, Ok};
    matches!(entry.status, Ok | HardLinked | FutureTime)
}

/// Returns what tells an output from others: another file of the same name is another output.
fn key(entry: &Entry) -> u64 {
    key_of((entry.path(), entry.identity.dev, entry.identity.ino))
}

fn follow_record(output: &WatchedOutput, selected: &Listing) -> Value {
    let mut record = outputs::json(&output.entry, selected.now);
    record["certainty"] = output.certainty.map(Certainty::as_str).into();
    record["kept_lines"] = output.kept_lines.into();
    record["removed_lines"] = output.removed_lines.into();
    record["errors"] = output.lost.map(|lost| lost.errors.all).into();
    record["errors_lost"] = output.lost.map(|lost| lost.errors.lost).into();
    record["warnings"] = output.lost.map(|lost| lost.warnings.all).into();
    record["warnings_lost"] = output.lost.map(|lost| lost.warnings.lost).into();
    record["first_lost"] = output.first_lost.as_deref().into();
    record
}

/// Returns an output as one safe line: time, agent, size, what the model got, errors lost and the first of them.
fn describe(output: &WatchedOutput) -> String {
    let entry = &output.entry;
    let agent = label(entry.agent().as_bytes());
    let got = match output.certainty {
        None => format!("unknown what the model got: {}", output.got),
        Some(Certainty::WouldGet) => format!("the model would get {}", output.got),
        Some(_) => format!("the model got {}", output.got),
    };
    let time = local_time(entry.modified(), "%H:%M:%S");
    let mut words = format!("{time}  {agent}  {}  {got}", size(entry.size()));
    let LostCounts { errors, warnings } = output.lost.unwrap_or_default();
    let (found, word) = if errors.all > 0 { (errors, "error") } else { (warnings, "warning") };
    if found.lost > 0 {
        words.push_str(&format!("  {} lost of {}", count(found.lost, word), thousands(found.all)));
    }
    if let Some(line) = &output.first_lost {
        words.push_str(&format!(": {}", label(line.trim().as_bytes())));
    }
    words
}
