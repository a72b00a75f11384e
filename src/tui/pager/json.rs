//! Shows a line as indented JSON: the current one, or one given by its number.

use crate::human::thousands;
use crate::session::facts::TitledText;
use crate::text::pretty::{JsonExtent, Pretty, pretty};
use crate::tui::widget::layout::Side;

use super::Pager;

/// Of a longer line only this many bytes are shown.
const MAX_BYTES: u64 = 1 << 20;

impl Pager {
    /// Returns a line as indented JSON, in which strings and numbers stay as they are written: that of this number (1-based),
    /// or else the current one.
    pub(crate) fn line_as_json(&self, number: Option<u64>) -> Result<TitledText, String> {
        let (side, output) = (self.focus(), &self.output);
        let at = match number {
            Some(number) => {
                let unknown = || format!("no line {}, or it is not counted yet", thousands(number));
                output.position(side, output.start_of_line(number).ok_or_else(unknown)?)
            }
            None => self.current_line(side),
        };
        let (start, bytes, given) = self.line_around(side, at)?;
        let name = match (side, output.line_number(start as usize)) {
            (Side::Spill, Some(line)) => format!("line {}", thousands(line)),
            _ => "this line".into(),
        };
        let Pretty { text, extent } = pretty(&bytes, given).map_err(|error| {
            let (words, byte) = (error.to_string(), thousands(error.column() as u64));
            let why = words.rsplit_once(" at line ").map_or(&*words, |(why, _)| why);
            format!("{name} is not JSON: {why}, at byte {byte}")
        })?;
        let how_much = match (given, extent) {
            (_, JsonExtent::Whole) => "",
            (JsonExtent::Beginning, _) => " (its first 1 MiB)",
            (JsonExtent::Whole, _) => " (its beginning)",
        };
        Ok(TitledText { title: format!("{name} as JSON{how_much}: not what the model saw"), text })
    }

    /// Returns the start of the line that contains `at`, its bytes, and whether they are all of it.
    fn line_around(&self, side: Side, at: u64) -> Result<(u64, Vec<u8>, JsonExtent), String> {
        let reader = self.output.reader(side, None);
        let (start, len) = (reader.line_start(at), reader.doc.len());
        if start > 0 && !reader.ends_line(start - 1) {
            return Err("where this line starts is not known yet: lines are being counted".into());
        }
        let end = len.min(start + MAX_BYTES);
        let mut bytes = reader.copy(start..end);
        let line_feed = memchr::memchr(b'\n', &bytes);
        bytes.truncate(line_feed.unwrap_or(bytes.len()));
        let is_whole = line_feed.is_some() || end == len;
        Ok((start, bytes, if is_whole { JsonExtent::Whole } else { JsonExtent::Beginning }))
    }
}
