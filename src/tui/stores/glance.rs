//! The preview of the selected entry, shown beside the list.

use std::path::PathBuf;

use crate::source::MapView;
use crate::tui::pager::output::OpenOutput;
use crate::tui::pager::subject::Subject;

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
