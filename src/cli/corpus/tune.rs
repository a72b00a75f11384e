//! `overspill tune`: what other limits of a policy would keep of many outputs, and which are worth choosing.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::base::human::{count, size, thousands};
use crate::base::lock;
use crate::cli::args::TuneArgs;
use crate::cli::progress::Meter;
use crate::cli::screens::{Link, Startup, TuneStart, show};
use crate::cli::stores::{self, OutputScope};
use crate::cli::{CommandResult, Failure, add, fail, print_json, say, table, terminal, usage};
use crate::config::{Config, EffectivePolicy, Overrides};
use crate::corpus::tune::{SettingFigures, TuneGrid, TuneMove, TuneSetting, frontier};
use crate::corpus::{TuneChoice, TuneFigures, TuneOutputs, TunePolicies, TuneRun, around};
use crate::preview::{Direction, Policy};
use crate::rows::settings::{beside_best, setting_columns, setting_rows};
use crate::text::search::Pattern;

use super::{gather, or_piped};

pub(crate) fn run(config: Config, args: &TuneArgs) -> CommandResult {
    let find = args.find.as_deref().map(pattern).transpose()?;
    let overrides =
        Overrides { policy: args.policy.clone(), tool: args.tool.clone(), ..args.limits.overrides() };
    if args.interactive {
        interact(config, args, find, overrides)
    } else {
        print(&config, args, find, overrides)
    }
}

