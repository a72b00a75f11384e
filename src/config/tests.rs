use super::*;

fn config(home: &Path) -> Config {
    let mut config = Config::load(Env::hermetic(home)).unwrap();
    config.directory = home.join("work");
    config
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn without_a_word_it_is_the_default() {
    let home = tempfile::tempdir().unwrap();
    let resolved = config(home.path()).resolve(&Wishes::default(), None).unwrap();
    assert_eq!(resolved.policy.name(), DEFAULT_POLICY);
    assert_eq!(resolved.limits_from, LimitsFrom::Policy);
}

#[test]
fn flags_win_over_our_file_and_that_over_the_agent_s() {
    let home = tempfile::tempdir().unwrap();
    write(
        &home.path().join(".config/opencode/opencode.json"),
        r#"{"tool_output": {"max_lines": 3, "max_bytes": 33}}"#,
    );
    let resolved = config(home.path()).resolve(&Wishes::default(), None).unwrap();
    assert_eq!((resolved.policy.max_lines(), resolved.policy.max_size()), (Some(3), Some(33)));
    assert!(matches!(resolved.limits_from, LimitsFrom::Agent(_)));

    let text = "[limits.\"opencode/output\"]\nmax_lines = 2\n[tools.grep]\nmax_bytes = \"1k\"\npolicy = \"opencode/output\"\n";
    write(&home.path().join(".config/overspill/config.toml"), text);
    let resolved = config(home.path()).resolve(&Wishes::default(), None).unwrap();
    assert_eq!((resolved.policy.max_lines(), resolved.policy.max_size()), (Some(2), Some(33)));
    assert!(matches!(resolved.limits_from, LimitsFrom::Config(_)));

    let wishes = Wishes { tool: Some("grep".into()), max_lines: Some(1), ..Wishes::default() };
    let resolved = config(home.path()).resolve(&wishes, None).unwrap();
    assert_eq!((resolved.policy.max_lines(), resolved.policy.max_size()), (Some(1), Some(1024)));
    assert_eq!(resolved.limits_from, LimitsFrom::Flags);
}

#[test]
fn the_store_in_which_a_file_lies_tells_its_policy() {
    let home = tempfile::tempdir().unwrap();
    write(&home.path().join(".config/overspill/config.toml"), "policy = \"opencode/metadata\"\n");
    let spill = home.path().join(".local/share/opencode/tool-output/tool_0118bbe93001AbCdEfGhIjKlMn");
    let config = config(home.path());
    let inside = config.resolve(&Wishes::default(), Some(&spill)).unwrap();
    assert_eq!(inside.policy.name(), "opencode/output");
    assert!(matches!(inside.chosen_by, ChosenBy::Store(_)));
    let outside = config.resolve(&Wishes::default(), Some(Path::new("/var/log/x"))).unwrap();
    assert_eq!(outside.policy.name(), "opencode/metadata");
}

#[test]
fn the_same_limit_twice_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let size = Some("50k".parse().unwrap());
    let set = vec![("max_bytes".to_owned(), "7".to_owned())];
    let wishes = Wishes { max_size: size, set, ..Wishes::default() };
    let error = config(home.path()).resolve(&wishes, None).unwrap_err();
    assert!(matches!(error, WishError::Twice(_)), "{error}");
}

#[test]
fn a_suffix_goes_with_bytes_only() {
    let home = tempfile::tempdir().unwrap();
    let size = Some("50k".parse().unwrap());
    let wishes = Wishes { policy: Some("opencode/metadata".into()), max_size: size, ..Wishes::default() };
    let error = config(home.path()).resolve(&wishes, None).unwrap_err();
    assert!(matches!(error, WishError::Suffix { .. }), "{error}");
}

#[test]
fn a_tool_that_chooses_nothing_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let wishes = Wishes { tool: Some("grep".into()), ..Wishes::default() };
    let error = config(home.path()).resolve(&wishes, None).unwrap_err();
    assert!(matches!(error, WishError::NoTool(_)), "{error}");
}

#[test]
fn a_fault_in_our_file_names_it() {
    let home = tempfile::tempdir().unwrap();
    write(&home.path().join(".config/overspill/config.toml"), "polizy = 1\n");
    let error = Config::load(Env::hermetic(home.path())).err().unwrap();
    assert!(error.contains("config.toml: line 1: unknown field"), "{error}");
}
