//! The sanitiser: turns the bytes of one line into safe cells. This is the only way for bytes to reach a terminal.
//!
//! Whatever the bytes, the joined texts of the cells contain no control character, no bidirectional override and
//! nothing invisible (joiners and variation selectors only inside emoji), and no cell is longer than [`CellText::MAX`]
//! bytes. The cells' ranges tile the input in order, without gap or overlap: what is not drawn (a colour, a hidden
//! sequence, the line's end) is a cell of width 0 without text.
//!
//! The caller's bytes may change while they are read (a memory map), so they are copied before they are inspected.

mod grapheme;
mod text;

use anstyle::Style;
use unicode_width::UnicodeWidthChar;

use super::ansi::{self, Sequence};
use super::utf16::ByteOrder;
use grapheme::ScalarClass;

pub use text::CellText;

#[cfg(test)]
#[path = "tests/attacks.rs"]
mod attacks;

#[cfg(test)]
#[path = "tests/laws.rs"]
pub(crate) mod laws;

#[cfg(test)]
mod tests;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Show {
    pub escapes: Escapes,
    pub invalid: Invalid,
    /// Columns between tab stops, at most [`CellText::MAX`]; 0 shows a tab as `^I`.
    pub tab: u8,
    /// The text is in UTF-16: cells are made of it once it is decoded (`text::utf16`).
    pub utf16: Option<ByteOrder>,
    /// The terminal supports only ASCII: every other character is shown as `<U+00E9>`.
    pub ascii: bool,
}

impl Show {
    /// As a pager shows a file: colours rendered, other sequences hidden, each bad byte in hex.
    pub const PAGER: Self =
        Self { escapes: Escapes::Render, invalid: Invalid::Hex, tab: 8, utf16: None, ascii: false };
    /// As a model reads it: escape sequences are text, bad bytes have become U+FFFD.
    pub const MODEL: Self = Self { escapes: Escapes::Visible, invalid: Invalid::Replacement, ..Self::PAGER };
    /// The raw view: escape sequences are text, each bad byte in hex.
    pub const RAW: Self = Self { escapes: Escapes::Visible, ..Self::PAGER };
}

impl Default for Show {
    fn default() -> Self {
        Self::PAGER
    }
}

/// How to treat escape sequences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Escapes {
    /// Colour and weight (SGR) become the cells' style, other sequences are hidden cells, and the CR of a CRLF belongs
    /// to the line's end. An incomplete sequence is text.
    Render,
    /// All of it is text, with ESC as `^[`; a CR is `^M` even before the line feed.
    Visible,
}

/// How to show bytes that are not UTF-8 (including surrogates and values above U+10FFFF).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Invalid {
    /// One `<FF>` per byte: what a file contains.
    Hex,
    /// One U+FFFD for each maximal subpart (Unicode 3.9), as decoders produce: what a model gets.
    Replacement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CellKind {
    Text,
    /// A tab: spaces up to the tab stop.
    Tab,
    /// The visible form of something that is not drawn: `^M`, `<9B>`, `<202E>`, `<FF>`. To be drawn reversed.
    Control,
    /// A piece of an escape sequence that is shown as text: `^[`, `[`, `1`, `m`. To be drawn dim, as one run.
    Escape,
    /// U+FFFD: for bytes that do not decode, or for the part of a grapheme beyond the limit.
    Replaced,
    /// An SGR sequence that was applied. Width 0, no text.
    Style,
    /// Another escape sequence, hidden from the terminal. Width 0, no text: count them, show a badge.
    Hidden,
    /// The line feed, or CR and line feed. Width 0, no text; always the last cell.
    LineEnd,
}

impl CellKind {
    pub fn is_drawn(self) -> bool {
        !matches!(self, Self::Style | Self::Hidden | Self::LineEnd)
    }
}

/// One thing on the screen, safe to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// What is printed: no control characters, nothing invisible, at most [`CellText::MAX`] bytes.
    pub text: CellText,
    /// Width of `text` in columns. 0 only if the kind is not drawn.
    pub width: u8,
    pub kind: CellKind,
    /// Colour and weight from the SGR before it. Plain for [`CellKind::Control`], [`CellKind::Escape`] and
    /// [`CellKind::Replaced`], so that their look cannot be disguised.
    pub look: Style,
    /// Index of its first byte in the given slice.
    pub start: u32,
    /// Number of bytes that it represents; at least 1.
    pub len: u32,
}

