//! `overspill stores`: where agents keep outputs, what is there, and for how long.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::cli::args::StoresArgs;
use crate::cli::safe::SafeWriter;
use crate::cli::{CommandResult, Failure, json, say, suggest, table, terminal};
use crate::config::Config;
use crate::human::{size, thousands};
use crate::rows::column::CellSide::{Left, Path, Right};
use crate::rows::column::{ListColumn, RowCell};
use crate::store::{self, Env, Listing, OwnStore, RootReport, RootState, StoreSpec};
use crate::text::label::{ascii, label};

use super::row::retention;
use super::select::OWN;

/// One store as in `--json`. An agent that keeps no outputs has no roots, and a reason.
#[derive(Serialize)]
struct StoreJson {
    name: String,
    agent: String,
    roots: Vec<Root>,
    entries: u64,
    bytes: u64,
    rule: Option<String>,
    rule_note: Option<String>,
    holds: Vec<&'static str>,
    policies: Vec<String>,
    confidence: Option<&'static str>,
    source: Option<String>,
    note: Option<String>,
    warnings: Vec<String>,
    keeps_none: Option<String>,
}

#[derive(Serialize)]
struct Root {
    path: String,
    state: &'static str,
    reason: Option<String>,
    entries: u64,
    bytes: u64,
    unreadable: Vec<Unreadable>,
}

#[derive(Serialize)]
struct Unreadable {
    path: String,
    reason: String,
}

/// Lists all stores, or prints the file of one agent to save, edit and use.
pub(crate) fn run(config: &Config, args: &StoresArgs) -> CommandResult {
    if let Some(name) = &args.name {
        let mut out = SafeWriter::stdout();
        out.write_all(file(config, name)?.as_bytes())?;
        return Ok(out.end()?);
    }
    let mut out = io::BufWriter::new(crate::cli::safe::stdout());
    let listing = store::list(&config.stores.specs, &config.env, crate::env::now());
    if args.json {
        json(&mut out, &records(config, &listing))?;
        return Ok(out.flush()?);
    }
    let (shown, others): (Vec<_>, Vec<_>) =
        rows(config, &listing).into_iter().partition(|row| args.all || row.is_there);
    print(&mut out, &shown)?;
    out.flush()?;
    if !others.is_empty() && io::stdout().is_terminal() {
        let words = "more stores are empty or not on this system; --all lists them";
        say(&format!("{} {words}", thousands(others.len() as u64)));
    }
    Ok(())
}

/// Prints a row a store; to a terminal the rule and the directory, which must not be cut, on a line of their own.
fn print(out: &mut impl Write, rows: &[StoreRow]) -> io::Result<()> {
    if !io::stdout().is_terminal() {
        return table::print(out, &COLUMNS, rows);
    }
    let mut lines = Vec::new();
    let columns = COLUMNS.iter().filter(|column| !["deleted", "directory"].contains(&column.heading()));
    table::print(&mut lines, columns, rows)?;
    let below = rows.iter().map(|row| {
        let rule = row.spec.as_ref().map(|of| format!("deleted: {} · ", of.0)).unwrap_or_default();
        format!("  {rule}{}\n", row.directory)
    });
    for (line, below) in
        lines.split_inclusive(|byte| *byte == b'\n').zip([String::new()].into_iter().chain(below))
    {
        out.write_all(line)?;
        let below = if terminal::is_ascii(&io::stdout()) { ascii(&below) } else { below.into() };
        out.write_all(below.as_bytes())?;
    }
    Ok(())
}

fn file<'a>(config: &'a Config, name: &str) -> Result<&'a str, Failure> {
    if let Some(fault) = config.stores.fault_of(name) {
        return Err(Failure::Usage(fault.to_owned()));
    }
    config.stores.text(name).ok_or_else(|| {
        let mut known: Vec<&str> = config.stores.specs.iter().map(|spec| spec.agent.as_str()).collect();
        known.extend(config.stores.keep_none.iter().map(|(agent, _)| agent.as_str()));
        known.sort_unstable();
        known.dedup();
        let instead = suggest::name(name, &known, "the stores are:");
        Failure::Usage(format!("no store `{}`; {instead}", label(name.as_bytes())))
    })
}

fn records(config: &Config, listing: &Listing) -> Vec<StoreJson> {
    let stores = listing.reports.iter().map(|(spec, roots)| StoreJson::of(spec, roots, &config.env));
    let without = config.stores.keep_none.iter().map(|(agent, why)| StoreJson::without(agent, why));
    let mut records: Vec<StoreJson> = stores.chain(without).collect();
    records.sort_by(|a, b| a.name.cmp(&b.name));
    records
}

impl StoreJson {
    fn of(spec: &StoreSpec, roots: &[RootReport], env: &Env) -> Self {
        let rule = spec.retention.as_set(env);
        let mut policies: Vec<String> = Vec::new();
        for policy in spec.files.iter().flat_map(|file| &file.policies) {
            if !policies.contains(policy) {
                policies.push(policy.clone());
            }
        }
        Self {
            name: spec.name.clone(),
            agent: spec.agent.clone(),
            roots: roots.iter().map(|root| Root::of(spec, root, env)).collect(),
            entries: roots.iter().map(|root| root.entries).sum(),
            bytes: store::sum(roots.iter().map(|root| root.bytes)),
            rule: Some(retention(&rule)),
            rule_note: rule.note,
            holds: holds(spec),
            policies,
            confidence: Some(spec.confidence.as_str()),
            source: Some(spec.source.clone()),
            note: spec.note.clone(),
            warnings: spec.warnings.iter().map(|warning| warning.text.clone()).collect(),
            keeps_none: None,
        }
    }

