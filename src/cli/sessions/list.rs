//! `overspill sessions`: lists the sessions that agents recorded, or the calls of one.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::anyhow;
use serde_json::{Value, json};

use crate::base::human::{count, span, thousands, utc};
use crate::cli::args::SessionsArgs;
use crate::cli::{CommandResult, named, say, table};
use crate::config::Config;
use crate::rows::sessions::{SessionRow, SessionTexts, table_columns};
use crate::session::copies::{SeenCalls, families};
use crate::session::find::directory_to_close;
use crate::session::list::{self, ListStep, ListedSession, SessionFilter};
use crate::session::reader::{SessionError, SessionFile};
use crate::session::tally::{CallSums, CountedSession, count_calls};
use crate::session::text::mask;
use crate::source::share_out;
use crate::text::label::shell;

use super::calls;
use super::select::{describe_unread, earliest, known};

/// Lists sessions, the last changed first, or the calls of the one that is named.
pub(crate) fn run(config: &Config, args: &SessionsArgs) -> CommandResult {
    if let Some(session) = &args.session {
        return calls::list(config, &named::recorded(config, session)?, &args.calls, args.json);
    }
    let sessions = find_sessions(config, args)?;
    if !args.json {
        warn_of_open(&sessions);
    }
    let rows = count_calls_of(sessions, config.env.uid());
    if rows.is_empty() && !args.json {
        say(&describe_absence(config, args));
        return Ok(());
    }
    table::list(args.json, table_columns(), &rows, record)
}

/// Returns the row that the list has of a session.
///
/// # Errors
/// It is gone.
pub(super) fn row_of(config: &Config, file: &SessionFile) -> anyhow::Result<SessionRow> {
    let is_it = |one: &SessionFile| (&one.path, &one.id) == (&file.path, &file.id);
    let agent = list::format_of(file).map(|format| format.agent());
    let all = list_sessions(config, &SessionFilter { agent, since: None, project: None });
    let families = families(&all.iter().map(|one| (&one.file, &one.facts)).collect::<Vec<_>>());
    let family = families
        .into_iter()
        .find(|family| family.iter().any(|n| all.get(*n).is_some_and(|one| is_it(&one.file))));
    let family = family.unwrap_or_default();
    let related = all.into_iter().enumerate().filter(|(n, _)| family.contains(n)).map(|(_, one)| one);
    let mut rows = count_calls_of(related.collect(), config.env.uid()).into_iter();
    let gone = || anyhow!("{}: this session is gone", file.path.display());
    rows.find(|row| is_it(&row.file)).ok_or_else(gone)
}

fn find_sessions(config: &Config, args: &SessionsArgs) -> anyhow::Result<Vec<ListedSession>> {
    known(args.agent.as_deref())?;
    let project = args.project.as_ref().map(|dir| std::path::absolute(dir).unwrap_or_else(|_| dir.clone()));
    let wanted = SessionFilter {
        agent: args.agent.as_deref(),
        since: earliest(args.since),
        project: project.as_deref(),
    };
    Ok(list_sessions(config, &wanted))
}

fn list_sessions(config: &Config, wanted: &SessionFilter) -> Vec<ListedSession> {
    let mut found = Vec::new();
    let _ = list::each(&config.env, wanted, &mut |step| {
        match step {
            ListStep::Found(_) => {}
            ListStep::Sessions(sessions) => found.extend(sessions),
            ListStep::Fault(fault) => say(&fault),
        }
        ControlFlow::Continue(())
    });
    found
}

/// Says why no session is listed: there is none at all, or none of those is as asked for.
fn describe_absence(config: &Config, args: &SessionsArgs) -> String {
    let all = list::list(&config.env, None, &()).sessions.len() as u64;
    if all == 0 {
        return format!("no sessions found; overspill reads those of {}", list::agents().join(", "));
    }
    let project = args.project.as_ref().map(|dir| format!(" in {}", dir.display()));
    let since = args.since.map(|age| span(age.as_secs().try_into().unwrap_or(0)));
    let asked = [
        args.agent.as_ref().map(|agent| format!(" of {agent}")),
        project,
        since.map(|age| format!(" changed in the last {age}")),
    ];
    let absent = args.project.as_ref().filter(|dir| !dir.exists());
    let absent = absent.map_or("", |_| "; there is no such directory");
    format!(
        "no session{} ({} in all){absent}",
        asked.into_iter().flatten().collect::<String>(),
        thousands(all)
    )
}

