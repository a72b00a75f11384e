//! Turns a request into what can be measured: lists the outputs, and finds the policy with its limits.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::{Config, EffectivePolicy, Overrides};
use crate::corpus::tune::TuneGrid;
use crate::store::{self, Entry, OWN, RootReport, StoreSpec};
use crate::text::search::Pattern;

use super::super::{Corpus, CorpusOutput};
use super::run::{TuneChoice, TuneRun, TunedPolicies};

#[derive(Debug, Clone)]
pub enum TuneOutputs {
    /// All stored outputs, or those of an agent.
    Stored(Option<String>),
    Entries(Vec<Entry>),
    #[allow(private_interfaces, reason = "only the program lists outputs")]
    Listed(Arc<Corpus>),
}

#[derive(Debug, Clone)]
pub enum TunePolicies {
    /// Settings around the limits of one: the one that is named, else the one that cut most of the outputs.
    Around(Box<Overrides>),
    /// Every current policy with the limits that it has.
    Current,
}

#[derive(Debug)]
pub enum TuneFault {
    /// There are no outputs; what became of listing each directory of the stores.
    Empty(Vec<(Arc<StoreSpec>, Vec<RootReport>)>),
    /// The policy cannot be tuned, for this reason; the outputs are there.
    #[allow(private_interfaces, reason = "only the program lists outputs")]
    Policy(String, Arc<Corpus>),
}

/// Prepares measuring by `find`; without it the errors count.
pub fn prepare_tuning(
    config: &Config,
    outputs: TuneOutputs,
    policies: TunePolicies,
    find: Option<Pattern>,
) -> Result<TuneRun, TuneFault> {
    let corpus = corpus(config, outputs)?;
    let fault = |words| TuneFault::Policy(words, Arc::clone(&corpus));
    let choice = match policies {
        TunePolicies::Around(overrides) => {
            let (policy, grid) = around(config, *overrides, &corpus).map_err(fault)?;
            TuneChoice::Settings { policy: Box::new(policy), grid }
        }
        TunePolicies::Current => {
            let all = config.catalog.names().filter_map(|name| config.resolve_named(name).ok());
            TuneChoice::Policies(TunedPolicies::new(config, all.filter(|found| found.is_current).collect()))
        }
    };
    Ok(TuneRun::new(corpus, choice, find, config.severities()))
}

fn corpus(config: &Config, outputs: TuneOutputs) -> Result<Arc<Corpus>, TuneFault> {
    let (corpus, reports) = match outputs {
        TuneOutputs::Listed(corpus) => (corpus, Vec::new()),
        TuneOutputs::Entries(entries) => (Arc::new(Corpus::from_entries(entries)), Vec::new()),
        TuneOutputs::Stored(agent) => {
            let is_of = |it: &str| agent.as_ref().is_none_or(|agent| it == agent);
            let specs = config.stores.specs.iter().filter(|spec| is_of(&spec.agent) || spec.agent == OWN);
            let mut listing = store::list(specs, &config.env, store::now());
            listing.entries.retain(|entry| is_of(entry.agent()) || !entry.is_own());
            let faults = listing.unlisted().collect();
            listing.reports.retain(|(spec, _)| is_of(&spec.agent));
            (Arc::new(Corpus { faults, ..Corpus::from_entries(listing.entries) }), listing.reports)
        }
    };
    if corpus.outputs.is_empty() { Err(TuneFault::Empty(reports)) } else { Ok(corpus) }
}

/// Returns the policy to tune, and the settings around its limits: of the one that is named, else of the one that cut most of
/// the outputs, else of the configured one.
pub(crate) fn around(
    config: &Config,
    mut overrides: Overrides,
    corpus: &Corpus,
) -> Result<(EffectivePolicy, TuneGrid), String> {
    overrides.policy = overrides.policy.or_else(|| likely_policy(config, corpus));
    let policy = config.resolve(&overrides, None).map_err(|error| error.to_string())?;
    let name = policy.policy.name();
    let none = || format!("{name} has no limit on lines or size to tune; another policy may");
    let grid = TuneGrid::around(&policy.policy).ok_or_else(none)?;
    Ok((policy, grid))
}

/// Returns the policy that cut most of the outputs, of several the first in the alphabet; `None` without outputs.
fn likely_policy(config: &Config, corpus: &Corpus) -> Option<String> {
    let mut counts = BTreeMap::<String, u64>::new();
    let cut_by = |output: &CorpusOutput| config.candidates(Some(&output.path())).into_iter().next();
    corpus.outputs.iter().filter_map(cut_by).for_each(|policy| *counts.entry(policy).or_default() += 1);
    // `max_by_key` returns the last of several largest.
    counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(policy, _)| policy)
}
