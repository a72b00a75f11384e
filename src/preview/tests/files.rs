//! Tests the user's own policy files, and how their mistakes are reported.

use std::fs;

use super::*;

const GOOD: &str = "agent = \"mine\"\ntool = \"shell\"\nversion = \"1\"\nsource = \"me\"\nconfidence = \"own\"\nsummary = \"s\"\nunit = \"bytes\"\n\n[[param]]\nname = \"max_lines\"\nrole = \"lines\"\ndefault = 2\ndoc = \"d\"\n\n[when]\nlines = \"max_lines\"\n\n[keep]\nstrategy = \"pieces\"\nfrom = \"head\"\nlines = \"max_lines\"\n\n[text]\ncut = \"\"\"\n{{ kept }}\n[{{ removed_lines }} more]\"\"\"\n";

fn load(text: &str) -> (Catalog, Result<(), PolicyError>) {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("mine.toml"), text).unwrap();
    let mut catalog = Catalog::builtin();
    let result = catalog.load_dir(directory.path());
    (catalog, result)
}

/// Returns line, key and message of the error in a file.
fn mistake(text: &str) -> (usize, Option<String>, String) {
    match load(text).1.unwrap_err() {
        PolicyError::Invalid { line, key, message, .. } => (line, key, message),
        error => panic!("{error}"),
    }
}

#[test]
fn every_built_in_file_passes_the_checks_of_a_persons_own() {
    let catalog = Catalog::builtin();
    for name in catalog.names() {
        assert_eq!(Policy::parse(catalog.text(name).unwrap()).unwrap().name(), name);
    }
}

#[test]
fn a_users_file_defines_a_policy() {
    let (catalog, result) = load(GOOD);
    result.unwrap();
    assert!(catalog.is_own("mine/shell"));
    let policy = catalog.get("mine/shell").unwrap();
    let totals = Totals::count(b"a\nb\nc");
    let input = Input::new(Output { bytes: b"a\nb\nc", totals: &totals }, "/P");
    assert_eq!(plan(&input, &policy).unwrap().text(&input), "a\nb\n[1 more]");
}

#[test]
fn text_that_the_template_omits_does_not_count_as_kept() {
    let kept_of = |keep: &str, cut: &str| {
        let (before, _) = GOOD.split_once("[keep]").unwrap();
        let text = format!("{before}[keep]\n{keep}\n\n[text]\ncut = \"{cut}\"\n");
        let (catalog, result) = load(&text);
        result.unwrap();
        let policy = catalog.get("mine/shell").unwrap();
        let totals = Totals::count(b"a\nb\nc");
        let input = Input::new(Output { bytes: b"a\nb\nc", totals: &totals }, "/P");
        let preview = plan(&input, &policy).unwrap();
        (preview.text(&input), preview.truncated, preview.kept.bytes)
    };
    let pieces = "strategy = \"pieces\"\nlines = \"max_lines\"";
    assert_eq!(kept_of(pieces, "nothing here"), ("nothing here".to_owned(), true, Some(0)));
    let ends = "strategy = \"ends\"\nhead_lines = 6\ntail_lines = 6";
    assert_eq!(kept_of(ends, "{{ head }}<>{{ tail }}"), ("a\nb\nc<>".to_owned(), false, Some(5)));
}

#[test]
fn text_made_for_every_line_is_limited_to_128_mib() {
    let long = format!("number = \"{}\"", "x".repeat(16_000));
    let text =
        Catalog::builtin().text("opencode/read").unwrap().replace("number = \"{{ number }}: \"", &long);
    let (catalog, result) = load(&text);
    result.unwrap();
    let mut policy = catalog.get("opencode/read").unwrap();
    policy.set("limit", "1000000").unwrap();
    policy.set_max_size(u64::from(u32::MAX)).unwrap();
    let lines = b"\n".repeat(10_000);
    let totals = Totals::count(&lines);
    let error = plan(&Input::new(Output { bytes: &lines, totals: &totals }, "/P"), &policy).unwrap_err();
    assert!(error.to_string().contains("128 MiB"), "{error}");
}

#[test]
fn any_strategy_may_measure_cells() {
    let cells = GOOD
        .replace("unit = \"bytes\"", "unit = \"cells\"")
        .replace("[when]\nlines = \"max_lines\"", "[when]\nsize = 4")
        .replace("from = \"head\"", "size = 4\noversize = \"cut\"");
    let (catalog, result) = load(&cells);
    result.unwrap();
    let policy = catalog.get("mine/shell").unwrap();
    let of = |text: &str| {
        let totals = Totals::unknown();
        let input = Input::new(Output { bytes: text.as_bytes(), totals: &totals }, "/P");
        plan(&input, &policy).unwrap().text(&input)
    };
    assert_eq!(of("漢\x1b[1m字"), "漢\x1b[1m字");
    assert_eq!(of("漢字漢\nx"), "漢字\n[1 more]");
    assert_eq!(of("a\x1b[1mbc\ndef"), "a\x1b[1mbc\n[1 more]");
}

