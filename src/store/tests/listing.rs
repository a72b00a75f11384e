//! Tests what is listed, which agent it belongs to, and when it is deleted.

use std::fs::{self, File};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::SignedDuration;

use crate::store::*;

use super::{Home, ID, OTHER, age, now};

fn ids(entries: &[Entry]) -> Vec<std::borrow::Cow<'_, str>> {
    entries.iter().map(Entry::id).collect()
}

#[test]
fn opencode_is_listed_with_its_seven_days() {
    let home = Home::new();
    home.opencode(ID, b"hello", 24);
    home.opencode(OTHER, b"old", 24 * 8);
    home.opencode("notes.txt", b"not ours to show", 1);
    let entries = home.list("opencode");
    assert_eq!(ids(&entries), [OTHER, ID]);
    assert!(
        matches!(entries[0].left(now()), TimeLeft::Overdue(over) if over == SignedDuration::from_hours(24))
    );
    assert!(
        matches!(entries[1].left(now()), TimeLeft::For(left) if left == SignedDuration::from_hours(24 * 6))
    );
    let entry = &entries[1];
    assert_eq!(
        (entry.size(), entry.agent(), &entry.status, entry.rule),
        (5, "opencode", &EntryStatus::Ok, Rule::Mtime)
    );
    assert_eq!(entry.made().unwrap().to_string(), "2026-05-14T14:06:02.965Z".to_string());
    assert_eq!(&*first_line(entry).unwrap(), "hello");
}

#[test]
fn a_missing_store_is_reported() {
    let home = Home::new();
    let stores = Stores::builtin();
    let spec = stores.named("opencode").next().unwrap();
    let reports = scan(spec, &home.env, now(), &mut |_| ControlFlow::Continue(()));
    assert_eq!(reports[0].state, RootState::Absent);
    assert_eq!(reports[0].root, home.at(".local/share/opencode/tool-output"));
}

#[test]
fn a_scan_stops_when_told() {
    let home = Home::new();
    home.opencode(ID, b"1", 1);
    home.opencode(OTHER, b"2", 1);
    let stores = Stores::builtin();
    let spec = stores.named("opencode").next().unwrap();
    let reports = scan(spec, &home.env, now(), &mut |_| ControlFlow::Break(()));
    assert_eq!((reports[0].entries, &reports[0].state), (1, &RootState::Stopped));
}

#[test]
fn a_pattern_that_fits_every_directory_does_not_walk_the_disk() {
    let home = Home::new();
    for number in 0..400 {
        fs::create_dir_all(home.at(&format!("wide/{}/{}", number / 20, number % 20))).unwrap();
    }
    let text = "agent = \"mine\"\nsource = \"me\"\nconfidence = \"own\"\n\n[[store]]\nroots = [\"~/wide\"]\n\
                path = ['.*', '.*']\nfiles = [{ name = '.*' }]\nretention = { by = \"never\" }\n";
    let config = home.file(&home.at("stores/mine.toml"), text.as_bytes(), 0);
    let mut stores = Stores::default();
    stores.load_dir(config.parent().unwrap()).unwrap();
    let reports = scan(&stores.specs[0], &home.env, now(), &mut |_| ControlFlow::Continue(()));
    let [(path, why)] = &reports[0].unreadable[..] else { panic!("{:?}", reports[0].unreadable) };
    assert!(path.starts_with(home.at("wide")) && why.contains("make it narrower"), "{path:?}: {why}");
}

#[test]
fn files_that_only_look_like_spills_are_marked() {
    let home = Home::new();
    let real = home.opencode(ID, b"x", 1);
    let dir = real.parent().unwrap();
    symlink(&real, dir.join(OTHER)).unwrap();
    fs::create_dir(dir.join("tool_1118bbe93001AbCdEfGhIjKlMn")).unwrap();
    fs::hard_link(&real, dir.join("second name")).unwrap();
    let future = home.opencode("tool_2118bbe93001AbCdEfGhIjKlMn", b"y", 0);
    File::open(&future).unwrap().set_modified(SystemTime::from(now()) + Duration::from_secs(301)).unwrap();
    let entries = home.list("opencode");
    let statuses: Vec<_> = entries.iter().map(|entry| entry.status).collect();
    assert!(entries[..2].iter().all(|entry| entry.expires.left_word(now()) == "–"), "no rule deletes them");
    assert!(entries[2..].iter().all(|entry| entry.expires.at().is_some()));
    assert_eq!(
        statuses,
        [EntryStatus::SymbolicLink, EntryStatus::NotAFile, EntryStatus::FutureTime, EntryStatus::HardLinked]
    );
}

