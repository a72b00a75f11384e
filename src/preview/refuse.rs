//! Outputs that an agent's tool does not show at all, such as binary files.

use super::input::Input;
use super::measure::{Text, as_usize};
use super::plan::{self, PlanError};
use super::policy::Policy;
use super::template::{self, Facts};

/// The agent's words if its tool refuses this output.
pub(super) fn check(input: &Input, policy: &Policy, text: &Text) -> Result<(), PlanError> {
    let Some(form) = &policy.form().refuse else { return Ok(()) };
    let wrong = |message| PlanError::policy(policy, message);
    let sample = as_usize(template::figure(policy, &form.sample).map_err(wrong)?);
    let controls = template::figure(policy, &form.controls).map_err(wrong)?;
    let path = input.saved_path(text.source);
    let ending = path.rsplit('/').next().and_then(|name| name.rfind('.').map(|at| name[at..].to_lowercase()));
    let is_named = ending.is_some_and(|ending| form.endings.contains(&ending));
    if !is_named && !is_binary(text, sample, controls) {
        return Ok(());
    }
    let facts: Facts = plan::outside(input, policy, text.source);
    let (message, _) = template::render_plain(policy, form.words.get_ref(), &facts).map_err(wrong)?;
    Err(PlanError::Agent { message })
}

/// Whether the start holds a NUL, or more than `most` control bytes in a hundred (those from TAB to CR are none).
fn is_binary(text: &Text, sample: usize, most: u64) -> bool {
    let sample = &text.bytes[..text.bytes.len().min(sample)];
    text.touch(0..sample.len());
    let controls = sample.iter().filter(|byte| matches!(byte, ..9 | 14..32)).count() as u64;
    sample.contains(&0) || controls * 100 > sample.len() as u64 * most
}
