//! The value of a policy's parameter.

use std::fmt;

/// A parameter's value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Value {
    /// A whole number, 0 or more.
    Integer(u64),
    /// `true` or `false`.
    Boolean(bool),
    /// Text, possibly one of a few words.
    Text(String),
}

impl Value {
    /// Converts a value of a policy file; `None` if it has another type.
    pub(crate) fn from_toml(value: &toml::Value) -> Option<Self> {
        match value {
            toml::Value::Integer(number) => u64::try_from(*number).ok().map(Self::Integer),
            toml::Value::Boolean(flag) => Some(Self::Boolean(*flag)),
            toml::Value::String(text) => Some(Self::Text(text.clone())),
            _ => None,
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(value) => write!(f, "{value}"),
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}
