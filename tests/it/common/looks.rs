//! Renders a drawn screen as readable text for snapshots: its rows, then their styles.

use std::fmt::Write;

use ratatui::buffer::{Buffer, Cell};
use ratatui::style::{Color, Modifier};
use unicode_width::UnicodeWidthStr;

/// Returns the rows without trailing spaces.
pub fn rows(buffer: &Buffer) -> Vec<String> {
    let row = |y| {
        let mut text = String::new();
        let mut skip = 0;
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                text.push_str(symbol);
            }
            skip = if skip > 0 { skip - 1 } else { symbol.width().saturating_sub(1) };
        }
        text.trim_end().to_owned()
    };
    (0..buffer.area.height).map(row).collect()
}

/// Returns the numbered rows, then for each row, or run of equal rows, the columns whose style is not plain.
pub fn snapshot(buffer: &Buffer) -> String {
    let mut text = format!("{} x {}\n", buffer.area.width, buffer.area.height);
    for (y, row) in rows(buffer).iter().enumerate() {
        let _ = writeln!(text, "{}", format!("{y:2}│{row}").trim_end());
    }
    text.push_str("looks\n");
    let looks: Vec<String> = (0..buffer.area.height).map(|y| runs(buffer, y).join(", ")).collect();
    let mut y = 0;
    for alike in looks.chunk_by(|a, b| a == b) {
        let last = y + alike.len() - 1;
        let rows = if last > y { format!("{y}-{last}") } else { y.to_string() };
        if !alike[0].is_empty() {
            let _ = writeln!(text, "{rows:>5}│{}", alike[0]);
        }
        y = last + 1;
    }
    text
}

/// Returns `0..12 yellow bold` and so on; plain stretches are left out.
fn runs(buffer: &Buffer, y: u16) -> Vec<String> {
    let mut runs: Vec<(u16, u16, String)> = Vec::new();
    for x in 0..buffer.area.width {
        let look = look(&buffer[(x, y)]);
        match runs.last_mut() {
            Some((_, end, last)) if *last == look && *end == x => *end = x + 1,
            _ => runs.push((x, x + 1, look)),
        }
    }
    let told = runs.into_iter().filter(|(_, _, look)| !look.is_empty());
    told.map(|(start, end, look)| format!("{start}..{end} {look}")).collect()
}

fn look(cell: &Cell) -> String {
    let mut words: Vec<String> = Vec::new();
    if cell.fg != Color::Reset {
        words.push(format!("{:?}", cell.fg).to_lowercase());
    }
    if cell.bg != Color::Reset {
        words.push(format!("on {:?}", cell.bg).to_lowercase());
    }
    let names = [
        (Modifier::BOLD, "bold"),
        (Modifier::DIM, "dim"),
        (Modifier::ITALIC, "italic"),
        (Modifier::UNDERLINED, "underlined"),
        (Modifier::REVERSED, "reversed"),
        (Modifier::CROSSED_OUT, "struck"),
        (Modifier::SLOW_BLINK, "blinking"),
        (Modifier::HIDDEN, "hidden"),
    ];
    words.extend(
        names.iter().filter(|(flag, _)| cell.modifier.contains(*flag)).map(|(_, name)| (*name).into()),
    );
    words.join(" ")
}
