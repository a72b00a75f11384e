//! What a policy file says of the response: its templates, its details, and a cap on all of it.

use serde::Deserialize;
use toml::Spanned;

use super::Figure;

/// What the model reads: templates.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextForm {
    pub whole: Option<Spanned<String>>,
    pub cut: Option<Spanned<String>>,
    pub together: Option<Spanned<String>>,
}

/// The agent's machine-readable details.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DetailsForm {
    pub shape: DetailsShape,
    /// The key of a limit on matches that was reached.
    pub limit: Option<String>,
    /// Whether the saved path is among them.
    #[serde(default)]
    pub path: bool,
    /// Whether a failed command has none.
    #[serde(default)]
    pub unless_failed: bool,
}

/// What the details look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum DetailsShape {
    /// pi's truncation result.
    Pi,
    /// The Go agents' temp file.
    TempFile,
}

/// A cap on the whole response.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CapForm {
    /// Over so many raw bytes it cuts.
    pub over: Figure,
    /// To so many.
    pub size: Figure,
    /// Back to the last line feed, if there is one.
    #[serde(default)]
    pub to_line: bool,
    pub notice: Spanned<String>,
}
