//! What can be worked out about a call: what is at the place of its spill, and whether a policy makes its result.

#[cfg(feature = "app")]
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::source::{MapView, Source};

use super::counterpart::requested_window;
use super::model::{Call, Citation, CutState};
use super::reader::SessionFile;
use super::sent::{self, BestResult};
use super::spill::{SpillState, is_beside, look_for, state_of};
use super::transcript::Transcript;
use super::verify::{Counterpart, NoVerdict, Verdict, Verifier, WholeOutput, whole_display};

/// Which spills may be opened: a path in the records is a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paths {
    /// Those in known stores, and in the agent's own directory.
    Known,
    /// Any regular file of the user's own.
    Any,
}

/// What is left of the output that the result was cut from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestOfOutput {
    /// The output is at hand: in its spill, or in a copy that is known to be whole.
    Here,
    /// The agent did not cut it, so the recorded text is all of it.
    NotCut,
    /// Only the recorded text is left, for this reason.
    Missing(&'static str),
    /// It is not recorded whether the agent cut the output, so the recorded text may be all of it.
    Unknown,
}

#[derive(Debug, Clone)]
pub enum OutputPlace {
    /// A file in a known store, or beside the records.
    File(PathBuf),
    /// Memory: a copy that is whole, or the recorded text itself.
    Memory(MapView),
}

pub struct Examiner {
    pub verifier: Verifier,
    pub in_store: Arc<dyn Fn(&Path) -> bool + Send + Sync>,
    /// The user who owns the spills that count.
    pub uid: u32,
    pub paths: Paths,
}

#[derive(Clone, Copy)]
pub struct CallInspector<'a> {
    pub examiner: &'a Examiner,
    pub file: &'a SessionFile,
    pub transcript: &'a Transcript,
    /// The kept copy of the spill, which is looked at in its place.
    pub copy: Option<&'a Path>,
}

