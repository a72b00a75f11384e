//! Aligned columns of safe text.

use std::io::{self, IsTerminal, Write};

use anstyle::Style;

use crate::text::label::{ascii, columns_of, fit, label};

use super::terminal;

/// Minimum width of a column that shrinks to fit the terminal.
const LEAST: usize = 8;

/// Width below which a column shrinks only once all columns that may be left out are.
const LEGIBLE: usize = 16;

/// What stands between two columns.
const GAP: &str = "  ";

/// How the cells of a column are aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    /// For text.
    Left,
    /// For numbers.
    Right,
}

/// Rows of `N` columns. Cells must be safe to print: see [`safe`].
#[derive(Debug)]
pub(crate) struct Table<const N: usize> {
    heads: [(&'static str, Align); N],
    rows: Vec<[String; N]>,
    yields: &'static [usize],
    optional: &'static [usize],
    heading: Heading,
}

/// Where a table has a heading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heading {
    /// On a terminal: rows alone are easier for programs.
    OnTerminals,
    /// Everywhere: the columns cannot be told apart without.
    Always,
}

impl<const N: usize> Table<N> {
    /// Creates a table without rows.
    pub(crate) fn new(heads: [(&'static str, Align); N]) -> Self {
        Self { heads, rows: Vec::new(), yields: &[], optional: &[], heading: Heading::OnTerminals }
    }

    /// Lets these columns be truncated, one after another, if the terminal is too narrow.
    pub(crate) fn yielding(self, yields: &'static [usize]) -> Self {
        Self { yields, ..self }
    }

    /// Lets these columns be left out, one after another, if the terminal is too narrow. Ids that other commands take are
    /// better kept whole than others are kept at all.
    pub(crate) fn omitting(self, optional: &'static [usize]) -> Self {
        Self { optional, ..self }
    }

    /// Prints the heading everywhere, not only on terminals.
    pub(crate) fn headed(self) -> Self {
        Self { heading: Heading::Always, ..self }
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(cells);
    }

    /// Writes the table to standard output's writer; on a terminal within its width, and with a heading.
    pub(crate) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let columns = io::stdout().is_terminal().then(terminal_columns);
        let colour = terminal::table_colour();
        if terminal::is_ascii(&io::stdout()) {
            self.in_ascii().write(out, columns, colour)
        } else {
            self.write(out, columns, colour)
        }
    }

    /// Returns the table with its cells in ASCII, before they are measured.
    fn in_ascii(&self) -> Self {
        let rows = self.rows.iter().map(|row| row.each_ref().map(|cell| ascii(cell).into_owned()));
        Self { rows: rows.collect(), ..*self }
    }

    /// Writes the table for a terminal with this many columns, or for a program.
    fn write(&self, out: &mut impl Write, terminal: Option<usize>, colour: bool) -> io::Result<()> {
        let is_headed = terminal.is_some() || colour || self.heading == Heading::Always;
        let heading = is_headed.then(|| self.heads.map(|(head, _)| head.to_owned()));
        let widths = self.widths(heading.iter().chain(&self.rows), terminal.unwrap_or(usize::MAX));
        let style = if colour { Style::new().bold() } else { Style::new() };
        if let Some(row) = &heading {
            writeln!(out, "{style}{}{style:#}", self.line(row, &widths))?;
        }
        self.rows.iter().try_for_each(|row| writeln!(out, "{}", self.line(row, &widths)))
    }

    /// Returns the width of each column so that all fit into so many columns, if they can; `None` for those left out.
    fn widths<'a>(&self, rows: impl Iterator<Item = &'a [String; N]>, most: usize) -> [Option<usize>; N] {
        let mut widths = [Some(0); N];
        for row in rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(Some(columns(cell)));
            }
        }
        for &column in self.optional {
            let mut legible = widths;
            self.shrink(&mut legible, most, LEGIBLE);
            if whole(&legible) <= most {
                break;
            }
            widths[column] = None;
        }
        // Each shrinks as far as it is legible before any shrinks further.
        [LEGIBLE, LEAST].into_iter().for_each(|least| self.shrink(&mut widths, most, least));
        widths
    }

    /// Shrinks the columns that yield, one after another, but none to less than `least`.
    fn shrink(&self, widths: &mut [Option<usize>; N], most: usize, least: usize) {
        for &column in self.yields {
            let over = whole(widths).saturating_sub(most);
            widths[column] = widths[column].map(|width| width.saturating_sub(over).max(least.min(width)));
        }
    }

    fn line(&self, row: &[String; N], widths: &[Option<usize>; N]) -> String {
        let mut line = String::new();
        let shown =
            row.iter().zip(widths).enumerate().filter_map(|(at, (cell, width))| Some((at, cell, (*width)?)));
        for (n, (at, cell, width)) in shown.enumerate() {
            let cell = if self.yields.contains(&at) { &fit(cell, width) } else { cell };
            let gap = " ".repeat(width.saturating_sub(columns(cell)));
            let before = if n == 0 { "" } else { GAP };
            match self.heads[at].1 {
                Align::Left => line.extend([before, cell, &gap]),
                Align::Right => line.extend([before, &gap, cell]),
            }
        }
        line.truncate(line.trim_end().len());
        line
    }
}

