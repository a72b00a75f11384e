//! `overspill sessions`: lists the sessions that agents recorded, or the calls of one.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use anyhow::anyhow;

use crate::base::human::{count, thousands};
use crate::base::{env, lock};
use crate::cli::args::{CallSort, CallsArgs, SessionsArgs};
use crate::cli::{CommandResult, input, print_json_array, say, say_once, table};
use crate::config::Config;
use crate::rows::calls::{self, CallRow};
use crate::rows::lost::ModelShare;
use crate::rows::sessions::{self, SessionRow, SessionTexts};
use crate::session::copies::{SeenCalls, count_copies, families, related_calls};
use crate::session::counterpart::is_never_saved;
use crate::session::examine::CallInspector;
use crate::session::find::directory_to_close;
use crate::session::list::{self, ListedSession, SessionFilter};
use crate::session::model::{Call, CallStatus, CutState};
use crate::session::reader::{SessionError, SessionFile};
use crate::session::spill::SpillState;
use crate::session::tally::{count_calls, got_bytes};
use crate::session::transcript::ReadReport;
use crate::source::share_out;
use crate::text::label::quote;
use crate::text::search::SeverityPatterns;

use super::{SelectedSession, check_agent, describe_unread, earliest};

pub(crate) fn run(config: &Config, args: &SessionsArgs) -> CommandResult {
    if let Some(session) = &args.session {
        return list_calls(config, &input::recorded(config, session)?, &args.calls, args.json);
    }
    check_agent(args.agent.as_deref())?;
    let project = args.project.as_ref().map(|dir| std::path::absolute(dir).unwrap_or_else(|_| dir.clone()));
    let wanted = SessionFilter {
        agent: args.agent.as_deref(),
        since: earliest(args.since),
        project: project.as_deref(),
    };
    let sessions = list_sessions(config, &wanted);
    if !args.json {
        warn_of_open(&sessions);
    }
    let rows = count_calls_of(sessions, config.env.uid());
    if rows.is_empty() && !args.json {
        say(&describe_absence(config, args));
        return Ok(());
    }
    let now = env::now();
    table::list(args.json, sessions::table_columns(), &rows, |row| sessions::json(row, now))
}

pub(super) fn row_of(config: &Config, file: &SessionFile) -> anyhow::Result<SessionRow> {
    let is_it = |one: &SessionFile| (&one.path, &one.id) == (&file.path, &file.id);
    let agent = list::format_of(file).map(|format| format.info.agent);
    let all = list_sessions(config, &SessionFilter { agent, since: None, project: None });
    let families = families(&all.iter().map(|one| (&one.file, &one.facts)).collect::<Vec<_>>());
    let own = all.iter().position(|one| is_it(&one.file));
    let family = families.into_iter().find(|family| own.is_some_and(|own| family.contains(&own)));
    let family = family.unwrap_or_default();
    let related = all.into_iter().enumerate().filter(|(n, _)| family.contains(n)).map(|(_, one)| one);
    let mut rows = count_calls_of(related.collect(), config.env.uid()).into_iter();
    let gone = || anyhow!("{}: this session is gone", file.path.display());
    rows.find(|row| is_it(&row.file)).ok_or_else(gone)
}

pub(super) fn list_sessions(config: &Config, wanted: &SessionFilter) -> Vec<ListedSession> {
    list::read_all(&config.env, wanted, &mut |fault| say(&fault))
}

/// Says why no session is listed: there is none at all, or none of those is as asked for.
fn describe_absence(config: &Config, args: &SessionsArgs) -> String {
    let all = list::list(&config.env, None, &()).sessions.len() as u64;
    if all == 0 {
        return format!("no sessions found; overspill reads those of {}", list::agents().join(", "));
    }
    let absent = args.project.as_ref().filter(|dir| !dir.exists());
    let absent = absent.map_or(String::new(), |dir| format!("; there is no directory {}", dir.display()));
    format!("no sessions of that kind ({} in all){absent}", thousands(all))
}

fn warn_of_open(sessions: &[ListedSession]) {
    let open = || sessions.iter().filter(|session| session.is_open_to_others);
    let Some(first) = open().next() else { return };
    let count = count(open().count() as u64, "session");
    let dirs: BTreeSet<PathBuf> =
        open().filter_map(|session| directory_to_close(&session.file.path)).collect();
    // Closing a directory closes those below it.
    let is_below = |dir: &PathBuf| dir.ancestors().skip(1).any(|above| dirs.contains(above));
    let words = dirs.iter().filter(|dir| !is_below(dir)).map(|dir| quote::word(dir.as_os_str().as_bytes()));
    let remedy = match words.collect::<Vec<_>>().join(" ") {
        words if words.is_empty() => words,
        words => format!("; `chmod 700 {words}` keeps them out"),
    };
    say(&format!("other users can read {count}, such as {}{remedy}", first.file.path.display()));
}

