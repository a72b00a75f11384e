//! Parameters of a policy: which exist, what they take, and their values.

use crate::preview::model::Unit;
use crate::preview::policy::schema::{KindSchema, ParamRole, ParamSchema};
use crate::preview::template::Value;

/// The type of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParamKind {
    /// A whole number in this range, inclusive.
    Integer {
        /// The minimum.
        min: u64,
        /// The maximum.
        max: u64,
    },
    /// `true` or `false`.
    Boolean,
    /// One of these words.
    Choice(Vec<String>),
    /// Any text.
    Text,
    /// Empty, or a decimal number from 0 with at most 15 digits before the point.
    Decimal,
}

/// A parameter of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// Its key in `--set KEY=VALUE`.
    pub name: String,
    /// What it does, in a sentence.
    pub doc: String,
    /// Its type.
    pub kind: ParamKind,
    /// Its default value. A variant (`--tool`) may have its own.
    pub default: Value,
    /// Another key for the same parameter, and how many of this one's units make one of that one's.
    pub also: Option<(String, u64)>,
    pub(crate) role: Option<ParamRole>,
}

/// Why a parameter cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// The policy has no such parameter.
    #[error("{policy} has no parameter `{key}`; {}", listed(known))]
    Unknown {
        /// The policy's name.
        policy: String,
        /// The requested key.
        key: String,
        /// All existing keys.
        known: Vec<String>,
    },
    /// The value is of the wrong type or out of range.
    #[error("{policy}: `{key}` takes {takes}, not `{value}`")]
    Value {
        /// The policy's name.
        policy: String,
        /// The key.
        key: String,
        /// The value given.
        value: String,
        /// What it takes, in words.
        takes: String,
    },
}

fn listed(known: &[String]) -> String {
    if known.is_empty() { "it has none".to_owned() } else { format!("it has: {}", known.join(", ")) }
}

impl ParamKind {
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Integer { min, max: u64::MAX } => format!("a whole number from {min}"),
            Self::Integer { min, max } => format!("a whole number from {min} to {max}"),
            Self::Boolean => "true or false".to_owned(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Text => "text".to_owned(),
            Self::Decimal => "nothing or a decimal number, such as 0.25".to_owned(),
        }
    }

    pub(crate) fn parse(&self, value: &str) -> Option<Value> {
        match self {
            Self::Integer { min, max } => {
                value.parse().ok().filter(|number| (*min..=*max).contains(number)).map(Value::Integer)
            }
            Self::Boolean => value.parse().ok().map(Value::Boolean),
            Self::Choice(words) => words.iter().find(|word| *word == value).cloned().map(Value::Text),
            Self::Text => Some(Value::Text(value.to_owned())),
            Self::Decimal => is_decimal(value).then(|| Value::Text(value.to_owned())),
        }
    }
}

impl Param {
    pub(crate) fn from_schema(schema: &ParamSchema, unit: Unit) -> Result<Self, (&'static str, String)> {
        let default = Value::from_toml(schema.default.get_ref())
            .ok_or(("default", "takes text in quotes, a whole number from 0, or true or false".to_owned()))?;
        let kind = match &default {
            Value::Integer(_) => {
                ParamKind::Integer { min: schema.min.unwrap_or(0), max: schema.max.unwrap_or(u64::MAX) }
            }
            Value::Boolean(_) => ParamKind::Boolean,
            Value::Text(_) if schema.role == Some(ParamRole::Direction) => {
                ParamKind::Choice(vec!["head".to_owned(), "tail".to_owned()])
            }
            Value::Text(_) if schema.kind == Some(KindSchema::Decimal) => ParamKind::Decimal,
            Value::Text(_) => schema.values.clone().map_or(ParamKind::Text, ParamKind::Choice),
        };
        if kind.parse(&default.to_string()).as_ref() != Some(&default) {
            return Err(("default", format!("does not fit: the parameter takes {}", kind.describe())));
        }
        let also = schema.also.as_ref().map(|also| (also.name.clone(), also.times));
        Ok(Self {
            name: schema.name.clone(),
            doc: schema.doc.clone().unwrap_or_else(|| plain_doc(schema.role, unit)),
            kind,
            default,
            also,
            role: schema.role,
        })
    }
}

/// Describes a parameter by its role, if the file does not.
fn plain_doc(role: Option<ParamRole>, unit: Unit) -> String {
    match role {
        Some(ParamRole::Lines) => "maximum number of lines".to_owned(),
        Some(ParamRole::Size) => format!("maximum size in {}", unit.as_str()),
        Some(ParamRole::Direction) => "which end is kept".to_owned(),
        Some(ParamRole::Tool) => "the kind of output".to_owned(),
        Some(ParamRole::Offset) => "the first line".to_owned(),
        Some(ParamRole::Limit) => "the number of lines".to_owned(),
        None => String::new(),
    }
}

/// Whether text is empty or a decimal number: digits, optionally a point and more digits.
fn is_decimal(text: &str) -> bool {
    const MAX_DIGITS: usize = 15;
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.is_empty() || (digits(whole) && digits(part) && whole.len() <= MAX_DIGITS)
}

/// Returns the parameter if `key` names it, with how many of its units make one of the key's.
pub(crate) fn matches_key<'a>(param: &'a Param, key: &str) -> Option<(&'a Param, u64)> {
    match &param.also {
        _ if param.name == key => Some((param, 1)),
        Some((other, times)) if other == key => Some((param, *times)),
        _ => None,
    }
}

/// Returns every key that names a parameter.
pub(crate) fn keys(param: &Param) -> Vec<String> {
    std::iter::once(&param.name).chain(param.also.iter().map(|(other, _)| other)).cloned().collect()
}
