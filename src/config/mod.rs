//! Selects the policy and its limits: from flags, the configuration file, the agent's settings and the policy; or from
//! a notice that it wrote.

mod agent;
mod effective;
mod fault;
mod file;
mod overrides;
pub(crate) mod recognise;
mod stored;
mod theme;

use std::path::{Path, PathBuf};

use crate::base::provenance::Certainty;
use crate::preview::{Catalog, ParamRole, Policy};
use crate::store::{Env, LazyStores, OWN, Record, RunRecord};
use crate::text::search::{Pattern, SeverityPatterns};

pub(crate) use agent::settings;
pub use effective::{EffectiveSetting, KEEP_OWN, SettingFrom};
pub use fault::{FaultScope, FileFault, RequiredSettings};
pub use file::{FileConfig, HookConfig, KeySetting, MAX_NOTE, MouseConfig, Parameters, ToolConfig};
pub use overrides::{
    ChosenBy, EffectivePolicy, LimitsFrom, OverrideError, Overrides, POLICY_VARIABLE, Resolution,
};
use overrides::{apply, is_limit, plain, set_limits, text_of};
pub(crate) use stored::{FileOrigin, StoredFile};
pub use theme::{Backdrop, BaseTheme, Role, ThemeConfig};

pub const DEFAULT_POLICY: &str = "opencode/output";

/// The existing policies, and what selects among them.
#[derive(Clone)]
pub struct Config {
    pub catalog: Catalog,
    pub stores: LazyStores,
    pub env: Env,
    pub(crate) file: FileConfig,
    faults: Vec<FileFault>,
    /// The configuration file, whether it exists or not.
    pub(crate) file_path: Option<PathBuf>,
    directory: PathBuf,
}

impl Config {
    /// Returns only the built-in policies and stores.
    pub fn builtin(env: Env) -> Self {
        let directory = std::env::current_dir().unwrap_or_default();
        Self {
            catalog: Catalog::builtin(),
            stores: LazyStores::default(),
            env,
            file: FileConfig::default(),
            faults: Vec::new(),
            file_path: None,
            directory,
        }
    }

    /// Adds the user's own files in `$XDG_CONFIG_HOME/overspill`; what cannot be used is among [`Config::faults`].
    pub fn load(env: Env) -> Self {
        Self::load_from(env, None)
    }

    /// Same as [`Config::load`], with another file in the place of `config.toml` if one is given.
    pub fn load_from(env: Env, file: Option<&Path>) -> Self {
        let mut config = Self::builtin(env);
        let Some(home) = config.home() else {
            file.into_iter().for_each(|file| config.read_file(file.to_owned()));
            return config;
        };
        // The catalog remembers all faults itself.
        let _ = config.catalog.load_dir(&home.join("policies"));
        let of_policy = |words| FileFault { words, scope: FaultScope::Policy };
        config.faults = config.catalog.faults().map(|fault| of_policy(fault.to_string())).collect();
        let stores = config.stores.load_any(&home.join("stores")).into_iter();
        config.faults.extend(stores.map(|words| FileFault { words, scope: FaultScope::Store }));
        config.read_file(file.map_or_else(|| home.join("config.toml"), Path::to_owned));
        config
    }

    fn read_file(&mut self, path: PathBuf) {
        let (file, faults) = FileConfig::read(&path, &self.catalog);
        for (scope, words) in faults {
            if matches!(scope, FaultScope::Settings | FaultScope::Retention) {
                self.stores.change(|stores| stores.distrust(OWN));
            }
            self.faults.push(FileFault { words: format!("{}:{words}", path.display()), scope });
        }
        if let Some(age) = file.text("keep_own").and_then(file::parse_retention) {
            self.stores.change(|stores| stores.keep_own_for(age));
        }
        (self.file, self.file_path) = (file, Some(path));
    }

    /// Leaves out the user's own keys because of a fault in them.
    pub fn drop_keys(&mut self, line: usize, words: &str) {
        self.file.keys.clear();
        self.file.written.retain(|name, _| !name.starts_with("keys."));
        self.add_fault(FaultScope::Screens, line, words);
    }

    /// Adds a fault at a line of the configuration file, 1-based.
    pub(crate) fn add_fault(&mut self, scope: FaultScope, line: usize, words: &str) {
        let path = self.file_path.as_deref().unwrap_or(Path::new("config.toml"));
        self.faults.push(FileFault { words: format!("{}:{line}: {words}", path.display()), scope });
    }

    pub fn faults(&self) -> &[FileFault] {
        &self.faults
    }

