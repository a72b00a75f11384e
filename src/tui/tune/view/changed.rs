//! The columns, rows and details of the list of outputs that a setting cuts otherwise.

use std::path::Path;

use crate::corpus::CorpusOutput;
use crate::human::{thousands, tokens};
use crate::text::label::SafeText;
use crate::tui::tune::TuneScreen;
use crate::tui::tune::changed::ChangedView;
use crate::tui::tune::table::TuneTable;
use crate::tui::widget::line::Span;
use crate::tui::widget::table::{CellSide, ListTableRow, TableColumn, column};
use crate::tune::{ChangedOutput, UnderSetting};

pub(super) fn columns(table: &TuneTable) -> Vec<TableColumn> {
    vec![
        column("agent", CellSide::Left, 12, Some(1)),
        column("output", CellSide::Path, 30, None),
        column(table.finds(), CellSide::Right, 21, None),
        column("tokens", CellSide::Right, 17, None),
        column("change", CellSide::Left, 0, None),
    ]
}

/// Returns the words of the title.
pub(super) fn title(table: &TuneTable, view: &ChangedView) -> String {
    let setting = table
        .grid()
        .and_then(|(policy, grid)| Some(grid.settings.get(view.setting)?.words(policy.policy.unit())));
    let setting = setting.unwrap_or_default();
    let Some((all, worst)) = &view.outputs else { return setting };
    let worst = match worst.len() as u64 {
        shown if shown < *all => format!("the worst {} of ", thousands(shown)),
        _ => String::new(),
    };
    format!("{setting} · {worst}{} cut otherwise than now", thousands(*all))
}

pub(super) fn rows(screen: &TuneScreen, view: &ChangedView, height: usize) -> Vec<ListTableRow> {
    let outputs = screen.corpus().map_or(&[][..], |corpus| &corpus.outputs);
    let shown = view.rows().get(view.cursor.rows(view.len(), height)).unwrap_or_default();
    let widest = |of: fn(&ChangedOutput) -> String| shown.iter().map(|one| of(one).len()).max().unwrap_or(0);
    let widths = (widest(finds_then), widest(tokens_then));
    let row = |changed: &ChangedOutput| {
        let output = outputs.get(changed.number)?;
        Some(ListTableRow::Cells(Span::plain(" "), cells(screen, output, changed, widths)))
    };
    shown.iter().filter_map(row).collect()
}

fn finds_then(changed: &ChangedOutput) -> String {
    thousands(changed.then.kept_finds)
}

fn tokens_then(changed: &ChangedOutput) -> String {
    tokens(changed.then.preview_bytes)
}

fn cells(
    screen: &TuneScreen,
    output: &CorpusOutput,
    changed: &ChangedOutput,
    (finds, tokens_width): (usize, usize),
) -> Vec<Span> {
    let (theme, arrow) = (&screen.canvas.theme, screen.canvas.glyphs().arrow);
    let (agent, name) = match output {
        CorpusOutput::Entry(entry) => (entry.agent().to_owned(), SafeText::from_bytes(entry.id().as_bytes())),
        CorpusOutput::Named(path) | CorpusOutput::Found(path) => (String::new(), path_text(path)),
    };
    let is_worse = changed.then.kept_finds < changed.now.kept_finds;
    let now = (thousands(changed.now.kept_finds), tokens(changed.now.preview_bytes));
    vec![
        Span::plain(agent),
        Span::plain(name),
        Span::new(
            format!("{} {arrow} {:>finds$}", now.0, finds_then(changed)),
            if is_worse { theme.warning } else { theme.bar },
        ),
        Span::plain(format!("{} {arrow} {:>tokens_width$}", now.1, tokens_then(changed))),
        Span::plain(change_in_words(changed)),
    ]
}

fn path_text(path: &Path) -> SafeText {
    SafeText::from_bytes(path.as_os_str().as_encoded_bytes())
}

/// Describes what is lost and what is won: `loses the end`.
fn change_in_words(changed: &ChangedOutput) -> String {
    let lost = |under: &UnderSetting| [under.lost_all, under.lost_first_error, under.lost_last_line];
    let parts = ["everything", "the first error", "the end"];
    let (now, then) = (lost(&changed.now), lost(&changed.then));
    let list = |lost: bool| {
        let is_so = |part: &usize| then[*part] == lost && now[*part] != lost;
        (0..parts.len()).filter(is_so).map(|part| parts[part]).collect::<Vec<_>>().join(", ")
    };
    let parts = [("loses", list(true)), ("gains", list(false))];
    let parts = parts.into_iter().filter(|(_, list)| !list.is_empty());
    parts.map(|(verb, list)| format!("{verb} {list}")).collect::<Vec<_>>().join("; ")
}

/// Returns two lines about the selected output.
pub(super) fn details(screen: &TuneScreen, view: &ChangedView) -> [SafeText; 2] {
    let outputs = screen.corpus().map_or(&[][..], |corpus| &corpus.outputs);
    let Some((changed, output)) =
        view.chosen().and_then(|changed| Some((changed, outputs.get(changed.number)?)))
    else {
        return Default::default();
    };
    let words = change_in_words(changed);
    let finds = screen.shown().map_or("", TuneTable::finds);
    let (then, now) = (changed.then.kept_finds, changed.now.kept_finds);
    let kept = match changed.finds {
        0 => format!("has no {finds}"),
        all => format!("keeps {} of {} {finds} (now {})", thousands(then), thousands(all), thousands(now)),
    };
    let words = if words.is_empty() { kept } else { format!("{kept}; {words}") };
    [words.into(), path_text(&output.path())]
}
