//! `-F`: an output that fits on one screen is printed instead, as `less -F` does.

use std::io;

use crate::source::Source;
use crate::text::cells::Show;
use crate::text::label::{columns_of, write_safe};

use super::terminal::{colour, is_ascii};

/// A longer output is never looked at: no screen is as large.
const MOST: usize = 1 << 20;

/// Returns a complete output as it is printed on a terminal, if it fits on the screen together with a prompt.
pub(crate) fn of(source: &Source) -> Option<Vec<u8>> {
    let view = source.view();
    let (columns, rows) = crossterm::terminal::size().ok()?;
    if !source.is_complete() || view.len() > MOST {
        return None;
    }
    fits(&view, (columns.into(), rows.into())).then(|| printed(&view, colour()))
}

/// Whether an output takes fewer rows than the screen has.
fn fits(bytes: &[u8], (columns, rows): (usize, usize)) -> bool {
    let text = String::from_utf8(printed(bytes, false)).unwrap_or_default();
    let taken = text.lines().map(|line| columns_of(line).div_ceil(columns.max(1)).max(1));
    taken.sum::<usize>() < rows && (!text.is_empty() || bytes.is_empty())
}

/// Returns an output as Spill shows it, with colours and no other escape sequence, its last line ended.
fn printed(bytes: &[u8], colour: bool) -> Vec<u8> {
    let mut out = Vec::new();
    // Writing to memory does not fail.
    let show = Show { ascii: is_ascii(&io::stdout()), ..Show::PAGER };
    let _ = write_safe(&mut out, bytes, &show, colour);
    if !matches!(out.last(), None | Some(b'\n')) {
        out.push(b'\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_leaves_a_row_for_the_prompt() {
        assert!(fits(b"", (80, 24)));
        assert!(fits("x\n".repeat(23).as_bytes(), (80, 24)));
        assert!(!fits("x\n".repeat(24).as_bytes(), (80, 24)));
        assert!(fits("x".repeat(80 * 23).as_bytes(), (80, 24)));
        assert!(!fits("x".repeat(80 * 23 + 1).as_bytes(), (80, 24)));
        assert_eq!(printed(b"a\x1b]0;x\x07", true), b"a\n");
    }
}
