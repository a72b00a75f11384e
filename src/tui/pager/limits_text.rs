//! Limits as text to copy: flags, the policy's file, the agent's own configuration.

use crate::config;
use crate::preview::Policy;
use crate::text::label::shell::word;
use crate::tui::event::Message;
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::screen::{Effect, Effects};

/// Describes the choice of what to copy.
pub(crate) fn choice(keys: &KeyMap) -> String {
    let key = |action| keys.of(KeyContext::Copying, action);
    let [flags, file, agent] = [Action::CopyFlags, Action::CopyPolicy, Action::CopyAgent].map(key);
    let back = key(Action::Back);
    format!("copy: {flags} flags · {file} policy file · {agent} the agent's configuration · {back} back")
}

/// Copies the limits of a policy as the action says. Returns what to report; `None` for another action.
pub(crate) fn copy(
    policy: &Policy,
    action: Option<Action>,
    keys: &KeyMap,
    effects: &mut Effects,
) -> Option<Message> {
    let copied = match action? {
        Action::CopyFlags => Ok(flags(policy)),
        Action::CopyPolicy => file(policy, keys),
        Action::CopyAgent => for_agent(policy),
        _ => return None,
    };
    Some(match copied {
        Ok((text, words)) => {
            effects.push(Effect::Copy(text));
            Message::note(words)
        }
        Err(words) => Message::error(words),
    })
}

/// Returns the limits as flags for the command line, and what to report.
fn flags(policy: &Policy) -> (String, String) {
    let set = policy.params().iter().filter(|param| policy.is_set(&param.name));
    let set = set.filter_map(|param| {
        let set = format!("{}={}", param.name, policy.get(&param.name)?);
        Some(format!(" --set {}", word(set.as_bytes())))
    });
    let flags = format!("--policy {}{}", word(policy.name().as_bytes()), set.collect::<String>());
    let words = format!("copied: {flags}");
    (flags, words)
}

/// Returns the policy's file with these limits.
fn file(policy: &Policy, keys: &KeyMap) -> Result<(String, String), String> {
    let name = policy.name();
    let text = policy.written().ok_or_else(|| {
        let flags = keys.of(KeyContext::Copying, Action::CopyFlags);
        format!("the file of {name} has no place for these limits; {flags} copies flags")
    })?;
    Ok((text, format!("copied: the file of {name}, for policies/ in the configuration")))
}

/// Returns the limits as the agent's own configuration has them.
fn for_agent(policy: &Policy) -> Result<(String, String), String> {
    let settings = config::settings(policy);
    let (file, text) = settings
        .ok_or_else(|| format!("{} has no configuration for these limits that is known", policy.agent()))?;
    Ok((text, format!("copied for {file}")))
}
