use jiff::Timestamp;

use super::*;

fn config(home: &Path) -> Config {
    let mut config = Config::load(Env::hermetic(home).with_var("TMPDIR", home.join("tmp")));
    config.directory = home.join("work");
    config
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Parsing is a large part of a start, so it is counted.
#[test]
fn only_the_policy_in_use_is_parsed() {
    let home = tempfile::tempdir().unwrap();
    let before = crate::preview::PARSED.get();
    let config = config(home.path());
    assert_eq!(crate::preview::PARSED.get() - before, 0);
    config.resolve(&Overrides::default(), Some(&home.path().join("build.log"))).unwrap();
    assert_eq!(crate::preview::PARSED.get() - before, 1);
}

#[test]
fn uses_the_default_policy_if_none_is_named() {
    let home = tempfile::tempdir().unwrap();
    let resolved = config(home.path()).resolve(&Overrides::default(), None).unwrap();
    assert_eq!(resolved.policy.name(), DEFAULT_POLICY);
    assert!(matches!(resolved.limits_from, LimitsFrom::Policy));
}

#[test]
fn flags_override_the_configuration_which_overrides_the_agents() {
    let home = tempfile::tempdir().unwrap();
    write(
        &home.path().join(".config/opencode/opencode.json"),
        r#"{"tool_output": {"max_lines": 3, "max_bytes": 33}}"#,
    );
    let resolved = config(home.path()).resolve(&Overrides::default(), None).unwrap();
    assert_eq!((resolved.policy.max_lines(), resolved.policy.max_size()), (Some(3), Some(33)));
    assert!(matches!(resolved.limits_from, LimitsFrom::Agent(_)));

    let text = "[limits.\"opencode/output\"]\nmax_lines = 2\n[tools.grep]\nmax_bytes = \"1k\"\npolicy = \"opencode/output\"\n";
    write(&home.path().join(".config/overspill/config.toml"), text);
    let resolved = config(home.path()).resolve(&Overrides::default(), None).unwrap();
    assert_eq!((resolved.policy.max_lines(), resolved.policy.max_size()), (Some(2), Some(33)));
    assert!(matches!(resolved.limits_from, LimitsFrom::Config(_)));

    let overrides = Overrides { tool: Some("grep".into()), max_lines: Some(1), ..Overrides::default() };
    let resolved = config(home.path()).resolve(&overrides, None).unwrap();
    assert_eq!((resolved.policy.max_lines(), resolved.policy.max_size()), (Some(1), Some(1024)));
    assert!(matches!(resolved.limits_from, LimitsFrom::Flags));
}

#[test]
fn an_agents_setting_applies_to_each_tool_that_reads_it() {
    let home = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| write(&home.path().join(name), text);
    file(".gemini/settings.json", r#"{"tools": {"truncateToolOutputThreshold": 20000}}"#);
    file(".qwen/settings.json", r#"{"tools": {"truncateToolOutputThreshold": 10000}} // ours"#);
    file(".claude/settings.json", r#"{"bashOutputMaxChars": 3}"#);
    let size = |name: &str, env: Env| {
        let resolved = Config::load(env).resolve_named(name).unwrap();
        (resolved.policy.max_size(), matches!(resolved.limits_from, LimitsFrom::Agent(_)))
    };
    let env = || Env::hermetic(home.path());
    assert_eq!(size("gemini-cli/output", env()), (Some(20_000), true));
    assert_eq!(size("gemini-cli/output", env().with_var("GEMINI_CLI_HOME", "/none")), (Some(40_000), false));
    assert_eq!(size("qwen-code/shell", env()), (Some(10_000), true));
    assert_eq!(size("claude-code/bash", env()), (Some(4_000), true), "the least that the agent takes");
    assert_eq!(size("claude-code/bash-2026-02", env()), (Some(30_000), false), "it had no such setting");
}

#[test]
fn the_store_of_a_file_determines_its_policy() {
    let home = tempfile::tempdir().unwrap();
    write(&home.path().join(".config/overspill/config.toml"), "policy = \"opencode/metadata\"\n");
    let spill = home.path().join(".local/share/opencode/tool-output/tool_0118bbe93001AbCdEfGhIjKlMn");
    let config = config(home.path());
    let inside = config.resolve(&Overrides::default(), Some(&spill)).unwrap();
    assert_eq!(inside.policy.name(), "opencode/shell");
    assert!(matches!(inside.chosen_by, ChosenBy::Store(_)));
    let outside = config.resolve(&Overrides::default(), Some(Path::new("/var/log/x"))).unwrap();
    assert_eq!(outside.policy.name(), "opencode/metadata");
}

#[test]
fn the_same_limit_twice_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let size = Some("50k".parse().unwrap());
    let set = vec![("max_bytes".to_owned(), "7".to_owned())];
    let overrides = Overrides { max_size: size, set, ..Overrides::default() };
    let error = config(home.path()).resolve(&overrides, None).unwrap_err();
    assert!(matches!(error, OverrideError::Twice { .. }), "{error}");
}

#[test]
fn a_suffix_is_for_bytes_only() {
    let home = tempfile::tempdir().unwrap();
    let size = Some("50k".parse().unwrap());
    let overrides =
        Overrides { policy: Some("opencode/metadata".into()), max_size: size, ..Overrides::default() };
    let error = config(home.path()).resolve(&overrides, None).unwrap_err();
    assert!(matches!(error, OverrideError::Suffix { .. }), "{error}");
}

#[test]
fn a_tool_without_effect_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let overrides = Overrides { tool: Some("grep".into()), ..Overrides::default() };
    let error = config(home.path()).resolve(&overrides, None).unwrap_err();
    assert!(matches!(error, OverrideError::NoTool(_)), "{error}");
}

#[test]
fn a_mistake_in_the_configuration_names_the_file() {
    let home = tempfile::tempdir().unwrap();
    write(&home.path().join(".config/overspill/config.toml"), "polizy = 1\n");
    let config = Config::load(Env::hermetic(home.path()));
    let fault = &config.faults()[0];
    assert!(
        fault.words.contains("config.toml:1:1: `polizy`: there is no such key; did you mean `policy`?"),
        "{fault}"
    );
    assert!(
        fault.stops(RequiredSettings::Limits)
            && fault.stops(RequiredSettings::Screens)
            && !fault.stops(RequiredSettings::Nothing)
    );
}

/// Creates a file that was last changed at the start of a day.
fn dated(path: &Path, day: &str) {
    write(path, "x");
    let time: Timestamp = format!("{day}T00:00:00Z").parse().unwrap();
    std::fs::File::open(path).unwrap().set_modified(time.into()).unwrap();
}

#[test]
fn a_stored_file_is_shown_by_the_policy_of_its_time() {
    let home = tempfile::tempdir().unwrap();
    let config = config(home.path());
    let on = |file: &str, day: &str| {
        let spill = home.path().join("tmp").join(file);
        dated(&spill, day);
        config.resolve(&Overrides::default(), Some(&spill)).unwrap().policy.name().to_owned()
    };
    let of_pi = |day: &str| on("pi-bash-0123456789abcdef.log", day);
    assert_eq!(of_pi("2026-02-28"), "pi/bash-2026-03");
    assert_eq!(of_pi("2026-04-05"), "pi/bash-2026-03", "the last day counts");
    assert_eq!(of_pi("2026-05-23"), "pi/bash", "so does the first");
    assert_eq!(of_pi("2026-11-22"), "pi/bash");
    assert_eq!(of_pi("2026-04-20"), "pi/bash", "between the two that are known: as the store has it");
    assert_eq!(of_pi("2025-12-07"), "pi/bash-2026-03", "of two that may have held, the later");
    let of_go = |day: &str| on("opencode-99/bash-stdout-1771545600000000000.txt", day);
    assert_eq!(of_go("2026-02-20"), "go-opencode/shipped-2026-02");
    assert_eq!(of_go("2026-03-04"), "go-opencode/shipped-2026-02");
    assert_eq!(of_go("2026-03-05"), "go-opencode/shipped");
}

#[test]
fn does_not_reconstruct_for_a_day_with_no_known_policy() {
    let home = tempfile::tempdir().unwrap();
    let config = config(home.path());
    let (pi, opencode) = ("tmp/pi-bash-0123456789abcdef.log", ".local/share/opencode/tool-output/tool_old");
    let opencode = opencode.replace("old", &"z".repeat(26));
    let on = |file: &str, policy: Option<&str>, day: &str| {
        let file = home.path().join(file);
        dated(&file, day);
        let overrides = Overrides { policy: policy.map(str::to_owned), ..Overrides::default() };
        let resolved = config.resolve(&overrides, Some(&file)).unwrap();
        (resolved.certainty == Certainty::Reconstructed, resolved.warnings.join("; "))
    };
    let known = (true, String::new());
    let unknown = |day: &str| (false, format!("how this was cut on {day} is not known"));
    assert_eq!(on(pi, None, "2026-04-05"), known);
    assert_eq!(on(pi, None, "2026-04-20"), unknown("2026-04-20"));
    assert_eq!(on(&opencode, None, "2025-06-01"), unknown("2025-06-01"));
    assert_eq!(on(&opencode, None, "2026-02-01"), known);
    assert_eq!(on(&opencode, Some("opencode/shell"), "2026-02-01"), (false, String::new()), "not yet");
    assert_eq!(on(&opencode, Some("opencode/shell"), "2026-03-01"), known);
}

#[test]
fn the_likeliest_policy_of_the_files_day_comes_first() {
    let home = tempfile::tempdir().unwrap();
    let config = config(home.path());
    // Created 2026-05-14 and 2026-02-24 by their ids.
    let spill = |id: &str| home.path().join(".local/share/opencode/tool-output").join(id);
    let may = spill("tool_e26cf08d5001AbCdEfGhIjKlMn");
    let february = spill("tool_c8d4f0000001AbCdEfGhIjKlMn");
    for file in [&may, &february] {
        dated(file, "2026-11-22");
    }
    assert_eq!(config.candidates(Some(&may)), ["opencode/shell", "opencode/output", "opencode/v2"]);
    assert_eq!(config.candidates(Some(&february)), ["opencode/output", "opencode/v2", "opencode/shell"]);
}

/// Returns a minimal policy file, with more lines at its top.
fn plain(tool: &str, more: &str) -> String {
    format!(
        "agent = \"mine\"\ntool = \"{tool}\"\n{more}source = \"me\"\nconfidence = \"own\"\nsummary = \"s\"\nunit = \"bytes\"\n\n[when]\nsize = 1\n\n[keep]\nstrategy = \"size\"\nfrom = \"head\"\nsize = 1\n\n[text]\ncut = \"{{{{ kept }}}}\"\n"
    )
}

const STORE: &str = "agent = \"mine\"\nsource = \"me\"\nconfidence = \"own\"\n\n[[store]]\nroots = [\"~/spills\"]\nfiles = [{ name = 'x-(?<id>tool_.+)', policies = [\"mine/other\", \"mine/new\", \"mine/old\"] }, { name = 'y', policies = [\"mine/new\", \"mine/old\"] }]\nretention = { by = \"never\" }\n";

#[test]
fn the_time_in_the_id_precedes_the_modification_time() {
    let home = tempfile::tempdir().unwrap();
    let own = |name: &str, text: &str| write(&home.path().join(".config/overspill").join(name), text);
    own("policies/old.toml", &plain("old", "until = { date = \"2026-08\" }\nera_of = \"mine/new\"\n"));
    own("policies/new.toml", &plain("new", "from = { version = \"2\", date = \"2026-08\" }\n"));
    own("policies/other.toml", &plain("other", ""));
    own("stores/mine.toml", STORE);
    let config = config(home.path());
    // Created 2026-05-14, changed later.
    let (with_id, without) =
        (home.path().join("spills/x-tool_e26cf08d5001AbCdEfGhIjKlMn"), home.path().join("spills/y"));
    dated(&with_id, "2026-09-30");
    assert_eq!(config.candidates(Some(&with_id)), ["mine/other", "mine/old", "mine/new"]);
    dated(&without, "2026-09-30");
    assert_eq!(config.candidates(Some(&without)), ["mine/new", "mine/old"]);
    dated(&without, "2026-07-31");
    assert_eq!(config.candidates(Some(&without)), ["mine/old", "mine/new"]);
    dated(&without, "2026-08-01");
    assert_eq!(config.candidates(Some(&without)), ["mine/new", "mine/old"], "both may have held");
}

#[test]
fn stores_name_only_existing_policies_and_their_parameters() {
    let (stores, catalog) = (LazyStores::default(), Catalog::builtin());
    for spec in &stores.specs {
        for rule in &spec.files {
            let policies = Vec::from_iter(rule.policies.iter().map(|name| catalog.get(name).unwrap()));
            for key in rule.sets.keys() {
                let has_key = policies.iter().all(|policy| policy.get(key).is_some());
                assert!(has_key && !policies.is_empty(), "{}: {key}", spec.name);
            }
        }
    }
}

const KIMI: &str =
    ".kimi-code/sessions/wd_web_0123456789ab/session_b51462bc-c4a8-4af5-acd2-8daf9f492909/agents/main";

#[test]
fn a_files_path_gives_parameters_of_its_policy() {
    let home = tempfile::tempdir().unwrap();
    let config = config(home.path());
    let set = |path: &str| {
        let path = home.path().join(path);
        let resolved = config.resolve(&Overrides::default(), Some(&path)).unwrap();
        assert_eq!(config.candidates(Some(&path)).first().unwrap(), resolved.policy.name(), "{path:?}");
        assert_eq!(resolved.certainty, Certainty::Reconstructed, "{path:?}");
        let set = resolved.policy.changed().into_iter().map(|(key, value)| format!("{key}={value}"));
        set.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(set("tmp/opencode-99/bash-stderr-1785000000000000000.txt"), "stream=stderr");
    assert_eq!(set("tmp/opencode-99/bash-stdout-1785000000000000000-7.txt"), "stream=stdout");
    assert_eq!(set("tmp/opencode-sess1/bash-1785000000000000000-stderr.txt"), "stream=stderr");
    assert_eq!(set("tmp/opencode-99/mcp-search_docs-1787000000000000000-123.txt"), "label=search_docs");
    let uuid = "b51462bc-c4a8-4af5-acd2-8daf9f492909.txt";
    assert_eq!(set(&format!("{KIMI}/tasks/bash-rh4qskiy/output.log")), "task_id=bash-rh4qskiy");
    assert_eq!(set(&format!("{KIMI}/tool-results/Bash-call_1-{uuid}")), "call_id=call_1");
    assert_eq!(set(&format!("{KIMI}/tool-results/Grep-call-1-{uuid}")), "call_id=call-1 tool_name=Grep");
    let of_server = format!("{KIMI}/tool-results/mcp__my-server__rows-call_08-{uuid}");
    assert_eq!(set(&of_server), "call_id=call_08 tool_name=mcp__my-server__rows");
    // A name that is not UTF-8.
    let name: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"Grep-\xff\x1b[m-");
    let path = home
        .path()
        .join(KIMI)
        .join("tool-results")
        .join([name.to_owned(), uuid.into()].join(std::ffi::OsStr::new("")));
    let odd = config.resolve(&Overrides::default(), Some(&path)).unwrap();
    assert_eq!(odd.policy.get("call_id").unwrap().to_string(), "\u{fffd}\u{1b}[m");
}

#[test]
fn each_tool_of_qwen_code_has_the_policy_of_its_own_limits() {
    let home = tempfile::tempdir().unwrap();
    let config = config(home.path());
    for (tool, policy, warning) in [
        ("run_shell_command", "qwen-code/shell", ""),
        ("grep_search", "qwen-code/grep", ""),
        ("mcp__fix__rows", "qwen-code/mcp", ""),
        ("agent", DEFAULT_POLICY, "how this was cut is not known"),
        ("read_file", DEFAULT_POLICY, "how this was cut is not known"),
    ] {
        let path = home.path().join(format!(".qwen/tmp/{}/{tool}_0123456789ab.output", "a".repeat(64)));
        let resolved = config.resolve(&Overrides::default(), Some(&path)).unwrap();
        assert_eq!((resolved.policy.name(), &*resolved.warnings.join("; ")), (policy, warning), "{tool}");
    }
}

#[test]
fn a_result_that_copilot_cut_again_has_a_policy_of_its_own() {
    let home = tempfile::tempdir().unwrap();
    let first = "tmp/17-copilot-tool-output-42-01234567-89ab-4cde-8f01-23456789abcd.txt";
    let second = "tmp/1795324411625-copilot-tool-output-0123456789abcdef0123456789abcdef.txt";
    let of = |path: &str| config(home.path()).candidates(Some(&home.path().join(path)));
    assert_eq!([of(first)[0].as_str(), of(second)[0].as_str()], ["copilot-cli/tool", "copilot-cli/result"]);
}

#[test]
fn flags_and_the_configuration_win_over_a_files_path() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("tmp/opencode-99/bash-stderr-1785000000000000000.txt");
    let stream = |config: &Config, overrides: &Overrides| {
        let resolved = config.resolve(overrides, Some(&path)).unwrap();
        resolved.policy.get("stream").map(|stream| stream.to_string())
    };
    let named =
        |name: &str| Overrides { policy: Some(format!("go-opencode/{name}")), ..Overrides::default() };
    let config_of = || config(home.path());
    let set = Overrides { set: vec![("stream".into(), "stdout".into())], ..Overrides::default() };
    assert_eq!(stream(&config_of(), &set).as_deref(), Some("stdout"));
    assert_eq!(stream(&config_of(), &named("shipped")).as_deref(), Some("stderr"));
    assert_eq!(stream(&config_of(), &named("bash")).as_deref(), Some("stdout"), "its store does not name it");
    let text = "[limits.\"go-opencode/shipped\"]\nstream = \"stdout\"\n";
    write(&home.path().join(".config/overspill/config.toml"), text);
    assert_eq!(stream(&config_of(), &Overrides::default()).as_deref(), Some("stdout"));
}

#[test]
fn a_path_gives_only_what_a_parameter_takes() {
    let home = tempfile::tempdir().unwrap();
    let own = |name: &str, text: &str| write(&home.path().join(".config/overspill").join(name), text);
    let params = "[[param]]\nname = \"most\"\ndefault = 7\nmax = 9\n\n";
    own("policies/new.toml", &plain("new", "").replace("[when]", &format!("{params}[when]")));
    let rule = r#"{ name = 'x(?<id>.+)', policies = ["mine/new"], sets = { most = "id", none = "id" } }"#;
    let store = "agent = \"mine\"\n[[store]]\nroots = [\"~/spills\"]\nretention = { by = \"never\" }\n";
    own("stores/mine.toml", &format!("{store}files = [{rule}]\n"));
    let config = config(home.path());
    assert!(config.faults().is_empty(), "{:?}", config.faults());
    for (name, most) in [("x8", "8"), ("x10", "7"), ("x-1", "7"), ("xstderr", "7")] {
        let path = home.path().join("spills").join(name);
        let resolved = config.resolve(&Overrides::default(), Some(&path)).unwrap();
        assert_eq!(resolved.policy.get("most").unwrap().to_string(), most, "{name}");
    }
}

#[test]
fn a_kept_copy_uses_its_record_or_the_default_if_that_is_invalid() {
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let own = home.path().join(".local/share/overspill");
    let copy = own.join("tool-output/tool_001a20feed397001U5yZfVLODbQO");
    let record = own.join("records/tool_001a20feed397001U5yZfVLODbQO.json");
    write(&copy, "x");
    let cut_by = |policies: &str, parameters: &str| {
        let text = format!(
            r#"{{"path": "/p", "original": "/elsewhere/out", "modified": "2026-11-01T00:00:00Z", "agent": "pi", "tool": null,
            "session": null, "project": null, "holds": "raw", "command": "", "policies": {policies},
            "parameters": {parameters}, "limits_from": "/etc/limits"}}"#
        );
        write(&record, &text);
        for directory in [&own, &own.join("tool-output"), &own.join("records")] {
            std::fs::set_permissions(directory, PermissionsExt::from_mode(0o700)).unwrap();
        }
        let config = config(home.path());
        let found = config.resolve(&Overrides::default(), Some(&copy)).unwrap();
        let limits = (found.policy.max_lines(), found.limits_from.to_string());
        let saved_as = config.stored_file(&copy).unwrap().saved_as().display().to_string();
        (found.policy.name().to_owned(), limits, found.certainty, saved_as)
    };
    let as_recorded = |from: &str, certainty| {
        ("pi/bash".to_owned(), (Some(7), from.to_owned()), certainty, "/elsewhere/out".to_owned())
    };
    let sound = cut_by(r#"["pi/bash", "pi/grep"]"#, r#"{"max_lines": "7"}"#);
    assert_eq!(sound, as_recorded("/etc/limits", Certainty::Reconstructed));
    let limits = (Some(2000), "policy".to_owned());
    let ours = (
        "opencode/output".to_owned(),
        limits.clone(),
        Certainty::WouldGet,
        copy.to_str().unwrap().to_owned(),
    );
    for (policies, parameters) in [
        (r#"["no/such"]"#, "{}"),
        (r#"["pi/bash"]"#, r#"{"max_lines": "many"}"#),
        (r#"["pi/bash"]"#, r#"{"no_such": "7"}"#),
        ("7", "{}"),
    ] {
        assert_eq!(cut_by(policies, parameters), ours, "{policies} {parameters}");
    }
    // Its store named no policy: so it is of the original.
    let unnamed = cut_by("[]", "{}");
    assert_eq!(unnamed, ("opencode/output".into(), limits, Certainty::WouldGet, "/elsewhere/out".into()));
}

/// Bounds are of the agent as it is today: a run was cut by the limits that it had.
#[test]
fn a_run_keeps_its_recorded_limits_even_if_no_longer_allowed() {
    use crate::preview::{Input, Output, Totals, plan};
    use std::os::unix::fs::PermissionsExt;
    let home = tempfile::tempdir().unwrap();
    let own = home.path().join(".local/share/overspill");
    let spill = own.join("tool-output/tool_001a20feed397001U5yZfVLODbQO");
    let output = "some words\n".repeat(1000);
    write(&spill, &output);
    let set = |limit: &str| [("max_bytes".to_owned(), limit.to_owned())].into();
    let run =
        RunRecord { policy: "claude-code/bash".to_owned(), parameters: set("900"), ..RunRecord::default() };
    let record = serde_json::to_string(&Record::Run(run)).unwrap();
    write(&own.join("records/tool_001a20feed397001U5yZfVLODbQO.json"), &record);
    for directory in [&own, &own.join("tool-output"), &own.join("records")] {
        std::fs::set_permissions(directory, PermissionsExt::from_mode(0o700)).unwrap();
    }
    let config = config(home.path());
    let found = config.resolve(&Overrides::default(), Some(&spill)).unwrap();
    assert_eq!((found.policy.name(), found.policy.max_size()), ("claude-code/bash", Some(900)));
    assert!(matches!(&found.limits_from, LimitsFrom::Record(record) if record == "run"));
    assert!(
        config.catalog.get("claude-code/bash").unwrap().set("max_bytes", "900").is_err(),
        "too low by now"
    );
    let totals = Totals::count(output.as_bytes());
    let input = Input::new(Output { bytes: output.as_bytes(), totals: &totals }, "/saved");
    let preview = plan(&input, &found.policy).unwrap().text(&input);
    assert!(preview.contains("Preview (first 2KB):\nsome words\n") && preview.len() < 1200, "{preview}");
}