/// Says which sessions other users of the machine can read.
fn warn_of_open(sessions: &[ListedSession]) {
    let open = || sessions.iter().filter(|session| session.is_open_to_others);
    let Some(first) = open().next() else { return };
    let count = count(open().count() as u64, "session");
    let dirs: BTreeSet<PathBuf> =
        open().filter_map(|session| directory_to_close(&session.file.path)).collect();
    // One below another that is closed is closed, too.
    let is_below = |dir: &PathBuf| dir.ancestors().skip(1).any(|above| dirs.contains(above));
    let words = dirs.iter().filter(|dir| !is_below(dir)).map(|dir| shell::word(dir.as_os_str().as_bytes()));
    let remedy = match words.collect::<Vec<_>>().join(" ") {
        words if words.is_empty() => words,
        words => format!("; `chmod 700 {words}` keeps them out"),
    };
    say(&format!("other users can read {count}, such as {}{remedy}", first.file.path.display()));
}

/// Counts the calls of sessions, several at once. A call that was copied counts in the oldest session with it.
fn count_calls_of(sessions: Vec<ListedSession>, uid: u32) -> Vec<SessionRow> {
    let families =
        families(&sessions.iter().map(|session| (&session.file, &session.facts)).collect::<Vec<_>>());
    let counts = Mutex::new(Vec::new());
    let count = |(): &mut (), family: usize| {
        let mut seen = SeenCalls::default();
        for n in &families[family] {
            let counted = count_calls(&sessions[*n].file, uid, &mut seen, &());
            counts.lock().unwrap_or_else(PoisonError::into_inner).push((*n, counted));
        }
        ControlFlow::Continue(())
    };
    share_out(families.len(), || (), count);
    let mut counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
    counts.sort_by_key(|(n, _)| *n);
    let counts = counts.into_iter().map(|(_, counted)| counted);
    // A database may fail for each of its sessions.
    let mut told = BTreeSet::new();
    let mut tell = |words: String| {
        if told.insert(words.clone()) {
            say(&words);
        }
    };
    sessions.into_iter().zip(counts).map(|(session, counted)| row(session, counted, &mut tell)).collect()
}

fn row(
    session: ListedSession,
    counted: Result<CountedSession, SessionError>,
    tell: &mut dyn FnMut(String),
) -> SessionRow {
    match &counted {
        Ok(CountedSession { unread, .. }) if unread.is_format_unknown() || unread.is_short() => {
            tell(describe_unread(&session.file, unread));
        }
        Ok(_) => {}
        Err(error) => tell(error.to_string()),
    }
    let understood = counted.ok().filter(|counted| !counted.unread.is_format_unknown());
    let ListedSession { file, facts, is_open_to_others, .. } = session;
    let mut row = SessionRow::new(SessionFile { facts, ..file });
    row.words = Some(SessionTexts::new(&row.file.facts, is_open_to_others));
    row.sums.found(understood.map(|counted| counted.sums));
    row
}

/// Returns the fields of `--json`. Times are RFC 3339, UTC; sizes are bytes.
pub(super) fn record(row: &SessionRow) -> Value {
    let (file, facts) = (&row.file, &row.file.facts);
    let sum = |of: fn(&CallSums) -> u64| row.sums.value.as_ref().map(of);
    json!({
        "id": file.id,
        "agent": row.agent,
        "agent_version": facts.version,
        "project": facts.cwd,
        "title": facts.title.as_deref().map(mask),
        "started": facts.started.map(utc),
        "ended": facts.ended.map(utc),
        "live": row.is_live(crate::base::env::now()),
        "open_to_others": row.words.as_ref().is_some_and(|words| words.is_open_to_others),
        "path": file.path.to_string_lossy(),
        "size": file.size,
        "calls": sum(|sums| sums.calls),
        "cut": sum(|sums| sums.cut),
        "lost": sum(|sums| sums.lost),
        "gone": sum(|sums| sums.gone),
        "got_bytes": sum(|sums| sums.got_bytes),
        "tokens_estimate": sum(|sums| sums.got_bytes.div_ceil(4)),
    })
}
