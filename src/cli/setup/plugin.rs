//! The plugin of opencode, which asks the hook without holding the program up.

use super::agent::{MAX_SECONDS, Wanted};

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
    let limit = (1000 * MAX_SECONDS).to_string();
    PLUGIN.replace("LIMIT", &limit).replace("PROGRAM", &program)
}

const PLUGIN: &str = r#"// Written by `overspill setup opencode`, taken away with --remove.
import { spawn } from "node:child_process"

const ask = (input) => new Promise((resolve) => {
  const child = spawn(PROGRAM, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
  const late = setTimeout(() => { child.kill("SIGKILL"); resolve({}) }, LIMIT)
  const end = (answer) => { clearTimeout(late); resolve(answer ?? {}) }
  let text = ""
  child.stdout.setEncoding("utf8")
  child.stdout.on("data", (more) => { text += more })
  child.stdin.on("error", () => {})
  child.on("error", () => end())
  child.on("close", () => {
    try { end(JSON.parse(text).hookSpecificOutput) } catch { end() }
  })
  child.stdin.end(JSON.stringify(input))
})

export const Overspill = async () => ({
  "tool.execute.after": async (input, output) => {
    const response = { output: output.output, metadata: output.metadata }
    const answer = await ask({
      hook_event_name: "tool.execute.after", tool_name: input.tool, tool_input: input.args ?? {}, tool_response: response,
    })
    if (answer.additionalContext) output.output += "\n\n" + answer.additionalContext
  },
})
"#;
