//! `overspill tune`: what other limits of a policy would keep of many outputs, and which are worth choosing.

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::cli::args::TuneArgs;
use crate::cli::{CommandResult, Failure, input, say};
use crate::config::{Config, EffectivePolicy, Overrides};
use crate::corpus::Corpus;
use crate::text::search::Pattern;
use crate::tune::{TuneGrid, Tuner};

use super::frontier::{self, Tuned};
use super::gather::gather;
use super::measure::{MeasuredCorpus, measure};

/// Visits the outputs, and prints the frontier.
pub(crate) fn run(config: &Config, args: &TuneArgs) -> CommandResult {
    let find = args.find.as_deref().map(pattern).transpose()?;
    let errors = config.error_pattern();
    let errors =
        errors.ok_or_else(|| Failure::Failed("the pattern of errors cannot be compiled".to_owned()))?;
    let (corpus, is_whole) = gather(config, &args.paths, args.agent.as_deref())?;
    let policy = policy(config, args, &corpus)?;
    let grid = TuneGrid::around(&policy.policy).ok_or_else(|| {
        let name = policy.policy.name();
        Failure::Usage(format!("{name} has no limit on lines or size to tune; another policy may (-p)"))
    })?;
    let tuner = || Tuner::new(&grid.policies, find.as_ref(), &errors);
    let MeasuredCorpus { mut sums, is_complete } = measure(&corpus, grid.settings.len(), &tuner)?;
    let figures = sums.figures();
    let tuned = Tuned {
        policy: &policy,
        grid: &grid,
        figures: &figures,
        sums: &sums,
        finds: if find.is_some() { "finds" } else { "errors" },
        is_complete: is_whole && is_complete,
    };
    let mut out = io::BufWriter::new(crate::fs::patient::stdout());
    match (args.json, sums.outputs) {
        (true, _) => frontier::json(&mut out, &tuned)?,
        (false, 0) => {}
        (false, _) => frontier::table(&mut out, &tuned)?,
    }
    Ok(out.flush()?)
}

/// Compiles the pattern of `--find`.
pub(crate) fn pattern(text: &str) -> Result<Pattern, Failure> {
    Pattern::new(text).map_err(|error| Failure::Usage(format!("--find {text}: {error}")))
}

/// Returns the policy to tune: the one that was named, else the one that cut most of the outputs, else the configured one.
fn policy(config: &Config, args: &TuneArgs, corpus: &Corpus) -> anyhow::Result<EffectivePolicy> {
    let policy = args.policy.clone().or_else(|| {
        let all = corpus
            .outputs
            .iter()
            .filter_map(|output| config.candidates(Some(&output.path())).into_iter().next());
        most_frequent(all)
    });
    let overrides = Overrides { policy, tool: args.tool.clone(), ..args.limits.overrides() };
    let found = config.resolve(&overrides, None).map_err(input::usage)?;
    found.warnings.iter().for_each(|warning| say(warning));
    Ok(found)
}

/// Returns the word that occurs most often; of several the first in the alphabet.
fn most_frequent(words: impl Iterator<Item = String>) -> Option<String> {
    let mut counts = BTreeMap::<String, u64>::new();
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    let most = counts.values().copied().max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(word, _)| word)
}