impl CallInspector<'_> {
    /// Returns what is at the place that a call's result names; `None` if it names none.
    pub fn spill(&self, call: &Call) -> Option<SpillState> {
        let copy = self.copy.map(|copy| SpillState::Here(copy.to_owned()));
        copy.or_else(|| state_of(call, &self.file.path, self.examiner.uid))
    }

    /// Whether a spill lies where agents keep spills, so that it may be opened without `--any-path`.
    pub fn is_known(&self, path: &Path) -> bool {
        (self.examiner.in_store)(path) || is_beside(path, &self.file.path)
    }

    fn may_open(&self, path: &Path, paths: Paths) -> bool {
        paths == Paths::Any || self.is_known(path)
    }

    pub fn whole_bytes(&self, call: &Call) -> Option<u64> {
        let found = self.spill(call).and_then(|state| state.path()?.metadata().ok());
        let claimed = || call.cites.iter().find_map(|cite| cite.bytes);
        let display = || whole_display(self.transcript, call).map(|whole| whole.view.len() as u64);
        let display = || (call.cut != CutState::No).then(display).flatten();
        found.map(|meta| meta.len()).or_else(claimed).or_else(display)
    }

    pub fn best(&self, call: &Call) -> BestResult {
        sent::best(self.transcript, call)
    }

    /// Compares the result that the model first saw with what the policies make of the whole output.
    pub fn verify(&self, call: &Call) -> Verdict {
        let opened = match (call.is_window, call.is_cut()) {
            (true, _) => self.open_file(call),
            (false, true) => self.open(call),
            (false, false) => Err(NoVerdict::NotCut),
        };
        match opened {
            Ok((mut source, whole)) => {
                let verdict = source.read_steadily(&mut || true, &mut |source| {
                    let whole = WholeOutput { view: source.view(), ..whole.clone() };
                    self.examiner.verifier.verify(self.transcript, call, Some(&whole))
                });
                verdict.unwrap_or(Verdict::Unchecked(NoVerdict::Unsteady))
            }
            Err(why) if call.is_window || why == NoVerdict::Outside => Verdict::Unchecked(why),
            Err(_) => {
                let copy = call.is_cut().then(|| whole_display(self.transcript, call)).flatten();
                self.examiner.verifier.verify(self.transcript, call, copy.as_ref())
            }
        }
    }

    /// Calls `read` with the whole output of a call that was cut, of one content, if it is at hand: a spill or a whole copy.
    #[cfg(feature = "app")]
    pub(crate) fn read_whole<T>(&self, call: &Call, read: &mut dyn FnMut(&MapView) -> T) -> Option<T> {
        if let Ok((mut source, _)) = self.open(call) {
            return source.read_steadily(&mut || true, &mut |source| read(&source.view())).ok();
        }
        whole_display(self.transcript, call).map(|whole| read(&whole.view))
    }

    /// Returns where the whole output is, and what is left of it: a spill if it lies in one of these places, else a copy
    /// that is whole, else `text`, which is the result.
    ///
    /// # Errors
    /// There is no memory for a text.
    #[cfg(feature = "app")]
    pub(crate) fn output(
        &self,
        call: &Call,
        text: &str,
        paths: Paths,
    ) -> io::Result<(OutputPlace, RestOfOutput)> {
        let spill = self.spill(call);
        if let Some(SpillState::Here(path)) = &spill
            && call.is_cut()
            && self.may_open(path, paths)
        {
            return Ok((OutputPlace::File(path.clone()), RestOfOutput::Here));
        }
        if call.cut != CutState::No
            && let Some(whole) = whole_display(self.transcript, call)
        {
            return Ok((OutputPlace::Memory(whole.view), RestOfOutput::Here));
        }
        let rest = match (call.cut, spill) {
            (CutState::NoSpill, _) => RestOfOutput::Missing("the agent cut it and never kept the rest"),
            (CutState::Spill, Some(SpillState::Here(_))) => {
                RestOfOutput::Missing("its spill is in no known store, and is not opened unasked")
            }
            (CutState::Spill, Some(SpillState::Other(_))) => {
                RestOfOutput::Missing("another file is where its spill was")
            }
            (CutState::Spill, _) => RestOfOutput::Missing("spill deleted"),
            (CutState::Unknown, _) => RestOfOutput::Unknown,
            (CutState::No, _) => RestOfOutput::NotCut,
        };
        Ok((OutputPlace::Memory(MapView::from_bytes(text.as_bytes())?), rest))
    }

    fn open(&self, call: &Call) -> Result<(Source, WholeOutput), NoVerdict> {
        let spill = self.spill(call);
        let path = spill.as_ref().and_then(SpillState::path).ok_or(NoVerdict::NoSpill)?;
        if !self.may_open(path, self.examiner.paths) {
            return Err(NoVerdict::Outside);
        }
        let source = Source::open_entry_unlocked(path).map_err(|_| NoVerdict::NoSpill)?;
        let cited = call.cites.first().map(|cite| cite.path.to_string_lossy().into_owned());
        let whole = WholeOutput::new(source.view(), Counterpart::Spill, cited.unwrap_or_default());
        Ok((source, whole))
    }

    /// Opens the file of which a call gave a window.
    fn open_file(&self, call: &Call) -> Result<(Source, WholeOutput), NoVerdict> {
        let window = requested_window(self.transcript, call).ok_or(NoVerdict::NoFile)?;
        let claim = Citation::new(window.path.clone());
        let found = look_for(&claim, &self.file.path, self.examiner.uid);
        let path = found.path().ok_or(NoVerdict::NoFile)?;
        if !self.may_open(path, self.examiner.paths) {
            return Err(NoVerdict::Outside);
        }
        let source = Source::open_entry_unlocked(path).map_err(|_| NoVerdict::NoFile)?;
        let modified = path.metadata().and_then(|meta| meta.modified()).ok();
        let read_at = call.first().and_then(|first| first.at).or(call.at).map(SystemTime::from);
        let is_changed = modified.zip(read_at).is_none_or(|(modified, read_at)| modified > read_at);
        let whole = WholeOutput::new(source.view(), Counterpart::File, window.named.clone());
        Ok((source, WholeOutput { window: Some(window), is_changed, ..whole }))
    }
}

#[cfg(feature = "app")]
#[cfg(test)]
mod tests {
    use crate::preview::Catalog;

    use super::super::model::SessionFacts;
    use super::*;

    fn examiner(agent: &str) -> Examiner {
        let verifier = Verifier::new(&Catalog::builtin(), agent);
        Examiner { verifier, in_store: Arc::new(|_| false), uid: 0, paths: Paths::Known }
    }

    #[test]
    fn the_rest_is_unknown_unless_recorded_as_not_cut() {
        let examiner = examiner("x");
        let facts = SessionFacts::default();
        let (path, id) = (PathBuf::from("/x"), String::new());
        let file = SessionFile { format: "x", path, id, size: 0, modified: None, facts };
        let transcript = Transcript::new("x");
        let inspector =
            CallInspector { examiner: &examiner, file: &file, transcript: &transcript, copy: None };
        let rest = |cut| {
            let call = Call { cut, ..Call::new("c", 0, 0) };
            inspector.output(&call, "got", Paths::Known).unwrap().1
        };
        assert_eq!(rest(CutState::No), RestOfOutput::NotCut);
        assert_eq!(rest(CutState::Unknown), RestOfOutput::Unknown);
    }

    /// Commands open many sessions to find one call.
    #[test]
    fn parses_policies_only_for_the_first_comparison() {
        let parsed = crate::preview::PARSED.get();
        let examiner = examiner("pi");
        assert_eq!(crate::preview::PARSED.get(), parsed);
        assert!(examiner.verifier.notices_in("x").is_empty());
        assert!(crate::preview::PARSED.get() > parsed);
    }
}
