//! Tables on a terminal of 80 columns: no row is wider, and what other commands take is whole.

use crate::common::home::Home;
use crate::common::records::{SESSION, claude};
use crate::common::session::Session;

const ID: &str = "tool_0123456789abcdefABCDEFGHIJ";

#[test]
fn tables_fit_eighty_columns_with_whole_ids() {
    let home = Home::new();
    claude(&home);
    home.entry("opencode", ID, "some output\n", 1);
    let tables: [(&[&str], &str, &[&str]); 5] = [
        (&["list"], ID, &["when", "agent", "size", "time left"]),
        (&["sessions"], SESSION, &["when", "agent"]),
        (&["sessions", SESSION], "c3", &["tool"]),
        (&["policies"], "claude-code/bash", &["policy"]),
        (&["verify"], "c1", &["check", "agent", "found"]),
    ];
    for (words, id, headings) in tables {
        let session = Session::start_with(&home, &[("NO_COLOR", "1")], words);
        let raw = session.wait_until("end of the output", |seen| seen.ended.then(|| seen.raw.clone()));
        let text = String::from_utf8(raw).unwrap();
        let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with("overspill: ")).collect();
        assert!(rows.len() > 1, "{text}");
        assert!(headings.iter().all(|heading| rows[0].contains(heading)), "{words:?}\n{text}");
        assert!(rows.iter().all(|row| row.chars().count() <= 80), "{words:?}\n{text}");
        assert!(rows.iter().any(|row| row.split_whitespace().any(|word| word == id)), "{words:?}\n{text}");
    }
}

#[test]
fn man_does_not_print_page_source_to_a_terminal() {
    let session = Session::start_with(&Home::new(), &[], &["man", "run"]);
    let raw = session.wait_until("end of the output", |seen| seen.ended.then(|| seen.raw.clone()));
    let text = String::from_utf8_lossy(&raw);
    assert!(text.contains("overspill man run | man -l -") && !text.contains(".TH"), "{text}");
}

#[test]
fn the_rule_and_the_directory_of_a_store_are_never_cut() {
    let home = Home::new();
    let entry = home.entry("opencode", ID, "some output\n", 1);
    let session = Session::start_with(&home, &[("NO_COLOR", "1")], &["stores"]);
    let raw = session.wait_until("end of the output", |seen| seen.ended.then(|| seen.raw.clone()));
    let text = String::from_utf8(raw).unwrap();
    let whole =
        format!("\r\n  deleted: 7 d after the last change · {}\r\n", entry.parent().unwrap().display());
    assert!(text.starts_with("store ") && text.contains(&whole), "{text}");
    assert!(text.contains("more stores are empty or not on this system; --all lists them"), "{text}");
}
