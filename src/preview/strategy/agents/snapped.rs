//! Keeps half the bytes from either end, moved inward to the start of a character and then to a line feed, if one is
//! near.

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::{Text, as_usize};
use crate::preview::strategy::context::{Context, Strategy};
use crate::preview::strategy::selection::{Selection, lines_in};
use crate::preview::template::Figure;
use crate::preview::template::facts::Fact;

#[derive(Debug, Deserialize)]
pub(crate) struct Snapped {
    size: Figure,
}

impl Strategy for Snapped {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let size = as_usize(context.scope.figure(&self.size)?).min(text.len());
        let (start, end) = (text.body.start, text.body.end);
        let (first, last) = (size / 2, size - size / 2);
        let inside = |at: usize| at < end && text.bytes[at] & 0xC0 == 0x80;
        let mut head = start + first;
        while head > start && inside(head) {
            head -= 1;
        }
        if let Some(feed) = text.feed_before(start, head).filter(|feed| feed - start > first / 2) {
            head = feed;
        }
        let mut tail = end - last;
        while inside(tail) {
            tail += 1;
        }
        if let Some(feed) = text.feed_after(tail, end).filter(|feed| feed - tail < last / 2) {
            tail = feed + 1;
        }
        let (head, tail) = (start..head, tail..end);
        let elided = Fact::Number((tail.start - head.end) as u64);
        let lines = Some(Ok(lines_in(text, &head) + lines_in(text, &tail)));
        let hit = Some(context.by_size());
        let selection = Selection { lines, hit, ..Selection::ends(text, head, tail) };
        Ok(selection.with_fact("elided", elided))
    }
}
