//! `overspill tune`: what other limits of a policy would keep of many outputs, and which are worth choosing.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::base::human::{count, size, thousands};
use crate::base::lock;
use crate::cli::args::TuneArgs;
use crate::cli::progress::Meter;
use crate::cli::screens::{Beginning, TuneStart, show};
use crate::cli::stores::{Selected, Whose};
use crate::cli::{CommandResult, Failure, add, fail, print_json, say, table, terminal, usage};
use crate::config::{Config, EffectivePolicy, Overrides};
use crate::corpus::tune::{
    SettingFigures, TuneGrid, TuneMove, TuneSetting, TuneSums, Tuner, VisitedOutput, frontier,
};
use crate::corpus::{
    Corpus, MeasureWatcher, ReadFault, TuneOutputs, TunePolicies, likely_policy, measure as visit_all,
};
use crate::preview::Direction;
use crate::rows::settings::{beside_best, setting_columns, setting_rows};
use crate::text::search::Pattern;

use super::gather;

/// How many outputs that cannot be read are named.
const MAX_NAMED: u64 = 8;

pub(crate) fn run(config: Config, args: &TuneArgs) -> CommandResult {
    let find = args.find.as_deref().map(pattern).transpose()?;
    if args.interactive { interact(config, args, find) } else { print(&config, args, find.as_ref()) }
}

fn interact(config: Config, args: &TuneArgs, find: Option<Pattern>) -> CommandResult {
    if !terminal::has_screen() {
        return Err(usage(
            "--interactive needs a terminal on standard output; without it `tune` prints a table",
        ));
    }
    let overrides =
        Overrides { policy: args.policy.clone(), tool: args.tool.clone(), ..args.limits.overrides() };
    if overrides.policy.is_some() {
        // A mistake in the flags is reported before the screens open.
        config.resolve(&overrides, None).map_err(usage)?;
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
    let start = TuneStart { find, ..TuneStart::new(list, place, policies) };
    show(config, Beginning { list: Some(Box::new(start)), ..Beginning::default() })
}

fn print(config: &Config, args: &TuneArgs, find: Option<&Pattern>) -> CommandResult {
    let severities = config.severities();
    let (corpus, is_whole) = gather(config, &args.paths, args.agent.as_deref())?;
    let policy = policy(config, args, &corpus)?;
    let grid = TuneGrid::around(&policy.policy).ok_or_else(|| {
        let name = policy.policy.name();
        usage(format!("{name} has no limit on lines or size to tune; another policy may (-p)"))
    })?;
    let tuner = || Tuner::new(&grid.policies, find, &severities);
    let mut measured = measure(&corpus, grid.settings.len(), &tuner)?;
    let figures = measured.sums.figures();
    let sums = &measured.sums;
    let tuned = TuneSummary {
        policy: &policy,
        grid: &grid,
        figures: &figures,
        present: figures.get(grid.current).copied().unwrap_or_default(),
        sums,
        finds: if find.is_some() { "finds" } else { sums.severity().plural() },
        is_complete: is_whole && measured.is_complete,
    };
    match (args.json, sums.outputs) {
        (true, _) => print_json(&record_all(&tuned))?,
        (false, 0) => {}
        (false, _) => table(&mut terminal::stdout(), &tuned)?,
    }
    measured.end()
}

pub(crate) fn pattern(text: &str) -> anyhow::Result<Pattern> {
    Pattern::new(text).map_err(|error| usage(format!("--find {text}: {error}")))
}

/// Returns the policy to tune: the one that was named, else the one that cut most of the outputs, else the configured one.
fn policy(config: &Config, args: &TuneArgs, corpus: &Corpus) -> anyhow::Result<EffectivePolicy> {
    let policy = args.policy.clone().or_else(|| likely_policy(config, corpus));
    let overrides = Overrides { policy, tool: args.tool.clone(), ..args.limits.overrides() };
    let found = config.resolve(&overrides, None).map_err(usage)?;
    found.warnings.iter().for_each(|warning| say(warning));
    Ok(found)
}

struct TuneSummary<'a> {
    policy: &'a EffectivePolicy,
    grid: &'a TuneGrid,
    figures: &'a [SettingFigures],
    present: SettingFigures,
    sums: &'a TuneSums,
    /// What the finds are called.
    finds: &'static str,
    /// Whether all outputs could be visited.
    is_complete: bool,
}

fn record_all(tuned: &TuneSummary) -> Value {
    let EffectivePolicy { policy, limits_from, .. } = tuned.policy;
    let settings: Vec<Value> =
        tuned.grid.settings.iter().zip(tuned.figures).map(|(of, figures)| record(of, figures)).collect();
    let best = frontier(tuned.figures, tuned.grid.current);
    let best: Vec<&Value> = best.into_iter().filter_map(|number| settings.get(number)).collect();
    json!({
        "version": 1,
        "policy": policy.name(),
        "limits_from": limits_from.to_string(),
        "unit": policy.unit().as_str(),
        "outputs": tuned.sums.outputs,
        "bytes": tuned.sums.bytes,
        "with_errors": tuned.sums.with_errors(),
        "finds": tuned.sums.finds(),
        "complete": tuned.is_complete,
        "current": record(&TuneSetting::new(policy), &tuned.present),
        "settings": settings,
        "frontier": best,
    })
}

