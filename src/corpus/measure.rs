//! Measures all outputs of a corpus on several threads: what each of many settings does to each.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use crate::corpus::tune::{Tuner, VisitedOutput};
use crate::source::share_out;

use super::{Corpus, CorpusOutput, CorpusReader, ReadFault};

/// Takes what a measurement finds out; shared by its threads.
pub(crate) trait MeasureWatcher: Sync {
    /// Whether to go on; asked before each output.
    fn goes_on(&self) -> bool;

    /// Takes the figures of an output by its number in the corpus, 0-based.
    fn visited(&self, number: usize, visited: &VisitedOutput);

    fn left_out(&self, why: &ReadFault);
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
    let saved_as = output.saved_as();
    let visited = reader.look(output, &mut || true, &mut |open| {
        tuner.visit(&open, &mut open.supply(), &saved_as).map_err(|error| error.to_string())
    });
    match visited {
        Ok(visited) => watcher.visited(number, &visited?),
        Err(why) => watcher.left_out(&why),
    }
    Ok(())
}
