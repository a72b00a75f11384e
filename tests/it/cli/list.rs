//! `overspill list`: stored outputs, their age and the time they have left.

use crate::common::home::Home;

const ID: &str = "tool_e26cf08d5001AbCdEfGhIjKlMn";
const OLD: &str = "tool_0118bbe93001AbCdEfGhIjKlMn";
const OWN: &str = "tool_e26cf08d50010000AbCdEfGhIjKl";

fn stocked() -> Home {
    let home = Home::new();
    home.private_entry("opencode", ID, "hello\n", 60);
    home.entry("opencode", OLD, vec![b'x'; 2048], 24 * 9 + 12);
    home.entry("opencode", "notes.txt", "not an entry", 1);
    home.private_entry("overspill", OWN, "ours", 12);
    home
}

#[test]
fn stored_outputs_are_listed_the_youngest_first() {
    let ran = stocked().run(&["list"]).ok();
    let expected = [
        ["12 h", "overspill", "", "4 B", "6 d 12 h", "", "0600", "", OWN],
        ["2 d", "opencode", "", "6 B", "4 d 12 h", "", "0600", "", ID],
        ["9 d", "opencode", "", "2 KB", "overdue 2 d", "", "0644!", "", OLD],
    ];
    let expected = expected.map(|row| row.join("\t"));
    assert_eq!(ran.text().lines().collect::<Vec<_>>(), expected);
    let headed = stocked().run(&["list", "--header"]).ok();
    let heading = "when\tagent\tcommand\tsize\ttime left\ttool\tmode\tsession\tid";
    assert_eq!(headed.text().lines().collect::<Vec<_>>(), [&[heading.to_owned()][..], &expected].concat());
}

#[test]
fn list_json_has_one_record_per_entry() {
    let home = stocked();
    let json = home.run(&["list", "--json"]).ok().json();
    let records = json.as_array().unwrap();
    let column = |key: &str| records.iter().map(|record| record[key].clone()).collect::<Vec<_>>();
    assert_eq!(column("id"), [OWN, ID, OLD]);
    assert_eq!(column("agent"), ["overspill", "opencode", "opencode"]);
    assert_eq!(column("size"), [4, 6, 2048]);
    assert_eq!(column("status"), ["ok", "ok", "overdue"]);
    assert_eq!(column("rule"), ["mtime", "mtime", "mtime"]);
    let time = |record: &serde_json::Value, key: &str| -> jiff::Timestamp {
        record[key].as_str().unwrap().parse().unwrap()
    };
    for record in records {
        let life = time(record, "expires").duration_since(time(record, "modified"));
        assert_eq!(life, jiff::SignedDuration::from_hours(24 * 7), "{record}");
        let path = record["path"].as_str().unwrap();
        assert_eq!(std::fs::metadata(path).unwrap().len(), record["size"], "{path}");
    }
}

#[test]
fn an_empty_list_exits_0() {
    let home = Home::new();
    let ran = home.run(&["list"]);
    assert_eq!((ran.status, ran.stdout.as_slice()), (0, &b""[..]));
    assert!(ran.stderr.contains("no stored outputs"), "{}", ran.stderr);
    assert_eq!(home.run(&["list", "--json"]).ok().text(), "[]\n");
}
