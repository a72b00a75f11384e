//! Draws one pane: rows of cells with their gutter, coloured by meaning.

use std::ops::Range;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

use crate::document::Class;
use crate::document::filter::LineFilter;
use crate::document::fold::States;
use crate::document::reader::Cost;
use crate::document::scroll::{CurrentLine, RowMatches, RowRule, ScreenRow, Scroll, Viewport};
use crate::output::OpenOutput;
use crate::output::recorded::Differences;
use crate::preview::{Preview, Status};
use crate::rows::column::joined;
use crate::text::cells::{Cell, CellKind, Show};
use crate::text::filter::{KeptRanges, Share};
use crate::text::label::SafeText;
use crate::text::search::{Severity, SeverityPatterns};
use crate::tui::keys::{Action, KeyContext, KeyMap};
use crate::tui::pager::{Pager, filter};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::layout::Side;
use crate::tui::widget::line::{self, Span};
use crate::tui::widget::theme::Theme;

/// The columns of Spill's gutter beside the number of a line.
const BESIDE_NUMBER: u16 = 3;

pub(crate) struct PaneView<'a> {
    pub output: &'a OpenOutput,
    pub side: Side,
    pub top: u64,
    pub headed: bool,
    pub canvas: Canvas,
    /// How the text is laid out; its size is that of the area in which it is drawn.
    pub frame: Viewport,
    /// The screen of the output; `None` where it is only shown beside a list.
    pub pager: Option<&'a Pager>,
}

