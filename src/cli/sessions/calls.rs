//! `overspill calls`: lists the tool calls of a session, with what the model got for each.

use std::cmp::Reverse;
use std::io::{self, Write};

use jiff::tz::TimeZone;

use crate::cli::args::{CallSort, CallsArgs};
use crate::cli::table::{Align, Table, safe};
use crate::cli::{CommandResult, json, say};
use crate::config::Config;
use crate::human::size;
use crate::session::command::{command, one_line};
use crate::session::copies::RelatedSessions;
use crate::session::examine::{CallInspector, Paths};
use crate::session::fate::ContextState;
use crate::session::model::{Call, CallStatus, CutState};
use crate::session::spill::SpillState;
use crate::session::state::{copies_in_words, state_in_words};

use super::row::{CallJson, Secrets, examiner};
use super::select;

/// Lists the calls of a session, the first first.
pub(crate) fn run(config: &Config, args: &CallsArgs) -> CommandResult {
    let found = select::session(config, &args.session)?;
    let transcript = found.opened.transcript();
    let examiner = examiner(config, transcript.agent, Paths::Known);
    let inspector = CallInspector { examiner: &examiner, file: &found.file, transcript };
    let mut calls: Vec<&Call> = match found.call {
        Some(at) => transcript.calls.get(at).into_iter().collect(),
        None => transcript.calls.iter().collect(),
    };
    let any = !calls.is_empty();
    calls.retain(|call| is_wanted(args, call, inspector));
    sort(&mut calls, args.sort, inspector);
    let mut out = io::BufWriter::new(crate::cli::safe::stdout());
    if args.json {
        let records: Vec<_> =
            calls.iter().map(|call| CallJson::new(inspector, call, Secrets::Mask)).collect();
        json(&mut out, &records)?;
    } else if calls.is_empty() && !transcript.unread.is_format_unknown() {
        say(if any { "no calls of that kind" } else { "no calls" });
    } else {
        let related = RelatedSessions::find(&config.env, &found.file, &());
        table(&calls, inspector, &related).print(&mut out)?;
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

fn table(calls: &[&Call], inspector: CallInspector, related: &RelatedSessions) -> Table<9> {
    use Align::{Left, Right};
    let heads = [
        ("time", Left),
        ("thread", Left),
        ("tool", Left),
        ("got", Right),
        ("of", Right),
        ("", Left),
        ("state", Left),
        ("id", Left),
        ("command", Left),
    ];
    let mut table = Table::new(heads).yielding(&[8, 6]).omitting(&[1, 0, 4, 5, 8, 2]);
    let transcript = inspector.transcript;
    for call in calls {
        let thread = transcript.thread(call).map_or("", |thread| &thread.name);
        let is_cut = call.is_cut();
        table.row([
            call.at
                .map_or("–".into(), |at| at.to_zoned(TimeZone::system()).strftime("%H:%M:%S").to_string()),
            safe(thread.as_bytes()),
            safe(transcript.tool(call).as_bytes()),
            inspector.got(call).map_or("–".into(), size),
            inspector.whole_bytes(call).filter(|_| is_cut).map_or(String::new(), size),
            if call.is_partial() { inspector.verify(call).mark().to_owned() } else { String::new() },
            state(call, inspector, related),
            safe(call.id.as_bytes()),
            safe(one_line(&command(transcript, call)).as_bytes()),
        ]);
    }
    table
}

/// Returns the words that matter most about a call.
fn state(call: &Call, inspector: CallInspector, related: &RelatedSessions) -> String {
    let context = inspector.best(call).first().map_or(ContextState::default(), |first| first.context);
    let spill = inspector.spill(call);
    let spill = spill.as_ref().map(SpillState::as_str);
    let words = state_in_words(call.cut, spill, call.status, context);
    words.chain(copies_in_words(related.with(call))).collect::<Vec<_>>().join(", ")
}