impl Cell {
    pub fn end(&self) -> usize {
        self.start as usize + self.len as usize
    }
}

/// The cells of one line, produced on demand.
///
/// The line may come with or without its line feed; iteration stops after the first line feed. Only the first 4 GiB of
/// a slice are used: pass long lines segment by segment (`layout::segment_end`).
#[derive(Debug, Clone)]
pub struct Cells<'a> {
    bytes: &'a [u8],
    at: usize,
    show: Show,
    state: Style,
    look: Style,
    column: u64,
    window: grapheme::Decoded,
    /// Bytes of a grapheme beyond the limit that are still to be represented.
    surplus: usize,
    /// Set after a grapheme without width: up to here, characters without width are shown by name.
    undrawable: usize,
    /// Set after an escape sequence that is shown as text: where it ends.
    sequence: usize,
}

impl<'a> Cells<'a> {
    /// Returns the cells of the line at the start of `bytes`, beginning in plain style.
    pub fn new(bytes: &'a [u8], show: &Show) -> Self {
        Self {
            bytes: &bytes[..bytes.len().min(u32::MAX as usize)],
            at: 0,
            show: *show,
            state: Style::new(),
            look: Style::new(),
            column: 0,
            window: grapheme::Decoded::default(),
            surplus: 0,
            undrawable: 0,
            sequence: 0,
        }
    }

    /// Begins in `style`, for the second and later segments of a long line. Where sequences are text, there is none.
    #[must_use]
    pub fn with_style(mut self, style: Style) -> Self {
        if self.show.escapes == Escapes::Render {
            self.set_style(style);
        }
        self
    }

    pub fn show(&self) -> &Show {
        &self.show
    }

    /// Skips `count` characters of printable ASCII without making their cells, if that many come next and another one
    /// follows, so that nothing joins the last. `back` is a cell that was produced but not used yet.
    pub(crate) fn step_over(&mut self, count: usize, back: Option<&Cell>) -> bool {
        let from = back.map_or(self.at, |cell| cell.start as usize);
        let is_ascii = |byte: &u8| matches!(byte, 0x20..=0x7e);
        let next = self.bytes.get(from..=from + count);
        let is_plain = self.surplus == 0 && next.is_some_and(|bytes| bytes.iter().all(is_ascii));
        if is_plain {
            let made = back.map_or(0, |cell| u64::from(cell.width));
            (self.at, self.column) = (from + count, self.column - made + count as u64);
        }
        is_plain
    }

    fn set_style(&mut self, style: Style) {
        self.state = style;
        self.look = ansi::legible(style);
    }

    fn cell(&self, kind: CellKind, text: CellText, width: usize, len: usize) -> Cell {
        let look = match kind {
            CellKind::Control | CellKind::Replaced => Style::new(),
            _ => self.look,
        };
        let width = u8::try_from(width).unwrap_or(u8::MAX);
        Cell { text, width, kind, look, start: self.at as u32, len: len as u32 }
    }

    fn silent(&self, kind: CellKind, len: usize) -> Cell {
        self.cell(kind, CellText::default(), 0, len)
    }

    fn name_cell(&self, name: CellText, len: usize) -> Cell {
        self.cell(CellKind::Control, name, name.len(), len)
    }