    fn without(agent: &str, why: &str) -> Self {
        Self {
            name: agent.to_owned(),
            agent: agent.to_owned(),
            roots: Vec::new(),
            entries: 0,
            bytes: 0,
            rule: None,
            rule_note: None,
            holds: Vec::new(),
            policies: Vec::new(),
            confidence: None,
            source: None,
            note: None,
            warnings: Vec::new(),
            keeps_none: Some(why.to_owned()),
        }
    }
}

impl Root {
    fn of(spec: &StoreSpec, report: &RootReport, env: &Env) -> Self {
        let unreadable = |(path, reason): &(std::path::PathBuf, String)| Unreadable {
            path: path.to_string_lossy().into_owned(),
            reason: reason.clone(),
        };
        let (state, reason) = state(spec, report, env);
        Self {
            path: report.root.to_string_lossy().into_owned(),
            state,
            reason,
            entries: report.entries,
            bytes: report.bytes,
            unreadable: report.unreadable.iter().map(unreadable).collect(),
        }
    }
}

/// Returns whether a root exists, and if not, why; for overspill's own store also why it cannot be used.
fn state(spec: &StoreSpec, report: &RootReport, env: &Env) -> (&'static str, Option<String>) {
    let opened = || (spec.agent == OWN).then(|| OwnStore::open(env));
    let refusal = || Some(opened()?.err()?.to_string());
    match &report.state {
        RootState::Listed | RootState::Stopped => match refusal() {
            Some(why) => ("refused", Some(why)),
            None => ("there", None),
        },
        RootState::Absent => ("not there", None),
        RootState::Unset(unset) => ("unset", Some(unset.to_string())),
        RootState::Unreadable(why) => ("unreadable", Some(why.clone())),
    }
}

fn holds(spec: &StoreSpec) -> Vec<&'static str> {
    let mut words: Vec<&str> = spec.files.iter().map(|file| file.holds.as_str()).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// A directory of a store, or an agent that keeps no outputs.
struct StoreRow {
    store: String,
    /// Whether there is anything to tell of it on this system.
    is_there: bool,
    /// The outputs in it and their bytes, if it could be listed.
    figures: Option<(u64, u64)>,
    spec: Option<(String, String, &'static str)>,
    directory: String,
}

static COLUMNS: [ListColumn<StoreRow>; 7] = [
    ListColumn::new("store", Left, 24, |row: &StoreRow, _| RowCell::plain(row.store.as_str())),
    ListColumn::new("outputs", Right, 9, |row: &StoreRow, _| or_dash(row.figures.map(|of| thousands(of.0)))),
    ListColumn::new("size", Right, 8, |row: &StoreRow, _| or_dash(row.figures.map(|of| size(of.1)))),
    ListColumn::new("deleted", Left, 40, |row: &StoreRow, _| {
        or_dash(row.spec.as_ref().map(|of| of.0.clone()))
    }),
    ListColumn::new("holds", Left, 24, |row: &StoreRow, _| or_dash(row.spec.as_ref().map(|of| of.1.clone())))
        .yields(1),
    ListColumn::new("confidence", Left, 12, |row: &StoreRow, _| {
        or_dash(row.spec.as_ref().map(|of| of.2.to_owned()))
    })
    .yields(0),
    ListColumn::new("directory", Path, 0, |row: &StoreRow, _| RowCell::plain(row.directory.as_str())),
];

fn or_dash(words: Option<String>) -> RowCell {
    RowCell::plain(words.unwrap_or_else(|| "–".to_owned()))
}

fn rows(config: &Config, listing: &Listing) -> Vec<StoreRow> {
    let stores = listing.reports.iter().flat_map(|(spec, roots)| roots.iter().map(move |root| (spec, root)));
    let stores = stores.map(|(spec, root)| StoreRow {
        store: spec.name.clone(),
        is_there: match &root.state {
            RootState::Absent | RootState::Unset(_) => false,
            // Several agents share the temporary directory, which says nothing of any of them.
            RootState::Listed => root.entries > 0 || !root.unreadable.is_empty() || spec.agent == OWN,
            RootState::Stopped | RootState::Unreadable(_) => true,
        },
        figures: (root.state == RootState::Listed).then_some((root.entries, root.bytes)),
        spec: Some((
            retention(&spec.retention.as_set(&config.env)),
            holds(spec).join(", "),
            spec.confidence.as_str(),
        )),
        directory: directory(spec, root, &config.env),
    });
    let without = config.stores.keep_none.iter().map(|(agent, why)| StoreRow {
        store: agent.clone(),
        is_there: false,
        figures: None,
        spec: None,
        directory: format!("keeps none: {why}"),
    });
    let mut rows: Vec<StoreRow> = stores.chain(without).collect();
    rows.sort_by(|a, b| a.store.cmp(&b.store));
    rows
}

fn directory(spec: &StoreSpec, root: &RootReport, env: &Env) -> String {
    let (state, reason) = state(spec, root, env);
    let path = label(root.root.as_os_str().as_encoded_bytes());
    let inside = match root.unreadable.len() {
        0 => String::new(),
        some => format!(" ({} directories in it cannot be read)", thousands(some as u64)),
    };
    match (state, reason) {
        ("there", _) => format!("{path}{inside}"),
        (state, None) => format!("{path} ({state})"),
        ("refused", Some(reason)) => format!("refused: {reason}"),
        (_, Some(reason)) => format!("{path} ({reason})"),
    }
}
