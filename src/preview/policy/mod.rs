//! A policy in use: what its file says, and the parameters as they are set now.

pub(crate) mod catalog;
pub(crate) mod eras;
mod load;
pub(crate) mod param;
pub(crate) mod rules;
pub(crate) mod schema;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::known::{Confidence, Era, Warning};
use crate::text::units::Want;

use super::limits::Limits;
use super::measure::rules::LineRule;
use super::model::{Direction, Unit};
use super::strategy::Keep;
use super::strategy::context::Context;
use super::template::facts::Facts;
use super::template::scope::Scope;
use super::value::Value;
use param::{Param, ParamError, keys, matches_key};
use rules::{PolicyFile, Texts, Variant};
use schema::{ParamRole, PolicySchema, SettingsSchema};

/// A policy file that cannot be used, or a policy that is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// No policy has that name.
    #[error("no policy `{name}`; there are: {}", known.join(", "))]
    Unknown {
        /// The name asked for.
        name: String,
        /// All that there are.
        known: Vec<String>,
    },
    /// A file is no policy that can be used.
    #[error("{file}:{line}: {}{message}", key.as_ref().map(|key| format!("`{key}`: ")).unwrap_or_default())]
    Invalid {
        /// The file, or the policy's name if it is built in.
        file: String,
        /// The line in it, 1-based.
        line: usize,
        /// The key at fault, where one is.
        key: Option<String>,
        /// What is wrong.
        message: String,
    },
    /// A directory or file could not be read.
    #[error("{file}: {message}")]
    Read {
        /// The path.
        file: String,
        /// The system's words.
        message: String,
    },
}

/// How one agent's tool cuts an output, with its parameters as they are set. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Policy {
    name: String,
    file: Arc<PolicyFile>,
    set: BTreeMap<String, Value>,
}

impl Policy {
    fn new(file: PolicyFile) -> Self {
        let name = format!("{}/{}", file.schema.agent, file.schema.tool);
        Self { name, file: Arc::new(file), set: BTreeMap::new() }
    }

    /// `agent/tool`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The agent's name.
    pub fn agent(&self) -> &str {
        &self.file.schema.agent
    }

    /// The tool's name.
    pub fn tool(&self) -> &str {
        &self.file.schema.tool
    }

    /// Which versions or dates of the agent do this: the file's own words, else its era's; may be empty.
    pub fn version(&self) -> String {
        self.file.schema.version.clone().unwrap_or_else(|| self.era().to_string())
    }

    /// From and until when the agent does this.
    pub fn era(&self) -> Era {
        let PolicySchema { from, until, seen, era_of, .. } = &self.file.schema;
        Era { from: from.clone(), until: until.clone(), seen: seen.clone(), of: era_of.clone() }
    }

    /// What to warn of, each of the outputs of which it holds.
    pub fn warnings(&self) -> &[Warning] {
        &self.file.schema.warnings
    }

    /// Where the policy is known from.
    pub fn source(&self) -> &str {
        &self.file.schema.source
    }

    /// How sure it is.
    pub fn confidence(&self) -> Confidence {
        self.file.schema.confidence
    }

    /// What it does, in a sentence.
    pub fn summary(&self) -> &str {
        &self.file.schema.summary
    }

    /// The name of the policy by which the agent cuts the output of a command that fails, if that is another.
    pub fn failed(&self) -> Option<&str> {
        self.file.schema.failed.as_deref()
    }

    /// The same for a command that ended so: none unless it failed.
    pub fn failed_with(&self, exit_code: Option<i32>) -> Option<&str> {
        self.failed().filter(|_| exit_code.is_some_and(|code| code != 0))
    }

    /// What surprises in it, a sentence each.
    pub fn quirks(&self) -> &[String] {
        &self.file.schema.quirks
    }

    /// What size is measured in.
    pub fn unit(&self) -> Unit {
        self.variant().and_then(|variant| variant.unit).unwrap_or(self.file.schema.unit)
    }

    /// All parameters, in the file's order.
    pub fn params(&self) -> &[Param] {
        &self.file.params
    }

    /// A parameter's value as it stands: set, else the variant's, else the default.
    pub fn get(&self, key: &str) -> Option<Value> {
        let param = self.file.params.iter().find(|param| param.name == key)?;
        let varied = || Value::of(self.variant()?.defaults.get(key)?);
        Some(self.set.get(key).cloned().or_else(varied).unwrap_or_else(|| param.default.clone()))
    }

    /// Whether a parameter was set, so that another source of limits must not change it.
    pub fn is_set(&self, key: &str) -> bool {
        self.set.contains_key(key)
    }

