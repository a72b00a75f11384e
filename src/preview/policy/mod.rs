//! A policy in use: its compiled file and the current values of its parameters.

pub(crate) mod catalog;
mod load;
pub(crate) mod param;
pub(crate) mod schema;

use std::collections::BTreeMap;
#[cfg(feature = "records")]
use std::ops::Range;
use std::sync::Arc;

use crate::base::provenance::{Confidence, Era, Warning};

use super::limits::Limits;
use super::measure::LineRule;
use super::model::{Direction, LimitHit, Unit};
use super::strategy::{Context, Keep};
#[cfg(feature = "records")]
use super::template::pattern::NoticePattern;
use super::template::{Facts, Scope, Value};
#[cfg(test)]
pub(crate) use load::PARSED;
use load::{PolicyFile, Texts, Variant};
use param::{Param, ParamError, keys, matches_key};
pub(crate) use schema::ParamRole;
use schema::SettingsSchema;

/// Why a policy cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// There is no policy of that name.
    #[error("no policy `{name}`; {instead}")]
    Unknown {
        /// The requested name.
        name: String,
        /// What may be meant, or where the existing names are listed.
        instead: String,
    },
    /// A file is not a valid policy.
    #[error("{file}:{line}{}: {}{message}", column.map(|column| format!(":{column}")).unwrap_or_default(),
        key.as_ref().map(|key| format!("`{key}`: ")).unwrap_or_default())]
    Invalid {
        /// The file, or the policy's name if it is built in.
        file: String,
        /// The line, 1-based.
        line: usize,
        /// The column in characters, 1-based, if known.
        column: Option<usize>,
        /// The faulty key, if any.
        key: Option<String>,
        /// What is wrong.
        message: String,
    },
    /// A directory or file could not be read.
    #[error("{file}: {message}")]
    Read {
        /// The path.
        file: String,
        /// The system's error message.
        message: String,
    },
}

/// How an agent's tool truncates output, with the current values of its parameters. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Policy {
    name: String,
    /// What its faults name: the policy, before it the file if it is the user's own.
    place: Arc<str>,
    pub(super) file: Arc<PolicyFile>,
    text: Arc<str>,
    set: BTreeMap<String, Value>,
}

impl Policy {
    fn new(file: PolicyFile, text: &str, own: Option<&str>) -> Self {
        let name = format!("{}/{}", file.schema.agent, file.schema.tool);
        let place = own.map_or(name.clone(), |path| format!("{path}: {name}")).into();
        Self { name, place, file: Arc::new(file), text: text.into(), set: BTreeMap::new() }
    }

    /// Returns the name, `agent/tool`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the agent's name.
    pub fn agent(&self) -> &str {
        &self.file.schema.agent
    }

    /// Returns the tool's name.
    pub fn tool(&self) -> &str {
        &self.file.schema.tool
    }

    /// Returns the versions or dates of the agent that this applies to: as worded in the file, else from its era; may
    /// be empty.
    pub fn version(&self) -> String {
        self.file.schema.version.clone().unwrap_or_else(|| self.era().to_string())
    }

    /// Returns the period during which the agent does this.
    #[doc(hidden)]
    pub fn era(&self) -> Era {
        self.file.schema.era.clone()
    }

    #[doc(hidden)]
    pub fn warnings(&self) -> &[Warning] {
        &self.file.schema.warnings
    }

    /// Returns where the policy is known from.
    pub fn source(&self) -> &str {
        self.file.schema.source.as_deref().unwrap_or("its file does not say")
    }

    /// Returns how certain it is.
    pub fn confidence(&self) -> Confidence {
        self.file.schema.confidence
    }

    /// Returns what it does, in a sentence.
    pub fn summary(&self) -> &str {
        self.file.schema.summary.as_deref().unwrap_or("its file does not say what it does")
    }

    /// Returns the policy that the agent uses for the output of a failing command, if it is another one.
    pub fn failed(&self) -> Option<&str> {
        self.file.schema.failed.as_ref().map(|name| &**name.get_ref())
    }

    /// Same as [`Policy::failed`] for a command with this exit status: none unless it failed.
    pub fn failed_with(&self, exit_code: Option<i32>) -> Option<&str> {
        self.failed().filter(|_| exit_code.is_some_and(|code| code != 0))
    }

    /// Returns its surprising properties, one sentence each.
    pub fn quirks(&self) -> &[String] {
        &self.file.schema.quirks
    }

    /// Returns the unit of sizes.
    pub fn unit(&self) -> Unit {
        self.variant().and_then(|variant| variant.schema.unit).unwrap_or(self.file.schema.unit)
    }

    /// Returns all parameters, in the order of the file.
    pub fn params(&self) -> &[Param] {
        &self.file.params
    }

