//! What a frame costs: blocks of the file read and rows laid out, whatever the file's size.

use overspill::preview::{Input, Output, Totals, plan_touching};

use crate::common::bench::{Bench, policy};
use crate::common::home::Home;

const BLOCK: u64 = 64 << 10;

/// A few rows more than are shown, for finding where rows start.
fn rows_allowed(bench: &Bench) -> usize {
    2 * 4 * usize::from(bench.app.size.1)
}

#[test]
fn the_first_frame_of_five_gigabytes_reads_four_blocks() {
    let home = Home::new();
    let path = home.sparse("huge", 5 << 30);
    for size in [(80, 24), (200, 50)] {
        let mut bench = Bench::new(size);
        bench.start(&path, policy("opencode/output"));
        let (_, cost) = bench.draw();
        let view = bench.source.as_ref().unwrap().view();
        let totals = Totals::unknown();
        let input = Input::new(Output { bytes: &view, totals: &totals }, "/saved");
        let (_, planned) = plan_touching(&input, &policy("opencode/output"));
        let blocks = cost.blocks() as u64 + planned.div_ceil(BLOCK);
        assert!(blocks <= 4, "{blocks} blocks at {size:?}");
        assert!(cost.rows() <= rows_allowed(&bench), "{} rows at {size:?}", cost.rows());
    }
}
