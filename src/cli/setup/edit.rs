//! PURE: from the text of an agent's file to the text that it is to have.

use crate::cli::args::HookAgent;

use super::agent::{MAX_SECONDS, SetupRequest};
use super::{codex, hooks_json};

/// The plugin of opencode, which asks the hook without holding the program up.
const PLUGIN: &str = include_str!("../../../assets/opencode-plugin.js");

/// What every form of the plugin has.
const NAME: &str = "export const Overspill";

/// Fails with why the text cannot be understood.
pub(super) fn with(agent: HookAgent, text: Option<&str>, wanted: &SetupRequest) -> Result<String, String> {
    match agent {
        HookAgent::Codex => codex::with(text, wanted),
        HookAgent::Opencode => with_plugin(text, wanted),
        _ => hooks_json::with(agent, text, wanted),
    }
}

/// Returns the text without anything that setup wrote.
pub(super) fn without(agent: HookAgent, text: &str, wanted: &SetupRequest) -> Result<String, String> {
    match agent {
        HookAgent::Codex => codex::without(text, &wanted.file),
        HookAgent::Opencode => Ok(if text.contains(NAME) { String::new() } else { text.to_owned() }),
        _ => hooks_json::without(agent, text),
    }
}

/// Returns the text as it was before setup, `None` if there was no file: the backup, if nobody has changed anything else
/// since.
pub(super) fn before(
    agent: HookAgent,
    text: &str,
    backup: Option<&str>,
    wanted: &SetupRequest,
) -> Result<Option<String>, String> {
    let rest = without(agent, text, wanted)?;
    if rest == text {
        return Ok(Some(rest));
    }
    let forms = [false, true].map(|capture| SetupRequest { capture, ..wanted.clone() });
    let is_as_written = forms.iter().any(|wanted| {
        let written = with(agent, backup, wanted).and_then(|written| without(agent, &written, wanted));
        written.is_ok_and(|written| written == rest)
    });
    Ok(if is_as_written { backup.map(str::to_owned) } else { Some(rest) })
}

/// Returns the plugin in place of one that setup wrote before.
fn with_plugin(text: Option<&str>, wanted: &SetupRequest) -> Result<String, String> {
    match text {
        Some(text) if !text.trim().is_empty() && !text.contains(NAME) => {
            Err("is no plugin of overspill's".to_owned())
        }
        _ => {
            let program = serde_json::Value::from(&*wanted.program).to_string();
            Ok(PLUGIN.replace("LIMIT", &(1000 * MAX_SECONDS).to_string()).replace("PROGRAM", &program))
        }
    }
}
