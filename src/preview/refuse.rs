//! Outputs that an agent's tool does not show at all, such as binary files.

use super::error::PlanError;
use super::measure::{Text, as_usize};
use super::section::{Fault, Keys};
use super::template::facts::Facts;
use super::template::scope::Scope;
use super::template::{Figure, Template};

/// What the tool does not show.
#[derive(Debug)]
pub(crate) struct Refuse {
    /// Bytes at the start in which it looks for NUL and other control bytes.
    sample: Figure,
    /// Over so many control bytes in a hundred (line breaks and tabs are none) it refuses.
    controls: Figure,
    /// Endings of names that it refuses unseen, lower case, with their dot.
    endings: Vec<String>,
    words: Template,
}

impl Refuse {
    pub(super) fn read(keys: &mut Keys) -> Result<Self, Fault> {
        Ok(Self {
            sample: keys.figure("sample")?,
            controls: keys.figure("controls")?,
            endings: keys.optional_texts("endings")?.unwrap_or_default(),
            words: keys.template("words")?,
        })
    }

    /// The agent's words if its tool refuses this output, which is saved at `path`.
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

/// Whether the start holds a NUL, or more than `most` control bytes in a hundred (those from TAB to CR are none).
fn is_binary(text: &Text, sample: usize, most: u64) -> bool {
    let sample = &text.bytes[..text.bytes.len().min(sample)];
    text.touch(0..sample.len());
    let controls = sample.iter().filter(|byte| matches!(byte, ..9 | 14..32)).count() as u64;
    sample.contains(&0) || controls * 100 > sample.len() as u64 * most
}
