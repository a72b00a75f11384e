//! What is recorded about outputs: of the run that printed one, or of the original of a kept copy.

use crate::human::{lines, size, utc};
use crate::store::{CopyRecord, Entry, Env, Exit, OutputSize, Record, RunRecord};

/// Reads the record of the run that created an entry, and sets the entry's tool from it.
pub(crate) fn learn(entry: &mut Entry, env: &Env) -> Option<RunRecord> {
    let run = Record::of_run(env, &entry.path())?;
    run.tool.iter().for_each(|tool| entry.learn_tool(tool));
    Some(run)
}

/// Returns what is recorded of a kept copy as pairs of label and value; not yet safe to print.
pub(crate) fn copy_in_words(copy: &CopyRecord) -> Vec<(&'static str, String)> {
    let cut = copy.policies.first().map(|policy| format!("{policy}, limits from {}", copy.limits_from));
    vec![
        ("copy of", copy.original.clone()),
        ("command", copy.command.clone()),
        ("cut by", cut.unwrap_or_default()),
    ]
}

/// Returns a record as pairs of label and value; not yet safe to print.
pub(crate) fn in_words(run: &RunRecord) -> Vec<(&'static str, String)> {
    let exit = run.exit.map(|exit| match exit {
        Exit::Code(code) => format!("with status {code}"),
        Exit::Signal(signal) => format!("by signal {signal}"),
    });
    let ended = [exit, run.stopped.as_ref().map(|how| format!("stopped: {how}"))];
    let ended: Vec<String> = ended.into_iter().flatten().collect();
    let amount = |of: OutputSize| format!("{}, {}", size(of.bytes), lines(of.lines));
    let lost = run.truncated.as_ref().map(|why| format!("; {} kept: {why}", amount(run.kept)));
    vec![
        ("command", run.command.join(" ")),
        ("in", run.directory.clone()),
        ("began", utc(run.start)),
        ("ended", ended.join(", ")),
        ("stream", if run.stream == "stderr" { run.stream.clone() } else { String::new() }),
        ("printed", amount(run.seen) + &lost.unwrap_or_default()),
        ("cut by", run.policy.clone()),
    ]
}