/// Returns a name as one line of text without anything that acts on a terminal.
pub(crate) fn safe(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if is_plain(text) => text.to_owned(),
        _ => label(bytes),
    }
}

/// Same as [`safe`] for an optional name.
pub(crate) fn safe_or_dash(name: Option<&str>) -> String {
    name.map_or_else(|| "–".to_owned(), |name| safe(name.as_bytes()))
}

/// Returns the width of a line of all columns that are not left out.
fn whole(widths: &[Option<usize>]) -> usize {
    let shown = widths.iter().flatten();
    shown.clone().sum::<usize>() + GAP.len() * shown.count().saturating_sub(1)
}

fn columns(cell: &str) -> usize {
    if is_plain(cell) { cell.len() } else { columns_of(cell) }
}

/// Whether the text is printable ASCII, as most cells are, so that its width needs no lookup.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn terminal_columns() -> usize {
    crossterm::terminal::size().map_or(80, |(columns, _)| columns.max(1).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(terminal: Option<usize>) -> String {
        let mut table = Table::new([("name", Align::Left), ("n", Align::Right), ("id", Align::Left)]);
        table.row([safe(b"a"), safe(b"10"), safe(b"x")]);
        table.row([safe("é\n".as_bytes()), safe(b"7"), safe(b"a-long-name-indeed")]);
        let mut out = Vec::new();
        table.yielding(&[2]).write(&mut out, terminal, false).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn columns_are_aligned_and_names_safe() {
        assert_eq!(written(None), "a    10  x\né^J   7  a-long-name-indeed\n");
    }

    #[test]
    fn a_person_gets_a_heading_within_the_width() {
        assert_eq!(written(Some(24)), "name   n  id\na     10  x\né^J    7  a-long-…indeed\n");
        assert_eq!(written(Some(3)).lines().last(), Some("é^J    7  a-lo…eed"));
    }
    #[test]
    fn columns_are_left_out_before_others_are_illegible() {
        let mut table = Table::new([("name", Align::Left), ("why", Align::Left), ("id", Align::Left)]);
        table.row([safe(b"name"), safe(b"a reason in so many words"), safe(b"0123456789")]);
        let table = table.omitting(&[0]).yielding(&[1]);
        let at = |width| {
            let mut out = Vec::new();
            table.write(&mut out, Some(width), false).unwrap();
            String::from_utf8(out).unwrap().lines().last().map(str::to_owned).unwrap()
        };
        assert_eq!(at(43), "name  a reason in so many words  0123456789");
        let reason = |width| fit("a reason in so many words", width);
        assert_eq!(at(34), format!("name  {}  0123456789", reason(16)));
        assert_eq!(at(33), format!("{}  0123456789", reason(21)));
        assert_eq!(at(20), format!("{}  0123456789", reason(8)));
        assert_eq!(at(5), at(20));
    }
}
