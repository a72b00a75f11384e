//! What the store of a file says about it: the policies that may have cut it, its record, and its warnings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::base::provenance::Warning;
use crate::preview::Policy;
use crate::store::{FileRule, OWN, Record, RecordedFile, RunRecord, StoreSpec, store_among};

use super::Config;

pub(crate) struct StoredFile {
    /// Its absolute path; links are not resolved.
    path: PathBuf,
    spec: Arc<StoreSpec>,
    rule: FileRule,
    /// The parameters that its path gives, unchecked.
    set: BTreeMap<String, String>,
    /// What overspill recorded of it; none if the policy that is named there does not take the recorded parameters.
    pub(super) record: Option<Record>,
}

/// The policies that its record or its store names, the day on which it was made, which decides among these, and the
/// parameters that its path gives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct FileOrigin {
    pub(crate) policies: Vec<String>,
    day: Option<Date>,
    record: Option<Record>,
    set: BTreeMap<String, String>,
}

impl StoredFile {
    /// Sets what its path gives of the parameters of a policy that may have cut it. A name can hold anything: what a
    /// parameter does not take is left out.
    pub(super) fn set_parameters(&self, policy: &mut Policy) {
        if self.rule.policies.iter().any(|name| name == policy.name()) {
            self.set.iter().for_each(|(key, value)| drop(policy.set(key, value)));
        }
    }

    /// Returns the day on which an agent cut it: by the time in its name, or else by its modification time.
    fn day(&self) -> Option<Date> {
        let made = match &self.record {
            Some(Record::Run(_)) => return None,
            Some(Record::Copy(copy)) => copy.modified,
            None => {
                let modified = Timestamp::try_from(self.path.metadata().ok()?.modified().ok()?).ok()?;
                self.rule.made(self.path.file_name()?, modified).unwrap_or(modified)
            }
        };
        Some(made.to_zoned(TimeZone::UTC).date())
    }

    /// Returns the agent that stored it, or the original of which it is a kept copy.
    pub(crate) fn agent(&self) -> &str {
        if let Some(Record::Copy(copy)) = &self.record { &copy.agent } else { &self.spec.agent }
    }

    /// Returns the path of its original, if it is a kept copy.
    fn original(&self) -> Option<&Path> {
        if let Record::Copy(copy) = self.record.as_ref()? { Some(Path::new(&copy.original)) } else { None }
    }

    /// Whether an agent stored it, or the original of which it is a kept copy.
    pub(crate) fn is_of_agent(&self) -> bool {
        if self.spec.agent == OWN { self.original().is_some() } else { self.record.is_none() }
    }

    /// Returns how agents' records know it, as `Entry::recorded_file` does.
    pub(crate) fn recorded_file(&self) -> RecordedFile {
        match &self.record {
            Some(Record::Copy(copy)) => copy.recorded_file(self.path.clone()),
            _ => RecordedFile { path: self.saved_as().into(), ..RecordedFile::default() },
        }
    }

    pub(crate) fn run(&self) -> Option<&RunRecord> {
        if let Record::Run(run) = self.record.as_ref()? { Some(run) } else { None }
    }

    /// Says that it is not all that its run printed, or no longer what that saved: what the model got is not known then.
    pub(super) fn warn_of_length(&self) -> Option<String> {
        let run = self.run()?;
        let (kept, seen) = (run.kept.bytes, run.seen.bytes);
        if let Some(len) = self.path.metadata().ok().map(|meta| meta.len()).filter(|len| *len != kept) {
            return Some(format!(
                "this file has {len} bytes, and its run saved {kept}: it was changed since, so what the model got is not known"
            ));
        }
        (!run.is_whole()).then(|| {
            format!("only the first {kept} of {seen} bytes of this output were saved, so this is not all that the model got")
        })
    }

    /// Returns the path that notices print: of its original, the one that its run was given, or its own.
    pub(crate) fn saved_as(&self) -> &Path {
        let given = self.run().and_then(|run| run.printed.as_ref()).map(Path::new);
        self.original().or(given).unwrap_or(&self.path)
    }
}

