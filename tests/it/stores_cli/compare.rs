//! `compare`: one output under every policy.

use serde_json::Value;

use crate::common::home::Home;

/// 5,000 lines; an `error:` near the start, in the middle and at the end.
fn stocked() -> Home {
    let home = Home::new();
    let line = |n: u32| match n {
        10 | 2500 | 4995 => format!("error: {n}\n"),
        _ => format!("line {n}\n"),
    };
    home.file("out.log", (1..=5000).map(line).collect::<String>());
    home
}

fn row<'a>(json: &'a Value, policy: &str) -> &'a Value {
    json.as_array().unwrap().iter().find(|row| row["policy"] == policy).unwrap()
}

#[test]
fn compare_reads_a_pipe_without_an_argument() {
    let home = stocked();
    let text = std::fs::read(home.at("out.log")).unwrap();
    let named = home.pipe(&text[..], &["compare", "-", "--json"]).ok().json();
    assert_eq!(home.pipe(&text[..], &["compare", "--json"]).ok().json(), named);
    assert_eq!(row(&named, "pi/bash")["matches"], 3);
}

#[test]
fn every_policy_has_a_row_that_agrees_with_its_preview() {
    let home = stocked();
    let json = home.run(&["compare", "out.log", "--json"]).ok().json();
    let policies = home.run(&["policies", "--json"]).ok().json();
    assert_eq!(json.as_array().unwrap().len(), policies.as_array().unwrap().len());
    for policy in ["opencode/output", "pi/bash", "basic/metadata", "codex/exec"] {
        let preview = home.run(&["preview", "-p", policy, "out.log", "--json"]).ok().json();
        for key in
            ["kept_lines", "removed_lines", "kept_bytes", "removed_bytes", "tokens_estimate", "truncated_by"]
        {
            assert_eq!(row(&json, policy)[key], preview[key], "{policy} {key}");
        }
    }
}

#[test]
fn a_table_counts_lines_as_the_screens_do() {
    let home = stocked();
    let ran = home.run(&["compare", "-p", "opencode/output", "-p", "t15/output", "out.log"]).ok();
    // Both count an empty line at the end, which `t15/output` keeps, and so does `--json`.
    for row in ["opencode/output\t1 of 3\t2,000\t3,000\t", "t15/output\t1 of 3\t1,999\t3,001\t"] {
        assert!(ran.text().contains(row), "{}", ran.text());
    }
    let json = home.run(&["compare", "-p", "t15/output", "--json", "out.log"]).ok().json();
    assert_eq!((&json[0]["kept_lines"], &json[0]["removed_lines"]), (&2000.into(), &3001.into()));
}

#[test]
fn without_a_pattern_errors_are_counted() {
    let home = stocked();
    let json = home.run(&["compare", "out.log", "--json"]).ok().json();
    let kept = |policy| (row(&json, policy)["matches"].as_u64(), row(&json, policy)["kept_matches"].as_u64());
    assert_eq!(kept("opencode/output"), (Some(3), Some(1)));
    let ran = home.run(&["compare", "--header", "out.log"]).ok();
    assert!(ran.text().starts_with("policy\terrors kept\tlines\t"), "{}", ran.text());
    assert!(ran.text().contains("\nopencode/output\t1 of 3\t"), "{}", ran.text());
}

#[test]
fn one_output_and_several_count_warnings_where_there_is_no_error() {
    let home = Home::new();
    home.file("a", "warning: a\nb\nwarning: c\n");
    home.file("b", "warning: a\nb\nwarning: c\n");
    let matches = |files: &[&str]| {
        let words = [&["compare", "--json", "-p", "opencode/output"], files].concat();
        home.run(&words).ok().json()[0]["matches"].as_u64()
    };
    assert_eq!((matches(&["a"]), matches(&["a", "b"])), (Some(2), Some(4)));
    let ran = home.run(&["compare", "--header", "-p", "opencode/output", "a"]).ok();
    assert!(ran.text().starts_with("policy\twarnings kept\tlines\t"), "{}", ran.text());
    assert!(ran.text().contains("\nopencode/output\t2 of 2\t"), "{}", ran.text());
}

