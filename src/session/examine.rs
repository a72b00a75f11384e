//! What can be worked out about a call besides its records: what is at the place of its spill, and whether a policy makes
//! what was recorded.

use std::fmt;
#[cfg(feature = "app")]
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::preview::Catalog;
use crate::source::{MapView, Source};

use super::model::Call;
#[cfg(feature = "app")]
use super::model::CallResult;
use super::reader::SessionFile;
use super::spill::{SpillState, is_beside, state_of};
use super::transcript::Transcript;
use super::verify::{Unchecked, Verdict, Verifier, WholeOutput, whole_display};
use super::window::{ReadFile, read_file};

/// Which spills may be opened: a path in the records is a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paths {
    /// Those in known stores, and in the agent's own directory.
    Known,
    /// Any regular file of the user's own.
    Any,
}

/// Tells whether a path lies in a known store.
pub type InStore = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// Examines the calls of one agent's sessions.
pub struct Examiner {
    verifier: Verifier,
    in_store: InStore,
    uid: u32,
    paths: Paths,
}

impl fmt::Debug for Examiner {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Examiner").field("uid", &self.uid).field("paths", &self.paths).finish_non_exhaustive()
    }
}

impl Examiner {
    /// Takes the policies of `agent` from a catalog. `uid` owns the spills that count.
    pub fn new(catalog: &Catalog, agent: &str, in_store: InStore, uid: u32, paths: Paths) -> Self {
        Self { verifier: Verifier::new(catalog, agent), in_store, uid, paths }
    }

    /// Returns what is at the place that a call's result names; `None` if it names none.
    pub fn spill(&self, file: &SessionFile, call: &Call) -> Option<SpillState> {
        state_of(call, &file.path, self.uid)
    }

    /// Whether a spill lies where agents keep spills, so that it is opened unasked.
    pub fn is_known(&self, file: &SessionFile, path: &Path) -> bool {
        (self.in_store)(path) || is_beside(path, &file.path)
    }

    /// Returns the size of the whole output in bytes, if it is known.
    pub fn whole_bytes(&self, file: &SessionFile, call: &Call) -> Option<u64> {
        let found = self.spill(file, call).and_then(|state| state.path()?.metadata().ok());
        found.map(|meta| meta.len()).or_else(|| call.cites.iter().find_map(|cite| cite.bytes))
    }

    /// Returns what of the text of a call's result, as ranges in bytes, the agent added, as far as its policies tell.
    #[cfg(feature = "app")]
    pub(crate) fn added_in(
        &self,
        transcript: &Transcript,
        of: (&Call, &CallResult),
        text: &str,
    ) -> Vec<Range<usize>> {
        self.verifier.added_in(transcript, of, text)
    }

    /// Compares the result that the model first saw with what the policies make of the whole output.
    pub fn verify(&self, file: &SessionFile, transcript: &Transcript, call: &Call) -> Verdict {
        if call.is_window {
            return self.verify_window(file, transcript, call);
        }
        let is_cut = call.is_cut();
        let here =
            self.spill(file, call).and_then(|state| state.path().map(Path::to_owned)).filter(|_| is_cut);
        if here.is_some_and(|path| self.paths == Paths::Known && !self.is_known(file, &path)) {
            return Verdict::Unchecked(Unchecked::Outside);
        }
        match is_cut.then(|| self.open(file, call)).flatten() {
            Some((source, path)) => {
                self.compare(transcript, call, source, &mut |view| WholeOutput::Spill(view, path.clone()))
            }
            None => {
                let copy = is_cut.then(|| whole_display(transcript, call)).flatten();
                self.verifier.verify(transcript, call, copy.as_ref())
            }
        }
    }

    /// Compares a window of a file with what the policies make of the file that was read.
    fn verify_window(&self, file: &SessionFile, transcript: &Transcript, call: &Call) -> Verdict {
        let may_open = |path: &Path| self.paths == Paths::Any || self.is_known(file, path);
        match read_file(transcript, call, &file.path, self.uid, &may_open) {
            Ok((source, read)) => self.compare(transcript, call, source, &mut |view| {
                WholeOutput::File(Box::new(ReadFile { view, ..read.clone() }))
            }),
            Err(why) => Verdict::Unchecked(why.into()),
        }
    }

    /// Compares a result with what the policies make of a file, which is of one content.
    fn compare(
        &self,
        transcript: &Transcript,
        call: &Call,
        mut source: Source,
        whole: &mut dyn FnMut(MapView) -> WholeOutput,
    ) -> Verdict {
        let verdict = source.read_steadily(&mut || true, &mut |source| {
            self.verifier.verify(transcript, call, Some(&whole(source.view())))
        });
        verdict.unwrap_or(Verdict::Unchecked(Unchecked::Unsteady))
    }

    /// Calls `read` with the whole output of a call that was cut, of one content, if it is at hand: a spill or a whole copy.
    #[cfg(feature = "app")]
    pub(crate) fn read_whole<T>(
        &self,
        file: &SessionFile,
        transcript: &Transcript,
        call: &Call,
        read: &mut dyn FnMut(&MapView) -> T,
    ) -> Option<T> {
        let path = self.spill(file, call).and_then(|state| state.path().map(Path::to_owned));
        let is_open = path.is_some_and(|path| self.paths == Paths::Any || self.is_known(file, &path));
        if let Some((mut source, _)) = is_open.then(|| self.open(file, call)).flatten() {
            return source.read_steadily(&mut || true, &mut |source| read(&source.view())).ok();
        }
        let Some(WholeOutput::Display(bytes)) = whole_display(transcript, call) else { return None };
        MapView::of_bytes(&bytes).ok().map(|view| read(&view))
    }

    /// Opens the spill of a call, and returns the path that the agent gave it.
    fn open(&self, file: &SessionFile, call: &Call) -> Option<(Source, String)> {
        let cited = call.cites.first().map(|cite| cite.path.to_string_lossy().into_owned());
        let spill = self.spill(file, call).and_then(|state| Source::glance_at_entry(state.path()?).ok());
        spill.zip(cited)
    }
}
