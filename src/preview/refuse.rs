//! Outputs that an agent's tool refuses to show, such as binary files.

use serde::Deserialize;

use super::error::PlanError;
use super::measure::{Text, as_usize};
use super::section::or_default;
use super::template::facts::Facts;
use super::template::scope::Scope;
use super::template::{Figure, Template};

#[derive(Debug, Deserialize)]
pub(crate) struct Refuse {
    /// Number of bytes at the start that are checked for NUL and other control bytes.
    sample: Figure,
    /// Maximum percentage of control bytes, not counting line breaks and tabs.
    controls: Figure,
    /// File name endings that it refuses without looking, in lower case, with the dot.
    #[serde(deserialize_with = "or_default")]
    endings: Vec<String>,
    words: Template,
}

impl Refuse {
    /// Fails with the agent's message if its tool refuses this output, which is saved at `path`.
    pub(super) fn check(&self, text: &Text, path: &str, scope: &Scope) -> Result<(), PlanError> {
        let sample = as_usize(scope.figure(&self.sample)?);
        let controls = scope.figure(&self.controls)?;
        let ending =
            path.rsplit('/').next().and_then(|name| name.rfind('.').map(|at| name[at..].to_lowercase()));
        let is_named = ending.is_some_and(|ending| self.endings.contains(&ending));
        if !is_named && !is_binary(text, sample, controls) {
            return Ok(());
        }
        Err(scope.refusal(&self.words, Facts::new()))
    }
}

/// Whether the start contains a NUL, or more than `most` percent control bytes (not counting TAB to CR).
fn is_binary(text: &Text, sample: usize, most: u64) -> bool {
    let sample = &text.bytes[..text.bytes.len().min(sample)];
    text.touch(0..sample.len());
    let controls = sample.iter().filter(|byte| matches!(byte, ..9 | 14..32)).count() as u64;
    sample.contains(&0) || controls * 100 > sample.len() as u64 * most
}
