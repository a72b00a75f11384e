//! Progress lines, folded to their last state, and JSON lines with indents.

use overspill::internals::document::reader::Cost;
use overspill::internals::tui::widget::layout::Side;

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;
use crate::screens::SIZES;

const JSON: &str = r#"{"level":"error","at":[1.50,12345678901234567890],"what":{"code":null}}"#;

/// A line of this many states: 10 bytes each.
fn states(count: usize) -> String {
    (0..count).map(|n| format!("step {n:05}")).collect::<Vec<_>>().join("\r")
}

fn log() -> String {
    format!("first\n{}\n{}\r\n{JSON}\nlast\n", states(240), states(20_000))
}

fn open(size: (u16, u16), content: &str) -> Bench {
    let home = Home::new();
    Bench::open(size, &home.file("build.log", content), policy("opencode/output"))
}

fn keep(name: &str, bench: &Bench) {
    let (width, height) = bench.app.canvas.size;
    insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true, snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(format!("{name}_{width}x{height}"), bench.screen());
    });
}

#[test]
fn progress_lines_fold_in_spill() {
    for size in SIZES {
        let mut bench = open(size, &log());
        keep("progress", bench.keys("<Tab>"));
        keep("progress_unfolded", bench.keys("2Gr"));
    }
}

#[test]
fn a_match_in_a_hidden_state_unfolds_its_line_alone() {
    let mut bench = open((82, 24), &log());
    bench.keys("<Tab>/00041<Enter>");
    let rows = bench.rows().join("\n");
    assert!(rows.contains("step 00040^Mstep 00041"), "{rows}");
    bench.keys("3G");
    let rows = bench.rows().join("\n");
    assert!(rows.contains("step 19999  ⟳ 5,958+ states"), "{rows}");
    bench.keys("n");
    let rows = bench.rows().join("\n");
    assert!(rows.contains("^Mstep 00041"), "{rows}");
}

#[test]
fn a_folded_line_of_ten_megabytes_costs_its_end() {
    let bench = open((80, 24), &format!("first\n{}\nlast\n", states(1_000_000)));
    for top in [0, 6, 5_000_000] {
        let cost = Cost::default();
        let rows = {
            let pager = bench.pager();
            let scroll = pager.output.scroll(Side::Spill, pager.viewport(Side::Spill), Some(&cost));
            scroll.screen(scroll.row_at(top)).len()
        };
        assert!(
            rows <= 3 && cost.rows() <= 6 && cost.blocks() <= 10,
            "{rows} {} {}",
            cost.rows(),
            cost.blocks()
        );
    }
}

#[test]
fn showing_escapes_unfolds_all_progress_states() {
    let mut bench = open((80, 24), &log());
    let rows = bench.keys("<Tab>r").rows().join("\n");
    assert!(rows.contains("step 00000^Mstep 00001"), "{rows}");
    let rows = bench.keys("r").rows().join("\n");
    assert!(rows.contains("step 00239  ⟳ 240 states"), "{rows}");
}

#[test]
fn a_long_line_that_was_cut_says_why_it_is_not_folded() {
    let home = Home::new();
    let log = format!("first\n{}\nlast\n", states(60_000));
    let open = |name: &str, set: (&str, &str)| {
        let mut policy = policy(name);
        policy.set(set.0, set.1).expect("a parameter");
        Bench::open((80, 24), &home.file("build.log", &log), policy)
    };
    let mut cut = open("basic/middle-out", ("max_points", "600000"));
    let words = "a long progress line that was cut cannot be folded; the others are";
    assert!(cut.keys("r").status().contains(words), "{:#?}", cut.rows());
    assert!(cut.keys("r").status().contains("raw: escapes as text"), "{}", cut.status());
    let mut whole = open("opencode/output", ("max_bytes", "1000000"));
    assert!(whole.keys("r").status().contains("escapes as colours"), "{}", whole.status());
    assert!(whole.rows()[2].contains("⟳ 5,958+ states"), "{}", whole.rows()[2]);
}

#[test]
fn the_state_count_gets_its_own_row_if_it_does_not_fit() {
    let wide = (0..9).map(|n| format!("{n:070}")).collect::<Vec<_>>().join("\r");
    let mut bench = open((80, 24), &format!("first\n{wide}\n{}\n", states(20_000)));
    let rows = bench.keys("<Tab>").rows().join("\n");
    let last = format!("   2 │ {:070}", 8);
    assert!(rows.contains(&last) && rows.contains("     │ ⟳ 9 states"), "{rows}");
}

#[test]
fn a_json_line_is_shown_with_indents() {
    for size in SIZES {
        let mut bench = open(size, &log());
        keep("json", bench.keys("<Tab>/level<Enter>J"));
        let words = [
            ("<Esc>1J", "line 1 is not JSON: expected ident, at byte 2"),
            ("9J", "no line 9, or it is not counted yet"),
            ("/last<Enter>J", "line 5 is not JSON: expected value, at byte 1"),
            ("4J", "line 4 as JSON: indented here, one line in the output"),
            ("<Esc><Esc>gJ", "line 1 is not JSON: expected ident, at byte 2"),
        ];
        for (keys, expected) in words {
            let rows = bench.keys(keys).rows().join("\n");
            assert!(rows.contains(expected), "{keys}: {rows}");
        }
    }
}
