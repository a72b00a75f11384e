//! The columns of the policy picker: as many as there is room for, each as wide as its widest cell.

use ratatui::style::Style;

use crate::compare::Comparison;
use crate::config::EffectivePolicy;
use crate::human::{limit_in, lines, size, thousands, tokens};
use crate::text::label::SafeText;
use crate::text::search::MatchCounts;
use crate::tui::pager::Pager;
use crate::tui::widget::glyphs::Glyphs;
use crate::tui::widget::line::{self, Span};

/// The widest name of a policy that is shown whole if other columns need the room.
const NAME: usize = 24;

/// A column besides the name, in the order on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Finds,
    Lines,
    Bytes,
    Tokens,
    Keeps,
    Errors,
    CutBy,
    Limits,
}

/// All columns in the order on the screen.
const ORDER: [Figure; 8] = [
    Figure::Finds,
    Figure::Errors,
    Figure::Lines,
    Figure::Bytes,
    Figure::Tokens,
    Figure::Keeps,
    Figure::CutBy,
    Figure::Limits,
];

/// The same, the most telling first.
const NEED: [Figure; 8] = [
    Figure::Lines,
    Figure::Tokens,
    Figure::Finds,
    Figure::Keeps,
    Figure::Errors,
    Figure::Bytes,
    Figure::CutBy,
    Figure::Limits,
];

impl Figure {
    fn head(self) -> &'static str {
        match self {
            Figure::Finds => "finds",
            Figure::Lines => "lines",
            Figure::Bytes => "bytes",
            Figure::Tokens => "tokens",
            Figure::Keeps => "keeps",
            Figure::Errors => "errors",
            Figure::CutBy => "cut by",
            Figure::Limits => "limits",
        }
    }

    fn is_number(self) -> bool {
        matches!(self, Figure::Finds | Figure::Errors | Figure::Lines | Figure::Bytes | Figure::Tokens)
    }
}

/// Writes the cells of the table.
pub(crate) struct FigureCells<'a> {
    pager: &'a Pager,
}

impl<'a> FigureCells<'a> {
    /// Creates the writer for the rows of an output.
    pub(crate) fn new(pager: &'a Pager) -> Self {
        Self { pager }
    }

    fn row(&self, choice: &EffectivePolicy) -> Option<&'a Comparison> {
        self.pager.comparisons.row(choice.policy.name())
    }

    /// Returns a cell: `…` for what is still being made or counted, `–` for what does not exist.
    fn cell(&self, figure: Figure, choice: &EffectivePolicy) -> SafeText {
        if figure == Figure::Limits {
            return limits(choice).into();
        }
        let Some(row) = self.row(choice) else { return "…".into() };
        let number = |number: Option<u64>, words: fn(u64) -> String| match number {
            Some(number) => words(number),
            None if row.lacks.is_empty() => "–".to_owned(),
            None => "…".to_owned(),
        };
        SafeText::from(match figure {
            Figure::Finds => self.finds(row, row.finds_kept, &self.pager.find.tally.counts),
            Figure::Errors => {
                self.finds(row, row.errors_kept, &self.pager.errors.tally(self.pager.severity()).counts)
            }
            Figure::Lines => number(row.kept_lines, thousands),
            Figure::Bytes => number(row.kept_bytes, size),
            Figure::Tokens => number(row.preview_bytes, |bytes| format!("{} tok", tokens(bytes))),
            Figure::Keeps => row.keeps.map_or("–", |keeps| keeps.as_str()).to_owned(),
            Figure::CutBy => row.cut_by().to_owned(),
            Figure::Limits => String::new(),
        })
    }

    /// Formats the matches that the model gets, of all: `2/14`, with `+` while they are being counted.
    fn finds(&self, row: &Comparison, kept: Option<u64>, counts: &MatchCounts) -> String {
        let more = if counts.counted_bytes() < self.pager.output.view.len() { "+" } else { "" };
        match kept {
            Some(kept) => format!("{}/{}{more}", thousands(kept), thousands(counts.total())),
            None if row.is_ok() => "…".to_owned(),
            None => "–".to_owned(),
        }
    }
}

/// The columns that fit, with their widths.
pub(crate) struct FigureColumns {
    name: usize,
    figures: Vec<(Figure, usize)>,
}

impl FigureColumns {
    /// Chooses the columns for these policies on a line of `room` columns.
    pub(crate) fn fitting(cells: &FigureCells, choices: &[&EffectivePolicy], room: usize) -> Self {
        let widest = choices.iter().map(|choice| name(choice).columns()).max().unwrap_or(0);
        let least = widest.min(NAME);
        let mut left = room.saturating_sub(least + 2);
        let pager = cells.pager;
        let is_wanted = |figure: &Figure| match figure {
            Figure::Finds => pager.find.pattern.is_some(),
            Figure::Errors => pager.errors.tally(pager.severity()).counts.total() > 0,
            _ => true,
        };
        let mut chosen = Vec::new();
        for figure in NEED.into_iter().filter(is_wanted) {
            let widths = choices.iter().map(|choice| match figure {
                // A refusal may be a sentence; it is shown across the row.
                Figure::CutBy if cells.row(choice).is_some_and(|row| !row.is_ok()) => 0,
                _ => cells.cell(figure, choice).columns(),
            });
            let width = widths.max().unwrap_or(0).max(figure.head().len());
            if width + 2 > left {
                break;
            }
            left -= width + 2;
            chosen.push((figure, width));
        }
        let of = |figure| chosen.iter().find(|(one, _)| *one == figure).copied();
        Self { name: (least + left).min(widest), figures: ORDER.into_iter().filter_map(of).collect() }
    }

    pub(crate) fn heading(&self, style: Style) -> Vec<Span> {
        let mut text = format!("  {:<width$}", "policy", width = self.name);
        for (figure, width) in &self.figures {
            text += &padded(figure.head().into(), *figure, *width);
        }
        vec![Span::new(text, style)]
    }

    /// Returns a row, after its mark. A policy that made no preview says why instead of figures.
    pub(crate) fn row(
        &self,
        cells: &FigureCells,
        choice: &EffectivePolicy,
        glyphs: &Glyphs,
        style: Style,
    ) -> Vec<Span> {
        let mut spans = vec![Span::new(line::head(name(choice), self.name, glyphs).padded(self.name), style)];
        match cells.row(choice).filter(|row| !row.is_ok()) {
            Some(row) => {
                let room = self.figures.iter().map(|(_, width)| width + 2).sum::<usize>().saturating_sub(2);
                let words = line::head(row.cut_by(), room, glyphs);
                spans.extend([Span::plain("  "), Span::new(words, style)]);
            }
            None => spans.extend(self.figures.iter().map(|(figure, width)| {
                Span::new(padded(cells.cell(*figure, choice), *figure, *width), style)
            })),
        }
        spans
    }
}

/// Puts a cell into its column, two columns after the one before.
fn padded(text: SafeText, figure: Figure, width: usize) -> String {
    let space = " ".repeat(width.saturating_sub(text.columns()));
    if figure.is_number() { format!("  {space}{text}") } else { format!("  {text}{space}") }
}

fn name(choice: &EffectivePolicy) -> SafeText {
    choice.policy.name().into()
}

/// Formats the limits: `2,000 lines, 50 KB`.
pub(crate) fn limits(choice: &EffectivePolicy) -> String {
    let policy = &choice.policy;
    let most = policy.max_size().map(|most| limit_in(most, policy.unit().words()));
    policy.max_lines().map(lines).into_iter().chain(most).collect::<Vec<_>>().join(", ")
}