impl<'a> PaneView<'a> {
    pub(crate) fn beside(output: &'a OpenOutput, canvas: Canvas) -> Self {
        Self {
            output,
            side: Side::Preview,
            top: 0,
            headed: true,
            canvas,
            frame: Viewport::of_all(0, 0, Show { ascii: !canvas.unicode, ..Show::MODEL }),
            pager: None,
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DrawnPane {
    pub end: u64,
    /// The number of escape sequences in its rows that are not shown.
    pub hidden: usize,
    pub escapes: bool,
    pub folded: bool,
    /// Whether the current line starts as an object of JSON does.
    pub json: bool,
    /// The offset of the current line, and how much of it (over 64 KiB: of its segment) the model got; `None` if the
    /// agent wrote it, or it is only the first one of Preview.
    pub line: Option<(usize, Share)>,
}

pub(crate) fn draw(shown: &PaneView, buffer: &mut Buffer, mut area: Rect, cost: &Cost) -> DrawnPane {
    let PaneView { output, side, top, headed, canvas, pager, .. } = *shown;
    if headed && area.height > 0 {
        heading(shown, buffer, Rect { height: 1, ..area });
        area = Rect { y: area.y + 1, height: area.height - 1, ..area };
    }
    let filter = output.filter_of(side);
    let unfiltered = filter.and_then(|filter| filter::blank(filter, output.certainty().verb(), canvas.keys));
    let nothing_yet = (output.view.is_empty() && pager.is_some_and(Pager::is_coming))
        .then(|| vec!["No output yet.".into()]);
    if let Some(words) = nothing_yet.or_else(|| blank(output, side, canvas.keys)).or(unfiltered) {
        line::centred(buffer, area, words, canvas.theme.dim);
        return DrawnPane::default();
    }
    let width = area.width.saturating_sub(output.gutter(side));
    let scroll = output.scroll(side, Viewport { width, height: area.height, ..shown.frame }, Some(cost));
    let rows = scroll.screen(top);
    let line = pager.filter(|pager| pager.focus() == side);
    let line = line.and_then(|pager| CurrentLine::find(&rows, pager.chosen(side)));
    let first = |row: usize| (0..=row).rev().find(|n| rows[*n].opens).unwrap_or(0);
    let marked = line.map(|line| (&rows[first(line.row)], line));
    let pattern = pager.and_then(|pager| pager.find.pattern.as_ref().or_else(|| filter?.marked()));
    let mut pane = Pane {
        shown,
        scroll,
        marked,
        number: None,
        reached: top,
        found: pattern.map(|pattern| RowMatches::new(pattern, side == Side::Spill)),
        selected: pager.and_then(|pager| pager.selected(side)),
        current: pager.and_then(|pager| pager.find.current(side)),
        severities: pager.map(|pager| &pager.errors.patterns).filter(|patterns| patterns.are_compiled()),
    };
    let mut y = area.y;
    for row in &rows {
        y = pane.row(buffer, area, y, row);
    }
    let at_end = rows.last().is_none_or(|row| scroll.onward(row.next) >= scroll.end());
    if at_end && y < area.y + area.height {
        let place = Rect { y, height: 1, ..area };
        let words = filter.map_or_else(|| output.describe_end(side), LineFilter::describe_end);
        line::titled_rule(buffer, place, words, canvas.theme.dim);
    }
    let kinds = || rows.iter().flat_map(|row| &row.cells).map(|cell| cell.kind);
    DrawnPane {
        end: rows.last().map_or(0, |row| row.next),
        hidden: kinds().filter(|kind| *kind == CellKind::Hidden).count(),
        escapes: kinds().any(|kind| kind == CellKind::Escape),
        folded: rows.iter().any(|row| row.states.is_some()),
        json: marked.is_some_and(|(row, _)| row.opens && row.starts_object()),
        line: line.and_then(|line| drawn_line(shown, line, cost)),
    }
}

/// Returns what stands in place of a text; `None` if there is one.
fn blank(output: &OpenOutput, side: Side, keys: &KeyMap) -> Option<Vec<String>> {
    let key = |action| keys.label(KeyContext::Pager, action);
    let (whole, is_empty) = (key(Action::Other), output.view.is_empty());
    Some(match (side, &output.made.preview) {
        _ if is_empty && output.fault.is_some() => output.share_kept(),
        (Side::Spill, _) if is_empty => vec!["The file is empty.".into()],
        (Side::Spill, _) => return None,
        _ if output.is_awaited() && !output.has_preview() => {
            let back = key(Action::Back);
            vec![format!("The preview is being planned. {back} gives up; {whole} shows the whole output.")]
        }
        _ if !output.has_preview() => {
            let (limits, policies) = (key(Action::Limits), keys.label(KeyContext::Drawer, Action::Policy));
            let picks = format!("{limits} {policies} picks another policy");
            vec![format!("No preview was made. {picks}; {whole} shows the whole output.")]
        }
        (_, Err(refusal)) => vec!["The agent gives its model an error:".into(), refusal.clone()],
        (_, Ok(Preview { status: Status::Crashed(words), .. })) => {
            vec!["On this output the agent itself crashes; the model gets nothing.".into(), words.clone()]
        }
        _ if is_empty && output.made.seen.is_empty() => {
            vec![format!("The output is empty: the model {} no text.", output.certainty().verb())]
        }
        _ => return None,
    })
}

fn drawn_line(shown: &PaneView, line: CurrentLine, cost: &Cost) -> Option<(usize, Share)> {
    let (output, doc) = (shown.output, shown.output.doc(shown.side));
    if shown.side == Side::Preview && (!line.is_chosen || doc.class_at(line.at).is_notice()) {
        return None;
    }
    let offset = doc.to_file(line.at);
    let reader = output.reader(Side::Spill, Some(cost));
    let segment = reader.segment(reader.segment_start(offset as u64));
    let bytes = segment.start as usize..segment.end.max(segment.start + 1) as usize;
    Some((offset, KeptRanges(&output.made.kept).share(&bytes)))
}

fn heading(shown: &PaneView, buffer: &mut Buffer, area: Rect) {
    let PaneView { output, side, canvas, .. } = *shown;
    let is_active = shown.pager.is_none_or(|pager| pager.focus() == side);
    let style = if is_active { canvas.theme.active } else { canvas.theme.dim };
    let (name, what) = match side {
        Side::Preview => (output.heading(), output.preview_heading().to_owned()),
        Side::Spill => {
            let filter = output.filter.as_ref().map(LineFilter::describe_conditions);
            (super::WHOLE, joined([Some(output.spill_heading()), filter]).to_string())
        }
    };
    let what = if what.is_empty() { what } else { format!(" · {what}") };
    let spans = [Span::plain(" "), Span::new(name, style), Span::new(what, canvas.theme.dim)];
    line::spans(buffer, area, &spans);
}

struct Pane<'a> {
    shown: &'a PaneView<'a>,
    scroll: Scroll<'a>,
    /// The row that bears the mark of the current line, and that line.
    marked: Option<(&'a ScreenRow, CurrentLine)>,
    /// The number of the line drawn last, 1-based, and whether it is exact.
    number: Option<(u64, bool)>,
    /// The end of the row drawn last. After lines that are left out, the number is found anew.
    reached: u64,
    found: Option<RowMatches<'a>>,
    selected: Option<Range<u64>>,
    current: Option<&'a Range<u64>>,
    severities: Option<&'a SeverityPatterns>,
}

impl Pane<'_> {
    /// Draws a row, with a rule above it if there is one. Returns the `y` of the next row.
    fn row(&mut self, buffer: &mut Buffer, area: Rect, mut y: u16, row: &ScreenRow) -> u16 {
        if area.height > 1
            && let Some(rule) = self.scroll.rule_above(row.start..row.next)
        {
            self.rule(buffer, Rect { y, height: 1, ..area }, rule);
            y += 1;
        }
        if y >= area.y + area.height {
            return y;
        }
        let gutter = self.shown.output.gutter(self.shown.side).min(area.width);
        if row.start != self.reached {
            self.number = None;
        }
        self.reached = row.next;
        let edge = Rect { y, height: 1, width: gutter, ..area };
        let marked = self.marked.filter(|(first, _)| std::ptr::eq(*first, row));
        match self.shown.side {
            Side::Preview => self.edge(buffer, edge, row),
            Side::Spill => self.numbered(buffer, edge, row, marked.is_some()),
        }
        let place = Rect { x: area.x + gutter, y, width: area.width - gutter, height: 1 };
        self.cells(buffer, place, row);
        let selected = self.selected.as_ref();
        if selected.is_some_and(|range| range.start <= row.start && row.start <= range.end) {
            buffer.set_style(Rect { y, height: 1, ..area }, self.shown.canvas.theme.selected);
        }
        if let Some((_, line)) = marked {
            self.mark(buffer, edge, row, line);
        }
        y + 1
    }

    fn rule(&self, buffer: &mut Buffer, area: Rect, rule: RowRule) {
        let canvas = &self.shown.canvas;
        match rule {
            RowRule::Fate(fate) => {
                let words = self.shown.output.describe_cut(fate);
                line::titled_rule(buffer, area, words, canvas.theme.warning);
            }
            RowRule::Gap => line::rule(buffer, area, canvas),
        }
    }

    /// Marks the current line, reversed if the user selected it, else bold: at its number, or the edge of the text.
    fn mark(&self, buffer: &mut Buffer, edge: Rect, row: &ScreenRow, line: CurrentLine) {
        let number = edge.width.saturating_sub(BESIDE_NUMBER);
        let (place, is_reversed) = match self.shown.side {
            Side::Preview => (edge, true),
            Side::Spill if row.opens => (Rect { width: number, ..edge }, line.is_chosen),
            Side::Spill => (Rect { x: edge.x + number, width: edge.width.min(1), ..edge }, true),
        };
        for at in place.intersection(buffer.area).positions() {
            let cell = &mut buffer[at];
            match cell.symbol() {
                _ if line.is_chosen || !is_reversed => drop(cell.set_style(Modifier::BOLD)),
                " " => drop(cell.set_style(self.shown.canvas.theme.dim)),
                _ => {}
            }
            // In a selection without colours, all else is reversed already.
            if is_reversed {
                cell.modifier.toggle(Modifier::REVERSED);
            }
        }
    }

    /// Draws the gutter of Preview: whether the agent wrote the row, or how severe its line is.
    fn edge(&self, buffer: &mut Buffer, area: Rect, row: &ScreenRow) {
        let (theme, glyphs) = (&self.shown.canvas.theme, self.shown.canvas.glyphs());
        let mut classes = self.scroll.reader.doc.classes(row.start..row.drawn_end().max(row.start + 1));
        let differs = |found: &Differences| found.touch(&(row.start..row.next.max(row.start + 1)));
        let (mark, style) = match self.severity(row) {
            _ if self.differences().is_some_and(differs) => (glyphs.differs, theme.warning),
            _ if classes.any(|(_, class)| class.is_notice()) => (glyphs.notice, theme.warning),
            Some(Severity::Error) => (glyphs.error, theme.severity(Severity::Error)),
            Some(Severity::Warning) => (glyphs.found, theme.severity(Severity::Warning)),
            None => return,
        };
        line::left(buffer, area, mark, style);
    }

    /// Draws the gutter of Spill: the number of the line, coloured by its severity, and whether the model got the row.
    fn numbered(&mut self, buffer: &mut Buffer, area: Rect, row: &ScreenRow, is_marked: bool) {
        let (theme, glyphs) = (&self.shown.canvas.theme, self.shown.canvas.glyphs());
        let number = if row.opens { self.number_of(row) } else { String::new() };
        // A row of only the number of states shows none of the line's bytes: it goes with the state above it.
        let of = if row.cells.is_empty() && row.states.is_some() { row.base } else { row.first() };
        let kept = self.shown.output.is_kept(of as usize);
        let (mark, fate) = if kept { (glyphs.kept, Style::new()) } else { (glyphs.lost, theme.lost) };
        let width = usize::from(area.width.saturating_sub(BESIDE_NUMBER));
        let plain = if is_marked { Style::new() } else { theme.dim };
        let style = self.severity(row).map_or(plain, |severity| theme.severity(severity));
        let number = Span::new(format!("{number:>width$} "), style);
        line::spans(buffer, area, &[number, Span::new(mark, fate)]);
    }

    fn differences(&self) -> Option<&Differences> {
        self.shown.output.made.differences.as_ref().filter(|_| self.shown.side == Side::Preview)
    }

    fn severity(&self, row: &ScreenRow) -> Option<Severity> {
        self.scroll.reader.severity_of(row.start, self.severities.filter(|_| row.opens)?)
    }

    fn number_of(&mut self, row: &ScreenRow) -> String {
        let (number, exact) = match self.number {
            Some((last, exact)) => (last + 1, exact),
            None => match self.shown.output.line_number(row.start as usize) {
                Some(line) => (line, true),
                None => (self.shown.output.about_line_at(row.start) + 1, false),
            },
        };
        self.number = Some((number, exact));
        if exact { number.to_string() } else { format!("~{number}") }
    }

    fn cells(&mut self, buffer: &mut Buffer, area: Rect, row: &ScreenRow) {
        let found = self.found.as_mut().map(|found| found.within(row, &self.scroll.reader));
        let found = found.unwrap_or_default();
        let classes: Vec<_> =
            self.scroll.reader.doc.classes(row.first()..row.next.max(row.first() + 1)).collect();
        let mut x = area.x;
        for cell in &row.cells {
            let at = row.base + u64::from(cell.start);
            let class = classes.iter().find(|(range, _)| range.contains(&at));
            let mut style = self.style(cell, class.map_or(Class::Kept, |(_, class)| *class));
            if self.differences().is_some_and(|found| found.hold(at)) {
                style = style.patch(self.shown.canvas.theme.warning).add_modifier(Modifier::UNDERLINED);
            }
            let next = found.partition_point(|range| range.end <= at);
            if found.get(next).is_some_and(|range| range.contains(&at)) {
                style = self.shown.canvas.theme.found;
            }
            if self.current.is_some_and(|range| range.contains(&at)) {
                style = self.shown.canvas.theme.current;
            }
            x = put(buffer, area, x, cell, style);
        }
        if let Some(states) = row.states {
            self.mark_states(buffer, area, x, states);
        }
    }

    /// Draws the number of states after the last one, or over its end if there is no room.
    fn mark_states(&self, buffer: &mut Buffer, area: Rect, x: u16, states: States) {
        let (theme, glyphs) = (&self.shown.canvas.theme, self.shown.canvas.glyphs());
        let mark = SafeText::from(format!("{} {}", glyphs.states, states.describe()));
        let width = (mark.columns() as u16).min(area.width);
        let after = if x > area.x { x + 2 } else { x };
        let x = after.min(area.right() - width);
        line::left(buffer, Rect { x, width, ..area }, mark, theme.dim);
    }

    fn style(&self, cell: &Cell, class: Class) -> Style {
        let theme = &self.shown.canvas.theme;
        class_style(class, theme)
            .patch(kind_style(cell.kind, theme).unwrap_or_else(|| theme.style(cell.look)))
    }
}

pub(crate) fn class_style(class: Class, theme: &Theme) -> Style {
    match class {
        Class::Notice => theme.warning,
        Class::Own => theme.dim,
        Class::Changed => theme.accent,
        Class::Kept => Style::new(),
    }
}

pub(crate) fn kind_style(kind: CellKind, theme: &Theme) -> Option<Style> {
    match kind {
        CellKind::Control => Some(theme.control),
        CellKind::Escape => Some(theme.dim),
        CellKind::Replaced => Some(theme.accent),
        _ => None,
    }
}

/// Draws a cell and returns the column after it. The text of a cell is always safe to draw.
pub(crate) fn put(buffer: &mut Buffer, area: Rect, x: u16, cell: &Cell, style: Style) -> u16 {
    let end = x + u16::from(cell.width);
    if !cell.kind.is_drawn() || end > area.x + area.width {
        return x;
    }
    let text = cell.text.as_str();
    if text.is_ascii() && text.len() > 1 {
        buffer.set_stringn(x, area.y, text, usize::from(cell.width), style);
        return end;
    }
    for column in x..end {
        if let Some(slot) = buffer.cell_mut((column, area.y)) {
            slot.reset();
            slot.set_style(style);
            if column == x {
                slot.set_symbol(text);
            }
        }
    }
    end
}
