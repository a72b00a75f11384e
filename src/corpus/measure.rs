//! Measures all outputs of a corpus on several threads: what each of many settings does to each.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use crate::source::share_out;
use crate::tune::{Tuner, VisitedOutput};

use super::got::saved_as;
use super::{Corpus, CorpusOutput, CorpusReader, ReadFault};

/// Takes what a measurement finds out; shared by its threads.
pub(crate) trait MeasureWatcher: Sync {
    /// Whether to go on; asked before each output.
    fn goes_on(&self) -> bool;

    /// Takes the figures of an output by its number in the corpus, 0-based.
    fn visited(&self, number: usize, visited: &VisitedOutput);

    /// Notes that an output vanished since it was listed.
    fn gone(&self);

    /// Notes that an output cannot be read, and why, in words that name it.
    fn unreadable(&self, words: &str);
}

/// Visits all outputs, until `watcher` has had enough. Each thread has a `tuner` of its own.
///
/// # Errors
/// A policy has a mistake that only shows in use; the rest is not visited.
pub(crate) fn measure<'p>(
    corpus: &Corpus,
    tuner: &(impl Fn() -> Tuner<'p> + Sync),
    watcher: &impl MeasureWatcher,
) -> Result<(), String> {
    let failed = Mutex::new(None);
    let state = || (CorpusReader::default(), tuner());
    share_out(corpus.outputs.len(), state, |(reader, tuner), number| {
        let Some(output) = corpus.outputs.get(number).filter(|_| watcher.goes_on()) else {
            return ControlFlow::Break(());
        };
        match visit((reader, tuner), output, number, watcher) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

fn visit(
    (reader, tuner): (&mut CorpusReader, &mut Tuner),
    output: &CorpusOutput,
    number: usize,
    watcher: &impl MeasureWatcher,
) -> Result<(), String> {
    match reader.read(output) {
        Ok(bytes) => {
            let visited = tuner.visit(&bytes, &saved_as(&output.path()));
            watcher.visited(number, &visited.map_err(|error| error.to_string())?);
        }
        Err(ReadFault::Gone) => watcher.gone(),
        Err(ReadFault::Failed(words)) => watcher.unreadable(&words),
    }
    Ok(())
}
