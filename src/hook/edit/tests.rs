//! The texts of agents' files before and after setup.

use clap::ValueEnum;
use serde_json::Value;

use super::*;
use crate::hook::agent::PREFIX;

/// What Codex writes behind the hook when it trusts it.
const STATE: &str = "\n[hooks.state]\n";
const TRUST: &str =
    "\n[hooks.state.\"/home/u/.codex/config.toml:post_tool_use:0:0\"]\ntrusted_hash = \"sha256:69809cc3\"\n";

fn wanted() -> SetupRequest {
    let file = "/home/u/.codex/config.toml".into();
    SetupRequest { program: "/opt/overspill".to_owned(), file, replace: false, capture: false }
}

/// Texts that an agent's file may have.
fn texts(agent: HookAgent) -> &'static [&'static str] {
    match agent {
        HookAgent::Opencode => &[""],
        HookAgent::Codex => &[
            "",
            "model = \"m\"",
            "# mine\nmodel = \"m\" # so\n\n[tui]\nx = 1\n",
            "[[hooks.PostToolUse]]\nmatcher = \"Bash\"\n[[hooks.PostToolUse.hooks]]\ntype = \"command\"\ncommand = \"mine\"\n",
            "[[hooks.PreToolUse]]\nmatcher = \"x\"\n",
            "model = \"m\"\r\n",
            "model = \"m\"\r\nother = 1",
            "[hooks.state.\"/a/config.toml:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:1\"\n",
        ],
        _ => &[
            "",
            "{}",
            "{}\n",
            "{\"hooks\":{}}",
            "{ \"env\": {} }",
            "// mine\n{\n\t\"model\": \"m\", // so\n\t/* why */ \"env\": { \"A\": \"1\" },\n}\n",
            "{\n  \"hooks\": {\n    \"PostToolUse\": [\n      // mine\n      { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"mine\" }] }\n    ]\n  }\n}\n",
            "{\"hooks\": {\"AfterTool\": [], \"postToolUse\": [{\"bash\": \"mine\"}]}}",
            "{\r\n  \"a\": [1, 2],\r\n  \"hooks\": { \"Stop\": [] }\r\n}\r\n",
        ],
    }
}

#[test]
fn setup_then_remove_is_the_identity_for_every_agent() {
    for agent in HookAgent::value_variants().iter().copied() {
        for capture in [false, agent == HookAgent::ClaudeCode] {
            let wanted = SetupRequest { capture, ..wanted() };
            for text in texts(agent).iter().map(|text| Some(*text)).chain([None]) {
                let new = with(agent, text, &wanted).unwrap();
                assert_ne!(Some(&*new), text);
                assert_eq!(before(agent, &new, text, &wanted).unwrap().as_deref(), text, "{agent:?}: {new}");
            }
        }
    }
}

#[test]
fn setup_twice_changes_nothing_and_a_new_path_replaces_the_old() {
    let moved = SetupRequest { program: "/moved/overspill".to_owned(), replace: true, ..wanted() };
    for agent in HookAgent::value_variants().iter().copied() {
        for text in texts(agent) {
            let new = with(agent, Some(text), &wanted()).unwrap();
            assert_eq!(with(agent, Some(&new), &wanted()).unwrap(), new, "{agent:?}");
            let again = with(agent, Some(&new), &moved).unwrap();
            assert!(again.contains("/moved/overspill") && !again.contains("/opt/overspill"), "{again}");
        }
    }
}

/// Removal puts back no hook from before setup, by hand or by a setup of another program.
#[test]
fn removal_leaves_no_hook_even_if_the_backup_has_one() {
    let first = SetupRequest { program: "/first/overspill".to_owned(), ..wanted() };
    for agent in HookAgent::value_variants().iter().copied() {
        for text in texts(agent) {
            let by_hand = with(agent, Some(text), &first).unwrap();
            let new = with(agent, Some(&by_hand), &wanted()).unwrap();
            let rest = before(agent, &new, Some(&by_hand), &wanted()).unwrap().unwrap_or_default();
            assert!(!rest.contains("overspill"), "{agent:?}: {rest}");
        }
    }
    let twice = with(HookAgent::Codex, None, &first).unwrap() + "\n";
    let twice = twice + &with(HookAgent::Codex, None, &wanted()).unwrap();
    assert_eq!(without(HookAgent::Codex, &twice, &wanted()).unwrap(), "");
}

