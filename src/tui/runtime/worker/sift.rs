//! The worker of a filter: counts the lines that meet its conditions, with as many threads as help.

use std::ops::{ControlFlow, Range};

use crate::source::{self, ViewSupply};
use crate::tui::event::OutputEvent;
use crate::tui::pager::filter::job::{SiftJob, Sifted};

use super::scans::Background;

/// Bytes that a thread takes at a time, at first and later: the first results are to be on the screen at once, but each
/// report wakes the thread that draws it.
const FIRST_TAKE: usize = 2 << 20;
const MOST_TAKE: usize = 32 << 20;

/// Counts the blocks of a task in its order.
pub(crate) fn run(job: &SiftJob, background: &Background) {
    let takes = takes(job);
    // Each thread gets its own patterns: threads that share one wait for each other.
    let state = || {
        let conditions: Vec<_> = job.conditions.to_vec();
        (ViewSupply::from(&job.view), conditions)
    };
    source::share_out(takes.len(), state, |(supply, conditions), number| {
        let scan = crate::text::filter::scan::LineScan { conditions, ..job.scan() };
        let blocks = takes[number].clone();
        let first = blocks.start;
        match scan.count(supply, blocks, &mut || background.go_on()) {
            Some(lines) => {
                let number = job.number;
                background.send(OutputEvent::Sifted(Sifted { number, first, lines }))
            }
            None => ControlFlow::Break(()),
        }
    });
}

/// Divides the blocks of a task into what is taken at a time.
fn takes(job: &SiftJob) -> Vec<Range<usize>> {
    let mut takes = Vec::new();
    let mut bytes = FIRST_TAKE;
    for blocks in &job.blocks {
        let mut at = blocks.start;
        while at < blocks.end {
            let end = (at + (bytes / job.scan().block).max(1)).min(blocks.end);
            takes.push(at..end);
            at = end;
            bytes = (bytes * 2).min(MOST_TAKE);
        }
    }
    takes
}
