//! Bar 35: an incremental draw, a full redraw and a terminal's view of them all agree.

use std::cell::RefCell;
use std::io::{self, Write};
use std::num::NonZeroU16;
use std::rc::Rc;

use overspill::internals::document::reader::Cost;
use overspill::internals::tui::app::App;
use ratatui::Terminal;
use ratatui::backend::{Backend, ClearType, CrosstermBackend, WindowSize};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Size};
use ratatui::style::Modifier;
use unicode_width::UnicodeWidthStr;

use super::random::{event, outputs, size};
use crate::common::bench::{Bench, policy};
use crate::common::home::Home;
use crate::common::rng::Rng;

/// Number of screens compared, unless the variable sets another one.
const SCREENS: usize = 1000;
const VARIABLE: &str = "OVERSPILL_TEST_SCREENS";
/// Screens per sequence.
const EACH: usize = 50;

/// The bytes written, for a terminal to read.
#[derive(Clone, Default)]
struct Written(Rc<RefCell<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The program's own backend, for a terminal without a system behind it.
struct Drawer(CrosstermBackend<Written>, Rc<RefCell<Size>>);

impl Backend for Drawer {
    type Error = io::Error;

    fn draw<'a, I: Iterator<Item = (u16, u16, &'a Cell)>>(&mut self, content: I) -> io::Result<()> {
        self.0.draw(content)
    }

    fn hide_cursor(&mut self) -> io::Result<()> {
        self.0.hide_cursor()
    }

    fn show_cursor(&mut self) -> io::Result<()> {
        self.0.show_cursor()
    }

    fn get_cursor_position(&mut self) -> io::Result<Position> {
        Ok(Position::ORIGIN)
    }

    fn set_cursor_position<P: Into<Position>>(&mut self, position: P) -> io::Result<()> {
        self.0.set_cursor_position(position)
    }

    fn clear(&mut self) -> io::Result<()> {
        self.0.clear()
    }

    fn clear_region(&mut self, region: ClearType) -> io::Result<()> {
        self.0.clear_region(region)
    }

    fn size(&self) -> io::Result<Size> {
        Ok(*self.1.borrow())
    }

    fn window_size(&mut self) -> io::Result<WindowSize> {
        Ok(WindowSize { columns_rows: *self.1.borrow(), pixels: Size::default() })
    }

    fn flush(&mut self) -> io::Result<()> {
        Backend::flush(&mut self.0)
    }
}

/// The screens drawn into the model of a terminal.
struct Drawn {
    terminal: Terminal<Drawer>,
    written: Written,
    size: Rc<RefCell<Size>>,
    model: vt100::Parser,
}

fn not_zero(n: u16) -> NonZeroU16 {
    NonZeroU16::new(n).expect("a terminal has room")
}

impl Drawn {
    fn new(columns: u16, rows: u16) -> Self {
        let (written, size) = (Written::default(), Rc::new(RefCell::new(Size::new(columns, rows))));
        let backend = Drawer(CrosstermBackend::new(written.clone()), Rc::clone(&size));
        let terminal = Terminal::new(backend).expect("a terminal");
        let model = vt100::Parser::new(not_zero(rows), not_zero(columns), 0);
        Self { terminal, written, size, model }
    }

    /// Draws what has changed; returns the frame and the number of bytes written.
    fn draw(&mut self, app: &App) -> (Buffer, usize) {
        let (columns, rows) = app.canvas.size;
        if self.size.replace(Size::new(columns, rows)) != Size::new(columns, rows) {
            self.model.screen_mut().set_size(not_zero(rows), not_zero(columns));
        }
        let frame = self.terminal.draw(|frame| app.draw(frame, &Cost::default())).expect("a frame");
        let buffer = frame.buffer.clone();
        let bytes = self.written.0.take();
        let text = String::from_utf8(bytes).expect("what is drawn is text");
        self.model.process(known(&text).as_bytes());
        (buffer, text.len())
    }
}

/// The model omits U+FFFD, which any terminal draws in one column.
fn known(text: &str) -> String {
    text.replace('\u{fffd}', "\u{25a1}")
}

/// Returns a cell's text and visible style; a cell without text is a space, of which only the background is visible.
fn cell(screen: &vt100::Screen, row: u16, column: u16) -> (&str, [bool; 5], vt100::Color, vt100::Color) {
    let cell = screen.cell(row, column).expect("a cell of the screen");
    let text = if cell.has_contents() { cell.contents() } else { " " };
    let is_seen = text != " " || cell.underline() || cell.inverse();
    let fore = if is_seen { cell.fgcolor() } else { vt100::Color::Default };
    let looks = [
        cell.bold() && is_seen,
        cell.dim() && is_seen,
        cell.italic() && is_seen,
        cell.underline(),
        cell.inverse(),
    ];
    (text, looks, fore, cell.bgcolor())
}

