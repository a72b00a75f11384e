//! Safe text for what is not the pager's screen: names, ids, errors and titles, and content on a terminal.

pub mod json;
mod safe;
pub mod shell;

use std::fmt::Write as _;
use std::io;

use anstyle::{Effects, Style};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::ansi;
use super::cells::{Cell, CellKind, Cells, Show};
use super::layout::segment_at;

pub use safe::SafeText;

#[cfg(test)]
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
            text.push_str(if cell.kind == CellKind::LineEnd { "^J" } else { cell.text.as_str() });
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
    if columns_of(text) <= columns {
        return text.to_owned();
    }
    let mark = if columns_of(mark) <= columns { mark } else { "" };
    let room = columns - columns_of(mark);
    let (head, rest) = text.split_at(within(text.graphemes(true), room.div_ceil(2)));
    let tail = within(rest.graphemes(true).rev(), room - columns_of(head));
    format!("{head}{mark}{}", &rest[rest.len() - tail..])
}

/// Columns that safe text takes when it is drawn grapheme by grapheme, as all screens here do.
pub fn columns_of(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// The graphemes at the start of safe text that fit into so many columns.
pub fn head(text: &str, columns: usize) -> &str {
    &text[..within(text.graphemes(true), columns)]
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
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let mut at = 0;
        while at < line.len() {
            let end = segment_at(line, at).end;
            let cells = Cells::new(&line[at..end], show).with_style(ansi::style_at(&line[..at]));
            cells.for_each(|cell| printer.cell(&cell));
            printer.write_if_over(CHUNK, out)?;
            at = end;
        }
    }
    printer.dress(Style::new());
    printer.write_if_over(0, out)
}

/// Bytes of printed text that are written together.
const CHUNK: usize = 65536;

struct Printer {
    text: String,
    /// What the terminal has been told.
    style: Style,
    colour: bool,
}

impl Printer {
    fn write_if_over(&mut self, least: usize, out: &mut impl io::Write) -> io::Result<()> {
        if self.text.len() > least {
            out.write_all(self.text.as_bytes())?;
            self.text.clear();
        }
        Ok(())
    }

    fn cell(&mut self, cell: &Cell) {
        match cell.kind {
            CellKind::Style | CellKind::Hidden => return,
            CellKind::LineEnd => {
                self.dress(Style::new());
                self.text.push('\n');
                return;
            }
            CellKind::Control => self.dress(Style::new().effects(Effects::INVERT)),
            CellKind::Text | CellKind::Tab | CellKind::Replaced => self.dress(cell.look),
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
