//! Safe text for everything but the pager's screen: names, ids, errors, titles, and content printed to a terminal.

pub mod quote;

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io;
use std::ops::Deref;

use anstyle::{Effects, Style};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::ansi;
use super::cells::{Cell, CellKind, Cells, Show};
use super::layout::segment_end;

#[cfg(test)]
mod tests;

/// How names are shown: nothing is interpreted, nothing is hidden, and no tab moves what follows.
const LABEL: Show = Show { tab: 0, ..Show::RAW };

/// Returns a single line of plain, safe text for a name, id, error or title. Everything that cannot be printed as is
/// gets a visible form: `^J` for a line feed, `^[`, `<202E>`, `<FF>`. Safe text is unchanged.
pub fn label(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes)
        && is_plain(text)
    {
        return text.to_owned();
    }
    let mut text = String::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        for cell in Cells::new(line, &LABEL) {
            text.push_str(if cell.kind == CellKind::LineEnd { "^J" } else { cell.text.as_str() });
        }
    }
    text
}

/// Shortens safe text to this many columns, keeping start and end with `…` between; graphemes are never split.
pub fn fit(text: &str, columns: usize) -> String {
    if columns_of(text) <= columns {
        return text.to_owned();
    }
    let mark = if columns > 0 { "…" } else { "" };
    let room = columns - columns_of(mark);
    let (head, rest) = text.split_at(fitting_len(text.graphemes(true), room.div_ceil(2)));
    let tail = fitting_len(rest.graphemes(true).rev(), room - columns_of(head));
    format!("{head}{mark}{}", &rest[rest.len() - tail..])
}

/// Returns the width of safe text in columns when drawn grapheme by grapheme, as all screens here do.
pub fn columns_of(text: &str) -> usize {
    if is_plain(text) { text.len() } else { text.graphemes(true).map(UnicodeWidthStr::width).sum() }
}

/// Whether the text is printable ASCII, as most is, so that it is safe and its width needs no lookup.
pub(crate) fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Returns the graphemes at the start of safe text that fit into this many columns.
pub fn head(text: &str, columns: usize) -> &str {
    &text[..fitting_len(text.graphemes(true), columns)]
}

/// Folds safe text into rows of at most `columns`, at a space in their second half; a wider character is a row of its own.
pub fn fold(text: &str, columns: usize) -> Vec<&str> {
    let (mut rows, mut rest) = (Vec::new(), text);
    while columns_of(rest) > columns {
        let wide = || rest.graphemes(true).next().unwrap_or(rest);
        let fitting = Some(head(rest, columns)).filter(|row| !row.is_empty()).unwrap_or_else(wide);
        let space = fitting.rfind(' ').filter(|at| columns_of(&fitting[..*at]) >= columns / 2);
        let (row, more) = rest.split_at(space.map_or(fitting.len(), |at| at + 1));
        rows.push(row.trim_end());
        rest = more;
    }
    if rows.is_empty() || !rest.is_empty() {
        rows.push(rest.trim_end());
    }
    rows
}

/// Returns the bytes of the leading graphemes that fit into this many columns.
fn fitting_len<'a>(graphemes: impl Iterator<Item = &'a str>, columns: usize) -> usize {
    let mut used = 0;
    graphemes
        .take_while(|grapheme| {
            used += grapheme.width();
            used <= columns
        })
        .map(str::len)
        .sum()
}

/// One line of safe text, for everything on a screen but the content of an output. However it is made, text passes the
/// sanitiser ([`label`]); so a screen that takes this type alone cannot be given a raw name by mistake.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SafeText(String);

impl SafeText {
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        if is_plain(&text) { Self(text) } else { Self::from_bytes(text.as_bytes()) }
    }

    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(label(bytes))
    }

    pub fn columns(&self) -> usize {
        columns_of(self)
    }

    /// Its start and its end with `…` between them, in at most this many columns.
    pub fn fit(&self, columns: usize) -> Self {
        Self::new(fit(self, columns))
    }

    /// Its start, with `…` if that is not all, in at most this many columns.
    pub fn head(self, columns: usize) -> Self {
        match columns.checked_sub(1) {
            _ if self.columns() <= columns => self,
            Some(room) => Self::new(format!("{}…", head(&self, room))),
            None => Self::default(),
        }
    }

    /// With spaces at its end, in at least this many columns.
    pub fn padded(&self, columns: usize) -> Self {
        Self::new(format!("{self}{}", " ".repeat(columns.saturating_sub(self.columns()))))
    }
}

impl From<&str> for SafeText {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for SafeText {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl Deref for SafeText {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SafeText {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(self)
    }
}

/// Returns a similar ASCII character for a sign with which the program writes or draws.
pub fn like(sign: char) -> Option<char> {
    Some(match sign {
        '─' | '·' | '–' | '−' | '‐'..='―' | '━' | '═' => '-',
        '│' | '┊' | '▌' | '┃' | '║' => '|',
        '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴' | '┼' | '±' => '+',
        '…' | '≈' => '~',
        '░' => '.',
        '‹' | '←' | '◂' => '<',
        '›' | '→' => '>',
        '↑' => '^',
        '↓' => 'v',
        '█' | '▓' | '▇' => '#',
        '≠' => '!',
        _ => return None,
    })
}

/// Returns safe text in ASCII: signs of the program as similar ones, all else by number, as in `<U+00E9>`.
pub fn ascii(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match like(character) {
            _ if character.is_ascii() => plain.push(character),
            Some(like) => plain.push(like),
            // Writing to a String cannot fail.
            None => drop(write!(plain, "<U+{:04X}>", u32::from(character))),
        }
    }
    plain.into()
}

/// Prints content to a terminal line by line, made safe as `show` says. With `colour`, styles are written anew (and end with
/// their line), escaped controls reversed and sequences dim; without it, no escape sequence is written at all.
pub fn write_safe(out: &mut impl io::Write, bytes: &[u8], show: &Show, colour: bool) -> io::Result<()> {
    let mut printer = Printer { text: String::new(), style: Style::new(), colour };
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let mut at = 0;
        while at < line.len() {
            let end = segment_end(line, at);
            let cells = Cells::new(&line[at..end], show).with_style(ansi::style_at(&line[..at]));
            cells.for_each(|cell| printer.cell(&cell));
            printer.write_if_over(CHUNK, out)?;
            at = end;
        }
    }
    printer.set_style(Style::new());
    printer.write_if_over(0, out)
}

/// Bytes of printed text that are written at a time.
const CHUNK: usize = 65536;

struct Printer {
    text: String,
    /// The style last sent to the terminal.
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
                self.set_style(Style::new());
                self.text.push('\n');
                return;
            }
            CellKind::Control => self.set_style(Style::new().effects(Effects::INVERT)),
            CellKind::Escape => self.set_style(Style::new().effects(Effects::DIMMED)),
            CellKind::Text | CellKind::Tab | CellKind::Replaced => self.set_style(cell.look),
        }
        self.text.push_str(cell.text.as_str());
    }

    fn set_style(&mut self, style: Style) {
        if !self.colour || style == self.style {
            return;
        }
        let reset = if self.style == Style::new() { "" } else { "\x1b[0m" };
        // Writing to a String cannot fail.
        let _ = write!(self.text, "{reset}{style}");
        self.style = style;
    }
}