#[track_caller]
fn assert_alike(more: &vt100::Screen, anew: &vt100::Screen, frame: &Buffer, what: &str) {
    for row in 0..frame.area.height {
        let mut column = 0;
        while column < frame.area.width {
            let meant = frame[(column, row)].symbol();
            let (mut more, mut anew) = (cell(more, row, column), cell(anew, row, column));
            // Of bold and dim together the model knows only the latest; terminals know both.
            if frame[(column, row)].modifier.contains(Modifier::BOLD | Modifier::DIM) {
                [&mut more, &mut anew].into_iter().for_each(|cell| cell.1[..2].fill(true));
            }
            let is_meant = anew.0 == meant || meant.contains('\u{fffd}') && anew.0 == known(meant);
            if more != anew || !is_meant {
                let text: String = (0..frame.area.width).map(|x| frame[(x, row)].symbol()).collect();
                panic!(
                    "{what}, row {row}, column {column}: meant {meant:?} in {text:?}, added {more:?}, anew {anew:?}"
                );
            }
            column += if meant.len() > 1 { meant.width().max(1) as u16 } else { 1 };
        }
    }
}

/// Terminals disagree about the width of joined emoji, and the model counts each part.
fn without_joiners(output: Vec<u8>) -> Vec<u8> {
    String::from_utf8(output)
        .map_or_else(|error| error.into_bytes(), |text| text.replace('\u{200d}', "").into_bytes())
}

fn wide_and_combining() -> Vec<u8> {
    "日本語\twide e\u{301}o\u{308}\u{323} 😀 한글 \x1b[1;31m赤\x1b[0m x\u{301}\u{301}\u{301}\n漢\n"
        .repeat(700)
        .into_bytes()
}

#[test]
fn incremental_and_full_redraws_agree_with_a_terminal() {
    let screens = std::env::var(VARIABLE).map_or(SCREENS, |number| number.parse().expect("a number"));
    let home = Home::new();
    let mut all: Vec<Vec<u8>> = outputs().into_iter().map(without_joiners).collect();
    all.push(wide_and_combining());
    let number = all.len();
    all.into_iter().enumerate().for_each(|(n, output)| drop(home.file(&format!("output-{n}"), output)));
    let policies = ["opencode/output", "claude-code/bash", "pi/bash", "basic/smart"];
    let mut most = 0;
    for seed in 1..=screens.div_ceil(EACH) as u64 {
        let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let path = home.at(&format!("output-{}", rng.below(number)));
        let mut bench = Bench::open(size(&mut rng), &path, policy(rng.choose(&policies)));
        let mut more = Drawn::new(bench.app.canvas.size.0, bench.app.canvas.size.1);
        for step in 0..EACH {
            let (frame, bytes) = more.draw(&bench.app);
            let mut anew = Drawn::new(bench.app.canvas.size.0, bench.app.canvas.size.1);
            let whole = anew.draw(&bench.app).1;
            most = most.max(bytes).max(whole);
            assert_alike(
                more.model.screen(),
                anew.model.screen(),
                &frame,
                &format!("seed {seed}, step {step}"),
            );
            let effects = bench.update(event(&mut rng));
            bench.carry_out(effects);
        }
    }
    println!("{screens} screens, at most {most} bytes a frame");
}

#[test]
fn a_frame_of_the_longest_cells_is_64_kilobytes_at_most() {
    let home = Home::new();
    let marks = "e\u{301}".repeat(4000) + "\n";
    let most = format!("x{}\n", "\u{1d165}".repeat(40)).repeat(200);
    let full = "a\u{1d165}\u{1d165}\u{1d165}\u{1d165}\u{1d165}\u{1d165}\u{1d165}".repeat(9000);
    let million = format!("e{}", "\u{301}".repeat(1_000_000));
    let tags = "\u{1f469}\u{200d}\u{1f467}\u{e0041}".repeat(3000);
    for (n, output) in [marks.repeat(40), most, full, million, tags].into_iter().enumerate() {
        let path = home.file(&format!("output-{n}"), output);
        let mut bench = Bench::open((80, 24), &path, policy("opencode/output"));
        for keys in ["", "<Tab>", "w", "r"] {
            bench.keys(keys);
            let (_, bytes) = Drawn::new(80, 24).draw(&bench.app);
            assert!(bytes <= 64 << 10, "output {n}, {keys:?}: {bytes} bytes");
        }
    }
}
