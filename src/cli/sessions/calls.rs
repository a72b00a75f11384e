//! `overspill sessions SESSION`: lists the tool calls of a session, with what the model got for each.

use std::cmp::Reverse;
use std::io::{self, Write};

use crate::cli::args::{CallSort, CallsArgs};
use crate::cli::{CommandResult, json_array, say, table};
use crate::config::Config;
use crate::rows::calls::{CallRow, CallSizes, table_columns};
use crate::rows::lost::LostInCall;
use crate::session::copies::RelatedSessions;
use crate::session::examine::{CallInspector, Paths};
use crate::session::model::{Call, CallStatus, CutState};
use crate::session::spill::SpillState;
use crate::text::search::SeverityPatterns;

use super::row::{examiner, record};
use super::select::SelectedSession;

/// Lists the calls of a session, or the one that is named with it.
pub(crate) fn list(
    config: &Config,
    found: &SelectedSession,
    args: &CallsArgs,
    is_json: bool,
) -> CommandResult {
    let transcript = found.opened.transcript();
    let examiner = examiner(config, transcript.agent, Paths::Known);
    let inspector = found.inspector(&examiner);
    let mut calls: Vec<&Call> = match found.call() {
        Some(call) => vec![call],
        None => transcript.calls.iter().collect(),
    };
    let any = !calls.is_empty();
    calls.retain(|call| is_wanted(args, call, inspector));
    sort(&mut calls, args.sort, inspector);
    let mut out = io::BufWriter::new(crate::cli::safe::stdout());
    if is_json {
        json_array(&mut out, calls.iter().map(|call| record(inspector, call)))?;
    } else if calls.is_empty() && !transcript.unread.is_format_unknown() {
        say(if any { "no calls of that kind" } else { "no calls" });
    } else {
        let related = RelatedSessions::find(&config.env, &found.file, &());
        let severities = config.severities();
        let row = |call: &&Call| row(call, inspector, &related, &severities);
        table::print(&mut out, table_columns(), &calls.iter().map(row).collect::<Vec<_>>())?;
    }
    Ok(out.flush()?)
}

/// Of several kinds that are asked for, one suffices.
fn is_wanted(args: &CallsArgs, call: &Call, inspector: CallInspector) -> bool {
    let all = !(args.cut || args.lost || args.gone || args.failed);
    let is_gone =
        || call.cut == CutState::Spill && inspector.spill(call).is_none_or(|state| state == SpillState::Gone);
    all || args.cut && call.is_cut()
        || args.lost && call.cut == CutState::Lost
        || args.failed && call.status == CallStatus::Failed
        || args.gone && is_gone()
}

fn sort(calls: &mut [&Call], by: CallSort, inspector: CallInspector) {
    let got = |call: &Call| inspector.got(call).unwrap_or(0);
    let lost = |call: &Call| inspector.whole_bytes(call).unwrap_or(0).saturating_sub(got(call));
    match by {
        CallSort::Time => calls.sort_by_key(|call| call.at),
        CallSort::Got => calls.sort_by_cached_key(|call| Reverse(got(call))),
        CallSort::Lost => calls.sort_by_cached_key(|call| Reverse(lost(call))),
    }
}

pub(super) fn row(
    call: &Call,
    inspector: CallInspector,
    related: &RelatedSessions,
    of: &SeverityPatterns,
) -> CallRow {
    let mut row = CallRow::new(inspector.transcript, call);
    row.sizes = Some(CallSizes::find(&inspector, call));
    row.verdict = row.is_partial().then(|| inspector.verify(call));
    row.lost.found(row.is_cut().then(|| LostInCall::count(&inspector, call, of)).flatten());
    row.copies = related.with(call);
    row
}
