//! `overspill list`: stored outputs without the screen.

use std::io::{self, IsTerminal, Write};

use jiff::Timestamp;
use serde::Serialize;

use crate::config::Config;
use crate::store::{self, Entry, Left};
use crate::text::safe::{fit, label};
use crate::words::{size, span};

use super::Outcome;
use super::args::ListArgs;

/// One entry as `--json` gives it.
#[derive(Serialize)]
struct Record {
    id: String,
    path: String,
    agent: String,
    tool: Option<String>,
    session: Option<String>,
    size: u64,
    modified: String,
    expires: Option<String>,
    rule: &'static str,
    holds: &'static str,
    status: String,
    mode: String,
}

impl Record {
    fn of(entry: &Entry) -> Self {
        Self {
            id: entry.id.clone(),
            path: entry.path().to_string_lossy().into_owned(),
            agent: entry.agent.to_string(),
            tool: entry.tool.as_deref().map(str::to_owned),
            session: entry.session.as_deref().or(entry.project.as_deref()).map(str::to_owned),
            size: entry.size(),
            modified: entry.modified.to_string(),
            expires: entry.expires.at().map(|time| time.to_string()),
            rule: entry.rule.as_str(),
            holds: entry.holds().as_str(),
            status: entry.status.as_str().to_owned(),
            mode: format!("{:04o}", entry.mode),
        }
    }
}

/// Lists the entries of all stores, the youngest first.
pub fn run(config: &Config, args: &ListArgs) -> Outcome {
    let now = Timestamp::now();
    let mut entries = store::list(&config.stores.specs, &config.env, now).entries;
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.modified));
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.json {
        let records: Vec<Record> = entries.iter().map(Record::of).collect();
        serde_json::to_writer(&mut out, &records).map_err(io::Error::from)?;
        out.write_all(b"\n")?;
    } else if entries.is_empty() {
        eprintln!("overspill: no stored outputs; `overspill` shows which directories were looked at");
    } else {
        table(&mut out, &entries, now)?;
    }
    Ok(out.flush()?)
}

/// Aligned columns; a heading only for a person.
fn table(out: &mut impl Write, entries: &[Entry], now: Timestamp) -> io::Result<()> {
    let widest = entries.iter().map(|entry| entry.agent.len()).max().unwrap_or(0).max(5);
    if io::stdout().is_terminal() {
        writeln!(out, "{:<widest$}  {:>9}  {:>7}  {:<14}  id", "agent", "size", "age", "time left")?;
    }
    for entry in entries {
        let age = span(entry.age(now).as_secs().max(0) as u64);
        let (agent, id) = (label(entry.agent.as_bytes()), label(entry.id.as_bytes()));
        let (size, left) = (size(entry.size()), fit(&left(entry, now), 14));
        writeln!(out, "{agent:<widest$}  {size:>9}  {age:>7}  {left:<14}  {id}")?;
    }
    Ok(())
}

fn left(entry: &Entry, now: Timestamp) -> String {
    match entry.left(now) {
        Left::For(rest) => span(rest.as_secs().max(0) as u64),
        Left::Overdue(late) => format!("overdue {}", span(late.as_secs().max(0) as u64)),
        Left::Open => entry.rule.as_str().to_owned(),
    }
}
