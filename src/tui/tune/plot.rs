//! The plot of the settings: tokens across, finds kept up, with its legend and its axes. [`Plot`] is pure: it takes figures
//! and a size, and has cells.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::corpus::TuneFigures;
use crate::human::tokens;
use crate::text::label::SafeText;
use crate::tui::list::screen::PanelFrame;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};
use crate::tune::{SettingFigures, frontier, share_in_words};

/// The mark of the present setting, here and in the list.
const PRESENT: &str = "*";

/// What stands in a cell of the plot, the least important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum PlotCell {
    #[default]
    Blank,
    /// Dots of the line through the best settings: a braille pattern.
    Dots(u8),
    Other,
    Best,
    Present,
    Chosen,
}

/// The plot, row by row from the top, and what its edges stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Plot {
    cells: Vec<Vec<PlotCell>>,
    /// Tokens at the left and at the right edge.
    tokens: (u64, u64),
    /// Finds kept at the lower and at the upper edge.
    kept: (u64, u64),
}

/// Dots of a cell across and up.
const DOTS: (usize, usize) = (2, 4);

impl Plot {
    /// Draws settings into `width` by `height` cells. Tokens are spaced by their logarithm, because the settings are
    /// multiples of each other. `marks` has what each setting is; a line joins the numbers in `best`.
    fn of(
        figures: &[SettingFigures],
        marks: impl Fn(usize) -> PlotCell,
        best: &[usize],
        (width, height): (usize, usize),
    ) -> Self {
        let edges = |figure: fn(&SettingFigures) -> u64| {
            let all = || figures.iter().map(figure);
            (all().min().unwrap_or(0), all().max().unwrap_or(0))
        };
        let mut plot = Self {
            cells: vec![vec![PlotCell::Blank; width]; height],
            tokens: edges(|of| of.tokens),
            kept: edges(|of| of.kept_finds),
        };
        let size = (width * DOTS.0, height * DOTS.1);
        let dots: Vec<(usize, usize)> = figures.iter().map(|of| plot.dot(of, size)).collect();
        for (from, to) in best.iter().zip(best.iter().skip(1)) {
            if let (Some(from), Some(to)) = (dots.get(*from), dots.get(*to)) {
                plot.join(*from, *to);
            }
        }
        for (number, dot) in dots.into_iter().enumerate() {
            if let Some(cell) = plot.cell_mut(dot) {
                *cell = (*cell).max(marks(number));
            }
        }
        plot
    }

    fn cell_mut(&mut self, (x, y): (usize, usize)) -> Option<&mut PlotCell> {
        self.cells.get_mut(y / DOTS.1)?.get_mut(x / DOTS.0)
    }

    /// Joins two dots by a straight line of dots.
    fn join(&mut self, from: (usize, usize), to: (usize, usize)) {
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
        let between = |from: usize, to: usize, step: usize| {
            (from as f64 + (to as f64 - from as f64) * step as f64 / steps as f64).round() as usize
        };
        for step in 0..=steps {
            let (x, y) = (between(from.0, to.0, step), between(from.1, to.1, step));
            if let Some(cell) = self.cell_mut((x, y)) {
                let dots = if let PlotCell::Dots(dots) = cell { *dots } else { 0 };
                *cell = PlotCell::Dots(dots | braille_dot(x % DOTS.0, y % DOTS.1));
            }
        }
    }

    /// Returns the place of a setting, in dots from the upper left corner.
    fn dot(&self, of: &SettingFigures, (width, height): (usize, usize)) -> (usize, usize) {
        let tokens = |tokens: u64| (tokens as f64 + 1.0).ln();
        let x = share(tokens(of.tokens), (tokens(self.tokens.0), tokens(self.tokens.1)));
        let y = share(of.kept_finds as f64, (self.kept.0 as f64, self.kept.1 as f64));
        let last = |len: usize| len.saturating_sub(1);
        let x = (x * last(width) as f64).round() as usize;
        let y = last(height) - ((y * last(height) as f64).round() as usize).min(last(height));
        (x.min(last(width)), y)
    }
}

/// Returns the bit of a dot in a braille pattern, from its place in the cell.
fn braille_dot(x: usize, y: usize) -> u8 {
    match (x, y) {
        (0, 3) => 0x40,
        (_, 3) => 0x80,
        (x, y) => 1 << (y + 3 * x),
    }
}

/// Returns how far a figure lies between two, from 0 to 1; the middle if they are the same.
fn share(figure: f64, (least, most): (f64, f64)) -> f64 {
    if most > least { ((figure - least) / (most - least)).clamp(0.0, 1.0) } else { 0.5 }
}

