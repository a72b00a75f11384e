//! Measures all outputs of a corpus for a command: shows how far it is, names what cannot be read, and ends early when
//! the user interrupts it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::base::human::{count, thousands};
use crate::cli::{CommandResult, Failure, fail, say};
use crate::corpus::tune::{TuneSums, Tuner, VisitedOutput};
use crate::corpus::{Corpus, MeasureWatcher, ReadFault, measure as visit_all};

use super::meter::Meter;

/// How many outputs that cannot be read are named.
const MAX_NAMED: u64 = 8;

/// The exit status of a failure of which everything has been said.
const FAILED: u8 = 1;

/// What all settings do to the outputs that could be measured.
pub(crate) struct MeasuredCorpus {
    pub sums: TuneSums,
    /// Whether those are all.
    pub is_complete: bool,
    /// Whether others could not be read, or did not keep one content meanwhile.
    lacks_some: bool,
}

impl MeasuredCorpus {
    /// Returns how a command ends that has printed the figures.
    ///
    /// # Errors
    /// An output is left out because it could not be read, or did not keep one content.
    pub(crate) fn end(&self) -> CommandResult {
        if self.lacks_some { Err(Failure::Ended(FAILED).into()) } else { Ok(()) }
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
    measurement.run(corpus, tuner)?;
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

/// A measurement of all outputs, shared by its threads.
struct Measurement {
    meter: Meter,
    /// Whether the user has interrupted it.
    stop: Arc<AtomicBool>,
    sums: Mutex<TuneSums>,
    unreadable: AtomicU64,
}

impl Measurement {
    /// Visits all outputs, until the user interrupts it; a second interrupt ends the program.
    fn run<'p>(&self, corpus: &Corpus, tuner: &(impl Fn() -> Tuner<'p> + Sync)) -> anyhow::Result<()> {
        let second = flag::register_conditional_default(SIGINT, Arc::clone(&self.stop))?;
        let first = flag::register(SIGINT, Arc::clone(&self.stop))?;
        let visited = self.meter.show_during(|| visit_all(corpus, tuner, self));
        for id in [first, second] {
            signal_hook::low_level::unregister(id);
        }
        visited.map_err(anyhow::Error::msg)
    }
}

impl MeasureWatcher for Measurement {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::Relaxed)
    }

    fn visited(&self, _: usize, visited: &VisitedOutput) {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner).add(visited);
        self.meter.add(visited.bytes);
    }

    /// Names the output, unless there are many.
    fn left_out(&self, why: &ReadFault) {
        let words = match why {
            ReadFault::Gone => return,
            ReadFault::Failed(words) | ReadFault::Unsteady(words) => words,
        };
        if self.unreadable.fetch_add(1, Ordering::Relaxed) < MAX_NAMED {
            let _room = self.meter.clear();
            fail(words);
        }
    }
}
