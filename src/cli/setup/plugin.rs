//! The plugin of opencode, which asks the hook without holding the program up.

use super::agent::{MAX_SECONDS, Wanted};

const PLUGIN: &str = include_str!("../../../assets/opencode-plugin.js");

/// What every form of the plugin has.
const NAME: &str = "export const Overspill";

/// Returns the plugin in place of one that setup wrote before.
pub(super) fn with(text: Option<&str>, wanted: &Wanted) -> Result<String, String> {
    match text {
        Some(text) if !text.trim().is_empty() && !text.contains(NAME) => {
            Err("is no plugin of overspill's".to_owned())
        }
        _ => Ok(lines(wanted)),
    }
}

/// Returns what is left without the plugin: nothing, if the file is the plugin.
pub(super) fn without(text: &str) -> String {
    if text.contains(NAME) { String::new() } else { text.to_owned() }
}

/// Returns the text of the plugin.
pub(super) fn lines(wanted: &Wanted) -> String {
    let program = serde_json::Value::from(&*wanted.program).to_string();
    PLUGIN.replace("LIMIT", &(1000 * MAX_SECONDS).to_string()).replace("PROGRAM", &program)
}