fn record(setting: &TuneSetting, figures: &SettingFigures) -> Value {
    let mut record = json!({
        "max_lines": setting.max_lines,
        "max_bytes": setting.max_size,
        "direction": setting.direction.map(Direction::as_str),
    });
    add(&mut record, json!(figures));
    record
}

pub(crate) fn describe_outputs(sums: &TuneSums, finds: &str) -> String {
    let (outputs, bytes) = (count(sums.outputs, "output"), size(sums.bytes));
    let found = count(sums.finds(), finds.trim_end_matches('s'));
    format!("{outputs} ({bytes}) with {found} in {} of them", thousands(sums.with_errors()))
}

/// Prints the settings worth choosing between with the present one in its place, then what a move to each buys.
fn table(out: &mut impl Write, tuned: &TuneSummary) -> io::Result<()> {
    let (sums, present, policy) = (tuned.sums, tuned.present, &tuned.policy.policy);
    writeln!(
        out,
        "{}: the best of {} settings for {}; * is the present one\n",
        policy.name(),
        tuned.figures.len(),
        describe_outputs(sums, tuned.finds),
    )?;
    let rows = setting_rows(policy, tuned.grid, tuned.figures, sums.finds());
    table::print(out, setting_columns(), &rows, false)?;
    if sums.finds() == 0 {
        return writeln!(out, "\nnothing in these outputs matches, so the fewest tokens are best");
    }
    writeln!(out)?;
    for row in &rows {
        let setting = row.setting.describe(row.unit);
        if row.is_present {
            writeln!(out, "{setting}, now: {}", beside_best(tuned.figures, tuned.grid.current))?;
        } else {
            let buys = TuneMove::new(&row.figures, &present, sums.finds());
            writeln!(out, "{setting}: {}", buys.describe(tuned.finds))?;
        }
    }
    Ok(())
}

pub(crate) struct MeasuredCorpus {
    pub sums: TuneSums,
    /// Whether those are all.
    pub is_complete: bool,
    /// Whether others could not be read, or did not keep one content meanwhile.
    lacks_some: bool,
}

impl MeasuredCorpus {
    /// Fails if an output is left out because it could not be read, or did not keep one content.
    pub(crate) fn end(&self) -> CommandResult {
        // Everything has been said.
        if self.lacks_some { Err(Failure::Ended(1).into()) } else { Ok(()) }
    }
}

/// Measures all outputs under as many settings as `tuner` has, and names those that cannot be read. Ctrl-C ends it, with
/// what has been measured so far; a second one ends the program.
pub(crate) fn measure<'p>(
    corpus: &Corpus,
    settings: usize,
    tuner: &(impl Fn() -> Tuner<'p> + Sync),
) -> anyhow::Result<MeasuredCorpus> {
    corpus.faults.iter().for_each(|fault| fail(fault));
    let measurement = Measurement {
        meter: Meter::new("measured", corpus.outputs.len()),
        stop: Arc::new(AtomicBool::new(false)),
        sums: Mutex::new(TuneSums::new(settings)),
        unreadable: AtomicU64::new(corpus.faults.len() as u64),
    };
    let second = flag::register_conditional_default(SIGINT, Arc::clone(&measurement.stop))?;
    let first = flag::register(SIGINT, Arc::clone(&measurement.stop))?;
    let visited = measurement.meter.show_during(|| visit_all(corpus, tuner, &measurement));
    for id in [first, second] {
        signal_hook::low_level::unregister(id);
    }
    visited.map_err(anyhow::Error::msg)?;
    let Measurement { stop, sums, unreadable, .. } = measurement;
    let sums = sums.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (unreadable, is_stopped) = (unreadable.into_inner(), stop.load(Ordering::Relaxed));
    if unreadable > 0 {
        let is = if unreadable == 1 { "is" } else { "are" };
        say(&format!("{} could not be read, and {is} left out", count(unreadable, "output")));
    }
    if is_stopped {
        let all = count(corpus.outputs.len() as u64, "output");
        say(&format!("stopped: the figures are of {} of {all}", thousands(sums.outputs)));
    }
    let is_complete = !is_stopped && unreadable == 0;
    Ok(MeasuredCorpus { sums, is_complete, lacks_some: unreadable > 0 })
}

struct Measurement {
    meter: Meter,
    stop: Arc<AtomicBool>,
    sums: Mutex<TuneSums>,
    unreadable: AtomicU64,
}

impl MeasureWatcher for Measurement {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn visited(&self, _: usize, visited: &VisitedOutput) {
        lock(&self.sums).add(visited);
        self.meter.add(visited.bytes);
    }

    /// Names the output, unless there are many.
    fn left_out(&self, why: &ReadFault) {
        let (ReadFault::Failed(words) | ReadFault::Unsteady(words)) = why else { return };
        if self.unreadable.fetch_add(1, Ordering::Relaxed) < MAX_NAMED {
            let _room = self.meter.clear();
            fail(words);
        }
    }
}
