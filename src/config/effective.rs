//! Every setting with its value in effect, and where that comes from.

use std::fmt;
use std::path::PathBuf;

use crate::preview::{Param, ParamRole, Policy, Value};
use crate::text::search::Severity;

use super::{Config, DEFAULT_POLICY, OverrideError, Overrides, POLICY_VARIABLE, agent};

/// The configuration file to begin with; what the program knows is put in the places in braces.
const COMMENTED: &str = include_str!("../../assets/config.toml");

/// How long overspill's own store keeps outputs by default, as in its description.
pub const KEEP_OWN: &str = "7d";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EffectiveSetting {
    /// Its dotted name in the configuration file.
    pub name: String,
    pub value: String,
    pub from: SettingFrom,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SettingFrom {
    Flag,
    Variable(&'static str),
    /// A line of the configuration file, 1-based.
    File(PathBuf, usize),
    Agent(PathBuf),
    Default,
}

impl fmt::Display for SettingFrom {
    /// Writes the name of a file without the line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flags"),
            Self::Variable(name) => f.write_str(name),
            Self::File(path, _) | Self::Agent(path) => write!(f, "{}", path.display()),
            Self::Default => f.write_str("default"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileValue {
    /// The line, 1-based.
    pub line: usize,
    /// The value, without quotes; the texts of a list with spaces between them.
    pub value: String,
}

impl Config {
    /// Returns the settings in the order of the configuration file; `keys` are those that can be set, and their defaults.
    pub fn settings(
        &self,
        overrides: &Overrides,
        keys: &[(String, String)],
    ) -> Result<Vec<EffectiveSetting>, OverrideError> {
        // A tool that the policy does not know changes nothing.
        let is_unknown = matches!(self.resolve(overrides, None), Err(OverrideError::NoTool(_)));
        let tool = overrides.tool.clone().filter(|_| !is_unknown);
        let overrides = &Overrides { tool, ..overrides.clone() };
        let policy = self.resolve(overrides, None)?.policy;
        let (name, value) = ("policy".to_owned(), policy.name().to_owned());
        let mut all = vec![
            EffectiveSetting { name, value, from: self.policy_from(overrides) },
            self.setting("keep_own", KEEP_OWN),
            self.setting("errors", Severity::Error.text()),
            self.setting("warnings", Severity::Warning.text()),
        ];
        all.extend(self.limits(&policy, overrides));
        all.extend(self.written_under("tools."));
        let is_table = self.file.written.keys().any(|name| name.starts_with("theme."));
        all.push(self.setting(if is_table { "theme.base" } else { "theme" }, "auto"));
        all.extend(self.written_under("theme."));
        all.push(self.setting("mouse", "none"));
        let defaults = [("notes", "true"), ("limit", "2048"), ("ignore", "")];
        all.extend(defaults.map(|(name, value)| self.setting(&format!("hook.{name}"), value)));
        all.extend(keys.iter().map(|(name, keys)| self.setting(&format!("keys.{name}"), keys)));
        let mut names = std::collections::BTreeSet::new();
        all.retain(|setting| names.insert(setting.name.clone()));
        Ok(all)
    }

    /// Returns where the policy for a new output comes from.
    pub fn policy_from(&self, overrides: &Overrides) -> SettingFrom {
        let of_tool = overrides.tool.as_ref().map(|tool| format!("tools.{tool}.policy"));
        if overrides.policy.is_some() {
            SettingFrom::Flag
        } else if self.variable().is_some() {
            SettingFrom::Variable(POLICY_VARIABLE)
        } else {
            let of_tool = of_tool.and_then(|name| self.origin(&name));
            of_tool.or_else(|| self.origin("policy")).unwrap_or(SettingFrom::Default)
        }
    }

    /// Returns the parameters of the policy in effect, then those that the file sets for other policies.
    fn limits(&self, policy: &Policy, overrides: &Overrides) -> Vec<EffectiveSetting> {
        let place = format!("limits.{}.", policy.name());
        let of_tool = overrides.tool.as_ref().map(|tool| format!("tools.{tool}."));
        let places: Vec<&String> = of_tool.iter().chain([&place]).collect();
        let agent = agent::limits(policy, &self.directory, &self.env, &mut Vec::new());
        let (lines, size) = agent.map(|limits| (limits.lines, limits.size)).unwrap_or_default();
        let limits = [(ParamRole::Lines, "max_lines", lines), (ParamRole::Size, "max_bytes", size)];
        let setting = |param: &Param| {
            let value = policy.get(&param.name).unwrap_or_else(|| param.default.clone()).to_string();
            let limit = limits.iter().find(|(role, ..)| policy.key(*role) == Some(&*param.name));
            let keys = [Some(&*param.name), limit.map(|(_, common, _)| *common)];
            let in_place = |place: &&String| {
                keys.into_iter().flatten().find_map(|key| self.origin(&format!("{place}{key}")))
            };
            let of_agent = || Some(SettingFrom::Agent(limit?.2.as_ref()?.1.clone()));
            let from = places.iter().find_map(in_place).or_else(of_agent).unwrap_or(SettingFrom::Default);
            EffectiveSetting { name: format!("{place}{}", param.name), value, from }
        };
        let others = self.written_under("limits.").into_iter();
        let others = others.filter(|setting| !setting.name.starts_with(&place));
        policy.params().iter().map(setting).chain(others).collect()
    }

    fn setting(&self, name: &str, default: &str) -> EffectiveSetting {
        let value = self.file.text(name).unwrap_or(default).to_owned();
        let from = self.origin(name).unwrap_or(SettingFrom::Default);
        EffectiveSetting { name: name.to_owned(), value, from }
    }

    fn written_under(&self, place: &str) -> Vec<EffectiveSetting> {
        let under = self.file.written.keys().filter(|name| name.starts_with(place));
        under.map(|name| self.setting(name, "")).collect()
    }

    fn origin(&self, name: &str) -> Option<SettingFrom> {
        let written = self.file.written.get(name)?;
        Some(SettingFrom::File(self.file_path.clone().unwrap_or_default(), written.line))
    }

    /// Returns a file in which all settings are comments, `#` without a space; `keys` are name, default and meaning.
    pub fn commented(keys: &[(String, String, String)]) -> String {
        let policy = Policy::builtin(DEFAULT_POLICY);
        let params = policy.as_ref().map_or(&[][..], |policy| policy.params());
        let param = |param: &Param| {
            let value = match &param.default {
                Value::Text(text) => format!("{text:?}"),
                value => value.to_string(),
            };
            format!("#{} = {value}  # {}\n", param.name, param.doc)
        };
        let limits: String = params.iter().map(param).collect();
        let list = |keys: &str| keys.split(' ').map(|key| format!("{key:?}")).collect::<Vec<_>>().join(", ");
        let keys = keys.iter().map(|(name, keys, what)| format!("#{name} = [{}]  # {what}\n", list(keys)));
        let keys: String = keys.collect();
        let [errors, warnings] = Severity::ALL.map(Severity::text);
        let figures =
            [("{errors}", errors), ("{warnings}", warnings), ("{limits}\n", &limits), ("{keys}\n", &keys)];
        figures.iter().fold(COMMENTED.to_owned(), |text, (place, written)| text.replace(place, written))
    }
}
