//! `overspill tune`: what other limits of a policy would keep of many outputs, and which are worth choosing.

use std::io::{self, Write};
use std::sync::Arc;

use crate::cli::args::TuneArgs;
use crate::cli::screens::{TuneStart, show_tune};
use crate::cli::stores::select::{Selected, Whose};
use crate::cli::terminal::has_screen;
use crate::cli::{CommandResult, Failure, fail, input, say};
use crate::config::{Config, EffectivePolicy, Overrides};
use crate::corpus::{Corpus, TuneOutputs, TunePolicies, likely_policy};
use crate::text::search::Pattern;
use crate::tune::{TuneGrid, Tuner};

use super::frontier::{self, Tuned};
use super::gather::gather;
use super::measure::measure;

/// Visits the outputs, and prints the frontier; or shows both on the screen.
pub(crate) fn run(config: Config, args: &TuneArgs) -> CommandResult {
    let find = args.find.as_deref().map(pattern).transpose()?;
    if args.interactive { interact(config, args, find) } else { print(&config, args, find.as_ref()) }
}

/// Opens the list of settings.
fn interact(config: Config, args: &TuneArgs, find: Option<Pattern>) -> CommandResult {
    if !has_screen() {
        let words = "--interactive needs a terminal on standard output; without it `tune` prints a table";
        return Err(Failure::Usage(words.to_owned()).into());
    }
    let overrides =
        Overrides { policy: args.policy.clone(), tool: args.tool.clone(), ..args.limits.overrides() };
    if overrides.policy.is_some() {
        // A mistake in the flags is told before the screens open.
        config.resolve(&overrides, None).map_err(input::usage)?;
    }
    let policies = TunePolicies::Around(Box::new(overrides));
    let (outputs, place) = match &args.paths[..] {
        [] => {
            if let Some(name) = &args.agent {
                Selected::list(&config, Whose::Agent(name))?;
            }
            let place = args.agent.as_ref().map(|name| format!("stored outputs of {name}"));
            (TuneOutputs::Stored(args.agent.clone()), place.unwrap_or_else(|| "all stored outputs".into()))
        }
        paths => {
            let (corpus, _) = gather(&config, paths, None)?;
            corpus.faults.iter().for_each(|fault| fail(fault));
            let words: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
            (TuneOutputs::Listed(Arc::new(corpus)), words.join(" "))
        }
    };
    let list = Arc::new(move |_: &_| Ok(outputs.clone()));
    show_tune(config, TuneStart { find, ..TuneStart::new(list, place, policies) })
}

fn print(config: &Config, args: &TuneArgs, find: Option<&Pattern>) -> CommandResult {
    let severities = config.severities();
    let (corpus, is_whole) = gather(config, &args.paths, args.agent.as_deref())?;
    let policy = policy(config, args, &corpus)?;
    let grid = TuneGrid::around(&policy.policy).ok_or_else(|| {
        let name = policy.policy.name();
        Failure::Usage(format!("{name} has no limit on lines or size to tune; another policy may (-p)"))
    })?;
    let tuner = || Tuner::new(&grid.policies, find, &severities);
    let mut measured = measure(&corpus, grid.settings.len(), &tuner)?;
    let figures = measured.sums.figures();
    let sums = &measured.sums;
    let tuned = Tuned {
        policy: &policy,
        grid: &grid,
        figures: &figures,
        sums,
        finds: if find.is_some() { "finds" } else { sums.severity().plural() },
        is_complete: is_whole && measured.is_complete,
    };
    let mut out = io::BufWriter::new(crate::cli::safe::stdout());
    match (args.json, sums.outputs) {
        (true, _) => frontier::json(&mut out, &tuned)?,
        (false, 0) => {}
        (false, _) => frontier::table(&mut out, &tuned)?,
    }
    out.flush()?;
    measured.end()
}

/// Compiles the pattern of `--find`.
pub(crate) fn pattern(text: &str) -> Result<Pattern, Failure> {
    Pattern::new(text).map_err(|error| Failure::Usage(format!("--find {text}: {error}")))
}

/// Returns the policy to tune: the one that was named, else the one that cut most of the outputs, else the configured one.
fn policy(config: &Config, args: &TuneArgs, corpus: &Corpus) -> anyhow::Result<EffectivePolicy> {
    let policy = args.policy.clone().or_else(|| likely_policy(config, corpus));
    let overrides = Overrides { policy, tool: args.tool.clone(), ..args.limits.overrides() };
    let found = config.resolve(&overrides, None).map_err(input::usage)?;
    found.warnings.iter().for_each(|warning| say(warning));
    Ok(found)
}
