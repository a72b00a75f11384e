//! `overspill verify`: is what the policies make of the spills what the agents recorded?

use anyhow::bail;
use serde_json::{Value, json};

use crate::base::human::{count, thousands};
use crate::cli::args::VerifyArgs;
use crate::cli::{CommandResult, input, say, table};
use crate::config::Config;
use crate::corpus::examiner;
use crate::rows::column::CellSide::Left;
use crate::rows::column::{ID, ListColumn, POLICY, RowCell};
use crate::session::command::command;
use crate::session::copies::{SeenCalls, families};
use crate::session::examine::{CallInspector, Paths};
use crate::session::list::{self, SessionFilter};
use crate::session::model::Call;
use crate::session::reader::SessionFile;
use crate::session::text::mask;
use crate::session::transcript::Transcript;
use crate::session::verdict::{Counterpart, NoVerdict, Verdict, describe_check};

use super::list::list_sessions;
use super::{describe_unread, earliest};

struct CheckedCall {
    found: Verdict,
    record: Value,
}

impl CheckedCall {
    fn new(inspector: CallInspector, call: &Call) -> Self {
        let CallInspector { file, transcript, .. } = inspector;
        let found = inspector.verify(call);
        let difference = if let Verdict::Differs(difference) = &found { Some(difference) } else { None };
        let record = json!({
            "session": file.id,
            "call": &*call.id,
            "agent": transcript.agent,
            "agent_version": transcript.version_of(call),
            "tool": transcript.tool(call),
            "command": mask(&command(transcript, call)),
            "verdict": found.as_str(),
            "against": found.counterpart().map(Counterpart::as_str),
            "policy": found.policy(),
            "differs_at": difference.map(|difference| difference.at),
            "part": difference.map(|difference| difference.part),
            "fits": difference.and_then(|difference| difference.fits.as_ref()),
            "reason": if let Verdict::Unchecked(why) = &found { Some(why.to_string()) } else { None },
        });
        Self { found, record }
    }

    /// Returns a text of the record; empty for null.
    fn text(&self, field: &str) -> &str {
        self.record[field].as_str().unwrap_or_default()
    }
}

pub(crate) fn run(config: &Config, args: &VerifyArgs) -> CommandResult {
    let paths = if args.any_path { Paths::Any } else { Paths::Known };
    let (mut found, mut examiners) = (Vec::new(), std::collections::HashMap::new());
    let mut check =
        |(file, copy): (&SessionFile, _), transcript: &Transcript, is_wanted: &dyn Fn(&Call) -> bool| {
            let new = |agent: &&str| examiner(config, agent, paths);
            let examiner = examiners.entry(transcript.agent).or_insert_with_key(new);
            let inspector = CallInspector { examiner, file, transcript, copy };
            let calls = transcript.calls.iter().filter(|call| is_wanted(call));
            found.extend(calls.map(|call| CheckedCall::new(inspector, call)));
        };
    if let Some(what) = &args.what {
        let named = input::recorded(config, what)?;
        let is_wanted = |call: &Call| named.call().map_or(call.is_partial(), |one| std::ptr::eq(one, call));
        check((&named.file, named.copy.as_deref()), named.opened.transcript(), &is_wanted);
        return report(&found, args);
    }
    let since = earliest(args.since);
    let sessions = list_sessions(config, &SessionFilter { since, ..SessionFilter::default() });
    let all: Vec<_> = sessions.iter().map(|session| (&session.file, &session.facts)).collect();
    for family in families(&all) {
        let mut seen = SeenCalls::default();
        for (file, _) in family.into_iter().map(|n| all[n]) {
            match list::open(file, &()) {
                Ok(opened) => {
                    let transcript = opened.transcript();
                    if transcript.unread.is_short() {
                        say(&describe_unread(file, &transcript.unread));
                    }
                    check((file, None), transcript, &|call| call.is_partial() && !seen.has(call));
                    seen.add(transcript);
                }
                Err(error) => say(&error.to_string()),
            }
        }
    }
    report(&found, args)
}

fn report(found: &[CheckedCall], args: &VerifyArgs) -> CommandResult {
    table::list(args.json, &COLUMNS, found, |call| &call.record)?;
    let some = |is_it: fn(&Verdict) -> bool| found.iter().filter(|call| is_it(&call.found)).count() as u64;
    let equal = some(|verdict| matches!(verdict, Verdict::Equal { .. }));
    let differ = some(|verdict| matches!(verdict, Verdict::Differs(_)));
    let unchecked = some(|verdict| matches!(verdict, Verdict::Unchecked(_)));
    let by_witness = match some(|verdict| verdict.counterpart() == Some(Counterpart::Witness)) {
        0 => String::new(),
        some => format!(" ({} by a witness)", thousands(some)),
    };
    let [equal, different, unchecked] = [equal, differ, unchecked].map(thousands);
    let words = format!("{equal} equal{by_witness}, {different} different, {unchecked} not checked");
    if differ > 0 || some(|verdict| *verdict == Verdict::Unchecked(NoVerdict::Unsteady)) > 0 {
        bail!("{}: {words}", count(found.len() as u64, "cut result"));
    }
    if !args.json {
        say(match (found.is_empty(), &args.since) {
            (true, None) => "no result was cut, so there is nothing to check",
            (true, Some(_)) => "no result of that time was cut; without --since, all are checked",
            _ => &words,
        });
    }
    Ok(())
}

type Column = ListColumn<CheckedCall>;

static COLUMNS: [Column; 7] = [
    Column::new("check", Left, 5, |call, _| RowCell::plain(call.found.mark())),
    Column::new("agent", Left, 24, |call, _| {
        RowCell::plain(format!("{} {}", call.text("agent"), call.text("agent_version")).trim_end())
    })
    .yields(3),
    Column::new("session", Left, ID, |call, _| RowCell::plain(call.text("session"))).yields(2),
    Column::new("id", Left, ID, |call, _| RowCell::plain(call.text("call"))),
    Column::new("policy", Left, POLICY, |call, _| RowCell::plain(call.text("policy"))).yields(1),
    Column::new("found", Left, 0, |call, _| RowCell::plain(describe_check(Some(&call.found)))),
    Column::new("command", Left, 40, |call, _| {
        RowCell::plain(call.text("command").lines().next().unwrap_or_default())
    })
    .yields(0),
];