    fn replaced(&self, len: usize) -> Cell {
        let mark = if self.show.ascii { '?' } else { char::REPLACEMENT_CHARACTER };
        self.cell(CellKind::Replaced, CellText::from(mark), 1, len)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn make(&mut self, byte: u8) -> Cell {
        match byte {
            0x20..=0x7e if grapheme::starts_anew(&self.bytes[self.at + 1..]) => self.ascii(byte),
            b'\n' => self.silent(CellKind::LineEnd, 1),
            b'\r' if self.show.escapes == Escapes::Render && self.peek(1) == Some(b'\n') => {
                self.silent(CellKind::LineEnd, 2)
            }
            b'\t' if self.show.tab > 0 => self.tab(),
            0x1b if self.show.escapes == Escapes::Render => self.escape(),
            0x1b => {
                let len = ansi::sequence(&self.bytes[self.at..]).map_or(0, |sequence| sequence.len);
                self.sequence = self.sequence.max(self.at + len);
                self.name_cell(CellText::caret(byte), 1)
            }
            0..=0x1f | 0x7f => self.name_cell(CellText::caret(byte), 1),
            _ => self.scalar(byte),
        }
    }

    fn ascii(&self, byte: u8) -> Cell {
        self.cell(CellKind::Text, CellText::ascii(byte), 1, 1)
    }

    fn tab(&self) -> Cell {
        let width = tab_width(self.show.tab, self.column);
        self.cell(CellKind::Tab, CellText::spaces(width), usize::from(width), 1)
    }

    fn escape(&mut self) -> Cell {
        match ansi::sequence(&self.bytes[self.at..]) {
            Some(Sequence { len, sgr: Some(sgr) }) => {
                self.set_style(sgr.apply(self.state));
                self.silent(CellKind::Style, len)
            }
            Some(Sequence { len, sgr: None }) => self.silent(CellKind::Hidden, len),
            None => self.name_cell(CellText::caret(0x1b), 1),
        }
    }

    /// Returns what a cell is, which may be a piece of the escape sequence read last.
    fn kind_of(&self, cell: &Cell) -> CellKind {
        match cell.kind {
            CellKind::Text | CellKind::Control if (cell.start as usize) < self.sequence => CellKind::Escape,
            kind => kind,
        }
    }

    fn scalar(&mut self, first: u8) -> Cell {
        match grapheme::decode(&self.bytes[self.at..]) {
            Err(_) if self.show.invalid == Invalid::Hex => self.name_cell(CellText::hex(first.into()), 1),
            Err(len) => self.replaced(len),
            Ok(c) if self.show.ascii => self.in_ascii(c),
            Ok(c) if grapheme::is_common(c) => self.common(c),
            Ok(c) if grapheme::class(c) == ScalarClass::Plain && !grapheme::is_skin_tone(c) => self.plain(c),
            Ok(c) => self.name_cell(CellText::hex(c as u32), c.len_utf8()),
        }
    }

    fn in_ascii(&self, c: char) -> Cell {
        match u8::try_from(c) {
            Ok(byte @ 0x20..=0x7e) => self.ascii(byte),
            _ if grapheme::class(c) == ScalarClass::Plain => self.name_cell(CellText::point(c), c.len_utf8()),
            _ => self.name_cell(CellText::hex(c as u32), c.len_utf8()),
        }
    }

    fn common(&mut self, c: char) -> Cell {
        let len = c.len_utf8();
        match c.width() {
            Some(width @ 1..) if grapheme::starts_anew(&self.bytes[self.at + len..]) => {
                self.cell(CellKind::Text, CellText::from(c), width, len)
            }
            _ => self.grapheme(c),
        }
    }

    fn plain(&mut self, c: char) -> Cell {
        if self.at < self.undrawable && c.width() == Some(0) {
            return self.name_cell(CellText::hex(c as u32), c.len_utf8());
        }
        self.grapheme(c)
    }

    fn grapheme(&mut self, first: char) -> Cell {
        let grapheme = self.window.grapheme(self.bytes, self.at, first);
        if grapheme.width == 0 {
            self.undrawable = self.at + grapheme.len + grapheme.surplus;
            return self.name_cell(CellText::hex(first as u32), first.len_utf8());
        }
        self.surplus = grapheme.surplus;
        self.cell(CellKind::Text, grapheme.text, grapheme.width, grapheme.len)
    }
}

impl Iterator for Cells<'_> {
    type Item = Cell;

    fn next(&mut self) -> Option<Cell> {
        let byte = self.peek(0)?;
        let cell = match std::mem::take(&mut self.surplus) {
            0 => self.make(byte),
            surplus => self.replaced(surplus),
        };
        self.at = if cell.kind == CellKind::LineEnd { self.bytes.len() } else { cell.end() };
        self.column += u64::from(cell.width);
        Some(Cell { kind: self.kind_of(&cell), ..cell })
    }
}

/// Whether `c` is always drawn as itself: not a control, invisible, reordering, private or unassigned.
pub fn is_plain(c: char) -> bool {
    grapheme::class(c) == grapheme::ScalarClass::Plain
}

/// Returns the columns from `column` (0-based) to the next tab stop, where stops are `tab` columns apart.
pub(crate) fn tab_width(tab: u8, column: u64) -> u8 {
    let tab = tab.clamp(1, CellText::MAX as u8);
    tab - (column % u64::from(tab)) as u8
}
