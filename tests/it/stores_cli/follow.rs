//! `overspill list --follow`: which outputs it reports, and when.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::stores_cli::stocked::{ID, OTHER, Stocked};

/// A running `overspill list --follow`; it ends with the test.
struct Following {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Following {
    /// Starts it, and waits until it has seen what there is.
    fn start(home: &Stocked, flags: &[&str]) -> Self {
        let mut command = home.command(&[&["list", "-f"], flags].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        assert!(said.contains("waiting for new outputs"), "{said}");
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    fn next(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An output of which opencode keeps the first 2,000 of 3,001 lines.
fn long() -> String {
    let line = |number| match number {
        10 => "error: kept\n".to_owned(),
        2500 => "  error[E0308]: \x1b[31mlost\x1b[0m\n".to_owned(),
        2600 => "warning: lost too\n".to_owned(),
        _ => format!("line {number}\n"),
    };
    (1..=3000).map(line).collect()
}

#[test]
fn list_follow_reports_what_the_model_did_not_get() {
    let home = Stocked::new();
    home.entry("opencode", OTHER, "old\n", 60);
    let mut following = Following::start(&home, &["--json"]);
    home.entry("opencode", ID, long(), 0);
    let json: Value = serde_json::from_str(&following.next()).unwrap();
    assert_eq!((&json["id"], &json["agent"]), (&ID.into(), &"opencode".into()));
    assert_eq!((&json["kept_lines"], &json["removed_lines"]), (&2000.into(), &1001.into()));
    assert_eq!(json["certainty"], "reconstructed");
    assert_eq!((&json["errors"], &json["errors_lost"]), (&2.into(), &1.into()));
    assert_eq!((&json["warnings"], &json["warnings_lost"]), (&1.into(), &1.into()));
    assert_eq!(json["first_lost"], "  error[E0308]: \x1b[31mlost\x1b[0m");
    let docs = fs::read_to_string("docs/json.md").unwrap();
    for field in json.as_object().unwrap().keys() {
        assert!(docs.contains(&format!("`{field}`")), "{field}");
    }
    // The same name for another file is another output.
    let path = home.dir("data/opencode/tool-output").join(OTHER);
    fs::rename(home.file("next", "all of it\n"), &path).unwrap();
    let json: Value = serde_json::from_str(&following.next()).unwrap();
    assert_eq!((&json["id"], &json["errors_lost"]), (&OTHER.into(), &0.into()));
    assert_eq!((&json["removed_lines"], &json["first_lost"]), (&0.into(), &Value::Null));
}

#[test]
fn list_follow_does_not_count_errors_in_utf_16() {
    let home = Stocked::new();
    let mut following = Following::start(&home, &["--json"]);
    let units = "error: lost\n".repeat(5000);
    let bytes: Vec<u8> =
        [0xfeff].into_iter().chain(units.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    home.entry("opencode", ID, bytes, 0);
    let json: Value = serde_json::from_str(&following.next()).unwrap();
    assert_eq!(json["kept_lines"], 2000);
    for field in ["errors", "errors_lost", "warnings", "warnings_lost", "first_lost"] {
        assert_eq!(json[field], Value::Null, "{field}");
    }
}

#[test]
fn a_line_is_plain_and_safe() {
    let home = Stocked::new();
    let mut following = Following::start(&home, &["--agent", "opencode"]);
    home.entry("mimo", OTHER, "another agent's\n", 0);
    home.entry("opencode", ID, long(), 0);
    let line = following.next();
    let expected = "the model got 2,000 of 3,000 lines  1 error lost of 2: error[E0308]: ^[[31mlost^[[0m";
    assert!(line.ends_with(expected) && line.contains("  opencode  "), "{line}");
    // What opencode keeps of more than 100 KB depends on how it read.
    home.entry("opencode", OTHER, "a line of it\n".repeat(10_000), 0);
    let line = following.next();
    assert!(line.contains("  the model got ~") && line.contains(" of 10,000 lines"), "{line}");
}

#[test]
fn list_follow_says_once_that_no_policy_is_known() {
    let home = Stocked::new();
    let mut following = Following::start(&home, &["--agent", "cline"]);
    home.entry_at("tmp/cline/large-output-17", long(), 0);
    let line = following.next();
    assert!(line.ends_with("  unknown what the model got: its store names no policy for it"), "{line}");
}

#[test]
fn list_follow_says_would_get_for_own_outputs() {
    let home = Stocked::new();
    let mut following = Following::start(&home, &["--agent", "overspill"]);
    home.entry("overspill", "tool_e26cf08d50010000AbCdEfGhIjKl", "one line\n", 0);
    let line = following.next();
    assert!(line.ends_with("  the model would get all"), "{line}");
}

#[test]
fn list_follow_finds_a_new_output_among_ten_thousand() {
    let home = Stocked::new();
    for number in 0..10_000 {
        home.entry("opencode", &format!("tool_{number:026}"), b"\x1b[2J\xff\0", 60);
    }
    let mut following = Following::start(&home, &["--json"]);
    let gone = home.entry("opencode", &format!("tool_{:026}", 7), "another\n", 0);
    fs::remove_file(gone).unwrap();
    home.entry("opencode", ID, b"error \x1b]0;owned\x07\xff\xc3\0\n", 0);
    let json: Value = serde_json::from_str(&following.next()).unwrap();
    assert_eq!((&json["id"], &json["errors_lost"]), (&ID.into(), &0.into()));
}
