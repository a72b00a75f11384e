//! Keeps a number of pieces from either end, regardless of size.

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::Text;
use crate::preview::model::Direction;
use crate::preview::template::Figure;
use crate::preview::template::facts::Fact;

use super::context::{Context, Strategy};
use super::selection::Selection;

#[derive(Debug, Deserialize)]
pub(crate) struct Ends {
    head_lines: Figure,
    tail_lines: Figure,
    /// Whether keeping the last 0 keeps everything, like `slice(-0)`.
    zero_keeps_all: bool,
}

impl Strategy for Ends {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let head_lines = context.scope.figure(&self.head_lines)?;
        let tail_lines = context.scope.figure(&self.tail_lines)?;
        let both = head_lines.saturating_add(tail_lines);
        match text.exceeds_lines(both) {
            Ok(false) => Ok(all(text)),
            Ok(true) => Ok(self.two(text, head_lines, tail_lines)),
            Err(_) => {
                text.give_up();
                Ok(all(text))
            }
        }
    }
}

impl Ends {
    fn two(&self, text: &Text, head_lines: u64, tail_lines: u64) -> Selection {
        let (start, end) = (text.body.start, text.lines_end());
        let side = |from, lines| text.outer_pieces(start..end, from, lines).unwrap_or(start..end);
        let head = if head_lines == 0 { start..start } else { side(Direction::Head, head_lines) };
        let tail = match tail_lines {
            0 if self.zero_keeps_all => start..end,
            0 => end..end,
            _ => side(Direction::Tail, tail_lines),
        };
        let kept = head_lines.saturating_add(tail_lines);
        let mut selection = Selection { lines: Some(Ok(kept)), ..Selection::ends(text, head, tail) };
        selection.slots.push(("kept", Vec::new()));
        let left_out = text.line_count().map(|lines| lines.saturating_sub(kept));
        selection.with_fact("gap", Fact::Flag(true)).with_fact("middle_lines", Fact::from(left_out))
    }
}

fn all(text: &Text) -> Selection {
    let mut selection = Selection::everything(text);
    selection.slots.extend([("head", Vec::new()), ("tail", Vec::new())]);
    selection.with_fact("gap", Fact::Flag(false))
}
