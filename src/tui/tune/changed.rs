//! The list of the outputs that a setting cuts differently than the present one, the worst first.

use std::cmp::{Ordering, Reverse};
use std::path::PathBuf;
use std::sync::Arc;

use crate::base::human::{thousands, tokens};
use crate::corpus::tune::ChangedOutput;
use crate::corpus::{CorpusOutput, TuneRun};
use crate::rows::column::CellSide::{Left, Path, Right};
use crate::rows::column::{ListColumn, ListSpec, NAMES, RowCell, RowLook, Tone};
use crate::rows::outputs::{Peek, peek};
use crate::session::command::{command, one_line};
use crate::store::RecordedFile;
use crate::text::label::SafeText;
use crate::tui::event::ScreenEvent;
use crate::tui::footer::Footer;
use crate::tui::job::{JobContext, Slot};
use crate::tui::keys::KeyMap;
use crate::tui::list::List;
use crate::tui::list::screen::{ListContext, ListKind, ListTitle};
use crate::tui::popup::menu::Copyable;
use crate::tui::screen::{ChangedStart, Effects, Link, OpenRequest};
use crate::tui::target::StartView;

static SPEC: ListSpec<ChangedRow> = ListSpec {
    noun: "output",
    columns: &[
        ListColumn::new("agent", Left, 12, |row: &ChangedRow, _| RowCell::plain(row.agent.clone())).yields(1),
        ListColumn::new("output", Path, 30, |row: &ChangedRow, _| RowCell::plain(row.name.clone())),
        // Rows come in this order.
        ListColumn::new("kept", Right, 21, kept)
            .sorts('k', ["worst first", "best first"], |_, _| Ordering::Equal),
        ListColumn::new("tokens", Right, 17, |row: &ChangedRow, _| {
            let [now, then] = [row.changed.now, row.changed.then].map(|under| tokens(under.preview_bytes));
            RowCell::plain(format!("{now} → {then}"))
        })
        .sorts('t', ["most first", "fewest first"], |a, b| {
            let bytes = |row: &ChangedRow| Reverse(row.changed.then.preview_bytes);
            bytes(a).cmp(&bytes(b))
        }),
        ListColumn::new("change", Left, 0, |row: &ChangedRow, _| RowCell::plain(row.changed.describe()))
            .sorts('c', NAMES, |a, b| a.changed.describe().cmp(&b.changed.describe())),
    ],
    groups: &[],
    words: &[],
    known: |row| row.path.display().to_string(),
    key: |row| row.changed.number as u64,
    sum: |_| String::new(),
    mark: |_| RowCell::plain(" "),
};

#[derive(Debug, Clone)]
pub(crate) struct ChangedRow {
    agent: SafeText,
    name: SafeText,
    path: PathBuf,
    changed: ChangedOutput,
}

pub(crate) enum ChangedEvent {
    Grew(Arc<TuneRun>),
    /// The outputs under this setting were put in order: how many there are, and the worst of them.
    Ordered(Arc<TuneRun>, usize, u64, Vec<ChangedRow>),
}

impl ScreenEvent for ChangedEvent {}

#[derive(Debug, Default)]
pub(crate) struct ChangedList {
    start: Option<ChangedStart>,
    all: Option<u64>,
}

impl ListKind for ChangedList {
    type Row = ChangedRow;
    type Event = ChangedEvent;
    const SPEC: &'static ListSpec<ChangedRow> = &SPEC;

    fn footer(&self, _: &List<ChangedRow>) -> Footer {
        Footer::CHANGED_OUTPUTS
    }

    fn title(&self, list: &List<ChangedRow>) -> ListTitle {
        let figures = self.all.map_or(String::new(), |all| match list.rows().len() as u64 {
            shown if shown < all => format!("the worst {} of {}", thousands(shown), thousands(all)),
            _ => format!("{} cut differently", thousands(all)),
        });
        let name = self.start.as_ref().map(|start| start.name.clone()).unwrap_or_default();
        ListTitle { place: &["Settings", "Outputs"], figures, name, ..ListTitle::default() }
    }

    fn empty(&self, list: &List<ChangedRow>, keys: &KeyMap) -> Vec<SafeText> {
        match self.all {
            None => vec!["putting the outputs in order…".into()],
            Some(_) if !list.rows().is_empty() => list.no_match("", keys),
            Some(_) => vec!["It cuts no output differently than the present setting.".into()],
        }
    }

