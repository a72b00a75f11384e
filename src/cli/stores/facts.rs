//! What is known of outputs, in words: the rule of their store, the run that printed one, the original of a kept copy.

use jiff::SignedDuration;

use crate::base::human::{lines, size, thousands, utc};
use crate::store::{Basis, CopyRecord, Entry, Env, Exit, OutputSize, Record, Retention, RunRecord};

/// Reads the record of the run that created an entry, and sets the entry's tool from it.
pub(crate) fn read_run(entry: &mut Entry, env: &Env) -> Option<RunRecord> {
    let run = Record::find_run(env, &entry.path())?;
    run.tool.iter().for_each(|tool| entry.learn_tool(tool));
    Some(run)
}

/// Returns what is recorded of a kept copy as pairs of label and value; not yet safe to print.
pub(crate) fn copy_facts(copy: &CopyRecord) -> Vec<(&'static str, String)> {
    let cut = copy.policies.first().map(|policy| format!("{policy}, limits from {}", copy.limits_from));
    vec![
        ("copy of", copy.original.clone()),
        ("command", copy.command.clone()),
        ("cut by", cut.unwrap_or_default()),
    ]
}

/// Returns a record as pairs of label and value; not yet safe to print.
pub(crate) fn run_facts(run: &RunRecord) -> Vec<(&'static str, String)> {
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

pub(crate) fn describe_retention(rule: &Retention) -> String {
    let after = |since: &str| match rule.after {
        Some(age) => format!("{} after {since}", exact(age)),
        None => "unknown".to_owned(),
    };
    let mut words = match rule.basis {
        Basis::Mtime => after("its last change"),
        Basis::FolderMtime => after("its folder's last change"),
        Basis::Id => after("the time in its id"),
        Basis::SessionEnd => "with its session".to_owned(),
        Basis::ProcessExit => "when the agent's process ends".to_owned(),
        Basis::Never => "never".to_owned(),
        Basis::Unknown => "unknown".to_owned(),
    };
    let count = rule.max_count.map(|most| format!("{} files", thousands(most)));
    for most in count.into_iter().chain(rule.max_total.map(size)) {
        words.push_str(&format!("; the oldest beyond {most} in a directory"));
    }
    words
}

/// Formats a configured age in the largest unit that leaves no remainder.
fn exact(age: SignedDuration) -> String {
    let seconds = age.as_secs();
    let units = [(86_400, "d"), (3_600, "h"), (60, "min")];
    let whole = units.into_iter().find(|(unit, _)| seconds % unit == 0);
    let (unit, word) = whole.unwrap_or((1, "s"));
    format!("{} {word}", seconds / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_in_words() {
        let rule = |basis, hours: Option<i64>| {
            let after = hours.map(SignedDuration::from_hours);
            Retention { basis, after, setting: None, max_count: None, max_total: None, note: None }
        };
        assert_eq!(describe_retention(&rule(Basis::Mtime, Some(168))), "7 d after its last change");
        assert_eq!(describe_retention(&rule(Basis::Id, Some(50))), "50 h after the time in its id");
        assert_eq!(describe_retention(&rule(Basis::Mtime, None)), "unknown");
        let limited = Retention {
            max_count: Some(1000),
            max_total: Some(256 << 20),
            ..rule(Basis::FolderMtime, Some(24))
        };
        let words = "1 d after its folder's last change; the oldest beyond 1,000 files in a directory; \
            the oldest beyond 256 MB in a directory";
        assert_eq!(describe_retention(&limited), words);
        assert_eq!(describe_retention(&rule(Basis::Never, None)), "never");
    }
}
