//! Draws the calls of a session.

use jiff::tz::TimeZone;

use crate::human::{count, size, thousands, tokens};
use crate::session::model::{CallStatus, CutState};
use crate::session::verdict::{Against, Verdict};
use crate::text::label::SafeText;
use crate::tui::sessions::SessionsScreen;
use crate::tui::sessions::calls::{CallList, ReadingState};
use crate::tui::sessions::order::CALL_COLUMNS;
use crate::tui::sessions::rows::CallRow;
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::line::Span;
use crate::tui::widget::table::{CellSide, ListTableRow, TableColumn, column};
use crate::tui::widget::theme::Theme;

/// The columns in so many columns of the screen; the last takes what is left.
pub(super) fn columns(width: u16) -> Vec<TableColumn> {
    let mut columns = COLUMNS.to_vec();
    columns.iter_mut().filter(|column| column.heading == STATE).for_each(|column| column.most = state(width));
    columns
}

/// Returns the most columns of the screen for the state of a call.
fn state(width: u16) -> usize {
    if width < WIDE { SHORT_STATE } else { LONG_STATE }
}

/// From this many columns on, the state of a call has room for all that it can be.
const WIDE: u16 = 120;
/// The most columns for the state of a call: `another file, compacted later, also in 12 sessions`, and `spill here, in 12
/// sessions`.
const LONG_STATE: usize = 52;
const SHORT_STATE: usize = 26;
const STATE: &str = "state";

const COLUMNS: &[TableColumn] = &[
    column("time", CellSide::Left, 8, Some(4)),
    column("thread", CellSide::Left, 16, Some(3)),
    column("tool", CellSide::Left, 18, None),
    column("got", CellSide::Right, 8, None),
    column("of", CellSide::Right, 8, None),
    column("", CellSide::Left, 1, None),
    column("cut by", CellSide::Left, 14, Some(2)),
    column(STATE, CellSide::Left, SHORT_STATE, Some(5)),
    column("command", CellSide::Left, 0, None),
];

pub(super) fn rows(screen: &SessionsScreen, calls: &CallList, height: usize) -> Vec<ListTableRow> {
    let row = |index| calls.rows().get(index).map_or_else(Vec::new, |row| cells(&screen.canvas, row));
    let cells = calls.on_screen(height).map(row);
    cells.map(|cells| ListTableRow::Cells(Span::plain(" "), cells)).collect()
}

fn cells(canvas: &Canvas, row: &CallRow) -> Vec<Span> {
    let theme = &canvas.theme;
    let time =
        row.at.map_or("–".into(), |at| at.to_zoned(TimeZone::system()).strftime("%H:%M:%S").to_string());
    let sizes = row.sizes.clone().unwrap_or_default();
    let waiting = if row.sizes.is_none() { "…" } else { "–" };
    let got = sizes.got.map_or_else(|| waiting.to_owned(), size);
    let whole = sizes.whole.filter(|_| row.is_cut()).map_or_else(String::new, size);
    let is_lost = row.cut == CutState::Lost || row.cut == CutState::Spill && sizes.spill == Some("gone");
    let is_bad = is_lost || row.status == CallStatus::Failed;
    vec![
        Span::new(time, theme.dim),
        Span::new(row.thread.clone(), theme.dim),
        Span::plain(row.tool.clone()),
        Span::plain(got),
        Span::plain(whole),
        mark(theme, row),
        Span::new(cut_by(row), theme.dim),
        Span::new(row.state_within(state(canvas.size.0)), if is_bad { theme.warning } else { theme.dim }),
        Span::plain(sizes.command),
    ]
}

/// Returns whether a policy makes the same text, as a mark.
fn mark(theme: &Theme, row: &CallRow) -> Span {
    match &row.verdict {
        _ if !row.is_partial() => Span::default(),
        None => Span::new("…", theme.dim),
        Some(verdict @ Verdict::Differs(_)) => Span::new(verdict.mark(), theme.warning),
        Some(verdict) => Span::new(verdict.mark(), theme.dim),
    }
}

/// Returns the limit that cut the output, and the tool whose policy that is, if it is proven.
fn cut_by(row: &CallRow) -> String {
    match &row.verdict {
        Some(Verdict::Equal { policy, by, .. }) => {
            let tool = policy.split('/').next_back().unwrap_or_default();
            by.map_or_else(|| tool.to_owned(), |by| format!("{by} · {tool}"))
        }
        _ => String::new(),
    }
}

/// Returns the words of the title: the agent, and how many calls there are.
pub(super) fn title(calls: &CallList) -> String {
    let (all, shown) = (calls.rows().len() as u64, calls.len() as u64);
    let figures = match (&calls.state, calls.filter_text()) {
        (ReadingState::Reading(percent), _) => format!("reading… {percent}%"),
        (ReadingState::Failed(_), _) => "not readable".into(),
        (ReadingState::Read, "") => {
            let cut = calls.rows().iter().filter(|row| row.is_cut()).count() as u64;
            format!("{}, {} cut", count(all, "call"), thousands(cut))
        }
        (ReadingState::Read, _) => format!("{} of {}", thousands(shown), count(all, "call")),
    };
    format!("{} · {figures}", calls.agent)
}

/// Returns the order in words.
pub(super) fn order(calls: &CallList) -> String {
    let (column, reversed) = calls.sort();
    CALL_COLUMNS
        .get(column)
        .map_or_else(String::new, |column| format!("sort: {}, {}", column.name, column.order(reversed)))
}

/// Returns two lines about the selected call.
pub(super) fn details(calls: &CallList) -> [SafeText; 2] {
    let Some(row) = calls.chosen() else { return [SafeText::default(), calls.unread.clone()] };
    let sizes = row.sizes.clone().unwrap_or_default();
    let evidence = sizes.evidence.or(row.evidence).map_or("no result recorded", |evidence| evidence.as_str());
    let got = sizes.got.map(|got| format!("got {} ({} tokens)", size(got), tokens(got)));
    let state = Some(row.state()).filter(|state| !state.is_empty());
    let parts = [Some(evidence.to_owned()), got, state, row.verdict.as_ref().map(in_words)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let second = if calls.unread.is_empty() {
        SafeText::from(format!("{} {}", row.tool, sizes.command))
    } else {
        calls.unread.clone()
    };
    [SafeText::from(parts.join(" · ")), second]
}

fn in_words(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Equal { policy, against: Against::Witness, .. } => {
            format!("≈ {policy}, by a witness")
        }
        Verdict::Equal { policy, .. } => format!("= {policy}"),
        Verdict::Differs(difference) => match &difference.fits {
            Some(fits) => format!("≠ equal to {fits}, of another version"),
            None => format!("≠ {} from byte {}", difference.policy, thousands(difference.at + 1)),
        },
        Verdict::Unchecked(why) => format!("? {why}"),
    }
}
