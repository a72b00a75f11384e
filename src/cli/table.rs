//! Tables: aligned and under a heading within a terminal's width; else the cells of each row between tabs, uncut.

use std::io::{self, IsTerminal, Write};

use anstyle::Style;
use serde::Serialize;

use crate::base::human::NamedFact;
use crate::rows::column::{BETWEEN, CellSide, ListColumn, RowLook, TableColumn, column_widths};
use crate::text::label::{SafeText, ascii};

use super::terminal::stdout;
use super::{CommandResult, print_json_array, safe, terminal};

/// Writes rows to standard output: as a table, or as a JSON array of what `record` makes of each.
pub(crate) fn list<'r, R: 'static, T: Serialize>(
    is_json: bool,
    columns: impl IntoIterator<Item = &'static ListColumn<R>>,
    rows: &'r [R],
    record: impl Fn(&'r R) -> T,
) -> CommandResult {
    if is_json { print_json_array(rows.iter().map(record)) } else { show(columns, rows) }
}

pub(crate) fn show<R: 'static>(
    columns: impl IntoIterator<Item = &'static ListColumn<R>>,
    rows: &[R],
) -> CommandResult {
    let mut out = io::BufWriter::new(stdout());
    print(&mut out, columns, rows, false)?;
    Ok(out.flush()?)
}

/// Writes one line per row. On a terminal each is cut to the width, unless `is_whole`: a user is asked to agree to it.
pub(crate) fn print<R: 'static>(
    out: &mut impl Write,
    columns: impl IntoIterator<Item = &'static ListColumn<R>>,
    rows: &[R],
    is_whole: bool,
) -> io::Result<()> {
    let columns: Vec<&ListColumn<R>> = columns.into_iter().collect();
    let is_terminal = io::stdout().is_terminal();
    let columns_there = || crossterm::terminal::size().map_or(80, |(columns, _)| columns.max(1).into());
    let room = if is_terminal && !is_whole { columns_there() } else { usize::MAX };
    let width = if is_terminal { room.try_into().unwrap_or(u16::MAX) } else { 0 };
    let look = RowLook { now: crate::base::env::now(), width };
    let cells = rows.iter().map(|row| columns.iter().map(|column| (column.cell)(row, &look).text).collect());
    let columns: Vec<TableColumn> = columns.iter().map(|column| column.table).collect();
    let colour = terminal::table_colour();
    if !is_terminal && !colour {
        return write_tabs(out, &columns, cells, terminal::options().header);
    }
    let style = if colour { Style::new().bold() } else { Style::new() };
    let is_ascii = terminal::is_ascii(&io::stdout());
    let shown = |text: SafeText| if is_ascii { ascii(&text).into_owned().into() } else { text };
    let cells: Vec<Vec<SafeText>> = cells.map(|row: Vec<_>| row.into_iter().map(shown).collect()).collect();
    write_aligned(out, &columns, &cells, (room, style))
}

/// Prints the facts that there are, made safe, below each other: names in so many columns, and values.
pub(crate) fn print_facts(columns: usize, facts: impl IntoIterator<Item = NamedFact>) -> CommandResult {
    let there = facts.into_iter().filter(|(_, value)| !value.is_empty());
    let text = there.map(|(name, value)| format!("{name:<columns$} {}\n", safe(&value)));
    Ok(stdout().write_all(text.collect::<String>().as_bytes())?)
}

fn headings(columns: &[TableColumn]) -> Vec<SafeText> {
    columns.iter().map(|column| column.heading.into()).collect()
}

fn write_tabs(
    out: &mut impl Write,
    columns: &[TableColumn],
    rows: impl Iterator<Item = Vec<SafeText>>,
    is_headed: bool,
) -> io::Result<()> {
    let heading = is_headed.then(|| headings(columns));
    heading.into_iter().chain(rows).try_for_each(|row| {
        let cells: Vec<&str> = row.iter().map(|cell| &**cell).collect();
        writeln!(out, "{}", cells.join("\t"))
    })
}

fn write_aligned(
    out: &mut impl Write,
    columns: &[TableColumn],
    rows: &[Vec<SafeText>],
    (room, style): (usize, Style),
) -> io::Result<()> {
    let widest =
        |n: usize| rows.iter().filter_map(|row| row.get(n)).map(SafeText::columns).max().unwrap_or(0);
    let widest: Vec<usize> = (0..columns.len()).map(widest).collect();
    let mut widths = column_widths(columns, |n| widest[n], (room, 0));
    for ((width, widest), column) in widths.iter_mut().zip(&widest).zip(columns) {
        let whole = *widest.max(&column.heading.len());
        let is_uncut = room == usize::MAX;
        *width = width.filter(|_| *widest > 0).map(|width| if is_uncut { whole } else { width.min(whole) });
    }
    writeln!(out, "{style}{}{style:#}", line(columns, &headings(columns), &widths))?;
    rows.iter().try_for_each(|row| writeln!(out, "{}", line(columns, row, &widths)))
}

fn line(columns: &[TableColumn], cells: &[SafeText], widths: &[Option<usize>]) -> String {
    let mut line = String::new();
    for ((column, cell), width) in columns.iter().zip(cells).zip(widths) {
        let Some(width) = *width else { continue };
        let text = if column.side == CellSide::Path { cell.fit(width) } else { cell.clone().head(width) };
        let blank = " ".repeat(width.saturating_sub(text.columns()));
        line.extend(if column.side == CellSide::Right { [&*blank, &text] } else { [&text, &*blank] });
        line.push_str(&" ".repeat(BETWEEN));
    }
    line.truncate(line.trim_end().len());
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [TableColumn; 3] = [
        TableColumn { heading: "name", side: CellSide::Left, max_width: 0, yields: None },
        TableColumn { heading: "n", side: CellSide::Right, max_width: 9, yields: Some(1) },
        TableColumn { heading: "id", side: CellSide::Left, max_width: 64, yields: None },
    ];

    fn rows() -> Vec<Vec<SafeText>> {
        [["a", "10", "x"], ["é\n\tand so on, and so on", "7", "a-long-name-indeed"]]
            .map(|row| row.map(SafeText::from).to_vec())
            .to_vec()
    }

    fn aligned(room: usize) -> String {
        let mut out = Vec::new();
        write_aligned(&mut out, &COLUMNS, &rows(), (room, Style::new())).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_piped_table_has_whole_safe_cells_between_tabs() {
        let tabs = |is_headed| {
            let mut out = Vec::new();
            write_tabs(&mut out, &COLUMNS, rows().into_iter(), is_headed).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(tabs(false), "a\t10\tx\né^J^Iand so on, and so on\t7\ta-long-name-indeed\n");
        assert_eq!(tabs(true), format!("name\tn\tid\n{}", tabs(false)));
    }

    #[test]
    fn a_terminal_table_has_a_heading_and_fits_the_width() {
        let wide = "name                        n  id\n\
                    a                          10  x\n\
                    é^J^Iand so on, and so on   7  a-long-name-indeed\n";
        assert_eq!(aligned(usize::MAX), wide);
        assert_eq!(aligned(40).lines().last(), Some("é^J^Iand so on,…   7  a-long-name-indeed"));
        assert_eq!(aligned(36).lines().last(), Some("é^J^Iand so on,…  a-long-name-indeed"));
        assert_eq!(aligned(5).lines().take(2).collect::<Vec<_>>(), ["name", "a"]);
        assert!(aligned(5).lines().all(|line| SafeText::from(line).columns() <= 5));
    }
}
