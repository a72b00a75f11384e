//! Regular expressions that stand in an agent's code, compiled when they are first used, and once.

use std::sync::OnceLock;

use regex::bytes::Regex;

/// What ends a line in Python's `splitlines`.
pub(crate) static PYTHON_BREAKS: FixedRegex =
    FixedRegex::new(r"(?-u)\r\n|[\n\r\x0b\x0c\x1c-\x1e]|\xc2\x85|\xe2\x80[\xa8\xa9]");

/// A regular expression that is always the same.
pub(crate) struct FixedRegex {
    source: &'static str,
    compiled: OnceLock<Regex>,
}

impl FixedRegex {
    pub(crate) const fn new(source: &'static str) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    /// Returns it, compiled.
    ///
    /// # Errors
    /// It is not a regular expression.
    pub(crate) fn get(&self) -> Result<&Regex, regex::Error> {
        if let Some(compiled) = self.compiled.get() {
            return Ok(compiled);
        }
        let compiled = Regex::new(self.source)?;
        Ok(self.compiled.get_or_init(|| compiled))
    }
}