#[test]
fn earlier_forms_are_compared_only_when_asked_for() {
    let home = stocked();
    let has = |words: &[&str], policy: &str| {
        let json = home.run(words).ok().json();
        json.as_array().unwrap().iter().any(|row| row["policy"] == policy || row["name"] == policy)
    };
    for command in [&["compare", "out.log", "--json"][..], &["policies", "--json"]] {
        let all = [command, &["--all"]].concat();
        assert!(has(command, "pi/bash") && !has(command, "pi/bash-2026-03"), "{command:?}");
        assert!(has(&all, "pi/bash") && has(&all, "pi/bash-2026-03"), "{all:?}");
    }
}

#[test]
fn compare_includes_the_earlier_policy_that_made_the_file() {
    let home = stocked();
    let spill = home.at("../tmp/pi-bash-0123456789abcdef.log");
    std::fs::copy(home.at("out.log"), &spill).unwrap();
    let february = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_770_000_000);
    std::fs::File::options().write(true).open(&spill).unwrap().set_modified(february).unwrap();
    let spill = spill.canonicalize().unwrap();
    let json = home.run(&["compare", spill.to_str().unwrap(), "--json"]).ok().json();
    assert_eq!(row(&json, "pi/bash-2026-03")["status"], "ok");
    let preview = home.run(&["preview", spill.to_str().unwrap(), "--json"]).ok().json();
    assert_eq!(preview["policy"], "pi/bash-2026-03");
}

#[test]
fn compare_counts_the_matches_that_each_policy_keeps() {
    let home = stocked();
    let json = home.run(&["compare", "out.log", "--json", "--find", "^error: \\d+$"]).ok().json();
    let kept = |policy| {
        let row = row(&json, policy);
        assert_eq!(row["matches"], 3);
        row["kept_matches"].as_u64().unwrap()
    };
    assert_eq!((kept("opencode/output"), kept("pi/bash"), kept("codex/exec")), (1, 1, 2));
    let ran = home.run(&["compare", "--header", "out.log", "--find", "error"]).ok();
    let matches = |row: &str| row.split(['\t', ' ']).nth(1).unwrap().parse::<u64>().unwrap();
    let (heading, rows) = ran.text().split_once('\n').unwrap();
    assert!(heading.starts_with("policy\tmatches kept\tlines\t"), "{heading}");
    let is_agent = |row: &&str| !["basic/", "t15/", "go-opencode/"].iter().any(|own| row.starts_with(own));
    let order: Vec<u64> = rows.lines().filter(is_agent).map(matches).collect();
    assert!(order.len() > 40 && order.is_sorted_by(|a, b| a >= b), "{}", ran.text());
    assert!(rows.lines().all(|row| row.contains(" of 3\t")), "{}", ran.text());
    // What nobody has shipped comes last.
    assert!(rows.lines().last().unwrap().starts_with("basic/"), "{}", ran.text());
}

/// `compare` counts the same matches that a search of the printed preview finds, for a pattern that no notice contains.
#[test]
fn kept_matches_are_those_in_the_preview_s_text() {
    let home = stocked();
    let pattern = "line 4\\d{3}$";
    let json = home.run(&["compare", "--all", "out.log", "--json", "--find", pattern]).ok().json();
    let regex = regex::RegexBuilder::new(pattern).multi_line(true).build().unwrap();
    for policy in
        ["opencode/output", "opencode/shell", "pi/read", "basic/middle-out", "t15/output", "go-opencode/2025"]
    {
        let preview = home.run(&["preview", "-p", policy, "out.log"]);
        assert_eq!(row(&json, policy)["kept_matches"], regex.find_iter(preview.text()).count(), "{policy}");
    }
}

