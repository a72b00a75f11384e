//! `overspill list`: lists stored outputs without a screen.

use std::sync::Arc;

use crate::cli::args::ListArgs;
use crate::cli::{CommandResult, say, table};
use crate::config::Config;
use crate::rows::outputs::{self, OutputFacts, OutputRow, recorded, table_columns};
use crate::store::{Entry, Env, Record, SortBy};

use super::facts;
use super::select::{Selected, Whose};

pub(crate) fn run(config: &Config, args: &ListArgs) -> CommandResult {
    let whose = args.agent.as_deref().map_or(Whose::All, Whose::Agent);
    let mut selected = Selected::list(config, whose)?.with_marks(config);
    let mut rows = rows(&mut selected, &config.env);
    let any = !rows.is_empty();
    sort(&mut rows, &selected, args);
    if rows.is_empty() && !args.json {
        let which = if any { " of that kind" } else { "" };
        say(&format!("no stored outputs{which}; `overspill stores --all` shows the directories searched"));
        return Ok(());
    }
    table::list(args.json, table_columns(), &rows, |row| outputs::json(&row.entry, selected.now))
}

/// Takes out the entries, with what is recorded of those that overspill saved, in whatever store.
fn rows(selected: &mut Selected, env: &Env) -> Vec<OutputRow> {
    let names = Record::names(env);
    let row = |mut entry: Entry| {
        let is_recorded = entry.name().to_str().is_some_and(|name| names.contains(name));
        let facts = is_recorded.then(|| {
            let run = if entry.copy().is_none() { facts::read_run(&mut entry, env) } else { None };
            let mut facts = OutputFacts::default();
            facts.peek.found(Some(recorded(&entry, run)));
            Arc::new(facts)
        });
        OutputRow { is_kept: selected.kept.has(&entry), entry, facts }
    };
    std::mem::take(&mut selected.entries).into_iter().map(row).collect()
}

fn sort(rows: &mut Vec<OutputRow>, selected: &Selected, args: &ListArgs) {
    let (now, larger_than) = (selected.now, args.larger_than.as_ref().map(|size| size.number));
    let is_older = |entry: &Entry| args.older_than.is_none_or(|age| entry.age(now) > age);
    rows.retain(|row| is_older(&row.entry) && larger_than.is_none_or(|size| row.entry.size() > size));
    let by = args.sort.unwrap_or(SortBy::Age);
    rows.sort_by(|a, b| by.compare(&a.entry, &b.entry));
}
