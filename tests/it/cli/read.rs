//! `overspill read`: windows as returned by the agents' read tools.

use crate::cli::{EXAMPLE, numbered};
use crate::common::home::Home;

#[test]
fn a_window_is_printed_as_the_read_tool_gives_it() {
    let home = Home::new();
    home.file("out", EXAMPLE);
    let ran = home.run(&["read", "out", "--saved-as", "/s/out", "--offset", "2", "--limit", "1"]).ok();
    let expected = "<path>/s/out</path>\n<type>file</type>\n<content>\n2: bbbb\n\n\
        (Showing lines 2-2 of 3. Use offset=3 to continue.)\n</content>";
    assert_eq!(ran.text(), expected);
}

#[test]
fn consecutive_windows_give_the_whole_file() {
    let home = Home::new();
    let file = format!("{}\n\nlast, with no line feed", numbered(50));
    home.file("out", &file);
    let mut lines: Vec<&str> = Vec::new();
    let mut offset = Some(1);
    while let Some(at) = offset {
        let ran =
            home.run(&["read", "out", "--json", "--limit", "7", "--offset", &at.to_string()]).ok().json();
        let before = lines.len();
        for part in ran["parts"].as_array().unwrap().iter().filter(|part| part["kind"] != "notice") {
            let range = ["start", "end"].map(|key| part[key].as_u64().unwrap() as usize);
            let line = &file[range[0]..range[1]];
            lines.push(line);
            assert_eq!(part["text"].as_str().unwrap().trim_start(), format!("{}: {line}", lines.len()));
        }
        let next = ran["text"].as_str().unwrap().split("Use offset=").nth(1);
        offset = next.map(|rest| rest.split(' ').next().unwrap().parse().unwrap());
        assert!(offset.is_none_or(|next: usize| next == at + 7 && lines.len() == before + 7));
    }
    assert_eq!(lines.join("\n"), file);
}

#[test]
fn a_file_is_read_as_the_agent_that_cuts_it_would() {
    let home = Home::new();
    home.file("out", EXAMPLE);
    let config = home.file("own.toml", "policy = \"pi/bash\"\n");
    let args = ["--config", config.to_str().unwrap(), "read", "out"];
    assert_eq!(home.run(&args).ok().text(), home.run(&["read", "-p", "pi", "out"]).ok().text());
    let window = home.run(&["--config", config.to_str().unwrap(), "read", "-p", "opencode", "out"]).ok();
    assert!(window.text().starts_with("<path>"), "{}", window.text());
}

#[test]
fn an_offset_past_the_end_gives_the_agent_s_own_words() {
    let home = Home::new();
    home.file("out", EXAMPLE);
    let ran = home.run(&["read", "out", "--offset", "9"]);
    ran.fails(1, &["Offset 9 is out of range for this file (3 lines)"]);
}

#[test]
fn an_offset_counts_from_one_where_the_agent_does() {
    let home = Home::new();
    home.file("out", EXAMPLE);
    home.run(&["read", "out", "--offset", "0"]).fails(2, &["offset", "from 1"]);
    let ran = home.run(&["read", "out", "-p", "opencode/read-2026-01", "--offset", "1", "--limit", "1"]).ok();
    assert!(ran.text().contains("00002| bbbb\n"), "{}", ran.text());
}

#[test]
fn read_refuses_a_policy_that_is_not_a_read_tool() {
    let home = Home::new();
    home.file("out", EXAMPLE);
    home.run(&["read", "out", "-p", "opencode/output"])
        .fails(2, &["opencode/output is not a read tool; try -p with ", " opencode/read,"]);
}