#[test]
fn a_match_split_by_the_cut_counts_as_lost() {
    let home = Home::new();
    home.file("out.log", format!("{}NEEDLE{}", "a".repeat(29_997), "b".repeat(50_000)));
    let json = home.run(&["compare", "--all", "out.log", "--json", "--find", "NEEDLE"]).ok().json();
    let metadata = row(&json, "opencode/metadata");
    assert_eq!((&metadata["matches"], &metadata["kept_matches"]), (&1.into(), &0.into()), "{metadata}");
    let json = home.run(&["compare", "--all", "out.log", "--json", "--find", "aNEE"]).ok().json();
    assert_eq!(row(&json, "opencode/metadata")["kept_matches"], 1);
}

#[test]
fn an_empty_output_and_standard_input_compare_too() {
    let home = Home::new();
    home.file("empty", "");
    let json = home.run(&["compare", "empty", "--json", "--find", "x"]).ok().json();
    assert!(json.as_array().unwrap().iter().all(|row| row["matches"] == 0), "{json}");
    let ran = home.pipe("aaa\n", &["compare", "-"]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    assert!(ran.text().lines().skip(1).all(|row| row.contains("not cut")), "{}", ran.text());
}

#[test]
fn some_policies_are_compared_with_other_limits() {
    let home = stocked();
    let rows = |words: &[&str]| {
        let json = home.run(&[&["compare", "out.log", "--json"], words].concat()).ok().json();
        let row = |row: &Value| (row["policy"].as_str().unwrap().to_owned(), row["kept_lines"].as_u64());
        json.as_array().unwrap().iter().map(row).collect::<Vec<_>>()
    };
    let two = ["-p", "pi/bash", "-p", "opencode/output"];
    let at = |lines| vec![("pi/bash".to_owned(), Some(lines)), ("opencode/output".to_owned(), Some(lines))];
    assert_eq!(rows(&[&two[..], &["--max-lines", "7"]].concat()), at(7));
    assert_eq!(rows(&["-p", "pi/bash-2026-03"])[0].0, "pi/bash-2026-03");
    let agent = rows(&["-p", "opencode"]);
    assert!(agent.len() > 3 && agent.iter().all(|row| row.0.starts_with("opencode/")), "{agent:?}");
    // A flag that fits some policies leaves out the others, and says so; for a named policy it is an error.
    let ran = home.run(&["compare", "out.log", "--max-lines", "9"]);
    assert_eq!(ran.status, 0);
    assert!(!ran.text().contains("claude-code/bash"), "{}", ran.text());
    assert!(
        ran.stderr.contains("policies cannot be used with --max-lines, and are left out"),
        "{}",
        ran.stderr
    );
    home.run(&["compare", "out.log", "-p", "claude-code/bash", "--max-lines", "9"])
        .fails(2, &["claude-code/bash has no parameter `max_lines`"]);
    home.run(&["compare", "out.log", "--set", "no_such=1"]).fails(2, &["no parameter `no_such`"]);
    home.run(&["compare", "out.log", "-p", "opencode/outptu"]).fails(2, &["did you mean opencode/output?"]);
}

#[test]
fn invalid_arguments_and_settings_are_reported() {
    let home = stocked();
    home.run(&["compare", "out.log", "--find", "a(b"]).fails(2, &["a(b", "unclosed group"]);
    home.run(&["compare", "nosuch"]).fails(1, &["nosuch: no such file"]);
    let config = home.work().parent().unwrap().join("config/overspill");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), "[limits.\"pi/bash\"]\nmax_lines = \"\\u001b[31m\"\n")
        .unwrap();
    let ran =
        home.run(&["compare", "out.log"]).fails(2, &["config.toml:2:13: `max_lines`: takes a whole number"]);
    assert!(!ran.stderr.contains('\x1b'), "{}", ran.stderr);
}
