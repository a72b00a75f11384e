//! What the command line lends to the screens: the stores, and the functions that go by the configuration.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

use crate::config::EffectivePolicy;
use crate::corpus::{FindEnd, FoundLine, TuneFault, TuneRequest, TuneRun};
use crate::preview::Catalog;
use crate::session::examine::{Examiner, Paths};
use crate::session::list;
use crate::session::reader::SessionFile;
use crate::source::Hold;
use crate::store::{Env, Stores};
use crate::text::search::{Pattern, SeverityPatterns};

use super::target::Target;

/// Opens an output by its path, or returns an error message.
type Opener = dyn Fn(&Path, Hold) -> Result<Target, String> + Send + Sync;

/// Finds the matching lines of all stored outputs: asks whether to go on, and passes on lines until nobody takes them.
type Finder = dyn Fn(&Pattern, &(dyn Fn() -> bool + Sync), &mut (dyn FnMut(Vec<FoundLine>) -> bool + Send)) -> FindEnd
    + Send
    + Sync;

/// Loads the policy of a name, or all policies, with their limits.
type PolicyLoader = dyn Fn(Option<&str>) -> Vec<EffectivePolicy> + Send + Sync;

/// What the command line lends to the screens.
pub struct Services {
    pub open: Box<Opener>,
    pub find: Box<Finder>,
    /// Lists outputs, and resolves the policies to measure them under.
    pub prepare_tuning: Box<dyn Fn(TuneRequest) -> Result<TuneRun, TuneFault> + Send + Sync>,
    pub load_policies: Box<PolicyLoader>,
    /// Makes an examiner of the calls of an agent's sessions.
    pub examiner: Box<dyn Fn(&str) -> Examiner + Send + Sync>,
    /// The stores to browse.
    pub stores: Stores,
    /// The environment in which the stores lie.
    pub env: Env,
    /// What is an error or a warning.
    pub severities: SeverityPatterns,
    /// The sessions as they were listed last, and when.
    pub sessions: SessionsListed,
}

impl Services {
    /// Returns services that find nothing, for tests.
    pub fn none(env: Env) -> Self {
        Self {
            open: Box::new(|path, _| Err(format!("{}: not opened", path.display()))),
            find: Box::new(|_, _, _| FindEnd::default()),
            prepare_tuning: Box::new(|_| Err(TuneFault::Empty(Vec::new()))),
            load_policies: Box::new(|_| Vec::new()),
            examiner: Box::new(|agent| {
                Examiner::new(&Catalog::builtin(), agent, Arc::new(|_| false), 0, Paths::Known)
            }),
            stores: Stores::builtin(),
            env,
            severities: SeverityPatterns::default(),
            sessions: SessionsListed::default(),
        }
    }
}

/// The sessions as they were listed last, shared by all searches for calls.
#[derive(Debug, Default)]
pub struct SessionsListed(Mutex<Option<(Timestamp, Arc<Vec<SessionFile>>)>>);

impl SessionsListed {
    /// Returns the sessions as they were at a time or later. A session begins before its outputs are written, so a list
    /// that is younger than an output has its session.
    pub(crate) fn since(&self, time: Timestamp, env: &Env) -> Arc<Vec<SessionFile>> {
        let mut listed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, sessions)) = listed.as_ref().filter(|(at, _)| *at > time) {
            return sessions.clone();
        }
        let at = crate::env::now();
        let sessions = Arc::new(list::list(env, None, &()).sessions);
        *listed = Some((at, sessions.clone()));
        sessions
    }
}
