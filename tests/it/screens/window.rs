//! Windows of the spill as an agent's read tool returns them, and the calls that read them.

use overspill::internals::tui::app::Effect;

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;

/// Opens a file of 5,000 lines under a policy.
fn open(name: &str) -> Bench {
    let home = Home::new();
    let lines: String = (1..=5000).map(|n| format!("{n}\n")).collect();
    Bench::open((80, 12), &home.file("numbers", lines), policy(name))
}

/// Returns the offset of the last call that was copied.
fn copied(bench: &Bench) -> u64 {
    let Some(Effect::Copy(call)) = bench.asked.last() else { panic!("{:?}", bench.asked) };
    let call: serde_json::Value = serde_json::from_str(call).expect("a call");
    call["offset"].as_u64().expect("an offset")
}

#[test]
fn a_copied_read_call_uses_the_tools_own_offset() {
    for (name, offset) in [("opencode/output", 4001), ("go-opencode/mcp", 4000), ("pi/bash", 4001)] {
        assert_eq!(copied(open(name).keys("]]yr")), offset, "{name}");
    }
}

#[test]
fn a_read_tools_notice_on_an_empty_file_counts_as_text() {
    let home = Home::new();
    let mut bench = Bench::open((80, 12), &home.file("empty", ""), policy("opencode/output"));
    assert!(bench.status().contains("the model got no text"), "{}", bench.status());
    bench.keys("Ok");
    assert!(bench.status().contains("the model gets only what the agent adds"), "{}", bench.status());
}

#[test]
fn entering_and_leaving_the_read_view_keeps_the_window() {
    for name in ["opencode/output", "pi/bash"] {
        let mut bench = open(name);
        assert!(bench.keys("]O").rows()[1..6].iter().any(|row| row.contains("2001")), "{:?}", bench.rows());
        assert_eq!(copied(bench.keys("yr")), 2001, "{name}");
        assert_eq!(copied(bench.keys("Oyr")), 2001, "{name}");
        assert!(bench.rows()[1..3].iter().any(|row| row.starts_with("2001 ")), "{:?}", bench.rows());
    }
}

#[test]
fn the_refusal_of_an_invalid_window_is_whole_or_marked_as_cut() {
    let mut bench = open("opencode/output");
    assert!(
        bench.keys("o5 0<Enter>").status().contains("type one or two numbers from 1 on"),
        "{}",
        bench.status()
    );
    bench.resize((60, 12));
    assert!(bench.status().ends_with('…'), "{}", bench.status());
}

#[test]
fn the_status_says_the_window_only_while_the_user_pages() {
    let mut bench = open("opencode/output");
    bench.keys("<Tab>");
    assert!(bench.status().contains("line 1 of 5,000 · model got it"), "{}", bench.status());
    let paged = bench.keys("]").status();
    assert!(paged.contains("offset 2001 limit 2000 · next 4001"), "{paged}");
    let moved = bench.keys("5j").status();
    assert!(moved.contains("line 2,006 of 5,000 · lost") && !moved.contains("offset"), "{moved}");
    let wide = bench.resize((160, 12)).status();
    assert!(wide.contains("line 2,006 of 5,000 · lost: over 2,000 lines · offset 2001 limit 2000"), "{wide}");
    bench.resize((80, 12));
    assert!(
        bench.keys("]").status().contains("offset 4001 limit 2000 · the last window"),
        "{}",
        bench.status()
    );
    assert!(!bench.keys("g").status().contains("offset"), "{}", bench.status());
    assert!(
        bench.keys("o10 20<Enter>").status().contains("offset 10 limit 20 · next 30"),
        "{}",
        bench.status()
    );
}

#[test]
fn the_read_view_goes_on_where_the_tool_ended() {
    for (name, ends) in [("opencode/output", ")"), ("pi/bash", "]")] {
        let home = Home::new();
        let lines: String = (1..=1500).map(|n| format!("{n} {}\n", "x".repeat(95))).collect();
        let mut bench = Bench::open((120, 12), &home.file("long", lines), policy(name));
        bench.keys("O");
        let (mut offset, mut windows) = (1, Vec::new());
        loop {
            let status = bench.keys("G").status();
            let seen = bench.screen();
            assert!(status.contains(&format!("offset {offset} limit 2000")), "{name}: {status}");
            assert!(bench.rows()[0].contains("read view"), "{:?}", bench.rows()[0]);
            windows.push(offset);
            let Some((_, told)) = seen.split_once("Use offset=") else { break };
            offset = told.split(' ').next().and_then(|words| words.parse::<u64>().ok()).expect("an offset");
            assert!(seen.contains(ends) && status.contains(&format!("next {offset}")), "{name}: {status}");
            bench.keys("]");
            let starts = |row: &String| row.trim_start_matches(' ').starts_with(&offset.to_string());
            assert!(bench.rows()[1..6].iter().any(starts), "{name} {offset}: {}", bench.screen());
        }
        assert!(windows.len() > 2 && windows[1] < 700, "{name}: {windows:?}");
        assert!(bench.status().contains("the last window"), "{name}: {}", bench.status());
        assert!(bench.keys("]").status().contains("line 1,500 is the last"), "{name}: {}", bench.status());
        assert!(bench.keys("gjjg[").status().contains("offset"), "{name}: {}", bench.status());
    }
}

