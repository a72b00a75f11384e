//! The policy that cut each output, with its limits, resolved once for all outputs that it cut.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::config::{Config, EffectivePolicy, FileOrigin, Overrides};

/// Finds policies for outputs; shared by threads.
pub(crate) struct CutPolicies<'a> {
    config: &'a Config,
    /// By what decides; most outputs of a store agree in it.
    known: Mutex<HashMap<FileOrigin, Resolved>>,
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
        let origin = self.config.file_origin(path);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(resolved) = known.get(&origin) {
            return resolved.clone();
        }
        let policy = self.config.by_origin(origin.clone()).into_iter().next();
        let (overrides, path) = match origin.is_recorded() {
            true => (Overrides::default(), Some(path)),
            false => (Overrides { policy, ..Overrides::default() }, None),
        };
        let resolved = self.config.resolve(&overrides, path).map(Arc::new).map_err(|error| error.to_string());
        known.insert(origin, resolved.clone());
        resolved
    }
}
