//! What the model got of each output of a corpus: as the agent recorded it, else by the policy that cut it.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::base::provenance::Certainty;
use crate::config::Config;
use crate::preview::{Policy, TotalsFor};
use crate::session::command::command;
use crate::session::examine::{CallInspector, Examiner, Paths};
use crate::session::spill::{SessionsCache, is_beside};
use crate::session::text;
use crate::session::verify::Verifier;
use crate::store::RecordedFile;

use super::got::CutLimit;
use super::{CorpusOutput, CutPolicies, Receipt, ResolvedPolicy};

/// The longest result, in bytes, that is set beside its output.
const MAX_RESULT: usize = 1 << 20;

/// The results of all outputs take this many bytes at most, since they are held until the search ends.
const MAX_RESULTS: usize = 128 << 20;

/// Finds what the model got of the outputs of a corpus. The first question about an agent looks for the records of all
/// its outputs, in one pass over the sessions.
pub(crate) struct Receipts<'a> {
    policies: CutPolicies<'a>,
    sessions: Arc<SessionsCache>,
    outputs: &'a [CorpusOutput],
    is_wanted: &'a (dyn Fn() -> bool + Sync),
    recorded: OnceLock<HashMap<RecordedFile, RecordedOutput>>,
}

/// What the model got of an output, and how that is known.
pub(crate) struct FoundReceipt {
    pub receipt: Receipt,
    /// The policy that most likely cut it, or why there is none.
    pub policy: ResolvedPolicy,
    /// Whether it is as the agent recorded it, not as that policy makes it.
    pub is_recorded: bool,
    /// `None` if it is not recorded and there is no policy.
    pub certainty: Option<Certainty>,
    /// What its call did, as the model wrote it; empty if that is not recorded.
    pub command: Arc<str>,
}

struct RecordedOutput {
    command: Arc<str>,
    /// The text that the model got, and the limit that cut it, if that is proven; `None` if the text cannot be read, or is
    /// too long.
    got: Option<(Box<str>, Option<CutLimit>)>,
}

/// Whether a path that an agent names may be opened: it is in a known store, or beside the agent's records.
pub(crate) fn is_known(config: &Config, path: &Path, records: Option<&Path>) -> bool {
    config.stores.store_of(path, &config.env).is_some()
        || records.is_some_and(|records| is_beside(path, records))
}

impl<'a> Receipts<'a> {
    /// Looks for records until `is_wanted` says no.
    pub(crate) fn new(
        config: &'a Config,
        sessions: Arc<SessionsCache>,
        outputs: &'a [CorpusOutput],
        is_wanted: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        Self { policies: CutPolicies::new(config), sessions, outputs, is_wanted, recorded: OnceLock::new() }
    }

    pub(crate) fn find(&self, output: &CorpusOutput, bytes: &[u8]) -> FoundReceipt {
        let policy = self.policies.resolve(&output.path());
        let all = || self.recorded.get_or_init(|| self.find_recorded());
        let recorded = self.policies.recorded_file(output).and_then(|file| all().get(&file));
        let by = policy.as_ref().ok();
        let got = recorded.and_then(|recorded| recorded.got.as_ref());
        let (receipt, certainty) = match got {
            Some((text, limit)) => (Receipt::from_text(text, bytes, *limit), Some(Certainty::Recorded)),
            None => {
                let new = |by: &Arc<_>| Receipt::new(bytes, &output.saved_as(), by, TotalsFor::Ranges);
                (by.map_or(Receipt::UNKNOWN, new), by.map(|by| by.certainty))
            }
        };
        let command = recorded.map(|recorded| recorded.command.clone()).unwrap_or_default();
        FoundReceipt { receipt, policy, is_recorded: got.is_some(), certainty, command }
    }

    /// Finds the calls that name the outputs, reading each session once.
    fn find_recorded(&self) -> HashMap<RecordedFile, RecordedOutput> {
        let known = |output: &'a CorpusOutput| Some((self.policies.recorded_file(output)?, output.path()));
        let outputs: BTreeMap<RecordedFile, Cow<Path>> = self.outputs.iter().filter_map(known).collect();
        let (files, paths): (Vec<RecordedFile>, Vec<Cow<Path>>) = outputs.into_iter().unzip();
        let (mut recorded, mut room, mut examiners) = (HashMap::new(), MAX_RESULTS, HashMap::new());
        let config = self.policies.config;
        self.sessions.find_all(&files, &config.env, &self.is_wanted, &mut |n, found| {
            let Some((file, opened, call)) = found else { return };
            let transcript = opened.transcript();
            let new = |agent: &&str| examiner(config, agent, Paths::Known);
            let examiner = examiners.entry(transcript.agent).or_insert_with_key(new);
            let inspector = CallInspector { examiner, file, transcript, copy: Some(&paths[n]) };
            let got = inspector.best(call).first.as_ref().and_then(|first| {
                let (text, facts) = text::to_text(transcript, &first.pieces, MAX_RESULT.min(room)).ok()?;
                (!facts.is_stopped).then(|| (text.into_boxed_str(), inspector.verify(call).cut_by()))
            });
            room -= got.as_ref().map_or(0, |(text, _)| text.len());
            let command = command(transcript, call).into();
            recorded.insert(files[n].clone(), RecordedOutput { command, got });
        });
        recorded
    }
}

/// Returns what examines the calls of an agent, with the policies of the configuration.
pub(crate) fn examiner(config: &Config, agent: &str, paths: Paths) -> Examiner {
    let (stores, env, set) = (config.stores.clone(), config.env.clone(), config.clone());
    let in_store = Arc::new(move |path: &Path| stores.store_of(path, &env).is_some());
    let as_set = move |policy: &Policy| Some(set.resolve_named(policy.name()).ok()?.policy);
    let verifier = Verifier::new(&config.catalog, agent).with_settings(as_set);
    Examiner { verifier, in_store, uid: config.env.uid(), paths }
}
