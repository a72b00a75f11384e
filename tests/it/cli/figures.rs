//! The figures of `preview --json` and `compare` agree: kept, lost and cut mean the same under every policy.

use serde_json::Value;

use crate::common::home::Home;

fn number(row: &Value, key: &str) -> u64 {
    row[key].as_u64().unwrap_or_else(|| panic!("{key} of {row}"))
}

#[test]
fn a_line_cut_inside_is_cut_and_counts_once() {
    let home = Home::new();
    home.file("line", "x".repeat(2_500));
    home.file("long", "word ".repeat(60_000));
    for (policy, file) in [
        ("opencode/read", "line"),
        ("go-opencode/read", "line"),
        ("opencode/v2", "long"),
        ("go-opencode/mcp", "long"),
        ("cline/result", "long"),
    ] {
        let json = home.run(&["preview", "-p", policy, "--json", file]).ok().json();
        assert_eq!(json["truncated"], true, "{policy}");
        assert!(json["truncated_by"].is_string(), "{policy}: {json}");
        assert_eq!((number(&json, "kept_lines"), number(&json, "total_lines")), (1, 1), "{policy}");
        let (kept, lost) = (number(&json, "kept_bytes"), number(&json, "removed_bytes"));
        assert!(lost > 0 && kept + lost == number(&json, "total_bytes"), "{policy}: {kept} and {lost}");
    }
}

#[test]
fn a_notice_without_a_loss_does_not_count_as_truncated() {
    let home = Home::new();
    home.file("long", "word ".repeat(60_000));
    let json = home.run(&["preview", "-p", "go-opencode/bash", "--json", "long"]).ok().json();
    assert_eq!((&json["truncated"], &json["truncated_by"]), (&false.into(), &Value::Null));
    assert_eq!((number(&json, "kept_bytes"), number(&json, "removed_bytes")), (300_000, 0));
    assert_ne!(json["parts"].as_array().unwrap().len(), 1, "the agent adds its notice nevertheless");
    // The agent saves the output, and so does overspill.
    let words = ["run", "-p", "go-opencode/bash", "--", "sh", "-c", "cat long"];
    home.run(&words).ok();
    assert_eq!(home.run(&["list", "--json"]).ok().json().as_array().unwrap().len(), 1);
}

#[test]
fn the_rows_of_compare_agree() {
    let home = Home::new();
    home.file("long", "word ".repeat(60_000));
    home.file("lines", "a line of some length\n".repeat(5_000));
    for file in ["long", "lines"] {
        let rows = home.run(&["compare", "--all", "--json", file]).ok().json();
        for row in rows.as_array().unwrap().iter().filter(|row| row["status"] == "ok") {
            for what in ["lines", "bytes"] {
                let of = |figure: &str| number(row, &format!("{figure}_{what}"));
                assert_eq!(of("kept") + of("removed"), of("total"), "{row}");
            }
            let is_cut = row["truncated"] == true;
            assert_eq!(is_cut, number(row, "removed_bytes") > 0, "{row}");
            assert_eq!(is_cut, row["truncated_by"].is_string(), "{row}");
        }
    }
}
