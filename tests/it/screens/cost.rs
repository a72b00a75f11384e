//! The cost of a frame: blocks of the file read and rows laid out, whatever the file's size.

use std::os::unix::fs::FileExt;

use overspill::internals::document::reader::Cost;
use overspill::internals::text::index::BLOCK;
use overspill::internals::text::layout::ANCHOR;
use overspill::internals::tui::widget::layout::Side;
use overspill::preview::{Input, Output, Totals, plan_touching};

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;

const HUGE: u64 = 5 << 30;
const LONG: u64 = 200 << 20;

/// Number of rows in both panes.
fn few_rows(bench: &Bench) -> usize {
    2 * usize::from(bench.app.canvas.size.1)
}

/// Rows in a segment of a long line of zeros, each two columns wide: a position inside is laid out from the start.
fn segment_rows(bench: &Bench) -> usize {
    let (width, _) = bench.pager().room(Side::Spill);
    ANCHOR * 2 / usize::from(width) + 2
}

#[track_caller]
fn check(bench: &Bench, blocks: usize, rows: usize) {
    let (_, cost) = bench.draw();
    let size = bench.app.canvas.size;
    assert!(cost.blocks() <= blocks, "{} blocks at {size:?}", cost.blocks());
    assert!(cost.rows() <= rows, "{} rows at {size:?}", cost.rows());
}

#[test]
fn the_first_frame_of_five_gigabytes_reads_four_blocks() {
    let home = Home::new();
    let path = home.sparse("huge", HUGE);
    let text = "a line of some length\n".repeat(20_000);
    for start in ["", &text] {
        std::fs::File::options().write(true).open(&path).unwrap().write_all_at(start.as_bytes(), 0).unwrap();
        for size in [(80, 24), (200, 50)] {
            let mut bench = Bench::new(size);
            bench.start(&path, policy("opencode/output"));
            let (_, cost) = bench.draw();
            let view = bench.source.as_ref().unwrap().view();
            let totals = Totals::unknown();
            let input = Input::new(Output { bytes: &view, totals: &totals }, "/saved");
            let (_, planned) = plan_touching(&input, &policy("opencode/output"));
            let blocks = cost.blocks() + (planned as usize).div_ceil(BLOCK);
            assert!(blocks <= 4, "{blocks} blocks at {size:?}");
            assert!(cost.rows() <= few_rows(&bench), "{} rows at {size:?}", cost.rows());
        }
    }
}

/// A line of 200 MB between two short ones.
fn long_line(home: &Home) -> std::path::PathBuf {
    let path = home.sparse("long", LONG);
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.write_all_at(b"first\n", 0).unwrap();
    file.write_all_at(b"needle", LONG / 2 + 12_345).unwrap();
    file.write_all_at(b"\nlast\n", LONG - 6).unwrap();
    path
}

#[test]
fn a_line_of_200_megabytes_costs_no_more_than_it_shows() {
    let home = Home::new();
    let path = long_line(&home);
    for size in [(80, 24), (200, 50)] {
        let mut bench = Bench::open(size, &path, policy("opencode/output"));
        let few = few_rows(&bench);
        check(&bench, 4, few);
        check(bench.keys("<Tab>"), 4, few);
        let inside = few + segment_rows(&bench);
        check(bench.keys("G"), 6, inside);
        assert!(bench.rows().iter().any(|row| row.contains(" last ")), "{:?}", bench.rows());
        check(bench.keys("/needle<Enter>"), 6, inside);
        assert!(bench.rows().iter().any(|row| row.contains("^@needle")), "{:?}", bench.rows());
        check(bench.keys(":50%<Enter>"), 6, inside);
    }
}

#[test]
fn moving_in_a_line_of_200_megabytes_lays_out_a_few_segments() {
    let home = Home::new();
    let bench = Bench::open((80, 24), &long_line(&home), policy("opencode/output"));
    // Up, down and to the end each read at most two segments.
    let allowed = 3 * (2 * segment_rows(&bench) + few_rows(&bench));
    for top in [0, 6, LONG / 2, LONG - 6, LONG - 1] {
        let cost = Cost::default();
        let pager = bench.pager();
        let scroll = pager.output.scroll(Side::Spill, pager.viewport(Side::Spill), Some(&cost));
        let at = scroll.row_at(top);
        scroll.down(at, 24);
        scroll.up(at, 24);
        scroll.last_top();
        assert!(
            cost.rows() <= allowed && cost.blocks() <= 12,
            "{} rows, {} blocks at {top}",
            cost.rows(),
            cost.blocks()
        );
    }
}

#[test]
fn sideways_in_a_line_of_200_megabytes_costs_a_screen() {
    let home = Home::new();
    let mut bench = Bench::open((80, 24), &long_line(&home), policy("opencode/output"));
    let few = few_rows(&bench);
    for keys in ["<Tab>w", "G", "g<Right><Right>", "/needle<Enter>"] {
        check(bench.keys(keys), 12, few);
    }
    assert!(bench.rows().iter().any(|row| row.contains("needle")), "{:?}", bench.rows());
}

#[test]
fn sideways_in_an_uncounted_line_reads_a_bounded_part() {
    let home = Home::new();
    let path = long_line(&home);
    for keys in ["<Tab>w", "<Tab>wG", "<Tab>w:50%<Enter>"] {
        let mut bench = Bench::new((80, 24));
        bench.start(&path, policy("opencode/output"));
        // 4 MiB for the start of the line, and as much for its end.
        let few = few_rows(&bench);
        check(bench.keys(keys), 2 * 65 + 12, few);
    }
}
