//! Lets Codex trust the hook, by its app-server: without trust it runs no hook, and does not say so.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::child::TimedChild;

const LIMIT: Duration = Duration::from_secs(10);

/// What to do if Codex does not answer.
pub(super) const BY_HAND: &str = "Codex does not run the hook until you trust it: enter /hooks in Codex";

/// Asks Codex to trust the hook with this command. `None` if it does not answer as is known.
pub(super) fn trust(command: &str, file: &Path) -> Option<()> {
    let directory = file.parent()?;
    let mut server = Command::new("codex");
    server.arg("app-server").current_dir(directory);
    let mut server = TimedChild::start(server, LIMIT).ok()?;
    let client = json!({ "name": "overspill", "version": env!("CARGO_PKG_VERSION") });
    ask(&mut server, 1, "initialize", &json!({ "clientInfo": client }))?;
    server.write_line(&json!({ "method": "initialized" }).to_string()).ok()?;
    let hooks = ask(&mut server, 2, "hooks/list", &json!({ "cwds": [directory] }))?;
    let hook = find(&hooks, command)?;
    let edit = json!({
        "keyPath": "hooks.state", "value": { hook.0: { "trusted_hash": hook.1 } }, "mergeStrategy": "upsert",
    });
    ask(&mut server, 3, "config/batchWrite", &json!({ "edits": [edit] })).map(drop)
}

/// Sends a request, and returns its result.
fn ask(server: &mut TimedChild, id: u32, method: &str, params: &Value) -> Option<Value> {
    server.write_line(&json!({ "id": id, "method": method, "params": params }).to_string()).ok()?;
    loop {
        let Ok(mut answer) = serde_json::from_str::<Value>(&server.next_line()?) else { continue };
        if answer["id"] == id {
            return answer.get_mut("result").map(Value::take);
        }
    }
}

/// Returns the key and the hash of the hook with this command, however deep it is.
fn find<'a>(value: &'a Value, command: &str) -> Option<(&'a str, &'a str)> {
    match value {
        Value::Array(list) => list.iter().find_map(|value| find(value, command)),
        Value::Object(hook) => {
            let text = |name| hook.get(name).and_then(Value::as_str);
            match (text("key"), text("currentHash")) {
                (Some(key), Some(hash)) if text("command") == Some(command) => Some((key, hash)),
                _ => hook.values().find_map(|value| find(value, command)),
            }
        }
        _ => None,
    }
}
