//! `overspill verify`: is what the policies make of the spills what the agents recorded?

use std::collections::HashMap;

use anyhow::bail;
use serde::Serialize;

use crate::base::human::{count, thousands};
use crate::cli::args::VerifyArgs;
use crate::cli::{CommandResult, input, say, table};
use crate::config::Config;
use crate::rows::column::CellSide::Left;
use crate::rows::column::{ID, ListColumn, POLICY, RowCell};
use crate::session::copies::SeenCalls;
use crate::session::examine::{CallInspector, Paths};
use crate::session::list;
use crate::session::model::Call;
use crate::session::verdict::{Against, Unchecked, Verdict};

use super::list::command_of;
use super::{describe_unread, examiner, list_all};

#[derive(Debug, Serialize)]
struct VerdictJson {
    #[serde(skip)]
    found: Verdict,
    session: String,
    call: String,
    agent: &'static str,
    agent_version: Option<String>,
    tool: String,
    command: String,
    verdict: &'static str,
    against: Option<&'static str>,
    policy: Option<String>,
    differs_at: Option<u64>,
    part: Option<&'static str>,
    fits: Option<String>,
    reason: Option<String>,
}

pub(crate) fn run(config: &Config, args: &VerifyArgs) -> CommandResult {
    let paths = if args.any_path { Paths::Any } else { Paths::Known };
    let mut found = Vec::new();
    match &args.what {
        Some(what) => {
            let selected = input::recorded(config, what)?;
            let transcript = selected.opened.transcript();
            let examiner = examiner(config, transcript.agent, paths);
            let inspector = selected.inspector(&examiner);
            let all = || transcript.calls.iter().filter(|call| call.is_partial()).collect();
            let calls: Vec<&Call> = selected.call().map_or_else(all, |call| vec![call]);
            check(inspector, calls.into_iter(), &mut found);
        }
        None => {
            let mut seen: HashMap<Option<String>, SeenCalls> = HashMap::new();
            for file in list_all(config, None, args.since)? {
                match list::open(&file, &()) {
                    Ok(opened) => {
                        let transcript = opened.transcript();
                        if transcript.unread.is_short() {
                            say(&describe_unread(&file, &transcript.unread));
                        }
                        let seen = seen.entry(transcript.facts.origin.clone()).or_default();
                        let examiner = examiner(config, transcript.agent, paths);
                        let inspector = CallInspector { examiner: &examiner, file: &file, transcript };
                        let calls =
                            transcript.calls.iter().filter(|call| call.is_partial() && !seen.has(call));
                        check(inspector, calls, &mut found);
                        // Sessions without an origin have no copies.
                        if transcript.facts.origin.is_some() {
                            seen.add(transcript);
                        }
                    }
                    Err(error) => say(&error.to_string()),
                }
            }
        }
    }
    report(&found, args.json)
}

fn check<'a>(inspector: CallInspector, calls: impl Iterator<Item = &'a Call>, found: &mut Vec<VerdictJson>) {
    found.extend(calls.map(|call| record(inspector, call, inspector.verify(call))));
}

fn record(inspector: CallInspector, call: &Call, verdict: Verdict) -> VerdictJson {
    let CallInspector { file, transcript, .. } = inspector;
    let difference =
        if let Verdict::Differs(difference) = &verdict { Some(difference.clone()) } else { None };
    VerdictJson {
        session: file.id.clone(),
        call: call.id.to_string(),
        agent: transcript.agent,
        agent_version: transcript.facts.version.clone(),
        tool: transcript.tool(call).to_owned(),
        command: command_of(transcript, call),
        verdict: verdict.as_str(),
        against: verdict.against().map(Against::as_str),
        policy: verdict.policy().map(str::to_owned),
        differs_at: difference.as_ref().map(|difference| difference.at),
        part: difference.as_ref().map(|difference| difference.part),
        fits: difference.and_then(|difference| difference.fits),
        reason: if let Verdict::Unchecked(why) = &verdict { Some(why.to_string()) } else { None },
        found: verdict,
    }
}

fn report(found: &[VerdictJson], as_json: bool) -> CommandResult {
    let of = |verdict: &str| found.iter().filter(|found| found.verdict == verdict).count() as u64;
    let (equal, differ, unchecked) = (of("equal"), of("differs"), of("unchecked"));
    table::list(as_json, &COLUMNS, found, |found| found)?;
    let witnessed = found.iter().filter(|found| is_by_witness(&found.found)).count() as u64;
    let by_witness =
        if witnessed > 0 { format!(" ({} by a witness)", thousands(witnessed)) } else { String::new() };
    let words = format!(
        "{} equal{by_witness}, {} different, {} not checked",
        thousands(equal),
        thousands(differ),
        thousands(unchecked)
    );
    if differ > 0 || found.iter().any(|found| found.found == Verdict::Unchecked(Unchecked::Unsteady)) {
        bail!("{}: {words}", count(found.len() as u64, "cut result"));
    }
    if found.is_empty() && !as_json {
        say("no result was cut, so there is nothing to check");
    } else if !as_json {
        say(&words);
    }
    Ok(())
}

static COLUMNS: [ListColumn<VerdictJson>; 7] = [
    ListColumn::new("check", Left, 5, |found: &VerdictJson, _| RowCell::plain(found.found.mark())),
    ListColumn::new("agent", Left, 24, |found: &VerdictJson, _| {
        let agent = format!("{} {}", found.agent, found.agent_version.as_deref().unwrap_or_default());
        RowCell::plain(agent.trim_end())
    })
    .yields(2),
    ListColumn::new("session", Left, ID, |found: &VerdictJson, _| RowCell::plain(found.session.as_str()))
        .yields(0),
    ListColumn::new("id", Left, ID, |found: &VerdictJson, _| RowCell::plain(found.call.as_str())),
    ListColumn::new("policy", Left, POLICY, |found: &VerdictJson, _| {
        RowCell::plain(found.policy.as_deref().unwrap_or_default())
    })
    .yields(3),
    ListColumn::new("found", Left, 40, |found: &VerdictJson, _| RowCell::plain(describe(found))),
    ListColumn::new("command", Left, 0, |found: &VerdictJson, _| {
        RowCell::plain(found.command.lines().next().unwrap_or_default())
    }),
];

/// Whether a policy makes the same text of a made-up output alone.
fn is_by_witness(verdict: &Verdict) -> bool {
    verdict.against() == Some(Against::Witness)
}

fn describe(found: &VerdictJson) -> String {
    match (found.differs_at, &found.fits, &found.reason) {
        (_, Some(fits), _) => format!("equal to {fits}, which is of another version"),
        (Some(at), None, _) => {
            format!("differs at byte {}, in the {}", thousands(at + 1), found.part.unwrap_or_default())
        }
        (None, None, None) if is_by_witness(&found.found) => {
            "by a witness: the whole output is not at hand, so its totals in the notice are not checked"
                .into()
        }
        (None, None, reason) => reason.clone().unwrap_or_default(),
    }
}
