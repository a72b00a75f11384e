//! Where the settings lie in the plot: tokens across, finds kept up. Pure: takes figures and a size, returns cells.

use crate::tune::SettingFigures;

/// What stands in a cell of the plot, the least important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum PlotCell {
    /// Nothing.
    #[default]
    Blank,
    /// Dots of the line through the best settings: a braille pattern.
    Dots(u8),
    /// A setting that others beat.
    Other,
    /// A setting that no other beats.
    Best,
    /// The present setting.
    Present,
    /// The selected setting.
    Chosen,
}

/// The plot, row by row from the top, and what its edges stand for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plot {
    pub(super) cells: Vec<Vec<PlotCell>>,
    /// Tokens at the left and at the right edge.
    pub(super) tokens: (u64, u64),
    /// Finds kept at the lower and at the upper edge.
    pub(super) kept: (u64, u64),
}

/// Dots of a cell across and up.
const DOTS: (usize, usize) = (2, 4);

/// The figures between which the plot lies.
struct Edges {
    tokens: (u64, u64),
    kept: (u64, u64),
}

impl Plot {
    /// Draws settings into `width` by `height` cells. Tokens are spaced by their logarithm, because the settings are
    /// multiples of each other. `marks` has what each setting is; a line joins the numbers in `best`.
    pub(super) fn of(
        figures: &[SettingFigures],
        marks: impl Fn(usize) -> PlotCell,
        best: &[usize],
        (width, height): (usize, usize),
    ) -> Self {
        let edges = Edges::of(figures);
        let mut plot = Self {
            cells: vec![vec![PlotCell::Blank; width]; height],
            tokens: edges.tokens,
            kept: edges.kept,
        };
        let dots = (width * DOTS.0, height * DOTS.1);
        let at = |number: usize| figures.get(number).map(|of| edges.dot(of, dots));
        for (from, to) in best.iter().zip(best.iter().skip(1)) {
            if let (Some(from), Some(to)) = (at(*from), at(*to)) {
                plot.join(from, to);
            }
        }
        for number in 0..figures.len() {
            if let Some((x, y)) = at(number) {
                plot.set(x / DOTS.0, y / DOTS.1, marks(number));
            }
        }
        plot
    }

    fn set(&mut self, x: usize, y: usize, cell: PlotCell) {
        if let Some(there) = self.cells.get_mut(y).and_then(|row| row.get_mut(x)) {
            *there = (*there).max(cell);
        }
    }

    /// Joins two dots by a straight line of dots.
    fn join(&mut self, from: (usize, usize), to: (usize, usize)) {
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
        let between = |from: usize, to: usize, step: usize| {
            (from as f64 + (to as f64 - from as f64) * step as f64 / steps as f64).round() as usize
        };
        for step in 0..=steps {
            let (x, y) = (between(from.0, to.0, step), between(from.1, to.1, step));
            if let Some(cell) = self.cells.get_mut(y / DOTS.1).and_then(|row| row.get_mut(x / DOTS.0)) {
                let dots = if let PlotCell::Dots(dots) = cell { *dots } else { 0 };
                *cell = PlotCell::Dots(dots | braille_dot(x % DOTS.0, y % DOTS.1));
            }
        }
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

impl Edges {
    fn of(figures: &[SettingFigures]) -> Self {
        let of = |figure: fn(&SettingFigures) -> u64| {
            let all = || figures.iter().map(figure);
            (all().min().unwrap_or(0), all().max().unwrap_or(0))
        };
        Self { tokens: of(|of| of.tokens), kept: of(|of| of.kept_finds) }
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

/// Returns how far a figure lies between two, from 0 to 1; the middle if they are the same.
fn share(figure: f64, (least, most): (f64, f64)) -> f64 {
    if most > least { ((figure - least) / (most - least)).clamp(0.0, 1.0) } else { 0.5 }
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
