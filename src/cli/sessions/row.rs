//! One call as `--json` prints it, and as table columns.

use std::path::Path;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::config::Config;
use crate::session::command::command;
use crate::session::mask::mask;
use crate::session::model::{Call, CutState};
use crate::session::reader::SessionFile;
use crate::session::sent::{self, BestResults};
use crate::session::spill::{SpillState, is_beside, state_of};
use crate::session::tally::length;
use crate::session::text;
use crate::session::transcript::Transcript;
use crate::session::verify::{Unchecked, Verdict, Verifier, WholeOutput, whole_display};
use crate::session::window::read_file;
use crate::source::Source;

/// Whether what looks like a secret is masked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Secrets {
    /// It is.
    Mask,
    /// It is not: the user asked for the records as they are.
    Show,
}

impl Secrets {
    /// Returns a text as it may be shown.
    pub(crate) fn shown(self, text: &str) -> String {
        match self {
            Self::Mask => mask(text).into_owned(),
            Self::Show => text.to_owned(),
        }
    }
}

/// One call as in `--json`. Times are RFC 3339, UTC; sizes are bytes of UTF-8.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct CallJson {
    pub id: String,
    session: String,
    agent: &'static str,
    version: Option<String>,
    pub thread: String,
    pub tool: String,
    pub command: String,
    pub at: Option<String>,
    pub status: &'static str,
    exit: Option<i32>,
    evidence: Option<&'static str>,
    pub got_bytes: Option<u64>,
    got_sha256: Option<String>,
    tokens_estimate: Option<u64>,
    pub cut: &'static str,
    pub spill: Option<String>,
    pub spill_state: Option<&'static str>,
    pub fate: Option<&'static str>,
    pub verify: Option<&'static str>,
}

/// Which spills may be opened: a path in the records is a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paths {
    /// Those in known stores, and in the agent's own directory.
    Known,
    /// Any regular file of the user's own.
    Any,
}

/// What a command works out about calls.
pub(crate) struct Looker<'a> {
    config: &'a Config,
    /// The session's file.
    pub file: &'a SessionFile,
    /// The session's calls.
    pub transcript: &'a Transcript,
    verifier: Verifier,
    paths: Paths,
}

impl<'a> Looker<'a> {
    /// Creates one for the calls of a session.
    pub(crate) fn new(
        config: &'a Config,
        file: &'a SessionFile,
        transcript: &'a Transcript,
        paths: Paths,
    ) -> Self {
        let verifier = Verifier::new(&config.catalog, transcript.agent);
        Self { config, file, transcript, verifier, paths }
    }

    /// Whether a spill lies where agents keep spills, so that it is opened unasked.
    pub(crate) fn is_known(&self, path: &Path) -> bool {
        self.config.stores.store_of(path, &self.config.env).is_some() || is_beside(path, &self.file.path)
    }

    /// Returns what is at the place that a call's result names.
    pub(crate) fn spill(&self, call: &Call) -> Option<SpillState> {
        state_of(call, &self.file.path, self.config.env.uid())
    }

    /// Returns the size of the whole output in bytes, if it is known.
    pub(crate) fn whole_bytes(&self, call: &Call) -> Option<u64> {
        let found = self.spill(call).and_then(|state| state.path()?.metadata().ok()).map(|meta| meta.len());
        found.or_else(|| call.cites.iter().find_map(|cite| cite.bytes))
    }

    /// Compares a call's result with what the policies make of the whole output.
    pub(crate) fn verify(&self, call: &Call) -> Verdict {
        if call.is_window {
            let may_open = |path: &Path| self.paths == Paths::Any || self.is_known(path);
            return match read_file(self.transcript, call, &self.file.path, self.config.env.uid(), &may_open) {
                Ok(file) => {
                    let whole = WholeOutput::File(Box::new(file));
                    self.verifier.verify(self.transcript, call, Some(&whole))
                }
                Err(why) => Verdict::Unchecked(why.into()),
            };
        }
        let is_cut = matches!(call.cut, CutState::Spill | CutState::Lost);
        let here = self.spill(call).and_then(|state| state.path().map(Path::to_owned)).filter(|_| is_cut);
        if here.is_some_and(|path| self.paths == Paths::Known && !self.is_known(&path)) {
            return Verdict::Unchecked(Unchecked::Outside);
        }
        let whole = is_cut.then(|| self.whole(call)).flatten();
        self.verifier.verify(self.transcript, call, whole.as_ref())
    }

    fn whole(&self, call: &Call) -> Option<WholeOutput> {
        let cited = call.cites.first().map(|cite| cite.path.to_string_lossy().into_owned());
        let spill = self.spill(call).and_then(|state| Source::glance_at_entry(state.path()?).ok());
        match (spill, cited) {
            (Some(source), Some(path)) => Some(WholeOutput::Spill(source.view(), path)),
            _ => whole_display(self.transcript, call),
        }
    }

    /// Returns the results of a call by the best evidence.
    pub(crate) fn best(&self, call: &Call) -> BestResults {
        sent::best(self.transcript, call)
    }

    /// Returns the length in bytes of the result as the model first saw it.
    pub(crate) fn got(&self, call: &Call) -> Option<u64> {
        self.best(call).first().and_then(|first| length(self.transcript, first))
    }

    /// Returns the one line that says what a call did.
    pub(crate) fn command(&self, call: &Call, secrets: Secrets) -> String {
        secrets.shown(&command(self.transcript, call))
    }

    /// Works out everything about a call.
    pub(crate) fn json(&self, call: &Call, secrets: Secrets) -> CallJson {
        let mut hash = Sha256::new();
        let best = self.best(call);
        let measured = best.first().and_then(|first| {
            let mut take = |piece: &str| {
                hash.update(piece);
                true
            };
            text::decode(self.transcript, &first.pieces, &mut take).ok()
        });
        let spill = self.spill(call);
        let thread = self.transcript.thread(call);
        CallJson {
            id: call.id.to_string(),
            session: self.file.id.clone(),
            agent: self.transcript.agent,
            version: self.transcript.facts.version.clone(),
            thread: thread.map_or_else(String::new, |thread| thread.name.to_string()),
            tool: self.transcript.tool(call).to_owned(),
            command: self.command(call, secrets),
            at: call.at.map(|at| at.to_string()),
            status: call.status.as_str(),
            exit: call.exit,
            evidence: best.first().map(|first| first.evidence.as_str()),
            got_bytes: measured.map(|facts| facts.bytes),
            got_sha256: measured.map(|_| format!("{:x}", hash.finalize())),
            tokens_estimate: call.tokens.or_else(|| measured.map(|facts| facts.bytes.div_ceil(4))),
            cut: call.cut.as_str(),
            spill: call.cites.first().map(|cite| cite.path.to_string_lossy().into_owned()),
            spill_state: spill.as_ref().map(SpillState::as_str),
            fate: best.first().map(|first| first.fate.as_str()),
            verify: call.is_partial().then(|| self.verify(call).as_str()),
        }
    }
}