/// Counts the calls of sessions, several at once. A call that was copied counts in the oldest session with it.
fn count_calls_of(sessions: Vec<ListedSession>, uid: u32) -> Vec<SessionRow> {
    let families = families(&sessions.iter().map(|one| (&one.file, &one.facts)).collect::<Vec<_>>());
    let sessions: Vec<_> = sessions.into_iter().map(Mutex::new).collect();
    let counts = Mutex::new(BTreeMap::new());
    let count = |(): &mut (), family: usize| {
        let mut seen = SeenCalls::default();
        for n in &families[family] {
            let counted = count_calls(&mut lock(&sessions[*n]), uid, &mut seen, &());
            lock(&counts).insert(*n, counted);
        }
        ControlFlow::Continue(())
    };
    share_out(families.len(), || (), count);
    let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
    // A database may fail for each of its sessions.
    let mut said = HashSet::new();
    let row = |(session, counted): (Mutex<ListedSession>, Result<(_, ReadReport), SessionError>)| {
        let session = session.into_inner().unwrap_or_else(PoisonError::into_inner);
        match &counted {
            Ok((_, unread)) if unread.is_format_unknown() || unread.is_short() => {
                say_once(&describe_unread(&session.file, unread), &mut said);
            }
            Ok(_) => {}
            Err(error) => say_once(&error.to_string(), &mut said),
        }
        let ListedSession { file, facts, is_open_to_others } = session;
        let mut row = SessionRow::new(SessionFile { facts, ..file });
        row.words = Some(SessionTexts::new(&row.file.facts, is_open_to_others));
        row.sums.set(counted.ok().and_then(|(sums, _)| sums));
        row
    };
    sessions.into_iter().zip(counts.into_values()).map(row).collect()
}

pub(crate) fn list_calls(
    config: &Config,
    found: &SelectedSession,
    args: &CallsArgs,
    is_json: bool,
) -> CommandResult {
    let transcript = found.opened.transcript();
    let inspector = found.inspector();
    let mut calls: Vec<&Call> =
        found.call().map_or_else(|| transcript.calls.iter().collect(), |call| vec![call]);
    calls.retain(|call| is_wanted(args, call, inspector));
    sort(&mut calls, args.sort, inspector);
    let related = related_calls(&config.env, &found.file, &());
    if is_json {
        return print_json_array(calls.iter().map(|call| calls::json(inspector, call, &related)));
    }
    if calls.is_empty() && !transcript.unread.is_format_unknown() {
        say(if transcript.calls.is_empty() { "no calls" } else { "no calls of that kind" });
        return Ok(());
    }
    let severities = config.severities();
    let row = |call: &&Call| call_row(call, inspector, &related, &severities);
    table::show(calls::table_columns(), &calls.iter().map(row).collect::<Vec<_>>())
}

/// Any one of the requested kinds suffices.
fn is_wanted(args: &CallsArgs, call: &Call, inspector: CallInspector) -> bool {
    let all = !(args.cut || args.never_saved || args.deleted || args.failed);
    let is_deleted =
        || call.cut == CutState::Spill && matches!(inspector.spill(call), None | Some(SpillState::Deleted));
    all || args.cut && call.is_cut()
        || args.never_saved && is_never_saved(inspector.transcript, call)
        || args.failed && call.status == CallStatus::Failed
        || args.deleted && is_deleted()
}

fn sort(calls: &mut [&Call], by: CallSort, inspector: CallInspector) {
    let got = |call: &Call| got_bytes(inspector.transcript, call);
    match by {
        CallSort::Time => calls.sort_by_key(|call| call.at),
        CallSort::Got => calls.sort_by_cached_key(|call| Reverse(got(call))),
        CallSort::Lost => calls.sort_by_cached_key(|call| {
            // Of what was cut, what is not known may be the most.
            let lost = inspector.whole_bytes(call).map(|whole| Reverse(whole.saturating_sub(got(call))));
            (!call.is_cut(), call.cut == CutState::No, lost)
        }),
    }
}

pub(super) fn call_row(
    call: &Call,
    inspector: CallInspector,
    related: &[SeenCalls],
    of: &SeverityPatterns,
) -> CallRow {
    let mut row = CallRow::find(&inspector, call, &mut |_| {});
    row.share.set(row.is_cut().then(|| ModelShare::from_call(&inspector, call, of)).flatten());
    row.copies = count_copies(related, call);
    row
}