    /// Returns a parameter's current value: as set, else the variant's, else the default.
    pub fn get(&self, key: &str) -> Option<Value> {
        let param = self.file.params.iter().find(|param| param.name == key)?;
        let varied = || Value::from_toml(self.variant()?.schema.defaults.get(key)?.get_ref());
        Some(self.set.get(key).cloned().or_else(varied).unwrap_or_else(|| param.default.clone()))
    }

    /// Whether the other is the same policy, with the same values of all parameters.
    #[cfg(feature = "app")]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let has_value_of = |param: &Param| self.get(&param.name) == other.get(&param.name);
        self.name == other.name && self.file.params.iter().all(has_value_of)
    }

    /// Whether a parameter was set, so that no other source of limits may change it.
    pub fn is_set(&self, key: &str) -> bool {
        self.set.contains_key(key)
    }

    /// Sets a parameter from text.
    ///
    /// # Errors
    /// If the policy has no such parameter, or the parameter does not take this value; the error lists the
    /// alternatives.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ParamError> {
        let named = self.file.params.iter().find_map(|param| matches_key(param, key));
        // A common name, if the policy calls it something else.
        let common = match key {
            "max_lines" => self.with_role(ParamRole::Lines),
            "max_bytes" => self.with_role(ParamRole::Size),
            _ => None,
        };
        let Some((param, times)) = named.or(common.map(|param| (param, 1))) else {
            let known = self.file.params.iter().flat_map(keys).collect();
            return Err(ParamError::Unknown { policy: self.name.clone(), key: key.to_owned(), known });
        };
        let scaled = match (times, value.parse::<u64>()) {
            (1, _) | (_, Err(_)) => value.to_owned(),
            (times, Ok(number)) => number.saturating_mul(times).to_string(),
        };
        let parsed = param.kind.parse(&scaled).ok_or_else(|| ParamError::Value {
            policy: self.name.clone(),
            key: key.to_owned(),
            value: value.to_owned(),
            takes: param.kind.describe(),
        })?;
        self.set.insert(param.name.clone(), parsed);
        Ok(())
    }

    /// Sets a parameter to what it was when an output was cut: any number, whatever is taken by now.
    #[cfg(feature = "app")]
    pub(crate) fn set_recorded(&mut self, key: &str, value: &str) -> Result<(), ParamError> {
        if let (Some(Value::Integer(_)), Ok(number)) = (self.get(key), value.parse()) {
            self.set.insert(key.to_owned(), Value::Integer(number));
            return Ok(());
        }
        self.set(key, value)
    }

    /// Returns the parameters that were set, with their values as [`Policy::set`] takes them.
    pub(crate) fn changed(&self) -> BTreeMap<String, String> {
        self.set.iter().map(|(key, value)| (key.clone(), value.to_string())).collect()
    }

    /// Resets a parameter to its default.
    pub fn unset(&mut self, key: &str) {
        self.set.remove(key);
    }

    pub(crate) fn with_role(&self, role: ParamRole) -> Option<&Param> {
        self.file.params.iter().find(|param| param.role == Some(role))
    }

    /// Returns the key of the parameter with a role, if the policy has one.
    pub(crate) fn key(&self, role: ParamRole) -> Option<&str> {
        self.with_role(role).map(|param| param.name.as_str())
    }

    /// Whether it is the policy of a read tool.
    #[cfg(feature = "records")]
    pub(crate) fn has_window(&self) -> bool {
        self.with_role(ParamRole::Offset).is_some()
    }

    pub(crate) fn integer(&self, role: ParamRole) -> Option<u64> {
        match self.get(self.key(role)?)? {
            Value::Integer(number) => Some(number),
            _ => None,
        }
    }

    fn put(&mut self, role: ParamRole, flag: &str, value: String) -> Result<(), ParamError> {
        let key = self.key(role).unwrap_or(flag).to_owned();
        self.set(&key, &value)
    }

    /// Returns the limit on lines (as the policy counts them), if it has one.
    pub fn max_lines(&self) -> Option<u64> {
        self.integer(ParamRole::Lines)
    }

    /// Sets the limit on lines.
    ///
    /// # Errors
    /// If the policy has none.
    pub fn set_max_lines(&mut self, lines: u64) -> Result<(), ParamError> {
        self.put(ParamRole::Lines, "max_lines", lines.to_string())
    }

    /// Returns the limit that cut an output, in lines or [`Policy::unit`], if the policy has exactly one such.
    #[cfg_attr(not(feature = "records"), allow(dead_code))]
    pub(crate) fn limit(&self, hit: LimitHit) -> Option<u64> {
        match hit {
            LimitHit::Size(_) => self.max_size(),
            // A read tool's window has so many lines.
            LimitHit::Lines | LimitHit::Matches => {
                self.max_lines().or_else(|| self.integer(ParamRole::Limit))
            }
        }
    }

    /// Returns the size limit, in [`Policy::unit`], if the policy has exactly one.
    pub fn max_size(&self) -> Option<u64> {
        self.integer(ParamRole::Size)
    }

    /// Sets the size limit, in [`Policy::unit`].
    ///
    /// # Errors
    /// If the policy does not have exactly one.
    pub fn set_max_size(&mut self, size: u64) -> Result<(), ParamError> {
        self.put(ParamRole::Size, "max_bytes", size.to_string())
    }

    /// Returns which end is kept, if that is a parameter.
    pub fn direction(&self) -> Option<Direction> {
        match self.get(self.key(ParamRole::Direction)?)? {
            Value::Text(word) if word == "tail" => Some(Direction::Tail),
            _ => Some(Direction::Head),
        }
    }

    /// Sets which end is kept.
    ///
    /// # Errors
    /// If the policy has no such parameter.
    pub fn set_direction(&mut self, direction: Direction) -> Result<(), ParamError> {
        self.put(ParamRole::Direction, "direction", direction.as_str().to_owned())
    }

    /// Returns where the agent's own configuration has these limits: the file (a name, or a path as in a store's roots),
    /// path of the lines key, path of the size key.
    pub fn agent_settings(&self) -> Option<(&str, Option<&str>, Option<&str>)> {
        let SettingsSchema { file, lines, size } = self.file.schema.settings.as_ref()?;
        Some((file, lines.as_deref(), size.as_deref()))
    }

    /// Whether standard error is treated separately from standard output, with a single preview for both.
    pub fn takes_stderr(&self) -> bool {
        self.texts().together.is_some()
    }

    /// Whether the exit status of the command matters: for the text, or because a failed command has another policy.
    pub fn takes_exit_code(&self) -> bool {
        self.failed().is_some() || self.text.contains("exit_code")
    }

    fn variant(&self) -> Option<&Variant> {
        let param = self.with_role(ParamRole::Tool)?;
        let tool = self.set.get(&param.name).unwrap_or(&param.default).to_string();
        self.file.variants.iter().find(|variant| variant.schema.tools.contains(&tool))
    }

    pub(super) fn limits(&self) -> &Limits {
        self.variant().and_then(|variant| variant.limits.as_ref()).unwrap_or(&self.file.limits)
    }

    pub(super) fn keep(&self) -> &Keep {
        self.variant().and_then(|variant| variant.keep.as_ref()).unwrap_or(&self.file.keep)
    }

    pub(super) fn texts(&self) -> &Texts {
        self.variant().and_then(|variant| variant.texts.as_ref()).unwrap_or(&self.file.texts)
    }

    pub(super) fn line_rule(&self) -> LineRule {
        self.variant().and_then(|variant| variant.schema.lines).unwrap_or(self.file.schema.lines)
    }

    /// Returns its templates and figures with the current parameters, and with facts that do not come from the output.
    pub(super) fn scope(&self, outside: Facts) -> Scope<'_> {
        let value = |name: &str| self.get(name).unwrap_or(Value::Integer(0));
        let params = self.params().iter().map(|param| (param.name.clone(), value(&param.name)));
        Scope::new(&self.place, &self.file.templates, params.collect(), outside)
    }

    pub(super) fn context<'a>(&'a self, scope: &'a Scope<'a>) -> Context<'a> {
        Context { scope, limits: self.limits(), unit: self.unit(), direction: self.direction() }
    }
}

