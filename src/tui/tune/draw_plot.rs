//! Draws the plot: tokens across, finds kept up, with its legend and its axes.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::corpus::TuneFigures;
use crate::human::tokens;
use crate::text::label::SafeText;
use crate::tui::list::screen::PanelFrame;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::{self, Span};
use crate::tune::{frontier, share_in_words};

use super::plot::{Plot, PlotCell};

/// The mark of the present setting, here and in the list.
const PRESENT: &str = "*";

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

/// Returns the text and the style of a cell.
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
