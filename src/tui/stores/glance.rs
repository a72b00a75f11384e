//! The preview of the selected entry, shown beside the list.

use std::path::PathBuf;
use std::time::Duration;

use crate::source::MapView;
use crate::tui::pager::output::OpenOutput;
use crate::tui::target::Subject;

/// How long the screen waits for the preview beside the list: a frame. A key held down repeats about every 30 ms.
pub(crate) const BESIDE: Duration = Duration::from_millis(15);

/// An entry and its preview.
pub struct Glance {
    /// The path of the entry.
    pub path: PathBuf,
    /// The preview. `None` until it is made, and for an entry that cannot be opened.
    pub output: Option<OpenOutput>,
}

impl Glance {
    /// Creates a glance whose preview is not made yet.
    pub fn awaited(path: PathBuf) -> Self {
        Self { path, output: None }
    }

    /// Makes the preview of an entry. Returns `None` if it is no longer wanted.
    pub fn of(path: PathBuf, subject: Subject, view: MapView, wanted: &dyn Fn() -> bool) -> Option<Self> {
        let mut output = OpenOutput::counted_now(subject, view);
        let planned = output.task(0).run(wanted)?;
        output.take(planned);
        Some(Self { path, output: Some(output) })
    }
}
