//! What is recorded about outputs: of the run that printed one, or of the original of a kept copy.

use std::collections::HashMap;
use std::path::PathBuf;

use crate::human::{lines, size};
use crate::store::{CopyRecord, Entry, Env, Exit, OutputSize, Record, RunRecord};

/// Returns the recorded commands by the paths of entries in all stores, since `--layout agent` saves in any; also sets the
/// entries' tools.
pub(crate) fn commands(entries: &mut [Entry], env: &Env) -> HashMap<PathBuf, String> {
    let recorded = Record::names(env);
    let is_recorded = |entry: &&mut Entry| entry.name().to_str().is_some_and(|name| recorded.contains(name));
    let command = |entry: &mut Entry| match entry.copy() {
        Some(copy) => Some(copy.command.clone()),
        None => learn(entry, env).map(|run| run.command.join(" ")),
    };
    let recorded = entries.iter_mut().filter(is_recorded);
    recorded.filter_map(|entry| Some((entry.path(), command(entry)?))).collect()
}

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
        ("began", run.start.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
        ("ended", ended.join(", ")),
        ("stream", if run.stream == "stderr" { run.stream.clone() } else { String::new() }),
        ("printed", amount(run.seen) + &lost.unwrap_or_default()),
        ("cut by", run.policy.clone()),
    ]
}
