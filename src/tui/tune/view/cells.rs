//! The columns, rows and details of the tables: settings of a policy, and policies.

use ratatui::style::Style;

use crate::config::EffectivePolicy;
use crate::human::{count, limit, thousands, tokens};
use crate::preview::{Direction, Unit};
use crate::text::label::SafeText;
use crate::tui::keys::{Action, KeyContext};
use crate::tui::tune::TuneScreen;
use crate::tui::tune::table::{TuneState, TuneTable};
use crate::tui::widget::layout::WIDE;
use crate::tui::widget::line::Span;
use crate::tui::widget::table::{CellSide, ListTableRow, TableColumn, column};
use crate::tune::{SettingFigures, TuneGrid, TuneSetting, share_in_words};

/// The heading over what a move to each setting buys, on wide screens.
const MOVE: &str = "what a move to it buys";

pub(super) fn settings(table: &TuneTable, policy: &EffectivePolicy, width: u16) -> Vec<TableColumn> {
    let size = match policy.policy.unit() {
        Unit::Bytes => "size",
        unit => unit.words(),
    };
    let own = [
        column("keeps", CellSide::Left, 6, None),
        column("lines", CellSide::Right, 11, None),
        column(size, CellSide::Right, 14, None),
    ];
    own.into_iter()
        .chain(sums(table))
        .chain([column(if width < WIDE { "" } else { MOVE }, CellSide::Left, 0, None)])
        .collect()
}

pub(super) fn policies(table: &TuneTable) -> Vec<TableColumn> {
    let own = [column("policy", CellSide::Left, 24, None)];
    own.into_iter().chain(sums(table)).chain([column("limits", CellSide::Left, 0, None)]).collect()
}

/// Returns the columns of the figures.
fn sums(table: &TuneTable) -> [TableColumn; 8] {
    [
        column(table.finds(), CellSide::Right, 11, Some(2)),
        column("kept", CellSide::Right, 11, None),
        column("tokens", CellSide::Right, 7, None),
        column("median", CellSide::Right, 7, Some(1)),
        column("cut", CellSide::Right, 9, None),
        column("lost: end", CellSide::Right, 9, None),
        column("first", CellSide::Right, 9, None),
        column("all", CellSide::Right, 9, None),
    ]
}

fn sum_cells(screen: &TuneScreen, table: &TuneTable, of: &SettingFigures) -> [Span; 8] {
    let theme = &screen.canvas.theme;
    let shown = |number: u64| tokens(number.saturating_mul(4));
    // What is lost stands out; that nothing is does not.
    let loss = |number: u64| Span::new(thousands(number), if number > 0 { theme.warning } else { theme.dim });
    [
        Span::plain(thousands(of.kept_finds)),
        Span::plain(share_in_words(of.kept_finds, table.figures.finds)),
        Span::plain(shown(of.tokens)),
        Span::new(shown(of.tokens_median), theme.dim),
        Span::plain(thousands(of.cut)),
        loss(of.lost_last_line),
        loss(of.lost_first_error),
        loss(of.lost_all),
    ]
}

/// Returns the rows of settings on a screen of `height` rows.
pub(super) fn setting_rows(
    screen: &TuneScreen,
    table: &TuneTable,
    (policy, grid): (&EffectivePolicy, &TuneGrid),
    height: usize,
) -> Vec<ListTableRow> {
    let row = |number: &usize| {
        let setting = grid.settings.get(*number)?;
        let mark = match () {
            () if *number == grid.current => "*",
            () if screen.is_applied(&policy.policy, setting) => "+",
            () => " ",
        };
        let figures = sum_cells(screen, table, &table.figures_of(*number));
        let cells = limit_cells(setting, policy.policy.unit()).into_iter().chain(figures);
        let mark = Span::new(mark, screen.canvas.theme.accent);
        let is_told = screen.canvas.size.0 >= WIDE && *number != grid.current && table.figures.finds > 0;
        let buys = if is_told { buys(table, *number, 0) } else { SafeText::default() };
        let buys = Span::new(buys, screen.canvas.theme.dim);
        Some(ListTableRow::Cells(mark, cells.chain([buys]).collect()))
    };
    let shown = table.cursor.rows(table.rows.len(), height);
    table.rows.get(shown).unwrap_or_default().iter().filter_map(row).collect()
}