#[cfg(feature = "records")]
impl Policy {
    /// Whether it is the policy of this tool, as the agent's records name it; `None` if it names none.
    pub(crate) fn names_tool(&self, tool: &str) -> Option<bool> {
        let tools = &self.file.schema.tools;
        let names = |name: &String| match name.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => name == tool,
        };
        (!tools.is_empty()).then(|| tools.iter().any(names))
    }

    /// Returns the nearest value to a number that the parameter takes; below 1 none, or 0 where that turns the limit off.
    pub(crate) fn nearest(&self, role: ParamRole, number: i64) -> Option<u64> {
        let param::ParamKind::Integer { min, max } = self.with_role(role)?.kind else { return None };
        let positive = u64::try_from(number).ok().filter(|number| *number > 0);
        positive.map(|number| number.clamp(min, max)).or(self.limits().zero_is_off.then_some(0))
    }

    /// Returns what of a text, as ranges in bytes, is the notice of an output that was cut; `None` if the text is none that
    /// this policy makes of one. Whether the rest is of an output cannot be told from the text.
    pub(crate) fn notices_in(&self, text: &str) -> Option<Vec<Range<usize>>> {
        self.file.templates.added(&self.texts().cut, text)
    }

    /// Returns the forms of the notices that this policy writes, those with the most words first.
    pub(crate) fn notice_patterns(&self) -> &[NoticePattern] {
        self.file.templates.notices(&self.texts().whole)
    }

    /// Returns an output of which this policy makes a text by cutting lines to a length; `None` if it does not do so.
    pub(in crate::preview) fn unclipped(&self, text: &str) -> Option<String> {
        self.keep().unclipped(text, &self.scope(Facts::new()))
    }
}
