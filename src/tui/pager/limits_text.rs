//! Limits as text to copy: flags, the policy's file, the agent's own configuration.

use crate::config;
use crate::preview::Policy;
use crate::text::label::shell::word;
use crate::tui::popup::copying::{CopyWhat, Copyable};

/// Returns the forms in which there are the limits of a policy.
pub(crate) fn copyable(policy: &Policy) -> Vec<Copyable> {
    let flags = Copyable::new(CopyWhat::Flags, flags(policy));
    let file = policy.written().map(|text| {
        Copyable::described(CopyWhat::PolicyFile, text, "for policies/ in the configuration".to_owned())
    });
    let agent = config::settings(policy)
        .map(|(file, text)| Copyable::described(CopyWhat::AgentConfig, text, format!("for {file}")));
    std::iter::once(flags).chain(file).chain(agent).collect()
}

/// Returns the limits as flags for the command line.
fn flags(policy: &Policy) -> String {
    let set = policy.params().iter().filter(|param| policy.is_set(&param.name));
    let set = set.filter_map(|param| {
        let set = format!("{}={}", param.name, policy.get(&param.name)?);
        Some(format!(" --set {}", word(set.as_bytes())))
    });
    format!("--policy {}{}", word(policy.name().as_bytes()), set.collect::<String>())
}