    /// Returns the same without the user's own policies and without `config.toml`.
    pub fn without_own(&self) -> Self {
        let (stores, env, directory) = (self.stores.clone(), self.env.clone(), self.directory.clone());
        Self { stores, directory, ..Self::builtin(env) }
    }

    pub fn severities(&self) -> SeverityPatterns {
        let own = |name| Pattern::to_line_end(self.file.text(name)?).ok();
        SeverityPatterns { own: ["errors", "warnings"].map(own) }
    }

    /// Returns the directory of the user's own files; `None` if there is no home directory.
    pub fn home(&self) -> Option<PathBuf> {
        self.env.dir_or("XDG_CONFIG_HOME", ".config").map(|home| home.join("overspill"))
    }

    /// Returns the policy for the output at `path`, with its effective limits.
    pub fn resolve(&self, overrides: &Overrides, path: Option<&Path>) -> Resolution {
        let file = path.and_then(|path| self.stored_file(path));
        let (mut policy, chosen_by, kind) = self.choose(overrides, file.as_ref())?;
        if let Some(kind) = kind {
            let key = policy.key(ParamRole::Tool).map(str::to_owned);
            policy.set(&key.ok_or_else(|| OverrideError::NoTool(policy.name().to_owned()))?, &kind)?;
        }
        file.iter().for_each(|file| file.set_parameters(&mut policy));
        let partial = file.as_ref().and_then(StoredFile::warn_of_length);
        let is_partial = partial.is_some();
        let mut warnings = Vec::from_iter(partial);
        let mut limits_from = LimitsFrom::Policy;
        let record = file.as_ref().and_then(|file| file.record.as_ref());
        let run = file.as_ref().and_then(StoredFile::run);
        warnings.extend(file.as_ref().and_then(|file| self.warn_of_cut(file)));
        let cut = record.map(Record::cut_policies).filter(|(policies, ..)| {
            matches!(chosen_by, ChosenBy::Store(_))
                && policies.first().map(String::as_str) == Some(policy.name())
        });
        if let Some((_, parameters, from)) = cut {
            // Limits that held when the command ran or the output was kept, not those of today.
            let tool = policy.key(ParamRole::Tool).filter(|_| overrides.tool.is_some()).map(str::to_owned);
            for (key, value) in parameters.iter().filter(|(key, _)| Some(*key) != tool.as_ref()) {
                policy.set_recorded(key, value)?;
            }
            limits_from = LimitsFrom::Record(from.to_owned());
        } else {
            if let Some(limits) = agent::limits(&policy, &self.directory, &self.env, &mut warnings) {
                let [lines, size] = [limits.lines, limits.size].map(|limit| limit.map(|(limit, _)| limit));
                set_limits(&mut policy, lines, size)?;
                limits_from = LimitsFrom::Agent(limits.path);
            }
            if self.apply_file(&mut policy, overrides)? {
                limits_from = LimitsFrom::Config(self.file_path.clone().unwrap_or_default());
            }
        }
        let of_agent = policy.clone();
        if apply(&mut policy, overrides)? {
            limits_from = LimitsFrom::Flags;
        }
        let is_recorded = cut.is_some() && !is_partial && overrides.tool.is_none();
        let certainty = match policy.is_same(&of_agent) {
            true => self.certainty(&policy, run.filter(|_| is_recorded), file.as_ref()),
            false => Certainty::WouldGet,
        };
        Ok(EffectivePolicy {
            is_current: self.catalog.is_current(&policy),
            policy,
            limits_from,
            chosen_by,
            certainty,
            exit_code: run.and_then(RunRecord::notice_exit_code),
            is_partial,
            is_own: run.is_some(),
            warnings,
            store_warnings: file.map(|file| self.warnings_of(&file)).unwrap_or_default(),
        })
    }

    /// Same as [`Config::resolve`] for a new output: a tool that the policy does not know changes nothing.
    pub(crate) fn resolve_new(&self, overrides: &Overrides) -> Resolution {
        let resolved = self.resolve(overrides, None);
        let without = || Overrides { tool: None, ..overrides.clone() };
        if let Err(OverrideError::NoTool(_)) = resolved { self.resolve(&without(), None) } else { resolved }
    }

    /// Same as [`Config::resolve`] for the policy of this name, whatever the output.
    pub(crate) fn resolve_named(&self, name: &str) -> Resolution {
        self.resolve(&Overrides { policy: Some(name.to_owned()), ..Overrides::default() }, None)
    }

