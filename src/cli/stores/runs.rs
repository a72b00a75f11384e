//! What is recorded about the runs that created outputs: the command, how it ended, how much it printed.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::capture::{self, Exit, OutputSize};
use crate::human::{lines, size};
use crate::store::{Entry, Env};

/// Records by the path of their spill.
#[derive(Debug, Default)]
pub(crate) struct Runs(HashMap<PathBuf, capture::Record>);

impl Runs {
    /// Reads the records of entries in all stores, since `--layout agent` saves in any; also sets the entries' tools.
    pub(crate) fn of(entries: &mut [Entry], env: &Env) -> Runs {
        let recorded = capture::Record::names(env);
        let runs =
            entries.iter_mut().filter(|entry| entry.name().to_str().is_some_and(|n| recorded.contains(n)));
        Runs(runs.filter_map(|entry| Some((entry.path(), learn(entry, env)?))).collect())
    }

    /// Returns the command that created an entry; empty if not recorded.
    pub(crate) fn command(&self, entry: &Entry) -> String {
        self.0.get(&entry.path()).map(|run| run.command.join(" ")).unwrap_or_default()
    }
}

/// Reads the record of the run that created an entry, and sets the entry's tool from it. Several places may have the
/// same name: the path in the record decides.
pub(crate) fn learn(entry: &mut Entry, env: &Env) -> Option<capture::Record> {
    let run = capture::Record::read(env, entry.name().to_str()?)?;
    if entry.path() != Path::new(&run.path) {
        return None;
    }
    if let Some(tool) = &run.tool {
        entry.learn_tool(tool);
    }
    Some(run)
}

/// Returns a record as pairs of label and value; not yet safe to print.
pub(crate) fn in_words(run: &capture::Record) -> Vec<(&'static str, String)> {
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
