//! The policy that cut each output, with its limits, resolved once for all outputs that it cut.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::config::{Config, EffectivePolicy, Overrides};

/// Finds policies for outputs; shared by threads.
pub(crate) struct CutPolicies<'a> {
    config: &'a Config,
    /// By the name of the policy; `None` for outputs outside all stores.
    known: Mutex<HashMap<Option<String>, Resolved>>,
}

/// A policy with its limits, or why it cannot be used.
type Resolved = Result<Arc<EffectivePolicy>, String>;

impl<'a> CutPolicies<'a> {
    /// Starts with none resolved.
    pub(crate) fn new(config: &'a Config) -> Self {
        Self { config, known: Mutex::default() }
    }

    /// Returns the policy that most likely cut the output at `path`, as [`Config::resolve`] does for one output.
    ///
    /// # Errors
    /// Why the policy cannot be used.
    pub(crate) fn of(&self, path: &Path) -> Resolved {
        let name = self.config.candidates(Some(path)).into_iter().next();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(resolved) = known.get(&name) {
            return resolved.clone();
        }
        let overrides = Overrides { policy: name.clone(), ..Overrides::default() };
        let resolved = self.config.resolve(&overrides, None).map(Arc::new).map_err(|error| error.to_string());
        known.insert(name, resolved.clone());
        resolved
    }
}
