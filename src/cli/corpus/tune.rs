//! `overspill tune`: what other limits of a policy would keep of many outputs, and which are worth choosing.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::cli::args::TuneArgs;
use crate::cli::{CommandResult, Failure, fail, input, say};
use crate::config::{Config, EffectivePolicy, Overrides};
use crate::corpus::{Corpus, CorpusOutput, CorpusReader, ReadFault};
use crate::human::count;
use crate::source::share_out;
use crate::text::search::Pattern;
use crate::tune::{TuneGrid, TuneSums, Tuner};

use super::frontier::{self, Tuned};
use super::gather::gather;
use super::meter::Meter;

/// How many outputs that cannot be read are named.
const MOST_NAMED: u64 = 8;

/// Visits the outputs, and prints the frontier.
pub(crate) fn run(config: &Config, args: &TuneArgs) -> CommandResult {
    let find = args.find.as_deref().map(|text| pattern(text)).transpose()?;
    let errors = config.error_pattern();
    let errors = errors.ok_or_else(|| Failure::Failed("the pattern of errors cannot be compiled".to_owned()))?;
    let (corpus, is_whole) = gather(config, &args.paths, args.agent.as_deref())?;
    corpus.faults.iter().for_each(|fault| fail(fault));
    let policy = policy(config, args, &corpus)?;
    let grid = TuneGrid::around(&policy.policy).ok_or_else(|| {
        let name = policy.policy.name();
        Failure::Usage(format!("{name} has no limit on lines or size to tune; another policy may (-p)"))
    })?;
    let visit = Visit {
        find: find.as_ref(),
        errors: &errors,
        meter: Meter::new("measured", corpus.outputs.len()),
        stop: Arc::new(AtomicBool::new(false)),
        sums: Mutex::new(TuneSums::new(grid.settings.len())),
        unreadable: AtomicU64::new(corpus.faults.len() as u64),
        failed: Mutex::new(None),
    };
    visit.run(&corpus, &grid)?;
    if let Some(error) = visit.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(Failure::Failed(error).into());
    }
    let is_stopped = visit.stop.load(Ordering::Relaxed);
    let mut sums = visit.sums.into_inner().unwrap_or_else(PoisonError::into_inner);
    let unreadable = visit.unreadable.into_inner();
    if unreadable > 0 {
        say(&format!("{} could not be read, and {} left out", count(unreadable, "output"), are(unreadable)));
    }
    if is_stopped {
        let (done, all) = (sums.outputs, corpus.outputs.len() as u64);
        say(&format!("stopped: the figures are of {done} of {}", count(all, "output")));
    }
    let figures = sums.figures();
    let tuned = Tuned {
        policy: &policy,
        grid: &grid,
        figures: &figures,
        sums: &sums,
        finds: if find.is_some() { "finds" } else { "errors" },
        is_complete: is_whole && !is_stopped && unreadable == 0,
    };
    let mut out = io::BufWriter::new(crate::fs::patient::stdout());
    match (args.json, sums.outputs) {
        (true, _) => frontier::json(&mut out, &tuned)?,
        (false, 0) => {}
        (false, _) => frontier::table(&mut out, &tuned)?,
    }
    Ok(out.flush()?)
}

fn are(number: u64) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

fn pattern(text: &str) -> Result<Pattern, Failure> {
    Pattern::new(text).map_err(|error| Failure::Usage(format!("--find {text}: {error}")))
}

/// Returns the policy to tune: the one that was named, else the one that cut most of the outputs, else the configured one.
fn policy(config: &Config, args: &TuneArgs, corpus: &Corpus) -> anyhow::Result<EffectivePolicy> {
    let policy = args.policy.clone().or_else(|| {
        let all = corpus.outputs.iter().filter_map(|output| config.candidates(Some(&output.path())).into_iter().next());
        most_frequent(all)
    });
    let overrides = Overrides { policy, tool: args.tool.clone(), ..args.limits.overrides() };
    let found = config.resolve(&overrides, None).map_err(input::usage)?;
    found.warnings.iter().for_each(|warning| say(warning));
    Ok(found)
}

/// Returns the word that occurs most often; of several the first in the alphabet.
fn most_frequent(words: impl Iterator<Item = String>) -> Option<String> {
    let mut counts = std::collections::BTreeMap::<String, u64>::new();
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    let most = counts.values().copied().max()?;
    counts.into_iter().find(|(_, count)| *count == most).map(|(word, _)| word)
}

/// A visit to all outputs, shared by its threads.
struct Visit<'a> {
    find: Option<&'a Pattern>,
    errors: &'a Pattern,
    meter: Meter,
    /// Whether the user has had enough.
    stop: Arc<AtomicBool>,
    sums: Mutex<TuneSums>,
    /// How many outputs could not be read.
    unreadable: AtomicU64,
    /// Why the policy cannot be used.
    failed: Mutex<Option<String>>,
}

impl Visit<'_> {
    /// Visits all outputs, until the user interrupts it; a second interrupt ends the program.
    fn run(&self, corpus: &Corpus, grid: &TuneGrid) -> io::Result<()> {
        let second = flag::register_conditional_default(SIGINT, Arc::clone(&self.stop))?;
        let first = flag::register(SIGINT, Arc::clone(&self.stop))?;
        std::thread::scope(|scope| {
            // Without the thread there is no progress line.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || self.meter.show_until_over());
            let state =
                || (CorpusReader::default(), Tuner::new(&grid.policies, self.find, self.errors));
            share_out(corpus.outputs.len(), state, |(reader, tuner), number| {
                if self.stop.load(Ordering::Relaxed) {
                    return ControlFlow::Break(());
                }
                match corpus.outputs.get(number) {
                    Some(output) => self.visit(reader, tuner, output),
                    None => ControlFlow::Continue(()),
                }
            });
            self.meter.end();
        });
        for id in [first, second] {
            signal_hook::low_level::unregister(id);
        }
        Ok(())
    }

    /// Visits one output, and adds its figures.
    fn visit(&self, reader: &mut CorpusReader, tuner: &mut Tuner, output: &CorpusOutput) -> ControlFlow<()> {
        let bytes = match reader.read(output) {
            Ok(bytes) => bytes,
            Err(ReadFault::Gone) => return ControlFlow::Continue(()),
            Err(ReadFault::Failed(words)) => {
                self.complain(&words);
                return ControlFlow::Continue(());
            }
        };
        match tuner.visit(&bytes, &saved_as(&output.path())) {
            Ok(visited) => self.sums.lock().unwrap_or_else(PoisonError::into_inner).add(&visited),
            Err(error) => {
                *self.failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.to_string());
                return ControlFlow::Break(());
            }
        }
        self.meter.add(bytes.len());
        ControlFlow::Continue(())
    }

    /// Names an output that cannot be read, unless there are many.
    fn complain(&self, words: &str) {
        if self.unreadable.fetch_add(1, Ordering::Relaxed) < MOST_NAMED {
            let _room = self.meter.clear();
            fail(words);
        }
    }
}

/// Returns the path that notices print.
fn saved_as(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).to_string_lossy().into_owned()
}
