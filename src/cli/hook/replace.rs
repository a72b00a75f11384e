//! Puts another text in place of the preview that an agent gives of a long output: its start, the errors with the numbers
//! of their lines, and its end.

use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::config::Config;
use crate::human::size;

use super::note::HookOutput;

/// The most bytes of the start and of the end. With the rest that is less than the 30,000 characters up to which Claude Code
/// gives an output whole.
const MAX_END: usize = 10 << 10;

/// Returns the text for an output that is too long to be given whole; `None` if it is not.
pub(super) fn text(config: &Config, output: &HookOutput, path: &str) -> Option<String> {
    let bytes = &*output.view;
    if bytes.len() <= 2 * MAX_END {
        return None;
    }
    let [start, end] = ends(bytes);
    let loss = output.loss(config, &[start.clone(), end.clone()]);
    let named: String = loss.named.iter().map(|line| format!("{line}\n")).collect();
    let left_out = size((end.start - start.end) as u64);
    let words = |range: Range<usize>| String::from_utf8_lossy(&bytes[range]).into_owned();
    let notice = format!("[overspill: {left_out} are left out here. {}]", output.place(path));
    let heading = loss.heading();
    Some(format!("{}\n{notice}\n{heading}\n{named}\n{}", words(start), words(end)))
}

/// Returns the start and the end of an output, in whole lines unless these are long.
fn ends(bytes: &[u8]) -> [Range<usize>; 2] {
    let start = memrchr(b'\n', &bytes[..MAX_END]).map_or(MAX_END, |feed| feed + 1);
    let from = bytes.len() - MAX_END;
    let end = memchr(b'\n', &bytes[from..bytes.len() - 1]).map_or(from, |feed| from + feed + 1);
    [0..start, end..bytes.len()]
}
