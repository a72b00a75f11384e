//! `overspill sessions SESSION`: lists the tool calls of a session, with what the model got for each.

use std::cmp::Reverse;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::base::human::utc;
use crate::cli::args::{CallSort, CallsArgs};
use crate::cli::{CommandResult, print_json_array, say, table};
use crate::config::Config;
use crate::rows::calls::{CallRow, table_columns};
use crate::rows::lost::LostInCall;
use crate::session::command::command;
use crate::session::copies::RelatedSessions;
use crate::session::examine::{CallInspector, Paths};
use crate::session::model::{Call, CallStatus, CutState, Evidence};
use crate::session::spill::SpillState;
use crate::session::text::mask;
use crate::session::transcript::Transcript;
use crate::session::verdict::{Against, Verdict};
use crate::text::search::SeverityPatterns;

use super::select::{SelectedSession, examiner};

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
    if is_json {
        return print_json_array(calls.iter().map(|call| record(inspector, call)));
    }
    if calls.is_empty() && !transcript.unread.is_format_unknown() {
        say(if any { "no calls of that kind" } else { "no calls" });
        return Ok(());
    }
    let related = RelatedSessions::find(&config.env, &found.file, &());
    let severities = config.severities();
    let row = |call: &&Call| row(call, inspector, &related, &severities);
    table::show(table_columns(), &calls.iter().map(row).collect::<Vec<_>>())
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
    let got = |call: &Call| inspector.result_len(call).unwrap_or(0);
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
    let mut row = CallRow::find(&inspector, call, &mut |_| {});
    row.lost.found(row.is_cut().then(|| LostInCall::count(&inspector, call, of)).flatten());
    row.copies = related.with(call);
    row
}

/// Returns the one line that says what a call did; what looks like a secret is masked.
pub(crate) fn command_of(transcript: &Transcript, call: &Call) -> String {
    mask(&command(transcript, call)).into_owned()
}

/// Returns the fields of `--json`: those of the row, and texts as they are recorded. Times are RFC 3339, UTC, to the second;
/// sizes are bytes of UTF-8.
pub(crate) fn record(of: CallInspector, call: &Call) -> Value {
    let CallInspector { file, transcript, .. } = of;
    let mut hash = Sha256::new();
    let row = CallRow::find(&of, call, &mut |piece| hash.update(piece));
    let sizes = row.sizes.unwrap_or_default();
    let thread = transcript.thread(call);
    json!({
        "id": &*call.id,
        "session": file.id,
        "agent": transcript.agent,
        "agent_version": transcript.facts.version,
        "thread": thread.map_or("", |thread| &thread.name),
        "tool": transcript.tool(call),
        "command": mask(&sizes.written),
        "at": row.at.map(utc),
        "status": row.status.as_str(),
        "exit": call.exit,
        "evidence": sizes.evidence.map(Evidence::as_str),
        "got_bytes": sizes.got,
        "got_sha256": sizes.got.map(|_| format!("{:x}", hash.finalize())),
        "tokens_estimate": call.tokens.or_else(|| sizes.got.map(|bytes| bytes.div_ceil(4))),
        "cut": row.cut.as_str(),
        "cut_by": row.verdict.as_ref().and_then(Verdict::cut_by),
        "spill": call.cites.first().map(|cite| cite.path.to_string_lossy()),
        "spill_state": sizes.spill,
        "fate": sizes.context.map(|context| context.fate.as_str()),
        "fate_evidence": sizes.context.map(|context| context.evidence.as_str()),
        "verify": row.verdict.as_ref().map(Verdict::as_str),
        "verify_against": row.verdict.as_ref().and_then(Verdict::against).map(Against::as_str),
    })
}
