//! Drawing an output: title, panes, the map between them, the status line, the limits drawer.

pub(crate) mod drawer;
pub(crate) mod minimap;
pub(crate) mod pane;
pub mod status;
pub(crate) mod title;
