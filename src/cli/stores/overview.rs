//! `overspill stores`: where agents keep outputs, what is there, and for how long.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal, Write};

use serde_json::{Value, json};

use crate::base::human::{size, thousands};
use crate::cli::args::StoresArgs;
use crate::cli::terminal::{self, SafeWriter};
use crate::cli::{CommandResult, print_json, safe, say, suggest, table, usage};
use crate::config::Config;
use crate::rows::column::CellSide::{Left, Path, Right};
use crate::rows::column::{ListColumn, RowCell};
use crate::store::{self, Env, Listing, OWN, OwnStore, RootReport, RootState, StoreSpec};
use crate::text::label::label;

pub(crate) fn run(config: &Config, args: &StoresArgs) -> CommandResult {
    if let Some(name) = &args.name {
        let mut out = SafeWriter::stdout();
        out.write_all(file(config, name)?.as_bytes())?;
        return Ok(out.end()?);
    }
    let listing = store::list(&config.stores.specs, &config.env, crate::base::env::now());
    if args.json {
        return print_json(&records(config, &listing));
    }
    let (shown, others): (Vec<_>, Vec<_>) =
        rows(config, &listing).into_iter().partition(|row| args.all || row.is_there);
    print(&shown)?;
    if !others.is_empty() && io::stdout().is_terminal() {
        let words = "more stores are empty or not on this system; --all lists them";
        say(&format!("{} {words}", thousands(others.len() as u64)));
    }
    Ok(())
}

/// Prints one row per store. On a terminal the rule and the directory have their own line, so that they are not cut.
fn print(rows: &[StoreRow]) -> CommandResult {
    if !io::stdout().is_terminal() {
        return table::show(&COLUMNS, rows);
    }
    let mut lines = Vec::new();
    let columns = COLUMNS.iter().filter(|column| !["deleted", "directory"].contains(&column.heading()));
    table::print(&mut lines, columns, rows, false)?;
    let below = rows.iter().map(|row| {
        let rule = row.rule.as_ref().map(|rule| format!("deleted: {} · ", safe(rule))).unwrap_or_default();
        format!("  {rule}{}\n", row.directory)
    });
    let both = lines.split_inclusive(|byte| *byte == b'\n').zip([String::new()].into_iter().chain(below));
    let text: Vec<u8> = both.flat_map(|(line, below)| [line, below.as_bytes()].concat()).collect();
    Ok(terminal::stdout().write_all(&text)?)
}

fn file<'a>(config: &'a Config, name: &str) -> anyhow::Result<&'a str> {
    if let Some(fault) = config.stores.fault_of(name) {
        return Err(usage(fault));
    }
    config.stores.text(name).ok_or_else(|| {
        let instead = suggest::name(name, &Vec::from_iter(config.stores.agents()), "the stores are:");
        usage(format!("no store `{}`; {instead}", label(name.as_bytes())))
    })
}

/// Returns the stores as in `--json`. An agent that keeps no outputs has no directories, and a reason.
fn records(config: &Config, listing: &Listing) -> Vec<Value> {
    let stores = listing.reports.iter().map(|(spec, roots)| record(spec, roots, &config.env));
    let without = config.stores.keep_none.iter().map(|(agent, why)| {
        json!({
            "name": agent, "agent": agent, "roots": [], "entries": 0, "bytes": 0, "rule": null, "rule_note": null,
            "holds": [], "policies": [], "confidence": null, "source": null, "note": null, "warnings": [],
            "keeps_none": why,
        })
    });
    let mut records: Vec<Value> = stores.chain(without).collect();
    records.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
    records
}

