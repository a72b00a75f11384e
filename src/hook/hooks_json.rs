//! Adds hooks to the settings of agents that keep them in JSON, and takes them out, with comments and layout kept.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::agent::{HookAgent, JsonHook, OF_PREFIX, PREFIX, REPLACE, SetupRequest, is_program, prefix};

/// JSON with comments and trailing commas, as agents accept it.
const FORM: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(super) fn with(agent: HookAgent, text: Option<&str>, wanted: &SetupRequest) -> Result<String, String> {
    let prefix = wanted.capture.then(|| prefix(&wanted.program)).transpose()?;
    let version = if agent == HookAgent::CopilotCli { "{\n  \"version\": 1\n}\n" } else { "{}\n" };
    let text = text.filter(|text| !text.trim().is_empty()).unwrap_or(version);
    replace(agent, text, (agent.json_hooks(wanted), prefix))
}

/// Returns the text without the hooks that setup wrote, nor what is empty without them.
pub(super) fn without(agent: HookAgent, text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Ok(text.to_owned()) } else { replace(agent, text, OwnLines::default()) }
}

/// What setup writes: the hooks, and the prefix of commands.
type OwnLines = (Vec<JsonHook>, Option<String>);

/// Puts this in place of what setup wrote before; a text that has just this stays as it is.
fn replace(agent: HookAgent, text: &str, new: OwnLines) -> Result<String, String> {
    let root = parse(text)?;
    let object = root.object_value().ok_or("is not an object")?;
    if own(agent, &object) == new {
        return Ok(text.to_owned());
    }
    take_out(agent, &object)?;
    let (hooks, prefix) = new;
    for (event, hook) in hooks {
        let lists = child(&object, "hooks")?;
        only_one(&lists, &event)?;
        let list =
            lists.array_value_or_create(&event).ok_or_else(|| format!("hooks.{event} is not a list"))?;
        list.append(input(hook));
    }
    if let Some(prefix) = prefix {
        let env = child(&object, "env")?;
        if env.get(PREFIX).is_some() {
            return Err(format!("sets {PREFIX} to another program, and Claude Code takes only one"));
        }
        env.append(PREFIX, CstInputValue::String(prefix));
    }
    Ok(root.to_string())
}

pub(super) fn parse(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &FORM).map_err(|error| format!("is not JSON: {error}"))
}

fn child(object: &CstObject, name: &str) -> Result<CstObject, String> {
    only_one(object, name)?;
    object.object_value_or_create(name).ok_or_else(|| format!("{name} is not an object"))
}

/// Fails on a duplicate name: agents use the last, others the first.
fn only_one(object: &CstObject, name: &str) -> Result<(), String> {
    let is_named = |property: &CstObjectProp| property.decoded_name().as_deref() == Some(name);
    match object.properties().into_iter().filter(is_named).count() {
        0 | 1 => Ok(()),
        _ => Err(format!("has {name} twice")),
    }
}

fn own(agent: HookAgent, object: &CstObject) -> OwnLines {
    let hooks = own_hooks(agent, object).into_iter();
    let hooks = hooks.filter_map(|(event, entry, _)| Some((event.decoded_name()?, entry.to_serde_value()?)));
    (hooks.collect(), own_prefix(object).and_then(|property| text_of(property.value())))
}

/// Returns the hooks that setup wrote, each behind the event and the entry of its list that it is in, or is.
fn own_hooks(agent: HookAgent, object: &CstObject) -> Vec<(CstObjectProp, CstNode, CstNode)> {
    let mut own = Vec::new();
    for event in object.object_value("hooks").map(|hooks| hooks.properties()).unwrap_or_default() {
        for entry in event.array_value().map(|list| list.elements()).unwrap_or_default() {
            let hooks = hooks_in(&entry).map_or_else(|| vec![entry.clone()], |hooks| hooks.elements());
            let is_own = |hook: &CstNode| command_of(hook).is_some_and(|command| agent.is_own(&command));
            own.extend(hooks.into_iter().filter(is_own).map(|hook| (event.clone(), entry.clone(), hook)));
        }
    }
    own
}

fn hooks_in(entry: &CstNode) -> Option<CstArray> {
    entry.as_object()?.array_value("hooks")
}

fn command_of(hook: &CstNode) -> Option<String> {
    let text = |key| text_of(hook.as_object()?.get(key)?.value());
    text("command").or_else(|| text("bash"))
}

/// Adds to what is wanted the options that a text has, as only Claude Code's can: a setup takes none away.
pub(crate) fn keep_options(text: &str, wanted: &mut SetupRequest) {
    let Some(object) = parse(text).ok().and_then(|root| root.object_value()) else { return };
    let mut own = own_hooks(OF_PREFIX, &object).into_iter().filter_map(|(.., hook)| command_of(&hook));
    wanted.replace |= own.any(|command| command.ends_with(REPLACE));
    wanted.capture |= own_prefix(&object).is_some();
}

fn own_prefix(object: &CstObject) -> Option<CstObjectProp> {
    let property = object.object_value("env")?.get(PREFIX)?;
    let value = text_of(property.value())?;
    value.strip_suffix(" -c").is_some_and(is_program).then_some(property)
}

fn text_of(node: Option<CstNode>) -> Option<String> {
    node?.as_string_lit()?.decoded_value().ok()
}

fn take_out(agent: HookAgent, object: &CstObject) -> Result<(), String> {
    only_one(object, "hooks")?;
    let is_empty = |list: Option<CstArray>| list.is_some_and(|list| list.elements().is_empty());
    for (event, entry, hook) in own_hooks(agent, object) {
        hook.remove();
        if is_empty(hooks_in(&entry)) {
            entry.remove();
        }
        if is_empty(event.array_value()) {
            event.remove();
            drop_empty(object, "hooks");
        }
    }
    if let Some(property) = own_prefix(object) {
        property.remove();
        drop_empty(object, "env");
    }
    Ok(())
}

fn drop_empty(object: &CstObject, name: &str) {
    if object.object_value(name).is_some_and(|child| child.properties().is_empty())
        && let Some(property) = object.get(name)
    {
        property.remove();
    }
}

fn input(value: Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(is) => CstInputValue::Bool(is),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text),
        Value::Array(list) => CstInputValue::Array(list.into_iter().map(input).collect()),
        Value::Object(object) => {
            CstInputValue::Object(object.into_iter().map(|(name, value)| (name, input(value))).collect())
        }
    }
}