#[test]
fn the_next_window_is_the_same_after_leaving_the_read_view() {
    let home = Home::new();
    let lines: String = (1..=5000).map(|n| format!("{n} {}\n", "x".repeat(95))).collect();
    for leave in ["<Tab>j", "qj"] {
        let mut bench = Bench::open((120, 12), &home.file("long", &lines), policy("opencode/output"));
        let next = |bench: &Bench| {
            let (_, told) = bench
                .status()
                .split_once("· next ")
                .map(|(call, told)| (call.to_owned(), told.to_owned()))?;
            told.split(' ').next()?.parse::<u64>().ok()
        };
        let read = next(bench.keys("O]")).unwrap();
        assert!((900..1200).contains(&read), "{}", bench.status());
        assert_eq!(next(bench.keys(leave)), Some(read), "{leave}: {}", bench.status());
        assert_eq!(copied(bench.keys("]yr")), read, "{leave}");
        if leave == "qj" {
            assert_eq!(next(bench.keys("j")), Some(read + 2000), "{}", bench.status());
            assert_eq!(copied(bench.keys("[yr")), 1, "{leave}");
        }
    }
}

#[test]
fn the_read_view_shows_the_window_that_is_typed() {
    let mut bench = open("opencode/output");
    bench.resize((120, 12));
    assert!(bench.keys("Oo3000 20<Enter>").screen().contains("3000: 3000"), "{}", bench.screen());
    assert!(bench.status().contains("offset 3000 limit 20 · next 3020"), "{}", bench.status());
    assert!(bench.keys("[").status().contains("offset 2980 limit 20 · next 3000"), "{}", bench.status());
    assert!(bench.keys("q").rows()[1].starts_with("2980 "), "{:?}", bench.rows());
}

#[test]
fn the_read_view_goes_back_by_whole_windows() {
    let mut bench = open("opencode/output");
    bench.resize((120, 12));
    assert!(bench.keys("O]]").status().contains("offset 4001 limit 2000 · the last"), "{}", bench.status());
    for offset in [2001, 1] {
        let status = bench.keys("[").status();
        assert!(status.contains(&format!("offset {offset} limit 2000")), "{offset}: {status}");
    }
    let status = bench.keys("o4990 100<Enter>[").status();
    assert!(status.contains("offset 4890 limit 100 · next 4990"), "{status}");
}

#[test]
fn going_back_skips_no_line_in_windows_cut_by_bytes() {
    let home = Home::new();
    let lines: String = (1..=1200).map(|n| format!("{n} {}\n", "x".repeat(95))).collect();
    let mut bench = Bench::open((120, 12), &home.file("long", lines), policy("opencode/output"));
    let offset = |bench: &Bench| {
        let status = bench.status();
        let (_, words) = status.split_once("offset ").expect("a window");
        words.split(' ').next().and_then(|word| word.parse::<u64>().ok()).expect("an offset")
    };
    let windows: Vec<u64> = ["O", "]", "]"].map(|key| offset(bench.keys(key))).into();
    assert!(bench.status().contains("the last window"), "{}", bench.status());
    let back = ["[", "["].map(|key| offset(bench.keys(key)));
    assert!(back[0] == windows[1] && back[1] < 10, "{windows:?} {back:?}");
}

#[test]
fn leaving_the_read_view_keeps_the_scrolled_position() {
    for leave in ["q", "<Esc>"] {
        let mut bench = open("opencode/output");
        let numbers =
            |bench: &Bench| bench.rows()[1..6].iter().map(|row| row[..5].to_owned()).collect::<Vec<_>>();
        let read = numbers(bench.keys("O]<Tab>jjjj"));
        assert_eq!(read[0], "2005 ");
        assert!(bench.rows()[0].contains("read view"), "{:?}", bench.rows()[0]);
        bench.keys(leave);
        assert!(!bench.rows()[0].contains("read view"), "{leave}: {:?}", bench.rows()[0]);
        assert_eq!(numbers(&bench), read, "{leave}");
    }
}

#[test]
fn the_read_view_keeps_its_own_what_if_limits() {
    let mut bench = open("opencode/output");
    bench.resize((160, 12));
    let title = |bench: &mut Bench, keys: &str| bench.keys(keys).rows().swap_remove(0);
    let read = title(&mut bench, "O");
    assert!(read.contains("read view") && read.matches("opencode/read").count() == 1, "{read}");
    for keys in ["l+<Enter>", "OO", "O]O"] {
        let changed = title(&mut bench, keys);
        assert!(changed.contains("read view · max bytes "), "{keys}: {changed}");
        assert!(!changed.contains("offset "), "{keys}: {changed}");
    }
    assert!(!title(&mut bench, "lR<Enter>").contains("read view"), "all is as at the start");
}
