//! Draws the plot: tokens across, finds kept up, with its legend and its axes.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;

use crate::human::tokens;
use crate::text::label::SafeText;
use crate::tui::tune::TuneScreen;
use crate::tui::tune::plot::{Plot, PlotCell};
use crate::tui::tune::table::TuneTable;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::layout::TuneAreas;
use crate::tui::widget::line::{self, Span};
use crate::tune::{frontier, share_in_words};

/// The mark of the present setting, here and in the table.
const PRESENT: &str = "*";

/// Draws the plot of the settings.
pub(super) fn draw(screen: &TuneScreen, table: &TuneTable, frame: &mut Frame, places: &TuneAreas) {
    let Some((_, grid)) = table.grid() else { return };
    let (canvas, figures) = (&screen.canvas, &table.figures);
    let best = frontier(&figures.settings, grid.current);
    let mark = |number: usize| match () {
        () if Some(number) == table.chosen() => PlotCell::Chosen,
        () if number == grid.current => PlotCell::Present,
        () if best.contains(&number) => PlotCell::Best,
        () => PlotCell::Other,
    };
    let labels = |plot: &Plot| [plot.kept.1, plot.kept.0].map(|kept| share_in_words(kept, figures.finds));
    let joined = if canvas.unicode { &best[..] } else { &[] };
    let of =
        |width: usize| Plot::of(&figures.settings, mark, joined, (width, usize::from(places.plot.height)));
    let labels = labels(&of(0));
    let taken = labels.iter().map(|label| SafeText::from(label.as_str()).columns()).max().unwrap_or(0) + 2;
    let left = taken.min(places.plot.width.into()) as u16;
    let area = Rect { x: places.plot.x + left, width: places.plot.width - left, ..places.plot };
    // A blank column lies at the right.
    let plot = of(usize::from(area.width.saturating_sub(2)));
    let top = Rect { height: places.plot.height.min(1), ..places.plot };
    let bottom = Rect { y: places.plot.bottom().saturating_sub(1), ..top };
    for (label, row) in labels.into_iter().zip([top, bottom]) {
        let label = format!("{label:>width$}", width = taken - 1);
        line::left(frame.buffer_mut(), Rect { width: left, ..row }, label, canvas.theme.dim);
    }
    line::upright(frame.buffer_mut(), Rect { width: 1, ..area }, canvas);
    for (row, y) in plot.cells.iter().zip(area.y..area.bottom()) {
        let row_area =
            Rect { x: area.x.saturating_add(1), y, width: area.width.saturating_sub(1), height: 1 };
        line::spans(frame.buffer_mut(), row_area, &spans(canvas, row));
    }
    draw_legend(table, canvas, frame, places.legend);
    draw_axis(&plot, canvas, frame, Rect { x: area.x, width: area.width, ..places.axis });
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

fn draw_legend(table: &TuneTable, canvas: &Canvas, frame: &mut Frame, area: Rect) {
    let left = [Span::new(format!(" {} kept", table.finds()), canvas.theme.dim)];
    line::spans(frame.buffer_mut(), area, &left);
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
    line::right(frame.buffer_mut(), area, line::width(&left), &marks.concat());
}

fn draw_axis(plot: &Plot, canvas: &Canvas, frame: &mut Frame, area: Rect) {
    let [least, most] = [plot.tokens.0, plot.tokens.1].map(|number| tokens(number.saturating_mul(4)));
    let left = [Span::new(format!(" {least}"), canvas.theme.dim)];
    line::spans(frame.buffer_mut(), area, &left);
    let right = [Span::new(format!("{most}  "), canvas.theme.dim)];
    line::right(frame.buffer_mut(), area, line::width(&left), &right);
    let taken = line::width(&left) + line::width(&right);
    let words = SafeText::from("tokens of all previews (logarithmic)");
    let room = usize::from(area.width).saturating_sub(taken + 4);
    if words.columns() <= room {
        line::centred(frame.buffer_mut(), area, [words], canvas.theme.dim);
    }
}
