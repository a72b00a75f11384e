//! `docs/json.md` names every field that a command prints.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::common::home::Home;

/// Returns the fields that the lists below a heading describe.
fn documented(heading: &str) -> BTreeSet<String> {
    let text = std::fs::read_to_string("docs/json.md").unwrap();
    let start = text.find(&format!("\n## {heading}")).unwrap_or_else(|| panic!("no section {heading}"));
    let section = text[start + 4..].split("\n## ").next().unwrap();
    let fields = section.lines().filter_map(|line| Some(line.strip_prefix("* `")?.split_once("`: ")?.0));
    fields.flat_map(|fields| fields.split("`, `")).map(str::to_owned).collect()
}

/// Returns the fields of an object, or of all elements of an array.
fn fields(json: &Value) -> BTreeSet<String> {
    match json {
        Value::Object(object) => object.keys().cloned().collect(),
        Value::Array(all) => all.iter().flat_map(fields).collect(),
        _ => panic!("{json} has no fields"),
    }
}

fn stocked() -> Home {
    let home = Home::new();
    home.file("out.log", "a line\n".repeat(5000));
    home.file("notice.txt", "[Showing lines 1-2 of 5000. Full output: /tmp/x]\n...7 lines truncated...\n\nThe tool call succeeded but the output was truncated. Full output saved to: /tmp/x\n");
    home.private_entry("opencode", "tool_19a2b3c4d001AbCdEfGhIjKlMn", "x\n", 1);
    home
}

/// `show` has it as `run`, also if the record has a field that is no longer written.
#[test]
fn every_field_of_a_record_is_documented() {
    let home = Home::new();
    let ran = home.run(&["run", "--json", "--max-lines", "9", "--", "sh", "-c", "seq 5000; exit 3"]).json();
    let id = ran["id"].as_str().unwrap();
    let path = home.work().with_file_name("data").join(format!("overspill/records/{id}.json"));
    let record = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, record.replacen('{', "{\"arrivals\":{\"within_ms\":1,\"at\":[[0,1]]},", 1))
        .unwrap();
    let run = home.run(&["show", "--json", id]).ok().json()["run"].clone();
    let docs = std::fs::read_to_string("docs/json.md").unwrap();
    let row = docs.lines().find(|line| line.starts_with("* `run`: what `run` recorded")).unwrap();
    for field in fields(&run) {
        assert!(row.contains(&format!("`{field}`")), "docs/json.md lacks {field}");
    }
    assert_eq!((&run["exit"], &run["parameters"]), (&json!({"code": 3}), &json!({"max_lines": "9"})));
    assert!(row.contains("`{\"code\": 3}`"), "{row}");
}

#[test]
fn every_field_is_documented() {
    let home = stocked();
    let with =
        |headings: &[&str]| headings.iter().flat_map(|heading| documented(heading)).collect::<BTreeSet<_>>();
    for (command, headings) in [
        (&["preview", "out.log"][..], &["`preview`, `read`, `run`"][..]),
        (&["read", "out.log"], &["`preview`, `read`, `run`"]),
        (&["run", "--", "seq", "5000"], &["`preview`, `read`, `run`", "`run`, and"]),
        (&["compare", "out.log", "--find", "line"], &["`compare`"]),
        (&["explain", "notice.txt"], &["`explain`"]),
        (&["policies", "--all"], &["`policies`"]),
        (&["list"], &["`list`, `show`, `clean`"]),
        (&["show", "tool_19a2b3c4d001AbCdEfGhIjKlMn"], &["`list`, `show`, `clean`"]),
        (&["show", "out.log"], &["`list`, `show`, `clean`"]),
        (&["clean", "--dry-run", "--agent", "opencode", "--older-than", "1s"], &["`list`, `show`, `clean`"]),
        (&["stores"], &["`stores`"]),
    ] {
        let at = command.iter().position(|word| *word == "--").unwrap_or(command.len());
        let words = [&command[..at], &["--json"], &command[at..]].concat();
        let json = home.run(&words).ok().json();
        let missing: Vec<String> = fields(&json).difference(&with(headings)).cloned().collect();
        assert!(missing.is_empty(), "{command:?}: docs/json.md lacks {missing:?}");
        assert_eq!(json.is_object(), json["version"] == 1, "{command:?}: an object has \"version\": 1");
    }
}
