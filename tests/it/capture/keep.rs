//! What is saved, when, with which permissions and records, and what is reported: bar 20.

use std::fs::{self, File};
use std::process::Command;
use std::time::{Duration, SystemTime};

use super::{mode, names, own, record, run, sequence, spill, spills};
use crate::common::home::{Home, finish};

#[test]
fn a_cut_output_is_whole_where_the_notice_says() {
    let home = Home::new();
    let ran = run(&home, &[], "seq 1 5000; exit 4");
    assert_eq!((ran.status, ran.stderr.as_str()), (4, ""));
    let spill = spill(&home);
    assert_eq!(fs::read_to_string(&spill).unwrap(), sequence(5000));
    let path = format!("Full output saved to: {}\n", spill.display());
    assert!(ran.text().contains(&path), "{}", ran.text());
    assert!(ran.text().contains("\n\n...3001 lines truncated...\n\n"), "{}", ran.text());
}

#[test]
fn run_prints_the_same_as_preview_of_its_spill() {
    let home = Home::new();
    for flags in
        [&["-p", "opencode/output"][..], &["--direction", "tail"], &["-p", "basic/smart", "--tool", "grep"]]
    {
        let home_ran = run(&home, flags, "seq 1 5000; printf '\\377\\360\\237\\n'; seq 1 20000");
        let spill = spill(&home);
        let words = [&["preview"], flags, &[spill.to_str().unwrap()]].concat();
        assert_eq!(home_ran.text(), home.run(&words).text(), "{flags:?}");
        fs::remove_file(spill).unwrap();
    }
}

#[test]
fn without_stderr_the_notice_names_the_spill() {
    let home = Home::new();
    for policy in ["go-opencode/bash", "go-opencode/shipped"] {
        let ran = run(&home, &["--keep", "always", "-p", policy], "seq 1 60000");
        let spill = spill(&home);
        assert!(ran.text().contains(spill.to_str().unwrap()), "{policy}: {}", ran.text().len());
        fs::remove_file(spill).unwrap();
    }
}

#[test]
fn saves_an_output_without_a_preview_and_names_its_path() {
    let home = Home::new();
    let ran = run(&home, &["-p", "opencode/read", "--set", "offset=1001"], "seq 1 500");
    let spill = spill(&home);
    ran.fails(125, &["out of range", "; the whole output is in ", spill.to_str().unwrap()]);
    assert_eq!(fs::read_to_string(spill).unwrap(), sequence(500));
}

#[test]
fn a_failed_command_is_cut_as_its_agent_cuts_it() {
    let home = Home::new();
    let policy = ["-p", "claude-code/bash"];
    let ran = run(&home, &policy, "seq 1 20000; exit 3");
    assert_eq!(ran.status, 3);
    let path = spill(&home);
    assert_eq!(fs::read_to_string(&path).unwrap(), sequence(20_000));
    let words = ["preview", "-p", "claude-code/bash-failed", "--exit-code", "3", path.to_str().unwrap()];
    assert_eq!(ran.text(), home.run(&words).text());
    assert!(ran.text().starts_with("Exit code 3\n1\n2\n") && !ran.text().contains("20000"));
    assert!(ran.stderr.contains(path.to_str().unwrap()), "{}", ran.stderr);
    assert_eq!(record(&home, &path)["policy"], "claude-code/bash-failed");
    fs::remove_file(path).unwrap();
    let well = run(&home, &policy, "seq 1 20000");
    assert!(well.text().starts_with("<persisted-output>\n"), "{}", well.text());
    assert_eq!(record(&home, &spill(&home))["policy"], "claude-code/bash");
}

#[test]
fn the_record_says_what_was_run() {
    let home = Home::new();
    run(&home, &["--tool", "bash"], "printf 'a\\nb'; seq 1 3000; exit 4");
    let spill = spill(&home);
    let record = record(&home, &spill);
    assert_eq!(record["command"], serde_json::json!(["sh", "-c", "printf 'a\\nb'; seq 1 3000; exit 4"]));
    assert_eq!(record["path"], spill.to_str().unwrap());
    assert_eq!(record["directory"], home.work().to_str().unwrap());
    assert_eq!((&record["tool"], &record["policy"]), (&"bash".into(), &"opencode/output".into()));
    assert_eq!(record["exit"], serde_json::json!({"code": 4}));
    let size = serde_json::json!({"bytes": 3 + sequence(3000).len(), "lines": 3001});
    assert_eq!((&record["seen"], &record["kept"], &record["truncated"]), (&size, &size, &().into()));
    assert!(record["start"].as_str() <= record["end"].as_str());
}

#[test]
fn keep_always_saves_small_output_and_keep_never_saves_none() {
    let home = Home::new();
    let ran = run(&home, &["--keep", "always"], "echo little");
    assert_eq!(fs::read(spill(&home)).unwrap(), b"little\n");
    assert!(ran.stderr.contains(spill(&home).to_str().unwrap()), "{}", ran.stderr);
    let ran = run(&home, &["--keep", "never"], "seq 1 50000");
    assert!(ran.text().contains("saved to: <not saved>"), "{}", ran.text());
    let ran = run(&home, &["--keep", "never", "-p", "go-opencode/bash"], "seq 1 50000");
    assert!(ran.text().starts_with("<stdout truncated: 50,001 lines total>\n\n--- First"), "{}", ran.text());
    assert_eq!(spills(&home).len(), 1);
}