#[test]
fn a_linked_entry_is_not_read() {
    let home = Home::new();
    let real = home.file(&home.at("secret"), b"secret", 1);
    let link = home.at(".local/share/opencode/tool-output").join(ID);
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(&real, &link).unwrap();
    assert!(first_line(&home.list("opencode")[0]).is_err());
}

#[test]
fn odd_names_are_listed_as_they_are() {
    let home = Home::new();
    let toml = "agent = \"any\"\nsource = \"test\"\nconfidence = \"source\"\n[[store]]\nroots = [\"~/any\"]\nfiles = [{ name = '(?s).+' }]\nretention = { by = \"never\" }\n";
    fs::create_dir_all(home.at("stores")).unwrap();
    fs::write(home.at("stores/any.toml"), toml).unwrap();
    let mut stores = Stores::default();
    stores.load_dir(&home.at("stores")).unwrap();
    let names: [&[u8]; 4] = [b"a\nb", b"\x1b[2J", b"\xff\xfe", &[b'n'; 255]];
    for name in names {
        home.file(&home.at("any").join(std::ffi::OsStr::from_bytes(name)), b"", 1);
    }
    let entries = home.list_with(&stores, "any");
    let mut listed: Vec<_> = entries.iter().map(|entry| entry.name().as_bytes()).collect();
    listed.sort();
    let mut expected = names.to_vec();
    expected.sort();
    assert_eq!(listed, expected);
    assert!(entries.iter().all(|entry| entry.expires == Expiry::Never));
}

#[test]
fn a_file_is_known_by_its_path_alone() {
    let env = Env::hermetic(Path::new("/home/me"));
    let stores = Stores::builtin();
    let of = |path: &str| stores.store_of(Path::new(path), &env).map(|(spec, _)| spec.name.as_str());
    assert_eq!(of(&format!("/home/me/.local/share/opencode/tool-output/{ID}")), Some("opencode"));
    assert_eq!(of("/home/me/.local/share/opencode/tool-output/other"), None);
    assert_eq!(of(&format!("/home/me/.local/share/opencode/tool-output/x/{ID}")), None);
    assert_eq!(of("/etc/passwd"), None);
    let moved = env.clone().with_var("XDG_DATA_HOME", "/data");
    let path = PathBuf::from(format!("/data/overspill/tool-output/{}", new_id(now(), 1, [0; 12])));
    assert_eq!(stores.store_of(&path, &moved).unwrap().0.name, "overspill");
    assert_eq!(own_home(&moved).unwrap(), Path::new("/data/overspill"));
}

const UUID: &str = "01234567-89ab-4cde-8f01-23456789abcd";

