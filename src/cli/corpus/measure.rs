//! Measures all outputs of a corpus on several threads: what each of many settings does to them, until the user
//! interrupts it.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use signal_hook::consts::SIGINT;
use signal_hook::flag;

use crate::cli::{Failure, fail, say};
use crate::corpus::{Corpus, CorpusOutput, CorpusReader, ReadFault};
use crate::human::{count, thousands};
use crate::source::share_out;
use crate::tune::{TuneSums, Tuner};

use super::meter::Meter;

/// How many outputs that cannot be read are named.
const MOST_NAMED: u64 = 8;

/// What all settings do to the outputs that could be measured.
pub(crate) struct MeasuredCorpus {
    pub sums: TuneSums,
    /// Whether those are all.
    pub is_complete: bool,
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
        failed: Mutex::new(None),
    };
    measurement.run(corpus, tuner)?;
    let Measurement { stop, sums, unreadable, failed, .. } = measurement;
    if let Some(error) = failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(Failure::Failed(error).into());
    }
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
    Ok(MeasuredCorpus { sums, is_complete: !is_stopped && unreadable == 0 })
}

/// A measurement of all outputs, shared by its threads.
struct Measurement {
    meter: Meter,
    /// Whether the user has had enough.
    stop: Arc<AtomicBool>,
    sums: Mutex<TuneSums>,
    /// How many outputs could not be read.
    unreadable: AtomicU64,
    /// Why the policy cannot be used.
    failed: Mutex<Option<String>>,
}

impl Measurement {
    /// Visits all outputs, until the user interrupts it; a second interrupt ends the program.
    fn run<'p>(&self, corpus: &Corpus, tuner: &(impl Fn() -> Tuner<'p> + Sync)) -> io::Result<()> {
        let second = flag::register_conditional_default(SIGINT, Arc::clone(&self.stop))?;
        let first = flag::register(SIGINT, Arc::clone(&self.stop))?;
        std::thread::scope(|scope| {
            // Without the thread there is no progress line.
            let _ = std::thread::Builder::new().spawn_scoped(scope, || self.meter.show_until_over());
            let state = || (CorpusReader::default(), tuner());
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