fn record(spec: &StoreSpec, roots: &[RootReport], env: &Env) -> Value {
    let rule = spec.retention.as_set(env);
    let mut seen = BTreeSet::new();
    let policies = spec.files.iter().flat_map(|file| &file.policies).filter(|policy| seen.insert(*policy));
    let policies: Vec<&String> = policies.collect();
    json!({
        "name": spec.name,
        "agent": spec.agent,
        "roots": roots.iter().map(|root| root_record(spec, root, env)).collect::<Vec<_>>(),
        "entries": roots.iter().map(|root| root.entries).sum::<u64>(),
        "bytes": store::sum(roots.iter().map(|root| root.bytes)),
        "rule": rule.describe(),
        "rule_note": rule.note,
        "holds": holds(spec),
        "policies": policies,
        "confidence": spec.confidence().as_str(),
        "source": spec.source,
        "note": spec.note,
        "warnings": spec.warnings.iter().map(|warning| &warning.text).collect::<Vec<_>>(),
        "keeps_none": null,
    })
}

fn root_record(spec: &StoreSpec, report: &RootReport, env: &Env) -> Value {
    let unreadable = report.unreadable.iter();
    let unreadable = unreadable.map(|(path, why)| json!({ "path": path.to_string_lossy(), "reason": why }));
    let (state, reason) = state(spec, report, env);
    json!({
        "path": report.root.to_string_lossy(),
        "state": state,
        "reason": reason,
        "entries": report.entries,
        "bytes": report.bytes,
        "unreadable": unreadable.collect::<Vec<_>>(),
    })
}

/// Returns whether a root exists, and if not, why; for overspill's own store also why it cannot be used.
fn state(spec: &StoreSpec, report: &RootReport, env: &Env) -> (&'static str, Option<String>) {
    let refused = || OwnStore::open(env).err().map(|why| ("refused", Some(why.to_string())));
    match &report.state {
        RootState::Listed | RootState::Stopped if spec.agent == OWN => refused().unwrap_or(("there", None)),
        RootState::Listed | RootState::Stopped => ("there", None),
        RootState::Absent => ("not there", None),
        RootState::Unset(unset) => ("unset", Some(unset.to_string())),
        RootState::Unreadable(why) => ("unreadable", Some(why.clone())),
    }
}

fn holds(spec: &StoreSpec) -> Vec<&'static str> {
    BTreeSet::from_iter(spec.files.iter().map(|file| file.holds.as_str())).into_iter().collect()
}

#[derive(Default)]
struct StoreRow {
    store: String,
    /// Whether there is anything to tell of it on this system.
    is_there: bool,
    outputs: Option<u64>,
    bytes: Option<u64>,
    /// How the store deletes, what it holds, and how certain that is; `None` if the agent keeps none.
    rule: Option<String>,
    holds: Option<String>,
    confidence: Option<&'static str>,
    directory: String,
}

type Column = ListColumn<StoreRow>;

static COLUMNS: [Column; 7] = [
    Column::new("store", Left, 24, |row, _| RowCell::plain(row.store.as_str())),
    Column::new("outputs", Right, 9, |row, _| RowCell::or_dash(row.outputs.map(thousands))),
    Column::new("size", Right, 8, |row, _| RowCell::or_dash(row.bytes.map(size))),
    Column::new("deleted", Left, 40, |row, _| RowCell::or_dash(row.rule.as_deref())),
    Column::new("holds", Left, 24, |row, _| RowCell::or_dash(row.holds.as_deref())).yields(1),
    Column::new("confidence", Left, 12, |row, _| RowCell::or_dash(row.confidence)).yields(0),
    Column::new("directory", Path, 0, |row, _| RowCell::plain(row.directory.as_str())),
];

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
        outputs: (root.state == RootState::Listed).then_some(root.entries),
        bytes: (root.state == RootState::Listed).then_some(root.bytes),
        rule: Some(spec.retention.as_set(&config.env).describe()),
        holds: Some(holds(spec).join(", ")),
        confidence: Some(spec.confidence().as_str()),
        directory: directory(spec, root, &config.env),
    });
    let without = config.stores.keep_none.iter().map(|(agent, why)| StoreRow {
        store: agent.clone(),
        directory: format!("keeps none: {why}"),
        ..StoreRow::default()
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
