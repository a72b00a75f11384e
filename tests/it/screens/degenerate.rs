//! Every size down to nothing, in every state: no panic, and nothing drawn outside.

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;
use crate::common::samples::{build_log, hostile};

/// Ways to reach a state from a freshly opened output.
const STATES: [&str; 14] = [
    "",
    "G",
    "<Tab>",
    "<Tab>G",
    "/warning<Enter>n",
    "<Tab>/error<Enter>",
    "/a(<Enter>",
    "o1 2",
    "h",
    "=",
    "l",
    "p",
    "<Tab>w<Right>",
    "S",
];

fn sweep(sizes: impl Iterator<Item = (u16, u16)> + Clone) {
    let home = Home::new();
    let contents = [Vec::new(), build_log(6433), hostile(), vec![b'x'; 300 << 10]];
    for content in contents {
        let path = home.file("build.log", content);
        for keys in STATES {
            let mut bench = Bench::open((80, 24), &path, policy("opencode/output"));
            bench.keys(keys);
            for size in sizes.clone() {
                bench.resize(size);
                bench.draw();
                bench.keys("j<PgDn>").draw();
                bench.keys("k<PgUp>");
            }
        }
    }
}

#[test]
fn no_size_is_too_small() {
    sweep((0..=4).flat_map(|width| (0..=4).map(move |height| (width, height))));
}

#[test]
fn draws_around_the_sizes_where_the_layout_changes() {
    let widths = [19, 20, 79, 139, 140, 300];
    sweep(widths.into_iter().flat_map(|width| [2, 3, 7, 8, 40].map(|height| (width, height))));
}

#[test]
fn the_largest_size_is_drawn_in_every_state() {
    let home = Home::new();
    let path = home.file("build.log", build_log(6433));
    for keys in STATES {
        let mut bench = Bench::open((80, 24), &path, policy("opencode/output"));
        bench.keys(keys).resize((1000, 500));
        assert_eq!(bench.rows().len(), 500, "{keys}");
    }
}

#[test]
fn opens_at_sizes_down_to_0_by_0() {
    let home = Home::new();
    let path = home.file("build.log", build_log(6433));
    for size in (0..=3).flat_map(|width| (0..=3).map(move |height| (width, height))) {
        let mut bench = Bench::open(size, &path, policy("opencode/output"));
        bench.keys("Gg<Tab>G]5G/error<Enter>n+-<>D");
        bench.draw();
        bench.resize((80, 24));
        assert!(bench.rows().len() == 24);
    }
}

#[test]
fn numbers_too_large_do_no_harm() {
    let home = Home::new();
    let path = home.file("build.log", build_log(300));
    let most = "9".repeat(25);
    let numbers = ["18446744073709551615", &most];
    for side in ["", "<Tab>"] {
        for number in numbers {
            for key in
                ["j", "k", "d", "u", "f", "b", "g", "G", "<Left>", "<Right>", "+", "-", "<", ">", "n", "}"]
            {
                let mut bench = Bench::open((80, 24), &path, policy("opencode/output"));
                bench.keys(side).keys(number).keys(key).draw();
                bench.keys("j").draw();
            }
            for prompt in ["o1 ", "o", ":", "oo 5 "] {
                let mut bench = Bench::open((80, 24), &path, policy("opencode/output"));
                bench.keys(side).keys(prompt).keys(number).keys("<Enter>").draw();
                bench.keys("<Esc>]").draw();
                bench.keys("[j").draw();
            }
        }
    }
    let mut bench = Bench::open((80, 24), &path, policy("opencode/output"));
    bench.keys("<Tab>").keys(&most).keys("j");
    assert!(bench.rows().iter().any(|row| row.starts_with(" 300 ")), "{:?}", bench.rows());
}

#[test]
fn the_list_takes_numbers_too_large() {
    for key in ["j", "k", "d", "u", "f", "b", "g", "G"] {
        let mut bench = Bench::new((80, 24));
        bench.start_with_stores();
        bench.keys(&"9".repeat(25)).keys(key).draw();
    }
}
