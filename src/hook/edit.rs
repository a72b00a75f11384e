//! PURE: from the text of an agent's file to the text that it is to have, in JSON by `hooks_json`.

use std::collections::BTreeSet;
use std::path::Path;

use sha2::{Digest, Sha256};
use toml::{Table, Value};

use super::agent::{HookAgent, MAX_SECONDS, SetupRequest};
use super::hooks_json;

#[cfg(test)]
mod tests;

/// The plugin of opencode, which asks the hook without holding the program up.
const PLUGIN: &str = include_str!("../../assets/opencode-plugin.js");

/// The SHA-256 of the form of it that wrote no note to the results of MCP servers.
const OLDER_PLUGIN: &str = "d3cbcd0fe2302280088fb224ff23c7fac93cb49700fb4f45fb63a519a6f9a0cb";

const PLUGIN_MARK: &str = "export const Overspill";

const COMMENT: &str = "# Written by `overspill setup codex`, taken away with --remove.";
const GROUP: &str = "[[hooks.PostToolUse]]";

/// Fails with why the text cannot be understood.
pub(crate) fn with(agent: HookAgent, text: Option<&str>, wanted: &SetupRequest) -> Result<String, String> {
    match agent {
        HookAgent::Codex => with_codex(text, wanted),
        HookAgent::Opencode => with_plugin(text, wanted),
        _ => hooks_json::with(agent, text, wanted),
    }
}

pub(super) fn without(agent: HookAgent, text: &str, wanted: &SetupRequest) -> Result<String, String> {
    match agent {
        HookAgent::Codex => without_codex(text, &wanted.file),
        HookAgent::Opencode if !text.contains(PLUGIN_MARK) => Ok(text.to_owned()),
        HookAgent::Opencode => check_plugin(text).map(|()| String::new()),
        _ => hooks_json::without(agent, text),
    }
}

pub(crate) fn is_without(agent: HookAgent, text: &str, wanted: &SetupRequest) -> bool {
    without(agent, text, wanted).is_ok_and(|rest| rest == text)
}

/// Returns the setting in a text with which the agent runs no hook, as `name = value`.
pub(crate) fn switched_off(agent: HookAgent, text: &str) -> Option<String> {
    let file: serde_json::Value = match agent {
        HookAgent::Codex => toml::from_str(text).ok()?,
        _ => hooks_json::parse(text).ok()?.to_serde_value()?,
    };
    let is_set = |(place, value): &&(&str, bool)| file.pointer(place) == Some(&(*value).into());
    let (place, value) = agent.switches().iter().find(is_set)?;
    Some(format!("{} = {value}", place[1..].replace('/', ".")))
}

/// Returns the text as it was before setup, `None` for no file: the backup, if nothing else changed since.
pub(crate) fn before(
    agent: HookAgent,
    text: &str,
    backup: Option<&str>,
    wanted: &SetupRequest,
) -> Result<Option<String>, String> {
    let rest = without(agent, text, wanted)?;
    if rest == text {
        return Ok(Some(rest));
    }
    let backup = backup.filter(|backup| is_without(agent, backup, wanted));
    let written = with(agent, backup, wanted).and_then(|written| without(agent, &written, wanted));
    Ok(if written.as_ref() == Ok(&rest) { backup.map(str::to_owned) } else { Some(rest) })
}

fn with_plugin(text: Option<&str>, wanted: &SetupRequest) -> Result<String, String> {
    text.filter(|text| !text.trim().is_empty()).map_or(Ok(()), check_plugin)?;
    let program = serde_json::Value::from(&*wanted.program).to_string();
    Ok(plugin().replace("PROGRAM", &program))
}

fn plugin() -> String {
    PLUGIN.replace("LIMIT", &(1000 * MAX_SECONDS).to_string())
}

/// Fails on lines that no setup wrote, because the user's own would be lost with them.
fn check_plugin(text: &str) -> Result<(), String> {
    let program = text.split_once("spawn(").and_then(|(_, rest)| rest.split_once(", [\"hook\""));
    let program = program.map(|(program, _)| program).filter(|program| !program.contains('\n'));
    let form = program.map(|program| text.replacen(program, "PROGRAM", 1));
    let is_older = |form: &str| format!("{:x}", Sha256::digest(form)) == OLDER_PLUGIN;
    match form {
        Some(form) if form == plugin() || is_older(&form) => Ok(()),
        _ if text.contains(PLUGIN_MARK) => {
            Err("has other lines than setup writes; move yours to another file".to_owned())
        }
        _ => Err("is not overspill's plugin".to_owned()),
    }
}

/// Adds the hook to Codex's TOML at its end, in place of one that setup wrote before; what else the file says is compared.
fn with_codex(text: Option<&str>, wanted: &SetupRequest) -> Result<String, String> {
    let text = text.unwrap_or_default();
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let command = Value::String(HookAgent::Codex.command(wanted));
    let matcher = HookAgent::Codex.matcher();
    let lines = format!(
        "{COMMENT}\n{GROUP}\nmatcher = \"{matcher}\"\n\n[[hooks.PostToolUse.hooks]]\ntype = \"command\"\ncommand = {command}\ntimeout = {MAX_SECONDS}\n"
    );
    let lines = lines.replace('\n', end);
    if text.contains(&lines) && parse(text).is_ok_and(|table| own_group(&without_own_group(table)).is_none())
    {
        return Ok(text.to_owned());
    }
    let rest = without_codex(text, &wanted.file)?;
    let before = parse(&rest)?;
    let gap = match &*rest {
        "" => "",
        rest if rest.ends_with('\n') => end,
        _ => &end.repeat(2),
    };
    let new = format!("{rest}{gap}{lines}");
    let same = parse(&new).is_ok_and(|after| {
        own_group(&after).is_some() && without_own_group(after) == without_own_group(before)
    });
    if same { Ok(new) } else { Err("has hooks in a form to which none can be added".to_owned()) }
}

