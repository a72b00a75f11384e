//! Safe text for what is not the pager's screen: names, ids, errors and titles, and content on a terminal.

use crate::text::ansi;
use crate::text::cells::{Cell, Cells, Kind, Show};
use crate::text::layout::segment_at;
use anstyle::{Effects, Style};
use std::fmt::Write as _;
use std::io;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

#[cfg(test)]
#[path = "safe/tests.rs"]
mod tests;

/// How names are shown: nothing is obeyed, nothing hidden, and no tab moves what follows.
const LABEL: Show = Show { tab: 0, ..Show::RAW };

/// One line of plain, safe text for a name, an id, an error or a title. Everything that is not printed as
/// itself is named: `^J` for a line feed, `^[`, `<202E>`, `<FF>`. Safe text is left as it is.
pub fn label(bytes: &[u8]) -> String {
    label_as(bytes, &LABEL)
}

/// The same for a terminal that knows ASCII alone.
pub fn label_ascii(bytes: &[u8]) -> String {
    label_as(bytes, &Show { ascii: true, ..LABEL })
}

fn label_as(bytes: &[u8], show: &Show) -> String {
    let mut text = String::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        for cell in Cells::new(line, show) {
            text.push_str(if cell.kind == Kind::LineEnd { "^J" } else { cell.text.as_str() });
        }
    }
    text
}

/// `text` in at most so many columns: of a longer one the start and the end, with `…` between. Give it safe
/// text ([`label`]); it is not made safe here, but never split inside a grapheme.
pub fn fit(text: &str, columns: usize) -> String {
    fit_with(text, columns, "…")
}

/// The same with another mark for what is left out; the mark too is left out where it has no room.
pub fn fit_with(text: &str, columns: usize, mark: &str) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mark = if mark.width() <= columns { mark } else { "" };
    let room = columns - mark.width();
    let head = within(text.graphemes(true), room.div_ceil(2));
    let rest = &text[head..];
    let tail = within(rest.graphemes(true).rev(), room - text[..head].width());
    format!("{}{mark}{}", &text[..head], &rest[rest.len() - tail..])
}

/// Bytes of the graphemes, one after another, that fit into so many columns.
fn within<'a>(graphemes: impl Iterator<Item = &'a str>, columns: usize) -> usize {
    let mut used = 0;
    graphemes
        .take_while(|grapheme| {
            used += grapheme.width();
            used <= columns
        })
        .map(str::len)
        .sum()
}

/// Prints content to a terminal, safe by `show`, line by line. With `colour` the styles are made anew (and
/// always ended before a line feed and at the end) and names of controls are reversed; without, no escape
/// sequence at all is written.
///
/// # Errors
/// Those of `out`.
pub fn write_safe(out: &mut impl io::Write, bytes: &[u8], show: &Show, colour: bool) -> io::Result<()> {
    let mut printer = Printer { text: String::new(), style: Style::new(), colour };
    let mut rest = bytes;
    while !rest.is_empty() {
        let len = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
        let (line, after) = rest.split_at(len);
        printer.line(out, line, show)?;
        rest = after;
    }
    Ok(())
}

struct Printer {
    text: String,
    /// What the terminal has been told.
    style: Style,
    colour: bool,
}

impl Printer {
    fn line(&mut self, out: &mut impl io::Write, line: &[u8], show: &Show) -> io::Result<()> {
        let mut at = 0;
        while at < line.len() {
            let segment = segment_at(line, at);
            let cells = Cells::new(&line[at..segment.end], show).with_style(ansi::style_at(&line[..at]));
            cells.for_each(|cell| self.cell(&cell));
            at = segment.end;
            if at == line.len() {
                self.dress(Style::new());
            }
            out.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }

    fn cell(&mut self, cell: &Cell) {
        match cell.kind {
            Kind::Style | Kind::Hidden => return,
            Kind::LineEnd => {
                self.dress(Style::new());
                self.text.push('\n');
                return;
            }
            Kind::Control => self.dress(Style::new().effects(Effects::INVERT)),
            Kind::Text | Kind::Tab | Kind::Replaced => self.dress(cell.look),
        }
        self.text.push_str(cell.text.as_str());
    }

    fn dress(&mut self, style: Style) {
        if !self.colour || style == self.style {
            return;
        }
        let reset = if self.style == Style::new() { "" } else { "\x1b[0m" };
        // Writing to a String cannot fail.
        let _ = write!(self.text, "{reset}{style}");
        self.style = style;
    }
}