/// Draws the settings of a policy; `finds` is what counts, in the plural. The first line is the legend, the last one the
/// axis.
pub(super) fn draw(
    figures: &TuneFigures,
    (present, chosen): (usize, Option<usize>),
    finds: &str,
    on: PanelFrame,
) {
    let PanelFrame { canvas, buffer, area, .. } = on;
    let legend = Rect { height: area.height.min(1), ..area };
    let axis = Rect { y: area.bottom().saturating_sub(1), ..legend };
    let area = Rect { y: legend.bottom(), height: area.height.saturating_sub(2), ..area };
    let best = frontier(&figures.settings, present);
    let mark = |number: usize| match () {
        () if Some(number) == chosen => PlotCell::Chosen,
        () if number == present => PlotCell::Present,
        () if best.contains(&number) => PlotCell::Best,
        () => PlotCell::Other,
    };
    let labels = |plot: &Plot| [plot.kept.1, plot.kept.0].map(|kept| share_in_words(kept, figures.finds));
    let joined = if canvas.unicode { &best[..] } else { &[] };
    let of = |width: usize| Plot::of(&figures.settings, mark, joined, (width, usize::from(area.height)));
    let labels = labels(&of(0));
    let taken = labels.iter().map(|label| SafeText::from(label.as_str()).columns()).max().unwrap_or(0) + 2;
    let left = taken.min(area.width.into()) as u16;
    let inner = Rect { x: area.x + left, width: area.width - left, ..area };
    // A blank column lies at the right.
    let plot = of(usize::from(inner.width.saturating_sub(2)));
    let top = Rect { height: area.height.min(1), ..area };
    let bottom = Rect { y: area.bottom().saturating_sub(1), ..top };
    for (label, row) in labels.into_iter().zip([top, bottom]) {
        let label = format!("{label:>width$}", width = taken - 1);
        line::left(buffer, Rect { width: left, ..row }, label, canvas.theme.dim);
    }
    line::upright(buffer, Rect { width: 1, ..inner }, canvas);
    for (row, y) in plot.cells.iter().zip(inner.y..inner.bottom()) {
        let x = inner.x.saturating_add(1);
        line::spans(
            buffer,
            Rect { x, y, width: inner.width.saturating_sub(1), height: 1 },
            &spans(canvas, row),
        );
    }
    draw_legend(finds, canvas, buffer, legend);
    draw_axis(&plot, canvas, buffer, Rect { x: inner.x, width: inner.width, ..axis });
}

fn spans(canvas: &Canvas, row: &[PlotCell]) -> Vec<Span> {
    let cells = row.chunk_by(|one, next| look(canvas, *one).1 == look(canvas, *next).1);
    cells
        .map(|run| {
            let text: String = run.iter().map(|cell| look(canvas, *cell).0).collect();
            Span::new(text, run.first().map_or(Style::new(), |cell| look(canvas, *cell).1))
        })
        .collect()
}

fn look(canvas: &Canvas, cell: PlotCell) -> (String, Style) {
    let (theme, glyphs) = (&canvas.theme, canvas.glyphs());
    match cell {
        PlotCell::Blank => (" ".to_owned(), Style::new()),
        PlotCell::Dots(dots) => {
            (char::from_u32(0x2800 + u32::from(dots)).unwrap_or(' ').to_string(), theme.dim)
        }
        PlotCell::Other => (glyphs.other.to_owned(), theme.dim),
        PlotCell::Best => (glyphs.best.to_owned(), theme.accent),
        PlotCell::Present => (PRESENT.to_owned(), theme.warning),
        PlotCell::Chosen => (glyphs.selected.to_owned(), theme.current),
    }
}

fn draw_legend(finds: &str, canvas: &Canvas, buffer: &mut Buffer, area: Rect) {
    let left = [Span::new(format!(" {finds} kept"), canvas.theme.dim)];
    line::spans(buffer, area, &left);
    let mark = |cell, words: &str| {
        let (text, style) = look(canvas, cell);
        [Span::new(text, style), Span::new(format!(" {words}   "), canvas.theme.dim)]
    };
    let marks = [
        mark(PlotCell::Chosen, "this row"),
        mark(PlotCell::Present, "now"),
        mark(PlotCell::Best, "best"),
        mark(PlotCell::Other, "others"),
    ];
    line::right(buffer, area, line::width(&left), &marks.concat());
}

fn draw_axis(plot: &Plot, canvas: &Canvas, buffer: &mut Buffer, area: Rect) {
    let [least, most] = [plot.tokens.0, plot.tokens.1].map(|number| tokens(number.saturating_mul(4)));
    let left = [Span::new(format!(" {least}"), canvas.theme.dim)];
    line::spans(buffer, area, &left);
    let right = [Span::new(format!("{most}  "), canvas.theme.dim)];
    line::right(buffer, area, line::width(&left), &right);
    let taken = line::width(&left) + line::width(&right);
    let words = SafeText::from("tokens of all previews (logarithmic)");
    let room = usize::from(area.width).saturating_sub(taken + 4);
    if words.columns() <= room {
        line::centred(buffer, area, [words], canvas.theme.dim);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::figures_of as figures;

    #[test]
    fn more_tokens_lie_to_the_right_and_more_finds_above() {
        let all = figures(&[(9, 0), (99, 5), (999, 10), (99, 0)]);
        let mark = |number| [PlotCell::Best, PlotCell::Present, PlotCell::Chosen, PlotCell::Other][number];
        let plot = Plot::of(&all, mark, &[0, 1, 2], (9, 3));
        let at = |x: usize, y: usize| plot.cells[y][x];
        assert_eq!((at(0, 2), at(8, 0), at(4, 2)), (PlotCell::Best, PlotCell::Chosen, PlotCell::Other));
        assert_eq!(at(4, 1), PlotCell::Present);
        assert!(matches!(at(2, 1), PlotCell::Dots(_)) || matches!(at(2, 2), PlotCell::Dots(_)));
        assert_eq!((plot.tokens, plot.kept), ((9, 999), (0, 10)));
    }

    #[test]
    fn settings_that_are_alike_and_no_room_do_no_harm() {
        for size in [(0, 0), (1, 1), (0, 5), (5, 0), (3, 2)] {
            for all in [
                figures(&[]),
                figures(&[(0, 0)]),
                figures(&[(7, 7), (7, 7)]),
                figures(&[(u64::MAX, u64::MAX), (0, 0)]),
            ] {
                let best: Vec<usize> = (0..all.len()).collect();
                let plot = Plot::of(&all, |_| PlotCell::Best, &best, size);
                assert_eq!(plot.cells.len(), size.1);
                assert!(plot.cells.iter().all(|row| row.len() == size.0));
            }
        }
    }
}