fn interact(config: Config, args: &TuneArgs, find: Option<Pattern>, overrides: Overrides) -> CommandResult {
    if !terminal::has_screen() {
        return Err(usage(
            "--interactive needs a terminal on standard output; without it `tune` prints a table",
        ));
    }
    if overrides.policy.is_some() {
        // A mistake in the flags is reported before the screens open.
        config.resolve(&overrides, None).map_err(usage)?;
    }
    let policies = TunePolicies::Around(Box::new(overrides));
    let paths = or_piped(&args.paths, args.stores, args.agent.as_deref());
    let (outputs, place) = match &paths[..] {
        [] => {
            if let Some(name) = &args.agent {
                stores::select(&config, OutputScope::Agent(name))?;
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
    show(config, Startup { list: Some(Link::Tune(start)), ..Startup::default() })
}

fn print(config: &Config, args: &TuneArgs, find: Option<Pattern>, overrides: Overrides) -> CommandResult {
    let agent = args.agent.as_deref();
    let (corpus, is_whole) = gather(config, &or_piped(&args.paths, args.stores, agent), agent)?;
    let (policy, grid) = around(config, overrides, &corpus).map_err(usage)?;
    policy.warnings.iter().for_each(|warning| say(warning));
    let is_asked = find.is_some();
    let choice = TuneChoice::Settings { policy: Box::new(policy.clone()), grid: grid.clone() };
    let figures = measure(&TuneRun::new(Arc::new(corpus), choice, find, config.severities()))?;
    if args.json {
        print_json(&record_all(&policy, &grid, &figures, is_whole))?;
    } else if figures.outputs > 0 {
        let matches = if is_asked { "matches" } else { figures.severity.plural() };
        table(&mut terminal::stdout(), &policy.policy, &grid, (&figures, matches))?;
    }
    end(&figures)
}

pub(crate) fn pattern(text: &str) -> anyhow::Result<Pattern> {
    Pattern::new(text).map_err(|error| usage(format!("--find {text}: {error}")))
}

fn record_all(of: &EffectivePolicy, grid: &TuneGrid, figures: &TuneFigures, is_whole: bool) -> Value {
    let settings: Vec<Value> =
        grid.settings.iter().zip(&figures.settings).map(|(of, figures)| record(of, figures)).collect();
    let best = frontier(&figures.settings, grid.current);
    let best: Vec<&Value> = best.into_iter().filter_map(|number| settings.get(number)).collect();
    json!({
        "version": 1,
        "policy": of.policy.name(),
        "limits_from": of.limits_from.to_string(),
        "unit": of.policy.unit().as_str(),
        "outputs": figures.outputs,
        "bytes": figures.bytes,
        "with_errors": figures.with_errors,
        "matches": figures.matches,
        "complete": is_whole && figures.done.0 == figures.done.1 && figures.unreadable.0 == 0,
        "current": settings.get(grid.current),
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

pub(crate) fn describe_outputs(figures: &TuneFigures, matches: &str) -> String {
    let (outputs, bytes) = (count(figures.outputs, "output"), size(figures.bytes));
    let found = figures.count_matches(matches);
    format!("{outputs} ({bytes}) with {found} in {} of them", thousands(figures.with_errors))
}

/// Prints the settings worth choosing between with the present one in its place, then what a move to each buys.
fn table(
    out: &mut impl Write,
    policy: &Policy,
    grid: &TuneGrid,
    (figures, matches): (&TuneFigures, &str),
) -> io::Result<()> {
    let settings = &figures.settings;
    writeln!(
        out,
        "{}: the best of {} settings for {}; * is the present one\n",
        policy.name(),
        settings.len(),
        describe_outputs(figures, matches),
    )?;
    let rows = setting_rows(policy, grid, settings, figures.matches);
    table::print(out, setting_columns(), &rows, false)?;
    if figures.matches == 0 {
        return writeln!(out, "\nnothing in these outputs matches, so the fewest tokens are best");
    }
    writeln!(out)?;
    let present = settings.get(grid.current).copied().unwrap_or_default();
    for row in &rows {
        let setting = row.setting.describe(row.unit);
        if row.is_present {
            writeln!(out, "{setting}, now: {}", beside_best(settings, grid.current))?;
        } else {
            let buys = TuneMove::new(&row.figures, &present, figures.matches);
            writeln!(out, "{setting}: {}", buys.describe(matches))?;
        }
    }
    Ok(())
}

/// Measures all outputs of a run, and names those that cannot be read. Ctrl-C ends it, with what has been measured so far; a
/// second one ends the program.
pub(crate) fn measure(run: &TuneRun) -> anyhow::Result<TuneFigures> {
    let stop = Arc::new(AtomicBool::new(false));
    let second = flag::register_conditional_default(SIGINT, Arc::clone(&stop))?;
    let first = flag::register(SIGINT, Arc::clone(&stop))?;
    let meter = Meter::new("measured", run.corpus.outputs.len());
    let figures = Mutex::new(TuneFigures::default());
    let report = |new: TuneFigures| {
        meter.set(new.done.0, new.bytes);
        *lock(&figures) = new;
    };
    let measured = meter.show_during(|| run.measure(&|| !stop.load(Ordering::Relaxed), &report));
    for id in [first, second] {
        signal_hook::low_level::unregister(id);
    }
    let figures = figures.into_inner().unwrap_or_else(PoisonError::into_inner);
    figures.unreadable.1.iter().for_each(|words| fail(words));
    measured.map_err(anyhow::Error::msg)?;
    let unreadable = figures.unreadable.0;
    if unreadable > 0 {
        let is = if unreadable == 1 { "is" } else { "are" };
        say(&format!("{} could not be read, and {is} left out", count(unreadable, "output")));
    }
    if figures.done.0 < figures.done.1 {
        let all = count(figures.done.1, "output");
        say(&format!("stopped: the figures are of {} of {all}", thousands(figures.outputs)));
    }
    Ok(figures)
}

/// The exit status of a command that SIGINT ended.
const INTERRUPTED: u8 = 130;

/// Fails if Ctrl-C ended it, or an output is left out because it could not be read, or did not keep one content.
pub(crate) fn end(figures: &TuneFigures) -> CommandResult {
    // Everything has been said.
    match figures.done.0 < figures.done.1 {
        true => Err(Failure::Ended(INTERRUPTED).into()),
        false if figures.unreadable.0 > 0 => Err(Failure::Ended(1).into()),
        false => Ok(()),
    }
}