/// One path for each kind of file: store, facts as `agent tool session project id`, and the state a day later.
#[test]
fn every_agents_files_are_known() {
    let claude = format!("home/.claude/projects/-home-me-web/{UUID}/tool-results/");
    let gemini = "home/.gemini/tmp/web/tool-outputs/";
    let kimi = format!("home/.kimi-code/sessions/wd_web_0123456789ab/session_{UUID}/agents/main/");
    let cases = [
        (format!("home/.local/share/kilo/tool-output/{ID}"), "kilo", format!("kilo - - - {ID}"), "6d"),
        (format!("home/.local/share/mycode/tool-output/{ID}"), "opencode-fork", format!("mycode - - - {ID}"), "unknown"),
        ("tmp/opencode-41/bash-stdout-17-99.txt".into(), "go-opencode/process", "go-opencode bash - - bash-stdout-17-99.txt".into(), "process"),
        ("tmp/opencode-42/mcp-web_fetch-17-9.txt".into(), "go-opencode/process", "go-opencode web_fetch - - mcp-web_fetch-17-9.txt".into(), "orphaned"),
        ("tmp/opencode-s1/bash-17-stderr.txt".into(), "go-opencode/session", "go-opencode bash s1 - bash-17-stderr.txt".into(), "session"),
        ("tmp/agent-overflow/bash-0a1b2c3d.txt".into(), "t15/recipe", "t15 bash - - 0a1b2c3d".into(), "unknown"),
        ("tmp/pi-bash-0123456789abcdef.log".into(), "pi", "pi bash - - 0123456789abcdef".into(), "never"),
        (format!("{claude}b1a2b3c4d.txt"), "claude-code", format!("claude-code Bash {UUID} -home-me-web b1a2b3c4d"), "29d"),
        (format!("{claude}mcp-gh-list-1795600000000.txt"), "claude-code", format!("claude-code gh-list {UUID} -home-me-web mcp-gh-list-1795600000000"), "29d"),
        (format!("{claude}mcp-gh-list-1795616656988-g3rpzx.txt"), "claude-code", format!("claude-code gh-list {UUID} -home-me-web mcp-gh-list-1795616656988-g3rpzx"), "29d"),
        (format!("{claude}toolu_01AbC.txt"), "claude-code", format!("claude-code - {UUID} -home-me-web toolu_01AbC"), "29d"),
        (format!("{gemini}session-s9/run_shell_command_x1.txt"), "gemini-cli/session", "gemini-cli run_shell_command s9 web run_shell_command_x1".into(), "30d"),
        (format!("{gemini}grep_3.txt"), "gemini-cli/project", "gemini-cli grep - web grep_3".into(), "29d"),
        ("home/.gemini/tmp/web/call7.output".into(), "gemini-cli/2025", "gemini-cli - - web call7".into(), "unknown"),
        ("home/.qwen/tmp/p1/run_shell_command_0123456789ab.output".into(), "qwen-code/output", "qwen-code run_shell_command - p1 0123456789ab".into(), "overdue"),
        ("home/.qwen/tmp/p1/mcp__fix__a_b_0123456789ac.output".into(), "qwen-code/output", "qwen-code mcp__fix__a_b - p1 0123456789ac".into(), "overdue"),
        ("home/.qwen/tmp/p1/tool-results/call_2.txt".into(), "qwen-code/results", "qwen-code - - p1 call_2".into(), "overdue"),
        ("home/.qwen/tmp/p1/background-shells/s/shell-bg_01234567.output".into(), "qwen-code/background", "qwen-code shell s p1 bg_01234567".into(), "unknown"),
        ("home/project/.crush/shell-output/output-42.log".into(), "crush", "crush bash - - 42".into(), "6d"),
        ("tmp/.tmpAb3dE9/stdout-7".into(), "goose/shell", "goose shell - - stdout-7".into(), "process"),
        ("tmp/goose_mcp_responses/mcp_response_20261121_120000.123456.txt".into(), "goose/mcp", "goose - - - mcp_response_20261121_120000.123456".into(), "never"),
        ("home/.hermes/cache/spillover/call_1.txt".into(), "hermes/spillover", "hermes - - - call_1".into(), "overdue"),
        ("home/.kimi/sessions/0123456789abcdef0123456789abcdef/s/tasks/t1/output.log".into(), "kimi-cli", "kimi-cli task s 0123456789abcdef0123456789abcdef t1".into(), "never"),
        ("home/.config/Code/User/workspaceStorage/ab12/GitHub.copilot-chat/chat-session-resources/s/call_1/content.json".into(), "copilot-chat", "copilot-chat - s ab12 call_1".into(), "overdue"),
        ("tmp/17-copilot-tool-output-a1B2c3.txt".into(), "copilot-cli", "copilot-cli - - - 17-copilot-tool-output-a1B2c3".into(), "session"),
        (format!("tmp/17-copilot-tool-output-42-{UUID}.txt"), "copilot-cli", format!("copilot-cli shell - - 17-copilot-tool-output-42-{UUID}"), "session"),
        ("tmp/pi-mcp-0123456789abcdef.txt".into(), "pi", "pi mcp - - 0123456789abcdef".into(), "never"),
        ("tmp/pi-codemode-0123456789abcdef.txt".into(), "pi", "pi codemode - - 0123456789abcdef".into(), "never"),
        (format!("{kimi}tasks/bash-a1b2c3d4/output.log"), "kimi-code/tasks", format!("kimi-code Bash session_{UUID} web bash-a1b2c3d4"), "never"),
        (format!("{kimi}tool-results/Grep-call_1-{UUID}.txt"), "kimi-code/results", format!("kimi-code Grep session_{UUID} web call_1"), "never"),
        (format!("{kimi}tool-results/mcp__my-server__rows-call_08-{UUID}.txt"), "kimi-code/results", format!("kimi-code mcp__my-server__rows session_{UUID} web call_08"), "never"),
        (format!("home/.grok/sessions/%2Fhome%2Fme/{UUID}/terminal/call_1.log"), "grok", format!("grok bash {UUID} %2Fhome%2Fme call_1"), "unknown"),
        ("home/.factory/artifacts/tool-outputs/Grep-toolu_01-12345678.log".into(), "droid", "droid Grep - - toolu_01".into(), "unknown"),
        ("home/.config/Code/User/globalStorage/rooveterinaryinc.roo-cline/tasks/t/command-output/cmd-17.txt".into(), "roo", "roo command t - cmd-17".into(), "session"),
        (format!("home/.openhands/conversations/{}/observations/terminal_output_01234567.txt", UUID.replace('-', "")), "openhands", format!("openhands terminal {} - 01234567", UUID.replace('-', "")), "never"),
        ("tmp/cline/proceed-while-running-17-abc1234.log".into(), "cline", "cline command - - proceed-while-running-17-abc1234".into(), "1d"),
    ];
    let home = Home::new();
    let mut env = home.env.clone().with_var("PWD", home.at("project"));
    env.alive = |pid| pid == 41;
    for (path, ..) in &cases {
        home.file(&home.dir.path().join(path), b"x", 24);
    }
    age(&home.at(".gemini/tmp/web/tool-outputs/session-s9"), 0);
    let stores = Stores::builtin();
    let mut listed = list(&stores.specs, &env, now()).entries;
    // Some roots are in /tmp itself, whatever the environment says.
    listed.retain(|entry| entry.path().starts_with(home.dir.path()));
    assert_eq!(listed.len(), cases.len(), "{:#?}", listed.iter().map(Entry::path).collect::<Vec<_>>());
    for (path, store, facts, end) in &cases {
        let path = home.dir.path().join(path);
        let entry = listed.iter().find(|entry| entry.path() == path).unwrap_or_else(|| panic!("{path:?}"));
        let known = (entry.store().name.as_str(), &described(entry), &*ending(entry));
        assert_eq!(known, (*store, facts, *end), "{path:?}");
        let (of, rule) = stores.store_of(&path, &env).unwrap();
        assert_eq!((&of.name, &rule.policies), (&entry.store().name, &entry.kind().unwrap().policies));
    }
}