/// Takes the hooks that setup wrote to this file, and their trust, out of Codex's TOML line by line.
fn without_codex(text: &str, file: &Path) -> Result<String, String> {
    let mut rest = text.to_owned();
    let prefix = format!("{}:post_tool_use:", file.display());
    loop {
        let table = parse(&rest)?;
        let Some(number) = own_group(&table) else { return Ok(rest) };
        let cut = cut(&rest).filter(|cut| parse(cut).is_ok_and(|cut| cut == without_own_group(table)));
        let cut = cut.ok_or("has overspill's hook among others; take its lines out by hand")?;
        let cut = without_trust(&cut, &format!("{prefix}{number}:0")).unwrap_or(cut);
        rest = with_trust_moved_up(cut, &prefix, number)?;
    }
}

/// Gives the trust in the groups behind one that was taken out their new numbers, by which Codex keeps it.
fn with_trust_moved_up(mut text: String, prefix: &str, taken: usize) -> Result<String, String> {
    let numbers = |text: &str| -> Result<BTreeSet<usize>, String> {
        let table = parse(text)?;
        let keys = state_in(&table).into_iter().flat_map(Table::keys);
        Ok(keys.filter_map(|key| key.strip_prefix(prefix)?.split_once(':')?.0.parse().ok()).collect())
    };
    let before = numbers(&text)?;
    for number in before.range(taken + 1..) {
        text = text.replace(&format!("\"{prefix}{number}:"), &format!("\"{prefix}{}:", number - 1));
    }
    let moved = before.iter().map(|number| number - usize::from(*number > taken)).collect();
    let why = "has trust in hooks behind overspill's, which Codex keeps by number, in a form that setup does not know";
    if numbers(&text) == Ok(moved) { Ok(text) } else { Err(why.to_owned()) }
}

fn parse(text: &str) -> Result<Table, String> {
    text.parse::<Table>().map_err(|error| format!("is not TOML: {}", error.message()))
}

/// Returns the number of the group that has the hook.
fn own_group(table: &Table) -> Option<usize> {
    let groups = table.get("hooks")?.get("PostToolUse")?.as_array()?;
    let is_it = |hook: &Value| hook.as_table().is_some_and(is_own);
    groups.iter().position(|group| {
        group.get("hooks").and_then(Value::as_array).is_some_and(|hooks| hooks.iter().any(is_it))
    })
}

fn is_own(hook: &Table) -> bool {
    hook.get("command").and_then(Value::as_str).is_some_and(|command| HookAgent::Codex.is_own(command))
}

/// Takes out the group that has the hook, if it has no other.
fn without_own_group(mut table: Table) -> Table {
    let Some(number) = own_group(&table) else { return table };
    let Some(Value::Table(hooks)) = table.get_mut("hooks") else { return table };
    if let Some(Value::Array(groups)) = hooks.get_mut("PostToolUse")
        && groups[number]["hooks"].as_array().is_some_and(|hooks| hooks.len() == 1)
    {
        groups.remove(number);
        if groups.is_empty() {
            hooks.remove("PostToolUse");
        }
    }
    if hooks.is_empty() {
        table.remove("hooks");
    }
    table
}

fn cut(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let own = lines.iter().position(|line| line.parse().is_ok_and(|line: Table| is_own(&line)))?;
    let start = lines[..own].iter().rposition(|line| line.trim() == GROUP)?;
    let start = start - usize::from(start > 0 && lines[start - 1].trim() == COMMENT);
    Some(without_lines(&lines, start, own))
}

/// Leaves out the lines from `start` to the end of the table that the line `within` is of, and the empty line before them.
fn without_lines(lines: &[&str], start: usize, within: usize) -> String {
    let is_next = |line: &&str| line.trim().is_empty() || line.starts_with(['[', '#']);
    let after = lines[within..].iter().position(is_next).map_or(lines.len(), |after| within + after);
    let start = start - usize::from(start > 0 && lines[start - 1].trim().is_empty());
    lines[..start].concat() + &lines[after..].concat()
}

/// Takes out the trust under a key, and an empty table around it; `None` if it is not as Codex writes it.
fn without_trust(text: &str, key: &str) -> Option<String> {
    let rest = without_table(text, |state| state.contains_key(key))?;
    let is_left = state_in(&parse(&rest).ok()?).is_some_and(Table::is_empty);
    Some(if is_left { without_table(&rest, Table::is_empty)? } else { rest })
}

fn state_in(table: &Table) -> Option<&Table> {
    table.get("hooks")?.get("state")?.as_table()
}

/// Removes the first `hooks.state` table that `is_it` accepts, and the empty line before it.
fn without_table(text: &str, is_it: impl Fn(&Table) -> bool) -> Option<String> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let is_header = |line: &&str| {
        line.starts_with('[') && line.parse::<Table>().is_ok_and(|table| state_in(&table).is_some_and(&is_it))
    };
    let start = lines.iter().position(is_header)?;
    let rest = without_lines(&lines, start, start + 1);
    parse(&rest).is_ok().then_some(rest)
}