#[test]
fn a_users_policy_file_overrides_the_built_in_one() {
    let (catalog, result) =
        load(&GOOD.replace("\"mine\"", "\"opencode\"").replace("\"shell\"", "\"output\""));
    result.unwrap();
    assert_eq!(catalog.get("opencode/output").unwrap().max_lines(), Some(2));
    assert!(catalog.is_own("opencode/output"));
}

#[test]
fn mistakes_are_reported_with_line_and_key() {
    let (line, key, message) = mistake(&GOOD.replace("default = 2", "default = -2"));
    assert_eq!((line, key.as_deref()), (12, Some("default")), "{message}");
    let (line, key, _) = mistake(&GOOD.replace("unit = \"bytes\"", "unit = \"stones\""));
    assert_eq!((line, key.as_deref()), (7, Some("unit")));
    let (line, key, message) = mistake(&GOOD.replace("removed_lines", "removed_linnes"));
    assert_eq!((line, key.as_deref()), (26, Some("cut")));
    assert!(message.contains("`removed_linnes`"), "{message}");
    let (line, _, _) = mistake(&GOOD.replace("{{ kept }}", "{{ kept }"));
    assert_eq!(line, 25);
    let (line, key, message) =
        mistake(&GOOD.replace("lines = \"max_lines\"\n\n[text]", "lines = \"max_lins\"\n\n[text]"));
    assert_eq!((line, key.as_deref()), (21, Some("lines")), "{message}");
    let (line, key, _) = mistake(&GOOD.replace("strategy = \"pieces\"", "strategy = \"peices\""));
    assert_eq!((line, key.as_deref()), (19, Some("strategy")));
    let (line, key, _) = mistake(&GOOD.replace("from = \"head\"", "fron = \"head\""));
    assert_eq!((line, key.as_deref()), (20, Some("fron")));
}

#[test]
fn reports_mistakes_on_load_that_need_no_output_to_see() {
    let (line, key, message) =
        mistake(&GOOD.replace("[when]\nlines = \"max_lines\"", "[when]\nlines = \"1 // 0\""));
    assert_eq!((line, key.as_deref()), (16, Some("lines")), "{message}");
    let (line, key, message) = mistake(&GOOD.replace("\n\n[text]", "\nsize = \"max_lines / 3\"\n\n[text]"));
    assert_eq!((line, key.as_deref()), (22, Some("size")), "{message}");
    assert!(message.contains("`max_lines / 3` is not a whole number"), "{message}");
    let with = |failed: &str| GOOD.replace("version = \"1\"", &format!("failed = \"{failed}\""));
    let (line, key, message) = mistake(&with("pi/bsh"));
    assert_eq!((line, key.as_deref()), (3, Some("failed")), "{message}");
    assert!(message.contains("did you mean pi/bash?"), "{message}");
    let (catalog, _) = load(&with("x/z"));
    assert!(catalog.get("mine/shell").unwrap_err().to_string().contains("mine.toml:3:"));
    load(&with("pi/bash")).1.unwrap();
    load(&with("mine/shell")).1.unwrap();
}

#[test]
fn a_key_of_another_strategy_is_reported_with_line_and_key() {
    let (line, key, message) = mistake(&GOOD.replace("from = \"head\"", "chunk = 4096"));
    assert_eq!((line, key.as_deref()), (20, Some("chunk")), "{message}");
    assert!(
        message.contains("the strategy `pieces` has no such key; it has strategy, from, lines"),
        "{message}"
    );
    let (line, key, message) = mistake(&GOOD.replace("from = \"head\"", "head_lines = 3"));
    assert_eq!((line, key.as_deref()), (20, Some("head_lines")), "{message}");
}

#[test]
fn a_key_that_a_strategy_needs_is_reported_at_the_strategy() {
    let (line, key, message) = mistake(&GOOD.replace("strategy = \"pieces\"", "strategy = \"held\""));
    assert_eq!((line, key.as_deref()), (19, Some("held")), "{message}");
    assert_eq!(message, "the strategy `held` needs this key");
    let (line, key, message) = mistake(&GOOD.replace("strategy = \"pieces\"\n", ""));
    assert_eq!((line, key.as_deref()), (18, Some("strategy")), "{message}");
    assert_eq!(message, "`[keep]` needs this key");
}

