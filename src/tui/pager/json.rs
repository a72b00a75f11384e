//! A line as indented JSON: the current one, or one given by its number.

use crate::human::thousands;
use crate::text::pretty::{JsonExtent, NotJson, Pretty, pretty};
use crate::tui::recorded::TitledText;
use crate::tui::widget::layout::Side;

use super::Pager;
use crate::tui::widget::cost::Cost;

/// Of a longer line only this many bytes are shown.
const MOST: u64 = 1 << 20;

impl Pager {
    /// Returns a line as indented JSON, in which strings and numbers stay as they are written: that of this number (1-based),
    /// or else the current one.
    pub(crate) fn line_as_json(&self, number: Option<u64>) -> Result<TitledText, String> {
        let side = self.focus();
        let at = number.map(|number| self.start_of_line(side, number)).transpose()?;
        let (start, bytes, extent) = self.line_around(side, at.unwrap_or_else(|| self.current_line(side)))?;
        self.indented(side, start, &bytes, extent)
    }

    fn start_of_line(&self, side: Side, number: u64) -> Result<u64, String> {
        let output = &self.output;
        let offset = output.index.offset_of(&output.view, number.saturating_sub(1));
        let offset =
            offset.ok_or_else(|| format!("no line {}, or it is not counted yet", thousands(number)))?;
        Ok(output.position(side, offset as usize))
    }

    fn indented(
        &self,
        side: Side,
        start: u64,
        bytes: &[u8],
        extent: JsonExtent,
    ) -> Result<TitledText, String> {
        let name = match (side, self.output.index.line_at(&self.output.view, start)) {
            (Side::Spill, Some(line)) => format!("line {}", thousands(line + 1)),
            _ => "this line".into(),
        };
        let fault =
            |NotJson { at, why }| format!("{name} is not JSON: {why}, at byte {}", thousands(at as u64 + 1));
        let Pretty { text, extent: printed } = pretty(bytes, extent).map_err(fault)?;
        let how_much = match (extent, printed) {
            (_, JsonExtent::Whole) => "",
            (JsonExtent::Beginning, _) => " (its first 1 MiB)",
            (JsonExtent::Whole, _) => " (its beginning)",
        };
        Ok(TitledText { title: format!("{name} as JSON{how_much}: not what the model saw"), text })
    }

    /// Returns the start of the line that contains `at`, its bytes, and whether they are all of it.
    fn line_around(&self, side: Side, at: u64) -> Result<(u64, Vec<u8>, JsonExtent), String> {
        self.scrolling(side, &Cost::default(), |s| {
            let (reader, len) = (s.reader, s.reader.doc.len());
            let start = reader.line_start(at);
            if start > 0 && !reader.ends_line(start - 1) {
                return Err("where this line starts is not known yet: lines are being counted".into());
            }
            let end = len.min(start + MOST);
            let mut bytes = reader.copy(start..end);
            let line_feed = memchr::memchr(b'\n', &bytes);
            bytes.truncate(line_feed.unwrap_or(bytes.len()));
            let is_whole = line_feed.is_some() || end == len;
            Ok((start, bytes, if is_whole { JsonExtent::Whole } else { JsonExtent::Beginning }))
        })
    }
}
