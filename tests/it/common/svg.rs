//! Draws screens of a terminal as one SVG picture that moves, by CSS alone.

use std::fmt::Write;

use vt100::{Cell, Color, Screen};

/// Width of a cell in pixels.
const WIDTH: u32 = 9;
const HEIGHT: u32 = 19;
/// Margin around the screen in pixels; a window bar with the caption is above it.
const MARGIN: u32 = 14;
const BAR: u32 = 32;

/// How long a frame is seen.
const SECONDS: u32 = 3;

const BACKGROUND: &str = "#16181d";
const FOREGROUND: &str = "#d5d8de";
/// The 16 colours, legible on the background.
const COLOURS: [&str; 16] = [
    "#3b4048", "#f0666d", "#7fc77a", "#e8c14a", "#6aa7f0", "#c98be0", "#52c2cc", "#d5d8de", "#767d89",
    "#ff8087", "#97e090", "#ffdd70", "#8cc0ff", "#e0a8f5", "#74dfe8", "#ffffff",
];

/// The style of a stretch of a row.
#[derive(Debug, Clone, PartialEq)]
struct Look {
    fore: String,
    back: Option<String>,
    bold: bool,
    dim: bool,
    underline: bool,
    italic: bool,
}

impl Look {
    fn of(cell: &Cell) -> Self {
        let fore = colour(cell.fgcolor()).unwrap_or_else(|| FOREGROUND.into());
        let back = colour(cell.bgcolor());
        let (fore, back) = if cell.inverse() {
            (back.unwrap_or_else(|| BACKGROUND.into()), Some(fore))
        } else {
            (fore, back)
        };
        let (bold, dim) = (cell.bold(), cell.dim());
        Self { fore, back, bold, dim, underline: cell.underline(), italic: cell.italic() }
    }
}

fn colour(colour: Color) -> Option<String> {
    match colour {
        Color::Default => None,
        Color::Idx(n @ 0..16) => Some(COLOURS[usize::from(n)].into()),
        Color::Idx(n @ 16..232) => {
            let level = |n: u8| if n == 0 { 0 } else { 55 + 40 * u32::from(n) };
            let n = n - 16;
            Some(format!("#{:02x}{:02x}{:02x}", level(n / 36), level(n / 6 % 6), level(n % 6)))
        }
        Color::Idx(n) => Some(format!("#{0:02x}{0:02x}{0:02x}", 8 + 10 * u32::from(n - 232))),
        Color::Rgb(r, g, b) => Some(format!("#{r:02x}{g:02x}{b:02x}")),
    }
}

/// A screen of the film: the keys that led to it, and what it shows.
pub struct Frame {
    pub screen: Screen,
    pub keys: &'static str,
    pub caption: &'static str,
}

/// Draws frames of one size that follow each other without end. Where nothing moves, the first is seen.
pub fn film(frames: &[Frame], title: &str) -> String {
    let (rows, columns) = frames[0].screen.size();
    let width = u32::from(columns.get()) * WIDTH + 2 * MARGIN;
    let height = u32::from(rows.get()) * HEIGHT + 2 * MARGIN + BAR;
    let length = SECONDS * frames.len() as u32;
    let shown = 100.0 / frames.len() as f32;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"{0}\">\n<title>{0}</title>\n\
         <style>text{{font:15px ui-monospace,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace;\
         white-space:pre}}\n.frame{{visibility:hidden}}.first{{visibility:visible}}\n\
         @media (prefers-reduced-motion:no-preference){{.frame{{animation:frame {length}s step-end infinite}}}}\n\
         @keyframes frame{{0%{{visibility:visible}}{shown:.3}%,100%{{visibility:hidden}}}}</style>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"{BACKGROUND}\"/>\n",
        escaped(title)
    );
    for (n, colour) in ["#f0666d", "#e8c14a", "#7fc77a"].iter().enumerate() {
        let x = MARGIN + 6 + 18 * n as u32;
        let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"21\" r=\"5.5\" fill=\"{colour}\"/>");
    }
    for (n, frame) in frames.iter().enumerate() {
        let class = if n == 0 { "frame first" } else { "frame" };
        let _ = writeln!(svg, "<g class=\"{class}\" style=\"animation-delay:{}s\">", SECONDS * n as u32);
        caption(&mut svg, frame);
        for row in 0..rows.get() {
            for (column, text, look) in runs(&frame.screen, row, columns.get()) {
                draw(&mut svg, (row, column), &text, &look);
            }
        }
        svg.push_str("</g>\n");
    }
    svg + "</svg>\n"
}