#[test]
fn codex_setup_uses_the_line_endings_of_the_file() {
    let text = "model = \"m\"\r\n";
    let new = with(HookAgent::Codex, Some(text), &wanted()).unwrap();
    assert_eq!(new.matches('\n').count(), new.matches("\r\n").count(), "{new:?}");
    assert_eq!(without(HookAgent::Codex, &new, &wanted()).unwrap(), text);
}

#[test]
fn removal_keeps_edits_made_after_setup() {
    let text = "{\n  // mine\n  \"model\": \"m\"\n}\n";
    let new = with(HookAgent::ClaudeCode, Some(text), &wanted()).unwrap();
    assert!(new.starts_with("{\n  // mine\n  \"model\": \"m\",\n  \"hooks\": {\n"), "{new}");
    let changed = new.replace("\"m\"", "\"other\"");
    let rest = before(HookAgent::ClaudeCode, &changed, Some(text), &wanted()).unwrap().unwrap();
    assert!(rest.contains("// mine\n  \"model\": \"other\"") && !rest.contains("hooks"), "{rest}");
}

#[test]
fn removes_only_overspills_hook_from_a_shared_group() {
    let text = r#"{"hooks":{"PostToolUse":[{"matcher":"Bash","hooks":[{"command":"mine"},{"command":"overspill hook claude-code"}]}]}}"#;
    let rest: Value =
        serde_json::from_str(&without(HookAgent::ClaudeCode, text, &wanted()).unwrap()).unwrap();
    assert_eq!(rest["hooks"]["PostToolUse"][0]["hooks"], serde_json::json!([{"command": "mine"}]));
}

