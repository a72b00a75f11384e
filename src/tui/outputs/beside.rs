//! What is shown of the selected row: its output beside the list, and its facts with their links.

use std::path::PathBuf;
use std::time::Duration;

use ratatui::layout::Rect;

use crate::base::human::{NamedFact, count, size};
use crate::output::recorded::ReadyCall;
use crate::output::{OpenOutput, Target};
use crate::rows::outputs::{self, OutputRow};
use crate::session::call_details::TitledText;
use crate::session::examine::{CallInspector, Paths};
use crate::session::model::Call;
use crate::session::spill::CitingCall;
use crate::source::{FileLock, Identity};
use crate::store::{EntryStatus, RecordedFile};
use crate::text::label::SafeText;
use crate::tui::job::{JobContext, Pace, Slot};
use crate::tui::list::List;
use crate::tui::list::screen::PanelFrame;
use crate::tui::pager::text_box::ListFacts;
use crate::tui::pager::view::pane;
use crate::tui::screen::{Effects, Link};
use crate::tui::widget::canvas::Canvas;
use crate::tui::widget::layout::{self, ListPanel};
use crate::tui::widget::line;

use super::{Outputs, OutputsEvent};

/// How long the screen waits for the preview beside the list: a frame. A key held down repeats about every 30 ms.
pub(crate) const BESIDE: Duration = Duration::from_millis(15);

pub struct SidePreview {
    pub of: (PathBuf, Identity),
    /// Whether its call was known when the preview was asked for, which is then what was recorded of that.
    pub is_recorded: bool,
    /// The output, or why it cannot be shown; `None` until it is planned.
    pub output: Option<Result<Box<OpenOutput>, SafeText>>,
}

impl Outputs {
    pub(super) fn ask_beside(&mut self, list: &List<OutputRow>, canvas: &Canvas, effects: &mut Effects) {
        let (columns, rows) = canvas.size;
        let area = Rect::new(0, 0, columns, rows);
        let Some(row) = list.chosen().filter(|_| layout::list(area, ListPanel::Beside).panel.is_some())
        else {
            return;
        };
        let (of, is_recorded) = ((row.entry.path(), row.entry.identity), row.call().is_some());
        let before = self.beside.as_ref().filter(|beside| beside.of == of);
        if before.is_some_and(|beside| beside.is_recorded || !is_recorded) {
            return;
        }
        if row.entry.status != EntryStatus::Ok {
            let words = format!("not shown: {}", row.entry.status.describe());
            self.beside = Some(SidePreview { of, is_recorded, output: Some(Err(words.into())) });
            return;
        }
        let (call, file) = (row.call().cloned(), row.entry.recorded_file());
        let output = self.beside.take_if(|beside| beside.of == of).and_then(|beside| beside.output);
        self.beside = Some(SidePreview { of: of.clone(), is_recorded, output });
        effects.run_at(Pace::Soon(BESIDE), Slot::PlanBeside, move |context| {
            let output = match (context.services.open)(&of.0, FileLock::None) {
                Ok(Target { subject, source, .. }) => {
                    let mut output = OpenOutput::counted_now(subject, source.view());
                    let record = call.and_then(|call| read_record(&call, &file, context));
                    record.into_iter().for_each(|record| output.attach(record));
                    let Some(planned) = output.task().run(&|| context.is_wanted()) else { return };
                    output.accept(planned);
                    Ok(Box::new(output))
                }
                Err(why) => Err(why.into()),
            };
            context.send(OutputsEvent::Previewed(SidePreview { of, is_recorded, output: Some(output) }));
        });
    }
}

/// Reads what was recorded of the call that names an output; `None` if that cannot be shown.
fn read_record(of: &CitingCall, file: &RecordedFile, context: &JobContext) -> Option<ReadyCall> {
    let read = |session: CallInspector| {
        let (session, name) =
            (CallInspector { copy: file.copy.as_deref(), ..session }, file.path.file_name());
        // The calls of several threads may have one id.
        let is_cited = |call: &Call| call.cites.iter().any(|cite| cite.path.file_name() == name);
        let mut calls = session.transcript.calls.iter();
        let call = calls.find(|call| *call.id == *of.call && is_cited(call))?;
        ReadyCall::read(&session, call, Paths::Known, Some(session.verify(call))).ok()
    };
    context.services.inspect(&of.file, &context.ticket, read).ok()?
}

pub(super) fn draw(beside: Option<&SidePreview>, list: &List<OutputRow>, on: PanelFrame) {
    let Some(row) = list.chosen() else { return };
    let head = Rect { height: on.area.height.min(1), ..on.area };
    let name = SafeText::from(format!(" {}", row.name())).head(head.width.into());
    line::left(on.buffer, head, name, on.canvas.theme.active);
    let below = Rect { y: head.bottom(), height: on.area.height - head.height, ..on.area };
    let beside = beside.filter(|beside| beside.of == (row.entry.path(), row.entry.identity));
    match beside.and_then(|beside| beside.output.as_ref()) {
        Some(Ok(output)) => {
            pane::draw(&pane::PaneView::beside(output, *on.canvas), on.buffer, below, on.cost);
        }
        Some(Err(why)) => line::centred(on.buffer, below, [why.clone()], on.canvas.theme.dim),
        None => {}
    }
}

impl ListFacts for Outputs {
    fn facts(&self, list: &List<OutputRow>) -> (Vec<NamedFact>, Option<&[TitledText]>) {
        let Some(row) = list.chosen() else { return (Vec::new(), Some(&[])) };
        let (entry, call) = (&row.entry, row.call());
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let [_, state] = outputs::details(row, self.user, &list.look);
        let facts = vec![
            ("command", text(row.written_command())),
            ("id", entry.id().into_owned()),
            ("file", entry.path().to_string_lossy().into_owned()),
            ("size", format!("{} ({})", size(entry.size()), count(entry.size(), "byte"))),
            ("agent", entry.agent().to_owned()),
            ("tool", text(row.tool())),
            ("project", text(entry.project())),
            ("session", text(call.map(|call| &*call.file.id).or(entry.session()))),
            ("call", text(call.map(|call| &*call.call))),
            ("state", state.to_string()),
        ];
        (facts, Some(&[]))
    }

    fn link(&self, list: &List<OutputRow>, name: &str) -> Option<Link> {
        Link::in_session(name, list.chosen()?.call()?)
    }
}