#[test]
fn saved_files_are_private_whatever_the_umask() {
    for umask in ["000", "022", "077", "277"] {
        let home = Home::new();
        let script = format!("umask {umask}; exec \"$0\" run -- seq 1 5000");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_overspill")]);
        command.current_dir(home.work()).env_clear().envs(home.env()).stdout(std::process::Stdio::piped());
        assert_eq!(finish(command.spawn().unwrap()).status, 0);
        for name in ["", "tool-output", "records"] {
            assert_eq!(mode(&own(&home, name)), 0o700, "{umask} {name}");
        }
        assert_eq!(mode(&spill(&home)), 0o600, "{umask}");
        let records = own(&home, "records");
        assert_eq!(mode(&records.join(&names(&records)[0])), 0o600, "{umask}");
    }
}

#[test]
fn deletes_expired_spills_before_the_first_new_one() {
    let home = Home::new();
    let old = home.entry("overspill", "tool_0010000000001001AbCdEfGhIjKl", "old", 24 * 8);
    fs::set_permissions(own(&home, ""), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    fs::set_permissions(own(&home, "tool-output"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    run(&home, &[], "echo nothing to save").ok();
    assert!(old.exists());
    run(&home, &[], "seq 1 5000").ok();
    assert!(!old.exists());
    spill(&home);
}

#[test]
fn a_record_goes_an_hour_after_its_spill() {
    let home = Home::new();
    run(&home, &[], "seq 1 5000").ok();
    fs::remove_file(spill(&home)).unwrap();
    run(&home, &[], "seq 1 5000").ok();
    let records = names(&own(&home, "records"));
    assert_eq!(records.len(), 2);
    let then = SystemTime::now() - Duration::from_secs(2 * 3600);
    for name in &records {
        File::open(own(&home, "records").join(name)).unwrap().set_modified(then).unwrap();
    }
    run(&home, &[], "seq 1 5000").ok();
    let after = names(&own(&home, "records"));
    assert_eq!((after.len(), after.contains(&records[0]), after.contains(&records[1])), (2, false, true));
}

#[test]
fn standard_input_is_saved_when_it_is_cut() {
    let home = Home::new();
    let ran = home.pipe(sequence(30_000), &["preview", "--save"]).ok();
    assert_eq!(fs::read_to_string(spill(&home)).unwrap(), sequence(30_000));
    assert!(ran.text().contains(spill(&home).to_str().unwrap()));
    let record = record(&home, &spill(&home));
    assert_eq!((&record["command"], &record["exit"]), (&serde_json::json!([]), &().into()));
    assert_eq!(home.pipe("a\n", &["preview", "--save"]).ok().text(), "a\n");
    spill(&home);
    home.file("out", "x");
    home.run(&["preview", "--save", "out"]).fails(2, &["--save"]);
    for (flag, value) in [("--exit-code", "3"), ("--stderr", "out"), ("--saved-as-stderr", "/s")] {
        home.pipe("a\n", &["preview", "--save", flag, value]).fails(2, &[flag]);
    }
}

#[test]
fn json_has_all_counts_and_the_true_path() {
    let home = Home::new();
    let ran = run(&home, &["--json"], "printf '\\377'; seq 1 5000");
    let json = ran.ok().json();
    assert_eq!((&json["truncated"], &json["total_lines"]), (&true.into(), &5001.into()));
    assert_eq!(json["total_bytes"], sequence(5000).len() + 3);
    assert_eq!(json["saved_as"], spill(&home).to_str().unwrap());
}

#[test]
fn prints_the_path_to_stderr_if_the_notice_lacks_it() {
    let home = Home::new();
    let ran = run(&home, &["-p", "basic/line-limit"], "seq 1 5000");
    assert!(ran.stderr.contains(spill(&home).to_str().unwrap()), "{}", ran.stderr);
}

#[test]
fn run_refuses_conflicting_and_invalid_flags() {
    let home = Home::new();
    home.run(&["run", "--exit-code", "3", "--", "true"]).fails(2, &["--exit-code"]);
    home.run(&["run", "--stderr", "x", "--", "true"]).fails(2, &["--split"]);
    let help = home.run(&["run", "--help"]).ok();
    assert!(!help.text().contains("--exit-code") && !help.text().contains("--stderr"), "{}", help.text());
    home.run(&["run", "--pty", "--split", "--", "true"])
        .fails(2, &["--pty merges both streams", "leave one out"]);
    home.run(&["run", "--print", "--", "true"]).fails(2, &["--print has no effect without -i"]);
    home.run(&["run", "--timeout", "0", "--", "true"]).fails(2, &["'0' is not a duration", "for no limit"]);
    home.run(&["run", "--timeout", "soon", "--", "true"]).fails(2, &["soon"]);
    home.run(&["run", "-p", "no/such", "--", "touch", "made"]).fails(2, &["no/such"]);
    assert!(!home.at("made").exists());
}