#[test]
fn every_table_of_the_engine_reports_foreign_and_missing_keys() {
    let (line, key, message) = mistake(&GOOD.replace("[when]\n", "[when]\nsizes = 3\n"));
    assert_eq!((line, key.as_deref()), (16, Some("sizes")), "{message}");
    let (line, key, message) = mistake(&GOOD.replace("[text]\n", "[text]\nhole = \"x\"\n"));
    assert_eq!((line, key.as_deref()), (24, Some("hole")), "{message}");
    let (line, key, message) = mistake(&format!("{GOOD}\n[cap]\nover = 3\nsize = 2\n"));
    assert_eq!((line, key.as_deref()), (28, Some("notice")), "{message}");
    let variant = "\n[[variant]]\ntools = [\"x\"]\nkeep = { strategy = \"size\", size = 3, lines = 4 }\n";
    let (line, key, message) = mistake(&format!("{GOOD}{variant}"));
    assert_eq!((line, key.as_deref()), (30, Some("lines")), "{message}");
}

#[test]
fn a_value_of_the_wrong_type_is_reported_with_line_and_key() {
    let with = |line: &str| mistake(&GOOD.replace("from = \"head\"", line));
    for (line, key) in [
        ("from = 3", "from"),
        ("from = \"middle\"", "from"),
        ("size = true", "size"),
        ("size = -1", "size"),
        ("zero_keeps_all = \"yes\"", "zero_keeps_all"),
        ("remove = \"(\"", "remove"),
    ] {
        let (at, found, message) = with(line);
        assert_eq!((at, found.as_deref()), (20, Some(key)), "{line}: {message}");
    }
}

#[test]
fn a_wrong_date_is_reported_with_line_and_key() {
    let with = |line: &str| GOOD.replace("version = \"1\"", line);
    let (line, key, message) = mistake(&with("from = { version = \"1\", date = \"2026-13\" }"));
    assert_eq!((line, key.as_deref()), (3, Some("date")), "{message}");
    assert!(message.contains("`2026-13` is not a date"), "{message}");
    let (line, _, message) = mistake(&with("until = { versoin = \"1\" }"));
    assert!(line == 3 && message.contains("did you mean `version`?"), "{message}");
    load(&with("from = { date = \"2026-02\" }\nuntil = {}\nseen = { version = \"7\" }")).1.unwrap();
    load(&with("")).1.unwrap();
}

#[test]
fn an_earlier_form_refers_to_a_current_policy() {
    let catalog = Catalog::builtin();
    for name in catalog.names() {
        let policy = catalog.get(name).unwrap();
        let Some(of) = policy.era().of else { continue };
        assert_eq!(catalog.get(&of).unwrap().era().of, None, "{name}");
        assert!(catalog.other_eras(&policy).iter().any(|other| other.name() == of), "{name}");
    }
    let (catalog, _) = load(&GOOD.replace("version = \"1\"", "era_of = \"no/such\""));
    assert!(catalog.is_current(&catalog.get("mine/shell").unwrap()), "what is not there hides nothing");
}

#[test]
fn a_missing_directory_has_no_policies() {
    Catalog::builtin().load_dir(std::path::Path::new("/nowhere/at/all")).unwrap();
}

#[test]
fn unknown_names_and_values_list_what_there_is() {
    let error = Catalog::builtin().get("no/such").unwrap_err().to_string();
    assert!(error.contains("`overspill policies` lists"), "{error}");
    let mut policy = policy("opencode/output", &[]);
    let error = policy.set("colour", "red").unwrap_err().to_string();
    assert_eq!(
        error,
        "opencode/output has no parameter `colour`; it has: max_lines, max_bytes, direction, task_tool"
    );
    let error = policy.set("direction", "up").unwrap_err().to_string();
    assert_eq!(error, "opencode/output: `direction` takes one of head, tail, not `up`");
    assert!(policy.set("max_lines", "-1").is_err() && policy.set("max_lines", "two").is_err());
    assert!(super::policy("opencode/read", &[]).set("offset", "0").is_err());
}

#[test]
fn max_bytes_sets_the_policys_own_size_limit() {
    let mut policy = policy("t15/generic", &[]);
    policy.set("max_bytes", "7").unwrap();
    assert_eq!((policy.max_size(), policy.key(ParamRole::Size)), (Some(7), Some("max_units")));
    assert!(policy.set_max_lines(1).is_err());
}