    fn details(&self, list: &List<ChangedRow>) -> [SafeText; 2] {
        let (Some(row), Some(start)) = (list.chosen(), &self.start) else { return Default::default() };
        let ChangedOutput { now, then, matches: all, .. } = row.changed;
        let matches = start.matches;
        let kept = match all {
            0 => format!("has no {matches}"),
            _ => format!(
                "keeps {} of {} {matches} (now {})",
                thousands(then.kept_matches),
                thousands(all),
                thousands(now.kept_matches)
            ),
        };
        let change = row.changed.describe();
        let words = if change.is_empty() { kept } else { format!("{kept}; {change}") };
        [words.into(), SafeText::from_bytes(row.path.as_os_str().as_encoded_bytes())]
    }

    fn copyable(&self, row: &ChangedRow) -> Vec<Copyable> {
        vec![Copyable::path(row.path.as_os_str().as_encoded_bytes())]
    }

    fn open(&self, _: &List<ChangedRow>, row: &ChangedRow) -> Option<OpenRequest> {
        let start = self.start.as_ref()?;
        let under = start.run.policy(start.setting).map(|policy| Box::new(super::effective(policy.clone())));
        let start = StartView { under, ..StartView::default() };
        Some(OpenRequest { path: row.path.clone(), start, name: row.name.clone(), ..OpenRequest::default() })
    }

    fn serves(&self, link: &Link) -> bool {
        matches!(link, Link::Changed(_))
    }

    fn follow(&mut self, link: Link, on: ListContext<ChangedRow>) {
        let Link::Changed(start) = link else { return };
        *self = Self { start: Some(start), all: None };
        on.list.clear();
        self.ask_order(on.effects);
    }

    fn handle(&mut self, event: ChangedEvent, on: ListContext<ChangedRow>) {
        let Some(start) = &self.start else { return };
        match event {
            ChangedEvent::Grew(run) if Arc::ptr_eq(&start.run, &run) => self.ask_order(on.effects),
            ChangedEvent::Ordered(run, setting, all, rows)
                if Arc::ptr_eq(&start.run, &run) && start.setting == setting =>
            {
                self.all = Some(all);
                on.list.set_rows(rows);
            }
            _ => {}
        }
    }

    fn close(&mut self, on: ListContext<ChangedRow>) {
        *self = Self::default();
        on.list.clear();
    }
}

impl ChangedList {
    fn ask_order(&self, effects: &mut Effects) {
        let Some(ChangedStart { run, setting, .. }) = self.start.clone() else { return };
        effects.run(Slot::Other, move |context| order(run, setting, context));
    }
}

/// Puts the outputs in order that the setting of this number cuts differently, and reports them; and again with the
/// commands that sessions know.
fn order(run: Arc<TuneRun>, setting: usize, context: &JobContext) {
    let (all, worst) = run.changed(setting);
    let row = |changed: ChangedOutput| {
        let output = run.corpus.outputs.get(changed.number)?;
        let path = output.path().into_owned();
        let (agent, name, file) = match output {
            CorpusOutput::Entry(entry) => {
                let Peek { command, first_line, .. } = peek(entry, context.env());
                (entry.agent().into(), entry.called([command, first_line]), entry.recorded_file())
            }
            CorpusOutput::Named(path) | CorpusOutput::Found(path) => {
                let name = SafeText::from_bytes(path.as_os_str().as_encoded_bytes());
                let file = RecordedFile { path: path.clone(), ..RecordedFile::default() };
                (SafeText::default(), name, file)
            }
        };
        Some((ChangedRow { agent, name, path, changed }, file))
    };
    let (mut rows, files): (Vec<ChangedRow>, Vec<_>) = worst.into_iter().filter_map(row).unzip();
    let send = |rows| context.send(ChangedEvent::Ordered(Arc::clone(&run), setting, all, rows));
    send(rows.clone());
    context.services.sessions.find_all(&files, context.env(), &context.ticket, &mut |n, found| {
        let name = found.map(|(_, opened, call)| one_line(&command(opened.transcript(), call)).into());
        let name = name.filter(|name: &SafeText| !name.is_empty());
        name.into_iter().for_each(|name| rows[n].name = name);
    });
    send(rows);
}

/// How many of its matches are kept now, and how many under the setting: `0 of 2 → 0`.
fn kept(row: &ChangedRow, _: &RowLook) -> RowCell {
    let [now, then] = [row.changed.now, row.changed.then].map(|under| under.kept_matches);
    let tone = if then < now { Tone::Warning } else { Tone::Plain };
    match row.changed.matches {
        0 => RowCell::dim("–"),
        all => RowCell::new(format!("{} of {} → {}", thousands(now), thousands(all), thousands(then)), tone),
    }
}
