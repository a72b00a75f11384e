//! The plot of the settings: tokens across, matches kept up, with its legend and its axes.

use std::collections::BTreeMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::base::human::tokens;
use crate::corpus::TuneFigures;
use crate::corpus::tune::{SettingFigures, describe_share, frontier};
use crate::text::label::SafeText;
use crate::tui::list::screen::PanelFrame;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};

/// What a setting is in the plot, the least important first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PlotMark {
    Other,
    Best,
    Present,
    Chosen,
}

/// Dots of a cell across and up, in a braille pattern.
const DOTS: (u16, u16) = (2, 4);

/// Returns where settings lie, in dots from the upper left: the logarithm of tokens to the right, matches kept upwards.
fn places(figures: &[SettingFigures], (width, height): (u16, u16)) -> Vec<(u16, u16)> {
    let last = ((width * DOTS.0).saturating_sub(1), (height * DOTS.1).saturating_sub(1));
    let along = |last: u16, figure: fn(&SettingFigures) -> f64| {
        let all = figures.iter().map(figure);
        let (least, most) = (all.clone().fold(f64::MAX, f64::min), all.clone().fold(0.0, f64::max));
        let share = move |figure| if most > least { (figure - least) / (most - least) } else { 0.5 };
        all.map(move |figure| (share(figure) * f64::from(last)).round() as u16)
    };
    let across = along(last.0, |of| (of.tokens as f64 + 1.0).ln());
    across.zip(along(last.1, |of| of.kept_matches as f64)).map(|(x, up)| (x, last.1 - up)).collect()
}

/// Returns the cells of straight lines between dots, each with the bits of its braille pattern.
fn lines_through(dots: &[(u16, u16)]) -> BTreeMap<(u16, u16), u8> {
    let mut cells = BTreeMap::new();
    for (from, to) in dots.iter().zip(dots.iter().skip(1)) {
        let steps = from.0.abs_diff(to.0).max(from.1.abs_diff(to.1)).max(1);
        let between = |from: u16, to: u16, step: u16| {
            let (from, to) = (f64::from(from), f64::from(to));
            (from + (to - from) * f64::from(step) / f64::from(steps)).round() as u16
        };
        for step in 0..=steps {
            let (x, y) = (between(from.0, to.0, step), between(from.1, to.1, step));
            *cells.entry((x / DOTS.0, y / DOTS.1)).or_default() |= match (x % DOTS.0, y % DOTS.1) {
                (0, 3) => 0x40,
                (_, 3) => 0x80,
                (x, y) => 1 << (y + 3 * x),
            };
        }
    }
    cells
}

fn draw_settings(
    figures: &[SettingFigures],
    marks: impl Fn(usize) -> PlotMark,
    joined: &[usize],
    (canvas, buffer, area): (&Canvas, &mut Buffer, Rect),
) {
    if area.is_empty() {
        return;
    }
    let mut put = |(x, y): (u16, u16), text: &str, style| {
        let (x, y) = (area.x + x, area.y + y);
        buffer[(x, y)].reset();
        line::left(buffer, Rect { x, y, width: 1, height: 1 }, text, style);
    };
    let dots = places(figures, (area.width, area.height));
    let ends: Vec<_> = joined.iter().filter_map(|number| dots.get(*number).copied()).collect();
    for (cell, bits) in lines_through(&ends) {
        let pattern = char::from_u32(0x2800 + u32::from(bits)).unwrap_or(' ');
        put(cell, &pattern.to_string(), canvas.theme.dim);
    }
    let mut marked: Vec<_> = dots.iter().enumerate().map(|(number, dot)| (marks(number), dot)).collect();
    marked.sort_by_key(|(mark, _)| *mark);
    for (mark, (x, y)) in marked {
        let (text, style) = look(canvas, mark);
        put((x / DOTS.0, y / DOTS.1), text, style);
    }
}