impl Config {
    /// Returns the stores that can contain the file at `path`.
    pub(crate) fn stores_around(&self, path: &Path) -> Vec<Arc<StoreSpec>> {
        let path = std::path::absolute(path).ok();
        let directory = path.as_deref().and_then(Path::parent);
        directory.map(|directory| self.stores.around(directory, &self.env)).unwrap_or_default()
    }

    /// Looks up the file at `path`; `None` if it is in no store.
    pub(crate) fn stored_file(&self, path: &Path) -> Option<StoredFile> {
        self.stored_file_among(&self.stores_around(path), path)
    }

    /// Same as [`Config::stored_file`]; `specs` are the stores that can contain it.
    pub(crate) fn stored_file_among(&self, specs: &[Arc<StoreSpec>], path: &Path) -> Option<StoredFile> {
        let path = std::path::absolute(path).ok()?;
        let (spec, rule, set) = store_among(specs, &path, &self.env)?;
        let record = match spec.agent == OWN {
            true => Record::find(&self.env, &path),
            // `run --layout agent` saves where the agent does.
            false => Record::find_run(&self.env, &path).map(Record::Run),
        };
        let record = record.filter(|record| {
            let (policies, parameters, _) = record.cut_policies();
            let takes_all = |mut policy: Policy| {
                parameters.iter().all(|(key, value)| policy.set_recorded(key, value).is_ok())
            };
            policies.first().is_none_or(|name| self.catalog.get(name).is_ok_and(takes_all))
        });
        Some(StoredFile { path, spec: Arc::clone(spec), rule: rule.clone(), set, record })
    }

    /// Returns the policies that may have created the file, by its store and its time; most likely first.
    pub fn candidates(&self, path: Option<&Path>) -> Vec<String> {
        let file = path.and_then(|path| self.stored_file(path));
        file.map(|file| self.candidates_of(&file)).unwrap_or_default()
    }

    pub(super) fn candidates_of(&self, file: &StoredFile) -> Vec<String> {
        let FileOrigin { policies, day, .. } = self.origin_of(file);
        match day {
            Some(day) => self.catalog.by_day(policies, day),
            None => policies,
        }
    }

    /// Returns what decides which policies may have created a file; files that agree in it have the same.
    pub(crate) fn origin_of(&self, file: &StoredFile) -> FileOrigin {
        let record = file.record.clone();
        let named = record.as_ref().map_or(&file.rule.policies[..], |record| record.cut_policies().0);
        let policies = named.iter().filter(|name| self.catalog.knows(name)).cloned().collect();
        let day = if record.is_none() { file.day() } else { None };
        FileOrigin { policies, day, record, set: file.set.clone() }
    }

    /// Says that its store names no policy of an agent's file, or none that is known of the day on which it was made.
    pub(super) fn warn_of_cut(&self, file: &StoredFile) -> Option<String> {
        let policies = self.origin_of(file).policies;
        if policies.is_empty() {
            return file.is_of_agent().then(|| "how this was cut is not known".to_owned());
        }
        let day = file.day()?;
        let holds = |name: &String| self.catalog.get(name).map_or(true, |policy| policy.era().holds_at(day));
        (!policies.iter().any(holds)).then(|| format!("how this was cut on {day} is not known"))
    }

    /// Whether a file is in an agent's store, or a kept copy from there, and may have been made under this policy.
    pub(super) fn is_of_agent(&self, policy: &Policy, file: &StoredFile) -> bool {
        let held = || file.day().is_none_or(|day| policy.era().holds_at(day));
        let may_be = || self.origin_of(file).policies.iter().any(|name| name == policy.name()) && held();
        file.is_of_agent() && may_be()
    }

    /// Returns the warnings of the store that a file is in, or that its original was in if it is a kept copy.
    pub(super) fn warnings_of(&self, file: &StoredFile) -> Vec<Warning> {
        let store = match file.original() {
            Some(original) => self.stores.store_of(original, &self.env).map(|(spec, _)| spec),
            None => Some(&file.spec),
        };
        store.map(|spec| spec.warnings.clone()).unwrap_or_default()
    }
}