    /// Same as [`Config::resolve`] for the policy of a recorded call; `path` is that of its spill.
    pub(crate) fn resolve_own(&self, own: &Policy, overrides: &Overrides, path: Option<&Path>) -> Resolution {
        let file = path.and_then(|path| self.stored_file(path));
        let store_warnings = file.map(|file| self.warnings_of(&file)).unwrap_or_default();
        let mut policy = own.clone();
        let limits_from = if apply(&mut policy, overrides)? { LimitsFrom::Flags } else { LimitsFrom::Policy };
        let certainty = if policy.is_same(own) { Certainty::Reconstructed } else { Certainty::WouldGet };
        let is_current = self.catalog.is_current(&policy);
        let chosen = EffectivePolicy::chosen(policy, is_current);
        Ok(EffectivePolicy { limits_from, certainty, store_warnings, ..chosen })
    }

    /// Returns how sure it is that the model got what the policy makes, with the limits of `run` if there is one, of which the file has all.
    fn certainty(&self, policy: &Policy, run: Option<&RunRecord>, file: Option<&StoredFile>) -> Certainty {
        match run {
            // One preview of two spills.
            Some(run) if run.split && policy.takes_stderr() => Certainty::WouldGet,
            Some(run) if run.agent.is_some() => Certainty::Reconstructed,
            Some(run) if run.exit.is_some() => Certainty::Recorded,
            Some(_) => Certainty::WouldGet,
            None if file.is_some_and(|file| self.is_of_agent(policy, file)) => Certainty::Reconstructed,
            None => Certainty::WouldGet,
        }
    }

    /// Returns the policy for the output of a failing command, if the agent uses another there.
    pub fn failed_policy(&self, policy: &Policy) -> Result<Option<Policy>, OverrideError> {
        policy.failed().map(|name| Ok(self.resolve_named(name)?.policy)).transpose()
    }

    /// Returns the policy, what chose it, and the `--tool` that remains for the policy itself.
    fn choose(
        &self,
        overrides: &Overrides,
        file: Option<&StoredFile>,
    ) -> Result<(Policy, ChosenBy, Option<String>), OverrideError> {
        let tool = overrides.tool.clone();
        if let Some(name) = &overrides.policy {
            let (name, kind) = join_agent(name, tool);
            return Ok((self.catalog.get(&name)?, ChosenBy::Person, kind));
        }
        let variable = self.variable();
        let configured = tool.as_ref().and_then(|tool| self.file.tools.get(tool));
        if let (None, Some(name)) = (&variable, configured.and_then(|tool| tool.policy.as_ref())) {
            let policy = self.catalog.get(name)?;
            let kind = tool.filter(|_| policy.key(ParamRole::Tool).is_some());
            return Ok((policy, ChosenBy::Person, kind));
        }
        let candidates = file.map(|file| self.candidates_of(file)).unwrap_or_default();
        if let Some(name) = candidates.first() {
            return Ok((self.catalog.get(name)?, ChosenBy::Store(candidates), tool));
        }
        if let Some(name) = variable {
            let (name, kind) = join_agent(&name, tool);
            let policy = self.catalog.get(&name).map_err(OverrideError::Variable)?;
            return Ok((policy, ChosenBy::Variable, kind));
        }
        let name = self.file.text("policy").unwrap_or(DEFAULT_POLICY);
        let (name, kind) =
            if configured.is_none() { join_agent(name, tool) } else { (name.to_owned(), tool) };
        let policy = self.catalog.get(&name)?;
        let kind = kind.filter(|_| configured.is_none() || policy.key(ParamRole::Tool).is_some());
        Ok((policy, ChosenBy::Person, kind))
    }

    fn variable(&self) -> Option<String> {
        self.env.var(POLICY_VARIABLE).map(|name| name.to_string_lossy().into_owned())
    }

    /// Applies what the file sets for this policy, then for this tool; returns whether that includes a limit.
    fn apply_file(&self, policy: &mut Policy, overrides: &Overrides) -> Result<bool, OverrideError> {
        let of_policy = self.file.limits.get(policy.name());
        let of_tool =
            overrides.tool.as_ref().and_then(|tool| self.file.tools.get(tool)).map(|tool| &tool.parameters);
        let mut any = false;
        for (key, value) in of_policy.into_iter().chain(of_tool).flatten() {
            let value = plain(policy, key, text_of(value));
            let path = self.file_path.clone().unwrap_or_default();
            policy.set(key, &value).map_err(|error| OverrideError::Config { path, error })?;
            any |= is_limit(policy, key);
        }
        Ok(any)
    }
}

/// Joins the name of an agent with a tool; any other policy has the tool to itself.
fn join_agent(policy: &str, tool: Option<String>) -> (String, Option<String>) {
    match tool {
        Some(tool) if !policy.contains('/') => (format!("{policy}/{tool}"), None),
        tool => (policy.to_owned(), tool),
    }
}

#[cfg(test)]
mod tests;
