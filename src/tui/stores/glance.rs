//! What the model got of the chosen entry, beside the list.

use std::path::PathBuf;

use crate::source::MapView;
use crate::tui::pager::output::OpenOutput;
use crate::tui::pager::subject::Subject;

/// An entry beside the list.
pub struct Glance {
    /// Where the entry lies.
    pub path: PathBuf,
    /// Its preview, once there is one; none of an entry that cannot be opened.
    pub output: Option<OpenOutput>,
}

impl Glance {
    /// An entry whose preview is still to come.
    pub fn awaited(path: PathBuf) -> Self {
        Self { path, output: None }
    }

    /// An entry with its preview; none if it is no longer wanted.
    pub fn of(path: PathBuf, subject: Subject, view: MapView, wanted: &dyn Fn() -> bool) -> Option<Self> {
        let mut output = OpenOutput::counted_now(subject, view);
        let planned = output.task(0).run(wanted)?;
        output.take(planned);
        Some(Self { path, output: Some(output) })
    }
}
