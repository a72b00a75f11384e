//! Endless output: bar 23.

use std::fs;

use super::{record, run, sequence, spill, wait_until};
use crate::common::home::{Home, finish};

#[test]
fn the_cap_is_kept_and_the_counts_are_right() {
    let home = Home::new();
    let ran = run(&home, &["--max-spill", "1m", "-p", "go-opencode/bash"], "seq 1 400000; exit 3");
    let all = sequence(400_000);
    assert_eq!(fs::read(spill(&home)).unwrap(), &all.as_bytes()[..1 << 20]);
    let record = record(&home, &spill(&home));
    assert_eq!(record["seen"], serde_json::json!({"bytes": all.len(), "lines": 400_000}));
    let lines = all.as_bytes()[..1 << 20].split(|byte| *byte == b'\n').count();
    assert_eq!(record["kept"], serde_json::json!({"bytes": 1 << 20, "lines": lines}));
    assert_eq!(record["truncated"], "cap");
    let (path, seen) = (spill(&home), all.len());
    let said = format!("overspill: {} holds only the first 1048576 of {seen} bytes\n", path.display());
    assert_eq!((ran.status, &ran.stderr), (3, &said));
    let text = ran.text();
    assert!(text.starts_with("<stdout truncated: 400,001 lines total>\n\n--- First 500 lines ---\n1\n"));
    assert!(text.contains("\n399999\n400000\n") && !text.contains("100MB"), "{text}");
    let own = ["-p", "go-opencode/bash", "--set", "max_saved_bytes=1048576"];
    let ran = run(&home, &own, "seq 1 400000");
    assert!(ran.text().contains(" (truncated at 100MB)\n"), "the policy's own cap");
}

#[test]
fn a_capped_spill_is_not_called_the_whole_output() {
    let home = Home::new();
    for flags in [&["--max-spill", "1k"][..], &["--max-spill", "1k", "--keep", "always", "-p", "pi/bash"]] {
        for lines in ["500", "9000"] {
            let ran = run(&home, flags, &format!("seq 1 {lines}"));
            let is_kept = lines == "9000" || flags.len() > 2;
            let is_told = ran.stderr.contains(" holds only the first 1024 of ");
            assert_eq!(is_told, is_kept, "{flags:?} {lines}: {}", ran.stderr);
            assert!(!ran.stderr.contains("whole"), "{}", ran.stderr);
            let notice = if flags.len() > 2 { "Full output: <not saved>" } else { "saved to: <not saved>" };
            assert_eq!(ran.text().contains(notice), lines == "9000", "{flags:?}: {}", ran.text());
        }
    }
}

/// An agent that keeps only both ends says so of its own file, not of overspill's, which holds all.
#[test]
fn the_goose_notice_names_a_whole_file_and_no_fragment() {
    for policy in ["goose/shell", "goose/shell-2026-08"] {
        for flags in [&[][..], &["--max-spill", "100m"]] {
            let home = Home::new();
            let ran = run(&home, &[flags, &["-p", policy]].concat(), "yes | head -c 12000000");
            let path = spill(&home);
            assert_eq!(fs::metadata(&path).unwrap().len(), 12_000_000, "{policy}");
            let notice = format!("Full output saved to {}.", path.display());
            assert!(ran.text().contains(&notice) && !ran.text().contains("fragment"), "{}", ran.text());
            assert!(!ran.stderr.contains("holds only"), "{}", ran.stderr);
            let again = home.run(&["preview", &path.to_string_lossy()]);
            assert!(again.text().contains(&notice), "{}", again.text());
        }
    }
    let home = Home::new();
    let set = ["-p", "goose/shell", "--set", "capture_bytes=10485760"];
    let ran = run(&home, &set, "yes | head -c 12000000");
    assert!(ran.text().contains("Captured fragment (beginning and end) saved to "), "{}", ran.text());
}