fn limit_cells(setting: &TuneSetting, unit: Unit) -> [Span; 3] {
    let size = |size: u64| if unit == Unit::Bytes { limit(size) } else { thousands(size) };
    [
        setting.direction.map(Direction::as_str).unwrap_or_default().to_owned(),
        setting.max_lines.map(thousands).unwrap_or_default(),
        setting.max_size.map(size).unwrap_or_default(),
    ]
    .map(Span::plain)
}

/// Returns the rows of policies on a screen of `height` rows.
pub(super) fn policy_rows(screen: &TuneScreen, table: &TuneTable, height: usize) -> Vec<ListTableRow> {
    let row = |number: &usize| {
        let found = table.listed_policies().get(*number)?;
        let own = [Span::plain(found.policy.name())];
        let figures = sum_cells(screen, table, &table.figures_of(*number));
        let limits = Span::new(limits(found), screen.canvas.theme.dim);
        let cells = own.into_iter().chain(figures).chain([limits]).collect();
        Some(ListTableRow::Cells(Span::new(" ", Style::new()), cells))
    };
    let shown = table.cursor.rows(table.rows.len(), height);
    table.rows.get(shown).unwrap_or_default().iter().filter_map(row).collect()
}

fn limits(found: &EffectivePolicy) -> String {
    TuneSetting::of(&found.policy).words(found.policy.unit())
}

/// Returns two lines about the selected row.
pub(super) fn details(screen: &TuneScreen, table: &TuneTable, room: usize) -> [SafeText; 2] {
    let Some(number) = table.chosen().filter(|_| table.figures.outputs > 0) else {
        return Default::default();
    };
    if matches!(table.state, TuneState::Failed(_) | TuneState::Empty(_)) {
        return Default::default();
    }
    match table.grid() {
        Some(found) => setting_details(screen, table, (number, room), found),
        None => policy_details(table, number),
    }
}

fn setting_details(
    screen: &TuneScreen,
    table: &TuneTable,
    (number, room): (usize, usize),
    (policy, grid): (&EffectivePolicy, &TuneGrid),
) -> [SafeText; 2] {
    let figures = &table.figures;
    if figures.finds == 0 {
        return [
            "Nothing in these outputs matches, so the fewest tokens are best.".into(),
            buys(table, number, room),
        ];
    }
    if number == grid.current {
        let now = share_in_words(table.figures_of(number).kept_finds, figures.finds);
        let from = format!("{} (limits from: {})", limits(policy), policy.limits_from);
        let others = match crate::tune::frontier(&figures.settings, grid.current).as_slice() {
            [only] if *only == number => "no other setting keeps more, nor as much for fewer tokens",
            best if best.contains(&number) => "no other setting keeps as much for fewer tokens",
            _ => "other settings keep as much for fewer tokens",
        };
        return [format!("now: {from}").into(), format!("keeps {now} of {}; {others}", table.finds()).into()];
    }
    let outputs = screen.canvas.keys.of(KeyContext::Tune, Action::Outputs);
    let changed = figures.changed.get(number).copied().unwrap_or_default();
    let of = count(figures.outputs, "output");
    let changed = format!("cuts {} of {of} otherwise than now; {outputs} lists them", thousands(changed));
    [buys(table, number, room), changed.into()]
}

/// Describes what a move to a setting buys. Where that does not fit, the row alone names the setting.
fn buys(table: &TuneTable, number: usize, room: usize) -> SafeText {
    let words = SafeText::from(table.buys(number).unwrap_or_default());
    match words.split_once(": ") {
        Some((_, rest)) if words.columns() > room => rest.to_owned().into(),
        _ => words,
    }
}

fn policy_details(table: &TuneTable, number: usize) -> [SafeText; 2] {
    let Some(found) = table.listed_policies().get(number) else { return Default::default() };
    let limits = format!("{} · limits from: {}", limits(found), found.limits_from);
    let words = format!("{}: {}", found.policy.name(), found.policy.summary());
    [words.into(), limits.into()]
}
