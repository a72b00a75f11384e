//! Keeps the last raw bytes, wherever they begin, without the line feeds at the end.

use serde::Deserialize;

use crate::preview::error::PlanError;
use crate::preview::measure::{Text, as_usize};
use crate::preview::strategy::context::{Context, Strategy};
use crate::preview::strategy::selection::{Selection, lines_in};
use crate::preview::strategy::size;
use crate::preview::template::Figure;

/// The keys of `raw-tail`.
#[derive(Debug, Deserialize)]
pub(crate) struct RawTail {
    size: Figure,
}

impl Strategy for RawTail {
    fn select(&self, text: &Text, context: &Context) -> Result<Selection, PlanError> {
        let most = as_usize(context.scope.figure(&self.size)?);
        let is_cut = text.bytes.len() > most;
        let start = text.bytes.len().saturating_sub(most);
        let mut end = text.body.end;
        while end > start && text.bytes[end - 1] == b'\n' {
            end -= 1;
        }
        let kept = size::raw(text, start..end);
        Ok(Selection {
            lines: Some(Ok(lines_in(text, &kept.range))),
            slots: vec![("kept", kept.parts)],
            ranges: vec![kept.range],
            hit: is_cut.then_some(context.by_size()),
            cut: Some(is_cut),
            ..Selection::default()
        })
    }
}
