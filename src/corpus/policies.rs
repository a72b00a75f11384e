//! The policy that cut each output, with its limits, resolved once for all outputs that it cut.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::config::{Config, EffectivePolicy, FileOrigin, Overrides};
use crate::store::StoreSpec;

/// Finds policies for outputs; shared by threads.
pub(crate) struct CutPolicies<'a> {
    config: &'a Config,
    /// By what decides; most outputs of a store agree in it.
    known: Mutex<HashMap<FileOrigin, ResolvedPolicy>>,
    /// The stores that can contain the files of a directory: to ask all of them for each file takes longer than to plan
    /// its preview.
    around: Mutex<HashMap<PathBuf, Arc<[Arc<StoreSpec>]>>>,
}

type ResolvedPolicy = Result<Arc<EffectivePolicy>, String>;

impl<'a> CutPolicies<'a> {
    pub(crate) fn new(config: &'a Config) -> Self {
        Self { config, known: Mutex::default(), around: Mutex::default() }
    }

    /// Returns the policy that most likely cut the output at `path`, as [`Config::resolve`] does for one output.
    pub(crate) fn resolve(&self, path: &Path) -> ResolvedPolicy {
        let stores = self.stores_around(path);
        let file = self.config.stored_file(&stores, path);
        let origin = file.map(|file| self.config.origin_of(&file)).unwrap_or_default();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(resolved) = known.get(&origin) {
            return resolved.clone();
        }
        let resolved = self.config.resolve(&Overrides::default(), Some(path));
        let resolved = resolved.map(Arc::new).map_err(|error| error.to_string());
        known.insert(origin, resolved.clone());
        resolved
    }

    /// Returns the stores that can contain the file at `path`.
    fn stores_around(&self, path: &Path) -> Arc<[Arc<StoreSpec>]> {
        let absolute = std::path::absolute(path).unwrap_or_default();
        let directory = absolute.parent().unwrap_or(Path::new(""));
        let mut around = self.around.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stores) = around.get(directory) {
            return stores.clone();
        }
        let stores: Arc<[_]> = self.config.stores_around(Some(path)).into();
        around.insert(directory.to_owned(), stores.clone());
        stores
    }
}