    /// Sets a parameter from its text.
    ///
    /// # Errors
    /// The policy has no such parameter, or it does not take this value: the error lists what there is.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), ParamError> {
        let named = self.file.params.iter().find_map(|param| matches_key(param, key));
        let Some((param, times)) = named.or_else(|| self.common(key).map(|param| (param, 1))) else {
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

    /// The parameter that a common name stands for, where the policy calls it something else.
    fn common(&self, key: &str) -> Option<&Param> {
        match key {
            "max_lines" => self.with_role(ParamRole::Lines),
            "max_bytes" => self.with_role(ParamRole::Size),
            _ => None,
        }
    }

    /// Puts a parameter back to its default.
    pub fn unset(&mut self, key: &str) {
        self.set.remove(key);
    }

    fn with_role(&self, role: ParamRole) -> Option<&Param> {
        self.file.params.iter().find(|param| param.role == Some(role))
    }

    fn integer(&self, role: ParamRole) -> Option<u64> {
        match self.get(&self.with_role(role)?.name)? {
            Value::Integer(number) => Some(number),
            _ => None,
        }
    }

    fn put(&mut self, role: ParamRole, flag: &str, value: String) -> Result<(), ParamError> {
        let key = self.with_role(role).map_or_else(|| flag.to_owned(), |param| param.name.clone());
        self.set(&key, &value)
    }

    /// The limit on lines (the policy's own pieces), if it has one.
    pub fn max_lines(&self) -> Option<u64> {
        self.integer(ParamRole::Lines)
    }

    /// Sets the limit on lines.
    ///
    /// # Errors
    /// The policy has none.
    pub fn set_max_lines(&mut self, lines: u64) -> Result<(), ParamError> {
        self.put(ParamRole::Lines, "max_lines", lines.to_string())
    }

    /// The key of the limit on lines.
    pub fn lines_key(&self) -> Option<&str> {
        self.with_role(ParamRole::Lines).map(|param| param.name.as_str())
    }

    /// The one size limit, in [`Policy::unit`], if the policy has one.
    pub fn max_size(&self) -> Option<u64> {
        self.integer(ParamRole::Size)
    }

    /// Sets the one size limit, in [`Policy::unit`].
    ///
    /// # Errors
    /// The policy has none.
    pub fn set_max_size(&mut self, size: u64) -> Result<(), ParamError> {
        self.put(ParamRole::Size, "max_bytes", size.to_string())
    }

    /// The size limit's own name: `max_bytes`, `max_units`, `max_tokens`..
    pub fn size_key(&self) -> Option<&str> {
        self.with_role(ParamRole::Size).map(|param| param.name.as_str())
    }

    /// From which end it keeps, where that is a parameter.
    pub fn direction(&self) -> Option<Direction> {
        match self.get(&self.with_role(ParamRole::Direction)?.name)? {
            Value::Text(word) if word == "tail" => Some(Direction::Tail),
            _ => Some(Direction::Head),
        }
    }

    /// Sets from which end it keeps.
    ///
    /// # Errors
    /// The policy has no such parameter.
    pub fn set_direction(&mut self, direction: Direction) -> Result<(), ParamError> {
        self.put(ParamRole::Direction, "direction", direction.as_str().to_owned())
    }

    /// The key of the parameter that `--tool` sets, if the policy has one.
    pub fn tool_key(&self) -> Option<&str> {
        self.with_role(ParamRole::Tool).map(|param| param.name.as_str())
    }

    /// First line of a read tool's window (in the agent's own base), where the policy is a read tool.
    pub fn offset_key(&self) -> Option<&str> {
        self.with_role(ParamRole::Offset).map(|param| param.name.as_str())
    }

    /// Lines of a read tool's window, where the policy is a read tool.
    pub fn limit_key(&self) -> Option<&str> {
        self.with_role(ParamRole::Limit).map(|param| param.name.as_str())
    }

    /// Where the agent's own configuration has these limits: file name, path of the lines key, path of the size key.
    pub fn agent_settings(&self) -> Option<(&str, Option<&str>, Option<&str>)> {
        let SettingsSchema { file, lines, size } = self.file.schema.settings.as_ref()?;
        Some((file, lines.as_deref(), size.as_deref()))
    }

    /// Whether standard error is taken apart from standard output, so that both make one preview.
    pub fn takes_stderr(&self) -> bool {
        self.texts().together.is_some()
    }

    /// Totals that the text of a preview may need when the output is cut.
    pub fn needs(&self) -> Want {
        let (texts, unit) = (self.texts(), self.unit());
        let templates = std::iter::once(&texts.cut).chain(&texts.together);
        let needed = templates.fold(Want::NOTHING, |sum, template| sum | template.totals(unit));
        let by_lines = self.limits().lines.is_some() && self.limits().size.is_none();
        needed | if by_lines { Want::LINE_FEEDS } else { Want::NOTHING }
    }

    pub(super) fn file(&self) -> &PolicyFile {
        &self.file
    }

    fn variant(&self) -> Option<&Variant> {
        let param = self.with_role(ParamRole::Tool)?;
        let tool = self.set.get(&param.name).unwrap_or(&param.default).to_string();
        self.file.variants.iter().find(|variant| variant.tools.contains(&tool))
    }

    pub(super) fn limits(&self) -> &Limits {
        self.variant().and_then(|variant| variant.limits.as_ref()).unwrap_or(&self.file.rules.limits)
    }

    pub(super) fn keep(&self) -> &Keep {
        self.variant().and_then(|variant| variant.keep.as_ref()).unwrap_or(&self.file.rules.keep)
    }

    pub(super) fn texts(&self) -> &Texts {
        self.variant().and_then(|variant| variant.texts.as_ref()).unwrap_or(&self.file.rules.texts)
    }

    pub(super) fn line_rule(&self) -> LineRule {
        self.variant().and_then(|variant| variant.lines).unwrap_or(self.file.schema.lines)
    }

    /// Its templates and figures under the parameters as they are, with facts that do not come from the output.
    pub(super) fn scope(&self, outside: Facts) -> Scope<'_> {
        let value = |name: &str| self.get(name).unwrap_or(Value::Integer(0));
        let params = self.params().iter().map(|param| (param.name.clone(), value(&param.name)));
        Scope::new(&self.name, &self.file.templates, params.collect(), outside)
    }

    /// What its strategy works with.
    pub(super) fn context<'a>(&'a self, scope: &'a Scope<'a>) -> Context<'a> {
        Context { scope, limits: self.limits(), unit: self.unit(), direction: self.direction() }
    }
}