#[test]
fn roo_s_outputs_are_found_in_every_editor() {
    let home = Home::new();
    let editors = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];
    let local =
        editors.map(|name| [format!(".config/{name}"), format!("Library/Application Support/{name}")]);
    for dir in local.into_iter().flatten().chain([".vscode-server/data".into()]) {
        let tasks = home.at(&dir).join("User/globalStorage/rooveterinaryinc.roo-cline/tasks");
        home.file(&tasks.join("t/command-output/cmd-17.txt"), b"x", 24);
    }
    assert_eq!(home.list("roo").len(), 11);
}

fn described(entry: &Entry) -> String {
    let or_dash = |word: Option<&str>| word.unwrap_or("-").to_owned();
    let (tool, session, project) =
        (or_dash(entry.tool()), or_dash(entry.session()), or_dash(entry.project()));
    format!("{} {tool} {session} {project} {}", entry.agent(), entry.id())
}

fn ending(entry: &Entry) -> String {
    match (entry.expires, entry.left(now())) {
        (_, TimeLeft::Overdue(_)) => "overdue".into(),
        (_, TimeLeft::For(left)) => format!("{}d", (left.as_hours() + 12) / 24),
        (Expiry::SessionEnd, _) => "session".into(),
        (Expiry::ProcessExit, _) => "process".into(),
        (other, _) => format!("{other:?}").to_lowercase(),
    }
}

