//! `overspill sessions`: lists the sessions that agents recorded.

use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use serde::Serialize;

use crate::cli::args::SessionsArgs;
use crate::cli::table::{Align, Table, safe, safe_or_dash};
use crate::cli::{CommandResult, json, say};
use crate::config::Config;
use crate::human::{size, span, thousands, tokens};
use crate::session::list;
use crate::session::model::SessionFacts;
use crate::session::reader::SessionFile;
use crate::session::tally::{CallSums, tally};

use super::select::{changed, listed};

/// A session that was changed within this time counts as live.
const LIVE: Duration = Duration::from_secs(60);

/// One session as in `--json`. Times are RFC 3339, UTC; sizes are bytes.
#[derive(Debug, Serialize)]
struct SessionJson {
    id: String,
    agent: &'static str,
    version: Option<String>,
    project: Option<String>,
    title: Option<String>,
    started: Option<String>,
    ended: Option<String>,
    live: bool,
    path: String,
    size: u64,
    calls: Option<u64>,
    cut: Option<u64>,
    lost: Option<u64>,
    gone: Option<u64>,
    got_bytes: Option<u64>,
    tokens_estimate: Option<u64>,
}

/// A session, what a list shows of it, and the sums over its calls.
struct SessionRow {
    file: SessionFile,
    agent: &'static str,
    facts: SessionFacts,
    sums: Option<CallSums>,
}

/// Lists sessions, the last changed first.
pub(crate) fn run(config: &Config, args: &SessionsArgs) -> CommandResult {
    let sessions = listed(config, args.agent.as_deref(), args.since)?;
    let project =
        args.project.as_deref().map(|dir| std::path::absolute(dir).unwrap_or_else(|_| dir.to_owned()));
    let mut rows = Vec::new();
    for file in sessions {
        let Ok(facts) = list::facts(&file) else {
            say(&format!("{}: cannot be read", file.path.display()));
            continue;
        };
        if project.as_deref().is_none_or(|dir| is_in(&facts, dir)) {
            rows.push(row(config, file, facts));
        }
    }
    let mut out = io::BufWriter::new(crate::fs::patient::stdout());
    if args.json {
        json(&mut out, &rows.iter().map(record).collect::<Vec<_>>())?;
    } else if rows.is_empty() {
        let agents = list::agents().join(", ");
        say(&format!("no sessions found; overspill reads those of {agents}"));
    } else {
        table(&rows).print(&mut out)?;
    }
    Ok(out.flush()?)
}

fn is_in(facts: &SessionFacts, dir: &Path) -> bool {
    facts.cwd.as_deref().is_some_and(|cwd| Path::new(cwd).starts_with(dir))
}

fn row(config: &Config, file: SessionFile, facts: SessionFacts) -> SessionRow {
    let agent = list::format_of(&file).map_or("", |format| format.agent());
    let opened = list::open(&file, &());
    let sums = opened.as_ref().ok().map(|opened| tally(opened.transcript(), &file.path, config.env.uid()));
    if let Err(error) = opened {
        say(&error.to_string());
    }
    SessionRow { file, agent, facts, sums }
}

fn is_live(file: &SessionFile) -> bool {
    let age = file.modified.and_then(|time| SystemTime::now().duration_since(time).ok());
    age.is_some_and(|age| age < LIVE)
}

fn record(row: &SessionRow) -> SessionJson {
    let sum = |of: fn(&CallSums) -> u64| row.sums.as_ref().map(of);
    SessionJson {
        id: row.file.id.clone(),
        agent: row.agent,
        version: row.facts.version.clone(),
        project: row.facts.cwd.clone(),
        title: row.facts.title.as_deref().map(|title| crate::session::mask::mask(title).into_owned()),
        started: row.facts.started.map(|at| at.to_string()),
        ended: row.facts.ended.map(|at| at.to_string()),
        live: is_live(&row.file),
        path: row.file.path.to_string_lossy().into_owned(),
        size: row.file.size,
        calls: sum(|sums| sums.calls),
        cut: sum(|sums| sums.cut),
        lost: sum(|sums| sums.lost),
        gone: sum(|sums| sums.gone),
        got_bytes: sum(|sums| sums.got_bytes),
        tokens_estimate: sum(|sums| sums.got_bytes.div_ceil(4)),
    }
}

fn table(rows: &[SessionRow]) -> Table<11> {
    use Align::{Left, Right};
    let heads = [
        ("age", Right),
        ("agent", Left),
        ("project", Left),
        ("calls", Right),
        ("cut", Right),
        ("lost", Right),
        ("gone", Right),
        ("got", Right),
        ("tokens", Right),
        ("session", Left),
        ("title", Left),
    ];
    let mut table = Table::new(heads).yielding(&[10, 2, 9]);
    let now = Timestamp::now();
    for row in rows {
        let version = row.facts.version.as_deref().unwrap_or_default();
        let agent = format!("{} {version}", row.agent);
        let sum = |of: fn(&CallSums) -> u64| row.sums.as_ref().map_or("?".into(), |sums| thousands(of(sums)));
        table.row([
            if is_live(&row.file) { "live".to_owned() } else { age(&row.file, now) },
            safe(agent.trim_end().as_bytes()),
            safe_or_dash(row.facts.cwd.as_deref()),
            sum(|sums| sums.calls),
            sum(|sums| sums.cut),
            sum(|sums| sums.lost),
            sum(|sums| sums.gone),
            row.sums.map_or("?".into(), |sums| size(sums.got_bytes)),
            row.sums
                .map_or("?".into(), |sums| format!("~{}", tokens(sums.got_bytes).trim_start_matches('~'))),
            safe(row.file.id.as_bytes()),
            safe(one_line(row.facts.title.as_deref().unwrap_or_default()).as_bytes()),
        ]);
    }
    table
}

fn age(file: &SessionFile, now: Timestamp) -> String {
    let seconds = changed(file).map(|changed| now.duration_since(changed).as_secs());
    seconds.map_or("?".to_owned(), |seconds| span(seconds.try_into().unwrap_or(0)))
}

fn one_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