/// Draws the settings of a policy between a legend and the axis; `matches` is what counts, in the plural.
pub(super) fn draw(
    figures: &TuneFigures,
    (present, chosen): (usize, Option<usize>),
    matches: &str,
    on: PanelFrame,
) {
    let PanelFrame { canvas, buffer, area, .. } = on;
    let legend = Rect { height: area.height.min(1), ..area };
    let axis = Rect { y: area.bottom().saturating_sub(1), ..legend };
    let area = Rect { y: legend.bottom(), height: area.height.saturating_sub(2), ..area };
    let best = frontier(&figures.settings, present);
    let mark = |number: usize| match () {
        () if Some(number) == chosen => PlotMark::Chosen,
        () if number == present => PlotMark::Present,
        () if best.contains(&number) => PlotMark::Best,
        () => PlotMark::Other,
    };
    let kept =
        edges(&figures.settings, |of| of.kept_matches).map(|kept| describe_share(kept, figures.matches));
    let taken = kept.iter().map(|label| SafeText::from(label.as_str()).columns()).max().unwrap_or(0) + 2;
    let left = taken.min(area.width.into()) as u16;
    let inner = Rect { x: area.x + left, width: area.width - left, ..area };
    for (label, y) in kept.into_iter().zip([area.bottom().saturating_sub(1), area.y]) {
        let label = format!("{label:>width$}", width = taken - 1);
        let place = Rect { y, width: left, height: area.height.min(1), ..area };
        line::left(buffer, place, label, canvas.theme.dim);
    }
    line::vertical_rule(buffer, Rect { width: 1, ..inner }, canvas);
    let joined = if canvas.unicode { &best[..] } else { &[] };
    // A blank column lies at the right.
    let plot = Rect { x: inner.x.saturating_add(1), width: inner.width.saturating_sub(2), ..inner };
    draw_settings(&figures.settings, mark, joined, (canvas, buffer, plot));
    draw_legend(matches, canvas, buffer, legend);
    draw_axis(&figures.settings, canvas, buffer, Rect { x: inner.x, width: inner.width, ..axis });
}

fn edges(figures: &[SettingFigures], figure: fn(&SettingFigures) -> u64) -> [u64; 2] {
    let all = || figures.iter().map(figure);
    [all().min().unwrap_or(0), all().max().unwrap_or(0)]
}

fn look(canvas: &Canvas, mark: PlotMark) -> (&'static str, Style) {
    let (theme, glyphs) = (&canvas.theme, canvas.glyphs());
    match mark {
        PlotMark::Other => (glyphs.other, theme.dim),
        PlotMark::Best => (glyphs.best, theme.accent),
        PlotMark::Present => ("@", theme.warning),
        PlotMark::Chosen => (glyphs.selected, theme.current),
    }
}

fn draw_legend(matches: &str, canvas: &Canvas, buffer: &mut Buffer, area: Rect) {
    let left = [Span::new(format!(" {matches} kept"), canvas.theme.dim)];
    line::spans(buffer, area, &left);
    let mark = |mark, words: &str| {
        let (text, style) = look(canvas, mark);
        [Span::new(text, style), Span::new(format!(" {words}   "), canvas.theme.dim)]
    };
    let marks = [
        mark(PlotMark::Chosen, "this row"),
        mark(PlotMark::Present, "now"),
        mark(PlotMark::Best, "best"),
        mark(PlotMark::Other, "others"),
    ];
    line::right(buffer, area, line::width(&left), &marks.concat());
}

fn draw_axis(figures: &[SettingFigures], canvas: &Canvas, buffer: &mut Buffer, area: Rect) {
    let [least, most] = edges(figures, |of| of.tokens).map(|number| tokens(number.saturating_mul(4)));
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
    use crate::corpus::tune::tests::figures_of as figures;
    use crate::tui::widget::theme::Theme;

    /// Draws settings in so many cells, the first of them the best, and joined; returns the rows.
    fn drawn(all: &[SettingFigures], best: usize, (width, height): (u16, u16)) -> Vec<String> {
        let area = Rect::new(0, 0, width, height);
        let canvas = Canvas::new((width, height), Theme::named("plain"), true);
        let mut buffer = Buffer::empty(area);
        let mark = |number| if number < best { PlotMark::Best } else { PlotMark::Other };
        let joined: Vec<usize> = (0..best).collect();
        draw_settings(all, mark, &joined, (&canvas, &mut buffer, area));
        let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect();
        (0..height).map(row).collect()
    }

    #[test]
    fn more_tokens_lie_to_the_right_and_more_matches_above() {
        let all = figures(&[(9, 0), (99, 5), (999, 10), (99, 0)]);
        assert_eq!(drawn(&all, 3, (9, 3)), ["      ⣀⠔●", "   ⡠●⠉   ", "●⠔⠉ ·    "]);
    }

    #[test]
    fn the_plot_handles_equal_settings_and_tiny_sizes() {
        for size in [(0, 0), (1, 1), (0, 5), (5, 0), (3, 2)] {
            for all in [
                figures(&[]),
                figures(&[(0, 0)]),
                figures(&[(7, 7), (7, 7)]),
                figures(&[(u64::MAX, u64::MAX), (0, 0)]),
            ] {
                let marks = drawn(&all, all.len(), size).concat().matches('●').count();
                assert_eq!(marks > 0, !all.is_empty() && size.0 * size.1 > 0, "{size:?}");
            }
        }
    }
}