#[test]
fn an_age_set_in_the_agents_configuration_counts() {
    let home = Home::new();
    let dir = home.at(".claude/projects/-p/01234567-89ab-4cde-8f01-23456789abcd/tool-results");
    home.file(&dir.join("b1a2b3c4d.txt"), b"x", 24);
    // Less than a day is none that the agent takes, and what it does then is not known.
    for (days, left) in
        [("3", "2d"), ("1", "overdue"), ("0", "unknown"), ("-1", "unknown"), ("0.5", "unknown")]
    {
        let settings = format!(r#"{{"cleanupPeriodDays": {days}}}"#);
        home.file(&home.at(".claude/settings.json"), settings.as_bytes(), 0);
        assert_eq!(ending(&home.list("claude-code")[0]), left, "{days}");
    }
}

#[test]
fn gemini_counts_in_months_and_can_be_told_to_delete_nothing() {
    let home = Home::new();
    home.file(&home.at(".gemini/tmp/p/tool-outputs/glob_1.txt"), b"x", 24 * 10);
    let ages = [
        (r#""enabled": true, "maxAge": "1m", // a month"#, "20d"),
        (r#""maxAge": "1w""#, "overdue"),
        (r#""maxAge": "240h""#, "overdue"),
        (r#""enabled": false, "maxAge": "1d""#, "never"),
        // It deletes nothing by an age that it does not take.
        (r#""maxAge": "30s""#, "unknown"),
        (r#""maxAge": "0d""#, "unknown"),
        (r#""maxAge": "1h""#, "unknown"),
        (r#""maxAge": "23h""#, "unknown"),
        (r#""maxAge": "24h""#, "overdue"),
        (r#""maxAge": "#, "unknown"),
        (r#""enabled": true"#, "20d"),
    ];
    for (set, left) in ages {
        let settings = format!("{{\"general\": {{\"sessionRetention\": {{{set}\n}}}}}}");
        home.file(&home.at(".gemini/settings.json"), settings.as_bytes(), 0);
        assert_eq!(ending(&home.list("gemini-cli")[0]), left, "{set}");
    }
}

#[test]
fn keep_own_for_sets_the_age_of_the_own_store() {
    let home = Home::new();
    home.file(&own_home(&home.env).unwrap().join("tool-output").join(new_id(now(), 1, [0; 12])), b"x", 24);
    let mut stores = Stores::builtin();
    stores.keep_own_for(Some(SignedDuration::from_hours(72)));
    assert_eq!(ending(&home.list_with(&stores, "overspill")[0]), "2d");
    stores.keep_own_for(None);
    assert_eq!(ending(&home.list_with(&stores, "overspill")[0]), "never");
}

#[test]
fn a_users_description_replaces_the_agents() {
    let home = Home::new();
    fs::create_dir_all(home.at("stores")).unwrap();
    let toml = "agent = \"opencode\"\nsource = \"mine\"\nconfidence = \"source\"\n[[store]]\nroots = [\"~/moved\"]\nfiles = [{ name = 'tool_.+' }]\nretention = { by = \"id\", after = \"7d\" }\n";
    fs::write(home.at("stores/mine.toml"), toml).unwrap();
    let mut stores = Stores::builtin();
    let before = stores.specs.len();
    stores.load_dir(&home.at("stores")).unwrap();
    stores.load_dir(&home.at("missing")).unwrap();
    assert_eq!(stores.specs.len(), before);
    home.opencode(ID, b"x", 24);
    home.file(&home.at("moved").join(ID), b"x", 24);
    let entries = home.list_with(&stores, "opencode");
    assert_eq!((entries.len(), entries[0].rule), (1, Rule::Id));
}

#[test]
fn a_fork_with_a_description_of_its_own_is_listed_once() {
    let home = Home::new();
    home.file(&home.at(".local/share/mimo/tool-output").join(ID), b"x", 24);
    home.file(&home.at(".local/share/other/tool-output").join(ID), b"x", 24);
    let toml = "agent = \"mimo\"\nsource = \"mine\"\nconfidence = \"source\"\n[[store]]\nroots = [\"~/.local/share/mimo/tool-output\"]\nfiles = [{ name = 'tool_.+' }]\nretention = { by = \"mtime\", after = \"7d\" }\n";
    home.file(&home.at("stores/mimo.toml"), toml.as_bytes(), 0);
    let mut stores = Stores::builtin();
    stores.load_dir(&home.at("stores")).unwrap();
    let described = ["mimo", "opencode-fork"].into_iter().flat_map(|name| stores.named(name));
    let entries = list(described, &home.env, now()).entries;
    let found: Vec<_> = entries.iter().map(|entry| (entry.agent(), entry.rule)).collect();
    assert_eq!(found, [("mimo", Rule::Mtime), ("other", Rule::Unknown)]);
}

#[test]
fn the_built_in_descriptions_are_valid_files_of_a_users_own() {
    let (home, builtin) = (Home::new(), Stores::builtin());
    fs::create_dir_all(home.at("stores")).unwrap();
    for spec in &builtin.specs {
        let text = builtin.text(&spec.agent).unwrap();
        fs::write(home.at("stores").join(format!("{}.toml", spec.agent)), text).unwrap();
    }
    let mut stores = Stores::default();
    stores.load_dir(&home.at("stores")).unwrap();
    let names = |stores: &Stores| stores.specs.iter().map(|spec| spec.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&stores), names(&builtin));
}

#[test]
fn mistakes_in_a_users_file_are_reported_with_their_line() {
    let home = Home::new();
    fs::create_dir_all(home.at("stores")).unwrap();
    fs::write(home.at("stores/bad.toml"), "agent = \"x\"\nsorce = \"y\"\n").unwrap();
    let error = Stores::builtin().load_dir(&home.at("stores")).unwrap_err().to_string();
    assert!(
        error.contains("bad.toml") && error.contains("bad.toml:2:1") && error.contains("sorce"),
        "{error}"
    );
    let pattern = "agent = \"x\"\nsource = \"y\"\nconfidence = \"source\"\n[[store]]\nroots = [\"~\"]\nfiles = [{ name = '(' }]\nretention = { by = \"never\" }\n";
    fs::write(home.at("stores/bad.toml"), pattern).unwrap();
    let error = Stores::builtin().load_dir(&home.at("stores")).unwrap_err().to_string();
    assert!(error.contains("bad.toml") && error.contains("unclosed group"), "{error}");
}

#[test]
fn an_id_or_a_unique_prefix_names_an_entry() {
    let home = Home::new();
    home.opencode(ID, b"1", 1);
    home.opencode("tool_e26cf08d5002AbCdEfGhIjKlMn", b"2", 1);
    let stores = Stores::builtin();
    let resolved = |typed: &str| match &resolve(typed, &stores.specs, &home.env, now())[..] {
        [] => "none".into(),
        [entry] => entry.id().into_owned(),
        several => format!("{}", several.len()),
    };
    assert_eq!(resolved(ID), ID);
    assert_eq!(resolved("tool_e26cf08d5001"), ID);
    assert_eq!(resolved("tool_e2"), "2");
    assert_eq!((resolved("x").as_str(), resolved("").as_str()), ("none", "none"));
}

fn watch(listing: &Listing) -> DirWatch {
    DirWatch::new(listing.reports.iter().flat_map(|(_, roots)| roots))
}

#[test]
fn a_change_of_a_directory_is_noticed() {
    let home = Home::new();
    let stores = Stores::builtin();
    let listed = |home: &Home| watch(&list(stores.named("opencode"), &home.env, now()));
    let mut absent = listed(&home);
    assert!(!absent.check_once());
    let path = home.opencode(ID, b"x", 1);
    assert!(absent.check_once());
    let dir = path.parent().unwrap();
    age(dir, 5);
    let mut watch = listed(&home);
    assert!(!watch.check_once());
    home.opencode(OTHER, b"y", 1);
    assert!(watch.check_once());
    assert!(!watch.check_once());
    fs::remove_dir_all(dir).unwrap();
    assert!(watch.check_once());
}

#[test]
fn a_session_that_appears_is_noticed() {
    let home = Home::new();
    let stores = Stores::builtin();
    let base = home.at(".claude/projects/-p/01234567-89ab-4cde-8f01-23456789abcd");
    fs::create_dir_all(&base).unwrap();
    let mut watch = watch(&list(stores.named("claude-code"), &home.env, now()));
    assert!(!watch.check_once());
    fs::create_dir(base.join("tool-results")).unwrap();
    assert!(watch.check_once());
}

#[test]
fn the_example_in_the_documentation_is_right() {
    let guide = include_str!("../../../docs/stores.md");
    let start = guide.find("```toml\n").unwrap() + "```toml\n".len();
    let example = &guide[start..start + guide[start..].find("```").unwrap()];
    let home = Home::new();
    home.file(&home.at("stores/example.toml"), example.as_bytes(), 0);
    let mut stores = Stores::default();
    stores.load_dir(&home.at("stores")).unwrap();
    home.file(&home.at(".my-agent/spills/web/s-1/outputs/bash-7.txt"), b"x", 24);
    let entry = home.list_with(&stores, "my-agent").remove(0);
    assert_eq!(described(&entry), "my-agent bash s-1 web 7");
    assert_eq!((entry.holds(), ending(&entry).as_str()), (StoredForm::Stripped, "6d"));
    let known = Stores::builtin();
    let agents =
        known.specs.iter().map(|spec| &spec.agent).chain(known.keep_none.iter().map(|(agent, _)| agent));
    for agent in agents.filter(|agent| *agent != "opencode-fork") {
        assert!(guide.contains(&format!("\n| {agent} |")), "{agent} is not in the guide");
    }
}
