//! What is wrong with the user's own files, and which commands a mistake stops.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::base::fs::plain_file::ellipsize;
use crate::base::toml_check::{Mistake, Spot, suggest_word};
use crate::preview::{Catalog, Param, ParamError, ParamRole, Policy, PolicyError};

use super::{DEFAULT_POLICY, overrides::plain};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFault {
    /// File, line, key, and what is wrong.
    pub words: String,
    pub scope: FaultScope,
}

/// What a mistake leaves unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultScope {
    /// One policy, or all of the user's own.
    Policy,
    /// The stores of one agent, or all of the user's own.
    Store,
    Settings,
    /// Which policy applies, and with which limits.
    Limits,
    Retention,
    /// What counts as an error or a warning.
    Severities,
    /// Colours and keys: only the screens use them.
    Screens,
    /// One key of the screens, whose name is gone.
    OldKey,
}

/// Which settings a command cannot do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequiredSettings {
    Nothing,
    Limits,
    Retention,
    /// Those for the screens, and the limits.
    Screens,
}

impl FileFault {
    /// Whether a command with this need cannot go on.
    pub fn stops(&self, need: RequiredSettings) -> bool {
        match self.scope {
            FaultScope::Policy | FaultScope::Store | FaultScope::OldKey => false,
            FaultScope::Settings => need != RequiredSettings::Nothing,
            FaultScope::Limits => matches!(need, RequiredSettings::Limits | RequiredSettings::Screens),
            FaultScope::Retention => need == RequiredSettings::Retention,
            FaultScope::Screens | FaultScope::Severities => need == RequiredSettings::Screens,
        }
    }
}

impl fmt::Display for FileFault {
    /// Writes the mistake, and what it means for a command that goes on.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effect = match self.scope {
            FaultScope::Policy => "this file is not used",
            FaultScope::Store => "this file is not used, and `clean` leaves that agent's outputs alone",
            FaultScope::Settings => "parts not understood use their defaults",
            FaultScope::Limits => "using the default",
            FaultScope::Retention => "nothing is deleted from overspill's own store by age",
            FaultScope::Severities => "the built-in pattern is used",
            FaultScope::Screens => "used by the screens only",
            FaultScope::OldKey => "this line is not used",
        };
        write!(f, "{} ({effect})", self.words)
    }
}

/// Checks names of policies and parameters, and values of these; mistakes are in the order of the file.
pub(super) fn check_names(text: &str, file: &DeTable, catalog: &Catalog) -> Vec<Mistake> {
    let mut check = Check { text, catalog, top: "policy", found: Vec::new() };
    let given = file.get("policy");
    if let Some(value) = given {
        check.policy(value.get_ref().as_str().unwrap_or_default(), "policy", value.span());
    }
    check.top = "limits";
    for (name, parameters) in tables(file, "limits") {
        let Some(policy) = check.policy(name.get_ref(), "limits", name.span()) else { continue };
        for (key, value) in parameters.iter() {
            check.parameter(policy.clone(), key, value);
        }
    }
    check.top = "tools";
    for (_, parameters) in tables(file, "tools") {
        let own = parameters.get("policy");
        let named = own.or(given).and_then(|value| value.get_ref().as_str()).unwrap_or(DEFAULT_POLICY);
        let policy = match own {
            Some(value) => check.policy(named, "policy", value.span()),
            None => check.catalog.get(named).ok(),
        };
        check.tool(policy.as_ref(), parameters, own.is_some());
    }
    check.found.sort_by_key(|mistake| mistake.spot);
    check.found
}

fn tables<'a, 'b>(file: &'b DeTable<'a>, key: &str) -> Vec<(&'b Spanned<Cow<'a, str>>, &'b DeTable<'a>)> {
    let all = file.get(key).and_then(|value| value.get_ref().as_table());
    let each = all.into_iter().flat_map(|all| all.iter());
    each.filter_map(|(name, value)| Some((name, value.get_ref().as_table()?))).collect()
}

struct Check<'a> {
    text: &'a str,
    catalog: &'a Catalog,
    top: &'static str,
    found: Vec<Mistake>,
}

impl Check<'_> {
    fn wrong(&mut self, span: Range<usize>, key: &str, words: String) {
        let (spot, top) = (Spot::new(self.text, span.start), Some(self.top.to_owned()));
        self.found.push(Mistake { spot, key: Some(key.to_owned()), words, top });
    }

    /// Returns the policy of this name, unless its own file is faulty, which is reported elsewhere.
    fn policy(&mut self, name: &str, key: &str, span: Range<usize>) -> Option<Policy> {
        let found = self.catalog.get(name);
        match &found {
            Err(error @ PolicyError::Unknown { .. }) => self.wrong(span, key, error.to_string()),
            // Limits are kept by the whole name.
            Ok(policy) if key == "limits" && policy.name() != name => {
                self.wrong(span, key, format!("write the whole name: `{}`", policy.name()));
                return None;
            }
            _ => {}
        }
        found.ok()
    }

    /// Checks the parameters for a tool. A tool without its own policy may be used with any (`-p`).
    fn tool(&mut self, policy: Option<&Policy>, parameters: &DeTable, is_own: bool) {
        let catalog = self.catalog;
        let is_of_any = |key: &str| {
            let mut all = catalog.names().filter_map(|name| catalog.get(name).ok());
            all.any(|policy| policy.params().iter().any(|param| param.name == key))
        };
        let near = |key: &str| {
            let params = policy.map_or(&[][..], Policy::params).iter().map(|param| param.name.as_str());
            let known: Vec<&str> = params.chain(["policy"]).collect();
            format!("no policy has such a parameter; {}", suggest_word(key, known.into_iter(), "here can be"))
        };
        for (key, value) in parameters.iter() {
            let name = key.get_ref();
            let is_known = is_own || name == "policy" || policy.is_some_and(|policy| has(policy, name));
            if !is_known && !is_of_any(name) {
                self.wrong(key.span(), name, near(name));
            } else if let Some(policy) = policy.filter(|_| is_known && name != "policy") {
                self.parameter(policy.clone(), key, value);
            }
        }
    }

    fn parameter(&mut self, mut policy: Policy, key: &Spanned<Cow<str>>, value: &Spanned<DeValue>) {
        let name = key.get_ref();
        let written = match value.get_ref() {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(number) => number.as_str().to_owned(),
            DeValue::Boolean(flag) => flag.to_string(),
            _ => return,
        };
        match policy.set(name, &plain(&policy, name, written)) {
            Ok(()) => {}
            Err(ParamError::Value { takes, value: given, .. }) => {
                self.wrong(value.span(), name, format!("takes {takes}, not `{}`", ellipsize(&given)));
            }
            Err(_) => {
                let known = policy.params().iter().map(|param| param.name.as_str());
                let remedy = suggest_word(name, known, "it has");
                self.wrong(key.span(), name, format!("{} has no such parameter; {remedy}", policy.name()));
            }
        }
    }
}

/// Whether a policy has a parameter of this name, its own or the common one.
fn has(policy: &Policy, key: &str) -> bool {
    let is = |param: &Param| param.name == key || param.also.as_ref().is_some_and(|(name, _)| name == key);
    policy.params().iter().any(is)
        || key == "max_lines" && policy.key(ParamRole::Lines).is_some()
        || key == "max_bytes" && policy.key(ParamRole::Size).is_some()
}
