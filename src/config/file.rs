//! The user's own configuration file: default policy, and parameters by policy and by tool.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::fs::plain_file;
use crate::text::search::Pattern;

use super::keys::{KeySetting, KeysConfig};
use super::theme::ThemeConfig;

/// `config.toml`, as written. Every key is optional.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileConfig {
    /// The policy for files outside of all known stores.
    pub policy: Option<String>,
    /// How long outputs stay in overspill's own store: `7d`, or `never` to keep them.
    pub keep_own: Option<String>,
    /// A regular expression that finds errors and warnings.
    pub errors: Option<toml::Spanned<String>>,
    /// Parameters by policy: `[limits."opencode/output"]`.
    #[serde(default)]
    pub limits: BTreeMap<String, Parameters>,
    /// Policy and parameters by tool: `[tools.grep]`, for `--tool grep`.
    #[serde(default)]
    pub tools: BTreeMap<String, ToolConfig>,
    /// The colours of the screens: `theme = "light"`, or `[theme]`.
    #[serde(default)]
    pub theme: ThemeConfig,
    /// The user's own keys: `[keys]`.
    #[serde(default)]
    pub keys: KeysConfig,
}

/// The settings for one tool.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct ToolConfig {
    /// Its policy.
    pub policy: Option<String>,
    /// Parameters for that policy.
    #[serde(flatten)]
    pub parameters: Parameters,
}

/// Parameters and their values, as a policy takes them.
pub type Parameters = BTreeMap<String, ConfigValue>;

/// The value of a parameter.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum ConfigValue {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Number(u64),
    /// Anything else; sizes may have a suffix.
    Text(String),
}

impl std::fmt::Display for ConfigValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConfigValue::Flag(value) => write!(f, "{value}"),
            ConfigValue::Number(value) => write!(f, "{value}"),
            ConfigValue::Text(value) => f.write_str(value),
        }
    }
}

/// Why a configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file exists but cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is not valid; the message has line and key.
    #[error("{}: {message}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// Where and what the mistake is.
        message: String,
    },
}

/// Reads `path`, with the user's own keys apart; a missing file sets nothing.
pub(crate) fn read(path: &Path) -> Result<(FileConfig, Vec<KeySetting>), FileError> {
    let text = match plain_file::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Default::default()),
        Err(source) => return Err(FileError::Read { path: path.to_owned(), source }),
    };
    let fault = |message| FileError::Form { path: path.to_owned(), message };
    let config: FileConfig =
        toml::from_str(&text).map_err(|error| fault(plain_file::fault(&text, &error)))?;
    check_errors(&text, &config).map_err(fault)?;
    let keys = config.keys.settings(&text);
    Ok((config, keys))
}

/// Checks that the pattern of errors can be used.
fn check_errors(text: &str, config: &FileConfig) -> Result<(), String> {
    let Some(pattern) = &config.errors else { return Ok(()) };
    let Err(error) = Pattern::to_line_end(pattern.get_ref()) else { return Ok(()) };
    let line = text[..pattern.span().start.min(text.len())].matches('\n').count() + 1;
    let place = error.at.map_or(String::new(), |at| format!(" at column {}", at + 1));
    Err(format!("line {line}: errors: {}{place}", error.why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_named_with_its_line() {
        let text = "policy = \"a/b\"\n\nlimmits = 3\n";
        let error = toml::from_str::<FileConfig>(text).unwrap_err();
        assert_eq!(
            plain_file::fault(text, &error),
            "line 3: unknown field `limmits`, expected one of `policy`, `keep_own`, `errors`, `limits`, `tools`, `theme`, \
             `keys`"
        );
    }

    #[test]
    fn a_pattern_of_errors_that_cannot_be_used_is_named_with_its_line() {
        let fault = |text: &str| {
            let config = toml::from_str(text).unwrap();
            check_errors(text, &config).err()
        };
        assert_eq!(fault("errors = 'E\\d+|boom'\n"), None);
        let unclosed = Some("line 2: errors: unclosed group at column 5".to_owned());
        assert_eq!(fault("policy = 'a/b'\nerrors = 'boom('\n"), unclosed);
        assert_eq!(fault("errors = 'x*'\n"), Some("line 1: errors: it matches every line".to_owned()));
    }

    #[test]
    fn parameters_are_words_numbers_and_flags() {
        let text = "[limits.\"opencode/output\"]\nmax_lines = 5\ntask_tool = true\nmax_bytes = \"50k\"\n";
        let config: FileConfig = toml::from_str(text).unwrap();
        let words: Vec<_> =
            config.limits["opencode/output"].iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(words, ["max_bytes=50k", "max_lines=5", "task_tool=true"]);
    }
}