/// Draws the keys as a key cap in the window bar, and the words beside them.
fn caption(svg: &mut String, frame: &Frame) {
    let (mut x, y) = (MARGIN + 72, 8);
    if !frame.keys.is_empty() {
        let width = frame.keys.chars().count() as u32 * WIDTH + 18;
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"26\" rx=\"5\" fill=\"{FOREGROUND}\"/>\n\
             <text x=\"{}\" y=\"{}\" fill=\"{BACKGROUND}\" font-weight=\"bold\">{}</text>",
            x + 9,
            y + 18,
            escaped(frame.keys)
        );
        x += width + 12;
    }
    let _ =
        writeln!(svg, "<text x=\"{x}\" y=\"{}\" fill=\"#ffdd70\">{}</text>", y + 18, escaped(frame.caption));
}

/// Returns stretches of one style: where they start, and the texts of their cells.
fn runs(screen: &Screen, row: u16, columns: u16) -> Vec<(u16, Vec<String>, Look)> {
    let mut runs: Vec<(u16, Vec<String>, Look)> = Vec::new();
    for column in 0..columns {
        let Some(cell) = screen.cell(row, column).filter(|cell| !cell.is_wide_continuation()) else {
            continue;
        };
        let look = Look::of(cell);
        let text = if cell.has_contents() { cell.contents().to_owned() } else { " ".to_owned() };
        match runs.last_mut() {
            Some((start, texts, last)) if *last == look && *start + texts.len() as u16 == column => {
                texts.push(text)
            }
            _ => runs.push((column, vec![text], look)),
        }
    }
    runs
}

fn draw(svg: &mut String, (row, column): (u16, u16), texts: &[String], look: &Look) {
    let x = MARGIN + u32::from(column) * WIDTH;
    let y = MARGIN + BAR + u32::from(row) * HEIGHT;
    if let Some(back) = &look.back {
        let width = texts.len() as u32 * WIDTH;
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" fill=\"{back}\"/>"
        );
    }
    let fade = if look.dim { " opacity=\".55\"" } else { "" };
    let mut plain = String::new();
    for (n, text) in texts.iter().enumerate() {
        match block(text) {
            Some((x_from, part, strength)) => {
                let x = x + n as u32 * WIDTH + x_from;
                let _ = writeln!(
                    svg,
                    "<rect x=\"{x}\" y=\"{y}\" width=\"{part}\" height=\"{HEIGHT}\" fill=\"{}\" opacity=\"{}\"/>",
                    look.fore,
                    if look.dim { strength * 0.55 } else { strength }
                );
                plain.push(' ');
            }
            None => plain.push_str(text),
        }
    }
    if plain.trim().is_empty() {
        return;
    }
    let lead = plain.len() - plain.trim_start().len();
    let text = plain.trim();
    let weight = if look.bold { " font-weight=\"bold\"" } else { "" };
    let slant = if look.italic { " font-style=\"italic\"" } else { "" };
    let line = if look.underline { " text-decoration=\"underline\"" } else { "" };
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{}\" textLength=\"{}\" fill=\"{}\"{weight}{slant}{line}{fade}>{}</text>",
        x + lead as u32 * WIDTH,
        y + 14,
        text.chars().count() as u32 * WIDTH,
        look.fore,
        escaped(text)
    );
}

/// Block characters are drawn as rectangles, since fonts leave gaps: position in the cell, width, opacity.
fn block(text: &str) -> Option<(u32, u32, f32)> {
    Some(match text {
        "█" => (0, WIDTH, 0.8),
        "▓" => (0, WIDTH, 0.7),
        "▒" => (0, WIDTH, 0.6),
        "░" => (0, WIDTH, 0.3),
        "▌" => (1, 3, 1.0),
        _ => return None,
    })
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