/// What an agent says where it cannot write its file is said in the place of the path.
#[test]
fn qwen_code_says_itself_that_the_output_could_not_be_saved() {
    let home = Home::new();
    for policy in ["qwen-code/shell", "qwen-code/grep", "qwen-code/mcp", "qwen-code/shell-2026-03"] {
        let limits = ["--max-bytes", "20000", "-p", policy];
        let text =
            run(&home, &[&["--max-spill", "1k"], &limits[..]].concat(), "seq 1 9000").text().to_owned();
        assert!(text.starts_with("1\n2\n"), "{text}");
        assert!(text.ends_with("\n9000\n\n[Note: Could not save full output to file]"), "{text}");
        let text = run(&home, &limits, "seq 1 9000").text().to_owned();
        assert!(text.starts_with("Tool output was too large") && !text.contains("[Note: "), "{text}");
    }
}

#[test]
fn the_preview_covers_output_beyond_the_cap() {
    let home = Home::new();
    for flags in [&["--direction", "tail"][..], &[], &["-p", "basic/middle-out"], &["-p", "t15/output"]] {
        let capped =
            run(&home, &[&["--max-spill", "64k", "--saved-as", "/s"], flags].concat(), "seq 1 3000000");
        assert_eq!(capped.status, 0);
        let whole =
            run(&home, &[&["--max-spill", "none", "--saved-as", "/s"], flags].concat(), "seq 1 3000000");
        assert!(capped.text() == whole.text(), "{flags:?}");
    }
}

#[test]
fn notice_figures_count_output_beyond_the_cap() {
    let home = Home::new();
    let ran = run(&home, &["--max-spill", "64k", "-p", "codex/exec-bytes"], "seq 1 30000");
    let (text, all) = (ran.text(), sequence(30_000).len());
    assert!(text.contains(&format!("(original token count: {})", all.div_ceil(4))), "{text}");
}

#[test]
fn a_preview_that_needs_dropped_output_says_it_is_not_exact() {
    let home = Home::new();
    let flags = ["--max-spill", "64k", "-p", "basic/smart", "--tool", "shell"];
    let ran = run(&home, &flags, "seq 1 3000000; echo error; seq 1 3000000");
    assert!(ran.stderr.contains("not exact"), "{}", ran.stderr);
    // Of 10,000,000 bytes in the file and 10,000,000 behind them 2 MiB are read at the beginning, at the cap and at the end.
    let flags = ["--max-spill", "10000000", "-p", "basic/smart", "--tool", "shell", "--keep", "always"];
    let ran = run(&home, &flags, "yes 1234567 | head -c 20000000");
    let said = "5805696 bytes past the cap are gone, 7902848 before it are not read";
    assert!(ran.stderr.contains(said), "{}", ran.stderr);
}

#[test]
fn max_spill_0_is_refused_and_none_means_no_limit() {
    let home = Home::new();
    run(&home, &["--max-spill", "0"], "touch made").fails(2, &["--keep never"]);
    assert!(!home.at("made").exists());
    run(&home, &["--max-spill", "none"], "seq 1 50000").ok();
    assert_eq!(fs::read_to_string(spill(&home)).unwrap(), sequence(50_000));
}

/// Returns the anonymous memory of a process in bytes, if it still runs.
#[cfg(target_os = "linux")]
fn anonymous(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_output() {
    for flags in [["--max-spill", "1m"], ["--max-spill", "none"]] {
        let home = Home::new();
        let words = [&["run"], &flags[..], &["--", "sh", "-c", "yes | head -c 200000000"]].concat();
        let child = home.command(&words).spawn().unwrap();
        let (pid, mut most) = (child.id(), 0);
        // Its output waits in the pipe until it has finished, so it can be examined.
        wait_until("it has printed", || {
            let now = anonymous(pid).unwrap_or(0);
            most = now.max(most);
            most > 0 && now == 0
        });
        assert_eq!(finish(child).status, 0);
        assert!(most < 12 << 20, "{flags:?}: {most}");
    }
}