/// A command that only ends with the hook is the user's.
#[test]
fn leaves_a_command_of_the_users_that_runs_the_hook_among_other_things() {
    for command in ["log; /opt/overspill hook claude-code", "nice -n 5 /opt/overspill hook claude-code"] {
        let hook = format!(r#"{{"type":"command","command":"{command}"}}"#);
        let text = format!(
            r#"{{"hooks":{{"PostToolUse":[{{"hooks":[{hook}]}}]}},"env":{{"{PREFIX}":"nice overspill -c"}}}}"#
        );
        assert_eq!(without(HookAgent::ClaudeCode, &text, &wanted()).unwrap(), text);
        let new = with(HookAgent::ClaudeCode, Some(&text), &wanted()).unwrap();
        assert!(new.contains(command) && new.contains("\"nice overspill -c\""), "{new}");
    }
    let spaced = SetupRequest { program: "/a b/overspill".to_owned(), ..wanted() };
    let new = with(HookAgent::ClaudeCode, None, &spaced).unwrap();
    assert_eq!(before(HookAgent::ClaudeCode, &new, None, &spaced), Ok(None));
}

#[test]
fn codex_setup_refuses_a_group_that_has_the_hook_among_others() {
    let hook =
        |command| format!("[[hooks.PostToolUse.hooks]]\ntype = \"command\"\ncommand = \"{command}\"\n");
    let [own, mine] = ["/opt/overspill hook codex", "mine"].map(hook);
    for hooks in [format!("{own}{mine}"), format!("{mine}{own}"), format!("{mine}\n{own}\n[x]\ny = 1\n")] {
        let text = format!("[[hooks.PostToolUse]]\nmatcher = \"Bash\"\n\n{hooks}");
        for result in
            [with(HookAgent::Codex, Some(&text), &wanted()), without(HookAgent::Codex, &text, &wanted())]
        {
            assert!(result.as_ref().is_err_and(|why| why.contains("hook among others")), "{result:?}");
        }
    }
}

#[test]
fn setup_refuses_files_in_an_unexpected_form() {
    for (agent, text, why) in [
        (HookAgent::ClaudeCode, "{", "not JSON"),
        (HookAgent::ClaudeCode, "{'a': 1}", "not JSON"),
        (HookAgent::ClaudeCode, "[]", "not an object"),
        (HookAgent::ClaudeCode, r#"{"hooks": []}"#, "hooks is not an object"),
        (HookAgent::GeminiCli, r#"{"hooks": {"AfterTool": {}}}"#, "hooks.AfterTool is not a list"),
        (HookAgent::QwenCode, r#"{"hooks": {}, "hooks": {}}"#, "hooks twice"),
        (HookAgent::Codex, "a = ", "not TOML"),
        (HookAgent::Codex, "hooks = { PostToolUse = [] }\n", "in a form"),
        (HookAgent::Codex, "[hooks]\nPostToolUse = []\n", "in a form"),
        (HookAgent::Opencode, "export const Mine = 1\n", "not overspill's plugin"),
        (HookAgent::Opencode, "export const Overspill = mine\n", "other lines than setup writes"),
    ] {
        let error = with(agent, Some(text), &wanted()).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
}

#[test]
fn the_trust_that_codex_added_goes_with_the_hook() {
    let text = "model = \"m\"\n";
    let new = with(HookAgent::Codex, Some(text), &wanted()).unwrap();
    let trusted = format!("{new}{STATE}{TRUST}");
    assert_eq!(without(HookAgent::Codex, &trusted, &wanted()).unwrap(), text);
    assert_eq!(before(HookAgent::Codex, &trusted, Some(text), &wanted()).unwrap().as_deref(), Some(text));
    let alone = with(HookAgent::Codex, None, &wanted()).unwrap() + STATE + TRUST;
    assert_eq!(before(HookAgent::Codex, &alone, None, &wanted()).unwrap(), None, "there was no file");
}

#[test]
fn the_trust_in_each_of_several_hooks_goes_with_it() {
    let first = SetupRequest { program: "/first/overspill".to_owned(), ..wanted() };
    let text = with(HookAgent::Codex, Some("model = \"m\"\n"), &first).unwrap() + "\n";
    let text = text + &with(HookAgent::Codex, None, &wanted()).unwrap() + STATE + TRUST;
    let text = text + &TRUST.replace(":0:0", ":1:0");
    assert_eq!(text.matches("trusted_hash").count(), 2);
    assert_eq!(without(HookAgent::Codex, &text, &wanted()).unwrap(), "model = \"m\"\n");
    let once = with(HookAgent::Codex, Some("model = \"m\"\n"), &wanted()).unwrap();
    assert_eq!(with(HookAgent::Codex, Some(&text), &wanted()).unwrap(), once, "one of them is as wanted");
}

/// The form before this one had no note for the results of MCP servers.
#[test]
fn replaces_an_older_plugin_and_refuses_an_edited_one() {
    let new = with(HookAgent::Opencode, None, &wanted()).unwrap();
    let (head, _) = new.split_once("    // An MCP server's").unwrap();
    let older = head.to_owned()
        + r#"    const response = { output: output.output, metadata: output.metadata }
    const answer = await ask({
      hook_event_name: "tool.execute.after", tool_name: input.tool, tool_input: input.args ?? {}, tool_response: response,
    })
    if (answer.additionalContext) output.output += "\n\n" + answer.additionalContext
  },
})
"#;
    let moved = older.replace("/opt/", "/moved/");
    for older in [&older, &moved] {
        assert_eq!(with(HookAgent::Opencode, Some(older), &wanted()).unwrap(), new);
        assert_eq!(without(HookAgent::Opencode, older, &wanted()).unwrap(), "");
        let changed = older.replace("resolve({})", "resolve({ mine })");
        assert!(with(HookAgent::Opencode, Some(&changed), &wanted()).unwrap_err().contains("other lines"));
        assert!(without(HookAgent::Opencode, &changed, &wanted()).unwrap_err().contains("other lines"));
    }
}

/// The hook of a project may have the same number.
#[test]
fn the_trust_in_another_file_stays() {
    let others = TRUST.replace("/home/u", "/work/p");
    let text = format!("model = \"m\"\n{STATE}{others}");
    let new = with(HookAgent::Codex, Some(&text), &wanted()).unwrap();
    for trusted in [new.clone(), format!("{new}{TRUST}"), new.replace(STATE, &format!("{STATE}{TRUST}"))] {
        assert_eq!(without(HookAgent::Codex, &trusted, &wanted()).unwrap(), text, "{trusted}");
    }
}

#[test]
fn refuses_capture_with_a_foreign_prefix_or_a_path_with_spaces() {
    let capture = SetupRequest { capture: true, ..wanted() };
    let text = format!(r#"{{"env": {{"{PREFIX}": "mine"}}}}"#);
    assert!(with(HookAgent::ClaudeCode, Some(&text), &capture).unwrap_err().contains("to another program"));
    let spaced = SetupRequest { program: "/a b/overspill".to_owned(), ..capture };
    assert!(with(HookAgent::ClaudeCode, None, &spaced).unwrap_err().contains("needs quotes"));
    let hook = with(HookAgent::ClaudeCode, None, &SetupRequest { capture: false, ..spaced }).unwrap();
    assert!(hook.contains("\"'/a b/overspill' hook claude-code\""), "{hook}");
}
