//! The list of `overspill watch`: each output as an agent stores it, newest last, with what the model got of it.

mod screen;
mod update;
pub(crate) mod view;

use std::collections::VecDeque;
use std::path::PathBuf;

use crate::corpus::{ErrorsLost, WatchedGot, WatchedOutput};
use crate::text::label::SafeText;
use crate::text::search::Severity;

use super::event::Message;
use super::widget::canvas::Canvas;
use super::widget::cursor::ListCursor;
use super::widget::layout;

/// The list holds this many outputs at most; then the oldest makes room.
const MOST_ROWS: usize = 10_000;

/// The most columns of the screen for an agent's name.
const AGENT: usize = 14;

/// The screen of new outputs.
pub struct WatchScreen {
    /// The size and capabilities of the terminal.
    pub canvas: Canvas,
    /// The outputs, newest last.
    rows: VecDeque<WatchRow>,
    /// The selected row. On the last row the list follows: new outputs are selected as they come.
    cursor: ListCursor,
    /// What the outputs add up to, also those that made room.
    sums: WatchSums,
    /// The directories that are watched; `None` until they are known.
    watched: Option<WatchedDirs>,
    /// A message for the status line.
    pub message: Option<Message>,
}

/// An output in the list.
#[derive(Debug, Clone)]
struct WatchRow {
    path: PathBuf,
    agent: SafeText,
    id: SafeText,
    /// When it was stored, in local time.
    time: SafeText,
    /// Its size in bytes.
    size: u64,
    got: WatchedGot,
    found: Option<(Severity, ErrorsLost)>,
    /// Whether it is known which errors there are.
    is_known: bool,
    /// The line of the first lost error, or else the first line of the output.
    text: SafeText,
    /// The line at which it opens, 1-based.
    open_at: Option<u64>,
}

/// What the outputs add up to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct WatchSums {
    outputs: u64,
    cut: u64,
    errors_lost: u64,
}

/// The directories that are watched.
#[derive(Debug, Clone, PartialEq, Eq)]
struct WatchedDirs {
    there: Vec<SafeText>,
    /// The number of those that are not there.
    absent: usize,
}

impl WatchScreen {
    /// Creates an empty list.
    pub fn new(canvas: Canvas) -> Self {
        Self {
            canvas,
            rows: VecDeque::new(),
            cursor: ListCursor::default(),
            sums: WatchSums::default(),
            watched: None,
            message: None,
        }
    }

    /// Whether new outputs are selected as they come: nobody has moved up from the newest.
    fn follows(&self) -> bool {
        self.newer() == 0
    }

    /// Returns the number of outputs after the selected one.
    fn newer(&self) -> usize {
        self.rows.len().saturating_sub(self.cursor.chosen.saturating_add(1))
    }

    fn chosen(&self) -> Option<&WatchRow> {
        self.rows.get(self.cursor.chosen)
    }

    /// Returns the number of rows of the list on the screen.
    fn height(&self) -> usize {
        let (width, height) = self.canvas.size;
        usize::from(layout::watch(ratatui::layout::Rect::new(0, 0, width, height)).list.height)
    }
}

impl WatchRow {
    fn of(output: WatchedOutput) -> Self {
        let (found, is_known) = (output.found(), output.errors.is_some());
        let text = output.first_lost.unwrap_or(output.first_line);
        Self {
            path: output.entry.path(),
            agent: output.entry.agent().into(),
            id: SafeText::from_bytes(output.entry.id_bytes()),
            time: output.time.into(),
            size: output.entry.size(),
            got: output.got,
            found,
            is_known,
            text: text.trim().into(),
            open_at: output.open_at,
        }
    }

    /// Returns the number of errors, or of warnings if there is no error, that the model did not get.
    fn lost(&self) -> u64 {
        self.found.map_or(0, |(_, found)| found.lost)
    }
}
